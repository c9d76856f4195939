/* experiments/epoch/replay.h -- algorithms on an epoch's file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EPOCH_REPLAY_H
#define EXPERIMENTS_EPOCH_REPLAY_H

#include <stdio.h>

#include "experiments/spec/spec.h"
#include "results/epoch.h"
#include "results/schema.h"

/* One algorithm and what it said. */
struct xp_replayed {
	struct xp_algo algo;
	uint32_t number; /* of its stream for ties: see xp_answer() */
	struct algo_verdicts verdicts;
	struct res_algo_metrics metrics; /* without truth not set */
	struct sim_err failed; /* of one from outside; code 0: it answered */
};

/* Zeroed is empty. */
struct xp_replay {
	struct res_epoch epoch;
	size_t n;
	struct xp_replayed *one;
	struct plug_set *plugs; /* programs are looked for from here */
};

struct xp_replay_asks {
	/* Each is the label of an algorithm of the file's spec, or one as a
	 * spec has it, in flow YAML; none at all: those of the file's spec. */
	const char *const *algorithm;
	size_t n_algorithms;

	/* As --set, on `algorithms` of the file's spec, before any is read. */
	const char *const *set;
	size_t n_set;

	int any; /* PATH may have no seal: see res_epoch_open() */
};

/* Read the epoch of PATH and the algorithms that are asked for. One of the
 * file's spec has the number that it has there, and so breaks ties as it did in
 * the cell; others are numbered from 0 in their order.
 * Errors SIM_EINVAL for ASKS, SIM_EUNSUPPORTED (an algorithm that reads what is
 * not there), SIM_EIO, SIM_EPARSE, SIM_EMISMATCH, SIM_ENOMEM for the file; R is
 * empty then. */
int xp_replay_open(struct xp_replay *r, const char *path,
    const struct xp_replay_asks *asks, struct sim_err *e);

/* Ask each algorithm, and score it if the file has the truth: to the bit what
 * the cell had. One from outside that fails has said nothing, and costs no other
 * its answer: xp_replay_failed(). Errors those of the other algorithms. */
int xp_replay_run(struct xp_replay *r, struct sim_err *e);
void xp_replay_free(struct xp_replay *r);

/* Why the first one failed that did, or NULL. */
const struct sim_err *xp_replay_failed(const struct xp_replay *r);

/* For people; and as one JSON object with all that each algorithm ranked. */
void xp_replay_print(struct xp_replay *r, FILE *out);
void xp_replay_print_json(struct xp_replay *r, FILE *out);

/* A table of whom each algorithm blames for each flow that failed: algorithm,
 * flow (its row in the file), src_host, dst_host, n_retx, blamed (a name; empty:
 * set aside as noise), blamed_id, culprit (a name; empty: nobody or no truth),
 * culprit_id. TSV with a head. */
void xp_replay_print_blame(const struct xp_replay *r, FILE *out);

#endif
