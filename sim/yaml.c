/* sim/yaml.c -- strict YAML: a tree with places, read into field tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "sim/input.h"
#include "sim/vec.h"

enum {
	MAX_BYTES = 1 << 20,
	MAX_KEY = 128, /* libyaml takes 1024; an escape has up to 6 */
};

/* --- mistakes ----------------------------------------------------------- */
/* Add "file:line:col: text", where LINE 0 means that the node came from --set
 * and stands in no file. 32 bytes hold two numbers of ten digits, the colons
 * and the blank. */
static int add_mistake(struct sim_yaml *y, int has_place, unsigned line,
    unsigned col, const char *text, struct sim_err *e)
{
	const char *name = y->name ? y->name : "";
	size_t size = strlen(name) + strlen(text) + 32;
	char *line_text;
	int rc =
	    SIM_RESERVE(&y->mistake, &y->cap_mistakes, y->n_mistakes + 1, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&line_text, size, e)) < 0)
		return rc;
	if (!has_place)
		snprintf(line_text, size, "%s: %s", name, text);
	else if (line == 0)
		snprintf(line_text, size, "--set: %s", text);
	else
		snprintf(line_text, size, "%s:%u:%u: %s", name, line, col,
		    text);
	y->mistake[y->n_mistakes++] = line_text;
	return 0;
}

static int mistake_at(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *text, struct sim_err *e)
{
	return add_mistake(y, node != NULL, node ? node->line : 0,
	    node ? node->col : 0, text, e);
}

int sim_yaml_mistake(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *fmt, ...)
{
	struct sim_err text;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text.msg, sizeof(text.msg), fmt, ap);
	va_end(ap);
	return mistake_at(y, node, text.msg, NULL);
}

int sim_yaml_verdict(const struct sim_yaml *y, struct sim_err *e)
{
	/* The first mistake is always shown, if need be cut off. A later one is
	 * shown as a whole or not at all, and while others follow it, room
	 * stays for the line that counts them. */
	enum { TAIL = 40 }; /* "\nand N more." */
	char msg[sizeof(e->msg)] = "";
	size_t used = 0, i = 0;
	if (y->n_mistakes == 0)
		return 0;
	for (; i < y->n_mistakes; i++) {
		size_t tail = i + 1 < y->n_mistakes ? TAIL : 0;
		size_t n = strlen(y->mistake[i]) + (i > 0);
		if (i > 0 && used + n + tail >= sizeof(msg))
			break;
		snprintf(msg + used, sizeof(msg) - tail - used, "%s%s",
		    i ? "\n" : "", y->mistake[i]);
		used = strlen(msg);
	}
	if (i < y->n_mistakes)
		/* Room for this line was left above, as mistakes are still to
		 * come. */
		snprintf(msg + used, sizeof(msg) - used, "\nand %zu more.",
		    y->n_mistakes - i);
	return sim_fail(e, SIM_EINVAL, "%s", msg);
}

/* --- parsing ------------------------------------------------------------ */
struct builder {
	struct sim_yaml *y;
	struct sim_yaml_node *open[SIM_YAML_DEPTH];
	size_t depth;
	char *key; /* read, and waiting for its value; owned */
	unsigned key_line, key_col;
};

static unsigned line_of(yaml_mark_t at)
{
	return (unsigned)at.line + 1;
}

static unsigned col_of(yaml_mark_t at)
{
	return (unsigned)at.column + 1;
}

/* What ends parsing: the tree would not be what its writer sees. Anchors,
 * aliases and tags are refused since they make the text mean something that
 * does not stand there; a value of a spec is read where it is written. */
static int yaml_refuse(const struct builder *b, const yaml_event_t *ev,
    const char *why, struct sim_err *e)
{
	return sim_fail(e, SIM_EPARSE, "%s:%u:%u: %s.", b->y->name,
	    line_of(ev->start_mark), col_of(ev->start_mark), why);
}

/* Hang NODE into the innermost open map or list, or make it the root. NODE is
 * the tree's afterwards, or is freed on failure, so callers never free it. */
static int yaml_place(struct builder *b, struct sim_yaml_node *node,
    struct sim_err *e)
{
	if (b->depth == 0) {
		b->y->root = node;
		return 0;
	}
	int rc = sim_yaml_append(b->open[b->depth - 1], b->key, b->key_line,
	    b->key_col, node, e);
	if (rc < 0)
		sim_yaml_node_free(node);
	else
		b->key = NULL;
	return rc;
}

/* In a map, scalars are keys and values by turns; a key that has been read
 * waits in B until its value comes. */
static int wants_key(const struct builder *b)
{
	return b->depth > 0 && !b->key &&
	    b->open[b->depth - 1]->kind == SIM_YAML_MAP;
}

static int on_scalar(struct builder *b, const yaml_event_t *ev,
    struct sim_err *e)
{
	const char *text = (const char *)ev->data.scalar.value;
	size_t n = ev->data.scalar.length;
	int quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (ev->data.scalar.anchor)
		return yaml_refuse(b, ev, "anchors (&name) are not allowed", e);
	/* libyaml drops a lone "!" but then takes quotes for plain. */
	if (ev->data.scalar.tag || (quoted && ev->data.scalar.plain_implicit))
		return yaml_refuse(b, ev, "tags (!name) are not allowed", e);
	/* "\0" is legal in quotes, but a C string would end there. */
	if (strlen(text) != n)
		return yaml_refuse(b, ev, "text may not hold a NUL", e);
	if (wants_key(b)) {
		if (n == 0)
			return yaml_refuse(b, ev, "a key may not be empty", e);
		if (n > MAX_KEY)
			return yaml_refuse(b, ev, "a key has over 128 bytes",
			    e);
		b->key_line = line_of(ev->start_mark);
		b->key_col = col_of(ev->start_mark);
		return sim_dup(&b->key, text, e);
	}
	/* "- " without anything behind it is more often a slip than a wish, and
	 * an empty string can be written as "". After a key nothing is allowed:
	 * the reader of the field says that a value is missing. */
	if (b->depth > 0 && n == 0 && !quoted &&
	    b->open[b->depth - 1]->kind == SIM_YAML_SEQ)
		return yaml_refuse(b, ev, "an item of a list is empty", e);
	struct sim_yaml_node *node;
	int rc = sim_yaml_node_new(&node, SIM_YAML_SCALAR,
	    line_of(ev->start_mark), col_of(ev->start_mark), e);
	if (rc < 0)
		return rc;
	node->quoted = (uint8_t)quoted;
	if ((rc = sim_dup(&node->text, text, e)) < 0) {
		sim_yaml_node_free(node);
		return rc;
	}
	return yaml_place(b, node, e);
}

static int on_open(struct builder *b, const yaml_event_t *ev,
    enum sim_yaml_kind kind, const void *anchor, const void *tag,
    struct sim_err *e)
{
	if (anchor)
		return yaml_refuse(b, ev, "anchors (&name) are not allowed", e);
	if (tag)
		return yaml_refuse(b, ev, "tags (!name) are not allowed", e);
	if (wants_key(b))
		return yaml_refuse(b, ev, "a key must be text", e);
	/* The bound also lets every function over the tree recurse without
	 * overflowing the stack. */
	if (b->depth == SIM_YAML_DEPTH)
		return yaml_refuse(b, ev, "nested deeper than 32", e);
	struct sim_yaml_node *node;
	int rc = sim_yaml_node_new(&node, kind, line_of(ev->start_mark),
	    col_of(ev->start_mark), e);
	if (rc < 0 || (rc = yaml_place(b, node, e)) < 0)
		return rc;
	b->open[b->depth++] = node;
	return 0;
}

struct place {
	const char *key;
	unsigned line, col;
	size_t i;
};

static int by_key_then_order(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	int order = strcmp(p->key, q->key);
	return order ? order : (p->i > q->i) - (p->i < q->i);
}

/* Sorted, because comparing all pairs of the 200 000 keys that one map of 1 MiB
 * can hold would take far too long. Of equal keys the first of the file comes
 * first, so that each later one is the mistake and names its line. */
static int find_duplicates(struct builder *b, const struct sim_yaml_node *map,
    struct sim_err *e)
{
	struct place *at = NULL;
	int rc = SIM_ZALLOC(&at, map->n, e);
	if (rc < 0 || map->n < 2)
		goto out;
	for (size_t i = 0; i < map->n; i++)
		at[i] = (struct place){map->key[i], map->key_line[i],
		    map->key_col[i], i};
	qsort(at, map->n, sizeof(*at), by_key_then_order);
	for (size_t i = 1, first = 0; i < map->n && rc == 0; i++) {
		char text[160], quote[64];
		if (strcmp(at[i].key, at[first].key) != 0) {
			first = i;
			continue;
		}
		snprintf(text, sizeof(text),
		    "key %s is given twice, first on line %u.",
		    sim_quote(quote, at[i].key), at[first].line);
		rc = add_mistake(b->y, 1, at[i].line, at[i].col, text, e);
	}
out:
	free(at);
	return rc;
}

/* libyaml's events come in the order of the text, each end matched with its
 * start; the ends of nodes below take the innermost one off. */
static int on_event(struct builder *b, const yaml_event_t *ev,
    struct sim_err *e)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return b->y->root
		    ? yaml_refuse(b, ev, "a second document is not allowed", e)
		    : 0;
	case YAML_ALIAS_EVENT:
		return yaml_refuse(b, ev, "aliases (*name) are not allowed", e);
	case YAML_SCALAR_EVENT:
		return on_scalar(b, ev, e);
	case YAML_SEQUENCE_START_EVENT:
		return on_open(b, ev, SIM_YAML_SEQ,
		    ev->data.sequence_start.anchor, ev->data.sequence_start.tag,
		    e);
	case YAML_MAPPING_START_EVENT:
		return on_open(b, ev, SIM_YAML_MAP,
		    ev->data.mapping_start.anchor, ev->data.mapping_start.tag,
		    e);
	case YAML_SEQUENCE_END_EVENT:
		b->depth--;
		return 0;
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return find_duplicates(b, b->open[b->depth], e);
	default:
		return 0;
	}
}

/* The line and column, from 1, of the byte at offset AT. */
static void find_place(const char *bytes, size_t at, unsigned *line,
    unsigned *col)
{
	*line = *col = 1;
	for (size_t i = 0; i < at; i++) {
		*col = bytes[i] == '\n' ? 1 : *col + 1;
		*line += bytes[i] == '\n';
	}
}

/* Whether the blanks at the start of LINE, from 1, hold a tab. */
static int is_tab_indented(const char *bytes, size_t n, unsigned line)
{
	const char *p = bytes, *end = bytes + n;
	for (; p && line > 1; line--)
		if ((p = memchr(p, '\n', (size_t)(end - p))))
			p++;
	while (p && p < end && *p == ' ')
		p++;
	return p && p < end && *p == '\t';
}

static int syntax_error(const struct builder *b, const yaml_parser_t *p,
    const char *bytes, size_t n, struct sim_err *e)
{
	unsigned line = line_of(p->problem_mark), col = col_of(p->problem_mark);
	const char *why = p->problem ? p->problem : "not YAML", *hint = "";
	char since[128] = "";
	if (p->error == YAML_MEMORY_ERROR)
		return sim_fail(e, SIM_ENOMEM, "no memory to parse YAML.");
	/* libyaml's reader, which checks the encoding, tells the byte and not
	 * the line. */
	if (p->error == YAML_READER_ERROR)
		find_place(bytes, p->problem_offset, &line, &col);
	/* libyaml's own message for a tab speaks of a "character that cannot
	 * start any token". */
	else if (is_tab_indented(bytes, n, line))
		hint = "; indent with spaces, not tabs";
	if (p->context && p->context_mark.index == p->problem_mark.index)
		snprintf(since, sizeof(since), " %s", p->context);
	else if (p->context)
		snprintf(since, sizeof(since), " %s that starts at %u:%u",
		    p->context, line_of(p->context_mark),
		    col_of(p->context_mark));
	return sim_fail(e, SIM_EPARSE, "%s:%u:%u: %s%s%s.", b->y->name, line,
	    col, why, since, hint);
}

/* A file without any node, or with nothing but comments, stands for an empty
 * map: a spec in which everything has its default. */
static int root_or_empty_map(struct sim_yaml *y, struct sim_err *e)
{
	struct sim_yaml_node *root = y->root;
	if (root &&
	    (root->kind != SIM_YAML_SCALAR || root->quoted || root->text[0]))
		return 0;
	sim_yaml_node_free(root);
	return sim_yaml_node_new(&y->root, SIM_YAML_MAP, 1, 1, e);
}

int sim_yaml_parse(struct sim_yaml *y, const char *name, const char *bytes,
    size_t n, struct sim_err *e)
{
	struct builder b = {.y = y};
	yaml_parser_t p;
	yaml_event_type_t type = YAML_NO_EVENT;
	*y = (struct sim_yaml){0};
	int rc = sim_dup(&y->name, name, e);
	if (rc < 0)
		return rc;
	if (n > MAX_BYTES)
		return sim_fail(e, SIM_EPARSE,
		    "%s:1:1: the file has %zu bytes, more than %d.", name, n,
		    MAX_BYTES);
	if (!yaml_parser_initialize(&p))
		return sim_fail(e, SIM_ENOMEM, "no memory to parse YAML.");
	yaml_parser_set_input_string(&p, (const unsigned char *)bytes, n);
	/* Nodes hang in Y's tree from the moment they are made, so after an
	 * error sim_yaml_free() frees what has been read so far. */
	while (rc == 0 && type != YAML_STREAM_END_EVENT) {
		yaml_event_t ev;
		if (!yaml_parser_parse(&p, &ev)) {
			rc = syntax_error(&b, &p, bytes, n, e);
			break;
		}
		type = ev.type;
		rc = on_event(&b, &ev, e);
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&p);
	/* A key whose value never came; otherwise NULL. */
	free(b.key);
	return rc < 0 ? rc : root_or_empty_map(y, e);
}

int sim_yaml_load(struct sim_yaml *y, const char *path, struct sim_err *e)
{
	const char *why;
	FILE *in = NULL;
	char *bytes = NULL;
	size_t n = 0;
	*y = (struct sim_yaml){0};
	/* One byte over the limit is enough to see that it is too many. */
	int rc = SIM_ZALLOC(&bytes, MAX_BYTES + 1, e);
	if (rc < 0)
		goto out;
	if (!(in = sim_input_open(path, &why))) {
		rc =
		    sim_fail(e, SIM_EIO, "%s cannot be opened: %s.", path, why);
		goto out;
	}
	n = fread(bytes, 1, MAX_BYTES + 1, in);
	if (ferror(in)) {
		rc = sim_fail(e, SIM_EIO, "%s cannot be read: %s.", path,
		    strerror(errno));
		goto out;
	}
	rc = sim_yaml_parse(y, path, bytes, n, e);
out:
	if (in)
		fclose(in);
	free(bytes);
	return rc;
}

void sim_yaml_free(struct sim_yaml *y)
{
	for (size_t i = 0; i < y->n_mistakes; i++)
		free(y->mistake[i]);
	for (size_t i = 0; i < y->n_given; i++) {
		free(y->given[i].key);
		free(y->given[i].why);
	}
	free(y->given);
	free(y->mistake);
	free(y->name);
	sim_yaml_node_free(y->root);
	*y = (struct sim_yaml){0};
}
