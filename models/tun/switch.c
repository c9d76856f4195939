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

/* Flows are told apart by a digest of their five-tuple, without a table that
 * grows. Two that share a slot may hold each other up for as long as one packet
 * overtakes another; with so many slots that is rare. */
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
	fabric_sim_icmp_free(&s->icmp);
	free(s->offered);
	free(s->lost);
	free(s->drop);
	free(s->there);
	*s = (struct tun_switch){.topo = NULL};
}

/* Three independent streams: losses, delays of slow links, and the time that
 * answers take. So switching one kind of fault on leaves the draws of the
 * others as they were. */
int tun_switch_begin(struct tun_switch *s, const struct scene *scene,
    sim_ns epoch_ns, struct sim_err *e)
{
	const size_t n = s->topo->n_links;
	int rc = fabric_sim_icmp_begin(&s->icmp, &s->params.icmp,
	    s->topo->n_switches, epoch_ns, e);
	if (rc < 0)
		return rc;
	s->net = (struct scene_walk_net){.topo = s->topo, .scene = scene};
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

/* Spoofed sources are refused: the packet's path, and the account of its loss,
 * go by its addresses. */
enum tun_refusal tun_switch_admit(const struct tun_switch *s,
    const struct tun_packet *p, topo_host src, topo_host *dst)
{
	if (p->tuple.src_ip != topo_addr_of_host(src))
		return TUN_SOURCE;
	*dst = topo_addr_to_host(p->tuple.dst_ip, s->topo->n_hosts);
	return *dst == TOPO_NONE || *dst == src ? TUN_NOWHERE : TUN_FINE;
}

static unsigned tun_switch_path_of(const struct tun_switch *s,
    const struct tun_packet *p, topo_link path[])
{
	const uint32_t n_hosts = s->topo->n_hosts;
	return scene_walk_path(&s->net, &p->tuple,
	    topo_addr_to_host(p->tuple.src_ip, n_hosts),
	    topo_addr_to_host(p->tuple.dst_ip, n_hosts), 0, path);
}

/* --- one link ------------------------------------------------------------- */

/* A lost packet is counted in any case, and listed one by one while there is
 * room; a result whose list is not whole is refused later. */
static int add_drop(struct tun_switch *s, const struct scene_walk *k,
    struct sim_err *e)
{
	const struct scene_walk_hop at = scene_walk_hop(k);
	s->lost[at.link]++;
	if (s->n_drops >= s->params.max_drops) {
		s->n_unlisted++;
		return 0;
	}
	int rc = SIM_RESERVE(&s->drop, &s->cap_drops, s->n_drops + 1, e);
	if (rc == 0)
		s->drop[s->n_drops++] = (struct tun_drop){
		    .tuple = *k->tuple,
		    .link = at.link,
		    .at = at.t,
		    .in_hole = k->fate == SCENE_WALK_SWALLOWED,
		    .ttl = k->ttl,
		};
	return rc;
}

/* A fixed time for the cable and an exponential one for the queue, by inversion
 * of U; half a step is added, since the logarithm of 0 would be an endless
 * queue. */
static double own_us(const struct tun_switch *s, uint32_t u)
{
	return s->params.queue_us > 0
	    ? s->params.hop_us - s->params.queue_us * log((u + 0.5) * 0x1p-32)
	    : s->params.hop_us;
}

/* The packet comes to the next link. Its draws are numbered by how many packets
 * that link was offered before, so they hang neither on other links nor on the
 * timing of this machine (Philox with the count as the counter). */
static void tun_switch_cross(struct tun_switch *s, struct scene_walk *k)
{
	const struct sim_seed *where = &s->net.scene->where;
	const topo_link l = k->path[k->n_met];
	const uint32_t ctr[4] = {(uint32_t)s->offered[l]++, l, where->run,
	    where->point};
	uint32_t word[4];
	sim_philox_block(s->key, ctr, word);
	const double u =
	    (double)((uint64_t)word[0] << 21 | word[1] >> 11) * 0x1p-53;
	/* Hazards add up along the path in the simulator, which draws once a
	 * path; here each link draws by itself. */
	k->hazard = 0;
	scene_walk_meet(k);
	if (scene_walk_is_lost(u, k->hazard)) {
		k->fate = SCENE_WALK_LOST;
		return;
	}
	scene_walk_cross(k, own_us(s, word[2]), &s->slow);
	scene_walk_enter(k);
}

/* --- packets -------------------------------------------------------------- */

/* Let the packet of K meet links until it is lost, has died or has arrived; W
 * says what came of it. */
static int follow(struct tun_switch *s, struct scene_walk *k, struct tun_way *w,
    struct sim_err *e)
{
	static const enum tun_fate fates[] = {
	    [SCENE_WALK_DELIVERED] = TUN_ARRIVES,
	    [SCENE_WALK_LOST] = TUN_LOST,
	    [SCENE_WALK_SWALLOWED] = TUN_LOST,
	    [SCENE_WALK_EXPIRED] = TUN_EXPIRES,
	};
	while (k->fate == SCENE_WALK_UNDER_WAY)
		tun_switch_cross(s, k);
	*w = (struct tun_way){
	    .fate = fates[k->fate],
	    .n_links = k->n_met,
	    .last = k->path[k->n_met - 1],
	    .at = k->t,
	};
	return w->fate == TUN_LOST ? add_drop(s, k, e) : 0;
}

/* A queue does not let a packet overtake one of its own flow. Where delays are
 * drawn for each packet by itself it could, and TCP would take the gap for a
 * loss; so a packet arrives at the earliest along with the one before it. */
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
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = tun_switch_path_of(s, p, path);
	struct scene_walk k =
	    scene_walk_begin(&s->net, &p->tuple, path, n, p->ttl, now);
	int rc = follow(s, &k, w, e);
	if (w->fate == TUN_ARRIVES && s->params.in_order)
		keep_order(s, &p->tuple, w);
	return rc;
}

int tun_switch_answer(struct tun_switch *s, const struct tun_packet *p,
    sim_ns now, struct tun_way *w, uint32_t *from, struct sim_err *e)
{
	topo_link path[TOPO_MAX_HOPS], back[TOPO_MAX_HOPS];
	const unsigned n = tun_switch_path_of(s, p, path);
	/* A packet dies at the switch that takes its TTL to 0. One that was
	 * sent with 0 cannot be passed on either and ends at the first
	 * switch. */
	const unsigned n_back = p->ttl > 1 ? p->ttl : 1;
	assert(n_back < n);
	(void)n;
	const topo_switch at = scene_walk_switch(&s->net, path[n_back - 1]);
	*w = (struct tun_way){.fate = TUN_ARRIVES, .at = now};
	/* The address of the interface that the packet came in by names the
	 * link, the address of the switch only the switch. */
	*from = s->params.icmp.source == FABRIC_SIM_ICMP_INGRESS
	    ? topo_addr_of_link(path[n_back - 1])
	    : topo_addr_of_switch(at);
	/* RFC 1122 3.2.2: no ICMP error is ever answered by another. */
	if (p->is_error || !fabric_sim_icmp_answer(&s->icmp, at, now)) {
		w->fate = TUN_SUPPRESSED;
		return 0;
	}
	const struct topo_tuple tuple = {.src_ip = *from,
	    .dst_ip = p->tuple.src_ip,
	    .proto = TUN_PROTO_ICMP};
	/* The answer goes back by the links that the packet came over, each in
	 * its other direction, with losses and delays of those. */
	for (unsigned i = 0; i < n_back; i++)
		back[i] = topo_link_reverse(path[n_back - 1 - i]);
	struct scene_walk k =
	    scene_walk_begin(&s->net, &tuple, back, n_back, SCENE_WALK_MAX_TTL,
		now +
		    (sim_ns)(1e3 *
			dist_at(&s->params.icmp.latency_us,
			    sim_rng_u01(&s->answer))));
	return follow(s, &k, w, e);
}
