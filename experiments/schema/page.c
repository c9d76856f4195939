/* experiments/schema/page.c -- the keys of a spec, told to people.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/schema/page.h"

#include <string.h>

#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "topo/graph.h"

enum { DOC_COLUMN = 26, NAME_COLUMN = 12 };

/* --- one key -------------------------------------------------------------- */

/* "  NAME: DEFAULT", and behind it, or below if that is long, the rest. */
static void put_entry(FILE *out, const char *name, const char *def,
    const char *text, unsigned indent)
{
	unsigned at = indent + (unsigned)strlen(name) + 1;
	fprintf(out, "%*s%s:", (int)indent, "", name);
	if (def) {
		fprintf(out, " %s", *def ? def : "\"\"");
		at += 1 + (unsigned)(*def ? strlen(def) : 2);
	}
	if (at + 1 > DOC_COLUMN)
		fprintf(out, "\n%*s", DOC_COLUMN, "");
	else
		fprintf(out, "%*s", (int)(DOC_COLUMN - at), "");
	sim_fill(out, DOC_COLUMN, DOC_COLUMN, text);
}

static void put_field(FILE *out, const char *name, const struct sim_field *f,
    unsigned indent)
{
	char text[1024] = "", values[512] = "";
	struct sim_text t = {text, sizeof(text), 0};
	struct sim_text v = {values, sizeof(values), 0};
	sim_field_put_values(f, &v);
	sim_put(&t, "%s%s\n%s%s%s", f->def ? "" : "(required) ", f->doc,
	    sim_field_type_name(f), *values ? " " : "", values);
	if (f->when) {
		sim_put(&t, "\ncounts only with ");
		sim_field_put_when(f, &t);
	}
	put_entry(out, name, f->def, text, indent);
}

static void put_own(FILE *out, const char *name, const struct xp_own_key *k,
    unsigned indent)
{
	char text[1024];
	snprintf(text, sizeof(text), "%s\n%s", k->doc, k->type);
	put_entry(out, name, NULL, text, indent);
}

/* The values of the keys `plane` and `fabric` have more to say than names. */
static void put_kinds(FILE *out, const char *key)
{
	if (strcmp(key, "plane") == 0)
		for (const struct xp_plane *const *p = xp_planes; *p; p++) {
			fprintf(out, "    %-14s", (*p)->name);
			sim_fill(out, 18, 18, (*p)->doc);
		}
	else if (strcmp(key, "fabric") == 0)
		for (const struct xp_fabric *const *f = xp_fabrics; *f; f++) {
			fprintf(out, "    %-14s", (*f)->name);
			sim_fill(out, 18, 18, (*f)->doc);
		}
}

/* --- a section ------------------------------------------------------------ */

static void page_put_headline(const struct xp_page *p, FILE *out)
{
	char text[512];
	if (!*p->name)
		snprintf(text, sizeof(text), "At the top: %s", p->doc);
	else if (p->owner)
		snprintf(text, sizeof(text), "%s, on %s %s: %s", p->name,
		    p->owner, p->name, p->doc);
	else
		snprintf(text, sizeof(text), "%s: %s", p->name, p->doc);
	sim_fill(out, 0, 4, text);
}

struct printing {
	FILE *out;
	const char *map; /* of the last key */
};

static void print_key(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	struct printing *to = arg;
	const unsigned indent = *map ? 4 : 2;
	(void)p;
	if (strcmp(map, to->map) != 0)
		fprintf(to->out, "  %s:\n", map);
	to->map = map;
	if (own) {
		put_own(to->out, own->name, own, indent);
		return;
	}
	put_field(to->out, field->name, field, indent);
	if (p->form == XP_FORM_TOP)
		put_kinds(to->out, field->name);
}

static void put_example(const struct xp_page *p, FILE *out)
{
	fputs("\n  For example:\n\n", out);
	for (const char *at = p->example; *at;) {
		const int n = (int)strcspn(at, "\n");
		fprintf(out, "    %.*s\n", n, at);
		at += n + (at[n] == '\n');
	}
}

void xp_page_print(const struct xp_page *p, FILE *out)
{
	struct printing to = {out, ""};
	page_put_headline(p, out);
	fputc('\n', out);
	xp_page_visit(p, print_key, &to);
	if (p->more) {
		fputs("\n  ", out);
		sim_fill(out, 2, 2, p->more);
	}
	if (p->example)
		put_example(p, out);
}

void xp_page_graphml(FILE *out)
{
	sim_fill(out, 0, 0, topo_graph_doc);
	fputs("\nAttributes of nodes (attr.name, attr.type):\n", out);
	for (const struct topo_graph_attribute *a = topo_graph_attributes;
	     a->name; a++) {
		fprintf(out, "  %-5s %-7s ", a->name, a->type);
		sim_fill(out, 16, 16, a->doc);
	}
}

void xp_page_print_all(FILE *out)
{
	struct xp_page p;
	for (size_t i = 0; xp_page_at(i, &p); i++) {
		xp_page_print(&p, out);
		fputc('\n', out);
	}
	xp_page_graphml(out);
}

/* --- all at a glance ------------------------------------------------------ */

struct naming {
	struct sim_text text;
	const char *map;
};

/* The keys of a map stand in braces behind its name. */
static void name_key(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	struct naming *to = arg;
	const char *name = own ? own->name : field->name;
	(void)p;
	if (strcmp(map, to->map) != 0)
		sim_put(&to->text, "%s%s%s {%s", *to->map ? "}" : "",
		    to->text.n ? ", " : "", map, name);
	else
		sim_put(&to->text, "%s%s", to->text.n ? ", " : "", name);
	to->map = map;
}

void xp_page_overview(FILE *out)
{
	char text[4096];
	struct xp_page p;
	sim_fill(out, 0, 0,
	    "A spec is a YAML file that says what to build, what to break, who "
	    "looks for it, and what to vary. These are its keys, all with "
	    "defaults but `figure` and `algorithms`.");
	for (size_t i = 0; xp_page_at(i, &p); i++) {
		struct naming to = {{text, sizeof(text), 0}, ""};
		*text = '\0';
		fputc('\n', out);
		page_put_headline(&p, out);
		xp_page_visit(&p, name_key, &to);
		sim_put(&to.text, "%s", *to.map ? "}" : "");
		fputs("    ", out);
		sim_fill(out, 4, 4, *text ? text : "keys of the root");
	}
	fputs("\n"
	      "culprit spec traffic        a section, with an example\n"
	      "culprit spec traffic.conns  a key\n"
	      "culprit spec top            what stands at the top, with planes "
	      "and fabrics\n"
	      "culprit spec graphml        what a network's file holds\n"
	      "culprit spec --all          all of it\n"
	      "culprit spec --schema       for editors: a JSON Schema\n",
	    out);
}

/* --- what a word means ---------------------------------------------------- */

struct search {
	FILE *out;
	const char *path, *word; /* of PATH the places in lists are left out */
	unsigned n;              /* found */
	char near[256]; /* of what is looked for the nearest yet, or "" */
};

static void try_name(struct search *s, const char *name)
{
	char new[256];
	const char *const both[] = {*s->near ? s->near : name, name};
	const char *near = sim_did_you_mean(s->word, both, 2);
	snprintf(new, sizeof(new), "%s", near ? near : "");
	memcpy(s->near, new, sizeof(new));
}

/* faults.0.rate is faults.rate. */
static void drop_places(const char *word, char path[256])
{
	struct sim_text t = {path, 256, 0};
	*path = '\0';
	while (*word) {
		const int n = (int)strcspn(word, ".");
		if (strspn(word, "0123456789") < (size_t)n || n == 0)
			sim_put(&t, "%s%.*s", t.n ? "." : "", n, word);
		word += n + (word[n] == '.');
	}
}

static void path_of_key(const struct xp_page *p, const char *map,
    const char *name, char path[256])
{
	snprintf(path, 256, "%s%s%s%s%s", p->name, *p->name ? "." : "", map,
	    *map ? "." : "", name);
}

/* A draw's ends are told with its key: traffic.packets.uniform.1. */
static int leads_to(const char *path, const char *key)
{
	const size_t n = strlen(key);
	return strncmp(path, key, n) == 0 &&
	    (path[n] == '\0' || strcmp(path + n, ".uniform") == 0 ||
		strcmp(path + n, ".log_uniform") == 0);
}

static void seek_key(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	struct search *s = arg;
	const char *name = own ? own->name : field->name;
	char path[256];
	path_of_key(p, map, name, path);
	try_name(s, strchr(s->word, '.') ? path : name);
	if (!leads_to(s->path, path) && strcmp(s->word, name) != 0)
		return;
	if (s->n++)
		fputc('\n', s->out);
	if (own)
		put_own(s->out, path, own, 0);
	else
		put_field(s->out, path, field, 0);
	if (!own && p->form == XP_FORM_TOP)
		put_kinds(s->out, name);
}

/* A map within a section, as agents.icmp. */
static int tell_map(const char *path, FILE *out)
{
	struct xp_page p;
	for (size_t i = 0; xp_page_at(i, &p); i++)
		for (const struct sim_part *q = p.parts; q && q->fields; q++) {
			char own[256];
			path_of_key(&p, "", q->map, own);
			if (!*q->map || strcmp(own, path) != 0)
				continue;
			struct sim_field all[SIM_PARTS_MAX];
			fprintf(out, "%s:\n", own);
			sim_parts_join(q, all);
			for (size_t k = 0; all[k].name; k++)
				put_field(out, all[k].name, &all[k], 2);
			return 1;
		}
	return 0;
}

int xp_page_tell(const char *word, FILE *out, struct sim_err *e)
{
	struct search s = {.out = out, .word = word};
	char path[256], quote[64];
	struct xp_page p;
	drop_places(word, path);
	s.path = path;
	if (strcmp(word, "graphml") == 0) {
		xp_page_graphml(out);
		return 0;
	}
	if (xp_page_find(path, &p) ||
	    (strcmp(word, "top") == 0 && xp_page_at(0, &p))) {
		xp_page_print(&p, out);
		return 0;
	}
	if (tell_map(path, out))
		return 0;
	for (size_t i = 0; xp_page_at(i, &p); i++) {
		if (*p.name)
			try_name(&s, p.name);
		xp_page_visit(&p, seek_key, &s);
	}
	if (s.n > 0)
		return 0;
	return *s.near ? sim_fail(e, SIM_EINVAL,
			     "a spec has no key %s; did you mean \"%s\"?",
			     sim_quote(quote, word), s.near)
		       : sim_fail(e, SIM_EINVAL,
			     "a spec has no key %s; `culprit spec` lists them.",
			     sim_quote(quote, word));
}
