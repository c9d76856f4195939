/* tests/models/netns/net_test.c -- what is told before a network is built.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here takes a right: tests/real/ has the networks that are built.
 */
#include "models/netns/net.h"

#include <sys/stat.h>

#include "models/netns/caps.h"
#include "tests/test.h"

static const struct netns_params params = {.mtu = 1500};

/* Opening T must fail with RC and a message that holds TEXT. */
static void refuses(const struct topo *t, int rc, const char *text)
{
	struct sim_err e = {0};
	struct netns_net *net;
	if (!netns_is_built_in()) {
		rc = SIM_EUNSUPPORTED;
		text = "built without libmnl";
	}
	assert_int_equal(netns_open(&net, t, &params, &e), rc);
	assert_null(net);
	assert_non_null(strstr(e.msg, text));
}

static void a_network_of_nothing_is_refused(void **state)
{
	const struct topo t = {0};
	(void)state;
	refuses(&t, SIM_EINVAL, "0 hosts and 0 switches");
}

/* There are addresses for 2^22 links, and no more. */
static void more_links_than_addresses_are_refused(void **state)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 1,
	    .n_t1 = 0,
	    .n_t2 = 0,
	    .n_hosts = (1 << 21) + 1};
	struct topo t;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	refuses(&t, SIM_ELIMIT, "4194306 links are more than");
	topo_close(&t);
}

/* So many namespaces would take 900 GB, which no test machine has. */
static void more_nodes_than_memory_are_refused(void **state)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 1,
	    .n_t1 = 0,
	    .n_t2 = 0,
	    .n_hosts = 1 << 21};
	struct topo t;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	refuses(&t, SIM_ELIMIT, "MiB of kernel memory");
	topo_close(&t);
}

static void closing_nothing_is_legal(void **state)
{
	(void)state;
	netns_close(NULL);
}

static void interfaces_do_not_take_the_number_of_lo(void **state)
{
	(void)state;
	assert_true(netns_ifindex(0) > 1);
	assert_true(netns_ifindex(TOPO_NONE >> 10) <= INT32_MAX);
}

static void parameters_have_ranges(void **state)
{
	struct netns_params p;
	(void)state;
	assert_ok(sim_field_defaults(netns_fields, &p, test_err()));
	assert_int_equal(p.mtu, 1500);
	assert_int_equal(p.icmp_per_s, 0);
	assert_int_equal(sim_field_set(sim_field_find(netns_fields, "mtu"), &p,
			     "575", NULL),
	    SIM_ERANGE);
}

static int has_text(const char *s)
{
	return s && *s && s[strlen(s) - 1] != '.';
}

/* What the machine can do is probed in a child process, so the namespaces of
 * this one stay the same. */
static void probing_changes_nothing_and_gives_reasons(void **state)
{
	struct netns_cap cap[NETNS_N_CAPS];
	struct stat before, after;
	(void)state;
	assert_int_equal(stat("/proc/thread-self/ns/net", &before), 0);
	netns_probe(cap);
	assert_int_equal(stat("/proc/thread-self/ns/net", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	for (int i = 0; i < NETNS_N_CAPS; i++) {
		assert_true(has_text(cap[i].name));
		assert_true(has_text(cap[i].what));
		assert_true(has_text(cap[i].why));
	}
	assert_int_equal(cap[NETNS_CAP_LIBMNL].ok, netns_is_built_in());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_network_of_nothing_is_refused),
	    cmocka_unit_test(more_links_than_addresses_are_refused),
	    cmocka_unit_test(more_nodes_than_memory_are_refused),
	    cmocka_unit_test(closing_nothing_is_legal),
	    cmocka_unit_test(interfaces_do_not_take_the_number_of_lo),
	    cmocka_unit_test(parameters_have_ranges),
	    cmocka_unit_test(probing_changes_nothing_and_gives_reasons),
	};
	return cmocka_run_group_tests_name("models/netns/net", tests, NULL,
	    NULL);
}
