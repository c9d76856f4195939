/* tests/rigs/copies.h -- copies of packets that switches would mirror, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_COPIES_H
#define TESTS_COPIES_H

#include "models/obs_mirror.h"
#include "topo/topo.h"

enum { COPIES_TTL = 64, COPIES_HOP_NS = 1000 };

/* A TCP packet between two hosts, as a copy of which the way is not known yet:
 * a bare SYN, first seen with TTL 64. */
struct obs_copy copies_packet(topo_host src, topo_host dst, uint16_t src_port,
    uint16_t ip_id);

/* Its copies at all switches of the way between the hosts SRC and DST, from T
 * on, a microsecond each. The packet has LIKE's layer and outer addresses on
 * all of it, and if it has a layer the innermost TTL stays. Returns how many.
 * Shape out[TOPO_MAX_HOPS]. */
unsigned copies_between(const struct topo *t, const struct obs_copy *like,
    topo_host src, topo_host dst, uint64_t at, struct obs_copy out[]);

/* The same between the hosts of the outermost header. */
unsigned copies_of(const struct topo *t, const struct obs_copy *like,
    uint64_t at, struct obs_copy out[]);

/* Append those whose bit in KEEP is set. Stops the program without memory. */
void copies_add(struct obs_mirror *m, const struct obs_copy c[], unsigned n,
    uint64_t keep);

/* Put a table in the order of arrival; equal times stay in order. */
void copies_sort(struct obs_mirror *m);

#endif
