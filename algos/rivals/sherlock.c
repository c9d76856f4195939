/* algos/rivals/sherlock.c -- all sets of two components at most, one by one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/sherlock.h"

#include <math.h>
#include <stdlib.h>

#include "algos/rivals/accused.h"
#include "algos/rivals/flock_model.h"
#include "sim/vec.h"

struct sherlock {
	struct algo_flock_params params;
	struct flock_model model;
	double *most; /* [n_parts] */
	size_t cap_most;
};

/* The likeliest set so far. */
struct sherlock_set {
	unsigned n;
	uint32_t part[2];
	double value;
};

static const struct sim_field sherlock_fields[] = {
    FLOCK_MODEL_FIELDS,
    {0},
};

static void sherlock_free(void *work)
{
	struct sherlock *a = work;
	flock_model_free(&a->model);
	free(a->most);
}

static int sherlock_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct sherlock *a = work;
	(void)e;
	a->model.topo = t;
	return 0;
}

/* May FIRST with one behind it be better than the best so far? What sums in another
 * order are off by is far below a millionth. */
static int sherlock_may_pair(const struct sherlock *a,
    const struct algo_flock_params *p, uint32_t first,
    const struct sherlock_set *best)
{
	const struct flock_model *m = &a->model;
	const double most = a->most[first], rest = m->gain[first] - most,
		     worth = best->value - flock_model_prior(m, p, first),
		     off = 1e-6 * (1 + fabs(worth) + most - rest);
	for (uint32_t c = first + 1; c < m->n_parts; c++) {
		const double other = m->gain[c] - a->most[c];
		if (most + a->most[c] + fmin(rest, other) +
			flock_model_prior(m, p, c) + off >
		    worth)
			return 1;
	}
	return 0;
}

/* Keep the best set of FIRST, worth ALONE, and one behind it. */
static void sherlock_pairs(const struct sherlock *a,
    const struct algo_flock_params *p, uint32_t first, double alone,
    struct sherlock_set *best)
{
	const struct flock_model *m = &a->model;
	for (uint32_t c = first + 1; c < m->n_parts; c++) {
		const double value =
		    alone + m->gain[c] + flock_model_prior(m, p, c);
		if (value > best->value)
			*best = (struct sherlock_set){2, {first, c}, value};
	}
}

static void sherlock_search(struct sherlock *a,
    const struct algo_flock_params *p, struct sherlock_set *best)
{
	struct flock_model *m = &a->model;
	*best = (struct sherlock_set){0};
	for (uint32_t c = 0; c < m->n_parts; c++) {
		const double alone = m->gain[c] + flock_model_prior(m, p, c);
		if (alone > best->value)
			*best = (struct sherlock_set){1, {c}, alone};
	}
	for (uint32_t c = 0; c < m->n_parts; c++) {
		if (!sherlock_may_pair(a, p, c, best))
			continue;
		const double alone = m->gain[c] + flock_model_prior(m, p, c);
		flock_model_join(m, c);
		sherlock_pairs(a, p, c, alone, best);
		flock_model_reset(m);
	}
}

static int sherlock_answer(const struct sherlock *a,
    const struct algo_flock_params *p, const struct sherlock_set *best,
    struct algo_verdicts *out, struct sim_err *e)
{
	const struct flock_model *m = &a->model;
	double alone[2] = {0};
	unsigned first = 0;
	int rc = 0;
	for (unsigned i = 0; i < best->n; i++)
		alone[i] = m->gain[best->part[i]] +
		    flock_model_prior(m, p, best->part[i]);
	if (best->n == 2 && alone[1] > alone[0])
		first = 1;
	if (best->n > 0)
		rc = algo_verdicts_add(out, best->part[first], alone[first], e);
	if (rc == 0 && best->n == 2)
		rc = algo_verdicts_add(out, best->part[!first],
		    best->value - alone[first], e);
	out->n_flagged = out->n;
	return rc;
}

static int sherlock_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct sherlock *a = work;
	struct algo_flock_params p;
	struct sherlock_set best;
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->flags = 1;
	out->kind = ALGO_KIND_BOTH;
	out->n_links = a->model.topo->n_links;
	if ((rc = flock_model_params(&a->params, window->tallies->telemetry, &p,
		 e)) < 0 ||
	    (rc = flock_model_read(&a->model, window, &p, e)) < 0 ||
	    (rc = SIM_RESERVE(&a->most, &a->cap_most, a->model.n_parts, e)) < 0)
		return rc;
	flock_model_most(&a->model, a->most);
	sherlock_search(a, &p, &best);
	rc = sherlock_answer(a, &p, &best, out, e);
	return rc < 0 ? rc : algo_accused_blame(&a->model.ways, window, out, e);
}

const struct algo_ops algo_sherlock = {
    .name = "sherlock",
    .paper = "Sherlock (SIGCOMM'07) as in Flock (CoNEXT'23)",
    .doc = "the likeliest of all sets of two links or switches at most",
    .needs = OBS_TALLIES,
    .params = sherlock_fields,
    .params_size = sizeof(struct algo_flock_params),
    .work_size = sizeof(struct sherlock),
    .init = sherlock_init,
    .diagnose = sherlock_diagnose,
    .free = sherlock_free,
};
