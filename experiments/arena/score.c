/* experiments/arena/score.c -- what sweeps of the arena come to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

const char *const xp_arena_scores[] = {
#define X(name, ...) #name,
    XP_ARENA_SCORES(X) XP_ARENA_COSTS(X)
#undef X
};

const char *xp_arena_family_name(size_t family)
{
	const char *name = xp_arena_families[family];
	return name ? name : "all";
}

static size_t arena_all(void)
{
	size_t n = 0;
	while (xp_arena_families[n])
		n++;
	return n;
}

void xp_arena_free(struct xp_arena_standing *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->entry[i].num);
		free(s->entry[i].den);
		free(s->entry[i].chance);
	}
	free(s->entry);
	*s = (struct xp_arena_standing){0};
}

static int arena_new(struct xp_arena_standing *s, size_t family,
    size_t telemetry, const char *algorithm, size_t n_runs,
    struct xp_arena_entry **out, struct sim_err *e)
{
	int rc = SIM_RESERVE(&s->entry, &s->cap, s->n + 1, e);
	if (rc < 0)
		return rc;
	struct xp_arena_entry *x = *out = &s->entry[s->n];
	*x = (struct xp_arena_entry){.family = family,
	    .telemetry = telemetry,
	    .n_runs = n_runs};
	snprintf(x->algorithm, sizeof(x->algorithm), "%s", algorithm);
	s->n++;
	if ((rc = SIM_ZALLOC(&x->num, XP_ARENA_N_SCORES * n_runs, e)) < 0 ||
	    (rc = SIM_ZALLOC(&x->den, XP_ARENA_N_SCORES * n_runs, e)) < 0)
		return rc;
	return SIM_ZALLOC(&x->chance, n_runs, e);
}

/* --- one window ----------------------------------------------------------- */

static void arena_count(struct xp_arena_entry *x, unsigned score, size_t run,
    double num, double den)
{
	/* What an algorithm does not answer is NaN, and no score. */
	if (isnan(num) || isnan(den))
		return;
	x->num[score * x->n_runs + run] += num;
	x->den[score * x->n_runs + run] += den;
}

int xp_arena_unanswered(const struct res_cube *c, size_t row, size_t algo)
{
	struct res_algo_metrics a;
	res_cube_get_row(c, row, res_row_doubles(algo), RES_N_ALGO_METRICS,
	    (double *)&a);
	/* Who can't read the window has no number at all. */
	return a.n_unanswered == 1 || isnan(a.n_top);
}

/* What any algorithm that answered has as METRIC that is the truth's alone; NaN:
 * none has it. */
static double arena_true(const struct res_cube *c, size_t row, unsigned metric)
{
	double x = NAN;
	for (size_t i = 0; isnan(x) && i < c->n_algos; i++)
		res_cube_get_row(c, row, res_row_doubles(i) + metric, 1, &x);
	return x;
}

double xp_arena_to_find(const struct res_cube *c, size_t row)
{
	double x = arena_true(c, row, RES_ALGO_n_to_find);
	/* Nobody has answered: links in place of links and switches. */
	if (isnan(x))
		res_cube_get_row(c, row, RES_TRIAL_n_faults, 1, &x);
	return isnan(x) ? 0 : x;
}

static void arena_no_answer(struct xp_arena_entry *x, size_t run,
    const struct res_cube *c, size_t row)
{
	const double to_find = xp_arena_to_find(c, row);
	if (!(to_find > 0))
		return;
	arena_count(x, XP_ARENA_f, run, 0, 1);
	arena_count(x, XP_ARENA_recall, run, 0, to_find);
	arena_count(x, XP_ARENA_exact, run, 0, 1);
	arena_count(x, XP_ARENA_blame, run, 0,
	    arena_true(c, row, RES_ALGO_flows_fault));
	if (!isnan(arena_true(c, row, RES_ALGO_right_share)))
		arena_count(x, XP_ARENA_right_s, run, XP_ARENA_WINDOW_S, 1);
}

static void arena_answer(struct xp_arena_entry *x, size_t run,
    struct res_algo_metrics *a)
{
	const int exact =
	    a->n_found == a->n_to_find && a->n_flagged_true == a->n_flagged;
	if (a->n_to_find > 0) {
		arena_count(x, XP_ARENA_f, run, a->f, 1);
		arena_count(x, XP_ARENA_precision, run, a->n_flagged_true,
		    a->n_flagged);
		arena_count(x, XP_ARENA_recall, run, a->n_found, a->n_to_find);
		arena_count(x, XP_ARENA_exact, run, exact, 1);
		arena_count(x, XP_ARENA_right_s, run,
		    a->right_share * XP_ARENA_WINDOW_S, 1);
		arena_count(x, XP_ARENA_blame, run, a->hits_fault,
		    a->flows_fault);
	} else {
		arena_count(x, XP_ARENA_alarms, run, a->n_flagged > 0, 1);
	}
	for (size_t b = 0; b < RES_N_CHANCE_BINS; b++) {
		const double *sums = res_chance_sums(a, b);
		if (isnan(sums[0]))
			continue;
		x->chance[run][b].n += sums[0];
		x->chance[run][b].stated += sums[1];
		x->chance[run][b].n_true += sums[2];
	}
}

static void arena_window(struct xp_arena_entry *x, size_t run,
    const struct res_cube *c, size_t row, size_t algo)
{
	const int lacks = xp_arena_unanswered(c, row, algo);
	struct res_trial_metrics t;
	struct res_algo_metrics a;
	res_cube_get_row(c, row, 0, RES_N_TRIAL_METRICS, (double *)&t);
	res_cube_get_row(c, row, res_row_doubles(algo), RES_N_ALGO_METRICS,
	    (double *)&a);
	/* Who answers without accusing anybody takes no part. */
	if (!lacks && isnan(a.n_flagged))
		return;
	arena_count(x, XP_ARENA_answered, run, !lacks, 1);
	if (lacks)
		arena_no_answer(x, run, c, row);
	else
		arena_answer(x, run, &a);
#define X(name) arena_count(x, XP_ARENA_##name, run, t.name, 1);
	XP_ARENA_COSTS(X)
#undef X
}

int xp_arena_add(struct xp_arena_standing *s, size_t family, size_t telemetry,
    const struct res_cube *c, struct sim_err *e)
{
	struct xp_arena_entry *x;
	for (size_t i = 0; i < c->n_algos; i++) {
		const int rc = arena_new(s, family, telemetry, c->algo[i],
		    c->n_runs, &x, e);
		if (rc < 0)
			return rc;
		for (size_t cell = 0; cell < c->n_points * c->n_runs; cell++) {
			const size_t point = cell / c->n_runs,
				     run = cell % c->n_runs,
				     row = res_cube_row(c, point, run);
			if (row == SIZE_MAX)
				continue;
			if (c->status[row] == RES_DONE)
				arena_window(x, run, c, row, i);
			else if (c->status[row] != RES_NOT_RUN)
				arena_count(x, XP_ARENA_answered, run, 0, 1);
		}
	}
	return 0;
}

/* --- all families --------------------------------------------------------- */

/* Add to ALL what each run of X came to. */
static void arena_join(struct xp_arena_entry *all,
    const struct xp_arena_entry *x)
{
	for (unsigned m = 0; m < XP_ARENA_N_SCORES; m++)
		for (size_t r = 0; r < x->n_runs && r < all->n_runs; r++) {
			const size_t i = m * x->n_runs + r;
			if (x->den[i] > 0)
				arena_count(all, m, r, x->num[i] / x->den[i],
				    1);
		}
	for (size_t r = 0; r < x->n_runs && r < all->n_runs; r++)
		for (size_t b = 0; b < RES_N_CHANCE_BINS; b++) {
			all->chance[r][b].n += x->chance[r][b].n;
			all->chance[r][b].stated += x->chance[r][b].stated;
			all->chance[r][b].n_true += x->chance[r][b].n_true;
		}
	const double n = x->den[XP_ARENA_f * x->n_runs];
	if (n > 0 && (all->windows == 0 || n < all->windows))
		all->windows = n;
}

static int arena_is(const struct xp_arena_entry *a,
    const struct xp_arena_entry *b)
{
	return a->telemetry == b->telemetry &&
	    strcmp(a->algorithm, b->algorithm) == 0;
}

int xp_arena_sum(struct xp_arena_standing *s, struct sim_err *e)
{
	struct xp_arena_standing all = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		const struct xp_arena_entry *x = &s->entry[i];
		struct xp_arena_entry *to = NULL;
		for (size_t k = 0; k < all.n; k++)
			if (arena_is(&all.entry[k], x))
				to = &all.entry[k];
		if (!to)
			rc = arena_new(&all, arena_all(), x->telemetry,
			    x->algorithm, x->n_runs, &to, e);
		if (rc == 0)
			arena_join(to, x);
	}
	const size_t n = all.n;
	if (rc == 0)
		rc = SIM_RESERVE(&all.entry, &all.cap, n + s->n, e);
	if (rc < 0) {
		xp_arena_free(&all);
		return rc;
	}
	memcpy(all.entry + n, s->entry, s->n * sizeof(all.entry[0]));
	all.n += s->n;
	all.n_of_all = n;
	free(s->entry);
	*s = all;
	return 0;
}

/* --- what it comes to ----------------------------------------------------- */

static struct sim_ratio_sample arena_sample(const struct xp_arena_entry *x,
    unsigned score)
{
	return (struct sim_ratio_sample){x->num + score * x->n_runs,
	    x->den + score * x->n_runs, x->n_runs};
}

static int arena_is_share(unsigned score)
{
	return score <= XP_ARENA_blame || score == XP_ARENA_answered;
}

struct sim_ratio xp_arena_score(const struct xp_arena_entry *x, unsigned score)
{
	const struct sim_ratio_sample s = arena_sample(x, score);
	struct sim_ratio out;
	sim_ratio_mean(&s, 0.95, &out);
	/* Of few runs Student's law goes on where no share is, nor a cost. */
	if (out.lo < 0)
		out.lo = 0;
	if (!arena_is_share(score) || isnan(out.value))
		return out;
	/* One run has no interval, and what it measured is a share still. */
	return (struct sim_ratio){out.value, fmax(out.lo, 0), fmin(out.hi, 1)};
}

int xp_arena_calibration(const struct xp_arena_entry *x,
    struct res_calibration *out, struct sim_err *e)
{
	return res_calibration(x->chance, x->n_runs, out, e);
}

/* Runs of all families have no whole windows any more: those of each are added
 * up. */
int xp_arena_alarms_a_day(const struct xp_arena_standing *s,
    const struct xp_arena_entry *x, struct sim_ratio *out, struct sim_err *e)
{
	const int of_all = x < s->entry + s->n_of_all;
	struct sim_ratio_sample sum = {.n = x->n_runs};
	double *num, *den = NULL;
	int rc = SIM_ZALLOC(&num, x->n_runs, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&den, x->n_runs, e);
	for (size_t i = s->n_of_all; rc == 0 && i < s->n; i++) {
		const struct xp_arena_entry *y = &s->entry[i];
		if (!arena_is(x, y) || (!of_all && x != y))
			continue;
		for (size_t r = 0; r < x->n_runs && r < y->n_runs; r++) {
			const size_t at = XP_ARENA_alarms * y->n_runs + r;
			num[r] += y->num[at];
			den[r] += y->den[at];
		}
	}
	sum.num = num;
	sum.den = den;
	if (rc == 0)
		rc = sim_ratio_share(&sum, 0.95, out, e);
	free(num);
	free(den);
	if (rc < 0)
		return rc;
	out->value *= XP_ARENA_WINDOWS_A_DAY;
	out->lo *= XP_ARENA_WINDOWS_A_DAY;
	out->hi *= XP_ARENA_WINDOWS_A_DAY;
	return 0;
}

/* Of N families the F of one window of W of a run can change the mean of all runs by
 * 1 / N / W / runs at most. */
struct sim_ratio xp_arena_difference(const struct xp_arena_entry *a,
    const struct xp_arena_entry *b)
{
	const struct sim_ratio_sample x = arena_sample(a, XP_ARENA_f),
				      y = arena_sample(b, XP_ARENA_f);
	double n = 0;
	struct sim_ratio out;
	for (size_t i = 0; i < x.n; i++)
		n = x.den[i] > n ? x.den[i] : n;
	sim_ratio_difference(&x, &y, 0.95,
	    n > 0 && a->windows > 0 ? 1 / n / a->windows / (double)x.n : 1,
	    &out);
	return out;
}

static double arena_value(const struct xp_arena_entry *x, unsigned score)
{
	return xp_arena_score(x, score).value;
}

const struct xp_arena_entry *xp_arena_best(const struct xp_arena_standing *s)
{
	const struct xp_arena_entry *best = NULL;
	for (size_t i = 0; i < s->n_of_all; i++) {
		const double f = arena_value(&s->entry[i], XP_ARENA_f);
		if (!isnan(f) && (!best || f > arena_value(best, XP_ARENA_f)))
			best = &s->entry[i];
	}
	return best;
}

const struct xp_arena_entry *xp_arena_thriftiest(
    const struct xp_arena_standing *s)
{
	const struct xp_arena_entry *best = xp_arena_best(s), *out = best;
	for (size_t i = 0; best && i < s->n_of_all; i++) {
		const struct xp_arena_entry *x = &s->entry[i];
		const double bytes = arena_value(x, XP_ARENA_host_bytes_s),
			     least = arena_value(out, XP_ARENA_host_bytes_s);
		/* An interval without ends shows nothing. */
		const double less = xp_arena_difference(best, x).hi;
		if (less <= XP_ARENA_MARGIN &&
		    (bytes < least ||
			(bytes == least &&
			    arena_value(x, XP_ARENA_f) >
				arena_value(out, XP_ARENA_f))))
			out = x;
	}
	return out;
}

int xp_arena_in_front(const struct xp_arena_standing *s,
    const struct xp_arena_entry *x)
{
	const double f = arena_value(x, XP_ARENA_f),
		     bytes = arena_value(x, XP_ARENA_host_bytes_s);
	if (isnan(f) || isnan(bytes))
		return 0;
	for (size_t i = 0; i < s->n_of_all; i++) {
		const struct xp_arena_entry *y = &s->entry[i];
		const double g = arena_value(y, XP_ARENA_f),
			     other = arena_value(y, XP_ARENA_host_bytes_s);
		if (y != x && g >= f && other <= bytes &&
		    (g > f || other < bytes || y < x))
			return 0;
	}
	return 1;
}

/* --- tables --------------------------------------------------------------- */

static void arena_print_score(const struct xp_arena_entry *x, const char *name,
    const struct sim_ratio *r, FILE *out)
{
	if (!isnan(r->value))
		fprintf(out, "%s,%s,%s,%s,%.6g,%.6g,%.6g,%zu\n",
		    xp_arena_family_name(x->family),
		    xp_arena_telemetries[x->telemetry].name, x->algorithm, name,
		    r->value, r->lo, r->hi, x->n_runs);
}

int xp_arena_print_scores(const struct xp_arena_standing *s, FILE *out,
    struct sim_err *e)
{
	int rc = 0;
	fputs("family,telemetry,algorithm,score,value,lo,hi,runs\n", out);
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		const struct xp_arena_entry *x = &s->entry[i];
		struct sim_ratio r;
		for (unsigned m = 0; m < XP_ARENA_N_SCORES; m++) {
			r = xp_arena_score(x, m);
			arena_print_score(x, xp_arena_scores[m], &r, out);
		}
		if ((rc = xp_arena_alarms_a_day(s, x, &r, e)) == 0)
			arena_print_score(x, "alarms_a_day", &r, out);
		struct res_calibration c;
		if (rc == 0 && (rc = xp_arena_calibration(x, &c, e)) == 0) {
			arena_print_score(x, "ece", &c.ece, out);
			r = (struct sim_ratio){c.if_right, NAN, NAN};
			arena_print_score(x, "ece_if_right", &r, out);
		}
	}
	return rc;
}

/* Windows that X was asked about and, of these, did not answer. */
static double arena_gap(const struct xp_arena_entry *x, double *asked)
{
	const struct sim_ratio_sample n = arena_sample(x, XP_ARENA_answered);
	double gap = 0;
	*asked = 0;
	for (size_t i = 0; i < n.n; i++) {
		*asked += n.den[i];
		gap += n.den[i] - n.num[i];
	}
	return gap;
}

void xp_arena_print_gaps(const struct xp_arena_standing *s, FILE *out)
{
	for (size_t i = 0; i < s->n_of_all; i++) {
		const struct xp_arena_entry *x = &s->entry[i];
		double asked, gap = arena_gap(x, &asked);
		if (!(gap > 0))
			continue;
		fprintf(out, "%s on %s did not answer", x->algorithm,
		    xp_arena_telemetries[x->telemetry].name);
		const char *comma = "";
		for (size_t k = s->n_of_all; k < s->n; k++) {
			const struct xp_arena_entry *y = &s->entry[k];
			if (!arena_is(x, y) ||
			    !((gap = arena_gap(y, &asked)) > 0))
				continue;
			fprintf(out, "%s %.0f of %.0f windows of %s", comma,
			    gap, asked, xp_arena_family_name(y->family));
			comma = ",";
		}
		fputs("; F of these is 0.\n", out);
	}
}

void xp_arena_print_pairs(const struct xp_arena_standing *s, FILE *out)
{
	fputs("telemetry,algorithm,than_telemetry,than_algorithm,f_more,lo,"
	      "hi\n",
	    out);
	for (size_t i = 0; i < s->n_of_all; i++)
		for (size_t k = i + 1; k < s->n_of_all; k++) {
			const struct xp_arena_entry *a = &s->entry[i],
						    *b = &s->entry[k];
			const struct sim_ratio d = xp_arena_difference(a, b);
			if (!isnan(d.value))
				fprintf(out, "%s,%s,%s,%s,%.6g,%.6g,%.6g\n",
				    xp_arena_telemetries[a->telemetry].name,
				    a->algorithm,
				    xp_arena_telemetries[b->telemetry].name,
				    b->algorithm, d.value, d.lo, d.hi);
		}
}

/* How many telemetries cost a host less than that of X: entries of one stand
 * together. */
static size_t arena_order(const struct xp_arena_standing *s,
    const struct xp_arena_entry *x)
{
	const double bytes = arena_value(x, XP_ARENA_host_bytes_s);
	size_t n = 0;
	for (size_t i = 0; i < s->n_of_all; i++)
		n += (i == 0 ||
			 s->entry[i].telemetry != s->entry[i - 1].telemetry) &&
		    arena_value(&s->entry[i], XP_ARENA_host_bytes_s) < bytes;
	return n;
}

void xp_arena_print_front(const struct xp_arena_standing *s, FILE *out)
{
	const struct xp_arena_entry *best = xp_arena_best(s),
				    *least = xp_arena_thriftiest(s);
	fputs("telemetry\torder\talgorithm\thost_bytes_s\tf\tf_lo\tf_hi\t"
	      "in_front\tanswer\tanswered\n",
	    out);
	for (size_t i = 0; i < s->n_of_all; i++) {
		const struct xp_arena_entry *x = &s->entry[i];
		const struct sim_ratio f = xp_arena_score(x, XP_ARENA_f);
		fprintf(out,
		    "%s\t%zu\t%s\t%.6g\t%.6g\t%.6g\t%.6g\t%d\t%s\t%.6g\n",
		    xp_arena_telemetries[x->telemetry].name, arena_order(s, x),
		    x->algorithm, arena_value(x, XP_ARENA_host_bytes_s),
		    f.value, f.lo, f.hi, xp_arena_in_front(s, x),
		    x == least      ? "least"
			: x == best ? "best"
				    : "-",
		    arena_value(x, XP_ARENA_answered));
	}
}

/* How many of the families that there are come before FAMILY. */
static size_t arena_families_before(const struct xp_arena_standing *s,
    size_t family)
{
	size_t n = 0;
	for (size_t f = 0; f < family; f++) {
		size_t i = s->n_of_all;
		while (i < s->n && s->entry[i].family != f)
			i++;
		n += i < s->n;
	}
	return n;
}

/* Without faults there is no F; there the share of windows without an alarm
 * stands in its place. */
void xp_arena_print_map(const struct xp_arena_standing *s, FILE *out)
{
	fputs("row\tentry\tcolumn\tfamily\tvalue\n", out);
	for (size_t i = 0; i < s->n_of_all; i++)
		for (size_t k = s->n_of_all; k < s->n; k++) {
			const struct xp_arena_entry *x = &s->entry[k];
			if (!arena_is(x, &s->entry[i]))
				continue;
			const double f = arena_value(x, XP_ARENA_answered) > 0
			    ? arena_value(x, XP_ARENA_f)
			    : NAN,
				     quiet =
					 1 - arena_value(x, XP_ARENA_alarms);
			fprintf(out, "%zu\t%s, %s\t%zu\t%s\t%.6g\n", i,
			    x->algorithm,
			    xp_arena_telemetries[x->telemetry].name,
			    arena_families_before(s, x->family),
			    xp_arena_family_name(x->family),
			    isnan(f) ? quiet : f);
		}
}
