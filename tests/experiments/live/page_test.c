/* tests/experiments/live/page_test.c -- targets to answers, of a database.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tests/browser/live.py looks at the page itself.
 */
#include "experiments/live/page/page.h"

#include <stdio.h>
#include <unistd.h>

#include "experiments/live/page/body.h"
#include "experiments/live/page/share.h"
#include "experiments/live/page/view.h"
#include "results/sql/sql.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

enum { FROM_S = 1200000 };

static struct xp_live_page *page;
static struct xp_http_answer a;
static const struct xp_http_site site = {.start_s = 1200000};
static char tag[64];

/* --- a database ----------------------------------------------------------- */
static void put(struct res_sql *db, const char *sql)
{
	assert_ok(res_sql_run(db, test_err(), sql));
}

/* Windows of 10 minutes from FROM_S on, N of them, of three pods; the last is
 * down. P99_US is that of all that connect. */
static void make_db(const char *name, int n, double p99_us)
{
	struct res_sql *db;
	assert_ok(
	    res_sql_open(&db, test_path(name), RES_SQL_WRITE, test_err()));
	assert_ok(res_sql_begin(db, test_err()));
	for (int64_t i = 0; i < n; i++) {
		const int64_t from = FROM_S + 600 * i, id = from * 4 + 1;
		assert_ok(res_sql_run(db, test_err(),
		    "INSERT INTO window(id, job, from_ns, to_ns, due_ns, "
		    "made_ns, state, n_records) VALUES (?1, '10min', ?2, ?2 + "
		    "600000000000, ?2 + 1200000000000, ?2 + 1200000000001, "
		    "'made', 9)",
		    RES_SQL_I64(id), RES_SQL_I64(from * 1000000000)));
		assert_ok(res_sql_run(db, test_err(),
		    "INSERT INTO summary(window, dc, n_probes, n_alerts, "
		    "pod_pattern) VALUES (?, 0, 9, 0, 'pod_down')",
		    RES_SQL_I64(id)));
		for (int64_t k = 0; k < 9; k++)
			assert_ok(res_sql_run(db, test_err(),
			    "INSERT INTO pod_pair VALUES (?, 0, ?, ?, 7, 1, 2, "
			    "0, 0, 0.5, 200.5, ?)",
			    RES_SQL_I64(id), RES_SQL_I64(k / 3),
			    RES_SQL_I64(k % 3),
			    RES_SQL_F64(
				k / 3 == 2 || k % 3 == 2 ? NAN : p99_us)));
		assert_ok(res_sql_run(db, test_err(),
		    "INSERT INTO sla(window, dc, scope, scope_id, name, "
		    "n_success, n_drop) VALUES (?, 0, 'service', 1, ?, 1, 0)",
		    RES_SQL_I64(id),
		    RES_SQL_TEXT("</script><b>\"\\\n\x01\xff\u2028")));
	}
	put(db, "INSERT INTO meta VALUES ('max_p99_us', '5000')");
	assert_ok(res_sql_commit(db, test_err()));
	res_sql_close(db);
}

static int make(void **state)
{
	(void)state;
	make_db("a.db", 3, 600);
	assert_ok(xp_live_page_open(&page, test_path("a.db"), test_err()));
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	xp_live_page_close(page);
	for (const char *const *s =
		 (const char *const[]){"", "-wal", "-shm", ".lock", NULL};
	     *s; s++) {
		char name[16];
		snprintf(name, sizeof(name), "a.db%s", *s);
		unlink(test_path(name));
	}
	return 0;
}

/* --- asking --------------------------------------------------------------- */
static void rest(void)
{
	if (a.rest)
		a.rest(a.of);
}

/* The status; 0: the target is none of the page's. */
static unsigned ask_as(const struct xp_http_request *q)
{
	memset(&a, 0, offsetof(struct xp_http_answer, text));
	if (!xp_live_page_answer(page, &site, q, &a))
		return 0;
	assert_non_null(a.type);
	assert_non_null(a.headers);
	assert_true(a.n_bytes == 0 || a.bytes);
	snprintf(tag, sizeof(tag), "%s", a.etag);
	return a.status;
}

static unsigned ask(const char *target)
{
	const struct xp_http_request q = {.method = "GET", .target = target};
	return ask_as(&q);
}

static int says(const char *text)
{
	return memmem(a.bytes, a.n_bytes, text, strlen(text)) != NULL;
}

static const char *header(const char *name)
{
	for (const char *const *h = a.headers; *h; h += 2)
		if (strcmp(h[0], name) == 0)
			return h[1];
	return "";
}

static const char *const targets[] = {"/v1/windows/10min/0",
    "/v1/heat/10min/0/1200000", "/v1/pair/10min/0/1/2", "/v1/sla/10min/0",
    "/v1/sla/1day/4294967295", "/v1/alerts/0", "/v1/holes/0", "/v1/agents"};
enum { N_TARGETS = sizeof(targets) / sizeof(*targets) };

/* --- tests ---------------------------------------------------------------- */
static void the_page_loads_nothing_and_runs_only_what_is_in_it(void **state)
{
	static const char *const none[] = {"src=", "@import", "url(",
	    "innerHTML", "insertAdjacentHTML", "document.write", "eval(",
	    "new Function", "style=\"", "onclick", "@STYLE@", "@SCRIPT@",
	    "@BUILD@"};
	(void)state;
	assert_int_equal(ask("/"), 200);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (says(none[i]))
			fail_msg("it has %s", none[i]);
	const char *policy = header("Content-Security-Policy");
	assert_non_null(
	    strstr(policy, "default-src 'none'; script-src 'sha256-"));
	assert_non_null(strstr(policy, "frame-ancestors 'none'"));
	assert_null(strstr(policy, "unsafe"));
	assert_string_equal(header("X-Content-Type-Options"), "nosniff");
	const struct xp_http_request again = {.method = "GET",
	    .target = "/",
	    .if_none_match = tag};
	assert_int_equal(ask_as(&again), 304);
	assert_int_equal(a.n_bytes, 0);
}

static void a_target_is_one_of_them_byte_for_byte(void **state)
{
	static const char *const bad[] = {"", "*", "//", "/v1", "/v1/",
	    "/v1/now/", "/v1/now?x", "/v1//agents", "/v1/agents/",
	    "/v1/agents/0", "/v1/windows/10min", "/v1/windows/10min/",
	    "/v1/windows/10min/0/", "/v1/windows/10min/00",
	    "/v1/windows/10min/-1", "/v1/windows/10min/+1",
	    "/v1/windows/10min/4294967296", "/v1/windows/10MIN/0",
	    "/v1/windows/7min/0", "/v1/windows//0", "/v1/heat/10min/0",
	    "/v1/heat/10min/0/1e3", "/v1/pair/10min/0/1/2/3", "/v1/sla/0",
	    "/v1/%6eow", "/v1/../now", "/V1/now", "/v1/meta",
	    "/v1/sla/10min/0;DROP TABLE window"};
	char longest[200] = "/v1/alerts/0";
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (ask(bad[i]) != 0)
			fail_msg("%s -> %u", bad[i], a.status);
	memset(longest + 12, '0', sizeof(longest) - 13);
	assert_int_equal(ask(longest), 0);
	for (size_t i = 0; i < N_TARGETS; i++) {
		if (ask(targets[i]) != 200)
			fail_msg("%s -> %u: %.*s", targets[i], a.status,
			    (int)a.n_bytes, a.bytes);
		assert_true(says("\"columns\": ["));
		assert_string_equal(a.type, "application/json");
		rest();
	}
}

static void nothing_but_get_and_head_is_answered(void **state)
{
	static const char *const methods[] = {"POST", "PUT", "DELETE",
	    "OPTIONS", "get", "", "GETX"};
	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		const struct xp_http_request q = {.method = methods[i],
		    .target = targets[i % N_TARGETS]};
		assert_int_equal(ask_as(&q), 405);
		assert_string_equal(a.allow, "GET, HEAD");
	}
	const struct xp_http_request q = {.method = "HEAD",
	    .target = targets[0]};
	assert_int_equal(ask_as(&q), 200);
	rest();
}

static int yes(void *peer, struct topo_ip address)
{
	(void)peer;
	(void)address;
	return 1;
}

/* Of whom a browser's user does not know that they ask. */
static void pages_of_other_sites_are_refused(void **state)
{
	struct xp_http_request q = {.method = "GET", .target = "/v1/now"};
	static const char *const hosts[] = {"evil.example", "evil.example:8081",
	    "127.0.0.1.evil.example", "localhost.evil.example", ""};
	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		q.host = hosts[i];
		assert_int_equal(ask_as(&q), 403);
		/* With a certificate a name has been checked by the browser. */
		q.is_for = yes;
		assert_int_equal(ask_as(&q), 200);
		rest();
		q.is_for = NULL;
	}
	q.host = "[::1]:8081";
	assert_int_equal(ask_as(&q), 200);
	rest();
	q.origin = "http://[::1]:8081";
	assert_int_equal(ask_as(&q), 403);
	q.target = "/";
	assert_int_equal(ask_as(&q), 403);
}

static void a_heat_map_has_its_cells_and_its_pods(void **state)
{
	(void)state;
	assert_int_equal(ask("/v1/heat/10min/0/1200600"), 200);
	assert_true(says("[1200600,1201200,\"made\",9,\"pod_down\",null]"));
	assert_true(says("[0,1,7,1,2,0.5,200.5,600]"));
	assert_true(says("[2,1,7,1,2,0.5,200.5,null]"));
	assert_true(says("\"pods\": [\"fine\", \"fine\", \"down\"]"));
	rest();
	/* A window that there is none of has no cells, and is no error. */
	assert_int_equal(ask("/v1/heat/10min/0/1200601"), 200);
	assert_true(says("\"pods\": []"));
	rest();
	assert_int_equal(ask("/v1/pair/10min/0/0/1"), 200);
	assert_true(says("[1201200,1201800,7,1,2,0.5,200.5,600],\n[1200600"));
	rest();
}

static void texts_are_escaped(void **state)
{
	(void)state;
	assert_int_equal(ask("/v1/sla/10min/0"), 200);
	assert_true(says("\"</script><b>\\\"\\\\\\n\\u0001\\ufffd\u2028\""));
	rest();
}

static void now_tells_the_newest_window_and_the_bounds(void **state)
{
	(void)state;
	assert_int_equal(ask("/v1/now"), 200);
	assert_true(says("\"last_batch_s\": null"));
	assert_true(says("[\"10min\",1201200,1201800,1202400,1202400"));
	assert_true(says("[\"max_p99_us\",\"5000\"]"));
	assert_true(says("\"dcs\": {\"columns\": [\"dc\"], \"rows\": [[0]]}"));
	assert_true(a.n_bytes > 0 && a.bytes[a.n_bytes - 2] == '}');
	rest();
}

/* An answer is known by its bytes: it is sent again when they change, also by a
 * file that took the other's place. */
static void what_has_changed_is_sent(void **state)
{
	char before[64];
	struct res_sql *db;
	(void)state;
	assert_int_equal(ask(targets[1]), 200);
	rest();
	snprintf(before, sizeof(before), "%s", tag);
	const struct xp_http_request q = {.method = "GET",
	    .target = targets[1],
	    .if_none_match = before};
	assert_int_equal(ask_as(&q), 304);
	assert_int_equal(a.n_bytes, 0);
	rest();
	assert_ok(
	    res_sql_open(&db, test_path("a.db"), RES_SQL_WRITE, test_err()));
	put(db, "UPDATE pod_pair SET n_drop = 3 WHERE src_pod = 0");
	res_sql_close(db);
	assert_int_equal(ask_as(&q), 200);
	assert_true(says("[0,1,7,3,2,"));
	rest();
	/* With its companions, or SQLite would play the old log into it. */
	make_db("b.db", 1, 4500);
	unlink(test_path("a.db-wal"));
	unlink(test_path("a.db-shm"));
	assert_int_equal(rename(test_path("b.db"), test_path("a.db")), 0);
	assert_int_equal(ask_as(&q), 200);
	assert_true(says("4500]"));
	rest();
	unlink(test_path("a.db"));
	assert_int_equal(ask_as(&q), 503);
	assert_true(says("there is no database yet"));
	assert_string_equal(header("Retry-After"), "1");
	assert_int_equal(ask("/v1/now"), 200);
	assert_true(says("\"problem\": \"there is no database yet"));
	rest();
}

static void without_a_database_the_page_says_so(void **state)
{
	(void)state;
	xp_live_page_close(page);
	assert_ok(xp_live_page_open(&page, NULL, test_err()));
	assert_int_equal(ask("/"), 200);
	assert_int_equal(ask(targets[0]), 503);
	assert_int_equal(ask("/v1/now"), 200);
	assert_true(says("started without --db"));
	rest();
}

/* --- bounds --------------------------------------------------------------- */
static struct xp_live_bodies bodies = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct xp_live_body *new_body(int i, size_t n, int *rc)
{
	struct xp_live_body *x;
	char target[32];
	snprintf(target, sizeof(target), "/%d", i);
	*rc =
	    xp_live_body_add(&x, &bodies, target, 1, malloc(n), n, test_err());
	return *rc == 0 ? x : NULL;
}

static void answers_together_are_bounded(void **state)
{
	enum { N = LIVE_HELD_BYTES / LIVE_BODY_BYTES };
	struct xp_live_body *x[N];
	int rc;
	(void)state;
	for (int i = 0; i < N; i++)
		assert_non_null(x[i] = new_body(i, LIVE_BODY_BYTES, &rc));
	/* All are being fetched. */
	assert_null(new_body(N, 1, &rc));
	assert_int_equal(rc, SIM_ELIMIT);
	struct xp_live_body *same = xp_live_body_find(&bodies, "/3", 1);
	assert_ptr_equal(same, x[3]);
	xp_live_body_rest(same);
	xp_live_body_rest(x[0]);
	assert_non_null(x[0] = new_body(N, 1, &rc));
	assert_null(xp_live_body_find(&bodies, "/0", 1));
	/* Of another version none is found, and who fetches goes on. */
	assert_null(xp_live_body_find(&bodies, "/3", 2));
	memset(x[3]->bytes, 1, LIVE_BODY_BYTES);
	for (int i = 0; i < N; i++)
		xp_live_body_rest(x[i]);
	xp_live_bodies_free(&bodies);
	assert_int_equal(bodies.n_bytes, 0);
}

static void many_answers_make_room_for_each_other(void **state)
{
	int rc;
	(void)state;
	for (int i = 0; i < 5 * LIVE_BODIES; i++)
		xp_live_body_rest(new_body(i, 100, &rc));
	assert_int_equal(bodies.n_bytes, 100 * LIVE_BODIES);
	xp_live_bodies_free(&bodies);
	assert_int_equal(bodies.n_bytes, 0);
}

/* Whoever asks without end, however long each takes. */
static void a_share_of_the_time_is_not_exceeded(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct xp_live_share s = {.saved_ns = 1000,
		    .parts = 4,
		    .left_ns = 1000,
		    .at = 77};
		struct sim_rng r;
		sim_ns now = 77, spent = 0, longest = 0;
		test_rng(&r, run);
		const double size = 1 + 3000 * sim_rng_u01(&r);
		for (int i = 0; i < 3000; i++) {
			const sim_ns took = (sim_ns)(size * sim_rng_u01(&r));
			now += (sim_ns)(300 * sim_rng_u01(&r) * (run % 3));
			if (!xp_live_share_may(&s, now)) {
				now += 1;
				continue;
			}
			now += took;
			spent += took;
			longest = took > longest ? took : longest;
			xp_live_share_spend(&s, took);
			if (spent > 1000 + (now - 77) / 4 + longest)
				fail_msg("seed %llu, run %u: %llu of %llu",
				    (unsigned long long)test_seed(), run,
				    (unsigned long long)spent,
				    (unsigned long long)now);
		}
		/* And after a rest something may begin. */
		assert_true(xp_live_share_may(&s, now + 20000));
	}
}

static int ask_or_fail(void *arg, struct sim_err *e)
{
	struct xp_live_page *before = page;
	(void)arg;
	int rc = xp_live_page_open(&page, test_path("a.db"), e);
	if (rc < 0) {
		page = before;
		return rc;
	}
	const unsigned status = ask(targets[1]);
	rest();
	xp_live_page_close(page);
	page = before;
	return status == 200 ? 0 : SIM_ENOMEM;
}

static void each_lack_of_memory_is_answered(void **state)
{
	(void)state;
	test_each_alloc_fails(ask_or_fail, NULL);
}

#define PAGE_TEST(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PAGE_TEST(the_page_loads_nothing_and_runs_only_what_is_in_it),
	    PAGE_TEST(a_target_is_one_of_them_byte_for_byte),
	    PAGE_TEST(nothing_but_get_and_head_is_answered),
	    PAGE_TEST(pages_of_other_sites_are_refused),
	    PAGE_TEST(a_heat_map_has_its_cells_and_its_pods),
	    PAGE_TEST(texts_are_escaped),
	    PAGE_TEST(now_tells_the_newest_window_and_the_bounds),
	    PAGE_TEST(what_has_changed_is_sent),
	    PAGE_TEST(without_a_database_the_page_says_so),
	    cmocka_unit_test(answers_together_are_bounded),
	    cmocka_unit_test(many_answers_make_room_for_each_other),
	    cmocka_unit_test(a_share_of_the_time_is_not_exceeded),
	    PAGE_TEST(each_lack_of_memory_is_answered),
	};
	return cmocka_run_group_tests_name("experiments/live/page", tests,
	    test_folder_make, test_folder_remove);
}
