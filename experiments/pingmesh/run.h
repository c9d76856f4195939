/* experiments/pingmesh/run.h -- a run of Pingmesh, read along something.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	 window 0     window 1     window 2   ...
 *	|------------|------------|------------|
 *	             :  lag |jobs :  lag |jobs         time -->
 *
 * At the end of a window the state of the agents is noted. Its jobs run `lag`
 * later, and what they decide happens then. The black-hole job runs for every
 * data centre each repair.every, on the windows since it last ran. All other
 * numbers are of data centre `dc`. Except for those by group they are of the
 * probes that the service's servers (or all servers) sent within it.
 *
 *	none      one row: counts of the whole duration; times, matrix and tier
 *	          of the last `history`
 *	window    a row for each window, of the `history` that ends with it;
 *	          numbers of black holes are NaN where that job did not run
 *	quantile  rtt_us of each tail, of the whole duration, by nearest rank
 *	group     counts of each enum algo_drop_group, of the whole duration
 *	pair      p99_us of each cell of the matrix, and what it shows, of the
 *	          last `history`
 *
 * With trace.on algorithms get, beside each table, the traces that were made
 * because of it (experiments/pingmesh/trace.h); rows that are no window's have
 * those of the last `history`.
 *
 * A row also has the number of agents that were probing at the end of its
 * window, or of the duration, and the records that agents lost until then.
 */
#ifndef EXPERIMENTS_PINGMESH_RUN_H
#define EXPERIMENTS_PINGMESH_RUN_H

#include "experiments/pingmesh/world.h"
#include "experiments/spec/plane.h"
#include "models/losses.h"
#include "results/schema.h"

struct xp_pingmesh_plane;

/* P keeps T, PARAMS and NET, which the caller closes after it. Errors of
 * xp_world_open() and of the analyses. */
int xp_pingmesh_plane_open(struct xp_pingmesh_plane **p, const struct topo *t,
    const struct xp_pingmesh *params, struct xp_net *net, struct sim_err *e);
void xp_pingmesh_plane_close(struct xp_pingmesh_plane *p);

/* How many rows a run fills. */
size_t xp_pingmesh_plane_rows(const struct xp_pingmesh_plane *p);

/* Who is told what; each may be NULL. */
struct xp_pingmesh_hooks {
	void *arg;

	/* Diagnose a table of the last `history`, its traces, and what these
	 * lost, at time NOW. With `detect` this is called with each window's
	 * jobs, and ROW is the row of the window, or 0 if windows have none.
	 * It is called once more at the end, with ROW = SIZE_MAX. */
	int (*diagnose)(void *arg, const struct obs *o,
	    const struct losses *lost, size_t row, sim_ns now,
	    struct sim_err *e);

	/* The jobs of WINDOW begin: later rows of it are not used. */
	int (*window)(void *arg, struct xp_collector *c, uint32_t window,
	    struct sim_err *e);

	/* 1: nobody reads the rows. They stay NaN, and of the jobs that fill
	 * them none is run but that which repairs. DIAGNOSE is NULL then. */
	uint8_t rows_unread;
};

/* As end() of planes: of faults that begin at random some may be after it, as there
 * are windows before each. */
struct xp_end xp_pingmesh_end(const struct xp_config *c);

/* What algorithms hear of such a call, of a run of N_ROWS rows whose first fault
 * begins at FIRST. With `detect` along windows each window's scores go to its own
 * row, and the last call has no row at all; else each call before the last has
 * none (it only serves to find when a fault was first detected), and the scores
 * of the last one go to all rows. */
struct xp_window xp_pingmesh_window(const struct xp_pingmesh *p,
    const struct obs *o, const struct losses *lost, size_t row, size_t n_rows,
    sim_ns now, sim_ns first);

/* Live through SCENE, whose truth gets what repairs changed, and fill
 * ROW[xp_pingmesh_plane_rows(p)]: n_faults and RES_PROBE_METRICS, NaN where
 * there is nothing to tell. Errors those of the world, the analyses and HOOKS.
 */
int xp_pingmesh_plane_run(struct xp_pingmesh_plane *p, struct scene *scene,
    struct res_trial_metrics row[], const struct xp_pingmesh_hooks *hooks,
    struct sim_err *e);

/* The world as the last run left it. */
struct xp_world *xp_pingmesh_plane_world(struct xp_pingmesh_plane *p);

#endif
