/* experiments/plug/frame.h -- what an algorithm in a child is told, as bytes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Little-endian; each part is padded with zeros to a multiple of 8 bytes.
 *
 *	u32 4, 0; u64 bytes of the rest         a network and parameters:
 *	    u64 bytes of the text; the text, in lines: topology HOSTS SWITCHES
 *	    LINKS; columns NAME...; param NAME VALUE; node NAME; end
 *	    u32 link_from[L]; u32 link_to[L]; u32 host_tor[H]; u8 link_class[L]
 *	u32 1, 0; u64 bytes of the rest         a window:
 *	    u64 complete, seed, flows, hops, flows_ran, packets
 *	    the columns, in the order of the line `columns`: those of flows
 *	    [flows], u64 off[flows + 1], u32 link[hops]
 *
 * Nodes are hosts first, then switches; of a node a line, in this order.
 */
#ifndef EXPERIMENTS_PLUG_FRAME_H
#define EXPERIMENTS_PLUG_FRAME_H

#include "experiments/plug/about.h"
#include "models/obs.h"
#include "sim/err.h"
#include "topo/topo.h"

/* Bytes to be written. Zeroed is empty. */
struct plug_bytes {
	unsigned char *b;
	size_t n, cap;
};

/* Each puts one frame in place of what was there. PARAMS is the struct that
 * A->field describes. Errors SIM_ENOMEM. */
int plug_put_topo(struct plug_bytes *to, const struct plug_about *a,
    const void *params, const struct topo *t, struct sim_err *e);
int plug_put_window(struct plug_bytes *to, const struct plug_about *a,
    const struct obs *w, uint64_t seed, struct sim_err *e);

#endif
