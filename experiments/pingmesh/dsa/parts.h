/* experiments/pingmesh/dsa/parts.h -- what the files of jobs share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_PARTS_H
#define EXPERIMENTS_PINGMESH_DSA_PARTS_H

#include "experiments/pingmesh/dsa/dsa.h"
#include "sim/vec.h"

struct xp_dsa_key {
	XP_DSA_KEY(XP_DSA_MEMBER)
};

/* The members of the key, for an initialiser of any row. */
#define XP_DSA_KEY_OF(k)                                                       \
	.data_centre = (k)->data_centre, .from_s = (k)->from_s,                \
	.to_s = (k)->to_s, .seen_share = (k)->seen_share,                      \
	.n_probes = (k)->n_probes

enum { XP_DSA_VERSION = 3 }; /* of files; table http since 3 */

/* A column of the file, of rows of type struct_row. */
#define XP_DSA_COLUMN(type, name, units, doc, words)                           \
	SIM_COLUMN(type, name, offsetof(struct_row, name), units, doc, words),

enum { XP_DSA_N_ACTIONS = ALGO_BLACKHOLE_ESCALATE + 1 };

/* Room for N more rows of a table. */
#define XP_DSA_RESERVE(table, more, e)                                         \
	SIM_RESERVE(&(table)->row, &(table)->cap, (table)->n + (more), (e))

/* Sums of counters over the servers of a scope: a ToR, a pod, the data centre,
 * or one server over the windows of its counters. */
struct xp_dsa_count {
	uint64_t n_connected, n_unconnected, n_drop;
	double p50_ns, p99_ns; /* of each server, times its n_connected */
	uint64_t p99_max_ns;
	uint64_t n_slow; /* connects of servers whose P99 is too high */
};

/* Scopes of KIND that host H of D's data centre is of; returns how many. *ID: the
 * first; of services, where their numbers stand. */
size_t xp_dsa_scopes_of(const struct xp_dsa *d, enum algo_sla_kind kind,
    topo_host h, uint32_t one[1], const uint32_t **id);

/* Scopes of counters: hosts, ToRs, pods and the data centre. */
static inline size_t xp_dsa_n_counts(const struct topo_clos *c)
{
	return (size_t)c->all_hosts + c->all_tors + c->n_pods + 1;
}

/* The key of rows that are made of what N senders sent (a host once for each row of
 * it), and the same for SUM. */
struct xp_dsa_key xp_dsa_make_key(struct xp_dsa *d,
    const struct xp_dsa_window *w, const uint32_t sender[], size_t n,
    struct xp_dsa_summary_row *sum);

/* The job on counters T, which obs_perf_check() has passed: rows of all scopes
 * for OUT, and their numbers for SUM. D's counts are overwritten.
 * Errors SIM_ENOMEM. Cost O(rows + hosts). */
int xp_dsa_sum_counters(struct xp_dsa *d, const struct xp_dsa_key *key,
    const struct obs_perf *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e);

/* The job on black holes of DAY, by the probes SEEN or the sums of their pairs:
 * rows for OUT, and its numbers for SUM. Errors those of xp_dsa_blackhole(). */
int xp_dsa_run_blackhole(struct xp_dsa *d, const struct xp_dsa_key *key,
    uint64_t day, const struct obs *seen, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e);

/* Rows of what was found and stands in D, for OUT, and its numbers for SUM.
 * Errors SIM_ENOMEM. */
int xp_dsa_put_drop_rate(const struct xp_dsa_key *key,
    const struct algo_drop_rate rate[], struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e);
int xp_dsa_put_sla(const struct xp_dsa *d, const struct xp_dsa_key *key,
    struct xp_dsa_tables *out, struct xp_dsa_summary_row *sum,
    struct sim_err *e);
int xp_dsa_put_heatmap(const struct xp_dsa *d, const struct xp_dsa_key *key,
    enum algo_heatmap_unit unit, struct xp_dsa_tables *out, struct sim_err *e);
int xp_dsa_put_silent_drop(const struct xp_dsa *d, const struct xp_dsa_key *key,
    struct xp_dsa_tables *out, struct xp_dsa_summary_row *sum,
    struct sim_err *e);

#endif
