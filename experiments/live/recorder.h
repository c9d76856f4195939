/* experiments/live/recorder.h -- a host's traffic in short buckets, for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Millisampler as a daemon: the schedule (algos/millisampler/schedule.h) says
 * when, the kernel counts (models/netns/sampler.h), and runs are kept in a
 * bounded folder (results/sample_store.h). Nothing here decides when to sample,
 * or what is counted.
 *
 *	open    log and status file, the program for the kernel, by whatever
 *	        right one has; then that is given up, and the folder is opened
 *	        by who is left (experiments/live/daemon.h)
 *	run     until SIGTERM, SIGINT or what was asked for
 *	end     the run under way is dropped
 *
 * The program is at its interface for as long as this process has it open, so
 * whatever ends the process takes it away: a kill leaves nothing behind, and
 * nobody has to come back for it with rights that were given up.
 *
 * It ends with an error, and so with its program gone, if what it would keep
 * could be wrong: the interface has gone or has been given another program. A
 * disk that is full costs the runs that find no room, which are counted.
 *
 * Paper  Millisampler (IMC'22).
 */
#ifndef EXPERIMENTS_LIVE_RECORDER_H
#define EXPERIMENTS_LIVE_RECORDER_H

#include "algos/millisampler/schedule.h"
#include "models/netns/sampler.h"
#include "results/sample_store.h"

struct xp_recorder_params {
	struct algo_schedule_params schedule;
	struct netns_sampler_params sampler; /* widths and clock: by SCHEDULE */
	struct res_store_params store;
	const char *interface, *dir;
	const char *user;         /* NULL: see xp_daemon_drop() */
	const char *log, *status; /* NULL: stderr; none */
	uint64_t line_bps;        /* 0: as the interface says */
	uint32_t memory_mib;      /* 0: no limit */
	double for_s;             /* 0: until a signal comes */
	int once;                 /* until each width was kept once */
};

/* X(name, doc): in the status. */
#define XP_RECORDER_COUNTERS(X)                                                \
	X(n_kept, "runs in the folder")                                        \
	X(n_unkept, "runs that found no room there")                           \
	X(n_set, "runs that are not whole, as a clock was set, dropped")

struct xp_recorder;

/* P and its texts are borrowed until close. Signals are blocked from here on, for
 * run().
 * Errors SIM_EINVAL (no such interface, with what there is; one whose line is
 * not known; another recorder at it), SIM_EUNSUPPORTED (no right; an old kernel;
 * built without eBPF), and those of what is opened. */
int xp_recorder_open(struct xp_recorder **out,
    const struct xp_recorder_params *p, struct sim_err *e);

/* What its line carries. */
uint64_t xp_recorder_line_bps(const struct xp_recorder *r);

/* SIGUSR1 has the status logged. Errors: SIM_EIO if the interface has gone. */
int xp_recorder_run(struct xp_recorder *r, struct sim_err *e);

void xp_recorder_close(struct xp_recorder *r); /* NULL is fine */

#endif
