/* topo/ip_book.c -- addresses of IPv6 in 32 bits, where all else has as many.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/ip_book.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/vec.h"

enum { BOOK_FREE, BOOK_USED, BOOK_KEPT }; /* state */

int topo_ip_book_open(struct topo_ip_book *b, uint32_t most, struct sim_err *e)
{
	int rc;
	assert(most <= TOPO_IP_BOOK_MOST);
	*b = (struct topo_ip_book){.cap = most, .n_slots = 2};
	/* Half empty, so that a search ends soon. */
	while (b->n_slots < 2 * most)
		b->n_slots *= 2;
	if ((rc = SIM_ZALLOC(&b->ip, most, e)) < 0 ||
	    (rc = SIM_ZALLOC(&b->state, most, e)) < 0 ||
	    (rc = SIM_ZALLOC(&b->slot, b->n_slots, e)) < 0)
		topo_ip_book_close(b);
	return rc;
}

void topo_ip_book_close(struct topo_ip_book *b)
{
	free(b->ip);
	free(b->state);
	free(b->slot);
	*b = (struct topo_ip_book){.n = 0};
}

/* Where the number of A stands, or belongs. */
static uint32_t *book_slot(const struct topo_ip_book *b,
    const struct topo_ip *a)
{
	for (uint64_t k = topo_ip_hash(a);; k++) {
		uint32_t *slot = &b->slot[k & (b->n_slots - 1)];
		if (*slot == 0 || topo_ip_same(&b->ip[*slot - 1], a))
			return slot;
	}
}

uint32_t topo_ip_book_note(struct topo_ip_book *b, const struct topo_ip *a)
{
	if (topo_ip_is_4(a)) {
		const uint32_t ip = topo_ip_to_4(a);
		return ip >> 24 > 0 ? ip : 0;
	}
	uint32_t *slot = b->cap > 0 ? book_slot(b, a) : NULL;
	if (slot && *slot > 0)
		return *slot;
	if (b->n == b->cap)
		return 0;
	while (b->state[b->next] != BOOK_FREE)
		b->next = (b->next + 1) % b->cap;
	b->state[b->next] = BOOK_USED;
	b->ip[b->next] = *a;
	b->n++;
	return *slot = b->next + 1;
}

struct topo_ip topo_ip_book_look(const struct topo_ip_book *b, uint32_t ip)
{
	const struct topo_ip none = {{0}};
	if (!topo_ip_is_number(ip))
		return topo_ip_of_4(ip);
	return b && ip <= b->cap && b->state[ip - 1] != BOOK_FREE
	    ? b->ip[ip - 1]
	    : none;
}

void topo_ip_book_keep(struct topo_ip_book *b, uint32_t ip)
{
	if (topo_ip_is_number(ip) && ip <= b->cap &&
	    b->state[ip - 1] == BOOK_USED)
		b->state[ip - 1] = BOOK_KEPT;
}

/* Slots are filled anew: a row of them that loses one in its middle would hide those
 * behind it. */
void topo_ip_book_sweep(struct topo_ip_book *b)
{
	if (b->cap == 0)
		return;
	memset(b->slot, 0, b->n_slots * sizeof(*b->slot));
	b->n = 0;
	for (uint32_t i = 0; i < b->cap; i++) {
		if (b->state[i] == BOOK_KEPT) {
			b->state[i] = BOOK_USED;
			*book_slot(b, &b->ip[i]) = i + 1;
			b->n++;
		} else {
			b->state[i] = BOOK_FREE;
		}
	}
}
