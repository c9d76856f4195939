/* models/blackhole_rule.h -- switches that always drop certain packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A switch with corrupt table entries drops every packet that meets one of
 * them, and no other. Which keys meet one is a salted hash of the key against
 * the share of corrupt entries: the same packet has the same fate each time,
 * and nothing is stored.
 *
 * Type 1 looks at the addresses alone, so no choice of ports helps a pair; type
 * 2 at the whole five-tuple, so that a probe from another port may pass. Both
 * are about one direction: the way back is another key.
 *
 * The hash has nothing in common with that of topo/route.h: which path a packet
 * takes says nothing about which entry it meets. Two rules of different salts
 * are independent; one salt at two types too.
 *
 * Paper Pingmesh (SIGCOMM'15) section 5.1.
 * DEPARTS: the paper has entries of a TCAM, which may match by prefix and then
 * take neighbours together; here each key has a fate of its own.
 */
#ifndef MODELS_BLACKHOLE_RULE_H
#define MODELS_BLACKHOLE_RULE_H

#include <stdint.h>

#include "sim/err.h"
#include "topo/route.h"

enum blackhole_rule_type {
	BLACKHOLE_RULE_PAIR = 1,  /* type 1: source and destination address */
	BLACKHOLE_RULE_TUPLE = 2, /* type 2: ports and protocol as well */
};

struct blackhole_rule {
	enum blackhole_rule_type type;
	uint64_t below; /* hashes of 32 bits below this are dropped */
	uint64_t salt;
};

/* A rule that drops SHARE of all keys, to the nearest 2^-32; 0 drops none and
 * 1 all.
 * Errors SIM_ERANGE for a share outside [0, 1], SIM_EINVAL for another type;
 * RULE then keeps its value. */
int blackhole_rule_init(struct blackhole_rule *rule,
    enum blackhole_rule_type type, double share, uint64_t salt,
    struct sim_err *e);

/* 1 if RULE drops packets of TUPLE. Cost O(1), by computation. */
int blackhole_rule_drops(const struct blackhole_rule *rule,
    const struct topo_tuple *tuple);

#endif
