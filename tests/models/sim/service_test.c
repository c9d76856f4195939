/* tests/models/sim/service_test.c -- services, hosts off, agents on it all.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/agent.h"
#include "algos/pingmesh/pinglist_xml.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"

/* --- services ------------------------------------------------------------- */

struct served {
	unsigned n_fetches, n_uploads, n_counters;
	topo_host host;
	sim_ns at;
	unsigned char last; /* byte that was uploaded */
	int fail;
};

static int fetch(void *arg, topo_host host, sim_ns at, const void **data,
    size_t *n, struct sim_err *e)
{
	struct served *s = arg;
	if (s->fail)
		return sim_fail(e, SIM_EIO, "no disk.");
	s->n_fetches++;
	s->host = host;
	s->at = at;
	*data = "list";
	*n = 4;
	return 0;
}

static int upload(void *arg, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e)
{
	struct served *s = arg;
	if (s->fail)
		return sim_fail(e, SIM_EIO, "no disk.");
	s->n_uploads++;
	s->host = host;
	s->at = at;
	s->last = ((const unsigned char *)data)[n - 1];
	return 0;
}

static int counters(void *arg, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e)
{
	struct served *s = arg;
	if (s->fail)
		return sim_fail(e, SIM_EIO, "no disk.");
	assert_true(n == 3 && memcmp(data, "abc", n) == 0);
	s->n_counters++;
	s->host = host;
	s->at = at;
	return 0;
}

static void serve(struct rig *g, struct served *s)
{
	*s = (struct served){0};
	fabric_sim_serve(g->sim,
	    &(struct fault_services){s, fetch, upload, counters});
}

static void ask(struct rig *g, topo_host host, uint64_t token)
{
	const struct agent_action a = {.kind = AGENT_FETCH, .token = token};
	rig_act(g, host, &a);
}

static void send_up(struct rig *g, topo_host host, const void *data, uint32_t n)
{
	const struct agent_action a = {.kind = AGENT_UPLOAD,
	    .token = 8,
	    .data = data,
	    .n_bytes = n};
	rig_act(g, host, &a);
}

static void send_counters(struct rig *g, topo_host host)
{
	const struct agent_action a = {.kind = AGENT_COUNTERS,
	    .data = "abc",
	    .n_bytes = 3};
	rig_act(g, host, &a);
}

static void services_answer_in_their_time(void **state)
{
	enum { N = 5000 };
	struct law_mean m[2] = {{0}};
	struct served s;
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	g.params.connect.service_ms = 30;
	rig_draw_and_begin(&g);
	serve(&g, &s);
	for (unsigned i = 0; i < N; i++) {
		char bytes[3] = {1, 2, (char)(i % 100)};
		sim_ns sent = rig_now(&g);
		ask(&g, i % 24, i);
		assert_int_equal(s.n_fetches, i);
		assert_true(rig_next(&g, SIM_NEVER, &x));
		assert_int_equal(x.ev.kind, AGENT_FETCH_DONE);
		assert_true(x.host == i % 24 && s.host == i % 24);
		assert_true(x.ev.ok && x.ev.token == i && x.ev.n == 4);
		assert_memory_equal(x.ev.data, "list", 4);
		assert_true(s.n_fetches == i + 1 && s.at == x.at);
		assert_true(x.at - sent >= 15 * SIM_MS);
		law_add(&m[0], (double)(x.at - sent));
		sent = rig_now(&g);
		send_up(&g, i % 24, bytes, 3);
		assert_true(s.n_uploads == i + 1 && s.at == sent);
		bytes[2] = 101; /* the fabric has read it already */
		assert_true(rig_next(&g, SIM_NEVER, &x));
		assert_int_equal(x.ev.kind, AGENT_UPLOAD_DONE);
		assert_true(x.host == i % 24 && x.ev.ok && x.ev.token == 8);
		assert_int_equal(s.last, i % 100);
		law_add(&m[1], (double)(x.at - sent));
	}
	for (unsigned k = 0; k < 2; k++)
		assert_true(fabs(law_z(&m[k], 30e6)) < 5.5);
	rig_close(&g);
}

static void the_time_of_one_hosts_requests_is_its_own(void **state)
{
	sim_ns heard[2][100] = {{0}};
	(void)state;
	for (unsigned both = 0; both < 2; both++) {
		struct rig_event x;
		struct served s;
		struct rig g;
		rig_open(&g);
		rig_draw_and_begin(&g);
		serve(&g, &s);
		for (unsigned i = 0; i < 100; i++) {
			if (both)
				ask(&g, 2, i);
			ask(&g, 1, i);
		}
		while (rig_next(&g, SIM_NEVER, &x))
			if (x.host == 1)
				heard[both][x.ev.token] = x.at;
		rig_close(&g);
	}
	assert_true(heard[0][0] > 0 && heard[0][0] != heard[0][1]);
	assert_memory_equal(heard[0], heard[1], sizeof(heard[0]));
}

static void without_services_both_fail(void **state)
{
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	ask(&g, 2, 1);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.kind == AGENT_FETCH_DONE && !x.ev.ok && x.ev.n == 0);
	send_up(&g, 2, "x", 1);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.kind == AGENT_UPLOAD_DONE && !x.ev.ok);
	rig_close(&g);
}

/* Without a collector, counters are thrown away. */
static void counters_arrive_at_once_and_nobody_answers(void **state)
{
	struct rig_event x;
	struct served s;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	send_counters(&g, 2);
	serve(&g, &s);
	rig_wait(&g, 5 * SIM_SEC);
	send_counters(&g, 2);
	assert_true(s.n_counters == 1 && s.host == 2 && s.at == 5 * SIM_SEC);
	assert_false(rig_next(&g, SIM_NEVER, &x));
	rig_close(&g);
}

static void what_services_fail_with_ends_the_run(void **state)
{
	static const enum agent_action_kind kinds[] = {AGENT_UPLOAD,
	    AGENT_COUNTERS};
	struct rig_event x;
	struct served s;
	struct sim_err e;
	struct rig g;
	size_t n;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	serve(&g, &s);
	s.fail = 1;
	for (int i = 0; i < 2; i++) {
		const struct agent_action up = {.kind = kinds[i],
		    .data = "x",
		    .n_bytes = 1};
		assert_int_equal(g.f->ops->submit(g.f, 0, &up, 1, &e), SIM_EIO);
	}
	ask(&g, 2, 1);
	assert_int_equal(g.f->ops->poll(g.f, SIM_NEVER, &x.ev, &x.host, &x.at,
			     1, &n, &e),
	    SIM_EIO);
	rig_close(&g);
}

/* From 10 s up to 20 s, to the ns, by when it was asked. */
static void outages_of_services_are_those_of_the_request(void **state)
{
	static const sim_ns when[] = {10 * SIM_SEC - 1, 10 * SIM_SEC,
	    20 * SIM_SEC - 1, 20 * SIM_SEC};
	(void)state;
	for (unsigned mode = TRUTH_DOWN; mode <= TRUTH_GARBAGE; mode++) {
		const struct truth_outage o = {.kind = TRUTH_CONTROLLER,
		    .mode = (enum truth_outage_mode)mode,
		    .from_ns = 10 * SIM_SEC,
		    .to_ns = 20 * SIM_SEC,
		    .delay_us = 3e6};
		struct truth_outage collector = o;
		struct served s;
		struct rig g;
		collector.kind = TRUTH_COLLECTOR;
		rig_open(&g);
		g.params.connect.service_ms = 0;
		rig_draw(&g);
		rig_add_outage(&g, &o);
		rig_add_outage(&g, &collector);
		rig_begin(&g);
		serve(&g, &s);
		for (unsigned k = 0; k < 4; k++) {
			const int bad = k == 1 || k == 2;
			const int slow = bad && mode == TRUTH_SLOW;
			const int down = bad && mode == TRUTH_DOWN;
			const sim_ns at = when[k] + slow * 3 * SIM_SEC;
			const size_t n = !bad || slow ? 4
			    : mode == TRUTH_EMPTY     ? 0
						      : 23;
			struct rig_event x;
			rig_begin(&g);
			serve(&g, &s);
			rig_wait(&g, when[k]);
			ask(&g, 0, k);
			if (rig_next(&g, SIM_NEVER, &x) == down)
				fail_msg("mode %u, time %u", mode, k);
			if (!down)
				assert_true(x.ev.ok && x.at == at &&
				    x.ev.n == n && (x.ev.data || n == 0));
			rig_begin(&g);
			rig_wait(&g, when[k]);
			send_up(&g, 0, "x", 1);
			send_counters(&g, 0);
			assert_int_equal(s.n_uploads, !down);
			assert_int_equal(s.n_counters, !down);
			assert_int_equal(rig_next(&g, SIM_NEVER, &x), !down);
			assert_true(down || (x.ev.ok && x.at == at));
		}
		rig_close(&g);
	}
}

/* --- hosts off ------------------------------------------------------------ */

static void off(struct rig *g, topo_host host, sim_ns from, sim_ns to)
{
	const struct truth_outage o = {.kind = TRUTH_HOST_OFF,
	    .id = host,
	    .from_ns = from * SIM_SEC,
	    .to_ns = to == SIM_NEVER ? to : to * SIM_SEC};
	rig_add_outage(g, &o);
}

static void set_timer(struct rig *g, topo_host host, sim_ns at)
{
	const struct agent_action a = {.kind = AGENT_SET_TIMER,
	    .at_ns = at,
	    .token = at};
	rig_act(g, host, &a);
}

/* Off from 10 s to 20 s and from 15 s to 30 s, which is one; from 40 s to 50 s
 * and on to 60 s; and at last for good. */
static void a_host_that_is_off_hears_nothing_until_it_starts(void **state)
{
	static const struct {
		sim_ns at;
		enum agent_event_kind kind;
	} want[] = {
	    {10 * SIM_SEC - 1, AGENT_TIMER},
	    {30 * SIM_SEC, AGENT_START},
	    {60 * SIM_SEC, AGENT_START},
	};
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw(&g);
	off(&g, 5, 10, 20);
	off(&g, 5, 15, 30);
	off(&g, 5, 40, 50);
	off(&g, 5, 50, 60);
	off(&g, 5, 100, SIM_NEVER);
	rig_begin(&g);
	assert_true(g.f->ops->is_on(g.f, 5));
	for (sim_ns t = 5; t < 120; t += 5) {
		set_timer(&g, 5, t * SIM_SEC - 1);
		set_timer(&g, 5, t * SIM_SEC);
	}
	assert_true(rig_next(&g, SIM_NEVER, &x) && x.at == 5 * SIM_SEC - 1);
	assert_true(rig_next(&g, SIM_NEVER, &x) && x.at == 5 * SIM_SEC);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(rig_next(&g, SIM_NEVER, &x));
		assert_int_equal(x.host, 5);
		assert_int_equal(x.ev.kind, want[i].kind);
		assert_true(x.at == want[i].at);
		assert_true(g.f->ops->is_on(g.f, 5));
	}
	assert_false(rig_next(&g, SIM_NEVER, &x));
	assert_false(g.f->ops->is_on(g.f, 5));
	assert_true(g.f->ops->is_on(g.f, 4));
	/* The next epoch has its own outages only. */
	truth_clear(&g.scene->truth);
	off(&g, 4, 0, 10);
	rig_begin(&g);
	assert_true(g.f->ops->is_on(g.f, 5));
	assert_false(g.f->ops->is_on(g.f, 4));
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(
	    x.ev.kind == AGENT_START && x.host == 4 && x.at == 10 * SIM_SEC);
	rig_close(&g);
}

/* Off from 10 s to 20 s: which SYNs come too early, in time, or never. */
static void a_host_that_is_off_answers_no_syn(void **state)
{
	static const struct {
		sim_ns sent, lost; /* ns; s */
	} cases[] = {
	    {10 * SIM_SEC - 1, 0},
	    {10 * SIM_SEC, 21},     /* 10, 13, 19 s */
	    {11 * SIM_SEC - 1, 21}, /* 20 s - 1 */
	    {11 * SIM_SEC, 9},      /* 20 s */
	    {17 * SIM_SEC - 1, 9},
	    {17 * SIM_SEC, 3},
	    {20 * SIM_SEC - 1, 3},
	    {20 * SIM_SEC, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct topo_tuple t = rig_tuple(0, 20, 9);
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		rig_draw(&g);
		off(&g, 20, 10, 20);
		rig_begin(&g);
		if (cases[i].sent < 20 * SIM_SEC)
			rig_wait(&g, cases[i].sent);
		else
			assert_true(rig_next(&g, SIM_NEVER, &x));
		rig_connect(&g, &t, 0, 1);
		do
			assert_true(rig_next(&g, SIM_NEVER, &x));
		while (x.ev.kind == AGENT_START);
		const sim_ns lost = cases[i].lost * SIM_SEC;
		assert_int_equal(x.ev.outcome,
		    cases[i].lost == 21 ? AGENT_TIMEOUT : AGENT_CONNECTED);
		assert_in_range(x.at - cases[i].sent, lost, lost + SIM_SEC);
		rig_close(&g);
	}
}

/* The sender goes off with a connect, a fetch and an upload under way; the rows
 * that they had are used again. */
static void what_was_under_way_for_a_host_is_lost(void **state)
{
	const struct topo_tuple t = rig_tuple(0, 20, 9);
	struct rig_event x;
	struct served s;
	struct rig g;
	(void)state;
	rig_open(&g);
	g.params.connect.service_ms = 4000;
	rig_draw(&g);
	off(&g, 0, 2, 3);
	rig_add_hole(&g, 0, BLACKHOLE_RULE_PAIR, 1, 0, 3 * SIM_SEC);
	rig_begin(&g);
	serve(&g, &s);
	rig_wait(&g, SIM_SEC);
	rig_connect(&g, &t, 0, 1);
	ask(&g, 0, 1);
	send_up(&g, 0, "x", 1);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.kind == AGENT_START && x.at == 3 * SIM_SEC);
	assert_false(rig_next(&g, SIM_NEVER, &x));
	assert_int_equal(s.n_fetches, 0);
	assert_int_equal(s.n_uploads, 1);
	rig_connect(&g, &t, 0, 2);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.token == 2 && x.ev.rtt_ns < SIM_SEC);
	rig_close(&g);
}

/* Flows of a host that is off send no packet again either. */
static void a_host_that_is_off_sends_nothing_again(void **state)
{
	const struct obs_flow flow = {.src_host = 0,
	    .dst_host = 20,
	    .src_port = 7,
	    .dst_port = 443,
	    .n_pkts = 100,
	    .n_retx = 50};
	struct obs lossy = {0};
	unsigned n = 0;
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	g.params.flow_s = 100;
	rig_draw(&g);
	assert_ok(obs_add_flow(&lossy, &flow, NULL, 0, test_err()));
	off(&g, 0, 0, 50);
	rig_begin(&g);
	assert_ok(fabric_sim_begin(g.sim, g.scene, &lossy, test_err()));
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.kind == AGENT_START && x.at == 50 * SIM_SEC);
	for (; rig_next(&g, SIM_NEVER, &x); n++)
		assert_int_equal(x.ev.kind, AGENT_RETX);
	assert_in_range(n, 5, 45); /* of 50 coins: once in 1e9 */
	obs_free(&lossy);
	rig_close(&g);
}

/* It connects, and the peer is off and on again before the payload is there:
 * the connection is gone, and who was asked can't answer. */
static void a_peer_that_reboots_forgets_its_connections(void **state)
{
	const struct topo_tuple t = rig_tuple(0, 20, 9);
	(void)state;
	for (unsigned run = 0; run < 2; run++) {
		struct truth_outage o = {.kind = TRUTH_HOST_OFF, .id = 20};
		struct rig_event x;
		struct rig g;
		/* First without an outage, to learn when the connection stands
		 * and when the peer's agent is asked. */
		rig_open(&g);
		rig_draw_and_begin(&g);
		rig_connect(&g, &t, 100, 1);
		assert_true(rig_next(&g, SIM_NEVER, &x));
		o.from_ns = x.at - !run;
		o.to_ns = o.from_ns + 1;
		rig_close(&g);

		rig_open(&g);
		rig_draw(&g);
		rig_add_outage(&g, &o);
		rig_begin(&g);
		rig_connect(&g, &t, 100, 1);
		assert_true(rig_next(&g, SIM_NEVER, &x));
		assert_int_equal(x.ev.kind, AGENT_START);
		assert_true(rig_next(&g, SIM_NEVER, &x));
		assert_int_equal(x.ev.kind, AGENT_CONNECT_DONE);
		assert_true(
		    x.ev.outcome == AGENT_CONNECTED && x.ev.echo_ns == 0);
		rig_close(&g);
	}
}

/* --- agents --------------------------------------------------------------- */

/* A controller of true lists, and a collector that keeps a digest. */
struct ops {
	struct algo_pinglist plan;
	struct algo_pinglist_xml xml;
	char text[1 << 16];
	uint64_t digest, n_records, n_from[24];
};

static int fetch_list(void *arg, topo_host host, sim_ns at, const void **data,
    size_t *n, struct sim_err *e)
{
	struct ops *o = arg;
	size_t got;
	(void)at;
	*data = o->text;
	*n = 0;
	int rc = algo_pinglist_xml_start(&o->xml, host, e);
	while (rc == 0 &&
	    (got = algo_pinglist_xml_next(&o->xml, o->text + *n,
		 sizeof(o->text) - *n)) > 0)
		*n += got;
	return rc;
}

static int collect(void *arg, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e)
{
	struct ops *o = arg;
	const struct algo_pingmesh_batch *b = data;
	const unsigned char *bytes = data;
	(void)e;
	for (size_t i = 0; i < n; i++)
		o->digest = (o->digest ^ bytes[i]) * UINT64_C(0x100000001b3);
	o->digest ^= at;
	o->n_records += b->n;
	o->n_from[host] += b->n;
	return 0;
}

static void open_agents(struct rig *g, struct ops *o, struct fabric_agents *a,
    struct algo_pingmesh_params *p)
{
	struct algo_pinglist_params list;
	const struct sim_seed where = {.seed = 4};
	assert_ok(
	    sim_field_defaults(algo_pingmesh_agent_fields, p, test_err()));
	assert_ok(sim_field_defaults(algo_pinglist_fields, &list, test_err()));
	list.payload_probes = 1;
	p->fetch_retry_s = 10;
	p->upload_interval_s = 30;
	assert_ok(algo_pinglist_open(&o->plan, &list, &g->s.topo.clos, 1,
	    test_err()));
	algo_pinglist_xml_open(&o->xml, &o->plan);
	assert_ok(fabric_agents_open(a, &algo_pingmesh_agent, p,
	    g->s.topo.n_hosts, test_err()));
	fabric_agents_renew(a, &where);
	o->digest = o->n_records = 0;
	memset(o->n_from, 0, sizeof(o->n_from));
	fabric_sim_serve(g->sim,
	    &(struct fault_services){.arg = o,
		.fetch = fetch_list,
		.upload = collect});
}

/* What agents count of themselves must agree with what the collector has. */
static void check_agents(const struct fabric_agents *a, const struct ops *o)
{
	uint64_t n_uploaded = 0;
	for (topo_host h = 0; h < a->n_hosts; h++) {
		struct algo_pingmesh_status s;
		algo_pingmesh_agent_status(a->state + h * a->stride, &s);
		const struct algo_pingmesh_counters *c = &s.count;
		assert_true(c->n_probes ==
		    s.n_in_flight + s.n_held + c->n_uploaded + c->n_discarded +
			c->n_overrun);
		assert_true(c->n_stray == 0 && c->n_jumps == 0);
		assert_true(h == 7 || c->n_lists > 0);
		n_uploaded += c->n_uploaded;
	}
	/* The collector also has the records that host 3 uploaded before it
	 * went off, which its new agent does not count. */
	assert_true(o->n_records > n_uploaded);
}

static void agents_live_through_outages_in_any_number_of_runs(void **state)
{
	static struct ops o;
	uint64_t digest[2];
	(void)state;
	for (unsigned run = 0; run < 2; run++) {
		struct algo_pingmesh_params p = {0};
		struct fabric_agents a;
		struct sim_rng r;
		struct rig g;
		rig_open(&g);
		g.s.params.noise.rate = scenes_fixed(0.001);
		rig_draw(&g);
		off(&g, 7, 0, SIM_NEVER);
		off(&g, 8, 0, 200);
		off(&g, 3, 400, 500);
		rig_begin(&g);
		open_agents(&g, &o, &a, &p);
		test_rng(&r, run);
		for (sim_ns t = 0; run && t < 890 * SIM_SEC;
		     t += (1 + sim_rng_below(&r, 20000)) * SIM_MS)
			assert_ok(
			    fabric_run(g.f, &a, t, NULL, NULL, test_err()));
		assert_ok(
		    fabric_run(g.f, &a, 900 * SIM_SEC, NULL, NULL, test_err()));
		check_agents(&a, &o);
		for (topo_host h = 0; h < 24; h++)
			assert_int_equal(o.n_from[h] > 0, h != 7);
		assert_true(o.n_from[8] < o.n_from[9] * 4 / 5);
		digest[run] = o.digest;
		fabric_agents_close(&a);
		rig_close(&g);
	}
	assert_true(digest[0] == digest[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(services_answer_in_their_time),
	    cmocka_unit_test(the_time_of_one_hosts_requests_is_its_own),
	    cmocka_unit_test(without_services_both_fail),
	    cmocka_unit_test(counters_arrive_at_once_and_nobody_answers),
	    cmocka_unit_test(what_services_fail_with_ends_the_run),
	    cmocka_unit_test(outages_of_services_are_those_of_the_request),
	    cmocka_unit_test(a_host_that_is_off_hears_nothing_until_it_starts),
	    cmocka_unit_test(a_host_that_is_off_answers_no_syn),
	    cmocka_unit_test(what_was_under_way_for_a_host_is_lost),
	    cmocka_unit_test(a_host_that_is_off_sends_nothing_again),
	    cmocka_unit_test(a_peer_that_reboots_forgets_its_connections),
	    cmocka_unit_test(agents_live_through_outages_in_any_number_of_runs),
	};
	return cmocka_run_group_tests_name("models/sim/service", tests, NULL,
	    NULL);
}
