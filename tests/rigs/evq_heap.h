/* tests/rigs/evq_heap.h -- 4-ary heap by (time, insertion): the order to compare to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_EVQ_HEAP_H
#define TESTS_EVQ_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "sim/evq.h"

struct evq_heap_item {
	struct sim_event ev;
	uint64_t seq;
};

/* Zeroed is empty. */
struct evq_heap {
	struct evq_heap_item *item;
	size_t n, cap;
	uint64_t n_put;
};

int evq_heap_put(struct evq_heap *h, const struct sim_event *ev,
    struct sim_err *e);

/* As sim_evq_pop(). */
int evq_heap_pop(struct evq_heap *h, sim_ns until, struct sim_event *ev);

void evq_heap_free(struct evq_heap *h);

#endif
