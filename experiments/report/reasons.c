/* experiments/report/reasons.c -- why claims differ, from text to HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/reasons.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/report/markup.h"

static int is_heading(const char *line)
{
	return strncmp(line, "## ", 3) == 0;
}

static const char *reasons_next_line(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

/* Whether `id` stands in the line, in backquotes. */
static int line_names(const char *line, const char *id)
{
	const size_t n = strlen(id), length = strcspn(line, "\n");
	for (size_t i = 0; i + n + 2 <= length; i++)
		if (line[i] == '`' && strncmp(line + i + 1, id, n) == 0 &&
		    line[i + 1 + n] == '`')
			return 1;
	return 0;
}

unsigned xp_reasons_find(const char *text, const char *id)
{
	unsigned n = 0;
	for (const char *at = text; *at; at = reasons_next_line(at)) {
		n += is_heading(at);
		if (is_heading(at) && line_names(at, id))
			return n;
	}
	return 0;
}

/* N bytes of a line, what is in backquotes as code. */
static void reasons_put_words(FILE *out, const char *line, size_t n)
{
	char *copy = strndup(line, n);
	int code = 0;
	if (!copy)
		return;
	for (char *rest = copy, *part; (part = strsep(&rest, "`"));
	     code = !code) {
		fputs(code ? "<code>" : "", out);
		mark_text(out, part);
		fputs(code ? "</code>" : "", out);
	}
	free(copy);
}

enum block { NONE, WORDS, CODE };

static enum block reasons_block_of(const char *line)
{
	if (*line == '\n' || !*line)
		return NONE;
	return strncmp(line, "    ", 4) == 0 ? CODE : WORDS;
}

static void put_turn(FILE *out, enum block from, enum block to)
{
	static const char *const end[] = {"", "</p>\n", "</pre>\n"},
				 *const begin[] = {"", "<p>", "<pre>"};
	if (from == to)
		return;
	fputs(end[from], out);
	fputs(begin[to], out);
}

/* The lines of one section, from behind its heading to the next. */
static const char *put_body(FILE *out, const char *at)
{
	enum block in = NONE;
	for (; *at && !is_heading(at); at = reasons_next_line(at)) {
		const enum block is = reasons_block_of(at);
		const size_t n = strcspn(at, "\n");
		put_turn(out, in, is);
		in = is;
		if (is == CODE)
			reasons_put_words(out, at + 4, n - 4);
		else if (is == WORDS)
			reasons_put_words(out, at, n);
		fputs(is == NONE ? "" : "\n", out);
	}
	put_turn(out, in, NONE);
	return at;
}

void xp_reasons_put(FILE *out, const char *text)
{
	unsigned n = 0;
	const char *at = text;
	while (*at && !is_heading(at))
		at = reasons_next_line(at);
	while (*at) {
		fprintf(out, "<section id=\"why-%u\"><h4>", ++n);
		reasons_put_words(out, at + 3, strcspn(at + 3, "\n"));
		fputs("</h4>\n", out);
		at = put_body(out, reasons_next_line(at));
		fputs("</section>\n", out);
	}
}
