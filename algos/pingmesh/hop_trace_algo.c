/* algos/pingmesh/hop_trace_algo.c -- traced switches, ranked, as a diagnoser.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hop_trace_algo.h"

#include "models/obs_traces.h"

struct work {
	struct algo_hop_trace_rank_params params;
	const struct topo *topo;
	struct algo_hop_trace_work memory;
};

static void hop_trace_algo_free(void *work)
{
	algo_hop_trace_work_free(&((struct work *)work)->memory);
}

static int hop_trace_algo_init(void *work, const struct topo *t,
    struct sim_err *e)
{
	(void)e;
	((struct work *)work)->topo = t;
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
    .work_size = sizeof(struct work),
    .init = hop_trace_algo_init,
    .diagnose = hop_trace_algo_diagnose,
    .free = hop_trace_algo_free,
};
