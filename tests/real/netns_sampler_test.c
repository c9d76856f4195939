/* tests/real/netns_sampler_test.c -- the kernel's sampler counts as its twin does.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/sampler.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "algos/millisampler/buckets.h"
#include "sim/inet.h"
#include "tests/real/faulty.h"
#include "tests/real/frames.h"
#include "tests/real/sending.h"
#include "tests/rigs/packets.h"

enum { WIDTHS = NETNS_SAMPLER_WIDTHS, ALL = (1 << WIDTHS) - 1 };

static struct netns_sampler *sampler;
static struct obs_bucket got[OBS_BUCKETS];

static void open_sampler(void **state, const struct netns_sampler_params *p)
{
	lab_needs(state);
	const int rc = netns_sampler_open(&sampler, p, test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		skip();
	}
	assert_ok(rc);
}

static void close_sampler(void)
{
	netns_sampler_close(sampler);
	sampler = NULL;
}

/* A frame comes in, or leaves, at T. */
static void pass(int out, const void *bytes, uint32_t n, uint32_t gso_segs,
    uint64_t t)
{
	const struct netns_frame frame = {bytes, n, 1};
	struct netns_cost cost;
	netns_sampler_now(sampler, t);
	assert_ok(netns_sampler_try(sampler, out, &frame, gso_segs, NULL, &cost,
	    test_err()));
}

static struct netns_sampler_run take(uint32_t w)
{
	struct netns_sampler_run run;
	assert_ok(netns_sampler_take(sampler, w, got, &run, test_err()));
	return run;
}

/* --- the twin ------------------------------------------------------------- */

static void same_run(struct algo_buckets *twin, uint32_t w)
{
	const struct netns_sampler_run run = take(w);
	assert_int_equal(run.start_ns, twin->started ? twin->start_ns : 0);
	assert_int_equal(run.n_missed, twin->n_missed);
	for (uint32_t i = 0; i < OBS_BUCKETS; i++)
		if (memcmp(&got[i], &twin->bucket[i], sizeof(got[i])) != 0)
			fail_msg("seed %llu, width %u, bucket %u: %u in, %u "
				 "out; twin %u, %u",
			    (unsigned long long)test_seed(), w, i,
			    got[i].in_bytes, got[i].out_bytes,
			    twin->bucket[i].in_bytes,
			    twin->bucket[i].out_bytes);
}

/* 20,000 packets of all kinds, both ways, at times that step by up to some
 * buckets, and one in eight to the ns where a bucket begins or before it. The
 * oracle knows packets, not bytes, and divides. */
static void the_twin_counts_the_same(enum netns_sampler_clock clock)
{
	enum { N = 20000 };
	const uint32_t net = 0x0a000000, mask = 0x80000000;
	static struct algo_buckets twin[WIDTHS];
	const uint64_t width[] = {10 * SIM_MS, SIM_MS, 100 * SIM_US};
	const struct netns_sampler_params p = {.clock = clock,
	    .net4 = net,
	    .mask4 = mask};
	uint64_t t = 1234567891011;
	uint8_t frame[FRAMES_MAX];
	struct sim_rng r;
	assert_ok(netns_sampler_open(&sampler, &p, test_err()));
	test_rng(&r, 1 + clock);
	for (uint32_t w = 0; w < WIDTHS; w++)
		assert_ok(algo_buckets_arm(&twin[w], t, width[w],
		    clock == NETNS_SAMPLER_GIVEN ? ALGO_START_FIRST_PACKET
						 : ALGO_START_ALIGNED,
		    test_err()));
	netns_sampler_arm(sampler, ALL);
	for (unsigned i = 0; i < N; i++) {
		struct obs_packet x;
		const int out = (int)sim_rng_below(&r, 2);
		do
			packets_any(&x, &r);
		while (x.ethertype != OBS_ETH_IPV4);
		frames_write(&x, frame);
		t += sim_rng_below(&r, 30000);
		if (i > 0 && sim_rng_below(&r, 8) == 0)
			t = twin[0].start_ns +
			    ((t - twin[0].start_ns) / width[2] + 1) * width[2] -
			    sim_rng_below(&r, 2);
		const struct obs_seen seen =
		    algo_buckets_seen(&x, out, net, mask);
		for (uint32_t w = 0; w < WIDTHS; w++)
			algo_buckets_packet(&twin[w], t, &seen);
		pass(out, frame, x.n_bytes, 0, t);
	}
	for (uint32_t w = 0; w < WIDTHS; w++) {
		assert_int_equal(!!(netns_sampler_armed(sampler) >> w & 1),
		    twin[w].enabled);
		same_run(&twin[w], w);
	}
	close_sampler();
}

static void it_counts_as_its_twin(void **state)
{
	open_sampler(state, &(struct netns_sampler_params){0});
	close_sampler();
	the_twin_counts_the_same(NETNS_SAMPLER_GIVEN);
	the_twin_counts_the_same(NETNS_SAMPLER_GIVEN_ALIGNED);
}

/* --- the clock ------------------------------------------------------------ */

/* Buckets begin and end at the nanosecond, in every width that can be set; the
 * last one ends the run; a late packet is not counted; what is not armed counts
 * nothing, and what is armed again begins anew. */
static void a_run_keeps_its_rule(void **state)
{
	const struct netns_sampler_params p = {.clock = NETNS_SAMPLER_GIVEN,
	    .width_ns = {10 * SIM_MS, 1500000, 100 * SIM_US}};
	const struct lab_flow f = {0, 1, 7, 9};
	const struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t frame[FRAMES_MAX];
	uint64_t t = 1000003;
	open_sampler(state, &p);
	frames_write(&x, frame);
	pass(0, frame, x.n_bytes, 0, t);
	assert_int_equal(take(0).start_ns, 0);
	for (uint32_t w = 0; w < WIDTHS; w++, t += SIM_SEC) {
		const uint64_t width = p.width_ns[w];
		netns_sampler_arm(sampler, 1u << w);
		assert_int_equal(netns_sampler_armed(sampler), 1u << w);
		for (uint32_t i = 0; i < OBS_BUCKETS; i++) {
			pass(0, frame, x.n_bytes, 0, t + i * width);
			pass(1, frame, x.n_bytes, 0, t + (i + 1) * width - 1);
		}
		assert_int_equal(netns_sampler_armed(sampler), 1u << w);
		pass(0, frame, x.n_bytes, 0, t + OBS_BUCKETS * width);
		assert_int_equal(netns_sampler_armed(sampler), 0);
		pass(0, frame, x.n_bytes, 0, t + width);
		assert_int_equal(take(w).start_ns, t);
		for (uint32_t i = 0; i < OBS_BUCKETS; i++) {
			assert_int_equal(got[i].in_bytes, x.n_bytes);
			assert_int_equal(got[i].out_bytes, x.n_bytes);
			assert_int_equal(obs_sketch_count(&got[i].conns), 2);
		}
	}
	netns_sampler_arm(sampler, 1);
	pass(0, frame, x.n_bytes, 0, t);
	/* One that read the clock before it lost the race, and one from long
	 * ago. */
	pass(0, frame, x.n_bytes, 0, t - 1);
	pass(0, frame, x.n_bytes, 0, t - SIM_SEC);
	const struct netns_sampler_run run = take(0);
	assert_int_equal(run.start_ns, t);
	assert_int_equal(run.n_missed, 1);
	assert_int_equal(got[0].in_bytes, 2 * x.n_bytes);
	close_sampler();
}

static uint64_t tai_now(void)
{
	struct timespec t;
	assert_int_equal(clock_gettime(CLOCK_TAI, &t), 0);
	return (uint64_t)t.tv_sec * SIM_SEC + (uint64_t)t.tv_nsec;
}

/* By the kernel's own clock: a run begins between two readings of TAI around its
 * first packet, give or take how well the clocks can be compared; aligned, at a
 * multiple of the width before it, to the nanosecond. */
static void runs_begin_by_tai(void **state)
{
	enum { APART = 2 * SIM_US };
	const struct lab_flow f = {0, 1, 7, 9};
	const struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t frame[FRAMES_MAX];
	frames_write(&x, frame);
	for (int aligned = 0; aligned < 2; aligned++) {
		open_sampler(state,
		    &(struct netns_sampler_params){.clock = aligned
			    ? NETNS_SAMPLER_ALIGNED
			    : NETNS_SAMPLER_FIRST_PACKET});
		netns_sampler_arm(sampler, ALL);
		const uint64_t from = tai_now();
		pass(0, frame, x.n_bytes, 0, 0);
		const uint64_t to = tai_now();
		for (uint32_t w = 0; w < WIDTHS; w++) {
			const struct netns_sampler_run run = take(w);
			const uint64_t back = aligned ? run.width_ns : 0;
			assert_in_range(run.start_ns, from - back - APART,
			    to + APART);
			if (aligned)
				assert_int_equal(run.start_ns % run.width_ns,
				    0);
			assert_int_equal(got[0].in_bytes, x.n_bytes);
		}
		close_sampler();
	}
}

/* Frames by processor CPU, in a process of its own. */
static pid_t pass_on(unsigned cpu, const uint8_t bytes[], uint32_t n,
    uint32_t repeat)
{
	const struct netns_frame frame = {bytes, n, repeat};
	struct netns_cost cost;
	cpu_set_t one;
	const pid_t child = fork();
	if (child != 0)
		return child;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	_exit(prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    sched_setaffinity(0, sizeof(one), &one) != 0 ||
	    netns_sampler_try(sampler, 0, &frame, 0, NULL, &cost, NULL) != 0);
}

/* Both race for the first packet, with the kernel's own clock. */
static void two_processors_count_all(void **state)
{
	enum { EACH = 20000, N_RUNS = 40 };
	const struct lab_flow f = {0, 1, 7, 9};
	const struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t frame[FRAMES_MAX];
	pid_t child[2];
	int status;
	const unsigned n_cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	open_sampler(state, &(struct netns_sampler_params){0});
	frames_write(&x, frame);
	for (unsigned i = 0; i < N_RUNS; i++) {
		uint64_t sum = 0;
		netns_sampler_arm(sampler, 1);
		for (unsigned k = 0; k < n_cpus; k++)
			child[k] = pass_on(k, frame, x.n_bytes, EACH);
		for (unsigned k = 0; k < n_cpus; k++) {
			assert_int_equal(waitpid(child[k], &status, 0),
			    child[k]);
			assert_int_equal(status, 0);
		}
		assert_int_equal(take(0).n_missed, 0);
		for (unsigned b = 0; b < OBS_BUCKETS; b++)
			sum += got[b].in_bytes;
		assert_int_equal(sum, (uint64_t)n_cpus * EACH * x.n_bytes);
	}
	close_sampler();
}

/* --- packets -------------------------------------------------------------- */

/* TCP over IPv6 behind N_TAGS VLAN tags. Returns its bytes. */
static uint32_t frame6(uint8_t to[], unsigned n_tags, uint8_t tos, uint8_t ttl)
{
	static const uint8_t address[32] = {0xfd, 1, [15] = 1, 0xfd,
	    2, [31] = 2};
	const uint32_t at = 14 + 4 * n_tags;
	memset(to, 0, FRAMES_MAX);
	for (unsigned i = 0; i < n_tags; i++)
		sim_inet_put16(to + 12 + 4 * i,
		    i + 1 < n_tags ? 0x88a8 : 0x8100);
	sim_inet_put16(to + at - 2, 0x86dd);
	sim_inet_put32(to + at, 6u << 28 | (uint32_t)tos << 20);
	sim_inet_put16(to + at + 4, 20);
	to[at + 6] = TOPO_PROTO_TCP;
	to[at + 7] = ttl;
	memcpy(to + at + 8, address, sizeof(address));
	sim_inet_put16(to + at + 40, 1111);
	sim_inet_put16(to + at + 42, 80);
	to[at + 52] = 5 << 4;
	return at + 60;
}

static void packets_of_version_6_are_counted(void **state)
{
	const uint64_t a[] = {UINT64_C(0xfd01) << 48, 1},
		       b[] = {UINT64_C(0xfd02) << 48, 2};
	const struct netns_sampler_params p = {.clock = NETNS_SAMPLER_GIVEN,
	    .net6 = {a[0]},
	    .mask6 = {UINT64_C(0xffff) << 48}};
	uint8_t frame[FRAMES_MAX];
	open_sampler(state, &p);
	for (unsigned n_tags = 0; n_tags < 3; n_tags++) {
		struct obs_sketch in = {0}, out = {0};
		const uint32_t n = frame6(frame, n_tags, 3, 255);
		obs_sketch_set(&in,
		    obs_sketch_bit6(b, a,
			obs_sketch_ports(80, 1111, TOPO_PROTO_TCP)));
		obs_sketch_set(&out,
		    obs_sketch_bit6(a, b,
			obs_sketch_ports(1111, 80, TOPO_PROTO_TCP)));
		netns_sampler_arm(sampler, 1);
		/* Comes from A, which is of the region. */
		pass(0, frame, n, 0, 1);
		frame6(frame, n_tags, 2, 127);
		pass(0, frame, n, 0, 1);
		/* Goes to B, which is not. */
		pass(1, frame, n, 0, 1 + 10 * SIM_MS);
		take(0);
		assert_int_equal(got[0].in_bytes, 2 * n);
		assert_int_equal(got[0].in_ce, n);
		assert_int_equal(got[0].in_retx, n);
		assert_int_equal(got[0].in_cross, 0);
		assert_int_equal(got[1].out_bytes, n);
		assert_int_equal(got[1].out_cross, n);
		assert_int_equal(got[1].out_retx, 0);
		assert_memory_equal(&got[0].conns, &in, sizeof(in));
		assert_memory_equal(&got[1].conns, &out, sizeof(out));
	}
	close_sampler();
}

/* A frame of N bytes from one end of a pair of interfaces, in a namespace of its
 * own, to the other, where the sampler is. */
static void pass_by_veth(const void *bytes, size_t n)
{
	const int home = open("/proc/thread-self/ns/net", O_RDONLY);
	struct sockaddr_ll to = {.sll_family = AF_PACKET};
	assert_true(home >= 0 && unshare(CLONE_NEWNET) == 0);
	assert_int_equal(system("echo 1 >/proc/sys/net/ipv6/conf/default/"
				"disable_ipv6; ip link add va type veth peer "
				"name vb && "
				"ip link set va up && ip link set vb up"),
	    0);
	assert_ok(
	    netns_sampler_attach(sampler, if_nametoindex("vb"), test_err()));
	to.sll_ifindex = (int)if_nametoindex("va");
	const int fd = socket(AF_PACKET, SOCK_RAW, 0);
	netns_sampler_arm(sampler, 1);
	/* Links that were just made lose what is sent until they run. */
	for (int i = 0; i < 1000 && netns_sampler_n_echoed(sampler) == 0; i++) {
		assert_int_equal(sendto(fd, bytes, n, 0, (void *)&to,
				     sizeof(to)),
		    n);
		usleep(1000);
	}
	close(fd);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	close(home);
}

/* Of two tags the kernel takes the outer one out of what comes in. */
static void tags_beside_the_packet_are_counted(void **state)
{
	const struct lab_flow f = {0, 1, 7, 9};
	struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t plain[FRAMES_MAX], frame[FRAMES_MAX] = {0};
	struct obs_sketch s = {0};
	open_sampler(state,
	    &(struct netns_sampler_params){.clock = NETNS_SAMPLER_GIVEN,
		.n_echoes = 2});
	x.n_bytes = 300;
	frames_write(&x, plain);
	memcpy(frame, plain, 12);
	memset(frame, 0xff, 6);
	sim_inet_put16(frame + 12, 0x88a8);
	sim_inet_put16(frame + 14, 7);
	sim_inet_put16(frame + 16, 0x8100);
	sim_inet_put16(frame + 18, 9);
	memcpy(frame + 20, plain + 12, 288);
	obs_sketch_set(&s,
	    obs_sketch_bit4(x.ip.dst_ip, x.ip.src_ip,
		obs_sketch_ports(9, 7, TOPO_PROTO_TCP)));
	netns_sampler_now(sampler, 1);
	pass_by_veth(frame, 308);
	take(0);
	assert_int_equal(got[0].in_bytes,
	    308 * netns_sampler_n_echoed(sampler));
	assert_memory_equal(&got[0].conns, &s, sizeof(s));
	close_sampler();
}

/* Of a packet of 5 segments with 54 bytes of headers each; of a fragment, whose
 * first bytes are no ports; of none of IP; cut within its ports. */
static void odd_packets_are_counted(void **state)
{
	const struct lab_flow f = {0, 1, 7, 9};
	struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t frame[FRAMES_MAX] = {0};
	for (int wire = 0; wire < 2; wire++) {
		const struct netns_sampler_params p = {.clock =
							   NETNS_SAMPLER_GIVEN,
		    .wire_bytes = (uint8_t)wire};
		struct obs_sketch s = {0};
		open_sampler(state, &p);
		x.n_bytes = 300;
		frames_write(&x, frame);
		netns_sampler_arm(sampler, 1);
		pass(0, frame, 300, 5, 1);
		sim_inet_put16(frame + 14 + 6, 100);
		pass(0, frame, 300, 0, 1 + 10 * SIM_MS);
		sim_inet_put16(frame + 12, 0x0806);
		pass(0, frame, 60, 0, 1 + 20 * SIM_MS);
		sim_inet_put16(frame + 12, OBS_ETH_IPV4);
		frames_write(&x, frame);
		pass(0, frame, 36, 0, 1 + 30 * SIM_MS);
		take(0);
		obs_sketch_set(&s,
		    obs_sketch_bit4(x.ip.dst_ip, x.ip.src_ip,
			obs_sketch_ports(0, 0, TOPO_PROTO_TCP)));
		assert_int_equal(got[0].in_bytes, 300 + wire * 4 * 54);
		assert_int_equal(got[1].in_bytes, 300);
		assert_memory_equal(&got[1].conns, &s, sizeof(s));
		assert_int_equal(got[2].in_bytes, 60);
		assert_int_equal(obs_sketch_count(&got[2].conns), 0);
		assert_int_equal(got[3].in_bytes, 36);
		assert_memory_equal(&got[3].conns, &s, sizeof(s));
		close_sampler();
	}
}

/* A mark by a bit of the DSCP is seen there, and the TTL's is none. */
static void marks_are_those_that_were_asked_for(void **state)
{
	const struct lab_flow f = {0, 1, 7, 9};
	struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t frame[FRAMES_MAX];
	for (int mark = 0; mark < 3; mark++) {
		const struct netns_sampler_params p = {.clock =
							   NETNS_SAMPLER_GIVEN,
		    .mark = (enum netns_sampler_mark)mark};
		open_sampler(state, &p);
		netns_sampler_arm(sampler, 1);
		x.ip.ttl = 192;
		x.ip.tos = 0x7c;
		frames_write(&x, frame);
		pass(0, frame, x.n_bytes, 0, 1);
		x.ip.ttl = 127;
		x.ip.tos = 0x80;
		frames_write(&x, frame);
		pass(0, frame, x.n_bytes, 0, 1 + 10 * SIM_MS);
		take(0);
		assert_int_equal(got[0].in_retx,
		    mark == NETNS_SAMPLER_MARK_TTL ? x.n_bytes : 0);
		assert_int_equal(got[1].in_retx,
		    mark == NETNS_SAMPLER_MARK_DSCP ? x.n_bytes : 0);
		close_sampler();
	}
}

/* Neighbour discovery begins with a TTL of 255, some systems' UDP with 128 and
 * some systems' TCP, too: of all these only what TCP sends in counts as sent again,
 * and what leaves as the socket says, of which there is none here. */
static void marks_of_others_than_tcp_are_none(void **state)
{
	enum { N_HIGH_TCP = 2 };
	static const enum netns_sampler_mark marks[] = {NETNS_SAMPLER_MARK_TTL,
	    NETNS_SAMPLER_MARK_DSCP};
	const struct lab_flow f = {0, 1, 7, 9};
	for (int k = 0; k < 2; k++) {
		const struct netns_sampler_params p = {.clock =
							   NETNS_SAMPLER_GIVEN,
		    .mark = marks[k]};
		struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
		uint8_t frame[FRAMES_MAX], version6[FRAMES_MAX];
		open_sampler(state, &p);
		netns_sampler_arm(sampler, 1);
		x.ip.ttl = 255;
		x.ip.tos = 0xfc;
		const uint32_t n = frame6(version6, 0, 0xfc, 255);
		for (int tcp = 0; tcp < 2; tcp++) {
			x.ip.proto = tcp ? TOPO_PROTO_TCP : OBS_PROTO_UDP;
			version6[14 + 6] = tcp ? TOPO_PROTO_TCP : 58;
			frames_write(&x, frame);
			for (int out = 0; out < 2; out++) {
				const uint64_t t = 1 + tcp * 10 * SIM_MS;
				pass(out, frame, x.n_bytes, 0, t);
				pass(out, version6, n, 0, t);
			}
		}
		take(0);
		assert_int_equal(got[0].in_bytes, x.n_bytes + n);
		assert_int_equal(got[0].in_retx, 0);
		assert_int_equal(got[0].out_retx, 0);
		assert_int_equal(got[1].in_retx, x.n_bytes + n);
		assert_int_equal(got[1].out_bytes, x.n_bytes + n);
		assert_int_equal(got[1].out_retx, 0);
		const struct netns_sampler_count c =
		    netns_sampler_count(sampler);
		assert_int_equal(c.n_retx, 0);
		assert_int_equal(c.n_false, N_HIGH_TCP);
		close_sampler();
	}
}

/* --- what is sent again --------------------------------------------------- */

enum { SENDER = 0, RECEIVER = 5, N_ECHOES = 1 << 16 };

static struct faulty rig;

static void attach_to(topo_host h, struct netns_sampler *s)
{
	assert_ok(netns_enter(rig.lab.net, h, test_err()));
	assert_ok(netns_sampler_attach(s,
	    netns_ifindex(topo_link_of(h, TOPO_DOWN)), test_err()));
	assert_ok(netns_leave(rig.lab.net, test_err()));
}

static struct obs_bucket sum_got(void)
{
	struct obs_bucket sum = {0};
	for (unsigned i = 0; i < OBS_BUCKETS; i++)
		obs_bucket_merge(&sum, &got[i]);
	return sum;
}

static struct obs_bucket sum_of(struct netns_sampler *s, uint32_t w)
{
	struct netns_sampler_run run;
	assert_ok(netns_sampler_take(s, w, got, &run, test_err()));
	return sum_got();
}

/* The twin counts what the kernel saw, when it saw it: in every width the same
 * to the byte. All is on one processor, so the order is that of counting.
 * Returns the sum. */
static struct obs_bucket same_as_seen(void)
{
	static struct algo_buckets twin[WIDTHS];
	const uint64_t width[] = {10 * SIM_MS, SIM_MS, 100 * SIM_US};
	const uint32_t n = netns_sampler_n_echoed(sampler);
	assert_in_range(n, 1, N_ECHOES);
	for (int w = 0; w < WIDTHS; w++)
		assert_ok(algo_buckets_arm(&twin[w], 0, width[w],
		    ALGO_START_FIRST_PACKET, test_err()));
	for (uint32_t i = 0; i < n; i++) {
		const struct netns_sampler_echo x =
		    netns_sampler_echo(sampler, i);
		for (int w = 0; w < WIDTHS; w++)
			algo_buckets_packet(&twin[w], x.t, &x.seen);
	}
	for (int w = WIDTHS - 1; w >= 0; w--)
		same_run(&twin[w], (uint32_t)w);
	return sum_got();
}

/* How a sender recovers. */
struct recovery {
	double loss;
	int gso, rack, tail_probes;
	enum netns_sampler_mark mark;
	const char *control; /* of congestion; NULL: usual */
};

static void recover_by(const struct recovery *x)
{
	assert_ok(netns_enter(rig.lab.net, SENDER, test_err()));
	assert_ok(netns_node_write("ipv4/tcp_early_retrans",
	    x->tail_probes ? 3 : 0, test_err()));
	assert_ok(
	    netns_node_write("ipv4/tcp_recovery", x->rack ? 1 : 0, test_err()));
	assert_ok(netns_leave(rig.lab.net, test_err()));
}

/* All bytes are those of the interface, and what is sent again is what TCP says
 * it did, segment by segment; what of it arrives is seen to be marked, so the
 * checksums of its headers are right. */
static void send_with_loss(const struct recovery *x)
{
	const struct netns_faults_params faults = {0};
	const struct netns_sampler_params p = {.mark = x->mark,
	    .wire_bytes = 1,
	    .n_echoes = N_ECHOES};
	struct netns_sampler *at_receiver;
	faulty_open(&rig, &faults);
	assert_ok(netns_sampler_open(&sampler, &p, test_err()));
	assert_ok(netns_sampler_open(&at_receiver, &p, test_err()));
	faulty_add_loss(&rig, topo_link_of(SENDER, TOPO_UP), x->loss);
	faulty_apply(&rig, 0);
	if (x->gso)
		sending_allow_gso(&rig.lab, SENDER);
	recover_by(x);
	attach_to(SENDER, sampler);
	attach_to(RECEIVER, at_receiver);
	const struct sending_count before = sending_count(&rig.lab, SENDER),
				   far = sending_count(&rig.lab, RECEIVER);
	netns_sampler_arm(sampler, ALL);
	netns_sampler_arm(at_receiver, 1);
	/* With GSO, 300 packets at the least: one in 10^6 runs at 5 % loses none,
	 * and at 1 % one in 20. */
	sending_transfer(&rig.lab, SENDER, RECEIVER,
	    x->gso ? 20000000 : 2000000, x->control);
	const struct sending_count after = sending_count(&rig.lab, SENDER),
				   far_after =
				       sending_count(&rig.lab, RECEIVER);
	const struct netns_sampler_count n = netns_sampler_count(sampler);
	const struct obs_bucket sent = same_as_seen(),
				came = sum_of(at_receiver, 0);
	const uint32_t frame = netns_mtu(rig.lab.net) + 14;
	const uint64_t by_kernel = after.retx - before.retx;
	print_message("time: loss %.2f, GSO %d, RACK %d, tail probes %d, %s: "
		      "%llu segments counted, %llu by the kernel; %u bytes of "
		      "them, %u arrived\n",
	    x->loss, x->gso, x->rack, x->tail_probes,
	    x->control ? x->control : "usual", (unsigned long long)n.n_retx,
	    (unsigned long long)by_kernel, sent.out_retx, came.in_retx);
	assert_int_equal(n.n_retx, by_kernel);
	assert_int_equal(n.n_unmarked, 0);
	assert_true(sent.out_retx <= n.n_retx * frame);
	assert_true(x->loss < (x->gso ? 0.05 : 0.01) ||
	    (n.n_retx > 0 && came.in_retx > 0));
	if (!x->gso)
		assert_true(sent.out_retx + 10 * frame >= n.n_retx * frame);
	assert_true(came.in_retx <= sent.out_retx);
	assert_int_equal(came.in_bytes, far_after.in_bytes - far.in_bytes);
	assert_int_equal(sent.in_bytes, after.in_bytes - before.in_bytes);
	if (!x->gso)
		assert_int_equal(sent.out_bytes,
		    after.out_bytes - before.out_bytes);
	netns_sampler_close(at_receiver);
	close_sampler();
	faulty_close(&rig);
}

static int has_control(const char *name)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	const int rc = setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
	    (socklen_t)strlen(name));
	close(fd);
	return rc == 0;
}

/* By duplicate acknowledgements or by RACK, with and without probes of the tail,
 * and by senders that pace and mind no loss. */
static void what_is_sent_again_is_what_tcp_says(void **state)
{
	static const double loss[] = {0, 0.01, 0.05};
	static const char *const control[] = {"reno", "bbr"};
	open_sampler(state, &(struct netns_sampler_params){0});
	close_sampler();
	for (unsigned c = 0; c < 2; c++) {
		if (!has_control(control[c])) {
			print_message("time: %s is not in this kernel: not "
				      "tried\n",
			    control[c]);
			continue;
		}
		/* Each bit one of what a sender may do. */
		for (unsigned i = 0; i < 8; i++)
			for (unsigned k = 0; k < 3; k++)
				send_with_loss(&(struct recovery){loss[k],
				    i & 1, i >> 1 & 1, i >> 2,
				    (i + k) % 2 ? NETNS_SAMPLER_MARK_DSCP
						: NETNS_SAMPLER_MARK_TTL,
				    control[c]});
	}
}

/* A connection over lo by IPv6, whose receiver is deaf for a while: what is then
 * sent again comes in marked. Not ARMED: no run is under way, and packets are
 * marked all the same, as the count tells. */
static void send_to_the_deaf(int listener, enum netns_sampler_mark mark,
    int armed)
{
	const struct netns_sampler_params p = {.mark = mark,
	    .mark_always = !armed};
	struct sock_filter none = {BPF_RET | BPF_K, 0, 0, 0};
	const struct sock_fprog deaf = {1, &none};
	struct sockaddr_in6 at = {0};
	socklen_t size = sizeof(at);
	char buf[3000] = {0};
	const struct sending_count before = sending_count(&rig.lab, SENDER);
	assert_ok(netns_sampler_open(&sampler, &p, test_err()));
	assert_ok(netns_enter(rig.lab.net, SENDER, test_err()));
	assert_ok(netns_sampler_attach(sampler, 1, test_err()));
	const int fd = socket(AF_INET6, SOCK_STREAM, 0), one = 1;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof(one));
	assert_int_equal(getsockname(listener, (void *)&at, &size), 0);
	assert_int_equal(connect(fd, (const void *)&at, size), 0);
	const int far = accept(listener, NULL, NULL);
	netns_sampler_arm(sampler, armed ? 1 : 0);
	assert_int_equal(setsockopt(far, SOL_SOCKET, SO_ATTACH_FILTER, &deaf,
			     sizeof(deaf)),
	    0);
	assert_int_equal(send(fd, buf, sizeof(buf), 0), sizeof(buf));
	usleep(300000);
	assert_int_equal(setsockopt(far, SOL_SOCKET, SO_DETACH_FILTER, &deaf,
			     sizeof(deaf)),
	    0);
	assert_int_equal(recv(far, buf, sizeof(buf), MSG_WAITALL), sizeof(buf));
	/* A probe of a connection that is idle is of a byte before, and none. */
	if (armed)
		usleep(1300000);
	close(far);
	close(fd);
	netns_sampler_detach(1);
	assert_ok(netns_leave(rig.lab.net, test_err()));
	const struct sending_count after = sending_count(&rig.lab, SENDER);
	const struct obs_bucket sum = sum_of(sampler, 0);
	const struct netns_sampler_count n = netns_sampler_count(sampler);
	print_message("time: IPv6, mark %d: %llu segments counted, %llu by the "
		      "kernel; %u bytes, %u seen marked\n",
	    mark, (unsigned long long)n.n_retx, after.retx - before.retx,
	    sum.out_retx, sum.in_retx);
	assert_true(n.n_retx > 0);
	assert_int_equal(n.n_retx, after.retx - before.retx);
	assert_int_equal(n.n_unmarked, 0);
	assert_int_equal(n.n_false, 0);
	assert_int_equal(sum.out_retx > 0, armed);
	assert_int_equal(sum.in_retx,
	    mark == NETNS_SAMPLER_MARK_NONE ? 0 : sum.out_retx);
	close_sampler();
}

static void packets_of_version_6_are_marked(void **state)
{
	const struct netns_faults_params faults = {0};
	const struct sockaddr_in6 self = {.sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	open_sampler(state, &(struct netns_sampler_params){0});
	close_sampler();
	faulty_open(&rig, &faults);
	assert_ok(netns_enter(rig.lab.net, SENDER, test_err()));
	assert_ok(netns_node_write("ipv6/conf/lo/disable_ipv6", 0, test_err()));
	const int listener = socket(AF_INET6, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (const void *)&self, sizeof(self)), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_ok(netns_leave(rig.lab.net, test_err()));
	send_to_the_deaf(listener, NETNS_SAMPLER_MARK_TTL, 1);
	send_to_the_deaf(listener, NETNS_SAMPLER_MARK_DSCP, 1);
	send_to_the_deaf(listener, NETNS_SAMPLER_MARK_NONE, 1);
	send_to_the_deaf(listener, NETNS_SAMPLER_MARK_TTL, 0);
	close(listener);
	faulty_close(&rig);
}

static void widths_that_cannot_be_counted_are_refused(void **state)
{
	struct netns_sampler_params p = {.width_ns = {999}};
	lab_needs(state);
	assert_int_equal(netns_sampler_open(&sampler, &p, test_err()),
	    SIM_ERANGE);
	assert_null(sampler);
	p.width_ns[0] = 49999999;
	assert_int_equal(netns_sampler_open(&sampler, &p, test_err()),
	    SIM_ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_counts_as_its_twin),
	    cmocka_unit_test(a_run_keeps_its_rule),
	    cmocka_unit_test(runs_begin_by_tai),
	    cmocka_unit_test(two_processors_count_all),
	    cmocka_unit_test(packets_of_version_6_are_counted),
	    cmocka_unit_test(odd_packets_are_counted),
	    cmocka_unit_test(tags_beside_the_packet_are_counted),
	    cmocka_unit_test(marks_are_those_that_were_asked_for),
	    cmocka_unit_test(marks_of_others_than_tcp_are_none),
	    cmocka_unit_test(what_is_sent_again_is_what_tcp_says),
	    cmocka_unit_test(packets_of_version_6_are_marked),
	    cmocka_unit_test(widths_that_cannot_be_counted_are_refused),
	};
	return cmocka_run_group_tests_name("models/netns/sampler", tests,
	    lab_begin, NULL);
}
