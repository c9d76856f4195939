/* tests/models/sim/http_test.c -- HTTP pings in simulated time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One random law, whose median is held to 5.5 standard errors (4e-8).
 */
#include <math.h>

#include "models/http_ping.h"
#include "models/sim/rtt_profile.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"

#define FAR 20 /* in the other pod, for host 0 */

static void http_ping(struct rig *g, uint16_t port)
{
	const struct agent_action a = {.kind = AGENT_CONNECT,
	    .ping = AGENT_PING_HTTP,
	    .tuple = rig_tuple(0, FAR, port),
	    .token = 5};
	rig_act(g, 0, &a);
}

/* Go on until the other end's agent is asked, which X then is. */
static void until_asked(struct rig *g, uint16_t port, struct rig_event *x)
{
	http_ping(g, port);
	assert_true(rig_next(g, SIM_NEVER, x));
	assert_int_equal(x->ev.kind, AGENT_PING_REQUEST);
	assert_int_equal(x->host, FAR);
	assert_true(x->ev.n == 0);
}

static void ends_with(struct rig *g, enum agent_outcome outcome,
    enum agent_answer answer, struct rig_event *x)
{
	assert_true(rig_next(g, SIM_NEVER, x));
	assert_int_equal(x->ev.kind, AGENT_CONNECT_DONE);
	assert_int_equal(x->host, 0);
	assert_int_equal(x->ev.outcome, outcome);
	assert_int_equal(x->ev.answer, answer);
	assert_true((x->ev.echo_ns > 0) == (answer == AGENT_ANSWER_OK));
}

/* The handshake first, then GET and answer, by the law of a payload as long. */
static void a_get_takes_as_long_as_a_payload_of_its_size(void **state)
{
	struct fabric_sim_rtt law;
	struct law_mean m = {0};
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	assert_ok(fabric_sim_rtt_init(&law, &fabric_sim_rtt_profiles[0], 6,
	    HTTP_PING_ASK_BYTES, fabric_sim_rtt_profiles[0].load, test_err()));
	const double median = 1e3 * fabric_sim_rtt_exceeded(&law, 0.5);
	for (unsigned i = 0; i < 4000; i++) {
		const sim_ns sent = rig_now(&g);
		until_asked(&g, (uint16_t)i, &x);
		rig_answer(&g, FAR, x.ev.token, 0);
		ends_with(&g, AGENT_CONNECTED, AGENT_ANSWER_OK, &x);
		assert_true(x.at == sent + x.ev.rtt_ns + x.ev.echo_ns);
		law_add(&m, (double)x.ev.echo_ns > median);
	}
	assert_true(fabs(law_z(&m, 0.5)) < 5.5);
	rig_close(&g);
}

/* The connect stands, and so does its time, when the GET or its answer is lost
 * for good, or the server says nothing. */
static void what_is_lost_behind_the_handshake_is_late_and_no_timeout(
    void **state)
{
	(void)state;
	for (unsigned run = 0; run < 3; run++) {
		const struct truth_fault mute = {.link = topo_link_of(0,
						     run == 1 ? TOPO_UP
							      : TOPO_DOWN),
		    .rate = 1,
		    .from_ns = run == 1 ? 1 : 0,
		    .to_ns = SIM_NEVER};
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		rig_draw(&g);
		/* From the first SYN on its way there is none to be lost. */
		if (run == 1)
			rig_add_fault(&g, &mute);
		rig_begin(&g);
		if (run == 1) {
			http_ping(&g, 1);
		} else {
			until_asked(&g, 1, &x);
			if (run == 2) {
				rig_add_fault(&g, &mute);
				rig_answer(&g, FAR, x.ev.token, 0);
			}
		}
		ends_with(&g, AGENT_CONNECTED, AGENT_ANSWER_LATE, &x);
		assert_true(x.at == x.ev.rtt_ns + 5 * SIM_SEC);
		assert_false(rig_next(&g, SIM_NEVER, &x));
		rig_close(&g);
	}
}

static void without_a_connect_nothing_is_asked(void **state)
{
	const struct truth_fault mute = {.link = topo_link_of(0, TOPO_UP),
	    .rate = 1,
	    .to_ns = SIM_NEVER};
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw(&g);
	rig_add_fault(&g, &mute);
	rig_begin(&g);
	http_ping(&g, 1);
	ends_with(&g, AGENT_TIMEOUT, AGENT_ANSWER_NOT_ASKED, &x);
	rig_close(&g);
}

/* Its SYN meets the network like any other: a connect of its own with the same
 * five-tuple and draws has the same time. */
static void its_handshake_is_that_of_a_plain_connect(void **state)
{
	sim_ns rtt[2];
	(void)state;
	for (unsigned run = 0; run < 2; run++) {
		const struct topo_tuple t = rig_tuple(0, FAR, 7);
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		rig_draw_and_begin(&g);
		if (run) {
			until_asked(&g, 7, &x);
			rig_answer(&g, FAR, x.ev.token, 0);
		} else {
			rig_connect(&g, &t, 0, 5);
		}
		ends_with(&g, AGENT_CONNECTED,
		    run ? AGENT_ANSWER_OK : AGENT_ANSWER_NOT_ASKED, &x);
		rtt[run] = x.ev.rtt_ns;
		rig_close(&g);
	}
	assert_true(rtt[0] == rtt[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_get_takes_as_long_as_a_payload_of_its_size),
	    cmocka_unit_test(
		what_is_lost_behind_the_handshake_is_late_and_no_timeout),
	    cmocka_unit_test(without_a_connect_nothing_is_asked),
	    cmocka_unit_test(its_handshake_is_that_of_a_plain_connect),
	};
	return cmocka_run_group_tests_name("models/sim/http", tests, NULL,
	    NULL);
}
