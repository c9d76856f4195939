/* tests/algos/pingmesh/silent_drop_test.c -- the tier of a silent drop.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/silent_drop.h"

#include <gsl/gsl_randist.h>

#include "tests/test.h"
#include "topo/addr.h"

/* 5 pods of 2 ToRs of 1 host: hosts 2 p and 2 p + 1 are pod p's. */
enum { N_PODS = 5 };

struct fixture {
	struct topo_clos clos;
	struct algo_drop_ladder ladder;
	struct algo_silent_drop_params params;
	struct obs_probes probes;
	struct algo_silent_drop s;
};

static void open_silent(struct fixture *f)
{
	const struct topo_dc dc = topo_dc_alone(&f->clos);
	assert_ok(algo_silent_drop_open(&f->s, &dc, &f->params, test_err()));
}

static void set_up(struct fixture *f)
{
	const sim_ns waits[] = {3 * SIM_SEC, 6 * SIM_SEC};
	*f = (struct fixture){.clos = {.n_pods = N_PODS,
				  .n_tors = 2,
				  .n_t1 = 2,
				  .n_t2 = 2,
				  .n_hosts = 1}};
	assert_ok(topo_clos_init(&f->clos, test_err()));
	assert_ok(algo_drop_ladder_init(&f->ladder, waits, 2, 400 * SIM_MS,
	    test_err()));
	assert_ok(sim_field_defaults(algo_silent_drop_fields, &f->params,
	    test_err()));
	open_silent(f);
}

static void tear_down(struct fixture *f)
{
	obs_probes_free(&f->probes);
	algo_silent_drop_close(&f->s);
}

static void add(struct fixture *f, uint32_t src, uint32_t dst, unsigned n,
    uint64_t rtt_ns)
{
	const struct obs_probe p = {.rtt_ns = rtt_ns,
	    .src_host = src,
	    .dst_host = dst,
	    .outcome = rtt_ns ? OBS_CONNECTED : OBS_TIMED_OUT,
	    .level = OBS_LEVEL_DC};
	for (unsigned i = 0; i < n; i++)
		assert_ok(obs_probes_add(&f->probes, &p, test_err()));
}

static void find(struct fixture *f)
{
	const struct obs_probe_source all = obs_probes_whole(&f->probes);
	assert_ok(algo_silent_drop_find(&f->s, &all, &f->ladder, test_err()));
}

/* 500 probes a cell; cells with an x lose 10. Rows of the lower triangle:
 * "0 | 10 11 | 20 21 22 | ..." without the gaps. */
static void assert_tier(const char *cells, enum algo_silent_drop_tier want,
    const char *at_fault)
{
	struct fixture f;
	set_up(&f);
	for (uint32_t b = 0; b < N_PODS; b++)
		for (uint32_t a = 0; a <= b; a++) {
			const unsigned n = *cells++ == 'x' ? 10 : 0;
			add(&f, 2 * a, 2 * b + 1, 250, SIM_MS);
			add(&f, 2 * b + 1, 2 * a, 250 - n, SIM_MS);
			add(&f, 2 * b + 1, 2 * a, n, 3 * SIM_SEC);
		}
	find(&f);
	if (f.s.tier != want)
		fail_msg("tier %d, wanted %d", f.s.tier, want);
	for (uint32_t p = 0; p < N_PODS; p++)
		assert_int_equal(f.s.at_fault[p], at_fault[p] == 'F');
	tear_down(&f);
}

static void the_pairs_that_suffer_tell_the_tier(void **state)
{
	(void)state;
	assert_tier("...............", ALGO_SILENT_DROP_NONE, ".....");
	/* All pairs of pods suffer, and no pod within; half of the pairs do;
	 * fewer do, which fits no pattern. */
	assert_tier(".x.xx.xxx.xxxx.", ALGO_SILENT_DROP_SPINE, ".....");
	assert_tier(".x.xx.....x.x..", ALGO_SILENT_DROP_SPINE, ".....");
	assert_tier("............x..", ALGO_SILENT_DROP_UNCLEAR, ".....");
	/* Pod 1 suffers within itself and in all its pairs; only within itself;
	 * only in its pairs, by its ways up. */
	assert_tier(".xx.x..x...x...", ALGO_SILENT_DROP_POD, ".F...");
	assert_tier("..x............", ALGO_SILENT_DROP_POD, ".F...");
	assert_tier(".x..x..x...x...", ALGO_SILENT_DROP_POD, ".F...");
	/* Two pods of whose pairs half suffer; one pair is of both. */
	assert_tier(".x.x...x.......", ALGO_SILENT_DROP_POD, "FF...");
	/* A bad spine is found beside a bad pod, and several bad pods are not
	 * taken for a bad spine. */
	assert_tier("xx.xx.xxx.xxxx.", ALGO_SILENT_DROP_SPINE, "F....");
	assert_tier("xxxxxxxxx.xxx..", ALGO_SILENT_DROP_POD, "FFF..");
	assert_tier("xxxxxxxxxxxxxxx", ALGO_SILENT_DROP_POD, "FFFFF");
}

static void few_probes_prove_nothing_and_some_are_left_out(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	add(&f, 0, 2, 1, 3 * SIM_SEC); /* 1 of 1: at 0.9999 above 5e-5 */
	add(&f, 0, 4, 100, 0);
	add(&f, 0, 6, 100, 3 * SIM_SEC);
	for (size_t i = 101; i < f.probes.n; i++)
		f.probes.level[i] = OBS_LEVEL_INTER_DC;
	find(&f);
	assert_int_equal(f.s.tier, ALGO_SILENT_DROP_NONE);
	assert_near(f.s.cell[0].lo, 5e-5, 1e-12);
	assert_int_equal(f.s.cell[1].n_success, 0);
	add(&f, 2, 0, 1, 9 * SIM_SEC);
	find(&f);
	assert_int_equal(f.s.tier, ALGO_SILENT_DROP_UNCLEAR);
	/* Probes under one ToR tell nothing of tiers, and are left out. */
	f.clos.n_tors = 1;
	f.clos.n_hosts = 2;
	assert_ok(topo_clos_init(&f.clos, test_err()));
	algo_silent_drop_close(&f.s);
	open_silent(&f);
	obs_probes_clear(&f.probes);
	add(&f, 0, 1, 100, 3 * SIM_SEC);
	find(&f);
	assert_int_equal(f.s.tier, ALGO_SILENT_DROP_NONE);
	assert_int_equal(f.s.cell[0].n_success, 0);
	tear_down(&f);
}

static void the_worst_pair_comes_first(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	add(&f, 0, 9, 100, 3 * SIM_SEC);
	add(&f, 4, 7, 200, 9 * SIM_SEC); /* as bad, by more probes */
	add(&f, 2, 3, 100, 3 * SIM_SEC);
	find(&f);
	const uint32_t want[][2] = {{2, 3}, {0, 4}, {1, 1}, {0, 0}, {0, 1}};
	for (int i = 0; i < 5; i++) {
		assert_int_equal(f.s.cell[i].pod, want[i][0]);
		assert_int_equal(f.s.cell[i].pod2, want[i][1]);
	}
	tear_down(&f);
}

/* The paper's incident: 2e-3 through the spine, 2e-5 within pods, 20000 probes
 * a cell. A pair has about 40 drops and suffers from 10 on: it misses
 * with 1e-8, and six of ten must. A healthy cell has 0.4 drops; one of 15 with
 * 10 is a false alarm: 1e-10. */
static void a_silent_spine_is_found_at_the_papers_rates(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		const int ill = run % 2;
		struct fixture f;
		struct sim_rng r;
		set_up(&f);
		test_rng(&r, run);
		for (uint32_t b = 0; b < N_PODS; b++)
			for (uint32_t a = 0; a <= b; a++) {
				const unsigned n = gsl_ran_binomial(&r.gsl,
				    ill && a != b ? 2e-3 : 2e-5, 20000);
				add(&f, 2 * a, 2 * b + 1, n, 3 * SIM_SEC);
				add(&f, 2 * a, 2 * b + 1, 20000 - n, SIM_MS);
			}
		find(&f);
		if (f.s.tier !=
		    (ill ? ALGO_SILENT_DROP_SPINE : ALGO_SILENT_DROP_NONE))
			fail_msg("seed %llu, run %u: tier %d",
			    (unsigned long long)test_seed(), run, f.s.tier);
		tear_down(&f);
	}
}

/* --- whom to trace ---------------------------------------------------------*/
enum { MAX_TARGETS = 64 };

static size_t targets(struct fixture *f, uint32_t n_cells, uint32_t n_pairs,
    uint32_t run, struct algo_hop_trace_target out[MAX_TARGETS])
{
	const struct algo_silent_drop_tracing how = {.n_cells = n_cells,
	    .n_pairs = n_pairs,
	    .n_ports = 8,
	    .first_port = 40000};
	struct sim_rng tie;
	test_rng(&tie, run);
	assert_true(2 * n_cells * n_pairs <= MAX_TARGETS);
	return algo_silent_drop_targets(&f->s, &how, &tie, out);
}

static uint32_t host_of(uint32_t ip)
{
	return topo_addr_to_host(ip, 1 << 20);
}

/* Targets come in twos, there and back, of pods LOW and HIGH; no server sends
 * twice, and from each ToR as many as from any other of its pod. */
static void assert_targets(const struct fixture *f,
    const struct algo_hop_trace_target t[], size_t n, uint32_t low,
    uint32_t high)
{
	const uint32_t n_hosts = f->clos.n_hosts;
	const uint32_t a_pod = f->clos.n_tors * n_hosts;
	uint32_t from[MAX_TARGETS] = {0}, least = MAX_TARGETS, most = 0;
	for (size_t i = 0; i < n; i += 2) {
		const uint32_t src = t[i].src, dst = host_of(t[i].dst_ip);
		assert_int_equal(t[i + 1].src, dst);
		assert_int_equal(host_of(t[i + 1].dst_ip), src);
		assert_int_equal(t[i].first_port, 40000);
		assert_int_equal(t[i + 1].n_ports, 8);
		assert_int_equal(src / a_pod, low);
		assert_int_equal(dst / a_pod, high);
		assert_int_not_equal(src / n_hosts, dst / n_hosts);
		from[src / n_hosts]++;
		from[dst / n_hosts]++;
		for (size_t j = 0; j < i; j++)
			assert_true(t[j].src != src && t[j].src != dst);
	}
	for (uint32_t i = 0; i < f->clos.all_tors; i++) {
		if (i / f->clos.n_tors != low && i / f->clos.n_tors != high)
			continue;
		least = from[i] < least ? from[i] : least;
		most = from[i] > most ? from[i] : most;
	}
	assert_true(most - least <= (low == high));
}

static void the_worst_cells_are_traced_both_ways_from_all_tors(void **state)
{
	(void)state;
	struct fixture f;
	struct algo_hop_trace_target t[MAX_TARGETS], again[MAX_TARGETS];
	unsigned differ = 0;
	set_up(&f);
	f.clos = (struct topo_clos){.n_pods = 3,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 4};
	assert_ok(topo_clos_init(&f.clos, test_err()));
	algo_silent_drop_close(&f.s);
	open_silent(&f);
	/* Pods 0 and 2 worst, then pod 1 within; the others are well. */
	add(&f, 0, 24, 200, 3 * SIM_SEC);
	add(&f, 12, 16, 100, 3 * SIM_SEC);
	add(&f, 0, 12, 1000, SIM_MS);
	find(&f);
	for (uint32_t run = 0; run < 50; run++) {
		assert_int_equal(targets(&f, 1, 6, run, t), 12);
		assert_targets(&f, t, 12, 0, 2);
		assert_int_equal(targets(&f, 1, 6, run, again), 12);
		for (size_t i = 0; i < 12; i++)
			assert_int_equal(t[i].src, again[i].src);
		assert_int_equal(targets(&f, 3, 6, run, t), 24);
		assert_targets(&f, t, 12, 0, 2);
		assert_targets(&f, t + 12, 12, 1, 1);
		assert_int_equal(targets(&f, 1, 6, run + 1000, again), 12);
		differ += t[0].src != again[0].src;
	}
	assert_true(differ > 20); /* of 50, each with 11/12 */
	/* No server sends twice, so there are no more targets than servers. */
	assert_int_equal(targets(&f, 1, 32, 1, t), 24);
	assert_targets(&f, t, 24, 0, 2);
	assert_int_equal(targets(&f, 0, 6, 1, t), 0);
	obs_probes_clear(&f.probes);
	find(&f);
	assert_int_equal(targets(&f, 3, 6, 1, t), 0);
	tear_down(&f);
}

/* --- errors ----------------------------------------------------------------*/
static int open_and_find(void *arg, struct sim_err *e)
{
	const struct fixture *f = arg;
	const struct topo_dc dc = topo_dc_alone(&f->clos);
	const struct obs_probe_source all = obs_probes_whole(&f->probes);
	struct algo_silent_drop s;
	int rc = algo_silent_drop_open(&s, &dc, &f->params, e);
	if (rc == 0)
		rc = algo_silent_drop_find(&s, &all, &f->ladder, e);
	algo_silent_drop_close(&s);
	return rc;
}

static void without_memory_or_with_bad_input_it_fails(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_err e;
	set_up(&f);
	add(&f, 0, 9, 2, SIM_MS);
	test_each_alloc_fails(open_and_find, &f);
	f.params.conf = 1;
	assert_int_equal(open_and_find(&f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "pods 0 and 0"));
	f.probes.dst_host[1] = 10;
	assert_int_equal(open_and_find(&f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "probe 1"));
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_pairs_that_suffer_tell_the_tier),
	    cmocka_unit_test(few_probes_prove_nothing_and_some_are_left_out),
	    cmocka_unit_test(the_worst_pair_comes_first),
	    cmocka_unit_test(a_silent_spine_is_found_at_the_papers_rates),
	    cmocka_unit_test(
		the_worst_cells_are_traced_both_ways_from_all_tors),
	    cmocka_unit_test(without_memory_or_with_bad_input_it_fails),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/silent_drop", tests,
	    NULL, NULL);
}
