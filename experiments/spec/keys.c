/* experiments/spec/keys.c -- which keys a spec has, and where.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/keys.h"

#include <assert.h>
#include <string.h>

#include "experiments/spec/config.h"

/* --- keys of the root --------------------------------------------------- */

static void keys_add(struct xp_keys *k, const char *name)
{
	assert(k->n < XP_MAX_KEYS);
	k->name[k->n++] = name;
}

static void keys_add_fields(struct xp_keys *k, const struct sim_field *f)
{
	for (; f->name; f++)
		keys_add(k, f->name);
}

/* Seed and number of runs are the whole sweep's. */
struct xp_keys xp_keys_config(void)
{
	struct xp_keys k = {.n = 0};
	keys_add_fields(&k, xp_run_fields);
	for (const char *const *s = xp_sections; *s; s++)
		keys_add(&k, *s);
	for (size_t i = 0; xp_section_at(i); i++)
		keys_add(&k, xp_section_at(i)->name);
	return k;
}

/* The keys of the root that others read, so that they are no mistake where
 * xp_head_fields is read. `gates` is for experiments/check/gate.h. */
struct xp_keys xp_keys_other(void)
{
	struct xp_keys k = xp_keys_config();
	keys_add(&k, "gates");
	keys_add(&k, "sweep");
	keys_add(&k, "claims");
	keys_add(&k, "smoke");
	return k;
}

struct xp_keys xp_keys_smoke(void)
{
	struct xp_keys k = xp_keys_config();
	keys_add(&k, "sweep");
	keys_add(&k, "claims");
	keys_add_fields(&k, xp_head_fields + 1); /* results keep their name */
	return k;
}

int xp_keys_is_config(const char *path)
{
	const struct xp_keys k = xp_keys_config();
	for (size_t i = 0; i < k.n; i++)
		if (xp_path_holds(k.name[i], path))
			return 1;
	return 0;
}

int xp_keys_is_of_sweep(const char *key)
{
	static const char *const others[] = {"sweep", "smoke", "claims",
	    "gates", "runs", NULL};
	return others[sim_word_find(others, key)] != NULL;
}

static int is_of_root(const char *name)
{
	const struct xp_keys k = xp_keys_other();
	return k.name[sim_word_find(k.name, name)] != NULL ||
	    sim_field_find(xp_head_fields, name) != NULL;
}

int xp_keys_check(struct sim_yaml *y, const struct sim_yaml_node *map, size_t i,
    const struct xp_keys *k, const char *what, int *known)
{
	const struct sim_yaml_node at = {.line = map->key_line[i],
	    .col = map->key_col[i]};
	char name[160], list[400] = "", quote[64], paths[200];
	struct sim_text t = {list, sizeof(list), 0};
	/* Of a path, as faults.count, only the first part is known here. What
	 * is wrong further on shows when a point is read. */
	snprintf(name, sizeof(name), "%s", map->key[i]);
	name[strcspn(name, ".")] = '\0';
	*known = 0;
	for (size_t j = 0; j < k->n; j++) {
		*known |= strcmp(name, k->name[j]) == 0;
		sim_put(&t, "%s%s", j ? ", " : "", k->name[j]);
	}
	if (*known)
		return 0;
	sim_quote(quote, name);
	/* A key of the root that is not among K is no key of another map. */
	if (!is_of_root(name) &&
	    xp_keys_elsewhere(name, map->child[i]->kind == SIM_YAML_MAP, 0,
		paths, sizeof(paths)))
		return sim_yaml_mistake(y, &at, "%s %s; did you mean %s?", what,
		    quote, paths);
	const char *near = sim_did_you_mean(name, k->name, k->n);
	if (near)
		return sim_yaml_mistake(y, &at, "%s %s; did you mean \"%s\"?",
		    what, quote, near);
	return sim_yaml_mistake(y, &at, "%s %s; known are %s.", what, quote,
	    list);
}

/* --- keys of all maps --------------------------------------------------- */

const struct xp_key_table xp_key_tables[] = {
    {"", xp_head_fields},
    {"", xp_run_fields},
    {"faults", fault_fields},
    {"topology", xp_topology_fields},
    {"topology", topo_clos_fields},
    {"topology", topo_region_fields},
    {"traffic", scene_traffic_fields},
    {"traffic.tcp", scene_tcp_fields},
    {"noise", scene_noise_fields},
    {"latency", scene_latency_fields},
    {"congestion", scene_congestion_fields},
    {"samples", scene_samples_fields},
    {0},
};

/* Names of keys with the paths of their maps. */
enum { MAX_NAMES = 1024 };
struct key_names {
	size_t n;
	const char *name[MAX_NAMES], *map[MAX_NAMES], *within[MAX_NAMES];
};

static void name_add(struct key_names *all, const char *map, const char *within,
    const char *name)
{
	assert(all->n < MAX_NAMES);
	all->map[all->n] = map;
	all->within[all->n] = within;
	all->name[all->n++] = name;
}

/* A section's maps may be meant only by a key that holds a map. */
static void names_of_section(struct key_names *all, const struct xp_section *s,
    int maps)
{
	name_add(all, "", "", s->name);
	for (const struct sim_part *p = s->parts; p->fields; p++) {
		/* Parts of one map stand one after another. */
		if (maps && *p->map && strcmp(p->map, p[-1].map) != 0)
			name_add(all, s->name, "", p->map);
		for (const struct sim_field *f = p->fields; f->name; f++)
			if (!p->only ||
			    p->only[sim_word_find(p->only, f->name)])
				name_add(all, s->name, p->map, f->name);
	}
}

static void names_of_all(struct key_names *all, int maps)
{
	const struct xp_keys root = xp_keys_other();
	all->n = 0;
	for (const struct xp_key_table *t = xp_key_tables; t->path; t++)
		for (const struct sim_field *f = t->fields; f->name; f++)
			name_add(all, t->path, "", f->name);
	for (size_t i = 0; i < root.n; i++)
		if (!xp_section_of_name(root.name[i]))
			name_add(all, "", "", root.name[i]);
	name_add(all, "traffic", "", "tcp");
	name_add(all, "sweep", "", "grid");
	name_add(all, "sweep", "", "zip");
	name_add(all, "claims", "", "metric");
	for (size_t i = 0; xp_section_at(i); i++)
		names_of_section(all, xp_section_at(i), maps);
}

/* The paths of all keys of that name, in the order of the list. */
static size_t list_paths(const struct key_names *all, const char *name,
    struct sim_text *t)
{
	enum { ENOUGH = 3 };
	size_t at[ENOUGH], n = 0;
	for (size_t i = 0; i < all->n && n < ENOUGH; i++)
		if (strcmp(all->name[i], name) == 0)
			at[n++] = i;
	for (size_t k = 0; k < n; k++) {
		const char *map = all->map[at[k]], *in = all->within[at[k]];
		sim_put(t, "%s\"%s%s%s%s%s\"",
		    k == 0           ? ""
			: k + 1 == n ? " or "
				     : ", ",
		    map, *map ? "." : "", in, *in ? "." : "", name);
	}
	return n;
}

/* Algorithms stand in a list, where keys have no path of their own. */
static size_t list_algos(const char *name, struct sim_text *t)
{
	size_t n = 0;
	for (const struct algo_ops *const *a = algo_registry; *a; a++)
		if (n < 2 && sim_field_find((*a)->params, name))
			sim_put(t, "%s%s", n++ ? " or " : "", (*a)->name);
	return n;
}

int xp_keys_elsewhere(const char *key, int is_map, int near, char *buf,
    size_t size)
{
	struct sim_text t = {buf, size, 0};
	struct key_names all;
	char algos[64] = "";
	struct sim_text in_algos = {algos, sizeof(algos), 0};
	names_of_all(&all, is_map);
	/* Of so many keys one is near by chance: not more than one letter in
	 * four may differ. */
	if (near) {
		const char *like = sim_did_you_mean(key, all.name, all.n);
		if (!like || 4 * sim_distance(key, like) > strlen(like))
			return 0;
		key = like;
	}
	const size_t n = list_paths(&all, key, &t);
	if (list_algos(key, &in_algos) > 0)
		sim_put(&t, "%sa parameter of %s in algorithms",
		    n > 0 ? " or " : "", algos);
	return n > 0 || *algos;
}

/* --- paths ---------------------------------------------------------------- */

int xp_path_holds(const char *a, const char *b)
{
	const size_t n = strlen(a);
	/* The longer one must go on with a dot, or it merely begins with the
	 * same letters. */
	return strncmp(a, b, n) == 0 && (b[n] == '\0' || b[n] == '.');
}

int xp_path_step(const struct sim_yaml_node **node, const char **path,
    const struct sim_yaml_node **map, size_t *i)
{
	const struct sim_yaml_node *at = *node;
	const size_t n = strcspn(*path, ".");
	char part[160];
	uint64_t nth;
	snprintf(part, sizeof(part), "%.*s", (int)n, *path);
	*path += n + ((*path)[n] == '.');
	*map = NULL;
	if (at->kind == SIM_YAML_SEQ) {
		if (sim_parse_u64(part, &nth, NULL) < 0 || nth >= at->n)
			return 0;
		*node = at->child[nth];
		return 1;
	}
	for (*i = 0; at->kind == SIM_YAML_MAP && *i < at->n; ++*i)
		if (strcmp(at->key[*i], part) == 0) {
			*map = at;
			*node = at->child[*i];
			return 1;
		}
	return 0;
}

const struct sim_yaml_node *xp_path_find(const struct sim_yaml_node *root,
    const char *path)
{
	const struct sim_yaml_node *map;
	size_t i;
	while (*path && xp_path_step(&root, &path, &map, &i))
		if (!*path)
			return root;
	return NULL;
}

void xp_path_of_set(char buf[512], const char *assignment)
{
	snprintf(buf, 512, "%.*s", (int)strcspn(assignment, "="), assignment);
}
