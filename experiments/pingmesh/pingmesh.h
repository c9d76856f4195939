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
 * Agents on all hosts live through `duration` on a fabric. Every `window` the
 * collector's table is given to the jobs of that window.
 *
 * A probe belongs to the window in which it was sent, but its row arrives with
 * a later upload. So the jobs of a window run `lag` after its end, when the
 * rows have had time to arrive, and the run goes on for `lag` after `duration`.
 * Rows that come even later are counted and left out. What a job decides (a
 * reload) happens when the job has run, and not at the end of its window.
 *
 * A job's table reaches `history` back. The collector keeps as many windows as
 * that and the black-hole job need, and those of the lag.
 * Their probes take 20 bytes each (held.h). Beside these a run's memory is that
 * of its agents, about 100 kB for a list of 288 peers and 700 probes a minute, and
 * of the table that jobs ask for, of one window or of a piece of several, whose
 * probes cost 2.7 bytes more where ranks are asked for (dsa/measure.c). None of it
 * grows with `duration`, unless `history` does (along none and pair) or quantiles
 * are taken of all times.
 */
#ifndef EXPERIMENTS_PINGMESH_PINGMESH_H
#define EXPERIMENTS_PINGMESH_PINGMESH_H

#include <stdio.h>

#include "algos/pingmesh/pinglist.h"
#include "algos/pingmesh/pingmesh.h"
#include "experiments/pingmesh/dsa/dsa.h"
#include "experiments/spec/cost.h"
#include "experiments/spec/section.h"
#include "models/sim/sim.h"
#include "sim/yaml.h"

/* What one cell of a sweep is read along. Each value is a point of its own in
 * the results, but all of them come from one run and cost one simulation. */
enum xp_along {
	XP_ALONG_NONE,     /* the whole duration, one row */
	XP_ALONG_WINDOW,   /* axis window_s: the end of each window */
	XP_ALONG_QUANTILE, /* axis tail: P(rtt > rtt_us) */
	XP_ALONG_GROUP,    /* axis group: enum algo_drop_group */
	XP_ALONG_PAIR,     /* axes from, to: ToRs, or pods */
};

/* Of which times quantiles are taken. */
enum xp_pingmesh_time {
	XP_TIME_CONNECT, /* of all probes that connected */
	XP_TIME_ECHO,    /* of all payloads that came back */
	XP_TIME_HTTP     /* of all GETs answered by status 200 */
};

struct xp_repair {
	uint32_t on;     /* 1: reload the ToRs that the job names */
	double reload_s; /* how long a reloading ToR forwards nothing */
	double every_s;  /* from job to job; 0: one each window */
	double day_s;    /* the time in which max_reloads are allowed */
};

/* Who is traced when pairs of pods lose packets; see
 * experiments/pingmesh/trace.h. */
struct xp_trace {
	uint32_t on, always;
	uint32_t n_cells, n_pairs, n_ports; /* as algo_silent_drop_tracing */
	double conf; /* that a trace lost more, to be a failed flow */
	struct algo_hop_trace_params agent; /* start_s: after the jobs */
	struct fabric_sim_icmp_params icmp;
};
enum { XP_TRACE_FIRST_PORT = 40000 };

struct xp_pingmesh {
	double duration_s, window_s;
	double history_s;     /* 0: see xp_pingmesh_history() */
	double lag_s;         /* 0: see xp_pingmesh_lag() */
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
	struct xp_cost_params cost;
};

/* Read the section. Absent keys have their defaults; that of agent.syn_rto is
 * the first wait of connect.timers. T is the network, or NULL: then what
 * depends on it is not checked. Mistakes are added to Y. Returns only
 * SIM_ENOMEM. */
int xp_pingmesh_read(struct sim_yaml *y, const struct topo *t,
    struct xp_pingmesh *p, struct sim_err *e);

/* The same as a section that specs may have, and C's values of it. */
extern const struct xp_section xp_pingmesh_section;
const struct xp_pingmesh *xp_pingmesh_of(const struct xp_config *c);

/* The descriptor of a key by its path within the section: "window",
 * "connect.load", "pinglist.vips.0". NULL if there is none. */
const struct sim_field *xp_pingmesh_field(const char *path);

/* Counts of windows: of the whole duration; of what a job's table reaches back,
 * which is `history`, or when that is 0 one window along windows, groups and
 * quantiles and else the duration; and from one black-hole job to the next. */
uint32_t xp_pingmesh_n_windows(const struct xp_pingmesh *p);
uint32_t xp_pingmesh_history(const struct xp_pingmesh *p);
uint32_t xp_pingmesh_repair_every(const struct xp_pingmesh *p);

/* How long after a window its jobs run: `lag`, or when that is 0 as long as it
 * takes until the last probe of the window has ended and its record has been
 * uploaded at the first try. */
sim_ns xp_pingmesh_lag(const struct xp_pingmesh *p);

/* The waits before SYN 2, 3, ... that fit into probe_timeout; by these the
 * analyses recognise lost SYNs. Returns their number. */
unsigned xp_pingmesh_waits(const struct xp_pingmesh *p,
    sim_ns wait[OBS_MAX_WAITS]);

#endif
