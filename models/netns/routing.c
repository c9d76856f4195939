/* models/netns/routing.c -- kernels that choose next hops badly.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A kernel's table goes by destinations and its next hops have whole weights,
 * so rules become a route to each host that they change something for. It is
 * longer than those of the table and wins while it is there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/netns/faults_impl.h"
#include "sim/vec.h"
#include "topo/addr.h"
#include "topo/next.h"

enum {
	MAX_WEIGHT = 256, /* of a next hop, in the kernel */
	MAX_BITS = 8,     /* so many sorts of flows that weights can tell */
	MAX_SHARES = 1024 /* next hops that a message of the kernel's holds */
};

/* --- what can be had ------------------------------------------------------ */

static int takes_host(const struct truth_route *r, topo_host h)
{
	const uint32_t ip = topo_addr_of_host(h);
	return ip >= r->rule.first_ip && ip <= r->rule.last_ip;
}

static int routing_refuse(const struct truth_route *r, struct sim_err *e,
    const char *what)
{
	return sim_fail(e, SIM_EUNSUPPORTED, "Switch %u is to %s.", r->at,
	    what);
}

/* What a host's own ToR sent elsewhere would come back to it at once. */
static int check_link(const struct netns_faults *f, const struct truth_route *r,
    struct sim_err *e)
{
	for (topo_host h = 0; h < f->t->n_hosts; h++)
		if (takes_host(r, h) && topo_tor_of(f->t, h) == r->at)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "Switch %u is to send packets for host%u, its own, "
			    "elsewhere; a kernel cannot.",
			    r->at, h);
	return 0;
}

static int check_route(const struct netns_faults *f,
    const struct truth_route *r, struct sim_err *e)
{
	const struct topo *t = f->t;
	const struct route_rule *rule = &r->rule;
	if (r->at >= t->n_switches)
		return sim_fail(e, SIM_ERANGE,
		    "A route is of switch %u, but the network has switches 0 "
		    "to %u.",
		    r->at, t->n_switches - 1);
	if (rule->flows.below < UINT64_C(1) << 32)
		return routing_refuse(r, e,
		    "choose next hops by a rule for a share of the flows; a "
		    "kernel has rules for all flows to a host");
	switch (rule->kind) {
	case ROUTE_RULE_LINK:
		return check_link(f, r, e);
	case ROUTE_RULE_SEED:
		if (takes_host(r, 0) && takes_host(r, t->n_hosts - 1))
			return 0;
		return routing_refuse(r, e,
		    "hash with another seed for some hosts; a kernel has one "
		    "seed for all");
	case ROUTE_RULE_BITS:
		if (rule->bits <= MAX_BITS)
			return 0;
		return routing_refuse(r, e,
		    "look at more than 8 bits of hashes; a kernel's next hops "
		    "have weights up to 256");
	case ROUTE_RULE_WEIGHTS:
		if (rule->weight <= MAX_WEIGHT &&
		    rule->weight * MAX_WEIGHT >= 1)
			return 0;
		return routing_refuse(r, e,
		    "prefer a next hop by a weight that is not in [1/256, "
		    "256]; a kernel cannot");
	default:
		return 0;
	}
}

int netns_routing_check(const struct netns_faults *f, const struct truth *truth,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < truth->n_routes; i++)
		rc = check_route(f, &truth->route[i], e);
	return rc;
}

/* --- from a choice to weights --------------------------------------------- */

/* The whole numbers up to 256 whose ratio is nearest to W. */
static void ratio_of(double w, uint32_t *favourite, uint32_t *other)
{
	double least = HUGE_VAL;
	for (uint32_t b = 1; b <= MAX_WEIGHT; b++) {
		const double a = fmax(1, round(w * b));
		const double off = fabs(log(a / b / w));
		if (a > MAX_WEIGHT || off >= least)
			continue;
		least = off;
		*favourite = (uint32_t)a;
		*other = b;
	}
}

/* How many parts each of c->of next hops gets: of all sorts of flows that BITS
 * bits tell apart, those that come to it. BITS < 0: any number of sorts. */
static void parts_of(struct route_choice *c, int bits, uint32_t part[])
{
	uint32_t favourite = 1, other = 1;
	memset(part, 0, c->of * sizeof(part[0]));
	if (c->link != TOPO_NONE)
		return;
	for (uint32_t d = 0; bits >= 0 && d < UINT32_C(1) << bits; d++) {
		c->digest = d;
		part[route_choice_pick(c)]++;
	}
	if (bits >= 0)
		return;
	ratio_of(c->weight, &favourite, &other);
	for (uint32_t i = 0; i < c->n; i++)
		part[(c->first + i) % c->of] =
		    i == c->favourite % c->n ? favourite : other;
}

/* Where more than one counts, the last does, as in the choice. */
static int bits_of(const struct truth *truth, topo_switch s, topo_host h,
    sim_ns now)
{
	int bits = -1;
	for (size_t i = 0; i < truth->n_routes; i++) {
		const struct truth_route *r = &truth->route[i];
		if (r->at == s && r->from_ns <= now && now < r->to_ns &&
		    r->rule.kind == ROUTE_RULE_BITS && takes_host(r, h))
			bits = (int)r->rule.bits;
	}
	return bits;
}

/* --- the kernel's tables -------------------------------------------------- */

static int put_steer(struct netns_faults *f, topo_switch s, topo_host h,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&f->steer, &f->cap_steers, f->n_steers + 1, e);
	if (rc == 0)
		f->steer[f->n_steers++] = (struct netns_faults_steer){s, h};
	return rc;
}

static int routing_put_shares(struct netns_faults *f, topo_switch s,
    topo_host h, const struct route_choice *c, const uint32_t part[],
    struct sim_err *e)
{
	struct netns_share share[MAX_SHARES];
	uint32_t n = 0;
	if (c->link != TOPO_NONE)
		share[n++] = (struct netns_share){c->link, 1};
	for (uint32_t i = 0; i < c->of && c->link == TOPO_NONE; i++)
		if (part[i] > 0)
			share[n++] =
			    (struct netns_share){topo_next(f->t, s, h, i),
				part[i]};
	/* It is on the list only when it is there to be taken away; but room
	 * for it is made before. */
	int rc = put_steer(f, s, h, e);
	if (rc == 0 && (rc = netns_spread(f->net, s, h, share, n, e)) < 0)
		f->n_steers--;
	return rc;
}

static int spread_host(struct netns_faults *f, const struct truth *truth,
    topo_switch s, topo_host h, sim_ns now, struct sim_err *e)
{
	const struct topo_tuple to = {.dst_ip = topo_addr_of_host(h)};
	const uint32_t n = topo_n_next(f->t, s, h);
	const uint32_t seed = netns_seed(f->net, s);
	uint32_t part[MAX_SHARES];
	struct route_choice c = route_choice(seed, 0, n);
	if (n > MAX_SHARES)
		return sim_fail(e, SIM_ELIMIT,
		    "Switch %u has %u next hops; a route holds up to %d.", s, n,
		    MAX_SHARES);
	truth_choose(truth, s, &to, now, &c);
	const int bits = bits_of(truth, s, h, now);
	const int same =
	    bits < 0 && c.n == n && !(c.weight < 1) && !(c.weight > 1);
	if (c.link == TOPO_NONE && (n < 2 || same))
		return 0;
	parts_of(&c, bits, part);
	return routing_put_shares(f, s, h, &c, part, e);
}

static int seed_switch(struct netns_faults *f, const struct truth *truth,
    topo_switch s, sim_ns now, struct sim_err *e)
{
	const struct topo_tuple any = {.dst_ip = topo_addr_of_host(0)};
	const uint32_t seed = netns_seed(f->net, s);
	struct route_choice c = route_choice(seed, 0, 1);
	truth_choose(truth, s, &any, now, &c);
	if (c.seed == seed)
		return 0;
	const int rc = put_steer(f, s, TOPO_NONE, e);
	return rc < 0 ? rc : netns_reseed(f->net, s, c.seed, e);
}

int netns_routing_undo(struct netns_faults *f, struct sim_err *e)
{
	int rc = 0;
	while (rc == 0 && f->n_steers > 0) {
		const struct netns_faults_steer *s = &f->steer[--f->n_steers];
		rc = s->host == TOPO_NONE
		    ? netns_reseed(f->net, s->at, netns_seed(f->net, s->at), e)
		    : netns_spread(f->net, s->at, s->host, NULL, 0, e);
	}
	return rc;
}

/* Routes that go on to hold are taken away and put back at once: a packet of
 * that moment goes right. The truth is sorted by switch. */
int netns_routing_apply(struct netns_faults *f, const struct truth *truth,
    sim_ns now, struct sim_err *e)
{
	int rc = netns_routing_undo(f, e);
	for (size_t i = 0; rc == 0 && i < truth->n_routes; i++) {
		const topo_switch s = truth->route[i].at;
		if (i > 0 && truth->route[i - 1].at == s)
			continue;
		rc = seed_switch(f, truth, s, now, e);
		for (topo_host h = 0; rc == 0 && h < f->t->n_hosts; h++)
			rc = spread_host(f, truth, s, h, now, e);
	}
	return rc;
}
