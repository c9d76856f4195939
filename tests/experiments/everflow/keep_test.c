/* tests/experiments/everflow/keep_test.c -- what is kept, against all there was.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/keep.h"

#include "tests/rigs/traces.h"
#include "tests/test.h"

enum { N = 5000 };

#define SAME(type, name, unit, doc)     assert_true(a.name == b.name);
#define SAME_HOP(type, name, unit, doc) assert_true(c.name == d.name);

static void the_latest_are_kept_and_no_more(void **state)
{
	struct traces x = {.n_findings = 0};
	struct xp_keep k;
	struct algo_hop hop[64], had[64];
	struct algo_trace t, was;
	struct sim_rng rng;
	struct sim_err e;
	(void)state;
	test_rng(&rng, 0);
	traces_random(&x, N, 100 * SIM_SEC, &rng);
	assert_int_equal(xp_keep_open(&k, XP_KEEP_LEAST - 1, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "1048575 bytes to keep traces in; it takes 1048576.");
	assert_ok(xp_keep_open(&k, XP_KEEP_LEAST, test_err()));
	const size_t cap = k.traces[0].traces.cap;
	for (size_t i = 0; i < N; i++) {
		traces_get(&x, i, &t, hop);
		xp_keep_trace(&k, &t, hop);
		assert_int_equal(k.n, i + 1);
		/* At least a half of what fits, and nothing was moved. */
		const uint64_t least =
		    i + 1 < k.cap_traces / 2 ? i + 1 : k.cap_traces / 2;
		assert_true(k.n - k.first >= least);
		assert_int_equal(k.traces[i % 2].traces.cap, cap);
	}
	assert_true(k.first > 0);
	for (uint64_t id = k.first; id < k.n; id++) {
		traces_get(&x, id, &was, had);
		xp_keep_at(&k, id, &t, hop);
		t.hop_off = was.hop_off;
		const struct algo_trace a = t, b = was;
		ALGO_TRACE_COLUMNS(SAME)
		for (unsigned i = 0; i < t.n_hops; i++) {
			const struct algo_hop c = hop[i], d = had[i];
			ALGO_HOP_COLUMNS(SAME_HOP)
		}
	}
	sim_ns gone = 0;
	for (uint64_t id = 0; id < k.first; id++)
		if (x.store.traces.t_ns[id] > gone)
			gone = x.store.traces.t_ns[id];
	assert_int_equal(k.gone_ns, gone);
	xp_keep_free(&k);
	traces_free(&x);
}

static void rows_of_counters_are_kept_likewise(void **state)
{
	struct algo_counters rows = {0}, got = {0};
	struct algo_trace_store none = {0};
	struct xp_keep k;
	(void)state;
	assert_ok(xp_keep_open(&k, XP_KEEP_LEAST, test_err()));
	for (uint32_t i = 1; i <= 3 * k.cap_rows; i++) {
		const struct algo_counter row = {.t_ns = i, .id = i};
		algo_counters_clear(&rows);
		assert_ok(algo_counters_add(&rows, &row, test_err()));
		xp_keep_rows(&k, &rows);
	}
	assert_ok(xp_keep_load(&k, 0, SIM_NEVER, &none, &got, test_err()));
	assert_int_equal(got.n, 2 * k.cap_rows);
	assert_int_equal(got.id[0], k.cap_rows + 1);
	assert_int_equal(k.n_rows_gone, k.cap_rows);
	assert_int_equal(k.rows_gone_ns, k.cap_rows);
	algo_counters_free(&rows);
	algo_counters_free(&got);
	xp_keep_free(&k);
}

/* Bytes of a row, summed up by its columns. */
#define BYTES_OF(type, name, unit, doc) +sizeof(type)
enum {
	TRACE_BYTES = 0 ALGO_TRACE_COLUMNS(BYTES_OF),
	HOP_BYTES = 0 ALGO_HOP_COLUMNS(BYTES_OF),
	ROW_BYTES = 0 ALGO_COUNTER_COLUMNS(BYTES_OF),
};

/* Seven eighths for traces of six hops, an eighth for rows, each in two halves. */
static void all_memory_is_taken_at_once(void **state)
{
	struct xp_keep k;
	(void)state;
	assert_ok(xp_keep_open(&k, 1 << 20, test_err()));
	assert_int_equal(k.cap_traces,
	    (1 << 19) * 7 / 8 / (TRACE_BYTES + 6 * HOP_BYTES));
	assert_int_equal(k.cap_hops, 6 * k.cap_traces);
	assert_int_equal(k.cap_rows, (1 << 19) / 8 / ROW_BYTES);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(k.traces[i].traces.cap >= k.cap_traces);
		assert_true(k.traces[i].hops.cap >= k.cap_hops);
		assert_true(k.counters[i].cap >= k.cap_rows);
	}
	xp_keep_free(&k);
	assert_null(k.traces[0].traces.t_ns);
	assert_int_equal(k.cap_traces, 0);
	xp_keep_free(&k);
}

/* A half is full when the next trace does not fit, by itself or by its hops. */
static void a_half_is_full_by_traces_or_hops(void **state)
{
	struct algo_hop hop[12] = {{.t_ns = 0}};
	struct xp_keep k;
	(void)state;
	for (uint16_t n_hops = 6; n_hops <= 12; n_hops += 6) {
		struct algo_trace t = {.n_hops = n_hops};
		assert_ok(xp_keep_open(&k, XP_KEEP_LEAST, test_err()));
		const uint64_t half = k.cap_hops / n_hops;
		for (uint64_t i = 0; i < 3 * half + 1; i++) {
			t.t_ns = 1 + i;
			xp_keep_trace(&k, &t, hop);
			const uint64_t gone = i < 2 * half ? 0
			    : i < 3 * half                 ? half
							   : 2 * half;
			assert_int_equal(k.first, gone);
			assert_int_equal(k.gone_ns, gone);
		}
		xp_keep_free(&k);
	}
}

static void what_is_loaded_is_of_a_span(void **state)
{
	struct algo_counters rows = {0}, got = {0};
	struct algo_trace_store store = {0};
	struct algo_hop hop[1] = {{.t_ns = 0}};
	struct xp_keep k;
	(void)state;
	assert_ok(xp_keep_open(&k, XP_KEEP_LEAST, test_err()));
	for (uint32_t i = 0; i < 10; i++) {
		const struct algo_trace t = {.t_ns = i, .n_hops = 1};
		const struct algo_counter row = {.t_ns = i};
		hop[0].node = i;
		xp_keep_trace(&k, &t, hop);
		assert_ok(algo_counters_add(&rows, &row, test_err()));
	}
	xp_keep_rows(&k, &rows);
	assert_ok(xp_keep_load(&k, 3, 7, &store, &got, test_err()));
	/* Traces that began in [3, 7), spans that ended in (3, 7]. */
	assert_int_equal(store.traces.n, 4);
	assert_int_equal(got.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(store.traces.t_ns[i], 3 + i);
		assert_int_equal(store.hops.node[i], 3 + i);
		assert_int_equal(got.t_ns[i], 4 + i);
	}
	algo_trace_store_free(&store);
	algo_counters_free(&rows);
	algo_counters_free(&got);
	xp_keep_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_latest_are_kept_and_no_more),
	    cmocka_unit_test(rows_of_counters_are_kept_likewise),
	    cmocka_unit_test(all_memory_is_taken_at_once),
	    cmocka_unit_test(a_half_is_full_by_traces_or_hops),
	    cmocka_unit_test(what_is_loaded_is_of_a_span),
	};
	return cmocka_run_group_tests_name("experiments/everflow/keep", tests,
	    NULL, NULL);
}
