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

enum { RACK_MAX_SLOTS = 1 << 27 };

/* Three segments behind a loss tell the sender of it (RFC 5681). */
enum { RACK_DUPACKS = 3 };

/* A transfer that is running. Windows are in segments; segments are numbered as
 * they are sent, also those sent again. */
struct rack_conn {
	float window, threshold; /* of slow start */
	float alpha;             /* DCTCP's estimate of the share marked */
	float credit;            /* of a segment, from slot to slot */
	uint32_t left;           /* segments not sent yet */
	uint32_t owed;           /* known to be lost */
	uint32_t lost;           /* lost, which is not known yet; */
	uint32_t near[3];        /* of them, with 0, 1, 2 segments behind */
	uint32_t lost_end;       /* number behind the last of these */
	uint32_t sent, seen;     /* numbers: sent; come back, or to be missed */
	uint32_t flying;         /* segments on their way as it sent last */
	uint32_t round_end, cut_end; /* numbers */
	uint32_t n_acked, n_marked;  /* segments, in this round */
	uint32_t warm;               /* number of the connection, or 0 */
	uint16_t now, again; /* segments offered in this slot; of them, again */
	uint16_t ahead;  /* room that the window had in it, before it was cut */
	uint8_t bit;     /* of sketches */
	uint8_t backoff; /* doublings of the RTO */
	uint8_t cross;   /* the other end is in another region */
};

/* What a connection sent in a part of a slot: on its way in the order of the
 * queue. */
struct rack_piece {
	uint32_t conn;
	uint16_t good, marked; /* segments that arrive; the last of them */
	uint16_t doomed;       /* that the link loses, behind those */
	uint16_t lost;         /* those, and what the buffer dropped; */
	uint16_t near[3];      /* of them, with 0, 1, 2 segments behind */
};

/* Segments of which senders hear in a slot. */
struct rack_batch {
	uint32_t due, n;
};

/* What a sender in another region will hear of, once that has come so far. */
struct rack_far {
	uint32_t due;
	struct rack_piece piece;
};

/* What came into a queue in one slot. */
struct rack_chunk {
	uint32_t bytes;
	uint32_t retx, ce; /* of bytes; inwards, not of those doomed */
	uint32_t doomed;   /* bytes that the link will lose */
	uint32_t cross;    /* of bytes, of another region; as retx */
	uint64_t sketch[2];
};

struct rack_port {
	struct rack_conn *conn; /* where they are until they leave */
	uint32_t *order;        /* places of conn; the first n are taken */
	size_t n, n_made, cap, cap_order;
	struct rack_piece *piece; /* from at_piece on */
	size_t at_piece, n_pieces, cap_pieces;
	struct rack_batch *batch; /* from at_batch on, ascending by due */
	size_t at_batch, n_batches, cap_batches;
	struct rack_far *far; /* from at_far on, ascending by due */
	size_t at_far, n_far, cap_far;
	uint32_t part; /* bytes of a segment that has left in part */
	float late;    /* part of a segment that is heard of a slot later */
	struct rack_chunk *chunk; /* a ring */
	uint32_t ring, head, n_chunks;
	uint32_t server, group;
	uint8_t out, active;

	uint64_t queue;            /* bytes */
	uint32_t arrived, dropped; /* segments of this slot */
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
	uint32_t now;         /* slots played */
	uint32_t drain;       /* bytes that a line carries in this slot */
	double line_slot;     /* the same on average */
	double per_line;      /* 1 / line_slot */
	uint32_t rtt_slots;   /* a round trip; */
	float rtt_part;       /* and a part of a slot more */
	uint32_t cross_slots; /* that one with another region takes more */
	float line_segments;
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

/* Segments for which C's window has room. What is lost and not known to be
 * fills it. */
static inline uint32_t rack_window_room(const struct rack_conn *c)
{
	const uint32_t out = c->sent - c->seen + c->lost;
	return c->window >= (float)(out + 1) ? (uint32_t)c->window - out : 0;
}

/* N segments that C sent have come back, MARKED of them with marks. */
void rack_window_hear(const struct rack *r, struct rack_conn *c, uint32_t n,
    uint32_t marked);

/* N more segments are lost, of which NEAR[i] had I segments behind them, and
 * the others enough to be known of. */
void rack_window_lose(const struct rack *r, struct rack_conn *c, uint32_t n,
    const uint16_t near[3]);

/* An RTO has passed: it begins again. */
void rack_window_again(const struct rack *r, struct rack_conn *c);

/* Slots that C waits for its RTO. */
uint32_t rack_window_wait(const struct rack *r, struct rack_conn *c);

/* P->piece grows by PIECE; P->batch by what leaves in this slot, N segments.
 * Errors SIM_ENOMEM. */
int rack_acks_push(struct rack_port *p, const struct rack_piece *piece,
    struct sim_err *e);
int rack_acks_leave(const struct rack *r, struct rack_port *p, uint32_t n,
    struct sim_err *e);

/* Tell connections of P what is due. Errors SIM_ENOMEM. */
int rack_acks_hear(const struct rack *r, struct rack_port *p,
    struct sim_err *e);

/* Let the connections of P hear and offer. Those that have to wait, or are
 * done, leave it. Errors SIM_ENOMEM. */
int rack_port_send(struct rack *r, struct rack_port *p, struct sim_err *e);

/* Set `dropped` of all ports of quadrant G. */
void rack_buffer_share(struct rack *r, struct rack_group *g);

/* Errors SIM_EMISMATCH, SIM_ENOMEM. */
int rack_port_settle(struct rack *r, struct rack_port *p, struct sim_err *e);

/* Let C wait for its RTO. Errors SIM_ENOMEM. */
int rack_wait(struct rack *r, const struct rack_port *p, struct rack_conn *c,
    struct sim_err *e);

/* C is done: keep what its connection goes on with. */
void rack_keep(struct rack *r, const struct rack_conn *c);

/* Put P into its group's list. */
void rack_wake_port(struct rack *r, struct rack_port *p);

#endif
