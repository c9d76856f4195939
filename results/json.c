/* results/json.c -- texts and numbers as JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/json.h"

#include <math.h>

#include "sim/field.h"

/* The length of the UTF-8 character at S, 0 if there is none: no overlong
 * forms, no surrogates, nothing above U+10FFFF. The bounds of second bytes are
 * those of table 3-7 of the Unicode standard. */
static unsigned utf8_length(const unsigned char *s)
{
	if (s[0] < 0x80)
		return 1;
	unsigned n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void res_json_escape(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	while (*s) {
		unsigned n = utf8_length(s);
		/* A bad byte is passed by itself, so the next one is looked at
		 * anew. */
		if (n == 0)
			fputs("\\ufffd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\t')
			fputs("\\t", out);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
}

void res_json_text(FILE *out, const char *text)
{
	putc('"', out);
	res_json_escape(out, text);
	putc('"', out);
}

void res_json_number(FILE *out, double x)
{
	char digits[32];
	/* JSON has no word for NaN and infinities. */
	if (!isfinite(x)) {
		fputs("null", out);
		return;
	}
	sim_format_f64(digits, x);
	fputs(digits, out);
}
