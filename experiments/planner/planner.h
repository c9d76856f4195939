/* experiments/planner/planner.h -- the section `planner`, and a search by agents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Probes of a search are drawn as sums, each by the hazards of its way; or agents
 * on all hosts send them (algos/planner/scout.h), on the simulated fabric or a
 * real one, by what one survey says (algos/planner/survey.h). Both ask the same
 * planner.
 */
#ifndef EXPERIMENTS_PLANNER_PLANNER_H
#define EXPERIMENTS_PLANNER_PLANNER_H

#include "algos/planner/scout.h"
#include "algos/planner/survey.h"
#include "experiments/spec/section.h"
#include "experiments/spec/spec.h"
#include "models/scene/scene.h"

struct xp_planner_agents_params {
	uint32_t on;
	double lasts_s;
	struct algo_survey_params survey; /* but for the plan and packets */
	struct algo_scout_params scout;
};

struct xp_planner {
	struct algo_planner_params plan;
	struct xp_planner_agents_params agents;
	uint32_t packets, most;
};

/* What a search came to. X(member) */
#define XP_PLANNER_ENDS(X)                                                     \
	X(right)                                                               \
	X(stop)                                                                \
	X(stated)                                                              \
	X(wrong)
struct xp_planner_end {
#define X(name) double name;
	XP_PLANNER_ENDS(X)
#undef X
	int cut;
};

/* Nothing was asked yet. */
void xp_planner_end_begin(struct xp_planner_end *end,
    const struct xp_planner *p);

/* What V thinks after N probes, whose answer takes WRONG links for what they are
 * not; LAST: no more may be sent. *STOPS is 1 if it would stop now and not
 * before. Returns 1 if there is no more to look for. */
int xp_planner_end_look(struct xp_planner_end *end, const struct xp_planner *p,
    const struct algo_planner_view *v, double wrong, double n, int last,
    int *stops);

/* What V was told, but for ways that had no probe. Errors SIM_ENOMEM. */
int xp_planner_keep(struct obs_tallies *to, const struct algo_planner_view *v,
    struct sim_err *e);

/* How many links are taken for what they are not; HAZARD[links] is what they have.
 * Those that no way tells apart are one, which failed if any of them did. */
double xp_planner_wrong(const struct xp_planner *p,
    const struct algo_planner_view *v, const double hazard[],
    topo_link n_links);

/* --- searches by agents --------------------------------------------------- */

struct xp_planner_agents;

/* On C's fabric. All is kept. Errors those of the fabric and of
 * algo_survey_open(). */
int xp_planner_agents_open(struct xp_planner_agents **a,
    const struct xp_config *c, const struct topo *t, const struct xp_planner *p,
    struct sim_err *e);
void xp_planner_agents_close(struct xp_planner_agents *a); /* NULL is fine */

/* Search number SEARCH of SCENE, of two, planned as PLAN says; HAZARD is as of its
 * links. What it had seen when it would stop is in TOLD, whose paths are A's
 * until the next search of that number.
 * Errors SIM_EINVAL (no way was found), those of agents and fabric. */
int xp_planner_agents_run(struct xp_planner_agents *a, struct scene *scene,
    const struct algo_planner_params *plan, const double hazard[],
    unsigned search, struct xp_planner_end *end, struct obs_tallies *told,
    struct sim_err *e);
void xp_planner_agents_view(const struct xp_planner_agents *a, unsigned search,
    struct algo_survey_view *v);

#endif
