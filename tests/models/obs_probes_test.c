/* tests/models/obs_probes_test.c -- probe tables grow, empty and are checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_probes.h"

#include "models/obs_http.h"
#include "tests/test.h"

/* A row whose columns all differ from each other and from other rows'. */
static struct obs_probe number(uint32_t i)
{
	const int answered = i % 3 == OBS_CONNECTED;
	return (struct obs_probe){.sent_ns = UINT64_C(10000000019) * i,
	    .rtt_ns = answered ? UINT64_C(5000000029) + i : 0,
	    .src_host = 2 * i,
	    .dst_host = 2 * i + 1,
	    .src_port = (uint16_t)(i + 1024),
	    .dst_port = (uint16_t)(i + 80),
	    .outcome = (uint8_t)(i % 3),
	    .level = (uint8_t)(1 + i % 3),
	    .class = (uint8_t)(i % 7),
	    .payload_bytes = i * 61};
}

static void assert_number(const struct obs_probes *t, uint32_t i)
{
	const struct obs_probe want = number(i), got = obs_probes_at(t, i);
#define X(type, name, units, doc)                                              \
	assert_true(t->name[i] == want.name);                                  \
	assert_true(got.name == want.name);
	OBS_PROBE_COLUMNS(X)
#undef X
}

static void rows_keep_their_columns(void **state)
{
	(void)state;
	struct obs_probes t = {0};
	for (uint32_t i = 0; i < 1000; i++) {
		const struct obs_probe p = number(i);
		assert_ok(obs_probes_add(&t, &p, test_err()));
	}
	assert_int_equal(t.n, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_number(&t, i);
	assert_ok(obs_probes_check(&t, 0, 2000, test_err()));
	obs_probes_free(&t);
	assert_null(t.rtt_ns);
	obs_probes_free(&t);
}

static void a_cleared_table_is_empty_and_keeps_its_memory(void **state)
{
	(void)state;
	struct obs_probes t = {0};
	const struct obs_probe p = number(4), q = number(0);
	for (uint32_t i = 0; i < 50; i++)
		assert_ok(obs_probes_add(&t, &p, test_err()));
	const uint64_t *before = t.sent_ns;
	obs_probes_clear(&t);
	assert_int_equal(t.n, 0);
	assert_ok(obs_probes_check(&t, 0, 0, test_err()));
	assert_ok(obs_probes_add(&t, &q, test_err()));
	assert_number(&t, 0);
	assert_ptr_equal(t.sent_ns, before);
	obs_probes_free(&t);
}

static int add_until_it_fails(void *arg, struct sim_err *e)
{
	(void)arg;
	struct obs_probes t = {0};
	int rc = 0;
	uint32_t i = 0;
	for (; i < 20 && rc == 0; i += rc == 0) {
		const struct obs_probe p = number(i);
		rc = obs_probes_add(&t, &p, e);
	}
	assert_int_equal(t.n, i);
	for (uint32_t j = 0; j < i; j++)
		assert_number(&t, j);
	if (rc < 0) { /* the next row finds everything in order again */
		const struct obs_probe p = number(i);
		assert_int_equal(obs_probes_add(&t, &p, NULL), 0);
		assert_number(&t, i);
	}
	obs_probes_free(&t);
	return rc;
}

static void a_row_without_memory_leaves_the_table_as_it_was(void **state)
{
	(void)state;
	test_each_alloc_fails(add_until_it_fails, NULL);
}

/* Two rows, the second of them P: refused with a text that holds both. */
static void assert_refused(struct obs_probe p, const char *text)
{
	struct obs_probes t = {0};
	struct sim_err e = {0};
	const struct obs_probe good = number(0);
	assert_ok(obs_probes_add(&t, &good, test_err()));
	assert_ok(obs_probes_add(&t, &p, test_err()));
	assert_int_equal(obs_probes_check(&t, 0, 10, &e), SIM_EINVAL);
	if (!strstr(e.msg, "probe 1") || !strstr(e.msg, text))
		fail_msg("\"%s\" lacks \"probe 1\" or \"%s\"", e.msg, text);
	assert_int_equal(e.msg[strlen(e.msg) - 1], '.');
	obs_probes_free(&t);
}

static void a_check_names_the_probe_and_the_wrong_value(void **state)
{
	(void)state;
	struct obs_probe p;
#define REFUSED(member, value, text)                                           \
	p = number(3);                                                         \
	p.member = (value);                                                    \
	assert_refused(p, text)
	REFUSED(src_host, 10, "from host 10 to 7");
	REFUSED(dst_host, 11, "from host 6 to 11");
	REFUSED(dst_host, 6, "host 6 to itself");
	REFUSED(outcome, 3, "outcome 3");
	REFUSED(level, 0, "level 0");
	REFUSED(level, 4, "level 4");
	REFUSED(payload_bytes, 65537, "65537 bytes");
	REFUSED(rtt_ns, 0, "in no time");
	REFUSED(outcome, OBS_TIMED_OUT, "5000000032 ns");
#undef REFUSED
}

static void the_limits_themselves_pass(void **state)
{
	(void)state;
	struct obs_probes t = {0};
	struct obs_probe p = number(3);
	p.payload_bytes = 65536;
	assert_ok(obs_probes_add(&t, &p, test_err()));
	p.outcome = OBS_REFUSED; /* with and without a time */
	assert_ok(obs_probes_add(&t, &p, test_err()));
	p.rtt_ns = 0;
	assert_ok(obs_probes_add(&t, &p, test_err()));
	assert_ok(obs_probes_check(&t, 0, 8, test_err()));
	assert_int_equal(obs_probes_check(&t, 0, 7, NULL), SIM_EINVAL);
	/* Between data centres a peer may be beyond our hosts, as host 7 is
	 * now; the sender, host 6, may not. */
	for (size_t i = 0; i < t.n; i++)
		t.level[i] = OBS_LEVEL_INTER_DC;
	assert_ok(obs_probes_check(&t, 0, 7, test_err()));
	assert_int_equal(obs_probes_check(&t, 0, 6, NULL), SIM_EINVAL);
	obs_probes_free(&t);
}

/* Hosts are those from the first on, at either end; so they are of GETs. */
static void hosts_are_those_from_the_first_on(void **state)
{
	(void)state;
	static const struct {
		uint32_t src, dst, level;
		int good;
	} all[] = {{5, 9, 1, 1}, {9, 5, 1, 1}, {4, 9, 1, 0}, {5, 4, 1, 0},
	    {10, 5, 1, 0}, {5, 10, 1, 0}, {5, 4, 3, 1}, {5, 10, 3, 1},
	    {4, 5, 3, 0}, {10, 5, 3, 0}, {5, 5, 3, 0}, {5, 4, 2, 0}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct obs_probes t = {0};
		struct sim_err e = {0};
		const struct obs_probe p = {.src_host = all[i].src,
		    .dst_host = all[i].dst,
		    .level = (uint8_t)all[i].level,
		    .outcome = OBS_TIMED_OUT};
		assert_ok(obs_probes_add(&t, &p, test_err()));
		assert_int_equal(obs_probes_check(&t, 5, 5, &e),
		    all[i].good ? 0 : SIM_EINVAL);
		obs_probes_free(&t);
		struct obs_http g = {0};
		const struct obs_http_row row = {.src_host = all[i].src,
		    .dst_host = all[i].dst,
		    .level = (uint8_t)all[i].level,
		    .answer = AGENT_ANSWER_LATE};
		assert_ok(obs_http_add(&g, &row, test_err()));
		assert_int_equal(obs_http_check(&g, 5, 5, &e),
		    all[i].good ? 0 : SIM_EINVAL);
		obs_http_free(&g);
	}
}

/* Levels 1 to 3; an answer, and a time with status 200 alone. */
static void a_get_is_checked_at_its_ends(void **state)
{
	(void)state;
	const struct {
		struct obs_http_row row;
		const char *msg;
	} all[] = {
	    {{.answer_ns = 1, .level = 1, .answer = AGENT_ANSWER_OK}, ""},
	    {{.level = 3, .answer = AGENT_ANSWER_OTHER}, ""},
	    {{.level = 2, .answer = AGENT_N_ANSWERS - 1}, ""},
	    {{.level = 0, .answer = AGENT_ANSWER_LATE},
		"GET 0: level 0 is not in 1 to 3."},
	    {{.level = 4, .answer = AGENT_ANSWER_LATE},
		"GET 0: level 4 is not in 1 to 3."},
	    {{.level = 2, .answer = AGENT_N_ANSWERS},
		"GET 0: answer 6 does not go with a time of 0 ns."},
	    {{.level = 2, .answer = AGENT_ANSWER_OK},
		"GET 0: answer 1 does not go with a time of 0 ns."},
	    {{.level = 2, .answer_ns = 9, .answer = AGENT_ANSWER_CUT},
		"GET 0: answer 4 does not go with a time of 9 ns."},
	    {{.level = 2, .answer = AGENT_ANSWER_NOT_ASKED},
		"GET 0: answer 0 does not go with a time of 0 ns."},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct obs_http t = {0};
		struct sim_err e = {0};
		struct obs_http_row row = all[i].row;
		row.dst_host = 1;
		assert_ok(obs_http_add(&t, &row, test_err()));
		assert_int_equal(obs_http_check(&t, 0, 2, &e),
		    all[i].msg[0] ? SIM_EINVAL : 0);
		assert_string_equal(e.msg, all[i].msg);
		obs_http_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_keep_their_columns),
	    cmocka_unit_test(a_cleared_table_is_empty_and_keeps_its_memory),
	    cmocka_unit_test(a_row_without_memory_leaves_the_table_as_it_was),
	    cmocka_unit_test(a_check_names_the_probe_and_the_wrong_value),
	    cmocka_unit_test(the_limits_themselves_pass),
	    cmocka_unit_test(hosts_are_those_from_the_first_on),
	    cmocka_unit_test(a_get_is_checked_at_its_ends),
	};
	return cmocka_run_group_tests_name("models/obs_probes", tests, NULL,
	    NULL);
}
