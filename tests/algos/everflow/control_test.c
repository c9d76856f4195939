/* tests/algos/everflow/control_test.c -- the controller: what it does, and never.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random lives are checked by rules that hold each time; nothing is statistical.
 */
#include "algos/everflow/control.h"

#include <gsl/gsl_cdf.h>

#include "tests/test.h"

struct fixture {
	struct topo net;
	struct algo_control_params params;
	struct algo_admission_params capacity;
	struct algo_control *c;
	struct algo_control_out out;
};

static void setup(struct fixture *f)
{
	const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	*f = (struct fixture){0};
	assert_ok(topo_open_clos(&f->net, &shape, test_err()));
	assert_ok(
	    sim_field_defaults(algo_control_fields, &f->params, test_err()));
	assert_ok(sim_field_defaults(algo_admission_fields, &f->capacity,
	    test_err()));
	assert_ok(algo_control_open(&f->c, &f->net, &f->params, &f->capacity,
	    test_err()));
}

static void teardown(struct fixture *f)
{
	algo_control_close(f->c);
	algo_control_out_free(&f->out);
	topo_close(&f->net);
}

/* Rows of a span of 10 s: each host sent N packets of 100 bytes, as counted by
 * two analyzers. */
static void hear(struct fixture *f, sim_ns now, double n)
{
	struct algo_counters rows = {0};
	for (topo_host h = 0; h < f->net.n_hosts; h++)
		for (unsigned k = 0; k < 4; k++) {
			const struct algo_counter row = {.t_ns = now,
			    .analyzer = k / 2,
			    .id = topo_link_of(h, TOPO_UP),
			    .kind = k % 2 ? ALGO_COUNTER_LINK_BYTES
					  : ALGO_COUNTER_LINK_PACKETS,
			    .value = n / 2 * (k % 2 ? 100 : 1)};
			assert_ok(algo_counters_add(&rows, &row, test_err()));
		}
	assert_ok(algo_control_counters(f->c, now, 10 * SIM_SEC, &rows, &f->out,
	    test_err()));
	algo_counters_free(&rows);
}

static int ask(struct fixture *f, sim_ns now, const struct algo_request *r,
    struct sim_err *e)
{
	f->out.n = 0;
	return algo_control_ask(f->c, now, r, &f->out, e);
}

static const topo_host server[] = {3, 1, 6};

static struct algo_request enable(size_t n)
{
	return (struct algo_request){.kind = ALGO_ENABLE_DEBUG,
	    .filter = "tcp.dst == 80",
	    .server = server,
	    .n_servers = n};
}

static const struct algo_action *said(const struct fixture *f,
    enum algo_action_kind kind)
{
	for (size_t i = 0; i < f->out.n; i++)
		if (f->out.action[i].kind == kind)
			return &f->out.action[i];
	return NULL;
}

static void refused(struct fixture *f, const struct algo_request *r, int code,
    const char *word)
{
	struct sim_err e = {0};
	const uint32_t n = algo_control_n_sessions(f->c);
	const int rc = ask(f, 0, r, &e);
	if (rc != code || !strstr(e.msg, word))
		fail_msg("%s (%s), wanted \"%s\"", e.msg, sim_err_text(rc),
		    word);
	assert_int_equal(f->out.n, 0);
	assert_int_equal(algo_control_n_sessions(f->c), n);
}

/* --- traces, counters, probes ----------------------------------------------- */

static void traces_are_looked_up_by_both_expressions(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	struct algo_request r = {.kind = ALGO_GET_TRACE,
	    .filter = "drop",
	    .condition = "last == t1.2",
	    .start_ns = 5,
	    .end_ns = 9};
	assert_ok(ask(&f, 0, &r, test_err()));
	const struct algo_action *a = said(&f, ALGO_LOOK_UP);
	assert_non_null(a);
	assert_int_equal(a->filter->n, 1);
	assert_true(a->condition->is_condition);
	assert_true(a->start_ns == 5 && a->end_ns == 9);
	r.end_ns = 5;
	refused(&f, &r, SIM_ERANGE, "nothing is from 5");
	r.end_ns = 9;
	r.filter = "last == t1.2";
	refused(&f, &r, SIM_EINVAL, "filter: column 1");
	r.filter = NULL;
	r.condition = "lats == t1.2";
	refused(&f, &r, SIM_EINVAL, "condition: column 1");
	teardown(&f);
}

static void counters_come_and_go_by_name(void **state)
{
	(void)state;
	struct fixture f;
	char name[80];
	setup(&f);
	struct algo_request add = {.kind = ALGO_ADD_COUNTER,
	    .name = "web",
	    .filter = "tcp.dst == 80"};
	struct algo_request get = {.kind = ALGO_GET_COUNTER,
	    .name = "web",
	    .end_ns = 1};
	struct algo_request rid = {.kind = ALGO_REMOVE_COUNTER, .name = "web"};
	refused(&f, &get, SIM_EINVAL, "there is no counter \"web\"");
	assert_ok(ask(&f, 0, &add, test_err()));
	const uint32_t id = said(&f, ALGO_COUNT)->id;
	assert_int_equal(said(&f, ALGO_COUNT)->filter->n, 1);
	refused(&f, &add, SIM_ELIMIT, "there is a counter \"web\"");
	assert_ok(ask(&f, 0, &get, test_err()));
	assert_int_equal(said(&f, ALGO_SUM_UP)->id, id);
	assert_ok(ask(&f, 0, &rid, test_err()));
	assert_int_equal(said(&f, ALGO_UNCOUNT)->id, id);
	refused(&f, &rid, SIM_EINVAL, "there is no counter");
	/* A name that comes again is another counter: rows of the old one are
	 * still in the store. */
	assert_ok(ask(&f, 0, &add, test_err()));
	assert_int_not_equal(said(&f, ALGO_COUNT)->id, id);
	add.name = "";
	refused(&f, &add, SIM_EINVAL, "1 to 63 bytes");
	memset(name, 'x', 64);
	name[64] = '\0';
	add.name = name;
	refused(&f, &add, SIM_EINVAL, "1 to 63 bytes");
	for (unsigned i = 1; i < ALGO_CUSTOM_MAX - 1; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		assert_ok(ask(&f, 0, &add, test_err()));
	}
	add.name = "more";
	refused(&f, &add, SIM_ELIMIT, "room for 64");
	teardown(&f);
}

static void probes_get_ids_and_are_checked(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	const struct algo_request good = {.kind = ALGO_PROBE,
	    .probe = {.tuple = {1, 2, 3, 4, 6},
		.n_via = 2,
		.via = {0, 9},
		.count = 100,
		.interval_ns = 5}};
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(ask(&f, 0, &good, test_err()));
		assert_int_equal(said(&f, ALGO_SEND)->probe.id, i + 1);
		assert_int_equal(said(&f, ALGO_SEND)->probe.count, 100);
	}
	struct algo_request bad = good;
	bad.probe.count = 0;
	refused(&f, &bad, SIM_ERANGE, "0 probes");
	bad = good;
	bad.probe.interval_ns = 0;
	refused(&f, &bad, SIM_ERANGE, "without time");
	bad = good;
	bad.probe.via[1] = 10;
	refused(&f, &bad, SIM_ERANGE, "by switch 10");
	bad = good;
	bad.probe.n_via = OBS_MAX_VIA + 1;
	refused(&f, &bad, SIM_ERANGE, "by 4 switches");
	bad = good;
	bad.probe.n_via = 0;
	bad.probe.tuple.dst_ip = 0;
	refused(&f, &bad, SIM_ERANGE, "must be a destination");
	teardown(&f);
}

/* --- rates ------------------------------------------------------------------ */

/* 3 servers that sent 5 sampled packets of 100 bytes each in 10 s. */
static void rates_are_upper_ends_of_intervals(void **state)
{
	(void)state;
	struct fixture f;
	double packets_s, bytes_s;
	setup(&f);
	for (unsigned n = 0; n < 400; n = n < 20 ? n + 1 : 2 * n) {
		hear(&f, 0, n);
		algo_control_rate(f.c, server, 3, &packets_s, &bytes_s);
		/* Garwood's upper end, exactly. */
		const double upper = 0.5 * gsl_cdf_chisq_Pinv(0.95, 2 * n + 2);
		const double want = 3 * upper * 1024 / 10;
		if (packets_s < 0.98 * want || packets_s > 1.02 * want)
			fail_msg("%u seen: %g packets/s, not %g", n, packets_s,
			    want);
		assert_near(bytes_s, packets_s * (n > 0 ? 100 : 1514),
		    1e-9 * bytes_s);
	}
	teardown(&f);
}

/* --- sessions --------------------------------------------------------------- */

static void what_is_admitted_is_marked_and_counted(void **state)
{
	(void)state;
	struct fixture f;
	double packets_s, bytes_s;
	setup(&f);
	const struct algo_request r = enable(3);
	refused(&f, &r, SIM_EINVAL, "before the first counters");
	hear(&f, 0, 10);
	assert_ok(ask(&f, 0, &r, test_err()));
	const struct algo_action *a = said(&f, ALGO_MARK);
	assert_non_null(a);
	assert_true(a->n_servers == 3 && a->server[2] == 6);
	const struct algo_action *count = said(&f, ALGO_COUNT);
	assert_int_equal(count->id, ALGO_SESSION_COUNTER + a->id);
	/* debug, !probe, and the filter's. */
	assert_int_equal(count->filter->n, 3);
	assert_int_equal(f.out.action[2].id, ALGO_SESSION_COUNTER);
	algo_control_rate(f.c, server, 3, &packets_s, &bytes_s);
	const struct algo_load used = algo_control_used(f.c),
			       need = algo_admission_need(&f.capacity,
				   packets_s, bytes_s);
	for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++)
		assert_true(used.of[i] == need.of[i]);
	const uint32_t id = a->id;
	const struct algo_request off = {.kind = ALGO_DISABLE_DEBUG,
	    .session = id};
	assert_ok(ask(&f, 0, &off, test_err()));
	assert_int_equal(said(&f, ALGO_UNMARK)->id, id);
	assert_int_equal(said(&f, ALGO_UNMARK)->why, ALGO_END_DISABLED);
	assert_true(algo_control_used(f.c).of[0] == 0);
	refused(&f, &off, SIM_EINVAL, "there is no session 1");
	teardown(&f);
}

static void what_cannot_be_marked_is_refused(void **state)
{
	(void)state;
	static const topo_host twice[] = {1, 1}, none[] = {8};
	struct fixture f;
	setup(&f);
	hear(&f, 0, 10);
	struct algo_request r = enable(0);
	refused(&f, &r, SIM_EINVAL, "no server");
	r = enable(2);
	r.server = twice;
	refused(&f, &r, SIM_EINVAL, "server 1 is named twice");
	r = enable(1);
	r.server = none;
	refused(&f, &r, SIM_ERANGE, "server 8; there are 8");
	r = enable(1);
	r.filter = "switch == tor0";
	refused(&f, &r, SIM_EINVAL, "by headers alone");
	r = enable(1);
	r.filter = "ip.sorc == 1";
	refused(&f, &r, SIM_EINVAL, "did you mean");
	r = enable(1);
	r.sample_bits = 17;
	refused(&f, &r, SIM_ERANGE, "at most 2^16");
	teardown(&f);
}

static void a_refusal_tells_what_would_fit(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	hear(&f, 0, 1e5);
	struct algo_request r = enable(3);
	assert_ok(ask(&f, 0, &r, test_err()));
	const struct algo_action *a = said(&f, ALGO_REFUSED);
	assert_non_null(a);
	assert_int_equal(f.out.n, 1);
	assert_int_equal(algo_control_n_sessions(f.c), 0);
	/* 31 M packets/s at 5 switches are 77 times what two analyzers take,
	 * 150 bytes each 367 times what a switch may mirror. */
	assert_int_equal(a->refusal.bottleneck, ALGO_CAPACITY_SWITCH);
	assert_int_equal(a->refusal.sample_bits, 9);
	r.sample_bits = a->refusal.sample_bits;
	assert_ok(ask(&f, 0, &r, test_err()));
	assert_int_equal(said(&f, ALGO_MARK)->sample_bits, 9);
	teardown(&f);
}

static void sessions_expire(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	hear(&f, 0, 10);
	struct algo_request r = enable(1);
	r.life_ns = 30 * SIM_SEC;
	assert_ok(ask(&f, 0, &r, test_err()));
	r.life_ns = 0;
	assert_ok(ask(&f, SIM_SEC, &r, test_err()));
	/* Nobody may ask for more than parameter life_s. */
	r.life_ns = SIM_NEVER;
	assert_ok(ask(&f, 2 * SIM_SEC, &r, test_err()));
	static const struct {
		sim_ns at;
		uint32_t left;
	} when[] = {{30 * SIM_SEC - 1, 3}, {30 * SIM_SEC, 2},
	    {601 * SIM_SEC - 1, 2}, {601 * SIM_SEC, 1}, {602 * SIM_SEC, 0}};
	for (size_t i = 0; i < sizeof(when) / sizeof(when[0]); i++) {
		f.out.n = 0;
		assert_ok(
		    algo_control_tick(f.c, when[i].at, &f.out, test_err()));
		assert_int_equal(algo_control_n_sessions(f.c), when[i].left);
		const struct algo_action *a = said(&f, ALGO_UNMARK);
		if (a)
			assert_int_equal(a->why, ALGO_END_EXPIRED);
	}
	assert_true(algo_control_used(f.c).of[ALGO_CAPACITY_LINK] == 0);
	teardown(&f);
}

static void hear_marked(struct fixture *f, sim_ns now, double all,
    const double of[2])
{
	struct algo_counters rows = {0};
	const double value[] = {all, of[0], of[1]};
	f->out.n = 0;
	for (uint32_t i = 0; i < 3; i++) {
		const struct algo_counter row = {.t_ns = now,
		    .id = ALGO_SESSION_COUNTER + i,
		    .kind = ALGO_COUNTER_CUSTOM,
		    .value = value[i]};
		assert_ok(algo_counters_add(&rows, &row, test_err()));
	}
	assert_ok(algo_control_counters(f->c, now, 10 * SIM_SEC, &rows, &f->out,
	    test_err()));
	algo_counters_free(&rows);
}

/* Two of some 1,950 packets/s each. That one has more than its own is fine, as
 * long as both have not more than both; and then the other one stays. */
static void who_exceeds_most_is_ended(void **state)
{
	(void)state;
	struct fixture f;
	double packets_s, bytes_s;
	setup(&f);
	hear(&f, 0, 10);
	algo_control_rate(f.c, server, 1, &packets_s, &bytes_s);
	const double n = 10 * packets_s;
	const struct algo_request r = enable(1);
	assert_ok(ask(&f, 0, &r, test_err()));
	assert_ok(ask(&f, 0, &r, test_err()));
	hear_marked(&f, SIM_SEC, 2.19 * n, (double[]){0.4 * n, 1.79 * n});
	assert_int_equal(f.out.n, 0);
	/* Each packet is both's. */
	hear_marked(&f, 2 * SIM_SEC, 2.19 * n, (double[]){2.19 * n, 2.19 * n});
	assert_int_equal(f.out.n, 0);
	hear_marked(&f, 3 * SIM_SEC, 2.21 * n, (double[]){0.4 * n, 1.81 * n});
	const struct algo_action *a = said(&f, ALGO_UNMARK);
	assert_non_null(a);
	assert_int_equal(a->id, 2);
	assert_int_equal(a->why, ALGO_END_EXCESS);
	assert_near(a->measured_pps, 0.181 * n, 1);
	assert_near(a->reserved_pps, packets_s, 1e-6);
	assert_int_equal(algo_control_n_sessions(f.c), 1);
	teardown(&f);
}

/* --- random lives ----------------------------------------------------------- */

static void assert_within(const struct fixture *f, uint32_t run)
{
	const struct algo_load used = algo_control_used(f->c),
			       full = algo_admission_capacity(&f->capacity);
	for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++)
		if (used.of[i] > full.of[i])
			fail_msg("seed %llu run %u: capacity %u, %g of %g",
			    (unsigned long long)test_seed(), run, i, used.of[i],
			    full.of[i]);
}

/* How many packets are marked, and counters under way, by what was said. */
static void follow(struct fixture *f, int *n_marks, int *n_counts)
{
	for (size_t i = 0; i < f->out.n; i++) {
		const enum algo_action_kind k = f->out.action[i].kind;
		*n_marks += (k == ALGO_MARK) - (k == ALGO_UNMARK);
		*n_counts += (k == ALGO_COUNT) - (k == ALGO_UNCOUNT);
	}
	assert_true(*n_counts <= ALGO_CUSTOM_MAX);
	f->out.n = 0;
}

static void live(struct fixture *f, struct sim_rng *r, sim_ns now,
    unsigned *n_refused)
{
	topo_host some[8];
	struct algo_request q = {.kind = ALGO_ENABLE_DEBUG,
	    .server = some,
	    .n_servers = 1 + sim_rng_below(r, 8),
	    .sample_bits = sim_rng_below(r, 6),
	    .life_ns = sim_rng_below(r, 200) * SIM_SEC,
	    .filter = sim_rng_below(r, 2) ? "tcp.flags & SYN" : NULL};
	for (size_t i = 0; i < q.n_servers; i++)
		some[i] = (topo_host)((i * 3 + 1) % 8);
	if (sim_rng_below(r, 3) == 0) {
		q.kind = ALGO_DISABLE_DEBUG;
		q.session = 1 + sim_rng_below(r, 200);
	}
	/* Sessions that are none, and too many, are errors. */
	f->out.n = 0;
	algo_control_ask(f->c, now, &q, &f->out, NULL);
	*n_refused += said(f, ALGO_REFUSED) != NULL;
}

static void nothing_is_ever_over_capacity(void **state)
{
	(void)state;
	unsigned n_refused = 0, most = 0;
	for (uint32_t run = 0; run < 40; run++) {
		struct fixture f;
		struct sim_rng r;
		sim_ns now = 0;
		int n_marks = 0, n_counts = 0;
		test_rng(&r, run);
		setup(&f);
		for (unsigned i = 0; i < 300; i++) {
			now += sim_rng_below(&r, 5) * SIM_SEC;
			if (i % 20 == 0)
				hear(&f, now, sim_rng_below(&r, 300));
			else
				live(&f, &r, now, &n_refused);
			follow(&f, &n_marks, &n_counts);
			assert_within(&f, run);
			const uint32_t n = algo_control_n_sessions(f.c);
			assert_int_equal(n_marks, n);
			assert_int_equal(n_counts, n > 0 ? n + 1 : 0);
			most = n > most ? n : most;
		}
		assert_ok(algo_control_tick(f.c, now + 601 * SIM_SEC, &f.out,
		    test_err()));
		follow(&f, &n_marks, &n_counts);
		assert_true(n_marks == 0 && n_counts == 0);
		assert_true(algo_control_used(f.c).of[0] == 0);
		teardown(&f);
	}
	/* There were some of both kinds, or nothing was tried. */
	assert_true(n_refused > 100 && most > 5);
}

static int one_life(void *net, struct sim_err *e)
{
	struct algo_control_params p = {1, 10, 2};
	struct algo_admission_params none = {.hops = 1};
	struct algo_control_out out = {0};
	struct algo_control *c;
	const struct algo_request r = {.kind = ALGO_ADD_COUNTER, .name = "x"};
	int rc = algo_control_open(&c, net, &p, &none, e);
	if (rc < 0)
		return rc;
	rc = algo_control_ask(c, 0, &r, &out, e);
	algo_control_out_free(&out);
	algo_control_close(c);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	test_each_alloc_fails(one_life, &f.net);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(traces_are_looked_up_by_both_expressions),
	    cmocka_unit_test(counters_come_and_go_by_name),
	    cmocka_unit_test(probes_get_ids_and_are_checked),
	    cmocka_unit_test(rates_are_upper_ends_of_intervals),
	    cmocka_unit_test(what_is_admitted_is_marked_and_counted),
	    cmocka_unit_test(what_cannot_be_marked_is_refused),
	    cmocka_unit_test(a_refusal_tells_what_would_fit),
	    cmocka_unit_test(sessions_expire),
	    cmocka_unit_test(who_exceeds_most_is_ended),
	    cmocka_unit_test(nothing_is_ever_over_capacity),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("algos/everflow/control", tests,
	    NULL, NULL);
}
