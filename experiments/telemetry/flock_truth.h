/* experiments/telemetry/flock_truth.h -- what traces say is broken.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_TELEMETRY_FLOCK_TRUTH_H
#define EXPERIMENTS_TELEMETRY_FLOCK_TRUTH_H

#include "experiments/telemetry/flock_text.h"

enum xp_flock_sort { XP_FLOCK_ANY, XP_FLOCK_SWITCH, XP_FLOCK_HOST };

/* Word I, called NAME, as a node of that sort. Errors SIM_EPARSE. */
int xp_flock_node(const struct xp_flock_lines *l,
    const struct xp_flock_ids *ids, const struct topo *topo, unsigned i,
    const char *name, enum xp_flock_sort sort, topo_node *out,
    struct sim_err *e);

/* The link between two nodes, those of words I and I + 1. */
int xp_flock_link(const struct xp_flock_lines *l, const struct topo *topo,
    unsigned i, topo_node from, topo_node to, topo_link *out,
    struct sim_err *e);

/* Links of ns-3's lines, whose switch may be named behind them. */
struct ftext_part {
	uint64_t line;
	topo_link link;
	double rate;
};
struct ftext_truth {
	struct xp_flock *x;
	size_t n, cap;
	struct ftext_part *part;
};
int ftext_truth_line(struct ftext_truth *t, const struct xp_flock_lines *l,
    const struct xp_flock_ids *ids, int of_device, struct sim_err *e);
int ftext_hole_line(struct ftext_truth *t, const struct xp_flock_lines *l,
    const struct xp_flock_ids *ids, struct sim_err *e);

/* Put all into X's truth. PATH is the trace's. */
int ftext_truth_end(struct ftext_truth *t, const char *path, struct sim_err *e);
void ftext_truth_free(struct ftext_truth *t);

#endif
