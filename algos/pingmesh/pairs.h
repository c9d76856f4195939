/* algos/pingmesh/pairs.h -- what entries share: a peer's time, a pair's ports.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each probe has a new source port, so that over time the probes of a pair take
 * all ECMP paths. A pair here is an address and a port to be probed.
 *
 *	coverage   A pair has a place of its own in the range of n ports, and
 *		   goes on by the same stride after each probe. Stride and n
 *		   have no common divisor. So any n probes of a pair in a row
 *		   have all n ports, once each, however many entries a list has
 *		   and whenever they are due.
 *	apart      No two connects under way are alike: of two pairs they differ
 *		   in where to, of one pair they are fewer than n places apart.
 *		   (Unless n is less than what a pair can have under way, which
 *		   is probe_timeout / min_interval and one more.)
 *
 * The stride is about the golden section of n. So early ports of a pair lie all
 * over the range: after r probes, r up to the square root of n, no stretch
 * without any is longer than 3.5 n / r. Corrupt entries that match a range of
 * ports, or some of their bits, are met as soon as those that match at random.
 *
 * A place is the address, as a number (of IPv6 its number in the agent's book),
 * counted from an origin. The origin is
 * drawn when the agent starts, so one that starts again and again does not go
 * over the same ports each time. At each new list it moves on by as many probes
 * as a pair can have had since the list before: so neither do lists that change
 * often bring a pair back to where it was.
 *
 * With the order `list`, one count goes over the ports for all entries. Then no
 * port serves two connects of a server within n of its probes, not even to two
 * peers, which is for networks that rewrite addresses. But of a list of m
 * entries with one interval each pair sees n / gcd(n, m) ports only: of 28,232
 * ports 14,116 with 2,538 entries, and 8 with 3,529. What it does not see it
 * never finds; what it sees comes again the sooner (figure pingmesh_ports).
 *
 * Paper  Pingmesh (SIGCOMM'15), section 3.4. DEPARTS: it does not say which
 *	  port is next; both orders are ours.
 */
#ifndef ALGOS_PINGMESH_PAIRS_H
#define ALGOS_PINGMESH_PAIRS_H

#include "algos/pingmesh/pingmesh.h"

enum { ALGO_PINGMESH_PAIR_SLOTS = 1 << 14 };
static_assert(2 * ALGO_PINGMESH_ENTRIES <= ALGO_PINGMESH_PAIR_SLOTS,
    "a table half empty");

/* The range. Ports count from 0 at its first. */
struct algo_pingmesh_ports {
	uint32_t first, n, stride, origin;
	uint32_t of_list; /* 1: the order `list` */
	sim_ns since;     /* the list began; SIM_NEVER before the first */
};

/* Beside entry i of a list. The time of a peer's last probe stands at its first
 * entry alone, so that all entries of a peer share one limit; the next port of
 * a pair at the pair's first entry. */
struct algo_pingmesh_pair {
	sim_ns last;
	uint32_t of_peer; /* first entry with this address */
	uint16_t of_pair; /* first with this address and port */
	uint16_t port;    /* next */
};
static_assert(ALGO_PINGMESH_ENTRIES <= UINT16_MAX, "an entry in 16 bits");

/* The caller's memory. */
struct algo_pingmesh_pairs {
	const struct algo_pinglist_entry *entry; /* [n] */
	struct algo_pingmesh_pair *pair;         /* [n] */
	uint32_t *slot;                          /* [PAIR_SLOTS] */
	uint32_t n;
};

/* Domain first <= last <= 65535, origin <= last - first. */
void algo_pingmesh_ports_init(struct algo_pingmesh_ports *p,
    const struct algo_pingmesh_params *params, uint32_t origin);

/* Begin a list whose probes come FROM on, at the earliest: fill `of_peer`,
 * `of_pair`, `port` and `slot`. Two probes of a pair are GUARD apart or more,
 * and FROM is as long after the last of the list before.
 * Cost O(n) expected. */
void algo_pingmesh_pairs_begin(const struct algo_pingmesh_pairs *l,
    struct algo_pingmesh_ports *p, sim_ns from, sim_ns guard);

/* A probe of the list before is still under way, so its pair, if it is in this
 * list, goes on behind it. To be said of all of them in order of sending, after
 * begin(). Cost O(1) expected. */
void algo_pingmesh_pairs_follow(const struct algo_pingmesh_pairs *l,
    const struct algo_pingmesh_ports *p,
    const struct algo_pingmesh_record *sent);

static inline uint16_t
algo_pingmesh_ports_after(const struct algo_pingmesh_ports *p, uint32_t port)
{
	port += p->stride;
	return (uint16_t)(port < p->n ? port : port - p->n);
}

/* The source port of the next probe of entry I. */
static inline uint16_t
algo_pingmesh_ports_next(const struct algo_pingmesh_ports *p,
    struct algo_pingmesh_pair pair[], uint32_t i)
{
	uint16_t *next = &pair[pair[i].of_pair].port;
	const uint32_t port = p->first + *next;
	*next = algo_pingmesh_ports_after(p, *next);
	return (uint16_t)port;
}

#endif
