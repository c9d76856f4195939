/* experiments/plug/net.c -- a network as arrays, as those from outside get it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/net.h"

#include <stdlib.h>

#include "sim/vec.h"

int plug_net_init(struct plug_net *n, const struct topo *t, struct sim_err *e)
{
	int rc;
	*n = (struct plug_net){0};
	if ((rc = SIM_ZALLOC(&n->from, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&n->to, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&n->tor, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&n->class, t->n_links, e)) < 0)
		return rc;
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_link_ends(t, l, &n->from[l], &n->to[l]);
		n->class[l] = (uint8_t)topo_class_of(t, l);
	}
	for (topo_host h = 0; h < t->n_hosts; h++)
		n->tor[h] = topo_tor_of(t, h);
	return 0;
}

void plug_net_free(struct plug_net *n)
{
	free(n->from);
	free(n->to);
	free(n->tor);
	free(n->class);
	*n = (struct plug_net){0};
}
