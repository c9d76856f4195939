/* experiments/cmd/complete.c -- what a shell may put for the word being typed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/complete.h"

#include <ctype.h>
#include <string.h>

#include "algos/algo.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/program.h"
#include "experiments/cmd/subverb.h"
#include "experiments/schema/sections.h"
#include "results/schema.h"

/* What is being typed. A candidate is shown behind HEAD, which stands already:
 * "--format=svg," of "--format=svg,p". */
struct typed {
	FILE *out;
	const char *head, *word;
	size_t n_head;
};

static void complete_offer(const struct typed *t, const char *name,
    const char *doc)
{
	if (strncmp(name, t->word, strlen(t->word)) == 0)
		fprintf(t->out, "%.*s%s\t%s\n", (int)t->n_head, t->head, name,
		    doc ? doc : "");
}

/* --- what there is to be named -------------------------------------------- */

struct listing {
	const struct typed *typed;
	const char *doc;
};

static void offer_file(void *arg, const char *name)
{
	const struct listing *l = arg;
	complete_offer(l->typed, name, l->doc);
}

static void offer_specs(const struct typed *t)
{
	struct listing l = {t, "spec"};
	cmd_each_file("experiments", ".yaml", 1, offer_file, &l);
	fprintf(t->out, "\tfiles .yaml\n");
}

static void offer_figures(const struct typed *t)
{
	struct listing l = {t, "results"};
	cmd_each_file("results/out", ".h5", 0, offer_file, &l);
}

static void offer_algos(const struct typed *t)
{
	for (size_t i = 0; algo_registry[i]; i++)
		complete_offer(t, algo_registry[i]->name,
		    algo_registry[i]->doc);
}

static void offer_metrics(const struct typed *t)
{
	for (size_t i = 0; i < RES_N_LISTS; i++) {
		const struct res_metric_list *l = &res_metric_lists[i];
		for (size_t k = 0; k < l->n; k++)
			complete_offer(t, l->metric[k].name, l->metric[k].doc);
	}
}

static void offer_pages(const struct typed *t)
{
	for (const struct cmd_verb *v = cmd_verbs; v->name; v++) {
		if (v->doc)
			complete_offer(t, v->name, v->doc);
		for (const struct cmd_verb *s = cmd_subverbs(v->name); s->name;
		     s++) {
			char page[64];
			snprintf(page, sizeof(page), "%s-%s", v->name, s->name);
			complete_offer(t, page, s->doc);
		}
	}
	complete_offer(t, "spec.5", "the keys of a spec");
}

static void offer_files(const struct typed *t)
{
	fprintf(t->out, "\tfiles\n");
}

static void offer_h5(const struct typed *t)
{
	fprintf(t->out, "\tfiles .h5\n");
}

static void offer_folders(const struct typed *t)
{
	fprintf(t->out, "\tfolders\n");
}

/* What an argument is called says what it may be. */
static const struct {
	const char *called;
	void (*offer)(const struct typed *t);
} kinds[] = {
    {"SPEC", offer_specs},
    {"FIGURE", offer_figures},
    {"ALGO", offer_algos},
    {"LABEL", offer_algos},
    {"METRIC", offer_metrics},
    {"PAGE", offer_pages},
    {"FILE", offer_files},
    {"EPOCH", offer_h5},
    {"RECORDING", offer_h5},
    {"FOLDER", offer_folders},
    {"DIR", offer_folders},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* CALLED is as in help: "[FILE|FIGURE...]", "METRIC,...", "FILE.gp". */
static void offer_called(const struct typed *t, const char *called)
{
	const char *at = called;
	while (*at) {
		size_t n = strspn(at, "[]|., ");
		at += n;
		for (n = 0; isupper((unsigned char)at[n]); n++)
			;
		/* What the file's name ends in is told with it. */
		const size_t k = at[n] == '.'
		    ? strspn(at + n + 1, "abcdefghijklmnopqrstuvwxyz0123456789")
		    : 0;
		if (n > 0 && k > 0)
			fprintf(t->out, "\tfiles %.*s\n", (int)k + 1, at + n);
		for (size_t i = 0; n > 0 && k == 0 && i < N_KINDS; i++)
			if (strlen(kinds[i].called) == n &&
			    strncmp(kinds[i].called, at, n) == 0)
				kinds[i].offer(t);
		at += n + k;
		at += n + k == 0 && *at;
	}
}

/* --- values ---------------------------------------------------------------- */

/* KEY=VALUE of a table of fields: the key, then what it may be. */
static void offer_keys(struct typed *t, const struct sim_field *f)
{
	static const char *const flags[] = {"false", "true", NULL};
	const char *equals = strchr(t->word, '=');
	for (; f->name; f++) {
		char key[80];
		snprintf(key, sizeof(key), "%s=", f->name);
		if (!equals) {
			complete_offer(t, key, f->doc);
			continue;
		}
		if (strncmp(t->word, key, strlen(key)) != 0)
			continue;
		const char *const *w = f->type == SIM_F_BOOL ? flags
		    : f->type == SIM_F_ENUM                  ? f->names
							     : NULL;
		t->n_head += (size_t)(equals + 1 - t->word);
		t->word = equals + 1;
		for (; w && *w; w++)
			complete_offer(t, *w, "");
		return;
	}
}

/* PATH=VALUE of a spec: a key with the sections above it, then what it may be.
 * The word is a path until there is an equals sign in it. */
struct paths {
	const struct typed *typed;
	const char *equals; /* in the word; or NULL */
};

static void offer_path(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *f, const struct xp_own_key *own)
{
	static const char *const flags[] = {"false", "true", NULL};
	const struct paths *w = arg;
	struct typed t = *w->typed;
	char path[160];
	if (own ||
	    (p->form != XP_FORM_TOP && p->form != XP_FORM_MAP &&
		p->form != XP_FORM_MAPS))
		return;
	snprintf(path, sizeof(path), "%s%s%s%s%s=", p->name,
	    *p->name ? "." : "", map, *map ? "." : "", f->name);
	if (!w->equals) {
		complete_offer(&t, path, f->doc);
		return;
	}
	if (strncmp(t.word, path, strlen(path)) != 0)
		return;
	const char *const *x = f->type == SIM_F_BOOL ? flags
	    : f->type == SIM_F_ENUM                  ? f->names
						     : NULL;
	t.n_head += (size_t)(w->equals + 1 - t.word);
	t.word = w->equals + 1;
	for (; x && *x; x++)
		complete_offer(&t, *x, "");
}

static void offer_paths(const struct typed *t)
{
	struct paths w = {t, strchr(t->word, '=')};
	struct xp_page p;
	for (size_t i = 0; xp_page_at(i, &p); i++)
		xp_page_visit(&p, offer_path, &w);
}

/* The values that option O may have, of which WORD is being typed behind what
 * HEAD has of the same word. */
static void offer_values(FILE *out, const struct cmd_option *o,
    const char *head, const char *word)
{
	struct typed t = {out, head, word, (size_t)(word - head)};
	const char *comma = strrchr(word, ',');
	/* Of a list only the last part is being typed. */
	if (o->arg && comma &&
	    (strstr(o->arg, ",...") || strcmp(o->arg, "LIST") == 0)) {
		t.word = comma + 1;
		t.n_head = (size_t)(t.word - head);
	}
	if (o->values)
		for (const char *const *w = o->values; *w; w++)
			complete_offer(&t, *w, "");
	else if (o->arg && strcmp(o->arg, "KEY=VALUE") == 0 && o->with)
		offer_keys(&t, o->with);
	else if (o->arg && strcmp(o->arg, "PATH=VALUE") == 0)
		offer_paths(&t);
	else if (o->arg)
		offer_called(&t, o->arg);
}

/* --- words ------------------------------------------------------------------ */

/* The option that a word "--name..." of N bytes names, as a whole or by a
 * beginning; NULL if there is none. */
static const struct cmd_option *option_named(const struct cmd_table *t,
    const char *name, size_t n)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i]->name && strncmp(t->row[i]->name, name, n) == 0)
			return t->row[i];
	return NULL;
}

static const struct cmd_option *option_lettered(const struct cmd_table *t,
    char letter)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i]->letter == letter)
			return t->row[i];
	return NULL;
}

/* The option whose value is the word behind WORD; NULL if that is none. */
static const struct cmd_option *option_waiting(const struct cmd_table *t,
    const char *word)
{
	const struct cmd_option *o;
	if (word[0] != '-' || word[1] == '\0' || strchr(word, '='))
		return NULL;
	if (word[1] == '-') {
		o = option_named(t, word + 2, strlen(word + 2));
		return o && o->arg && word[2] ? o : NULL;
	}
	/* A letter that takes a value ends the word, with the value or before
	 * it. */
	for (word++; *word; word++)
		if ((o = option_lettered(t, *word)) && o->arg)
			return word[1] ? NULL : o;
	return NULL;
}

static void offer_options(FILE *out, const struct cmd_table *t,
    const char *word)
{
	const struct typed as = {out, "", word, 0};
	for (size_t i = 0; i < t->n; i++) {
		const struct cmd_option *o = t->row[i];
		char name[80];
		snprintf(name, sizeof(name), "--%s%s", o->name ? o->name : "",
		    o->arg ? "=" : "");
		if (o->name)
			complete_offer(&as, name, o->doc);
	}
	complete_offer(&as, "--help", "all options");
}

/* A line of synopsis is words to be typed, in small letters, and what the user
 * chooses; the last of these may be repeated. GIVEN are those that stand. */
static void offer_by_line(FILE *out, const char *line, size_t n_line,
    char *const given[], int n_given, const char *word)
{
	const struct typed t = {out, "", word, 0};
	const char *end = line + n_line;
	char at[64] = "";
	for (int k = 0; k <= n_given && line < end; k++) {
		size_t n = strcspn(line, " \n");
		snprintf(at, sizeof(at), "%.*s", (int)n, line);
		line += n;
		line += line < end && *line == ' ';
		if (k < n_given && islower((unsigned char)*at) &&
		    strcmp(at, given[k]) != 0)
			return;
		/* What stands fills the line, and nothing may be repeated. */
		if (k < n_given && line >= end && !strstr(at, "..."))
			return;
	}
	if (islower((unsigned char)*at))
		complete_offer(&t, at, "");
	else
		offer_called(&t, at);
}

static void offer_word(FILE *out, const struct cmd_table *t,
    char *const given[], int n_given, const char *word)
{
	const char *line = t->line->args_doc ? t->line->args_doc : "";
	if (t->line->word.values) {
		offer_values(out, &t->line->word, word, word);
		return;
	}
	while (*line) {
		const size_t n = strcspn(line, "\n");
		offer_by_line(out, line, n, given, n_given, word);
		line += n;
		line += *line == '\n';
	}
}

void cmd_complete_words(FILE *out, const struct cmd_table *t, int n,
    char *const word[])
{
	enum { MANY = 64 };
	char *given[MANY];
	int n_given = 0, only_words = 0;
	const struct cmd_option *waiting = NULL;
	if (n < 1)
		return;
	for (int i = 0; i < n - 1; i++) {
		const int is_value = waiting != NULL;
		waiting = NULL;
		if (is_value)
			continue;
		if (!only_words && strcmp(word[i], "--") == 0)
			only_words = 1;
		else if (!only_words && word[i][0] == '-')
			waiting = option_waiting(t, word[i]);
		else if (n_given < MANY)
			given[n_given++] = word[i];
	}
	const char *last = word[n - 1], *equals = strchr(last, '=');
	if (waiting) {
		offer_values(out, waiting, last, last);
	} else if (!only_words && strncmp(last, "--", 2) == 0 && equals) {
		const struct cmd_option *o =
		    option_named(t, last + 2, (size_t)(equals - last) - 2);
		if (o && o->arg)
			offer_values(out, o, last, equals + 1);
	} else if (!only_words && *last == '-') {
		offer_options(out, t, last);
	} else {
		offer_word(out, t, given, n_given, last);
	}
}

/* --- the program ------------------------------------------------------------ */

/* Options as rows of their own, for the first word alone. */
static void offer_verbs(const char *word)
{
	const struct typed t = {stdout, "", word, 0};
	const struct cmd_verb *const lists[] = {cmd_verbs, cmd_options};
	for (size_t i = 0; i < 2; i++)
		for (const struct cmd_verb *v = lists[i]; v->name; v++)
			if (v->doc && (i == 0 || *word == '-'))
				complete_offer(&t, v->name, v->doc);
}

int cmd_complete(int argc, char **argv)
{
	char title[64], ask[] = "--complete";
	if (argc <= 2) {
		offer_verbs(argc == 2 ? argv[1] : "");
		return CMD_GOOD;
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) {
		offer_verbs(argv[2]);
		return CMD_GOOD;
	}
	for (const struct cmd_verb *v = cmd_verbs; v->name; v++) {
		if (strcmp(argv[1], v->name) != 0 || !v->doc)
			continue;
		snprintf(title, sizeof(title), "culprit %s", v->name);
		argv[0] = title;
		argv[1] = ask;
		return v->main(argc, argv);
	}
	/* Nothing is known of what is no verb. */
	return CMD_GOOD;
}
