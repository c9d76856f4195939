/* experiments/telemetry/early.c -- what there was to see before the window's end.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/early.h"

#include <stddef.h>
#include <stdlib.h>

#include "sim/vec.h"

const struct sim_field xp_early_fields[] = {
    {"halvings", SIM_F_U32, offsetof(struct xp_early_params, halvings),
	.min = 0, .max = XP_EARLY_MAX, .unit = "1", .def = "0",
	.doc = "ask algorithms, too, after a half, a quarter, ... of the "
	       "epoch, so many times, until one is right"},
    {0},
};

void xp_early_free(struct xp_early *x)
{
	for (size_t i = 0; i < XP_EARLY_MAX; i++) {
		obs_tallies_free(&x->rows[i]);
		obs_free(&x->view[i]);
	}
	free(x->at);
	free(x->flow);
	*x = (struct xp_early){0};
}

/* Probes of no row begin: they are split instead. A row of a flow that lost
 * something begins when that does. */
static void early_begin(struct xp_early *x, const struct obs *w,
    double window_ns, int timed, struct sim_rng *r)
{
	const struct obs_tallies *t = w->tallies;
	for (size_t i = 0; i < t->n; i++) {
		const double at = sim_rng_u01(r);
		const int known = timed && t->flow[i] != UINT32_MAX;
		x->at[i] = !known
		    ? at
		    : (double)w->flows.start_ns[t->flow[i]] / window_ns;
	}
}

/* Of N_SENT packets, N_LOST of them lost, how many of the first KEPT were lost. */
static uint32_t early_lost(struct sim_rng *r, uint32_t n_sent, uint32_t n_lost,
    uint32_t kept)
{
	uint32_t left = n_lost;
	for (uint32_t i = 0; left > 0 && i < kept; i++)
		left -= sim_rng_below(r, n_sent - i) < left;
	return n_lost - left;
}

static int early_flows(struct xp_early *x, struct obs *to, const struct obs *w,
    double share, struct sim_err *e)
{
	const struct obs_tallies *t = w->tallies;
	int rc = 0;
	for (size_t i = 0; i < w->flows.n; i++)
		x->flow[i] = UINT32_MAX;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const uint32_t f = t->flow[i];
		if (f == UINT32_MAX || x->at[i] >= share)
			continue;
		const struct obs_flow flow = obs_flows_at(&w->flows, f);
		x->flow[f] = (uint32_t)to->flows.n;
		rc = obs_add_flow(to, &flow, obs_path(w, f), obs_n_hops(w, f),
		    e);
	}
	return rc;
}

/* The rows of FROM, a longer view whose first packets of probes these have; those
 * of flows are of all. */
static int early_rows(const struct xp_early *x, struct obs_tallies *to,
    const struct obs *w, const struct obs_tallies *from, double share,
    struct sim_rng *r, struct sim_err *e)
{
	const struct obs_tallies *t = w->tallies;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		struct obs_tally row = obs_tallies_at(t, i);
		if (row.is_probe || x->at[i] >= share)
			continue;
		if (row.flow != UINT32_MAX)
			row.flow = x->flow[row.flow];
		rc = obs_tallies_add(to, &row, e);
	}
	for (size_t i = 0; rc == 0 && i < from->n; i++) {
		struct obs_tally row = obs_tallies_at(from, i);
		if (!row.is_probe)
			continue;
		const uint32_t kept = (row.n_sent + 1) / 2;
		row.n_lost = early_lost(r, row.n_sent, row.n_lost, kept);
		row.n_sent = kept;
		rc = obs_tallies_add(to, &row, e);
	}
	return rc;
}

static int early_view(struct xp_early *x, size_t i, const struct obs *w,
    const struct obs_tallies *from, struct sim_rng *r, struct sim_err *e)
{
	struct obs *to = &x->view[i];
	struct obs_tallies *rows = &x->rows[i];
	obs_clear(to);
	obs_tallies_clear(rows);
	to->n_flows = (uint64_t)((double)w->n_flows * x->share[i]);
	to->n_packets = (uint64_t)((double)w->n_packets * x->share[i]);
	to->complete = w->complete;
	to->tallies = rows;
	rows->paths = w->tallies->paths;
	rows->telemetry = w->tallies->telemetry;
	const int rc = early_flows(x, to, w, x->share[i], e);
	return rc < 0 ? rc : early_rows(x, rows, w, from, x->share[i], r, e);
}

int xp_early_fill(struct xp_early *x, const struct xp_early_params *p,
    const struct obs *w, double window_ns, int timed, struct sim_rng *r,
    struct sim_err *e)
{
	const struct obs_tallies *from = w->tallies;
	double share = 1;
	int rc;
	if ((rc = SIM_RESERVE(&x->at, &x->cap_at, from->n, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->flow, &x->cap_flow, w->flows.n, e)) < 0)
		return rc;
	early_begin(x, w, window_ns, timed, r);
	for (size_t i = p->halvings; rc == 0 && i-- > 0; from = &x->rows[i]) {
		x->share[i] = share /= 2;
		rc = early_view(x, i, w, from, r, e);
	}
	return rc;
}
