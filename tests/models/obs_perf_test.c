/* tests/models/obs_perf_test.c -- counter tables grow, empty and are checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_perf.h"

#include "tests/test.h"

/* A row whose columns all differ from each other and from other rows'. */
static struct obs_perf_row number(uint32_t i)
{
	const uint64_t k = UINT64_C(10000000019) * (i + 1);
	return (struct obs_perf_row){.end_ns = k,
	    .host = i,
	    .n_probes = 90000 + i,
	    .n_connected = 80000 + i,
	    .n_unconnected = 70000 + i,
	    .n_drop_1 = 600 + i,
	    .n_drop_2 = 50 + i,
	    .p50_ns = k + 1,
	    .p99_ns = k + 2};
}

static void assert_number(const struct obs_perf *t, uint32_t i)
{
	const struct obs_perf_row want = number(i), got = obs_perf_at(t, i);
#define X(type, name, units, doc)                                              \
	assert_true(t->name[i] == want.name);                                  \
	assert_true(got.name == want.name);
	OBS_PERF_COLUMNS(X)
#undef X
}

static void rows_keep_their_columns(void **state)
{
	(void)state;
	struct obs_perf t = {0};
	for (uint32_t i = 0; i < 1000; i++) {
		const struct obs_perf_row r = number(i);
		assert_ok(obs_perf_add(&t, &r, test_err()));
	}
	assert_int_equal(t.n, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_number(&t, i);
	assert_ok(obs_perf_check(&t, 0, 1000, test_err()));
	assert_int_equal(obs_perf_check(&t, 0, 999, NULL), SIM_EINVAL);
	obs_perf_free(&t);
	assert_null(t.host);
	obs_perf_free(&t);
}

static void a_cleared_table_is_empty_and_keeps_its_memory(void **state)
{
	(void)state;
	struct obs_perf t = {0};
	const struct obs_perf_row r = number(4), s = number(0);
	for (uint32_t i = 0; i < 50; i++)
		assert_ok(obs_perf_add(&t, &r, test_err()));
	const uint64_t *before = t.end_ns;
	obs_perf_clear(&t);
	assert_int_equal(t.n, 0);
	assert_ok(obs_perf_check(&t, 0, 0, test_err()));
	assert_ok(obs_perf_add(&t, &s, test_err()));
	assert_number(&t, 0);
	assert_ptr_equal(t.end_ns, before);
	obs_perf_free(&t);
}

static int add_until_it_fails(void *arg, struct sim_err *e)
{
	(void)arg;
	struct obs_perf t = {0};
	int rc = 0;
	uint32_t i = 0;
	for (; i < 20 && rc == 0; i += rc == 0) {
		const struct obs_perf_row r = number(i);
		rc = obs_perf_add(&t, &r, e);
	}
	assert_int_equal(t.n, i);
	for (uint32_t j = 0; j < i; j++)
		assert_number(&t, j);
	if (rc < 0) { /* the next row finds everything in order again */
		const struct obs_perf_row r = number(i);
		assert_int_equal(obs_perf_add(&t, &r, NULL), 0);
		assert_number(&t, i);
	}
	obs_perf_free(&t);
	return rc;
}

static void a_row_without_memory_leaves_the_table_as_it_was(void **state)
{
	(void)state;
	test_each_alloc_fails(add_until_it_fails, NULL);
}

/* Two rows, the second of them R: refused with a text that holds both. */
static void assert_refused(struct obs_perf_row r, const char *text)
{
	struct obs_perf t = {0};
	struct sim_err e = {0};
	const struct obs_perf_row good = number(0);
	assert_ok(obs_perf_add(&t, &good, test_err()));
	assert_ok(obs_perf_add(&t, &r, test_err()));
	assert_int_equal(obs_perf_check(&t, 0, 10, &e), SIM_EINVAL);
	if (!strstr(e.msg, "row 1") || !strstr(e.msg, text))
		fail_msg("\"%s\" lacks \"row 1\" or \"%s\"", e.msg, text);
	assert_int_equal(e.msg[strlen(e.msg) - 1], '.');
	obs_perf_free(&t);
}

static void a_check_names_the_row_and_the_wrong_value(void **state)
{
	(void)state;
	const uint64_t huge = UINT64_C(1) << 53;
	struct obs_perf_row r;
#define REFUSED(member, value, text)                                           \
	r = number(3);                                                         \
	r.member = (value);                                                    \
	assert_refused(r, text)
	REFUSED(host, 10, "host 10");
	REFUSED(n_probes, huge, "n_probes 9007199254740992");
	REFUSED(n_connected, huge, "n_connected");
	REFUSED(n_unconnected, huge, "n_unconnected");
	REFUSED(n_drop_1, huge, "n_drop_1");
	REFUSED(n_drop_2, UINT64_MAX, "n_drop_2");
	REFUSED(n_drop_1, 80003 - 52, "80004 of them");
	REFUSED(p50_ns, 0, "median is 0 ns");
	REFUSED(p99_ns, 0, "percentile 0 ns");
	REFUSED(p50_ns, number(3).p99_ns + 1, "above");
#undef REFUSED
	r = number(3);
	r.n_connected = r.n_drop_1 = r.n_drop_2 = 0;
	assert_refused(r, "0 probes connected");
}

static void the_limits_themselves_pass(void **state)
{
	(void)state;
	struct obs_perf t = {0};
	struct obs_perf_row r = number(3), none = {.host = 3, .n_probes = 1};
	r.n_drop_1 = r.n_connected - r.n_drop_2;
	r.p99_ns = r.p50_ns;
	assert_ok(obs_perf_add(&t, &r, test_err()));
	r.n_probes = (UINT64_C(1) << 53) - 1;
	assert_ok(obs_perf_add(&t, &r, test_err()));
	assert_ok(obs_perf_add(&t, &none, test_err()));
	assert_ok(obs_perf_check(&t, 0, 4, test_err()));
	obs_perf_free(&t);
}

/* Hosts are those from the first on; and each count ends below 2^53. */
static void hosts_and_counts_end_where_they_say(void **state)
{
	(void)state;
	const uint64_t most = (UINT64_C(1) << 53) - 1;
	struct obs_perf t = {0};
	struct sim_err e;
	const struct obs_perf_row r = {.host = 7,
	    .n_probes = most,
	    .n_connected = most,
	    .n_unconnected = most,
	    .n_drop_1 = most,
	    .p50_ns = 1,
	    .p99_ns = 1};
	assert_ok(obs_perf_add(&t, &r, test_err()));
	assert_ok(obs_perf_check(&t, 7, 1, test_err()));
	assert_ok(obs_perf_check(&t, 5, 3, test_err()));
	assert_int_equal(obs_perf_check(&t, 8, 10, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "row 0 is of host 7, but there are only 10 hosts from 8 on.");
	assert_int_equal(obs_perf_check(&t, 5, 2, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "row 0 is of host 7, but there are only 2 hosts from 5 on.");
	t.n_drop_1[0] = most - 5;
	t.n_drop_2[0] = 6;
	assert_int_equal(obs_perf_check(&t, 7, 1, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "row 0: 9007199254740991 probes connected, yet 9007199254740992 of "
	    "them lost SYNs.");
	obs_perf_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_keep_their_columns),
	    cmocka_unit_test(a_cleared_table_is_empty_and_keeps_its_memory),
	    cmocka_unit_test(a_row_without_memory_leaves_the_table_as_it_was),
	    cmocka_unit_test(a_check_names_the_row_and_the_wrong_value),
	    cmocka_unit_test(the_limits_themselves_pass),
	    cmocka_unit_test(hosts_and_counts_end_where_they_say),
	};
	return cmocka_run_group_tests_name("models/obs_perf", tests, NULL,
	    NULL);
}
