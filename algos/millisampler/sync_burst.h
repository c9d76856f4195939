/* algos/millisampler/sync_burst.h -- racks whose hosts burst at one time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts that do not know of each other meet in bursts by chance alone. How often
 * is known without any model of bursts: turn each host's series round by a
 * random number of buckets, and its bursts stay what they are while what they
 * have to do with others is gone. Over all turns the number of meetings, pairs
 * of hosts in a burst in one bucket, has
 *
 *	mean      sum over pairs of  s_i s_j / n
 *	variance  sum over pairs of  (1/n) sum_d A_i(d) A_j(d) - (s_i s_j / n)^2
 *
 * with S_i the buckets of host I in a burst, of N, and A_i(d) how many of them
 * have another D buckets behind, round the end. z = (meetings - mean) /
 * deviation; runs of a ToR add up. Bursts that are periodic by themselves have
 * larger variances, so hosts of one period but without a common time are none.
 *
 * Accused is a ToR whose z is above `z_min`, by z. Whose bursts met others more
 * than by chance, and at what period, algo_sync_burst_of() tells.
 *
 * Paper  Millisampler (IMC'22): synchronised bursts of many hosts, as a case. The
 *        test is ours.
 */
#ifndef ALGOS_MILLISAMPLER_SYNC_BURST_H
#define ALGOS_MILLISAMPLER_SYNC_BURST_H

#include "algos/algo.h"
#include "algos/millisampler/series.h"

struct algo_sync_burst_params {
	double width_ms, together_ms; /* which runs are a rack's */
	double share, z_min, period_min;
};
extern const struct sim_field algo_sync_burst_fields[];

struct algo_sync_burst {
	size_t n;                   /* buckets, known of all runs */
	double met, mean, variance; /* meetings */
	double z;                   /* 0 without variance */
	/* Lag, from where bursts no longer last to a third of the run, at which
	 * the number of hosts in a burst is most like itself, and how much (1:
	 * the same); 0 if that is below period_min. */
	double period_ms, likeness;
};

/* HOST_Z[s->n_runs]: z of the meetings of one host; NULL: not wanted.
 * Errors SIM_ENOMEM. Cost O(sum of S_i^2 + hosts * buckets). */
int algo_sync_burst_of(const struct algo_series *s,
    const struct algo_sync_burst_params *p, struct algo_sync_burst *out,
    double host_z[], struct sim_err *e);

extern const struct algo_ops algo_sync_burst_ops;

#endif
