/* tests/algos/planner/orders_test.c -- messages of scouts: whole or not at all.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here is statistical: no false alarms.
 */
#include "algos/planner/orders.h"

#include "sim/bytes.h"
#include "tests/test.h"

struct orders_rig {
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_answer answer[ALGO_SCOUT_JOBS];
	unsigned char jobs[ALGO_SCOUT_MESSAGE], answers[ALGO_SCOUT_MESSAGE];
	size_t n_jobs, n_answers; /* bytes */
	struct algo_scout_head head;
};

static void orders_draw(struct orders_rig *x, uint32_t run)
{
	struct sim_rng r;
	*x = (struct orders_rig){0};
	test_rng(&r, run);
	x->head = (struct algo_scout_head){sim_rng_u32(&r), run % 2,
	    run == 0 ? ALGO_SCOUT_JOBS : sim_rng_below(&r, ALGO_SCOUT_JOBS)};
	for (size_t i = 0; i < x->head.n; i++) {
		struct algo_scout_answer *a = &x->answer[i];
		x->job[i] =
		    (struct algo_scout_job){sim_rng_u32(&r), sim_rng_u32(&r),
			(uint16_t)sim_rng_u32(&r), (uint16_t)sim_rng_u32(&r),
			sim_rng_below(&r, ALGO_SCOUT_MOST + 1)};
		a->id = sim_rng_u32(&r);
		a->n_sent = sim_rng_below(&r, ALGO_SCOUT_MOST + 1);
		a->n_lost = sim_rng_below(&r, a->n_sent + 1);
		a->n_hops = (uint8_t)sim_rng_below(&r, TOPO_MAX_HOPS + 1);
		for (unsigned k = 0; k < a->n_hops; k++)
			a->hop_ip[k] = sim_rng_u32(&r);
	}
	x->n_jobs = algo_scout_write_jobs(&x->head, x->job, x->jobs);
	x->head.flags = 0;
	x->n_answers =
	    algo_scout_write_answers(&x->head, x->answer, x->answers);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		static struct orders_rig x;
		struct algo_scout_head h;
		struct algo_scout_job job[ALGO_SCOUT_JOBS];
		struct algo_scout_answer answer[ALGO_SCOUT_JOBS];
		orders_draw(&x, run);
		assert_ok(algo_scout_read_jobs(x.jobs, x.n_jobs, &h, job,
		    test_err()));
		assert_int_equal(h.round, x.head.round);
		assert_int_equal(h.flags, run % 2);
		assert_int_equal(h.n, x.head.n);
		assert_memory_equal(job, x.job, h.n * sizeof(job[0]));
		assert_ok(algo_scout_read_answers(x.answers, x.n_answers, &h,
		    answer, test_err()));
		assert_int_equal(h.round, x.head.round);
		assert_int_equal(h.n, x.head.n);
		for (size_t i = 0; i < h.n; i++) {
			assert_int_equal(answer[i].n_lost, x.answer[i].n_lost);
			assert_int_equal(answer[i].n_hops, x.answer[i].n_hops);
			assert_memory_equal(answer[i].hop_ip,
			    x.answer[i].hop_ip, sizeof(answer[i].hop_ip));
		}
	}
}

/* Any one byte another, any one cut or more: refused, and nothing is written. */
static void what_was_changed_is_refused(void **state)
{
	static struct orders_rig x;
	struct algo_scout_head h = {.n = 12345};
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_answer answer[ALGO_SCOUT_JOBS];
	(void)state;
	orders_draw(&x, 3);
	for (size_t i = 0; i < x.n_jobs; i++) {
		x.jobs[i] ^= 0x11;
		assert_true(
		    algo_scout_read_jobs(x.jobs, x.n_jobs, &h, job, NULL) < 0);
		x.jobs[i] ^= 0x11;
		assert_true(algo_scout_read_jobs(x.jobs, i, &h, job, NULL) < 0);
	}
	for (size_t i = 0; i < x.n_answers; i++) {
		x.answers[i] ^= 0x40;
		assert_true(algo_scout_read_answers(x.answers, x.n_answers, &h,
				answer, NULL) < 0);
		x.answers[i] ^= 0x40;
		assert_true(algo_scout_read_answers(x.answers, i, &h, answer,
				NULL) < 0);
	}
	/* One is not the other. */
	assert_true(
	    algo_scout_read_answers(x.jobs, x.n_jobs, &h, answer, NULL) < 0);
	assert_int_equal(h.n, 12345);
}

static void orders_sum_anew(unsigned char *p, size_t n)
{
	sim_store_64(p + n - ALGO_SCOUT_CHECK,
	    sim_fnv(SIM_FNV_START, p, n - ALGO_SCOUT_CHECK));
}

static void what_none_may_say_is_told(void **state)
{
	static struct orders_rig x;
	struct algo_scout_head h;
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_answer answer[ALGO_SCOUT_JOBS];
	struct sim_err e;
	(void)state;
	orders_draw(&x, 0);
	sim_store_32(x.jobs + 16 + 16 + 12, ALGO_SCOUT_MOST + 1);
	orders_sum_anew(x.jobs, x.n_jobs);
	assert_int_equal(algo_scout_read_jobs(x.jobs, x.n_jobs, &h, job, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "Job 1 is of 16777217 connects: at most 16777216 are allowed.");
	x.answers[16 + 80 + 12] = TOPO_MAX_HOPS + 1;
	orders_sum_anew(x.answers, x.n_answers);
	assert_int_equal(algo_scout_read_answers(x.answers, x.n_answers, &h,
			     answer, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "Answer 1 has 17 hops: at most 16 are allowed.");
	sim_store_32(x.answers + 16 + 4, 7);
	sim_store_32(x.answers + 16 + 8, 8);
	orders_sum_anew(x.answers, x.n_answers);
	assert_int_equal(algo_scout_read_answers(x.answers, x.n_answers, &h,
			     answer, &e),
	    SIM_ERANGE);
	sim_store_32(x.answers + 12, ALGO_SCOUT_JOBS + 1);
	assert_int_equal(algo_scout_read_answers(x.answers, x.n_answers, &h,
			     answer, &e),
	    SIM_ELIMIT);
	sim_store_32(x.answers + 12, 3);
	assert_int_equal(algo_scout_read_answers(x.answers, x.n_answers, &h,
			     answer, &e),
	    SIM_EPARSE);
	assert_string_equal(e.msg,
	    "A message of 3 answers has 5144 bytes, not 264.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(what_was_changed_is_refused),
	    cmocka_unit_test(what_none_may_say_is_told),
	};
	return cmocka_run_group_tests_name("algos/planner/orders", tests, NULL,
	    NULL);
}
