/* models/route_rule.c -- switches that choose next hops badly.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/route_rule.h"

int route_rule_takes(const struct route_rule *r, const struct topo_tuple *tuple)
{
	return tuple->dst_ip - r->first_ip <= r->last_ip - r->first_ip &&
	    blackhole_rule_drops(&r->flows, tuple);
}

void route_rule_apply(const struct route_rule *r, struct route_choice *c)
{
	switch (r->kind) {
	case ROUTE_RULE_LINK:
		/* Of two such routes the first counts, as in a table. */
		if (c->link == TOPO_NONE)
			c->link = r->link;
		break;
	case ROUTE_RULE_NARROW:
		if (r->n_left >= c->n)
			break;
		c->n = r->n_left;
		c->first = r->salt % c->of;
		break;
	case ROUTE_RULE_WEIGHTS:
		c->weight = r->weight;
		c->favourite = r->salt;
		break;
	case ROUTE_RULE_SEED:
		c->seed = r->salt;
		break;
	case ROUTE_RULE_BITS:
		/* Mixed before it is cut, with a salt that the choice after it
		 * does not know, so that all bits of the digest count. */
		c->digest = topo_mix32(c->digest ^ r->salt) &
		    ((UINT32_C(1) << r->bits) - 1);
		break;
	default:
		break;
	}
}

/* With weights the unit interval is cut into the favourite's part, first, and
 * equal parts of the others; rounding may come out beyond the last of these. */
static uint32_t pick_weighted(const struct route_choice *c)
{
	const uint32_t like = c->favourite % c->n;
	const double u = topo_mix32(c->digest ^ c->seed) * 0x1p-32;
	const double at = u * (c->n - 1 + c->weight) - c->weight;
	if (at < 0)
		return like;
	const uint32_t other = at < c->n - 1 ? (uint32_t)at : c->n - 2;
	return other < like ? other : other + 1;
}

uint32_t route_choice_pick(const struct route_choice *c)
{
	const uint32_t i = c->weight == 1 || c->n == 1
	    ? topo_ecmp_pick(c->seed, c->digest, c->n)
	    : pick_weighted(c);
	return (c->first + i) % c->of;
}
