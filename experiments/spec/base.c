/* experiments/spec/base.c -- values that a sweep replaces at every point.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "algos/algo.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/strict.h"
#include "sim/text.h"
#include "sim/vec.h"

/* PATH without the numbers of items in lists: faults.1.rate is of faults.rate. */
static void base_plain(char plain[512], const char *path)
{
	struct sim_text t = {plain, 512, 0};
	plain[0] = '\0';
	while (*path) {
		const size_t n = strcspn(path, ".");
		if (!isdigit((unsigned char)*path))
			sim_put(&t, "%s%.*s", *plain ? "." : "", (int)n, path);
		path += n + (path[n] == '.');
	}
}

/* An algorithm's keys are those of the one that stands there. */
static const struct sim_field *
base_field_of_algo(const struct sim_yaml_node *root, const char *path)
{
	char list[512];
	const char *key = strrchr(path, '.');
	if (!key || key - path >= (ptrdiff_t)sizeof(list))
		return NULL;
	snprintf(list, sizeof(list), "%.*s", (int)(key - path), path);
	const struct sim_yaml_node *algo = xp_path_find(root, list);
	const struct sim_yaml_node *name =
	    algo ? sim_yaml_get(algo, "name") : NULL;
	const struct algo_ops *ops = name && name->kind == SIM_YAML_SCALAR
	    ? algo_find(name->text)
	    : NULL;
	return ops ? sim_field_find(ops->params, key + 1) : NULL;
}

/* The field of the key at PATH, or NULL: a map, a list, or a key that has a reader
 * of its own. */
static const struct sim_field *base_field(const struct sim_yaml_node *root,
    const char *path)
{
	char plain[512], map[512] = "";
	const struct xp_section *s;
	const struct sim_field *f;
	if (xp_path_holds("algorithms", path))
		return base_field_of_algo(root, path);
	base_plain(plain, path);
	const char *dot = strrchr(plain, '.'), *key = dot ? dot + 1 : plain;
	snprintf(map, sizeof(map), "%.*s", (int)(dot ? dot - plain : 0), plain);
	for (const struct xp_key_table *t = xp_key_tables; t->path; t++)
		if (strcmp(t->path, map) == 0 &&
		    (f = sim_field_find(t->fields, key)))
			return f;
	for (size_t i = 0; (s = xp_section_at(i)); i++)
		if (xp_path_holds(s->name, plain) && strcmp(s->name, plain))
			return sim_parts_find(s->parts,
			    plain + strlen(s->name) + 1);
	return NULL;
}

/* Read the value at PATH as if it counted, and forget it. */
static int base_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *path, struct sim_err *e)
{
	const struct sim_field *f = base_field(y->root, path);
	void *scratch = NULL;
	int rc = 0;
	/* `fabric` may also be a map. */
	if (!f || (f->type != SIM_F_DIST && node->kind == SIM_YAML_MAP))
		return 0;
	struct sim_field first = *f;
	first.offset = 0;
	if ((rc = sim_zalloc(&scratch, 1, 256 + f->size, e)) == 0)
		rc = sim_yaml_read_value(y, node, &first, scratch, e);
	free(scratch);
	return rc;
}

/* PATH and what is below it. */
static int base_read_all(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *path, struct sim_err *e)
{
	char below[512];
	int rc = base_read(y, node, path, e);
	if (node->kind == SIM_YAML_SCALAR || base_field(y->root, path))
		return rc;
	for (size_t i = 0; rc == 0 && i < node->n; i++) {
		if (node->kind == SIM_YAML_MAP)
			snprintf(below, sizeof(below), "%.250s.%.250s", path,
			    node->key[i]);
		else
			snprintf(below, sizeof(below), "%.400s.%zu", path, i);
		rc = base_read_all(y, node->child[i], below, e);
	}
	return rc;
}

int xp_strict_base(struct xp_spec *s, struct sim_err *e)
{
	int rc = 0;
	for (size_t a = 0; a < s->n_axes; a++)
		for (size_t k = 0; rc == 0 && k < s->axis[a].n_keys; k++) {
			const char *path = s->axis[a].key[k].path;
			const struct sim_yaml_node *node =
			    xp_path_find(s->yaml.root, path);
			/* What --set gives in vain is told by itself. */
			if (node && node->line > 0)
				rc = base_read_all(&s->yaml, node, path, e);
		}
	return rc;
}
