/* sim/parts.c -- a section of a spec that several tables of fields read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/parts.h"

#include <assert.h>
#include <string.h>

/* They are read as one table, because each part by itself would take the other
 * parts' keys for unknown. */
const struct sim_part *sim_parts_join(const struct sim_part *part,
    struct sim_field all[SIM_PARTS_MAX])
{
	const char *map = part->map;
	size_t n = 0;
	for (; part->fields && strcmp(part->map, map) == 0; part++) {
		const size_t first = n;
		n = sim_field_join(all, n, SIM_PARTS_MAX, part->fields,
		    part->offset, part->only);
		for (size_t i = first; part->when && i < n; i++)
			all[i].when = part->when;
	}
	return part;
}

/* The names of the section's maps, NULL-terminated. */
static void parts_maps(const struct sim_part parts[],
    const char *map[SIM_PARTS_MAX + 1])
{
	size_t n = 0;
	for (; parts->fields; parts++) {
		assert(n < SIM_PARTS_MAX);
		/* Parts of one map stand one after another. */
		if (*parts->map &&
		    (n == 0 || strcmp(map[n - 1], parts->map) != 0))
			map[n++] = parts->map;
	}
	map[n] = NULL;
}

int sim_parts_read(struct sim_yaml *y, const char *section,
    const struct sim_part parts[], void *obj, struct sim_err *e)
{
	return sim_parts_read_map(y, sim_yaml_get(y->root, section), parts, obj,
	    e);
}

int sim_parts_read_map(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_part parts[], void *obj, struct sim_err *e)
{
	const char *also[SIM_PARTS_MAX + 1];
	struct sim_field all[SIM_PARTS_MAX];
	int rc = 0;
	parts_maps(parts, also);
	for (const struct sim_part *p = parts; rc == 0 && p->fields;) {
		const char *map = p->map;
		p = sim_parts_join(p, all);
		/* A map that is absent is still read, as NULL, since it has
		 * defaults; a required key that is missing is then told at the
		 * section, or at the file where there is no section either. */
		rc = sim_yaml_read(y, *map ? sim_yaml_get(node, map) : node,
		    node ? node : y->root, all, *map ? NULL : also, obj, e);
	}
	return rc;
}

const struct sim_field *sim_parts_find(const struct sim_part parts[],
    const char *path)
{
	for (const struct sim_part *p = parts; p->fields; p++) {
		const size_t n = strlen(p->map);
		/* Behind the map's name and its dot; the section's own fields
		 * have neither. */
		const char *at = path + n + (n > 0);
		const struct sim_field *f;
		char key[64];
		if (n > 0 && (strncmp(path, p->map, n) != 0 || path[n] != '.'))
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(at, "."), at);
		if (p->only && !p->only[sim_word_find(p->only, key)])
			continue;
		if ((f = sim_field_find(p->fields, key)))
			return f;
	}
	return NULL;
}
