/* experiments/cmd/arena.c -- culprit arena: all algorithms, all telemetries.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/arena/cpu.h"
#include "experiments/arena/tune.h"
#include "experiments/cmd/arena_game.h"
#include "experiments/cmd/arena_plot.h"
#include "experiments/cmd/arena_tell.h"
#include "experiments/cmd/arena_tune.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/signals.h"
#include "experiments/sweep/expect.h"
#include "experiments/sweep/progress.h"
#include "experiments/sweep/run.h"
#include "models/clock.h"
#include "sim/text.h"

#define ARENA_SLOW_S 0.02
#define ARENA_PHRASE "culprit arena 1"

struct args {
	const char *size, *algorithms, *families, *telemetries, *phrase;
	const char *output, *tune;
	struct cmd_set set;
	uint32_t n_workers; /* 0: not asked for */
	int force, fresh, quiet, plot, yes;
};

static const char *const cmd_arena_sizes[] = {"s", "m", "l", NULL};

static const struct cmd_option cmd_arena_options[] = {
    {.doc = "What to run:"},
    {"size", 0, "s|m|l",
	"how large networks are, and how many runs (default: s)",
	.take = cmd_take_text, .at = CMD_AT(size), .values = cmd_arena_sizes},
    {"algorithms", 0, "A,B,...",
	"these, each as in a spec: flock, or '{name: flock, beam: 4, label: "
	"wide}', or one of yours, '{exec: \"python3 mine.py\"}' or '{plugin: "
	"mine.so}', looked for from here; flock_tuned is flock with the values "
	"that did best on other runs (default: all that accuse links of "
	"such telemetry, and rivals tuned so)",
	.take = cmd_take_file, .at = CMD_AT(algorithms)},
    {"families", 0, "A,...", "of faults (default: all)", .take = cmd_take_file,
	.at = CMD_AT(families)},
    {"telemetries", 0, "A,...", "(default: all)", .take = cmd_take_file,
	.at = CMD_AT(telemetries)},
    {"seed-phrase", 0, "TEXT",
	"what all draws follow from (default: \"" ARENA_PHRASE "\")",
	.take = cmd_take_file, .at = CMD_AT(phrase)},
    {"set", 's', "PATH=VALUE",
	"override a key of all specs, e.g. runs=50; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = ARENA_MAX_SET},
    {.doc = "How:"},
    {"jobs", 'j', "N", "worker processes (default: all processors)",
	.take = cmd_take_u32, .at = CMD_AT(n_workers), .min = 1, .max = 4096},
    {"tune", 0, "FILE",
	"judge nobody, but find the values of parameters that do best on as "
	"many runs of another seed, and write them to FILE; of "
	"experiments/arena/tuned.tsv those labelled _tuned have theirs",
	.take = cmd_take_file, .at = CMD_AT(tune)},
    {"quiet", 'q', NULL, "no progress", .take = cmd_take_flag,
	.at = CMD_AT(quiet)},
    {"yes", 'y', NULL,
	"go on, however long it takes, of which nothing is said then, and "
	"whatever memory",
	.take = cmd_take_flag, .at = CMD_AT(yes)},
    {.doc = "Where to:"},
    {"output", 'o', "DIR", "a folder (default: results/out/arena)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace results of another size, phrase, list or version; they are "
	"kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {"fresh", 0, NULL, "start over whatever DIR holds", .take = cmd_take_flag,
	.at = CMD_AT(fresh)},
    {"plot", 0, NULL,
	"time networks of all sizes, too, and draw DIR/arena_front, arena_map, "
	"arena_cd and arena_scaling",
	.take = cmd_take_flag, .at = CMD_AT(plot)},
    {.doc = "Help:", .group = -1},
    {0},
};

static const struct xp_arena_size *arena_size(const char *name)
{
	const struct xp_arena_size *s = xp_arena_sizes;
	while (s->name && name && strcmp(s->name, name) != 0)
		s++;
	return s;
}

static void cmd_arena_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!arena_size(a->size)->name)
		argp_error(state, "--size \"%s\" is not s, m or l", a->size);
}

static void cmd_arena_more(FILE *out, const void *args)
{
	(void)args;
	fputs("Families:", out);
	for (size_t i = 0; xp_arena_families[i]; i++)
		fprintf(out, " %s", xp_arena_families[i]);
	fputs("\nTelemetries:", out);
	for (size_t i = 0; xp_arena_telemetries[i].name; i++)
		fprintf(out, " %s", xp_arena_telemetries[i].name);
	fputs("\n", out);
}

static const struct cmd_line cmd_arena_line = {
    .options = cmd_arena_options,
    .check = cmd_arena_check,
    .more = cmd_arena_more,
    .doc =
	"Run each family of faults (experiments/arena) with each telemetry, on "
	"three kinds of networks, with each algorithm that reads what the "
	"telemetry has, and print how well they did and what it cost.\v"
	"DIR gets FAMILY.TELEMETRY.h5, ordinary results, for each; scores.csv, "
	"pairs.csv with differences of F paired by run; standing.tsv, which "
	"`culprit verify arena` holds against results/expected/arena.tsv; "
	"front.tsv, map.tsv and cd.tsv of figures; and cpu.csv, which with "
	"scaling.tsv is measured and so differs every time. All else is the "
	"same bytes for "
	"any number of jobs and "
	"interruptions: the same command goes on where one was stopped.\n\n"
	"The same phrase gives the same faults, flows and losses to all "
	"algorithms and telemetries. F is the mean over windows that have a "
	"fault of the harmonic mean of precision and recall; families count "
	"alike. False alarms are of a day of windows of 30 s in which nothing "
	"fails. What telemetry costs is counted by rows and packets "
	"(telemetry.cost, telemetry.wire).\n\n"
	"Exit codes: 0 every cell is done; 2 the command line is wrong, or DIR "
	"holds other results; 3 cells failed or are left to do, or a file "
	"can't be read or written.",
};

struct arena {
	const struct args *a;
	const volatile sig_atomic_t *stop;
	struct cmd_arena_game game;
	unsigned n_workers;
	struct cmd_arena_told told;
	FILE *cpu_out;
	struct xp_progress display;
	struct xp_expect expect;
	struct res_progress done;
};

/* --- one sweep ------------------------------------------------------------- */

static void arena_complain(void *arg, const char *message)
{
	struct arena *x = arg;
	if (++x->told.n_failed <= 10)
		fprintf(stderr, "culprit: %s\n", message);
}

/* A row for each algorithm of S, which are those that read that telemetry. */
static void arena_put_cost(struct arena *x, FILE *out, char sep,
    const char *family, size_t telemetry, const struct xp_arena_cost *c)
{
	const char *name = xp_arena_telemetries[telemetry].name;
	for (size_t i = 0, k = 0; i < x->game.n_algos; i++) {
		struct cmd_arena_algo *a = &x->game.algo[i];
		if (!cmd_arena_reads(&x->game, i, telemetry))
			continue;
		a->most_s = fmax(a->most_s, c->of[k].s);
		fprintf(out, "%s%c%s%c%s%c%.0f%c%.6g%c%.6g\n", family, sep,
		    name, sep, a->label, sep, c->n_links, sep, c->of[k].s, sep,
		    c->of[k].bytes);
		k++;
	}
}

/* The first three points have a network of each kind. */
static int arena_time(struct arena *x, const char *family, size_t telemetry,
    struct xp_spec *s, FILE *out, char sep, struct sim_err *e)
{
	struct xp_arena_cost cost;
	int rc = 0;
	for (size_t p = 0; rc == 0 && p < 3 && p < s->n_points; p++) {
		rc = xp_arena_time(s, p, &cost, e);
		/* What fails here fails the cell, too, and costs no other family
		 * its numbers. */
		if (rc < 0 && rc != SIM_ENOMEM) {
			arena_complain(x, e->msg);
			rc = 0;
		}
		if (rc == 0)
			arena_put_cost(x, out, sep, family, telemetry, &cost);
	}
	return rc;
}

/* Nobody is asked, but told. */
static struct xp_expect arena_expect(const struct args *a)
{
	return (struct xp_expect){.out = a->yes ? NULL : stderr,
	    .answers = -1,
	    .long_s = XP_EXPECT_LONG_S};
}

static int arena_run(struct arena *x, size_t family, size_t telemetry,
    struct sim_err *e)
{
	struct xp_spec s = {0};
	struct res_cube c = {0};
	char out[4096];
	snprintf(out, sizeof(out), "%s/%s.%s.h5", x->told.dir,
	    xp_arena_families[family], xp_arena_telemetries[telemetry].name);
	const struct xp_run r = {.spec = &s,
	    .out = out,
	    .n_workers = x->n_workers,
	    .shard_n = 1,
	    .fresh = x->a->fresh,
	    .replace = x->a->force,
	    .expect = arena_expect(x->a),
	    .stop = x->stop,
	    .complain = arena_complain,
	    .arg = x};
	int rc = cmd_arena_load(&x->game, x->game.size, family, telemetry, NULL,
	    &s, e);
	if (rc == 0 &&
	    (rc = cmd_check_memory(&s, x->n_workers, 1, x->a->yes, e)) == 0 &&
	    (rc = cmd_make_way(out, e)) == 0)
		rc = xp_run_sweep(&r, &c, e);
	for (size_t i = 0; rc == 0 && i < c.n_rows; i++)
		x->told.n_lost += c.status[i] != RES_DONE;
	if (rc == 0)
		x->told.made_of = xp_arena_made_of(x->told.made_of, &c);
	if (rc == 0)
		rc = xp_arena_add(&x->told.standing, family, telemetry, &c, e);
	if (rc == 0)
		rc = xp_arena_ranks_add(&x->told.ranks,
		    xp_arena_families[family], telemetry, &c, e);
	if (rc == 0 && !*x->stop)
		rc = arena_time(x, xp_arena_families[family], telemetry, &s,
		    x->cpu_out, ',', e);
	res_cube_free(&c);
	xp_spec_free(&s);
	return rc;
}

static uint64_t arena_each(struct arena *x, int run, int *rc, struct sim_err *e)
{
	uint64_t n = 0;
	for (size_t f = 0; xp_arena_families[f]; f++)
		for (size_t t = 0; xp_arena_telemetries[t].name; t++) {
			if (*rc < 0 || *x->stop ||
			    !cmd_arena_is_due(&x->game, f, t))
				continue;
			n++;
			if (!run)
				continue;
			*rc = arena_run(x, f, t, e);
			x->done.n_done += *rc == 0 && !*x->stop;
			xp_progress_update(&x->display, &x->done, clock_now());
			xp_expect_update(&x->expect, &x->display, &x->done,
			    clock_now());
		}
	return n;
}

/* --- all sweeps ------------------------------------------------------------ */

static int arena_sweeps(struct arena *x, struct sim_err *e)
{
	int rc = 0;
	x->cpu_out = open_memstream(&x->told.cpu, &x->told.n_cpu);
	if (!x->cpu_out)
		return sim_fail(e, SIM_ENOMEM, "no memory for times.");
	fputs("family,telemetry,algorithm,links,cpu_s,memory_bytes\n",
	    x->cpu_out);
	x->done.n_cells = arena_each(x, 0, &rc, e);
	xp_progress_start(&x->display, x->a->quiet ? NULL : stderr, "arena",
	    "sweeps", &x->done, clock_now());
	x->expect = arena_expect(x->a);
	x->expect.unit = "sweeps";
	xp_expect_start(&x->expect, &x->done, 1, 1, clock_now());
	arena_each(x, 1, &rc, e);
	xp_progress_end(&x->display, &x->done, clock_now());
	if (fclose(x->cpu_out) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for times.");
	return rc;
}

/* --- networks of all sizes -------------------------------------------------- */

/* Of the first family. */
static int arena_scale(struct arena *x, const struct xp_arena_size *size,
    size_t telemetry, FILE *out, struct sim_err *e)
{
	struct xp_spec s = {0};
	int rc = cmd_arena_load(&x->game, size, 0, telemetry, NULL, &s, e);
	if (rc == 0)
		rc = arena_time(x, size->name, telemetry, &s, out, '\t', e);
	xp_spec_free(&s);
	return rc;
}

/* Who takes long for a window of one size would take minutes for the next. */
static void arena_leave_slow(struct arena *x)
{
	for (size_t i = 0; i < x->game.n_algos; i++)
		x->game.algo[i].slow = x->game.algo[i].most_s > ARENA_SLOW_S;
}

static uint64_t arena_scale_each(struct arena *x, FILE *out, int *rc,
    struct sim_err *e)
{
	uint64_t n = 0;
	for (size_t i = 0; xp_arena_sizes[i].name; i++) {
		for (size_t t = 0; xp_arena_telemetries[t].name; t++) {
			if (*rc < 0 || *x->stop ||
			    !cmd_arena_is_read(&x->game, t))
				continue;
			n++;
			if (!out)
				continue;
			*rc = arena_scale(x, &xp_arena_sizes[i], t, out, e);
			x->done.n_done++;
			xp_progress_update(&x->display, &x->done, clock_now());
		}
		if (out)
			arena_leave_slow(x);
	}
	return n;
}

/* Write DIR/scaling.tsv. */
static int arena_scaling(struct arena *x, struct sim_err *e)
{
	char path[4096], *text = NULL;
	size_t n = 0;
	int rc = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for times.");
	for (size_t i = 0; i < x->game.n_algos; i++)
		x->game.algo[i].most_s = 0;
	fputs("size\ttelemetry\talgorithm\tlinks\tcpu_s\tmemory_bytes\n", out);
	x->done =
	    (struct res_progress){.n_cells = arena_scale_each(x, NULL, &rc, e)};
	xp_progress_start(&x->display, x->a->quiet ? NULL : stderr, "scaling",
	    "networks", &x->done, clock_now());
	arena_scale_each(x, out, &rc, e);
	xp_progress_end(&x->display, &x->done, clock_now());
	if (fclose(out) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for times.");
	snprintf(path, sizeof(path), "%s/scaling.tsv", x->told.dir);
	if (rc == 0 && !*x->stop)
		rc = cmd_write_file(path, text, n, e);
	free(text);
	return rc;
}

/* --- the whole ------------------------------------------------------------- */

static int arena_plot(const struct arena *x, struct sim_err *e)
{
	char algos[ARENA_MAX_ALGOS * 70], title[128];
	struct sim_text t = {algos, sizeof(algos), 0};
	const struct xp_arena_standing *s = &x->told.standing;
	for (size_t i = 0; i < x->game.n_algos; i++)
		cmd_arena_put_label(&t, x->game.algo[i].label);
	snprintf(title, sizeof(title), "Arena %d, size %s, seed %" PRIu64,
	    XP_ARENA_VERSION, x->game.size->name, x->game.seed);
	const struct cmd_arena_plot p = {.dir = x->told.dir,
	    .title = title,
	    .algos = algos,
	    .made_of = x->told.made_of,
	    .n_runs = s->n > 0 ? s->entry[0].n_runs : 0};
	return cmd_arena_draw(&p, e);
}

static int arena_all_of_it(struct arena *x, struct sim_err *e)
{
	int rc = arena_sweeps(x, e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), e);
	if (*x->stop) {
		fprintf(stderr,
		    "culprit: stopped; the same command goes on from here.\n");
		return CMD_TROUBLE;
	}
	if ((rc = xp_arena_sum(&x->told.standing, e)) < 0 ||
	    (rc = cmd_arena_write(&x->told, e)) < 0 ||
	    (rc = cmd_arena_print(&x->told, e)) < 0)
		return cmd_fail(CMD_TROUBLE, e);
	if (x->a->plot &&
	    ((rc = arena_scaling(x, e)) < 0 || *x->stop ||
		(rc = arena_plot(x, e)) < 0))
		return rc < 0 ? cmd_fail(CMD_TROUBLE, e) : CMD_TROUBLE;
	return x->told.n_failed > 0 ? CMD_TROUBLE : CMD_GOOD;
}

/* Written once all is known, so that one that was stopped leaves what there was. */
static int arena_tune_it(struct arena *x, struct sim_err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return cmd_fail(CMD_TROUBLE, e);
	int rc = cmd_arena_tune(&x->game, x->n_workers, x->a->quiet, x->stop,
	    out, e);
	if (fclose(out) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for values.");
	if (rc == 0)
		rc = cmd_write_file(x->a->tune, text, n, e);
	free(text);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), e);
	return rc == 0 ? CMD_GOOD : CMD_TROUBLE;
}

static void arena_open(struct arena *x, const struct args *a)
{
	const uint64_t seed = xp_arena_seed(a->phrase);
	x->a = a;
	x->game = (struct cmd_arena_game){.algorithms = a->algorithms,
	    .families = a->families,
	    .telemetries = a->telemetries,
	    .set = &a->set,
	    .size = arena_size(a->size),
	    .seed = a->tune ? xp_tune_seed(seed) : seed,
	    .tunes = a->tune != NULL};
	x->told.size = x->game.size->name;
	x->told.phrase = a->phrase;
	x->told.tuned = &x->game.tuned;
	x->told.dir = a->output ? a->output : "results/out/arena";
	x->n_workers = a->n_workers ? a->n_workers : cmd_processors();
}

int cmd_arena(int argc, char **argv)
{
	struct args a = {.size = "s", .phrase = ARENA_PHRASE};
	struct arena *x = calloc(1, sizeof(*x));
	struct sim_err e = {0};
	int code, rc;
	cmd_parse(&cmd_arena_line, argc, argv, &a);
	if (!x)
		return CMD_TROUBLE;
	arena_open(x, &a);
	if ((rc = cmd_arena_game_open(&x->game, &e)) < 0) {
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	} else {
		x->stop = cmd_catch_signals();
		code = a.tune ? arena_tune_it(x, &e) : arena_all_of_it(x, &e);
	}
	xp_arena_free(&x->told.standing);
	xp_arena_ranks_free(&x->told.ranks);
	cmd_arena_game_close(&x->game);
	free(x->told.cpu);
	free(x);
	return code;
}
