/* models/fault/switch.c -- switches that fail, and their links with them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "models/fault/draw.h"
#include "sim/vec.h"
#include "topo/mesh.h"

const char *const fault_tier_names[] = {"tor", "t1", "t2", "border", NULL};

/* The tiers that each switch is of, as bits. A mesh may not say: then switches
 * with hosts are ToRs, and the others are both T1s and T2s, so that either name
 * finds them. */
static void set_tiers(const struct topo *t, uint8_t bits[])
{
	for (topo_host h = 0; h < t->n_hosts; h++)
		bits[topo_tor_of(t, h)] = 1 << FAULT_TIER_TOR;
	for (topo_switch s = 0; s < t->n_switches; s++) {
		const struct topo_clos *c = &t->clos;
		/* Switches of a Clos are numbered tier by tier. */
		uint32_t tier = TOPO_NONE;
		if (!topo_is_clos(t))
			tier = topo_mesh_tier(t->mesh, s);
		else
			tier =
			    (s >= c->all_tors) + (s >= c->all_tors + c->all_t1);
		if (tier <= FAULT_TIER_BORDER)
			bits[s] = (uint8_t)(1 << tier);
		else if (bits[s] == 0)
			bits[s] = 1 << FAULT_TIER_T1 | 1 << FAULT_TIER_T2;
	}
}

/* The switches of TIERS, in order of id; returns how many. */
static uint32_t list_tiers(const struct topo *t, uint32_t tiers,
    const uint8_t bits[], topo_switch list[])
{
	uint32_t n = 0;
	for (topo_switch s = 0; s < t->n_switches; s++)
		if (bits[s] & tiers)
			list[n++] = s;
	return n;
}

static int list_named(struct fault_switches *s, const struct topo *t,
    const struct fault_params *g, struct sim_err *e)
{
	for (size_t i = 0; i < g->n_at; i++) {
		const topo_switch at = g->at[i] - t->n_hosts;
		if (g->at[i] < t->n_hosts || at >= t->n_switches)
			return sim_fail(e, SIM_EINVAL, "node %u is no switch.",
			    g->at[i]);
		for (uint32_t k = 0; k < s->n; k++)
			if (s->list[k] == at)
				return sim_fail(e, SIM_EINVAL,
				    "switch %u is named twice.", at);
		s->list[s->n++] = at;
	}
	return 0;
}

int fault_switches_open(struct fault_switches *s, const struct fault_draw *d,
    struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const struct topo *t = d->topo;
	/* More switches may be named than there are, until a name is found to
	 * be wrong or repeated. */
	const size_t most = g->n_at > t->n_switches ? g->n_at : t->n_switches;
	uint8_t *bits = NULL;
	int rc;
	*s = (struct fault_switches){0};
	if ((rc = SIM_ZALLOC(&s->list, most, e)) < 0 ||
	    (rc = SIM_ZALLOC(&bits, t->n_switches, e)) < 0)
		goto out;
	if (g->n_at > 0) {
		rc = list_named(s, t, g, e);
		goto out;
	}
	set_tiers(t, bits);
	s->n = list_tiers(t, g->tiers, bits, s->list);
	if (g->switches > s->n)
		rc = sim_fail(e, SIM_ELIMIT,
		    "%u switches are to fail, but the tiers named have %u.",
		    g->switches, s->n);
out:
	free(bits);
	return rc;
}

void fault_switches_free(struct fault_switches *s)
{
	free(s->list);
	*s = (struct fault_switches){0};
}

/* Named switches are taken in the order of the spec, and random ones by a step
 * of a Fisher-Yates shuffle: either way the first n_taken of the list are those
 * that were taken. */
topo_switch fault_switches_next(struct fault_switches *s,
    const struct fault_params *g, struct sim_rng *r)
{
	const uint32_t i = s->n_taken++;
	const uint32_t j = g->n_at > 0 ? i : i + sim_rng_below(r, s->n - i);
	const topo_switch at = s->list[j];
	s->list[j] = s->list[i];
	s->list[i] = at;
	return at;
}

/* Whether L has a fault among those from index FROM on. */
static int has_fault(const struct truth *truth, size_t from, topo_link l)
{
	for (size_t i = from; i < truth->n_faults; i++)
		if (truth->fault[i].link == l)
			return 1;
	return 0;
}

/* Whether NODE is one of the first N switches of the list, those before the
 * present one. */
static int is_listed(const struct fault_draw *d, const struct fault_switches *s,
    uint32_t n, topo_node node)
{
	for (uint32_t i = 0; i < n; i++)
		if (node == d->topo->n_hosts + s->list[i])
			return 1;
	return 0;
}

/* The chance and the rate are drawn whether L fails or not. So with a larger
 * `share` the same links fail, at the same rates, and further ones. */
static int draw_link(struct fault_draw *d, topo_link l,
    const struct fault_span *when, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const int fails = sim_rng_u01(&d->place) < g->share;
	const double u = sim_rng_u01(&d->rate);
	return fails ? fault_add(d, &g->rate, l, u, when, e) : 0;
}

/* Fail the links of the I-th switch, in order of id. A link to a switch before
 * it has been drawn with that one, and is now noted as failing with this one
 * too, or with neither. FROM is the first fault of the group. */
static int fail_links(struct fault_draw *d, const struct fault_switches *s,
    uint32_t i, size_t from, struct sim_err *e)
{
	const struct topo *t = d->topo;
	const topo_node own = t->n_hosts + s->list[i];
	const struct fault_span when = fault_span(d);
	for (topo_link l = 0; l < t->n_links; l++) {
		const size_t n = d->truth->n_faults;
		topo_node a, b;
		int rc = 0, fails;
		topo_link_ends(t, l, &a, &b);
		if (a != own && b != own)
			continue;
		if (is_listed(d, s, i, a == own ? b : a)) {
			fails = has_fault(d->truth, from, l);
		} else {
			rc = draw_link(d, l, &when, e);
			fails = d->truth->n_faults > n;
		}
		if (rc == 0 && fails)
			rc = truth_add_part(d->truth, l, s->list[i], e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int fault_draw_switches(struct fault_draw *d, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const size_t from = d->truth->n_faults;
	struct fault_switches s;
	int rc = fault_switches_open(&s, d, e);
	const uint32_t n = g->n_at > 0 ? s.n : g->switches;
	/* All switches are drawn before any link: both come from the stream of
	 * places, and which switches fail must not depend on how many links
	 * they have. */
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		fault_switches_next(&s, g, &d->place);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = fail_links(d, &s, i, from, e);
	fault_switches_free(&s);
	return rc;
}
