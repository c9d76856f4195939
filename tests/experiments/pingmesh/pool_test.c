/* tests/experiments/pingmesh/pool_test.c -- counts over many windows, and shares.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/set.h"
#include "sim/rng.h"
#include "tests/rigs/recordings.h"
#include "tests/test.h"

enum { SEED = 20261123 };

static void draw_from(struct sim_rng *r, uint32_t run)
{
	const struct sim_seed where = {.seed = SEED, .run = run};
	sim_rng_init(r, &where, SIM_STREAM_TEST, 0);
}

/* --- shares ----------------------------------------------------------------*/

/* Whole recordings, or runs of windows of one; each once, in order. */
static void shards_share_all_recordings_in_order(void **state)
{
	(void)state;
	for (size_t r = 1; r <= 13; r++)
		for (uint32_t n = 1; n <= 40; n++) {
			size_t next = 0;
			uint32_t k = 0;
			for (uint32_t i = 0; i < n; i++) {
				const struct xp_shard shard = {i, n};
				const struct xp_dsa_share s =
				    xp_dsa_share_of(r, &shard);
				if (s.first != next || s.k != k ||
				    s.last <= s.first ||
				    (s.of > 1 && s.last != s.first + 1))
					fail_msg("%zu recordings, %u/%u", r, i,
					    n);
				k = s.k + 1 < s.of ? s.k + 1 : 0;
				next = k > 0 ? s.first : s.last;
			}
			assert_int_equal(next, r);
			assert_int_equal(k, 0);
		}
}

/* --- the pool --------------------------------------------------------------*/

struct fixture {
	struct res_recording_info info;
	struct xp_dsa_params params;
	struct xp_dsa_services services;
	struct xp_dsa dsa;
	struct obs_probes probes;
	uint64_t n_of[XP_DSA_POOL_KINDS];
};

static void open_fixture(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->info = recordings_info(1, 3600 * SIM_SEC);
	f->info.dc[0] = topo_dc_alone(&f->info.dc[0].clos);
	assert_ok(topo_clos_init(&f->info.dc[0].clos, test_err()));
	assert_ok(xp_dsa_params_read(&f->params, "", test_err()));
	assert_ok(xp_dsa_services_read(&f->services, f->info.service,
	    f->info.dc[0].clos.all_hosts, test_err()));
	assert_ok(xp_dsa_open(&f->dsa, &f->info.dc[0], &f->services, &f->params,
	    test_err()));
	xp_dsa_pool_count(f->n_of, f->info.dc, 1, f->services.n);
}

static void close_fixture(struct fixture *f)
{
	xp_dsa_close(&f->dsa);
	xp_dsa_services_free(&f->services);
	obs_probes_free(&f->probes);
}

/* A window of N probes, measured, and added to P. */
static void add_window(struct fixture *f, struct xp_dsa_pool *p, size_t n,
    struct sim_rng *r)
{
	obs_probes_clear(&f->probes);
	memcpy(f->probes.syn_wait_ns, f->info.syn_wait_ns,
	    sizeof(f->info.syn_wait_ns));
	recordings_probes(&f->probes, &f->info, n, r);
	assert_ok(xp_dsa_order(&f->dsa, &f->probes, test_err()));
	assert_ok(xp_dsa_sla(&f->dsa, &f->probes, test_err()));
	assert_ok(xp_dsa_pool_add(p, 0, &f->dsa.sla, test_err()));
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* All times of the data centre's own probes are kept beside the counts. */
static void quantiles_are_at_most_a_64th_too_high(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct fixture f;
		struct xp_dsa_pool p;
		struct xp_dsa_tables t = {0};
		struct sim_rng r;
		static double us[20000];
		size_t n = 0;
		open_fixture(&f);
		draw_from(&r, run);
		assert_ok(xp_dsa_pool_open(&p, f.n_of, test_err()));
		for (int w = 0; w < 5; w++) {
			add_window(&f, &p, 1 + sim_rng_below(&r, 3000), &r);
			for (size_t i = 0; i < f.dsa.order.n; i++)
				us[n++] =
				    (double)f.dsa.order.probe[i].rtt_ns / 1e3;
		}
		qsort(us, n, sizeof(us[0]), ascending);
		assert_ok(xp_dsa_pool_put(&p, &t, test_err()));
		const struct xp_dsa_pooled_row *dc = NULL;
		for (size_t i = 0; i < t.pooled.n; i++)
			if (t.pooled.row[i].kind == ALGO_SLA_DC)
				dc = &t.pooled.row[i];
		assert_non_null(dc);
		assert_int_equal(dc->n_success, n);
		const double got[] = {dc->p50_us, dc->p99_us, dc->p999_us};
		const double q[] = {0.5, 0.99, 0.999};
		for (int i = 0; i < 3; i++) {
			const double want =
			    us[(size_t)ceil(q[i] * (double)n) - 1];
			/* Below 68 s and above 1 us, as these all are. */
			if (got[i] <= want ||
			    got[i] > want * (1 + 1 / 64.0) + 1e-3)
				fail_msg("run %u: %g is told as %g", run, want,
				    got[i]);
		}
		xp_dsa_tables_free(&t);
		xp_dsa_pool_close(&p);
		close_fixture(&f);
	}
}

static void assert_same_rows(const struct xp_dsa_pool *a,
    const struct xp_dsa_pool *b, uint32_t run)
{
	struct xp_dsa_tables x = {0}, y = {0};
	assert_ok(xp_dsa_pool_put(a, &x, test_err()));
	assert_ok(xp_dsa_pool_put(b, &y, test_err()));
	if (x.pooled.n != y.pooled.n || x.histogram.n != y.histogram.n)
		fail_msg("run %u: other rows", run);
	for (size_t i = 0; i < x.histogram.n; i++)
		if (x.histogram.row[i].id != y.histogram.row[i].id ||
		    x.histogram.row[i].bucket != y.histogram.row[i].bucket ||
		    x.histogram.row[i].n != y.histogram.row[i].n)
			fail_msg("run %u: bucket %zu", run, i);
	for (size_t i = 0; i < x.pooled.n; i++)
		if (x.pooled.row[i].n_drop != y.pooled.row[i].n_drop ||
		    x.pooled.row[i].n_success != y.pooled.row[i].n_success ||
		    x.pooled.row[i].p99_us != y.pooled.row[i].p99_us)
			fail_msg("run %u: scope %zu", run, i);
	xp_dsa_tables_free(&x);
	xp_dsa_tables_free(&y);
}

/* Windows fall to three parts by chance; the parts are added in another order. */
static void parts_add_up_in_any_order(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct fixture f;
		struct xp_dsa_pool whole, sum, part[3];
		struct sim_rng r;
		open_fixture(&f);
		draw_from(&r, 100 + run);
		assert_ok(xp_dsa_pool_open(&whole, f.n_of, test_err()));
		assert_ok(xp_dsa_pool_open(&sum, f.n_of, test_err()));
		for (int i = 0; i < 3; i++)
			assert_ok(
			    xp_dsa_pool_open(&part[i], f.n_of, test_err()));
		for (int w = 0; w < 6; w++) {
			add_window(&f, &whole, 1 + sim_rng_below(&r, 500), &r);
			assert_ok(xp_dsa_pool_add(&part[sim_rng_below(&r, 3)],
			    0, &f.dsa.sla, test_err()));
		}
		for (uint32_t i = 0; i < 3; i++) {
			struct xp_dsa_tables t = {0};
			assert_ok(xp_dsa_pool_put(&part[(i + run) % 3], &t,
			    test_err()));
			assert_ok(xp_dsa_pool_take(&sum, &t, test_err()));
			xp_dsa_tables_free(&t);
		}
		assert_same_rows(&whole, &sum, run);
		xp_dsa_pool_close(&whole);
		xp_dsa_pool_close(&sum);
		for (int i = 0; i < 3; i++)
			xp_dsa_pool_close(&part[i]);
		close_fixture(&f);
	}
}

/* Counts of each scope, one probe after the other. */
static void count_probe(uint64_t (*count)[XP_DSA_POOL_BUCKETS], size_t scope,
    sim_ns rtt_ns)
{
	count[scope][algo_pingmesh_bucket_of(rtt_ns, XP_DSA_POOL_SUB_BITS)]++;
}

static void assert_counts(const struct xp_dsa_pool *p,
    uint64_t (*want)[XP_DSA_POOL_BUCKETS], enum algo_sla_kind kind)
{
	for (uint64_t id = 0; id < p->n_of[kind]; id++) {
		const struct xp_dsa_pool_scope *s =
		    &p->scope[p->first[kind] + id];
		uint64_t n = 0;
		for (size_t b = 0; b < XP_DSA_POOL_BUCKETS; b++) {
			const uint64_t got = s->count ? s->count[b] : 0;
			assert_int_equal(got, want[id][b]);
			n += got;
		}
		assert_int_equal(s->n_success, n);
	}
}

static void each_scope_has_its_own_probes(void **state)
{
	static uint64_t want[ALGO_SLA_N_KINDS][256][XP_DSA_POOL_BUCKETS];
	struct fixture f;
	struct xp_dsa_pool p;
	struct sim_rng r;
	(void)state;
	memset(want, 0, sizeof(want));
	open_fixture(&f);
	draw_from(&r, 200);
	const struct topo_dc *dc = &f.info.dc[0];
	assert_ok(xp_dsa_pool_open(&p, f.n_of, test_err()));
	for (int w = 0; w < 3; w++) {
		add_window(&f, &p, 2000, &r);
		const struct algo_sla *s = &f.dsa.sla;
		for (size_t i = 0; i < s->order->n; i++) {
			const struct algo_rtt_probe *x = &s->order->probe[i];
			const uint32_t tor = topo_dc_tor_index(dc, x->src_host);
			assert_true(tor < 256);
			count_probe(want[ALGO_SLA_TOR], tor, x->rtt_ns);
			count_probe(want[ALGO_SLA_POD],
			    topo_dc_pod_index(dc, x->src_host), x->rtt_ns);
			count_probe(want[ALGO_SLA_DC], 0, x->rtt_ns);
			for (size_t k = s->off[x->src_host];
			     k < s->off[x->src_host + 1]; k++)
				count_probe(want[ALGO_SLA_SERVICE],
				    s->serves[k], x->rtt_ns);
		}
	}
	assert_int_equal(p.n_of[ALGO_SLA_SERVER], 0);
	assert_int_equal(p.n_of[ALGO_SLA_TOR], dc->clos.all_tors);
	assert_int_equal(p.n_of[ALGO_SLA_SERVICE], f.services.n);
	for (int k = ALGO_SLA_TOR; k < ALGO_SLA_N_KINDS; k++)
		assert_counts(&p, want[k], (enum algo_sla_kind)k);
	xp_dsa_pool_close(&p);
	close_fixture(&f);
}

/* From each pod to each, as rows and columns of a matrix. */
static void pairs_are_of_the_pods_of_both_ends(void **state)
{
	static uint64_t want[256][XP_DSA_POOL_BUCKETS];
	uint64_t n_of[XP_DSA_POOL_KINDS], n_drop[256] = {0};
	struct algo_drop_ladder ladder;
	struct xp_dsa_pool p, pairs;
	struct fixture f;
	struct sim_rng r;
	(void)state;
	memset(want, 0, sizeof(want));
	open_fixture(&f);
	draw_from(&r, 201);
	const struct topo_dc *dc = &f.info.dc[0];
	const uint32_t n_pods = dc->clos.n_pods;
	xp_dsa_pool_count_pairs(n_of, dc, 1);
	assert_ok(xp_dsa_pool_open(&pairs, n_of, test_err()));
	assert_ok(xp_dsa_pool_open(&p, f.n_of, test_err()));
	assert_int_equal(pairs.first[XP_DSA_POOL_KINDS], n_pods * n_pods);
	add_window(&f, &p, 2000, &r);
	assert_ok(
	    xp_dsa_ladder(&f.dsa, f.probes.syn_wait_ns, &ladder, test_err()));
	for (int twice = 0; twice < 2; twice++) {
		const struct algo_sla *s = &f.dsa.sla;
		assert_ok(
		    xp_dsa_pool_add_pairs(&pairs, 0, s, &ladder, test_err()));
		for (size_t i = 0; i < s->order->n; i++) {
			const struct algo_rtt_probe *x = &s->order->probe[i];
			const size_t of =
			    (size_t)topo_dc_pod_index(dc, x->src_host) *
				n_pods +
			    topo_dc_pod_index(dc, x->dst_host);
			assert_true(of < 256);
			count_probe(want, of, x->rtt_ns);
			n_drop[of] += algo_drop_n_lost(&ladder, x->rtt_ns) > 0;
		}
	}
	assert_counts(&pairs, want, ALGO_SLA_POD);
	for (size_t i = 0; i < (size_t)n_pods * n_pods; i++)
		assert_int_equal(pairs.scope[i].n_drop, n_drop[i]);
	xp_dsa_pool_close(&pairs);
	xp_dsa_pool_close(&p);
	close_fixture(&f);
}

/* A file may say anything under a good seal. */
static void rows_that_cannot_be_are_refused(void **state)
{
	(void)state;
	struct xp_dsa_pooled_row scope = {.kind = ALGO_SLA_DC, .n_success = 1};
	struct xp_dsa_histogram_row count = {.kind = ALGO_SLA_DC, .n = 1};
	struct xp_dsa_tables t = {.pooled = {1, 1, &scope},
	    .histogram = {1, 1, &count}};
	struct xp_dsa_pool p;
	uint64_t n_of[XP_DSA_POOL_KINDS] = {[ALGO_SLA_DC] = 1};
	assert_ok(xp_dsa_pool_open(&p, n_of, test_err()));
	assert_ok(xp_dsa_pool_take(&p, &t, test_err()));
	count.bucket = XP_DSA_POOL_BUCKETS;
	assert_int_equal(xp_dsa_pool_take(&p, &t, test_err()), SIM_EPARSE);
	count.bucket = 0;
	count.data_centre = 16;
	assert_int_equal(xp_dsa_pool_take(&p, &t, test_err()), SIM_EPARSE);
	count.data_centre = 0;
	scope.id = 1;
	assert_int_equal(xp_dsa_pool_take(&p, &t, test_err()), SIM_EPARSE);
	scope.id = 0;
	scope.kind = ALGO_SLA_N_KINDS;
	assert_int_equal(xp_dsa_pool_take(&p, &t, test_err()), SIM_EPARSE);
	scope.kind = ALGO_SLA_DC;
	count.n = UINT64_MAX;
	assert_int_equal(xp_dsa_pool_take(&p, &t, test_err()), SIM_EPARSE);
	xp_dsa_pool_close(&p);
	n_of[1] = UINT64_MAX;
	assert_int_equal(xp_dsa_pool_open(&p, n_of, test_err()), SIM_ELIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shards_share_all_recordings_in_order),
	    cmocka_unit_test(quantiles_are_at_most_a_64th_too_high),
	    cmocka_unit_test(parts_add_up_in_any_order),
	    cmocka_unit_test(each_scope_has_its_own_probes),
	    cmocka_unit_test(pairs_are_of_the_pods_of_both_ends),
	    cmocka_unit_test(rows_that_cannot_be_are_refused),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/pool", tests,
	    NULL, NULL);
}
