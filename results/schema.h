/* results/schema.h -- every measured quantity: name, units, meaning.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One list makes the struct members, the HDF5 datasets and the columns of
 * tables. All are doubles; NaN = not measured.
 */
#ifndef RESULTS_SCHEMA_H
#define RESULTS_SCHEMA_H

#include <stdint.h>

#define RES_SCHEMA_VERSION 4

/* What values a metric can have. X(range, words) */
#define RES_RANGES(X)                                                          \
	X(COUNT, "0, 1, 2, ...")                                               \
	X(PARTS, "0 or more, in parts where scores are equal")                 \
	X(FLAG, "0 or 1")                                                      \
	X(CODE, "0, 1, 2, ..., each a word")                                   \
	X(RANK, "1, 2, 3, ...")                                                \
	X(SHARE, "from 0 to 1")                                                \
	X(TIME, "0 or more")                                                   \
	X(AMOUNT, "0 or more")                                                 \
	X(REAL, "any number")
enum res_range {
#define X(range, words) RES_RANGE_##range,
	RES_RANGES(X)
#undef X
};
extern const struct res_range_name {
	const char *name, *words;
} res_ranges[];

/* Metrics that are measured together, or not at all. The plane of a spec says
 * which of these sets it fills (experiments/spec/plane.h); the others are
 * NaN. */
enum res_set {
	RES_OF_SCENE = 1,          /* whatever the plane */
	RES_OF_FLOWS = 2,          /* RES_FLOW_METRICS */
	RES_OF_AGENTS = 4,         /* RES_AGENT_METRICS */
	RES_OF_SECONDS = 8,        /* RES_SECOND_METRICS */
	RES_OF_PROBES = 16,        /* RES_PROBE_METRICS */
	RES_OF_MIRROR = 32,        /* RES_MIRROR_METRICS */
	RES_OF_COST = 64,          /* RES_COST_METRICS */
	RES_OF_RACK = 128,         /* RES_RACK_METRICS */
	RES_OF_RETX_COST = 256,    /* RES_RETX_COST_METRICS */
	RES_OF_BUFFERS = 512,      /* RES_BUFFER_METRICS */
	RES_OF_TRUE_BURSTS = 1024, /* RES_TRUE_BURST_METRICS */
	RES_OF_PORTS = 2048,       /* RES_PORT_METRICS */
	RES_OF_REPORTS = 4096,     /* RES_REPORT_METRICS */
	RES_OF_LIMIT = 8192,       /* RES_LIMIT_METRICS */
	RES_OF_PLANNER = 16384,    /* RES_PLANNER_METRICS */
	/* Left out of files and tables where they were nowhere measured. */
	RES_OPTIONAL = RES_OF_PROBES | RES_OF_MIRROR | RES_OF_COST |
	    RES_OF_RACK | RES_OF_RETX_COST | RES_OF_BUFFERS |
	    RES_OF_TRUE_BURSTS | RES_OF_PORTS | RES_OF_REPORTS | RES_OF_LIMIT |
	    RES_OF_PLANNER,
};

/* Once a row. X lists metrics of flows, SCENE those that there are whatever the
 * plane. Metrics of flows are left out where those of probes
 * (RES_PROBE_METRICS) were measured and they were not.
 * X(name, unit, range, meaning, definition): the meaning is a dataset's
 * long_name; the definition is a formula in words, and tells `culprit metrics`
 * which flows, links or probes are counted. */
#define RES_FLOW_METRICS(X, SCENE)                                             \
	X(n_flows, "flows", COUNT, "flows that ran in the epoch",              \
	    "count of the five-tuples, each one direction, that sent "         \
	    "packets, those that lost nothing included")                       \
	X(n_failed_flows, "flows", COUNT,                                      \
	    "flows that lost at least one packet",                             \
	    "count of the flows that sent a packet again (n_retx > 0)")        \
	X(n_drops, "packets", COUNT, "packets lost",                           \
	    "sum, over flows and the links of their paths, of the packets "    \
	    "dropped there")                                                   \
	SCENE(n_faults, "links", COUNT, "links with an injected fault",        \
	    "count of the directed links that drop or delay by a fault "       \
	    "(rate > 0 or delay > 0) at any time of the trial")                \
	X(n_fault_flows, "flows", COUNT,                                       \
	    "failed flows that lost a packet on a link with a fault",          \
	    "count of the flows of which a link with a fault dropped a "       \
	    "packet")

/* Once a row: of agents that trace the paths of flows that lost packets; left
 * out as those of flows are. */
#define RES_AGENT_METRICS(X)                                                   \
	X(n_traced, "flows", COUNT, "failed flows whose path was looked for",  \
	    "count of the failed flows that an agent reported with what it "   \
	    "learned of their paths")                                          \
	X(n_full_traces, "flows", COUNT,                                       \
	    "traced flows whose whole path was learned",                       \
	    "count of the traced flows of which each link of the path is "     \
	    "known")                                                           \
	X(n_partial_traces, "flows", COUNT,                                    \
	    "traced flows of whose path a part or nothing was learned",        \
	    "n_traced - n_full_traces")                                        \
	X(n_icmp_sent, "messages", COUNT, "ICMP messages that switches sent",  \
	    "sum over switches of T, the ICMP messages each sent in the "      \
	    "epoch")                                                           \
	X(n_icmp_suppressed, "messages", COUNT,                                \
	    "ICMP messages that switches kept back for their limit",           \
	    "sum over switches of the messages due for a trace and not "       \
	    "sent, as the switch had sent as many as it may (T_max)")

/* Likewise, by the second: shares are of all pairs of a switch and a second of
 * the epoch, where T is the number of ICMP messages it sent in that second. */
#define RES_SECOND_METRICS(X)                                                  \
	X(icmp_max_per_switch_s, "messages", COUNT,                            \
	    "most ICMP messages that a switch sent in a second",               \
	    "the greatest T of any switch in any second")                      \
	X(icmp_share_none, "1", SHARE, "share of switch-seconds with T = 0",   \
	    "pairs of a switch and a second with T = 0 / all such pairs")      \
	X(icmp_share_low, "1", SHARE,                                          \
	    "share of switch-seconds with 0 < T <= 3",                         \
	    "pairs of a switch and a second with 0 < T <= 3 / all such "       \
	    "pairs")                                                           \
	X(icmp_share_high, "1", SHARE, "share of switch-seconds with T > 3",   \
	    "pairs of a switch and a second with T > 3 / all such pairs")

/* Once a row: of the probes that the row is about, and of what analysis made of
 * them. A ToR is "black" while it is a black hole. */
#define RES_PROBE_METRICS(X)                                                   \
	X(n_probes, "probes", COUNT, "probes that ended",                      \
	    "count of the probes, of the row's group, service and windows, "   \
	    "that connected or gave up")                                       \
	X(n_connected, "probes", COUNT, "probes whose connect succeeded",      \
	    "count of these probes that connected, with whichever SYN")        \
	X(n_unconnected, "probes", COUNT, "probes whose connect did not",      \
	    "n_probes - n_connected")                                          \
	X(n_drop, "probes", COUNT,                                             \
	    "probes that connected after SYNs were lost",                      \
	    "count of the connects whose time is on a rung of the SYN "        \
	    "timer's ladder; a connect counts once, however many SYNs it "     \
	    "lost")                                                            \
	X(n_unclear, "probes", COUNT,                                          \
	    "probes that connected after a time that tells nothing",           \
	    "count of the connects that took longer than a round trip does "   \
	    "and are on no rung")                                              \
	X(true_drop_rate, "1", SHARE,                                          \
	    "round-trip loss that the faults give these probes",               \
	    "mean over connects of the chance that a round trip of the "       \
	    "probe's path is lost, by the true rates")                         \
	X(p50_us, "us", TIME, "median connect time",                           \
	    "median, of nearest rank, of the times of all connects of the "    \
	    "service or data centre, those after lost SYNs included")          \
	X(p99_us, "us", TIME, "99th percentile of connect times",              \
	    "the same with 99 %; along pairs, of that pair of pods or ToRs")   \
	X(rtt_us, "us", TIME, "connect time that a share `tail` exceeds",      \
	    "the connect time that a share `tail` of all exceeds, by "         \
	    "nearest rank")                                                    \
	X(alert_drop, "1", FLAG, "1 if the drop rate raises an alert",         \
	    "1 if the drop rate of the service or data centre, with probes "   \
	    "enough, is above its service level's bound, else 0")              \
	X(alert_p99, "1", FLAG, "1 if the 99th percentile raises an alert",    \
	    "1 if p99_us, with probes enough, is above the service level's "   \
	    "bound, else 0")                                                   \
	X(verdict, "1", CODE,                                                  \
	    "is it the network: 0 unknown, 1 no, 2 yes, 3 the servers",        \
	    "what the service's rates and its neighbours' come to: 0, 1, 2 "   \
	    "or 3 as above; services alone have one")                          \
	X(pattern, "1", CODE,                                                  \
	    "heat map: 0 normal, 1 unclear, 2 pod down, 3 pod failure, 4 "     \
	    "spine failure",                                                   \
	    "the pattern that the matrix of p99 of pods or ToRs is taken "     \
	    "for: 0 to 4 as above")                                            \
	X(pattern_right, "1", FLAG, "1 if the pattern is what was injected",   \
	    "1 if `pattern` is what the spec expects while its fault "         \
	    "lasts, or 0 without a fault")                                     \
	X(n_pattern, "1", FLAG, "1 if a pattern was looked for",               \
	    "1 if the spec says what to expect, and no fault began or "        \
	    "ended in the windows looked at")                                  \
	X(tier, "1", CODE,                                                     \
	    "tier that drops silently: 0 none, 1 unclear, 2 pod, 3 spine",     \
	    "the tier whose rates stand out: 0 to 3 as above")                 \
	X(tier_right, "1", FLAG, "1 if the tier is what was injected",         \
	    "1 if `tier` is what the spec expects while its fault lasts, "     \
	    "or 0 without a fault")                                            \
	X(n_tier, "1", FLAG, "1 if a tier was looked for",                     \
	    "1 if the spec says what to expect, and no fault began or "        \
	    "ended in the windows looked at")                                  \
	X(n_black_tors, "switches", COUNT, "ToRs that are black holes now",    \
	    "count of the ToRs that were black holes at any time of the "      \
	    "windows looked at")                                               \
	X(n_candidates, "switches", COUNT, "ToRs taken for black holes",       \
	    "count of the ToRs whose score is high enough for the "            \
	    "black-hole job")                                                  \
	X(n_candidates_true, "switches", COUNT,                                \
	    "ToRs taken for black holes that are",                             \
	    "count of the candidates that were black holes")                   \
	X(n_reloaded, "switches", COUNT, "ToRs reloaded",                      \
	    "count of the candidates reloaded within the day's budget")        \
	X(n_deferred, "switches", COUNT, "ToRs to be reloaded another day",    \
	    "count of the candidates beyond the day's budget")                 \
	X(n_escalated, "switches", COUNT, "ToRs left to people",               \
	    "count of the candidates in pods of which all ToRs are: the "      \
	    "fault lies above them")                                           \
	X(n_live_agents, "agents", COUNT, "agents that probe",                 \
	    "count of the agents that had a pinglist and probed when the "     \
	    "window ended")                                                    \
	X(n_fetch_failed, "fetches", COUNT, "pinglists asked for in vain",     \
	    "count of the requests for a pinglist that got none, in the "      \
	    "window, or in the whole run")                                     \
	X(n_lost_records, "records", COUNT, "records that agents threw away",  \
	    "count of the records that agents had no room for, as their "      \
	    "uploads tell")                                                    \
	X(n_traces, "tuples", COUNT, "five-tuples traced hop by hop",          \
	    "count of the five-tuples whose paths were traced")                \
	X(n_trace_probes, "probes", COUNT,                                     \
	    "probes that tracing five-tuples took",                            \
	    "count of the probes sent for these traces")

/* Once a row: of packets that switches mirrored, what analyzers made of the
 * copies, and what the row's debugger, or all of them, said. A trace is right if
 * what was said of its packet is what happened to it. A finding is right if its
 * cause is that of a fault, and its link or switch that fault's. */
#define RES_MIRROR_METRICS(X)                                                  \
	X(n_mirrored, "copies", COUNT, "copies that switches sent",            \
	    "count of the packets, once for each switch, that a rule took "    \
	    "and the switch had room to mirror")                               \
	X(n_mirrors_lost, "copies", COUNT, "copies that no analyzer got",      \
	    "count of the copies sent that were lost on their way")            \
	X(mirror_bytes, "bytes", COUNT, "bytes that switches mirrored",        \
	    "sum of the bytes of the copies sent, cut and with the headers "   \
	    "around them")                                                     \
	X(mirror_bytes_max, "bytes", COUNT,                                    \
	    "bytes that the busiest switch mirrored",                          \
	    "the greatest, over switches, of the sums of bytes of its copies") \
	X(traffic_bytes, "bytes", AMOUNT,                                      \
	    "bytes of connections that came into switches",                    \
	    "sum over connections of the bytes of their frames times the "     \
	    "switches on the path, mirrored or not")                           \
	X(n_assembled, "traces", COUNT, "packets put together of copies",      \
	    "count of the traces that analyzers finished")                     \
	X(n_whole, "traces", COUNT, "traces of whole paths",                   \
	    "count of the stored traces that each switch of a whole path is "  \
	    "in; all are stored if the spec says so")                          \
	X(n_loops, "traces", COUNT, "traces taken for loops",                  \
	    "count of the traces in which a switch saw the packet twice")      \
	X(n_loops_right, "traces", COUNT, "loops that were",                   \
	    "count of the traces taken for loops whose packet came twice to "  \
	    "a switch")                                                        \
	X(n_suspect, "traces", COUNT, "traces that look like drops",           \
	    "count of the traces whose last switch is not the last of the "    \
	    "path, whatever came later: confirmed, refuted or neither")        \
	X(n_suspect_right, "traces", COUNT,                                    \
	    "traces that look like drops, and are",                            \
	    "count of the traces of n_suspect whose packet was lost")          \
	X(n_confirmed, "traces", COUNT, "drops confirmed by a resend",         \
	    "count of the suspected traces whose packet was seen to be sent "  \
	    "again")                                                           \
	X(n_confirmed_right, "traces", COUNT, "confirmed drops that were",     \
	    "count of the traces of n_confirmed whose packet was lost")        \
	X(n_refuted, "traces", COUNT, "drops refuted by what came later",      \
	    "count of the traces that looked like drops until an answer came") \
	X(n_refuted_right, "traces", COUNT, "refuted drops that were none",    \
	    "count of the traces of n_refuted whose packet arrived")           \
	X(n_guided, "probes", COUNT, "guided probes sent",                     \
	    "count of the packets that debuggers asked for and hosts sent")    \
	X(guided_bytes_max, "bytes", COUNT,                                    \
	    "bytes of guided probes of the host that sent most",               \
	    "the greatest, over hosts, of the sums of bytes of its guided "    \
	    "probes")                                                          \
	X(link_rtt_us, "us", TIME, "greatest round trip over a link",          \
	    "along links: the greatest of the round trips of guided probes "   \
	    "over the row's link that began in the row's second")              \
	X(n_due, "1", FLAG, "1 if there is something to name",                 \
	    "1 if a fault of the truth is one that the row's debugger is for") \
	X(n_named, "1", FLAG, "1 if it is named, and nothing else",            \
	    "1 if n_due and the debugger found a fault that it is for, where " \
	    "and what it is, and nothing that is wrong")                       \
	X(n_cause, "1", FLAG, "1 if causes are right, too",                    \
	    "1 if n_named and the cause of each right finding is its "         \
	    "fault's: n_named asks for the switch alone of uneven spreading, " \
	    "and not for the key of black holes")                              \
	X(n_misnamed, "findings", COUNT, "findings that are wrong",            \
	    "count of the findings, each cause and place once, that are of "   \
	    "no "                                                              \
	    "fault")                                                           \
	X(n_quiet, "1", FLAG, "1 if there is nothing to name", "1 - n_due")    \
	X(n_alarms, "1", FLAG, "1 if something is named all the same",         \
	    "1 if n_quiet and n_misnamed > 0")                                 \
	X(name_s, "s", TIME, "from the fault until it is named",               \
	    "time of the first right finding - begin of its fault; NaN: "      \
	    "never")                                                           \
	X(asked_pps, "packets/s", AMOUNT,                                      \
	    "packets whose tracing was asked for",                             \
	    "packets of all connections of the servers that EnableDbg was "    \
	    "asked for, without what is sent again / epoch")                   \
	X(admitted_pps, "packets/s", AMOUNT,                                   \
	    "packets whose tracing was admitted",                              \
	    "the same of the servers of the requests that were not refused")   \
	X(policed_share, "1", SHARE, "share of copies that were not sent",     \
	    "where tracing was asked for: packets, once for each switch, "     \
	    "that "                                                            \
	    "a rule took and the switch had no room to mirror / those that a " \
	    "rule took")

/* Once a row: what a tool costs, of operations that were counted and what each is
 * said to cost (experiments/spec/cost.h). Measured where a spec asks for it. */
#define RES_COST_METRICS(X)                                                    \
	X(host_bytes_s, "bytes/s", AMOUNT, "bytes that a host sends for it",   \
	    "bytes of probes and reports / hosts / time")                      \
	X(switch_bytes_s, "bytes/s", AMOUNT,                                   \
	    "bytes that a switch sends or carries for it",                     \
	    "bytes of copies, of probes once for each switch that carries "    \
	    "them, and of ICMP answers / switches / time")                     \
	X(host_cpu, "us/s", AMOUNT, "CPU of a host for it",                    \
	    "sum over operations of their count times what each costs / "      \
	    "hosts / time; analyzers' counts as hosts'")                       \
	X(switch_cpu, "us/s", AMOUNT, "CPU of a switch for it",                \
	    "ICMP answers times what one costs / switches / time")

/* Once a row: the same of 007, which looks at the connections that the other tool
 * sees. */
#define RES_RETX_COST_METRICS(X)                                               \
	X(retx_host_bytes_s, "bytes/s", AMOUNT,                                \
	    "bytes that a host sends for 007",                                 \
	    "as host_bytes_s, of a traceroute and a report of each flow that " \
	    "sent again")                                                      \
	X(retx_switch_bytes_s, "bytes/s", AMOUNT,                              \
	    "bytes that a switch sends or carries for 007",                    \
	    "as switch_bytes_s, of these traceroutes")                         \
	X(retx_host_cpu, "us/s", AMOUNT, "CPU of a host for 007",              \
	    "as host_cpu, of these")                                           \
	X(retx_switch_cpu, "us/s", AMOUNT, "CPU of a switch for 007",          \
	    "as switch_cpu, of these")

/* Once a row, beside RES_COST_METRICS: what telemetry costs in packets, its
 * collector, and switches' tables (experiments/telemetry/cost.h). */
#define RES_REPORT_METRICS(X)                                                  \
	X(host_packets_s, "packets/s", AMOUNT,                                 \
	    "packets that a host sends for it",                                \
	    "packets of probes, traceroutes and reports / hosts / time; "      \
	    "flows' own packets that carry more are not counted")              \
	X(switch_packets_s, "packets/s", AMOUNT,                               \
	    "packets that a switch carries or sends for it",                   \
	    "packets of probes and traceroutes once for each switch that "     \
	    "carries them, and of ICMP answers / switches / time")             \
	X(collector_bytes_s, "bytes/s", AMOUNT,                                \
	    "bytes that a collector of all takes",                             \
	    "bytes of all hosts' reports, frames included / time")             \
	X(collector_packets_s, "packets/s", AMOUNT,                            \
	    "packets that a collector of all takes",                           \
	    "frames that hold each host's reports / time")                     \
	X(switch_entries, "1", AMOUNT, "entries that a switch keeps for it",   \
	    "entries of all switches' tables that it needs / switches")

/* Once a row: how well its window could be told by who knows what no algorithm
 * does (experiments/telemetry/limit.h). */
#define RES_LIMIT_METRICS(X)                                                   \
	X(limit_f, "1", SHARE,                                                 \
	    "F of who knows all other links' rates, laws, how many failed",    \
	    "F as of algorithms, of the links that are likeliest given the "   \
	    "true rates of all others, the laws of noise and faults and the "  \
	    "number that failed; NaN if a switch failed, if losses depend "    \
	    "on time, header or tier, or of telemetry that shows only flows "  \
	    "that lost something")

/* Once a row: of racks with shared buffers, and what their hosts counted in
 * buckets of the finest width of the spec. */
#define RES_RACK_METRICS(X)                                                    \
	X(n_bursts, "bursts", COUNT, "bursts that hosts counted",              \
	    "count of the runs of buckets in each of which more than a share " \
	    "of what the line carries came in")                                \
	X(n_lossy_bursts, "bursts", COUNT, "bursts with losses",               \
	    "count of the bursts with, or right behind which, something sent " \
	    "again came in")                                                   \
	X(burst_rate, "1/s", AMOUNT, "bursts of a server and second",          \
	    "n_bursts / servers / time")                                       \
	X(contention_mean, "hosts", AMOUNT, "servers in a burst together",     \
	    "mean, over buckets and racks, of the hosts of the rack that are " \
	    "in a burst")                                                      \
	X(contention_p90, "hosts", AMOUNT,                                     \
	    "servers in a burst together, in a tenth of buckets or more",      \
	    "mean over racks of the 90th percentile, of nearest rank, of the " \
	    "hosts that are in a burst, over buckets")                         \
	X(contention_p10, "hosts", AMOUNT,                                     \
	    "servers in a burst together, in nine tenths of buckets or more",  \
	    "the same of the 10th percentile")                                 \
	X(n_racks, "racks", COUNT, "racks", "count of the racks of the row")   \
	X(n_swings, "racks", COUNT, "racks whose contention swings",           \
	    "count of the racks of whose buckets the 90th percentile of "      \
	    "hosts in a burst is above 3 times the 10th")                      \
	X(n_job_servers, "hosts", COUNT, "servers that compute together",      \
	    "sum over racks of the servers of their jobs")                     \
	X(n_met_bursts, "bursts", COUNT, "bursts that meet another host's",    \
	    "count of the bursts in one of whose buckets another host of the " \
	    "rack is in a burst")                                              \
	X(burst_conns, "connections", AMOUNT,                                  \
	    "connections of a host within bursts",                             \
	    "mean, over buckets of hosts in a burst, of what sketches say")    \
	X(quiet_conns, "connections", AMOUNT,                                  \
	    "connections of a host outside of bursts",                         \
	    "the same over all their other buckets, those without traffic "    \
	    "included")                                                        \
	X(burst_contention, "hosts", AMOUNT, "contention that a burst meets",  \
	    "mean over bursts of the greatest number of hosts in a burst in "  \
	    "one of its buckets, itself included")                             \
	X(goodput, "bytes/s", AMOUNT, "bytes that arrive, of a server",        \
	    "data that came to servers' NICs, or from them to the ToR, each "  \
	    "segment once / servers / time")                                   \
	X(buffer_bytes, "bytes", COUNT, "bytes that full buffers dropped",     \
	    "sum over servers of what was for them and found no room")         \
	X(buffer_loss, "1", SHARE, "of bytes sent, dropped by full buffers",   \
	    "buffer_bytes / bytes that connections sent, also again")          \
	X(link_bytes, "bytes", COUNT, "bytes that servers' links lost",        \
	    "sum over servers of what their links lost, both ways")            \
	X(n_timeouts, "timeouts", COUNT, "losses found by a timer",            \
	    "count of the times that a connection was silent for an RTO")      \
	X(dispersion_1ms, "1", AMOUNT, "how bursty traffic is, at 1 ms",       \
	    "mean over racks of variance / mean, over windows of 1 ms, of "    \
	    "the segments of transfers that begin")                            \
	X(dispersion_10ms, "1", AMOUNT, "how bursty traffic is, at 10 ms",     \
	    "the same over windows of 10 ms")                                  \
	X(dispersion_100ms, "1", AMOUNT, "how bursty traffic is, at 100 ms",   \
	    "the same over windows of 100 ms")                                 \
	X(burst_ms, "ms", TIME, "a quantile of bursts' lengths",               \
	    "the length, of nearest rank, that a share `quantile` of bursts "  \
	    "does not exceed")                                                 \
	X(burst_bytes, "bytes", AMOUNT, "a quantile of bursts' volumes",       \
	    "of the bytes that came in within a burst")                        \
	X(server_burst_rate, "1/s", AMOUNT,                                    \
	    "a quantile of servers' burst rates",                              \
	    "of the bursts of a server and second, over servers")              \
	X(conns_inside, "connections", AMOUNT,                                 \
	    "a quantile of connections within bursts",                         \
	    "of what sketches say, over buckets of hosts in a burst")          \
	X(conns_outside, "connections", AMOUNT,                                \
	    "a quantile of connections outside of bursts",                     \
	    "over all their other buckets")                                    \
	X(n_long_bursts, "bursts", COUNT, "bursts of this length",             \
	    "count of the bursts that last `size` ms or longer, and less "     \
	    "than the next size")                                              \
	X(n_lossy_long, "bursts", COUNT, "lossy bursts of this length",        \
	    "count of the lossy ones of n_long_bursts")                        \
	X(n_wide_bursts, "bursts", COUNT, "bursts of as many connections",     \
	    "count of the bursts of `size` connections or more, and fewer "    \
	    "than the next size")                                              \
	X(n_lossy_wide, "bursts", COUNT,                                       \
	    "lossy bursts of as many connections",                             \
	    "count of the lossy ones of n_wide_bursts")                        \
	X(contention, "hosts", COUNT, "servers in a burst at that time",       \
	    "count of the first rack's hosts in a burst in that bucket")

/* Once a row: what hosts of racks counted, held against what came in; where a spec
 * asks for it (rack.sample.truth). A burst is what it is to
 * algos/millisampler/bursts.h, in milliseconds by the right clock that begin
 * with the runs' common buckets. The first and last 20 ms are left out, which
 * wrong clocks may move beyond the ends. */
#define RES_TRUE_BURST_METRICS(X)                                              \
	X(n_burst_ms, "1", COUNT, "milliseconds that were in a burst",         \
	    "count, over servers and milliseconds, of those in which more "    \
	    "than a share of what the line carries came in")                   \
	X(n_burst_ms_told, "1", COUNT,                                         \
	    "milliseconds that hosts' counts take for a burst",                \
	    "count of the milliseconds whose middle is in a bucket that is "   \
	    "in a burst, of the runs on common buckets")                       \
	X(n_burst_ms_right, "1", COUNT,                                        \
	    "milliseconds taken for a burst that were",                        \
	    "count of those that are in n_burst_ms and n_burst_ms_told")       \
	X(n_true_bursts, "bursts", COUNT, "bursts that there were",            \
	    "count of the runs of milliseconds in a row of n_burst_ms")        \
	X(n_seen_bursts, "bursts", COUNT, "bursts of which anything is told",  \
	    "count of the bursts of n_true_bursts with a millisecond of "      \
	    "n_burst_ms_right")                                                \
	X(true_contention, "hosts", AMOUNT, "servers in a burst together",     \
	    "n_burst_ms / milliseconds / racks")                               \
	X(told_contention, "hosts", AMOUNT, "the same, as hosts' counts tell", \
	    "n_burst_ms_told / milliseconds / racks")                          \
	X(contention_off, "hosts", AMOUNT, "by how much that is wrong",        \
	    "mean over milliseconds and racks of the difference, without its " \
	    "sign, of servers in a burst as told and as it was")               \
	X(told_conns, "connections", AMOUNT,                                   \
	    "connections of a burst, as sketches tell",                        \
	    "mean over bursts of the estimate, itself the mean over a "        \
	    "burst's buckets")                                                 \
	X(told_conns_low, "connections", AMOUNT,                               \
	    "what a fortieth of bursts have less of",                          \
	    "quantile .025 of the same over bursts")                           \
	X(told_conns_high, "connections", AMOUNT,                              \
	    "what a fortieth of bursts have more of",                          \
	    "quantile .975 of the same over bursts")                           \
	X(queue_share, "1", AMOUNT, "share of a buffer that full queues have", \
	    "mean, over servers and tenths of a millisecond in which the "     \
	    "buffer dropped something for it, of its longest queue in it / "   \
	    "what queues of the quadrant share")

/* Once a row: full ports of racks as keys of `congestion`, by which other planes
 * have the like (models/scene/congestion.h); where a spec asks for it
 * (rack.as_congestion). A port is full in a bucket of the finest width in which
 * the buffer dropped something for its server. */
#define RES_PORT_METRICS(X)                                                    \
	X(congestion_ports, "1", SHARE,                                        \
	    "congestion.ports of such racks, all of them hot",                 \
	    "bytes for servers, dropped or not, in buckets in which their "    \
	    "port is full / all such bytes / congestion_busy")                 \
	X(congestion_busy, "1", SHARE, "congestion.busy of such racks",        \
	    "pairs of ports that would be full in one bucket by chance / "     \
	    "those that were; 1 if that is more")                              \
	X(congestion_burst, "ms", AMOUNT, "congestion.burst of such racks",    \
	    "mean length of the runs of buckets in which a port is full")      \
	X(congestion_loss, "1", SHARE,                                         \
	    "mean of congestion.loss of such racks",                           \
	    "bytes that full ports dropped / bytes for servers in these "      \
	    "buckets")                                                         \
	X(congestion_wait, "us", AMOUNT,                                       \
	    "the most that congestion.wait of such racks may be",              \
	    "mean, over buckets in which a port is full, of its longest "      \
	    "queue / line rate")

/* What is lost without a fault, where there is congestion
 * (models/scene/congestion.h): a full buffer is no fault. */
#define RES_BUFFER_METRICS(X)                                                  \
	X(n_buffer_drops, "packets", COUNT,                                    \
	    "packets that full buffers dropped",                               \
	    "sum, over flows and the links of their paths, of the packets "    \
	    "that the buffer of the link's port dropped; on plane pingmesh "   \
	    "over the connects of the run, of SYNs, answers, and payloads "    \
	    "each time that they are sent")                                    \
	X(n_buffer_flows, "flows", COUNT,                                      \
	    "flows that lost a packet in a full buffer",                       \
	    "count of the flows of which a buffer dropped a packet, whatever " \
	    "else they lost; on plane pingmesh of the connects of the run")    \
	X(n_noise_flows, "flows", COUNT,                                       \
	    "flows that lost packets to noise alone",                          \
	    "count of the flows that lost a packet, none of them in a buffer " \
	    "or on a link with a fault")

/* Once a row: of probes that were planned, and of the same search with all ways
 * of probes in turn. An answer is right if it takes just those links for failed
 * that lose as much as matters. */
#define RES_PLANNER_METRICS(X)                                                 \
	X(plan_right, "probes", COUNT, "probes until the answer was right",    \
	    "probes sent when the answer was first right; as many as may be "  \
	    "sent if it never was")                                            \
	X(plan_stop, "probes", COUNT, "probes until there was no more to ask", \
	    "probes sent when the stated error was first below what was "      \
	    "asked for; as many as may be sent if it never was")               \
	X(plan_stated, "links", AMOUNT, "error that was stated then",          \
	    "sum over links of the lesser of their chance to have failed and " \
	    "1 less that, at the stop")                                        \
	X(plan_wrong, "links", COUNT, "links that were taken wrongly then",    \
	    "links taken for failed that are not, and links that are and "     \
	    "were not, at the stop")                                           \
	X(turn_right, "probes", COUNT, "plan_right with all ways in turn",     \
	    "plan_right of a search that plans no probe")                      \
	X(turn_stop, "probes", COUNT, "plan_stop with all ways in turn",       \
	    "plan_stop of a search that plans no probe")                       \
	X(turn_stated, "links", AMOUNT, "plan_stated with all ways in turn",   \
	    "plan_stated of a search that plans no probe")                     \
	X(turn_wrong, "links", COUNT, "plan_wrong with all ways in turn",      \
	    "plan_wrong of a search that plans no probe")                      \
	X(ln_fewer_right, "1", REAL, "by how much fewer until right",          \
	    "ln(turn_right / plan_right)")                                     \
	X(ln_fewer_stop, "1", REAL, "by how much fewer until the stop",        \
	    "ln(turn_stop / plan_stop)")                                       \
	X(plan_cut, "1", FLAG, "1 if a search was cut off",                    \
	    "1 if either search sent as many probes as may be before it had "  \
	    "both been right and stopped")

/* All that a row has once. */
#define RES_TRIAL_METRICS(X)                                                   \
	RES_FLOW_METRICS(X, X)                                                 \
	RES_AGENT_METRICS(X)                                                   \
	RES_SECOND_METRICS(X)                                                  \
	RES_PROBE_METRICS(X)                                                   \
	RES_MIRROR_METRICS(X)                                                  \
	RES_COST_METRICS(X)                                                    \
	RES_RETX_COST_METRICS(X)                                               \
	RES_RACK_METRICS(X)                                                    \
	RES_BUFFER_METRICS(X)                                                  \
	RES_TRUE_BURST_METRICS(X)                                              \
	RES_PORT_METRICS(X)                                                    \
	RES_REPORT_METRICS(X)                                                  \
	RES_LIMIT_METRICS(X)                                                   \
	RES_PLANNER_METRICS(X)

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
	    "failed flows whose whole path was learned / failed flows")        \
	X(lossy_burst_rate, n_lossy_bursts, n_bursts,                          \
	    "bursts with losses / bursts")                                     \
	X(burst_ms_recall, n_burst_ms_right, n_burst_ms,                       \
	    "milliseconds in a burst that are taken for it / these")           \
	X(burst_ms_precision, n_burst_ms_right, n_burst_ms_told,               \
	    "milliseconds taken for a burst that were / these")                \
	X(seen_burst_rate, n_seen_bursts, n_true_bursts,                       \
	    "bursts of which anything is told / bursts that there were")       \
	X(met_burst_rate, n_met_bursts, n_bursts,                              \
	    "bursts that meet another host's / bursts")                        \
	X(swing_rate, n_swings, n_racks,                                       \
	    "racks whose contention swings / racks")                           \
	X(lossy_long_rate, n_lossy_long, n_long_bursts,                        \
	    "bursts with losses / bursts, of this length")                     \
	X(lossy_wide_rate, n_lossy_wide, n_wide_bursts,                        \
	    "bursts with losses / bursts, of as many connections")             \
	X(mirror_loss_rate, n_mirrors_lost, n_mirrored,                        \
	    "copies that no analyzer got / copies that switches sent")         \
	X(whole_rate, n_whole, n_assembled, "traces of whole paths / traces")  \
	X(loop_precision, n_loops_right, n_loops,                              \
	    "loops that were / traces taken for loops")                        \
	X(suspect_precision, n_suspect_right, n_suspect,                       \
	    "traces that look like drops, and are / those that look so")       \
	X(confirmed_precision, n_confirmed_right, n_confirmed,                 \
	    "confirmed drops that were / confirmed drops")                     \
	X(refuted_precision, n_refuted_right, n_refuted,                       \
	    "refuted drops that were none / refuted drops")                    \
	X(named_rate, n_named, n_due,                                          \
	    "share of runs in which what is broken is named, and nothing "     \
	    "else")                                                            \
	X(cause_rate, n_cause, n_named,                                        \
	    "share of the runs in which it is named, with the right cause")    \
	X(alarm_rate, n_alarms, n_quiet,                                       \
	    "share of runs without such a fault in which one is named")

/* Chances of components to have failed, of algorithms whose scores are chances
 * (algo_verdicts.chances), by what was stated: three sums of each bin, from which
 * results/calibration.h makes how far they are right. What is listed below 1 %
 * counts in none. Components are links and switches, as the algorithm names them:
 * a link of a failed switch that has a fault is one that failed.
 * EACH(X, bin, least, range in words); the last bin holds 1 itself. */
#define RES_CHANCE_BINS(X, EACH)                                               \
	EACH(X, 1, 0.01, "from .01 to .1")                                     \
	EACH(X, 2, 0.1, "from .1 to .5")                                       \
	EACH(X, 3, 0.5, "from .5 to .9")                                       \
	EACH(X, 4, 0.9, "from .9 to .99")                                      \
	EACH(X, 5, 0.99, "from .99 to 1")
#define RES_CHANCE_METRICS(X, bin, least, words)                               \
	X(n_stated_##bin, "components", COUNT,                                 \
	    "components of which a chance " words " to have failed is stated", \
	    "count of the listed components whose score is " words ", the "    \
	    "upper end (but 1) not included; NaN if scores are no chances")    \
	X(stated_##bin, "components", AMOUNT,                                  \
	    "how many components of stated chances " words " should have "     \
	    "failed",                                                          \
	    "sum of the scores that n_stated_" #bin " counts")                 \
	X(n_stated_true_##bin, "components", COUNT,                            \
	    "how many components of stated chances " words " have failed",     \
	    "count of the components of n_stated_" #bin " that are links "     \
	    "with a fault, or switches that failed")
#define RES_CHANCE_RATIOS(X, bin, least, words)                                \
	X(stated_mean_##bin, stated_##bin, n_stated_##bin,                     \
	    "mean of the stated chances " words)                               \
	X(stated_true_##bin, n_stated_true_##bin, n_stated_##bin,              \
	    "share that failed of components of stated chances " words)

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
	X(hits_all, "flows", COUNT, "hits among all failed flows",             \
	    "count of the flows of flows_all whose blamed link is the true "   \
	    "culprit: the link that dropped most of their packets, the "       \
	    "first of equals")                                                 \
	X(flows_all, "flows", COUNT, "all failed flows",                       \
	    "count of the failed flows (n_retx > 0) that the algorithm was "   \
	    "shown; NaN if it blames no flow on anything")                     \
	X(hits_kept, "flows", COUNT,                                           \
	    "hits among flows not set aside as noise",                         \
	    "count of the flows of flows_kept whose blamed link is the "       \
	    "true culprit")                                                    \
	X(flows_kept, "flows", COUNT, "failed flows not set aside as noise",   \
	    "count of the flows of flows_all that the algorithm blames on "    \
	    "a link, and does not set aside as noise")                         \
	X(hits_fault, "flows", COUNT,                                          \
	    "hits among flows whose true culprit has a fault",                 \
	    "count of the flows of flows_fault whose blamed link is the "      \
	    "true culprit; one set aside is no hit")                           \
	X(flows_fault, "flows", COUNT, "flows whose true culprit has a fault", \
	    "count of the flows of flows_all whose true culprit is a link "    \
	    "with a fault")                                                    \
	X(hits_released, "flows", COUNT,                                       \
	    "hits by the released simulator's rule",                           \
	    "count of the flows of flows_released whose blamed link is the "   \
	    "last link with a fault on the path that dropped, or without "     \
	    "one the last that dropped")                                       \
	X(flows_released, "flows", COUNT,                                      \
	    "flows the released simulator counts: not set aside, or "          \
	    "culprit has a fault",                                             \
	    "count of the flows of flows_all that are blamed on a link, or "   \
	    "whose culprit by that rule has a fault")                          \
	X(n_flagged, "links", COUNT, "links the algorithm accuses",            \
	    "count of the links that the algorithm accuses; NaN if it only "   \
	    "ranks")                                                           \
	X(n_flagged_true, "links", COUNT, "accused links that have a fault",   \
	    "count of the accused links that have a fault")                    \
	X(n_links_true, "links", COUNT, "links with a fault, if it accuses",   \
	    "count of the links with a fault; NaN if the algorithm only "      \
	    "ranks")                                                           \
	X(n_top_true, "links", PARTS,                                          \
	    "faulty links among the k of greatest score, k = faulty links; "   \
	    "in the mean over all orders of equal scores",                     \
	    "sum over the listed links with a fault of the chance to be "      \
	    "among the n_top of greatest score, equal scores standing in "     \
	    "random order")                                                    \
	X(n_top, "links", COUNT, "links with a fault",                         \
	    "count of the links with a fault")                                 \
	X(worst_rank, "1", RANK,                                               \
	    "rank of the link with the highest drop rate",                     \
	    "1 + count of the links with a greater score than that of the "    \
	    "worst one, which drops most, or delays most, or has the "         \
	    "smallest id; equals share the best rank, and who is not "         \
	    "listed has score 0")                                              \
	X(last_rank, "1", RANK, "greatest rank of a link with a fault",        \
	    "the greatest of the ranks of links with a fault, each 1 + "       \
	    "count of the links with a greater score")                         \
	X(worst_first, "1", FLAG,                                              \
	    "1 if the link with the highest drop rate is listed and ranks "    \
	    "first",                                                           \
	    "1 if worst_rank is 1 and the link is listed, alone or with "      \
	    "equals")                                                          \
	X(n_worst, "1", FLAG,                                                  \
	    "1 if there is a link with the highest drop rate",                 \
	    "1 if n_faults > 0, else 0")                                       \
	X(lead, "votes", REAL,                                                 \
	    "score of the link with the highest drop rate less the best of "   \
	    "links without a fault",                                           \
	    "score of the worst link - greatest score of a link without a "    \
	    "fault, 0 where none is listed")                                   \
	X(value, "links", AMOUNT, "a program's objective; NaN: no answer",     \
	    "objective of the program at its answer: links it takes, and "     \
	    "what its form adds; NaN without an answer")                       \
	X(bound, "links", AMOUNT, "a program's proved lower bound",            \
	    "no answer of the program has a smaller objective than this")      \
	X(value_status, "1", CODE, "0 optimal, 1 feasible, 2 none",            \
	    "how far the answer is proved: 0, 1 or 2 as above")                \
	X(n_proved, "1", FLAG, "1 if the value is proved optimal",             \
	    "1 if value = bound is proved")                                    \
	X(n_programs, "1", FLAG, "1 if the algorithm solves a program",        \
	    "1 for an algorithm whose verdict has a value, a bound and a "     \
	    "status, else 0")                                                  \
	X(detect_s, "s", TIME,                                                 \
	    "from the first fault until it first accuses what has one; "       \
	    "NaN: never, or not measured",                                     \
	    "end of the first window in which n_flagged_true > 0 - begin "     \
	    "of the first fault")                                              \
	X(hits_printed, "flows", COUNT,                                        \
	    "flows that the released simulator prints as correct: not set "    \
	    "aside and a hit by its rule, set aside rightly, or not failed",   \
	    "flows_printed - (flows_released - hits_released)")                \
	X(flows_printed, "flows", COUNT,                                       \
	    "all flows of the epoch, as it prints them",                       \
	    "n_flows: all flows of the window, those that lost nothing "       \
	    "included")                                                        \
	X(hits_spared, "flows", COUNT,                                         \
	    "failed flows that it does not print as incorrect",                \
	    "flows_all - (flows_released - hits_released)")                    \
	X(n_found, "components", PARTS,                                        \
	    "failed components that are accused, links or switches",           \
	    "1 for each failed switch that is accused; of one that is not, "   \
	    "the share of its links with a fault that are; and 1 for each "    \
	    "accused link with a fault that fails with no switch")             \
	X(n_to_find, "components", COUNT,                                      \
	    "failed components, links or switches",                            \
	    "switches that failed + links with a fault that fail with no "     \
	    "switch")                                                          \
	X(n_unanswered, "windows", FLAG,                                       \
	    "1 if an algorithm from outside failed at the window",             \
	    "1 if it died, took too long, said that it failed or answered "    \
	    "what can't be, and its other metrics are NaN; else 0; NaN of "    \
	    "an algorithm of the tree")                                        \
	X(f, "1", SHARE, "F of a window's accusations",                        \
	    "2 P R / (P + R) of R = n_found / n_to_find and P = "              \
	    "n_flagged_true / n_flagged, or 1 if nobody is accused; 0 if "     \
	    "nothing is found; NaN if nothing failed, or the window has no "   \
	    "sums of packets by path")                                         \
	X(right_share, "1", SHARE,                                             \
	    "share of a window until its answer is right",                     \
	    "the least share of the window, of those asked about, at whose "   \
	    "end it accuses what failed and nothing else, of what there was "  \
	    "to see by then; 1 if it never does, or in the end; NaN if "       \
	    "nothing failed, or where only whole windows are asked about")     \
	RES_CHANCE_BINS(X, RES_CHANCE_METRICS)

/* X(name, numerator, denominator, meaning), the definition being the one over
 * the other: written as datasets of their own,
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
	X(found_rate, n_found, n_to_find,                                      \
	    "failed links and switches that are accused / those that failed")  \
	X(top_k_recall, n_top_true, n_top,                                     \
	    "recall of the k links of greatest score, k = links with a "       \
	    "fault, in the mean over all orders of equal scores")              \
	X(worst_first_rate, worst_first, n_worst,                              \
	    "share of runs in which the worst link ranks first")               \
	X(proved, n_proved, n_programs,                                        \
	    "share of programs whose value is proved optimal")                 \
	RES_CHANCE_BINS(X, RES_CHANCE_RATIOS)

/* Ratios of an algorithm's metric and one of the trial, where there are agents;
 * in tables only. X(name, numerator, trial's denominator, meaning) */
#define RES_REACH_RATIOS(X)                                                    \
	X(accuracy_failed, hits_all, n_failed_flows,                           \
	    "per-flow accuracy over all failed flows, reported by an agent "   \
	    "or not")

/* The lists as tables, in the order of the enums below. */
struct res_metric {
	const char *name, *unit, *doc;
	const char *how; /* definition; of a ratio "numerator / denominator" */
	enum res_range range;
	/* Ratios: RES_ALGO_*, or RES_TRIAL_*; of res_reach_ratios one each. */
	unsigned num, den;
	unsigned set; /* enum res_set; 0: of an algorithm, or a ratio */
	int optional; /* left out where it was nowhere measured */
	int of_flows; /* likewise, where n_probes was measured */
};
extern const struct res_metric res_trial_metrics[], res_algo_metrics[],
    res_ratios[], res_trial_ratios[], res_reach_ratios[];

/* All of these lists. Numerator and denominator of a ratio are of the list's
 * owner, the trial or an algorithm; those of the last list have one each. */
enum res_list {
	RES_LIST_RATIOS,
	RES_LIST_ALGO,
	RES_LIST_TRIAL_RATIOS,
	RES_LIST_TRIAL,
	RES_LIST_REACH,
	RES_N_LISTS
};
struct res_metric_list {
	const char *name; /* of the macro that has its lines */
	const struct res_metric *metric;
	unsigned n;
	uint8_t ratio, of_trial;
};
extern const struct res_metric_list res_metric_lists[RES_N_LISTS];

/* The entry of that name in any of them, or NULL; *LIST, which may be NULL, is
 * whose it is. */
const struct res_metric *res_metric_find(const char *name,
    const struct res_metric_list **list);
/* The metric over which a ratio is, and under which; NULL of what is none. */
const struct res_metric *res_metric_num(const struct res_metric_list *l,
    const struct res_metric *m);
const struct res_metric *res_metric_den(const struct res_metric_list *l,
    const struct res_metric *m);

struct res_trial_metrics {
#define X(name, ...) double name;
	RES_TRIAL_METRICS(X)
#undef X
};

struct res_algo_metrics {
#define X(name, ...) double name;
	RES_ALGO_METRICS(X)
#undef X
};

enum {
#define X(name, ...) RES_TRIAL_##name,
	RES_TRIAL_METRICS(X)
#undef X
	    RES_N_TRIAL_METRICS
};

enum {
#define X(name, ...) RES_ALGO_##name,
	RES_ALGO_METRICS(X)
#undef X
	    RES_N_ALGO_METRICS
};

enum {
#define X(name, ...) RES_RATIO_##name,
	RES_RATIOS(X)
#undef X
	    RES_N_RATIOS
};

enum {
#define X(name, ...) RES_TRIAL_RATIO_##name,
	RES_TRIAL_RATIOS(X)
#undef X
	    RES_N_TRIAL_RATIOS
};

enum {
#define X(name, ...) RES_REACH_RATIO_##name,
	RES_REACH_RATIOS(X)
#undef X
	    RES_N_REACH_RATIOS
};

/* How many names there are, and all of them, list after list. */
enum {
	RES_N_NAMES = RES_N_RATIOS + RES_N_ALGO_METRICS + RES_N_TRIAL_RATIOS +
	    RES_N_TRIAL_METRICS + RES_N_REACH_RATIOS
};
void res_metric_names(const char *name[RES_N_NAMES]);

#endif
