/* experiments/plug/net.h -- a network as arrays, as those from outside get it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PLUG_NET_H
#define EXPERIMENTS_PLUG_NET_H

#include "sim/err.h"
#include "topo/topo.h"

/* Nodes are hosts first, then switches. Zeroed is empty. */
struct plug_net {
	uint32_t *from, *to; /* [n_links] */
	uint32_t *tor;       /* [n_hosts] */
	uint8_t *class;      /* [n_links] */
};

/* N is to be freed either way. Errors SIM_ENOMEM. */
int plug_net_init(struct plug_net *n, const struct topo *t, struct sim_err *e);
void plug_net_free(struct plug_net *n);

#endif
