/* experiments/plot/gnuplot.c -- a script of gnuplot's, and what it is told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plot/gnuplot.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/text.h"

/* --- variables -------------------------------------------------------------*/

/* Write TEXT as a string of gnuplot's in double quotes, without line
 * breaks. In single quotes gnuplot 5.4 reads neither two quotes in a row
 * nor one at the beginning. TWICE: a character to be doubled, or 0. */
static void quote(const char *text, char twice, FILE *out)
{
	putc('"', out);
	for (; *text; text++) {
		/* What a backslash, a quote or a backquote would do in
		 * them, as to run a command, must not be done by the
		 * words of a results file. */
		if (strchr("\"\\`", *text))
			putc('\\', out);
		if (twice && *text == twice)
			putc(twice, out);
		if ((unsigned char)*text >= ' ')
			putc(*text, out);
	}
	putc('"', out);
}

static void define(const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s=", name);
	quote(text, 0, out);
	putc(';', out);
}

/* Names in scripts are made of metrics and figures. A results file may be
 * anybody's, so what is no plain word is not put there. */
static int gnuplot_is_word(const char *text)
{
	return text[0] &&
	    !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* Let a script read other tables of the results, by pipes from `table` of this
 * very program: the rows of all runs, and whatever options ask for. */
static void define_pipes(const char *path, FILE *out)
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
	snprintf(command, sizeof(command), "< '%s' table ", program);
	define("pipe_from", command, out);
	snprintf(command, sizeof(command), " '%s'", path);
	define("pipe_of", command, out);
}

static void define_claims(const struct res_cube *c, FILE *out)
{
	for (size_t i = 0; i < c->n_claims; i++) {
		const struct res_claim *claim = &c->claim[i];
		const size_t nth = res_cube_nth_claim(c, i);
		char suffix[24] = "", name[128], text[512];
		if (!gnuplot_is_word(claim->metric))
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

/* Labels as a list of words. They may have blanks, so each is quoted, by the
 * quote that it lacks. */
static int gnuplot_define_algos(const struct res_cube *c, FILE *to,
    struct sim_err *e)
{
	char *algos = NULL;
	size_t n;
	FILE *out = open_memstream(&algos, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	for (size_t i = 0; i < c->n_algos; i++) {
		const char mark = strchr(c->algo[i], '\'') ? '"' : '\'';
		fprintf(out, "%s%c%s%c", i ? " " : "", mark, c->algo[i], mark);
	}
	if (fclose(out) != 0)
		return sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	define("algos", algos, to);
	free(algos);
	return 0;
}

static void define_results(const struct res_cube *c, const char *title,
    FILE *out)
{
	const struct res_progress p = res_cube_progress(c);
	const size_t n_others = res_cube_cells(c) - res_cube_own_cells(c);
	char partial[96] = "";
	/* A figure of half a sweep says so itself, as it
	 * will be passed around. A whole shard is a part, too; runs that no
	 * point needs any more are not missing. */
	if (p.n_done < p.n_cells + n_others)
		snprintf(partial, sizeof(partial), "partial: %llu of %llu runs",
		    (unsigned long long)p.n_done,
		    (unsigned long long)(p.n_cells + n_others));
	define("title", title, out);
	define("paper", c->paper, out);
	define("partial", partial, out);
	fprintf(out, "runs=%zu;", c->n_runs);
}

/* --- a picture -------------------------------------------------------------*/

/* Arrays have at least one entry; their lengths are told by other variables.
 * STEP is from one text to the next. */
static void define_texts(const char *name, const void *first, size_t n,
    size_t step, char twice, FILE *out)
{
	fprintf(out, "array %s[%zu]=[", name, n ? n : 1);
	for (size_t i = 0; i < n; i++) {
		const char *text;
		memcpy(&text, (const char *)first + i * step, sizeof(text));
		fputs(i ? "," : "", out);
		quote(text, twice, out);
	}
	fputs(n ? "];" : "0];", out);
}

static void define_counts(const char *name, const size_t x[], size_t n,
    FILE *out)
{
	fprintf(out, "array %s[%zu]=[", name, n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%zu", i ? "," : "", x[i]);
	fputs("];", out);
}

/* gnuplot counts rows from 0, and entries of arrays from 1. */
static void define_curves(const struct res_picture *p, FILE *out)
{
	enum { MOST = RES_MAX_PANELS * RES_MAX_CURVES };
	size_t first[MOST], last[MOST], entry[MOST], is_algo[MOST];
	for (size_t i = 0; i < p->n_curves; i++) {
		first[i] = p->curve[i].first;
		last[i] = first[i] + p->curve[i].n - 1;
		entry[i] = p->curve[i].nth + 1;
	}
	for (size_t i = 0; i < p->n_entries; i++)
		is_algo[i] = (size_t)p->entry[i].is_algo;
	define_counts("curve_first", first, p->n_curves, out);
	define_counts("curve_last", last, p->n_curves, out);
	define_counts("curve_entry", entry, p->n_curves, out);
	define_counts("entry_is_algo", is_algo, p->n_entries, out);
	define_texts("entry", &p->entry->name, p->n_entries, sizeof(*p->entry),
	    0, out);
}

static void name_with_unit(char buf[256], const char *name, const char *unit)
{
	if (*unit && strcmp(unit, "1") != 0)
		snprintf(buf, 256, "%s (%s)", name, unit);
	else
		snprintf(buf, 256, "%s", name);
}

static void define_metrics(const struct res_picture *p, FILE *out)
{
	char text[RES_MAX_PANELS][256];
	const char *metric[RES_MAX_PANELS];
	for (size_t i = 0; i < p->n_panels; i++) {
		metric[i] = text[i];
		name_with_unit(text[i], p->panel[i].metric->name,
		    p->panel[i].metric->unit);
	}
	define_texts("panel_metric", metric, p->n_panels, sizeof(*metric), 0,
	    out);
	for (size_t i = 0; i < p->n_panels; i++)
		snprintf(text[i], sizeof(text[i]), "%s: %s",
		    p->panel[i].metric->name, p->panel[i].metric->doc);
	define_texts("panel_about", metric, p->n_panels, sizeof(*metric), 0,
	    out);
}

static void define_panels(const struct res_picture *p, FILE *out)
{
	size_t first[RES_MAX_PANELS], last[RES_MAX_PANELS];
	size_t is_share[RES_MAX_PANELS], from_0[RES_MAX_PANELS];
	size_t place[RES_MAX_PANELS];
	for (size_t i = 0; i < p->n_panels; i++) {
		const struct res_panel *q = &p->panel[i];
		place[i] = q->place;
		first[i] = q->first + 1;
		last[i] = q->first + q->n;
		is_share[i] = (size_t)q->is_share;
		from_0[i] = (size_t)q->from_0;
	}
	define_counts("panel_place", place, p->n_panels, out);
	define_counts("panel_first", first, p->n_panels, out);
	define_counts("panel_last", last, p->n_panels, out);
	define_counts("panel_share", is_share, p->n_panels, out);
	define_counts("panel_from_0", from_0, p->n_panels, out);
	define_texts("panel_title", &p->panel->title, p->n_panels,
	    sizeof(*p->panel), 0, out);
	fprintf(out, "array panel_least[%zu];array panel_most[%zu];",
	    p->n_panels, p->n_panels);
	for (size_t i = 0; i < p->n_panels; i++)
		fprintf(out, "panel_least[%zu]=%.17g;panel_most[%zu]=%.17g;",
		    i + 1, p->panel[i].least, i + 1, p->panel[i].most);
	define_metrics(p, out);
}

static void define_picture(const struct res_picture *p, const char *curves,
    FILE *out)
{
	static const char *const bars[] = {"", "bars: 95 % intervals",
	    "bars: 10 % to 90 % of runs",
	    "bars: 95 % intervals, where there are none 10 % to 90 % of runs"};
	char name[256], label[560], below[96] = "";
	name_with_unit(name, p->x_name, p->x_unit);
	snprintf(label, sizeof(label), "%s%s%s", name,
	    *p->x_with ? ", with " : "", p->x_with);
	if (p->n_below > 0)
		snprintf(below, sizeof(below),
		    "%s%zu points of 0 are not on this scale",
		    p->bars ? "; " : "", p->n_below);
	define("curves", curves, out);
	define("x_label", label, out);
	define("y_label", p->y_name, out);
	define("by_label", p->by_name, out);
	define("bars", bars[p->bars], out);
	define("below", below, out);
	fprintf(out,
	    "heatmap=%d;log_x=%d;log_y=%d;x_low=%.17g;x_high=%.17g;n_across=%"
	    "zu;n_panels=%zu;"
	    "n_entries=%zu;n_x_ticks=%zu;n_y_ticks=%zu;",
	    p->is_heatmap, p->log_x, p->log_y, p->low, p->high, p->n_across,
	    p->n_panels, p->n_entries, p->n_ticks, p->n_y_ticks);
	/* Marks of axes are formats. */
	define_texts("x_tick", p->tick, p->n_ticks, sizeof(*p->tick), '%', out);
	define_texts("y_tick", p->y_tick, p->n_y_ticks, sizeof(*p->y_tick), '%',
	    out);
	define_panels(p, out);
	define_curves(p, out);
}

int xp_gnuplot_describe(char **vars, const struct xp_figure *f,
    struct sim_err *e)
{
	size_t n;
	FILE *out = open_memstream(vars, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	define_results(f->cube, f->title, out);
	fprintf(out, "run_s=%.17g;", f->run_s);
	define("x", f->x, out);
	int rc = gnuplot_define_algos(f->cube, out, e);
	define_pipes(f->path, out);
	define_claims(f->cube, out);
	if (f->picture)
		define_picture(f->picture, f->curves, out);
	if (fclose(out) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	if (rc < 0) {
		free(*vars);
		*vars = NULL;
	}
	return rc;
}

/* --- the program -----------------------------------------------------------*/

int xp_gnuplot_hold(int *fd, char path[32], const char *bytes, size_t n,
    struct sim_err *e)
{
	/* Not closed by exec(), as gnuplot is to read it. */
	*fd = memfd_create("culprit", 0);
	ssize_t k = 0;
	for (size_t at = 0; *fd >= 0 && k >= 0 && at < n; at += (size_t)k)
		k = write(*fd, bytes + at, n - at);
	if (*fd < 0 || k < 0) {
		k = errno;
		if (*fd >= 0)
			close(*fd);
		return sim_fail(e, SIM_EIO, "cannot hold a file in memory: %s.",
		    strerror((int)k));
	}
	snprintf(path, 32, "/proc/self/fd/%d", *fd);
	return 0;
}

static _Noreturn void become_gnuplot(const char *script, const char *folders,
    const char *vars, const char *table, const char *out, int says)
{
	char load[64];
	dup2(says, STDERR_FILENO);
	snprintf(load, sizeof(load), "load '%s'", vars);
	setenv("GNUPLOT_LIB", folders, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	execlp("gnuplot", "gnuplot", "-e", load, "-c", script, table, out,
	    (char *)NULL);
	/* As shells do: 127 is a program that is not there. */
	_exit(errno == ENOENT ? 127 : 126);
}

/* Pass on what gnuplot said, and close SAYS. A curve without points is worth a
 * number and not a line: a sweep that was made smaller has many. */
static void pass_on(int says, const char *script)
{
	static const char no_points[] = "Skipping data file with no valid ";
	FILE *f = lseek(says, 0, SEEK_SET) == 0 ? fdopen(says, "r") : NULL;
	char *line = NULL;
	size_t cap = 0, n_empty = 0;
	while (f && getline(&line, &cap, f) > 0)
		if (strstr(line, no_points))
			n_empty++;
		else
			fputs(line, stderr);
	free(line);
	if (f)
		fclose(f);
	else if (says >= 0)
		close(says);
	if (n_empty > 0)
		fprintf(stderr,
		    "%s: curves without points in these results: %zu.\n",
		    script, n_empty);
}

static int gnuplot_wait(pid_t pid, const char *script, struct sim_err *e)
{
	int status;
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

/* Folders in which a script looks for others, with a colon between. */
static int list_folders(char list[8192], const char *script, const char *folder,
    struct sim_err *e)
{
	char *copy = NULL;
	int rc = sim_dup(&copy, script, e);
	if (rc < 0)
		return rc;
	const char *beside = dirname(copy);
	if (strcmp(beside, folder) == 0)
		snprintf(list, 8192, "%s", folder);
	else
		snprintf(list, 8192, "%s:%s", beside, folder);
	free(copy);
	return 0;
}

int xp_gnuplot_run(const char *script, const char *folder, const char *vars,
    const char *table, const char *out, struct sim_err *e)
{
	char folders[8192], held[32];
	int fd, rc = list_folders(folders, script, folder, e);
	/* As a file, since an argument has at most 128 kB. */
	if (rc == 0)
		rc = xp_gnuplot_hold(&fd, held, vars, strlen(vars), e);
	if (rc < 0)
		return rc;
	/* What stdio holds would be written by both processes. */
	fflush(NULL);
	const int says = memfd_create("culprit", MFD_CLOEXEC);
	const pid_t pid = says < 0 ? -1 : fork();
	if (pid == 0)
		become_gnuplot(script, folders, held, table, out, says);
	if (pid < 0)
		rc = sim_fail(e, SIM_EIO, "cannot start gnuplot: %s.",
		    strerror(errno));
	else
		rc = gnuplot_wait(pid, script, e);
	pass_on(says, script);
	close(fd);
	return rc;
}
