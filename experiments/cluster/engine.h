/* experiments/cluster/engine.h -- who runs the shards of a sweep.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An engine is a way to write submit.sh (cluster/plan.h), and to ask what became
 * of the jobs if these outlive it. One more is a file and its line in engine.c.
 */
#ifndef EXPERIMENTS_CLUSTER_ENGINE_H
#define EXPERIMENTS_CLUSTER_ENGINE_H

#include <stdint.h>
#include <stdio.h>

#include "experiments/cluster/plan.h"
#include "sim/err.h"

/* What all scripts are written of; words as the user gave them. */
struct xp_job {
	const struct xp_plan *plan;
	const char *folder;       /* of the plan, absolute */
	const char *cwd;          /* where paths of the spec begin */
	const char *program;      /* this one */
	const char *const *words; /* behind `culprit run`, NULL at the end */
	const char *const *extra; /* options of the engine, as these */
	uint32_t n_workers;       /* of a shard */
	uint32_t at_once;         /* shards; 0: as many as there are */
};

enum xp_job_state { XP_JOB_NONE, XP_JOB_WAITS, XP_JOB_RUNS };

/* What jobs there are of a plan. */
struct xp_queue {
	uint8_t *shard;  /* [n_shards], enum xp_job_state */
	uint32_t n_jobs; /* of all, with the merge */
	char why[64];    /* what one that waits is said to wait for; or "" */
};

struct xp_engine {
	const char *name, *doc;
	const char *needs; /* a program */
	/* Lines behind the head of shard.sh, or of merge.sh; may be NULL. */
	void (*put_head)(FILE *out, const struct xp_job *j, int is_merge);
	/* submit.sh behind its head: it takes the numbers of shards, from 1;
	 * without, all are meant. What has ended when it ends need not be asked
	 * for. */
	void (*put_submit)(FILE *out, const struct xp_job *j);
	/* Fill Q, zeroed. NULL: submit.sh waits for all that it started. Errors
	 * SIM_EIO, SIM_EDEP: it can't be known now. */
	int (*ask)(const struct xp_plan *p, struct xp_queue *q,
	    struct sim_err *e);
	/* A command that ends all jobs. NULL: SIGTERM does. */
	void (*put_end)(FILE *out, const struct xp_plan *p);
};

/* NULL at the end of both. */
extern const struct xp_engine *const xp_engines[];
extern const char *const xp_engine_names[];
extern const struct xp_engine xp_engine_local, xp_engine_parallel,
    xp_engine_slurm;

/* TEXT as one word of a shell. */
void xp_put_word(FILE *out, const char *text);

/* "FOLDER/NAME" as one word. */
void xp_put_path(FILE *out, const struct xp_job *j, const char *name);

/* Write plan.yaml and the three scripts. Errors SIM_EINVAL for a word that has a
 * line break in it; SIM_EIO, SIM_ENOMEM. */
int xp_job_write(const struct xp_job *j, struct sim_err *e);

#endif
