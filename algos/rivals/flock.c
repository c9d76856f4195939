/* algos/rivals/flock.c -- Flock: the search for the likeliest hypothesis.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/flock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/rivals/accused.h"
#include "algos/rivals/flock_model.h"
#include "sim/sort.h"
#include "sim/vec.h"

enum { FLOCK_MOST_BEAM = 1000, FLOCK_MOST_PARTS = 4096 };

/* A hypothesis: its components in the order in which they joined. Those of a
 * stage have as many each. */
struct flock_set {
	double value; /* of the log-likelihood, with priors */
	uint32_t *part;
	double *added; /* [] by each */
};

/* A hypothesis of the stage before, and one more. */
struct flock_step {
	double value, added;
	uint32_t from, part;
};

struct flock {
	struct algo_flock_params params;
	struct flock_model model;

	/* Two stages, of beam hypotheses of up to n_parts components. */
	struct flock_set *set[2];
	size_t n_set[2];
	struct flock_step *step;
	size_t cap_step;
};

#define FIELD(m) offsetof(struct algo_flock_params, m)
static const struct sim_field flock_fields[] = {
    FLOCK_MODEL_FIELDS,
    {"beam", SIM_F_U32, FIELD(beam), .min = 1, .max = FLOCK_MOST_BEAM,
	.unit = "1", .def = "1", .doc = "hypotheses that are kept at a step"},
    {"tie", SIM_F_F64, FIELD(tie), .min = 0, .max = 1e6, .unit = "nats",
	.def = "0.001", .when = "beam!=1",
	.doc = "the answer is the union of those so near to the best"},
    {0},
};

static void flock_free_sets(struct flock *a)
{
	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; a->set[i] && k < a->params.beam; k++) {
			free(a->set[i][k].part);
			free(a->set[i][k].added);
		}
		free(a->set[i]);
	}
}

static void flock_free(void *work)
{
	struct flock *a = work;
	flock_model_free(&a->model);
	flock_free_sets(a);
	free(a->step);
}

static int flock_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct flock *a = work;
	int rc = 0;
	a->model.topo = t;
	for (unsigned i = 0; rc == 0 && i < 2; i++) {
		rc = SIM_ZALLOC(&a->set[i], a->params.beam, e);
		for (size_t k = 0; rc == 0 && k < a->params.beam; k++)
			if ((rc = SIM_ZALLOC(&a->set[i][k].part,
				 FLOCK_MOST_PARTS, e)) == 0)
				rc = SIM_ZALLOC(&a->set[i][k].added,
				    FLOCK_MOST_PARTS, e);
	}
	return rc;
}

/* --- searching ------------------------------------------------------------ */

/* The component that adds most, or n_parts if none adds anything. Of equals the
 * one with the least id: DEPARTS: the paper says no rule. */
static uint32_t flock_best(const struct flock *a,
    const struct algo_flock_params *p, double *added)
{
	const struct flock_model *m = &a->model;
	uint32_t best = m->n_parts;
	*added = 0;
	for (uint32_t c = 0; c < m->n_parts; c++) {
		const double x = m->gain[c] + flock_model_prior(m, p, c);
		if (!m->in[c] && x > *added) {
			*added = x;
			best = c;
		}
	}
	return best;
}

static int flock_greedy(struct flock *a, const struct algo_flock_params *p,
    struct algo_verdicts *out, struct sim_err *e)
{
	double added;
	uint32_t c;
	int rc = 0;
	while (rc == 0 && out->n < FLOCK_MOST_PARTS &&
	    (c = flock_best(a, p, &added)) < a->model.n_parts) {
		flock_model_join(&a->model, c);
		rc = algo_verdicts_add(out, c, added, e);
	}
	return rc;
}

/* --- with a beam ---------------------------------------------------------- */

static int flock_by_value(const void *a, const void *b)
{
	const struct flock_step *x = a, *y = b;
	if (x->value != y->value)
		return SIM_ORDER(y->value, x->value);
	if (x->from != y->from)
		return SIM_ORDER(x->from, y->from);
	return SIM_ORDER(x->part, y->part);
}

/* All that hypothesis FROM, of SIZE components, can become. */
static int flock_extend(struct flock *a, const struct algo_flock_params *p,
    uint32_t from, size_t size, size_t *n, struct sim_err *e)
{
	struct flock_model *m = &a->model;
	const struct flock_set *h = &a->set[0][from];
	const int rc = SIM_RESERVE(&a->step, &a->cap_step, *n + m->n_parts, e);
	if (rc < 0)
		return rc;
	flock_model_reset(m);
	for (size_t i = 0; i < size; i++)
		flock_model_join(m, h->part[i]);
	const size_t first = *n;
	for (uint32_t c = 0; c < m->n_parts; c++) {
		const double x = m->gain[c] + flock_model_prior(m, p, c);
		if (!m->in[c])
			a->step[(*n)++] =
			    (struct flock_step){h->value + x, x, from, c};
	}
	qsort(a->step + first, *n - first, sizeof(*a->step), flock_by_value);
	if (*n - first > a->params.beam)
		*n = first + a->params.beam;
	return 0;
}

static int flock_has(const struct flock_set *h, size_t size, uint32_t c)
{
	for (size_t i = 0; i < size; i++)
		if (h->part[i] == c)
			return 1;
	return 0;
}

/* Whether a stage has the set of SIZE components that STEP makes, in whatever
 * order. */
static int flock_is_known(const struct flock *a, const struct flock_step *step,
    size_t size)
{
	const struct flock_set *h = &a->set[0][step->from];
	for (size_t k = 0; k < a->n_set[1]; k++) {
		const struct flock_set *x = &a->set[1][k];
		int same = flock_has(x, size, step->part);
		for (size_t i = 0; same && i + 1 < size; i++)
			same = flock_has(x, size, h->part[i]);
		if (same)
			return 1;
	}
	return 0;
}

static void flock_keep(struct flock *a, const struct flock_step *step,
    size_t size)
{
	const struct flock_set *from = &a->set[0][step->from];
	struct flock_set *to = &a->set[1][a->n_set[1]++];
	memcpy(to->part, from->part, (size - 1) * sizeof(*to->part));
	memcpy(to->added, from->added, (size - 1) * sizeof(*to->added));
	to->part[size - 1] = step->part;
	to->added[size - 1] = step->added;
	to->value = step->value;
}

/* The next stage from a->set[0] into a->set[1], best first. */
static int flock_stage(struct flock *a, const struct algo_flock_params *p,
    size_t size, struct sim_err *e)
{
	size_t n = 0;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < a->n_set[0]; i++)
		rc = flock_extend(a, p, i, size, &n, e);
	a->n_set[1] = 0;
	if (rc < 0 || n == 0)
		return rc;
	qsort(a->step, n, sizeof(*a->step), flock_by_value);
	for (size_t i = 0; i < n && a->n_set[1] < a->params.beam; i++)
		if (!flock_is_known(a, &a->step[i], size + 1))
			flock_keep(a, &a->step[i], size + 1);
	return 0;
}

/* Add what the hypotheses of a stage within `tie` of BEST have and OUT has
 * not. */
static int flock_unite(const struct flock *a, const struct flock_set *set,
    size_t n, size_t size, double best, struct algo_verdicts *out,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t k = 0; k < n && set[k].value >= best - a->params.tie; k++)
		for (size_t i = 0; rc == 0 && i < size; i++) {
			size_t j = 0;
			while (j < out->n && out->link[j] != set[k].part[i])
				j++;
			if (j == out->n)
				rc = algo_verdicts_add(out, set[k].part[i],
				    set[k].added[i], e);
		}
	return rc;
}

/* The stage before the one that brings nothing better is the best one. DEPARTS:
 * hypotheses of earlier stages that are as good to within `tie` are not united
 * with it; one of them would need a component that adds less than that. */
static int flock_beam(struct flock *a, const struct algo_flock_params *p,
    struct algo_verdicts *out, struct sim_err *e)
{
	size_t size = 0;
	int rc;
	a->set[0][0].value = 0;
	a->n_set[0] = 1;
	while ((rc = flock_stage(a, p, size, e)) == 0 && a->n_set[1] > 0 &&
	    size + 1 < FLOCK_MOST_PARTS &&
	    a->set[1][0].value > a->set[0][0].value) {
		struct flock_set *swap = a->set[0];
		a->set[0] = a->set[1];
		a->set[1] = swap;
		a->n_set[0] = a->n_set[1];
		size++;
	}
	return rc < 0 ? rc
		      : flock_unite(a, a->set[0], a->n_set[0], size,
			    a->set[0][0].value, out, e);
}

/* --- diagnosing ----------------------------------------------------------- */

/* A window without rows, as all without what an algorithm reads, gives an empty
 * answer. */
static int flock_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct flock *a = work;
	struct algo_flock_params p;
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->flags = 1;
	out->kind = ALGO_KIND_BOTH;
	out->n_links = a->model.topo->n_links;
	if ((rc = flock_model_params(&a->params, window->tallies->telemetry, &p,
		 e)) < 0 ||
	    (rc = flock_model_read(&a->model, window, &p, e)) < 0)
		return rc;
	rc = p.beam == 1 ? flock_greedy(a, &p, out, e)
			 : flock_beam(a, &p, out, e);
	out->n_flagged = out->n;
	return rc < 0 ? rc : algo_accused_blame(&a->model.ways, window, out, e);
}

const struct algo_ops algo_flock = {
    .name = "flock",
    .paper = "Flock (CoNEXT'23)",
    .doc = "the likeliest set of failed links and switches, grown greedily",
    .needs = OBS_TALLIES,
    .params = flock_fields,
    .params_size = sizeof(struct algo_flock_params),
    .work_size = sizeof(struct flock),
    .init = flock_init,
    .diagnose = flock_diagnose,
    .free = flock_free,
};
