/* tests/models/netns/routing_test.c -- which rules a kernel's table can follow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/faults_impl.h"

#include "tests/test.h"
#include "topo/addr.h"

static const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};

/* All packets to hosts FIRST to LAST. */
static struct truth_route route_to(topo_switch at, enum route_rule_kind kind,
    topo_host first, topo_host last)
{
	return (struct truth_route){.at = at,
	    .to_ns = SIM_NEVER,
	    .rule = {.kind = kind,
		.first_ip = topo_addr_of_host(first),
		.last_ip = topo_addr_of_host(last),
		.flows = {.below = UINT64_C(1) << 32},
		.n_left = 1,
		.weight = 1}};
}

/* Each bound with its last good value, behind a rule that is good. */
static void what_a_kernel_cannot_is_refused_with_the_reason(void **state)
{
	(void)state;
	static const char share[] =
	    "Switch 1 is to choose next hops by a rule for a share of the "
	    "flows; a kernel has rules for all flows to a host.";
	static const char own[] =
	    "Switch 1 is to send packets for host3, its own, elsewhere; a "
	    "kernel cannot.";
	static const char seed[] =
	    "Switch 1 is to hash with another seed for some hosts; a kernel "
	    "has one seed for all.";
	static const char bits[] =
	    "Switch 1 is to look at more than 8 bits of hashes; a kernel's "
	    "next hops have weights up to 256.";
	static const char weight[] =
	    "Switch 1 is to prefer a next hop by a weight that is not in "
	    "[1/256, 256]; a kernel cannot.";
	struct topo t;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	const topo_host end = t.n_hosts - 1;
	struct {
		struct truth_route r;
		const char *why; /* NULL: it can */
	} at[] = {
	    {route_to(9, ROUTE_RULE_NARROW, 0, end), NULL},
	    {route_to(10, ROUTE_RULE_NARROW, 0, end),
		"A route is of switch 10, but the network has switches 0 to "
		"9."},
	    {route_to(1, ROUTE_RULE_NARROW, 3, 3), share},
	    {route_to(1, ROUTE_RULE_LINK, 4, end), NULL},
	    {route_to(1, ROUTE_RULE_LINK, 0, 1), NULL},
	    {route_to(1, ROUTE_RULE_LINK, 3, end), own},
	    {route_to(1, ROUTE_RULE_SEED, 0, end), NULL},
	    {route_to(1, ROUTE_RULE_SEED, 1, end), seed},
	    {route_to(1, ROUTE_RULE_SEED, 0, end - 1), seed},
	    {route_to(1, ROUTE_RULE_BITS, 5, 5), NULL},
	    {route_to(1, ROUTE_RULE_BITS, 5, 5), bits},
	    {route_to(1, ROUTE_RULE_WEIGHTS, 5, 5), NULL},
	    {route_to(1, ROUTE_RULE_WEIGHTS, 5, 5), NULL},
	    {route_to(1, ROUTE_RULE_WEIGHTS, 5, 5), weight},
	    {route_to(1, ROUTE_RULE_WEIGHTS, 5, 5), weight},
	};
	at[2].r.rule.flows.below--;
	at[9].r.rule.bits = 8;
	at[10].r.rule.bits = 9;
	at[11].r.rule.weight = 256;
	at[12].r.rule.weight = 1. / 256;
	at[13].r.rule.weight = 256.5;
	at[14].r.rule.weight = 1. / 257;
	const struct netns_faults f = {.t = &t};
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct truth_route both[] = {route_to(0, ROUTE_RULE_NARROW, 7,
						 7),
		    at[i].r};
		const struct truth truth = {.route = both, .n_routes = 2};
		struct sim_err e = {0};
		const int rc = netns_routing_check(&f, &truth, &e);
		assert_string_equal(e.msg, at[i].why ? at[i].why : "");
		assert_int_equal(rc,
		    !at[i].why   ? 0
			: i == 1 ? SIM_ERANGE
				 : SIM_EUNSUPPORTED);
	}
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_kernel_cannot_is_refused_with_the_reason),
	};
	return cmocka_run_group_tests_name("models/netns/routing", tests, NULL,
	    NULL);
}
