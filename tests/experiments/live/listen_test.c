/* tests/experiments/live/listen_test.c -- addresses to listen at.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/listen.h"

#include <netinet/in.h>
#include <unistd.h>

#include "tests/test.h"

static void only_numbers_are_addresses(void **state)
{
	static const char *const bad[] = {"", ":", ":80", "127.0.0.1",
	    "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
	    "127.0.0.1:080", "localhost:80", "127.0.0.1.1:80", "[::1]",
	    "::1:80", "[]:80", "[127.0.0.1:80", "256.0.0.1:80", "[::1]]:80"};
	struct sockaddr_storage where;
	struct sim_err e;
	int fd;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (xp_http_listen(&fd, &where, bad[i], &e) != SIM_EINVAL)
			fail_msg("%s: %s", bad[i], e.msg);
}

static void a_port_has_one_listener(void **state)
{
	struct sockaddr_storage where, other;
	struct sim_err e;
	char url[80], want[80], at[80];
	int fd, second;
	(void)state;
	assert_ok(xp_http_listen(&fd, &where, "127.0.0.1:0", test_err()));
	const unsigned port =
	    ntohs(((struct sockaddr_in *)(void *)&where)->sin_port);
	assert_true(port > 0);
	snprintf(want, sizeof(want), "http://127.0.0.1:%u/", port);
	assert_string_equal(xp_http_listen_url(&where, "http", url), want);
	snprintf(at, sizeof(at), "127.0.0.1:%u", port);
	assert_int_equal(xp_http_listen(&second, &other, at, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "Another program"));
	close(fd);
	if (xp_http_listen(&fd, &where, "[::1]:0", &e) < 0)
		return; /* a machine without IPv6 */
	assert_int_equal(strncmp(xp_http_listen_url(&where, "http", url),
			     "http://[::1]:", 13),
	    0);
	close(fd);
}

static int is_local(const char *at)
{
	struct sockaddr_storage where;
	int fd;
	if (xp_http_listen(&fd, &where, at, NULL) < 0)
		return -1; /* no such address, or no IPv6 */
	close(fd);
	return xp_http_listen_is_local(&where);
}

static void only_loopback_is_local(void **state)
{
	(void)state;
	assert_int_equal(is_local("127.0.0.1:0"), 1);
	assert_int_equal(is_local("127.255.255.254:0"), 1);
	assert_int_equal(is_local("0.0.0.0:0"), 0);
	assert_int_not_equal(is_local("[::1]:0"), 0);
	assert_int_not_equal(is_local("[::]:0"), 1);
}

static void more_files_than_there_can_be_are_refused(void **state)
{
	struct sim_err e;
	(void)state;
	assert_ok(xp_http_listen_files(16, test_err()));
	assert_int_equal(xp_http_listen_files(UINT32_MAX, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "4294967295 open files"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_numbers_are_addresses),
	    cmocka_unit_test(a_port_has_one_listener),
	    cmocka_unit_test(only_loopback_is_local),
	    cmocka_unit_test(more_files_than_there_can_be_are_refused),
	};
	return cmocka_run_group_tests_name("experiments/live/listen", tests,
	    NULL, NULL);
}
