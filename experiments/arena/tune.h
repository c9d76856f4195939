/* experiments/arena/tune.h -- parameters of an algorithm that do best.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An algorithm's parameters as its paper has them were chosen for other networks
 * and faults. To be fair to it, it is judged with those, and with such as do best
 * on runs of the same specs with another seed, of which none is judged.
 *
 * The search tries the algorithm as it is; points that fill the box of all
 * parameters evenly (J. Halton, 1960), by logarithms where neither end of a range
 * is 0; then, twice, as many in a box a third as wide around the best so far.
 * All are tried on the same windows. Values have three digits, so that what is
 * printed is what was tried. Nothing is random: the same specs give the same
 * answer.
 */
#ifndef EXPERIMENTS_ARENA_TUNE_H
#define EXPERIMENTS_ARENA_TUNE_H

#include "experiments/spec/spec.h"

enum { XP_TUNE_MAX_KEYS = 4, XP_TUNE_MAX_TRIES = 10000 };

/* A parameter that is a number, and where to look: FROM < TO. */
struct xp_tune_key {
	const struct sim_field *field;
	double from, to;
};

struct xp_tune_try {
	double value[XP_TUNE_MAX_KEYS]; /* of the first one: as it is */
	double f; /* NaN: the algorithm refuses these values */
};

struct xp_tune {
	const struct xp_algo *algo;
	size_t n_keys;
	struct xp_tune_key key[XP_TUNE_MAX_KEYS];
	size_t n, cap;
	struct xp_tune_try *tried; /* in the order of trying */
	size_t best;               /* of equals the first */
	size_t n_windows;          /* with a fault */
};
void xp_tune_free(struct xp_tune *t);

/* Take the ranges that are usual for T->algo. Errors SIM_EUNSUPPORTED, there are
 * none. */
int xp_tune_usual(struct xp_tune *t, struct sim_err *e);

/* Add one, of a text such as "p_bad=1e-3..1e-2". Errors SIM_EINVAL. */
int xp_tune_add(struct xp_tune *t, const char *text, struct sim_err *e);

/* The seed of the runs to tune on, where SEED is that of those that are judged. */
uint64_t xp_tune_seed(uint64_t seed);

/* Who fills t->tried[FIRST .. FIRST + N - 1].f. */
typedef int xp_tune_scorer(void *arg, struct xp_tune *t, size_t first, size_t n,
    struct sim_err *e);

/* Try N_TRIES and the algorithm as it is. Errors those of SCORE, SIM_ENOMEM;
 * SIM_EINVAL if it is never scored. */
int xp_tune_search(struct xp_tune *t, size_t n_tries, xp_tune_scorer *score,
    void *arg, struct sim_err *e);

/* A scorer of specs: the mean over them, each counting alike, of the mean F of
 * windows with a fault of all points and runs. Errors those of cells; SIM_EINVAL
 * if a spec's windows have no F (results/schema.h). */
struct xp_tune_specs {
	struct xp_spec *const *spec;
	size_t n;
};
xp_tune_scorer xp_tune_on;

/* The algorithm with the values of a try, as a spec has it: TEXT is how it was
 * given, a name or a flow mapping without a label, and its label ends with ENDING,
 * such as ", tuned". */
void xp_tune_put(const struct xp_tune *t, const struct xp_tune_try *x,
    const char *text, const char *ending, struct sim_text *out);

#endif
