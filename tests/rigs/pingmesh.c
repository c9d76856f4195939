/* tests/rigs/pingmesh.c -- tiny networks with Pingmesh's section of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/pingmesh.h"

#include "topo/region.h"

const struct topo_clos pingmesh_tiny = {2, 2, 2, 2, 2, .n_cables = 0};

static void read_section(struct pingmesh *m, const char *text)
{
	struct sim_yaml y;
	char doc[1024];
	const int n = snprintf(doc, sizeof(doc), "pingmesh: {%s}\n", text);
	assert_in_range(n, 0, sizeof(doc) - 1);
	assert_ok(sim_yaml_parse(&y, "x", doc, (size_t)n, test_err()));
	assert_ok(xp_pingmesh_read(&y, &m->s.topo, &m->p, test_err()));
	assert_ok(sim_yaml_verdict(&y, test_err()));
	sim_yaml_free(&y);
	/* dc2: one round trip in 4e9 takes 3 s or more. */
	m->p.connect.profile = 1;
	m->s.params.traffic.conns = scenes_fixed(0);
	m->s.params.noise.rate = scenes_fixed(0);
}

void pingmesh_open(struct pingmesh *m, const struct topo_clos *shape,
    const char *text)
{
	scenes_open(&m->s, shape);
	read_section(m, text);
}

void pingmesh_open_region(struct pingmesh *m, const struct topo_clos *shape,
    const char *text)
{
	struct topo_region_params r;
	struct topo t;
	assert_ok(sim_field_defaults(topo_region_fields, &r, test_err()));
	r.n_dcs = 2;
	assert_ok(topo_open_region(&t, shape, &r, test_err()));
	scenes_open(&m->s, &pingmesh_tiny);
	topo_close(&m->s.topo);
	m->s.topo = t;
	read_section(m, text);
}

void pingmesh_close(struct pingmesh *m)
{
	scenes_close(&m->s);
}

struct fault_params *pingmesh_add_holes(struct pingmesh *m, uint32_t n,
    double entries)
{
	struct fault_params *g = scenes_add_group(&m->s);
	g->kind = FAULT_BLACK_HOLE_1;
	g->switches = n;
	g->tiers = 1u << FAULT_TIER_TOR;
	g->entries = scenes_fixed(entries);
	return g;
}
