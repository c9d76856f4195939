/* tests/models_latency_test.c -- round-trip times, slow links, votes for them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Means at 5 standard errors (6e-7), six of them.
 */
#include "models/latency.h"

#include "algos/vote.h"
#include "models/bulk.h"
#include "models/skip.h"
#include "models/vigil_matlab.h"
#include "tests/law.h"
#include "tests/scenes.h"

#define ERRORS 5

static const struct topo_clos shape = {2, 4, 3, 2, 3, .n_cables = 0};

static void without_queues_a_time_is_the_sum_of_its_parts(void **state)
{
	(void)state;
	const struct model_latency_params p = {.hop_us = 5};
	struct sim_rng r;
	test_rng(&r, 1);
	assert_int_equal(model_latency_srtt(&p, &r, 6, 10, 0), 60);
	assert_int_equal(model_latency_srtt(&p, &r, 4, 10, 123.4), 163);
	assert_int_equal(model_latency_srtt(&p, &r, 4, 10, 1e12),
	    UINT32_MAX - 1);
}

/* Mean 2 h hop + queue + delay, variance queue^2 / min(n, 15). */
static void a_queue_adds_its_mean_and_smooths_with_the_packets(void **state)
{
	(void)state;
	const struct model_latency_params p = {.hop_us = 10, .queue_us = 2000};
	static const uint32_t n_pkts[] = {1, 4, 100};
	for (int i = 0; i < 3; i++) {
		struct law_mean mean = {0}, var = {0};
		struct sim_rng r;
		const double n = fmin(n_pkts[i], MODEL_LATENCY_SAMPLES);
		test_rng(&r, 2 + (uint32_t)i);
		for (int k = 0; k < 40000; k++) {
			const double us =
			    model_latency_srtt(&p, &r, 6, n_pkts[i], 300);
			law_add(&mean, us);
			law_add(&var, (us - 2420) * (us - 2420));
		}
		assert_true(fabs(law_z(&mean, 2420)) < ERRORS);
		assert_true(fabs(law_z(&var, 2000.0 * 2000 / n)) < ERRORS);
	}
}

static void delays_of_active_faults_add_up(void **state)
{
	(void)state;
	struct truth_fault fault[] = {
	    {.link = 3, .to_ns = SIM_NEVER, .delay_us = 100},
	    {.link = 3, .from_ns = 10, .to_ns = 20, .delay_us = 50},
	    {.link = 4, .rate = 0.5, .to_ns = SIM_NEVER},
	};
	const struct truth truth = {.n_faults = 3, .fault = fault};
	assert_near(model_latency_delay(&truth, 3, 5), 100, 0);
	assert_near(model_latency_delay(&truth, 3, 10), 150, 0);
	assert_near(model_latency_delay(&truth, 3, 20), 100, 0);
	assert_near(model_latency_delay(&truth, 4, 5), 0, 0);
	assert_near(model_latency_delay(&truth, 9, 5), 0, 0);
	assert_true(truth_is_faulty(&truth, 3));
}

/* A scene in which one link is slow by 2 ms, times being exact, and all flows
 * above 1 ms are reported. */
static topo_link open_slow(struct scenes *s)
{
	scenes_open(s, &shape);
	const topo_link slow =
	    topo_clos_link_tor(&s->topo.clos, 5, 1, TOPO_DOWN);
	struct model_fault_params *g = scenes_add_fault(s, slow, 0.5);
	g->kind = MODEL_FAULT_LATENCY;
	g->delay = scenes_fixed(2000);
	s->params.noise.rate = scenes_fixed(1e-4);
	s->params.latency =
	    (struct model_latency_params){.hop_us = 5, .report_us = 1000};
	return slow;
}

static int crosses(const struct obs *w, size_t flow, topo_link l)
{
	for (unsigned i = 0; i < obs_n_hops(w, flow); i++)
		if (obs_path(w, flow)[i] == l)
			return 1;
	return 0;
}

/* The window is the one without times and the slow flows, in one order; what is
 * lost does not depend on times, and a slow link loses no more than others. */
static void slow_flows_are_reported_beside_the_lossy_ones(void **state)
{
	(void)state;
	struct scenes s;
	struct obs all = {0}, some = {0}, timeless = {0};
	struct model_bulk *b;
	const topo_link slow = open_slow(&s);
	size_t n_slow = 0, n_lossy = 0, k = 0;
	assert_ok(model_bulk_open(&b, NULL, test_err()));
	assert_ok(model_bulk_epoch(b, scenes_draw(&s, 1), 1, &all, test_err()));
	assert_ok(
	    model_bulk_epoch(b, scenes_draw(&s, 1), 0, &some, test_err()));
	assert_int_equal(s.scene.truth.n_faults, 1);
	assert_true(s.scene.truth.fault[0].rate == 0);
	assert_true(s.scene.truth.fault[0].delay_us == 2000);
	for (size_t i = 0; i < all.flows.n; i++) {
		const int is_slow = crosses(&all, i, slow);
		assert_int_equal(all.flows.srtt_us[i],
		    10 * obs_n_hops(&all, i) + (is_slow ? 2000 : 0));
		n_slow += (size_t)is_slow;
		n_lossy += all.flows.n_retx[i] > 0;
		if (!is_slow && all.flows.n_retx[i] == 0)
			continue;
		assert_true(k < some.flows.n);
		assert_int_equal(some.flows.start_ns[k], all.flows.start_ns[i]);
		assert_int_equal(some.flows.srtt_us[k], all.flows.srtt_us[i]);
		assert_int_equal(some.flows.n_retx[k], all.flows.n_retx[i]);
		k++;
	}
	assert_int_equal(k, some.flows.n);
	assert_true(n_slow > 20 && n_lossy > 5);

	s.params.latency.report_us = 0;
	assert_ok(
	    model_bulk_epoch(b, scenes_draw(&s, 1), 0, &timeless, test_err()));
	assert_int_equal(timeless.flows.n, n_lossy);
	for (size_t i = 0; i < timeless.flows.n; i++)
		assert_int_equal(timeless.flows.srtt_us[i], 0);
	obs_free(&all);
	obs_free(&some);
	obs_free(&timeless);
	model_bulk_close(b);
	scenes_close(&s);
}

static void vote_for(struct scenes *s, const struct obs *w, int on,
    struct algo_verdicts *v)
{
	const struct algo_vote_params p = {.signal = ALGO_VOTE_RTT,
	    .rtt_threshold_us = 1000,
	    .on = (uint32_t)on};
	void *work;
	assert_ok(algo_vote.open(&work, &s->topo, &p, test_err()));
	assert_ok(algo_vote.diagnose(work, w, NULL, v, test_err()));
	algo_vote.close(work);
}

/* Every voter crosses the slow link, whatever else was lost, so that it has a
 * share of each vote and no link has more. */
static void votes_for_latency_are_on_the_slow_link(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	struct model_bulk *b;
	struct algo_verdicts v = {0};
	const topo_link slow = open_slow(&s);
	assert_ok(model_bulk_open(&b, NULL, test_err()));
	for (uint32_t run = 0; run < 10; run++) {
		double votes = 0, want = 0;
		assert_ok(model_bulk_epoch(b, scenes_draw(&s, run), 0, &w,
		    test_err()));
		vote_for(&s, &w, ALGO_KIND_LINK, &v);
		for (size_t i = 0; i < w.flows.n; i++)
			if (crosses(&w, i, slow))
				want += 1.0 / obs_n_hops(&w, i);
		for (size_t i = 0; i < v.n; i++)
			if (v.link[i] == slow)
				votes = v.score[i];
		assert_near(votes, want, 1e-9);
		assert_int_equal(algo_verdicts_rank(&v, slow), 1);
		assert_int_equal(v.n_flows, 0);
		vote_for(&s, &w, ALGO_KIND_SWITCH, &v);
		assert_int_equal(v.kind, ALGO_KIND_SWITCH);
		assert_int_equal(algo_verdicts_rank(&v, 5), 1);
	}
	algo_verdicts_free(&v);
	obs_free(&w);
	model_bulk_close(b);
	scenes_close(&s);
}

static void the_other_planes_have_no_times(void **state)
{
	(void)state;
	struct scenes s;
	struct sim_err e;
	open_slow(&s);
	const struct model_scene *scene = scenes_draw(&s, 0);
	assert_int_equal(model_skip_fits(scene, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "skipping has no round-trip times (latency.report_over).");
	assert_int_equal(model_vigil_matlab_fits(scene, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "plane vigil_matlab has no round-trip times "
	    "(latency.report_over).");
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_queues_a_time_is_the_sum_of_its_parts),
	    cmocka_unit_test(
		a_queue_adds_its_mean_and_smooths_with_the_packets),
	    cmocka_unit_test(delays_of_active_faults_add_up),
	    cmocka_unit_test(slow_flows_are_reported_beside_the_lossy_ones),
	    cmocka_unit_test(votes_for_latency_are_on_the_slow_link),
	    cmocka_unit_test(the_other_planes_have_no_times),
	};
	return cmocka_run_group_tests_name("models/latency", tests, NULL, NULL);
}
