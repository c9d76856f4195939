/* tests/rigs/sieve_exact.c -- the posterior of failed links that Sieve stands for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/sieve_exact.h"

#include "tests/test.h"

/* --- the likelihood ------------------------------------------------------- */

struct exact_paths {
	uint32_t first, end;
};

static struct exact_paths exact_paths_of(const struct sieve_exact *x, size_t i)
{
	const struct obs_tallies *t = x->rows;
	if (t->path[i] != OBS_NO_PATH)
		return (struct exact_paths){t->path[i], t->path[i] + 1};
	return (struct exact_paths){t->paths->first[t->set[i]],
	    t->paths->first[t->set[i] + 1]};
}

/* The sum of hazards over a way, and whether L is on it. */
static double exact_way(const struct sieve_exact *x, size_t i, uint32_t path,
    topo_link l, int *is_on)
{
	const struct obs_tallies *t = x->rows;
	const struct obs_paths *p = t->paths;
	double sum = 0;
	*is_on = t->up[i] == l || t->down[i] == l;
	if (t->up[i] != TOPO_NONE)
		sum += x->hazard[t->up[i]];
	if (t->down[i] != TOPO_NONE)
		sum += x->hazard[t->down[i]];
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++) {
		sum += x->hazard[p->link[k]];
		*is_on |= p->link[k] == l;
	}
	return sum;
}

/* fmax() is a call, as it minds what is no number. */
static double exact_more(double a, double b)
{
	return a > b ? a : b;
}

static double exact_ln_row(double n_sent, double n_lost, double sum)
{
	return (n_lost > 0 ? n_lost * log(-expm1(-sum)) : 0) -
	    (n_sent - n_lost) * sum;
}

/* ln of the likelihood of a row with L at X + G, of each of N hazards G. Ways that
 * L is not on are the same for all of them. */
static void exact_row(const struct sieve_exact *x, size_t i, topo_link l,
    const double at[], size_t n, double ell[])
{
	enum { MOST = 64 };
	const struct exact_paths p = exact_paths_of(x, i);
	const uint32_t n_ways = p.end - p.first;
	const double s = x->rows->n_sent[i], r = x->rows->n_lost[i];
	double way[MOST], ln[MOST];
	int is_on[MOST];
	assert_true(n_ways <= MOST);
	for (uint32_t k = 0; k < n_ways; k++) {
		way[k] = exact_way(x, i, p.first + k, l, &is_on[k]);
		ln[k] = exact_ln_row(s, r, exact_more(way[k], 1e-300));
	}
	for (size_t g = 0; g < n; g++) {
		double sum = 0, most = -INFINITY;
		for (uint32_t k = 0; k < n_ways; k++) {
			if (is_on[k])
				ln[k] = exact_ln_row(s, r,
				    exact_more(way[k] + (at[g] - x->hazard[l]),
					1e-300));
			most = exact_more(most, ln[k]);
		}
		/* Most rows have one way, of which the mean is itself. */
		for (uint32_t k = 0; k < n_ways && n_ways > 1; k++)
			sum += exp(ln[k] - most);
		ell[g] += n_ways > 1 ? most + log(sum / n_ways) : most;
	}
}

/* The window's, but for a constant, with L at each of N hazards. */
static void exact_curve(const struct sieve_exact *x, topo_link l,
    const double at[], size_t n, double ell[])
{
	for (size_t g = 0; g < n; g++)
		ell[g] = -x->kept[l] * at[g];
	for (uint32_t k = x->off[l]; k < x->off[l + 1]; k++)
		exact_row(x, x->over[k], l, at, n, ell);
}

/* --- rows over links ------------------------------------------------------ */

static int exact_is_linear(const struct sieve_exact *x, size_t i)
{
	const struct exact_paths p = exact_paths_of(x, i);
	return x->rows->n_lost[i] == 0 && p.end == p.first + 1;
}

/* Call each link that row I may cross, once. */
static size_t exact_links(const struct sieve_exact *x, size_t i,
    topo_link out[])
{
	const struct obs_tallies *t = x->rows;
	const struct obs_paths *p = t->paths;
	const struct exact_paths w = exact_paths_of(x, i);
	size_t n = 0;
	if (t->up[i] != TOPO_NONE)
		out[n++] = t->up[i];
	if (t->down[i] != TOPO_NONE)
		out[n++] = t->down[i];
	for (uint32_t k = p->off[w.first]; k < p->off[w.end]; k++) {
		size_t seen = 0;
		while (seen < n && out[seen] != p->link[k])
			seen++;
		if (seen == n)
			out[n++] = p->link[k];
		assert_true(n < 1024);
	}
	return n;
}

void sieve_exact_open(struct sieve_exact *x)
{
	const uint32_t n = x->topo->n_links;
	topo_link link[1024];
	x->kept = calloc(n, sizeof(*x->kept));
	x->hazard = calloc(n, sizeof(*x->hazard));
	x->failed = calloc(n, sizeof(*x->failed));
	x->off = calloc(n + 2, sizeof(*x->off));
	assert_true(x->kept && x->hazard && x->failed && x->off);
	for (int fill = 0; fill < 2; fill++) {
		for (size_t i = 0; i < x->rows->n; i++) {
			const size_t n_on = exact_links(x, i, link);
			for (size_t k = 0; k < n_on; k++)
				if (!exact_is_linear(x, i) && fill)
					x->over[x->off[link[k] + 1]++] =
					    (uint32_t)i;
				else if (!exact_is_linear(x, i))
					x->off[link[k] + 2]++;
				else if (fill)
					x->kept[link[k]] += x->rows->n_sent[i];
		}
		if (fill)
			break;
		for (uint32_t l = 1; l < n + 2; l++)
			x->off[l] += x->off[l - 1];
		x->over = calloc(x->off[n + 1] + 1, sizeof(*x->over));
		assert_non_null(x->over);
	}
	for (topo_link l = 0; l < n; l++)
		x->hazard[l] = x->mean;
}

void sieve_exact_close(struct sieve_exact *x)
{
	free(x->kept);
	free(x->hazard);
	free(x->failed);
	free(x->off);
	free(x->over);
}

/* --- one link given all others -------------------------------------------- */

/* Odds of one failure more than N. */
static double exact_odds(const struct sieve_exact *x, double n)
{
	if (x->most > 0 && n >= x->most)
		return 0;
	return (n + 1) / (x->thin * (x->n_parts - n + x->rare));
}

/* Weights of a failed link's hazards, the others being as they are. */
static void exact_slab(const struct sieve_exact *x, topo_link l, double w[])
{
	double n = 1;
	memcpy(w, x->slab, sizeof(x->slab));
	for (topo_link o = 0; x->kernels && o < x->topo->n_links; o++) {
		double kernel[EXACT_GRID], sum = 0;
		if (!x->failed[o] || o == l)
			continue;
		for (unsigned g = 0; g < EXACT_GRID; g++) {
			const double d = log(x->x[g] / x->hazard[o]);
			sum += kernel[g] = exp(-d * d / 2);
		}
		for (unsigned g = 0; g < EXACT_GRID; g++)
			w[g] += kernel[g] / sum;
		n++;
	}
	for (unsigned g = 0; g < EXACT_GRID; g++)
		w[g] /= n;
}

/* What a link may be: [0 .. GRID - 1] failed at that hazard, and beyond healthy,
 * at the mean first. Weights sum to 1; returns the chance that it failed. */
static double exact_weights(const struct sieve_exact *x, topo_link l,
    double at[2 * EXACT_GRID + 1], double w[2 * EXACT_GRID + 1])
{
	double ell[EXACT_GRID + 1], slab[EXACT_GRID], most = -INFINITY;
	double all = 0, failed = 0;
	const double odds = exact_odds(x, (double)x->n_failed - x->failed[l]);
	exact_slab(x, l, slab);
	memcpy(at, x->x, sizeof(x->x));
	at[EXACT_GRID] = x->mean;
	memcpy(at + EXACT_GRID + 1, x->x, sizeof(x->x));
	exact_curve(x, l, at, EXACT_GRID + 1, ell);
	for (unsigned i = 0; i < 2 * EXACT_GRID + 1; i++) {
		w[i] = i < EXACT_GRID ? odds * slab[i]
		    : i == EXACT_GRID ? x->level
		    : x->level        ? 0
				      : x->healthy[i - EXACT_GRID - 1];
		if (w[i] > 0)
			most = exact_more(most, ell[i % (EXACT_GRID + 1)]);
	}
	/* Of a hazard without weight it may be above the most. */
	for (unsigned g = 0; g < EXACT_GRID + 1; g++)
		ell[g] = ell[g] < most ? exp(ell[g] - most) : 1;
	for (unsigned i = 0; i < 2 * EXACT_GRID + 1; i++) {
		w[i] *= ell[i % (EXACT_GRID + 1)];
		all += w[i];
	}
	for (unsigned i = 0; i < 2 * EXACT_GRID + 1; i++) {
		w[i] /= all;
		failed += i < EXACT_GRID ? w[i] : 0;
	}
	return failed;
}

/* --- all sets of up to two ------------------------------------------------ */

static void exact_be(struct sieve_exact *x, topo_link l, double hazard,
    int failed)
{
	x->n_failed += failed - x->failed[l];
	x->failed[l] = (uint8_t)failed;
	x->hazard[l] = hazard;
}

/* ln of the odds that link L failed with, at each hazard, against its being healthy
 * at the mean, the others being as they are; returns that of their sum. */
static double exact_ln_add(const struct sieve_exact *x, topo_link l,
    double ln_w[EXACT_GRID])
{
	double ell[EXACT_GRID + 1], slab[EXACT_GRID], at[EXACT_GRID + 1];
	double most = -INFINITY, sum = 0;
	const double odds = exact_odds(x, x->n_failed);
	exact_slab(x, l, slab);
	memcpy(at, x->x, sizeof(x->x));
	at[EXACT_GRID] = x->mean;
	exact_curve(x, l, at, EXACT_GRID + 1, ell);
	for (unsigned g = 0; g < EXACT_GRID; g++) {
		ln_w[g] = log(odds * slab[g]) + ell[g] - ell[EXACT_GRID];
		most = exact_more(most, ln_w[g]);
	}
	for (unsigned g = 0; g < EXACT_GRID; g++)
		sum += exp(ln_w[g] - most);
	return most + log(sum);
}

/* Weights of sets by link, over exp(MOST): a link may have failed beyond doubt. */
struct exact_sum {
	double *chance; /* [n] */
	uint32_t n;
	double all, most;
};

static void exact_take(struct exact_sum *s, double ln, topo_link a, topo_link b)
{
	if (ln > s->most) {
		const double down = exp(s->most - ln);
		for (topo_link l = 0; l < s->n; l++)
			s->chance[l] *= down;
		s->all *= down;
		s->most = ln;
	}
	const double w = exp(ln - s->most);
	s->all += w;
	s->chance[a] += w;
	if (b != a)
		s->chance[b] += w;
}

/* Links that fail with A, which does so with a weight by hazard whose logarithm is W,
 * and OWN of their sum. */
static void exact_pairs(struct sieve_exact *x, struct exact_sum *s, topo_link a,
    double own, const double w[EXACT_GRID])
{
	double w_b[EXACT_GRID];
	for (unsigned g = 0; g < EXACT_GRID; g++) {
		if (w[g] < own - 28)
			continue;
		exact_be(x, a, x->x[g], 1);
		/* Each set of two comes once from either end. */
		for (topo_link b = 0; b < s->n; b++)
			if (b != a)
				exact_take(s,
				    w[g] + exact_ln_add(x, b, w_b) - log(2), a,
				    b);
	}
	exact_be(x, a, x->mean, 0);
}

void sieve_exact_sets(struct sieve_exact *x, double chance[])
{
	double w[EXACT_GRID];
	struct exact_sum s = {chance, x->topo->n_links, 1, 0};
	memset(chance, 0, s.n * sizeof(*chance));
	for (topo_link l = 0; l < s.n; l++)
		exact_be(x, l, x->mean, 0);
	for (topo_link a = 0; a < s.n; a++)
		exact_take(&s, exact_ln_add(x, a, w), a, a);
	for (topo_link a = 0; a < s.n; a++) {
		const double own = exact_ln_add(x, a, w);
		exact_pairs(x, &s, a, own, w);
	}
	for (topo_link l = 0; l < s.n; l++)
		chance[l] /= s.all;
}

/* --- Gibbs sampling ------------------------------------------------------- */

static double exact_draw(struct sieve_exact *x, struct sim_rng *r, topo_link l)
{
	double at[2 * EXACT_GRID + 1], w[2 * EXACT_GRID + 1];
	const double q = exact_weights(x, l, at, w);
	double u = sim_rng_u01(r);
	unsigned i = 0;
	while (i < 2 * EXACT_GRID && (u -= w[i]) >= 0)
		i++;
	/* Rounding may leave a place of no weight at the end. */
	while (w[i] == 0)
		i--;
	exact_be(x, l, at[i], i < EXACT_GRID);
	return q;
}

/* A failed link and a healthy one change places, if the window allows: the prior
 * is the same, and so is the chance to propose it back. */
static void exact_swap(struct sieve_exact *x, struct sim_rng *r)
{
	const uint32_t n = x->topo->n_links;
	uint32_t nth = x->n_failed ? sim_rng_below(r, x->n_failed) : 0;
	topo_link a = 0, b = sim_rng_below(r, n);
	double before[2], after[2];
	while (a < n && !(x->failed[a] && nth-- == 0))
		a++;
	if (a == n || x->failed[b])
		return;
	const double at_a = x->hazard[a], at_b = x->hazard[b];
	exact_curve(x, a, (double[]){at_a, at_b}, 2, before);
	exact_be(x, a, at_b, 0);
	exact_curve(x, b, (double[]){at_b, at_a}, 2, after);
	if (log(sim_rng_u01(r)) < before[1] - before[0] + after[1] - after[0])
		exact_be(x, b, at_a, 1);
	else
		exact_be(x, a, at_a, 1);
}

void sieve_exact_gibbs(struct sieve_exact *x, struct sim_rng *r, uint32_t n,
    double chance[])
{
	const uint32_t links = x->topo->n_links;
	memset(chance, 0, links * sizeof(*chance));
	for (topo_link l = 0; l < links; l++)
		exact_be(x, l, x->mean, 0);
	for (uint32_t i = 0; i < n + n / 4; i++) {
		for (topo_link l = 0; l < links; l++) {
			const double q = exact_draw(x, r, l);
			if (i >= n / 4)
				chance[l] += q / n;
		}
		for (uint32_t k = 0; k < 10 * x->n_failed; k++)
			exact_swap(x, r);
	}
}
