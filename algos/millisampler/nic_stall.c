/* algos/millisampler/nic_stall.c -- NICs that hold packets back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/nic_stall.h"

#include <stdlib.h>

#include "algos/millisampler/samples_algo.h"
#include "sim/vec.h"

#define AT(member) offsetof(struct algo_nic_stall_params, member)
const struct sim_field algo_nic_stall_fields[] = {
    {"tolerance", SIM_F_F64, AT(tolerance), .min = 1, .max = 100, .unit = "1",
	.def = "1.05", .doc = "of the line; more did not come off the wire"},
    {"slack", SIM_F_F64, AT(slack), .min = 0, .max = 1e9, .unit = "bytes",
	.def = "65536",
	.doc = "beside that, which count where they end (GRO); none behind a "
	       "bucket in which nothing came in"},
    {0},
};

/* What the line carries in a bucket. */
static double stall_line(const struct obs_runs *runs, uint32_t run)
{
	return (double)runs->line_bps[run] / 8e9 * (double)runs->width_ns[run];
}

int algo_nic_stalls_find(const struct obs_runs *runs,
    const struct obs_samples *t, const struct algo_nic_stall_params *p,
    struct algo_nic_stalls *out, struct sim_err *e)
{
	/* Behind the last bucket of this run in which something came in. */
	uint32_t next = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const uint32_t run = t->run[i];
		const double line = stall_line(runs, run);
		if (i == 0 || t->run[i - 1] != run)
			next = 0;
		/* Nothing of before can end here if nothing came before. */
		const double slack = t->bucket[i] > next ? 0 : p->slack;
		if (t->in_bytes[i] > p->tolerance * line + slack)
			rc = algo_nic_stalls_add(out,
			    &(struct algo_nic_stall){.run = run,
				.host = runs->host[run],
				.bucket = t->bucket[i],
				.in_bytes = t->in_bytes[i],
				.lines = t->in_bytes[i] / line,
				.stall_ns = (t->bucket[i] - next) *
				    runs->width_ns[run]},
			    e);
		if (t->in_bytes[i] > 0)
			next = t->bucket[i] + 1;
	}
	return rc;
}

struct stall_work {
	struct algo_nic_stall_params params;
	const struct topo *topo;
	struct algo_nic_stalls stalls;
	double *worst; /* [n_hosts], in lines */
};

static int nic_stall_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct stall_work *w = work;
	w->topo = t;
	return SIM_ZALLOC(&w->worst, t->n_hosts, e);
}

static void nic_stall_free(void *work)
{
	struct stall_work *w = work;
	algo_nic_stalls_free(&w->stalls);
	free(w->worst);
}

static int nic_stall_list(struct stall_work *w, struct algo_verdicts *out,
    struct sim_err *e)
{
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < w->topo->n_hosts; h++)
		if (w->worst[h] > 0)
			rc = algo_verdicts_add(out, topo_link_of(h, TOPO_DOWN),
			    w->worst[h], e);
	return rc;
}

static int nic_stall_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct stall_work *w = work;
	struct algo_samples_in in;
	int rc = algo_samples_begin(window, w->topo, &in, out, e);
	(void)tie;
	algo_nic_stalls_clear(&w->stalls);
	for (topo_host h = 0; h < w->topo->n_hosts; h++)
		w->worst[h] = 0;
	if (rc < 0 ||
	    (rc = algo_nic_stalls_find(in.runs, in.samples, &w->params,
		 &w->stalls, e)) < 0)
		return rc;
	for (size_t i = 0; i < w->stalls.n; i++) {
		double *worst = &w->worst[w->stalls.host[i]];
		if (w->stalls.lines[i] > *worst)
			*worst = w->stalls.lines[i];
	}
	if ((rc = nic_stall_list(w, out, e)) < 0)
		return rc;
	algo_samples_flag(out);
	algo_samples_end(window, out);
	return 0;
}

const struct algo_ops algo_nic_stall_ops = {
    .name = "nic_stall",
    .paper = "Millisampler (IMC'22), a case; the rule is ours",
    .doc = "links of hosts that took in more than a wire carries",
    .needs = OBS_SAMPLES,
    .params = algo_nic_stall_fields,
    .params_size = sizeof(struct algo_nic_stall_params),
    .work_size = sizeof(struct stall_work),
    .init = nic_stall_init,
    .diagnose = nic_stall_diagnose,
    .free = nic_stall_free,
};
