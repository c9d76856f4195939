/* models/fault/draw.h -- what the files that draw a group of faults share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_FAULT_DRAW_H
#define MODELS_FAULT_DRAW_H

#include "models/fault/fault.h"

/* One group as it is drawn: see fault_draw(), which makes this and sorts
 * the truth after. Not copyable. */
struct fault_draw {
	const struct topo *topo;
	const struct fault_params *group;
	struct truth *truth;
	struct sim_rng place, rate; /* of links and of switches that drop */
	struct sim_rng hole;  /* places, shares and salts of black holes */
	struct sim_rng route; /* destinations, neighbours, salts */
	const struct sim_seed *where;
	struct sim_rng outage; /* when each place begins; hosts, pods, delays of
				  services */
};

struct fault_span {
	sim_ns from_ns, to_ns;
};

/* When the next place fails. */
struct fault_span fault_span(struct fault_draw *d);

/* Add a fault of the group's kind (DROP, LATENCY or ECN) on LINK, its rate (in
 * RANGE) or delay at the quantile U. */
int fault_add(struct fault_draw *d, const struct sim_dist *range,
    topo_link link, double u, const struct fault_span *when, struct sim_err *e);

/* In link.c: links, at random or named. */
int fault_draw_links(struct fault_draw *d, struct sim_err *e);

/* In switch.c: switches, at random or named, with their links. */
int fault_draw_switches(struct fault_draw *d, struct sim_err *e);

/* The group's switches: N of them in `list`. After i calls of
 * fault_switches_next() the first i are the switches that it returned; the
 * group's names come in their order. */
struct fault_switches {
	uint32_t n, n_taken;
	topo_switch *list;
};

/* List the switches that may fail, or those that are named. Free with
 * fault_switches_free(), which may be called on a zeroed one.
 * Errors SIM_EINVAL, SIM_ELIMIT, SIM_ENOMEM. */
int fault_switches_open(struct fault_switches *s, const struct fault_draw *d,
    struct sim_err *e);
void fault_switches_free(struct fault_switches *s);

/* One more switch that fails: the next that is named, or one drawn by R. */
topo_switch fault_switches_next(struct fault_switches *s,
    const struct fault_params *g, struct sim_rng *r);

/* In hole.c: black holes. */
int fault_draw_holes(struct fault_draw *d, struct sim_err *e);

/* In route.c: switches that choose next hops badly. */
int fault_draw_routes(struct fault_draw *d, struct sim_err *e);

/* In outage.c. */
int fault_draw_hosts(struct fault_draw *d, struct sim_err *e);
int fault_draw_sessions(struct fault_draw *d, struct sim_err *e);
int fault_draw_pods(struct fault_draw *d, struct sim_err *e);
int fault_draw_services(struct fault_draw *d, struct sim_err *e);

#endif
