/* experiments/pingmesh/dsa/dsa.h -- Pingmesh's analysis of windows, as tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	probes of a window --> drop_rate sla heatmap      10 minutes, and longer
 *	                   --> blackhole                  an hour or a day
 *	                   --> silent_drop                an hour
 *	counters           --> counters                   5 minutes
 *	GETs               --> http                       10 minutes, and longer
 *
 * One xp_dsa analyses one data centre, window after window (DSA: data storage
 * and analysis, the paper's name for this part). What it finds is appended to
 * tables, whose rows all begin with the same key. The key says how far to
 * believe the row: seen_share is the share of the window that was recorded,
 * times the share of the servers that sent anything in it. Servers that are
 * silent because they are dead, cut off or not yet started lower it alike. A
 * window of which nothing was recorded has only a row in `summary`, which says
 * that no job was run.
 *
 * Quantiles of probes are exact, by sorting (algos/vigil/rtt_order.h). Those of
 * counters are not: each server reports the end of a bucket, never below its
 * P99 and at most 1/8 above it (algos/pingmesh/perf.h). A scope has two
 * numbers:
 *   p99_max_us  the largest of its servers. The P99 of all probes is no more
 *		 than that, since 99 % of each server's probes are not
 *   p99_us      the mean of its servers, weighted by their connects: at most
 *		 1/8 above the mean of the true ones, which is not the P99 of
 *		 all probes
 * The P99 of all probes is also no less than 8/9 of the least server's. A scope
 * alerts when servers with at least half of its connects have too high a P99.
 *
 * Paper  Pingmesh (SIGCOMM'15), sections 3.5, 4 and 5. DEPARTS: the paper does
 *        not say how a window that was seen in part is dealt with.
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_DSA_H
#define EXPERIMENTS_PINGMESH_DSA_DSA_H

#include "algos/pingmesh/blackhole.h"
#include "algos/pingmesh/heatmap.h"
#include "algos/pingmesh/silent_drop.h"
#include "algos/pingmesh/sla.h"
#include "experiments/pingmesh/dsa/tables.h"
#include "models/obs.h"
#include "models/obs_http.h"
#include "models/obs_pairs.h"
#include "models/obs_perf.h"

/* --- parameters ------------------------------------------------------------*/

enum xp_dsa_job {
	XP_DSA_DROP_RATE = 1,
	XP_DSA_SLA = 2,
	XP_DSA_HEATMAP = 4,
	XP_DSA_BLACKHOLE = 8,
	XP_DSA_SILENT_DROP = 16,
	XP_DSA_COUNTERS = 32,
	XP_DSA_HTTP = 64,
};
enum { XP_DSA_DAY_S = 86400 };          /* whose reloads count together */
extern const char *const xp_dsa_jobs[]; /* by bit; NULL-terminated */

/* The jobs that are run on windows of that length; see the head of this file.
 */
uint32_t xp_dsa_jobs_of(sim_ns window_ns);

/* X(map, its fields), of the section `pingmesh` of a spec */
#define XP_DSA_MAPS(X)                                                         \
	X(sla, algo_sla_fields)                                                \
	X(heatmap, algo_heatmap_fields)                                        \
	X(blackhole, algo_blackhole_fields)                                    \
	X(silent, algo_silent_drop_fields)

struct xp_dsa_params {
	double tolerance_s; /* of a connect time around that of a lost SYN */
	double conf;        /* of intervals of drop rates */
	struct algo_sla_params sla;
	struct algo_heatmap_params heatmap;
	struct algo_blackhole_params blackhole;
	struct algo_silent_drop_params silent;
};
extern const struct sim_field xp_dsa_fields[]; /* of the section itself */

/* Read xp_dsa_fields and XP_DSA_MAPS of the section `pingmesh` of a spec.
 * Absent keys have their defaults; SPEC may be "". Errors SIM_EINVAL with all
 * mistakes, SIM_EPARSE, SIM_ENOMEM. */
int xp_dsa_params_read(struct xp_dsa_params *p, const char *spec,
    struct sim_err *e);

/* Named sets of servers, "web=0-15,32; db=16-31"; a list without a name is
 * called "service". Zeroed is empty. */
enum { XP_DSA_MAX_SERVICES = 64 };
struct xp_dsa_services {
	uint32_t n;
	struct algo_sla_service service[XP_DSA_MAX_SERVICES];
	char *names;       /* behind service[].name */
	topo_host *server; /* behind service[].server */
};

/* Errors SIM_EINVAL (no such list, two of a name, a host of N_HOSTS or beyond,
 * one named twice), SIM_ELIMIT, SIM_ENOMEM; S is then empty. */
int xp_dsa_services_read(struct xp_dsa_services *s, const char *text,
    uint32_t n_hosts, struct sim_err *e);
void xp_dsa_services_free(struct xp_dsa_services *s);

/* --- jobs ------------------------------------------------------------------*/

struct xp_dsa_window {
	sim_ns from, to;    /* from < to */
	sim_ns recorded_ns; /* how much of it was recorded */
};

/* Zeroed is empty. */
struct xp_dsa {
	struct xp_dsa_params params;
	struct topo_dc dc;
	struct algo_sla sla;
	struct algo_heatmap heatmap;
	struct algo_blackhole blackhole;
	struct algo_silent_drop silent;
	uint64_t day;        /* of the last black-hole job */
	uint32_t n_reloaded; /* on that day */

	struct algo_rtt_order order; /* by xp_dsa_order(), or workings */
	uint64_t *spread;            /* workings of xp_dsa_measure(), or NULL */

	/* Workings. */
	uint8_t *heard;             /* [hosts] */
	struct xp_dsa_count *count; /* [hosts + ToRs + pods + 1] */
};

/* The jobs of a data centre. Errors SIM_EINVAL, SIM_ENOMEM; D is then empty. */
int xp_dsa_open(struct xp_dsa *d, const struct topo_dc *dc,
    const struct xp_dsa_services *services, const struct xp_dsa_params *params,
    struct sim_err *e);
void xp_dsa_close(struct xp_dsa *d);

/* How lost SYNs are recognised: by the waits of a table and the tolerance. Errors
 * those of algo_drop_ladder_init(). */
int xp_dsa_ladder(const struct xp_dsa *d, const sim_ns wait_ns[OBS_MAX_WAITS],
    struct algo_drop_ladder *ladder, struct sim_err *e);

/* Sort the probes T of the data centre by time, once for all of its jobs that ask
 * for ranks. Errors SIM_EINVAL (a bad probe), SIM_ENOMEM. */
int xp_dsa_order(struct xp_dsa *d, const struct obs_probes *t,
    struct sim_err *e);

/* The jobs one by one, on probes T of the data centre, of which those for service
 * levels and heat maps were sorted last. What they find is left in the member of
 * D that they are named after. Errors those of algos/. */
int xp_dsa_sla(struct xp_dsa *d, const struct obs_probes *t, struct sim_err *e);
int xp_dsa_heatmap(struct xp_dsa *d, enum algo_heatmap_unit unit,
    enum algo_heatmap_pattern *pattern, struct sim_err *e);
int xp_dsa_silent_drop(struct xp_dsa *d, const struct obs_probe_source *t,
    struct sim_err *e);

/* All three on probes of any number, without the pattern of the heat map
 * (dsa/measure.c). Errors as above. Cost  T is read once if it is one table, else
 * thirteen times at most, of which all but the first are for a span of times each.
 * Memory 16 bytes a probe of one table, or of ALGO_RTT_SPARE, or of a sixth of all:
 * 2.7 a probe of many. More only if times that differ by a thousandth have more. */
int xp_dsa_measure(struct xp_dsa *d, const struct obs_probe_source *t,
    enum algo_heatmap_unit unit, struct sim_err *e);

/* By the probes that were SEEN, or the sums of their pairs. With IS_DONE the
 * reloads that the job asks for are made, and count for the
 * number that DAY allows; else they are only named. */
int xp_dsa_blackhole(struct xp_dsa *d, const struct obs *seen, uint64_t day,
    int is_done, struct sim_err *e);

/* Copy from a table of all data centres the rows that DC's servers made. Rows
 * that OUT had are gone. Errors SIM_ENOMEM. */
int xp_dsa_local_probes(const struct obs_probes *all, const struct topo_dc *dc,
    struct obs_probes *out, struct sim_err *e);
int xp_dsa_local_counters(const struct obs_perf *all, const struct topo_dc *dc,
    struct obs_perf *out, struct sim_err *e);

/* The job XP_DSA_HTTP, on the GETs of HTTP pings in W, of all data centres: rows of
 * the scopes of this one that sent any. Errors SIM_EINVAL (a bad row), SIM_ENOMEM.
 * Cost O(GETs log GETs), as much for each of the services that a sender is of. */
int xp_dsa_run_http(struct xp_dsa *d, const struct xp_dsa_window *w,
    const struct obs_http *all, struct xp_dsa_tables *out, struct sim_err *e);

/* Run JOBS, a set of enum xp_dsa_job but for XP_DSA_HTTP, and append what they find to OUT. PROBES
 * are those sent in W, COUNTERS those of windows that ended in W; each may be
 * NULL when no job asks for it. If both are used the row of `summary` is of
 * PROBES. A black-hole job takes the reloads that earlier windows of the same
 * day (of 86,400 s, from time 0) asked for as done.
 * Errors SIM_EINVAL (a bad row), SIM_ENOMEM; rows may then be in OUT.
 * Cost  that of the jobs, about O(probes + hosts + ToRs^2); memory 32 bytes a
 * probe, and what they cost in PROBES. */
int xp_dsa_run(struct xp_dsa *d, const struct xp_dsa_window *w, uint32_t jobs,
    const struct obs_probes *probes, const struct obs_perf *counters,
    struct xp_dsa_tables *out, struct sim_err *e);

#endif
