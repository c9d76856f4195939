/* experiments/cmd/explain.c -- culprit explain: one cell of a sweep, drawn.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiments/cmd/cmd.h"
#include "experiments/report/draw.h"
#include "experiments/report/markup.h"
#include "experiments/spec/fabric.h"
#include "experiments/sweep/memory.h"
#include "experiments/sweep/progress.h"
#include "models/clock.h"

struct args {
	const char *spec, *output;
	struct cmd_set set, algo;
	uint64_t point, run;
	int smoke;
};

static const struct cmd_option explain_options[] = {
    {"point", 0, "P", "of the sweep, counted from 0 (default: 0)",
	.take = cmd_take_u64, .at = CMD_AT(point), .max = UINT64_MAX},
    {"run", 0, "R", "of that point, from 0 (default: 0)", .take = cmd_take_u64,
	.at = CMD_AT(run), .max = UINT64_MAX},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. faults.count=3; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"algorithm", 'a', "LABEL",
	"whose verdicts are told, up to 4; scores of the first are drawn "
	"(default: the first 4 of the spec); may be repeated",
	.take = cmd_take_set, .at = CMD_AT(algo), .max = XP_MAX_COLUMNS},
    {"output", 'o', "FILE",
	"FILE.svg: the drawing; FILE.txt: the text (default: the text, to "
	"stdout)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {0},
};

static const struct cmd_line explain_line = {
    .options = explain_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "which SPEC?",
    .args_doc = "SPEC",
    .doc =
	"Run one cell of SPEC's sweep again and show it: the network, what was "
	"broken, the links that failed flows crossed, the scores that an "
	"algorithm gave to links, and what each algorithm accused, hit, and "
	"missed.\v"
	"The cell is that of the sweep: the same point and run give the same "
	"numbers, and the same drawing to the byte. Of a network with more "
	"than 96 switches in a row the parts are drawn that matter, and a "
	"line says what was left out. What the whole sweep will take, if all "
	"cells are like this one, is told on stderr. Programs and libraries "
	"that SPEC names "
	"as algorithms are started and loaded, as by `culprit run`.",
};

static int has_suffix_of(const char *path, const char *suffix)
{
	const size_t n = strlen(path), k = strlen(suffix);
	return n > k && strcasecmp(path + n - k, suffix) == 0;
}

/* --- what is asked -------------------------------------------------------- */

static int explain_find_label(const struct xp_config *c, const char *label,
    size_t *at, struct sim_err *e)
{
	for (size_t i = 0; i < c->n_algos; i++)
		if (strcmp(c->algo[i].label, label) == 0) {
			*at = i;
			return 0;
		}
	return sim_fail(e, SIM_EINVAL,
	    "--algorithm %.60s: the spec has no algorithm of that label%s%s.",
	    label, c->n_algos ? "; its first is " : ", or any",
	    c->n_algos ? c->algo[0].label : "");
}

static int choose_columns(struct xp_drawing *d, const struct args *a,
    const struct xp_config *c, struct sim_err *e)
{
	int rc = 0;
	for (; rc == 0 && d->n_algos < a->algo.n_set; d->n_algos++)
		rc = explain_find_label(c, a->algo.set[d->n_algos],
		    &d->algo[d->n_algos], e);
	for (size_t i = 0;
	     a->algo.n_set == 0 && i < c->n_algos && i < XP_MAX_COLUMNS; i++)
		d->algo[d->n_algos++] = i;
	return rc;
}

/* --- the cell ------------------------------------------------------------- */

static int draw_picture(const struct xp_picture *p, const struct args *a,
    const char *where, struct mark_buffer *svg, struct sim_err *e)
{
	struct xp_drawing d = {.where = where};
	struct xp_layout l = {0};
	int rc = choose_columns(&d, a, p->cell.config, e);
	if (rc == 0)
		rc = xp_layout_make(&l, p, 1000, e);
	if (rc == 0 && (rc = mark_open(svg, e)) == 0) {
		xp_draw_cell(svg->out, p, &l, &d);
		rc = mark_close(svg, 0, e);
	}
	xp_layout_free(&l);
	return rc;
}

static int put_picture(const struct xp_picture *p, const struct args *a,
    const char *where, struct sim_err *e)
{
	struct mark_buffer svg = {0};
	int rc;
	if (!a->output) {
		fputs(p->text, stdout);
		return 0;
	}
	if (has_suffix_of(a->output, ".txt"))
		return cmd_write_file(a->output, p->text, strlen(p->text), e);
	if ((rc = draw_picture(p, a, where, &svg, e)) == 0)
		rc = cmd_write_file(a->output, svg.text, svg.n, e);
	free(svg.text);
	return rc;
}

static int explain_cell(struct xp_spec *s, const struct args *a,
    const struct res_cube *c, struct sim_err *e)
{
	struct xp_trial *t = NULL;
	struct xp_picture p = {0};
	char where[256];
	double *row = calloc(c->cell_doubles, sizeof(*row));
	int rc = row ? xp_trial_open(&t, s, e)
		     : sim_fail(e, SIM_ENOMEM, "no memory for a row.");
	if (rc == 0)
		rc = xp_picture_take(&p, t, (size_t)a->point, (uint32_t)a->run,
		    row, e);
	if (rc == 0) {
		xp_point_text(c, (size_t)a->point * c->n_along, where,
		    sizeof(where));
		rc = put_picture(&p, a, where, e);
	}
	if (rc == 0 && a->output)
		printf("%s\n", a->output);
	xp_picture_free(&p);
	xp_trial_close(t);
	free(row);
	return rc;
}

/* On stderr, as it is of this machine, and no two times alike. */
static void explain_tell_cost(const struct xp_spec *s, double cell_s)
{
	char all[32], time[32] = "";
	struct xp_memory m;
	const double cells = (double)s->n_points * s->runs;
	xp_memory_of(&m, s, s->is_real ? 1 : cmd_processors(), 1);
	xp_progress_add_time(time, sizeof(time), cell_s * cells / m.n_workers);
	fprintf(stderr,
	    "culprit: the sweep has %.0f cell%s: if all are like this one, "
	    "which "
	    "took %.3g s, about %s with -j %u. It takes %s of memory at "
	    "least.\n",
	    cells, cells == 1 ? "" : "s", cell_s, time, m.n_workers,
	    xp_memory_text(all, xp_memory_all(&m)));
}

static int explain_check_output(const struct args *a, struct sim_err *e)
{
	char *spec = NULL;
	int rc = 0;
	if (!a->output)
		return 0;
	if (!has_suffix_of(a->output, ".svg") &&
	    !has_suffix_of(a->output, ".txt"))
		return sim_fail(e, SIM_EINVAL,
		    "-o %.200s: a cell is drawn as .svg or told as .txt.",
		    a->output);
	rc = cmd_find(&spec, a->spec, "experiments", ".yaml", e);
	if (rc == 0 && cmd_is_same_file(a->output, spec))
		rc = sim_fail(e, SIM_EINVAL, "-o %.200s is the spec itself.",
		    a->output);
	free(spec);
	return rc;
}

static int explain_spec(struct xp_spec *s, const struct args *a,
    struct sim_err *e)
{
	const sim_ns from = clock_now();
	struct res_cube c = {0};
	int rc = cmd_check_cell(s, a->point, a->run, e);
	if (rc == 0 && (rc = explain_check_output(a, e)) == 0 && s->is_real)
		rc = xp_fabrics_usable(s->takes, e);
	if (rc == 0 && (rc = xp_spec_cube(s, 0, 1, &c, e)) == 0)
		rc = explain_cell(s, a, &c, e);
	if (rc == 0)
		explain_tell_cost(s, 1e-9 * (double)(clock_now() - from));
	res_cube_free(&c);
	return rc;
}

int cmd_explain(int argc, char **argv)
{
	struct args a = {.spec = NULL};
	struct sim_err e = {0};
	struct xp_spec s = {0};
	cmd_parse(&explain_line, argc, argv, &a);
	int code, rc;
	if ((rc = cmd_load_spec(&s, a.spec, a.smoke, a.set.set, a.set.n_set,
		 &e)) < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else
		code = (rc = explain_spec(&s, &a, &e)) < 0
		    ? cmd_fail(cmd_exit_of(rc), &e)
		    : CMD_GOOD;
	xp_spec_free(&s);
	return code;
}
