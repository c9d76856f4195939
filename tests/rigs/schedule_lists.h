/* tests/rigs/schedule_lists.h -- pinglists for schedules: good ones, and others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_SCHEDULE_LISTS_H
#define TESTS_SCHEDULE_LISTS_H

#include "algos/pingmesh/pinglist_xml.h"
#include "sim/rng.h"
#include "topo/route.h"

enum { SCHEDULE_LIST_BYTES = 1 << 13, SCHEDULE_LIST_ENTRIES = 64 };

struct schedule_list {
	size_t n;
	uint32_t n_entries; /* 0: not a good one */
	uint64_t sum;       /* of the bytes that `entry` was read from */
	struct algo_pinglist_entry entry[SCHEDULE_LIST_ENTRIES];
	char text[SCHEDULE_LIST_BYTES];
};

extern const struct schedule_list schedule_list_empty;

/* Of server 10.0.0.1: peers from 10.0.0.1 on; also itself, intervals below the least
 * and payloads above the most, which the reader must mend. */
void schedule_list_make(struct schedule_list *l, uint32_t version,
    struct sim_rng *rng);

/* FROM cut short, or with some bytes changed; maybe still a list. */
void schedule_list_spoil(struct schedule_list *l,
    const struct schedule_list *from, struct sim_rng *rng);

/* Read N bytes that the agent of 10.0.0.1 got. Returns whether they are a good
 * list: one with entries, MOST at most. */
int schedule_list_take(struct schedule_list *l, const void *bytes, size_t n,
    uint32_t most);

/* Whether T goes to somebody on the list. */
int schedule_list_has(const struct schedule_list *l,
    const struct topo_tuple *t);

uint64_t schedule_list_sum(const void *bytes, size_t n);

#endif
