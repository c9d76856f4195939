/* tests/models/bulk/vigil_matlab_test.c -- the released code's rules.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Closed forms, then the law against a slow transcription of the rules, with
 * GSL. Chi-squares at level 1e-6 and means at 5 standard errors (6e-7), about
 * ten of them: under a random seed some bound fires in 1 of 100,000 runs.
 */
#include "models/bulk/vigil_matlab.h"

#include <gsl/gsl_randist.h>

#include "models/bulk/bulk.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"

#define LEVEL  1e-6
#define ERRORS 5

static const struct topo_clos shape = {2, 3, 2, 2, 2, .n_cables = 0};

static void run_epoch(struct scenes *s, uint32_t run, int all, struct obs *w)
{
	assert_ok(bulk_vigil_matlab_epoch(scenes_draw(s, run), all, w, &s->lost,
	    test_err()));
}

static uint32_t pod_of(const struct topo *t, topo_host h)
{
	return topo_tor_of(t, h) / t->clos.n_tors;
}

/* --- what a row says ------------------------------------------------------ */

static void ends_packets_and_paths_are_the_exact_planes_but_for_the_last_link(
    void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	scenes_open(&s, &shape);
	run_epoch(&s, 1, 1, &w);
	assert_int_equal(w.flows.n, s.scene.traffic.n_flows);
	assert_int_equal(w.n_flows, s.scene.traffic.n_flows);
	for (size_t i = 0; i < w.flows.n; i++) {
		struct obs_flow f;
		topo_link path[TOPO_MAX_HOPS];
		const unsigned h = bulk_flow(&s.scene, i, &f, path) - 1;
		assert_int_equal(obs_n_hops(&w, i), h);
		assert_int_equal(h,
		    pod_of(&s.topo, f.src_host) == pod_of(&s.topo, f.dst_host)
			? 3
			: 5);
		assert_memory_equal(obs_path(&w, i), path, h * sizeof(*path));
		assert_int_equal(topo_class_of(&s.topo, path[h - 1]),
		    TOPO_T1_TOR);
		assert_int_equal(w.flows.start_ns[i], f.start_ns);
		assert_int_equal(w.flows.src_host[i], f.src_host);
		assert_int_equal(w.flows.dst_host[i], f.dst_host);
		assert_int_equal(w.flows.src_port[i], f.src_port);
		assert_int_equal(w.flows.n_pkts[i], f.n_pkts);
	}
	obs_free(&w);
	scenes_close(&s);
}

/* With noise so high that flows occur with a flag and no drops, with drops and
 * no flag, with both and with neither. */
static void a_row_holds_its_flag_its_count_and_its_culprit(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	unsigned seen[2][2] = {{0}};
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_uniform(0, 0.02);
	s.params.traffic.packets = scenes_uniform(1, 9);
	scenes_add_fault(&s, topo_clos_link_tor(&s.topo.clos, 1, 0, TOPO_UP),
	    0.2);
	run_epoch(&s, 1, 1, &w);
	const struct losses *lost = &s.lost;
	assert_ok(obs_check(&w, s.topo.n_links, test_err()));
	assert_int_equal(lost->n_culprits, w.flows.n);
	assert_int_equal(lost->n_drops, w.hops.n);
	for (size_t i = 0; i < w.flows.n; i++) {
		const uint32_t n_retx = w.flows.n_retx[i];
		uint64_t count = 0;
		for (uint64_t j = w.hops.off[i]; j < w.hops.off[i + 1]; j++)
			count += lost->drops[j];
		assert_int_equal(obs_n_counted(&w, i), count);
		assert_int_equal(n_retx > 0, lost->culprit[i] != TOPO_NONE);
		if (n_retx > 0 && count > 0 && count <= w.flows.n_pkts[i])
			assert_int_equal(n_retx, count);
		if (n_retx > 0 && count == 0)
			assert_int_equal(n_retx, 1);
		seen[n_retx > 0][count > 0]++;
	}
	assert_true(seen[0][1] > 10 && seen[1][0] > 10 && seen[1][1] > 10);
	obs_free(&w);
	scenes_close(&s);
}

/* In the released code each hop draws losses of all packets of a flow, even
 * when the hop before it dropped them all. */
static void nothing_is_thinned_out_behind_a_black_hole(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(0);
	for (topo_link l = 0; l < 8; l++)
		scenes_add_fault(&s, 2 * l, 1);
	for (uint32_t i = 0; i < s.topo.clos.n_t1; i++)
		scenes_add_fault(&s,
		    topo_clos_link_tor(&s.topo.clos, 0, i, TOPO_UP), 1);
	run_epoch(&s, 1, 0, &w);
	unsigned n_two = 0;
	for (size_t i = 0; i < w.flows.n; i++) {
		const uint32_t n = w.flows.n_pkts[i];
		const uint64_t at = w.hops.off[i];
		const int two = topo_tor_of(&s.topo, w.flows.src_host[i]) == 0;
		assert_int_equal(w.flows.n_retx[i], n);
		assert_int_equal(obs_n_counted(&w, i), two ? 2 * n : n);
		assert_int_equal(s.lost.drops[at], n);
		assert_int_equal(s.lost.drops[at + 1], two ? n : 0);
		n_two += two;
	}
	assert_int_equal(n_two, 2 * 60);
	assert_int_equal(w.flows.n, 8 * 60);
	obs_free(&w);
	scenes_close(&s);
}

/* --- truth ---------------------------------------------------------------- */

/* Fail unless each failed flow's culprit is the first faulty link of its path,
 * or the last link when there is none: so where each flow drops at hop 0. */
static void assert_first_faulty_or_last(const struct scenes *s,
    const struct obs *w)
{
	const struct truth *truth = &s->scene.truth;
	for (size_t i = 0; i < w->flows.n; i++) {
		const topo_link *path = obs_path(w, i);
		unsigned j = 0;
		while (j + 1 < obs_n_hops(w, i) &&
		    !truth_is_faulty(truth, path[j]))
			j++;
		assert_int_equal(s->lost.culprit[i], path[j]);
	}
}

/* Noise of rate 1 drops at every hop, the first one among them. The faults
 * never drop, and are the culprits all the same. */
static void the_culprit_moves_on_until_it_has_a_fault(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(1);
	run_epoch(&s, 1, 0, &w);
	assert_int_equal(w.flows.n, s.scene.traffic.n_flows);
	assert_first_faulty_or_last(&s, &w);
	for (uint32_t i = 0; i < 4; i++) {
		scenes_add_fault(&s,
		    topo_clos_link_t1(&s.topo.clos, i, i % 2, TOPO_UP), 1e-300);
		scenes_add_fault(&s,
		    topo_clos_link_tor(&s.topo.clos, i, i % 2, TOPO_DOWN),
		    1e-300);
	}
	run_epoch(&s, 1, 0, &w);
	assert_int_equal(w.flows.n, s.scene.traffic.n_flows);
	assert_first_faulty_or_last(&s, &w);
	obs_free(&w);
	scenes_close(&s);
}

static void a_fault_before_the_first_drop_is_no_culprit(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	scenes_open(&s, &shape);
	const struct topo_clos *c = &s.topo.clos;
	s.params.noise.rate = scenes_fixed(0);
	for (topo_host h = 0; h < c->all_hosts; h++)
		scenes_add_fault(&s, topo_clos_link_host(h, TOPO_UP), 1e-300);
	scenes_add_fault(&s, topo_clos_link_tor(c, 0, 0, TOPO_UP), 1);
	scenes_add_fault(&s, topo_clos_link_t1(c, 0, 0, TOPO_UP), 1);
	run_epoch(&s, 1, 0, &w);
	assert_true(w.flows.n > 50);
	for (size_t i = 0; i < w.flows.n; i++) {
		const topo_link *path = obs_path(&w, i);
		const int first =
		    path[1] == topo_clos_link_tor(c, 0, 0, TOPO_UP);
		assert_int_equal(s.lost.culprit[i], path[2 - first]);
	}
	obs_free(&w);
	scenes_close(&s);
}

/* --- laws ----------------------------------------------------------------- */

/* Noise alone, the same rate for all: a flow of n packets and h links has its
 * flag with 1 - (1 - p)^(n h), its count is above 0 with the same chance, and
 * the two are independent. */
static void flags_and_counts_are_independent_and_of_one_law(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	uint64_t got[2][4] = {{0}};
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(2e-3);
	s.params.traffic.packets = scenes_fixed(60);
	for (uint32_t run = 0; run < 200; run++) {
		run_epoch(&s, run, 1, &w);
		for (size_t i = 0; i < w.flows.n; i++)
			got[obs_n_hops(&w, i) == 5]
			   [2 * (w.flows.n_retx[i] > 0) +
			       (obs_n_counted(&w, i) > 0)]++;
	}
	for (int far = 0; far < 2; far++) {
		const double q = 1 - pow(1 - 2e-3, 60 * (far ? 5 : 3));
		const double want[] = {(1 - q) * (1 - q), (1 - q) * q,
		    q * (1 - q), q * q};
		assert_true(law_chi2(got[far], want, 4) > LEVEL);
	}
	obs_free(&w);
	scenes_close(&s);
}

/* The mean of the product is the product of the means, on a failed link. */
static void counts_of_flows_with_a_flag_are_not_larger(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	struct law_mean with = {0}, without = {0};
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(0);
	s.params.traffic.packets = scenes_fixed(40);
	for (topo_host h = 0; h < s.topo.clos.all_hosts; h++)
		scenes_add_fault(&s, topo_clos_link_host(h, TOPO_UP), 0.02);
	for (uint32_t run = 0; run < 100; run++) {
		run_epoch(&s, run, 1, &w);
		for (size_t i = 0; i < w.flows.n; i++)
			law_add(w.flows.n_retx[i] > 0 ? &with : &without,
			    (double)obs_n_counted(&w, i));
	}
	assert_true(fabs(law_z(&with, 40 * 0.02)) < ERRORS);
	assert_true(fabs(law_z(&without, 40 * 0.02)) < ERRORS);
	const double n = with.n + without.n, q = 1 - pow(1 - 0.02, 40);
	assert_true(fabs(with.n - n * q) < ERRORS * sqrt(n * q * (1 - q)));
	obs_free(&w);
	scenes_close(&s);
}

enum { MAX_COUNT = 4, OUTCOMES = 2 * 2 * (MAX_COUNT + 1), MAX_LINKS = 96 };

/* What is compared: flag, count and length of each flow that shows anything;
 * culprits and counts by link. */
struct tables {
	uint64_t outcome[OUTCOMES], culprit[MAX_LINKS], counts[MAX_LINKS];
};

static void add_flow(struct tables *t, unsigned h, int flag, uint64_t count,
    topo_link culprit)
{
	const uint64_t c = count < MAX_COUNT ? count : MAX_COUNT;
	if (!flag && count == 0)
		return;
	t->outcome[((h == 5) * 2 + (unsigned)flag) * (MAX_COUNT + 1) + c]++;
	if (flag)
		t->culprit[culprit]++;
}

/* The rules as the released code has them, a hop at a time. */
static void transcribe_flow(const struct scene *s, gsl_rng *r, topo_host src,
    struct tables *out)
{
	const struct sim_dist *noise = &s->loss.noise.rate;
	const unsigned n = 1 + (unsigned)gsl_rng_uniform_int(r, 20);
	topo_link path[TOPO_MAX_HOPS], dropped_on = TOPO_NONE;
	topo_host dst;
	uint64_t total = 0;
	int failed = 0;
	do
		dst = (topo_host)gsl_rng_uniform_int(r, s->topo->n_hosts);
	while (topo_tor_of(s->topo, dst) == topo_tor_of(s->topo, src));
	const unsigned h = topo_path(s->topo, s->ecmp_seed, src, dst,
			       (uint32_t)gsl_rng_get(r), path) -
	    1;
	for (unsigned i = 0; i < h; i++) {
		const int bad = truth_is_faulty(&s->truth, path[i]);
		double rate = gsl_ran_flat(r, noise->a, noise->b);
		for (size_t k = 0; bad && k < s->truth.n_faults; k++)
			if (s->truth.fault[k].link == path[i])
				rate = s->truth.fault[k].rate;
		const unsigned count = gsl_ran_binomial(r, rate, n);
		if (gsl_ran_bernoulli(r, 1 - pow(1 - rate, n)))
			failed = 1;
		if (failed &&
		    (dropped_on == TOPO_NONE ||
			!truth_is_faulty(&s->truth, dropped_on)))
			dropped_on = path[i];
		total += count;
		out->counts[path[i]] += count;
	}
	add_flow(out, h, failed, total, dropped_on);
}

static void read_window(const struct losses *lost, const struct obs *w,
    struct tables *out)
{
	for (size_t i = 0; i < w->flows.n; i++)
		add_flow(out, obs_n_hops(w, i), w->flows.n_retx[i] > 0,
		    obs_n_counted(w, i), lost->culprit[i]);
	for (size_t j = 0; j < w->hops.n; j++)
		out->counts[w->hops.link[j]] += lost->drops[j];
}

/* Faults low enough that counts vary hardly more than Poisson counts do. */
static void the_law_is_that_of_a_transcription_of_the_rules(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	static struct tables plane, slow;
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(r, (unsigned long)test_seed());
	scenes_open(&s, &shape);
	const struct topo_clos *c = &s.topo.clos;
	s.params.noise.rate = scenes_uniform(0, 2e-3);
	s.params.traffic.packets = scenes_uniform(1, 20);
	scenes_add_fault(&s, topo_clos_link_host(3, TOPO_UP), 0.01);
	scenes_add_fault(&s, topo_clos_link_tor(c, 1, 1, TOPO_UP), 0.008);
	scenes_add_fault(&s, topo_clos_link_t1(c, 2, 0, TOPO_UP), 0.01);
	scenes_add_fault(&s, topo_clos_link_t1(c, 0, 1, TOPO_DOWN), 0.006);
	scenes_add_fault(&s, topo_clos_link_tor(c, 4, 0, TOPO_DOWN), 0.009);
	assert_true(s.topo.n_links <= MAX_LINKS);
	for (uint32_t run = 0; run < 400; run++) {
		run_epoch(&s, run, 0, &w);
		read_window(&s.lost, &w, &plane);
		for (uint64_t f = 0; f < s.scene.traffic.n_flows; f++)
			transcribe_flow(&s.scene, r,
			    scene_traffic_src(&s.scene.traffic, f), &slow);
	}
	assert_true(
	    law_chi2_equal(plane.outcome, slow.outcome, OUTCOMES) > LEVEL);
	assert_true(
	    law_chi2_equal(plane.culprit, slow.culprit, MAX_LINKS) > LEVEL);
	assert_true(
	    law_chi2_equal(plane.counts, slow.counts, MAX_LINKS) > LEVEL);
	gsl_rng_free(r);
	obs_free(&w);
	scenes_close(&s);
}

/* --- contract ------------------------------------------------------------- */

static void a_window_of_all_flows_holds_the_other_and_no_more_losses(
    void **state)
{
	(void)state;
	struct scenes s;
	struct obs all = {0}, some = {0};
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_uniform(0, 0.01);
	scenes_add_group(&s);
	run_epoch(&s, 3, 1, &all);
	run_epoch(&s, 3, 0, &some);
	assert_int_equal(all.complete, 1);
	assert_int_equal(some.complete, 0);
	size_t k = 0;
	for (size_t i = 0; i < all.flows.n; i++) {
		if (all.flows.n_retx[i] == 0 && obs_n_counted(&all, i) == 0)
			continue;
		assert_true(k < some.flows.n);
		assert_int_equal(all.flows.n_retx[i], some.flows.n_retx[k]);
		assert_int_equal(all.flows.count_off[i],
		    some.flows.count_off[k]);
		assert_int_equal(all.flows.start_ns[i], some.flows.start_ns[k]);
		k++;
	}
	assert_int_equal(k, some.flows.n);
	obs_free(&all);
	obs_free(&some);
	scenes_close(&s);
}

static void a_fault_drops_only_while_it_is_active(void **state)
{
	(void)state;
	struct scenes s;
	struct obs w = {0};
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(0);
	struct fault_params *g =
	    scenes_add_fault(&s, topo_clos_link_host(0, TOPO_UP), 1);
	g->from_s = 10;
	g->to_s = 20;
	run_epoch(&s, 1, 1, &w);
	for (size_t i = 0; i < w.flows.n; i++) {
		const int hit = w.flows.src_host[i] == 0 &&
		    w.flows.start_ns[i] >= 10 * SIM_SEC &&
		    w.flows.start_ns[i] < 20 * SIM_SEC;
		assert_int_equal(w.flows.n_retx[i],
		    hit ? w.flows.n_pkts[i] : 0);
	}
	obs_free(&w);
	scenes_close(&s);
}

static void a_graph_is_refused(void **state)
{
	(void)state;
	struct scenes s;
	struct topo_mesh *m;
	struct obs w = {0};
	struct sim_err e;
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	scenes_open_mesh(&s, m);
	assert_int_equal(bulk_vigil_matlab_epoch(scenes_draw(&s, 0), 0, &w,
			     &s.lost, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "plane vigil_matlab needs a Clos; this topology is a graph.");
	obs_free(&w);
	scenes_close(&s);
}

/* What the released simulator has none of. */
static void other_losses_than_its_own_are_refused(void **state)
{
	(void)state;
	static const char *const why[] =
	    {"plane vigil_matlab has no full buffers (congestion).",
		"plane vigil_matlab has one law of noise for all links "
		"(noise.times)."};
	for (unsigned i = 0; i < 2; i++) {
		struct scenes s;
		struct obs w = {0};
		struct sim_err e;
		scenes_open(&s, &shape);
		if (i == 0) {
			s.params.congestion.racks = 0.5;
			s.params.congestion.burst_ms = 1;
		} else {
			s.params.noise.times = 2;
			s.params.noise.classes = UINT32_C(1) << TOPO_TOR_T1;
		}
		assert_int_equal(bulk_vigil_matlab_epoch(scenes_draw(&s, 0), 0,
				     &w, &s.lost, &e),
		    SIM_EUNSUPPORTED);
		assert_string_equal(e.msg, why[i]);
		assert_int_equal(w.flows.n, 0);
		obs_free(&w);
		scenes_close(&s);
	}
}

static int epoch_once(void *arg, struct sim_err *e)
{
	struct scene *s = arg;
	struct obs w = {0};
	struct losses lost = {0};
	int rc = bulk_vigil_matlab_epoch(s, 1, &w, &lost, e);
	obs_free(&w);
	losses_free(&lost);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open(&s, &shape);
	s.params.traffic.conns = scenes_fixed(3);
	test_each_alloc_fails(epoch_once, scenes_draw(&s, 0));
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		ends_packets_and_paths_are_the_exact_planes_but_for_the_last_link),
	    cmocka_unit_test(a_row_holds_its_flag_its_count_and_its_culprit),
	    cmocka_unit_test(nothing_is_thinned_out_behind_a_black_hole),
	    cmocka_unit_test(the_culprit_moves_on_until_it_has_a_fault),
	    cmocka_unit_test(a_fault_before_the_first_drop_is_no_culprit),
	    cmocka_unit_test(flags_and_counts_are_independent_and_of_one_law),
	    cmocka_unit_test(counts_of_flows_with_a_flag_are_not_larger),
	    cmocka_unit_test(the_law_is_that_of_a_transcription_of_the_rules),
	    cmocka_unit_test(
		a_window_of_all_flows_holds_the_other_and_no_more_losses),
	    cmocka_unit_test(a_fault_drops_only_while_it_is_active),
	    cmocka_unit_test(a_graph_is_refused),
	    cmocka_unit_test(other_losses_than_its_own_are_refused),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/bulk/vigil_matlab", tests,
	    NULL, NULL);
}
