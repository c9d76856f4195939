/* sim/evq.h -- event queue: 64-ary radix wheel, stable in (time, insertion).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Events pop in order of time; those of equal time in the order they were
 * put. Time never runs backwards: putting an event before sim_evq_now() is an
 * error. Amortised O(1) a put and O(1) a pop for any distribution of delays (at
 * most 11 moves an event, one a base-64 digit of the clock). Memory: 33 bytes
 * an event at the most crowded moment plus less than 1 MB; it is kept for
 * reuse until the queue is closed.
 */
#ifndef SIM_EVQ_H
#define SIM_EVQ_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/time.h"

struct sim_evq;
struct sim_event;

/* What runs at an event. ARG and AUX are the caller's. Returns 0 or SIM_E*,
 * which ends sim_evq_run(). May put events, also at sim_evq_now(). */
typedef int sim_event_fn(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e);

/* 32 bytes, copied in and out: half a cache line. */
struct sim_event {
	sim_ns t; /* anything but SIM_NEVER */
	sim_event_fn *fn;
	void *arg;
	uint64_t aux;
};

int sim_evq_open(struct sim_evq **q, struct sim_err *e);
void sim_evq_close(struct sim_evq *q); /* NULL is fine */

/* Add an event. Errors SIM_EINVAL if ev->t is before sim_evq_now() or
 * SIM_NEVER, SIM_ENOMEM; either way the queue is unchanged. */
int sim_evq_put(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e);

/* Take the next event if its time is <= UNTIL. Returns 1 and fills EV, or 0
 * and leaves the clock where it was. Needs no memory, so it cannot fail. */
int sim_evq_pop(struct sim_evq *q, sim_ns until, struct sim_event *ev);

/* Pop and call until the queue is empty or the next event is after UNTIL;
 * then the clock stands at UNTIL (unless UNTIL is SIM_NEVER or already past).
 * Errors: those of the handlers; the clock then stands at the event whose
 * handler failed, which is gone, and running on is legal. */
int sim_evq_run(struct sim_evq *q, sim_ns until, struct sim_err *e);

/* The clock: time of the last popped event, or later by sim_evq_run().
 * Events pending. */
sim_ns sim_evq_now(const struct sim_evq *q);
size_t sim_evq_len(const struct sim_evq *q);

#endif
