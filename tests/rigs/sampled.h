/* tests/rigs/sampled.h -- runs and buckets of hosts, made by hand or drawn.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_SAMPLED_H
#define TESTS_SAMPLED_H

#include "algos/algo.h"
#include "models/obs.h"
#include "models/obs_samples.h"
#include "sim/rng.h"

enum { SAMPLED_LINE = 1562500 }; /* bytes of 1 ms at 12.5 Gb/s */

struct sampled {
	struct obs_runs runs;
	struct obs_samples samples;
};

/* Behind those that are there: a run of N buckets of 1 ms of HOST, which starts
 * at 1 s; and a row of it, whose `run` is filled in. */
void sampled_run(struct sampled *s, uint32_t host, uint32_t n);
void sampled_row(struct sampled *s, struct obs_sample row);
void sampled_free(struct sampled *s);

/* A window that borrows them. */
struct obs sampled_window(const struct sampled *s);

/* Open OPS, diagnose W, close it: for test_each_alloc_fails(). */
struct sampled_given {
	const struct algo_ops *ops;
	struct topo t;
	struct obs w;
};
int sampled_diagnose(void *given, struct sim_err *e);

/* A run of 2,000 buckets of 1 ms of HOST with bursts that begin, while none is on,
 * with probability RATE a bucket, last 1 to 6 and fill MARKED of the line's
 * bytes with marks; little between them. Each packet of 1,500 bytes that comes in
 * is sent again, in the bucket behind, with probability LOSS. In a burst with
 * marks a full buffer drops, with probability FULL a bucket, of 1 to 40
 * packets; one of three of these is sent again RTO_MS later, the others in the
 * bucket behind. */
struct sampled_law {
	double rate, marked, loss, full;
	uint32_t rto_ms;
};
void sampled_draw(struct sampled *s, uint32_t host,
    const struct sampled_law *law, struct sim_rng *r);

#endif
