/* experiments/sweep/shard.c -- which part of a sweep a process is to run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/shard.h"

#include <stdio.h>
#include <string.h>

#include "sim/text.h"

/* Who may have started the process. */
struct starter {
	const char *number, *size; /* variables */
	int is_array;              /* it has no size of its own, but these: */
	const char *min, *max;
};
static const struct starter starters[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", 1, "SLURM_ARRAY_TASK_MIN",
	"SLURM_ARRAY_TASK_MAX"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 0, NULL, NULL},
    {"PMI_RANK", "PMI_SIZE", 0, NULL, NULL},
};
enum { N_STARTERS = sizeof(starters) / sizeof(starters[0]) };

static const char *shard_env(xp_environment *env, const char *name)
{
	const char *text = env(name);
	return text && *text ? text : NULL;
}

static int shard_number(uint32_t *out, const char *what, const char *text,
    uint64_t min, uint64_t max, struct sim_err *e)
{
	char shown[64];
	uint64_t x;
	if (sim_parse_u64(text, &x, NULL) < 0 || x < min || x > max)
		return sim_fail(e, SIM_ERANGE,
		    "%s %s is not a whole number in [%llu, %llu].", what,
		    sim_quote(shown, text), (unsigned long long)min,
		    (unsigned long long)max);
	*out = (uint32_t)x;
	return 0;
}

/* The same of a variable that must be there. */
static int shard_variable(uint32_t *out, xp_environment *env, const char *name,
    uint64_t min, uint64_t max, struct sim_err *e)
{
	const char *text = shard_env(env, name);
	return text ? shard_number(out, name, text, min, max, e)
		    : sim_fail(e, SIM_EINVAL, "%s is not set.", name);
}

static int shard_of_rank(struct xp_shard *s, const struct starter *x,
    uint32_t n, xp_environment *env, struct sim_err *e)
{
	int rc = shard_variable(&s->n, env, x->size, 1, XP_MAX_SHARDS, e);
	if (rc == 0)
		rc = shard_variable(&s->i, env, x->number, 0, s->n - 1, e);
	if (rc == 0 && n > 0 && n != s->n)
		rc = sim_fail(e, SIM_EINVAL,
		    "%s is %u, and the shards are %u; start as many.", x->size,
		    s->n, n);
	return rc;
}

/* The whole array, by what Slurm says of it. */
static int shard_of_whole_array(struct xp_shard *s, const struct starter *x,
    xp_environment *env, struct sim_err *e)
{
	uint32_t id, min, max;
	int rc = shard_variable(&s->n, env, x->size, 1, XP_MAX_SHARDS, e);
	if (rc == 0)
		rc = shard_variable(&min, env, x->min, 0, XP_MAX_SHARDS, e);
	if (rc == 0)
		rc = shard_variable(&max, env, x->max, min, XP_MAX_SHARDS, e);
	if (rc == 0)
		rc = shard_variable(&id, env, x->number, min, max, e);
	if (rc < 0)
		return rc;
	/* A task that is run again is an array of its own, which tells no more
	 * of how many shards there are. */
	if (min > 1 || s->n == 1 || max - min + 1 != s->n)
		return sim_fail(e, SIM_EINVAL,
		    "an array of %u from %u to %u may be a part of one; give "
		    "auto/N, with the N that all of them have.",
		    s->n, min, max);
	s->i = id - min;
	return 0;
}

static int shard_of_array(struct xp_shard *s, const struct starter *x,
    uint32_t n, xp_environment *env, struct sim_err *e)
{
	const char *min = shard_env(env, x->min);
	if (n == 0)
		return shard_of_whole_array(s, x, env, e);
	/* Its other tasks would be taken for their neighbours. */
	if (min && strcmp(min, "0") == 0)
		return sim_fail(e, SIM_ERANGE,
		    "the array begins at 0, and shards at 1; give "
		    "--array=1-%u.",
		    n);
	int rc = shard_variable(&s->i, env, x->number, 1, n, e);
	if (rc < 0)
		return rc;
	*s = (struct xp_shard){s->i - 1, n};
	return 0;
}

/* Of a job whose every task is started as a single rank, as `srun` does, the
 * rank is always 0 of 1. */
static int is_alone(const struct starter *x, xp_environment *env)
{
	const char *size = shard_env(env, x->size);
	return !x->is_array && size && strcmp(size, "1") == 0;
}

/* Which starters are there, those without a say left out. */
static size_t shard_list_starters(const struct starter *of[N_STARTERS],
    xp_environment *env)
{
	size_t n = 0, n_all = 0;
	for (size_t i = 0; i < N_STARTERS; i++)
		n_all += shard_env(env, starters[i].number) != NULL;
	for (size_t i = 0; i < N_STARTERS; i++)
		if (shard_env(env, starters[i].number) &&
		    !(n_all > 1 && is_alone(&starters[i], env)))
			of[n++] = &starters[i];
	/* Several worlds of one are one world of one. */
	if (n == 0 && n_all > 0)
		for (size_t i = 0; n == 0; i++)
			if (shard_env(env, starters[i].number))
				of[n++] = &starters[i];
	return n;
}

static int read_auto(struct xp_shard *s, uint32_t n, xp_environment *env,
    struct sim_err *e)
{
	const struct starter *of[N_STARTERS];
	const size_t n_of = shard_list_starters(of, env);
	struct xp_shard x;
	if (n_of == 0)
		return sim_fail(e, SIM_EINVAL,
		    "neither %s nor %s nor %s is set: this is no task of an "
		    "array, and no rank; give I/N.",
		    starters[0].number, starters[1].number, starters[2].number);
	for (size_t i = 0; i < n_of; i++) {
		const int rc = of[i]->is_array
		    ? shard_of_array(&x, of[i], n, env, e)
		    : shard_of_rank(&x, of[i], n, env, e);
		if (rc < 0)
			return rc;
		if (i > 0 && (x.i != s->i || x.n != s->n))
			return sim_fail(e, SIM_EINVAL,
			    "by %s it is shard %u/%u, by %s %u/%u; give I/N.",
			    of[0]->number, s->i + 1, s->n, of[i]->number,
			    x.i + 1, x.n);
		*s = x;
	}
	return 0;
}

int xp_shard_read(struct xp_shard *s, const char *text, xp_environment *env,
    struct sim_err *e)
{
	const char *slash = strchr(text, '/');
	char first[32], shown[64];
	uint32_t n = 0, i;
	int rc = 0;
	snprintf(first, sizeof(first), "%.*s",
	    (int)(slash ? slash - text : (ptrdiff_t)strlen(text)), text);
	const int is_auto = strcmp(first, "auto") == 0;
	if (!slash && !is_auto)
		return sim_fail(e, SIM_EINVAL, "%s is not I/N, auto or auto/N.",
		    sim_quote(shown, text));
	if (slash)
		rc = shard_number(&n, "N", slash + 1, 1, XP_MAX_SHARDS, e);
	if (rc == 0 && is_auto)
		return read_auto(s, n, env, e);
	if (rc == 0 && (rc = shard_number(&i, "I", first, 1, n, e)) == 0)
		*s = (struct xp_shard){i - 1, n};
	return rc;
}
