/* algos/sieve/sieve_choice.c -- what flows say that are seen if they lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_model.h"
#include "sim/vec.h"

void sieve_choice_free(struct sieve_choice *c)
{
	sieve_groups_free(&c->groups);
	free(c->seen);
	free(c->spot);
	free(c->spot_of);
	free(c->share);
	free(c->probed);
	free(c->bin);
	free(c->is_made);
	free(c->n_failed);
	free(c->failed);
	free(c->more);
	free(c->lost);
	free(c->out);
	free(c->coarse);
	free(c->expects);
	*c = (struct sieve_choice){0};
}

/* --- reading -------------------------------------------------------------- */

static int sieve_choice_room(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_choice *c = &m->choice;
	const size_t n = c->groups.n, n_links = m->topo->n_links,
		     n_sets = m->rows->paths->n_sets;
	int rc;
	if ((rc = SIM_RESERVE(&c->seen, &c->cap_seen, m->n_lossy, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->spot, &c->cap_spots, n_sets, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->spot_of, &c->cap_spot_of, n_sets, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->share, &c->cap_share, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->is_made, &c->cap_made, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->n_failed, &c->cap_failed_of, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->expects, &c->cap_expects, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->probed, &c->cap_probed, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->coarse, &c->cap_coarse, n * SIEVE_COARSE,
		 e)) < 0 ||
	    (rc = SIM_RESERVE(&c->out, &c->cap_out, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->failed, &c->cap_failed, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->lost, &c->cap_lost,
		 SIEVE_OCTAVES * SIEVE_GRID, e)) < 0)
		return rc;
	memset(c->spot_of, 0xff, n_sets * sizeof(*c->spot_of));
	memset(c->share, 0, n * sizeof(*c->share));
	memcpy(c->probed, m->kept, n_links * sizeof(*c->probed));
	c->n = c->n_spots = c->n_list = c->n_more = 0;
	while (rc == 0 && m->n_exposures < n)
		rc = sieve_model_expose(m, e);
	for (topo_link l = 0; l < n_links; l++)
		m->exposure_of[l] = c->groups.of[l];
	return rc;
}

/* The eighth of an octave, in steps of a line, of a number from 1 on. */
static uint16_t sieve_choice_law(double n)
{
	uint64_t bits;
	memcpy(&bits, &n, sizeof(bits));
	return (uint16_t)((bits >> 49) - (1023 << 3));
}

/* The octave of a number that is not 0. */
static unsigned sieve_choice_octave(uint32_t n)
{
	unsigned k = 0;
	while (n >>= 1)
		k++;
	return k;
}

static void sieve_choice_take(struct sieve_model *m, uint32_t i)
{
	struct sieve_choice *c = &m->choice;
	const struct obs_tallies *t = m->rows;
	const uint32_t row = m->lossy[i].row, set = t->set[row],
		       first = m->lossy[i].first,
		       n_hops = m->lossy[i + 1].first - first;
	struct sieve_seen *x = &c->seen[c->n++];
	if (c->spot_of[set] == UINT32_MAX) {
		c->spot_of[set] = (uint32_t)c->n_spots;
		c->spot[c->n_spots++] = (struct sieve_spot){.set = set};
	}
	*x = (struct sieve_seen){.s = t->n_sent[row],
	    .left = 1,
	    .lossy = i,
	    .spot = c->spot_of[set],
	    .up = t->up[row] == TOPO_NONE ? SIEVE_NO_GROUP
					  : (int32_t)c->groups.of[t->up[row]],
	    .down = t->down[row] == TOPO_NONE
		? SIEVE_NO_GROUP
		: (int32_t)c->groups.of[t->down[row]],
	    .octave = (uint8_t)sieve_choice_octave(t->n_sent[row]),
	    .n_hops = (uint8_t)n_hops,
	    .law = sieve_choice_law((double)t->n_sent[row] * n_hops)};
	for (uint32_t k = c->groups.off[set]; k < c->groups.off[set + 1]; k++)
		c->share[c->groups.on[k]] += c->groups.share[k];
	if (x->up != SIEVE_NO_GROUP)
		c->share[x->up] += sieve_choice_cable(c, x->up);
	if (x->down != SIEVE_NO_GROUP)
		c->share[x->down] += sieve_choice_cable(c, x->down);
	for (uint32_t k = 0; k < n_hops; k++)
		c->probed[m->hop[first + k]] -= x->s - m->lossy[i].n_lost;
}

static int sieve_choice_bins(struct sieve_choice *c, struct sim_err *e)
{
	double n[SIEVE_OCTAVES] = {0};
	uint8_t least = SIEVE_OCTAVES, most = 0;
	memset(c->size, 0, sizeof(c->size));
	for (size_t i = 0; i < c->n; i++)
		least = c->seen[i].octave < least ? c->seen[i].octave : least;
	for (size_t i = 0; i < c->n; i++) {
		const uint8_t o = c->seen[i].octave -= least;
		most = o > most ? o : most;
		n[o]++;
		c->size[o] += c->seen[i].s;
	}
	for (unsigned o = 0; o <= most; o++)
		c->size[o] /= fmax(n[o], 1);
	c->n_bins = 2 * (most + 1u);
	return SIM_RESERVE(&c->bin, &c->cap_bin, c->groups.n * c->n_bins, e);
}

int sieve_choice_read(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_choice *c = &m->choice;
	int rc;
	if (!c->on)
		return 0;
	if ((rc = sieve_groups_update(&c->groups, m->topo, m->rows->paths, e)) <
		0 ||
	    (rc = sieve_choice_room(m, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < m->n_lossy; i++)
		if (!m->rows->is_probe[m->lossy[i].row])
			sieve_choice_take(m, i);
	if ((rc = sieve_choice_bins(c, e)) < 0)
		return rc;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		m->passed[l] += c->share[c->groups.of[l]];
	sieve_model_level(m, m->x[SIEVE_GRID / 2]);
	c->start = sieve_choice_start(m);
	return 0;
}

/* --- a pass --------------------------------------------------------------- */

/* What failed, by groups; who failed before has its group's exposure again. */
static void sieve_choice_list(struct sieve_model *m)
{
	struct sieve_choice *c = &m->choice;
	for (size_t i = 0; i < c->n_list; i++)
		m->exposure_of[c->failed[i]] = c->groups.of[c->failed[i]];
	c->n_list = 0;
	memset(c->n_failed, 0, c->groups.n * sizeof(*c->n_failed));
	for (topo_link l = 0; l < m->topo->n_links; l++)
		if (m->hazard[l] != c->mean) {
			c->failed[c->n_list++] = l;
			c->n_failed[c->groups.of[l]]++;
		}
}

static int sieve_choice_put_more(struct sieve_choice *c, struct sieve_spot *at,
    double hazard, double share, struct sim_err *e)
{
	struct sieve_more *last = at->n > 0 ? &c->more[c->n_more - 1] : NULL;
	int rc;
	if (hazard == 0)
		return 0;
	if (last && last->hazard == hazard) {
		last->share += share;
		return 0;
	}
	if ((rc = SIM_RESERVE(&c->more, &c->cap_more, c->n_more + 1, e)) < 0)
		return rc;
	c->more[c->n_more++] = (struct sieve_more){hazard, share};
	at->n++;
	return 0;
}

/* Of two failed links or more some paths may cross two. */
static int sieve_choice_paths(struct sieve_model *m, struct sieve_spot *at,
    struct sim_err *e)
{
	struct sieve_choice *c = &m->choice;
	const struct obs_paths *p = m->rows->paths;
	const double share = 1. / obs_set_size(p, at->set);
	int rc = 0;
	for (uint32_t i = p->first[at->set];
	     rc == 0 && i < p->first[at->set + 1]; i++) {
		double more = 0;
		for (uint32_t k = p->off[i]; k < p->off[i + 1]; k++)
			more += m->hazard[p->link[k]] - c->mean;
		rc = sieve_choice_put_more(c, at, more, share, e);
	}
	return rc;
}

static int sieve_choice_spots(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_choice *c = &m->choice;
	const struct sieve_groups *q = &c->groups;
	int rc = 0;
	c->n_more = 0;
	for (size_t i = 0; rc == 0 && i < c->n_spots; i++) {
		struct sieve_spot *at = &c->spot[i];
		uint32_t n = 0, one = 0;
		at->first = (uint32_t)c->n_more;
		at->n = 0;
		for (uint32_t k = q->off[at->set]; k < q->off[at->set + 1]; k++)
			if (c->n_failed[q->on[k]] > 0) {
				n += c->n_failed[q->on[k]];
				one = k;
			}
		if (n > 1)
			rc = sieve_choice_paths(m, at, e);
		for (size_t k = 0; rc == 0 && n == 1 && k < c->n_list; k++)
			if (q->of[c->failed[k]] == q->on[one])
				rc = sieve_choice_put_more(c, at,
				    m->hazard[c->failed[k]] - c->mean,
				    q->share[one], e);
	}
	return rc;
}

double sieve_choice_left(const struct sieve_model *m, int32_t group, double s)
{
	const struct sieve_choice *c = &m->choice;
	double left = 1;
	if (group == SIEVE_NO_GROUP || c->n_failed[group] == 0)
		return 1;
	for (size_t k = 0; k < c->n_list; k++)
		if (c->groups.of[c->failed[k]] == (uint32_t)group)
			left += sieve_choice_cable(c, group) *
			    sieve_expm1(
				-s * (m->hazard[c->failed[k]] - c->mean));
	return left;
}

double sieve_choice_on_path(const struct sieve_choice *c,
    const struct sieve_spot *at, double s)
{
	double left = 1;
	for (uint32_t k = at->first; k < at->first + at->n; k++)
		left += c->more[k].share * sieve_expm1(-s * c->more[k].hazard);
	return left;
}

static void sieve_choice_count(struct sieve_model *m, struct sieve_seen *row)
{
	struct sieve_choice *c = &m->choice;
	const struct sieve_groups *q = &c->groups;
	const struct sieve_spot *at = &c->spot[row->spot];
	double up = 1, down = 1, on_path = 1;
	/* Bursts took it. */
	row->gone = m->lossy[row->lossy].n_lost == 0;
	if (row->gone)
		return;
	row->touched = at->n > 0 ||
	    (row->up != SIEVE_NO_GROUP && c->n_failed[row->up] > 0) ||
	    (row->down != SIEVE_NO_GROUP && c->n_failed[row->down] > 0);
	if (row->touched) {
		up = sieve_choice_left(m, row->up, row->s);
		down = sieve_choice_left(m, row->down, row->s);
		on_path = sieve_choice_on_path(c, at, row->s);
	}
	row->up_left = up;
	row->down_left = down;
	row->path_left = on_path;
	row->left = up * on_path * down;
	const double w =
	    sieve_choice_worth(row->s * c->mean * row->n_hops, row->left);
	struct sieve_bin *bin = c->bin + 2 * row->octave + row->touched;
	for (uint32_t k = q->off[at->set]; k < q->off[at->set + 1]; k++)
		sieve_bin_add(bin + (size_t)q->on[k] * c->n_bins,
		    q->share[k] * w * up * down);
	if (row->up != SIEVE_NO_GROUP)
		sieve_bin_add(bin + (size_t)row->up * c->n_bins,
		    sieve_choice_cable(c, row->up) * w * on_path * down);
	if (row->down != SIEVE_NO_GROUP)
		sieve_bin_add(bin + (size_t)row->down * c->n_bins,
		    sieve_choice_cable(c, row->down) * w * on_path * up);
}

/* What sizes lose at each point of the grid more than at the mean. */
static void sieve_choice_losses(struct sieve_model *m)
{
	struct sieve_choice *c = &m->choice;
	double x[SIEVE_GRID];
	for (unsigned o = 0; o < c->n_bins / 2; o++) {
		double *lost = c->lost + (size_t)o * SIEVE_GRID;
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			x[g] = -c->size[o] * (m->x[g] - c->mean);
		sieve_lanes_exp(x, lost);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			lost[g] = 1 - lost[g];
		for (unsigned g = 0; g < SIEVE_COARSE; g++)
			c->coarse_lost[o * SIEVE_COARSE + g] =
			    lost[SIEVE_COARSE_FIRST + g * SIEVE_COARSE_STEP];
	}
}

int sieve_choice_pass(struct sieve_model *m, double mean, struct sim_err *e)
{
	struct sieve_choice *c = &m->choice;
	int rc;
	c->mean = mean;
	sieve_choice_list(m);
	if ((rc = sieve_choice_spots(m, e)) < 0)
		return rc;
	sieve_choice_losses(m);
	memset(c->bin, 0, c->groups.n * c->n_bins * sizeof(*c->bin));
	memset(c->is_made, 0, c->groups.n);
	for (size_t i = 0; i < c->n; i++)
		sieve_choice_count(m, &c->seen[i]);
	while (rc == 0 && m->n_exposures < c->groups.n + c->n_list)
		rc = sieve_model_expose(m, e);
	for (size_t i = 0; rc == 0 && i < c->n_list; i++) {
		const topo_link l = c->failed[i];
		m->exposure_of[l] = (uint32_t)(c->groups.n + i);
		sieve_choice_own(m, l,
		    m->exposure + (c->groups.n + i) * SIEVE_GRID);
	}
	return rc;
}
