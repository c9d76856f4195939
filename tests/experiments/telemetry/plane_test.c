/* tests/experiments/telemetry/plane_test.c -- what plane telemetry refuses, and has.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/plane.h"

#include <math.h>

#include "models/obs_tallies.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define HEAD                                                                   \
	"figure: f\nalgorithms: [flock]\nplane: telemetry\n"                   \
	"topology: {kind: fat_tree, k: 4}\n"

static const struct {
	const char *line, *want;
} telemetry_mistakes[] = {
    {"faults: {kind: host_off}",
	"5:9: on plane telemetry links and switches drop (kind drop) or are "
	"slow (latency), or switches are black holes; nothing else fails."},
    {"faults: {kind: latency}",
	"5:9: kind latency needs round-trip times: set latency.report_over."},
    {"latency: {report_over: 9}\nfaults: {rate: 0.1}",
	"6:9: on plane telemetry rows tell times with latency.report_over, and "
	"of faults only those of kind latency."},
    {"latency: {report_over: 9}\nnoise: {rate: 0.1}",
	"6:8: on plane telemetry rows tell times with latency.report_over, and "
	"no losses that noise makes."},
    {"faults: {kind: narrow}", "5:9: kind narrow acts on plane everflow only"},
    {"faults: {from: 20, spread: 11}",
	"5:9: a fault may begin at 31 s (from + spread), but the run ends at "
	"30 s (telemetry.wire.window)."},
    {"faults: {lasts: 2, again: 3, every: 1}",
	"a fault lasts 2 s, but comes back every 1 s."},
    {"faults: {again: 3, every: 1}", "it needs `lasts`."},
    {"noise: {per: flow}",
	"5:8: on plane telemetry noise is of links (per: link)."},
    {"telemetry: {unknown: 2}", "5:22: unknown 2 is not in [0, 1]."},
    {"telemetry: {tracing: {traces: 1, evry: 3}}",
	"5:34: unknown key \"evry\"; did you mean \"every\"?"},
    {"telemetry: {answers: yes}", "5:22: answers: \"yes\" is not true"},
    {"telemetry: {file: {swaps: 2000}}",
	"5:27: swaps 2000 is not in [0, 1000] pairs."},
    {"telemetry: {kinds: []}", "5:12: kinds must not be empty."},
};

static void each_is_told(void **state)
{
	(void)state;
	for (size_t i = 0;
	     i < sizeof(telemetry_mistakes) / sizeof(telemetry_mistakes[0]);
	     i++) {
		char text[512];
		struct xp_spec s;
		struct sim_err e = {0};
		snprintf(text, sizeof(text), HEAD "%s\n",
		    telemetry_mistakes[i].line);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		if (!strstr(e.msg, telemetry_mistakes[i].want))
			fail_msg("%s\n  says: %s\n  not:  %s",
			    telemetry_mistakes[i].line, e.msg,
			    telemetry_mistakes[i].want);
		xp_spec_free(&s);
	}
}

static void what_it_has_is_taken(void **state)
{
	static const char *const good[] = {
	    "faults: {from: 20, spread: 9, lasts: 100}",
	    "faults: {kind: black_hole_1, entries: 0.1}",
	    "faults: {kind: black_hole_2, entries: 0.1, from: 3, to: 4}",
	    "congestion: {racks: 0.5}",
	    "telemetry: {file: {swaps: 3, seed: 9}}",
	    "latency: {report_over: 9}\nfaults: {kind: latency}",
	    "faults: {lasts: 1, again: 3, every: 1}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char text[512];
		struct xp_spec s;
		snprintf(text, sizeof(text), HEAD "%s\n", good[i]);
		assert_ok(spec_load(&s, text, test_err()));
		xp_spec_free(&s);
	}
}

/* --- a run ----------------------------------------------------------------- */

/* A plane that lived through a scene, and the last window that it told. */
struct ran {
	struct xp_spec spec;
	struct xp_config c;
	struct topo topo;
	struct scene scene;
	const struct xp_plane *of;
	void *plane;
	struct xp_window w;
	unsigned n_told;
	struct res_trial_metrics row;
};

static int ran_hear(void *arg, const struct xp_window *w, struct sim_err *e)
{
	struct ran *x = arg;
	(void)e;
	x->w = *w;
	return x->n_told++ < 3 ? 0 : SIM_EIO;
}

static void ran_open(struct ran *x, const char *telemetry)
{
	const struct sim_seed where = {.seed = 3};
	char text[512];
	*x = (struct ran){0};
	snprintf(text, sizeof(text),
	    HEAD "faults: {count: 2, rate: 0.05}\ntelemetry: {flows: 40, %s}\n",
	    telemetry);
	spec_open(&x->spec, text);
	assert_ok(xp_spec_point(&x->spec, 0, &x->c, test_err()));
	assert_ok(xp_topology_open(&x->c.topology, ".", &x->topo, test_err()));
	assert_ok(
	    scene_draw(&x->scene, &x->topo, &x->c.scene, &where, test_err()));
	x->of = xp_plane_of(&x->c);
	assert_ok(x->of->open(&x->plane, &x->topo, &x->c, test_err()));
	for (size_t i = 0; i < RES_N_TRIAL_METRICS; i++)
		((double *)&x->row)[i] = NAN;
	assert_ok(x->of->run(x->plane, &x->scene,
	    &(struct xp_listener){x, ran_hear}, &x->row, test_err()));
	assert_int_equal(x->n_told, 1);
}

static void ran_close(struct ran *x)
{
	x->of->close(x->plane);
	scene_free(&x->scene);
	topo_close(&x->topo);
	xp_config_free(&x->c);
	xp_spec_free(&x->spec);
}

static const char *ran_print(const struct ran *x, char text[512])
{
	FILE *out = fmemopen(text, 512, "w");
	assert_non_null(out);
	x->of->print(x->plane, &x->row, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* What nobody asked for was not measured. */
static void an_epoch_is_one_window_that_is_told_again(void **state)
{
	struct ran x;
	char text[512], want[512];
	uint64_t lost = 0;
	(void)state;
	ran_open(&x, "kinds: [int]");
	assert_true(x.w.first_row == 0 && x.w.n_rows == 1 && x.w.n_early == 0);
	assert_true(isnan(x.w.after_s));
	for (size_t i = 0; i < x.w.lost->n_drops; i++)
		lost += x.w.lost->drops[i];
	assert_true(x.row.n_flows == 16 * 40 && x.row.n_faults == 2);
	assert_true(x.row.n_drops == (double)lost && lost > 0);
	assert_true(x.row.n_failed_flows == (double)x.w.seen->flows.n);
	assert_true(isnan(x.row.n_traced) && isnan(x.row.host_bytes_s));
	assert_true(isnan(x.row.limit_f));
	assert_null(x.of->told(x.plane));
	const struct obs_tallies *rows = x.w.seen->tallies;
	snprintf(want, sizeof(want),
	    "%d flows, of which %zu lost %zu packets; %zu rows over %zu sets "
	    "of %zu paths\n",
	    16 * 40, x.w.seen->flows.n, (size_t)lost, rows->n,
	    rows->paths->n_sets, rows->paths->n);
	assert_string_equal(ran_print(&x, text), want);
	const struct xp_window was = x.w;
	x.w = (struct xp_window){0};
	assert_ok(x.of->again(x.plane, &(struct xp_listener){&x, ran_hear},
	    test_err()));
	assert_memory_equal(&x.w.seen, &was.seen, sizeof(was.seen));
	assert_true(x.w.lost == was.lost && x.w.n_rows == 1);
	/* Nobody need hear of it, and who does may end it. */
	assert_ok(x.of->again(x.plane, &(struct xp_listener){0}, test_err()));
	x.n_told = 3;
	assert_int_equal(x.of->again(x.plane,
			     &(struct xp_listener){&x, ran_hear}, NULL),
	    SIM_EIO);
	ran_close(&x);
}

static int ran_flows(void *arg, const struct obs *w, const struct losses *lost,
    struct sim_err *e)
{
	struct ran *x = arg;
	(void)e;
	assert_ptr_equal(w, x->w.seen);
	assert_ptr_equal(lost, x->w.lost);
	return 5;
}

static void flows_are_those_that_lost_something(void **state)
{
	struct ran x;
	int all = 1;
	(void)state;
	ran_open(&x, "kinds: [p]");
	assert_int_equal(x.of->flows(x.plane, &x.scene,
			     &(struct xp_flow_listener){&x, ran_flows}, &all,
			     NULL),
	    5);
	assert_int_equal(all, 0);
	ran_close(&x);
}

/* A host traces at most two flows, so that of 40 most are not. */
static void traces_are_counted_where_they_may_fail(void **state)
{
	struct ran x;
	char text[512], want[256];
	uint64_t whole = 0;
	(void)state;
	ran_open(&x, "kinds: [a2], tracing: {traces: 2, every: 30}");
	const struct obs_tallies *t = x.w.seen->tallies;
	for (size_t i = 0; i < t->n; i++)
		whole += t->path[i] != OBS_NO_PATH;
	assert_true(x.row.n_traced > 0);
	assert_true(x.row.n_traced < x.row.n_failed_flows);
	assert_true(x.row.n_full_traces == (double)whole);
	assert_true(
	    x.row.n_partial_traces == x.row.n_traced - x.row.n_full_traces);
	assert_true(x.row.n_icmp_sent >= 3 * x.row.n_full_traces);
	snprintf(want, sizeof(want),
	    "%.0f flows were traced, %zu of them whole; switches kept back "
	    "%.0f answers\n",
	    x.row.n_traced, (size_t)whole, x.row.n_icmp_suppressed);
	const char *second = strchr(ran_print(&x, text), '\n') + 1;
	assert_string_equal(second, want);
	ran_close(&x);
	/* Of others than flows that lost something nothing is traced. */
	ran_open(&x, "kinds: [p], tracing: {traces: 2, every: 30}");
	assert_true(isnan(x.row.n_traced));
	ran_close(&x);
	ran_open(&x, "kinds: [a2]");
	assert_true(isnan(x.row.n_traced));
	ran_close(&x);
}

static void what_is_asked_for_is_measured(void **state)
{
	struct ran x;
	(void)state;
	ran_open(&x,
	    "kinds: [int], cost: {on: true}, limit: {on: true}, early: "
	    "{halvings: 2}");
	assert_true(x.row.host_bytes_s > 0 && x.row.switch_entries == 1);
	assert_false(isnan(x.row.limit_f));
	assert_int_equal(x.w.n_early, 2);
	assert_true(x.w.early_share[0] == .25 && x.w.early_share[1] == .5);
	for (size_t i = 0; i < 2; i++)
		assert_true(x.w.early[i].n_flows ==
		    (uint64_t)(16 * 40 * x.w.early_share[i]));
	assert_in_range(x.w.early[0].tallies->n, 1, x.w.early[1].tallies->n);
	assert_in_range(x.w.early[1].tallies->n, 1, x.w.seen->tallies->n - 1);
	ran_close(&x);
}

/* The file differs from the network, for all runs alike. */
static void algorithms_are_given_the_file(void **state)
{
	struct ran x, y;
	const struct topo *file;
	unsigned n_differ = 0;
	(void)state;
	ran_open(&x, "kinds: [int], file: {swaps: 1, seed: 4}");
	ran_open(&y, "kinds: [int], file: {swaps: 1, seed: 4}");
	file = x.of->told(x.plane);
	assert_non_null(file);
	assert_int_equal(file->n_links, x.topo.n_links);
	for (topo_link l = 0; l < file->n_links; l++) {
		topo_node a[2], b[2], c[2];
		topo_link_ends(file, l, &a[0], &a[1]);
		topo_link_ends(&x.topo, l, &b[0], &b[1]);
		topo_link_ends(y.of->told(y.plane), l, &c[0], &c[1]);
		n_differ += a[0] != b[0] || a[1] != b[1];
		assert_true(a[0] == c[0] && a[1] == c[1]);
	}
	/* Two cables, either way. */
	assert_int_equal(n_differ, 4);
	ran_close(&x);
	ran_close(&y);
}

static int ran_life(void *arg, struct sim_err *e)
{
	struct ran *x = arg;
	void *plane = NULL;
	int rc = x->of->open(&plane, &x->topo, &x->c, e);
	x->n_told = 0;
	if (rc == 0)
		rc = x->of->run(plane, &x->scene,
		    &(struct xp_listener){x, ran_hear}, &x->row, e);
	x->of->close(plane);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	struct ran x;
	(void)state;
	ran_open(&x,
	    "kinds: [a1, a2, p], cost: {on: true}, limit: {on: true}, early: "
	    "{halvings: 1}, file: {swaps: 1}");
	x.of->close(NULL);
	test_each_alloc_fails(ran_life, &x);
	ran_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_is_told),
	    cmocka_unit_test(what_it_has_is_taken),
	    cmocka_unit_test(an_epoch_is_one_window_that_is_told_again),
	    cmocka_unit_test(flows_are_those_that_lost_something),
	    cmocka_unit_test(traces_are_counted_where_they_may_fail),
	    cmocka_unit_test(what_is_asked_for_is_measured),
	    cmocka_unit_test(algorithms_are_given_the_file),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/telemetry/plane", tests,
	    spec_folder_make, spec_folder_remove);
}
