/* tests/algos/sieve/sieve_spread_test.c -- who has the chances of who is alike.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Flows of no known path in a fat-tree of 4 ports. What is alike is found anew by
 * holding all parts against all others. Nothing here is statistical.
 */
#include "algos/sieve/sieve_spread.h"

#include "algos/sieve/sieve_chances.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

enum { RUNS = 36, MAX_PARTS = 256 };

struct spread_rig {
	struct telemetry_rig x;
	struct sieve_search s;
	uint32_t n_links, n;
};

/* Of few flows some links are crossed by none, and of many by all. */
static void spread_rig_open(struct spread_rig *f, uint32_t run)
{
	struct sim_rng r;
	*f = (struct spread_rig){.s = {.thin = 1, .rare = 39, .any = 0.57}};
	telemetry_rig_open(&f->x, 4, 5e-5,
	    run % 2 ? OBS_TELE_P : OBS_TELE_A2 | OBS_TELE_P, run);
	test_rng(&r, run);
	f->x.p.flows = 2u << run % 6;
	telemetry_rig_fail(&f->x, sim_rng_below(&r, f->x.topo.n_links), 0.01);
	telemetry_rig_draw(&f->x);
	f->n_links = f->x.topo.n_links;
	f->n = f->n_links + f->x.topo.n_switches;
	assert_true(f->n <= MAX_PARTS);
	f->s.model.topo = &f->x.topo;
	assert_ok(sieve_model_read(&f->s.model, &f->x.w, test_err()));
	assert_ok(sieve_search_run(&f->s, test_err()));
	assert_ok(sieve_chances(&f->s, test_err()));
}

static void spread_rig_close(struct spread_rig *f)
{
	sieve_search_free(&f->s);
	telemetry_rig_close(&f->x);
}

/* What is known of link L: its class alone, or more, which no other link has. */
static uint64_t known_of(const struct spread_rig *f, topo_link l)
{
	const struct sieve_model *m = &f->s.model;
	const uint32_t class_of = m->sets.class_of[l];
	const int alone = class_of == SIEVE_NO_CLASS || m->kept[l] > 0 ||
	    m->off[l] < m->off[l + 1];
	return alone ? (uint64_t)1 << 32 | l : class_of;
}

/* How many links of switch K, out of it or into it, that were crossed are as WHAT;
 * of all if ANY. */
static unsigned links_as(const struct spread_rig *f, topo_switch k, int out,
    uint64_t what, int any)
{
	unsigned n = 0;
	for (topo_link l = 0; l < f->n_links; l++) {
		topo_node from, to;
		topo_link_ends(&f->x.topo, l, &from, &to);
		n += (out ? from : to) == f->x.topo.n_hosts + k &&
		    f->s.model.passed[l] > 0 && (any || known_of(f, l) == what);
	}
	return n;
}

static int switches_alike(const struct spread_rig *f, topo_switch a,
    topo_switch b)
{
	unsigned n = 0;
	for (int out = 0; out < 2; out++) {
		n += links_as(f, a, out, 0, 1);
		if (links_as(f, a, out, 0, 1) != links_as(f, b, out, 0, 1))
			return 0;
		for (topo_link l = 0; l < f->n_links; l++)
			if (links_as(f, a, out, known_of(f, l), 0) !=
			    links_as(f, b, out, known_of(f, l), 0))
				return 0;
	}
	return n > 0;
}

static int parts_alike(const struct spread_rig *f, uint32_t a, uint32_t b)
{
	if (a == b)
		return 1;
	if ((a < f->n_links) != (b < f->n_links))
		return 0;
	return a < f->n_links
	    ? known_of(f, a) == known_of(f, b)
	    : switches_alike(f, a - f->n_links, b - f->n_links);
}

/* One part alone has a chance: all that are alike have the same part of it, and
 * nobody else any. */
static void chances_are_spread_over_who_is_alike(void **state)
{
	unsigned n_shared[2] = {0}, n_alone[2] = {0};
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct spread_rig f;
		spread_rig_open(&f, run);
		/* Where such flows lost nothing there is nothing to spread. */
		const int is_some = sieve_model_has_maybe(&f.s.model);
		for (uint32_t part = run % 3; part < f.n; part += 3) {
			double got[MAX_PARTS] = {0};
			unsigned n = 0;
			f.s.n = 1;
			f.s.list[0] = (struct sieve_candidate){.link = part,
			    .chance = 0.8};
			assert_ok(sieve_spread(&f.s, test_err()));
			for (size_t i = 0; i < f.s.n; i++)
				got[f.s.list[i].link] = f.s.list[i].chance;
			for (uint32_t k = 0; k < f.n; k++)
				n += part == k ||
				    (is_some && parts_alike(&f, part, k));
			if (f.s.n != n)
				fail_msg("run %u, part %u of %u and %u: %zu, "
					 "wanted %u",
				    run, part, f.n_links, f.n, f.s.n, n);
			for (uint32_t k = 0; k < f.n; k++)
				assert_near(got[k],
				    k == part ||
					    (n > 1 && parts_alike(&f, part, k))
					? 0.8 / n
					: 0,
				    1e-12);
			n_shared[part >= f.n_links] += n > 1;
			n_alone[part >= f.n_links] += n == 1;
		}
		spread_rig_close(&f);
	}
	assert_true(n_shared[0] > 0 && n_shared[1] > 0);
	assert_true(n_alone[0] > 0 && n_alone[1] > 0);
}

/* What comes to next to nothing for each is not listed, and what comes to a little
 * more is, unless several share it. Of so few flows none of those without a path may
 * have lost anything, and then there is nothing to spread: such a window says
 * nothing. */
static void small_chances_are_not_listed(void **state)
{
	unsigned n_windows = 0, n_listed = 0, n_shared = 0;
	(void)state;
	for (uint32_t run = 1; run < RUNS; run += 6) {
		struct spread_rig f;
		spread_rig_open(&f, run);
		const int is_some = sieve_model_has_maybe(&f.s.model);
		n_windows += is_some;
		for (uint32_t i = 0; is_some && i < 2 * f.n; i++) {
			const int least = i % 2;
			f.s.n = 1;
			f.s.list[0] = (struct sieve_candidate){.link = i / 2,
			    .chance = least ? 1.01e-4 : 0.99e-4};
			assert_ok(sieve_spread(&f.s, test_err()));
			assert_true(f.s.n <= (size_t)least);
			n_listed += f.s.n == 1;
			n_shared += least && f.s.n == 0;
		}
		spread_rig_close(&f);
	}
	/* Half of them lose nothing: all six do so once in 64 times. */
	assert_true(n_windows > 0 && n_listed > 0 && n_shared > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(chances_are_spread_over_who_is_alike),
	    cmocka_unit_test(small_chances_are_not_listed),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_spread", tests,
	    NULL, NULL);
}
