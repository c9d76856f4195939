/* algos/rivals/lossy.c -- rows that lost something, by what they crossed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/lossy.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void algo_lossy_free(struct algo_lossy *x)
{
	free(x->row);
	free(x->gone);
	free(x->begin);
	free(x->over);
	*x = (struct algo_lossy){0};
}

unsigned algo_lossy_parts(const struct algo_lossy *x, size_t k,
    uint32_t part[ALGO_LOSSY_PARTS])
{
	const uint32_t i = x->row[k], path = x->rows->path[i],
		       first = x->ways->off[path],
		       n_on = x->ways->off[path + 1] - first;
	unsigned n = 0;
	if (x->rows->up[i] != TOPO_NONE)
		part[n++] = x->rows->up[i];
	if (x->rows->down[i] != TOPO_NONE)
		part[n++] = x->rows->down[i];
	if (n_on > 0)
		memcpy(part + n, x->ways->part + first, n_on * sizeof(*part));
	return n + n_on;
}

int algo_lossy_take(struct algo_lossy *x, size_t k)
{
	const int was = x->gone[k];
	x->gone[k] = 1;
	return !was;
}

static int lossy_rows(struct algo_lossy *x, const uint8_t take[],
    struct sim_err *e)
{
	const struct obs_tallies *t = x->rows;
	int rc = 0;
	x->n = 0;
	for (uint32_t i = 0; rc == 0 && i < t->n; i++) {
		if (t->n_lost[i] == 0 || t->path[i] == OBS_NO_PATH ||
		    !(take ? take[i] : !t->is_probe[i]))
			continue;
		if ((rc = SIM_RESERVE(&x->row, &x->cap_row, x->n + 1, e)) ==
			0 &&
		    (rc = SIM_RESERVE(&x->gone, &x->cap_gone, x->n + 1, e)) ==
			0)
			x->row[x->n++] = i;
	}
	if (rc == 0 && x->n > 0)
		memset(x->gone, 0, x->n);
	return rc;
}

int algo_lossy_read(struct algo_lossy *x, const struct algo_ways *w,
    const struct obs_tallies *t, const uint8_t take[], uint32_t n_parts,
    struct sim_err *e)
{
	uint32_t part[ALGO_LOSSY_PARTS];
	int rc;
	x->ways = w;
	x->rows = t;
	if ((rc = lossy_rows(x, take, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->begin, &x->cap_begin, (size_t)n_parts + 2,
		 e)) < 0)
		return rc;
	memset(x->begin, 0, ((size_t)n_parts + 2) * sizeof(*x->begin));
	for (size_t k = 0; k < x->n; k++)
		for (unsigned j = algo_lossy_parts(x, k, part); j-- > 0;)
			x->begin[part[j] + 2]++;
	for (uint32_t c = 0; c < n_parts; c++)
		x->begin[c + 2] += x->begin[c + 1];
	if ((rc = SIM_RESERVE(&x->over, &x->cap_over, x->begin[n_parts + 1],
		 e)) < 0)
		return rc;
	/* Where a run begins moves to its end, where the next one begins. */
	for (size_t k = 0; k < x->n; k++)
		for (unsigned j = algo_lossy_parts(x, k, part); j-- > 0;)
			x->over[x->begin[part[j] + 1]++] = (uint32_t)k;
	return 0;
}
