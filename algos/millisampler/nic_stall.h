/* algos/millisampler/nic_stall.h -- NICs that hold packets back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * More bytes in a bucket than the wire carries in its time did not come off the
 * wire then: the host's side held them back, and handed them over together, as
 * a driver did that delivered nothing for milliseconds at a time. A bucket is
 * over if more came in than the line carries, times `tolerance`; and, if
 * something came in the bucket before, `slack` bytes of which a NIC may put
 * together into one packet (GRO), which counts where it ends.
 *
 *	stall  buckets in a row right before it in which nothing came in
 *
 * Quiet before is no condition: it is told, and not asked for. This is a law of
 * the wire and not one of traffic, so it accuses nobody else; and it finds each
 * stall that held more than the line carries in a bucket, but hardly another
 * one. Senders use up their windows while nothing is acknowledged, however long
 * that is, and these are a part of what the line carries in a millisecond, and
 * mostly more than it carries in a tenth of one. So buckets have to be short.
 * A NIC from which nothing is wanted is not found, by anybody.
 *
 * Accused is the link to the host, as NICs have no name of their own; its score
 * is the fullest bucket in units of what the line carries.
 *
 * Paper  Millisampler (IMC'22): the case. The rule is ours.
 */
#ifndef ALGOS_MILLISAMPLER_NIC_STALL_H
#define ALGOS_MILLISAMPLER_NIC_STALL_H

#include "algos/algo.h"
#include "models/obs_samples.h"
#include "sim/table.h"

struct algo_nic_stall_params {
	double tolerance, slack;
};
extern const struct sim_field algo_nic_stall_fields[];

/*  X(type, column, units, meaning) */
#define ALGO_NIC_STALL_COLUMNS(X)                                              \
	X(uint32_t, run, "1", "row of the table of runs")                      \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint32_t, bucket, "1", "that is over, number in the run")            \
	X(uint32_t, in_bytes, "bytes", "came in")                              \
	X(double, lines, "1", "in_bytes, in units of what the line carries")   \
	X(uint64_t, stall_ns, "ns", "before it in which nothing came in")

struct algo_nic_stalls {
	SIM_TABLE_ARRAYS(ALGO_NIC_STALL_COLUMNS)
};
struct algo_nic_stall {
	SIM_TABLE_FIELDS(ALGO_NIC_STALL_COLUMNS)
};
SIM_TABLE(algo_nic_stalls, algo_nic_stall, ALGO_NIC_STALL_COLUMNS)

/* Append a row for each bucket that is over. Errors SIM_ENOMEM. Cost O(rows). */
int algo_nic_stalls_find(const struct obs_runs *runs,
    const struct obs_samples *samples, const struct algo_nic_stall_params *p,
    struct algo_nic_stalls *out, struct sim_err *e);

extern const struct algo_ops algo_nic_stall_ops;

#endif
