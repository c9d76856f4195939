/* algos/verdict.h -- what a diagnoser answers: accused links and blamed flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_VERDICT_H
#define ALGOS_VERDICT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"
#include "topo/ids.h"

/* How far the answer of a mathematical program is proved. */
enum algo_status {
	ALGO_OPTIMAL,  /* value == bound */
	ALGO_FEASIBLE, /* explains all failures; a better one may exist */
	ALGO_NONE,     /* nothing found within the limits */
};

extern const char *const algo_status_names[];

struct algo_solution {
	int solves; /* 0: the algorithm solves no program */
	enum algo_status status;
	double value; /* of the answer; NaN if there is none */
	double bound; /* no answer has a smaller value */
};

/* What a verdict's components are: directed links, or switches, or both: ids
 * below n_links are then links, and n_links + s is switch s. */
enum algo_kind { ALGO_KIND_LINK, ALGO_KIND_SWITCH, ALGO_KIND_BOTH };
extern const char *const algo_kind_names[]; /* NULL-terminated */

/* How a component is said to behave, beside its score: accused or not.
 * X(name, words) */
#define ALGO_WAYS(X)                                                           \
	X(UNSAID, "")                                                          \
	X(LOSES, "loses at a rate")                                            \
	X(SWALLOWS, "swallows some flows whole")                               \
	X(LAPSES, "loses for a while")                                         \
	X(BURSTS, "loses in bursts, as a full queue does")

enum algo_way {
#define X(name, words) ALGO_WAY_##name,
	ALGO_WAYS(X)
#undef X
};
extern const char *const algo_way_words[];

/* One component, whatever the kind of the verdict. */
struct algo_part {
	int is_switch;
	uint32_t id; /* of the link, or of the switch */
};

/* Zeroed is empty. All components of a verdict are of one kind, by which `link`
 * and `blame` are to be read: algo_verdicts_part(). Those that are not
 * listed have score 0 and are not flagged.
 * Flagged links come first, in the order in which they were flagged; the rest
 * follow in no particular order until algo_verdicts_sort(). */
struct algo_verdicts {
	enum algo_kind kind;
	uint32_t n_links; /* of kind BOTH: where switches begin */
	size_t n, cap;
	topo_link *link;  /* [n], each link at most once */
	double *score;    /* [n], higher = more suspect */
	uint8_t *way;     /* [n] of enum algo_way */
	size_t n_flagged; /* link[0 .. n_flagged-1] are accused */
	int flags;        /* 0: the algorithm ranks but accuses nobody */
	int chances;      /* scores are chances to have failed, in [0, 1] */

	struct algo_solution solution;

	size_t n_flows, cap_flows;
	topo_link *blame; /* [n_flows] of the window: the link that is said to
	                     have dropped the flow's packets; TOPO_NONE = set
	                     aside as noise */
};

void algo_verdicts_clear(struct algo_verdicts *v);
void algo_verdicts_free(struct algo_verdicts *v);
int algo_verdicts_add(struct algo_verdicts *v, topo_link link, double score,
    struct sim_err *e);
/* Say how COMPONENT behaves; listed with score 0 if it is not. */
int algo_verdicts_say(struct algo_verdicts *v, uint32_t component,
    enum algo_way way, struct sim_err *e);
/* Make room for N components in all. */
int algo_verdicts_reserve(struct algo_verdicts *v, size_t n, struct sim_err *e);
/* Set n_flows to N, each flow blamed on TOPO_NONE. */
int algo_verdicts_reserve_flows(struct algo_verdicts *v, size_t n,
    struct sim_err *e);

/* What the ID of a verdict is, which is not TOPO_NONE. */
static inline struct algo_part algo_verdicts_part(const struct algo_verdicts *v,
    uint32_t id)
{
	const int both = v->kind == ALGO_KIND_BOTH;
	const int is_switch =
	    v->kind == ALGO_KIND_SWITCH || (both && id >= v->n_links);
	return (struct algo_part){is_switch,
	    both && is_switch ? id - v->n_links : id};
}

/* What V blames for FLOW; its id is TOPO_NONE where it blames nothing. Of a
 * verdict of both kinds that is no link. */
static inline struct algo_part
algo_verdicts_blamed(const struct algo_verdicts *v, size_t flow)
{
	const uint32_t id = v->blame[flow];
	return id == TOPO_NONE
	    ? (struct algo_part){v->kind == ALGO_KIND_SWITCH, TOPO_NONE}
	    : algo_verdicts_part(v, id);
}

/* The id by which V names a component; TOPO_NONE if its kind has none such. */
static inline uint32_t algo_verdicts_id(const struct algo_verdicts *v,
    struct algo_part p)
{
	if (v->kind == ALGO_KIND_BOTH)
		return p.is_switch ? v->n_links + p.id : p.id;
	return p.is_switch == (v->kind == ALGO_KIND_SWITCH) ? p.id : TOPO_NONE;
}

/* Sort the links that are not flagged by score, descending, ties by id. */
void algo_verdicts_sort(struct algo_verdicts *v);

/* The score of a link; 0 of one that is not listed. Cost O(n). */
double algo_verdicts_score(const struct algo_verdicts *v, topo_link link);

/* 1 + number of links with a greater score: the standard competition rank,
 * whatever the order of the list. A link that is not listed ranks behind all
 * listed ones with a positive score. Cost O(n). */
size_t algo_verdicts_rank(const struct algo_verdicts *v, topo_link link);

void algo_verdicts_print(const struct algo_verdicts *v, FILE *out);

#endif
