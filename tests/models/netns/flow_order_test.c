/* tests/models/netns/flow_order_test.c -- two orders of flows, all pairs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/flow_order.h"

#include <string.h>

#include "tests/test.h"

enum { RUNS = 100, N_HOSTS = 4, MOST = 40 };

/* Of few hosts, ports and starts, so that all of them recur. */
static struct obs_flow flow_draw(struct sim_rng *r)
{
	struct obs_flow f = {.src_host = sim_rng_below(r, N_HOSTS),
	    .src_port = (uint16_t)(1 + sim_rng_below(r, 4)),
	    .dst_port = (uint16_t)(1 + sim_rng_below(r, 2)),
	    .start_ns = sim_rng_below(r, 5),
	    .n_pkts = 1};
	f.dst_host = (f.src_host + 1 + sim_rng_below(r, N_HOSTS - 1)) % N_HOSTS;
	return f;
}

static size_t flow_find_slowly(const struct obs_flow flow[], size_t n,
    const struct obs_flow *like)
{
	for (size_t i = 0; i < n; i++)
		if (flow[i].src_host == like->src_host &&
		    flow[i].dst_host == like->dst_host &&
		    flow[i].src_port == like->src_port &&
		    flow[i].dst_port == like->dst_port)
			return i;
	return n;
}

static void assert_orders(const struct netns_flow_order *o)
{
	uint8_t seen[2][MOST] = {{0}};
	for (size_t i = 0; i < o->n; i++) {
		seen[0][o->by_start[i]]++;
		seen[1][o->by_tuple[i]]++;
	}
	for (size_t i = 0; i < o->n; i++)
		assert_true(seen[0][i] == 1 && seen[1][i] == 1);
	for (size_t i = 1; i < o->n; i++) {
		const uint32_t a = o->by_start[i - 1], b = o->by_start[i];
		assert_true(o->flow[a].start_ns < o->flow[b].start_ns ||
		    (o->flow[a].start_ns == o->flow[b].start_ns && a < b));
	}
	/* Once another receiver has come, the one before comes no more. */
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = i + 1, left = 0; k < o->n; k++) {
			const struct obs_flow *a = &o->flow[o->by_tuple[i]],
					      *b = &o->flow[o->by_tuple[k]];
			const int same = a->dst_host == b->dst_host &&
			    a->dst_port == b->dst_port;
			assert_false(left && same);
			left |= !same;
		}
}

static void flows_are_in_both_orders_and_found(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct obs_flow flow[MOST];
		struct netns_flow_order o;
		struct sim_rng r;
		size_t n = 0;
		test_rng(&r, run);
		for (uint32_t k = sim_rng_below(&r, MOST + 1); k > 0; k--) {
			flow[n] = flow_draw(&r);
			n += flow_find_slowly(flow, n, &flow[n]) == n;
		}
		assert_ok(netns_flow_order_open(&o, flow, n, N_HOSTS, NULL,
		    test_err()));
		assert_orders(&o);
		for (int k = 0; k < 100; k++) {
			const struct obs_flow like = flow_draw(&r);
			assert_int_equal(netns_flow_order_find(&o, &like),
			    flow_find_slowly(flow, n, &like));
		}
		netns_flow_order_close(&o);
	}
}

static void what_no_kernel_carries_is_refused(void **state)
{
	(void)state;
	static const struct obs_flow good = {.dst_host = 1,
	    .src_port = 1,
	    .dst_port = 1,
	    .n_pkts = 1};
	struct obs_flow flow[2];
	struct netns_flow_order o;
	static const uint32_t to[] = {0, 9};
#define REFUSED(field, value, code, words)                                     \
	do {                                                                   \
		struct sim_err e = {0};                                        \
		flow[0] = flow[1] = good;                                      \
		flow[1].src_port = 2;                                          \
		flow[1].field = value;                                         \
		assert_int_equal(netns_flow_order_open(&o, flow, 2, N_HOSTS,   \
				     NULL, &e),                                \
		    code);                                                     \
		assert_non_null(strstr(e.msg, words));                         \
		netns_flow_order_close(&o);                                    \
	} while (0)
	REFUSED(src_host, 4, SIM_ERANGE, "Flow 1 is from host 4 to 1, but");
	REFUSED(dst_host, 4, SIM_ERANGE, "there are hosts 0 to 3.");
	REFUSED(dst_host, 0, SIM_EINVAL, "takes two hosts");
	REFUSED(n_pkts, 0, SIM_EINVAL, "Flow 1, of 0 packets");
	REFUSED(src_port, 0, SIM_EINVAL, "from host 0 port 0");
	REFUSED(dst_port, 0, SIM_EINVAL, "to host 1 port 0");
	REFUSED(src_port, 1, SIM_EINVAL, "have the same hosts and ports.");
	/* By way of a virtual address a host may reach itself. */
	flow[1] = good;
	flow[1].dst_host = 0;
	assert_ok(netns_flow_order_open(&o, flow, 2, N_HOSTS, to, test_err()));
	netns_flow_order_close(&o);
	/* What is closed is empty, and may be closed again. */
	netns_flow_order_close(&o);
	assert_int_equal(o.n, 0);
	assert_null(o.flow);
}

static int flow_order_open_and_close(void *arg, struct sim_err *e)
{
	struct netns_flow_order o;
	const int rc = netns_flow_order_open(&o, arg, 1, N_HOSTS, NULL, e);
	netns_flow_order_close(&o);
	return rc;
}

static void without_memory_there_is_no_order(void **state)
{
	(void)state;
	struct obs_flow flow = {.dst_host = 1,
	    .src_port = 1,
	    .dst_port = 1,
	    .n_pkts = 1};
	test_each_alloc_fails(flow_order_open_and_close, &flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flows_are_in_both_orders_and_found),
	    cmocka_unit_test(what_no_kernel_carries_is_refused),
	    cmocka_unit_test(without_memory_there_is_no_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
