/* experiments/sweep/journal.c -- an append-only file of finished cells.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/file.h"
#include "sim/time.h"
#include "sim/vec.h"

/* Of record and header; see the layout in experiments/sweep/journal.h. */
enum {
	VERSION = 3,
	HEADER_BYTES = 40,
	SUMMED_BYTES = HEADER_BYTES - 8,
	FIXED_BYTES = 16 + 8, /* of a record: all but its row */
	BUFFER_BYTES = 1 << 16,
};

static const char journal_magic[8] = "culpritJ";

struct xp_journal {
	int fd;
	char *path;
	size_t row_doubles, record_bytes;
	double *row; /* [row_doubles], for replay */
	struct xp_journal_replay replay;

	/* What lies before END is whole; what is beyond it does not count.
	 * Before SYNCED it is on disk. */
	uint64_t end, synced;
	uint64_t check; /* the header's, which checks of records begin with */

	/* Whole records that are not in the file yet. */
	unsigned char *buf;
	size_t n_buf, cap_buf; /* bytes; cap_buf is a multiple of a record */
};

/* FNV is no match for a forger, but finds what was torn or damaged, or is of
 * another sweep. */
static uint64_t header_checksum(const unsigned char h[HEADER_BYTES])
{
	return sim_fnv(SIM_FNV_START, h, SUMMED_BYTES);
}

static uint64_t record_checksum(const struct xp_journal *j,
    const unsigned char *r)
{
	return sim_fnv(j->check, r, j->record_bytes - 8);
}

static int record_is_whole(const struct xp_journal *j, const unsigned char *r)
{
	return sim_load_64(r + j->record_bytes - 8) == record_checksum(j, r);
}

static int journal_io_fail(const struct xp_journal *j, const char *what,
    struct sim_err *e)
{
	return sim_fail(e, SIM_EIO, "cannot %s journal %s: %s.", what, j->path,
	    strerror(errno));
}

/* Read up to N bytes at AT; fewer only at the end of the file. Returns how
 * many, or -1 with errno. */
static ssize_t journal_read_at(int fd, unsigned char *buf, size_t n,
    uint64_t at)
{
	size_t got = 0;
	while (got < n) {
		ssize_t k = pread(fd, buf + got, n - got, (off_t)(at + got));
		if (k == 0)
			break;
		if (k < 0 && errno != EINTR)
			return -1;
		if (k > 0)
			got += (size_t)k;
	}
	return (ssize_t)got;
}

/* Write N bytes at AT. Returns how many got there: fewer than N only with
 * errno set. */
static size_t write_at(int fd, const unsigned char *buf, size_t n, uint64_t at)
{
	size_t put = 0;
	while (put < n) {
		ssize_t k = pwrite(fd, buf + put, n - put, (off_t)(at + put));
		if (k == 0)
			errno = ENOSPC;
		if (k == 0 || (k < 0 && errno != EINTR))
			break;
		if (k > 0)
			put += (size_t)k;
	}
	return put;
}

static void seal_header(unsigned char h[HEADER_BYTES])
{
	sim_store_64(&h[SUMMED_BYTES], header_checksum(h));
}

static int header_is_whole(const unsigned char h[HEADER_BYTES])
{
	return sim_load_64(&h[SUMMED_BYTES]) == header_checksum(h);
}

/* The sweep, and which of its cells: a shard's journal has nothing for another
 * one. */
static uint64_t journal_key(const struct res_cube *c)
{
	unsigned char shard[8];
	sim_store_32(shard, c->shard_i);
	sim_store_32(shard + 4, c->shard_n);
	return sim_fnv(res_cube_key(c), shard, sizeof(shard));
}

static void make_header(const struct xp_journal *j, const struct res_cube *c,
    unsigned char h[HEADER_BYTES])
{
	memcpy(h, journal_magic, sizeof(journal_magic));
	sim_store_32(h + 8, VERSION);
	sim_store_32(h + 12, (uint32_t)j->row_doubles);
	sim_store_64(h + 16, journal_key(c));
	sim_store_64(h + 24, res_cube_build_key(c));
	seal_header(h);
}

static void make_record(const struct xp_journal *j, unsigned char *r,
    size_t point, size_t run, enum res_status status, const double row[])
{
	const double nan = __builtin_nan("");
	sim_store_32(r, (uint32_t)point);
	sim_store_32(r + 4, (uint32_t)run);
	sim_store_32(r + 8, (uint32_t)status);
	/* A pad, so that the row is aligned. */
	sim_store_32(r + 12, 0);
	/* Bit by bit and little-endian: NaNs keep their payload, and the file
	 * can be read on any machine. */
	for (size_t i = 0; i < j->row_doubles; i++) {
		uint64_t bits;
		memcpy(&bits, row ? &row[i] : &nan, sizeof(bits));
		sim_store_64(r + 16 + 8 * i, bits);
	}
	sim_store_64(r + j->record_bytes - 8, record_checksum(j, r));
}

/* Put one record into the cube; 0 if it is damaged. */
static int replay_record(struct xp_journal *j, const unsigned char *r,
    struct res_cube *c)
{
	/* The fields of a record are no more to be trusted than its
	 * row, so nothing is used before the checksum is right, and
	 * then only within the cube. */
	const uint32_t point = sim_load_32(r), run = sim_load_32(r + 4);
	const uint32_t status = sim_load_32(r + 8);
	if (!record_is_whole(j, r))
		return 0;
	if (!res_cube_holds(c, point, run))
		return 0;
	if (status != RES_DONE && status != RES_FAILED && status != RES_CRASHED)
		return 0;
	for (size_t i = 0; i < j->row_doubles; i++) {
		uint64_t bits = sim_load_64(r + 16 + 8 * i);
		memcpy(&j->row[i], &bits, sizeof(bits));
	}
	res_cube_put(c, point, run, (enum res_status)status, j->row);
	return 1;
}

/* Put every record up to the first that is torn or damaged into the cube. */
static int replay_records(struct xp_journal *j, struct res_cube *c,
    struct sim_err *e)
{
	for (;;) {
		/* The buffer holds a whole number of records, so a
		 * full one ends with one. */
		ssize_t n = journal_read_at(j->fd, j->buf, j->cap_buf, j->end);
		if (n < 0)
			return journal_io_fail(j, "read", e);
		size_t i = 0;
		while (i + j->record_bytes <= (size_t)n &&
		    replay_record(j, j->buf + i, c)) {
			i += j->record_bytes;
			j->replay.n_records++;
		}
		j->end += i;
		if (i < j->cap_buf) /* the end, or damage */
			return 0;
	}
}

/* What a kill right after creation leaves is a header that begins right and ends
 * early; and a loss of power, the room for one without its bytes. There can't be
 * records behind either, as the header is on disk before the first. */
static int header_was_cut(const unsigned char got[HEADER_BYTES], ssize_t n,
    const unsigned char want[HEADER_BYTES], off_t size)
{
	static const unsigned char zero[HEADER_BYTES];
	return (n < HEADER_BYTES && memcmp(got, want, (size_t)n) == 0) ||
	    (size <= HEADER_BYTES && memcmp(got, zero, (size_t)n) == 0);
}

/* Is the file ours? Sets END to the header's size, or to 0 when the header
 * itself is missing or torn. */
static int check_header(struct xp_journal *j, const struct res_cube *c,
    struct sim_err *e)
{
	unsigned char got[HEADER_BYTES], want[HEADER_BYTES];
	struct stat st;
	/* The header that this sweep would write: any other one is not ours. */
	make_header(j, c, want);
	j->check = header_checksum(want);
	ssize_t n = journal_read_at(j->fd, got, sizeof(got), 0);
	if (n < 0 || fstat(j->fd, &st) < 0)
		return journal_io_fail(j, "read", e);
	j->end = 0;
	if (header_was_cut(got, n, want, st.st_size))
		return 0;
	if (n < HEADER_BYTES ||
	    memcmp(got, journal_magic, sizeof(journal_magic)) != 0)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s is not a journal of culprit; use another output name "
		    "(-o), or remove it (--force keeps it as %s~).",
		    j->path, j->path);
	if (sim_load_32(got + 8) != VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "journal %s has format version %" PRIu32 "; this culprit "
		    "reads %d; remove it (--force keeps it as %s~).",
		    j->path, sim_load_32(got + 8), VERSION, j->path);
	/* Damage is told before differences, which it would look like. */
	if (!header_is_whole(got))
		return sim_fail(e, SIM_EIO,
		    "the header of journal %s is damaged; remove the file to "
		    "start the sweep anew (--force keeps it as %s~).",
		    j->path, j->path);
	if (memcmp(got + 12, want + 12, 12) != 0)
		return sim_fail(e, SIM_EMISMATCH,
		    "journal %s is of another spec, shard, other overrides or "
		    "other contents of a file that the spec names; "
		    "use another output name (-o), or remove it (--force keeps "
		    "it as %s~).",
		    j->path, j->path);
	if (memcmp(got, want, sizeof(got)) != 0)
		return sim_fail(e, SIM_EMISMATCH,
		    "the cells in journal %s are of another build of culprit "
		    "or other libraries, and not mixed with new ones; start "
		    "over with --fresh, which keeps it as %s~, or give another "
		    "output name (-o).",
		    j->path, j->path);
	j->end = HEADER_BYTES;
	return 0;
}

static void dispose(struct xp_journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	free(j->row);
	free(j->buf);
	free(j);
}

/* The object and its buffers, without a file. */
static int make(struct xp_journal **out, const char *path,
    const struct res_cube *c, struct sim_err *e)
{
	struct xp_journal *j;
	int rc;
	/* The header has 32 bits for it. */
	assert(c->cell_doubles <= UINT32_MAX);
	if ((rc = SIM_ZALLOC(&j, 1, e)) < 0)
		return rc;
	j->fd = -1;
	j->row_doubles = c->cell_doubles;
	j->record_bytes = FIXED_BYTES + 8 * c->cell_doubles;
	/* About 64 KiB at a time, but at least one record, however long. */
	j->cap_buf = j->record_bytes;
	if (j->record_bytes < BUFFER_BYTES)
		j->cap_buf *= BUFFER_BYTES / j->record_bytes;
	if ((rc = SIM_ZALLOC(&j->path, strlen(path) + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&j->row, j->row_doubles, e)) < 0 ||
	    (rc = SIM_ZALLOC(&j->buf, j->cap_buf, e)) < 0) {
		dispose(j);
		return rc;
	}
	strcpy(j->path, path);
	*out = j;
	return 0;
}

/* Take the lock, or say by errno why not. Who asks whether it is held takes it
 * too, for a moment, so one that is not free is asked for again. */
static int lock_now(int fd)
{
	enum { TRIES = 20 };
	const struct timespec moment = {.tv_nsec = 10 * SIM_MS};
	for (int i = 1; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK || i == TRIES)
			return -1;
		nanosleep(&moment, NULL);
	}
	return 0;
}

int xp_journal_is_held(const char *path)
{
	/* Network file systems lend a lock to writers alone. */
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	const int held =
	    flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

static int lock_fail(const struct xp_journal *j, struct sim_err *e)
{
	if (errno == EWOULDBLOCK)
		return sim_fail(e, SIM_EIO,
		    "another process is running this sweep: it holds "
		    "journal %s.",
		    j->path);
	if (errno != ENOSYS && errno != EOPNOTSUPP && errno != ENOLCK)
		return journal_io_fail(j, "lock", e);
	return sim_fail(e, SIM_EIO,
	    "cannot lock journal %s: %s. Where the file system has no locks "
	    "two processes could spoil a sweep; -o may name a file on another "
	    "one.",
	    j->path, strerror(errno));
}

/* Open and lock the file. Between the two its last owner may have removed it;
 * then the name stands for another file by now, or for none, and the lock on
 * the old one keeps nobody away. So the name is looked up again. */
static int open_locked(struct xp_journal *j, struct sim_err *e)
{
	for (;;) {
		struct stat mine, named;
		j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (j->fd < 0)
			return journal_io_fail(j, "open", e);
		if (lock_now(j->fd) < 0)
			return lock_fail(j, e);
		if (fstat(j->fd, &mine) < 0)
			return journal_io_fail(j, "inspect", e);
		if (stat(j->path, &named) == 0 && mine.st_ino == named.st_ino &&
		    mine.st_dev == named.st_dev)
			return 0;
		close(j->fd);
		j->fd = -1;
	}
}

/* Cut off what replay did not accept, so that new records follow good ones, and
 * write the header if there is none. */
static int journal_trim(struct xp_journal *j, const struct res_cube *c,
    struct sim_err *e)
{
	struct stat st;
	if (fstat(j->fd, &st) < 0)
		return journal_io_fail(j, "inspect", e);
	j->replay.n_bytes_cut = (uint64_t)st.st_size - j->end;
	if (j->replay.n_bytes_cut > 0 && ftruncate(j->fd, (off_t)j->end) < 0)
		return journal_io_fail(j, "truncate", e);
	if (j->end > 0)
		return 0;
	unsigned char h[HEADER_BYTES];
	make_header(j, c, h);
	if (write_at(j->fd, h, sizeof(h), 0) < sizeof(h))
		return journal_io_fail(j, "write", e);
	j->end = sizeof(h);
	return 0;
}

/* Have what the file holds on disk, and its name. */
static int journal_sync_all(struct xp_journal *j, struct sim_err *e)
{
	if (fdatasync(j->fd) < 0 || res_file_sync_folder(j->path) < 0)
		return journal_io_fail(j, "sync", e);
	j->synced = j->end;
	return 0;
}

int xp_journal_open(struct xp_journal **out, const char *path,
    struct res_cube *c, struct sim_err *e)
{
	struct xp_journal *j;
	int rc;
	if ((rc = make(&j, path, c, e)) < 0)
		return rc;
	if ((rc = open_locked(j, e)) < 0 || (rc = check_header(j, c, e)) < 0 ||
	    (j->end > 0 && (rc = replay_records(j, c, e)) < 0) ||
	    (rc = journal_trim(j, c, e)) < 0 ||
	    (rc = journal_sync_all(j, e)) < 0) {
		dispose(j);
		return rc;
	}
	*out = j;
	return 0;
}

struct xp_journal_replay xp_journal_replayed(const struct xp_journal *j)
{
	return j->replay;
}

/* Without a lock: who only reads may do so beside the process that writes, and
 * meets at worst a torn record at the end. *OUT is NULL after an error. */
static int open_to_read(struct xp_journal **out, const char *path,
    const struct res_cube *c, struct sim_err *e)
{
	*out = NULL;
	int rc = make(out, path, c, e);
	if (rc < 0 || ((*out)->fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0)
		return rc;
	rc = journal_io_fail(*out, "open", e);
	dispose(*out);
	*out = NULL;
	return rc;
}

int xp_journal_read(const char *path, struct res_cube *c, struct sim_err *e)
{
	struct xp_journal *j;
	int rc = open_to_read(&j, path, c, e);
	if (rc == 0 && (rc = check_header(j, c, e)) == 0 && j->end > 0)
		rc = replay_records(j, c, e);
	dispose(j);
	return rc;
}

/* The header is taken at its word. There is no spec to compare it with, and
 * only it knows the size of a record. */
static int check_any_header(struct xp_journal *j, struct sim_err *e)
{
	unsigned char h[HEADER_BYTES];
	ssize_t n = journal_read_at(j->fd, h, sizeof(h), 0);
	if (n < 0)
		return journal_io_fail(j, "read", e);
	if (n < HEADER_BYTES ||
	    memcmp(h, journal_magic, sizeof(journal_magic)) != 0 ||
	    sim_load_32(h + 8) != VERSION || !header_is_whole(h))
		return sim_fail(e, SIM_EMISMATCH,
		    "%s is not a journal of this culprit.", j->path);
	j->check = header_checksum(h);
	j->row_doubles = sim_load_32(h + 12);
	j->record_bytes = FIXED_BYTES + 8 * j->row_doubles;
	j->end = HEADER_BYTES;
	return 0;
}

int xp_journal_count(const char *path, uint64_t *n_done, struct sim_err *e)
{
	/* An empty cube is enough: sizes come from the header. */
	const struct res_cube none = {0};
	struct xp_journal *j;
	unsigned char *r = NULL;
	int rc = open_to_read(&j, path, &none, e);
	*n_done = 0;
	if (rc == 0 && (rc = check_any_header(j, e)) == 0)
		rc = sim_zalloc(&r, j->record_bytes, 1, e);
	for (ssize_t n; rc == 0; j->end += (uint64_t)n) {
		n = journal_read_at(j->fd, r, j->record_bytes, j->end);
		if (n < 0)
			rc = journal_io_fail(j, "read", e);
		if (n < (ssize_t)j->record_bytes || !record_is_whole(j, r))
			break;
		/* Cells that failed will be tried again. */
		*n_done += sim_load_32(r + 8) == RES_DONE;
	}
	free(r);
	dispose(j);
	return rc;
}

int xp_journal_length(const char *path, uint64_t *n_records, struct sim_err *e)
{
	const struct res_cube none = {0};
	struct xp_journal *j;
	struct stat st;
	int rc = open_to_read(&j, path, &none, e);
	*n_records = 0;
	if (rc == 0 && (rc = check_any_header(j, e)) == 0 &&
	    fstat(j->fd, &st) < 0)
		rc = journal_io_fail(j, "inspect", e);
	else if (rc == 0)
		*n_records =
		    ((uint64_t)st.st_size - HEADER_BYTES) / j->record_bytes;
	dispose(j);
	return rc;
}

/* Move the file away, under its lock, so that it is nobody's at work. A
 * journal without a record is worth no copy, and must not replace an
 * older one that has some. */
static int move_aside(struct xp_journal *j, int ours, struct sim_err *e)
{
	struct stat st;
	char *to;
	if (fstat(j->fd, &st) < 0)
		return journal_io_fail(j, "inspect", e);
	if (st.st_size == 0 || (ours && st.st_size <= HEADER_BYTES))
		return unlink(j->path) < 0 ? journal_io_fail(j, "remove", e)
					   : 0;
	const size_t cap = strlen(j->path) + sizeof("~");
	int rc = sim_zalloc(&to, cap, 1, e);
	if (rc < 0)
		return rc;
	snprintf(to, cap, "%s~", j->path);
	if (rename(j->path, to) < 0)
		rc = journal_io_fail(j, "rename", e);
	free(to);
	return rc;
}

int xp_journal_set_aside(const char *path, const struct res_cube *c, int always,
    struct sim_err *e)
{
	struct xp_journal *j;
	struct sim_err why;
	int rc;
	if (access(path, F_OK) != 0)
		return 0;
	if ((rc = make(&j, path, c, e)) < 0)
		return rc;
	if ((rc = open_locked(j, e)) == 0) {
		const int ours = check_header(j, c, &why) == 0;
		if (always || !ours)
			rc = move_aside(j, ours, e);
	}
	dispose(j);
	return rc;
}

/* A full buffer is written first. If that fails the record is left out, and so
 * what is in the buffer stays whole. */
int xp_journal_put(struct xp_journal *j, size_t point, size_t run,
    enum res_status status, const double row[], struct sim_err *e)
{
	int rc;
	assert(point <= UINT32_MAX && run <= UINT32_MAX);
	assert(status != RES_NOT_RUN);
	if (j->n_buf == j->cap_buf && (rc = xp_journal_flush(j, e)) < 0)
		return rc;
	make_record(j, j->buf + j->n_buf, point, run, status, row);
	j->n_buf += j->record_bytes;
	return 0;
}

int xp_journal_flush(struct xp_journal *j, struct sim_err *e)
{
	size_t put = write_at(j->fd, j->buf, j->n_buf, j->end);
	if (put == j->n_buf) {
		j->end += put;
		j->n_buf = 0;
		return 0;
	}
	/* Keep whole records in the file and the others in the buffer, so that
	 * the same call can succeed once there is room. Should the cut fail
	 * too, the next flush writes over the torn record. */
	int rc = journal_io_fail(j, "write", e);
	put -= put % j->record_bytes;
	j->end += put;
	j->n_buf -= put;
	memmove(j->buf, j->buf + put, j->n_buf);
	if (ftruncate(j->fd, (off_t)j->end) < 0)
		rc = sim_wrap(e, rc, "a torn record is left behind");
	return rc;
}

int xp_journal_sync(struct xp_journal *j, struct sim_err *e)
{
	const int rc = xp_journal_flush(j, e);
	if (rc < 0 || j->synced == j->end)
		return rc;
	if (fdatasync(j->fd) < 0)
		return journal_io_fail(j, "sync", e);
	j->synced = j->end;
	return 0;
}

int xp_journal_close(struct xp_journal *j, int remove, struct sim_err *e)
{
	if (!j)
		return 0;
	/* A journal that stays is what a later run goes on from, so it must
	 * reach the disk. */
	int rc = xp_journal_sync(j, e);
	/* Still under the lock: nobody else's file can have this name. */
	if (rc == 0 && remove && unlink(j->path) < 0)
		rc = journal_io_fail(j, "remove", e);
	dispose(j);
	return rc;
}
