/* tests/real/netns_link_test.c -- what the kernel refuses is told as it is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/link.h"

#include <unistd.h>

#include "models/netns/node.h"
#include "models/real/namespace.h"
#include "tests/real/lab.h"

enum { ONE = 2000, OTHER, LO = 1 };
#define ADDRESS UINT32_C(0x0a000001)

/* Two namespaces and the thread in the first, with a cable between. */
struct pair {
	int home, ns[2];
	struct mnl_socket *nl[2];
	struct netns_batch b;
};

static void put_cable(struct pair *p)
{
	const struct netns_end one = {ONE, p->ns[0], "one"};
	const struct netns_end other = {OTHER, p->ns[1], "other"};
	assert_ok(netns_put_cable(&p->b, &one, &other, 1500, test_err()));
}

static void open_pair(struct pair *p)
{
	assert_ok(real_ns_here(&p->home, test_err()));
	for (int i = 1; i >= 0; i--) {
		assert_ok(netns_node_make(test_err()));
		assert_ok(real_ns_here(&p->ns[i], test_err()));
		assert_ok(netns_link_open(&p->nl[i], test_err()));
	}
	netns_batch_begin(&p->b, p->nl[0]);
	put_cable(p);
	assert_ok(netns_batch_end(&p->b, test_err()));
}

static void close_pair(struct pair *p)
{
	assert_ok(real_ns_enter(p->home, test_err()));
	for (int i = 0; i < 2; i++) {
		mnl_socket_close(p->nl[i]);
		close(p->ns[i]);
	}
	close(p->home);
}

/* Sending the batch must fail, and say so. */
static void refuses(struct pair *p, const char *what, const char *why)
{
	struct sim_err e = {0};
	assert_int_equal(netns_batch_end(&p->b, &e), SIM_EIO);
	if (!strstr(e.msg, what) || !strstr(e.msg, why))
		fail_msg("\"%s\" does not say \"%s\" and \"%s\"", e.msg, what,
		    why);
	netns_batch_begin(&p->b, p->nl[0]);
}

static void a_refusal_names_what_and_why(void **state)
{
	const struct netns_way way = {.addr = UINT32_C(0x0a010000), .len = 16};
	const struct netns_hop nowhere = {ADDRESS, ONE, 1};
	struct pair p;
	lab_needs(state);
	open_pair(&p);
	put_cable(&p);
	refuses(&p, "make or raise interface 2000", "File exists");
	assert_ok(netns_put_address(&p.b, 77, ADDRESS, 32, test_err()));
	refuses(&p, "give an address to interface 77", "No such device");
	assert_ok(netns_put_route(&p.b, &way, &nowhere, 1, test_err()));
	refuses(&p, "add the route to 10.1.0.0", "; "); /* in words */
	close_pair(&p);
}

/* Only the last of a batch is acknowledged, yet the failure of the first of
 * many is told; what came behind it has been done, and the next batch has an
 * answer of its own. */
static void a_refusal_early_in_a_batch_is_told(void **state)
{
	struct pair p;
	lab_needs(state);
	open_pair(&p);
	assert_ok(netns_put_address(&p.b, 77, ADDRESS, 32, test_err()));
	assert_ok(netns_put_up(&p.b, LO, NULL, test_err()));
	for (uint32_t i = 0; i < 50; i++)
		assert_ok(
		    netns_put_address(&p.b, ONE, ADDRESS + i, 32, test_err()));
	refuses(&p, "interface 77", "No such device");
	assert_ok(netns_put_address(&p.b, ONE, ADDRESS + 49, 32, test_err()));
	refuses(&p, "interface 2000", "exists");
	close_pair(&p);
}

/* 4,000 addresses are five batches: all are there, so none can be again. */
static void a_full_batch_sends_itself(void **state)
{
	enum { MANY = 4000 };
	struct pair p;
	lab_needs(state);
	open_pair(&p);
	for (uint32_t i = 0; i < MANY; i++)
		assert_ok(
		    netns_put_address(&p.b, ONE, ADDRESS + i, 32, test_err()));
	assert_ok(netns_batch_end(&p.b, test_err()));
	assert_ok(netns_batch_end(&p.b, test_err())); /* of nothing */
	for (uint32_t i = 0; i < MANY; i += MANY - 1) {
		assert_ok(
		    netns_put_address(&p.b, ONE, ADDRESS + i, 32, test_err()));
		refuses(&p, "give an address to interface 2000", "exists");
	}
	close_pair(&p);
}

static void too_many_next_hops_are_refused(void **state)
{
	static const struct netns_hop hops[4096];
	const struct netns_way way = {.addr = ADDRESS, .len = 32};
	struct sim_err e = {0};
	struct pair p;
	lab_needs(state);
	open_pair(&p);
	assert_int_equal(netns_put_route(&p.b, &way, hops, 4096, &e),
	    SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "beyond the 32768 of a batch"));
	close_pair(&p);
}

static void interfaces_carry_when_both_ends_are_up(void **state)
{
	uint32_t n, n_running = 0;
	struct pair p;
	lab_needs(state);
	open_pair(&p);
	assert_ok(netns_put_up(&p.b, ONE, "one to other", test_err()));
	assert_ok(netns_batch_end(&p.b, test_err()));
	assert_ok(netns_link_running(p.nl[0], &n, &n_running, test_err()));
	assert_int_equal(n, 1);
	assert_int_equal(n_running, 0);
	netns_batch_begin(&p.b, p.nl[1]);
	assert_ok(netns_put_up(&p.b, OTHER, NULL, test_err()));
	assert_ok(netns_batch_end(&p.b, test_err()));
	const double end = lab_seconds() + 10;
	while (n_running == 0 && lab_seconds() < end)
		assert_ok(
		    netns_link_running(p.nl[0], &n, &n_running, test_err()));
	assert_int_equal(n_running, 1);
	close_pair(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_refusal_names_what_and_why),
	    cmocka_unit_test(a_refusal_early_in_a_batch_is_told),
	    cmocka_unit_test(a_full_batch_sends_itself),
	    cmocka_unit_test(too_many_next_hops_are_refused),
	    cmocka_unit_test(interfaces_carry_when_both_ends_are_up),
	};
	return cmocka_run_group_tests_name("models/netns/link", tests,
	    lab_begin, NULL);
}
