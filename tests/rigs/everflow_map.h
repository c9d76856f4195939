/* tests/rigs/everflow_map.h -- traces by a plain hash table: what one writes first.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A chained table with an allocation a trace and an array of copies that grows.
 * It ends traces as algos/everflow/analyzer.h does, counts links, checks with
 * the same function, and keeps the same traces; suspects are not graded. So it
 * must give the same as an analyzer that waits 0 ms for evidence, unless that
 * one's ring is full.
 */
#ifndef TESTS_EVERFLOW_MAP_H
#define TESTS_EVERFLOW_MAP_H

#include "algos/everflow/analyzer.h"

struct everflow_map;

/* NULL without memory. N_BUCKETS is a power of two. */
struct everflow_map *everflow_map_open(const struct algo_routing *r,
    const struct algo_analyzer_params *p, uint32_t n_buckets);
void everflow_map_close(struct everflow_map *m);

/* Stops the program without memory. */
void everflow_map_feed(struct everflow_map *m, const struct obs_mirror *copies,
    size_t from, size_t to, const struct algo_trace_sink *sink);
void everflow_map_flush(struct everflow_map *m,
    const struct algo_trace_sink *sink);

/* Packets that came by a link. */
uint64_t everflow_map_packets(const struct everflow_map *m, topo_link l);

/* A sum over traces and their hops that does not depend on their order, nor on
 * which analyzer had them. ARG of the sink. */
struct everflow_sum {
	uint64_t sum, n_traces, n_hops;
};
int everflow_sum_take(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e);

#endif
