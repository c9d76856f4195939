/* topo/graph_ids.c -- which nodes a GraphML text declares, as it streams by.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/graph_ids.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

enum state {
	IN_TEXT,   /* between tags */
	OPENED,    /* after "<" */
	MARKED,    /* after "<!", until it is plain of what kind it is */
	SKIPPED,   /* in a comment, in CDATA, in an instruction */
	DOCTYPE,   /* in a declaration, and those within it */
	NAMED,     /* in the name of a tag */
	IN_TAG,    /* between its attributes */
	ATTRIBUTE, /* in the name of one, and up to its value */
	VALUE,     /* between its quotes */
};

static const char *const ends[] = {"-->", "]]>", "?>"};
enum { OF_COMMENT, OF_CDATA, OF_INSTRUCTION };

/* --- words and values ----------------------------------------------------- */

/* Longer words are none of ours, and are cut. */
static void put_letter(struct topo_graph_ids *g, char c)
{
	if (g->n_word + 1 < sizeof(g->word))
		g->word[g->n_word++] = c;
	g->word[g->n_word] = '\0';
}

static void clear_word(struct topo_graph_ids *g)
{
	g->n_word = 0;
	g->word[0] = '\0';
}

static int is_word(const struct topo_graph_ids *g, const char *word)
{
	return strcmp(g->word, word) == 0;
}

static int graph_ids_put_value(struct topo_graph_ids *g, char c)
{
	int rc = SIM_RESERVE(&g->value, &g->cap_value, g->n_value + 1, NULL);
	if (rc == 0)
		g->value[g->n_value++] = c;
	return rc;
}

static int keep_id(struct topo_graph_ids *g)
{
	int rc;
	if ((rc = SIM_RESERVE(&g->id, &g->cap, g->n + 1, NULL)) < 0 ||
	    (rc = graph_ids_put_value(g, '\0')) < 0)
		return rc;
	g->id[g->n++] = (struct topo_graph_id){g->value, g->line + 1};
	g->value = NULL;
	g->cap_value = 0;
	return 0;
}

/* --- one byte after the other --------------------------------------------- */

/* All of a tag's name is there. A namespace's prefix has been dropped. */
static void begin_tag(struct topo_graph_ids *g)
{
	g->is_node = !g->closes && is_word(g, "node");
	g->is_graph = is_word(g, "graph");
	g->slash = 0;
	if (!g->is_graph || g->closes) {
		g->depth -= g->is_graph && g->depth > 0;
		return;
	}
	g->n_graphs++;
	g->nested |= g->depth++ > 0;
}

static uint8_t end_tag(struct topo_graph_ids *g)
{
	/* <graph/> closes itself. */
	g->depth -= g->is_graph && !g->closes && g->slash;
	return IN_TEXT;
}

static uint8_t in_tag(struct topo_graph_ids *g, char c)
{
	if (c == '>')
		return end_tag(g);
	g->slash = c == '/';
	if (c == '/' || strchr(" \t\r\n", c))
		return IN_TAG;
	clear_word(g);
	put_letter(g, c);
	return ATTRIBUTE;
}

static uint8_t in_name(struct topo_graph_ids *g, char c)
{
	if (c == ':')
		clear_word(g);
	else if (!strchr("/> \t\r\n", c)) {
		put_letter(g, c);
	} else {
		begin_tag(g);
		return in_tag(g, c);
	}
	return NAMED;
}

static uint8_t after_bracket(struct topo_graph_ids *g, char c)
{
	clear_word(g);
	g->closes = c == '/';
	g->matched = 0;
	g->skip = OF_INSTRUCTION;
	if (c == '!')
		return MARKED;
	if (c == '?')
		return SKIPPED;
	return g->closes ? NAMED : in_name(g, c);
}

static uint8_t after_mark(struct topo_graph_ids *g, char c)
{
	static const char cdata[] = "[CDATA[";
	put_letter(g, c);
	if (is_word(g, "--") || is_word(g, cdata)) {
		g->skip = is_word(g, "--") ? OF_COMMENT : OF_CDATA;
		return SKIPPED;
	}
	if (is_word(g, "-") || strncmp(cdata, g->word, g->n_word) == 0)
		return MARKED;
	g->open = 1;
	return DOCTYPE;
}

/* A declaration may hold others: <!DOCTYPE graphml [<!ENTITY x "y">]>. */
static uint8_t in_doctype(struct topo_graph_ids *g, char c)
{
	g->open += c == '<';
	g->open -= c == '>';
	return g->open > 0 ? DOCTYPE : IN_TEXT;
}

/* Both ends of three bytes begin with the same one twice, so after two of them
 * a third leaves two. */
static uint8_t in_skipped(struct topo_graph_ids *g, char c)
{
	const char *end = ends[g->skip];
	if (c == end[g->matched])
		g->matched++;
	else if (g->matched != 2 || c != end[0])
		g->matched = c == end[0];
	return end[g->matched] ? SKIPPED : IN_TEXT;
}

static uint8_t in_attribute(struct topo_graph_ids *g, char c)
{
	if (c == '"' || c == '\'') {
		g->quote = (uint8_t)c;
		g->n_value = 0;
		return VALUE;
	}
	if (!strchr("= \t\r\n", c))
		put_letter(g, c);
	return ATTRIBUTE;
}

static uint8_t in_value(struct topo_graph_ids *g, char c)
{
	const int is_id = g->is_node && is_word(g, "id");
	const int ended = (uint8_t)c == g->quote;
	if (is_id && (ended ? keep_id(g) : graph_ids_put_value(g, c)) < 0)
		g->out_of_memory = 1;
	return ended ? IN_TAG : VALUE;
}

static uint8_t next_state(struct topo_graph_ids *g, char c)
{
	switch ((enum state)g->state) {
	case IN_TEXT:
		return c == '<' ? OPENED : IN_TEXT;
	case OPENED:
		return after_bracket(g, c);
	case MARKED:
		return after_mark(g, c);
	case SKIPPED:
		return in_skipped(g, c);
	case DOCTYPE:
		return in_doctype(g, c);
	case NAMED:
		return in_name(g, c);
	case IN_TAG:
		return in_tag(g, c);
	case ATTRIBUTE:
		return in_attribute(g, c);
	case VALUE:
		return in_value(g, c);
	}
	return IN_TEXT;
}

void topo_graph_ids_feed(struct topo_graph_ids *g, const char *bytes, size_t n)
{
	/* NUL would end the lists of bytes above; XML has none. */
	for (size_t i = 0; i < n && !g->out_of_memory; i++) {
		g->line += bytes[i] == '\n';
		if (bytes[i])
			g->state = next_state(g, bytes[i]);
	}
}

/* --- as a file ------------------------------------------------------------ */

struct through {
	struct topo_graph_ids *ids;
	FILE *file;
};

static ssize_t read_through(void *cookie, char *buf, size_t size)
{
	struct through *t = cookie;
	const size_t n = fread(buf, 1, size, t->file);
	topo_graph_ids_feed(t->ids, buf, n);
	return n == 0 && ferror(t->file) ? -1 : (ssize_t)n;
}

static int close_through(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *topo_graph_ids_open(struct topo_graph_ids *g, FILE *file)
{
	const cookie_io_functions_t io = {.read = read_through,
	    .close = close_through};
	struct through *t;
	if (SIM_ZALLOC(&t, 1, NULL) < 0)
		return NULL;
	*t = (struct through){g, file};
	FILE *f = fopencookie(t, "r", io);
	if (!f)
		free(t);
	return f;
}

/* --- what was found ------------------------------------------------------- */

static int graph_ids_order(const void *a, const void *b)
{
	const struct topo_graph_id *x = a, *y = b;
	const int d = strcmp(x->text, y->text);
	return d ? d : (x->line > y->line) - (x->line < y->line);
}

int topo_graph_ids_check(struct topo_graph_ids *g, size_t n, struct sim_err *e)
{
	if (g->out_of_memory)
		return sim_fail(e, SIM_ENOMEM, "no memory for ids of nodes.");
	if (g->nested)
		return sim_fail(e, SIM_EPARSE,
		    "A graph stands within another one, and would not be "
		    "read.");
	if (g->n_graphs > 1)
		return sim_fail(e, SIM_EPARSE,
		    "There are %u graphs; a network is one.", g->n_graphs);
	if (g->n == 0 && n > 0)
		return sim_fail(e, SIM_EPARSE,
		    "Its encoding is not known here: write it in UTF-8.");
	if (g->n > 0)
		qsort(g->id, g->n, sizeof(g->id[0]), graph_ids_order);
	for (size_t i = 1; i < g->n; i++)
		if (strcmp(g->id[i - 1].text, g->id[i].text) == 0)
			return sim_fail(e, SIM_EPARSE,
			    "Two nodes have the id \"%.80s\", in lines %u "
			    "and %u.",
			    g->id[i].text, g->id[i - 1].line, g->id[i].line);
	/* "a" and "&#97;" are the same for a reader of XML. */
	if (g->n > n)
		return sim_fail(e, SIM_EPARSE,
		    "%zu nodes have only %zu ids, some written in two ways.",
		    g->n, n);
	return 0;
}

void topo_graph_ids_mend(const char *id)
{
	char *at = strstr(id, "&#38;");
	for (; at; at = strstr(at + 1, "&#38;"))
		memmove(at + 1, at + 5, strlen(at + 5) + 1);
}

void topo_graph_ids_free(struct topo_graph_ids *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->id[i].text);
	free(g->id);
	free(g->value);
	*g = (struct topo_graph_ids){0};
}
