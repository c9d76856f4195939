/* experiments/cmd/algos.c -- culprit algos and culprit spec: what there is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/plug/plug.h"
#include "results/json.h"
#include "sim/field.h"
#include "sim/text.h"

struct args {
	const char *name;
	int json;
};

/* A second name is met as a word would be where none is taken. */
static void algos_take_name(void *to, char *arg, const struct cmd_given *g)
{
	const char **name = to;
	if (*name)
		argp_error(g->state, "Too many arguments");
	*name = arg;
}

static void algos_print_json(const struct algo_ops *o, int first)
{
	printf(first ? "[{\"name\": " : ",\n {\"name\": ");
	res_json_text(stdout, o->name);
	res_json_text_of(stdout, "doc", o->doc);
	res_json_text_of(stdout, "paper", o->paper);
	printf(", \"params\": [");
	for (const struct sim_field *f = o->params; f && f->name; f++) {
		printf(f == o->params ? "" : ", ");
		res_json_text(stdout, f->name);
	}
	printf("]}");
}

static void print_text(const struct algo_ops *o, int with_params)
{
	printf("%-9s %s\n          %s\n", o->name, o->doc, o->paper);
	if (with_params && o->params && o->params->name)
		sim_field_help(o->params, stdout);
}

static int no_algo(const char *name)
{
	const char *known[64];
	size_t n = 0;
	for (; n < 64 && algo_registry[n]; n++)
		known[n] = algo_registry[n]->name;
	const char *near = sim_did_you_mean(name, known, n);
	fprintf(stderr, "culprit: no algorithm is called \"%s\"%s%s%s\n", name,
	    near ? "; did you mean \"" : "", near ? near : "",
	    near ? "\"?" : "; `culprit algos` lists them.");
	return CMD_USAGE;
}

/* A program or a plug-in says itself what it is. No name of ours has a blank, a
 * slash or a point. */
static int algos_outside(const char *text, int json)
{
	const size_t n = strlen(text);
	const enum plug_kind kind = n > 3 && strcmp(text + n - 3, ".so") == 0
	    ? PLUG_LIBRARY
	    : PLUG_EXEC;
	struct plug_set *set;
	struct plug *plug;
	struct sim_err e = {0};
	int rc = plug_set_open(&set, "", &e);
	if (rc < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	if ((rc = plug_set_find(set, kind, text, 0, &plug, &e)) < 0) {
		sim_wrap(&e, rc, "%.200s", text);
	} else if (json) {
		algos_print_json(plug_ops(plug), 1);
		printf("]\n");
	} else {
		print_text(plug_ops(plug), 1);
	}
	if (rc == 0 && plug_warns(plug))
		fprintf(stderr, "culprit: warning: %s " PLUG_WARNS "\n", text,
		    plug_warns(plug));
	plug_set_free(set);
	return rc < 0 ? cmd_fail(CMD_USAGE, &e) : CMD_GOOD;
}

int cmd_algos(int argc, char **argv)
{
	static const struct cmd_option options[] = {
	    {"json", 0, NULL, "a JSON array, one object an algorithm",
		.take = cmd_take_flag, .at = CMD_AT(json)},
	    {0},
	};
	static const struct cmd_line line = {
	    .options = options,
	    .word = {.take = algos_take_name, .at = CMD_AT(name)},
	    .args_doc = "[ALGO|COMMAND|FILE.so]",
	    .doc = "List the diagnosis algorithms, or one with all its "
		   "parameters: one of these, or one of yours, a program as "
		   "\"python3 mine.py\" or a plug-in as ./mine.so, which is "
		   "started or loaded to describe itself.",
	};
	struct args a = {0};
	int n = 0;
	cmd_parse(&line, argc, argv, &a);
	if (a.name && strpbrk(a.name, " /."))
		return algos_outside(a.name, a.json);
	for (size_t i = 0; algo_registry[i]; i++) {
		const struct algo_ops *o = algo_registry[i];
		if (a.name && strcmp(o->name, a.name) != 0)
			continue;
		if (a.json)
			algos_print_json(o, n == 0);
		else
			print_text(o, a.name != NULL);
		n++;
	}
	if (n == 0)
		return no_algo(a.name);
	if (a.json)
		printf("]\n");
	return CMD_GOOD;
}
