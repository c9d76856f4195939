/* tests/rigs/whole_mesh.c -- connects of all to all, for tests of their laws.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/whole_mesh.h"

#include "tests/test.h"
#include "topo/addr.h"

topo_host whole_mesh_peer(const void *clos, enum connects_level level,
    topo_host h, uint32_t k)
{
	const uint32_t n = ((const struct topo_clos *)clos)->n_hosts;
	const uint32_t tor = h / n, i = h % n;
	if (level == CONNECTS_TOR)
		return tor * n + k + (k >= i);
	return (k + (k >= tor)) * n + i;
}

struct connects_params whole_mesh_params(const struct topo_clos *clos)
{
	struct connects_params p = {.mesh = {clos, whole_mesh_peer,
					{clos->n_hosts - 1,
					    clos->n_pods * clos->n_tors - 1},
					{10 * SIM_SEC, 10 * SIM_SEC}},
	    .ladder = &fabric_sim_tcp_windows,
	    .n_retries = 2,
	    .late_ns = 2750 * SIM_MS};
	for (unsigned i = 0; i < CONNECTS_N_HOPS; i++)
		assert_ok(
		    fabric_sim_rtt_init(&p.law[i], &fabric_sim_rtt_profiles[0],
			2 + 2 * i, 0, 0.3, test_err()));
	return p;
}

void whole_mesh_begin(struct whole_mesh *m, const struct topo_clos *clos,
    double noise)
{
	*m = (struct whole_mesh){.c = NULL};
	scenes_open(&m->s, clos);
	m->s.params.traffic.conns = scenes_fixed(0);
	m->s.params.noise.rate = scenes_fixed(noise);
	m->p = whole_mesh_params(clos);
}

void whole_mesh_open(struct whole_mesh *m)
{
	connects_close(m->c);
	assert_ok(connects_open(&m->c, &m->s.topo, &m->p, test_err()));
}

void whole_mesh_close(struct whole_mesh *m)
{
	connects_close(m->c);
	scenes_close(&m->s);
}

struct fault_params *whole_mesh_add_hole(struct whole_mesh *m,
    enum fault_kind kind, topo_switch at, double entries)
{
	struct fault_params *f = scenes_add_group(&m->s);
	static uint32_t node[SCENES_MAX_GROUPS];
	f->kind = kind;
	f->at = &node[m->s.params.n_groups - 1];
	f->at[0] = m->s.topo.n_hosts + at;
	f->n_at = 1;
	f->entries = scenes_fixed(entries);
	return f;
}

struct topo_tuple whole_mesh_tuple(const struct whole_mesh *m,
    enum connects_level level, topo_host src, topo_host dst, uint64_t k,
    struct sim_rng *r)
{
	struct topo_tuple t = {topo_addr_of_host(src), topo_addr_of_host(dst),
	    (uint16_t)sim_rng_u32(r), (uint16_t)sim_rng_u32(r), TOPO_PROTO_TCP};
	if (m->p.ports.again) {
		const struct connects_turn turn =
		    connects_turn_of(m->c, level, src, dst);
		t.src_port = connects_port(&m->p.ports, &turn, k);
		t.dst_port = m->p.ports.dst;
	}
	return t;
}
