/* algos/pingmesh/hole_tors.c -- the ToRs that black-holed pairs are due to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hole_tors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/hole_fit.h"
#include "sim/sort.h"
#include "sim/vec.h"

/* A pair that is black-holed by nobody, at least. */
static const double least_background = 1e-6;

struct court {
	const struct topo_clos *clos;
	const struct algo_hole_pair *bad;
	size_t n_bad;
	const struct algo_hole_pairs *all;
	double false_alarm;
	uint32_t *n_pairs;     /* [hosts] that a server is in */
	uint32_t *n_holed;     /* [hosts] black-holed ones of these */
	uint8_t *aside;        /* [hosts] */
	uint64_t *key, *spare; /* [n_bad] of pairs, to be sorted */
	uint32_t *n_decoys[2]; /* [ToRs] of type 1, of type 2 or 1 */
	struct algo_hole_fit fit;
	struct algo_hole_tor *tor;
	uint8_t *suspect; /* [causes] ToRs first, as of the fit */
};

static void court_close(struct court *c)
{
	free(c->n_pairs);
	free(c->n_holed);
	free(c->aside);
	free(c->key);
	free(c->spare);
	free(c->n_decoys[0]);
	free(c->n_decoys[1]);
	free(c->suspect);
	algo_hole_fit_close(&c->fit);
}

static int court_open(struct court *c, struct sim_err *e)
{
	const struct topo_clos *t = c->clos;
	const uint32_t n_causes = t->all_tors + t->n_pods + 1;
	int rc;
	if ((rc = SIM_ZALLOC(&c->n_pairs, t->all_hosts, e)) == 0 &&
	    (rc = SIM_ZALLOC(&c->n_holed, t->all_hosts, e)) == 0 &&
	    (rc = SIM_ZALLOC(&c->aside, t->all_hosts, e)) == 0 &&
	    (rc = SIM_ZALLOC(&c->key, c->n_bad, e)) == 0 &&
	    (rc = SIM_ZALLOC(&c->spare, c->n_bad, e)) == 0 &&
	    (rc = SIM_ZALLOC(&c->n_decoys[0], t->all_tors, e)) == 0 &&
	    (rc = SIM_ZALLOC(&c->n_decoys[1], t->all_tors, e)) == 0 &&
	    (rc = SIM_ZALLOC(&c->suspect, n_causes, e)) == 0)
		rc = algo_hole_fit_open(&c->fit, n_causes, e);
	return rc;
}

/* --- servers --------------------------------------------------------------- */

static void count_server_pairs(struct court *c)
{
	algo_hole_pairs_of_servers(c->all, c->clos->all_hosts, c->n_pairs);
	for (size_t i = 0; i < c->n_bad; i++) {
		c->n_holed[c->bad[i].low]++;
		c->n_holed[c->bad[i].high]++;
	}
}

/* Evidence that B of N pairs are more than a share of P makes: minus the
 * logarithm of Chernoff's bound on that chance. */
static double worse_than_share(double b, double n, double p)
{
	if (b <= n * p)
		return 0;
	return b * log(b / n / p) +
	    (b < n ? (n - b) * log((1 - b / n) / (1 - p)) : 0);
}

/* A server with pairs, and which share of them is black-holed. */
struct ranked {
	uint32_t id, n, n_holed;
	double share;
};

static int by_share(const void *a, const void *b)
{
	const struct ranked *p = a, *q = b;
	return SIM_ORDER(p->share, q->share);
}

/* Of the N servers S, all of one ToR, set aside those that are worse than the
 * better half together lets expect. One good pair and one bad are added to that
 * half's, since few pairs tell little of a share. Pairs between it and the worse
 * ones stay in its count: they make it look worse, which errs to the side of
 * setting nobody aside. */
static void set_worse_half_aside(struct ranked s[], uint32_t n, double enough,
    uint8_t aside[])
{
	const uint32_t half = (n + 1) / 2;
	double n_pairs = 2, n_bad = 1;
	if (n == 0)
		return;
	qsort(s, n, sizeof(*s), by_share);
	for (uint32_t i = 0; i < half; i++) {
		n_pairs += s[i].n;
		n_bad += s[i].n_holed;
	}
	for (uint32_t i = half; i < n; i++)
		aside[s[i].id] = worse_than_share(s[i].n_holed, s[i].n,
				     n_bad / n_pairs) > enough;
}

static int set_servers_aside(struct court *c, struct sim_err *e)
{
	const uint32_t n_hosts = c->clos->n_hosts;
	const double enough = log(c->clos->all_hosts / c->false_alarm);
	struct ranked *alive = NULL;
	int rc = SIM_ZALLOC(&alive, n_hosts, e);
	for (uint32_t t = 0; rc == 0 && t < c->clos->all_tors; t++) {
		uint32_t n = 0;
		for (uint32_t h = t * n_hosts; h < (t + 1) * n_hosts; h++)
			if (c->n_pairs[h] > 0)
				alive[n++] = (struct ranked){h, c->n_pairs[h],
				    c->n_holed[h],
				    (double)c->n_holed[h] / c->n_pairs[h]};
		set_worse_half_aside(alive, n, enough, c->aside);
	}
	free(alive);
	return rc;
}

static int is_heard(const struct court *c, uint32_t low, uint32_t high)
{
	return !c->aside[low] && !c->aside[high];
}

/* --- causes ---------------------------------------------------------------- */

/* ToRs, then the T1s of each pod, then the T2s. */
static uint32_t causes_of(const struct topo_clos *t, uint32_t low,
    uint32_t high, uint32_t cause[ALGO_HOLE_CAUSES])
{
	const uint32_t a = low / t->n_hosts, b = high / t->n_hosts;
	const uint32_t p = a / t->n_tors, q = b / t->n_tors;
	uint32_t n = 0;
	cause[n++] = a;
	if (a == b)
		return n;
	cause[n++] = b;
	cause[n++] = t->all_tors + p;
	if (p == q)
		return n;
	cause[n++] = t->all_tors + q;
	cause[n++] = t->all_tors + t->n_pods;
	return n;
}

static void hear_pairs(void *arg, const struct algo_hole_count *x)
{
	struct court *c = arg;
	uint32_t cause[ALGO_HOLE_CAUSES];
	const uint32_t n = causes_of(c->clos, x->low, x->high, cause);
	for (uint32_t k = 0; k < n; k++)
		c->fit.n_pairs[cause[k]] += x->n;
	for (uint32_t k = 0; k < 2 && k < n; k++)
		for (int type = 0; type < 2; type++)
			c->n_decoys[type][cause[k]] += x->n_decoys[type];
}

/* As of either ToR a pair is one of its own; what is above them is told once. */
static void hear_bundle(void *arg, const struct algo_hole_bundle *x)
{
	struct court *c = arg;
	const struct topo_clos *t = c->clos;
	double *n_pairs = c->fit.n_pairs;
	const uint32_t pod = x->tor / t->n_tors;
	n_pairs[x->tor] += (double)x->n;
	n_pairs[t->all_tors + pod] += (double)x->n_once;
	if (pod == x->pod)
		return;
	n_pairs[t->all_tors + x->pod] += (double)x->n_once;
	n_pairs[t->all_tors + t->n_pods] += (double)x->n_once;
}

/* Half a pair more for each cause, that was spared: so no hazard is infinite
 * though all pairs be black-holed. */
static void count_cause_pairs(struct court *c)
{
	const struct algo_hole_hearer to = {c, hear_pairs, hear_bundle};
	for (uint32_t k = 0; k < c->fit.n_causes; k++)
		c->fit.n_pairs[k] = 0.5;
	algo_hole_pairs_tell(c->all, c->clos->all_hosts, c->aside, &to);
}

static double background_of(const struct court *c, const uint32_t cause[],
    uint32_t n_tors, uint32_t type)
{
	double b = least_background;
	for (uint32_t k = 0; k < n_tors; k++)
		b = fmax(b,
		    c->n_decoys[type - 1][cause[k]] / c->fit.n_pairs[cause[k]]);
	return b;
}

/* A pair's ToRs and its type as a word, and the cell of such pairs, none yet. */
static uint64_t cell_key(const struct court *c, const struct algo_hole_pair *p)
{
	const struct topo_clos *t = c->clos;
	const uint64_t low = p->low / t->n_hosts, high = p->high / t->n_hosts;
	return 2 * (low * t->all_tors + high) + (p->type == 2);
}

static struct algo_hole_cell cell_of(const struct court *c, uint64_t key)
{
	const struct topo_clos *t = c->clos;
	const uint32_t low = (uint32_t)(key / 2 / t->all_tors),
		       high = (uint32_t)(key / 2 % t->all_tors);
	struct algo_hole_cell x = {.n = 0};
	x.n_causes = causes_of(t, low * t->n_hosts, high * t->n_hosts, x.cause);
	x.background =
	    background_of(c, x.cause, x.n_causes > 1 ? 2 : 1, key % 2 ? 2 : 1);
	return x;
}

/* A pair within a ToR has no second cause, where 0 stands: no other pair with
 * 0 there has the same first, as the first is of the lower server. */
static int cells_are_one(const struct algo_hole_cell *a,
    const struct algo_hole_cell *b)
{
	return a->cause[0] == b->cause[0] && a->cause[1] == b->cause[1] &&
	    a->background == b->background;
}

/* Cells of the same ToRs are neighbours, of type 1 first, which has no more
 * background: they are one if it is the same. */
static int fill_cells(struct court *c, struct sim_err *e)
{
	struct algo_hole_fit *f = &c->fit;
	size_t n = 0;
	int rc;
	for (size_t i = 0; i < c->n_bad; i++)
		if (is_heard(c, c->bad[i].low, c->bad[i].high))
			c->key[n++] = cell_key(c, &c->bad[i]);
	sim_sort_keys(c->key, c->spare, n, 0);
	if ((rc = SIM_RESERVE(&f->cell, &f->cap_cells, n, e)) < 0)
		return rc;
	for (size_t i = 0, k; i < n; i = k) {
		struct algo_hole_cell x = cell_of(c, c->key[i]);
		for (k = i; k < n && c->key[k] == c->key[i]; k++)
			x.n++;
		if (f->n_cells > 0 &&
		    cells_are_one(&f->cell[f->n_cells - 1], &x))
			f->cell[f->n_cells - 1].n += x.n;
		else
			f->cell[f->n_cells++] = x;
	}
	return 0;
}

/* --- the verdict ----------------------------------------------------------- */

static void bar_pods(struct court *c, int t1s, int t2s)
{
	for (uint32_t p = 0; p < c->clos->n_pods; p++)
		c->fit.barred[c->clos->all_tors + p] = (uint8_t)t1s;
	c->fit.barred[c->clos->all_tors + c->clos->n_pods] = (uint8_t)t2s;
}

/* Fit, and find for which causes there is evidence. Without one that has less
 * than half a pair to explain, the others as they stand lose less than the
 * logarithm of 4 at half a pair: no evidence worth a fit. */
static void find_causes(struct court *c, uint8_t found[])
{
	struct algo_hole_fit *f = &c->fit;
	const double enough = log(f->n_causes / c->false_alarm);
	algo_hole_fit(f);
	for (uint32_t k = 0; k < f->n_causes; k++) {
		const int some = f->hazard[k] * f->n_pairs[k] >= 0.5;
		found[k] = some && algo_hole_evidence(f, k, enough) > enough;
	}
}

/* Acquit the ToRs, though there is evidence, whose pairs are all of one server.
 * Pairs with a guilty ToR at the other end are that one's. */
static void acquit_for_a_server(struct court *c, const uint8_t guilty[],
    uint8_t suspect[], uint32_t n_own[])
{
	const uint32_t n_hosts = c->clos->n_hosts;
	memset(c->n_holed, 0, c->clos->all_hosts * sizeof(*c->n_holed));
	for (size_t i = 0; i < c->n_bad; i++) {
		const struct algo_hole_pair *p = &c->bad[i];
		const uint32_t a = p->low / n_hosts, b = p->high / n_hosts;
		if (!is_heard(c, p->low, p->high))
			continue;
		if (a == b || !guilty[b]) {
			n_own[a]++;
			c->n_holed[p->low]++;
		}
		if (a == b || !guilty[a]) {
			n_own[b] += a != b;
			c->n_holed[p->high]++;
		}
	}
	for (uint32_t t = 0; t < c->clos->all_tors; t++) {
		uint32_t n_alive = 0, most = 0;
		for (uint32_t h = t * n_hosts; h < (t + 1) * n_hosts; h++) {
			n_alive += c->n_pairs[h] > 0;
			most = c->n_holed[h] > most ? c->n_holed[h] : most;
		}
		if (n_alive > 1 && most == n_own[t])
			suspect[t] = 0;
	}
}

/* Section 5.1: of a podset some but not all of whose ToRs are black holes,
 * those are to blame, and else what is above them. DEPARTS: what is above them
 * may have evidence of its own, and then need not make suspects of all; and
 * suspects who are not guilty tell that it is to blame. */
static void judge_pods(const struct court *c, const uint8_t guilty[])
{
	const uint32_t n_tors = c->clos->n_tors;
	const uint8_t *t1s = &guilty[c->clos->all_tors];
	const int t2s = t1s[c->clos->n_pods];
	for (uint32_t p = 0; p < c->clos->n_pods; p++) {
		const uint32_t first = p * n_tors;
		uint32_t n_guilty = 0, n_others = 0;
		for (uint32_t t = first; t < first + n_tors; t++) {
			n_guilty += c->suspect[t] && guilty[t];
			n_others += c->suspect[t] && !guilty[t];
		}
		const int all = n_guilty == n_tors && n_tors > 1;
		const int above = all || t2s || t1s[p] || n_others > 0;
		for (uint32_t t = first; t < first + n_tors; t++)
			c->tor[t].finding = c->suspect[t] && guilty[t] && !all
			    ? ALGO_HOLE_GUILTY
			    : above ? ALGO_HOLE_ABOVE
				    : ALGO_HOLE_INNOCENT;
	}
}

static void keep_shares(const struct court *c, const uint8_t of[])
{
	const struct algo_hole_fit *f = &c->fit;
	for (uint32_t t = 0; t < c->clos->all_tors; t++)
		if (!of || of[t])
			c->tor[t].share = f->hazard[t] * f->n_pairs[t] < 0.5
			    ? 0
			    : -expm1(-f->hazard[t]);
}

static int hole_tors_judge(struct court *c, struct sim_err *e)
{
	const uint32_t n_tors = c->clos->all_tors;
	uint8_t *guilty = NULL;
	uint32_t *n_own = NULL;
	int rc;
	if ((rc = SIM_ZALLOC(&guilty, c->fit.n_causes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&n_own, n_tors, e)) < 0)
		goto out;
	bar_pods(c, 1, 1);
	find_causes(c, c->suspect);
	keep_shares(c, NULL);
	bar_pods(c, c->clos->n_tors == 1, 0);
	find_causes(c, guilty);
	for (uint32_t t = 0; t < n_tors; t++)
		c->suspect[t] |= guilty[t];
	keep_shares(c, guilty);
	acquit_for_a_server(c, guilty, c->suspect, n_own);
	judge_pods(c, guilty);
out:
	free(guilty);
	free(n_own);
	return rc;
}

int algo_hole_tors(const struct topo_clos *clos,
    const struct algo_hole_pair bad[], size_t n_bad,
    const struct algo_hole_pairs *all, double false_alarm,
    struct algo_hole_tor tor[], struct sim_err *e)
{
	struct court c = {.clos = clos,
	    .bad = bad,
	    .n_bad = n_bad,
	    .all = all,
	    .false_alarm = false_alarm,
	    .tor = tor};
	int rc = court_open(&c, e);
	memset(tor, 0, clos->all_tors * sizeof(*tor));
	if (rc == 0) {
		count_server_pairs(&c);
		rc = set_servers_aside(&c, e);
	}
	if (rc == 0) {
		count_cause_pairs(&c);
		rc = fill_cells(&c, e);
	}
	if (rc == 0)
		rc = hole_tors_judge(&c, e);
	court_close(&c);
	return rc;
}
