/* models/tun/queue.c -- packets on the way, by the time they are there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two parts: slots, which hold packets and are given out from a list of free
 * ones, and a heap of due times that names slots. What moves in the heap is
 * small, while packets stay where they were read.
 */
#include "models/tun/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/vec.h"

void tun_queue_open(struct tun_queue *q, size_t slot_bytes, uint32_t max)
{
	*q = (struct tun_queue){.slot_bytes = slot_bytes,
	    .max = max,
	    .free = TOPO_NONE};
}

void tun_queue_close(struct tun_queue *q)
{
	free(q->slot);
	free(q->bytes);
	free(q->heap);
	*q = (struct tun_queue){.free = TOPO_NONE};
}

/* All memory is had here: the heap has room for every slot that was ever taken,
 * so putting a packet cannot fail once it has been read. A loss for want of
 * memory would be one that no truth tells of. */
int tun_queue_take(struct tun_queue *q, uint32_t *slot, struct sim_err *e)
{
	const size_t n = (size_t)q->n_slots + 1;
	int rc;
	/* A slot that was used before has memory and a place in the heap. */
	*slot = q->free;
	if (*slot != TOPO_NONE) {
		q->free = q->slot[*slot].next_free;
		return 0;
	}
	if (q->n_slots == q->max)
		return 0;
	if ((rc = SIM_RESERVE(&q->slot, &q->cap_slots, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&q->bytes, &q->cap_bytes, n * q->slot_bytes, e)) <
		0 ||
	    (rc = SIM_RESERVE(&q->heap, &q->cap, n, e)) < 0)
		return rc;
	*slot = q->n_slots++;
	return 0;
}

void tun_queue_give(struct tun_queue *q, uint32_t slot)
{
	q->slot[slot].next_free = q->free;
	q->free = slot;
}

/* Of packets due at one time the one that was put first goes first: the order
 * within a flow must survive. */
static int is_before(const struct tun_due *a, const struct tun_due *b)
{
	return a->at != b->at ? a->at < b->at : a->turn < b->turn;
}

void tun_queue_put(struct tun_queue *q, uint32_t slot, sim_ns at)
{
	const struct tun_due due = {at, q->turn++, slot};
	size_t i = q->n++;
	assert(q->n <= q->cap);
	for (; i > 0; i = (i - 1) / 2) {
		const struct tun_due *up = &q->heap[(i - 1) / 2];
		if (!is_before(&due, up))
			break;
		q->heap[i] = *up;
	}
	q->heap[i] = due;
}

uint32_t tun_queue_pop(struct tun_queue *q)
{
	assert(q->n > 0);
	const uint32_t slot = q->heap[0].slot;
	const struct tun_due last = q->heap[--q->n];
	size_t i = 0;
	for (;;) {
		size_t down = 2 * i + 1;
		if (down >= q->n)
			break;
		if (down + 1 < q->n &&
		    is_before(&q->heap[down + 1], &q->heap[down]))
			down++;
		/* The last one comes to rest where neither child is earlier. */
		if (!is_before(&q->heap[down], &last))
			break;
		q->heap[i] = q->heap[down];
		i = down;
	}
	q->heap[i] = last;
	return slot;
}
