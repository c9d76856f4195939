/* experiments/spec/plane.h -- planes: what makes windows of a scene.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	scene --> plane --> windows --> algorithms --> scores --.
 *	            |                                           +--> rows
 *	            '-- metrics of its own ----------------------'
 *
 * A plane is an object in a list (experiments/spec/plane.c), as algorithms
 * are. It says what its windows hold, so that an algorithm that needs more is
 * refused when the spec is read, and which metrics it fills. Whoever runs it
 * (experiments/sweep/trial.h) knows no plane by name.
 *
 * One more plane costs a file that defines `xp_plane_NAME`, and its name in
 * XP_PLANES there.
 */
#ifndef EXPERIMENTS_SPEC_PLANE_H
#define EXPERIMENTS_SPEC_PLANE_H

#include <stdio.h>

#include "experiments/spec/along.h"
#include "experiments/spec/section.h"
#include "experiments/spec/spec.h"
#include "models/losses.h"
#include "models/obs.h"
#include "models/scene/scene.h"
#include "results/schema.h"

/* A window to be diagnosed. All is the plane's, for the length of a call. */
struct xp_window {
	const struct obs *seen;
	const struct losses *lost; /* in it, by which verdicts are scored */

	/* The rows of the trial that get this window's scores. None for a
	 * window that only tells how long detection took. */
	size_t first_row, n_rows;

	/* What there was to see of it before its end, the shortest first, and at
	 * which share of its time; none where a plane has none. */
	size_t n_early;
	const struct obs *early;
	const double *early_share;

	/* Seconds since the first fault, at a window at which an
	 * algorithm may be the first to find it. NaN: this window
	 * tells nothing about that. */
	double after_s;
};

/* Who hears of windows. HEAR is NULL when there is no algorithm. */
struct xp_listener {
	void *arg;
	int (*hear)(void *arg, const struct xp_window *w, struct sim_err *e);
};

/* Who hears of flows: some of an epoch at a time, each with its true path, what
 * it had to send again in the end, and its losses. */
struct xp_flow_listener {
	void *arg;
	int (*hear)(void *arg, const struct obs *w, const struct losses *lost,
	    struct sim_err *e);
};

/* What a plane asks of the fabric that it runs on (experiments/spec/fabric.h).
 * X(bit, what a sentence calls it) */
#define XP_ASKS(X)                                                             \
	X(EPOCH, "flows of which it is told what they lost")                   \
	X(NET, "hosts that connect")                                           \
	X(SYN_TIMER, "a first wait of 3 s for SYN-ACKs (timers windows)")      \
	X(DELAY, "links that are slow (kind latency)")

enum {
#define X(what, text) XP_ASKS_AT_##what,
	XP_ASKS(X)
#undef X
};
enum xp_asks {
#define X(what, text) XP_ASKS_##what = 1 << XP_ASKS_AT_##what,
	XP_ASKS(X)
#undef X
};

/* When a run ends, since it began, and the key that says so. What fails is no
 * fault if it begins later; OF_ALL: nor may it with one part of the runs, since
 * all of it is to be found. */
struct xp_end {
	double s;
	const char *key;
	uint8_t of_all;
};

struct xp_plane {
	const char *name, *doc; /* as in a spec; one line */

	/* What of a spec it does not read, beyond sections of others; ends with
	 * one without a path. NULL: nothing. */
	const struct xp_idle_key *idle;

	/* What windows can hold (enum obs_part). With HOLDS they hold only what
	 * that says of C; UNLESS is then the key that asks for the rest. */
	unsigned provides;
	unsigned (*holds)(const struct xp_config *c);
	const char *unless;

	/* Kinds of faults that it has and others have not, bits of
	 * FAULT_SOME_PLANES: a spec with any other of these is refused. */
	unsigned faults;

	unsigned fills;         /* sets of metrics in its rows (enum res_set) */
	uint8_t alone;          /* tells something without algorithms, too */
	uint8_t has_times;      /* round-trip times are told in any case */
	uint8_t has_buffers;    /* that can be full by a law (congestion) */
	const char *no_buffers; /* if not, why */
	uint8_t has_hosts;      /* that sample what goes on (samples) */
	const struct xp_section *section; /* NULL: it has none */

	/* Of the fabric with C (enum xp_asks); NULL: it runs on none. */
	unsigned (*asks)(const struct xp_config *c);

	/* Each of these may be NULL. PREPARE sets defaults of its own in
	 * sections of Y that were read before, where they leave a key open.
	 * CHECK adds a mistake to Y, at its place, for whatever C asks that the
	 * plane can't do; T is the network, or NULL when other mistakes were
	 * made; returns only SIM_ENOMEM. */
	void (*prepare)(const struct sim_yaml *y, struct xp_config *c);
	int (*check)(struct sim_yaml *y, const struct topo *t,
	    const struct xp_config *c, struct sim_err *e);

	/* The axes that a trial is read along; NULL: a trial is one row. Errors
	 * SIM_EINVAL, SIM_ENOMEM. */
	int (*axes)(struct xp_along_axes *a, const struct xp_config *c,
	    struct sim_err *e);

	/* NULL: what fails does so all the time, and CHECK refuses the rest. */
	struct xp_end (*end)(const struct xp_config *c);

	/* How long a run takes on a real fabric; NULL: nobody is told. */
	double (*lasts_s)(const struct xp_config *c);

	/* Fill C's skip_excess, on the network T. NULL: it has no
	 * choice between looking at all flows and skipping. */
	int (*weigh)(const struct topo *t, struct xp_config *c,
	    struct sim_err *e);

	/* Bytes of its windows that it holds at a time with C on T, at least.
	 * NULL: nobody knows. */
	double (*bytes)(const struct topo *t, const struct xp_config *c);

	/* P keeps T and C. */
	int (*open)(void **p, const struct topo *t, const struct xp_config *c,
	    struct sim_err *e);

	/* The network of the file that algorithms are given, which has the nodes
	 * and cables of the one there is; NULL: that one. It is P's. */
	const struct topo *(*told)(const void *p);

	/* Live through SCENE, tell LISTENER each window, and fill the rows,
	 * which are NaN. Returns what LISTENER does when that is an error. */
	int (*run)(void *p, struct scene *scene, const struct xp_listener *to,
	    struct res_trial_metrics row[], struct sim_err *e);

	/* Tell LISTENER once more what the last run() told, which no error has
	 * ended. NULL: it is not kept. Returns as run(). */
	int (*again)(void *p, const struct xp_listener *to, struct sim_err *e);

	/* Tell TO the flows of the epoch whose window it tells just now, in
	 * that window's order and block by block: with *ALL = 1 each that ran,
	 * else those of which anything was seen. NULL: it has no flows. Returns
	 * what TO does when that is an error. */
	int (*flows)(void *p, const struct scene *scene,
	    const struct xp_flow_listener *to, int *all, struct sim_err *e);

	/* Print for people what the last run was. */
	void (*print)(const void *p, const struct res_trial_metrics row[],
	    FILE *out);
	void (*close)(void *p); /* NULL is fine */
};

extern const struct xp_plane *const xp_planes[]; /* ends with NULL */
extern const char *const xp_plane_names[];       /* likewise */

/* Those that others know by name. */
extern const struct xp_plane xp_plane_auto, xp_plane_exact, xp_plane_skip,
    xp_plane_agents, xp_plane_vigil_matlab, xp_plane_pingmesh,
    xp_plane_pingmesh_bulk, xp_plane_everflow, xp_plane_rack;

static inline const struct xp_plane *xp_plane_of(const struct xp_config *c)
{
	return xp_planes[c->plane];
}

/* What windows hold with the configuration C, whose plane P is. */
unsigned xp_plane_holds(const struct xp_plane *p, const struct xp_config *c);

/* Bytes that a process takes at least to run C on T, beside the program: those of
 * the plane, and a number of each link, which algorithms that read flows keep. */
double xp_plane_bytes(const struct topo *t, const struct xp_config *c);

/* Add to Y, at NODE, that an algorithm of that name needs what C's plane does
 * not provide, if it does. Returns as sim_yaml_mistake(). */
int xp_plane_check_needs(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_config *c, const char *name, unsigned needs);

#endif
