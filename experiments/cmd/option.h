/* experiments/cmd/option.h -- the options of a verb, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row says what an option is called, what `--help` says of it, and who puts
 * its value where. On any mistake the program ends with CMD_USAGE.
 */
#ifndef EXPERIMENTS_CMD_OPTION_H
#define EXPERIMENTS_CMD_OPTION_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/field.h"

/* What a taker hears besides the value: whose it is, and for argp_error(). */
struct cmd_given {
	const struct cmd_option *option;
	struct argp_state *state;
};

/* Puts ARG, what the user wrote, into *TO. */
typedef void cmd_taker(void *to, char *arg, const struct cmd_given *g);

/* A row of zeros ends a table. One with DOC alone is a headline; one with WITH
 * alone stands for that table, whose values go into the struct at AT. */
struct cmd_option {
	const char *name;
	int letter;      /* 0: it has none */
	const char *arg; /* NULL: it has no value */
	const char *doc;
	cmd_taker *take;
	size_t at;         /* where *TO is in the verb's arguments */
	uint64_t min, max; /* of numbers; MAX, of how often --set may stand */
	const void *with;  /* what else the taker is to know */
	int group;         /* of a headline; 0: behind the last */
	int live; /* a new value in a file is taken while it runs (config.h) */
	/* The words that the value may be, NULL at the end, for completion;
	 * NULL: any, or what ARG says. */
	const char *const *values;
};

#define CMD_AT(member) offsetof(struct args, member)

struct cmd_line {
	const char *args_doc, *doc; /* as argp has them */
	const struct cmd_option *options;
	struct cmd_option word; /* for each word that is no option, if it has
				   a taker; else there may be none */
	const char *without; /* a complaint if there is no word; NULL: fine */
	void (*check)(const void *args, struct argp_state *state);
	/* Below all other help, and what DOC has behind \v. */
	void (*more)(FILE *out, const void *args);
};

/* All that there is to say of a verb: its rows one behind the other, and the
 * arguments that LINE->more() is given. */
struct cmd_table {
	const char *verb; /* "run" of "culprit run", or "lab run" */
	const struct cmd_line *line;
	const void *args;
	size_t n;
	const struct cmd_option *const *row;
};

/* As argp_parse() does, read the words of the command line into ARGS; but an
 * unknown long option is met with "did you mean". In place of the rest of the
 * command line there may be what only the program itself says, to be answered
 * from the same table: --man, for cmd_manual_verb(); --complete and the words
 * so far, for cmd_complete_words(). */
void cmd_parse(const struct cmd_line *line, int argc, char **argv, void *args);

/* What stands below the options: LINE's words behind \v, if they are any, and what
 * its `more` says of ARGS. */
void cmd_line_tail(FILE *out, const struct cmd_line *line, const void *args);

/* Read the command line and the file of --config again, into ARGS, which is as it
 * was before cmd_parse(). Returns 1; 0 if the file says what it said before, and
 * then ARGS is not to be used. TELL gets a line: what is wrong; or the options, not
 * `live`, that it says otherwise than when the program began, "" if there are none.
 * Errors SIM_EINVAL, SIM_EIO (no such file any more), SIM_ENOMEM. */
int cmd_parse_again(const struct cmd_line *line, int argc, char **argv,
    void *args, char *tell, size_t size);

/* --- takers --------------------------------------------------------------- */
cmd_taker cmd_take_flag;    /* int, 1 */
cmd_taker cmd_take_text;    /* const char *, of ARG */
cmd_taker cmd_take_file;    /* the same, not empty */
cmd_taker cmd_take_u32;     /* uint32_t */
cmd_taker cmd_take_u64;     /* uint64_t, or int64_t */
cmd_taker cmd_take_mib;     /* uint64_t, bytes of that many MiB */
cmd_taker cmd_take_seconds; /* double, above 0 */
cmd_taker cmd_take_log;     /* const char *, a file; NULL of "stderr" */
cmd_taker cmd_take_set;     /* struct cmd_set */
cmd_taker cmd_take_one;     /* const char *, a word: the only NAME */
cmd_taker cmd_take_all;     /* struct cmd_words */
cmd_taker cmd_take_key;     /* KEY=VALUE, into the object of the fields WITH */

/* Assignments, one for each --set. */
struct cmd_set {
	const char *set[256];
	size_t n_set;
};

struct cmd_words {
	char **word;
	size_t n;
};

/* The number that an option was given, WHAT being its name in a complaint, from
 * MIN to MAX. */
uint64_t cmd_number(const char *text, const char *what, uint64_t min,
    uint64_t max, struct argp_state *state);

/* What --timers may be, NULL at the end. */
extern const char *const cmd_timers[];

/* Set a field of OBJ by ARG, "KEY=VALUE", as given to OPTION. */
void cmd_field_set(const struct sim_field *fields, void *obj,
    const char *option, const char *arg, struct argp_state *state);

/* Of each field two lines: "  KEY=DEFAULT [LEAST, MOST]" and its doc. */
void cmd_field_help(FILE *out, const struct sim_field *f);

#endif
