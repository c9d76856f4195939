/* algos/pingmesh/hop_trace_algo.c -- traced switches, ranked, as a diagnoser.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hop_trace_algo.h"

#include <stdlib.h>

#include "models/obs_traces.h"
#include "sim/vec.h"

struct work {
	const struct topo *topo;
	struct algo_hop_trace_rank_params params;
	struct algo_hop_trace_work memory;
};

static void hop_trace_algo_close_work(void *work)
{
	struct work *w = work;
	if (w)
		algo_hop_trace_work_free(&w->memory);
	free(w);
}

static int hop_trace_algo_open_work(void **work, const struct topo *t,
    const void *params, struct sim_err *e)
{
	struct algo_hop_trace_rank_params p;
	struct work *w;
	int rc;
	*work = NULL;
	if ((rc = sim_field_take(algo_hop_trace_rank_fields, params, sizeof(p),
		 &p, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w, 1, e)) < 0)
		return rc;
	w->topo = t;
	w->params = p;
	*work = w;
	return 0;
}

static int hop_trace_algo_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	/* A window that was never traced ranks no switch, which is an answer
	 * and no error. */
	static const struct obs_traces none;
	struct work *w = work;
	const struct obs_traces *t = window->traces ? window->traces : &none;
	(void)tie;
	return algo_hop_trace_rank(&w->memory, w->topo, t->report, t->n,
	    &w->params, out, e);
}

const struct algo_ops algo_hop_trace_ops = {
    .name = "hop_trace",
    .paper = "Pingmesh (SIGCOMM'15), section 5.2",
    .doc = "switches beyond which traces lose more than past others",
    .needs = OBS_TRACES,
    .params = algo_hop_trace_rank_fields,
    .params_size = sizeof(struct algo_hop_trace_rank_params),
    .open = hop_trace_algo_open_work,
    .diagnose = hop_trace_algo_diagnose,
    .close = hop_trace_algo_close_work,
};
