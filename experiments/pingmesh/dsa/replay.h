/* experiments/pingmesh/dsa/replay.h -- a recording's windows, one by one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	recording --> probes and counters of a window
 *	                --> a struct xp_dsa for each data centre --> tables
 *
 * Tables go to a file as soon as a window is done; only what a summary of all
 * windows needs is kept.
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_REPLAY_H
#define EXPERIMENTS_PINGMESH_DSA_REPLAY_H

#include "experiments/pingmesh/dsa/dsa.h"
#include "results/recording.h"

/* A ToR that a black-hole job would reload. */
struct xp_dsa_reload {
	double from_s; /* of the window */
	uint32_t data_centre, tor;
};

/* Zeroed is empty. */
struct xp_dsa_replay {
	struct res_recording *recording;
	const struct res_recording_info *info;
	struct xp_dsa_params params;
	struct xp_dsa_services services;
	struct xp_dsa dc[RES_RECORDING_MAX_DCS];

	/* Windows, as planned. */
	sim_ns from, window;
	uint64_t n_windows;
	uint32_t jobs;

	/* Of a window: of all data centres, and of one. */
	struct obs_probes probes, local_probes;
	struct obs_perf counters, local_counters;
	struct xp_dsa_tables tables;

	/* Of all windows so far: the rows of `summary`, reloads, and how many
	 * scopes of each kind alerted, each once a window. */
	struct {
		size_t n, cap;
		struct xp_dsa_summary_row *row;
	} summary;
	struct {
		size_t n, cap;
		struct xp_dsa_reload *row;
	} reloads;
	size_t n_alerts[RES_RECORDING_MAX_DCS][ALGO_SLA_N_KINDS];
};

/* Open recording PATH, with the parameters of its spec. Errors those of
 * res_recording_open(), xp_dsa_params_read() and xp_dsa_services_read(). R must
 * be closed also when this fails. */
int xp_dsa_replay_open(struct xp_dsa_replay *r, const char *path,
    struct sim_err *e);
void xp_dsa_replay_close(struct xp_dsa_replay *r);

/* Plan whole windows of WINDOW ns from FROM on, the last of which begins before
 * TO. TO may be SIM_NEVER, for the recording's end; JOBS may be 0, for those of
 * xp_dsa_jobs_of().
 * Errors SIM_ERANGE (FROM is not before the end), SIM_ELIMIT (too many). */
int xp_dsa_replay_plan(struct xp_dsa_replay *r, sim_ns from, sim_ns to,
    sim_ns window, uint32_t jobs, struct sim_err *e);

/* Run the planned windows and add what their jobs find to OUT. TELL is called
 * after each window with the number of those that are done. Errors those of
 * reading, of the jobs and of OUT. Cost one window's rows in memory at a time.
 */
int xp_dsa_replay_run(struct xp_dsa_replay *r, struct xp_dsa_out *out,
    void (*tell)(void *arg, uint64_t n_done), void *arg, struct sim_err *e);

#endif
