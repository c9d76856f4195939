/* experiments/report/draw_table.c -- heading, legend and table of a drawing.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/report/draw_parts.h"
#include "experiments/report/markup.h"
#include "sim/text.h"

/* px */
enum {
	WIDTH = 1000,
	HEAD = 76,
	LEGEND = 92,
	ROW = 25,
	AT_BADGE = 20,
	AT_NAME = 40,
	AT_FAULT = 196,
	AT_FLOWS = 452,
	AT_LOST = 506,
	AT_ALGOS = 530,
	COLUMN = (WIDTH - AT_ALGOS) / XP_MAX_COLUMNS
};

/* --- text ----------------------------------------------------------------- */

/* TEXT, of which at most N characters are put. */
static void put_short(FILE *out, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text, *end = s;
	char cut[512];
	size_t k = 0;
	for (; *s && k < n; k++) {
		/* One less, so that there is a place for the dots. */
		if (k + 1 == n)
			end = s;
		sim_next_char(&s);
	}
	if (!*s || end == (const unsigned char *)text) {
		mark_text(out, text);
		return;
	}
	snprintf(cut, sizeof(cut), "%.*s",
	    (int)(end - (const unsigned char *)text), text);
	mark_text(out, cut);
	fputs("\xe2\x80\xa6", out);
}

static void text_at(FILE *out, const char *class, double x, double y,
    const char *text, size_t n)
{
	fprintf(out, "<text%s%s%s x=\"%.1f\" y=\"%.1f\">",
	    *class ? " class=\"" : "", class, *class ? "\"" : "", x, y);
	put_short(out, text, n);
	fputs("</text>", out);
}

void xp_draw_summary(const struct xp_picture *p, char buf[], size_t size)
{
	const struct topo *t = p->cell.topo;
	struct mark_buffer b;
	buf[0] = '\0';
	if (mark_open(&b, NULL) < 0)
		return;
	mark_count(b.out, t->n_hosts);
	fputs(" hosts, ", b.out);
	mark_count(b.out, t->n_switches);
	fputs(" switches, ", b.out);
	mark_count(b.out, t->n_links);
	fputs(" directed links", b.out);
	if (p->n_ran > 0) {
		fputs("; ", b.out);
		mark_count(b.out, (double)p->n_ran);
		fputs(" flows, of which ", b.out);
		mark_count(b.out, (double)p->n_failed);
		fputs(" failed, with ", b.out);
		mark_count(b.out, (double)p->n_lost);
		fputs(" packets lost", b.out);
	}
	if (p->n_windows > 1)
		fprintf(b.out, "; the last of %zu windows", p->n_windows);
	if (mark_close(&b, 0, NULL) == 0)
		snprintf(buf, size, "%s", b.text);
	free(b.text);
}

void xp_draw_left_out(const struct xp_picture *p, const struct xp_layout *l,
    char buf[], size_t size)
{
	struct sim_text t = {buf, size, 0};
	buf[0] = '\0';
	if (l->left_switches > 0)
		sim_put(&t, "%zu switches of the fewest failed flows",
		    l->left_switches);
	if (l->left_flows > 0)
		sim_put(&t, "%s%zu links with failed flows to or between them",
		    t.n ? ", " : "", l->left_flows);
	if (l->left_quiet > 0)
		sim_put(&t, "%s%zu links without failed flows", t.n ? ", " : "",
		    l->left_quiet);
	if (p->more_broken > 0)
		sim_put(&t, "%sthe names of %zu more broken parts",
		    t.n ? ", " : "", p->more_broken);
	if (p->more_accused > 0)
		sim_put(&t, "%sthe names of %zu more accused parts",
		    t.n ? ", " : "", p->more_accused);
	if (t.n > 0)
		sim_put(&t, ".");
}

static void draw_table_put_head(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d)
{
	const struct xp_spec *s = p->cell.spec;
	char line[512], summary[256];
	snprintf(line, sizeof(line), "%s%s%s", s->figure, *s->title ? ": " : "",
	    s->title);
	text_at(out, "c-title", 12, 26, line, 95);
	snprintf(line, sizeof(line),
	    "point %zu%s%s%s, run %u (seed %llu, "
	    "plane %s)",
	    p->cell.point, *d->where ? " (" : "", d->where,
	    *d->where ? ")" : "", p->run, (unsigned long long)s->seed,
	    p->cell.plane->name);
	text_at(out, "", 12, 46, line, 140);
	xp_draw_summary(p, summary, sizeof(summary));
	text_at(out, "c-soft", 12, 64, summary, 145);
}

/* --- legend --------------------------------------------------------------- */

static void put_sample(FILE *out, const char *class, double x, double y,
    double width)
{
	fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fh%.1f\"/>", class, x, y,
	    width);
}

static void put_widths(FILE *out, double x, double y)
{
	static const char *const counts[] = {"1", "2-4", "5-14", "15-49",
	    "50 or more"};
	text_at(out, "c-soft", x, y + 4, "failed flows on a link:", 99);
	x += 146;
	for (unsigned i = 0; i < 5; i++) {
		char class[32];
		snprintf(class, sizeof(class), "c-flow c-w%u", i + 1);
		put_sample(out, class, x, y, 20);
		text_at(out, "c-soft", x + 26, y + 4, counts[i], 99);
		x += 40 + 7.4 * (double)strlen(counts[i]);
	}
}

/* Pages have a choice of whose they are. */
static void put_tints(FILE *out, double x, double y, const char *label)
{
	static const char *const shares[] = {"less than 10 % of the greatest",
	    "10-25 %", "25-50 %", "more"};
	fprintf(out, "<text class=\"c-soft\" x=\"%.1f\" y=\"%.1f\">score%s", x,
	    y + 4, *label ? " by " : "");
	put_short(out, label, 12);
	fputs(":</text>", out);
	x += 146;
	for (unsigned i = 0; i < 4; i++) {
		char class[32];
		snprintf(class, sizeof(class), "c-vote c-w4 c-v%u", i + 1);
		put_sample(out, class, x, y, 20);
		text_at(out, "c-soft", x + 26, y + 4, shares[i], 99);
		x += 46 + 7 * (double)strlen(shares[i]);
	}
}

/* Three lines, as wide as the drawing. */
static void put_legend(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, double y)
{
	const char *label =
	    d->n_algos > 0 ? p->cell.config->algo[d->algo[0]].label : "";
	char line[96];
	y += 14;
	put_sample(out, "c-broken", 12, y, 32);
	text_at(out, "c-soft", 50, y + 4, "broken", 99);
	fprintf(out,
	    "<circle class=\"c-bad\" cx=\"114\" cy=\"%.1f\" "
	    "r=\"8.5\"/>",
	    y);
	text_at(out, "c-soft", 128, y + 4, "broken, by name", 99);
	fprintf(out,
	    "<rect class=\"c-good\" x=\"246\" y=\"%.1f\" "
	    "width=\"15\" height=\"15\" rx=\"1.5\"/>",
	    y - 7.5);
	text_at(out, "c-soft", 268, y + 4, "good, but suspected", 99);
	if (d->n_algos > 0) {
		fprintf(out,
		    "<circle class=\"c-ring\" cx=\"424\" "
		    "cy=\"%.1f\" r=\"10\"/>",
		    y);
		snprintf(line, sizeof(line), "accused%s%.40s",
		    d->within ? "" : " by ", d->within ? "" : label);
		text_at(out, "c-soft", 440, y + 4, line, 99);
	}
	fputs("\n", out);
	put_widths(out, 12, y + 27);
	if (d->n_algos > 0)
		put_tints(out, 12, y + 52, d->within ? "" : label);
	fputs("\n", out);
}

/* --- table ---------------------------------------------------------------- */

static void put_sign(FILE *out, enum xp_word w, double x, double y)
{
	if (w == XP_WORD_HIT)
		fprintf(out,
		    "<circle class=\"c-yes\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/>"
		    "<path class=\"c-tick\" d=\"M%.1f %.1fl2.4 2.8l4.6 "
		    "-5.4\"/>",
		    x, y, x - 3.4, y);
	else if (w == XP_WORD_FALSE)
		fprintf(out,
		    "<path class=\"c-sign\" d=\"M%.1f %.1fl10 10m0 -10l-10 "
		    "10\"/>",
		    x - 5, y - 5);
	else if (w == XP_WORD_MISSED)
		fprintf(out,
		    "<circle class=\"c-sign\" cx=\"%.1f\" cy=\"%.1f\" "
		    "r=\"6\"/>",
		    x, y);
}

static void put_column_head(FILE *out, const struct xp_picture *p, size_t algo,
    double x, double y)
{
	const struct res_algo_metrics *m = &p->cell.scores[algo];
	char line[64] = "accuses nobody";
	text_at(out, "c-bold", x, y, p->cell.config->algo[algo].label, 15);
	if (p->cell.verdicts[algo].flags && !isnan(m->n_flagged))
		snprintf(line, sizeof(line), "%g, %g, %g", m->n_flagged_true,
		    m->n_flagged - m->n_flagged_true,
		    m->n_links_true - m->n_flagged_true);
	text_at(out, "c-soft", x, y + 16, line, 18);
}

static void put_table_head(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, double y)
{
	text_at(out, "c-bold", AT_NAME, y, "part", 99);
	text_at(out, "c-bold", AT_FAULT, y, "what is wrong with it", 99);
	text_at(out, "c-bold c-end", AT_FLOWS, y, "failed", 99);
	text_at(out, "c-soft c-end", AT_FLOWS, y + 16, "flows", 99);
	text_at(out, "c-bold c-end", AT_LOST, y, "lost", 99);
	text_at(out, "c-soft c-end", AT_LOST, y + 16, "packets", 99);
	if (d->n_algos > 0)
		text_at(out, "c-soft", AT_NAME, y + 16,
		    "of each algorithm: hits, false, missed", 99);
	for (size_t i = 0; i < d->n_algos; i++)
		put_column_head(out, p, d->algo[i],
		    AT_ALGOS + COLUMN * (double)i, y);
	fputs("\n", out);
}

static void draw_table_put_cell(FILE *out, const struct xp_saying *s, double x,
    double y)
{
	char line[64] = "";
	put_sign(out, s->word, x + 7, y - 4);
	if (s->rank > 0)
		snprintf(line, sizeof(line), "%zu.  %.4g", s->rank, s->score);
	text_at(out, "", x + 20, y, line, 99);
}

static void draw_table_put_row(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, size_t i, double y)
{
	const struct xp_part part = p->part[i];
	char name[64], fault[256], count[32];
	xp_part_name(p, part, name);
	xp_part_fault(p, part, fault, sizeof(fault));
	fprintf(out, "<path class=\"c-rule\" d=\"M12 %.1fH%d\"/>", y - 17,
	    WIDTH - 12);
	draw_badge(out, p, i, AT_BADGE, y - 4);
	text_at(out, "", AT_NAME, y, name, 22);
	text_at(out, *fault ? "" : "c-soft", AT_FAULT, y,
	    *fault ? fault : "nothing", 31);
	if (!part.is_switch) {
		snprintf(count, sizeof(count), "%u", p->flows[part.id]);
		text_at(out, "c-end", AT_FLOWS, y, count, 99);
		snprintf(count, sizeof(count), "%u", p->drops[part.id]);
		text_at(out, "c-end", AT_LOST, y, count, 99);
	}
	for (size_t k = 0; k < d->n_algos; k++) {
		const struct xp_saying s = xp_picture_said(p, d->algo[k], part);
		draw_table_put_cell(out, &s, AT_ALGOS + COLUMN * (double)k, y);
	}
	fputs("\n", out);
}

/* Signs by their words; how many algorithms have no column. */
static void put_foot(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, double y)
{
	const size_t n = p->cell.config->n_algos;
	double x = 20;
	char line[128];
	if (d->n_algos == 0)
		return;
	for (unsigned w = XP_WORD_HIT; w <= XP_WORD_MISSED; w++) {
		static const char *const means[] = {"", "hit",
		    "false: accused "
		    "and good",
		    "missed: broken and not accused"};
		put_sign(out, (enum xp_word)w, x, y - 4);
		text_at(out, "c-soft", x + 12, y, means[w], 99);
		x += 40 + 7 * (double)strlen(means[w]);
	}
	text_at(out, "c-soft", x, y, "1. 0.67: rank and score", 99);
	if (n > d->n_algos) {
		snprintf(line, sizeof(line), "and %zu more algorithm%s",
		    n - d->n_algos, n - d->n_algos == 1 ? "" : "s");
		text_at(out, "c-soft c-end", WIDTH - 12, y, line, 99);
	}
	fputs("\n", out);
}

static void draw_table_put_all(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, double y)
{
	put_table_head(out, p, d, y + 18);
	for (size_t i = 0; i < p->n_parts; i++)
		draw_table_put_row(out, p, d, i, y + 62 + ROW * (double)i);
	put_foot(out, p, d, y + 66 + ROW * (double)p->n_parts);
}

static double table_height(const struct xp_picture *p,
    const struct xp_drawing *d)
{
	return p->n_parts == 0 && d->n_algos == 0
	    ? 0
	    : 80 + ROW * (double)p->n_parts;
}

/* --- all ------------------------------------------------------------------ */

static void put_style(FILE *out)
{
	fputs("<style>\n", out);
	for (size_t i = 0; xp_draw_css[i]; i++)
		mark_text(out, xp_draw_css[i]);
	fputs("</style>\n", out);
}

static void open_svg(FILE *out, const struct xp_picture *p,
    const struct xp_drawing *d, double height)
{
	char summary[256];
	xp_draw_summary(p, summary, sizeof(summary));
	if (!d->within)
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	fprintf(out,
	    "<svg class=\"c-svg\"%s width=\"%d\" height=\"%.0f\" "
	    "viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"",
	    d->within ? "" : " xmlns=\"http://www.w3.org/2000/svg\"", WIDTH,
	    height, WIDTH, height);
	mark_format(out,
	    "%s, point %zu, run %u: %s; %zu parts are marked, of "
	    "which a table tells the rest.",
	    p->cell.spec->figure, p->cell.point, p->run, summary, p->n_parts);
	fputs("\">\n", out);
	if (d->within)
		return;
	fputs("<title>", out);
	mark_format(out, "%s, point %zu, run %u", p->cell.spec->figure,
	    p->cell.point, p->run);
	fputs("</title>\n", out);
	put_style(out);
	fprintf(out, "<rect class=\"c-paper\" width=\"%d\" height=\"%.0f\"/>\n",
	    WIDTH, height);
}

void xp_draw_cell(FILE *out, const struct xp_picture *p,
    const struct xp_layout *l, const struct xp_drawing *d)
{
	const double head = d->within ? 0 : HEAD;
	const double below = head + l->height;
	char left[512];
	xp_draw_left_out(p, l, left, sizeof(left));
	const double table = below + LEGEND + (*left ? 18 : 0);
	open_svg(out, p, d, table + (d->within ? 0 : table_height(p, d)) + 6);
	if (!d->within)
		draw_table_put_head(out, p, d);
	fprintf(out, "<g transform=\"translate(0 %.0f)\">\n", head);
	draw_map(out, p, l, d);
	fputs("</g>\n", out);
	put_legend(out, p, d, below);
	if (*left) {
		char line[600];
		snprintf(line, sizeof(line), "Left out: %s", left);
		text_at(out, "c-soft", 12, below + LEGEND + 8, line, 150);
		fputs("\n", out);
	}
	if (!d->within)
		draw_table_put_all(out, p, d, table);
	fputs("</svg>\n", out);
}
