/* models/fault/fault.c -- what fails, how badly, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fault/fault.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/dist.h"
#include "models/fault/draw.h"

static const char *const pick_names[] = {"class", "link", "matlab", NULL};
static const char *const law_names[] = {"constant", "exponential", "lognormal",
    "load", NULL};
static const char *const mode_names[] = {"down", "slow", "empty", "garbage",
    NULL};
const char *const fault_kind_names[] = {"drop", "latency", "black_hole_1",
    "black_hole_2", "host_off", "pod_off", "controller", "collector", "reroute",
    "narrow", "weights", "hash", "ecn", "mux_loop", "storm", "bgp_flap", NULL};
static const char *const turn_names[] = {"loop", "detour", NULL};
static const char *const hash_names[] = {"seed", "bits", NULL};

const struct sim_field fault_fields[] = {
    {"kind", SIM_F_ENUM, offsetof(struct fault_params, kind),
	.names = fault_kind_names, .def = "drop",
	.doc =
	    "links, or those of switches, lose packets or delay them; "
	    "switches always drop certain address pairs (1) or five-tuples "
	    "(2); hosts or pods are off; Pingmesh's services misbehave; "
	    "switches send packets wrong ways, use fewer next hops than "
	    "they have, or unevenly, or hash badly; links have queues that "
	    "come and go; hosts send back what a load balancer sent them, or "
	    "pause frames without end; BGP sessions of cables flap"},
    {"count", SIM_F_U32, offsetof(struct fault_params, count), .min = 0,
	.max = 1e6, .unit = "places", .def = "1",
	.doc = "links, hosts, pods or cables that fail, at random places; of "
	       "controller and collector, how many times"},
    {"classes", SIM_F_SET, offsetof(struct fault_params, classes),
	.names = topo_class_names, .def = "[tor-t1, t1-t2, t2-t1, t1-tor]",
	.doc = "classes of links that may fail"},
    {"pick", SIM_F_ENUM, offsetof(struct fault_params, pick),
	.names = pick_names, .def = "class",
	.doc = "draw a class and then a link of it, or any link alike, or as "
	       "007's released simulator"},
    {"same_switch", SIM_F_F64, offsetof(struct fault_params, same_switch),
	.min = 0, .max = 1, .unit = "1", .def = "0",
	.doc = "chance that a place is at the switch of the one before; with "
	       "pick matlab, of each further link at a switch, which counts "
	       "towards `count`"},
    {"switches", SIM_F_U32, offsetof(struct fault_params, switches), .min = 0,
	.max = 1e6, .unit = "switches", .def = "0",
	.doc = "switches that fail, at random, in place of links; for kinds "
	       "of switches alone 1 unless set, for hash all of `tiers`"},
    {"tiers", SIM_F_SET, offsetof(struct fault_params, tiers),
	.names = fault_tier_names, .def = "[tor, t1, t2]",
	.doc = "tiers of switches that may fail"},
    {"share", SIM_F_F64, offsetof(struct fault_params, share), .min = 0,
	.max = 1, .unit = "1", .def = "1",
	.doc = "share of a failed switch's links that fail"},
    {"rate", SIM_F_DIST, offsetof(struct fault_params, rate), .min = 0,
	.max = 1, .unit = "1", .def = "{uniform: [1e-4, 1e-2]}",
	.doc = "drop rate of a failed link", .when = "kind=drop"},
    {"entries", SIM_F_DIST, offsetof(struct fault_params, entries), .min = 0,
	.max = 1, .unit = "1", .def = "0.01",
	.doc = "share of keys whose entry is corrupt (black holes)"},
    {"delay", SIM_F_DIST, offsetof(struct fault_params, delay), .min = 1e-3,
	.max = 1e9, .unit = "us", .def = "{uniform: [500, 5000]}",
	.doc = "what a slow link adds to each packet's time, by `law`; what a "
	       "slow service adds to its answers",
	.when = "kind=latency|controller|collector"},
    {"law", SIM_F_ENUM, offsetof(struct fault_params, law), .names = law_names,
	.def = "constant",
	.doc = "`delay` is all of a packet's delay, its mean (exponential), "
	       "its median (lognormal), or the time that a queue with `load` "
	       "serves a packet in"},
    {"sigma", SIM_F_F64, offsetof(struct fault_params, sigma), .min = 0,
	.max = 5, .unit = "1", .def = "1",
	.doc = "standard deviation of a lognormal delay's logarithm",
	.when = "law=lognormal"},
    {"load", SIM_F_F64, offsetof(struct fault_params, load), .min = 0,
	.max = 0.999, .unit = "1", .def = "0.9",
	.doc = "share of time that the queue is busy: packets wait delay * "
	       "load / (1 - load) on average",
	.when = "law=load"},
    {"mode", SIM_F_ENUM, offsetof(struct fault_params, mode),
	.names = mode_names, .def = "down",
	.doc = "a service does not answer, answers late, has no document, or "
	       "sends what is none (the last two: controller)"},
    {"prefix", SIM_F_STR, offsetof(struct fault_params, prefix),
	.size = sizeof(((struct fault_params *)0)->prefix), .def = "",
	.doc = "destinations that a switch treats wrongly, such as "
	       "10.0.0.4/30; empty: all, or for reroute the hosts of a ToR "
	       "drawn for each switch",
	.when = "kind=reroute|narrow|weights"},
    {"flows", SIM_F_F64, offsetof(struct fault_params, flows), .min = 0,
	.max = 1, .unit = "1", .def = "1",
	.doc = "share of the five-tuples to these destinations that are "
	       "treated so",
	.when = "kind=reroute|narrow|weights"},
    {"turn", SIM_F_ENUM, offsetof(struct fault_params, turn),
	.names = turn_names, .def = "loop",
	.doc = "two switches send to each other, or packets go a way round",
	.when = "kind=reroute"},
    {"left", SIM_F_U32, offsetof(struct fault_params, left), .min = 1,
	.max = 1e6, .unit = "next hops", .def = "1",
	.doc = "next hops that are left", .when = "kind=narrow"},
    {"weight", SIM_F_F64, offsetof(struct fault_params, weight), .min = 1e-3,
	.max = 1e3, .unit = "1", .def = "4",
	.doc = "share of one next hop, at random, over that of each other",
	.when = "kind=weights"},
    {"hash", SIM_F_ENUM, offsetof(struct fault_params, hash),
	.names = hash_names, .def = "seed",
	.doc = "all switches of the group hash with one seed, or each looks "
	       "at a few `bits` of the five-tuple's digest",
	.when = "kind=hash"},
    {"bits", SIM_F_U32, offsetof(struct fault_params, bits), .min = 0,
	.max = 31, .unit = "bits", .def = "2",
	.doc = "bits of the digest that are left", .when = "hash=bits"},
    {"duty", SIM_F_F64, offsetof(struct fault_params, duty), .min = 0, .max = 1,
	.unit = "1", .def = "0.2",
	.doc = "share of episodes in which the link has a queue",
	.when = "kind=ecn"},
    {"depth", SIM_F_DIST, offsetof(struct fault_params, depth), .min = 0,
	.max = 1e6, .unit = "us", .def = "{uniform: [200, 800]}",
	.doc = "what the queue rises to and falls from in an episode, drawn "
	       "for each",
	.when = "kind=ecn"},
    {"episode", SIM_F_F64, offsetof(struct fault_params, episode_s),
	.min = 1e-6, .max = 1e6, .unit = "s", .def = "0.1",
	.doc = "length of an episode", .when = "kind=ecn"},
    {"mark", SIM_F_F64, offsetof(struct fault_params, mark_us), .min = 0,
	.max = 1e6, .unit = "us", .def = "100",
	.doc = "packets that wait longer are marked (ECN); 0 = none is",
	.when = "kind=ecn"},
    {"from", SIM_F_F64, offsetof(struct fault_params, from_s), .min = 0,
	.max = 1e9, .unit = "s", .def = "0", .doc = "when the fault begins"},
    {"to", SIM_F_F64, offsetof(struct fault_params, to_s), .min = 0, .max = 1e9,
	.unit = "s", .def = "0", .doc = "when it ends; 0 = never",
	.when = "lasts=0"},
    {"spread", SIM_F_F64, offsetof(struct fault_params, spread_s), .min = 0,
	.max = 1e9, .unit = "s", .def = "0",
	.doc = "each place begins later than `from` by a random time up to "
	       "this"},
    {"lasts", SIM_F_F64, offsetof(struct fault_params, lasts_s), .min = 0,
	.max = 1e9, .unit = "s", .def = "0",
	.doc = "each place ends this long after it began; 0 = at `to`"},
    {"again", SIM_F_U32, offsetof(struct fault_params, again), .min = 0,
	.max = 1e4, .unit = "times", .def = "0",
	.doc = "how often each comes back, with the same rate: it flaps",
	.when = "lasts!=0"},
    {"every", SIM_F_F64, offsetof(struct fault_params, every_s), .min = 0,
	.max = 1e9, .unit = "s", .def = "0",
	.doc = "from one beginning to the next", .when = "again!=0"},
    {0},
};

/* --- keys and kinds ------------------------------------------------------- */

/* Sets of kinds that are treated alike. */
enum {
	LINKS = FAULT_BIT(DROP) | FAULT_BIT(LATENCY) | FAULT_BIT(ECN),
	HOLES = FAULT_BIT(BLACK_HOLE_1) | FAULT_BIT(BLACK_HOLE_2),
	SERVICES = FAULT_SERVICE_KINDS,
	HOSTS = FAULT_BIT(HOST_OFF) | FAULT_BIT(MUX_LOOP) | FAULT_BIT(STORM),
	REROUTE = FAULT_BIT(REROUTE),
	SETS = FAULT_BIT(NARROW) | FAULT_BIT(WEIGHTS), /* of next hops */
	ROUTES = FAULT_ROUTE_KINDS,
	ALL = (1u << FAULT_N_KINDS) - 1,
};

/* For which kinds a key means anything: a spec that sets another is told so,
 * and not ignored silently. */
static const struct {
	const char *key;
	unsigned kinds;
} uses[] = {
    {"kind", ALL},
    {"count", ALL & ~HOLES & ~ROUTES},
    {"classes", LINKS},
    {"pick", LINKS},
    {"same_switch", LINKS},
    {"switches", LINKS | HOLES | ROUTES},
    {"tiers", LINKS | HOLES | ROUTES},
    {"share", LINKS},
    {"rate", FAULT_BIT(DROP) | FAULT_BIT(LATENCY)},
    {"entries", HOLES},
    {"delay", FAULT_BIT(DROP) | FAULT_BIT(LATENCY) | SERVICES},
    {"law", FAULT_BIT(LATENCY)},
    {"sigma", FAULT_BIT(LATENCY)},
    {"load", FAULT_BIT(LATENCY)},
    {"mode", SERVICES},
    {"prefix", REROUTE | SETS},
    {"flows", REROUTE | SETS},
    {"turn", REROUTE},
    {"left", FAULT_BIT(NARROW)},
    {"weight", FAULT_BIT(WEIGHTS)},
    {"hash", FAULT_BIT(HASH)},
    {"bits", FAULT_BIT(HASH)},
    {"duty", FAULT_BIT(ECN)},
    {"depth", FAULT_BIT(ECN)},
    {"episode", FAULT_BIT(ECN)},
    {"mark", FAULT_BIT(ECN)},
    {"from", ALL},
    {"to", ALL},
    {"spread", ALL},
    {"lasts", ALL},
    {"again", FAULT_BIT(DROP) | FAULT_BIT(LATENCY)},
    {"every", FAULT_BIT(DROP) | FAULT_BIT(LATENCY)},
    {"links", LINKS | REROUTE | FAULT_BIT(BGP_FLAP)},
    {"at", LINKS | HOLES | ROUTES | HOSTS},
    {"pods", FAULT_BIT(POD_OFF)},
};

int fault_uses(uint32_t kind, const char *key)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (strcmp(uses[i].key, key) == 0)
			/* Each set of kinds is a bit mask over enum
			 * fault_kind. */
			return uses[i].kinds >> kind & 1;
	return 0;
}

int fault_is_of_switches(uint32_t kind)
{
	return (HOLES | ROUTES) >> kind & 1;
}

int fault_is_of_hosts(uint32_t kind)
{
	return HOSTS >> kind & 1;
}

/* --- what all kinds share ------------------------------------------------- */

static sim_ns fault_ns_of(double seconds)
{
	return (sim_ns)(seconds * (double)SIM_SEC);
}

/* A random number is taken even when `spread` is 0, so that a spec that changes
 * it moves no other draw of the group. `lasts` wins over `to`. */
struct fault_span fault_span(struct fault_draw *d)
{
	const struct fault_params *g = d->group;
	const double late_s = sim_rng_u01(&d->outage) * g->spread_s;
	struct fault_span when = {fault_ns_of(g->from_s) + fault_ns_of(late_s),
	    SIM_NEVER};
	if (g->lasts_s > 0)
		when.to_ns = when.from_ns + fault_ns_of(g->lasts_s);
	else if (g->to_s > 0)
		when.to_ns = fault_ns_of(g->to_s);
	return when;
}

/* The spec's `delay` means what is natural for each law, the truth holds the
 * mean. A lognormal of median m and deviation sigma has the mean
 * m exp(sigma^2 / 2); in an M/M/1 queue with service time s and load rho
 * packets wait s rho / (1 - rho). */
static double mean_delay(const struct fault_params *g, double u)
{
	const double delay = dist_at(&g->delay, u);
	switch (g->law) {
	case TRUTH_LOGNORMAL:
		return delay * exp(g->sigma * g->sigma / 2);
	case TRUTH_LOAD:
		return delay * g->load / (1 - g->load);
	default:
		return delay;
	}
}

static int add_queue(struct fault_draw *d, topo_link link,
    const struct fault_span *when, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	struct burst b = {
	    .duty = g->duty,
	    .depth = g->depth,
	    .episode_ns = (sim_ns)(g->episode_s * (double)SIM_SEC + 0.5),
	    .mark_us = g->mark_us,
	    .name = {link, d->where->run, d->where->point},
	};
	sim_rng_key(b.key, d->where, SIM_STREAM_BURST);
	return truth_add_burst(d->truth, link, &b, when->from_ns, when->to_ns,
	    e);
}

/* Add F, and again each time that it comes back. */
static int add_times(struct fault_draw *d, struct truth_fault *f,
    struct sim_err *e)
{
	const struct fault_params *g = d->group;
	int rc = truth_add_fault(d->truth, f, e);
	for (uint32_t i = 0; rc == 0 && i < g->again; i++) {
		f->from_ns += fault_ns_of(g->every_s);
		f->to_ns += fault_ns_of(g->every_s);
		rc = truth_add_fault(d->truth, f, e);
	}
	return rc;
}

int fault_add(struct fault_draw *d, const struct sim_dist *range,
    topo_link link, double u, const struct fault_span *when, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	struct truth_fault f = {
	    .link = link,
	    .from_ns = when->from_ns,
	    .to_ns = when->to_ns,
	};
	if (g->kind == FAULT_ECN)
		return add_queue(d, link, when, e);
	if (g->kind == FAULT_LATENCY) {
		f.delay_us = mean_delay(g, u);
		f.law = g->law;
		/* The truth has one shape parameter, whose meaning depends on
		 * the law. */
		if (f.law == TRUTH_LOGNORMAL)
			f.shape = g->sigma;
		else if (f.law == TRUTH_LOAD)
			f.shape = g->load;
	} else {
		f.rate = dist_at(range, u);
	}
	return add_times(d, &f, e);
}

/* --- groups --------------------------------------------------------------- */

static int fault_check_times(const struct fault_params *g, struct sim_err *e)
{
	if (g->again > 0 && g->lasts_s == 0)
		return sim_fail(e, SIM_EINVAL,
		    "a fault comes back %u times (again), but does not end: it "
		    "needs `lasts`.",
		    g->again);
	if (g->again > 0 && g->every_s < g->lasts_s)
		return sim_fail(e, SIM_EINVAL,
		    "a fault lasts %g s, but comes back every %g s.",
		    g->lasts_s, g->every_s);
	if (g->to_s == 0 || g->lasts_s > 0)
		return 0;
	if (g->to_s < g->from_s)
		return sim_fail(e, SIM_EINVAL,
		    "a fault ends at %g s, before it begins at %g s.", g->to_s,
		    g->from_s);
	/* Otherwise the latest places would end before they begin. */
	if (g->to_s < g->from_s + g->spread_s)
		return sim_fail(e, SIM_EINVAL,
		    "a fault ends at %g s, but may begin as late as %g s (from "
		    "+ spread).",
		    g->to_s, g->from_s + g->spread_s);
	return 0;
}

static int draw_group(struct fault_draw *d, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	/* With named places (`at`), or with `switches` and no named links, the
	 * group is about switches; otherwise about links. */
	int rc = fault_check_times(g, e);
	if (rc < 0)
		return rc;
	switch ((enum fault_kind)g->kind) {
	case FAULT_BLACK_HOLE_1:
	case FAULT_BLACK_HOLE_2:
		return fault_draw_holes(d, e);
	case FAULT_REROUTE:
	case FAULT_NARROW:
	case FAULT_WEIGHTS:
	case FAULT_HASH:
		return fault_draw_routes(d, e);
	case FAULT_HOST_OFF:
	case FAULT_MUX_LOOP:
	case FAULT_STORM:
		return fault_draw_hosts(d, e);
	case FAULT_BGP_FLAP:
		return fault_draw_sessions(d, e);
	case FAULT_POD_OFF:
		return fault_draw_pods(d, e);
	case FAULT_CONTROLLER:
	case FAULT_COLLECTOR:
		return fault_draw_services(d, e);
	default:
		break;
	}
	if (g->n_at > 0 || (g->n_links == 0 && g->switches > 0))
		return fault_draw_switches(d, e);
	return fault_draw_links(d, e);
}

int fault_draw(const struct topo *t, const struct fault_params *group, size_t n,
    const struct sim_seed *where, struct truth *truth, struct sim_err *e)
{
	for (size_t i = 0; i < n; i++) {
		/* Every group has streams of its own, named by its number: a
		 * change in one group leaves the places and rates of the
		 * others. */
		const uint32_t id = (uint32_t)i;
		struct fault_draw d = {
		    .topo = t,
		    .group = &group[i],
		    .truth = truth,
		    .where = where,
		};
		sim_rng_init(&d.place, where, SIM_STREAM_FAULT_PLACE, id);
		sim_rng_init(&d.rate, where, SIM_STREAM_FAULT_RATE, id);
		sim_rng_init(&d.hole, where, SIM_STREAM_HOLE, id);
		sim_rng_init(&d.route, where, SIM_STREAM_ROUTE, id);
		sim_rng_init(&d.outage, where, SIM_STREAM_OUTAGE, id);
		int rc = draw_group(&d, e);
		if (rc < 0)
			return sim_wrap(e, rc, "fault group %zu", i);
	}
	/* Draws look at what earlier groups took, in the order of drawing;
	 * readers search by link, so the truth is sorted only now. */
	truth_sort(truth);
	return 0;
}
