/* tests/algos/millisampler/schedule_test.c -- days of a host, by what must hold.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/schedule.h"
#include "tests/test.h"

static struct algo_schedule_params defaults(void)
{
	struct algo_schedule_params p;
	assert_ok(sim_field_defaults(algo_schedule_fields, &p, test_err()));
	return p;
}

/* A host whose sampler gets a packet GAP after it was armed; SIM_NEVER: none
 * comes. Counts what the schedule did until END. */
struct day {
	uint32_t n_of[ALGO_N_WIDTHS], n_sync, n_take, n_drop, n_wait;
	sim_ns first_sync, longest, last_arm;
};

static struct day live(struct algo_schedule *s, sim_ns now, sim_ns end,
    sim_ns gap, sim_ns late, struct sim_rng *r)
{
	struct day d = {.first_sync = SIM_NEVER};
	sim_ns armed = SIM_NEVER, width = 0, last = now;
	while (now < end) {
		const sim_ns begun =
		    armed == SIM_NEVER || gap == SIM_NEVER || armed + gap > now
		    ? SIM_NEVER
		    : armed + gap;
		const struct algo_schedule_step step =
		    algo_schedule_next(s, now, begun, r);
		switch (step.todo) {
		case ALGO_SCHEDULE_ARM:
			assert_int_equal(armed, SIM_NEVER);
			armed = now;
			width = step.width_ns;
			for (int i = 0; i < ALGO_N_WIDTHS; i++)
				d.n_of[i] +=
				    !step.sync && width == algo_width_ns[i];
			d.n_sync += step.sync;
			d.last_arm = now;
			if (step.sync && d.first_sync == SIM_NEVER)
				d.first_sync = now;
			break;
		case ALGO_SCHEDULE_TAKE:
			assert_int_equal(step.width_ns, width);
			/* All of its buckets are over, or none ever began. */
			assert_true(begun == SIM_NEVER
				? now >= armed + 2000 * width
				: now >= begun + 2000 * width);
			assert_true(now <= armed + 4002 * width + late);
			d.longest =
			    now - armed > d.longest ? now - armed : d.longest;
			armed = SIM_NEVER;
			d.n_take++;
			break;
		case ALGO_SCHEDULE_DROP:
			assert_int_not_equal(armed, SIM_NEVER);
			armed = SIM_NEVER;
			d.n_drop++;
			break;
		case ALGO_SCHEDULE_WAIT:
			assert_true(step.wake > now);
			now = step.wake +
			    (late > 0 ? sim_rng_below(r, (uint32_t)late) : 0);
			d.n_wait++;
		}
		assert_true(last <= now);
		last = now;
	}
	return d;
}

static void widths_take_turns_once_in_every(void **state)
{
	const struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_ok(algo_schedule_init(&s, &p, 1000 * SIM_SEC, &r, test_err()));
	/* 600 minutes, of which the last run may be still to come. */
	const struct day d =
	    live(&s, 1000 * SIM_SEC, 37000 * SIM_SEC, 300 * SIM_US, 0, &r);
	for (int i = 0; i < ALGO_N_WIDTHS; i++)
		assert_in_range(d.n_of[i], 199, 200);
	assert_int_equal(d.n_sync, 0);
	assert_int_equal(d.n_drop, 0);
	assert_int_equal(s.n_left_out, 0);
	/* Steps: a run takes at most a look or two. */
	assert_true(d.n_wait < 4 * 600);
}

/* 20 s of buckets do not fit into 10 s: times meanwhile are left out. */
static void runs_do_not_overlap(void **state)
{
	struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_rng r;
	(void)state;
	p.every_s = 10;
	test_rng(&r, 1);
	assert_ok(algo_schedule_init(&s, &p, 0, &r, test_err()));
	const struct day d =
	    live(&s, 0, 36000 * SIM_SEC, SIM_MS, 50 * SIM_US, &r);
	assert_true(s.n_left_out > 500);
	assert_in_range(s.n_left_out + s.n_runs, 3598, 3600);
	assert_true(d.n_of[0] > 600);
	assert_in_range(d.n_of[1], d.n_of[0] - 1, d.n_of[0] + 1);
	assert_in_range(d.n_of[2], d.n_of[0] - 1, d.n_of[0] + 1);
}

static void a_quiet_host_has_runs_too(void **state)
{
	const struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 2);
	assert_ok(algo_schedule_init(&s, &p, 0, &r, test_err()));
	const struct day d = live(&s, 0, 36000 * SIM_SEC, SIM_NEVER, 0, &r);
	assert_in_range(d.n_take, 599, 600);
	assert_int_equal(d.longest, 2000 * algo_width_ns[0]);
}

/* A packet that comes last of all, when the host was about to give up. */
static void a_run_may_wait_for_its_first_packet(void **state)
{
	struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_rng r;
	(void)state;
	p.widths = 1u << ALGO_WIDTH_AT_1MS;
	test_rng(&r, 3);
	assert_ok(algo_schedule_init(&s, &p, 0, &r, test_err()));
	const struct day d =
	    live(&s, 0, 3600 * SIM_SEC, 2 * SIM_SEC - 1, 0, &r);
	assert_in_range(d.n_take, 59, 60);
	assert_int_equal(d.longest, 4 * SIM_SEC - 1 + SIM_MS);
}

static void hosts_of_a_rack_begin_together(void **state)
{
	struct algo_schedule_params p = defaults();
	(void)state;
	p.sync_every_s = 120;
	p.sync_at_s = 7;
	for (uint32_t host = 0; host < 50; host++) {
		struct algo_schedule s;
		struct sim_rng r;
		test_rng(&r, host);
		const sim_ns begin = (900 + host) * SIM_SEC + host;
		assert_ok(algo_schedule_init(&s, &p, begin, &r, test_err()));
		const struct day d =
		    live(&s, begin, 40000 * SIM_SEC, host * SIM_MS, 0, &r);
		assert_int_equal(d.first_sync, 967 * SIM_SEC);
		assert_int_equal(d.n_sync, 326);
		/* The widest is left out more often, but not always. */
		assert_true(d.n_of[0] > 50);
		assert_true(d.n_of[2] > 150);
	}
}

static void who_comes_late_to_the_rack_leaves_it_out(void **state)
{
	struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_rng r;
	(void)state;
	p.widths = 0;
	p.sync_every_s = 60;
	test_rng(&r, 4);
	assert_ok(algo_schedule_init(&s, &p, SIM_SEC, &r, test_err()));
	struct algo_schedule_step step =
	    algo_schedule_next(&s, SIM_SEC, SIM_NEVER, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_WAIT);
	assert_int_equal(step.wake, 60 * SIM_SEC);
	step = algo_schedule_next(&s, 60 * SIM_SEC + 100 * SIM_MS + 1,
	    SIM_NEVER, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_WAIT);
	assert_int_equal(step.wake, 120 * SIM_SEC);
	assert_int_equal(s.n_left_out, 1);
	step =
	    algo_schedule_next(&s, 120 * SIM_SEC + 100 * SIM_MS, SIM_NEVER, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_ARM);
	assert_int_equal(step.sync, 1);
	assert_int_equal(step.width_ns, SIM_MS);
}

static void a_clock_that_goes_back_spoils_the_run(void **state)
{
	const struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_rng r;
	struct algo_schedule_step step;
	(void)state;
	test_rng(&r, 5);
	const sim_ns t0 = 500000 * SIM_SEC;
	assert_ok(algo_schedule_init(&s, &p, t0, &r, test_err()));
	step = algo_schedule_next(&s, t0 + 200 * SIM_SEC, SIM_NEVER, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_ARM);
	/* An hour back; the run's start is still to come. */
	const sim_ns back = t0 - 3600 * SIM_SEC;
	step = algo_schedule_next(&s, back, t0 + 200 * SIM_SEC, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_DROP);
	step = algo_schedule_next(&s, back, SIM_NEVER, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_WAIT);
	/* It goes on within `every` and jitter, not in an hour. */
	assert_true(step.wake <= back + 90 * SIM_SEC);
	/* The same when only the sampler's clock is another. */
	step = algo_schedule_next(&s, back + 200 * SIM_SEC, SIM_NEVER, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_ARM);
	step = algo_schedule_next(&s, back + 201 * SIM_SEC, t0, &r);
	assert_int_equal(step.todo, ALGO_SCHEDULE_DROP);
	assert_int_equal(s.n_dropped, 2);
}

/* Sleep for a year: one run at once, and no storm behind it. */
static void a_host_that_slept_makes_up_for_nothing(void **state)
{
	const struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 6);
	assert_ok(algo_schedule_init(&s, &p, 0, &r, test_err()));
	const sim_ns year = 31536000 * SIM_SEC;
	const struct day d =
	    live(&s, year, year + 3600 * SIM_SEC, SIM_MS, 0, &r);
	assert_in_range(d.n_take, 59, 61);
}

static void what_cannot_fit_is_refused(void **state)
{
	struct algo_schedule_params p = defaults();
	struct algo_schedule s;
	struct sim_err e = {0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 7);
	p.sync_every_s = 44;
	assert_int_equal(algo_schedule_init(&s, &p, 0, &r, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "sync_every 44 s leaves no time for a run of 10ms beside one of "
	    "the rack: they may take 44.0 s.");
	p.sync_every_s = 44.1;
	assert_ok(algo_schedule_init(&s, &p, 0, &r, test_err()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(widths_take_turns_once_in_every),
	    cmocka_unit_test(runs_do_not_overlap),
	    cmocka_unit_test(a_quiet_host_has_runs_too),
	    cmocka_unit_test(a_run_may_wait_for_its_first_packet),
	    cmocka_unit_test(hosts_of_a_rack_begin_together),
	    cmocka_unit_test(who_comes_late_to_the_rack_leaves_it_out),
	    cmocka_unit_test(a_clock_that_goes_back_spoils_the_run),
	    cmocka_unit_test(a_host_that_slept_makes_up_for_nothing),
	    cmocka_unit_test(what_cannot_fit_is_refused),
	};
	return cmocka_run_group_tests_name("algos/millisampler/schedule", tests,
	    NULL, NULL);
}
