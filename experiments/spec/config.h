/* experiments/spec/config.h -- one point of a spec: tree in, structs out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SPEC_CONFIG_H
#define EXPERIMENTS_SPEC_CONFIG_H

#include "experiments/spec/spec.h"

extern const struct sim_field xp_head_fields[]; /* of struct xp_spec */
extern const struct sim_field xp_run_fields[];  /* of struct xp_config */
extern const struct sim_field xp_topology_fields[];
extern const struct sim_part xp_topology_parts[]; /* of struct xp_topology */
extern const struct sim_field xp_claim_fields[];  /* of one of `claims` */

/* Keys of the root that are read by xp_config_read() beside xp_run_fields;
 * NULL-terminated. */
extern const char *const xp_sections[];

/* Read the section `topology`; mistakes are added to Y. Returns only
 * SIM_ENOMEM. */
int xp_topology_read(struct sim_yaml *y, struct xp_topology *x,
    struct sim_err *e);

/* Where the GraphML file of X lies; to be freed. */
int xp_topology_path(char **out, const struct xp_topology *x,
    const char *folder, struct sim_err *e);

/* Add to Y, at NAMED or the one of its words that is meant, if any of CLASSES has
 * no link in T: a spec that was written for another network would be about other
 * links than it says, or none. Returns as sim_yaml_mistake(). */
int xp_classes_check(struct sim_yaml *y, const struct sim_yaml_node *named,
    const struct topo *t, uint32_t classes);

/* The section `noise`; otherwise as below. */
int xp_noise_read(struct sim_yaml *y, const struct topo *t,
    struct scene_noise_params *p, struct sim_err *e);

/* The section `faults`: one group, or a list of groups; none when it is absent.
 * T is NULL when there is no network to have places. Mistakes are added to Y;
 * returns only SIM_ENOMEM. */
int xp_faults_read(struct sim_yaml *y, const struct topo *t,
    struct scene_params *s, struct sim_err *e);
void xp_faults_free(struct scene_params *s);

/* Read an algorithm, `vote` or `{name: alg1, label: ..., <parameter>: ...}`, or
 * with `exec` in place of `name` one from outside, the NUMBER-th of its list,
 * into A, which is zeroed; its params are to be freed. Without PLUGS, NULL, those
 * from outside are plug_none. Mistakes are added to Y;
 * returns only SIM_ENOMEM. */
int xp_algo_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct plug_set *plugs, size_t number, struct xp_algo *a,
    struct sim_err *e);

/* Free N algorithms and their list. */
void xp_algos_free(struct xp_algo *algo, size_t n);

/* If RC is an error, add the message of WHY to Y as a mistake at NODE and
 * return as sim_yaml_mistake(). Memory that ran out is no mistake of the spec:
 * then E gets the message, and RC is returned. */
int xp_take_mistake(struct sim_yaml *y, const struct sim_yaml_node *node,
    int rc, const struct sim_err *why, struct sim_err *e);

/* Read the tree as it stands into C, freeing what C held. Keys of the root that
 * are nobody's are left to the caller. Mistakes are added to Y, each at its
 * place; returns only SIM_ENOMEM, and then E may be without a message. Cost:
 * opens the topology and draws its faults. */
int xp_config_read(struct sim_yaml *y, const char *folder,
    struct plug_set *plugs, struct xp_config *c, struct sim_err *e);

/* In origin.c: what results depend on beside the spec's text, as lines of
 * S->overrides. They are part of the identity of results, res_cube_key(): a
 * sweep goes on only with results that had the same ones in the same order. */
int xp_note_override(struct xp_spec *s, const char *text, struct sim_err *e);
/* Nothing may be written over what was read. */
int xp_note_input(struct xp_spec *s, const char *path, struct sim_err *e);
/* The hashes of the files and programs that a point names. */
int xp_note_origin(struct xp_spec *s, const struct xp_config *c,
    struct sim_err *e);

/* In drawing.c: decide C->looks, when all points of S have been read once. */
void xp_bulk_choose(const struct xp_spec *s, struct xp_config *c);

/* In spec_cube.c: check the claims and, with a cube, put them there. */
int xp_spec_claims(struct xp_spec *s, struct res_cube *c, struct sim_err *e);

#endif
