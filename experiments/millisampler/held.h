/* experiments/millisampler/held.h -- samples held against a capture of the same.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two clocks read the time of a packet, one for the sampler and one for the
 * capture, a little apart. So a packet that is near where a bucket ends may have
 * been counted in the next. Of each series it is known what was moved over a
 * boundary so far,
 *
 *	moved(i + 1) = moved(i) + sampled(i) - captured(i),
 *
 * and no more can have been than the packets within the tolerance carry. A
 * packet that only one side has shifts all that follows, and no boundary explains
 * it. Bits of connections are held likewise: those of packets that are near
 * nothing must be there, those of packets nearby may.
 *
 * Where traffic crosses regions is not compared.
 */
#ifndef EXPERIMENTS_MILLISAMPLER_HELD_H
#define EXPERIMENTS_MILLISAMPLER_HELD_H

#include "experiments/millisampler/tap.h"
#include "results/samples.h"

/* X(what is compared) */
#define XP_HELD_SERIES(X)                                                      \
	X(in_bytes)                                                            \
	X(out_bytes)                                                           \
	X(in_ce)                                                               \
	X(in_retx)                                                             \
	X(out_retx)
enum {
#define X(name) XP_HELD_##name,
	XP_HELD_SERIES(X)
#undef X
	    XP_N_HELD_SERIES,
	XP_HELD_CONNS = XP_N_HELD_SERIES
};
extern const char *const xp_held_names[]; /* of the series, and connections */

/* What came of a run. */
struct xp_held_run {
	uint32_t row;       /* in the table of runs */
	uint32_t n_buckets; /* that were compared: the capture has their time */
	uint64_t n_packets, n_bytes; /* of the capture, in these */
	uint32_t n_differ;           /* buckets that are not equal */
	uint32_t n_explained;        /* of these, by packets nearby */
	uint32_t n_unexplained;      /* the others */
	uint64_t unexplained;        /* bytes */
	uint32_t bucket;             /* the first of them: what, and how much */
	unsigned series;
	uint64_t sampled, captured;
};

struct xp_held_params {
	sim_ns tolerance_ns; /* at most half of a width */
	int64_t ahead_ns;    /* of the capture's clock is the samples' */
};

struct xp_held_samples;

/* For runs of hosts HOST[of the capture's hosts], UINT32_MAX: none. R is borrowed.
 * Errors SIM_ENOMEM, SIM_ERANGE (a tolerance of more than half of a width). */
int xp_held_open(struct xp_held_samples **h, struct res_samples *r,
    const uint32_t host[], size_t n_hosts, const struct xp_held_params *p,
    struct sim_err *e);
void xp_held_close(struct xp_held_samples *h); /* NULL is fine */

/* Take a packet of the capture: an xp_tap_hear(). Memory 400 KB for each run that
 * has any. */
int xp_held_packet(void *held, uint32_t host, uint64_t t,
    const struct obs_seen *seen, struct sim_err *e);

/* Compare, once all packets from FIRST_NS to LAST_NS of the capture's clock were
 * taken. *N runs, to be freed; those of which the capture has nothing have no
 * buckets. Errors those of res_samples_load(). */
int xp_held_compare(struct xp_held_samples *h, uint64_t first_ns,
    uint64_t last_ns, struct xp_held_run **run, size_t *n, struct sim_err *e);

#endif
