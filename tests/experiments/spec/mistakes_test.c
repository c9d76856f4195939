/* tests/experiments/spec/mistakes_test.c -- what people write, and are told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* A wrong line, behind two right ones and so on line 3, and what is said. */
#define PLANES                                                                 \
	"auto, exact, skip, agents, vigil_matlab, pingmesh, pingmesh_bulk, "   \
	"everflow, rack, telemetry, planner"
static const struct {
	const char *line, *want;
} mistakes[] = {
    /* Keys in the wrong map. */
    {"rate: 0.1",
	"3:1: unknown key \"rate\"; did you mean \"faults.rate\", "
	"\"noise.rate\" or \"pingmesh.trace.rate\"?"},
    {"n_pods: 3",
	"3:1: unknown key \"n_pods\"; did you mean \"topology.n_pods\"?"},
    {"conns: 10",
	"3:1: unknown key \"conns\"; did you mean \"traffic.conns\"?"},
    {"kind: clos",
	"3:1: unknown key \"kind\"; did you mean \"faults.kind\" or "
	"\"topology.kind\"?"},
    {"c_t: 3", "3:1: unknown key \"c_t\"; did you mean \"agents.c_t\"?"},
    {"t_max: 3",
	"3:1: unknown key \"t_max\"; did you mean \"agents.icmp.t_max\" or "
	"\"pingmesh.trace.t_max\"?"},
    {"icmp: {t_max: 3}",
	"3:1: unknown key \"icmp\"; did you mean \"agents.icmp\" or "
	"\"telemetry.tracing.icmp\"?"},
    {"tcp: {resend: 1}",
	"3:1: unknown key \"tcp\"; did you mean \"traffic.tcp\"?"},
    {"threshold: 0.1",
	"3:1: unknown key \"threshold\"; did you mean "
	"\"pingmesh.blackhole.threshold\" or a parameter of alg1 or blackhole "
	"in algorithms?"},
    {"window: 60",
	"3:1: unknown key \"window\"; did you mean \"traffic.tcp.window\", "
	"\"pingmesh.window\" or \"rack.window\"?"},
    {"grid: {faults.count: [1]}",
	"3:1: unknown key \"grid\"; did you mean \"sweep.grid\"?"},
    {"zip: {faults.count: [1]}",
	"3:1: unknown key \"zip\"; did you mean \"sweep.zip\"?"},
    {"metric: accuracy_fault",
	"3:1: unknown key \"metric\"; did you mean \"claims.metric\"?"},
    {"faults: {n_pods: 2}",
	"3:10: unknown key \"n_pods\"; did you mean \"topology.n_pods\"?"},
    {"faults: {drop_rate: 0.1}",
	"3:10: unknown key \"drop_rate\"; did you mean \"rate\"?"},
    {"faults: {number: 2}",
	"3:10: unknown key \"number\"; known are kind, count, classes, pick, "
	"same_switch, switches, tiers, share, rate, entries, delay, law, "
	"sigma, load, mode, prefix, flows, turn, left, weight, hash, bits, "
	"duty, depth, episode, mark, from, to, spread, lasts, again, "
	"every, links, at, "
	"pods."},
    {"faults: {links: [1], class: [t1-t2]}",
	"3:22: unknown key \"class\"; did you mean \"classes\"?"},
    {"topology: {count: 2}",
	"3:12: unknown key \"count\"; did you mean \"faults.count\", "
	"\"agents.flaps.count\" or \"rack.stall.count\"?"},
    {"topology: {pods: 2}",
	"3:12: unknown key \"pods\"; did you mean \"n_pods\"?"},
    {"topology: {hosts: 2}",
	"3:12: unknown key \"hosts\"; did you mean \"n_hosts\"?"},
    {"topology: {n_tor: 2}",
	"3:12: unknown key \"n_tor\"; did you mean \"n_tors\"?"},
    {"topology: {n_t3: 2}",
	"3:12: unknown key \"n_t3\"; did you mean \"n_t1\"?"},
    {"traffic: {rate: 2}",
	"3:11: unknown key \"rate\"; did you mean \"faults.rate\", "
	"\"noise.rate\" or \"pingmesh.trace.rate\"?"},
    {"traffic: {connections: 2}",
	"3:11: unknown key \"connections\"; did you mean \"conns\"?"},
    {"traffic: {pkts: 2}",
	"3:11: unknown key \"pkts\"; known are conns, packets, dst, n_hot, "
	"hot_share, epoch, tcp."},
    {"traffic: {resend: 2}",
	"3:11: unknown key \"resend\"; did you mean \"traffic.tcp.resend\"?"},
    {"traffic: {pattern: uniform}",
	"3:11: unknown key \"pattern\"; known are conns, packets, dst, n_hot, "
	"hot_share, epoch, tcp."},
    {"noise: {drop: 1e-6}",
	"3:9: unknown key \"drop\"; known are rate, scale, per, "
	"times, classes."},
    {"noise: {count: 2}",
	"3:9: unknown key \"count\"; did you mean \"faults.count\", "
	"\"agents.flaps.count\" or \"rack.stall.count\"?"},
    {"latency: {delay: 2}",
	"3:11: unknown key \"delay\"; did you mean \"faults.delay\"?"},
    {"agents: {burst: 2}",
	"3:10: unknown key \"burst\"; did you mean \"congestion.burst\", "
	"\"agents.icmp.burst\" or \"pingmesh.trace.burst\"?"},
    {"agents: {tmax: 2}",
	"3:10: unknown key \"tmax\"; did you mean \"agents.icmp.t_max\" or "
	"\"pingmesh.trace.t_max\"?"},
    {"agents: {icmp: {c_t: 2}}",
	"3:17: unknown key \"c_t\"; did you mean \"agents.c_t\"?"},
    {"pingmesh: {interval: 60}",
	"3:12: unknown key \"interval\"; known are duration, window, ..."},
    {"pingmesh: {probe_timeout: 2}",
	"3:12: unknown key \"probe_timeout\"; did you mean "
	"\"pingmesh.agent.probe_timeout\"?"},
    {"pingmesh: {agent: {window: 2}}",
	"3:20: unknown key \"window\"; did you mean \"traffic.tcp.window\", "
	"\"pingmesh.window\" or \"rack.window\"?"},
    {"tun: {timeout_s: 2}",
	"3:7: unknown key \"timeout_s\"; did you mean \"timeout\"?"},
    /* Misspelt ones. */
    {"trafic: {conns: 1}",
	"3:1: unknown key \"trafic\"; did you mean \"traffic\"?"},
    {"Faults: {count: 1}",
	"3:1: unknown key \"Faults\"; did you mean \"faults\"?"},
    {"fault: {count: 1}",
	"3:1: unknown key \"fault\"; did you mean \"faults\"?"},
    {"algorithm: [vote]",
	"3:1: unknown key \"algorithm\"; did you mean \"algorithms\"?"},
    {"sweeps: {}", "3:1: unknown key \"sweeps\"; did you mean \"sweep\"?"},
    {"run: 3", "3:1: unknown key \"run\"; did you mean \"runs\"?"},
    {"seeds: 3", "3:1: unknown key \"seeds\"; did you mean \"seed\"?"},
    {"topo: {n_pods: 2}",
	"3:1: unknown key \"topo\"; did you mean \"topology\"?"},
    {"smoke-test: {runs: 1}",
	"3:1: unknown key \"smoke-test\"; did you mean \"smoke\"?"},
    {"planes: exact", "3:1: unknown key \"planes\"; did you mean \"plane\"?"},
    {"zzz: 1", "3:1: unknown key \"zzz\"; known are figure, title, ..."},
    /* Sweeps. */
    {"sweep: {faults.count: [1, 2]}",
	"3:23: what a sweep varies stands within grid or zip: {grid: "
	"{faults.count: [...]}}."},
    {"sweep: {grid: {count: [1, 2]}}",
	"3:16: a sweep can't vary \"count\"; did you mean \"faults.count\", "
	"\"agents.flaps.count\" or \"rack.stall.count\"?"},
    {"sweep: {grid: {rate: [1, 2]}}",
	"3:16: a sweep can't vary \"rate\"; did you mean \"faults.rate\", "
	"\"noise.rate\" or \"pingmesh.trace.rate\"?"},
    {"sweep: {grid: {fault.count: [1, 2]}}",
	"3:16: a sweep can't vary \"fault\"; did you mean \"faults\"?"},
    {"sweep: {grid: {faults.cuont: [1, 2]}}",
	"3:31: unknown key \"cuont\"; did you mean \"count\"?"},
    {"sweep: {grid: {faults: {count: [1, 2]}}}",
	"3:24: faults: a sweep gives a list of values; to vary a key of it "
	"write faults.count: [...]."},
    {"sweep: {grid: {seed: [1, 2]}}",
	"3:16: a sweep can't vary \"seed\"; known are plane, fabric, ..."},
    {"sweep: {grid: {faults.count: 1}}",
	"3:30: faults.count: a sweep gives a list of values; write [1]."},
    {"sweep: {grid: {traffic.rate: [1, 2]}}",
	"3:31: unknown key \"rate\"; did you mean \"faults.rate\", "
	"\"noise.rate\" or \"pingmesh.trace.rate\"?"},
    /* Values. */
    {"runs: 0", "3:7: runs 0 is not in [1, 1000000] runs."},
    {"runs: many", "3:7: runs: \"many\" is not a whole number."},
    {"faults: {rate: 1%}", "3:16: rate: \"1%\" is not a number; write 0.01."},
    {"faults: {rate: 5}", "3:16: rate 5 is not in [0, 1]."},
    {"faults: {rate: [0.1, 0.2]}",
	"3:16: rate must be a number, {uniform: [a, b]} or {log_uniform: [a, "
	"b]}, not a list."},
    {"faults: {kind: drops}",
	"3:16: kind: \"drops\" is not one of drop, latency, black_hole_1, "
	"black_hole_2, host_off, pod_off, controller, collector, reroute, "
	"narrow, weights, hash, ecn, mux_loop, storm, bgp_flap; did you mean "
	"\"drop\"?"},
    {"faults: {classes: t1-t2}",
	"3:19: classes must be a list, not a value; write [t1-t2]."},
    {"faults: {classes: [t1_t2]}",
	"3:20: classes: \"t1_t2\" is not one of host-tor, tor-t1, t1-t2, "
	"t2-t1, t1-tor, tor-host, fabric; did you mean \"t1-t2\"?"},
    {"plane: exat",
	"3:8: plane: \"exat\" is not one of " PLANES "; did you mean "
	"\"exact\"?"},
    /* Nothing is asked of the default that stands for what can't be read. */
    {"plane: pingmehs\nsweep: {grid: {algorithms: [[blackhole]]}}",
	"3:8: plane: \"pingmehs\" is not one of " PLANES "; did you mean "
	"\"pingmesh\"?"},
    {"plane: pingmehs\nfaults: {kind: latency, count: 1}",
	"3:8: plane: \"pingmehs\" is not one of " PLANES "; did you mean "
	"\"pingmesh\"?"},
    {"plane: skp\nfaults: {kind: controller, count: 1}\n"
     "traffic: {conns: ten}",
	"3:8: plane: \"skp\" is not one of " PLANES "; did you mean "
	"\"skip\"?\n"
	"5:18: conns: \"ten\" is not a number."},
    {"sweep: {grid: {plane: [skp, skip], algorithms: [[blackhole]]}}",
	"3:24: plane: \"skp\" is not one of " PLANES "; did you mean "
	"\"skip\"?\n"
	"3:50: blackhole reads Pingmesh's probes; plane skip has none."},
    {"unable: skpi\nsweep: {grid: {algorithms: [[vote, blackhole]]}}",
	"3:9: unable: \"skpi\" is not one of refuse, skip; did you mean "
	"\"skip\"?"},
    {"fabric: netn",
	"3:9: fabric: \"netn\" is not one of sim, netns, tun; did you mean "
	"\"netns\"?"},
    {"topology: {kind: fattree}",
	"3:18: kind: \"fattree\" is not one of clos, fat_tree, graphml, "
	"region, leaf_spine; did you mean \"fat_tree\"?"},
    {"traffic: {dst: hot}",
	"3:16: dst: \"hot\" is not one of uniform, skewed."},
    {"noise: none",
	"3:8: a map is needed here, not a value, such as {rate: ...}."},
    {"noise: {times: 5, classes: [fabric]}",
	"3:29: classes: this network has no link of class fabric; there are "
	"host-tor, tor-t1, t1-t2, t2-t1, t1-tor, tor-host."},
    {"noise: {rate: 0.1, times: 20}",
	"3:27: times: rates up to 0.1 times 20 are above 1."},
    {"noise: {times: 5, classes: []}", "3:28: classes must not be empty."},
    {"faults: none",
	"3:9: faults is a group {rate: ..., ...}, a list of groups, or [] for "
	"none."},
    /* What the sweep replaces at every point, too. */
    {"faults: {count: 1, rate: 2}\nsweep: {grid: {faults.rate: [0.1, 0.2]}}",
	"3:26: rate 2 is not in [0, 1]."},
    {"faults: {count: 1, rate: {uniform: [0, 2]}}\n"
     "sweep: {grid: {faults.rate: [0.1, 0.2]}}",
	"3:40: rate 2 is not in [0, 1]."},
    {"faults: [{count: 1}, {rate: 1.5, count: 1}]\n"
     "sweep: {grid: {faults.1.rate: [0.1, 0.2]}}",
	"3:29: rate 1.5 is not in [0, 1]."},
    {"traffic: {conns: ten}\nsweep: {grid: {traffic.conns: [1, 2]}}",
	"3:18: conns: \"ten\" is not a number."},
    {"topology: {n_pods: -1}\nsweep: {grid: {topology: [{n_pods: 2}]}}",
	"3:20: n_pods -1 is not in [1, 1048576] pods."},
    {"rack: {sample: {max_buckets: 0}}\n"
     "sweep: {grid: {rack.sample: [{max_buckets: 9}]}}",
	"3:30: max_buckets 0 is not in [1, 2000]."},
    {"plane: autor\nsweep: {grid: {plane: [exact, skip]}}",
	"3:8: plane: \"autor\" is not one of " PLANES "; did you mean "
	"\"auto\"?"},
    {"common: yes", "3:9: common: \"yes\" is not true or false; write true."},
    {"sweep: [faults.count]",
	"3:8: sweep is a map with `grid`, `zip` or both."},
    {"claims: {metric: accuracy_fault}",
	"3:9: claims is a list of {metric: ..., value: ...}."},
    {"smoke: 1", "3:8: smoke is a map of keys to replace."},
    {"smoke: {figure: x}",
	"3:9: smoke can't replace \"figure\"; known are plane, fabric, ..."},
};

static void each_mistake_says_what_to_write(void **state)
{
	char name[160], text[512], got[2048], *p;
	unsigned n_wrong = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct xp_spec s;
		struct sim_err e = {0};
		snprintf(text, sizeof(text),
		    "figure: f\nalgorithms: [vote]\n%s\n", mistakes[i].line);
		const int rc = spec_load(&s, text, &e);
		snprintf(got, sizeof(got), "%s", rc < 0 ? e.msg : "nothing");
		xp_spec_free(&s);
		snprintf(name, sizeof(name), "%s:", spec_path("x.yaml"));
		while ((p = strstr(got, name)))
			memmove(p, p + strlen(name),
			    strlen(p + strlen(name)) + 1);
		/* Of a list of all keys the beginning will do. */
		const size_t n = strlen(mistakes[i].want);
		const int cut =
		    n > 4 && strcmp(mistakes[i].want + n - 4, " ...") == 0;
		if (strncmp(got, mistakes[i].want, cut ? n - 3 : n + 1) == 0)
			continue;
		n_wrong++;
		print_message("%s\n  says:   %s\n  wanted: %s\n",
		    mistakes[i].line, got, mistakes[i].want);
	}
	if (n_wrong > 0)
		fail_msg("%u messages", n_wrong);
}

/* An algorithm's keys are known by its name alone. */
static void what_a_sweep_replaces_of_an_algorithm_is_read_too(void **state)
{
	struct xp_spec s;
	struct sim_err e;
	(void)state;
	assert_int_equal(
	    spec_load(&s,
		"figure: f\nalgorithms: [vote, {name: alg1, threshold: 2}]\n"
		"sweep: {grid: {algorithms.1.threshold: [0.01, 0.02]}}\n",
		&e),
	    SIM_EINVAL);
	if (!strstr(e.msg, "x.yaml:2:44: threshold 2 is not in [0, 1]"))
		fail_msg("says: %s", e.msg);
	xp_spec_free(&s);
}

/* Which plane is meant decides that, and is not known. */
static void of_a_misspelt_plane_no_algorithms_are_asked(void **state)
{
	struct xp_spec s;
	struct sim_err e;
	(void)state;
	assert_int_equal(spec_load(&s, "figure: f\nplane: pingmehs\n", &e),
	    SIM_EINVAL);
	if (strchr(e.msg, '\n') || !strstr(e.msg, "did you mean"))
		fail_msg("says: %s", e.msg);
	xp_spec_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_mistake_says_what_to_write),
	    cmocka_unit_test(what_a_sweep_replaces_of_an_algorithm_is_read_too),
	    cmocka_unit_test(of_a_misspelt_plane_no_algorithms_are_asked),
	};
	return cmocka_run_group_tests_name("experiments/spec mistakes", tests,
	    spec_folder_make, spec_folder_remove);
}
