/* tests/experiments/live/fetch_test.c -- a live agent asks, over loopback.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The other side is a thread that answers connection after connection with the
 * bytes that a test wrote down.
 */
#include "experiments/live/fetch.h"

#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "algos/pingmesh/wire.h"
#include "tests/rigs/loopback.h"

enum { MAX_ANSWERS = 8, REQUEST = 1 << 17, MOST = 200 };

#define SILENCE NULL /* take the request and say nothing */

/* One server. It gives its answers in order, each once; after the last one it
 * closes each connection without an answer. */
struct server {
	pthread_t thread;
	int fd;
	char url[64];
	const char *answer[MAX_ANSWERS];
	unsigned n_answers, n_asked;
	char request[MAX_ANSWERS][REQUEST];
	size_t n_request[MAX_ANSWERS];
};

struct rig {
	struct loop loop;
	struct xp_fetch *fetch;
	struct xp_fetch_params p;
	char urls[256];
	struct server a, b, collector;
};

/* --- the other side ------------------------------------------------------- */
static size_t length_of(const char *head)
{
	const char *p = strstr(head, "Content-Length: ");
	return p ? strtoul(p + 16, NULL, 10) : 0;
}

static void hear(struct server *s, unsigned i, int fd)
{
	char *r = s->request[i];
	const char *end = NULL;
	size_t n = 0;
	ssize_t k;
	while ((k = recv(fd, r + n, REQUEST - 1 - n, 0)) > 0) {
		n += (size_t)k;
		r[n] = '\0';
		if ((end = strstr(r, "\r\n\r\n")) &&
		    n == (size_t)(end + 4 - r) + length_of(r))
			break;
	}
	s->n_request[i] = n;
}

static unsigned asked(struct server *s)
{
	return __atomic_load_n(&s->n_asked, __ATOMIC_ACQUIRE);
}

static void say(const char *answer, int fd)
{
	if (answer == SILENCE)
		sleep(1);
	else if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
		return; /* who asked is gone */
}

static void *serve(void *arg)
{
	struct server *s = arg;
	int fd;
	while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
		const unsigned i = asked(s);
		const int has_answer = i < s->n_answers;
		if (has_answer)
			hear(s, i, fd);
		__atomic_store_n(&s->n_asked, i + 1, __ATOMIC_RELEASE);
		if (has_answer)
			say(s->answer[i], fd);
		close(fd);
	}
	return NULL;
}

static void start(struct server *s)
{
	s->fd = loop_listener(loop_ip(0));
	snprintf(s->url, sizeof(s->url), "http://127.0.0.2:%u",
	    loop_port(s->fd));
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void end(struct server *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
}

static void add(struct server *s, const char *answer)
{
	assert_true(s->n_answers < MAX_ANSWERS);
	s->answer[s->n_answers++] = answer;
}

/* --- the rig -------------------------------------------------------------- */
static struct rig *open_rig_by(const char *scheme, double deadline_s,
    int has_collector)
{
	struct rig *g = calloc(1, sizeof(*g));
	assert_non_null(g);
	if (!xp_fetch_is_built_in()) {
		free(g);
		skip();
	}
	loop_defaults(&g->loop);
	g->loop.p.no_probe = 1;
	loop_open(&g->loop);
	start(&g->a);
	start(&g->b);
	start(&g->collector);
	/* Which is first depends on the address: of 127.0.0.2, a. */
	snprintf(g->urls, sizeof(g->urls), "%s%s,%s%s/", scheme,
	    g->a.url + strlen("http"), scheme, g->b.url + strlen("http"));
	g->p = (struct xp_fetch_params){.controllers = g->urls,
	    .collector = has_collector ? g->collector.url : NULL,
	    .address = topo_ip_of_4(loop_ip(0)),
	    .fetch_s = deadline_s,
	    .upload_s = deadline_s,
	    .max_bytes = MOST};
	assert_ok(xp_fetch_open(&g->fetch, &g->p, test_err()));
	assert_ok(xp_fetch_serve(g->fetch, g->loop.f, test_err()));
	return g;
}

static struct rig *open_rig_with(double deadline_s, int has_collector)
{
	return open_rig_by("http", deadline_s, has_collector);
}

static struct rig *open_rig(double deadline_s)
{
	return open_rig_with(deadline_s, 1);
}

static void close_rig(struct rig *g)
{
	fabric_real_close(g->loop.f);
	xp_fetch_close(g->fetch);
	end(&g->a);
	end(&g->b);
	end(&g->collector);
	free(g);
}

static const struct xp_fetch_counters *count(const struct rig *g)
{
	return xp_fetch_count(g->fetch);
}

static void ask(struct rig *g, uint64_t token)
{
	const struct agent_action a = {.kind = AGENT_FETCH, .token = token};
	loop_act(&g->loop, 0, &a);
}

/* Ask, and have it answered so; N bytes of TEXT come. */
static void ask_for(struct rig *g, uint64_t token, int ok, const char *text)
{
	assert_int_equal(loop_next(&g->loop, 0),
	    0); /* gives back what it had */
	ask(g, token);
	loop_await(&g->loop, AGENT_FETCH_DONE);
	assert_int_equal(g->loop.ev.token, token);
	assert_int_equal(g->loop.ev.ok, ok);
	assert_int_equal(g->loop.ev.n, text ? strlen(text) : 0);
	if (text)
		assert_memory_equal(g->loop.ev.data, text, strlen(text));
}

static int begins(const struct server *s, unsigned i, const char *text)
{
	return strncmp(s->request[i], text, strlen(text)) == 0;
}

#define LIST(tag, body)                                                        \
	"HTTP/1.1 200 OK\r\nETag: " tag                                        \
	"\r\nContent-Type: application/xml\r\n"                                \
	"\r\n" body

/* --- lists ---------------------------------------------------------------- */
static void a_list_that_was_had_is_not_sent_again(void **state)
{
	struct rig *g = open_rig(10);
	(void)state;
	add(&g->a, LIST("\"one\"", "first"));
	add(&g->a, "HTTP/1.1 304 Not Modified\r\nETag: \"one\"\r\n\r\n");
	add(&g->a, LIST(" \"two\" ", "second"));
	add(&g->a, "HTTP/1.1 304 Not Modified\r\n\r\n");
	ask_for(g, 7, 1, "first");
	ask_for(g, 8, 1, "first");
	ask_for(g, 9, 1, "second");
	ask_for(g, 10, 1, "second");
	assert_true(begins(&g->a, 0, "GET /pinglist/127.0.0.2 HTTP/1.1\r\n"));
	assert_null(strstr(g->a.request[0], "If-None-Match"));
	assert_non_null(
	    strstr(g->a.request[1], "\r\nIf-None-Match: \"one\"\r\n"));
	assert_non_null(
	    strstr(g->a.request[3], "\r\nIf-None-Match: \"two\"\r\n"));
	assert_int_equal(count(g)->n_lists, 2);
	assert_int_equal(count(g)->n_same, 2);
	assert_int_equal(count(g)->n_unanswered, 0);
	assert_string_equal(xp_fetch_why(g->fetch), "");
	close_rig(g);
}

static void tags_that_cannot_be_sent_back_are_not(void **state)
{
	static char longest[256];
	struct rig *g = open_rig(10);
	(void)state;
	snprintf(longest, sizeof(longest),
	    "HTTP/1.1 200 OK\r\nETag: \"%0150d\"\r\n\r\nlist", 0);
	add(&g->a, LIST("\"a b\"", "list"));
	add(&g->a, longest);
	add(&g->a, "HTTP/1.1 200 OK\r\n\r\nlist");
	add(&g->a, "HTTP/1.1 304 Not Modified\r\n\r\n"); /* of what? */
	add(&g->b,
	    "HTTP/1.1 100 Continue\r\nETag: \"x\"\r\n\r\n"
	    "HTTP/1.1 200 OK\r\n\r\nlist");
	add(&g->b, "HTTP/1.1 200 OK\r\n\r\nlist");
	ask_for(g, 1, 1, "list");
	ask_for(g, 2, 1, "list");
	ask_for(g, 3, 1, "list");
	ask_for(g, 4, 1, "list"); /* of b */
	ask_for(g, 5, 1, "list");
	for (unsigned i = 0; i < 4; i++)
		assert_null(strstr(g->a.request[i], "If-None-Match"));
	assert_null(strstr(g->b.request[1], "If-None-Match"));
	close_rig(g);
}

/* 404 is an answer, which no other controller is asked about. */
static void that_there_is_no_list_is_an_answer(void **state)
{
	struct rig *g = open_rig(10);
	(void)state;
	add(&g->a, LIST("\"one\"", "first"));
	add(&g->a, "HTTP/1.1 404 Not Found\r\n\r\nAll agents are stopped.");
	add(&g->a, "HTTP/1.1 304 Not Modified\r\n\r\n");
	ask_for(g, 1, 1, "first");
	ask_for(g, 2, 1, NULL);
	ask_for(g, 3, 1, "first");
	assert_int_equal(count(g)->n_none, 1);
	assert_int_equal(asked(&g->b), 0);
	close_rig(g);
}

static void what_is_no_answer_is_asked_of_the_next_controller(void **state)
{
	static const char *const bad[] = {
	    "HTTP/1.1 500 Oops\r\n\r\nlist",
	    "HTTP/1.1 403 No\r\n\r\nlist",
	    "HTTP/1.1 204 Empty\r\n\r\n",
	    "HTTP/1.1 207 Several\r\n\r\nlist",
	    "HTTP/1.1 302 There\r\nLocation: /elsewhere\r\n\r\nlist",
	    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nlist",
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nlist",
	    "list, by no protocol",
	};
	enum { N_BAD = sizeof(bad) / sizeof(bad[0]) };
	(void)state;
	for (unsigned i = 0; i < N_BAD; i++) {
		struct rig *g = open_rig(10);
		add(&g->a, bad[i]);
		add(&g->b, LIST("\"b\"", "of b"));
		add(&g->b, bad[i]);
		ask_for(g, 1, 1, "of b");
		assert_int_equal(asked(&g->a), 1);
		assert_int_equal(count(g)->n_unanswered, 1);
		assert_non_null(strstr(xp_fetch_why(g->fetch), g->a.url));
		/* From then on b is asked first; a has no answer left. */
		ask_for(g, 2, 0, NULL);
		assert_int_equal(asked(&g->b), 2);
		assert_int_equal(count(g)->n_unanswered, 3);
		close_rig(g);
	}
}

/* Each has a reason that says so, where libcurl would take most of them. */
static void an_answer_that_can_be_read_in_two_ways_is_none(void **state)
{
#define OK_WITH(headers, body) "HTTP/1.1 200 OK\r\n" headers "\r\n\r\n" body
	static const struct {
		const char *answer, *why; /* why: NULL if it is taken */
	} corner[] = {
	    {OK_WITH("Content-Length: 4", "list"), NULL},
	    {OK_WITH("Transfer-Encoding: chunked", "4\r\nlist\r\n0\r\n\r\n"),
		NULL},
	    {OK_WITH("transfer-encoding:CHUNKED",
		 "2;x=y\r\nli\r\n2\r\nst\r\n0\r\nX: y\r\n\r\n"),
		NULL},
	    {OK_WITH("Content-Encoding: identity", "list"), NULL},
	    {"HTTP/1.0 200 OK\r\n\r\nlist", NULL},
	    {"HTTP/1.1 100 Continue\r\nContent-Length: 3\r\n\r\n" OK_WITH(
		 "Content-Length: 4", "list"),
		NULL},
	    {OK_WITH("Content-Length: 4\r\nContent-Length: 4", "list"),
		"in two ways"},
	    {OK_WITH("Content-Length: 4\r\nTransfer-Encoding: chunked",
		 "4\r\nlist\r\n0\r\n\r\n"),
		"in two ways"},
	    {OK_WITH("Transfer-Encoding: identity", "list"), "transfer coding"},
	    {OK_WITH("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
		 "4\r\nlist\r\n0\r\n\r\n"),
		"transfer coding"},
	    {OK_WITH("Content-Encoding: rot13", "yvfg"), "packed"},
	    {OK_WITH("ETag: \"a\r\n b\"", "list"), "folded"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(corner) / sizeof(corner[0]); i++) {
		struct rig *g = open_rig(10);
		add(&g->a, corner[i].answer);
		add(&g->b, LIST("\"b\"", "of b"));
		ask_for(g, 1, 1, corner[i].why ? "of b" : "list");
		assert_int_equal(asked(&g->b), corner[i].why != NULL);
		if (corner[i].why &&
		    !strstr(xp_fetch_why(g->fetch), corner[i].why))
			fail_msg("%zu: %s", i, xp_fetch_why(g->fetch));
		close_rig(g);
	}
#undef OK_WITH
}

static void a_controller_that_is_silent_has_its_share_of_the_time(void **state)
{
	struct rig *g = open_rig(1);
	(void)state;
	add(&g->a, SILENCE);
	add(&g->b, LIST("\"b\"", "of b"));
	const sim_ns begun = loop_now(&g->loop);
	ask_for(g, 1, 1, "of b");
	assert_in_range(loop_now(&g->loop) - begun, 400 * SIM_MS,
	    450 * SIM_MS + LOOP_SLOW);
	close_rig(g);
}

/* The fetch must fail before the agent's own time-out ends, or the agent would
 * count one failure more. */
static void silence_ends_before_the_agents_deadline(void **state)
{
	struct rig *g = open_rig(1);
	(void)state;
	add(&g->a, SILENCE);
	add(&g->b, SILENCE);
	const sim_ns begun = loop_now(&g->loop);
	ask_for(g, 1, 0, NULL);
	assert_in_range(loop_now(&g->loop) - begun, 850 * SIM_MS,
	    900 * SIM_MS + LOOP_SLOW);
	assert_int_equal(count(g)->n_unanswered, 2);
	close_rig(g);
}

/* The agent is to see that it is too long, and refuse it. */
static void of_a_list_that_is_too_long_one_byte_more_is_kept(void **state)
{
	static char text[MOST + 1], answer[MOST + 5000];
	(void)state;
	for (size_t n = MOST; n < MOST + 4000; n += 1999) {
		struct rig *g = open_rig(10);
		memset(answer, 0, sizeof(answer));
		const int at =
		    snprintf(answer, sizeof(answer), "%s", LIST("\"one\"", ""));
		memset(answer + at, 'x', n);
		add(&g->a, answer);
		memset(text, 'x', sizeof(text));
		ask(g, 1);
		loop_await(&g->loop, AGENT_FETCH_DONE);
		assert_int_equal(g->loop.ev.ok, 1);
		assert_int_equal(g->loop.ev.n, n == MOST ? MOST : MOST + 1);
		assert_memory_equal(g->loop.ev.data, text, g->loop.ev.n);
		close_rig(g);
	}
}

static void a_new_question_settles_the_one_before(void **state)
{
	struct rig *g = open_rig(10);
	(void)state;
	add(&g->a, LIST("\"one\"", "first"));
	add(&g->a, LIST("\"one\"", "first"));
	ask(g, 1);
	ask(g, 2);
	loop_await(&g->loop, AGENT_FETCH_DONE);
	assert_int_equal(g->loop.ev.token, 1);
	assert_int_equal(g->loop.ev.ok, 0);
	loop_await(&g->loop, AGENT_FETCH_DONE);
	assert_int_equal(g->loop.ev.token, 2);
	assert_int_equal(g->loop.ev.ok, 1);
	/* The agent still has the document while it asks for another one: the
	 * memory must not be written over. */
	ask(g, 3);
	loop_await(&g->loop, AGENT_FETCH_DONE);
	assert_int_equal(g->loop.ev.token, 3);
	assert_int_equal(g->loop.ev.ok, 0);
	close_rig(g);
}

static void nobody_there_is_told_at_once(void **state)
{
	struct rig *g = open_rig(10);
	(void)state;
	end(&g->a);
	end(&g->b);
	const sim_ns begun = loop_now(&g->loop);
	ask_for(g, 1, 0, NULL);
	assert_in_range(loop_now(&g->loop) - begun, 0, LOOP_SLOW);
	assert_non_null(strstr(xp_fetch_why(g->fetch), "connect"));
	start(&g->a);
	start(&g->b);
	close_rig(g);
}

/* By TLS the library's own words say what was wrong, with whom; its code alone
 * says that something was. */
static void by_tls_whom_and_what_is_told(void **state)
{
	struct rig *g = open_rig_by("https", 10, 1);
	(void)state;
	end(&g->a);
	end(&g->b);
	ask_for(g, 1, 0, NULL);
	assert_non_null(strstr(xp_fetch_why(g->fetch), "https://127.0.0.2:"));
	assert_non_null(strstr(xp_fetch_why(g->fetch), "127.0.0.2 port "));
	start(&g->a);
	start(&g->b);
	close_rig(g);
}

/* --- batches -------------------------------------------------------------- */
static void fill(struct algo_pingmesh_batch *b, uint64_t number)
{
	memset(b, 0, sizeof(*b));
	b->born_ns = 5;
	b->number = number;
	b->src_ip = loop_ip(0);
	b->n = 2;
	for (uint32_t i = 0; i < b->n; i++)
		b->record[i] =
		    (struct algo_pingmesh_record){.sent_ns = 1000 + i,
			.rtt_ns = 271828,
			.src_ip = b->src_ip,
			.dst_ip = 0x0a000001 + i};
}

static void post(struct rig *g, const struct algo_pingmesh_batch *b,
    uint64_t token, int ok)
{
	const struct agent_action a = {.kind = AGENT_UPLOAD,
	    .token = token,
	    .data = b,
	    .n_bytes = (uint32_t)(offsetof(struct algo_pingmesh_batch, record) +
		b->n * sizeof(b->record[0]))};
	loop_act(&g->loop, 0, &a);
	loop_await(&g->loop, AGENT_UPLOAD_DONE);
	assert_int_equal(g->loop.ev.token, token);
	assert_int_equal(g->loop.ev.ok, ok);
}

static void posted(const struct server *s, unsigned i,
    struct algo_pingmesh_batch *b)
{
	const char *body = strstr(s->request[i], "\r\n\r\n") + 4;
	assert_true(begins(s, i, "POST /results HTTP/1.1\r\n"));
	assert_ok(algo_pingmesh_wire_decode(b, NULL, body,
	    s->n_request[i] - (size_t)(body - s->request[i]), test_err()));
}

#define TAKEN "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ntaken\n"

static uint64_t wall(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * SIM_SEC + (uint64_t)t.tv_nsec;
}

static void a_batch_is_posted_by_the_wall_clock(void **state)
{
	static struct algo_pingmesh_batch b, got;
	struct rig *g = open_rig(10);
	(void)state;
	const uint64_t start_ns = wall() - loop_now(&g->loop);
	add(&g->collector, TAKEN);
	fill(&b, 1);
	post(g, &b, 256, 1);
	posted(&g->collector, 0, &got);
	assert_int_equal(got.number, 1);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.record[1].rtt_ns, 271828);
	assert_int_equal(got.record[1].dst_ip, 0x0a000002);
	assert_int_equal(got.record[1].sent_ns - got.record[0].sent_ns, 1);
	/* The wall clock may be slewed meanwhile. */
	assert_in_range(got.born_ns, start_ns - SIM_SEC, start_ns + SIM_SEC);
	assert_in_range(got.record[0].sent_ns, start_ns - SIM_SEC,
	    start_ns + SIM_SEC);
	assert_int_equal(count(g)->n_taken, 1);
	close_rig(g);
}

/* Beside a batch that is under way, and with nobody who waits for them. */
static void counters_are_posted_by_the_wall_clock_and_once(void **state)
{
	static struct algo_pingmesh_batch b;
	const struct algo_pingmesh_window w = {.born_ns = 5,
	    .number = 3,
	    .start_ns = 1000,
	    .end_ns = 1007,
	    .n_probes = 9,
	    .n_connected = 8,
	    .has_http = 1,
	    .src_ip = loop_ip(0)};
	const struct agent_action a = {.kind = AGENT_COUNTERS,
	    .data = &w,
	    .n_bytes = sizeof(w)};
	struct algo_pingmesh_window got;
	struct rig *g = open_rig(10);
	(void)state;
	const uint64_t start_ns = wall() - loop_now(&g->loop);
	add(&g->collector, TAKEN);
	add(&g->collector, TAKEN);
	loop_act(&g->loop, 0, &a);
	while (count(g)->n_windows == 0)
		assert_int_equal(loop_next(&g->loop, 20 * SIM_MS), 0);
	const char *body = strstr(g->collector.request[0], "\r\n\r\n") + 4;
	assert_ok(algo_pingmesh_wire_decode_window(&got, NULL, body,
	    ALGO_PINGMESH_WIRE_WINDOW, test_err()));
	assert_true(got.number == 3 && got.n_probes == 9 &&
	    got.n_connected == 8 && got.src_ip == loop_ip(0));
	assert_int_equal(got.end_ns - got.start_ns, 7);
	assert_in_range(got.start_ns, start_ns - SIM_SEC, start_ns + SIM_SEC);
	assert_in_range(got.born_ns, start_ns - SIM_SEC, start_ns + SIM_SEC);
	fill(&b, 1);
	post(g, &b, 256, 1);
	end(&g->collector);
	loop_act(&g->loop, 0, &a);
	while (count(g)->n_windows_lost == 0)
		assert_int_equal(loop_next(&g->loop, 20 * SIM_MS), 0);
	assert_true(count(g)->n_windows == 1 && count(g)->n_taken == 1);
	assert_string_not_equal(xp_fetch_why(g->fetch), "");
	close_rig(g);
}

/* How much earlier than it was a run says that it began. */
static sim_ns told_earlier(void)
{
	const struct algo_pingmesh_window w = {.has_http = 1,
	    .number = 1,
	    .src_ip = loop_ip(0)};
	const struct agent_action a = {.kind = AGENT_COUNTERS,
	    .data = &w,
	    .n_bytes = sizeof(w)};
	struct algo_pingmesh_window got;
	struct rig *g = open_rig(10);
	add(&g->collector, TAKEN);
	loop_act(&g->loop, 0, &a);
	while (count(g)->n_windows == 0)
		assert_int_equal(loop_next(&g->loop, 20 * SIM_MS), 0);
	const char *body = strstr(g->collector.request[0], "\r\n\r\n") + 4;
	assert_ok(algo_pingmesh_wire_decode_window(&got, NULL, body,
	    ALGO_PINGMESH_WIRE_WINDOW, test_err()));
	close_rig(g);
	return got.start_ns - got.born_ns;
}

/* Both times were 0. One run in 168 has a chance below 100 us, so four have it once
 * in 8e8. */
static void a_run_begins_at_a_time_that_nobody_can_bring_back(void **state)
{
	int n = 4;
	(void)state;
	while (n > 0 && told_earlier() < 100 * SIM_US)
		n--;
	assert_true(n > 0);
}

static void a_batch_that_is_tried_again_is_the_same_bytes(void **state)
{
	static struct algo_pingmesh_batch b, one, two;
	struct rig *g = open_rig(10);
	(void)state;
	add(&g->collector, "HTTP/1.1 503 Later\r\n\r\n");
	add(&g->collector, "HTTP/1.1 302 There\r\nLocation: /\r\n\r\n");
	add(&g->collector, TAKEN);
	add(&g->collector, TAKEN);
	fill(&b, 1);
	post(g, &b, 256, 0);
	assert_non_null(strstr(xp_fetch_why(g->fetch),
	    ": it answers 503 (it is overloaded, or down for now)"));
	post(g, &b, 257, 0);
	post(g, &b, 258, 1);
	assert_int_equal(g->collector.n_request[0], g->collector.n_request[2]);
	assert_memory_equal(g->collector.request[0], g->collector.request[2],
	    g->collector.n_request[0]);
	/* Batches of one life of the agent have the same time of birth. */
	fill(&b, 2);
	post(g, &b, 512, 1);
	posted(&g->collector, 2, &one);
	posted(&g->collector, 3, &two);
	assert_int_equal(one.born_ns, two.born_ns);
	assert_int_equal(count(g)->n_taken, 2);
	assert_int_equal(count(g)->n_untaken, 2);
	close_rig(g);
}

static void the_largest_batch_passes(void **state)
{
	static struct algo_pingmesh_batch b, got;
	struct rig *g = open_rig(10);
	(void)state;
	fill(&b, 1);
	b.n = ALGO_PINGMESH_BATCH;
	for (uint32_t i = 0; i < b.n; i++) {
		b.record[i] = b.record[0];
		b.record[i].rtt_ns = i;
	}
	add(&g->collector, TAKEN);
	post(g, &b, 256, 1);
	posted(&g->collector, 0, &got);
	assert_int_equal(got.n, b.n);
	assert_int_equal(got.record[b.n - 1].rtt_ns, b.n - 1);
	close_rig(g);
}

static void to_a_silent_collector_it_is_not_given(void **state)
{
	static struct algo_pingmesh_batch b;
	struct rig *g = open_rig(1);
	(void)state;
	add(&g->collector, SILENCE);
	fill(&b, 1);
	const sim_ns begun = loop_now(&g->loop);
	post(g, &b, 256, 0);
	assert_in_range(loop_now(&g->loop) - begun, 850 * SIM_MS,
	    900 * SIM_MS + LOOP_SLOW);
	close_rig(g);
}

static void without_a_collector_nothing_is_asked_or_blamed(void **state)
{
	static struct algo_pingmesh_batch b;
	struct rig *g = open_rig_with(1, 0);
	(void)state;
	fill(&b, 1);
	post(g, &b, 256, 0);
	assert_int_equal(count(g)->n_untaken, 0);
	assert_string_equal(xp_fetch_why(g->fetch), "");
	close_rig(g);
}

/* --- words ---------------------------------------------------------------- */
static void mistakes_in_urls_are_named(void **state)
{
	static const struct {
		const char *controllers, *collector, *says;
	} bad[] = {
	    {"", NULL, "no URL"},
	    {"10.0.0.9:8080", NULL, "no URL"},
	    {"10.0.0.9", NULL, "no URL"},
	    {"http://", NULL, "no URL"},
	    {"http://a,", NULL, "no URL"},
	    {"http://a,,http://b", NULL, "no URL"},
	    {"http://a:99999", NULL, "no URL"},
	    {"ftp://a", NULL, "does not begin with http://"},
	    {"file:///etc/passwd", NULL, "does not begin with http://"},
	    {"http:/10.0.0.9", NULL, "does not begin with http://"},
	    {"http:///10.0.0.9", NULL, "does not begin with http://"},
	    {"http://u@a", NULL, "a user"},
	    {"http://a/?x=1", NULL, "a query"},
	    {"http://a/#x", NULL, "a query or a fragment"},
	    {"http://a", "http://a b", "no URL"},
	    {"http://a,http://a,http://a,http://a,http://a,http://a,http://a,"
	     "http://a,http://a,http://a,http://a,http://a,http://a,http://a,"
	     "http://a,http://a,http://a",
		NULL, "More than 16 controllers"},
	};
	struct sim_err e;
	struct xp_fetch *f;
	(void)state;
	if (!xp_fetch_is_built_in())
		skip();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct xp_fetch_params p = {.controllers =
						      bad[i].controllers,
		    .collector = bad[i].collector,
		    .fetch_s = 1,
		    .upload_s = 1};
		if (xp_fetch_open(&f, &p, &e) != SIM_EINVAL)
			fail_msg("\"%s\" is taken", p.controllers);
		if (!strstr(e.msg, bad[i].says))
			fail_msg("\"%s\": %s", p.controllers, e.msg);
		assert_null(f);
	}
}

static int open_and_close(void *arg, struct sim_err *e)
{
	const struct xp_fetch_params p = {.controllers = "http://127.0.0.1",
	    .collector = "http://127.0.0.1",
	    .fetch_s = 1,
	    .upload_s = 1};
	struct xp_fetch *f;
	(void)arg;
	const int rc = xp_fetch_open(&f, &p, e);
	xp_fetch_close(f);
	return rc;
}

static void without_memory_nothing_is_left(void **state)
{
	(void)state;
	if (!xp_fetch_is_built_in())
		skip();
	test_each_alloc_fails(open_and_close, NULL);
	xp_fetch_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_list_that_was_had_is_not_sent_again),
	    cmocka_unit_test(tags_that_cannot_be_sent_back_are_not),
	    cmocka_unit_test(that_there_is_no_list_is_an_answer),
	    cmocka_unit_test(what_is_no_answer_is_asked_of_the_next_controller),
	    cmocka_unit_test(an_answer_that_can_be_read_in_two_ways_is_none),
	    cmocka_unit_test(
		a_controller_that_is_silent_has_its_share_of_the_time),
	    cmocka_unit_test(silence_ends_before_the_agents_deadline),
	    cmocka_unit_test(of_a_list_that_is_too_long_one_byte_more_is_kept),
	    cmocka_unit_test(a_new_question_settles_the_one_before),
	    cmocka_unit_test(nobody_there_is_told_at_once),
	    cmocka_unit_test(by_tls_whom_and_what_is_told),
	    cmocka_unit_test(a_batch_is_posted_by_the_wall_clock),
	    cmocka_unit_test(counters_are_posted_by_the_wall_clock_and_once),
	    cmocka_unit_test(a_run_begins_at_a_time_that_nobody_can_bring_back),
	    cmocka_unit_test(a_batch_that_is_tried_again_is_the_same_bytes),
	    cmocka_unit_test(the_largest_batch_passes),
	    cmocka_unit_test(to_a_silent_collector_it_is_not_given),
	    cmocka_unit_test(without_a_collector_nothing_is_asked_or_blamed),
	    cmocka_unit_test(mistakes_in_urls_are_named),
	    cmocka_unit_test(without_memory_nothing_is_left),
	};
	return cmocka_run_group_tests_name("experiments/live/fetch", tests,
	    NULL, NULL);
}
