/* experiments/cmd/subverb.c -- verbs whose first word is a verb again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/subverb.h"

#include <stdio.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "sim/text.h"

const struct cmd_family *const cmd_families[] = {&cmd_trace_family,
    &cmd_samples_family, NULL};

const struct cmd_verb *cmd_subverbs(const char *verb)
{
	static const struct cmd_verb none = {0};
	for (size_t i = 0; cmd_families[i]; i++)
		if (strcmp(cmd_families[i]->name, verb) == 0)
			return cmd_families[i]->verbs;
	return &none;
}

enum { MAX_SUBVERBS = 32 };

/* All other words were taken before: whatever comes here is no subverb. */
static void subverb_unknown(void *to, char *arg, const struct cmd_given *g)
{
	const struct cmd_family *const *f = to;
	size_t n = 0;
	while (g->option->values[n])
		n++;
	const char *near = sim_did_you_mean(arg, g->option->values, n);
	argp_error(g->state, "there is no \"%s %s\"%s%s%s", (*f)->name, arg,
	    near ? "; did you mean \"" : "", near ? near : "",
	    near ? "\"?" : "");
}

static void subverb_more(FILE *out, const void *args)
{
	const struct cmd_family *const *f = args;
	for (const struct cmd_verb *v = (*f)->verbs; v->name; v++)
		fprintf(out, "  %-8s %s\n", v->name, v->doc);
	fprintf(out, "\n`culprit %s VERB --help` lists the options of each.\n",
	    (*f)->name);
}

int cmd_subverb(const struct cmd_family *f, int argc, char **argv)
{
	char title[64], ask[] = "--complete";
	const char *names[MAX_SUBVERBS + 1] = {NULL};
	/* Help ends the program and so never comes back from parsing. */
	struct cmd_line line = {
	    .without = f->without,
	    .args_doc = "VERB [WORD...]",
	    .doc = f->doc,
	    .more = subverb_more,
	    .word = {.take = subverb_unknown, .values = names},
	};
	/* What a subverb takes, and may be completed to, its own table says. */
	const int asks = argc > 3 && strcmp(argv[1], ask) == 0;
	const int at = 1 + asks;
	size_t n = 0;
	for (const struct cmd_verb *v = f->verbs; v->name; v++) {
		if (n < MAX_SUBVERBS)
			names[n++] = v->name;
		if (argc <= at || strcmp(argv[at], v->name) != 0)
			continue;
		snprintf(title, sizeof(title), "culprit %s %s", f->name,
		    v->name);
		/* "--complete get WORD" becomes "get --complete WORD". */
		argv[at] = asks ? ask : title;
		argv[1] = title;
		return v->main(argc - 1, argv + 1);
	}
	cmd_parse(&line, argc, argv, &f);
	return CMD_USAGE;
}
