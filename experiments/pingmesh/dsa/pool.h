/* experiments/pingmesh/dsa/pool.h -- connect times over many windows, as counts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A quantile of quantiles is no quantile. So what is to be said of all windows of
 * all recordings is counted: successes, drops, and connect times in buckets, for
 * each scope of `sla` that is larger than a server. Counts of two parts add up to
 * those of the whole, in whatever order.
 *
 * A bucket is 1/64 of an octave from 1 us to 68 s: a quantile is the end of the
 * bucket with the value of nearest rank, never below that and at most 1/64 above
 * it (up to 68 s; below 1 us it is 1 us).
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_POOL_H
#define EXPERIMENTS_PINGMESH_DSA_POOL_H

#include "algos/pingmesh/perf.h"
#include "experiments/pingmesh/dsa/dsa.h"
#include "results/recording.h"

enum {
	XP_DSA_POOL_SUB_BITS = 6,
	XP_DSA_POOL_BUCKETS = ALGO_PINGMESH_OCTAVES << XP_DSA_POOL_SUB_BITS,
	XP_DSA_POOL_KINDS = RES_RECORDING_MAX_DCS * ALGO_SLA_N_KINDS,
	XP_DSA_POOL_MAX_SCOPES = 1 << 24,
};

struct xp_dsa_pool_scope {
	uint64_t n_success, n_drop;
	uint64_t *count; /* [XP_DSA_POOL_BUCKETS]; NULL: all 0 */
};

/* Zeroed is empty. */
struct xp_dsa_pool {
	/* How many scopes, by data centre and kind: as a file says it. */
	uint64_t n_of[XP_DSA_POOL_KINDS];
	size_t first[XP_DSA_POOL_KINDS + 1];
	struct xp_dsa_pool_scope *scope;
};

/* How many scopes N_DCS data centres have, with services of that number. */
void xp_dsa_pool_count(uint64_t n_of[XP_DSA_POOL_KINDS],
    const struct topo_dc dc[], uint32_t n_dcs, uint32_t n_services);

/* Errors SIM_ELIMIT, SIM_ENOMEM; P is then empty. Memory: 13 KiB a scope that
 * has successes. */
int xp_dsa_pool_open(struct xp_dsa_pool *p,
    const uint64_t n_of[XP_DSA_POOL_KINDS], struct sim_err *e);
void xp_dsa_pool_close(struct xp_dsa_pool *p);

/* Add the window that S, the level of data centre DC, was measured on last.
 * Errors SIM_ENOMEM. Cost O(probes * (3 + services of the sender)). */
int xp_dsa_pool_add(struct xp_dsa_pool *p, uint32_t dc,
    const struct algo_sla *s, struct sim_err *e);

/* Pairs of pods, from * pods + to, take the place of pods in a pool of their own:
 * so many scopes, and the successes and drops of such a window. */
void xp_dsa_pool_count_pairs(uint64_t n_of[XP_DSA_POOL_KINDS],
    const struct topo_dc dc[], uint32_t n_dcs);
int xp_dsa_pool_add_pairs(struct xp_dsa_pool *p, uint32_t dc,
    const struct algo_sla *s, const struct algo_drop_ladder *ladder,
    struct sim_err *e);

/* Append rows of `pooled` and `histogram` to T, of scopes with successes and of
 * buckets that are not empty. Errors SIM_ENOMEM; SIM_ERANGE as
 * sim_binomial_interval(); of what was taken of files also SIM_EPARSE (not as
 * many times as successes) and SIM_EINVAL (more drops). */
int xp_dsa_pool_put(const struct xp_dsa_pool *p, struct xp_dsa_tables *t,
    struct sim_err *e);

/* Add what such rows say; of `pooled` only the counts are read.
 * Errors SIM_EPARSE (no such scope or bucket, or too much to count),
 * SIM_ENOMEM. */
int xp_dsa_pool_take(struct xp_dsa_pool *p, const struct xp_dsa_tables *t,
    struct sim_err *e);

#endif
