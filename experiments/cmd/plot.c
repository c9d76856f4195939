/* experiments/cmd/plot.c -- culprit plot: a table, then gnuplot.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "results/h5.h"
#include "results/table.h"
#include "sim/text.h"
#include "sim/yaml.h"

enum { N_FORMATS = 3 };
static const char *const formats[N_FORMATS + 1] = {"svg", "pdf", "png", NULL};

struct args {
	struct cmd_words files;
	const char *folder, *script;
	int format[N_FORMATS];
	int term;
};

/* A comma-separated list; what is not in it is not drawn. */
static void take_formats(void *to, char *list, const struct cmd_given *g)
{
	int *drawn = to;
	char shown[64];
	memset(drawn, 0, N_FORMATS * sizeof(*drawn));
	for (const char *at = list;; at++) {
		const size_t n = strcspn(at, ",");
		size_t i = 0;
		while (i < N_FORMATS &&
		    (strlen(formats[i]) != n ||
			strncmp(formats[i], at, n) != 0))
			i++;
		if (i == N_FORMATS)
			argp_error(g->state,
			    "--format %s is not a list of svg, pdf and png",
			    sim_quote(shown, list));
		else
			drawn[i] = 1;
		at += n;
		if (*at == '\0')
			return;
	}
}

static const struct cmd_option plot_options[] = {
    {"output", 'o', "FOLDER", "where figures go (default: plots/out)",
	.take = cmd_take_text, .at = CMD_AT(folder)},
    {"format", 0, "LIST", "what to draw (default: svg,pdf,png)",
	.take = take_formats, .at = CMD_AT(format), .values = formats},
    {"term", 0, NULL, "draw in the terminal instead", .take = cmd_take_flag,
	.at = CMD_AT(term)},
    {"script", 0, "FILE.gp",
	"gnuplot script (default: plots/FIGURE.gp, else plots/sweep.gp)",
	.take = cmd_take_text, .at = CMD_AT(script)},
    {0},
};

static const struct cmd_line plot_line = {
    .options = plot_options,
    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
    .without = "which FILE or FIGURE?",
    .args_doc = "FILE|FIGURE...",
    .doc = "Draw results/out/FIGURE.h5 or another FILE by gnuplot, as "
	   "plots/out/FIGURE.svg, .pdf and .png, beside the table they are "
	   "drawn from, FIGURE.tsv. Those of another FILE have its name.",
};

/* Write TEXT as a string of gnuplot's in double quotes, without line
 * breaks. In single quotes gnuplot 5.4 reads neither two quotes in a row
 * nor one at the beginning. */
static void quote(const char *text, FILE *out)
{
	putc('"', out);
	for (; *text; text++) {
		/* What a backslash, a quote or a backquote would do in
		 * them, as to run a command, must not be done by the
		 * words of a results file. */
		if (strchr("\"\\`", *text))
			putc('\\', out);
		if ((unsigned char)*text >= ' ')
			putc(*text, out);
	}
	putc('"', out);
}

static void define(const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s=", name);
	quote(text, out);
	putc(';', out);
}

/* Names in scripts are made of metrics and figures. A results file may be
 * anybody's, so what is no plain word is not put there. */
static int plot_is_word(const char *text)
{
	return text[0] &&
	    !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* Let a script read the rows of all runs, by a pipe from `table --runs`
 * of this very program. */
static void define_each(const char *path, FILE *out)
{
	char program[2048], command[8192];
	const ssize_t k =
	    readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (k <= 0)
		return;
	program[k] = '\0';
	if (strchr(program, '\'') || strchr(path, '\''))
		return; /* would end the shell's quotes */
	snprintf(command, sizeof(command), "< '%s' table --runs '%s'", program,
	    path);
	define("each", command, out);
}

static void define_claims(const struct res_cube *c, FILE *out)
{
	for (size_t i = 0; i < c->n_claims; i++) {
		const struct res_claim *claim = &c->claim[i];
		const size_t nth = res_cube_nth_claim(c, i);
		char suffix[24] = "", name[128], text[512];
		if (!plot_is_word(claim->metric))
			continue;
		if (nth > 1)
			snprintf(suffix, sizeof(suffix), "_%zu", nth);
		snprintf(name, sizeof(name), "claim_%s%s", claim->metric,
		    suffix);
		snprintf(text, sizeof(text), "%s%s", claim->text,
		    claim->confirmed ? "" : " (unconfirmed)");
		define(name, text, out);
	}
}

/* Describe the results to a script, as assignments to be run before it: title,
 * paper, partial, runs, x, algos as a list of words, each, and the wording of
 * claims, claim_<metric>, claim_<metric>_2 and so on as their columns are
 * named. *VARS is to be freed. */
static int plot_describe(const struct res_cube *c, const char *path,
    char **vars, struct sim_err *e)
{
	const struct res_progress p = res_cube_progress(c);
	char partial[96] = "", *algos = NULL;
	size_t n;
	FILE *out = open_memstream(&algos, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	for (size_t i = 0; i < c->n_algos; i++) {
		/* Labels may have blanks, so each is quoted, by
		 * the quote that it lacks. */
		const char mark = strchr(c->algo[i], '\'') ? '"' : '\'';
		fprintf(out, "%s%c%s%c", i ? " " : "", mark, c->algo[i], mark);
	}
	if (fclose(out) != 0 || !(out = open_memstream(vars, &n))) {
		free(algos);
		return sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	}
	/* A figure of half a sweep says so itself, as it
	 * will be passed around. */
	if (p.n_done < p.n_cells)
		snprintf(partial, sizeof(partial), "partial: %llu of %llu runs",
		    (unsigned long long)p.n_done,
		    (unsigned long long)p.n_cells);
	define("title", c->title, out);
	define("paper", c->paper, out);
	define("partial", partial, out);
	fprintf(out, "runs=%zu;", c->n_runs);
	define("x", c->n_axes ? c->axis[0].coord[0].name : "runs", out);
	define("algos", algos, out);
	define_each(path, out);
	free(algos);
	define_claims(c, out);
	if (fclose(out) != 0)
		return sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	return 0;
}

static int run_gnuplot(const char *script, const char *vars, const char *table,
    const char *out, struct sim_err *e)
{
	char *copy = NULL, *folder;
	int status, rc = sim_dup(&copy, script, e);
	if (rc < 0)
		return rc;
	folder = dirname(copy);
	/* What stdio holds would be written by both processes. */
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		/* So that a script finds style.gp and others beside it. */
		setenv("GNUPLOT_LIB", folder, 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		execlp("gnuplot", "gnuplot", "-e", vars, "-c", script, table,
		    out, (char *)NULL);
		/* As shells do: 127 is a program that is not there. */
		_exit(errno == ENOENT ? 127 : 126);
	}
	free(copy);
	if (pid < 0)
		return sim_fail(e, SIM_EIO, "cannot start gnuplot: %s.",
		    strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return sim_fail(e, SIM_EIO, "lost gnuplot: %s.",
			    strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return sim_fail(e, SIM_EDEP,
		    "gnuplot is not installed (`make deps`).");
	if (status != 0)
		return sim_fail(e, SIM_EDEP, "gnuplot: the script %s failed.",
		    script);
	return 0;
}

static int write_table(const struct res_cube *c, const char *path,
    struct sim_err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	int rc = res_table_write(c, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	if (rc == 0)
		rc = cmd_write_file(path, text, n, e);
	free(text);
	return rc;
}

/* Draw one file. gnuplot writes as it goes, so the figure gets its name only
 * when it is whole. The suffix stays, as scripts tell formats by it. */
static int draw_file(const char *script, const char *vars, const char *table,
    const char *stem, const char *format, struct sim_err *e)
{
	char out[4096], temp[4096];
	snprintf(out, sizeof(out), "%s.%s", stem, format);
	snprintf(temp, sizeof(temp), "%s.tmp.%ld.%s", stem, (long)getpid(),
	    format);
	int rc = run_gnuplot(script, vars, table, temp, e);
	if (rc == 0 && rename(temp, out) < 0)
		rc = sim_fail(e, SIM_EIO, "cannot write %s: %s.", out,
		    errno == ENOENT ? "the script drew nothing"
				    : strerror(errno));
	if (rc == 0)
		printf("%s\n", out);
	else
		unlink(temp);
	return rc;
}

/* PATH's own name without its suffix: two results of one figure do not share
 * their files. */
static int plot_draw(const struct args *a, const struct res_cube *c,
    const char *path, const char *script, struct sim_err *e)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	const int n = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
	char stem[3072], table[4096], *vars = NULL;
	snprintf(stem, sizeof(stem), "%s/%.*s", a->folder, n, name);
	snprintf(table, sizeof(table), "%s.tsv", stem);
	char *const read = (char *)(uintptr_t)path;
	int rc = cmd_make_way(table, e);
	/* Results may have any name, also that of a table or a figure. */
	if (rc == 0)
		rc = cmd_check_output("-o", table, &read, 1, e);
	for (size_t i = 0; i < N_FORMATS && rc == 0 && !a->term; i++) {
		char out[4096];
		snprintf(out, sizeof(out), "%s.%s", stem, formats[i]);
		if (a->format[i])
			rc = cmd_check_output("-o", out, &read, 1, e);
	}
	if (rc == 0 && (rc = write_table(c, table, e)) == 0)
		rc = plot_describe(c, path, &vars, e);
	if (rc == 0 && a->term)
		rc = run_gnuplot(script, vars, table, "-", e);
	for (size_t i = 0; i < N_FORMATS && rc == 0 && !a->term; i++)
		if (a->format[i])
			rc =
			    draw_file(script, vars, table, stem, formats[i], e);
	free(vars);
	return rc;
}

/* The figure's own script, or that of any sweep. */
static int find_script(char **out, const struct args *a, const char *figure,
    struct sim_err *e)
{
	if (a->script)
		return cmd_find(out, a->script, "plots", ".gp", e);
	if (plot_is_word(figure) &&
	    cmd_find(out, figure, "plots", ".gp", e) == 0)
		return 0;
	return cmd_find(out, "sweep", "plots", ".gp", e);
}

static int plot(const struct args *a, const char *name)
{
	struct res_cube c = {0};
	struct sim_err e = {0};
	char *path = NULL, *script = NULL;
	int rc = cmd_find_results(&path, name, &e);
	if (rc == 0 && (rc = res_h5_read(&c, path, &e)) == 0)
		cmd_warn_partial(&c, path);
	if (rc == 0 && (rc = find_script(&script, a, c.figure, &e)) == 0)
		rc = plot_draw(a, &c, path, script, &e);
	free(path);
	free(script);
	res_cube_free(&c);
	return rc < 0 ? cmd_fail(CMD_TROUBLE, &e) : CMD_GOOD;
}

int cmd_plot(int argc, char **argv)
{
	struct args a = {.folder = "plots/out", .format = {1, 1, 1}};
	int code = CMD_GOOD;
	cmd_parse(&plot_line, argc, argv, &a);
	for (size_t i = 0; i < a.files.n; i++)
		if (plot(&a, a.files.word[i]) != CMD_GOOD)
			code = CMD_TROUBLE;
	return code;
}
