/* experiments/pingmesh/dsa/replay.h -- a recording's windows, one by one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	recording --> probes and counters of a window
 *	                --> a struct xp_dsa for each data centre --> tables
 *
 * Tables go to a file as soon as a window is done; what is kept of all windows is
 * a digest, and counts (pool.h).
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_REPLAY_H
#define EXPERIMENTS_PINGMESH_DSA_REPLAY_H

#include "experiments/pingmesh/dsa/digest.h"
#include "experiments/pingmesh/dsa/out.h"
#include "experiments/pingmesh/dsa/pool.h"

/* Zeroed is empty. */
struct xp_dsa_replay {
	struct res_recording *recording;
	const struct res_recording_info *info;
	struct xp_dsa_params params;
	struct xp_dsa_services services;
	struct xp_dsa dc[RES_RECORDING_MAX_DCS];

	/* Windows, as planned; FIRST to LAST - 1 of them are run. */
	sim_ns from, window;
	uint64_t n_windows, first, last;
	uint32_t jobs;

	/* Of a window: of all data centres, and of one. */
	struct obs_probes probes, local_probes;
	struct obs_perf counters, local_counters;
	struct obs_http http;
	struct xp_dsa_tables tables;
};

/* Open recording PATH, with the parameters of its spec. Errors those of
 * res_recording_open(), xp_dsa_params_read() and xp_dsa_services_read(). R must
 * be closed also when this fails. */
int xp_dsa_replay_open(struct xp_dsa_replay *r, const char *path,
    struct sim_err *e);
void xp_dsa_replay_close(struct xp_dsa_replay *r);

/* The same for whoever has rows from elsewhere: INFO says of what network they
 * are, with which services and parameters, and is kept. */
int xp_dsa_replay_begin(struct xp_dsa_replay *r,
    const struct res_recording_info *info, struct sim_err *e);

/* Run R->jobs on the rows in R->probes, R->counters and R->http, those of window W,
 * and leave what they find in R->tables; times are counted in POOL and, by pairs of
 * pods, in PAIRS, each unless it is NULL. Errors of the jobs. */
int xp_dsa_replay_rows(struct xp_dsa_replay *r, const struct xp_dsa_window *w,
    struct xp_dsa_pool *pool, struct xp_dsa_pool *pairs, struct sim_err *e);

/* Plan whole windows of WINDOW ns from FROM on, the last of which begins before
 * TO. TO may be SIM_NEVER, for the recording's end; JOBS may be 0, for those of
 * xp_dsa_jobs_of(). All of them are run.
 * Errors SIM_ERANGE (FROM is not before the end), SIM_ELIMIT (too many). */
int xp_dsa_replay_plan(struct xp_dsa_replay *r, sim_ns from, sim_ns to,
    sim_ns window, uint32_t jobs, struct sim_err *e);

/* Run only the K-th, from 0, of OF parts, each a run of windows. A day's windows
 * stay together where black holes are looked for, since reloads count for the
 * day. A part may be empty; all parts are the whole. */
void xp_dsa_replay_cut(struct xp_dsa_replay *r, uint32_t k, uint32_t of);

/* Where what is found goes. */
struct xp_dsa_into {
	uint32_t recording; /* its number */
	struct xp_dsa_out *out;
	struct xp_dsa_digest *digest;
	struct xp_dsa_pool *pool;
	void (*tell)(void *arg); /* after each window; NULL: nobody */
	void *arg;
};

/* Run the planned windows and add what their jobs find. Errors those of reading,
 * of the jobs and of OUT. Cost one window's rows in memory at a time. */
int xp_dsa_replay_run(struct xp_dsa_replay *r, const struct xp_dsa_into *into,
    struct sim_err *e);

#endif
