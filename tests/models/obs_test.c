/* tests/models/obs_test.c -- windows grow, are emptied, and are checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs.h"

#include "tests/rigs/windows.h"
#include "tests/test.h"

static struct obs_flow flow_number(uint32_t i)
{
	return (struct obs_flow){.start_ns = UINT64_C(1000000007) * i,
	    .src_host = 3 * i,
	    .dst_host = 3 * i + 1,
	    .src_port = (uint16_t)(i + 1024),
	    .dst_port = (uint16_t)(i + 80),
	    .n_pkts = i + 2,
	    .n_retx = i};
}

/* Flow i has i % 5 hops: i, i + 1, ... */
static int add_number(struct obs *o, uint32_t i, struct sim_err *e)
{
	const topo_link hop[] = {i, i + 1, i + 2, TOPO_NONE};
	const struct obs_flow flow = flow_number(i);
	return obs_add_flow(o, &flow, hop, i % 5, e);
}

static void assert_number(const struct obs *o, uint32_t i)
{
	const struct obs_flow want = flow_number(i);
#define X(type, name, units, doc) assert_true(o->flows.name[i] == want.name);
	OBS_FLOW_COLUMNS(X)
#undef X
	assert_int_equal(obs_n_hops(o, i), i % 5);
	for (uint32_t j = 0; j < i % 5; j++)
		assert_int_equal(obs_path(o, i)[j], j == 3 ? TOPO_NONE : i + j);
}

static void flows_keep_their_columns_and_their_paths(void **state)
{
	(void)state;
	struct obs o = {0};
	for (uint32_t i = 0; i < 1000; i++)
		assert_ok(add_number(&o, i, test_err()));
	assert_int_equal(o.flows.n, 1000);
	assert_int_equal(o.hops.n, 2000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_number(&o, i);
	assert_ok(obs_check(&o, 1002, test_err()));
	obs_free(&o);
	assert_null(o.flows.n_retx);
	obs_free(&o);
}

static void a_cleared_window_is_empty_and_keeps_its_memory(void **state)
{
	(void)state;
	struct obs o = {0};
	for (uint32_t i = 0; i < 100; i++)
		assert_ok(add_number(&o, i, test_err()));
	o.n_flows = 12;
	o.n_packets = 34;
	o.complete = 1;
	const uint32_t *before = o.flows.n_retx;
	obs_clear(&o);
	assert_int_equal(o.flows.n, 0);
	assert_int_equal(o.hops.n, 0);
	assert_int_equal(o.n_flows + o.n_packets + o.complete, 0);
	assert_ok(obs_check(&o, 1, test_err()));
	for (uint32_t i = 0; i < 100; i++)
		assert_ok(add_number(&o, i, test_err()));
	assert_ptr_equal(o.flows.n_retx, before);
	for (uint32_t i = 0; i < 100; i++)
		assert_number(&o, i);
	obs_free(&o);
}

static int add_until_it_fails(void *arg, struct sim_err *e)
{
	(void)arg;
	struct obs o = {0};
	int rc = 0;
	uint32_t i = 0;
	for (; i < 20 && rc == 0; i += rc == 0)
		rc = add_number(&o, i, e);
	assert_int_equal(o.flows.n, i);
	for (uint32_t j = 0; j < i; j++)
		assert_number(&o, j);
	assert_int_equal(obs_check(&o, 30, NULL), 0);
	/* The next flow finds everything in order again. */
	if (rc < 0) {
		assert_int_equal(add_number(&o, i, NULL), 0);
		assert_number(&o, i);
	}
	obs_free(&o);
	return rc;
}

static void a_flow_without_memory_leaves_the_window_as_it_was(void **state)
{
	(void)state;
	test_each_alloc_fails(add_until_it_fails, NULL);
}

/* The check must fail and its message hold every one of the texts. */
static void assert_refused(const struct obs *o, uint32_t n_links,
    const char *text, const char *text2)
{
	struct sim_err e = {0};
	assert_int_equal(obs_check(o, n_links, &e), SIM_EINVAL);
	if (!strstr(e.msg, text) || !strstr(e.msg, text2))
		fail_msg("\"%s\" lacks \"%s\" or \"%s\"", e.msg, text, text2);
	assert_int_equal(e.msg[strlen(e.msg) - 1], '.');
}

static void a_check_names_the_flow_and_the_wrong_value(void **state)
{
	(void)state;
	struct obs o = {0};
	assert_ok(obs_check(&o, 0, test_err()));
	WINDOW_ADD(&o, 1, 3, 4);
	WINDOW_ADD(&o, 100, 5, TOPO_NONE, 9);
	WINDOW_ADD(&o, 1, 6);
	assert_ok(obs_check(&o, 10, test_err()));

	assert_refused(&o, 9, "flow 1", "hop 2 is link 9");
	assert_refused(&o, 0, "flow 0", "link 3");
	o.flows.n_retx[1] = 101;
	assert_refused(&o, 10, "flow 1", "101 of 100");
	o.flows.n_retx[1] = 2;
	o.flows.count_off[1] = -2;
	assert_ok(obs_check(&o, 10, test_err()));
	assert_int_equal(obs_n_counted(&o, 1), 0);
	o.flows.count_off[1] = -3;
	assert_refused(&o, 10, "flow 1", "-3");
	o.flows.count_off[1] = 7;
	assert_int_equal(obs_n_counted(&o, 1), 9);
	assert_int_equal(obs_n_counted(&o, 0), 1);
	o.flows.n_retx[1] = 0;
	o.hops.off[1] = 6;
	assert_refused(&o, 10, "flow 1", "6 to 5");
	o.hops.off[1] = 7;
	assert_refused(&o, 10, "flow 0", "0 to 7");
	o.hops.off[1] = 2;
	o.hops.off[0] = 1;
	assert_refused(&o, 10, "flow 0", "at 1");
	o.hops.off[0] = 0;
	o.hops.n = 7;
	assert_refused(&o, 10, "flow 2", "end at 6");
	o.hops.n = 6;
	o.flows.n = 0;
	assert_refused(&o, 10, "6 hops", "no flow");
	obs_free(&o);
}

static void paths_of_sixteen_hops_pass_and_of_seventeen_do_not(void **state)
{
	(void)state;
	topo_link hop[TOPO_MAX_HOPS + 1] = {0};
	struct obs o = {0};
	window_add(&o, 1, TOPO_MAX_HOPS, hop);
	assert_ok(obs_check(&o, 1, test_err()));
	window_add(&o, 1, TOPO_MAX_HOPS + 1, hop);
	assert_refused(&o, 1, "flow 1", "17 hops");
	obs_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flows_keep_their_columns_and_their_paths),
	    cmocka_unit_test(a_cleared_window_is_empty_and_keeps_its_memory),
	    cmocka_unit_test(a_flow_without_memory_leaves_the_window_as_it_was),
	    cmocka_unit_test(a_check_names_the_flow_and_the_wrong_value),
	    cmocka_unit_test(
		paths_of_sixteen_hops_pass_and_of_seventeen_do_not),
	};
	return cmocka_run_group_tests_name("models/obs", tests, NULL, NULL);
}
