/* algos/rivals/probe_matrix.c -- greedy choice of paths, by values found lazily.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/probe_matrix.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void algo_probe_matrix_free(struct algo_probe_matrix *m)
{
	free(m->weight);
	free(m->set);
	free(m->size);
	free(m->heap);
	*m = (struct algo_probe_matrix){0};
}

/* --- the heap ------------------------------------------------------------- */

static int matrix_before(const struct algo_probe_option *a,
    const struct algo_probe_option *b)
{
	return a->value != b->value ? a->value < b->value : a->row < b->row;
}

/* Put X where the hole at I is, or below. */
static void matrix_sift(struct algo_probe_matrix *m, size_t i,
    struct algo_probe_option x)
{
	for (size_t child; (child = 2 * i + 1) < m->n; i = child) {
		if (child + 1 < m->n &&
		    matrix_before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!matrix_before(&m->heap[child], &x))
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = x;
}

static void matrix_pop(struct algo_probe_matrix *m)
{
	const struct algo_probe_option last = m->heap[--m->n];
	if (m->n > 0)
		matrix_sift(m, 0, last);
}

/* --- what a row is worth -------------------------------------------------- */

static unsigned matrix_links(const struct algo_probe_matrix *m, uint32_t i,
    topo_link link[TOPO_MAX_HOPS + 2])
{
	const struct algo_ways *w = m->ways;
	const uint32_t path = m->rows->path[i];
	unsigned n = 0;
	if (m->rows->up[i] != TOPO_NONE)
		link[n++] = m->rows->up[i];
	if (m->rows->down[i] != TOPO_NONE)
		link[n++] = m->rows->down[i];
	for (uint32_t k = w->off[path]; k < w->off[path + 1]; k++)
		link[n++] = w->part[k];
	return n;
}

/* How many of the N links are of the set of the one at J; 0 if an earlier one
 * was of it, so that each set is met once. */
static uint32_t matrix_share(const struct algo_probe_matrix *m,
    const topo_link link[], unsigned n, unsigned j)
{
	const uint32_t set = m->set[link[j]];
	uint32_t share = 0;
	for (unsigned k = 0; k < n; k++) {
		if (m->set[link[k]] != set)
			continue;
		if (k < j)
			return 0;
		share++;
	}
	return share;
}

/* Returns 0 if row I is of no use. */
static int matrix_value(const struct algo_probe_matrix *m, uint32_t i,
    uint32_t cover, int64_t *value)
{
	topo_link link[TOPO_MAX_HOPS + 2];
	const unsigned n = matrix_links(m, i, link);
	int useful = 0;
	*value = 0;
	for (unsigned j = 0; j < n; j++) {
		const uint32_t share = matrix_share(m, link, n, j);
		const int splits =
		    share > 0 && share < m->size[m->set[link[j]]];
		*value += (int64_t)m->weight[link[j]] - splits;
		useful |= splits || m->weight[link[j]] < cover;
	}
	return useful;
}

/* The links of row I that leave others of their set make a new one. */
static void matrix_choose_row(struct algo_probe_matrix *m, uint32_t i)
{
	topo_link link[TOPO_MAX_HOPS + 2];
	const unsigned n = matrix_links(m, i, link);
	for (unsigned j = 0; j < n; j++) {
		const uint32_t set = m->set[link[j]],
			       share = matrix_share(m, link, n, j);
		m->weight[link[j]]++;
		/* Links that moved already are a set of their own as a whole. */
		if (share == 0 || share == m->size[set])
			continue;
		m->size[m->n_sets] = share;
		m->size[set] -= share;
		for (unsigned k = j; k < n; k++)
			if (m->set[link[k]] == set)
				m->set[link[k]] = m->n_sets;
		m->n_sets++;
	}
}

/* --- choosing ------------------------------------------------------------- */

static int matrix_begin(struct algo_probe_matrix *m, uint32_t n_links,
    uint32_t cover, const uint8_t take[], struct sim_err *e)
{
	int rc;
	if ((rc = SIM_RESERVE(&m->weight, &m->cap_weight, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->set, &m->cap_set, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->size, &m->cap_size, n_links + 1, e)) < 0)
		return rc;
	memset(m->weight, 0, n_links * sizeof(*m->weight));
	memset(m->set, 0, n_links * sizeof(*m->set));
	m->size[0] = n_links;
	m->n_sets = 1;
	m->n = 0;
	for (uint32_t i = 0; i < m->rows->n; i++) {
		int64_t value;
		if (!take[i] || !matrix_value(m, i, cover, &value))
			continue;
		if ((rc = SIM_RESERVE(&m->heap, &m->cap_heap, m->n + 1, e)) < 0)
			return rc;
		m->heap[m->n++] = (struct algo_probe_option){value, i};
	}
	for (size_t i = m->n / 2; i-- > 0;)
		matrix_sift(m, i, m->heap[i]);
	return 0;
}

int algo_probe_matrix_choose(struct algo_probe_matrix *m,
    const struct algo_ways *w, const struct obs_tallies *t, uint32_t n_links,
    uint32_t cover, uint8_t take[], struct sim_err *e)
{
	m->ways = w;
	m->rows = t;
	const int rc = matrix_begin(m, n_links, cover, take, e);
	if (rc < 0)
		return rc;
	memset(take, 0, t->n);
	while (m->n > 0) {
		struct algo_probe_option x = m->heap[0];
		int64_t value;
		if (!matrix_value(m, x.row, cover, &value)) {
			matrix_pop(m);
		} else if (value > x.value) {
			x.value = value;
			matrix_sift(m, 0, x);
		} else {
			matrix_pop(m);
			matrix_choose_row(m, x.row);
			take[x.row] = 1;
		}
	}
	return 0;
}
