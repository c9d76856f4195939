/* experiments/everflow/truth.c -- what became of packets, what is to be named.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/truth.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* --- packets -------------------------------------------------------------- */

void xp_fates_clear(struct xp_fates *f)
{
	f->n = 0;
	if (f->cap_head > 0)
		memset(f->head, 0, f->cap_head * sizeof(f->head[0]));
}

void xp_fates_free(struct xp_fates *f)
{
	free(f->fate);
	free(f->head);
	*f = (struct xp_fates){0};
}

/* What a trace knows of its packet. What is sent again may differ from this in
 * its TTL alone, which is no part of it: hence the time. */
static uint64_t fate_key(const struct topo_tuple *t, uint16_t id,
    uint64_t digest)
{
	uint64_t x = digest * UINT64_C(0x9e3779b97f4a7c15);
	x ^= ((uint64_t)t->src_ip << 32 | t->dst_ip) + (x >> 29);
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= ((uint64_t)t->src_port << 48 | (uint64_t)t->dst_port << 32 |
		 (uint64_t)id << 8 | t->proto) +
	    (x >> 32);
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static size_t fate_slot(const struct xp_fates *f, uint64_t key)
{
	return key & (f->cap_head - 1);
}

/* Chains are made anew in the order of the packets, so that the one sent last
 * stands first in each. */
static int fates_grow(struct xp_fates *f, struct sim_err *e)
{
	const size_t cap = f->cap_head ? 2 * f->cap_head : 1024;
	uint32_t *head;
	int rc = SIM_ZALLOC(&head, cap, e);
	if (rc < 0)
		return rc;
	free(f->head);
	f->head = head;
	f->cap_head = cap;
	for (size_t i = 0; i < f->n; i++) {
		uint32_t *at = &head[fate_slot(f, f->fate[i].key)];
		f->fate[i].before = *at;
		*at = (uint32_t)i + 1;
	}
	return 0;
}

int xp_fates_add(struct xp_fates *f, const struct obs_packet *p, sim_ns sent,
    int lost, int looped, struct sim_err *e)
{
	const struct topo_tuple tuple = obs_packet_tuple(p);
	int rc;
	if (f->n == UINT32_MAX - 1)
		return sim_fail(e, SIM_ELIMIT, "More than 2^32 - 2 packets.");
	if (f->n == f->cap_head && (rc = fates_grow(f, e)) < 0)
		return rc;
	if ((rc = SIM_RESERVE(&f->fate, &f->cap, f->n + 1, e)) < 0)
		return rc;
	const uint64_t key = fate_key(&tuple, p->ip.id, p->digest);
	uint32_t *at = &f->head[fate_slot(f, key)];
	f->fate[f->n] = (struct xp_fate){key, sent, *at, lost, looped};
	*at = (uint32_t)++f->n;
	return 0;
}

const struct xp_fate *xp_fates_of(const struct xp_fates *f,
    const struct algo_trace *t)
{
	const struct topo_tuple tuple = {t->src_ip, t->dst_ip, t->src_port,
	    t->dst_port, t->proto};
	const uint64_t key = fate_key(&tuple, t->ip_id, t->digest);
	const struct xp_fate *best = NULL;
	if (f->cap_head == 0)
		return NULL;
	for (uint32_t i = f->head[fate_slot(f, key)]; i > 0;
	     i = f->fate[i - 1].before) {
		const struct xp_fate *x = &f->fate[i - 1];
		if (x->key == key && x->sent <= t->t_ns &&
		    (!best || x->sent > best->sent))
			best = x;
	}
	return best;
}

/* --- findings ------------------------------------------------------------- */

/* Of the kinds of wrong choices those of links make loops, the others bad
 * loads. */
static int due_routes(const struct truth *t, int loops)
{
	for (size_t i = 0; i < t->n_routes; i++)
		if ((t->route[i].rule.kind == ROUTE_RULE_LINK) == loops)
			return 1;
	return 0;
}

static int due_links(const struct truth *t, int slow)
{
	for (size_t i = 0; i < t->n_faults; i++) {
		const struct truth_fault *f = &t->fault[i];
		if (truth_is_fault(f) && !f->of_route &&
		    truth_is_slow(f) == slow)
			return 1;
	}
	return 0;
}

static int due_outage(const struct truth *t, enum truth_outage_kind kind)
{
	for (size_t i = 0; i < t->n_outages; i++)
		if (t->outage[i].kind == kind)
			return 1;
	return 0;
}

/* NICs that go back to 0 show where packets are lost. */
static int due_restart(const struct truth *t, const struct xp_everflow *p)
{
	return p->lossless.n_pairs > 0 &&
	    p->lossless.rdma.recovery == PACKET_RDMA_GO_BACK_0 &&
	    due_links(t, 0);
}

int xp_everflow_due(const struct scene *s, const struct xp_everflow *p,
    unsigned which)
{
	const struct truth *t = &s->truth;
	switch ((enum xp_everflow_debugger)which) {
	case XP_DEBUG_latency:
		return due_links(t, 1);
	case XP_DEBUG_drop:
		return due_links(t, 0);
	case XP_DEBUG_loop:
		return due_routes(t, 1) || due_outage(t, TRUTH_MUX_LOOP);
	case XP_DEBUG_ecmp:
		return due_routes(t, 0);
	case XP_DEBUG_rdma:
		return due_restart(t, p) || due_outage(t, TRUTH_STORM) ||
		    due_outage(t, TRUTH_BGP_FLAP);
	case XP_N_DEBUGGERS:
		break;
	}
	return 0;
}

/* The earliest fault of LINK that is slow, or loses, as asked. */
static enum xp_worth worth_of_link(const struct truth *t, topo_link link,
    int slow, sim_ns *since)
{
	size_t i = truth_first_fault(t, link, 0);
	for (; i < t->n_faults && t->fault[i].link == link; i++) {
		const struct truth_fault *f = &t->fault[i];
		if (!truth_is_fault(f) || truth_is_slow(f) != slow ||
		    truth_is_mark(f))
			continue;
		*since = f->from_ns;
		return XP_WORTH_RIGHT;
	}
	return XP_WORTH_WRONG;
}

/* A hole is told by the switch, or by a link into it: the first one there, or
 * n_holes. */
static size_t hole_of_finding(const struct scene *s,
    const struct algo_finding *f)
{
	topo_node from, to = f->node;
	if (f->link != TOPO_NONE)
		topo_link_ends(s->topo, f->link, &from, &to);
	if (to == TOPO_NONE || to < s->topo->n_hosts)
		return s->truth.n_holes;
	return truth_first_hole(&s->truth, to - s->topo->n_hosts);
}

/* What it goes by, pairs or five-tuples, is the cause alone. */
static enum xp_worth worth_of_hole(const struct scene *s,
    const struct algo_finding *f, sim_ns *since)
{
	const size_t i = hole_of_finding(s, f);
	if (i == s->truth.n_holes)
		return XP_WORTH_WRONG;
	*since = s->truth.hole[i].from_ns;
	return XP_WORTH_RIGHT;
}

static int is_type_of_hole(const struct scene *s, const struct algo_finding *f,
    enum blackhole_rule_type type)
{
	size_t i = hole_of_finding(s, f);
	if (i == s->truth.n_holes)
		return 0;
	for (const topo_switch at = s->truth.hole[i].at;
	     i < s->truth.n_holes && s->truth.hole[i].at == at; i++)
		if (s->truth.hole[i].rule.type == type)
			return 1;
	return 0;
}

/* A switch that chooses badly, whatever the cause that is named: flows alone
 * hardly tell a bad hash from bad weights. One that sends all by one link spreads
 * unevenly, too; but that is not what it should be named for. */
static enum xp_worth worth_of_choice(const struct scene *s,
    const struct algo_finding *f, sim_ns *since)
{
	enum xp_worth w = XP_WORTH_WRONG;
	for (size_t i = 0; i < s->truth.n_routes; i++) {
		const struct truth_route *r = &s->truth.route[i];
		if (f->node != s->topo->n_hosts + r->at)
			continue;
		if (r->rule.kind == ROUTE_RULE_LINK) {
			w = XP_WORTH_NEITHER;
			continue;
		}
		*since = r->from_ns;
		return XP_WORTH_RIGHT;
	}
	return w;
}

/* The kind of rule that a cause names. */
static enum route_rule_kind rule_of_cause(enum algo_cause cause)
{
	switch (cause) {
	case ALGO_CAUSE_HASH_BITS:
		return ROUTE_RULE_BITS;
	case ALGO_CAUSE_POLARISED:
		return ROUTE_RULE_SEED;
	case ALGO_CAUSE_NARROWED:
		return ROUTE_RULE_NARROW;
	case ALGO_CAUSE_WEIGHTS:
		return ROUTE_RULE_WEIGHTS;
	default:
		return ROUTE_RULE_N_KINDS;
	}
}

int xp_everflow_is_cause(const struct scene *s, const struct algo_finding *f)
{
	const enum route_rule_kind kind = rule_of_cause(f->cause);
	if (f->cause == ALGO_CAUSE_BLACK_HOLE_1)
		return is_type_of_hole(s, f, BLACKHOLE_RULE_PAIR);
	if (f->cause == ALGO_CAUSE_BLACK_HOLE_2)
		return is_type_of_hole(s, f, BLACKHOLE_RULE_TUPLE);
	if (kind == ROUTE_RULE_N_KINDS)
		return 1;
	for (size_t i = 0; i < s->truth.n_routes; i++) {
		const struct truth_route *r = &s->truth.route[i];
		if (f->node == s->topo->n_hosts + r->at && r->rule.kind == kind)
			return 1;
	}
	return 0;
}

static int finding_goes_by(const struct algo_finding *f, topo_node n)
{
	for (unsigned i = 0; i < f->n_cycle; i++)
		if (f->cycle[i] == n)
			return 1;
	return 0;
}

/* A cycle that goes by the wrong link, or through the host that loops: its ToR
 * is all that switches show of it. */
static enum xp_worth worth_of_loop(const struct scene *s,
    const struct algo_finding *f, sim_ns *since)
{
	const struct truth *t = &s->truth;
	topo_node from, to;
	for (size_t i = 0; i < t->n_routes; i++) {
		if (t->route[i].rule.kind != ROUTE_RULE_LINK)
			continue;
		topo_link_ends(s->topo, t->route[i].rule.link, &from, &to);
		*since = t->route[i].from_ns;
		if (finding_goes_by(f, from) && finding_goes_by(f, to))
			return XP_WORTH_RIGHT;
	}
	*since = 0;
	return XP_WORTH_WRONG;
}

static enum xp_worth worth_of_mux(const struct scene *s,
    const struct algo_finding *f, sim_ns *since)
{
	const struct truth *t = &s->truth;
	for (size_t i = 0; i < t->n_outages; i++) {
		const struct truth_outage *o = &t->outage[i];
		if (o->kind != TRUTH_MUX_LOOP ||
		    !finding_goes_by(f,
			s->topo->n_hosts + topo_tor_of(s->topo, o->id)))
			continue;
		*since = o->from_ns;
		return XP_WORTH_RIGHT;
	}
	return XP_WORTH_WRONG;
}

static enum xp_worth worth_of_latency(const struct scene *s,
    const struct algo_finding *f, sim_ns *since)
{
	const enum xp_worth w = worth_of_link(&s->truth, f->link, 1, since);
	return w == XP_WORTH_RIGHT
	    ? w
	    : worth_of_link(&s->truth, topo_link_reverse(f->link), 1, since);
}

/* An outage of that kind and id. */
static enum xp_worth worth_of_outage(const struct truth *t,
    enum truth_outage_kind kind, uint32_t id, sim_ns *since)
{
	for (size_t i = 0; i < t->n_outages; i++) {
		if (t->outage[i].kind != kind || t->outage[i].id != id)
			continue;
		*since = t->outage[i].from_ns;
		return XP_WORTH_RIGHT;
	}
	return XP_WORTH_WRONG;
}

/* Loss of the lossless class is right where links lose, and where packets go in
 * circles until they end; it is not asked for, as queue pairs may not come
 * there. */
static enum xp_worth worth_of_nic(const struct scene *s,
    const struct xp_everflow *p, const struct algo_finding *f, sim_ns *since)
{
	if (f->cause == ALGO_CAUSE_RDMA_LOSS && due_routes(&s->truth, 1))
		return XP_WORTH_NEITHER;
	if (!due_links(&s->truth, 0))
		return XP_WORTH_WRONG;
	if (f->cause == ALGO_CAUSE_RDMA_LOSS)
		return f->link == TOPO_NONE ||
			truth_is_faulty(&s->truth, f->link)
		    ? XP_WORTH_NEITHER
		    : XP_WORTH_WRONG;
	*since = 0;
	return due_restart(&s->truth, p) && f->node < s->topo->n_hosts
	    ? XP_WORTH_RIGHT
	    : XP_WORTH_WRONG;
}

enum xp_worth xp_everflow_worth(const struct scene *s,
    const struct xp_everflow *p, const struct algo_finding *f, sim_ns *since)
{
	switch (f->cause) {
	case ALGO_CAUSE_TRANSIENT:
		return XP_WORTH_NEITHER;
	case ALGO_CAUSE_RANDOM:
		return worth_of_link(&s->truth, f->link, 0, since);
	case ALGO_CAUSE_LATENCY:
		return worth_of_latency(s, f, since);
	case ALGO_CAUSE_BLACK_HOLE_1:
	case ALGO_CAUSE_BLACK_HOLE_2:
		return worth_of_hole(s, f, since);
	case ALGO_CAUSE_LOOP:
		return worth_of_loop(s, f, since);
	case ALGO_CAUSE_MUX_LOOP:
		return worth_of_mux(s, f, since);
	case ALGO_CAUSE_HASH_BITS:
	case ALGO_CAUSE_POLARISED:
	case ALGO_CAUSE_NARROWED:
	case ALGO_CAUSE_WEIGHTS:
		return worth_of_choice(s, f, since);
	case ALGO_CAUSE_NIC_RESTART:
	case ALGO_CAUSE_RDMA_LOSS:
		return worth_of_nic(s, p, f, since);
	case ALGO_CAUSE_PAUSE_STORM:
		return worth_of_outage(&s->truth, TRUTH_STORM, f->link / 2,
		    since);
	case ALGO_CAUSE_BGP_FLAP:
		return worth_of_outage(&s->truth, TRUTH_BGP_FLAP, f->link / 2,
		    since);
	default:
		return XP_WORTH_WRONG;
	}
}
