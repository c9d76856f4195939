/* experiments/live/batch_store.c -- the collector's files: batches, each once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files hold is the truth, and memory follows it: a batch is written
 * (and, with `sync`, on the disk) before it is in the set of known ones, and
 * only then is the agent told so. A crash in between costs a repetition, which
 * the set knows after the next start, and never a batch.
 */
#include "experiments/live/batch_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "experiments/pingmesh/dsa/batch_set.h"
#include "sim/vec.h"

enum { NAME_BYTES = 64 };

struct xp_batch_store {
	struct xp_batch_store_params params;
	struct xp_batch_held held;
	struct xp_batch_set set;
	char *dir;
	int dir_fd;

	/* The file that is written. What lies before END is whole; what is
	 * beyond it does not count. */
	int fd; /* -1: none yet */
	uint64_t end;
	int64_t day; /* since 1970 */
	unsigned last_number;
	char name[NAME_BYTES];
};

static int batch_store_io_fail(const struct xp_batch_store *s, const char *what,
    const char *name, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO, "cannot %s %s%s%s: %s.", what, s->dir,
	    *name ? "/" : "", name, strerror(errno));
}

/* --- reading -------------------------------------------------------------- */
int xp_batch_next(FILE *in, unsigned char *buf, size_t *n,
    struct algo_pingmesh_wire_id *id, struct sim_err *e)
{
	struct sim_err why;
	size_t size;
	const size_t got = fread(buf, 1, ALGO_PINGMESH_WIRE_HEAD, in);
	if (ferror(in))
		return sim_fail(e, SIM_EIO, "cannot read: %s.",
		    strerror(errno));
	/* An end between two batches is a proper one. */
	if (got == 0)
		return XP_BATCH_END;
	/* Less than a batch at the end of a file is what a kill leaves: torn,
	 * but not damaged. */
	if (got < ALGO_PINGMESH_WIRE_HEAD)
		return XP_BATCH_TORN;
	/* A length that no batch has: whatever follows cannot be found. */
	if (algo_pingmesh_wire_length(buf, &size, &why) < 0)
		return XP_BATCH_DAMAGED;
	const size_t more = size - got;
	const size_t rest = fread(buf + got, 1, more, in);
	if (ferror(in))
		return sim_fail(e, SIM_EIO, "cannot read: %s.",
		    strerror(errno));
	if (rest < more)
		return XP_BATCH_TORN;
	*n = size;
	return algo_pingmesh_wire_check(id, buf, size, &why) < 0
	    ? XP_BATCH_DAMAGED
	    : XP_BATCH_MORE;
}

/* A batch that is in the files twice, as after a crash, counts once. */
static int batch_store_note(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id, struct sim_err *e)
{
	const int rc = xp_batch_set_take(&s->set, id, e);
	s->held.n_repeated += rc == 0;
	s->held.n_batches += rc > 0;
	s->held.n_records += rc > 0 ? id->n : 0;
	return rc < 0 ? rc : 0;
}

/* Read a file up to what is no batch and note what it has. *WHOLE += bytes
 * before that, *END = why it ended. */
static int replay(struct xp_batch_store *s, FILE *in, unsigned char *buf,
    uint64_t *whole, int *end, struct sim_err *e)
{
	struct algo_pingmesh_wire_id id;
	size_t n = 0;
	int rc;
	while (
	    (*end = rc = xp_batch_next(in, buf, &n, &id, e)) == XP_BATCH_MORE) {
		if ((rc = batch_store_note(s, &id, e)) < 0)
			return rc;
		*whole += n;
	}
	return rc < 0 ? rc : 0;
}

/* Whether NAME is one of the collector's files, batches-DAY-NUMBER.cpmb,
 * written exactly as it would write it: other files of the folder are not its
 * own to touch. */
static int is_ours(const char *name, unsigned *day, unsigned *number)
{
	char again[NAME_BYTES];
	if (sscanf(name, "batches-%8u-%9u.cpmb", day, number) != 2)
		return 0;
	snprintf(again, sizeof(again), "batches-%08u-%04u.cpmb", *day, *number);
	return strcmp(name, again) == 0;
}

static int filter(const struct dirent *d)
{
	unsigned day, number;
	return is_ours(d->d_name, &day, &number);
}

/* Files are sorted by their number, which goes up from file to file; the day
 * would be wrong where a clock was set back. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
	unsigned day, x = 0, y = 0;
	is_ours((*a)->d_name, &day, &x);
	is_ours((*b)->d_name, &day, &y);
	return (x > y) - (x < y);
}

static int64_t day_of(unsigned yyyymmdd)
{
	struct tm t = {.tm_year = (int)(yyyymmdd / 10000) - 1900,
	    .tm_mon = (int)(yyyymmdd / 100 % 100) - 1,
	    .tm_mday = (int)(yyyymmdd % 100)};
	return (int64_t)timegm(&t) / 86400;
}

/* Go on writing the newest file where its last whole batch ends; what a kill
 * left behind that is cut off. */
static int batch_store_go_on(struct xp_batch_store *s, const char *name,
    uint64_t whole, uint64_t size, struct sim_err *e)
{
	unsigned day;
	s->fd = openat(s->dir_fd, name, O_WRONLY | O_CLOEXEC);
	if (s->fd < 0)
		return batch_store_io_fail(s, "open", name, e);
	if (whole < size && ftruncate(s->fd, (off_t)whole) < 0)
		return batch_store_io_fail(s, "truncate", name, e);
	is_ours(name, &day, &s->last_number);
	snprintf(s->name, sizeof(s->name), "%.*s", NAME_BYTES - 1, name);
	s->day = day_of(day);
	s->end = whole;
	s->held.n_bytes_cut += size - whole;
	s->held.n_bytes -= size - whole;
	return 0;
}

static int batch_store_read_file(struct xp_batch_store *s, const char *name,
    int is_newest, unsigned char *buf, struct sim_err *e)
{
	const int fd = openat(s->dir_fd, name, O_RDONLY | O_CLOEXEC);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "rb");
	struct stat st;
	uint64_t whole = 0;
	unsigned day;
	int rc, end = XP_BATCH_END;
	if (!in) {
		rc = batch_store_io_fail(s, "read", name, e);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	if (fstat(fd, &st) < 0)
		rc = batch_store_io_fail(s, "inspect", name, e);
	else if ((rc = replay(s, in, buf, &whole, &end, e)) < 0)
		sim_wrap(e, rc, "%s/%s", s->dir, name);
	fclose(in);
	if (rc < 0)
		return rc;
	const uint64_t size = (uint64_t)st.st_size;
	s->held.n_files++;
	s->held.n_bytes += size;
	is_ours(name, &day, &s->last_number);
	/* A file with damage is kept as it is, for somebody to look at. */
	if (is_newest && end != XP_BATCH_DAMAGED)
		return batch_store_go_on(s, name, whole, size, e);
	s->held.n_bytes_damaged += size - whole;
	return 0;
}

int xp_batch_files(int dir_fd, struct dirent ***found)
{
	*found = NULL;
	return scandirat(dir_fd, ".", found, filter, by_number);
}

static int read_files(struct xp_batch_store *s, struct sim_err *e)
{
	struct dirent **found;
	unsigned char *buf;
	int rc = SIM_ZALLOC(&buf, ALGO_PINGMESH_WIRE_MAX, e);
	if (rc < 0)
		return rc;
	const int n = xp_batch_files(s->dir_fd, &found);
	if (n < 0)
		rc = batch_store_io_fail(s, "list", "", e);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = batch_store_read_file(s, found[i]->d_name,
			    i == n - 1, buf, e);
		free(found[i]);
	}
	free(found);
	free(buf);
	return rc;
}

/* --- writing -------------------------------------------------------------- */
/* A full file is synced in any case, though without `sync` its batches were
 * not. */
static int close_file(struct xp_batch_store *s, struct sim_err *e)
{
	int rc = 0;
	if (s->fd < 0)
		return 0;
	if (fdatasync(s->fd) < 0)
		rc = batch_store_io_fail(s, "sync", s->name, e);
	if (close(s->fd) < 0 && rc == 0)
		rc = batch_store_io_fail(s, "close", s->name, e);
	s->fd = -1;
	return rc;
}

static int begin_file(struct xp_batch_store *s, int64_t day, struct sim_err *e)
{
	const time_t at = (time_t)(day * 86400);
	char name[NAME_BYTES], date[16];
	struct tm t;
	gmtime_r(&at, &t);
	strftime(date, sizeof(date), "%Y%m%d", &t);
	snprintf(name, sizeof(name), "batches-%s-%04u.cpmb", date,
	    s->last_number + 1);
	const int fd = openat(s->dir_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0)
		return batch_store_io_fail(s, "create", name, e);
	/* A new file is lost with the power unless its folder is synced as
	 * well. */
	if (s->params.sync && fsync(s->dir_fd) < 0) {
		int rc = batch_store_io_fail(s, "sync", "", e);
		close(fd);
		unlinkat(s->dir_fd, name, 0);
		return rc;
	}
	s->fd = fd;
	s->end = 0;
	s->day = day;
	s->last_number++;
	s->held.n_files++;
	memcpy(s->name, name, sizeof(name));
	return 0;
}

/* Cut off what was written of a batch that failed. If that cannot be done
 * either, the file is left behind with a torn end, which a reader knows, and
 * the next batch begins a new one. */
static void batch_store_take_back(struct xp_batch_store *s)
{
	if (ftruncate(s->fd, (off_t)s->end) == 0)
		return;
	close(s->fd);
	s->fd = -1;
}

static int batch_store_append(struct xp_batch_store *s,
    const unsigned char *bytes, size_t n, struct sim_err *e)
{
	size_t put = 0;
	int rc = 0;
	while (put < n && rc == 0) {
		const ssize_t k =
		    /* At a position, and not at the end of the file: what a
		     * failed write left there is written over. */
		    pwrite(s->fd, bytes + put, n - put, (off_t)(s->end + put));
		if (k > 0)
			put += (size_t)k;
		else if (k == 0 || errno != EINTR)
			rc = batch_store_io_fail(s, "write", s->name, e);
	}
	if (rc < 0) {
		batch_store_take_back(s);
		return rc;
	}
	if (s->params.sync && fdatasync(s->fd) < 0) {
		/* After a failed sync the kernel may call the pages clean
		 * although they are not on the disk, so a second sync would say
		 * nothing. This file is not trusted with another batch. */
		rc = batch_store_io_fail(s, "sync", s->name, e);
		batch_store_take_back(s);
		if (s->fd >= 0)
			close(s->fd);
		s->fd = -1;
		return rc;
	}
	s->end += n;
	return 0;
}

int xp_batch_store_put(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id, const void *bytes, size_t n,
    int64_t now_s, int *is_new, struct sim_err *e)
{
	const int64_t day = now_s / 86400;
	int rc;
	*is_new = !xp_batch_set_has(&s->set, id);
	if (!*is_new)
		return 0;
	/* Subtracted and not added, so that no sum can wrap. */
	if (n > s->params.total_bytes ||
	    s->held.n_bytes > s->params.total_bytes - n)
		return sim_fail(e, SIM_ELIMIT,
		    "The files hold %" PRIu64 " bytes, and %" PRIu64
		    " are allowed.",
		    s->held.n_bytes, s->params.total_bytes);
	/* Memory first: once the batch is in the file, noting it cannot fail
	 * any more. */
	if ((rc = xp_batch_set_reserve(&s->set, id, e)) < 0)
		return rc;
	/* A new file each day and at its size, so that old ones can be taken
	 * away while this one is written. */
	if (s->fd >= 0 &&
	    (s->day != day || s->end + n > s->params.file_bytes) &&
	    (rc = close_file(s, e)) < 0)
		return rc;
	if ((s->fd < 0 && (rc = begin_file(s, day, e)) < 0) ||
	    (rc = batch_store_append(s, bytes, n, e)) < 0)
		return rc;
	/* Known from here on: it is in the file, and on the disk if that was
	 * asked for. */
	xp_batch_set_add(&s->set, id);
	s->held.n_bytes += n;
	s->held.n_batches++;
	s->held.n_records += id->n;
	return 0;
}

/* --- opening -------------------------------------------------------------- */
static int open_dir(struct xp_batch_store *s, struct sim_err *e)
{
	if (mkdir(s->dir, 0750) < 0 && errno != EEXIST)
		return batch_store_io_fail(s, "make", "", e);
	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return batch_store_io_fail(s, "open", "", e);
	/* The lock goes with the process, however it ends, so no stale one has
	 * ever to be removed. */
	if (flock(s->dir_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return batch_store_io_fail(s, "lock", "", e);
	return sim_fail(e, SIM_EIO,
	    "another collector holds %s: each needs a folder of its own.",
	    s->dir);
}

int xp_batch_store_open(struct xp_batch_store **out, const char *dir,
    const struct xp_batch_store_params *p, struct sim_err *e)
{
	struct xp_batch_store *s;
	int rc = SIM_ZALLOC(&s, 1, e);
	if (rc < 0)
		return rc;
	s->params = *p;
	s->set.max_runs = p->max_runs;
	s->fd = s->dir_fd = -1;
	if ((rc = SIM_ZALLOC(&s->dir, strlen(dir) + 1, e)) == 0) {
		strcpy(s->dir, dir);
		if ((rc = open_dir(s, e)) == 0)
			rc = read_files(s, e);
	}
	if (rc < 0) {
		xp_batch_store_close(s, NULL);
		return rc;
	}
	*out = s;
	return 0;
}

struct xp_batch_held xp_batch_store_held(const struct xp_batch_store *s)
{
	return s->held;
}

int xp_batch_store_close(struct xp_batch_store *s, struct sim_err *e)
{
	if (!s)
		return 0;
	const int rc = close_file(s, e);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	xp_batch_set_free(&s->set);
	free(s->dir);
	free(s);
	return rc;
}
