/* algos/vigil/matlab_order.h -- how 007's released simulator orders links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * There ties go to the link made first. Pods are made one after another:
 *
 *	T1 -> T2, then for each ToR (ToR -> T1, host -> ToR, ToR -> host), then
 *	T1 -> ToR, then T2 -> T1
 *
 * A path has at most one link of each group of one pod or ToR, so the order
 * within a group decides no tie.
 *
 * Paper  007 (NSDI'18), its released code.
 */
#ifndef ALGOS_VIGIL_MATLAB_ORDER_H
#define ALGOS_VIGIL_MATLAB_ORDER_H

#include "topo/clos.h"

/* The place of L in that order, from 0. Domain L < 2 * c->n_cables. */
uint32_t algo_matlab_order(const struct topo_clos *c, topo_link l);

#endif
