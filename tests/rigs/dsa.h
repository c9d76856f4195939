/* tests/rigs/dsa.h -- probes and counters of some minutes, for tests of jobs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_DSA_H
#define TESTS_DSA_H

#include "experiments/pingmesh/dsa/dsa.h"
#include "tests/rigs/recordings.h"

struct dsa_fixture {
	struct res_recording_info info;
	struct xp_dsa_params params;
	struct xp_dsa_services services;
	struct obs_probes all;
	struct obs_perf perf;
};

/* Of N_DCS data centres in 10 minutes, N probes, and a fifth as many counters; they
 * are of stream RUN of the test's seed. min_probes is 5. */
void dsa_fixture_open(struct dsa_fixture *f, uint32_t n_dcs, size_t n,
    uint32_t run);
void dsa_fixture_close(struct dsa_fixture *f);

/* The jobs of data centre DC. */
int dsa_fixture_dc(const struct dsa_fixture *f, uint32_t dc, struct xp_dsa *d,
    struct sim_err *e);

#endif
