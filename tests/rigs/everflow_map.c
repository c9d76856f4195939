/* tests/rigs/everflow_map.c -- traces by a plain hash table: what one writes first.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/everflow_map.h"

#include <stdio.h>
#include <stdlib.h>

#include "algos/everflow/check.h"

struct entry {
	struct algo_trace trace;
	struct algo_hop *hop;
	size_t n, cap;
	struct entry *next;  /* of the bucket */
	struct entry *after; /* began next */
	unsigned bits;       /* of all tos and kinds */
};

struct everflow_map {
	struct algo_check check;
	struct entry **bucket, *oldest, *newest;
	uint32_t n_buckets;
	sim_ns gap, now;
	int by_digest, store_all;
	uint64_t *packets, *bytes, *flows; /* [n_links] */
};

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "everflow_map: no memory\n");
		exit(1);
	}
	return p;
}

struct everflow_map *everflow_map_open(const struct algo_routing *r,
    const struct algo_analyzer_params *p, uint32_t n_buckets)
{
	struct everflow_map *m = need(calloc(1, sizeof(*m)));
	if (algo_check_open(&m->check, r, NULL) < 0)
		need(NULL);
	m->bucket = need(calloc(n_buckets, sizeof(m->bucket[0])));
	m->packets = need(calloc(r->topo->n_links, sizeof(uint64_t)));
	m->bytes = need(calloc(r->topo->n_links, sizeof(uint64_t)));
	m->flows = need(calloc(r->topo->n_links, sizeof(uint64_t)));
	m->n_buckets = n_buckets;
	m->gap = sim_ns_of(p->t_ms * 1e-3);
	m->by_digest = p->key == ALGO_KEY_DIGEST;
	m->store_all = p->store_all != 0;
	return m;
}

static int resent(const struct obs_copy *c)
{
	return c->ip_id == 0 ? c->ttl_in & OBS_TTL_RETX : 0;
}

static uint64_t fold(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(0x9fb21c651e98df25);
	return h ^ h >> 29;
}

static size_t place(const struct everflow_map *m, const struct algo_trace *t)
{
	uint64_t h = fold(0, t->src_ip);
	h = fold(h, t->dst_ip);
	h = fold(h, (uint64_t)t->src_port << 16 | t->dst_port);
	h = fold(h, (uint64_t)t->proto << 16 | t->ip_id);
	return fold(h, m->by_digest ? t->digest : 0) & (m->n_buckets - 1);
}

static int is_old(const struct everflow_map *m, const struct entry *x,
    sim_ns now)
{
	return now - x->trace.end_ns > m->gap ||
	    now - x->trace.t_ns > 2 * m->gap + 1;
}

static int same_key(const struct everflow_map *m, const struct algo_trace *a,
    const struct obs_copy *c)
{
	return a->src_ip == c->src_ip && a->dst_ip == c->dst_ip &&
	    a->src_port == c->src_port && a->dst_port == c->dst_port &&
	    a->proto == c->proto && a->ip_id == c->ip_id &&
	    (!m->by_digest || a->digest == c->digest);
}

static int is_bgp(const struct algo_trace *t)
{
	return t->kind == OBS_COPY_BGP ||
	    (t->proto == TOPO_PROTO_TCP &&
		(t->src_port == 179 || t->dst_port == 179));
}

static int is_nak(const struct algo_trace *t)
{
	return t->kind == OBS_COPY_NAK ||
	    (t->proto == 17 && t->dst_port == 4791 && t->bth_opcode == 0x11 &&
		(t->aeth & 0x60) == 0x60);
}

static void end_oldest(struct everflow_map *m,
    const struct algo_trace_sink *sink)
{
	struct entry *x = m->oldest, **at = &m->bucket[place(m, &x->trace)];
	struct algo_trace *t = &x->trace;
	t->n_hops = (uint16_t)x->n;
	algo_check_trace(&m->check, t, x->hop);
	for (unsigned i = 0; i < t->n_hops; i++) {
		const topo_link l = x->hop[i].in_link;
		if (l >= m->check.routing.topo->n_links)
			continue;
		m->packets[l]++;
		m->bytes[l] += t->n_bytes + 20u * x->hop[i].layer;
		m->flows[l] += (t->flags & OBS_TCP_SYN) != 0;
	}
	if (m->store_all ||
	    t->marks &
		(ALGO_TRACE_LOOP | ALGO_TRACE_SUSPECT | ALGO_TRACE_DEBUG) ||
	    t->kind == OBS_COPY_PFC || is_bgp(t) || is_nak(t))
		sink->take(sink->arg, t, x->hop, NULL);
	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
	m->oldest = x->after;
	if (!m->oldest)
		m->newest = NULL;
	free(x->hop);
	free(x);
}

static struct entry *begin(struct everflow_map *m, const struct obs_copy *c,
    sim_ns now)
{
	const uint32_t outer = 20u * c->layer;
	struct entry *x = need(calloc(1, sizeof(*x)));
	x->trace = (struct algo_trace){.t_ns = now,
	    .digest = c->digest,
	    .src_ip = c->src_ip,
	    .dst_ip = c->dst_ip,
	    .seq = c->seq,
	    .ack = c->ack,
	    .n_bytes = c->n_bytes > outer ? c->n_bytes - outer : 0,
	    .src_port = c->src_port,
	    .dst_port = c->dst_port,
	    .ip_id = c->ip_id,
	    .proto = c->proto,
	    .flags = c->flags,
	    .kind = c->kind,
	    .bth_opcode = c->bth_opcode,
	    .aeth = c->aeth};
	struct entry **at = &m->bucket[place(m, &x->trace)];
	x->bits = (unsigned)resent(c) << 8;
	x->next = *at;
	*at = x;
	if (m->newest)
		m->newest->after = x;
	else
		m->oldest = x;
	m->newest = x;
	return x;
}

static struct entry *find(const struct everflow_map *m,
    const struct obs_copy *c, sim_ns now)
{
	const struct algo_trace key = {.src_ip = c->src_ip,
	    .dst_ip = c->dst_ip,
	    .src_port = c->src_port,
	    .dst_port = c->dst_port,
	    .proto = c->proto,
	    .ip_id = c->ip_id,
	    .digest = c->digest};
	struct entry *x = c->proto == 0 ? NULL : m->bucket[place(m, &key)];
	while (x &&
	    (!same_key(m, &x->trace, c) || is_old(m, x, now) ||
		(int)(x->bits >> 8) != resent(c)))
		x = x->next;
	return x;
}

static void put(struct everflow_map *m, const struct obs_copy *c, sim_ns now)
{
	struct entry *x = find(m, c, now);
	if (!x)
		x = begin(m, c, now);
	if (x->n == x->cap) {
		x->cap = x->cap ? 2 * x->cap : 1;
		x->hop = need(realloc(x->hop, x->cap * sizeof(x->hop[0])));
	}
	x->hop[x->n++] = (struct algo_hop){.t_ns = now,
	    .switch_ns = c->switch_ns,
	    .node = c->node,
	    .in_link = c->in_link,
	    .outer_src = c->outer_src,
	    .outer_dst = c->outer_dst,
	    .layer = c->layer,
	    .ttl = c->ttl,
	    .ttl_in = c->ttl_in,
	    .tos = c->tos};
	x->trace.end_ns = now;
	if ((c->tos | c->tos_in) & OBS_TOS_DEBUG || c->kind == OBS_COPY_DEBUG)
		x->trace.marks |= ALGO_TRACE_DEBUG;
	if (c->kind == OBS_COPY_RETX)
		x->trace.marks |= ALGO_TRACE_RETX;
}

void everflow_map_feed(struct everflow_map *m, const struct obs_mirror *copies,
    size_t from, size_t to, const struct algo_trace_sink *sink)
{
	for (size_t i = from; i < to; i++) {
		const struct obs_copy c = obs_mirror_at(copies, i);
		if (c.t_ns > m->now)
			m->now = c.t_ns;
		while (m->oldest && is_old(m, m->oldest, m->now))
			end_oldest(m, sink);
		put(m, &c, m->now);
	}
}

void everflow_map_flush(struct everflow_map *m,
    const struct algo_trace_sink *sink)
{
	while (m->oldest)
		end_oldest(m, sink);
}

void everflow_map_close(struct everflow_map *m)
{
	if (!m)
		return;
	while (m->oldest) {
		struct entry *x = m->oldest;
		m->oldest = x->after;
		free(x->hop);
		free(x);
	}
	free(m->bucket);
	free(m->packets);
	free(m->bytes);
	free(m->flows);
	algo_check_close(&m->check);
	free(m);
}

uint64_t everflow_map_packets(const struct everflow_map *m, topo_link l)
{
	return m->packets[l];
}

/* --- sums ------------------------------------------------------------------*/
static uint64_t of_hop(const struct algo_hop *h)
{
	uint64_t s = fold(1, h->t_ns);
	s = fold(s, h->switch_ns);
	s = fold(s, (uint64_t)h->node << 32 | h->in_link);
	s = fold(s, (uint64_t)h->outer_src << 32 | h->outer_dst);
	return fold(s,
	    (uint64_t)h->layer << 24 | h->ttl << 16 | h->ttl_in << 8 | h->tos);
}

int everflow_sum_take(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	(void)e;
	struct everflow_sum *s = arg;
	uint64_t x = fold(fold(fold(2, t->t_ns), t->end_ns), t->digest);
	x = fold(x, (uint64_t)t->src_ip << 32 | t->dst_ip);
	x = fold(x, (uint64_t)t->src_port << 32 | t->dst_port);
	x = fold(x, (uint64_t)t->seq << 32 | t->ack);
	x = fold(x, (uint64_t)t->n_bytes << 32 | t->marks);
	x = fold(x, (uint64_t)t->last_node << 32 | t->lost_link);
	x = fold(x,
	    (uint64_t)t->n_hops << 48 | (uint64_t)t->n_lost << 32 |
		(uint64_t)t->n_same << 16 | t->ip_id);
	x = fold(x,
	    (uint64_t)t->proto << 32 | (uint64_t)t->flags << 24 |
		(uint64_t)t->kind << 16 | (uint64_t)t->bth_opcode << 8 |
		t->aeth);
	for (unsigned i = 0; i < t->n_hops; i++)
		x = fold(x, of_hop(&hop[i]));
	s->sum += x;
	s->n_traces++;
	s->n_hops += t->n_hops;
	return 0;
}
