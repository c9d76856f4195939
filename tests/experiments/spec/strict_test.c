/* tests/experiments/spec/strict_test.c -- what a spec is given in vain.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/strict.h"

#include <glob.h>
#include <unistd.h>

#include "algos/pingmesh/pingmesh.h"
#include "experiments/spec/plane.h"
#include "sim/text.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* Two lines, so that what follows is on line 3. */
#define HEAD "figure: f\nalgorithms: [vote]\n"

/* What a spec says, or SET of it: mistakes as they are told and warnings after
 * "warning: ", without the file's name. */
static const char *told(const char *text, const char *const set[], size_t n,
    int smoke)
{
	static char all[8192];
	char name[160], *p;
	struct xp_spec s;
	struct sim_err e = {0};
	spec_write("x.yaml", text);
	const int rc = xp_spec_load(&s, spec_path("x.yaml"), smoke, set, n, &e);
	snprintf(all, sizeof(all), "%s", rc < 0 ? e.msg : "");
	for (size_t i = 0; i < s.n_warnings; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all),
		    "%swarning: %s", *all ? "\n" : "", s.warning[i]);
	xp_spec_free(&s);
	snprintf(name, sizeof(name), "%s:", spec_path("x.yaml"));
	while ((p = strstr(all, name)))
		memmove(p, p + strlen(name), strlen(p + strlen(name)) + 1);
	return all;
}

static void says(const char *text, const char *want)
{
	const char *got = told(text, NULL, 0, 0);
	if (strcmp(got, want) != 0)
		fail_msg("of:\n%s\nsays:\n%s\nwanted:\n%s", text, got, want);
}

/* Two assignments at most; B may be NULL. */
static void says_set(const char *text, const char *a, const char *b, int smoke,
    const char *want)
{
	const char *const set[] = {a, b};
	const char *got = told(text, set, (a != NULL) + (b != NULL), smoke);
	if (strcmp(got, want) != 0)
		fail_msg("of %s %s:\n%s\nsays:\n%s\nwanted:\n%s", a, b ? b : "",
		    text, got, want);
}

/* --- overrides ------------------------------------------------------------ */

#define GRID HEAD "sweep: {grid: {traffic.conns: [1, 2], noise.rate: [0, 1]}}\n"
#define ZIP  HEAD "sweep: {zip: {traffic.conns: [1, 2], noise.rate: [0, 1]}}\n"

static void a_set_of_a_swept_key_is_refused_with_what_to_write(void **state)
{
	(void)state;
	says_set(GRID, "traffic.conns=many", NULL, 0,
	    "--set: the sweep varies traffic.conns, so many would be ignored; "
	    "for this value alone write --set "
	    "'sweep.grid.traffic.conns=[many]'.");
	says_set(ZIP, "traffic.conns=3", NULL, 0,
	    "--set: the sweep varies traffic.conns, with other keys of its "
	    "zip, so traffic.conns would be ignored; give the whole of it "
	    "anew, --set 'sweep.zip={...}'.");
	says_set(GRID, "traffic={conns: 7}", NULL, 0,
	    "--set: the sweep varies traffic.conns, so what traffic gives for "
	    "it would be ignored; change or drop the axis, --set "
	    "'sweep={...}'.");
	says_set(HEAD
	    "sweep: {grid: {algorithms: [[vote], [{name: alg1, label: "
	    "vote}]]}}\n",
	    "algorithms=[cover]", NULL, 0,
	    "--set: the sweep varies algorithms, so [cover] would be ignored; "
	    "for this value alone write --set "
	    "'sweep.grid.algorithms=[[cover]]'.");
	/* What the axis leaves is the user's. */
	says_set(GRID, "traffic={packets: 7}", NULL, 0, "");
	says_set(GRID, "sweep={grid: {noise.rate: [0, 1]}}", "traffic.conns=3",
	    0, "");
}

static void the_line_that_is_advised_works(void **state)
{
	const char *const set[] = {"sweep.grid.traffic.conns=[30]"};
	struct xp_config c = {0};
	struct xp_spec s;
	(void)state;
	spec_write("x.yaml", GRID);
	assert_ok(xp_spec_load(&s, spec_path("x.yaml"), 0, set, 1, test_err()));
	assert_int_equal(s.n_points, 2);
	for (size_t p = 0; p < 2; p++) {
		assert_ok(xp_spec_point(&s, p, &c, test_err()));
		assert_true(c.scene.traffic.conns.a == 30);
	}
	xp_config_free(&c);
	xp_spec_free(&s);
}

static void a_set_that_another_replaces_is_refused(void **state)
{
	(void)state;
	says_set(HEAD, "runs=5", "runs=6", 0,
	    "--set: runs is given twice, 5 and 6; only the last would count.");
	says_set(HEAD, "faults.count=5", "faults={rate: 0.1}", 0,
	    "--set: faults replaces faults.count, which was given before; give "
	    "it after.");
	says_set(HEAD, "faults={rate: 0.1}", "faults.count=5", 0, "");
	says_set(HEAD, "traffic.conns=5", "traffic.packets=6", 0, "");
}

static void a_set_is_one_line(void **state)
{
	(void)state;
	says_set(HEAD, "title=a\n--smoke", NULL, 0,
	    "--set: title is given more than one line; write its value in "
	    "one.");
	says_set(HEAD, "title=a b", NULL, 0, "");
}

static void smoke_gives_nothing_in_vain(void **state)
{
	(void)state;
	says(GRID "smoke: {traffic.conns: 3}\n",
	    "4:9: the sweep varies traffic.conns, so what smoke says of "
	    "traffic.conns would be ignored; give smoke a sweep of its own.");
	says(GRID "smoke: {traffic.conns: 3, sweep: {grid: {noise.rate: [0, "
		  "1]}}}\n",
	    "");
	says_set(HEAD "smoke: {runs: 2}\n", "smoke.runs=3", NULL, 1,
	    "--set: smoke.runs: smoke is put before --set is; set the key "
	    "itself.");
	says_set(HEAD "smoke: {runs: 2}\n", "runs=3", NULL, 1, "");
	/* A part of a sweep needs not all that the whole has. */
	says_set(HEAD "traffic: {hot_share: 0.3}\nsweep: {grid: {traffic.dst: "
		      "[uniform, skewed]}}\nsmoke: {sweep: {grid: "
		      "{traffic.dst: [uniform]}}}\n",
	    NULL, NULL, 1, "");
}

/* --- axes ----------------------------------------------------------------- */

static void equal_places_of_an_axis_are_refused(void **state)
{
	(void)state;
	says(HEAD "sweep: {grid: {traffic.conns: [1, 2, 2]}}\n",
	    "3:38: traffic.conns: the values at places 2 and 3 are equal; "
	    "their points would count as two and be one.");
	says(HEAD "sweep: {grid: {noise.rate: [0.1, 0.2, 1e-1]}}\n",
	    "3:39: noise.rate: the values at places 1 and 3 are equal; their "
	    "points would count as two and be one.");
	says(HEAD "sweep: {grid: {traffic: [{conns: 1, packets: 2}, {packets: "
		  "2.0, conns: 1}]}}\n",
	    "3:50: traffic: the values at places 1 and 2 are equal; their "
	    "points would count as two and be one.");
	says(HEAD "sweep: {zip: {traffic.conns: [1, 1, 1], noise.rate: [0, 1, "
		  "0]}}\n",
	    "3:37: zip of traffic.conns: the values at places 1 and 3 are "
	    "equal; their points would count as two and be one.");
	says(HEAD "sweep: {zip: {traffic.conns: [1, 1], noise.rate: [0, 1]}}\n",
	    "");
	says(HEAD "sweep: {grid: {traffic.conns: [1]}}\n", "");
}

static void an_axis_without_effect_is_refused(void **state)
{
	(void)state;
	says(HEAD "sweep: {grid: {traffic.hot_share: [0.1, 0.2]}}\n",
	    "3:35: the sweep varies traffic.hot_share, but traffic.hot_share "
	    "does nothing at any point: it counts only with dst: skewed.");
	says(HEAD "sweep: {grid: {agents.c_t: [1, 2]}}\n",
	    "3:28: the sweep varies agents.c_t, but agents does nothing at any "
	    "point: it counts only on plane agents.");
	/* Where another axis leaves it an effect, some points are one. */
	says(HEAD "sweep: {grid: {traffic.dst: [uniform, skewed], "
		  "traffic.hot_share: [0.1, 0.2]}}\n",
	    "warning: 3:67: traffic.hot_share does nothing at some points of "
	    "the sweep (it counts only with dst: skewed): those that differ in "
	    "it alone are one.");
	says(HEAD "sweep: {zip: {traffic.dst: [uniform, skewed], "
		  "traffic.hot_share: [0.1, 0.2]}}\n",
	    "");
}

/* --- keys ----------------------------------------------------------------- */

/* What each line of a spec says, "" for nothing. */
static void keys_that_do_nothing_are_told(void **state)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
	    {"topology: {kind: fat_tree, n_pods: 4}",
		"3:28: topology.n_pods does nothing: it counts only with kind: "
		"clos or region."},
	    {"topology: {k: 6}",
		"3:12: topology.k does nothing: it counts only with kind: "
		"fat_tree."},
	    {"topology: {n_borders: 2}",
		"3:12: topology.n_borders does nothing: it counts only with "
		"kind: region."},
	    {"traffic: {hot_share: 0.3}",
		"warning: 3:11: traffic.hot_share does nothing: it counts only "
		"with dst: skewed."},
	    {"traffic: {dst: skewed, hot_share: 0.3}", ""},
	    {"plane: exact\ntraffic: {tcp: {resend: 1, window: 9}}",
		"warning: 4:28: traffic.tcp.window does nothing: it counts "
		"only with acks: true."},
	    {"noise: {rate: 0, per: flow}",
		"warning: 3:18: noise.per does nothing: it counts only with "
		"rate other than 0."},
	    {"latency: {queue: 7}",
		"warning: 3:11: latency.queue does nothing: it counts only "
		"with report_over other than 0."},
	    {"agents: {c_t: 3}",
		"warning: 3:1: agents does nothing: it counts only on plane "
		"agents."},
	    {"tun: {hop: 3}",
		"warning: 3:1: tun does nothing: it counts only on fabric "
		"tun."},
	    {"plane: agents\nagents: {c_t: 3, slb: {fail: 0.1}}",
		"warning: 4:24: agents.slb.fail does nothing: it counts only "
		"with share other than 0."},
	    {"plane: agents\nagents: {flaps: {duration: 3}}",
		"warning: 4:18: agents.flaps.duration does nothing: it counts "
		"only with count other than 0."},
	    {"plane: agents\nfabric: netns\nagents: {rto: 3, c_t: 2}",
		"warning: 5:10: agents.rto does nothing: plane agents does not "
		"read it on fabric netns."},
	    {"faults: {kind: latency, rate: 0.1}\nplane: exact\n"
	     "latency: {report_over: 9}",
		"3:25: faults.rate does nothing: it counts only with kind: "
		"drop."},
	    {"faults: {delay: 3}",
		"3:10: faults.delay does nothing: it counts only with kind: "
		"latency or controller or collector."},
	    {"faults: {share: 0.5}",
		"warning: 3:10: faults.share does nothing: no switches fail."},
	    {"faults: {tiers: [t1]}",
		"warning: 3:10: faults.tiers does nothing: no switches fail."},
	    {"faults: {switches: 1, tiers: [t1], share: 0.5}", ""},
	    {"faults: {switches: 1, count: 2}",
		"warning: 3:23: faults.count does nothing: the group is of "
		"switches."},
	    {"faults: [{rate: 0.1}, {links: [100], same_switch: 0.5}]",
		"warning: 3:38: faults.1.same_switch does nothing: the group "
		"names its places."},
	    {"faults: {same_switch: 0.5}",
		"warning: 3:10: faults.same_switch does nothing: it counts "
		"only with count: 2 or more."},
	    {"faults: {same_switch: 0.5, count: 2}", ""},
	    {"faults: {at: [t2.0], share: 0.5, switches: 1}",
		"warning: 3:34: faults.switches does nothing: the group names "
		"its places."},
	    {"faults: {lasts: 3, to: 9}",
		"warning: 3:20: faults.to does nothing: it counts only with "
		"lasts: 0."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		snprintf(text, sizeof(text), HEAD "%s\n", cases[i].line);
		says(text, cases[i].want);
	}
}

static void a_class_without_links_is_refused(void **state)
{
	char text[1024], here[512];
	(void)state;
	says(HEAD "faults: {classes: [t1-tor, fabric]}\n",
	    "3:28: classes: this network has no link of class fabric; there "
	    "are host-tor, tor-t1, t1-t2, t2-t1, t1-tor, tor-host.");
	says(HEAD "topology: {n_pods: 1, n_t2: 0}\nfaults: {classes: "
		  "[t1-t2]}\n",
	    "4:20: classes: this network has no link of class t1-t2; there are "
	    "host-tor, tor-t1, t1-tor, tor-host.");
	/* The default is not named. */
	says(HEAD "topology: {n_pods: 1, n_t2: 0}\nfaults: {count: 2}\n", "");
	says(HEAD "topology: {kind: fat_tree}\nfaults: {classes: [t1-t2]}\n",
	    "");
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(text, sizeof(text),
	    HEAD "topology: {kind: graphml, file: "
		 "\"%s/tests/data/jellyfish.graphml\"}\nfaults: {classes: "
		 "[t1-t2]}\n",
	    here);
	says(text,
	    "4:20: classes: this network has no link of class t1-t2; there are "
	    "host-tor, tor-host, fabric.");
}

#define PINGMESH "figure: f\nplane: pingmesh\nseed: 1\n"

static void keys_of_pingmesh_that_do_nothing_are_told(void **state)
{
	(void)state;
	says(PINGMESH "traffic: {conns: 3}\npingmesh: {n_tails: 3}\n",
	    "warning: 4:1: traffic does nothing: plane pingmesh does not read "
	    "it.\n"
	    "warning: 5:12: pingmesh.n_tails does nothing: it counts only with "
	    "along: quantile.");
	says(PINGMESH "pingmesh: {repair: {reload: 60}, trace: {n_ports: 3, "
		      "burst: 9}}\n",
	    "warning: 4:21: pingmesh.repair.reload does nothing: it counts "
	    "only with on: true.\n"
	    "warning: 4:42: pingmesh.trace.n_ports does nothing: it counts "
	    "only with on: true.\n"
	    "warning: 4:54: pingmesh.trace.burst does nothing: it counts only "
	    "with on: true.");
	says(PINGMESH "pingmesh: {pinglist: {payload_bytes: 9, vip_port: "
		      "81}}\n",
	    "warning: 4:23: pingmesh.pinglist.payload_bytes does nothing: it "
	    "counts only with payload_probes: true.\n"
	    "warning: 4:41: pingmesh.pinglist.vip_port does nothing: it counts "
	    "only with vips.");
	says(PINGMESH "pingmesh: {pinglist: {vip_interval_s: 70, "
		      "inter_dc_servers: 2, inter_dc_interval_s: 70}}\n",
	    "warning: 4:23: pingmesh.pinglist.vip_interval_s does nothing: it "
	    "counts only with pinglist.vips.\n"
	    "warning: 4:43: pingmesh.pinglist.inter_dc_servers does nothing: "
	    "it counts only with topology.kind: region.\n"
	    "warning: 4:64: pingmesh.pinglist.inter_dc_interval_s does "
	    "nothing: it counts only with topology.kind: region.");
	says(PINGMESH "topology: {kind: region}\npingmesh: {pinglist: "
		      "{inter_dc_servers: 2, inter_dc_interval_s: 70}}\n",
	    "");
}

static void a_way_to_other_regions_that_nothing_takes_is_told(void **state)
{
#define RACK "figure: f\nplane: rack\nseed: 1\n"
	(void)state;
	says(RACK "rack: {cross_rtt: 900}\n",
	    "warning: 4:8: rack.cross_rtt does nothing: it counts only with "
	    "rack.traffic.cross other than 0.");
	says(RACK "rack: {cross_rtt: 900, traffic: {cross: 0.1}}\n", "");
	/* At one point of two it counts. */
	says(RACK "rack: {cross_rtt: 900}\n"
		  "sweep: {grid: {rack.traffic.cross: [0, 0.1]}}\n",
	    "");
}

/* In bulk nobody fetches lists and nobody uploads: of a new key of agents it must
 * be said whether the law of their probes hangs on it. */
static void keys_of_agents_that_are_not_there_are_told(void **state)
{
	static const char *const read[] = {"max_entries", "min_interval",
	    "probe_timeout", "first_port", "last_port", "ports",
	    "upload_interval", "upload_timeout", NULL};
	char text[256], want[256];
	(void)state;
	for (const struct sim_field *f = algo_pingmesh_agent_fields; f->name;
	     f++) {
		const int counts = read[sim_word_find(read, f->name)] != NULL;
		snprintf(text, sizeof(text),
		    "figure: f\nalgorithms: [blackhole]\nplane: pingmesh_bulk\n"
		    "pingmesh: {agent: {%s: %s}}\n",
		    f->name, f->def);
		snprintf(want, sizeof(want),
		    "warning: 4:20: pingmesh.agent.%s does nothing: plane "
		    "pingmesh_bulk does not read it.",
		    f->name);
		says(text, counts ? "" : want);
	}
}

static void a_parameter_of_an_algorithm_that_does_nothing_is_told(void **state)
{
	(void)state;
	says("figure: f\nalgorithms: [{name: vote, rtt_threshold_us: 5, "
	     "noise_floor: 1}]\n",
	    "warning: 2:27: algorithms.0.rtt_threshold_us does nothing: it "
	    "counts only with signal: rtt.\n"
	    "warning: 2:48: algorithms.0.noise_floor does nothing: it counts "
	    "only with noise: floor.");
}

static void samples_that_nobody_reads_are_told(void **state)
{
	(void)state;
	says(HEAD "samples: {every: 4}\n",
	    "warning: 3:1: samples does nothing: no algorithm reads samples.");
	says("figure: f\nalgorithms: [loss_cause]\nplane: rack\n"
	     "samples: {every: 4}\n",
	    "warning: 4:1: samples does nothing: plane rack does not read it.");
	says("figure: f\nalgorithms: [vote_filtered]\nsamples: {every: 4}\n",
	    "");
}

/* One point at which a key counts is enough, also if it is swept as part of a
 * map; what counts at none is told once. */
static void a_key_need_count_at_one_point_only(void **state)
{
	(void)state;
	says(HEAD "agents: {c_t: 3}\nsweep: {grid: {plane: [auto, agents]}}\n",
	    "");
	says(HEAD "topology: {k: 6}\nsweep: {grid: {topology.kind: [clos, "
		  "fat_tree]}}\n",
	    "");
	says(HEAD "sweep: {grid: {traffic: [{dst: skewed, n_hot: 2}, {conns: "
		  "9}]}}\n",
	    "");
	says(HEAD "traffic: {n_hot: 2}\nsweep: {grid: {noise.rate: [0, 0.1, "
		  "0.2]}}\n",
	    "warning: 3:11: traffic.n_hot does nothing at any point: it counts "
	    "only with dst: skewed.");
	/* In a value that is not the last point's. */
	says(HEAD "sweep: {grid: {traffic: [{n_hot: 2}, {conns: 9}]}}\n",
	    "warning: 3:27: n_hot does nothing at any point: it counts only "
	    "with dst: skewed.");
}

static void a_set_without_effect_is_refused(void **state)
{
	(void)state;
	says_set(HEAD, "traffic.hot_share=0.3", NULL, 0,
	    "--set: traffic.hot_share does nothing at any "
	    "point: it counts only with dst: skewed.");
	says_set(HEAD, "traffic={hot_share: 0.3}", NULL, 0,
	    "--set: traffic: traffic.hot_share does nothing at any point: it "
	    "counts only with dst: skewed.");
	says_set(HEAD "agents: {rto: 1}\n", "agents.c_t=3", NULL, 0,
	    "--set: agents.c_t: agents does nothing at any point: it counts "
	    "only on plane agents.");
	says_set(HEAD, "plane=agents", "agents.c_t=3", 0, "");
	/* Two of one name are told apart. */
	says_set(HEAD, "faults=[{share: 0.1}, {switches: 1, share: 0.1}]", NULL,
	    0,
	    "--set: faults: faults.0.share does nothing at any point: no "
	    "switches fail.");
}

/* --- what we ship --------------------------------------------------------- */

static void check_shipped(const char *pattern, size_t least)
{
	glob_t found;
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= least);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct xp_spec s;
		assert_ok(xp_spec_load(&s, found.gl_pathv[i], 0, NULL, 0,
		    test_err()));
		if (s.n_warnings > 0)
			fail_msg("%s", s.warning[0]);
		xp_spec_free(&s);
	}
	globfree(&found);
}

static void no_spec_of_ours_gives_anything_in_vain(void **state)
{
	(void)state;
	check_shipped("experiments/*.yaml", 30);
	check_shipped("tests/golden/*.yaml", 10);
	check_shipped("tests/accuracy/*.yaml", 5);
}

static int load_vain(void *arg, struct sim_err *e)
{
	const char *const set[] = {"faults.count=2", "runs=2"};
	struct xp_spec s;
	(void)arg;
	int rc = xp_spec_load(&s, spec_path("x.yaml"), 0, set, 2, e);
	xp_spec_free(&s);
	return rc;
}

static void every_lack_of_memory_is_told(void **state)
{
	(void)state;
	spec_write("x.yaml",
	    HEAD "traffic: {n_hot: 2}\nagents: {c_t: 1}\nsweep: {grid: "
		 "{noise: [{rate: 0, per: link}, {rate: 0.1}]}, zip: {label: "
		 "[a, b], traffic.epoch: [1, 2]}}\n");
	test_each_alloc_fails(load_vain, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		a_set_of_a_swept_key_is_refused_with_what_to_write),
	    cmocka_unit_test(the_line_that_is_advised_works),
	    cmocka_unit_test(a_set_that_another_replaces_is_refused),
	    cmocka_unit_test(a_set_is_one_line),
	    cmocka_unit_test(smoke_gives_nothing_in_vain),
	    cmocka_unit_test(equal_places_of_an_axis_are_refused),
	    cmocka_unit_test(an_axis_without_effect_is_refused),
	    cmocka_unit_test(keys_that_do_nothing_are_told),
	    cmocka_unit_test(a_class_without_links_is_refused),
	    cmocka_unit_test(keys_of_pingmesh_that_do_nothing_are_told),
	    cmocka_unit_test(a_way_to_other_regions_that_nothing_takes_is_told),
	    cmocka_unit_test(keys_of_agents_that_are_not_there_are_told),
	    cmocka_unit_test(
		a_parameter_of_an_algorithm_that_does_nothing_is_told),
	    cmocka_unit_test(samples_that_nobody_reads_are_told),
	    cmocka_unit_test(a_key_need_count_at_one_point_only),
	    cmocka_unit_test(a_set_without_effect_is_refused),
	    cmocka_unit_test(no_spec_of_ours_gives_anything_in_vain),
	    cmocka_unit_test(every_lack_of_memory_is_told),
	};
	return cmocka_run_group_tests_name("experiments/spec/strict", tests,
	    spec_folder_make, spec_folder_remove);
}
