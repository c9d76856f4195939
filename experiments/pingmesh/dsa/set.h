/* experiments/pingmesh/dsa/set.h -- recordings that are analysed together.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	shards <= recordings   each takes a run of whole recordings
 *	shards > recordings    each takes a run of the windows of one
 *
 * So a shard opens the recordings of its own only, and rows of all shards, in
 * their order, are those of one process.
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_SET_H
#define EXPERIMENTS_PINGMESH_DSA_SET_H

#include "experiments/pingmesh/dsa/tables.h"
#include "experiments/sweep/shard.h"

/* In order of their names, and of their sums if they have one name: the order in
 * which they are given does not count. Zeroed is empty. */
struct xp_dsa_set {
	size_t n;
	struct xp_dsa_set_member {
		const char *path; /* borrowed */
		const char *name; /* in PATH */
		uint64_t n_bytes, checksum;
	} * member;
};

/* Only their seals are read. Errors SIM_EINVAL (the same one twice, under
 * whatever names), SIM_EIO, SIM_EPARSE (no sealed file), SIM_ENOMEM; S is then
 * empty. */
int xp_dsa_set_open(struct xp_dsa_set *s, char *const path[], size_t n,
    struct sim_err *e);
void xp_dsa_set_free(struct xp_dsa_set *s);

/* Append rows of `recordings` to T. Errors SIM_ENOMEM. */
int xp_dsa_set_put(const struct xp_dsa_set *s, struct xp_dsa_tables *t,
    struct sim_err *e);

/* What a shard takes: members FIRST to LAST - 1; of their windows the K-th of OF
 * parts, where OF > 1 only of a single one. */
struct xp_dsa_share {
	size_t first, last;
	uint32_t k, of;
};
struct xp_dsa_share xp_dsa_share_of(size_t n_recordings,
    const struct xp_shard *shard);

#endif
