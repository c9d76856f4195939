/* tests/real/everflow_intake_test.c -- copies come by either carrier.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/intake.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/real/namespace.h"
#include "tests/real/faulty.h"
#include "tests/real/frames.h"
#include "topo/addr.h"

enum { AT = 11, READERS = 3, N = 300 };

static struct topo topo;
static struct xp_wire *wire;
static struct algo_mirror_table table;

static void wire_begin(void **state)
{
	struct algo_mirror_params p;
	struct netns_params net;
	lab_needs(state);
	assert_ok(topo_open_clos(&topo, &faulty_shape, test_err()));
	assert_ok(sim_field_defaults(netns_fields, &net, test_err()));
	assert_ok(sim_field_defaults(algo_mirror_fields, &p, test_err()));
	assert_ok(algo_mirror_table(&table, &p, test_err()));
	assert_ok(xp_wire_open_netns(&wire, &topo, &net, NETNS_FAULTS_ANY,
	    test_err()));
}

static void wire_end(void)
{
	xp_wire_close(wire);
	topo_close(&topo);
}

static struct xp_intake *intake_begin(topo_host at)
{
	const struct xp_intake_params p = {at, READERS, &table};
	struct xp_intake *x;
	const int rc = xp_intake_open(&x, wire, &p, test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		wire_end();
		skip();
	}
	assert_ok(rc);
	return x;
}

/* SYN number SEQ of F, from its host. */
static void send_syn(const struct lab_flow *f, uint32_t seq)
{
	const struct obs_packet p = frames_tcp(f, OBS_TCP_SYN, 8, seq);
	int home;
	assert_ok(real_ns_here(&home, test_err()));
	assert_ok(real_ns_enter(wire->host[f->src].ns, test_err()));
	const int raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	assert_true(raw >= 0);
	assert_ok(real_ns_enter(home, test_err()));
	frames_send(raw, &p);
	close(raw);
	close(home);
}

/* All that comes until nothing does for a while. */
static void read_all(struct xp_intake *x, struct obs_mirror *copies)
{
	struct pollfd p[READERS];
	nfds_t n = 0;
	for (int fd; (fd = xp_intake_fd(x, (uint32_t)n)) >= 0; n++)
		p[n] = (struct pollfd){fd, POLLIN, 0};
	while (poll(p, n, 200) > 0)
		assert_ok(xp_intake_read(x, copies, test_err()));
}

/* Connections both ways: times are those of arrival, by whichever socket a copy
 * came; all of a connection came by one, and not all by the same. */
static void sockets_are_read_in_the_order_of_time(void **state)
{
	static uint8_t by[N];
	struct obs_mirror copies = {0};
	size_t n_by[READERS] = {0}, n_same = 0;
	wire_begin(state);
	struct xp_intake *x = intake_begin(AT);
	memset(by, 0, sizeof(by));
	for (uint32_t i = 0; i < N; i++) {
		const struct lab_flow there = {i % 11, (i + 4) % 11,
					  (uint16_t)(20000 + i), 80},
				      back = {there.dst, there.src, 80,
					  there.src_port};
		send_syn(&there, i);
		send_syn(&back, i);
	}
	read_all(x, &copies);
	const uint8_t *who = xp_intake_who(x);
	assert_non_null(who);
	for (size_t i = 0; i < copies.n; i++) {
		n_same += i > 0 && copies.t_ns[i] == copies.t_ns[i - 1];
		assert_true(copies.seq[i] < N && who[i] < READERS);
		by[copies.seq[i]] |= (uint8_t)(1u << who[i]);
	}
	for (uint32_t i = 0; i < N; i++) {
		assert_true(by[i] == 1 || by[i] == 2 || by[i] == 4);
		n_by[by[i] / 2]++;
	}
	print_message("time: %zu copies, of %zu, %zu and %zu connections\n",
	    copies.n, n_by[0], n_by[1], n_by[2]);
	/* Fair thirds are outside of this once in 10^9. */
	for (unsigned k = 0; k < READERS; k++)
		assert_in_range(n_by[k], 50, 150);
	/* A time that went back would be that of the copy before it. */
	assert_true(n_same < copies.n / 10);
	assert_int_equal(xp_intake_lost(x), 0);
	xp_intake_close(x);
	obs_mirror_free(&copies);
	wire_end();
}

static int open_intake(void *arg, struct sim_err *e)
{
	const struct xp_intake_params p = {*(topo_host *)arg, READERS, &table};
	struct xp_intake *x;
	const int rc = xp_intake_open(&x, wire, &p, e);
	xp_intake_close(x);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	topo_host at[] = {TOPO_NONE, AT};
	wire_begin(state);
	xp_intake_close(intake_begin(AT));
	for (unsigned i = 0; i < 2; i++)
		test_each_alloc_fails(open_intake, &at[i]);
	wire_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sockets_are_read_in_the_order_of_time),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/everflow/intake", tests,
	    lab_begin, NULL);
}
