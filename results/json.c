/* results/json.c -- texts and numbers as JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/json.h"

#include <math.h>

#include "sim/text.h"

void res_json_escape(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	while (*s) {
		const unsigned char *from = s;
		const uint32_t c = sim_next_char(&s);
		/* A real U+FFFD has three bytes and stands as it is. */
		if (c == 0xfffd && s - from == 1)
			fputs("\\ufffd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c == '\t')
			fputs("\\t", out);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fwrite(from, 1, (size_t)(s - from), out);
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

void res_json_text_of(FILE *out, const char *key, const char *text)
{
	fprintf(out, ", \"%s\": ", key);
	res_json_text(out, text);
}

void res_json_number_of(FILE *out, const char *key, double x)
{
	fprintf(out, ", \"%s\": ", key);
	res_json_number(out, x);
}
