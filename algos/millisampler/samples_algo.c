/* algos/millisampler/samples_algo.c -- what diagnosers by samples share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/samples_algo.h"

#include "models/obs.h"

int algo_samples_begin(const struct obs *window, const struct topo *t,
    struct algo_samples_in *in, struct algo_verdicts *out, struct sim_err *e)
{
	static const struct obs_runs no_runs;
	static const struct obs_samples no_samples;
	algo_verdicts_clear(out);
	out->flags = 1;
	const int known = window->runs && window->samples;
	in->runs = known ? window->runs : &no_runs;
	in->samples = known ? window->samples : &no_samples;
	int rc = algo_verdicts_reserve_flows(out, window->flows.n, e);
	if (rc == 0)
		rc = obs_runs_check(in->runs, t->n_hosts, e);
	return rc < 0 ? rc : obs_samples_check(in->samples, in->runs, e);
}

void algo_samples_flag(struct algo_verdicts *out)
{
	algo_verdicts_sort(out);
	out->n_flagged = out->n;
}

static topo_link samples_blame(const struct obs *o, size_t flow,
    const struct algo_verdicts *v)
{
	for (size_t i = 0; i < v->n_flagged; i++)
		for (unsigned h = 0; h < obs_n_hops(o, flow); h++)
			if (obs_path(o, flow)[h] == v->link[i])
				return v->link[i];
	return TOPO_NONE;
}

void algo_samples_end(const struct obs *window, struct algo_verdicts *out)
{
	algo_verdicts_sort(out);
	if (out->kind != ALGO_KIND_LINK || !window->hops.off)
		return;
	for (size_t i = 0; i < window->flows.n; i++)
		if (window->flows.n_retx[i] > 0)
			out->blame[i] = samples_blame(window, i, out);
}
