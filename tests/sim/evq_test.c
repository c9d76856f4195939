/* tests/sim/evq_test.c -- the event queue against a heap, bounds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"

#include "sim/evq.h"
#include "tests/rigs/evq_heap.h"

/* --- delays ----------------------------------------------------------------*/
struct delays {
	const char *name;
	sim_ns (*draw)(struct sim_rng *r);
};

static sim_ns exponential(struct sim_rng *r)
{
	return (sim_ns)(-log(sim_rng_u01_open(r)) * 1e6);
}

/* With index 0.9 the law has no mean: some events are very far away. */
static sim_ns pareto(struct sim_rng *r)
{
	return (sim_ns)(100 * pow(sim_rng_u01_open(r), -1 / 0.9));
}

static sim_ns bimodal(struct sim_rng *r)
{
	return sim_rng_below(r, 10) ? 900 + sim_rng_below(r, 200)
				    : SIM_SEC + sim_rng_below(r, 1000000);
}

static sim_ns constant(struct sim_rng *r)
{
	(void)r;
	return 12345;
}

static sim_ns zero(struct sim_rng *r)
{
	(void)r;
	return 0;
}

static sim_ns few_values(struct sim_rng *r)
{
	return sim_rng_below(r, 3) * 64;
}

/* Next to where a digit of the clock turns, and often exactly now. */
static sim_ns near_powers_of_64(struct sim_rng *r)
{
	if (sim_rng_below(r, 4) == 0)
		return 0;
	sim_ns power = (sim_ns)1 << 6 * sim_rng_below(r, 9);
	return power - 1 + sim_rng_below(r, 3);
}

/* Any magnitude up to 2^56; a few hundred of them stay below SIM_NEVER. */
static sim_ns any_magnitude(struct sim_rng *r)
{
	uint64_t word = (uint64_t)sim_rng_u32(r) << 32 | sim_rng_u32(r);
	return word >> (8 + sim_rng_below(r, 56));
}

static const struct delays all_delays[] = {
    {"exponential", exponential},
    {"pareto", pareto},
    {"bimodal", bimodal},
    {"constant", constant},
    {"zero", zero},
    {"few values", few_values},
    {"near powers of 64", near_powers_of_64},
};
enum { N_DELAYS = sizeof(all_delays) / sizeof(all_delays[0]) };

/* --- the queue and the heap, side by side ----------------------------------*/
struct twins {
	struct sim_evq *q;
	struct evq_heap heap;
	sim_ns now;
	uint64_t n_put;
	const char *what;
	uint32_t run;
};

static void twins_open(struct twins *w, const char *what, uint32_t run)
{
	*w = (struct twins){.what = what, .run = run};
	assert_ok(sim_evq_open(&w->q, test_err()));
}

static void twins_close(struct twins *w)
{
	sim_evq_close(w->q);
	evq_heap_free(&w->heap);
}

/* sim_evq_run() calls this with each event, which must be the next one of the
 * heap. */
static int compare(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	struct twins *w = ev->arg;
	struct sim_event want = {0};
	evq_heap_pop(&w->heap, SIM_NEVER, &want);
	if (want.t != ev->t || want.aux != ev->aux || sim_evq_now(q) != ev->t)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s, seed %llu, run %u: ran event %llu at %llu, wanted "
		    "%llu at %llu.",
		    w->what, (unsigned long long)test_seed(), w->run,
		    (unsigned long long)ev->aux, (unsigned long long)ev->t,
		    (unsigned long long)want.aux, (unsigned long long)want.t);
	return 0;
}

static void put_both(struct twins *w, sim_ns t)
{
	const struct sim_event ev = {t, compare, w, w->n_put++};
	assert_ok(sim_evq_put(w->q, &ev, test_err()));
	assert_ok(evq_heap_put(&w->heap, &ev, test_err()));
}

/* Pop from the queue and from the heap, and compare. Returns 1 if there was an
 * event before UNTIL. */
static int pop_both(struct twins *w, sim_ns until)
{
	struct sim_event got = {0}, want = {0};
	int rc_got = sim_evq_pop(w->q, until, &got);
	int rc_want = evq_heap_pop(&w->heap, until, &want);
	if (rc_want)
		w->now = want.t;
	if (rc_got != rc_want || got.t != want.t || got.aux != want.aux ||
	    sim_evq_now(w->q) != w->now || sim_evq_len(w->q) != w->heap.n)
		fail_msg("%s, seed %llu, run %u, until %llu: popped (%d) "
			 "event %llu at %llu, wanted (%d) %llu at %llu",
		    w->what, (unsigned long long)test_seed(), w->run,
		    (unsigned long long)until, rc_got,
		    (unsigned long long)got.aux, (unsigned long long)got.t,
		    rc_want, (unsigned long long)want.aux,
		    (unsigned long long)want.t);
	return rc_want;
}

static void run_both(struct twins *w, sim_ns until)
{
	assert_ok(sim_evq_run(w->q, until, test_err()));
	assert_true(w->heap.n == 0 || w->heap.item[0].ev.t > until);
	assert_int_equal(sim_evq_len(w->q), w->heap.n);
	assert_true(sim_evq_now(w->q) == until);
	w->now = until;
}

static void drain(struct twins *w)
{
	while (pop_both(w, SIM_NEVER))
		;
	assert_int_equal(sim_evq_len(w->q), 0);
}

/* N pending all the time: pop one, put one. */
static void hold(const struct delays *d, uint32_t run, unsigned n,
    unsigned n_ops)
{
	struct twins w;
	struct sim_rng r;
	twins_open(&w, d->name, run);
	test_rng(&r, run);
	for (unsigned i = 0; i < n; i++)
		put_both(&w, d->draw(&r));
	for (unsigned i = 0; i < n_ops; i++) {
		pop_both(&w, SIM_NEVER);
		put_both(&w, w.now + d->draw(&r));
	}
	drain(&w);
	twins_close(&w);
}

static void pops_in_the_order_of_a_heap_for_any_delays(void **state)
{
	(void)state;
	static const unsigned sizes[] = {1, 2, 24, 25, 47, 48, 49, 1000, 30000};
	uint32_t run = 100;
	for (int d = 0; d < N_DELAYS; d++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			hold(&all_delays[d], run++, sizes[i],
			    2 * sizes[i] + 2000);
}

/* Puts, pops, pops that come too early and puts after those, runs that set the
 * clock forward, in phases. */
static void mixed(uint32_t run)
{
	struct twins w;
	struct sim_rng r;
	test_rng(&r, run);
	const struct delays *d = &all_delays[sim_rng_below(&r, N_DELAYS)];
	twins_open(&w, d->name, run);
	for (int phase = 0; phase < 12; phase++) {
		uint32_t put_share = sim_rng_below(&r, 101);
		uint32_t n_ops = 1 + sim_rng_below(&r, 400);
		for (uint32_t i = 0; i < n_ops; i++) {
			if (sim_rng_below(&r, 16) == 0)
				d = &all_delays[sim_rng_below(&r, N_DELAYS)];
			if (sim_rng_below(&r, 100) < put_share)
				put_both(&w, w.now + d->draw(&r));
			else if (sim_rng_below(&r, 8) == 0)
				run_both(&w, w.now + d->draw(&r) / 16);
			else if (sim_rng_below(&r, 2))
				pop_both(&w, w.now + d->draw(&r));
			else
				pop_both(&w, SIM_NEVER);
		}
	}
	drain(&w);
	twins_close(&w);
}

static void pops_in_the_order_of_a_heap_in_mixed_phases(void **state)
{
	(void)state;
	for (uint32_t run = 1000; run < 1600; run++)
		mixed(run);
}

static void pops_in_the_order_of_a_heap_up_to_the_end_of_time(void **state)
{
	(void)state;
	const struct delays d = {"any magnitude", any_magnitude};
	for (uint32_t run = 2000; run < 2200; run++) {
		struct twins w;
		struct sim_rng r;
		twins_open(&w, d.name, run);
		test_rng(&r, run);
		put_both(&w, SIM_NEVER - 1);
		put_both(&w, (sim_ns)1 << 63);
		put_both(&w, ((sim_ns)1 << 63) - 1);
		put_both(&w, SIM_NEVER - 1);
		for (unsigned i = 0; i < 100; i++) {
			put_both(&w, w.now + d.draw(&r));
			if (i % 2)
				pop_both(&w, w.now + d.draw(&r));
		}
		drain(&w);
		assert_true(sim_evq_now(w.q) == SIM_NEVER - 1);
		for (unsigned i = 0; i < 200; i++)
			put_both(&w, SIM_NEVER - 1);
		drain(&w);
		twins_close(&w);
	}
}

/* The top slot of the wheel ends at 2^64, which no sim_ns holds. */
static void an_event_goes_before_those_sorted_in_the_last_slot(void **state)
{
	(void)state;
	struct twins w;
	twins_open(&w, "last slot", 0);
	const sim_ns start = (sim_ns)15 << 60;
	put_both(&w, start + 5);
	put_both(&w, start + 1000);
	put_both(&w, SIM_NEVER - 1);
	pop_both(&w, SIM_NEVER);
	put_both(&w, start + 10);
	put_both(&w, start + 5);
	put_both(&w, start + 2000);
	drain(&w);
	twins_close(&w);
}

/* A crowd later than the pop asks for, in every alignment to the digits; then
 * another crowd between now and the first. */
static void a_pop_in_vain_leaves_room_for_earlier_events(void **state)
{
	(void)state;
	for (uint32_t run = 3000; run < 3300; run++) {
		struct twins w;
		struct sim_rng r;
		twins_open(&w, "pop in vain", run);
		test_rng(&r, run);
		uint32_t width = 1 + sim_rng_below(&r, 5000);
		sim_ns start = sim_rng_below(&r, 1u << 20);
		for (int i = 0; i < 80; i++)
			put_both(&w, start + 2 + sim_rng_below(&r, width));
		for (int i = 0; i < 20; i++) {
			assert_false(pop_both(&w, start + 1));
			put_both(&w, start + 2 + sim_rng_below(&r, width));
		}
		for (int i = 0; i < 80; i++) {
			sim_ns t = sim_rng_below(&r, (uint32_t)start + 2);
			put_both(&w, t < w.now ? w.now : t);
			if (i % 8 == 7)
				pop_both(&w,
				    sim_rng_below(&r, (uint32_t)start + 2));
		}
		drain(&w);
		twins_close(&w);
	}
}

/* --- errors and memory -----------------------------------------------------*/
static void an_event_before_now_or_at_never_is_an_error(void **state)
{
	(void)state;
	struct twins w;
	twins_open(&w, "errors", 0);
	put_both(&w, 7);
	put_both(&w, 9);
	pop_both(&w, SIM_NEVER);
	const struct sim_event past = {.t = 6}, never = {.t = SIM_NEVER};
	struct sim_err e;
	assert_int_equal(sim_evq_put(w.q, &past, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "an event at 6 ns is before the clock, 7 ns.");
	assert_int_equal(sim_evq_put(w.q, &never, &e), SIM_EINVAL);
	assert_int_equal(sim_evq_put(w.q, &never, NULL), SIM_EINVAL);
	assert_int_equal(sim_evq_len(w.q), 1);
	put_both(&w, 7);
	drain(&w);
	twins_close(&w);
	sim_evq_close(NULL);
}

static int fill_and_drain(void *arg, struct sim_err *e)
{
	(void)arg;
	struct sim_evq *q = NULL;
	int rc = sim_evq_open(&q, e);
	if (rc < 0)
		return rc;
	unsigned n = 0;
	for (; n < 20000; n++) {
		const struct sim_event ev = {.t = n * 7919 % 20000};
		if ((rc = sim_evq_put(q, &ev, e)) < 0)
			break;
	}
	/* What was put before the failure is all there, and one fits where
	 * one was taken. */
	assert_int_equal(sim_evq_len(q), n);
	struct sim_event ev;
	sim_ns last = 0;
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(sim_evq_pop(q, SIM_NEVER, &ev), 1);
		assert_true(ev.t >= last);
		last = ev.t;
		if (i < 100)
			assert_int_equal(sim_evq_put(q, &ev, NULL), 0);
		if (i < 100)
			assert_int_equal(sim_evq_pop(q, SIM_NEVER, &ev), 1);
	}
	assert_int_equal(sim_evq_pop(q, SIM_NEVER, &ev), 0);
	sim_evq_close(q);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	test_each_alloc_fails(fill_and_drain, NULL);
}

/* The worst case for the reserve of chunks: every slot of every level holds
 * one event more than a full chunk, so that all last chunks are almost empty,
 * and there are as many events as the next put would grow the queue for. */
static void moving_events_needs_no_memory(void **state)
{
	(void)state;
	struct twins w;
	twins_open(&w, "reserve", 0);
	for (unsigned level = 0; level < 11; level++)
		for (unsigned d = 0; d < (level < 10 ? 64 : 15); d++)
			for (unsigned i = 0; i < 32; i++)
				put_both(&w,
				    (sim_ns)d << 6 * level | (level ? i : 0));
	for (;;) {
		const struct sim_event ev = {SIM_NEVER - 1, .aux = w.n_put};
		test_fail_alloc(1);
		int rc = sim_evq_put(w.q, &ev, NULL);
		test_fail_alloc(0);
		if (rc == SIM_ENOMEM)
			break;
		w.n_put++;
		assert_ok(evq_heap_put(&w.heap, &ev, test_err()));
	}
	drain(&w);
	assert_int_equal(test_fail_alloc(0), 0);
	twins_close(&w);
}

static void memory_is_used_again(void **state)
{
	(void)state;
	struct twins w;
	struct sim_rng r;
	twins_open(&w, "memory", 0);
	test_rng(&r, 4000);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 20000; i++)
			put_both(&w, w.now + exponential(&r));
		if (round > 0)
			assert_int_equal(test_fail_alloc(0), 0);
		drain(&w);
		test_fail_alloc(0);
	}
	twins_close(&w);
}

/* --- run -------------------------------------------------------------------*/
struct trace {
	unsigned n;
	uint64_t seen[16];
};

static int note(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	(void)e;
	struct trace *trace = ev->arg;
	assert_true(sim_evq_now(q) == ev->t);
	trace->seen[trace->n++] = ev->aux;
	return 0;
}

static int give_up(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	(void)q;
	return sim_fail(e, SIM_ELIMIT, "event %llu fails.",
	    (unsigned long long)ev->aux);
}

/* Puts one at exactly now: it runs after those that are there already. */
static int breed(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	const struct sim_event child = {ev->t, note, ev->arg, ev->aux + 100};
	int rc = note(q, ev, e);
	return rc < 0 ? rc : sim_evq_put(q, &child, e);
}

static void put(struct sim_evq *q, sim_ns t, sim_event_fn *fn, void *arg,
    uint64_t aux)
{
	const struct sim_event ev = {t, fn, arg, aux};
	assert_ok(sim_evq_put(q, &ev, test_err()));
}

static void run_stops_after_until_and_sets_the_clock(void **state)
{
	(void)state;
	struct trace trace = {0};
	struct sim_evq *q;
	assert_ok(sim_evq_open(&q, test_err()));
	put(q, 30, note, &trace, 3);
	put(q, 10, breed, &trace, 1);
	put(q, 10, note, &trace, 2);
	assert_ok(sim_evq_run(q, 10, test_err()));
	assert_int_equal(trace.n, 3);
	assert_int_equal(trace.seen[1], 2);
	assert_int_equal(trace.seen[2], 101);
	assert_ok(sim_evq_run(q, 29, test_err()));
	assert_int_equal(trace.n, 3);
	assert_true(sim_evq_now(q) == 29);
	assert_ok(sim_evq_run(q, 5, test_err()));
	assert_true(sim_evq_now(q) == 29);
	const struct sim_event past = {.t = 28};
	assert_int_equal(sim_evq_put(q, &past, NULL), SIM_EINVAL);
	put(q, 29, note, &trace, 4);
	assert_ok(sim_evq_run(q, SIM_NEVER, test_err()));
	assert_int_equal(trace.n, 5);
	assert_int_equal(trace.seen[3], 4);
	assert_int_equal(trace.seen[4], 3);
	assert_true(sim_evq_now(q) == 30);
	assert_ok(sim_evq_run(q, 1000, test_err()));
	assert_true(sim_evq_now(q) == 1000);
	sim_evq_close(q);
}

static void an_error_of_a_handler_ends_the_run(void **state)
{
	(void)state;
	struct trace trace = {0};
	struct sim_evq *q;
	struct sim_err e;
	assert_ok(sim_evq_open(&q, test_err()));
	put(q, 1, note, &trace, 1);
	put(q, 2, give_up, NULL, 7);
	put(q, 2, note, &trace, 2);
	assert_int_equal(sim_evq_run(q, 99, &e), SIM_ELIMIT);
	assert_string_equal(e.msg, "event 7 fails.");
	assert_true(sim_evq_now(q) == 2);
	assert_int_equal(trace.n, 1);
	assert_ok(sim_evq_run(q, 99, test_err()));
	assert_int_equal(trace.n, 2);
	assert_true(sim_evq_now(q) == 99);
	sim_evq_close(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pops_in_the_order_of_a_heap_for_any_delays),
	    cmocka_unit_test(pops_in_the_order_of_a_heap_in_mixed_phases),
	    cmocka_unit_test(pops_in_the_order_of_a_heap_up_to_the_end_of_time),
	    cmocka_unit_test(
		an_event_goes_before_those_sorted_in_the_last_slot),
	    cmocka_unit_test(a_pop_in_vain_leaves_room_for_earlier_events),
	    cmocka_unit_test(an_event_before_now_or_at_never_is_an_error),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(moving_events_needs_no_memory),
	    cmocka_unit_test(memory_is_used_again),
	    cmocka_unit_test(run_stops_after_until_and_sets_the_clock),
	    cmocka_unit_test(an_error_of_a_handler_ends_the_run),
	};
	return cmocka_run_group_tests_name("sim/evq", tests, NULL, NULL);
}
