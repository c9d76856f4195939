/* algos/vigil/blame.h -- the link that is said to have dropped packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * 007 blames the hop with the most votes and sets lone noise drops aside, but
 * names no exact rule for either, so both are parameters. A flow
 * without a retransmission or without a known hop is never blamed on a link.
 *
 *	tie    several hops share the most votes: the smallest link id, which
 *	       is one of a host if any is tied, as host cables come first;
 *	       the first on the path; one of them at random (one draw a
 *	       tied flow, in the order of the window); the one that the
 *	       released MATLAB made first (algos/vigil/matlab_order.h);
 *	       or the smallest id of links between switches, and one of a
 *	       host only if all that are tied are: of a lone drop's hops,
 *	       which all have one vote, never a host's cable
 *	noise  own_vote: a flow is noise when its best link carries nothing
 *	       but this flow's vote, which depends on no constant and on no
 *	       path length; floor: when its best link has no more than
 *	       noise_floor votes, as in the released MATLAB (0.2 is one flow
 *	       of five hops)
 */
#ifndef ALGOS_VIGIL_BLAME_H
#define ALGOS_VIGIL_BLAME_H

#include <stdint.h>

#include "algos/verdict.h"
#include "algos/vigil/tally.h"
#include "models/obs.h"
#include "sim/err.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "topo/topo.h"

enum algo_blame_tie {
	ALGO_TIE_LOWEST,
	ALGO_TIE_FIRST,
	ALGO_TIE_RANDOM,
	ALGO_TIE_MATLAB,
	ALGO_TIE_FABRIC
};
enum algo_blame_noise {
	ALGO_NOISE_NONE,
	ALGO_NOISE_OWN_VOTE,
	ALGO_NOISE_FLOOR
};
extern const char *const algo_blame_ties[], *const algo_blame_noises[];

struct algo_blame {
	uint32_t tie;       /* enum algo_blame_tie */
	uint32_t noise;     /* enum algo_blame_noise */
	double noise_floor; /* votes */
};

/* The entries for a member M of type struct algo_blame in a struct type S; KEY
 * is the tie rule's name, as other ties may be called `tie` there. */
#define ALGO_BLAME_FIELDS(s, m, key)                                           \
	{.name = (key),                                                        \
	    .type = SIM_F_ENUM,                                                \
	    .offset = offsetof(s, m.tie),                                      \
	    .names = algo_blame_ties,                                          \
	    .unit = "1",                                                       \
	    .def = "lowest",                                                   \
	    .doc = "which of equally voted hops a flow is blamed on"},         \
	    {.name = "noise",                                                  \
		.type = SIM_F_ENUM,                                            \
		.offset = offsetof(s, m.noise),                                \
		.names = algo_blame_noises,                                    \
		.unit = "1",                                                   \
		.def = "own_vote",                                             \
		.doc = "which flows are set aside as noise"},                  \
	{                                                                      \
		.name = "noise_floor", .type = SIM_F_F64,                      \
		.offset = offsetof(s, m.noise_floor), .min = 0,                \
		.max = ALGO_TALLY_MAX_VOTES, .unit = "votes", .def = "0.2",    \
		.doc = "noise: floor sets flows aside up to this",             \
		.when = "noise=floor"                                          \
	}

/* Whether votes on components of KIND may be broken by RULE: MATLAB and FABRIC are
 * orders of links. Errors SIM_EUNSUPPORTED. */
int algo_blame_check(enum algo_blame_tie rule, enum algo_kind kind,
    struct sim_err *e);

/* Open T for votes on all components of KIND, with ties broken by RULE. T keeps
 * TOPO's Clos for rule MATLAB, and is to be closed in any case.
 * Errors those of algo_blame_check(), SIM_EUNSUPPORTED when rule MATLAB is asked
 * for in a mesh, SIM_ENOMEM. */
int algo_blame_tally(struct algo_tally *t, enum algo_blame_tie rule,
    enum algo_kind kind, const struct topo *topo, struct sim_err *e);

/* Blame each voter of T on the hop of its path with the most votes.
 * Fills OUT->blame for all flows of W. TIE may be NULL unless the rule is
 * random. Errors SIM_ENOMEM. Cost O(flows + hops of failed flows). */
int algo_blame_by_votes(const struct algo_blame *how,
    const struct algo_tally *t, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e);

/* Mark the voters that 007's votes set aside as noise. For rivals of 007, which
 * have no such rule: an accuracy over the flows that 007 keeps says something
 * of them only if they leave out the very same flows. T's votes must be whole. */
void algo_blame_set_aside(const struct algo_blame *how, struct algo_tally *t);

/* Blame each voter that is not set aside on the hop with the most votes among
 * the links that T has flagged. Otherwise as algo_blame_by_votes(). */
int algo_blame_by_flags(enum algo_blame_tie rule, const struct algo_tally *t,
    const struct obs *w, struct sim_rng *tie, struct algo_verdicts *out,
    struct sim_err *e);

/* Whether a flow is set aside whose best link has BEST units, OWN of them its
 * own. 007 sets aside flows that lost a packet to noise and not to a failed
 * link, but gives no rule. The release has `floor` with 0.2 votes; own_vote says
 * the same for paths of any length. All comparisons are of whole units, so they
 * are exact. FLOOR is noise_floor in units. */
static inline int algo_blame_is_noise(const struct algo_blame *how,
    uint64_t floor, uint64_t best, uint64_t own)
{
	switch ((enum algo_blame_noise)how->noise) {
	case ALGO_NOISE_OWN_VOTE:
		return best == own;
	case ALGO_NOISE_FLOOR:
		return best <= floor;
	case ALGO_NOISE_NONE:
		break;
	}
	return 0;
}

#endif
