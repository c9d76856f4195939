/* models/connects/impl.h -- what the files of connects in bulk share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_CONNECTS_IMPL_H
#define MODELS_CONNECTS_IMPL_H

#include "models/connects/connects.h"
#include "topo/topo.h"

enum { CONNECTS_TIERS = 3, CONNECTS_WAY = 12 };

/* A link that marks connects by itself. The unit below it is a server, a ToR or
 * a pod: what crosses the link goes up from there or comes down to there. Or a ToR
 * with a hole of type 2, as link TOPO_NONE: all that its servers send or are sent
 * crosses it both there and back. */
struct connects_source {
	topo_link link;
	uint8_t tier, is_hole;
	uint32_t hole; /* of a ToR: index into the truth's */
	double p; /* of a mark, given that it is crossed; of a ToR at most */
	uint32_t first_host, n_hosts; /* the unit's */
};

/* A hole of type 1 and the pairs that it drops, each with its servers under the
 * ToR first; both ways are dropped alike. */
struct connects_pair {
	topo_host in, out;
	uint32_t hole; /* index into the truth's */
	uint8_t level;
};

/* A five-tuple that a hole of type 2 drops: of all connects of the pair those
 * number `first`, first + period and so on. */
struct connects_tuple {
	topo_host src, dst;
	uint32_t hole, first, period;
	uint8_t level;
};

/* The chance that links mark a round trip, and that they do not. */
struct connects_toll {
	double lost, spared;
};

/* What holds while [from, to) lasts. Listed is what a hole drops for sure: pairs
 * by type 1, five-tuples by type 2 where ports come again. */
struct connects_segment {
	sim_ns from, to;
	double cap[CONNECTS_TIERS]; /* hazard of a link that is no source */
	struct connects_toll flat[CONNECTS_N_HOPS];
	struct connects_toll usual[CONNECTS_N_HOPS]; /* no link is odd */
	uint8_t is_flat; /* all links of a tier alike, nothing else at all */
	uint8_t any_off, any_listed, any_hole_2;
};

struct connects {
	const struct topo *topo;
	struct topo_clos clos;
	struct connects_params params;
	sim_ns ladder_ns, give_up_ns; /* to the last SYN; to the end */
	double late_tail[CONNECTS_N_HOPS];
	const struct scene *scene;
	uint64_t phase_key;

	/* Of the segment. */
	struct connects_segment now;
	double *noise, *hazard; /* [links] */
	double all_noise;       /* of each link; NaN: they differ */
	uint32_t *order;        /* [links] 0: no source; else 1 + its index */
	uint64_t *odd; /* [links] a bit: a source, or not its tier's cap */
	uint8_t *off, *soon; /* [hosts] off; goes off before long */
	uint8_t *listed;     /* [ToRs] has a hole whose victims are listed */
	struct connects_source *source;
	size_t n_sources, cap_sources;
	struct connects_pair *pair;
	size_t n_pairs, cap_pairs;
	struct connects_tuple *tuple;
	size_t n_tuples, cap_tuples;
	sim_ns *change; /* of the window */
	size_t n_changes, cap_changes;

	struct sim_rng rng;
	const struct connects_taker *taker;
};

/* --- state.c -------------------------------------------------------------- */

/* The times within (from, to) at which anything changes, into c->change,
 * ascending. */
int connects_changes(struct connects *c, sim_ns from, sim_ns to,
    struct sim_err *e);

/* Make c->now and all that goes with it of [from, to). */
int connects_settle(struct connects *c, sim_ns from, sim_ns to,
    struct sim_err *e);

/* The hole of type 2 that is at the upper end of L, or where L leads to, AT; or
 * NULL. *INDEX is its own. NULL as well where five-tuples are listed. */
const struct truth_hole *connects_hole_2(const struct connects *c, topo_link l,
    sim_ns at, size_t *index);

/* --- listed.c ------------------------------------------------------------- */

/* List the pairs, or the five-tuples, that hole I of a ToR drops and no earlier
 * one does. */
int connects_list_pairs(struct connects *c, size_t i, struct sim_err *e);
int connects_list_tuples(struct connects *c, size_t i, struct sim_err *e);

/* 1 if a listed hole drops AT what a connect from SRC to DST, whose first SYN was
 * SENT, sends or is sent. */
int connects_is_dead(const struct connects *c, enum connects_level level,
    topo_host src, topo_host dst, sim_ns sent, sim_ns at);

/* --- rows.c --------------------------------------------------------------- */

/* Rows of everything that links mark, and of those that stall. */
int connects_marked(struct connects *c, struct sim_err *e);

/* Rows of servers that are off, and of pairs that are dropped. */
int connects_blocks(struct connects *c, struct sim_err *e);

/* One connect of which it is known that its first SYN, or the answer, is lost,
 * and nothing of its way: follow it. */
int connects_follow(struct connects *c, topo_host src, topo_host dst,
    sim_ns sent, struct sim_err *e);

/* A row for N connects of a pair, all of which have OUTCOME. */
int connects_put(struct connects *c, topo_host src, topo_host dst, sim_ns sent,
    uint32_t n, enum connects_outcome outcome, struct sim_err *e);

#endif
