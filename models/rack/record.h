/* models/rack/record.h -- what a rack's servers count in buckets, and the truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Servers sample in buckets of one or more widths while the rack is played, as
 * Millisampler does: each run begins with the host's first packet, or at a
 * multiple of the width by its clock (`start: aligned`). Clocks are wrong by a
 * normal error. Buckets end with slots, so starts are exact to a slot.
 *
 * The column conns is left 0: the law of sketches is an algorithm's. Beside
 * what hosts count stands what really was lost, which they can't see.
 *
 * Paper  Millisampler (IMC'22): widths, 2000 buckets, a clock that starts with
 *        the first packet. DEPARTS: all widths count at once.
 */
#ifndef MODELS_RACK_RECORD_H
#define MODELS_RACK_RECORD_H

#include "models/obs_samples.h"
#include "models/rack/rack.h"

enum { RACK_MAX_WIDTHS = 8 };
enum rack_start { RACK_FIRST_PACKET, RACK_ALIGNED };

/* As in a spec. */
struct rack_record_params {
	uint32_t start;     /* enum rack_start */
	double clock_sd_us; /* of a host's clock */
	double ack_share;   /* bytes of acknowledgements for each of data */
	uint32_t max_buckets;
	uint32_t truth; /* 1: rows of rack_losses are of all that came in */
};
extern const struct sim_field rack_record_fields[];

/* What was lost at a server in a bucket, or held by its NIC; none where nothing
 * was. Buckets are of the first width, from time 0, by the right clock. With
 * `truth` they are of RACK_TRUTH_NS, and none where nothing was lost, came in or
 * is queued.
 *	X(type, column, units, meaning) */
enum { RACK_TRUTH_NS = 100000 };
#define RACK_LOSS_COLUMNS(X)                                                   \
	X(uint64_t, start_ns, "ns", "of the bucket")                           \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint64_t, in, "bytes", "came in, as runs count it")                  \
	X(uint64_t, buffer, "bytes", "for it that the buffer dropped")         \
	X(uint64_t, link_in, "bytes", "lost by the link to it")                \
	X(uint64_t, link_out, "bytes", "lost by the link from it")             \
	X(uint64_t, held, "bytes", "that its NIC had held, and handed over")   \
	X(uint64_t, queue_max, "bytes", "longest queue to it meanwhile")

struct rack_losses {
	SIM_TABLE_ARRAYS(RACK_LOSS_COLUMNS)
};
struct rack_loss {
	SIM_TABLE_FIELDS(RACK_LOSS_COLUMNS)
};
SIM_TABLE(rack_losses, rack_loss, RACK_LOSS_COLUMNS)

/* Play R from where it is until UNTIL, and append to RUNS and SAMPLES, for each
 * of N_WIDTHS widths in order, each server's run, host FIRST_HOST + server,
 * unless no packet came; and to LOST (NULL: nobody asks). Rows of a run follow
 * each other.
 * Shape  width_ns[n_widths], each a multiple of the slot.
 * Draws  Clocks: SIM_STREAM_CLOCK and the host.
 * Errors SIM_EINVAL (a width), those of rack_run(), SIM_ENOMEM.
 * Memory 100 bytes a bucket with traffic, until rows are in order. */
int rack_record(struct rack *r, const struct rack_record_params *p,
    const sim_ns width_ns[], unsigned n_widths, uint32_t first_host,
    sim_ns until, const struct sim_seed *where, struct obs_runs *runs,
    struct obs_samples *samples, struct rack_losses *lost, struct sim_err *e);

#endif
