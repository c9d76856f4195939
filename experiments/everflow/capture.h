/* experiments/everflow/capture.h -- packets of a capture: pcap and pcapng.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * By libpcap; without that library capture_none.c stands in its place.
 */
#ifndef EXPERIMENTS_EVERFLOW_CAPTURE_H
#define EXPERIMENTS_EVERFLOW_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

struct xp_capture;

/* Behind the link's header, as far as it was captured. */
struct xp_captured {
	uint64_t unix_ns;
	const uint8_t *bytes; /* until the next call */
	size_t n;
	uint16_t ethertype; /* 0: the link's header itself is cut */
	/* Of the whole frame, captured or not, without its checksum. A cooked
	 * packet counts as of Ethernet, raw IP has no more than its own. */
	uint32_t n_frame, n_behind; /* the link's header */
	const uint8_t *mac; /* of destination and source; NULL: not known */
};

int xp_capture_is_built_in(void);

/* PATH "-" is stdin. Links may be Ethernet, Linux's cooked ones of both versions,
 * or raw IP.
 * Errors SIM_EIO (cannot be read, or is no capture), SIM_EUNSUPPORTED (another
 * link; built without the library), SIM_ENOMEM. All messages name PATH. */
int xp_capture_open(struct xp_capture **c, const char *path, struct sim_err *e);

/* The next packet: 1, or 0 at the end. Errors SIM_EPARSE: the file ends within a
 * packet, or is damaged. */
int xp_capture_next(struct xp_capture *c, struct xp_captured *p,
    struct sim_err *e);
void xp_capture_close(struct xp_capture *c); /* NULL is fine */

#endif
