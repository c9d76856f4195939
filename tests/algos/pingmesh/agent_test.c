/* tests/algos/pingmesh/agent_test.c -- Pingmesh's agent by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/agent.h"

#include "algos/pingmesh/allow.h"
#include "algos/pingmesh/outbox.h"
#include "algos/pingmesh/perf.h"
#include "tests/test.h"

enum { MAX_SEEN = 40000, TEXT = 1 << 20 };

/* The agent in a world where only what a test says happens: actions are kept
 * until the test answers them, and time passes by the agent's timers. */
struct rig {
	struct algo_pingmesh_params params;
	unsigned char *state;
	char *text;
	sim_ns now, wake;
	uint64_t timer; /* the one that wakes */
	struct agent_out out;
	struct sim_rng rng;
	struct algo_pingmesh_status is;
	/* What the agent did. */
	struct agent_action connect[MAX_SEEN], upload, fetch;
	sim_ns at[MAX_SEEN];
	size_t n_connects, n_uploads, n_fetches, n_answers, n_windows;
	struct algo_pingmesh_batch batch;
	struct algo_pingmesh_window window;
};

static void see(struct rig *g, const struct agent_action *a)
{
	switch (a->kind) {
	case AGENT_SET_TIMER:
		assert_true(a->at_ns >= g->now && a->at_ns <= g->now + SIM_SEC);
		g->wake = a->at_ns;
		g->timer = a->token;
		break;
	case AGENT_CONNECT:
		assert_true(g->n_connects < MAX_SEEN);
		g->at[g->n_connects] = g->now;
		g->connect[g->n_connects++] = *a;
		break;
	case AGENT_FETCH:
		g->n_fetches++;
		g->fetch = *a;
		break;
	case AGENT_UPLOAD:
		g->n_uploads++;
		g->upload = *a;
		memcpy(&g->batch, a->data, a->n_bytes);
		break;
	case AGENT_COUNTERS:
		g->n_windows++;
		g->window = *(const struct algo_pingmesh_window *)a->data;
		assert_int_equal(a->n_bytes, sizeof(g->window));
		break;
	default:
		assert_int_equal(a->kind, AGENT_ANSWER);
		g->n_answers++;
	}
}

static void step(struct rig *g, struct agent_event ev)
{
	g->out.n = 0;
	assert_ok(algo_pingmesh_agent.step(g->state, g->now, &ev, &g->rng,
	    &g->out, test_err()));
	for (size_t i = 0; i < g->out.n; i++)
		see(g, &g->out.action[i]);
	algo_pingmesh_agent_status(g->state, &g->is);
}

static void wake(struct rig *g)
{
	g->now = g->wake;
	step(g, (struct agent_event){.kind = AGENT_TIMER});
}

static void pass(struct rig *g, sim_ns how_long)
{
	const sim_ns end = g->now + how_long;
	while (g->wake <= end)
		wake(g);
	g->now = end;
	step(g, (struct agent_event){.kind = AGENT_TIMER});
}

static void start(struct rig *g)
{
	/* Garbage, for an agent must not rely on zeroed memory. */
	memset(g->state, 0xa5, algo_pingmesh_agent.state_size);
	assert_ok(
	    algo_pingmesh_agent.init(g->state, 0, &g->params, test_err()));
	step(g, (struct agent_event){.kind = AGENT_START});
}

static struct rig *open_rig(void)
{
	struct rig *g = calloc(1, sizeof(*g));
	assert_non_null(g);
	assert_ok(sim_field_defaults(algo_pingmesh_agent_fields, &g->params,
	    test_err()));
	g->now = 1000 * SIM_SEC;
	g->state = malloc(algo_pingmesh_agent.state_size);
	g->text = malloc(TEXT);
	assert_true(g->state && g->text);
	test_rng(&g->rng, 0);
	start(g);
	return g;
}

static void close_rig(struct rig *g)
{
	free(g->state);
	free(g->text);
	free(g);
}

/* Wait for the agent to ask, and answer at once. */
static void answer_fetch(struct rig *g, int ok, const char *text)
{
	const size_t n = g->n_fetches;
	while (g->n_fetches == n)
		wake(g);
	step(g,
	    (struct agent_event){.kind = AGENT_FETCH_DONE,
		.token = g->fetch.token,
		.ok = (uint8_t)ok,
		.data = text,
		.n = strlen(text)});
}

/* A list of N peers with KINDS entries each. */
static const char *list_of(struct rig *g, unsigned n, unsigned kinds,
    unsigned interval_s, unsigned payload)
{
	int at = snprintf(g->text, TEXT,
	    "<pinglist server=\"10.0.0.1\" version=\"%016x\" count=\"%u\">", n,
	    n * kinds);
	for (unsigned i = 0; i < n * kinds; i++)
		at += snprintf(g->text + at, TEXT - (size_t)at,
		    "<peer address=\"10.0.%u.%u\" port=\"80\" level=\"dc\" "
		    "class=\"%u\" interval_s=\"%u\" payload=\"%u\"/>",
		    (i / kinds + 2) / 256, (i / kinds + 2) % 256, i % kinds,
		    interval_s, payload);
	snprintf(g->text + at, TEXT - (size_t)at, "</pinglist>");
	return g->text;
}

static void connected(struct rig *g, size_t i, sim_ns rtt_ns)
{
	step(g,
	    (struct agent_event){.kind = AGENT_CONNECT_DONE,
		.token = g->connect[i].token,
		.outcome = AGENT_CONNECTED,
		.rtt_ns = rtt_ns});
}

static void uploaded(struct rig *g, int ok)
{
	step(g,
	    (struct agent_event){.kind = AGENT_UPLOAD_DONE,
		.token = g->upload.token,
		.ok = (uint8_t)ok});
}

/* Fail unless all probes of each address are 10 s apart. */
static void assert_apart(const struct rig *g)
{
	static sim_ns last[65536];
	memset(last, 0, sizeof(last));
	for (size_t i = 0; i < g->n_connects; i++) {
		sim_ns *l = &last[g->connect[i].tuple.dst_ip & 0xffff];
		assert_true(*l == 0 || g->at[i] - *l >= 10 * SIM_SEC);
		*l = g->at[i];
	}
}

/* --- probing -------------------------------------------------------------- */
static void each_entry_is_probed_once_an_interval(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	answer_fetch(g, 1, list_of(g, 100, 1, 20, 0));
	assert_int_equal(g->is.n_entries, 100);
	assert_int_equal(g->is.version, 100);
	pass(g, 10 * SIM_SEC); /* at most: quiet after the start */
	g->n_connects = 0;
	pass(g, 200 * SIM_SEC);
	assert_in_range(g->n_connects, 900, 1000);
	assert_apart(g);
	close_rig(g);
}

/* Spread: no second of the interval has more than its share and 6 standard
 * deviations (false alarm below 1e-6 over all seconds). */
static void probes_are_spread_over_the_interval(void **state)
{
	struct rig *g = open_rig();
	unsigned n[20] = {0};
	(void)state;
	answer_fetch(g, 1, list_of(g, 2000, 1, 20, 0));
	pass(g, 30 * SIM_SEC);
	g->n_connects = 0;
	const sim_ns from = g->now;
	pass(g, 20 * SIM_SEC - 1);
	assert_in_range(g->n_connects, 1990, 2000);
	for (size_t i = 0; i < g->n_connects; i++)
		n[(g->at[i] - from) / SIM_SEC]++;
	for (int i = 0; i < 20; i++)
		assert_in_range(n[i], 100 - 60, 100 + 60);
	close_rig(g);
}

/* Ports are counted for each peer, whose entries (classes) have one port and so
 * are one pair. */
static void each_pair_takes_all_ports_before_one_comes_again(void **state)
{
	static uint8_t seen[256][65536];
	struct rig *g = open_rig();
	uint32_t n[256] = {0}, n_full = 0;
	(void)state;
	memset(seen, 0, sizeof(seen));
	g->params.first_port = 40000;
	g->params.last_port = 40035;
	g->params.fetch_interval_s = 86400;
	start(g);
	answer_fetch(g, 1, list_of(g, 72, 2, 10, 0));
	while (g->n_connects < 72 * 36 * 3)
		wake(g);
	for (size_t i = 0; i < g->n_connects; i++) {
		const struct topo_tuple *t = &g->connect[i].tuple;
		const uint32_t peer = t->dst_ip & 255;
		assert_in_range(t->src_port, 40000, 40035);
		assert_int_equal(seen[peer][t->src_port]++, n[peer] / 36);
		n_full += ++n[peer] == 2 * 36;
	}
	assert_int_equal(n_full, 72);
	close_rig(g);
}

static void the_list_takes_all_ports_before_one_comes_again(void **state)
{
	struct rig *g = open_rig();
	static uint8_t seen[65536];
	(void)state;
	memset(seen, 0, sizeof(seen));
	g->params.first_port = 40000;
	g->params.last_port = 40499;
	g->params.ports = ALGO_PINGMESH_PORTS_LIST;
	start(g);
	answer_fetch(g, 1, list_of(g, 100, 1, 10, 0));
	pass(g, 120 * SIM_SEC);
	assert_true(g->n_connects >= 1000);
	for (size_t i = 0; i < 1000; i++) {
		const uint16_t port = g->connect[i].tuple.src_port;
		assert_in_range(port, 40000, 40499);
		assert_int_equal(seen[port]++, i / 500);
	}
	close_rig(g);
}

/* Classes and payloads of one peer share its 10 s; what asks for more gets
 * less, whatever list or parameters say. */
static void the_hard_limits_hold_whatever_is_asked_for(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	g->params.min_interval_s = 0;
	g->params.max_payload = UINT32_MAX;
	g->params.max_entries = UINT32_MAX;
	start(g);
	answer_fetch(g, 1, list_of(g, 50, 3, 1, 4000000000u));
	pass(g, 100 * SIM_SEC);
	assert_true(g->n_connects > 300);
	for (size_t i = 0; i < g->n_connects; i++)
		assert_int_equal(g->connect[i].n_bytes, 65536);
	assert_apart(g);
	close_rig(g);
}

static void parameters_can_be_stricter(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	g->params.min_interval_s = 40;
	g->params.max_payload = 100;
	start(g);
	answer_fetch(g, 1, list_of(g, 1, 1, 10, 1000));
	pass(g, 200 * SIM_SEC);
	assert_in_range(g->n_connects, 4, 5);
	for (size_t i = 0; i < g->n_connects; i++) {
		assert_int_equal(g->connect[i].n_bytes, 100);
		assert_true(i == 0 || g->at[i] - g->at[i - 1] >= 40 * SIM_SEC);
	}
	close_rig(g);
}

static void new_lists_and_restarts_bring_no_pair_closer(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	g->params.fetch_interval_s = 10;
	g->params.fetch_retry_s = 1;
	start(g);
	for (unsigned round = 0; round < 30; round++) {
		answer_fetch(g, 1, list_of(g, 20 + round % 3, 1, 10, 0));
		pass(g, 5 * SIM_SEC);
		if (round % 10 == 5)
			answer_fetch(g, 1, "");
		if (round % 10 == 9)
			start(g);
	}
	assert_true(g->n_connects > 100);
	assert_apart(g);
	close_rig(g);
}

/* Nobody answers, so each is under way until its timeout of 25 s. A pair has had
 * one or two probes when a list comes that lets it have had four, which is as
 * many as there are ports. */
static void new_lists_make_no_two_alike_that_are_under_way(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	g->params.fetch_interval_s = 45;
	g->params.first_port = 40000;
	g->params.last_port = 40003;
	start(g);
	for (unsigned round = 0; round < 60; round++)
		answer_fetch(g, 1, list_of(g, 20 + round % 3, 1, 30, 0));
	assert_int_equal(g->is.count.n_lists, 60);
	assert_true(g->n_connects > 300);
	for (size_t i = 0; i < g->n_connects; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(g->at[i] - g->at[k] >= 25 * SIM_SEC ||
			    g->connect[i].tuple.src_port !=
				g->connect[k].tuple.src_port ||
			    g->connect[i].tuple.dst_ip !=
				g->connect[k].tuple.dst_ip);
	close_rig(g);
}

static void too_many_under_way_are_put_off_and_counted(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	g->params.probe_timeout_s = 100;
	start(g);
	answer_fetch(g, 1, list_of(g, 5000, 1, 10, 0));
	pass(g, 60 * SIM_SEC);
	assert_int_equal(g->n_connects, ALGO_PINGMESH_FLIGHTS);
	assert_int_equal(g->is.n_in_flight, ALGO_PINGMESH_FLIGHTS);
	assert_true(g->is.count.n_crowded > 0);
	pass(g, 60 * SIM_SEC); /* those time out, others follow */
	assert_true(g->n_connects > ALGO_PINGMESH_FLIGHTS);
	close_rig(g);
}

/* --- the controller ------------------------------------------------------- */
static void three_failed_contacts_in_a_row_close_the_list(void **state)
{
	struct rig *g = open_rig();
	const char *list = list_of(g, 10, 1, 10, 0);
	(void)state;
	answer_fetch(g, 1, list);
	answer_fetch(g, 0, "");
	answer_fetch(g, 0, "");
	assert_int_equal(g->is.n_entries, 10);
	answer_fetch(g, 1, list); /* in a row: again from none */
	assert_int_equal(g->is.count.n_same, 1);
	answer_fetch(g, 0, "");
	answer_fetch(g, 0, "");
	assert_int_equal(g->is.n_entries, 10);
	answer_fetch(g, 0, "");
	assert_int_equal(g->is.n_entries, 0);
	assert_int_equal(g->is.version, 0);
	const size_t n = g->n_connects;
	pass(g, 300 * SIM_SEC);
	assert_int_equal(g->n_connects, n);
	close_rig(g);
}

static void a_silent_controller_closes_the_list_in_time(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	answer_fetch(g, 1, list_of(g, 10, 1, 10, 0));
	pass(g, (300 * 7 / 8 + 10 + 26 + 10 + 26) * SIM_SEC);
	assert_int_equal(g->is.n_entries, 10);
	pass(g, 55 * SIM_SEC); /* 300 + 2 * 30 + 3 * 10 in all */
	assert_int_equal(g->is.n_entries, 0);
	close_rig(g);
}

static void without_a_list_it_stops_at_once_answers_and_recovers(void **state)
{
	static const char *const none[] = {"",
	    "<pinglist server=\"10.0.0.1\" version=\"0123456789abcdef\" "
	    "count=\"0\"></pinglist>",
	    "<html>502 Bad Gateway</html>",
	    "<pinglist server=\"10.0.0.2\" version=\"0123456789abcdef\" "
	    "count=\"0\"></pinglist>"};
	struct rig *g = open_rig();
	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		answer_fetch(g, 1, list_of(g, 10, 1, 10, 0));
		pass(g, 30 * SIM_SEC);
		answer_fetch(g, 1, none[i]);
		assert_int_equal(g->is.n_entries, 0);
		const size_t n = g->n_connects;
		pass(g, 20 * SIM_SEC);
		assert_int_equal(g->n_connects, n);
		step(g,
		    (struct agent_event){.kind = AGENT_PING_REQUEST,
			.token = i,
			.n = 1u << (9 * i)});
		assert_int_equal(g->n_answers, i + 1);
		assert_int_equal(g->out.action[0].token, i);
		assert_int_equal(g->out.action[0].n_bytes,
		    i < 2 ? 1u << (9 * i) : 65536);
	}
	assert_int_equal(g->is.count.n_no_list, 2);
	assert_int_equal(g->is.count.n_bad_list, 2);
	const size_t n = g->n_connects;
	answer_fetch(g, 1, list_of(g, 10, 1, 10, 0));
	pass(g, 21 * SIM_SEC);
	assert_true(g->n_connects >= n + 10);
	close_rig(g);
}

static void a_list_beyond_its_room_is_refused(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	g->params.max_entries = 10;
	start(g);
	answer_fetch(g, 1, list_of(g, 11, 1, 10, 0));
	assert_int_equal(g->is.n_entries, 0);
	assert_int_equal(g->is.count.n_bad_list, 1);
	answer_fetch(g, 1, list_of(g, 10, 1, 10, 0));
	assert_int_equal(g->is.n_entries, 10);
	answer_fetch(g, 1, list_of(g, 5000, 1, 10, 0)); /* by its bytes */
	assert_int_equal(g->is.n_entries, 0);
	close_rig(g);
}

/* Peer I of ROUND has the address fd00::ROUND:I; peer 0 is in each list, and seldom
 * probed. */
static struct topo_ip address_6(unsigned round, unsigned i)
{
	return (struct topo_ip){
	    {0xfd, [13] = (uint8_t)(i ? round : 0), [15] = (uint8_t)(2 + i)}};
}

static const char *list_of_6(struct rig *g, unsigned round)
{
	int at = snprintf(g->text, TEXT,
	    "<pinglist server=\"fd00::1\" version=\"%016x\" count=\"4\">",
	    round);
	for (unsigned i = 0; i < 4; i++)
		at += snprintf(g->text + at, TEXT - (size_t)at,
		    "<peer address=\"fd00::%x:%x\" port=\"80\" level=\"dc\" "
		    "class=\"0\" interval_s=\"%u\" payload=\"0\"/>",
		    i ? round : 0, 2 + i, i ? 10 : 40);
	snprintf(g->text + at, TEXT - (size_t)at, "</pinglist>");
	return g->text;
}

/* Answer the fetch that is the Nth with the list of ROUND. */
static void take_6(struct rig *g, size_t n, unsigned round)
{
	while (g->n_fetches < n)
		wake(g);
	step(g,
	    (struct agent_event){.kind = AGENT_FETCH_DONE,
		.token = g->fetch.token,
		.ok = 1,
		.data = list_of_6(g, round),
		.n = strlen(g->text)});
	assert_int_equal(g->is.n_entries, 4);
}

/* While there is room, who was left out of a list has its number in the next. */
static void a_number_outlives_a_list_without_it(void **state)
{
	struct rig *g = open_rig();
	struct topo_ip_book book = {0};
	uint32_t first = 0;
	(void)state;
	/* Itself, three that are always others, and the one that stays. */
	assert_ok(topo_ip_book_open(&book, 1 + 3 + 3 + 1 + 4, test_err()));
	const struct topo_ip self = {{0xfd, [15] = 1}};
	g->params.book = &book;
	g->params.address = topo_ip_book_note(&book, &self);
	g->params.max_entries = 4;
	start(g);
	for (unsigned k = 0; k < 4; k++) {
		take_6(g, g->n_fetches + 1, 1 + k % 2);
		const struct topo_ip a = address_6(1, 1);
		const uint32_t number = topo_ip_book_note(&book, &a);
		first = k > 0 ? first : number;
		assert_int_equal(number, first);
		assert_int_equal(book.n, k > 0 ? 8 : 5);
	}
	topo_ip_book_close(&book);
	close_rig(g);
}

/* A book of 64 numbers, and 80 lists with 3 new peers each: there is room for all,
 * and no number is another's while a probe to it is under way, held or sent up.
 * Nobody answers, so probes outlive the lists that they are of. */
static void numbers_are_those_of_whoever_is_still_known(void **state)
{
	enum { ROUNDS = 80 };
	const struct topo_ip self = {{0xfd, [15] = 1}};
	struct rig *g = open_rig();
	struct topo_ip_book book = {0};
	static struct topo_ip sent_to[MAX_SEEN];
	uint32_t always = 0;
	size_t n_told = 0;
	(void)state;
	assert_ok(topo_ip_book_open(&book, 64, test_err()));
	g->params.book = &book;
	g->params.address = topo_ip_book_note(&book, &self);
	g->params.max_entries = 4;
	g->params.fetch_interval_s = 15;
	start(g);
	const size_t fetched = g->n_fetches;
	for (unsigned round = 1; round <= ROUNDS; round++) {
		take_6(g, fetched + round, round);
		const size_t n_fetches = g->n_fetches;
		while (g->n_fetches == n_fetches) {
			const size_t n = g->n_connects, up = g->n_uploads;
			wake(g);
			for (size_t i = n; i < g->n_connects; i++) {
				const uint32_t to = g->connect[i].tuple.dst_ip;
				unsigned k = 0;
				sent_to[i] = topo_ip_book_look(&book, to);
				for (; k < 4; k++) {
					const struct topo_ip a =
					    address_6(round, k);
					if (memcmp(&a, &sent_to[i],
						sizeof(a)) == 0)
						break;
				}
				assert_true(k < 4);
				if (k == 0 && always == 0)
					always = to;
				assert_true(k > 0 || to == always);
			}
			if (g->n_uploads == up)
				continue;
			for (uint32_t k = 0; k < g->batch.n; k++) {
				const struct algo_pingmesh_record *r =
				    &g->batch.record[k];
				const struct topo_ip a =
				    topo_ip_book_look(&book, r->dst_ip);
				size_t i = 0;
				while (g->at[i] != r->sent_ns ||
				    g->connect[i].tuple.src_port != r->src_port)
					assert_true(++i < g->n_connects);
				assert_memory_equal(&a, &sent_to[i], sizeof(a));
				n_told++;
			}
			uploaded(g, 1);
		}
		const struct topo_ip a =
		    topo_ip_book_look(&book, g->params.address);
		assert_memory_equal(&a, &self, sizeof(a));
	}
	assert_int_equal(g->is.count.n_bad_list, 0);
	/* By 23 seeds 160 of them, with a standard deviation of 6; and the peer that
	 * stays is probed some ten times. */
	assert_true(n_told > 3 * ROUNDS / 2 && always != 0);
	topo_ip_book_close(&book);
	close_rig(g);
}

static void an_answer_that_comes_too_late_is_not_taken(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	while (g->n_fetches == 0)
		wake(g);
	const uint64_t token = g->fetch.token;
	pass(g, 11 * SIM_SEC);
	const char *list = list_of(g, 10, 1, 10, 0);
	step(g,
	    (struct agent_event){.kind = AGENT_FETCH_DONE,
		.token = token,
		.ok = 1,
		.data = list,
		.n = strlen(list)});
	assert_int_equal(g->is.n_entries, 0);
	assert_int_equal(g->is.count.n_stray, 1);
	assert_int_equal(g->is.n_contacts_failed, 1);
	close_rig(g);
}

/* --- results -------------------------------------------------------------- */
static void a_result_is_uploaded_once_as_it_was(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	answer_fetch(g, 1, list_of(g, 1, 1, 10, 700));
	while (g->n_connects == 0)
		wake(g);
	const struct agent_action *c = &g->connect[0];
	step(g,
	    (struct agent_event){.kind = AGENT_CONNECT_DONE,
		.token = c->token,
		.outcome = AGENT_CONNECTED,
		.rtt_ns = 271828,
		.echo_ns = 314159});
	connected(g, 0, 1); /* again: nobody waits for it */
	assert_int_equal(g->is.count.n_stray, 1);
	pass(g, 61 * SIM_SEC);
	assert_int_equal(g->n_uploads, 1);
	const struct algo_pingmesh_record *r = &g->batch.record[0];
	assert_int_equal(g->batch.number, 1);
	assert_int_equal(g->batch.src_ip, topo_addr_of_host(0));
	assert_true(g->batch.born_ns == 1000 * SIM_SEC);
	assert_true(r->sent_ns == g->at[0]);
	assert_int_equal(r->rtt_ns, 271828);
	assert_int_equal(r->echo_ns, 314159);
	assert_int_equal(r->src_port, c->tuple.src_port);
	assert_int_equal(r->dst_ip, topo_addr_of_host(1));
	assert_int_equal(r->dst_port, 80);
	assert_int_equal(r->payload, 700);
	assert_int_equal(r->level, ALGO_PINGLIST_DC);
	assert_int_equal(r->outcome, AGENT_CONNECTED);
	uploaded(g, 1);
	uploaded(g, 1);
	assert_int_equal(g->is.count.n_uploaded, g->batch.n);
	assert_int_equal(g->is.count.n_stray, 2);
	close_rig(g);
}

/* A network may bring an answer back once more, or after its probe was given up; the
 * place of that one has another probe by then. */
static void an_earlier_probes_answer_is_no_later_ones(void **state)
{
	enum { N = 6 };
	struct rig *g = open_rig();
	uint64_t n_stray = 0;
	(void)state;
	answer_fetch(g, 1, list_of(g, 1, 1, 10, 0));
	for (size_t i = 0; i < N; i++) {
		while (g->n_connects == i)
			wake(g);
		for (size_t k = 0; k < i; k++) {
			connected(g, k, 1);
			assert_int_equal(g->is.count.n_stray, ++n_stray);
			assert_int_equal(g->is.n_in_flight, 1);
		}
		connected(g, i, 1000 + i);
		assert_int_equal(g->is.n_in_flight, 0);
	}
	pass(g, 61 * SIM_SEC);
	assert_in_range(g->batch.n, N, N + 6);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(g->batch.record[i].rtt_ns, 1000 + i);
	close_rig(g);
}

/* A server that answers wrongly is connected to all the same, and what no fabric
 * can say of a probe changes nothing. */
static void an_http_ping_has_an_outcome_and_an_answer(void **state)
{
	static const char *const list =
	    "<pinglist server=\"10.0.0.1\" version=\"0123456789abcdef\" "
	    "count=\"2\"><peer address=\"10.0.0.2\" port=\"80\" level=\"dc\" "
	    "class=\"1\" interval_s=\"10\" payload=\"0\" ping=\"http\"/>"
	    "<peer address=\"10.0.0.2\" port=\"80\" level=\"dc\" class=\"1\" "
	    "interval_s=\"10\" payload=\"0\"/></pinglist>";
	struct rig *g = open_rig();
	uint64_t n[AGENT_N_ANSWERS] = {0}, n_get = 0;
	(void)state;
	answer_fetch(g, 1, list);
	for (size_t i = 0; i < 21; i++) {
		while (g->n_connects == i && g->is.n_entries > 0)
			wake(g);
		assert_true(g->n_connects > i);
		const struct agent_action *c = &g->connect[i];
		const int get = c->ping == AGENT_PING_HTTP;
		struct agent_event ev = {.kind = AGENT_CONNECT_DONE,
		    .token = c->token,
		    .outcome = i % 7 == 6 ? AGENT_REFUSED : AGENT_CONNECTED,
		    .answer = get ? AGENT_ANSWER_NOT_ASKED : AGENT_ANSWER_OK,
		    .rtt_ns = 2};
		assert_int_equal(c->class, 1);
		assert_int_equal(c->n_bytes, 0);
		if (i % 7 == 6)
			ev.answer = AGENT_ANSWER_OK;
		step(g, ev);
		ev.answer = AGENT_N_ANSWERS;
		step(g, ev);
		assert_true(g->is.count.n_stray == 2 * (i + 1));
		ev.answer = (uint8_t)(get && i % 7 < 6 ? 1 + n_get++ % 5 : 0);
		ev.echo_ns = ev.answer == AGENT_ANSWER_OK;
		n[ev.answer]++;
		step(g, ev);
	}
	/* As many of each kind, 20 s apart, so both keep the pair's limit; for so
	 * long that no list is asked for again. */
	assert_apart(g);
	assert_in_range(n_get, 7, 11);
	const struct algo_pingmesh_counters *is = &g->is.count;
	assert_true(is->n_http_ok == n[AGENT_ANSWER_OK] &&
	    is->n_http_other == n[AGENT_ANSWER_OTHER] &&
	    is->n_http_malformed == n[AGENT_ANSWER_MALFORMED] &&
	    is->n_http_cut == n[AGENT_ANSWER_CUT] &&
	    is->n_http_late == n[AGENT_ANSWER_LATE]);
	/* One connect each, whatever was answered. */
	assert_int_equal(is->n_probes, 21);
	assert_int_equal(is->n_unconnected, 21 / 7);
	assert_int_equal(is->n_connected, 21 - 21 / 7);
	pass(g, 61 * SIM_SEC);
	assert_true(g->batch.n > 0);
	for (uint32_t i = 0; i < g->batch.n; i++) {
		const struct algo_pingmesh_record *r = &g->batch.record[i];
		assert_int_equal(r->answer > 0,
		    r->ping == AGENT_PING_HTTP && r->outcome == 0 &&
			r->rtt_ns > 0);
		assert_true((r->echo_ns > 0) == (r->answer == AGENT_ANSWER_OK));
	}
	close_rig(g);
}

static void an_upload_is_tried_ever_later_and_then_given_up(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	answer_fetch(g, 1, list_of(g, 1, 1, 10, 0));
	while (g->n_uploads == 0)
		wake(g);
	const uint32_t n = g->batch.n;
	for (unsigned k = 1; k <= 5; k++) {
		const sim_ns failed = g->now;
		assert_int_equal(g->batch.number, 1);
		assert_int_equal(g->batch.n, n);
		uploaded(g, 0);
		if (k == 5)
			break;
		while (g->n_uploads == k)
			wake(g);
		const double rest = (double)(g->now - failed) * 1e-9;
		assert_true(rest >= (1 << (k - 1)) / 2.0);
		assert_true(rest <= (1 << (k - 1)) + 1e-6);
	}
	assert_int_equal(g->is.count.n_discarded, n);
	assert_int_equal(g->is.count.n_upload_failed, 5);
	while (g->n_uploads == 5)
		wake(g);
	assert_int_equal(g->batch.number, 2);
	assert_int_equal(g->batch.n_lost, n);
	/* A silent collector is one that fails; a late "taken" counts. */
	const struct agent_action first = g->upload;
	while (g->n_uploads == 6)
		wake(g);
	assert_int_equal(g->batch.number, 2);
	g->upload = first;
	uploaded(g, 0);
	assert_int_equal(g->is.count.n_stray, 1);
	uploaded(g, 1);
	assert_int_equal(g->is.count.n_uploaded, g->batch.n);
	close_rig(g);
}

static void at_its_end_it_probes_no_more_and_hands_over_what_it_holds(
    void **state)
{
	struct rig *g = open_rig();
	(void)state;
	answer_fetch(g, 1, list_of(g, 5, 1, 10, 0));
	while (g->n_connects < 4)
		wake(g);
	const size_t n_fetches = g->n_fetches;
	connected(g, 0, SIM_MS);
	connected(g, 1, SIM_MS);
	algo_pingmesh_agent_end(g->state);
	assert_int_equal(g->n_uploads, 0); /* that is for its next step */
	pass(g, SIM_SEC);
	assert_int_equal(g->n_uploads, 1);
	assert_int_equal(g->batch.n, 2);
	connected(g, 2, SIM_MS);
	/* While a batch is under way the next one waits for its answer, and
	 * for nothing else. */
	algo_pingmesh_agent_end(g->state);
	pass(g, SIM_SEC);
	assert_int_equal(g->n_uploads, 1);
	uploaded(g, 1);
	algo_pingmesh_agent_end(g->state);
	pass(g, SIM_SEC);
	assert_int_equal(g->n_uploads, 2);
	assert_int_equal(g->batch.n, 1);
	uploaded(g, 1);
	assert_int_equal(g->is.n_held, 0);
	assert_int_equal(g->is.n_in_flight, 1);
	/* From now on no connect and no fetch begins; what is under way comes
	 * to its end. */
	pass(g, 600 * SIM_SEC);
	assert_int_equal(g->n_connects, 4);
	assert_int_equal(g->n_fetches, n_fetches);
	assert_int_equal(g->is.n_in_flight, 0);
	assert_int_equal(g->is.count.n_closed, 1);
	close_rig(g);
}

/* A list that was asked for before the agent was told to end comes after it. */
static void at_its_end_no_list_begins_anew(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	while (g->n_fetches == 0)
		wake(g);
	algo_pingmesh_agent_end(g->state);
	const char *list = list_of(g, 5, 1, 10, 0);
	step(g,
	    (struct agent_event){.kind = AGENT_FETCH_DONE,
		.token = g->fetch.token,
		.ok = 1,
		.data = list,
		.n = strlen(list)});
	assert_int_equal(g->is.n_entries, 0);
	assert_int_equal(g->is.count.n_stray, 1);
	pass(g, 600 * SIM_SEC);
	assert_int_equal(g->n_connects, 0);
	close_rig(g);
}

/* What is allowed may be another now: nobody is probed until a list was read by
 * that, which is the one of before, if the controller has no other; and pairs come
 * no closer by it. */
static void after_a_change_it_probes_nobody_until_a_list_comes(void **state)
{
	struct algo_pinglist_allow nobody = {0};
	struct rig *g = open_rig();
	(void)state;
	const char *list = list_of(g, 5, 1, 10, 0);
	answer_fetch(g, 1, list);
	while (g->n_connects < 4)
		wake(g);
	const size_t n_fetches = g->n_fetches;
	algo_pingmesh_agent_again(g->state);
	const sim_ns asked = g->now;
	answer_fetch(g, 1, list);
	assert_true(g->now - asked <= 2 * SIM_SEC);
	assert_int_equal(g->n_fetches, n_fetches + 1);
	assert_int_equal(g->n_connects, 4);
	assert_int_equal(g->is.count.n_closed, 1);
	assert_int_equal(g->is.n_entries, 5);
	pass(g, 60 * SIM_SEC);
	assert_true(g->n_connects > 4);
	assert_apart(g);
	/* By what is allowed now the same bytes are refused. */
	const size_t n_connects = g->n_connects;
	g->params.allow = &nobody;
	algo_pingmesh_agent_again(g->state);
	answer_fetch(g, 1, list);
	assert_int_equal(g->is.n_entries, 0);
	assert_int_equal(g->is.count.n_bad_list, 1);
	pass(g, 60 * SIM_SEC);
	assert_int_equal(g->n_connects, n_connects);
	/* Told to end, it is not brought back. */
	algo_pingmesh_agent_end(g->state);
	const size_t n_asked = g->n_fetches;
	algo_pingmesh_agent_again(g->state);
	pass(g, 600 * SIM_SEC);
	assert_int_equal(g->n_fetches, n_asked);
	g->params.allow = NULL;
	close_rig(g);
}

static void what_overruns_is_the_oldest_and_counted(void **state)
{
	struct rig *g = open_rig();
	struct algo_pingmesh_log log[ALGO_PINGMESH_LOG];
	uint64_t n_gone;
	size_t done = 0;
	(void)state;
	g->params.upload_timeout_s = 600;
	start(g);
	answer_fetch(g, 1, list_of(g, 1000, 1, 10, 0));
	while (g->n_connects < 20000) {
		wake(g);
		for (; done < g->n_connects; done++)
			connected(g, done, SIM_MS);
	}
	const uint64_t n_over = g->is.count.n_overrun;
	assert_int_equal(n_over,
	    done - ALGO_PINGMESH_BATCH - ALGO_PINGMESH_RECORDS);
	assert_int_equal(g->is.n_held,
	    ALGO_PINGMESH_BATCH + ALGO_PINGMESH_RECORDS);
	/* The batch under way is untouched; the next begins after the gap. */
	assert_int_equal(g->n_uploads, 1);
	assert_int_equal(g->batch.record[0].src_port,
	    g->connect[0].tuple.src_port);
	uploaded(g, 1);
	assert_int_equal(g->n_uploads, 2);
	assert_int_equal(g->batch.n_lost, n_over);
	assert_int_equal(g->batch.record[0].src_port,
	    g->connect[ALGO_PINGMESH_BATCH + n_over].tuple.src_port);
	unsigned n_lines = 0;
	const uint32_t n_log = algo_pingmesh_agent_log(g->state, log, &n_gone);
	for (uint32_t i = 0; i < n_log; i++)
		n_lines += log[i].line == ALGO_PINGMESH_OVERRUN;
	assert_in_range(n_lines, 1, 12);
	close_rig(g);
}

static void the_window_counts_drop_signatures_and_quantiles(void **state)
{
	static const sim_ns rtt[] = {SIM_MS, 2999 * SIM_MS, 3000 * SIM_MS,
	    8999 * SIM_MS, 9000 * SIM_MS, 20999 * SIM_MS, 21000 * SIM_MS};
	struct rig *g = open_rig();
	size_t done = 0;
	(void)state;
	g->params.perf_window_s = 100;
	start(g);
	answer_fetch(g, 1, list_of(g, 100, 1, 10, 0));
	while (g->n_connects < 107)
		wake(g);
	for (; done < 100; done++)
		connected(g, done, 268 * SIM_US);
	for (; done < 107; done++)
		connected(g, done, rtt[done - 100]);
	const uint64_t n_sent = g->n_connects;
	assert_int_equal(g->is.count.n_connected, 107);
	assert_int_equal(g->is.count.n_drop_1, 2);
	assert_int_equal(g->is.count.n_drop_2, 2);
	pass(g, 101 * SIM_SEC);
	const struct algo_pingmesh_window *w = &g->is.window;
	assert_true(w->n_probes >= n_sent);
	assert_int_equal(w->n_connected, 107);
	assert_int_equal(w->n_drop_1, 2);
	assert_int_equal(w->n_drop_2, 2);
	assert_true(w->n_unconnected > 0); /* nobody answered the rest */
	assert_in_range(w->p50_ns, 268 * SIM_US, 268 * SIM_US * 9 / 8);
	assert_in_range(w->p99_ns, 9 * SIM_SEC, 21 * SIM_SEC * 9 / 8);
	/* The next is of its own. */
	pass(g, 100 * SIM_SEC);
	assert_int_equal(w->number, 2);
	assert_true(w->n_probes > 0 && w->n_unconnected > 0);
	assert_int_equal(w->n_connected, 0);
	assert_int_equal(w->n_drop_1, 0);
	assert_int_equal(w->n_drop_2, 0);
	assert_int_equal(w->p50_ns, 0);
	close_rig(g);
}

/* Of each window its own, and whose plan the agent probed by when it ended: one that
 * has dropped its peers says so. */
static void a_window_counts_gets_and_says_which_list(void **state)
{
	static const char *const list =
	    "<pinglist server=\"10.0.0.1\" version=\"fedcba9876543210\" "
	    "count=\"1\"><peer address=\"10.0.0.2\" port=\"80\" level=\"dc\" "
	    "class=\"1\" interval_s=\"10\" payload=\"0\" ping=\"http\"/>"
	    "</pinglist>";
	struct rig *g = open_rig();
	(void)state;
	/* A list comes within 30 s, and its peer's seventh turn within 70 more. */
	g->params.perf_window_s = 105;
	start(g);
	answer_fetch(g, 1, list);
	for (size_t i = 0; i < 7; i++) {
		while (g->n_connects == i)
			wake(g);
		const uint8_t answer =
		    i < 3 ? AGENT_ANSWER_OK : (uint8_t)(i - 1);
		step(g,
		    (struct agent_event){.kind = AGENT_CONNECT_DONE,
			.token = g->connect[i].token,
			.outcome = AGENT_CONNECTED,
			.answer = answer,
			.rtt_ns = SIM_US,
			.echo_ns = answer == AGENT_ANSWER_OK
			    ? 300 * SIM_US * (i + 1)
			    : 0});
	}
	while (g->is.window.number == 0)
		wake(g);
	const struct algo_pingmesh_window *w = &g->is.window;
	assert_true(w->has_http && w->n_http_ok == 3 && w->n_http_other == 1 &&
	    w->n_http_malformed == 1 && w->n_http_cut == 1 &&
	    w->n_http_late == 1);
	assert_in_range(w->http_p50_ns, 600 * SIM_US, 600 * SIM_US * 9 / 8);
	assert_in_range(w->http_p99_ns, 900 * SIM_US, 900 * SIM_US * 9 / 8);
	assert_true(w->list_version == UINT64_C(0xfedcba9876543210));
	algo_pingmesh_agent_end(g->state);
	while (g->is.window.number == 1)
		wake(g);
	assert_true(w->has_http && w->n_http_ok == 0 && w->n_http_late == 0 &&
	    w->http_p50_ns == 0 && w->http_p99_ns == 0);
	assert_true(w->list_version == 0);
	close_rig(g);
}

/* The agent steps at any time, but its windows end on time: they neither drift
 * nor leave gaps, and each of them is sent once. */
static void windows_follow_each_other_and_count_all(void **state)
{
	struct rig *g = open_rig();
	uint64_t n_probes = 0, n_connected = 0;
	size_t done = 0;
	(void)state;
	g->params.perf_window_s = 7;
	const sim_ns begun = g->now;
	start(g);
	assert_int_equal(g->is.window.number, 0);
	answer_fetch(g, 1, list_of(g, 100, 1, 10, 0));
	uint64_t n = (g->now - begun) / (7 * SIM_SEC); /* windows so far */
	while (n < 100) {
		const sim_ns was = g->is.window.start_ns;
		const struct algo_pingmesh_counters before = g->is.count;
		if (done < g->n_connects)
			connected(g, done++, 268 * SIM_US);
		else
			wake(g);
		const struct algo_pingmesh_window *w = &g->is.window;
		if (w->start_ns == was)
			continue;
		assert_true(w->start_ns == begun + n++ * 7 * SIM_SEC);
		assert_in_range(g->now - w->start_ns, 7 * SIM_SEC, 8 * SIM_SEC);
		assert_true(w->end_ns == w->start_ns + 7 * SIM_SEC);
		assert_true(w->number == n && g->n_windows == n);
		assert_true(w->born_ns == begun && w->src_ip == 0x0a000001);
		assert_memory_equal(w, &g->window, sizeof(*w));
		n_probes += w->n_probes;
		n_connected += w->n_connected;
		assert_true(n_probes == before.n_probes);
		assert_true(n_connected == before.n_connected);
	}
	assert_true(n_connected > 3000);
	close_rig(g);
}

static void a_bucket_holds_its_values_and_is_an_eighth_wide(void **state)
{
	(void)state;
	for (sim_ns x = 1024; x < (sim_ns)60 * SIM_SEC; x += 1 + x / 97) {
		const sim_ns end =
		    algo_pingmesh_bucket_end(algo_pingmesh_bucket(x));
		assert_true(end > x && (end - x) * 8 <= x + 8);
	}
	assert_int_equal(algo_pingmesh_bucket(0), 0);
	assert_int_equal(algo_pingmesh_bucket(SIM_NEVER),
	    ALGO_PINGMESH_BUCKETS - 1);
	struct algo_pingmesh_hist h = {0};
	assert_true(algo_pingmesh_hist_quantile(&h, 0.99) == 0);
	for (unsigned i = 1; i <= 1000; i++)
		algo_pingmesh_hist_add(&h, i * SIM_MS);
	assert_in_range(algo_pingmesh_hist_quantile(&h, 0.5), 500 * SIM_MS,
	    500 * SIM_MS * 9 / 8);
	assert_in_range(algo_pingmesh_hist_quantile(&h, 0.99), 990 * SIM_MS,
	    990 * SIM_MS * 9 / 8);
}

/* --- the clock ------------------------------------------------------------ */
static void a_jump_of_the_clock_brings_no_burst_and_no_silence(void **state)
{
	static const int64_t jumps[] = {3, 3600, -5, -900};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct rig *g = open_rig();
		answer_fetch(g, 1, list_of(g, 200, 1, 10, 0));
		pass(g, 30 * SIM_SEC);
		g->now += (sim_ns)(jumps[i] * (int64_t)SIM_SEC);
		const size_t n = g->n_connects;
		step(g, (struct agent_event){.kind = AGENT_TIMER});
		assert_int_equal(g->is.count.n_jumps, 1);
		/* The timer is set anew; see() checks where. */
		assert_true(g->wake > g->now && g->wake <= g->now + SIM_SEC);
		assert_true(g->n_connects <= n + 1);
		pass(g, 10 * SIM_SEC);
		assert_in_range(g->n_connects, n + 190, n + 210);
		/* After a jump it soon asks whether its list still holds. */
		pass(g, 21 * SIM_SEC);
		assert_int_equal(g->n_fetches, 2);
		close_rig(g);
	}
}

/* A clock that was set forward and back again between two steps, by a little
 * less, brings the only timer before its time. */
static void a_timer_that_comes_early_is_set_again(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	answer_fetch(g, 1, list_of(g, 10, 1, 10, 0));
	pass(g, 5 * SIM_SEC);
	const uint64_t timer = g->timer;
	assert_true(g->wake > g->now + 2);
	g->now += (g->wake - g->now) / 2;
	step(g, (struct agent_event){.kind = AGENT_TIMER, .token = timer});
	assert_true(g->timer != timer && g->wake > g->now);
	close_rig(g);
}

static void a_clock_that_stands_still_closes_the_list(void **state)
{
	struct rig *g = open_rig();
	(void)state;
	answer_fetch(g, 1, list_of(g, 10, 1, 10, 0));
	for (int i = 0; i < ALGO_PINGMESH_STILL; i++)
		step(g, (struct agent_event){.kind = AGENT_PING_REQUEST});
	assert_int_equal(g->is.n_entries, 0);
	assert_int_equal(g->is.count.n_stalls, 1);
	assert_int_equal(g->n_answers, ALGO_PINGMESH_STILL);
	answer_fetch(g, 1, list_of(g, 10, 1, 10, 0));
	assert_int_equal(g->is.n_entries, 10);
	close_rig(g);
}

/* --- the rest ------------------------------------------------------------- */
static void the_log_keeps_its_last_lines(void **state)
{
	struct rig *g = open_rig();
	struct algo_pingmesh_log log[ALGO_PINGMESH_LOG];
	uint64_t n_gone;
	(void)state;
	for (unsigned i = 0; i < ALGO_PINGMESH_LOG + 10; i++)
		answer_fetch(g, 0, "");
	assert_int_equal(algo_pingmesh_agent_log(g->state, log, &n_gone),
	    ALGO_PINGMESH_LOG);
	assert_int_equal(n_gone, 10);
	for (unsigned i = 0; i < ALGO_PINGMESH_LOG; i++) {
		assert_int_equal(log[i].line, ALGO_PINGMESH_NO_CONTACT);
		assert_int_equal(log[i].value, 11 + i);
		assert_true(i == 0 || log[i].at_ns >= log[i - 1].at_ns);
	}
	close_rig(g);
}

static void events_of_others_and_empty_port_ranges_are_errors(void **state)
{
	struct rig *g = open_rig();
	struct sim_err e;
	(void)state;
	assert_int_equal(algo_pingmesh_agent.step(g->state, g->now,
			     &(struct agent_event){.kind = AGENT_ICMP}, &g->rng,
			     &g->out, &e),
	    SIM_EUNSUPPORTED);
	g->params.first_port = 2000;
	g->params.last_port = 1999;
	assert_int_equal(algo_pingmesh_agent.init(g->state, 0, &g->params, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "first_port 2000 is above last_port 1999.");
	close_rig(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_entry_is_probed_once_an_interval),
	    cmocka_unit_test(probes_are_spread_over_the_interval),
	    cmocka_unit_test(each_pair_takes_all_ports_before_one_comes_again),
	    cmocka_unit_test(the_list_takes_all_ports_before_one_comes_again),
	    cmocka_unit_test(the_hard_limits_hold_whatever_is_asked_for),
	    cmocka_unit_test(parameters_can_be_stricter),
	    cmocka_unit_test(new_lists_and_restarts_bring_no_pair_closer),
	    cmocka_unit_test(new_lists_make_no_two_alike_that_are_under_way),
	    cmocka_unit_test(too_many_under_way_are_put_off_and_counted),
	    cmocka_unit_test(three_failed_contacts_in_a_row_close_the_list),
	    cmocka_unit_test(a_silent_controller_closes_the_list_in_time),
	    cmocka_unit_test(
		without_a_list_it_stops_at_once_answers_and_recovers),
	    cmocka_unit_test(a_list_beyond_its_room_is_refused),
	    cmocka_unit_test(a_number_outlives_a_list_without_it),
	    cmocka_unit_test(numbers_are_those_of_whoever_is_still_known),
	    cmocka_unit_test(an_answer_that_comes_too_late_is_not_taken),
	    cmocka_unit_test(a_result_is_uploaded_once_as_it_was),
	    cmocka_unit_test(an_earlier_probes_answer_is_no_later_ones),
	    cmocka_unit_test(an_http_ping_has_an_outcome_and_an_answer),
	    cmocka_unit_test(an_upload_is_tried_ever_later_and_then_given_up),
	    cmocka_unit_test(
		at_its_end_it_probes_no_more_and_hands_over_what_it_holds),
	    cmocka_unit_test(at_its_end_no_list_begins_anew),
	    cmocka_unit_test(
		after_a_change_it_probes_nobody_until_a_list_comes),
	    cmocka_unit_test(what_overruns_is_the_oldest_and_counted),
	    cmocka_unit_test(the_window_counts_drop_signatures_and_quantiles),
	    cmocka_unit_test(a_window_counts_gets_and_says_which_list),
	    cmocka_unit_test(windows_follow_each_other_and_count_all),
	    cmocka_unit_test(a_bucket_holds_its_values_and_is_an_eighth_wide),
	    cmocka_unit_test(
		a_jump_of_the_clock_brings_no_burst_and_no_silence),
	    cmocka_unit_test(a_timer_that_comes_early_is_set_again),
	    cmocka_unit_test(a_clock_that_stands_still_closes_the_list),
	    cmocka_unit_test(the_log_keeps_its_last_lines),
	    cmocka_unit_test(events_of_others_and_empty_port_ranges_are_errors),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/agent", tests, NULL,
	    NULL);
}
