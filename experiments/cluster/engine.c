/* experiments/cluster/engine.c -- scripts that run shards, and by whom.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cluster/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/file.h"

/* Two lists of the same, in one order. */
const struct xp_engine *const xp_engines[] = {&xp_engine_slurm,
    &xp_engine_parallel, &xp_engine_local, NULL};
const char *const xp_engine_names[] = {"slurm", "parallel", "local", NULL};

/* --- words ---------------------------------------------------------------- */

/* Within single quotes all bytes stand for themselves but the quote. */
static void put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}

void xp_put_word(FILE *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";
	if (*text && strspn(text, plain) == strlen(text))
		fputs(text, out);
	else
		put_quoted(out, text);
}

void xp_put_path(FILE *out, const struct xp_job *j, const char *name)
{
	char path[4400];
	snprintf(path, sizeof(path), "%s/%s", j->folder, name);
	xp_put_word(out, path);
}

/* --- scripts -------------------------------------------------------------- */

typedef void job_writer(FILE *out, const struct xp_job *j);

static void put_cd(FILE *out, const struct xp_job *j)
{
	fprintf(out, "\ncd ");
	xp_put_word(out, j->cwd);
	fprintf(out, " || exit\n");
}

static void put_shard(FILE *out, const struct xp_job *j)
{
	const struct xp_plan *p = j->plan;
	fprintf(out,
	    "#!/bin/sh\n"
	    "# One shard of %s, of %" PRIu32 ": `sh shard.sh I`; or, as a task "
	    "of an array or\n"
	    "# a rank of MPI, the one of that number. It goes on where it was "
	    "ended before.\n",
	    p->figure, p->n_shards);
	if (xp_engines[p->engine]->put_head)
		xp_engines[p->engine]->put_head(out, j, 0);
	put_cd(out, j);
	fprintf(out, "exec ");
	xp_put_word(out, j->program);
	fprintf(out, " run");
	for (size_t i = 0; j->words[i]; i++) {
		fputc(' ', out);
		xp_put_word(out, j->words[i]);
	}
	fprintf(out,
	    " \\\n    --quiet --jobs %" PRIu32 " --shard \"${1:-auto}/%" PRIu32
	    "\" -o ",
	    j->n_workers, p->n_shards);
	xp_put_path(out, j, "");
	fputc('\n', out);
}

static void put_merge(FILE *out, const struct xp_job *j)
{
	const struct xp_plan *p = j->plan;
	fprintf(out,
	    "#!/bin/sh\n"
	    "# All shards of %s as one file; what is missing is told, and "
	    "nothing written then.\n",
	    p->figure);
	if (xp_engines[p->engine]->put_head)
		xp_engines[p->engine]->put_head(out, j, 1);
	put_cd(out, j);
	fprintf(out, "exec ");
	xp_put_word(out, j->program);
	fprintf(out, " merge --force -o ");
	xp_put_word(out, p->output);
	fprintf(out, " \\\n    ");
	xp_put_path(out, j, p->figure);
	fprintf(out, ".*-of-%" PRIu32 ".h5\n", p->n_shards);
}

static void put_submit(FILE *out, const struct xp_job *j)
{
	const struct xp_plan *p = j->plan;
	fprintf(out,
	    "#!/bin/sh\n"
	    "# All %" PRIu32 " shards of %s by %s, or those named: `sh "
	    "submit.sh I...`; then the merge.\n",
	    p->n_shards, p->figure, xp_engine_names[p->engine]);
	xp_engines[p->engine]->put_submit(out, j);
}

static int write_script(const struct xp_job *j, const char *name,
    job_writer *put, struct sim_err *e)
{
	char path[4400], *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for a script.");
	put(out, j);
	snprintf(path, sizeof(path), "%s/%s", j->folder, name);
	int rc = ferror(out) | fclose(out)
	    ? sim_fail(e, SIM_ENOMEM, "no memory for a script.")
	    : res_file_write(path, text, n, e);
	free(text);
	/* To be typed by people, too; that it is a script they see anyhow. */
	if (rc == 0)
		(void)chmod(path, 0755);
	return rc;
}

/* A line break would end a line of options to Slurm, and be no option. */
static int job_check_words(const char *const words[], struct sim_err *e)
{
	for (size_t i = 0; words[i]; i++)
		for (const char *c = words[i]; *c; c++)
			if ((unsigned char)*c < ' ')
				return sim_fail(e, SIM_EINVAL,
				    "\"%.40s\" has a line break or a control "
				    "character in it.",
				    words[i]);
	return 0;
}

int xp_job_write(const struct xp_job *j, struct sim_err *e)
{
	const char *const paths[] = {j->folder, j->cwd, j->program,
	    j->plan->output, NULL};
	int rc;
	if ((rc = job_check_words(paths, e)) < 0 ||
	    (rc = job_check_words(j->words, e)) < 0 ||
	    (rc = job_check_words(j->extra, e)) < 0 ||
	    (rc = xp_plan_write(j->plan, j->folder, e)) < 0 ||
	    (rc = write_script(j, "shard.sh", put_shard, e)) < 0 ||
	    (rc = write_script(j, "merge.sh", put_merge, e)) < 0)
		return rc;
	return write_script(j, "submit.sh", put_submit, e);
}
