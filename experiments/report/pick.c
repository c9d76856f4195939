/* experiments/report/pick.c -- which cells of a figure are worth a look.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/pick.h"
#include "sim/sort.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

/* What a good algorithm has near 1. Accuracy over all flows is not among them:
 * lone drops of noise are nobody's to explain. */
static const unsigned tells[] = {RES_RATIO_accuracy_fault, RES_RATIO_precision,
    RES_RATIO_recall, RES_RATIO_top_k_recall};

/* The least ratio of one run, the first of equal ones; NaN if there is none. */
static struct xp_picked pick_judge(const struct res_cube *c, size_t place,
    uint32_t run)
{
	struct xp_picked p = {.place = place, .run = run, .value = NAN};
	for (size_t a = 0; a < c->n_algos; a++)
		for (size_t i = 0; i < sizeof(tells) / sizeof(tells[0]); i++) {
			const struct res_metric *r = &res_ratios[tells[i]];
			const size_t base = res_row_doubles(a);
			const double num = res_cube_value(c, place * c->n_along,
			    run, base + r->num);
			const double den = res_cube_value(c, place * c->n_along,
			    run, base + r->den);
			if (!(den > 0) || isnan(num) ||
			    !(isnan(p.value) || num / den < p.value))
				continue;
			p.value = num / den;
			p.num = num;
			p.den = den;
			p.algo = a;
			p.ratio = r->name;
		}
	return p;
}

static int by_value(const void *a, const void *b)
{
	const struct xp_picked *x = a, *y = b;
	if (x->value != y->value)
		return SIM_ORDER(x->value, y->value);
	return x->run < y->run ? -1 : x->run > y->run;
}

static int pick_is_there(const struct res_cube *c, size_t place, size_t run)
{
	return res_cube_status(c, place * c->n_runs + run) == RES_DONE;
}

/* The first run and then the worst of one place, MOST in all. */
static size_t pick_runs(const struct res_cube *c, size_t place, size_t most,
    struct xp_picked all[], struct xp_picked out[])
{
	size_t n = 0, k = 0;
	for (uint32_t run = 0; run < c->n_runs; run++) {
		if (!pick_is_there(c, place, run))
			continue;
		const struct xp_picked p = pick_judge(c, place, run);
		if (k == 0) {
			out[k] = p;
			out[k++].is_first = 1;
		} else if (p.value < 1) {
			all[n++] = p;
		}
	}
	if (n > 0)
		qsort(all, n, sizeof(*all), by_value);
	for (size_t i = 0; i < n && k < most; i++)
		/* One as good as the first tells no more than that. */
		if (!(all[i].value >= out[0].value))
			out[k++] = all[i];
	return k;
}

int xp_pick_cells(struct xp_picks *p, const struct res_cube *c, size_t most,
    struct sim_err *e)
{
	const size_t n_places = c->n_points / c->n_along;
	const size_t room = most / 2 > 0 ? most / 2 : most;
	const size_t n = n_places < room ? n_places : room;
	struct xp_picked *all = NULL;
	*p = (struct xp_picks){0};
	if (n == 0)
		return 0;
	/* A single point does not need all there is room for. */
	const size_t each = most / n < 6 ? most / n : 6;
	int rc = SIM_ZALLOC(&all, c->n_runs, e);
	if (rc == 0 && (rc = SIM_ZALLOC(&p->one, n * each, e)) == 0)
		for (size_t i = 0; i < n; i++) {
			/* The first and the last are among them. */
			const size_t place =
			    n > 1 ? i * (n_places - 1) / (n - 1) : 0;
			const size_t k =
			    pick_runs(c, place, each, all, p->one + p->n);
			p->n += k;
			p->n_places += k > 0;
		}
	free(all);
	return rc;
}

void xp_picks_free(struct xp_picks *p)
{
	free(p->one);
	*p = (struct xp_picks){0};
}
