/* experiments/spec/strict.h -- what a spec is given in vain.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A key that does nothing looks as if it did: results come out, and they are of
 * another question. So whatever is given must count at some point of the sweep.
 *
 *	--set, smoke   what the sweep varies, or a later --set replaces: mistakes
 *	sweep          an axis on which two places are equal: a mistake; a value
 *	               that it replaces and that its key could not have: likewise
 *	keys           that do nothing at any point: a mistake where they are
 *	               swept, come from --set or are of another `kind`; else a
 *	               warning, but of a smoke sweep, which is a part of one
 *
 * Tables of fields say when a key counts (sim_field.when), planes and fabrics
 * which keys they do not read (xp_idle_key), and a section counts where its
 * owner is.
 */
#ifndef EXPERIMENTS_SPEC_STRICT_H
#define EXPERIMENTS_SPEC_STRICT_H

#include "experiments/spec/spec.h"

/* Mistakes are added to S's tree in all of these; they return only SIM_ENOMEM,
 * and then E may be without a message. */

/* The N assignments of SET, against each other and the sweep's axes. */
int xp_strict_sets(struct xp_spec *s, const char *const set[], size_t n,
    struct sim_err *e);

/* The keys of SMOKE against the axes of the sweep that it has, or else that of
 * the spec. */
int xp_strict_smoke(struct sim_yaml *y, const struct sim_yaml_node *smoke,
    struct sim_err *e);

/* Are all places of an axis different? */
int xp_strict_axis(struct xp_spec *s, const struct xp_axis *a,
    struct sim_err *e);

/* Before any point is put: is what the sweep replaces a value of its key? At no
 * point it is read. Of keys with readers of their own, as of lists of faults or
 * algorithms, their fields alone. */
int xp_strict_base(struct xp_spec *s, struct sim_err *e);

/* Note what does nothing at the point that was just read into C. Errors
 * SIM_ENOMEM. */
int xp_strict_point(struct xp_spec *s, const struct xp_config *c,
    struct sim_err *e);

/* After all points: what did nothing at any. Warnings are added to S. */
int xp_strict_keys(struct xp_spec *s, const char *const set[], size_t n,
    struct sim_err *e);

#endif
