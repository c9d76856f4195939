/* algos/everflow/drop_judge.c -- what losses on a link are; see debug_drop.h.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/drop_judge.h"

#include <math.h>
#include <stdlib.h>

#include "sim/stat.h"
#include "sim/vec.h"

/* So many losses in a row are needed to say "all": fewer than are sent of a
 * tuple, since where a mirror is lost nothing is known of the probe. */
enum { ALL = 5 };

/* So many tuples, or rounds, are needed to say that a link loses all: of one or
 * two a black hole may have each. */
enum { ANY = 4 };

/* All evidence about one link. */
struct judging {
	struct algo_drop_judge *j;
	const struct topo *t;
	topo_link link;
	size_t n_tuples;             /* of hole[] */
	struct algo_drop_count most; /* of tuples, and rounds, not lost whole */
	struct algo_drop_count plain; /* the part of tuples in that */
	struct algo_drop_count round; /* of probers that didn't lose all */
	const struct algo_hole_tuple *whole; /* lost, with most probes */
	uint32_t round_run;                  /* most that one prober lost */
	size_t n_probers;                    /* of rounds */
	int round_whole;                     /* all rounds are lost */
};

static void drop_count_join(struct algo_drop_count *to,
    const struct algo_drop_count *c)
{
	to->n_kept += c->n_kept;
	to->n_lost += c->n_lost;
	to->n_first += c->n_first;
	to->n_first_only += c->n_first_only;
}

static int drop_is_whole(const struct algo_drop_count *c)
{
	return c->n_kept == 0 && c->n_lost >= ALL;
}

/* A prober's rounds have one pair of addresses, which a hole may take. */
static void gather_rounds(struct judging *x)
{
	const struct algo_drop_rows *d = &x->j->rows;
	x->round_whole = drop_is_whole(&d->link[x->link].round);
	for (size_t i = 0; i < d->n_rounds; i++) {
		const struct algo_drop_count *c = &d->round[i].count;
		if (d->round[i].link != x->link)
			continue;
		x->n_probers++;
		if (!drop_is_whole(c) || x->round_whole)
			drop_count_join(&x->round, c);
		if (drop_is_whole(c) && c->n_lost > x->round_run)
			x->round_run = c->n_lost;
	}
}

static struct judging drop_gather(struct algo_drop_judge *j,
    const struct topo *t, topo_link l)
{
	const struct algo_drop_rows *d = &j->rows;
	struct judging x = {.j = j, .t = t, .link = l};
	for (size_t i = 0; i < d->n_tuples; i++) {
		const struct algo_drop_tuple *p = &d->tuple[i];
		const int whole = drop_is_whole(&p->count);
		/* Of too few a share is not told apart from all. */
		if (p->link != l || p->count.n_kept + p->count.n_lost < ALL)
			continue;
		struct algo_hole_tuple *h = &j->hole[x.n_tuples++];
		*h = (struct algo_hole_tuple){p->tuple, p->count.n_kept,
		    p->count.n_lost, (uint8_t)whole};
		if (!whole)
			drop_count_join(&x.plain, &p->count);
		else if (!x.whole || h->n_lost > x.whole->n_lost)
			x.whole = h;
	}
	x.most = x.plain;
	gather_rounds(&x);
	if (!x.round_whole)
		drop_count_join(&x.most, &x.round);
	/* If all is lost, no tuple differs from any other. */
	if (x.most.n_kept + x.most.n_lost == 0 &&
	    (x.n_tuples >= ANY || x.round_whole)) {
		for (size_t i = 0; i < x.n_tuples; i++)
			x.plain.n_lost += j->hole[i].n_lost;
		x.most.n_lost = x.plain.n_lost + x.round.n_lost;
	}
	return x;
}

/* 1 / chance that what is healthy shows as much, over all links. */
static double surprise_random(const struct judging *x)
{
	const struct algo_drop_rows *d = &x->j->rows;
	const double noise = x->j->noise_rate;
	const double by_round = algo_drop_evidence(x->round.n_lost,
	    (uint64_t)x->round.n_kept + x->round.n_lost,
	    algo_drop_healthy(d, &x->round, noise));
	const double by_plain = algo_drop_evidence(x->plain.n_lost,
	    (uint64_t)x->plain.n_kept + x->plain.n_lost,
	    algo_drop_healthy(d, &x->plain, noise));
	return (by_round + by_plain) / 2 / fmax(1, (double)x->j->n_probed);
}

static int drop_rate_of(struct algo_drop_judged *v,
    const struct algo_drop_count *c, struct sim_err *e)
{
	const uint64_t n = (uint64_t)c->n_kept + c->n_lost;
	v->rate = n > 0 ? (double)c->n_lost / (double)n : NAN;
	return sim_binomial_interval(c->n_lost, n, 0.95, &v->lo, &v->hi, e);
}

/* At the rate of all that is not lost whole, the chance of the longest run of
 * losses; links and tuples are what it was chosen from. */
static double chance_of_whole(const struct judging *x)
{
	double lo, hi = 1;
	const uint64_t n = (uint64_t)x->most.n_kept + x->most.n_lost;
	const uint32_t run = x->whole ? x->whole->n_lost : x->round_run;
	if (run < ALL ||
	    sim_binomial_interval(x->most.n_lost, n, 0.998, &lo, &hi, NULL) < 0)
		return 1;
	return fmin(1,
	    pow(hi, run) * (double)(x->n_tuples + 1) * (double)x->j->n_probed);
}

static int judge_hole(const struct judging *x, struct algo_drop_judged *v,
    struct sim_err *e)
{
	struct algo_drop_count of = {.n_kept = 0};
	const int by_address =
	    !x->whole || algo_hole_is_by_address(x->j->hole, x->n_tuples);
	v->cause =
	    by_address ? ALGO_CAUSE_BLACK_HOLE_1 : ALGO_CAUSE_BLACK_HOLE_2;
	v->told = x->whole ? algo_hole_is_told(x->j->hole, x->n_tuples)
			   : x->round_whole;
	v->tuple = x->whole ? x->whole->tuple : (struct topo_tuple){0};
	algo_hole_pattern(x->j->hole, x->n_tuples, by_address, &v->value,
	    &v->mask);
	/* The share of tuples. */
	for (size_t i = 0; i < x->n_tuples; i++)
		*(x->j->hole[i].is_lost ? &of.n_lost : &of.n_kept) += 1;
	return drop_rate_of(v, &of, e);
}

/* --- traces alone --------------------------------------------------------- */
/* P(X >= k) of a Poisson variable: below 1, a sum from k up. */
static double poisson_tail(uint32_t k, double mean)
{
	double term = exp((double)k * log(mean) - mean - lgamma(k + 1.0));
	double sum = 0;
	if (mean >= k)
		return 1;
	for (uint32_t i = k; term > 1e-17 * sum && i < k + 10000; i++) {
		sum += term;
		term *= mean / (i + 1.0);
	}
	return fmin(1, sum);
}

/* The chance of as many drops that were sent again, over all links. One drop
 * more than there were keeps the mean above 0. */
static double chance_of_traces(const struct algo_drop_rows *d, topo_link l)
{
	const uint32_t c = d->link[l].n_confirmed;
	const double n = d->n_switch_links;
	if (c < 2)
		return 1;
	return fmin(1,
	    n * poisson_tail(c, 3 * ((double)(d->n_confirmed - c) + 1) / n));
}

/* --- which end ------------------------------------------------------------ */
/* Do rounds over the other links of switch NODE, into it or out of it, lose at
 * the rate of the link, rather than as healthy ones? By the likelihood. */
static int others_lose(const struct judging *x, topo_node node, int into,
    double rate)
{
	struct algo_drop_count c = {.n_kept = 0};
	for (topo_link l = 2 * x->t->n_hosts; l < x->t->n_links; l++) {
		topo_node from, to;
		if (l == x->link ||
		    x->j->rows.link[l].round.n_kept +
			    x->j->rows.link[l].round.n_lost ==
			0)
			continue;
		topo_link_ends(x->t, l, &from, &to);
		if (node == (into ? to : from))
			drop_count_join(&c, &x->j->rows.link[l].round);
	}
	const double p0 = algo_drop_healthy(&x->j->rows, &c, x->j->noise_rate);
	const double p1 = fmin(rate, 1 - 1e-9);
	return p0 < p1 &&
	    c.n_lost * log(p1 / p0) + c.n_kept * (log1p(-p1) - log1p(-p0)) > 0;
}

/* Whether a packet of the tuple entered the switch by another link. */
static int enters_elsewhere(const struct judging *x, topo_node node,
    const struct topo_tuple *tuple)
{
	const struct algo_drop_rows *d = &x->j->rows;
	for (size_t i = 0; i < d->n_tuples; i++) {
		topo_node from, to;
		if (d->tuple[i].link == x->link ||
		    d->tuple[i].link == TOPO_NONE ||
		    d->tuple[i].count.n_kept == 0 ||
		    !topo_tuple_same(&d->tuple[i].tuple, tuple))
			continue;
		topo_link_ends(x->t, d->tuple[i].link, &from, &to);
		if (to == node)
			return 1;
	}
	return 0;
}

static topo_node whose(const struct judging *x,
    const struct algo_drop_judged *v)
{
	topo_node from, to;
	topo_link_ends(x->t, x->link, &from, &to);
	if (v->cause != ALGO_CAUSE_RANDOM)
		return enters_elsewhere(x, to, &v->tuple) ? TOPO_NONE : to;
	if (others_lose(x, to, 1, v->rate))
		return to;
	return others_lose(x, from, 0, v->rate) ? from : TOPO_NONE;
}

/* --- a link --------------------------------------------------------------- */
static int judge_random(const struct judging *x, struct algo_drop_judged *v,
    struct sim_err *e)
{
	v->cause = ALGO_CAUSE_RANDOM;
	return drop_rate_of(v, &x->most, e);
}

static int drop_judge(struct algo_drop_judge *j, const struct topo *t,
    topo_link l, struct sim_err *e)
{
	const struct judging x = drop_gather(j, t, l);
	const double traces = chance_of_traces(&j->rows, l);
	const double hole = chance_of_whole(&x), found = surprise_random(&x);
	const int accused = traces < j->alpha;
	struct algo_drop_judged v = {.link = l, .node = TOPO_NONE, .told = 1};
	int rc;
	if (hole < j->alpha) {
		v.score = -log10(fmax(hole, 1e-300));
		rc = judge_hole(&x, &v, e);
		v.proved = 1;
	} else if (found * j->alpha > 1 || (accused && x.most.n_lost > 0)) {
		v.score =
		    log10(fmin(fmax(found, 1 / fmax(traces, 1e-300)), 1e300));
		rc = judge_random(&x, &v, e);
		v.proved = 1;
		v.told =
		    !(x.round_whole && x.n_tuples == 0 && x.n_probers == 1);
	} else if (accused) {
		v.score = -log10(fmax(traces, 1e-300));
		rc = judge_random(&x, &v, e);
		if (x.most.n_kept > 0)
			v.cause = ALGO_CAUSE_TRANSIENT;
	} else {
		return 0;
	}
	if (rc == 0 && v.proved)
		v.node = whose(&x, &v);
	if (rc == 0)
		rc = SIM_RESERVE(&j->judged, &j->cap, j->n + 1, e);
	if (rc == 0)
		j->judged[j->n++] = v;
	return rc;
}

/* --- all ------------------------------------------------------------------ */
/* Links that have anything said about them, in hole[]'s stead a bit each. */
static int drop_judge_all(struct algo_drop_judge *j, const struct topo *t,
    struct sim_err *e)
{
	const struct algo_drop_rows *d = &j->rows;
	uint8_t *told = NULL;
	int rc = SIM_ZALLOC(&told, t->n_links, e);
	if (rc < 0)
		return rc;
	for (topo_link l = 0; l < t->n_links; l++)
		told[l] = d->link[l].round.n_kept + d->link[l].round.n_lost > 0;
	for (size_t i = 0; i < d->n_tuples; i++)
		if (d->tuple[i].link != TOPO_NONE)
			told[d->tuple[i].link] = 1;
	for (topo_link l = 0; l < t->n_links; l++)
		j->n_probed += told[l];
	for (topo_link l = 0; l < t->n_links && rc == 0; l++)
		if (told[l] || d->link[l].n_confirmed > 0)
			rc = drop_judge(j, t, l, e);
	free(told);
	return rc;
}

int algo_drop_judge_make(struct algo_drop_judge *j,
    const struct algo_debug_in *in, double noise_rate, double alpha,
    struct sim_err *e)
{
	int rc;
	*j = (struct algo_drop_judge){.noise_rate = noise_rate, .alpha = alpha};
	if ((rc = algo_drop_rows_make(&j->rows, in, e)) < 0 ||
	    (rc = SIM_ZALLOC(&j->hole, j->rows.n_tuples, e)) < 0)
		return rc;
	return drop_judge_all(j, in->routing.topo, e);
}

void algo_drop_judge_free(struct algo_drop_judge *j)
{
	algo_drop_rows_free(&j->rows);
	free(j->judged);
	free(j->hole);
	*j = (struct algo_drop_judge){.alpha = 0};
}

const struct algo_drop_judged *
algo_drop_judged_of(const struct algo_drop_judge *j, topo_link l)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->judged[i].link == l)
			return &j->judged[i];
	return NULL;
}
