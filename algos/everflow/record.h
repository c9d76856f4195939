/* algos/everflow/record.h -- a trace under way: its packet, and slots of copies.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	+------------------- 48 bytes ------------------+-- 16 --+    +-- 16 --+
 *	| key | first ns | size, next | flags, kind ... | slot 0 |... | slot 4 |
 *	+-----------------------------------------------+--------+    +--------+
 *
 * Two lines of the cache. A copy takes a slot, and one before it if it has outer
 * addresses or a time of the switch. TCP's two numbers take none if the digest
 * tells them, as it does unless the packet was made by hand. More copies go to
 * further records, parts of a chain, whose first slot tells what was before. What
 * is kept where, only record.c and the inlines here know.
 */
#ifndef ALGOS_EVERFLOW_RECORD_H
#define ALGOS_EVERFLOW_RECORD_H

#include <assert.h>

#include "algos/everflow/trace.h"
#include "sim/time.h"

enum { ALGO_RECORD_SLOTS = 5 };

/* What the copies of a packet share: addresses; ports, IP ID, protocol, and in
 * the lowest bit the mark of what is sent again, if it counts; the digest. */
struct algo_record_key {
	uint64_t ips, ports, digest;
};

struct algo_record_copy {
	uint32_t dt_ns; /* since the record's first */
	uint32_t node, in_link;
	uint8_t layer, ttl, ttl_in, tos;
};

/* What few copies have. */
struct algo_record_more {
	uint64_t switch_ns;
	uint32_t outer_src, outer_dst;
};

/* Of a part: its chain's first copy, and copies before. */
struct algo_record_part {
	uint64_t begin_ns;
	uint32_t n_before;
};

union algo_record_slot {
	struct algo_record_copy copy;
	struct algo_record_more more;
	struct algo_record_part part;
	uint64_t numbers;
};
static_assert(sizeof(union algo_record_slot) == 16, "a quarter of a line");

/* Bits of a record's state. PART: its first slot tells of its chain. SLOT, TCP,
 * PSN: that, the digest or its last 24 bits tell TCP's numbers; none of these:
 * both are 0. */
enum {
	ALGO_RECORD_DEBUG = 1,
	ALGO_RECORD_RETX = 2,
	ALGO_RECORD_PART = 4,
	ALGO_RECORD_TCP = 8,
	ALGO_RECORD_PSN = 16,
	ALGO_RECORD_SLOT = 32,
};

/* The last slot in use is a copy. */
struct algo_record {
	struct algo_record_key key;
	uint64_t first_ns;
	uint32_t n_bytes; /* without outer headers */
	uint32_t next;    /* number of the chain's next record, or own */
	uint8_t flags, kind, bth_opcode, aeth;
	uint8_t n;    /* slots in use */
	uint8_t more; /* bit i: slot i belongs to the copy behind it */
	uint8_t state;
	union algo_record_slot slot[ALGO_RECORD_SLOTS];
};
static_assert(sizeof(struct algo_record) == 128, "two lines");

/* The mark of what is sent again tells packets apart where IP IDs do not. */
static inline struct algo_record_key
algo_record_key_of(const struct obs_mirror *c, size_t i)
{
	const int resent = c->ip_id[i] == 0 && c->ttl_in[i] & OBS_TTL_RETX;
	return (struct algo_record_key){
	    .ips = (uint64_t)c->src_ip[i] << 32 | c->dst_ip[i],
	    .ports = (uint64_t)c->src_port[i] << 48 |
		(uint64_t)c->dst_port[i] << 32 | (uint32_t)c->ip_id[i] << 16 |
		(uint32_t)c->proto[i] << 8 | resent,
	    .digest = c->digest[i],
	};
}

static inline uint8_t algo_record_proto(const struct algo_record_key *k)
{
	return (uint8_t)(k->ports >> 8);
}

/* When the last copy came, and the first of the whole chain. */
static inline sim_ns algo_record_last(const struct algo_record *x)
{
	return x->first_ns + x->slot[x->n - 1].copy.dt_ns;
}

static inline sim_ns algo_record_begin(const struct algo_record *x)
{
	return x->state & ALGO_RECORD_PART ? x->slot[0].part.begin_ns
					   : x->first_ns;
}

/* How many slots row I takes. */
static inline unsigned algo_record_needs(const struct obs_mirror *c, size_t i)
{
	return 1 + ((c->switch_ns[i] | c->outer_src[i] | c->outer_dst[i]) != 0);
}

static inline int algo_record_has_room(const struct algo_record *x,
    unsigned needs, sim_ns now)
{
	return x->n + needs <= ALGO_RECORD_SLOTS &&
	    now - x->first_ns <= UINT32_MAX;
}

/* Add row I, which NEEDS as many slots and came at NOW. Domain: there is room. */
static inline void algo_record_add(struct algo_record *x,
    const struct obs_mirror *c, size_t i, unsigned needs, sim_ns now)
{
	union algo_record_slot *s = &x->slot[x->n];
	if (needs > 1) {
		x->more |= (uint8_t)(1 << x->n);
		s++->more = (struct algo_record_more){c->switch_ns[i],
		    c->outer_src[i], c->outer_dst[i]};
	}
	s->copy = (struct algo_record_copy){
	    .dt_ns = (uint32_t)(now - x->first_ns),
	    .node = c->node[i],
	    .in_link = c->in_link[i],
	    .layer = c->layer[i],
	    .ttl = c->ttl[i],
	    .ttl_in = c->ttl_in[i],
	    .tos = c->tos[i],
	};
	x->n = (uint8_t)(x->n + needs);
	if ((c->tos[i] | c->tos_in[i]) & OBS_TOS_DEBUG ||
	    c->kind[i] == OBS_COPY_DEBUG)
		x->state |= ALGO_RECORD_DEBUG;
	if (c->kind[i] == OBS_COPY_RETX)
		x->state |= ALGO_RECORD_RETX;
}

/* Begin record NUMBER with row I, whose key is KEY; OLD is what it goes on with,
 * or NULL. */
void algo_record_start(struct algo_record *x, const struct obs_mirror *c,
    size_t i, const struct algo_record_key *key, sim_ns now, uint32_t number,
    struct algo_record *old);

/* Copies of a chain up to this record. */
unsigned algo_record_n_copies(const struct algo_record *x);

/* The packet: what of T does not depend on other copies than the first. */
void algo_record_packet(const struct algo_record *x, struct algo_trace *t);

/* The record's copies in the order of the way. Returns how many.
 * Shape  hop[ALGO_RECORD_SLOTS]. */
unsigned algo_record_hops(const struct algo_record *x, struct algo_hop hop[]);

/* What most are: no copy has an outer header or a time of the switch, all have
 * another TTL and another switch. */
struct algo_record_bare {
	struct algo_hop first, last;         /* on the way */
	uint32_t in_link[ALGO_RECORD_SLOTS]; /* of all, as they came */
};

/* Is X such a one, and no part of a chain? A false no is seldom, and costs time
 * only. */
int algo_record_bare(const struct algo_record *x, struct algo_record_bare *b);

#endif
