/* tests/experiments/pingmesh/dsa_test.c -- windows by brute force.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * experiments_pingmesh_dsa_test write FILE: a recording for
 * tests/cli/jobs.sh; see write_scene(). */
#include "experiments/pingmesh/dsa/out.h"

#include <sys/stat.h>
#include <unistd.h>

#include "results/file.h"
#include "results/h5_table.h"
#include "tests/rigs/dsa.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/recordings.h"
#include "tests/test.h"

static int same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

enum { ALL_JOBS = 63, ON_PROBES = ALL_JOBS & ~XP_DSA_COUNTERS };

/* --- against the algorithms ------------------------------------------------*/

static void assert_drop_rate(const struct dsa_fixture *f, uint32_t dc,
    const struct obs_probes *t, const struct algo_drop_ladder *ladder,
    const struct xp_dsa_tables *out)
{
	struct algo_drop_rate want[ALGO_DROP_N_GROUPS];
	assert_ok(
	    algo_drop_rate(t, &f->info.dc[dc], ladder, 0.9, want, test_err()));
	assert_int_equal(out->drop_rate.n, ALGO_DROP_N_GROUPS);
	for (size_t i = 0; i < ALGO_DROP_N_GROUPS; i++) {
		const struct xp_dsa_drop_rate_row *r = &out->drop_rate.row[i];
		assert_int_equal(r->group, i);
		assert_int_equal(r->n_success, want[i].n_success);
		assert_int_equal(r->n_drop, want[i].n_drop);
		assert_int_equal(r->n_unclear, want[i].n_unclear);
		assert_int_equal(r->n_failed, want[i].n_failed);
		assert_true(same(r->drop_rate, want[i].rate));
		assert_true(same(r->drop_rate_lo, want[i].lo));
		assert_true(same(r->drop_rate_hi, want[i].hi));
	}
	assert_true(
	    same(out->summary.row[0].drop_rate, want[ALGO_DROP_ALL].rate));
}

/* Services of recordings_info() are hosts 0 to 3, 9 and host 4: of the first
 * data centre. */
static void assert_sla(const struct dsa_fixture *f, uint32_t dc,
    const struct obs_probes *t, const struct algo_drop_ladder *ladder,
    const struct xp_dsa_tables *out)
{
	static const topo_host web[] = {0, 1, 2, 3, 9}, db[] = {4};
	const struct algo_sla_service service[] = {{"web", web, 5},
	    {"db", db, 1}};
	const uint32_t n_services = dc == 0 ? 2 : 0;
	struct algo_rtt_order order = {.n = 0};
	struct algo_sla s;
	size_t i = 0, n_alerts = 0;
	assert_ok(algo_sla_open(&s, &f->info.dc[dc], &f->params.sla, service,
	    n_services, test_err()));
	assert_ok(algo_rtt_order_make(&order, t, test_err()));
	algo_sla_measure(&s, &order, ladder);
	assert_int_equal(out->sla.n, s.first[ALGO_SLA_N_KINDS]);
	for (int k = 0; k < ALGO_SLA_N_KINDS; k++)
		for (uint32_t id = 0; id < s.first[k + 1] - s.first[k]; id++) {
			const struct xp_dsa_sla_row *r = &out->sla.row[i++];
			const struct algo_sla_scope *want =
			    algo_sla_at(&s, (enum algo_sla_kind)k, id);
			assert_int_equal(r->kind, k);
			assert_int_equal(r->id, id);
			assert_int_equal(r->n_success, want->n_success);
			assert_int_equal(r->n_drop, want->n_drop);
			assert_true(same(r->drop_rate, want->drop_rate));
			assert_true(same(r->p50_us, want->p50_us));
			assert_true(same(r->p99_us, want->p99_us));
			assert_int_equal(r->alert_drop + 2 * r->alert_p99,
			    want->alerts);
			assert_int_equal(r->verdict,
			    k == ALGO_SLA_SERVICE ? 1 + s.verdict[id] : 0);
			n_alerts += want->alerts != 0;
		}
	assert_true(same(out->summary.row[0].n_alerts, (double)n_alerts));
	assert_true(same(out->summary.row[0].p99_us,
	    algo_sla_at(&s, ALGO_SLA_DC, 0)->p99_us));
	algo_sla_close(&s);
	algo_rtt_order_free(&order);
}

static size_t assert_matrix(const struct dsa_fixture *f, uint32_t dc,
    enum algo_heatmap_unit unit, const struct obs_probes *t,
    const struct xp_dsa_tables *out, size_t at, uint8_t pattern)
{
	struct algo_rtt_order order = {.n = 0};
	struct algo_heatmap m = {0};
	enum algo_heatmap_pattern want;
	assert_ok(algo_rtt_order_make(&order, t, test_err()));
	assert_ok(algo_heatmap_measure(&m, &order, &f->info.dc[dc], unit,
	    test_err()));
	algo_rtt_order_free(&order);
	assert_ok(
	    algo_heatmap_classify(&m, &f->params.heatmap, &want, test_err()));
	assert_int_equal(pattern, 1 + want);
	for (size_t i = 0; i < (size_t)m.n_units * m.n_units; i++) {
		const struct xp_dsa_heatmap_row *r = &out->heatmap.row[at++];
		assert_int_equal(r->unit, unit);
		assert_int_equal(r->src, i / m.n_units);
		assert_int_equal(r->dst, i % m.n_units);
		assert_true(same(r->p99_us, m.p99_us[i]));
	}
	algo_heatmap_free(&m);
	return at;
}

static void assert_blackhole(const struct dsa_fixture *f, uint32_t dc,
    const struct obs_probes *t, const struct xp_dsa_tables *out)
{
	const struct obs_probe_source all = obs_probes_whole(t);
	struct algo_blackhole b;
	double n[4] = {0};
	assert_ok(algo_blackhole_open(&b, &f->info.dc[dc], &f->params.blackhole,
	    test_err()));
	assert_ok(algo_blackhole_diagnose(&b, &all, 0, test_err()));
	assert_int_equal(out->blackhole_tors.n, f->info.dc[dc].clos.all_tors);
	for (size_t i = 0; i < out->blackhole_tors.n; i++) {
		const struct xp_dsa_blackhole_tors_row *r =
		    &out->blackhole_tors.row[i];
		assert_int_equal(r->tor, i);
		assert_int_equal(r->n_alive, b.tor[i].n_alive);
		assert_int_equal(r->n_symptom, b.tor[i].n_symptom);
		assert_int_equal(r->action, b.tor[i].action);
		assert_true(same(r->score, b.tor[i].score));
		n[r->action]++;
	}
	assert_true(out->summary.row[0].n_reload == n[1]);
	assert_true(out->summary.row[0].n_defer == n[2]);
	assert_true(out->summary.row[0].n_escalate == n[3]);
	algo_blackhole_close(&b);
}

static void assert_silent_drop(const struct dsa_fixture *f, uint32_t dc,
    const struct obs_probes *t, const struct algo_drop_ladder *ladder,
    const struct xp_dsa_tables *out)
{
	const struct obs_probe_source all = obs_probes_whole(t);
	struct algo_silent_drop s;
	assert_ok(algo_silent_drop_open(&s, &f->info.dc[dc], &f->params.silent,
	    test_err()));
	assert_ok(algo_silent_drop_find(&s, &all, ladder, test_err()));
	assert_int_equal(out->silent_drop_cells.n, s.n_cells);
	for (size_t i = 0; i < s.n_cells; i++) {
		const struct xp_dsa_silent_drop_cells_row *r =
		    &out->silent_drop_cells.row[i];
		assert_int_equal(r->rank, i);
		assert_int_equal(r->pod, s.cell[i].pod);
		assert_int_equal(r->pod2, s.cell[i].pod2);
		assert_int_equal(r->n_success, s.cell[i].n_success);
		assert_int_equal(r->n_drop, s.cell[i].n_drop);
		assert_true(same(r->drop_rate_lo, s.cell[i].lo));
		assert_true(same(r->drop_rate_hi, s.cell[i].hi));
		assert_int_equal(r->suffers, s.cell[i].suffers);
	}
	assert_int_equal(out->summary.row[0].tier, 1 + s.tier);
	algo_silent_drop_close(&s);
}

#define assert_key(row_, key_)                                                 \
	do {                                                                   \
		assert_int_equal((row_)->data_centre, (key_)->data_centre);    \
		assert_true((row_)->from_s == (key_)->from_s);                 \
		assert_true((row_)->to_s == (key_)->to_s);                     \
		assert_true((row_)->seen_share == (key_)->seen_share);         \
		assert_int_equal((row_)->n_probes, (key_)->n_probes);          \
	} while (0)

static void rows_are_what_the_algorithms_say(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 30; run++) {
		struct dsa_fixture f;
		dsa_fixture_open(&f, 2, 40 + 200 * (run % 5), run);
		for (uint32_t dc = 0; dc < 2; dc++) {
			const struct xp_dsa_window w = {0, 600 * SIM_SEC,
			    600 * SIM_SEC};
			struct xp_dsa d;
			struct xp_dsa_tables out = {0};
			struct obs_probes t = {0};
			struct algo_drop_ladder l;
			assert_ok(xp_dsa_local_probes(&f.all, &f.info.dc[dc],
			    &t, test_err()));
			assert_ok(algo_drop_ladder_init(&l, f.info.syn_wait_ns,
			    2, SIM_SEC / 2, test_err()));
			assert_ok(dsa_fixture_dc(&f, dc, &d, test_err()));
			assert_ok(xp_dsa_run(&d, &w, ON_PROBES, &t, NULL, &out,
			    test_err()));
			assert_int_equal(out.summary.n, 1);
			const struct xp_dsa_summary_row *s = out.summary.row;
			assert_int_equal(s->data_centre, dc);
			assert_int_equal(s->n_probes, t.n);
			assert_drop_rate(&f, dc, &t, &l, &out);
			assert_sla(&f, dc, &t, &l, &out);
			const size_t n = assert_matrix(&f, dc, ALGO_HEATMAP_TOR,
			    &t, &out, 0, s->tor_pattern);
			assert_int_equal(assert_matrix(&f, dc, ALGO_HEATMAP_POD,
					     &t, &out, n, s->pod_pattern),
			    out.heatmap.n);
			assert_blackhole(&f, dc, &t, &out);
			assert_silent_drop(&f, dc, &t, &l, &out);
			assert_int_equal(out.counters.n, 0);
#define X(table, columns)                                                      \
	for (size_t i = 0; i < out.table.n; i++)                               \
		assert_key(&out.table.row[i], s);
			XP_DSA_WINDOW_TABLES(X)
#undef X
			xp_dsa_tables_free(&out);
			xp_dsa_close(&d);
			obs_probes_free(&t);
		}
		dsa_fixture_close(&f);
	}
}

static void jobs_not_run_leave_no_rows(void **state)
{
	(void)state;
	struct dsa_fixture f;
	dsa_fixture_open(&f, 1, 100, 0);
	for (uint32_t jobs = 0; jobs <= ALL_JOBS; jobs++) {
		const struct xp_dsa_window w = {0, SIM_SEC, SIM_SEC};
		struct xp_dsa d;
		struct xp_dsa_tables out = {0};
		assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
		assert_ok(xp_dsa_run(&d, &w, jobs, &f.all, &f.perf, &out,
		    test_err()));
		const struct xp_dsa_summary_row *s = out.summary.row;
		assert_int_equal(out.drop_rate.n > 0, (jobs >> 0) & 1);
		assert_int_equal(out.sla.n > 0, (jobs >> 1) & 1);
		assert_int_equal(out.heatmap.n > 0, (jobs >> 2) & 1);
		assert_int_equal(out.blackhole_tors.n > 0, (jobs >> 3) & 1);
		assert_int_equal(out.silent_drop_cells.n > 0, (jobs >> 4) & 1);
		assert_int_equal(out.counters.n > 0, (jobs >> 5) & 1);
		assert_int_equal(s->tor_pattern > 0, (jobs >> 2) & 1);
		assert_int_equal(s->tier > 0, (jobs >> 4) & 1);
		assert_int_equal(!isnan(s->n_reload), (jobs >> 3) & 1);
		assert_int_equal(!isnan(s->n_alerts), (jobs & 34) > 0);
		xp_dsa_tables_free(&out);
		xp_dsa_close(&d);
	}
	dsa_fixture_close(&f);
}

static void the_length_of_a_window_chooses_its_jobs(void **state)
{
	(void)state;
	assert_int_equal(xp_dsa_jobs_of(300 * SIM_SEC), XP_DSA_COUNTERS);
	assert_int_equal(xp_dsa_jobs_of(600 * SIM_SEC),
	    XP_DSA_DROP_RATE | XP_DSA_SLA | XP_DSA_HEATMAP | XP_DSA_HTTP);
	assert_int_equal(xp_dsa_jobs_of(3600 * SIM_SEC),
	    ON_PROBES | XP_DSA_HTTP);
	assert_int_equal(xp_dsa_jobs_of(86400 * SIM_SEC),
	    (ON_PROBES | XP_DSA_HTTP) & ~XP_DSA_SILENT_DROP);
}

/* --- one data centre of several --------------------------------------------*/

static void local_tables_are_those_of_one_data_centre(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct dsa_fixture f;
		size_t n = 0, n_perf = 0, n_far = 0;
		dsa_fixture_open(&f, 2, 500, run);
		for (uint32_t dc = 0; dc < 2; dc++) {
			const struct topo_dc *at = &f.info.dc[dc];
			const uint32_t size = at->clos.all_hosts;
			struct obs_probes t = {0};
			struct obs_perf p = {0};
			assert_ok(
			    xp_dsa_local_probes(&f.all, at, &t, test_err()));
			assert_ok(
			    xp_dsa_local_counters(&f.perf, at, &p, test_err()));
			assert_ok(obs_probes_check(&t, at->first_host, size,
			    test_err()));
			assert_ok(obs_perf_check(&p, at->first_host, size,
			    test_err()));
			assert_memory_equal(t.syn_wait_ns, f.all.syn_wait_ns,
			    sizeof(t.syn_wait_ns));
			for (size_t i = 0; i < t.n; i++)
				n_far += t.level[i] == OBS_LEVEL_INTER_DC &&
				    !topo_dc_has(at, t.dst_host[i]);
			n += t.n;
			n_perf += p.n;
			obs_probes_free(&t);
			obs_perf_free(&p);
		}
		assert_int_equal(n, f.all.n);
		assert_int_equal(n_perf, f.perf.n);
		for (size_t i = 0; i < f.all.n; i++)
			n_far -= f.all.level[i] == OBS_LEVEL_INTER_DC;
		assert_int_equal(n_far, 0);
		dsa_fixture_close(&f);
	}
}

/* --- what was seen ---------------------------------------------------------*/

static struct obs_probe probe(uint32_t src, uint32_t dst)
{
	return (struct obs_probe){.rtt_ns = 250 * SIM_US,
	    .src_host = src,
	    .dst_host = dst,
	    .level = OBS_LEVEL_DC};
}

static double seen(uint32_t n_heard, sim_ns recorded_ns)
{
	struct dsa_fixture f;
	struct xp_dsa d;
	struct xp_dsa_tables out = {0};
	const struct xp_dsa_window w = {SIM_SEC, 5 * SIM_SEC, recorded_ns};
	dsa_fixture_open(&f, 1, 0, 0);
	for (uint32_t h = 0; h < n_heard; h++)
		for (int i = 0; i < 3; i++) {
			const struct obs_probe p = probe(h, (h + 1) % 24);
			assert_ok(obs_probes_add(&f.all, &p, test_err()));
		}
	assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
	assert_ok(xp_dsa_run(&d, &w, XP_DSA_DROP_RATE, &f.all, NULL, &out,
	    test_err()));
	const double share = out.drop_rate.row[0].seen_share;
	assert_int_equal(out.summary.row[0].n_silent, 24 - n_heard);
	assert_true(out.summary.row[0].seen_share == share);
	assert_true(out.summary.row[0].from_s == 1);
	assert_true(out.summary.row[0].to_s == 5);
	xp_dsa_tables_free(&out);
	xp_dsa_close(&d);
	dsa_fixture_close(&f);
	return share;
}

static void the_share_seen_is_of_time_and_of_servers(void **state)
{
	(void)state;
	assert_near(seen(24, 4 * SIM_SEC), 1, 0);
	assert_near(seen(24, SIM_SEC), 0.25, 0);
	assert_near(seen(6, 4 * SIM_SEC), 0.25, 0);
	assert_near(seen(12, 2 * SIM_SEC), 0.25, 0);
	assert_near(seen(0, 4 * SIM_SEC), 0, 0);
	assert_near(seen(24, 0), 0, 0);
}

static void what_was_not_recorded_is_not_judged(void **state)
{
	(void)state;
	struct dsa_fixture f;
	struct xp_dsa d;
	struct xp_dsa_tables out = {0};
	struct xp_dsa_window w = {0, SIM_SEC, 0};
	dsa_fixture_open(&f, 1, 0, 0);
	assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
	assert_ok(
	    xp_dsa_run(&d, &w, ALL_JOBS, &f.all, &f.perf, &out, test_err()));
	assert_int_equal(out.summary.n, 1);
	assert_int_equal(out.heatmap.n + out.sla.n + out.counters.n, 0);
	assert_int_equal(out.summary.row[0].tor_pattern, 0);
	/* When a part of the window was recorded, silence does mean that all
	 * servers are down. */
	w.recorded_ns = SIM_SEC;
	assert_ok(
	    xp_dsa_run(&d, &w, ALL_JOBS, &f.all, &f.perf, &out, test_err()));
	assert_int_equal(out.summary.row[1].pod_pattern,
	    1 + ALGO_HEATMAP_POD_DOWN);
	xp_dsa_tables_free(&out);
	xp_dsa_close(&d);
	dsa_fixture_close(&f);
}

/* --- closed forms ----------------------------------------------------------*/

/* 1000 successes, of these 7 at 3 s and 2 at 9 s, and 5 failures. */
static void a_drop_rate_is_what_was_put_in(void **state)
{
	(void)state;
	struct dsa_fixture f;
	struct xp_dsa d;
	struct xp_dsa_tables out = {0};
	const struct xp_dsa_window w = {0, SIM_SEC, SIM_SEC};
	dsa_fixture_open(&f, 1, 0, 0);
	for (int i = 0; i < 1005; i++) {
		struct obs_probe p = probe(0, 23);
		if (i < 9)
			p.rtt_ns += (i < 7 ? 3 : 9) * SIM_SEC;
		if (i >= 1000) {
			p.outcome = OBS_TIMED_OUT;
			p.rtt_ns = 0;
		}
		assert_ok(obs_probes_add(&f.all, &p, test_err()));
	}
	assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
	assert_ok(xp_dsa_run(&d, &w, XP_DSA_DROP_RATE | XP_DSA_SLA, &f.all,
	    NULL, &out, test_err()));
	const struct xp_dsa_drop_rate_row *r =
	    &out.drop_rate.row[ALGO_DROP_INTER_POD];
	assert_int_equal(r->n_success, 1000);
	assert_int_equal(r->n_drop, 9);
	assert_int_equal(r->n_failed, 5);
	assert_near(r->drop_rate, 0.009, 1e-15);
	assert_near(out.summary.row[0].p99_us, 250, 1e-9);
	/* The server alerts, its ToR, its pod, the data centre, and web. */
	assert_near(out.summary.row[0].n_alerts, 5, 0);
	xp_dsa_tables_free(&out);
	xp_dsa_close(&d);
	dsa_fixture_close(&f);
}

/* --- reloads ---------------------------------------------------------------*/

/* Every pair within a ToR or across; those of ToR B with servers of the same
 * index elsewhere time out. 16 hosts: 2 pods of 2 ToRs of 4. */
static const struct topo_clos scene_shape = {2, 2, 2, 2, 4, .n_cables = 0};

static struct obs_probe scene_probe(uint32_t src, uint32_t dst, uint32_t bad)
{
	const uint32_t from = src / 4, to = dst / 4;
	struct obs_probe p = probe(src, dst);
	p.level = from == to ? OBS_LEVEL_TOR : OBS_LEVEL_DC;
	if ((from == bad) != (to == bad) && src % 4 == dst % 4) {
		p.outcome = OBS_TIMED_OUT;
		p.rtt_ns = 0;
	}
	return p;
}

static void reload_in(struct xp_dsa *d, double hour, uint32_t want_reloads,
    uint32_t want_deferred)
{
	struct obs_probes t = {.syn_wait_ns = {3 * SIM_SEC}};
	struct xp_dsa_tables out = {0};
	struct xp_dsa_window w = {.from = (sim_ns)(hour * 3600e9)};
	w.to = w.from + 3600 * SIM_SEC;
	for (uint32_t i = 0; i < 16 * 16 * 3; i++) {
		const struct obs_probe p = scene_probe(i % 16, i / 16 % 16, 1);
		if (p.src_host != p.dst_host)
			assert_ok(obs_probes_add(&t, &p, test_err()));
	}
	assert_ok(
	    xp_dsa_run(d, &w, XP_DSA_BLACKHOLE, &t, NULL, &out, test_err()));
	assert_near(out.summary.row[0].n_reload, want_reloads, 0);
	assert_near(out.summary.row[0].n_defer, want_deferred, 0);
	xp_dsa_tables_free(&out);
	obs_probes_free(&t);
}

static void reloads_of_a_day_share_its_budget(void **state)
{
	(void)state;
	const struct xp_dsa_services none = {0};
	struct topo_clos shape = scene_shape;
	struct xp_dsa_params p;
	struct xp_dsa d;
	assert_ok(topo_clos_init(&shape, test_err()));
	assert_ok(xp_dsa_params_read(&p,
	    "pingmesh: {blackhole: {rule: paper, max_reloads: 2}}",
	    test_err()));
	const struct topo_dc dc = topo_dc_alone(&shape);
	assert_ok(xp_dsa_open(&d, &dc, &none, &p, test_err()));
	reload_in(&d, 21, 1, 0);
	reload_in(&d, 22, 1, 0);
	reload_in(&d, 23, 0, 1);
	reload_in(&d, 24, 1, 0);
	xp_dsa_close(&d);
}

/* --- files -----------------------------------------------------------------*/

static int write_out(const struct dsa_fixture *f, const char *path,
    const struct xp_dsa_tables *t, int twice, struct sim_err *e)
{
	const struct xp_dsa_source source = {.recording = "rec.h5",
	    .recorded_by = "1.2",
	    .spec = "figure: x\n",
	    .window_ns = 600 * SIM_SEC,
	    .jobs = 5,
	    .services = &f->services};
	struct xp_dsa_head head;
	struct xp_dsa_out *o;
	int rc = xp_dsa_head_make(&head, &source, e);
	if (rc < 0)
		return rc;
	rc = xp_dsa_out_open(&o, path, &head, e);
	xp_dsa_head_free(&head);
	if (rc < 0)
		return rc;
	for (int i = 0; rc == 0 && i <= twice; i++)
		rc = xp_dsa_out_add(o, t, e);
	if (rc == 0)
		return xp_dsa_out_finish(o, e);
	xp_dsa_out_discard(o);
	return rc;
}

static void results_are_read_back(void **state)
{
	(void)state;
	static const struct sim_column col[] = {
	    SIM_COLUMN(double, seen_share, 0, "1", "", NULL),
	    SIM_COLUMN(uint8_t, kind, 0, "1", "", NULL),
	    SIM_COLUMN(uint32_t, id, 0, "1", "", NULL),
	    SIM_COLUMN(uint64_t, n_success, 0, "1", "", NULL),
	};
	const struct xp_dsa_window w = {0, SIM_SEC, SIM_SEC};
	const char *path = test_path("out.h5"), *again = test_path("again.h5");
	struct dsa_fixture f;
	struct xp_dsa d;
	struct xp_dsa_tables t = {0};
	struct res_h5_in *in;
	struct res_h5_table_in *table;
	uint64_t n;
	char *text;
	dsa_fixture_open(&f, 1, 300, 0);
	assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
	assert_ok(
	    xp_dsa_run(&d, &w, ALL_JOBS, &f.all, &f.perf, &t, test_err()));
	assert_ok(write_out(&f, path, &t, 1, test_err()));
	assert_ok(res_h5_in_open(&in, path, test_err()));
	assert_ok(res_h5_in_text(in, "jobs", &text, test_err()));
	assert_string_equal(text, "drop_rate heatmap");
	free(text);
	assert_ok(res_h5_in_text(in, "services", &text, test_err()));
	assert_string_equal(text, "web db");
	free(text);
#define X(name, columns)                                                       \
	assert_ok(res_h5_in_table(in, #name, col, 1, &table, &n, test_err())); \
	assert_int_equal(n, 2 * t.name.n);
	XP_DSA_WINDOW_TABLES(X)
#undef X
	assert_ok(res_h5_in_table(in, "sla", col, 4, &table, &n, test_err()));
	double *seen_share = calloc(n, sizeof(double));
	uint8_t *kind = calloc(n, 1);
	uint32_t *id = calloc(n, 4);
	uint64_t *n_success = calloc(n, 8);
	void *const to[] = {seen_share, kind, id, n_success};
	assert_ok(res_h5_in_read(table, 0, n, to, test_err()));
	for (size_t i = 0; i < n; i++) {
		const struct xp_dsa_sla_row *r = &t.sla.row[i % t.sla.n];
		assert_true(seen_share[i] == r->seen_share);
		assert_int_equal(kind[i], r->kind);
		assert_int_equal(id[i], r->id);
		assert_int_equal(n_success[i], r->n_success);
	}
	res_h5_in_close(in);
	for (int i = 0; i < 4; i++)
		free(to[i]);
	/* The same rows are the same bytes. */
	assert_ok(write_out(&f, again, &t, 1, test_err()));
	test_assert_same_bytes(path, again);
	xp_dsa_tables_free(&t);
	xp_dsa_close(&d);
	dsa_fixture_close(&f);
}

/* --- failures --------------------------------------------------------------*/

static int run_all(void *fixture, struct sim_err *e)
{
	const struct dsa_fixture *f = fixture;
	const struct xp_dsa_window w = {0, SIM_SEC, SIM_SEC};
	struct xp_dsa_services services = {0};
	struct xp_dsa_params p;
	struct xp_dsa d = {0};
	struct xp_dsa_tables out = {0};
	struct obs_probes t = {0};
	struct obs_perf perf = {0};
	const struct topo_dc *dc = &f->info.dc[1];
	int rc;
	if ((rc = xp_dsa_services_read(&services, f->info.service, 36, e)) ==
		0 &&
	    (rc = xp_dsa_params_read(&p, f->info.spec, e)) == 0 &&
	    (rc = dsa_fixture_dc(f, 1, &d, e)) == 0 &&
	    (rc = xp_dsa_local_probes(&f->all, dc, &t, e)) == 0 &&
	    (rc = xp_dsa_local_counters(&f->perf, dc, &perf, e)) == 0 &&
	    (rc = xp_dsa_run(&d, &w, ALL_JOBS, &t, &perf, &out, e)) == 0)
		rc = write_out(f, test_path("alloc.h5"), &out, 0, e);
	xp_dsa_services_free(&services);
	xp_dsa_tables_free(&out);
	xp_dsa_close(&d);
	obs_probes_free(&t);
	obs_perf_free(&perf);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct dsa_fixture f;
	dsa_fixture_open(&f, 2, 100, 0);
	test_each_alloc_fails(run_all, &f);
	dsa_fixture_close(&f);
}

static void bad_rows_are_refused(void **state)
{
	(void)state;
	const struct xp_dsa_window w = {0, SIM_SEC, SIM_SEC};
	const struct obs_probe far = probe(24, 0);
	const struct obs_perf_row beyond = {.host = 24};
	struct dsa_fixture f;
	struct xp_dsa d;
	struct xp_dsa_tables out = {0};
	dsa_fixture_open(&f, 1, 0, 0);
	assert_ok(obs_probes_add(&f.all, &far, test_err()));
	assert_ok(obs_perf_add(&f.perf, &beyond, test_err()));
	assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
	for (uint32_t job = 1; job <= XP_DSA_COUNTERS; job *= 2)
		assert_int_equal(xp_dsa_run(&d, &w, job, &f.all, &f.perf, &out,
				     NULL),
		    SIM_EINVAL);
	assert_int_equal(xp_dsa_order(&d, &f.all, test_err()), SIM_EINVAL);
	assert_non_null(strstr(test_err()->msg, "probe 0"));
	/* Without waits there is no telling what a lost SYN looks like. */
	obs_probes_clear(&f.all);
	memset(f.all.syn_wait_ns, 0, sizeof(f.all.syn_wait_ns));
	assert_int_equal(xp_dsa_run(&d, &w, XP_DSA_SLA, &f.all, NULL, &out,
			     test_err()),
	    SIM_EINVAL);
	assert_non_null(strstr(test_err()->msg, "wait"));
	xp_dsa_tables_free(&out);
	xp_dsa_close(&d);
	dsa_fixture_close(&f);
}

/* --- a recording for tests/cli/jobs.sh -------------------------------------*/

/* An hour of two data centres of 16 hosts, of which the first 50 minutes are
 * recorded. All pairs are probed once a minute. Server 15 of data centre 0 is
 * silent; ToR 1 of data centre 1 black-holes. The K-th recording is K half hours
 * longer, its times grow by the minute, and by K, and every 97th connect lost a
 * SYN if K > 0. */
static void write_scene(const char *path, uint32_t k, const char *service)
{
	struct res_recording_info info = {
	    .spec = "figure: scene\npingmesh: {sla: {min_probes: 100}, "
		    "blackhole: {rule: paper}}\n",
	    .service = service,
	    .duration_ns = (3600 + 1800 * k) * SIM_SEC,
	    .syn_wait_ns = {3 * SIM_SEC, 6 * SIM_SEC},
	    .n_dcs = 2,
	    .dc = {{.clos = scene_shape}, {.clos = scene_shape}},
	};
	struct obs_probes t = {0};
	struct obs_perf perf = {0};
	struct res_recorder *w;
	assert_ok(res_recorder_open(&w, path, &info, test_err()));
	for (uint32_t minute = 0; minute < 50 + 30 * k; minute++)
		for (uint32_t i = 0; i < 2 * 16 * 16; i++) {
			const uint32_t dc = i / 256;
			struct obs_probe p = scene_probe(i % 16, i / 16 % 16,
			    dc == 1 ? 1 : UINT32_MAX);
			if (p.src_host == p.dst_host ||
			    (dc == 0 && p.src_host == 15))
				continue;
			p.sent_ns = (minute * 60 + p.dst_host) * SIM_SEC;
			p.src_host += 16 * dc;
			p.dst_host += 16 * dc;
			p.src_port = (uint16_t)(50000 + minute);
			if (k > 0 && p.outcome == OBS_CONNECTED)
				p.rtt_ns += minute * i * k * 10 +
				    (i % 97 == 0 ? 3 * SIM_SEC : 0);
			assert_ok(obs_probes_add(&t, &p, test_err()));
		}
	for (uint32_t i = 0; i < 10 * 32; i++) {
		if (i % 32 == 15)
			continue;
		const struct obs_perf_row row = {
		    .end_ns = (i / 32 + 1) * 300 * SIM_SEC,
		    .host = i % 32,
		    .n_probes = 75,
		    .n_connected = 75,
		    .p50_ns = 262144,
		    .p99_ns = 524288,
		};
		assert_ok(obs_perf_add(&perf, &row, test_err()));
	}
	assert_ok(res_recorder_probes(w, &t, test_err()));
	assert_ok(res_recorder_counters(w, &perf, test_err()));
	assert_ok(
	    res_recorder_covers(w, 0, (3000 + 1800 * k) * SIM_SEC, test_err()));
	assert_ok(res_recorder_finish(w, test_err()));
	obs_probes_free(&t);
	obs_perf_free(&perf);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_are_what_the_algorithms_say),
	    cmocka_unit_test(jobs_not_run_leave_no_rows),
	    cmocka_unit_test(the_length_of_a_window_chooses_its_jobs),
	    cmocka_unit_test(local_tables_are_those_of_one_data_centre),
	    cmocka_unit_test(the_share_seen_is_of_time_and_of_servers),
	    cmocka_unit_test(what_was_not_recorded_is_not_judged),
	    cmocka_unit_test(a_drop_rate_is_what_was_put_in),
	    cmocka_unit_test(reloads_of_a_day_share_its_budget),
	    cmocka_unit_test(results_are_read_back),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	    cmocka_unit_test(bad_rows_are_refused),
	};
	if (argc >= 3 && strcmp(argv[1], "write") == 0) {
		write_scene(argv[2],
		    argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0,
		    argc > 4 ? argv[4] : "web=0-7; db=20,21");
		return 0;
	}
	return cmocka_run_group_tests_name("experiments/pingmesh/dsa", tests,
	    test_folder_make, test_folder_remove);
}
