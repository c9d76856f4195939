/* tests/experiments/dcs_test.c -- a data centre among others, and one alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Metamorphic: an analysis of one data centre of a region finds what it would
 * find if that were the whole network, with ids from 0 on, wherever among all
 * ids its own begin. No law is tested, only equality.
 */
#include <math.h>

#include "experiments/pingmesh/dsa/dsa.h"
#include "tests/rigs/recordings.h"
#include "tests/test.h"

enum { N_DCS = 3, N_PROBES = 1500, ALL_JOBS = 63 };

/* What the servers of one data centre saw, with ids from FIRST on. */
struct seen {
	struct topo_dc dc;
	struct xp_dsa_services services;
	struct obs_probes probes;
	struct obs_perf perf;
	struct xp_dsa dsa;
	struct xp_dsa_tables out;
};

static topo_host moved(topo_host h, const struct topo_dc *from,
    const struct topo_dc *to)
{
	return to->first_host + topo_dc_index(from, h);
}

/* For host H, an id that lies outside of DC. */
static topo_host elsewhere(topo_host h, const struct topo_dc *dc)
{
	const uint32_t n = dc->clos.all_hosts;
	return dc->first_host >= n ? h % n : dc->first_host + n + h % n;
}

/* FROM's rows in its own ids, with those of a data centre that begins at
 * TO->dc.first_host. */
static void move(struct seen *to, const struct obs_probes *probes,
    const struct obs_perf *perf, const struct topo_dc *from)
{
	memcpy(to->probes.syn_wait_ns, probes->syn_wait_ns,
	    sizeof(probes->syn_wait_ns));
	for (size_t i = 0; i < probes->n; i++) {
		struct obs_probe p = obs_probes_at(probes, i);
		p.src_host = moved(p.src_host, from, &to->dc);
		p.dst_host = p.level == OBS_LEVEL_INTER_DC
		    ? elsewhere(p.dst_host, &to->dc)
		    : moved(p.dst_host, from, &to->dc);
		assert_ok(obs_probes_add(&to->probes, &p, test_err()));
	}
	for (size_t i = 0; i < perf->n; i++) {
		struct obs_perf_row r = obs_perf_at(perf, i);
		r.host = moved(r.host, from, &to->dc);
		assert_ok(obs_perf_add(&to->perf, &r, test_err()));
	}
}

/* Services of the region, of which that data centre's servers are its own. */
static void move_services(struct seen *to, const struct xp_dsa_services *all,
    const struct topo_dc *from, topo_host server[])
{
	for (uint32_t v = 0; v < all->n; v++) {
		const struct algo_sla_service *s = &all->service[v];
		size_t n = 0;
		for (size_t i = 0; i < s->n; i++)
			server[n++] = topo_dc_has(from, s->server[i])
			    ? moved(s->server[i], from, &to->dc)
			    : elsewhere(s->server[i], &to->dc);
		to->services.service[v] =
		    (struct algo_sla_service){s->name, server, n};
		server += n;
	}
	to->services.n = all->n;
}

static void analyse(struct seen *x, const struct xp_dsa_services *services,
    const struct xp_dsa_params *params)
{
	const struct xp_dsa_window w = {0, 600 * SIM_SEC, 600 * SIM_SEC};
	assert_ok(xp_dsa_open(&x->dsa, &x->dc, services, params, test_err()));
	assert_ok(xp_dsa_run(&x->dsa, &w, ALL_JOBS, &x->probes, &x->perf,
	    &x->out, test_err()));
	struct obs_http http = {0};
	recordings_http(&http, &x->probes);
	assert_ok(xp_dsa_run_http(&x->dsa, &w, &http, &x->out, test_err()));
	obs_http_free(&http);
}

static void free_seen(struct seen *x)
{
	xp_dsa_close(&x->dsa);
	xp_dsa_tables_free(&x->out);
	obs_probes_free(&x->probes);
	obs_perf_free(&x->perf);
}

static int same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* All rows of all tables must be equal except for the data centre's number. */
static void assert_same_tables(const struct xp_dsa_tables *a,
    struct xp_dsa_tables *b)
{
#define FIELD(type, name, units, doc, words)                                   \
	if (!same((double)x->name, (double)y->name))                           \
		fail_msg("row %zu: %s is %g and %g", i, #name,                 \
		    (double)x->name, (double)y->name);
#define X(table, columns)                                                      \
	assert_int_equal(a->table.n, b->table.n);                              \
	assert_true(a->table.n > 0);                                           \
	for (size_t i = 0; i < a->table.n; i++) {                              \
		const struct xp_dsa_##table##_row *x = &a->table.row[i];       \
		struct xp_dsa_##table##_row *y = &b->table.row[i];             \
		y->data_centre = x->data_centre;                               \
		columns(FIELD)                                                 \
	}
	XP_DSA_WINDOW_TABLES(X)
#undef X
#undef FIELD
}

/* The same servers must trace each other, under the ids that they have in each
 * of the two networks. */
static void assert_same_targets(const struct seen *a, const struct seen *b,
    uint32_t run)
{
	const struct algo_silent_drop_tracing how = {.n_cells = 3,
	    .n_pairs = 2,
	    .n_ports = 1,
	    .any = 1};
	struct algo_hop_trace_target x[12], y[12];
	struct sim_rng r;
	test_rng(&r, run);
	const size_t n = algo_silent_drop_targets(&a->dsa.silent, &how, &r, x);
	test_rng(&r, run);
	assert_int_equal(algo_silent_drop_targets(&b->dsa.silent, &how, &r, y),
	    n);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(topo_dc_has(&a->dc, x[i].src));
		assert_int_equal(moved(x[i].src, &a->dc, &b->dc), y[i].src);
		assert_int_equal(x[i].dst_ip - a->dc.first_host,
		    y[i].dst_ip - b->dc.first_host);
	}
}

static void a_data_centre_among_others_is_as_one_alone(void **state)
{
	struct xp_dsa_params params;
	(void)state;
	assert_ok(xp_dsa_params_read(&params,
	    "pingmesh: {tolerance: 0.5, sla: {min_probes: 5}}", test_err()));
	for (uint32_t run = 0; run < 20 * N_DCS; run++) {
		const uint32_t d = run % N_DCS;
		struct res_recording_info info =
		    recordings_info(N_DCS, 600 * SIM_SEC);
		struct xp_dsa_services services;
		struct obs_probes probes = {0};
		struct obs_perf perf = {0};
		struct sim_rng r;
		topo_host server[64];
		test_rng(&r, run);
		memcpy(probes.syn_wait_ns, info.syn_wait_ns,
		    sizeof(probes.syn_wait_ns));
		recordings_probes(&probes, &info, N_PROBES, &r);
		recordings_counters(&perf, &info, N_PROBES / 5, &r);
		assert_ok(xp_dsa_services_read(&services,
		    "web=0-3,9,25,40; db=24-30; cache=36-47",
		    topo_dcs_n_hosts(info.dc, N_DCS), test_err()));

		struct seen among = {.dc = info.dc[d]};
		assert_ok(xp_dsa_local_probes(&probes, &among.dc, &among.probes,
		    test_err()));
		assert_ok(xp_dsa_local_counters(&perf, &among.dc, &among.perf,
		    test_err()));
		analyse(&among, &services, &params);

		const uint32_t n = among.dc.clos.all_hosts;
		const topo_host firsts[] = {0, 1000, UINT32_MAX - n};
		for (int k = 0; k < 3; k++) {
			struct seen alone = {
			    .dc = topo_dc_alone(&among.dc.clos)};
			alone.dc.first_host = firsts[k];
			move(&alone, &among.probes, &among.perf, &among.dc);
			move_services(&alone, &services, &among.dc, server);
			analyse(&alone, &alone.services, &params);
			assert_same_tables(&among.out, &alone.out);
			if (k < 2)
				assert_same_targets(&among, &alone, run);
			free_seen(&alone);
		}
		free_seen(&among);
		xp_dsa_services_free(&services);
		obs_probes_free(&probes);
		obs_perf_free(&perf);
	}
}

/* Rows of a neighbour are refused, whichever side it is on. */
static void rows_of_another_data_centre_are_refused(void **state)
{
	(void)state;
	struct res_recording_info info = recordings_info(N_DCS, SIM_SEC);
	const struct topo_dc *dc = &info.dc[1];
	const uint32_t n = dc->clos.all_hosts;
	const topo_host first = dc->first_host, last = first + n - 1;
	const struct {
		topo_host src, dst;
		int far, rc;
	} rows[] = {{first, last, 0, 0}, {last, first, 0, 0},
	    {first - 1, first, 0, SIM_EINVAL}, {last + 1, last, 0, SIM_EINVAL},
	    {first, first - 1, 0, SIM_EINVAL}, {last, last + 1, 0, SIM_EINVAL},
	    {first, first - 1, 1, 0}, {last, last + 1, 1, 0},
	    {first - 1, first, 1, SIM_EINVAL}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct obs_probes t = {0};
		struct obs_perf perf = {0};
		const struct obs_probe p = {.rtt_ns = 1,
		    .src_host = rows[i].src,
		    .dst_host = rows[i].dst,
		    .level = rows[i].far ? OBS_LEVEL_INTER_DC : OBS_LEVEL_DC};
		const struct obs_perf_row row = {.host = rows[i].src};
		const int own = topo_dc_has(dc, rows[i].src);
		assert_ok(obs_probes_add(&t, &p, test_err()));
		assert_ok(obs_perf_add(&perf, &row, test_err()));
		assert_int_equal(obs_probes_check(&t, first, n, NULL),
		    rows[i].rc);
		assert_int_equal(obs_perf_check(&perf, first, n, NULL),
		    own ? 0 : SIM_EINVAL);
		obs_probes_free(&t);
		obs_perf_free(&perf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_data_centre_among_others_is_as_one_alone),
	    cmocka_unit_test(rows_of_another_data_centre_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
