/* tests/experiments/pingmesh/record_test.c -- a cell's rows, read back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/record.h"

#include <unistd.h>

#include "experiments/sweep/trial.h"
#include "results/recording.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"
#include "topo/addr.h"

#define SMALL                                                                  \
	"figure: f\nalgorithms: [blackhole]\nplane: pingmesh\nnoise: {rate: "  \
	"0.01}\ntopology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: "  \
	"2}\n"

static struct res_recording *record(const char *text, size_t point,
    uint32_t run, struct xp_recorded *out)
{
	struct res_recording *r;
	struct xp_spec s;
	spec_open(&s, text);
	assert_ok(
	    xp_record_cell(&s, point, run, spec_path("x.h5"), out, test_err()));
	assert_ok(res_recording_open(&r, spec_path("x.h5"), test_err()));
	xp_spec_free(&s);
	return r;
}

static void the_rows_are_those_that_the_run_counts(void **state)
{
	const char *text = SMALL "pingmesh: {duration: 1200, window: 300, "
				 "along: window}\n";
	double row[4][RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS];
	struct xp_recorded n;
	struct xp_trial *trial;
	struct xp_spec s;
	struct obs_probes t = {0};
	(void)state;
	struct res_recording *r = record(text, 0, 0, &n);
	spec_open(&s, text);
	assert_ok(xp_trial_open(&trial, &s, test_err()));
	assert_ok(xp_trial_run(trial, 0, 0, row[0], test_err()));
	for (size_t i = 0; i < 4; i++) {
		uint64_t n_connected = 0;
		assert_ok(res_recording_probes(r, i * 300 * SIM_SEC,
		    (i + 1) * 300 * SIM_SEC, &t, test_err()));
		for (size_t k = 0; k < t.n; k++)
			n_connected += t.outcome[k] == OBS_CONNECTED;
		assert_true(t.n == row[i][RES_TRIAL_n_probes]);
		assert_true(n_connected == row[i][RES_TRIAL_n_connected]);
		assert_int_equal(t.syn_wait_ns[1], 6 * SIM_SEC);
	}
	assert_int_equal(res_recording_n_probes(r), n.n_probes);
	assert_int_equal(n.n_probes, n.count.n_rows);
	assert_int_equal(res_recording_covered(r, 0, SIM_NEVER),
	    1200 * SIM_SEC);
	struct obs_perf perf = {0};
	assert_ok(
	    res_recording_counters(r, 0, SIM_NEVER - 1, &perf, test_err()));
	assert_int_equal(perf.n, n.n_counters);
	assert_int_equal(perf.n, 8 * 4);
	obs_perf_free(&perf);
	obs_probes_free(&t);
	xp_trial_close(trial);
	xp_spec_free(&s);
	res_recording_close(r);
}

static void it_says_which_cell_it_is(void **state)
{
	struct xp_recorded n;
	(void)state;
	struct res_recording *r = record(SMALL
	    "seed: 7\nruns: 5\ncommon: false\npingmesh: {duration: 100, "
	    "window: 100, service: \"0-2\"}\nsweep: {grid: {noise.rate: [0, "
	    "0.5]}}\n",
	    1, 3, &n);
	const struct res_recording_info *i = res_recording_info(r);
	assert_true(i->seed == 7 && i->point == 1 && i->run == 3);
	assert_int_equal(i->duration_ns, 100 * SIM_SEC);
	assert_int_equal(i->n_dcs, 1);
	assert_int_equal(i->dc[0].clos.n_tors, 2);
	assert_string_equal(i->service, "service=0-2");
	assert_non_null(strstr(i->spec, "noise: {rate: 0.5}\n"));
	assert_null(strstr(i->spec, "sweep"));
	assert_null(strstr(i->spec, "runs"));
	/* The spec in the recording can be loaded, and has one point only. */
	struct xp_spec s;
	spec_open(&s, i->spec);
	assert_int_equal(s.n_points, 1);
	xp_spec_free(&s);
	res_recording_close(r);
}

static void hosts_are_those_of_the_whole_region(void **state)
{
	struct xp_recorded n;
	struct obs_probes t = {0};
	size_t n_far = 0, n_second = 0;
	(void)state;
	struct res_recording *r = record(
	    "figure: f\nalgorithms: [blackhole]\n"
	    "plane: pingmesh\ntopology: {kind: region, n_dcs: 2, n_pods: 2, "
	    "n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}\npingmesh: {duration: "
	    "300, window: 100, pinglist: {vips: \"198.18.0.3\"}}\n",
	    0, 0, &n);
	assert_ok(res_recording_probes(r, 0, SIM_NEVER, &t, test_err()));
	for (size_t i = 0; i < t.n; i++) {
		const int far = t.src_host[i] / 8 != t.dst_host[i] / 8;
		assert_true(t.src_host[i] < 16 && t.dst_host[i] < 16);
		assert_int_equal(far, t.level[i] == OBS_LEVEL_INTER_DC);
		n_far += (size_t)far;
		n_second += t.src_host[i] >= 8 && !far;
	}
	assert_true(n_far > 100 && n_second > 100);
	assert_ok(res_recording_vip_probes(r, 0, SIM_NEVER, &t, test_err()));
	assert_int_equal(t.n, n.n_vip_probes);
	assert_in_range(t.n, 16 * 3, 16 * 5);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(t.dst_host[i], topo_addr_of_vip(3));
	obs_probes_free(&t);
	res_recording_close(r);
}

static void what_a_collector_missed_is_not_covered(void **state)
{
	static const struct {
		const char *faults;
		double covered_s;
	} cases[] = {
	    {"{kind: collector, from: 100, to: 250}", 450},
	    {"{kind: collector, to: 250}", 350},
	    {"{kind: collector, from: 500}", 500},
	    {"[{kind: collector, from: 100, to: 200}, {kind: collector, from: "
	     "150, to: 300}]",
		400},
	    {"{kind: collector, mode: slow, delay: 1000}", 600},
	    {"{kind: controller, from: 100}", 600},
	    {"{kind: collector}", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_recorded n;
		char text[1024];
		snprintf(text, sizeof(text),
		    SMALL "pingmesh: {duration: 600, window: 300}\nfaults: "
			  "%s\n",
		    cases[i].faults);
		struct res_recording *r = record(text, 0, 0, &n);
		assert_int_equal(res_recording_covered(r, 0, SIM_NEVER),
		    (sim_ns)(cases[i].covered_s * 1e9));
		res_recording_close(r);
	}
}

static char *slurp(const char *name, long *n)
{
	FILE *f = fopen(spec_path(name), "rb");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*n = ftell(f);
	rewind(f);
	char *bytes = malloc((size_t)*n);
	assert_int_equal(fread(bytes, 1, (size_t)*n, f), *n);
	fclose(f);
	return bytes;
}

static void the_same_cell_is_the_same_bytes(void **state)
{
	const char *text = SMALL "pingmesh: {duration: 300, window: 100}\n";
	struct xp_recorded n;
	long size, size2;
	(void)state;
	res_recording_close(record(text, 0, 0, &n));
	char *a = slurp("x.h5", &size);
	res_recording_close(record(text, 0, 0, &n));
	char *b = slurp("x.h5", &size2);
	assert_int_equal(size, size2);
	assert_memory_equal(a, b, (size_t)size);
	free(a);
	free(b);
}

static void another_plane_has_nothing_to_record(void **state)
{
	struct xp_recorded n;
	struct xp_spec s;
	struct sim_err e;
	(void)state;
	spec_open(&s, "figure: f\nalgorithms: [vote]\n");
	assert_int_equal(xp_record_cell(&s, 0, 0, spec_path("no.h5"), &n, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "plane auto has no probes to record; set plane: pingmesh.");
	assert_int_not_equal(access(spec_path("no.h5"), F_OK), 0);
	xp_spec_free(&s);
}

static int remove_folder(void **state)
{
	unlink(spec_path("x.h5"));
	return spec_folder_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_rows_are_those_that_the_run_counts),
	    cmocka_unit_test(it_says_which_cell_it_is),
	    cmocka_unit_test(hosts_are_those_of_the_whole_region),
	    cmocka_unit_test(what_a_collector_missed_is_not_covered),
	    cmocka_unit_test(the_same_cell_is_the_same_bytes),
	    cmocka_unit_test(another_plane_has_nothing_to_record),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/record", tests,
	    spec_folder_make, remove_folder);
}
