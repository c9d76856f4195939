/* models/fault/route.c -- switches that choose next hops badly.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "models/fault/draw.h"
#include "sim/vec.h"
#include "topo/addr.h"
#include "topo/next.h"

/* --- destinations --------------------------------------------------------- */

/* Packets that a rule is about, and one host among their destinations, by which
 * ways are judged. */
struct aim {
	uint32_t first_ip, last_ip;
	topo_host host;
};

static int read_prefix(const struct topo *t, const char *text, struct aim *out,
    struct sim_err *e)
{
	uint32_t mask;
	if (topo_prefix_parse(text, &out->first_ip, &mask, NULL) < 0)
		return sim_fail(e, SIM_EINVAL,
		    "prefix \"%s\" is no address with bits in [0, 32] behind "
		    "it, such as 10.0.0.4/30.",
		    text);
	out->first_ip &= mask;
	out->last_ip = out->first_ip | ~mask;
	out->host = out->first_ip <= TOPO_ADDR_HOST_BASE
	    ? 0
	    : out->first_ip - TOPO_ADDR_HOST_BASE;
	if (out->host >= t->n_hosts ||
	    topo_addr_of_host(out->host) > out->last_ip)
		return sim_fail(e, SIM_EINVAL,
		    "prefix \"%s\" has no host of this network.", text);
	return 0;
}

/* The hosts of HOST's ToR whose numbers follow each other. */
static struct aim aim_at_tor(const struct topo *t, topo_host host)
{
	const topo_switch tor = topo_tor_of(t, host);
	topo_host first = host, last = host;
	while (first > 0 && topo_tor_of(t, first - 1) == tor)
		first--;
	while (last + 1 < t->n_hosts && topo_tor_of(t, last + 1) == tor)
		last++;
	return (struct aim){topo_addr_of_host(first), topo_addr_of_host(last),
	    first};
}

/* --- rules ---------------------------------------------------------------- */

static int add_rule(struct fault_draw *d, topo_switch at, const struct aim *aim,
    struct route_rule rule, const struct fault_span *when, struct sim_err *e)
{
	const uint64_t high = sim_rng_u32(&d->route);
	const uint64_t salt = high << 32 | sim_rng_u32(&d->route);
	struct truth_route r = {at, rule, when->from_ns, when->to_ns};
	int rc = blackhole_rule_init(&r.rule.flows, BLACKHOLE_RULE_TUPLE,
	    d->group->flows, salt, e);
	r.rule.first_ip = aim->first_ip;
	r.rule.last_ip = aim->last_ip;
	return rc < 0 ? rc : truth_add_route(d->truth, &r, e);
}

/* The link is where packets go that should not, or go too often: it is named,
 * though it does nothing wrong. */
static int fault_route_mark(struct fault_draw *d, topo_switch at, topo_link l,
    const struct fault_span *when, struct sim_err *e)
{
	const struct truth_fault f = {
	    .link = l,
	    .from_ns = when->from_ns,
	    .to_ns = when->to_ns,
	    .of_route = 1,
	};
	int rc = truth_add_fault(d->truth, &f, e);
	return rc < 0 ? rc : truth_add_part(d->truth, l, at, e);
}

static int add_wrong_link(struct fault_draw *d, topo_link l,
    const struct aim *aim, const struct fault_span *when, struct sim_err *e)
{
	const struct route_rule rule = {.kind = ROUTE_RULE_LINK, .link = l};
	topo_node from, to;
	topo_link_ends(d->topo, l, &from, &to);
	const topo_switch at = from - d->topo->n_hosts;
	int rc = add_rule(d, at, aim, rule, when, e);
	return rc < 0 ? rc : fault_route_mark(d, at, l, when, e);
}

/* --- reroute -------------------------------------------------------------- */

static topo_switch link_end(const struct topo *t, topo_link l)
{
	topo_node from, to;
	topo_link_ends(t, l, &from, &to);
	return to - t->n_hosts;
}

/* The links between switches out of AT, into OUT; returns how many. Shape
 * out[n_switches]. */
static uint32_t list_links(const struct topo *t, topo_switch at,
    topo_link out[])
{
	uint32_t n = 0;
	for (topo_link l = 2 * t->n_hosts; l < t->n_links; l++) {
		topo_node from, to;
		topo_link_ends(t, l, &from, &to);
		if (from == t->n_hosts + at)
			out[n++] = l;
	}
	return n;
}

/* Room for searches. */
struct routes {
	topo_link *out, *on; /* [n_switches] */
	topo_switch *queue;  /* [n_switches] */
	uint8_t *seen;       /* [n_switches] */
};

static int routes_open(struct routes *w, uint32_t n, struct sim_err *e)
{
	int rc;
	*w = (struct routes){0};
	if ((rc = SIM_ZALLOC(&w->out, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->on, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->queue, n, e)) < 0)
		return rc;
	return SIM_ZALLOC(&w->seen, n, e);
}

static void routes_close(struct routes *w)
{
	free(w->out);
	free(w->on);
	free(w->queue);
	free(w->seen);
}

/* Whether a healthy network may bring a packet for DST from S by A or B. */
static int comes_by(const struct topo *t, struct routes *w, topo_switch s,
    topo_host dst, topo_switch a, topo_switch b)
{
	const topo_switch end = topo_tor_of(t, dst);
	uint32_t n = 0;
	memset(w->seen, 0, t->n_switches);
	w->seen[s] = 1;
	w->queue[n++] = s;
	for (uint32_t i = 0; i < n; i++) {
		const topo_switch at = w->queue[i];
		if (at == a || at == b)
			return 1;
		if (at == end)
			continue;
		const struct topo_next_set next = topo_next_set(t, at, dst);
		for (uint32_t k = 0; k < next.n; k++) {
			const topo_switch to =
			    link_end(t, topo_next_of(t, &next, k));
			if (!w->seen[to]) {
				w->seen[to] = 1;
				w->queue[n++] = to;
			}
		}
	}
	return 0;
}

/* Step i of a shuffle of N: the first i + 1 are drawn then. */
static topo_link next_of(topo_link list[], uint32_t i, uint32_t n,
    struct sim_rng *r)
{
	const uint32_t j = i + sim_rng_below(r, n - i);
	const topo_link l = list[j];
	list[j] = list[i];
	list[i] = l;
	return l;
}

/* Two links that send packets for DST from A round: to a neighbour, where they
 * should not go, and on to a switch from which they go the rest unharmed. 0 if
 * A has none. */
static int find_detour(struct fault_draw *d, struct routes *w, topo_switch a,
    topo_host dst, topo_link pair[2])
{
	const struct topo *t = d->topo;
	const uint32_t n = list_links(t, a, w->out);
	for (uint32_t i = 0; i < n; i++) {
		pair[0] = next_of(w->out, i, n, &d->route);
		const topo_switch b = link_end(t, pair[0]);
		if (topo_is_next(t, pair[0], dst) || b == topo_tor_of(t, dst))
			continue;
		const uint32_t m = list_links(t, b, w->on);
		for (uint32_t k = 0; k < m; k++) {
			pair[1] = next_of(w->on, k, m, &d->route);
			if (!comes_by(t, w, link_end(t, pair[1]), dst, a, b))
				return 1;
		}
	}
	return 0;
}

/* A link to a neighbour, and the way back. Those to neighbours that are no next
 * hops come first. */
static int find_loop(struct fault_draw *d, struct routes *w, topo_switch a,
    topo_host dst, topo_link pair[2])
{
	const struct topo *t = d->topo;
	const uint32_t n = list_links(t, a, w->out);
	pair[0] = TOPO_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const topo_link l = next_of(w->out, i, n, &d->route);
		if (link_end(t, l) == topo_tor_of(t, dst))
			continue;
		if (pair[0] == TOPO_NONE || !topo_is_next(t, l, dst))
			pair[0] = l;
		if (!topo_is_next(t, l, dst))
			break;
	}
	if (pair[0] == TOPO_NONE)
		return 0;
	pair[1] = topo_link_reverse(pair[0]);
	return 1;
}

/* How often a destination is drawn for a switch before it has no turn. */
enum { ROUTE_TRIES = 64 };

/* Give A a turn, for GIVEN or, if that is NULL, for a ToR other than itself.
 * 1: it has one. */
static int turn_at(struct fault_draw *d, struct routes *w, topo_switch a,
    const struct aim *given, struct sim_err *e)
{
	const struct topo *t = d->topo;
	topo_link pair[2];
	for (unsigned i = 0; i < ROUTE_TRIES; i++) {
		const topo_host drawn = sim_rng_below(&d->route, t->n_hosts);
		const struct aim aim = given ? *given : aim_at_tor(t, drawn);
		int rc;
		if (topo_tor_of(t, aim.host) == a ||
		    !(d->group->turn == FAULT_TURN_DETOUR
			    ? find_detour(d, w, a, aim.host, pair)
			    : find_loop(d, w, a, aim.host, pair)))
			continue;
		const struct fault_span when = fault_span(d);
		if ((rc = add_wrong_link(d, pair[0], &aim, &when, e)) < 0 ||
		    (rc = add_wrong_link(d, pair[1], &aim, &when, e)) < 0)
			return rc;
		return 1;
	}
	return 0;
}

/* Switches that can have no such turn are passed over, if they are not named. */
static int draw_turns(struct fault_draw *d, struct fault_switches *s,
    const struct aim *given, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const uint32_t n = g->n_at > 0 ? s->n : g->switches;
	struct routes w;
	char name[64] = "";
	int rc = routes_open(&w, d->topo->n_switches, e);
	for (uint32_t i = 0; rc >= 0 && i < n;) {
		if (s->n_taken == s->n || (g->n_at > 0 && i < s->n_taken)) {
			rc = sim_fail(e, SIM_EUNSUPPORTED,
			    "%u switches are to have a %s, but there are "
			    "%u%s%s.",
			    n, g->turn == FAULT_TURN_DETOUR ? "detour" : "loop",
			    i, *name ? ": none is possible at " : "", name);
			break;
		}
		const topo_switch at = fault_switches_next(s, g, &d->place);
		if (g->n_at > 0)
			topo_node_name(d->topo, d->topo->n_hosts + at, name);
		if ((rc = turn_at(d, &w, at, given, e)) > 0)
			i++;
	}
	routes_close(&w);
	return rc < 0 ? rc : 0;
}

/* Links that are named have one destination in common, so that two of them may
 * make a loop: of the ToRs that none of them leads to or from, if there is
 * one. */
static struct aim aim_of_links(struct fault_draw *d)
{
	const struct fault_params *g = d->group;
	const struct topo *t = d->topo;
	topo_host host = 0;
	for (unsigned tries = 0; tries < ROUTE_TRIES; tries++) {
		int clear = 1;
		host = sim_rng_below(&d->route, t->n_hosts);
		for (size_t i = 0; i < g->n_links; i++) {
			const topo_node tor = t->n_hosts + topo_tor_of(t, host);
			topo_node from, to;
			topo_link_ends(t, g->links[i], &from, &to);
			clear &= from != tor && to != tor;
		}
		if (clear)
			break;
	}
	return aim_at_tor(t, host);
}

static int draw_named_links(struct fault_draw *d, const struct aim *given,
    struct sim_err *e)
{
	const struct fault_params *g = d->group;
	int rc = 0;
	for (size_t i = 0; i < g->n_links; i++)
		if (g->links[i] < 2 * d->topo->n_hosts ||
		    g->links[i] >= d->topo->n_links)
			return sim_fail(e, SIM_EINVAL,
			    "link %u is not between switches: routes that are "
			    "wrong lead from one to another.",
			    g->links[i]);
	const struct aim aim = given ? *given : aim_of_links(d);
	for (size_t i = 0; rc == 0 && i < g->n_links; i++) {
		const struct fault_span when = fault_span(d);
		rc = add_wrong_link(d, g->links[i], &aim, &when, e);
	}
	return rc;
}

/* --- fewer next hops, weights, hashes ------------------------------------- */

/* Whether S may choose L among others: for a host of AIM or, if that is NULL,
 * for some host. In a Clos hosts differ to a switch by their pods, and in its
 * own one by whether they are under it. */
static int is_choice(const struct topo *t, topo_switch s, topo_link l,
    const struct aim *aim)
{
	const uint32_t step =
	    topo_is_clos(t) ? t->clos.n_tors * t->clos.n_hosts : 1;
	const topo_host last = t->n_hosts - 1;
	if (aim)
		return topo_is_next(t, l, aim->host) &&
		    topo_n_next(t, s, aim->host) > 1;
	for (topo_host h = 0; h < t->n_hosts; h += step)
		if (topo_is_next(t, l, h) && topo_n_next(t, s, h) > 1)
			return 1;
	return topo_is_next(t, l, last) && topo_n_next(t, s, last) > 1;
}

static int add_bad_choice(struct fault_draw *d, topo_switch s,
    const struct aim *given, uint32_t seed, topo_link out[], struct sim_err *e)
{
	static const struct aim all = {0, UINT32_MAX, 0};
	const struct fault_params *g = d->group;
	const struct fault_span when = fault_span(d);
	struct route_rule rule = {
	    .salt = sim_rng_u32(&d->route),
	    .n_left = g->left,
	    .weight = g->weight,
	    .bits = g->bits,
	};
	rule.kind = g->kind == FAULT_NARROW ? ROUTE_RULE_NARROW
	    : g->kind == FAULT_WEIGHTS      ? ROUTE_RULE_WEIGHTS
	    : g->hash == FAULT_HASH_SEED    ? ROUTE_RULE_SEED
					    : ROUTE_RULE_BITS;
	if (rule.kind == ROUTE_RULE_SEED)
		rule.salt = seed;
	int rc = add_rule(d, s, given ? given : &all, rule, &when, e);
	const uint32_t n = list_links(d->topo, s, out);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		if (is_choice(d->topo, s, out[i], given))
			rc = fault_route_mark(d, s, out[i], &when, e);
	return rc;
}

static int draw_choices(struct fault_draw *d, struct fault_switches *s,
    const struct aim *given, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const uint32_t seed = sim_rng_u32(&d->route);
	const int all = g->kind == FAULT_HASH && g->switches == 0;
	const uint32_t n = g->n_at > 0 || all ? s->n : g->switches;
	topo_link *out = NULL;
	int rc = SIM_ZALLOC(&out, d->topo->n_switches, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = add_bad_choice(d, fault_switches_next(s, g, &d->place),
		    given, seed, out, e);
	free(out);
	return rc;
}

int fault_draw_routes(struct fault_draw *d, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	struct fault_switches s;
	struct aim prefix = {0};
	const struct aim *given = *g->prefix ? &prefix : NULL;
	int rc = given ? read_prefix(d->topo, g->prefix, &prefix, e) : 0;
	if (rc < 0)
		return rc;
	if (g->n_links > 0)
		return draw_named_links(d, given, e);
	if ((rc = fault_switches_open(&s, d, e)) == 0)
		rc = g->kind == FAULT_REROUTE ? draw_turns(d, &s, given, e)
					      : draw_choices(d, &s, given, e);
	fault_switches_free(&s);
	return rc;
}
