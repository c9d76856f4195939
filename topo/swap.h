/* topo/swap.h -- a network as a file has it in which cables are swapped.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two cables u-v and x-y become u-y and x-v: nodes keep their numbers, names and
 * tiers, and each cable its number and its end nearer to the hosts. So what one
 * network says of a cable can be held against what the other does.
 */
#ifndef TOPO_SWAP_H
#define TOPO_SWAP_H

#include "sim/rng.h"
#include "topo/topo.h"

/* OUT = T, a mesh in any case, with N swaps, one after the other. Each is of two
 * cables between switches, drawn alike among those whose tiers are alike at both
 * ends, and that can be swapped without two cables between the same two nodes;
 * where TOPO_SWAP_TRIES draws find none, as in a leaf-spine, of two hosts' of
 * different ToRs. Errors SIM_EUNSUPPORTED (a region), SIM_EINVAL (a single rack),
 * those of topo_mesh_open(); OUT is empty then. */
enum { TOPO_SWAP_TRIES = 10000 };
int topo_swap(struct topo *out, const struct topo *t, uint32_t n,
    struct sim_rng *r, struct sim_err *e);

#endif
