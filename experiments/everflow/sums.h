/* experiments/everflow/sums.h -- counters of analyzers, summed up and told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * WHAT is link:FROM->TO or link:ID, switch:NAME, mux:HOST, custom:NAME or
 * custom:ID.
 */
#ifndef EXPERIMENTS_EVERFLOW_SUMS_H
#define EXPERIMENTS_EVERFLOW_SUMS_H

#include <stdio.h>

#include "results/traces.h"

enum { XP_SUMS_SUBS = ALGO_LATENCY_BINS };

struct xp_sums_group;

struct xp_sums {
	const struct xp_sums_group *group;
	uint32_t id;
	size_t n_rows;
	double sum[ALGO_N_COUNTER_KINDS][XP_SUMS_SUBS];
};

/* S, zeroed, is to sum up WHAT. T and NAMES may be NULL: then there are numbers
 * alone. Errors SIM_EINVAL, SIM_ERANGE: there is no such thing. */
int xp_sums_parse(struct xp_sums *s, const struct topo *t,
    const struct res_counter_names *names, const char *what, struct sim_err *e);

/* Add those rows whose spans ended in (FROM, TO]. */
void xp_sums_add(struct xp_sums *s, const struct algo_counters *c, sim_ns from,
    sim_ns to);

/* For people, and as one JSON object. */
void xp_sums_put(const struct xp_sums *s, const char *what, FILE *out);
void xp_sums_put_json(const struct xp_sums *s, const char *what, FILE *out);

#endif
