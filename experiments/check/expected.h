/* experiments/check/expected.h -- results against those of an earlier full run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where all that decides numbers is what the earlier table was made of
 * (expected_table.h), its numbers are demanded to 9 digits.
 *
 * Elsewhere, as of another seed or version, each number is put to a test of two
 * samples: z is the difference of the two means of runs over its standard error
 * if both are of one law, sim_means_z(). So is the share of runs in which it
 * was measured. Bounds are two-sided and divided among all tests of a figure
 * (Bonferroni): half of XP_EXPECTED_ALPHA for numbers over all points, half for
 * those at one. A figure under a new seed fails with that probability at most,
 * one of 33 of a whole `culprit verify` with 3 %; less, as numbers depend on
 * each other.
 *
 * Of fewer than XP_EXPECTED_FEW runs means tell nothing. There the probes of
 * drop_rate count at each point as a quarter as many independent ones, which is
 * an assumption.
 *
 * Small counts pass such a test with great factors between them. What a table
 * would see is therefore told: the least change of the packets lost (n_drops,
 * drop_rate or unconnected_rate), everywhere alike, that fails in 9 of 10 new
 * seeds. Where that is more than XP_EXPECTED_WEAK, to pass means little, and so
 * it is said.
 *
 * Points and metrics are found by their names; what is over all points is
 * compared if they are the same. What only the earlier table has is missing,
 * and nothing that is missing passes, also of results that are not complete or
 * were made with --set or --smoke: they are others than the table's. Nor does
 * what was measured in each run then and in none now, however few runs there
 * are. What only ours has is new, and fails where numbers should be the same.
 *
 * A metric may have no number at a point by its nature, as the drop rate of
 * pairs that nobody probes. If neither table has one there, that is said and
 * counted apart: it is no number that was compared.
 */
#ifndef EXPERIMENTS_CHECK_EXPECTED_H
#define EXPERIMENTS_CHECK_EXPECTED_H

#include "experiments/check/expected_table.h"
#include "results/cube.h"
#include "sim/err.h"

#define XP_EXPECTED_ALPHA 1e-3
#define XP_EXPECTED_WEAK  0.25
#define XP_EXPECTED_FEW   14

/* What came of one figure. */
struct xp_expected {
	size_t n_compared, n_failed; /* numbers; of these */
	size_t n_moved;              /* of these not the same, by z or not */
	size_t n_missing, n_new;     /* that ours has not; that it alone has */
	size_t n_unmeasured;         /* places of numbers that neither has */
	int exact;                   /* the same numbers were demanded */
	const char *loss;            /* metric of the packets lost; or NULL */
	double sees;                 /* the share of it that would be seen */
};

/* Does not pass: numbers that fail or are missing, or new ones where all should
 * be the same. */
int xp_expected_fails(const struct xp_expected *x);

/* Compare C with the table TEXT, called NAME in messages. DIFFER is called for
 * each number that fails or is missing, with a sentence; it may be NULL.
 * Errors SIM_EPARSE for a text that is no such table, SIM_ENOMEM. Cost that of
 * xp_expected_write(), and O(lines) where ours are in the same order, else
 * O(lines^2). */
int xp_expected_check(const struct res_cube *c, const char *name,
    const char *text, struct xp_expected *x,
    void (*differ)(void *arg, const char *sentence), void *arg,
    struct sim_err *e);

/* The same of a table OURS that was written before, of complete results. */
int xp_expected_check_table(const char *our_name, const char *ours,
    const char *name, const char *text, struct xp_expected *x,
    void (*differ)(void *arg, const char *sentence), void *arg,
    struct sim_err *e);

#endif
