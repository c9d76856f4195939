/* algos/sieve/sieve_trade.h -- who else may have lost what accepted links lose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. The search accepts links one by one, and each leaves only if
 * it is not likely given the others. So a link that stands for two others that
 * share ways with it, or two that stand for one, would stay. Where much of what one
 * or two accepted links lose crossed others too, they are held against one or two
 * of these by the evidence of both (sieve_stake.h): in the search, which trades
 * where it gains, and of those that stay for their chances.
 */
#ifndef ALGOS_SIEVE_SIEVE_TRADE_H
#define ALGOS_SIEVE_SIEVE_TRADE_H

#include "algos/sieve/sieve_stake.h"

enum { SIEVE_OTHERS = 16 };

/* One or two accepted links, at their hazards, and up to sixteen others that much of
 * what those lose crossed, those first that most did. */
struct sieve_trial {
	struct sieve_stake out;
	uint32_t n;
	topo_link other[SIEVE_OTHERS];
};

/* What may have failed in place of the links of a trial: nobody, each other alone, and
 * the likeliest of them with each further one, of the two that left as well. */
enum { SIEVE_RIVALS = 2 * SIEVE_OTHERS + SIEVE_PAIR + 1 };
struct sieve_rivals {
	uint32_t n;
	struct sieve_stake in[SIEVE_RIVALS];
	double evidence; /* of what was accepted */
};

/* Ask VISIT of each trial of one link, and then of two, WITH what it needs; it leaves all
 * as it was. Links of accused switches take no part, nor any where rows are of no known
 * path. s->shared tells which links are in one of their own. Errors of VISIT,
 * SIM_ENOMEM. */
typedef int sieve_trial_visit(struct sieve_search *s,
    const struct sieve_trial *t, void *with, struct sim_err *e);
int sieve_trials(struct sieve_search *s, sieve_trial_visit *visit, void *with,
    struct sim_err *e);

/* The links of T leave, and rivals are weighed that have MORE evidence than those, or
 * an evidence as near to it as -MORE; none if those have none themselves. Then they, or
 * a rival, are to enter. Errors SIM_ENOMEM. */
int sieve_trial_weigh(struct sieve_search *s, const struct sieve_trial *t,
    double more, struct sieve_rivals *r, struct sim_err *e);
void sieve_trial_enter(struct sieve_search *s, const struct sieve_stake *in);

/* Make the trade that gains most, so that names say nothing; whether there is one that
 * gains at all is TRADED. Errors SIM_ENOMEM. */
int sieve_trade(struct sieve_search *s, int *traded, struct sim_err *e);

#endif
