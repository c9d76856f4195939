/* models/tun/queue.h -- packets on the way, by the time they are there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slots of one size hold the packets; a binary heap, stable at equal times,
 * says which is next. A slot is taken, filled, put for a time, popped, given.
 */
#ifndef MODELS_TUN_QUEUE_H
#define MODELS_TUN_QUEUE_H

#include "models/tun/wire.h"
#include "sim/err.h"
#include "sim/time.h"
#include "topo/ids.h"

struct tun_slot {
	struct tun_packet packet;
	uint16_t bytes;
	uint8_t expires; /* at a switch; else it is for a host */
	topo_host to;
	uint32_t next_free;
};

struct tun_due {
	sim_ns at;
	uint64_t turn;
	uint32_t slot;
};

/* Zeroed is empty. */
struct tun_queue {
	size_t slot_bytes;
	uint32_t max, n_slots, free; /* free: of a list, or TOPO_NONE */
	struct tun_slot *slot;
	uint8_t *bytes;
	size_t cap_slots, cap_bytes;
	struct tun_due *heap;
	size_t n, cap;
	uint64_t turn;
};

/* Up to MAX slots of SLOT_BYTES; they take memory as they are needed. */
void tun_queue_open(struct tun_queue *q, size_t slot_bytes, uint32_t max);
void tun_queue_close(struct tun_queue *q);

/* A slot, or TOPO_NONE if all are taken; the bytes of others may move. Errors
 * SIM_ENOMEM. */
int tun_queue_take(struct tun_queue *q, uint32_t *slot, struct sim_err *e);
void tun_queue_give(struct tun_queue *q, uint32_t slot);

static inline uint8_t *tun_queue_bytes(const struct tun_queue *q, uint32_t slot)
{
	return q->bytes + slot * q->slot_bytes;
}

/* A slot that is taken is due AT. It cannot fail. Cost O(log n). */
void tun_queue_put(struct tun_queue *q, uint32_t slot, sim_ns at);

/* When the next is due, or SIM_NEVER. */
static inline sim_ns tun_queue_next(const struct tun_queue *q)
{
	return q->n > 0 ? q->heap[0].at : SIM_NEVER;
}

/* Take the next out: its slot, still taken. Domain  there is one. */
uint32_t tun_queue_pop(struct tun_queue *q);

#endif
