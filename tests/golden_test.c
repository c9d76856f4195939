/* tests/golden_test.c -- tiny specs over all planes keep their numbers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Other tests ask whether numbers are right; this one whether they are still
 * the same, which no law can tell of a random stream that gave way to another
 * as good. Each spec of tests/golden/ is run whole, and of each metric and
 * algorithm a line in numbers.tsv tells the sum over all cells and a checksum
 * of each cell's value, rounded to 10 digits, so that a machine whose libm
 * differs in the last place agrees.
 *
 * Numbers are changed on purpose only: GOLDEN=write writes numbers.tsv anew,
 * and the test stays red until the program's version is a new one and the last
 * line of history.tsv names it, with the checksum of numbers.tsv and a reason.
 */
#include <glob.h>
#include <inttypes.h>

#include "algos/algo.h"
#include "experiments/spec/plane.h"
#include "experiments/sweep/trial.h"
#include "results/provenance.h"
#include "results/schema.h"
#include "sim/bytes.h"
#include "tests/test.h"

#define FOLDER "tests/golden/"

/* --- the numbers, anew ---------------------------------------------------- */

struct column {
	double sum;
	uint64_t hash;
	size_t n; /* measured */
};

static void column_add(struct column *c, double x)
{
	char text[32];
	const int n =
	    snprintf(text, sizeof(text), "%.10g;", isnan(x) ? NAN : x);
	c->hash = sim_fnv(c->hash, text, isnan(x) ? 1 : (size_t)n);
	if (isnan(x))
		return;
	c->sum += x;
	c->n++;
}

static void print_column(const struct column *c, const char *spec,
    const char *label, const char *metric, FILE *out)
{
	if (c->n > 0)
		fprintf(out, "%s\t%s%s%s\t%zu\t%.10g\t%016" PRIx64 "\n", spec,
		    label, *label ? "." : "", metric, c->n, c->sum, c->hash);
}

static void print_columns(const struct column column[], const struct xp_spec *s,
    const struct xp_config *c, FILE *out)
{
	const char *name = s->figure + strlen("golden_");
	for (size_t i = 0; i < RES_N_TRIAL_METRICS; i++)
		print_column(&column[i], name, "", res_trial_metrics[i].name,
		    out);
	column += RES_N_TRIAL_METRICS;
	for (size_t a = 0; a < c->n_algos; a++)
		for (size_t i = 0; i < RES_N_ALGO_METRICS; i++)
			print_column(column++, name, c->algo[a].label,
			    res_algo_metrics[i].name, out);
}

static void run_cell(struct xp_trial *t, const struct xp_spec *s, size_t point,
    uint32_t run, size_t n, double row[], struct column column[])
{
	assert_ok(xp_trial_run(t, point, run, row, test_err()));
	for (size_t i = 0; i < s->n_along * n; i++)
		column_add(&column[i % n], row[i]);
}

/* Metrics are summed over points, runs and what a trial is read along. */
static void run_spec(const char *path, FILE *out, unsigned *algos_seen)
{
	struct xp_config c = {0};
	struct xp_trial *t;
	struct xp_spec s;
	assert_ok(xp_spec_load(&s, path, 0, NULL, 0, test_err()));
	assert_ok(xp_spec_point(&s, 0, &c, test_err()));
	const size_t n = res_row_doubles(c.n_algos);
	double *row = calloc(s.n_along * n, sizeof(row[0]));
	struct column *column = calloc(n, sizeof(column[0]));
	assert_true(row && column);
	for (size_t i = 0; i < n; i++)
		column[i].hash = SIM_FNV_START;
	assert_ok(xp_trial_open(&t, &s, test_err()));
	for (size_t p = 0; p < s.n_points; p++)
		for (uint32_t r = 0; r < s.runs; r++)
			run_cell(t, &s, p, r, n, row, column);
	print_columns(column, &s, &c, out);
	for (size_t a = 0; a < c.n_algos; a++)
		for (unsigned k = 0; algo_registry[k]; k++)
			if (algo_registry[k] == c.algo[a].ops)
				*algos_seen |= 1u << k;
	xp_trial_close(t);
	xp_config_free(&c);
	xp_spec_free(&s);
	free(column);
	free(row);
}

struct fixture {
	char *numbers; /* all specs' lines, as numbers.tsv has them */
	size_t n_bytes;
	unsigned algos_seen; /* bit i: algo_registry[i] */
};

static int setup(void **state)
{
	static struct fixture f;
	FILE *out = open_memstream(&f.numbers, &f.n_bytes);
	glob_t specs;
	assert_non_null(out);
	assert_int_equal(glob(FOLDER "*.yaml", 0, NULL, &specs), 0);
	fputs("spec\tmetric\tmeasured\tsum\tchecksum\n", out);
	for (size_t i = 0; i < specs.gl_pathc; i++)
		run_spec(specs.gl_pathv[i], out, &f.algos_seen);
	globfree(&specs);
	assert_int_equal(fclose(out), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	free(((struct fixture *)*state)->numbers);
	return 0;
}

/* --- against those of the file -------------------------------------------- */

static char *read_file(const char *path)
{
	enum { MOST = 1 << 20 };
	char *text = calloc(MOST, 1);
	FILE *f = fopen(path, "r");
	assert_true(text && f);
	assert_true(fread(text, 1, MOST, f) < MOST);
	fclose(f);
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* The first line in which two texts differ, of each. */
static void fail_at_difference(const char *want, const char *got)
{
	size_t at = 0, line = 0;
	for (size_t i = 0; want[i] && want[i] == got[i]; i++)
		if (want[i] == '\n') {
			at = i + 1;
			line++;
		}
	fail_msg("%snumbers.tsv, line %zu:\n  was %.*s\n  is  %.*s\n"
		 "If that is meant, GOLDEN=write %s, and see its head.",
	    FOLDER, line + 1, (int)strcspn(want + at, "\n"), want + at,
	    (int)strcspn(got + at, "\n"), got + at, "build/tests/golden_test");
}

static void all_numbers_are_those_of_before(void **state)
{
	const struct fixture *f = *state;
	const char *mode = getenv("GOLDEN");
	if (mode && strcmp(mode, "write") == 0)
		write_file(FOLDER "numbers.tsv", f->numbers);
	char *want = read_file(FOLDER "numbers.tsv");
	if (strcmp(want, f->numbers) != 0)
		fail_at_difference(want, f->numbers);
	free(want);
}

/* When numbers change the version must change, which is in every results file:
 * so results of before and after can be told apart. */
static void numbers_change_only_with_the_version(void **state)
{
	char *numbers = read_file(FOLDER "numbers.tsv");
	char *history = read_file(FOLDER "history.tsv");
	char want[64], version[32];
	(void)state;
	snprintf(version, sizeof(version), "%.*s",
	    (int)strcspn(res_version(), " "), res_version());
	snprintf(want, sizeof(want), "%s\t%016" PRIx64 "\t", version,
	    sim_fnv(SIM_FNV_START, numbers, strlen(numbers)));
	history[strlen(history) - 1] = '\0'; /* the last newline */
	const char *line = strrchr(history, '\n');
	line = line ? line + 1 : history;
	if (strncmp(line, want, strlen(want)) != 0)
		fail_msg("%shistory.tsv should end with a line that begins "
			 "\"%s\", and a reason; it is: %s",
		    FOLDER, want, line);
	assert_true(strlen(line) > strlen(want) + 10);
	for (const char *other = history; other < line;
	     other = strchr(other, '\n') + 1)
		if (strncmp(other, version, strcspn(want, "\t") + 1) == 0)
			fail_msg("version %s has two lines.", version);
	free(history);
	free(numbers);
}

/* No spec can name an algorithm while no plane has what it needs. */
static int is_runnable(const struct algo_ops *a)
{
	for (const struct xp_plane *const *p = xp_planes; *p; p++)
		if ((a->needs & ~(*p)->provides) == 0)
			return 1;
	return 0;
}

/* Every registered algorithm that some plane can run must be in some golden
 * spec. */
static void no_algorithm_is_left_out(void **state)
{
	const struct fixture *f = *state;
	for (unsigned k = 0; algo_registry[k]; k++)
		if (is_runnable(algo_registry[k]) && !(f->algos_seen & 1u << k))
			fail_msg("no spec of " FOLDER " runs %s.",
			    algo_registry[k]->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_numbers_are_those_of_before),
	    cmocka_unit_test(numbers_change_only_with_the_version),
	    cmocka_unit_test(no_algorithm_is_left_out),
	};
	return cmocka_run_group_tests_name("golden", tests, setup, teardown);
}
