/* algos/rivals/netbouncer.h -- NetBouncer: links' rates by regularised descent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of rows whose path is known, whatever they lost; y is the share of a row's
 * packets that arrived, x_l that of link l.
 *
 * 1. A switch is bad if more than `theta_switch` of the rows across it lost
 *    something. It is accused, and all rows across a bad one are set aside, which
 *    leaves nothing to say of its links.
 * 2. x_l begins as the mean y of the rows over l.
 * 3. The sum over rows of (y - product of x over its links)^2, and over links of
 *    lambda x_l (1 - x_l), is made less by one x at a time, links in the order of
 *    their ids, until a sweep changes it by less than 1e-8 or there were 100:
 *
 *	x_l = clip((2 sum t y - lambda) / (2 (sum t^2 - lambda)), 0, 1)
 *
 *    t being the product over the row's other links.
 * 4. A link with 1 - x_l >= `theta` is accused.
 *
 * With `weight: packets` a row counts in 2 and 3 as often as it has packets, so
 * that one loss of seven packets is not as much as one thousand of seven thousand.
 * In 1 rows count alike either way.
 *
 * Parameters that are 0 are those of the telemetry at hand, lambda 0 not being one
 * that is of use:
 *
 *	                      lambda  theta  theta_switch
 *	INT                   .011    .002   .075
 *	probes alone          .001    .007   .125
 *
 * Rows are those of all flows (INT) and probes; where flows have a path only if
 * they lost something (A2), probes alone, since a mean of those is of no rate.
 * The paper's own rule for switches, all rows across it, is `theta_switch` just
 * below 1.
 *
 * Scores: 1 - x of links, also of those that are not accused, and the share of
 * lossy rows of switches. Accused are in the order of their scores.
 *
 * DEPARTS: where sum t^2 <= lambda, which takes links that lose nearly all, step 3
 * would divide by 0 or go to a maximum; x is then the better one of 0 and 1.
 *
 * Cost   O(rows + lengths of paths) a sweep; rows are summed up by path before
 *        the links of paths are gone through.
 * Paper  NetBouncer (NSDI'19), 4-5; the thresholds by telemetry are those that
 *        Flock (CoNEXT'23) compares with.
 */
#ifndef ALGOS_RIVALS_NETBOUNCER_H
#define ALGOS_RIVALS_NETBOUNCER_H

#include "algos/algo.h"

enum algo_netbouncer_weight { ALGO_NETBOUNCER_FLOWS, ALGO_NETBOUNCER_PACKETS };

struct algo_netbouncer_params {
	uint32_t weight; /* enum algo_netbouncer_weight */
	double lambda, theta, theta_switch;
};

extern const struct algo_ops algo_netbouncer;

#endif
