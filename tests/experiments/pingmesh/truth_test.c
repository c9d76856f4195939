/* tests/experiments/pingmesh/truth_test.c -- what probes met, by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/truth.h"

#include "tests/rigs/pingmesh.h"
#include "topo/addr.h"
#include "topo/region.h"

struct rig {
	struct pingmesh m;
	struct xp_true_loss loss;
	struct obs_probes t;
};

static void set_up(struct rig *g)
{
	*g = (struct rig){.loss.noise = NULL};
	pingmesh_open(&g->m, &pingmesh_tiny, "");
}

static void begin_by(struct rig *g, int any_path)
{
	assert_ok(xp_true_loss_begin(&g->loss, scenes_draw(&g->m.s, 0),
	    any_path, test_err()));
}

static void begin(struct rig *g)
{
	begin_by(g, 0);
}

static void tear_down(struct rig *g)
{
	xp_true_loss_free(&g->loss);
	obs_probes_free(&g->t);
	pingmesh_close(&g->m);
}

static double loss_of(struct rig *g, topo_host src, topo_host dst,
    enum obs_level level, uint16_t port, double s)
{
	const struct obs_probe p = {.sent_ns = (sim_ns)(s * 1e9),
	    .src_host = src,
	    .dst_host = dst,
	    .src_port = port,
	    .dst_port = 8765,
	    .level = (uint8_t)level};
	obs_probes_clear(&g->t);
	assert_ok(obs_probes_add(&g->t, &p, test_err()));
	return xp_true_loss_of(&g->loss, &g->t, 0);
}

/* --- loss ---------------------------------------------------------------- */

static void noise_alone_is_lost_to_on_every_link_both_ways(void **state)
{
	const double p = 0.003;
	struct rig g;
	(void)state;
	set_up(&g);
	g.m.s.params.noise.rate = scenes_fixed(p);
	begin(&g);
	const struct {
		topo_host dst;
		int links;
	} cases[] = {{1, 4}, {2, 8}, {4, 12}};
	for (size_t i = 0; i < 3; i++)
		assert_near(loss_of(&g, 0, cases[i].dst, OBS_LEVEL_DC, 40000,
				0),
		    1 - pow(1 - p, cases[i].links), 1e-12);
	tear_down(&g);
}

/* A fault of the way there or of the way back counts alike, while it lasts. */
static void a_fault_replaces_the_noise_of_its_link_while_it_lasts(void **state)
{
	const double p = 0.001, q = 0.2;
	(void)state;
	for (int dir = TOPO_UP; dir <= TOPO_DOWN; dir++) {
		struct rig g;
		set_up(&g);
		g.m.s.params.noise.rate = scenes_fixed(p);
		struct fault_params *f = scenes_add_fault(&g.m.s,
		    topo_clos_link_host(0, (enum topo_dir)dir), q);
		f->from_s = 10;
		f->to_s = 20;
		begin(&g);
		const double calm = 1 - pow(1 - p, 4);
		const double bad = 1 - pow(1 - p, 3) * (1 - q);
		assert_near(loss_of(&g, 0, 1, OBS_LEVEL_TOR, 1, 9.9), calm,
		    1e-12);
		assert_near(loss_of(&g, 0, 1, OBS_LEVEL_TOR, 1, 10), bad,
		    1e-12);
		assert_near(loss_of(&g, 1, 0, OBS_LEVEL_TOR, 1, 19.9), bad,
		    1e-12);
		assert_near(loss_of(&g, 0, 1, OBS_LEVEL_TOR, 1, 20), calm,
		    1e-12);
		tear_down(&g);
	}
}

/* Of 2 x 2 ways to the other pod and as many back, one link of T1-T2 is on a
 * quarter each; over many ports the shares are met. 0.25 +- 5 sigma of 4000
 * ports: false alarms below 1e-6. */
static void each_probe_has_the_path_of_its_ports(void **state)
{
	enum { N = 4000 };
	struct rig g;
	unsigned n = 0;
	(void)state;
	set_up(&g);
	scenes_add_fault(&g.m.s,
	    topo_clos_link_t1(&g.m.s.topo.clos, 0, 1, TOPO_UP), 0.5);
	begin(&g);
	for (uint16_t port = 0; port < N; port++) {
		const double q = loss_of(&g, 0, 4, OBS_LEVEL_DC,
		    (uint16_t)(30000 + port), 0);
		assert_true(q == 0 || fabs(q - 0.5) < 1e-12);
		n += q > 0;
	}
	assert_near((double)n / N, 0.25, 5 * sqrt(0.25 * 0.75 / N));
	tear_down(&g);
}

/* The SYN-ACK's path is chosen by its own five-tuple, the reverse one, so it is
 * another path than the SYN's. */
static void the_answer_takes_the_path_of_the_reverse(void **state)
{
	const double p = 0.25, q = 0.5;
	struct rig g;
	unsigned n = 0;
	(void)state;
	set_up(&g);
	const topo_link there =
	    topo_clos_link_t1(&g.m.s.topo.clos, 0, 1, TOPO_UP);
	const topo_link back =
	    topo_clos_link_t1(&g.m.s.topo.clos, 2, 0, TOPO_UP);
	scenes_add_fault(&g.m.s, there, p);
	scenes_add_fault(&g.m.s, back, q);
	begin(&g);
	for (uint16_t port = 0; port < 200; port++) {
		const struct topo_tuple syn = {topo_addr_of_host(0),
		    topo_addr_of_host(4), port, 8765, TOPO_PROTO_TCP};
		const struct topo_tuple ack = {syn.dst_ip, syn.src_ip, 8765,
		    port, TOPO_PROTO_TCP};
		const uint32_t seed = g.m.s.scene.ecmp_seed;
		topo_link path[TOPO_MAX_HOPS];
		double pass = 1;
		unsigned h = topo_path(&g.m.s.topo, seed, 0, 4,
		    topo_tuple_digest(&syn), path);
		while (h-- > 0)
			pass *= path[h] == there ? 1 - p : 1;
		h = topo_path(&g.m.s.topo, seed, 4, 0, topo_tuple_digest(&ack),
		    path);
		while (h-- > 0)
			pass *= path[h] == back ? 1 - q : 1;
		assert_near(loss_of(&g, 0, 4, OBS_LEVEL_DC, port, 0), 1 - pass,
		    1e-12);
		n += pass < 1;
	}
	assert_in_range(n, 20, 180);
	tear_down(&g);
}

static void peers_in_other_data_centres_have_the_hosts_added(void **state)
{
	const double p = 0.001;
	struct rig g;
	(void)state;
	g = (struct rig){.loss.noise = NULL};
	pingmesh_open_region(&g.m, &pingmesh_tiny, "");
	g.m.s.params.noise.rate = scenes_fixed(p);
	begin(&g);
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = topo_path(&g.m.s.topo, 1, 11, 3, 5, path);
	assert_near(loss_of(&g, PINGMESH_HOSTS + 3, 3, OBS_LEVEL_INTER_DC, 1,
			0),
	    1 - pow(1 - p, 2 * n), 1e-12);
	assert_near(loss_of(&g, PINGMESH_HOSTS + 3, PINGMESH_HOSTS + 2,
			OBS_LEVEL_TOR, 1, 0),
	    1 - pow(1 - p, 4), 1e-12);
	tear_down(&g);
}

static double arrival(const struct rig *g, const topo_link path[], size_t n)
{
	double p = 1;
	for (size_t i = 0; i < n; i++)
		p *= exp(-g->loss.noise[path[i]]);
	return p;
}

/* From one pod to the other, up by t1 a and t2 b and down by t1 c. */
static double mean_arrival(const struct rig *g, topo_host src, topo_host dst)
{
	const struct topo_clos *c = &g->m.s.topo.clos;
	const uint32_t from = src / 2, to = dst / 2;
	double sum = 0;
	for (uint32_t i = 0; i < 8; i++) {
		const uint32_t a = i & 1, b = i >> 1 & 1, d = i >> 2;
		const topo_link path[] = {topo_link_of(src, TOPO_UP),
		    topo_clos_link_tor(c, from, a, TOPO_UP),
		    topo_clos_link_t1(c, from / 2 * 2 + a, b, TOPO_UP),
		    topo_clos_link_t1(c, to / 2 * 2 + d, b, TOPO_DOWN),
		    topo_clos_link_tor(c, to, d, TOPO_DOWN),
		    topo_link_of(dst, TOPO_DOWN)};
		sum += arrival(g, path, 6);
	}
	return sum / 8;
}

/* With a rate of its own on each link, some of them nearly dead. */
static void of_any_path_it_is_the_mean_over_all(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	begin_by(&g, 1);
	for (uint32_t run = 0; run < 50; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		for (topo_link l = 0; l < g.m.s.topo.n_links; l++)
			g.loss.noise[l] = -5 * log(sim_rng_u01(&r));
		const double both =
		    mean_arrival(&g, 1, 6) * mean_arrival(&g, 6, 1);
		assert_near(loss_of(&g, 1, 6, OBS_LEVEL_DC, (uint16_t)run, 0),
		    1 - both, 1e-12);
		const topo_link near[] = {topo_link_of(0, TOPO_UP),
		    topo_link_of(1, TOPO_DOWN), topo_link_of(1, TOPO_UP),
		    topo_link_of(0, TOPO_DOWN)};
		assert_near(loss_of(&g, 0, 1, OBS_LEVEL_TOR, 1, 0),
		    1 - arrival(&g, near, 4), 1e-12);
	}
	tear_down(&g);
}

/* --- when ---------------------------------------------------------------- */

static void trouble_is_calm_steady_or_a_change(void **state)
{
	struct truth t = {0};
	const struct truth_fault f = {.rate = 0.1,
	    .from_ns = 100,
	    .to_ns = 200};
	const struct truth_outage o = {.kind = TRUTH_CONTROLLER,
	    .from_ns = 150,
	    .to_ns = 300};
	const struct {
		sim_ns from, to;
		enum xp_trouble want;
	} cases[] = {{0, 100, XP_CALM}, {0, 101, XP_CHANGE},
	    {100, 150, XP_TROUBLE}, {100, 200, XP_CHANGE},
	    {150, 200, XP_TROUBLE}, {150, 201, XP_CHANGE},
	    {200, 300, XP_TROUBLE}, {299, 301, XP_CHANGE}, {300, 400, XP_CALM}};
	(void)state;
	assert_int_equal(xp_trouble_in(&t, 0, SIM_NEVER), XP_CALM);
	assert_true(xp_first_trouble(&t) == SIM_NEVER);
	assert_ok(truth_add_fault(&t, &f, test_err()));
	assert_ok(truth_add_outage(&t, &o, test_err()));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(xp_trouble_in(&t, cases[i].from, cases[i].to),
		    cases[i].want);
	assert_int_equal(xp_first_trouble(&t), 100);
	const struct truth_hole h = {.at = 3, .from_ns = 50, .to_ns = 60};
	assert_ok(truth_add_hole(&t, &h, test_err()));
	assert_int_equal(xp_first_trouble(&t), 50);
	assert_int_equal(xp_trouble_in(&t, 50, 60), XP_TROUBLE);
	assert_int_equal(xp_trouble_in(&t, 40, 55), XP_CHANGE);
	/* A fault of rate 0 and without delay is no trouble. */
	const struct truth_fault none = {.to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&t, &none, test_err()));
	assert_int_equal(xp_trouble_in(&t, 60, 70), XP_CALM);
	truth_free(&t);
}

static void a_tor_was_black_when_its_hole_was_open(void **state)
{
	struct rig g;
	struct truth t = {0};
	(void)state;
	set_up(&g);
	const struct topo_dc dc = topo_dc_at(&g.m.s.topo, 0);
	const struct truth_hole holes[] = {
	    {.at = 1, .from_ns = 10, .to_ns = 20},
	    {.at = 1, .from_ns = 15, .to_ns = 30},
	    {.at = 3, .from_ns = 20, .to_ns = SIM_NEVER},
	    {.at = 4, .from_ns = 0, .to_ns = SIM_NEVER}, /* a T1 */
	    {.at = 0, .from_ns = 5, .to_ns = 5},         /* never */
	};
	for (size_t i = 0; i < 5; i++)
		assert_ok(truth_add_hole(&t, &holes[i], test_err()));
	assert_int_equal(xp_n_black(&t, &dc, 0, 10), 0);
	assert_int_equal(xp_n_black(&t, &dc, 0, 11), 1);
	assert_int_equal(xp_n_black(&t, &dc, 0, 21), 2);
	assert_int_equal(xp_n_black(&t, &dc, 30, 40), 1);
	assert_true(xp_was_black(&t, 1, 29, 30));
	assert_false(xp_was_black(&t, 1, 30, 40));
	assert_true(xp_was_black(&t, 4, 0, 1));
	truth_free(&t);
	tear_down(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(noise_alone_is_lost_to_on_every_link_both_ways),
	    cmocka_unit_test(
		a_fault_replaces_the_noise_of_its_link_while_it_lasts),
	    cmocka_unit_test(each_probe_has_the_path_of_its_ports),
	    cmocka_unit_test(of_any_path_it_is_the_mean_over_all),
	    cmocka_unit_test(the_answer_takes_the_path_of_the_reverse),
	    cmocka_unit_test(peers_in_other_data_centres_have_the_hosts_added),
	    cmocka_unit_test(trouble_is_calm_steady_or_a_change),
	    cmocka_unit_test(a_tor_was_black_when_its_hole_was_open),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/truth", tests,
	    NULL, NULL);
}
