/* tests/experiments_telemetry_flock_test.c -- traces there and back; mistakes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/flock.h"

#include <string.h>

#include "tests/folder.h"
#include "tests/telemetry_rig.h"
#include "tests/test.h"

/* Two ToRs 1 and 2 under two spines 3 and 4, a host each. */
static const char ftest_edges[] = "1 3\n1 4\n2 3\n2 4\n10000->1\n10001->2\n";
static const char ftest_trace[] = "Failing_link 1 3 0.01\n"
				  "Failing_link 4 4 0.5\n"
				  "FP 1 3 2\nFP 1 4 2\nFP 2 3 1\nFP 2 4 1\n"
				  "FID 10000 10001 1 2 15000 0.0\n"
				  "FPT 1 3 2\nSS 1.5 4 0 0\nSS 2.5 10 2 0\n"
				  "FID 10001 10000 2 1 3000 7.25\n"
				  "FPT 2 4 1\nFPRT 1 3 2\nSS 3 2 0 20000\n"
				  "FID 10000 4 1 4 60000 0.0\n"
				  "FPT 1 4\nSS 0.0 40 1 0\n"
				  "FID 10000 10000 1 1 1500 0.0\n"
				  "FPT 1\nSS 9 1 0 0\n";

static const struct xp_flock_asks ftest_all = {.telemetry =
						   OBS_TELE_INT | OBS_TELE_A1,
    .until_ms = INFINITY,
    .late_us = NAN};

static int ftest_read(struct xp_flock *x, const char *trace,
    const struct xp_flock_asks *asks, struct sim_err *e)
{
	char edges[256], path[256];
	test_write("n.edgelist", ftest_edges);
	test_write("t.txt", trace);
	snprintf(edges, sizeof(edges), "%s", test_path("n.edgelist"));
	snprintf(path, sizeof(path), "%s", test_path("t.txt"));
	return xp_flock_read(x, edges, path, asks, e);
}

/* --- by hand ---------------------------------------------------------------*/

static void each_line_is_a_row_or_a_truth(void **state)
{
	(void)state;
	struct xp_flock x;
	topo_link bad;
	assert_ok(ftest_read(&x, ftest_trace, &ftest_all, test_err()));
	assert_int_equal(x.topo.n_hosts, 2);
	assert_int_equal(x.topo.n_switches, 4);
	assert_int_equal(topo_tier_of(&x.topo, 2), 1);
	assert_int_equal(x.rows.n, 4);
	assert_int_equal(x.rows.n_sent[0], 10);
	assert_int_equal(x.rows.n_lost[0], 2);
	assert_int_equal(x.rows.n_sent[1], 2);
	assert_true(x.rows.is_probe[2] && !x.rows.is_probe[3]);
	assert_int_equal(x.rows.down[2], TOPO_NONE);
	assert_int_equal(obs_path_length(&x.paths, x.rows.path[3]), 0);
	assert_int_equal(x.n_lines, 20);
	assert_ok(topo_link_parse(&x.topo, "1->3", &bad, test_err()));
	assert_true(truth_is_faulty(&x.truth, bad));
	assert_int_equal(truth_switch_of(&x.truth, bad, TOPO_NONE), TOPO_NONE);
	assert_true(truth_is_failed_switch(&x.truth, 3));
	/* One to each ToR, both ways. */
	assert_int_equal(x.truth.n_parts, 4);
	assert_int_equal(x.window.n_flows, 3);
	assert_int_equal(x.window.flows.n, 1);
	assert_int_equal(obs_n_hops(&x.window, 0), 4);
	assert_ok(obs_paths_check(&x.paths, x.topo.n_links, test_err()));
	assert_ok(obs_tallies_check(&x.rows, x.topo.n_links, 1, test_err()));
	xp_flock_free(&x);
}

static void telemetries_choose_rows_and_paths(void **state)
{
	(void)state;
	static const struct {
		unsigned kinds;
		size_t n, n_known;
	} want[] = {{OBS_TELE_INT, 3, 3}, {OBS_TELE_A1, 1, 1},
	    {OBS_TELE_A2, 1, 1}, {OBS_TELE_P, 3, 0},
	    {OBS_TELE_A2 | OBS_TELE_P, 3, 1},
	    {OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, 4, 2}};
	for (size_t k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
		struct xp_flock x;
		struct xp_flock_asks asks = ftest_all;
		size_t n_known = 0;
		asks.telemetry = want[k].kinds;
		assert_ok(ftest_read(&x, ftest_trace, &asks, test_err()));
		for (size_t i = 0; i < x.rows.n; i++)
			n_known += x.rows.path[i] != OBS_NO_PATH;
		assert_int_equal(x.rows.n, want[k].n);
		assert_int_equal(n_known, want[k].n_known);
		xp_flock_free(&x);
	}
}

static void the_last_snapshot_before_the_end_counts(void **state)
{
	(void)state;
	struct xp_flock x;
	struct xp_flock_asks asks = ftest_all;
	asks.until_ms = 2.5;
	assert_ok(ftest_read(&x, ftest_trace, &asks, test_err()));
	assert_int_equal(x.rows.n, 2);
	assert_int_equal(x.rows.n_sent[0], 4);
	assert_int_equal(x.rows.n_lost[0], 0);
	assert_int_equal(x.n_early, 2);
	xp_flock_free(&x);
	asks = ftest_all;
	asks.late_us = 10000;
	assert_ok(ftest_read(&x, ftest_trace, &asks, test_err()));
	assert_int_equal(x.rows.n_sent[0], 1);
	assert_int_equal(x.rows.n_lost[0], 0);
	assert_int_equal(x.rows.n_lost[1], 1);
	xp_flock_free(&x);
}

static void links_that_failed_with_their_switch_are_its_parts(void **state)
{
	(void)state;
	struct xp_flock x;
	assert_ok(ftest_read(&x,
	    "Failing_device_link 1 4 0.02\nFailing_link 4 4 0.25\n", &ftest_all,
	    test_err()));
	assert_int_equal(x.truth.n_parts, 1);
	assert_true(x.truth.fault[0].rate == 0.02);
	xp_flock_free(&x);
}

static void old_hosts_are_numbered_anew(void **state)
{
	(void)state;
	struct topo t;
	char name[64];
	test_write("old.edgelist", "7 9\n8 9\n0->7\n1->8\n");
	assert_ok(
	    xp_flock_topo_read(&t, test_path("old.edgelist"), test_err()));
	topo_node_name(&t, 1, name);
	assert_string_equal(name, "10001");
	topo_close(&t);
}

static void black_holes_are_of_switches(void **state)
{
	(void)state;
	struct xp_flock x;
	struct xp_flock_asks asks = ftest_all;
	char path[256];
	test_write("t.fails",
	    "Failing_component 10000 10001 3 1\n"
	    "Failing_component 10001 10000 3 1.0\n");
	snprintf(path, sizeof(path), "%s", test_path("t.fails"));
	asks.fails = path;
	assert_ok(ftest_read(&x,
	    "FID 10000 10001 1 2 1500 0.0\nFPT 1 3 2\nSS 1 1 1 0\n", &asks,
	    test_err()));
	assert_int_equal(x.n_holes, 2);
	assert_int_equal(x.truth.n_switches, 1);
	assert_int_equal(x.truth.failed_switch[0], 2);
	xp_flock_free(&x);
}

/* --- there and back --------------------------------------------------------*/

static void ftest_again(struct xp_flock *x, const char *ext, char *first,
    char *second, size_t size)
{
	char edges[256], path[256], again[256];
	struct xp_flock back;
	snprintf(edges, sizeof(edges), "%s", test_path("a.edgelist"));
	snprintf(path, sizeof(path), "%s", test_path(ext[0] ? "a.gz" : "a"));
	snprintf(again, sizeof(again), "%s", test_path(ext[0] ? "b.gz" : "b"));
	assert_ok(xp_flock_topo_write(&x->topo, edges, test_err()));
	assert_ok(xp_flock_write(x, path, test_err()));
	assert_ok(xp_flock_read(&back, edges, path, &ftest_all, test_err()));
	assert_ok(xp_flock_write(&back, again, test_err()));
	assert_int_equal(back.rows.n, x->rows.n);
	for (size_t i = 0; i < x->rows.n; i++) {
		const struct obs_tally a = obs_tallies_at(&x->rows, i),
				       b = obs_tallies_at(&back.rows, i);
		assert_true(a.up == b.up && a.down == b.down &&
		    a.n_sent == b.n_sent && a.n_lost == b.n_lost &&
		    a.is_probe == b.is_probe);
	}
	FILE *f = fopen(path, "rb"), *g = fopen(again, "rb");
	assert_true(f && g);
	const size_t n = fread(first, 1, size, f);
	assert_int_equal(n, fread(second, 1, size, g));
	assert_true(n > 100 && n < size);
	assert_memory_equal(first, second, n);
	fclose(f);
	fclose(g);
	xp_flock_free(&back);
}

enum { FTEST_ROOM = 1 << 22 };

static void what_was_written_is_written_alike(void **state)
{
	(void)state;
	char *first = malloc(FTEST_ROOM), *second = malloc(FTEST_ROOM);
	struct xp_flock x;
	assert_ok(ftest_read(&x, ftest_trace, &ftest_all, test_err()));
	ftest_again(&x, "", first, second, FTEST_ROOM);
	first[strcspn(first, "F") + 96] = '\0';
	assert_ptr_equal(strstr(first,
			     "Failing_link 1 3 0.01\n"
			     "Failing_link 4 4 0.5\nFP 1 3 2\n"),
	    first);
	ftest_again(&x, "gz", first, second, FTEST_ROOM);
	xp_flock_free(&x);
	for (uint32_t run = 0; run < 10; run++) {
		struct telemetry_rig r;
		telemetry_rig_open(&r, 4, 1e-3, OBS_TELE_INT | OBS_TELE_A1,
		    run);
		telemetry_rig_fail(&r, 40, 0.0123);
		r.p.flows = 30;
		telemetry_rig_draw(&r);
		const struct xp_flock y = {.topo = r.topo,
		    .rows = r.t.rows,
		    .truth = r.scene.truth};
		x = y;
		ftest_again(&x, run % 2 ? "gz" : "", first, second, FTEST_ROOM);
		telemetry_rig_close(&r);
	}
	free(first);
	free(second);
}

static void paths_of_equal_ends_are_put_together(void **state)
{
	(void)state;
	struct xp_flock x;
	assert_ok(ftest_read(&x,
	    "FP 1 3 2\nFP 2 3 1\nFP 1 4 2\n"
	    "FID 10000 10001 1 2 1500 0\nFPT 1 4 2\nSS 1 3 1 0\n",
	    &ftest_all, test_err()));
	assert_int_equal(x.paths.n_sets, 2);
	assert_int_equal(obs_set_size(&x.paths, 0), 2);
	assert_int_equal(x.rows.path[0], 1);
	xp_flock_free(&x);
}

/* --- mistakes --------------------------------------------------------------*/

#define FTEST_FID "FID 10000 10001 1 2 1500 0.0\n"

static void mistakes_name_the_line_and_the_value(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"Nonsense 1\n", "t.txt:1: \"Nonsense\" begins no line"},
	    {"Failing_link 1 2 0.1\n", ":1: no cable joins 1 and 2."},
	    {"Failing_link 1 3 1.5\n",
		"X is \"1.5\", which is no number from "},
	    {"Failing_link 10000 10000 1\n", "is a host; only switches fail"},
	    {"Failing_device_link 1 3 0.1\n", "neither end of the link"},
	    {"FP 1 3 2\nFailing_link 1 3 0.1\n",
		":2: Failing_link is too late"},
	    {"FP 1 2\n", ":1: no cable joins 1 and 2."},
	    {"FP 1 3 9\n", "a hop is 9, but the network has no such switch"},
	    {"FP 1 3 2\nFP 1 3 2\n", ":2: the path stands there twice."},
	    {"FP 1 3 1\n", "crosses a switch twice"},
	    {FTEST_FID "FPT 1 3 2\nSS 1 2 0 0\nFP 1 3 2\n",
		":4: FP is too late"},
	    {"FID 10000 10001 2 2 1500 0.0\n", "must be the switches of SRC"},
	    {"FID 10000 10009 1 2 1500 0.0\n", "DST is 10009, but"},
	    {"FID 10000 10001 1 2 1500\n", "the line has 6 words; FID SRC"},
	    {FTEST_FID, ":1: the flow has no FPT line: the file is cut."},
	    {FTEST_FID "FPT 1 3 2\n", "the flow has no SS line"},
	    {FTEST_FID "SS 1 1 0 0\n", ":2: SS stands before"},
	    {"SS 1 1 0 0\n", "belong behind the FID"},
	    {FTEST_FID "FPT 2 3 1\n", "must lead from HOP1 to HOPN"},
	    {"FP 1 3 2\n" FTEST_FID "FPT 1 4 2\n",
		"the path is none of the 1 equal ones from 1 to 2."},
	    {FTEST_FID "FPT 1 3 2\nSS 1 5 6 0\n",
		":3: LOST is \"6\", which is no whole number from 0 to 5."},
	    {FTEST_FID "FPT 1 3 2\nSS 1 5 1 0\nSS 2 4 1 0\n", ":4: T_MS, SENT"},
	    {FTEST_FID "FPT 1 3 2\nSS 1 -5 1 0\n", "SENT is \"-5\""},
	    {FTEST_FID "FPT 1 3 2\nSS 1 5 1", ":3: the last line has no end"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_flock x;
		struct sim_err e = {0};
		const int rc = ftest_read(&x, bad[i].text, &ftest_all, &e);
		if (rc != SIM_EPARSE || !strstr(e.msg, bad[i].says))
			fail_msg("%zu: %s", i, e.msg);
	}
}

/* Wherever it is cut within a line or a flow, that is told. */
static void a_cut_is_told_but_between_two_flows(void **state)
{
	(void)state;
	char text[sizeof(ftest_trace)];
	for (size_t n = 0; n < sizeof(ftest_trace) - 1; n++) {
		struct xp_flock x;
		memcpy(text, ftest_trace, n);
		text[n] = '\0';
		const char *last = NULL;
		for (const char *l = text; *l; l = strchr(l, '\n') + 1) {
			if (!strchr(l, '\n'))
				break;
			last = l;
		}
		const int ends = n == 0 || text[n - 1] == '\n';
		const int in_flow = last &&
		    (strncmp(last, "FID", 3) == 0 ||
			strncmp(last, "FPT", 3) == 0 ||
			strncmp(last, "FPRT", 4) == 0);
		const int rc = ftest_read(&x, text, &ftest_all, NULL);
		if ((rc == 0) != (ends && !in_flow))
			fail_msg("cut at byte %zu: %d", n, rc);
		if (rc == 0)
			xp_flock_free(&x);
	}
}

static int ftest_twice(void *arg, struct sim_err *e)
{
	struct xp_flock x;
	(void)arg;
	const int rc = ftest_read(&x, ftest_trace, &ftest_all, e);
	xp_flock_free(&x);
	return rc;
}

static void no_memory_is_told_and_leaks_nothing(void **state)
{
	(void)state;
	test_each_alloc_fails(ftest_twice, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_line_is_a_row_or_a_truth),
	    cmocka_unit_test(telemetries_choose_rows_and_paths),
	    cmocka_unit_test(the_last_snapshot_before_the_end_counts),
	    cmocka_unit_test(links_that_failed_with_their_switch_are_its_parts),
	    cmocka_unit_test(old_hosts_are_numbered_anew),
	    cmocka_unit_test(black_holes_are_of_switches),
	    cmocka_unit_test(what_was_written_is_written_alike),
	    cmocka_unit_test(paths_of_equal_ends_are_put_together),
	    cmocka_unit_test(mistakes_name_the_line_and_the_value),
	    cmocka_unit_test(a_cut_is_told_but_between_two_flows),
	    cmocka_unit_test(no_memory_is_told_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, test_folder_make,
	    test_folder_remove);
}
