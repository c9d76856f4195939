/* algos/sieve/sieve_groups.c -- links that equal paths do not tell apart.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_groups.h"

#include <stdlib.h>
#include <string.h>

#include "sim/sort.h"
#include "sim/vec.h"

void sieve_groups_free(struct sieve_groups *x)
{
	algo_ways_free(&x->ways);
	free(x->of);
	free(x->n_here);
	free(x->off);
	free(x->on);
	free(x->share);
	free(x->key);
	*x = (struct sieve_groups){0};
}

/* Splitmix64's finisher. */
static uint64_t sieve_groups_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int sieve_groups_by_key(const void *a, const void *b)
{
	const struct sieve_group_key *x = a, *y = b;
	if (x->key != y->key)
		return x->key > y->key ? 1 : -1;
	return SIM_ORDER(x->link, y->link);
}

/* A key is a sum over sets, of what each set and the number of its paths over the
 * link come to: two links that are told apart have the same once in 2^64. */
static void sieve_groups_keys(struct sieve_groups *x, uint32_t n_links)
{
	const struct algo_ways *w = &x->ways;
	for (topo_link l = 0; l < n_links; l++)
		x->key[l] = (struct sieve_group_key){0, l};
	for (size_t k = 0; k < w->n_sets; k++)
		for (uint32_t i = w->set_off[k]; i < w->set_off[k + 1]; i++)
			x->key[w->set_part[i]].key += sieve_groups_mix(
			    sieve_groups_mix(k + 1) + w->set_count[i]);
}

/* Number the groups: cables' first, and others in the order of their keys, which
 * no answer may depend on. */
static int sieve_groups_number(struct sieve_groups *x, const struct topo *t,
    struct sim_err *e)
{
	const topo_link first = 2 * t->n_hosts;
	int rc = 0;
	qsort(x->key + first, t->n_links - first, sizeof(*x->key),
	    sieve_groups_by_key);
	x->n = 2 * (size_t)t->n_switches;
	for (topo_link i = first; i < t->n_links; i++) {
		x->n += i == first || x->key[i].key != x->key[i - 1].key;
		x->of[x->key[i].link] = (uint32_t)x->n - 1;
	}
	for (topo_link l = 0; l < first; l++)
		x->of[l] = 2 * topo_tor_of(t, l / 2) + l % 2;
	if ((rc = SIM_RESERVE(&x->n_here, &x->cap_here, x->n, e)) < 0)
		return rc;
	memset(x->n_here, 0, x->n * sizeof(*x->n_here));
	for (topo_link l = 0; l < t->n_links; l++)
		x->n_here[x->of[l]]++;
	return 0;
}

/* A group is on a set with all of its links or with none, so that the first of
 * them that the set has can stand for all. */
static int sieve_groups_sets(struct sieve_groups *x, struct sim_err *e)
{
	const struct algo_ways *w = &x->ways;
	uint32_t n = 0;
	int rc = 0;
	for (size_t k = 0; rc == 0 && k < w->n_sets; k++) {
		const double size = obs_set_size(w->of, (uint32_t)k);
		const uint32_t first = x->off[k] = n;
		for (uint32_t i = w->set_off[k]; i < w->set_off[k + 1]; i++) {
			const uint32_t g = x->of[w->set_part[i]];
			uint32_t had = first;
			while (had < n && x->on[had] != g)
				had++;
			if (had < n)
				continue;
			if ((rc = SIM_RESERVE(&x->on, &x->cap_on, (size_t)n + 1,
				 e)) < 0 ||
			    (rc = SIM_RESERVE(&x->share, &x->cap_share,
				 (size_t)n + 1, e)) < 0)
				return rc;
			x->on[n] = g;
			x->share[n++] = w->set_count[i] / size;
		}
	}
	x->off[w->n_sets] = n;
	return rc;
}

int sieve_groups_update(struct sieve_groups *x, const struct topo *t,
    const struct obs_paths *p, struct sim_err *e)
{
	struct algo_ways *w = &x->ways;
	const int as_before = x->n > 0 && w->of == p &&
	    w->n_cleared == p->n_cleared && w->n_sets == p->n_sets;
	int rc;
	if (as_before)
		return 0;
	x->n = 0;
	if ((rc = algo_ways_update(w, t, p, 0, 1, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->of, &x->cap_of, t->n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->key, &x->cap_key, t->n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->off, &x->cap_off, p->n_sets + 1, e)) < 0)
		return rc;
	sieve_groups_keys(x, t->n_links);
	if ((rc = sieve_groups_number(x, t, e)) < 0 ||
	    (rc = sieve_groups_sets(x, e)) < 0)
		x->n = 0;
	return rc;
}
