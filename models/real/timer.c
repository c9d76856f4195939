/* models/real/timer.c -- timers by due time: a binary heap.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Equal times go in the order of setting, by a number that each timer gets; so
 * two runs of an agent that sets two timers for the same time do the same.
 */
#include "models/real/timer.h"

#include <stdlib.h>

#include "sim/vec.h"

static int timer_before(const struct real_timer *a, const struct real_timer *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

/* Let a timer rise from the end of the heap. There must be room for it. */
static void timer_put(struct real_timers *t, struct real_timer new)
{
	size_t i = t->n++;
	for (; i > 0 && timer_before(&new, &t->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = new;
}

int real_timers_set(struct real_timers *t, sim_ns at, topo_host host,
    uint64_t token, struct sim_err *e)
{
	int rc = SIM_RESERVE(&t->heap, &t->cap, t->n + 1, e);
	if (rc == 0)
		timer_put(t, (struct real_timer){at, t->n_set++, token, host});
	return rc;
}

sim_ns real_timers_next(const struct real_timers *t)
{
	return t->n > 0 ? t->heap[0].at : SIM_NEVER;
}

int real_timers_take(struct real_timers *t, sim_ns now, struct real_timer *out)
{
	if (t->n == 0 || t->heap[0].at > now)
		return 0;
	*out = t->heap[0];
	const struct real_timer moved = t->heap[--t->n];
	/* The last one fills the hole at the top and sinks to where no child is
	 * earlier. */
	size_t i = 0;
	for (size_t k; (k = 2 * i + 1) < t->n; i = k) {
		if (k + 1 < t->n && timer_before(&t->heap[k + 1], &t->heap[k]))
			k++;
		if (timer_before(&moved, &t->heap[k]))
			break;
		t->heap[i] = t->heap[k];
	}
	if (t->n > 0)
		t->heap[i] = moved;
	return 1;
}

/* Put back, one by one, all timers but the host's. The heap that grows is never
 * longer than what has been read of the old one, so both may share the
 * memory. */
void real_timers_drop(struct real_timers *t, topo_host host)
{
	const size_t n = t->n;
	t->n = 0;
	for (size_t i = 0; i < n; i++)
		if (t->heap[i].host != host)
			timer_put(t, t->heap[i]);
}

void real_timers_free(struct real_timers *t)
{
	free(t->heap);
	*t = (struct real_timers){0};
}
