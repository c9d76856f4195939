/* tests/speed/events.c -- Pingmesh's agents, event by event: speed and memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/pingmesh/record.h"
#include "experiments/pingmesh/run.h"
#include "experiments/spec/plane.h"
#include "tests/speed/bench.h"

enum { ROUNDS = 3 };

/* 256 hosts with 10 peers each, 1.7 probes a second; and 10,000 with 288, of
 * which each has one probe in 100 or 300 s. */
#define SMALL "topology: {n_pods: 4, n_tors: 8, n_t1: 4, n_t2: 4, n_hosts: 8}\n"
#define LARGE                                                                  \
	"topology: {n_pods: 10, n_tors: 25, n_t1: 8, n_t2: 16, n_hosts: 40}\n"
#define SLOW "pinglist: {tor_interval_s: 100, dc_interval_s: 300}, "

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench_events: %s\n", e->msg);
		exit(1);
	}
}

static void open_spec(struct xp_spec *s, const char *network, const char *keys,
    double duration_s)
{
	char path[] = "/tmp/culprit-bench-XXXXXX";
	struct sim_err e = {0};
	const int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		must(sim_fail(&e, SIM_EIO, "no temporary file."), &e);
	fprintf(f,
	    "figure: x\nplane: pingmesh\nnoise: {rate: 5e-6}\n%spingmesh: {%s"
	    "duration: %g}\n",
	    network, keys, duration_s);
	fclose(f);
	const int rc = xp_spec_load(s, path, 0, NULL, 0, &e);
	unlink(path);
	must(rc, &e);
}

/* --- speed ---------------------------------------------------------------- */

struct subject {
	struct xp_spec spec;
	struct xp_config config;
	struct topo topo;
	struct scene scene;
	struct xp_net *net;
	struct xp_pingmesh_plane *plane;
	struct res_trial_metrics *row;
	uint8_t rows_unread;
	uint64_t n_probes;
};

static void open_subject(struct subject *s, const char *keys, double seconds)
{
	const struct sim_seed where = {.seed = 1};
	struct sim_err e = {0};
	*s = (struct subject){.rows_unread = 0};
	open_spec(&s->spec, SMALL, keys, seconds);
	must(xp_spec_point(&s->spec, 0, &s->config, &e), &e);
	const struct xp_pingmesh *p = xp_pingmesh_of(&s->config);
	must(xp_topology_open(&s->config.topology, "", &s->topo, &e), &e);
	must(scene_draw(&s->scene, &s->topo, &s->config.scene, &where, &e), &e);
	must(xp_net_open(&s->net, &s->config, &s->topo, p, &e), &e);
	must(xp_pingmesh_plane_open(&s->plane, &s->topo, p, s->net, &e), &e);
	s->row = calloc(xp_pingmesh_plane_rows(s->plane), sizeof(*s->row));
	if (!s->row)
		must(sim_fail(&e, SIM_ENOMEM, "no memory."), &e);
}

static void close_subject(struct subject *s)
{
	xp_pingmesh_plane_close(s->plane);
	xp_net_close(s->net);
	scene_free(&s->scene);
	topo_close(&s->topo);
	xp_config_free(&s->config);
	xp_spec_free(&s->spec);
	free(s->row);
}

static void live(void *arg)
{
	struct subject *s = arg;
	const struct xp_pingmesh_hooks hooks = {.rows_unread = s->rows_unread};
	struct sim_err e = {0};
	must(xp_pingmesh_plane_run(s->plane, &s->scene, s->row, &hooks, &e),
	    &e);
	s->n_probes = xp_collector_counts(
	    xp_world_collector(xp_pingmesh_plane_world(s->plane)))
			  .n_records;
}

static void bench_speed(void)
{
	struct subject s;
	open_subject(&s, "window: 600, along: window, ", 3600);
	double seconds = bench_best(ROUNDS, live, &s);
	bench_row("pingmesh events: 256 hosts, with jobs",
	    (double)s.n_probes / seconds, "probes/s", '-', 0);
	s.rows_unread = 1;
	seconds = bench_best(ROUNDS, live, &s);
	bench_row("pingmesh events: 256 hosts, uploaded and held",
	    (double)s.n_probes / seconds, "probes/s", '>', 2e6);
	close_subject(&s);
	bench_row("pingmesh events: a probe until its window is over",
	    XP_HELD_ROW, "bytes", '<', 24);
}

/* --- memory --------------------------------------------------------------- */

struct cost {
	double bytes, seconds; /* peak, resident; of a processor */
	uint64_t n_probes;
};

/* In a process of its own, so that its peak is its own. */
static struct cost record(const char *network, const char *keys, double seconds)
{
	char path[64], temp[] = "/tmp/culprit-bench-XXXXXX";
	struct xp_recorded n;
	struct rusage use;
	struct cost c = {0};
	struct sim_err e = {0};
	int fd = mkstemp(temp), status = 1, pipes[2];
	if (fd < 0 || pipe(pipes) < 0)
		must(sim_fail(&e, SIM_EIO, "no temporary file."), &e);
	snprintf(path, sizeof(path), "%s", temp);
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		struct xp_spec s;
		open_spec(&s, network, keys, seconds);
		must(xp_record_cell(&s, 0, 0, path, &n, &e), &e);
		_exit(write(pipes[1], &n, sizeof(n)) != sizeof(n));
	}
	close(pipes[1]);
	if (child < 0 || wait4(child, &status, 0, &use) != child ||
	    status != 0 || read(pipes[0], &n, sizeof(n)) != sizeof(n))
		must(sim_fail(&e, SIM_EIO, "nothing was recorded."), &e);
	c.bytes = (double)use.ru_maxrss * 1024;
	c.seconds = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	    (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
	c.n_probes = n.count.n_records;
	close(pipes[0]);
	close(fd);
	unlink(path);
	return c;
}

static void bench_memory(void)
{
	const struct cost early = record(SMALL, "window: 60, ", 600);
	const struct cost late = record(SMALL, "window: 60, ", 3600);
	bench_row("pingmesh record: 256 hosts, 10 minutes",
	    early.bytes / (1 << 20), "MiB", '-', 0);
	bench_row("  an hour of it / 10 minutes", late.bytes / early.bytes, "x",
	    '<', 1.1);
	bench_row("  an hour of it, compressed and written",
	    (double)late.n_probes / late.seconds, "probes/s", '-', 0);
	/* So the memory of an hour is that of the first minutes. */
	const struct cost large = record(LARGE, SLOW "window: 60, ", 240);
	bench_row("pingmesh record: 10,000 hosts, as of an hour",
	    large.bytes / (1 << 20), "MiB", '<', 2048);
	bench_row("  processor time of that hour",
	    large.seconds / (double)large.n_probes * 10000 *
		(39 / 100. + 249 / 300.) * 3600,
	    "s", '-', 0);
}

void bench_events(void)
{
	bench_speed();
	bench_memory();
}
