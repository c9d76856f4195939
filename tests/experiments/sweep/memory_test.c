/* tests/experiments/sweep/memory_test.c -- what memory a sweep takes, and may have.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernel's files are made here, in a folder in place of the root.
 */
#include "experiments/sweep/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "experiments/pingmesh/held.h"
#include "experiments/pingmesh/pingmesh.h"
#include "experiments/spec/plane.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define GIB 0x1p30
#define MIB 0x1p20

/* --- what it takes -------------------------------------------------------- */

#define NETWORK                                                                \
	"topology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 10}\n"

/* 80 hosts, and cables 80 + 2 * 4 * 3 + 2 * 3 * 2, each of two links. */
enum { HOSTS = 80, LINKS = 2 * (HOSTS + 24 + 12) };

static double bytes_of(const char *text)
{
	struct xp_spec s;
	spec_open(&s, text);
	const double bytes = s.bytes;
	xp_spec_free(&s);
	return bytes;
}

static void algorithms_on_flows_keep_a_number_of_each_link(void **state)
{
	(void)state;
	assert_true(bytes_of("figure: f\n" NETWORK
			     "algorithms: [vote, alg1]\n") == 8 * LINKS);
	/* The largest point counts. */
	assert_true(
	    bytes_of("figure: f\n" NETWORK "algorithms: [vote]\n"
		     "sweep: {grid: {topology.n_hosts: [10, 20, 5]}}\n") ==
	    8 * (LINKS + 2 * HOSTS));
}

/* 40 bytes of a flow, 8 where its hops begin, 3 links of 4 bytes and what was
 * lost on each; no less than a run really has. */
static void whole_windows_take_a_row_of_each_flow(void **state)
{
	struct xp_config c = {.needs = OBS_ALL_FLOWS};
	const struct topo t = {.n_hosts = HOSTS};
	(void)state;
	c.scene.traffic.conns.a = 60;
	assert_true(xp_plane_exact.bytes(&t, &c) == 72. * 60 * HOSTS);
	assert_true(xp_plane_auto.bytes(&t, &c) == 72. * 60 * HOSTS);
	c.needs = OBS_FLOWS;
	assert_true(xp_plane_exact.bytes(&t, &c) == 0);
}

/* Entry by entry of all lists. */
static double slow_probes(const struct xp_pingmesh *p,
    const struct topo_clos *shape, double seconds)
{
	struct algo_pinglist l;
	struct algo_pinglist_server s;
	double n = 0;
	assert_ok(algo_pinglist_open(&l, &p->pinglist, shape, 1, test_err()));
	for (uint32_t id = 0; id < l.n_servers; id++) {
		assert_ok(algo_pinglist_server(&s, &l, id, test_err()));
		for (uint32_t k = 0; k < s.n_peers; k++) {
			const struct algo_pinglist_peer peer =
			    algo_pinglist_at(&s, k);
			for (uint32_t i = 0; i < l.n_kinds[peer.level]; i++)
				n += seconds /
				    algo_pinglist_entry(&l, peer, i).interval_s;
		}
	}
	return n;
}

static void pingmesh_holds_what_a_job_reaches_back(void **state)
{
	static const struct {
		const char *section;
		double seconds;
	} cases[] = {{"{duration: 7200, window: 600, along: window}", 600},
	    {"{duration: 7200, window: 600, along: window, history: 1800}",
		1800},
	    {"{duration: 7200, window: 600}", 7200}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct xp_config c = {0};
		struct xp_spec s;
		snprintf(text, sizeof(text),
		    "figure: f\n" NETWORK "plane: pingmesh\npingmesh: %s\n",
		    cases[i].section);
		spec_open(&s, text);
		assert_ok(xp_spec_point(&s, 0, &c, test_err()));
		struct topo t = {0};
		assert_ok(topo_open_clos(&t, &c.topology.clos, test_err()));
		const double want = XP_HELD_ROW *
		    slow_probes(xp_pingmesh_of(&c), &t.clos, cases[i].seconds);
		assert_true(want > 0);
		assert_near(s.bytes, want, 1e-9 * want);
		topo_close(&t);
		xp_config_free(&c);
		xp_spec_free(&s);
	}
}

/* No more workers count than there are cells for. */
static void a_sweep_takes_its_parent_and_its_workers(void **state)
{
	struct xp_spec s = {.n_points = 50, .runs = 20, .bytes = 100 * MIB};
	struct xp_memory m;
	(void)state;
	xp_memory_of(&m, &s, 4, 1);
	assert_int_equal(m.n_workers, 4);
	assert_true(m.parent == 12 * MIB + 9 * 1000);
	assert_true(xp_memory_all(&m) == 412 * MIB + 9 * 1000);
	xp_memory_of(&m, &s, 64, 300);
	assert_int_equal(m.n_workers, 4);
	assert_true(m.parent == 12 * MIB + 9 * 4);
}

/* --- what there is -------------------------------------------------------- */

static void put(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s", name);
	for (char *at = path; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(test_path(path), 0700);
	}
	test_write(name, text);
}

static const char meminfo[] =
    "MemTotal:       16777216 kB\nMemFree:         1000 kB\n"
    "MemAvailable:    8388608 kB\nSwapTotal:       1048576 kB\n"
    "SwapFree:         524288 kB\n";

static struct xp_room room(void)
{
	struct xp_room r;
	xp_room_read(&r, test_folder);
	return r;
}

static void a_machine_has_its_memory_and_swap(void **state)
{
	struct xp_room r = room();
	(void)state;
	/* What nobody tells is no limit. */
	assert_true(isinf(r.all) && isinf(r.now));
	put("proc/meminfo", meminfo);
	r = room();
	assert_true(r.all == 17 * GIB);
	assert_true(r.now == 8.5 * GIB);
}

static void the_narrowest_cgroup_counts(void **state)
{
	(void)state;
	put("proc/meminfo", meminfo);
	put("proc/self/cgroup", "0::/a/b\n");
	put("sys/fs/cgroup/a/b/memory.max", "max\n");
	assert_true(room().all == 17 * GIB);
	put("sys/fs/cgroup/a/memory.max", "4294967296\n");
	put("sys/fs/cgroup/a/memory.swap.max", "0\n");
	put("sys/fs/cgroup/a/memory.current", "1073741824\n");
	assert_true(room().all == 4 * GIB);
	assert_true(room().now == 3 * GIB);
	/* It may swap as much as the machine can, if nobody says less. */
	put("sys/fs/cgroup/a/memory.swap.max", "max\n");
	assert_true(room().all == 5 * GIB);
	put("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
	put("sys/fs/cgroup/a/b/memory.swap.max", "0\n");
	assert_true(room().all == 1 * GIB);
	/* More in use than allowed, as after the limit was lowered. */
	put("sys/fs/cgroup/a/b/memory.current", "2073741824\n");
	assert_true(room().now == 0);
}

static void cgroups_of_version_1_are_read(void **state)
{
	(void)state;
	put("proc/meminfo", meminfo);
	put("proc/self/cgroup",
	    "5:cpu:/x\n4:memory:/of/the/host\n1:name=systemd:/\n0::/\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes",
	    "9223372036854771712\n");
	assert_true(room().all == 17 * GIB);
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
	put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
	assert_true(room().all == 3 * GIB);
	assert_true(room().now == 2 * GIB);
}

static void a_process_has_its_limits(void **state)
{
	struct rlimit was, l;
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_DATA, &was), 0);
	l = was;
	l.rlim_cur = (rlim_t)1 << 36;
	assert_int_equal(setrlimit(RLIMIT_DATA, &l), 0);
	assert_true(room().process == 0x1p36);
	assert_int_equal(setrlimit(RLIMIT_DATA, &was), 0);
}

/* --- both ----------------------------------------------------------------- */

static void what_can_not_fit_is_refused_and_what_may_is_warned_of(void **state)
{
	static const struct xp_memory m = {1 * GIB, 3 * GIB, 4};
	static const struct {
		struct xp_room room;
		int rc;
		const char *says;
	} cases[] = {
	    {{INFINITY, INFINITY, INFINITY, 0}, 0, NULL},
	    {{3 * GIB, 13 * GIB, 13 * GIB, 0}, 0, NULL},
	    {{2.9 * GIB, 64 * GIB, 64 * GIB, 0}, SIM_ELIMIT,
		"takes 3.0 GiB of memory at least, and may have 2.9 GiB"},
	    {{INFINITY, 64 * GIB, 12.9 * GIB, 0}, 1, "12.9 GiB are free now"},
	    {{INFINITY, 12.9 * GIB, 1 * GIB, 0}, SIM_ELIMIT,
		"13.0 GiB of memory at least, 3.0 GiB in each of 4 workers, "
		"and "
		"there are 12.9 GiB. No more than -j 3 fit. --yes"},
	    {{INFINITY, 3 * GIB, 1 * GIB, 0}, SIM_ELIMIT,
		"there are 3.0 GiB. --yes"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_err e = {0};
		const int rc = xp_memory_fits(&m, &cases[i].room, &e);
		if (rc != cases[i].rc ||
		    (cases[i].says && !strstr(e.msg, cases[i].says)))
			fail_msg("case %zu: %d, %s", i, rc, e.msg);
	}
}

int main(void)
{
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, spec_folder_make,                \
	    spec_folder_remove)
	const struct CMUnitTest tests[] = {
	    IN_FOLDER(algorithms_on_flows_keep_a_number_of_each_link),
	    cmocka_unit_test(whole_windows_take_a_row_of_each_flow),
	    IN_FOLDER(pingmesh_holds_what_a_job_reaches_back),
	    cmocka_unit_test(a_sweep_takes_its_parent_and_its_workers),
	    IN_FOLDER(a_machine_has_its_memory_and_swap),
	    IN_FOLDER(the_narrowest_cgroup_counts),
	    IN_FOLDER(cgroups_of_version_1_are_read),
	    IN_FOLDER(a_process_has_its_limits),
	    cmocka_unit_test(
		what_can_not_fit_is_refused_and_what_may_is_warned_of),
	};
	return cmocka_run_group_tests_name("experiments/memory", tests, NULL,
	    NULL);
}
