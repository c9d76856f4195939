/* tests/speed/jobs.c -- recordings and jobs: rows a second, ms a window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/pingmesh/dsa/dsa.h"
#include "results/recording.h"
#include "sim/rng.h"
#include "tests/speed/bench.h"

/* 100 ToRs of 20 servers; a probe of each to another server every 1.2 s. */
enum { N_PROBES = 1000000, WINDOW_S = 600 };

struct subject {
	char path[64];
	struct res_recording_info info;
	struct obs_probes probes, got;
	struct obs_perf counters;
	struct xp_dsa_params params;
	struct xp_dsa dsa;
	struct xp_dsa_tables tables;
	uint32_t jobs;
	sim_ns from, to;
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

/* As of a healthy network: one connect in 20,000 lost a SYN. */
static struct obs_probe draw(const struct topo_clos *c, uint32_t i,
    struct sim_rng *r)
{
	const uint32_t src = sim_rng_below(r, c->all_hosts);
	const uint32_t dst =
	    (src + 1 + sim_rng_below(r, c->all_hosts - 1)) % c->all_hosts;
	return (struct obs_probe){
	    .sent_ns = (sim_ns)WINDOW_S * SIM_SEC / N_PROBES * i +
		sim_rng_below(r, 1000000000),
	    .rtt_ns = 200 * SIM_US + sim_rng_below(r, 1 << 20) +
		(sim_rng_below(r, 20000) ? 0 : 3 * SIM_SEC),
	    .src_host = src,
	    .dst_host = dst,
	    .src_port = (uint16_t)(32768 + sim_rng_below(r, 16384)),
	    .dst_port = 5000,
	    .level = src / c->n_hosts == dst / c->n_hosts ? OBS_LEVEL_TOR
							  : OBS_LEVEL_DC,
	};
}

static void fill(struct subject *s)
{
	struct sim_err e;
	struct sim_rng r;
	const struct sim_seed where = {.seed = 1};
	sim_rng_init(&r, &where, SIM_STREAM_TEST, 0);
	for (uint32_t i = 0; i < N_PROBES; i++) {
		const struct obs_probe p = draw(&s->info.dc[0].clos, i, &r);
		must(obs_probes_add(&s->probes, &p, &e), &e);
	}
	for (uint32_t h = 0; h < s->info.dc[0].clos.all_hosts; h++) {
		const struct obs_perf_row row = {300 * SIM_SEC, h, 500, 500, 0,
		    1, 0, 300000, 900000};
		must(obs_perf_add(&s->counters, &row, &e), &e);
	}
}

static void write_all(void *arg)
{
	struct subject *s = arg;
	struct res_recorder *w;
	struct sim_err e;
	must(res_recorder_open(&w, s->path, &s->info, &e), &e);
	must(res_recorder_probes(w, &s->probes, &e), &e);
	must(res_recorder_covers(w, 0, s->info.duration_ns, &e), &e);
	must(res_recorder_finish(w, &e), &e);
}

static void read_window(void *arg)
{
	struct subject *s = arg;
	struct res_recording *r;
	struct sim_err e;
	must(res_recording_open(&r, s->path, &e), &e);
	must(res_recording_probes(r, s->from, s->to, &s->got, &e), &e);
	res_recording_close(r);
	bench_sink += s->got.n;
}

static void run_jobs(void *arg)
{
	struct subject *s = arg;
	const struct xp_dsa_window w = {0, WINDOW_S * SIM_SEC,
	    WINDOW_S * SIM_SEC};
	struct sim_err e;
	xp_dsa_tables_clear(&s->tables);
	must(xp_dsa_run(&s->dsa, &w, s->jobs, &s->probes, &s->counters,
		 &s->tables, &e),
	    &e);
	bench_sink += s->tables.summary.n;
}

static void bench_files(struct subject *s)
{
	struct stat st;
	const double write_s = bench_best(3, write_all, s);
	s->to = SIM_NEVER;
	const double read_s = bench_best(3, read_window, s);
	s->from = 300 * SIM_SEC;
	s->to = 310 * SIM_SEC;
	const double tenth_s = bench_best(3, read_window, s);
	if (stat(s->path, &st) < 0)
		exit(1);
	bench_row("recording: rows written", N_PROBES / write_s / 1e6, "M/s",
	    '>', 1);
	bench_row("recording: rows read", N_PROBES / read_s / 1e6, "M/s", '>',
	    6);
	bench_row("recording: 10 s of 600 s against all", tenth_s / read_s,
	    "ratio", '<', 0.3);
	bench_row("recording: a row", (double)st.st_size / N_PROBES, "bytes",
	    '<', 20);
}

static void bench_job(struct subject *s, const char *what, uint32_t jobs)
{
	s->jobs = jobs;
	bench_row(what, bench_best(3, run_jobs, s) * 1e3, "ms", '-', 0);
}

static void open_subject(struct subject *s)
{
	const struct xp_dsa_services none = {0};
	const struct topo_clos shape = {5, 20, 4, 8, 20, .n_cables = 0};
	struct sim_err e;
	*s = (struct subject){.info = {.duration_ns = WINDOW_S * SIM_SEC,
				  .syn_wait_ns = {3 * SIM_SEC, 6 * SIM_SEC},
				  .n_dcs = 1,
				  .dc = {{.clos = shape}}},
	    .probes.syn_wait_ns = {3 * SIM_SEC, 6 * SIM_SEC}};
	snprintf(s->path, sizeof(s->path), P_tmpdir "/culprit-bench-%ld.h5",
	    (long)getpid());
	must(topo_clos_init(&s->info.dc[0].clos, &e), &e);
	must(xp_dsa_params_read(&s->params, "", &e), &e);
	must(xp_dsa_open(&s->dsa, &s->info.dc[0], &none, &s->params, &e), &e);
	fill(s);
}

void bench_jobs(void)
{
	struct subject s;
	open_subject(&s);
	bench_files(&s);
	bench_job(&s, "probe analysis: 1 M probes, drop rates",
	    XP_DSA_DROP_RATE);
	bench_job(&s, "probe analysis: 1 M probes, service levels", XP_DSA_SLA);
	bench_job(&s, "probe analysis: 1 M probes, two heat maps",
	    XP_DSA_HEATMAP);
	bench_job(&s, "probe analysis: 1 M probes, black holes",
	    XP_DSA_BLACKHOLE);
	bench_job(&s, "probe analysis: 1 M probes, silent drops",
	    XP_DSA_SILENT_DROP);
	bench_job(&s, "probe analysis: counters of 2000 servers",
	    XP_DSA_COUNTERS);
	s.jobs = xp_dsa_jobs_of(600 * SIM_SEC);
	bench_row("probe analysis: 1 M probes, 10-minute jobs",
	    bench_best(3, run_jobs, &s) * 1e3, "ms", '<', 300);
	s.jobs = xp_dsa_jobs_of(3600 * SIM_SEC);
	bench_row("probe analysis: 1 M probes, 1-hour jobs",
	    bench_best(3, run_jobs, &s) * 1e3, "ms", '<', 400);
	unlink(s.path);
	xp_dsa_close(&s.dsa);
	xp_dsa_tables_free(&s.tables);
	obs_probes_free(&s.probes);
	obs_probes_free(&s.got);
	obs_perf_free(&s.counters);
}
