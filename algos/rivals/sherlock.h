/* algos/rivals/sherlock.h -- Sherlock: the likeliest of all sets of two at most.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Flock's likelihood and prior (algos/rivals/flock.h, whose parameters these are)
 * of the empty set, of each component and of each two, links and switches; the
 * greatest is the answer. Those of two are found from what each second one would
 * add to the first.
 *
 * Of sets that are as likely the one with the least ids is taken, the smaller one
 * first. DEPARTS: the released code of Flock, with which it is compared there,
 * takes the worst of those within .001 of the best. With three failures or more
 * it cannot find them all.
 *
 * Scores are what a component alone is worth, the likelier one of two first, and
 * what the other one adds to it.
 *
 * Cost   O(components^2) and twice what Flock takes to read the window; and Flock's
 *        step for each component that could, by a bound (flock_model_most()), be
 *        one of a better two.
 * Paper  Sherlock (SIGCOMM'07), its Ferret, as in Flock (CoNEXT'23).
 */
#ifndef ALGOS_RIVALS_SHERLOCK_H
#define ALGOS_RIVALS_SHERLOCK_H

#include "algos/rivals/flock.h"

/* Its parameters are struct algo_flock_params, of which beam and tie are not
 * used. */
extern const struct algo_ops algo_sherlock;

#endif
