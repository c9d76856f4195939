/* tests/models/sim/tcp_connect_test.c -- one connect: SYNs and their timers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws are held by chi-square tests at 1e-6 each, about 90 of them; means to 5
 * standard errors (6e-7).
 */
#include "models/sim/tcp_connect.h"

#include "models/scene/loss.h"
#include "tests/rigs/law.h"
#include "tests/test.h"

#define ERRORS 5
#define LEVEL  1e-6

static const struct fabric_sim_tcp_ladder *const clients[] =
    {&fabric_sim_tcp_windows, &fabric_sim_tcp_linux,
	&fabric_sim_tcp_linux_linear};

/* There and back in 100 us and 150 us, at these loss rates. */
static struct fabric_sim_tcp pair(const struct fabric_sim_tcp_ladder *client,
    double rate_there, double rate_back)
{
	return (struct fabric_sim_tcp){
	    .there = {scene_hazard(rate_there), 100 * SIM_US, 0},
	    .back = {scene_hazard(rate_back), 150 * SIM_US, 0},
	    .client = client,
	    .n_retries = client->n_retries,
	    .listening = 1,
	};
}

static struct fabric_sim_tcp_result connect_once(const struct fabric_sim_tcp *c,
    struct sim_rng *r)
{
	return fabric_sim_tcp(c, r);
}

/* --- without chance ------------------------------------------------------ */

static void without_loss_a_connect_takes_one_round_trip(void **state)
{
	struct sim_rng r, same;
	(void)state;
	test_rng(&r, 1);
	test_rng(&same, 1);
	for (unsigned i = 0; i < 3; i++)
		for (uint8_t listening = 0; listening < 2; listening++) {
			struct fabric_sim_tcp c = pair(clients[i], 0, 0);
			c.server = &fabric_sim_tcp_linux_synack;
			c.listening = listening;
			const struct fabric_sim_tcp_result got =
			    connect_once(&c, &r);
			assert_int_equal(got.outcome,
			    listening ? FABRIC_SIM_TCP_CONNECTED
				      : FABRIC_SIM_TCP_REFUSED);
			assert_int_equal(got.n_syns, 1);
			assert_true(got.rtt_ns == 250 * SIM_US);
		}
	assert_int_equal(sim_rng_u32(&r), sim_rng_u32(&same));
}

static void a_way_that_loses_all_ends_with_the_last_wait(void **state)
{
	static const sim_ns ends[] = {21 * SIM_SEC, 127 * SIM_SEC,
	    131 * SIM_SEC};
	static const unsigned n_syns[] = {3, 7, 11};
	struct sim_rng r, same;
	(void)state;
	test_rng(&r, 2);
	test_rng(&same, 2);
	for (unsigned i = 0; i < 3; i++)
		for (int way = 0; way < 4; way++) {
			struct fabric_sim_tcp c = pair(clients[i], 0, 0);
			struct fabric_sim_tcp_way *w =
			    way & 1 ? &c.there : &c.back;
			c.server = &fabric_sim_tcp_linux_synack;
			if (way & 2)
				w->black_hole = 1;
			else
				w->hazard = scene_hazard(1);
			const struct fabric_sim_tcp_result got =
			    connect_once(&c, &r);
			assert_int_equal(got.outcome, FABRIC_SIM_TCP_TIMED_OUT);
			assert_int_equal(got.n_syns, n_syns[i]);
			assert_true(got.rtt_ns == ends[i]);
		}
	assert_int_equal(sim_rng_u32(&r), sim_rng_u32(&same));
}

/* As measured on Linux, with the noise of its timers, and in the paper. */
static void classes_are_those_of_the_measured_ladders(void **state)
{
	static const struct {
		const struct fabric_sim_tcp_ladder *ladder;
		double rtt_s[6];
	} cases[] = {
	    {&fabric_sim_tcp_linux_linear,
		{0.0003, 1.01, 2.05, 3.07, 4.10, 5.12}},
	    {&fabric_sim_tcp_linux, {0.0003, 1.02, 3.04, 7.23, 15.4, 31.5}},
	    {&fabric_sim_tcp_windows, {2.9, 3.07, 9.22}},
	};
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < 6 && cases[i].rtt_s[k] > 0; k++) {
			const sim_ns rtt = (sim_ns)(cases[i].rtt_s[k] * 1e9);
			assert_int_equal(fabric_sim_tcp_class(cases[i].ladder,
					     rtt, SIM_SEC / 2),
			    k);
			assert_int_equal(fabric_sim_tcp_class(cases[i].ladder,
					     rtt, SIM_NEVER),
			    k);
		}
}

static void classes_begin_with_a_wait_and_last_for_the_slack(void **state)
{
	static const struct {
		sim_ns rtt;
		unsigned near, any;
	} cases[] = {
	    {0, 0, 0},
	    {SIM_SEC, 0, 0},
	    {3 * SIM_SEC - 1, 0, 0},
	    {3 * SIM_SEC, 1, 1},
	    {3 * SIM_SEC + SIM_MS, 1, 1},
	    {3 * SIM_SEC + SIM_MS + 1, 0, 1},
	    {9 * SIM_SEC - 1, 0, 1},
	    {9 * SIM_SEC, 2, 2},
	    {9 * SIM_SEC + SIM_MS, 2, 2},
	    {9 * SIM_SEC + SIM_MS + 1, 0, 2},
	    {21 * SIM_SEC, 0, 2},
	    {SIM_NEVER, 0, 2},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fabric_sim_tcp_class(&fabric_sim_tcp_windows,
				     cases[i].rtt, SIM_MS),
		    cases[i].near);
		assert_int_equal(fabric_sim_tcp_class(&fabric_sim_tcp_windows,
				     cases[i].rtt, SIM_NEVER),
		    cases[i].any);
	}
}

/* An answer may take longer than the timer waits: SYNs are sent meanwhile. */
static void slow_answers_meet_more_syns(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 3);
	struct fabric_sim_tcp c = pair(&fabric_sim_tcp_linux, 0, 0);
	c.back.latency_ns = 4 * SIM_SEC;
	struct fabric_sim_tcp_result got = connect_once(&c, &r);
	assert_int_equal(got.outcome, FABRIC_SIM_TCP_CONNECTED);
	assert_int_equal(got.n_syns, 3); /* at 0, 1 and 3 s */
	assert_true(got.rtt_ns == 4 * SIM_SEC + 100 * SIM_US);
	/* An answer that comes exactly when a timer fires comes first. */
	c.there.latency_ns = 0;
	c.back.latency_ns = 1 * SIM_SEC;
	got = connect_once(&c, &r);
	assert_int_equal(got.n_syns, 1);
	assert_true(got.rtt_ns == SIM_SEC);
	c.back.latency_ns = 0;
	got = connect_once(&c, &r);
	assert_int_equal(got.n_syns, 1);
	assert_true(got.outcome == FABRIC_SIM_TCP_CONNECTED && got.rtt_ns == 0);
	c.back.latency_ns = 1 * SIM_SEC;
	/* An answer may come until the very end of the last wait, and not a ns
	 * later. */
	c.n_retries = 0;
	assert_int_equal(connect_once(&c, &r).outcome,
	    FABRIC_SIM_TCP_CONNECTED);
	c.back.latency_ns++;
	got = connect_once(&c, &r);
	assert_int_equal(got.outcome, FABRIC_SIM_TCP_TIMED_OUT);
	assert_int_equal(got.n_syns, 1);
	assert_true(got.rtt_ns == SIM_SEC);
}

/* --- laws in closed form ------------------------------------------------- */

/* Counts of class k, and of failures at n_retries + 1; each connect of class k
 * has sent k + 1 SYNs and took that long. */
static void count_classes(const struct fabric_sim_tcp *c, unsigned n,
    uint32_t run, uint64_t got[])
{
	const unsigned end = c->n_retries + 1;
	struct sim_rng r;
	test_rng(&r, run);
	for (unsigned i = 0; i < n; i++) {
		const struct fabric_sim_tcp_result x = connect_once(c, &r);
		if (x.outcome == FABRIC_SIM_TCP_TIMED_OUT) {
			got[end]++;
			continue;
		}
		const unsigned k =
		    fabric_sim_tcp_class(c->client, x.rtt_ns, SIM_MS);
		sim_ns want = 250 * SIM_US;
		for (unsigned j = 0; j < k; j++)
			want += c->client->wait_ns[j];
		assert_true(x.rtt_ns == want);
		assert_int_equal(x.n_syns, k + 1);
		assert_int_equal(x.outcome,
		    c->listening ? FABRIC_SIM_TCP_CONNECTED
				 : FABRIC_SIM_TCP_REFUSED);
		got[k]++;
	}
}

/* P(class k) = q^k (1 - q) and P(failed) = q^(retries + 1), whichever way loses
 * what; RSTs have that law also where SYN-ACKs would have a timer. */
static void without_a_server_timer_classes_are_geometric(void **state)
{
	static const double rates[][2] = {{0.3, 0.2}, {0, 0.5}, {0.5, 0}};
	(void)state;
	for (uint32_t run = 0; run < 18; run++) {
		const double *rate = rates[run % 3];
		const double q = 1 - (1 - rate[0]) * (1 - rate[1]);
		uint64_t got[FABRIC_SIM_TCP_MAX_RETRIES + 2] = {0};
		double law[FABRIC_SIM_TCP_MAX_RETRIES + 2];
		struct fabric_sim_tcp c =
		    pair(clients[run / 3 % 3], rate[0], rate[1]);
		if (run >= 9) {
			c.listening = 0;
			c.server = &fabric_sim_tcp_linux_synack;
		}
		for (unsigned k = 0; k <= c.n_retries; k++)
			law[k] = pow(q, k) * (1 - q);
		law[c.n_retries + 1] = pow(q, c.n_retries + 1);
		count_classes(&c, 20000, 10 + run, got);
		assert_true(law_chi2(got, law, c.n_retries + 2u) > LEVEL);
	}
}

/* (classes 1 and 2) / (all that connect), by the variance of a ratio of two
 * counts of one multinomial, which is that of a share of n (1 - q^3). */
static void pingmeshs_estimate_is_that_of_its_closed_form(void **state)
{
	enum { N = 400000 };
	static const double rates[][2] = {{1e-3, 1e-3}, {0.02, 0.01},
	    {0.4, 0.1}};
	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		const double q = 1 - (1 - rates[i][0]) * (1 - rates[i][1]);
		const double want = q * (1 - q * q) / (1 - q * q * q);
		const struct fabric_sim_tcp c =
		    pair(&fabric_sim_tcp_windows, rates[i][0], rates[i][1]);
		uint64_t got[4] = {0};
		count_classes(&c, N, 40 + i, got);
		const double n = (double)(got[0] + got[1] + got[2]);
		assert_near((double)(got[1] + got[2]) / n, want,
		    ERRORS * sqrt(want * (1 - want) / n));
	}
}

/* Both timers fire at 1, 3, 7, 15 and 31 s: from the second time on two
 * SYN-ACKs must be lost, but for the last SYN at 63 s, when the server's timer
 * has stopped. */
static void two_lost_syn_acks_look_like_one_drop(void **state)
{
	const double q = 0.6;
	struct fabric_sim_tcp c = pair(&fabric_sim_tcp_linux, 0, q);
	uint64_t got[8] = {0};
	double law[8] = {1 - q};
	(void)state;
	c.server = &fabric_sim_tcp_linux_synack;
	for (int k = 1; k <= 5; k++)
		law[k] = pow(q, 2 * k - 1) * (1 - q * q);
	law[6] = pow(q, 11) * (1 - q);
	law[7] = pow(q, 12);
	count_classes(&c, 100000, 50, got);
	assert_true(law_chi2(got, law, 8) > LEVEL);
}

/* --- brute force --------------------------------------------------------- */

enum { MAX_CELLS = 64 };
struct cells {
	unsigned n;
	struct fabric_sim_tcp_result what[MAX_CELLS];
	double law[MAX_CELLS];
	uint64_t got[MAX_CELLS];
};

static unsigned find_cell(struct cells *t,
    const struct fabric_sim_tcp_result *x)
{
	unsigned i = 0;
	while (i < t->n &&
	    (t->what[i].outcome != x->outcome ||
		t->what[i].n_syns != x->n_syns ||
		t->what[i].rtt_ns != x->rtt_ns))
		i++;
	if (i == t->n) {
		assert_true(t->n < MAX_CELLS);
		t->what[t->n++] = *x;
	}
	return i;
}

/* The connect in which packet i is lost if bit i of LOST is set: bit k for SYN
 * k, then one each for the answer to it, then for the server's timer. All are
 * sent, also those that nobody waits for: what is seen is the same. */
static struct fabric_sim_tcp_result replay(const struct fabric_sim_tcp *c,
    unsigned lost)
{
	const unsigned n = c->n_retries + 1u;
	struct fabric_sim_tcp_result out = {
	    .outcome = FABRIC_SIM_TCP_TIMED_OUT};
	sim_ns sent[4], first = SIM_NEVER, known = SIM_NEVER, end = 0;
	for (unsigned k = 0; k < n; k++) {
		sent[k] = end;
		end += c->client->wait_ns[k];
	}
	for (unsigned k = 0; k < n; k++) {
		if (lost >> k & 1)
			continue;
		const sim_ns at = sent[k] + c->there.latency_ns;
		if (known == SIM_NEVER)
			known = at;
		if (!(lost >> (n + k) & 1) && at + c->back.latency_ns < first)
			first = at + c->back.latency_ns;
	}
	for (unsigned k = 0; c->listening && c->server && known != SIM_NEVER &&
	     k < c->server->n_retries;
	     k++) {
		known += c->server->wait_ns[k];
		if (!(lost >> (2 * n + k) & 1) &&
		    known + c->back.latency_ns < first)
			first = known + c->back.latency_ns;
	}
	out.rtt_ns = end;
	if (first <= end) {
		out.outcome = c->listening ? FABRIC_SIM_TCP_CONNECTED
					   : FABRIC_SIM_TCP_REFUSED;
		out.rtt_ns = first;
	}
	for (unsigned k = 0; k < n; k++)
		out.n_syns += sent[k] < first;
	return out;
}

static void enumerate(const struct fabric_sim_tcp *c, struct cells *t)
{
	const unsigned n = c->n_retries + 1u;
	const unsigned n_packets =
	    2 * n + (c->server ? c->server->n_retries : 0);
	const double there = -expm1(-c->there.hazard);
	const double back = -expm1(-c->back.hazard);
	for (unsigned lost = 0; lost < 1u << n_packets; lost++) {
		const struct fabric_sim_tcp_result x = replay(c, lost);
		double p = 1;
		for (unsigned i = 0; i < n_packets; i++) {
			const double q = i < n ? there : back;
			p *= lost >> i & 1 ? q : 1 - q;
		}
		t->law[find_cell(t, &x)] += p;
	}
}

/* Ladders of a few seconds at random, often with timers that meet, latencies
 * from half a second, so that no SYN is answered when it is sent, to longer
 * than a wait. */
static void small_connects_have_the_law_of_all_their_losses(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 60; run++) {
		struct fabric_sim_tcp_ladder client = {.name = "a"};
		struct fabric_sim_tcp_ladder server = {.name = "b"};
		struct cells t = {0};
		struct sim_rng r;
		test_rng(&r, 100 + run);
		client.n_retries = 3;
		server.n_retries = (uint8_t)sim_rng_below(&r, 4);
		for (unsigned k = 0; k <= 3; k++) {
			client.wait_ns[k] =
			    (1 + sim_rng_below(&r, 3)) * SIM_SEC;
			server.wait_ns[k] =
			    (1 + sim_rng_below(&r, 3)) * SIM_SEC;
		}
		struct fabric_sim_tcp c =
		    pair(&client, 0.7 * sim_rng_u01(&r), 0.7 * sim_rng_u01(&r));
		c.there.latency_ns = sim_rng_below(&r, 4) * SIM_SEC / 2;
		c.back.latency_ns = (1 + sim_rng_below(&r, 4)) * SIM_SEC / 2;
		c.n_retries = (uint8_t)sim_rng_below(&r, 4);
		c.listening = sim_rng_below(&r, 4) > 0;
		c.server = sim_rng_below(&r, 4) > 0 ? &server : NULL;
		enumerate(&c, &t);
		for (int i = 0; i < 20000; i++) {
			const struct fabric_sim_tcp_result x =
			    connect_once(&c, &r);
			t.got[find_cell(&t, &x)]++;
		}
		if (!(law_chi2(t.got, t.law, t.n) > LEVEL))
			fail_msg("seed %llu, run %u: another law",
			    (unsigned long long)test_seed(), run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_loss_a_connect_takes_one_round_trip),
	    cmocka_unit_test(a_way_that_loses_all_ends_with_the_last_wait),
	    cmocka_unit_test(classes_are_those_of_the_measured_ladders),
	    cmocka_unit_test(classes_begin_with_a_wait_and_last_for_the_slack),
	    cmocka_unit_test(slow_answers_meet_more_syns),
	    cmocka_unit_test(without_a_server_timer_classes_are_geometric),
	    cmocka_unit_test(pingmeshs_estimate_is_that_of_its_closed_form),
	    cmocka_unit_test(two_lost_syn_acks_look_like_one_drop),
	    cmocka_unit_test(small_connects_have_the_law_of_all_their_losses),
	};
	return cmocka_run_group_tests_name("models/sim/tcp_connect", tests,
	    NULL, NULL);
}
