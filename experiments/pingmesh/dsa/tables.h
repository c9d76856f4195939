/* experiments/pingmesh/dsa/tables.h -- the tables that jobs fill.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each table is an array of structs that is made from one list, which also
 * makes the columns of the results file. Rows of windows begin with the same
 * key. */
#ifndef EXPERIMENTS_PINGMESH_DSA_TABLES_H
#define EXPERIMENTS_PINGMESH_DSA_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "algos/pingmesh/drop_rate.h"
#include "sim/table.h"

/* The words that numbers in columns stand for; NULL-terminated. */
extern const char *const xp_dsa_kinds[];
extern const char *const xp_dsa_verdicts[];
extern const char *const xp_dsa_units[];
extern const char *const xp_dsa_actions[];
extern const char *const xp_dsa_patterns[];
extern const char *const xp_dsa_tiers[];

/*  X(type, column, units, meaning, words) */
#define XP_DSA_KEY(X)                                                          \
	X(uint32_t, data_centre, "1", "number of the data centre", NULL)       \
	X(double, from_s, "s", "begin of the window, since the run began",     \
	    NULL)                                                              \
	X(double, to_s, "s", "end of the window", NULL)                        \
	X(double, seen_share, "1",                                             \
	    "share of the window recorded times share of servers heard of",    \
	    NULL)                                                              \
	X(uint64_t, n_probes, "probes", "of the window, of all servers", NULL) \
	X(uint32_t, recording, "1", "row of table recordings", NULL)

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
	X(double, score, "1", "how bad, by the rule of the job", NULL)         \
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
	X(uint8_t, alert_p99, "1", "1: half have too high a P99", NULL)

/* Scopes of which a GET was sent, beside their connects, which are in the others. */
#define XP_DSA_HTTP_COLUMNS(X)                                                 \
	XP_DSA_KEY(X)                                                          \
	X(uint8_t, kind, "1", "what the scope is", xp_dsa_kinds)               \
	X(uint32_t, id, "1", "its number in the data centre", NULL)            \
	X(uint64_t, n_asked, "GETs", "of HTTP pings that connected", NULL)     \
	X(uint64_t, n_ok, "GETs", "of these, answered by status 200", NULL)    \
	X(uint64_t, n_other, "GETs", "by another status", NULL)                \
	X(uint64_t, n_malformed, "GETs", "by what is no HTTP", NULL)           \
	X(uint64_t, n_cut, "GETs", "ended before their answer", NULL)          \
	X(uint64_t, n_late, "GETs", "not answered in time", NULL)              \
	X(double, p50_us, "us", "median from GET to a status 200, exact",      \
	    NULL)                                                              \
	X(double, p99_us, "us", "99th percentile, exact", NULL)

/* One row for each window and data centre. What a job that was not run would
 * have found is NaN, or not_run. */
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

/* Over all windows of all recordings: the scopes of `sla` but for servers, and
 * the counts that their quantiles are read from (pool.h). No key. */
#define XP_DSA_SCOPE(X)                                                        \
	X(uint32_t, data_centre, "1", "number of the data centre", NULL)       \
	X(uint8_t, kind, "1", "what the scope is", xp_dsa_kinds)               \
	X(uint32_t, id, "1", "its number in the data centre", NULL)

#define XP_DSA_POOLED_COLUMNS(X)                                               \
	XP_DSA_SCOPE(X)                                                        \
	X(uint64_t, n_success, "probes", "connected", NULL)                    \
	X(uint64_t, n_drop, "probes", "of these, after a lost SYN", NULL)      \
	X(double, drop_rate, "1", "n_drop / n_success", NULL)                  \
	X(double, drop_rate_lo, "1", "exact 95 % interval: from", NULL)        \
	X(double, drop_rate_hi, "1", "exact 95 % interval: to", NULL)          \
	X(double, p50_us, "us", "median connect time: end of its bucket",      \
	    NULL)                                                              \
	X(double, p99_us, "us", "99th percentile, likewise", NULL)             \
	X(double, p999_us, "us", "99.9th percentile, likewise", NULL)

#define XP_DSA_HISTOGRAM_COLUMNS(X)                                            \
	XP_DSA_SCOPE(X)                                                        \
	X(uint32_t, bucket, "1", "by time, see end_us", NULL)                  \
	X(double, end_us, "us", "times are below", NULL)                       \
	X(uint64_t, n, "probes", "connected in such a time", NULL)

/* By their places in the order in which they were analysed. */
#define XP_DSA_RECORDINGS_COLUMNS(X)                                           \
	X(struct sim_name, name, "1", "of the file", NULL)                     \
	X(uint64_t, n_bytes, "bytes", "of the file", NULL)                     \
	X(uint64_t, checksum, "1", "of its seal", NULL)

/*  X(table, columns), of each window */
#define XP_DSA_WINDOW_TABLES(X)                                                \
	X(drop_rate, XP_DSA_DROP_RATE_COLUMNS)                                 \
	X(sla, XP_DSA_SLA_COLUMNS)                                             \
	X(heatmap, XP_DSA_HEATMAP_COLUMNS)                                     \
	X(blackhole_tors, XP_DSA_BLACKHOLE_COLUMNS)                            \
	X(silent_drop_cells, XP_DSA_SILENT_DROP_COLUMNS)                       \
	X(counters, XP_DSA_COUNTERS_COLUMNS)                                   \
	X(http, XP_DSA_HTTP_COLUMNS)                                           \
	X(summary, XP_DSA_SUMMARY_COLUMNS)

#define XP_DSA_TABLES(X)                                                       \
	XP_DSA_WINDOW_TABLES(X)                                                \
	X(pooled, XP_DSA_POOLED_COLUMNS)                                       \
	X(histogram, XP_DSA_HISTOGRAM_COLUMNS)                                 \
	X(recordings, XP_DSA_RECORDINGS_COLUMNS)

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

#endif
