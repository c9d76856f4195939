/* algos/vigil/tally.h -- votes of failed flows on the links of their paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow that retransmitted is a *voter*: it gives 1/h of a vote to each of
 * the h known hops of its path. Votes are counted in units of 1/720720, the
 * least common multiple of 1 to 16, so every share is a whole number: sums are
 * exact and do not depend on the order of the flows.
 *
 *	link[n_links]   votes n_flows begin --.   dense; zero unless touched
 *	touched[]       the links with votes  |
 *	by_link[]       voters <--------------'   of each link, in one run
 *	voter[]         at n_hops n_known gone    flows with n_retx > 0 and a
 *	                                          known hop, as in the window
 *
 * All cost follows the hops of failed flows; the number of links counts only
 * when the tally is opened.
 *
 * Paper: 007 (NSDI'18), section 5.1. DEPARTS: there paths are known; here a
 * path known in part votes on the part that is known.
 */
#ifndef ALGOS_VIGIL_TALLY_H
#define ALGOS_VIGIL_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "algos/verdict.h"
#include "models/obs.h"
#include "sim/err.h"
#include "topo/ids.h"

#define ALGO_TALLY_VOTE 720720u /* units of one vote */

struct algo_tally_link {
	uint64_t votes;   /* units */
	uint32_t n_flows; /* voters; algo_tally_index() */
	uint32_t begin;   /* of its run in by_link[]; algo_tally_index() */
};

struct algo_voter {
	uint64_t at;   /* its path is hops.link[at .. at + n_hops - 1] */
	uint32_t flow; /* its row in the window */
	uint8_t n_hops, n_known;
	uint8_t gone;  /* explained or set aside: votes no more */
	uint8_t aside; /* algo_blame_set_aside(): blamed on no link */
};

/* Zeroed is a valid closed tally. */
struct algo_tally {
	uint32_t n_links;
	uint32_t n_touched;
	struct algo_tally_link *link; /* [n_links] */
	uint8_t *flagged;             /* [n_links], 0; for the algorithms */
	topo_link *touched;           /* [n_links + 1], by first vote */
	const topo_link *hop;         /* the window's; borrowed */
	/* Kept by algo_blame_tally(): the Clos, or NULL, and how many links are
	 * of hosts, which come first, or 0. */
	const struct topo_clos *clos;
	topo_link n_host_links;
	struct algo_voter *voter;
	size_t n_voters, cap_voters;
	uint32_t *by_link; /* index into voter[] */
	size_t cap_by_link;
};

/* Errors SIM_ENOMEM. Cost O(n_links). */
int algo_tally_open(struct algo_tally *t, uint32_t n_links, struct sim_err *e);
void algo_tally_close(struct algo_tally *t);

/* Forget the window before and count the votes of W, which is borrowed until
 * the next count. A link that a path names twice is voted on twice.
 * Errors SIM_EINVAL (a link that does not exist, a path that is too long or
 * not within the table), SIM_ELIMIT (2^32 - 1 flows or known hops), SIM_ENOMEM.
 * Cost O(flows + hops of failed flows). */
int algo_tally_count(struct algo_tally *t, const struct obs *w,
    struct sim_err *e);

/* T becomes what another tally of as many links is, both of which have not been
 * indexed; its flows stay borrowed. Errors SIM_ENOMEM.
 * Cost O(links with votes, before and now). */
int algo_tally_copy(struct algo_tally *t, const struct algo_tally *from,
    struct sim_err *e);

/* The same as counting, and list the voters of each link, in the order of the window:
 * by_link[begin] .. by_link[begin + n_flows - 1]. */
int algo_tally_index(struct algo_tally *t, const struct obs *w,
    struct sim_err *e);

/* What voter V gives to each of its known hops, in units. */
extern const uint32_t algo_tally_shares[TOPO_MAX_HOPS + 1];
static inline uint32_t algo_tally_share(const struct algo_voter *v)
{
	return algo_tally_shares[v->n_known];
}

/* The path of V in its window. */
static inline const topo_link *algo_tally_path(const struct algo_tally *t,
    const struct algo_voter *v)
{
	return t->hop + v->at;
}

/* The greatest votes of a link on V's path, in units. */
uint64_t algo_tally_best(const struct algo_tally *t,
    const struct algo_voter *v);

/* Take V's votes back from its links and mark it gone. */
void algo_tally_drop(struct algo_tally *t, struct algo_voter *v);

static inline double algo_tally_votes(uint64_t units)
{
	return (double)units / ALGO_TALLY_VOTE;
}

/* The units nearest to a number of votes that a user wrote, so that 0.6 is
 * three shares of 1/5. Domain 0 <= votes <= ALGO_TALLY_MAX_VOTES. */
#define ALGO_TALLY_MAX_VOTES 4294967295.0
static inline uint64_t algo_tally_units(double votes)
{
	return (uint64_t)(votes * ALGO_TALLY_VOTE + 0.5);
}

/* Add to OUT the links that have votes and are not flagged, with their votes.
 * Errors SIM_ENOMEM. */
int algo_tally_list(const struct algo_tally *t, struct algo_verdicts *out,
    struct sim_err *e);

#endif
