/* tests/rigs/telemetry_rig.h -- epochs of flows as sums, on a fat-tree.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_TELEMETRY_RIG_H
#define TESTS_TELEMETRY_RIG_H

#include "algos/algo.h"
#include "models/telemetry/telemetry.h"

struct telemetry_rig {
	struct topo topo;
	struct scene_params params;
	struct scene scene;
	struct telemetry t;
	struct obs w;
	struct losses lost;
	struct telemetry_params p; /* defaults, 400 flows a host */
};

/* A fat-tree of switches with K ports, each link of which loses NOISE. RUN names
 * its draws. Everything that fails fails the test. */
void telemetry_rig_open(struct telemetry_rig *x, uint32_t k, double noise,
    unsigned kinds, uint32_t run);
void telemetry_rig_close(struct telemetry_rig *x);

/* LINK loses RATE from now on. */
void telemetry_rig_fail(struct telemetry_rig *x, topo_link link, double rate);

/* N of all links, which R draws, lose RATE from now on; returns the last one. */
topo_link telemetry_rig_fail_any(struct telemetry_rig *x, struct sim_rng *r,
    unsigned n, double rate);

/* The sum of hazards, by link, that a packet of row I meets on PATH. */
double telemetry_rig_way(const struct obs_tallies *t, size_t i, uint32_t path,
    const double hazard[]);

/* Draw an epoch, and check that it could come from outside. */
void telemetry_rig_draw(struct telemetry_rig *x);

/* Of rows that were drawn for int those, and that of them, which KINDS would show,
 * of flows. */
void telemetry_rig_see(struct telemetry_rig *x, unsigned kinds);

/* Draw one of rig X and forget it, for test_each_alloc_fails(). */
int telemetry_rig_draw_once(void *x, struct sim_err *e);

/* What an algorithm by its defaults says of the window. */
void telemetry_rig_ask(const struct telemetry_rig *x, const struct algo_ops *a,
    struct algo_verdicts *out);

/* The same with each allocation failing once (tests/test.h). */
void telemetry_rig_no_memory(const struct telemetry_rig *x,
    const struct algo_ops *a);

#endif
