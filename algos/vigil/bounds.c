/* algos/vigil/bounds.c -- 007's theorems 1, 2 and 3 for a Clos, and what they miss.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/bounds.h"

#include <math.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* The names of the header. */
static double other_tors(const struct topo_clos *c)
{
	return (double)c->n_tors * c->n_pods - 1;
}

static double inter(const struct topo_clos *c)
{
	return c->n_tors * (c->n_pods - 1.0) / other_tors(c);
}

static double q0(const struct topo_clos *c)
{
	return 1 / ((double)c->n_tors * c->n_pods * c->n_hosts);
}

static double q1(const struct topo_clos *c)
{
	return 1 / ((double)c->n_tors * c->n_t1 * c->n_pods);
}

static double q2(const struct topo_clos *c)
{
	return inter(c) / ((double)c->n_t1 * c->n_t2 * c->n_pods);
}

static double path_links(enum algo_bounds_form form)
{
	return form == ALGO_BOUNDS_SIMULATED ? 6 : 4;
}

/* --- theorem 1 ----------------------------------------------------------- */

struct algo_bounds_load algo_bounds_load_paper(const struct topo_clos *c,
    double c_t)
{
	if (other_tors(c) == 0)
		return (struct algo_bounds_load){NAN, NAN, NAN};
	const double pod = (double)c->n_tors * c->n_hosts * c_t;
	return (struct algo_bounds_load){
		.tor = NAN,
		.t1 = pod / c->n_t1,
		.t2 = c->n_pods > 1 ? pod * inter(c) / c->n_t2 : 0,
	};
}

struct algo_bounds_load algo_bounds_load(const struct topo_clos *c, double c_t)
{
	struct algo_bounds_load up = algo_bounds_load_paper(c, c_t);
	if (isnan(up.t1))
		return up;
	return (struct algo_bounds_load){
		.tor = 2.0 * c->n_hosts * c_t,
		.t1 = up.t1 * (1 + inter(c)),
		.t2 = up.t2 * c->n_pods,
	};
}

double algo_bounds_ct_paper(const struct topo_clos *c, double t_max)
{
	const struct algo_bounds_load one = algo_bounds_load_paper(c, 1);
	return isnan(one.t1) ? NAN : t_max / larger(one.t1, one.t2);
}

double algo_bounds_ct(const struct topo_clos *c, double t_max)
{
	const struct algo_bounds_load one = algo_bounds_load(c, 1);
	return isnan(one.t1)
	    ? NAN
	    : t_max / larger(one.tor, larger(one.t1, one.t2));
}

/* --- theorems 2 and 3 ---------------------------------------------------- */

/* In whole numbers, as equality counts. */
int algo_bounds_level2_busier(const struct topo_clos *c)
{
	const double n0 = c->n_tors;
	return c->n_pods > 1 &&
	    n0 * n0 * (c->n_pods - 1.0) >= c->n_t2 * other_tors(c);
}

double algo_bounds_pods(const struct topo_clos *c)
{
	if (c->n_t1 == 0 || c->n_t2 == 0)
		return NAN;
	return 1 + (double)c->n_tors / c->n_t1;
}

double algo_bounds_pods_all(const struct topo_clos *c)
{
	const double n0 = c->n_tors, n2 = c->n_t2;
	if (c->n_t1 == 0 || c->n_t2 == 0 || n0 < n2)
		return NAN;
	const double busier = n0 == 1 ? 0 : n2 * (n0 - 1) / (n0 * (n0 - n2));
	return larger(algo_bounds_pods(c), larger(1 + busier, 2));
}

double algo_bounds_weight(const struct topo_clos *c,
    enum algo_bounds_form form)
{
	if (c->n_pods < 2)
		return NAN;
	const double below = 1.0 / c->n_tors;
	return form == ALGO_BOUNDS_PAPER
	    ? below
	    : larger(below, 1 / (c->n_t1 * (c->n_pods - 1.0)));
}

int algo_bounds_says(const struct topo_clos *c, enum algo_bounds_form form)
{
	if (form == ALGO_BOUNDS_PAPER)
		return c->n_pods >= algo_bounds_pods_all(c);
	if (!algo_bounds_level2_busier(c))
		return 0;
	if (form == ALGO_BOUNDS_ANY_PODS)
		return 1;
	const double most = q2(c) * algo_bounds_weight(c, form);
	return ALGO_BOUNDS_SPREAD * q1(c) / other_tors(c) <= most &&
	    q0(c) <= q2(c) && ALGO_BOUNDS_SPREAD * q0(c) / c->n_t1 <= most;
}

/* PAPER answers even where it is not proved: its users want to see by how
 * much it is off. */
static int has_form(const struct topo_clos *c, enum algo_bounds_form form)
{
	return form == ALGO_BOUNDS_PAPER ? c->n_pods > 1
					 : algo_bounds_says(c, form);
}

double algo_bounds_max_bad(const struct topo_clos *c,
    enum algo_bounds_form form)
{
	if (!has_form(c, form))
		return NAN;
	return q1(c) / (q2(c) * algo_bounds_weight(c, form));
}

double algo_bounds_alpha(const struct topo_clos *c,
    enum algo_bounds_form form, double k)
{
	if (!(k < algo_bounds_max_bad(c, form)))
		return NAN;
	const double kw = k * algo_bounds_weight(c, form);
	return q2(c) * (path_links(form) - kw) / (q1(c) - q2(c) * kw);
}

double algo_bounds_good_max(double alpha, double p_bad, double c_low,
    double c_high)
{
	return algo_bounds_drop(p_bad, c_low) / (alpha * c_high);
}

double algo_bounds_drop(double p, double n)
{
	return n > 0 ? -expm1(n * log1p(-p)) : 0;
}

double algo_bounds_vote_bad(const struct topo_clos *c, double r_bad)
{
	return algo_bounds_level2_busier(c) ? q1(c) * r_bad : NAN;
}

double algo_bounds_vote_good(const struct topo_clos *c,
    enum algo_bounds_form form, double k, double r_bad, double r_good)
{
	const double kw = k * algo_bounds_weight(c, form);
	if (!has_form(c, form) || kw > path_links(form))
		return NAN;
	return q2(c) * ((path_links(form) - kw) * r_good + kw * r_bad);
}

/* --- how soon ------------------------------------------------------------ */

/* (1 + x) log(1 + x) - x >= 0, whose first two orders cancel near 0. */
static double excess(double x)
{
	if (x <= -1)
		return 1;
	if (fabs(x) > 0.01)
		return (1 + x) * log1p(x) - x;
	double sum = 0;
	for (int n = 9; n >= 2; n--)
		sum = 1.0 / (n * (n - 1.0)) - x * sum;
	return x * x * sum;
}

/* With q = p (1 + x) and 1 - q = (1 - p)(1 + y), p x + (1 - p) y = 0: what
 * excess() takes away cancels, and two terms that are not negative remain. */
double algo_bounds_entropy(double q, double p)
{
	const double x = (q - p) / p, y = (p - q) / (1 - p);
	return p * excess(x) + (1 - p) * excess(y);
}

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b)
{
	return larger(a, b) + log1p(exp(smaller(a, b) - larger(a, b)));
}

/* Logarithms of both sides at threshold T, in votes a connection: all good
 * links together and all bad ones. */
static void sides(const struct algo_bounds_votes *v, double n, double t,
    double *good, double *bad)
{
	const double s = v->spread;
	*good = log(v->n_good) - n * algo_bounds_entropy(t / s, v->good / s);
	*bad = log(v->n_bad) - n * algo_bounds_entropy(t / s, v->bad / s);
}

/* Where both sides weigh the same, or an end of (v_g, v_b) if nowhere: GOOD
 * falls and BAD rises with T. At most log 2 above the least sum. */
static double balance(const struct algo_bounds_votes *v, double n)
{
	double lo = v->good, hi = v->bad, good, bad;
	for (int i = 0; i < 60; i++) {
		const double t = lo + (hi - lo) / 2;
		sides(v, n, t, &good, &bad);
		if (good > bad)
			lo = t;
		else
			hi = t;
	}
	return lo + (hi - lo) / 2;
}

struct algo_bounds_error algo_bounds_error(const struct algo_bounds_votes *v,
    double n)
{
	struct algo_bounds_votes one = *v;
	double good, bad;
	if (!(v->good > 0 && v->good < v->bad && v->bad < 1))
		return (struct algo_bounds_error){NAN, NAN, NAN};
	const double paper = 2 * v->bad * v->good / (v->bad + v->good);
	struct algo_bounds_error e;
	one.n_bad = one.n_good = 1;
	sides(&one, n, paper, &good, &bad);
	e.log_pair = log_add(good, bad);
	sides(v, n, paper, &good, &bad);
	e.log_all = log_add(good, bad);
	sides(v, n, balance(v, n), &good, &bad);
	e.log_best = smaller(log_add(good, bad), e.log_all);
	return e;
}

double algo_bounds_links(const struct topo_clos *c, enum algo_bounds_form form)
{
	const double fabric = 2.0 * (c->n_cables - c->cable_tor);
	return form == ALGO_BOUNDS_SIMULATED ? fabric + 2.0 * c->all_hosts
					     : fabric;
}
