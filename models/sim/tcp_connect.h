/* models/sim/tcp_connect.h -- one TCP connect: its SYNs and their timers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	client   SYN ----- wait[0] ----- SYN ------ wait[1] ------ SYN ...
 *	             \                      \
 *	server        SYN-ACK --- wait[0] -- SYN-ACK, and one of its own timer
 *
 * The client sends a SYN, and another each time its timer runs out; after
 * n_retries of them and one more wait it gives up. A server that listens
 * answers each SYN that arrives with a SYN-ACK, and from the first one on may
 * also repeat its SYN-ACK by a timer of its own; one that does not listen
 * answers each with a RST. Each packet is lost independently, with probability
 * 1 - exp(-hazard) of its direction. connect() returns when the first answer
 * arrives.
 *
 * So a lost SYN shows as a round trip of seconds, which is how Pingmesh counts
 * drops: 3 s for one and 9 s for two with Windows' timers. With
 * q = 1 - (1 - q_there)(1 - q_back), no timer of the server and 2 retries,
 *
 *	P(class k) = q^k (1 - q),    P(timed out) = q^3,
 *	estimate = (classes 1 and 2) / (all that connect)
 *	         = q (1 - q^2) / (1 - q^3),
 *
 * the loss of a round trip, about twice that of one way. A timer of the server
 * that fires along with the client's sends two SYN-ACKs at once: then two that
 * are lost look like one drop, and the estimate is lower.
 *
 * Paper Pingmesh (SIGCOMM'15) section 4.2.
 * DEPARTS: the paper finds that drops of one connection are correlated, here
 * they are not. A SYN that comes again does not restart the server's timer, as
 * it does in Linux; nor does one that comes after the timer's last. Windows'
 * three attempts at a port that answers with RST are not modelled: the first
 * RST ends the connect. */
#ifndef MODELS_SIM_TCP_CONNECT_H
#define MODELS_SIM_TCP_CONNECT_H

#include <stdint.h>

#include "sim/err.h"
#include "sim/rng.h"
#include "sim/time.h"

#define FABRIC_SIM_TCP_MAX_RETRIES 10

/* How long to wait for an answer to each attempt, from the first. */
struct fabric_sim_tcp_ladder {
	const char *name;
	uint8_t n_retries; /* by default, and at most */
	sim_ns wait_ns[FABRIC_SIM_TCP_MAX_RETRIES + 1]; /* [n_retries + 1] */
};

/* Clients. Attempts are lost one by one, so connect() takes
 *	windows       3, 9 s; gives up after 21
 *	linux         1, 3, 7, 15, 31, 63 s; after 127 (tcp_syn_retries = 6,
 *	              tcp_syn_linear_timeouts = 0)
 *	linux_linear  1, 2, 3, 4, 5, 7, 11, ... s; after 131 (Linux 6.5 and
 *	              later by default: tcp_syn_linear_timeouts = 4)
 * The times up to 5 lost SYNs were also measured on Linux. */
extern const struct fabric_sim_tcp_ladder fabric_sim_tcp_windows,
    fabric_sim_tcp_linux, fabric_sim_tcp_linux_linear;

/* The one of that name, or NULL. */
const struct fabric_sim_tcp_ladder *fabric_sim_tcp_find(const char *name);

/* A server's SYN-ACKs: Linux, tcp_synack_retries = 5. */
extern const struct fabric_sim_tcp_ladder fabric_sim_tcp_linux_synack;

/* One direction. A hazard of infinity loses every packet, as a black hole does;
 * scene_hazard() makes one of a loss rate, and hazards of links add up. */
struct fabric_sim_tcp_way {
	double hazard;
	sim_ns latency_ns; /* of each packet, and half of the hosts' own time */
	uint8_t black_hole;
};

struct fabric_sim_tcp {
	struct fabric_sim_tcp_way there, back;
	const struct fabric_sim_tcp_ladder *client;
	const struct fabric_sim_tcp_ladder
	    *server;       /* NULL: no timer of its own */
	uint8_t n_retries; /* of the client */
	uint8_t listening;
};

enum fabric_sim_tcp_outcome {
	FABRIC_SIM_TCP_CONNECTED,
	FABRIC_SIM_TCP_REFUSED,
	FABRIC_SIM_TCP_TIMED_OUT,
};

struct fabric_sim_tcp_result {
	enum fabric_sim_tcp_outcome outcome;
	uint8_t n_syns; /* sent, from 1 to n_retries + 1 */
	sim_ns rtt_ns;  /* how long connect() took, whatever came of it */
};

/* Connect once. R is the stream of this connect, or of its sender: a connect
 * draws one number for each packet that may be lost, none for directions with
 * hazard 0 or infinity. Hazards are not negative; retries are at most those of
 * the client's ladder.
 * Cost O(SYNs + SYN-ACKs): two draws when none is lost. */
struct fabric_sim_tcp_result fabric_sim_tcp(const struct fabric_sim_tcp *c,
    struct sim_rng *r);

/* How many lost SYNs a connect of RTT_NS looks like: the most waits of LADDER
 * that fit in it, at most n_retries, if it ends at most SLACK_NS after them.
 * Otherwise 0: it was slow, but not for a timer. SLACK_NS = SIM_NEVER takes
 * every slow connect for lost SYNs; the paper says "around 3 s" and "around 9
 * s".
 * Cost O(retries). */
unsigned fabric_sim_tcp_class(const struct fabric_sim_tcp_ladder *ladder,
    sim_ns rtt_ns, sim_ns slack_ns);

#endif
