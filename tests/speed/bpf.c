/* tests/speed/bpf.c -- programs of the kernel, net of an empty one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/mirror_rule.h"
#include "models/netns/caps.h"
#include "models/netns/mirror.h"
#include "models/netns/phantom.h"
#include "models/netns/sampler.h"
#include "sim/inet.h"
#include "tests/speed/bench.h"

enum {
	ETHERNET = 14,
	IP = 20,
	BYTES = 300,
	REPEAT = 100000,
	ROUNDS = 15,
	ACK = 0x10,
	SYN = 2,
	IPIP = 4,
};

struct bpf_subject {
	struct topo t;
	struct netns_net *net;
	struct netns_mirror *mirror;
	struct obs_mirror copies;
	struct netns_sampler *sampler;
	struct netns_phantom *phantom;
};

/* TCP of 300 bytes with an ID that is not sampled, within N_OUTER headers. */
static void bpf_frame(uint8_t to[BYTES], unsigned n_outer, uint8_t flags)
{
	memset(to, 0, BYTES);
	to[12] = 8;
	to += ETHERNET;
	for (unsigned i = 0; i <= n_outer; i++, to += IP) {
		to[0] = 0x45;
		sim_inet_put16(to + 2, BYTES - ETHERNET - i * IP);
		sim_inet_put16(to + 4, 8);
		to[8] = 64;
		to[9] = i < n_outer ? IPIP : TOPO_PROTO_TCP;
		sim_inet_put32(to + 12, 0x0a000001);
		sim_inet_put32(to + 16, 0x0a000002);
		sim_inet_put16(to + 10, ~sim_inet_sum(0, to, IP));
	}
	sim_inet_put16(to, 10000);
	sim_inet_put16(to + 2, 80);
	to[12] = 5 << 4;
	to[13] = flags;
}

static int bpf_open(struct bpf_subject *s, struct sim_err *e)
{
	static const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 2,
	    .n_t1 = 1,
	    .n_hosts = 1};
	struct netns_params p;
	int rc, as_user;
	if ((rc = netns_permit(&as_user, e)) < 0 ||
	    (rc = sim_field_defaults(netns_fields, &p, e)) < 0 ||
	    (rc = topo_open_clos(&s->t, &shape, e)) < 0)
		return rc;
	return netns_open(&s->net, &s->t, &p, e);
}

/* All rules. */
static int bpf_mirror(struct bpf_subject *s, uint32_t by_tick,
    struct sim_err *e)
{
	struct algo_mirror_params rules;
	struct algo_mirror_table table;
	int rc = sim_field_defaults(algo_mirror_fields, &rules, e);
	rules.rules = (1u << OBS_N_COPY_KINDS) - 1;
	if (rc < 0 || (rc = algo_mirror_table(&table, &rules, e)) < 0)
		return rc;
	const struct netns_mirror_params want = {.row = table.row,
	    .n_rows = table.n,
	    .by_tick = by_tick};
	netns_mirror_close(s->mirror);
	return netns_mirror_open(&s->mirror, s->net, &s->t, &want, e);
}

static void bpf_close(struct bpf_subject *s)
{
	netns_sampler_close(s->sampler);
	netns_phantom_close(s->phantom);
	netns_mirror_close(s->mirror);
	netns_close(s->net);
	topo_close(&s->t);
	obs_mirror_free(&s->copies);
}

/* --- timing --------------------------------------------------------------- */

/* One measurement of a program on FRAME. */
typedef int bpf_try(struct bpf_subject *s, const struct netns_frame *frame,
    struct netns_cost *c, struct sim_err *e);

static int try_mirror(struct bpf_subject *s, const struct netns_frame *frame,
    struct netns_cost *c, struct sim_err *e)
{
	size_t n;
	int rc =
	    netns_mirror_cost(s->mirror, topo_link_of(0, TOPO_UP), frame, c, e);
	if (rc == 0)
		rc = netns_mirror_read(s->mirror, &s->copies, SIZE_MAX, &n, e);
	obs_mirror_clear(&s->copies);
	return rc;
}

static int try_ingress(struct bpf_subject *s, const struct netns_frame *frame,
    struct netns_cost *c, struct sim_err *e)
{
	return netns_sampler_try(s->sampler, 0, frame, 0, NULL, c, e);
}

static int try_egress(struct bpf_subject *s, const struct netns_frame *frame,
    struct netns_cost *c, struct sim_err *e)
{
	return netns_sampler_try(s->sampler, 1, frame, 0, NULL, c, e);
}

static int try_phantom(struct bpf_subject *s, const struct netns_frame *frame,
    struct netns_cost *c, struct sim_err *e)
{
	uint64_t units;
	int dropped;
	return netns_phantom_try(s->phantom, 0, frame, 0, NULL, &dropped,
	    &units, c, e);
}

/* The least of some, as others have the machine, too. */
static int bpf_row(struct bpf_subject *s, const char *what, bpf_try *try,
    const uint8_t bytes[BYTES], char cmp, double goal, double *net,
    struct sim_err *e)
{
	const struct netns_frame frame = {bytes, BYTES, REPEAT};
	struct netns_cost least = {INFINITY, INFINITY}, c;
	for (int i = 0; i < ROUNDS; i++) {
		int rc = try(s, &frame, &c, e);
		if (rc < 0)
			return rc;
		least.ns = fmin(least.ns, c.ns);
		least.empty_ns = fmin(least.empty_ns, c.empty_ns);
	}
	*net = least.ns - least.empty_ns;
	bench_row(what, *net, "ns net", cmp, goal);
	bench_row("  beside an empty program", least.ns / least.empty_ns, "x",
	    '-', 0);
	return 0;
}

static int mirror_rows(struct bpf_subject *s, struct sim_err *e)
{
	static const struct {
		const char *what;
		unsigned n_outer;
		uint8_t flags;
		uint32_t by_tick;
		char cmp;
		double goal;
	} rows[] = {
	    {"bpf: mirror, a packet that no rule takes", 0, ACK, 0, '<', 8},
	    {"bpf: mirror, the same within another header", 1, ACK, 0, '-', 0},
	    {"bpf: mirror, a packet to the ring", 0, SYN, 0, '<', 30},
	    {"bpf: mirror, the same, time by tick", 0, SYN, ~0u, '<', 30},
	};
	uint8_t bytes[BYTES];
	double net;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bpf_frame(bytes, rows[i].n_outer, rows[i].flags);
		int rc = bpf_mirror(s, rows[i].by_tick, e);
		if (rc < 0 ||
		    (rc = bpf_row(s, rows[i].what, try_mirror, bytes,
			 rows[i].cmp, rows[i].goal, &net, e)) < 0)
			return rc;
	}
	return 0;
}

/* Widths so great that no run ends while it is timed. WIDTHS: bits of those that
 * are counted. */
static int sampler_rows(struct bpf_subject *s, struct sim_err *e)
{
	static const struct {
		const char *what;
		bpf_try *try;
		enum netns_sampler_clock clock;
		uint32_t widths;
		char cmp;
		double goal;
	} rows[] = {
	    {"bpf: sampler, disabled", try_ingress, 0, 0, '<', 1},
	    {"bpf: sampler, one width, in", try_ingress, 0, 1, '<', 45},
	    {"bpf: sampler, three widths, in", try_ingress, 0, 7, '<', 45},
	    {"bpf: sampler, three widths, out", try_egress, 0, 7, '<', 45},
	    {"bpf: sampler, in, without the clock", try_ingress,
		NETNS_SAMPLER_GIVEN, 7, '<', 15},
	    {"bpf: sampler, out, without the clock", try_egress,
		NETNS_SAMPLER_GIVEN, 7, '<', 15},
	    {"bpf: sampler, three widths, aligned, in", try_ingress,
		NETNS_SAMPLER_ALIGNED, 7, '<', 45},
	};
	struct netns_sampler_params p = {
	    .width_ns = {50000000, 40000000, 30000000}};
	enum { N = sizeof(rows) / sizeof(rows[0]), ALL_IN = 2, NO_CLOCK = 4 };
	double net[N];
	uint8_t bytes[BYTES];
	int rc = 0;
	bpf_frame(bytes, 0, ACK);
	for (size_t i = 0; rc == 0 && i < N; i++) {
		netns_sampler_close(s->sampler);
		p.clock = rows[i].clock;
		if ((rc = netns_sampler_open(&s->sampler, &p, e)) < 0)
			break;
		netns_sampler_now(s->sampler, 1);
		netns_sampler_arm(s->sampler, rows[i].widths);
		rc = bpf_row(s, rows[i].what, rows[i].try, bytes, rows[i].cmp,
		    rows[i].goal, &net[i], e);
	}
	/* Which is the machine's, and what the goals of all in were set for took
	 * 31 ns. */
	if (rc == 0)
		bench_row("bpf: sampler, of it the clock",
		    net[ALL_IN] - net[NO_CLOCK], "ns net", '-', 0);
	return rc;
}

/* Of 64 ports, at the one that every namespace has: lo. A line that is as fast as
 * any lets all pass, one of 1 Mb/s hardly any. */
static int phantom_rows(struct bpf_subject *s, struct sim_err *e)
{
	static const struct {
		const char *what;
		struct netns_phantom_params p;
		int given;
		char cmp;
		double goal;
	} rows[] = {
	    {"bpf: phantom queue, passes", {1e6, 1 << 30, 1, 1 << 30}, 0, '<',
		50},
	    {"bpf: phantom queue, marks", {1, 1 << 30, 256, 0}, 0, '-', 0},
	    {"bpf: phantom queue, drops", {1, 1500, 1, 1500}, 0, '-', 0},
	    {"bpf: phantom queue, passes, without the clock",
		{1e6, 1 << 30, 1, 1 << 30}, 1, '<', 20},
	};
	uint8_t bytes[BYTES];
	double net;
	int rc = 0;
	bpf_frame(bytes, 0, ACK);
	bytes[ETHERNET + 1] = 2; /* it has ECN */
	sim_inet_put16(bytes + ETHERNET + 10, 0);
	sim_inet_put16(bytes + ETHERNET + 10,
	    ~sim_inet_sum(0, bytes + ETHERNET, IP));
	for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct netns_phantom_ports ports = {64, 1, 1,
		    rows[i].given};
		netns_phantom_close(s->phantom);
		rc = netns_phantom_open(&s->phantom, &rows[i].p, &ports, e);
		if (rc == 0)
			rc = bpf_row(s, rows[i].what, try_phantom, bytes,
			    rows[i].cmp, rows[i].goal, &net, e);
	}
	return rc;
}

/* What there is to do when a run has ended, of which all buckets are in use: CPU
 * time, as it also sleeps until no packet is being counted. */
static int reader_row(struct bpf_subject *s, struct sim_err *e)
{
	static struct obs_bucket bucket[OBS_BUCKETS];
	const struct netns_sampler_params p = {.clock = NETNS_SAMPLER_GIVEN};
	struct netns_sampler_run run;
	struct netns_cost c;
	uint8_t bytes[BYTES];
	const struct netns_frame frame = {bytes, BYTES, 1};
	double least = INFINITY;
	bpf_frame(bytes, 0, ACK);
	netns_sampler_close(s->sampler);
	int rc = netns_sampler_open(&s->sampler, &p, e);
	for (int i = 0; rc == 0 && i < 5; i++) {
		netns_sampler_arm(s->sampler, 1);
		for (uint64_t k = 0; rc == 0 && k < OBS_BUCKETS; k++) {
			netns_sampler_now(s->sampler, 1 + k * 10000000);
			rc = netns_sampler_try(s->sampler, 0, &frame, 0, NULL,
			    &c, e);
		}
		const double from = bench_cpu_s();
		if (rc == 0)
			rc = netns_sampler_take(s->sampler, 0, bucket, &run, e);
		least = fmin(least, bench_cpu_s() - from);
		bench_sink += bucket[OBS_BUCKETS - 1].in_bytes;
	}
	if (rc == 0)
		bench_row("bpf: sampler, a full run read", 1e6 * least, "us",
		    '<', 50);
	return rc;
}

void bench_bpf(void)
{
	struct bpf_subject s = {0};
	struct sim_err e = {0};
	int rc = bpf_open(&s, &e);
	if (rc == 0)
		rc = mirror_rows(&s, &e);
	if (rc == 0)
		rc = sampler_rows(&s, &e);
	if (rc == 0)
		rc = phantom_rows(&s, &e);
	if (rc == 0)
		rc = reader_row(&s, &e);
	if (rc < 0)
		printf("%-48s %10s  %s\n", "bpf", "skipped", e.msg);
	bpf_close(&s);
}
