/* models/rack/rack.h -- a rack's switch, its buffer and its servers, in slots.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	senders --> [ buffer of a quadrant, a queue a server ] --> link --> NIC
 *	            limit T = alpha (B - sum of its queues)     link_loss  stall
 *
 * Time goes in slots, of half the round-trip time of an empty rack or less. In
 * each slot a connection hears of what left the queue a round trip before, and
 * sends what its window has room for, at most what the line carries; a port
 * forwards what the line carries; what finds its queue at the limit is dropped.
 * Limits are those at the end of the slot, so the order of ports does not
 * count: T solves T = alpha (B - sum of the queues that T allows). What comes
 * in a slot comes evenly over it, connections in turns. Of what comes behind
 * the point at which the queue meets its limit an even part is dropped, from a
 * draw; what comes while it is above the threshold is marked. A queue is first
 * in, first out, and knows whose each segment is.
 *
 * A connection acts as DCTCP, by the segments that come back: each makes room
 * for another one, and lets the window grow by one, after the first cut by one
 * a window. A mark cuts it by half of the share marked, a loss halves it, once
 * a round trip; what came back earlier in the slot has made room before. What
 * is lost and not known to be fills the window. It is known when three segments
 * came behind it, and is sent again first. If nothing is on its way and nothing
 * may be sent, the connection is silent for an RTO, which doubles, and begins
 * with a window of one segment.
 *
 * What a server sends waits in the host, and is lost by its link alone.
 *
 * A transfer may be with another region. Then its sender hears of each segment
 * `cross_rtt` later, and so waits that much longer for an RTO, and its bytes are
 * counted apart, too. All else is the same.
 *
 * Bytes are counted per port in a ledger; each slot it is proved that what was
 * offered = arrived + dropped by the buffer + lost by the link + queued.
 *
 * Memory With the defaults 2.5 MB: 496 bytes a port, and 40 for each slot that
 *        its queue can last, rounded up to a power of two. 92 bytes a running
 *        connection, 20 for what it sent in a turn and has not come back, and 24
 *        while that is on its way to another region, 30 a row of flows, 12 a
 *        warm connection.
 * Cost   Ports without anything to do cost nothing; see `bench rack`.
 * Accuracy  tests/models/rack/packets_test.c plays the same bursts packet by
 *        packet: new connections, 5 to 200 a burst on average, and warm ones,
 *        two sizes of buffer, three policies, with marks and without. Bytes
 *        that arrive are within 5 %, shares marked within 10 %, queues'
 *        quantiles .95 and .99 within 12 %. Shares dropped are .88 to 1.0 of
 *        those of packets, but for bursts of 5 connections .76 to 1.19: whether
 *        these meet the limit at all is decided within a slot (.89 to 1.0 with
 *        slots of 5 us). Timeouts are half to 1.7 times as many.
 * DEPARTS: No delayed acknowledgements, tail loss probes or spurious timeouts,
 *        and acknowledgements are never lost.
 * Paper  Millisampler (IMC'22) for the rack; A. Choudhury, E. Hahne, "Dynamic
 *        Queue Length Thresholds" (ToN 1998); DCTCP (SIGCOMM'10), RFC 8257.
 */
#ifndef MODELS_RACK_RACK_H
#define MODELS_RACK_RACK_H

#include "models/rack/flows.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"

enum rack_policy {
	RACK_DYNAMIC, /* alpha times what is free */
	RACK_STATIC,  /* an equal part for each port */
	RACK_COMPLETE /* all there is; what is above is dropped by arrivals */
};

enum { RACK_MAX_SERVERS = 4096 };

/* As in a spec. */
struct rack_params {
	uint32_t n_servers, n_quadrants; /* servers in equal parts, in order */
	double line_gbps;                /* of a server, both ways */
	double shared;   /* bytes of a quadrant that are shared */
	uint32_t policy; /* enum rack_policy */
	double alpha;
	double ecn;             /* bytes; longer queues mark. 0: none does */
	double slot_us, rtt_us; /* of a slot; a round trip without queues */
	double cross_rtt_us;    /* that one with another region takes more */
	double rto_ms;          /* before the first doubling */
	uint32_t segment;       /* bytes of a full frame */
	uint32_t window;        /* segments, of a new connection */
	uint32_t window_min;    /* that it is never cut below */
	uint32_t window_max;    /* that it never grows above */
	double gain;            /* DCTCP's g */
};
extern const struct sim_field rack_fields[];

/* What a server counted, or lost, in a while. Of the sketch of connections bit
 * rack_bit(conn) is set. */
struct rack_count {
	uint64_t in, in_retx, in_ce;  /* bytes that reached its stack */
	uint64_t out, out_retx;       /* bytes that left it */
	uint64_t in_cross, out_cross; /* of in, out: of another region */
	uint64_t buffer;              /* bytes for it that the buffer dropped */
	uint64_t link_in, link_out;   /* bytes that its link lost */
	uint64_t queue_max;           /* bytes, at the end of a slot */
	uint64_t held; /* of `in`, handed over at once as a stall ended */
	uint64_t sketch[2];
};
/* To be assigned: compilers clear that many words by an instruction that takes
 * longer than all else that is done with them. */
extern const struct rack_count rack_count_none;

struct rack_totals {
	/* Bytes: offered = arrived + buffer + link + queued. Arrived is what
	 * came to a NIC or, outwards, to the switch. */
	uint64_t offered, arrived, buffer, link, queued;
	uint64_t retx; /* of those offered, sent again */
	uint64_t n_rto;
	uint64_t n_flow_slots; /* the work that was done */
	size_t n_running;      /* transfers begun and not done */
	size_t n_waiting;      /* of them, for an RTO */
};

struct rack;

/* Draws are named by WHERE, SIM_STREAM_RACK and the connections of a port, not
 * by the port, so that servers may change places within a quadrant.
 * Errors SIM_EINVAL (a slot of more than half a round trip, quadrants that do
 * not divide the servers, a threshold above the buffer), SIM_ENOMEM. */
int rack_open(struct rack **r, const struct rack_params *p,
    const struct sim_seed *where, struct sim_err *e);
void rack_close(struct rack *r); /* NULL is fine */

/* Add transfers, ascending by start, none before what was added or played.
 * Errors SIM_EINVAL naming the row, SIM_ENOMEM. */
int rack_put(struct rack *r, const struct rack_flows *f, struct sim_err *e);

/* From now on SERVER's link loses each segment with probability RATE, to the
 * server or, with OUT, from it. Errors SIM_EINVAL. */
int rack_link_loss(struct rack *r, uint32_t server, int out, double rate,
    struct sim_err *e);

/* SERVER's NIC hands nothing to its stack while FROM <= t < TO, and then all of
 * it at once; senders hear nothing meanwhile. Stalls ascend by FROM.
 * Errors SIM_EINVAL, SIM_ENOMEM. */
int rack_stall(struct rack *r, uint32_t server, sim_ns from, sim_ns to,
    struct sim_err *e);

/* Play all slots that end by UNTIL.
 * Errors SIM_ENOMEM; SIM_EMISMATCH if a byte is lost or made, which is a
 * mistake in this code. Cost O(running connections + ports in use) a slot. */
int rack_run(struct rack *r, sim_ns until, struct sim_err *e);

/* What it was opened with. */
const struct rack_params *rack_params_of(const struct rack *r);

/* End of the last slot played; length of one. */
sim_ns rack_now(const struct rack *r);
sim_ns rack_slot_ns(const struct rack *r);

/* What SERVER counted since the last call. Cost O(1). */
void rack_take(struct rack *r, uint32_t server, struct rack_count *c);

/* 1 if SERVER counted anything since then. */
int rack_has_counted(const struct rack *r, uint32_t server);

/* Add FROM, as of a later time, to TO. */
void rack_count_add(struct rack_count *to, const struct rack_count *from);

/* Bytes in SERVER's queue; the limit of its quadrant's in the last slot in
 * which a queue met it, 0 if none has. */
uint64_t rack_queue(const struct rack *r, uint32_t server);
double rack_limit(const struct rack *r, uint32_t server);

/* Cost O(servers). */
void rack_totals(const struct rack *r, struct rack_totals *t);

/* The bit of the sketch, 0 to 127, that connection CONN of SERVER sets. */
uint32_t rack_bit(uint32_t server, uint32_t conn);

#endif
