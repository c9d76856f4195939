/* results/calibration.c -- how far stated chances are what they say.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

const double res_chance_least[] = {
#define EACH(X, bin, least, words) least,
    RES_CHANCE_BINS(, EACH)
#undef EACH
};

_Static_assert(RES_ALGO_n_stated_true_5 - RES_ALGO_n_stated_1 ==
	3 * RES_N_CHANCE_BINS - 1,
    "metrics of bins stand one behind the other");

/* Add those of one run to SUM, or with SIGN -1 take them away. */
static void calibration_add(struct res_chance_bin sum[],
    const struct res_chance_bin run[], double sign)
{
	for (size_t b = 0; b < RES_N_CHANCE_BINS && !isnan(run[0].n); b++) {
		sum[b].n += sign * run[b].n;
		sum[b].stated += sign * run[b].stated;
		sum[b].n_true += sign * run[b].n_true;
	}
}

static double calibration_n(const struct res_chance_bin sum[])
{
	double n = 0;
	for (size_t b = 0; b < RES_N_CHANCE_BINS; b++)
		n += sum[b].n;
	return n;
}

static double calibration_error(const struct res_chance_bin sum[])
{
	double gap = 0;
	for (size_t b = 0; b < RES_N_CHANCE_BINS; b++)
		gap += fabs(sum[b].stated - sum[b].n_true);
	return gap / calibration_n(sum);
}

static double calibration_if_right(const struct res_chance_bin sum[])
{
	double gap = 0;
	for (size_t b = 0; b < RES_N_CHANCE_BINS; b++)
		if (sum[b].n > 0)
			gap += sqrt(2 / M_PI * sum[b].stated *
			    fmax(0, 1 - sum[b].stated / sum[b].n));
	return gap / calibration_n(sum);
}

/* The mean of PSEUDO and its interval are the jackknife's, which stand around
 * the value itself here: what the jackknife would take away as bias is what
 * if_right tells. */
static void calibration_interval(const double pseudo[], const double ones[],
    size_t n, struct sim_ratio *ece)
{
	const struct sim_ratio_sample s = {pseudo, ones, n};
	struct sim_ratio mean;
	sim_ratio_mean(&s, 0.95, &mean);
	if (n < 2)
		return;
	ece->lo = fmax(0, ece->value + mean.lo - mean.value);
	ece->hi = fmin(1, ece->value + mean.hi - mean.value);
}

int res_calibration(struct res_chance_bin (*run)[RES_N_CHANCE_BINS], size_t n,
    struct res_calibration *out, struct sim_err *e)
{
	struct res_chance_bin sum[RES_N_CHANCE_BINS] = {0};
	double *pseudo = NULL;
	size_t k = 0, n_told = 0;
	*out =
	    (struct res_calibration){.ece = {NAN, NAN, NAN}, .if_right = NAN};
	for (size_t i = 0; i < n; i++) {
		calibration_add(sum, run[i], 1);
		n_told += !isnan(run[i][0].n);
	}
	out->n = calibration_n(sum);
	if (!(out->n > 0))
		return 0;
	const int rc = SIM_ZALLOC(&pseudo, 2 * n_told, e);
	if (rc < 0)
		return rc;
	double *const ones = pseudo + n_told;
	out->ece.value = calibration_error(sum);
	out->if_right = calibration_if_right(sum);
	for (size_t i = 0; i < n; i++) {
		struct res_chance_bin rest[RES_N_CHANCE_BINS];
		if (isnan(run[i][0].n))
			continue;
		memcpy(rest, sum, sizeof(rest));
		calibration_add(rest, run[i], -1);
		const double all = (double)n_told * out->ece.value;
		/* Where one run has all components, the others tell nothing. */
		pseudo[k] = calibration_n(rest) > 0
		    ? all - (double)(n_told - 1) * calibration_error(rest)
		    : all;
		ones[k++] = 1;
	}
	calibration_interval(pseudo, ones, n_told, &out->ece);
	free(pseudo);
	return 0;
}

int res_calibration_of(const struct res_cube *c, size_t point, size_t algo,
    struct res_calibration *out, struct sim_err *e)
{
	struct res_chance_bin(*run)[RES_N_CHANCE_BINS];
	size_t n = 0;
	*out = (struct res_calibration){0};
	int rc = SIM_ZALLOC(&run, c->n_runs, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < c->n_runs; i++)
		if (res_cube_run_status(c, point, i) == RES_DONE)
			res_cube_get_row(c, res_cube_row(c, point, i),
			    res_row_doubles(algo) + RES_ALGO_n_stated_1,
			    3 * (size_t)RES_N_CHANCE_BINS, (double *)run[n++]);
	rc = res_calibration(run, n, out, e);
	free(run);
	return rc;
}
