/* algos/vigil/rtt_order.c -- successful probes by round-trip time, for ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/rtt_order.h"

#include <stdlib.h>

#include "sim/vec.h"

void algo_rtt_order_free(struct algo_rtt_order *o)
{
	free(o->probe);
	free(o->spare);
	*o = (struct algo_rtt_order){0};
}

/* One stable pass by the byte at SHIFT, into `spare`; then the two change
 * places. Stability is what makes a pass a byte from the lowest up a sort. */
static void sort_by_byte(struct algo_rtt_order *o, unsigned shift)
{
	size_t at[256] = {0}, sum = 0;
	for (size_t i = 0; i < o->n; i++)
		at[o->probe[i].rtt_ns >> shift & 255]++;
	for (unsigned b = 0; b < 256; b++) {
		const size_t n = at[b];
		at[b] = sum;
		sum += n;
	}
	for (size_t i = 0; i < o->n; i++)
		o->spare[at[o->probe[i].rtt_ns >> shift & 255]++] = o->probe[i];
	struct algo_rtt_probe *const sorted = o->spare;
	const size_t cap = o->cap_spare;
	o->spare = o->probe;
	o->cap_spare = o->cap;
	o->probe = sorted;
	o->cap = cap;
}

int algo_rtt_order_make(struct algo_rtt_order *o, const struct obs_probes *t,
    struct sim_err *e)
{
	uint64_t differ = 0;
	int rc;
	o->n = 0;
	if ((rc = SIM_RESERVE(&o->probe, &o->cap, t->n, e)) < 0 ||
	    (rc = SIM_RESERVE(&o->spare, &o->cap_spare, t->n, e)) < 0)
		return rc;
	/* Failed connects have no time, and those between data centres have the
	 * distance's. */
	for (size_t i = 0; i < t->n; i++) {
		if (t->outcome[i] != OBS_CONNECTED ||
		    t->level[i] == OBS_LEVEL_INTER_DC)
			continue;
		o->probe[o->n++] = (struct algo_rtt_probe){t->rtt_ns[i],
		    t->src_host[i], t->dst_host[i]};
		/* Bytes in which no two times differ need no pass: connect
		 * times of a data centre agree in most of their eight. */
		differ |= t->rtt_ns[i] ^ o->probe[0].rtt_ns;
	}
	for (unsigned shift = 0; shift < 64; shift += 8)
		if (differ >> shift & 255)
			sort_by_byte(o, shift);
	return 0;
}
