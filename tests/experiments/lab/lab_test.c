/* tests/experiments/lab/lab_test.c -- specs of real networks, none built.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/fabrics/netns.h"
#include "experiments/lab/lab.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define SPEC                                                                   \
	"figure: f\nalgorithms: [vote]\ntraffic: {conns: 1}\n"                 \
	"topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}\n"
#define REAL SPEC "plane: agents\nfabric: netns\n"
#define PINGS                                                                  \
	"figure: f\nalgorithms: [blackhole]\nplane: pingmesh\n"                \
	"fabric: netns\npingmesh: {duration: 60, window: 60, lag: 5"

static void what_a_real_network_has_not_is_a_mistake(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
	    {SPEC "fabric: netns\n",
		"5:9: fabric netns is for planes agents and "
		"pingmesh and planner."},
	    {SPEC "plane: agents\nfabric: net\n", "sim, netns, tun"},
	    {REAL "agents: {slb: {share: 0.1}}\n", "has no load balancer."},
	    {REAL "agents: {flaps: {count: 1}}\n", "no cable flaps"},
	    {REAL "agents: {icmp: {source: loopback}}\n", "is ingress."},
	    {REAL "agents: {icmp: {t_max: 2e6}}\n", "t_max 2e+06: kernels"},
	    {REAL "netns: {mtu: 500}\n", "7:14: mtu"},
	    {REAL "netns: {timeout: 0}\n", "7:18: timeout"},
	    {REAL "netns: {icmp_per_s: 9}\n", "unknown key \"icmp_per_s\""},
	    {PINGS "}\ntopology: {kind: region, n_dcs: 2}\n",
		"on fabric netns needs a topology of kind clos or "
		"leaf_spine."},
	    {PINGS ", pinglist: {vips: 198.18.0.1}}\n",
		"vips: fabric netns has no load balancer."},
	    {PINGS ", agent: {probe_timeout: 9}, connect: {timers: "
		   "linux_linear, retries: 4}}\n",
		"retries 4: with timers linux_linear, a kernel has at least "
		"5."},
	    {PINGS ", trace: {on: true}}\n",
		"plane pingmesh traces nothing on fabric netns."},
	    {PINGS "}\nfaults: {kind: controller, mode: slow}\n",
		"kind controller: on fabric netns services are not slow."},
	    {SPEC "netns: {tmeout: 1}\n", "did you mean \"timeout\"?"},
	    {SPEC "tun: {tmeout: 1}\n", "did you mean \"timeout\"?"},
	    {SPEC "fabric: tun\n",
		"x.yaml:5:9: fabric tun is for planes agents and pingmesh and "
		"planner."},
	    {SPEC "plane: agents\nfabric: tun\nagents: {slb: {share: "
		  "0.1}}\n",
		"x.yaml:7:15: fabric tun has no load balancer."},
	    {SPEC "plane: agents\nfabric: {netns: {faults: nft}}\n",
		"x.yaml:6:9: plane agents takes flows of which it is told what "
		"they lost, which fabric netns has not unless its faults are "
		"by bpf."},
	    {SPEC "plane: agents\nfabric: netns\nnetns: {faults: nft}\n",
		"x.yaml:6:9: plane agents takes flows of which it is told what "
		"they lost, which fabric netns has not unless its faults are "
		"by bpf."},
	    {SPEC "plane: agents\nfabric: {sim: {}}\n",
		"x.yaml:6:10: fabric sim has no options."},
	    {SPEC "plane: agents\nfabric: {nets: {}}\n",
		"x.yaml:6:10: fabric: \"nets\" is not one of"},
	    {SPEC "plane: agents\nfabric: {netns: {}, tun: {}}\n",
		"x.yaml:6:9: fabric is a name, or a map of one name to its "
		"options."},
	    {SPEC "plane: agents\nfabric: {netns: {mut: 9}}\n",
		"x.yaml:6:18: unknown key \"mut\"; did you mean \"mtu\"?"},
	    {SPEC "plane: agents\nfabric: {netns: bpf}\n",
		"x.yaml:6:17: a map is needed here"},
	    {"figure: f\nalgorithms: [blackhole]\nplane: pingmesh\nfabric: "
	     "tun\n",
		"x.yaml:4:9: plane pingmesh takes a first wait of 3 s for "
		"SYN-ACKs (timers windows), which fabric tun has not."},
	    {"figure: f\nalgorithms: [blackhole]\nplane: pingmesh\nfabric: "
	     "{netns: {faults: nft}}\nfaults: {kind: latency}\npingmesh: "
	     "{connect: {timers: linux}}\n",
		"x.yaml:4:9: plane pingmesh takes links that are slow (kind "
		"latency), which fabric netns has not unless its faults are by "
		"bpf."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_spec s;
		struct sim_err e = {0};
		assert_int_equal(spec_load(&s, bad[i].text, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s\nsays: %s\nwanted: %s", bad[i].text, e.msg,
			    bad[i].want);
		xp_spec_free(&s);
	}
}

static void a_spec_is_real_if_any_of_its_points_is(void **state)
{
	static const struct {
		const char *text;
		int is_real;
		double real_s; /* of plane pingmesh */
	} spec[] = {
	    {SPEC, 0, 0},
	    {SPEC "plane: agents\nfabric: sim\n", 0, 0},
	    {REAL, 1, 0},
	    {SPEC "plane: agents\nsweep: {grid: {fabric: [sim, netns]}}\n", 1,
		0},
	    {PINGS "}\nfaults: {kind: collector}\n", 1, 65},
	    {PINGS "}\nruns: 3\nsweep: {grid: {fabric: [sim, netns], "
		   "pingmesh.duration: [60, 120]}}\n",
		1, 3 * (65 + 125)},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(spec) / sizeof(spec[0]); i++) {
		struct xp_spec s;
		assert_ok(spec_load(&s, spec[i].text, test_err()));
		assert_int_equal(s.is_real, spec[i].is_real);
		assert_near(s.real_s, spec[i].real_s, 1e-9);
		xp_spec_free(&s);
	}
}

static void the_section_sets_the_network_and_the_time_of_flows(void **state)
{
	struct xp_config c = {0};
	struct xp_spec s;
	(void)state;
	assert_ok(spec_load(&s,
	    REAL "netns: {mtu: 9000, ecmp_seed: 7, timeout: 2.5}\n",
	    test_err()));
	assert_ok(xp_spec_point(&s, 0, &c, test_err()));
	assert_ptr_equal(xp_fabric_of(&c), &xp_fabric_netns);
	const struct xp_netns *lab = xp_section_of(&c, xp_fabric_netns.section);
	assert_int_equal(lab->net.mtu, 9000);
	assert_int_equal(lab->net.ecmp_seed, 7);
	assert_true(lab->timeout_s == 2.5);
	xp_config_free(&c);
	xp_spec_free(&s);
}

/* Options beside the name are put on top of the section's, at that point of the
 * sweep alone. */
static void a_fabric_may_be_a_map_of_its_options(void **state)
{
	static const struct {
		const struct xp_fabric *fabric;
		uint32_t mtu, faults;
	} want[] = {{&xp_fabric_netns, 600, 0}, {&xp_fabric_netns, 9000, 1},
	    {&xp_fabric_sim, 600, 0}, {&xp_fabric_netns, 700, 0},
	    {&xp_fabric_tun, 600, 0}};
	struct xp_config c = {0};
	struct xp_spec s;
	(void)state;
	spec_open(&s,
	    "figure: f\nalgorithms: [blackhole]\nplane: pingmesh\npingmesh: "
	    "{connect: {timers: linux}}\nnetns: {mtu: 600, timeout: 3}\n"
	    "sweep: {grid: {fabric: [netns, {netns: {faults: nft, mtu: 9000}}, "
	    "sim, {netns: {mtu: 700}}, tun]}}\n");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_ok(xp_spec_point(&s, i, &c, test_err()));
		const struct xp_netns *p =
		    xp_section_of(&c, xp_fabric_netns.section);
		assert_ptr_equal(xp_fabric_of(&c), want[i].fabric);
		assert_int_equal(p->net.mtu, want[i].mtu);
		assert_int_equal(p->faults, want[i].faults);
		assert_true(p->timeout_s == 3);
	}
	/* Faults both by eBPF and by nft, and of tun whatever it takes. */
	assert_int_equal(s.takes[0], 0);
	assert_int_equal(s.takes[1],
	    1 << NETNS_FAULTS_EBPF | 1 << NETNS_FAULTS_NFT);
	assert_int_equal(s.takes[2], 1);
	xp_config_free(&c);
	xp_spec_free(&s);
}

static void every_fabric_is_found_by_its_name(void **state)
{
	size_t n = 0;
	(void)state;
	for (; xp_fabrics[n]; n++) {
		const struct xp_fabric *f = xp_fabrics[n];
		assert_string_equal(f->name, xp_fabric_names[n]);
		assert_true(strlen(f->doc) > 0);
		assert_true((f->gives == NULL) == (f->unless == NULL));
		assert_true((f->open == NULL) == (f->usable == NULL));
		assert_true((f->open == NULL) == (f->takes == NULL));
		if (f->section)
			assert_string_equal(f->section->name, f->name);
	}
	assert_null(xp_fabric_names[n]);
	assert_in_range(n, 3, XP_MAX_FABRICS);
}

static void notes_name_the_knobs_of_hosts_and_switches(void **state)
{
	struct xp_lab_notes n;
	size_t k = 0;
	(void)state;
	xp_lab_notes(&n, "netns");
	while (n.note[k].name)
		assert_true(strlen(n.note[k++].value) > 0);
	assert_int_equal(k, 5);
	assert_non_null(strstr(n.hosts, "ipv4/tcp_early_retrans=0"));
	assert_null(strstr(n.hosts, "fib_multipath"));
	assert_non_null(strstr(n.switches, "ipv4/fib_multipath_hash_policy=3"));
	assert_null(strstr(n.switches, "tcp_early_retrans"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_real_network_has_not_is_a_mistake),
	    cmocka_unit_test(a_spec_is_real_if_any_of_its_points_is),
	    cmocka_unit_test(
		the_section_sets_the_network_and_the_time_of_flows),
	    cmocka_unit_test(a_fabric_may_be_a_map_of_its_options),
	    cmocka_unit_test(every_fabric_is_found_by_its_name),
	    cmocka_unit_test(notes_name_the_knobs_of_hosts_and_switches),
	};
	return cmocka_run_group_tests_name("experiments/lab/lab", tests,
	    spec_folder_make, spec_folder_remove);
}
