/* algos/pingmesh/hole_tors.h -- the ToRs that black-holed pairs are due to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A black-holed pair has two ends, and one of them is mostly innocent. Where
 * many ToRs are bad, every server of a good one is in several such pairs. So
 * ToRs are not judged one by one: hazards of all of them are found at once by
 * greatest likelihood (algos/pingmesh/hole_fit.h), each over the pairs of its
 * servers. What other ToRs explain is then no evidence against this one.
 *
 * A ToR is suspect when there is evidence of more than
 *
 *	log(causes / false_alarm),	causes = ToRs + pods + 1,
 *
 * for it: in a network without a hole each has that with a probability of
 * exp(-evidence), and so any with false_alarm at most. It is guilty when that
 * is still so beside two more sorts of causes: the T1s of a pod, over pairs
 * that leave a ToR of it, and the T2s, over pairs between pods. These may take
 * what they like without evidence. If they have enough themselves the trouble
 * is above ToRs, of that pod or of all; so it is in a pod that has suspects who
 * are not guilty; and in one where all ToRs are guilty, which is section 5.1's
 * rule. A pod of one ToR has no T1s to tell from it.
 *
 * What else may be behind a black-holed pair:
 *
 *	losses     as many pairs as there are decoys (hole_pairs.h) are due to
 *		   them: the background of a pair is the share of decoys of its
 *		   type among all pairs of one of its ToRs, the greater, and not
 *		   below 1e-6. It holds while q is below 0.7
 *	a server   that goes down and up again, or down for good: its black-holed
 *		   pairs are many more than those of the better half of its
 *		   ToR's servers let expect. With a chance below false_alarm /
 *		   servers (Chernoff) it is set aside and its pairs prove
 *		   nothing. And nobody is accused for pairs that are all of one
 *		   server, if its ToR has others
 *
 * Dead servers have no pairs. All of it is O(pairs) but for the fit.
 */
#ifndef ALGOS_PINGMESH_HOLE_TORS_H
#define ALGOS_PINGMESH_HOLE_TORS_H

#include "algos/pingmesh/hole_pairs.h"
#include "topo/clos.h"

enum algo_hole_finding {
	ALGO_HOLE_INNOCENT,
	ALGO_HOLE_ABOVE,
	ALGO_HOLE_GUILTY
};

struct algo_hole_tor {
	enum algo_hole_finding finding;
	double share; /* of its pairs that it black-holes; 0 when that is less
			 than half a pair */
};

/* Judge the ToRs of CLOS by its black-holed pairs BAD, that are among those of
 * ALL, each once. Shape tor[all_tors], overwritten.
 * Errors SIM_ENOMEM.
 * Cost   O(pairs + hosts) and the fits: one and one for each ToR that explains
 *        pairs, twice, of cells no more than pairs of ToRs with a bad pair. */
int algo_hole_tors(const struct topo_clos *clos,
    const struct algo_hole_pair bad[], size_t n_bad,
    const struct algo_hole_pairs *all, double false_alarm,
    struct algo_hole_tor tor[], struct sim_err *e);

#endif
