/* tests/algos/millisampler/vote_filtered_test.c -- who votes, and who does not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/vote_filtered.h"

#include "algos/vigil/alg1.h"
#include "algos/vigil/vote.h"
#include "models/bulk/bulk.h"
#include "tests/rigs/sampled.h"
#include "tests/rigs/scenes.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 3,
    .n_hosts = 7};

static void diagnose(const struct algo_ops *a, const struct topo *t,
    const struct obs *w, struct algo_verdicts *v)
{
	void *work;
	assert_ok(algo_open(a, &work, t, NULL, test_err()));
	assert_ok(a->diagnose(work, w, NULL, v, test_err()));
	algo_close(a, work);
}

/* Flows to some hosts are set aside if and only if their losses are a buffer's:
 * the answer is 007's for a window in which these sent nothing again. */
static void flows_to_hosts_behind_full_buffers_do_not_vote(void **state)
{
	struct topo t = {0};
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	for (uint32_t run = 0; run < 30; run++) {
		struct algo_verdicts v = {0}, want = {0};
		struct sampled s = {0};
		struct obs w = {0}, same;
		struct sim_rng r;
		uint32_t n_retx[200], n_aside = 0;
		test_rng(&r, run);
		window_random(&w, t.n_links, 200, &r);
		/* Of each three hosts one behind a buffer, one behind a bad
		 * link, one that nothing is known of. */
		for (uint32_t h = 0; h < t.n_hosts; h += 1 + (h % 3 == 1))
			sampled_draw(&s, h,
			    h % 3 == 0 ? &(struct sampled_law){.rate = .05,
					     .marked = .8,
					     .full = .3,
					     .rto_ms = 5}
				       : &(struct sampled_law){.rate = .05,
					     .loss = .01},
			    &r);
		for (size_t i = 0; i < w.flows.n; i++) {
			w.flows.dst_host[i] = sim_rng_below(&r, t.n_hosts);
			const int aside = w.flows.dst_host[i] % 3 == 0;
			n_retx[i] = aside ? 0 : w.flows.n_retx[i];
			n_aside += aside && w.flows.n_retx[i] > 0;
		}
		same = w;
		same.flows.n_retx = n_retx;
		diagnose(&algo_vote, &t, &same, &want);
		w.runs = &s.runs;
		w.samples = &s.samples;
		diagnose(&algo_vote_filtered, &t, &w, &v);
		assert_true(n_aside > 20);
		assert_same_verdicts(&v, &want);
		/* Without samples it is 007. */
		w.runs = NULL;
		diagnose(&algo_vote, &t, &w, &want);
		diagnose(&algo_vote_filtered, &t, &w, &v);
		assert_same_verdicts(&v, &want);
		algo_verdicts_free(&v);
		algo_verdicts_free(&want);
		sampled_free(&s);
		obs_free(&w);
	}
	topo_close(&t);
}

/* --- by flow --------------------------------------------------------------- */

/* A window of one rack: hosts 0 and 1 are sampled for 1,000 ms from 1 s on, with
 * a marked burst in buckets 100 to 101 and other bytes in all others; host 2 is
 * not. Flows send again as they are put. */
struct timed {
	struct topo t;
	struct sampled s;
	struct obs w;
	uint64_t at[64];
};

static void timed_open(struct timed *x)
{
	*x = (struct timed){0};
	assert_ok(topo_open_clos(&x->t, &shape, test_err()));
	for (uint32_t h = 0; h < 2; h++) {
		sampled_run(&x->s, h, 1000);
		for (uint32_t k = 0; k < 1000; k++) {
			const int in = k == 100 || k == 101;
			sampled_row(&x->s,
			    (struct obs_sample){.bucket = k,
				.in_bytes = in ? SAMPLED_LINE : 60000,
				.in_ce = in ? SAMPLED_LINE : 0});
		}
	}
	x->w.runs = &x->s.runs;
	x->w.samples = &x->s.samples;
	x->w.retx_ns = x->at;
}

static void timed_close(struct timed *x)
{
	sampled_free(&x->s);
	obs_free(&x->w);
	topo_close(&x->t);
}

static void timed_put(struct timed *x, uint32_t host, uint32_t ms, unsigned n)
{
	const topo_link path[] = {topo_link_of(9, TOPO_UP),
	    topo_link_of(host, TOPO_DOWN)};
	const struct obs_flow f = {.src_host = 9,
	    .dst_host = host,
	    .n_pkts = 50,
	    .n_retx = 1};
	while (n-- > 0) {
		x->at[x->w.flows.n] = (1000 + ms) * UINT64_C(1000000) + 7;
		assert_true(x->w.flows.n < 64);
		assert_ok(obs_add_flow(&x->w, &f, path, 2, test_err()));
	}
}

static const struct algo_loss_filter_params by_flow = {.by = ALGO_LOSS_BY_FLOW,
    .rto_ms = 5,
    .margin = 2};

/* How many of flows FIRST .. FIRST + N - 1 are set aside, and the chance. */
static unsigned timed_aside(const struct timed *x, size_t first, size_t n,
    double *chance)
{
	struct algo_loss_filter f = {0};
	const struct algo_samples_in in = {x->w.runs, x->w.samples};
	unsigned n_aside = 0;
	assert_ok(algo_loss_filter_open(&f, &x->t, &by_flow, test_err()));
	assert_ok(algo_loss_filter_find(&f, &by_flow, &x->w, &in, test_err()));
	for (size_t i = 0; i < n; i++)
		n_aside += f.aside[first + i];
	*chance = f.busy;
	algo_loss_filter_free(&f);
	return n_aside;
}

/* The burst's buckets, one more, those an RTO later, and one at each side: 99 to
 * 103 and 104 to 108. */
static void hot_flows_are_set_aside_and_cold_ones_are_not(void **state)
{
	struct timed x;
	double b;
	(void)state;
	for (uint32_t ms = 97; ms < 112; ms++) {
		timed_open(&x);
		timed_put(&x, 0, 100, 8);
		timed_put(&x, 1, 500, 4);
		timed_put(&x, 1, ms, 1);
		assert_int_equal(timed_aside(&x, 0, 8, &b), 8);
		assert_int_equal(timed_aside(&x, 8, 4, &b), 0);
		assert_int_equal(timed_aside(&x, 12, 1, &b),
		    ms >= 99 && ms <= 108);
		timed_close(&x);
	}
	/* s, by hand. */
	const double all = 2 * SAMPLED_LINE + 998 * 60000.0;
	assert_near(b, (2 * SAMPLED_LINE + 8 * 60000.0) / all, 1e-12);
}

/* If no more are hot than by chance, all vote; and one flow alone is no witness
 * against itself. */
static void chance_sets_nobody_aside(void **state)
{
	struct timed x;
	double s;
	(void)state;
	for (unsigned n = 1; n <= 3; n++) {
		timed_open(&x);
		timed_put(&x, 0, 101, n);
		timed_put(&x, 1, 600, 15 * n);
		assert_int_equal(timed_aside(&x, 0, 16 * n, &s), 0);
		assert_true(s > 1.0 / 20);
		timed_close(&x);
	}
	timed_open(&x);
	timed_put(&x, 0, 101, 1);
	assert_int_equal(timed_aside(&x, 0, 1, &s), 0);
	timed_close(&x);
}

/* What its head says of flows to hosts 0 and 1 of which N_HOT are hot and N_COLD are
 * not, B being those of chance and R the rack's; Q of a hot one by all others. */
struct shown {
	double n_hot[2], n_cold[2], b[2];
};

static double shown_share(double z, double b)
{
	return fmax(0, (z - b) / (1 - b));
}

static int shown_hot_is_aside(const struct shown *x, unsigned host)
{
	double n_hot = 0, n = 0, chance = 0;
	for (unsigned h = 0; h < 2; h++) {
		n_hot += x->n_hot[h];
		n += x->n_hot[h] + x->n_cold[h];
		chance += (x->n_hot[h] + x->n_cold[h]) * x->b[h];
	}
	/* One rack is the whole network: two more are like all others, and by
	 * chance like all. */
	const double z =
	    (n_hot - 1 + (n > 1 ? 2 * (n_hot - 1) / (n - 1) : 0)) / (n + 1);
	const double q =
	    shown_share(z, (chance - x->b[host] + 2 * chance / n) / (n + 1));
	return q > (1 - q) * x->b[host];
}

static int shown_unseen_is_aside(const struct shown *x, unsigned host)
{
	const double n_hot = x->n_hot[0] + x->n_hot[1],
		     n = n_hot + x->n_cold[0] + x->n_cold[1];
	const double z = (x->n_hot[host] + n_hot / (n + 2)) /
	    (x->n_hot[host] + x->n_cold[host] + 1);
	return shown_share(z, x->b[host]) > 0.5;
}

/* As timed_open(), with more of these bursts of host 0, 30 ms apart: each makes ten
 * buckets hot. S and d are by hand. */
static void timed_burst(struct timed *x, unsigned n, double b[2])
{
	const double hot = 2 * SAMPLED_LINE + 8 * 60000.0;
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = 100 + 30 * i; k < 102 + 30 * i; k++)
			x->s.samples.in_bytes[k] = x->s.samples.in_ce[k] =
			    SAMPLED_LINE;
	const double all =
	    (n + 1) * 2.0 * SAMPLED_LINE + (2000 - 2.0 * (n + 1)) * 60000;
	const double s = (n + 1) * hot / all;
	b[0] = s + (1 - s) * 10 * n / 1000;
	b[1] = s + (1 - s) * 10 / 1000;
}

static void each_flow_is_judged_by_all_that_others_show(void **state)
{
	unsigned n_of[2][2] = {{0}};
	(void)state;
	for (uint32_t run = 0; run < 60; run++) {
		struct timed x;
		struct shown like;
		struct sim_rng r;
		double busy;
		test_rng(&r, 300 + run);
		timed_open(&x);
		timed_burst(&x, 1 + sim_rng_below(&r, 30), like.b);
		for (unsigned h = 0; h < 2; h++) {
			like.n_hot[h] = sim_rng_below(&r, 10);
			like.n_cold[h] = sim_rng_below(&r, 10);
			timed_put(&x, h, 100, (unsigned)like.n_hot[h]);
			timed_put(&x, h, 50, (unsigned)like.n_cold[h]);
		}
		/* Before the runs, and just behind them. */
		const size_t n_seen = x.w.flows.n;
		for (unsigned h = 0; h < 2; h++)
			timed_put(&x, h, 1000, 2);
		/* A run's first bucket is its own. */
		if (like.n_cold[0] > 0)
			x.at[(size_t)like.n_hot[0]] = UINT64_C(1000000000);
		x.at[n_seen] = x.at[n_seen + 2] = UINT64_C(1000000000) - 1;
		x.at[n_seen + 1] = x.at[n_seen + 3] = UINT64_C(2000000000);
		/* Hot, cold and unseen ones of a host are judged alike. */
		size_t first = 0;
		for (unsigned k = 0; k < 6; k++) {
			const unsigned h = k < 4 ? k / 2 : k - 4;
			const size_t n = k >= 4 ? 2
			    : k % 2 == 0        ? (size_t)like.n_hot[h]
						: (size_t)like.n_cold[h];
			const int want = k >= 4
			    ? shown_unseen_is_aside(&like, h)
			    : k % 2 == 0 && n > 0 &&
				shown_hot_is_aside(&like, h);
			assert_int_equal(timed_aside(&x, first, n, &busy),
			    want ? n : 0);
			n_of[k >= 4][want] += (unsigned)n;
			first += n;
		}
		timed_close(&x);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_true(n_of[i / 2][i % 2] > 20);
}

/* Of the first N of racks, one host of each of which is sampled, the lower one of
 * the two in the middle tells what share of bytes is hot. */
static void the_rack_in_the_middle_tells_what_is_hot(void **state)
{
	static const unsigned n_bursts[] = {9, 1, 15, 4};
	static const unsigned middle[] = {9, 1, 9, 4};
	(void)state;
	for (uint32_t n = 1; n <= 4; n++) {
		struct timed x = {0};
		double busy;
		assert_ok(topo_open_clos(&x.t, &shape, test_err()));
		for (uint32_t i = 0; i < n; i++) {
			sampled_run(&x.s, i * shape.n_hosts, 1000);
			for (uint32_t k = 0; k < 1000; k++) {
				const int in = k >= 100 &&
				    k < 100 + 30 * n_bursts[i] &&
				    (k - 100) % 30 < 2;
				sampled_row(&x.s,
				    (struct obs_sample){.bucket = k,
					.in_bytes = in ? SAMPLED_LINE : 60000,
					.in_ce = in ? SAMPLED_LINE : 0});
			}
		}
		x.w.runs = &x.s.runs;
		x.w.samples = &x.s.samples;
		x.w.retx_ns = x.at;
		timed_put(&x, 0, 100, 1);
		timed_aside(&x, 0, 1, &busy);
		const double k = middle[n - 1];
		assert_near(busy,
		    k * (2 * SAMPLED_LINE + 8 * 60000.0) /
			(k * 2 * SAMPLED_LINE + (1000 - 2 * k) * 60000),
		    1e-12);
		timed_close(&x);
	}
}

/* Flows to a host that was not sampled go with most of the rack's, if these are
 * enough; before the runs began nobody knows either. */
static void flows_that_nobody_saw_go_with_their_rack(void **state)
{
	struct timed x;
	double b;
	(void)state;
	for (unsigned n_cold = 0; n_cold < 20; n_cold += 4) {
		timed_open(&x);
		timed_put(&x, 0, 100, 30);
		timed_put(&x, 1, 500, n_cold);
		timed_put(&x, 2, 100, 2);
		const size_t late = x.w.flows.n;
		x.w.retx_ns = x.at;
		timed_put(&x, 2, 100, 1);
		x.at[late] = 5;
		const unsigned n = timed_aside(&x, 30 + n_cold, 3, &b);
		const double z = 30.0 / (30 + n_cold + 2);
		assert_int_equal(n, (z - b) / (1 - b) > 0.5 ? 3 : 0);
		timed_close(&x);
	}
}

/* What is left is what 007, or Algorithm 1, is given. */
static void then_it_is_007_or_algorithm_1(void **state)
{
	(void)state;
	for (uint32_t then = 0; then < 2; then++) {
		struct timed x;
		struct algo_verdicts v = {0}, want = {0};
		struct algo_vote_filtered_params p;
		uint32_t n_retx[64];
		void *work;
		timed_open(&x);
		timed_put(&x, 0, 100, 12);
		timed_put(&x, 1, 500, 9);
		timed_put(&x, 3, 500, 5);
		assert_ok(sim_field_defaults(algo_vote_filtered.params, &p,
		    test_err()));
		p.then = then;
		assert_ok(algo_open(&algo_vote_filtered, &work, &x.t, &p,
		    test_err()));
		assert_ok(algo_vote_filtered.diagnose(work, &x.w, NULL, &v,
		    test_err()));
		algo_close(&algo_vote_filtered, work);
		for (size_t i = 0; i < x.w.flows.n; i++)
			n_retx[i] = i < 12 ? 0 : 1;
		struct obs left = x.w;
		left.flows.n_retx = n_retx;
		diagnose(then ? &algo_alg1 : &algo_vote, &x.t, &left, &want);
		assert_same_verdicts(&v, &want);
		assert_int_equal(v.flags, then);
		assert_int_equal(v.link[0], topo_link_of(9, TOPO_UP));
		algo_verdicts_free(&v);
		algo_verdicts_free(&want);
		timed_close(&x);
	}
}

static void each_allocation_may_fail(void **state)
{
	struct timed x;
	(void)state;
	timed_open(&x);
	timed_put(&x, 0, 100, 12);
	timed_put(&x, 3, 500, 5);
	struct sampled_given given = {&algo_vote_filtered, x.t, x.w};
	test_each_alloc_fails(sampled_diagnose, &given);
	timed_close(&x);
}

/* In drawn epochs (models/scene/samples.h) in which hosts sample all the time,
 * most of what buffers made fail is set aside, and little else. Four racks are
 * few to tell the median by: of 60 epochs it is .55 to .77 and .06 to .07 with
 * five seeds. */
static void in_epochs_it_tells_buffers_from_links(void **state)
{
	struct scenes s;
	struct bulk *bulk;
	struct obs w = {0};
	struct losses lost = {0};
	struct scene_samples x = {0};
	struct scene_samples_params p;
	struct algo_loss_filter f = {0};
	double n[2] = {0, 0}, aside[2] = {0, 0}, chance = 0;
	(void)state;
	scenes_open(&s, &shape);
	assert_ok(bulk_open(&bulk, NULL, test_err()));
	assert_ok(sim_field_defaults(scene_samples_fields, &p, test_err()));
	p.every_s = 2;
	s.params.congestion = (struct scene_congestion_params){0.3, 1, 1, 0.015,
	    0, scenes_uniform(0.1, 0.9), {0}};
	scenes_add_fault(&s, topo_link_of(30, TOPO_UP), 5e-4);
	assert_ok(algo_loss_filter_open(&f, &s.topo, &by_flow, test_err()));
	for (uint32_t run = 0; run < 60; run++) {
		const struct scene *scene = scenes_draw(&s, run);
		assert_ok(bulk_epoch(bulk, scene, 0, &w, &lost, test_err()));
		assert_ok(scene_samples_draw(&x, &p, scene, &w, test_err()));
		const struct algo_samples_in in = {&x.runs, &x.rows};
		w.retx_ns = x.retx_ns;
		assert_ok(
		    algo_loss_filter_find(&f, &by_flow, &w, &in, test_err()));
		chance += f.busy / 60;
		for (size_t i = 0; i < w.flows.n; i++) {
			uint32_t buffer = 0;
			for (uint64_t k = w.hops.off[i]; k < w.hops.off[i + 1];
			     k++)
				buffer += lost.buffer[k];
			n[buffer > 0]++;
			aside[buffer > 0] += f.aside[i];
		}
	}
	print_message("aside: %.3f of %g, %.3f of %g others; chance %.3f\n",
	    aside[1] / n[1], n[1], aside[0] / n[0], n[0], chance);
	assert_true(n[0] > 200 && n[1] > 100);
	assert_true(aside[1] / n[1] > 0.4);
	assert_true(aside[0] / n[0] < 0.1);
	algo_loss_filter_free(&f);
	scene_samples_free(&x);
	obs_free(&w);
	losses_free(&lost);
	bulk_close(bulk);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flows_to_hosts_behind_full_buffers_do_not_vote),
	    cmocka_unit_test(hot_flows_are_set_aside_and_cold_ones_are_not),
	    cmocka_unit_test(chance_sets_nobody_aside),
	    cmocka_unit_test(each_flow_is_judged_by_all_that_others_show),
	    cmocka_unit_test(the_rack_in_the_middle_tells_what_is_hot),
	    cmocka_unit_test(flows_that_nobody_saw_go_with_their_rack),
	    cmocka_unit_test(then_it_is_007_or_algorithm_1),
	    cmocka_unit_test(each_allocation_may_fail),
	    cmocka_unit_test(in_epochs_it_tells_buffers_from_links),
	};
	return cmocka_run_group_tests_name("algos/millisampler/vote_filtered",
	    tests, NULL, NULL);
}
