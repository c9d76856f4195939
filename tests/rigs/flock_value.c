/* tests/rigs/flock_value.c -- Flock's likelihood, as the paper has it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/flock_value.h"

#include <math.h>

static int flock_path_is_hit(const struct topo *t, const struct obs_paths *p,
    uint32_t path, topo_switch begin, int switches, const uint8_t in[])
{
	int hit = switches && in[t->n_links + begin];
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++) {
		topo_node from, to;
		topo_link_ends(t, p->link[k], &from, &to);
		hit |= in[p->link[k]] ||
		    (switches && in[t->n_links + to - t->n_hosts]);
	}
	return hit;
}

/* LL(H) - LL({}) of one row, H being IN. */
static double flock_row_value(const struct topo *t,
    const struct obs_tallies *rows, size_t i, const struct algo_flock_params *p,
    const uint8_t in[])
{
	const struct obs_paths *x = rows->paths;
	const uint32_t set = rows->set[i];
	const int known = rows->path[i] != OBS_NO_PATH;
	const uint32_t first = known ? rows->path[i] : x->first[set],
		       last = known ? first + 1 : x->first[set + 1];
	double b = 0, w = 0;
	for (uint32_t k = first; k < last; k++, w++)
		b += (rows->up[i] != TOPO_NONE && in[rows->up[i]]) ||
		    (rows->down[i] != TOPO_NONE && in[rows->down[i]]) ||
		    flock_path_is_hit(t, x, k, x->from[set], (int)p->switches,
			in);
	const double full = rows->n_lost[i] * log(p->p_bad / p->p_good) +
	    (rows->n_sent[i] - rows->n_lost[i]) *
		log((1 - p->p_bad) / (1 - p->p_good));
	/* Of a row that lost some hundreds exp(full) is beyond a double. */
	const double most = fmax(full, 0);
	return b == 0 ? 0
	    : b == w
	    ? full
	    : most + log((1 - b / w) * exp(-most) + b / w * exp(full - most));
}

double flock_value(const struct topo *t, const struct obs_tallies *rows,
    const struct algo_flock_params *p, const uint8_t in[])
{
	double sum = 0;
	for (size_t i = 0; i < rows->n; i++)
		sum += flock_row_value(t, rows, i, p, in);
	return sum;
}
