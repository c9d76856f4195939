/* algos/planner/planner.h -- which probes to send next, and when to stop.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	.--> ask: a round of probes --> the network --> tell: sent and lost --.
 *	|                                                                     |
 *	'-- go on, or stop <-- think: chances and hazards of all links <------'
 *
 * Probes have known ways, which are given. What is thought of links is Sieve's
 * (algos/sieve), whose failed links lose `least` or more, and which begins with
 * healthy ones that lose `healthy`. Part of each round takes all ways in turn,
 * each time in another order; the rest is planned, a probe at a time: the next is
 * the one whose links it is expected to tell most of, by the drop of their
 * entropies (gain.h). Of a link that has probes in the round already one more
 * tells less. Where two links of a way are suspects they are confused, and what
 * it tells of either counts `shared`, as does what it tells of others beside one.
 *
 * A link is taken for failed if its chance is above 1/2. So many are expected to
 * be taken wrongly: the sum over links of the lesser of their chance and 1 less
 * that. Below `error` there is nothing more to ask. Links on no way count in
 * neither. Links that all ways cross together or not at all are taken as one, as
 * no probe ever tells them apart: the chances of such add up.
 *
 * It waits for nothing, reads no clock and does no I/O: who asks it may be a
 * simulation or a controller of agents on real hosts.
 *
 * Source ours.
 */
#ifndef ALGOS_PLANNER_PLANNER_H
#define ALGOS_PLANNER_PLANNER_H

#include "models/obs_tallies.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "topo/topo.h"

/* As in a spec. */
struct algo_planner_params {
	double error;    /* links */
	uint32_t round;  /* probes, at most */
	uint32_t first;  /* probes of a round, at least */
	double grow;     /* share of all before */
	double in_turn;  /* share of a round */
	double least;    /* rate of loss */
	double healthy;  /* likewise */
	double suspects; /* chance */
	double shared;
};
extern const struct sim_field algo_planner_fields[];

struct algo_planner;

/* Each row of WAYS is one, of n_sent packets a probe; n_lost is not read. WAYS,
 * T and PARAMS are borrowed until close. It begins with nothing known.
 * Errors SIM_EINVAL (no way, or one without a path), SIM_ENOMEM. */
int algo_planner_open(struct algo_planner **p, const struct topo *t,
    const struct algo_planner_params *params, const struct obs_tallies *ways,
    struct sim_err *e);
void algo_planner_close(struct algo_planner *p); /* NULL is fine */

/* Forget all that was told. Errors SIM_ENOMEM. */
int algo_planner_begin(struct algo_planner *p, struct sim_err *e);

/* The next round; returns the number of its probes, of which i is one by way[i], a
 * row of the ways. Whether it is needed is for algo_planner_view() to say.
 * Shape way[params.round].
 * Cost O(round * (ways + ways of a link) + links). */
uint32_t algo_planner_ask(struct algo_planner *p, struct sim_rng *r,
    uint32_t way[]);

/* Of SENT packets by a way LOST were lost. Nothing follows until think().
 * Domain LOST <= SENT. Errors SIM_EINVAL (no such way), SIM_ELIMIT (more than
 * 2^32 - 1 packets by it). */
int algo_planner_tell(struct algo_planner *p, uint32_t way, uint32_t sent,
    uint32_t lost, struct sim_err *e);

/* Weigh all that was told. Errors SIM_ENOMEM. Cost as Sieve's. */
int algo_planner_think(struct algo_planner *p, struct sim_err *e);

/* What was thought last. All is P's. */
struct algo_planner_view {
	const double *chance;   /* [links] of having failed */
	const double *hazard;   /* [links] -ln(1 - rate of loss) if it did */
	double healthy;         /* the same, of links that did not */
	const uint8_t *within;  /* [links] 1: on some way */
	const topo_link *alike; /* [links] the first of those like it */
	const double *together; /* [links] at the first: chance that one of
				    them failed; at others 0 */
	double error;           /* of them, expected to be taken wrongly */
	int done;               /* it is below what was asked for */
	const struct obs_tallies *told; /* by way, in the order of ways */
};
void algo_planner_view(const struct algo_planner *p,
    struct algo_planner_view *v);

#endif
