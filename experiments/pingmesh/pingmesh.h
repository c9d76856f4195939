/* experiments/pingmesh/pingmesh.h -- the section `pingmesh` of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	plane: pingmesh
 *	topology: { kind: clos, ... }
 *	faults: [...]
 *	pingmesh:
 *	  duration: 86400
 *	  window: 600
 *	  along: window
 *	  pinglist: { dc_interval_s: 60, ... }
 *	  agent: { fetch_interval: 3600, ... }
 *	  connect: { profile: dc1, timers: windows }
 *	  repair: { on: true, ... }
 *	  trace: { on: true, ... }
 *
 * Agents on all hosts live through `duration` on a simulated fabric. Every
 * `window` the collector's table is given to the jobs of that window.
 *
 * A probe is of the window in which it was sent, but its row comes with an
 * upload, so jobs of a window run `lag` after its end, when the rows have had
 * time to arrive; the network is followed for as long after `duration`. What
 * comes later still is counted and left out. Nothing that a job decides (a
 * reload) happens before it has run.
 *
 * A table reaches `history` back; the collector keeps no more than that, what
 * the black-hole job needs, and the lag.
 */
#ifndef EXPERIMENTS_PINGMESH_PINGMESH_H
#define EXPERIMENTS_PINGMESH_PINGMESH_H

#include <stdio.h>

#include "algos/pingmesh/pinglist.h"
#include "algos/pingmesh/pingmesh.h"
#include "experiments/pingmesh/dsa/dsa.h"
#include "experiments/spec/section.h"
#include "models/sim/sim.h"
#include "sim/yaml.h"

/* What one cell of a sweep is read along: each value is a point of the results
 * of its own, but they are one run and cost one simulation. */
enum xp_along {
	XP_ALONG_NONE,     /* the whole duration, one row */
	XP_ALONG_WINDOW,   /* axis window_s: the end of each window */
	XP_ALONG_QUANTILE, /* axis tail: P(rtt > rtt_us) */
	XP_ALONG_GROUP,    /* axis group: enum algo_drop_group */
	XP_ALONG_PAIR,     /* axes from, to: ToRs, or pods */
};

/* Which times quantiles are of. */
enum xp_pingmesh_time {
	XP_TIME_CONNECT, /* of all probes that connected */
	XP_TIME_ECHO     /* of all payloads that came back */
};

struct xp_repair {
	uint32_t on;     /* reload what the black-hole job says */
	double reload_s; /* that a reloaded ToR forwards nothing */
	double every_s;  /* of the black-hole job; 0: the window */
	double day_s;    /* that max_reloads are for */
};

/* Who is traced when pairs of pods suffer; see experiments/pingmesh/trace.h. */
struct xp_trace {
	uint32_t on, always;
	uint32_t n_cells, n_pairs, n_ports; /* as algo_silent_drop_tracing */
	double conf;                        /* that a trace lost more */
	struct algo_hop_trace_params agent; /* start_s: after the jobs */
	struct fabric_sim_icmp_params icmp;
};
enum { XP_TRACE_FIRST_PORT = 40000 };

struct xp_pingmesh {
	double duration_s, window_s;
	double history_s;     /* 0: see xp_pingmesh_history() */
	double lag_s;         /* 0: see xp_pingmesh_lag() */
	char label[64];       /* of a point, for figures */
	uint32_t along;       /* enum xp_along */
	uint32_t unit;        /* of pairs: enum algo_heatmap_unit */
	uint32_t n_tails;     /* along quantile */
	uint32_t group;       /* along quantile: enum algo_drop_group */
	uint32_t time;        /* along quantile: enum xp_pingmesh_time */
	uint32_t dc;          /* of a region: the one that rows are of */
	uint32_t expect;      /* 0, or 1 + enum algo_heatmap_pattern */
	uint32_t expect_tier; /* 0, or 1 + enum algo_silent_drop_tier */
	uint32_t detect;      /* algorithms run at each window's end */
	char service[256];    /* hosts of the service, "0-15,32"; "": none */
	struct algo_pinglist_params pinglist;
	struct algo_pingmesh_params agent;
	struct fabric_sim_connect_params connect;
	struct xp_dsa_params dsa;
	struct xp_repair repair;
	struct xp_trace trace;
};

/* Read the section; absent stands for defaults, and agent.syn_rto for that of
 * the timers. T is the network, or NULL: what depends on it is not checked.
 * Mistakes are added to Y. Returns only SIM_ENOMEM. */
int xp_pingmesh_read(struct sim_yaml *y, const struct topo *t,
    struct xp_pingmesh *p, struct sim_err *e);
void xp_pingmesh_help(FILE *out);

/* The same as a section of specs, and what C has of it. */
extern const struct xp_section xp_pingmesh_section;
const struct xp_pingmesh *xp_pingmesh_of(const struct xp_config *c);

/* The descriptor of a key by its path within the section: "window",
 * "connect.load", "pinglist.vips.0". NULL if there is none. */
const struct sim_field *xp_pingmesh_field(const char *path);

/* Windows in all; the time that a table reaches back: `history`, or when that
 * is 0 a window along windows, groups and quantiles, and else the duration; and
 * the windows of that, and of the black-hole job. */
uint32_t xp_pingmesh_n_windows(const struct xp_pingmesh *p);
uint32_t xp_pingmesh_history(const struct xp_pingmesh *p);
uint32_t xp_pingmesh_repair_every(const struct xp_pingmesh *p);

/* How long after a window its jobs run: `lag`, or when that is 0 as long as it
 * takes until the last of its probes has ended and has been uploaded at the
 * first try. */
sim_ns xp_pingmesh_lag(const struct xp_pingmesh *p);

/* The waits before SYN 2, 3, ... of connects that agents wait for, as the
 * analyses must know them. Returns their number. */
unsigned xp_pingmesh_waits(const struct xp_pingmesh *p,
    sim_ns wait[OBS_MAX_WAITS]);

#endif
