/* algos/pingmesh/hole_fit.c -- hazards of causes, by greatest likelihood.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hole_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

enum { MAX_STEPS = 20000 };
static const double tolerance = 0.01;

void algo_hole_fit_close(struct algo_hole_fit *f)
{
	free(f->cell);
	free(f->n_pairs);
	free(f->barred);
	free(f->hazard);
	free(f->n_bad);
	free(f->most);
	free(f->trial);
	free(f->sum);
	*f = (struct algo_hole_fit){0};
}

int algo_hole_fit_open(struct algo_hole_fit *f, uint32_t n_causes,
    struct sim_err *e)
{
	int rc;
	*f = (struct algo_hole_fit){.n_causes = n_causes};
	if ((rc = SIM_ZALLOC(&f->n_pairs, n_causes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->barred, n_causes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->hazard, n_causes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->n_bad, n_causes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->most, n_causes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->trial, n_causes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->sum, n_causes, e)) < 0)
		algo_hole_fit_close(f);
	return rc;
}

/* The logarithm of the likelihood of hazards H. SUM[c] becomes the count of
 * Poisson events expected of the pairs in cells of cause C, over its hazard. */
static double hole_fit_look(struct algo_hole_fit *f, const double h[])
{
	double log_l = 0;
	memset(f->sum, 0, f->n_causes * sizeof(*f->sum));
	for (size_t i = 0; i < f->n_cells; i++) {
		const struct algo_hole_cell *c = &f->cell[i];
		double all = c->background;
		for (uint32_t k = 0; k < c->n_causes; k++)
			all += h[c->cause[k]];
		const double p = -expm1(-all);
		log_l += c->n * log(p);
		for (uint32_t k = 0; k < c->n_causes; k++)
			f->sum[c->cause[k]] += c->n / p;
	}
	for (uint32_t c = 0; c < f->n_causes; c++)
		log_l -= h[c] * (f->n_pairs[c] - f->n_bad[c]);
	return log_l;
}

/* What can still be gained from H at most, by the slopes of the last look. */
static double hole_fit_gap(const struct algo_hole_fit *f, const double h[])
{
	double gap = 0;
	for (uint32_t c = 0; c < f->n_causes; c++) {
		if (f->barred[c] || f->n_bad[c] == 0)
			continue;
		const double slope = f->sum[c] - f->n_pairs[c];
		gap += slope > 0 ? slope * (f->most[c] - h[c]) : -slope * h[c];
	}
	return gap;
}

/* Improve H until it is known whether the greatest logarithm is below LOW, or
 * it is above HIGH, or nothing is left to gain. Returns what the greatest one
 * does not exceed; *LOG_L is that of H. */
static double hole_fit_climb(struct algo_hole_fit *f, double h[], double low,
    double high, double *log_l)
{
	for (int step = 0; step < MAX_STEPS; step++) {
		*log_l = hole_fit_look(f, h);
		const double gap = hole_fit_gap(f, h);
		if (gap <= tolerance || *log_l + gap < low || *log_l > high)
			return *log_l + gap;
		for (uint32_t c = 0; c < f->n_causes; c++)
			if (h[c] > 0)
				h[c] *= f->sum[c] / f->n_pairs[c];
	}
	return INFINITY;
}

void algo_hole_fit(struct algo_hole_fit *f)
{
	memset(f->n_bad, 0, f->n_causes * sizeof(*f->n_bad));
	for (size_t i = 0; i < f->n_cells; i++)
		for (uint32_t k = 0; k < f->cell[i].n_causes; k++)
			f->n_bad[f->cell[i].cause[k]] += f->cell[i].n;
	for (uint32_t c = 0; c < f->n_causes; c++) {
		const double n = f->n_bad[c], all = f->n_pairs[c];
		f->most[c] = log1p(n / (all - n));
		f->hazard[c] = f->barred[c] ? 0 : n / all;
	}
	hole_fit_climb(f, f->hazard, -INFINITY, INFINITY, &f->log_l);
}

/* The others begin with a tenth of a pair at least, as a hazard of 0 would stay
 * so. The bound counts against the cause: what the others might still explain
 * is no evidence. */
double algo_hole_evidence(struct algo_hole_fit *f, uint32_t cause,
    double enough)
{
	const uint8_t was = f->barred[cause];
	double log_l;
	for (uint32_t c = 0; c < f->n_causes; c++)
		f->trial[c] = c == cause || f->barred[c] || f->n_bad[c] == 0
		    ? 0
		    : fmax(f->hazard[c], 0.1 / f->n_pairs[c]);
	f->barred[cause] = 1;
	const double bound = hole_fit_climb(f, f->trial, f->log_l - enough,
	    f->log_l - enough, &log_l);
	f->barred[cause] = was;
	return fmax(f->log_l - bound, 0);
}
