/* algos/millisampler/bursts.h -- bursts of hosts, and how many burst together.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	burst       buckets in a row, as many as there are, in each of which
 *	            more than `share` of what the line carries came in
 *	contention  of a bucket: hosts of the rack in a burst; of a burst: the
 *	            greatest, and the mean, over its buckets; of a run: mean,
 *	            percentiles, greatest over its buckets
 *	lossy       something sent again came in with the burst, or up to about
 *	            a round trip behind it (`tail`), or, as what waited for a
 *	            timer does, an `rto` behind one of its buckets
 *	incast      more connections than incast_min, or than incast_ratio
 *	            times as many as outside of bursts
 *
 * Volume, marked bytes and connections are of the burst's buckets; what was sent
 * again also of those behind it. Connections are the mean over buckets, of what
 * the sketches say; those outside of bursts of a host the same over its other
 * buckets, quiet ones too.
 *
 * Paper  Millisampler (IMC'22): half of 12.5 Gb/s, at 1 ms. Percentiles and the
 *        rest of the defaults are ours.
 */
#ifndef ALGOS_MILLISAMPLER_BURSTS_H
#define ALGOS_MILLISAMPLER_BURSTS_H

#include "algos/millisampler/series.h"
#include "sim/field.h"
#include "sim/table.h"

enum algo_incast_by { ALGO_INCAST_BY_COUNT, ALGO_INCAST_BY_RATIO };

struct algo_burst_params {
	double share, tail_ms, rto_ms;
	uint32_t incast; /* enum algo_incast_by */
	double incast_min, incast_ratio;
};
extern const struct sim_field algo_burst_fields[];

/*  X(type, column, units, meaning) */
#define ALGO_BURST_COLUMNS(X)                                                  \
	X(uint32_t, run, "1", "row of the table of runs")                      \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint32_t, first, "1", "common bucket that it begins with")           \
	X(uint32_t, n_buckets, "1", "length")                                  \
	X(double, in_bytes, "bytes", "volume")                                 \
	X(double, peak_bytes, "bytes", "of its fullest bucket")                \
	X(double, ce_bytes, "bytes", "marked by a full queue")                 \
	X(double, retx_bytes, "bytes", "sent again, also a little behind it")  \
	X(double, conns, "connections", "mean over its buckets")               \
	X(double, contention, "hosts", "in a burst, mean over its buckets")    \
	X(uint32_t, contention_max, "hosts", "in a burst, at most")            \
	X(uint8_t, lossy, "1", "1: something was sent again")                  \
	X(uint8_t, incast, "1", "1: of many connections")

struct algo_bursts {
	SIM_TABLE_ARRAYS(ALGO_BURST_COLUMNS)
};
struct algo_burst {
	SIM_TABLE_FIELDS(ALGO_BURST_COLUMNS)
};
SIM_TABLE(algo_bursts, algo_burst, ALGO_BURST_COLUMNS)

/* IN[s->n] = 1 where run I is in a burst, else 0. */
void algo_burst_mark(const struct algo_series *s, size_t i, double share,
    uint8_t in[]);

/* Append the bursts of all runs of S, ascending by run and first bucket, with
 * contention among these runs. Errors SIM_ENOMEM (rows already appended stay).
 * Cost O(runs * buckets). */
int algo_bursts_find(const struct algo_series *s,
    const struct algo_burst_params *p, struct algo_bursts *out,
    struct sim_err *e);

/* Contention of the buckets of S that are known of all runs. */
struct algo_contention {
	size_t n; /* buckets; 0: all below is 0 */
	double mean;
	uint32_t p10, p50, p90, max; /* nearest ranks */
	double met;   /* share of burst buckets that met another host's */
	double index; /* of dispersion: variance / mean of hosts in a burst */
};

/* COUNT[s->n], hosts in a burst in each bucket, overwritten. */
int algo_contention_count(const struct algo_series *s, double share,
    uint32_t count[], struct sim_err *e);
int algo_contention_of(const struct algo_series *s, double share,
    struct algo_contention *out, struct sim_err *e);

/* What share of a pool dynamic thresholds leave to each of N busy queues: each
 * has Q = alpha (1 - n Q), so Q = alpha / (1 + alpha n).
 * Paper  Choudhury and Hahne, "Dynamic Queue Length Thresholds" (ToN 1998). */
static inline double algo_buffer_share(double alpha, double n)
{
	return alpha / (1 + alpha * n);
}

#endif
