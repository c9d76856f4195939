/* experiments/report/drawn.c -- an article of drawings and a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/report/page.h"

static void drawn_text(const char *at, char text[256])
{
	const size_t n = strcspn(at, "\t\n");
	snprintf(text, 256, "%.*s", n < 255 ? (int)n : 255, at);
}

/* What was not measured is a number, too. */
static int drawn_is_number(const char *at)
{
	char text[256], *end;
	drawn_text(at, text);
	strtod(text, &end);
	return *text && !*end;
}

static void drawn_cell(FILE *out, const char *at)
{
	char text[256];
	const int is_number = drawn_is_number(at);
	drawn_text(at, text);
	if (is_number && strstr(text, "nan"))
		fputs("<td class=\"num\" data-v=\"\">\xe2\x80\x93", out);
	else
		fputs(is_number ? "<td class=\"num\">" : "<td>", out);
	if (!is_number || !strstr(text, "nan"))
		mark_text(out, text);
	fputs("</td>", out);
}

static const char *drawn_next(const char *at)
{
	at += strcspn(at, "\t\n");
	return at + (*at == '\t');
}

static const char *drawn_row(FILE *out, const char *at)
{
	fputs("<tr>", out);
	for (; *at && *at != '\n'; at = drawn_next(at))
		drawn_cell(out, at);
	fputs("</tr>\n", out);
	return at + (*at == '\n');
}

/* A column holds numbers if the first row BELOW has one there. */
static const char *drawn_head(FILE *out, const char *at)
{
	const char *below = at + strcspn(at, "\n");
	below += *below == '\n';
	fputs("<tr>", out);
	for (; *at && *at != '\n'; at = drawn_next(at)) {
		char text[256];
		drawn_text(at, text);
		fputs(drawn_is_number(below)
			? "<th scope=\"col\" class=\"num\">"
			: "<th scope=\"col\">",
		    out);
		mark_text(out, text);
		fputs("</th>", out);
		below = drawn_next(below);
	}
	fputs("</tr>\n", out);
	return at + (*at == '\n');
}

static void drawn_table(FILE *out, const struct xp_page_drawn *d)
{
	const char *at = d->table;
	fputs("<details open><summary>Its numbers</summary>\n<div "
	      "class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">\n"
	      "<thead>",
	    out);
	at = drawn_head(out, at);
	fputs("</thead>\n<tbody>\n", out);
	while (*at)
		at = drawn_row(out, at);
	fputs("</tbody></table></div>\n<p class=\"note\">", out);
	mark_text(out, d->table_note);
	fputs("</p></details>\n", out);
}

void xp_drawn_put(FILE *out, const struct xp_page_drawn *d, const char *id)
{
	fprintf(out,
	    "<article id=\"%s\" aria-labelledby=\"%s-title\">\n<header><h2 "
	    "id=\"%s-title\">",
	    id, id, id);
	mark_text(out, d->title);
	fputs("</h2>\n<p><code>", out);
	mark_text(out, d->figure);
	fputs("</code> &middot; ", out);
	mark_text(out, d->about);
	fputs("</p>\n</header>\n<p>", out);
	mark_text(out, d->says);
	fputs("</p>\n", out);
	for (size_t i = 0; i < d->n; i++) {
		char prefix[96], title[96];
		snprintf(prefix, sizeof(prefix), "%s-f%zu-", id, i);
		snprintf(title, sizeof(title), "%s-title%zu", id, i);
		fprintf(out, "<h3 id=\"%s\">", title);
		mark_text(out, d->drawing[i].caption);
		fputs("</h3>\n", out);
		xp_page_svg(out, d->drawing[i].svg, d->drawing[i].no_svg,
		    prefix, title);
	}
	drawn_table(out, d);
	fputs("<p class=\"note\">Of <code>", out);
	mark_text(out, d->path);
	fputs("</code>.</p>\n", out);
}
