/* models/fault/hole.c -- switches with corrupt table entries.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "models/dist.h"
#include "models/fault/draw.h"
#include "sim/vec.h"

/* What has been drawn of one black hole: its share of the keys, and when. */
struct hole {
	double share;
	struct fault_span when;
};

/* All that is drawn of a hole comes before the next hole's. So a spec with more
 * switches has the same holes and further ones, and one with a larger `entries`
 * drops the same keys and further ones: the salt does not depend on it. */
static int draw_hole(struct fault_draw *d, topo_switch at, struct hole *out,
    struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const enum blackhole_rule_type type = g->kind == FAULT_BLACK_HOLE_1
	    ? BLACKHOLE_RULE_PAIR
	    : BLACKHOLE_RULE_TUPLE;
	struct truth_hole h = {.at = at};
	out->share = dist_at(&g->entries, sim_rng_u01(&d->hole));
	out->when = fault_span(d);
	const uint64_t high = sim_rng_u32(&d->hole);
	const uint64_t salt = high << 32 | sim_rng_u32(&d->hole);
	int rc = blackhole_rule_init(&h.rule, type, out->share, salt, e);
	if (rc < 0)
		return rc;
	h.from_ns = out->when.from_ns;
	h.to_ns = out->when.to_ns;
	/* A share below 2^-33 rounds to no key at all: such a switch has no
	 * hole, and its links no fault. */
	if (h.rule.below == 0)
		out->share = 0;
	return out->share > 0 ? truth_add_hole(d->truth, &h, e) : 0;
}

/* The link into the switch is where its packets are lost, so it is the link
 * that an algorithm should blame. */
static int mark_link(struct fault_draw *d, topo_link l, topo_switch s,
    const struct hole *h, struct sim_err *e)
{
	const struct truth_fault f = {
	    .link = l,
	    .rate = h->share,
	    .from_ns = h->when.from_ns,
	    .to_ns = h->when.to_ns,
	    .of_hole = 1,
	};
	int rc = truth_add_fault(d->truth, &f, e);
	return rc < 0 ? rc : truth_add_part(d->truth, l, s, e);
}

/* Add a fault to each link into a switch with a hole. OF[s] is 1 + the index in
 * HOLE of switch s, or 0. One pass over the links serves all holes of the
 * group. */
static int mark_links(struct fault_draw *d, const uint32_t of[],
    const struct hole hole[], struct sim_err *e)
{
	const struct topo *t = d->topo;
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < t->n_links; l++) {
		topo_node from, to;
		topo_link_ends(t, l, &from, &to);
		if (to < t->n_hosts || of[to - t->n_hosts] == 0)
			continue;
		const struct hole *h = &hole[of[to - t->n_hosts] - 1];
		if (h->share > 0)
			rc = mark_link(d, l, to - t->n_hosts, h, e);
	}
	return rc;
}

int fault_draw_holes(struct fault_draw *d, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	struct fault_switches s;
	struct hole *hole = NULL;
	uint32_t *of = NULL;
	int rc = fault_switches_open(&s, d, e);
	const uint32_t n = g->n_at > 0 ? s.n : g->switches;
	if (rc < 0 || (rc = SIM_ZALLOC(&hole, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&of, d->topo->n_switches, e)) < 0)
		goto out;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		const topo_switch at = fault_switches_next(&s, g, &d->hole);
		of[at] = i + 1;
		rc = draw_hole(d, at, &hole[i], e);
	}
	if (rc == 0 && n > 0)
		rc = mark_links(d, of, hole, e);
out:
	free(hole);
	free(of);
	fault_switches_free(&s);
	return rc;
}
