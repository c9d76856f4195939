/* algos/everflow/check.c -- what the copies of one packet say of its way.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/check.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/addr.h"

int algo_check_open(struct algo_check *c, const struct algo_routing *r,
    struct sim_err *e)
{
	*c = (struct algo_check){.routing = *r};
	if (!r->topo)
		return sim_fail(e, SIM_EINVAL, "There is no topology.");
	const int rc = SIM_ZALLOC(&c->from, r->topo->n_links, e);
	for (topo_link l = 0; rc == 0 && l < r->topo->n_links; l++) {
		topo_node to;
		topo_link_ends(r->topo, l, &c->from[l], &to);
	}
	return rc;
}

void algo_check_close(struct algo_check *c)
{
	free(c->from);
	*c = (struct algo_check){0};
}

/* --- order and duplicates --------------------------------------------------*/
static inline uint32_t hop_rank(const struct algo_hop *h)
{
	return algo_hop_rank(h->layer, h->ttl, h->ttl_in);
}

/* Equal ranks are brought together by switch, and the earliest copy first. */
static int hop_before(const struct algo_hop *a, const struct algo_hop *b)
{
	const uint32_t x = hop_rank(a), y = hop_rank(b);
	if (x != y)
		return x < y;
	if (a->node != b->node)
		return a->node < b->node;
	if (a->outer_dst != b->outer_dst)
		return a->outer_dst < b->outer_dst;
	return a->t_ns < b->t_ns;
}

/* Most come in order, so insertion moves little. */
static void hops_sort(struct algo_hop hop[], unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		if (!hop_before(&hop[i], &hop[i - 1]))
			continue;
		const struct algo_hop x = hop[i];
		unsigned k = i;
		for (; k > 0 && hop_before(&x, &hop[k - 1]); k--)
			hop[k] = hop[k - 1];
		hop[k] = x;
	}
}

static unsigned hops_unique(struct algo_hop hop[], unsigned n)
{
	unsigned kept = 1;
	for (unsigned i = 1; i < n; i++) {
		const struct algo_hop *a = &hop[kept - 1], *b = &hop[i];
		if (a->node == b->node && a->outer_dst == b->outer_dst &&
		    hop_rank(a) == hop_rank(b))
			continue;
		if (kept != i)
			hop[kept] = *b;
		kept++;
	}
	return kept;
}

/* Nothing to sort and nothing twice? That is how most come. */
static int hops_in_order(const struct algo_hop hop[], unsigned n)
{
	uint32_t before = hop_rank(&hop[0]);
	for (unsigned i = 1; i < n; i++) {
		const uint32_t rank = hop_rank(&hop[i]);
		if (rank <= before)
			return 0;
		before = rank;
	}
	return 1;
}

/* No outer headers, and TTLs that fall: what most are. */
static int hops_are_bare(const struct algo_hop hop[], unsigned n)
{
	unsigned before = UINT8_MAX + 1;
	for (unsigned i = 0; i < n; i++) {
		if (hop[i].layer != 0 || hop[i].outer_dst != 0 ||
		    hop[i].ttl >= before)
			return 0;
		before = hop[i].ttl;
	}
	return 1;
}

static int hops_loop(const struct algo_hop hop[], unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			if (hop[i].node == hop[k].node &&
			    hop[i].layer == hop[k].layer &&
			    hop[i].outer_dst == hop[k].outer_dst &&
			    ((hop_rank(&hop[i]) ^ hop_rank(&hop[k])) &
				0x7f007fu))
				return 1;
	return 0;
}

/* --- mirrors that are missing ----------------------------------------------*/
static topo_node link_from(const struct algo_check *c, topo_link l)
{
	return l < c->routing.topo->n_links ? c->from[l] : TOPO_NONE;
}

/* A switch itself, the ToR of a host. */
static topo_switch switch_of(const struct algo_check *c, topo_node n)
{
	const struct topo *t = c->routing.topo;
	if (n == TOPO_NONE)
		return TOPO_NONE;
	return n < t->n_hosts ? topo_tor_of(t, n) : n - t->n_hosts;
}

/* The switch before a link. */
static topo_switch switch_before(const struct algo_check *c, topo_link l)
{
	return switch_of(c, link_from(c, l));
}

/* A header comes off where it leads to, and one at a time. */
static int lost_unwrapping(const struct algo_check *c, const struct algo_hop *a,
    const struct algo_hop *b)
{
	const topo_switch end =
	    switch_of(c, algo_routing_node(&c->routing, a->outer_dst));
	return a->layer > b->layer + 1 || (end != TOPO_NONE && end != a->node);
}

static unsigned lost_between(const struct algo_check *c,
    const struct algo_hop *a, const struct algo_hop *b)
{
	const int same = a->layer == b->layer && a->outer_dst == b->outer_dst &&
	    (a->layer == 0 || a->ttl_in == b->ttl_in);
	if (same && a->ttl != b->ttl)
		return a->ttl - b->ttl - 1u;
	if (same)
		return 0;
	const topo_switch before = switch_before(c, b->in_link);
	return (before != TOPO_NONE && before != a->node) ||
	    (b->layer < a->layer && lost_unwrapping(c, a, b));
}

/* The first copy should be that of the source's ToR. What a switch sends itself
 * begins there; of an unknown source nothing can be said. */
static unsigned lost_before(const struct algo_check *c,
    const struct algo_trace *t, const struct algo_hop *h)
{
	const struct topo *topo = c->routing.topo;
	const uint32_t ip = h->layer > 0 ? h->outer_src : t->src_ip;
	const topo_node src = algo_routing_node(&c->routing, ip);
	const topo_node from = link_from(c, h->in_link);
	const int from_switch = from != TOPO_NONE && from >= topo->n_hosts;
	if (src < topo->n_hosts)
		return from_switch || h->node != topo_tor_of(topo, src);
	return from_switch && topo_addr_is_vip(ip);
}

static unsigned lost_in_all(const struct algo_check *c,
    const struct algo_trace *t, const struct algo_hop hop[])
{
	unsigned n = lost_before(c, t, &hop[0]);
	for (unsigned i = 1; i < t->n_hops; i++)
		n += lost_between(c, &hop[i - 1], &hop[i]);
	return n;
}

/* --- where it ends ---------------------------------------------------------*/
enum way_end { WAY_UNKNOWN, WAY_ENDS, WAY_GOES_ON };

/* Is AT the last switch on the way to DST? If not, *NEXT is the link that it
 * should take, as far as known. */
static enum way_end way_to(const struct algo_check *c, topo_switch at,
    const struct topo_tuple *routed, topo_node dst, topo_link *next)
{
	if (dst == TOPO_NONE)
		return WAY_UNKNOWN;
	if (at == switch_of(c, dst))
		return WAY_ENDS;
	*next = algo_routing_next(&c->routing, at, routed, dst);
	return WAY_GOES_ON;
}

static enum way_end way_inner(const struct algo_check *c,
    const struct algo_trace *t, const struct algo_hop *last, topo_link *next)
{
	const struct topo_tuple tuple = {t->src_ip, t->dst_ip, t->src_port,
	    t->dst_port, t->proto};
	/* Where a mux is nobody told, but it sends everything on. */
	if (topo_addr_is_vip(t->dst_ip))
		return WAY_GOES_ON;
	return way_to(c, last->node, &tuple,
	    algo_routing_node(&c->routing, t->dst_ip), next);
}

static enum way_end way_behind(const struct algo_check *c,
    const struct algo_trace *t, const struct algo_hop *last, topo_link *next)
{
	const uint32_t n_hosts = c->routing.topo->n_hosts;
	*next = TOPO_NONE;
	if (last->node >= c->routing.topo->n_switches)
		return WAY_UNKNOWN;
	if (last->layer == 0)
		return way_inner(c, t, last, next);
	const struct topo_tuple outer = {last->outer_src, last->outer_dst, 0, 0,
	    OBS_PROTO_IPIP};
	const topo_node dst = algo_routing_node(&c->routing, last->outer_dst);
	const enum way_end end = way_to(c, last->node, &outer, dst, next);
	/* At a host the packet has arrived; a switch takes the header off, and
	 * what is within goes on. Of several only the innermost is known. */
	if (end != WAY_ENDS || dst < n_hosts)
		return end;
	if (last->layer > 1)
		return WAY_GOES_ON;
	return t->dst_ip == 0 ? WAY_ENDS : way_inner(c, t, last, next);
}

/* --- marks -----------------------------------------------------------------*/
static uint32_t marks_of(const struct algo_trace *t,
    const struct algo_hop *first, int guided)
{
	uint32_t marks = 0;
	if (guided && (t->marks & ALGO_TRACE_DEBUG))
		marks |= ALGO_TRACE_PROBE;
	if ((hop_rank(first) ^ 0xff0000u) & (uint32_t)OBS_TTL_RETX << 16)
		marks |= ALGO_TRACE_RETX;
	return marks;
}

/* What is not IP has no addresses. */
static int is_guided(const struct algo_trace *t)
{
	return t->dst_ip == 0 && t->proto != 0;
}

static uint32_t marks_of_layers(const struct algo_check *c,
    const struct algo_trace *t, const struct algo_hop hop[])
{
	const struct topo *topo = c->routing.topo;
	uint32_t marks = 0;
	int bare = 0, guided = is_guided(t);
	for (unsigned i = 0; i < t->n_hops; i++) {
		bare |= hop[i].layer == 0;
		if (hop[i].layer == 0)
			continue;
		marks |= ALGO_TRACE_ENCAP | (bare ? ALGO_TRACE_MUX : 0);
		guided |= topo_addr_to_switch(hop[i].outer_dst,
			      topo->n_switches) != TOPO_NONE;
	}
	return marks | marks_of(t, &hop[0], guided);
}

/* --- in all ----------------------------------------------------------------*/
static void check_end(const struct algo_check *c, struct algo_trace *t,
    const struct algo_hop *last)
{
	topo_link next;
	const enum way_end end = way_behind(c, t, last, &next);
	if (end == WAY_ENDS && t->n_lost == 0)
		t->marks |= ALGO_TRACE_COMPLETE;
	/* A TTL of 1 ends here, as whoever sent it meant. */
	if (end == WAY_GOES_ON && last->ttl > 1) {
		t->marks |= ALGO_TRACE_SUSPECT;
		t->lost_link = next;
	}
}

static void check_begins(struct algo_trace *t, const struct algo_hop *last)
{
	t->last_node = last->node;
	t->lost_link = TOPO_NONE;
	t->n_same = 0;
	t->n_lost = 0;
}

void algo_check_bare(const struct algo_check *c, struct algo_trace *t,
    const struct algo_hop *first, const struct algo_hop *last)
{
	check_begins(t, last);
	if (t->proto == 0)
		return;
	t->marks |= marks_of(t, first, is_guided(t));
	t->n_lost = (uint16_t)(lost_before(c, t, first) + first->ttl -
	    last->ttl - (t->n_hops - 1u));
	check_end(c, t, last);
}

static void check_any(const struct algo_check *c, struct algo_trace *t,
    struct algo_hop hop[])
{
	const unsigned n = t->n_hops;
	if (!hops_in_order(hop, n)) {
		hops_sort(hop, n);
		t->n_hops = (uint16_t)hops_unique(hop, n);
	}
	const struct algo_hop *last = &hop[t->n_hops - 1];
	check_begins(t, last);
	t->n_same = (uint16_t)(n - t->n_hops);
	/* What is not IP stays on its link. */
	if (t->proto == 0)
		return;
	t->marks |= marks_of_layers(c, t, hop);
	const unsigned n_lost = lost_in_all(c, t, hop);
	t->n_lost = (uint16_t)(n_lost < UINT16_MAX ? n_lost : UINT16_MAX);
	if (hops_loop(hop, t->n_hops))
		t->marks |= ALGO_TRACE_LOOP;
	else
		check_end(c, t, last);
}

void algo_check_trace(const struct algo_check *c, struct algo_trace *t,
    struct algo_hop hop[])
{
	const unsigned n = t->n_hops;
	if (hops_are_bare(hop, n) && !hops_loop(hop, n))
		algo_check_bare(c, t, &hop[0], &hop[n - 1]);
	else
		check_any(c, t, hop);
}
