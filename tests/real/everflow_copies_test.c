/* tests/real/everflow_copies_test.c -- a kernel's ERSPAN is what was sent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Switches of namespaces mirror known packets to a collector, whose device gives
 * the bytes. Who wrote them, a program in the kernel, and who reads them have
 * nothing in common.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "experiments/everflow/copies.h"
#include "models/netns/mirror.h"
#include "sim/inet.h"
#include "tests/real/faulty.h"
#include "tests/real/frames.h"
#include "topo/addr.h"

enum { N = 200, MAX_COPIES = 2048, VENDOR = 0 };

static struct lab lab;
static struct obs_copy expected[MAX_COPIES], got[MAX_COPIES];
static size_t n_expected;

static int by_packet_and_hop(const void *a, const void *b)
{
	const struct obs_copy *x = a, *y = b;
	if (x->digest != y->digest)
		return x->digest < y->digest ? -1 : 1;
	return y->ttl - x->ttl;
}

/* A device of the collector that hears all, with room for all copies. */
static int listen_at(topo_host h)
{
	const int room = 8 << 20;
	assert_ok(netns_enter(lab.net, h, test_err()));
	const int fd =
	    socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	assert_ok(netns_leave(lab.net, test_err()));
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room,
			     sizeof(room)),
	    0);
	return fd;
}

/* Send a SYN of each flow; P is expected at each switch of the path. */
static void send_all(const struct lab_flow flow[],
    topo_link path[][TOPO_MAX_HOPS], const unsigned n_hops[])
{
	for (unsigned i = 0; i < N; i++) {
		struct obs_packet p =
		    frames_tcp(&flow[i], OBS_TCP_SYN, (uint16_t)(i + 1), i + 1);
		const int raw = frames_open(&lab, flow[i].src);
		frames_send(raw, &p);
		close(raw);
		for (unsigned k = 0; k + 1 < n_hops[i]; k++, p.ip.ttl--) {
			struct obs_copy *c = &expected[n_expected++];
			topo_node from, to;
			assert_true(n_expected < MAX_COPIES);
			topo_link_ends(&lab.t, path[i][k], &from, &to);
			*c = obs_copy_of(&p);
			c->node = to - lab.t.n_hosts;
			c->in_link = path[i][k];
			c->kind = OBS_COPY_CONTROL;
		}
	}
}

static void take_all(int fd, struct xp_copies *c, struct obs_mirror *out)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint8_t bytes[2048];
	while (poll(&p, 1, 300) == 1) {
		const ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
		assert_true(n >= 14);
		assert_ok(xp_copies_take(c, 1, sim_inet_get16(bytes + 12),
		    bytes + 14, (size_t)n - 14, out, test_err()));
	}
}

static void all_came(const struct obs_mirror *out)
{
	assert_true(out->n <= MAX_COPIES);
	for (size_t i = 0; i < out->n; i++)
		got[i] = obs_mirror_at(out, i);
	qsort(got, out->n, sizeof(got[0]), by_packet_and_hop);
	qsort(expected, n_expected, sizeof(got[0]), by_packet_and_hop);
	print_message("time: %zu of %zu copies came\n", out->n, n_expected);
	assert_int_equal(out->n, n_expected);
	for (size_t i = 0; i < n_expected; i++) {
		expected[i].mirror_seq = got[i].mirror_seq;
		assert_memory_equal(&got[i], &expected[i], sizeof(got[i]));
	}
}

/* Of each switch they are 1, 2, ..., so nothing is missing between them. */
static void all_are_numbered(const struct obs_mirror *out)
{
	uint32_t n[64] = {0}, top[64] = {0};
	assert_true(lab.t.n_switches <= 64);
	for (size_t i = 0; i < out->n; i++) {
		n[out->node[i]]++;
		if (out->mirror_seq[i] > top[out->node[i]])
			top[out->node[i]] = out->mirror_seq[i];
	}
	assert_memory_equal(n, top, sizeof(n));
}

static void a_kernel_s_copies_are_the_packets_that_were_sent(void **state)
{
	struct algo_mirror_params params;
	struct algo_mirror_table table;
	static struct lab_flow flow[N];
	static topo_link path[N][TOPO_MAX_HOPS];
	unsigned n_hops[N];
	struct netns_mirror *m;
	struct xp_copies c;
	struct obs_mirror out = {0};
	struct sim_rng r;
	lab_needs(state);
	test_rng(&r, 1);
	lab_open(&lab, &faulty_shape, 7);
	const topo_host collector = lab.t.n_hosts - 1;
	for (unsigned i = 0; i < N; i++) {
		/* Nobody sends to the collector, which hears all. */
		const topo_host src = sim_rng_below(&r, collector);
		flow[i] = (struct lab_flow){src,
		    (src + 1 + sim_rng_below(&r, collector - 1)) % collector,
		    (uint16_t)(10000 + i), 80};
		n_hops[i] = lab_trace(&lab, &flow[i], path[i]);
	}
	assert_ok(sim_field_defaults(algo_mirror_fields, &params, test_err()));
	params.rules = 1 << OBS_COPY_CONTROL;
	assert_ok(algo_mirror_table(&table, &params, test_err()));
	const struct netns_mirror_params want = {.row = table.row,
	    .n_rows = table.n,
	    .collector = topo_addr_of_host(collector)};
	const int rc =
	    netns_mirror_open(&m, lab.net, &lab.t, &want, test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		lab_close(&lab);
		skip();
	}
	assert_ok(rc);
	const int fd = listen_at(collector);
	assert_ok(xp_copies_open(&c, &lab.t, VENDOR, test_err()));
	c.index_is_link = 1;
	send_all(flow, path, n_hops);
	take_all(fd, &c, &out);
	all_came(&out);
	all_are_numbered(&out);
	assert_int_equal(c.n_unknown + c.n_bad_index, 0);
	assert_int_equal(c.n_end[ALGO_ERSPAN_COPY_OF_COPY], 0);
	close(fd);
	obs_mirror_free(&out);
	xp_copies_free(&c);
	netns_mirror_close(m);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_kernel_s_copies_are_the_packets_that_were_sent),
	};
	return cmocka_run_group_tests_name("real everflow/copies", tests,
	    lab_begin, NULL);
}
