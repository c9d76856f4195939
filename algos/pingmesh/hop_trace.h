/* algos/pingmesh/hop_trace.h -- TCP traceroute of chosen pairs, counted by hop.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When pairs of servers lose and no counter says why, their operators trace
 * them: with TCP packets of many source ports, so that ECMP takes them over
 * many paths, and with so many packets a TTL that a loss of a percent shows.
 *
 *	START --> timer at start --> slot: one probe, of a tuple and a TTL
 *	                              ^  |
 *	                              '--' until all are sent; then wait
 *	                                   --> AGENT_REPORT, once a tuple
 *
 * How many hops a path has is not known beforehand, and a switch that answers
 * rarely must not look like its end. So each TTL up to max_hops is sent
 * n_soundings probes; those up to HOP_TRACE_LOOK_AHEAD beyond the farthest that
 * ever answered are sent n_probes. A path is taken to end only where n_probes
 * at each of the next HOP_TRACE_LOOK_AHEAD TTLs, and all soundings, were met
 * with silence.
 *
 * Switches limit their ICMP messages, each by a bucket for all who ask. What
 * they keep back looks like loss, so probes must be few: a switch is asked at
 * most as often as all hosts together send that trace through it. And they must
 * meet a bucket by chance and not by rhythm, lest one tuple's always find it
 * empty. Hence
 *
 *	- one probe in each slot of 1 / rate seconds, at a random time of it.
 *	  So of any m + 1 probes of a host the last leaves at least
 *	  (m - 1) / rate after the first, also when the host slept;
 *	- in rounds, in each of which every tuple's every TTL has its turn, in
 *	  random order.
 *
 * A probe's IP ID is its number, modulo 2^16. An answer counts if the probe of
 * that number is one of the last HOP_TRACE_FLIGHTS, was of that tuple, left
 * `wait` ago at most and is not yet answered; the rest is counted apart. A TTL
 * that two addresses answer for has had two paths: its answers count, but its
 * address is reported as not known.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 5.2: "TCP traceroute" on the pairs with
 *        1 to 2 % of drops named one spine switch. DEPARTS: rates, counts and
 *        the end of a path are ours; the paper does not give them.
 */
#ifndef ALGOS_PINGMESH_HOP_TRACE_H
#define ALGOS_PINGMESH_HOP_TRACE_H

#include "models/agent.h"

enum {
	HOP_TRACE_TUPLES = 64,   /* of a host */
	HOP_TRACE_FLIGHTS = 256, /* probes that may be under way */
	HOP_TRACE_LOOK_AHEAD = 2,
	HOP_TRACE_STATE = 16384, /* bytes at most */
};

/* N_PORTS five-tuples: from host SRC, source ports FIRST_PORT and on. */
struct algo_hop_trace_target {
	topo_host src;
	uint32_t dst_ip;
	uint16_t first_port, n_ports;
};

struct algo_hop_trace_params {
	uint32_t n_probes, n_soundings; /* a TTL */
	uint32_t max_hops;
	double rate; /* probes a second and host */
	double wait_s, start_s;
	uint32_t dst_port;

	/* Not read from specs: whom to trace, for all hosts alike; borrowed. */
	const struct algo_hop_trace_target *target;
	size_t n_targets;
};
extern const struct sim_field algo_hop_trace_fields[];

/* Its init() fails with SIM_ELIMIT for more than HOP_TRACE_TUPLES tuples of a
 * host, and for more probes under way (rate * wait) than are remembered; with
 * SIM_ERANGE for source ports beyond 65535. */
extern const struct agent_ops algo_hop_trace_agent;

/* n_sent = n_answered + those lost, kept back or late. */
#define ALGO_HOP_TRACE_COUNTERS(X)                                             \
	X(n_sent, "probes")                                                    \
	X(n_answered, "answers that count")                                    \
	X(n_duplicate, "answers to what was answered")                         \
	X(n_late, "answers after the wait")                                    \
	X(n_stray, "answers to no probe that is remembered")                   \
	X(n_moved, "answers that count, of another address than before")

struct algo_hop_trace_counters {
#define X(name, doc) uint64_t name;
	ALGO_HOP_TRACE_COUNTERS(X)
#undef X
};
void algo_hop_trace_count(const void *state,
    struct algo_hop_trace_counters *out);

#endif
