/* experiments/cluster/slurm.c -- shards as an array of Slurm, a merge behind it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/program.h"
#include "experiments/cluster/engine.h"
#include "sim/text.h"

/* In a name of a file of output % begins a pattern; quotes are as in a shell,
 * but there is no way to write a quote within. */
static void put_output(FILE *out, const struct xp_job *j, const char *name)
{
	fprintf(out, "#SBATCH --output=\"");
	for (const char *c = j->folder; *c; c++)
		fprintf(out, *c == '%' ? "%%%%" : "%c", *c);
	fprintf(out, "/%s\"\n#SBATCH --open-mode=append\n", name);
}

/* Slurm would queue a task whose node died once more by itself; but only one
 * of us can count how often that was done. */
static void slurm_put_head(FILE *out, const struct xp_job *j, int is_merge)
{
	const struct xp_plan *p = j->plan;
	fprintf(out, "#SBATCH --job-name=%s%s\n", p->name,
	    is_merge ? "-merge" : "");
	put_output(out, j, is_merge ? "merge.log" : "%a.log");
	fprintf(out, "#SBATCH --no-requeue\n#SBATCH --ntasks=1\n");
	if (!is_merge)
		fprintf(out, "#SBATCH --cpus-per-task=%" PRIu32 "\n",
		    j->n_workers);
	for (size_t i = 0; j->extra[i]; i++)
		fprintf(out, "#SBATCH %s\n", j->extra[i]);
}

/* afterany: a merge that waited for good ends would wait for ever when a task
 * failed. It says itself what is missing. */
static void slurm_put_submit(FILE *out, const struct xp_job *j)
{
	char at_once[32] = "";
	if (j->at_once > 0)
		snprintf(at_once, sizeof(at_once), "%%%" PRIu32, j->at_once);
	fprintf(out,
	    "\ntasks=$(IFS=,; echo \"$*\")\n"
	    "job=$(sbatch --parsable --array=\"${tasks:-1-%" PRIu32 "}\"%s ",
	    j->plan->n_shards, at_once);
	xp_put_path(out, j, "shard.sh");
	fprintf(out,
	    ") || exit\n"
	    "echo \"array ${job%%%%;*}\"\n"
	    "sbatch --parsable --dependency=afterany:\"${job%%%%;*}\" ");
	xp_put_path(out, j, "merge.sh");
	fputc('\n', out);
}

/* What any job waits for, sooner or later. */
static const char *const slurm_ordinary[] = {"(None)", "(Priority)",
    "(Resources)", "(Dependency)", "(JobArrayTaskLimit)", NULL};

/* A line is "NAME TASK STATE REASON"; of a merge the task is N/A. */
static void hear_line(const struct xp_plan *p, char *line, struct xp_queue *q)
{
	char *rest = NULL, *name = strtok_r(line, " ", &rest);
	char *task = strtok_r(NULL, " ", &rest);
	char *state = strtok_r(NULL, " ", &rest);
	char *why = strtok_r(NULL, "", &rest);
	uint64_t i;
	if (!state || strncmp(name, p->name, strlen(p->name)) != 0)
		return;
	const int waits = strcmp(state, "PD") == 0;
	q->n_jobs++;
	if (waits && why &&
	    slurm_ordinary[sim_word_find(slurm_ordinary, why)] == NULL)
		snprintf(q->why, sizeof(q->why), "%.60s", why);
	if (sim_parse_u64(task, &i, NULL) == 0 && i >= 1 && i <= p->n_shards)
		q->shard[i - 1] = waits ? XP_JOB_WAITS : XP_JOB_RUNS;
}

static int slurm_ask(const struct xp_plan *p, struct xp_queue *q,
    struct sim_err *e)
{
	char names[2 * sizeof(p->name) + 64];
	const char *const argv[] = {"squeue", "--noheader", "--array", names,
	    "--format=%j %K %t (%r)", NULL};
	const struct xp_program squeue = {
	    .argv = argv,
	    .max_bytes = 64 << 20,
	    .max_cpu_s = 60,
	};
	char *said, *erred, *rest = NULL;
	int status;
	snprintf(names, sizeof(names), "--name=%s,%s-merge", p->name, p->name);
	int rc = xp_program_run(&squeue, &said, &erred, &status, e);
	if (rc < 0)
		return rc;
	erred[strcspn(erred, "\n")] = '\0';
	if (status != 0)
		rc = sim_fail(e, SIM_EIO, "squeue failed: %.300s.",
		    *erred ? erred : "without a word");
	for (char *line = strtok_r(said, "\n", &rest); rc == 0 && line;
	     line = strtok_r(NULL, "\n", &rest))
		hear_line(p, line, q);
	free(said);
	free(erred);
	return rc;
}

static void slurm_put_end(FILE *out, const struct xp_plan *p)
{
	fprintf(out, "scancel --name=%s,%s-merge", p->name, p->name);
}

const struct xp_engine xp_engine_slurm = {
    .name = "slurm",
    .doc = "an array of Slurm",
    .needs = "sbatch",
    .put_head = slurm_put_head,
    .put_submit = slurm_put_submit,
    .ask = slurm_ask,
    .put_end = slurm_put_end,
};
