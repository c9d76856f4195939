/* tests/models/scene/noise_test.c -- noise of good links: names, range and law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/dist.h"
#include "models/scene/noise.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"

enum { N_LINKS = 40000 };
static double rates[N_LINKS];

static const struct scene_noise_params laws[] = {
    {{SIM_FIXED, 3e-7, 3e-7}, 1, SCENE_NOISE_PER_LINK, 1, 0},
    {{SIM_UNIFORM, 0, 1e-6}, 1, SCENE_NOISE_PER_LINK, 1, 0},
    {{SIM_UNIFORM, 0.25, 0.5}, 1, SCENE_NOISE_PER_LINK, 1, 0},
    {{SIM_LOG_UNIFORM, 1e-9, 1e-3}, 1, SCENE_NOISE_PER_LINK, 1, 0},
    {{SIM_LOG_UNIFORM, 0.5, 1}, 1, SCENE_NOISE_PER_LINK, 1, 0},
};
enum { N_LAWS = sizeof(laws) / sizeof(laws[0]) };

static struct scene_noise noise_of(const struct scene_noise_params *p,
    uint64_t seed, uint32_t point, uint32_t run, uint32_t epoch)
{
	const struct sim_seed where = {seed, point, run, epoch};
	struct scene_noise n;
	scene_noise_init(&n, p, NULL, &where);
	return n;
}

static void the_default_is_uniform_up_to_one_in_a_million(void **state)
{
	(void)state;
	struct scene_noise_params p;
	assert_ok(sim_field_defaults(scene_noise_fields, &p, test_err()));
	assert_int_equal(p.rate.kind, SIM_UNIFORM);
	assert_true(p.rate.a == 0 && p.rate.b == 1e-6);
	assert_int_equal(p.per, SCENE_NOISE_PER_LINK);
}

static void a_scale_multiplies_each_rate_up_to_one(void **state)
{
	(void)state;
	struct scene_noise_params p = laws[1];
	struct scene_noise one = noise_of(&p, 1, 2, 3, 4);
	p.scale = 100;
	struct scene_noise many = noise_of(&p, 1, 2, 3, 4);
	p.scale = 1e9;
	struct scene_noise most = noise_of(&p, 1, 2, 3, 4);
	for (topo_link l = 0; l < 100; l++) {
		double rate = scene_noise_rate(&one, l);
		assert_near(scene_noise_rate(&many, l), 100 * rate, 1e-18);
		assert_true(scene_noise_rate(&most, l) <= 1);
	}
}

/* Ranges start at any place within a block of four links. */
static void one_rate_alone_is_the_one_of_the_range(void **state)
{
	(void)state;
	for (int i = 0; i < N_LAWS; i++) {
		struct scene_noise n = noise_of(&laws[i], test_seed(), 1, 2, 3);
		for (topo_link first = 0; first < 9; first++)
			for (size_t many = 0; many < 11; many++) {
				double r[11];
				scene_noise_rates(&n, first, many, r);
				for (topo_link j = 0; j < many; j++)
					assert_true(r[j] ==
					    scene_noise_rate(&n, first + j));
			}
	}
}

static void the_order_of_asking_does_not_matter(void **state)
{
	(void)state;
	struct scene_noise n = noise_of(&laws[1], test_seed(), 1, 2, 3);
	scene_noise_rates(&n, 0, N_LINKS, rates);
	struct sim_rng r;
	test_rng(&r, 0);
	for (int i = 0; i < 1000; i++) {
		topo_link l = sim_rng_below(&r, N_LINKS);
		assert_true(scene_noise_rate(&n, l) == rates[l]);
	}
}

static void rates_stay_in_their_range(void **state)
{
	(void)state;
	for (int i = 0; i < N_LAWS; i++) {
		struct scene_noise n = noise_of(&laws[i], test_seed(), 0, 0, 0);
		scene_noise_rates(&n, 0, N_LINKS, rates);
		for (int l = 0; l < N_LINKS; l++)
			assert_true(rates[l] >= laws[i].rate.a &&
			    rates[l] <= laws[i].rate.b);
	}
}

/* Rounding must not carry a rate past its end: above 1 it has no hazard. */
static void a_narrow_range_is_never_left(void **state)
{
	(void)state;
	struct sim_rng r;
	test_rng(&r, 1);
	for (int i = 0; i < 200000; i++) {
		double b = 1 - 0x1p-53 * sim_rng_below(&r, 4), a = b;
		for (uint32_t k = sim_rng_below(&r, 5); k > 0; k--)
			a = nextafter(a, 0);
		const double u = sim_rng_u01(&r);
		for (int kind = SIM_FIXED; kind <= SIM_LOG_UNIFORM; kind++) {
			const struct sim_dist d = {kind, a,
			    kind == SIM_FIXED ? a : b};
			double x = dist_at(&d, u);
			if (!(x >= d.a && x <= d.b))
				fail_msg("kind %d, [%.17g, %.17g] at %.17g "
					 "gives %.17g",
				    kind, d.a, d.b, u, x);
		}
	}
}

/* Chi-square on 50 quantile bins at level 1e-6. */
static void rates_follow_their_law(void **state)
{
	(void)state;
	enum { BINS = 50 };
	for (int i = 1; i < N_LAWS; i++) {
		const struct sim_dist *d = &laws[i].rate;
		struct scene_noise n = noise_of(&laws[i], test_seed(), 0, 7, 0);
		uint64_t count[BINS] = {0};
		scene_noise_rates(&n, 0, N_LINKS, rates);
		for (int l = 0; l < N_LINKS; l++) {
			double q = d->kind == SIM_UNIFORM
			    ? (rates[l] - d->a) / (d->b - d->a)
			    : log(rates[l] / d->a) / log(d->b / d->a);
			count[(int)fmin(q * BINS, BINS - 1)]++;
		}
		double p = law_chi2_uniform(count, BINS);
		if (p < 1e-6)
			fail_msg("law %d, seed %ju: p = %g", i,
			    (uintmax_t)test_seed(), p);
	}
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* 40,000 draws of 32 bits have 0.19 equal pairs on average: 5 or more come
 * with probability 2e-6. */
static void each_link_has_a_rate_of_its_own(void **state)
{
	(void)state;
	struct scene_noise n = noise_of(&laws[1], test_seed(), 0, 0, 0);
	int equal = 0;
	scene_noise_rates(&n, 0, N_LINKS, rates);
	qsort(rates, N_LINKS, sizeof(rates[0]), ascending);
	for (int l = 1; l < N_LINKS; l++)
		equal += rates[l] == rates[l - 1];
	assert_true(equal < 5);
}

/* Two draws of 32 bits are equal with probability 2^-32: at most a few of
 * 40,000 links. Correlation within 5 / sqrt(40,000): false alarm 6e-7. */
static void each_part_of_an_epochs_name_gives_other_rates(void **state)
{
	(void)state;
	static double other[N_LINKS];
	const struct scene_noise_params *p = &laws[1];
	struct scene_noise n = noise_of(p, 5, 6, 7, 8);
	const struct scene_noise others[] = {
	    noise_of(p, 4, 6, 7, 8),
	    noise_of(p, 5, 5, 7, 8),
	    noise_of(p, 5, 6, 6, 8),
	    noise_of(p, 5, 6, 7, 7),
	};
	scene_noise_rates(&n, 0, N_LINKS, rates);
	for (int i = 0; i < 4; i++) {
		double product = 0;
		int equal = 0;
		scene_noise_rates(&others[i], 0, N_LINKS, other);
		for (int l = 0; l < N_LINKS; l++) {
			product += (rates[l] * 2e6 - 1) * (other[l] * 2e6 - 1);
			equal += rates[l] == other[l];
		}
		assert_true(equal < 5);
		assert_near(3 * product / N_LINKS, 0, 5 / sqrt(N_LINKS));
	}
}

/* --- flows ---------------------------------------------------------------- */

enum { N_HOPS = 10 };
static const topo_link path[N_HOPS] = {9, 3, 7, 0, 1, 39999, 2, 2, 11, 13};

static void per_link_all_flows_meet_the_rates_of_the_links(void **state)
{
	(void)state;
	const struct scene_noise n = noise_of(&laws[1], test_seed(), 1, 2, 3);
	double r[N_HOPS];
	for (uint64_t flow = 0; flow < 5; flow++) {
		scene_noise_of_flow(&n, flow, path, N_HOPS, r);
		for (unsigned i = 0; i < N_HOPS; i++)
			assert_true(r[i] == scene_noise_rate(&n, path[i]));
	}
	scene_noise_bounds(&n, N_LINKS, rates);
	for (topo_link l = 0; l < N_LINKS; l++)
		assert_true(rates[l] == scene_noise_rate(&n, l));
}

/* Of the flow and the hop, never of the link; as far along the path as it is
 * asked for. All pairs of 40,000 draws of 32 bits differ but for a few, as
 * above, from those of links also. */
static void per_flow_each_hop_has_a_rate_of_its_own(void **state)
{
	(void)state;
	struct scene_noise_params p = laws[1];
	const struct scene_noise links = noise_of(&p, test_seed(), 1, 2, 3);
	p.per = SCENE_NOISE_PER_FLOW;
	const struct scene_noise n = noise_of(&p, test_seed(), 1, 2, 3);
	int equal = 0;
	for (uint64_t f = 0; f < N_LINKS / N_HOPS / 2; f++) {
		const topo_link others[N_HOPS] = {0};
		double *r = &rates[f * N_HOPS], again[N_HOPS];
		scene_noise_of_flow(&n, f, path, N_HOPS, r);
		scene_noise_of_flow(&n, f, others, N_HOPS - 3, again);
		assert_memory_equal(r, again, (N_HOPS - 3) * sizeof(r[0]));
	}
	scene_noise_rates(&links, 0, N_LINKS / 2, &rates[N_LINKS / 2]);
	qsort(rates, N_LINKS, sizeof(rates[0]), ascending);
	for (int i = 1; i < N_LINKS; i++)
		equal += rates[i] == rates[i - 1];
	assert_true(equal < 5);
}

/* In chi-squares as above, by hop; and the greatest of all rates is a bound. A
 * packet alone meets the mean, which is that of what flows meet: 5 standard
 * errors. */
static void rates_of_flows_follow_the_law(void **state)
{
	(void)state;
	enum { BINS = 50, FLOWS = 20000 };
	for (int i = 0; i < N_LAWS; i++) {
		static uint64_t count[N_HOPS][BINS];
		struct scene_noise_params p = laws[i];
		const struct sim_dist *d = &p.rate;
		struct law_mean mean = {0};
		p.per = SCENE_NOISE_PER_FLOW;
		const struct scene_noise n = noise_of(&p, test_seed(), 0, 7, 0);
		memset(count, 0, sizeof(count));
		for (uint64_t f = 0; f < FLOWS; f++) {
			double r[N_HOPS];
			scene_noise_of_flow(&n, f, path, N_HOPS, r);
			for (unsigned k = 0; k < N_HOPS; k++) {
				double q = d->kind == SIM_LOG_UNIFORM
				    ? log(r[k] / d->a) / log(d->b / d->a)
				    : (r[k] - d->a) / (d->b - d->a);
				assert_true(r[k] >= d->a && r[k] <= d->b);
				law_add(&mean, r[k]);
				if (d->kind != SIM_FIXED)
					count[k]
					     [(int)fmin(q * BINS, BINS - 1)]++;
			}
		}
		for (unsigned k = 0; d->kind != SIM_FIXED && k < N_HOPS; k++)
			assert_true(law_chi2_uniform(count[k], BINS) > 1e-6);
		assert_true(d->kind == SIM_FIXED ||
		    fabs(law_z(&mean, scene_noise_rate(&n, 3))) < 5);
		scene_noise_bounds(&n, 4, rates);
		assert_true(rates[0] == d->b && rates[3] == d->b);
		scene_noise_rates(&n, 2, 2, rates);
		assert_true(rates[1] == scene_noise_rate(&n, 3));
	}
}

/* Links of the classes have so many times the rate that they have without, to
 * the last bit; all others the same. So have flows, and bounds. */
static void a_noisy_tier_has_so_many_times_its_rates(void **state)
{
	(void)state;
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 4,
	    .n_t1 = 2,
	    .n_t2 = 4,
	    .n_hosts = 4};
	const uint32_t classes[] = {1u << TOPO_TOR_T1 | 1u << TOPO_T1_TOR,
	    1u << TOPO_HOST_TOR};
	struct topo t;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	for (int i = 0; i < 8; i++) {
		struct scene_noise_params p = laws[i / 2 % 2];
		const struct sim_seed where = {test_seed(), 1, 2, 3};
		struct scene_noise calm, loud;
		double a[TOPO_MAX_HOPS], b[TOPO_MAX_HOPS];
		p.per = i < 4 ? SCENE_NOISE_PER_LINK : SCENE_NOISE_PER_FLOW;
		scene_noise_init(&calm, &p, &t, &where);
		p.times = 20;
		p.classes = classes[i % 2];
		scene_noise_init(&loud, &p, &t, &where);
		assert_true(scene_noise_most(&loud) == 20 * p.rate.b);
		scene_noise_bounds(&loud, t.n_links, rates);
		for (topo_link l = 0; l < t.n_links; l++) {
			const double times =
			    p.classes >> topo_class_of(&t, l) & 1 ? 20 : 1;
			scene_noise_of_flow(&calm, 5, &l, 1, a);
			scene_noise_of_flow(&loud, 5, &l, 1, b);
			assert_true(b[0] == times * a[0]);
			assert_true(scene_noise_rate(&loud, l) ==
			    times * scene_noise_rate(&calm, l));
			assert_true(b[0] <= rates[l]);
		}
	}
	topo_close(&t);
}

/* FABRIC is all between switches, as for faults. */
static void fabric_is_all_between_switches(void **state)
{
	(void)state;
	const uint32_t fabric = 1u << TOPO_FABRIC;
	assert_true(scene_noise_has(fabric, TOPO_FABRIC));
	assert_true(scene_noise_has(fabric, TOPO_T2_T1));
	assert_false(scene_noise_has(fabric, TOPO_HOST_TOR));
	assert_false(scene_noise_has(fabric, TOPO_TOR_HOST));
	assert_false(scene_noise_has(1u << TOPO_T1_T2, TOPO_FABRIC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_default_is_uniform_up_to_one_in_a_million),
	    cmocka_unit_test(a_scale_multiplies_each_rate_up_to_one),
	    cmocka_unit_test(one_rate_alone_is_the_one_of_the_range),
	    cmocka_unit_test(the_order_of_asking_does_not_matter),
	    cmocka_unit_test(rates_stay_in_their_range),
	    cmocka_unit_test(a_narrow_range_is_never_left),
	    cmocka_unit_test(rates_follow_their_law),
	    cmocka_unit_test(each_link_has_a_rate_of_its_own),
	    cmocka_unit_test(each_part_of_an_epochs_name_gives_other_rates),
	    cmocka_unit_test(per_link_all_flows_meet_the_rates_of_the_links),
	    cmocka_unit_test(per_flow_each_hop_has_a_rate_of_its_own),
	    cmocka_unit_test(rates_of_flows_follow_the_law),
	    cmocka_unit_test(a_noisy_tier_has_so_many_times_its_rates),
	    cmocka_unit_test(fabric_is_all_between_switches),
	};
	return cmocka_run_group_tests_name("models/scene/noise", tests, NULL,
	    NULL);
}
