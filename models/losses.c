/* models/losses.c -- what was really lost in a window; algorithms can't see it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/losses.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* The arrays stay, as one `struct losses` serves window after window. */
void losses_clear(struct losses *l)
{
	l->n_drops = l->n_path = l->n_culprits = l->n_early = l->n_buffer = 0;
	l->has_buffer = 0;
}

void losses_free(struct losses *l)
{
	free(l->drops);
	free(l->buffer);
	free(l->path);
	free(l->culprit);
	free(l->early);
	*l = (struct losses){0};
}

int losses_add_drops(struct losses *l, const uint32_t drops[], unsigned n_hops,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&l->drops, &l->cap_drops, l->n_drops + n_hops, e);
	if (rc < 0)
		return rc;
	memcpy(l->drops + l->n_drops, drops, n_hops * sizeof(drops[0]));
	l->n_drops += n_hops;
	return 0;
}

int losses_add_hops(struct losses *l, const uint32_t drops[],
    const uint32_t buffer[], unsigned n_hops, struct sim_err *e)
{
	int rc = losses_add_drops(l, drops, n_hops, e);
	if (rc < 0 || !l->has_buffer)
		return rc;
	rc = SIM_RESERVE(&l->buffer, &l->cap_buffer, l->n_buffer + n_hops, e);
	if (rc < 0) {
		l->n_drops -= n_hops;
		return rc;
	}
	memcpy(l->buffer + l->n_buffer, buffer, n_hops * sizeof(buffer[0]));
	l->n_buffer += n_hops;
	return 0;
}

void losses_drop_hops(struct losses *l, unsigned n_hops)
{
	l->n_drops -= n_hops;
	if (l->has_buffer)
		l->n_buffer -= n_hops;
}

int losses_add_path(struct losses *l, const topo_link path[], unsigned n_hops,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&l->path, &l->cap_path, l->n_path + n_hops, e);
	if (rc < 0)
		return rc;
	memcpy(l->path + l->n_path, path, n_hops * sizeof(path[0]));
	l->n_path += n_hops;
	return 0;
}

int losses_add_culprit(struct losses *l, topo_link link, struct sim_err *e)
{
	int rc =
	    SIM_RESERVE(&l->culprit, &l->cap_culprits, l->n_culprits + 1, e);
	if (rc < 0)
		return rc;
	l->culprit[l->n_culprits++] = link;
	return 0;
}

int losses_add_early(struct losses *l, uint32_t n_retx, struct sim_err *e)
{
	int rc = SIM_RESERVE(&l->early, &l->cap_early, l->n_early + 1, e);
	if (rc < 0)
		return rc;
	l->early[l->n_early++] = n_retx;
	return 0;
}
