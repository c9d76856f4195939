/* algos/everflow/record.c -- a trace under way: its packet, and slots of copies.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/record.h"

#include "algos/everflow/check.h"

enum { SLOTS = ALGO_RECORD_SLOTS, OUTER_BYTES = 20 };

/* --- begin -----------------------------------------------------------------*/
/* TCP's two numbers, in one. */
static uint64_t record_numbers(const struct algo_record *x)
{
	if (x->state & ALGO_RECORD_SLOT)
		return x->slot[0].numbers;
	return x->state & ALGO_RECORD_TCP ? x->key.digest
	    : x->state & ALGO_RECORD_PSN  ? (x->key.digest & 0xffffff) << 32
					  : 0;
}

static void record_keep(struct algo_record *x, uint64_t numbers)
{
	const unsigned as =
	    numbers == x->key.digest ? ALGO_RECORD_TCP : ALGO_RECORD_PSN;
	if (numbers == 0)
		return;
	x->state = (uint8_t)as;
	if (record_numbers(x) == numbers)
		return;
	x->state = ALGO_RECORD_SLOT;
	x->slot[x->n++].numbers = numbers;
}

unsigned algo_record_n_copies(const struct algo_record *x)
{
	unsigned n = x->n;
	if (x->more)
		n -= (unsigned)__builtin_popcount(x->more);
	if (x->state & ALGO_RECORD_PART)
		return x->slot[0].part.n_before + n - 1;
	return n - (x->state & ALGO_RECORD_SLOT ? 1 : 0);
}

/* Outer headers are not counted, so that it does not matter which copy comes
 * first. */
void algo_record_start(struct algo_record *x, const struct obs_mirror *c,
    size_t i, const struct algo_record_key *key, sim_ns now, uint32_t number,
    struct algo_record *old)
{
	const uint32_t outer = (uint32_t)OUTER_BYTES * c->layer[i];
	x->key = *key;
	x->first_ns = now;
	x->n_bytes = c->n_bytes[i] > outer ? c->n_bytes[i] - outer : 0;
	x->next = number;
	x->flags = c->flags[i];
	x->kind = c->kind[i];
	x->bth_opcode = c->bth_opcode[i];
	x->aeth = c->aeth[i];
	x->n = 0;
	x->more = 0;
	x->state = 0;
	if (old) {
		x->state = ALGO_RECORD_PART;
		x->slot[x->n++].part =
		    (struct algo_record_part){algo_record_begin(old),
			algo_record_n_copies(old)};
		old->next = number;
	} else {
		record_keep(x, (uint64_t)c->seq[i] << 32 | c->ack[i]);
	}
	algo_record_add(x, c, i, algo_record_needs(c, i), now);
}

/* --- end -------------------------------------------------------------------*/
void algo_record_packet(const struct algo_record *x, struct algo_trace *t)
{
	const uint64_t numbers = record_numbers(x);
	*t = (struct algo_trace){
	    .t_ns = x->first_ns,
	    .digest = x->key.digest,
	    .src_ip = (uint32_t)(x->key.ips >> 32),
	    .dst_ip = (uint32_t)x->key.ips,
	    .seq = (uint32_t)(numbers >> 32),
	    .ack = (uint32_t)numbers,
	    .n_bytes = x->n_bytes,
	    .lost_link = TOPO_NONE,
	    .src_port = (uint16_t)(x->key.ports >> 48),
	    .dst_port = (uint16_t)(x->key.ports >> 32),
	    .ip_id = (uint16_t)(x->key.ports >> 16),
	    .proto = algo_record_proto(&x->key),
	    .flags = x->flags,
	    .kind = x->kind,
	    .bth_opcode = x->bth_opcode,
	    .aeth = x->aeth,
	};
}

/* The slot of the first copy. */
static unsigned record_from(const struct algo_record *x)
{
	return (x->state & (ALGO_RECORD_PART | ALGO_RECORD_SLOT)) != 0;
}

static inline struct algo_hop record_hop(const struct algo_record *x,
    const struct algo_record_copy *c, const struct algo_record_more *more)
{
	return (struct algo_hop){
	    .t_ns = x->first_ns + c->dt_ns,
	    .switch_ns = more->switch_ns,
	    .node = c->node,
	    .in_link = c->in_link,
	    .outer_src = more->outer_src,
	    .outer_dst = more->outer_dst,
	    .layer = c->layer,
	    .ttl = c->ttl,
	    .ttl_in = c->ttl_in,
	    .tos = c->tos,
	};
}

/* Of equal ranks the first that came is first. */
static void record_sort(uint32_t order[], unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		const uint32_t x = order[i];
		unsigned k = i;
		for (; k > 0 && x < order[k - 1]; k--)
			order[k] = order[k - 1];
		order[k] = x;
	}
}

unsigned algo_record_hops(const struct algo_record *x, struct algo_hop hop[])
{
	static const struct algo_record_more none = {0};
	uint32_t order[SLOTS]; /* rank, and below that the slot */
	unsigned n = 0;
	for (unsigned i = record_from(x); i < x->n; i++) {
		const struct algo_record_copy *c = &x->slot[i].copy;
		if (!(x->more >> i & 1))
			order[n++] =
			    algo_hop_rank(c->layer, c->ttl, c->ttl_in) << 3 | i;
	}
	record_sort(order, n);
	for (unsigned i = 0; i < n; i++) {
		const unsigned at = order[i] & 7;
		hop[i] = record_hop(x, &x->slot[at].copy,
		    x->more << 1 >> at & 1 ? &x->slot[at - 1].more : &none);
	}
	return n;
}

/* --- bare ------------------------------------------------------------------*/
/* Exactly, as two switches may share a bit. */
static int record_node_twice(const struct algo_record *x)
{
	for (unsigned i = record_from(x); i < x->n; i++)
		for (unsigned k = i + 1; k < x->n; k++)
			if (x->slot[i].copy.node == x->slot[k].copy.node)
				return 1;
	return 0;
}

int algo_record_bare(const struct algo_record *x, struct algo_record_bare *b)
{
	static const struct algo_record_more none = {0};
	const unsigned from = record_from(x);
	const struct algo_record_copy *first = &x->slot[from].copy,
				      *last = first;
	uint64_t ttls = 0, nodes = 0, ttl_twice = 0, node_twice = 0;
	unsigned layers = x->more | (x->state & ALGO_RECORD_PART);
	for (unsigned i = from; i < x->n; i++) {
		const struct algo_record_copy *c = &x->slot[i].copy;
		const uint64_t ttl = UINT64_C(1) << (c->ttl & 63),
			       node = UINT64_C(1) << (c->node & 63);
		ttl_twice |= ttls & ttl;
		node_twice |= nodes & node;
		ttls |= ttl;
		nodes |= node;
		layers |= c->layer;
		first = c->ttl > first->ttl ? c : first;
		last = c->ttl < last->ttl ? c : last;
		b->in_link[i - from] = c->in_link;
	}
	if (layers || ttl_twice || (node_twice && record_node_twice(x)))
		return 0;
	b->first = record_hop(x, first, &none);
	b->last = record_hop(x, last, &none);
	return 1;
}
