/* experiments/schema/writer.c -- JSON, piece by piece, on lines of its own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/schema/writer.h"

#include "results/json.h"

static void begin_value(struct xp_writer *w, const char *key)
{
	if (w->depth > 0)
		fprintf(w->out, "%s\n%*s", w->begun ? "," : "",
		    (int)w->depth * 2, "");
	if (key) {
		res_json_text(w->out, key);
		fputs(": ", w->out);
	}
	w->begun = 1;
}

static void go_in(struct xp_writer *w, const char *key, char bracket)
{
	begin_value(w, key);
	fputc(bracket, w->out);
	w->depth++;
	w->begun = 0;
}

static void go_out(struct xp_writer *w, char bracket)
{
	w->depth--;
	if (w->begun)
		fprintf(w->out, "\n%*s", (int)w->depth * 2, "");
	fputc(bracket, w->out);
	w->begun = 1;
}

void xp_write_map(struct xp_writer *w, const char *key)
{
	go_in(w, key, '{');
}

void xp_write_list(struct xp_writer *w, const char *key)
{
	go_in(w, key, '[');
}

void xp_write_end_map(struct xp_writer *w)
{
	go_out(w, '}');
}

void xp_write_end_list(struct xp_writer *w)
{
	go_out(w, ']');
}

void xp_write_text(struct xp_writer *w, const char *key, const char *text)
{
	begin_value(w, key);
	res_json_text(w->out, text);
}

void xp_write_number(struct xp_writer *w, const char *key, double x)
{
	begin_value(w, key);
	res_json_number(w->out, x);
}

void xp_write_bool(struct xp_writer *w, const char *key, int is_true)
{
	begin_value(w, key);
	fputs(is_true ? "true" : "false", w->out);
}

/* In one line, as there are many of them. */
void xp_write_names(struct xp_writer *w, const char *key,
    const char *const names[])
{
	begin_value(w, key);
	fputc('[', w->out);
	for (size_t i = 0; names[i]; i++) {
		fputs(i ? ", " : "", w->out);
		res_json_text(w->out, names[i]);
	}
	fputc(']', w->out);
}
