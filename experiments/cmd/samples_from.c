/* experiments/cmd/samples_from.c -- what verbs that read samples share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/samples_from.h"

#include <stdio.h>

#include "experiments/cmd/cmd.h"
#include "results/json.h"

static void rows_begin(struct cmd_rows *r, int json, const char *const head[])
{
	*r = (struct cmd_rows){.json = json};
	if (json) {
		printf("[");
		return;
	}
	for (size_t i = 0; head[i]; i++)
		printf("%s%s", i > 0 ? "\t" : "", head[i]);
	printf("\n");
}

/* What parts a row from that before it, and ends it, stands before the next. */
void cmd_rows_row(struct cmd_rows *r)
{
	if (r->json)
		printf(r->n_rows > 0 ? "},\n{" : "{");
	else if (r->n_rows > 0)
		printf("\n");
	r->n_rows++;
	r->n_cells = 0;
}

static void rows_cell(struct cmd_rows *r, const char *key)
{
	if (r->n_cells++ > 0)
		printf(r->json ? ", " : "\t");
	if (r->json)
		printf("\"%s\": ", key);
}

void cmd_rows_text(struct cmd_rows *r, const char *key, const char *text)
{
	rows_cell(r, key);
	if (r->json)
		res_json_text(stdout, text);
	else
		printf("%s", text);
}

void cmd_rows_number(struct cmd_rows *r, const char *key, double x)
{
	rows_cell(r, key);
	if (r->json)
		res_json_number(stdout, x);
	else
		printf("%.6g", x);
}

static void rows_end(struct cmd_rows *r)
{
	if (r->json)
		printf(r->n_rows > 0 ? "}]\n" : "]\n");
	else if (r->n_rows > 0)
		printf("\n");
}

void cmd_samples_warn(const char *path, const struct res_samples *r)
{
	const char *said = res_samples_said(r);
	if (said)
		fprintf(stderr, "culprit: %s: %s.\n", path, said);
}

static int samples_each(struct xp_racks *r,
    int (*work)(void *arg, const struct xp_racks *r, struct sim_err *e),
    void *arg, struct sim_err *e)
{
	size_t n = 0;
	int rc = xp_racks_next(r, &n, e);
	while (rc == 0 && n > 0)
		if ((rc = work(arg, r, e)) == 0)
			rc = xp_racks_next(r, &n, e);
	return rc;
}

int cmd_samples_each(const struct cmd_samples_from *from,
    const char *const head[], struct cmd_rows *rows,
    int (*work)(void *arg, const struct xp_racks *r, struct sim_err *e),
    void *arg)
{
	struct xp_racks r = {0};
	struct sim_err e = {0};
	int rc = xp_racks_open(&r, from->file, &from->racks, &e);
	if (rc == 0) {
		cmd_samples_warn(from->file, r.file);
		rows_begin(rows, from->json, head);
		rc = samples_each(&r, work, arg, &e);
		rows_end(rows);
	}
	xp_racks_close(&r);
	if (rc == 0)
		return CMD_GOOD;
	return cmd_fail(rc == SIM_EINVAL ? CMD_USAGE : CMD_TROUBLE, &e);
}
