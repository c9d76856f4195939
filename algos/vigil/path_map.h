/* algos/vigil/path_map.h -- what a trace learned, as links to vote on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hop i of a report is the node that link i of the path leads to. An address
 * of a receiving interface names that link; a loopback names the node alone,
 * and then link i is known when node i - 1 (for i = 0, the sender) is known
 * too and one cable joins them.
 *
 * Nobody answers for the last link, from the ToR to the receiver: the receiver
 * swallows a probe that gets there. That link is implied when the trace is
 * *complete*: every link up to the receiver's ToR is known and begins where the
 * one before it ended. When the route changes amid a trace, links need not
 * join. Each is still a link that some probe crossed, but with loopbacks a
 * cable between switches of two routes may be taken for a hop. A partial trace
 * implies nothing: after its last answer a probe may have been dropped, or a
 * switch may have reached its limit of ICMP messages, and nobody can tell
 * which. */
#ifndef ALGOS_VIGIL_PATH_MAP_H
#define ALGOS_VIGIL_PATH_MAP_H

#include "models/agent.h"
#include "topo/topo.h"

/* What of a partial trace counts: all links that are known; those before the
 * first that is not; none. */
enum algo_partial {
	ALGO_PARTIAL_KNOWN,
	ALGO_PARTIAL_PREFIX,
	ALGO_PARTIAL_DROP
};
extern const char *const algo_partials[];

/* The links of a report: out->link[i] is hop i's, or TOPO_NONE. */
struct algo_path {
	unsigned n_hops; /* up to the last that is known */
	uint8_t complete;
	topo_link link[TOPO_MAX_HOPS];
};

/* Addresses that no link or switch of T has are as good as no answer.
 * Cost O(hops), with loopbacks in a mesh times the ports of a switch. */
void algo_path_map(const struct topo *t, const struct agent_report *r,
    enum algo_partial rule, struct algo_path *out);

#endif
