/* experiments/report/markup.c -- text and numbers in SVG and HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/markup.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/text.h"

/* --- text ----------------------------------------------------------------- */

static const char *reference(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Neither XML nor HTML has a place for these, not even as references. */
static int is_no_character(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') ||
	    (c >= 0x7f && c < 0xa0) || (c & 0xfffe) == 0xfffe;
}

void mark_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	while (*s) {
		const unsigned char *from = s;
		const uint32_t c = sim_next_char(&s);
		const char *ref = reference(c);
		if (ref)
			fputs(ref, out);
		else if (is_no_character(c) || c == 0xfffd)
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(from, 1, (size_t)(s - from), out);
	}
}

void mark_format(FILE *out, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	mark_text(out, text);
}

void mark_count(FILE *out, double n)
{
	char digits[32];
	if (!(fabs(n) < 1e15) || n != floor(n)) {
		fputs(isnan(n) ? "\xe2\x80\x93" : sim_format_f64(digits, n),
		    out);
		return;
	}
	const int k = snprintf(digits, sizeof(digits), "%.0f", fabs(n));
	fputs(n < 0 ? "-" : "", out);
	for (int i = 0; i < k; i++)
		fprintf(out, "%s%c", i > 0 && (k - i) % 3 == 0 ? "," : "",
		    digits[i]);
}

/* --- buffers -------------------------------------------------------------- */

int mark_open(struct mark_buffer *b, struct sim_err *e)
{
	*b = (struct mark_buffer){0};
	b->out = open_memstream(&b->text, &b->n);
	return b->out ? 0
		      : sim_fail(e, SIM_ENOMEM, "no memory for a document.");
}

int mark_close(struct mark_buffer *b, int rc, struct sim_err *e)
{
	if (fclose(b->out) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a document.");
	b->out = NULL;
	return rc;
}

/* --- SVG of others -------------------------------------------------------- */

/* Elements of drawings that do nothing but draw. All others are refused, as is
 * easier to get right than a list of those that are dangerous. */
static int is_drawing(const char *name, size_t n)
{
	static const char *const known[] = {"svg", "g", "defs", "title", "desc",
	    "path", "rect", "circle", "ellipse", "line", "polyline", "polygon",
	    "text", "tspan", "use", "symbol", "clipPath", "pattern", "marker",
	    "filter", "feFlood", "feComposite", "feGaussianBlur",
	    "linearGradient", "radialGradient", "stop", "image", "mask",
	    "metadata", NULL};
	for (size_t i = 0; known[i]; i++)
		if (strlen(known[i]) == n && strncmp(known[i], name, n) == 0)
			return 1;
	return 0;
}

struct attribute {
	const char *name, *value; /* borrowed */
	size_t n_name, n_value;
	char quote;
};

static int attribute_is(const struct attribute *a, const char *name)
{
	return a->n_name == strlen(name) &&
	    strncasecmp(a->name, name, a->n_name) == 0;
}

static int is_reference(const struct attribute *a)
{
	return attribute_is(a, "href") || attribute_is(a, "xlink:href");
}

/* Handlers run, and what leaves the page would be fetched. A picture within the
 * file, as heat maps are, is fine. */
static int is_harmless(const struct attribute *a)
{
	static const char inlined[] = "data:image/png;base64,";
	if (a->n_name > 2 && strncasecmp(a->name, "on", 2) == 0)
		return 0;
	if (is_reference(a))
		return a->n_value > 0 &&
		    (a->value[0] == '#' ||
			(a->n_value > sizeof(inlined) &&
			    strncmp(a->value, inlined, sizeof(inlined) - 1) ==
				0));
	/* In a style, too, an address stands in url(). */
	for (size_t i = 0; i + 4 < a->n_value; i++)
		if (strncasecmp(a->value + i, "url(", 4) == 0 &&
		    a->value[i + 4] != '#')
			return 0;
	return 1;
}

/* An SVG on its way into a page. */
struct inlining {
	FILE *out;
	const char *svg, *prefix;
};

/* Whether the N bytes of ID stand anywhere before END behind AFTER, and are
 * then over. */
static int markup_is_there(const char *from, const char *end, const char *after,
    const char *id, size_t n)
{
	const size_t k = strlen(after);
	for (const char *at = from; (at = strstr(at, after)) && at < end; at++)
		if (strncmp(at + k + (after[k - 1] == '='), id, n) == 0 &&
		    strchr("'\")", at[k + (after[k - 1] == '=') + n]))
			return 1;
	return 0;
}

/* gnuplot gives each plot an id, and those of several panels the same: an id
 * that nothing refers to, or that was given before, is left out. */
static int markup_is_needed(const struct inlining *x, const struct attribute *a)
{
	const char *end = x->svg + strlen(x->svg);
	return markup_is_there(x->svg, end, "#", a->value, a->n_value) &&
	    !markup_is_there(x->svg, a->name - 1, " id=", a->value, a->n_value);
}

/* Ids get the prefix where they are given and where they are meant. */
static void markup_put_attribute(const struct inlining *x,
    const struct attribute *a)
{
	FILE *out = x->out;
	const char *prefix = x->prefix;
	size_t i = 0;
	if (attribute_is(a, "id") && !markup_is_needed(x, a))
		return;
	fprintf(out, " %.*s=%c", (int)a->n_name, a->name, a->quote);
	if (attribute_is(a, "id")) {
		fputs(prefix, out);
	} else if (is_reference(a) && a->value[0] == '#') {
		fprintf(out, "#%s", prefix);
		i = 1;
	}
	for (; i < a->n_value; i++) {
		putc(a->value[i], out);
		if (a->value[i] == '#' && i >= 4 &&
		    strncasecmp(a->value + i - 4, "url(", 4) == 0)
			fputs(prefix, out);
	}
	putc(a->quote, out);
}

/* AT is behind a tag's name or an attribute. Returns where the next one ends,
 * or NULL if there is none that can be read. */
static const char *next_attribute(const char *at, struct attribute *a)
{
	a->name = at;
	a->n_name = strcspn(at, " \t\r\n=<>/\"'");
	if (a->n_name == 0)
		return NULL;
	at += a->n_name;
	at += strspn(at, " \t\r\n");
	if (*at != '=')
		return NULL;
	at++;
	at += strspn(at, " \t\r\n");
	if (*at != '"' && *at != '\'')
		return NULL;
	a->quote = *at;
	a->value = at + 1;
	const char *end = strchr(a->value, a->quote);
	if (!end)
		return NULL;
	a->n_value = (size_t)(end - a->value);
	return memchr(a->value, '<', a->n_value) ? NULL : end + 1;
}

static int refuse(const char *what, size_t n, struct sim_err *e)
{
	char shown[64], word[64];
	snprintf(word, sizeof(word), "%.*s", n < 60 ? (int)n : 60, what);
	return sim_fail(e, SIM_EPARSE,
	    "a drawing has %s, which is no part of one.",
	    sim_quote(shown, word));
}

/* One tag from *AT on, which is behind its "<". */
static int put_tag(const struct inlining *x, const char **at, struct sim_err *e)
{
	FILE *out = x->out;
	const char *s = *at + (**at == '/');
	const size_t n = strcspn(s, " \t\r\n/>");
	if (!is_drawing(s, n))
		return refuse(s, n, e);
	fprintf(out, "<%.*s", (int)(s + n - *at), *at);
	for (s += n;;) {
		struct attribute a;
		s += strspn(s, " \t\r\n");
		if (*s == '>' || (s[0] == '/' && s[1] == '>'))
			break;
		const char *from = s;
		if (!(s = next_attribute(s, &a)) || !is_harmless(&a))
			return refuse(from, strcspn(from, " \n>"), e);
		/* In HTML a namespace is known by the element. */
		if (strncmp(a.name, "xmlns", 5) != 0)
			markup_put_attribute(x, &a);
	}
	fputs(*s == '/' ? "/>" : ">", out);
	*at = s + (*s == '/' ? 2 : 1);
	return 0;
}

/* Comments, the head and the document type are left out. */
static const char *skip_aside(const char *at)
{
	const char *end;
	if (strncmp(at, "<!--", 4) == 0)
		return (end = strstr(at, "-->")) ? end + 3 : NULL;
	if (at[1] == '?')
		return (end = strstr(at, "?>")) ? end + 2 : NULL;
	if (at[1] == '!' && at[2] != '[')
		return (end = strchr(at, '>')) ? end + 1 : NULL;
	return at;
}

int mark_inline_svg(FILE *out, const char *svg, const char *prefix,
    struct sim_err *e)
{
	const struct inlining x = {out, svg, prefix};
	int rc = 0;
	for (const char *at = svg; rc == 0 && *at;) {
		const size_t n = strcspn(at, "<");
		fwrite(at, 1, n, out);
		at += n;
		if (!*at)
			break;
		const char *after = skip_aside(at);
		if (!after)
			return refuse(at, 4, e);
		if (after != at) {
			at = after;
			continue;
		}
		at++;
		rc = put_tag(&x, &at, e);
	}
	return rc;
}
