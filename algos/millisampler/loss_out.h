/* algos/millisampler/loss_out.h -- lost on the way from a host, and at which end.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a host sends again was lost by its own link, or behind that: in a full
 * buffer or by a link at the other end, whose marks the sender does not see. Two
 * laws for what it sent, over all buckets with anything in them:
 *
 *	link   of the N packets of a bucket, or of the one before if those are
 *	       more, each was sent again with the same probability
 *	other  something was sent again in a share of the buckets, which is the
 *	       host's own; then a number of packets that is geometric, as a full
 *	       buffer loses many at once
 *
 * The link is accused if it is likelier by more than `margin`.
 *
 * Which end. What is sent again is counted twice if both hosts sample: as it
 * leaves one, and as it comes in at another. All that a link loses is sent again
 * to or by its own host, and spread over the other ends; so of two ends that see
 * the same packets the one with more of them is nearer to the link. An end is
 * `other`, not accused, if more than half of its packets, beyond what would meet
 * by chance, came within a bucket of those of one opposite host that has more.
 * If nobody samples at the other ends, nothing is taken back.
 *
 *	             in: A   B   C                 in: A   B   C
 *	out of X  9      3   4   2   link X   X  4      4   .   .
 *	       Y  0      .   .   .            Y  5      5   .   .   link to A
 *
 * Paper  None: ours, on the counters of Millisampler (IMC'22).
 */
#ifndef ALGOS_MILLISAMPLER_LOSS_OUT_H
#define ALGOS_MILLISAMPLER_LOSS_OUT_H

#include "algos/millisampler/loss_cause.h"

/* One for each host and direction in which something was sent again.
 *	X(type, column, units, meaning) */
#define ALGO_LOSS_END_COLUMNS(X)                                               \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint8_t, out, "1", "1: it sent, 0: it received")                     \
	X(uint8_t, accused, "1", "its link is likelier than others")           \
	X(uint8_t, other, "1", "but one at the other end is nearer")           \
	X(double, n_retx, "packets", "sent again")                             \
	X(double, n_pkts, "packets", "of which these could be")                \
	X(double, ahead, "1", "log-likelihood of its link before others'")

struct algo_loss_ends {
	SIM_TABLE_ARRAYS(ALGO_LOSS_END_COLUMNS)
};
struct algo_loss_end {
	SIM_TABLE_FIELDS(ALGO_LOSS_END_COLUMNS)
};
SIM_TABLE(algo_loss_ends, algo_loss_end, ALGO_LOSS_END_COLUMNS)

/* Append a row for each host below N_HOSTS that sent something again in runs of
 * the width that P says, ascending; `other` is 0. Errors SIM_ENOMEM. Cost O(rows
 * of samples + hosts). */
int algo_loss_out_find(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p, struct algo_loss_ends *out,
    struct sim_err *e);

/* Set `other` of the rows of ENDS that are accused.
 * Errors SIM_ENOMEM. Cost O(rows log rows + for each accused end, of what it has
 * the opposite rows within a bucket). */
int algo_loss_ends_match(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p, struct algo_loss_ends *ends,
    struct sim_err *e);

/* Both directions: ENDS, overwritten, are those at which something came in that
 * was sent again, with the verdicts that CAUSES say, and behind them what
 * algo_loss_out_find() has; `other` is set. Errors and cost those of both. */
int algo_loss_ends_find(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p,
    const struct algo_loss_causes *causes, struct algo_loss_ends *ends,
    struct sim_err *e);

#endif
