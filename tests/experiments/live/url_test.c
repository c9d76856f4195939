/* tests/experiments/live/url_test.c -- whom an agent may be told to ask.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/url.h"

#include "experiments/live/fetch_whom.h"
#include "tests/test.h"

static const char *url_taken(const char *text, const char *tail)
{
	static char out[XP_URL_MAX];
	assert_ok(xp_url_take(out, text, strlen(text), tail, test_err()));
	return out;
}

static void a_tail_stands_behind_one_slash(void **state)
{
	char out[XP_URL_MAX];
	(void)state;
	assert_string_equal(url_taken("http://a", "/x"), "http://a/x");
	assert_string_equal(url_taken("http://a/", "/x"), "http://a/x");
	assert_string_equal(url_taken("HTTP://a/b///", "/x"), "HTTP://a/b/x");
	assert_string_equal(url_taken("https://10.0.0.9:8080", "/x/y"),
	    "https://10.0.0.9:8080/x/y");
	assert_string_equal(url_taken("http://[::1]:1", "/"),
	    "http://[::1]:1/");
	/* Of a list, what is up to the comma. */
	assert_ok(xp_url_take(out, "http://a,ftp://b", 8, "/x", test_err()));
	assert_string_equal(out, "http://a/x");
}

static void what_cannot_be_asked_is_told(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"",
		"\"\" cannot be asked: it is no URL; http://10.0.0.9:8080 is "
		"one."},
	    {"http://a b",
		"\"http://a b\" cannot be asked: it is no URL; "
		"http://10.0.0.9:8080 is one."},
	    {"ftp://a",
		"\"ftp://a\" cannot be asked: it does not begin with http:// "
		"or https://."},
	    {"http:/a",
		"\"http:/a\" cannot be asked: it does not begin with http:// "
		"or https://."},
	    {"https:///a",
		"\"https:///a\" cannot be asked: it does not begin with "
		"http:// or https://."},
	    {"http://a?b",
		"\"http://a?b\" cannot be asked: it has a query or a "
		"fragment."},
	    {"http://a#b",
		"\"http://a#b\" cannot be asked: it has a query or a "
		"fragment."},
	    {"http://u@a",
		"\"http://u@a\" cannot be asked: it has a user or a "
		"password."},
	    {"https://:p@a",
		"\"https://:p@a\" cannot be asked: it has a user or a "
		"password."},
	};
	char out[XP_URL_MAX] = "as it was";
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(xp_url_take(out, bad[i].text,
				     strlen(bad[i].text), "/x", &e),
		    SIM_EINVAL);
		assert_string_equal(e.msg, bad[i].says);
		assert_string_equal(out, "as it was");
	}
}

static void a_url_fits_with_its_tail(void **state)
{
	enum { TAIL = 4, MOST = XP_URL_MAX - 1 - TAIL };
	char text[XP_URL_MAX + 1], out[XP_URL_MAX];
	struct sim_err e;
	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text, "http://b/", 9);
	assert_ok(xp_url_take(out, text, MOST, "/end", test_err()));
	assert_int_equal(strlen(out), XP_URL_MAX - 1);
	assert_memory_equal(out, text, MOST);
	assert_string_equal(out + MOST, "/end");
	assert_int_equal(xp_url_take(out, text, MOST + 1, "/end", &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "A URL has at most 1019 bytes.");
}

static void in_the_clear_this_host_alone_is_asked(void **state)
{
	static const char *const fine[] = {"http://localhost/x",
	    "http://LocalHost:80/x", "http://127.0.0.1/x",
	    "http://127.255.255.255:9/x", "http://[::1]:8080/x",
	    "https://10.0.0.9/x", "https://a/x"};
	static const char *const far[] = {"http://10.0.0.9/x", "http://a/x",
	    "http://128.0.0.1/x", "http://126.255.255.255/x", "http://[::2]/x",
	    "http://localhost.a/x", "http://127.0.0.1.a/x"};
	const struct xp_identity_params secure = {0}, any = {.insecure = 1};
	char says[256];
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		assert_ok(xp_url_check_plain(fine[i], &secure, test_err()));
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		assert_ok(xp_url_check_plain(far[i], &any, test_err()));
		assert_int_equal(xp_url_check_plain(far[i], &secure, &e),
		    SIM_EINVAL);
		snprintf(says, sizeof(says),
		    "\"%s\" is another host, and what is said to it can be "
		    "read and forged: use https:// with --ca, --cert and "
		    "--key, or --insecure.",
		    far[i]);
		assert_string_equal(e.msg, says);
	}
}

/* --- those of an agent ---------------------------------------------------- */

static struct xp_fetch_params whom_params(const char *controllers)
{
	return (struct xp_fetch_params){.controllers = controllers,
	    .address = topo_ip_of_4(0x0a000011),
	    .identity.insecure = 1};
}

static void each_is_asked_for_what_it_has(void **state)
{
	static struct xp_fetch_whom w;
	struct xp_fetch_params p =
	    whom_params("http://a/,https://b:8,http://c");
	(void)state;
	w = (struct xp_fetch_whom){.n_controllers = 0};
	assert_ok(xp_fetch_whom_take(&w, &p, test_err()));
	assert_int_equal(w.n_controllers, 3);
	assert_string_equal(w.controller[0], "http://a/pinglist/10.0.0.17");
	assert_string_equal(w.controller[1], "https://b:8/pinglist/10.0.0.17");
	assert_string_equal(w.controller[2], "http://c/pinglist/10.0.0.17");
	assert_string_equal(w.collector, "");
	assert_int_equal(w.first, topo_ip_hash(&p.address) % 3);
	w = (struct xp_fetch_whom){.n_controllers = 0};
	p = whom_params("http://[::1]");
	assert_ok(topo_ip_parse("2001:db8::7", &p.address, test_err()));
	p.collector = "http://d/e/";
	assert_ok(xp_fetch_whom_take(&w, &p, test_err()));
	assert_int_equal(w.n_controllers, 1);
	assert_int_equal(w.first, 0);
	assert_string_equal(w.controller[0],
	    "http://[::1]/pinglist/2001:db8::7");
	assert_string_equal(w.collector, "http://d/e/results");
}

static void there_are_so_many_controllers(void **state)
{
	static struct xp_fetch_whom w;
	char text[512] = "http://a";
	struct sim_err e;
	(void)state;
	for (int i = 1; i < XP_FETCH_MAX_CONTROLLERS; i++)
		strcat(text, ",http://a");
	const struct xp_fetch_params p = whom_params(text);
	w = (struct xp_fetch_whom){.n_controllers = 0};
	assert_ok(xp_fetch_whom_take(&w, &p, test_err()));
	assert_int_equal(w.n_controllers, XP_FETCH_MAX_CONTROLLERS);
	strcat(text, ",http://a");
	w = (struct xp_fetch_whom){.n_controllers = 0};
	assert_int_equal(xp_fetch_whom_take(&w, &p, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "More than 16 controllers.");
}

/* What is no URL is told before what may not be asked in the clear. */
static void none_of_them_is_far_in_the_clear(void **state)
{
	static const struct {
		const char *controllers, *collector, *says;
	} bad[] = {
	    {"http://a,http://b c", NULL, "\"http://b c\" cannot be asked"},
	    {"http://a", "ftp://b", "\"ftp://b\" cannot be asked"},
	    {"http://127.0.0.1,http://b", NULL, "\"http://b/pinglist/"},
	    {"http://127.0.0.1", "http://b", "\"http://b/results\" is another"},
	};
	static struct xp_fetch_whom w;
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_fetch_params p = whom_params(bad[i].controllers);
		p.identity.insecure = 0;
		p.collector = bad[i].collector;
		w = (struct xp_fetch_whom){.n_controllers = 0};
		assert_int_equal(xp_fetch_whom_take(&w, &p, &e), SIM_EINVAL);
		assert_ptr_equal(strstr(e.msg, bad[i].says), e.msg);
	}
	struct xp_fetch_params p = whom_params("http://localhost");
	p.identity.insecure = 0;
	p.collector = "https://b";
	w = (struct xp_fetch_whom){.n_controllers = 0};
	assert_ok(xp_fetch_whom_take(&w, &p, test_err()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_tail_stands_behind_one_slash),
	    cmocka_unit_test(what_cannot_be_asked_is_told),
	    cmocka_unit_test(a_url_fits_with_its_tail),
	    cmocka_unit_test(in_the_clear_this_host_alone_is_asked),
	    cmocka_unit_test(each_is_asked_for_what_it_has),
	    cmocka_unit_test(there_are_so_many_controllers),
	    cmocka_unit_test(none_of_them_is_far_in_the_clear),
	};
	return cmocka_run_group_tests_name("experiments/live/url", tests, NULL,
	    NULL);
}
