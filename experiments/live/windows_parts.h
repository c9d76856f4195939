/* experiments/live/windows_parts.h -- what the files of windows share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_WINDOWS_PARTS_H
#define EXPERIMENTS_LIVE_WINDOWS_PARTS_H

#include "experiments/live/store_follow.h"
#include "experiments/live/windows.h"
#include "experiments/pingmesh/dsa/replay.h"

enum xp_windows_job {
	XP_WINDOWS_5MIN,
	XP_WINDOWS_10MIN,
	XP_WINDOWS_1HOUR,
	XP_WINDOWS_1DAY,
	XP_WINDOWS_N_JOBS
};
extern const char *const xp_windows_jobs[];
extern const sim_ns xp_windows_length[];

/* What is known of the probes from pod to pod beside their connect times. */
struct xp_windows_pair {
	uint64_t n_failed, n_success_tors, n_drop_tors;
};

struct xp_windows {
	struct xp_windows_params params;
	struct res_recording_info info;
	struct res_sql *db;
	struct xp_follow follow;
	struct xp_dsa_replay replay; /* the jobs, and rows of a window */
	struct xp_dsa_pool pool, pairs;
	sim_ns next[XP_WINDOWS_N_JOBS]; /* begins; SIM_NEVER: nothing came */
	struct xp_dsa_tables of_pairs;  /* what is pooled of pairs */
	struct xp_windows_pair *pair;   /* [n_pairs], of all data centres */
	size_t n_pairs, first_pair[RES_RECORDING_MAX_DCS + 1];
};

static inline struct xp_windows_pair *
xp_windows_pair_at(const struct xp_windows *w, uint32_t dc, uint32_t src,
    uint32_t dst)
{
	return &w->pair[w->first_pair[dc] +
	    (size_t)src * w->info.dc[dc].clos.n_pods + dst];
}

/* A window on its way into the database. */
struct xp_window {
	enum xp_windows_job job;
	sim_ns from, to, due, now;
	int64_t id;
	const char *state;
	uint64_t n_records, n_late;
	int64_t first_file;
	int is_anew, has_black_holes;
};

/* Find what is in a window and leave it in W->replay.tables, pool and pairs: of
 * probes or counters; of shorter windows. N and its state are filled in. */
int xp_windows_measure(struct xp_windows *w, struct xp_window *n,
    struct sim_err *e);
int xp_windows_merge(struct xp_windows *w, struct xp_window *n,
    struct sim_err *e);

/* Write it, in place of what it had if it is made anew. In a transaction. */
int xp_windows_put(struct xp_windows *w, const struct xp_window *n,
    struct sim_err *e);

#endif
