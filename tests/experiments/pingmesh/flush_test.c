/* tests/experiments/pingmesh/flush_test.c -- a recording, written as windows end.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/pingmesh/record.h"
#include "experiments/pingmesh/run.h"
#include "experiments/spec/plane.h"
#include "results/recording.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* 32 hosts with 7 peers under their ToR and 3 under others: 26 probes a second.
 * A chunk of a recording, and a piece of a window, is 65,536 rows. */
#define HOSTS                                                                  \
	"figure: f\nalgorithms: [blackhole]\nplane: pingmesh\nnoise: {rate: "  \
	"0.001}\ntopology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: " \
	"8}\n"

static struct xp_recorded flush_record(const char *keys, const char *name,
    int want, struct sim_err *err)
{
	struct xp_recorded n;
	struct xp_spec s;
	char text[1024];
	snprintf(text, sizeof(text), HOSTS "pingmesh: {%s}\n", keys);
	spec_open(&s, text);
	assert_int_equal(xp_record_cell(&s, 0, 0, spec_path(name), &n, err),
	    want);
	xp_spec_free(&s);
	return n;
}

/* --- memory --------------------------------------------------------------- */

static size_t peak_of(unsigned seconds, uint64_t *n_probes)
{
	char keys[128];
	snprintf(keys, sizeof(keys),
	    "duration: %u, window: 60, agent: {perf_window: 10}", seconds);
	test_peak_alloc();
	*n_probes = flush_record(keys, "x.h5", 0, test_err()).n_probes;
	return test_peak_alloc();
}

/* Eight times the rows are written, of 2 MB more of counters alone. A longer run
 * may meet a fuller moment, in which what grows by half grows once more: a few
 * blocks of probes are allowed. */
static void memory_does_not_grow_with_the_duration(void **state)
{
	uint64_t n_short, n_long;
	(void)state;
	const size_t early = peak_of(600, &n_short);
	const size_t late = peak_of(4800, &n_long);
	assert_true(n_long > 7 * n_short);
	if (late > early + (128 << 10))
		fail_msg("%zu bytes for 10 minutes, %zu for 80", early, late);
	print_message("%zu bytes for 10 minutes, %zu for 80\n", early, late);
}

/* --- equality ------------------------------------------------------------- */

/* What the collector has of all windows when the jobs of the last one run. */
struct whole {
	uint32_t last;
	struct obs_probes probes;
};

static int take_whole(void *arg, struct xp_collector *c, uint32_t window,
    struct sim_err *e)
{
	struct whole *w = arg;
	for (uint32_t i = 0; window == w->last && i <= window; i++) {
		const struct obs_probes *t;
		assert_ok(xp_collector_table(c, 0, i, 1, &t, e));
		for (size_t k = 0; k < t->n; k++) {
			const struct obs_probe row = obs_probes_at(t, k);
			assert_ok(obs_probes_add(&w->probes, &row, e));
		}
	}
	return 0;
}

/* The same cell, of which nothing is written and all is kept. */
static void live_whole(const char *keys, uint32_t n_windows, struct whole *w,
    struct obs_perf *counters)
{
	const struct xp_pingmesh_hooks hooks = {.arg = w,
	    .rows_unread = 1,
	    .window = take_whole};
	struct res_trial_metrics row;
	struct xp_pingmesh_plane *plane;
	struct xp_config config = {0};
	struct scene scene = {0};
	struct xp_net *net;
	struct topo topo;
	struct xp_spec s;
	char text[1024];
	snprintf(text, sizeof(text), HOSTS "pingmesh: {%s}\n", keys);
	spec_open(&s, text);
	w->last = n_windows - 1;
	const struct sim_seed where = {.seed = s.seed};
	assert_ok(xp_spec_point(&s, 0, &config, test_err()));
	const struct xp_pingmesh *p = xp_pingmesh_of(&config);
	assert_ok(
	    xp_topology_open(&config.topology, s.folder, &topo, test_err()));
	assert_ok(scene_draw(&scene, &topo, &config.scene, &where, test_err()));
	assert_ok(xp_net_open(&net, &config, &topo, p, test_err()));
	assert_ok(xp_pingmesh_plane_open(&plane, &topo, p, net, test_err()));
	assert_ok(
	    xp_pingmesh_plane_run(plane, &scene, &row, &hooks, test_err()));
	const struct obs_perf *t;
	assert_ok(xp_collector_perf(xp_world_collector(
					xp_pingmesh_plane_world(plane)),
	    SIM_NEVER, &t, test_err()));
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_perf_row r = obs_perf_at(t, i);
		assert_ok(obs_perf_add(counters, &r, test_err()));
	}
	xp_pingmesh_plane_close(plane);
	xp_net_close(net);
	scene_free(&scene);
	topo_close(&topo);
	xp_config_free(&config);
	xp_spec_free(&s);
}

static void assert_same_columns(const struct sim_table *kind, const void *a,
    const void *b)
{
	assert_int_equal(sim_table_n(kind, a), sim_table_n(kind, b));
	for (size_t i = 0; i < kind->n_columns; i++)
		assert_memory_equal(sim_table_at(kind, a, i, 0),
		    sim_table_at(kind, b, i, 0),
		    sim_table_n(kind, a) * kind->column[i].size);
}

static void assert_flushed_is_whole(const char *keys, uint32_t n_windows)
{
	struct whole whole = {0};
	struct obs_perf counters = {0}, perf = {0};
	struct obs_probes probes = {0};
	struct res_recording *r;
	const struct xp_recorded n = flush_record(keys, "x.h5", 0, test_err());
	live_whole(keys, n_windows, &whole, &counters);
	assert_ok(res_recording_open(&r, spec_path("x.h5"), test_err()));
	assert_ok(res_recording_probes(r, 0, SIM_NEVER, &probes, test_err()));
	assert_ok(
	    res_recording_counters(r, 0, SIM_NEVER - 1, &perf, test_err()));
	assert_same_columns(obs_probes_kind(), &whole.probes, &probes);
	assert_same_columns(obs_perf_kind(), &counters, &perf);
	assert_true(probes.n == n.n_probes && perf.n == n.n_counters);
	assert_true(probes.n > RES_RECORDING_CHUNK && perf.n > 8192);
	res_recording_close(r);
	obs_probes_free(&probes);
	obs_probes_free(&whole.probes);
	obs_perf_free(&counters);
	obs_perf_free(&perf);
}

/* Many windows, and few that are written in more than one piece each. */
static void window_by_window_it_is_what_is_written_at_the_end(void **state)
{
	(void)state;
	assert_flushed_is_whole("duration: 4000, window: 100, history: 4000, "
				"agent: {perf_window: 10}",
	    40);
	assert_flushed_is_whole("duration: 6000, window: 3000, pinglist: "
				"{dc_interval_s: 10}, history: 6000, "
				"agent: {perf_window: 20}",
	    2);
}

/* --- interruptions -------------------------------------------------------- */

#define LONG "duration: 8000, window: 500" /* more than three chunks */

/* A disk of KB kilobytes in a mount namespace of this process's own. */
static int flush_disk(unsigned long more, unsigned kb)
{
	char size[32];
	snprintf(size, sizeof(size), "size=%uk", kb);
	return mount("none", spec_path("disk"), "tmpfs", more, size);
}

/* 0 good, 77 no right to mount, else what went wrong. Room is claimed a megabyte
 * ahead, so the smallest disk fails at the begin, others at each chunk and at
 * the end. */
static int fill_disks(void)
{
	struct sim_err e;
	struct stat old, st;
	unsigned n_failed = 0;
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(spec_path("disk"), 0700) < 0 || flush_disk(0, 16384) < 0)
		return 77;
	flush_record("duration: 100, window: 100", "disk/x.h5", 0, test_err());
	if (stat(spec_path("disk/x.h5"), &old) < 0)
		return 1;
	for (unsigned kb = 1024;; kb += 128) {
		char text[1024];
		struct xp_recorded n;
		struct xp_spec s;
		if (flush_disk(MS_REMOUNT, kb) < 0)
			return 2;
		snprintf(text, sizeof(text), HOSTS "pingmesh: {" LONG "}\n");
		spec_open(&s, text);
		const int rc =
		    xp_record_cell(&s, 0, 0, spec_path("disk/x.h5"), &n, &e);
		xp_spec_free(&s);
		if (rc == 0)
			break;
		n_failed++;
		if (rc != SIM_EIO ||
		    !strstr(e.msg, "No space left on device") ||
		    !strstr(e.msg, spec_path("disk/x.h5")))
			return 3;
		if (stat(spec_path("disk/x.h5"), &st) < 0 ||
		    st.st_ino != old.st_ino || st.st_size != old.st_size)
			return 4;
	}
	return n_failed > 8 ? 0 : 5;
}

static void a_full_disk_at_any_flush_is_named_and_leaves_the_old_file(
    void **state)
{
	int status;
	(void)state;
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		exit(fill_disks()); /* with HDF5's own exit */
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: may not mount a small disk\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Killed in the middle of its second chunk. The part that it leaves has a name of
 * its own, and is refused as what it is. */
static void what_is_left_of_a_killed_one_is_refused(void **state)
{
	struct res_recording *r;
	struct stat st = {0};
	char part[64];
	int status;
	(void)state;
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		/* Days: it is killed long before it is done. */
		flush_record("duration: 600000, window: 60", "killed.h5", 0,
		    test_err());
		_exit(1);
	}
	snprintf(part, sizeof(part), "killed.h5.tmp.%ld", (long)child);
	while (st.st_size <= 400000 && waitpid(child, &status, WNOHANG) == 0) {
		usleep(2000);
		if (stat(spec_path(part), &st) < 0)
			st.st_size = 0;
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_not_equal(access(spec_path("killed.h5"), F_OK), 0);
	assert_int_equal(stat(spec_path(part), &st), 0);
	assert_true(st.st_size > 400000);
	assert_int_equal(res_recording_open(&r, spec_path(part), test_err()),
	    SIM_EPARSE);
	assert_non_null(strstr(test_err()->msg, part));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_does_not_grow_with_the_duration),
	    cmocka_unit_test(window_by_window_it_is_what_is_written_at_the_end),
	    cmocka_unit_test(
		a_full_disk_at_any_flush_is_named_and_leaves_the_old_file),
	    cmocka_unit_test(what_is_left_of_a_killed_one_is_refused),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh_flush", tests,
	    spec_folder_make, spec_folder_remove);
}
