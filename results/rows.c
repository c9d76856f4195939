/* results/rows.c -- rows of named values as TSV, CSV or JSON; some of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/rows.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/json.h"
#include "sim/text.h"
#include "sim/vec.h"

/* --- one field ------------------------------------------------------------ */

/* Blanks for what would break a line or a column. */
static void rows_put_plain(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(strchr("\t\n\r", *text) ? ' ' : *text, out);
}

static void rows_put_quoted(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void rows_put_field(enum res_format format, FILE *out, const char *text)
{
	if (format == RES_JSON)
		res_json_text(out, text);
	else if (format == RES_CSV)
		rows_put_quoted(out, text);
	else
		rows_put_plain(out, text);
}

/* --- telling -------------------------------------------------------------- */

int res_rows_open(struct res_rows *r, FILE *out, enum res_format format,
    struct sim_err *e)
{
	*r = (struct res_rows){.out = out,
	    .format = format,
	    .in_head = 1,
	    .e = e};
	r->cells = open_memstream(&r->text, &r->text_size);
	return r->cells ? 0 : sim_fail(e, SIM_ENOMEM, "no memory for a row.");
}

void res_rows_free(struct res_rows *r)
{
	if (r->cells)
		fclose(r->cells);
	free(r->text);
	for (size_t i = 0; i < r->n; i++)
		free(r->name[i]);
	free(r->name);
	free(r->place);
	free(r->order);
	free(r->from);
	free(r->to);
	*r = (struct res_rows){0};
}

static int rows_take_name(struct res_rows *r, struct res_name name)
{
	const char *part[] = {name.owner, name.mark, name.what, name.suffix};
	size_t size = 1;
	int rc = SIM_RESERVE(&r->name, &r->cap, r->n + 1, r->e);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		size += part[i] ? strlen(part[i]) : 0;
	if (rc < 0 || (rc = SIM_ZALLOC(&r->name[r->n], size, r->e)) < 0)
		return rc;
	struct sim_text t = {r->name[r->n++], size, 0};
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		sim_put(&t, "%s", part[i] ? part[i] : "");
	return 0;
}

/* Whether the value of the next column is to be written, to r->cells. */
static int begin_cell(struct res_rows *r, struct res_name name)
{
	if (r->in_head) {
		if (r->rc == 0)
			r->rc = rows_take_name(r, name);
		return 0;
	}
	assert(r->at < r->n);
	const size_t place = r->place[r->at++];
	if (place == SIZE_MAX)
		return 0;
	r->from[place] = (size_t)ftello(r->cells);
	return 1;
}

static void end_cell(struct res_rows *r)
{
	r->to[r->place[r->at - 1]] = (size_t)ftello(r->cells);
}

void res_rows_number(struct res_rows *r, struct res_name name, double x)
{
	char digits[32];
	if (!begin_cell(r, name))
		return;
	if (r->format == RES_JSON)
		res_json_number(r->cells, x);
	else
		fputs(isnan(x) ? "NaN" : sim_format_f64(digits, x), r->cells);
	end_cell(r);
}

void res_rows_text(struct res_rows *r, struct res_name name, const char *text)
{
	if (!begin_cell(r, name))
		return;
	if (text)
		rows_put_field(r->format, r->cells, text);
	else if (r->format == RES_JSON)
		fputs("null", r->cells);
	end_cell(r);
}

int res_rows_skip(struct res_rows *r, size_t n)
{
	if (r->in_head)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (r->place[r->at + i] != SIZE_MAX)
			return 0;
	r->at += n;
	return 1;
}

/* --- rows ----------------------------------------------------------------- */

static void rows_put_separator(struct res_rows *r, size_t i)
{
	if (i > 0)
		fputs(r->format == RES_JSON    ? ", "
			: r->format == RES_CSV ? ","
					       : "\t",
		    r->out);
}

static void rows_put_names(struct res_rows *r)
{
	for (size_t i = 0; r->format != RES_JSON && i < r->n_out; i++) {
		rows_put_separator(r, i);
		rows_put_field(r->format, r->out, r->name[r->order[i]]);
	}
	putc(r->format == RES_JSON ? '[' : '\n', r->out);
}

int res_rows_head(struct res_rows *r, const char *const pattern[],
    size_t n_patterns)
{
	if (r->rc < 0 || (r->rc = SIM_ZALLOC(&r->place, r->n, r->e)) < 0 ||
	    (r->rc = SIM_ZALLOC(&r->order, r->n, r->e)) < 0 ||
	    (r->rc = SIM_ZALLOC(&r->from, r->n, r->e)) < 0 ||
	    (r->rc = SIM_ZALLOC(&r->to, r->n, r->e)) < 0)
		return r->rc;
	static const char *const all[] = {"*"};
	r->rc = res_choose((const char *const *)r->name, r->n,
	    n_patterns ? pattern : all, n_patterns ? n_patterns : 1, "column",
	    r->order, &r->n_out, r->e);
	if (r->rc < 0)
		return r->rc;
	for (size_t i = 0; i < r->n; i++)
		r->place[i] = SIZE_MAX;
	for (size_t i = 0; i < r->n_out; i++)
		r->place[r->order[i]] = i;
	r->in_head = 0;
	rows_put_names(r);
	return 0;
}

void res_rows_end(struct res_rows *r)
{
	assert(r->at == r->n);
	r->at = 0;
	if (fflush(r->cells) != 0 && r->rc == 0)
		r->rc = sim_fail(r->e, SIM_ENOMEM, "no memory for a row.");
	if (r->rc < 0)
		return;
	if (r->format == RES_JSON)
		fputs(r->n_rows ? "},\n{" : "\n{", r->out);
	for (size_t i = 0; i < r->n_out; i++) {
		rows_put_separator(r, i);
		if (r->format == RES_JSON) {
			res_json_text(r->out, r->name[r->order[i]]);
			fputs(": ", r->out);
		}
		fwrite(r->text + r->from[i], 1, r->to[i] - r->from[i], r->out);
	}
	if (r->format != RES_JSON)
		putc('\n', r->out);
	r->n_rows++;
	rewind(r->cells);
}

int res_rows_close(struct res_rows *r)
{
	if (r->rc < 0)
		return r->rc;
	if (r->format == RES_JSON)
		fputs(r->n_rows ? "}\n]\n" : "\n]\n", r->out);
	/* ferror() may report an old failure whose errno is long gone. */
	errno = 0;
	if (fflush(r->out) != 0 || ferror(r->out))
		return sim_fail(r->e, SIM_EIO, "cannot write the table: %s.",
		    errno ? strerror(errno) : "output failed");
	return 0;
}

/* --- choosing ------------------------------------------------------------- */

static void choose_one(size_t i, size_t chosen[], size_t *n_chosen)
{
	for (size_t k = 0; k < *n_chosen; k++)
		if (chosen[k] == i)
			return;
	chosen[(*n_chosen)++] = i;
}

/* A name that happens to hold a star is meant as it is. */
static size_t choose_by(const char *const name[], size_t n, const char *pattern,
    size_t chosen[], size_t *n_chosen)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(name[i], pattern) == 0) {
			choose_one(i, chosen, n_chosen);
			return 1;
		}
	for (size_t i = 0; i < n; i++)
		if (fnmatch(pattern, name[i], 0) == 0) {
			choose_one(i, chosen, n_chosen);
			found++;
		}
	return found;
}

int res_choose(const char *const name[], size_t n, const char *const pattern[],
    size_t n_patterns, const char *what, size_t chosen[], size_t *n_chosen,
    struct sim_err *e)
{
	char quote[64];
	*n_chosen = 0;
	for (size_t i = 0; i < n_patterns; i++) {
		if (choose_by(name, n, pattern[i], chosen, n_chosen) > 0)
			continue;
		sim_quote(quote, pattern[i]);
		if (pattern[i][strcspn(pattern[i], "*?[")])
			return sim_fail(e, SIM_EMISMATCH, "no %s matches %s.",
			    what, quote);
		const char *near = sim_did_you_mean(pattern[i], name, n);
		return sim_fail(e, SIM_EMISMATCH, "there is no %s %s%s%s%s",
		    what, quote, near ? "; did you mean \"" : ".",
		    near ? near : "", near ? "\"?" : "");
	}
	return 0;
}
