/* tests/experiments/telemetry/plane_test.c -- what plane telemetry refuses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/plane.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_is_told),
	    cmocka_unit_test(what_it_has_is_taken),
	};
	return cmocka_run_group_tests_name("experiments/telemetry/plane", tests,
	    spec_folder_make, spec_folder_remove);
}
