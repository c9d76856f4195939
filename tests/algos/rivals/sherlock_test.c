/* tests/algos/rivals/sherlock_test.c -- Sherlock against every set of two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/sherlock.h"

#include "tests/rigs/flock_value.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

static const struct algo_flock_params sherlock_some = {.p_bad = .005,
    .p_good = .0003,
    .prior = -6,
    .switches = 1};

struct best {
	unsigned n;
	uint32_t a, b;
	double value, next; /* of the best set, and of the next other one */
};

static void offer(struct best *best, unsigned n, uint32_t a, uint32_t b,
    double value)
{
	if (value > best->value) {
		best->next = best->value;
		best->n = n;
		best->a = a;
		best->b = b;
		best->value = value;
	} else if (value > best->next)
		best->next = value;
}

static struct best best_naive(const struct telemetry_rig *x)
{
	const uint32_t n_links = x->topo.n_links,
		       n = n_links + x->topo.n_switches;
	uint8_t *in = calloc(n, 1);
	struct best best = {.next = -INFINITY};
	assert_non_null(in);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a; b < n; b++) {
			double value = sherlock_some.prior *
			    ((a < n_links ? 1 : 5) +
				(a == b               ? 0
					: b < n_links ? 1
						      : 5));
			in[a] = in[b] = 1;
			value += flock_value(&x->topo, &x->t.rows,
			    &sherlock_some, in);
			in[a] = in[b] = 0;
			offer(&best, a == b ? 1 : 2, a, b, value);
		}
	free(in);
	return best;
}

static int has(const struct algo_verdicts *v, uint32_t c)
{
	for (size_t i = 0; i < v->n_flagged; i++)
		if (v->link[i] == c)
			return 1;
	return 0;
}

/* Returns how many components the answer has. */
static unsigned compare(unsigned kinds, uint32_t run)
{
	struct telemetry_rig x;
	struct sim_rng r;
	struct algo_verdicts v = {0};
	void *work;
	double sum = 0;
	telemetry_rig_open(&x, 4, 1e-4, kinds, run);
	test_rng(&r, run);
	x.p.flows = 8;
	for (uint32_t i = 0; i < run % 4; i++)
		telemetry_rig_fail(&x, sim_rng_below(&r, x.topo.n_links), 0.08);
	telemetry_rig_draw(&x);
	const struct best want = best_naive(&x);
	assert_ok(algo_open(&algo_sherlock, &work, &x.topo, &sherlock_some,
	    test_err()));
	assert_ok(algo_sherlock.diagnose(work, &x.w, NULL, &v, test_err()));
	for (size_t i = 0; i < v.n; i++)
		sum += v.score[i];
	assert_int_equal(v.n, v.n_flagged);
	assert_near(sum, want.value, 1e-7 * (1 + want.value));
	/* Sets that only the last bits tell apart may be told otherwise. */
	if (want.value - want.next > 1e-6) {
		assert_int_equal(v.n, want.n);
		if (want.n > 0 && (!has(&v, want.a) || !has(&v, want.b)))
			fail_msg("kinds %u, run %u: %u and %u are likelier",
			    kinds, run, want.a, want.b);
	}
	algo_close(&algo_sherlock, work);
	algo_verdicts_free(&v);
	telemetry_rig_close(&x);
	return want.n;
}

static void it_finds_the_likeliest_of_all_sets(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT, OBS_TELE_A1,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_P};
	unsigned n[3] = {0};
	for (uint32_t run = 0; run < 16; run++)
		n[compare(kinds[run / 4], run)]++;
	assert_true(n[0] > 0 && n[1] > 0 && n[2] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_finds_the_likeliest_of_all_sets),
	};
	return cmocka_run_group_tests_name("algos/rivals/sherlock", tests, NULL,
	    NULL);
}
