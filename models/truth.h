/* models/truth.h -- what was really broken; algorithms can't see it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_TRUTH_H
#define MODELS_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/time.h"
#include "topo/ids.h"

/* A link that drops packets at RATE in [0, 1], or delays each of them by
 * delay_us > 0 and drops no more than others, while from_ns <= t < to_ns. */
struct truth_fault {
	topo_link link;
	double rate;
	sim_ns from_ns, to_ns;
	double delay_us;
};

/* 1 unless the fault does nothing. */
static inline int truth_is_fault(const struct truth_fault *f)
{
	return f->rate > 0 || f->delay_us > 0;
}

/* A link that fails because its switch does. */
struct truth_part {
	topo_link link;
	topo_switch of;
};

/* Zeroed is empty. */
struct truth {
	size_t n_faults, cap_faults;
	struct truth_fault *fault; /* ascending by link, then from_ns */

	/* Switches that failed, each once, and the links they failed on. */
	size_t n_switches, cap_switches;
	topo_switch *failed_switch;
	size_t n_parts, cap_parts;
	struct truth_part *part; /* ascending by link */

	/* Packets lost at each hop, parallel to obs.hops.link of the same
	 * window (the flow loses drops[off[i] + j] at its hop j). */
	size_t n_drops, cap_drops;
	uint32_t *drops;

	/* The links that they were lost on, parallel to drops, where the window
	 * does not know them all; else none, and they are the window's. */
	size_t n_path, cap_path;
	topo_link *path;

	/* Of each flow of the window, the link to blame, where the plane has a
	 * rule of its own for that; else there are none (n_culprits = 0) and it
	 * is told by the drops. TOPO_NONE: the flow did not fail. */
	size_t n_culprits, cap_culprits;
	topo_link *culprit;
};

void truth_clear(struct truth *t);
void truth_free(struct truth *t);
int truth_add_fault(struct truth *t, const struct truth_fault *f,
    struct sim_err *e);
int truth_add_drops(struct truth *t, const uint32_t drops[], unsigned n_hops,
    struct sim_err *e);
int truth_add_culprit(struct truth *t, topo_link link, struct sim_err *e);

int truth_add_path(struct truth *t, const topo_link path[], unsigned n_hops,
    struct sim_err *e);

/* LINK fails as a link of switch OF. */
int truth_add_part(struct truth *t, topo_link link, topo_switch of,
    struct sim_err *e);

/* Put the faults and parts in their order. */
void truth_sort(struct truth *t);

/* 1 if LINK has a fault that does anything. Cost O(log n); needs the order. */
int truth_is_faulty(const struct truth *t, topo_link link);

/* 1 if switch S failed. Cost O(failed switches). */
int truth_is_failed_switch(const struct truth *t, topo_switch s);

/* The failed switch that LINK failed with, or TOPO_NONE. When both its ends
 * failed this is LIKE if it is one of them, else the smaller id. Cost O(log n);
 * needs the order. */
topo_switch truth_switch_of(const struct truth *t, topo_link link,
    topo_switch like);

#endif
