/* experiments/cmd/diagnose.c -- culprit diagnose: algorithms on an epoch's file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/epoch/replay.h"

struct args {
	const char *epoch, *blame;
	struct cmd_set set, algorithms;
	int json, unsealed;
};

static void take_algorithm(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_set *s = to;
	if (s->n_set == g->option->max)
		argp_error(g->state, "more than %d --%s", (int)g->option->max,
		    g->option->name);
	s->set[s->n_set++] = arg;
}

static const struct cmd_option cmd_diagnose_options[] = {
    {"algorithm", 'a', "ALGO",
	"one as in a spec, vote or '{name: alg1, adjust: removal}', or the "
	"label of one of the file's spec; may be repeated (default: all of the "
	"file's spec)",
	.take = take_algorithm, .at = CMD_AT(algorithms), .max = 64},
    {"set", 's', "PATH=VALUE",
	"override a key of the file's algorithms, e.g. "
	"algorithms.0.threshold=0.02; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {"json", 0, NULL, "all that is ranked and scored, as JSON",
	.take = cmd_take_flag, .at = CMD_AT(json)},
    {"blame", 'b', "FILE",
	"write whom each algorithm blames for each failed flow, as TSV",
	.take = cmd_take_file, .at = CMD_AT(blame)},
    {"unsealed", 0, NULL,
	"EPOCH may be without a checksum, as a program of your own leaves it",
	.take = cmd_take_flag, .at = CMD_AT(unsealed)},
    {0},
};

static const struct cmd_line cmd_diagnose_line = {
    .options = cmd_diagnose_options,
    .word = {"EPOCH", .take = cmd_take_one, .at = CMD_AT(epoch)},
    .without = "which EPOCH?",
    .args_doc = "EPOCH",
    .doc =
	"Run algorithms on the epoch of a file that `culprit dump` wrote, or "
	"a program of your own in that format (results/epoch.h), and print "
	"what they say, with scores if the file has the truth.\v"
	"Algorithms of the file's spec say and score to the last bit what "
	"they did in the cell; ties that they break at random are broken "
	"alike. `culprit algos NAME` lists an algorithm's parameters.\n\n"
	"Exit codes: 0 good; 2 the command line is wrong, or an algorithm "
	"reads what the file has not; 3 the file can't be read, or a program "
	"or "
	"plug-in failed, which costs no other its answer.",
};

/* What is wrong with the command line alone is the user's; all about the file
 * is trouble, though its codes are those of parsing. */
static int diagnose_code(int rc)
{
	return rc == SIM_EINVAL || rc == SIM_EUNSUPPORTED ? CMD_USAGE
							  : CMD_TROUBLE;
}

static int diagnose_write_blame(const struct xp_replay *r, const char *path,
    struct sim_err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for %s.", path);
	xp_replay_print_blame(r, out);
	const int rc = fclose(out) == 0
	    ? cmd_write_file(path, text, n, e)
	    : sim_fail(e, SIM_ENOMEM, "no memory for %s.", path);
	free(text);
	return rc;
}

int cmd_diagnose(int argc, char **argv)
{
	struct args a = {.epoch = NULL};
	struct xp_replay r = {0};
	struct sim_err e = {0};
	cmd_parse(&cmd_diagnose_line, argc, argv, &a);
	const struct xp_replay_asks asks = {
	    .algorithm = a.algorithms.set,
	    .n_algorithms = a.algorithms.n_set,
	    .set = a.set.set,
	    .n_set = a.set.n_set,
	    .any = a.unsealed,
	};
	char *const epoch = (char *)(uintptr_t)a.epoch;
	int rc =
	    a.blame ? cmd_check_output("--blame", a.blame, &epoch, 1, &e) : 0;
	if (rc == 0)
		rc = xp_replay_open(&r, a.epoch, &asks, &e);
	if (rc == 0)
		rc = xp_replay_run(&r, &e);
	if (rc == 0 && a.json)
		xp_replay_print_json(&r, stdout);
	else if (rc == 0)
		xp_replay_print(&r, stdout);
	if (rc == 0 && a.blame)
		rc = diagnose_write_blame(&r, a.blame, &e);
	const struct sim_err *failed = rc == 0 ? xp_replay_failed(&r) : NULL;
	int code = rc < 0 ? cmd_fail(diagnose_code(rc), &e) : CMD_GOOD;
	if (failed)
		code = cmd_fail(CMD_TROUBLE, failed);
	if (rc == SIM_EPARSE && !a.unsealed)
		fprintf(stderr,
		    "culprit: what a program of your own wrote is read with "
		    "--unsealed.\n");
	xp_replay_free(&r);
	return code;
}
