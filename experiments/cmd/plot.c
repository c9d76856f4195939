/* experiments/cmd/plot.c -- culprit plot: results, arranged, drawn by gnuplot.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/plot/gnuplot.h"
#include "experiments/spec/spec.h"
#include "results/file.h"
#include "results/h5.h"
#include "results/stamp.h"
#include "results/table.h"
#include "sim/text.h"

enum { N_FORMATS = 3 };
static const char *const formats[N_FORMATS + 1] = {"svg", "pdf", "png", NULL};

struct list {
	const char *word[64];
	size_t n;
};

struct args {
	struct cmd_words files;
	const char *output, *script, *title, *x, *by, *panels;
	struct list metrics, curves;
	int format[N_FORMATS];
	int says_format, term, heatmap, log_x, log_y;
};

/* --- command line ----------------------------------------------------------*/

/* ARG is cut at its commas. */
static void plot_take_list(void *to, char *arg, const struct cmd_given *g)
{
	struct list *list = to;
	char *word;
	while ((word = strsep(&arg, ","))) {
		if (!*word ||
		    list->n == sizeof(list->word) / sizeof(*list->word))
			argp_error(g->state,
			    "--%s is a list of at most %zu names with commas "
			    "between",
			    g->option->name,
			    sizeof(list->word) / sizeof(*list->word));
		list->word[list->n++] = word;
	}
}

/* What is not in the list is not drawn. */
static void take_formats(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	char shown[64], *word;
	sim_quote(shown, arg);
	a->says_format = 1;
	memset(a->format, 0, sizeof(a->format));
	while ((word = strsep(&arg, ","))) {
		const size_t i = sim_word_find(formats, word);
		if (i == N_FORMATS)
			argp_error(g->state,
			    "--format %s is not a list of svg, pdf and png",
			    shown);
		else
			a->format[i] = 1;
	}
}

static const struct cmd_option plot_options[] = {
    {"output", 'o', "FILE|FOLDER",
	"where figures go: a folder (default: plots/out), or one file as "
	".svg, .pdf or .png",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"format", 0, "LIST", "what to draw (default: svg,pdf,png)",
	.take = take_formats, .values = formats},
    {"term", 0, NULL, "draw in the terminal instead, and write nothing",
	.take = cmd_take_flag, .at = CMD_AT(term)},
    {"script", 0, "FILE.gp",
	"gnuplot script, which may load style.gp (default: plots/FIGURE.gp; "
	"plots/sweep.gp if there is none or one of the options below is given)",
	.take = cmd_take_text, .at = CMD_AT(script)},
    {"title", 0, "TEXT", "title of the figure", .take = cmd_take_text,
	.at = CMD_AT(title)},
    {.doc = "What goes where:", .group = 1},
    {"metric", 0, "METRIC,...",
	"a panel for each metric (default: per-flow accuracy, precision and "
	"recall, or what else was measured)",
	.take = plot_take_list, .at = CMD_AT(metrics)},
    {"x", 0, "AXIS",
	"what goes across (default: the axis of numbers with most values)",
	.take = cmd_take_text, .at = CMD_AT(x)},
    {"by", 0, "AXIS",
	"a curve for each value of this axis, or for each `algorithm'; of a "
	"heat map its second axis",
	.take = cmd_take_text, .at = CMD_AT(by)},
    {"panels", 0, "AXIS",
	"a panel for each value of this axis, `algorithm' or `metric'; what "
	"is neither across nor curves is panels anyway",
	.take = cmd_take_text, .at = CMD_AT(panels)},
    {"curves", 0, "A,...", "only these curves, by their names in the legend",
	.take = plot_take_list, .at = CMD_AT(curves)},
    {"heatmap", 0, NULL, "colours over two axes, in place of curves",
	.take = cmd_take_flag, .at = CMD_AT(heatmap)},
    {"logx", 0, NULL,
	"a logarithmic scale across (default: where values grow by factors)",
	.take = cmd_take_flag, .at = CMD_AT(log_x)},
    {"logy", 0, NULL, "a logarithmic scale upwards", .take = cmd_take_flag,
	.at = CMD_AT(log_y)},
    {0},
};

/* Which format PATH ends in, or N_FORMATS. */
static size_t format_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');
	return dot ? sim_word_find(formats, dot + 1) : N_FORMATS;
}

/* Does -o name one file? What has another suffix is a folder only if it is
 * there, as it may be a mistake. */
static int names_file(const struct args *a)
{
	return a->output && !cmd_is_folder(a->output) &&
	    format_of(a->output) < N_FORMATS;
}

static void check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	const char *slash = a->output ? strrchr(a->output, '/') : NULL;
	const char *name = slash ? slash + 1 : a->output;
	if (a->term && (a->output || a->says_format))
		argp_error(state,
		    "--term writes no file, so -o and --format do not go with "
		    "it");
	if (names_file(a) && a->says_format)
		argp_error(state, "-o %s says the format, so --format cannot",
		    a->output);
	if (names_file(a) && a->files.n > 1)
		argp_error(state, "-o %s is one file, and %zu are to be drawn",
		    a->output, a->files.n);
	if (name && !names_file(a) && !cmd_is_folder(a->output) &&
	    name[0] != '.' && strchr(name, '.'))
		argp_error(state,
		    "-o %s is no folder that is there, and figures are .svg, "
		    ".pdf or .png",
		    a->output);
}

static const struct cmd_line plot_line = {
    .options = plot_options,
    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
    .without = "which FILE or FIGURE?",
    .args_doc = "FILE|FIGURE...",
    .check = check,
    .doc = "Draw results/out/FIGURE.h5 or another FILE by gnuplot, as "
	   "plots/out/FIGURE.svg, .pdf and .png, beside the table they are "
	   "drawn from, FIGURE.tsv. Those of another FILE have its name.\v"
	   "A sweep that has no script of its own is arranged: one axis goes "
	   "across, algorithms or another axis are curves, all else is "
	   "panels, and FIGURE.curves.tsv has what is drawn. Each file says "
	   "which build made its numbers, of which spec, and when.",
};

/* --- one figure ------------------------------------------------------------*/

struct figure {
	const struct args *a;
	struct res_cube cube;
	struct res_picture picture;
	int has_picture;
	struct sim_err no_picture; /* why there is none */
	struct res_stamp stamp;
	char *path, *script, *vars;
	char folder[4096]; /* of style.gp */
	char stem[3072];   /* of the figure's files, without suffix */
	char table[4096], curves[4096];
	int table_fd, curves_fd; /* -1: they are files */
};

/* Is anything said of what goes where? */
static int has_wish(const struct args *a)
{
	return a->x || a->by || a->panels || a->metrics.n > 0 ||
	    a->curves.n > 0 || a->heatmap || a->log_x || a->log_y;
}

/* A results file may be anybody's, so its figure need not be a plain name. */
static int plot_is_plain(const char *figure)
{
	return figure[0] &&
	    !figure[strspn(figure, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* The script that was asked for, the figure's own, or that of any sweep. */
static int find_script(struct figure *f, int *is_own, struct sim_err *e)
{
	const char *figure = f->cube.figure;
	*is_own = 0;
	if (f->a->script)
		return cmd_find(&f->script, f->a->script, "plots", ".gp", e);
	if (!has_wish(f->a) && plot_is_plain(figure) &&
	    cmd_find(&f->script, figure, "plots", ".gp", e) == 0) {
		*is_own = 1;
		return 0;
	}
	return cmd_find(&f->script, "sweep", "plots", ".gp", e);
}

static void find_style(struct figure *f)
{
	char *style = NULL;
	snprintf(f->folder, sizeof(f->folder), "plots");
	if (cmd_find(&style, "style", "plots", ".gp", NULL) == 0)
		snprintf(f->folder, sizeof(f->folder), "%s", dirname(style));
	free(style);
}

/* A script of one's own may need no picture, so that none can be made is no
 * error of it unless it was asked for. */
static int plot_arrange(struct figure *f, struct sim_err *e)
{
	const struct args *a = f->a;
	const struct res_wish wish = {.x = a->x,
	    .by = a->by,
	    .panels = a->panels,
	    .metric = a->metrics.word,
	    .n_metrics = a->metrics.n,
	    .curve = a->curves.word,
	    .n_curves = a->curves.n,
	    .heatmap = a->heatmap,
	    .log_x = a->log_x,
	    .log_y = a->log_y};
	int is_own, rc = find_script(f, &is_own, e);
	find_style(f);
	if (rc < 0 || is_own)
		return rc;
	rc = res_picture_arrange(&f->picture, &f->cube, &wish, &f->no_picture);
	f->has_picture = rc == 0;
	if (rc == 0 || (rc != SIM_ENOMEM && a->script && !has_wish(a)))
		return 0;
	return sim_fail(e, rc, "%s: %s", f->path, f->no_picture.msg);
}

/* PATH's own name without its suffix: two results of one figure do not share
 * their files. */
static void name_files(struct figure *f)
{
	const char *slash = strrchr(f->path, '/');
	const char *name = slash ? slash + 1 : f->path;
	const char *dot = strrchr(name, '.');
	const int n = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
	snprintf(f->stem, sizeof(f->stem), "%s/%.*s",
	    f->a->output ? f->a->output : "plots/out", n, name);
}

/* gnuplot leaves such bytes out of its arguments, and then finds no such file. */
static int plot_check_bytes(const char *path, struct sim_err *e)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return sim_fail(e, SIM_EINVAL,
			    "-o: gnuplot takes no path with byte %d in it.",
			    *c);
	return 0;
}

/* No file that will be written may be the one that was read. */
static int check_outputs(const struct figure *f, struct sim_err *e)
{
	static const char *const suffix[] = {".svg", ".pdf", ".png", ".tsv",
	    ".curves.tsv"};
	char *const read = f->path;
	char out[4096];
	int rc = plot_check_bytes(f->a->output ? f->a->output : f->stem, e);
	if (rc == 0 && names_file(f->a))
		return cmd_check_output("-o", f->a->output, &read, 1, e);
	for (size_t i = 0; rc == 0 && i < sizeof(suffix) / sizeof(*suffix);
	     i++) {
		snprintf(out, sizeof(out), "%s%s", f->stem, suffix[i]);
		rc = cmd_check_output("-o", out, &read, 1, e);
	}
	return rc;
}

/* --- tables ----------------------------------------------------------------*/

static int print_all(const struct figure *f, int is_curves, char **text,
    struct sim_err *e)
{
	size_t n = 0;
	int rc = 0;
	FILE *out = open_memstream(text, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	if (is_curves)
		res_picture_write(&f->picture, out);
	else
		rc = res_table_write(&f->cube, out, e);
	if (fclose(out) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	return rc;
}

/* Put a table where gnuplot reads it: beside the figures if these go to a
 * folder, else in memory. */
static int plot_put_table(const struct figure *f, int is_curves,
    char path[4096], int *fd, struct sim_err *e)
{
	char *text = NULL, *stamped = NULL;
	size_t n = 0;
	int rc = print_all(f, is_curves, &text, e);
	if (rc == 0)
		rc = res_stamp_table(&stamped, &n, text, &f->stamp, e);
	if (rc == 0 && (f->a->term || names_file(f->a))) {
		rc = xp_gnuplot_hold(fd, path, stamped, n, e);
	} else if (rc == 0) {
		snprintf(path, 4096, "%s%s.tsv", f->stem,
		    is_curves ? ".curves" : "");
		if ((rc = cmd_make_way(path, e)) == 0)
			rc = cmd_write_file(path, stamped, n, e);
	}
	free(stamped);
	free(text);
	return rc;
}

/* How long each run of a rack was, by the spec with what it was overridden by. A
 * spec that this build can't read any more, as it names a plug-in, has 0. */
static double plot_run_s(const struct res_cube *c)
{
	struct xp_spec s;
	double seconds = 0;
	if (xp_spec_load_again(&s, c, "", NULL) == 0) {
		const struct sim_yaml_node *n =
		    sim_yaml_get(sim_yaml_get(s.yaml.root, "rack"), "length");
		if (n && n->kind == SIM_YAML_SCALAR)
			seconds = strtod(n->text, NULL);
	}
	xp_spec_free(&s);
	return seconds;
}

static int plot_describe(struct figure *f, struct sim_err *e)
{
	const struct res_cube *c = &f->cube;
	const struct xp_figure say = {.cube = c,
	    .path = f->path,
	    .title = f->a->title ? f->a->title : c->title,
	    .run_s = plot_run_s(c),
	    .x = f->a->x        ? f->a->x
		: c->n_axes > 0 ? c->axis[0].coord[0].name
				: "runs",
	    .picture = f->has_picture ? &f->picture : NULL,
	    .curves = f->curves};
	int rc = plot_put_table(f, 0, f->table, &f->table_fd, e);
	if (rc == 0 && f->has_picture)
		rc = plot_put_table(f, 1, f->curves, &f->curves_fd, e);
	return rc == 0 ? xp_gnuplot_describe(&f->vars, &say, e) : rc;
}

/* --- figures ---------------------------------------------------------------*/

/* What gnuplot drew, with its stamp, becomes OUT. */
static int finish(const struct figure *f, const char *temp, const char *out,
    struct sim_err *e)
{
	void *bytes = NULL;
	char *stamped = NULL;
	size_t n = 0, n_stamped = 0;
	struct stat st;
	if (stat(temp, &st) < 0 || st.st_size == 0)
		return sim_fail(e, SIM_EIO,
		    "cannot write %s: the script drew nothing.", out);
	int rc = res_file_read(temp, &bytes, &n, e);
	if (rc == 0 &&
	    (rc = res_stamp_image(&stamped, &n_stamped, bytes, n, &f->stamp,
		 e)) < 0)
		rc = sim_wrap(e, rc, "what %s drew for %s", f->script, out);
	if (rc == 0)
		rc = cmd_write_file(out, stamped, n_stamped, e);
	free(stamped);
	free(bytes);
	return rc;
}

/* gnuplot writes as it goes, so the figure gets its name only when it is whole.
 * The suffix stays, as scripts tell formats by it. */
static int draw_file(const struct figure *f, const char *out, size_t format,
    struct sim_err *e)
{
	char temp[4160];
	snprintf(temp, sizeof(temp), "%s.tmp.%ld.%s", out, (long)getpid(),
	    formats[format]);
	int rc = cmd_make_way(temp, e);
	if (rc == 0)
		rc = xp_gnuplot_run(f->script, f->folder, f->vars, f->table,
		    temp, e);
	if (rc == 0)
		rc = finish(f, temp, out, e);
	unlink(temp);
	if (rc == 0)
		printf("%s\n", out);
	return rc;
}

/* A script that failed may have been one that needs a picture. */
static int say_why(const struct figure *f, int rc, struct sim_err *e)
{
	const struct sim_err was = *e;
	if (rc < 0 && !f->has_picture && f->no_picture.code)
		return sim_fail(e, rc,
		    "%.400s It was told of no picture: %.400s", was.msg,
		    f->no_picture.msg);
	return rc;
}

static int draw_all(struct figure *f, struct sim_err *e)
{
	const struct args *a = f->a;
	char out[4096];
	int rc = 0;
	if (a->term)
		return xp_gnuplot_run(f->script, f->folder, f->vars, f->table,
		    "-", e);
	if (names_file(a))
		return draw_file(f, a->output, format_of(a->output), e);
	for (size_t i = 0; i < N_FORMATS && rc == 0; i++)
		if (a->format[i]) {
			snprintf(out, sizeof(out), "%s.%s", f->stem,
			    formats[i]);
			rc = draw_file(f, out, i, e);
		}
	return rc;
}

static void free_figure(struct figure *f)
{
	if (f->table_fd >= 0)
		close(f->table_fd);
	if (f->curves_fd >= 0)
		close(f->curves_fd);
	free(f->path);
	free(f->script);
	free(f->vars);
	res_picture_free(&f->picture);
	res_cube_free(&f->cube);
}

static int plot(const struct args *a, const char *name)
{
	struct figure f = {.a = a, .table_fd = -1, .curves_fd = -1};
	struct sim_err e = {0};
	int rc = cmd_find_results(&f.path, name, &e), code = CMD_TROUBLE;
	if (rc == 0 && (rc = res_h5_read(&f.cube, f.path, &e)) == 0) {
		cmd_warn_unfinished(&f.cube, f.path);
		name_files(&f);
		rc = plot_arrange(&f, &e);
		/* Whatever is wrong until here is said before a file is
		 * written, and mostly of the command line. */
		if (rc == 0 && !a->term)
			rc = check_outputs(&f, &e);
		code = cmd_exit_of(rc);
	}
	if (rc == 0) {
		code = CMD_TROUBLE;
		rc = res_stamp_fill(&f.stamp, &f.cube, f.path, &e);
		if (a->title)
			snprintf(f.stamp.title, sizeof(f.stamp.title), "%s",
			    a->title);
		if (rc == 0 && (rc = plot_describe(&f, &e)) == 0)
			rc = say_why(&f, draw_all(&f, &e), &e);
	}
	free_figure(&f);
	return rc < 0 ? cmd_fail(code, &e) : CMD_GOOD;
}

int cmd_plot(int argc, char **argv)
{
	struct args a = {.format = {1, 1, 1}};
	int code = CMD_GOOD;
	cmd_parse(&plot_line, argc, argv, &a);
	for (size_t i = 0; i < a.files.n; i++) {
		const int one = plot(&a, a.files.word[i]);
		code = one > code ? one : code;
	}
	return code;
}
