/* experiments/everflow/ether.h -- copies from an interface, as they come.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A ring of memory that the kernel puts packets of GRE into (AF_PACKET): what is
 * not GRE, or for somebody else, it leaves alone. Several of one group, of this
 * process or of others, share the packets by the addresses and ports of the
 * innermost packet, so that all copies of a connection, both ways, come to one.
 * The kernel's own hash would not do: it sees the carrier.
 */
#ifndef EXPERIMENTS_EVERFLOW_ETHER_H
#define EXPERIMENTS_EVERFLOW_ETHER_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

/* Zeroed is usual. */
struct xp_ether_params {
	uint32_t ifindex; /* 0: all interfaces */
	uint32_t address; /* that copies are sent to; 0: any */
	uint32_t slots;   /* packets that may wait; 0: 32,768, of 16 MiB */
	uint32_t group;   /* from 1 to 65,535; 0: alone */
};

struct xp_ether;

/* In the namespace of the calling thread. Errors SIM_EUNSUPPORTED (no
 * CAP_NET_RAW), SIM_EIO, SIM_ENOMEM. */
int xp_ether_open(struct xp_ether **x, const struct xp_ether_params *p,
    struct sim_err *e);
void xp_ether_close(struct xp_ether *x); /* NULL is fine */

/* To be polled for reading; then give up to MOST packets to TAKE, in the order
 * in which they came: N bytes behind a link's header of type ETHERTYPE, at
 * UNIX_NS. *N < MOST: there were no more. Errors those of TAKE. */
typedef int xp_ether_taker(void *arg, uint64_t unix_ns, uint16_t ethertype,
    const uint8_t bytes[], size_t n, struct sim_err *e);
int xp_ether_fd(const struct xp_ether *x);
int xp_ether_read(struct xp_ether *x, size_t most, xp_ether_taker *take,
    void *arg, size_t *n, struct sim_err *e);

/* 1 if there is a packet, which came at *UNIX_NS. */
int xp_ether_next(const struct xp_ether *x, uint64_t *unix_ns);

/* Packets that found no slot, so far. */
uint64_t xp_ether_lost(struct xp_ether *x);

#endif
