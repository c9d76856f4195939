/* sim/yaml_tree.c -- the tree: growing, copying, putting, writing.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/yaml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

int sim_yaml_node_new(struct sim_yaml_node **out, enum sim_yaml_kind kind,
    unsigned line, unsigned col, struct sim_err *e)
{
	int rc = SIM_ZALLOC(out, 1, e);
	if (rc < 0)
		return rc;
	(*out)->kind = kind;
	(*out)->line = line;
	(*out)->col = col;
	return 0;
}

/* Recursion is bounded by SIM_YAML_DEPTH, here and below. */
void sim_yaml_node_free(struct sim_yaml_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->n; i++) {
		if (node->key)
			free(node->key[i]);
		sim_yaml_node_free(node->child[i]);
	}
	free(node->text);
	free(node->key);
	free(node->key_line);
	free(node->key_col);
	free(node->child);
	free(node);
}

/* The arrays of a node have room for the next power of two of children, so that
 * N alone tells when they are full and no capacity is stored. Should one of
 * them fail to grow, the others hold spare memory, which does no harm: growing
 * again starts from N. */
int sim_yaml_append(struct sim_yaml_node *node, char *key, unsigned line,
    unsigned col, struct sim_yaml_node *child, struct sim_err *e)
{
	size_t n = node->n, room[4] = {n, n, n, n};
	int rc;
	if ((n & (n - 1)) == 0) {
		size_t need = n ? 2 * n : 1;
		if ((rc = SIM_RESERVE(&node->child, &room[0], need, e)) < 0)
			return rc;
		if (node->kind == SIM_YAML_MAP &&
		    ((rc = SIM_RESERVE(&node->key, &room[1], need, e)) < 0 ||
			(rc = SIM_RESERVE(&node->key_line, &room[2], need, e)) <
			    0 ||
			(rc = SIM_RESERVE(&node->key_col, &room[3], need, e)) <
			    0))
			return rc;
	}
	if (node->kind == SIM_YAML_MAP) {
		node->key[n] = key;
		node->key_line[n] = line;
		node->key_col[n] = col;
	}
	node->child[n] = child;
	node->n++;
	return 0;
}

int sim_yaml_copy(struct sim_yaml_node **out, const struct sim_yaml_node *node,
    struct sim_err *e)
{
	struct sim_yaml_node *copy = NULL, *child = NULL;
	char *key = NULL;
	int rc = sim_yaml_node_new(&copy, node->kind, node->line, node->col, e);
	if (rc < 0)
		return rc;
	copy->quoted = node->quoted;
	if (node->text && (rc = sim_dup(&copy->text, node->text, e)) < 0)
		goto fail;
	for (size_t i = 0; i < node->n; i++) {
		int is_map = node->kind == SIM_YAML_MAP;
		if ((is_map && (rc = sim_dup(&key, node->key[i], e)) < 0) ||
		    (rc = sim_yaml_copy(&child, node->child[i], e)) < 0 ||
		    (rc = sim_yaml_append(copy, key,
			 is_map ? node->key_line[i] : 0,
			 is_map ? node->key_col[i] : 0, child, e)) < 0)
			goto fail;
		/* COPY owns both now; what follows `fail` must not free them
		 * again. */
		key = NULL;
		child = NULL;
	}
	*out = copy;
	return 0;
fail:
	free(key);
	sim_yaml_node_free(child);
	sim_yaml_node_free(copy);
	return rc;
}

/* Maps of a spec are short, so they are searched from the front; of a key given
 * twice the first counts. */
struct sim_yaml_node *sim_yaml_get(const struct sim_yaml_node *node,
    const char *key)
{
	if (!node || node->kind != SIM_YAML_MAP)
		return NULL;
	for (size_t i = 0; i < node->n; i++)
		if (strcmp(node->key[i], key) == 0)
			return node->child[i];
	return NULL;
}

/* --- putting ------------------------------------------------------------ */
/* How many maps and lists lie within each other in NODE. */
static size_t depth_of(const struct sim_yaml_node *node)
{
	size_t most = 0;
	if (node->kind == SIM_YAML_SCALAR)
		return 0;
	for (size_t i = 0; i < node->n; i++) {
		size_t d = depth_of(node->child[i]);
		most = d > most ? d : most;
	}
	return most + 1;
}

/* Cut PATH at its dots, in place: the parts point into it. The quote for
 * messages is made first, while the path is whole. */
static int yaml_tree_cut(char *path, char *part[SIM_YAML_DEPTH], size_t *n,
    struct sim_err *e)
{
	char quote[64];
	sim_quote(quote, path);
	*n = 0;
	for (char *p = path; p;) {
		char *dot = strchr(p, '.');
		if (dot)
			*dot = '\0';
		if (!*p)
			return sim_fail(e, SIM_EINVAL,
			    "path %s has an empty part.", quote);
		if (*n == SIM_YAML_DEPTH)
			return sim_fail(e, SIM_EINVAL,
			    "path %s has more than %d parts.", quote,
			    SIM_YAML_DEPTH);
		part[(*n)++] = p;
		p = dot ? dot + 1 : NULL;
	}
	return 0;
}

/* Set *NEXT to the place in NODE that holds the child PART, so that the caller
 * can replace the child there; to NULL when NODE is a map without that key,
 * which the caller may add. */
static int yaml_tree_step(struct sim_yaml_node *node, const char *part,
    struct sim_yaml_node ***next, struct sim_err *e)
{
	char quote[64];
	uint64_t i;
	*next = NULL;
	switch (node->kind) {
	case SIM_YAML_SCALAR:
		sim_quote(quote, part);
		return *node->text
		    ? sim_fail(e, SIM_EINVAL, "no key %s in the value %.40s.",
			  quote, node->text)
		    : sim_fail(e, SIM_EINVAL, "no key %s where nothing stands.",
			  quote);
	case SIM_YAML_SEQ:
		if (sim_parse_u64(part, &i, NULL) < 0 || i >= node->n)
			return sim_fail(e, SIM_EINVAL,
			    "%s is not an index of a list of %zu.",
			    sim_quote(quote, part), node->n);
		*next = &node->child[i];
		return 0;
	case SIM_YAML_MAP:
		for (size_t k = 0; k < node->n && !*next; k++)
			if (strcmp(node->key[k], part) == 0)
				*next = &node->child[k];
	}
	return 0;
}

/* Join to PART as many of the N that follow it as make it a key of MAP that has
 * dots; the longest such key counts. They were cut from one text, so the dots
 * between them need only be put back. Returns how many were joined. */
static size_t join_parts(const struct sim_yaml_node *map, char *const part[],
    size_t n)
{
	size_t best = 0;
	for (size_t i = 1; i <= n; i++) {
		*(part[i] - 1) = '.';
		if (sim_yaml_get(map, part[0]))
			best = i;
	}
	for (size_t i = best + 1; i <= n; i++)
		*(part[i] - 1) = '\0';
	return best;
}

/* Append KEY: NODE to MAP. NODE is the map's afterwards, or is freed on
 * failure. */
static int hang(struct sim_yaml_node *map, const char *key,
    struct sim_yaml_node *node, struct sim_err *e)
{
	char *copy = NULL;
	int rc = sim_dup(&copy, key, e);
	if (rc < 0 ||
	    (rc = sim_yaml_append(map, copy, node->line, node->col, node, e)) <
		0) {
		free(copy);
		sim_yaml_node_free(node);
	}
	return rc;
}

/* Replace *NODE by a map whose only key is KEY and whose value is the old
 * *NODE. On failure it is freed and *NODE is NULL. */
static int wrap(struct sim_yaml_node **node, const char *key, struct sim_err *e)
{
	struct sim_yaml_node *map, *inner = *node;
	*node = NULL;
	int rc =
	    sim_yaml_node_new(&map, SIM_YAML_MAP, inner->line, inner->col, e);
	if (rc < 0) {
		sim_yaml_node_free(inner);
		return rc;
	}
	if ((rc = hang(map, key, inner, e)) < 0) {
		sim_yaml_node_free(map);
		return rc;
	}
	*node = map;
	return 0;
}

/* Walk down as far as the path exists, DONE parts of it. The maps for what is
 * missing are built around the copy of VALUE from the inside out and hung into
 * the tree last, so a failure leaves the tree as it was. */
static int put_parts(struct sim_yaml *y, char *const part[], size_t n,
    const struct sim_yaml_node *value, struct sim_err *e)
{
	struct sim_yaml_node *fresh = NULL, **at = &y->root, **next;
	size_t done = 0, joined;
	int rc = 0;
	if (!y->root &&
	    (rc = sim_yaml_node_new(&y->root, SIM_YAML_MAP, 0, 0, e)) < 0)
		return rc;
	for (; done < n; done += 1 + joined, at = next) {
		joined = join_parts(*at, part + done, n - 1 - done);
		if ((rc = yaml_tree_step(*at, part[done], &next, e)) < 0)
			return rc;
		if (!next)
			break;
	}
	if ((rc = sim_yaml_copy(&fresh, value, e)) < 0)
		return rc;
	if (done == n) {
		sim_yaml_node_free(*at);
		*at = fresh;
		return 0;
	}
	for (size_t i = n - 1; i > done; i--)
		if ((rc = wrap(&fresh, part[i], e)) < 0)
			return rc;
	return hang(*at, part[done], fresh, e);
}

int sim_yaml_put(struct sim_yaml *y, const char *path,
    const struct sim_yaml_node *value, struct sim_err *e)
{
	char *part[SIM_YAML_DEPTH], *copy = NULL, quote[64];
	size_t n;
	int rc = sim_dup(&copy, path, e);
	if (rc < 0 || (rc = yaml_tree_cut(copy, part, &n, e)) < 0)
		goto out;
	/* Parsing bounds the depth of files; this keeps that bound when paths
	 * of up to SIM_YAML_DEPTH parts add maps. */
	if (n + depth_of(value) > SIM_YAML_DEPTH)
		rc = sim_fail(e, SIM_EINVAL, "nested deeper than %d.",
		    SIM_YAML_DEPTH);
	else
		rc = put_parts(y, part, n, value, e);
	if (rc < 0)
		sim_wrap(e, rc, "path %s", sim_quote(quote, path));
out:
	free(copy);
	return rc;
}

/* The value of --set was parsed as a text of its own, whose lines would be
 * taken for lines of the spec: line 0 marks them. Columns are numbered on, so
 * that no two keys of such values are taken for one. */
static void forget_places(struct sim_yaml *y, struct sim_yaml_node *node)
{
	node->line = 0;
	node->col = ++y->n_set;
	for (size_t i = 0; i < node->n; i++) {
		if (node->kind == SIM_YAML_MAP) {
			node->key_line[i] = 0;
			node->key_col[i] = ++y->n_set;
		}
		forget_places(y, node->child[i]);
	}
}

int sim_yaml_set(struct sim_yaml *y, const char *assignment, struct sim_err *e)
{
	struct sim_yaml value = {0};
	char *path = NULL, quote[64];
	/* The first "=" ends the path: no key of a spec holds one, values
	 * may. */
	const char *eq = strchr(assignment, '=');
	if (!eq || eq == assignment || !eq[1 + strspn(eq + 1, " \t\n")])
		return sim_fail(e, SIM_EINVAL, "--set %s is not path=value.",
		    sim_quote(quote, assignment));
	int rc = sim_dup(&path, assignment, e);
	if (rc < 0)
		return rc;
	path[eq - assignment] = '\0';
	if ((rc = sim_yaml_parse(&value, path, eq + 1, strlen(eq + 1), e)) ==
		0 &&
	    (rc = sim_yaml_verdict(&value, e)) == 0) {
		forget_places(y, value.root);
		rc = sim_yaml_put(y, path, value.root, e);
	}
	if (rc < 0)
		sim_wrap(e, rc, "--set %s", sim_quote(quote, assignment));
	sim_yaml_free(&value);
	free(path);
	return rc;
}

/* --- writing ------------------------------------------------------------ */
static void yaml_tree_write_node(struct sim_text *t,
    const struct sim_yaml_node *node)
{
	if (node->kind == SIM_YAML_SCALAR) {
		/* "key:" with nothing behind it is written as it was read;
		 * quotes would make it an empty text. */
		if (node->quoted || node->text[0])
			sim_put_scalar(t, node->text, node->quoted);
		return;
	}
	int is_map = node->kind == SIM_YAML_MAP;
	sim_put(t, is_map ? "{" : "[");
	for (size_t i = 0; i < node->n; i++) {
		if (i > 0)
			sim_put(t, ", ");
		if (is_map) {
			sim_put_scalar(t, node->key[i], 0);
			sim_put(t, ": ");
		}
		yaml_tree_write_node(t, node->child[i]);
	}
	sim_put(t, is_map ? "}" : "]");
}

int sim_yaml_format(const struct sim_yaml_node *node, char *buf, size_t size)
{
	struct sim_text t = {buf, size, 0};
	yaml_tree_write_node(&t, node);
	return (int)t.n;
}
