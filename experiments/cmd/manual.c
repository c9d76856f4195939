/* experiments/cmd/manual.c -- manual pages, of the tables that --help shows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/schema/page.h"
#include "experiments/cmd/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/example.h"
#include "experiments/cmd/program.h"
#include "experiments/cmd/subverb.h"
#include "experiments/cmd/roff.h"
#include "experiments/schema/sections.h"
#include "results/provenance.h"
#include "sim/text.h"

/* Files that pages speak of. One is told on the page of a verb whose text has
 * the word. */
static const struct {
	const char *path, *word, *doc;
} files[] = {
    {"results/out/FIGURE.h5", "results/out", "results, as HDF5"},
    {"results/out/FIGURE.h5.journal", ".journal",
	"cells that are finished and not yet in the results"},
    {"results/out/FIGURE.h5.run.json", "Run the sweep",
	"how the results came about: command, host, times"},
    {"plots/out/FIGURE.svg", "plots/out",
	"the figure; beside it .pdf, .png and the table .tsv"},
    {"experiments/NAME.yaml", "SPEC", "specs"},
    {"plots/NAME.gp", ".gp", "gnuplot scripts"},
    {"results/expected", "results/expected",
	"claims of papers, and tables of earlier full runs"},
    {"../share/culprit", "seen from the program",
	"where specs, scripts and tables are installed, seen from the "
	"program's "
	"folder; those of the current folder come first"},
};
enum { N_FILES = sizeof(files) / sizeof(files[0]) };

/* --- what pages have in common --------------------------------------------*/

static void manual_put_head(FILE *out, const char *name, const char *section,
    const char *doc)
{
	char date[32] = "$Mdocdate$";
	const time_t t = (time_t)cmd_epoch;
	struct tm tm;
	if (t > 0 && gmtime_r(&t, &tm))
		strftime(date, sizeof(date), "%B %e, %Y", &tm);
	fprintf(out, ".\\\" Made by culprit man.\n.Dd %s\n.Dt ", date);
	for (const char *c = name; *c; c++)
		putc(toupper((unsigned char)*c), out);
	fprintf(out, " %s\n.Os culprit %.*s\n.Sh NAME\n.Nm %s\n.Nd ", section,
	    (int)strcspn(res_version(), " "), res_version(), name);
	cmd_roff_word(out, doc, strlen(doc));
	putc('\n', out);
}

/* "0 good; 2 the spec is wrong, or ...; 3 ..." as a list: a digit behind a
 * semicolon begins an item. */
static void put_exit_status(FILE *out, const char *own)
{
	const char *at = own ? own : cmd_exit_codes;
	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", out);
	while (isdigit((unsigned char)*at)) {
		const char *end = at + 1;
		while (*end &&
		    !(*end == ';' && isspace((unsigned char)end[1]) &&
			isdigit((unsigned char)end[2])))
			end++;
		char *item = strndup(at + 2, (size_t)(end - at) - 2);
		fprintf(out, ".It %c\n", *at);
		if (item)
			cmd_roff_text(out, item);
		free(item);
		at = *end ? end + 2 : end;
	}
	fputs(".El\n", out);
}

static void put_examples(FILE *out, const char *verb)
{
	const struct cmd_example *x = cmd_example_first(verb);
	if (!x->verb)
		return;
	fputs(".Sh EXAMPLES\n.Bl -tag -width Ds\n", out);
	for (; x->verb && cmd_example_is_of(x, verb); x++) {
		fputs(".It Li ", out);
		/* An argument with blanks stands in quotes. */
		putc('"', out);
		cmd_roff_word(out, x->command, strlen(x->command));
		fputs("\"\n", out);
		cmd_roff_text(out, x->doc);
	}
	fputs(".El\n", out);
}

static void put_file(FILE *out, size_t i)
{
	fputs(".It Pa ", out);
	cmd_roff_word(out, files[i].path, strlen(files[i].path));
	putc('\n', out);
	cmd_roff_text(out, files[i].doc);
}

/* Those that TEXT speaks of; all of them if it is NULL. */
static void put_files(FILE *out, const char *text)
{
	int n = 0;
	for (size_t i = 0; i < N_FILES; i++) {
		if (text && !strstr(text, files[i].word))
			continue;
		if (n++ == 0)
			fputs(".Sh FILES\n.Bl -tag -width Ds\n", out);
		put_file(out, i);
	}
	if (n > 0)
		fputs(".El\n", out);
}

/* Is "culprit VERB", as a whole, a part of TEXT? */
static int speaks_of(const char *text, const char *verb)
{
	const size_t n = strlen(verb);
	for (; (text = strstr(text, "culprit ")); text++)
		if (strncmp(text + 8, verb, n) == 0 && !islower(text[8 + n]))
			return 1;
	return 0;
}

/* The program, the verbs that TEXT speaks of (NULL: all) but that of the page,
 * in the order of their names, and the page on specs. */
static void put_see_also(FILE *out, const char *text, const char *page)
{
	const char *last = "";
	fprintf(out, ".Sh SEE ALSO\n");
	if (*page)
		fprintf(out, ".Xr culprit 1 ,\n");
	for (;;) {
		const char *next = NULL;
		for (const struct cmd_verb *v = cmd_verbs; v->name; v++)
			if (v->doc && strcmp(v->name, last) > 0 &&
			    (!next || strcmp(v->name, next) < 0))
				next = v->name;
		if (!next)
			break;
		last = next;
		if (strcmp(next, page) != 0 && (!text || speaks_of(text, next)))
			fprintf(out, ".Xr culprit-%s 1 ,\n", next);
	}
	if (strcmp(page, "spec(5)") == 0)
		fprintf(out, ".Xr culprit-spec 1\n");
	else
		fprintf(out, ".Xr culprit-spec 5\n");
}

/* --- a verb --------------------------------------------------------------- */

/* A word in capitals is for the user to fill in, another one to be typed; one
 * in brackets may be missing. */
static void put_synopsis_word(FILE *out, const char *word, size_t n)
{
	const int may_miss = *word == '[' && word[n - 1] == ']';
	int has_capital = 0;
	word += may_miss;
	n -= 2 * (size_t)may_miss;
	for (size_t i = 0; i < n; i++)
		has_capital |= isupper((unsigned char)word[i]);
	fprintf(out, ".%s%s ", may_miss ? "Op " : "",
	    has_capital ? "Ar" : "Cm");
	cmd_roff_word(out, word, n);
	putc('\n', out);
}

/* A line for each way to call it. */
static void put_synopsis(FILE *out, const struct cmd_table *m)
{
	const char *at = m->line->args_doc ? m->line->args_doc : "";
	fputs(".Sh SYNOPSIS\n", out);
	do {
		fprintf(out, ".Nm culprit %s\n.Op Ar option ...\n", m->verb);
		while (*at && *at != '\n') {
			const size_t n = strcspn(at, " \n");
			put_synopsis_word(out, at, n);
			at += n;
			at += strspn(at, " ");
		}
	} while (*at++ == '\n');
}

static void manual_put_option(FILE *out, const char *name, int letter,
    const char *value, const char *doc)
{
	fputs(".It ", out);
	if (letter) {
		fputs("Fl ", out);
		cmd_roff_word(out, (char[]){(char)letter, '\0'}, 1);
		if (value) {
			fputs(" Ar ", out);
			cmd_roff_word(out, value, strlen(value));
		}
		fputs(" , ", out);
	}
	fputs("Fl \\-", out);
	cmd_roff_word(out, name, strlen(name));
	if (value) {
		fputs(" Ns = Ns Ar ", out);
		cmd_roff_word(out, value, strlen(value));
	}
	putc('\n', out);
	cmd_roff_text(out, doc);
}

/* "How:" without its colon. */
static void put_headline(FILE *out, const char *text)
{
	fputs(".Ss ", out);
	cmd_roff_word(out, text, strcspn(text, ":"));
	putc('\n', out);
}

static void put_options(FILE *out, const struct cmd_table *m)
{
	int in_list = 0;
	fputs(".Sh OPTIONS\n", out);
	for (size_t i = 0; i < m->n; i++) {
		const struct cmd_option *o = m->row[i];
		/* A headline of what argp adds itself has no rows. */
		if (!o->name && o->group < 0)
			continue;
		if (!o->name && in_list)
			fputs(".El\n", out);
		if (!o->name)
			put_headline(out, o->doc);
		else if (!in_list)
			fputs(".Bl -tag -width Ds\n", out);
		in_list = o->name != NULL;
		if (o->name)
			manual_put_option(out, o->name, o->letter, o->arg,
			    o->doc);
	}
	if (in_list)
		fputs(".El\n", out);
	if (m->n > 0)
		fputs(".Ss Help\n", out);
	fputs(".Bl -tag -width Ds\n", out);
	manual_put_option(out, "help", '?', NULL,
	    "what this page says, in short");
	manual_put_option(out, "usage", 0, NULL, "all options in a few lines");
	fputs(".El\n", out);
}

/* *HEAD is the text before the options and *TAIL that behind them, without the
 * paragraph *CODES on exit codes; all to be freed. */
static int split_text(const struct cmd_table *m, char **head, char **tail,
    char **codes)
{
	const char *doc = m->line->doc, *v = strchr(doc, '\v');
	size_t n = 0;
	FILE *f = open_memstream(tail, &n);
	*codes = NULL;
	if (!f)
		return -1;
	cmd_line_tail(f, m->line, m->args);
	if (fclose(f) != 0)
		return -1;
	*head = strndup(doc, v ? (size_t)(v - doc) : strlen(doc));
	char *at = strstr(*tail, "Exit codes: ");
	if (at) {
		char *end = strstr(at, "\n\n");
		*codes = end ? strndup(at + 12, (size_t)(end - at) - 12)
			     : strdup(at + 12);
		memmove(at, end ? end : at + strlen(at),
		    strlen(end ? end : "") + 1);
	}
	return *head ? 0 : -1;
}

/* All that the page says, to see what it speaks of. */
static char *all_text(const struct cmd_table *m, const char *tail)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	if (!f)
		return NULL;
	fprintf(f, "%s\n%s\n%s\n", m->line->doc, tail,
	    m->line->args_doc ? m->line->args_doc : "");
	for (size_t i = 0; i < m->n; i++)
		fprintf(f, "%s\n", m->row[i]->doc ? m->row[i]->doc : "");
	fclose(f);
	return text;
}

/* Of "run", or of "trace get". */
static const char *doc_of(const char *verb)
{
	for (const struct cmd_verb *v = cmd_verbs; v->name; v++) {
		const size_t n = strlen(v->name);
		if (strcmp(verb, v->name) == 0)
			return v->doc;
		for (const struct cmd_verb *s = cmd_subverbs(v->name); s->name;
		     s++)
			if (strncmp(verb, v->name, n) == 0 && verb[n] == ' ' &&
			    strcmp(verb + n + 1, s->name) == 0)
				return s->doc;
	}
	return "a verb of culprit";
}

void cmd_manual_verb(FILE *out, const struct cmd_table *m)
{
	char name[64], *head = NULL, *tail = NULL, *codes = NULL;
	char *text = NULL;
	snprintf(name, sizeof(name), "culprit-%s", m->verb);
	/* That of "trace get" is culprit-trace-get. */
	for (char *blank; (blank = strchr(name, ' '));)
		*blank = '-';
	if (split_text(m, &head, &tail, &codes) == 0 &&
	    (text = all_text(m, tail))) {
		manual_put_head(out, name, "1", doc_of(m->verb));
		put_synopsis(out, m);
		fputs(".Sh DESCRIPTION\n", out);
		cmd_roff_text(out, head);
		/* What stands as it is makes room before it by itself. */
		if (tail[strspn(tail, " \n")] && *tail != ' ')
			fputs(".Pp\n", out);
		cmd_roff_text(out, tail);
		put_options(out, m);
		put_files(out, text);
		put_exit_status(out, codes);
		put_examples(out, m->verb);
		put_see_also(out, text, m->verb);
	}
	free(head);
	free(tail);
	free(codes);
	free(text);
}

/* --- the program ---------------------------------------------------------- */

void cmd_manual_program(FILE *out)
{
	manual_put_head(out, "culprit", "1",
	    "faults in datacenter networks, simulated, diagnosed and scored");
	fputs(".Sh SYNOPSIS\n.Nm\n.Ar verb\n.Op Ar option ...\n.Op Ar word "
	      "...\n.Sh DESCRIPTION\n",
	    out);
	cmd_roff_text(out, cmd_program_doc);
	fputs(".Pp\nThe verbs, each with a page of its own:\n"
	      ".Bl -tag -width Ds\n",
	    out);
	for (const struct cmd_verb *v = cmd_verbs; v->name; v++) {
		if (!v->doc)
			continue;
		fprintf(out, ".It Cm %s\n", v->name);
		cmd_roff_text(out, v->doc);
	}
	fputs(".El\n.Sh OPTIONS\n.Bl -tag -width Ds\n", out);
	for (const struct cmd_verb *o = cmd_options; o->name; o++)
		manual_put_option(out, o->name + 2, 0, NULL, o->doc);
	fputs(".El\n", out);
	fputs(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev PATH\n", out);
	cmd_roff_text(out, "where gnuplot is found, which draws");
	fputs(".El\n", out);
	put_files(out, NULL);
	put_exit_status(out, NULL);
	put_examples(out, "");
	put_see_also(out, NULL, "");
}

/* --- specs ---------------------------------------------------------------- */

static void put_key_name(FILE *out, const char *map, const char *name)
{
	fputs(".It Ic ", out);
	if (*map)
		fprintf(out, "%s.", map);
	cmd_roff_word(out, name, strlen(name));
	putc('\n', out);
}

/* A section's list begins with its first key, as an empty one is a mistake. */
struct key_list {
	FILE *out;
	int begun;
};

/* What it means; then what may stand there, and what does by itself. */
static void put_key(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *f, const struct xp_own_key *own)
{
	struct key_list *l = arg;
	char text[1024], values[512] = "";
	struct sim_text v = {values, sizeof(values), 0};
	(void)p;
	if (!l->begun)
		fputs(".Bl -tag -width Ds\n", l->out);
	l->begun = 1;
	put_key_name(l->out, map, own ? own->name : f->name);
	cmd_roff_text(l->out, own ? own->doc : f->doc);
	fputs(".br\n", l->out);
	if (own) {
		cmd_roff_text(l->out, own->type);
		return;
	}
	sim_field_put_values(f, &v);
	snprintf(text, sizeof(text), "%s%s%s%s%s", sim_field_type_name(f),
	    *values ? " " : "", values,
	    !f->def       ? "; required"
		: *f->def ? "; default "
			  : "",
	    f->def ? f->def : "");
	cmd_roff_text(l->out, text);
}

static void put_section(FILE *out, const struct xp_page *p)
{
	struct key_list l = {out, 0};
	fputs(".Ss ", out);
	cmd_roff_word(out, *p->name ? p->name : "Keys at the top",
	    *p->name ? strlen(p->name) : strlen("Keys at the top"));
	putc('\n', out);
	if (p->owner)
		fprintf(out, "(%s %s)\n", p->owner, p->name);
	cmd_roff_text(out, p->doc);
	xp_page_visit(p, put_key, &l);
	if (l.begun)
		fputs(".El\n", out);
	if (p->more) {
		fputs(".Pp\n", out);
		cmd_roff_text(out, p->more);
	}
	if (p->example) {
		fputs(".Bd -literal -offset indent\n", out);
		for (const char *at = p->example; *at;) {
			const size_t n = strcspn(at, "\n");
			cmd_roff_word(out, at, n);
			putc('\n', out);
			at += n + (at[n] == '\n');
		}
		fputs(".Ed\n", out);
	}
}

void cmd_manual_spec(FILE *out)
{
	struct xp_page p;
	manual_put_head(out, "culprit-spec", "5", "a sweep as one YAML file");
	fputs(".Sh DESCRIPTION\n", out);
	cmd_roff_text(out,
	    "A spec says what is simulated and swept, and which algorithms "
	    "look "
	    "on. Sections are keys of the root; what is absent stands for its "
	    "defaults. A number may be drawn where its type says so: {uniform: "
	    "[a, b]} or {log_uniform: [a, b]}. Unknown keys, `1%` and `010` "
	    "are "
	    "mistakes. `culprit spec KEY` tells any of this at once, and "
	    "`culprit spec --schema` tells it to editors.");
	for (size_t i = 0; xp_page_at(i, &p); i++)
		put_section(out, &p);
	put_see_also(out, "culprit run culprit algos culprit metrics",
	    "spec(5)");
}
