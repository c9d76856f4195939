/* experiments/cmd/arena_game.c -- who meets whom in the arena, and on what.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/arena_game.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/arena/tune.h"
#include "experiments/cmd/arena_words.h"
#include "experiments/cmd/cmd.h"
#include "experiments/spec/config.h"
#include "models/telemetry/telemetry.h"
#include "results/file.h"
#include "sim/text.h"

/* --- who ------------------------------------------------------------------- */

/* "flock" of "flock_tuned"; 0 if WORD is no such name. */
static int game_rival(const char *word, char rival[64])
{
	const size_t n = strlen(word), end = strlen(XP_ARENA_TUNED);
	if (n <= end || n - end >= 64 || *word == '{' ||
	    strcmp(word + n - end, XP_ARENA_TUNED) != 0)
		return 0;
	snprintf(rival, 64, "%.*s", (int)(n - end), word);
	return 1;
}

/* Values that were found on the runs to be judged would flatter. */
static int game_read_tuned(struct cmd_arena_game *g, struct sim_err *e)
{
	char *path = NULL;
	void *text = NULL;
	size_t n;
	if (g->tuned.text)
		return 0;
	int rc = cmd_find(&path, "tuned", "experiments/arena", ".tsv", e);
	if (rc == 0 && (rc = res_file_read(path, &text, &n, e)) == 0)
		rc = xp_arena_tuned_read(&g->tuned, text, path, e);
	if (rc == 0 && g->tuned.seed == g->seed)
		rc = sim_fail(e, SIM_EINVAL,
		    "%s: was found on runs of this very seed; take another "
		    "--seed-phrase.",
		    path);
	free(path);
	return rc;
}

/* On any telemetry. */
static int game_has_tuned(const struct cmd_arena_game *g, const char *rival)
{
	int any = 0;
	for (size_t i = 0; i < g->tuned.n; i++)
		any |= strcmp(g->tuned.row[i].algorithm, rival) == 0;
	return any;
}

static int game_take_list(struct cmd_arena_game *g, struct sim_err *e)
{
	struct sim_text t = {g->list, sizeof(g->list), 0};
	if (g->algorithms) {
		if (strlen(g->algorithms) >= sizeof(g->list))
			return sim_fail(e, SIM_EINVAL,
			    "--algorithms is longer than %zu bytes.",
			    sizeof(g->list) - 1);
		sim_put(&t, "%s", g->algorithms);
		return 0;
	}
	const int rc = g->tunes ? 0 : game_read_tuned(g, e);
	for (size_t i = 0; rc == 0 && xp_arena_algorithms[i]; i++) {
		char rival[64];
		const char *name = xp_arena_algorithms[i];
		if (game_rival(name, rival) ? game_has_tuned(g, rival)
					    : algo_find(name) != NULL)
			sim_put(&t, "%s%s", *g->list ? "," : "", name);
	}
	return rc;
}

/* What is known of one that TEXT describes. */
static int game_describe(struct cmd_arena_game *g, const char *source,
    const char *text, struct cmd_arena_algo *one, struct sim_err *e)
{
	struct sim_yaml y = {0};
	struct xp_algo algo = {0};
	int rc = sim_yaml_parse(&y, source, text, strlen(text), e);
	if (rc == 0 &&
	    (rc = xp_algo_read(&y, y.root, g->plugs, g->n_algos, &algo, e)) ==
		0)
		rc = sim_yaml_verdict(&y, e);
	if (rc == 0) {
		one->needs = algo.ops->needs;
		memcpy(one->label, algo.label, sizeof(one->label));
	}
	free(algo.params);
	sim_yaml_free(&y);
	return rc;
}

/* Its values differ by telemetry, its name and what it reads do not. */
static int game_describe_tuned(struct cmd_arena_game *g,
    struct cmd_arena_algo *one, struct sim_err *e)
{
	int rc = game_read_tuned(g, e);
	for (size_t i = 0; rc == 0 && i < g->tuned.n; i++) {
		const struct xp_arena_tuned_row *x = &g->tuned.row[i];
		if (strcmp(x->algorithm, one->rival) != 0)
			continue;
		rc = game_describe(g, "tuned.tsv", x->entry, one, e);
		if (rc == 0 && strcmp(one->label, one->text) != 0)
			rc = sim_fail(e, SIM_EPARSE,
			    "tuned.tsv: %s is labelled \"%s\".", one->text,
			    one->label);
	}
	if (rc == 0 && !game_has_tuned(g, one->rival))
		rc = sim_fail(e, SIM_EINVAL,
		    "--algorithms: %s: tuned.tsv has no values for \"%s\".",
		    one->text, one->rival);
	return rc;
}

static int game_read_algo(struct cmd_arena_game *g, char *text,
    struct sim_err *e)
{
	struct cmd_arena_algo *one = &g->algo[g->n_algos];
	if (g->n_algos == ARENA_MAX_ALGOS)
		return sim_fail(e, SIM_EINVAL, "more than %d --algorithms.",
		    ARENA_MAX_ALGOS);
	one->text = text;
	const int rc = game_rival(text, one->rival)
	    ? game_describe_tuned(g, one, e)
	    : game_describe(g, "--algorithms", text, one, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < g->n_algos; i++)
		if (strcmp(g->algo[i].label, one->label) == 0)
			return sim_fail(e, SIM_EINVAL,
			    "--algorithms: two are labelled \"%s\"; give one a "
			    "`label` of its own.",
			    one->label);
	g->n_algos++;
	return 0;
}

static int game_read_algos(struct cmd_arena_game *g, struct sim_err *e)
{
	int rc = game_take_list(g, e);
	for (char *at = g->list, *next = at; rc == 0 && next; at = next) {
		char *end = cmd_arena_word_end(at);
		next = *end ? end + 1 : NULL;
		*end = '\0';
		rc = game_read_algo(g, at, e);
	}
	return rc;
}

/* --- what they are asked for ----------------------------------------------- */

static int game_check_lists(const struct cmd_arena_game *g, struct sim_err *e)
{
	const char *name[16];
	size_t n = 0;
	while (xp_arena_families[n])
		n++;
	int rc = cmd_arena_check_words("--families", g->families,
	    xp_arena_families, n, e);
	for (n = 0; xp_arena_telemetries[n].name; n++)
		name[n] = xp_arena_telemetries[n].name;
	return rc < 0 ? rc
		      : cmd_arena_check_words("--telemetries", g->telemetries,
			    name, n, e);
}

static unsigned game_lacks(const struct cmd_arena_game *g, size_t algo,
    size_t telemetry)
{
	return g->algo[algo].needs &
	    ~telemetry_holds(xp_arena_telemetries[telemetry].kinds);
}

/* Whoever is named and reads nothing that is asked for would not be missed. */
static int game_check_reads(const struct cmd_arena_game *g, struct sim_err *e)
{
	for (size_t i = 0; g->algorithms && i < g->n_algos; i++) {
		const struct xp_arena_telemetry *asked = NULL;
		unsigned lacks = 1;
		int may = 0;
		for (size_t t = 0; !may && xp_arena_telemetries[t].name; t++) {
			if (!cmd_arena_is_asked(g->telemetries,
				xp_arena_telemetries[t].name))
				continue;
			asked = &xp_arena_telemetries[t];
			lacks = game_lacks(g, i, t);
			may = cmd_arena_reads(g, i, t);
		}
		if (may || !asked)
			continue;
		return lacks
		    ? sim_fail(e, SIM_EINVAL,
			  "--algorithms: %s reads none of --telemetries; %s "
			  "has no %s.",
			  g->algo[i].label, asked->name, obs_part_text(lacks))
		    : sim_fail(e, SIM_EINVAL,
			  "--algorithms: tuned.tsv has no values of %s for any "
			  "of --telemetries.",
			  g->algo[i].label);
	}
	return 0;
}

int cmd_arena_game_open(struct cmd_arena_game *g, struct sim_err *e)
{
	int rc;
	if ((rc = plug_set_open(&g->plugs, "", e)) < 0 ||
	    (rc = game_read_algos(g, e)) < 0 ||
	    (rc = game_check_lists(g, e)) < 0)
		return rc;
	return game_check_reads(g, e);
}

void cmd_arena_game_close(struct cmd_arena_game *g)
{
	plug_set_free(g->plugs);
	xp_arena_tuned_free(&g->tuned);
}

int cmd_arena_reads(const struct cmd_arena_game *g, size_t algo,
    size_t telemetry)
{
	const struct cmd_arena_algo *a = &g->algo[algo];
	return !a->slow && !game_lacks(g, algo, telemetry) &&
	    (!*a->rival || xp_arena_tuned_find(&g->tuned, telemetry, a->rival));
}

int cmd_arena_is_read(const struct cmd_arena_game *g, size_t telemetry)
{
	int any = 0;
	for (size_t i = 0; i < g->n_algos; i++)
		any |= cmd_arena_reads(g, i, telemetry);
	return any &&
	    cmd_arena_is_asked(g->telemetries,
		xp_arena_telemetries[telemetry].name);
}

int cmd_arena_is_due(const struct cmd_arena_game *g, size_t family,
    size_t telemetry)
{
	return cmd_arena_is_asked(g->families, xp_arena_families[family]) &&
	    cmd_arena_is_read(g, telemetry);
}

/* --- specs ----------------------------------------------------------------- */

/* The assignment of those that take part with that telemetry. */
static void game_put_algos(const struct cmd_arena_game *g, size_t telemetry,
    struct sim_text *t)
{
	const char *comma = "";
	sim_put(t, "algorithms=[");
	for (size_t i = 0; i < g->n_algos; i++) {
		const struct cmd_arena_algo *a = &g->algo[i];
		if (!cmd_arena_reads(g, i, telemetry))
			continue;
		sim_put(t, "%s%s", comma,
		    *a->rival
			? xp_arena_tuned_find(&g->tuned, telemetry, a->rival)
			      ->entry
			: a->text);
		comma = ", ";
	}
	sim_put(t, "]");
}

int cmd_arena_load(const struct cmd_arena_game *g,
    const struct xp_arena_size *size, size_t family, size_t telemetry,
    const char *algorithms, struct xp_spec *s, struct sim_err *e)
{
	const char *name = xp_arena_families[family];
	char algos[4 * ARENA_TEXT], seed[64], runs[32], *path = NULL;
	const char *set[ARENA_MAX_SET + 8];
	struct sim_text t = {algos, sizeof(algos), 0};
	size_t n = 0;
	game_put_algos(g, telemetry, &t);
	if (t.n >= t.size)
		return sim_fail(e, SIM_ELIMIT,
		    "all --algorithms together take more than %zu bytes.",
		    t.size - 1);
	snprintf(seed, sizeof(seed), "seed=%" PRIu64,
	    g->tunes ? xp_tune_seed(g->seed + family) : g->seed);
	snprintf(runs, sizeof(runs), "runs=%" PRIu32, size->runs);
	set[n++] = seed;
	if (!cmd_is_set("runs", g->set->set, g->set->n_set))
		set[n++] = runs;
	if (!cmd_is_set("sweep.zip.topology", g->set->set, g->set->n_set))
		set[n++] = size->topologies;
	if (!g->tunes)
		set[n++] = XP_ARENA_EARLY;
	set[n++] = xp_arena_telemetries[telemetry].set;
	set[n++] = algorithms ? algorithms : algos;
	if (strcmp(name, "hot_tor") == 0)
		set[n++] = size->one_rack;
	for (size_t i = 0; i < g->set->n_set; i++)
		set[n++] = g->set->set[i];
	int rc = cmd_find(&path, name, "experiments/arena", ".yaml", e);
	if (rc == 0 &&
	    (rc = xp_spec_load_with(s, g->plugs, path, 0, set, n, e)) == 0)
		cmd_warn(s);
	free(path);
	return rc;
}
