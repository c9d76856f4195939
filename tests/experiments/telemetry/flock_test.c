/* tests/experiments/telemetry/flock_test.c -- traces there and back; mistakes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/flock.h"

#include <string.h>

#include "tests/rigs/folder.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"
#include "topo/addr.h"

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

static struct xp_flock_asks ftest_with_fails(char path[256], const char *fails)
{
	struct xp_flock_asks asks = ftest_all;
	test_write("t.fails", fails);
	snprintf(path, 256, "%s", test_path("t.fails"));
	asks.fails = path;
	return asks;
}

static void ftest_same_file(const char *path, const char *want)
{
	char *got = malloc(1 << 16);
	FILE *f = fopen(path, "rb");
	assert_true(f && got);
	const size_t n = fread(got, 1, (1 << 16) - 1, f);
	got[n] = '\0';
	assert_string_equal(got, want);
	fclose(f);
	free(got);
}

static void black_holes_are_written_as_they_were_read(void **state)
{
	(void)state;
	static const char fails[] = "Failing_component 10000 10001 3 1\n"
				    "Failing_component 10001 10000 4 0.25\n";
	struct xp_flock x;
	struct sim_err e;
	char path[256];
	const struct xp_flock_asks asks = ftest_with_fails(path, fails);
	assert_ok(ftest_read(&x, ftest_trace, &asks, test_err()));
	char again[256];
	snprintf(again, sizeof(again), "%s", test_path("again.fails"));
	assert_ok(xp_flock_write_fails(&x, again, test_err()));
	ftest_same_file(again, fails);
	xp_flock_free(&x);
	assert_ok(ftest_read(&x, ftest_trace, &ftest_all, test_err()));
	assert_int_equal(xp_flock_write_fails(&x, again, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg, "there are no black holes to be written.");
	ftest_same_file(again, fails);
	xp_flock_free(&x);
}

/* Whether any walk of the right length from host to host is by the switch: no
 * list of equal paths is asked. */
static int ftest_is_between(const struct topo *t, topo_host src, topo_host dst,
    topo_switch at)
{
	const topo_node n = t->n_hosts + at;
	unsigned far[2][64], best = UINT32_MAX;
	const topo_host end[2] = {src, dst};
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; i < 64; i++)
			far[k][i] = 1000;
		far[k][t->n_hosts + topo_tor_of(t, end[k])] = 0;
		for (unsigned step = 0; step < 8; step++)
			for (topo_link l = 2 * t->n_hosts; l < t->n_links;
			     l++) {
				topo_node from, to;
				topo_link_ends(t, l, &from, &to);
				if (far[k][from] + 1 < far[k][to])
					far[k][to] = far[k][from] + 1;
			}
	}
	for (topo_node i = t->n_hosts; i < t->n_hosts + t->n_switches; i++)
		if (far[0][i] + far[1][i] < best)
			best = far[0][i] + far[1][i];
	return far[0][n] + far[1][n] == best;
}

/* Those of a truth that was drawn, on a core, an edge, an aggregation switch. */
static void rules_of_black_holes_are_written_as_pairs_of_hosts(void **state)
{
	(void)state;
	static char want[1 << 16];
	for (uint32_t run = 0; run < 6; run++) {
		struct telemetry_rig r;
		struct truth_hole h = {.to_ns = SIM_NEVER};
		size_t n = 0;
		telemetry_rig_open(&r, 4, 0, OBS_TELE_INT, run);
		h.at = 3 * run % r.topo.n_switches;
		assert_ok(blackhole_rule_init(&h.rule, BLACKHOLE_RULE_PAIR,
		    run == 5 ? 1 : 0.2, run, test_err()));
		assert_ok(truth_add_hole(&r.scene.truth, &h, test_err()));
		const struct xp_flock x = {.topo = r.topo,
		    .truth = r.scene.truth};
		want[0] = '\0';
		for (topo_host a = 0; a < r.topo.n_hosts; a++)
			for (topo_host b = 0; b < r.topo.n_hosts; b++) {
				const struct topo_tuple t = {topo_addr_of_host(
								 a),
				    topo_addr_of_host(b), 0, 0, 0};
				if (a == b ||
				    !blackhole_rule_drops(&h.rule, &t) ||
				    !ftest_is_between(&r.topo, a, b, h.at))
					continue;
				n +=
				    (size_t)snprintf(want + n, sizeof(want) - n,
					"Failing_component %u %u %u 1\n",
					10000 + a, 10000 + b, h.at);
			}
		assert_true(n > 0);
		char path[256];
		snprintf(path, sizeof(path), "%s", test_path("rule.fails"));
		assert_ok(xp_flock_write_fails(&x, path, test_err()));
		ftest_same_file(path, want);
		r.scene.truth.hole[0].rule.type = BLACKHOLE_RULE_TUPLE;
		assert_int_equal(xp_flock_write_fails(&x, path, NULL),
		    SIM_EUNSUPPORTED);
		telemetry_rig_close(&r);
	}
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
	    {"FP\n", ":1: FP has 0 switches; paths have from 1 to 17."},
	    {"FP 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
		":1: FP has 18 switches; paths have from 1 to 17."},
	    {"FP 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n",
		":1: a line has 20 words at most; paths have 16 links."},
	    {"FP 1 3 2 3\n", "crosses a switch twice"},
	    {"FP 1\n",
		":1: FP has one switch; from a switch to itself there is no "
		"path to choose."},
	    {"FP 1 3 2\nFP 2 3 1\nFP 1 4 2\nFP 1 4 2\n" FTEST_FID,
		"t.txt: a path FP from 1 to 2 stands there twice."},
	    {FTEST_FID "FPT 1 3 2\nFPT 1 3 2\n",
		":3: the flow has an FPT already."},
	    {"FID 10000 10001 1 2 15k 0.0\n", ":1: BYTES is \"15k\""},
	    {"FID 10000 10001 1 2 1500 -1\n", ":1: START_MS is \"-1\""},
	    {"Failing_link 4 4 0.5\nFailing_link 4 4 0.25\n",
		":2: switch 4 fails twice."},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_flock x;
		struct sim_err e = {0};
		const int rc = ftest_read(&x, bad[i].text, &ftest_all, &e);
		if (rc != SIM_EPARSE || !strstr(e.msg, bad[i].says))
			fail_msg("%zu: %s", i, e.msg);
	}
}

/* What texts can't hold: bytes beyond a line's room, and one that is 0. */
static void lines_are_of_text_and_have_room(void **state)
{
	char text[1200], edges[256], path[256];
	struct sim_err e = {0};
	struct xp_flock x;
	(void)state;
	memset(text, ' ', sizeof(text));
	strcpy(text + 1023, "\n");
	assert_int_equal(ftest_read(&x, text, &ftest_all, &e), 0);
	xp_flock_free(&x);
	strcpy(text + 1023, " \n");
	assert_int_equal(ftest_read(&x, text, &ftest_all, &e), SIM_EPARSE);
	assert_non_null(
	    strstr(e.msg, "t.txt:1: a line has 1023 bytes at most."));
	snprintf(edges, sizeof(edges), "%s", test_path("n.edgelist"));
	snprintf(path, sizeof(path), "%s", test_path("t.txt"));
	FILE *f = fopen(path, "wb");
	assert_true(f && fwrite("FP 1 3 2\nFP\0 1 4 2\n", 1, 19, f) == 19 &&
	    fclose(f) == 0);
	assert_int_equal(xp_flock_read(&x, edges, path, &ftest_all, &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg,
	    "t.txt:2: the line holds a byte 0, which is no text."));
}

/* A network of a file, and a trace of it. */
static int ftest_read_in(struct xp_flock *x, const char *edges,
    const char *trace, struct sim_err *e)
{
	char network[256], path[256];
	test_write("in.edgelist", edges);
	test_write("in.txt", trace);
	snprintf(network, sizeof(network), "%s", test_path("in.edgelist"));
	snprintf(path, sizeof(path), "%s", test_path("in.txt"));
	return xp_flock_read(x, network, path, &ftest_all, e);
}

/* Paths that come behind those of other ends stand with theirs, in the order in
 * which they came. */
static void late_paths_are_put_with_their_set(void **state)
{
	static const struct {
		uint32_t set;
		const char *first, *second;
	} want[] = {{0, "1->3", "3->2"}, {0, "1->5", "5->2"},
	    {0, "1->4", "4->2"}, {1, "2->3", "3->1"}, {1, "2->5", "5->1"},
	    {1, "2->4", "4->1"}};
	struct xp_flock x;
	(void)state;
	assert_ok(ftest_read_in(&x,
	    "1 3\n1 4\n1 5\n2 3\n2 4\n2 5\n10000->1\n10001->2\n",
	    "FP 1 3 2\nFP 2 3 1\nFP 1 3\nFP 2 5 1\nFP 1 5 2\nFP 1 4 2\n"
	    "FP 2 4 1\n",
	    test_err()));
	assert_int_equal(x.paths.n_sets, 3);
	assert_int_equal(x.paths.n, 7);
	for (uint32_t i = 0; i < 6; i++) {
		char name[64];
		assert_int_equal(obs_path_length(&x.paths, i), 2);
		assert_true(i >= x.paths.first[want[i].set] &&
		    i < x.paths.first[want[i].set + 1]);
		topo_link_name(&x.topo, x.paths.link[x.paths.off[i]], name);
		assert_string_equal(name, want[i].first);
		topo_link_name(&x.topo, x.paths.link[x.paths.off[i] + 1], name);
		assert_string_equal(name, want[i].second);
	}
	assert_int_equal(obs_path_length(&x.paths, 6), 1);
	assert_ok(obs_paths_check(&x.paths, x.topo.n_links, test_err()));
	xp_flock_free(&x);
}

/* 16 links at most, of which hosts have two. */
static void a_path_that_is_too_long_with_its_hosts_is_told(void **state)
{
	static const char chain[] =
	    "1 30\n30 2\n1 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 10\n10 11\n"
	    "11 12\n12 13\n13 14\n14 15\n15 16\n16 2\n10000->1\n10001->2\n";
	struct xp_flock x;
	struct sim_err e = {0};
	(void)state;
	assert_int_equal(ftest_read_in(&x, chain,
			     "FID 10000 10001 1 2 1500 0.0\n"
			     "FPT 1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 2\n",
			     &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg,
	    "in.txt:2: with the links of hosts the path has 17 links; there "
	    "may be 16."));
}

/* Of any size, and with nothing sent. */
static void flows_of_no_packets_are_counted_apart(void **state)
{
	struct xp_flock x;
	(void)state;
	assert_ok(ftest_read(&x,
	    "FID 10000 10001 1 2 5e9 0.0\nFPT 1 3 2\nSS 1 0 0 0\n"
	    "FID 10000 10001 1 2 6000000000 0.0\nFPT 1 3 2\nSS 1 3 0 0\n",
	    &ftest_all, test_err()));
	assert_true(x.n_idle == 1 && x.n_early == 0);
	assert_int_equal(x.rows.n, 1);
	assert_int_equal(x.rows.n_sent[0], 3);
	xp_flock_free(&x);
}

static void networks_are_read_in_any_form(void **state)
{
	/* Cables in either direction, hosts in one word or three. */
	static const char *const good[] =
	    {"1 3\n2 3\n3 9\n10000->1\n10001->2\n",
		"3 1\n3 2\n9 3\n10000 -> 1\n10001 -> 2\n"};
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"1 2 3\n",
		"in.edgelist:1: a line is A B, two switches, or H->T, a host "
		"and its ToR."},
	    {"1\n", ":1: a line is A B"},
	    {"1 2\n10000 => 1\n", ":2: a line is A B"},
	    {"1 10000\n",
		":1: a switch is \"10000\", which is no whole "
		"number from 0 to 9999."},
	    {"1 2\n1->10000\n", ":2: a switch is \"10000\""},
	    {"1 2\nx->1\n", ":2: a host is \"x\""},
	    {"1 2\n0->1\n10000->2\n",
		"in.edgelist: 1 of 2 hosts are below 10000; all are, as in old "
		"files, or none."},
	};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct xp_flock x;
		assert_ok(ftest_read_in(&x, good[i], "", test_err()));
		for (uint32_t s = 0; s < 4; s++)
			assert_int_equal(topo_tier_of(&x.topo, s),
			    s < 2 ? 0 : s - 1);
		xp_flock_free(&x);
	}
	/* Tiers end two links from hosts. */
	struct xp_flock far;
	assert_ok(
	    ftest_read_in(&far, "1 2\n2 3\n3 4\n10000->1\n", "", test_err()));
	assert_int_equal(topo_tier_of(&far.topo, 0), TOPO_NONE);
	xp_flock_free(&far);
	struct sim_err gone = {0};
	assert_int_equal(xp_flock_read(&far, test_path("in.edgelist"),
			     test_path("none.txt"), &ftest_all, &gone),
	    SIM_EIO);
	assert_non_null(strstr(gone.msg, "none.txt: No such file"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_flock x;
		struct sim_err e = {0};
		if (ftest_read_in(&x, bad[i].text, "", &e) != SIM_EPARSE ||
		    !strstr(e.msg, bad[i].says))
			fail_msg("%zu: %s", i, e.msg);
	}
}

/* Of a switch that failed in a scene, the share of its links that did; one with
 * black holes is in their file. */
static void failed_switches_are_written_with_their_share(void **state)
{
	char path[256];
	(void)state;
	for (int holed = 0; holed < 2; holed++) {
		struct telemetry_rig r;
		telemetry_rig_open(&r, 4, 0, OBS_TELE_INT, 1);
		const topo_switch s = r.topo.n_switches - 1;
		unsigned n = 0;
		/* Three directed links of its eight. */
		for (topo_link l = 0; n < 3 && l < r.topo.n_links; l++) {
			topo_node from, to;
			topo_link_ends(&r.topo, l, &from, &to);
			if (to != r.topo.n_hosts + s)
				continue;
			assert_ok(truth_add_fault(&r.scene.truth,
			    &(struct truth_fault){.link = l,
				.rate = .5,
				.to_ns = SIM_NEVER},
			    test_err()));
			assert_ok(
			    truth_add_part(&r.scene.truth, l, s, test_err()));
			n++;
		}
		const struct truth_hole h = {.at = s, .to_ns = SIM_NEVER};
		if (holed)
			assert_ok(
			    truth_add_hole(&r.scene.truth, &h, test_err()));
		truth_sort(&r.scene.truth);
		r.p.flows = 1;
		telemetry_rig_draw(&r);
		const struct xp_flock x = {.topo = r.topo,
		    .rows = r.t.rows,
		    .truth = r.scene.truth};
		char line[64];
		snprintf(path, sizeof(path), "%s", test_path("share.txt"));
		assert_ok(xp_flock_write(&x, path, test_err()));
		FILE *f = fopen(path, "r");
		assert_non_null(f);
		if (!holed) {
			assert_non_null(fgets(line, sizeof(line), f));
			assert_string_equal(line, "Failing_link 19 19 0.375\n");
		}
		assert_non_null(fgets(line, sizeof(line), f));
		assert_memory_equal(line, "FP ", 3);
		fclose(f);
		telemetry_rig_close(&r);
	}
}

/* Nothing is written then, and nothing that was there is lost. */
static void rows_that_a_trace_cannot_have_are_refused(void **state)
{
	struct xp_flock x;
	struct sim_err e;
	char path[256];
	(void)state;
	assert_ok(ftest_read(&x, ftest_trace, &ftest_all, test_err()));
	test_write("kept.txt", "kept");
	snprintf(path, sizeof(path), "%s", test_path("kept.txt"));
	x.rows.is_probe[1] = 1;
	assert_int_equal(xp_flock_write(&x, path, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "row 1 is a probe between hosts; those of a trace have a switch at "
	    "one end.");
	x.rows.path[0] = OBS_NO_PATH;
	assert_int_equal(xp_flock_write(&x, path, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "row 0 has no path, and a trace has those of all flows; telemetry "
	    "int, or int and a1, has them.");
	ftest_same_file(path, "kept");
	xp_flock_free(&x);
}

static void mistakes_of_black_holes_name_their_file_and_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"Failing_link 1 3 1\n",
		"t.fails:1: a line is Failing_component SRC DST DEVICE PROB."},
	    {"Failing_component 10000 10001 3\n",
		"t.fails:1: the line has 4 words; Failing_component SRC DST "
		"DEVICE PROB has 5."},
	    {"Failing_component 1 10001 3 1\n",
		":1: SRC is \"1\", which is no whole number from 10000 to"},
	    {"Failing_component 10000 10007 3 1\n",
		":1: DST is 10007, but the network has no such host; it has 4 "
		"switches and 2 hosts."},
	    {"Failing_component 10000 10001 10000 1\n",
		":1: DEVICE is \"10000\", which is no whole number from 0 to "
		"9999."},
	    {"Failing_component 10000 10001 5 1\n",
		":1: DEVICE is 5, but the network has no such switch"},
	    {"Failing_component 10000 10001 3 1\n"
	     "Failing_component 10000 10001 3 1.01\n",
		":2: PROB is \"1.01\", which is no number from 0 to 1."},
	    {"Failing_component 10000 10001 3 nan\n", ":1: PROB is \"nan\""},
	    {"Failing_component 10000 10001 3 1",
		":1: the last line has no end: the file is cut."},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_flock x;
		struct sim_err e = {0};
		char path[256];
		const struct xp_flock_asks asks =
		    ftest_with_fails(path, bad[i].text);
		const int rc = ftest_read(&x, ftest_trace, &asks, &e);
		if (rc != SIM_EPARSE || !strstr(e.msg, bad[i].says))
			fail_msg("%zu: %s", i, e.msg);
	}
}

/* A packed trace or file of black holes has its length within, so there each cut is
 * told. */
static void a_packed_file_that_is_cut_is_told_at_every_byte(void **state)
{
	(void)state;
	static char all[1 << 14];
	char edges[256], path[256], cut[256];
	struct xp_flock x;
	assert_ok(ftest_read(&x, ftest_trace, &ftest_all, test_err()));
	snprintf(edges, sizeof(edges), "%s", test_path("n.edgelist"));
	snprintf(path, sizeof(path), "%s", test_path("whole.gz"));
	snprintf(cut, sizeof(cut), "%s", test_path("cut.gz"));
	assert_ok(xp_flock_write(&x, path, test_err()));
	xp_flock_free(&x);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	const size_t n = fread(all, 1, sizeof(all), f);
	fclose(f);
	assert_in_range(n, 50, sizeof(all) - 1);
	/* Of nothing, and of less than the two bytes that say that it is packed,
	 * nothing can be told. */
	for (size_t k = 2; k < n; k++) {
		struct sim_err e = {0};
		f = fopen(cut, "wb");
		assert_true(f && fwrite(all, 1, k, f) == k && fclose(f) == 0);
		const int rc = xp_flock_read(&x, edges, cut, &ftest_all, &e);
		if (rc == 0 || !strstr(e.msg, "cut.gz"))
			fail_msg("cut at byte %zu of %zu: %d, %s", k, n, rc,
			    e.msg);
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
	    cmocka_unit_test(black_holes_are_written_as_they_were_read),
	    cmocka_unit_test(
		rules_of_black_holes_are_written_as_pairs_of_hosts),
	    cmocka_unit_test(what_was_written_is_written_alike),
	    cmocka_unit_test(paths_of_equal_ends_are_put_together),
	    cmocka_unit_test(mistakes_name_the_line_and_the_value),
	    cmocka_unit_test(lines_are_of_text_and_have_room),
	    cmocka_unit_test(late_paths_are_put_with_their_set),
	    cmocka_unit_test(a_path_that_is_too_long_with_its_hosts_is_told),
	    cmocka_unit_test(flows_of_no_packets_are_counted_apart),
	    cmocka_unit_test(networks_are_read_in_any_form),
	    cmocka_unit_test(failed_switches_are_written_with_their_share),
	    cmocka_unit_test(rows_that_a_trace_cannot_have_are_refused),
	    cmocka_unit_test(mistakes_of_black_holes_name_their_file_and_line),
	    cmocka_unit_test(a_cut_is_told_but_between_two_flows),
	    cmocka_unit_test(a_packed_file_that_is_cut_is_told_at_every_byte),
	    cmocka_unit_test(no_memory_is_told_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, test_folder_make,
	    test_folder_remove);
}
