/* experiments/live/interface.h -- a network interface of this host.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_INTERFACE_H
#define EXPERIMENTS_LIVE_INTERFACE_H

#include <stdint.h>

#include "sim/err.h"

struct xp_interface {
	uint32_t index;
	uint64_t line_bps; /* 0: it does not say */
	int no_link;       /* its frames begin with their IP header */
};

/* Of this thread's namespace. Errors SIM_EINVAL (there is none, with those that
 * there are; of a kind whose frames are not known), SIM_EIO. */
int xp_interface_find(struct xp_interface *i, const char *name,
    struct sim_err *e);

/* Be the only process of this namespace with PURPOSE at interface INDEX, for as
 * long as *FD is open. Errors SIM_EINVAL (another is), SIM_EIO. */
int xp_interface_claim(int *fd, const char *purpose, uint32_t index,
    struct sim_err *e);

#endif
