/* algos/vigil/bounds.c -- 007's theorems 1 to 3 for a Clos, what they miss.
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

/* The quantities M, inter, q1 and q2 of the header, and q0, the share of flows
 * on one link of a host. All are computed as doubles: products of the shape
 * would overflow 32 bits in large fabrics. */
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

/* h: links of a path that may vote. The paper ranks levels 1 and 2 only, four a
 * path; the simulator's hosts have lossy links at both ends as well. */
static double path_links(enum algo_bounds_form form)
{
	return form == ALGO_BOUNDS_SIMULATED ? 6 : 4;
}

/* --- theorem 1 ----------------------------------------------------------- */

/* The proof of theorem 1, (5) and (6): n0 * R1 answers of a T1 and n1 * R2 of a
 * T2. With a single ToR M is 0 and nothing is traced. */
struct algo_bounds_load algo_bounds_load_paper(const struct topo_clos *c,
    double c_t)
{
	if (other_tors(c) == 0)
		return (struct algo_bounds_load){NAN, NAN, NAN};
	const double pod = (double)c->n_tors * c->n_hosts * c_t;
	return (struct algo_bounds_load){
	    .tor = NAN,
	    .t1 = pod / c->n_t1,
	    /* In one pod nothing crosses a T2, and n2 may be 0: nothing is
		 * divided by it then. */
	    .t2 = c->n_pods > 1 ? pod * inter(c) / c->n_t2 : 0,
	};
}

/* DEPARTS: every answer is counted. A ToR answers for the flows that leave it
 * and for those that arrive; a T1 also for flows that come down through it,
 * which are those between pods; and the T2s are shared by the traffic of all
 * pods. */
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

/* Theorem 1: the load grows in proportion to C_t, so T_max over the load at C_t
 * = 1 of the busiest tier is the bound (1). */
double algo_bounds_ct_paper(const struct topo_clos *c, double t_max)
{
	const struct algo_bounds_load one = algo_bounds_load_paper(c, 1);
	return isnan(one.t1) ? NAN : t_max / larger(one.t1, one.t2);
}

double algo_bounds_ct(const struct topo_clos *c, double t_max)
{
	const struct algo_bounds_load one = algo_bounds_load(c, 1);
	return isnan(one.t1) ? NAN
			     : t_max / larger(one.tor, larger(one.t1, one.t2));
}

/* --- theorems 2 and 3 ---------------------------------------------------- */

/* q2 >= q1 with both denominators multiplied out: whole numbers below 2^53
 * compare exactly, and shapes with q2 = q1 are to count as busier. */
int algo_bounds_level2_busier(const struct topo_clos *c)
{
	const double n0 = c->n_tors;
	return c->n_pods > 1 &&
	    n0 * n0 * (c->n_pods - 1.0) >= c->n_t2 * other_tors(c);
}

/* Theorem 2's condition on pods. It makes 1/n0 the largest weight in (10b):
 * with fewer pods a T2-T1 link above the destination shares more. */
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
	/* Theorem 3 also needs q2 >= q1, solved for n_pod. With n0 = 1 the
	 * numerator is 0 whatever n2 is, and 0/0 must not arise from n0 = n2 =
	 * 1. */
	const double busier = n0 == 1 ? 0 : n2 * (n0 - 1) / (n0 * (n0 - n2));
	return larger(algo_bounds_pods(c), larger(1 + busier, 2));
}

double algo_bounds_weight(const struct topo_clos *c, enum algo_bounds_form form)
{
	if (c->n_pods < 2)
		return NAN;
	/* Of a level-2 link's flows, 1/n0 came from one ToR of the pod below
	 * and 1 / (n1 (n_pod - 1)) go down to one T1 of another pod. */
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
	/* With links of hosts among those ranked, none may carry or share more
	 * than the level-2 links for which (10b) was derived. The factor covers
	 * that votes of 1/h are larger on the short paths within a pod. */
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
	/* Where the denominator of alpha, q1 - q2 k w, comes down to 0: beyond
	 * it no ratio of drop rates separates good from bad. */
	return q1(c) / (q2(c) * algo_bounds_weight(c, form));
}

/* (11): v_b >= v_g by (10a) and (10b) is q1 r_b >= q2 ((h - k w) r_g + k w
 * r_b), solved for r_b / r_g. */
double algo_bounds_alpha(const struct topo_clos *c, enum algo_bounds_form form,
    double k)
{
	if (!(k < algo_bounds_max_bad(c, form)))
		return NAN;
	const double kw = k * algo_bounds_weight(c, form);
	return q2(c) * (path_links(form) - kw) / (q1(c) - q2(c) * kw);
}

/* (2): r_b >= 1 - (1 - p_b)^c_l for the shortest connections and r_g <= c_u p_g
 * for the longest, by the union bound, in r_b >= alpha r_g. */
double algo_bounds_good_max(double alpha, double p_bad, double c_low,
    double c_high)
{
	return algo_bounds_drop(p_bad, c_low) / (alpha * c_high);
}

/* 1 - (1 - p)^n. Rates of good links are about 1e-8, where the plain form would
 * lose half of all digits. */
double algo_bounds_drop(double p, double n)
{
	return n > 0 ? -expm1(n * log1p(-p)) : 0;
}

/* (10a) rests on q2 >= q1: only then is a level-1 link, q1, the least busy
 * place that a bad link can be in. */
double algo_bounds_vote_bad(const struct topo_clos *c, double r_bad)
{
	return algo_bounds_level2_busier(c) ? q1(c) * r_bad : NAN;
}

double algo_bounds_vote_good(const struct topo_clos *c,
    enum algo_bounds_form form, double k, double r_bad, double r_good)
{
	/* (10b): of the h links, k w are bad ones in the worst case and the
	 * rest good. More than h cannot be. */
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
	/* The series of x^n (-1)^n / (n (n - 1)) from n = 2, by Horner's rule.
	 * For |x| <= 0.01 the terms left out are below the last bit. */
	double sum = 0;
	for (int n = 9; n >= 2; n--)
		sum = 1.0 / (n * (n - 1.0)) - x * sum;
	return x * x * sum;
}

/* KL(q || p) with q = p (1 + x) and 1 - q = (1 - p)(1 + y). Since p x + (1 - p)
 * y = 0, the linear terms that excess() takes away cancel, and the two terms
 * that remain are never negative: no digits are lost near q = p. */
double algo_bounds_entropy(double q, double p)
{
	const double x = (q - p) / p, y = (p - q) / (1 - p);
	return p * excess(x) + (1 - p) * excess(y);
}

/* log(exp(a) + exp(b)), also where both terms are below the smallest double. */
static double log_add(double a, double b)
{
	return larger(a, b) + log1p(exp(smaller(a, b) - larger(a, b)));
}

/* Chernoff's bound on each side of threshold T, in votes a connection, as
 * logarithms: that some good link gets more (13a) and that some bad link gets
 * fewer (13b). Adding log(n) is the union bound over the links of a side. */
static void sides(const struct algo_bounds_votes *v, double n, double t,
    double *good, double *bad)
{
	const double s = v->spread;
	*good = log(v->n_good) - n * algo_bounds_entropy(t / s, v->good / s);
	*bad = log(v->n_bad) - n * algo_bounds_entropy(t / s, v->bad / s);
}

/* The T at which both sides are equally likely. GOOD falls and BAD rises with
 * T, so halving finds it; sixty times exhausts the digits of a double. If they
 * meet nowhere it ends at an end of (v_g, v_b). The sum of the two sides there
 * is at most twice the least possible, log 2 in these terms. */
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
	/* (9) in terms of (1 + delta) v_g = (1 - delta) v_b with delta = (v_b -
	 * v_g) / (v_b + v_g): both name this threshold. */
	const double paper = 2 * v->bad * v->good / (v->bad + v->good);
	struct algo_bounds_error e;
	one.n_bad = one.n_good = 1;
	sides(&one, n, paper, &good, &bad);
	e.log_pair = log_add(good, bad);
	sides(v, n, paper, &good, &bad);
	e.log_all = log_add(good, bad);
	/* DEPARTS: the paper's threshold is not the best one; the smaller bound
	 * of the two is as valid. */
	sides(v, n, balance(v, n), &good, &bad);
	e.log_best = smaller(log_add(good, bad), e.log_all);
	return e;
}

double algo_bounds_links(const struct topo_clos *c, enum algo_bounds_form form)
{
	/* Every cable is two directed links, and each is ranked by itself. */
	const double fabric = 2.0 * (c->n_cables - c->cable_tor);
	return form == ALGO_BOUNDS_SIMULATED ? fabric + 2.0 * c->all_hosts
					     : fabric;
}
