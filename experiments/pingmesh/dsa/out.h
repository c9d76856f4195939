/* experiments/pingmesh/dsa/out.h -- tables of jobs as a file, written and read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file stands beside its recording (results/h5_table.h): groups by the names
 * of tables.h, written window by window, and what they depend on as attributes.
 * A shard's file is such a file too, of its windows alone, and says which shard
 * it is.
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_OUT_H
#define EXPERIMENTS_PINGMESH_DSA_OUT_H

#include "experiments/pingmesh/dsa/dsa.h"
#include "experiments/pingmesh/dsa/pool.h"
#include "experiments/sweep/shard.h"

/* What tables depend on, as their file says it. A shard has spec and recorded_by
 * of its own first recording; all else is that of the whole.
 *  X(attribute, whether all shards have the same) */
#define XP_DSA_HEAD_TEXTS(X)                                                   \
	X(culprit, 1) /* version */                                            \
	X(build, 1)   /* and which program that is */                          \
	X(libraries, 1)                                                        \
	X(recording, 1)   /* its file's name, or "7 recordings" */             \
	X(recorded_by, 0) /* version of culprit */                             \
	X(spec, 0)                                                             \
	X(network, 1) /* shapes, waits and services, in words */               \
	X(jobs, 1)                                                             \
	X(services, 1) /* named by their ids */

/*  X(attribute, how many counts) */
#define XP_DSA_HEAD_COUNTS(X)                                                  \
	X(window_ns, 1)                                                        \
	X(from_ns, 1)                                                          \
	X(to_ns, 1) /* SIM_NEVER: the end of each recording */                 \
	X(scopes, XP_DSA_POOL_KINDS)

/* Zeroed is empty. */
struct xp_dsa_head {
#define X(name, all) char *name;
	XP_DSA_HEAD_TEXTS(X)
#undef X
#define X(name, n) uint64_t name[n];
	XP_DSA_HEAD_COUNTS(X)
#undef X
	struct xp_shard shard; /* of 1: the whole */
};

/* What a head is made of. */
struct xp_dsa_source {
	const char *recording, *recorded_by, *spec;
	sim_ns window_ns;
	uint32_t jobs;
	const struct xp_dsa_services *services;
	const char *network;
	sim_ns from_ns, to_ns;
	struct xp_shard shard; /* zeroed: the whole */
	uint64_t scopes[XP_DSA_POOL_KINDS];
};

/* Errors SIM_ENOMEM; H is then empty. */
int xp_dsa_head_make(struct xp_dsa_head *h, const struct xp_dsa_source *s,
    struct sim_err *e);
void xp_dsa_head_free(struct xp_dsa_head *h);

/* --- writing ---------------------------------------------------------------*/

struct xp_dsa_out;

/* Start a file that takes PATH's place when it is finished. Errors SIM_EIO,
 * SIM_ENOMEM. */
int xp_dsa_out_open(struct xp_dsa_out **o, const char *path,
    const struct xp_dsa_head *head, struct sim_err *e);
int xp_dsa_out_add(struct xp_dsa_out *o, const struct xp_dsa_tables *t,
    struct sim_err *e);
int xp_dsa_out_finish(struct xp_dsa_out *o, struct sim_err *e); /* and close */
void xp_dsa_out_discard(struct xp_dsa_out *o);

/* --- reading ---------------------------------------------------------------*/

struct xp_dsa_in;

/* Errors SIM_EIO, SIM_EPARSE (no such file, or damaged), SIM_EMISMATCH (of
 * another version), SIM_ENOMEM. Messages of all functions name PATH, which is
 * borrowed. Cost one pass over the file, for its checksum. */
int xp_dsa_in_open(struct xp_dsa_in **in, const char *path, struct sim_err *e);
void xp_dsa_in_close(struct xp_dsa_in *in); /* NULL is fine */

/* The head may be taken, in exchange for another. */
struct xp_dsa_head *xp_dsa_in_head(struct xp_dsa_in *in);

/* Append all rows of `recordings` to T. */
int xp_dsa_in_recordings(struct xp_dsa_in *in, struct xp_dsa_tables *t,
    struct sim_err *e);

/* Replace the rows of T by those of the next window. Returns 1, 0 when there is
 * none left, or an error: SIM_EPARSE also for rows that belong to no window. */
int xp_dsa_in_window(struct xp_dsa_in *in, struct xp_dsa_tables *t,
    struct sim_err *e);

/* Add what stands in `pooled` and `histogram`. Errors those of
 * xp_dsa_pool_take(). */
int xp_dsa_in_pool(struct xp_dsa_in *in, struct xp_dsa_pool *p,
    struct sim_err *e);

#endif
