/* experiments/everflow/along.c -- what a run of Everflow is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/along.h"

#include <math.h>

#include "algos/everflow/link_times.h"
#include "sim/vec.h"

uint32_t xp_everflow_seconds(const struct xp_everflow *p, double epoch_s)
{
	const double n = floor(epoch_s + p->settle_s + 1e-9);
	return n < 1 ? 1 : (uint32_t)n;
}

static int add_words(struct xp_along_axes *a, const char *name, const char *doc,
    const char *const word[], uint32_t n, struct sim_err *e)
{
	struct res_coord *k;
	int rc = xp_along_add(a, name, "1", doc, n, &k, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&k->text, n, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = sim_dup(&k->text[i], word[i], e);
	return rc;
}

static int add_seconds(struct xp_along_axes *a, uint32_t n, struct sim_err *e)
{
	struct res_coord *k;
	int rc =
	    xp_along_add(a, "time_s", "s", "begin of the second", n, &k, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&k->number, n, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		k->number[i] = i;
	return rc;
}

int xp_everflow_axes(struct xp_along_axes *a, const struct xp_everflow *p,
    double epoch_s, struct sim_err *e)
{
	static const char *const links[] = {"A", "B", "C", "D"};
	int rc = 0;
	switch ((enum xp_everflow_along)p->along) {
	case XP_EVERFLOW_NONE:
		break;
	case XP_EVERFLOW_DEBUGGER:
		return add_words(a, "debugger", "what a row is about",
		    xp_everflow_debuggers, XP_N_DEBUGGERS, e);
	case XP_EVERFLOW_LINK:
		rc =
		    add_words(a, "link", "a slow link, and others of its class",
			links, XP_EVERFLOW_LINKS, e);
		if (rc == 0)
			rc = add_seconds(a, xp_everflow_seconds(p, epoch_s), e);
	}
	return rc;
}

/* The cable of the first slow link, or that of the first round. */
static uint32_t first_cable(const struct algo_rounds *r, const struct truth *t)
{
	for (size_t i = 0; i < t->n_faults; i++)
		if (truth_is_fault(&t->fault[i]) && truth_is_slow(&t->fault[i]))
			return t->fault[i].link / 2;
	return r->round[0].cable;
}

/* Which four cables the rows are of: rounds stand by cable. */
static void pick_cables(const struct algo_rounds *r, const struct topo *t,
    uint32_t cable[XP_EVERFLOW_LINKS])
{
	const enum topo_link_class class =
	    topo_class_of(t, topo_link_of(cable[0], TOPO_UP));
	unsigned n = 1;
	for (size_t i = 0; i < r->n && n < XP_EVERFLOW_LINKS; i++) {
		const uint32_t c = r->round[i].cable;
		if (c == cable[0] || c == cable[n - 1] ||
		    topo_class_of(t, topo_link_of(c, TOPO_UP)) != class)
			continue;
		cable[n++] = c;
	}
	while (n < XP_EVERFLOW_LINKS)
		cable[n++] = TOPO_NONE;
}

int xp_everflow_link_rows(const struct xp_everflow_seen *seen,
    const struct scene *scene, uint32_t n_s, struct res_trial_metrics row[],
    struct sim_err *e)
{
	const struct algo_debug_in in = {
	    .routing = {.topo = scene->topo},
	    .traces = seen->store,
	    .counters = seen->counters,
	    .sent = seen->window->guided,
	    .now = SIM_NEVER,
	};
	uint32_t cable[XP_EVERFLOW_LINKS] = {TOPO_NONE, TOPO_NONE, TOPO_NONE,
	    TOPO_NONE};
	struct algo_rounds r;
	const int rc = algo_rounds_make(&r, &in, e);
	if (rc == 0 && r.n > 0) {
		cable[0] = first_cable(&r, &scene->truth);
		pick_cables(&r, scene->topo, cable);
	}
	for (size_t i = 0; rc == 0 && i < r.n; i++)
		for (unsigned k = 0; k < XP_EVERFLOW_LINKS; k++) {
			const uint64_t s = r.round[i].sent_ns / SIM_SEC;
			if (r.round[i].cable != cable[k] || s >= n_s)
				continue;
			double *x = &row[k * n_s + s].link_rtt_us;
			*x = fmax(*x, fmax(0, r.round[i].us));
		}
	algo_rounds_free(&r);
	return rc;
}
