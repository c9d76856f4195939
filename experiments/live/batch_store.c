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
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/pingmesh/dsa/batch_set.h"
#include "results/segments.h"
#include "sim/vec.h"

static const struct res_segments_kind batch_store_kind = {"batches", "cpmb",
    "collector"};

struct xp_batch_store {
	struct xp_batch_store_params params;
	struct xp_batch_held held;
	struct xp_batch_set set;
	struct res_segments files;
};

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

/* What a kill left behind the last whole batch of the newest file is cut off. */
static int batch_store_go_on(struct xp_batch_store *s, const char *name,
    uint64_t whole, uint64_t size, struct sim_err *e)
{
	const int rc = res_segments_go_on(&s->files, name, whole, e);
	if (rc < 0)
		return rc;
	s->held.n_bytes_cut += size - whole;
	s->held.n_bytes -= size - whole;
	return 0;
}

static int batch_store_read_file(struct xp_batch_store *s, const char *name,
    int is_newest, unsigned char *buf, struct sim_err *e)
{
	const int fd = openat(s->files.dir_fd, name, O_RDONLY | O_CLOEXEC);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "rb");
	struct stat st;
	uint64_t whole = 0;
	int rc, end = XP_BATCH_END;
	if (!in) {
		rc = res_segments_failed(&s->files, "read", name, e);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	if (fstat(fd, &st) < 0)
		rc = res_segments_failed(&s->files, "inspect", name, e);
	/* Who was killed between writing a batch and syncing it leaves one that
	 * is in the file but not on disk. It is known from here on, and an
	 * agent that sends it again is told so: then it must not be lost. */
	else if (is_newest && s->files.sync && fdatasync(fd) < 0)
		rc = res_segments_failed(&s->files, "sync", name, e);
	else if ((rc = replay(s, in, buf, &whole, &end, e)) < 0)
		sim_wrap(e, rc, "%s/%s", s->files.dir, name);
	fclose(in);
	if (rc < 0)
		return rc;
	const uint64_t size = (uint64_t)st.st_size;
	s->held.n_files++;
	s->held.n_bytes += size;
	res_segments_seen(&s->files, name);
	/* A file with damage is kept as it is, for somebody to look at. */
	if (is_newest && end != XP_BATCH_DAMAGED)
		return batch_store_go_on(s, name, whole, size, e);
	s->held.n_bytes_damaged += size - whole;
	return 0;
}

int xp_batch_files(int dir_fd, struct dirent ***found)
{
	return res_segments_list(dir_fd, &batch_store_kind, found);
}

static int read_files(struct xp_batch_store *s, struct sim_err *e)
{
	struct dirent **found;
	unsigned char *buf;
	int rc = SIM_ZALLOC(&buf, ALGO_PINGMESH_WIRE_MAX, e);
	if (rc < 0)
		return rc;
	const int n = xp_batch_files(s->files.dir_fd, &found);
	if (n < 0)
		rc = res_segments_failed(&s->files, "list", "", e);
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
int xp_batch_store_put(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id, const void *bytes, size_t n,
    int64_t now_s, int *is_new, struct sim_err *e)
{
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
	if ((rc = res_segments_room(&s->files, n, now_s, e)) < 0)
		return rc;
	s->held.n_files += rc > 0;
	if ((rc = res_segments_append(&s->files, bytes, n, e)) < 0)
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
int xp_batch_store_open(struct xp_batch_store **out, const char *dir,
    const struct xp_batch_store_params *p, struct sim_err *e)
{
	struct xp_batch_store *s;
	int rc = SIM_ZALLOC(&s, 1, e);
	if (rc < 0)
		return rc;
	s->params = *p;
	s->set.max_runs = p->max_runs;
	rc = res_segments_open(&s->files, dir, &batch_store_kind, p->file_bytes,
	    p->sync, e);
	if (rc == 0)
		rc = read_files(s, e);
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
	const int rc = res_segments_close(&s->files, e);
	xp_batch_set_free(&s->set);
	free(s);
	return rc;
}
