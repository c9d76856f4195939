/* experiments/spec/fabric.h -- fabrics: what agents of a plane live on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	fabric: tun                          its options are those of `tun: {...}`
 *	fabric: { netns: { faults: nft } }   these are put on top of `netns: {...}`
 *
 * A fabric is an object in a list (experiments/spec/fabric.c). It says what
 * planes may ask of it, so that what a plane asks in vain is refused when the
 * spec is read. One more real fabric costs a file with its `xp_fabric_NAME` and
 * its struct xp_wire_ops, and its name in XP_FABRICS below.
 */
#ifndef EXPERIMENTS_SPEC_FABRIC_H
#define EXPERIMENTS_SPEC_FABRIC_H

#include <stdio.h>

#include "experiments/spec/section.h"
#include "experiments/spec/spec.h"

struct fabric_sim_icmp_params;
struct xp_wire;

struct xp_fabric {
	const char *name, *doc; /* as in a spec; one line */

	/* What planes may ask of it (enum xp_asks). With GIVES it has only what
	 * that says of C; UNLESS is then what it takes to have the rest. */
	unsigned has;
	unsigned (*gives)(const struct xp_config *c);
	const char *unless;

	unsigned blind; /* sets of metrics that are not measured on it */
	const struct xp_section *section; /* of its own name; NULL: none */

	/* Adds what C asks of it in vain to Y; may be NULL. */
	int (*check)(struct sim_yaml *y, const struct xp_config *c);

	/* Of a real one; the others are NULL. What this machine must be able to
	 * do for C, as bits that may be joined; whether it can. Errors
	 * SIM_EUNSUPPORTED, with the reason. */
	unsigned (*takes)(const struct xp_config *c);
	int (*usable)(unsigned takes, struct sim_err *e);

	/* Build it (experiments/lab/wire.h); NULL: it is simulated. Switches
	 * limit ICMP messages as ICMP says; NULL: they don't. */
	int (*open)(struct xp_wire **w, const struct topo *t,
	    const struct xp_config *c,
	    const struct fabric_sim_icmp_params *icmp, struct sim_err *e);
};

/* All of them; the first is the default. */
#define XP_FABRICS(X)                                                          \
	X(sim)                                                                 \
	X(netns)                                                               \
	X(tun)

#define X(name) extern const struct xp_fabric xp_fabric_##name;
XP_FABRICS(X)
#undef X
extern const struct xp_fabric *const xp_fabrics[]; /* ends with NULL */
extern const char *const xp_fabric_names[];        /* likewise */

static inline const struct xp_fabric *xp_fabric_of(const struct xp_config *c)
{
	return xp_fabrics[c->fabric];
}

/* The key `fabric`: its value is read into C. Mistakes are added to Y. Returns
 * only SIM_ENOMEM. */
int xp_fabric_read(struct sim_yaml *y, struct xp_config *c, struct sim_err *e);

/* The options of section S, its own and those of the key `fabric`, in one map
 * that is to be freed; NULL if there are none. Errors SIM_ENOMEM. */
int xp_fabric_options(struct sim_yaml_node **out, const struct sim_yaml *y,
    const struct xp_section *s, struct sim_err *e);

/* Add to Y what C's plane asks of its fabric in vain. Returns as
 * sim_yaml_mistake(). */
int xp_fabric_check(struct sim_yaml *y, const struct xp_config *c);

/* One line a fabric. */
void xp_fabrics_help(FILE *out);

/* Can this process use each of the real fabrics for which TAKES is not 0? TAKES
 * is by the order of the list. Errors SIM_EUNSUPPORTED. */
int xp_fabrics_usable(const unsigned takes[], struct sim_err *e);

/* Flows of the real ones: "a flow that takes longer has failed". */
#define XP_FABRIC_TIMEOUT(at)                                                  \
	{                                                                      \
		"timeout", SIM_F_F64, (at),                                    \
		    .def = "10", .min = 0.1, .max = 3600, .unit = "s",         \
		    .doc = "a flow that takes longer has failed"               \
	}

#endif
