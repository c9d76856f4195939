/* tests/rigs/loopback.h -- a real fabric whose hosts are addresses of 127/8.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * So anyone may run it. What a network would lose, a socket filter throws away.
 * Times are bounded from below by what was asked for, and from above by
 * LOOP_SLOW, for the machine may have other things to do.
 */
#ifndef TESTS_LOOPBACK_H
#define TESTS_LOOPBACK_H

#include <netinet/in.h>

#include "models/real/real.h"
#include "tests/test.h"

enum { LOOP_HOSTS = 3 };
#define LOOP_SLOW (3 * SIM_SEC)

struct loop {
	struct fabric_real *f;
	struct fabric *base;
	struct fabric_real_params p;
	uint16_t next_port;
	/* What came last. */
	struct agent_event ev;
	topo_host host;
	sim_ns at;
};

/* Two ports that are free, 64 connections at a time, source ports from 20000
 * on; then open. To be closed by fabric_real_close(). */
void loop_defaults(struct loop *g);
void loop_open(struct loop *g);

sim_ns loop_now(const struct loop *g);
const struct fabric_real_counters *loop_count(const struct loop *g);

/* One event before UNTIL, or WITHIN a time: 1, or 0. */
int loop_next_until(struct loop *g, sim_ns until);
int loop_next(struct loop *g, sim_ns within);

/* The next event, which must be of this kind. */
void loop_await(struct loop *g, enum agent_event_kind kind);

/* Poll until the counter N is WANT; no event may come. */
void loop_count_to(struct loop *g, const uint64_t *n, uint64_t want);

void loop_act(struct loop *g, topo_host h, const struct agent_action *a);

/* Begin a connect, with its source port as token; the same as an action. */
void loop_connect(struct loop *g, topo_host from, uint32_t ip, uint16_t port,
    uint32_t n_bytes);
struct agent_action loop_connect_of(struct loop *g, topo_host from, uint32_t ip,
    uint16_t port, uint32_t n_bytes);

/* Answer the AGENT_PING_REQUEST that came last. */
void loop_answer(struct loop *g, uint32_t n);

/* --- plain sockets, to be closed ----------------------------------------- */
uint32_t loop_ip(topo_host h);
struct sockaddr_in loop_address(uint32_t ip, uint16_t port);
int loop_bound(uint32_t ip, uint16_t port);
int loop_listener(uint32_t ip);
uint16_t loop_port(int fd);

/* A port of which nobody listens at 127.0.0.1 and the hosts' addresses. It is
 * held, so that only who sets SO_REUSEADDR can have it, until four more were
 * asked for: what is let go may be anybody's before it is bound again. */
uint16_t loop_free_port(void);

/* Have a socket drop, or take again, all that comes to it. Where a user may
 * attach no filter to a socket of his own (kernels that bound what eBPF
 * compiles), needs_filters() skips the test. */
void loop_deafen(int fd, int deaf);
void loop_needs_filters(void);

#endif
