/* tests/experiments/live/serve_test.c -- requests in, answers out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/serve.h"

#include "experiments/live/expose.h"
#include "tests/test.h"
#include "topo/addr.h"

static struct algo_pinglist plan;
static struct xp_http_site controller = {.plan = &plan}, collector;
static struct xp_http_answer a;
static char tag[64];

static int make_plan(void **state)
{
	struct algo_pinglist_params p;
	struct topo_clos shape;
	(void)state;
	if (sim_field_defaults(algo_pinglist_fields, &p, test_err()) < 0 ||
	    sim_field_defaults(topo_clos_fields, &shape, test_err()) < 0 ||
	    algo_pinglist_open(&plan, &p, &shape, 1, test_err()) < 0)
		return -1;
	snprintf(tag, sizeof(tag), "\"%016llx-10.0.0.17\"",
	    (unsigned long long)plan.version);
	return 0;
}

static unsigned ask(const struct xp_http_site *site, const char *method,
    const char *target)
{
	const struct xp_http_request q = {.method = method, .target = target};
	assert_int_equal(xp_http_head(site, &q, &a), XP_HTTP_ANSWERED);
	return a.status;
}

static unsigned ask_if(const char *if_none_match)
{
	const struct xp_http_request q = {.method = "GET",
	    .target = "/pinglist/10.0.0.17",
	    .if_none_match = if_none_match};
	assert_int_equal(xp_http_head(&controller, &q, &a), XP_HTTP_ANSWERED);
	return a.status;
}

/* What must hold of every answer. */
static void check_form(void)
{
	assert_true(a.status >= 200 && a.status < 600);
	assert_non_null(a.type);
	assert_true(a.is_pinglist || a.bytes);
	assert_true(a.bytes != a.text || a.n_bytes < sizeof(a.text));
}

static void an_address_of_a_server_has_a_list(void **state)
{
	(void)state;
	for (uint32_t s = 0; s < plan.n_servers; s++) {
		char address[16], target[32];
		topo_addr_format(topo_addr_of_host(s), address);
		snprintf(target, sizeof(target), "/pinglist/%s", address);
		assert_int_equal(ask(&controller, s % 2 ? "GET" : "HEAD",
				     target),
		    200);
		assert_true(a.is_pinglist && a.server == s);
		assert_string_equal(a.type, "application/xml");
		assert_non_null(strstr(a.etag, address));
		assert_int_equal(a.counter, XP_HTTP_pinglists);
	}
}

static void anything_else_is_not_found(void **state)
{
	static const char *const targets[] = {"", "*", "//", "/health/",
	    "/Health", "/health?x=1", "/health#x", "/%68ealth", "/pinglist",
	    "/pinglist/", "/pinglist/10.0.0.0", "/pinglist/10.0.6.65",
	    "/pinglist/255.255.255.255", "/pinglist/10.0.0.17/",
	    "/pinglist/10.0.0.017", "/pinglist/10.0.0.17 ", "/pinglist/0x0a.1",
	    "/pinglist/167772177", "/pinglist/10.0.0.17%00",
	    "/pinglist/10.0.0.17?", "/pinglist/%31%30.0.0.17",
	    "/pinglist/../health", "/pinglist/../../etc/passwd",
	    "/pinglist/..%2f..%2fetc/passwd", "/%2e%2e/etc/passwd",
	    "/pinglist/./10.0.0.17", "/pinglist//10.0.0.17",
	    "/pinglist\\10.0.0.17", "http://x/health", "/results",
	    "/pinglist.xsd/", "/pinglist.xsd\n"};
	char longest[5000];
	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (ask(&controller, "GET", targets[i]) != 404)
			fail_msg("%s -> %u", targets[i], a.status);
		assert_int_equal(a.counter, XP_HTTP_not_found);
		assert_true(ask(&controller, "BREW", targets[i]) >= 404);
		check_form();
	}
	/* Targets that are too long, also when as much of them as fits would be
	 * a target that there is. */
	for (size_t n = XP_HTTP_TARGET - 10; n < sizeof(longest); n += 7) {
		memset(longest, '0', n);
		longest[n] = '\0';
		memcpy(longest, "/pinglist/10.0.0.17", 19);
		assert_int_equal(ask(&controller, "GET", longest), 404);
	}
	assert_int_equal(ask(&collector, "GET", "/pinglist/10.0.0.17"), 404);
	assert_int_equal(ask(&collector, "GET", "/pinglist.xsd"), 404);
}

static void other_methods_are_refused_with_those_there_are(void **state)
{
	static const char *const methods[] = {"POST", "PUT", "DELETE",
	    "OPTIONS", "TRACE", "CONNECT", "get", "GETX", "", "\xff"};
	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		static const char *const targets[] = {"/", "/health",
		    "/pinglist.xsd", "/pinglist/10.0.0.17"};
		for (int k = 0; k < 4; k++) {
			assert_int_equal(ask(&controller, methods[i],
					     targets[k]),
			    405);
			assert_string_equal(a.allow, "GET, HEAD");
			check_form();
		}
		if (i == 0)
			continue;
		assert_int_equal(ask(&collector, methods[i], "/results"), 405);
		assert_string_equal(a.allow, "POST");
	}
	assert_int_equal(ask(&collector, "GET", "/results"), 405);
	assert_int_equal(ask(&controller, "GET", "/"), 200);
	assert_null(a.allow);
}

/* Weak comparison, as RFC 9110, 13.1.2 has it. */
static void the_tag_that_a_client_has_saves_the_list(void **state)
{
	char list[256];
	(void)state;
	assert_int_equal(ask_if(NULL), 200);
	assert_string_equal(a.etag, tag);
	const char *const yes[] = {"%s", " %s ", "W/%s", "\"a\", %s",
	    "\"a\",W/\"b\" ,\t%s, \"c\"", "%s,", "\"\", %s", "*", " * "};
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		const char *at = strstr(yes[i], "%s");
		snprintf(list, sizeof(list), "%.*s%s%s",
		    (int)(at ? at - yes[i] : (long)strlen(yes[i])), yes[i],
		    at ? tag : "", at ? at + 2 : "");
		if (ask_if(list) != 304)
			fail_msg("%s -> %u", list, a.status);
		assert_string_equal(a.etag, tag);
		assert_int_equal(a.n_bytes, 0);
		assert_false(a.is_pinglist);
	}
	const char *const no[] = {"", "\"", "\"\"", "x", "W/", "\"a\" \"b\"",
	    "**", "*, \"a\"", "\"a\"*", "\"2492a2cc1df88c95-10.0.0.1\"", ",,,",
	    "W/W/\"\"", "\"a\\\"b\""};
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_int_equal(ask_if(no[i]), 200);
	/* The tag without its quotes, and without its last character. */
	snprintf(list, sizeof(list), "%.*s", (int)strlen(tag) - 2, tag + 1);
	assert_int_equal(ask_if(list), 200);
	snprintf(list, sizeof(list), "%.*s", (int)strlen(tag) - 1, tag);
	assert_int_equal(ask_if(list), 200);
}

static void stopped_there_are_no_lists_even_for_who_has_one(void **state)
{
	(void)state;
	controller.stopped = 1;
	assert_int_equal(ask(&controller, "GET", "/pinglist/10.0.0.17"), 404);
	assert_int_equal(a.counter, XP_HTTP_withheld);
	assert_non_null(strstr(a.bytes, "stopped"));
	assert_string_equal(a.etag, "");
	assert_int_equal(ask_if(tag), 404);
	assert_int_equal(ask_if("*"), 404);
	assert_int_equal(ask(&controller, "GET", "/pinglist/10.0.0.0"), 404);
	assert_int_equal(a.counter, XP_HTTP_not_found);
	assert_int_equal(ask(&controller, "GET", "/health"), 200);
	assert_non_null(strstr(a.bytes, "\"stopped\": true"));
	controller.stopped = 0;
	assert_int_equal(ask_if(tag), 304);
}

static void health_has_every_counter_and_its_sum(void **state)
{
	struct xp_http_site site = controller;
	(void)state;
	for (int i = 0; i < XP_HTTP_N_COUNTERS; i++)
		site.count[i] = UINT64_MAX - (uint64_t)i;
	site.n_open = site.uptime_s = site.held.n_bytes = UINT64_MAX;
	for (int k = 0; k < 2; k++) {
		assert_int_equal(ask(&site, "GET", "/health"), 200);
		check_form();
		assert_string_equal(a.type, "application/json");
		/* Not cut off, even with the largest numbers. */
		assert_true(a.n_bytes == strlen(a.text) && a.text[0] == '{' &&
		    strcmp(a.text + a.n_bytes - 2, "}\n") == 0);
#define X(name, doc)                                                           \
	assert_non_null(strstr(a.text, "\"" #name "\": 184467440737095"));
		XP_HTTP_COUNTERS(X)
#undef X
		site.plan = NULL;
	}
	memset(site.count, 0, sizeof(site.count));
	site.count[XP_HTTP_pages] = 5;
	site.count[XP_HTTP_malformed] = 2;
	site.count[XP_HTTP_late] = 9; /* a connection, not a request */
	ask(&site, "GET", "/health");
	assert_non_null(strstr(a.text, "\"requests\": 7,"));
}

/* The largest text there is; it is whole, and /health has the same numbers. */
static void metrics_have_every_counter_for_prometheus(void **state)
{
	static struct xp_exposed x;
	struct xp_http_site site = controller;
	(void)state;
	memset(&site.held, 0xff, sizeof(site.held));
	site.n_open = site.start_s = site.last_s = UINT64_MAX;
	site.cost = (struct xp_daemon_cost){UINT64_MAX, UINT64_MAX, 1e300 / 3};
	for (int k = 0; k < 2; k++) {
		double sum = 0;
		for (int i = 0; i < XP_HTTP_N_COUNTERS; i++)
			site.count[i] = UINT64_MAX;
		assert_int_equal(ask(&site, k ? "GET" : "HEAD", "/metrics"),
		    200);
		check_form();
		assert_int_equal(a.counter, XP_HTTP_pages);
		assert_string_equal(a.type, XP_EXPOSE_TYPE);
		assert_int_equal(a.n_bytes, strlen(a.text));
		assert_true(a.n_bytes + 1 < sizeof(a.text));
		for (int i = 0; i < XP_HTTP_N_COUNTERS; i++)
			site.count[i] = UINT64_C(1) << i;
		ask(&site, "GET", "/metrics");
		assert_ok(xp_exposed_read(&x, a.text, test_err()));
#define X(name, doc)                                                           \
	sum += fmax(0,                                                         \
	    xp_exposed_get(&x,                                                 \
		"culprit_http_requests_total{outcome=\"" #name "\"}"));        \
	sum += fmax(0, xp_exposed_get(&x, "culprit_http_" #name "_total"));
		XP_HTTP_COUNTERS(X)
#undef X
		/* Each is there just once, by one of the two names. */
		assert_true(sum == (1 << XP_HTTP_N_COUNTERS) - 1);
		site.plan = NULL;
	}
}

static void metrics_tell_lists_and_store(void **state)
{
	static struct xp_exposed x;
	struct xp_http_site site = controller;
	(void)state;
	ask(&site, "GET", "/metrics");
	assert_ok(xp_exposed_read(&x, a.text, test_err()));
	/* No list went out: that is no time. */
	assert_true(
	    isnan(xp_exposed_get(&x, "culprit_controller_last_list_seconds")));
	assert_true(xp_exposed_get(&x, "culprit_controller_servers") == 1600);
	assert_true(xp_exposed_get(&x, "culprit_controller_stopped") == 0);
	/* The version is a hash: its number loses no bit on the way. */
	assert_true(
	    (uint64_t)xp_exposed_get(&x, "culprit_controller_list_version") ==
	    plan.version >> 12);
	assert_true(isnan(xp_exposed_get(&x, "culprit_collector_store_bytes")));
	site.stopped = 1;
	site.last_s = 1795435200;
	ask(&site, "GET", "/metrics");
	assert_ok(xp_exposed_read(&x, a.text, test_err()));
	assert_true(xp_exposed_get(&x, "culprit_controller_stopped") == 1);
	assert_true(xp_exposed_get(&x,
			"culprit_controller_last_list_seconds") == 1795435200);
	site.plan = NULL;
	site.held = (struct xp_batch_held){.n_files = 3,
	    .n_bytes = 4,
	    .n_bytes_most = 5,
	    .n_bytes_damaged = 6,
	    .n_gone = 7};
	ask(&site, "GET", "/metrics");
	assert_ok(xp_exposed_read(&x, a.text, test_err()));
#define IS(name, n)                                                            \
	assert_true(xp_exposed_get(&x, "culprit_collector_" name) == (n))
	IS("store_files", 3);
	IS("store_bytes", 4);
	IS("store_limit_bytes", 5);
	IS("store_damaged_bytes", 6);
	IS("store_files_gone_total", 7);
	IS("last_batch_seconds", 1795435200);
#undef IS
}

static void pages_say_what_there_is(void **state)
{
	(void)state;
	assert_int_equal(ask(&controller, "GET", "/"), 200);
	assert_non_null(strstr(a.bytes, "/pinglist/ADDRESS"));
	assert_non_null(strstr(a.bytes, "1600 servers"));
	assert_int_equal(ask(&collector, "HEAD", "/"), 200);
	assert_non_null(strstr(a.bytes, "POST /results"));
	assert_int_equal(ask(&controller, "GET", "/pinglist.xsd"), 200);
	assert_non_null(strstr(a.bytes, "<xs:schema"));
	assert_int_equal(a.n_bytes, strlen(a.bytes));
}

/* --- batches -------------------------------------------------------------- */
static enum xp_http_next post_head(uint64_t length)
{
	const struct xp_http_request q = {.method = "POST",
	    .target = "/results",
	    .length = length,
	    .n_lengths = 1};
	return xp_http_head(&collector, &q, &a);
}

static enum xp_http_next post_body(const void *body, size_t n)
{
	const struct xp_http_request q = {.body = body, .n_body = n};
	return xp_http_body(&q, &a);
}

static void a_body_that_cannot_be_a_batch_is_not_asked_for(void **state)
{
	(void)state;
	assert_int_equal(post_head(0), XP_HTTP_SEND_BODY);
	assert_int_equal(post_head(ALGO_PINGMESH_WIRE_MAX), XP_HTTP_SEND_BODY);
	const uint64_t large[] = {ALGO_PINGMESH_WIRE_MAX + 1, 1 << 20,
	    UINT64_MAX};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(post_head(large[i]), XP_HTTP_ANSWERED);
		assert_int_equal(a.status, 413);
		assert_int_equal(a.counter, XP_HTTP_too_large);
		check_form();
	}
}

/* RFC 9112 (2.2, 3.2, 6.1, 6.3) and RFC 9110 (5.5, 10.1.1): what may be read in two
 * ways is refused, whatever it asks for, and what is one way is taken. */
static void what_can_be_read_in_two_ways_is_refused(void **state)
{
	static const struct {
		struct xp_http_request q;
		unsigned status; /* 0: the body is asked for */
		const char *says;
	} corner[] = {
	    {{.n_hosts = 1}, 0, NULL},
	    {{.length = 48, .n_lengths = 1, .n_hosts = 1}, 0, NULL},
	    {{.coding = "chunked", .n_codings = 1}, 0, NULL},
	    {{.coding = "Chunked", .n_codings = 1}, 0, NULL},
	    {{.expect = "100-continue", .n_lengths = 1}, 0, NULL},
	    {{.expect = "100-Continue", .n_lengths = 1}, 0, NULL},
	    {{.is_http_1_0 = 1, .n_lengths = 1}, 0, NULL},
	    {{.length = 48, .n_lengths = 2}, 400, "in two ways"},
	    {{.n_lengths = 1, .coding = "chunked", .n_codings = 1}, 400,
		"in two ways"},
	    {{.coding = "chunked", .n_codings = 2}, 400, "said twice"},
	    {{.coding = "identity", .n_codings = 1}, 501, "chunked alone"},
	    {{.coding = "gzip, chunked", .n_codings = 1}, 501, "chunked alone"},
	    {{.coding = "xchunked", .n_codings = 1}, 501, "chunked alone"},
	    {{.coding = "", .n_codings = 1}, 501, "chunked alone"},
	    {{.coding = "chunked", .n_codings = 1, .is_http_1_0 = 1}, 400,
		"HTTP/1.0"},
	    {{.n_hosts = 2}, 400, "Host"},
	    {{.has_control = 1}, 400, "control character"},
	    {{.is_folded = 1}, 400, "folded"},
	    {{.expect = "a pony"}, 417, "100-continue"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(corner) / sizeof(corner[0]); i++) {
		struct xp_http_request q = corner[i].q;
		q.method = "POST";
		q.target = "/results";
		const enum xp_http_next next = xp_http_head(&collector, &q, &a);
		if (corner[i].status == 0) {
			assert_int_equal(next, XP_HTTP_SEND_BODY);
			continue;
		}
		assert_int_equal(next, XP_HTTP_ANSWERED);
		assert_int_equal(a.status, corner[i].status);
		assert_non_null(strstr(a.bytes, corner[i].says));
		assert_int_equal(a.counter,
		    a.status == 417 ? XP_HTTP_refused : XP_HTTP_malformed);
		/* As of a target that is none, which is not looked at. */
		q.target = "/nowhere";
		assert_int_equal(xp_http_head(&collector, &q, &a),
		    XP_HTTP_ANSWERED);
		assert_int_equal(a.status, corner[i].status);
	}
}

/* RFC 9112 (3.2.2): a server takes the absolute form, too. */
static void the_absolute_form_of_a_target_is_taken(void **state)
{
	static const struct {
		const char *target, *path, *host;
	} form[] = {
	    {"/health", "/health", ""},
	    {"http://10.0.0.9:8080/health", "/health", "10.0.0.9:8080"},
	    {"HTTP://x/pinglist/10.0.0.1", "/pinglist/10.0.0.1", "x"},
	    {"https://[::1]:8080/", "/", "[::1]:8080"},
	    {"http://x", "/", "x"},
	    /* None of ours: a user, no host, a query without a path. */
	    {"http://u@x/health", NULL, ""},
	    {"http:///health", NULL, ""},
	    {"http://", NULL, ""},
	    {"http://x?a", NULL, ""},
	    {"http://x#a", NULL, ""},
	    {"http://x\\y/health", NULL, ""},
	    {"http:/health", NULL, ""},
	    {"ftp://x/health", NULL, ""},
	    {"//x/health", NULL, ""},
	    {"*", NULL, ""},
	    {"x:80", NULL, ""},
	    {"", NULL, ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		const char *host;
		size_t n;
		const char *path = xp_http_target(form[i].target, &host, &n);
		assert_string_equal(path,
		    form[i].path ? form[i].path : form[i].target);
		assert_int_equal(n, strlen(form[i].host));
		assert_true(n == 0 ? !host : !memcmp(host, form[i].host, n));
		assert_int_equal(ask(&controller, "GET", path) == 404,
		    form[i].path == NULL);
	}
}

static void a_batch_is_kept_and_then_answered(void **state)
{
	static struct algo_pingmesh_batch b = {.src_ip = 0x0a000007,
	    .born_ns = 5,
	    .number = 3,
	    .n = 1,
	    .record = {{.src_ip = 0x0a000007}}};
	unsigned char bytes[96];
	const struct sim_err e = {.msg = "cannot write /secret: No space."};
	(void)state;
	assert_int_equal(algo_pingmesh_wire_encode(&b, NULL, bytes), 96);
	assert_int_equal(post_body(bytes, 96), XP_HTTP_KEEP);
	assert_true(algo_pingmesh_wire_short(NULL, &a.batch.src) == b.src_ip &&
	    a.batch.number == 3);
	xp_http_kept(&a, 0, 1, &e);
	assert_int_equal(a.status, 200);
	assert_int_equal(a.counter, XP_HTTP_batches_taken);
	xp_http_kept(&a, 0, 0, &e);
	assert_int_equal(a.status, 200);
	assert_int_equal(a.counter, XP_HTTP_batches_known);
	xp_http_kept(&a, SIM_EIO, 0, &e);
	assert_int_equal(a.status, 503);
	assert_null(strstr(a.bytes, "secret"));
	xp_http_kept(&a, SIM_ELIMIT, 0, &e);
	assert_int_equal(a.status, 507);
	assert_int_equal(a.counter, XP_HTTP_not_stored);
	check_form();
	for (size_t n = 0; n < 96; n++) {
		assert_int_equal(post_body(n ? bytes : NULL, n),
		    XP_HTTP_ANSWERED);
		assert_int_equal(a.status, 400);
		assert_int_equal(a.counter, XP_HTTP_bad_batches);
		check_form();
	}
	xp_http_no_memory(&a);
	assert_int_equal(a.status, 503);
	check_form();
}

/* --- who asks ------------------------------------------------------------- */
static int is_17(void *peer, struct topo_ip address)
{
	(*(int *)peer)++;
	return topo_ip_is_4(&address) && topo_ip_to_4(&address) == 0x0a000011;
}

static void a_list_is_for_the_server_alone(void **state)
{
	static struct xp_http_site stopped = {.plan = &plan, .stopped = 1};
	int n_asked = 0;
	struct xp_http_request q = {.method = "GET",
	    .is_for = is_17,
	    .peer = &n_asked};
	(void)state;
	for (uint32_t s = 0; s < 64; s++) {
		char address[16], target[32];
		topo_addr_format(topo_addr_of_host(s), address);
		snprintf(target, sizeof(target), "/pinglist/%s", address);
		q.target = target;
		/* Whether it has one before makes no difference. */
		q.if_none_match = s % 2 ? "*" : NULL;
		assert_int_equal(xp_http_head(&controller, &q, &a),
		    XP_HTTP_ANSWERED);
		assert_int_equal(n_asked, s + 1);
		check_form();
		if (s == 16) {
			assert_int_equal(a.status, 200);
			continue;
		}
		assert_int_equal(a.status, 403);
		assert_int_equal(a.counter, XP_HTTP_refused);
		assert_true(!a.is_pinglist && a.etag[0] == '\0');
		assert_non_null(strstr(a.bytes, address));
		assert_int_equal(xp_http_head(&stopped, &q, &a),
		    XP_HTTP_ANSWERED);
		assert_int_equal(a.status, 403);
		n_asked--;
	}
	/* What is nobody's is for all. */
	q.target = "/health";
	assert_int_equal(xp_http_head(&controller, &q, &a), XP_HTTP_ANSWERED);
	assert_int_equal(a.status, 200);
	assert_int_equal(n_asked, 64);
}

static void a_batch_is_taken_of_its_own_server_alone(void **state)
{
	static struct algo_pingmesh_batch b = {.born_ns = 5,
	    .number = 3,
	    .n = 1};
	static const uint32_t others[] = {0, 0x0a000010, 0x0a000012, 0x1100000a,
	    UINT32_MAX};
	unsigned char bytes[96];
	int n_asked = 0;
	struct xp_http_request q = {.body = bytes,
	    .n_body = sizeof(bytes),
	    .is_for = is_17,
	    .peer = &n_asked};
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		b.src_ip = b.record[0].src_ip = others[i];
		algo_pingmesh_wire_encode(&b, NULL, bytes);
		assert_int_equal(xp_http_body(&q, &a), XP_HTTP_ANSWERED);
		assert_int_equal(a.status, 403);
		assert_int_equal(a.counter, XP_HTTP_refused);
		check_form();
	}
	b.src_ip = b.record[0].src_ip = 0x0a000011;
	algo_pingmesh_wire_encode(&b, NULL, bytes);
	assert_int_equal(xp_http_body(&q, &a), XP_HTTP_KEEP);
	/* What is no batch has no server to ask for. */
	n_asked = 0;
	bytes[20] ^= 1;
	assert_int_equal(xp_http_body(&q, &a), XP_HTTP_ANSWERED);
	assert_int_equal(a.status, 400);
	assert_int_equal(n_asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_address_of_a_server_has_a_list),
	    cmocka_unit_test(anything_else_is_not_found),
	    cmocka_unit_test(other_methods_are_refused_with_those_there_are),
	    cmocka_unit_test(the_tag_that_a_client_has_saves_the_list),
	    cmocka_unit_test(stopped_there_are_no_lists_even_for_who_has_one),
	    cmocka_unit_test(health_has_every_counter_and_its_sum),
	    cmocka_unit_test(metrics_have_every_counter_for_prometheus),
	    cmocka_unit_test(metrics_tell_lists_and_store),
	    cmocka_unit_test(pages_say_what_there_is),
	    cmocka_unit_test(a_body_that_cannot_be_a_batch_is_not_asked_for),
	    cmocka_unit_test(what_can_be_read_in_two_ways_is_refused),
	    cmocka_unit_test(the_absolute_form_of_a_target_is_taken),
	    cmocka_unit_test(a_batch_is_kept_and_then_answered),
	    cmocka_unit_test(a_list_is_for_the_server_alone),
	    cmocka_unit_test(a_batch_is_taken_of_its_own_server_alone),
	};
	return cmocka_run_group_tests_name("experiments/live/serve", tests,
	    make_plan, NULL);
}
