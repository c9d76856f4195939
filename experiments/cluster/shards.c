/* experiments/cluster/shards.c -- what has become of each shard of a plan.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cluster/shards.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/sweep/journal.h"
#include "experiments/sweep/state.h"
#include "sim/vec.h"

int xp_shards_init(struct xp_shards *s, const struct xp_plan *p,
    const char *folder, struct sim_err *e)
{
	*s = (struct xp_shards){.plan = p, .folder = folder};
	int rc = SIM_ZALLOC(&s->state, p->n_shards, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&s->held, p->n_shards, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&s->queue.shard, p->n_shards, e);
	if (rc < 0)
		xp_shards_free(s);
	return rc;
}

void xp_shards_free(struct xp_shards *s)
{
	free(s->state);
	free(s->held);
	free(s->queue.shard);
	*s = (struct xp_shards){0};
}

/* A torn file, or one that can't be read now, is as good as none: running the
 * shard again says what is the matter. */
static int read_shard(struct xp_shards *s, uint32_t i,
    const struct res_cube *whole, struct sim_err *e)
{
	struct res_cube c = {0};
	struct sim_err why = {0};
	char *path;
	int rc = xp_plan_shard(&path, s->plan, s->folder, i, ".h5", e);
	if (rc < 0)
		return rc;
	s->state[i] = (struct res_shard_state){0};
	if (access(path, F_OK) == 0 && xp_state_read(&c, path, &why) == 0) {
		if (whole && res_cube_same_sweep(&c, whole, &why) < 0)
			rc = sim_fail(e, SIM_EMISMATCH,
			    "%s is of another sweep or build: %s Remove %s to "
			    "begin anew, or give another -o.",
			    path, why.msg, s->folder);
		else
			s->state[i] =
			    (struct res_shard_state){1, res_cube_progress(&c)};
		s->n_cells = res_cube_cells(&c);
	}
	res_cube_free(&c);
	free(path);
	return rc;
}

static int shard_is_done(const struct res_shard_state *s)
{
	return s->there && s->cells.n_done == s->cells.n_cells;
}

int xp_shards_read(struct xp_shards *s, const struct res_cube *whole,
    struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < s->plan->n_shards; i++)
		if (!shard_is_done(&s->state[i]))
			rc = read_shard(s, i, whole, e);
	return rc;
}

int xp_shards_ask(struct xp_shards *s, struct sim_err *e)
{
	const struct xp_engine *x = xp_engines[s->plan->engine];
	struct xp_queue *q = &s->queue;
	int rc = 0;
	q->n_jobs = 0;
	*q->why = '\0';
	memset(q->shard, 0, s->plan->n_shards);
	/* The jobs first: one that ends meanwhile is asked for by its lock, and
	 * one that begins is known. */
	if (x->ask)
		rc = x->ask(s->plan, q, e);
	for (uint32_t i = 0; rc == 0 && i < s->plan->n_shards; i++) {
		char *path;
		s->held[i] = 0;
		if (shard_is_done(&s->state[i]))
			continue;
		rc = xp_plan_shard(&path, s->plan, s->folder, i, ".journal", e);
		if (rc == 0) {
			s->held[i] = (uint8_t)xp_journal_is_held(path);
			free(path);
		}
	}
	return rc;
}

uint32_t xp_shards_n_busy(const struct xp_shards *s)
{
	uint32_t n = s->queue.n_jobs;
	/* Of jobs that are known the locks say nothing new. */
	for (uint32_t i = 0; i < s->plan->n_shards; i++)
		n += s->held[i] && s->queue.shard[i] == XP_JOB_NONE;
	return n;
}

struct res_progress xp_shards_about(const struct xp_shards *s)
{
	struct res_progress sum = {0};
	for (uint32_t i = 0; i < s->plan->n_shards; i++) {
		const struct res_progress *p = &s->state[i].cells;
		uint64_t n = p->n_done;
		char *path;
		if (!shard_is_done(&s->state[i]) &&
		    xp_plan_shard(&path, s->plan, s->folder, i, ".journal",
			NULL) == 0) {
			uint64_t n_records;
			if (xp_journal_length(path, &n_records, NULL) == 0 &&
			    n_records > n)
				n = n_records;
			free(path);
		}
		sum.n_done += n;
	}
	return sum;
}

int xp_shard_is_settled(const struct xp_shards *s, uint32_t i)
{
	const struct res_progress *p = &s->state[i].cells;
	return s->state[i].there &&
	    p->n_done + p->n_failed + p->n_crashed == p->n_cells;
}

enum xp_shard_is xp_shard_is(const struct xp_shards *s, uint32_t i)
{
	if (shard_is_done(&s->state[i]))
		return XP_SHARD_DONE;
	if (s->held[i] || s->queue.shard[i] == XP_JOB_RUNS)
		return XP_SHARD_RUNNING;
	if (s->queue.shard[i] == XP_JOB_WAITS)
		return XP_SHARD_QUEUED;
	return s->state[i].there ? XP_SHARD_FAILED : XP_SHARD_MISSING;
}
