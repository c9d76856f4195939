/* tests/algos/planner/scout_test.c -- the scout: rates, counts, time-outs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random lives: a network that answers, loses, answers late or refuses; services
 * that are silent, or send rubbish. What a scout tells is held against what the
 * network did, connect by connect. Nothing here is statistical: no false alarms.
 */
#include "algos/planner/scout.h"

#include "algos/planner/orders.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { SCOUT_QUEUE = 4096, SCOUT_HOST = 5, SCOUT_LENGTH = 4 };

struct scout_queued {
	struct agent_event ev;
	sim_ns at;
	uint8_t is_jobs; /* its data are the document */
};

struct scout_world {
	uint32_t run;
	struct sim_rng r, agent_rng;
	struct algo_scout_params params;
	void *state;
	sim_ns now;
	struct scout_queued queue[SCOUT_QUEUE];
	size_t n_queue;
	unsigned char jobs[ALGO_SCOUT_MESSAGE];
	size_t n_bytes;

	/* What is asked for, and what became of it. */
	struct algo_scout_head head;
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_answer want[ALGO_SCOUT_JOBS], got[ALGO_SCOUT_JOBS];
	uint8_t is_out[ALGO_SCOUT_JOBS];   /* a connect */
	sim_ns out_until[ALGO_SCOUT_JOBS]; /* that may not be answered yet */
	sim_ns last[2];
	uint8_t had[2];
	unsigned n_fetches, n_uploads, n_told;
	double loss, fail, silent;
};

static void scout_world_open(struct scout_world *w, uint32_t run)
{
	*w = (struct scout_world){.run = run, .now = 1000};
	test_rng(&w->r, run);
	test_rng(&w->agent_rng, run + 1000);
	assert_ok(
	    sim_field_defaults(algo_scout_fields, &w->params, test_err()));
	w->state = aligned_alloc(16, (algo_scout.state_size + 15) / 16 * 16);
	assert_non_null(w->state);
	assert_ok(
	    algo_scout.init(w->state, SCOUT_HOST, &w->params, test_err()));
}

static void scout_world_close(struct scout_world *w)
{
	free(w->state);
}

/* Jobs of one round; the N_TRACES first are traces. */
static void scout_give(struct scout_world *w, uint32_t round, size_t n,
    size_t n_traces, uint32_t most)
{
	w->head = (struct algo_scout_head){round, 0, n};
	for (size_t i = 0; i < n; i++) {
		w->job[i] = (struct algo_scout_job){(uint32_t)(7 * i + 3),
		    topo_addr_of_host(20 + (topo_host)i), (uint16_t)(1000 + i),
		    8080, i < n_traces ? 0 : 1 + sim_rng_below(&w->r, most)};
		w->want[i] = (struct algo_scout_answer){.id = w->job[i].id};
		w->is_out[i] = 0;
	}
	w->n_bytes = algo_scout_write_jobs(&w->head, w->job, w->jobs);
}

static void scout_world_put(struct scout_world *w, sim_ns after,
    const struct agent_event *ev)
{
	assert_true(w->n_queue < SCOUT_QUEUE);
	w->queue[w->n_queue++] = (struct scout_queued){*ev, w->now + after, 0};
}

static size_t scout_world_job(const struct scout_world *w,
    const struct topo_tuple *t)
{
	size_t i = 0;
	while (i < w->head.n && w->job[i].dst_ip != t->dst_ip)
		i++;
	assert_true(i < w->head.n);
	assert_int_equal(t->src_ip, topo_addr_of_host(SCOUT_HOST));
	assert_int_equal(t->src_port, w->job[i].src_port);
	assert_int_equal(t->dst_port, w->job[i].dst_port);
	return i;
}

/* No two leave within 1 / rate of each other. */
static void scout_check_rate(struct scout_world *w, int trace)
{
	const double rate = trace ? w->params.trace_rate : w->params.rate;
	if (w->had[trace] && (double)(w->now - w->last[trace]) < 1e9 / rate - 1)
		fail_msg("run %u: two in %llu ns", w->run,
		    (unsigned long long)(w->now - w->last[trace]));
	w->had[trace] = 1;
	w->last[trace] = w->now;
}

/* A fate: what arrives is answered soon, by a SYN-ACK or a reset; what is lost
 * never, when a SYN was sent again, or by the host that gives up. */
static void scout_meet_connect(struct scout_world *w,
    const struct agent_action *a)
{
	const sim_ns wait = sim_ns_of(w->params.wait_s);
	const size_t i = scout_world_job(w, &a->tuple);
	const double u = sim_rng_u01(&w->r);
	const uint32_t how = sim_rng_below(&w->r, 3);
	struct agent_event ev = {.kind = AGENT_CONNECT_DONE,
	    .token = a->token,
	    .outcome = how == 0 ? AGENT_REFUSED : AGENT_CONNECTED,
	    .rtt_ns = 1 + sim_rng_below(&w->r, 1000000)};
	scout_check_rate(w, 0);
	if (w->is_out[i] && w->now < w->out_until[i])
		fail_msg("run %u: two connects of a five-tuple", w->run);
	assert_int_not_equal(w->job[i].count, 0);
	assert_int_equal(a->n_bytes, 0);
	w->is_out[i] = 1;
	if (u < w->fail) {
		ev.outcome = AGENT_FAILED;
		ev.rtt_ns = 0;
	} else if (u < w->fail + w->loss) {
		ev.outcome = how == 2 ? AGENT_TIMEOUT : AGENT_CONNECTED;
		ev.rtt_ns = how == 2 ? wait / 10 * 9 : wait / 2 * 5;
		w->want[i].n_lost++;
	}
	w->want[i].n_sent += ev.outcome != AGENT_FAILED;
	w->out_until[i] = w->now + (ev.rtt_ns < wait ? ev.rtt_ns : wait);
	if (ev.rtt_ns < wait || how == 1)
		scout_world_put(w, ev.rtt_ns, &ev);
}

/* Hops of job i answer with addresses of their own, SCOUT_LENGTH of them. */
static uint32_t scout_hop(size_t i, unsigned ttl)
{
	return topo_addr_of_link((topo_link)(100 * i + ttl));
}

static void scout_meet_probe(struct scout_world *w,
    const struct agent_action *a)
{
	const size_t i = scout_world_job(w, &a->tuple);
	const struct agent_event ev = {.kind = AGENT_ICMP,
	    .ip_id = a->ip_id,
	    .from_ip = scout_hop(i, a->ttl),
	    .tuple = a->tuple};
	scout_check_rate(w, 1);
	assert_int_equal(w->job[i].count, 0);
	assert_in_range(a->ttl, 1, w->params.max_hops);
	if (a->ttl > SCOUT_LENGTH || sim_rng_u01(&w->r) < w->loss)
		return;
	scout_world_put(w, 1 + sim_rng_below(&w->r, 1000000), &ev);
	w->want[i].hop_ip[a->ttl - 1] = ev.from_ip;
	if (a->ttl > w->want[i].n_hops)
		w->want[i].n_hops = a->ttl;
}

static void scout_meet_upload(struct scout_world *w,
    const struct agent_action *a)
{
	struct agent_event ev = {.kind = AGENT_UPLOAD_DONE, .token = a->token};
	struct algo_scout_head h;
	w->n_uploads++;
	assert_ok(algo_scout_read_answers(a->data, a->n_bytes, &h, w->got,
	    test_err()));
	assert_int_equal(h.round, w->head.round);
	assert_int_equal(h.n, w->head.n);
	if (sim_rng_u01(&w->r) < w->silent)
		return;
	ev.ok = sim_rng_u01(&w->r) >= w->silent;
	w->n_told += ev.ok;
	scout_world_put(w, 1000, &ev);
}

static void scout_meet_fetch(struct scout_world *w,
    const struct agent_action *a)
{
	struct agent_event ev = {.kind = AGENT_FETCH_DONE, .token = a->token};
	w->n_fetches++;
	if (sim_rng_u01(&w->r) < w->silent)
		return;
	ev.ok = sim_rng_u01(&w->r) >= w->silent;
	scout_world_put(w, 1000, &ev);
	w->queue[w->n_queue - 1].is_jobs = 1;
}

static void scout_world_step(struct scout_world *w,
    const struct agent_event *ev)
{
	struct agent_out out = {0};
	assert_ok(algo_scout.step(w->state, w->now, ev, &w->agent_rng, &out,
	    test_err()));
	for (size_t i = 0; i < out.n; i++) {
		const struct agent_action *a = &out.action[i];
		const struct agent_event timer = {.kind = AGENT_TIMER,
		    .token = a->token};
		if (a->kind == AGENT_SET_TIMER)
			scout_world_put(w,
			    a->at_ns > w->now ? a->at_ns - w->now : 0, &timer);
		else if (a->kind == AGENT_CONNECT)
			scout_meet_connect(w, a);
		else if (a->kind == AGENT_PROBE)
			scout_meet_probe(w, a);
		else if (a->kind == AGENT_UPLOAD)
			scout_meet_upload(w, a);
		else
			scout_meet_fetch(w, a);
	}
}

/* The next that happens; 0: nothing does any more. */
static int scout_world_next(struct scout_world *w)
{
	size_t best = 0;
	for (size_t i = 1; i < w->n_queue; i++)
		if (w->queue[i].at < w->queue[best].at)
			best = i;
	if (w->n_queue == 0)
		return 0;
	struct scout_queued q = w->queue[best];
	w->queue[best] = w->queue[--w->n_queue];
	w->now = q.at;
	if (q.is_jobs && q.ev.ok) {
		q.ev.data = w->jobs;
		q.ev.n = w->n_bytes;
		/* Rubbish now and then. */
		if (sim_rng_u01(&w->r) < w->silent)
			q.ev.n = w->n_bytes / 2;
	}
	scout_world_step(w, &q.ev);
	return 1;
}

static void scout_world_start(struct scout_world *w)
{
	const struct agent_event start = {.kind = AGENT_START};
	scout_world_step(w, &start);
}

static void scout_until_told(struct scout_world *w)
{
	const unsigned told = w->n_told;
	while (w->n_told == told)
		assert_true(scout_world_next(w));
}

static void scout_world_stop(struct scout_world *w)
{
	w->head = (struct algo_scout_head){w->head.round, ALGO_SCOUT_DONE, 0};
	w->n_bytes = algo_scout_write_jobs(&w->head, NULL, w->jobs);
	while (scout_world_next(w)) {
	}
}

/* --- lives ---------------------------------------------------------------- */

static void what_is_told_is_what_happened(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 60; run++) {
		static struct scout_world w;
		struct algo_scout_status s;
		uint64_t n_sent = 0, n_lost = 0;
		scout_world_open(&w, run);
		w.loss = run % 4 * 0.1;
		w.fail = run % 3 * 0.05;
		w.silent = run % 5 * 0.1;
		scout_give(&w, 1, 1 + run % ALGO_SCOUT_JOBS, run % 8, 30);
		scout_world_start(&w);
		for (uint32_t round = 1; round <= 3; round++) {
			scout_until_told(&w);
			for (size_t i = 0; i < w.head.n; i++) {
				const struct algo_scout_answer *got = &w.got[i],
							       *want =
								   &w.want[i];
				if (got->id != want->id ||
				    got->n_sent != w.job[i].count ||
				    got->n_sent != want->n_sent ||
				    got->n_lost != want->n_lost ||
				    got->n_hops != want->n_hops)
					fail_msg("run %u, job %zu: %u of %u, "
						 "and %u of %u were",
					    run, i, got->n_lost, got->n_sent,
					    want->n_lost, want->n_sent);
				assert_memory_equal(got->hop_ip, want->hop_ip,
				    sizeof(got->hop_ip));
				n_sent += got->n_sent;
				n_lost += got->n_lost;
			}
			scout_give(&w, round + 1,
			    1 + sim_rng_below(&w.r, ALGO_SCOUT_JOBS), run % 3,
			    30);
		}
		scout_until_told(&w);
		algo_scout_status(w.state, &s);
		assert_int_equal(s.n_rounds, 4);
		assert_true(s.n_connects >= n_sent && s.n_lost >= n_lost);
		assert_int_equal(s.n_moved, 0);
		/* It ends: no timer is left, nor a question. */
		scout_world_stop(&w);
		scout_world_close(&w);
	}
}

/* A round is done once, however often it is given; an agent that has nothing to
 * do asks each `poll`, and no more. */
static void a_round_is_done_once(void **state)
{
	static struct scout_world w;
	struct algo_scout_status s;
	(void)state;
	scout_world_open(&w, 1);
	scout_give(&w, 9, 3, 0, 5);
	scout_world_start(&w);
	scout_until_told(&w);
	const sim_ns from = w.now;
	const unsigned had = w.n_fetches;
	while (w.now < from + 10 * SIM_SEC)
		assert_true(scout_world_next(&w));
	algo_scout_status(w.state, &s);
	assert_int_equal(s.n_rounds, 1);
	assert_int_equal(w.n_uploads, 1);
	assert_in_range(w.n_fetches - had, 195, 200);
	scout_world_close(&w);
}

/* --- one connect ---------------------------------------------------------- */

/* A host that slept over the time-out tells nothing of that connect, and makes
 * it again; one that was there counts it as lost. */
static void who_slept_knows_nothing(void **state)
{
	(void)state;
	for (unsigned slept = 0; slept < 2; slept++) {
		static struct scout_world w;
		struct algo_scout_status s;
		scout_world_open(&w, 2);
		w.loss = 1;
		scout_give(&w, 1, 1, 0, 1);
		scout_world_start(&w);
		do
			assert_true(scout_world_next(&w));
		while (w.want[0].n_sent == 0);
		/* Whatever is told comes late, or just in time. */
		for (size_t i = 0; i < w.n_queue; i++)
			w.queue[i].at += slept ? sim_ns_of(w.params.wait_s)
					       : sim_ns_of(w.params.wait_s / 5);
		if (slept)
			w.loss = 0;
		scout_until_told(&w);
		algo_scout_status(w.state, &s);
		assert_int_equal(w.got[0].n_sent, 1);
		assert_int_equal(w.got[0].n_lost, !slept);
		assert_int_equal(s.n_again, slept);
		scout_world_close(&w);
	}
}

/* A host whose kernel refuses each connect gives the job up. */
static void what_cannot_be_tried_is_not_told_as_lost(void **state)
{
	static struct scout_world w;
	(void)state;
	scout_world_open(&w, 3);
	w.fail = 1;
	scout_give(&w, 1, 2, 0, 5);
	scout_world_start(&w);
	scout_until_told(&w);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(w.got[i].n_sent, 0);
		assert_int_equal(w.got[i].n_lost, 0);
	}
	scout_world_close(&w);
}

/* A hop with two addresses is none: its probes took two ways. */
static void a_way_that_moves_is_none(void **state)
{
	static struct scout_world w;
	struct algo_scout_status s;
	(void)state;
	scout_world_open(&w, 4);
	scout_give(&w, 1, 1, 1, 1);
	scout_world_start(&w);
	do
		assert_true(scout_world_next(&w));
	while (w.want[0].n_hops < 2);
	for (size_t i = 0; i < w.n_queue; i++)
		if (w.queue[i].ev.kind == AGENT_ICMP) {
			struct agent_event other = w.queue[i].ev;
			other.from_ip++;
			scout_world_put(&w, 2000000, &other);
			break;
		}
	scout_until_told(&w);
	algo_scout_status(w.state, &s);
	assert_int_equal(s.n_moved, 1);
	assert_true(w.got[0].hop_ip[0] == UINT32_MAX ||
	    w.got[0].hop_ip[1] == UINT32_MAX);
	scout_world_close(&w);
}

/* Answers to a probe that none of the traces under way sent, by its ID or by its
 * five-tuple: they are counted, and no hop is taken from them. */
static void answers_to_what_was_not_asked_are_strays(void **state)
{
	static struct scout_world w;
	struct algo_scout_status s;
	struct agent_event ev = {.kind = AGENT_ICMP, .from_ip = 99};
	struct agent_event mine = {0};
	(void)state;
	scout_world_open(&w, 7);
	w.params.max_hops = SCOUT_LENGTH;
	/* Before any work, nothing is. */
	ev.ip_id = 0x4000;
	scout_world_step(&w, &ev);
	algo_scout_status(w.state, &s);
	assert_int_equal(s.n_stray, 1);
	/* A trace, and behind it a job of connects. */
	scout_give(&w, 1, 2, 1, 1);
	scout_world_start(&w);
	while (mine.kind != AGENT_ICMP) {
		for (size_t i = 0; i < w.n_queue; i++)
			if (w.queue[i].ev.kind == AGENT_ICMP)
				mine = w.queue[i].ev;
		if (mine.kind != AGENT_ICMP)
			assert_true(scout_world_next(&w));
	}
	const struct {
		unsigned id;
		int moved;
	} stray[] = {{0x4000 + 16, 0}, {0x4000 + 2 * 16, 0}, {0x3fff, 0},
	    {0x4000u + w.params.max_hops, 0}, {mine.ip_id, 1}};
	for (unsigned i = 0; i < 5; i++) {
		ev = mine;
		ev.from_ip = 99;
		ev.ip_id = (uint16_t)stray[i].id;
		ev.tuple.src_port ^= (uint16_t)stray[i].moved;
		scout_world_step(&w, &ev);
		algo_scout_status(w.state, &s);
		assert_int_equal(s.n_stray, 2 + i);
	}
	scout_until_told(&w);
	algo_scout_status(w.state, &s);
	assert_int_equal(s.n_stray, 6);
	assert_int_equal(s.n_moved, 0);
	assert_int_equal(w.got[0].n_hops, SCOUT_LENGTH);
	for (unsigned i = 0; i < SCOUT_LENGTH; i++)
		assert_int_equal(w.got[0].hop_ip[i], w.want[0].hop_ip[i]);
	scout_world_close(&w);
}

static void events_of_others_are_refused(void **state)
{
	static struct scout_world w;
	const struct agent_event ev = {.kind = AGENT_RETX};
	struct agent_out out = {0};
	(void)state;
	scout_world_open(&w, 5);
	assert_int_equal(algo_scout.step(w.state, 5, &ev, &w.agent_rng, &out,
			     test_err()),
	    SIM_EUNSUPPORTED);
	scout_world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_told_is_what_happened),
	    cmocka_unit_test(a_round_is_done_once),
	    cmocka_unit_test(who_slept_knows_nothing),
	    cmocka_unit_test(what_cannot_be_tried_is_not_told_as_lost),
	    cmocka_unit_test(a_way_that_moves_is_none),
	    cmocka_unit_test(answers_to_what_was_not_asked_are_strays),
	    cmocka_unit_test(events_of_others_are_refused),
	};
	return cmocka_run_group_tests_name("algos/planner/scout", tests, NULL,
	    NULL);
}
