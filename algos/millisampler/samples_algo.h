/* algos/millisampler/samples_algo.h -- what diagnosers by samples share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	begin -> find -> add those accused -> flag -> add the others -> end
 *
 * A window without samples is one without runs.
 */
#ifndef ALGOS_MILLISAMPLER_SAMPLES_ALGO_H
#define ALGOS_MILLISAMPLER_SAMPLES_ALGO_H

#include "algos/verdict.h"
#include "models/obs_samples.h"
#include "topo/topo.h"

struct obs;

/* Borrowed from the window, never NULL. */
struct algo_samples_in {
	const struct obs_runs *runs;
	const struct obs_samples *samples;
};

/* Empty OUT, with a place for each flow, and check the tables.
 * Errors those of obs_runs_check() and obs_samples_check(), SIM_ENOMEM. */
int algo_samples_begin(const struct obs *window, const struct topo *t,
    struct algo_samples_in *in, struct algo_verdicts *out, struct sim_err *e);

/* What OUT lists by now is accused, by score. */
void algo_samples_flag(struct algo_verdicts *out);

/* Sort the others, and blame each flow that sent again on the accused link of
 * highest score that it crossed. */
void algo_samples_end(const struct obs *window, struct algo_verdicts *out);

#endif
