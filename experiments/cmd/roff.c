/* experiments/cmd/roff.c -- text for people as mdoc(7).
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/roff.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 72 };

/* Letters that roff would print as other ones than those that were typed, or
 * take for its own. */
static const char *roff_escape(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	case '\'':
		return "\\(aq";
	case '"':
		return "\\(dq";
	case '`':
		return "\\(ga";
	default:
		return NULL;
	}
}

/* A word at a line's begin that has a full stop there, or one behind a macro that
 * has the name of another one, as Ar: these have two or three letters. */
static int is_taken_for_macro(const char *word, size_t rest)
{
	size_t n = 0;
	while (n < rest && n < 4 && word[n] != ' ')
		n++;
	return *word == '.' || (isupper((unsigned char)*word) && n <= 3);
}

void cmd_roff_word(FILE *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *as = roff_escape(text[i]);
		if ((i == 0 || text[i - 1] == ' ') &&
		    is_taken_for_macro(text + i, n - i))
			fputs("\\&", out);
		if (as)
			fputs(as, out);
		else
			putc(text[i], out);
	}
}

/* Where the next word goes. */
struct fill {
	FILE *out;
	size_t column;
	int in_code, in_display, had_text;
};

static void end_line(struct fill *f)
{
	if (f->column > 0)
		putc('\n', f->out);
	f->column = 0;
}

static void end_display(struct fill *f)
{
	if (f->in_display)
		fputs(".Ed\n", f->out);
	f->in_display = 0;
}

/* How wide a word of a paragraph stands in the source. */
static size_t roff_width(const char *word, size_t n)
{
	size_t width = 0;
	for (size_t i = 0; i < n; i++) {
		const char *as = word[i] == '`' ? "\\fP" : roff_escape(word[i]);
		width += as ? strlen(as) : 1;
	}
	return width;
}

/* A word of a paragraph: backquotes turn bold on and off. */
static void roff_put_word(struct fill *f, const char *word, size_t n)
{
	const size_t width = roff_width(word, n);
	if (f->column > 0 && f->column + 1 + width > WIDTH)
		end_line(f);
	f->column += width + 1;
	if (f->column > width + 1)
		putc(' ', f->out);
	else if (*word == '.' || *word == '\'')
		fputs("\\&", f->out);
	for (size_t i = 0; i < n; i++) {
		const char *as = roff_escape(word[i]);
		if (word[i] == '`') {
			fputs(f->in_code ? "\\fP" : "\\fB", f->out);
			f->in_code = !f->in_code;
		} else if (as) {
			fputs(as, f->out);
		} else {
			putc(word[i], f->out);
		}
	}
}

/* roff sets a wider gap behind a sentence, which it tells by the line's end. */
static int ends_sentence(const char *word, size_t n)
{
	while (n > 0 && strchr(")\"'`", word[n - 1]))
		n--;
	return n > 0 && strchr(".?!", word[n - 1]) &&
	    !(n == 4 && strncmp(word, "e.g.", 4) == 0);
}

static void roff_put_words(struct fill *f, const char *line, size_t n)
{
	const char *end = line + n;
	while (line < end) {
		while (line < end && isspace((unsigned char)*line))
			line++;
		size_t k = 0;
		while (line + k < end && !isspace((unsigned char)line[k]))
			k++;
		if (k > 0)
			roff_put_word(f, line, k);
		if (k > 0 && ends_sentence(line, k))
			end_line(f);
		line += k;
	}
}

/* A line as it stands; two blanks of its indent are the display's own. */
static void roff_put_literal(struct fill *f, const char *line, size_t n)
{
	const size_t indent = n > 1 && line[1] == ' ' ? 2 : 1;
	end_line(f);
	if (!f->in_display)
		fputs(".Bd -literal -offset indent\n", f->out);
	f->in_display = 1;
	cmd_roff_word(f->out, line + indent, n - indent);
	putc('\n', f->out);
}

static void begin_paragraph(struct fill *f, int is_literal)
{
	end_line(f);
	end_display(f);
	/* What stands as it is makes room before it by itself. */
	if (f->had_text && !is_literal)
		fputs(".Pp\n", f->out);
	f->had_text = 0;
}

void cmd_roff_text(FILE *out, const char *text)
{
	struct fill f = {.out = out};
	int is_new = 0;
	while (*text) {
		const size_t n = strcspn(text, "\n");
		const size_t blanks = strspn(text, " ");
		if (blanks == n) {
			is_new = 1;
		} else {
			/* An empty line within what stands as it is stays one
			 * there. */
			if (is_new && f.in_display && *text == ' ')
				fputs("\n", out);
			else if (is_new || (f.in_display && *text != ' '))
				begin_paragraph(&f, *text == ' ');
			is_new = 0;
			if (*text == ' ')
				roff_put_literal(&f, text, n);
			else
				roff_put_words(&f, text, n);
			f.had_text = 1;
		}
		text += n;
		text += *text == '\n';
	}
	end_line(&f);
	end_display(&f);
}
