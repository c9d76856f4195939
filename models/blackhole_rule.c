/* models/blackhole_rule.c -- switches that always drop certain packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/blackhole_rule.h"

/* The finaliser of splitmix64: a bijection in which each input bit flips each
 * output bit with probability near 1/2. */
static uint64_t blackhole_rule_mix64(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

int blackhole_rule_init(struct blackhole_rule *rule,
    enum blackhole_rule_type type, double share, uint64_t salt,
    struct sim_err *e)
{
	if (type != BLACKHOLE_RULE_PAIR && type != BLACKHOLE_RULE_TUPLE)
		return sim_fail(e, SIM_EINVAL,
		    "black hole type %d is neither 1 (address pairs) nor 2 "
		    "(five-tuples).",
		    (int)type);
	if (!(share >= 0 && share <= 1))
		return sim_fail(e, SIM_ERANGE,
		    "share %g of a black hole's entries is not in [0, 1].",
		    share);
	*rule = (struct blackhole_rule){
	    .type = type,
	    .below = (uint64_t)(share * 0x1p32 + 0.5),
	    .salt = blackhole_rule_mix64(salt),
	};
	return 0;
}

/* The salt goes in before the first mix and again after it. By the first alone
 * it would only rename keys: what one rule drops would be what another drops,
 * with all keys xored by a constant.
 *
 * The hash is cut to its upper 32 bits, and `below` may be 2^32, which no hash
 * of 32 bits reaches: so a share of 1 drops everything. */
int blackhole_rule_drops(const struct blackhole_rule *rule,
    const struct topo_tuple *t)
{
	uint64_t x = (uint64_t)t->src_ip << 32 | t->dst_ip;
	x = blackhole_rule_mix64(
	    blackhole_rule_mix64(x ^ rule->salt) + rule->salt);
	if (rule->type == BLACKHOLE_RULE_TUPLE)
		x = blackhole_rule_mix64(x ^
		    ((uint64_t)t->proto << 32 | (uint64_t)t->src_port << 16 |
			t->dst_port));
	return x >> 32 < rule->below;
}
