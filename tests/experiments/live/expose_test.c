/* tests/experiments/live/expose_test.c -- metrics out and in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/daemon.h"
#include "experiments/live/expose.h"
#include "tests/test.h"

static struct xp_exposed x;

static void a_text_is_as_prometheus_has_it(void **state)
{
	char buf[512];
	struct sim_text t = {buf, sizeof(buf), 0};
	(void)state;
	xp_expose_total(&t, "a_total", "things that were", 3);
	xp_expose_family(&t, XP_EXPOSE_COUNTER, "b_total", "more");
	xp_expose_count(&t, "b_total", "kind", "c", 0);
	xp_expose_count(&t, "b_total", "kind", "d", UINT64_MAX);
	xp_expose_gauge(&t, "e_seconds", "time", 0.25);
	xp_expose_gauge(&t, "f", "what nobody knows", NAN);
	assert_string_equal(buf,
	    "# HELP a_total Things that were.\n# TYPE a_total counter\n"
	    "a_total 3\n"
	    "# HELP b_total More.\n# TYPE b_total counter\n"
	    "b_total{kind=\"c\"} 0\n"
	    "b_total{kind=\"d\"} 18446744073709551615\n"
	    "# HELP e_seconds Time.\n# TYPE e_seconds gauge\n"
	    "e_seconds 0.25\n"
	    "# HELP f What nobody knows.\n# TYPE f gauge\nf NaN\n");
	assert_int_equal(t.n, strlen(buf));
}

/* What was written is read, to the last digit. */
static void what_is_written_is_read(void **state)
{
	static const double values[] = {0, 1, 0.1, 1e-9, 4503599627370495.0,
	    1795435200.0, 1e300};
	const struct xp_daemon_cost cost = {.rss_bytes = 12345678,
	    .n_refused_calls = 6,
	    .cpu_s = 3.25};
	char buf[4096], name[16];
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct sim_text t = {buf, sizeof(buf), 0};
		snprintf(name, sizeof(name), "g_%zu", i);
		xp_expose_gauge(&t, name, "a number", values[i]);
		xp_expose_process(&t, "process", &cost, 1795435200);
		xp_expose_family(&t, XP_EXPOSE_COUNTER, "k_total", "kinds");
		xp_expose_count(&t, "k_total", "kind", "a", 7);
		xp_expose_count(&t, "k_total", "kind", "b", 8);
		assert_ok(xp_exposed_read(&x, buf, test_err()));
		assert_int_equal(x.n, 7);
		assert_true(xp_exposed_get(&x, name) == values[i]);
		assert_true(
		    xp_exposed_get(&x, "process_cpu_seconds_total") == 3.25);
		assert_true(xp_exposed_get(&x,
				"process_resident_memory_bytes") == 12345678);
		assert_true(
		    xp_exposed_get(&x, "process_refused_calls_total") == 6);
		assert_true(xp_exposed_get(&x, "k_total{kind=\"b\"}") == 8);
		assert_true(isnan(xp_exposed_get(&x, "k_total")));
		assert_true(isnan(xp_exposed_get(&x, "none")));
	}
}

#define A "# HELP a_total Things.\n# TYPE a_total counter\n"
#define G "# HELP g Things.\n# TYPE g gauge\n"
static void what_is_not_ours_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"a_total 1\n", "line 1: a sample without HELP and TYPE"},
	    {A "b_total 1\n", "line 3: a sample without HELP and TYPE"},
	    {A "a_tota 1\n", "line 3: a sample without HELP and TYPE"},
	    {A "a_total 1\na_total 2\n", "line 4: a sample that was there"},
	    {A "a_total -1\n", "line 3: a counter that is not counted"},
	    {A "a_total NaN\n", "line 3: a counter that is not counted"},
	    {G "g nan\n", "line 3: no number"},
	    {G "g 1", "line 3: a line that does not end"},
	    {G "g 1 1795435200\n", "line 3: no number"},
	    {G "g  1\n", "line 3: no number"},
	    {G "g\n", "line 3: no sample"},
	    {G "g \n", "line 3: no number"},
	    {G "g{a=\"b\",c=\"d\"} 1\n", "line 3: no sample"},
	    {G "g{a=\"b} 1\n", "line 3: no sample"},
	    {G "g{} 1\n", "line 3: no sample"},
	    {G "\n", "line 3: no sample"},
	    {G "# a comment\n", "line 3: no sample"},
	    {"# HELP a Things.\n# TYPE b gauge\n",
		"line 2: TYPE is not of the HELP before it"},
	    {"# TYPE b gauge\n", "line 1: TYPE is not of the HELP before it"},
	    {"# HELP a Things.\na 1\n", "line 2: a sample without"},
	    {"# HELP a \n", "line 1: no name with a help"},
	    {"# HELP 9a Things.\n", "line 1: no name with a help"},
	    {"# HELP a Things.\n# TYPE a histogram\n",
		"line 2: neither a counter nor a gauge"},
	    {"# HELP a Things.\n# TYPE a counter\n",
		"line 2: counters, and they alone, end in _total"},
	    {"# HELP a_total Things.\n# TYPE a_total gauge\n",
		"line 2: counters, and they alone, end in _total"},
	};
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(xp_exposed_read(&x, bad[i].text, &e),
		    SIM_EPARSE);
		if (!strstr(e.msg, bad[i].says))
			fail_msg("%s\n-> %s", bad[i].text, e.msg);
	}
	assert_ok(xp_exposed_read(&x, "", &e));
	assert_int_equal(x.n, 0);
}

static void no_more_samples_are_read_than_there_is_room_for(void **state)
{
	static char buf[1 << 16];
	struct sim_text t = {buf, sizeof(buf), 0};
	struct sim_err e;
	char value[16];
	(void)state;
	xp_expose_family(&t, XP_EXPOSE_COUNTER, "k_total", "kinds");
	for (int i = 0; i < XP_EXPOSE_MOST; i++) {
		snprintf(value, sizeof(value), "v%d", i);
		xp_expose_count(&t, "k_total", "kind", value, 1);
	}
	assert_ok(xp_exposed_read(&x, buf, &e));
	assert_int_equal(x.n, XP_EXPOSE_MOST);
	xp_expose_count(&t, "k_total", "kind", "more", 1);
	assert_int_equal(xp_exposed_read(&x, buf, &e), SIM_ELIMIT);
	/* A name that is too long for its place. */
	t.n = 0;
	memset(value, 0, sizeof(value));
	sim_put(&t, "# HELP %0200d x\n", 1);
	buf[7] = 'a';
	assert_int_equal(xp_exposed_read(&x, buf, &e), SIM_EPARSE);
}

/* Each byte of a text replaced by each of these, and each place where it may be cut
 * off, in memory that has not a byte more: it is read or refused, and what was read
 * is finite or not known. */
static void no_damage_does_more_than_be_refused(void **state)
{
	static const char text[] = A "a_total{b=\"c\"} 1.5\n" G "g NaN\n";
	static const char bytes[] = "\n #{}=\"\\_a9.-e\x01\x7f\xff";
	size_t n_refused = 0;
	(void)state;
	for (size_t at = 0; at < sizeof(text) - 1; at++)
		for (size_t i = 0; i < sizeof(bytes); i++) {
			/* The last is the 0, which cuts it off. */
			const size_t n = bytes[i] ? sizeof(text) : at + 1;
			struct sim_err e;
			char *exact = malloc(n);
			assert_non_null(exact);
			memcpy(exact, text, n);
			exact[at] = bytes[i];
			exact[n - 1] = '\0';
			const int rc = xp_exposed_read(&x, exact, &e);
			assert_true(rc == 0 || rc == SIM_EPARSE);
			n_refused += rc != 0;
			for (size_t k = 0; k < x.n; k++)
				assert_false(isinf(x.sample[k].value));
			free(exact);
		}
	assert_true(n_refused > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_text_is_as_prometheus_has_it),
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(what_is_not_ours_is_refused_with_its_line),
	    cmocka_unit_test(no_damage_does_more_than_be_refused),
	    cmocka_unit_test(no_more_samples_are_read_than_there_is_room_for),
	};
	return cmocka_run_group_tests_name("experiments/live/expose", tests,
	    NULL, NULL);
}
