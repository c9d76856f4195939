/* experiments/jobs.h -- Pingmesh's analysis of a window, as rows of tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	probes of a window --> drop_rate sla heatmap      10 minutes, and longer
 *	                   --> blackhole                  an hour or a day
 *	                   --> silent_drop                an hour
 *	counters           --> counters                   5 minutes
 *
 * One xp_dsa analyses one data centre, window after window (DSA: data storage
 * and analysis, the paper's name for this part). What it finds is appended to
 * tables, whose rows all begin with the same key; from it follows how much to
 * believe the row: seen_share is the share of the window that was recorded
 * times the share of the servers that were heard of in it, be they dead, cut
 * off or not yet started. Of a window of which nothing was recorded there is
 * only a row in `summary`, that no job was run.
 *
 * Quantiles of probes are exact, by sorting (algos/rtt_order.h). Those of
 * counters are not: each server reports the end of a bucket, never below its
 * P99 and at most 1/8 above it (algos/pingmesh_perf.h). Of a scope there are
 *   p99_max_us  the largest of its servers: its true P99 is no more than that,
 *		 since 99 % of each server's probes are not
 *   p99_us      their mean, each weighted by its connects: at most 1/8 above
 *		 the mean of the true ones, which is not the P99 of all probes
 * and the true P99 is no less than 8/9 of the least of its servers.
 *
 * Paper  Pingmesh (SIGCOMM'15), sections 3.5, 4 and 5. DEPARTS: the paper does
 *        not say how a window that was seen in part is dealt with.
 */
#ifndef EXPERIMENTS_JOBS_H
#define EXPERIMENTS_JOBS_H

#include "algos/blackhole.h"
#include "algos/heatmap.h"
#include "algos/silent_drop.h"
#include "algos/sla.h"
#include "models/obs_perf.h"
#include "results/h5_table.h"

/* --- parameters ------------------------------------------------------------*/

enum xp_dsa_job {
	XP_DSA_DROP_RATE = 1,
	XP_DSA_SLA = 2,
	XP_DSA_HEATMAP = 4,
	XP_DSA_BLACKHOLE = 8,
	XP_DSA_SILENT_DROP = 16,
	XP_DSA_COUNTERS = 32,
};
extern const char *const xp_dsa_jobs[]; /* by bit; NULL-terminated */

/* What is run on windows of that length: see above. */
uint32_t xp_dsa_jobs_of(sim_ns window_ns);

struct xp_dsa_params {
	double tolerance_s; /* around the times of lost SYNs */
	double conf;        /* of intervals of drop rates */
	struct algo_sla_params sla;
	struct algo_heatmap_params heatmap;
	struct algo_blackhole_params blackhole;
	struct algo_silent_drop_params silent;
};

/* From the section `pingmesh` of a spec: keys tolerance and conf, maps sla,
 * heatmap, blackhole and silent; "" and what is absent stand for defaults.
 * Errors SIM_EINVAL with all mistakes, SIM_EPARSE, SIM_ENOMEM. */
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

/* --- tables ----------------------------------------------------------------*/

extern const char *const xp_dsa_kinds[], *const xp_dsa_verdicts[],
					     *const xp_dsa_units[],
						 *const xp_dsa_actions[],
						     *const xp_dsa_patterns[],
							 *const xp_dsa_tiers[];

/*  X(type, column, units, meaning, words) */
#define XP_DSA_KEY(X)                                                          \
	X(uint32_t, data_centre, "1", "number of the data centre", NULL)       \
	X(double, from_s, "s", "begin of the window, since the run began",     \
	    NULL)                                                              \
	X(double, to_s, "s", "end of the window", NULL)                        \
	X(double, seen_share, "1",                                             \
	    "share of the window recorded times share of servers heard of",    \
	    NULL)                                                              \
	X(uint64_t, n_probes, "probes", "of the window, of all servers", NULL)

#define XP_DSA_DROP_RATE_COLUMNS(X)                                            \
	XP_DSA_KEY(X)                                                          \
	X(uint8_t, group, "1", "which probes, by their ends",                  \
	    algo_drop_groups)                                                  \
	X(uint64_t, n_success, "probes", "connected", NULL)                    \
	X(uint64_t, n_drop, "probes", "of these, after a lost SYN", NULL)      \
	X(uint64_t, n_unclear, "probes", "of these, late for no known reason", \
	    NULL)                                                              \
	X(uint64_t, n_failed, "probes", "timed out or refused; in no rate",    \
	    NULL)                                                              \
	X(double, drop_rate, "1", "n_drop / n_success", NULL)                  \
	X(double, drop_rate_lo, "1", "exact interval: from", NULL)             \
	X(double, drop_rate_hi, "1", "exact interval: to", NULL)

#define XP_DSA_SLA_COLUMNS(X)                                                  \
	XP_DSA_KEY(X)                                                          \
	X(uint8_t, kind, "1", "what the scope is", xp_dsa_kinds)               \
	X(uint32_t, id, "1", "its number in the data centre", NULL)            \
	X(uint64_t, n_success, "probes", "connected", NULL)                    \
	X(uint64_t, n_drop, "probes", "of these, after a lost SYN", NULL)      \
	X(double, drop_rate, "1", "n_drop / n_success", NULL)                  \
	X(double, p50_us, "us", "median connect time, exact", NULL)            \
	X(double, p99_us, "us", "99th percentile, exact", NULL)                \
	X(uint8_t, alert_drop, "1", "1: the drop rate is too high", NULL)      \
	X(uint8_t, alert_p99, "1", "1: the 99th percentile is too high", NULL) \
	X(uint8_t, verdict, "1", "of a service: is it the network?",           \
	    xp_dsa_verdicts)

#define XP_DSA_HEATMAP_COLUMNS(X)                                              \
	XP_DSA_KEY(X)                                                          \
	X(uint8_t, unit, "1", "what pairs are of", xp_dsa_units)               \
	X(uint32_t, src, "1", "ToR or pod of the sender", NULL)                \
	X(uint32_t, dst, "1", "ToR or pod of the peer", NULL)                  \
	X(double, p99_us, "us", "99th percentile, exact; NaN = no success",    \
	    NULL)

#define XP_DSA_BLACKHOLE_COLUMNS(X)                                            \
	XP_DSA_KEY(X)                                                          \
	X(uint32_t, tor, "1", "number of the ToR in the data centre", NULL)    \
	X(uint32_t, n_alive, "servers", "that an answer was seen of", NULL)    \
	X(uint32_t, n_symptom, "servers", "of these, in black-holed pairs",    \
	    NULL)                                                              \
	X(double, score, "1", "n_symptom / n_alive", NULL)                     \
	X(uint8_t, action, "1", "what to do", xp_dsa_actions)

#define XP_DSA_SILENT_DROP_COLUMNS(X)                                          \
	XP_DSA_KEY(X)                                                          \
	X(uint32_t, rank, "1", "worst first, from 0", NULL)                    \
	X(uint32_t, pod, "1", "one pod", NULL)                                 \
	X(uint32_t, pod2, "1", "the other, or the same", NULL)                 \
	X(uint64_t, n_success, "probes", "connected, either way", NULL)        \
	X(uint64_t, n_drop, "probes", "of these, after a lost SYN", NULL)      \
	X(double, drop_rate_lo, "1", "exact interval: from", NULL)             \
	X(double, drop_rate_hi, "1", "exact interval: to", NULL)               \
	X(uint8_t, suffers, "1", "1: wholly above the normal rate", NULL)

#define XP_DSA_COUNTERS_COLUMNS(X)                                             \
	XP_DSA_KEY(X)                                                          \
	X(uint8_t, kind, "1", "what the scope is", xp_dsa_kinds)               \
	X(uint32_t, id, "1", "its number in the data centre", NULL)            \
	X(uint64_t, n_connected, "probes", "connected", NULL)                  \
	X(uint64_t, n_unconnected, "probes", "refused, or not answered", NULL) \
	X(uint64_t, n_drop, "probes", "connected after a lost SYN", NULL)      \
	X(double, drop_rate, "1", "n_drop / n_connected", NULL)                \
	X(double, drop_rate_lo, "1", "exact interval: from", NULL)             \
	X(double, drop_rate_hi, "1", "exact interval: to", NULL)               \
	X(double, p50_us, "us", "mean of the servers' medians", NULL)          \
	X(double, p99_us, "us", "mean of their 99th percentiles", NULL)        \
	X(double, p99_max_us, "us", "largest of these: a bound", NULL)         \
	X(uint8_t, alert_drop, "1", "1: the drop rate is too high", NULL)      \
	X(uint8_t, alert_p99, "1", "1: p99_us is too high", NULL)

/* One row a window and data centre; NaN and not_run: of a job that was not. */
#define XP_DSA_SUMMARY_COLUMNS(X)                                              \
	XP_DSA_KEY(X)                                                          \
	X(uint32_t, n_silent, "servers", "not heard of", NULL)                 \
	X(double, drop_rate, "1", "of all probes, or by counters", NULL)       \
	X(double, p99_us, "us", "of the data centre, or by counters", NULL)    \
	X(double, n_alerts, "scopes", "that alert", NULL)                      \
	X(uint8_t, tor_pattern, "1", "of the matrix of ToRs", xp_dsa_patterns) \
	X(uint8_t, pod_pattern, "1", "of the matrix of pods", xp_dsa_patterns) \
	X(double, n_reload, "ToRs", "to reload", NULL)                         \
	X(double, n_defer, "ToRs", "to reload another day", NULL)              \
	X(double, n_escalate, "ToRs", "in pods to be looked at", NULL)         \
	X(uint8_t, tier, "1", "that drops at random", xp_dsa_tiers)

/*  X(table, columns) */
#define XP_DSA_TABLES(X)                                                       \
	X(drop_rate, XP_DSA_DROP_RATE_COLUMNS)                                 \
	X(sla, XP_DSA_SLA_COLUMNS)                                             \
	X(heatmap, XP_DSA_HEATMAP_COLUMNS)                                     \
	X(blackhole_tors, XP_DSA_BLACKHOLE_COLUMNS)                            \
	X(silent_drop_cells, XP_DSA_SILENT_DROP_COLUMNS)                       \
	X(counters, XP_DSA_COUNTERS_COLUMNS)                                   \
	X(summary, XP_DSA_SUMMARY_COLUMNS)

/* struct xp_dsa_<table>_row */
#define XP_DSA_MEMBER(type, name, units, doc, words) type name;
#define X(table, columns)                                                      \
	struct xp_dsa_##table##_row {                                          \
		columns(XP_DSA_MEMBER)                                         \
	};
XP_DSA_TABLES(X)
#undef X

/* Zeroed is empty. */
struct xp_dsa_tables {
#define X(table, columns)                                                      \
	struct {                                                               \
		size_t n, cap;                                                 \
		struct xp_dsa_##table##_row *row;                              \
	} table;
	XP_DSA_TABLES(X)
#undef X
};
void xp_dsa_tables_clear(struct xp_dsa_tables *t); /* keeps the memory */
void xp_dsa_tables_free(struct xp_dsa_tables *t);

/* --- jobs ------------------------------------------------------------------*/

struct xp_dsa_window {
	sim_ns from, to;    /* from < to */
	sim_ns recorded_ns; /* of it */
};

/* Zeroed is empty. */
struct xp_dsa {
	struct xp_dsa_params params;
	struct topo_clos shape;
	uint32_t data_centre, n_services;
	struct algo_sla sla;
	struct algo_heatmap heatmap;
	struct algo_blackhole blackhole;
	struct algo_silent_drop silent;
	uint64_t day;        /* of the last window */
	uint32_t n_reloaded; /* on that day */

	/* Workings. */
	size_t *n_servers;          /* [services], in this data centre */
	uint8_t *heard;             /* [hosts] */
	struct xp_dsa_count *count; /* [hosts + ToRs + pods + 1] */
};

/* The jobs of a data centre whose hosts are FIRST_HOST and on; hosts of
 * SERVICES are numbered over all. Errors SIM_EINVAL, SIM_ENOMEM; D is then
 * empty. */
int xp_dsa_open(struct xp_dsa *d, const struct topo_clos *shape,
    uint32_t data_centre, uint32_t first_host,
    const struct xp_dsa_services *services, const struct xp_dsa_params *params,
    struct sim_err *e);
void xp_dsa_close(struct xp_dsa *d);

/* Of a table of all data centres, the rows that servers of one of them sent,
 * with its hosts from 0 on; peers elsewhere get numbers beyond its own. OUT's
 * own rows are gone. Errors SIM_ENOMEM. */
int xp_dsa_local_probes(const struct obs_probes *all, uint32_t first_host,
    uint32_t n_hosts, struct obs_probes *out, struct sim_err *e);
int xp_dsa_local_counters(const struct obs_perf *all, uint32_t first_host,
    uint32_t n_hosts, struct obs_perf *out, struct sim_err *e);

/* Run JOBS, a set of enum xp_dsa_job, and append what they find to OUT. PROBES
 * are those sent in W, COUNTERS those of windows that ended in W; each may be
 * NULL when no job asks for it. A black-hole job takes the reloads that earlier
 * windows of the same day (of 86,400 s from 0) asked for as done.
 * Errors SIM_EINVAL (a bad row), SIM_ENOMEM; rows may then be in OUT.
 * Cost  that of the jobs, about O(probes + hosts + ToRs^2); memory 32 bytes a
 * probe, and what they cost in PROBES. */
int xp_dsa_run(struct xp_dsa *d, const struct xp_dsa_window *w, uint32_t jobs,
    const struct obs_probes *probes, const struct obs_perf *counters,
    struct xp_dsa_tables *out, struct sim_err *e);

/* --- files -----------------------------------------------------------------*/

/* Result tables beside a recording (results/h5_table.h): groups by the names
 * above, written window by window. */
struct xp_dsa_out;

/* What the file says of itself, beside the version that made it. */
struct xp_dsa_source {
	const char *recording;   /* its file's name */
	const char *recorded_by; /* version of culprit */
	const char *spec;
	sim_ns window_ns;
	uint32_t jobs;
	const struct xp_dsa_services *services; /* named by their ids */
};

/* Start a file that takes PATH's place when it is finished. Errors SIM_EIO,
 * SIM_ENOMEM. */
int xp_dsa_out_open(struct xp_dsa_out **o, const char *path,
    const struct xp_dsa_source *source, struct sim_err *e);
int xp_dsa_out_add(struct xp_dsa_out *o, const struct xp_dsa_tables *t,
    struct sim_err *e);
int xp_dsa_out_finish(struct xp_dsa_out *o, struct sim_err *e); /* and close */
void xp_dsa_out_discard(struct xp_dsa_out *o);

#endif
