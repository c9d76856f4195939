/* experiments/pingmesh/dsa/digest.h -- what all windows come to, in a few lines.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_DIGEST_H
#define EXPERIMENTS_PINGMESH_DSA_DIGEST_H

#include "experiments/pingmesh/dsa/dsa.h"
#include "results/recording.h"

enum { XP_DSA_DIGEST_WORDS = 8 };

/* The highest value of any window, and when that window began. NaN: not
 * measured in any. */
struct xp_dsa_highest {
	double value, from_s;
};

/* What the windows of a data centre come to. Of the patterns of ToRs and of pods
 * the one of the greater code counts. */
struct xp_dsa_digest_dc {
	uint64_t n_windows, n_alerting, n_probes;
	uint64_t n_patterns[XP_DSA_DIGEST_WORDS], n_tiers[XP_DSA_DIGEST_WORDS];
	uint64_t n_alerts[ALGO_SLA_N_KINDS]; /* each scope once a window */
	double seen;
	struct xp_dsa_highest drop_rate, p99_us;
};

/* A ToR that a black-hole job would reload. */
struct xp_dsa_reload {
	double from_s; /* of the window */
	uint32_t data_centre, tor;
};

/* Zeroed is empty. */
struct xp_dsa_digest {
	uint32_t n_dcs;
	uint64_t n_rows, n_partial;      /* of `summary`; seen in part */
	struct xp_dsa_summary_row least; /* of these */
	struct xp_dsa_digest_dc dc[RES_RECORDING_MAX_DCS];
	struct {
		size_t n, cap;
		struct xp_dsa_reload *row;
	} reloads;

	/* The rows of `summary` themselves, if asked for. */
	int keep;
	struct {
		size_t n, cap;
		struct xp_dsa_summary_row *row;
	} summary;
};

/* Add the tables of one window. Errors SIM_ENOMEM; SIM_EPARSE for numbers that
 * no window has, as a file may have. Memory: that of reloads, and of rows that
 * are kept. */
int xp_dsa_digest_add(struct xp_dsa_digest *d, const struct xp_dsa_tables *t,
    struct sim_err *e);
void xp_dsa_digest_free(struct xp_dsa_digest *d);

#endif
