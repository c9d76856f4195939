/* tests/experiments/everflow/probers_test.c -- what is ordered is sent, by agents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/probers.h"

#include "algos/everflow/guided.h"
#include "tests/test.h"

enum { N_HOSTS = 6, MAX_SENT = 2000 };

struct wire {
	size_t n;
	struct {
		topo_host host;
		sim_ns at;
		struct algo_guided g;
	} sent[MAX_SENT];
};

static int carry(void *arg, topo_host host, sim_ns sent, const void *data,
    size_t n, struct sim_err *e)
{
	struct wire *w = arg;
	(void)e;
	assert_true(w->n < MAX_SENT);
	w->sent[w->n].host = host;
	w->sent[w->n].at = sent;
	assert_ok(algo_guided_read(data, n, 100, &w->sent[w->n].g, test_err()));
	w->n++;
	return 0;
}

static struct algo_probe_order order(uint32_t id, uint32_t count)
{
	return (struct algo_probe_order){.id = id,
	    .tuple = {.src_port = 1000, .dst_port = 80, .proto = 6},
	    .n_via = 2,
	    .via = {id % 50, 50 + id % 50},
	    .count = count,
	    .interval_ns = 100 * SIM_MS};
}

struct rig {
	struct wire wire;
	struct xp_probers_wire to;
	struct algo_prober_params params;
	struct xp_probers *p;
};

static void rig_open_hosts(struct rig *r, uint32_t n_hosts)
{
	*r = (struct rig){.to = {&r->wire, carry}};
	const struct sim_seed where = {.seed = 1};
	assert_ok(
	    sim_field_defaults(algo_prober_fields, &r->params, test_err()));
	assert_ok(
	    xp_probers_open(&r->p, n_hosts, &r->params, &r->to, test_err()));
	assert_ok(xp_probers_begin(r->p, &where, test_err()));
}

static void rig_open(struct rig *r)
{
	rig_open_hosts(r, N_HOSTS);
}

/* Each order's probes are numbered, an interval apart, from one host. */
static void what_is_ordered_is_sent_once(void **state)
{
	static struct rig r;
	static struct algo_probe_order o[300];
	uint32_t count[300] = {0}, host[300];
	sim_ns last[300] = {0};
	unsigned n_used = 0, used[N_HOSTS] = {0};
	(void)state;
	rig_open(&r);
	for (uint32_t i = 0; i < 300; i++)
		o[i] = order(i, 5);
	assert_ok(xp_probers_order(r.p, o, 300, test_err()));
	for (sim_ns t = SIM_SEC; t <= 20 * SIM_SEC; t += SIM_SEC) {
		assert_ok(xp_probers_run(r.p, t, test_err()));
		/* The same again is the same. */
		assert_ok(xp_probers_order(r.p, o, 3, test_err()));
	}
	assert_int_equal(r.wire.n, 300 * 5);
	for (size_t i = 0; i < r.wire.n; i++) {
		const uint32_t id = r.wire.sent[i].g.order;
		assert_int_equal(r.wire.sent[i].g.number, count[id]);
		if (count[id]++ > 0) {
			assert_int_equal(r.wire.sent[i].host, host[id]);
			assert_true(
			    r.wire.sent[i].at >= last[id] + 100 * SIM_MS);
		}
		host[id] = r.wire.sent[i].host;
		last[id] = r.wire.sent[i].at;
		n_used += !used[host[id]];
		used[host[id]] = 1;
	}
	assert_int_equal(n_used, N_HOSTS);
	xp_probers_close(r.p);
}

/* A host's orders come in as many messages as they take: each of them is begun,
 * those of the second message and of one that is just full, too. */
static void more_orders_than_a_message_holds_are_carried_out(void **state)
{
	enum { FULL = ALGO_PROBER_ORDERS };
	static struct rig r;
	static struct algo_probe_order o[FULL + 1];
	(void)state;
	for (uint32_t n = FULL - 1; n <= FULL + 1; n++) {
		uint32_t count[FULL + 1] = {0};
		rig_open_hosts(&r, 1);
		for (uint32_t i = 0; i < n; i++)
			o[i] = order(i, 1);
		assert_ok(xp_probers_order(r.p, o, n, test_err()));
		for (sim_ns t = SIM_SEC; t <= 30 * SIM_SEC; t += SIM_SEC)
			assert_ok(xp_probers_run(r.p, t, test_err()));
		for (size_t i = 0; i < r.wire.n; i++)
			count[r.wire.sent[i].g.order]++;
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(count[i], 1);
		xp_probers_close(r.p);
	}
}

/* Nothing is left of a run when the next begins. */
static void a_run_begins_without_orders(void **state)
{
	static struct rig r;
	const struct sim_seed where = {.seed = 1};
	const struct algo_probe_order o = order(1, 1000);
	(void)state;
	rig_open(&r);
	assert_ok(xp_probers_order(r.p, &o, 1, test_err()));
	assert_ok(xp_probers_run(r.p, SIM_SEC, test_err()));
	const size_t n = r.wire.n;
	/* One each 100 ms, by half sooner or later. */
	assert_in_range(n, 7, 21);
	assert_ok(xp_probers_begin(r.p, &where, test_err()));
	assert_ok(xp_probers_order(r.p, NULL, 0, test_err()));
	assert_ok(xp_probers_run(r.p, 5 * SIM_SEC, test_err()));
	assert_int_equal(r.wire.n, n);
	assert_ok(xp_probers_begin(r.p, &where, test_err()));
	assert_ok(xp_probers_order(r.p, &o, 1, test_err()));
	assert_ok(xp_probers_run(r.p, SIM_SEC, test_err()));
	assert_in_range(r.wire.n - n, 7, 21);
	xp_probers_close(r.p);
}

static int probe_a_little(void *arg, struct sim_err *e)
{
	static struct wire wire;
	static const struct xp_probers_wire to = {&wire, carry};
	const struct sim_seed where = {.seed = 1};
	const struct algo_probe_order o = order(1, 3);
	struct xp_probers *p;
	wire.n = 0;
	int rc = xp_probers_open(&p, N_HOSTS, arg, &to, e);
	if (rc < 0)
		return rc;
	if ((rc = xp_probers_begin(p, &where, e)) == 0 &&
	    (rc = xp_probers_order(p, &o, 1, e)) == 0)
		rc = xp_probers_run(p, SIM_SEC, e);
	xp_probers_close(p);
	return rc;
}

static void memory_that_runs_out_is_told(void **state)
{
	struct algo_prober_params params;
	(void)state;
	assert_ok(sim_field_defaults(algo_prober_fields, &params, test_err()));
	test_each_alloc_fails(probe_a_little, &params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_ordered_is_sent_once),
	    cmocka_unit_test(more_orders_than_a_message_holds_are_carried_out),
	    cmocka_unit_test(a_run_begins_without_orders),
	    cmocka_unit_test(memory_that_runs_out_is_told),
	};
	return cmocka_run_group_tests_name("experiments/everflow/probers",
	    tests, NULL, NULL);
}
