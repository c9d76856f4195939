/* tests/models/scene/congestion_test.c -- models/scene/congestion: its law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws are told apart by chi-square at p = 1e-6, 51 times in all: one false alarm
 * in 20,000 seeds.
 */
#include "models/scene/congestion.h"

#include <gsl/gsl_randist.h>

#include "models/rack/record.h"
#include "models/rack/traffic.h"
#include "models/scene/loss.h"
#include "tests/rigs/congested.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"

enum { N_EPOCHS = 60000, N = 3, M = 5 };
static const double P_MIN = 1e-6;
static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 3};

static const struct scene_congestion_params laws[] = {
    {0.6, 1, 0.5, 0.4, 0.7, {SIM_UNIFORM, 0.1, 0.9}, {SIM_UNIFORM, 20, 60}},
    {1, 2.5, 1, 0.3, 0.3, {SIM_FIXED, 0.25, 0.25}, {SIM_FIXED, 0, 0}},
    {0.5, 0.4, 0.8, 0.9, 0, {SIM_LOG_UNIFORM, 0.01, 1}, {SIM_FIXED, 7, 7}},
};
enum { N_LAWS = sizeof(laws) / sizeof(laws[0]) };

static topo_link to_host(topo_host h)
{
	return topo_link_of(h, TOPO_DOWN);
}

/* How many of n packets a flow loses at a port that is full as P says. */
static void law_of_packets(const struct scene_congestion_params *p, double q,
    double want[N + 1])
{
	enum { STEPS = 20000 };
	const double full = p->racks * p->busy * q;
	memset(want, 0, (N + 1) * sizeof(want[0]));
	for (unsigned i = 0; i < STEPS; i++) {
		const double u = (i + 0.5) / STEPS, a = p->loss.a,
			     b = p->loss.b;
		const double r = p->loss.kind == SIM_LOG_UNIFORM
		    ? a * pow(b / a, u)
		    : a + (b - a) * u;
		for (unsigned k = 0; k <= N; k++)
			want[k] += full * gsl_ran_binomial_pdf(k, r, N) / STEPS;
	}
	want[0] += 1 - full;
}

/* Cells [lost by the first][by the second] of N_EPOCHS epochs of the module, and
 * how many packets the first lost. */
static void play_pairs(const struct topo *t,
    const struct scene_congestion_params *p, const struct congested_pair *x,
    uint32_t run, uint64_t cell[4], uint64_t packets[N + 1])
{
	struct sim_rng r;
	test_rng(&r, run);
	memset(cell, 0, 4 * sizeof(cell[0]));
	memset(packets, 0, (N + 1) * sizeof(packets[0]));
	for (uint32_t i = 0; i < N_EPOCHS; i++) {
		const struct sim_seed where = {test_seed(), run, i, 7};
		struct scene_congestion c;
		scene_congestion_init(&c, p, t, &where);
		const double h[2] = {scene_congestion_hazard(&c, x->a, x->t),
		    scene_congestion_hazard(&c, x->b, x->t + x->d)};
		const unsigned k[2] = {gsl_ran_binomial(&r.gsl, -expm1(-h[0]),
					   N),
		    gsl_ran_binomial(&r.gsl, -expm1(-h[1]), M)};
		assert_true(h[0] <= scene_congestion_bound(&c, x->a));
		assert_true(h[1] <= scene_congestion_bound(&c, x->b));
		cell[2 * (k[0] > 0) + (k[1] > 0)]++;
		packets[k[0]]++;
	}
}

/* The same by brute force: a rack's cells are walked through from before time 0,
 * and packets lost one by one. SAME: of one rack, of one port. */
static void play_brute(const struct scene_congestion_params *p,
    const double q[2], const struct congested_pair *x, int one_rack,
    uint32_t run, uint64_t cell[4])
{
	const double w = p->burst_ms * 1e6;
	struct sim_rng r;
	test_rng(&r, run);
	memset(cell, 0, 4 * sizeof(cell[0]));
	for (uint32_t i = 0; i < N_EPOCHS; i++) {
		int lost[2] = {0, 0};
		/* A pass for each rack; of a pass, flows that are not in it
		 * lose nothing. */
		for (int rack = 0; rack < (one_rack ? 1 : 2); rack++) {
			const int hot = sim_rng_u01(&r) < p->racks;
			double from = -w * sim_rng_u01(&r);
			for (; from <= (double)(x->t + x->d); from += w) {
				const int busy = sim_rng_u01(&r) < p->busy;
				int full[2];
				double rate[2];
				for (int f = 0; f < 2; f++) {
					full[f] = sim_rng_u01(&r) < q[f];
					rate[f] =
					    p->loss.kind == SIM_LOG_UNIFORM
					    ? p->loss.a *
						pow(p->loss.b / p->loss.a,
						    sim_rng_u01(&r))
					    : p->loss.a +
						(p->loss.b - p->loss.a) *
						    sim_rng_u01(&r);
				}
				if (x->a == x->b) {
					full[1] = full[0];
					rate[1] = rate[0];
				}
				for (int f = 0; f < 2; f++) {
					const double at =
					    (double)(x->t + (f ? x->d : 0));
					if (!hot || !busy || !full[f] ||
					    (!one_rack && f != rack) ||
					    at < from || at >= from + w)
						continue;
					for (int k = 0; k < (f ? M : N); k++)
						lost[f] |=
						    sim_rng_u01(&r) < rate[f];
				}
			}
		}
		cell[2 * lost[0] + lost[1]]++;
	}
}

/* Through one port, two of a rack, a port and an uplink of a rack, two racks. */
static void losses_follow_the_law_that_is_stated(void **state)
{
	struct topo t = {0};
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	const topo_link up = topo_link_between(&t, t.n_hosts, t.n_hosts + 4);
	assert_int_equal(topo_class_of(&t, up), TOPO_TOR_T1);
	for (unsigned i = 0; i < 4 * N_LAWS; i++) {
		const struct scene_congestion_params *p = &laws[i / 4];
		static const double apart[] = {0, 0.3, 0.8, 1.7};
		const struct congested_pair x = {
		    to_host(0),
		    i % 4 == 0       ? to_host(0)
			: i % 4 == 1 ? to_host(2)
			: i % 4 == 2 ? up
				     : to_host(3),
		    3456789,
		    (sim_ns)(apart[(i + i / 4) % 4] * p->burst_ms * 1e6),
		    N,
		    M,
		};
		const double q[2] = {p->ports,
		    i % 4 == 2 ? p->uplinks : p->ports};
		uint64_t got[4], brute[4], packets[N + 1];
		double want[4], law[N + 1];
		play_pairs(&t, p, &x, i, got, packets);
		play_brute(p, q, &x, i % 4 < 3, 100 + i, brute);
		congested_law(p, q, &x, i % 4 < 3, want);
		law_of_packets(p, p->ports, law);
		const double pv[] = {law_chi2(got, want, 4),
		    law_chi2(brute, want, 4), law_chi2_equal(got, brute, 4),
		    law_chi2(packets, law, N + 1)};
		for (unsigned k = 0; k < 4; k++)
			if (!(pv[k] > P_MIN))
				fail_msg("seed %llu, run %u: p[%u] = %g",
				    (unsigned long long)test_seed(), i, k,
				    pv[k]);
	}
	topo_close(&t);
}

/* A port is full for 1 / (1 - busy q) cells in the mean, and its state changes
 * only between cells. */
static void a_port_is_full_for_whole_cells(void **state)
{
	enum { CELLS = 200000, FINE = 4 };
	const struct scene_congestion_params *p = &laws[1];
	const struct sim_seed where = {test_seed(), 1, 2, 3};
	struct scene_congestion c;
	struct topo t = {0};
	double n_full = 0, n_runs = 0, n_changes[FINE] = {0};
	double was = 0;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	scene_congestion_init(&c, p, &t, &where);
	for (sim_ns i = 0; i < (sim_ns)FINE * CELLS; i++) {
		const double h = scene_congestion_hazard(&c, to_host(1),
		    i * c.cell_ns / FINE);
		n_changes[i % FINE] += i > 0 && h != was;
		n_runs += h > 0 && was == 0;
		n_full += h > 0;
		was = h;
	}
	unsigned n_places = 0;
	for (unsigned i = 0; i < FINE; i++)
		n_places += n_changes[i] > 0;
	assert_int_equal(n_places, 1);
	const double cells = n_full / FINE, q = p->busy * p->ports;
	/* A run's length is geometric, of variance q / (1 - q)^2. */
	assert_near(cells / n_runs, 1 / (1 - q),
	    5 * sqrt(q / n_runs) / (1 - q));
	topo_close(&t);
}

/* D is uniform by the law, and says nothing of R. */
static void what_gets_through_waits_by_its_law(void **state)
{
	enum { BINS = 8, TIMES = 100000 };
	const struct scene_congestion_params *p = &laws[0];
	const struct sim_seed where = {test_seed(), 2, 3, 4};
	uint64_t n[BINS] = {0}, both[BINS * BINS] = {0};
	struct scene_congestion c, dry;
	struct scene_congestion_params none = *p;
	struct topo t = {0};
	(void)state;
	none.wait_us = (struct sim_dist){SIM_FIXED, 0, 0};
	none.racks = 1;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	scene_congestion_init(&dry, &none, &t, &where);
	none.wait_us = p->wait_us;
	scene_congestion_init(&c, &none, &t, &where);
	assert_true(scene_congestion_waits(&c));
	assert_false(scene_congestion_waits(&dry));
	for (sim_ns i = 0; i < TIMES; i++) {
		const topo_link l = to_host((topo_host)(i % t.n_hosts));
		const sim_ns at = i * c.cell_ns;
		const double h = scene_congestion_hazard(&c, l, at);
		const double us =
		    1e-3 * (double)scene_congestion_wait(&c, l, at);
		assert_true(h == scene_congestion_hazard(&dry, l, at));
		assert_int_equal(scene_congestion_wait(&dry, l, at), 0);
		assert_true(us == scene_congestion_us(&c, &l, 1, at));
		if (h == 0) {
			assert_true(us == 0);
			continue;
		}
		const double d = (us - 20) / 40, r = (-expm1(-h) - 0.1) / 0.8;
		const unsigned k = (unsigned)(d * BINS);
		assert_true(d >= 0 && d < 1);
		n[k]++;
		both[k * BINS + (unsigned)fmin(r * BINS, BINS - 1)]++;
	}
	assert_true(law_chi2_uniform(n, BINS) > P_MIN);
	assert_true(law_chi2_uniform(both, BINS * BINS) > P_MIN);
	topo_close(&t);
}

static void other_links_and_none_at_all_have_no_buffers(void **state)
{
	struct scene_congestion_params p;
	struct scene_congestion c;
	const struct sim_seed where = {test_seed(), 0, 0, 0};
	struct topo t = {0};
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_ok(sim_field_defaults(scene_congestion_fields, &p, test_err()));
	scene_congestion_init(&c, &p, &t, &where);
	assert_false(scene_congestion_is_on(&c));
	assert_true(scene_congestion_hazard(&c, to_host(0), 1) == 0);
	assert_true(scene_congestion_bound(&c, to_host(0)) == 0);
	p.racks = p.ports = 1;
	scene_congestion_init(&c, &p, &t, &where);
	for (topo_link l = 0; l < t.n_links; l++) {
		const int port = topo_class_of(&t, l) == TOPO_TOR_HOST;
		assert_int_equal(scene_congestion_hazard(&c, l, 5) > 0, port);
		assert_int_equal(scene_congestion_bound(&c, l) > 0, port);
	}
	/* To be off costs no draw: that of a product of 0 is the same. */
	p.ports = 0;
	scene_congestion_init(&c, &p, &t, &where);
	assert_false(scene_congestion_is_on(&c));
	topo_close(&t);
}

static uint32_t tell(struct sim_rng *r, uint32_t drops, double buffer,
    double all)
{
	struct scene_congested x = {.hazard = {buffer}, .drops = {99}};
	scene_congestion_tell(r, &drops, &all, 1, &x);
	return x.drops[0];
}

/* Of packets with a mark of the buffer or of the link, by brute force. */
static void drops_are_the_buffers_by_their_share(void **state)
{
	enum { TRIES = 40000, DROPS = 4 };
	const double buffer = 0.4, link = 0.9;
	uint64_t got[DROPS + 1] = {0}, brute[DROPS + 1] = {0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 900);
	for (unsigned i = 0; i < TRIES; i++) {
		got[tell(&r, DROPS, buffer, buffer + link)]++;
		unsigned k = 0;
		for (unsigned j = 0; j < DROPS;) {
			const int b = sim_rng_u01(&r) < -expm1(-buffer);
			const int l = sim_rng_u01(&r) < -expm1(-link);
			j += b || l;
			k += b;
		}
		brute[k]++;
	}
	assert_true(law_chi2_equal(got, brute, DROPS + 1) > P_MIN);
	assert_int_equal(tell(&r, 3, 0, 1), 0);
	assert_int_equal(tell(&r, 0, 1, 2), 0);
	assert_int_equal(tell(&r, 3, 1, 1), 3);
	assert_int_equal(tell(&r, 3, INFINITY, INFINITY), 3);
}

/* --- the rack that the defaults are of ------------------------------------ */

enum { MS = 2000, SERVERS = 92, RACKS = 12 };
struct sums {
	double offered, met,
	    lost; /* bytes: of all; in lossy ms of their port */
};

/* Bytes that came and bytes that were dropped, by millisecond and server. */
static void add_rack(uint32_t rack, double in[MS][SERVERS],
    double dropped[MS][SERVERS])
{
	static const sim_ns widths[] = {SIM_MS};
	const struct sim_seed where = {.seed = 20221025, .run = rack};
	struct rack_params p;
	struct rack_traffic_params tr;
	struct rack_record_params rec;
	struct rack *r;
	struct rack_flows f = {0};
	struct obs_runs runs = {0};
	struct obs_samples s = {0};
	struct rack_losses lost = {0};
	assert_ok(sim_field_defaults(rack_fields, &p, test_err()));
	assert_ok(sim_field_defaults(rack_traffic_fields, &tr, test_err()));
	assert_ok(sim_field_defaults(rack_record_fields, &rec, test_err()));
	tr.ml_racks = 0;
	rec.start = RACK_ALIGNED;
	assert_int_equal(p.n_servers, SERVERS);
	assert_ok(rack_open(&r, &p, &where, test_err()));
	assert_ok(
	    rack_traffic(&f, &p, &tr, 0, MS * SIM_MS, &where, test_err()));
	assert_ok(rack_put(r, &f, test_err()));
	assert_ok(rack_record(r, &rec, widths, 1, 0, MS * SIM_MS, &where, &runs,
	    &s, &lost, test_err()));
	memset(in, 0, sizeof(in[0]) * MS);
	memset(dropped, 0, sizeof(dropped[0]) * MS);
	for (size_t i = 0; i < s.n; i++) {
		const uint32_t run = s.run[i];
		const sim_ns at = runs.start_ns[run] / SIM_MS + s.bucket[i];
		if (at < MS)
			in[at][runs.host[run]] = s.in_bytes[i];
	}
	for (size_t i = 0; i < lost.n; i++)
		if (lost.start_ns[i] / SIM_MS < MS)
			dropped[lost.start_ns[i] / SIM_MS][lost.host[i]] =
			    (double)lost.buffer[i];
	rack_close(r);
	rack_flows_free(&f);
	obs_runs_free(&runs);
	obs_samples_free(&s);
	rack_losses_free(&lost);
}

static void the_defaults_are_those_of_a_rack(void **state)
{
	static double in[MS][SERVERS], dropped[MS][SERVERS];
	struct scene_congestion_params p;
	struct sums x = {0};
	double n_lossy = 0, n_runs = 0;
	(void)state;
	assert_ok(sim_field_defaults(scene_congestion_fields, &p, test_err()));
	for (uint32_t rack = 0; rack < RACKS; rack++) {
		add_rack(rack, in, dropped);
		for (unsigned t = 0; t < MS; t++)
			for (unsigned h = 0; h < SERVERS; h++) {
				const double all = in[t][h] + dropped[t][h];
				x.offered += all;
				if (dropped[t][h] == 0)
					continue;
				x.met += all;
				x.lost += dropped[t][h];
				n_lossy++;
				n_runs += t == 0 || dropped[t - 1][h] == 0;
			}
	}
	print_message("of the bytes %.3g met a full port, %.3g of these were "
		      "lost; %.3g ms long\n",
	    x.met / x.offered, x.lost / x.met, n_lossy / n_runs);
	/* A few lossy bursts of very unequal size make these up. */
	assert_near(log(x.met / x.offered / (p.busy * p.ports)), 0, log(1.5));
	assert_near(x.lost / x.met, (p.loss.a + p.loss.b) / 2, 0.1);
	assert_near(n_lossy / n_runs, p.burst_ms, 0.1);
}

/* Along a path each port is asked by itself; its hazard is added to the link's, and
 * its time to the others'. */
static void a_path_meets_each_of_its_ports(void **state)
{
	enum { H = 5 };
	const struct sim_seed where = {test_seed(), 4, 5, 6};
	struct scene_congestion c;
	struct topo t = {0};
	unsigned n_met[H] = {0};
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	struct scene_congestion_params p = laws[0];
	p.racks = 1;
	scene_congestion_init(&c, &p, &t, &where);
	for (sim_ns at = 0; at < 2000 * c.cell_ns; at += c.cell_ns / 3) {
		/* A host's own link has no buffer. */
		const topo_link path[H] = {to_host(0), topo_link_of(1, TOPO_UP),
		    to_host(5), to_host(11), to_host(8)};
		double all[H] = {0.5, 0.25, 0, 0.125, 1}, us = 0;
		struct scene_congested x;
		memset(&x, 0x55, sizeof(x));
		scene_congestion_meet(&c, path, H, at, all, &x);
		for (unsigned i = 0; i < H; i++) {
			const double own[H] = {0.5, 0.25, 0, 0.125, 1};
			const double h =
			    scene_congestion_hazard(&c, path[i], at);
			assert_true(x.hazard[i] == h);
			assert_true(all[i] == own[i] + h);
			assert_int_equal(x.drops[i], 0);
			us += 1e-3 *
			    (double)scene_congestion_wait(&c, path[i], at);
			n_met[i] += h > 0;
		}
		assert_near(scene_congestion_us(&c, path, H, at), us, 1e-9);
	}
	for (unsigned i = 0; i < H; i++)
		assert_int_equal(n_met[i] > 100, i != 1);
	topo_close(&t);
}

/* Hops that lost nothing, or that have no buffer, or nothing but one, need no
 * draw. */
static void drops_are_told_hop_by_hop(void **state)
{
	enum { H = 5 };
	const uint32_t drops[H] = {0, 7, 8, 9, 1000000};
	const double all[H] = {1, 0.3, INFINITY, 0.5, 2};
	struct scene_congested x = {.hazard = {1, 0, INFINITY, 0.5, 1},
	    .drops = {99, 99, 99, 99, 99}};
	struct sim_rng r, same;
	(void)state;
	test_rng(&r, 901);
	test_rng(&same, 901);
	scene_congestion_tell(&r, drops, all, 4, &x);
	assert_int_equal(sim_rng_u32(&r), sim_rng_u32(&same));
	const uint32_t want[H] = {0, 0, 8, 9, 99};
	assert_memory_equal(x.drops, want, sizeof(want));
	scene_congestion_tell(&r, drops, all, H, &x);
	const double share = (1 - exp(-1)) / (1 - exp(-2));
	assert_near(x.drops[4], 1e6 * share,
	    5 * sqrt(1e6 * share * (1 - share)));
}

/* Until then the port is as it was; and no later than a cell. */
static void a_cell_ends_when_it_says(void **state)
{
	const struct sim_seed where = {test_seed(), 5, 6, 7};
	struct scene_congestion c;
	struct topo t = {0};
	unsigned n_changes = 0;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	scene_congestion_init(&c, &laws[1], &t, &where);
	assert_int_equal(c.cell_ns, 2500000);
	for (topo_host h = 0; h < t.n_hosts; h++)
		for (sim_ns at = 0; at < 50 * c.cell_ns;) {
			const sim_ns end =
			    scene_congestion_until(&c, to_host(h), at);
			const double now =
			    scene_congestion_hazard(&c, to_host(h), at);
			assert_in_range(end - at, 1, c.cell_ns);
			assert_true(at == 0 || end - at == c.cell_ns);
			assert_true(scene_congestion_hazard(&c, to_host(h),
					end - 1) == now);
			assert_int_equal(scene_congestion_until(&c, to_host(h),
					     end - 1),
			    end);
			n_changes +=
			    scene_congestion_hazard(&c, to_host(h), end) != now;
			at = end;
		}
	assert_true(n_changes > 100);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(losses_follow_the_law_that_is_stated),
	    cmocka_unit_test(a_port_is_full_for_whole_cells),
	    cmocka_unit_test(what_gets_through_waits_by_its_law),
	    cmocka_unit_test(other_links_and_none_at_all_have_no_buffers),
	    cmocka_unit_test(drops_are_the_buffers_by_their_share),
	    cmocka_unit_test(the_defaults_are_those_of_a_rack),
	    cmocka_unit_test(a_path_meets_each_of_its_ports),
	    cmocka_unit_test(drops_are_told_hop_by_hop),
	    cmocka_unit_test(a_cell_ends_when_it_says),
	};
	return cmocka_run_group_tests_name("models/scene/congestion", tests,
	    NULL, NULL);
}
