/* results/sample_store.c -- runs of a host on its own disk, as many as fit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sample_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/vec.h"

enum { PARTS = 16, FILE_BYTES_MAX = 1 << 24 };
#define DAY (86400 * SIM_SEC)

const struct res_segments_kind res_store_kind = {"samples", "cpms", "recorder"};

struct store_file {
	char name[RES_SEGMENT_NAME];
	uint64_t n_bytes, n_runs;
	sim_ns first_ns, last_ns; /* 0: it has no run */
};

struct res_store {
	struct res_store_params params;
	struct res_store_held held;
	struct res_segments files;
	struct store_file *file; /* by number; the last one is written */
	size_t n_files, cap_files;
	unsigned char record[RES_RECORD_FILE_BYTES + RES_RECORD_MAX];
	unsigned char scratch[RES_RECORD_RAW_MAX];
};

/* --- reading -------------------------------------------------------------- */

static int store_failed(const char *dir, const char *name, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO, "cannot read %s/%s: %s.", dir, name,
	    strerror(errno));
}

/* Into memory and not mapped: the owner may cut the file while it is read.
 * Returns 1 if the file cannot be read; *BYTES is there on success alone. */
static int store_read_all(int fd, size_t size, unsigned char **bytes, size_t *n,
    struct sim_err *e)
{
	/* One more, so that an empty file has bytes as well. */
	const int rc = SIM_ZALLOC(bytes, size + 1, e);
	if (rc < 0)
		return rc;
	for (*n = 0; *n < size;) {
		const ssize_t k = pread(fd, *bytes + *n, size - *n, (off_t)*n);
		if (k == 0)
			return 0;
		if (k > 0)
			*n += (size_t)k;
		else if (errno != EINTR) {
			free(*bytes);
			*bytes = NULL;
			return 1;
		}
	}
	return 0;
}

int res_store_read(int dir_fd, const char *dir, const char *name,
    unsigned char **bytes, size_t *n, struct sim_err *e)
{
	uint64_t size;
	int fd;
	*bytes = NULL;
	int rc = res_segments_read(dir_fd, dir, name, &fd, &size, e);
	if (rc < 0)
		return rc;
	if (size > RES_STORE_FILE_MAX)
		rc = sim_fail(e, SIM_ELIMIT,
		    "%s/%s is no file of at most %d MiB.", dir, name,
		    RES_STORE_FILE_MAX >> 20);
	else if ((rc = store_read_all(fd, (size_t)size, bytes, n, e)) > 0)
		rc = store_failed(dir, name, e);
	close(fd);
	return rc;
}

/* --- opening -------------------------------------------------------------- */

/* What a file holds: its runs, damage, and how it ends. *WHOLE: bytes up to
 * where nothing but a torn record follows. */
static enum res_record_end store_scan(struct res_store *s, struct store_file *f,
    const unsigned char *bytes, size_t n, size_t *whole)
{
	enum res_record_end end;
	struct res_record r;
	size_t at = RES_RECORD_FILE_BYTES, began;
	while ((end = res_record_next(bytes, n, &at, &began, &r)) ==
		RES_RECORD_MORE ||
	    end == RES_RECORD_DAMAGED) {
		s->held.n_damaged += end == RES_RECORD_DAMAGED;
		if (end == RES_RECORD_DAMAGED)
			continue;
		if (f->n_runs++ == 0)
			f->first_ns = r.run.start_ns;
		f->last_ns = r.run.start_ns;
	}
	s->held.n_runs += f->n_runs;
	*whole = began;
	return end;
}

/* A kill right after a file was made leaves it with less than its head. */
static int store_is_torn_head(const unsigned char *bytes, size_t n,
    const struct res_record_host *h)
{
	unsigned char head[RES_RECORD_FILE_BYTES];
	res_record_put_file(head, h);
	return n < sizeof(head) && memcmp(bytes, head, n) == 0;
}

/* Go on with the newest file if it is ours to the end; one with damage, or of
 * another name, is kept as it is, and a new one is begun. */
static int store_look(struct res_store *s, const char *name, int is_newest,
    const unsigned char *bytes, size_t n, struct sim_err *e)
{
	struct store_file *f = &s->file[s->n_files - 1];
	const struct res_record_host *own = &s->params.host;
	struct res_record_host host;
	const uint64_t n_damaged = s->held.n_damaged;
	size_t whole = 0;
	int same = 1;
	if (n > 0 && (!is_newest || !store_is_torn_head(bytes, n, own))) {
		const int rc = res_record_get_file(bytes, n, &host, e);
		if (rc == SIM_EMISMATCH)
			return rc;
		if (rc < 0) {
			s->held.n_damaged++;
			return 0;
		}
		store_scan(s, f, bytes, n, &whole);
		same =
		    strcmp(host.name, own->name) == 0 && host.rack == own->rack;
	}
	if (!is_newest || !same || s->held.n_damaged > n_damaged)
		return 0;
	s->held.n_bytes_cut += n - whole;
	s->held.n_bytes -= n - whole;
	f->n_bytes = whole;
	return res_segments_go_on(&s->files, name, whole, e);
}

static int store_open_file(struct res_store *s, const char *name, int is_newest,
    struct sim_err *e)
{
	unsigned char *bytes = NULL;
	size_t n;
	int rc = SIM_RESERVE(&s->file, &s->cap_files, s->n_files + 1, e);
	if (rc < 0)
		return rc;
	rc = res_store_read(s->files.dir_fd, s->files.dir, name, &bytes, &n, e);
	if (rc < 0)
		return rc;
	struct store_file *f = &s->file[s->n_files++];
	/* As of the day in its name, if it has no run that says more. */
	*f = (struct store_file){.n_bytes = n,
	    .last_ns = (sim_ns)(res_segments_day(name) + 1) * DAY};
	memcpy(f->name, name, strlen(name) + 1);
	s->held.n_files++;
	s->held.n_bytes += n;
	res_segments_seen(&s->files, name);
	rc = store_look(s, name, is_newest, bytes, n, e);
	if (rc < 0)
		rc = sim_wrap(e, rc, "%s/%s", s->files.dir, name);
	free(bytes);
	return rc;
}

static int store_open_files(struct res_store *s, struct sim_err *e)
{
	struct dirent **found;
	int rc = 0;
	const int n =
	    res_segments_list(s->files.dir_fd, &res_store_kind, &found);
	if (n < 0)
		rc = res_segments_failed(&s->files, "list", "", e);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc =
			    store_open_file(s, found[i]->d_name, i == n - 1, e);
		free(found[i]);
	}
	free(found);
	return rc;
}

int res_store_open(struct res_store **out, const char *dir,
    const struct res_store_params *p, struct sim_err *e)
{
	struct res_store *s;
	*out = NULL;
	if (p->max_bytes < RES_STORE_LEAST)
		return sim_fail(e, SIM_ERANGE,
		    "%" PRIu64 " bytes are too few for samples: %d at least.",
		    p->max_bytes, RES_STORE_LEAST);
	int rc = SIM_ZALLOC(&s, 1, e);
	if (rc < 0)
		return rc;
	const uint64_t part = p->max_bytes / PARTS;
	s->params = *p;
	rc = res_segments_open(&s->files, dir, &res_store_kind,
	    part < FILE_BYTES_MAX ? part : FILE_BYTES_MAX, 0, e);
	if (rc == 0)
		rc = store_open_files(s, e);
	if (rc < 0)
		res_store_close(s, NULL);
	else
		*out = s;
	return rc;
}

struct res_store_held res_store_held(const struct res_store *s)
{
	return s->held;
}

int res_store_close(struct res_store *s, struct sim_err *e)
{
	if (!s)
		return 0;
	const int rc = res_segments_close(&s->files, e);
	free(s->file);
	free(s);
	return rc;
}

/* --- expiry --------------------------------------------------------------- */

/* Somebody may have taken it away already, which is as good. */
static int store_expire_first(struct res_store *s, struct sim_err *e)
{
	const struct store_file *f = &s->file[0];
	const int rc = res_segments_remove(&s->files, f->name, e);
	if (rc < 0)
		return rc;
	s->held.n_files--;
	s->held.n_bytes -= f->n_bytes;
	s->held.n_runs -= f->n_runs;
	s->held.n_files_expired++;
	s->n_files--;
	memmove(s->file, s->file + 1, s->n_files * sizeof(*s->file));
	return 0;
}

static int store_expire(struct res_store *s, sim_ns now, size_t n,
    struct sim_err *e)
{
	const sim_ns age = s->params.max_age;
	/* The one that is written is full before it is old. */
	const size_t n_old = s->n_files - (s->n_files > 0 && s->files.fd >= 0);
	int rc = 0;
	if (n_old > 0 && now > age && s->file[0].last_ns < now - age)
		rc = store_expire_first(s, e);
	while (rc == 0 && s->n_files > 0 &&
	    s->held.n_bytes + n > s->params.max_bytes) {
		if (s->n_files == 1 &&
		    (rc = res_segments_end_file(&s->files, e)) < 0)
			return rc;
		rc = store_expire_first(s, e);
	}
	return rc;
}

/* --- writing -------------------------------------------------------------- */

/* Files are of a 16th of the age as well, or a quiet host's would be kept until
 * they are full. */
static int store_turn(struct res_store *s, sim_ns now, struct sim_err *e)
{
	const struct store_file *f =
	    s->n_files > 0 ? &s->file[s->n_files - 1] : NULL;
	if (s->files.fd < 0 || !f || f->n_runs == 0 || now <= f->first_ns ||
	    now - f->first_ns <= s->params.max_age / PARTS)
		return 0;
	return res_segments_end_file(&s->files, e);
}

static void store_begin(struct res_store *s)
{
	struct store_file *f = &s->file[s->n_files++];
	*f = (struct store_file){0};
	memcpy(f->name, s->files.name, sizeof(f->name));
	s->held.n_files++;
}

static void store_note(struct res_store *s, sim_ns now, size_t n)
{
	struct store_file *f = &s->file[s->n_files - 1];
	if (f->n_runs++ == 0)
		f->first_ns = now;
	f->last_ns = now;
	f->n_bytes += n;
	s->held.n_bytes += n;
	s->held.n_runs++;
}

/* The head of a file goes with its first record, in one write. */
static int store_append(struct res_store *s, sim_ns now, size_t n,
    struct sim_err *e)
{
	const unsigned char *bytes = s->record + RES_RECORD_FILE_BYTES;
	/* Memory first: a file that was made is in the list. */
	int rc = SIM_RESERVE(&s->file, &s->cap_files, s->n_files + 1, e);
	if (rc < 0 ||
	    (rc = res_segments_room(&s->files, n, (int64_t)(now / SIM_SEC),
		 e)) < 0)
		return rc;
	if (rc > 0)
		store_begin(s);
	if (s->files.end == 0) {
		res_record_put_file(s->record, &s->params.host);
		bytes = s->record;
		n += RES_RECORD_FILE_BYTES;
	}
	rc = res_segments_append(&s->files, bytes, n, e);
	if (rc == 0)
		store_note(s, now, n);
	return rc;
}

int res_store_put(struct res_store *s, const struct obs_run *run,
    uint32_t n_cpus, const struct obs_samples *t, struct sim_err *e)
{
	const sim_ns now = run->start_ns;
	size_t n = 0;
	int rc = res_record_put(s->record + RES_RECORD_FILE_BYTES, &n, run,
	    n_cpus, t, s->params.plain ? NULL : s->scratch, e);
	if (rc < 0 || (rc = store_turn(s, now, e)) < 0 ||
	    (rc = store_expire(s, now, n + RES_RECORD_FILE_BYTES, e)) < 0)
		return rc;
	return store_append(s, now, n, e);
}
