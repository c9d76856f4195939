/* experiments/sweep/journal.h -- an append-only file of finished cells.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The journal is the truth while a sweep runs: each finished cell is one
 * fixed-size record with a checksum, so a sweep that is killed at any moment
 * loses at most the records that were not yet written, and the same command
 * goes on from there. A loss of power costs what came since the last sync, of
 * which any part may be there, torn, or in another order: only records before
 * the first that is not whole count. Layout, little-endian:
 *
 *	header  magic "culpritJ", u32 version, u32 row_doubles,
 *	        u64 key, u64 build key, u64 check
 *	record  u32 point, u32 run, u32 status, u32 0, f64 row[], u64 check
 *
 * A record's check is also of the header's, so one of another sweep, which may
 * stand where a file got room and no bytes before the power went, is none.
 *
 * Point, run and row are those of a cell (results/cube.h): where a cell is
 * read along axes, the point is its place, and the row holds all n_along.
 */
#ifndef EXPERIMENTS_SWEEP_JOURNAL_H
#define EXPERIMENTS_SWEEP_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "results/cube.h"
#include "sim/err.h"

struct xp_journal;

/* Open or create PATH for the cube's sweep and put every whole record into C.
 * The first torn or damaged record and all behind it are cut off. The file is
 * locked until close: a second process gets an error that says so. What it holds
 * then, and its name, are on disk.
 * Errors SIM_EIO; SIM_EMISMATCH if the journal is of another spec, of other
 * overrides or another build, naming PATH and what to do; SIM_ENOMEM. */
int xp_journal_open(struct xp_journal **j, const char *path, struct res_cube *c,
    struct sim_err *e);

/* What open found: records kept, bytes cut off because they were torn (less
 * than one record) or damaged. */
struct xp_journal_replay {
	uint64_t n_records, n_bytes_cut;
};
struct xp_journal_replay xp_journal_replayed(const struct xp_journal *j);

/* Only read: for `status`, also while another process writes. Reads up to the
 * first torn or damaged record. Errors as open; a missing file is SIM_EIO. */
int xp_journal_read(const char *path, struct res_cube *c, struct sim_err *e);

/* Records of finished cells that are done, in a journal of any sweep: what
 * there is to say when nothing else is left. Errors SIM_EIO, SIM_EMISMATCH. */
int xp_journal_count(const char *path, uint64_t *n_done, struct sim_err *e);

/* The same by its size alone: records that were written, also of cells that
 * failed. Cost O(1). */
int xp_journal_length(const char *path, uint64_t *n_records, struct sim_err *e);

/* Whether a process holds the journal at PATH, and so runs its sweep; 0 also
 * when there is none. Who opens one waits a moment for those who ask. */
int xp_journal_is_held(const char *path);

/* Rename PATH to PATH~, replacing an older PATH~, so that a new journal can be
 * opened: ALWAYS, or only what is not a journal of C's sweep. One without a
 * record is removed. No file at PATH is fine.
 * Errors SIM_EIO, also when another process holds the journal: it stays. */
int xp_journal_set_aside(const char *path, const struct res_cube *c, int always,
    struct sim_err *e);

/* Append one record (buffered), and hand what is buffered to the kernel. ROW
 * may be NULL: all NaN. An error of put leaves that record out. An error of
 * either (a full disk) leaves whole records in the file and the others in the
 * buffer: the call may be repeated.
 * Errors SIM_EIO. */
int xp_journal_put(struct xp_journal *j, size_t point, size_t run,
    enum res_status status, const double row[], struct sim_err *e);
int xp_journal_flush(struct xp_journal *j, struct sim_err *e);

/* Flush, and have all that was put on disk: from here on a loss of power does
 * not cost it. Does nothing if nothing came since. Errors SIM_EIO. */
int xp_journal_sync(struct xp_journal *j, struct sim_err *e);

/* Flush, sync, unlock, close; remove the file too if REMOVE and all went well.
 * J is gone in any case; NULL is fine. Errors SIM_EIO. */
int xp_journal_close(struct xp_journal *j, int remove, struct sim_err *e);

#endif
