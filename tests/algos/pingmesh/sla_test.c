/* tests/algos/pingmesh/sla_test.c -- levels by brute force; alerts; verdicts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/sla.h"

#include "tests/test.h"

/* 2 pods of 2 ToRs of 3 hosts: ToR t has hosts 3 t to 3 t + 2. */
enum { N_HOSTS = 12 };

struct fixture {
	struct topo_clos clos;
	struct algo_drop_ladder ladder;
	struct algo_sla_params params;
	struct obs_probes probes;
	struct algo_rtt_order order;
	struct algo_sla sla;
};

/* Judged from 10 probes on. */
static void set_up(struct fixture *f)
{
	const sim_ns waits[] = {3 * SIM_SEC, 6 * SIM_SEC};
	*f = (struct fixture){.clos = {.n_pods = 2,
				  .n_tors = 2,
				  .n_t1 = 2,
				  .n_t2 = 2,
				  .n_hosts = 3}};
	assert_ok(topo_clos_init(&f->clos, test_err()));
	assert_ok(algo_drop_ladder_init(&f->ladder, waits, 2, 400 * SIM_MS,
	    test_err()));
	assert_ok(sim_field_defaults(algo_sla_fields, &f->params, test_err()));
	f->params.min_probes = 10;
}

static void tear_down(struct fixture *f)
{
	obs_probes_free(&f->probes);
	algo_rtt_order_free(&f->order);
	algo_sla_close(&f->sla);
}

static void open_sla(struct fixture *f, const struct algo_sla_service v[],
    uint32_t n)
{
	const struct topo_dc dc = topo_dc_alone(&f->clos);
	assert_ok(algo_sla_open(&f->sla, &dc, &f->params, v, n, test_err()));
}

static void measure(struct fixture *f)
{
	assert_ok(algo_rtt_order_make(&f->order, &f->probes, test_err()));
	algo_sla_measure(&f->sla, &f->order, &f->ladder);
}

/* N probes of a host to the next one. RTT 0: time-outs. */
static void add(struct fixture *f, topo_host src, unsigned n, uint64_t rtt_ns)
{
	const struct obs_probe p = {.rtt_ns = rtt_ns,
	    .src_host = src,
	    .dst_host = (src + 1) % N_HOSTS,
	    .outcome = rtt_ns ? OBS_CONNECTED : OBS_TIMED_OUT,
	    .level = OBS_LEVEL_DC};
	for (unsigned i = 0; i < n; i++)
		assert_ok(obs_probes_add(&f->probes, &p, test_err()));
}

static void the_defaults_are_the_papers(void **state)
{
	(void)state;
	struct algo_sla_params p;
	assert_ok(sim_field_defaults(algo_sla_fields, &p, test_err()));
	assert_true(p.max_drop_rate == 1e-3);
	assert_true(p.max_p99_us == 5000);
}

/* Of 1 .. 100 us the 50th and the 99th; of 200 the 100th and the 198th. */
static void quantiles_are_the_nearest_ranks(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	open_sla(&f, NULL, 0);
	for (unsigned i = 100; i > 0; i--)
		add(&f, 0, 1, i * SIM_US);
	for (unsigned i = 101; i <= 200; i++)
		add(&f, 1, 1, i * SIM_US);
	measure(&f);
	assert_true(algo_sla_at(&f.sla, ALGO_SLA_SERVER, 0)->p50_us == 50);
	assert_true(algo_sla_at(&f.sla, ALGO_SLA_SERVER, 0)->p99_us == 99);
	assert_true(algo_sla_at(&f.sla, ALGO_SLA_SERVER, 1)->p50_us == 150);
	for (int k = ALGO_SLA_TOR; k <= ALGO_SLA_DC; k++) {
		assert_int_equal(algo_sla_at(&f.sla, k, 0)->n_success, 200);
		assert_true(algo_sla_at(&f.sla, k, 0)->p50_us == 100);
		assert_true(algo_sla_at(&f.sla, k, 0)->p99_us == 198);
		assert_true(algo_sla_at(&f.sla, k, 0)->drop_rate == 0);
	}
	assert_true(isnan(algo_sla_at(&f.sla, ALGO_SLA_SERVER, 2)->p99_us));
	assert_true(isnan(algo_sla_at(&f.sla, ALGO_SLA_TOR, 1)->p50_us));
	assert_true(isnan(algo_sla_at(&f.sla, ALGO_SLA_POD, 1)->drop_rate));
	tear_down(&f);
}

/* --- against brute force ---------------------------------------------------*/
static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The scope of the hosts in MASK. */
static void assert_scope(const struct fixture *f, unsigned mask,
    const struct algo_sla_scope *got, uint32_t run)
{
	const struct obs_probes *t = &f->probes;
	static uint64_t rtt[2000];
	size_t n = 0, n_drop = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->outcome[i] == OBS_CONNECTED &&
		    t->level[i] != OBS_LEVEL_INTER_DC &&
		    mask >> t->src_host[i] & 1) {
			n_drop += t->rtt_ns[i] >= 2600 * SIM_MS;
			rtt[n++] = t->rtt_ns[i];
		}
	qsort(rtt, n, sizeof(*rtt), ascending);
	int same = got->n_success == n && got->n_drop == n_drop;
	if (n == 0)
		same &= isnan(got->p50_us) && isnan(got->p99_us) &&
		    isnan(got->drop_rate) && got->alerts == 0;
	else
		same &= got->p50_us == (double)rtt[(n + 1) / 2 - 1] / 1e3 &&
		    got->p99_us == (double)rtt[(99 * n + 99) / 100 - 1] / 1e3 &&
		    got->drop_rate == (double)n_drop / (double)n;
	if (!same)
		fail_msg("seed %llu, run %u, hosts %x",
		    (unsigned long long)test_seed(), run, mask);
}

static void add_random(struct fixture *f, struct sim_rng *r)
{
	const uint32_t rows = sim_rng_below(r, 1500);
	for (uint32_t i = 0; i < rows; i++) {
		struct obs_probe p = {.src_host = sim_rng_below(r, N_HOSTS),
		    .level = (uint8_t)(1 + sim_rng_below(r, 3)),
		    .outcome = (uint8_t)(sim_rng_below(r, 6) / 4)};
		p.dst_host = (p.src_host + 1) % N_HOSTS;
		if (p.outcome == OBS_CONNECTED)
			p.rtt_ns = 1 + sim_rng_below(r, 1000000) +
			    (sim_rng_below(r, 20) ? 0 : 3 * SIM_SEC);
		assert_ok(obs_probes_add(&f->probes, &p, test_err()));
	}
}

static void every_scope_agrees_with_a_list_of_its_probes(void **state)
{
	(void)state;
	static const topo_host a[] = {11, 0, 5}, b[] = {5, 6};
	const struct algo_sla_service v[] = {{"a", a, 3}, {"none", NULL, 0},
	    {"b", b, 2}};
	struct fixture f;
	set_up(&f);
	open_sla(&f, v, 3);
	for (uint32_t run = 0; run < 60; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		obs_probes_clear(&f.probes);
		add_random(&f, &r);
		measure(&f);
		for (uint32_t h = 0; h < N_HOSTS; h++)
			assert_scope(&f, 1u << h,
			    algo_sla_at(&f.sla, ALGO_SLA_SERVER, h), run);
		for (uint32_t t = 0; t < 4; t++)
			assert_scope(&f, 7u << 3 * t,
			    algo_sla_at(&f.sla, ALGO_SLA_TOR, t), run);
		for (uint32_t p = 0; p < 2; p++)
			assert_scope(&f, 63u << 6 * p,
			    algo_sla_at(&f.sla, ALGO_SLA_POD, p), run);
		assert_scope(&f, 0xfff, algo_sla_at(&f.sla, ALGO_SLA_DC, 0),
		    run);
		assert_scope(&f, 0x821,
		    algo_sla_at(&f.sla, ALGO_SLA_SERVICE, 0), run);
		assert_scope(&f, 0, algo_sla_at(&f.sla, ALGO_SLA_SERVICE, 1),
		    run);
		assert_scope(&f, 0x60, algo_sla_at(&f.sla, ALGO_SLA_SERVICE, 2),
		    run);
	}
	tear_down(&f);
}

/* --- alerts ----------------------------------------------------------------*/
static void alerts_begin_above_the_thresholds(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	open_sla(&f, NULL, 0);
	add(&f, 0, 999, 5 * SIM_MS); /* 1e-3 and 5 ms: not above */
	add(&f, 0, 1, 3 * SIM_SEC);
	add(&f, 1, 998, 5 * SIM_MS); /* 1 / 999: just above */
	add(&f, 1, 1, 3 * SIM_SEC);
	add(&f, 2, 100, 5 * SIM_MS + 1);
	add(&f, 3, 9, 3 * SIM_SEC); /* too few to be judged */
	add(&f, 4, 10, 9 * SIM_SEC);
	add(&f, 5, 100, 0); /* failures alone are no successes */
	measure(&f);
	static const uint32_t want[] = {0, ALGO_SLA_ALERT_DROP,
	    ALGO_SLA_ALERT_P99, 0, ALGO_SLA_ALERT_DROP | ALGO_SLA_ALERT_P99, 0};
	for (uint32_t h = 0; h < 6; h++)
		if (algo_sla_at(&f.sla, ALGO_SLA_SERVER, h)->alerts != want[h])
			fail_msg("host %u: alerts %u, wanted %u", h,
			    algo_sla_at(&f.sla, ALGO_SLA_SERVER, h)->alerts,
			    want[h]);
	tear_down(&f);
}

/* --- is it the network? ----------------------------------------------------*/
/* The verdict of a service of hosts 0 and 3 (ToRs 0 and 1) when of the hosts in
 * SLOW each probe takes 9 ms; host h sends n[h] probes. */
static enum algo_sla_verdict verdict_of(unsigned slow, const unsigned n[6],
    double min_share)
{
	static const topo_host server[] = {0, 3};
	const struct algo_sla_service v = {"search", server, 2};
	struct fixture f;
	set_up(&f);
	f.params.min_share = min_share;
	open_sla(&f, &v, 1);
	for (topo_host h = 0; h < 6; h++)
		add(&f, h, n[h], slow >> h & 1 ? 9 * SIM_MS : SIM_MS);
	measure(&f);
	const enum algo_sla_verdict got = f.sla.verdict[0];
	tear_down(&f);
	return got;
}

static void a_service_is_judged_by_its_neighbours(void **state)
{
	(void)state;
	static const unsigned all[] = {50, 50, 50, 50, 50, 50};
	static const unsigned few[] = {4, 50, 50, 5, 50, 50};
	static const unsigned alone[] = {50, 9, 0, 50, 0, 9};
	static const unsigned slight[] = {9, 50, 50, 50, 50, 50};
	static const unsigned pair[] = {50, 0, 50, 50, 0, 0};
	assert_int_equal(verdict_of(0, all, 0.5), ALGO_SLA_NOT_NETWORK);
	/* The service is well, whatever other servers are. */
	assert_int_equal(verdict_of(066, all, 0.5), ALGO_SLA_NOT_NETWORK);
	/* Only its own server is slow, which is 1 of the 3 under its ToR. */
	assert_int_equal(verdict_of(001, all, 0.5), ALGO_SLA_SERVERS);
	assert_int_equal(verdict_of(011, all, 0.5), ALGO_SLA_SERVERS);
	assert_int_equal(verdict_of(001, all, 0.33), ALGO_SLA_NETWORK);
	/* A neighbour is slow as well: 2 of 3, under one ToR or the other. */
	assert_int_equal(verdict_of(003, all, 0.5), ALGO_SLA_NETWORK);
	assert_int_equal(verdict_of(030, all, 0.5), ALGO_SLA_NETWORK);
	assert_int_equal(verdict_of(003, all, 0.67), ALGO_SLA_SERVERS);
	assert_int_equal(verdict_of(007, all, 1), ALGO_SLA_NETWORK);
	/* Its servers sent too few probes; or no neighbour can be judged. */
	assert_int_equal(verdict_of(077, few, 0.5), ALGO_SLA_UNKNOWN);
	assert_int_equal(verdict_of(011, alone, 0.5), ALGO_SLA_UNKNOWN);
	/* Its slow server sent too few probes to be judged, and the others are
	 * well. */
	assert_int_equal(verdict_of(001, slight, 0), ALGO_SLA_SERVERS);
	/* Exactly half of a ToR's servers are enough at min_share 0.5. At 0 it
	 * still takes a server that alerts. */
	assert_int_equal(verdict_of(001, pair, 0.5), ALGO_SLA_NETWORK);
	assert_int_equal(verdict_of(000, all, 0), ALGO_SLA_NOT_NETWORK);
}

static void servers_elsewhere_are_no_servers(void **state)
{
	(void)state;
	static const topo_host mixed[] = {12, 3, 4000000000u}, far[] = {12};
	const struct algo_sla_service v[] = {{"mixed", mixed, 3},
	    {"far", far, 1}};
	struct fixture f;
	set_up(&f);
	open_sla(&f, v, 2);
	assert_int_equal(f.sla.n_servers[0], 1);
	assert_int_equal(f.sla.n_servers[1], 0);
	add(&f, 3, 20, SIM_MS);
	add(&f, 0, 20, SIM_MS);
	measure(&f);
	assert_int_equal(algo_sla_at(&f.sla, ALGO_SLA_SERVICE, 0)->n_success,
	    20);
	assert_int_equal(algo_sla_at(&f.sla, ALGO_SLA_SERVICE, 1)->n_success,
	    0);
	tear_down(&f);
}

/* --- errors ----------------------------------------------------------------*/
static void wrong_services_and_probes_are_refused(void **state)
{
	(void)state;
	static const topo_host twice[] = {0, 1, 0};
	const struct algo_sla_service v[] = {{"good", twice, 2},
	    {"twice", twice, 3}};
	struct fixture f;
	struct sim_err e;
	set_up(&f);
	const struct topo_dc dc = topo_dc_alone(&f.clos);
	assert_int_equal(algo_sla_open(&f.sla, &dc, &f.params, v, 2, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "service twice: host 0 is named twice"));
	assert_null(f.sla.scope);
	tear_down(&f);
}

static int open_and_measure(void *arg, struct sim_err *e)
{
	static const topo_host server[] = {1, 2};
	const struct algo_sla_service v = {"a", server, 2};
	const struct fixture *f = arg;
	const struct topo_dc dc = topo_dc_alone(&f->clos);
	struct algo_rtt_order order = {.n = 0};
	struct algo_sla s;
	int rc = algo_sla_open(&s, &dc, &f->params, &v, 1, e);
	if (rc == 0)
		rc = algo_rtt_order_make(&order, &f->probes, e);
	if (rc == 0) {
		algo_sla_measure(&s, &order, &f->ladder);
		assert_true(algo_sla_at(&s, ALGO_SLA_SERVICE, 0)->p50_us == 7);
	}
	algo_rtt_order_free(&order);
	algo_sla_close(&s);
	return rc;
}

static void without_memory_nothing_is_left_behind(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	add(&f, 1, 20, 7 * SIM_US);
	test_each_alloc_fails(open_and_measure, &f);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_defaults_are_the_papers),
	    cmocka_unit_test(quantiles_are_the_nearest_ranks),
	    cmocka_unit_test(every_scope_agrees_with_a_list_of_its_probes),
	    cmocka_unit_test(alerts_begin_above_the_thresholds),
	    cmocka_unit_test(a_service_is_judged_by_its_neighbours),
	    cmocka_unit_test(servers_elsewhere_are_no_servers),
	    cmocka_unit_test(wrong_services_and_probes_are_refused),
	    cmocka_unit_test(without_memory_nothing_is_left_behind),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/sla", tests, NULL,
	    NULL);
}
