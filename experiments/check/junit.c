/* experiments/check/junit.c -- JUnit's XML, as CI systems read it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/junit.h"

#include <stdint.h>

/* The character at S in UTF-8, with its length in *N, which is 0 if these bytes
 * are none. As XML readers reject a whole file for one bad byte, also forms
 * that are longer than they need be are refused. */
static uint32_t decode(const unsigned char *s, unsigned *n)
{
	/* The least code for which so many bytes are allowed. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	*n = s[0] < 0x80  ? 1
	    : s[0] < 0xc0 ? 0
	    : s[0] < 0xe0 ? 2
	    : s[0] < 0xf0 ? 3
	    : s[0] < 0xf8 ? 4
			  : 0;
	if (*n <= 1)
		return s[0];
	uint32_t c = s[0] & (0xffu >> (*n + 1));
	for (unsigned i = 1; i < *n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*n = 0;
			return 0;
		}
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[*n])
		*n = 0;
	return c;
}

/* What XML 1.0 allows in a document (production 2): most control characters,
 * surrogates, U+FFFE and U+FFFF are not even allowed as references. */
static int is_char(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' ||
	    (c >= 0x20 && c < 0xd800) || (c >= 0xe000 && c < 0xfffe) ||
	    (c >= 0x10000 && c < 0x110000);
}

void xp_junit_escape(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	while (*s) {
		unsigned n;
		const uint32_t c = decode(s, &n);
		/* What can't be told becomes U+FFFD, one for each bad byte. */
		if (n == 0 || !is_char(c))
			fputs("\xef\xbf\xbd", out);
		/* Also line breaks, which in an attribute
		 * would be read as blanks. */
		else if (c < 0x20 || c == '&' || c == '<' || c == '>' ||
		    c == '"' || c == '\'')
			fprintf(out, "&#%u;", c);
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
}

/* All texts go into attributes, where one escape does for all. */
static void put_attribute(FILE *out, const char *name, const char *text)
{
	fprintf(out, " %s=\"", name);
	xp_junit_escape(out, text);
	putc('"', out);
}

void xp_junit_begin(FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n",
	    out);
}

void xp_junit_suite(FILE *out, const char *name, size_t n_tests,
    size_t n_failures, size_t n_errors)
{
	fputs("  <testsuite", out);
	put_attribute(out, "name", name);
	fprintf(out,
	    " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\">\n",
	    n_tests, n_failures, n_errors);
}

void xp_junit_case(FILE *out, const char *suite, const struct xp_junit_case *c)
{
	const char *what = c->outcome == XP_JUNIT_ERROR ? "error" : "failure";
	fputs("    <testcase", out);
	put_attribute(out, "classname", suite);
	put_attribute(out, "name", c->name);
	if (c->outcome == XP_JUNIT_PASSED) {
		fputs("/>\n", out);
		return;
	}
	fprintf(out, ">\n      <%s", what);
	put_attribute(out, "message", c->text);
	fputs("/>\n    </testcase>\n", out);
}

void xp_junit_suite_end(FILE *out)
{
	fputs("  </testsuite>\n", out);
}

void xp_junit_end(FILE *out)
{
	fputs("</testsuites>\n", out);
}
