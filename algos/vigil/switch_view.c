/* algos/vigil/switch_view.c -- a window as if its paths were lists of switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/switch_view.h"

#include <stdlib.h>

#include "sim/vec.h"

void algo_switch_view_free(struct algo_switch_view *v)
{
	free(v->w.hops.off);
	free(v->w.hops.link);
	*v = (struct algo_switch_view){0};
}

/* Append the switch at node N to the hops from FROM on, unless it is a host.
 * Two links that follow each other share a switch, which must vote once. */
static void add_end(struct obs_hops *h, uint64_t from, const struct topo *t,
    topo_node n)
{
	if (n < t->n_hosts)
		return;
	const topo_switch s = n - t->n_hosts;
	if (h->n == from || h->link[h->n - 1] != s)
		h->link[h->n++] = s;
}

/* Append the switches at both ends of a flow's N links, for which there is
 * memory. A gap in the path leaves no gap in the view: votes are on known
 * hops. */
static int add_path(struct obs_hops *h, const struct topo *t, size_t flow,
    const topo_link link[], unsigned n, struct sim_err *e)
{
	const uint64_t from = h->n;
	for (unsigned i = 0; i < n; i++) {
		topo_node a, b;
		if (link[i] == TOPO_NONE)
			continue;
		topo_link_ends(t, link[i], &a, &b);
		add_end(h, from, t, a);
		add_end(h, from, t, b);
	}
	if (h->n - from > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu crosses %zu switches, more than %d.", flow,
		    h->n - (size_t)from, TOPO_MAX_HOPS);
	return 0;
}

int algo_switch_view_make(struct algo_switch_view *v, const struct topo *t,
    const struct obs *w, struct sim_err *e)
{
	struct obs_hops *h = &v->w.hops;
	int rc;
	/* Flows are borrowed as they stand, so rows of the view are rows of the
	 * window and blame fits both. */
	v->w.flows = w->flows;
	v->w.n_flows = w->n_flows;
	v->w.n_packets = w->n_packets;
	v->w.complete = w->complete;
	h->n = 0;
	if ((rc = SIM_RESERVE(&h->off, &h->cap_off, w->flows.n + 1, e)) < 0)
		return rc;
	for (size_t i = 0; i < w->flows.n; i++) {
		h->off[i] = h->n;
		if (w->flows.n_retx[i] == 0)
			continue;
		/* The tally would find the same faults, but only after the view
		 * had read beyond the table. */
		if ((rc = obs_check_path(w, i, t->n_links, e)) < 0)
			return rc;
		/* A link has at most two switches. */
		const unsigned n = obs_n_hops(w, i);
		if ((rc = SIM_RESERVE(&h->link, &h->cap, h->n + 2 * n, e)) < 0)
			return rc;
		if ((rc = add_path(h, t, i, obs_path(w, i), n, e)) < 0)
			return rc;
	}
	h->off[w->flows.n] = h->n;
	return 0;
}

int algo_switch_view_on(struct algo_switch_view *v, enum algo_kind on,
    const struct topo *t, const struct obs **w, struct algo_verdicts *out,
    struct sim_err *e)
{
	if (on != ALGO_KIND_SWITCH)
		return 0;
	out->kind = ALGO_KIND_SWITCH;
	const int rc = algo_switch_view_make(v, t, *w, e);
	*w = &v->w;
	return rc;
}
