/* tests/algos/pingmesh/allow_test.c -- whom an agent may probe, whatever a list says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/allow.h"
#include "algos/pingmesh/pinglist_xml.h"
#include "tests/test.h"
#include "topo/addr.h"

static struct algo_pinglist_allow make(const char *nets, const char *ports)
{
	struct algo_pinglist_allow a = {0};
	if (nets)
		assert_ok(algo_pinglist_allow_nets(&a, nets, test_err()));
	if (ports)
		assert_ok(algo_pinglist_allow_ports(&a, ports, test_err()));
	return a;
}

static int may(const struct algo_pinglist_allow *a, const char *address,
    uint16_t port)
{
	struct topo_ip ip;
	assert_ok(topo_ip_parse(address, &ip, test_err()));
	return algo_pinglist_allows(a, &ip, port);
}

static void nothing_is_allowed_unless_it_is_said(void **state)
{
	const struct algo_pinglist_allow none = {0},
					 no_port = make("10.0.0.0/8", NULL),
					 no_net = make(NULL, "8765");
	(void)state;
	assert_false(may(&none, "10.0.0.1", 8765));
	assert_false(may(&no_port, "10.0.0.1", 8765));
	assert_false(may(&no_net, "10.0.0.1", 8765));
}

static void networks_and_ports_have_their_edges(void **state)
{
	const struct algo_pinglist_allow a =
	    make("10.0.0.128/25,198.18.0.7", "443,8765,9000-9010,65535");
	(void)state;
	assert_true(may(&a, "10.0.0.128", 8765));
	assert_true(may(&a, "10.0.0.255", 8765));
	assert_false(may(&a, "10.0.0.127", 8765));
	assert_false(may(&a, "10.0.1.0", 8765));
	assert_true(may(&a, "198.18.0.7", 443));
	assert_false(may(&a, "198.18.0.6", 443));
	for (unsigned port = 0; port <= UINT16_MAX; port++)
		assert_int_equal(may(&a, "10.0.0.200", (uint16_t)port),
		    port == 443 || port == 8765 ||
			(port >= 9000 && port <= 9010) || port == 65535);
}

/* What is behind the prefix does not matter. */
static void a_network_may_be_named_by_any_of_its_addresses(void **state)
{
	const struct algo_pinglist_allow a = make("10.1.2.3/8", "1"),
					 all = make("1.2.3.4/0", "1");
	(void)state;
	assert_true(may(&a, "10.255.0.1", 1));
	assert_false(may(&a, "11.0.0.1", 1));
	assert_true(may(&all, "203.0.113.9", 1));
}

/* What is kept out in one family does not come in by the other. */
static void families_are_apart(void **state)
{
	const struct algo_pinglist_allow six = make("::/0", "1"),
					 four = make("0.0.0.0/0", "1"),
					 both =
					     make("10.0.0.0/8,fd00::/48", "1");
	(void)state;
	assert_true(may(&six, "fd00::1", 1));
	assert_false(may(&six, "10.0.0.1", 1));
	assert_true(may(&four, "10.0.0.1", 1));
	assert_false(may(&four, "fd00::1", 1));
	assert_false(may(&four, "::10.0.0.1", 1));
	assert_true(may(&both, "fd00:0:0:ffff::1", 1));
	assert_false(may(&both, "fd00:0:1::1", 1));
	assert_true(may(&both, "10.0.0.1", 1));
}

static void mistakes_are_refused_and_add_nothing_more(void **state)
{
	static const char *const nets[] = {"", ",", "10.0.0.0/33", "10.0.0.0/",
	    "10.0.0", "10.0.0.256", "10.0.0.0/8,", " 10.0.0.0/8", "any",
	    "10.0.0.0/8-10.1.0.0/8",
	    "10.0.0.0/8                                  ", "fd00::/129",
	    "::ffff:10.0.0.0/104", "fe80::%eth0/64", "fd00::1-fd00::2",
	    "fd00:0000:0000:0000:0000:0000:0000:0000/128                    "
	    "         "};
	static const char *const ports[] = {"", ",", "0", "65536", "-1", "80-",
	    "-80", "9010-9000", "80-90", "1023-1024", "1-65535", "8765,",
	    "8765 ", "0x50", "80-80-80", "9000-99999",
	    "8765                                     "};
	struct algo_pinglist_allow a = {0};
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		a.n_nets = 0;
		if (algo_pinglist_allow_nets(&a, nets[i], &e) >= 0)
			fail_msg("\"%s\" is taken", nets[i]);
		assert_true(a.n_nets <= 1);
	}
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		a.n_ports = 0;
		if (algo_pinglist_allow_ports(&a, ports[i], &e) >= 0)
			fail_msg("\"%s\" is taken", ports[i]);
		assert_true(a.n_ports <= 1);
	}
	assert_ok(algo_pinglist_allow_ports(&a, "80-80,1024-1025", &e));
	a = (struct algo_pinglist_allow){0};
	for (int i = 0; i < ALGO_PINGLIST_ALLOW_MOST; i++) {
		assert_ok(algo_pinglist_allow_nets(&a, "10.0.0.1", &e));
		assert_ok(algo_pinglist_allow_ports(&a, "8765", &e));
	}
	assert_int_equal(algo_pinglist_allow_nets(&a, "10.0.0.1", &e),
	    SIM_ELIMIT);
	assert_int_equal(algo_pinglist_allow_ports(&a, "8765", &e), SIM_ELIMIT);
}

/* One entry too many, wherever it stands, and nobody is probed. */
static void a_list_that_asks_for_more_is_refused_whole(void **state)
{
	enum { N = 5, MOST = 8 };
	const struct algo_pinglist_allow a = make("10.0.0.0/24", "8765");
	struct algo_pinglist_entry entry[MOST];
	uint32_t work[64];
	struct algo_pinglist_doc d = {.entry = entry,
	    .work = work,
	    .max_entries = MOST,
	    .max_bytes = 4096,
	    .allow = &a};
	struct sim_err e;
	(void)state;
	assert_true(algo_pinglist_xml_work(MOST) <= 64);
	for (int odd = 0; odd <= N; odd++) {
		char text[2048];
		int n = snprintf(text, sizeof(text),
		    "<pinglist server=\"10.0.0.1\" "
		    "version=\"0123456789abcdef\" count=\"%d\">",
		    N);
		for (int i = 0; i < N; i++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			    "\n<peer address=\"10.0.0.%d\" port=\"%d\" "
			    "level=\"tor\" class=\"0\" interval_s=\"10\" "
			    "payload=\"0\"/>",
			    i + 2, i == odd ? 22 : 8765);
		n +=
		    snprintf(text + n, sizeof(text) - (size_t)n, "</pinglist>");
		const int rc = algo_pinglist_xml_read(&d, topo_addr_of_host(0),
		    text, (size_t)n, &e);
		assert_int_equal(d.n_entries, odd == N ? N : 0);
		assert_int_equal(rc, odd == N ? 0 : SIM_EPARSE);
		if (odd == N)
			continue;
		char want[96];
		snprintf(want, sizeof(want),
		    "line %d, column 16: a target that this agent may not "
		    "probe (10.0.0.%d:22).",
		    odd + 2, odd + 2);
		assert_string_equal(e.msg, want);
		assert_int_equal(d.n[ALGO_PINGLIST_BEYOND], 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_allowed_unless_it_is_said),
	    cmocka_unit_test(networks_and_ports_have_their_edges),
	    cmocka_unit_test(a_network_may_be_named_by_any_of_its_addresses),
	    cmocka_unit_test(families_are_apart),
	    cmocka_unit_test(mistakes_are_refused_and_add_nothing_more),
	    cmocka_unit_test(a_list_that_asks_for_more_is_refused_whole),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/allow", tests, NULL,
	    NULL);
}
