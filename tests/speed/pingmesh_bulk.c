/* tests/speed/pingmesh_bulk.c -- a day of 100,000 servers' probes, with tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/pingmesh/bulk/day.h"
#include "tests/speed/bench.h"

/* 2,500 ToRs of 40 servers, 2,538 peers each, a probe of each every 100 s: about
 * the 2 x 10^11 a day of the paper. */
static const struct topo_clos shape = {50, 50, 8, 16, 40, .n_cables = 0};
enum { WINDOW_S = 600, WINDOWS = 144 };

struct subject {
	struct topo topo;
	struct scene scene;
	struct xp_pingmesh p;
	struct xp_mesh_day day;
	uint64_t n_table_rows, n_probes;
	uint32_t n_windows;
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

/* Round trips of 4, 8 and 12 links, each of which loses as many. */
static void open_scene(struct subject *s)
{
	struct scene_params p = {.n_groups = 0};
	const struct sim_seed where = {.seed = 1};
	struct sim_err e;
	must(topo_open_clos(&s->topo, &shape, &e), &e);
	must(sim_field_defaults(scene_traffic_fields, &p.traffic, &e), &e);
	must(sim_field_defaults(scene_noise_fields, &p.noise, &e), &e);
	p.traffic.conns = (struct sim_dist){SIM_FIXED, 0, 0};
	p.noise.rate = (struct sim_dist){SIM_FIXED, 6e-6, 6e-6};
	must(scene_draw(&s->scene, &s->topo, &p, &where, &e), &e);
}

static void open_all(struct subject *s)
{
	static const char text[] =
	    "pingmesh: {window: 600, pinglist: {tor_interval_s: 100, "
	    "dc_interval_s: 100}}\n";
	struct sim_yaml y;
	struct sim_err e;
	open_scene(s);
	must(sim_yaml_parse(&y, "bench", text, sizeof(text) - 1, &e), &e);
	must(xp_pingmesh_read(&y, &s->topo, &s->p, &e), &e);
	must(sim_yaml_verdict(&y, &e), &e);
	sim_yaml_free(&y);
	s->p.duration_s = WINDOWS * WINDOW_S;
	must(xp_mesh_day_open(&s->day, &s->topo, &s->p, &s->scene, &e), &e);
}

static void close_all(struct subject *s)
{
	xp_mesh_day_close(&s->day);
	scene_free(&s->scene);
	topo_close(&s->topo);
}

static size_t n_rows_of(const struct xp_dsa_tables *t)
{
	return t->drop_rate.n + t->sla.n + t->heatmap.n +
	    t->silent_drop_cells.n + t->counters.n + t->summary.n;
}

/* The first windows of a day; tables are told and forgotten, as they go to a file. */
static void day(void *arg)
{
	struct subject *s = arg;
	struct xp_mesh_day *d = &s->day;
	struct sim_err e;
	s->n_table_rows = s->n_probes = d->n_rows = 0;
	for (uint32_t w = 0; w < s->n_windows; w++) {
		must(xp_mesh_day_window(d, w, &e), &e);
		s->n_table_rows += n_rows_of(&d->tables);
		if (d->tables.summary.n > 0)
			s->n_probes += d->tables.summary.row[0].n_probes;
	}
	bench_sink += d->n_rows;
}

void bench_pingmesh_bulk(void)
{
	static struct subject s;
	open_all(&s);
	const struct xp_mesh_jobs all = s.day.jobs;
	s.day.jobs.jobs = 0;
	s.n_windows = WINDOWS;
	double seconds = bench_best(1, day, &s);
	bench_row("pingmesh in bulk: a day, counts alone", seconds, "s", '-',
	    0);
	bench_row("pingmesh in bulk: rows of late probes", (double)s.day.n_rows,
	    "1", '-', 0);
	bench_row("pingmesh in bulk: a row",
	    seconds * 1e9 / (double)s.day.n_rows, "ns", '-', 0);
	s.day.jobs = all;
	s.day.jobs.scopes &= ~(1u << ALGO_SLA_SERVER);
	seconds = bench_best(3, day, &s);
	bench_row("pingmesh in bulk: probes of the day", (double)s.n_probes,
	    "1", '>', 2e11);
	bench_row("pingmesh in bulk: with all tables", seconds, "s", '<', 10);
	bench_row("pingmesh in bulk: rows of tables", (double)s.n_table_rows,
	    "1", '-', 0);
	s.day.jobs = all;
	s.n_windows = WINDOWS / 24;
	seconds = 24 * bench_best(1, day, &s);
	bench_row("pingmesh in bulk: and each server's P50, P99, of an hour, "
		  "times 24",
	    seconds, "s", '<', 60);
	bench_row("pingmesh in bulk: all memory",
	    (double)bench_peak_bytes() / (1 << 20), "MiB", '<', 512);
	close_all(&s);
}
