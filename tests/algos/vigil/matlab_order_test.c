/* tests/algos/vigil/matlab_order_test.c -- links in the order of their making.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/matlab_order.h"

#include "tests/test.h"

/* Make all links in loops, as the released code does. */
static void every_link_has_the_place_at_which_it_is_made(void **state)
{
	(void)state;
	struct topo_clos c = {3, 4, 2, 5, 3, .n_cables = 0};
	uint32_t n = 0;
	assert_ok(topo_clos_init(&c, test_err()));
#define MADE(link) assert_int_equal(algo_matlab_order(&c, (link)), n++)
	for (uint32_t pod = 0; pod < c.n_pods; pod++) {
		const uint32_t t1 = pod * c.n_t1, tor = pod * c.n_tors;
		for (uint32_t i = 0; i < c.n_t1; i++)
			for (uint32_t k = 0; k < c.n_t2; k++)
				MADE(topo_clos_link_t1(&c, t1 + i, k, TOPO_UP));
		for (uint32_t i = 0; i < c.n_tors; i++) {
			const topo_host host = (tor + i) * c.n_hosts;
			for (uint32_t k = 0; k < c.n_t1; k++)
				MADE(topo_clos_link_tor(&c, tor + i, k,
				    TOPO_UP));
			for (uint32_t k = 0; k < c.n_hosts; k++)
				MADE(topo_clos_link_host(host + k, TOPO_UP));
			for (uint32_t k = 0; k < c.n_hosts; k++)
				MADE(topo_clos_link_host(host + k, TOPO_DOWN));
		}
		for (uint32_t i = 0; i < c.n_t1; i++)
			for (uint32_t k = 0; k < c.n_tors; k++)
				MADE(topo_clos_link_tor(&c, tor + k, i,
				    TOPO_DOWN));
		for (uint32_t i = 0; i < c.n_t2; i++)
			for (uint32_t k = 0; k < c.n_t1; k++)
				MADE(topo_clos_link_t1(&c, t1 + k, i,
				    TOPO_DOWN));
	}
#undef MADE
	assert_int_equal(n, 2 * c.n_cables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_link_has_the_place_at_which_it_is_made),
	};
	return cmocka_run_group_tests_name("algos/vigil/matlab_order", tests,
	    NULL, NULL);
}
