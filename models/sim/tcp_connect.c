/* models/sim/tcp_connect.c -- one TCP connect: its SYNs and their timers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/sim/tcp_connect.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Waits double, from 3 s in Windows as the paper has it, and from 1 s in Linux,
 * where since 6.5 the first five are equal. Each ladder has one wait more than
 * retries: that after the last, when connect() gives up. */
#define S SIM_SEC
const struct fabric_sim_tcp_ladder fabric_sim_tcp_windows = {
    .name = "windows",
    .n_retries = 2,
    .wait_ns = {3 * S, 6 * S, 12 * S},
};
const struct fabric_sim_tcp_ladder fabric_sim_tcp_linux = {
    .name = "linux",
    .n_retries = 6,
    .wait_ns = {1 * S, 2 * S, 4 * S, 8 * S, 16 * S, 32 * S, 64 * S},
};
const struct fabric_sim_tcp_ladder fabric_sim_tcp_linux_linear = {
    .name = "linux_linear",
    .n_retries = 10,
    .wait_ns = {1 * S, 1 * S, 1 * S, 1 * S, 1 * S, 2 * S, 4 * S, 8 * S, 16 * S,
	32 * S, 64 * S},
};
const struct fabric_sim_tcp_ladder fabric_sim_tcp_linux_synack = {
    .name = "linux_synack",
    .n_retries = 5,
    .wait_ns = {1 * S, 2 * S, 4 * S, 8 * S, 16 * S, 32 * S},
};
#undef S

const struct fabric_sim_tcp_ladder *fabric_sim_tcp_find(const char *name)
{
	static const struct fabric_sim_tcp_ladder *const clients[] =
	    {&fabric_sim_tcp_windows, &fabric_sim_tcp_linux,
		&fabric_sim_tcp_linux_linear};
	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
		if (strcmp(clients[i]->name, name) == 0)
			return clients[i];
	return NULL;
}

/* No number is drawn where the answer is certain. */
static int tcp_connect_is_lost(const struct fabric_sim_tcp_way *w,
    struct sim_rng *r)
{
	if (w->black_hole || isinf(w->hazard))
		return 1;
	return w->hazard > 0 && sim_rng_u01(r) < -expm1(-w->hazard);
}

/* The server answers at time NOW. *FIRST becomes the time at which this answer
 * reaches the client, if it does and is the earliest so far. */
static void tcp_connect_answer(const struct fabric_sim_tcp *c, sim_ns now,
    struct sim_rng *r, sim_ns *first)
{
	const sim_ns at = now + c->back.latency_ns;
	if (at < *first && !tcp_connect_is_lost(&c->back, r))
		*first = at;
}

/* The answers that the server's timer sends, the first SYN having come at
 * NOW. */
static void answer_again(const struct fabric_sim_tcp *c, sim_ns now,
    struct sim_rng *r, sim_ns *first)
{
	for (unsigned k = 0; k < c->server->n_retries; k++) {
		now += c->server->wait_ns[k];
		tcp_connect_answer(c, now, r, first);
	}
}

/* Follow SYNs in the order in which they are sent. Answers to a later one
 * arrive no earlier, but those of the server's timer may come in between, so
 * the least time counts. A SYN is sent unless an answer came before its time or
 * just at it: packets go before timers. */
struct fabric_sim_tcp_result fabric_sim_tcp(const struct fabric_sim_tcp *c,
    struct sim_rng *r)
{
	struct fabric_sim_tcp_result out = {
	    .outcome = FABRIC_SIM_TCP_TIMED_OUT};
	sim_ns first = SIM_NEVER, now = 0;
	int known = 0; /* to the server */
	assert(c->client && c->n_retries <= c->client->n_retries);
	assert(c->there.hazard >= 0 && c->back.hazard >= 0);
	for (unsigned k = 0; k <= c->n_retries && now < first; k++) {
		out.n_syns++;
		if (!tcp_connect_is_lost(&c->there, r)) {
			const sim_ns at = now + c->there.latency_ns;
			tcp_connect_answer(c, at, r, &first);
			if (c->listening && c->server && !known)
				answer_again(c, at, r, &first);
			known = 1;
		}
		now += c->client->wait_ns[k];
	}
	out.rtt_ns = now;
	if (first <= now) {
		out.outcome = c->listening ? FABRIC_SIM_TCP_CONNECTED
					   : FABRIC_SIM_TCP_REFUSED;
		out.rtt_ns = first;
	}
	return out;
}

unsigned fabric_sim_tcp_class(const struct fabric_sim_tcp_ladder *ladder,
    sim_ns rtt_ns, sim_ns slack_ns)
{
	/* Take off waits as long as they fit: what is left is the round trip of
	 * the SYN that got through. */
	unsigned k = 0;
	while (k < ladder->n_retries && ladder->wait_ns[k] <= rtt_ns)
		rtt_ns -= ladder->wait_ns[k++];
	return rtt_ns <= slack_ns ? k : 0;
}
