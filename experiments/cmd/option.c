/* experiments/cmd/option.c -- the options of a verb, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/option.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/complete.h"
#include "experiments/cmd/config.h"
#include "experiments/cmd/example.h"
#include "experiments/cmd/manual.h"
#include "sim/text.h"

enum { MAX_OPTIONS = 64, FIRST_KEY = 1000, TRY_S = 10 };

/* A verb's rows as argp has them and as we do. */
struct options {
	const struct cmd_line *line;
	const char *verb;
	char *args;
	size_t n;
	struct argp_option argp[MAX_OPTIONS + 1];
	const struct cmd_option *row[MAX_OPTIONS];
	void *to[MAX_OPTIONS];
	struct cmd_config config;
};

static void options_gather(struct options *all, const struct cmd_option *o,
    char *to)
{
	for (; o->name || o->doc || o->with; o++) {
		if (!o->name && o->with) {
			options_gather(all, o->with, to + o->at);
			continue;
		}
		assert(all->n < MAX_OPTIONS);
		const size_t i = all->n++;
		const int key = o->letter ? o->letter : FIRST_KEY + (int)i;
		all->argp[i] = (struct argp_option){.name = o->name,
		    .key = o->name ? key : 0,
		    .arg = o->arg,
		    .doc = o->doc,
		    .group = o->group};
		all->row[i] = o;
		all->to[i] = to + o->at;
	}
}

/* --- before argp ---------------------------------------------------------- */

/* The first option whose name begins with these N bytes, as argp takes unique
 * beginnings for the whole; NULL if there is none. */
static const struct argp_option *find_option(const struct options *all,
    const char *name, size_t n)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->argp[i].name &&
		    strncmp(all->argp[i].name, name, n) == 0)
			return &all->argp[i];
	return NULL;
}

static _Noreturn void unknown_option(const struct options *all,
    const char *program, const char *name, size_t n)
{
	const char *known[MAX_OPTIONS + 2] = {"help", "usage"};
	size_t n_known = 2;
	char word[64];
	for (size_t i = 0; i < all->n; i++)
		if (all->argp[i].name)
			known[n_known++] = all->argp[i].name;
	snprintf(word, sizeof(word), "%.*s", (int)n, name);
	const char *near = sim_did_you_mean(word, known, n_known);
	if (near)
		fprintf(stderr,
		    "%s: there is no option --%s; did you mean --%s?\n",
		    program, word, near);
	else
		fprintf(stderr,
		    "%s: there is no option --%s; `%s --help` lists "
		    "them.\n",
		    program, word, program);
	exit(CMD_USAGE);
}

/* Is the argument after WORD, letters as in "-qo", the value of its last one? A
 * letter that takes a value ends the word, with the value or before it. */
static int takes_next(const struct options *all, const char *word)
{
	while (*++word)
		for (size_t i = 0; i < all->n; i++)
			if (all->argp[i].key == *word && all->argp[i].arg)
				return word[1] == '\0';
	return 0;
}

/* argp only says that an option is unrecognized, so the long ones are looked at
 * before it gets them. Their values are skipped: they may look like options. */
static void options_check(const struct options *all, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (argv[i][0] != '-')
			continue;
		if (argv[i][1] != '-') {
			i += takes_next(all, argv[i]);
			continue;
		}
		const char *name = argv[i] + 2;
		const size_t n = strcspn(name, "=");
		/* argp adds these two by itself. */
		if (strncmp("help", name, n) == 0 ||
		    strncmp("usage", name, n) == 0)
			continue;
		const struct argp_option *o = find_option(all, name, n);
		if (!o)
			unknown_option(all, argv[0], name, n);
		/* Its value may begin with dashes, and is no option then. */
		i += o->arg && name[n] == '\0';
	}
}

/* --- argp ----------------------------------------------------------------- */

static error_t options_parse(int key, char *arg, struct argp_state *state)
{
	const struct options *all = state->input;
	const struct cmd_line *line = all->line;
	if (key == ARGP_KEY_NO_ARGS && line->without)
		argp_error(state, "%s", line->without);
	/* The file comes first, so that the command line wins. */
	if (key == ARGP_KEY_INIT)
		cmd_config_apply(&all->config, state);
	if (key == ARGP_KEY_END && line->check)
		line->check(all->args, state);
	if (key == ARGP_KEY_ARG && line->word.take) {
		const struct cmd_given g = {&line->word, state};
		line->word.take(all->args + line->word.at, arg, &g);
		return 0;
	}
	for (size_t i = 0; key != 0 && i < all->n; i++)
		if (all->argp[i].key == key) {
			const struct cmd_given g = {all->row[i], state};
			all->row[i]->take(all->to[i], arg, &g);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

void cmd_line_tail(FILE *out, const struct cmd_line *line, const void *args)
{
	const char *v = strchr(line->doc, '\v');
	size_t n = v ? strlen(++v) : 0;
	while (n > 0 && strchr(" \n", v[n - 1]))
		n--;
	if (n > 0)
		fprintf(out, "%.*s%s", (int)n, v, line->more ? "\n\n" : "\n");
	if (line->more)
		line->more(out, args);
}

/* argp frees what a help filter returns, unless it is TEXT itself. */
static char *options_help(int key, const char *text, void *input)
{
	const struct options *all = input;
	char *more = NULL;
	size_t n = 0;
	if (key != ARGP_KEY_HELP_POST_DOC || !all)
		return (char *)(uintptr_t)text;
	FILE *out = open_memstream(&more, &n);
	if (!out)
		return NULL;
	cmd_line_tail(out, all->line, all->args);
	cmd_example_print(out, all->verb);
	fclose(out);
	return more;
}

/* "run" of "culprit run", "lab run" of "culprit lab run". */
static const char *verb_of(const char *program)
{
	const char *blank = strchr(program, ' ');
	return blank ? blank + 1 : program;
}

/* What the program asks of its own tables: it ends here, as after --help. */
static void options_answer(const struct options *all, int argc, char **argv)
{
	const struct cmd_table t = {all->verb, all->line, all->args, all->n,
	    all->row};
	if (strcmp(argv[1], "--man") == 0)
		cmd_manual_verb(stdout, &t);
	else if (strcmp(argv[1], "--complete") == 0)
		cmd_complete_words(stdout, &t, argc - 2, argv + 2);
	else
		return;
	exit(fflush(stdout) == 0 ? CMD_GOOD : CMD_TROUBLE);
}

/* The file that ARGV names; NULL: none. Options before it are passed over with
 * their values, as these may look like it. */
static const char *options_config(const struct options *all, int argc,
    char **argv)
{
	const char *path = NULL;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (argv[i][0] != '-' || argv[i][1] != '-') {
			i += argv[i][0] == '-' && takes_next(all, argv[i]);
			continue;
		}
		const size_t n = strcspn(argv[i] + 2, "=");
		const struct argp_option *o = find_option(all, argv[i] + 2, n);
		const char *value = argv[i][2 + n] == '=' ? argv[i] + 3 + n
		    : i + 1 < argc                        ? argv[i + 1]
							  : NULL;
		if (o && o->name && strcmp(o->name, "config") == 0)
			path = value;
		i += o && o->arg && argv[i][2 + n] == '\0';
	}
	return path;
}

/* Ends the program on any mistake in words or file. */
static void options_read(struct options *all, int argc, char **argv)
{
	const struct cmd_line *line = all->line;
	/* "Mandatory arguments to long options are mandatory for ..." helps
	 * nobody: "=N" says it. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	/* glibc loses two bytes of help on a list that ends at once. */
	const struct argp argp = {.options = all->n > 0 ? all->argp : NULL,
	    .parser = options_parse,
	    .args_doc = line->args_doc,
	    .doc = line->doc,
	    .help_filter = options_help};
	/* What is wrong with the words has ended the program by now. */
	if (argp_parse(&argp, argc, argv, 0, NULL, all) != 0) {
		fprintf(stderr, "%s: out of memory.\n", argv[0]);
		exit(CMD_TROUBLE);
	}
}

void cmd_parse(const struct cmd_line *line, int argc, char **argv, void *args)
{
	struct options all = {.line = line,
	    .verb = verb_of(argv[0]),
	    .args = args};
	struct sim_err e = {0};
	if (line->options)
		options_gather(&all, line->options, args);
	if (argc > 1)
		options_answer(&all, argc, argv);
	options_check(&all, argc, argv);
	const char *path = options_config(&all, argc, argv);
	/* Without a name it is told by where it stands, as other values are. */
	if (path && *path) {
		const int rc = cmd_config_read(&all.config, path, all.row,
		    all.to, all.n, argc, argv, &e);
		if (rc < 0)
			exit(cmd_fail(cmd_exit_of(rc), &e));
	}
	options_read(&all, argc, argv);
	if (cmd_config_keep(&all.config, &e) < 0)
		exit(cmd_fail(CMD_TROUBLE, &e));
}

/* --- again ---------------------------------------------------------------- */

/* What libraries would do at the end of a program is for the parent: in a child,
 * whose other threads are gone, they may wait for these for good. */
static void options_leave(int status, void *arg)
{
	(void)arg;
	fflush(NULL); /* what is told of a file is not yet on stderr */
	_exit(status);
}

/* In a child, as a mistake ends it; what it says of that, one line, comes by a
 * pipe. Returns 0, or SIM_EINVAL with the line in TELL. */
static int options_try(struct options *all, int argc, char **argv, char *tell,
    size_t size)
{
	int ends[2], status = 0;
	size_t n = 0;
	ssize_t k;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		snprintf(tell, size, "it could not be tried.");
		return SIM_EIO;
	}
	/* Or the child would write what is still buffered a second time. */
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		/* Whatever it waits for, the daemon doesn't wait for ever. */
		alarm(TRY_S);
		on_exit(options_leave, NULL);
		options_read(all, argc, argv);
		_exit(0);
	}
	close(ends[1]);
	while (n + 1 < size && (k = read(ends[0], tell + n, size - 1 - n)) > 0)
		n += (size_t)k;
	close(ends[0]);
	tell[n] = '\0';
	tell[strcspn(tell, "\n")] = '\0';
	if (strncmp(tell, "culprit: ", 9) == 0)
		memmove(tell, tell + 9, strlen(tell + 9) + 1);
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) {
		snprintf(tell, size, "it could not be tried.");
		return SIM_EIO;
	}
	return WEXITSTATUS(status) == 0 ? 0 : SIM_EINVAL;
}

int cmd_parse_again(const struct cmd_line *line, int argc, char **argv,
    void *args, char *tell, size_t size)
{
	struct options all = {.line = line,
	    .verb = verb_of(argv[0]),
	    .args = args};
	struct sim_err e = {0};
	tell[0] = '\0';
	options_gather(&all, line->options, args);
	int rc = cmd_config_read(&all.config, options_config(&all, argc, argv),
	    all.row, all.to, all.n, argc, argv, &e);
	if (rc < 0)
		snprintf(tell, size, "%.*s", (int)strcspn(e.msg, "\n"), e.msg);
	else
		rc = options_try(&all, argc, argv, tell, size);
	if (rc == 0)
		cmd_config_stuck(&all.config, tell, size);
	if (rc == 0 && cmd_config_is_same(cmd_config_newest(), &all.config))
		rc = 1;
	if (rc != 0) {
		cmd_config_free(&all.config);
		return rc < 0 ? rc : 0;
	}
	options_read(&all, argc, argv);
	rc = cmd_config_keep(&all.config, &e);
	return rc < 0 ? rc : 1;
}

const char *const cmd_timers[] = {"windows", "linux", "linux_linear", NULL};

/* --- takers --------------------------------------------------------------- */

uint64_t cmd_number(const char *text, const char *what, uint64_t min,
    uint64_t max, struct argp_state *state)
{
	char shown[64];
	uint64_t x = 0;
	if (sim_parse_u64(text, &x, NULL) < 0 || x < min || x > max)
		argp_error(state, "%s %s is not a whole number in [%llu, %llu]",
		    what, sim_quote(shown, text), (unsigned long long)min,
		    (unsigned long long)max);
	/* argp_error() ends the program, here and everywhere. */
	return x;
}

void cmd_take_flag(void *to, char *arg, const struct cmd_given *g)
{
	(void)g;
	(void)arg;
	*(int *)to = 1;
}

void cmd_take_text(void *to, char *arg, const struct cmd_given *g)
{
	(void)g;
	*(const char **)to = arg;
}

void cmd_take_file(void *to, char *arg, const struct cmd_given *g)
{
	if (*arg == '\0')
		argp_error(g->state, "--%s needs a file's name",
		    g->option->name);
	*(const char **)to = arg;
}

static uint64_t take_number(const char *arg, const struct cmd_given *g)
{
	const struct cmd_option *o = g->option;
	char what[64];
	snprintf(what, sizeof(what), "--%s", o->name);
	return cmd_number(arg, what, o->min, o->max, g->state);
}

void cmd_take_u32(void *to, char *arg, const struct cmd_given *g)
{
	*(uint32_t *)to = (uint32_t)take_number(arg, g);
}

void cmd_take_u64(void *to, char *arg, const struct cmd_given *g)
{
	*(uint64_t *)to = take_number(arg, g);
}

void cmd_take_mib(void *to, char *arg, const struct cmd_given *g)
{
	*(uint64_t *)to = take_number(arg, g) << 20;
}

void cmd_take_seconds(void *to, char *arg, const struct cmd_given *g)
{
	static const double most = 1e9;
	double *s = to;
	if (sim_parse_f64(arg, s, NULL) < 0 || *s <= 0 || *s > most)
		argp_error(g->state, "--%s \"%s\" is not in (0, %g] s",
		    g->option->name, arg, most);
}

void cmd_take_log(void *to, char *arg, const struct cmd_given *g)
{
	(void)g;
	*(const char **)to = strcmp(arg, "stderr") == 0 ? NULL : arg;
}

void cmd_take_set(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_set *s = to;
	if (s->n_set == g->option->max)
		argp_error(g->state, "more than %d --set", (int)g->option->max);
	const size_t n = strcspn(arg, "=");
	for (size_t i = 0; i < s->n_set; i++)
		if (strncmp(s->set[i], arg, n + 1) == 0)
			argp_error(g->state,
			    "%.*s is given twice, %.100s and %.100s", (int)n,
			    arg, s->set[i] + n + 1, arg + n + 1);
	s->set[s->n_set++] = arg;
}

void cmd_take_one(void *to, char *arg, const struct cmd_given *g)
{
	const char **word = to;
	if (*word)
		argp_error(g->state, "one %s at a time; \"%s\" is a second",
		    g->option->name, arg);
	*word = arg;
}

void cmd_take_all(void *to, char *arg, const struct cmd_given *g)
{
	(void)arg;
	struct cmd_words *w = to;
	w->word = g->state->argv + g->state->next - 1;
	w->n = (size_t)(g->state->argc - g->state->next + 1);
	g->state->next = g->state->argc;
}

void cmd_take_key(void *to, char *arg, const struct cmd_given *g)
{
	char what[64];
	snprintf(what, sizeof(what), "--%s", g->option->name);
	cmd_field_set(g->option->with, to, what, arg, g->state);
}

void cmd_field_set(const struct sim_field *fields, void *obj,
    const char *option, const char *arg, struct argp_state *state)
{
	enum { MAX_FIELDS = 64 };
	const char *names[MAX_FIELDS], *value = strchr(arg, '=');
	char key[64] = "", quote[64];
	struct sim_err e;
	size_t n = 0;
	if (!value) {
		argp_error(state, "%s %s is not KEY=VALUE", option,
		    sim_quote(quote, arg));
		return;
	}
	/* Only as much of the key as any name has is kept; longer ones match
	 * none. */
	snprintf(key, sizeof(key), "%.*s", (int)(value - arg), arg);
	const struct sim_field *f = sim_field_find(fields, key);
	if (!f) {
		for (; n < MAX_FIELDS && fields[n].name; n++)
			names[n] = fields[n].name;
		const char *near = sim_did_you_mean(key, names, n);
		argp_error(state, "%s: there is no key %s%s%s%s", option,
		    sim_quote(quote, key), near ? "; did you mean \"" : "",
		    near ? near : "", near ? "\"?" : "");
	}
	if (sim_field_set(f, obj, value + 1, &e) < 0)
		argp_error(state, "%s %s", option, e.msg);
}

void cmd_field_help(FILE *out, const struct sim_field *f)
{
	for (; f->name; f++) {
		char range[64] = "", lo[32], hi[32];
		/* Texts and flags have no range. */
		if (f->max > 0)
			snprintf(range, sizeof(range), " [%s, %s]",
			    sim_format_f64(lo, f->min),
			    sim_format_f64(hi, f->max));
		fprintf(out, "  %s=%s%s\n      %s\n", f->name, f->def, range,
		    f->doc);
	}
}
