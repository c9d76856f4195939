/* algos/sieve/sieve_halves.c -- packets on links, by halves of ways.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_halves.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* Sets from a switch differ by how far they go; where all do, nobody looks. */
enum { SIEVE_HALVES_TRIES = 8 };

void sieve_halves_free(struct sieve_halves *h)
{
	free(h->set);
	free(h->block);
	free(h->chain);
	free(h->sum);
	*h = (struct sieve_halves){0};
}

/* Half of a path is link[*FROM] .. link[*TO - 1]. */
static void sieve_halves_range(const struct obs_paths *p, uint32_t path,
    uint32_t is_tail, uint32_t *from, uint32_t *to)
{
	const uint32_t middle = p->off[path] + obs_path_length(p, path) / 2;
	*from = is_tail ? middle : p->off[path];
	*to = is_tail ? p->off[path + 1] : middle;
}

static int sieve_halves_same(const struct obs_paths *p, uint32_t a, uint32_t b,
    uint32_t is_tail)
{
	const uint32_t n = obs_set_size(p, a);
	if (n != obs_set_size(p, b))
		return 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i, j, i_end, j_end;
		sieve_halves_range(p, p->first[a] + k, is_tail, &i, &i_end);
		sieve_halves_range(p, p->first[b] + k, is_tail, &j, &j_end);
		if (i_end - i != j_end - j ||
		    memcmp(p->link + i, p->link + j,
			(i_end - i) * sizeof(*p->link)) != 0)
			return 0;
	}
	return 1;
}

/* The number of the first half of SET, old or new. */
static int sieve_halves_find(struct sieve_halves *h, uint32_t set,
    topo_switch end, uint32_t is_tail, uint32_t *number, struct sim_err *e)
{
	uint32_t *chain = &h->chain[2 * (size_t)end + is_tail], at = *chain;
	int rc;
	for (unsigned k = 0; at > 0 && k < SIEVE_HALVES_TRIES; k++) {
		const struct sieve_halves_block *b = &h->block[at - 1];
		if (sieve_halves_same(h->of, set, b->set, is_tail)) {
			*number = b->first;
			return 0;
		}
		at = b->next;
	}
	if ((rc = SIM_RESERVE(&h->block, &h->cap_block, h->n_blocks + 1, e)) <
	    0)
		return rc;
	h->block[h->n_blocks++] =
	    (struct sieve_halves_block){set, h->n, *chain, is_tail};
	*chain = (uint32_t)h->n_blocks;
	*number = h->n;
	h->n += obs_set_size(h->of, set);
	return 0;
}

static int sieve_halves_clear(struct sieve_halves *h, const struct obs_paths *p,
    uint32_t n_switches, struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&h->chain, &h->cap_chain, 2 * (size_t)n_switches, e);
	if (rc < 0)
		return rc;
	memset(h->chain, 0, 2 * (size_t)n_switches * sizeof(*h->chain));
	h->of = p;
	h->n_cleared = p->n_cleared;
	h->n_sets = h->n_blocks = h->n = 0;
	return 0;
}

int sieve_halves_begin(struct sieve_halves *h, const struct obs_paths *p,
    uint32_t n_switches, struct sim_err *e)
{
	int rc = 0;
	if (h->of != p || h->n_cleared != p->n_cleared || h->n_sets > p->n_sets)
		rc = sieve_halves_clear(h, p, n_switches, e);
	if (rc < 0 ||
	    (rc = SIM_RESERVE(&h->set, &h->cap_set, p->n_sets, e)) < 0)
		return rc;
	for (; h->n_sets < p->n_sets; h->n_sets++) {
		const uint32_t s = (uint32_t)h->n_sets;
		struct sieve_halves_set *x = &h->set[s];
		x->first = p->first[s];
		x->n = obs_set_size(p, s);
		if ((rc = sieve_halves_find(h, s, p->from[s], 0, &x->head, e)) <
			0 ||
		    (rc = sieve_halves_find(h, s, p->to[s], 1, &x->tail, e)) <
			0)
			return rc;
	}
	if ((rc = SIM_RESERVE(&h->sum, &h->cap_sum, h->n, e)) < 0)
		return rc;
	memset(h->sum, 0, h->n * sizeof(*h->sum));
	return 0;
}

void sieve_halves_end(const struct sieve_halves *h, double on[])
{
	const struct obs_paths *p = h->of;
	for (size_t i = 0; i < h->n_blocks; i++) {
		const struct sieve_halves_block *b = &h->block[i];
		const double *sum = h->sum + b->first;
		const uint32_t first = p->first[b->set],
			       n = obs_set_size(p, b->set);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t from, to;
			if (sum[k] == 0)
				continue;
			sieve_halves_range(p, first + k, b->is_tail, &from,
			    &to);
			for (; from < to; from++)
				on[p->link[from]] += sum[k];
		}
	}
}
