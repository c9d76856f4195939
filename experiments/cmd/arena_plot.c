/* experiments/cmd/arena_plot.c -- the arena's figures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/arena_plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/plot/gnuplot.h"
#include "results/file.h"
#include "results/provenance.h"
#include "results/stamp.h"

const struct cmd_arena_figure cmd_arena_figures[] = {
    {"front", "Accuracy against what telemetry costs"},
    {"map", "F by family of faults"},
    {"cd", "Mean ranks, and critical differences"},
    {"scaling", "CPU of a window against the size of the network"},
    {0},
};

void cmd_arena_put_label(struct sim_text *t, const char *label)
{
	sim_put(t, "\"");
	for (const char *c = label; *c; c++)
		sim_put(t, "%c", *c == '\'' || *c == '"' ? '`' : *c);
	sim_put(t, "\" ");
}

/* A figure tells which standing it is of. */
static int arena_stamp(const struct cmd_arena_plot *p, const char *path,
    struct sim_err *e)
{
	struct res_stamp s = {.n = 2,
	    .item = {{.name = "culprit"}, {.name = "arena"}}};
	void *bytes = NULL;
	char *stamped = NULL;
	size_t n = 0, n_stamped = 0;
	snprintf(s.title, sizeof(s.title), "%s", p->title);
	snprintf(s.item[0].value, RES_STAMP_BYTES, "%s", res_version());
	snprintf(s.item[1].value, RES_STAMP_BYTES, "made of %016" PRIx64,
	    p->made_of);
	int rc = res_file_read(path, &bytes, &n, e);
	if (rc == 0)
		rc = res_stamp_image(&stamped, &n_stamped, bytes, n, &s, e);
	if (rc == 0)
		rc = cmd_write_file(path, stamped, n_stamped, e);
	free(stamped);
	free(bytes);
	return rc;
}

/* FIGURE of DIR's table NAME.tsv, by the script plots/arena_NAME.gp. */
static int arena_draw(const struct cmd_arena_plot *p, const char *name,
    const char *vars, struct sim_err *e)
{
	static const char *const formats[] = {"svg", "pdf", "png"};
	char figure[32], table[4096], out[4096], *script = NULL;
	snprintf(figure, sizeof(figure), "arena_%s", name);
	snprintf(table, sizeof(table), "%s/%s.tsv", p->dir, name);
	int rc = cmd_find(&script, figure, "plots", ".gp", e);
	for (size_t i = 0; rc == 0 && i < 3; i++) {
		snprintf(out, sizeof(out), "%s/%s.%s", p->dir, figure,
		    formats[i]);
		rc = xp_gnuplot_run(script, "plots", vars, table, out, e);
		if (rc == 0)
			rc = arena_stamp(p, out, e);
		if (rc == 0)
			printf("%s\n", out);
	}
	free(script);
	return rc;
}

int cmd_arena_draw(const struct cmd_arena_plot *p, struct sim_err *e)
{
	char *vars = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&vars, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	fprintf(out,
	    "title = '%s'\npaper = ''\nruns = %zu\nalgos = '%s'\n"
	    "told = 'means of %zu runs, with 95 %% intervals between runs'\n",
	    p->title, p->n_runs, p->algos, p->n_runs);
	int rc = fclose(out) == 0
	    ? 0
	    : sim_fail(e, SIM_ENOMEM, "no memory for labels.");
	for (size_t i = 0; rc == 0 && cmd_arena_figures[i].name; i++)
		rc = arena_draw(p, cmd_arena_figures[i].name, vars, e);
	free(vars);
	return rc;
}
