/* tests/rigs/windows.h -- windows of observations for tests: by hand and random.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Windows are struct obs; zeroed is empty, obs_free() frees.
 */
#ifndef TESTS_WINDOWS_H
#define TESTS_WINDOWS_H

#include "algos/algo.h"
#include "models/obs.h"
#include "sim/rng.h"

/* Append a flow of 100 packets from host 7 to itself, so that its path is not
 * to be had from its ends: WINDOW_ADD(&w, n_retx, link, link, ...). */
void window_add(struct obs *o, uint32_t n_retx, unsigned n_hops,
    const topo_link hop[]);
#define WINDOW_ADD(o, n_retx, ...)                                             \
	window_add((o), (n_retx),                                              \
	    sizeof((topo_link[]){__VA_ARGS__}) / sizeof(topo_link),            \
	    (topo_link[]){__VA_ARGS__})

/* Append N_FLOWS flows of 0 to 8 hops, no link twice on a path: a quarter lost
 * nothing, half of the rest cross one of three bad links, an eighth of the hops
 * are not known. */
void window_random(struct obs *o, uint32_t n_links, unsigned n_flows,
    struct sim_rng *r);

/* A random order of 0 .. n-1; the caller frees it. */
uint32_t *window_shuffled(uint32_t n, struct sim_rng *r);

/* Flow i of TO is flow order[i] of FROM with links renamed by name[link].
 * NULL for either keeps it. */
void window_rename(const struct obs *from, const uint32_t order[],
    const topo_link name[], struct obs *to);

/* Open A for N_LINKS links (without any other topology), diagnose, close. */
int window_diagnose(const struct algo_ops *a, const void *params,
    uint32_t n_links, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e);

/* Fail unless the verdicts are the same, bit for bit; both get sorted. */
void assert_same_verdicts(struct algo_verdicts *a, struct algo_verdicts *b);

/* Fail unless renaming links renames A's verdict on random windows, and
 * nothing else. */
void assert_renaming_renames(const struct algo_ops *a, const void *params);

#endif
