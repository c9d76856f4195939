/* algos/vigil/rtt_order.c -- successful probes by round-trip time, for ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/rtt_order.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void algo_rtt_order_free(struct algo_rtt_order *o)
{
	free(o->probe);
	free(o->spare);
	*o = (struct algo_rtt_order){0};
}

/* One stable pass by the byte at SHIFT. Stability is what makes a pass a byte
 * from the lowest up a sort. */
static void copy_by_byte(const struct algo_rtt_probe *from,
    struct algo_rtt_probe *to, size_t n, unsigned shift)
{
	size_t at[256] = {0}, sum = 0;
	for (size_t i = 0; i < n; i++)
		at[from[i].rtt_ns >> shift & 255]++;
	for (unsigned b = 0; b < 256; b++) {
		const size_t here = at[b];
		at[b] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].rtt_ns >> shift & 255]++] = from[i];
}

/* SPARE has room for N. */
static void sort_few(struct algo_rtt_probe *p, struct algo_rtt_probe *spare,
    size_t n, uint64_t differ)
{
	struct algo_rtt_probe *from = p, *to = spare;
	for (unsigned shift = 0; n > 1 && shift < 64; shift += 8) {
		if ((differ >> shift & 255) == 0)
			continue;
		copy_by_byte(from, to, n, shift);
		struct algo_rtt_probe *const sorted = to;
		to = from;
		from = sorted;
	}
	if (from != p)
		memcpy(p, from, n * sizeof(*p));
}

/* Put each of N probes among those that agree with it in the byte at SHIFT; these
 * begin at FIRST[byte] and end before FIRST[byte + 1]. Each swap brings one to
 * where it stays. */
static void deal_by_byte(struct algo_rtt_probe *p, size_t n, unsigned shift,
    size_t first[257])
{
	size_t at[256];
	memset(first, 0, 257 * sizeof(*first));
	for (size_t i = 0; i < n; i++)
		first[(p[i].rtt_ns >> shift & 255) + 1]++;
	for (unsigned b = 0; b < 256; b++) {
		first[b + 1] += first[b];
		at[b] = first[b];
	}
	for (unsigned b = 0; b < 256; b++)
		while (at[b] < first[b + 1]) {
			struct algo_rtt_probe *const here = &p[at[b]];
			const unsigned to = here->rtt_ns >> shift & 255;
			const struct algo_rtt_probe moved = *here;
			*here = p[at[to]];
			p[at[to]++] = moved;
		}
}

/* DIFFER has the bits in which any two may differ. Bytes without one need no
 * pass: connect times of a data centre agree in most of their eight. Many are
 * first dealt out where they are, from the highest byte on, until there is room
 * to sort the faster way. Calls are eight deep at most, one a byte. */
static void sort_by_bytes(struct algo_rtt_probe *p,
    struct algo_rtt_probe *spare, size_t n, uint64_t differ)
{
	size_t first[257];
	if (n <= ALGO_RTT_SPARE || differ == 0) {
		sort_few(p, spare, n, differ);
		return;
	}
	const unsigned shift = (63U - (unsigned)__builtin_clzll(differ)) & ~7U;
	const uint64_t below = (UINT64_C(1) << shift) - 1;
	deal_by_byte(p, n, shift, first);
	for (unsigned b = 0; b < 256; b++)
		sort_by_bytes(p + first[b], spare, first[b + 1] - first[b],
		    differ & below);
}

int algo_rtt_order_add(struct algo_rtt_order *o, const struct obs_probes *t,
    const struct obs_probe_span *only, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&o->probe, &o->cap, o->n + t->n, e);
	if (rc < 0)
		return rc;
	/* Failed connects have no time, and those between data centres have the
	 * distance's. */
	for (size_t i = 0; i < t->n; i++) {
		const sim_ns rtt = t->rtt_ns[i];
		if (t->outcome[i] != OBS_CONNECTED ||
		    t->level[i] == OBS_LEVEL_INTER_DC ||
		    (only && (rtt < only->from || rtt >= only->to)))
			continue;
		o->probe[o->n++] = (struct algo_rtt_probe){rtt, t->src_host[i],
		    t->dst_host[i]};
	}
	return 0;
}

int algo_rtt_order_sort(struct algo_rtt_order *o, struct sim_err *e)
{
	uint64_t differ = 0;
	const size_t n_spare =
	    o->n < ALGO_RTT_SPARE ? o->n : (size_t)ALGO_RTT_SPARE;
	const int rc = SIM_RESERVE(&o->spare, &o->cap_spare, n_spare, e);
	if (rc < 0) {
		o->n = 0;
		return rc;
	}
	for (size_t i = 0; i < o->n; i++)
		differ |= o->probe[i].rtt_ns ^ o->probe[0].rtt_ns;
	sort_by_bytes(o->probe, o->spare, o->n, differ);
	return 0;
}

int algo_rtt_order_make(struct algo_rtt_order *o, const struct obs_probes *t,
    struct sim_err *e)
{
	o->n = 0;
	const int rc = algo_rtt_order_add(o, t, NULL, e);
	return rc < 0 ? rc : algo_rtt_order_sort(o, e);
}
