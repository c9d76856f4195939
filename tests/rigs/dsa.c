/* tests/rigs/dsa.c -- probes and counters of some minutes, for tests of jobs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/dsa.h"

#include <string.h>

#include "tests/test.h"

void dsa_fixture_open(struct dsa_fixture *f, uint32_t n_dcs, size_t n,
    uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	*f =
	    (struct dsa_fixture){.info = recordings_info(n_dcs, 600 * SIM_SEC)};
	memcpy(f->all.syn_wait_ns, f->info.syn_wait_ns,
	    sizeof(f->all.syn_wait_ns));
	recordings_probes(&f->all, &f->info, n, &r);
	recordings_counters(&f->perf, &f->info, n / 5, &r);
	assert_ok(xp_dsa_params_read(&f->params,
	    "pingmesh: {tolerance: 0.5, conf: 0.9, sla: {min_probes: 5}}",
	    test_err()));
	assert_ok(xp_dsa_services_read(&f->services, f->info.service,
	    topo_dcs_n_hosts(f->info.dc, n_dcs), test_err()));
}

void dsa_fixture_close(struct dsa_fixture *f)
{
	xp_dsa_services_free(&f->services);
	obs_probes_free(&f->all);
	obs_perf_free(&f->perf);
}

int dsa_fixture_dc(const struct dsa_fixture *f, uint32_t dc, struct xp_dsa *d,
    struct sim_err *e)
{
	return xp_dsa_open(d, &f->info.dc[dc], &f->services, &f->params, e);
}
