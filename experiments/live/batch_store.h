/* experiments/live/batch_store.h -- the collector's files: batches, each once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	DIR/batches-20260203-0001.cpmb
 *	DIR/batches-20260203-0002.cpmb	the same day, after file_bytes
 *	DIR/batches-20260204-0003.cpmb	the next day (UTC)
 *
 * A file is what algos/pingmesh/wire.h says, one batch behind the other, each
 * with its own length and checksum; files are only appended to. They are the
 * truth: at start all are read, and a batch that is in one of them is known,
 * unless so many others came since (max_runs) that it is forgotten: then it may
 * be taken again, and is in the files twice, which who reads them sees. So what
 * strangers send fills no memory, and never keeps others out.
 *
 * Older files may be taken away, even while the collector runs, and with
 * keep_days and make_room they are by itself, oldest first, but never the newest.
 * For keep_days a file is as old as the calendar says, or as there are other days
 * with files behind it, if these are fewer: a clock that is years ahead for a while
 * would else empty the folder.
 *
 * A batch that was taken survives a kill of the process. With `sync` it is on
 * the disk (fdatasync, and fsync of DIR for a new file) before that is said, so
 * it survives a loss of power too; without, the kernel writes when it likes and
 * only a full file, or the end, is synced.
 *
 * What a kill can leave is less than one batch at the end of a file: at start
 * that is cut off the newest file. Anything else that is no batch is damage:
 * nothing is cut, what follows in that file is not read, and a new file is
 * begun.
 */
#ifndef EXPERIMENTS_LIVE_BATCH_STORE_H
#define EXPERIMENTS_LIVE_BATCH_STORE_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

#include "algos/pingmesh/wire.h"
#include "sim/err.h"

struct xp_batch_store;

struct xp_batch_store_params {
	uint64_t file_bytes;   /* of a file, before the next one is begun */
	uint64_t total_bytes;  /* of all; then batches are refused, */
	int make_room;         /* or the oldest file goes */
	uint32_t keep_days;    /* older files go; 0: none */
	uint64_t client_bytes; /* of an address each day (UTC); 0: no limit */
	/* At most so many are known, see experiments/pingmesh/dsa/batch_set.h:
	 * the older half is forgotten when they are. */
	size_t max_runs;
	int sync;
};

/* What DIR holds. */
struct xp_batch_held {
	uint64_t n_files, n_bytes, n_batches, n_records;
	uint64_t n_bytes_most;    /* that it may hold */
	uint64_t n_repeated;      /* batches that occur again in the files */
	uint64_t n_bytes_cut;     /* torn */
	uint64_t n_bytes_damaged; /* and not read */
	uint64_t n_gone;          /* files, taken away since it was opened */
};

/* Open DIR, which is made if it is missing, and read what it holds. DIR is
 * locked until close: a second process gets an error that says so.
 * Errors SIM_EIO, SIM_ENOMEM, SIM_ELIMIT. Cost O(bytes). */
int xp_batch_store_open(struct xp_batch_store **s, const char *dir,
    const struct xp_batch_store_params *p, struct sim_err *e);

/* Take total_bytes, client_bytes, keep_days and make_room from P from now on; the
 * rest stays. Not beside xp_batch_store_put(). */
void xp_batch_store_change(struct xp_batch_store *s,
    const struct xp_batch_store_params *p);
struct xp_batch_held xp_batch_store_held(const struct xp_batch_store *s);

/* Take a batch: the N bytes that ID was found in. *IS_NEW = 0 when it was known
 * before, and nothing is written. NOW_S is the time of day since 1970. One call
 * at a time.
 * Errors SIM_EIO, SIM_ENOMEM; SIM_ELIMIT, total_bytes or client_bytes. The batch
 * is then not taken, and may be tried again. */
int xp_batch_store_put(struct xp_batch_store *s,
    const struct algo_pingmesh_wire_id *id, const void *bytes, size_t n,
    int64_t now_s, int *is_new, struct sim_err *e);

/* Sync, unlock, close. S is gone in any case; NULL is fine. Errors SIM_EIO. */
int xp_batch_store_close(struct xp_batch_store *s, struct sim_err *e);

/* --- reading --------------------------------------------------------------
 * Also while a collector writes. */

/* The files of a folder, by number; *FOUND and its entries are to be freed.
 * Returns how many, or -1 with errno. */
int xp_batch_files(int dir_fd, struct dirent ***found);

/* Can a record of AT_NS have come on DAY, that of its file, since 1970? An agent
 * tries again for hours at most, and clocks differ, also about where a day begins:
 * so up to two days before, or one after. One that is wrong by years would make
 * years of empty windows. */
int xp_batch_is_timely(int64_t day, sim_ns at_ns);

enum xp_batch_end {
	XP_BATCH_MORE,
	XP_BATCH_END,
	XP_BATCH_TORN,
	XP_BATCH_DAMAGED
};

/* The next batch of IN; BUF has [ALGO_PINGMESH_WIRE_MAX] bytes, of which *N are
 * the batch when the answer is XP_BATCH_MORE. Errors SIM_EIO. */
int xp_batch_next(FILE *in, unsigned char *buf, size_t *n,
    struct algo_pingmesh_wire_id *id, struct sim_err *e);

#endif
