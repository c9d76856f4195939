/* algos/pingmesh/hop_trace_rank.h -- which switch do the traced paths lose at?
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A probe of TTL k that is not answered was lost on one of its first k links,
 * or its answer on their reverse, or the k-th switch kept silent, its ICMP
 * limit being reached. So a switch that drops lowers the answered share of all
 * TTLs beyond it, and one that is short of ICMP messages that of one TTL; yet
 * when all switches are, the two look alike in any one trace. Across traces
 * they do not: a bucket does not ask which way a probe came, a drop does.
 *
 * algo_hop_trace_rank() therefore compares like with like. A stratum is all
 * probes that were to be answered by one switch at one TTL. In each,
 *
 *	of n probes,  n1 came through X and  u1 of these were not answered,
 *	of u not answered in all
 *
 * If X loses no more than others, u1 is u * n1 / n but for chance. Over all
 * strata let U = sum u, U1 = sum u1, N1 = sum n1, theta = sum (u * n1 / n) / U:
 * then, probes faring independently, U1 has an upper tail below that of
 * Binomial(U, theta) from 1 above its mean on (Hoeffding 1956, on sums of
 * unlike trials), so
 *
 *	lo = lower limit of U1 in U             (Clopper-Pearson, at conf)
 *	r  = lo / (1 - lo) * (1 - theta) / theta
 *
 * is a conservative test of r <= 1, and r the ratio in which probes
 * through X go unanswered more often than others do. With l the lower limit of
 * U1 in N1, the excess share of X is l * (1 - 1 / r): its score. A stratum that
 * is reached through X alone tells nothing of X and is left out.
 *
 * The best score above normal_rate is accused, all traces through it are set
 * aside, and the rest is judged anew; so the neighbours of a bad switch, which
 * its losses make look bad, are not accused for them. The sender is judged like
 * a switch: a bad cable of a host is not taken for its ToR as long as other
 * hosts under it are traced. It is set aside but never listed.
 *
 * What this cannot see: a switch is judged by the TTLs beyond it, so a ToR by
 * the traces that begin under it and not by those that end there; and where all
 * traces through one switch also cross another, nothing tells the two apart
 * (equal scores: the lower id). Hence targets both ways, of many ports
 * (algo_silent_drop_targets()). A bad cable between two switches is told as one
 * of its ends. And a drop drowns in what switches keep back: where that is a
 * third of the probes, 2 % on the links of a spine show half of the time with
 * 100 probes a TTL. With no switch at fault, each is accused with probability
 * (1 - conf) / 2 at most.
 *
 * algo_hop_trace_flows() is the paper's way, as a window for votes (007's:
 * algos/vigil/vote.h, `on: switch`): each trace is a flow with its hops, its
 * packets being the probes of the farthest TTL, which alone crossed all of
 * them. Its losses are those beyond the share that the same switch leaves
 * unanswered at that TTL of all other traces, if at confidence conf there are
 * any: so one flow in 2 / (1 - conf) votes for nothing. A vote does not weigh
 * losses and sees but one TTL. The experiments rank; votes are for comparison.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 5.2. DEPARTS: the paper says that
 *        traceroute "pinned" the switch; both rules are ours.
 */
#ifndef ALGOS_PINGMESH_HOP_TRACE_RANK_H
#define ALGOS_PINGMESH_HOP_TRACE_RANK_H

#include "algos/verdict.h"
#include "models/agent.h"
#include "models/obs.h"
#include "sim/field.h"
#include "topo/topo.h"

struct algo_hop_trace_rank_params {
	double normal_rate, conf;
};
extern const struct sim_field algo_hop_trace_rank_fields[];

/* Memory of both, reused. Zeroed is empty. */
struct algo_hop_trace_cell {
	uint64_t n, n_silent; /* probes; those not answered */
};
struct algo_hop_trace_path {
	unsigned n_hops;
	uint8_t aside;
	uint32_t node[TOPO_MAX_HOPS + 1]; /* places in node[], sender first */
};
struct algo_hop_trace_work {
	size_t n_nodes, cap_nodes, n_paths, cap_paths;
	size_t cap_all, cap_via, cap_score;
	topo_node *node; /* [n_nodes] ascending */
	double *score;   /* [n_nodes] */
	struct algo_hop_trace_path *path;
	struct algo_hop_trace_cell *all, *via; /* [n_nodes * TOPO_MAX_HOPS] */
};
void algo_hop_trace_work_free(struct algo_hop_trace_work *k);

/* Rank the switches by the N reports of algo_hop_trace_agent. Addresses that
 * nobody has are hops that are not known.
 * Errors SIM_EINVAL (a report whose ends are no hosts, with more answers than
 *        probes or too many hops), SIM_ENOMEM; OUT is then not to be read.
 * Cost   O((accused + 1) * nodes * (nodes + hops of reports)). */
int algo_hop_trace_rank(struct algo_hop_trace_work *k, const struct topo *t,
    const struct agent_report report[], size_t n,
    const struct algo_hop_trace_rank_params *p, struct algo_verdicts *out,
    struct sim_err *e);

/* Fill the window OUT, cleared first: flow i is report i. Errors as above.
 * Cost O(hops of reports * log nodes). */
int algo_hop_trace_flows(struct algo_hop_trace_work *k, const struct topo *t,
    const struct agent_report report[], size_t n,
    const struct algo_hop_trace_rank_params *p, struct obs *out,
    struct sim_err *e);

#endif
