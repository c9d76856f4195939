/* tests/rigs/meshes.c -- small networks kept as tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/meshes.h"

#include "tests/test.h"
#include "topo/graph.h"

/* Between ToRs 0 and 1, of hosts 0, 2, 5 and 1, 3; switch 4 is a ToR as well:
 *
 *	    2 ----- 4
 *	  /       /   \
 *	0       /      1
 *	  \   /       /
 *	    3 ----- 5
 *
 * Three in four flows from 0 to 1 pass 4. */
static struct topo_mesh *open_odd(void)
{
	static const struct topo_cable cable[] = {{0, 6}, {1, 7}, {2, 6},
	    {3, 7}, {4, 10}, {5, 6}, {6, 8}, {6, 9}, {8, 10}, {9, 10}, {9, 11},
	    {10, 7}, {11, 7}};
	const struct topo_mesh_input in = {.n_hosts = 6,
	    .n_switches = 6,
	    .n_cables = sizeof(cable) / sizeof(cable[0]),
	    .cable = cable};
	struct topo_mesh *m;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	return m;
}

/* The graph's tables are taken out of what was opened with them. */
static struct topo_mesh *open_jellyfish(void)
{
	struct topo t = {0};
	assert_ok(
	    topo_graph_read(&t, "tests/data/jellyfish.graphml", test_err()));
	return t.mesh;
}

struct topo_mesh *meshes_open(enum meshes_kind kind)
{
	static const struct topo_clos leaf_spine = {1, 6, 3, 0, 4,
	    .n_cables = 0};
	struct topo_mesh *m = NULL;
	switch (kind) {
	case MESHES_FAT_TREE:
		assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
		return m;
	case MESHES_LEAF_SPINE:
		assert_ok(topo_mesh_from_clos(&m, &leaf_spine, test_err()));
		return m;
	case MESHES_JELLYFISH:
		return open_jellyfish();
	default:
		return open_odd();
	}
}
