/* tests/rigs/meshes.h -- small networks kept as tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_MESHES_H
#define TESTS_MESHES_H

#include "topo/mesh.h"

/* The fat-tree of k = 4; six leaves and three spines; a random graph from a file;
 * and one in which paths between two ToRs are unlike, some flows pass a third,
 * and hosts are not numbered by ToR. */
enum meshes_kind {
	MESHES_FAT_TREE,
	MESHES_LEAF_SPINE,
	MESHES_JELLYFISH,
	MESHES_ODD,
	N_MESHES
};

struct topo_mesh *meshes_open(enum meshes_kind kind);

#endif
