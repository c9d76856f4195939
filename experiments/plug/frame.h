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
 *	    [flows], u64 off[flows + 1], u32 link[hops]; if any of them is of sums,
 *	    u64 rows, telemetry stand before, and those of sums are [rows]
 *	u32 6, 0; u64 bytes of the rest         equal paths, if any of their columns
 *	    was asked for, before the first window that has others than the last
 *	    one; it is not answered: u64 sets, paths, links
 *	    u32 set_first[sets + 1], set_from[sets], set_to[sets],
 *	    path_off[paths + 1], path_link[links], as far as asked for, in the
 *	    order of the line `columns`, which stand in no window
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

/* The equal paths that were sent last. */
struct plug_told {
	const void *paths;
	size_t n_sets, n_paths;
	uint32_t n_cleared;
};

/* Each puts its frames in place of what was there. PARAMS is the struct that
 * A->field describes. Errors SIM_ENOMEM. */
int plug_put_topo(struct plug_bytes *to, const struct plug_about *a,
    const void *params, const struct topo *t, struct sim_err *e);
int plug_put_window(struct plug_bytes *to, const struct plug_about *a,
    struct plug_told *told, const struct obs *w, uint64_t seed,
    struct sim_err *e);

#endif
