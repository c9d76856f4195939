/* tests/rigs/epochs.h -- epochs for tests of their files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_EPOCHS_H
#define TESTS_EPOCHS_H

#include "results/epoch.h"
#include "sim/rng.h"

/* All rows that are to be in a file. Zeroed is empty. */
struct epochs {
	struct topo topo; /* the caller's to open */
	struct truth truth;
	struct res_epoch_info info;
	size_t n, cap;
	struct epochs_flow {
		struct res_epoch_row row; /* its pointers are set on writing */
		topo_link seen[TOPO_MAX_HOPS], link[TOPO_MAX_HOPS];
		uint32_t drops[TOPO_MAX_HOPS];
		uint32_t buffer[TOPO_MAX_HOPS]; /* half of these */
	} * flow;
};

/* A Clos of 2 pods with 16 hosts. */
void epochs_open(struct epochs *x);
void epochs_free(struct epochs *x);

/* Draw N flows on the network of X, of which a third failed, some hops were not
 * seen, and those that failed are in the window; and a truth with some of
 * everything. */
void epochs_draw(struct epochs *x, size_t n, struct sim_rng *r);

/* Put the window's rows of X, in the order of ORDER (NULL: as they are), with
 * or without the truth, into PATH. */
int epochs_write(const struct epochs *x, const char *path,
    const uint32_t order[], int with_truth, struct sim_err *e);

#endif
