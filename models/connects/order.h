/* models/connects/order.h -- ranks of many round trips, without drawing each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of so many round trips of each of a few laws, all below a time, the values of
 * some ranks among all of them, jointly by their law. One round trip is placed
 * near a rank, by its own rank among those of its law, which is a beta; how many
 * of the other laws lie below it is binomial for each:
 *
 *	n values in [a, b)  -->  x, the k-th of law i: a Beta(k, n_i - k + 1)
 *	                         Binomial(n_j, p_j) of each other law below x
 *
 * so its rank among all is known. It is near the one that was looked for, and so
 * is the next, which is looked for on that side of it alone, until few are left,
 * which are drawn. Round trips whose times are known already may be among all of
 * them: how many of these lie below it is counted.
 *
 * Laws are tables in steps of a thousandth of the time, and flat within a step:
 * densities change by as much at most there, and ranks by less than that of the
 * step's.
 *
 * Cost about four betas and eight binomials a rank, however many values.
 */
#ifndef MODELS_CONNECTS_ORDER_H
#define MODELS_CONNECTS_ORDER_H

#include "models/sim/rtt_profile.h"

enum { CONNECTS_LAWS = 3, CONNECTS_RANKS = 24 };

/* Zeroed is empty. */
struct connects_order {
	unsigned n_laws, n_steps;
	double *us;                   /* [n_steps + 1] ascending */
	double *below[CONNECTS_LAWS]; /* likewise: P(rtt < us), given that it is
					 below the last */
};

/* Of round trips below END_US of LAW. Shape law[n_laws]; END_US above the least
 * time of each. O needs closing also when this fails. Errors SIM_ENOMEM.
 * Cost about 2 ms, memory 8 bytes a step and law: 300 KB. */
int connects_order_open(struct connects_order *o,
    const struct fabric_sim_rtt law[], unsigned n_laws, double end_us,
    struct sim_err *e);
void connects_order_close(struct connects_order *o);

/* Round trips whose times are known, ascending; any. */
struct connects_known {
	const double *us;
	size_t n;
};

/* The times of N_RANKS ranks, ascending and from 1 to the sum of all, among N[i]
 * round trips of each law and those KNOWN. Shape n[n_laws], rank[n_ranks],
 * us[n_ranks]. */
void connects_order_draw(const struct connects_order *o, const uint64_t n[],
    const struct connects_known *known, const uint64_t rank[], unsigned n_ranks,
    struct sim_rng *r, double us[]);

#endif
