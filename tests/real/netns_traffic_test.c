/* tests/real/netns_traffic_test.c -- flows of real TCP are run and told of.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/netns/traffic.h"
#include "tests/real/faulty.h"

enum { N_FLOWS = 100 };

static struct lab lab;
static struct obs_flow flow[N_FLOWS];

static void open_lab(void **state)
{
	lab_needs(state);
	lab_open(&lab, &faulty_shape, 3);
}

static struct netns_traffic *open_flows(size_t n, double timeout_s)
{
	const struct netns_traffic_params p = {.timeout_s = timeout_s};
	struct netns_traffic *tr;
	assert_ok(
	    netns_traffic_open(&tr, lab.net, &lab.t, flow, n, &p, test_err()));
	return tr;
}

static void run(struct netns_traffic *tr)
{
	struct pollfd p = {.fd = netns_traffic_fd(tr), .events = POLLIN};
	while (netns_traffic_left(tr) > 0) {
		assert_true(poll(&p, 1, 5000) == 1);
		assert_ok(netns_traffic_step(tr, test_err()));
	}
}

/* Host 0 to 1, 2, ... and each from a port of its own. */
static void name_flows(size_t n, uint32_t n_pkts)
{
	for (size_t i = 0; i < n; i++)
		flow[i] = (struct obs_flow){.dst_host = 1 + (topo_host)i % 11,
		    .src_port = (uint16_t)(1000 + i),
		    .dst_port = (uint16_t)(80 + i % 2),
		    .n_pkts = n_pkts,
		    .start_ns = (uint64_t)(n - i) * SIM_MS};
}

static void each_flow_begins_at_its_time_and_carries_its_packets(void **state)
{
	open_lab(state);
	name_flows(N_FLOWS, 30);
	/* Twice: the ports are free again at once. */
	for (int pass = 0; pass < 2; pass++) {
		struct netns_traffic *tr = open_flows(N_FLOWS, 0);
		assert_int_equal(netns_traffic_left(tr), N_FLOWS);
		run(tr);
		for (size_t i = 0; i < N_FLOWS; i++) {
			const struct netns_flow_end *end =
			    netns_traffic_end(tr, i);
			assert_int_equal(end->state, NETNS_FLOW_DONE);
			assert_true(end->established);
			assert_true(end->end_ns > flow[i].start_ns);
			assert_in_range(end->n_sent, 30, 33);
			assert_in_range(flow[i].srtt_us, 1, 100000);
		}
		netns_traffic_close(tr);
	}
	lab_close(&lab);
}

/* Host 1 is cut off. */
static void flows_that_get_no_answer_fail_in_time(void **state)
{
	open_lab(state);
	name_flows(22, 3);
	assert_ok(netns_enter(lab.net, 1, test_err()));
	struct ifreq off = {.ifr_name = "l3", .ifr_flags = 0};
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const int rc = ioctl(fd, SIOCSIFFLAGS, &off);
	close(fd);
	assert_ok(netns_leave(lab.net, test_err()));
	assert_int_equal(rc, 0);
	struct netns_traffic *tr = open_flows(22, 0.5);
	run(tr);
	for (size_t i = 0; i < 22; i++) {
		const struct netns_flow_end *end = netns_traffic_end(tr, i);
		const int cut = flow[i].dst_host == 1;
		assert_int_equal(end->state,
		    cut ? NETNS_FLOW_FAILED : NETNS_FLOW_DONE);
		assert_int_equal(end->established, !cut);
		if (cut)
			assert_true(
			    end->end_ns >= flow[i].start_ns + SIM_SEC / 2);
	}
	netns_traffic_close(tr);
	lab_close(&lab);
}

static int rc_of(size_t n)
{
	const struct netns_traffic_params usual = {0};
	struct netns_traffic *tr;
	struct sim_err e;
	int rc = netns_traffic_open(&tr, lab.net, &lab.t, flow, n, &usual, &e);
	assert_true(rc < 0 ? tr == NULL : tr != NULL);
	netns_traffic_close(tr);
	return rc;
}

static void mistakes_in_flows_are_told(void **state)
{
	const struct netns_traffic_params odd = {.congestion = "none"};
	struct netns_traffic *tr;
	struct sim_err e;
	open_lab(state);
	assert_int_equal(rc_of(0), 0);
	name_flows(2, 1);
	assert_int_equal(rc_of(2), 0);
	flow[1] = flow[0];
	assert_int_equal(rc_of(2), SIM_EINVAL);
	name_flows(2, 1);
	flow[1].dst_host = 12;
	assert_int_equal(rc_of(2), SIM_ERANGE);
	flow[1].dst_host = 0;
	assert_int_equal(rc_of(2), SIM_EINVAL);
	name_flows(2, 0);
	assert_int_equal(rc_of(2), SIM_EINVAL);
	name_flows(2, 1);
	flow[0].src_port = 0;
	assert_int_equal(rc_of(2), SIM_EINVAL);
	name_flows(2, 1);
	assert_int_equal(netns_traffic_open(&tr, lab.net, &lab.t, flow, 2, &odd,
			     &e),
	    SIM_EIO);
	netns_traffic_close(NULL);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		each_flow_begins_at_its_time_and_carries_its_packets),
	    cmocka_unit_test(flows_that_get_no_answer_fail_in_time),
	    cmocka_unit_test(mistakes_in_flows_are_told),
	};
	return cmocka_run_group_tests_name("models/netns/traffic", tests,
	    lab_begin, NULL);
}
