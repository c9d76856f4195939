/* tests/real/netns_phantom_test.c -- the kernel's phantom queues are their twin's.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/phantom.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/bpf/phantom_law.h"
#include "sim/inet.h"
#include "tests/real/frames.h"
#include "tests/real/lab.h"

enum { N_PORTS = 8, IP_AT = 14, ECT = 2, CE = 3, MS = 1000000 };

static const struct topo_clos phantom_shape = {.n_pods = 1,
    .n_tors = 1,
    .n_hosts = N_PORTS};

static struct lab lab;
static struct netns_phantom *phantom;

/* The calling thread is in the switch's namespace from here on. */
static void phantom_open(void **state, const struct netns_phantom_params *p)
{
	const struct netns_phantom_ports ports = {.n_ports = N_PORTS,
	    .first = netns_ifindex(topo_link_of(0, TOPO_UP)),
	    .step = topo_link_of(1, TOPO_UP) - topo_link_of(0, TOPO_UP),
	    .given = 1};
	lab_needs(state);
	const int rc = netns_phantom_open(&phantom, p, &ports, test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		skip();
	}
	assert_ok(rc);
	lab_open(&lab, &phantom_shape, 1);
	assert_ok(netns_enter(lab.net, N_PORTS, test_err()));
}

static void phantom_close(void)
{
	assert_ok(netns_leave(lab.net, test_err()));
	netns_phantom_close(phantom);
	lab_close(&lab);
}

/* A TCP packet of N bytes with an ECN field. */
static void phantom_frame(uint8_t frame[FRAMES_MAX], uint32_t n, uint8_t ecn)
{
	const struct lab_flow f = {0, 1, 7, 9};
	struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	x.n_bytes = n;
	x.ip.tos = ecn;
	frames_write(&x, frame);
}

static int phantom_drops(uint32_t port, const uint8_t *bytes, uint32_t n,
    uint32_t gso_segs, uint8_t *after, uint64_t *units)
{
	const struct netns_frame frame = {bytes, n, 1};
	struct netns_cost cost;
	int dropped;
	assert_ok(netns_phantom_try(phantom, port, &frame, gso_segs, after,
	    &dropped, units, &cost, test_err()));
	return dropped;
}

/* 20,000 packets to eight ports, some without ECN, at times that step on by less
 * than a packet takes up to many sweeps, and at times back. */
static void it_decides_as_its_twin(void **state)
{
	static const struct netns_phantom_params params[] = {{100, 20000, 1,
								 3000},
	    {937, 100000, .25, 0}, {10000, 7000, 2.5, 7000}};
	uint8_t frame[FRAMES_MAX], after[FRAMES_MAX];
	for (unsigned run = 0; run < 3; run++) {
		struct netns_phantom_count want[N_PORTS] = {{0}};
		struct phantom_buffer twin = {0};
		struct phantom_law law;
		struct sim_rng r;
		uint64_t now = 3600 * (uint64_t)SIM_SEC, units, n_lost = 0;
		test_rng(&r, run);
		phantom_open(state, &params[run]);
		assert_ok(
		    netns_phantom_law(&law, &params[run], N_PORTS, test_err()));
		for (unsigned k = 0; k < 20000; k++) {
			const uint32_t i = sim_rng_below(&r, 3) > 0
			    ? 1
			    : sim_rng_below(&r, N_PORTS);
			const uint32_t n = 60 + sim_rng_below(&r, 440);
			const uint8_t ecn = sim_rng_below(&r, 4) > 0 ? ECT : 0;
			const uint32_t step = sim_rng_below(&r, 400);
			now += step == 0 ? sim_rng_below(&r, 5 * MS)
			    : step < 10
			    ? -(uint64_t)sim_rng_below(&r, 300)
			    : sim_rng_below(&r, 2000 * 1000 / law.mbps);
			phantom_frame(frame, n, ecn);
			netns_phantom_now(phantom, now);
			const enum phantom_says says =
			    phantom_packet(&law, &twin, i, now, n);
			const int dropped =
			    phantom_drops(i, frame, n, 0, after, &units);
			if (dropped != (says == PHANTOM_DROPPED) ||
			    units != twin.port[i].length)
				fail_msg("run %u, packet %u: %d, %llu units; "
					 "twin %d, %llu",
				    run, k, dropped, (unsigned long long)units,
				    says,
				    (unsigned long long)twin.port[i].length);
			if (says == PHANTOM_MARKED && ecn)
				phantom_frame(frame, n, CE);
			assert_memory_equal(after, frame, n);
			want[i].packets++;
			want[i].bytes += n;
			want[i].n_marked += says == PHANTOM_MARKED && ecn;
			want[i].n_deaf += says == PHANTOM_MARKED && !ecn;
			want[i].n_dropped += says == PHANTOM_DROPPED;
			want[i].dropped_bytes +=
			    says == PHANTOM_DROPPED ? n : 0;
			if (!dropped &&
			    twin.port[i].length / PHANTOM_UNITS >
				want[i].longest)
				want[i].longest =
				    twin.port[i].length / PHANTOM_UNITS;
			n_lost += dropped;
		}
		/* Else all this would show little. */
		assert_in_range(n_lost, 1000, 19000);
		for (uint32_t i = 0; i < N_PORTS; i++) {
			const struct netns_phantom_count got =
			    netns_phantom_count(phantom, i);
			assert_memory_equal(&got, &want[i], sizeof(got));
		}
		phantom_close();
	}
}

/* One of 5 segments with 54 bytes of headers each counts with all of them, and if
 * it does not fit is dropped whole. */
static void a_large_packet_counts_as_its_segments(void **state)
{
	const struct netns_phantom_params p = {1, 10000, 8, 10000};
	uint8_t frame[FRAMES_MAX];
	uint64_t units;
	phantom_open(state, &p);
	netns_phantom_now(phantom, 1);
	phantom_frame(frame, 400, ECT);
	assert_false(phantom_drops(0, frame, 400, 5, NULL, &units));
	assert_int_equal(units, (400 + 4 * 54) * PHANTOM_UNITS);
	assert_false(phantom_drops(1, frame, 400, 0, NULL, &units));
	assert_int_equal(units, 400 * PHANTOM_UNITS);
	/* 8,984 are free. */
	assert_true(phantom_drops(2, frame, 400, 161, NULL, &units));
	assert_int_equal(units, 0);
	assert_false(phantom_drops(2, frame, 400, 159, NULL, &units));
	assert_int_equal(units, (400 + 158 * 54) * PHANTOM_UNITS);
	phantom_close();
}

/* Frames to PORT by processor CPU, in a process of its own. */
static pid_t phantom_pass_on(unsigned cpu, uint32_t port, const uint8_t *bytes,
    uint32_t n, uint32_t repeat)
{
	const struct netns_frame frame = {bytes, n, repeat};
	struct netns_cost cost;
	uint64_t units;
	cpu_set_t one;
	int dropped;
	const pid_t child = fork();
	if (child != 0)
		return child;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	_exit(prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    sched_setaffinity(0, sizeof(one), &one) != 0 ||
	    netns_phantom_try(phantom, port, &frame, 0, NULL, &dropped, &units,
		&cost, NULL) != 0);
}

/* While another holds the lock packets pass, and change nothing; behind it the law
 * goes on as if they had not been. */
static void who_is_not_let_in_passes(void **state)
{
	const struct netns_phantom_params p = {1, 1000, 1, 0};
	uint8_t frame[FRAMES_MAX];
	uint64_t units;
	phantom_open(state, &p);
	netns_phantom_now(phantom, 1);
	phantom_frame(frame, 400, ECT);
	assert_false(phantom_drops(0, frame, 400, 0, NULL, &units));
	/* It has 500. */
	netns_phantom_hold(phantom, 1);
	for (unsigned k = 1; k <= 3; k++) {
		assert_false(phantom_drops(0, frame, 400, 0, NULL, &units));
		assert_int_equal(netns_phantom_raced(phantom), k);
	}
	netns_phantom_hold(phantom, 0);
	assert_int_equal(netns_phantom_count(phantom, 0).packets, 1);
	assert_true(phantom_drops(0, frame, 400, 0, NULL, &units));
	assert_int_equal(units, 400 * PHANTOM_UNITS);
	const struct netns_phantom_count c = netns_phantom_count(phantom, 0);
	assert_int_equal(c.packets, 2);
	assert_int_equal(c.bytes, 800);
	assert_int_equal(c.n_dropped, 1);
	assert_int_equal(netns_phantom_raced(phantom), 3);
	phantom_close();
}

/* Alike packets, at one time, by two processors at once: whatever the order, as
 * many fit as the law says, and each is counted once. Who holds the lock may lose
 * its processor to another machine; then some pass, which were not let in. */
static void two_processors_share_the_buffer(void **state)
{
	enum { EACH = 50000, BYTES = 100 };
	const struct netns_phantom_params p = {1, 4000000, 1, 0};
	uint8_t frame[FRAMES_MAX];
	pid_t child[2];
	int status;
	const unsigned n_cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	phantom_open(state, &p);
	phantom_frame(frame, BYTES, ECT);
	for (unsigned run = 1; run <= 10; run++) {
		struct netns_phantom_count before[2], c[2];
		const uint64_t raced = netns_phantom_raced(phantom);
		uint64_t n_in = 0, n = 0;
		/* Empty again. */
		netns_phantom_now(phantom, run * 100 * (uint64_t)SIM_SEC);
		for (uint32_t k = 0; k < 2; k++)
			before[k] = netns_phantom_count(phantom, k);
		for (unsigned k = 0; k < n_cpus; k++)
			child[k] = phantom_pass_on(k, run % 2 ? 0 : k, frame,
			    BYTES, EACH);
		for (unsigned k = 0; k < n_cpus; k++) {
			assert_int_equal(waitpid(child[k], &status, 0),
			    child[k]);
			assert_int_equal(status, 0);
		}
		for (uint32_t k = 0; k < 2; k++) {
			c[k] = netns_phantom_count(phantom, k);
			n += c[k].packets - before[k].packets;
			n_in += c[k].packets - before[k].packets -
			    (c[k].n_dropped - before[k].n_dropped);
		}
		assert_int_equal(n + netns_phantom_raced(phantom) - raced,
		    (uint64_t)n_cpus * EACH);
		/* One port alone: half of the buffer, exactly. */
		if (run % 2)
			assert_int_equal(n_in,
			    n_cpus * EACH < 20000 ? n_cpus * EACH : 20000);
		/* Two: a third each if they came evenly, a half and half of the
		 * rest if one was first. */
		else
			assert_in_range(n_in, n_cpus > 1 ? 26665 : 20000,
			    30000);
	}
	phantom_close();
}

/* What a port drops on its way out, and what it marks, with real packets: UDP to
 * one host at one moment. */
static void ports_drop_what_does_not_fit(void **state)
{
	const struct netns_phantom_params p = {1, 3000, 1, 500};
	const struct lab_flow f = {0, 1, 7, 9};
	struct obs_packet x = frames_tcp(&f, OBS_TCP_ACK, 8, 1);
	uint8_t frame[FRAMES_MAX];
	struct netns_phantom_count c;
	uint64_t before[64], after[64];
	x.n_bytes = 300;
	x.ip.tos = ECT;
	phantom_open(state, &p);
	assert_true(lab.t.n_links <= 64);
	netns_phantom_now(phantom, 1);
	for (uint32_t i = 0; i < N_PORTS; i++)
		assert_ok(netns_phantom_attach(phantom, i, test_err()));
	assert_ok(netns_leave(lab.net, test_err()));
	assert_ok(netns_count(lab.net, before, test_err()));
	const int raw = frames_open(&lab, 0);
	frames_write(&x, frame);
	for (unsigned k = 0; k < 20; k++)
		frames_send(raw, &x);
	close(raw);
	/* Of 3,000 bytes one port has half, as alpha is 1. */
	for (unsigned wait = 0; wait < 1000; wait++) {
		c = netns_phantom_count(phantom, 1);
		if (c.packets >= 20)
			break;
		usleep(10000);
	}
	usleep(50000);
	assert_ok(netns_count(lab.net, after, test_err()));
	assert_int_equal(c.packets, 20);
	assert_int_equal(c.bytes, 20 * 300);
	assert_int_equal(c.n_dropped, 15);
	assert_int_equal(c.longest, 1500);
	assert_int_equal(c.n_marked, 3); /* behind 600, 900, 1200 */
	const topo_link l = topo_link_of(1, TOPO_DOWN);
	assert_int_equal(after[l] - before[l], 5);
	assert_ok(netns_enter(lab.net, N_PORTS, test_err()));
	for (uint32_t i = 0; i < N_PORTS; i++)
		netns_phantom_detach(phantom, i);
	assert_int_equal(netns_phantom_count(phantom, 0).n_dropped, 0);
	phantom_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_decides_as_its_twin),
	    cmocka_unit_test(a_large_packet_counts_as_its_segments),
	    cmocka_unit_test(who_is_not_let_in_passes),
	    cmocka_unit_test(two_processors_share_the_buffer),
	    cmocka_unit_test(ports_drop_what_does_not_fit),
	};
	return cmocka_run_group_tests_name("models/netns/phantom", tests,
	    lab_begin, NULL);
}
