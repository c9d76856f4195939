/* experiments/arena/tuned.c -- values of rivals that do best on a training half.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/tuned.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/arena/suite.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { TUNED_COLUMNS = 6 };
static const char tuned_head[] =
    "telemetry\talgorithm\tentry\twindows\tf_own\tf";

void xp_arena_tuned_free(struct xp_arena_tuned *t)
{
	free(t->row);
	free(t->text);
	*t = (struct xp_arena_tuned){0};
}

static int tuned_row(struct xp_arena_tuned *t, char *line, struct sim_err *e)
{
	char *column[TUNED_COLUMNS];
	struct xp_arena_tuned_row x = {0};
	int rc;
	for (size_t i = 0; i < TUNED_COLUMNS; i++) {
		column[i] = strsep(&line, "\t");
		if (!column[i])
			return sim_fail(e, SIM_EPARSE,
			    "has %zu columns; expected %d.", i, TUNED_COLUMNS);
	}
	while (xp_arena_telemetries[x.telemetry].name &&
	    strcmp(xp_arena_telemetries[x.telemetry].name, column[0]) != 0)
		x.telemetry++;
	if (!xp_arena_telemetries[x.telemetry].name)
		return sim_fail(e, SIM_EPARSE,
		    "there is no telemetry \"%.40s\".", column[0]);
	x.algorithm = column[1];
	x.entry = column[2];
	if ((rc = sim_parse_f64(column[3], &x.windows, e)) < 0 ||
	    (rc = sim_parse_f64(column[4], &x.f_own, e)) < 0 ||
	    (rc = sim_parse_f64(column[5], &x.f, e)) < 0 ||
	    (rc = SIM_RESERVE(&t->row, &t->cap, t->n + 1, e)) < 0)
		return rc;
	t->row[t->n++] = x;
	return 0;
}

static int tuned_line(struct xp_arena_tuned *t, unsigned number, char *line,
    struct sim_err *e)
{
	if (number == 1) {
		const int n = sscanf(line,
		    "# arena %u, size %7[a-z], seed %" SCNu64
		    ", %u runs, %u tries",
		    &t->version, t->size, &t->seed, &t->runs, &t->tries);
		if (n != 5)
			return sim_fail(e, SIM_EPARSE,
			    "not what `culprit arena --tune` writes.");
		return t->version == XP_ARENA_VERSION
		    ? 0
		    : sim_fail(e, SIM_EPARSE,
			  "is of arena %u, and this is arena %d; `culprit "
			  "arena --tune` makes it anew.",
			  t->version, XP_ARENA_VERSION);
	}
	if (number == 2)
		return strcmp(line, tuned_head) == 0
		    ? 0
		    : sim_fail(e, SIM_EPARSE, "has other columns.");
	return tuned_row(t, line, e);
}

int xp_arena_tuned_read(struct xp_arena_tuned *t, char *text, const char *name,
    struct sim_err *e)
{
	unsigned number = 0;
	int rc = 0;
	t->text = text;
	for (char *at = text; rc == 0 && *at;) {
		char *line = strsep(&at, "\n");
		number++;
		rc = at ? tuned_line(t, number, line, e)
			: sim_fail(e, SIM_EPARSE, "is cut off.");
		if (rc < 0 && rc != SIM_ENOMEM)
			rc = sim_wrap(e, SIM_EPARSE, "%s:%u", name, number);
	}
	if (rc == 0 && number < 2)
		rc = sim_fail(e, SIM_EPARSE, "%s: ends within its head.", name);
	return rc;
}

const struct xp_arena_tuned_row *
xp_arena_tuned_find(const struct xp_arena_tuned *t, size_t telemetry,
    const char *algorithm)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].telemetry == telemetry &&
		    strcmp(t->row[i].algorithm, algorithm) == 0)
			return &t->row[i];
	return NULL;
}

void xp_arena_tuned_print(const struct xp_arena_tuned *t, FILE *out)
{
	fprintf(out,
	    "# arena %u, size %s, seed %" PRIu64
	    ", %u runs, %u tries: written by `culprit arena --tune`\n%s\n",
	    t->version, t->size, t->seed, t->runs, t->tries, tuned_head);
	for (size_t i = 0; i < t->n; i++) {
		const struct xp_arena_tuned_row *x = &t->row[i];
		fprintf(out, "%s\t%s\t%s\t%.0f\t%.4f\t%.4f\n",
		    xp_arena_telemetries[x->telemetry].name, x->algorithm,
		    x->entry, x->windows, x->f_own, x->f);
	}
}
