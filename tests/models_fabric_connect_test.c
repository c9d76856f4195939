/* tests/models_fabric_connect_test.c -- connects, payloads, services, outages.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws are held by chi-square tests at 1e-6 each.
 */
#include "models/fabric_sim.h"
#include "models/rtt_profile.h"
#include "models/tcp_connect.h"
#include "tests/law.h"
#include "tests/scenes.h"
#include "topo/addr.h"

#define LEVEL 1e-6

static const struct topo_clos shape = {2, 4, 3, 2, 3, .n_cables = 0};

struct rig {
	struct scenes s;
	struct model_scene *scene;
	struct fabric_sim_params params;
	struct fabric_sim *sim;
	struct fabric *f;
};

static void open_rig(struct rig *g)
{
	*g = (struct rig){.sim = NULL};
	scenes_open(&g->s, &shape);
	g->s.params.noise.rate = scenes_fixed(0);
	g->params.icmp.burst = 1;
	assert_ok(sim_field_defaults(fabric_sim_connect_fields,
	    &g->params.connect, test_err()));
}

/* With the faults and parameters that stand there now. Holes and outages may be
 * added to the truth afterwards; those of hosts before fabric_sim_begin(). */
static void begin(struct rig *g)
{
	if (!g->sim)
		assert_ok(fabric_sim_open(&g->sim, &g->s.topo, &g->params,
		    test_err()));
	g->f = fabric_sim_fabric(g->sim);
	assert_ok(fabric_sim_begin(g->sim, g->scene, NULL, test_err()));
}

static void draw_and_begin(struct rig *g)
{
	g->scene = scenes_draw(&g->s, 0);
	begin(g);
}

static void close_rig(struct rig *g)
{
	if (g->f)
		g->f->ops->close(g->f);
	scenes_close(&g->s);
}

static int next(struct rig *g, struct agent_event *ev, topo_host *host,
    sim_ns *at)
{
	size_t n;
	assert_ok(
	    g->f->ops->poll(g->f, SIM_NEVER, ev, host, at, 1, &n, test_err()));
	return n == 1;
}

static void act(struct rig *g, topo_host host, const struct agent_action *a)
{
	assert_ok(g->f->ops->submit(g->f, host, a, 1, test_err()));
}

static void wait_until(struct rig *g, sim_ns t)
{
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	size_t n;
	assert_ok(g->f->ops->poll(g->f, t, &ev, &host, &at, 1, &n, test_err()));
	assert_int_equal(n, 0);
	assert_true(g->f->ops->now(g->f) == t);
}

static struct topo_tuple tuple_of(topo_host src, topo_host dst, uint16_t port)
{
	return (struct topo_tuple){topo_addr_of_host(src),
	    topo_addr_of_host(dst), port, 8765, TOPO_PROTO_TCP};
}

static void dial(struct rig *g, const struct topo_tuple *t, uint32_t n_bytes,
    uint64_t token)
{
	const struct agent_action a = {.kind = AGENT_CONNECT,
	    .tuple = *t,
	    .token = token,
	    .n_bytes = n_bytes};
	act(g, t->src_ip - topo_addr_of_host(0), &a);
}

/* --- the handshake ---------------------------------------------------------- */

static void without_loss_a_connect_takes_one_round_trip(void **state)
{
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	(void)state;
	open_rig(&g);
	draw_and_begin(&g);
	for (uint16_t i = 0; i < 200; i++) {
		const sim_ns sent = g.f->ops->now(g.f);
		const struct topo_tuple t = tuple_of(1, 20, i);
		dial(&g, &t, 0, 7u + i);
		assert_true(next(&g, &ev, &host, &at));
		assert_int_equal(ev.kind, AGENT_CONNECT_DONE);
		assert_int_equal(host, 1);
		assert_int_equal(ev.outcome, AGENT_CONNECTED);
		assert_true(ev.token == 7u + i && ev.echo_ns == 0);
		assert_true(at == sent + ev.rtt_ns && ev.rtt_ns > 0);
		assert_false(next(&g, &ev, &host, &at));
	}
	close_rig(&g);
}

/* All links of cable 1 lose there and back. */
static void classes_are_those_of_one_connect(void **state)
{
	enum { N = 20000, CELLS = 16 };
	static const struct model_tcp_ladder *const ladders[] =
	    {&model_tcp_windows, &model_tcp_linux, &model_tcp_linux_linear};
	(void)state;
	for (uint32_t k = 0; k < 6; k++) {
		struct rig g;
		struct agent_event ev;
		topo_host host;
		sim_ns at;
		uint64_t got[CELLS] = {0}, model[CELLS] = {0};
		double want[CELLS] = {0};
		const struct model_tcp_ladder *ladder = ladders[k % 3];
		const unsigned n = ladder->n_retries;
		open_rig(&g);
		g.params.connect.timers = k % 3;
		g.params.connect.synack_timer = k / 3;
		scenes_add_fault(&g.s, topo_link_of(1, TOPO_UP), 0.2);
		scenes_add_fault(&g.s, topo_link_of(1, TOPO_DOWN), 0.3);
		draw_and_begin(&g);
		const struct model_tcp_connect c = {.there = {model_hazard(0.2),
							100 * SIM_US, 0},
		    .back = {model_hazard(0.3), 100 * SIM_US, 0},
		    .client = ladder,
		    .server = k / 3 ? &model_tcp_linux_synack : NULL,
		    .n_retries = ladder->n_retries,
		    .listening = 1};
		struct sim_rng r;
		test_rng(&r, k);
		for (uint32_t i = 0; i < N; i++) {
			const struct topo_tuple t =
			    tuple_of(1, 20, (uint16_t)i);
			dial(&g, &t, 0, i);
			const struct model_tcp_result one =
			    model_tcp_connect(&c, &r);
			model[one.outcome == MODEL_TCP_TIMED_OUT
				? n + 1
				: model_tcp_class(ladder, one.rtt_ns,
				      SIM_NEVER)]++;
		}
		while (next(&g, &ev, &host, &at))
			got[ev.outcome == AGENT_TIMEOUT
				? n + 1
				: model_tcp_class(ladder, ev.rtt_ns,
				      SIM_NEVER)]++;
		const double q = 1 - 0.8 * 0.7;
		for (unsigned i = 0; i <= n; i++)
			want[i] = pow(q, i) * (1 - q);
		want[n + 1] = pow(q, n + 1);
		if (k < 3 && law_chi2(got, want, n + 2) < LEVEL)
			fail_msg("closed form, ladder %s", ladder->name);
		if (law_chi2_equal(got, model, n + 2) < LEVEL)
			fail_msg("model, ladder %s, %u", ladder->name, k / 3);
		close_rig(&g);
	}
}

static void add_hole(struct rig *g, topo_switch at, double share, sim_ns from,
    sim_ns to)
{
	struct truth_hole h = {.at = at, .from_ns = from, .to_ns = to};
	assert_ok(model_blackhole_init(&h.rule, MODEL_BLACKHOLE_TUPLE, share,
	    77, test_err()));
	assert_ok(truth_add_hole(&g->scene->truth, &h, test_err()));
	truth_sort(&g->scene->truth);
}

/* By its time, or since it was taken out of the truth. */
static void a_hole_that_ends_between_two_syns_costs_one_wait(void **state)
{
	const struct topo_tuple t = tuple_of(1, 20, 1);
	(void)state;
	for (unsigned run = 0; run < 3; run++) {
		struct rig g;
		struct agent_event ev;
		topo_host host;
		sim_ns at;
		open_rig(&g);
		draw_and_begin(&g);
		wait_until(&g, SIM_SEC);
		/* 2: the last ns is the second SYN's. */
		add_hole(&g, topo_tor_of(&g.s.topo, run ? 1 : 20), 1, 0,
		    run == 1       ? SIM_NEVER
			: run == 2 ? 4 * SIM_SEC + 1
				   : 4 * SIM_SEC);
		dial(&g, &t, 0, 1);
		if (run == 1) {
			wait_until(&g, 2 * SIM_SEC);
			g.scene->truth.n_holes = 0;
		}
		assert_true(next(&g, &ev, &host, &at));
		assert_int_equal(ev.outcome, AGENT_CONNECTED);
		const sim_ns waits = (run == 2 ? 9 : 3) * SIM_SEC;
		assert_in_range(ev.rtt_ns, waits + 1, waits + SIM_SEC);
		close_rig(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_loss_a_connect_takes_one_round_trip),
	    cmocka_unit_test(classes_are_those_of_one_connect),
	    cmocka_unit_test(a_hole_that_ends_between_two_syns_costs_one_wait),
	};
	return cmocka_run_group_tests_name("models/fabric_connect", tests, NULL,
	    NULL);
}
