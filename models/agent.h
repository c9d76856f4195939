/* models/agent.h -- a program that runs on a host, without sockets or clocks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent is a state machine: an event goes in, actions come out. It never
 * waits, reads no clock and allocates nothing; who calls it (a simulated fabric
 * or one of real sockets) tells the time and carries the actions out. So the
 * very same object runs in both.
 *
 *	fabric  --- event (what happened, when) --->  agent
 *	        <-- actions (what to do next) ------
 */
#ifndef MODELS_AGENT_H
#define MODELS_AGENT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"
#include "topo/ids.h"
#include "topo/route.h"

/* What can happen to an agent. */
enum agent_event_kind {
	AGENT_START,     /* first of all, once; and after each init() */
	AGENT_TIMER,     /* a timer that it set: `token` */
	AGENT_RETX,      /* the host's TCP sent a segment of `tuple` again */
	AGENT_SLB_REPLY, /* answer to AGENT_SLB_QUERY: `token`, ok, dip */
	AGENT_ICMP,      /* time exceeded: from `from_ip`, quoting `tuple` (the
	                    probe's), `ip_id` */

	/* Answers to actions, with their `token`. */
	AGENT_FETCH_DONE,   /* ok, `data`, `n` */
	AGENT_CONNECT_DONE, /* outcome, answer, rtt_ns, echo_ns */
	AGENT_UPLOAD_DONE,  /* ok */

	/* Someone connected, or sent `n` bytes to be echoed, or a GET, which
	 * has n = 0: answer `token`. */
	AGENT_PING_REQUEST,

	/* The controller wants something: `n` bytes at `data`. */
	AGENT_ORDER,
};

/* What a connect is for. */
enum agent_ping {
	AGENT_PING_TCP,  /* the handshake, and a payload if there is one */
	AGENT_PING_HTTP, /* one GET, and the head of its answer */
	AGENT_N_PINGS
};

/* What became of a connect. */
#define AGENT_OUTCOMES(X)                                                      \
	X(CONNECTED, "connected")                                              \
	X(REFUSED, "refused by a reset")                                       \
	X(TIMEOUT, "no answer")                                                \
	X(FAILED, "not tried: the host itself failed")

enum agent_outcome {
#define X(name, text) AGENT_##name,
	AGENT_OUTCOMES(X)
#undef X
	    AGENT_N_OUTCOMES
};

/* What became of the GET of an HTTP ping whose connect stood. A server that
 * answers wrongly, late or not at all is no packet lost. */
#define AGENT_ANSWERS(X)                                                       \
	X(NOT_ASKED, "no GET was sent")                                        \
	X(OK, "status 200")                                                    \
	X(OTHER, "another status")                                             \
	X(MALFORMED, "not of the form of HTTP")                                \
	X(CUT, "closed or reset before its head was whole")                    \
	X(LATE, "not whole in time")

enum agent_answer {
#define X(name, text) AGENT_ANSWER_##name,
	AGENT_ANSWERS(X)
#undef X
	    AGENT_N_ANSWERS
};

struct agent_event {
	enum agent_event_kind kind;
	uint8_t ok; /* SLB_REPLY: 0 = no such mapping, or refused
	               FETCH_DONE, UPLOAD_DONE: the other side took it */
	union {
		uint8_t established; /* RETX: the handshake is done */
		uint8_t outcome;     /* CONNECT_DONE: enum agent_outcome */
	};
	union {
		uint16_t ip_id; /* ICMP: of the probe */
		uint8_t answer; /* CONNECT_DONE: enum agent_answer */
	};
	uint32_t from_ip, dip; /* host byte order */
	uint64_t token;
	union {
		/* RETX: as the host sees it, maybe to a VIP; ICMP */
		struct topo_tuple tuple;
		/* CONNECT_DONE: SYN to SYN-ACK with all its repeats; payload
		 * to echo, or GET to the head of an answer of status 200, 0 =
		 * none came */
		struct {
			sim_ns rtt_ns, echo_ns;
		};
		/* FETCH_DONE: what came, borrowed for the step; 0 bytes =
		 * there is none. PING_REQUEST: bytes alone. ORDER */
		struct {
			const void *data;
			size_t n;
		};
	};
};

enum agent_action_kind {
	AGENT_SET_TIMER, /* an AGENT_TIMER with `token` at `at_ns`, or at once
	                    if that is past */
	AGENT_SLB_QUERY, /* which DIP serves `tuple`, whose destination is a
	                    VIP; answered with `token` */
	AGENT_PROBE,  /* a TCP packet of `tuple` with `ttl` and `ip_id`, and a
	                    checksum that its receiver refuses */
	AGENT_REPORT, /* a path learned; see struct agent_report */
	AGENT_SEND,   /* one IP packet, of `n_bytes` at `data`, in the agent's
	                 state, as it stands; nothing answers */

	AGENT_COUNTERS, /* to the collector: `n_bytes` at `data`, as in
	                   AGENT_UPLOAD. Whether they came is not told: they are
	                   old when they could be sent again */

	/* All but AGENT_ANSWER are answered with `token`. */
	AGENT_FETCH,   /* ask the controller for this host's document */
	AGENT_CONNECT, /* a TCP connection of `tuple` in QoS class `class`; once
	                  it stands, `n_bytes` to be echoed, or by `ping` a GET;
	                  then close */
	AGENT_ANSWER, /* to the request with `token`: `n_bytes` echoed, or a GET
	                  answered */
	AGENT_UPLOAD, /* to the collector: `n_bytes` at `data`, in the agent's
	                  state, to be read before the agent's next step */
};

/* What path discovery learned of one connection. Hop i (from 0) is the node
 * reached with TTL i + 1; its address as the ICMP message named it, or 0.
 * Agents that count (algos/pingmesh/hop_trace.h) say of each TTL how many
 * probes they sent and how many of these were answered; the others leave that
 * unset. */
struct agent_report {
	struct topo_tuple tuple; /* with the DIP */
	uint32_t n_retx;         /* retransmissions seen when it was sent */
	uint8_t n_hops;          /* 1 + index of the last hop that answered */
	uint32_t hop_ip[TOPO_MAX_HOPS];
	uint16_t n_sent[TOPO_MAX_HOPS], n_back[TOPO_MAX_HOPS];
};

struct agent_action {
	enum agent_action_kind kind;
	union {
		uint8_t ttl;  /* AGENT_PROBE */
		uint8_t ping; /* CONNECT: enum agent_ping; HTTP: no n_bytes */
	};
	uint8_t class;
	uint16_t ip_id;
	uint64_t token;
	union {
		sim_ns at_ns;     /* AGENT_SET_TIMER */
		const void *data; /* AGENT_UPLOAD, COUNTERS, SEND */
	};
	struct topo_tuple tuple;
	union {
		struct agent_report report; /* AGENT_REPORT */
		uint32_t n_bytes; /* CONNECT, ANSWER, UPLOAD, COUNTERS, SEND */
	};
};

/* Room for the actions of one step. A step that needs more than AGENT_MAX_OUT
 * is a mistake in the agent: it must spread its work over timers. */
enum { AGENT_MAX_OUT = 32 };
struct agent_out {
	size_t n;
	struct agent_action action[AGENT_MAX_OUT];
};

/* Another action; the members that its kind does not name are not set. */
static inline struct agent_action *agent_act(struct agent_out *out,
    enum agent_action_kind kind)
{
	assert(out->n < AGENT_MAX_OUT);
	struct agent_action *a = &out->action[out->n++];
	a->kind = kind;
	return a;
}

/* A kind of agent. STATE is a block of state_size bytes per host, 16-byte
 * aligned, that the caller owns and init() makes from whatever it held; nothing
 * needs freeing. */
struct agent_ops {
	const char *name, *paper;
	const struct sim_field *params; /* ends with a NULL name */
	size_t params_size, state_size;

	/* 1: AGENT_START does nothing, so that it may come as late as right
	 * before the first other event. Where few hosts have any, that saves
	 * touching the others. */
	uint8_t starts_late;

	/* PARAMS is borrowed for as long as the state lives. */
	int (*init)(void *state, topo_host host, const void *params,
	    struct sim_err *e);

	/* OUT is emptied by the caller. RNG is the host's own stream.
	 * Errors only for events that cannot be (a mistake of the fabric). */
	int (*step)(void *state, sim_ns now, const struct agent_event *ev,
	    struct sim_rng *rng, struct agent_out *out, struct sim_err *e);
};

#endif
