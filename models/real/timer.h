/* models/real/timer.h -- timers by due time: a binary heap.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sim/evq does not fit here: it cannot tell when the next event is due without
 * taking it, and refuses one that is due before the last that it gave.
 */
#ifndef MODELS_REAL_TIMER_H
#define MODELS_REAL_TIMER_H

#include <stddef.h>

#include "sim/err.h"
#include "sim/time.h"
#include "topo/ids.h"

struct real_timer {
	sim_ns at;
	uint64_t number; /* equal times go in the order of setting */
	uint64_t token;
	topo_host host;
};

/* Zeroed is empty. */
struct real_timers {
	size_t n, cap;
	uint64_t n_set;
	struct real_timer *heap;
};

/* Errors SIM_ENOMEM. */
int real_timers_set(struct real_timers *t, sim_ns at, topo_host host,
    uint64_t token, struct sim_err *e);

/* When the next is due, or SIM_NEVER. */
sim_ns real_timers_next(const struct real_timers *t);

/* Take the first that is due at NOW: 1, or 0 if none is. */
int real_timers_take(struct real_timers *t, sim_ns now, struct real_timer *out);

/* Forget those of HOST. */
void real_timers_drop(struct real_timers *t, topo_host host);
void real_timers_free(struct real_timers *t);

#endif
