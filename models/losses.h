/* models/losses.h -- what was really lost in a window; algorithms can't see it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Beside a window of flows (models/obs.h): what was broken meanwhile is in
 * models/truth.h.
 */
#ifndef MODELS_LOSSES_H
#define MODELS_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "topo/ids.h"

/* Zeroed is empty. */
struct losses {
	/* Packets lost at each hop, parallel to obs.hops.link of the window
	 * (the flow loses drops[off[i] + j] at its hop j). Of a flow are the
	 * packets with its own five-tuple: acknowledgements are of the flow
	 * that goes back, which has a row if it sent something again. */
	size_t n_drops, cap_drops;
	uint32_t *drops;

	/* Of these drops, how many a full buffer dropped and no fault or noise
	 * (models/scene/congestion.h), parallel to drops; none without
	 * congestion, has_buffer = 0. */
	size_t n_buffer, cap_buffer;
	uint32_t *buffer;
	uint8_t has_buffer;

	/* The links that they were lost on, parallel to drops, where the window
	 * does not know them all; else none, and they are the window's. */
	size_t n_path, cap_path;
	topo_link *path;

	/* Of each flow of the window, the link to blame, where the plane has a
	 * rule of its own for that; else there are none (n_culprits = 0) and it
	 * is told by the drops. TOPO_NONE: the flow did not fail. */
	size_t n_culprits, cap_culprits;
	topo_link *culprit;

	/* Of each flow of the window, how many of its n_retx were before its
	 * connection was established, where TCP is modelled
	 * (models/scene/tcp.h); else there are none. Agents trace no flow for
	 * those. */
	size_t n_early, cap_early;
	uint32_t *early;
};

void losses_clear(struct losses *l);
void losses_free(struct losses *l);

/* Errors of all SIM_ENOMEM. */
int losses_add_drops(struct losses *l, const uint32_t drops[], unsigned n_hops,
    struct sim_err *e);
int losses_add_path(struct losses *l, const topo_link path[], unsigned n_hops,
    struct sim_err *e);
int losses_add_culprit(struct losses *l, topo_link link, struct sim_err *e);
int losses_add_early(struct losses *l, uint32_t n_retx, struct sim_err *e);

/* Add the drops of a path and, with has_buffer, those of them that full buffers
 * made; nothing on failure. Take back the last N_HOPS. */
int losses_add_hops(struct losses *l, const uint32_t drops[],
    const uint32_t buffer[], unsigned n_hops, struct sim_err *e);
void losses_drop_hops(struct losses *l, unsigned n_hops);

#endif
