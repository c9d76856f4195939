/* algos/pingmesh/blackhole_algo.c -- the black-hole job as a diagnoser.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/blackhole_algo.h"

static void blackhole_algo_free(void *work)
{
	algo_blackhole_close(work);
}

static int blackhole_algo_init(void *work, const struct topo *t,
    struct sim_err *e)
{
	struct algo_blackhole *b = work;
	const struct topo_dc dc = topo_dc_alone(&t->clos);
	/* Section 5.1 asks whether all ToRs of a podset are candidates: without
	 * pods there is no such question. */
	if (!topo_is_clos(t))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "black holes are told by the pods and ToRs of a Clos, "
		    "which this topology is not.");
	return algo_blackhole_open(b, &dc, &b->params, e);
}

/* An escalation accuses nobody: it says that the fault lies above these
 * ToRs. */
static int is_accused(const struct algo_blackhole_tor *t)
{
	return t->action == ALGO_BLACKHOLE_RELOAD ||
	    t->action == ALGO_BLACKHOLE_DEFER;
}

/* The ToRs with a score that are accused, or not. NaN is no score. */
static int add_tors(const struct algo_blackhole *b, int accused,
    struct algo_verdicts *out, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < b->dc.clos.all_tors; i++)
		if (b->tor[i].score > 0 && is_accused(&b->tor[i]) == accused)
			rc = algo_verdicts_add(out, b->dc.first_switch + i,
			    b->tor[i].score, e);
	return rc;
}

static int blackhole_algo_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct algo_blackhole *b = work;
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->kind = ALGO_KIND_SWITCH;
	out->flags = 1;
	if ((rc = algo_verdicts_reserve_flows(out, window->flows.n, e)) < 0 ||
	    (obs_probe_source_is_none(&window->probes) && !window->pairs))
		return rc;
	rc = window->pairs
	    ? algo_blackhole_diagnose_pairs(b, window->pairs, 0, e)
	    : algo_blackhole_diagnose(b, &window->probes, 0, e);
	if (rc < 0 || (rc = add_tors(b, 1, out, e)) < 0)
		return rc;
	/* n_flagged is still 0, so all of them are sorted by score. The budget
	 * of reloads is none of the verdict's: with 0 reloaded today, deferred
	 * ones count as well. */
	algo_verdicts_sort(out);
	out->n_flagged = out->n;
	/* This time only what follows the flagged ones is sorted. */
	if ((rc = add_tors(b, 0, out, e)) == 0)
		algo_verdicts_sort(out);
	return rc;
}

static int blackhole_algo_check(const void *params, struct sim_err *e)
{
	return algo_blackhole_check(params, e);
}

const struct algo_ops algo_blackhole_ops = {
    .name = "blackhole",
    .paper = "Pingmesh (SIGCOMM'15), section 5.1",
    .doc = "ToRs whose servers have pairs that never get through",
    .needs = OBS_PROBES,
    .instead = OBS_PAIRS,
    .params = algo_blackhole_fields,
    .params_size = sizeof(struct algo_blackhole_params),
    .check = blackhole_algo_check,
    .work_size = sizeof(struct algo_blackhole),
    .init = blackhole_algo_init,
    .diagnose = blackhole_algo_diagnose,
    .free = blackhole_algo_free,
};
