/* experiments/rack/world.h -- the racks of a network, played once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_RACK_WORLD_H
#define EXPERIMENTS_RACK_WORLD_H

#include "experiments/rack/rack.h"
#include "models/obs.h"
#include "models/scene/scene.h"
#include "results/samples.h"
#include "results/schema.h"

/* What came of all racks. Zeroed is empty. */
struct xp_rack_world {
	struct obs window; /* points at the tables below */
	struct obs_runs runs;
	struct obs_samples samples;
	struct rack_losses lost; /* `server` is the host's id */
	int keep;                /* set by who wants BURSTS */
	struct res_true_bursts bursts;
	struct rack_totals totals;          /* sums */
	uint64_t buffer, link_in, link_out; /* bytes lost, by cause */
	uint32_t n_racks, n_servers;
	/* Sums over racks of indices of dispersion, at 1, 10 and 100 ms. */
	double dispersion[3];
};

void xp_rack_world_free(struct xp_rack_world *w);

/* 1 if hosts of T are in order of their ToRs, the same number under each, which
 * is then *N_SERVERS. */
int xp_rack_fits(const struct topo *t, uint32_t *n_servers);

/* Play SCENE's network as P says, each ToR from an empty buffer. Links of hosts
 * lose as the truth says, whose faults last; NICs that stall are added to it,
 * as slow links to these hosts.
 * Errors those of rack_open(), rack_traffic() and rack_record(). */
int xp_rack_world_run(struct xp_rack_world *w, const struct xp_rack *p,
    struct scene *scene, struct sim_err *e);

/* Rows of runs of WIDTH in rack K: to RUN[], of room for all. Returns how many. */
size_t xp_rack_runs(const struct xp_rack_world *w, sim_ns width, uint32_t k,
    uint32_t run[]);

/* That of RUNNING, which plane rack has opened. */
struct xp_rack_world *xp_rack_world_of(void *running);

/* By which keys of `congestion` other planes have ports that are full as these
 * were (RES_PORT_METRICS). Nothing without `as_congestion`. Errors
 * SIM_ENOMEM. */
int xp_rack_ports_score(const struct xp_rack_world *w, const struct xp_rack *p,
    struct res_trial_metrics *row, struct sim_err *e);

/* What hosts counted held against what came in, in buckets of a millisecond by
 * the right clock (RES_TRUE_BURST_METRICS), of runs as wide or wider; shares of
 * buffers that queues have. Nothing without `truth`.
 * Errors SIM_ENOMEM, and those of algo_series_align(). */
int xp_rack_truth_score(const struct xp_rack_world *w, const struct xp_rack *p,
    struct res_trial_metrics *row, struct sim_err *e);

#endif
