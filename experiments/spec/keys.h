/* experiments/spec/keys.h -- which keys a spec has, and where.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SPEC_KEYS_H
#define EXPERIMENTS_SPEC_KEYS_H

#include "experiments/spec/section.h"

/* Names of keys of the root. */
enum { XP_MAX_KEYS = 32 };
struct xp_keys {
	const char *name[XP_MAX_KEYS + 1]; /* ends with NULL */
	size_t n;
};

/* Those that the configuration of one point is read from, and so those that a
 * sweep may vary; those beside the head's; and those that `smoke` may replace. */
struct xp_keys xp_keys_config(void);
struct xp_keys xp_keys_other(void);
struct xp_keys xp_keys_smoke(void);

/* *KNOWN = whether the part before the first dot of key I of MAP is among K. If
 * not, that is a mistake; WHAT begins the sentence. Returns as
 * sim_yaml_mistake(). */
int xp_keys_check(struct sim_yaml *y, const struct sim_yaml_node *map, size_t i,
    const struct xp_keys *k, const char *what, int *known);

/* Is the first part of PATH such a key? */
int xp_keys_is_config(const char *path);

/* Is the key of the root about a sweep as a whole, and not read at points? */
int xp_keys_is_of_sweep(const char *key);

/* The tables of fields of maps that belong to no plane or fabric, with their
 * paths; the last has no path. */
struct xp_key_table {
	const char *path;
	const struct sim_field *fields;
};
extern const struct xp_key_table xp_key_tables[];

/* As sim_yaml.elsewhere. */
int xp_keys_elsewhere(const char *key, int is_map, int near, char *buf,
    size_t size);

/* Is path A the path B, or above it in the tree, as `faults` is above
 * `faults.count`? */
int xp_path_holds(const char *a, const char *b);

/* Go one part of *PATH down from *NODE, past it. If that was a key of a map,
 * *MAP is that one and *I the key's index, else *MAP is NULL. Returns 0 if there
 * is no such part. */
int xp_path_step(const struct sim_yaml_node **node, const char **path,
    const struct sim_yaml_node **map, size_t *i);

/* The node at PATH below ROOT, or NULL. */
const struct sim_yaml_node *xp_path_find(const struct sim_yaml_node *root,
    const char *path);

/* The path of an assignment, "traffic.conns" of "traffic.conns=3". */
void xp_path_of_set(char buf[512], const char *assignment);

#endif
