/* results/schema.c -- every measured quantity: name, units, meaning.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/schema.h"

#include <string.h>

const struct res_range_name res_ranges[] = {
#define X(range, words) {#range, words},
    RES_RANGES(X)
#undef X
};

/* The set that each trial metric belongs to, as a constant SET_<name>, so that
 * the table below can look it up by name. The lists themselves do not say
 * it. */
enum {
#define X(name, ...)     SET_##name = RES_OF_FLOWS,
#define SCENE(name, ...) SET_##name = RES_OF_SCENE,
	RES_FLOW_METRICS(X, SCENE)
#undef SCENE
#undef X
#define X(name, ...) SET_##name = RES_OF_AGENTS,
	    RES_AGENT_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_SECONDS,
		RES_SECOND_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_PROBES,
		    RES_PROBE_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_MIRROR,
			RES_MIRROR_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_COST,
			    RES_COST_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_RETX_COST,
				RES_RETX_COST_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_RACK,
				    RES_RACK_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_BUFFERS,
					RES_BUFFER_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_TRUE_BURSTS,
					    RES_TRUE_BURST_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_PORTS,
						RES_PORT_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_REPORTS,
						    RES_REPORT_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_LIMIT,
							RES_LIMIT_METRICS(X)
#undef X
#define X(name, ...) SET_##name = RES_OF_PLANNER,
							    RES_PLANNER_METRICS(
								X)
#undef X
};

/* Metrics of probes and of mirrors are optional by themselves. Those of flows, agents and
 * seconds are left out where probes were measured instead; those of the scene
 * never are. */
const struct res_metric res_trial_metrics[] = {
#define X(name, unit, range, doc, how)                                         \
	{#name, unit, doc, how, RES_RANGE_##range, 0, 0, SET_##name,           \
	    (SET_##name & RES_OPTIONAL) != 0,                                  \
	    (SET_##name & (RES_OPTIONAL | RES_OF_SCENE)) == 0},
    RES_TRIAL_METRICS(X)
#undef X
};

const struct res_metric res_algo_metrics[] = {
#define X(name, unit, range, doc, how)                                         \
	{#name, unit, doc, how, RES_RANGE_##range, 0, 0, 0,                    \
	    RES_ALGO_##name >= RES_ALGO_detect_s, 0},
    RES_ALGO_METRICS(X)
#undef X
};

const struct res_metric res_ratios[] = {
#define X(name, num, den, doc)                                                 \
	{#name, "1", doc, #num " / " #den, RES_RANGE_SHARE, RES_ALGO_##num,    \
	    RES_ALGO_##den, 0, RES_ALGO_##num >= RES_ALGO_detect_s, 0},
    RES_RATIOS(X)
#undef X
};

const struct res_metric res_trial_ratios[] = {
#define X(name, num, den, doc)                                                 \
	{#name, "1", doc, #num " / " #den, RES_RANGE_SHARE, RES_TRIAL_##num,   \
	    RES_TRIAL_##den, 0, 1, 0},
    RES_TRIAL_RATIOS(X)
#undef X
};

const struct res_metric res_reach_ratios[] = {
#define X(name, num, den, doc)                                                 \
	{#name, "1", doc, #num " / " #den, RES_RANGE_SHARE, RES_ALGO_##num,    \
	    RES_TRIAL_##den, RES_OF_AGENTS, 1, 0},
    RES_REACH_RATIOS(X)
#undef X
};

const struct res_metric_list res_metric_lists[RES_N_LISTS] = {
    {"RES_RATIOS", res_ratios, RES_N_RATIOS, 1, 0},
    {"RES_ALGO_METRICS", res_algo_metrics, RES_N_ALGO_METRICS, 0, 0},
    {"RES_TRIAL_RATIOS", res_trial_ratios, RES_N_TRIAL_RATIOS, 1, 1},
    {"RES_TRIAL_METRICS", res_trial_metrics, RES_N_TRIAL_METRICS, 0, 1},
    {"RES_REACH_RATIOS", res_reach_ratios, RES_N_REACH_RATIOS, 1, 0},
};

/* Names are unique over all lists, as each is a dataset or a column. */
const struct res_metric *res_metric_find(const char *name,
    const struct res_metric_list **list)
{
	for (unsigned k = 0; k < RES_N_LISTS; k++)
		for (unsigned i = 0; i < res_metric_lists[k].n; i++) {
			const struct res_metric *m =
			    &res_metric_lists[k].metric[i];
			if (strcmp(m->name, name) != 0)
				continue;
			if (list)
				*list = &res_metric_lists[k];
			return m;
		}
	return NULL;
}

const struct res_metric *res_metric_num(const struct res_metric_list *l,
    const struct res_metric *m)
{
	return !l->ratio  ? NULL
	    : l->of_trial ? &res_trial_metrics[m->num]
			  : &res_algo_metrics[m->num];
}

const struct res_metric *res_metric_den(const struct res_metric_list *l,
    const struct res_metric *m)
{
	const int of_trial =
	    l->of_trial || l == &res_metric_lists[RES_LIST_REACH];
	return !l->ratio ? NULL
	    : of_trial   ? &res_trial_metrics[m->den]
			 : &res_algo_metrics[m->den];
}

void res_metric_names(const char *name[RES_N_NAMES])
{
	size_t n = 0;
	for (unsigned k = 0; k < RES_N_LISTS; k++)
		for (unsigned i = 0; i < res_metric_lists[k].n; i++)
			name[n++] = res_metric_lists[k].metric[i].name;
}
