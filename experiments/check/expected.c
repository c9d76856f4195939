/* experiments/check/expected.c -- results against those of an earlier full run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/expected.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stat.h"
#include "sim/text.h"
#include "sim/vec.h"

/* Texts that were rounded to 10 digits on machines whose libm differ. */
#define SAME 1e-9
/* In 9 of 10 seeds a deviation is seen that is so many errors more than what
 * fails. */
#define NINE_OF_TEN 1.2815515655446004

struct compare {
	struct xp_expected_table was, is;
	unsigned char *met; /* [is.n] */
	size_t next;        /* where to look first */
	double bound[2];    /* of z: at a point, over all */
	int complete;       /* our results */
	int as_shipped;     /* they are of a spec without --set, --smoke */
	int same_points;
	struct xp_expected *x;
	void (*differ)(void *arg, const char *sentence);
	void *arg;
};

/* --- telling ---------------------------------------------------------------*/

static void put_where(const struct compare *c, const struct xp_expected_row *r,
    struct sim_text *t)
{
	const char *name = c->was.coords, *value = r->point;
	const int over_all = r->all && *value == '*';
	if (over_all)
		sim_put(t, "over all points: ");
	while (!over_all && *name) {
		const size_t n = strcspn(name, "\t"), k = strcspn(value, "\t");
		sim_put(t, "%.*s %.*s", (int)n, name, (int)k, value);
		name += n + (name[n] != '\0');
		value += k + (value[k] != '\0');
		sim_put(t, "%s", *name ? ", " : ": ");
	}
	sim_put(t, "%s ", r->metric);
}

/* A row that only one of the two tables has. */
static void tell_alone(struct compare *c, const struct xp_expected_row *r,
    const char *why)
{
	char text[512];
	struct sim_text t = {text, sizeof(text), 0};
	if (!c->differ)
		return;
	put_where(c, r, &t);
	sim_put(&t, "%s", why);
	c->differ(c->arg, text);
}

static void miss_row(struct compare *c, const struct xp_expected_row *was)
{
	c->x->n_missing++;
	tell_alone(c, was,
	    !c->complete ? "is not in these results: not all runs are done"
		: c->as_shipped
		? "is not in these results"
		: "is not in these results, of --set or --smoke");
}

/* Two that differ; Z is 0 where they should be the same. */
static void fail_pair(struct compare *c, const struct xp_expected_row *was,
    const struct xp_expected_row *is, const char *why, double z)
{
	char text[512];
	struct sim_text t = {text, sizeof(text), 0};
	const unsigned long long n = is->n, m = was->n;
	c->x->n_failed++;
	if (!c->differ)
		return;
	put_where(c, is, &t);
	if (z != 0)
		sim_put(&t,
		    "%.4g +- %.2g in %llu of %llu runs, was %.4g +- %.2g in "
		    "%llu of %llu: ",
		    is->value, is->se, n, (unsigned long long)is->runs,
		    was->value, was->se, m, (unsigned long long)was->runs);
	else
		sim_put(&t,
		    "%.10g in %llu runs, was %.10g in %llu: ", is->value, n,
		    was->value, m);
	if (n > 0 && m > 0 && was->value != 0)
		sim_put(&t, "%.4g times, ", is->value / was->value);
	sim_put(&t, "%s", why);
	if (z != 0)
		sim_put(&t, " %.1f, at most %.1f", fabs(z), c->bound[was->all]);
	c->differ(c->arg, text);
}

/* --- one number ------------------------------------------------------------*/

/* The z of shares A of N and B of M runs. */
static double share_z(const struct xp_expected_row *a,
    const struct xp_expected_row *b)
{
	const double n = (double)a->runs, m = (double)b->runs;
	const double p = (double)a->n / n, q = (double)b->n / m;
	if (a->runs == 0 || b->runs == 0)
		return 0;
	return sim_means_z(p, p * (1 - p) / fmax(1, n - 1), n, q,
	    q * (1 - q) / fmax(1, m - 1), m);
}

/* A mean of so many that are independent, and its variance. */
struct sample {
	double n, variance;
};

/* Few runs can't show how much they vary. Probes, each of which draws its own
 * losses, nearly take the place of runs: as a quarter of them, since those of
 * one run share its faults. */
static struct sample sample_runs(const struct xp_expected_row *r, int few)
{
	struct sample s = {(double)r->n, r->n > 1 ? r->se * r->se : 0};
	if (!few)
		return s;
	s.n = fmax(1, r->trials / 4);
	s.variance = fmax(s.variance, r->value * (1 - r->value) / s.n);
	return s;
}

/* Whether probes take the place of runs. Over all points they can't, as one may
 * count at several of them; nor do those that did not connect, as black holes
 * swallow all of a pair's. */
static int of_few(const struct xp_expected_row *a,
    const struct xp_expected_row *b)
{
	return !a->all && (a->n < b->n ? a->n : b->n) < XP_EXPECTED_FEW &&
	    strcmp(a->metric, "drop_rate") == 0;
}

static double value_z(const struct xp_expected_row *a,
    const struct xp_expected_row *b)
{
	const struct sample s = sample_runs(a, of_few(a, b));
	const struct sample t = sample_runs(b, of_few(a, b));
	return a->n == 0 || b->n == 0
	    ? 0
	    : sim_means_z(a->value, s.variance, s.n, b->value, t.variance, t.n);
}

static int same_number(const struct xp_expected_row *a,
    const struct xp_expected_row *b)
{
	return a->runs == b->runs && a->n == b->n &&
	    (isnan(a->value) ||
		fabs(a->value - b->value) <=
		    SAME * fmax(fabs(a->value), fabs(b->value)));
}

static void compare_row(struct compare *c, const struct xp_expected_row *was,
    const struct xp_expected_row *is)
{
	if (was->n == 0 && is->n == 0) {
		c->x->n_unmeasured++;
		return;
	}
	const int moved = !same_number(was, is);
	c->x->n_compared++;
	c->x->n_moved += (size_t)moved;
	if (c->x->exact) {
		if (moved)
			fail_pair(c, was, is,
			    "of the same spec, seed and version", 0);
		return;
	}
	const double share = share_z(is, was), value = value_z(is, was);
	/* Of few runs no share is far from another, but never after always is
	 * no matter of chance. */
	if (is->n == 0 && was->n == was->runs)
		fail_pair(c, was, is,
		    "measured in each run before, in none now", 0);
	else if (fabs(share) > c->bound[was->all])
		fail_pair(c, was, is, "z of the runs that measure it", share);
	else if (fabs(value) > c->bound[was->all])
		fail_pair(c, was, is, "z", value);
}

/* --- what would be seen ----------------------------------------------------*/

/* The deviation, as a share of the value, that fails in 9 of 10 new seeds. z
 * has the difference in its own error too, and so is never beyond sqrt(2 n -
 * 1): few runs see nothing. T is what the difference over the error of two
 * samples without it must come to. */
static double sees(const struct xp_expected_row *a,
    const struct xp_expected_row *b, double bound)
{
	const struct sample s = sample_runs(a, of_few(a, b));
	const struct sample u = sample_runs(b, of_few(a, b));
	const double n = fmin(s.n, u.n), most = 2 * n - 1 - bound * bound;
	if (n < 2 || most <= 0)
		return INFINITY;
	const double t = bound * sqrt((2 * n - 2) / most);
	const double error = sqrt((s.n * s.variance + u.n * u.variance) / n);
	return (t + NINE_OF_TEN) * error / fabs(a->value);
}

/* What changes everywhere is seen where it is seen best. */
static void look_at_loss(struct compare *c, const struct xp_expected_row *was,
    const struct xp_expected_row *is)
{
	static const char *const losses[] = {"n_drops", "drop_rate",
	    "unconnected_rate"};
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		if (strcmp(was->metric, losses[i]) != 0 || !(was->value > 0))
			continue;
		const double x = sees(was, is, c->bound[was->all]);
		if (c->x->loss && c->x->sees <= x)
			continue;
		c->x->loss = losses[i];
		c->x->sees = x;
	}
}

/* --- all of them -----------------------------------------------------------*/

/* Ours of the same point and metric, or NULL. As both are mostly in one order,
 * the search begins behind what was found last. */
static const struct xp_expected_row *find_row(struct compare *c,
    const struct xp_expected_row *was)
{
	/* The same values of other coordinates are another point; all points
	 * of others are other points. */
	if (strcmp(c->was.coords, c->is.coords) != 0 ||
	    (was->all && !c->same_points))
		return NULL;
	for (size_t i = 0; i < c->is.n; i++) {
		const size_t k = (c->next + i) % c->is.n;
		const struct xp_expected_row *is = &c->is.row[k];
		if (strcmp(is->metric, was->metric) != 0 ||
		    strcmp(is->point, was->point) != 0)
			continue;
		c->met[k] = 1;
		c->next = k + 1;
		return is;
	}
	return NULL;
}

/* Lines of points come metric by metric, so those of the first tell them. */
static const struct xp_expected_row *
next_point(const struct xp_expected_table *t, const char *metric, size_t *i)
{
	while (*i < t->n && t->row[*i].point[0] == '*' && t->row[*i].all)
		(*i)++;
	if (*i == t->n || (metric && strcmp(t->row[*i].metric, metric) != 0))
		return NULL;
	return &t->row[(*i)++];
}

static int are_same_points(const struct xp_expected_table *was,
    const struct xp_expected_table *is)
{
	size_t i = 0, k = 0;
	const struct xp_expected_row *a = next_point(was, NULL, &i);
	const struct xp_expected_row *b = next_point(is, NULL, &k);
	if (strcmp(was->coords, is->coords) != 0)
		return 0;
	while (a && b && strcmp(a->point, b->point) == 0) {
		a = next_point(was, a->metric, &i);
		b = next_point(is, b->metric, &k);
	}
	return !a && !b;
}

/* Two tests a number: its value, and how often it is measured. */
static void set_bounds(struct compare *c)
{
	size_t n[2] = {0, 0};
	for (size_t i = 0; i < c->was.n; i++)
		n[c->was.row[i].all] += 2;
	for (int all = 0; all < 2; all++)
		c->bound[all] = gsl_cdf_ugaussian_Qinv(
		    XP_EXPECTED_ALPHA / 4 / fmax(1, (double)n[all]));
}

static int compare(struct compare *c, struct sim_err *e)
{
	const int rc = SIM_ZALLOC(&c->met, c->is.n, e);
	if (rc < 0)
		return rc;
	set_bounds(c);
	c->same_points = are_same_points(&c->was, &c->is);
	c->x->exact = c->complete && c->was.made_of != 0 &&
	    c->was.made_of == c->is.made_of;
	for (size_t i = 0; i < c->was.n; i++) {
		const struct xp_expected_row *was = &c->was.row[i];
		const struct xp_expected_row *is = find_row(c, was);
		if (is && is->runs > 0) {
			compare_row(c, was, is);
			look_at_loss(c, was, is);
		} else {
			miss_row(c, was);
		}
	}
	for (size_t i = 0; i < c->is.n; i++) {
		const struct xp_expected_row *is = &c->is.row[i];
		if (c->met[i] || (is->all && !c->same_points))
			continue;
		c->x->n_new++;
		if (c->x->exact)
			tell_alone(c, is, "is not in the earlier table");
	}
	return 0;
}

int xp_expected_fails(const struct xp_expected *x)
{
	return x->n_failed + x->n_missing + (x->exact ? x->n_new : 0) > 0;
}

static int is_complete(const struct res_cube *c)
{
	const struct res_progress p = res_cube_progress(c);
	return c->shard_n <= 1 && p.n_done == p.n_cells;
}

/* C has all but the earlier table; RC is what came of reading ours. */
static int expected_run(struct compare *c, int rc, const char *name,
    const char *text, struct sim_err *e)
{
	*c->x = (struct xp_expected){0};
	if (rc == 0 && (rc = xp_expected_read(&c->was, text, name, e)) == 0)
		rc = compare(c, e);
	xp_expected_free(&c->was);
	xp_expected_free(&c->is);
	free(c->met);
	return rc;
}

int xp_expected_check(const struct res_cube *cube, const char *name,
    const char *text, struct xp_expected *x,
    void (*differ)(void *arg, const char *sentence), void *arg,
    struct sim_err *e)
{
	struct compare c = {.complete = is_complete(cube),
	    .as_shipped =
		(!cube->overrides || !*cube->overrides) && !cube->until,
	    .x = x,
	    .differ = differ,
	    .arg = arg};
	const int rc = xp_expected_of(&c.is, cube, e);
	return expected_run(&c, rc, name, text, e);
}

int xp_expected_check_table(const char *our_name, const char *ours,
    const char *name, const char *text, struct xp_expected *x,
    void (*differ)(void *arg, const char *sentence), void *arg,
    struct sim_err *e)
{
	struct compare c = {.complete = 1,
	    .as_shipped = 1,
	    .x = x,
	    .differ = differ,
	    .arg = arg};
	const int rc = xp_expected_read(&c.is, ours, our_name, e);
	return expected_run(&c, rc, name, text, e);
}
