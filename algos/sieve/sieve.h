/* algos/sieve/sieve.h -- Sieve: rates of loss by link, and which links stand out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hazards add along a way: a packet survives its links with exp(-(sum of their
 * hazards)), so that of a row of s packets, of which r were lost,
 *
 *	ln L = r ln(1 - exp(-sum)) - (s - r) sum
 *
 * which is the exact binomial. Packets that arrived count in one number a link;
 * only rows that lost something are looked at one by one. Of a row whose path is
 * not known the likelihood is the mean over its equal paths (sieve_cells.h,
 * sieve_ways.h). A healthy link's
 * hazard is drawn from a Gamma law of shape 2 whose mean is learnt; a failed
 * link's from a slab: log-uniform above that mean, for one count, and log-normal
 * around each hazard that was found already, for one count each. Of n components
 * k + 1 fail with odds (k + 1) / (thin (n - k + 39)) against k (sieve_share.h).
 * Nothing else is set: a link is accepted when the odds that the window leaves it
 * are above 1.
 *
 * Where lossy flows alone are seen (a2, without int or p) the likelihood is that of
 * the way that each took, given that it lost something (sieve_choice.h); probes
 * (a1) count beside as they do alone.
 *
 * Links join one at a time, the likeliest first; those that changed nothing for
 * are not evaluated again. Then accepted links are fitted again, each given the
 * others, and may leave; the mean of healthy ones is learnt anew; and all is
 * repeated until it is quiet.
 *
 * A switch is one failure of several links of its own (sieve_devices.h): when the
 * search is quiet the switch that raises the odds most is accused, and links that
 * fail with it join; its failed links are listed beside it.
 *
 * A switch, or a link, may swallow some flows whole and leave others alone: that is a
 * component, too (sieve_holes.h), which joins when it has most evidence.
 *
 * Where flows lost more at once than what was found explains, all
 * is searched again with bursts in queues as what else may have taken them
 * (sieve_bursts.h).
 *
 * It tells how each behaves (enum algo_way): what loses at a rate, swallows flows,
 * loses for a while, or is full in bursts, which is no failure.
 *
 * Scores are chances: of a link to have failed, given what was accepted besides.
 * Links that nothing tells apart share one, as switches do.
 * How many failed, and whether anything did, is told by all candidates together
 * (sieve_share.h).
 * The answer is the likeliest components, as many as make the expected
 * F-measure greatest. A flow is blamed on the link of its way that is expected
 * to lose most, and set aside as noise if that one is not accused; of an
 * accused switch it is blamed on that.
 *
 * Source ours.
 * Cost   O(rows + lengths of paths), and O(lossy rows) times grid points; of rows
 *        of no known path also O(classes of links * sizes), and O(lossy rows) of
 *        sets of paths with a failed link times their paths.
 */
#ifndef ALGOS_SIEVE_SIEVE_H
#define ALGOS_SIEVE_SIEVE_H

#include "algos/algo.h"

struct algo_sieve_params {
	double thin; /* how much rarer a failure more is */
	double any;  /* chance that something failed */
};

extern const struct algo_ops algo_sieve;

#endif
