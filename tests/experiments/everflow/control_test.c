/* tests/experiments/everflow/control_test.c -- a running controller's answers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests as who serves would give them, without sockets. What is told of traces
 * is held against a test of each by hand.
 */
#include "experiments/everflow/control_parts.h"
#include "experiments/everflow/tell.h"
#include "experiments/spec/config.h"
#include "sim/vec.h"
#include "tests/rigs/json.h"
#include "tests/rigs/spec_file.h"
#include "tests/rigs/traces.h"
#include "tests/test.h"

enum { N = 5000, MAX_TEXT = 1 << 23 };

struct rig {
	struct xp_spec s;
	struct xp_config c;
	struct topo topo;
	struct traces x;
	struct algo_analyzer *analyzer;
	struct xp_control *control;
	struct xp_http_answer a;
	char *body;
	size_t n_body;
};

static int rig_open_control(struct rig *r, size_t bytes, struct sim_err *e)
{
	struct xp_control_params p = {.routing = {.topo = &r->topo},
	    .everflow = xp_everflow_of(&r->c),
	    .keep_bytes = bytes,
	    .analyzer = r->analyzer};
	int rc = sim_field_defaults(algo_control_fields, &p.control, e);
	if (rc == 0)
		rc = sim_field_defaults(algo_admission_fields, &p.capacity, e);
	p.control.sample_n = 1;
	return rc < 0 ? rc : xp_control_open(&r->control, &p, e);
}

/* The network of tests/rigs/traces.h, and N traces that all are kept if there is
 * room. */
static void rig_open(struct rig *r, size_t bytes)
{
	struct algo_analyzer_params p;
	struct sim_rng rng;
	*r = (struct rig){.body = NULL};
	spec_open(&r->s,
	    "figure: f\nnoise: {rate: 0}\nalgorithms: [vote]\n"
	    "topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}\n");
	assert_ok(xp_spec_point(&r->s, 0, &r->c, test_err()));
	assert_ok(xp_topology_open(&r->c.topology, ".", &r->topo, test_err()));
	assert_ok(sim_field_defaults(algo_analyzer_fields, &p, test_err()));
	p.max_traces = 1024;
	const struct algo_routing routing = {.topo = &r->topo};
	assert_ok(
	    algo_analyzer_open(&r->analyzer, &routing, &p, 0, test_err()));
	assert_ok(rig_open_control(r, bytes, test_err()));
	test_rng(&rng, 0);
	traces_random(&r->x, N, 100 * SIM_SEC, &rng);
	assert_true(r->body = malloc(MAX_TEXT));
}

static void rig_fill(struct rig *r, size_t from, size_t to)
{
	struct algo_hop hop[64];
	struct algo_trace t;
	for (size_t i = from; i < to; i++) {
		traces_get(&r->x, i, &t, hop);
		xp_control_trace(r->control, &t, hop);
	}
}

static void rig_close(struct rig *r)
{
	xp_control_close(r->control);
	algo_analyzer_close(r->analyzer);
	traces_free(&r->x);
	topo_close(&r->topo);
	xp_config_free(&r->c);
	xp_spec_free(&r->s);
	free(r->body);
}

/* The status; the whole body, without carriage returns, is r->body. -1: the body
 * was cut off. PIECE is the most bytes that are taken at a time. */
static int rig_call(struct rig *r, const struct xp_http_request *q,
    size_t piece)
{
	static const struct xp_http_site site = {.n_open = 1,
	    .uptime_s = 77,
	    .count = {[XP_HTTP_pages] = 2, [XP_HTTP_crowded] = 3}};
	struct xp_http_answer *a = &r->a;
	char buf[4096];
	ssize_t n = 0;
	memset(a, 0, offsetof(struct xp_http_answer, text));
	memset(a->text, 0xa5, sizeof(a->text));
	xp_control_answer(r->control, &site, q, a);
	assert_non_null(a->type);
	assert_true((a->status == 405) == (a->allow != NULL));
	r->n_body = 0;
	if (!a->stream) {
		memcpy(r->body, a->bytes, a->n_bytes);
		r->n_body = a->n_bytes;
	}
	while (a->stream && (n = a->stream->read(a->stream, buf, piece)) > 0)
		for (ssize_t i = 0; i < n; i++)
			if (buf[i] != '\r' && r->n_body < MAX_TEXT - 1)
				r->body[r->n_body++] = buf[i];
	r->body[r->n_body] = '\0';
	if (a->stream)
		a->stream->rest(a->stream);
	if (n >= 0 && strcmp(a->type, xp_control_json) == 0)
		assert_true(json_is_whole(r->body));
	return n < 0 ? -1 : (int)a->status;
}

static int ask(struct rig *r, const char *method, const char *target)
{
	const struct xp_http_request q = {.method = method, .target = target};
	return rig_call(r, &q, 4096);
}

static void assert_says(struct rig *r, const char *method, const char *target,
    int status, const char *says)
{
	const int got = ask(r, method, target);
	if (got != status || !strstr(r->body, says))
		fail_msg("%s %.60s: %d, not %d: %.200s lacks %s", method,
		    target, got, status, r->body, says);
}

/* --- GetTrace --------------------------------------------------------------- */

static void put_all(struct rig *r, const char *filter, const char *where,
    sim_ns from, sim_ns to, FILE *out)
{
	struct algo_filter f, c;
	struct algo_hop hop[64];
	struct algo_trace t;
	assert_ok(algo_filter_compile(&f, filter, &r->topo, ALGO_IS_FILTER,
	    test_err()));
	assert_ok(algo_filter_compile(&c, where, &r->topo, ALGO_IS_CONDITION,
	    test_err()));
	fputs(xp_tell_head, out);
	for (size_t i = 0; i < N; i++) {
		traces_get(&r->x, i, &t, hop);
		if (t.t_ns >= from && t.t_ns < to &&
		    algo_filter_test(&f, &t, hop, 0) &&
		    algo_filter_test(&c, &t, hop, 0))
			xp_tell_row(out, &r->topo, i, &t, hop);
	}
}

static void traces_are_those_that_fit(void **state)
{
	static const struct {
		const char *target, *filter, *where;
		sim_ns from, to;
	} q[] = {
	    {"/traces", "", "", 0, SIM_NEVER},
	    {"/traces?filter=drop&from=10s&to=1.5m", "drop", "", 10 * SIM_SEC,
		90 * SIM_SEC},
	    {"/traces?filter=ip.ttl%20%3c+60&where=len%20>%202", "ip.ttl < 60",
		"len > 2", 0, SIM_NEVER},
	    {"/traces?format=rows&where=last%3D%3Dtor3", "", "last==tor3", 0,
		SIM_NEVER},
	    {"/traces?filter=ip.proto==99", "ip.proto==99", "", 0, SIM_NEVER},
	};
	struct rig r;
	(void)state;
	rig_open(&r, 64 << 20);
	rig_fill(&r, 0, N);
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		for (size_t piece = 7; piece <= 4096; piece += 4089) {
			char *want = NULL;
			size_t n = 0;
			FILE *out = open_memstream(&want, &n);
			const struct xp_http_request x = {.method = "GET",
			    .target = q[i].target};
			put_all(&r, q[i].filter, q[i].where, q[i].from, q[i].to,
			    out);
			fclose(out);
			assert_int_equal(rig_call(&r, &x, piece), 200);
			assert_int_equal(r.n_body, n);
			assert_memory_equal(r.body, want, n);
			assert_string_equal(r.a.note, "");
			free(want);
		}
	assert_says(&r, "GET", "/traces?format=count", 200, "5000\n");
	assert_says(&r, "GET", "/traces?format=json&filter=ip.proto==99", 200,
	    "[]\n");
	assert_says(&r, "GET", "/traces?format=json&limit=1", 200,
	    "[{\"id\": 0, ");
	/* One line, as of a file. */
	assert_true(strchr(r.body, '\n') == r.body + r.n_body - 1);
	rig_close(&r);
}

static void ends_of_spans_and_limits_are_exact(void **state)
{
	struct rig r;
	struct algo_hop hop[64];
	struct algo_trace t;
	char target[128], want[32];
	(void)state;
	rig_open(&r, 64 << 20);
	traces_get(&r.x, 0, &t, hop);
	for (t.t_ns = 1; t.t_ns <= 9; t.t_ns++)
		xp_control_trace(r.control, &t, hop);
	/* From the first that was asked for up to before the last. */
	for (unsigned from = 0; from <= 10; from++)
		for (unsigned to = from + 1; to <= 11; to++) {
			const unsigned low = from < 1 ? 1 : from,
				       high = to > 10 ? 10 : to;
			snprintf(target, sizeof(target),
			    "/traces?format=count&from=%uns&to=%uns", from, to);
			snprintf(want, sizeof(want), "%u\n",
			    high > low ? high - low : 0);
			assert_int_equal(ask(&r, "GET", target), 200);
			assert_string_equal(r.body, want);
			assert_string_equal(r.a.type, xp_control_plain);
		}
	for (unsigned limit = 1; limit <= 10; limit++) {
		snprintf(target, sizeof(target),
		    "/traces?format=count&limit=%u", limit);
		snprintf(want, sizeof(want), "%u\n", limit < 9 ? limit : 9);
		assert_int_equal(ask(&r, "GET", target), 200);
		assert_string_equal(r.body, want);
	}
	assert_says(&r, "GET", "/traces?limit=18446744073709551615", 400,
	    "limit: 18446744073709551615 is not in [1, "
	    "18446744073709551614].");
	assert_says(&r, "GET", "/traces?format=json&limit=2", 200, "\"id\": 1");
	assert_null(strstr(r.body, "\"id\": 2,"));
	assert_string_equal(r.a.type, xp_control_json);
	assert_int_equal(r.a.counter, XP_HTTP_pages);
	rig_close(&r);
}

/* What a slow client has not read yet may be forgotten: then its answer is cut off,
 * and is no whole one that lacks some. */
static void what_is_forgotten_is_told(void **state)
{
	const struct xp_http_request q = {.method = "GET",
	    .target = "/traces?format=json"};
	static const struct xp_http_site site;
	struct rig r;
	char buf[64];
	ssize_t n;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	rig_fill(&r, 0, 1000);
	memset(&r.a, 0, offsetof(struct xp_http_answer, text));
	xp_control_answer(r.control, &site, &q, &r.a);
	struct xp_http_stream *slow = r.a.stream;
	assert_true(slow->read(slow, buf, sizeof(buf)) > 0);
	rig_fill(&r, 1000, N);
	while ((n = slow->read(slow, buf, sizeof(buf))) > 0)
		;
	assert_int_equal(n, -1);
	slow->rest(slow);
	/* Who asks now hears how much is gone, if he asked for that. */
	assert_says(&r, "GET", "/traces?format=count", 200, "\n");
	char note[96];
	const struct xp_keep *k = &r.control->keep;
	snprintf(note, sizeof(note),
	    "%u traces, the latest of %.9f s, are forgotten",
	    (unsigned)k->first, 1e-9 * (double)k->gone_ns);
	assert_string_equal(r.a.note, note);
	assert_int_equal(atoi(r.body), N - k->first);
	/* Of the last that is gone all is not there, of the next one it is. */
	char target[128];
	for (unsigned more = 0; more < 2; more++) {
		snprintf(target, sizeof(target),
		    "/traces?format=count&from=%lluns",
		    (unsigned long long)k->gone_ns + more);
		assert_int_equal(ask(&r, "GET", target), 200);
		assert_string_equal(r.a.note, more ? "" : note);
	}
	assert_says(&r, "GET", "/traces?format=count&from=99s", 200, "\n");
	assert_string_equal(r.a.note, "");
	rig_close(&r);
}

/* --- counters ---------------------------------------------------------------- */

static void rig_rows(struct rig *r, sim_ns at, uint32_t id, double packets)
{
	struct algo_counters rows = {0};
	for (uint32_t h = 0; h < r->topo.n_hosts; h++) {
		struct algo_counter row = {.t_ns = at,
		    .id = 2 * h + TOPO_UP,
		    .kind = ALGO_COUNTER_LINK_PACKETS,
		    .value = 1e5};
		assert_ok(algo_counters_add(&rows, &row, test_err()));
		row.kind = ALGO_COUNTER_LINK_BYTES;
		row.value = 1e8;
		assert_ok(algo_counters_add(&rows, &row, test_err()));
	}
	const struct algo_counter row = {.t_ns = at,
	    .id = id,
	    .kind = ALGO_COUNTER_CUSTOM,
	    .value = packets};
	assert_ok(algo_counters_add(&rows, &row, test_err()));
	assert_ok(xp_control_step(r->control, at, SIM_SEC, &rows, test_err()));
	algo_counters_free(&rows);
}

static void counters_come_and_go(void **state)
{
	struct rig r;
	char target[128];
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	assert_says(&r, "POST", "/counters?name=syns&filter=tcp.flags%26SYN",
	    201, "{\"id\": 0}");
	assert_says(&r, "GET", "/counters", 200,
	    "[{\"id\": 0, \"name\": \"syns\"}]");
	rig_rows(&r, SIM_SEC, 0, 5);
	rig_rows(&r, 2 * SIM_SEC, 0, 6);
	assert_says(&r, "GET", "/counters?what=custom:syns&format=json", 200,
	    "\"custom\": 11,");
	assert_says(&r, "GET", "/counters?what=custom:syns&from=1s", 200,
	    "custom         6 packets");
	assert_says(&r, "GET", "/counters?what=link:host0->tor0&to=1s", 200,
	    "100000 packets");
	assert_says(&r, "POST", "/counters?name=syns", 409,
	    "there is a counter");
	assert_says(&r, "DELETE", "/counters?name=syn", 404, "no counter");
	assert_says(&r, "DELETE", "/counters?name=syns", 200, "{}");
	assert_says(&r, "GET", "/counters", 200, "[]");
	/* What it counted is there still, until the name is given anew. */
	assert_says(&r, "GET", "/counters?what=custom:syns", 200, "11 packets");
	assert_says(&r, "POST", "/counters?name=syns", 201, "{\"id\": 1}");
	assert_says(&r, "GET", "/counters?what=custom:syns", 200, " 0 packets");
	for (int i = 1; i < ALGO_CUSTOM_MAX - 1; i++) {
		snprintf(target, sizeof(target), "/counters?name=n%d", i);
		assert_int_equal(ask(&r, "POST", target), 201);
	}
	assert_says(&r, "POST", "/counters?name=one+more", 409, "room for");
	rig_close(&r);
}

static int no_name(void *arg, uint32_t id, const char *name, struct sim_err *e)
{
	(void)arg, (void)id, (void)name;
	return sim_fail(e, SIM_EIO, "disk full.");
}

static void a_counter_without_a_name_in_the_file_is_none(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	xp_control_close(r.control);
	struct xp_control_params p = {.routing = {.topo = &r.topo},
	    .keep_bytes = XP_KEEP_LEAST,
	    .named = no_name};
	assert_ok(xp_control_open(&r.control, &p, test_err()));
	assert_says(&r, "POST", "/counters?name=a", 500, "disk full");
	assert_says(&r, "GET", "/counters", 200, "[]");
	assert_says(&r, "DELETE", "/counters?name=a", 404, "no counter");
	rig_close(&r);
}

/* --- EnableDbg ---------------------------------------------------------------- */

static void tracing_is_admitted_or_refused(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	assert_says(&r, "POST", "/sessions?servers=host0", 400,
	    "before the first counters");
	rig_rows(&r, SIM_SEC, 0, 1);
	/* 8 servers of 1e5 packets/s: 178 bytes each are 142 of 12.5 MB/s. */
	assert_says(&r, "POST", "/sessions?servers=all", 409,
	    "\"bottleneck\": \"mirror budget of a switch\"");
	assert_non_null(strstr(r.body, "\"sample\": 16}"));
	assert_non_null(strstr(r.body, "1 packet in 16 would fit."));
	assert_says(&r, "POST", "/sessions?servers=all&sample=8", 409, "error");
	assert_says(&r, "POST",
	    "/sessions?servers=all&sample=16&life=2s&filter=ip.proto==6", 201,
	    "{\"id\": 1, \"sample\": 16, \"until_ns\": 3000000000}");
	assert_says(&r, "GET", "/sessions?server=host3", 200,
	    "\"filter\": \"ip.proto==6\", \"servers\": [\"host0\", ");
	assert_says(&r, "POST", "/sessions?servers=host1&sample=32", 201,
	    "\"id\": 2");
	assert_says(&r, "GET", "/sessions?server=host3", 200, "\"id\": 1");
	assert_null(strstr(r.body, "\"id\": 2"));
	assert_says(&r, "DELETE", "/sessions?id=2", 200, "{}");
	assert_says(&r, "DELETE", "/sessions?id=2", 404, "no session 2");
	/* Its time is over. */
	rig_rows(&r, 3 * SIM_SEC, 0, 1);
	assert_says(&r, "GET", "/sessions", 200, "{\"sessions\": []");
	assert_says(&r, "GET", "/health", 200, "\"expired\": 1");
	/* More is marked than was reserved. */
	assert_says(&r, "POST", "/sessions?servers=all&sample=16", 201,
	    "\"id\"");
	rig_rows(&r, 4 * SIM_SEC, ALGO_SESSION_COUNTER, 1e6);
	assert_says(&r, "GET", "/health", 200, "\"excess\": 1");
	assert_says(&r, "GET", "/sessions", 200, "{\"sessions\": []");
	rig_close(&r);
}

/* --- findings ------------------------------------------------------------------ */

static void debuggers_look_at_what_is_kept(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, 4 << 20);
	rig_fill(&r, 0, N);
	assert_says(&r, "GET", "/findings?debugger=loop", 200,
	    "loop: 5000 traces");
	assert_says(&r, "GET", "/findings?debugger=drop&format=json", 200,
	    "{\"debugger\": \"drop\", \"findings\": [");
	assert_says(&r, "GET", "/findings?debugger=dorp", 400,
	    "did you mean \\\"drop\\\"?");
	assert_says(&r, "GET", "/findings", 400, "debugger is missing");
	rig_close(&r);
}

/* --- pages ---------------------------------------------------------------------- */

static void assert_page(struct rig *r, const char *target, const char *text)
{
	const struct xp_http_request q = {.method = "GET", .target = target};
	/* However little is taken at a time. */
	for (size_t piece = 1; piece <= 4096; piece += 4095) {
		assert_int_equal(rig_call(r, &q, piece), 200);
		assert_string_equal(r->body, text);
		assert_int_equal(r->a.counter, XP_HTTP_pages);
	}
}

/* What debuggers make of a drop and a loop, which rigs/traces.c has. */
static void findings_are_told_in_words_and_json(void **state)
{
	struct algo_hop hop[64];
	struct algo_trace t;
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	traces_free(&r.x);
	traces_by_hand(&r.x);
	for (size_t i = 0; i < r.x.store.traces.n; i++) {
		traces_get(&r.x, i, &t, hop);
		xp_control_trace(r.control, &t, hop);
	}
	assert_page(&r, "/findings?debugger=loop",
	    "loop: 5 traces, 0 guided probes, 1 finding\n"
	    "loop  link t1.0->tor0  at t1.0  rate 1 (0 to 1)  15.000 to 15.000 "
	    "s, persistent\n"
	    "  cycle tor0 -> t1.0\n");
	assert_page(&r, "/findings?debugger=loop&format=json",
	    "{\"debugger\": \"loop\", \"findings\": [{\"cause\": \"loop\", "
	    "\"link\": \"t1.0->tor0\", \"node\": \"t1.0\", \"score\": 1, "
	    "\"rate\": 1, \"lo\": 0, \"hi\": 1, \"excess_us\": 0, \"from_ns\": "
	    "15000000000, \"to_ns\": 15000120000, \"persistent\": true, "
	    "\"intermittent\": false, \"cycle\": [\"tor0\", \"t1.0\"]}]}\n");
	assert_string_equal(r.a.type, xp_control_json);
	/* Of traces from a time up to before another. */
	assert_page(&r, "/findings?debugger=loop&from=15s&to=20s",
	    "loop: 1 traces, 0 guided probes, 1 finding\n"
	    "loop  link t1.0->tor0  at t1.0  rate 1 (0 to 1)  15.000 to 15.000 "
	    "s, persistent\n"
	    "  cycle tor0 -> t1.0\n");
	assert_page(&r, "/findings?debugger=loop&from=15000000001ns",
	    "loop: 2 traces, 0 guided probes, 0 findings\n");
	assert_string_equal(r.a.type, xp_control_plain);
	assert_page(&r, "/findings?debugger=drop&format=json",
	    "{\"debugger\": \"drop\", \"findings\": []}\n");
	rig_close(&r);
}

static void health_is_told_in_numbers(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	rig_fill(&r, 0, 3);
	rig_rows(&r, SIM_SEC, 0, 1);
	assert_page(&r, "/health",
	    "{\"service\": \"everflow\", \"uptime_s\": 77, \"now_ns\": "
	    "1000000000, \"traces\": 3, \"first_trace\": 0, "
	    "\"traces_forgotten_to_ns\": 0, \"counter_rows\": 17, "
	    "\"rows_forgotten_to_ns\": 0, \"counters\": 0, \"sessions\": 0, "
	    "\"expired\": 0, \"excess\": 0, \"open\": 1, \"pages\": 2, "
	    "\"refused\": 0, \"not_found\": 0, \"bad_methods\": 0, "
	    "\"malformed\": 0, \"late\": 0, \"connections\": 0, "
	    "\"crowded\": 3}\n");
	/* A clock that is set back is not followed. */
	rig_rows(&r, SIM_SEC / 2, 0, 1);
	assert_says(&r, "GET", "/health", 200,
	    "\"now_ns\": 1000000000, \"traces\": 3, ");
	assert_non_null(strstr(r.body, "\"counter_rows\": 34, "));
	assert_says(&r, "HEAD", "/", 200, "DELETE /sessions  id\n");
	assert_string_equal(r.a.type, xp_control_plain);
	rig_close(&r);
}

static void sessions_are_told_whole(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	assert_page(&r, "/sessions",
	    "{\"sessions\": [], \"used\": {\"mirror budget of a switch\": 0, "
	    "\"share of a link\": 0, \"reshuffler\": 0, \"analyzers\": 0}, "
	    "\"capacity\": {\"mirror budget of a switch\": 12500000, "
	    "\"share of a link\": 62500000, \"reshuffler\": 10000000000, "
	    "\"analyzers\": 2000000}}\n");
	rig_rows(&r, SIM_SEC, 0, 1);
	/* What is asked for, or the most there is: a life, in ns from now. */
	assert_says(&r, "POST", "/sessions?servers=host2,host0,&sample=65536",
	    201,
	    "{\"id\": 1, \"sample\": 65536, \"until_ns\": 601000000000}\n");
	assert_says(&r, "POST", "/sessions?servers=host1&sample=32&life=10m",
	    201, "\"until_ns\": 601000000000}");
	assert_says(&r, "POST",
	    "/sessions?servers=host3&sample=65536&life=599999999999ns", 201,
	    "\"until_ns\": 600999999999}");
	assert_says(&r, "POST", "/sessions?servers=host3&sample=65536&life=11m",
	    201, "\"until_ns\": 601000000000}");
	/* The last one takes the place of one that ends. */
	assert_says(&r, "DELETE", "/sessions?id=2", 200, "{}\n");
	assert_int_equal(r.control->n_sessions, 3);
	assert_int_equal(r.control->session[0].id, 1);
	assert_int_equal(r.control->session[1].id, 4);
	assert_int_equal(r.control->session[2].id, 3);
	assert_says(&r, "GET", "/sessions?server=host0", 200,
	    "{\"sessions\": [{\"id\": 1, \"sample\": 65536, \"until_ns\": "
	    "601000000000, \"filter\": \"\", \"servers\": [\"host2\", "
	    "\"host0\"]}], \"used\": {");
	assert_says(&r, "GET", "/sessions?server=host3", 200,
	    "\"servers\": [\"host3\"]}, {\"id\": 3, ");
	assert_says(&r, "GET", "/sessions?server=host1", 200,
	    "{\"sessions\": [], ");
	assert_says(&r, "POST",
	    "/sessions?sample=65536&servers="
	    "host0,host1,host2,host3,host4,host5,host6,host7",
	    201, "\"id\": 5");
	assert_says(&r, "POST",
	    "/sessions?sample=65536&servers="
	    "host0,host1,host2,host3,host4,host5,host6,host7,host0",
	    400, "{\"error\": \"servers: there are only 8.\"}\n");
	/* Ids are from 1 on, up to what 32 bits hold. */
	assert_says(&r, "DELETE", "/sessions?id=0", 400,
	    "{\"error\": \"id: 0 is not in [1, 4294967295].\"}\n");
	assert_says(&r, "DELETE", "/sessions?id=1", 200, "{}\n");
	assert_says(&r, "DELETE", "/sessions?id=1", 404, "no session 1");
	assert_says(&r, "DELETE", "/sessions?id=4294967295", 404,
	    "no session 4294967295");
	rig_close(&r);
}

static void what_does_not_fit_is_told_in_numbers(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	rig_rows(&r, SIM_SEC, 0, 1);
	assert_says(&r, "POST", "/sessions?servers=all", 409,
	    "\"bottleneck\": \"mirror budget of a switch\", \"need\": ");
	assert_non_null(strstr(r.body, ", \"used\": 0, \"capacity\": "));
	assert_int_equal(r.a.counter, XP_HTTP_refused);
	rig_close(&r);
}

static void there_are_so_many_sessions(void **state)
{
	struct rig r;
	char want[128];
	int n = 0;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	rig_rows(&r, SIM_SEC, 0, 1);
	while (ask(&r, "POST", "/sessions?servers=host0&sample=65536") == 201)
		n++;
	assert_int_equal(r.a.status, 409);
	snprintf(want, sizeof(want),
	    "{\"error\": \"%d sessions and 0 counters are under way.\"}\n", n);
	assert_string_equal(r.body, want);
	assert_int_equal(r.control->n_sessions, n);
	assert_true(n >= ALGO_CUSTOM_MAX - 2 || n == ALGO_CONTROL_SESSIONS);
	rig_close(&r);
}

static void filters_that_are_too_long_are_mistakes(void **state)
{
	static const char *const pages[] = {"/counters?name=a&filter=",
	    "/sessions?servers=host0&sample=65536&filter="};
	static char target[8192];
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	rig_rows(&r, SIM_SEC, 0, 1);
	for (size_t i = 0; i < 2; i++) {
		strcpy(target, pages[i]);
		memset(target + strlen(pages[i]), '(', 5000);
		target[strlen(pages[i]) + 5000] = '\0';
		assert_says(&r, "POST", target, 400,
		    "{\"error\": \"filter: 5000 bytes; there may be "
		    "4096.\"}\n");
		target[strlen(pages[i]) + 100] = '\0';
		assert_says(&r, "POST", target, 400, "\"column\": ");
	}
	rig_close(&r);
}

/* --- mistakes ------------------------------------------------------------------- */

static void mistakes_are_told_in_json(void **state)
{
	static const struct {
		const char *method, *target;
		int status;
		const char *says;
	} bad[] = {
	    {"GET", "/traces?filter=drop+%26%26+confrimed", 400,
		"\"column\": 9, \"did_you_mean\": \"confirmed\"}"},
	    {"GET", "/traces?filter=last==tor0", 400, "of conditions"},
	    {"GET", "/traces?where=last==tor9", 400, "condition: column 7"},
	    {"GET", "/traces?filter=((", 400, "\"column\""},
	    {"GET", "/traces?filter=switch==tro3", 400, "\"column\": 9"},
	    {"GET", "/traces?filter=ip.ttl<999", 400, "\"column\": 8"},
	    {"GET", "/traces?filter=%22", 400, "no end"},
	    {"GET", "/traces?filter=%zz", 400, "percent sign"},
	    {"GET", "/traces?filter=%00", 400, "percent sign"},
	    {"GET", "/traces?filter=a%", 400, "percent sign"},
	    {"GET", "/traces?%e4=1", 400, "is no parameter of /traces"},
	    {"GET", "/traces?filter", 400, "KEY=VALUE"},
	    {"GET", "/traces?=1", 400, "KEY=VALUE"},
	    {"GET", "/traces?from=1s&from=2s", 400, "stands twice"},
	    {"GET", "/traces?fliter=drop", 400, "did_you_mean\": \"filter"},
	    {"GET", "/traces?from=2s&to=1s", 400, "nothing is from"},
	    {"GET", "/traces?from=1", 400, "from: "},
	    {"GET", "/traces?limit=0", 400, "is not in [1, "},
	    {"GET", "/traces?limit=-1", 400, "limit: "},
	    {"GET", "/traces?format=jsno", 400, "did_you_mean\": \"json"},
	    {"GET", "/counters?what=lnik:3", 404, "did_you_mean\": \"link:"},
	    {"GET", "/counters?what=custom:x", 404, "no counter of the name"},
	    {"GET", "/counters?what=switch:host0", 404, "is no switch"},
	    {"POST", "/counters", 400, "name is missing"},
	    {"POST", "/counters?name=", 400, "1 to 63 bytes"},
	    {"POST", "/counters?name=a&filter=len>3", 400, "\"column\": 1"},
	    {"DELETE", "/counters", 400, "name is missing"},
	    {"POST", "/sessions", 400, "servers is missing"},
	    {"POST", "/sessions?servers=", 400, "no server"},
	    {"POST", "/sessions?servers=host99", 400, "servers: "},
	    {"POST", "/sessions?servers=tor0", 400, "is a switch"},
	    {"POST", "/sessions?servers=host0,host0", 400, "twice"},
	    {"POST", "/sessions?servers=host0&sample=3", 400, "power of two"},
	    {"POST", "/sessions?servers=host0&sample=131072", 400, "is not in"},
	    {"POST", "/sessions?servers=host0&life=x", 400, "life: "},
	    {"POST", "/sessions?servers=host0&filter=switch==tor0", 400,
		"headers alone"},
	    {"DELETE", "/sessions", 400, "id is missing"},
	    {"DELETE", "/sessions?id=4294967296", 400, "is not in"},
	    {"DELETE", "/sessions?id=7", 404, "no session 7"},
	    {"GET", "/sessions?server=x", 400, "error"},
	    {"GET", "/tracse", 404, "did_you_mean\": \"/traces"},
	    {"GET", "/traces/", 404, "error"},
	    {"GET", "", 404, "GET / says"},
	    {"GET", "*", 404, "error"},
	    {"GET", "/../etc/passwd", 404, "error"},
	    {"POST", "/traces", 405, "GET, HEAD alone"},
	    {"PUT", "/counters", 405, "DELETE alone"},
	    {"get", "/health", 405, "alone"},
	};
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	rig_rows(&r, SIM_SEC, 0, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_says(&r, bad[i].method, bad[i].target, bad[i].status,
		    bad[i].says);
		assert_memory_equal(r.body, "{\"error\": \"", 11);
		assert_string_equal(r.a.type, "application/json");
		assert_memory_equal(r.body + r.n_body - 2, "}\n", 2);
		assert_int_equal(r.a.counter,
		    bad[i].status == 404       ? XP_HTTP_not_found
			: bad[i].status == 405 ? XP_HTTP_bad_methods
					       : XP_HTTP_refused);
	}
	rig_close(&r);
}

static void long_targets_are_refused(void **state)
{
	static char target[XP_QUERY_BYTES + 64];
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	strcpy(target, "/traces?filter=");
	memset(target + strlen(target), 'x', XP_QUERY_BYTES);
	assert_says(&r, "GET", target, 400, "a target of");
	strcpy(target, "/traces?filter=");
	memset(target + 15, ' ', 4097);
	target[15 + 4097] = '\0';
	assert_says(&r, "GET", target, 400, "4096");
	strcpy(target, "/traces?");
	for (int i = 0; i < 17; i++)
		snprintf(target + strlen(target), 16, "k%d=1&", i);
	assert_says(&r, "GET", target, 400, "more than 16 parameters");
	rig_close(&r);
}

static void other_sites_and_bodies_are_refused(void **state)
{
	static const struct {
		struct xp_http_request q;
		int status;
	} q[] = {
	    {{.origin = "http://evil.example"}, 403},
	    {{.origin = "null"}, 403},
	    {{.host = "evil.example"}, 403},
	    {{.host = "127.0.0.1.evil.example:80"}, 403},
	    {{.host = ""}, 403},
	    {{.host = "[::1"}, 200},
	    {{.host = "127.0.0.1:8090"}, 200},
	    {{.host = "[::1]:8090"}, 200},
	    {{.host = "localhost"}, 200},
	    {{.length = 1, .n_lengths = 1}, 413},
	    {{.n_lengths = 1}, 200},
	    {{.n_lengths = 2}, 413},
	    {{.coding = "chunked", .n_codings = 1}, 413},
	};
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_http_request x = q[i].q;
		x.method = "GET";
		x.target = "/health";
		if (rig_call(&r, &x, 4096) != q[i].status)
			fail_msg("%zu: %u: %s", i, r.a.status, r.body);
	}
	rig_close(&r);
}

static int open_and_ask(void *arg, struct sim_err *e)
{
	static const struct {
		const char *method, *target;
	} q[] = {{"POST", "/counters?name=a&filter=drop"}, {"GET", "/traces"},
	    {"GET", "/findings?debugger=loop"},
	    {"GET", "/counters?what=custom:a"}, {"DELETE", "/counters?name=a"}};
	struct rig *r = arg;
	int rc = rig_open_control(r, XP_KEEP_LEAST, e);
	for (size_t i = 0; rc == 0 && i < sizeof(q) / sizeof(q[0]); i++) {
		const int status = ask(r, q[i].method, q[i].target);
		/* What could not be done has changed nothing. */
		if (status == 503)
			rc = SIM_ENOMEM;
		else if (status != 200 && status != 201)
			fail_msg("%s: %d %s", q[i].target, status, r->body);
	}
	xp_control_close(r->control);
	r->control = NULL;
	return rc;
}

static void each_failed_allocation_is_told(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, XP_KEEP_LEAST);
	xp_control_close(r.control);
	test_each_alloc_fails(open_and_ask, &r);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ends_of_spans_and_limits_are_exact),
	    cmocka_unit_test(traces_are_those_that_fit),
	    cmocka_unit_test(what_is_forgotten_is_told),
	    cmocka_unit_test(counters_come_and_go),
	    cmocka_unit_test(a_counter_without_a_name_in_the_file_is_none),
	    cmocka_unit_test(tracing_is_admitted_or_refused),
	    cmocka_unit_test(debuggers_look_at_what_is_kept),
	    cmocka_unit_test(findings_are_told_in_words_and_json),
	    cmocka_unit_test(health_is_told_in_numbers),
	    cmocka_unit_test(sessions_are_told_whole),
	    cmocka_unit_test(what_does_not_fit_is_told_in_numbers),
	    cmocka_unit_test(there_are_so_many_sessions),
	    cmocka_unit_test(filters_that_are_too_long_are_mistakes),
	    cmocka_unit_test(mistakes_are_told_in_json),
	    cmocka_unit_test(long_targets_are_refused),
	    cmocka_unit_test(other_sites_and_bodies_are_refused),
	    cmocka_unit_test(each_failed_allocation_is_told),
	};
	return cmocka_run_group_tests_name("experiments/everflow/control",
	    tests, spec_folder_make, spec_folder_remove);
}
