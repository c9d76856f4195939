/* models/connects/impl.h -- what the files of connects in bulk share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_CONNECTS_IMPL_H
#define MODELS_CONNECTS_IMPL_H

#include "models/connects/connects.h"
#include "topo/topo.h"

enum { CONNECTS_TIERS = 3, CONNECTS_WAY = 12 };

/* A server is light if sources look at so much of its connects to another pod at
 * most, and all are that are looked at as often by what is no source. Connects
 * of others are made one by one: of these at least that share is marked, or about
 * so, and to look at all of them costs no more than their rows. */
#define CONNECTS_LIGHT     0.125
#define CONNECTS_LIGHT_ALL 0.5

/* What a source is: a link that loses, leads to a hole of type 2, or delays. */
enum connects_kind { CONNECTS_LOSES, CONNECTS_DROPS, CONNECTS_DELAYS };

/* A link that marks connects by itself. The unit below it is a server, a ToR or
 * a pod: what crosses the link goes up from there or comes down to there. It
 * looks at a share of the connects that leave the unit, P: of those that cross it
 * as many as it loses, or that the hole drops which it leads to, or all of them if
 * it delays. */
struct connects_source {
	topo_link link;
	uint8_t tier;
	uint8_t kind; /* enum connects_kind */
	double p;
	uint32_t first_host, n_hosts; /* the unit's */
};

/* Connects that sources have looked at, by a number of each. Zeroed is empty. */
struct connects_seen {
	uint64_t *one; /* [cap] 0: an empty place */
	size_t n, cap;
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
	uint8_t any_off, any_listed, any_hole_2, any_slow;
	uint8_t any_heavy, all_heavy;
	double all[CONNECTS_N_LEVELS]; /* bounds what no source marks, and what
					  is late by itself, of all connects */
	double top; /* and what sources look at, of light ones */
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
	uint64_t
	    *odd; /* [links] a bit: loses by itself, or not its tier's cap */
	uint64_t *slow;       /* [links] a bit: delays */
	uint8_t is_ever_slow; /* some link, at some time */
	uint8_t *off, *soon;  /* [hosts] off; goes off before long */
	uint8_t *listed;      /* [ToRs] has a hole whose victims are listed */
	struct connects_source *source;
	size_t n_sources, cap_sources;
	double *share[CONNECTS_TIERS];     /* [units] what sources looked at */
	uint8_t is_shared[CONNECTS_TIERS]; /* not all of these are 0 */
	struct connects_seen seen;         /* which these are */
	uint8_t *heavy;                    /* [hosts] */
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

/* --- shares.c ------------------------------------------------------------- */

/* Tell heavy servers from light ones, by all sources; then none has looked at
 * any connect so far. */
void connects_weigh(struct connects *c);

/* S has looked at its share; and the sum of those, of a connect. */
void connects_share_add(struct connects *c, const struct connects_source *s);
double connects_share_of(const struct connects *c, topo_host src, topo_host dst,
    enum connects_hops hops);

/* Errors SIM_ENOMEM. Cost O(1), O(cap) of a clear. */
void connects_seen_clear(struct connects_seen *s);
int connects_seen_has(const struct connects *c, topo_host src, topo_host dst,
    uint64_t slot);
int connects_seen_add(struct connects *c, topo_host src, topo_host dst,
    uint64_t slot, int *is_new, struct sim_err *e);

/* --- marks.c -------------------------------------------------------------- */

/* Rows of everything that links mark, and of those that stall. */
int connects_marked(struct connects *c, struct sim_err *e);

/* --- rows.c --------------------------------------------------------------- */

/* One connect of which it is known that its first SYN, or the answer, is lost,
 * and nothing of its way: follow it. */
int connects_follow(struct connects *c, topo_host src, topo_host dst,
    sim_ns sent, struct sim_err *e);

/* A row for N connects of a pair, all of which have OUTCOME. */
int connects_put(struct connects *c, topo_host src, topo_host dst, sim_ns sent,
    uint32_t n, enum connects_outcome outcome, struct sim_err *e);

/* --- blocks.c ------------------------------------------------------------- */

/* Rows of servers that are off, and of pairs that are dropped. */
int connects_blocks(struct connects *c, struct sim_err *e);

#endif
