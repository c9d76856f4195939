/* models/fault.h -- which links fail, how badly, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_FAULT_H
#define MODELS_FAULT_H

#include "models/truth.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "topo/topo.h"

/* How random places are drawn: a class of `classes` first and then one of its
 * links; one of all links alike; or as 007's released simulator does, see
 * model_fault_draw(). */
enum model_fault_pick { MODEL_PICK_CLASS, MODEL_PICK_LINK, MODEL_PICK_MATLAB };

enum model_fault_kind { MODEL_FAULT_DROP, MODEL_FAULT_LATENCY };

/* One group of faults, as in a spec. */
struct model_fault_params {
	uint32_t kind;        /* enum model_fault_kind: what rate or delay is */
	uint32_t count;       /* random places; ignored when links are named */
	uint32_t classes;     /* bit mask over enum topo_link_class */
	uint32_t pick;        /* enum model_fault_pick */
	double same_switch;   /* see model_fault_draw() */
	uint32_t switches;    /* random switches that fail, in place of links */
	uint32_t tiers;       /* bit mask over enum model_tier */
	double share;         /* chance that a link of a failed switch fails */
	struct sim_dist rate; /* per packet, drawn per link */
	struct sim_dist delay; /* of each packet, us, drawn per link */
	double from_s, to_s;   /* when; to_s = 0: to the end */
	size_t n_links;
	topo_link *links; /* named places; owned by the spec */
};
extern const struct sim_field model_fault_fields[];

/* Draw the places and rates of N groups into TRUTH (sorted). A random place is
 * a link that no earlier place took, of any group. Named links are distinct
 * within their group; one named in two groups has two faults, and loses to both
 * while both are active. With probability `same_switch` a random place is
 * another link out of the switch of the place before it, if one is left there
 * (DEPARTS: 007's released code adds such links beyond `count`; here `count`
 * is the number of failed links, as the paper's axis says).
 * With pick MATLAB, of a Clos only: a class of `classes` alike, a switch (or
 * host) at which no link of that class was picked before, one of its links of
 * that class; with probability `same_switch` one more of them fails, beyond
 * `count`. When every switch has had its turn, any free link will do. The rate
 * of a t1-tor link is drawn from a range that begins at a tenth of `rate`'s.
 * With `switches` above 0 no links are picked but that many switches of
 * `tiers`, and every link out of one and into it fails with probability
 * `share`, those of its hosts too; a link between two of them is drawn once. A
 * switch without a failed link did not fail.
 * A mesh that is no region has only the classes host-tor, tor-host and fabric:
 * there the classes of a Clos between switches stand for fabric.
 * Errors SIM_ELIMIT when more places are asked for than the classes have
 * links or the tiers switches, SIM_EINVAL for a link outside the topology or named twice in a group,
 * or to_s before from_s; SIM_EUNSUPPORTED for pick MATLAB in a mesh.
 * Cost O(faults^2), times the logarithm when nearly all links fail.
 * Paper 007 (NSDI'18) §6; same-switch rule from its released code. */
int model_fault_draw(const struct topo *t,
    const struct model_fault_params *group, size_t n,
    const struct sim_seed *where, struct truth *truth, struct sim_err *e);

#endif
