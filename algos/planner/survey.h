/* algos/planner/survey.h -- planned probes, by scouts on all hosts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A controller and collector of scouts (scout.h) that finds the links that lose:
 *
 *	begin: `ways` five-tuples of each host, ports drawn
 *	round 1    traces of each, there and back        -> ways
 *	round 2 .. what the planner asks for (planner.h) -> answers, thought about
 *
 * until it is told to stop, by whoever looks at what it thinks. A round is over
 * when each host that has part in it has told what came of its jobs, or `round`
 * after it began. What comes later still counts; what never comes counts neither
 * as arrived nor as lost. Each host's word on a round is taken once.
 *
 * Ports are what chooses ways: switches spread by five-tuple, so each of them
 * keeps the way that was traced. (Packets wrapped to the switches that they are
 * to cross would choose freely, but switches must unwrap them, and no host hears
 * of what reached it: models/netns/mirror.h.) A tuple of which a hop did not
 * answer, there or back, is not used; what no way crosses is not judged.
 *
 * A way is a round trip, and of a host's cable all of them cross both directions:
 * its link up stands for both.
 *
 * As the planner it waits for nothing, reads no clock and does no I/O; in a
 * simulation and on real hosts it is the same object.
 *
 * Source ours.
 */
#ifndef ALGOS_PLANNER_SURVEY_H
#define ALGOS_PLANNER_SURVEY_H

#include "algos/planner/orders.h"
#include "algos/planner/planner.h"
#include "sim/time.h"

enum { ALGO_SURVEY_WAYS = ALGO_SCOUT_JOBS / 2 };

/* As in a spec, but for the plan. */
struct algo_survey_params {
	struct algo_planner_params plan;
	uint32_t packets; /* connects of a probe */
	uint32_t ways;    /* that each host begins */
	double round_s;   /* traces have ten times as long */
	uint32_t port;    /* that all hosts listen at */
};
extern const struct sim_field algo_survey_fields[];

struct algo_survey;

/* T and P are borrowed until close. Errors SIM_EINVAL (fewer than two hosts),
 * SIM_ENOMEM. */
int algo_survey_open(struct algo_survey **s, const struct topo *t,
    const struct algo_survey_params *p, struct sim_err *e);
void algo_survey_close(struct algo_survey *s); /* NULL is fine */

/* Begin anew at NOW, by numbers of R, which is borrowed until then. */
void algo_survey_begin(struct algo_survey *s, sim_ns now, struct sim_rng *r);

/* What HOST asks for at NOW, and what it tells; DATA of the first is good until
 * the next call. What makes no sense is counted, and no error.
 * Errors SIM_EINVAL (no way was found), SIM_ELIMIT (more packets than can be
 * counted), SIM_ENOMEM. */
int algo_survey_fetch(struct algo_survey *s, topo_host host, sim_ns now,
    const void **data, size_t *n, struct sim_err *e);
int algo_survey_upload(struct algo_survey *s, topo_host host, sim_ns now,
    const void *data, size_t n, struct sim_err *e);

/* From now on agents are told that there is nothing more to do. */
void algo_survey_stop(struct algo_survey *s);

/* What it has come to. All is S's. */
struct algo_survey_view {
	uint32_t round;      /* under way */
	uint64_t n_connects; /* told of */
	uint32_t n_silent;   /* hosts and rounds that nothing came of in time */
	uint32_t n_bad;    /* uploads, or answers in them, that made no sense */
	uint32_t n_tuples; /* that were traced, */
	uint32_t n_ways;   /* with success; 0: not yet */
	struct algo_planner_view plan; /* if n_ways > 0 */
};
void algo_survey_view(const struct algo_survey *s, struct algo_survey_view *v);

#endif
