/* tests/experiments/spec/plane_test.c -- what holds for every plane alike.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a plane says of its metrics is held against the specs of tests/golden/,
 * of which each plane has one at least.
 */
#include "experiments/spec/plane.h"

#include <glob.h>

#include "experiments/check/gate.h"
#include "experiments/sweep/trial.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

enum { N_PLANES = 6, MAX_PLANES = 32 };

static void every_plane_is_found_by_its_name(void **state)
{
	unsigned n = 0;
	(void)state;
	for (; xp_planes[n]; n++) {
		const struct xp_plane *p = xp_planes[n];
		assert_string_equal(p->name, xp_plane_names[n]);
		assert_true(strlen(p->doc) > 0);
		assert_true(p->provides > 0 && p->provides < 1 << OBS_N_PARTS);
		assert_true(p->fills & RES_OF_SCENE);
		assert_true(p->open && p->run && p->print && p->close);
		/* A plane that does not always hold what it provides names the
		 * key that asks for it. */
		assert_true((p->holds == NULL) == (p->unless == NULL));
	}
	assert_null(xp_plane_names[n]);
	assert_true(n >= N_PLANES && n < MAX_PLANES);
}

static void every_section_is_read_whatever_the_plane(void **state)
{
	struct xp_config c = {0};
	struct xp_spec s;
	struct sim_err e;
	size_t n = 0;
	(void)state;
	spec_open(&s, "figure: f\nalgorithms: [vote]\n");
	assert_ok(xp_spec_point(&s, 0, &c, test_err()));
	for (; xp_section_at(n); n++)
		assert_ptr_equal(xp_section_of(&c, xp_section_at(n)),
		    c.section[n]);
	assert_in_range(n, 3, XP_MAX_SECTIONS);
	xp_config_free(&c);
	xp_spec_free(&s);
	for (size_t i = 0; i < n; i++) {
		char text[128];
		snprintf(text, sizeof(text),
		    "figure: f\nalgorithms: [vote]\n%s: {nothing: 1}\n",
		    xp_section_at(i)->name);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		assert_non_null(strstr(e.msg, "unknown key \"nothing\""));
		xp_spec_free(&s);
	}
}

/* --- what algorithms need ------------------------------------------------- */

/* Of each plane, whether an algorithm that needs this is refused there. */
static void a_plane_refuses_exactly_what_it_does_not_hold(void **state)
{
	(void)state;
	for (unsigned i = 0; xp_planes[i]; i++) {
		const struct xp_plane *p = xp_planes[i];
		struct xp_config c = {0};
		struct xp_spec s;
		char text[128], want[128];
		snprintf(text, sizeof(text),
		    "figure: f\nalgorithms: [%s]\nplane: %s\n",
		    p->provides & OBS_PROBES        ? "blackhole"
			: p->provides & OBS_SAMPLES ? "loss_cause"
			: p->provides & OBS_FLOWS   ? "vote"
						    : "sieve",
		    p->name);
		spec_open(&s, text);
		assert_ok(xp_spec_point(&s, 0, &c, test_err()));
		for (unsigned part = 1; part < 1 << OBS_N_PARTS; part *= 2) {
			struct sim_yaml y = {.name = NULL};
			const int holds = (xp_plane_holds(p, &c) & part) != 0;
			assert_ok(
			    xp_plane_check_needs(&y, NULL, &c, "seer", part));
			assert_int_equal(y.n_mistakes, !holds);
			snprintf(want, sizeof(want),
			    "seer reads %s; plane %s has none",
			    obs_part_text(part), p->name);
			if (!holds)
				assert_non_null(strstr(y.mistake[0], want));
			sim_yaml_free(&y);
		}
		xp_config_free(&c);
		xp_spec_free(&s);
	}
}

static void what_is_needed_in_vain_is_told_where_it_stands(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
	    {"algorithms:\n- vote\n- hop_trace\nplane: skip\n",
		"x.yaml:4:3: hop_trace reads traces with counts a hop; plane "
		"skip has none."},
	    {"algorithms: [{name: blackhole}]\nplane: agents\n",
		"x.yaml:2:14: blackhole reads Pingmesh's probes; plane agents "
		"has none."},
	    {"algorithms: [alg1]\nplane: pingmesh\n",
		"x.yaml:2:14: alg1 reads flows that sent again; plane pingmesh "
		"has none unless pingmesh.trace.on."},
	    {"algorithms: [vote]\nsweep: {grid: {plane: [exact, "
	     "pingmesh]}}\n",
		"x.yaml:2:14: vote reads flows that sent again; plane "
		"pingmesh has none unless pingmesh.trace.on."},
	    {"algorithms: [detector]\nplane: telemetry\n"
	     "telemetry: {kinds: [int, p]}\n",
		"x.yaml:2:14: detector reads probes along known paths (a1); "
		"plane telemetry has none unless telemetry.kinds has them."},
	    {"algorithms: [score_passive]\nplane: telemetry\n"
	     "telemetry: {kinds: [a1, a2]}\n",
		"x.yaml:2:14: score_passive reads rows of all that lost "
		"nothing, too; plane telemetry has none unless telemetry.kinds "
		"has them."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e;
		struct xp_spec s;
		char text[256];
		snprintf(text, sizeof(text), "figure: f\n%s", bad[i].text);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s\nsays: %s\nwanted: %s", text, e.msg,
			    bad[i].want);
		xp_spec_free(&s);
	}
}

#define UNABLE                                                                 \
	"figure: f\nseed: 5\nplane: telemetry\n"                               \
	"topology: {kind: fat_tree, k: 4}\nfaults: {count: 1, rate: 0.05}\n"

static int is_blank(const double x[], size_t n)
{
	size_t i = 0;
	while (i < n && isnan(x[i]))
		i++;
	return i == n;
}

/* Where it reads what there is, its numbers are those of a spec of that point
 * alone; the others' are as if it were not there. */
static void who_is_unable_has_no_results_at_that_point(void **state)
{
	enum { ALONE = RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS };
	double row[ALONE + RES_N_ALGO_METRICS], want[ALONE];
	static const char *const kinds[] = {"[int]", "[a1, p]"};
	struct xp_spec s, alone;
	struct xp_trial *t, *one;
	(void)state;
	spec_open(&s,
	    UNABLE "unable: skip\nalgorithms: [detector, flock]\n"
		   "telemetry: {flows: 40}\n"
		   "sweep: {grid: {telemetry.kinds: [[int], [a1, p]]}}\n");
	assert_ok(xp_trial_open(&t, &s, test_err()));
	for (size_t p = 0; p < 2; p++) {
		assert_ok(xp_trial_run(t, p, 0, row, test_err()));
		assert_int_equal(is_blank(row + RES_N_TRIAL_METRICS,
				     RES_N_ALGO_METRICS),
		    p == 0);
		char text[512];
		snprintf(text, sizeof(text),
		    UNABLE "algorithms: [flock]\ntelemetry: {flows: 40, kinds: "
			   "%s}\n",
		    kinds[p]);
		spec_open(&alone, text);
		assert_ok(xp_trial_open(&one, &alone, test_err()));
		assert_ok(xp_trial_run(one, 0, 0, want, test_err()));
		assert_memory_equal(row + ALONE, want + RES_N_TRIAL_METRICS,
		    RES_N_ALGO_METRICS * sizeof(row[0]));
		xp_trial_close(one);
		xp_spec_free(&alone);
	}
	xp_trial_close(t);
	xp_spec_free(&s);
}

static void who_is_unable_everywhere_is_a_mistake(void **state)
{
	struct xp_spec s;
	struct sim_err e;
	(void)state;
	assert_int_equal(spec_load(&s,
			     UNABLE
			     "unable: skip\nalgorithms: [flock, detector]\n"
			     "sweep: {grid: {telemetry.kinds: [[int], [p]]}}\n",
			     &e),
	    SIM_EINVAL);
	if (!strstr(e.msg,
		"x.yaml:7:21: detector reads probes along known paths (a1); "
		"plane telemetry has none unless telemetry.kinds has them."))
		fail_msg("says: %s", e.msg);
	xp_spec_free(&s);
	assert_int_equal(spec_load(&s, UNABLE "unable: drop\n", &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "\"drop\" is not one of refuse, skip"));
	xp_spec_free(&s);
}

/* Noise per flow is for flows in bulk; by its rules vigil_matlab has nothing
 * else. Agents of the simulator trace flows in bulk. */
static void who_has_no_noise_per_flow_says_so(void **state)
{
	static const struct {
		const char *text, *want;
	} specs[] = {
	    {"noise: {per: flow}\nplane: auto\n", NULL},
	    {"noise: {per: flow}\nplane: exact\n", NULL},
	    {"noise: {per: flow}\nplane: skip\n", NULL},
	    {"noise: {per: flow}\nplane: agents\n", NULL},
	    {"noise: {per: flow}\nplane: vigil_matlab\n", NULL},
	    {"noise: {rate: 0}\nplane: vigil_matlab\n", NULL},
	    {"noise: {per: link}\nplane: vigil_matlab\n",
		"x.yaml:3:14: per link: on plane vigil_matlab noise is per "
		"flow."},
	    {"noise: {per: flow}\nplane: pingmesh\n",
		"x.yaml:3:8: per flow: on plane pingmesh noise is per link."},
	    {"noise: {per: flow}\nplane: everflow\n",
		"x.yaml:3:8: per flow: on plane everflow noise is per link."},
	    {"noise: {per: flow}\nplane: agents\nfabric: netns\n",
		"x.yaml:3:8: per flow: on fabric netns noise is per link."},
	    {"noise: {per: host}\n", "per: \"host\" is not one of link, flow"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		const char *want = specs[i].want;
		struct sim_err e = {0};
		struct xp_spec s;
		char text[256];
		snprintf(text, sizeof(text), "figure: f\nalgorithms: [%s]\n%s",
		    strstr(specs[i].text, "pingmesh") ? "blackhole" : "vote",
		    specs[i].text);
		const int rc = spec_load(&s, text, &e);
		if (rc != (want ? SIM_EINVAL : 0) ||
		    (want && !strstr(e.msg, want)))
			fail_msg("%s\nsays: %s\nwanted: %s", text, e.msg,
			    want ? want : "nothing");
		xp_spec_free(&s);
	}
}

static void flows_that_lost_nothing_are_not_everywhere(void **state)
{
	static const struct {
		const struct xp_plane *plane;
		int all;
	} planes[] = {{&xp_plane_auto, 1}, {&xp_plane_exact, 1},
	    {&xp_plane_skip, 0}, {&xp_plane_agents, 0},
	    {&xp_plane_vigil_matlab, 1}, {&xp_plane_pingmesh, 0}};
	(void)state;
	for (size_t i = 0; i < N_PLANES; i++)
		assert_int_equal((planes[i].plane->provides & OBS_ALL_FLOWS) !=
			0,
		    planes[i].all);
}

/* --- metrics -------------------------------------------------------------- */

typedef uint8_t filled[MAX_PLANES][RES_N_TRIAL_METRICS];

static int is_in_range(enum res_range range, double x)
{
	const int whole = x == floor(x);
	switch (range) {
	case RES_RANGE_COUNT:
	case RES_RANGE_CODE:
		return whole && x >= 0;
	case RES_RANGE_RANK:
		return whole && x >= 1;
	case RES_RANGE_FLAG:
		return x == 0 || x == 1;
	case RES_RANGE_SHARE:
		return x >= 0 && x <= 1;
	case RES_RANGE_PARTS:
	case RES_RANGE_TIME:
	case RES_RANGE_AMOUNT:
		return x >= 0;
	case RES_RANGE_REAL:
		break;
	}
	return 1;
}

static void check_ranges(const struct res_metric m[], const double x[],
    size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]) && !is_in_range(m[i].range, x[i]))
			fail_msg("%s: %s is %.17g, which is not %s", path,
			    m[i].name, x[i], res_ranges[m[i].range].words);
}

static void run_spec(const char *path, filled f)
{
	struct xp_trial *t;
	struct xp_config c = {0};
	struct xp_spec s;
	struct res_cube cube;
	assert_ok(xp_spec_load(&s, path, 0, NULL, 0, test_err()));
	assert_ok(xp_spec_cube(&s, 0, 1, &cube, test_err()));
	assert_ok(xp_trial_open(&t, &s, test_err()));
	double *row = malloc(cube.cell_doubles * sizeof(row[0]));
	assert_non_null(row);
	for (size_t p = 0; p < s.n_points; p++) {
		assert_ok(xp_spec_point(&s, p, &c, test_err()));
		assert_ok(xp_trial_run(t, p, 0, row, test_err()));
		for (size_t i = 0; i < s.n_along; i++) {
			const double *x = row + i * cube.row_doubles;
			for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++)
				f[c.plane][m] |= !isnan(x[m]);
			check_ranges(res_trial_metrics, x, RES_N_TRIAL_METRICS,
			    path);
			for (size_t a = 0; a < cube.n_algos; a++)
				check_ranges(res_algo_metrics,
				    x + res_row_doubles(a), RES_N_ALGO_METRICS,
				    path);
		}
	}
	free(row);
	xp_trial_close(t);
	xp_config_free(&c);
	res_cube_free(&cube);
	xp_spec_free(&s);
}

static void a_plane_fills_the_metrics_that_it_says(void **state)
{
	static filled f;
	glob_t g;
	(void)state;
	assert_int_equal(glob("tests/golden/*.yaml", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		run_spec(g.gl_pathv[i], f);
	globfree(&g);
	for (unsigned i = 0; xp_planes[i]; i++)
		for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++) {
			const struct res_metric *x = &res_trial_metrics[m];
			const int says = (xp_planes[i]->fills & x->set) != 0;
			if (f[i][m] != says)
				fail_msg("plane %s says %s, but it does%s: %s",
				    xp_planes[i]->name,
				    says ? "that it fills this"
					 : "nothing of this",
				    says ? " not" : "", x->name);
		}
}

static void a_plane_without_full_buffers_says_why(void **state)
{
	(void)state;
	for (unsigned i = 0; xp_planes[i]; i++)
		assert_int_equal(xp_planes[i]->has_buffers,
		    !xp_planes[i]->no_buffers);
}

static void a_gate_on_what_is_not_measured_is_a_mistake(void **state)
{
	struct xp_gates g;
	struct sim_err e;
	(void)state;
	spec_write("x.yaml",
	    "figure: f\nalgorithms: [vote]\nplane: exact\ngates:\n"
	    "- {name: a, metric: n_traced, at_least: 1, p0: 0.1, p1: 0.9}\n"
	    "- {name: b, metric: n_flows, at_least: 1, p0: 0.1, p1: 0.9}\n"
	    "- {name: c, metric: drop_rate, at_least: 1, p0: 0.1, p1: 0.9}\n");
	assert_int_equal(xp_gates_load(&g, spec_path("x.yaml"), NULL, 0, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg,
	    "x.yaml:5:21: plane exact does not measure "
	    "n_traced."));
	assert_non_null(strstr(e.msg,
	    "x.yaml:7:21: plane exact does not measure "
	    "drop_rate."));
	assert_null(strstr(e.msg, "n_flows"));
	xp_gates_free(&g);
}

/* The planes that cannot have it say so; auto takes the one that can. */
static void tcp_is_of_plane_exact(void **state)
{
	static const struct {
		const char *plane, *tcp, *says;
	} cases[] = {
	    {"exact", "{resend: 15, acks: true}", NULL},
	    {"auto", "{resend: 1, syn: true, fin: true}", NULL},
	    {"agents", "{resend: 1, window: 9, quick: 0}", NULL},
	    {"skip", "{}", NULL},
	    {"skip", "{resend: 1}",
		"skipping has no way back of flows (traffic.tcp)."},
	    {"vigil_matlab", "{resend: 1}",
		"plane vigil_matlab has no way back of flows (traffic.tcp)."},
	    {"exact", "{acks: true}", "tcp: what syn, acks and fin lose"},
	    {"exact", "{resend: 16}", "resend"},
	    {"exact", "{acks: 1}", "acks"},
	    {"exact", "{ack: true}", "unknown key \"ack\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		struct xp_spec s;
		struct sim_err e;
		snprintf(text, sizeof(text),
		    "figure: f\nplane: %s\ntraffic: {conns: 1, tcp: %s}\n"
		    "algorithms: [vote]\n",
		    cases[i].plane, cases[i].tcp);
		const int rc = spec_load(&s, text, &e);
		if (rc != (cases[i].says ? SIM_EINVAL : 0))
			fail_msg("case %zu: %d: %s", i, rc, e.msg);
		if (cases[i].says && !strstr(e.msg, cases[i].says))
			fail_msg("case %zu: %s", i, e.msg);
		xp_spec_free(&s);
	}
}

/* --- what else a plane refuses -------------------------------------------- */

/* A spec but for its figure, and all that is told of it behind the file's name. */
static const struct {
	const char *text, *want;
} refused[] = {
    {"plane: agents\nalgorithms: [vote]\nlatency: {report_over: 100}\n",
	"2:8: agents have no round-trip times (latency.report_over)."},
    {"plane: agents\nalgorithms: [vote]\nfabric: netns\n"
     "agents: {slb: {share: 0.1}}\n",
	"5:15: fabric netns has no load balancer."},
    {"plane: agents\nalgorithms: [vote]\nfabric: tun\n"
     "agents: {flaps: {count: 1}}\n",
	"5:17: no cable flaps on fabric tun."},
    {"plane: agents\nalgorithms: [vote]\nfabric: netns\n"
     "noise: {rate: 1e-5, per: flow}\n",
	"5:8: per flow: on fabric netns noise is per link."},
    {"plane: everflow\nalgorithms: [vote]\nnoise: {rate: 1e-5, per: flow}\n",
	"4:8: per flow: on plane everflow noise is per link."},
    {"plane: everflow\nalgorithms: [vote]\n"
     "everflow: {trace: {share: 0.5}, rules: [control]}\n",
	"4:19: share 0.5: no rule takes what is marked (rules: [debug])."},
    {"plane: everflow\nalgorithms: [vote]\n"
     "everflow: {trace: {share: 0.5}, rules: [control, debug]}\n",
	NULL},
    {"plane: everflow\nalgorithms: [vote]\neverflow: {sample_n: 3}\n",
	"4:11: sample_n 3 with sample id must be a power of two in [1, "
	"65536]."},
    {"plane: everflow\nalgorithms: [vote]\neverflow: {conn: {vip_share: "
     "0.25}}\n",
	"4:18: vip_share 0.25: there are no virtual addresses (slb.vips)."},
    {"plane: everflow\nalgorithms: [vote]\neverflow: {conn: {vip_share: "
     "0.25}, slb: {vips: 1}}\n",
	NULL},
    {"plane: pingmesh_bulk\nalgorithms: [blackhole]\n"
     "noise: {rate: 1e-5, per: flow}\n",
	"4:8: per flow: on plane pingmesh_bulk noise is per link."},
    {"plane: pingmesh_bulk\nalgorithms: [blackhole]\n"
     "faults: [{count: 1}, {kind: black_hole_1, switches: 1}]\n",
	"4:9: kind black_hole_1: in bulk only ToRs have one (tiers: [tor]); "
	"use plane pingmesh for others."},
    {"plane: pingmesh_bulk\nalgorithms: [blackhole]\n"
     "faults: {kind: black_hole_1, switches: 1, tiers: [tor]}\n",
	NULL},
    {"plane: pingmesh_bulk\nalgorithms: [blackhole]\n"
     "topology: {kind: region, n_dcs: 2}\n",
	"4:11: plane pingmesh_bulk needs a topology of kind clos or "
	"leaf_spine; plane pingmesh has regions, too."},
    {"plane: pingmesh_bulk\nalgorithms: [blackhole]\n"
     "pingmesh: {pinglist: {payload_probes: true}}\n",
	"4:11: pinglist.payload_probes: probes in bulk carry none; use plane "
	"pingmesh."},
};

static void what_a_plane_cannot_have_is_refused_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct xp_spec s;
		struct sim_err e = {0};
		char text[512], want[512] = "";
		snprintf(text, sizeof(text), "figure: f\n%s", refused[i].text);
		if (refused[i].want)
			snprintf(want, sizeof(want), "%s:%s",
			    spec_path("x.yaml"), refused[i].want);
		spec_load(&s, text, &e);
		if (strcmp(e.msg, want) != 0)
			fail_msg("%s says %s, not %s", text, e.msg, want);
		xp_spec_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_plane_is_found_by_its_name),
	    cmocka_unit_test(every_section_is_read_whatever_the_plane),
	    cmocka_unit_test(a_plane_refuses_exactly_what_it_does_not_hold),
	    cmocka_unit_test(what_is_needed_in_vain_is_told_where_it_stands),
	    cmocka_unit_test(who_is_unable_has_no_results_at_that_point),
	    cmocka_unit_test(who_is_unable_everywhere_is_a_mistake),
	    cmocka_unit_test(who_has_no_noise_per_flow_says_so),
	    cmocka_unit_test(flows_that_lost_nothing_are_not_everywhere),
	    cmocka_unit_test(a_plane_fills_the_metrics_that_it_says),
	    cmocka_unit_test(tcp_is_of_plane_exact),
	    cmocka_unit_test(a_plane_without_full_buffers_says_why),
	    cmocka_unit_test(a_gate_on_what_is_not_measured_is_a_mistake),
	    cmocka_unit_test(what_a_plane_cannot_have_is_refused_by_name),
	};
	return cmocka_run_group_tests_name("experiments/spec/plane", tests,
	    spec_folder_make, spec_folder_remove);
}
