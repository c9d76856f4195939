/* tests/experiments/spec/spec_test.c -- specs: mistakes, sweeps, points.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <unistd.h>

#include "experiments/spec/plane.h"
#include "experiments/spec/spec.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* Two lines, so that what follows is on line 3. */
#define HEAD "figure: f\nalgorithms: [vote]\n"
#define SMALL                                                                  \
	HEAD "topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: "    \
	     "2}\n"

/* --- mistakes ----------------------------------------------------------- */

/* Take the file's name off each line of MSG. */
static void strip(char *msg)
{
	char name[160];
	size_t n =
	    (size_t)snprintf(name, sizeof(name), "%s:", spec_path("x.yaml"));
	for (char *p; (p = strstr(msg, name));)
		memmove(p, p + n, strlen(p + n) + 1);
}

static void compare(int rc, char *got, const char *text, const char *want)
{
	strip(got);
	if (rc >= 0)
		fail_msg("no mistake in:\n%s\nwanted:\n%s", text, want);
	if (strcmp(got, want) != 0)
		fail_msg("of:\n%s\nsays:\n%s\nwanted:\n%s", text, got, want);
}

/* Loading TEXT tells the mistakes WANT, "line:col: message" each a line. */
static void expect(const char *text, const char *want)
{
	struct xp_spec s;
	struct sim_err e = {0};
	int rc = spec_load(&s, text, &e);
	compare(rc, e.msg, text, want);
	xp_spec_free(&s);
}

static void expect_set(const char *set, const char *want)
{
	struct xp_spec s;
	struct sim_err e = {0};
	spec_write("x.yaml", SMALL);
	int rc = xp_spec_load(&s, spec_path("x.yaml"), 0, &set, 1, &e);
	compare(rc, e.msg, set, want);
	xp_spec_free(&s);
}

static void expect_good(const char *text)
{
	struct xp_spec s;
	spec_open(&s, text);
	xp_spec_free(&s);
}

static void an_unknown_key_is_told_once_with_its_place(void **state)
{
	(void)state;
	expect(HEAD "fautls: {count: 2}\n",
	    "3:1: unknown key \"fautls\"; did you mean \"faults\"?");
	expect(HEAD "zzzz: 1\n",
	    "3:1: unknown key \"zzzz\"; known are figure, title, paper, seed, "
	    "runs, plane, fabric, common, unable, label, topology, traffic, "
	    "noise, "
	    "latency, "
	    "congestion, samples, faults, algorithms, agents, pingmesh, "
	    "everflow, "
	    "rack, telemetry, planner, netns, tun, "
	    "gates, sweep, "
	    "claims, "
	    "smoke.");
	expect(HEAD "zzzz: 1\nsweep: {grid: {faults.count: [1, 2]}}\n",
	    "3:1: unknown key \"zzzz\"; known are figure, title, paper, seed, "
	    "runs, plane, fabric, common, unable, label, topology, traffic, "
	    "noise, "
	    "latency, "
	    "congestion, samples, faults, algorithms, agents, pingmesh, "
	    "everflow, "
	    "rack, telemetry, planner, netns, tun, "
	    "gates, sweep, "
	    "claims, "
	    "smoke.");
	expect(HEAD "topology: {n_host: 4}\n",
	    "3:12: unknown key \"n_host\"; did you mean \"n_hosts\"?");
	expect(HEAD "topology: {zzzz: 4}\n",
	    "3:12: unknown key \"zzzz\"; known are kind, k, oversub, file, "
	    "n_leaves, "
	    "n_spines, n_pods, n_tors, n_t1, n_t2, n_hosts, n_dcs, n_borders, "
	    "detour, sites.");
	expect(HEAD "traffic: {con: 4}\n",
	    "3:11: unknown key \"con\"; did you mean \"conns\"?");
	expect(HEAD "noise: {rat: 0}\n",
	    "3:9: unknown key \"rat\"; did you mean \"rate\"?");
	expect(HEAD "faults:\n  - count: 1\n  - cuont: 1\n",
	    "5:5: unknown key \"cuont\"; did you mean \"count\"?");
	expect("figure: f\nalgorithms:\n  - {name: alg1, treshold: 0.1}\n",
	    "3:18: unknown key \"treshold\"; did you mean \"threshold\"?");
	expect(HEAD "claims: [{metric: recall, valeu: 1, value: 1}]\n",
	    "3:27: unknown key \"valeu\"; did you mean \"value\"?");
	expect(HEAD "sweep: {gird: {faults.count: [1]}}\n",
	    "3:9: a sweep has no \"gird\"; did you mean \"grid\"?");
}

static void a_value_of_the_wrong_type_is_told_once(void **state)
{
	(void)state;
	expect(HEAD "topology: 5\n",
	    "3:11: a map is needed here, not a value, such as {kind: ...}.");
	expect(HEAD "topology:\n", "3:10: a map is needed here, not nothing.");
	expect(HEAD "traffic: [1]\n",
	    "3:10: a map is needed here, not a list.");
	expect(HEAD "noise: 1e-6\n",
	    "3:8: a map is needed here, not a value, such as {rate: ...}.");
	expect(HEAD "faults: 3\n",
	    "3:9: faults is a group {rate: ..., ...}, a list of groups, or [] "
	    "for "
	    "none.");
	expect(HEAD "faults:\n", "3:8: a map is needed here, not nothing.");
	expect(HEAD "faults: [3]\n",
	    "3:10: a map is needed here, not a value, such as {kind: "
	    "...}.");
	expect(HEAD "runs: many\n",
	    "3:7: runs: \"many\" is not a whole number.");
	expect(HEAD "runs: [1]\n", "3:7: runs must be one value, not a list.");
	expect(HEAD "common: yes\n",
	    "3:9: common: \"yes\" is not true or false; write true.");
	expect(HEAD "faults: {rate: 1%}\n",
	    "3:16: rate: \"1%\" is not a number; write 0.01.");
	expect(HEAD "traffic: {packets: {normal: [1, 2]}}\n",
	    "3:21: packets: \"normal\" is not one of uniform, log_uniform.");
	expect(HEAD "claims: 3\n",
	    "3:9: claims is a list of {metric: ..., value: ...}.");
	expect(HEAD "claims: [3]\n",
	    "3:10: a map is needed here, not a value, such as {metric: "
	    "...}.");
	expect(HEAD "claims: [{metric: recall}]\n", "3:10: value is missing.");
	expect(HEAD "claims: [{metric: recal, value: 1}]\n",
	    "3:19: there is no metric \"recal\"; did you mean \"recall\"?");
	expect(HEAD "claims: [{metric: zzzz, value: 1}]\n",
	    "3:19: there is no metric \"zzzz\".");
}

static void a_number_out_of_range_is_told_with_the_range_and_unit(void **state)
{
	(void)state;
	expect(HEAD "faults: {rate: 2}\n", "3:16: rate 2 is not in [0, 1].");
	expect(HEAD "faults: {rate: {uniform: [-1, 0.5]}}\n",
	    "3:27: rate -1 is not in [0, 1].");
	expect(HEAD "noise: {rate: 1.5}\n", "3:15: rate 1.5 is not in [0, 1].");
	expect(HEAD "runs: 0\n", "3:7: runs 0 is not in [1, 1000000] runs.");
	expect(HEAD "traffic: {packets: 0}\n",
	    "3:20: packets 0 is not in [1, 1000000000] packets.");
	expect(HEAD "traffic: {packets: 1.5}\n",
	    "3:20: packets 1.5 is not a whole number.");
	expect(HEAD "traffic: {packets: {log_uniform: [1, 100]}}\n",
	    "3:20: packets is a number or {uniform: [a, b]}, not log_uniform.");
	expect(HEAD "traffic: {conns: {log_uniform: [1, 100]}}\n",
	    "3:18: conns is a number or {uniform: [a, b]}, not log_uniform.");
	expect(HEAD "topology: {n_hosts: 0}\n",
	    "3:21: n_hosts 0 is not in [1, 16777214] hosts.");
	expect("figure: f\nalgorithms: [{name: alg1, threshold: 2}]\n",
	    "2:38: threshold 2 is not in [0, 1].");
}

static void an_impossible_network_is_told_with_the_reason(void **state)
{
	(void)state;
	expect(HEAD "topology: {n_pods: 1, n_tors: 1}\n",
	    "1:1: traffic needs hosts under at least 2 ToRs; there is 1.");
	expect(HEAD "topology: {n_pods: 1, n_tors: 1}\ntraffic: {conns: 1}\n",
	    "4:10: traffic needs hosts under at least 2 ToRs; there is 1.");
	expect(HEAD "topology: {kind: graphml}\n",
	    "3:11: kind graphml needs `file`, the network's GraphML.");
	expect(HEAD "topology: {kind: graphml, file: \"a\\nseed=2\"}\n",
	    "3:11: the name of `file` has more than one line; rename it.");
	expect(HEAD "topology: {kind: fat_tree, k: 3}\n",
	    "3:11: A fat-tree of k 3: k must be even and at least 2.");
	expect(HEAD "topology: {kind: ring}\n",
	    "3:18: kind: \"ring\" is not one of clos, fat_tree, graphml, "
	    "region, leaf_spine.");
	expect(HEAD "topology: {kind: region, n_dcs: 6}\n",
	    "3:11: n_dcs 6: without `sites` there are places for 5 data "
	    "centres.");
	expect(HEAD "topology: {kind: region, n_t1: 0}\n",
	    "3:11: n_t1 0 leaves the ToRs unconnected: it must be at least 1 "
	    "unless there is one ToR in all.");
	expect(HEAD
	    "topology: {n_pods: 1024, n_tors: 1024, n_t1: 1024, n_hosts: 1}\n",
	    "3:11: 1048576 ToRs, 1048576 T1s and 10 T2s are more than the "
	    "limit of 1048576 switches.");
	expect(HEAD "topology: {n_pods: 2, n_tors: 400, n_t1: 200000, n_hosts: "
		    "1, n_t2: 200000}\n",
	    "3:11: 800 host, 160000000 ToR-T1 and 80000000000 T1-T2 cables are "
	    "more than the limit of 1073741824 (two directed links each).");
	expect(HEAD "traffic: {conns: 1000000}\n"
		    "topology: {n_hosts: 1000}\n",
	    "3:10: 40000000000 flows in an epoch; at most 4294967295 are "
	    "possible.");
	expect(HEAD "traffic: {dst: skewed, n_hot: 40}\n",
	    "3:10: n_hot 40 is not below the number of ToRs, 40.");
}

static void faults_that_cannot_be_are_told_at_their_group(void **state)
{
	(void)state;
	expect(SMALL "faults: {count: 33}\n",
	    "4:9: fault group 0: 33 links are to fail, but the classes named "
	    "have 32.");
	expect(SMALL "faults:\n  - {count: 1}\n  - {count: 99}\n",
	    "6:5: fault group 1: 99 links are to fail, but the classes named "
	    "have 31 left by earlier groups.");
	expect(SMALL "faults: {from: 3, to: 2}\n",
	    "4:9: fault group 0: a fault ends at 2 s, before it begins at 3 "
	    "s.");
	expect(SMALL "faults: {links: [48, \"tor0->t1.9\", tor0->t1.0, 16, x, "
		     "[1]]}\n",
	    "4:18: Link 48 is not in [0, 47].\n"
	    "4:22: Link \"tor0->t1.9\": no node is called \"t1.9\".\n"
	    "4:48: link 16, tor0->t1.0, is named twice in this group.\n"
	    "4:52: \"x\" is not a link: write an id in [0, 47] or two node "
	    "names as FROM->TO.\n"
	    "4:55: a link is an id or a \"from->to\" name.");
	expect(SMALL "faults: {links: tor0->t1.0}\n",
	    "4:17: links is a list of link ids or \"from->to\" names.");
	expect(SMALL "faults: {links: []}\n",
	    "4:17: links is a list of link ids or \"from->to\" names.");
	expect(SMALL "faults: {classes: [tor-t1, tor-t1]}\n",
	    "4:28: classes: \"tor-t1\" is given twice.");
}

static void a_bad_list_of_algorithms_is_told_once(void **state)
{
	(void)state;
	expect("figure: f\n", "1:1: algorithms is missing.");
	expect("figure: f\nalgorithms: vote\n",
	    "2:13: algorithms is a list of at least one algorithm.");
	expect("figure: f\nalgorithms: []\n",
	    "2:13: algorithms is a list of at least one algorithm.");
	expect("figure: f\nplane: pingmesh\nalgorithms: []\n",
	    "3:13: algorithms is a list of at least one algorithm.");
	expect("figure: f\nplane: agents\n", "1:1: algorithms is missing.");
	expect_good("figure: f\nplane: pingmesh\n");
	expect("figure: f\nalgorithms: [{label: x}, [vote]]\n",
	    "2:14: an algorithm is its name or {name: ..., ...}.\n"
	    "2:26: an algorithm is its name or {name: ..., ...}.");
	expect("figure: f\nalgorithms: [voet, {name: oracle}]\n",
	    "2:14: no algorithm is called \"voet\"; did you mean \"vote\"?\n"
	    "2:27: no algorithm is called \"oracle\"; `culprit algos` lists "
	    "them.");
	expect("figure: f\nalgorithms: [vote, alg1, {name: vote, noise: "
	       "none}]\n",
	    "2:26: two algorithms are labelled \"vote\"; give one a `label` "
	    "of its own.");
	expect("figure: f\nalgorithms: [{name: vote, label: \"\"}]\n",
	    "2:34: a label may not be empty.");
	expect("figure: f\nalgorithms: [vote, {name: blackhole}]\n",
	    "2:20: blackhole reads Pingmesh's probes; plane auto has none.");
	expect("figure: f\nalgorithms: [vote, hop_trace]\n",
	    "2:20: hop_trace reads traces with counts a hop; plane auto has "
	    "none.");
	expect("figure: f\nalgorithms: [blackhole, vote]\nplane: pingmesh\n",
	    "2:25: vote reads flows that sent again; plane pingmesh has none "
	    "unless pingmesh.trace.on.");
	expect("figure: f\nalgorithms: [{name: vote, noise: nones}]\n",
	    "2:34: noise: \"nones\" is not one of none, own_vote, floor; did "
	    "you mean \"none\"?");
	expect_good("figure: f\nalgorithms: [vote, {name: vote, label: b}]\n");
}

static void a_bad_sweep_is_told_at_its_place(void **state)
{
	(void)state;
	expect(HEAD "sweep: 3\n",
	    "3:8: sweep is a map with `grid`, `zip` or both.");
	expect(HEAD "sweep: {grid: [1]}\n",
	    "3:15: grid is a map of a key to its values.");
	expect(HEAD "sweep: {zip: 1}\n",
	    "3:14: zip is a map of a key to its values.");
	expect(HEAD "sweep: {grid: {faults.count: []}}\n",
	    "3:30: faults.count: a sweep gives a list of at least one value.");
	expect(HEAD "sweep: {grid: {faults.count: 3}}\n",
	    "3:30: faults.count: a sweep gives a list of values; write [3].");
	expect(HEAD "sweep: {zip: {faults.count: [1, 2, 3], traffic.conns: [1, "
		    "2]}}\n",
	    "3:55: traffic.conns has 2 values, but faults.count, of the same "
	    "zip, has 3.");
	expect(HEAD "sweep: {zip: {faults.count: [1], noise.rate: [0, 1]}}\n",
	    "3:46: noise.rate has 2 values, but faults.count, of the same zip, "
	    "has 1.");
	expect(HEAD "sweep: {grid: {faults.cuont: [1, 2]}}\n",
	    "3:31: unknown key \"cuont\"; did you mean \"count\"?");
	expect(HEAD "sweep: {grid: {fautls.count: [1, 2]}}\n",
	    "3:16: a sweep can't vary \"fautls\"; did you mean \"faults\"?");
	expect(HEAD "sweep: {grid: {seed: [1, 2]}}\n",
	    "3:16: a sweep can't vary \"seed\"; known are plane, fabric, "
	    "common, unable, "
	    "label, topology, traffic, noise, latency, "
	    "congestion, samples, faults, algorithms, "
	    "agents, "
	    "pingmesh, everflow, rack, telemetry, planner, netns, tun.");
	expect(HEAD
	    "faults: {count: 1}\nsweep: {grid: {faults.count.x: [1]}}\n",
	    "4:33: path \"faults.count.x\": no key \"x\" in the value 1.");
	expect(HEAD "faults: [{count: 1}]\nsweep: {grid: {faults.1.count: "
		    "[1]}}\n",
	    "4:33: path \"faults.1.count\": \"1\" is not an index of a list "
	    "of 1.");
	expect(HEAD "sweep: {grid: {faults.count: [1], faults: [{}]}}\n",
	    "3:35: faults.count and faults are swept both; one would replace "
	    "the other.");
	expect(HEAD "sweep: {grid: {faults.count: [1]}, zip: {faults.count: "
		    "[2]}}\n",
	    "3:42: faults.count and faults.count are swept both; one would "
	    "replace the other.");
	expect_good(SMALL "sweep: {}\n");
	expect_good(SMALL "sweep: {grid: {}, zip: {}}\n");
	expect(HEAD "sweep: {grid: {faults.count: [2, -1, 3, 1.5, 2%]}}\n",
	    "3:34: count -1 is not in [0, 1000000] places.\n"
	    "3:41: count: \"1.5\" is not a whole number.\n"
	    "3:46: count: \"2%\" is not a whole number.");
}

static void too_many_points_are_a_mistake(void **state)
{
	char text[8192] = HEAD "sweep:\n  grid:\n", item[16];
	(void)state;
	for (int axis = 0; axis < 3; axis++) {
		static const char *const key[] = {"faults.count", "faults.from",
		    "traffic.conns"};
		sprintf(text + strlen(text), "    %s: [0", key[axis]);
		for (int i = 1; i < 47; i++) {
			snprintf(item, sizeof(item), ", %d", i);
			strcat(text, item);
		}
		strcat(text, "]\n");
	}
	expect(text, "4:3: the sweep has more than 100000 points.");
}

static void a_sweep_keeps_the_algorithms_of_a_row(void **state)
{
	(void)state;
	expect("figure: f\nalgorithms: [vote]\n"
	       "sweep: {grid: {algorithms: [[vote], [vote, alg1], [alg1]]}}\n",
	    "3:37: a sweep can't change how many algorithms there are or their "
	    "labels.\n"
	    "3:51: a sweep can't change how many algorithms there are or their "
	    "labels.");
	expect("figure: f\nalgorithms: [{name: vote, label: a}]\n"
	       "sweep: {grid: {algorithms.0.label: [a, b]}}\n",
	    "2:13: a sweep can't change how many algorithms there are or their "
	    "labels.");
	/* Each label is one of a column, not the first alone. */
	for (int i = 0; i < 3; i++) {
		char text[256];
		snprintf(text, sizeof(text),
		    "figure: f\nalgorithms: [{name: vote, label: a}, "
		    "{name: vote, label: b}, {name: vote, label: c}]\n"
		    "sweep: {grid: {algorithms.%d.label: [d, e]}}\n",
		    i);
		expect(text,
		    "2:13: a sweep can't change how many algorithms there are "
		    "or their labels.");
	}
	expect_good("figure: f\nalgorithms: [{name: vote, label: a}]\n"
		    "sweep: {grid: {algorithms.0.name: [vote, cover]}}\n");
}

static void names_of_figures_are_those_of_files(void **state)
{
	(void)state;
	expect("algorithms: [vote]\n", "1:1: figure is missing.");
	expect("figure: ../etc\nalgorithms: [vote]\n",
	    "1:9: figure \"../etc\" is not made of a-z, 0-9 and _.");
	expect("figure: Fig5\nalgorithms: [vote]\n",
	    "1:9: figure \"Fig5\" is not made of a-z, 0-9 and _.");
	expect("figure: \"\"\nalgorithms: [vote]\n",
	    "1:9: figure \"\" is not made of a-z, 0-9 and _.");
	expect("figure:\nalgorithms: [vote]\n", "1:8: figure has no value.");
	expect("figure: [a]\nalgorithms: [vote]\n",
	    "1:9: figure must be one value, not a list.");
	expect("figure: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	       "aaaaaaaaaa\nalgorithms: [vote]\n",
	    "1:9: figure: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" has "
	    "65 bytes, not at most 63.");
}

static void several_mistakes_are_told_at_once(void **state)
{
	(void)state;
	expect("figre: f\nalgorithms: [voet]\nruns: 0\n"
	       "topology: {n_pods: 0}\ntraffic: {conn: 1}\nfaults: {rate: 2}\n"
	       "noise: {rate: 3}\nclaims: [{value: 1}]\n"
	       "sweep: {grid: {faults.count: 2}}\nsmoke: {rnus: 3}\n",
	    "10:9: smoke can't replace \"rnus\"; did you mean \"runs\"?\n"
	    "1:1: unknown key \"figre\"; did you mean \"figure\"?\n"
	    "3:7: runs 0 is not in [1, 1000000] runs.\n"
	    "1:1: figure is missing.\n"
	    "8:10: metric is missing.\n"
	    "9:30: faults.count: a sweep gives a list of values; write [2].\n"
	    "4:20: n_pods 0 is not in [1, 1048576] pods.\n"
	    "5:11: unknown key \"conn\"; did you mean \"conns\"?\n"
	    "7:15: rate 3 is not in [0, 1].\n"
	    "6:16: rate 2 is not in [0, 1].\n"
	    "2:14: no algorithm is called \"voet\"; did you mean \"vote\"?");
}

static void a_mistake_is_not_repeated_at_every_point(void **state)
{
	(void)state;
	expect(SMALL "noise: {rate: 7}\n"
		     "sweep: {grid: {faults.count: [1, 2, 99], "
		     "traffic.conns: [1, 2, 3]}}\n",
	    "4:15: rate 7 is not in [0, 1].\n"
	    "5:31: fault group 0: 99 links are to fail, but the classes named "
	    "have 32.");
	/* Two keys, at two points of their own, and one of the head. */
	expect(SMALL "runs: 0\nsweep: {grid: {faults.from: [0, -1], "
		     "noise.rate: [0, 3]}}\n",
	    "4:7: runs 0 is not in [1, 1000000] runs.\n"
	    "5:54: rate 3 is not in [0, 1].\n"
	    "5:33: from -1 is not in [0, 1000000000] s.");
	expect(SMALL "sweep: {grid: {faults.count: [1, 2, 99], "
		     "traffic.conns: [1, 2, 3]}}\n",
	    "4:31: fault group 0: 99 links are to fail, but the classes named "
	    "have 32.");
}

static void a_file_that_is_none_is_told_by_name(void **state)
{
	struct xp_spec s;
	struct sim_err e = {0};
	char want[256];
	(void)state;
	assert_int_equal(xp_spec_load(&s, spec_path("none.yaml"), 0, NULL, 0,
			     &e),
	    SIM_EIO);
	snprintf(want, sizeof(want), "%s: No such file or directory.",
	    spec_path("none.yaml"));
	assert_string_equal(e.msg, want);
	xp_spec_free(&s);
	assert_int_equal(xp_spec_load(&s, spec_path(""), 0, NULL, 0, &e),
	    SIM_EIO);
	snprintf(want, sizeof(want), "%s: Is a directory.", spec_path(""));
	assert_string_equal(e.msg, want);
	xp_spec_free(&s);

	expect("", "1:1: figure is missing.\n1:1: algorithms is missing.");
	expect("# nothing\n",
	    "1:1: figure is missing.\n"
	    "1:1: algorithms is missing.");
	expect("- a\n", "1:1: a spec is a map of keys.");
	expect("a\n", "1:1: a spec is a map of keys.");
	expect("figure: f\nfigure: g\nalgorithms: [vote]\n",
	    "2:1: key \"figure\" is given twice, first on line 1.");
	expect(HEAD "sweep: {grid: {faults.count: [1], faults.count: [2]}}\n",
	    "3:35: key \"faults.count\" is given twice, first on line 3.");
}

static void a_file_of_more_than_a_mebibyte_is_refused(void **state)
{
	enum { N = (1 << 20) + 1 };
	char *text = malloc(N + 1);
	struct xp_spec s;
	struct sim_err e = {0};
	(void)state;
	memset(text, '#', N);
	text[N] = '\0';
	assert_int_equal(spec_load(&s, text, &e), SIM_EPARSE);
	xp_spec_free(&s);
	free(text);
}

static void what_set_gets_wrong_is_told_with_what_was_given(void **state)
{
	(void)state;
	expect_set("runs", "--set \"runs\" is not path=value.");
	expect_set("runs=", "--set \"runs=\" is not path=value.");
	expect_set("runs=0", "--set: runs 0 is not in [1, 1000000] runs.");
	expect_set("rnus=3",
	    "--set: unknown key \"rnus\"; did you mean \"runs\"?");
	expect_set("faults.cuont=3",
	    "--set: unknown key \"cuont\"; did you mean \"count\"?");
	expect_set("figure.x=3",
	    "--set \"figure.x=3\": path \"figure.x\": no key \"x\" in the "
	    "value f.");
	expect_set("faults.count=99",
	    "--set: fault group 0: 99 links are to fail, but the classes named "
	    "have 32.");
	expect_set("faults={rate: 1%}",
	    "--set: rate: \"1%\" is not a number; write 0.01.");
}

static void smoke_replaces_known_keys_only(void **state)
{
	struct xp_spec s;
	struct sim_err e = {0};
	(void)state;
	expect(HEAD "smoke: 3\n", "3:8: smoke is a map of keys to replace.");
	expect(HEAD "smoke: {figure: g}\n",
	    "3:9: smoke can't replace \"figure\"; known are plane, fabric, "
	    "common, unable, "
	    "label, topology, traffic, noise, latency, "
	    "congestion, samples, faults, algorithms, "
	    "agents, "
	    "pingmesh, everflow, rack, telemetry, planner, netns, tun, sweep, "
	    "claims, "
	    "title, paper, seed, runs.");
	expect(HEAD "smoke: {smoke: {}}\n",
	    "3:9: smoke can't replace \"smoke\"; known are plane, fabric, "
	    "common, unable, "
	    "label, topology, traffic, noise, latency, "
	    "congestion, samples, faults, algorithms, "
	    "agents, "
	    "pingmesh, everflow, rack, telemetry, planner, netns, tun, sweep, "
	    "claims, "
	    "title, paper, seed, runs.");

	spec_write("x.yaml", HEAD);
	int rc = xp_spec_load(&s, spec_path("x.yaml"), 1, NULL, 0, &e);
	compare(rc, e.msg, HEAD, " there is no `smoke` section to run.");
	xp_spec_free(&s);

	spec_write("x.yaml",
	    HEAD "noise:\nfaults: {count: 1}\nsmoke: {noise.rate: 0, "
		 "faults.count.x: 1}\n");
	rc = xp_spec_load(&s, spec_path("x.yaml"), 1, NULL, 0, &e);
	compare(rc, e.msg, HEAD,
	    "5:21: path \"noise.rate\": no key \"rate\" where nothing "
	    "stands.\n"
	    "5:40: path \"faults.count.x\": no key \"x\" in the value 1.\n"
	    "3:7: a map is needed here, not nothing.");
	xp_spec_free(&s);

	spec_write("x.yaml",
	    HEAD "runs: 9\nsweep: {grid: {faults.count: [1, "
		 "2, 3]}}\nsmoke: {runs: 2, sweep: {grid: "
		 "{faults.rate: [0.1, 0.2]}}}\n");
	assert_ok(
	    xp_spec_load(&s, spec_path("x.yaml"), 0, NULL, 0, test_err()));
	assert_int_equal(s.runs, 9);
	assert_int_equal(s.n_points, 3);
	xp_spec_free(&s);
	const char *set = "runs=4";
	assert_ok(
	    xp_spec_load(&s, spec_path("x.yaml"), 1, &set, 1, test_err()));
	assert_int_equal(s.runs, 4);
	assert_int_equal(s.n_points, 2);
	assert_string_equal(s.overrides, "--smoke\nruns=4");
	xp_spec_free(&s);
}

static void a_plane_that_cannot_run_the_scene_is_a_mistake(void **state)
{
	(void)state;
	expect(HEAD "plane: skip\nlatency: {report_over: 5}\n",
	    "3:8: skipping has no round-trip times (latency.report_over).");
	expect_good(HEAD "plane: skip\ntopology: {kind: fat_tree}\n");
	expect_good(SMALL "plane: skip\ntraffic: {dst: skewed}\n"
			  "faults: {classes: [host-tor, tor-t1]}\n");
	expect(SMALL "plane: skp\n",
	    "4:8: plane: \"skp\" is not one of auto, exact, skip, "
	    "agents, vigil_matlab, pingmesh, pingmesh_bulk, everflow, "
	    "rack, telemetry, planner; did you mean "
	    "\"skip\"?");
	expect(HEAD "plane: vigil_matlab\ntopology: {kind: fat_tree}\n",
	    "3:8: plane vigil_matlab needs a Clos; this topology is a graph.");
	expect_good(SMALL "plane: vigil_matlab\nfaults: {links: [0]}\n");
	expect(SMALL "plane: skip\ncongestion: {burst: 2, racks: 0.5}\n",
	    "5:31: congestion: no buffer is full on plane skip: it draws flows "
	    "by rates that hold for the epoch.");
	expect(SMALL "plane: vigil_matlab\ncongestion: {racks: 1}\n",
	    "5:21: congestion: no buffer is full on plane vigil_matlab: 007's "
	    "released simulator has none.");
	expect("figure: f\nplane: rack\ncongestion: {racks: 1}\n",
	    "3:21: congestion: no buffer is full on plane rack: its own fill "
	    "by what is sent.");
	expect(SMALL "plane: agents\nfabric: netns\ncongestion: {racks: 1}\n",
	    "6:21: congestion: no buffer is full on fabric netns: its time and "
	    "its queues are real.");
	expect_good(SMALL "plane: agents\ncongestion: {racks: 1}\n");
	expect_good(SMALL "plane: everflow\ncongestion: {racks: 1}\n");
	expect_good(SMALL "plane: skip\ncongestion: {racks: 0}\n");
	expect_good(SMALL "congestion: {racks: 0.5}\n");
	expect(SMALL "samples: {every: 1}\n",
	    "4:10: a run of 2000 buckets of 1 ms takes 2 s, and the next one "
	    "begins 1 s behind its begin (every).");
	expect(SMALL "faults: {kind: latency}\n",
	    "4:9: kind latency needs round-trip times: set "
	    "latency.report_over.");
	expect(SMALL "plane: agents\nlatency: {report_over: 100}\n",
	    "4:8: agents have no round-trip times (latency.report_over).");
	expect(SMALL "plane: skip\nlatency: {report_over: 100}\n",
	    "4:8: skipping has no round-trip times (latency.report_over).");
	expect_good(SMALL "faults: {kind: latency}\n"
			  "latency: {report_over: 100}\n");
	expect_good(SMALL "plane: skip\nfaults: {switches: 1, share: 0.01}\n");
	expect(SMALL "faults: {switches: 3, tiers: [t2]}\n",
	    "4:9: fault group 0: 3 switches are to fail, but the tiers named "
	    "have 2.");
}

/* The number of the released simulator is a default: one in a spec wins. */
static void the_released_simulator_opens_480_connections(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		double conns;
	} cases[] = {
	    {SMALL "plane: vigil_matlab\n", 480},
	    {SMALL "plane: vigil_matlab\ntraffic: {n_hot: 2}\n", 480},
	    {SMALL "plane: vigil_matlab\ntraffic: {conns: 60}\n", 60},
	    {SMALL "plane: exact\n", 60},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_spec s;
		struct xp_config c = {0};
		spec_open(&s, cases[i].text);
		assert_ok(xp_spec_point(&s, 0, &c, test_err()));
		assert_true(c.scene.traffic.conns.a == cases[i].conns);
		assert_true(c.scene.traffic.conns.b == cases[i].conns);
		xp_config_free(&c);
		xp_spec_free(&s);
	}
}

static void a_bad_file_is_told_at_the_key_that_names_it(void **state)
{
	struct xp_spec s;
	struct sim_err e = {0};
	(void)state;
	spec_write("net.graphml", "<graphml>");
	assert_int_equal(spec_load(&s,
			     HEAD
			     "topology: {kind: graphml, file: net.graphml}\n",
			     &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "x.yaml:3:33: "));
	assert_non_null(strstr(e.msg, "net.graphml"));
	xp_spec_free(&s);
}

/* --- what a point is ---------------------------------------------------- */

static void point(struct xp_spec *s, size_t p, struct xp_config *c)
{
	assert_ok(xp_spec_point(s, p, c, test_err()));
}

static size_t groups_of(const char *faults)
{
	char text[512];
	struct xp_spec s;
	struct xp_config c = {0};
	snprintf(text, sizeof(text), SMALL "%s", faults);
	spec_open(&s, text);
	point(&s, 0, &c);
	size_t n = c.scene.n_groups;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(c.scene.group[i].count, 1);
	xp_config_free(&c);
	xp_spec_free(&s);
	return n;
}

static void an_absent_section_stands_for_defaults(void **state)
{
	struct xp_spec s;
	struct xp_config c = {0};
	(void)state;
	spec_open(&s, HEAD);
	point(&s, 0, &c);
	assert_int_equal(s.seed, 1);
	assert_int_equal(s.runs, 1);
	assert_int_equal(s.n_points, 1);
	assert_ptr_equal(xp_plane_of(&c), &xp_plane_auto);
	assert_int_equal(c.common, 1);
	assert_int_equal(c.topology.clos.all_hosts, 1600);
	assert_int_equal(c.scene.traffic.conns.a, 60);
	assert_true(c.scene.noise.rate.b == 1e-6);
	xp_config_free(&c);
	xp_spec_free(&s);
	/* A spec without faults, or with an empty list of them, has none. */
	assert_int_equal(groups_of(""), 0);
	assert_int_equal(groups_of("faults: []\n"), 0);
	assert_int_equal(groups_of("faults: {}\n"), 1);
	assert_int_equal(groups_of("faults: [{}, {}]\n"), 2);
}

static void the_last_key_of_a_grid_is_fastest_and_the_zip_after_it(void **state)
{
	static const struct {
		uint32_t count;
		double from, conns, epoch;
	} want[] = {{1, 3, 5, 7}, {1, 3, 6, 8}, {1, 4, 5, 7}, {1, 4, 6, 8},
	    {2, 3, 5, 7}, {2, 3, 6, 8}, {2, 4, 5, 7}, {2, 4, 6, 8}};
	/* Points are read backwards, to show that none depends on what reading
	 * the one before it left behind. */
	static const char text[] = SMALL
	    "sweep:\n  zip: {traffic.conns: [5, 6], traffic.epoch: [7, 8]}\n"
	    "  grid: {faults.count: [1, 2], faults.from: [3, 4]}\n";
	struct xp_spec s;
	struct xp_config c = {0};
	(void)state;
	spec_open(&s, text);
	assert_int_equal(s.n_axes, 3);
	assert_int_equal(s.n_points, 8);
	for (size_t p = 8; p-- > 0;) {
		point(&s, p, &c);
		assert_int_equal(c.scene.group[0].count, want[p].count);
		assert_true(c.scene.group[0].from_s == want[p].from);
		assert_true(c.scene.traffic.conns.a == want[p].conns);
		assert_true(c.scene.traffic.epoch_s == want[p].epoch);
	}
	xp_config_free(&c);
	xp_spec_free(&s);
}

/* --- out of memory ------------------------------------------------------ */

static int load_and_cube(void *arg, struct sim_err *e)
{
	const char *const set[] = {"seed=2"};
	struct res_cube cube;
	struct xp_spec s;
	(void)arg;
	int rc = xp_spec_load(&s, spec_path("x.yaml"), 1, set, 1, e);
	if (rc == 0 && (rc = xp_spec_cube(&s, 0, 1, &cube, e)) == 0)
		res_cube_free(&cube);
	xp_spec_free(&s);
	assert_true(rc == 0 || e->msg[0]);
	return rc;
}

static void no_allocation_is_taken_for_granted(void **state)
{
	(void)state;
	spec_write("x.yaml",
	    SMALL
	    "traffic: {conns: {uniform: [1, 2]}}\n"
	    "faults: [{links: [16, 17]}, {count: 2}]\n"
	    "claims: [{metric: recall, value: 1}]\n"
	    "sweep: {grid: {faults.1.count: [1, 2]}}\n"
	    "smoke: {algorithms: [vote, {name: alg1, label: a}], sweep: "
	    "{grid: {faults.1.count: [1, 2]}, zip: {plane: [auto, exact], "
	    "traffic.epoch: [1, 2]}}}\n");
	test_each_alloc_fails(load_and_cube, NULL);
	/* The list of mistakes is on the heap as well, so telling them may fail
	 * for want of memory. */
	for (unsigned long n = 1;; n++) {
		struct sim_err e = {0};
		struct xp_spec s;
		spec_write("x.yaml",
		    HEAD "zzzz: 1\nfaults: {count: -1}\nsweep: {grid: "
			 "{noise.rate: [2, 3]}}\nclaims: [{metric: x}]\n");
		test_fail_alloc(n);
		int rc = xp_spec_load(&s, spec_path("x.yaml"), 0, NULL, 0, &e);
		unsigned long seen = test_fail_alloc(0);
		xp_spec_free(&s);
		assert_int_equal(rc, seen < n ? SIM_EINVAL : SIM_ENOMEM);
		if (seen < n)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_unknown_key_is_told_once_with_its_place),
	    cmocka_unit_test(a_value_of_the_wrong_type_is_told_once),
	    cmocka_unit_test(
		a_number_out_of_range_is_told_with_the_range_and_unit),
	    cmocka_unit_test(an_impossible_network_is_told_with_the_reason),
	    cmocka_unit_test(faults_that_cannot_be_are_told_at_their_group),
	    cmocka_unit_test(a_bad_list_of_algorithms_is_told_once),
	    cmocka_unit_test(a_bad_sweep_is_told_at_its_place),
	    cmocka_unit_test(too_many_points_are_a_mistake),
	    cmocka_unit_test(a_sweep_keeps_the_algorithms_of_a_row),
	    cmocka_unit_test(names_of_figures_are_those_of_files),
	    cmocka_unit_test(several_mistakes_are_told_at_once),
	    cmocka_unit_test(a_mistake_is_not_repeated_at_every_point),
	    cmocka_unit_test(a_file_that_is_none_is_told_by_name),
	    cmocka_unit_test(a_file_of_more_than_a_mebibyte_is_refused),
	    cmocka_unit_test(what_set_gets_wrong_is_told_with_what_was_given),
	    cmocka_unit_test(smoke_replaces_known_keys_only),
	    cmocka_unit_test(a_plane_that_cannot_run_the_scene_is_a_mistake),
	    cmocka_unit_test(the_released_simulator_opens_480_connections),
	    cmocka_unit_test(an_absent_section_stands_for_defaults),
	    cmocka_unit_test(
		the_last_key_of_a_grid_is_fastest_and_the_zip_after_it),
	    cmocka_unit_test(a_bad_file_is_told_at_the_key_that_names_it),
	    cmocka_unit_test(no_allocation_is_taken_for_granted),
	};
	return cmocka_run_group_tests_name("experiments/spec/spec", tests,
	    spec_folder_make, spec_folder_remove);
}
