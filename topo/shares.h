/* topo/shares.h -- every link that a flow may cross, with its probability.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two hosts are joined by a graph of equally long paths. When every switch
 * spreads alike over its next hops, a flow crosses each link of that graph with
 * some probability; over all links these add up to the length of a path.
 */
#ifndef TOPO_SHARES_H
#define TOPO_SHARES_H

#include "topo/topo.h"

/* Zeroed is empty. */
struct topo_shares {
	size_t n, cap;
	topo_link *link; /* [n], each link once */
	double *share;   /* [n], above 0; topo_path_share() of the link */
	unsigned n_hops; /* of every path; 0 when source and destination are
			    one host */
};
void topo_shares_free(struct topo_shares *s);
int topo_shares_add(struct topo_shares *s, topo_link link, double share,
    struct sim_err *e);

/* Make S the links between two hosts, from the first hop on.
 * Errors SIM_ENOMEM. Cost O(links of the graph), and O(switches) in a mesh. */
int topo_shares_between(struct topo_shares *s, const struct topo *t,
    topo_host src, topo_host dst, struct sim_err *e);

#endif
