/* tests/models/mirror/mirror_test.c -- mirrors: laws of loss, samples, budgets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bounds of 5 standard errors: each of the five places that have one fails once
 * in 1.7 million seeds though nothing is wrong.
 */
#include "models/mirror/mirror.h"
#include "sim/bucket.h"
#include "tests/rigs/packets.h"
#include "tests/test.h"

enum { N_SWITCHES = 5 };
static const struct sim_seed where = {.seed = 77, .run = 3};

/* A row for SYNs, which is enough for most. */
static const struct obs_match_row syns = {.value = {.proto = TOPO_PROTO_TCP,
					      .tcp_flags = OBS_TCP_SYN},
    .mask = {.proto = 0xff, .tcp_flags = OBS_TCP_SYN},
    .kind = OBS_COPY_CONTROL};

static struct obs_packet syn_of(uint32_t number)
{
	return (struct obs_packet){.ethertype = OBS_ETH_IPV4,
	    .ip = {1, 2, (uint16_t)number, 64, 0, TOPO_PROTO_TCP},
	    .tcp_flags = OBS_TCP_SYN,
	    .seq = number,
	    .digest = (uint64_t)number << 32,
	    .n_bytes = 54};
}

static struct mirror_params with(double loss, double delay_us)
{
	struct mirror_params p;
	assert_ok(sim_field_defaults(mirror_fields, &p, test_err()));
	p.loss = loss;
	p.delay_us = delay_us;
	return p;
}

static struct mirror *open_with(const struct mirror_params *p,
    const struct obs_match_row *row)
{
	struct mirror *m;
	assert_ok(
	    mirror_open(&m, N_SWITCHES, p, row, 1, NULL, &where, test_err()));
	return m;
}

static void see(struct mirror *m, topo_switch s, sim_ns t,
    const struct obs_packet *p)
{
	const struct packet_eye eye = mirror_eye(m);
	assert_ok(eye.see(eye.arg, s, 10 + s, t, p, test_err()));
}

static void near_binomial(double n, double p, double got)
{
	assert_near((got - n * p) / sqrt(n * p * (1 - p)), 0, 5);
}

/* --- laws ----------------------------------------------------------------- */

static void copies_are_lost_at_their_rate_and_told_by_number(void **state)
{
	enum { N = 20000 };
	const struct mirror_params p = with(0.05, 100);
	struct mirror *m = open_with(&p, &syns);
	struct obs_mirror got = {0};
	uint64_t n_at[N_SWITCHES] = {0}, n_lost = 0;
	uint32_t last[N_SWITCHES] = {0};
	(void)state;
	for (uint32_t i = 0; i < N; i++)
		for (topo_switch s = 0; s < N_SWITCHES; s++) {
			const struct obs_packet x = syn_of(i);
			see(m, s, (i + 1) * SIM_US + s, &x);
		}
	assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
	for (size_t i = 0; i < got.n; i++) {
		const struct obs_copy c = obs_mirror_at(&got, i);
		n_at[c.node]++;
		if (c.mirror_seq > last[c.node])
			last[c.node] = c.mirror_seq;
		assert_int_equal(c.in_link, 10 + c.node);
	}
	const struct mirror_counts *c = mirror_counted(m);
	for (topo_switch s = 0; s < N_SWITCHES; s++) {
		near_binomial(N, 0.05, (double)c[s].n_lost);
		assert_int_equal(c[s].n_matched, N);
		assert_int_equal(c[s].n_sent, N);
		assert_int_equal(c[s].n_lost, N - n_at[s]);
		assert_int_equal(c[s].n_bytes, N * (54 + 50));
		/* Only what is lost behind the last that came is not told. */
		assert_true(last[s] + 1 - n_at[s] <= c[s].n_lost);
		assert_true(last[s] + 20 > N);
		n_lost += c[s].n_lost;
	}
	near_binomial(N * N_SWITCHES, 0.05, (double)n_lost);
	obs_mirror_free(&got);
	mirror_free(m);
}

/* N packets pass all switches. How many were seen at each, and at any. */
static void sample(const struct obs_match_row *row, uint32_t n, uint32_t *whole,
    uint32_t *any)
{
	const struct mirror_params p = with(0, 10);
	struct mirror *m = open_with(&p, row);
	struct obs_mirror got = {0};
	uint8_t *times = calloc(n, 1);
	assert_non_null(times);
	for (uint32_t i = 0; i < n; i++)
		for (topo_switch s = 0; s < N_SWITCHES; s++) {
			const struct obs_packet x = syn_of(i);
			see(m, s, i + 1, &x);
		}
	assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
	for (size_t i = 0; i < got.n; i++)
		times[got.seq[i]]++;
	*whole = *any = 0;
	for (uint32_t i = 0; i < n; i++) {
		*whole += times[i] == N_SWITCHES;
		*any += times[i] > 0;
	}
	free(times);
	obs_mirror_free(&got);
	mirror_free(m);
}

static void samples_by_id_are_seen_at_all_hops_or_none(void **state)
{
	enum { N = 65536 };
	const struct obs_match_row row = {.value = {.ip_id = 5},
	    .mask = {.ip_id = 31},
	    .kind = OBS_COPY_SAMPLE};
	uint32_t whole, any;
	(void)state;
	sample(&row, N, &whole, &any);
	assert_int_equal(whole, any);
	/* The IDs of syn_of() are numbers in turn: 1 in 32, exactly. */
	assert_int_equal(whole, N / 32);
}

static void samples_by_chance_are_seldom_seen_at_all_hops(void **state)
{
	enum { N = 100000 };
	const struct obs_match_row row = {.one_in = 3, .kind = OBS_COPY_SAMPLE};
	uint32_t whole, any;
	(void)state;
	sample(&row, N, &whole, &any);
	near_binomial(N, pow(3, -N_SWITCHES), whole);
	near_binomial(N, 1 - pow(2 / 3., N_SWITCHES), any);
}

/* The times at which copies of N SYNs come, told a microsecond apart. */
static void times_of(const struct mirror_params *p,
    const struct obs_match_row *row, uint32_t n, struct obs_mirror *out)
{
	struct mirror *m = open_with(p, row);
	for (uint32_t i = 0; i < n; i++) {
		const struct obs_packet x = syn_of(i);
		see(m, 0, i * SIM_US, &x);
	}
	assert_ok(mirror_take(m, SIM_NEVER, out, test_err()));
	mirror_free(m);
}

/* One in one is all, and costs no number; one in two is a half. */
static void rows_draw_only_if_they_take_a_share(void **state)
{
	enum { N = 2000 };
	const struct mirror_params p = with(0, 30);
	struct obs_mirror got[3] = {{0}};
	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		const struct obs_match_row row = {.one_in = k,
		    .kind = OBS_COPY_SAMPLE};
		times_of(&p, &row, N, &got[k]);
	}
	assert_int_equal(got[0].n, N);
	assert_int_equal(got[1].n, N);
	assert_memory_equal(got[0].t_ns, got[1].t_ns, N * sizeof(sim_ns));
	near_binomial(N, 0.5, (double)got[2].n);
	for (uint32_t k = 0; k < 3; k++)
		obs_mirror_free(&got[k]);
}

/* What is lost or refused has drawn its delay, too: the others come when they
 * would have. */
static void a_budget_changes_no_delay(void **state)
{
	enum { N = 500 };
	struct mirror_params p = with(0, 30);
	struct obs_mirror all = {0}, some = {0};
	sim_ns at[N];
	(void)state;
	times_of(&p, &syns, N, &all);
	for (size_t i = 0; i < all.n; i++)
		at[all.seq[i]] = all.t_ns[i];
	p.budget = 3e7;
	p.burst = 500;
	times_of(&p, &syns, N, &some);
	assert_true(some.n > N / 5 && some.n < N / 2);
	for (size_t i = 0; i < some.n; i++)
		assert_int_equal(some.t_ns[i], at[some.seq[i]]);
	obs_mirror_free(&all);
	obs_mirror_free(&some);
}

/* Of each switch the stream that its name says, a number a copy; without a loss
 * none is drawn for it. */
static void delays_are_of_the_switch_s_stream(void **state)
{
	struct mirror_params p = with(0, 250);
	(void)state;
	for (topo_switch s = 0; s < N_SWITCHES; s++)
		for (uint32_t law = 1; law < 3; law++) {
			struct obs_mirror got = {0};
			struct sim_rng r;
			p.delay_law = law;
			struct mirror *m = open_with(&p, &syns);
			sim_rng_init(&r, &where, SIM_STREAM_MIRROR, s);
			for (uint32_t i = 0; i < 20; i++) {
				const struct obs_packet x = syn_of(i);
				see(m, s, i * SIM_SEC, &x);
			}
			assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
			assert_int_equal(got.n, 20);
			for (uint32_t i = 0; i < 20; i++) {
				const double us = law == MIRROR_DELAY_UNIFORM
				    ? 500 * sim_rng_u01(&r)
				    : -250 * log(sim_rng_u01_open(&r));
				assert_near((double)(got.t_ns[i] - i * SIM_SEC),
				    us * 1e3, 1);
			}
			obs_mirror_free(&got);
			mirror_free(m);
		}
}

static void delays_have_their_mean(void **state)
{
	/* Of their squares: constant 1, uniform 4/3, exponential 2 means. */
	static const double squares[] = {1, 4 / 3., 2};
	enum { N = 40000 };
	(void)state;
	for (uint32_t law = 0; law < 3; law++) {
		struct mirror_params p = with(0, 250);
		struct obs_mirror got = {0};
		double sum = 0;
		p.delay_law = law;
		struct mirror *m = open_with(&p, &syns);
		for (uint32_t i = 0; i < N; i++) {
			const struct obs_packet x = syn_of(i);
			see(m, i % N_SWITCHES, (sim_ns)i * 100, &x);
		}
		assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
		assert_int_equal(got.n, N);
		for (size_t i = 0; i < N; i++) {
			assert_true(i == 0 || got.t_ns[i] >= got.t_ns[i - 1]);
			sum +=
			    (double)(got.t_ns[i] - (sim_ns)got.seq[i] * 100) /
			    250e3;
		}
		/* Times are cut to a nanosecond. */
		assert_near(sum / N, 1,
		    5 * sqrt((squares[law] - 1) / N) + 1 / 250e3);
		obs_mirror_free(&got);
		mirror_free(m);
	}
}

/* --- budgets -------------------------------------------------------------- */

/* A real number of bytes that rises; times and bytes are such that both are
 * exact: 10 ns a byte. */
static void budgets_agree_with_a_level_that_rises(void **state)
{
	enum { N = 400, RATE = 100000000 };
	(void)state;
	for (uint32_t run = 0; run < 100; run++) {
		struct sim_rng r;
		struct mirror_params p = with(0, 0);
		struct obs_mirror got = {0};
		test_rng(&r, run);
		p.budget = RATE;
		p.burst = 178 + sim_rng_below(&r, 1000);
		struct mirror *m = open_with(&p, &syns);
		double level = p.burst;
		sim_ns t = 1, last = 0;
		uint8_t want[N];
		uint32_t n_want = 0;
		for (uint32_t i = 0; i < N; i++) {
			struct obs_packet x = syn_of(i);
			x.n_bytes = 60 + sim_rng_below(&r, 200);
			t += 10 * sim_rng_below(&r, 200);
			level = fmin(p.burst, level + (double)(t - last) / 10);
			last = t;
			const double cost = fmin(x.n_bytes, 128) + 50;
			want[i] = level >= cost;
			level -= want[i] ? cost : 0;
			n_want += want[i];
			see(m, 1, t, &x);
		}
		assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
		assert_int_equal(got.n, n_want);
		for (size_t i = 0; i < got.n; i++) {
			assert_true(want[got.seq[i]]);
			assert_int_equal(got.mirror_seq[i], i);
		}
		const struct mirror_counts *c = &mirror_counted(m)[1];
		assert_int_equal(c->n_policed, N - n_want);
		assert_int_equal(c->n_sent, n_want);
		assert_true(n_want > 20 && n_want < N);
		obs_mirror_free(&got);
		mirror_free(m);
	}
}

/* At rates that have no whole number of nanoseconds a byte: over any span. */
static void budgets_are_never_exceeded(void **state)
{
	enum { N = 1500 };
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct sim_rng r;
		struct mirror_params p = with(0, 0);
		struct obs_mirror got = {0};
		test_rng(&r, run);
		p.budget = 1e6 * exp(8 * sim_rng_u01(&r));
		p.burst = 178 + sim_rng_below(&r, 2000);
		p.policer = sim_rng_below(&r, 2) ? p.budget / 100 : 0;
		p.police_burst = 1 + sim_rng_below(&r, 9);
		struct mirror *m = open_with(&p, &syns);
		for (uint32_t i = 0; i < N; i++) {
			struct obs_packet x = syn_of(i);
			x.n_bytes = 128;
			see(m, 0,
			    1 +
				(sim_ns)(sim_rng_u01(&r) * N * 100 * 1e9 /
				    p.budget),
			    &x);
		}
		assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
		assert_true(got.n > N / 10 && got.n < N);
		for (size_t i = 0; i < got.n; i++)
			for (size_t j = i; j < got.n; j++) {
				const double n = (double)(j - i + 1);
				const double s =
				    1e-9 * (double)(got.t_ns[j] - got.t_ns[i]);
				assert_true(
				    n * 178 <= p.burst + p.budget * s + 1e-6);
				assert_true(p.policer == 0 ||
				    n <= p.police_burst + ceil(p.policer * s));
			}
		obs_mirror_free(&got);
		mirror_free(m);
	}
}

/* The policer comes first: what it refuses costs no bytes, and what has none
 * for it has cost a copy. */
static void what_the_policer_refuses_costs_no_bytes(void **state)
{
	struct mirror_params p = with(0, 0);
	struct obs_mirror got = {0};
	(void)state;
	/* 104 bytes a copy, of which the budget has room for two and no time
	 * to get more; a copy more each millisecond. */
	p.budget = 1;
	p.burst = 2 * 104;
	p.policer = 1000;
	p.police_burst = 1;
	p.truncate = 64;
	struct mirror *m = open_with(&p, &syns);
	static const sim_ns at[] = {1, 2, 3, SIM_MS + 1, 2 * SIM_MS + 1};
	for (uint32_t i = 0; i < 5; i++) {
		const struct obs_packet x = syn_of(i);
		see(m, 1, at[i], &x);
	}
	/* Switches have budgets of their own. */
	const struct obs_packet x = syn_of(9);
	see(m, 2, 2 * SIM_MS + 2, &x);
	assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
	assert_int_equal(got.n, 3);
	assert_int_equal(got.seq[0], 0);
	assert_int_equal(got.seq[1], 3);
	assert_int_equal(got.seq[2], 9);
	assert_int_equal(got.mirror_seq[2], 0);
	const struct mirror_counts *c = mirror_counted(m);
	assert_int_equal(c[1].n_matched, 5);
	assert_int_equal(c[1].n_policed, 3);
	assert_int_equal(c[1].n_sent, 2);
	assert_int_equal(c[1].n_bytes, 208);
	assert_int_equal(c[2].n_policed, 0);
	assert_int_equal(c[0].n_seen, 0);
	obs_mirror_free(&got);
	mirror_free(m);
}

/* --- relations ------------------------------------------------------------ */

static void tell_all(struct mirror *m, sim_ns step, struct obs_mirror *out)
{
	enum { N = 3000 };
	sim_ns until = step;
	for (uint32_t i = 0; i < N; i++) {
		const struct obs_packet x = syn_of(i);
		/* The packet passes the switches after it was sent. */
		while (step > 0 && until < i * SIM_US) {
			assert_ok(mirror_take(m, until, out, test_err()));
			until += step;
		}
		for (topo_switch s = 0; s < N_SWITCHES; s++)
			see(m, s, (i + 1) * SIM_US + 700 * s, &x);
	}
	assert_ok(mirror_take(m, SIM_NEVER, out, test_err()));
}

static void how_often_copies_are_taken_changes_nothing(void **state)
{
	static const sim_ns steps[] = {1, 50 * SIM_US, SIM_MS};
	struct mirror_params p = with(0.2, 40);
	struct obs_mirror once = {0};
	struct mirror *m;
	(void)state;
	p.budget = 5e7;
	p.burst = 1000;
	m = open_with(&p, &syns);
	tell_all(m, 0, &once);
	assert_true(once.n > 1000 && mirror_counted(m)[0].n_policed > 100);
	mirror_free(m);
	for (size_t k = 1; k < 3; k++) {
		struct obs_mirror often = {0};
		m = open_with(&p, &syns);
		tell_all(m, steps[k], &often);
		assert_int_equal(often.n, once.n);
		for (size_t i = 0; i < once.n; i++) {
			assert_int_equal(often.t_ns[i], once.t_ns[i]);
			assert_int_equal(often.seq[i], once.seq[i]);
			assert_int_equal(often.node[i], once.node[i]);
			assert_int_equal(often.mirror_seq[i],
			    once.mirror_seq[i]);
		}
		obs_mirror_free(&often);
		mirror_free(m);
	}
	obs_mirror_free(&once);
}

/* Packet by packet or backwards, numbers go by time. */
static void sightings_may_be_told_in_any_order(void **state)
{
	enum { N = 500 };
	const struct mirror_params p = with(0, 5);
	struct obs_mirror got = {0};
	struct mirror *m = open_with(&p, &syns);
	(void)state;
	for (uint32_t i = N; i-- > 0;) {
		const struct obs_packet x = syn_of(i);
		see(m, 2, i + 1, &x);
	}
	assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
	assert_int_equal(got.n, N);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(got.mirror_seq[i], got.seq[i]);
	obs_mirror_free(&got);
	mirror_free(m);
}

/* --- what a copy has ------------------------------------------------------ */

static sim_ns twice(const void *arg, topo_switch s, sim_ns t)
{
	return 2 * t + s + *(const sim_ns *)arg;
}

static void the_switch_s_clock_is_the_caller_s(void **state)
{
	const struct mirror_params p = with(0, 0);
	const sim_ns more = 1000;
	const struct mirror_clock clock = {&more, twice};
	struct obs_mirror got = {0};
	struct mirror *m;
	const struct obs_packet x = syn_of(1);
	(void)state;
	assert_ok(mirror_open(&m, N_SWITCHES, &p, &syns, 1, &clock, &where,
	    test_err()));
	see(m, 3, 50, &x);
	assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
	assert_int_equal(got.switch_ns[0], 1103);
	assert_int_equal(got.t_ns[0], 50);
	obs_mirror_free(&got);
	mirror_free(m);
}

/* Behind Ethernet's 14 bytes: 20 a header, and 14 of TCP. */
static void a_copy_that_is_cut_short_tells_nothing(void **state)
{
	struct mirror_params p = with(0, 0);
	struct obs_mirror got = {0};
	struct obs_packet x = syn_of(7);
	(void)state;
	p.truncate = 64;
	struct mirror *m =
	    open_with(&p, &(struct obs_match_row){.kind = OBS_COPY_SAMPLE});
	assert_int_equal(mirror_needs(&x), 48);
	see(m, 0, 1, &x);
	obs_packet_wrap(&x, &(struct obs_ip){3, 4, 5, 64, 0, OBS_PROTO_IPIP});
	assert_int_equal(mirror_needs(&x), 68);
	see(m, 0, 2, &x);
	see(m, 0, 3, &x);
	assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
	assert_int_equal(got.n, 1);
	assert_int_equal(mirror_counted(m)[0].n_sent, 3);
	assert_int_equal(mirror_counted(m)[0].n_cut, 2);
	assert_int_equal(mirror_counted(m)[0].n_bytes, 54 + 64 + 64 + 3 * 50);
	obs_mirror_free(&got);
	mirror_free(m);
}

/* Up to what is read of each kind of packet, and no more than the frame has. */
static void each_kind_needs_what_is_read_of_it(void **state)
{
	static const struct {
		uint8_t proto, opcode, n_outer;
		uint16_t dst_port;
		uint32_t need;
	} kinds[] = {
	    {TOPO_PROTO_TCP, 0, 0, 80, 48},
	    {TOPO_PROTO_TCP, 0, 1, 80, 68},
	    {TOPO_PROTO_TCP, OBS_BTH_ACK, 0, OBS_PORT_ROCE, 48},
	    {OBS_PROTO_UDP, 0, 0, 80, 46},
	    {OBS_PROTO_UDP, 0, 0, OBS_PORT_ROCE, 54},
	    {OBS_PROTO_UDP, OBS_BTH_ACK, 0, OBS_PORT_ROCE, 55},
	    {OBS_PROTO_UDP, OBS_BTH_ACK, 1, OBS_PORT_ROCE, 75},
	    {1, 0, 0, 0, 34},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct obs_packet x = {.ethertype = OBS_ETH_IPV4,
		    .ip = {.proto = kinds[i].proto},
		    .dst_port = kinds[i].dst_port,
		    .bth_opcode = kinds[i].opcode,
		    .n_outer = kinds[i].n_outer,
		    .n_bytes = 200};
		assert_int_equal(mirror_needs(&x), kinds[i].need);
		x.n_bytes = kinds[i].need - 1;
		assert_int_equal(mirror_needs(&x), kinds[i].need - 1);
		x.n_bytes = 100;
		x.ethertype = OBS_ETH_IPV4 + 1;
		assert_int_equal(mirror_needs(&x), 100);
	}
}

/* A copy that is lost is not counted as cut as well; room for just what it
 * needs is enough. */
static void what_is_lost_is_not_cut_too(void **state)
{
	static const double loss[] = {0, 1};
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct mirror_params p = with(loss[k], 0);
		struct obs_mirror got = {0};
		struct obs_packet x = syn_of(7);
		p.truncate = 68;
		struct mirror *m = open_with(&p,
		    &(struct obs_match_row){.kind = OBS_COPY_SAMPLE});
		obs_packet_wrap(&x,
		    &(struct obs_ip){3, 4, 5, 64, 0, OBS_PROTO_IPIP});
		see(m, 0, 1, &x);
		obs_packet_wrap(&x,
		    &(struct obs_ip){3, 4, 5, 64, 0, OBS_PROTO_IPIP});
		see(m, 0, 2, &x);
		assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
		assert_int_equal(got.n, 1 - k);
		assert_int_equal(mirror_counted(m)[0].n_sent, 2);
		assert_int_equal(mirror_counted(m)[0].n_lost, 2 * k);
		assert_int_equal(mirror_counted(m)[0].n_cut, 1 - k);
		obs_mirror_free(&got);
		mirror_free(m);
	}
}

/* Memory is for what is under way at a time, whatever becomes of it. */
static void places_are_used_again(void **state)
{
	enum { N = 3000 };
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		const struct mirror_params p = with(k, 1);
		struct mirror *m = open_with(&p, &syns);
		struct obs_mirror got = {0};
		for (uint32_t i = 0; i < N; i++) {
			const struct obs_packet x = syn_of(i);
			see(m, 0, (2 * i + 1) * SIM_MS, &x);
			assert_ok(mirror_take(m, (2 * i + 2) * SIM_MS, &got,
			    test_err()));
			obs_mirror_clear(&got);
			if (i == 10)
				test_peak_alloc();
		}
		assert_int_equal(mirror_counted(m)[0].n_sent, N);
		assert_int_equal(test_peak_alloc(), 0);
		obs_mirror_free(&got);
		mirror_free(m);
	}
}

/* By default a copy has room for all that a packet may have. */
static void by_default_no_packet_is_cut_short(void **state)
{
	const struct mirror_params p = with(0, 0);
	struct sim_rng r;
	(void)state;
	test_rng(&r, 4);
	for (int i = 0; i < 5000; i++) {
		struct obs_packet x;
		packets_any(&x, &r);
		assert_true(mirror_needs(&x) <= p.truncate);
		assert_true(mirror_needs(&x) <= x.n_bytes);
	}
}

static void rows_that_say_never_count_as_none(void **state)
{
	const struct mirror_params p = with(0, 0);
	const struct obs_match_row row[2] = {{.mask = {.is_mirror = 1},
						 .value = {.is_mirror = 1},
						 .kind = OBS_MATCH_NEVER},
	    {.kind = OBS_COPY_SAMPLE}};
	struct obs_mirror got = {0};
	struct obs_packet x = syn_of(1);
	struct mirror *m;
	(void)state;
	assert_ok(
	    mirror_open(&m, N_SWITCHES, &p, row, 2, NULL, &where, test_err()));
	see(m, 0, 1, &x);
	x.is_mirror = 1;
	see(m, 0, 2, &x);
	assert_ok(mirror_take(m, SIM_NEVER, &got, test_err()));
	assert_int_equal(got.n, 1);
	assert_int_equal(got.kind[0], OBS_COPY_SAMPLE);
	assert_int_equal(mirror_counted(m)[0].n_seen, 2);
	assert_int_equal(mirror_counted(m)[0].n_matched, 1);
	obs_mirror_free(&got);
	mirror_free(m);
}

/* --- failures ------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
	struct mirror_params p = with(0, 0);
	struct obs_mirror got = {0};
	struct mirror *m = open_with(&p, &syns), *none;
	const struct packet_eye eye = mirror_eye(m);
	const struct obs_packet x = syn_of(1);
	struct sim_err e;
	(void)state;
	assert_ok(mirror_take(m, 100, &got, test_err()));
	assert_int_equal(eye.see(eye.arg, 0, 0, 100, &x, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "a packet is seen at 100 ns, but copies were taken up to 100 ns.");
	/* To ask for what was taken already changes nothing. */
	assert_ok(mirror_take(m, 50, &got, test_err()));
	assert_int_equal(eye.see(eye.arg, 0, 0, 99, &x, &e), SIM_EINVAL);
	assert_int_equal(eye.see(eye.arg, 5, 0, 101, &x, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "switch 5 mirrors, of 5 switches.");
	for (topo_switch s = 0; s < 5; s++)
		assert_int_equal(mirror_counted(m)[s].n_seen, 0);
	assert_ok(eye.see(eye.arg, 4, 0, 101, &x, test_err()));
	mirror_free(m);
	p.budget = 1;
	p.burst = 177;
	assert_int_equal(mirror_open(&none, N_SWITCHES, &p, &syns, 1, NULL,
			     &where, &e),
	    SIM_EINVAL);
	assert_null(none);
	assert_string_equal(e.msg,
	    "burst 177 is less than a copy of 128 + 50 bytes, so none would "
	    "ever be sent.");
	p.budget = 0;
	mirror_free(open_with(&p, &syns));
	p.budget = 1;
	p.burst = 178;
	mirror_free(open_with(&p, &syns));
	mirror_free(NULL);
	obs_mirror_free(&got);
}

static int some_copies(void *arg, struct sim_err *e)
{
	const struct mirror_params *p = arg;
	struct obs_mirror got = {0};
	struct mirror *m;
	int rc = mirror_open(&m, N_SWITCHES, p, &syns, 1, NULL, &where, e);
	if (rc < 0)
		return rc;
	const struct packet_eye eye = mirror_eye(m);
	for (uint32_t i = 0; rc == 0 && i < 40; i++) {
		const struct obs_packet x = syn_of(i);
		rc = eye.see(eye.arg, 1, 0, 5 + i, &x, e);
	}
	if (rc == 0)
		rc = mirror_take(m, SIM_NEVER, &got, e);
	assert_true(rc < 0 || got.n == 40);
	obs_mirror_free(&got);
	mirror_free(m);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct mirror_params p = with(0, 1);
	(void)state;
	test_each_alloc_fails(some_copies, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(copies_are_lost_at_their_rate_and_told_by_number),
	    cmocka_unit_test(samples_by_id_are_seen_at_all_hops_or_none),
	    cmocka_unit_test(samples_by_chance_are_seldom_seen_at_all_hops),
	    cmocka_unit_test(rows_draw_only_if_they_take_a_share),
	    cmocka_unit_test(a_budget_changes_no_delay),
	    cmocka_unit_test(delays_are_of_the_switch_s_stream),
	    cmocka_unit_test(delays_have_their_mean),
	    cmocka_unit_test(budgets_agree_with_a_level_that_rises),
	    cmocka_unit_test(budgets_are_never_exceeded),
	    cmocka_unit_test(what_the_policer_refuses_costs_no_bytes),
	    cmocka_unit_test(how_often_copies_are_taken_changes_nothing),
	    cmocka_unit_test(sightings_may_be_told_in_any_order),
	    cmocka_unit_test(the_switch_s_clock_is_the_caller_s),
	    cmocka_unit_test(a_copy_that_is_cut_short_tells_nothing),
	    cmocka_unit_test(each_kind_needs_what_is_read_of_it),
	    cmocka_unit_test(what_is_lost_is_not_cut_too),
	    cmocka_unit_test(places_are_used_again),
	    cmocka_unit_test(by_default_no_packet_is_cut_short),
	    cmocka_unit_test(rows_that_say_never_count_as_none),
	    cmocka_unit_test(what_cannot_be_is_refused),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("models/mirror/mirror", tests, NULL,
	    NULL);
}
