/* algos/sieve/sieve_cells.c -- flows of no known path, counted by size and losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_model.h"
#include "sim/vec.h"

/* Tables for a level that is so near are as good. */
static const double SIEVE_CELLS_NEAR = 0.01;

void sieve_cells_free(struct sieve_cells *c)
{
	free(c->hist);
	free(c->table);
	free(c->curve);
	free(c->alone);
	free(c->row);
	free(c->bin);
	free(c->set_taken);
	free(c->bin_taken);
	*c = (struct sieve_cells){0};
}

/* --- counting ------------------------------------------------------------- */

int sieve_cells_begin(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_cells *c = &m->cells;
	const size_t n = m->rows->n, n_sets = m->sets.n_sets;
	int rc;
	if ((rc = SIM_RESERVE(&c->row, &c->cap_row, n_sets + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->bin, &c->cap_bin, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->set_taken, &c->cap_set_taken, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->bin_taken, &c->cap_bin_taken, n, e)) < 0)
		return rc;
	memset(c->count, 0, sizeof(c->count));
	memset(c->kept, 0, sizeof(c->kept));
	memset(c->row, 0, (n_sets + 2) * sizeof(*c->row));
	c->n_taken = 0;
	c->level = 0;
	return 0;
}

static int sieve_cells_room(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_cells *c = &m->cells;
	const struct sieve_sets *s = &m->sets;
	int rc;
	if ((rc = SIM_RESERVE(&c->hist, &c->cap_hist,
		 s->n_entries * SIEVE_CELLS, e)) < 0 ||
	    (rc = SIM_RESERVE(&c->curve, &c->cap_curve, s->n_kinds * SIEVE_GRID,
		 e)) < 0)
		return rc;
	for (size_t i = 0; i < s->n_entries * SIEVE_CELLS; i++)
		c->hist[i] = 0;
	return 0;
}

/* Counting sort of the bins of flows that lost nothing by their sets, since those
 * of a set go to the same few entries. */
static void sieve_cells_sort(struct sieve_model *m)
{
	struct sieve_cells *c = &m->cells;
	uint32_t *first = c->row + 1;
	for (size_t s = 0; s < m->sets.n_sets; s++)
		first[s + 1] += first[s];
	for (size_t i = 0; i < c->n_taken; i++)
		c->bin[first[c->set_taken[i]]++] = c->bin_taken[i];
}

static void sieve_cells_enter(struct sieve_model *m, uint32_t set,
    unsigned cell)
{
	const struct sieve_sets *s = &m->sets;
	for (uint32_t k = s->set_off[set]; k < s->set_off[set + 1]; k++)
		m->cells.hist[(size_t)s->set_entry[k] * SIEVE_CELLS + cell]++;
}

/* Flows that a switch sent or received have other ways than those of a kind. */
static void sieve_cells_lossy(struct sieve_model *m)
{
	const struct obs_tallies *t = m->rows;
	for (size_t i = 0; i < m->n_lossy; i++) {
		struct sieve_lossy *x = &m->lossy[i];
		const uint32_t kept = t->n_sent[x->row] - x->n_lost;
		x->cell = SIEVE_NO_CELL;
		if (x->set == OBS_NO_PATH || x->n_lost >= SIEVE_CELL_LOST ||
		    t->up[x->row] == TOPO_NONE || t->down[x->row] == TOPO_NONE)
			continue;
		x->cell = x->n_lost * SIEVE_CELL_BINS + sieve_cells_bin(kept);
		m->cells.count[x->cell]++;
		m->cells.kept[x->cell] += kept;
		sieve_cells_enter(m, x->set, x->cell);
	}
}

int sieve_cells_read(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_cells *c = &m->cells;
	const struct sieve_sets *s = &m->sets;
	int rc = sieve_cells_room(m, e);
	if (rc < 0)
		return rc;
	sieve_cells_sort(m);
	for (uint32_t set = 0; set < s->n_sets; set++)
		for (uint32_t k = c->row[set]; k < c->row[set + 1]; k++)
			sieve_cells_enter(m, set, c->bin[k]);
	sieve_cells_lossy(m);
	c->n_used = 0;
	for (unsigned i = 0; i < SIEVE_CELLS; i++)
		if (c->count[i] > 0) {
			c->at[i] = (uint16_t)c->n_used;
			c->used[c->n_used++] = (uint16_t)i;
			c->kept[i] /= c->count[i];
		}
	for (uint32_t i = 0; rc == 0 && i < s->n_classes; i++)
		rc = sieve_model_expose(m, e);
	for (topo_link l = 0; l < m->topo->n_links; l++)
		m->exposure_of[l] = s->class_of[l] == SIEVE_NO_CLASS
		    ? SIEVE_NO_EXPOSURE
		    : s->class_of[l];
	if (rc < 0 ||
	    (rc = SIM_RESERVE(&c->alone, &c->cap_alone, c->n_used * SIEVE_GRID,
		 e)) < 0)
		return rc;
	return SIM_RESERVE(&c->table, &c->cap_table,
	    s->n_kinds * c->n_used * SIEVE_GRID, e);
}

/* --- tables --------------------------------------------------------------- */

/* ln of what one lost packet multiplies, of a way of N_HOPS healthy links one of
 * which is at x[g] instead. */
static void sieve_cells_base(const struct sieve_model *m, unsigned n_hops,
    double base[SIEVE_GRID])
{
	const double length = n_hops * m->cells.level,
		     rest = fmax(length - m->cells.level, SIEVE_NO_REST),
		     ic = 1 / expm1(rest),
		     at_level = log(expm1(-rest) / expm1(-length));
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		base[g] = at_level + log1p(m->p[g] * ic);
}

static void sieve_cells_ln(const struct sieve_model *m,
    const struct sieve_kind *k, const double base[SIEVE_GRID], double lost,
    double kept, double out[SIEVE_GRID])
{
	double t[SIEVE_GRID];
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		t[g] = lost * base[g] - kept * (m->x[g] - m->cells.level);
	sieve_lanes_mix(t, (double)k->n_on / k->n_paths, out);
}

const double *sieve_cells_plain(const struct sieve_model *m, uint32_t lossy,
    uint32_t kind, double out[])
{
	const struct sieve_lossy *x = &m->lossy[lossy];
	const struct sieve_kind *k = &m->sets.kind[kind];
	const struct obs_tallies *t = m->rows;
	double base[SIEVE_GRID];
	if (x->cell != SIEVE_NO_CELL)
		return m->cells.table +
		    (kind * m->cells.n_used + m->cells.at[x->cell]) *
		    SIEVE_GRID;
	const unsigned n_hops = k->n_hops + (t->up[x->row] != TOPO_NONE) +
	    (t->down[x->row] != TOPO_NONE);
	sieve_cells_base(m, n_hops, base);
	sieve_cells_ln(m, k, base, x->n_lost, t->n_sent[x->row] - x->n_lost,
	    out);
	return out;
}

static void sieve_cells_expose(struct sieve_model *m, const double ln[],
    double n, uint32_t of_class)
{
	sieve_lanes_add(ln, -n, m->exposure + (size_t)of_class * SIEVE_GRID);
}

static void sieve_cells_sum(struct sieve_model *m)
{
	const struct sieve_cells *c = &m->cells;
	const struct sieve_sets *s = &m->sets;
	double ln[SIEVE_GRID];
	memset(m->exposure, 0,
	    s->n_classes * SIEVE_GRID * sizeof(*m->exposure));
	for (size_t i = 0; i < s->n_entries; i++)
		for (size_t k = 0; k < c->n_used; k++) {
			const uint32_t n =
			    c->hist[i * SIEVE_CELLS + c->used[k]];
			if (n > 0)
				sieve_cells_expose(m,
				    c->table +
					(s->entry[i].kind * c->n_used + k) *
					    SIEVE_GRID,
				    n, s->entry[i].of_class);
		}
	for (uint32_t i = 0; i < m->n_lossy; i++) {
		const uint32_t set = m->lossy[i].set;
		if (set == OBS_NO_PATH || m->lossy[i].n_lost == 0 ||
		    m->lossy[i].cell != SIEVE_NO_CELL)
			continue;
		for (uint32_t k = s->set_off[set]; k < s->set_off[set + 1];
		     k++) {
			const struct sieve_entry *x =
			    &s->entry[s->set_entry[k]];
			sieve_cells_expose(m,
			    sieve_cells_plain(m, i, x->kind, ln), 1,
			    x->of_class);
		}
	}
}

/* Exposures follow if there are any yet. */
void sieve_cells_turn(struct sieve_model *m, uint32_t lossy, int sign)
{
	struct sieve_cells *c = &m->cells;
	const struct sieve_sets *s = &m->sets;
	const struct sieve_lossy *row = &m->lossy[lossy];
	double ln[SIEVE_GRID];
	for (uint32_t k = s->set_off[row->set]; k < s->set_off[row->set + 1];
	     k++) {
		const size_t i = s->set_entry[k];
		if (row->cell != SIEVE_NO_CELL)
			c->hist[i * SIEVE_CELLS + row->cell] += (uint32_t)sign;
		if (c->level > 0)
			sieve_cells_expose(m,
			    sieve_cells_plain(m, lossy, s->entry[i].kind, ln),
			    sign, s->entry[i].of_class);
	}
}

void sieve_cells_tabulate(struct sieve_model *m)
{
	struct sieve_cells *c = &m->cells;
	if (fabs(m->level - c->level) <= SIEVE_CELLS_NEAR * c->level)
		return;
	c->level = m->level;
	for (size_t n = 0; n < c->n_used; n++) {
		double t[SIEVE_GRID];
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			t[g] = -c->kept[c->used[n]] * (m->x[g] - m->level);
		sieve_lanes_exp(t, c->alone + n * SIEVE_GRID);
	}
	for (size_t i = 0; i < m->sets.n_kinds; i++) {
		const struct sieve_kind *k = &m->sets.kind[i];
		double *base = c->curve + i * SIEVE_GRID;
		sieve_cells_base(m, k->n_hops + 2, base);
		for (size_t n = 0; n < c->n_used; n++)
			sieve_cells_ln(m, k, base, c->used[n] / SIEVE_CELL_BINS,
			    c->kept[c->used[n]],
			    c->table + (i * c->n_used + n) * SIEVE_GRID);
	}
	sieve_cells_sum(m);
}
