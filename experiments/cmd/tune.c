/* experiments/cmd/tune.c -- culprit tune: parameters that do best on a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/arena/tune.h"
#include "experiments/cmd/cmd.h"
#include "experiments/spec/config.h"
#include "experiments/sweep/expect.h"
#include "models/clock.h"
#include "sim/text.h"

enum { TUNE_MAX_SET = 64 };

struct args {
	struct cmd_words word; /* spec, algorithm */
	struct cmd_set set, key;
	uint32_t n_tries;
	int smoke, quiet, yes;
};

static const struct cmd_option cmd_tune_options[] = {
    {"key", 'k', "NAME=FROM..TO",
	"a parameter to vary and its range; may be repeated (default: those "
	"usual for the algorithm)",
	.take = cmd_take_set, .at = CMD_AT(key), .max = XP_TUNE_MAX_KEYS},
    {"tries", 'n', "N", "combinations to try (default: 60)",
	.take = cmd_take_u32, .at = CMD_AT(n_tries), .min = 3,
	.max = XP_TUNE_MAX_TRIES},
    {"set", 's', "PATH=VALUE",
	"override a key of SPEC, e.g. runs=50; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = TUNE_MAX_SET},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"quiet", 'q', NULL, "what to paste alone", .take = cmd_take_flag,
	.at = CMD_AT(quiet)},
    {"yes", 'y', NULL,
	"go on, however long it takes, of which nothing is said then, and "
	"whatever memory",
	.take = cmd_take_flag, .at = CMD_AT(yes)},
    {0},
};

static void cmd_tune_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->word.n != 2)
		argp_error(state, "one SPEC and one ALGORITHM");
}

static const struct cmd_line cmd_tune_line = {
    .options = cmd_tune_options,
    .word = {"SPEC", .take = cmd_take_all, .at = CMD_AT(word)},
    .without = "which SPEC and ALGORITHM?",
    .check = cmd_tune_check,
    .args_doc = "SPEC ALGORITHM",
    .doc =
	"Which parameters of ALGORITHM, a name or a mapping as in a spec, have "
	"the greatest F on SPEC, in the mean over windows with a fault? Its "
	"own "
	"are tried first. Prints what was tried and, at the end, the best as "
	"an entry of `algorithms:` to paste.\v"
	"The runs are as many as SPEC has, of another seed, which follows from "
	"its own: none that SPEC itself has is tuned on, so that `culprit run` "
	"with both, ALGORITHM as it is and as it was tuned, is a fair judge. "
	"The same command prints the same again.",
};

/* --- what is printed ------------------------------------------------------ */

static void tune_print(const struct xp_tune *t, const struct xp_spec *s)
{
	printf("# %s: %zu windows with a fault, of %zu points and %" PRIu32
	       " runs, seed %" PRIu64 "\n",
	    s->figure, t->n_windows, s->n_points, s->runs, s->seed);
	for (size_t k = 0; k < t->n_keys; k++)
		printf("%s\t", t->key[k].field->name);
	printf("f\n");
	for (size_t i = 0; i < t->n; i++) {
		for (size_t k = 0; k < t->n_keys; k++)
			printf("%.9g\t", t->tried[i].value[k]);
		if (isnan(t->tried[i].f))
			printf("refused\n");
		else
			printf("%.4f%s\n", t->tried[i].f,
			    i == t->best ? "\tbest" : "");
	}
}

static void tune_print_best(const struct xp_tune *t, const char *text)
{
	char entry[1024];
	struct sim_text out = {entry, sizeof(entry), 0};
	xp_tune_put(t, &t->tried[t->best], text, ", tuned", &out);
	printf("%s\n", t->best == 0 ? text : entry);
}

/* --- the whole ------------------------------------------------------------ */

static int tune_read_algo(struct xp_algo *algo, const char *text,
    struct sim_err *e)
{
	struct sim_yaml y = {0};
	struct plug_set *none;
	int rc = plug_set_open(&none, "", e);
	if (rc < 0)
		return rc;
	if ((rc = sim_yaml_parse(&y, "ALGORITHM", text, strlen(text), e)) ==
		0 &&
	    (rc = xp_algo_read(&y, y.root, none, 0, algo, e)) == 0)
		rc = sim_yaml_verdict(&y, e);
	if (rc == 0 && algo->plug)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "ALGORITHM is a program, whose parameters are not known.");
	sim_yaml_free(&y);
	plug_set_free(none);
	return rc;
}

static int tune_keys(struct xp_tune *t, const struct args *a, struct sim_err *e)
{
	int rc = 0;
	if (a->key.n_set == 0)
		return xp_tune_usual(t, e);
	for (size_t i = 0; rc == 0 && i < a->key.n_set; i++)
		if ((rc = xp_tune_add(t, a->key.set[i], e)) < 0)
			sim_wrap(e, rc, "--key");
	return rc;
}

/* SPEC with the seed of the other half, which follows from its own. Its own
 * algorithms are not asked, and so may be such as could not be. */
static int tune_load(struct xp_spec *s, const struct args *a,
    const struct xp_algo *algo, struct sim_err *e)
{
	const char *set[TUNE_MAX_SET + 2];
	char seed[64], algorithms[128], *path = NULL;
	size_t n = 0;
	int rc = cmd_find(&path, a->word.word[0], "experiments", ".yaml", e);
	snprintf(algorithms, sizeof(algorithms), "algorithms=[%s]",
	    algo->ops->name);
	for (size_t i = 0; i < a->set.n_set; i++)
		set[n++] = a->set.set[i];
	set[n++] = algorithms;
	if (rc == 0 && (rc = xp_spec_load(s, path, a->smoke, set, n, e)) == 0) {
		cmd_warn(s);
		snprintf(seed, sizeof(seed), "seed=%" PRIu64,
		    xp_tune_seed(s->seed));
		xp_spec_free(s);
		set[n++] = seed;
		rc = xp_spec_load(s, path, a->smoke, set, n, e);
	}
	free(path);
	return rc;
}

/* Scores as xp_tune_on() does, and tells if that will take long. */
struct tune_told {
	struct xp_tune_specs specs;
	struct xp_expect expect;
	struct res_progress tries;
};

static int tune_on_told(void *arg, struct xp_tune *t, size_t first, size_t n,
    struct sim_err *e)
{
	struct tune_told *x = arg;
	struct xp_progress none = {0};
	const int rc = xp_tune_on(&x->specs, t, first, n, e);
	x->tries.n_done = first + n;
	if (rc == 0)
		xp_expect_update(&x->expect, &none, &x->tries, clock_now());
	return rc;
}

static int tune_all(struct xp_tune *t, struct xp_spec *s, const struct args *a,
    struct xp_algo *algo, struct sim_err *e)
{
	struct xp_spec *const specs[] = {s};
	struct tune_told on = {.specs = {specs, 1},
	    .expect = {.out = a->yes ? NULL : stderr,
		.answers = -1,
		.long_s = XP_EXPECT_LONG_S,
		.unit = "combinations",
		.keeps_nothing = 1},
	    .tries = {.n_cells = a->n_tries + 1}};
	int rc = tune_read_algo(algo, a->word.word[1], e);
	t->algo = algo;
	if (rc == 0 && (rc = tune_keys(t, a, e)) == 0 &&
	    (rc = tune_load(s, a, algo, e)) == 0 &&
	    (rc = cmd_check_memory(s, 1, 1, a->yes, e)) == 0) {
		xp_expect_start(&on.expect, &on.tries, 1, 1, clock_now());
		rc = xp_tune_search(t, a->n_tries, tune_on_told, &on, e);
	}
	return rc;
}

int cmd_tune(int argc, char **argv)
{
	struct args a = {.n_tries = 60};
	struct xp_tune t = {0};
	struct xp_spec s = {0};
	struct xp_algo algo = {0};
	struct sim_err e = {0};
	int code = CMD_GOOD;
	cmd_parse(&cmd_tune_line, argc, argv, &a);
	const int rc = tune_all(&t, &s, &a, &algo, &e);
	if (rc < 0) {
		code = cmd_fail(cmd_exit_of(rc), &e);
	} else {
		if (!a.quiet)
			tune_print(&t, &s);
		tune_print_best(&t, a.word.word[1]);
	}
	xp_tune_free(&t);
	xp_spec_free(&s);
	free(algo.params);
	return code;
}
