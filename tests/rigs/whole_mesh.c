/* tests/rigs/whole_mesh.c -- connects of all to all, for tests of their laws.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/whole_mesh.h"

#include "tests/test.h"

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
