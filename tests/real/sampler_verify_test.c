/* tests/real/sampler_verify_test.c -- the kernel's buckets against a capture.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both look at one end of a veth pair while TCP loses packets: the sampler, and a
 * packet socket, of which a capture is written as tcpdump would.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "algos/millisampler/buckets.h"
#include "experiments/millisampler/held.h"
#include "models/netns/sampler.h"
#include "tests/folder.h"
#include "tests/real/faulty.h"
#include "tests/real/sending.h"
#include "topo/addr.h"

enum { SENDER = 0, RECEIVER = 5, WIDTHS = NETNS_SAMPLER_WIDTHS };

static struct faulty rig;

/* --- capturing --------------------------------------------------------------*/

static int capture_open(topo_host h)
{
	const int on = 1, bytes = 256 << 20;
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
	    .sll_protocol = htons(ETH_P_ALL)};
	assert_ok(netns_enter(rig.lab.net, h, test_err()));
	at.sll_ifindex = (int)netns_ifindex(topo_link_of(h, TOPO_DOWN));
	const int fd = socket(AF_PACKET, SOCK_RAW, 0);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes,
			     sizeof(bytes)),
	    0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on,
			     sizeof(on)),
	    0);
	assert_int_equal(bind(fd, (void *)&at, sizeof(at)), 0);
	assert_ok(netns_leave(rig.lab.net, test_err()));
	return fd;
}

static void put_le32(FILE *out, uint32_t x)
{
	const uint8_t b[] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16),
	    (uint8_t)(x >> 24)};
	fwrite(b, 1, sizeof(b), out);
}

/* All that waits, as a capture of the first 128 bytes of each. */
static void capture_write(int fd, const char *path)
{
	static const uint32_t head[] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, 65535,
	    1};
	uint8_t bytes[128];
	union {
		char space[CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr align;
	} control;
	struct tpacket_stats lost;
	socklen_t size = sizeof(lost);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		put_le32(out, head[i]);
	for (;;) {
		struct iovec part = {bytes, sizeof(bytes)};
		struct msghdr m = {.msg_iov = &part,
		    .msg_iovlen = 1,
		    .msg_control = &control,
		    .msg_controllen = sizeof(control)};
		struct timespec t;
		const ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0)
			break;
		const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		assert_non_null(c);
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		const uint32_t kept =
		    n < (ssize_t)sizeof(bytes) ? (uint32_t)n : sizeof(bytes);
		put_le32(out, (uint32_t)t.tv_sec);
		put_le32(out, (uint32_t)t.tv_nsec);
		put_le32(out, kept);
		put_le32(out, (uint32_t)n);
		fwrite(bytes, 1, kept, out);
	}
	assert_int_equal(fclose(out), 0);
	assert_int_equal(getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &lost,
			     &size),
	    0);
	assert_int_equal(lost.tp_drops, 0);
	close(fd);
}

/* --- the samples ------------------------------------------------------------*/

static struct res_samples *take_all(struct netns_sampler *s)
{
	static struct obs_bucket bucket[OBS_BUCKETS];
	struct res_hosts hosts = {0};
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	struct res_samples *r;
	for (uint32_t w = 0; w < WIDTHS; w++) {
		struct netns_sampler_run got;
		assert_ok(netns_sampler_take(s, w, bucket, &got, test_err()));
		const struct obs_run run = {.start_ns = got.start_ns,
		    .width_ns = got.width_ns,
		    .line_bps = 1000000000,
		    .n_buckets = OBS_BUCKETS,
		    .n_missed = (uint32_t)got.n_missed};
		assert_int_not_equal(got.start_ns, 0);
		assert_ok(algo_buckets_add_rows(bucket, OBS_BUCKETS, w, &t,
		    test_err()));
		assert_ok(obs_runs_add(&runs, &run, test_err()));
	}
	assert_ok(
	    res_samples_keep(&r, "samples", 1, &hosts, &runs, &t, test_err()));
	return r;
}

/* However far apart the readings of a packet are, over all of a run that is longer
 * than the transfer as much is counted as is captured. */
static void check_sum(struct res_samples *r, const struct xp_held_run *run)
{
	struct obs_samples t = {0};
	uint64_t sum = 0;
	if (res_samples_runs(r)->width_ns[run->row] < 10 * SIM_MS ||
	    run->n_buckets < OBS_BUCKETS)
		return;
	assert_ok(res_samples_load(r, run->row, 1, &t, test_err()));
	for (size_t i = 0; i < t.n; i++)
		sum += (uint64_t)t.in_bytes[i] + t.out_bytes[i];
	assert_int_equal(sum, run->n_bytes);
	obs_samples_free(&t);
}

/* Compare, with a clock of the capture that is as far behind TAI as UTC is.
 * Returns how many buckets are not explained. */
static uint32_t hold(struct res_samples *r, const char *path,
    uint64_t tolerance)
{
	uint32_t n_unexplained = 0;
	static struct xp_tap_params tap;
	const uint32_t host = 0;
	struct timespec utc, tai;
	char address[16];
	struct xp_tap *t;
	struct xp_held *h;
	struct xp_held_run *run;
	size_t n;
	clock_gettime(CLOCK_REALTIME, &utc);
	clock_gettime(CLOCK_TAI, &tai);
	/* Read one behind the other: whole seconds apart. */
	const int64_t ahead =
	    (tai.tv_sec - utc.tv_sec - (tai.tv_nsec < utc.tv_nsec)) *
	    (int64_t)SIM_SEC;
	const struct xp_held_params p = {.tolerance_ns = tolerance,
	    .ahead_ns = ahead};
	tap = (struct xp_tap_params){.retx = XP_TAP_TTL};
	topo_addr_format(topo_addr_of_host(SENDER), address);
	assert_ok(xp_tap_host(&tap, address, test_err()));
	assert_ok(xp_tap_open(&t, path, &tap, test_err()));
	assert_ok(xp_held_open(&h, r, &host, 1, &p, test_err()));
	assert_ok(xp_tap_each(t, xp_held_packet, h, test_err()));
	const struct xp_tap_said *said = xp_tap_said(t);
	assert_int_equal(said->n_of_hosts, said->n_packets);
	assert_ok(xp_held_compare(h, said->first_ns, said->last_ns, &run, &n,
	    test_err()));
	assert_int_equal(n, WIDTHS);
	for (size_t i = 0; i < n; i++) {
		print_message("time: TAI %lld s ahead; %llu ns: %u buckets, "
			      "%llu packets, %llu bytes; %u differ, %u "
			      "explained, %u not\n",
		    (long long)(ahead / (int64_t)SIM_SEC),
		    (unsigned long long)res_samples_runs(r)
			->width_ns[run[i].row],
		    run[i].n_buckets, (unsigned long long)run[i].n_packets,
		    (unsigned long long)run[i].n_bytes, run[i].n_differ,
		    run[i].n_explained, run[i].n_unexplained);
		assert_true(run[i].n_buckets > 0 && run[i].n_packets > 100);
		if (run[i].n_unexplained > 0)
			print_message("bucket %u: %llu %s, captured %llu\n",
			    run[i].bucket, (unsigned long long)run[i].sampled,
			    xp_held_names[run[i].series],
			    (unsigned long long)run[i].captured);
		check_sum(r, &run[i]);
		n_unexplained += run[i].n_unexplained;
	}
	free(run);
	xp_held_close(h);
	xp_tap_close(t);
	return n_unexplained;
}

static uint32_t capture_and_sample(int aligned, int gso)
{
	const struct netns_faults_params faults = {0};
	const struct netns_sampler_params p = {.clock = aligned
		? NETNS_SAMPLER_ALIGNED
		: NETNS_SAMPLER_FIRST_PACKET};
	const char *path = test_path("x.pcap");
	struct netns_sampler *s;
	faulty_open(&rig, &faults);
	assert_ok(netns_sampler_open(&s, &p, test_err()));
	faulty_add_loss(&rig, topo_link_of(SENDER, TOPO_UP), 0.02);
	faulty_apply(&rig, 0);
	if (gso)
		sending_allow_gso(&rig.lab, SENDER);
	assert_ok(netns_enter(rig.lab.net, SENDER, test_err()));
	const uint32_t ifindex = netns_ifindex(topo_link_of(SENDER, TOPO_DOWN));
	assert_ok(netns_sampler_attach(s, ifindex, test_err()));
	assert_ok(netns_leave(rig.lab.net, test_err()));
	const int fd = capture_open(SENDER);
	netns_sampler_arm(s, (1 << WIDTHS) - 1);
	sending_transfer(&rig.lab, SENDER, RECEIVER, gso ? 10000000 : 3000000,
	    NULL);
	struct res_samples *r = take_all(s);
	capture_write(fd, path);
	const uint32_t n = hold(r, path, 5 * SIM_US);
	res_samples_close(r);
	netns_sampler_close(s);
	faulty_close(&rig);
	return n;
}

/* Between the two readings of a packet the machine may be elsewhere, for longer
 * than the tolerance, and now and then where a bucket ends: on a busy machine of
 * two processors that was so in half of the captures. So one in TRIES must be
 * explained as a whole; with 1/2 each, 1 in 60,000 tests fails for nothing. */
static void explain_one(int aligned, int gso)
{
	enum { TRIES = 16 };
	for (int i = 0; i < TRIES; i++)
		if (capture_and_sample(aligned, gso) == 0)
			return;
	fail_msg("none of %d captures is explained", TRIES);
}

static void buckets_are_those_of_a_capture(void **state)
{
	struct netns_sampler *s;
	lab_needs(state);
	if (!xp_capture_is_built_in())
		skip();
	const int rc = netns_sampler_open(&s, &(struct netns_sampler_params){0},
	    test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		skip();
	}
	assert_ok(rc);
	netns_sampler_close(s);
	for (int aligned = 0; aligned < 2; aligned++)
		for (int gso = 0; gso < 2; gso++)
			explain_one(aligned, gso);
}

static int verify_begin(void **state)
{
	return lab_begin(state) != 0 || test_folder_make(state) != 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buckets_are_those_of_a_capture),
	};
	return cmocka_run_group_tests_name("culprit samples verify", tests,
	    verify_begin, test_folder_remove);
}
