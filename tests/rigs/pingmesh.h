/* tests/rigs/pingmesh.h -- tiny networks with Pingmesh's section of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_PINGMESH_H
#define TESTS_PINGMESH_H

#include "experiments/pingmesh/pingmesh.h"
#include "tests/rigs/scenes.h"

/* 2 pods of 2 ToRs of 2 hosts. */
enum { PINGMESH_HOSTS = 8, PINGMESH_TORS = 4 };
extern const struct topo_clos pingmesh_tiny;

struct pingmesh {
	struct scenes s;
	struct xp_pingmesh p;
};

/* A Clos without noise, whose hosts hardly ever stall, and the section
 * "pingmesh: {TEXT}". */
void pingmesh_open(struct pingmesh *m, const struct topo_clos *shape,
    const char *text);
/* The same of a region of two of them. */
void pingmesh_open_region(struct pingmesh *m, const struct topo_clos *shape,
    const char *text);
void pingmesh_close(struct pingmesh *m);

/* A group of N random switches of a tier that are black holes of type 1. */
struct fault_params *pingmesh_add_holes(struct pingmesh *m, uint32_t n,
    double entries);

#endif
