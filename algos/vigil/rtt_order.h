/* algos/vigil/rtt_order.h -- successful probes by round-trip time, for ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A walk through all probes by ascending connect time gives the exact quantiles
 * of any number of groups at once: the value of rank r of a group is the time
 * of the r-th of its probes met. So a group needs a counter and no list.
 *
 * A quantile here is the nearest rank: the least time that at least this share
 * of the probes did not exceed. It is always a time that was measured.
 */
#ifndef ALGOS_VIGIL_RTT_ORDER_H
#define ALGOS_VIGIL_RTT_ORDER_H

#include "models/obs_probes.h"
#include "sim/err.h"

struct algo_rtt_probe {
	uint64_t rtt_ns;
	uint32_t src_host, dst_host;
};

/* So many are sorted at a time with a second place for each, 4 MiB. */
enum { ALGO_RTT_SPARE = 1 << 18 };

/* Zeroed is empty. */
struct algo_rtt_order {
	size_t n;
	struct algo_rtt_probe *probe; /* [n], once sorted by rtt_ns */
	struct algo_rtt_probe *spare; /* the sort's other half, while few */
	size_t cap, cap_spare;
};

/* Take the probes of T that connected within the data centre (any level but
 * OBS_LEVEL_INTER_DC) and sort them. Equal times are in an order that T decides,
 * and no more is said of it: no rank tells them apart. Memory is kept for the
 * next table: 16 bytes a probe, and as much again for ALGO_RTT_SPARE of them.
 * Errors SIM_ENOMEM. Cost O(probes): a radix sort, one pass for each byte in
 * which the times differ. */
int algo_rtt_order_make(struct algo_rtt_order *o, const struct obs_probes *t,
    struct sim_err *e);
void algo_rtt_order_free(struct algo_rtt_order *o);

/* The two halves of it, for probes in several tables: take those of one more, whose
 * times are in ONLY (NULL: all); and sort what was taken since N was 0, or, without
 * memory for that, forget it. */
int algo_rtt_order_add(struct algo_rtt_order *o, const struct obs_probes *t,
    const struct obs_probe_span *only, struct sim_err *e);
int algo_rtt_order_sort(struct algo_rtt_order *o, struct sim_err *e);

/* The rank, from 1, of a quantile of N > 0 values. Domain 0 < percent <= 100,
 * n below 2^57. */
static inline uint64_t algo_rtt_rank(uint64_t n, unsigned percent)
{
	return (n * percent + 99) / 100;
}

#endif
