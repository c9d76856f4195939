/* tests/bench_pingmesh_bulk.c -- a day of 100,000 servers' probes, with tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/pingmesh/bulk/connects.h"
#include "experiments/pingmesh/bulk/run.h"
#include "experiments/pingmesh/bulk/tables.h"
#include "tests/bench.h"

/* 2,500 ToRs of 40 servers, 2,538 peers each, a probe of each every 100 s: about
 * the 2 x 10^11 a day of the paper. */
static const struct topo_clos shape = {50, 50, 8, 16, 40, .n_cables = 0};
enum { WINDOW_S = 600, WINDOWS = 144 };

struct subject {
	struct topo topo;
	struct scene scene;
	struct xp_pingmesh p;
	struct algo_pinglist plan;
	struct connects_params connects;
	struct connects *c;
	struct xp_mesh_sums sums;
	struct xp_dsa dsa;
	struct xp_buckets buckets;
	struct obs_perf perf;
	struct xp_dsa_tables tables;
	struct xp_mesh_jobs jobs;
	uint64_t n_rows, n_table_rows, n_probes;
	uint32_t n_windows;
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

static int take(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct subject *s = arg;
	s->n_rows++;
	return xp_mesh_sums_take(&s->sums, r, e);
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
	const struct xp_dsa_services none = {.n = 0};
	struct algo_drop_ladder ladder;
	struct obs_probes waits = {0};
	struct sim_yaml y;
	struct sim_err e;
	open_scene(s);
	must(sim_yaml_parse(&y, "bench", text, sizeof(text) - 1, &e), &e);
	must(xp_pingmesh_read(&y, &s->topo, &s->p, &e), &e);
	must(sim_yaml_verdict(&y, &e), &e);
	sim_yaml_free(&y);
	s->p.duration_s = WINDOWS * WINDOW_S;
	const struct topo_dc dc = topo_dc_alone(&s->topo.clos);
	must(xp_dsa_open(&s->dsa, &dc, &none, &s->p.dsa, &e), &e);
	must(algo_pinglist_open(&s->plan, &s->p.pinglist, &s->topo.clos, 1, &e),
	    &e);
	must(xp_bulk_mesh_connects(&s->connects, &s->plan, &s->p, &e), &e);
	must(connects_open(&s->c, &s->topo, &s->connects, &e), &e);
	must(connects_begin(s->c, &s->scene, &e), &e);
	xp_pingmesh_waits(&s->p, waits.syn_wait_ns);
	must(xp_dsa_ladder(&s->dsa, &waits, &ladder, &e), &e);
	must(xp_mesh_sums_open(&s->sums, &s->topo.clos, &s->connects, &ladder,
		 WINDOW_S * SIM_SEC, 300 * SIM_SEC, 0, &e),
	    &e);
	xp_buckets_init(&s->buckets, s->connects.law, s->connects.late_ns);
}

static void close_all(struct subject *s)
{
	connects_close(s->c);
	xp_mesh_sums_close(&s->sums);
	xp_dsa_close(&s->dsa);
	obs_perf_free(&s->perf);
	xp_dsa_tables_free(&s->tables);
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
	const struct connects_taker taker = {s, take, NULL};
	struct sim_rng r;
	struct sim_err e;
	s->n_rows = s->n_table_rows = s->n_probes = 0;
	xp_mesh_sums_clear(&s->sums);
	for (uint32_t w = 0; w < s->n_windows; w++) {
		const sim_ns from = w * WINDOW_S * SIM_SEC;
		xp_mesh_sums_clear(&s->sums);
		xp_mesh_sums_begin(&s->sums, from);
		sim_rng_init(&r, &s->scene.where, SIM_STREAM_CONNECTS,
		    UINT32_C(1) << 31 | w);
		must(connects_window(s->c, from, from + WINDOW_S * SIM_SEC, w,
			 &taker, &e),
		    &e);
		if (s->jobs.jobs) {
			xp_dsa_tables_clear(&s->tables);
			must(xp_mesh_tables(&s->sums, &s->dsa, &s->jobs, &r,
				 &s->perf, &s->tables, &e),
			    &e);
			s->n_table_rows += n_rows_of(&s->tables);
			s->n_probes += s->tables.summary.row[0].n_probes;
		}
	}
	bench_sink += s->n_rows;
}

void bench_pingmesh_bulk(void)
{
	static struct subject s;
	const uint32_t scopes = 1u << ALGO_SLA_TOR | 1u << ALGO_SLA_POD |
	    1u << ALGO_SLA_DC | 1u << ALGO_SLA_SERVICE;
	open_all(&s);
	s.n_windows = WINDOWS;
	double seconds = bench_best(1, day, &s);
	bench_row("pingmesh in bulk: a day, counts alone", seconds, "s", '-',
	    0);
	bench_row("pingmesh in bulk: rows of late probes", (double)s.n_rows,
	    "1", '-', 0);
	bench_row("pingmesh in bulk: a row", seconds * 1e9 / (double)s.n_rows,
	    "ns", '-', 0);
	s.jobs = (struct xp_mesh_jobs){XP_DSA_DROP_RATE | XP_DSA_SLA |
		XP_DSA_HEATMAP | XP_DSA_SILENT_DROP | XP_DSA_COUNTERS,
	    scopes, &s.buckets};
	seconds = bench_best(1, day, &s);
	bench_row("pingmesh in bulk: probes of the day", (double)s.n_probes,
	    "1", '>', 2e11);
	bench_row("pingmesh in bulk: with all tables", seconds, "s", '<', 10);
	bench_row("pingmesh in bulk: rows of tables", (double)s.n_table_rows,
	    "1", '-', 0);
	s.jobs.scopes |= 1u << ALGO_SLA_SERVER;
	s.n_windows = WINDOWS / 24;
	seconds = 24 * bench_best(1, day, &s);
	bench_row("pingmesh in bulk: and each server's P50, P99, of an hour, "
		  "times 24",
	    seconds, "s", '<', 60);
	bench_row("pingmesh in bulk: all memory",
	    (double)bench_peak_bytes() / (1 << 20), "MiB", '<', 512);
	close_all(&s);
}
