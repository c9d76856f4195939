/* tests/algos/everflow/meter_test.c -- what an analyzer counts, row by row.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/meter.h"

#include "tests/test.h"
#include "topo/addr.h"
#include "topo/mesh.h"

enum { AT = 1000, MOST_HOPS = 6 };

static struct topo net;

static int open_net(void **state)
{
	struct topo_mesh *m;
	(void)state;
	return topo_mesh_fat_tree(&m, 4, 0, test_err()) < 0
	    ? -1
	    : topo_open_mesh(&net, m, test_err());
}

static int close_net(void **state)
{
	(void)state;
	topo_close(&net);
	return 0;
}

static void open_meter(struct algo_meter *a, uint32_t index)
{
	assert_ok(algo_meter_open(a, &net, index, test_err()));
}

static void see(struct algo_meter *a, uint32_t marks, unsigned n,
    const struct algo_hop hop[], struct algo_counters *c)
{
	const struct algo_trace t = {.marks = marks, .n_hops = (uint16_t)n};
	assert_ok(algo_meter_trace(a, &t, hop, AT, c, test_err()));
}

/* The rows that are there now, which are taken away. */
static void put(struct algo_meter *a, sim_ns now, struct algo_counters *c)
{
	algo_counters_clear(c);
	assert_ok(algo_meter_put(a, now, c, test_err()));
}

static double sum_of(const struct algo_counters *c, enum algo_counter_kind kind,
    uint32_t id, uint32_t sub)
{
	double sum = 0;
	for (size_t i = 0; i < c->n; i++)
		if (c->kind[i] == kind && c->id[i] == id && c->sub[i] == sub)
			sum += c->value[i];
	return sum;
}

/* How much was counted of KIND in all. */
static double all_of(const struct algo_counters *c, enum algo_counter_kind kind)
{
	double sum = 0;
	for (size_t i = 0; i < c->n; i++)
		sum += c->kind[i] == kind ? c->value[i] : 0;
	return sum;
}

/* --- bins ----------------------------------------------------------------- */

static void bins_are_a_fourth_of_an_octave_from_a_microsecond(void **state)
{
	(void)state;
	assert_int_equal(algo_latency_bin_ns(0), 1189);
	assert_int_equal(algo_latency_bin_ns(3), 2000);
	assert_int_equal(algo_latency_bin_ns(7), 4000);
	assert_int_equal(algo_latency_bin_ns(59), 32768000);
	assert_int_equal(algo_latency_bin_ns(62), 55108987);
	assert_int_equal(algo_latency_bin_ns(63), UINT64_MAX);
	assert_int_equal(algo_latency_bin(0), 0);
	for (unsigned i = 0; i < ALGO_LATENCY_BINS - 1; i++) {
		const uint64_t end = algo_latency_bin_ns(i);
		assert_int_equal(algo_latency_bin(end - 1), i);
		assert_int_equal(algo_latency_bin(end), i + 1);
	}
	assert_int_equal(algo_latency_bin(UINT64_MAX), ALGO_LATENCY_BINS - 1);
}

/* --- links ---------------------------------------------------------------- */

struct link_sums {
	double packets, bytes, flows;
};

static struct algo_trace draw_trace(struct sim_rng *r,
    struct algo_hop hop[MOST_HOPS], topo_link in[MOST_HOPS])
{
	static const uint8_t protos[] = {TOPO_PROTO_TCP, TOPO_PROTO_TCP, 17};
	const struct algo_trace t = {.n_hops = (uint16_t)sim_rng_below(r,
					 MOST_HOPS + 1),
	    .n_bytes = 40 + sim_rng_below(r, 1460),
	    .marks = sim_rng_below(r, 3) ? 0 : ALGO_TRACE_RETX,
	    .flags = sim_rng_below(r, 2) ? OBS_TCP_SYN : 0,
	    .proto = protos[sim_rng_below(r, 3)]};
	for (unsigned i = 0; i < t.n_hops; i++) {
		in[i] = sim_rng_below(r, net.n_links + 2);
		if (in[i] == net.n_links + 1)
			in[i] = TOPO_NONE;
		hop[i] = (struct algo_hop){.in_link = in[i],
		    .layer = (uint8_t)sim_rng_below(r, 3)};
	}
	return t;
}

/* Rows of links: packets, bytes and flows of each in turn, what is 0 left out. */
static void assert_links(const struct algo_counters *c,
    const struct link_sums want[], sim_ns now)
{
	size_t at = 0;
	for (topo_link l = 0; l < net.n_links; l++) {
		const double of[] = {want[l].packets, want[l].bytes,
		    want[l].flows};
		for (unsigned k = 0; k < 3; k++) {
			if (of[k] == 0)
				continue;
			assert_true(at < c->n);
			assert_int_equal(c->kind[at],
			    ALGO_COUNTER_LINK_PACKETS + k);
			assert_int_equal(c->id[at], l);
			assert_int_equal(c->sub[at], 0);
			assert_int_equal(c->t_ns[at], now);
			assert_int_equal(c->analyzer[at], 5);
			assert_true(c->value[at++] == of[k]);
		}
	}
	assert_int_equal(c->n, at);
}

static void links_have_packets_bytes_and_flows_of_all_traces(void **state)
{
	(void)state;
	struct algo_counters c = {0};
	struct algo_meter a;
	struct sim_rng r;
	test_rng(&r, 0);
	open_meter(&a, 5);
	for (unsigned step = 1; step < 4; step++) {
		struct link_sums want[200] = {{0}};
		assert_true(net.n_links <= 200);
		for (unsigned i = 0; i < 60; i++) {
			struct algo_hop hop[MOST_HOPS];
			topo_link in[MOST_HOPS];
			const struct algo_trace t = draw_trace(&r, hop, in);
			const int bare = sim_rng_below(&r, 2) != 0;
			if (bare)
				algo_meter_bare(&a, &t, in);
			else
				assert_ok(algo_meter_trace(&a, &t, hop, AT, &c,
				    test_err()));
			for (unsigned k = 0; k < t.n_hops; k++) {
				if (in[k] >= net.n_links)
					continue;
				want[in[k]].packets++;
				want[in[k]].bytes +=
				    t.n_bytes + (bare ? 0 : 20. * hop[k].layer);
				want[in[k]].flows += t.flags == OBS_TCP_SYN &&
				    t.proto == TOPO_PROTO_TCP && t.marks == 0;
			}
		}
		put(&a, step * 7, &c);
		assert_links(&c, want, step * 7);
	}
	put(&a, 99, &c);
	assert_int_equal(c.n, 0);
	algo_meter_close(&a);
	assert_null(a.link);
	algo_counters_free(&c);
}

/* --- round trips ---------------------------------------------------------- */

/* There and back over LINK in RTT ns, the innermost header last. */
static void bounce(struct algo_hop h[3], topo_link link, sim_ns begin,
    sim_ns rtt)
{
	memset(h, 0, 3 * sizeof(*h));
	for (unsigned i = 0; i < 3; i++) {
		h[i].layer = (uint8_t)(2 - i);
		h[i].node = i == 1 ? 8 : 3;
		h[i].t_ns = begin + i * rtt / 2;
		h[i].in_link = TOPO_NONE;
	}
	h[1].in_link = link;
	h[2].in_link = topo_link_reverse(link);
}

static void a_probe_there_and_back_times_its_link(void **state)
{
	(void)state;
	struct algo_counters c = {0};
	struct algo_meter a;
	struct algo_hop h[6];
	const topo_link l = net.n_links - 2;
	open_meter(&a, 0);
	bounce(h, l, 500, 4000);
	see(&a, ALGO_TRACE_PROBE, 3, h, &c);
	see(&a, ALGO_TRACE_PROBE, 3, h, &c);
	h[2].t_ns = h[0].t_ns - 1; /* mirrors turned them round */
	see(&a, ALGO_TRACE_PROBE, 3, h, &c);
	put(&a, AT, &c);
	assert_true(sum_of(&c, ALGO_COUNTER_LINK_LATENCY, l, 8) == 2);
	assert_true(sum_of(&c, ALGO_COUNTER_LINK_LATENCY, l, 0) == 1);
	assert_true(all_of(&c, ALGO_COUNTER_LINK_LATENCY) == 3);
	/* Twice in one trace, the second time behind the first. */
	bounce(h + 3, l - 2, 5000, 1);
	bounce(h, l, 500, 4000);
	see(&a, ALGO_TRACE_PROBE, 6, h, &c);
	put(&a, AT, &c);
	assert_true(sum_of(&c, ALGO_COUNTER_LINK_LATENCY, l, 8) == 1);
	assert_true(sum_of(&c, ALGO_COUNTER_LINK_LATENCY, l - 2, 0) == 1);
	assert_true(all_of(&c, ALGO_COUNTER_LINK_LATENCY) == 2);
	algo_meter_close(&a);
	algo_counters_free(&c);
}

/* All that makes it a round trip, each left out once. */
static void what_is_no_round_trip_is_not_timed(void **state)
{
	(void)state;
	struct algo_counters c = {0};
	struct algo_meter a;
	open_meter(&a, 0);
	for (unsigned k = 0; k < 9; k++) {
		struct algo_hop h[3];
		bounce(h, 10, 500, 4000);
		h[2].node += k == 1;
		if (k == 2)
			h[1].in_link = net.n_links;
		if (k == 3)
			h[2].in_link = 10;
		h[0].layer = (uint8_t)(h[0].layer + (k == 4));
		if (k == 5)
			h[2].layer = 1;
		if (k == 6)
			h[0].layer = h[1].layer = 0;
		see(&a, k == 7 ? ALGO_TRACE_MUX : ALGO_TRACE_PROBE,
		    k == 8 ? 2 : 3, h, &c);
		put(&a, AT, &c);
		assert_true(all_of(&c, ALGO_COUNTER_LINK_LATENCY) == (k == 0));
		assert_true(all_of(&c, ALGO_COUNTER_MUX_LATENCY) == 0);
	}
	algo_meter_close(&a);
	algo_counters_free(&c);
}

static void a_mux_is_timed_at_its_tor_alone(void **state)
{
	(void)state;
	struct algo_counters c = {0};
	struct algo_meter a;
	open_meter(&a, 0);
	for (unsigned k = 0; k < 9; k++) {
		struct algo_hop h[4] = {{.node = 1, .t_ns = 100},
		    {.node = 2, .t_ns = 200},
		    {.node = 2, .t_ns = 4200, .layer = 1},
		    {.node = 2, .t_ns = 9200, .layer = 1}};
		h[2].outer_src = topo_addr_of_host(6);
		h[3].outer_src = topo_addr_of_host(7);
		if (k == 1)
			h[2].node = h[3].node = 3;
		if (k == 2)
			h[1].layer = 1;
		if (k == 3)
			h[2].layer = h[3].layer = 0;
		if (k == 4)
			h[2].outer_src = 1; /* nobody's */
		if (k == 8)
			h[2].outer_src = topo_addr_of_switch(0);
		see(&a,
		    k == 5       ? ALGO_TRACE_ENCAP
			: k == 6 ? ALGO_TRACE_MUX | ALGO_TRACE_PROBE
				 : ALGO_TRACE_MUX,
		    k == 7 ? 2 : 4, h, &c);
		put(&a, AT, &c);
		assert_true(
		    sum_of(&c, ALGO_COUNTER_MUX_LATENCY, 6, 8) == (k == 0));
		assert_true(all_of(&c, ALGO_COUNTER_MUX_LATENCY) == (k == 0));
	}
	algo_meter_close(&a);
	algo_counters_free(&c);
}

/* Half of the cells are all that are used; then they are put out at once, and
 * nothing is lost of what was counted. */
static void full_cells_are_put_out_and_begun_anew(void **state)
{
	(void)state;
	enum { N = ALGO_METER_CELLS / 2 };
	struct algo_counters c = {0};
	struct algo_meter a;
	struct algo_hop h[3];
	open_meter(&a, 2);
	for (unsigned i = 0; i <= N; i++) {
		const unsigned bin = i % ALGO_LATENCY_BINS;
		assert_int_equal(c.n, 0);
		assert_int_equal(a.n_cells, i);
		bounce(h, i / ALGO_LATENCY_BINS, 0,
		    bin > 0 ? algo_latency_bin_ns(bin - 1) + 1 : 0);
		h[2].t_ns = bin > 0 ? algo_latency_bin_ns(bin - 1) : 0;
		see(&a, ALGO_TRACE_PROBE, 3, h, &c);
	}
	assert_int_equal(c.n, N);
	assert_int_equal(a.n_cells, 1);
	for (unsigned i = 0; i < N; i++)
		assert_true(
		    sum_of(&c, ALGO_COUNTER_LINK_LATENCY, i / ALGO_LATENCY_BINS,
			i % ALGO_LATENCY_BINS) == 1);
	assert_int_equal(c.t_ns[0], AT);
	assert_int_equal(c.analyzer[0], 2);
	put(&a, AT + 1, &c);
	assert_true(sum_of(&c, ALGO_COUNTER_LINK_LATENCY, N / ALGO_LATENCY_BINS,
			0) == 1);
	assert_true(all_of(&c, ALGO_COUNTER_LINK_LATENCY) == 1);
	assert_int_equal(a.n_cells, 0);
	algo_meter_close(&a);
	algo_counters_free(&c);
}

/* --- mirrors -------------------------------------------------------------- */

/* The numbers come from switch 4; what is told of it then. */
static void assert_mirrors(struct algo_meter *a, const uint32_t number[],
    unsigned n, double sent, double lost)
{
	struct algo_counters c = {0};
	for (unsigned i = 0; i < n; i++)
		algo_meter_mirrored(a, 4, number[i]);
	put(a, AT, &c);
	assert_true(sum_of(&c, ALGO_COUNTER_MIRROR_SENT, 4, 0) == sent);
	assert_true(sum_of(&c, ALGO_COUNTER_MIRROR_LOST, 4, 0) == lost);
	assert_int_equal(c.n, (sent != 0) + (lost != 0));
	algo_counters_free(&c);
}

static void mirrors_are_lost_that_no_analyzer_got(void **state)
{
	(void)state;
	struct algo_meter first, other, zero;
	open_meter(&first, 0);
	open_meter(&other, 1);
	open_meter(&zero, 0);
	algo_meter_mirrored(&first, net.n_switches, 1);
	assert_mirrors(&first, NULL, 0, 0, 0);
	/* 5 to 9 were sent; 8 got lost, and 7 to the other one. */
	assert_mirrors(&first, (const uint32_t[]){5, 6, 9}, 3, 5, 2);
	assert_mirrors(&other, (const uint32_t[]){7}, 1, 0, -1);
	assert_mirrors(&first, NULL, 0, 0, 0);
	/* A late one was sent before, and is no longer lost. */
	assert_mirrors(&first, (const uint32_t[]){8, 10}, 2, 1, -1);
	assert_mirrors(&first, (const uint32_t[]){12, 11}, 2, 2, 0);
	/* So far back that the switch began anew, at 1, after 2 more. */
	assert_mirrors(&first, (const uint32_t[]){200012}, 1, 200000, 199999);
	assert_mirrors(&first, (const uint32_t[]){200014, 1, 2}, 3, 4, 1);
	/* Numbers begin again behind 2^32 - 1. */
	assert_mirrors(&first, (const uint32_t[]){UINT32_C(1) << 31}, 1,
	    2147483646, 2147483645);
	assert_mirrors(&first, (const uint32_t[]){UINT32_MAX, 1}, 2,
	    2147483649., 2147483647);
	/* One of 0 may be a number, more are none. */
	assert_mirrors(&zero, (const uint32_t[]){0}, 1, 1, 0);
	assert_mirrors(&zero, (const uint32_t[]){1, 3}, 2, 3, 1);
	algo_meter_close(&zero);
	open_meter(&zero, 0);
	assert_mirrors(&zero, (const uint32_t[]){0, 0, 0}, 3, 0, 0);
	algo_meter_close(&first);
	algo_meter_close(&other);
	algo_meter_close(&zero);
}

/* --- what goes wrong ------------------------------------------------------ */

static int count_all(void *arg, struct sim_err *e)
{
	struct algo_counters c = {0};
	struct algo_meter a;
	struct algo_hop h[3];
	(void)arg;
	int rc = algo_meter_open(&a, &net, 0, e);
	if (rc == 0) {
		const struct algo_trace t = {.marks = ALGO_TRACE_PROBE,
		    .n_hops = 3};
		bounce(h, 10, 0, 10);
		rc = algo_meter_trace(&a, &t, h, AT, &c, e);
		for (topo_switch s = 0; s < net.n_switches; s++)
			algo_meter_mirrored(&a, s, 3);
		for (topo_link l = 0; l < net.n_links; l++)
			algo_meter_bare(&a, &(struct algo_trace){.n_hops = 1},
			    &l);
	}
	if (rc == 0)
		rc = algo_meter_put(&a, AT, &c, e);
	algo_meter_close(&a);
	algo_counters_free(&c);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	test_each_alloc_fails(count_all, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bins_are_a_fourth_of_an_octave_from_a_microsecond),
	    cmocka_unit_test(links_have_packets_bytes_and_flows_of_all_traces),
	    cmocka_unit_test(a_probe_there_and_back_times_its_link),
	    cmocka_unit_test(what_is_no_round_trip_is_not_timed),
	    cmocka_unit_test(a_mux_is_timed_at_its_tor_alone),
	    cmocka_unit_test(full_cells_are_put_out_and_begun_anew),
	    cmocka_unit_test(mirrors_are_lost_that_no_analyzer_got),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("algos/everflow/meter", tests,
	    open_net, close_net);
}
