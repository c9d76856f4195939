/* experiments/pingmesh/repair.c -- find black holes, and reload their ToRs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

static int open_jobs(struct xp_repair_shop *s, struct sim_err *e)
{
	const struct topo *t = s->topo;
	struct xp_dsa_services services;
	int rc =
	    xp_dsa_services_read(&services, s->params->service, t->n_hosts, e);
	for (uint32_t i = 0; rc == 0 && i < s->n_dcs; i++) {
		const struct topo_dc dc = topo_dc_at(t, i);
		rc =
		    xp_dsa_open(&s->dsa[i], &dc, &services, &s->params->dsa, e);
	}
	xp_dsa_services_free(&services);
	return rc;
}

int xp_repair_open(struct xp_repair_shop *s, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	*s = (struct xp_repair_shop){.topo = t,
	    .params = p,
	    .n_dcs = topo_n_dcs(t)};
	int rc = open_jobs(s, e);
	for (uint32_t i = 0; rc == 0 && i < s->n_dcs; i++)
		rc = SIM_ZALLOC(&s->named[i], s->dsa[i].dc.clos.all_tors, e);
	return rc;
}

void xp_repair_close(struct xp_repair_shop *s)
{
	for (uint32_t i = 0; i < s->n_dcs; i++) {
		xp_dsa_close(&s->dsa[i]);
		free(s->named[i]);
	}
	*s = (struct xp_repair_shop){0};
}

void xp_repair_begin(struct xp_repair_shop *s)
{
	for (uint32_t i = 0; i < s->n_dcs; i++) {
		struct xp_dsa *d = &s->dsa[i];
		d->n_reloaded = 0;
		d->day = 0;
		memset(s->named[i], 0, d->dc.clos.all_tors);
	}
}

/* --- a reload ------------------------------------------------------------- */

/* A reload writes the forwarding table of switch AT anew. That ends the holes
 * of the switch that are active, and the faults that stand for them on the
 * links into it (of_hole); other faults of its links last, as a reload mends no
 * cable. The end of a hole is set to NOW and the hole is not removed, since
 * scores ask later when there was one. */
static void end_holes(const struct xp_repair_shop *s, topo_switch at,
    sim_ns now, struct truth *truth)
{
	for (size_t i = 0; i < truth->n_holes; i++) {
		struct truth_hole *h = &truth->hole[i];
		if (h->at == at && h->from_ns <= now && h->to_ns > now)
			h->to_ns = now;
	}
	for (size_t i = 0; i < truth->n_faults; i++) {
		struct truth_fault *f = &truth->fault[i];
		topo_node from, to;
		topo_link_ends(s->topo, f->link, &from, &to);
		if (f->of_hole && to == s->topo->n_hosts + at &&
		    f->from_ns <= now && f->to_ns > now)
			f->to_ns = now;
	}
}

/* While it reloads, the switch forwards nothing: all links from it and to it
 * lose each packet. The world reads faults in order, so they are sorted again
 * before it goes on. */
static int take_links_down(const struct xp_repair_shop *s, topo_switch at,
    sim_ns now, struct truth *truth, struct sim_err *e)
{
	const topo_node node = s->topo->n_hosts + at;
	const sim_ns end =
	    now + (sim_ns)llround(s->params->repair.reload_s * 1e9);
	int rc = 0;
	for (topo_link l = 0; rc == 0 && end > now && l < s->topo->n_links;
	     l++) {
		topo_node from, to;
		topo_link_ends(s->topo, l, &from, &to);
		if (from != node && to != node)
			continue;
		const struct truth_fault f = {.link = l,
		    .rate = 1,
		    .from_ns = now,
		    .to_ns = end};
		rc = truth_add_fault(truth, &f, e);
	}
	truth_sort(truth);
	return rc;
}

/* --- a run of the job ----------------------------------------------------- */

/* Pingmesh (section 5.1): only a candidate whose pod has other, healthy ToRs is
 * reloaded, as many a day as allowed; the others wait for another day. When all
 * ToRs of a pod are candidates the trouble is above them, for engineers. */
static int repair_act(struct xp_repair_shop *s, uint32_t dc, uint32_t tor,
    sim_ns now, struct truth *truth, struct xp_repaired *out, struct sim_err *e)
{
	const topo_switch at = s->dsa[dc].dc.first_switch + tor;
	switch (s->dsa[dc].blackhole.tor[tor].action) {
	case ALGO_BLACKHOLE_RELOAD:
		out->n_reloaded++;
		end_holes(s, at, now, truth);
		return take_links_down(s, at, now, truth, e);
	case ALGO_BLACKHOLE_DEFER:
		out->n_deferred++;
		return 0;
	default:
		out->n_escalated++;
		return 0;
	}
}

int xp_repair_run(struct xp_repair_shop *s, uint32_t dc, const struct obs *seen,
    sim_ns from, sim_ns to, sim_ns now, struct truth *truth,
    struct xp_repaired *out, struct sim_err *e)
{
	struct xp_dsa *d = &s->dsa[dc];
	const int is_on = s->params->repair.on != 0;
	const topo_switch first = d->dc.first_switch;
	*out = (struct xp_repaired){0};
	/* Days are counted from time 0. With repairs off no reload is charged
	 * to the day, so the job always names all candidates. */
	const uint64_t day =
	    now / (sim_ns)llround(s->params->repair.day_s * 1e9);
	int rc = xp_dsa_blackhole(d, seen, day, is_on, e);
	for (uint32_t i = 0; rc == 0 && i < d->dc.clos.all_tors; i++) {
		if (d->blackhole.tor[i].action == ALGO_BLACKHOLE_NONE)
			continue;
		s->named[dc][i] = 1;
		out->n_candidates++;
		out->n_candidates_true +=
		    (uint32_t)xp_was_black(truth, first + i, from, to);
		if (is_on)
			rc = repair_act(s, dc, i, now, truth, out, e);
	}
	return rc;
}

void xp_repaired_add(struct xp_repaired *to, const struct xp_repaired *from)
{
	to->n_candidates += from->n_candidates;
	to->n_candidates_true += from->n_candidates_true;
	to->n_reloaded += from->n_reloaded;
	to->n_deferred += from->n_deferred;
	to->n_escalated += from->n_escalated;
}

void xp_repaired_fill(const struct xp_repaired *r, int is_on,
    struct res_trial_metrics *m)
{
	m->n_candidates = r->n_candidates;
	m->n_candidates_true = r->n_candidates_true;
	if (!is_on)
		return;
	m->n_reloaded = r->n_reloaded;
	m->n_deferred = r->n_deferred;
	m->n_escalated = r->n_escalated;
}

/* --- since the run began -------------------------------------------------- */

uint32_t xp_repair_n_named(const struct xp_repair_shop *s, uint32_t dc)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->dsa[dc].dc.clos.all_tors; i++)
		n += s->named[dc][i];
	return n;
}

uint32_t xp_repair_n_named_true(const struct xp_repair_shop *s, uint32_t dc,
    const struct truth *truth, sim_ns to)
{
	const topo_switch first = s->dsa[dc].dc.first_switch;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->dsa[dc].dc.clos.all_tors; i++)
		n += s->named[dc][i] && xp_was_black(truth, first + i, 0, to);
	return n;
}
