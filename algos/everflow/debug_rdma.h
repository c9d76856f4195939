/* algos/everflow/debug_rdma.h -- what debuggers of RDMA, PFC and BGP look at.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	NAKs    queue_pairs.c   loss on the lossless class, by how far PSNs
 *	                        are apart; NICs that go back to 0, by PSNs
 *	                        that go back
 *	pauses  pause_ports.c   ports that are paused without end, if the root
 *	                        of their tree is a host
 *	BGP     bgp_sessions.c  sessions that go down and are opened again
 *
 * All three see traces that analyzers keep anyway, and order no probes. A
 * network that is merely congested has pauses, which end, and no NAKs; a
 * network that loses a packet now and then has NAKs that are far apart.
 *
 * Paper  Everflow (SIGCOMM'15) (RDMA debugger). Its rules are not at
 *        hand: these are ours.
 */
#ifndef ALGOS_EVERFLOW_DEBUG_RDMA_H
#define ALGOS_EVERFLOW_DEBUG_RDMA_H

#include "algos/everflow/debug.h"
#include "sim/field.h"

/* As in a spec. */
struct algo_debug_rdma_params {
	uint32_t min_naks;     /* of a queue pair, before it is judged */
	double min_rate;       /* loss below this is left alone */
	uint32_t min_restarts; /* before a NIC is said to go back to 0 */
	double skew_us;        /* copies may be out of order by this */
	uint32_t max_message;  /* packets: who goes back further is another */
	double gbps;           /* of links: what pause frames' quanta mean */
	double storm_ms;       /* shorter pauses are left alone */
	double held;           /* share of a storm that is paused */
	uint32_t min_flaps;    /* of a BGP session */
};
extern const struct sim_field algo_debug_rdma_fields[];
extern const struct algo_debugger algo_debug_rdma;

/* Queue pairs of which enough NAKs were seen, and which lose more than min_rate
 * for certain:
 *
 *	NIC_RESTART  PSNs of NAKs go back, or the first packet of a message is
 *	             sent again though none asked for it. Node: the host that
 *	             sends again; all its queue pairs are one finding
 *	RDMA_LOSS    PSNs only go on. Link: where most of its data were lost
 *	             that were seen on their way and missed by a NAK; all
 *	             queue pairs of such a link are one finding, all without
 *	             any another. Node: the sender, if there is one only
 *
 * Rate: of loss. If packets are lost independently, the numbers of packets
 * between NAKs are geometric, so the interval is Clopper's and Pearson's.
 * Where a message began is not known; with NIC_RESTART, the interval has both,
 * that it began at the least PSN that still comes, and a longest message
 * before. Queue pairs are known by addresses and source port, the same both
 * ways. NAKs within skew_us are put in order by the IP IDs of their NIC, which
 * counts. Errors SIM_ENOMEM. Cost O(n log n). */
int algo_debug_queue_pairs(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e);

/* PAUSE_STORM of each host that pauses its ToR for storm_ms or more, hardly
 * with a gap and without ever saying go on. Link: host to ToR. Rate: share of
 * the time from its first pause to its last that it paused; measured, so that
 * lo and hi are the same. Score: how many ports it is the root of, its own
 * among them: those that are as long and as full, of nodes that are paused by
 * it or by one of those, each after the other. A tree whose root is a switch,
 * as that of much traffic to one port, is no finding.
 * Errors SIM_ENOMEM. Cost O(n log n + storms^2). */
int algo_debug_pause_ports(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e);

/* BGP_FLAP of each session that was up, was closed (RST, FIN or NOTIFICATION)
 * and opened again (SYN), min_flaps times. Link: from the switch of the lower
 * id to its neighbour, or TOPO_NONE if there is none; node: the former. Rate:
 * share of time from the first to the last of these that it was closed.
 * Errors SIM_ENOMEM. Cost O(n log n). */
int algo_debug_bgp_sessions(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e);

#endif
