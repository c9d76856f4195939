/* tests/experiments/live/identity_test.c -- files of an identity: whole, fitting, anew.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who is let in with them is in tests/cli/tls.sh, and what other tools make of
 * certificates in tests/cli/ca.sh.
 */
#include "experiments/live/identity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/live/ca.h"
#include "experiments/live/tls.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

enum { FROM = 1763894400, DAYS = 30 };

static char path[3][128];
static const struct xp_identity_params params = {.ca = path[0],
    .cert = path[1],
    .key = path[2]};

static void issue(const char *dir, const char *names)
{
	struct xp_ca *ca;
	int is_new;
	assert_ok(xp_ca_open(&ca, dir, &is_new, test_err()));
	assert_ok(xp_ca_issue(ca, XP_CA_AGENT, names, FROM, DAYS, test_err()));
	xp_ca_close(ca);
}

/* Of a folder each, as another test's files are not this one's. */
static void make_files(const char *name)
{
	const char *dir = test_path(name);
	struct xp_ca *ca;
	struct sim_err e;
	int is_new;
	if (xp_ca_open(&ca, dir, &is_new, &e) == SIM_EUNSUPPORTED)
		skip();
	xp_ca_close(ca);
	issue(dir, "10.0.0.1");
	snprintf(path[0], sizeof(path[0]), "%s/ca.pem", dir);
	snprintf(path[1], sizeof(path[1]), "%s/10.0.0.1.pem", dir);
	snprintf(path[2], sizeof(path[2]), "%s/10.0.0.1.key", dir);
}

static void all_three_are_given_or_none(void **state)
{
	struct xp_identity x;
	struct sim_err e;
	(void)state;
	static const char *const lacks[] = {"--ca", "--cert", "--key"};
	const struct xp_identity_params none = {.ca = NULL};
	assert_ok(xp_identity_open(&x, &none, test_err()));
	assert_null(x.ca.bytes);
	assert_int_equal(xp_identity_look(&x, test_err()), 0);
	xp_identity_close(&x);
	for (int left_out = 0; left_out < 3; left_out++) {
		char want[40];
		struct xp_identity_params p = {"a", "b", "c", 0};
		*(left_out == 0         ? &p.ca
			: left_out == 1 ? &p.cert
					: &p.key) = NULL;
		assert_int_equal(xp_identity_check(&p, &e), SIM_EINVAL);
		snprintf(want, sizeof(want), ": %s is missing.",
		    lacks[left_out]);
		assert_non_null(strstr(e.msg, want));
	}
}

static void a_key_for_everybody_is_refused(void **state)
{
	static const mode_t good[] = {0600, 0640, 0400},
			    bad[] = {0604, 0602, 0601, 0644, 0777};
	struct xp_identity x;
	struct sim_err e;
	(void)state;
	make_files("secret");
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(chmod(params.key, good[i]), 0);
		assert_ok(xp_identity_open(&x, &params, test_err()));
		xp_identity_close(&x);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char want[40];
		assert_int_equal(chmod(params.key, bad[i]), 0);
		assert_int_equal(xp_identity_open(&x, &params, &e), SIM_EINVAL);
		snprintf(want, sizeof(want), "its mode is %03o,",
		    (unsigned)bad[i]);
		assert_non_null(strstr(e.msg, want));
	}
}

/* Each file in another's place, and files of two authorities. */
static void what_does_not_fit_is_refused(void **state)
{
	struct xp_identity_params p;
	struct xp_identity x;
	struct sim_err e;
	(void)state;
	make_files("fit");
	issue(test_path("fit"), "10.0.0.2");
	p = params;
	p.key = test_path("fit/10.0.0.2.key");
	assert_int_equal(xp_identity_open(&x, &p, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "10.0.0.2.key is not the key of "));
	p = params;
	p.ca = params.key;
	assert_int_equal(xp_identity_open(&x, &p, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "10.0.0.1.key has no certificates"));
	p = params;
	p.cert = params.key;
	assert_int_equal(xp_identity_open(&x, &p, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "cannot be read"));
	p = params;
	p.cert = test_path("nowhere.pem");
	assert_int_equal(xp_identity_open(&x, &p, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "nowhere.pem"));
}

static void a_file_may_have_a_mebibyte(void **state)
{
	struct xp_identity x;
	struct sim_err e;
	(void)state;
	make_files("large");
	/* Text behind a certificate says nothing. */
	const int fd = open(params.ca, O_WRONLY | O_APPEND);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	char *spaces = malloc(XP_IDENTITY_BYTES);
	memset(spaces, '\n', XP_IDENTITY_BYTES);
	const ssize_t n = XP_IDENTITY_BYTES - st.st_size;
	assert_int_equal(write(fd, spaces, (size_t)n), n);
	assert_ok(xp_identity_open(&x, &params, test_err()));
	assert_int_equal(x.ca.n, XP_IDENTITY_BYTES);
	xp_identity_close(&x);
	assert_int_equal(write(fd, "\n", 1), 1);
	assert_int_equal(xp_identity_open(&x, &params, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "has 1048577 bytes, more than"));
	free(spaces);
	close(fd);
}

/* A certificate without its key is half of a rotation: the old pair is kept, and
 * that is told once. */
static void new_files_are_taken_when_they_fit(void **state)
{
	char other[128];
	struct xp_identity x;
	struct sim_err e;
	(void)state;
	make_files("rotate");
	assert_ok(xp_identity_open(&x, &params, test_err()));
	assert_int_equal(xp_identity_look(&x, test_err()), 0);
	char *was = strdup(x.cert.bytes);
	snprintf(other, sizeof(other), "%s", test_path("rotate/10.0.0.2"));
	issue(test_path("rotate"), "10.0.0.2");
	char from[140];
	snprintf(from, sizeof(from), "%s.pem", other);
	assert_int_equal(rename(from, params.cert), 0);
	assert_int_equal(xp_identity_look(&x, &e), SIM_EMISMATCH);
	assert_int_equal(xp_identity_look(&x, &e), 0);
	assert_string_equal(x.cert.bytes, was);
	snprintf(from, sizeof(from), "%s.key", other);
	assert_int_equal(rename(from, params.key), 0);
	assert_int_equal(xp_identity_look(&x, test_err()), 1);
	assert_int_equal(xp_identity_look(&x, test_err()), 0);
	assert_string_not_equal(x.cert.bytes, was);
	assert_int_equal(x.cert.n, strlen(x.cert.bytes));
	/* One that is gone is a state, too. */
	assert_int_equal(unlink(params.ca), 0);
	assert_int_equal(xp_identity_look(&x, &e), SIM_EIO);
	assert_int_equal(xp_identity_look(&x, &e), 0);
	assert_non_null(x.ca.bytes);
	xp_identity_close(&x);
	free(was);
}

/* --- an authority --------------------------------------------------------- */

static void an_authority_is_found_again_or_told_apart(void **state)
{
	struct xp_ca *ca;
	struct sim_err e;
	int is_new;
	(void)state;
	make_files("one");
	assert_ok(xp_ca_open(&ca, test_path("one"), &is_new, test_err()));
	assert_false(is_new);
	assert_int_equal(xp_ca_issue(ca, XP_CA_AGENT, "a b", FROM, DAYS, &e),
	    SIM_EINVAL);
	xp_ca_close(ca);
	assert_ok(xp_ca_open(&ca, test_path("two"), &is_new, test_err()));
	assert_true(is_new);
	xp_ca_close(ca);
	char from[128];
	snprintf(from, sizeof(from), "%s", test_path("two/ca.key"));
	assert_int_equal(rename(from, test_path("one/ca.key")), 0);
	assert_int_equal(xp_ca_open(&ca, test_path("one"), &is_new, &e),
	    SIM_EMISMATCH);
	assert_null(ca);
	xp_ca_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_three_are_given_or_none),
	    cmocka_unit_test(a_key_for_everybody_is_refused),
	    cmocka_unit_test(what_does_not_fit_is_refused),
	    cmocka_unit_test(a_file_may_have_a_mebibyte),
	    cmocka_unit_test(new_files_are_taken_when_they_fit),
	    cmocka_unit_test(an_authority_is_found_again_or_told_apart),
	};
	return cmocka_run_group_tests(tests, test_folder_make,
	    test_folder_remove);
}
