/* algos/everflow/hole_pattern.h -- what the packets that a hole takes share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Paper  Everflow (SIGCOMM'15) (black holes have a pattern); the
 *        search is ours.
 */
#ifndef ALGOS_EVERFLOW_HOLE_PATTERN_H
#define ALGOS_EVERFLOW_HOLE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "topo/route.h"

/* A tuple that was probed, and whether all of its probes were lost. */
struct algo_hole_tuple {
	struct topo_tuple tuple;
	uint32_t n_kept, n_lost;
	uint8_t is_lost;
};

/* The smallest VALUE and MASK over addresses and ports, of those that greedy
 * search finds, that cover all lost tuples and no kept one: whole fields are
 * given up first, ports before addresses, then single bits from below. With
 * ADDRESSES ports are left out. Returns 1; or 0, with zeros, if even what all
 * the lost have in common covers a kept one, or there are none of either.
 * Cost O(96 n). */
int algo_hole_pattern(const struct algo_hole_tuple t[], size_t n, int addresses,
    struct topo_tuple *value, struct topo_tuple *mask);

/* Does it look at addresses alone? 1 if all tuples of each pair of addresses
 * have one fate, and some lost pair was tried with at least 4 pairs of ports;
 * else 0: the ports matter, or it cannot be told. A hole by five-tuple that
 * takes a share s of them passes for one by addresses with s^3 at most.
 * Cost O(n^2). */
int algo_hole_is_by_address(const struct algo_hole_tuple t[], size_t n);

/* 1 if it can be told: it is by addresses, or some lost pair of addresses was
 * kept with other ports. */
int algo_hole_is_told(const struct algo_hole_tuple t[], size_t n);

#endif
