/* experiments/cmd_plot.c -- culprit plot: a table, then gnuplot.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/cmd.h"
#include "results/table.h"
#include "sim/yaml.h"

enum { KEY_FORMAT = 1000, KEY_TERM, KEY_SCRIPT };

static const struct argp_option options[] = {
	{"output", 'o', "FOLDER", 0, "where figures go (plots/out)", 0},
	{"format", KEY_FORMAT, "LIST", 0, "of svg,pdf,png (all three)", 0},
	{"term", KEY_TERM, NULL, 0, "draw in the terminal instead", 0},
	{"script", KEY_SCRIPT, "FILE.gp", 0,
	    "gnuplot script (plots/FIGURE.gp, else plots/sweep.gp)", 0},
	{0},
};

struct args {
	char **files;
	size_t n_files;
	const char *folder, *formats, *script;
	int term;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'o':
		a->folder = arg;
		return 0;
	case KEY_FORMAT:
		a->formats = arg;
		return 0;
	case KEY_TERM:
		a->term = 1;
		return 0;
	case KEY_SCRIPT:
		a->script = arg;
		return 0;
	case ARGP_KEY_ARGS:
		a->files = state->argv + state->next;
		a->n_files = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE or FIGURE?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE|FIGURE...",
	.doc = "Draw results (a file, or results/out/FIGURE.h5) by gnuplot. "
	       "Each figure is written beside the table it is drawn from.",
};

/* 'text' for gnuplot: a quote inside is doubled. */
static void quote(const char *text, char *buf, size_t size)
{
	size_t n = 0;
	buf[n++] = '\'';
	for (; *text && n + 4 < size; text++) {
		if (*text == '\'')
			buf[n++] = '\'';
		if ((unsigned char)*text >= ' ')
			buf[n++] = *text;
	}
	buf[n++] = '\'';
	buf[n] = '\0';
}

/* What a script may say beside its columns: title, paper, partial, algos, x,
 * and the wording of each claim as claim_<metric>. */
static void describe(const struct res_cube *c, char *buf, size_t size)
{
	const struct res_progress p = res_cube_progress(c);
	char text[512], quoted[600];
	size_t n = 0;
	int k;
	quote(c->title, quoted, sizeof(quoted));
	k = snprintf(buf, size, "title=%s;", quoted);
	n += (size_t)k;
	quote(c->paper, quoted, sizeof(quoted));
	n += (size_t)snprintf(buf + n, size - n, "paper=%s;", quoted);
	text[0] = '\0';
	if (p.n_done < p.n_cells)
		snprintf(text, sizeof(text), "partial: %llu of %llu runs",
		    (unsigned long long)p.n_done,
		    (unsigned long long)p.n_cells);
	quote(text, quoted, sizeof(quoted));
	n += (size_t)snprintf(buf + n, size - n, "partial=%s;runs=%zu;",
	    quoted, c->n_runs);
	quote(c->n_axes ? c->axis[0].coord[0].name : "runs", quoted,
	    sizeof(quoted));
	n += (size_t)snprintf(buf + n, size - n, "x=%s;algos=\"", quoted);
	for (size_t i = 0; i < c->n_algos && n + 80 < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s'%s'",
		    i ? " " : "", c->algo[i]);
	n += (size_t)snprintf(buf + n, size - n, "\";");
	for (size_t i = 0; i < c->n_claims && n + 700 < size; i++) {
		snprintf(text, sizeof(text), "%s%s", c->claim[i].text,
		    c->claim[i].confirmed ? "" : " (unconfirmed)");
		quote(text, quoted, sizeof(quoted));
		n += (size_t)snprintf(buf + n, size - n, "claim_%s=%s;",
		    c->claim[i].metric, quoted);
	}
}

static int run_gnuplot(const char *script, const char *vars, const char *table,
    const char *out, struct sim_err *e)
{
	char *copy = NULL, *folder;
	int status, rc = sim_yaml_dup(&copy, script, e);
	if (rc < 0)
		return rc;
	folder = dirname(copy);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("GNUPLOT_LIB", folder, 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		execlp("gnuplot", "gnuplot", "-e", vars, "-c", script, table,
		    out, (char *)NULL);
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
		return sim_fail(e, SIM_EDEP, "gnuplot could not draw %s by %s.",
		    out, script);
	return 0;
}

static int write_table(const struct res_cube *c, const char *path,
    struct sim_err *e)
{
	FILE *f = fopen(path, "w");
	if (!f)
		return sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		    strerror(errno));
	int rc = res_table_write(c, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		    strerror(errno));
	return rc;
}

static int draw(const struct args *a, const struct res_cube *c,
    const char *script, struct sim_err *e)
{
	static const char *const formats[] = {"svg", "pdf", "png"};
	char table[1024], out[1024], vars[8192];
	snprintf(table, sizeof(table), "%s/%s.tsv", a->folder, c->figure);
	int rc = cmd_make_way(table, e);
	if (rc == 0)
		rc = write_table(c, table, e);
	describe(c, vars, sizeof(vars));
	if (rc == 0 && a->term)
		return run_gnuplot(script, vars, table, "-", e);
	for (size_t i = 0; i < 3 && rc == 0; i++) {
		if (!strstr(a->formats, formats[i]))
			continue;
		snprintf(out, sizeof(out), "%s/%s.%s", a->folder, c->figure,
		    formats[i]);
		rc = run_gnuplot(script, vars, table, out, e);
		if (rc == 0)
			printf("%s\n", out);
	}
	return rc;
}

static int find_script(char **out, const struct args *a, const char *figure,
    struct sim_err *e)
{
	if (a->script)
		return sim_yaml_dup(out, a->script, e);
	if (cmd_find(out, figure, "plots", ".gp", e) == 0)
		return 0;
	return cmd_find(out, "sweep", "plots", ".gp", e);
}

int cmd_plot(int argc, char **argv)
{
	struct args a = {.folder = "plots/out", .formats = "svg,pdf,png"};
	int code = CMD_GOOD;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	for (size_t i = 0; i < a.n_files; i++) {
		struct res_cube c = {0};
		struct sim_err e = {0};
		char *script = NULL;
		int rc = cmd_read_results(&c, a.files[i], &e);
		if (rc == 0)
			rc = find_script(&script, &a, c.figure, &e);
		if (rc == 0)
			rc = draw(&a, &c, script, &e);
		if (rc < 0)
			code = cmd_fail(CMD_TROUBLE, &e);
		free(script);
		res_cube_free(&c);
	}
	return code;
}
