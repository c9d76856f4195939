/* experiments/cmd/config.c -- options from a file, and again while it runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/config.h"

#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"
#include "sim/yaml.h"

struct reading {
	struct cmd_config *c;
	struct sim_yaml y;
	const struct cmd_option *const *row;
	void *const *to;
	size_t n;
	int argc;
	char **argv;
};

/* Options that say what the program is to do once, and the file itself. */
static const char *const not_in_files[] = {"config", "once", "export", NULL};

void cmd_take_config(void *to, char *arg, const struct cmd_given *g)
{
	(void)to;
	/* It was read before the first option was looked at. */
	if (*arg == '\0')
		argp_error(g->state, "--config needs a file's name");
}

void cmd_config_free(struct cmd_config *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->given[i].value);
	free(c->given);
	free(c->path);
	*c = (struct cmd_config){0};
}

/* --- the command line ----------------------------------------------------- */

/* The option of a word "--name", of N bytes: that one, or else the first that begins
 * so, as the command line takes it. */
static const struct cmd_option *config_named(const struct reading *x,
    const char *name, size_t n)
{
	const struct cmd_option *found = NULL;
	for (size_t i = 0; i < x->n; i++) {
		const struct cmd_option *r = x->row[i];
		if (!r->name || strncmp(r->name, name, n) != 0)
			continue;
		if (r->name[n] == '\0')
			return r;
		if (!found)
			found = r;
	}
	return found;
}

/* Is WORD of the command line option R, as "--name", "--name=VALUE" or "-x"? Its
 * value is *VALUE, the next word if WORD has none. */
static int is_option(const struct reading *x, const char *word, char *next,
    const struct cmd_option *r, const char **value)
{
	if (strncmp(word, "--", 2) == 0) {
		const size_t n = strcspn(word + 2, "=");
		*value = word[2 + n] == '=' ? word + 3 + n : next;
		return config_named(x, word + 2, n) == r;
	}
	if (r->letter == 0 || word[0] != '-' || word[1] != r->letter)
		return 0;
	*value = word[2] != '\0' ? word + 2 : next;
	return 1;
}

/* Does the command line give R; of KEY=VALUE, for the key that VALUE has? */
static int is_given(const struct reading *x, const struct cmd_option *r,
    const char *value)
{
	const size_t n_key = r->arg && strcmp(r->arg, "KEY=VALUE") == 0
	    ? strcspn(value, "=") + 1
	    : 0;
	const char *got;
	for (int i = 1; i < x->argc && strcmp(x->argv[i], "--") != 0; i++) {
		char *next = i + 1 < x->argc ? x->argv[i + 1] : NULL;
		if (is_option(x, x->argv[i], next, r, &got) &&
		    (n_key == 0 || (got && strncmp(got, value, n_key) == 0)))
			return 1;
	}
	return 0;
}

/* --- the file ------------------------------------------------------------- */

static int config_add_value(struct reading *x, size_t row,
    const struct sim_yaml_node *at, char *value, struct sim_err *e)
{
	struct cmd_config *c = x->c;
	int rc = value ? SIM_RESERVE(&c->given, &c->cap, c->n + 1, e)
		       : sim_fail(e, SIM_ENOMEM, "There is no memory.");
	if (rc < 0 || is_given(x, x->row[row], value)) {
		free(value);
		return rc;
	}
	struct cmd_given_value *g = &c->given[c->n++];
	*g = (struct cmd_given_value){.row = x->row[row],
	    .to = x->to[row],
	    .value = value};
	snprintf(g->place, sizeof(g->place), "%.100s:%u:%u", c->path, at->line,
	    at->col);
	return 0;
}

static int config_add_flag(struct reading *x, size_t row,
    const struct sim_yaml_node *v, struct sim_err *e)
{
	const int is_scalar = v->kind == SIM_YAML_SCALAR && !v->quoted;
	if (is_scalar && strcmp(v->text, "true") == 0)
		return config_add_value(x, row, v, strdup(""), e);
	if (is_scalar && strcmp(v->text, "false") == 0)
		return 0;
	return sim_yaml_mistake(&x->y, v, "%s is true or false.",
	    x->row[row]->name);
}

/* KEY=VALUE of each of a map. */
static int config_add_map(struct reading *x, size_t row,
    const struct sim_yaml_node *v, struct sim_err *e)
{
	int rc = 0;
	if (v->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(&x->y, v,
		    "%s is a map of keys to values.", x->row[row]->name);
	for (size_t i = 0; i < v->n && rc == 0; i++) {
		char text[512];
		const int n = snprintf(text, sizeof(text), "%s=", v->key[i]);
		const size_t left = sizeof(text) - (size_t)n;
		const struct sim_yaml_node *c = v->child[i];
		if ((size_t)n >= sizeof(text) ||
		    (c->kind == SIM_YAML_SCALAR
			    ? snprintf(text + n, left, "%s", c->text)
			    : sim_yaml_format(c, text + n, left)) >= (int)left)
			rc = sim_yaml_mistake(&x->y, c, "it is too long.");
		else
			rc = config_add_value(x, row, c, strdup(text), e);
	}
	return rc;
}

/* A list becomes what the command line has with commas. */
static int config_add_list(struct reading *x, size_t row,
    const struct sim_yaml_node *v, struct sim_err *e)
{
	char text[4096] = "";
	struct sim_text t = {text, sizeof(text), 0};
	const char *arg = x->row[row]->arg;
	const size_t n = strlen(arg);
	if (v->n == 0 || n < 3 || strcmp(arg + n - 3, "...") != 0)
		return sim_yaml_mistake(&x->y, v, "%s takes one value.",
		    x->row[row]->name);
	for (size_t i = 0; i < v->n; i++) {
		if (v->child[i]->kind != SIM_YAML_SCALAR)
			return sim_yaml_mistake(&x->y, v->child[i],
			    "%s is a list of values.", x->row[row]->name);
		sim_put(&t, "%s%s", i ? "," : "", v->child[i]->text);
	}
	return t.n < sizeof(text)
	    ? config_add_value(x, row, v, strdup(text), e)
	    : sim_yaml_mistake(&x->y, v, "it is too long.");
}

static int config_add_option(struct reading *x, size_t row,
    const struct sim_yaml_node *v, struct sim_err *e)
{
	const char *arg = x->row[row]->arg;
	if (!arg)
		return config_add_flag(x, row, v, e);
	if (strcmp(arg, "KEY=VALUE") == 0)
		return config_add_map(x, row, v, e);
	if (v->kind == SIM_YAML_SEQ)
		return config_add_list(x, row, v, e);
	if (v->kind == SIM_YAML_SCALAR && (v->quoted || v->text[0] != '\0'))
		return config_add_value(x, row, v, strdup(v->text), e);
	return sim_yaml_mistake(&x->y, v, "%s takes one value.",
	    x->row[row]->name);
}

static int config_unknown_key(struct reading *x, const struct sim_yaml_node *v,
    const char *key)
{
	const char *known[128];
	char quote[64];
	size_t n = 0;
	for (size_t i = 0; i < x->n && n < 128; i++)
		if (x->row[i]->name &&
		    !not_in_files[sim_word_find(not_in_files, x->row[i]->name)])
			known[n++] = x->row[i]->name;
	const char *near = sim_did_you_mean(key, known, n);
	return sim_yaml_mistake(&x->y, v, "there is no option %s%s%s%s",
	    sim_quote(quote, key), near ? "; did you mean \"" : " in a file.",
	    near ? near : "", near ? "\"?" : "");
}

static int read_all(struct reading *x, struct sim_err *e)
{
	const struct sim_yaml_node *root = x->y.root;
	int rc = 0;
	if (root->kind != SIM_YAML_MAP)
		rc =
		    sim_yaml_mistake(&x->y, root, "options are keys of a map.");
	for (size_t i = 0; root->kind == SIM_YAML_MAP && rc == 0 && i < root->n;
	     i++) {
		size_t row = 0;
		while (row < x->n &&
		    !(x->row[row]->name &&
			strcmp(x->row[row]->name, root->key[i]) == 0))
			row++;
		rc = row == x->n ||
			not_in_files[sim_word_find(not_in_files, root->key[i])]
		    ? config_unknown_key(x, root->child[i], root->key[i])
		    : config_add_option(x, row, root->child[i], e);
	}
	return rc < 0 ? rc : sim_yaml_verdict(&x->y, e);
}

int cmd_config_read(struct cmd_config *c, const char *path,
    const struct cmd_option *const row[], void *const to[], size_t n, int argc,
    char **argv, struct sim_err *e)
{
	struct reading x =
	    {.c = c, .row = row, .to = to, .n = n, .argc = argc, .argv = argv};
	*c = (struct cmd_config){.path = strdup(path)};
	int rc = c->path ? sim_yaml_load(&x.y, path, e)
			 : sim_fail(e, SIM_ENOMEM, "There is no memory.");
	if (rc == 0)
		rc = read_all(&x, e);
	sim_yaml_free(&x.y);
	if (rc < 0)
		cmd_config_free(c);
	return rc;
}

/* --- what was read -------------------------------------------------------- */

/* argp tells a mistake with the name of the program before it, and a second line
 * of how to get help: of a file its place is told, and the first line alone. */
static ssize_t first_line(void *cookie, const char *bytes, size_t n)
{
	const char *end = memchr(bytes, '\n', n);
	int *is_told = cookie;
	if (!*is_told)
		fwrite(bytes, 1, end ? (size_t)(end + 1 - bytes) : n, stderr);
	*is_told |= end != NULL;
	return (ssize_t)n;
}

void cmd_config_apply(const struct cmd_config *c, struct argp_state *state)
{
	static int is_told;
	const cookie_io_functions_t io = {.write = first_line};
	struct argp_state at = *state;
	FILE *out = c->n > 0 ? fopencookie(&is_told, "w", io) : NULL;
	char name[160];
	at.name = name;
	if (out)
		at.err_stream = out;
	for (size_t i = 0; i < c->n; i++) {
		const struct cmd_given_value *g = &c->given[i];
		const struct cmd_given given = {g->row, &at};
		snprintf(name, sizeof(name), "culprit: %s", g->place);
		g->row->take(g->to, g->value, &given);
	}
	if (out)
		fclose(out);
}

/* Whether both say the same of ROW, value by value. */
static int says_alike(const struct cmd_config *a, const struct cmd_config *b,
    const struct cmd_option *row)
{
	size_t i = 0, k = 0;
	for (;;) {
		while (i < a->n && a->given[i].row != row)
			i++;
		while (k < b->n && b->given[k].row != row)
			k++;
		if (i == a->n || k == b->n)
			return i == a->n && k == b->n;
		if (strcmp(a->given[i++].value, b->given[k++].value) != 0)
			return 0;
	}
}

/* Those that FROM says and that are not in DONE already, which is NULL first. */
static unsigned put_stuck(struct sim_text *t, const struct cmd_config *from,
    const struct cmd_config *other, const struct cmd_config *done, unsigned n)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct cmd_option *row = from->given[i].row;
		size_t k = 0;
		while (k < i && from->given[k].row != row)
			k++;
		int is_new = k == i;
		for (k = 0; done && k < done->n; k++)
			is_new &= done->given[k].row != row;
		if (is_new && !row->live && !says_alike(from, other, row))
			sim_put(t, "%s%s", n++ ? ", " : "", row->name);
	}
	return n;
}

/* --- those that are kept -------------------------------------------------- */

static struct kept {
	struct cmd_config config;
	struct kept *before;
} * newest;

int cmd_config_keep(const struct cmd_config *c, struct sim_err *e)
{
	struct kept *k;
	int rc = SIM_ZALLOC(&k, 1, e);
	if (rc < 0)
		return rc;
	*k = (struct kept){*c, newest};
	newest = k;
	return 0;
}

const struct cmd_config *cmd_config_newest(void)
{
	return &newest->config;
}

int cmd_config_is_same(const struct cmd_config *a, const struct cmd_config *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!says_alike(a, b, a->given[i].row))
			return 0;
	for (size_t i = 0; i < b->n; i++)
		if (!says_alike(a, b, b->given[i].row))
			return 0;
	return 1;
}

void cmd_config_stuck(const struct cmd_config *c, char *out, size_t size)
{
	struct sim_text t = {out, size, 0};
	const struct kept *first = newest;
	out[0] = '\0';
	while (first->before)
		first = first->before;
	const struct cmd_config *a = &first->config;
	put_stuck(&t, c, a, a, put_stuck(&t, a, c, NULL, 0));
}
