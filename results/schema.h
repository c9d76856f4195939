/* results/schema.h -- every measured quantity: name, units, meaning.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One list makes the struct members, the HDF5 datasets and the columns of
 * tables. All are doubles; NaN = not measured.
 */
#ifndef RESULTS_SCHEMA_H
#define RESULTS_SCHEMA_H

#define RES_SCHEMA_VERSION 4

/* Metrics that are measured together, or not at all. The plane of a spec says
 * which of these sets it fills (experiments/spec/plane.h); the others are
 * NaN. */
enum res_set {
	RES_OF_SCENE = 1,   /* whatever the plane */
	RES_OF_FLOWS = 2,   /* RES_FLOW_METRICS */
	RES_OF_AGENTS = 4,  /* RES_AGENT_METRICS */
	RES_OF_SECONDS = 8, /* RES_SECOND_METRICS */
	RES_OF_PROBES = 16, /* RES_PROBE_METRICS */
	/* Left out of files and tables where they were nowhere measured. */
	RES_OPTIONAL = RES_OF_PROBES,
};

/* Once a row. X lists metrics of flows, SCENE those that there are whatever the
 * plane. Metrics of flows are left out where those of probes
 * (RES_PROBE_METRICS) were measured and they were not. X(name, units,
 * meaning) */
#define RES_FLOW_METRICS(X, SCENE)                                             \
	X(n_flows, "flows", "flows that ran in the epoch")                     \
	X(n_failed_flows, "flows", "flows that lost at least one packet")      \
	X(n_drops, "packets", "packets lost")                                  \
	SCENE(n_faults, "links", "links with an injected fault")               \
	X(n_fault_flows, "flows",                                              \
	    "failed flows that lost a packet on a link with a fault")

/* Once a row: of agents that trace the paths of flows that lost packets; left
 * out as those of flows are. */
#define RES_AGENT_METRICS(X)                                                   \
	X(n_traced, "flows", "failed flows whose path was looked for")         \
	X(n_full_traces, "flows", "of these, the whole path was learned")      \
	X(n_partial_traces, "flows", "of these, a part or nothing was")        \
	X(n_icmp_sent, "messages", "ICMP messages that switches sent")         \
	X(n_icmp_suppressed, "messages",                                       \
	    "messages they kept back for their limit")

/* Likewise, by the second: shares are of all pairs of a switch and a second of
 * the epoch, where T is the number of ICMP messages it sent in that second. */
#define RES_SECOND_METRICS(X)                                                  \
	X(icmp_max_per_switch_s, "messages", "greatest T")                     \
	X(icmp_share_none, "1", "share of switch-seconds with T = 0")          \
	X(icmp_share_low, "1", "share with 0 < T <= 3")                        \
	X(icmp_share_high, "1", "share with T > 3")

/* Once a row: of the probes that the row is about, and of what analysis made of
 * them. A ToR is "black" while it is a black hole. */
#define RES_PROBE_METRICS(X)                                                   \
	X(n_probes, "probes", "probes that ended")                             \
	X(n_connected, "probes", "of these, the connect succeeded")            \
	X(n_unconnected, "probes", "of these, it did not")                     \
	X(n_drop, "probes", "connected after SYNs were lost")                  \
	X(n_unclear, "probes", "connected after a time that tells nothing")    \
	X(true_drop_rate, "1",                                                 \
	    "round-trip loss that the faults give these probes")               \
	X(p50_us, "us", "median connect time")                                 \
	X(p99_us, "us", "99th percentile of connect times")                    \
	X(rtt_us, "us", "connect time that a share `tail` exceeds")            \
	X(alert_drop, "1", "1 if the drop rate raises an alert")               \
	X(alert_p99, "1", "1 if the 99th percentile does")                     \
	X(verdict, "1",                                                        \
	    "is it the network: 0 unknown, 1 no, 2 yes, 3 the servers")        \
	X(pattern, "1",                                                        \
	    "heat map: 0 normal, 1 unclear, 2 pod down, 3 pod failure, "       \
	    "4 spine failure")                                                 \
	X(pattern_right, "1", "1 if that is what was injected")                \
	X(n_pattern, "1", "1 if a pattern was looked for")                     \
	X(tier, "1", "that drops silently: 0 none, 1 unclear, 2 pod, 3 spine") \
	X(tier_right, "1", "1 if that is what was injected")                   \
	X(n_tier, "1", "1 if a tier was looked for")                           \
	X(n_black_tors, "switches", "ToRs that are black holes now")           \
	X(n_candidates, "switches", "ToRs taken for black holes")              \
	X(n_candidates_true, "switches", "of these, black holes")              \
	X(n_reloaded, "switches", "ToRs reloaded")                             \
	X(n_deferred, "switches", "ToRs to be reloaded another day")           \
	X(n_escalated, "switches", "ToRs left to people")                      \
	X(n_live_agents, "agents", "agents that probe")                        \
	X(n_fetch_failed, "fetches", "pinglists asked for in vain")            \
	X(n_lost_records, "records", "records that agents threw away")         \
	X(n_traces, "tuples", "five-tuples traced hop by hop")                 \
	X(n_trace_probes, "probes", "probes that this took")

/* All that a row has once. */
#define RES_TRIAL_METRICS(X)                                                   \
	RES_FLOW_METRICS(X, X)                                                 \
	RES_AGENT_METRICS(X)                                                   \
	RES_SECOND_METRICS(X)                                                  \
	RES_PROBE_METRICS(X)

/* Ratios of trial metrics, as RES_RATIOS below has those of algorithms'
 * metrics. Optional, like RES_PROBE_METRICS. */
#define RES_TRIAL_RATIOS(X)                                                    \
	X(drop_rate, n_drop, n_connected,                                      \
	    "connects after lost SYNs / connects")                             \
	X(unconnected_rate, n_unconnected, n_probes,                           \
	    "probes that did not connect / probes")                            \
	X(pattern_accuracy, pattern_right, n_pattern,                          \
	    "share of heat maps whose pattern is right")                       \
	X(tier_accuracy, tier_right, n_tier,                                   \
	    "share of looks for a tier that are right")                        \
	X(reload_precision, n_candidates_true, n_candidates,                   \
	    "black holes among ToRs taken for them / these")                   \
	X(traced_rate, n_traced, n_failed_flows,                               \
	    "failed flows whose path was looked for / failed flows")           \
	X(full_trace_rate, n_full_traces, n_failed_flows,                      \
	    "failed flows whose whole path was learned / failed flows")

/* Once a row and algorithm. A hit is a flow whose blamed link is its true
 * culprit. True culprit: the link that dropped most of the flow's packets (the
 * first of these on the path), as 007 section 6 defines it; for *_released: a
 * faulty link that dropped, else the last link that dropped, as 007's released
 * simulator does. A flow is one direction of a connection: a drop is of the flow
 * whose five-tuple the packet has, so a flow that sent again because nothing but
 * acknowledgements was lost, on the way back, has no culprit. Nobody can blame
 * it right: it counts in flows_all, and not in flows_fault. That is so in
 * simulations (models/scene/tcp.h) and on real networks alike. On plane agents
 * the flows are those that agents reported: flows_all against n_failed_flows
 * tells how many were not.
 *
 * The released simulator itself writes into its files "correct", which is
 * hits_printed, "incorrect", the number of flows and that of failed ones. Of all
 * flows those are correct whose blame is their culprit, "none" being equal to
 * "none": so a flow counts that lost nothing, and one set aside as noise unless
 * a link with a fault was its culprit. A flow that failed and that nobody
 * reported is none to it, either.
 *
 * detect_s and what stands behind it are optional, as RES_PROBE_METRICS, and so
 * are ratios of these. */
#define RES_ALGO_METRICS(X)                                                    \
	X(hits_all, "flows", "hits among all failed flows")                    \
	X(flows_all, "flows", "all failed flows")                              \
	X(hits_kept, "flows", "hits among flows not set aside as noise")       \
	X(flows_kept, "flows", "failed flows not set aside as noise")          \
	X(hits_fault, "flows",                                                 \
	    "hits among flows whose true culprit has a fault")                 \
	X(flows_fault, "flows", "flows whose true culprit has a fault")        \
	X(hits_released, "flows", "hits by the released simulator's rule")     \
	X(flows_released, "flows",                                             \
	    "flows it counts: not set aside, or culprit has a fault")          \
	X(n_flagged, "links", "links the algorithm accuses")                   \
	X(n_flagged_true, "links", "accused links that have a fault")          \
	X(n_links_true, "links", "links with a fault, if it accuses")          \
	X(n_top_true, "links",                                                 \
	    "faulty links among the k of greatest score, k = faulty links; "   \
	    "in the mean over all orders of equal scores")                     \
	X(n_top, "links", "links with a fault")                                \
	X(worst_rank, "1", "rank of the link with the highest drop rate")      \
	X(last_rank, "1", "greatest rank of a link with a fault")              \
	X(worst_first, "1", "1 if that link is listed and ranks first")        \
	X(n_worst, "1", "1 if there is such a link")                           \
	X(lead, "votes",                                                       \
	    "score of that link less the best of links without a fault")       \
	X(value, "links", "a program's objective; NaN: no answer")             \
	X(bound, "links", "a program's proved lower bound")                    \
	X(value_status, "1", "0 optimal, 1 feasible, 2 none")                  \
	X(n_proved, "1", "1 if the value is proved optimal")                   \
	X(n_programs, "1", "1 if the algorithm solves a program")              \
	X(detect_s, "s",                                                       \
	    "from the first fault until it first accuses what has one; "       \
	    "NaN: never, or not measured")                                     \
	X(hits_printed, "flows",                                               \
	    "flows that the released simulator prints as correct: not set "    \
	    "aside and a hit by its rule, set aside rightly, or not failed")   \
	X(flows_printed, "flows", "all flows of the epoch, as it prints them") \
	X(hits_spared, "flows",                                                \
	    "failed flows that it does not print as incorrect")

/* X(name, numerator, denominator, meaning): written as datasets of their own,
 * NaN where the denominator is 0; tables pool numerators and denominators over
 * runs and give exact binomial intervals. */
#define RES_RATIOS(X)                                                          \
	X(accuracy_all, hits_all, flows_all,                                   \
	    "per-flow accuracy over all failed flows")                         \
	X(accuracy_kept, hits_kept, flows_kept,                                \
	    "per-flow accuracy over flows not set aside as noise")             \
	X(accuracy_fault, hits_fault, flows_fault,                             \
	    "per-flow accuracy over flows whose culprit has a fault")          \
	X(accuracy_released, hits_released, flows_released,                    \
	    "per-flow accuracy as 007's released simulator counts")            \
	X(accuracy_spared, hits_spared, flows_all,                             \
	    "1 - incorrect / failed, of what the released simulator prints: "  \
	    "flows rightly set aside are hits")                                \
	X(accuracy_printed, hits_printed, flows_printed,                       \
	    "correct / all, of what it prints: flows that lost nothing are "   \
	    "hits, too")                                                       \
	X(precision, n_flagged_true, n_flagged,                                \
	    "accused links that have a fault / accused links")                 \
	X(recall, n_flagged_true, n_links_true,                                \
	    "accused links that have a fault / links with a fault")            \
	X(top_k_recall, n_top_true, n_top,                                     \
	    "recall of the k links of greatest score, k = links with a "       \
	    "fault, in the mean over all orders of equal scores")              \
	X(worst_first_rate, worst_first, n_worst,                              \
	    "share of runs in which the worst link ranks first")               \
	X(proved, n_proved, n_programs,                                        \
	    "share of programs whose value is proved optimal")

/* Ratios of an algorithm's metric and one of the trial, where there are agents;
 * in tables only. X(name, numerator, trial's denominator, meaning) */
#define RES_REACH_RATIOS(X)                                                    \
	X(accuracy_failed, hits_all, n_failed_flows,                           \
	    "per-flow accuracy over all failed flows, reported by an agent "   \
	    "or not")

/* The lists as tables, in the order of the enums below. */
struct res_metric {
	const char *name, *unit, *doc;
	/* Ratios: RES_ALGO_*, or RES_TRIAL_*; of res_reach_ratios one each. */
	unsigned num, den;
	unsigned set; /* enum res_set; 0: of an algorithm, or a ratio */
	int optional; /* left out where it was nowhere measured */
	int of_flows; /* likewise, where n_probes was measured */
};
extern const struct res_metric res_trial_metrics[], res_algo_metrics[],
    res_ratios[], res_trial_ratios[], res_reach_ratios[];

/* The entry of that name in any of the five, or NULL. */
const struct res_metric *res_metric_find(const char *name);

struct res_trial_metrics {
#define X(name, units, doc) double name;
	RES_TRIAL_METRICS(X)
#undef X
};

struct res_algo_metrics {
#define X(name, units, doc) double name;
	RES_ALGO_METRICS(X)
#undef X
};

enum {
#define X(name, units, doc) RES_TRIAL_##name,
	RES_TRIAL_METRICS(X)
#undef X
	    RES_N_TRIAL_METRICS
};

enum {
#define X(name, units, doc) RES_ALGO_##name,
	RES_ALGO_METRICS(X)
#undef X
	    RES_N_ALGO_METRICS
};

enum {
#define X(name, num, den, doc) RES_RATIO_##name,
	RES_RATIOS(X)
#undef X
	    RES_N_RATIOS
};

enum {
#define X(name, num, den, doc) RES_TRIAL_RATIO_##name,
	RES_TRIAL_RATIOS(X)
#undef X
	    RES_N_TRIAL_RATIOS
};

enum {
#define X(name, num, den, doc) RES_REACH_RATIO_##name,
	RES_REACH_RATIOS(X)
#undef X
	    RES_N_REACH_RATIOS
};

#endif
