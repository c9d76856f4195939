/* tests/algos/rivals/detector_test.c -- probe matrices and hit ratios, naively.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/detector.h"

#include "algos/rivals/probe_matrix.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

static int crosses(const struct obs_tallies *t, size_t i, topo_link l)
{
	const struct obs_paths *p = t->paths;
	for (uint32_t k = p->off[t->path[i]]; k < p->off[t->path[i] + 1]; k++)
		if (p->link[k] == l)
			return 1;
	return t->up[i] == l || t->down[i] == l;
}

static void draw(struct telemetry_rig *x, unsigned kinds, uint32_t run)
{
	struct sim_rng r;
	telemetry_rig_open(x, 4, 1e-4, kinds, run);
	test_rng(&r, run);
	x->p.flows = 10;
	for (unsigned i = 0; i < 3; i++)
		telemetry_rig_fail(x, sim_rng_below(&r, x->topo.n_links),
		    0.05 * (i + 1));
	telemetry_rig_draw(x);
}

/* --- the matrix ----------------------------------------------------------- */

/* What links are of one set is what chosen rows cross both or neither. */
static int are_one(const struct obs_tallies *t, const uint8_t chosen[],
    topo_link a, topo_link b)
{
	for (size_t i = 0; i < t->n; i++)
		if (chosen[i] && crosses(t, i, a) != crosses(t, i, b))
			return 0;
	return 1;
}

static uint32_t n_across(const struct obs_tallies *t, const uint8_t chosen[],
    topo_link l)
{
	uint32_t n = 0;
	for (size_t i = 0; i < t->n; i++)
		n += chosen[i] && crosses(t, i, l);
	return n;
}

/* Sets as numbers: the least link of each. */
static void sets_of(const struct obs_tallies *t, const uint8_t chosen[],
    uint32_t n_links, topo_link set[])
{
	for (topo_link l = 0; l < n_links; l++)
		for (set[l] = 0; !are_one(t, chosen, set[l], l); set[l]++)
			;
}

static int naive_value(const struct obs_tallies *t, const uint8_t chosen[],
    const topo_link set[], uint32_t n_links, size_t i, uint32_t cover,
    int64_t *value)
{
	int useful = 0;
	*value = 0;
	for (topo_link l = 0; l < n_links; l++) {
		if (crosses(t, i, l)) {
			const uint32_t w = n_across(t, chosen, l);
			*value += w;
			useful |= w < cover;
		}
		int has = 0, lacks = 0;
		for (topo_link k = 0; k < n_links && set[l] == l; k++)
			if (set[k] == l) {
				has |= crosses(t, i, k);
				lacks |= !crosses(t, i, k);
			}
		useful |= has && lacks;
		*value -= has && lacks;
	}
	return useful;
}

static void naive_choose(const struct obs_tallies *t, uint32_t n_links,
    uint32_t cover, uint8_t chosen[])
{
	topo_link *set = calloc(n_links, sizeof(*set));
	assert_non_null(set);
	memset(chosen, 0, t->n);
	for (;;) {
		int64_t least = 0;
		size_t best = SIZE_MAX;
		sets_of(t, chosen, n_links, set);
		for (size_t i = 0; i < t->n; i++) {
			int64_t value;
			if (chosen[i] ||
			    !naive_value(t, chosen, set, n_links, i, cover,
				&value))
				continue;
			if (best == SIZE_MAX || value < least) {
				best = i;
				least = value;
			}
		}
		if (best == SIZE_MAX)
			break;
		chosen[best] = 1;
	}
	free(set);
}

/* Leave of the rows that TAKE has those that are chosen. */
static void choose(const struct telemetry_rig *x, uint32_t cover,
    uint8_t take[])
{
	struct algo_probe_matrix m = {0};
	struct algo_ways w = {0};
	assert_ok(
	    algo_ways_update(&w, &x->topo, &x->t.paths, 0, 0, test_err()));
	assert_ok(algo_probe_matrix_choose(&m, &w, &x->t.rows, x->topo.n_links,
	    cover, take, test_err()));
	algo_probe_matrix_free(&m);
	algo_ways_free(&w);
}

static void rows_are_chosen_as_by_trying_all(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 4; run++) {
		struct telemetry_rig x;
		draw(&x, run % 2 ? OBS_TELE_INT : OBS_TELE_A1, run);
		/* The oracle is of the fourth power. */
		x.t.rows.n = x.t.rows.n < 60 ? x.t.rows.n : 60;
		uint8_t got[60], want[60];
		memset(got, 1, sizeof(got));
		choose(&x, 1 + run / 2, got);
		naive_choose(&x.t.rows, x.topo.n_links, 1 + run / 2, want);
		assert_memory_equal(got, want, x.t.rows.n);
		telemetry_rig_close(&x);
	}
}

static void a_matrix_covers_links_and_tells_them_apart(void **state)
{
	(void)state;
	enum { COVER = 2 };
	struct telemetry_rig x;
	draw(&x, OBS_TELE_A1, 1);
	const struct obs_tallies *t = &x.t.rows;
	uint8_t *chosen = calloc(t->n, 1), *all = calloc(t->n, 1);
	size_t n = 0;
	assert_true(chosen && all);
	memset(all, 1, t->n);
	memset(chosen, 1, t->n);
	choose(&x, COVER, chosen);
	for (size_t i = 0; i < t->n; i++)
		n += chosen[i];
	for (topo_link a = 0; a < x.topo.n_links; a++) {
		const uint32_t could = n_across(t, all, a);
		assert_true(
		    n_across(t, chosen, a) >= (could < COVER ? could : COVER));
		for (topo_link b = a + 1; b < x.topo.n_links; b++)
			assert_int_equal(are_one(t, chosen, a, b),
			    are_one(t, all, a, b));
	}
	/* All are needed by no means. */
	assert_in_range(n, 1, t->n - 1);
	free(chosen);
	free(all);
	telemetry_rig_close(&x);
}

struct choosing {
	const struct telemetry_rig *x;
	uint8_t *take;
};

static int choose_once(void *arg, struct sim_err *e)
{
	const struct choosing *c = arg;
	const struct telemetry_rig *x = c->x;
	struct algo_probe_matrix m = {0};
	struct algo_ways w = {0};
	memset(c->take, 1, x->t.rows.n);
	int rc = algo_ways_update(&w, &x->topo, &x->t.paths, 0, 0, e);
	if (rc == 0)
		rc = algo_probe_matrix_choose(&m, &w, &x->t.rows,
		    x->topo.n_links, 2, c->take, e);
	algo_probe_matrix_free(&m);
	algo_ways_free(&w);
	return rc;
}

static void a_matrix_may_find_no_memory(void **state)
{
	(void)state;
	struct telemetry_rig x;
	draw(&x, OBS_TELE_A1, 1);
	struct choosing c = {&x, calloc(x.t.rows.n, 1)};
	assert_non_null(c.take);
	test_each_alloc_fails(choose_once, &c);
	free(c.take);
	telemetry_rig_close(&x);
}

/* --- localisation --------------------------------------------------------- */

static void assert_hits_are(const struct telemetry_rig *x,
    const struct algo_detector_params *p, uint8_t counts[], uint32_t run)
{
	const struct obs_tallies *t = &x->t.rows;
	uint8_t *lossy = calloc(t->n, 1), *left = calloc(t->n, 1);
	struct algo_verdicts v = {0};
	void *work;
	size_t n = 0;
	assert_true(lossy && left);
	for (size_t i = 0; i < t->n; i++)
		lossy[i] = left[i] =
		    counts[i] && (double)t->n_lost[i] / t->n_sent[i] > p->noise;
	assert_ok(algo_open(&algo_detector, &work, &x->topo, p, test_err()));
	assert_ok(algo_detector.diagnose(work, &x->w, NULL, &v, test_err()));
	for (;; n++) {
		uint64_t most = 0;
		double at = 0;
		topo_link best = 0;
		for (topo_link l = 0; l < x->topo.n_links; l++) {
			double n_rows = 0, n_lossy = 0;
			uint64_t lost = 0;
			for (size_t i = 0; i < t->n; i++) {
				if (!counts[i] || !crosses(t, i, l))
					continue;
				n_rows++;
				n_lossy += lossy[i];
				lost += left[i] ? t->n_lost[i] : 0;
			}
			const double hit = n_rows > 0 ? n_lossy / n_rows : 0;
			if (hit > p->hit &&
			    (lost > most || (lost == most && hit > at))) {
				most = lost;
				at = hit;
				best = l;
			}
		}
		if (most == 0)
			break;
		if (n >= v.n_flagged || v.link[n] != best)
			fail_msg("run %u: link %u is accused at place %zu", run,
			    best, n);
		assert_near(v.score[n], (double)most, 0);
		for (size_t i = 0; i < t->n; i++)
			left[i] = left[i] && !crosses(t, i, best);
	}
	assert_int_equal(v.n_flagged, n);
	assert_int_equal(v.flags, 1);
	/* Behind them, what the others lost that nothing explains. */
	for (topo_link l = 0; l < x->topo.n_links; l++) {
		uint64_t lost = 0;
		for (size_t i = 0; i < t->n; i++)
			lost += left[i] && crosses(t, i, l) ? t->n_lost[i] : 0;
		if (lost == 0)
			continue;
		assert_true(n < v.n);
		assert_int_equal(v.link[n], l);
		assert_near(v.score[n++], (double)lost, 0);
	}
	assert_int_equal(v.n, n);
	algo_close(&algo_detector, work);
	algo_verdicts_free(&v);
	free(lossy);
	free(left);
}

static void links_are_accused_by_hits_and_losses(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT | OBS_TELE_A1, OBS_TELE_A1,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P};
	for (uint32_t run = 0; run < 15; run++) {
		const struct algo_detector_params p = {.matrix = run % 2
			? ALGO_DETECTOR_CHOSEN
			: ALGO_DETECTOR_ALL,
		    .cover = 3,
		    .noise = .001,
		    .hit = run < 3 ? .6
			: run < 9  ? .5
				   : .05};
		struct telemetry_rig x;
		draw(&x, kinds[run % 3], run);
		uint8_t *counts = calloc(x.t.rows.n, 1);
		assert_non_null(counts);
		for (size_t i = 0; i < x.t.rows.n; i++)
			counts[i] = x.t.rows.is_probe[i];
		if (p.matrix == ALGO_DETECTOR_CHOSEN)
			choose(&x, p.cover, counts);
		assert_hits_are(&x, &p, counts, run);
		free(counts);
		telemetry_rig_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_are_chosen_as_by_trying_all),
	    cmocka_unit_test(a_matrix_covers_links_and_tells_them_apart),
	    cmocka_unit_test(a_matrix_may_find_no_memory),
	    cmocka_unit_test(links_are_accused_by_hits_and_losses),
	};
	return cmocka_run_group_tests_name("algos/rivals/detector", tests, NULL,
	    NULL);
}
