/* tests/algos/everflow/debug_ecmp_test.c -- uneven switches, by counts made by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A Clos with three equal next hops wherever there is a choice. Nothing here is
 * statistical: what is even is so to the last flow.
 */
#include "algos/everflow/debug_ecmp.h"

#include "tests/test.h"
#include "topo/addr.h"
#include "topo/next.h"

enum { N_NEXT = 3, EVEN = 1000, ALL = 1440 };

struct ecmp_rig {
	struct topo t;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct algo_debug_out out;
};

static void ecmp_rig_open(struct ecmp_rig *x)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = N_NEXT,
	    .n_t2 = N_NEXT,
	    .n_hosts = 8};
	*x = (struct ecmp_rig){0};
	assert_ok(topo_open_clos(&x->t, &shape, test_err()));
}

static void ecmp_rig_close(struct ecmp_rig *x)
{
	algo_trace_store_free(&x->store);
	algo_counters_free(&x->counters);
	algo_debug_free(&x->out);
	topo_close(&x->t);
}

/* N flows went over each of the links by which switch AT leads to host DST. */
static void ecmp_rig_count(struct ecmp_rig *x, topo_switch at, topo_host dst,
    const double n[N_NEXT])
{
	assert_int_equal(topo_n_next(&x->t, at, dst), N_NEXT);
	for (uint32_t i = 0; i < N_NEXT; i++) {
		const struct algo_counter c = {.t_ns = 50 + 10 * at + i,
		    .id = topo_next(&x->t, at, dst, i),
		    .kind = ALGO_COUNTER_LINK_FLOWS,
		    .value = n[i]};
		assert_ok(algo_counters_add(&x->counters, &c, test_err()));
	}
}

/* ToRs and T1s spread all evenly, but those from T1 FIRST on, of the first pod,
 * that are told. */
static void ecmp_rig_even_but(struct ecmp_rig *x, uint32_t n_t1s,
    const double t1[][N_NEXT])
{
	static const double even[N_NEXT] = {EVEN, EVEN, EVEN};
	const struct topo_clos *c = &x->t.clos;
	const topo_host last = x->t.n_hosts - 1;
	for (uint32_t tor = 0; tor < c->n_tors; tor++)
		ecmp_rig_count(x, topo_tor_of(&x->t, tor * c->n_hosts), last,
		    even);
	for (uint32_t i = 0; i < N_NEXT; i++)
		ecmp_rig_count(x, topo_clos_t1(c, 0, i), last,
		    i < n_t1s ? t1[i] : even);
}

static void ecmp_rig_look(struct ecmp_rig *x)
{
	const struct algo_debug_in in = {.routing = {&x->t, 1, 1},
	    .traces = &x->store,
	    .counters = &x->counters,
	    .now = SIM_SEC};
	struct algo_debug_ecmp_params p;
	assert_ok(sim_field_defaults(algo_debug_ecmp_fields, &p, test_err()));
	algo_debug_clear(&x->out);
	assert_ok(algo_debug_ecmp.step(NULL, &p, &in, &x->out, test_err()));
	assert_int_equal(x->out.n_orders, 0);
}

static void one_is_found(const struct ecmp_rig *x, topo_switch at,
    enum algo_cause cause, topo_link l, double skew)
{
	assert_int_equal(x->out.n_findings, 1);
	const struct algo_finding *f = x->out.finding;
	assert_int_equal(f->node, x->t.n_hosts + at);
	assert_int_equal(f->cause, cause);
	assert_int_equal(f->link, l);
	assert_near(f->rate, skew, 1e-6);
	assert_true(f->lo < skew && skew < f->hi);
	assert_true(f->hi - f->lo < 0.3 * skew);
	assert_true(f->score > 2);
}

/* --- by counters ----------------------------------------------------------- */

static void even_switches_are_not_accused(void **state)
{
	struct ecmp_rig x;
	(void)state;
	ecmp_rig_open(&x);
	ecmp_rig_look(&x);
	assert_int_equal(x.out.n_findings, 0);
	ecmp_rig_even_but(&x, 0, NULL);
	ecmp_rig_look(&x);
	assert_int_equal(x.out.n_findings, 0);
	ecmp_rig_close(&x);
}

/* Beyond chance, but by less than anybody minds; by much of too few to be tested;
 * and of as few as chance makes so uneven each third time. */
static void small_skews_and_few_flows_are_not_accused(void **state)
{
	static const double t1[3][N_NEXT] = {{11400, 9300, 9300}, {15, 14, 0},
	    {14, 9, 7}};
	struct ecmp_rig x;
	(void)state;
	ecmp_rig_open(&x);
	ecmp_rig_even_but(&x, 3, t1);
	ecmp_rig_look(&x);
	assert_int_equal(x.out.n_findings, 0);
	ecmp_rig_close(&x);
}

static void causes_are_told_by_counts(void **state)
{
	static const struct {
		double n[N_NEXT];
		enum algo_cause cause;
		uint32_t at;
		double skew;
	} cases[] = {{{1500, 0, 1500}, ALGO_CAUSE_NARROWED, 1, 1.5},
	    {{1e6, 1e6, 4e6}, ALGO_CAUSE_WEIGHTS, 2, 2},
	    {{1414214, 1e6, 1e6}, ALGO_CAUSE_WEIGHTS, 0, 1.242641},
	    {{15, 15, 0}, ALGO_CAUSE_NARROWED, 2, 1.5},
	    /* Shares of eight and of 128 sorts that no weight of one has. */
	    {{5e5, 2e5, 1e5}, ALGO_CAUSE_HASH_BITS, 0, 1.875},
	    {{41e4, 64e4, 23e4}, ALGO_CAUSE_HASH_BITS, 1, 1.5}};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ecmp_rig x;
		ecmp_rig_open(&x);
		const topo_switch at = topo_clos_t1(&x.t.clos, 0, 0);
		ecmp_rig_even_but(&x, 1, &cases[i].n);
		ecmp_rig_look(&x);
		if (i == 3) { /* of 30 flows a test says something */
			assert_int_equal(x.out.n_findings, 1);
			assert_int_equal(x.out.finding->link,
			    topo_next(&x.t, at, x.t.n_hosts - 1, 2));
		} else {
			one_is_found(&x, at, cases[i].cause,
			    topo_next(&x.t, at, x.t.n_hosts - 1, cases[i].at),
			    cases[i].skew);
		}
		const struct algo_finding *f = x.out.finding;
		assert_int_equal(f->from_ns, 50);
		assert_int_equal(f->to_ns, 52 + 10 * (at + N_NEXT - 1));
		assert_int_equal(f->mask.dst_ip | f->mask.src_ip, 0);
		ecmp_rig_close(&x);
	}
}

static unsigned ecmp_rig_n_polarised(const struct ecmp_rig *x)
{
	unsigned n = 0;
	for (size_t i = 0; i < x->out.n_findings; i++)
		n += x->out.finding[i].cause == ALGO_CAUSE_POLARISED;
	return n;
}

/* Each T1 sends all that ToRs sent it over another T2: together they are even.
 * If two have the same T2 they are not, and if one spreads evenly it did not
 * choose as the ToRs did. */
static void polarised_is_what_is_even_together(void **state)
{
	static const double all[3][N_NEXT] = {{3000, 0, 0}, {0, 3000, 0},
	    {0, 0, 3000}},
			    same[3][N_NEXT] = {{3000, 0, 0}, {3000, 0, 0},
				{0, 0, 3000}};
	struct ecmp_rig x;
	(void)state;
	ecmp_rig_open(&x);
	ecmp_rig_even_but(&x, 3, all);
	ecmp_rig_look(&x);
	assert_int_equal(x.out.n_findings, 3);
	assert_int_equal(ecmp_rig_n_polarised(&x), 3);
	ecmp_rig_close(&x);
	ecmp_rig_open(&x);
	ecmp_rig_even_but(&x, 3, same);
	ecmp_rig_look(&x);
	assert_int_equal(x.out.n_findings, 3);
	assert_int_equal(ecmp_rig_n_polarised(&x), 0);
	ecmp_rig_close(&x);
	ecmp_rig_open(&x);
	ecmp_rig_even_but(&x, 2, all);
	ecmp_rig_look(&x);
	assert_int_equal(x.out.n_findings, 2);
	assert_int_equal(ecmp_rig_n_polarised(&x), 0);
	ecmp_rig_close(&x);
}

/* --- by flows -------------------------------------------------------------- */

static void ecmp_rig_flow(struct ecmp_rig *x, const struct topo_tuple *f,
    uint32_t pos)
{
	const topo_host dst = topo_addr_to_host(f->dst_ip, x->t.n_hosts);
	const struct algo_trace t = {.t_ns = 1,
	    .end_ns = 2,
	    .src_ip = f->src_ip,
	    .dst_ip = f->dst_ip,
	    .src_port = f->src_port,
	    .dst_port = f->dst_port,
	    .proto = f->proto,
	    .flags = OBS_TCP_SYN,
	    .lost_link = TOPO_NONE,
	    .n_hops = 1};
	const struct algo_hop hop = {.t_ns = 1,
	    .node = topo_clos_t1(&x->t.clos, 0, pos),
	    .in_link = topo_next(&x->t, 0, dst, pos)};
	assert_ok(algo_trace_store_add(&x->store, &t, &hop, test_err()));
}

static struct topo_tuple flow_at(unsigned i)
{
	return (struct topo_tuple){topo_addr_of_host(i % 8),
	    topo_addr_of_host(8 + i / 8 % 24), (uint16_t)(1024 + i),
	    (uint16_t)(80 + i / 2 % 2), TOPO_PROTO_TCP};
}

static int is_within(const struct topo_tuple *f, const struct topo_tuple *value,
    const struct topo_tuple *mask)
{
	return (f->src_ip & mask->src_ip) == value->src_ip &&
	    (f->dst_ip & mask->dst_ip) == value->dst_ip &&
	    (f->src_port & mask->src_port) == value->src_port &&
	    (f->dst_port & mask->dst_port) == value->dst_port;
}

/* Flows to eight addresses, or from or to odd ports, never take the third next
 * hop: just those are named. */
static void the_subset_is_named(void **state)
{
	const uint32_t eight = topo_addr_of_host(23);
	const struct topo_tuple of[3][2] = {{{.dst_ip = eight},
						{.dst_ip = UINT32_MAX << 3}},
	    {{.src_port = 1}, {.src_port = 1}},
	    {{.dst_port = 1}, {.dst_port = 1}}};
	(void)state;
	for (unsigned c = 0; c < 3; c++) {
		const struct topo_tuple *value = &of[c][0], *mask = &of[c][1];
		unsigned n_in = 0, n_out = 0;
		struct ecmp_rig x;
		ecmp_rig_open(&x);
		for (unsigned i = 0; i < ALL; i++) {
			const struct topo_tuple f = flow_at(i);
			ecmp_rig_flow(&x, &f,
			    is_within(&f, value, mask) ? n_in++ % 2
						       : n_out++ % N_NEXT);
		}
		assert_true(n_in > 0 && n_out > 0);
		ecmp_rig_look(&x);
		one_is_found(&x, 0, ALGO_CAUSE_NARROWED,
		    topo_next(&x.t, 0, 31, 2), 1.5);
		assert_memory_equal(&x.out.finding->value, value,
		    sizeof(*value));
		assert_memory_equal(&x.out.finding->mask, mask, sizeof(*mask));
		assert_int_equal(x.out.finding->from_ns, 0);
		assert_int_equal(x.out.finding->to_ns, 0);
		ecmp_rig_close(&x);
	}
}

/* If all flows avoid a next hop, that is of no subset. */
static void what_all_flows_do_is_of_no_subset(void **state)
{
	static const struct topo_tuple none;
	struct ecmp_rig x;
	(void)state;
	ecmp_rig_open(&x);
	for (unsigned i = 0; i < ALL; i++) {
		const struct topo_tuple f = flow_at(i);
		ecmp_rig_flow(&x, &f, topo_mix32(i) % 2);
	}
	ecmp_rig_look(&x);
	assert_int_equal(x.out.n_findings, 1);
	assert_int_equal(x.out.finding->cause, ALGO_CAUSE_NARROWED);
	assert_int_equal(x.out.finding->link, topo_next(&x.t, 0, 31, 2));
	assert_memory_equal(&x.out.finding->mask, &none, sizeof(none));
	ecmp_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(even_switches_are_not_accused),
	    cmocka_unit_test(small_skews_and_few_flows_are_not_accused),
	    cmocka_unit_test(causes_are_told_by_counts),
	    cmocka_unit_test(polarised_is_what_is_even_together),
	    cmocka_unit_test(the_subset_is_named),
	    cmocka_unit_test(what_all_flows_do_is_of_no_subset),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug_ecmp", tests,
	    NULL, NULL);
}
