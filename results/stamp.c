/* results/stamp.c -- where a figure's data come from, within its file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/stamp.h"

#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/yaml.h"

/* --- what it says ----------------------------------------------------------*/

static void stamp_add(struct res_stamp *s, const char *name, const char *value)
{
	char *to = s->item[s->n].value;
	s->item[s->n++].name = name;
	snprintf(to, RES_STAMP_BYTES, "%s", value);
	for (; *to; to++)
		if ((unsigned char)*to < ' ')
			*to = to[1] ? ';' : '\0';
}

/* The text of KEY in the run record, or NULL. JSON is YAML, too. */
static const char *record_text(const struct sim_yaml *y, const char *key)
{
	const struct sim_yaml_node *node =
	    y->root ? sim_yaml_get(y->root, key) : NULL;
	return node && node->kind == SIM_YAML_SCALAR ? node->text : NULL;
}

static void add_date(struct res_stamp *s, const struct res_cube *c,
    const struct sim_yaml *y)
{
	const char *build = record_text(y, "build");
	const char *end = record_text(y, "end_unix_s");
	char text[32];
	double unix_s;
	struct tm tm;
	/* A record of other runs would give their date to these numbers. */
	if (!build || !c->build || strcmp(build, c->build) != 0 || !end ||
	    sim_parse_f64(end, &unix_s, NULL) < 0 || unix_s > 1e11)
		return;
	const time_t t = (time_t)unix_s;
	if (gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		stamp_add(s, "date", text);
}

static int add_run(struct res_stamp *s, const struct res_cube *c,
    const char *results, struct sim_err *e)
{
	struct sim_yaml y = {0};
	const size_t n = strlen(results);
	const size_t stem =
	    n > 3 && strcmp(results + n - 3, ".h5") == 0 ? n - 3 : n;
	char path[4096];
	snprintf(path, sizeof(path), "%.*s.run.json", (int)stem, results);
	int rc = access(path, F_OK) == 0 ? sim_yaml_load(&y, path, e) : 0;
	if (rc == 0)
		add_date(s, c, &y);
	sim_yaml_free(&y);
	/* What is no record tells no date. */
	return rc == SIM_ENOMEM || rc == SIM_EIO ? rc : 0;
}

int res_stamp_fill(struct res_stamp *s, const struct res_cube *c,
    const char *results, struct sim_err *e)
{
	char spec[128];
	*s = (struct res_stamp){0};
	snprintf(s->title, sizeof(s->title), "%s", c->title ? c->title : "");
	snprintf(spec, sizeof(spec), "%s %016" PRIx64, c->figure,
	    sim_fnv(SIM_FNV_START, c->spec, c->spec_bytes));
	stamp_add(s, "culprit", c->version ? c->version : "unknown");
	stamp_add(s, "spec", spec);
	if (c->overrides && *c->overrides)
		stamp_add(s, "overrides", c->overrides);
	return add_run(s, c, results, e);
}

/* --- SVG -------------------------------------------------------------------*/

static void put_xml(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if ((unsigned char)*text >= ' ')
			putc(*text, out);
}

/* The first PART within TEXT, which need not end with a NUL; or NULL. */
static const char *within(const char *text, size_t n, const char *part)
{
	return memmem(text, n, part, strlen(part));
}

static int stamp_svg(FILE *out, const char *bytes, size_t n,
    const struct res_stamp *s)
{
	static const char title[] = "<title>Gnuplot</title>";
	const char *end = bytes + n, *at = within(bytes, n, "<svg");
	at = at ? memchr(at, '>', (size_t)(end - at)) : NULL;
	if (!at)
		return -1;
	fwrite(bytes, 1, (size_t)(++at - bytes), out);
	fputs("\n<title>", out);
	put_xml(out, s->title);
	fputs("</title>\n<metadata>\n", out);
	for (size_t i = 0; i < s->n; i++) {
		fprintf(out, "%s: ", s->item[i].name);
		put_xml(out, s->item[i].value);
		putc('\n', out);
	}
	fputs("</metadata>", out);
	const char *old = within(at, (size_t)(end - at), title);
	if (old) {
		fwrite(at, 1, (size_t)(old - at), out);
		at = old + strlen(title);
	}
	fwrite(at, 1, (size_t)(end - at), out);
	return 0;
}

/* --- PNG -------------------------------------------------------------------*/

/* CRC of ISO 3309, as PNG has it (W3C, PNG, annex D), one bit at a time. */
static uint32_t png_crc(uint32_t crc, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;
	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= b[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void put_be32(FILE *out, uint32_t x)
{
	x = htobe32(x);
	fwrite(&x, sizeof(x), 1, out);
}

static int is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return 0;
	return 1;
}

/* Keyword, a zero, text in Latin-1; for other text a chunk of UTF-8 that is not
 * compressed (two zeros) and in no named language (two more). */
static void put_chunk(FILE *out, const char *keyword, const char *text)
{
	char chunk[4 + 80 + RES_STAMP_BYTES];
	const int n = is_ascii(text)
	    ? snprintf(chunk, sizeof(chunk), "tEXt%s%c%s", keyword, 0, text)
	    : snprintf(chunk, sizeof(chunk), "iTXt%s%c%c%c%c%c%s", keyword, 0,
		  0, 0, 0, 0, text);
	put_be32(out, (uint32_t)n - 4);
	fwrite(chunk, 1, (size_t)n, out);
	put_be32(out, png_crc(0, chunk, (size_t)n));
}

/* The header is a signature of 8 bytes and a first chunk of 25. */
static int stamp_png(FILE *out, const char *bytes, size_t n,
    const struct res_stamp *s)
{
	enum { HEADER = 33 };
	if (n < HEADER)
		return -1;
	fwrite(bytes, 1, HEADER, out);
	put_chunk(out, "Title", s->title);
	for (size_t i = 0; i < s->n; i++)
		put_chunk(out, s->item[i].name, s->item[i].value);
	fwrite(bytes + HEADER, 1, n - HEADER, out);
	return 0;
}

/* --- PDF -------------------------------------------------------------------*/

/* A text string: in brackets, or if it is not ASCII as UTF-16 in hexadecimal
 * digits. */
static void put_pdf_text(FILE *out, const char *text)
{
	const unsigned char *u = (const unsigned char *)text;
	const int ascii = is_ascii(text);
	fputs(ascii ? "(" : "<FEFF", out);
	while (*u) {
		const uint32_t x = sim_next_char(&u);
		if (ascii)
			fprintf(out, strchr("()\\", (int)x) ? "\\%c" : "%c",
			    (int)x);
		else if (x < 0x10000)
			fprintf(out, "%04X", x);
		else
			fprintf(out, "%04X%04X", 0xd7c0 + (x >> 10),
			    0xdc00 + (x & 0x3ff));
	}
	putc(ascii ? ')' : '>', out);
}

/* The last PART within BYTES, or NULL. */
static const char *last_within(const char *bytes, size_t n, const char *part)
{
	const char *last = NULL, *at = bytes, *end = bytes + n;
	while ((at = within(at, (size_t)(end - at), part)))
		last = at++;
	return last;
}

/* The number behind KEY in the N bytes at AT; 0 if there is none. */
static unsigned long number_behind(const char *at, size_t n, const char *key)
{
	const char *found = within(at, n, key);
	char digits[32] = "";
	if (found) {
		found += strlen(key);
		const size_t left = (size_t)(at + n - found);
		memcpy(digits, found,
		    left < sizeof(digits) - 1 ? left : sizeof(digits) - 1);
	}
	return strtoul(digits, NULL, 10);
}

/* An update appended to the file, as ISO 32000-1, 7.5.6 has it: one new object,
 * its place, and a trailer that names it and the table before. */
static int stamp_pdf(FILE *out, const char *bytes, size_t n,
    const struct res_stamp *s)
{
	const char *trailer = last_within(bytes, n, "trailer");
	const char *start = last_within(bytes, n, "startxref");
	fwrite(bytes, 1, n, out);
	if (!trailer || !start || start < trailer) {
		for (size_t i = 0; i < s->n; i++)
			fprintf(out, "%%%s: %.200s\n", s->item[i].name,
			    s->item[i].value);
		return 0;
	}
	const size_t left = (size_t)(start - trailer);
	const unsigned long size = number_behind(trailer, left, "/Size");
	const unsigned long root = number_behind(trailer, left, "/Root");
	const unsigned long prev =
	    number_behind(start, (size_t)(bytes + n - start), "startxref");
	if (!size || !root || !prev)
		return -1;
	const long object = ftell(out);
	fprintf(out, "%lu 0 obj\n<< /Title ", size);
	put_pdf_text(out, s->title);
	for (size_t i = 0; i < s->n; i++) {
		fprintf(out, "\n   /%s ", s->item[i].name);
		put_pdf_text(out, s->item[i].value);
	}
	fputs("\n   /Producer (gnuplot and cairo)\n>>\nendobj\n", out);
	const long table = ftell(out);
	fprintf(out,
	    "xref\n%lu 1\n%010ld 00000 n \ntrailer\n<< /Size %lu\n"
	    "   /Root %lu 0 R\n   /Info %lu 0 R\n   /Prev %lu\n>>\n"
	    "startxref\n%ld\n%%%%EOF\n",
	    size, object, size + 1, root, size, prev, table);
	return 0;
}

/* --- all of them -----------------------------------------------------------*/

typedef int stamper(FILE *out, const char *bytes, size_t n,
    const struct res_stamp *s);

static int begins(const char *bytes, size_t n, const char *part)
{
	return n >= strlen(part) && memcmp(bytes, part, strlen(part)) == 0;
}

static stamper *choose_stamper(const char *bytes, size_t n)
{
	return begins(bytes, n, "\x89PNG\r\n\x1a\n")                ? stamp_png
	    : begins(bytes, n, "%PDF-")                             ? stamp_pdf
	    : begins(bytes, n, "<?xml") || begins(bytes, n, "<svg") ? stamp_svg
								    : NULL;
}

int res_stamp_image(char **out, size_t *n_out, const char *bytes, size_t n,
    const struct res_stamp *s, struct sim_err *e)
{
	stamper *put = choose_stamper(bytes, n);
	*out = NULL;
	FILE *f = put ? open_memstream(out, n_out) : NULL;
	if (put && !f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a figure.");
	int rc = put ? put(f, bytes, n, s) : -1;
	if (f && fclose(f) != 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a figure.");
	else if (rc < 0)
		rc = sim_fail(e, SIM_EPARSE,
		    "it is no SVG, PNG or PDF as gnuplot writes them.");
	if (rc < 0) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

int res_stamp_table(char **out, size_t *n_out, const char *text,
    const struct res_stamp *s, struct sim_err *e)
{
	FILE *f = open_memstream(out, n_out);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	for (int row = 0; *text; row++) {
		const size_t n = strcspn(text, "\n");
		fwrite(text, 1, n, f);
		for (size_t i = 0; i < s->n; i++)
			fprintf(f, "\t%s",
			    row ? s->item[i].value : s->item[i].name);
		putc('\n', f);
		text += n + (text[n] == '\n');
	}
	if (fclose(f) != 0) {
		free(*out);
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	}
	return 0;
}
