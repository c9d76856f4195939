/* tests/experiments/pingmesh/http_test.c -- HTTP pings: tables, recordings, jobs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "experiments/pingmesh/dsa/replay.h"
#include "experiments/pingmesh/dsa/rows.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/h5_edit.h"
#include "tests/rigs/pingmesh.h"
#include "tests/rigs/recordings.h"
#include "tests/test.h"

/* --- rows ------------------------------------------------------------------*/

static void a_get_that_cannot_be_is_refused(void **state)
{
	static const struct obs_http_row good = {.answer_ns = 5,
	    .src_host = 10,
	    .dst_host = 13,
	    .answer = AGENT_ANSWER_OK,
	    .level = OBS_LEVEL_DC};
	static const struct {
		struct obs_http_row row;
		const char *say;
	} bad[] = {
	    {{5, 5, 9, 13, 1, 1, AGENT_ANSWER_OK, 2, 0}, "host 9 to 13"},
	    {{5, 5, 10, 14, 1, 1, AGENT_ANSWER_OK, 2, 0}, "host 10 to 14"},
	    {{5, 5, 10, 10, 1, 1, AGENT_ANSWER_OK, 2, 0}, "host 10 to 10"},
	    {{5, 5, 10, 11, 1, 1, AGENT_ANSWER_OK, 0, 0}, "level 0"},
	    {{5, 5, 10, 11, 1, 1, AGENT_ANSWER_OK, 4, 0}, "level 4"},
	    {{5, 0, 10, 11, 1, 1, AGENT_ANSWER_OK, 2, 0}, "time of 0"},
	    {{5, 0, 10, 11, 1, 1, AGENT_ANSWER_NOT_ASKED, 2, 0}, "answer 0"},
	    {{5, 7, 10, 11, 1, 1, AGENT_ANSWER_LATE, 2, 0}, "time of 7"},
	    {{5, 0, 10, 11, 1, 1, AGENT_N_ANSWERS, 2, 0}, "answer 6"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct obs_http t = {0};
		struct sim_err e = {0};
		assert_ok(obs_http_add(&t, &good, test_err()));
		assert_ok(obs_http_check(&t, 10, 4, test_err()));
		assert_ok(obs_http_add(&t, &bad[i].row, test_err()));
		assert_int_equal(obs_http_check(&t, 10, 4, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].say) || !strstr(e.msg, "GET 1"))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, bad[i].say);
		obs_http_free(&t);
	}
}

/* --- recordings ------------------------------------------------------------*/

struct tables {
	struct res_recording_info info;
	struct obs_probes probes;
	struct obs_http http;
};

static void open_tables(struct tables *x, uint32_t n_dcs, size_t n,
    uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	*x = (struct tables){.info = recordings_info(n_dcs, 600 * SIM_SEC)};
	recordings_probes(&x->probes, &x->info, n, &r);
	recordings_http(&x->http, &x->probes);
	assert_true(x->http.n > n / 20);
}

static void free_tables(struct tables *x)
{
	obs_probes_free(&x->probes);
	obs_http_free(&x->http);
}

static void write_tables(const struct tables *x, const char *path)
{
	struct res_recorder *w;
	assert_ok(res_recorder_open(&w, path, &x->info, test_err()));
	assert_ok(res_recorder_probes(w, &x->probes, test_err()));
	assert_ok(res_recorder_http(w, &x->http, test_err()));
	assert_ok(res_recorder_covers(w, 0, 600 * SIM_SEC, test_err()));
	assert_ok(res_recorder_finish(w, test_err()));
}

/* Those of [0, 300) s, then the others: all of them, as they were. */
static void gets_are_read_back_by_time(void **state)
{
	const char *path = test_path("http.h5");
	struct obs_http got = {0};
	struct res_recording *r;
	struct tables x;
	size_t n = 0;
	(void)state;
	open_tables(&x, 2, 4000, 0);
	write_tables(&x, path);
	assert_ok(res_recording_open(&r, path, test_err()));
	for (int half = 0; half < 2; half++) {
		const sim_ns from = (sim_ns)half * 300 * SIM_SEC;
		size_t at = 0;
		assert_ok(res_recording_http(r, from, from + 300 * SIM_SEC,
		    &got, test_err()));
		for (size_t i = 0; i < x.http.n; i++) {
			if (x.http.sent_ns[i] / (300 * SIM_SEC) != (sim_ns)half)
				continue;
			const struct obs_http_row a = obs_http_at(&x.http, i),
						  b = obs_http_at(&got, at++);
#define X(type, name, units, doc) assert_true(a.name == b.name);
			OBS_HTTP_COLUMNS(X)
#undef X
		}
		assert_int_equal(at, got.n);
		n += got.n;
	}
	assert_int_equal(n, x.http.n);
	res_recording_close(r);
	obs_http_free(&got);
	free_tables(&x);
}

/* Of version 1, where all probes were TCP pings, nothing else is read. */
static void a_recording_from_before_has_tcp_pings_alone(void **state)
{
	const char *path = test_path("old.h5");
	struct obs_probes probes = {0};
	struct obs_http got = {0};
	struct tables x;
	(void)state;
	open_tables(&x, 1, 500, 1);
	for (int how = 0; how < 3; how++) {
		struct res_recording *r;
		struct sim_err e = {0};
		write_tables(&x, path);
		hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
		assert_true(file >= 0);
		if (how > 0)
			assert_true(H5Ldelete(file, "http", H5P_DEFAULT) >= 0 &&
			    H5Ldelete(file, "http_index", H5P_DEFAULT) >= 0);
		if (how < 2)
			h5_edit_count(file, "recording_version", 0, 1);
		h5_edit_seal(file, path);
		const int rc = res_recording_open(&r, path, &e);
		if (how == 2) {
			/* One of version 2 has the table. */
			assert_int_equal(rc, SIM_EPARSE);
			assert_non_null(strstr(e.msg, "http"));
			continue;
		}
		assert_int_equal(rc, 0);
		assert_ok(
		    res_recording_http(r, 0, SIM_NEVER, &got, test_err()));
		assert_int_equal(got.n, 0);
		assert_ok(
		    res_recording_probes(r, 0, SIM_NEVER, &probes, test_err()));
		assert_int_equal(probes.n, 500);
		res_recording_close(r);
	}
	obs_probes_free(&probes);
	obs_http_free(&got);
	free_tables(&x);
}

/* --- the job ---------------------------------------------------------------*/

static int is_of(const struct xp_dsa *d, const struct xp_dsa_services *services,
    const struct xp_dsa_http_row *r, topo_host h)
{
	switch ((enum algo_sla_kind)r->kind) {
	case ALGO_SLA_SERVER:
		return topo_dc_index(&d->dc, h) == r->id;
	case ALGO_SLA_TOR:
		return topo_dc_tor_index(&d->dc, h) == r->id;
	case ALGO_SLA_POD:
		return topo_dc_pod_index(&d->dc, h) == r->id;
	case ALGO_SLA_SERVICE:
		for (size_t i = 0; i < services->service[r->id].n; i++)
			if (services->service[r->id].server[i] == h)
				return 1;
		return 0;
	default:
		return 1;
	}
}

/* A time of rank ceil(q n): so many are no greater, and fewer are less. */
static void assert_rank(double us, double q, const double all[], size_t n)
{
	const double rank = ceil(q * (double)n);
	size_t less = 0, most = 0;
	if (n == 0) {
		assert_true(isnan(us));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		less += all[i] < us;
		most += all[i] <= us;
	}
	assert_true((double)less < rank && (double)most >= rank);
}

/* Row by row, against all GETs looked through for each. */
static void each_scope_has_its_answers_and_times(void **state)
{
	static double us[4000];
	(void)state;
	for (uint32_t run = 0; run < 6; run++) {
		const struct xp_dsa_window w = {0, 600 * SIM_SEC,
		    600 * SIM_SEC};
		struct xp_dsa_services services;
		struct xp_dsa_params params;
		struct xp_dsa_tables out = {0};
		struct xp_dsa d;
		struct tables x;
		size_t n_dc = 0;
		open_tables(&x, 2, 3000, run);
		assert_ok(xp_dsa_params_read(&params, "", test_err()));
		assert_ok(xp_dsa_services_read(&services, "a=0-3,30; b=2,25",
		    topo_dcs_n_hosts(x.info.dc, 2), test_err()));
		const struct topo_dc *dc = &x.info.dc[run % 2];
		assert_ok(xp_dsa_open(&d, dc, &services, &params, test_err()));
		assert_ok(xp_dsa_run_http(&d, &w, &x.http, &out, test_err()));
		assert_true(out.http.n > 10);
		for (size_t i = 0; i < out.http.n; i++) {
			const struct xp_dsa_http_row *r = &out.http.row[i];
			uint64_t n_of[AGENT_N_ANSWERS] = {0};
			size_t n = 0, n_us = 0;
			for (size_t k = 0; k < x.http.n; k++) {
				const struct obs_http_row g =
				    obs_http_at(&x.http, k);
				if (!topo_dc_has(dc, g.src_host) ||
				    g.level == OBS_LEVEL_INTER_DC ||
				    !is_of(&d, &services, r, g.src_host))
					continue;
				n++;
				n_of[g.answer]++;
				if (g.answer == AGENT_ANSWER_OK)
					us[n_us++] = (double)g.answer_ns / 1e3;
			}
			assert_true(n > 0 && r->n_asked == n);
			assert_true(r->n_ok == n_of[AGENT_ANSWER_OK] &&
			    r->n_other == n_of[AGENT_ANSWER_OTHER] &&
			    r->n_malformed == n_of[AGENT_ANSWER_MALFORMED] &&
			    r->n_cut == n_of[AGENT_ANSWER_CUT] &&
			    r->n_late == n_of[AGENT_ANSWER_LATE]);
			assert_rank(r->p50_us, 0.5, us, n_us);
			assert_rank(r->p99_us, 0.99, us, n_us);
			n_dc += r->kind == ALGO_SLA_DC;
		}
		assert_int_equal(n_dc, 1);
		xp_dsa_tables_free(&out);
		xp_dsa_close(&d);
		xp_dsa_services_free(&services);
		free_tables(&x);
	}
}

/* --- from agents to tables --------------------------------------------------*/

/* A record of an HTTP ping has one row as a connect, and one as a GET only if its
 * connect stood. */
static void a_ping_is_one_connect_and_at_most_one_get(void **state)
{
	(void)state;
	const struct res_recording_info info = recordings_info(1, SIM_SEC);
	for (unsigned i = 0; i < 12; i++) {
		const int stood = i % 2, http = i / 2 % 2, ok = i / 4 == 0;
		const struct algo_pingmesh_record r = {.sent_ns = 7,
		    .rtt_ns = stood ? 5 : 0,
		    .echo_ns = stood && http && ok ? 9 : 0,
		    .src_ip = topo_addr_of_host(0),
		    .dst_ip = topo_addr_of_host(1),
		    .level = ALGO_PINGLIST_TOR,
		    .outcome = stood ? AGENT_CONNECTED : AGENT_TIMEOUT,
		    .ping = http ? AGENT_PING_HTTP : AGENT_PING_TCP,
		    .answer = !(stood && http) ? AGENT_ANSWER_NOT_ASKED
			: ok                   ? AGENT_ANSWER_OK
					       : AGENT_ANSWER_CUT};
		struct obs_http_row get;
		struct obs_probe p;
		assert_int_equal(xp_dsa_row(info.dc, 1, r.src_ip, &r, &p),
		    XP_DSA_ROW);
		assert_int_equal(p.outcome,
		    stood ? OBS_CONNECTED : OBS_TIMED_OUT);
		assert_int_equal(xp_dsa_http_row(&r, &p, &get), stood && http);
		if (!(stood && http))
			continue;
		assert_true(get.answer_ns == r.echo_ns && get.sent_ns == 7);
		assert_int_equal(get.answer, r.answer);
		struct obs_http t = {0};
		assert_ok(obs_http_add(&t, &get, test_err()));
		assert_ok(obs_http_check(&t, 0, 2, test_err()));
		obs_http_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_get_that_cannot_be_is_refused),
	    cmocka_unit_test(gets_are_read_back_by_time),
	    cmocka_unit_test(a_recording_from_before_has_tcp_pings_alone),
	    cmocka_unit_test(each_scope_has_its_answers_and_times),
	    cmocka_unit_test(a_ping_is_one_connect_and_at_most_one_get),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/http", tests,
	    test_folder_make, test_folder_remove);
}
