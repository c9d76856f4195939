/* algos/sieve/sieve_cells.h -- flows of no known path, counted by size and losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Of a flow of which `kept` packets arrived and r were lost,
 * over one of equal paths of which a link of hazard x is on the share q, all else
 * being healthy,
 *
 *	ln L(x) = ln(1 - q + q e^t) + a constant
 *	t = r ln((1 - e^-(L + x - m)) / (1 - e^-L)) - kept (x - m)
 *
 * m being the hazard of healthy links and L that of a path of them. That depends
 * on r, kept, q and L alone, so flows are counted in cells: r as it is up to
 * SIEVE_CELL_LOST - 1, kept in four bins an octave, whose mean stands for all.
 * Classes of links have sums of cells, and links one curve a class. Flows that
 * lost more are evaluated one by one.
 */
#ifndef ALGOS_SIEVE_SIEVE_CELLS_H
#define ALGOS_SIEVE_SIEVE_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

enum {
	SIEVE_CELL_LOST = 8,
	SIEVE_CELL_BINS = 124,
	SIEVE_CELLS = SIEVE_CELL_LOST * SIEVE_CELL_BINS,
	SIEVE_NO_CELL = SIEVE_CELLS
};

struct sieve_model;

/* Zeroed is empty. */
struct sieve_cells {
	uint32_t count[SIEVE_CELLS];
	double kept[SIEVE_CELLS]; /* sums, then means */
	uint16_t used[SIEVE_CELLS], at[SIEVE_CELLS];
	size_t n_used;

	uint32_t *hist; /* [entries * SIEVE_CELLS] flows */
	double *table;  /* [kinds * n_used * SIEVE_GRID] ln L */
	double *alone;  /* [n_used * SIEVE_GRID] e^t of who lost nothing */
	double *curve;  /* [kinds * SIEVE_GRID] scratch: ln of t's base */
	double level;   /* of healthy links, for which tables are */
	uint32_t *row;  /* [n_sets + 2] where bins of a set are */
	uint8_t *bin;   /* of flows that lost nothing, by set */
	size_t n_taken; /* scratch: of these, in the order of rows */
	uint32_t *set_taken;
	uint8_t *bin_taken;
	size_t cap_set_taken, cap_bin_taken;
	size_t cap_hist, cap_table, cap_alone, cap_curve, cap_row, cap_bin;
};
void sieve_cells_free(struct sieve_cells *c);

/* A bin of N packets; to 7 each has its own. */
static inline unsigned sieve_cells_bin(uint32_t n)
{
	if (n < 8)
		return n;
	const unsigned octave = 31 - (unsigned)__builtin_clz(n);
	return 4 * (octave - 1) + (n >> (octave - 2) & 3);
}

/* Make room for the rows of a model whose sets are begun. Errors SIM_ENOMEM. */
int sieve_cells_begin(struct sieve_model *m, struct sim_err *e);

/* A flow of N_SENT packets over SET lost nothing. */
static inline void sieve_cells_take(struct sieve_cells *c, uint32_t set,
    uint32_t n_sent)
{
	const unsigned bin = sieve_cells_bin(n_sent);
	c->set_taken[c->n_taken] = set;
	c->bin_taken[c->n_taken++] = (uint8_t)bin;
	c->row[set + 2]++;
	c->count[bin]++;
	c->kept[bin] += n_sent;
}

/* Count what was taken and the lossy rows of a model whose sets are found, and take an
 * exposure for each class. Errors SIM_ENOMEM. Cost O(what was taken + lossy rows + classes * cells). */
int sieve_cells_read(struct sieve_model *m, struct sim_err *e);

/* Fill tables and exposures for the present level, unless it is within 1 % of
 * that which they are for. */
void sieve_cells_tabulate(struct sieve_model *m);

/* A lossy row counts again (SIGN 1), or no more (-1). */
void sieve_cells_turn(struct sieve_model *m, uint32_t lossy, int sign);

/* ln L of a lossy row by all of the grid, as a flow of KIND, into OUT, or where a
 * table has it. */
const double *sieve_cells_plain(const struct sieve_model *m, uint32_t lossy,
    uint32_t kind, double out[]);

#endif
