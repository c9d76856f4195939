/* models/packet/rdma.h -- RoCE v2: messages of queue pairs, and their losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	sender    0 1 2 x 4 5 6 7        go back N:  3 4 5 ...
 *	                 \       /       go back 0:  0 1 2 3 4 5 ...
 *	receiver  0 1 2   4: NAK 3
 *
 * One host sends messages of M packets to another at line rate, the next when
 * the last is acknowledged. A receiver that sees a gap says so once, with the
 * PSN that it expects; the NIC goes back, to the packet that was lost or to the
 * first of the message, of which the receiver then keeps nothing. If nothing
 * comes behind what was lost, or the NAK is lost, or what it asked for is lost
 * again, it waits for a timeout.
 *
 * With packets of time s, loss p, q = 1 - p, round trips and timeouts that do
 * not count, and the packet by which a loss is noticed left out, a message
 * takes on average
 *
 *	go back 0   s (1 - q^M) / (p q^M), so the share of the line rate that
 *	            is of use is M p q^M / (1 - q^M): 0.08 for M = 1000 and
 *	            p = 1/256, and 2.5e-6 for M = 4000
 *	go back N   s M / q, so the share is q
 *
 * Use    Of each queue pair only those packets are made that rules may match:
 *        NAKs; and data and acknowledgements whose IP ID is sampled, or all of
 *        them with the debug bit. Each is handed to whoever carries it, who
 *        tells whether it arrived, so that its way and its fate agree:
 *
 *	static int carry(void *arg, topo_host from, sim_ns sent,
 *	    const struct obs_packet *p, struct sim_err *e)
 *	{
 *		struct world *w = arg;
 *		struct packet_end end;
 *		const int rc = packet_walk(&w->net, p, from, sent, &w->rng,
 *		    &w->eye, &end, e);
 *		return rc < 0 ? rc : end.fate != SCENE_WALK_DELIVERED;
 *	}
 *	struct packet_rdma_pair pair = {.from = 3, .to = 40,
 *	    .src_port = 0xc123, .sample = {1023, 1},
 *	    .loss = ..., .back_loss = ..., .from_ns = 0, .until_ns = SIM_SEC};
 *	struct packet_rdma_wire wire = {&world, carry};
 *	rc = packet_rdma_run(&params, &pair, &rng, &wire, &end, e);
 *
 *        where .loss is 1 - exp(-hazard) of the links of the data's path
 *        (scene_walk_hazards() of packet_rdma_tuple()), and .back_loss that of
 *        the answers'.
 * IP IDs Both NICs count their packets; that they do was seen in Guo et al.
 *        The source port is the same both ways, as by Linux's symmetric flow
 *        labels.
 * DEPARTS: A message that is sent again from its start is received as if
 *        nothing of it had come before, also behind a timeout. One is under
 *        way at a time; the timeout does not grow, and no number of them ends
 *        a queue pair. Each message is acknowledged once. There is no
 *        congestion control: `paused` stands for what pauses cost.
 * Paper  Everflow (SIGCOMM'15) (RDMA debugger). What going back to 0
 *        does: Guo et al., "RDMA over Commodity Ethernet at Scale"
 *        (SIGCOMM'16), section 4.1, from memory.
 */
#ifndef MODELS_PACKET_RDMA_H
#define MODELS_PACKET_RDMA_H

#include "models/packet/conn.h"
#include "sim/err.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"

enum packet_rdma_recovery { PACKET_RDMA_GO_BACK_N, PACKET_RDMA_GO_BACK_0 };

/* As in a spec. */
struct packet_rdma_params {
	uint32_t recovery; /* enum packet_rdma_recovery */
	uint32_t message;  /* packets of a message */
	uint32_t payload;  /* bytes of a message in each packet */
	double gbps;       /* line rate, 10^9 bit/s */
	double rtt_us;     /* round trip, without the time to send a packet */
	double timeout_us; /* behind the last packet that was sent */
	double paused;     /* share of time that the sender may not send */
};
extern const struct sim_field packet_rdma_fields[];

/* Opcodes of data: sends of a reliable connection [InfiniBand specification,
 * 9.2.1; from memory]. */
enum {
	PACKET_RDMA_FIRST = 0x00,
	PACKET_RDMA_MIDDLE = 0x01,
	PACKET_RDMA_LAST = 0x02,
	PACKET_RDMA_ONLY = 0x04,
};

/* A queue pair, used in one direction. */
struct packet_rdma_pair {
	topo_host from, to;
	uint16_t src_port;
	uint8_t is_debug;            /* its packets have the debug bit */
	struct packet_sample sample; /* whose IP ID has it; mask 2^n - 1 */
	double loss, back_loss;      /* of data and answers that are not made */
	uint64_t n_messages;         /* how many there are; 0: no end */
	sim_ns from_ns, until_ns;    /* SIM_NEVER is refused */
};

/* Who carries packets: P leaves FROM at SENT. Returns 0 if it arrives, 1 if it
 * is lost, negative to stop with that error. Times may go back a little: an
 * answer is told before the data that are sent meanwhile. */
struct packet_rdma_wire {
	void *arg;
	int (*send)(void *arg, topo_host from, sim_ns sent,
	    const struct obs_packet *p, struct sim_err *e);
};

struct packet_rdma_end {
	uint64_t n_messages;     /* whose acknowledgement came back */
	uint64_t n_bytes;        /* of those messages */
	uint64_t n_sent, n_lost; /* packets of data */
	uint64_t n_naks;         /* sent, some of which may be lost */
	uint64_t n_restarts;     /* back to 0, by a NAK or a timeout */
	uint64_t n_timeouts;
	uint64_t n_made; /* packets handed to the wire */
	double goodput;  /* share of the line rate for the messages'
				     packets, pauses not deducted */
	sim_ns at;       /* when it stopped */
};

/* The five-tuple of its data; of its answers if BACK. */
struct topo_tuple packet_rdma_tuple(const struct packet_rdma_pair *pair,
    int back);

/* Let the queue pair send. WIRE may be NULL, and then no packet is made, all
 * are lost at the pair's rates. Nothing leaves from until_ns on.
 * Errors SIM_EINVAL (no end, the same host twice, a mask that is not 2^n - 1, a
 * timeout shorter than a round trip), those of WIRE. Cost O(packets made +
 * packets lost + messages). */
int packet_rdma_run(const struct packet_rdma_params *p,
    const struct packet_rdma_pair *pair, struct sim_rng *r,
    const struct packet_rdma_wire *wire, struct packet_rdma_end *end,
    struct sim_err *e);

/* Nanoseconds on the line for one packet of data, pauses included. */
double packet_rdma_slot_ns(const struct packet_rdma_params *p);

/* The share of the line rate that is of use by the two forms above, for loss P
 * in [0, 1]. */
double packet_rdma_share(enum packet_rdma_recovery recovery, double p,
    uint32_t message);

#endif
