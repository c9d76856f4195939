/* models/connects/order.h -- ranks of many round trips, without drawing each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of so many round trips of each of a few laws, all below a time, the values of
 * some ranks among all of them, jointly by their law. How many lie below a time
 * in between is binomial for each law, so the values are closed in upon from
 * both sides, drawing only where a rank is looked for:
 *
 *	n values of law i in [a, b)  -->  Binomial(n, p_i) of them below m
 *
 * until few are left, which are drawn, or the interval is so narrow that the
 * laws are flat within it, where ranks are those of uniform values. A width of
 * 1e-3 of the time itself is narrow: densities then change by as much at most,
 * and ranks by less than that of the width.
 *
 * The first cuts are around where the ranks are expected; whoever asks for the
 * ranks of many sets of about the same sizes chooses them once.
 *
 * Cost about 30 binomials for two ranks of three laws, however many values.
 */
#ifndef MODELS_CONNECTS_ORDER_H
#define MODELS_CONNECTS_ORDER_H

#include "models/sim/rtt_profile.h"

enum { CONNECTS_LAWS = 3, CONNECTS_RANKS = 24, CONNECTS_CUTS = 96 };

struct connects_order {
	unsigned n_laws, n_cuts;
	struct fabric_sim_rtt law[CONNECTS_LAWS];
	double end_us; /* all are below */
	double cut_us[CONNECTS_CUTS];
	double below[CONNECTS_CUTS]
		    [CONNECTS_LAWS]; /* P(rtt < cut), not of those
						       below end_us alone */
	double all[CONNECTS_LAWS];   /* P(rtt < end_us) */
};

/* For sets of about N[i] round trips of LAW[i], whose ranks TAIL are looked for:
 * shares of all, from the top, in (0, 1). Shape law[n_laws], n[n_laws],
 * tail[n_tails]; n_tails at most CONNECTS_RANKS. A law without a round trip has
 * no influence. Cost about 1 ms. */
void connects_order_init(struct connects_order *o,
    const struct fabric_sim_rtt law[], unsigned n_laws, double end_us,
    const uint64_t n[], const double tail[], unsigned n_tails);

/* The times of N_RANKS ranks, ascending and from 1 to the sum of N, among N[i]
 * round trips of each law. Shape n[n_laws], rank[n_ranks], us[n_ranks]. */
void connects_order_draw(const struct connects_order *o, const uint64_t n[],
    const uint64_t rank[], unsigned n_ranks, struct sim_rng *r, double us[]);

#endif
