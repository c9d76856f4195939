/* models/fault_switch.c -- switches that fail, and their links with them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fault_switch.h"

#include <stdlib.h>

#include "sim/vec.h"
#include "topo/mesh.h"

const char *const model_tier_names[] = {"tor", "t1", "t2", NULL};

/* Tiers that each switch is of, as bits. A mesh may not say: there those with
 * hosts are ToRs, and the others of both tiers above. */
static void set_tiers(const struct topo *t, uint8_t bits[])
{
	for (topo_host h = 0; h < t->n_hosts; h++)
		bits[topo_tor_of(t, h)] = 1 << MODEL_TIER_TOR;
	for (topo_switch s = 0; s < t->n_switches; s++) {
		const struct topo_clos *c = &t->clos;
		uint32_t tier = TOPO_NONE;
		if (!topo_is_clos(t))
			tier = topo_mesh_tier(t->mesh, s);
		else
			tier =
			    (s >= c->all_tors) + (s >= c->all_tors + c->all_t1);
		if (tier <= MODEL_TIER_T2)
			bits[s] = (uint8_t)(1 << tier);
		else if (bits[s] == 0)
			bits[s] = 1 << MODEL_TIER_T1 | 1 << MODEL_TIER_T2;
	}
}

/* The switches of the group's tiers, in order of id; returns how many. */
static uint32_t list_switches(const struct topo *t, uint32_t tiers,
    const uint8_t bits[], topo_switch list[])
{
	uint32_t n = 0;
	for (topo_switch s = 0; s < t->n_switches; s++)
		if (bits[s] & tiers)
			list[n++] = s;
	return n;
}

/* The switches that fail, in the order in which they were drawn. */
struct failing {
	const struct topo *topo;
	const struct model_fault_params *group;
	const topo_switch *list;
	size_t from; /* first fault of the group */
	struct sim_rng *place, *rate;
	struct truth *truth;
};

static int has_fault(const struct failing *f, topo_link l)
{
	for (size_t i = f->from; i < f->truth->n_faults; i++)
		if (f->truth->fault[i].link == l)
			return 1;
	return 0;
}

static int is_listed(const struct failing *f, uint32_t n, topo_node node)
{
	for (uint32_t i = 0; i < n; i++)
		if (node == f->topo->n_hosts + f->list[i])
			return 1;
	return 0;
}

/* The chance and the rate are drawn whether L fails or not, so that a larger
 * share fails the same links and more. */
static int draw_link(struct failing *f, topo_link l, struct sim_err *e)
{
	const struct model_fault_params *g = f->group;
	const int fails = sim_rng_u01(f->place) < g->share;
	const double u = sim_rng_u01(f->rate);
	return fails ? model_fault_add(g, &g->rate, l, u, f->truth, e) : 0;
}

/* Fail the links of the I-th switch, in order of id. A link to a switch before
 * it has been drawn already and has failed with both, or with neither. */
static int fail_links(struct failing *f, uint32_t i, struct sim_err *e)
{
	const struct topo *t = f->topo;
	const topo_node own = t->n_hosts + f->list[i];
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_node a, b;
		int rc = 0;
		topo_link_ends(t, l, &a, &b);
		if (a != own && b != own)
			continue;
		if (!is_listed(f, i, a == own ? b : a))
			rc = draw_link(f, l, e);
		if (rc == 0 && has_fault(f, l))
			rc = truth_add_part(f->truth, l, f->list[i], e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int model_fault_draw_switches(const struct topo *t,
    const struct model_fault_params *g, struct sim_rng *place,
    struct sim_rng *rate, struct truth *truth, struct sim_err *e)
{
	topo_switch *list = NULL;
	uint8_t *bits = NULL;
	int rc;
	if ((rc = SIM_ZALLOC(&list, t->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&bits, t->n_switches, e)) < 0)
		goto out;
	set_tiers(t, bits);
	const uint32_t n = list_switches(t, g->tiers, bits, list);
	if (g->switches > n)
		rc = sim_fail(e, SIM_ELIMIT,
		    "%u switches are to fail, but the tiers named have %u.",
		    g->switches, n);
	/* The head of a Fisher-Yates shuffle. */
	for (uint32_t i = 0; rc == 0 && i < g->switches; i++) {
		const uint32_t j = i + sim_rng_below(place, n - i);
		const topo_switch s = list[j];
		list[j] = list[i];
		list[i] = s;
	}
	struct failing f = {t, g, list, truth->n_faults, place, rate, truth};
	for (uint32_t i = 0; rc == 0 && i < g->switches; i++)
		rc = fail_links(&f, i, e);
out:
	free(list);
	free(bits);
	return rc;
}
