/* experiments/millisampler/source.h -- samples, whatever file they are in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file of samples (results/samples.h), a capture, of which the buckets are
 * counted here (algos/millisampler/buckets.h), or a run as Meta published
 * (public.h). Which it is its first bytes say; "-" is a capture. The same series
 * gives the same tables, so verbs need not know.
 */
#ifndef EXPERIMENTS_MILLISAMPLER_SOURCE_H
#define EXPERIMENTS_MILLISAMPLER_SOURCE_H

#include "algos/millisampler/buckets.h"
#include "experiments/millisampler/tap.h"
#include "results/samples.h"

/* How to count in a capture; and what a published run does not say. */
struct xp_source_params {
	struct xp_tap_params tap;
	enum algo_start start;
	uint64_t line_bps; /* 0: 12.5 Gbit/s */
	/* Called once a capture was read; NULL: nobody asks. */
	void (*told)(void *arg, const struct xp_tap_said *said);
	void *arg;
};

/* Runs of WIDTH_NS, of those that can be of any; 0: 1 ms. Those of a capture
 * follow each other: what ends one begins the next.
 * Errors those of res_samples_open(), xp_tap_open(), xp_tap_each(),
 * xp_public_read(); SIM_EINVAL (a capture without a packet of its hosts; why a
 * published run is left out). Memory: all samples of a capture. */
int xp_source_open(struct res_samples **r, const char *path,
    const struct xp_source_params *p, sim_ns width_ns, struct sim_err *e);

/* The same of packets of a capture. */
int xp_source_capture(struct res_samples **r, const char *path,
    const struct xp_source_params *p, sim_ns width_ns, struct sim_err *e);

#endif
