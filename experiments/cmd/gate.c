/* experiments/cmd/gate.c -- culprit gate: accuracy gates, for people and CI.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "experiments/check/gate.h"
#include "experiments/check/junit.h"
#include "experiments/cmd/cmd.h"
#include "experiments/schema/page.h"
#include "results/json.h"
#include "sim/text.h"
#include "sim/vec.h"

struct args {
	struct cmd_words files;
	struct cmd_set set;
	const char *junit;
	uint32_t n_workers, count;
	char seed[64];
	int json;
};

/* A seed goes into every file by --set, as it is put before anything is read;
 * so who takes it needs this row. */
static const struct cmd_option gate_set[] = {
    {"set", 's', "PATH=VALUE", "override a key, in every file",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 64},
    {0},
};

static void set_seed(struct args *a, uint64_t seed, struct argp_state *state)
{
	if (*a->seed)
		argp_error(state,
		    "one of --seed and --fresh-seed, and that once");
	snprintf(a->seed, sizeof(a->seed), "seed=%llu",
	    (unsigned long long)seed);
	cmd_take_set(&a->set, a->seed, &(struct cmd_given){gate_set, state});
}

static void take_seed(void *to, char *arg, const struct cmd_given *g)
{
	uint64_t seed;
	cmd_take_u64(&seed, arg, g);
	set_seed(to, seed, g->state);
}

/* 32 bits are as many as one can copy from a report. */
static void take_fresh_seed(void *to, char *arg, const struct cmd_given *g)
{
	uint32_t seed;
	(void)arg;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		argp_failure(g->state, CMD_TROUBLE, 0, "no random numbers");
	set_seed(to, seed, g->state);
}

static void show_keys(void *to, char *arg, const struct cmd_given *g)
{
	(void)g;
	(void)to;
	(void)arg;
	struct xp_page gates;
	xp_page_find("gates", &gates);
	xp_page_print(&gates, stdout);
	exit(fflush(stdout) == 0 ? CMD_GOOD : CMD_TROUBLE);
}

static const struct cmd_option cmd_gate_options[] = {
    {.with = gate_set},
    {"seed", 0, "N", "instead of each file's own seed", .take = take_seed,
	.max = UINT64_MAX},
    {"fresh-seed", 0, NULL,
	"a new seed, which is printed: a sound algorithm fails once in 1/beta "
	"times",
	.take = take_fresh_seed},
    {"jobs", 'j', "N", "worker processes (default: all processors)",
	.take = cmd_take_u32, .at = CMD_AT(n_workers), .min = 1, .max = 4096},
    {"junit", 0, "FILE", "write a JUnit report for CI", .take = cmd_take_file,
	.at = CMD_AT(junit)},
    {"json", 0, NULL, "JSON, one object a gate and line", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {"count", 0, "N",
	"decide nothing: count the successes of N runs, to choose p0 and p1 "
	"by",
	.take = cmd_take_u32, .at = CMD_AT(count), .min = 1, .max = 1000000},
    {"keys", 0, NULL, "list the keys of a gate", .take = show_keys},
    {0},
};

static void cmd_gate_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	/* A report of verdicts needs some. */
	if (a->count > 0 && a->junit)
		argp_error(state, "--count decides nothing to --junit");
}

static const struct cmd_line cmd_gate_line = {
    .options = cmd_gate_options,
    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
    .without = "which FILE?",
    .check = cmd_gate_check,
    .args_doc = "FILE...",
    .doc = "Are the algorithms as accurate as they must be? A gate file is a "
	   "spec of one point with `gates:`, each about one algorithm and "
	   "metric. Runs are drawn until Wald's sequential test tells a rate "
	   "of successes of at most p0 (bad) from one of at least p1 (good), "
	   "and one of at least p3 (bad) from one of at most p2 (good), "
	   "with error rates alpha and beta.\v"
	   "All files are read before the first run. The same seed gives the "
	   "same answers for any number of jobs.\n\n"
	   "Exit codes: 0 all gates are good; 1 one is bad, or undecided after "
	   "its max_runs; 2 the command line or a file is wrong; 3 runs "
	   "failed, or a file can't be written.",
};

/* --- one file ------------------------------------------------------------ */

struct file {
	const char *path;
	struct xp_gates gates;
	struct xp_gate_state *state; /* [gates.n] */
	int rc;                      /* of its runs */
	struct sim_err why;
};

/* Read a gate file and make room for its answers. */
static int cmd_gate_load(struct file *f, const char *path, const struct args *a,
    struct sim_err *e)
{
	f->path = path;
	int rc = xp_gates_load(&f->gates, path, a->set.set, a->set.n_set, e);
	if (rc < 0)
		return rc;
	cmd_warn(&f->gates.spec);
	return SIM_ZALLOC(&f->state, f->gates.n, e);
}

static void free_files(struct file file[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		xp_gates_free(&file[i].gates);
		free(file[i].state);
	}
	free(file);
}

static const char *cmd_gate_word(const struct file *f, size_t i)
{
	static const char *const words[] = {"undecided", "good", "bad"};
	return f->rc < 0 ? "error" : words[f->state[i].verdict];
}

/* Pad by characters and not by bytes, of which UTF-8 has several for some
 * names: all but the first of them begin with the bits 10. */
static void put_padded(const char *text, size_t width)
{
	size_t n = 0;
	for (const char *s = text; *s; s++)
		n += (*s & 0xc0) != 0x80;
	printf("  %s%*s", text, n < width ? (int)(width - n) : 0, "");
}

/* Longer names push the numbers aside. */
enum { NAME_WIDTH = 46 };

static void print_head(const struct file *f, int count)
{
	printf("%s: seed %llu\n", f->path,
	    (unsigned long long)f->gates.spec.seed);
	put_padded("gate", NAME_WIDTH);
	printf(count ? "  %7s %7s %7s  %s\n" : "  %7s %7s %7s %8s  %s\n",
	    "runs", "trials", "good", count ? "share" : "llr", "verdict");
}

/* No verdict here but the share of successes and its exact interval,
 * to choose p0 to p3 by. */
static int cmd_gate_print_count(const struct xp_gate_state *s,
    struct sim_err *e)
{
	double lo, hi;
	int rc =
	    sim_binomial_interval(s->n_good, s->n_trials, 0.95, &lo, &hi, e);
	if (rc == 0)
		printf("  %.4f [%.4f, %.4f]\n",
		    (double)s->n_good / (double)s->n_trials, lo, hi);
	return rc;
}

static int cmd_gate_print_table(const struct file *f, int count,
    struct sim_err *e)
{
	int rc = 0;
	print_head(f, count);
	for (size_t i = 0; rc == 0 && i < f->gates.n; i++) {
		const struct xp_gate_state *s = &f->state[i];
		put_padded(f->gates.gate[i].name, NAME_WIDTH);
		printf("  %7llu %7llu %7llu", (unsigned long long)s->n_runs,
		    (unsigned long long)s->n_trials,
		    (unsigned long long)s->n_good);
		if (count)
			rc = cmd_gate_print_count(s, e);
		else
			printf(" %8.2f  %s\n", s->llr, cmd_gate_word(f, i));
	}
	return rc;
}

static void cmd_gate_print_json(const struct file *f)
{
	for (size_t i = 0; i < f->gates.n; i++) {
		const struct xp_gate *g = &f->gates.gate[i];
		const struct xp_gate_state *s = &f->state[i];
		printf("{\"file\": ");
		res_json_text(stdout, f->path);
		printf(", \"seed\": %llu, \"gate\": ",
		    (unsigned long long)f->gates.spec.seed);
		res_json_text(stdout, g->name);
		res_json_text_of(stdout, "algorithm", g->algorithm);
		res_json_text_of(stdout, "metric", g->metric);
		res_json_number_of(stdout, "p0", g->p0);
		res_json_number_of(stdout, "p1", g->p1);
		res_json_number_of(stdout, "p2", g->p2);
		res_json_number_of(stdout, "p3", g->p3);
		printf(", \"runs\": %llu, \"trials\": %llu, \"good\": %llu, "
		       "\"llr\": ",
		    (unsigned long long)s->n_runs,
		    (unsigned long long)s->n_trials,
		    (unsigned long long)s->n_good);
		res_json_number(stdout, s->llr);
		printf(", \"verdict\": \"%s\"}\n", cmd_gate_word(f, i));
	}
}

/* --- JUnit --------------------------------------------------------------- */

/* A gate that could not be run is an error in JUnit's words, and one that is
 * not good, undecided or bad, a failure. */
static void put_case(FILE *out, const struct file *f, size_t i)
{
	const struct xp_gate *g = &f->gates.gate[i];
	const struct xp_gate_state *s = &f->state[i];
	char text[512];
	snprintf(text, sizeof(text),
	    "%s: %llu of %llu trials good in %llu runs, llr %.2f; p0 %g, p1 "
	    "%g, p2 %g, p3 %g, alpha %g, beta %g, seed %llu",
	    cmd_gate_word(f, i), (unsigned long long)s->n_good,
	    (unsigned long long)s->n_trials, (unsigned long long)s->n_runs,
	    s->llr, g->p0, g->p1, g->p2, g->p3, g->alpha, g->beta,
	    (unsigned long long)f->gates.spec.seed);
	const struct xp_junit_case c = {
	    .name = g->name,
	    .outcome = f->rc < 0              ? XP_JUNIT_ERROR
		: s->verdict == SIM_SPRT_GOOD ? XP_JUNIT_PASSED
					      : XP_JUNIT_FAILED,
	    .text = f->rc < 0 ? f->why.msg : text,
	};
	xp_junit_case(out, f->gates.spec.figure, &c);
}

static int write_junit(const char *path, const struct file file[], size_t n,
    struct sim_err *e)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for a report.");
	xp_junit_begin(out);
	for (size_t k = 0; k < n; k++) {
		const struct file *f = &file[k];
		size_t n_failed = 0;
		for (size_t i = 0; i < f->gates.n; i++)
			n_failed += f->state[i].verdict != SIM_SPRT_GOOD;
		xp_junit_suite(out, f->path, f->gates.n,
		    f->rc < 0 ? 0 : n_failed, f->rc < 0 ? f->gates.n : 0);
		for (size_t i = 0; i < f->gates.n; i++)
			put_case(out, f, i);
		xp_junit_suite_end(out);
	}
	xp_junit_end(out);
	int rc = fclose(out) == 0
	    ? 0
	    : sim_fail(e, SIM_ENOMEM, "no memory for a report.");
	if (rc == 0 && (rc = cmd_make_way(path, e)) == 0)
		rc = cmd_write_file(path, text, size, e);
	free(text);
	return rc;
}

/* --- all ----------------------------------------------------------------- */

/* All files are read before the first run: a mistake in the last one should not
 * show after an hour. */
static int load_all(struct file file[], const struct args *a)
{
	int code = CMD_GOOD;
	for (size_t i = 0; i < a->files.n; i++) {
		struct sim_err e = {0};
		int rc = cmd_gate_load(&file[i], a->files.word[i], a, &e);
		if (rc < 0)
			/* A file that is missing is a mistake of
			 * the command line here. */
			code = cmd_fail(rc == SIM_EIO ? CMD_USAGE
						      : cmd_exit_of(rc),
			    &e);
	}
	return code;
}

/* Before the first run: a report that has no place would cost all of them. */
static int check_junit(const struct file file[], const struct args *a,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; a->junit && rc == 0 && i < a->files.n; i++) {
		const struct xp_spec *s = &file[i].gates.spec;
		rc = cmd_check_output("--junit", a->junit, s->input,
		    s->n_inputs, e);
	}
	return rc;
}

/* Run one file's gates and print what came of them; returns the exit code that
 * it asks for. Trouble outweighs a bad gate. */
static int test(struct file *f, const struct args *a)
{
	int code = CMD_GOOD, rc;
	f->rc =
	    xp_gates_run(&f->gates, a->n_workers, a->count, f->state, &f->why);
	if (f->rc < 0) {
		sim_wrap(&f->why, f->rc, "%s", f->path);
		code = cmd_fail(cmd_exit_of(f->rc), &f->why);
	}
	for (size_t i = 0; i < f->gates.n && a->count == 0; i++)
		if (f->state[i].verdict != SIM_SPRT_GOOD && code == CMD_GOOD)
			code = CMD_FAILED;
	if (a->json) {
		cmd_gate_print_json(f);
	} else if ((rc = cmd_gate_print_table(f, a->count > 0, &f->why)) < 0) {
		code = cmd_fail(cmd_exit_of(rc), &f->why);
	}
	/* Files take minutes each, and a pipe should show them as they come. */
	fflush(stdout);
	return code;
}

static void cmd_gate_print_sum(const struct file file[], size_t n)
{
	size_t n_gates = 0, n_good = 0;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < file[k].gates.n; i++) {
			n_gates++;
			n_good +=
			    strcmp(cmd_gate_word(&file[k], i), "good") == 0;
		}
	printf("%zu of %zu gates good\n", n_good, n_gates);
}

int cmd_gate(int argc, char **argv)
{
	struct args a = {0};
	struct sim_err e = {0};
	struct file *file = NULL;
	cmd_parse(&cmd_gate_line, argc, argv, &a);
	if (a.n_workers == 0)
		a.n_workers = cmd_processors();
	int rc = SIM_ZALLOC(&file, a.files.n, &e);
	if (rc < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	int code = load_all(file, &a);
	if (code == CMD_GOOD && (rc = check_junit(file, &a, &e)) < 0)
		code = cmd_fail(CMD_USAGE, &e);
	if (code != CMD_GOOD)
		goto out;
	for (size_t i = 0; i < a.files.n; i++) {
		const int one = test(&file[i], &a);
		/* Codes are ordered from good to trouble, so the
		 * greatest stands for all. */
		code = one > code ? one : code;
	}
	if (!a.json && a.count == 0)
		cmd_gate_print_sum(file, a.files.n);
	if (a.junit && (rc = write_junit(a.junit, file, a.files.n, &e)) < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
out:
	free_files(file, a.files.n);
	return code;
}
