/* experiments/check/verify.c -- what a paper claims against what we measured.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/verify.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/place.h"
#include "sim/ratio.h"
#include "sim/vec.h"

/* Of a claim as a whole, that it differs though it is true. */
#define FALSE_ALARM 0.05
/* The chance with which a deviation of `seen` would have been seen. */
#define POWER 0.9
/* Deviations that matter: points of a share, and part of any other number. */
#define MATTERS_OF_SHARE  0.05
#define MATTERS_OF_NUMBER 0.2

const char *const xp_claim_verdict_names[] = {"not run", "not comparable",
    "in words", "undecided", "depends", "agrees", "DIFFERS", NULL};

/* --- samples ---------------------------------------------------------------*/

/* A claim, the results, and the places of the labels among their algorithms. */
enum { NONE = UINT32_MAX };
struct check {
	const struct xp_claim *claim;
	const struct res_cube *cube;
	struct xp_quantity what; /* of this reading */
	size_t algo, minus, per; /* the last two may be NONE */
	double conf;
	double *sample; /* [4][n_samples] num, den, num, den */
	size_t n_samples;
	size_t *place; /* [n_axes], scratch */
	size_t *point; /* [n_meant] of this case */
	size_t n_meant;
	struct sim_err *e;
};

/* A column of a run; NaN where it was not measured. A row has the trial's
 * metrics first, then each algorithm's. */
static double column_of(const struct check *k, size_t algo, size_t point,
    size_t run, uint32_t column)
{
	const size_t first = k->what.of_trial ? 0 : res_row_doubles(algo);
	return res_cube_value(k->cube, point, run, first + column);
}

/* The metric itself, before any share of runs is taken. */
static double metric_of(const struct check *k, size_t algo, size_t point,
    size_t run)
{
	const double x = column_of(k, algo, point, run, k->what.num);
	return k->what.less == XP_NO_COLUMN
	    ? x
	    : x - column_of(k, algo, point, run, k->what.less);
}

/* What a run adds to the sums of a ratio, or 0 and 0 if it failed or measured
 * nothing. */
static void run_of(const struct check *k, size_t algo, size_t point, size_t run,
    double *num, double *den)
{
	const struct xp_claim *c = k->claim;
	*num = metric_of(k, algo, point, run);
	*den = 1;
	if (k->what.den != XP_NO_COLUMN)
		*den = column_of(k, algo, point, run, k->what.den);
	if (k->per != NONE)
		*den = metric_of(k, k->per, point, run);
	if (res_cube_run_status(k->cube, point, run) != RES_DONE ||
	    isnan(*num) || !(*den >= 0))
		*num = *den = 0;
	else if (c->in_range)
		*num = *num >= c->from && *num <= c->to;
}

/* Fill one of the two samples from AT on with the runs of a point. */
static void sample_point(struct check *k, unsigned which, size_t at,
    size_t algo, size_t point)
{
	double *num = k->sample + 2 * which * k->n_samples + at;
	for (size_t run = 0; run < k->cube->n_runs; run++)
		run_of(k, algo, point, run, &num[run],
		    &num[k->n_samples + run]);
}

static struct sim_ratio_sample sample_of(const struct check *k, unsigned which,
    size_t n)
{
	const double *num = k->sample + 2 * which * k->n_samples;
	return (struct sim_ratio_sample){num, num + k->n_samples, n};
}

/* What one trial more or less adds to a share. */
static double one_trial(const struct check *k, const struct sim_ratio_sample *s)
{
	double den = 0;
	for (size_t i = 0; i < s->n; i++)
		den += s->den[i];
	return xp_claim_is_share(k->claim) && den > 0 ? 1 / den : 0;
}

/* The ratio of the first N entries of the samples: of the first alone, or less
 * the second. NaN without trials. */
static int take_ratio(struct check *k, size_t n, int both, struct sim_ratio *r)
{
	const struct sim_ratio_sample a = sample_of(k, 0, n);
	const struct sim_ratio_sample b = sample_of(k, 1, n);
	*r = (struct sim_ratio){NAN, NAN, NAN};
	if (isnan(sim_ratio_value(&a)) || (both && isnan(sim_ratio_value(&b))))
		return 0;
	if (both)
		sim_ratio_difference(&a, &b, k->conf,
		    fmax(one_trial(k, &a), one_trial(k, &b)), r);
	else if (xp_claim_is_share(k->claim))
		return sim_ratio_share(&a, k->conf, r, k->e);
	else
		sim_ratio_mean(&a, k->conf, r);
	return 0;
}

/* The number of another simulator is an estimate too. Its variance is ours by
 * the numbers of runs. */
static void widen(const struct check *k, struct sim_ratio *r)
{
	const double ours = (double)k->cube->n_runs, theirs = k->claim->runs;
	if (theirs == 0)
		return;
	const double f = sqrt(1 + ours / theirs);
	r->lo = r->value - (r->value - r->lo) * f;
	r->hi = r->value + (r->hi - r->value) * f;
}

/* --- judging ---------------------------------------------------------------*/

/* What the claim allows, both ends included. */
struct band {
	double lo, hi;
};

static struct band band_of(const struct xp_claim *c)
{
	struct band b = {-INFINITY, INFINITY};
	switch ((enum xp_relation)c->relation) {
	case XP_IS:
		b.hi = c->value + c->rounding;
		/* fall through */
	case XP_AT_LEAST:
		b.lo = c->value - c->rounding;
		break;
	case XP_AT_MOST:
		b.hi = c->value + c->rounding;
		break;
	case XP_ABOVE:
		b.lo = nextafter(c->value, INFINITY);
		break;
	case XP_BELOW:
		b.hi = nextafter(c->value, -INFINITY);
		break;
	case XP_WORDS:
		break;
	}
	return b;
}

/* How far an interval reaches into the band: below 0 all of it lies outside. */
static double room(struct band b, const struct sim_ratio *r)
{
	return fmin(r->hi - b.lo, b.hi - r->lo);
}

/* The deviation beyond the band that would have been called one with chance
 * POWER: the interval reaches z(conf) standard errors, and the estimate falls
 * short of its mean by z(POWER) of them with chance 1 - POWER. */
static double deviation_seen(const struct check *k, const struct sim_ratio *r)
{
	const double z = gsl_cdf_ugaussian_Qinv((1 - k->conf) / 2);
	return (r->hi - r->lo) / 2 * (1 + gsl_cdf_ugaussian_Pinv(POWER) / z);
}

static enum xp_claim_verdict judge(const struct check *k,
    const struct sim_ratio *r)
{
	const struct xp_claim *c = k->claim;
	const struct band b = band_of(c);
	const double matters = xp_claim_is_share(c)
	    ? MATTERS_OF_SHARE
	    : MATTERS_OF_NUMBER * fabs(c->value);
	if (room(b, r) < 0)
		return XP_DIFFERS;
	if (r->lo >= b.lo && r->hi <= b.hi)
		return XP_AGREES;
	/* "Greater" and "less" have no deviation that is none. */
	if (c->relation == XP_ABOVE || c->relation == XP_BELOW)
		return XP_UNDECIDED;
	return deviation_seen(k, r) <= matters ? XP_AGREES : XP_UNDECIDED;
}

static void reading_take(struct check *k, const struct sim_ratio *r,
    struct xp_reading *out)
{
	out->ours = r->value;
	out->lo = r->lo;
	out->hi = r->hi;
	out->seen = deviation_seen(k, r);
	out->verdict = judge(k, r);
}

/* --- points together -------------------------------------------------------*/

/* One point, less the other label if the claim has one. */
static int measure_point(struct check *k, size_t point, struct sim_ratio *r)
{
	sample_point(k, 0, 0, k->algo, point);
	if (k->minus != NONE)
		sample_point(k, 1, 0, k->minus, point);
	const int rc = take_ratio(k, k->cube->n_runs, k->minus != NONE, r);
	if (rc == 0)
		widen(k, r);
	return rc;
}

/* A claim in words is told with the range of its points. */
static void stretch(struct xp_reading *out, const struct sim_ratio *r)
{
	out->verdict = XP_IN_WORDS;
	out->lo = fmin(out->lo, r->value);
	out->hi = fmax(out->hi, r->value);
}

static int read_each(struct check *k, struct xp_reading *out)
{
	const struct band b = band_of(k->claim);
	double least = INFINITY;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < k->n_meant; i++) {
		struct sim_ratio r;
		rc = measure_point(k, k->point[i], &r);
		/* A point that measured nothing is not among those that are
		 * compared, which is told. */
		out->n_blank += rc == 0 && isnan(r.value);
		if (rc < 0 || isnan(r.value))
			continue;
		out->n_points++;
		out->n_outside += room(b, &r) < 0;
		if (k->claim->relation == XP_WORDS) {
			stretch(out, &r);
		} else if (room(b, &r) < least) {
			least = room(b, &r);
			reading_take(k, &r, out);
			res_cube_at(k->cube, k->point[i], k->place);
			xp_place_name(k->claim, k->cube, k->place, 0,
			    out->where, sizeof(out->where));
		}
	}
	return rc;
}

/* Whether any of the N entries from AT on has trials. */
static int has_trials(const struct check *k, size_t at, size_t n)
{
	const double *den = k->sample + k->n_samples + at;
	size_t i = 0;
	while (i < n && !(den[i] > 0))
		i++;
	return i < n;
}

static int read_pool(struct check *k, struct xp_reading *out)
{
	const size_t n = k->cube->n_runs;
	struct sim_ratio r;
	for (size_t i = 0; i < k->n_meant; i++) {
		sample_point(k, 0, i * n, k->algo, k->point[i]);
		out->n_blank += !has_trials(k, i * n, n);
		if (k->minus != NONE)
			sample_point(k, 1, i * n, k->minus, k->point[i]);
	}
	const int rc = take_ratio(k, k->n_meant * n, k->minus != NONE, &r);
	if (rc < 0 || isnan(r.value))
		return rc;
	widen(k, &r);
	out->n_points = k->n_meant - out->n_blank;
	reading_take(k, &r, out);
	return 0;
}

/* Whether all meant points lie along one axis. */
static int is_line(struct check *k)
{
	size_t n_differ = 0;
	for (size_t a = 0; a < k->cube->n_axes; a++) {
		res_cube_at(k->cube, k->point[0], k->place);
		const size_t first = k->place[a];
		int differs = 0;
		for (size_t i = 1; i < k->n_meant; i++) {
			res_cube_at(k->cube, k->point[i], k->place);
			differs |= k->place[a] != first;
		}
		n_differ += differs;
	}
	return n_differ == 1;
}

static int read_trend(struct check *k, struct xp_reading *out)
{
	struct sim_ratio r;
	/* A smoke run may have left one point of the line. */
	if (k->n_meant < 2)
		return 0;
	if (!is_line(k))
		return sim_fail(k->e, SIM_EINVAL,
		    "a trend needs points along one axis; `at` leaves %zu.",
		    k->n_meant);
	sample_point(k, 0, 0, k->algo, k->point[k->n_meant - 1]);
	sample_point(k, 1, 0, k->algo, k->point[0]);
	const int rc = take_ratio(k, k->cube->n_runs, 1, &r);
	if (rc < 0 || isnan(r.value))
		return rc;
	out->n_points = k->n_meant;
	reading_take(k, &r, out);
	return 0;
}

static int read_points(struct check *k, struct xp_reading *out)
{
	const enum xp_over over = k->claim->over;
	*out = (struct xp_reading){.verdict = XP_NOT_RUN,
	    .ours = NAN,
	    .lo = k->claim->relation == XP_WORDS ? INFINITY : NAN,
	    .hi = k->claim->relation == XP_WORDS ? -INFINITY : NAN,
	    .seen = NAN};
	k->conf = 1 -
	    (over == XP_EACH ? FALSE_ALARM / (double)k->n_meant : FALSE_ALARM);
	return over == XP_POOL ? read_pool(k, out)
	    : over == XP_TREND ? read_trend(k, out)
			       : read_each(k, out);
}

/* --- cases -----------------------------------------------------------------*/

/* Both readings of the points in k->point. */
static int read_case(struct check *k, size_t n_readings, struct xp_case *x)
{
	const struct xp_quantity hit = {.num = RES_ALGO_hits_fault,
	    .less = XP_NO_COLUMN,
	    .den = RES_ALGO_flows_fault};
	int rc = 0;
	res_cube_at(k->cube, k->point[0], k->place);
	xp_place_name(k->claim, k->cube, k->place, 1, x->guess,
	    sizeof(x->guess));
	for (size_t i = 0; rc == 0 && i < n_readings; i++) {
		k->what = i == XP_HIT ? hit : k->claim->what;
		rc = read_points(k, &x->by[i]);
	}
	return rc;
}

/* Whether two points have the same place along all axes that are a guess. */
static int same_guess(struct check *k, size_t a, size_t b)
{
	int same = 1;
	for (size_t i = 0; same && i < k->cube->n_axes; i++) {
		if (!xp_place_is_guess(k->claim, &k->cube->axis[i]))
			continue;
		res_cube_at(k->cube, a, k->place);
		const size_t at = k->place[i];
		res_cube_at(k->cube, b, k->place);
		same = k->place[i] == at;
	}
	return same;
}

/* Collect into k->point the meant points of FIRST's case; 0 if an earlier point
 * is of that case already. */
static int collect(struct check *k, size_t first)
{
	k->n_meant = 0;
	for (size_t p = 0; p < k->cube->n_points; p++) {
		res_cube_at(k->cube, p, k->place);
		if (!xp_place_is_meant(k->claim, k->cube, k->place) ||
		    !same_guess(k, p, first))
			continue;
		if (p < first)
			return 0;
		k->point[k->n_meant++] = p;
	}
	return k->n_meant > 0;
}

static int read_cases(struct check *k, struct xp_finding *f)
{
	int rc = 0;
	size_t cap = 0;
	for (size_t p = 0; rc == 0 && p < k->cube->n_points; p++) {
		res_cube_at(k->cube, p, k->place);
		if (!xp_place_is_meant(k->claim, k->cube, k->place) ||
		    !collect(k, p))
			continue;
		if ((rc = SIM_RESERVE(&f->cases, &cap, f->n_cases + 1, k->e)) <
		    0)
			break;
		struct xp_case *x = &f->cases[f->n_cases++];
		*x = (struct xp_case){.guess = ""};
		rc = read_case(k, f->n_readings, x);
	}
	return rc;
}

/* What several cases come to: what all say, or that it depends. */
static enum xp_claim_verdict verdict_of_cases(const struct xp_finding *f,
    size_t reading)
{
	enum xp_claim_verdict v = f->cases[0].by[reading].verdict;
	for (size_t i = 1; i < f->n_cases; i++)
		if (f->cases[i].by[reading].verdict != v)
			v = XP_DEPENDS;
	return v;
}

/* --- one claim -------------------------------------------------------------*/

static size_t find_label(const struct res_cube *c, const char *label)
{
	for (size_t i = 0; i < c->n_algos; i++)
		if (strcmp(c->algo[i], label) == 0)
			return i;
	return NONE;
}

/* Set the place of a label; 1, and f->why, if the results lack it. */
static int lacks_label(const struct check *k, struct xp_finding *f,
    const char *label, size_t *at)
{
	*at = NONE;
	if (!*label || (*at = find_label(k->cube, label)) != NONE)
		return 0;
	snprintf(f->why, sizeof(f->why), "no algorithm %s in %s", label,
	    k->claim->figure);
	return 1;
}

static int lacks_axis(const struct check *k, struct xp_finding *f,
    const char *name)
{
	size_t axis;
	const struct res_coord *coord;
	if (xp_place_find(k->cube, name, &axis, &coord))
		return 0;
	snprintf(f->why, sizeof(f->why), "no axis %.64s in %s", name,
	    k->claim->figure);
	return 1;
}

/* Put into f->why what keeps the claim from being compared, and return 1; 0 if
 * nothing does. That is no error: the results may not have been made yet. */
static int is_lacking(struct check *k, struct xp_finding *f)
{
	const struct xp_claim *c = k->claim;
	if (!k->cube) {
		snprintf(f->why, sizeof(f->why), "no results of %s", c->figure);
		return 1;
	}
	if (lacks_label(k, f, c->algorithm, &k->algo) ||
	    lacks_label(k, f, c->minus, &k->minus) ||
	    lacks_label(k, f, c->per, &k->per))
		return 1;
	for (size_t i = 0; c->at && i < c->at->n; i++)
		if (lacks_axis(k, f, c->at->key[i]))
			return 1;
	for (size_t i = 0; c->guess && i < c->guess->n; i++)
		if (lacks_axis(k, f, c->guess->child[i]->text))
			return 1;
	return 0;
}

static int open_check(struct check *k)
{
	const struct res_cube *c = k->cube;
	int rc;
	k->n_samples =
	    c->n_runs * (k->claim->over == XP_POOL ? c->n_points : 1);
	if ((rc = SIM_ZALLOC(&k->place, c->n_axes, k->e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->point, c->n_points, k->e)) < 0)
		return rc;
	return SIM_ZALLOC(&k->sample, 4 * k->n_samples, k->e);
}

int xp_claim_check(const struct xp_claim *c, const struct res_cube *cube,
    struct xp_finding *f, struct sim_err *e)
{
	struct check k = {.claim = c, .cube = cube, .e = e};
	*f = (struct xp_finding){.n_readings = 1};
	/* A claim without a metric is there for the record. */
	f->verdict[XP_OWN] = XP_NOT_COMPARABLE;
	if (!*c->metric)
		return 0;
	/* What another simulator measured, it measured by that metric. */
	f->n_readings = strcmp(c->metric, "accuracy_kept") == 0 &&
		c->certainty != XP_MEASURED
	    ? 2
	    : 1;
	f->verdict[XP_OWN] = f->verdict[XP_HIT] = XP_NOT_RUN;
	if (is_lacking(&k, f))
		return 0;
	int rc = open_check(&k);
	if (rc == 0)
		rc = read_cases(&k, f);
	free(k.place);
	free(k.point);
	free(k.sample);
	if (rc < 0)
		return sim_wrap(e, rc, "claim %s", c->id);
	if (f->n_cases == 0)
		snprintf(f->why, sizeof(f->why), "no such points in %s",
		    c->figure);
	for (size_t i = 0; f->n_cases > 0 && i < f->n_readings; i++)
		f->verdict[i] = verdict_of_cases(f, i);
	return 0;
}

void xp_finding_free(struct xp_finding *f)
{
	free(f->cases);
	*f = (struct xp_finding){0};
}
