/* tests/algos/everflow/custom_test.c -- counters by filters, in analyzers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/custom.h"

#include "algos/everflow/analyzer.h"
#include "tests/rigs/copies.h"
#include "tests/test.h"

enum { MS = 1000000 };

static struct topo net;

static int open_net(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 3, 2, 2, 4, .n_cables = 0};
	return topo_open_clos(&net, &shape, test_err());
}

static int close_net(void **state)
{
	(void)state;
	topo_close(&net);
	return 0;
}

static void count_by(struct algo_custom_counters *c, uint32_t id,
    const char *filter)
{
	struct algo_filter f;
	assert_ok(
	    algo_filter_compile(&f, filter, &net, ALGO_IS_FILTER, test_err()));
	assert_ok(algo_custom_add(c, id, &f, test_err()));
}

static double total(const struct algo_counters *c, uint32_t id, uint32_t sub)
{
	double sum = 0;
	for (size_t i = 0; i < c->n; i++)
		if (c->kind[i] == ALGO_COUNTER_CUSTOM && c->id[i] == id &&
		    c->sub[i] == sub)
			sum += c->value[i];
	return sum;
}

static int drop_it(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	(void)arg, (void)t, (void)hop, (void)e;
	return 0;
}

/* 60 packets over 3 s, one in 3 to port 81; rows each second. What a counter
 * that came or went in between counted is known by its time. */
static void analyzers_count_each_trace_that_ends(void **state)
{
	(void)state;
	const struct algo_routing routing = {&net, 0, 1};
	const struct algo_trace_sink sink = {NULL, drop_it};
	struct algo_analyzer_params p;
	struct algo_custom_counters custom = {0};
	struct algo_counters rows = {0};
	struct obs_mirror m = {0};
	struct algo_analyzer *a;
	assert_ok(sim_field_defaults(algo_analyzer_fields, &p, test_err()));
	p.t_ms = 10;
	p.counters_s = 1;
	for (unsigned i = 0; i < 60; i++) {
		struct obs_copy c[TOPO_MAX_HOPS];
		struct obs_copy x = copies_packet(0, 20, (uint16_t)(5000 + i),
		    (uint16_t)(i + 1));
		x.dst_port = i % 3 == 0 ? 81 : 80;
		const unsigned n =
		    copies_of(&net, &x, (50 + 50 * i) * (uint64_t)MS, c);
		copies_add(&m, c, n, 0x1f);
	}
	copies_sort(&m);
	count_by(&custom, 7, "tcp.dst == 81");
	count_by(&custom, 9, "switch == t2 && ip.src == host0");
	count_by(&custom, 11, "loop");
	assert_ok(algo_analyzer_open(&a, &routing, &p, 0, test_err()));
	algo_analyzer_count(a, &custom);
	assert_ok(
	    algo_analyzer_feed(a, &m, 0, m.n / 2, &sink, &rows, test_err()));
	assert_true(algo_custom_remove(&custom, 9));
	assert_false(algo_custom_remove(&custom, 9));
	assert_ok(
	    algo_analyzer_feed(a, &m, m.n / 2, m.n, &sink, &rows, test_err()));
	assert_ok(algo_analyzer_flush(a, SIM_NEVER, &sink, &rows, test_err()));
	assert_true(total(&rows, 7, 0) == 20);
	assert_true(total(&rows, 7, 1) == 20 * 74);
	/* It went within the second second, whose row it did not live to see. */
	assert_true(total(&rows, 9, 0) >= 18 && total(&rows, 9, 0) <= 20);
	assert_true(total(&rows, 11, 0) == 0);
	algo_analyzer_close(a);
	algo_custom_free(&custom);
	algo_counters_free(&rows);
	obs_mirror_free(&m);
}

static void what_cannot_be_counted_is_refused(void **state)
{
	(void)state;
	struct algo_custom_counters c = {0};
	struct algo_filter f;
	struct sim_err e = {0};
	assert_ok(algo_filter_compile(&f, "last == tor0", &net,
	    ALGO_IS_CONDITION, test_err()));
	assert_int_equal(algo_custom_add(&c, 1, &f, &e), SIM_EINVAL);
	assert_ok(
	    algo_filter_compile(&f, "loop", &net, ALGO_IS_FILTER, test_err()));
	for (uint32_t i = 0; i < ALGO_CUSTOM_MAX; i++)
		assert_ok(algo_custom_add(&c, i, &f, test_err()));
	assert_int_equal(algo_custom_add(&c, 5, &f, &e), SIM_EINVAL);
	assert_int_equal(algo_custom_add(&c, 99, &f, &e), SIM_ELIMIT);
	assert_true(algo_custom_remove(&c, 5));
	assert_ok(algo_custom_add(&c, 99, &f, test_err()));
	algo_custom_free(&c);
}

static int add_and_put(void *arg, struct sim_err *e)
{
	struct algo_custom_counters c = {0};
	struct algo_counters rows = {0};
	const struct algo_trace t = {.n_bytes = 74};
	int rc = algo_custom_add(&c, 1, arg, e);
	if (rc == 0) {
		algo_custom_take(&c, &t, NULL);
		rc = algo_custom_put(&c, 0, 1, &rows, e);
	}
	algo_custom_free(&c);
	algo_counters_free(&rows);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct algo_filter all;
	assert_ok(
	    algo_filter_compile(&all, "", NULL, ALGO_IS_FILTER, test_err()));
	test_each_alloc_fails(add_and_put, &all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(analyzers_count_each_trace_that_ends),
	    cmocka_unit_test(what_cannot_be_counted_is_refused),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("algos/everflow/custom", tests,
	    open_net, close_net);
}
