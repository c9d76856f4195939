/* algos/millisampler/loss_cause.h -- a full buffer, or a bad link?
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a host sees sent again was lost on its way: by a link that is bad all the
 * time, or by a buffer that is full now and then, or by both. Three laws for a
 * host's counters are compared over all of its buckets, those in which nothing
 * was lost too, because a bad link loses also when no queue is long:
 *
 *	link    of the N packets of a bucket, or of the one before if those are
 *	        more, each was sent again with the same probability p
 *	buffer  something was sent again in a share of the hot buckets, which is
 *	        the host's own, and in another of all others, which is `cold` at
 *	        most; then a number of packets that is geometric, as a full
 *	        buffer loses many at once
 *	both    a buffer in hot buckets, a link in all others
 *
 * With `healthy` above 0 good links lose, too, as on a real network, where others
 * lose acknowledgements: then the two are held against the likeliest of three,
 * the buffer and link and both with a p of at most `healthy`. And in `both` a bucket
 * that is not hot is the link's or, as in the buffer's law, with probability `cold`
 * that of a buffer whose losses are sent again late; p is fitted by EM.
 *
 * A bucket is hot if it, one within `tail` before or one an `rto` before is of a
 * burst in which at least `ce_share` of the bytes were marked. Unknown are p
 * and the shares, and each law has those that make it likeliest. (Were the second
 * one `cold` itself, 10^4 buckets without a loss would tell against buffers, by
 * 10^4 `cold`, and every host with a full buffer would be accused in time.) The link is
 * accused if the buffer alone is less likely than `link` by more than `margin`,
 * or than `both` by more than `margin` and `both` together (natural logarithms).
 *
 *	        buckets ->  hot hot  .   .   .   .   .
 *	sent again           12   9  0   0   0   0   0     buffer
 *	sent again            1   0  0   1   0   0   1     link
 *
 * Packets are bytes by `segment`, rounded up, but those sent again to the nearest,
 * without `least`, and one at least: so a frame of 1,514 bytes is one as one of
 * 1,500 is, and up to 50 at once are so many.
 * It asks for ECN: without marks no bucket is hot. Blamed is the link from the ToR
 * to the host, wherever above it the loss may have been. As a diagnoser it looks
 * also at what hosts send again (loss_out.h), and there the link to the ToR is
 * blamed.
 *
 * Paper  None: ours, on the counters of Millisampler (IMC'22).
 */
#ifndef ALGOS_MILLISAMPLER_LOSS_CAUSE_H
#define ALGOS_MILLISAMPLER_LOSS_CAUSE_H

#include <math.h>

#include "algos/algo.h"
#include "algos/millisampler/series.h"
#include "sim/table.h"

struct algo_loss_cause_params {
	double width_ms; /* of the runs that are looked at */
	double segment, least, share, ce_share, tail_ms, rto_ms, rto_to_ms;
	double cold, geometric, healthy, margin, both;
};
extern const struct sim_field algo_loss_cause_fields[];

/* X(name, text) */
#define ALGO_LOSS_CAUSES(X)                                                    \
	X(NONE, "none")     /* nothing was sent again */                       \
	X(BUFFER, "buffer") /* or it can't be told */                          \
	X(LINK, "link")

enum algo_loss_is {
#define X(name, text) ALGO_LOSS_##name,
	ALGO_LOSS_CAUSES(X)
#undef X
	    ALGO_N_LOSS_CAUSES
};
extern const char *const algo_loss_cause_names[]; /* NULL-terminated */

/*  X(type, column, units, meaning) */
#define ALGO_LOSS_CAUSE_COLUMNS(X)                                             \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint32_t, cause, "1", "0 nothing lost, 1 a buffer, 2 the link")      \
	X(double, n_retx, "packets", "sent again")                             \
	X(double, n_pkts, "packets", "of which these could be")                \
	X(double, n_buckets, "1", "of its runs")                               \
	X(double, n_hot, "1", "of them near a burst with marks")               \
	X(double, rate, "1", "p of the link, if it is that")                   \
	X(double, log_link, "1", "log-likelihood of a bad link")               \
	X(double, log_both, "1", "and of a bad link beside a full buffer")     \
	X(double, log_buffer, "1", "and of a full buffer")                     \
	X(double, ahead, "1", "a link's, the better one, before the buffer's")

struct algo_loss_causes {
	SIM_TABLE_ARRAYS(ALGO_LOSS_CAUSE_COLUMNS)
};
struct algo_loss_cause {
	SIM_TABLE_FIELDS(ALGO_LOSS_CAUSE_COLUMNS)
};
SIM_TABLE(algo_loss_causes, algo_loss_cause, ALGO_LOSS_CAUSE_COLUMNS)

/* Packets that BYTES sent again are. */
static inline double algo_loss_packets(double bytes, double segment)
{
	return bytes > 0 ? fmax(round(bytes / segment), 1) : 0;
}

/* Append a row for each host below N_HOSTS with a run of that width, ascending.
 * All runs of a host count together. Errors those of algo_series_align(),
 * SIM_ENOMEM. Cost O(hosts + buckets). */
int algo_loss_causes_find(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p, struct algo_loss_causes *out,
    struct sim_err *e);

/* HOT[s->n]: buckets of run I in which what a full buffer lost may be sent again.
 * IN[s->n] is of algo_burst_mark(). */
void algo_loss_mark_hot(const struct algo_series *s, size_t i,
    const struct algo_loss_cause_params *p, const uint8_t in[], uint8_t hot[]);

/* As a diagnoser: links of hosts with something sent again, by how much likelier
 * the link is, log(1 + exp(difference)); those accused first. Flows that cross
 * an accused link are blamed on it. */
extern const struct algo_ops algo_loss_cause_ops;

#endif
