/* tests/experiments/live/list_sign_test.c -- lists signed, forged and brought back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/list_sign.h"

#include <sys/stat.h>
#include <unistd.h>

#include "experiments/live/ca.h"
#include "experiments/live/identity.h"
#include "experiments/live/lists.h"
#include "tests/test.h"

enum { NOW = 1800000000 };

/* --- freshness, without any key ------------------------------------------- */
static const unsigned char one[XP_LIST_DIGEST] = {1}, two[XP_LIST_DIGEST] = {2};

static void an_older_list_does_not_come_back(void **state)
{
	struct xp_list_newest n = {0};
	struct sim_err e;
	(void)state;
	assert_ok(xp_list_mark_judge(&n, 1000, one, NOW, test_err()));
	assert_ok(xp_list_mark_judge(&n, 2000, two, NOW, test_err()));
	for (uint64_t at = 0; at < 2000; at += 333)
		assert_int_equal(xp_list_mark_judge(&n, at, one, NOW, &e),
		    SIM_EMISMATCH);
	assert_int_equal(xp_list_mark_judge(&n, 1999, one, NOW, &e),
	    SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "an older one"));
	/* That changed nothing; and a plan may be taken back as a new one. */
	assert_ok(xp_list_mark_judge(&n, 2000, two, NOW, test_err()));
	assert_ok(xp_list_mark_judge(&n, 2001, one, NOW, test_err()));
}

/* Two controllers of one plan were started at different times, and an agent asks
 * now the one and now the other. */
static void replicas_give_the_same_list_whenever_they_began(void **state)
{
	struct xp_list_newest n = {0};
	struct sim_err e;
	(void)state;
	for (int i = 0; i < 4; i++)
		assert_ok(xp_list_mark_judge(&n, i % 2 ? 1000 : 1300, one, NOW,
		    test_err()));
	/* The older one's start does not make older lists good again. */
	assert_int_equal(xp_list_mark_judge(&n, 1200, two, NOW, &e),
	    SIM_EMISMATCH);
}

static void a_list_of_the_future_does_not_bar_those_of_now(void **state)
{
	struct xp_list_newest n = {0};
	struct sim_err e;
	(void)state;
	assert_int_equal(xp_list_mark_judge(&n, UINT64_MAX, one, NOW, &e),
	    SIM_EMISMATCH);
	assert_int_equal(xp_list_mark_judge(&n, NOW + XP_LIST_AHEAD_S + 1, one,
			     NOW, &e),
	    SIM_EMISMATCH);
	assert_ok(xp_list_mark_judge(&n, NOW + XP_LIST_AHEAD_S, one, NOW,
	    test_err()));
	n = (struct xp_list_newest){0};
	assert_ok(xp_list_mark_judge(&n, NOW, two, NOW, test_err()));
}

/* --- marks ---------------------------------------------------------------- */
static void a_mark_has_one_form(void **state)
{
	struct xp_list_mark m = {.issued_s = UINT64_MAX}, got;
	char text[XP_LIST_MARK];
	(void)state;
	for (unsigned i = 0; i < XP_LIST_SIGNATURE; i++)
		m.signature[i] = (unsigned char)(37 * i + 201);
	xp_list_mark_put(text, &m);
	const size_t n = strlen(text);
	assert_true(n < XP_LIST_MARK);
	assert_ok(xp_list_mark_take(&got, text, test_err()));
	assert_int_equal(got.issued_s, m.issued_s);
	assert_memory_equal(got.signature, m.signature, XP_LIST_SIGNATURE);
	/* Cut anywhere, or with any letter of its signature in upper case. */
	for (size_t i = 0; i < n; i++) {
		char other[XP_LIST_MARK];
		memcpy(other, text, n + 1);
		other[i] = '\0';
		assert_int_equal(xp_list_mark_take(&got, other, NULL),
		    SIM_EPARSE);
		other[i] = 'G';
		assert_int_equal(xp_list_mark_take(&got, other, NULL),
		    SIM_EPARSE);
	}
}

/* --- keys ----------------------------------------------------------------- */
struct keys {
	char dir[64], secret[96], public[96], other[96], both[96];
	struct xp_list_signer *signer;
};

static void copy_to(const char *from, FILE *out)
{
	char buf[4096];
	FILE *in = fopen(from, "r");
	assert_non_null(in);
	const size_t n = fread(buf, 1, sizeof(buf), in);
	fclose(in);
	assert_int_equal(fwrite(buf, 1, n, out), n);
}

static void authority(const char *dir, const char *name, char *secret,
    char *public)
{
	char path[80];
	struct xp_ca *ca;
	int is_new;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (xp_ca_open(&ca, path, &is_new, test_err()) == SIM_EUNSUPPORTED)
		skip();
	assert_non_null(ca);
	xp_ca_close(ca);
	snprintf(secret, 96, "%s/list.key", path);
	snprintf(public, 96, "%s/list.pub", path);
}

static void open_keys(struct keys *k)
{
	char secret[96];
	*k = (struct keys){.dir = "/tmp/culprit-sign-XXXXXX"};
	assert_non_null(mkdtemp(k->dir));
	authority(k->dir, "a", k->secret, k->public);
	authority(k->dir, "b", secret, k->other);
	snprintf(k->both, sizeof(k->both), "%s/both", k->dir);
	FILE *f = fopen(k->both, "w");
	assert_non_null(f);
	copy_to(k->other, f);
	copy_to(k->public, f);
	assert_int_equal(fclose(f), 0);
	assert_ok(xp_list_signer_open(&k->signer, k->secret, NOW, test_err()));
}

static void close_keys(struct keys *k)
{
	char command[128];
	xp_list_signer_close(k->signer);
	snprintf(command, sizeof(command), "rm -r '%s'", k->dir);
	assert_int_equal(system(command), 0);
}

static void sign(const struct keys *k, const char *text, char *mark)
{
	void *sum;
	assert_ok(xp_list_sum_begin(&sum, test_err()));
	xp_list_sum_add(sum, text, strlen(text) / 2);
	xp_list_sum_add(sum, text + strlen(text) / 2,
	    strlen(text) - strlen(text) / 2);
	assert_ok(xp_list_sum_end(sum, k->signer, mark, test_err()));
}

static int check(const char *keys, const char *mark, const char *text)
{
	struct xp_list_checker *c;
	assert_ok(xp_list_checker_open(&c, keys, test_err()));
	const int rc = xp_list_check(c, mark, text, strlen(text), NOW, NULL);
	xp_list_checker_close(c);
	return rc;
}

static void what_is_signed_is_taken_and_no_other_bytes(void **state)
{
	static const char list[] = "<pinglist server=\"10.0.0.1\"/>";
	char mark[XP_LIST_MARK], other[sizeof(list)];
	struct keys k;
	(void)state;
	open_keys(&k);
	sign(&k, list, mark);
	assert_int_equal(check(k.public, mark, list), 0);
	assert_int_equal(check(k.both, mark, list), 0);
	assert_int_equal(check(k.other, mark, list), SIM_EMISMATCH);
	assert_int_equal(check(k.public, "", list), SIM_EMISMATCH);
	assert_int_equal(check(k.public, "1", list), SIM_EPARSE);
	/* Any bit of it, and of its mark: but for what stands before the
	 * signature, which has other forms that are none. */
	for (size_t i = 0; i + 1 < sizeof(list); i++) {
		memcpy(other, list, sizeof(list));
		other[i] ^= 1;
		assert_int_equal(check(k.public, mark, other), SIM_EMISMATCH);
	}
	for (size_t i = 2; i < strlen(mark); i += 3) {
		const char was = mark[i];
		mark[i] = was == '7' ? '8' : '7';
		if (was != ' ')
			assert_int_equal(check(k.public, mark, list),
			    SIM_EMISMATCH);
		mark[i] = was;
	}
	assert_int_equal(check(k.public, mark, list), 0);
	close_keys(&k);
}

/* A list longer than a buffer is signed as the whole that an agent gets. */
static void the_lists_of_a_controller_are_signed_whole(void **state)
{
	static struct algo_pinglist plan;
	struct algo_pinglist_params p;
	struct topo_clos shape;
	struct xp_http_lists l;
	struct xp_http_list *list;
	struct keys k;
	size_t n = 0, more, size = 1 << 21;
	char *text = malloc(size);
	(void)state;
	open_keys(&k);
	assert_non_null(text);
	assert_ok(sim_field_defaults(algo_pinglist_fields, &p, test_err()));
	assert_ok(sim_field_defaults(topo_clos_fields, &shape, test_err()));
	shape.n_pods = 30;
	shape.n_tors = 50;
	assert_ok(algo_pinglist_open(&plan, &p, &shape, 1, test_err()));
	xp_http_lists_init(&l, &plan, k.signer);
	assert_ok(xp_http_list_take(&list, &l, 7, 0, test_err()));
	assert_false(list->is_whole);
	while ((more = xp_http_list_read(list, text + n, size - n)) > 0)
		n += more;
	assert_true(n > ALGO_PINGLIST_XML_CHUNK && n < size);
	text[n] = '\0';
	assert_int_equal(check(k.public, list->mark, text), 0);
	text[n - 2] ^= 1;
	assert_int_equal(check(k.public, list->mark, text), SIM_EMISMATCH);
	xp_http_list_rest(list);
	xp_http_lists_free(&l);
	free(text);
	close_keys(&k);
}

/* --- no list -------------------------------------------------------------- */
static int check_none(const char *keys, const char *mark, uint32_t ip,
    uint64_t now_s)
{
	struct xp_list_checker *c;
	assert_ok(xp_list_checker_open(&c, keys, test_err()));
	const int rc =
	    xp_list_check_none(c, mark, topo_ip_of_4(ip), now_s, NULL);
	xp_list_checker_close(c);
	return rc;
}

/* It is of one server and of now, and neither is a list's mark one, nor it that of a
 * list. */
static void that_there_is_no_list_is_said_to_one_server_now(void **state)
{
	enum { IP = 0x0a000011 };
	char mark[XP_LIST_MARK], of_list[XP_LIST_MARK];
	struct keys k;
	(void)state;
	open_keys(&k);
	assert_ok(xp_list_sign_none(k.signer, topo_ip_of_4(IP), NOW, mark,
	    test_err()));
	assert_int_equal(check_none(k.public, mark, IP, NOW), 0);
	assert_int_equal(check_none(k.both, mark, IP, NOW + XP_LIST_NONE_S), 0);
	assert_int_equal(check_none(k.both, mark, IP, NOW - XP_LIST_NONE_S), 0);
	assert_int_equal(check_none(k.public, mark, IP,
			     NOW + XP_LIST_NONE_S + 1),
	    SIM_EMISMATCH);
	assert_int_equal(check_none(k.public, mark, IP,
			     NOW - XP_LIST_NONE_S - 1),
	    SIM_EMISMATCH);
	assert_int_equal(check_none(k.public, mark, IP + 1, NOW),
	    SIM_EMISMATCH);
	assert_int_equal(check_none(k.other, mark, IP, NOW), SIM_EMISMATCH);
	assert_int_equal(check_none(k.public, "", IP, NOW), SIM_EMISMATCH);
	assert_int_equal(check_none(k.public, "1", IP, NOW), SIM_EPARSE);
	sign(&k, "", of_list);
	assert_int_equal(check_none(k.public, of_list, IP, NOW), SIM_EMISMATCH);
	assert_int_equal(check(k.public, mark, ""), SIM_EMISMATCH);
	close_keys(&k);
}

/* --- what is remembered --------------------------------------------------- */
static void the_newest_has_one_form(void **state)
{
	struct xp_list_newest n = {.issued_s = UINT64_MAX}, got;
	char text[XP_LIST_NEWEST];
	(void)state;
	for (unsigned i = 0; i < XP_LIST_DIGEST; i++)
		n.digest[i] = (unsigned char)(37 * i + 201);
	const unsigned size = xp_list_newest_put(text, &n);
	assert_int_equal(size, strlen(text));
	assert_true(size + 1 < XP_LIST_NEWEST);
	assert_ok(xp_list_newest_take(&got, text, test_err()));
	assert_int_equal(got.issued_s, n.issued_s);
	assert_memory_equal(got.digest, n.digest, XP_LIST_DIGEST);
	/* Cut anywhere, or with any other byte. */
	for (unsigned i = 0; i < size; i++) {
		char other[XP_LIST_NEWEST];
		memcpy(other, text, size + 1);
		other[i] = '\0';
		assert_int_equal(xp_list_newest_take(&got, other, NULL),
		    SIM_EPARSE);
		other[i] = 'G';
		assert_int_equal(xp_list_newest_take(&got, other, NULL),
		    SIM_EPARSE);
	}
	assert_int_equal(xp_list_newest_take(&got, "", NULL), SIM_EPARSE);
}

static int check_after_restart(const struct keys *k, const char *path,
    const char *mark, const char *text)
{
	struct xp_list_checker *c;
	assert_ok(xp_list_checker_open(&c, k->public, test_err()));
	assert_ok(xp_list_checker_remember(c, path, test_err()));
	const int rc = xp_list_check(c, mark, text, strlen(text), NOW, NULL);
	assert_ok(xp_list_checker_keep(c, test_err()));
	xp_list_checker_close(c);
	return rc;
}

static void the_newest_outlives_the_agent(void **state)
{
	char old[XP_LIST_MARK], new[XP_LIST_MARK], path[96];
	struct xp_list_checker *c;
	struct keys k;
	(void)state;
	open_keys(&k);
	snprintf(path, sizeof(path), "%s/newest", k.dir);
	sign(&k, "old", old);
	xp_list_signer_close(k.signer);
	assert_ok(
	    xp_list_signer_open(&k.signer, k.secret, NOW + 9, test_err()));
	sign(&k, "new", new);
	assert_int_equal(check_after_restart(&k, path, old, "old"), 0);
	assert_int_equal(check_after_restart(&k, path, new, "new"), 0);
	assert_int_equal(check_after_restart(&k, path, old, "old"),
	    SIM_EMISMATCH);
	assert_int_equal(check_after_restart(&k, path, new, "new"), 0);
	/* What cannot be written is told, and tried again. */
	assert_ok(xp_list_checker_open(&c, k.public, test_err()));
	assert_int_equal(xp_list_checker_remember(c, "/proc/none", NULL),
	    SIM_EIO);
	assert_int_equal(xp_list_check(c, new, "new", 3, NOW, NULL), 0);
	assert_int_equal(xp_list_checker_keep(c, NULL), SIM_EIO);
	assert_int_equal(xp_list_checker_keep(c, NULL), SIM_EIO);
	xp_list_checker_close(c);
	close_keys(&k);
}

static void keys_that_are_none_are_named(void **state)
{
	struct xp_list_checker *c;
	struct xp_list_signer *s;
	struct sim_err e;
	struct keys k;
	char crt[96], key[96];
	(void)state;
	open_keys(&k);
	snprintf(crt, sizeof(crt), "%s/a/ca.pem", k.dir);
	snprintf(key, sizeof(key), "%s/a/ca.key", k.dir);
	assert_int_equal(xp_list_checker_open(&c, crt, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "has no public key"));
	assert_int_equal(xp_list_checker_open(&c, "/nowhere", &e), SIM_EIO);
	assert_int_equal(xp_list_signer_open(&s, key, NOW, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "another kind of key than Ed25519"));
	assert_int_equal(chmod(k.public, 0600), 0);
	assert_int_equal(xp_list_signer_open(&s, k.public, NOW, &e),
	    SIM_EPARSE);
	assert_int_equal(chmod(k.secret, 0604), 0);
	assert_int_equal(xp_list_signer_open(&s, k.secret, NOW, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "may be read by everybody"));
	close_keys(&k);
}

/* A mebibyte is read, and is no key; a byte more is not even looked at. */
static void a_file_of_keys_has_a_size(void **state)
{
	struct xp_list_checker *c;
	struct sim_err e;
	struct keys k;
	char path[96], want[160];
	(void)state;
	open_keys(&k);
	snprintf(path, sizeof(path), "%s/big", k.dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(truncate(path, XP_IDENTITY_BYTES + 1), 0);
	assert_int_equal(xp_list_checker_open(&c, path, &e), SIM_EPARSE);
	snprintf(want, sizeof(want), "%s is too large for keys.", path);
	assert_string_equal(e.msg, want);
	assert_int_equal(truncate(path, XP_IDENTITY_BYTES), 0);
	assert_int_equal(xp_list_checker_open(&c, path, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "has no public key"));
	close_keys(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_older_list_does_not_come_back),
	    cmocka_unit_test(replicas_give_the_same_list_whenever_they_began),
	    cmocka_unit_test(a_list_of_the_future_does_not_bar_those_of_now),
	    cmocka_unit_test(a_mark_has_one_form),
	    cmocka_unit_test(what_is_signed_is_taken_and_no_other_bytes),
	    cmocka_unit_test(the_lists_of_a_controller_are_signed_whole),
	    cmocka_unit_test(that_there_is_no_list_is_said_to_one_server_now),
	    cmocka_unit_test(the_newest_has_one_form),
	    cmocka_unit_test(the_newest_outlives_the_agent),
	    cmocka_unit_test(keys_that_are_none_are_named),
	    cmocka_unit_test(a_file_of_keys_has_a_size),
	};
	return cmocka_run_group_tests_name("experiments/live/list_sign", tests,
	    NULL, NULL);
}
