/* tests/models/packet/rdma_test.c -- models/packet/rdma: queue pairs that lose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Means are held to |z| < 4.5: a new seed fails one of them with probability
 * 7e-6 each, about 2e-4 in all.
 */
#include "models/packet/rdma.h"

#include "tests/rigs/law.h"
#include "tests/test.h"
#include "topo/addr.h"

/* A slot of exactly 100 ns and round trips that are multiples of it. */
enum { SLOT = 100, PAYLOAD = 418 };

static struct packet_rdma_params params(uint32_t recovery, uint32_t message,
    unsigned rtt_slots, unsigned timeout_slots)
{
	return (struct packet_rdma_params){.recovery = recovery,
	    .message = message,
	    .payload = PAYLOAD,
	    .gbps = 40,
	    .rtt_us = rtt_slots * SLOT * 1e-3,
	    .timeout_us = timeout_slots * SLOT * 1e-3};
}

static struct packet_rdma_pair pair_of(double loss, double back,
    uint64_t messages)
{
	return (struct packet_rdma_pair){.from = 1,
	    .to = 2,
	    .src_port = 0xc001,
	    .loss = loss,
	    .back_loss = back,
	    .n_messages = messages,
	    .until_ns = SIM_NEVER - 1};
}

/* --- oracle: slot by slot ------------------------------------------------- */

enum { MAX_SEEN = 400 };
struct seen {
	uint64_t t;
	uint8_t back, is_nak;
	uint32_t offset;
};
struct life {
	uint32_t message;                /* packets */
	unsigned data_loss, answer_loss; /* bit i: the i-th of those is lost */
	unsigned n_data, n_answers, n;
	struct seen seen[MAX_SEEN];
	uint32_t psn;
	/* Of the oracle: what its sender did, and when it was done. */
	unsigned n_timeouts, n_heard_naks;
	uint64_t end;
};

static int life_note(struct life *l, uint64_t t, int back, int nak,
    uint32_t offset)
{
	assert_true(l->n < MAX_SEEN);
	l->seen[l->n++] = (struct seen){t, (uint8_t)back, (uint8_t)nak, offset};
	unsigned *n = back ? &l->n_answers : &l->n_data;
	const unsigned bits = back ? l->answer_loss : l->data_loss;
	const unsigned i = (*n)++;
	return i < 16 ? bits >> i & 1 : 0;
}

/* Messages follow each other without a gap. */
static uint8_t opcode_at(uint32_t offset, uint32_t message)
{
	const uint32_t i = offset % message;
	return message == 1    ? PACKET_RDMA_ONLY
	    : i == 0           ? PACKET_RDMA_FIRST
	    : i == message - 1 ? PACKET_RDMA_LAST
			       : PACKET_RDMA_MIDDLE;
}

static int life_carry(void *arg, topo_host from, sim_ns sent,
    const struct obs_packet *p, struct sim_err *e)
{
	struct life *l = arg;
	(void)e;
	if (l->n == 0)
		l->psn = p->seq;
	assert_int_equal(p->ip.src_ip, topo_addr_of_host(from));
	assert_int_equal(p->ip.dst_ip, topo_addr_of_host(from == 1 ? 2 : 1));
	assert_int_equal(p->ip.ttl, 64);
	assert_int_equal(p->ip.proto, OBS_PROTO_UDP);
	assert_int_equal(p->ip.tos, 26 << 2 | 2 | OBS_TOS_DEBUG);
	assert_int_equal(p->ethertype, OBS_ETH_IPV4);
	assert_int_equal(p->src_port, 0xc001);
	assert_int_equal(p->dst_port, 4791);
	/* Headers of Ethernet, IPv4, UDP and a BTH, and an ICRC. */
	assert_int_equal(p->n_bytes, 58 + (from == 2 ? 4 : PAYLOAD));
	assert_int_equal(p->digest,
	    obs_roce_digest((uint16_t)(p->n_bytes - 34), p->bth_opcode,
		p->seq));
	const uint32_t offset = (p->seq - l->psn) & 0xffffff;
	assert_int_equal(p->bth_opcode,
	    from == 2 ? OBS_BTH_ACK : opcode_at(offset, l->message));
	return life_note(l, sent, from == 2, obs_packet_is_nak(p), offset);
}

/* One message, as two machines that pass packets along two wires. The receiver
 * knows attempts apart, and if the sender goes back to 0 keeps nothing of those
 * before. */
static void oracle(struct life *l, int restarts, uint32_t m, unsigned rtt,
    unsigned timeout)
{
	enum { SLOTS = 20000, NONE = 99 };
	static uint8_t to_receiver[SLOTS], to_sender[SLOTS], kind[SLOTS];
	static unsigned attempt_of[SLOTS];
	memset(to_receiver, NONE, sizeof(to_receiver));
	memset(to_sender, NONE, sizeof(to_sender));
	uint32_t next = 0, expects = 0;
	unsigned timer = SLOTS, attempt = 0, known = 0;
	int silent = 0, whole = 0;
	for (unsigned t = 0; t < SLOTS - rtt - 2; t++) {
		/* The receiver: what left a slot and half a round trip ago. */
		const uint32_t x = to_receiver[t];
		int say = 0; /* 1: got it all, 2: missing something */
		if (x != NONE && restarts && attempt_of[t] != known) {
			known = attempt_of[t];
			whole = 0;
			expects = 0;
		}
		if (x != NONE && whole && x == m - 1) {
			say = 1;
		} else if (x != NONE && !whole && x == expects) {
			silent = 0;
			whole = ++expects == m;
			say = whole;
		} else if (x != NONE && !whole && x > expects && !silent) {
			say = 2;
			silent = 1;
		}
		if (say) {
			const uint32_t about = say == 1 ? m - 1 : expects;
			if (!life_note(l, (uint64_t)t * SLOT, 1, say == 2,
				about)) {
				to_sender[t + rtt / 2] = (uint8_t)about;
				kind[t + rtt / 2] = (uint8_t)say;
			}
		}
		/* The sender. */
		l->end = (uint64_t)t * SLOT;
		if (to_sender[t] != NONE && kind[t] == 1)
			return;
		l->n_heard_naks += to_sender[t] != NONE;
		l->n_timeouts += to_sender[t] == NONE && t == timer;
		if (to_sender[t] != NONE)
			next = restarts ? 0 : to_sender[t], timer = SLOTS,
			attempt++;
		else if (t == timer)
			/* It goes back to the first that was not taken. */
			next = restarts ? 0
			    : whole     ? m - 1
					: expects,
			timer = SLOTS, attempt++;
		if (next == m)
			continue;
		attempt_of[t + 1 + rtt / 2] = attempt;
		if (!life_note(l, (uint64_t)t * SLOT, 0, 0, next))
			to_receiver[t + 1 + rtt / 2] = (uint8_t)next;
		if (++next == m)
			timer = t + 1 + timeout;
	}
	fail_msg("no end");
}

static int is_same(const struct seen *a, const struct seen *b)
{
	return a->t == b->t && a->back == b->back && a->is_nak == b->is_nak &&
	    a->offset == b->offset;
}

static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->back - y->back;
}

/* What it tells of its life is what its life was. */
static void assert_end(const struct packet_rdma_end *end,
    const struct life *got, const struct life *want, int restarts, uint32_t m)
{
	unsigned n_lost = 0, n_naks = 0;
	for (unsigned i = 0; i < got->n_data && i < 16; i++)
		n_lost += got->data_loss >> i & 1;
	for (unsigned i = 0; i < got->n; i++)
		n_naks += got->seen[i].is_nak;
	assert_int_equal(end->n_messages, 1);
	assert_int_equal(end->n_made, got->n);
	assert_int_equal(end->n_sent, got->n_data);
	assert_int_equal(end->n_lost, n_lost);
	assert_int_equal(end->n_naks, n_naks);
	assert_int_equal(end->n_bytes, m * PAYLOAD);
	assert_int_equal(end->n_timeouts, want->n_timeouts);
	assert_int_equal(end->n_restarts,
	    restarts ? want->n_timeouts + want->n_heard_naks : 0);
	assert_int_equal(end->at, want->end);
	assert_near(end->goodput, (double)m * SLOT / (double)want->end, 1e-12);
}

static void same_as_the_oracle(int restarts, uint32_t m, unsigned bits)
{
	enum { RTT = 4, TIMEOUT = 9 };
	struct life got = {.message = m,
	    .data_loss = bits & 0x3ff,
	    .answer_loss = bits >> 10};
	struct life want = got;
	const struct packet_rdma_params p =
	    params(restarts ? PACKET_RDMA_GO_BACK_0 : PACKET_RDMA_GO_BACK_N, m,
		RTT, TIMEOUT);
	struct packet_rdma_pair pair = pair_of(0, 0, 1);
	const struct packet_rdma_wire wire = {&got, life_carry};
	struct packet_rdma_end end;
	struct sim_rng r;
	pair.is_debug = 1;
	test_rng(&r, m);
	assert_ok(packet_rdma_run(&p, &pair, &r, &wire, &end, test_err()));
	oracle(&want, restarts, m, RTT, TIMEOUT);
	assert_end(&end, &got, &want, restarts, m);
	qsort(got.seen, got.n, sizeof(got.seen[0]), by_time);
	qsort(want.seen, want.n, sizeof(want.seen[0]), by_time);
	for (unsigned i = 0; i < want.n || i < got.n; i++) {
		const struct seen *a = &got.seen[i], *b = &want.seen[i];
		if (i >= want.n || i >= got.n || !is_same(a, b))
			fail_msg("go back %c, M %u, losses %#x: packet %u is "
				 "(%llu, %u, %u, %u), wanted (%llu, %u, %u, "
				 "%u)",
			    restarts ? '0' : 'N', m, bits, i,
			    (unsigned long long)a->t, a->back, a->is_nak,
			    a->offset, (unsigned long long)b->t, b->back,
			    b->is_nak, b->offset);
	}
}

static void every_pattern_of_losses_is_lived_as_by_two_machines(void **state)
{
	(void)state;
	for (uint32_t m = 1; m <= 7; m++)
		for (unsigned bits = 0; bits < 1u << 13; bits++) {
			same_as_the_oracle(0, m, bits);
			same_as_the_oracle(1, m, bits);
		}
}

/* --- closed forms --------------------------------------------------------- */

/* Expected slots until a message is done with, by equations of each state: how
 * many packets are left, and whether the receiver has complained. One pass over
 * the first loss at i, and the first arrival j behind it. */
struct cost {
	double p, b, rtt, timeout;
	int restarts;
	uint32_t m;
	double v[300][2];
};

/* What the state costs but for states (m, 0) and (m, 1), whose weights go to
 * W0 and W1. */
static double one_state(const struct cost *c, uint32_t n, int complained,
    double w[2])
{
	const double p = c->p, q = 1 - p;
	const double given_up = n + c->timeout;
	double sum = pow(q, n) * ((1 - c->b) * (n + c->rtt) + c->b * given_up);
	w[0] = w[1] = 0;
	if (c->restarts || n == 1)
		w[0] += pow(q, n) * c->b;
	else
		sum += pow(q, n) * c->b * c->v[1][0];
	for (uint32_t i = 0; i < n; i++) {
		const double at = pow(q, i) * p;
		double silent = at * pow(p, n - 1 - i);
		if (complained && i == 0)
			silent = at;
		double to[2] = {0, 0};
		for (uint32_t j = i + 1; j < n && !(complained && i == 0);
		     j++) {
			const double here = at * pow(p, j - i - 1) * q;
			sum += here *
			    ((1 - c->b) * (j + 1 + c->rtt) + c->b * given_up);
			to[1] += here;
		}
		sum += silent * given_up;
		to[complained && i == 0] += silent;
		for (int k = 0; k < 2; k++)
			if (c->restarts || i == 0)
				w[k] += to[k];
			else
				sum += to[k] * c->v[n - i][k];
	}
	return sum;
}

static double expected_slots(struct cost *c)
{
	for (uint32_t n = c->restarts ? c->m : 1; n <= c->m; n++) {
		double w0[2], w1[2];
		const double a0 = one_state(c, n, 0, w0);
		const double a1 = one_state(c, n, 1, w1);
		/* v0 = a0 + w0.v, v1 = a1 + w1.v. */
		const double d = (1 - w0[0]) * (1 - w1[1]) - w0[1] * w1[0];
		c->v[n][0] = (a0 * (1 - w1[1]) + a1 * w0[1]) / d;
		c->v[n][1] = (a1 * (1 - w0[0]) + a0 * w1[0]) / d;
	}
	return c->v[c->m][0];
}

/* One message a run, so that runs are independent. */
static void mean_slots(struct law_mean *mean, const struct cost *c, unsigned n)
{
	const struct packet_rdma_params p =
	    params(c->restarts ? PACKET_RDMA_GO_BACK_0 : PACKET_RDMA_GO_BACK_N,
		c->m, (unsigned)c->rtt, (unsigned)c->timeout);
	const struct packet_rdma_pair pair = pair_of(c->p, c->b, 1);
	for (unsigned run = 0; run < n; run++) {
		struct packet_rdma_end end;
		struct sim_rng r;
		test_rng(&r, run + c->m * 100000);
		assert_ok(
		    packet_rdma_run(&p, &pair, &r, NULL, &end, test_err()));
		law_add(mean, (double)end.at / SLOT);
	}
}

static void a_message_takes_as_long_as_its_equations_say(void **state)
{
	static const struct cost cases[] = {
	    {.p = 0.2, .b = 0.1, .rtt = 4, .timeout = 30, .m = 3},
	    {.p = 0.2,
		.b = 0.1,
		.rtt = 4,
		.timeout = 30,
		.m = 3,
		.restarts = 1},
	    {.p = 1. / 256, .b = 0, .rtt = 46, .timeout = 400, .m = 250},
	    {.p = 1. / 256,
		.b = 1. / 256,
		.rtt = 46,
		.timeout = 400,
		.m = 250,
		.restarts = 1},
	    {.p = 0.02, .b = 0.02, .rtt = 0, .timeout = 10, .m = 64},
	    {.p = 0.02,
		.b = 0.02,
		.rtt = 0,
		.timeout = 10,
		.m = 64,
		.restarts = 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cost c = cases[i];
		const double want = expected_slots(&c);
		struct law_mean mean = {0};
		mean_slots(&mean, &c, 20000);
		if (fabs(law_z(&mean, want)) > 4.5)
			fail_msg("case %zu: %g slots, wanted %g, z %g", i,
			    law_mean(&mean), want, law_z(&mean, want));
	}
}

/* The header's two forms leave out round trips, timeouts, and the packet by
 * which a loss is noticed: 1 / q slots a loss, or what is left of the message
 * if what was asked for is lost again. A loss comes each q / p slots or so, so
 * that the share is too high by at most p (1 + p M) / q^2 of it. */
static void shares_come_near_the_forms_of_the_header(void **state)
{
	static const double loss[] = {1e-4, 1. / 256, 0.02};
	static const uint32_t length[] = {16, 64, 250};
	(void)state;
	for (unsigned i = 0; i < 9; i++)
		for (int restarts = 0; restarts < 2; restarts++) {
			const double p = loss[i / 3];
			struct cost c = {.p = p,
			    .m = length[i % 3],
			    .restarts = restarts};
			const double got = c.m / expected_slots(&c);
			const double want =
			    packet_rdma_share(restarts ? PACKET_RDMA_GO_BACK_0
						       : PACKET_RDMA_GO_BACK_N,
				p, c.m);
			assert_in_range((long)(got <= want * (1 + 1e-9)), 1, 1);
			assert_near(got / want, 1,
			    p * (1 + p * c.m) / (1 - p) / (1 - p));
		}
}

static void forms_have_their_limits(void **state)
{
	(void)state;
	assert_near(packet_rdma_share(PACKET_RDMA_GO_BACK_0, 0, 1000), 1, 0);
	assert_near(packet_rdma_share(PACKET_RDMA_GO_BACK_0, 1, 1000), 0, 0);
	assert_near(packet_rdma_share(PACKET_RDMA_GO_BACK_N, 0.25, 9), 0.75,
	    1e-15);
	/* One packet a message: both are the same. */
	assert_near(packet_rdma_share(PACKET_RDMA_GO_BACK_0, 0.25, 1), 0.75,
	    1e-15);
	/* As the header says. */
	assert_near(packet_rdma_share(PACKET_RDMA_GO_BACK_0, 1. / 256, 1000),
	    0.08, 0.01);
	assert_near(packet_rdma_share(PACKET_RDMA_GO_BACK_0, 1. / 256, 4000),
	    2.5e-6, 1e-6);
}

/* --- what is made --------------------------------------------------------- */

struct count {
	struct sim_rng *r;
	double loss;
	uint64_t n[2], n_naks, n_lost;
	uint16_t mask, pattern;
};

static int count_carry(void *arg, topo_host from, sim_ns sent,
    const struct obs_packet *p, struct sim_err *e)
{
	struct count *c = arg;
	const int nak = obs_packet_is_nak(p);
	(void)sent;
	(void)e;
	c->n[from == 2]++;
	c->n_naks += (uint64_t)nak;
	if (!nak && c->mask)
		assert_int_equal(p->ip.id & c->mask, c->pattern);
	const int lost = sim_rng_u01(c->r) < c->loss;
	c->n_lost += (uint64_t)lost;
	return lost;
}

/* Whoever carries packets loses them at the same rate, so how many are made
 * changes nothing of the law: none, the sampled ones or all. */
static void what_is_made_changes_no_law(void **state)
{
	struct cost c = {.p = 0.02,
	    .b = 0.02,
	    .rtt = 6,
	    .timeout = 30,
	    .m = 40,
	    .restarts = 1};
	const double want = expected_slots(&c);
	(void)state;
	for (int how = 0; how < 2; how++) {
		struct packet_rdma_params p =
		    params(PACKET_RDMA_GO_BACK_0, c.m, 6, 30);
		struct packet_rdma_pair pair = pair_of(0.02, 0.02, 20000);
		struct packet_rdma_end end;
		struct sim_rng r, r2;
		pair.is_debug = how == 1;
		pair.sample.mask = how == 0 ? 7 : 0;
		pair.sample.pattern = how == 0 ? 5 : 0;
		test_rng(&r, 7);
		test_rng(&r2, 8);
		struct count n = {.r = &r2,
		    .loss = 0.02,
		    .mask = pair.sample.mask,
		    .pattern = 5};
		const struct packet_rdma_wire wire = {&n, count_carry};
		assert_ok(
		    packet_rdma_run(&p, &pair, &r, &wire, &end, test_err()));
		assert_int_equal(end.n_naks, n.n_naks);
		assert_int_equal(end.n_made, n.n[0] + n.n[1]);
		if (how == 1)
			assert_int_equal(end.n_sent, n.n[0]);
		else
			assert_near((double)end.n_sent / (double)n.n[0], 8,
			    0.01);
		/* A message's slots vary about as much as they are long. */
		assert_near((double)end.at / SLOT / 20000 / want, 1,
		    4.5 * 1.2 / sqrt(20000));
	}
}

static void nothing_leaves_from_its_end_on(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 400; run++) {
		struct packet_rdma_params p = params(run % 2, 20, 6, 30);
		struct packet_rdma_pair pair = pair_of(0.1, 0.1, 0);
		struct packet_rdma_end whole, cut;
		struct life all = {.message = 20}, some = {.message = 20};
		struct packet_rdma_wire wire = {&all, life_carry};
		struct sim_rng r;
		pair.is_debug = 1;
		all.data_loss = some.data_loss = run * 0x9e5;
		all.answer_loss = some.answer_loss = run * 3;
		pair.until_ns = 120 * SLOT;
		test_rng(&r, run);
		assert_ok(
		    packet_rdma_run(&p, &pair, &r, &wire, &whole, test_err()));
		wire.arg = &some;
		pair.until_ns = (20 + run % 97) * SLOT;
		test_rng(&r, run);
		assert_ok(
		    packet_rdma_run(&p, &pair, &r, &wire, &cut, test_err()));
		assert_true(cut.at <= pair.until_ns);
		qsort(all.seen, all.n, sizeof(all.seen[0]), by_time);
		qsort(some.seen, some.n, sizeof(some.seen[0]), by_time);
		unsigned n = 0;
		while (n < all.n && all.seen[n].t < pair.until_ns)
			n++;
		assert_int_equal(some.n, n);
		for (unsigned i = 0; i < n; i++)
			assert_true(is_same(&some.seen[i], &all.seen[i]));
	}
}

/* Metamorphic: pauses make all slower, and share of the line rate falls with
 * them. */
static void pauses_stretch_time(void **state)
{
	struct packet_rdma_params p = params(PACKET_RDMA_GO_BACK_N, 100, 0, 0);
	struct packet_rdma_pair pair = pair_of(0, 0, 50);
	struct packet_rdma_end fast, slow;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_ok(packet_rdma_run(&p, &pair, &r, NULL, &fast, test_err()));
	/* What is not acknowledged in time does not count. */
	p.rtt_us = p.timeout_us = 1;
	for (sim_ns late = 0; late < 2; late++) {
		pair.until_ns = 3 * (100 * SLOT + SIM_US) - late;
		assert_ok(
		    packet_rdma_run(&p, &pair, &r, NULL, &slow, test_err()));
		assert_int_equal(slow.n_messages, 3 - late);
	}
	p.rtt_us = p.timeout_us = 0;
	pair.until_ns = SIM_NEVER - 1;
	p.paused = 0.75;
	assert_ok(packet_rdma_run(&p, &pair, &r, NULL, &slow, test_err()));
	assert_int_equal(fast.at, 5000 * SLOT);
	assert_int_equal(slow.at, 4 * fast.at);
	assert_near(fast.goodput, 1, 1e-12);
	assert_near(slow.goodput, 0.25, 1e-12);
	assert_int_equal(fast.n_bytes, 5000 * PAYLOAD);
}

static int refuse(void *arg, topo_host from, sim_ns sent,
    const struct obs_packet *p, struct sim_err *e)
{
	uint64_t *left = arg;
	(void)from;
	(void)sent;
	(void)p;
	return (*left)-- == 0 ? sim_fail(e, SIM_EIO, "Enough.") : 1;
}

static void errors_are_told(void **state)
{
	struct packet_rdma_params p = params(PACKET_RDMA_GO_BACK_0, 8, 4, 9);
	struct packet_rdma_pair pair = pair_of(0.1, 0, 1);
	struct packet_rdma_end end;
	struct sim_err e;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	pair.to = 1;
	assert_int_equal(packet_rdma_run(&p, &pair, &r, NULL, &end, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "a queue pair leads from host 1 to itself.");
	pair.to = 2;
	pair.until_ns = SIM_NEVER;
	assert_int_equal(packet_rdma_run(&p, &pair, &r, NULL, &end, &e),
	    SIM_EINVAL);
	pair.until_ns = SIM_SEC;
	pair.sample.mask = 6;
	assert_int_equal(packet_rdma_run(&p, &pair, &r, NULL, &end, &e),
	    SIM_EINVAL);
	pair.sample.mask = 0;
	p.timeout_us = 0.3;
	assert_int_equal(packet_rdma_run(&p, &pair, &r, NULL, &end, &e),
	    SIM_EINVAL);
	p.timeout_us = 1;
	pair.is_debug = 1;
	for (uint64_t n = 0; n < 40; n++) {
		uint64_t left = n;
		const struct packet_rdma_wire wire = {&left, refuse};
		assert_int_equal(packet_rdma_run(&p, &pair, &r, &wire, &end,
				     &e),
		    SIM_EIO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		every_pattern_of_losses_is_lived_as_by_two_machines),
	    cmocka_unit_test(a_message_takes_as_long_as_its_equations_say),
	    cmocka_unit_test(shares_come_near_the_forms_of_the_header),
	    cmocka_unit_test(forms_have_their_limits),
	    cmocka_unit_test(what_is_made_changes_no_law),
	    cmocka_unit_test(nothing_leaves_from_its_end_on),
	    cmocka_unit_test(pauses_stretch_time),
	    cmocka_unit_test(errors_are_told),
	};
	return cmocka_run_group_tests_name("models/packet/rdma", tests, NULL,
	    NULL);
}
