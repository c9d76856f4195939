/* tests/rigs/whole_mesh.h -- connects of all to all, for tests of their laws.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each server of a Clos connects to the others of its ToR, and to one server under
 * each other ToR, which has its own place there.
 */
#ifndef TESTS_WHOLE_MESH_H
#define TESTS_WHOLE_MESH_H

#include "models/connects/connects.h"

/* The K-th peer of H; CLOS is a struct topo_clos. */
topo_host whole_mesh_peer(const void *clos, enum connects_level level,
    topo_host h, uint32_t k);

/* Such a mesh of CLOS, which is kept, each 10 s; by TCP's ladder with two more
 * SYNs, and healthy times. */
struct connects_params whole_mesh_params(const struct topo_clos *clos);

#endif
