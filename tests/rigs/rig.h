/* tests/rigs/rig.h -- a simulated fabric that a test drives by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include "models/sim/sim.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"

struct rig {
	struct scenes s;
	struct scene *scene;
	struct fabric_sim_params params;
	struct fabric_sim *sim;
	struct fabric *f;
};

/* The last event that rig_next() took. */
struct rig_event {
	struct agent_event ev;
	topo_host host;
	sim_ns at;
};

/* Two pods of 4 ToRs of 3 hosts, 3 T1s, 2 T2s; without noise, faults, limits
 * on ICMP. */
void rig_open(struct rig *g);
void rig_close(struct rig *g);

/* Draw the scene; what is to be in its truth beside faults is added then, that
 * of hosts before rig_begin(). */
void rig_draw(struct rig *g);
void rig_begin(struct rig *g);
void rig_draw_and_begin(struct rig *g);

void rig_add_hole(struct rig *g, topo_switch at, enum blackhole_rule_type type,
    double share, sim_ns from, sim_ns to);
void rig_add_outage(struct rig *g, const struct truth_outage *o);

/* A fault of a link, maybe one that delays. */
void rig_add_fault(struct rig *g, const struct truth_fault *f);

/* The next event, up to UNTIL; 0: none. */
int rig_next(struct rig *g, sim_ns until, struct rig_event *out);

/* Let time pass, in which nothing happens. */
void rig_wait(struct rig *g, sim_ns until);

sim_ns rig_now(const struct rig *g);
void rig_act(struct rig *g, topo_host host, const struct agent_action *a);

/* A connect from port PORT to port 8765. */
struct topo_tuple rig_tuple(topo_host src, topo_host dst, uint16_t port);
void rig_connect(struct rig *g, const struct topo_tuple *t, uint32_t n_bytes,
    uint64_t token);

/* Connect with a payload and go on until the peer's agent is asked, which OUT
 * is then; 0: OUT is what came instead. The answer to what it was asked. */
int rig_until_asked(struct rig *g, const struct topo_tuple *t, uint32_t n_bytes,
    struct rig_event *out);
void rig_answer(struct rig *g, topo_host host, uint64_t token,
    uint32_t n_bytes);

#endif
