/* experiments/spec/spec.h -- one YAML file a figure: what to run and sweep.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	figure: vigil_fig05b
 *	title: ...
 *	paper: "007 (NSDI'18), Figure 5b"
 *	seed: 20180409
 *	runs: 100
 *	topology: { kind: clos, n_pods: 2, n_tors: 20, ... }
 *	traffic: { conns: 60, packets: {uniform: [1, 100]} }
 *	noise: { rate: {uniform: [0, 1e-6]} }
 *	latency: { report_over: 1000 }
 *	congestion: { racks: 0.1 }
 *	faults: { count: 1, rate: {uniform: [1e-4, 1e-2]} }
 *	plane: agents
 *	fabric: netns
 *	agents: { c_t: 1, icmp: { t_max: 100 } }
 *	algorithms: [vote, {name: alg1, label: "a", threshold: 0.01}]
 *	sweep: { grid: { faults.count: [2, 6, 10, 14] } }
 *	claims: [{metric: accuracy_fault, value: 0.96, text: "> 96 %"}]
 *	smoke: { runs: 3 }
 *
 * A section that is absent stands for its defaults, but for `faults`: without
 * it nothing fails. `faults` is one group or a list of groups, so {} is one
 * group of defaults and [] is none. Some planes need no `algorithms`: what they
 * find by themselves is of the trial.
 *
 * An algorithm may be a program, `{exec: "python3 mine.py"}`: it is started when
 * the spec is read, to describe itself; see experiments/plug/plug.h.
 *
 * Every combination of a sweep's `grid` is a point, with the last key fastest;
 * the keys of its `zip` vary together and make one axis, after those of the
 * grid. What `smoke` holds replaces the keys of that name, each as a whole.
 */
#ifndef EXPERIMENTS_SPEC_SPEC_H
#define EXPERIMENTS_SPEC_SPEC_H

#include <stdio.h>

#include "algos/algo.h"
#include "experiments/plug/plug.h"
#include "experiments/spec/section.h"
#include "models/scene/scene.h"
#include "results/cube.h"
#include "sim/err.h"
#include "sim/yaml.h"
#include "topo/region.h"
#include "topo/topo.h"

enum xp_topo_kind {
	XP_TOPO_CLOS,
	XP_TOPO_FAT_TREE,
	XP_TOPO_GRAPHML,
	XP_TOPO_REGION,
	XP_TOPO_LEAF_SPINE
};
struct xp_topology {
	uint32_t kind;         /* enum xp_topo_kind */
	struct topo_clos clos; /* also of each data centre of a region, and what
				  a leaf-spine is */
	struct topo_region_params region;
	uint32_t k, oversub; /* fat-tree */
	uint32_t n_leaves, n_spines;
	char file[512]; /* GraphML, relative to the spec's folder */
};

struct xp_algo {
	const struct algo_ops *ops;
	char label[64];
	void *params;      /* owned */
	struct plug *plug; /* from outside the tree; NULL: one of ours */
	uint8_t unable;    /* 1: reads what the point has not; not asked */
};

/* What becomes of an algorithm that cannot read what a point has. */
enum xp_unable { XP_UNABLE_REFUSE, XP_UNABLE_SKIP };

/* One point of a sweep, read and checked. Zeroed is empty. */
struct xp_config {
	uint32_t plane;  /* index of xp_planes[]: see xp_plane_of() */
	uint32_t fabric; /* likewise of xp_fabrics[] */
	uint32_t common;
	uint32_t unable; /* enum xp_unable */
	uint8_t unread;  /* `plane` or `unable` is not what the spec says, which
			    can't be read, but the default: no complaint about
			    what that can't do would be of use */
	char label[64];  /* of the point, for tables and figures */
	struct xp_topology topology;
	struct scene_params scene;      /* owns its groups */
	void *section[XP_MAX_SECTIONS]; /* by xp_section_at(); owned */
	/* What skipping flows costs more than looking at all of an epoch (see
	 * models/bulk/skip.h), times its flows; 0 where nobody may choose. LOOKS:
	 * it is faster to look at all, at this point or, where random numbers
	 * are common, at those of the spec together. */
	double skip_excess;
	uint8_t looks;
	double bytes; /* that a process takes for a run: see xp_plane_bytes() */

	unsigned needs; /* of all algorithms that are asked (enum obs_part) */
	size_t n_algos;
	struct xp_algo *algo; /* owned */
};

enum { XP_MAX_FABRICS = 8 };

/* One key of a sweep: a path and its values. */
struct xp_sweep_key {
	const char *path;                   /* borrowed from the tree */
	const struct sim_yaml_node *values; /* a list, owned by sweep[] */
};
struct xp_axis {
	size_t n; /* values */
	size_t n_keys;
	struct xp_sweep_key *key;
	uint8_t is_zip;
	/* Why its keys do nothing at some point; "" if they always do. */
	char idle[160];
};

struct xp_spec {
	char figure[64], title[256], paper[256];
	uint64_t seed;
	uint32_t runs;

	char *text; /* the file, byte for byte */
	size_t text_bytes;
	/* --smoke, each --set, and the hash of each GraphML file and of each
	 * program; one a line. */
	char *overrides;
	char *folder;           /* of the file, with a slash, or "" */
	struct plug_set *plugs; /* algorithms from outside, which points name;
				   NULL: none is started */
	uint8_t borrows_plugs;
	/* What was read: the file itself and each GraphML file. */
	char **input;
	size_t n_inputs, cap_inputs;
	struct sim_yaml yaml;
	struct sim_yaml_node *sweep; /* a copy, so that points can be put */
	size_t n_axes, n_points;
	struct xp_axis *axis;
	size_t n_along; /* rows of a trial, see experiments/spec/along.h */
	/* What its points take of each real fabric, by the order of
	 * xp_fabrics[]: see xp_fabrics_usable(). */
	unsigned takes[XP_MAX_FABRICS];
	/* What is odd and yet no mistake, "file:line:col: message" each. */
	char **warning;
	size_t n_warnings, cap_warnings;
	double skip_excess; /* of its points, where these have `common` */
	double bytes;       /* of the point that takes most */
	uint8_t is_smoke;
	uint8_t is_outside; /* some point has an algorithm from outside */
	uint8_t is_real;    /* some point is on one of these */
	double real_s;      /* that cells take there, as far as planes tell */
};

/* Read PATH, put SMOKE's keys and then the N assignments of SET, and check
 * everything at every point. All mistakes are in the message, one a line and
 * each once. What does nothing at any point is a mistake or a warning, see
 * experiments/spec/strict.h. S need not be initialised and may be freed either way.
 * Errors SIM_EIO, SIM_EPARSE, SIM_EINVAL, SIM_ENOMEM.
 * Cost opens the network and draws its faults once a point. */
int xp_spec_load(struct xp_spec *s, const char *path, int smoke,
    const char *const set[], size_t n, struct sim_err *e);
void xp_spec_free(struct xp_spec *s);

/* The same with a set of programs and plug-ins of the caller's, which outlives S:
 * relative names are looked for where that set does, and what it has described
 * is not started to do so again. */
int xp_spec_load_with(struct xp_spec *s, struct plug_set *plugs,
    const char *path, int smoke, const char *const set[], size_t n,
    struct sim_err *e);

/* The same for who runs no algorithm of it: programs and plug-ins that it names are
 * not started, nor checked, and can't be opened. */
int xp_spec_load_still(struct xp_spec *s, const char *path, int smoke,
    const char *const set[], size_t n, struct sim_err *e);

/* xp_spec_load_still() of TEXT, called NAME in messages; FOLDER, where GraphML files are
 * looked for, has its slash or is "". */
int xp_spec_load_text(struct xp_spec *s, const char *name, const char *text,
    const char *folder, int smoke, const char *const set[], size_t n,
    struct sim_err *e);

/* LINES of overrides, as a spec joins them, are cut into *N of SET, which has room
 * for MAX, and *SMOKE; that a GraphML file was read is none. Errors
 * SIM_EUNSUPPORTED, of a program or plug-in, since who looks at results does not
 * mean to start it; SIM_ELIMIT. */
int xp_spec_overrides(char *lines, const char *set[], size_t max, size_t *n,
    int *smoke, struct sim_err *e);

/* The spec that results C were made of, with its overrides; the rest as of the last.
 * Errors also SIM_EMISMATCH, of a GraphML file that is not what it was, and those of
 * xp_spec_overrides(). */
int xp_spec_load_again(struct xp_spec *s, const struct res_cube *c,
    const char *folder, struct sim_err *e);

/* Read one point's configuration into C, freeing what it held. All points have
 * the same algorithms' labels. Domain POINT < n_points. */
int xp_spec_point(struct xp_spec *s, size_t point, struct xp_config *c,
    struct sim_err *e);
void xp_config_free(struct xp_config *c);

/* The values of POINT in S's tree, where xp_spec_point() has put them before: for
 * who has another's configuration by now. Errors SIM_ENOMEM. */
int xp_spec_put_point(struct xp_spec *s, size_t point, struct sim_err *e);

/* The first point whose scenes and windows, run by run, are those of POINT where
 * random numbers are common: it differs in nothing but its label and parameters
 * of algorithms. Points of algorithms from outside are each their own, as such
 * are told of the network anew at each point. Cost O(axes). */
size_t xp_spec_drawing(const struct xp_spec *s, size_t point);

/* Set up an empty cube for the sweep: identity, axes (those of the sweep, then
 * those that a trial is read along), labels, claims. C need
 * not be initialised and is empty on failure. Errors those of res_cube_alloc()
 * and res_cube_check(). */
int xp_spec_cube(struct xp_spec *s, uint32_t shard_i, uint32_t shard_n,
    struct res_cube *c, struct sim_err *e);

/* *OUT, to be freed, is YAML of the point that was read last, alone: overrides
 * and its values in place, without what makes it a sweep. It is a spec of that
 * cell, but for algorithms that are not asked there, which stand in it and that a
 * spec of nothing else would refuse. Errors SIM_ENOMEM. */
int xp_spec_cell_text(const struct xp_spec *s, char **out, struct sim_err *e);

/* Is it one data centre, a Clos by its `clos`? */
static inline int xp_topology_is_clos(const struct xp_topology *x)
{
	return x->kind == XP_TOPO_CLOS || x->kind == XP_TOPO_LEAF_SPINE;
}

/* Open the network that a configuration names; FOLDER as in xp_spec. T may be
 * closed either way. */
int xp_topology_open(const struct xp_topology *x, const char *folder,
    struct topo *t, struct sim_err *e);

#endif
