/* tests/models/scene/latency_test.c -- round-trip times and slow links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Means and variances at 5 standard errors (6e-7), some 42 of them, and three
 * chi-squares at level 1e-6.
 */
#include "models/scene/latency.h"

#include <gsl/gsl_cdf.h>

#include "algos/vigil/vote.h"
#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "models/bulk/vigil_matlab.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"

#define ERRORS 5

static const struct topo_clos shape = {2, 4, 3, 2, 3, .n_cables = 0};

static void without_queues_a_time_is_the_sum_of_its_parts(void **state)
{
	(void)state;
	const struct scene_latency_params p = {.hop_us = 5};
	struct sim_rng r;
	test_rng(&r, 1);
	assert_int_equal(scene_latency_srtt(&p, &r, 6, 10, 0), 60);
	assert_int_equal(scene_latency_srtt(&p, &r, 4, 10, 123.4), 163);
	assert_int_equal(scene_latency_srtt(&p, &r, 4, 10, 1e12),
	    UINT32_MAX - 1);
}

/* Mean 2 h hop + queue + delay, variance queue^2 / min(n, 15). */
static void a_queue_adds_its_mean_and_smooths_with_the_packets(void **state)
{
	(void)state;
	const struct scene_latency_params p = {.hop_us = 10, .queue_us = 2000};
	static const uint32_t n_pkts[] = {1, 4, 100};
	for (int i = 0; i < 3; i++) {
		struct law_mean mean = {0}, var = {0};
		struct sim_rng r;
		const double n = fmin(n_pkts[i], SCENE_LATENCY_SAMPLES);
		test_rng(&r, 2 + (uint32_t)i);
		for (int k = 0; k < 40000; k++) {
			const double us =
			    scene_latency_srtt(&p, &r, 6, n_pkts[i], 300);
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
	assert_near(scene_latency_draw(&truth, 3, 5, NULL), 100, 0);
	assert_near(scene_latency_draw(&truth, 3, 10, NULL), 150, 0);
	assert_near(scene_latency_draw(&truth, 3, 20, NULL), 100, 0);
	assert_near(scene_latency_draw(&truth, 4, 5, NULL), 0, 0);
	assert_near(scene_latency_draw(&truth, 9, 5, NULL), 0, 0);
	assert_true(truth_is_faulty(&truth, 3));
}

/* --- laws ----------------------------------------------------------------- */

enum { DRAWS = 40000, BINS = 20 };

static const struct truth_fault laws[] = {
    {.link = 3, .to_ns = 100, .delay_us = 700, .law = TRUTH_EXPONENTIAL},
    {.link = 3,
	.to_ns = 100,
	.delay_us = 700,
	.law = TRUTH_LOGNORMAL,
	.shape = 0.7},
    {.link = 3, .to_ns = 100, .delay_us = 700, .law = TRUTH_LOAD, .shape = 0.6},
};

/* The distribution functions as textbooks have them. */
static double cdf(const struct truth_fault *f, double us)
{
	const double m = f->delay_us, s = f->shape;
	switch (f->law) {
	case TRUTH_EXPONENTIAL:
		return gsl_cdf_exponential_P(us, m);
	case TRUTH_LOGNORMAL:
		return gsl_cdf_lognormal_P(us, log(m) - s * s / 2, s);
	case TRUTH_LOAD: { /* W of M/M/1; the mean is s / (1 - s) services */
		const double service = m * (1 - s) / s;
		return 1 - s * exp(-us * (1 - s) / service);
	}
	default:
		return us >= m;
	}
}

static double variance(const struct truth_fault *f)
{
	const double m = f->delay_us, s = f->shape;
	switch (f->law) {
	case TRUTH_EXPONENTIAL:
		return m * m;
	case TRUTH_LOGNORMAL:
		return m * m * expm1(s * s);
	case TRUTH_LOAD:
		return m * m * (2 / s - 1);
	default:
		return 0;
	}
}

/* By the probability transform, which is uniform where the law has no atom; the
 * atom of LOAD, at 0, is of 1 - load. */
static void delays_follow_their_laws(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct truth_fault *f = &laws[i];
		const struct truth truth = {.n_faults = 1,
		    .fault = (struct truth_fault *)f};
		struct law_mean mean = {0}, var = {0};
		uint64_t count[BINS] = {0};
		struct sim_rng r;
		test_rng(&r, 100 + (uint32_t)i);
		for (int k = 0; k < DRAWS; k++) {
			const double us = scene_latency_draw(&truth, 3, 5, &r);
			const double off = us - f->delay_us;
			law_add(&mean, us);
			law_add(&var, off * off);
			double u = cdf(f, us);
			if (f->law == TRUTH_LOAD && us == 0)
				u *= sim_rng_u01(&r);
			assert_true(us >= 0 && u >= 0 && u <= 1);
			count[(int)fmin(u * BINS, BINS - 1)]++;
		}
		assert_true(fabs(law_z(&mean, f->delay_us)) < ERRORS);
		assert_true(fabs(law_z(&var, variance(f))) < ERRORS);
		assert_true(law_chi2_uniform(count, BINS) > 1e-6);
	}
}

/* A smoothed time is a mean of 15 of them, or fewer: same mean, less variance.
 */
static void smoothing_keeps_the_mean_and_divides_the_variance(void **state)
{
	(void)state;
	static const uint32_t n_pkts[] = {1, 4, 15, 1000};
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 4; j++) {
			const struct truth truth = {.n_faults = 1,
			    .fault = (struct truth_fault *)&laws[i]};
			const double m = laws[i].delay_us;
			const double n = fmin(n_pkts[j], SCENE_LATENCY_SAMPLES);
			struct law_mean mean = {0}, var = {0};
			struct sim_rng r;
			test_rng(&r, (uint32_t)(200 + 4 * i + j));
			for (int k = 0; k < DRAWS / 4; k++) {
				const double us = scene_latency_smoothed(&truth,
				    3, 5, n_pkts[j], &r);
				law_add(&mean, us);
				law_add(&var, (us - m) * (us - m));
			}
			assert_true(fabs(law_z(&mean, m)) < ERRORS);
			assert_true(
			    fabs(law_z(&var, variance(&laws[i]) / n)) < ERRORS);
		}
}

static void constant_delays_draw_nothing_and_others_once_each(void **state)
{
	(void)state;
	struct truth_fault fault[] = {
	    {.link = 3, .to_ns = 100, .delay_us = 30},
	    laws[0],
	    {.link = 3, .from_ns = 50, .to_ns = 100, .delay_us = 5},
	};
	struct truth truth = {.n_faults = 1, .fault = fault};
	struct sim_rng r, same;
	test_rng(&r, 1);
	test_rng(&same, 1);
	assert_near(scene_latency_draw(&truth, 3, 5, &r), 30, 0);
	assert_near(scene_latency_smoothed(&truth, 3, 5, 9, &r), 30, 0);
	assert_int_equal(sim_rng_u32(&r), sim_rng_u32(&same));
	truth.n_faults = 3;
	const double us = scene_latency_draw(&truth, 3, 60, &r);
	assert_near(us, 35 - 700 * log1p(-sim_rng_u01_open(&same)), 1e-9);
	assert_near(scene_latency_draw(&truth, 3, 100, &r), 0, 0);
	assert_near(scene_latency_draw(&truth, 4, 60, &r), 0, 0);
	assert_int_equal(sim_rng_u32(&r), sim_rng_u32(&same));
	assert_near(scene_latency_draw(&truth, 3, 60, NULL), 735, 0);
}

/* The params of a spec: median, and service time. */
static void a_specs_delay_is_what_its_law_says(void **state)
{
	(void)state;
	static const double want[] = {200, 200, 200 * 7.389056098930650,
	    200 * 3};
	for (unsigned law = TRUTH_CONSTANT; law <= TRUTH_LOAD; law++) {
		struct scenes s;
		scenes_open(&s, &shape);
		struct fault_params *g = scenes_add_fault(&s, 20, 1);
		g->kind = FAULT_LATENCY;
		g->delay = scenes_fixed(200);
		g->law = law;
		g->sigma = 2;
		g->load = 0.75;
		const struct truth_fault *f = scenes_draw(&s, 0)->truth.fault;
		assert_near(f->delay_us, want[law], 1e-9);
		assert_int_equal(f->law, law);
		assert_true(f->rate == 0 && truth_is_slow(f));
		scenes_close(&s);
	}
}

/* A queue without load is slow by nothing, and keeps the link's noise. */
static void a_queue_without_load_delays_nothing(void **state)
{
	(void)state;
	struct scenes s;
	struct sim_rng r;
	double hazard;
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_fault(&s, 20, 1);
	g->kind = FAULT_LATENCY;
	g->law = TRUTH_LOAD;
	g->load = 0;
	const struct scene *scene = scenes_draw(&s, 0);
	assert_int_equal(scene->truth.n_faults, 1);
	assert_false(truth_is_faulty(&scene->truth, 20));
	assert_true(truth_is_slow(scene->truth.fault));
	assert_false(scene_loss_fault(&scene->loss, 20, 0, &hazard));
	test_rng(&r, 1);
	for (int k = 0; k < 100; k++)
		assert_true(scene_latency_draw(&scene->truth, 20, 0, &r) == 0);
	scenes_close(&s);
}

/* --- the exact plane ------------------------------------------------------ */

/* Flows over the slow link have its mean on top, others the network's own. */
static void the_exact_plane_smooths_a_slow_links_law(void **state)
{
	(void)state;
	for (unsigned law = TRUTH_EXPONENTIAL; law <= TRUTH_LOAD; law++) {
		struct scenes s;
		struct obs w = {0};
		struct bulk *b;
		struct law_mean mean = {0}, var = {0};
		scenes_open(&s, &shape);
		const topo_link slow =
		    topo_clos_link_tor(&s.topo.clos, 5, 1, TOPO_DOWN);
		struct fault_params *g = scenes_add_fault(&s, slow, 0);
		g->kind = FAULT_LATENCY;
		g->delay = scenes_fixed(2000);
		g->law = law;
		g->sigma = 0.5;
		g->load = 0.5;
		s.params.traffic.packets = scenes_fixed(10);
		s.params.latency = (struct scene_latency_params){.hop_us = 5,
		    .report_us = 1000};
		assert_ok(bulk_open(&b, NULL, test_err()));
		for (uint32_t run = 0; run < 100; run++) {
			const struct truth *t = &scenes_draw(&s, run)->truth;
			const double m = t->fault->delay_us;
			assert_ok(bulk_epoch(b, &s.scene, 1, &w, &s.lost,
			    test_err()));
			for (size_t i = 0; i < w.flows.n; i++) {
				const double us = w.flows.srtt_us[i] -
				    10.0 * obs_n_hops(&w, i);
				int crosses = 0;
				for (unsigned k = 0; k < obs_n_hops(&w, i); k++)
					crosses |= obs_path(&w, i)[k] == slow;
				if (!crosses) {
					assert_true(us == 0);
					continue;
				}
				law_add(&mean, us - m);
				law_add(&var,
				    (us - m) * (us - m) -
					variance(t->fault) / 10);
			}
		}
		assert_true(mean.n > 1000);
		assert_true(fabs(law_z(&mean, 0)) < ERRORS);
		assert_true(fabs(law_z(&var, 0)) < ERRORS);
		obs_free(&w);
		bulk_close(b);
		scenes_close(&s);
	}
}

/* A scene in which one link is slow by 2 ms, times being exact, and all flows
 * above 1 ms are reported. */
static topo_link open_slow(struct scenes *s)
{
	scenes_open(s, &shape);
	const topo_link slow =
	    topo_clos_link_tor(&s->topo.clos, 5, 1, TOPO_DOWN);
	struct fault_params *g = scenes_add_fault(s, slow, 0.5);
	g->kind = FAULT_LATENCY;
	g->delay = scenes_fixed(2000);
	s->params.noise.rate = scenes_fixed(1e-4);
	s->params.latency =
	    (struct scene_latency_params){.hop_us = 5, .report_us = 1000};
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
	struct bulk *b;
	const topo_link slow = open_slow(&s);
	size_t n_slow = 0, n_lossy = 0, k = 0;
	assert_ok(bulk_open(&b, NULL, test_err()));
	assert_ok(
	    bulk_epoch(b, scenes_draw(&s, 1), 1, &all, &s.lost, test_err()));
	assert_ok(
	    bulk_epoch(b, scenes_draw(&s, 1), 0, &some, &s.lost, test_err()));
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
	assert_ok(bulk_epoch(b, scenes_draw(&s, 1), 0, &timeless, &s.lost,
	    test_err()));
	assert_int_equal(timeless.flows.n, n_lossy);
	for (size_t i = 0; i < timeless.flows.n; i++)
		assert_int_equal(timeless.flows.srtt_us[i], 0);
	obs_free(&all);
	obs_free(&some);
	obs_free(&timeless);
	bulk_close(b);
	scenes_close(&s);
}

static void vote_for(struct scenes *s, const struct obs *w, int on,
    struct algo_verdicts *v)
{
	const struct algo_vote_params p = {.signal = ALGO_VOTE_RTT,
	    .rtt_threshold_us = 1000,
	    .on = (uint32_t)on};
	void *work;
	assert_ok(algo_open(&algo_vote, &work, &s->topo, &p, test_err()));
	assert_ok(algo_vote.diagnose(work, w, NULL, v, test_err()));
	algo_close(&algo_vote, work);
}

/* Every voter crosses the slow link, whatever else was lost, so that it has a
 * share of each vote and no link has more. */
static void votes_for_latency_are_on_the_slow_link(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	struct bulk *b;
	struct algo_verdicts v = {0};
	const topo_link slow = open_slow(&s);
	assert_ok(bulk_open(&b, NULL, test_err()));
	for (uint32_t run = 0; run < 10; run++) {
		double votes = 0, want = 0;
		assert_ok(bulk_epoch(b, scenes_draw(&s, run), 0, &w, &s.lost,
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
	bulk_close(b);
	scenes_close(&s);
}

static void the_other_planes_have_no_times(void **state)
{
	(void)state;
	struct scenes s;
	struct sim_err e;
	open_slow(&s);
	const struct scene *scene = scenes_draw(&s, 0);
	assert_int_equal(bulk_skip_fits(scene, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "skipping has no round-trip times (latency.report_over).");
	assert_int_equal(bulk_vigil_matlab_fits(scene, &e), SIM_EUNSUPPORTED);
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
	    cmocka_unit_test(delays_follow_their_laws),
	    cmocka_unit_test(smoothing_keeps_the_mean_and_divides_the_variance),
	    cmocka_unit_test(constant_delays_draw_nothing_and_others_once_each),
	    cmocka_unit_test(a_specs_delay_is_what_its_law_says),
	    cmocka_unit_test(a_queue_without_load_delays_nothing),
	    cmocka_unit_test(the_exact_plane_smooths_a_slow_links_law),
	    cmocka_unit_test(slow_flows_are_reported_beside_the_lossy_ones),
	    cmocka_unit_test(votes_for_latency_are_on_the_slow_link),
	    cmocka_unit_test(the_other_planes_have_no_times),
	};
	return cmocka_run_group_tests_name("models/scene/latency", tests, NULL,
	    NULL);
}
