/* tests/algos/everflow/prober_test.c -- the prober: limits, ends, messages.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random lives: a controller that orders, repeats itself, sends rubbish, falls
 * silent or says stop; timers that are late; a clock that jumps. After every
 * step what the prober must never do is checked against the world's own time.
 * Nothing here is statistical: no false alarms.
 */
#include "algos/everflow/prober.h"

#include "algos/everflow/guided.h"
#include "sim/bytes.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { MAX_ORDERS = 400, MAX_TIMERS = 64, N_SWITCHES = 12 };

struct book {
	struct algo_probe_order order;
	sim_ns taken;
	uint32_t n_sent;
	int stopped;
};

struct world {
	uint32_t run;
	struct sim_rng r, agent_rng;
	struct algo_prober_params params;
	void *state;
	sim_ns now, offset; /* the clock shows their sum */
	sim_ns contact, last, last_by[N_SWITCHES];
	int probed, probed_by[N_SWITCHES];
	struct book book[MAX_ORDERS];
	uint32_t n_book;
	struct {
		sim_ns clock;
		uint64_t token;
	} timer[MAX_TIMERS];
	uint32_t n_timers;
	unsigned char message[ALGO_PROBER_MESSAGE];
};

static void on_probe(struct world *w, const struct agent_action *a)
{
	struct algo_guided g;
	const sim_ns gap = sim_ns_of(1 / w->params.host_per_s);
	const sim_ns by_gap = sim_ns_of(1 / w->params.target_per_s);
	assert_ok(
	    algo_guided_read(a->data, a->n_bytes, N_SWITCHES, &g, test_err()));
	struct book *b = NULL;
	for (uint32_t i = 0; i < w->n_book; i++)
		if (w->book[i].order.id == g.order)
			b = &w->book[i];
	if (!b || b->stopped)
		fail_msg("run %u: order %u is not under way", w->run, g.order);
	if (b->n_sent != g.number || b->n_sent++ >= b->order.count)
		fail_msg("run %u: probe %u of order %u", w->run, g.number,
		    g.order);
	if (w->now - b->taken > sim_ns_of(w->params.life_s) ||
	    w->now - w->contact > sim_ns_of(w->params.contact_s))
		fail_msg("run %u: order %u outlived its end", w->run, g.order);
	if (w->probed && w->now - w->last < gap)
		fail_msg("run %u: two probes in %llu ns", w->run,
		    (unsigned long long)(w->now - w->last));
	assert_int_equal(g.n_via, b->order.n_via);
	for (unsigned i = 0; i < g.n_via; i++) {
		const topo_switch s = g.via[i];
		assert_int_equal(s, b->order.via[i]);
		if (w->probed_by[s] && w->last_by[s] != w->now &&
		    w->now - w->last_by[s] < by_gap)
			fail_msg("run %u: switch %u is probed too often",
			    w->run, s);
		w->probed_by[s] = 1;
		w->last_by[s] = w->now;
	}
	w->probed = 1;
	w->last = w->now;
}

static void step(struct world *w, const struct agent_event *ev)
{
	struct agent_out out = {0};
	assert_ok(algo_prober.step(w->state, w->now + w->offset, ev,
	    &w->agent_rng, &out, test_err()));
	for (size_t i = 0; i < out.n; i++) {
		if (out.action[i].kind == AGENT_SEND) {
			on_probe(w, &out.action[i]);
			continue;
		}
		assert_int_equal(out.action[i].kind, AGENT_SET_TIMER);
		/* Only the last one counts; older ones come as well. */
		const uint32_t at = w->n_timers < MAX_TIMERS
		    ? w->n_timers++
		    : sim_rng_below(&w->r, MAX_TIMERS - 1);
		if (at < MAX_TIMERS - 1 && w->n_timers == MAX_TIMERS)
			w->timer[at] = w->timer[MAX_TIMERS - 1];
		w->timer[w->n_timers - 1].clock = out.action[i].at_ns;
		w->timer[w->n_timers - 1].token = out.action[i].token;
	}
}

static struct algo_probe_order draw_order(struct world *w, uint32_t id)
{
	struct sim_rng *r = &w->r;
	struct algo_probe_order o = {.id = id,
	    .tuple = {topo_addr_of_host(1), 0, (uint16_t)sim_rng_u32(r), 80,
		TOPO_PROTO_TCP},
	    .n_via = (uint8_t)(1 + sim_rng_below(r, OBS_MAX_VIA)),
	    .count = 1 + sim_rng_below(r, 40),
	    .interval_ns = sim_rng_below(r, 2000) * SIM_MS};
	for (unsigned i = 0; i < o.n_via; i++)
		o.via[i] = sim_rng_below(r, N_SWITCHES);
	if (sim_rng_below(r, 2))
		o.tuple.dst_ip = topo_addr_of_host(sim_rng_below(r, 50));
	return o;
}

static void send_message(struct world *w, size_t n)
{
	const struct agent_event ev = {.kind = AGENT_ORDER,
	    .data = w->message,
	    .n = n};
	step(w, &ev);
}

/* New orders, some of them twice, and now and then old ones again. */
static void send_orders(struct world *w, unsigned flags)
{
	struct algo_probe_order o[8];
	size_t n = sim_rng_below(&w->r, 5);
	if (flags & ALGO_PROBER_STOP)
		for (uint32_t i = 0; i < w->n_book; i++)
			w->book[i].stopped = 1;
	w->contact = w->now;
	for (size_t i = 0; i < n; i++) {
		if (w->n_book > 0 && sim_rng_below(&w->r, 4) == 0) {
			o[i] = w->book[sim_rng_below(&w->r, w->n_book)].order;
		} else if (w->n_book < MAX_ORDERS) {
			o[i] = draw_order(w, 1000 * w->run + w->n_book);
			w->book[w->n_book++] =
			    (struct book){.order = o[i], .taken = w->now};
		} else {
			n = i;
		}
	}
	if (n > 0 && sim_rng_below(&w->r, 4) == 0)
		o[n++] = o[0];
	send_message(w, algo_prober_write(o, n, flags, w->message));
}

/* What is no message changes nothing. */
static void send_rubbish(struct world *w)
{
	struct algo_probe_order o = draw_order(w, 999999);
	size_t n = algo_prober_write(&o, 1, 0, w->message);
	if (sim_rng_below(&w->r, 2))
		w->message[sim_rng_below(&w->r, (uint32_t)n)] ^= 0x40;
	else
		n = sim_rng_below(&w->r, (uint32_t)n);
	send_message(w, n);
}

static void jump(struct world *w)
{
	const sim_ns far = (20 + sim_rng_below(&w->r, 5000)) * SIM_SEC;
	w->offset += sim_rng_below(&w->r, 2) ? far : 0 - far;
	/* The agent notices at its next step. */
	for (uint32_t i = 0; i < w->n_book; i++)
		w->book[i].stopped = 1;
}

/* The next timer by the host's clock, mostly on time. */
static void wake(struct world *w)
{
	uint32_t first = 0;
	for (uint32_t i = 1; i < w->n_timers; i++)
		if (w->timer[i].clock < w->timer[first].clock)
			first = i;
	const sim_ns clock = w->now + w->offset;
	const sim_ns at = w->timer[first].clock;
	if (at > clock && at - clock < 5 * SIM_SEC)
		w->now += at - clock;
	if (sim_rng_below(&w->r, 20) == 0)
		w->now += sim_rng_below(&w->r, 3000) * SIM_MS;
	const struct agent_event ev = {.kind = AGENT_TIMER,
	    .token = w->timer[first].token};
	w->timer[first] = w->timer[--w->n_timers];
	step(w, &ev);
}

static void weather(struct world *w)
{
	switch (sim_rng_below(&w->r, 200)) {
	case 0:
		jump(w);
		break;
	case 1:
		send_orders(w, ALGO_PROBER_STOP);
		break;
	case 2:
		w->now += sim_rng_below(&w->r, 100) * SIM_MS;
		break;
	case 3:
		send_rubbish(w);
		break;
	default:
		if (w->n_timers > 0 && sim_rng_below(&w->r, 40))
			wake(w);
		else if (w->n_book < 200 || sim_rng_below(&w->r, 2))
			send_orders(w, 0);
		w->now += sim_rng_below(&w->r, 3) * 100 * SIM_US;
	}
}

static void live(struct world *w, uint32_t run)
{
	static const double rates[] = {1, 20, 100, 1000, 5000};
	const struct agent_event start = {.kind = AGENT_START};
	w->run = run;
	test_rng(&w->r, run);
	test_rng(&w->agent_rng, 100000 + run);
	w->params =
	    (struct algo_prober_params){.host_per_s =
					    rates[sim_rng_below(&w->r, 5)],
		.target_per_s = rates[sim_rng_below(&w->r, 5)],
		.life_s = 2 + sim_rng_below(&w->r, 20),
		.contact_s = 3 + sim_rng_below(&w->r, 20)};
	assert_ok(algo_prober.init(w->state, 1, &w->params, test_err()));
	/* What was written into the struct by hand is beyond the range of its
	 * field: the limits hold nevertheless. */
	if (w->params.host_per_s > ALGO_PROBER_HOST_MAX)
		w->params.host_per_s = ALGO_PROBER_HOST_MAX;
	if (w->params.target_per_s > ALGO_PROBER_TARGET_MAX)
		w->params.target_per_s = ALGO_PROBER_TARGET_MAX;
	w->offset = 50000 * SIM_SEC;
	step(w, &start);
	for (unsigned i = 0; i < 2000; i++)
		weather(w);
}

/* Fair weather comes: an order is carried out to its last probe, and then the
 * agent rests. */
static void clears_up(struct world *w)
{
	struct algo_prober_status s;
	struct algo_probe_order o = draw_order(w, 1000 * w->run + 999);
	w->params.life_s = w->params.contact_s = 3600;
	o.interval_ns = SIM_MS;
	o.count = 7;
	w->now += 30 * SIM_SEC; /* longer than anything, so it closes */
	for (uint32_t i = 0; i < w->n_book; i++)
		w->book[i].stopped = 1;
	w->n_book = w->n_book < MAX_ORDERS ? w->n_book : MAX_ORDERS - 1;
	struct book *b = &w->book[w->n_book++];
	*b = (struct book){.order = o, .taken = w->now};
	w->contact = w->now;
	send_message(w, algo_prober_write(&o, 1, 0, w->message));
	for (unsigned i = 0; i < 2000 && b->n_sent < 7; i++) {
		if (w->n_timers == 0)
			fail_msg("run %u: it sleeps for ever", w->run);
		wake(w);
	}
	if (b->n_sent != 7)
		fail_msg("run %u: sent %u of 7", w->run, b->n_sent);
	algo_prober_status(w->state, &s);
	assert_int_equal(s.n_live, 0);
	assert_int_equal(s.n_orders, s.n_done + s.n_expired + s.n_closed);
}

static void no_limit_is_ever_passed(void **state)
{
	struct algo_prober_status all = {0}, s;
	struct world *w = malloc(sizeof(*w));
	void *memory = malloc(algo_prober.state_size);
	(void)state;
	assert_non_null(w);
	for (uint32_t run = 0; run < 300; run++) {
		memset(w, 0, sizeof(*w));
		memset(memory, 0xa5, algo_prober.state_size);
		w->state = memory;
		live(w, run);
		clears_up(w);
		algo_prober_status(memory, &s);
#define X(name, text) all.name += s.name;
		ALGO_PROBER_COUNTERS(X)
#undef X
	}
	/* Each thing that can happen did, or the test is none. */
#define X(name, text)                                                          \
	if (all.name == 0 && strcmp(#name, "n_refused") != 0)                  \
		fail_msg("%s never happened", #name);
	ALGO_PROBER_COUNTERS(X)
#undef X
	free(memory);
	free(w);
}

/* --- by hand -------------------------------------------------------------- */
static struct algo_probe_order plain(uint32_t id)
{
	return (struct algo_probe_order){.id = id,
	    .tuple = {0, topo_addr_of_host(2), 1000, 80, TOPO_PROTO_TCP},
	    .n_via = 1,
	    .via = {3},
	    .count = 2,
	    .interval_ns = SIM_SEC};
}

static void room_is_bounded_and_what_was_refused_may_come_again(void **state)
{
	static struct algo_probe_order o[ALGO_PROBER_ORDERS];
	static unsigned char m[ALGO_PROBER_MESSAGE];
	const struct algo_prober_params p = {100, 100, 60, 60, 0};
	struct agent_out out = {0};
	struct algo_prober_status s;
	struct sim_rng r;
	void *memory = malloc(algo_prober.state_size);
	(void)state;
	test_rng(&r, 0);
	assert_ok(algo_prober.init(memory, 1, &p, test_err()));
	for (uint32_t i = 0; i < ALGO_PROBER_ORDERS; i++)
		o[i] = plain(i);
	struct agent_event ev = {.kind = AGENT_ORDER, .data = m};
	ev.n = algo_prober_write(o, ALGO_PROBER_ORDERS, 0, m);
	assert_int_equal(ev.n, ALGO_PROBER_MESSAGE);
	assert_ok(algo_prober.step(memory, 0, &ev, &r, &out, test_err()));
	o[0].id = 7777;
	ev.n = algo_prober_write(o, 1, 0, m);
	out.n = 0;
	assert_ok(algo_prober.step(memory, 1, &ev, &r, &out, test_err()));
	algo_prober_status(memory, &s);
	assert_int_equal(s.n_live, ALGO_PROBER_ORDERS);
	assert_int_equal(s.n_refused, 1);
	ev.n = algo_prober_write(o, 1, ALGO_PROBER_STOP, m);
	out.n = 0;
	assert_ok(algo_prober.step(memory, 2, &ev, &r, &out, test_err()));
	algo_prober_status(memory, &s);
	assert_int_equal(s.n_live, 1);
	assert_int_equal(s.n_closed, ALGO_PROBER_ORDERS);
	free(memory);
}

/* What was closed needs its targets no more: others than ever before can be
 * probed again and again. */
static void targets_of_closed_orders_are_free_again(void **state)
{
	static struct algo_probe_order o[ALGO_PROBER_ORDERS];
	static unsigned char m[ALGO_PROBER_MESSAGE];
	const struct algo_prober_params p = {100, 100, 60, 60, 0};
	struct agent_out out = {0};
	struct algo_prober_status s;
	struct sim_rng r;
	void *memory = malloc(algo_prober.state_size);
	(void)state;
	test_rng(&r, 0);
	assert_ok(algo_prober.init(memory, 1, &p, test_err()));
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < ALGO_PROBER_ORDERS; i++) {
			o[i] = plain(round * ALGO_PROBER_ORDERS + i);
			o[i].n_via = OBS_MAX_VIA;
			for (unsigned v = 0; v < OBS_MAX_VIA; v++)
				o[i].via[v] = o[i].id * OBS_MAX_VIA + v;
		}
		struct agent_event ev = {.kind = AGENT_ORDER, .data = m};
		ev.n = algo_prober_write(o, ALGO_PROBER_ORDERS,
		    ALGO_PROBER_STOP, m);
		out.n = 0;
		assert_ok(algo_prober.step(memory, round * SIM_SEC, &ev, &r,
		    &out, test_err()));
		algo_prober_status(memory, &s);
		assert_int_equal(s.n_live, ALGO_PROBER_ORDERS);
		assert_int_equal(s.n_refused, 0);
		assert_int_equal(s.n_closed, round * ALGO_PROBER_ORDERS);
	}
	free(memory);
}

static void a_source_of_0_is_the_probers_own(void **state)
{
	static unsigned char m[ALGO_PROBER_MESSAGE];
	const struct algo_prober_params p = {100, 100, 60, 60, 0x0a0000ff};
	const struct algo_probe_order o = plain(5);
	struct agent_out out = {0};
	struct algo_guided g;
	struct sim_rng r;
	void *memory = malloc(algo_prober.state_size);
	(void)state;
	test_rng(&r, 0);
	assert_ok(algo_prober.init(memory, 1, &p, test_err()));
	const struct agent_event ev = {.kind = AGENT_ORDER,
	    .data = m,
	    .n = algo_prober_write(&o, 1, 0, m)};
	assert_ok(algo_prober.step(memory, 0, &ev, &r, &out, test_err()));
	assert_int_equal(out.action[0].kind, AGENT_SEND);
	assert_ok(algo_guided_read(out.action[0].data, out.action[0].n_bytes,
	    10, &g, test_err()));
	assert_int_equal(g.tuple.src_ip, 0x0a0000ff);
	assert_int_equal(g.sender, 0x0a0000ff);
	const struct agent_event bad = {.kind = AGENT_RETX};
	assert_int_equal(algo_prober.step(memory, 0, &bad, &r, &out, NULL),
	    SIM_EUNSUPPORTED);
	free(memory);
}

/* 400 probes, one each 100 ms: the mean is kept (standard error 1.4 ms), and the
 * phase of each within 100 ms is anywhere (chi square of 9, at 1e-6). */
static void probes_keep_no_step(void **state)
{
	static unsigned char m[ALGO_PROBER_MESSAGE];
	const struct algo_prober_params p = {1000, 200, 120, 180, 0};
	struct algo_probe_order o = plain(5);
	struct sim_rng r;
	unsigned phase[10] = {0};
	double chi = 0;
	sim_ns now = 0, last = 0;
	uint32_t n = 0;
	void *memory = malloc(algo_prober.state_size);
	(void)state;
	o.count = 400;
	o.interval_ns = 100 * SIM_MS;
	test_rng(&r, 0);
	assert_ok(algo_prober.init(memory, 1, &p, test_err()));
	struct agent_event ev = {.kind = AGENT_ORDER,
	    .data = m,
	    .n = algo_prober_write(&o, 1, 0, m)};
	for (uint64_t token = 0; n < 400; ev.token = token) {
		struct agent_out out = {0};
		assert_ok(
		    algo_prober.step(memory, now, &ev, &r, &out, test_err()));
		for (size_t i = 0; i < out.n; i++) {
			if (out.action[i].kind == AGENT_SET_TIMER) {
				token = out.action[i].token;
				ev.kind = AGENT_TIMER;
				last = now;
				now = out.action[i].at_ns;
			} else {
				phase[now / (10 * SIM_MS) % 10]++;
				n++;
			}
		}
		ev.kind = AGENT_TIMER;
	}
	for (int i = 0; i < 10; i++)
		chi += (phase[i] - 40.0) * (phase[i] - 40.0) / 40;
	assert_true(chi < 45);
	assert_near((double)last / 1e9, 39.9, 5 * 0.0289 * 20);
	free(memory);
}

static void sealed(unsigned char *m, size_t n)
{
	sim_store_64(m + n - 8, sim_fnv(SIM_FNV_START, m, n - 8));
}

/* Every value that no order may have, under a right checksum. */
static void bad_orders_are_named(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
		int rc;
		const char *says;
	} bad[] = {
	    {0, 'X', SIM_EPARSE, "CPGO"},
	    {4, 2, SIM_EPARSE, "version"},
	    {6, 2, SIM_EPARSE, "flags"},
	    {9, 2, SIM_ELIMIT, "at most 256"},
	    {8, 3, SIM_EPARSE, "bytes, not"},
	    {12 + 16, 4, SIM_ERANGE, "at most 3"},
	    {12 + 17, 17, SIM_ERANGE, "protocol 17"},
	    {12 + 18, 1, SIM_ERANGE, "must be 0"},
	    {12 + 22, 255, SIM_ERANGE, "via[0]"},
	    {12 + 24, 1, SIM_ERANGE, "via[1]"},
	    {12 + 32, 0, SIM_ERANGE, "0 probes"},
	    {12 + 35, 1, SIM_ERANGE, "1 to 100000"},
	    {12 + 36, 1, SIM_ERANGE, "must be 0"},
	    {12 + 46, 1, SIM_ERANGE, "an hour"},
	};
	static unsigned char m[ALGO_PROBER_MESSAGE];
	struct algo_probe_order o = plain(5), got;
	size_t n_orders = 0;
	unsigned flags;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		const size_t n = algo_prober_write(&o, 1, 0, m);
		m[bad[i].at] = bad[i].value;
		sealed(m, n);
		assert_int_equal(algo_prober_check(m, n, &n_orders, &flags, &e),
		    bad[i].rc);
		if (!strstr(e.msg, bad[i].says))
			fail_msg("%zu: %s", i, e.msg);
	}
	o.n_via = 0;
	o.tuple.dst_ip = 0;
	size_t n = algo_prober_write(&o, 1, 0, m);
	assert_int_equal(algo_prober_check(m, n, &n_orders, &flags, NULL),
	    SIM_ERANGE);
	o.tuple.dst_ip = topo_addr_of_switch(4);
	n = algo_prober_write(&o, 1, 0, m);
	assert_int_equal(algo_prober_check(m, n, &n_orders, &flags, NULL),
	    SIM_ERANGE);
	o = plain(5);
	n = algo_prober_write(&o, 1, ALGO_PROBER_STOP, m);
	assert_ok(algo_prober_check(m, n, &n_orders, &flags, test_err()));
	assert_int_equal(n_orders, 1);
	assert_int_equal(flags, ALGO_PROBER_STOP);
	got = algo_prober_order_at(m, 0);
	assert_true(got.id == o.id && got.n_via == o.n_via &&
	    got.count == o.count && got.interval_ns == o.interval_ns &&
	    topo_tuple_same(&got.tuple, &o.tuple));
	assert_memory_equal(got.via, o.via, sizeof(o.via));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_limit_is_ever_passed),
	    cmocka_unit_test(
		room_is_bounded_and_what_was_refused_may_come_again),
	    cmocka_unit_test(targets_of_closed_orders_are_free_again),
	    cmocka_unit_test(a_source_of_0_is_the_probers_own),
	    cmocka_unit_test(bad_orders_are_named),
	    cmocka_unit_test(probes_keep_no_step),
	};
	return cmocka_run_group_tests_name("algos/everflow/prober", tests, NULL,
	    NULL);
}
