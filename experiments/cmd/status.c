/* experiments/cmd/status.c -- culprit status: how much of a sweep is done.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/status_cluster.h"
#include "experiments/sweep/journal.h"
#include "experiments/sweep/run.h"
#include "experiments/sweep/state.h"
#include "results/json.h"
#include "results/shards.h"
#include "sim/text.h"
#include "sim/vec.h"

struct args {
	struct cmd_words files;
	int json, cluster;
};

static void print_counts(const struct res_progress *p)
{
	printf(", \"cells\": %llu, \"done\": %llu, \"failed\": %llu, "
	       "\"crashed\": %llu",
	    (unsigned long long)p->n_cells, (unsigned long long)p->n_done,
	    (unsigned long long)p->n_failed, (unsigned long long)p->n_crashed);
}

/* --- one file ------------------------------------------------------------- */

static void print_state(const struct res_cube *c, const char *path, int json)
{
	const struct res_progress p = res_cube_progress(c);
	if (!json) {
		cmd_print_cells(c, path);
		return;
	}
	printf("{\"file\": ");
	res_json_text(stdout, path);
	res_json_text_of(stdout, "figure", c->figure);
	print_counts(&p);
	if (c->shard_n > 1)
		printf(", \"shard\": %u, \"shards\": %u", c->shard_i + 1,
		    c->shard_n);
	if (c->partial)
		res_json_text_of(stdout, "partial", c->partial);
	cmd_print_until_json(c);
	printf("}\n");
}

/* Without results only the journal tells, and without the spec it tells no more
 * than how many cells are done. */
static int print_journal(const char *path, int json, struct sim_err *e)
{
	char *journal;
	uint64_t n_done;
	int rc = xp_run_path(&journal, path, ".journal", e);
	if (rc < 0)
		return rc;
	if ((rc = xp_journal_count(journal, &n_done, e)) == 0 && json) {
		printf("{\"file\": ");
		res_json_text(stdout, path);
		printf(", \"figure\": null, \"cells\": null, \"done\": %llu, "
		       "\"failed\": null, \"crashed\": null}\n",
		    (unsigned long long)n_done);
	} else if (rc == 0) {
		printf("%s: %llu cells done, no results yet -> %s\n", journal,
		    (unsigned long long)n_done, path);
	}
	free(journal);
	return rc;
}

/* --- all shards of a sweep ------------------------------------------------ */

/* What was seen of the shards of one sweep. */
struct set {
	char *figure;
	uint64_t key, build; /* of cubes that belong together */
	uint64_t n_cells;    /* of the whole */
	uint32_t n;
	struct res_shard_state *state; /* [n] */
};

struct sets {
	struct set *set;
	size_t n, cap;
};

static void free_sets(struct sets *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->set[i].figure);
		free(s->set[i].state);
	}
	free(s->set);
}

/* The set that C belongs to; a new one if there is none. */
static int find_set(struct sets *s, const struct res_cube *c, struct set **out,
    struct sim_err *e)
{
	const uint64_t key = res_cube_key(c), build = res_cube_build_key(c);
	int rc = SIM_RESERVE(&s->set, &s->cap, s->n + 1, e);
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		if (s->set[i].key == key && s->set[i].build == build &&
		    s->set[i].n == c->shard_n) {
			*out = &s->set[i];
			return 0;
		}
	if (rc < 0)
		return rc;
	struct set *x = &s->set[s->n++];
	*x = (struct set){.key = key,
	    .build = build,
	    .n_cells = res_cube_cells(c),
	    .n = c->shard_n};
	*out = x;
	return (rc = sim_dup(&x->figure, c->figure, e)) < 0
	    ? rc
	    : SIM_ZALLOC(&x->state, x->n, e);
}

/* Of one shard in two files the one that is farther counts. */
static int note_shard(struct sets *s, const struct res_cube *c,
    struct sim_err *e)
{
	const struct res_progress p = res_cube_progress(c);
	struct set *x;
	int rc = c->shard_n > 1 ? find_set(s, c, &x, e) : 0;
	if (rc < 0 || c->shard_n <= 1)
		return rc;
	struct res_shard_state *to = &x->state[c->shard_i];
	if (!to->there || p.n_done > to->cells.n_done)
		*to = (struct res_shard_state){1, p};
	return 0;
}

static void print_list(const char *name, const struct set *x, int there)
{
	const char *mark = "";
	printf(", \"%s\": [", name);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct res_shard_state *s = &x->state[i];
		const int is_done = s->cells.n_done == s->cells.n_cells;
		if ((int)s->there != there || (there && is_done))
			continue;
		printf("%s%u", mark, i + 1);
		mark = ", ";
	}
	putchar(']');
}

static void print_set(const struct set *x, const struct res_progress *p,
    uint32_t n_there, const char *lack, int json)
{
	if (json) {
		printf("{\"file\": null, \"figure\": ");
		res_json_text(stdout, x->figure);
		print_counts(p);
		printf(", \"shards\": %u", x->n);
		print_list("missing", x, 0);
		print_list("unfinished", x, 1);
		printf("}\n");
		return;
	}
	printf("%s: %u of %u shards, %llu of %llu cells done", x->figure,
	    n_there, x->n, (unsigned long long)p->n_done,
	    (unsigned long long)p->n_cells);
	if (p->n_failed + p->n_crashed > 0)
		printf(", %llu failed",
		    (unsigned long long)(p->n_failed + p->n_crashed));
	printf("%s%s\n", *lack ? "; " : "", lack);
}

/* One line of the whole. Returns CMD_GOOD if it is all done. */
static int say_set(const struct set *x, int json, struct sim_err *e)
{
	struct res_progress sum = {.n_cells = x->n_cells};
	uint32_t n_there = 0;
	char *lack;
	for (uint32_t i = 0; i < x->n; i++) {
		n_there += x->state[i].there;
		sum.n_done += x->state[i].cells.n_done;
		sum.n_failed += x->state[i].cells.n_failed;
		sum.n_crashed += x->state[i].cells.n_crashed;
	}
	if (res_shards_say(x->state, x->n, &lack, e) < 0)
		return cmd_fail(CMD_TROUBLE, e);
	print_set(x, &sum, n_there, lack, json);
	free(lack);
	return sum.n_done == sum.n_cells ? CMD_GOOD : CMD_TROUBLE;
}

/* --- the verb ------------------------------------------------------------- */

/* The exit code for one file. */
static int say_state(const char *name, int json, struct sets *sets)
{
	struct res_cube c = {0};
	struct sim_err e = {0};
	char *path = NULL, *cluster;
	int code = CMD_TROUBLE, rc = cmd_find_results(&path, name, &e);
	/* Of shards that are not merged yet there is a folder. */
	if ((rc < 0 || cmd_is_folder(path)) &&
	    cmd_find_cluster(&cluster, name, NULL) == 0) {
		free(path);
		code = cmd_status_folder(cluster, json);
		free(cluster);
		return code;
	}
	/* A sweep that was killed early has a journal alone. */
	if (rc == 0 && access(path, F_OK) != 0) {
		rc = print_journal(path, json, &e);
	} else if (rc == 0 && (rc = xp_state_read(&c, path, &e)) == 0) {
		const struct res_progress p = res_cube_progress(&c);
		print_state(&c, path, json);
		if (p.n_done == p.n_cells)
			code = CMD_GOOD;
		rc = note_shard(sets, &c, &e);
	}
	res_cube_free(&c);
	free(path);
	return rc < 0 ? cmd_fail(CMD_TROUBLE, &e) : code;
}

static void cmd_status_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->files.n == 0 && !a->cluster)
		argp_error(state, "which FILE?");
}

int cmd_status(int argc, char **argv)
{
	static const struct cmd_option options[] = {
	    {"cluster", 0, NULL,
		"of the shards of `culprit submit`: which are done, running, "
		"queued, failed or missing; without a name, of all of them",
		.take = cmd_take_flag, .at = CMD_AT(cluster)},
	    {"json", 0, NULL, "JSON, one object a line", .take = cmd_take_flag,
		.at = CMD_AT(json)},
	    {0},
	};
	static const struct cmd_line line = {
	    .options = options,
	    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
	    .check = cmd_status_check,
	    .args_doc = "FILE|FIGURE...",
	    .doc = "Say how many cells of a sweep are done, failed and "
		   "crashed, also while it runs: of results/out/FIGURE.h5 or "
		   "another FILE, and its journal.\v"
		   "Of several FILEs that are shards of a sweep (`culprit run "
		   "--shard`) a last line is of the whole: which shards have "
		   "no file, and in which cells are left to do.\n\n"
		   "Exit codes: 0 all cells of all FILEs are done, and of the "
		   "whole if they are shards; 2 the command line "
		   "is wrong; 3 otherwise.",
	};
	struct args a = {0};
	struct sets sets = {0};
	struct sim_err e = {0};
	int code = CMD_GOOD;
	cmd_parse(&line, argc, argv, &a);
	if (a.cluster)
		return cmd_status_cluster(&a.files, a.json);
	for (size_t i = 0; i < a.files.n; i++)
		if (say_state(a.files.word[i], a.json, &sets) != CMD_GOOD)
			code = CMD_TROUBLE;
	/* Who asks after one shard does not ask after the others. */
	for (size_t i = 0; i < sets.n && a.files.n > 1; i++)
		if (say_set(&sets.set[i], a.json, &e) != CMD_GOOD)
			code = CMD_TROUBLE;
	free_sets(&sets);
	return code;
}
