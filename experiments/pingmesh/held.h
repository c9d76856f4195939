/* experiments/pingmesh/held.h -- rows of probes, packed, until a window is over.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row of models/obs_probes.h has 35 bytes in ten columns. Until its window is
 * over it is held in 20:
 *
 *	 48 bits  sent, since the window began     16 bits  source port
 *	 40 bits  round trip                       24 bits  sender
 *	 24 bits  peer, or the end of its address   8 bits  kind
 *
 * A kind is all else that a row has: the first byte of the peer, destination port,
 * payload, class, level and outcome, of which few combinations occur. Nothing is
 * rounded: a row that does not fit (a round trip of 18 minutes, the 256th kind) is
 * kept as it is.
 *
 * Rows stand in blocks of a pool. A list that is cleared gives its blocks back,
 * so memory is that of the rows held at a time, and a block a list. A pool of
 * many rows takes its blocks from huge pages, where the kernel has any: then it
 * is that and up to 2 MiB.
 */
#ifndef EXPERIMENTS_PINGMESH_HELD_H
#define EXPERIMENTS_PINGMESH_HELD_H

#include "models/obs_probes.h"

enum {
	XP_HELD_ROW = 20,      /* bytes */
	XP_HELD_BLOCK = 1024,  /* rows */
	XP_HELD_KINDS = 255,   /* that a pool knows */
	XP_HELD_LOOK_UPS = 64, /* kinds met last; a power of two */
};

struct xp_held_block;
struct xp_held_slab;

/* What lists share. Zeroed is empty. */
struct xp_held_pool {
	struct xp_held_block *spare;
	struct xp_held_slab *slab; /* the last made, with blocks to come */
	uint64_t *kind;            /* [n_kinds] */
	size_t n_kinds, cap_kinds;
	uint32_t look_up[XP_HELD_LOOK_UPS]; /* 1 + kind, by hash; 0: none */
	size_t n_blocks; /* made so far, also those in lists or to come */
};

/* The rows of a window. Zeroed is empty. */
struct xp_held {
	size_t n;
	struct xp_held_block *first, *last;
	struct obs_probes wide; /* rows that do not fit */
};

/* Hold ROW, of a window that began at FROM. Domain  row->sent_ns >= from, and
 * FROM is the same for all rows of H. Errors SIM_ENOMEM, and H is as it was.
 * Cost O(1); O(kinds) at times. */
int xp_held_add(struct xp_held *h, struct xp_held_pool *pool, sim_ns from,
    const struct obs_probe *row, struct sim_err *e);

/* How far a list was read. Zeroed is its begin; good until the list is changed. */
struct xp_held_mark {
	const struct xp_held_block *block;
	size_t n;
};

/* Append the next rows, at most MAX, to OUT, in the order in which they were
 * added; with ONLY, rows of another time may be left out, which costs less.
 * Errors SIM_ENOMEM; then some may be in OUT. Cost O(rows). */
int xp_held_next(const struct xp_held *h, const struct xp_held_pool *pool,
    sim_ns from, struct xp_held_mark *at, size_t max,
    const struct obs_probe_span *only, struct obs_probes *out,
    struct sim_err *e);

/* Empty H, whose blocks go back to the pool. */
void xp_held_clear(struct xp_held *h, struct xp_held_pool *pool);

/* Lists must be cleared before. */
void xp_held_pool_free(struct xp_held_pool *pool);

#endif
