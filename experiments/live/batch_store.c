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
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/pingmesh/dsa/batch_set.h"
#include "results/segments.h"
#include "sim/vec.h"

static const struct res_segments_kind batch_store_kind = {"batches", "cpmb",
    "collector"};

/* What each address sent today, as a count-min sketch: an address has one
 * counter of each row, by secret hashes, and has sent at most the lesser of the
 * two. So memory is the same however many addresses strangers claim to have. */
enum { SKETCH_ROWS = 2, SKETCH_BITS = 17 };
struct batch_store_clients {
	uint64_t secret[SKETCH_ROWS];
	int64_t day;
	uint64_t *sent[SKETCH_ROWS]; /* [1 << SKETCH_BITS] bytes */
};

struct xp_batch_store {
	struct xp_batch_store_params params;
	struct xp_batch_held held;
	/* Batches are noted in the first; once that is full it becomes the
	 * second, which is forgotten. */
	struct xp_batch_set known[2];
	struct batch_store_clients clients;
	struct res_segments files;
	int64_t looked_s; /* when files were looked for that are gone */
};

/* --- reading -------------------------------------------------------------- */
enum { DAYS_LATE = 2, DAYS_EARLY = 1 };

int xp_batch_is_timely(int64_t day, sim_ns at_ns)
{
	const int64_t at = (int64_t)(at_ns / (86400 * SIM_SEC));
	return at >= day - DAYS_LATE && at <= day + DAYS_EARLY;
}

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

/* --- what is known -------------------------------------------------------- */

static int batch_store_knows(const struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id)
{
	return xp_batch_set_has(&s->known[0], id) ||
	    xp_batch_set_has(&s->known[1], id);
}

/* Room for one more; the older half is forgotten for it if need be. */
static int batch_store_reserve(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id, struct sim_err *e)
{
	if (s->known[0].n_runs >= s->known[0].max_runs) {
		xp_batch_set_free(&s->known[1]);
		s->known[1] = s->known[0];
		s->known[0] =
		    (struct xp_batch_set){.max_runs = s->known[1].max_runs};
	}
	return xp_batch_set_reserve(&s->known[0], id, e);
}

static void batch_store_add(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id)
{
	xp_batch_set_add(&s->known[0], id);
	s->held.n_batches++;
	s->held.n_records += id->n;
}

/* A batch that is in the files twice, as after a crash, counts once. */
static int batch_store_note(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id, struct sim_err *e)
{
	if (batch_store_knows(s, id)) {
		s->held.n_repeated++;
		return 0;
	}
	const int rc = batch_store_reserve(s, id, e);
	if (rc == 0)
		batch_store_add(s, id);
	return rc;
}

/* --- reading, whole --------------------------------------------------------*/

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
	s->held.n_bytes_cut += size - whole;
	s->held.n_bytes -= size - whole;
	return res_segments_go_on(&s->files, name, whole, e);
}

static int batch_store_read_file(struct xp_batch_store *s, const char *name,
    int is_newest, unsigned char *buf, struct sim_err *e)
{
	uint64_t whole = 0, size;
	int fd, end = XP_BATCH_END;
	int rc = res_segments_read(s->files.dir_fd, s->files.dir, name, &fd,
	    &size, e);
	if (rc < 0)
		return rc;
	FILE *in = fdopen(fd, "rb");
	if (!in) {
		rc = res_segments_failed(&s->files, "read", name, e);
		close(fd);
		return rc;
	}
	/* Who was killed between writing a batch and syncing it leaves one that
	 * is in the file but not on disk. It is known from here on, and an
	 * agent that sends it again is told so: then it must not be lost. */
	if (is_newest && s->files.sync && fdatasync(fd) < 0)
		rc = res_segments_failed(&s->files, "sync", name, e);
	else if ((rc = replay(s, in, buf, &whole, &end, e)) < 0)
		sim_wrap(e, rc, "%s/%s", s->files.dir, name);
	fclose(in);
	if (rc < 0)
		return rc;
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

/* --- room ----------------------------------------------------------------- */

static uint64_t *batch_store_sent(struct batch_store_clients *c, int row,
    const struct topo_ip *ip)
{
	const uint64_t x =
	    (topo_ip_hash(ip) + c->secret[row]) * UINT64_C(0x9e3779b97f4a7c15);
	return &c->sent[row][(x ^ x << 29) >> (64 - SKETCH_BITS)];
}

/* May IP send N bytes more today? The count begins anew with each day, and each
 * start. */
static int batch_store_allows(struct xp_batch_store *s,
    const struct topo_ip *ip, size_t n, int64_t now_s, struct sim_err *e)
{
	struct batch_store_clients *c = &s->clients;
	int is_over = s->params.client_bytes > 0;
	for (int i = 0; i < SKETCH_ROWS && c->day != now_s / 86400; i++)
		memset(c->sent[i], 0, sizeof(*c->sent[i]) << SKETCH_BITS);
	c->day = now_s / 86400;
	for (int i = 0; i < SKETCH_ROWS; i++)
		is_over &=
		    *batch_store_sent(c, i, ip) + n > s->params.client_bytes;
	return is_over ? sim_fail(e, SIM_ELIMIT,
			     "This server has sent %" PRIu64
			     " bytes today, which is all that one may.",
			     s->params.client_bytes)
		       : 0;
}

static int batch_store_clients_init(struct batch_store_clients *c,
    struct sim_err *e)
{
	int rc = 0;
	if (getrandom(c->secret, sizeof(c->secret), 0) != sizeof(c->secret))
		return sim_fail(e, SIM_EIO, "no random number is to be had.");
	for (int i = 0; i < SKETCH_ROWS && rc == 0; i++)
		rc = SIM_ZALLOC(&c->sent[i], (size_t)1 << SKETCH_BITS, e);
	return rc;
}

struct batch_store_file {
	uint64_t size;
	/* By batch_store_count_days(). */
	int64_t day;
	uint32_t n_days_since; /* other days, with files behind it */
};

/* The sizes of files as they are now, as somebody may have taken some away. */
static void batch_store_measure(struct xp_batch_store *s, struct dirent **found,
    int n, struct batch_store_file file[])
{
	struct stat st;
	s->held.n_files = s->held.n_bytes = 0;
	for (int i = 0; i < n; i++) {
		if (fstatat(s->files.dir_fd, found[i]->d_name, &st,
			AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		file[i].size = (uint64_t)st.st_size;
		s->held.n_files++;
		s->held.n_bytes += file[i].size;
	}
}

/* Days of a folder's files are few. SEEN has room for N. */
static void batch_store_count_days(struct batch_store_file file[],
    struct dirent **found, int n, int64_t seen[])
{
	uint32_t n_seen = 0;
	for (int i = n; i-- > 0;) {
		uint32_t k = 0;
		file[i].day = res_segments_day(found[i]->d_name);
		while (k < n_seen && seen[k] != file[i].day)
			k++;
		file[i].n_days_since = n_seen - (k < n_seen);
		if (k == n_seen)
			seen[n_seen++] = file[i].day;
	}
}

static int batch_store_is_full(const struct xp_batch_store *s, size_t n)
{
	/* Subtracted and not added, so that no sum can wrap. */
	return n > s->params.total_bytes ||
	    s->held.n_bytes > s->params.total_bytes - n;
}

/* By the calendar, and by as many days that there are files of behind it: a clock
 * that is set years ahead for an hour, or a day, empties nothing. What that left is
 * of a day to come, and goes by the latter. */
static int batch_store_is_old(const struct xp_batch_store *s,
    const struct batch_store_file *f, int64_t now_s)
{
	const int64_t keep = s->params.keep_days, age = now_s / 86400 - f->day;
	return keep > 0 && f->n_days_since > keep && (age > keep || age < -1);
}

/* Too old ones go, and the oldest until N more bytes fit, but not the newest. */
static int batch_store_retire(struct xp_batch_store *s, struct dirent **found,
    int n_found, const struct batch_store_file file[], size_t n, int64_t now_s,
    struct sim_err *e)
{
	int rc = 0;
	for (int i = 0; i + 1 < n_found && rc == 0; i++) {
		if (!batch_store_is_old(s, &file[i], now_s) &&
		    !(s->params.make_room && batch_store_is_full(s, n)))
			continue;
		rc = res_segments_remove(&s->files, found[i]->d_name, e);
		if (rc < 0)
			break;
		s->held.n_files--;
		s->held.n_bytes -= file[i].size;
		s->held.n_gone++;
	}
	return rc;
}

static int batch_store_clear(struct xp_batch_store *s, size_t n, int64_t now_s,
    struct sim_err *e)
{
	struct dirent **found;
	struct batch_store_file *file = NULL;
	int64_t *seen = NULL;
	const int n_found = xp_batch_files(s->files.dir_fd, &found);
	s->looked_s = now_s;
	if (n_found < 0)
		return res_segments_failed(&s->files, "list", "", e);
	int rc = SIM_ZALLOC(&file, (size_t)n_found + 1, e);
	/* A full folder is looked at for each batch, mostly without an age. */
	if (rc == 0 && s->params.keep_days > 0 &&
	    (rc = SIM_ZALLOC(&seen, (size_t)n_found + 1, e)) == 0)
		batch_store_count_days(file, found, n_found, seen);
	if (rc == 0) {
		batch_store_measure(s, found, n_found, file);
		rc = batch_store_retire(s, found, n_found, file, n, now_s, e);
	}
	for (int i = 0; i < n_found; i++)
		free(found[i]);
	free(found);
	free(file);
	free(seen);
	return rc;
}

/* Is there room for N bytes, if need be because something goes? Files are looked
 * for once a second at most, so that who sends too much costs little. */
static int batch_store_room(struct xp_batch_store *s, size_t n, int64_t now_s,
    struct sim_err *e)
{
	int rc = 0;
	if (batch_store_is_full(s, n) &&
	    (s->params.make_room || s->looked_s != now_s))
		rc = batch_store_clear(s, n, now_s, e);
	if (rc < 0 || !batch_store_is_full(s, n))
		return rc;
	return sim_fail(e, SIM_ELIMIT,
	    "The files hold %" PRIu64 " bytes, and %" PRIu64 " are allowed.",
	    s->held.n_bytes, s->params.total_bytes);
}

/* --- writing -------------------------------------------------------------- */

int xp_batch_store_put(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id, const void *bytes, size_t n,
    int64_t now_s, int *is_new, struct sim_err *e)
{
	int rc;
	*is_new = !batch_store_knows(s, id);
	if (!*is_new)
		return 0;
	if ((rc = batch_store_allows(s, &id->src, n, now_s, e)) < 0 ||
	    (rc = batch_store_room(s, n, now_s, e)) < 0)
		return rc;
	/* Memory first: once the batch is in the file, noting it cannot fail
	 * any more. */
	if ((rc = batch_store_reserve(s, id, e)) < 0)
		return rc;
	if ((rc = res_segments_room(&s->files, n, now_s, e)) < 0)
		return rc;
	s->held.n_files += rc > 0;
	const int is_begun = rc > 0;
	if ((rc = res_segments_append(&s->files, bytes, n, e)) < 0)
		return rc;
	/* Known from here on: it is in the file, and on the disk if that was
	 * asked for. */
	batch_store_add(s, id);
	s->held.n_bytes += n;
	for (int i = 0; i < SKETCH_ROWS; i++)
		*batch_store_sent(&s->clients, i, &id->src) += n;
	/* A day or a file is over, so some may be too old; the batch is taken,
	 * and stays so whether they can be removed or not. */
	if (is_begun && s->params.keep_days > 0)
		batch_store_clear(s, 0, now_s, NULL);
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
	s->held.n_bytes_most = p->total_bytes;
	for (int i = 0; i < 2; i++)
		s->known[i].max_runs = p->max_runs > 1 ? p->max_runs / 2 : 1;
	s->looked_s = INT64_MIN;
	/* What close() closes must be set before anything can fail. */
	s->files = (struct res_segments){.dir_fd = -1, .fd = -1};
	rc = batch_store_clients_init(&s->clients, e);
	if (rc == 0)
		rc = res_segments_open(&s->files, dir, &batch_store_kind,
		    p->file_bytes, p->sync, e);
	if (rc == 0)
		rc = read_files(s, e);
	if (rc < 0) {
		xp_batch_store_close(s, NULL);
		return rc;
	}
	*out = s;
	return 0;
}

void xp_batch_store_change(struct xp_batch_store *s,
    const struct xp_batch_store_params *p)
{
	s->params.total_bytes = s->held.n_bytes_most = p->total_bytes;
	s->params.client_bytes = p->client_bytes;
	s->params.keep_days = p->keep_days;
	s->params.make_room = p->make_room;
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
	for (int i = 0; i < 2; i++) {
		xp_batch_set_free(&s->known[i]);
		free(s->clients.sent[i]);
	}
	free(s);
	return rc;
}
