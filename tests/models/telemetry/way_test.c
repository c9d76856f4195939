/* tests/models/telemetry/way_test.c -- what moves: flaps, full ports, black holes, delays.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bounds are of 5 standard deviations, which a count passes by chance once in 1.7
 * million; there are fewer than a hundred of them here.
 */
#include "models/telemetry/way.h"

#include "models/telemetry/late.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

enum { K = 6, HOSTS = 54 };

/* A count of many independent events: what it should be, and its variance. */
struct tally {
	double got, mean, var;
};

static void add(struct tally *t, int is, double p)
{
	t->got += is;
	t->mean += p;
	t->var += p * (1 - p);
}

static void check(const char *what, const struct tally *t)
{
	print_message("%s: %.0f, %.1f expected\n", what, t->got, t->mean);
	assert_true(t->var > 25);
	assert_near(t->got, t->mean, 5 * sqrt(t->var));
}

static int is_over(const struct telemetry_rig *x, const struct obs_tally *r,
    topo_link l)
{
	int over = r->up == l || r->down == l;
	for (uint32_t k = x->t.paths.off[r->path];
	     k < x->t.paths.off[r->path + 1]; k++)
		over |= x->t.paths.link[k] == l;
	return over;
}

static void fail_between(struct telemetry_rig *x, topo_link l, double rate,
    double from_s, double to_s)
{
	const struct truth_fault f = {.link = l,
	    .rate = rate,
	    .from_ns = (sim_ns)(from_s * 1e9),
	    .to_ns = (sim_ns)(to_s * 1e9)};
	assert_ok(truth_add_fault(&x->scene.truth, &f, test_err()));
	truth_sort(&x->scene.truth);
}

/* Of n packets a flow loses something with probability f (1 - (1 - p)^n); of probes
 * each packet is lost with f p. Flows that lost something began meanwhile. */
static void a_fault_hits_those_that_run_meanwhile(void **state)
{
	(void)state;
	const topo_link bad = 2 * HOSTS + 6;
	const double p = 0.05;
	struct telemetry_rig x;
	struct tally flows = {0}, probes = {0};
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT | OBS_TELE_A1, 0);
	x.p.flows = 2000;
	x.p.probe_packets = 4000;
	fail_between(&x, bad, p, 10, 13);
	fail_between(&x, bad, p, 20, 23);
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
		if (!is_over(&x, &r, bad)) {
			assert_int_equal(r.n_lost, 0);
			continue;
		}
		if (!r.is_probe)
			add(&flows, r.n_lost > 0,
			    0.2 * (1 - pow(1 - p, r.n_sent)));
		else
			for (uint32_t k = 0; k < r.n_sent; k++)
				add(&probes, k < r.n_lost, 0.2 * p);
	}
	for (size_t i = 0; i < x.w.flows.n; i++) {
		const double s = 1e-9 * (double)x.w.flows.start_ns[i];
		assert_true((s >= 10 && s < 13) || (s >= 20 && s < 23));
	}
	check("flows hurt", &flows);
	check("probes lost", &probes);
	telemetry_rig_close(&x);
}

/* A fault that nobody meets moves nothing, though it makes times be drawn. */
static void times_move_no_other_draw(void **state)
{
	(void)state;
	struct telemetry_rig x, y;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_INT | OBS_TELE_A2, 0);
	telemetry_rig_open(&y, K, 1e-3, OBS_TELE_INT | OBS_TELE_A2, 0);
	fail_between(&y, 2 * HOSTS + 6, 1, 29.999999999, 30);
	telemetry_rig_draw(&x);
	telemetry_rig_draw(&y);
	assert_true(y.t.links.some_move && !x.t.links.some_move);
	assert_int_equal(x.t.rows.n, y.t.rows.n);
	assert_memory_equal(x.t.rows.n_lost, y.t.rows.n_lost,
	    x.t.rows.n * sizeof(x.t.rows.n_lost[0]));
	assert_memory_equal(x.t.rows.path, y.t.rows.path,
	    x.t.rows.n * sizeof(x.t.rows.path[0]));
	telemetry_rig_close(&x);
	telemetry_rig_close(&y);
}

static void congest(struct telemetry_rig *x, double ports)
{
	const struct scene_congestion_params p = {.racks = 1,
	    .burst_ms = 0.01,
	    .busy = 1,
	    .ports = ports,
	    .loss = {SIM_UNIFORM, 0.2, 0.8}};
	scene_congestion_init(&x->scene.congestion, &p, &x->topo,
	    &x->scene.where);
}

/* E[1 - (1 - R)^n] for R uniform on (0.2, 0.8). */
static double some_of(double n)
{
	return 1 - (pow(0.8, n + 1) - pow(0.2, n + 1)) / (n + 1) / 0.6;
}

/* Cells are so short that hardly two flows share one, so flows are independent;
 * and a probe's packets, whose rate is 1/2 at a full port. All is lost in
 * buffers, whether anybody knows the path or not. */
static void full_ports_take_by_their_law(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT | OBS_TELE_A1, OBS_TELE_P};
	for (int k = 0; k < 2; k++) {
		struct telemetry_rig x;
		struct tally flows = {0}, probes = {0};
		uint64_t n_drops = 0, n_buffer = 0;
		telemetry_rig_open(&x, K, 0, kinds[k], 0);
		congest(&x, 0.02);
		telemetry_rig_draw(&x);
		for (size_t i = 0; i < x.t.rows.n; i++) {
			const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
			if (r.down == TOPO_NONE)
				assert_int_equal(r.n_lost, 0);
			else if (!r.is_probe)
				add(&flows, r.n_lost > 0,
				    0.02 * some_of(r.n_sent));
			else
				for (uint32_t j = 0; j < r.n_sent; j++)
					add(&probes, j < r.n_lost, 0.01);
		}
		assert_true(x.lost.has_buffer);
		assert_int_equal(x.lost.n_buffer, x.lost.n_drops);
		for (size_t i = 0; i < x.lost.n_drops; i++) {
			n_drops += x.lost.drops[i];
			n_buffer += x.lost.buffer[i];
		}
		assert_true(n_drops > 1000 && n_drops == n_buffer);
		check("flows through full ports", &flows);
		if (k == 0)
			check("probes through full ports", &probes);
		telemetry_rig_close(&x);
	}
}

/* Where ports are full for seconds, flows into one of them meet one rate each: so
 * ports differ more than flows of one rate for all would let them. */
static void bursts_are_of_ports(void **state)
{
	(void)state;
	struct telemetry_rig x;
	double n[HOSTS] = {0}, hurt[HOSTS] = {0};
	int none = 0, many = 0;
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
	congest(&x, 0.3);
	x.scene.congestion.cell_ns = (sim_ns)60e9;
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const uint32_t h = x.t.rows.down[i] / 2;
		n[h]++;
		hurt[h] += x.t.rows.n_lost[i] > 0;
	}
	for (int h = 0; h < HOSTS; h++) {
		none += hurt[h] == 0;
		many += hurt[h] > 0.3 * n[h];
	}
	/* A cell of a minute ends within half of all epochs, at most once. */
	print_message("%d ports never full, %d for long\n", none, many);
	assert_true(none > 10 && many > 5);
	telemetry_rig_close(&x);
}

/* --- black holes ----------------------------------------------------------- */

static void dig(struct telemetry_rig *x, topo_switch at,
    enum blackhole_rule_type type, double share)
{
	struct truth_hole h = {.at = at, .to_ns = SIM_NEVER};
	assert_ok(blackhole_rule_init(&h.rule, type, share, 7 + (uint64_t)type,
	    test_err()));
	assert_ok(truth_add_hole(&x->scene.truth, &h, test_err()));
	for (topo_link l = 0; l < x->topo.n_links; l++) {
		topo_node from, to;
		topo_link_ends(&x->topo, l, &from, &to);
		const struct truth_fault f = {.link = l,
		    .rate = share,
		    .to_ns = SIM_NEVER,
		    .of_hole = 1};
		if (to == x->topo.n_hosts + at)
			assert_ok(
			    truth_add_fault(&x->scene.truth, &f, test_err()));
	}
	truth_sort(&x->scene.truth);
}

/* A share of pairs, or of flows, through the switch loses all, and no other loses
 * anything; all flows of a pair fare alike in type 1. */
static void a_black_hole_takes_its_share_whole(void **state)
{
	(void)state;
	for (int type = 1; type <= 2; type++) {
		/* The first switch of all, and another. */
		const topo_switch at = type == 1 ? 2 : 0;
		static uint32_t fate[HOSTS][HOSTS];
		struct telemetry_rig x;
		struct tally taken = {0};
		memset(fate, 0, sizeof(fate));
		telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
		dig(&x, at, (enum blackhole_rule_type)type, 0.25);
		telemetry_rig_draw(&x);
		for (size_t i = 0; i < x.t.rows.n; i++) {
			const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
			const topo_host a = r.up / 2, b = r.down / 2;
			const uint32_t lost = r.n_lost > 0;
			if (topo_tor_of(&x.topo, a) != at &&
			    topo_tor_of(&x.topo, b) != at) {
				assert_int_equal(lost, 0);
				continue;
			}
			assert_true(!lost || r.n_lost == r.n_sent);
			if (type == 2 || fate[a][b] == 0)
				add(&taken, lost > 0, 0.25);
			assert_true(type == 2 || fate[a][b] == 0 ||
			    fate[a][b] == 1 + lost);
			fate[a][b] = 1 + lost;
		}
		check(type == 1 ? "pairs" : "flows", &taken);
		telemetry_rig_close(&x);
	}
}

/* --- times ----------------------------------------------------------------- */

static void slow(struct telemetry_rig *x, topo_link l, enum truth_law law,
    double us)
{
	const struct truth_fault f = {.link = l,
	    .delay_us = us,
	    .law = law,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&x->scene.truth, &f, test_err()));
	truth_sort(&x->scene.truth);
}

/* Flows of one packet over a link of exponential delay, mean D, are late above T
 * with exp(-(T - 2 h hop) / D); so are probes' packets. Nobody else is, and none of
 * a link that always adds less than T. */
static void what_is_late_is_a_packet_lost(void **state)
{
	(void)state;
	const topo_link bad = 2 * HOSTS + 6, calm = 2 * HOSTS + 8;
	struct telemetry_rig x;
	struct tally flows = {0}, probes = {0};
	telemetry_rig_open(&x, K, 0.5, OBS_TELE_INT | OBS_TELE_A1, 0);
	x.p.flows = 2000;
	x.p.mean = x.p.most = 1;
	x.scene.latency =
	    (struct scene_latency_params){.hop_us = 5, .report_us = 10000};
	slow(&x, bad, TRUTH_EXPONENTIAL, 5000);
	slow(&x, calm, TRUTH_CONSTANT, 9000);
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
		const unsigned h = obs_path_length(&x.t.paths, r.path) +
		    (r.up != TOPO_NONE) + (r.down != TOPO_NONE);
		const double q = exp(-(10000.5 - 10 * h) / 5000);
		assert_true(r.is_probe || r.n_sent == 1);
		/* Beside the calm one they meet another threshold. */
		if (!is_over(&x, &r, bad))
			assert_int_equal(r.n_lost, 0);
		else if (is_over(&x, &r, calm))
			continue;
		else if (!r.is_probe)
			add(&flows, r.n_lost > 0, q);
		else
			for (uint32_t k = 0; k < r.n_sent; k++)
				add(&probes, k < r.n_lost, q);
	}
	for (size_t i = 0; i < x.w.flows.n; i++) {
		assert_true(x.w.flows.srtt_us[i] > 10000);
		for (size_t k = x.w.hops.off[i]; k < x.w.hops.off[i + 1]; k++)
			assert_true(
			    x.lost.drops[k] == 0 || x.w.hops.link[k] == bad);
	}
	check("late flows", &flows);
	check("late probes", &probes);
	telemetry_rig_close(&x);
}

/* Ports that may be full move, however little they lose; and faults that begin or
 * end within the epoch, and marks of holes. */
static void what_changes_in_the_epoch_moves(void **state)
{
	(void)state;
	const sim_ns end = 30 * SIM_SEC;
	static const struct {
		sim_ns from, to;
		int of_hole, moves;
	} all[] = {{0, SIM_NEVER, 0, 0}, {0, 30 * SIM_SEC, 0, 0},
	    {0, 30 * SIM_SEC - 1, 0, 1}, {1, SIM_NEVER, 0, 1},
	    {0, SIM_NEVER, 1, 1}};
	const topo_link bad = 2 * HOSTS + 6;
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		struct telemetry_rig x;
		struct telemetry_links links = {0};
		telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
		const struct truth_fault f = {.link = bad,
		    .rate = 0.5,
		    .of_hole = (uint8_t)all[k].of_hole,
		    .from_ns = all[k].from,
		    .to_ns = all[k].to};
		assert_ok(truth_add_fault(&x.scene.truth, &f, test_err()));
		truth_sort(&x.scene.truth);
		assert_ok(
		    telemetry_links_open(&links, &x.scene, end, test_err()));
		assert_int_equal(links.some_move, all[k].moves);
		for (topo_link l = 0; l < x.topo.n_links; l++)
			assert_int_equal(links.moves[l],
			    l == bad && all[k].moves);
		congest(&x, 0.02);
		x.scene.congestion.params.loss =
		    (struct sim_dist){SIM_FIXED, 0.01, 0.01};
		assert_ok(
		    telemetry_links_open(&links, &x.scene, end, test_err()));
		assert_int_equal(links.some_move, 1);
		for (topo_link l = 0; l < x.topo.n_links; l++)
			assert_int_equal(links.moves[l],
			    (l == bad && all[k].moves) ||
				topo_class_of(&x.topo, l) == TOPO_TOR_HOST);
		telemetry_links_free(&links);
		telemetry_rig_close(&x);
	}
}

/* On a way that meets no full port nothing is put down to one, whatever the way
 * before met. */
static void what_a_fault_takes_no_buffer_took(void **state)
{
	(void)state;
	struct telemetry_rig x;
	struct telemetry_links links = {0};
	struct telemetry_way w;
	struct sim_rng r;
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
	congest(&x, 0.5);
	memset(&w, 0x55, sizeof(w));
	w.at = 0;
	w.h = 3;
	for (unsigned i = 0; i < w.h; i++)
		w.link[i] = 2 * HOSTS + 10 * (i + 1);
	telemetry_rig_fail(&x, w.link[1], 0.25);
	assert_ok(
	    telemetry_links_open(&links, &x.scene, 30 * SIM_SEC, test_err()));
	test_rng(&r, 0);
	const uint32_t lost = telemetry_lose(&links, &r, 1000, &w);
	assert_in_range(lost, 150, 350);
	for (unsigned i = 0; i < w.h; i++) {
		assert_int_equal(w.drops[i], i == 1 ? lost : 0);
		assert_int_equal(w.full.drops[i], 0);
	}
	telemetry_links_free(&links);
	telemetry_rig_close(&x);
}

/* --- one way --------------------------------------------------------------- */

enum { H = 4 };

/* A way of H links, of which all that was there before must go, and links as they
 * are in an epoch of 30 s. */
static void open_way(struct telemetry_rig *x, struct telemetry_links *links,
    struct telemetry_way *w)
{
	memset(w, 0x55, sizeof(*w));
	w->at = 5 * SIM_SEC;
	w->h = H;
	for (unsigned i = 0; i < H; i++)
		w->link[i] = 2 * HOSTS + 10 * (i + 1);
	assert_ok(
	    telemetry_links_open(links, &x->scene, 30 * SIM_SEC, test_err()));
}

static void assert_worst(const struct telemetry_way *w, unsigned worst)
{
	for (unsigned i = 0; i < w->h; i++) {
		assert_int_equal(w->drops[i], i == worst);
		assert_int_equal(w->full.drops[i], 0);
	}
}

/* Delays that are constant add up to the nearest us, with two crossings of each
 * link; above the threshold, and not at it, the link that added most is told. */
static void the_link_that_adds_most_makes_it_late(void **state)
{
	(void)state;
	static const struct {
		double us[H], over;
		uint32_t sum;
		int is_late;
		unsigned worst;
	} all[] = {
	    {{0, 0, 0, 0}, 39, 40, 1, 0},
	    {{0, 0, 0, 0}, 40, 40, 0, 0},
	    {{300, 700, 0, 10}, 1049, 1050, 1, 1},
	    {{300, 700, 0, 10}, 1050, 1050, 0, 0},
	    {{0, 10, 700.4, 0}, 1, 750, 1, 2},
	    {{0, 10, 700.6, 0}, 1, 751, 1, 2},
	    {{5, 700, 5, 700}, 1, 1450, 1, 1},
	    {{0, 0, 0, 1e-3}, 1, 40, 1, 3},
	};
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		struct telemetry_rig x;
		struct telemetry_links links = {0};
		struct telemetry_way w;
		struct sim_rng r;
		uint32_t us;
		telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
		x.scene.latency = (struct scene_latency_params){.hop_us = 5,
		    .report_us = all[k].over};
		open_way(&x, &links, &w);
		for (unsigned i = 0; i < H; i++)
			if (all[k].us[i] > 0)
				slow(&x, w.link[i], TRUTH_CONSTANT,
				    all[k].us[i]);
		test_rng(&r, 0);
		for (uint32_t n = 1; n < 20; n += 9) {
			memset(w.drops, 0x55, sizeof(w.drops));
			memset(w.full.drops, 0x55, sizeof(w.full.drops));
			assert_int_equal(telemetry_late(&links, &r, n, &w, &us),
			    all[k].is_late);
			assert_int_equal(us, all[k].sum);
			if (all[k].is_late)
				assert_worst(&w, all[k].worst);
		}
		telemetry_links_free(&links);
		telemetry_rig_close(&x);
	}
}

/* What waits at ports is added as congestion has it, of all links of the way. */
static void full_ports_make_it_late(void **state)
{
	(void)state;
	struct telemetry_rig x;
	struct telemetry_links links = {0};
	struct telemetry_way w;
	struct sim_rng r;
	unsigned n_waits = 0, n_last = 0;
	const struct scene_congestion_params p = {.racks = 1,
	    .burst_ms = 0.01,
	    .busy = 1,
	    .ports = 0.3,
	    .uplinks = 0.3,
	    .loss = {SIM_UNIFORM, 0.2, 0.8},
	    .wait_us = {SIM_UNIFORM, 100, 900}};
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
	scene_congestion_init(&x.scene.congestion, &p, &x.topo, &x.scene.where);
	x.scene.latency =
	    (struct scene_latency_params){.hop_us = 5, .report_us = 1};
	open_way(&x, &links, &w);
	/* Ports to hosts are those that may be full. */
	for (unsigned i = 0; i < H; i++)
		w.link[i] = topo_link_of(7 * i, TOPO_DOWN);
	test_rng(&r, 0);
	for (unsigned k = 0; k < 500; k++) {
		uint32_t us;
		unsigned worst = 0;
		double wait[H];
		w.at = k * SIM_SEC / 100;
		for (unsigned i = 0; i < H; i++) {
			wait[i] = scene_congestion_us(&x.scene.congestion,
			    &w.link[i], 1, w.at);
			worst = wait[i] > wait[worst] ? i : worst;
		}
		assert_int_equal(telemetry_late(&links, &r, 1, &w, &us), 1);
		assert_int_equal(us,
		    (uint32_t)(40.5 + wait[0] + wait[1] + wait[2] + wait[3]));
		assert_worst(&w, worst);
		n_waits += wait[worst] > 0;
		n_last += worst == H - 1;
	}
	assert_true(n_waits > 100 && n_last > 20);
	telemetry_links_free(&links);
	telemetry_rig_close(&x);
}

/* Of probes those are late that meet the fault, each at a time of its own; and
 * where nothing moves no time is drawn. */
static void each_probe_is_late_for_itself(void **state)
{
	(void)state;
	for (int moves = 0; moves < 2; moves++) {
		enum { N = 1000 };
		struct telemetry_rig x;
		struct telemetry_links links = {0};
		struct telemetry_way w;
		struct sim_rng r, apart, same;
		uint32_t want = 0;
		telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
		x.scene.latency = (struct scene_latency_params){.hop_us = 5,
		    .report_us = 1000};
		const struct truth_fault f = {.link = 2 * HOSTS + 10,
		    .delay_us = 2000,
		    .law = TRUTH_CONSTANT,
		    .from_ns = moves ? 10 * SIM_SEC : 0,
		    .to_ns = moves ? 19 * SIM_SEC : SIM_NEVER};
		assert_ok(truth_add_fault(&x.scene.truth, &f, test_err()));
		truth_sort(&x.scene.truth);
		open_way(&x, &links, &w);
		test_rng(&r, 0);
		test_rng(&apart, 1);
		test_rng(&same, 1);
		for (unsigned k = 0; k < N && moves; k++) {
			const sim_ns at = telemetry_time(&same, 30 * SIM_SEC);
			want += at >= f.from_ns && at < f.to_ns;
		}
		assert_int_equal(telemetry_late_apart(&links, &r, &apart,
				     30 * SIM_SEC, N, &w),
		    moves ? want : N);
		assert_int_equal(sim_rng_u32(&apart), sim_rng_u32(&same));
		if (!moves)
			assert_int_equal(w.at, 5 * SIM_SEC);
		telemetry_links_free(&links);
		telemetry_rig_close(&x);
	}
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_A1 | OBS_TELE_P, 0);
	congest(&x, 0.5);
	x.p.flows = 3;
	test_each_alloc_fails(telemetry_rig_draw_once, &x);
	telemetry_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_fault_hits_those_that_run_meanwhile),
	    cmocka_unit_test(times_move_no_other_draw),
	    cmocka_unit_test(full_ports_take_by_their_law),
	    cmocka_unit_test(bursts_are_of_ports),
	    cmocka_unit_test(a_black_hole_takes_its_share_whole),
	    cmocka_unit_test(what_is_late_is_a_packet_lost),
	    cmocka_unit_test(no_memory_is_an_error),
	    cmocka_unit_test(the_link_that_adds_most_makes_it_late),
	    cmocka_unit_test(full_ports_make_it_late),
	    cmocka_unit_test(each_probe_is_late_for_itself),
	    cmocka_unit_test(what_changes_in_the_epoch_moves),
	    cmocka_unit_test(what_a_fault_takes_no_buffer_took),
	};
	return cmocka_run_group_tests_name("models/telemetry/way", tests, NULL,
	    NULL);
}
