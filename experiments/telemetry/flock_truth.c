/* experiments/telemetry/flock_truth.c -- failed links, switches, black holes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/flock_truth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void ftext_truth_free(struct ftext_truth *t)
{
	free(t->part);
	*t = (struct ftext_truth){0};
}

/* --- nodes and links of words ----------------------------------------------*/

int xp_flock_node(const struct xp_flock_lines *l,
    const struct xp_flock_ids *ids, const struct topo *topo, unsigned i,
    const char *name, enum xp_flock_sort sort, topo_node *out,
    struct sim_err *e)
{
	static const char *const sorts[] = {"node", "switch", "host"};
	uint32_t id;
	const int rc = xp_flock_u32(l, i, name,
	    sort == XP_FLOCK_HOST ? XP_FLOCK_FIRST_HOST : 0,
	    sort == XP_FLOCK_SWITCH ? XP_FLOCK_FIRST_HOST - 1
				    : XP_FLOCK_FIRST_HOST + XP_FLOCK_HOSTS - 1,
	    &id, e);
	if (rc < 0)
		return rc;
	if (id >= ids->n_ids || ids->node[id] == 0)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": %s is %u, but the network has no such %s; it has %u "
		    "switches and %u hosts.",
		    l->path, l->number, name, id, sorts[sort], topo->n_switches,
		    topo->n_hosts);
	*out = ids->node[id] - 1;
	return 0;
}

int xp_flock_link(const struct xp_flock_lines *l, const struct topo *topo,
    unsigned i, topo_node from, topo_node to, topo_link *out, struct sim_err *e)
{
	*out = topo_link_between(topo, from, to);
	return *out != TOPO_NONE
	    ? 0
	    : sim_fail(e, SIM_EPARSE,
		  "%s:%" PRIu64 ": no cable joins %s and %s.", l->path,
		  l->number, l->word[i], l->word[i + 1]);
}

/* --- lines -----------------------------------------------------------------*/

static int ftext_device(struct ftext_truth *t, const struct xp_flock_lines *l,
    topo_node at, double share, struct sim_err *e)
{
	struct xp_flock *x = t->x;
	if (at < x->topo.n_hosts)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64 ": %s is a host; only switches fail.",
		    l->path, l->number, l->word[1]);
	const topo_switch s = at - x->topo.n_hosts;
	for (size_t i = 0; i < x->n_devices; i++)
		if (x->device[i].at == s)
			return sim_fail(e, SIM_EPARSE,
			    "%s:%" PRIu64 ": switch %s fails twice.", l->path,
			    l->number, l->word[1]);
	const int rc =
	    SIM_RESERVE(&x->device, &x->cap_devices, x->n_devices + 1, e);
	if (rc == 0)
		x->device[x->n_devices++] = (struct xp_flock_device){s, share};
	return rc;
}

int ftext_truth_line(struct ftext_truth *t, const struct xp_flock_lines *l,
    const struct xp_flock_ids *ids, int of_device, struct sim_err *e)
{
	const struct topo *topo = &t->x->topo;
	struct truth_fault f = {.to_ns = SIM_NEVER};
	topo_node u, v;
	int rc;
	if ((rc = xp_flock_wants(l, 4, "Failing_link U V X", e)) < 0 ||
	    (rc = xp_flock_node(l, ids, topo, 1, "U", XP_FLOCK_ANY, &u, e)) <
		0 ||
	    (rc = xp_flock_node(l, ids, topo, 2, "V", XP_FLOCK_ANY, &v, e)) <
		0 ||
	    (rc = xp_flock_f64(l, 3, "X", 0, 1, &f.rate, e)) < 0)
		return rc;
	if (u == v && !of_device)
		return ftext_device(t, l, u, f.rate, e);
	if ((rc = xp_flock_link(l, topo, 1, u, v, &f.link, e)) < 0)
		return rc;
	if (!of_device)
		return truth_add_fault(&t->x->truth, &f, e);
	if ((rc = SIM_RESERVE(&t->part, &t->cap, t->n + 1, e)) == 0)
		t->part[t->n++] =
		    (struct ftext_part){l->number, f.link, f.rate};
	return rc;
}

int ftext_hole_line(struct ftext_truth *t, const struct xp_flock_lines *l,
    const struct xp_flock_ids *ids, struct sim_err *e)
{
	struct xp_flock *x = t->x;
	struct xp_flock_hole h;
	topo_node at;
	int rc;
	if (strcmp(l->word[0], "Failing_component") != 0)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": a line is Failing_component SRC DST DEVICE PROB.",
		    l->path, l->number);
	if ((rc = xp_flock_wants(l, 5, "Failing_component SRC DST DEVICE PROB",
		 e)) < 0 ||
	    (rc = xp_flock_node(l, ids, &x->topo, 1, "SRC", XP_FLOCK_HOST,
		 &h.src, e)) < 0 ||
	    (rc = xp_flock_node(l, ids, &x->topo, 2, "DST", XP_FLOCK_HOST,
		 &h.dst, e)) < 0 ||
	    (rc = xp_flock_node(l, ids, &x->topo, 3, "DEVICE", XP_FLOCK_SWITCH,
		 &at, e)) < 0 ||
	    (rc = xp_flock_f64(l, 4, "PROB", 0, 1, &h.rate, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->hole, &x->cap_holes, x->n_holes + 1, e)) < 0)
		return rc;
	h.at = at - x->topo.n_hosts;
	x->hole[x->n_holes++] = h;
	return 0;
}

/* --- the truth -------------------------------------------------------------*/

static int ftext_is_device(const struct xp_flock *x, topo_switch s)
{
	for (size_t i = 0; i < x->n_devices; i++)
		if (x->device[i].at == s)
			return 1;
	return 0;
}

static int ftext_add_part(struct xp_flock *x, topo_link link, topo_switch of,
    double rate, struct sim_err *e)
{
	const struct truth_fault f = {.link = link,
	    .rate = rate,
	    .to_ns = SIM_NEVER};
	const int rc = truth_add_part(&x->truth, link, of, e);
	return rc < 0 ? rc : truth_add_fault(&x->truth, &f, e);
}

static int ftext_add_told(struct ftext_truth *t, const char *path,
    struct sim_err *e)
{
	struct xp_flock *x = t->x;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const struct ftext_part *p = &t->part[i];
		topo_node end[2];
		int found = 0;
		topo_link_ends(&x->topo, p->link, &end[0], &end[1]);
		for (unsigned k = 0; rc == 0 && !found && k < 2; k++)
			if (end[k] >= x->topo.n_hosts &&
			    ftext_is_device(x, end[k] - x->topo.n_hosts)) {
				found = 1;
				rc = ftext_add_part(x, p->link,
				    end[k] - x->topo.n_hosts, p->rate, e);
			}
		if (rc == 0 && !found)
			rc = sim_fail(e, SIM_EPARSE,
			    "%s:%" PRIu64
			    ": neither end of the link is a switch that "
			    "failed (Failing_link U U X).",
			    path, p->line);
	}
	return rc;
}

/* All links of a failed switch of which none was told. */
static int ftext_add_all(struct xp_flock *x, topo_switch s, double share,
    struct sim_err *e)
{
	const topo_node n = x->topo.n_hosts + s;
	int rc = 0;
	for (size_t i = 0; i < x->truth.n_parts; i++)
		if (x->truth.part[i].of == s)
			return 0;
	for (topo_link l = 0; rc == 0 && l < x->topo.n_links; l++) {
		topo_node from, to;
		topo_link_ends(&x->topo, l, &from, &to);
		if (from == n || to == n)
			rc = ftext_add_part(x, l, s, share, e);
	}
	return rc;
}

/* A black hole's switch is broken as a whole. */
static int ftext_add_hole(struct xp_flock *x, const struct xp_flock_hole *h,
    struct sim_err *e)
{
	return truth_is_failed_switch(&x->truth, h->at)
	    ? 0
	    : ftext_add_all(x, h->at, h->rate, e);
}

int ftext_truth_end(struct ftext_truth *t, const char *path, struct sim_err *e)
{
	struct xp_flock *x = t->x;
	int rc = ftext_add_told(t, path, e);
	for (size_t i = 0; rc == 0 && i < x->n_devices; i++)
		rc = ftext_add_all(x, x->device[i].at, x->device[i].share, e);
	for (size_t i = 0; rc == 0 && i < x->n_holes; i++)
		rc = ftext_add_hole(x, &x->hole[i], e);
	truth_sort(&x->truth);
	return rc;
}
