/* models/rack/impl.h -- inside a rack: ports, connections, chunks of a queue.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each server has two ports: in-port s, whose queue is in the switch, and
 * out-port n_servers + s, whose queue is in the host. Ports that have anything
 * to do stand in the list of their group: a group is a quadrant, and the last
 * one holds all out-ports.
 *
 *	rack_port_send()      what connections offer in this slot
 *	rack_buffer_share()   how much of it the quadrant has no room for
 *	rack_port_settle()    whose that is; marks, losses, what leaves the queue
 */
#ifndef MODELS_RACK_IMPL_H
#define MODELS_RACK_IMPL_H

#include "models/rack/rack.h"
#include "sim/evq.h"

/* Round trips are no whole number of slots. */
enum { RACK_TICKS = 16, RACK_MAX_SLOTS = 1 << 27 };

/* Three segments behind a loss tell the sender of it (RFC 5681). */
enum { RACK_DUPACKS = 3 };

#define RACK_NEVER UINT32_MAX

/* A transfer that is running; one cache line. Windows are in segments, times in
 * RACK_TICKS a slot. */
struct rack_conn {
	float window, threshold; /* of slow start */
	float alpha;             /* DCTCP's estimate of the share marked */
	float credit;            /* of a segment, from slot to slot */
	float marked;            /* segments, in this round */
	uint32_t sent;           /* segments, in this round */
	uint32_t round_end;
	uint32_t mark_told;  /* when it hears of a mark; RACK_NEVER */
	uint32_t loss_told;  /* likewise, of the first that is lost */
	uint32_t left;       /* segments not sent yet */
	uint32_t owed;       /* known to be lost */
	uint32_t lost;       /* lost, which is not known yet */
	uint32_t warm;       /* number of the connection, or 0 */
	uint16_t now, again; /* segments offered in this slot; of them, again */
	uint8_t bit;         /* of sketches */
	uint8_t backoff;     /* doublings of the RTO */
	uint8_t cut;         /* since the first was lost, by a mark */
	uint8_t behind; /* segments that came behind that one; 3: or more */
	uint16_t tail;  /* of those lost, that too few came behind */
	uint8_t tail_behind; /* segments that came behind the last one */
	uint8_t first;       /* round, in which nothing has come back yet */
};

/* What came into a queue in one slot. */
struct rack_chunk {
	uint32_t bytes;
	uint32_t retx, ce; /* of bytes; inwards, not of those doomed */
	uint32_t doomed;   /* bytes that the link will lose */
	uint64_t sketch[2];
};

struct rack_port {
	struct rack_conn *conn;
	size_t n, cap;
	struct rack_chunk *chunk; /* a ring */
	uint32_t ring, head, n_chunks;
	uint32_t server, group;
	uint8_t out, active;

	uint64_t queue;            /* bytes */
	uint32_t arrived, dropped; /* segments of this slot */
	float mark;                /* share of the accepted that is marked */
	uint32_t told;             /* when senders hear of this slot */
	double ce_carry;           /* of a marked segment */
	double link_rate;
	uint64_t link_until; /* segments before the next that the link loses */
	uint8_t link_drawn;
	uint32_t stalled_until; /* slot */

	uint32_t draw_name, n_draws;
	struct rack_count count, held; /* held: by a NIC that stalls */
	/* Bytes since the beginning. */
	uint64_t offered, gone, buffer, link, retx;
};

struct rack_group {
	uint32_t *port; /* with anything to do */
	uint32_t n;
	double limit; /* of the last slot in which a queue met it */
};

struct rack_waiter {
	struct rack_conn conn;
	uint32_t port, next_free; /* index + 1 */
};

struct rack_stall_row {
	uint32_t server, from, to; /* slots */
};

/* What is left of a warm connection; a window of 0: nothing yet. */
struct rack_warm {
	float window, threshold, alpha;
};

struct rack {
	struct rack_params p;
	sim_ns slot_ns;
	uint32_t now;     /* slots played */
	uint32_t drain;   /* bytes that a line carries in this slot */
	double line_slot; /* the same on average */
	double per_line;  /* 1 / line_slot */
	float rtt_slots, line_segments;
	uint32_t rto_slots;
	uint32_t part; /* servers of a quadrant */
	uint32_t key[2];
	struct sim_seed where;

	struct rack_port *port;   /* [2 * n_servers] */
	struct rack_group *group; /* [n_quadrants + 1] */

	struct rack_flows flows;
	size_t next_flow;
	struct sim_evq *wakes; /* in slots; aux: index of a waiter */
	struct rack_waiter *waiter;
	size_t n_waiters, cap_waiters, n_waiting;
	uint32_t free_waiter; /* index + 1 */
	struct rack_warm *warm;
	size_t n_warm, cap_warm;
	struct rack_stall_row *stall;
	size_t n_stalls, cap_stalls, next_stall;

	uint64_t n_rto, n_flow_slots;
};

/* U in [0, 1), the next of port P. */
double rack_draw(const struct rack *r, struct rack_port *p);

static inline uint32_t rack_ticks(float slots)
{
	return (uint32_t)(slots * RACK_TICKS + 0.5f);
}

/* It is NOW, and connection C, whose round trip is RTT slots, hears of
 * something or its round is over. Returns 1 if it has to wait for its RTO, of
 * *WAIT slots; else 0. */
int rack_window_hear(const struct rack *r, struct rack_conn *c, uint32_t now,
    float rtt, uint32_t *wait);

/* An RTO has passed: it begins again. */
void rack_window_again(const struct rack *r, struct rack_conn *c);

/* Let the connections of P offer. Those that have to wait leave it.
 * Errors SIM_ENOMEM. */
int rack_port_send(struct rack *r, struct rack_port *p, struct sim_err *e);

/* Set `dropped` of all ports of quadrant G. */
void rack_buffer_share(struct rack *r, struct rack_group *g);

/* Errors SIM_EMISMATCH. */
int rack_port_settle(struct rack *r, struct rack_port *p, struct sim_err *e);

/* Let C wait for WAIT slots. Errors SIM_ENOMEM. */
int rack_wait(struct rack *r, const struct rack_port *p,
    const struct rack_conn *c, uint32_t wait, struct sim_err *e);

/* C is done: keep what its connection goes on with. */
void rack_keep(struct rack *r, const struct rack_conn *c);

/* Put P into its group's list. */
void rack_wake_port(struct rack *r, struct rack_port *p);

#endif
