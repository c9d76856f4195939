/* tests/experiments/spec/faults_test.c -- the section `faults`: mistakes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/config.h"
#include "experiments/spec/plane.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* Three lines, so that what follows is on line 4: ToRs 0 to 3, T1s 0 to 3, T2s
 * 0 and 1, hosts 0 to 7, pods 0 and 1. */
#define SMALL_OF(algo)                                                         \
	"figure: f\nalgorithms: [" algo "]\n"                                  \
	"topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}\n"
#define SMALL SMALL_OF("vote")
/* What follows is on line 5. */
#define PROBED SMALL_OF("blackhole") "plane: pingmesh\n"
#define GRAPH                                                                  \
	"figure: f\nalgorithms: [vote]\ntopology: {kind: fat_tree, k: 4}\n"

static void expect(const char *text, const char *want)
{
	struct xp_spec s;
	struct sim_err e = {0};
	char name[160];
	int rc = spec_load(&s, text, &e);
	size_t n =
	    (size_t)snprintf(name, sizeof(name), "%s:", spec_path("x.yaml"));
	for (char *p; (p = strstr(e.msg, name));)
		memmove(p, p + n, strlen(p + n) + 1);
	if (rc >= 0)
		fail_msg("no mistake in:\n%s\nwanted:\n%s", text, want);
	if (strcmp(e.msg, want) != 0)
		fail_msg("of:\n%s\nsays:\n%s\nwanted:\n%s", text, e.msg, want);
	xp_spec_free(&s);
}

/* The first group of a spec. The caller frees C. */
static const struct fault_params *read_group(struct xp_config *c,
    const char *text)
{
	struct xp_spec s;
	*c = (struct xp_config){0};
	spec_open(&s, text);
	assert_ok(xp_spec_point(&s, 0, c, test_err()));
	xp_spec_free(&s);
	assert_int_equal(c->scene.n_groups, 1);
	return c->scene.group;
}

static void every_kind_can_be_said(void **state)
{
	(void)state;
	struct xp_config c;
	const struct fault_params *g = read_group(&c,
	    PROBED "faults: {kind: black_hole_2, tiers: [tor], entries: "
		   "{uniform: [0.1, 0.2]}, spread: 2592000, lasts: 86400}\n");
	assert_int_equal(g->kind, FAULT_BLACK_HOLE_2);
	assert_int_equal(g->switches, 1);
	assert_true(g->entries.a == 0.1 && g->entries.b == 0.2);
	assert_true(g->spread_s == 2592000 && g->lasts_s == 86400);
	xp_config_free(&c);

	g = read_group(&c, SMALL "faults: {kind: black_hole_1, switches: 0}\n");
	assert_int_equal(g->switches, 0);
	xp_config_free(&c);

	g = read_group(&c,
	    SMALL "faults: {kind: black_hole_1, at: [tor3, t2.0, t1.1]}\n");
	assert_int_equal(g->n_at, 3);
	assert_int_equal(g->at[0], 8 + 3);
	assert_int_equal(g->at[1], 8 + 4 + 4);
	assert_int_equal(g->at[2], 8 + 4 + 1);
	xp_config_free(&c);

	g = read_group(&c, SMALL "faults: {at: [tor0], rate: 0.5}\n");
	assert_int_equal(g->kind, FAULT_DROP);
	assert_int_equal(g->n_at, 1);
	xp_config_free(&c);

	g = read_group(&c, SMALL "faults: {kind: host_off, at: [host7]}\n");
	assert_int_equal(g->at[0], 7);
	xp_config_free(&c);

	g = read_group(&c, SMALL "faults: {kind: pod_off, pods: [1, 0]}\n");
	assert_int_equal(g->n_at, 2);
	assert_int_equal(g->at[0], 1);
	xp_config_free(&c);

	g = read_group(&c,
	    PROBED "faults: {kind: controller, mode: garbage, count: 3, "
		   "from: 5}\n");
	assert_int_equal(g->mode, TRUTH_GARBAGE);
	assert_int_equal(g->count, 3);
	xp_config_free(&c);

	g = read_group(&c,
	    SMALL "latency: {report_over: 1}\nfaults: {kind: latency, law: "
		  "load, load: 0.5, delay: 100}\n");
	assert_int_equal(g->law, TRUTH_LOAD);
	assert_true(g->load == 0.5);
	xp_config_free(&c);
}

/* On the plane that has packets. */
#define CARRIED SMALL "plane: everflow\n"

static void what_switches_do_wrong_can_be_said(void **state)
{
	(void)state;
	struct xp_config c;
	const struct fault_params *g = read_group(&c,
	    CARRIED "faults: {kind: reroute, links: [\"t1.0->t2.1\", "
		    "\"t2.1->t1.0\"], prefix: 10.0.0.0/29, flows: 0.5}\n");
	assert_int_equal(g->n_links, 2);
	assert_string_equal(g->prefix, "10.0.0.0/29");
	assert_true(g->flows == 0.5);
	xp_config_free(&c);

	g = read_group(&c,
	    CARRIED "faults: {kind: reroute, turn: detour, tiers: [t2]}\n");
	assert_int_equal(g->turn, FAULT_TURN_DETOUR);
	assert_int_equal(g->switches, 1);
	xp_config_free(&c);

	g = read_group(&c, CARRIED "faults: {kind: narrow, at: [t2.0]}\n");
	assert_int_equal(g->left, 1);
	xp_config_free(&c);

	g = read_group(&c,
	    CARRIED "faults: {kind: weights, weight: 9, at: [tor2]}\n");
	assert_true(g->weight == 9);
	xp_config_free(&c);

	/* All switches, unless it says how many. */
	g = read_group(&c, CARRIED "faults: {kind: hash, hash: bits}\n");
	assert_int_equal(g->switches, 0);
	assert_int_equal(g->bits, 2);
	xp_config_free(&c);

	g = read_group(&c,
	    CARRIED "faults: {kind: ecn, duty: 0.5, depth: 800, episode: 1, "
		    "mark: 0, count: 2}\n");
	assert_true(g->depth.a == 800 && g->duty == 0.5 && g->mark_us == 0);
	xp_config_free(&c);

	expect(CARRIED "faults: {kind: narrow, count: 2, weight: 3}\n",
	    "5:31: kind narrow has no use for `count`.\n"
	    "5:42: kind narrow has no use for `weight`.");
	expect(CARRIED "faults: {kind: ecn, rate: 0.1, prefix: 10.0.0.0/8}\n",
	    "5:27: kind ecn has no use for `rate`.\n"
	    "5:40: kind ecn has no use for `prefix`.");
	expect(CARRIED "faults: {kind: reroute, prefix: 10.9.0.0/16}\n",
	    "5:9: fault group 0: prefix \"10.9.0.0/16\" has no host of this "
	    "network.");
	expect(CARRIED "faults: {kind: ecn, depth: -1}\n",
	    "5:28: depth -1 is not in [0, 1000000] us.");
}

static void a_key_that_says_nothing_of_its_kind_is_told(void **state)
{
	(void)state;
	expect(SMALL "faults: {kind: black_hole_1, classes: [tor-t1]}\n",
	    "4:39: kind black_hole_1 has no use for `classes`.");
	expect(SMALL "faults: {kind: black_hole_1, count: 2, rate: 1}\n",
	    "4:37: kind black_hole_1 has no use for `count`.\n"
	    "4:46: kind black_hole_1 has no use for `rate`.");
	expect(SMALL "faults: {entries: 0.1}\n",
	    "4:19: kind drop has no use for `entries`.");
	expect(SMALL "faults: {kind: host_off, tiers: [tor]}\n",
	    "4:33: kind host_off has no use for `tiers`.");
	expect(SMALL "faults: {kind: host_off, links: [3]}\n",
	    "4:33: kind host_off has no use for `links`.");
	expect(SMALL "faults: {kind: pod_off, at: [tor0]}\n",
	    "4:29: kind pod_off has no use for `at`.");
	expect(SMALL "faults: {pods: [0]}\n",
	    "4:16: kind drop has no use for `pods`.");
	expect(PROBED "faults: {kind: collector, entries: 1}\n",
	    "5:36: kind collector has no use for `entries`.");
	expect(SMALL "faults: {kind: drop, mode: slow, law: load}\n",
	    "4:28: kind drop has no use for `mode`.\n"
	    "4:39: kind drop has no use for `law`.");
}

/* When the kind is not known, no other key is said to be wrong: which ones may
 * be there depends on it. */
static void a_kind_that_is_none_is_told_alone(void **state)
{
	(void)state;
	expect(SMALL "faults: {kind: black_hole, entries: 0.1}\n",
	    "4:16: kind: \"black_hole\" is not one of drop, latency, "
	    "black_hole_1, black_hole_2, host_off, pod_off, controller, "
	    "collector, reroute, narrow, weights, hash, ecn, mux_loop, storm, "
	    "bgp_flap; did you "
	    "mean \"black_hole_1\"?");
}

static void places_that_are_none_are_told_where_they_stand(void **state)
{
	(void)state;
	expect(SMALL "faults: {kind: black_hole_1, at: [tor9, host3, [1], "
		     "tor0, tor0]}\n",
	    "4:35: no node is called \"tor9\".\n"
	    "4:41: \"host3\" is a host; kind black_hole_1 is of switches.\n"
	    "4:48: a place is the name of a node, such as tor3.\n"
	    "4:59: \"tor0\" is named twice in this group.");
	expect(SMALL "faults: {kind: host_off, at: [tor0]}\n",
	    "4:31: \"tor0\" is a switch; kind host_off is of hosts.");
	expect(SMALL "faults: {at: tor0}\n",
	    "4:14: at is a list of names of nodes, such as tor3.");
	expect(SMALL "faults: {at: []}\n",
	    "4:14: at is a list of names of nodes, such as tor3.");
	expect(SMALL "faults: {at: [tor0], links: [16]}\n",
	    "4:14: a group names either links or nodes (`at`).");
	expect(SMALL "faults: {kind: pod_off, pods: [0, 2, 0, x, -1]}\n",
	    "4:35: pod 2 is not in [0, 1].\n"
	    "4:38: pod 0 is named twice in this group.\n"
	    "4:41: pods: \"x\" is not a whole number.\n"
	    "4:44: pods -1 is not in [0, 1000000] pods.");
	expect(SMALL "faults: {kind: pod_off, pods: 1}\n",
	    "4:31: pods is a list of numbers of pods.");
}

static void groups_that_cannot_be_are_told_at_their_place(void **state)
{
	(void)state;
	expect(SMALL "faults: {kind: black_hole_1, switches: 5, tiers: "
		     "[tor]}\n",
	    "4:9: fault group 0: 5 switches are to fail, but the tiers named "
	    "have 4.");
	expect(SMALL "faults:\n  - {kind: host_off}\n"
		     "  - {kind: host_off, count: 9}\n",
	    "6:5: fault group 1: 9 hosts are to be off, but there are 8.");
	expect(PROBED "faults: {kind: collector, mode: empty}\n",
	    "5:9: fault group 0: the collector sends no documents: its mode is "
	    "down or slow.");
	expect(SMALL "faults: {kind: host_off, spread: 5, to: 4}\n",
	    "4:9: fault group 0: a fault ends at 4 s, but may begin as late as "
	    "5 s (from + spread).");
	expect(GRAPH "faults: {kind: pod_off, pods: [0]}\n",
	    "4:9: fault group 0: kind pod_off needs pods; this graph has "
	    "none.");
	expect(SMALL "faults: {kind: black_hole_1, entries: 1.5}\n",
	    "4:39: entries 1.5 is not in [0, 1].");
}

/* Such a fault would count as one that nobody found. A plane whose faults last all
 * the time says that in other words. */
static void a_fault_after_the_end_is_refused_on_each_plane(void **state)
{
	char text[512];
	(void)state;
	for (const struct xp_plane *const *p = xp_planes; *p; p++) {
		struct xp_spec s;
		struct sim_err e = {0};
		snprintf(text, sizeof(text),
		    "figure: f\nalgorithms: [%s]\nplane: %s\nfaults: "
		    "{classes: [host-tor], rate: 0.1, from: 1e9}\n",
		    (*p)->provides & OBS_HOPS        ? "vote"
			: (*p)->provides & OBS_PAIRS ? "blackhole"
						     : "loss_cause",
		    (*p)->name);
		if (spec_load(&s, text, &e) >= 0 ||
		    !strstr(e.msg,
			(*p)->end ? "a fault may begin at 1e+09 s (from"
				  : "what fails does so all the time"))
			fail_msg("of:\n%s\nsays: %s", text, e.msg);
		xp_spec_free(&s);
	}
}

static void a_fault_begins_before_the_end(void **state)
{
	struct xp_config c;
	(void)state;
	read_group(&c, SMALL "faults: {from: 20, spread: 10}\n");
	xp_config_free(&c);
	expect(SMALL "faults: {from: 20, spread: 11}\n",
	    "4:9: a fault may begin at 31 s (from + spread), but the run ends "
	    "at 30 s (traffic.epoch).");
	expect(SMALL "traffic: {epoch: 5}\nfaults:\n  - {}\n  - {from: 5}\n",
	    "7:5: a fault may begin at 5 s (from + spread), but the run ends "
	    "at 5 s (traffic.epoch).");
	expect(SMALL "plane: everflow\neverflow: {settle: 8}\n"
		     "faults: {from: 38}\n",
	    "6:9: a fault may begin at 38 s (from + spread), but the run ends "
	    "at 38 s (traffic.epoch + everflow.settle).");
	read_group(&c,
	    PROBED "faults: {from: 3599, spread: 1e6}\n"
		   "pingmesh: {duration: 3600}\n");
	xp_config_free(&c);
	expect(PROBED "faults: {from: 3600}\npingmesh: {duration: 3600}\n",
	    "5:9: a fault may begin at 3600 s (from), but the run ends at 3600 "
	    "s (pingmesh.duration).");
}

static void planes_that_cannot_are_told(void **state)
{
	(void)state;
	expect(SMALL "plane: vigil_matlab\nfaults: {kind: host_off}\n",
	    "4:8: plane vigil_matlab has no hosts that are off.");
	struct xp_config c;
	read_group(&c, SMALL "plane: skip\nfaults: {kind: black_hole_1}\n");
	xp_config_free(&c);
}

/* Probes have round-trip times whatever latency.report_over, and alone ask
 * controller and collector. */
static void what_only_probes_meet_needs_their_plane(void **state)
{
	(void)state;
	struct xp_config c;
	const struct fault_params *g =
	    read_group(&c, PROBED "faults: {kind: latency}\n");
	assert_int_equal(g->kind, FAULT_LATENCY);
	xp_config_free(&c);
	read_group(&c, PROBED "faults: {kind: collector, mode: slow}\n");
	xp_config_free(&c);
	expect(SMALL "faults: {kind: latency}\n",
	    "4:9: kind latency needs round-trip times: set "
	    "latency.report_over.");
	expect(SMALL "faults: {kind: controller}\n",
	    "4:9: kind controller acts on plane pingmesh only, not on auto.");
	for (unsigned i = 0; xp_planes[i]; i++) {
		if (xp_planes[i]->faults & FAULT_SERVICE_KINDS)
			continue;
		char text[512], want[160];
		snprintf(text, sizeof(text),
		    SMALL "plane: %s\nfaults:\n  - {rate: 0.1, classes: "
			  "[tor-host]}\n  - {kind: collector}\n",
		    xp_plane_names[i]);
		snprintf(want, sizeof(want),
		    "7:5: kind collector acts on plane pingmesh only, not on "
		    "%s.",
		    xp_plane_names[i]);
		/* A plane may have no flows for the algorithm, too. */
		struct xp_spec s;
		struct sim_err e = {0};
		assert_true(spec_load(&s, text, &e) < 0);
		if (!strstr(e.msg, want))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, want);
		xp_spec_free(&s);
	}
}

/* Whatever plane has no packets that switches route one by one refuses faults
 * that only these meet, each by its name. */
static void what_only_packets_meet_needs_their_plane(void **state)
{
	(void)state;
	struct xp_spec s;
	unsigned n = 0;
	for (unsigned i = 0; xp_planes[i]; i++)
		for (uint32_t kind = 0; kind < FAULT_N_KINDS; kind++) {
			char text[512], want[64], end[64];
			struct sim_err e = {0};
			if (!(FAULT_PACKET_KINDS & ~xp_planes[i]->faults &
				1u << kind))
				continue;
			snprintf(text, sizeof(text),
			    "%splane: %s\nfaults: {kind: %s}\n",
			    xp_planes[i]->faults ? SMALL_OF("blackhole")
						 : SMALL,
			    xp_plane_names[i], fault_kind_names[kind]);
			snprintf(want, sizeof(want), "kind %s acts on ",
			    fault_kind_names[kind]);
			snprintf(end, sizeof(end), "only, not on %s.",
			    xp_plane_names[i]);
			assert_true(spec_load(&s, text, &e) < 0);
			if (!strstr(e.msg, want) || !strstr(e.msg, end))
				fail_msg("of:\n%s\nsays:\n%s", text, e.msg);
			xp_spec_free(&s);
			n++;
		}
	assert_true(n > 0);
}

static void servers_that_loop_need_load_balancers(void **state)
{
	(void)state;
	struct xp_config c;
	expect(SMALL "plane: everflow\nfaults: [{kind: reroute}, {kind: "
		     "mux_loop, at: [host3]}]\n",
	    "5:27: kind mux_loop: there are no virtual addresses "
	    "(everflow.slb.vips).");
	const struct fault_params *g = read_group(&c,
	    SMALL "plane: everflow\nfaults: {kind: mux_loop, at: [host3]}\n"
		  "everflow: {slb: {vips: 2}}\n");
	assert_int_equal(g->at[0], 3);
	xp_config_free(&c);
}

static void a_graph_has_its_names(void **state)
{
	(void)state;
	struct xp_config c;
	const struct fault_params *g = read_group(&c,
	    GRAPH "faults: {kind: black_hole_1, at: [sw3, sw19]}\n");
	assert_int_equal(g->at[0], 16 + 3);
	assert_int_equal(g->at[1], 16 + 19);
	xp_config_free(&c);
}

static int load(void *arg, struct sim_err *e)
{
	struct xp_spec s;
	(void)arg;
	int rc = xp_spec_load(&s, spec_path("x.yaml"), 0, NULL, 0, e);
	xp_spec_free(&s);
	assert_true(rc == 0 || e->msg[0]);
	return rc;
}

static void no_allocation_is_taken_for_granted(void **state)
{
	(void)state;
	spec_write("x.yaml",
	    SMALL "faults: [{kind: black_hole_1, at: [tor1]}, {kind: pod_off, "
		  "pods: [1]}, {kind: host_off}, {kind: drop}]\n");
	test_each_alloc_fails(load, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_kind_can_be_said),
	    cmocka_unit_test(what_switches_do_wrong_can_be_said),
	    cmocka_unit_test(a_key_that_says_nothing_of_its_kind_is_told),
	    cmocka_unit_test(a_kind_that_is_none_is_told_alone),
	    cmocka_unit_test(places_that_are_none_are_told_where_they_stand),
	    cmocka_unit_test(groups_that_cannot_be_are_told_at_their_place),
	    cmocka_unit_test(a_fault_after_the_end_is_refused_on_each_plane),
	    cmocka_unit_test(a_fault_begins_before_the_end),
	    cmocka_unit_test(planes_that_cannot_are_told),
	    cmocka_unit_test(what_only_probes_meet_needs_their_plane),
	    cmocka_unit_test(what_only_packets_meet_needs_their_plane),
	    cmocka_unit_test(servers_that_loop_need_load_balancers),
	    cmocka_unit_test(a_graph_has_its_names),
	    cmocka_unit_test(no_allocation_is_taken_for_granted),
	};
	return cmocka_run_group_tests_name("experiments/spec/faults", tests,
	    spec_folder_make, spec_folder_remove);
}
