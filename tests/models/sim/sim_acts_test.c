/* tests/models/sim/sim_acts_test.c -- what agents ask of the simulated fabric.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each kind of action leads to its event, at its host, with its token; what was
 * under way at a host that goes off ends with it.
 */
#include "models/sim/sim.h"

#include "models/truth.h"
#include "tests/rigs/rig.h"
#include "tests/test.h"

static void expect(struct rig *g, enum agent_event_kind kind, topo_host host,
    uint64_t token)
{
	struct rig_event x;
	assert_true(rig_next(g, SIM_NEVER, &x));
	assert_int_equal(x.ev.kind, kind);
	assert_int_equal(x.host, host);
	assert_int_equal(x.ev.token, token);
}

static void each_action_leads_to_its_event(void **state)
{
	const struct {
		enum agent_action_kind act;
		enum agent_event_kind event;
	} t[] = {{AGENT_SET_TIMER, AGENT_TIMER},
	    {AGENT_FETCH, AGENT_FETCH_DONE}, {AGENT_UPLOAD, AGENT_UPLOAD_DONE},
	    {AGENT_SLB_QUERY, AGENT_SLB_REPLY},
	    {AGENT_CONNECT, AGENT_CONNECT_DONE}};
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct agent_action a = {.kind = t[i].act,
		    .token = 77 + i,
		    .tuple = rig_tuple(3, 9, (uint16_t)(2000 + i))};
		rig_act(&g, 3, &a);
		expect(&g, t[i].event, 3, 77 + i);
	}
	rig_close(&g);
}

static void an_answer_ends_the_connect_that_asked(void **state)
{
	struct rig g;
	struct rig_event x;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	const struct topo_tuple t = rig_tuple(2, 20, 4000);
	assert_true(rig_until_asked(&g, &t, 1000, &x));
	assert_int_equal(x.host, 20);
	rig_answer(&g, 20, x.ev.token, 1000);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_int_equal(x.ev.kind, AGENT_CONNECT_DONE);
	assert_int_equal(x.host, 2);
	assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
	assert_true(x.ev.echo_ns > 0);
	rig_close(&g);
}

static struct agent_action timer(sim_ns at, uint64_t token)
{
	return (struct agent_action){.kind = AGENT_SET_TIMER,
	    .token = token,
	    .at_ns = at};
}

/* Off from 1 s to 2 s, and from 3 s to 4 s. */
static void what_a_host_waits_for_ends_when_it_goes_off(void **state)
{
	struct rig g;
	struct rig_event x;
	(void)state;
	rig_open(&g);
	rig_draw(&g);
	for (unsigned i = 0; i < 2; i++)
		rig_add_outage(&g,
		    &(struct truth_outage){.kind = TRUTH_HOST_OFF,
			.id = 5,
			.from_ns = (1 + 2 * i) * SIM_SEC,
			.to_ns = (2 + 2 * i) * SIM_SEC});
	rig_begin(&g);
	/* Of its own and of another host, which goes on. */
	for (uint64_t k = 0; k <= 8; k++) {
		const struct agent_action a =
		    timer((2 * k + 1) * SIM_SEC / 4, k);
		rig_act(&g, 5, &a);
		rig_act(&g, 6, &a);
	}
	for (uint64_t k = 0; k <= 8; k++) {
		if (k == 4 || k == 8) {
			expect(&g, AGENT_START, 5, 0);
			assert_int_equal(rig_now(&g), k * SIM_SEC / 2);
		}
		if (k == 4) { /* before the next outage, and in it */
			const struct agent_action in =
			    timer(9 * SIM_SEC / 4 + 1, 100);
			const struct agent_action late =
			    timer(7 * SIM_SEC / 2, 101);
			rig_act(&g, 5, &in);
			rig_act(&g, 5, &late);
		}
		if (k < 2)
			expect(&g, AGENT_TIMER, 5, k);
		expect(&g, AGENT_TIMER, 6, k);
		if (k == 4)
			expect(&g, AGENT_TIMER, 5, 100);
	}
	assert_false(rig_next(&g, SIM_NEVER, &x));
	rig_close(&g);
}

/* What is under way takes memory; what is over gives it to what comes. */
static void memory_is_that_of_what_is_under_way(void **state)
{
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	size_t most[2];
	for (unsigned half = 0; half < 2; half++) {
		test_peak_alloc();
		for (uint64_t k = 0; k < 20000; k++) {
			const struct agent_action a =
			    timer(rig_now(&g) + 1000, k);
			rig_act(&g, 1, &a);
			expect(&g, AGENT_TIMER, 1, k);
		}
		most[half] = test_peak_alloc();
	}
	assert_true(most[0] < 100000);
	assert_int_equal(most[1], 0);
	rig_close(&g);
}

static void it_says_what_it_can_do(void **state)
{
	struct rig g;
	struct rig_event x;
	size_t n;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	assert_int_equal(g.f->caps.clock_res_ns, 1);
	assert_int_equal(g.f->caps.can_probe_ttl, 1);
	assert_int_equal(g.f->caps.sees_flows, 1);
	/* 0, with an event and without one. */
	const struct agent_action a = timer(SIM_SEC, 1);
	rig_act(&g, 0, &a);
	for (size_t want = 1; want <= 1; want--) {
		assert_int_equal(g.f->ops->poll(g.f, SIM_NEVER, &x.ev, &x.host,
				     &x.at, 1, &n, test_err()),
		    0);
		assert_int_equal(n, want);
	}
	rig_close(&g);
	fabric_sim_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_action_leads_to_its_event),
	    cmocka_unit_test(an_answer_ends_the_connect_that_asked),
	    cmocka_unit_test(what_a_host_waits_for_ends_when_it_goes_off),
	    cmocka_unit_test(memory_is_that_of_what_is_under_way),
	    cmocka_unit_test(it_says_what_it_can_do),
	};
	return cmocka_run_group_tests_name("models/sim/sim acts", tests, NULL,
	    NULL);
}
