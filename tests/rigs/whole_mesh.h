/* tests/rigs/whole_mesh.h -- connects of all to all, for tests of their laws.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each server of a Clos connects to the others of its ToR, and to one server under
 * each other ToR, which has its own place there.
 */
#ifndef TESTS_WHOLE_MESH_H
#define TESTS_WHOLE_MESH_H

#include "models/connects/connects.h"
#include "tests/rigs/scenes.h"

/* The K-th peer of H; CLOS is a struct topo_clos. */
topo_host whole_mesh_peer(const void *clos, enum connects_level level,
    topo_host h, uint32_t k);

/* Such a mesh of CLOS, which is kept, each 10 s; by TCP's ladder with two more
 * SYNs, and healthy times. */
struct connects_params whole_mesh_params(const struct topo_clos *clos);

/* Such a mesh on a network of its own, where nothing else is sent. */
struct whole_mesh {
	struct scenes s;
	struct connects_params p;
	struct connects *c;
};

/* Each link loses NOISE of all packets. */
void whole_mesh_begin(struct whole_mesh *m, const struct topo_clos *clos,
    double noise);
/* By P as it is now; also once more. */
void whole_mesh_open(struct whole_mesh *m);
void whole_mesh_close(struct whole_mesh *m);

/* Switch AT drops a share of all pairs or five-tuples, as KIND says. */
struct fault_params *whole_mesh_add_hole(struct whole_mesh *m,
    enum fault_kind kind, topo_switch at, double entries);

/* Of connect K of the pair, with ports of R where they do not come again. */
struct topo_tuple whole_mesh_tuple(const struct whole_mesh *m,
    enum connects_level level, topo_host src, topo_host dst, uint64_t k,
    struct sim_rng *r);

#endif
