/* tests/models/connects/order_test.c -- ranks drawn, and those of drawn values.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The oracle draws all values and sorts them. Laws are held by Kolmogorov and
 * Smirnov's test at 1e-6 each, 54 of them.
 */
#include "models/connects/order.h"

#include "tests/rigs/law.h"
#include "tests/test.h"

enum { N_RANKS = 3, DRAWS = 1500 };
static const double tails[N_RANKS] = {0.5, 0.1, 0.01};
#define END_US 2.75e6

struct rig {
	struct fabric_sim_rtt law[CONNECTS_LAWS];
	struct connects_order o;
	struct sim_rng r;
	double got[N_RANKS][DRAWS], want[N_RANKS][DRAWS];
};

static void set_up(struct rig *g)
{
	test_rng(&g->r, 0);
	for (unsigned i = 0; i < CONNECTS_LAWS; i++)
		assert_ok(
		    fabric_sim_rtt_init(&g->law[i], &fabric_sim_rtt_profiles[0],
			2 + 2 * i, 0, 0.3, test_err()));
	assert_ok(connects_order_open(&g->o, g->law, CONNECTS_LAWS, END_US,
	    test_err()));
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static uint64_t rank_of(uint64_t n, double tail)
{
	return n - (uint64_t)((double)n * tail);
}

static void draw_all(struct rig *g, const uint64_t n[],
    const struct connects_known *known, uint64_t all, unsigned at)
{
	static double x[4096];
	size_t k = 0;
	for (; k < known->n; k++)
		x[k] = known->us[k];
	for (unsigned i = 0; i < CONNECTS_LAWS; i++)
		for (uint64_t j = 0; j < n[i]; j++) {
			do
				x[k] = (double)fabric_sim_rtt_draw(&g->law[i],
					   &g->r) /
				    1e3;
			while (x[k] >= END_US);
			k++;
		}
	qsort(x, k, sizeof(x[0]), by_value);
	for (unsigned i = 0; i < N_RANKS; i++)
		g->want[i][at] = x[rank_of(all, tails[i]) - 1];
}

/* The largest distance of two empirical laws, whose chance is below
 * 2 exp(-x^2 DRAWS). */
static double distance(double a[], double b[])
{
	double most = 0;
	size_t i = 0, j = 0;
	qsort(a, DRAWS, sizeof(a[0]), by_value);
	qsort(b, DRAWS, sizeof(b[0]), by_value);
	while (i < DRAWS && j < DRAWS) {
		const double x = fmin(a[i], b[j]);
		while (i < DRAWS && a[i] <= x)
			i++;
		while (j < DRAWS && b[j] <= x)
			j++;
		most = fmax(most, fabs((double)i - (double)j) / DRAWS);
	}
	return most;
}

static const struct connects_known none = {NULL, 0};

static void hold(const uint64_t n[], const struct connects_known *known)
{
	const double limit = sqrt(-log(1e-6 / 2) / DRAWS);
	static struct rig g;
	uint64_t rank[N_RANKS], all = 0;
	set_up(&g);
	for (unsigned i = 0; i < CONNECTS_LAWS; i++)
		all += n[i];
	all += known->n;
	for (unsigned i = 0; i < N_RANKS; i++)
		rank[i] = rank_of(all, tails[i]);
	for (unsigned k = 0; k < DRAWS; k++) {
		double us[N_RANKS];
		connects_order_draw(&g.o, n, known, rank, N_RANKS, &g.r, us);
		draw_all(&g, n, known, all, k);
		for (unsigned i = 0; i < N_RANKS; i++)
			g.got[i][k] = us[i];
		assert_true(us[0] <= us[1] && us[1] <= us[2]);
	}
	for (unsigned i = 0; i < N_RANKS; i++) {
		const double d = distance(g.got[i], g.want[i]);
		if (d > limit)
			fail_msg("tail %g of %llu: %g apart", tails[i],
			    (unsigned long long)all, d);
	}
	connects_order_close(&g.o);
}

static void ranks_are_those_of_drawn_values(void **state)
{
	static const uint64_t n[][CONNECTS_LAWS] = {{700, 300, 2000},
	    {0, 0, 900}, {40, 0, 160}, {1, 1, 1}, {0, 7, 0}, {500, 20, 100}};
	(void)state;
	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		hold(n[i], &none);
}

/* Some below all others, some among them, where ranks are and where none is, and
 * some above. */
static void known_values_are_among_them(void **state)
{
	static const uint64_t n[][CONNECTS_LAWS] = {{700, 300, 2000},
	    {0, 0, 90}, {1, 1, 1}, {0, 0, 0}};
	double us[600];
	(void)state;
	for (unsigned i = 0; i < 600; i++)
		us[i] = i < 30 ? 1 + i
		    : i < 500  ? 250 + 0.2 * i
			       : 1e4 + 5e3 * i;
	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		for (unsigned first = 0; first < 600; first += 290)
			hold(n[i],
			    &(struct connects_known){us + first, 600 - first});
}

static void many_come_close(const uint64_t n[CONNECTS_LAWS])
{
	static struct rig g;
	uint64_t rank[N_RANKS], all = 0;
	double us[N_RANKS];
	set_up(&g);
	for (unsigned i = 0; i < CONNECTS_LAWS; i++)
		all += n[i];
	for (unsigned i = 0; i < N_RANKS; i++)
		rank[i] = rank_of(all, tails[i]);
	connects_order_draw(&g.o, n, &none, rank, N_RANKS, &g.r, us);
	for (unsigned k = 0; k < N_RANKS; k++) {
		double above = 0;
		for (unsigned i = 0; i < CONNECTS_LAWS; i++)
			above += (double)n[i] / (double)all *
			    (fabric_sim_rtt_tail(&g.law[i], us[k]) -
				fabric_sim_rtt_tail(&g.law[i], END_US));
		assert_near(above, tails[k],
		    6 * sqrt(tails[k] / (double)all) + 3e-6 * tails[k]);
	}
	connects_order_close(&g.o);
}

/* With many values ranks are as close to the quantile of their laws together as
 * the density lets them, and beyond 32 bits too. */
static void many_values_come_close_to_quantiles(void **state)
{
	static const uint64_t n[][CONNECTS_LAWS] = {{0, 0,
							UINT64_C(10000000000)},
	    {UINT64_C(20000000000), 0, UINT64_C(10000000000)},
	    {UINT64_C(7000000000), UINT64_C(6000000000), 5}};
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		many_come_close(n[i]);
}

/* All ranks at once: they ascend, each known value is one of them as often as it is
 * known, and the others are as many as were to be drawn, within their bounds. */
static void all_ranks_hold_what_is_known(void **state)
{
	static struct rig g;
	(void)state;
	set_up(&g);
	for (uint32_t run = 0; run < 1000; run++) {
		uint64_t n[CONNECTS_LAWS], rank[CONNECTS_RANKS], drawn = 0;
		double known[CONNECTS_RANKS], us[CONNECTS_RANKS];
		size_t n_known = sim_rng_below(&g.r, 12), k = 0;
		for (unsigned i = 0; i < CONNECTS_LAWS; i++)
			drawn += n[i] = sim_rng_below(&g.r, 5);
		/* About where the others are, some alike, some beyond. */
		for (size_t i = 0; i < n_known; i++)
			known[i] = 150 + 20. * sim_rng_below(&g.r, 20) +
			    (sim_rng_below(&g.r, 9) ? 0 : 1e6);
		qsort(known, n_known, sizeof(known[0]), by_value);
		const uint64_t all = drawn + n_known;
		for (uint64_t i = 0; i < all; i++)
			rank[i] = i + 1;
		const struct connects_known what = {known, n_known};
		connects_order_draw(&g.o, n, &what, rank, (unsigned)all, &g.r,
		    us);
		for (uint64_t i = 0; i < all; i++) {
			assert_true(i == 0 || us[i - 1] <= us[i]);
			if (k < n_known && us[i] == known[k])
				k++;
			else
				assert_true(us[i] > g.law[0].fixed_us &&
				    us[i] < END_US);
		}
		assert_int_equal(k, n_known);
	}
	connects_order_close(&g.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranks_are_those_of_drawn_values),
	    cmocka_unit_test(known_values_are_among_them),
	    cmocka_unit_test(many_values_come_close_to_quantiles),
	    cmocka_unit_test(all_ranks_hold_what_is_known),
	};
	return cmocka_run_group_tests_name("models/connects/order", tests, NULL,
	    NULL);
}
