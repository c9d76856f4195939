/* topo/ip_book.h -- addresses of IPv6 in 32 bits, where all else has as many.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent's entries, records and five-tuples have addresses of 32 bits, the same
 * in simulations and on a live host. There one of IPv6 is a number that a book of
 * this program has for it, from 0.0.0.1 on: nobody has an address of 0/8 (RFC 6890
 * 2.2.2). What leaves the program, be it to a socket, a file or a message, has the
 * address itself.
 *
 * A number is of one address as long as that is in the book. It is never of two:
 * what is swept out must be in no table.
 */
#ifndef TOPO_IP_BOOK_H
#define TOPO_IP_BOOK_H

#include "sim/err.h"
#include "topo/ip.h"

enum { TOPO_IP_BOOK_MOST = (1 << 24) - 1 };

/* Zeroed it is empty, has no room, and IPv4 passes. */
struct topo_ip_book {
	uint32_t n, cap, next; /* next: where a free one is looked for */
	uint32_t n_slots;      /* a power of two, or 0 */
	struct topo_ip *ip;    /* [cap]; number i + 1 */
	uint8_t *state;        /* [cap] enum in ip_book.c */
	uint32_t *slot;        /* [n_slots] numbers; 0: empty */
};

/* Room for MOST. Domain  most <= TOPO_IP_BOOK_MOST. Errors SIM_ENOMEM. */
int topo_ip_book_open(struct topo_ip_book *b, uint32_t most, struct sim_err *e);
void topo_ip_book_close(struct topo_ip_book *b);

/* Whether 32 bits are the number of an address of IPv6. */
static inline int topo_ip_is_number(uint32_t ip)
{
	return ip > 0 && ip >> 24 == 0;
}

/* A in 32 bits: of IPv4 itself; of IPv6 its number, for which it is noted. 0: there
 * is no room, or A is in 0/8. Cost O(1) expected. */
uint32_t topo_ip_book_note(struct topo_ip_book *b, const struct topo_ip *a);

/* The address again; :: for a number that the book does not have. B may be NULL
 * where there is none. */
struct topo_ip topo_ip_book_look(const struct topo_ip_book *b, uint32_t ip);

/* Forget all but those that topo_ip_book_keep() was told of since. Numbers stay what
 * they are. Cost O(cap). */
void topo_ip_book_keep(struct topo_ip_book *b, uint32_t ip);
void topo_ip_book_sweep(struct topo_ip_book *b);

#endif
