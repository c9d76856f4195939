/* algos/everflow/prober.h -- the agent that sends guided probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	controller -- AGENT_ORDER --> agent -- AGENT_SEND --> network
 *
 * It sends what it is ordered to, at times that vary by half of the interval
 * either way, so that what comes and goes evenly is not met at one moment always.
 * And whatever it is ordered to, it does no harm:
 *
 * - a host sends at most one probe in each 1 / host_per_s, and at most one in
 *   each 1 / target_per_s by any one switch; beyond that orders wait. Both rates
 *   are held below limits that no parameter moves;
 * - an order ends when its probes are sent, and after life_s in any case;
 * - without a word of the controller for contact_s, or when its clock jumps, it
 *   drops all orders: nobody could stop it any more. A message without orders is
 *   a word, too; one that says stop drops the orders that are under way;
 * - an order's id is carried out once: those of live orders and of the
 *   ALGO_PROBER_SEEN taken last are known.
 *
 * A message is little-endian, and taken whole or not at all:
 *
 *	at        bytes
 *	0         4     "CPGO"
 *	4         2     version: 1
 *	6         2     flags: 1 = stop what is under way
 *	8         4     n, orders
 *	12        48 n  orders
 *	12 + 48n  8     64-bit FNV-1a of all bytes before
 *
 *	an order
 *	0   4  id           16  1  n_via      32  4  count
 *	4   4  src_ip       17  1  proto: 6   36  4  0
 *	8   4  dst_ip       18  2  0          40  8  interval_ns
 *	12  2  src_port     20  12 via[3]; behind n_via: 0
 *	14  2  dst_port
 *
 * An order's source of 0 is the prober's own address.
 *
 * Paper  Everflow (SIGCOMM'15); the limits are ours, after those of
 *        Pingmesh's agent (SIGCOMM'15, section 3.4).
 */
#ifndef ALGOS_EVERFLOW_PROBER_H
#define ALGOS_EVERFLOW_PROBER_H

#include "algos/everflow/debug.h"
#include "models/agent.h"

enum {
	ALGO_PROBER_HOST_MAX = 1000,  /* probes/s, whatever is set */
	ALGO_PROBER_TARGET_MAX = 200, /* probes/s by one switch, likewise */
	ALGO_PROBER_ORDERS = 256,     /* under way at once, and of a message */
	ALGO_PROBER_SEEN = 1024,
	ALGO_PROBER_MAX_COUNT = 100000, /* probes of an order */
	ALGO_PROBER_HEAD = 12,
	ALGO_PROBER_ORDER = 48,
	ALGO_PROBER_CHECK = 8,
	ALGO_PROBER_MESSAGE = ALGO_PROBER_HEAD +
	    ALGO_PROBER_ORDERS * ALGO_PROBER_ORDER + ALGO_PROBER_CHECK,
	ALGO_PROBER_STOP = 1, /* flag of a message */
};

/* As in a spec. */
struct algo_prober_params {
	double host_per_s, target_per_s; /* probes/s */
	double life_s, contact_s;
	uint32_t address; /* of the host; 0: by its id */
};
extern const struct sim_field algo_prober_fields[];
extern const struct agent_ops algo_prober;

/* Write a message of N orders; returns its bytes.
 * Shape  out[ALGO_PROBER_MESSAGE]. Domain  n <= ALGO_PROBER_ORDERS. */
size_t algo_prober_write(const struct algo_probe_order order[], size_t n,
    unsigned flags, unsigned char *out);

/* Are these bytes a message that an agent carries out? Its orders, if so, are
 * *N_ORDERS, each to be read by algo_prober_order_at().
 * Errors SIM_EPARSE (length, version, checksum), SIM_ELIMIT (too many orders),
 * SIM_ERANGE (an order with a value that none may have), naming it. */
int algo_prober_check(const void *bytes, size_t n, size_t *n_orders,
    unsigned *flags, struct sim_err *e);
struct algo_probe_order algo_prober_order_at(const void *bytes, size_t i);

/* What it did so far, and holds. X(counter, meaning) */
#define ALGO_PROBER_COUNTERS(X)                                                \
	X(n_messages, "messages that were taken")                              \
	X(n_bad, "messages that were refused")                                 \
	X(n_orders, "orders begun")                                            \
	X(n_same, "orders that had been begun before")                         \
	X(n_refused, "orders for which there was no room")                     \
	X(n_probes, "probes sent")                                             \
	X(n_done, "orders that were carried out")                              \
	X(n_expired, "orders that took longer than they may")                  \
	X(n_closed, "orders dropped: no contact, a jump of the clock, stop")   \
	X(n_jumps, "jumps of the clock while orders were under way")
struct algo_prober_status {
#define X(name, text) uint64_t name;
	ALGO_PROBER_COUNTERS(X)
#undef X
	uint32_t n_live; /* orders under way */
};
void algo_prober_status(const void *state, struct algo_prober_status *out);

#endif
