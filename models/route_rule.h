/* models/route_rule.h -- switches that choose next hops badly.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A healthy switch chooses among n equal next hops by a hash of its own
 * (topo/route.h). A rule changes that for some packets:
 *
 *	LINK     all go by one link, right or wrong: a route that was forgotten
 *	NARROW   only n_left of the n are used; which ones, the salt says
 *	WEIGHTS  one of the n, by the salt, gets `weight` times what each other
 *	         one gets
 *	SEED     the switch hashes with the rule's seed. Of switches that have
 *	         one seed the later ones choose as the earlier ones did, among
 *	         fewer next hops than they have (polarisation)
 *	BITS     the switch looks at `bits` bits of the five-tuple's digest, so
 *	         that there are only 2^bits sorts of flows
 *
 * Packets are those to destinations from first_ip to last_ip, and of those a
 * share of all five-tuples. Addresses and five-tuples are those that the network
 * routes by, so the outermost ones.
 */
#ifndef MODELS_ROUTE_RULE_H
#define MODELS_ROUTE_RULE_H

#include "models/blackhole_rule.h"
#include "topo/ids.h"

enum route_rule_kind {
	ROUTE_RULE_LINK,
	ROUTE_RULE_NARROW,
	ROUTE_RULE_WEIGHTS,
	ROUTE_RULE_SEED,
	ROUTE_RULE_BITS,
	ROUTE_RULE_N_KINDS
};

struct route_rule {
	enum route_rule_kind kind;
	uint32_t first_ip, last_ip;
	struct blackhole_rule flows; /* of type TUPLE: the share that it takes;
					nothing is dropped */
	uint32_t salt;               /* SEED: the seed */
	topo_link link;              /* LINK: out of the switch */
	uint32_t n_left;             /* NARROW: at least 1 */
	double weight;               /* WEIGHTS: above 0 */
	uint32_t bits;               /* BITS: up to 31 */
};

/* How a switch chooses: what rules change, in any order. */
struct route_choice {
	topo_link link; /* TOPO_NONE: by hash */
	uint32_t seed, digest;
	uint32_t n, first, of; /* the N next hops from FIRST on, OF `of` */
	uint32_t favourite;    /* among these, that gets WEIGHT */
	double weight;
};

/* Of a switch with SEED, for packets with DIGEST, among N next hops. */
static inline struct route_choice route_choice(uint32_t seed, uint32_t digest,
    uint32_t n)
{
	return (struct route_choice){TOPO_NONE, seed, digest, n, 0, n, 0, 1};
}

/* Whether the rule is about packets of TUPLE. */
int route_rule_takes(const struct route_rule *r,
    const struct topo_tuple *tuple);

/* Change C by a rule that takes the packet. */
void route_rule_apply(const struct route_rule *r, struct route_choice *c);

/* Which of the `of` next hops C comes to. Domain c->n > 0, and c->link is
 * TOPO_NONE. Bias below n / 2^32. */
uint32_t route_choice_pick(const struct route_choice *c);

#endif
