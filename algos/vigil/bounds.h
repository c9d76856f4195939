/* algos/vigil/bounds.h -- 007's theorems 1 to 3 for a Clos, what they miss.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Theorem 1 limits path discoveries so that no switch answers too often.
 * Theorems 2 and 3 say when votes rank bad links above good ones, and how soon.
 * Notation of the paper and of topo_clos: n_pod = n_pods, n0 = n_tors,
 * n1 = n_t1, n2 = n_t2, H = n_hosts. ToR-T1 links are of level 1, T1-T2 links
 * of level 2.
 *
 *	M     = n0 * n_pod - 1                  ToRs that a ToR talks to
 *	inter = n0 * (n_pod - 1) / M            share of flows between pods
 *	q1    = 1 / (n0 * n1 * n_pod)           share of flows on a level-1 link
 *	q2    = inter / (n1 * n2 * n_pod)       and on a level-2 link
 *
 * The proof of theorems 2 and 3, as used here. A connection votes for the links
 * of its path when one of them drops, r_b and r_g being the chances that a bad
 * and a good link drop at least one of its packets. So a bad link has
 * v_b >= q1 * r_b votes a connection if q2 >= q1 (10a), and a good one at most
 * the sum, over the links it may share a path with, of joint share * r. That is
 *
 *	v_g <= q2 * ((h - k * w) * r_g + k * w * r_b)                   (10b)
 *
 * with h links a path and w the largest share of a level-2 link's flows that
 * cross one other link. v_b >= v_g follows from r_b >= alpha * r_g, where
 * alpha = q2 * (h - k * w) / (q1 - q2 * k * w).
 *
 * All functions are pure. A result is NaN where its formula says nothing; each
 * function says when. Shapes are as topo_clos_init() accepts them.
 *
 * Paper: 007 (NSDI'18), sections 4 and 5.3, appendix C.
 */
#ifndef ALGOS_VIGIL_BOUNDS_H
#define ALGOS_VIGIL_BOUNDS_H

#include <stdint.h>

#include "topo/clos.h"

/* --- theorem 1 ----------------------------------------------------------- */

/* Largest C_t, path discoveries a host may start a second, for T_MAX answers a
 * second and switch. PAPER is formula (1).
 * DEPARTS: (1) counts a T1 on the way up only, a T2 for the traffic of one pod,
 * and no ToR; algo_bounds_ct() counts every answer (algo_bounds_load()).
 * Units  1/s. NaN with a single ToR: no path leaves it. */
double algo_bounds_ct_paper(const struct topo_clos *c, double t_max);
double algo_bounds_ct(const struct topo_clos *c, double t_max);

/* Mean answers a second of one switch of each tier when each host traces C_T
 * random flows a second to hosts under other ToRs and each hop answers once.
 * The paper's has no ToR: NaN there. 0 for a tier that no path crosses; NaN
 * with a single ToR. Units 1/s. */
struct algo_bounds_load {
	double tor, t1, t2;
};
struct algo_bounds_load algo_bounds_load_paper(const struct topo_clos *c,
    double c_t);
struct algo_bounds_load algo_bounds_load(const struct topo_clos *c, double c_t);

/* --- theorems 2 and 3 ---------------------------------------------------- */

/* Which reading of (10b).
 *	PAPER      h = 4, w = 1/n0: the paper's. True only if the conditions of
 *	           theorem 3 hold, which the functions below do not check.
 *	ANY_PODS   h = 4, w = max(1/n0, 1/(n1 * (n_pod - 1))): DEPARTS, also
 *	           below 1 + n0/n1 pods, where the worst place of a bad link is
 *	           above the destination and not below the source.
 *	SIMULATED  the same with h = 6: DEPARTS, the links of hosts lose packets
 *	           and are ranked too. Bad links are still of level 1 or 2.
 * The last two give NaN when algo_bounds_says() does. */
enum algo_bounds_form {
	ALGO_BOUNDS_PAPER,
	ALGO_BOUNDS_ANY_PODS,
	ALGO_BOUNDS_SIMULATED
};

/* 1 if a level-2 link carries at least the flows of a level-1 link, q2 >= q1:
 * (10a) needs it for bad links of level 2. Theorem 2 does not ask for it. */
int algo_bounds_level2_busier(const struct topo_clos *c);

/* 1 if (10a) and (10b) in this form are proved for the shape.
 *	PAPER      theorem 3's condition on pods
 *	ANY_PODS   two pods or more and q2 >= q1
 *	SIMULATED  these, q0 <= q2 for links of hosts, with
 *	           q0 = 1/(n0 * n_pod * H) of the flows, and,
 *	           for votes of 1/h as well as whole ones, s * q1 / M <= q2 * w
 *	           and s * q0 / n1 <= q2 * w, with s = ALGO_BOUNDS_SPREAD */
int algo_bounds_says(const struct topo_clos *c, enum algo_bounds_form form);

/* Least number of pods: 1 + n0/n1 for theorem 2; for theorem 3
 * 1 + max(n0/n1, n2 * (n0 - 1) / (n0 * (n0 - n2)), 1), infinite when no number
 * will do (n0 = n2 > 1). NaN when n1 or n2 is 0, for theorem 3 also when
 * n0 < n2. */
double algo_bounds_pods(const struct topo_clos *c);
double algo_bounds_pods_all(const struct topo_clos *c);

/* w as above. NaN with less than two pods. */
double algo_bounds_weight(const struct topo_clos *c,
    enum algo_bounds_form form);

/* The number k of bad links must be below this. NaN as w. */
double algo_bounds_max_bad(const struct topo_clos *c,
    enum algo_bounds_form form);

/* Ratio r_b / r_g that ranks K bad links above all good ones. Formula (2), (7),
 * (8) in the form PAPER. NaN when K is not below algo_bounds_max_bad(). */
double algo_bounds_alpha(const struct topo_clos *c, enum algo_bounds_form form,
    double k);

/* Largest drop rate p_g of good links that theorem 2 allows: bad links drop at
 * P_BAD, connections have C_LOW to C_HIGH packets. NaN if ALPHA is. */
double algo_bounds_good_max(double alpha, double p_bad, double c_low,
    double c_high);

/* Chance r that a link which drops packets at rate P drops one of N or more. */
double algo_bounds_drop(double p, double n);

/* Least votes a connection of a bad link (10a), most of a good one (10b) among
 * K bad ones. Domain 0 <= r_good <= r_bad <= 1. (10b) is NaN when K exceeds
 * h / w: there the form has no meaning. */
double algo_bounds_vote_bad(const struct topo_clos *c, double r_bad);
double algo_bounds_vote_good(const struct topo_clos *c,
    enum algo_bounds_form form, double k, double r_bad, double r_good);

/* --- how soon ------------------------------------------------------------ */

/* Relative entropy of two coins, in nats. Domain 0 <= q <= 1, 0 < p < 1.
 * No cancellation near q = p. */
double algo_bounds_entropy(double q, double p);

/* Votes are whole in theorems 2 and 3. Those of 1/h differ by this factor on
 * six-link and four-link paths (SIMULATED). */
#define ALGO_BOUNDS_SPREAD 1.5

/* What is known of the votes: v_b and v_g, the number of bad and good links,
 * and by how much votes differ (1: whole votes). */
struct algo_bounds_votes {
	double bad, good;
	double n_bad, n_good;
	double spread;
};

/* Chance that votes misrank after N independent connections, by Chernoff's
 * bound on either side of a number of votes a connection T: good links stay
 * below it and bad ones above. Natural logarithms; above 0 they say nothing.
 *	pair   one bad link does not outvote one good link: (9)
 *	all    some bad link does not outvote some good link: n_bad + n_good
 *	       bounds added, not n_bad * n_good pairs
 *	best   `all` with T where both sides weigh the same. DEPARTS: the paper
 *	       puts T at 2 * v_b * v_g / (v_b + v_g), which leaves good links
 *	       little room
 * Votes that are 0 or in [1, spread] take Hoeffding's bound, for v / spread; v
 * is then a mean of votes and no chance.
 * NaN unless 0 < v_g < v_b < 1.
 * Paper: (9), (13); W. Hoeffding, "Probability Inequalities for Sums of
 * Bounded Random Variables" (1963). */
struct algo_bounds_error {
	double log_pair, log_all, log_best;
};
struct algo_bounds_error algo_bounds_error(const struct algo_bounds_votes *v,
    double n);

/* Directed links of levels 1 and 2, with those of hosts when SIMULATED: all
 * that a form ranks. */
double algo_bounds_links(const struct topo_clos *c, enum algo_bounds_form form);

#endif
