/* topo/clos.c -- the parametric three-tier Clos, by arithmetic alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/clos.h"

#include <assert.h>
#include <inttypes.h>

#include "topo/addr.h"
#include "topo/route.h"

#define FIELD(member, default_, lo, hi, unit_, doc_)                           \
	{                                                                      \
		.name = #member, .type = SIM_F_U32,                            \
		.offset = offsetof(struct topo_clos, member), .min = (lo),     \
		.max = (hi), .unit = (unit_), .def = (default_), .doc = (doc_) \
	}

/* 007's simulation (section 6) by default: 4160 directed links. */
const struct sim_field topo_clos_fields[] = {
    FIELD(n_pods, "2", 1, TOPO_ADDR_MAX_SWITCHES, "pods", "pods"),
    FIELD(n_tors, "20", 1, TOPO_ADDR_MAX_SWITCHES, "switches",
	"ToR switches in each pod"),
    FIELD(n_t1, "8", 0, TOPO_ADDR_MAX_SWITCHES, "switches",
	"tier-1 switches in each pod; 0 only with one ToR in all"),
    FIELD(n_t2, "10", 0, TOPO_ADDR_MAX_SWITCHES, "switches",
	"tier-2 switches in all; 0 only with one pod"),
    FIELD(n_hosts, "40", 1, TOPO_ADDR_MAX_HOSTS, "hosts",
	"hosts under each ToR"),
    {0},
};

#define MAX_CABLES (UINT64_C(1) << 30) /* 2^31 directed links */

/* Products and sums that stop at the largest value instead of wrapping, so that
 * a shape of any five 32-bit numbers is found too large and none is taken for a
 * small one. */
static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t x;
	return __builtin_mul_overflow(a, b, &x) ? UINT64_MAX : x;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t x;
	return __builtin_add_overflow(a, b, &x) ? UINT64_MAX : x;
}

/* Every ToR must reach every other. Switches that nothing hangs on are refused
 * too, as they can only be a slip. */
static int check_connected(const struct topo_clos *c, struct sim_err *e)
{
	if (c->n_pods == 0 || c->n_tors == 0 || c->n_hosts == 0)
		return sim_fail(e, SIM_EINVAL,
		    "n_pods %u, n_tors %u and n_hosts %u must each be at least "
		    "1.",
		    c->n_pods, c->n_tors, c->n_hosts);
	if (c->n_t1 == 0 && (c->n_pods > 1 || c->n_tors > 1))
		return sim_fail(e, SIM_EINVAL,
		    "n_t1 0 leaves the ToRs unconnected: it must be at least 1 "
		    "unless there is one ToR in all.");
	if (c->n_t2 == 0 && c->n_pods > 1)
		return sim_fail(e, SIM_EINVAL,
		    "n_t2 0 leaves the %u pods unconnected: it must be at "
		    "least 1 unless there is one pod.",
		    c->n_pods);
	if (c->n_t1 == 0 && c->n_t2 > 0)
		return sim_fail(e, SIM_EINVAL,
		    "n_t2 %u with n_t1 0 leaves the tier-2 switches "
		    "unconnected: set n_t2 to 0.",
		    c->n_t2);
	return 0;
}

int topo_clos_init(struct topo_clos *c, struct sim_err *e)
{
	int rc = check_connected(c, e);
	if (rc < 0)
		return rc;
	/* Sizes are computed in 64 bits and judged before they are stored in
	 * 32. */
	uint64_t tors = times(c->n_pods, c->n_tors);
	uint64_t t1 = times(c->n_pods, c->n_t1);
	uint64_t hosts = times(tors, c->n_hosts);
	uint64_t tor_t1 = times(tors, c->n_t1), t1_t2 = times(t1, c->n_t2);
	uint64_t switches = plus(plus(tors, t1), c->n_t2);
	uint64_t cables = plus(plus(hosts, tor_t1), t1_t2);
	if (hosts > TOPO_ADDR_MAX_HOSTS)
		return sim_fail(e, SIM_ELIMIT,
		    "n_pods %u x n_tors %u x n_hosts %u are more than the "
		    "limit of %u hosts.",
		    c->n_pods, c->n_tors, c->n_hosts, TOPO_ADDR_MAX_HOSTS);
	if (switches > TOPO_ADDR_MAX_SWITCHES)
		return sim_fail(e, SIM_ELIMIT,
		    "%" PRIu64 " ToRs, %" PRIu64
		    " T1s and %u T2s are more than the limit of %u switches.",
		    tors, t1, c->n_t2, TOPO_ADDR_MAX_SWITCHES);
	if (cables > MAX_CABLES)
		return sim_fail(e, SIM_ELIMIT,
		    "%" PRIu64 " host, %" PRIu64 " ToR-T1 and %" PRIu64
		    " T1-T2 cables are more than the limit of %" PRIu64
		    " (two directed links each).",
		    hosts, tor_t1, t1_t2, MAX_CABLES);
	c->all_tors = (uint32_t)tors;
	c->all_t1 = (uint32_t)t1;
	c->all_hosts = (uint32_t)hosts;
	c->cable_tor = (uint32_t)hosts;
	c->cable_t1 = (uint32_t)(hosts + tor_t1);
	c->n_cables = (uint32_t)cables;
	return 0;
}

/* The reverse of the numbering in clos.h. Cables of a kind are numbered by
 * their lower end first, so division by the number of upper ends gives the
 * lower end, and the remainder the upper one. */
struct topo_clos_place topo_clos_place(const struct topo_clos *c, topo_link l)
{
	uint32_t cable = l >> 1;
	int up = (l & 1) == TOPO_UP;
	struct topo_clos_place at;
	assert(cable < c->n_cables);
	if (cable < c->cable_tor) {
		at.class = up ? TOPO_HOST_TOR : TOPO_TOR_HOST;
		at.low = cable;
		at.high = cable / c->n_hosts;
		at.pod = at.high / c->n_tors;
	} else if (cable < c->cable_t1) {
		uint32_t i = cable - c->cable_tor;
		at.class = up ? TOPO_TOR_T1 : TOPO_T1_TOR;
		at.low = i / c->n_t1;
		at.pod = at.low / c->n_tors;
		at.high = at.pod * c->n_t1 + i % c->n_t1;
	} else {
		uint32_t i = cable - c->cable_t1;
		at.class = up ? TOPO_T1_T2 : TOPO_T2_T1;
		at.low = i / c->n_t2;
		at.high = i % c->n_t2;
		at.pod = at.low / c->n_t1;
	}
	return at;
}

uint32_t topo_clos_class_size(const struct topo_clos *c,
    enum topo_link_class class)
{
	switch (class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		return c->all_hosts;
	case TOPO_TOR_T1:
	case TOPO_T1_TOR:
		return c->cable_t1 - c->cable_tor;
	case TOPO_T1_T2:
	case TOPO_T2_T1:
		return c->n_cables - c->cable_t1;
	default:
		return 0;
	}
}

topo_link topo_clos_class_at(const struct topo_clos *c,
    enum topo_link_class class, uint32_t i)
{
	assert(i < topo_clos_class_size(c, class));
	switch (class) {
	case TOPO_HOST_TOR:
		return topo_link_of(i, TOPO_UP);
	case TOPO_TOR_HOST:
		return topo_link_of(i, TOPO_DOWN);
	case TOPO_TOR_T1:
		return topo_link_of(c->cable_tor + i, TOPO_UP);
	case TOPO_T1_TOR:
		return topo_link_of(c->cable_tor + i, TOPO_DOWN);
	case TOPO_T1_T2:
		return topo_link_of(c->cable_t1 + i, TOPO_UP);
	case TOPO_T2_T1:
		return topo_link_of(c->cable_t1 + i, TOPO_DOWN);
	default:
		return TOPO_NONE;
	}
}

unsigned topo_clos_path(const struct topo_clos *c, uint32_t ecmp_seed,
    topo_host src, topo_host dst, uint32_t digest, topo_link path[])
{
	if (src == dst)
		return 0;
	uint32_t src_tor = src / c->n_hosts, dst_tor = dst / c->n_hosts;
	unsigned n = 0;
	path[n++] = topo_clos_link_host(src, TOPO_UP);
	if (src_tor != dst_tor) {
		uint32_t from = src_tor / c->n_tors, to = dst_tor / c->n_tors;
		/* Down from a T1 there is one way, so a flow makes one choice
		 * inside a pod and three between pods, each by the hash of the
		 * switch where it is: that of ToR, T1 and T2. Inside a pod it
		 * comes down from the T1 it went up to. */
		uint32_t up =
		    topo_switch_pick(ecmp_seed, src_tor, digest, c->n_t1);
		uint32_t down = up;
		path[n++] = topo_clos_link_tor(c, src_tor, up, TOPO_UP);
		if (from != to) {
			uint32_t k = topo_switch_pick(ecmp_seed,
			    topo_clos_t1(c, from, up), digest, c->n_t2);
			down = topo_switch_pick(ecmp_seed, topo_clos_t2(c, k),
			    digest, c->n_t1);
			path[n++] = topo_clos_link_t1(c, from * c->n_t1 + up, k,
			    TOPO_UP);
			path[n++] = topo_clos_link_t1(c, to * c->n_t1 + down, k,
			    TOPO_DOWN);
		}
		path[n++] = topo_clos_link_tor(c, dst_tor, down, TOPO_DOWN);
	}
	path[n++] = topo_clos_link_host(dst, TOPO_DOWN);
	return n;
}

/* --- shares ---------------------------------------------------------------
 *
 * A flow between different ToRs is nine choices: three for where it starts
 * (pod, ToR, host), three for where it ends, and the T1 it goes up to, the T2,
 * and the T1 it comes down from. The last three are uniform and independent,
 * except that inside a pod there is no T2 and both T1s are one. To cross a link
 * is to fix some of the nine; to cross two links is to fix what either fixes,
 * and impossible if they disagree. A share is then a ratio of two counts of
 * flows, which are the event probabilities of 007's appendix C (lemma 2).
 */
enum choice {
	SRC_POD,
	SRC_TOR,
	SRC_HOST,
	DST_POD,
	DST_TOR,
	DST_HOST,
	UP_T1, /* by its index in the pod, as DOWN_T1 */
	VIA_T2,
	DOWN_T1,
	N_CHOICES
};

struct event {
	uint32_t fix[N_CHOICES]; /* TOPO_NONE: free */
};

static struct event anything(void)
{
	struct event v;
	for (int i = 0; i < N_CHOICES; i++)
		v.fix[i] = TOPO_NONE;
	return v;
}

/* Going up, a link tells about the flow's source and its first T1; going down,
 * about its destination and its last T1. Whatever is fixed of a ToR or host,
 * its ToR and pod are fixed too, as count_pairs() takes for granted. */
static struct event clos_crossing(const struct topo_clos *c, topo_link l)
{
	struct event v = anything();
	struct topo_clos_place at = topo_clos_place(c, l);
	int up = (l & 1) == TOPO_UP;
	v.fix[up ? SRC_POD : DST_POD] = at.pod;
	switch (at.class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		v.fix[up ? SRC_HOST : DST_HOST] = at.low;
		v.fix[up ? SRC_TOR : DST_TOR] = at.high;
		break;
	case TOPO_TOR_T1:
	case TOPO_T1_TOR:
		v.fix[up ? SRC_TOR : DST_TOR] = at.low;
		v.fix[up ? UP_T1 : DOWN_T1] = at.high % c->n_t1;
		break;
	default:
		v.fix[up ? UP_T1 : DOWN_T1] = at.low % c->n_t1;
		v.fix[VIA_T2] = at.high;
	}
	return v;
}

/* *A becomes the event that both happen; 0 if they cannot. */
static int both(struct event *a, const struct event *b)
{
	for (int i = 0; i < N_CHOICES; i++) {
		if (a->fix[i] == TOPO_NONE)
			a->fix[i] = b->fix[i];
		else if (b->fix[i] != TOPO_NONE && b->fix[i] != a->fix[i])
			return 0;
	}
	return 1;
}

static int agree(uint32_t a, uint32_t b)
{
	return a == TOPO_NONE || b == TOPO_NONE || a == b;
}

/* The number of ordered pairs of source and destination ToR that agree with an
 * event: those of two different ToRs in one pod, and those in different
 * pods. */
static void count_pairs(const struct topo_clos *c, const struct event *v,
    double *intra, double *inter)
{
	const uint32_t *fix = v->fix;
	int src_pod = fix[SRC_POD] != TOPO_NONE;
	int dst_pod = fix[DST_POD] != TOPO_NONE;
	int src_tor = fix[SRC_TOR] != TOPO_NONE;
	int dst_tor = fix[DST_TOR] != TOPO_NONE;
	double src_in_pod = src_tor ? 1 : c->n_tors;
	double dst_in_pod = dst_tor ? 1 : c->n_tors;
	double src = src_in_pod * (src_pod ? 1 : c->n_pods);
	double dst = dst_in_pod * (dst_pod ? 1 : c->n_pods);
	double same_pod = 0, same_tor = 0;
	/* Both ends can be in one pod. Where one of them has fixed the pod or
	 * the ToR, the other one has no choice left. */
	if (agree(fix[SRC_POD], fix[DST_POD])) {
		double pods = src_pod || dst_pod ? 1 : c->n_pods;
		same_pod = pods * src_in_pod * dst_in_pod;
		if (agree(fix[SRC_TOR], fix[DST_TOR]))
			same_tor = pods * (src_tor || dst_tor ? 1 : c->n_tors);
	}
	*intra = same_pod - same_tor;
	*inter = src * dst - same_pod;
}

/* The expected number of flows of an event when each ordered pair of different
 * ToRs has one flow, between hosts drawn uniformly under them. */
static double mass(const struct topo_clos *c, const struct event *v)
{
	const uint32_t *fix = v->fix;
	int up = fix[UP_T1] != TOPO_NONE, down = fix[DOWN_T1] != TOPO_NONE;
	int via = fix[VIA_T2] != TOPO_NONE;
	double intra, inter;
	count_pairs(c, v, &intra, &inter);
	/* Inside a pod both T1s are one and are chosen once, and no T2 is
	 * crossed. */
	if (via || !agree(fix[UP_T1], fix[DOWN_T1]))
		intra = 0;
	else if (up || down)
		intra /= c->n_t1;
	if (up)
		inter /= c->n_t1;
	if (down)
		inter /= c->n_t1;
	if (via)
		inter /= c->n_t2;
	double flows = intra + inter;
	if (fix[SRC_HOST] != TOPO_NONE)
		flows /= c->n_hosts;
	if (fix[DST_HOST] != TOPO_NONE)
		flows /= c->n_hosts;
	return flows;
}

/* How likely a flow of the event GIVEN crosses L; an event without any flow
 * gives 0. */
static double clos_share(const struct topo_clos *c, struct event given,
    topo_link l)
{
	double of = mass(c, &given);
	struct event cross = clos_crossing(c, l);
	if (of == 0 || !both(&given, &cross))
		return 0;
	return mass(c, &given) / of;
}

double topo_clos_share(const struct topo_clos *c, topo_link given, topo_link l)
{
	return clos_share(c,
	    given == TOPO_NONE ? anything() : clos_crossing(c, given), l);
}

double topo_clos_path_share(const struct topo_clos *c, topo_host src,
    topo_host dst, topo_link l)
{
	topo_link first = topo_clos_link_host(src, TOPO_UP);
	topo_link last = topo_clos_link_host(dst, TOPO_DOWN);
	if (src == dst)
		return 0;
	/* Flows under one ToR are no event of those above: they cross no T1. */
	if (src / c->n_hosts == dst / c->n_hosts)
		return l == first || l == last;
	/* The first and the last link fix both hosts, so what is left free are
	 * the choices of ECMP. */
	struct event ends = clos_crossing(c, first),
		     end = clos_crossing(c, last);
	both(&ends, &end);
	return clos_share(c, ends, l);
}
