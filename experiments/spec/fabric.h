/* experiments/spec/fabric.h -- fabrics: what agents of a plane live on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	fabric: tun                        its options are those of `tun: {...}`
 *	fabric: { netns: { faults: nft } } put on top of those of `netns: {...}`
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
	const struct xp_idle_key *idle;   /* as of struct xp_plane */

	/* Adds a mistake to Y for whatever C asks of it that it
	 * can't do; may be NULL. */
	int (*check)(struct sim_yaml *y, const struct xp_config *c);

	/* Of a real fabric; else both are NULL. TAKES is what this machine
	 * must be able to do for C, as bits, so that those of several
	 * points can be joined. USABLE is whether it can. Errors
	 * SIM_EUNSUPPORTED, with the reason. */
	unsigned (*takes)(const struct xp_config *c);
	int (*usable)(unsigned takes, struct sim_err *e);

	/* Build the network (experiments/lab/wire.h); NULL: it is simulated.
	 * Its switches limit the ICMP messages that they send as ICMP says, or
	 * not at all if that is NULL. */
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

/* Read the value of the key `fabric` into C. Mistakes are added to Y. Returns
 * only SIM_ENOMEM. */
int xp_fabric_read(struct sim_yaml *y, struct xp_config *c, struct sim_err *e);

/* The options of section S, its own and those of the key `fabric`, in one map
 * that is to be freed; NULL if there are none. Errors SIM_ENOMEM. */
int xp_fabric_options(struct sim_yaml_node **out, const struct sim_yaml *y,
    const struct xp_section *s, struct sim_err *e);

/* Add a mistake to Y if C's plane asks for what its fabric does not have.
 * Returns as sim_yaml_mistake(). */
int xp_fabric_check(struct sim_yaml *y, const struct xp_config *c);

/* Can this process use each of the real fabrics for which TAKES[i] is not 0? I
 * counts as in xp_fabrics[]. Errors SIM_EUNSUPPORTED. */
int xp_fabrics_usable(const unsigned takes[], struct sim_err *e);

/* Flows of the real ones: "a flow that takes longer has failed". */
#define XP_FABRIC_TIMEOUT(at)                                                  \
	{                                                                      \
		"timeout", SIM_F_F64, (at),                                    \
		    .def = "10", .min = 0.1, .max = 3600, .unit = "s",         \
		    .doc = "a flow that takes longer has failed"               \
	}

#endif
