/* experiments/cmd/report_arena.c -- what the arena came to, in a report.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/report_arena.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd/arena_plot.h"
#include "results/file.h"

int cmd_report_is_arena(const char *dir)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/standing.tsv", dir);
	return access(path, R_OK) == 0;
}

static int report_read(const char *dir, const char *name, char **text,
    struct sim_err *e)
{
	char path[4096];
	void *bytes = NULL;
	size_t n;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	const int rc = res_file_read(path, &bytes, &n, e);
	*text = bytes;
	return rc;
}

/* "# ABOUT; answer: ANSWER; made of 0123456789abcdef", cut in place. */
struct report_head {
	char *about, *answer, *made_of;
};

static int report_head(char *line, struct report_head *h)
{
	line[strcspn(line, "\n")] = '\0';
	char *answer = strstr(line, "; answer: "),
	     *made = answer ? strstr(answer, "; made of ") : NULL;
	if (strncmp(line, "# ", 2) != 0 || !made)
		return SIM_EPARSE;
	*answer = *made = '\0';
	*h = (struct report_head){line + 2, answer + strlen("; answer: "),
	    made + 2};
	return 0;
}

/* Figures of these tables, *SVG to be freed. */
static void report_drawings(const char *dir, const struct report_head *h,
    struct xp_page_drawn *d, char *svg[])
{
	for (size_t i = 0; cmd_arena_figures[i].name && d->n < XP_PAGE_DRAWN;
	     i++) {
		char name[64];
		snprintf(name, sizeof(name), "arena_%s.svg",
		    cmd_arena_figures[i].name);
		d->drawing[d->n].caption = cmd_arena_figures[i].caption;
		d->drawing[d->n].no_svg = "`culprit arena --plot` draws it.";
		if (report_read(dir, name, &svg[i], NULL) == 0 &&
		    strstr(svg[i], h->made_of))
			d->drawing[d->n].svg = svg[i];
		d->n++;
	}
}

int cmd_report_arena(struct xp_report_page *p, const char *dir,
    struct sim_err *e)
{
	struct xp_page_drawn d = {.path = dir,
	    .figure = "arena",
	    .title = "Which localiser finds the fault with the least "
		     "telemetry?",
	    .table_note =
		"F is the mean over windows with a fault, families counting "
		"alike, with its 95 % interval between runs; false alarms are "
		"of "
		"a day of quiet windows of 30 s, with exact bounds; ece is how "
		"far stated chances are off, and what it would be if they "
		"were right; right_s is when an answer is first right, asked "
		"for after 1/16, 1/8, ... of 30 s; of windows that were not "
		"answered F is 0; costs "
		"are a second's; cpu_s and memory_bytes are measured, of a "
		"window."};
	char *standing = NULL, *table = NULL, *svg[XP_PAGE_DRAWN] = {0};
	struct report_head h = {0};
	int rc = report_read(dir, "standing.tsv", &standing, e);
	if (rc == 0 && (rc = report_head(standing, &h)) < 0)
		rc = sim_fail(e, rc,
		    "%s/standing.tsv:1: not what `culprit arena` writes.", dir);
	if (rc == 0 && (rc = report_read(dir, "table.tsv", &table, e)) == 0) {
		d.about = h.about;
		d.says = h.answer;
		d.table = table;
		report_drawings(dir, &h, &d, svg);
		rc = xp_page_add_drawn(p, &d, e);
	}
	for (size_t i = 0; i < XP_PAGE_DRAWN; i++)
		free(svg[i]);
	free(standing);
	free(table);
	return rc;
}
