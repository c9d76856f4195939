/* results/sample_store.h -- runs of a host on its own disk, as many as fit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	DIR/samples-20260203-0001.cpms
 *
 * Files of records (results/sample_record.h) in a folder (results/segments.h),
 * a folder a host. What grows is bounded by two numbers: old files are taken
 * away as a whole, so that together they never hold more than max_bytes, and
 * that what they hold is not older than max_age and a 16th of it. A file is of
 * at most a 16th of either.
 *
 * A folder of samples, or a folder of such folders, is read as any other file of
 * samples is (results/samples.h). Nothing stands beside the files: they are read
 * once when they are opened, as their checks would have to be anyhow, and an
 * index on disk could only be wrong.
 *
 * Paper  Millisampler (IMC'22): data stays on the host's disk for days.
 */
#ifndef RESULTS_SAMPLE_STORE_H
#define RESULTS_SAMPLE_STORE_H

#include "models/obs_samples.h"
#include "results/sample_record.h"
#include "results/segments.h"
#include "sim/err.h"
#include "sim/time.h"

/* --- writing ---------------------------------------------------------------*/

enum { RES_STORE_LEAST = 16 * (RES_RECORD_MAX + RES_RECORD_FILE_BYTES) };

struct res_store_params {
	struct res_record_host host;
	uint64_t max_bytes; /* RES_STORE_LEAST at least */
	sim_ns max_age;
	int plain; /* packs nothing */
};

/* What the folder holds, and what was found in it. */
struct res_store_held {
	uint64_t n_files, n_bytes, n_runs;
	uint64_t n_bytes_cut;     /* torn, at the end of the newest file */
	uint64_t n_damaged;       /* places that are no run */
	uint64_t n_files_expired; /* since it was opened */
};

struct res_store;

/* Open DIR, which is made if it is missing. It is locked until close: a second
 * process gets an error that says so.
 * Errors SIM_EIO, SIM_ENOMEM, SIM_EMISMATCH (of another version), SIM_ERANGE.
 * Cost one pass over the files. Memory 0.5 MB, and a line a file. */
int res_store_open(struct res_store **s, const char *dir,
    const struct res_store_params *p, struct sim_err *e);
struct res_store_held res_store_held(const struct res_store *s);

/* Append a run, whose rows in T have run 0, so that it survives a kill of the
 * process (and when its file is full, a loss of power), and take away what is too old by
 * then. At most one file goes for its age at a time: a clock that is wrong for a
 * moment does not empty the folder.
 * Errors SIM_EINVAL, SIM_EIO (the run is left out, and what is there is whole:
 * the next may be tried). */
int res_store_put(struct res_store *s, const struct obs_run *run,
    uint32_t n_cpus, const struct obs_samples *t, struct sim_err *e);

/* Sync, unlock, close. S is gone in any case; NULL is fine. Errors SIM_EIO. */
int res_store_close(struct res_store *s, struct sim_err *e);

/* --- reading ---------------------------------------------------------------*/

extern const struct res_segments_kind res_store_kind;

/* Largest file that is read; those that are written are smaller. */
enum { RES_STORE_FILE_MAX = 1 << 26 };

/* All bytes of file NAME in DIR_FD, to be freed, and how many; NULL with an
 * error. DIR is its name for messages. Errors SIM_EIO, SIM_ENOMEM, SIM_ELIMIT. */
int res_store_read(int dir_fd, const char *dir, const char *name,
    unsigned char **bytes, size_t *n, struct sim_err *e);

#endif
