/* results/schema.c -- every measured quantity: name, units, meaning.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/schema.h"

#include <string.h>

/* The set that each trial metric belongs to, as a constant SET_<name>, so that
 * the table below can look it up by name. The lists themselves do not say
 * it. */
enum {
#define X(name, unit, doc)     SET_##name = RES_OF_FLOWS,
#define SCENE(name, unit, doc) SET_##name = RES_OF_SCENE,
	RES_FLOW_METRICS(X, SCENE)
#undef SCENE
#undef X
#define X(name, unit, doc) SET_##name = RES_OF_AGENTS,
	    RES_AGENT_METRICS(X)
#undef X
#define X(name, unit, doc) SET_##name = RES_OF_SECONDS,
		RES_SECOND_METRICS(X)
#undef X
#define X(name, unit, doc) SET_##name = RES_OF_PROBES,
		    RES_PROBE_METRICS(X)
#undef X
};

/* Metrics of probes are optional by themselves. Those of flows, agents and
 * seconds are left out where probes were measured instead; those of the scene
 * never are. */
const struct res_metric res_trial_metrics[] = {
#define X(name, unit, doc)                                                     \
	{#name, unit, doc, 0, 0, SET_##name, (SET_##name & RES_OPTIONAL) != 0, \
	    (SET_##name & (RES_OPTIONAL | RES_OF_SCENE)) == 0},
    RES_TRIAL_METRICS(X)
#undef X
};

const struct res_metric res_algo_metrics[] = {
#define X(name, unit, doc)                                                     \
	{#name, unit, doc, 0, 0, 0, RES_ALGO_##name >= RES_ALGO_detect_s, 0},
    RES_ALGO_METRICS(X)
#undef X
};

const struct res_metric res_ratios[] = {
#define X(name, num, den, doc)                                                 \
	{#name, "1", doc, RES_ALGO_##num, RES_ALGO_##den, 0,                   \
	    RES_ALGO_##num >= RES_ALGO_detect_s, 0},
    RES_RATIOS(X)
#undef X
};

const struct res_metric res_trial_ratios[] = {
#define X(name, num, den, doc)                                                 \
	{#name, "1", doc, RES_TRIAL_##num, RES_TRIAL_##den, 0, 1, 0},
    RES_TRIAL_RATIOS(X)
#undef X
};

const struct res_metric res_reach_ratios[] = {
#define X(name, num, den, doc)                                                 \
	{#name, "1", doc, RES_ALGO_##num, RES_TRIAL_##den, RES_OF_AGENTS, 1, 0},
    RES_REACH_RATIOS(X)
#undef X
};

static const struct res_metric *schema_find(const struct res_metric m[],
    unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(m[i].name, name) == 0)
			return &m[i];
	return NULL;
}

/* Names are unique over all lists, as each is a dataset or a column. */
const struct res_metric *res_metric_find(const char *name)
{
	const struct res_metric *m =
	    schema_find(res_trial_metrics, RES_N_TRIAL_METRICS, name);
	if (!m)
		m = schema_find(res_algo_metrics, RES_N_ALGO_METRICS, name);
	if (!m)
		m = schema_find(res_ratios, RES_N_RATIOS, name);
	if (!m)
		m = schema_find(res_trial_ratios, RES_N_TRIAL_RATIOS, name);
	if (!m)
		m = schema_find(res_reach_ratios, RES_N_REACH_RATIOS, name);
	return m;
}
