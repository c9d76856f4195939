/* sim/yaml.h -- strict YAML: a tree with places, read into field tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading never stops at the first mistake: all are collected, each with
 * file:line:col, the value, the allowed range and unit, and "did you mean".
 * Keys given twice and unknown keys are such mistakes too. Only what leaves
 * doubt about what the text means ends parsing: syntax errors, anchors,
 * aliases, tags, more than one document, nesting deeper than 32, more than
 * 1 MiB, empty keys and empty items of a list, keys over 128 bytes, keys that
 * are maps or lists, NUL in text.
 */
#ifndef SIM_YAML_H
#define SIM_YAML_H

#include <stdio.h>

#include "sim/err.h"
#include "sim/field.h"

enum { SIM_YAML_DEPTH = 32 }; /* maps and lists within each other */

enum sim_yaml_kind { SIM_YAML_SCALAR, SIM_YAML_MAP, SIM_YAML_SEQ };

struct sim_yaml_node {
	enum sim_yaml_kind kind;
	/* From 1. Of a --set value line is 0, and col differs from those of all
	 * other nodes of such values. */
	unsigned line, col;
	char *text;     /* scalar: its text */
	uint8_t quoted; /* scalar: written in quotes */
	size_t n;       /* map, seq: children */
	char **key;     /* map: names, in the order of the file */
	unsigned *key_line, *key_col;
	struct sim_yaml_node **child;
};

/* A key that was found to do nothing where it stands, if only once: see
 * sim_yaml_note(). */
struct sim_yaml_given {
	unsigned line, col; /* of the key */
	char *key, *why;    /* owned; why not, when it last did nothing */
	uint8_t counts;     /* it did something, once */
	uint8_t is_idle;    /* it did nothing when it was last noted */
	uint8_t of_kind;    /* it is a key of another `kind` */
};

struct sim_yaml {
	char *name;                 /* file name for messages */
	struct sim_yaml_node *root; /* owned */
	char **mistake;             /* "file:line:col: message", owned */
	size_t n_mistakes, cap_mistakes;
	unsigned n_set; /* places of --set values: nodes and keys */
	struct sim_yaml_given *given;
	size_t n_given, cap_given;
	/* Of a key that its map has not, whose value is a map or not: whether
	 * other maps have it, or with NEAR one like it, and their paths as "a,
	 * b or c" in BUF. May be NULL. */
	int (*elsewhere)(const char *key, int is_map, int near, char *buf,
	    size_t size);
};

/* Parse N bytes. Y need not be initialised and may be freed either way; a file
 * that holds nothing is an empty map. Of a key given twice both values are
 * kept, sim_yaml_get() finds the first, and Y has a mistake.
 * Errors SIM_EPARSE with file:line:col for what ends parsing (see above). */
int sim_yaml_parse(struct sim_yaml *y, const char *name, const char *bytes,
    size_t n, struct sim_err *e);
int sim_yaml_load(struct sim_yaml *y, const char *path, struct sim_err *e);
void sim_yaml_free(struct sim_yaml *y);

/* Child by key; NULL when absent or when NODE is another kind. */
struct sim_yaml_node *sim_yaml_get(const struct sim_yaml_node *node,
    const char *key);

/* Read map NODE into OBJ by FIELDS: defaults first, then each key. Keys in
 * ALSO (NULL-terminated, may be NULL) are allowed and left to the caller.
 * NODE may be NULL: then only defaults, and required keys are mistakes placed
 * at WHERE (a node near it, or NULL). Each mistake is added to Y; returns
 * only SIM_ENOMEM. */
int sim_yaml_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_yaml_node *where, const struct sim_field *fields,
    const char *const *also, void *obj, struct sim_err *e);

/* Read one value node by one field. Mistakes are added to Y. */
int sim_yaml_read_value(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_field *f, void *obj, struct sim_err *e);

/* Note that key I of MAP does something (WHY is NULL) or nothing, and why. Keys
 * are told apart by their places, so that they are known again after a copy.
 * sim_yaml_read() notes those of fields with a condition. Errors SIM_ENOMEM. */
int sim_yaml_note(struct sim_yaml *y, const struct sim_yaml_node *map, size_t i,
    const char *why, struct sim_err *e);

/* Add a mistake for each key that never did anything. */
int sim_yaml_refuse_idle(struct sim_yaml *y);

/* What was noted of key I of MAP; NULL: nothing. */
struct sim_yaml_given *sim_yaml_noted(const struct sim_yaml *y,
    const struct sim_yaml_node *map, size_t i);

/* Add a mistake at NODE (NULL: the file as a whole). */
int sim_yaml_mistake(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* SIM_EINVAL with all mistakes, one a line as far as the message holds (then
 * "and N more"), or 0 when there is none. */
int sim_yaml_verdict(const struct sim_yaml *y, struct sim_err *e);

/* Replace, or create with the maps on the way, the node at PATH
 * ("traffic.packets", "faults.0.count": numbers index sequences) by a copy of
 * VALUE. A key that has dots is found where it stands, as that of
 * "sweep.grid.faults.count". Errors SIM_EINVAL when the path runs through a scalar, beyond the end
 * of a sequence, or has an empty part. */
int sim_yaml_put(struct sim_yaml *y, const char *path,
    const struct sim_yaml_node *value, struct sim_err *e);

/* The same with "path=flow YAML text", as --set takes it. Mistakes found later
 * in such a value have the place "--set". Errors those of sim_yaml_put() and of
 * sim_yaml_parse(), and SIM_EINVAL for mistakes in the value. */
int sim_yaml_set(struct sim_yaml *y, const char *assignment, struct sim_err *e);

/* Write NODE as one line of flow YAML into BUF; snprintf's return. */
int sim_yaml_format(const struct sim_yaml_node *node, char *buf, size_t size);

/* A new node without children; a scalar still needs its text. */
int sim_yaml_node_new(struct sim_yaml_node **out, enum sim_yaml_kind kind,
    unsigned line, unsigned col, struct sim_err *e);

/* Append CHILD to the list or map NODE, under KEY when it is a map. KEY (from
 * malloc) and CHILD are NODE's from then on, but not on failure. */
int sim_yaml_append(struct sim_yaml_node *node, char *key, unsigned line,
    unsigned col, struct sim_yaml_node *child, struct sim_err *e);

/* A deep copy, to be freed with sim_yaml_node_free. */
int sim_yaml_copy(struct sim_yaml_node **out, const struct sim_yaml_node *node,
    struct sim_err *e);
void sim_yaml_node_free(struct sim_yaml_node *node);

#endif
