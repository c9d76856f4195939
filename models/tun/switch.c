/* models/tun/switch.c -- a real packet's way through a scene: where, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/tun/switch.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/dist.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* Five-tuples that share a slot may hold each other up for the time that one
 * packet overtakes another by; so there are many. */
enum { SLOTS = 1 << 16 };

#define AT(member) offsetof(struct tun_switch_params, member)
const struct sim_field tun_switch_fields[] = {
    {"hop", SIM_F_F64, AT(hop_us), .def = "5", .min = 0, .max = 1e6,
	.unit = "us", .doc = "time that a link takes one way"},
    {"queue", SIM_F_F64, AT(queue_us), .def = "0", .min = 0, .max = 1e6,
	.unit = "us", .doc = "mean of the exponential time in a link's queue"},
    {"in_order", SIM_F_BOOL, AT(in_order), .def = "true",
	.doc = "no packet overtakes another of its flow"},
    {"max_drops", SIM_F_U32, AT(max_drops), .def = "1000000", .min = 0,
	.max = 1e9, .unit = "packets",
	.doc = "lost packets that are listed one by one"},
    {0},
};
#undef AT

int tun_switch_open(struct tun_switch *s, const struct topo *t,
    const struct tun_switch_params *p, struct sim_err *e)
{
	int rc;
	*s = (struct tun_switch){.topo = t, .params = *p};
	if (t->n_hosts > TOPO_ADDR_MAX_HOSTS ||
	    t->n_switches > TOPO_ADDR_MAX_SWITCHES ||
	    t->n_links > TOPO_ADDR_MAX_LINKS)
		return sim_fail(e, SIM_ELIMIT,
		    "%u hosts, %u switches and %u links are more than there "
		    "are addresses for: %u, %u and %u.",
		    t->n_hosts, t->n_switches, t->n_links, TOPO_ADDR_MAX_HOSTS,
		    TOPO_ADDR_MAX_SWITCHES, TOPO_ADDR_MAX_LINKS);
	if ((rc = SIM_ZALLOC(&s->offered, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->lost, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->there, SLOTS, e)) < 0)
		tun_switch_close(s);
	return rc;
}

void tun_switch_close(struct tun_switch *s)
{
	model_icmp_free(&s->icmp);
	free(s->offered);
	free(s->lost);
	free(s->drop);
	free(s->there);
	*s = (struct tun_switch){.topo = NULL};
}

int tun_switch_begin(struct tun_switch *s, const struct model_scene *scene,
    sim_ns epoch_ns, struct sim_err *e)
{
	const size_t n = s->topo->n_links;
	int rc = model_icmp_begin(&s->icmp, &s->params.icmp,
	    s->topo->n_switches, epoch_ns, e);
	if (rc < 0)
		return rc;
	s->scene = scene;
	s->n_drops = 0;
	s->n_unlisted = 0;
	if (n > 0) {
		memset(s->offered, 0, n * sizeof(*s->offered));
		memset(s->lost, 0, n * sizeof(*s->lost));
	}
	memset(s->there, 0, SLOTS * sizeof(*s->there));
	sim_rng_key(s->key, &scene->where, SIM_STREAM_TUN);
	sim_rng_init(&s->slow, &scene->where, SIM_STREAM_DELAY, 0);
	sim_rng_init(&s->answer, &scene->where, SIM_STREAM_PROBE, 0);
	return 0;
}

enum tun_refusal tun_switch_admit(const struct tun_switch *s,
    const struct tun_packet *p, topo_host src, topo_host *dst)
{
	if (p->tuple.src_ip != topo_addr_of_host(src))
		return TUN_SOURCE;
	*dst = topo_addr_to_host(p->tuple.dst_ip, s->topo->n_hosts);
	return *dst == TOPO_NONE || *dst == src ? TUN_NOWHERE : TUN_FINE;
}

static unsigned path_of(const struct tun_switch *s, const struct tun_packet *p,
    topo_link path[])
{
	const uint32_t n_hosts = s->topo->n_hosts;
	return topo_path(s->topo, s->scene->ecmp_seed,
	    topo_addr_to_host(p->tuple.src_ip, n_hosts),
	    topo_addr_to_host(p->tuple.dst_ip, n_hosts),
	    topo_tuple_digest(&p->tuple), path);
}

/* The switch that a link leads to. */
static topo_switch switch_at(const struct tun_switch *s, topo_link l)
{
	topo_node from, to;
	topo_link_ends(s->topo, l, &from, &to);
	return to - s->topo->n_hosts;
}

/* --- one link ------------------------------------------------------------- */

static int lose(struct tun_switch *s, const struct topo_tuple *tuple,
    int in_hole, struct tun_way *w, struct sim_err *e)
{
	w->fate = TUN_LOST;
	s->lost[w->last]++;
	if (s->n_drops >= s->params.max_drops) {
		s->n_unlisted++;
		return 0;
	}
	int rc = SIM_RESERVE(&s->drop, &s->cap_drops, s->n_drops + 1, e);
	if (rc == 0)
		s->drop[s->n_drops++] = (struct tun_drop){
		    .tuple = *tuple,
		    .link = w->last,
		    .at = w->at,
		    .in_hole = (uint8_t)in_hole,
		};
	return rc;
}

static sim_ns delay(struct tun_switch *s, topo_link l, sim_ns now, uint32_t u)
{
	const struct truth *truth = &s->scene->truth;
	double us = s->params.hop_us;
	if (s->params.queue_us > 0)
		us -= s->params.queue_us * log((u + 0.5) * 0x1p-32);
	if (truth->n_faults > 0)
		us += model_latency_draw(truth, l, now, &s->slow);
	return (sim_ns)(us * 1e3 + 0.5) + topo_link_delay(s->topo, l);
}

/* The packet comes to link L at w->at. */
static int cross(struct tun_switch *s, const struct topo_tuple *tuple,
    topo_link l, struct tun_way *w, struct sim_err *e)
{
	const struct sim_seed *where = &s->scene->where;
	const uint32_t ctr[4] = {(uint32_t)s->offered[l]++, l, where->run,
	    where->point};
	uint32_t word[4];
	sim_philox_block(s->key, ctr, word);
	const double u =
	    (double)((uint64_t)word[0] << 21 | word[1] >> 11) * 0x1p-53;
	const double hazard = model_loss_hazard(&s->scene->loss, l, w->at);
	w->last = l;
	w->n_links++;
	/* 1 - exp(-h) <= h, which most often is all there is to compute. */
	if (u < hazard && u < -expm1(-hazard))
		return lose(s, tuple, 0, w, e);
	w->at += delay(s, l, w->at, word[2]);
	return 0;
}

/* --- packets -------------------------------------------------------------- */

static void keep_order(struct tun_switch *s, const struct topo_tuple *tuple,
    struct tun_way *w)
{
	sim_ns *there = &s->there[topo_tuple_digest(tuple) % SLOTS];
	if (*there > w->at)
		w->at = *there;
	*there = w->at;
}

int tun_switch_send(struct tun_switch *s, const struct tun_packet *p,
    sim_ns now, struct tun_way *w, struct sim_err *e)
{
	const struct truth *truth = &s->scene->truth;
	const int by_tuple =
	    truth->n_holes > 0 && p->tuple.proto != TUN_PROTO_ICMP;
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = path_of(s, p, path);
	*w = (struct tun_way){.fate = TUN_ARRIVES, .at = now};
	for (unsigned i = 0; i < n; i++) {
		int rc = cross(s, &p->tuple, path[i], w, e);
		if (rc < 0 || w->fate == TUN_LOST)
			return rc;
		if (i + 1 == n)
			break;
		if (by_tuple &&
		    truth_swallows(truth, switch_at(s, path[i]), &p->tuple,
			w->at))
			return lose(s, &p->tuple, 1, w, e);
		if (p->ttl <= i + 1) {
			w->fate = TUN_EXPIRES;
			return 0;
		}
	}
	if (s->params.in_order)
		keep_order(s, &p->tuple, w);
	return 0;
}

int tun_switch_answer(struct tun_switch *s, const struct tun_packet *p,
    sim_ns now, struct tun_way *w, uint32_t *from, struct sim_err *e)
{
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = path_of(s, p, path);
	/* A TTL of 0 ends where 1 does. */
	const unsigned n_back = p->ttl > 1 ? p->ttl : 1;
	assert(n_back < n);
	(void)n;
	const topo_switch at = switch_at(s, path[n_back - 1]);
	*w = (struct tun_way){.fate = TUN_ARRIVES, .at = now};
	*from = s->params.icmp.source == MODEL_ICMP_INGRESS
	    ? topo_addr_of_link(path[n_back - 1])
	    : topo_addr_of_switch(at);
	if (p->is_error || !model_icmp_answer(&s->icmp, at, now)) {
		w->fate = TUN_SUPPRESSED;
		return 0;
	}
	const struct topo_tuple tuple = {.src_ip = *from,
	    .dst_ip = p->tuple.src_ip,
	    .proto = TUN_PROTO_ICMP};
	w->at += (sim_ns)(1e3 *
	    model_dist_at(&s->params.icmp.latency_us, sim_rng_u01(&s->answer)));
	for (unsigned i = n_back; i-- > 0 && w->fate == TUN_ARRIVES;) {
		int rc = cross(s, &tuple, topo_link_reverse(path[i]), w, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
