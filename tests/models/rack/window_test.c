/* tests/models/rack/window_test.c -- what a sender learns of segments it lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A loss is known once three segments came from behind it. The oracle keeps each
 * lost segment by itself; no law is tested here, only equality.
 */
#include "models/rack/impl.h"
#include "tests/test.h"

enum { SLOTS = 40, MOST = 400 };

/* How many came from behind each that is lost and not known to be. */
struct oracle {
	uint32_t behind[MOST];
	uint32_t n, owed;
};

static void oracle_lose(struct oracle *o, uint32_t n, const uint16_t near[3])
{
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < near[i]; k++) {
			assert_true(o->n < MOST);
			o->behind[o->n++] = i;
			n--;
		}
	o->owed += n;
}

static void oracle_hear(struct oracle *o, uint32_t n)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < o->n; i++) {
		if (o->behind[i] + n >= 3)
			o->owed++;
		else
			o->behind[left++] = o->behind[i] + n;
	}
	o->n = left;
}

static uint32_t oracle_near(const struct oracle *o, unsigned i)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < o->n; k++)
		n += o->behind[k] == i;
	return n;
}

static void a_loss_is_known_when_three_came_from_behind_it(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct rack r = {
		    .p = {.window_min = 1, .window_max = 1000, .gain = 0.0625}};
		struct rack_conn c = {.window = 100,
		    .threshold = 100,
		    .left = 1 << 20};
		struct oracle o = {.n = 0};
		struct sim_rng rng;
		uint32_t seen = 0;
		test_rng(&rng, run);
		for (unsigned slot = 0; slot < SLOTS; slot++) {
			const uint32_t n = 1 + sim_rng_below(&rng, 4);
			c.sent += 20;
			if (sim_rng_below(&rng, 2)) {
				uint16_t near[3];
				uint32_t lost = sim_rng_below(&rng, 3);
				for (unsigned i = 0; i < 3; i++)
					lost += near[i] =
					    (uint16_t)sim_rng_below(&rng, 3);
				rack_window_lose(&r, &c, lost, near);
				oracle_lose(&o, lost, near);
				seen += lost;
			}
			rack_window_hear(&r, &c, n, 0);
			oracle_hear(&o, n);
			seen += n;
			if (c.owed != o.owed || c.lost != o.n || c.seen != seen)
				fail_msg("seed %llu, run %u, slot %u: %u owed, "
					 "%u lost, wanted %u and %u",
				    (unsigned long long)test_seed(), run, slot,
				    c.owed, c.lost, o.owed, o.n);
			for (unsigned i = 0; i < 3 && o.n > 0; i++)
				assert_int_equal(c.near[i], oracle_near(&o, i));
		}
	}
}

/* When its timer runs out it takes all for lost, and begins with one. */
static void a_timeout_ends_all_waiting(void **state)
{
	struct rack r = {.p = {.window_min = 2,
			     .window_max = 1000,
			     .gain = 0.0625},
	    .rto_slots = 10,
	    .cross_slots = 7};
	struct rack_conn c = {.window = 100,
	    .threshold = 50,
	    .sent = 30,
	    .credit = 0.5f,
	    .n_acked = 3,
	    .n_marked = 1};
	(void)state;
	rack_window_lose(&r, &c, 6, (uint16_t[]){1, 2, 3});
	assert_int_equal(c.owed, 0);
	const float window = c.window;
	rack_window_again(&r, &c);
	assert_true(c.window == 1);
	assert_true(c.threshold == window / 2);
	assert_true(c.credit == 0);
	assert_int_equal(c.owed, 6);
	assert_int_equal(c.lost, 0);
	assert_int_equal(c.n_acked + c.n_marked, 0);
	assert_int_equal(c.round_end, 30);
	assert_int_equal(c.cut_end, 30);
	assert_int_equal(c.near[0] + c.near[1] + c.near[2], 0);
	/* The next wait is twice as long, up to 64 times. */
	for (unsigned k = 0; k < 9; k++)
		assert_int_equal(rack_window_wait(&r, &c),
		    10u << (k < 6 ? k : 6));
	/* What is heard of ends that; another region is further away. */
	rack_window_hear(&r, &c, 1, 0);
	c.cross = 1;
	assert_int_equal(rack_window_wait(&r, &c), 17);
}

/* RFC 8257, section 3.3, by hand: a round ends with what was sent when it began;
 * alpha goes a 16th of the way to the share that was marked. */
static void alpha_follows_the_share_marked(void **state)
{
	static const uint32_t marked[] = {0, 5, 10, 3, 0, 10, 1};
	struct rack r = {
	    .p = {.window_min = 1, .window_max = 1000, .gain = 0.0625}};
	struct rack_conn c = {.window = 10,
	    .threshold = 10,
	    .alpha = 1,
	    .sent = 10};
	float want = 1;
	(void)state;
	for (unsigned i = 0; i < sizeof(marked) / sizeof(marked[0]); i++) {
		/* One was heard of since the last round ended, but in the
		 * first. */
		const float n = i > 0 ? 11 : 10, of = i > 0 ? 1 : 0;
		c.sent += 40;
		c.seen = c.round_end = c.sent - 30;
		rack_window_hear(&r, &c, 10, marked[i]);
		want += 0.0625f * (((float)marked[i] + of) / n - want);
		assert_near(c.alpha, want, 1e-6);
		assert_int_equal(c.n_acked + c.n_marked, 0);
		assert_int_equal(c.round_end, c.sent);
		/* Within a round nothing changes. */
		rack_window_hear(&r, &c, 1, 1);
		assert_near(c.alpha, want, 1e-6);
		assert_int_equal(c.n_acked, 1);
		assert_int_equal(c.n_marked, 1);
	}
}

/* RFC 8257, section 3.3: a mark costs alpha / 2 of the window, once in a window;
 * a loss that others of the slot show costs half of it (RFC 5681). */
static void a_mark_costs_half_of_alpha_and_a_loss_a_half(void **state)
{
	struct rack r = {
	    .p = {.window_min = 2, .window_max = 1000, .gain = 0.0625}};
	struct rack_conn c = {.window = 100,
	    .threshold = 100,
	    .alpha = 0.25f,
	    .sent = 150,
	    .seen = 50,
	    .round_end = 1000,
	    .flying = 100};
	(void)state;
	rack_window_hear(&r, &c, 10, 10);
	assert_near(c.window, 87.5, 1e-4);
	assert_near(c.threshold, 87.5, 1e-4);
	assert_in_range(c.cut_end, 150, 150 + c.ahead);
	rack_window_hear(&r, &c, 10, 10);
	assert_near(c.window, 87.5, 1e-4);
	/* Behind the cut each window of segments makes it one larger. */
	c.seen = c.cut_end;
	rack_window_hear(&r, &c, 7, 0);
	assert_near(c.window, 87.5 + 7 / 87.5, 1e-4);
	const float before = c.window;
	c.sent += 100;
	rack_window_lose(&r, &c, 5, (uint16_t[]){0, 0, 0});
	assert_near(c.window, before / 2, 1e-4);
	assert_int_equal(c.owed, 5);
	/* Never below the least window. */
	c.window = 3;
	c.seen = c.cut_end;
	c.alpha = 1;
	c.sent += 1000;
	rack_window_hear(&r, &c, 1, 1);
	assert_near(c.window, 2, 1e-6);
}

/* RFC 5681: below the threshold a segment for each that came, above it one for a
 * window of them; from the least to the most, and not at all when less than half
 * of the window is used. */
static void a_window_grows_by_what_came(void **state)
{
	static const struct {
		float window, threshold;
		uint32_t flying, n;
		double want;
	} all[] = {
	    {10, 100, 50, 0, 10},
	    {10, 100, 50, 4, 14},
	    {10, 14, 50, 4, 14},
	    {10, 12, 50, 4, 12 + 2. / 12},
	    {10, 10, 50, 4, 10.4},
	    {10, 5, 50, 4, 10.4},
	    /* A threshold within the next segment ends the first growth there. */
	    {10, 10.5, 50, 4, 11 + 3. / 11},
	    {10, 100, 4, 4, 10},
	    {10, 100, 5, 4, 14},
	    {38, 100, 50, 4, 40},
	    {40, 10, 50, 4, 40},
	    {1, 1, 50, 1, 3},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct rack r = {
		    .p = {.window_min = 3, .window_max = 40, .gain = 0.0625}};
		struct rack_conn c = {.window = all[i].window,
		    .threshold = all[i].threshold,
		    .flying = all[i].flying,
		    .sent = 1000,
		    .seen = 100,
		    .backoff = 3,
		    .round_end = 2000};
		rack_window_hear(&r, &c, all[i].n, 0);
		if (fabs(c.window - all[i].want) > 1e-5)
			fail_msg("case %zu: %g, not %g", i, (double)c.window,
			    all[i].want);
		assert_int_equal(c.seen, 100 + all[i].n);
		assert_int_equal(c.backoff, 0);
	}
}

/* What was sent before a cut neither grows the window nor cuts it again: up to the
 * number that it had when it was cut, and not beyond. */
static void a_cut_holds_for_a_window(void **state)
{
	const struct rack r = {
	    .p = {.window_min = 2, .window_max = 1000, .gain = 0.5}};
	(void)state;
	for (uint32_t late = 0; late < 2; late++) {
		struct rack_conn c = {.window = 64,
		    .threshold = 64,
		    .alpha = 1,
		    .flying = 64,
		    .sent = 200,
		    .seen = 136,
		    .round_end = 5000};
		rack_window_hear(&r, &c, 1, 1);
		assert_near(c.window, 32, 1e-5);
		/* Nothing more was to be sent, so it is the last that was. */
		assert_int_equal(c.ahead, 0);
		assert_int_equal(c.cut_end, 200);
		c.seen = 199 + late;
		c.sent = 300;
		rack_window_hear(&r, &c, 2, 1);
		/* It grows by one of them, 1/32, and is cut by half. */
		assert_near(c.window, late ? (32 + 1. / 32) / 2 : 32, 1e-5);
		/* A loss counts by what came behind it. */
		struct rack_conn x = {.window = 64,
		    .threshold = 64,
		    .sent = 300,
		    .seen = 198 + late,
		    .cut_end = 200,
		    .round_end = 5000};
		rack_window_lose(&r, &x, 2, (uint16_t[]){0, 0, 0});
		assert_near(x.window, late ? 32 : 64, 1e-5);
		assert_int_equal(x.owed, 2);
	}
}

/* What came back in the slot makes room, which the cut takes back, up to what there
 * is to send; the segments that went before it are of the time before. */
static void what_goes_before_the_cut_is_of_the_time_before(void **state)
{
	static const struct {
		uint32_t left, owed, ahead;
	} all[] = {{0, 0, 0}, {3, 0, 3}, {2, 2, 4}, {100, 0, 15}, {0, 15, 15},
	    {0, 16, 15}};
	const struct rack r = {
	    .p = {.window_min = 2, .window_max = 1000, .gain = 0.5}};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		/* 64 may be out and 45 are, so there is room for 19, of which 4
		 * came with the mark. */
		struct rack_conn c = {.window = 64,
		    .threshold = 64,
		    .alpha = 1,
		    .flying = 64,
		    .left = all[i].left,
		    .owed = all[i].owed,
		    .sent = 200,
		    .seen = 151,
		    .round_end = 5000};
		rack_window_hear(&r, &c, 4, 4);
		assert_int_equal(c.ahead, all[i].ahead);
		assert_int_equal(c.cut_end, 200 + all[i].ahead);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_loss_is_known_when_three_came_from_behind_it),
	    cmocka_unit_test(a_timeout_ends_all_waiting),
	    cmocka_unit_test(alpha_follows_the_share_marked),
	    cmocka_unit_test(a_mark_costs_half_of_alpha_and_a_loss_a_half),
	    cmocka_unit_test(a_window_grows_by_what_came),
	    cmocka_unit_test(a_cut_holds_for_a_window),
	    cmocka_unit_test(what_goes_before_the_cut_is_of_the_time_before),
	};
	return cmocka_run_group_tests_name("models/rack/window", tests, NULL,
	    NULL);
}
