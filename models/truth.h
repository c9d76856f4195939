/* models/truth.h -- what was really broken; algorithms can't see it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Drawn with a scene, before anything runs; while it runs, only a repair ends
 * what is broken. What was lost by it is in models/losses.h.
 */
#ifndef MODELS_TRUTH_H
#define MODELS_TRUTH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "models/burst.h"
#include "models/route_rule.h"
#include "sim/err.h"
#include "sim/time.h"
#include "topo/ids.h"

struct topo;

/* What a slow link adds to a packet's time, with mean M: always M; an
 * exponential time; exp of a normal of standard deviation SHAPE; or what an
 * M/M/1 queue of load SHAPE makes it wait: nothing with probability 1 - SHAPE,
 * else an exponential time of mean M / SHAPE. BURST: what its queue is at the
 * time, which is no draw. */
enum truth_law {
	TRUTH_CONSTANT,
	TRUTH_EXPONENTIAL,
	TRUTH_LOGNORMAL,
	TRUTH_LOAD,
	TRUTH_BURST
};

/* A link that drops packets at RATE in [0, 1] while from_ns <= t < to_ns; or
 * one that delays each packet by delay_us on average meanwhile, and drops no
 * more than others. With of_hole it is a link into a switch with a black hole:
 * the hole does the dropping, and this entry only says that the link is faulty,
 * RATE being the share of keys that are lost there. With of_route a switch
 * chooses it wrongly, or among others, and it does nothing wrong itself. */
struct truth_fault {
	topo_link link;
	uint8_t of_hole, of_route;
	double rate;
	double hazard; /* -log(1 - rate); truth_add_fault() sets it */
	sim_ns from_ns, to_ns;
	double delay_us, shape;
	enum truth_law law;
	uint32_t burst; /* of law BURST: index into the truth's bursts */
};

/* 1 unless the fault does nothing. */
static inline int truth_is_fault(const struct truth_fault *f)
{
	return f->rate > 0 || f->delay_us > 0 || f->of_route;
}

/* 1 if the fault only says that the link is faulty, as something else does what
 * goes wrong there. */
static inline int truth_is_mark(const struct truth_fault *f)
{
	return f->of_hole || f->of_route;
}

/* 1 if the fault makes packets late, 0 if it loses them. The law must be asked
 * too: a queue with a load of 0 delays nothing and is a slow link
 * nevertheless. */
static inline int truth_is_slow(const struct truth_fault *f)
{
	return f->delay_us > 0 || f->law != TRUTH_CONSTANT;
}

/* A switch that drops every packet its rule takes while from_ns <= t < to_ns.
 * The packet is lost on the link into the switch, all of which have faults with
 * of_hole beside this. */
struct truth_hole {
	topo_switch at;
	struct blackhole_rule rule;
	sim_ns from_ns, to_ns;
};

/* A switch that chooses by a rule of its own while from_ns <= t < to_ns. The
 * links out of it that this is about have faults with of_route beside it. */
struct truth_route {
	topo_switch at;
	struct route_rule rule;
	sim_ns from_ns, to_ns;
};

/* What is off or behaves badly while from_ns <= t < to_ns. A host that is off
 * runs no agent and sends nothing; its cable and those of a pod without power
 * have faults of rate 1 beside this. Controller and collector are one service
 * each, however many replicas stand behind it. */
enum truth_outage_kind {
	TRUTH_HOST_OFF,   /* id: host */
	TRUTH_POD_OFF,    /* id: pod; its hosts have outages of their own */
	TRUTH_CONTROLLER, /* mode, delay_us; id: 0 */
	TRUTH_COLLECTOR,  /* mode (none of EMPTY, GARBAGE), delay_us; id: 0 */
	TRUTH_MUX_LOOP,   /* id: host that sends back what a mux sent it; the
			     link out of it has a fault with of_route */
	TRUTH_STORM,    /* id: host whose NIC sends pause frames without end */
	TRUTH_BGP_FLAP, /* id: cable between switches whose session flaps */
	TRUTH_N_OUTAGES
};
enum truth_outage_mode {
	TRUTH_DOWN,    /* does not answer */
	TRUTH_SLOW,    /* answers after delay_us more */
	TRUTH_EMPTY,   /* has no document */
	TRUTH_GARBAGE, /* sends what is no document */
};
struct truth_outage {
	enum truth_outage_kind kind;
	enum truth_outage_mode mode;
	uint32_t id;
	sim_ns from_ns, to_ns;
	double delay_us;
};

/* A link that fails because its switch does. */
struct truth_part {
	topo_link link;
	topo_switch of;
};

/* Zeroed is empty. */
struct truth {
	size_t n_faults, cap_faults;
	struct truth_fault *fault; /* ascending by link, then from_ns */

	size_t n_holes, cap_holes;
	struct truth_hole *hole; /* ascending by switch, then from_ns */

	size_t n_routes, cap_routes;
	struct truth_route *route; /* ascending by switch, then from_ns */

	size_t n_bursts, cap_bursts;
	struct burst *burst; /* in the order of drawing */

	size_t n_outages, cap_outages;
	struct truth_outage *outage; /* by kind, id, then from_ns */

	/* Switches that failed, each once, and the links they failed on. */
	size_t n_switches, cap_switches;
	topo_switch *failed_switch;
	size_t n_parts, cap_parts;
	struct truth_part *part; /* ascending by link */
};

void truth_clear(struct truth *t);
void truth_free(struct truth *t);
int truth_add_fault(struct truth *t, const struct truth_fault *f,
    struct sim_err *e);
int truth_add_hole(struct truth *t, const struct truth_hole *h,
    struct sim_err *e);
int truth_add_route(struct truth *t, const struct truth_route *r,
    struct sim_err *e);
int truth_add_outage(struct truth *t, const struct truth_outage *o,
    struct sim_err *e);

/* Add queue B to link LINK, as a fault of law BURST. */
int truth_add_burst(struct truth *t, topo_link link, const struct burst *b,
    sim_ns from_ns, sim_ns to_ns, struct sim_err *e);

/* LINK fails as a link of switch OF. */
int truth_add_part(struct truth *t, topo_link link, topo_switch of,
    struct sim_err *e);

/* Put the faults, holes, routes, outages and parts in their order. */
void truth_sort(struct truth *t);

/* 1 if LINK has a fault that does anything. Cost O(log n); needs the order. */
int truth_is_faulty(const struct truth *t, topo_link link);

/* How many links have one, however many faults each has. Cost O(n log n); needs
 * the order. */
size_t truth_n_faulty(const struct truth *t);

/* The index of the first fault of LINK, whose others follow; if it has none,
 * where it would stand. Cost O(log faults), O(1) when GUESS, any number, is
 * right; needs the order. */
size_t truth_first_fault(const struct truth *t, topo_link link, size_t guess);

/* The index of the first hole of switch S, whose others follow, or n_holes.
 * Cost O(log holes), O(1) when there is none; needs the order. */
size_t truth_first_hole(const struct truth *t, topo_switch s);

/* 1 if a hole of switch S takes TUPLE at time AT. Cost O(log holes + those of
 * S), O(1) when there is none; needs the order. */
int truth_swallows(const struct truth *t, topo_switch s,
    const struct topo_tuple *tuple, sim_ns at);

/* Let the rules of switch S that are active AT and take TUPLE change C. Cost
 * O(log routes + those of S), O(1) when there is none; needs the order. */
void truth_choose(const struct truth *t, topo_switch s,
    const struct topo_tuple *tuple, sim_ns at, struct route_choice *c);

/* 1 if a queue of the link whose faults begin at FIRST, which truth_first_fault()
 * gives, marks packets at time AT. Cost O(those of the link). */
int truth_is_marked(const struct truth *t, size_t first, topo_link link,
    sim_ns at);

/* The outage of that kind and id that is active AT and began first, or NULL.
 * Cost O(log outages + those of the id); needs the order. */
const struct truth_outage *truth_outage_at(const struct truth *t,
    enum truth_outage_kind kind, uint32_t id, sim_ns at);

/* 1 if a host is off at any time. Cost O(1); needs the order. */
static inline int truth_has_host_off(const struct truth *t)
{
	return t->n_outages > 0 && t->outage[0].kind <= TRUTH_POD_OFF;
}

/* 1 if switch S failed. Cost O(failed switches). */
int truth_is_failed_switch(const struct truth *t, topo_switch s);

/* The failed switch that LINK failed with, or TOPO_NONE. When both its ends
 * failed this is LIKE if it is one of them, else the smaller id. Cost O(log n);
 * needs the order. */
topo_switch truth_switch_of(const struct truth *t, topo_link link,
    topo_switch like);

/* Print a line for each fault, hole, route and outage, but for those that another
 * line implies: a hole or a route stands for the faults of its links, a host that
 * is off for those of its cable, and a pod that is off for its hosts. Of each sort the
 * first 50 are printed, and how many more there are. Needs the order. */
void truth_print(const struct truth *truth, const struct topo *t, FILE *out);

#endif
