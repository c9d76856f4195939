/* tests/bench_bpf.c -- programs of the kernel, net of an empty one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/mirror_rule.h"
#include "models/netns/caps.h"
#include "models/netns/mirror.h"
#include "sim/inet.h"
#include "tests/bench.h"

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
	netns_mirror_close(s->mirror);
	netns_close(s->net);
	topo_close(&s->t);
	obs_mirror_free(&s->copies);
}

/* *NS: beyond an empty program; *RATIO: to that. */
static int bpf_time(struct bpf_subject *s, unsigned n_outer, uint8_t flags,
    double *ns, double *ratio, struct sim_err *e)
{
	uint8_t bytes[BYTES];
	const struct netns_frame frame = {bytes, BYTES, REPEAT};
	struct netns_cost least = {INFINITY, INFINITY}, c;
	size_t n;
	int rc;
	bpf_frame(bytes, n_outer, flags);
	for (int i = 0; i < ROUNDS; i++) {
		if ((rc = netns_mirror_cost(s->mirror, topo_link_of(0, TOPO_UP),
			 &frame, &c, e)) < 0 ||
		    (rc = netns_mirror_read(s->mirror, &s->copies, SIZE_MAX, &n,
			 e)) < 0)
			return rc;
		obs_mirror_clear(&s->copies);
		least.ns = fmin(least.ns, c.ns);
		least.empty_ns = fmin(least.empty_ns, c.empty_ns);
	}
	*ns = least.ns - least.empty_ns;
	*ratio = least.ns / least.empty_ns;
	return 0;
}

static int bpf_rows(struct bpf_subject *s, struct sim_err *e)
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
	double ns, ratio;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = bpf_mirror(s, rows[i].by_tick, e);
		if (rc < 0 ||
		    (rc = bpf_time(s, rows[i].n_outer, rows[i].flags, &ns,
			 &ratio, e)) < 0)
			return rc;
		bench_row(rows[i].what, ns, "ns net", rows[i].cmp,
		    rows[i].goal);
		bench_row("  beside an empty program", ratio, "x", '-', 0);
	}
	return 0;
}

void bench_bpf(void)
{
	struct bpf_subject s = {0};
	struct sim_err e = {0};
	int rc = bpf_open(&s, &e);
	if (rc == 0)
		rc = bpf_rows(&s, &e);
	if (rc < 0)
		printf("%-48s %10s  %s\n", "bpf", "skipped", e.msg);
	bpf_close(&s);
}
