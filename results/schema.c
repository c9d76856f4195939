/* results/schema.c -- every measured quantity: name, units, meaning.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/schema.h"

#include <string.h>

const struct res_metric res_trial_metrics[] = {
#define X(name, unit, doc)                                                \
	{#name, unit, doc, 0, 0, RES_TRIAL_##name >= RES_TRIAL_n_probes,  \
	    RES_TRIAL_##name < RES_TRIAL_n_probes &&                      \
		RES_TRIAL_##name != RES_TRIAL_n_faults},
	RES_TRIAL_METRICS(X)
#undef X
};

const struct res_metric res_algo_metrics[] = {
#define X(name, unit, doc)                                                \
	{#name, unit, doc, 0, 0, RES_ALGO_##name == RES_ALGO_detect_s, 0},
	RES_ALGO_METRICS(X)
#undef X
};

const struct res_metric res_ratios[] = {
#define X(name, num, den, doc)                                            \
	{#name, "1", doc, RES_ALGO_##num, RES_ALGO_##den, 0, 0},
	RES_RATIOS(X)
#undef X
};

const struct res_metric res_trial_ratios[] = {
#define X(name, num, den, doc)                                            \
	{#name, "1", doc, RES_TRIAL_##num, RES_TRIAL_##den, 1, 0},
	RES_TRIAL_RATIOS(X)
#undef X
};

static const struct res_metric *find(const struct res_metric m[], unsigned n,
    const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(m[i].name, name) == 0)
			return &m[i];
	return NULL;
}

const struct res_metric *res_metric_find(const char *name)
{
	const struct res_metric *m =
	    find(res_trial_metrics, RES_N_TRIAL_METRICS, name);
	if (!m)
		m = find(res_algo_metrics, RES_N_ALGO_METRICS, name);
	if (!m)
		m = find(res_ratios, RES_N_RATIOS, name);
	if (!m)
		m = find(res_trial_ratios, RES_N_TRIAL_RATIOS, name);
	return m;
}
