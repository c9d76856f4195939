/* tests/rigs/scenes.h -- small scenes for tests of the data planes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_SCENES_H
#define TESTS_SCENES_H

#include "models/losses.h"
#include "models/obs.h"
#include "models/scene/scene.h"
#include "tests/test.h"

enum { SCENES_MAX_GROUPS = 24, SCENES_MAX_LINKS = 64 };

/* A topology with what a spec would say of it. */
struct scenes {
	struct topo topo;
	struct scene_params params;
	struct fault_params group[SCENES_MAX_GROUPS];
	topo_link link[SCENES_MAX_GROUPS][SCENES_MAX_LINKS];
	struct scene scene;
	struct losses lost; /* for whom has none of its own */
};

/* Start with defaults: 007's traffic and noise, no faults. MESH is taken. */
void scenes_open(struct scenes *s, const struct topo_clos *shape);
void scenes_open_mesh(struct scenes *s, struct topo_mesh *mesh);
void scenes_close(struct scenes *s);

struct sim_dist scenes_fixed(double x);
struct sim_dist scenes_uniform(double a, double b);

/* Another group of faults, with defaults. */
struct fault_params *scenes_add_group(struct scenes *s);

/* A group of COUNT faults on links of CLASS, of rates from LOW to HIGH. */
void scenes_add_class(struct scenes *s, enum topo_link_class class,
    uint32_t count, double low, double high);

/* Another group of one named link that drops at RATE. */
struct fault_params *scenes_add_fault(struct scenes *s, topo_link link,
    double rate);

/* Have flows be connections of TCP with all that there is of it. */
void scenes_use_tcp(struct scenes *s, uint32_t window);

/* Draw the scene of epoch RUN under the test's seed. */
struct scene *scenes_draw(struct scenes *s, uint32_t run);

/* Draw the faults of run RUN alone, under the test's seed, into TRUTH; or try
 * to, of run 0, and tell what came of it. */
void scenes_draw_faults(struct scenes *s, struct truth *truth, uint32_t run);
int scenes_draw_faults_fails(struct scenes *s, struct sim_err *e);

/* The node that a link leaves. */
topo_node scenes_node_left(const struct topo *t, topo_link l);

/* What a window and its losses say in all; link_drops[n_links] and
 * link_flows[n_links] are added to, and may be NULL. */
struct scenes_counts {
	uint64_t n_failed_flows, n_drops;
};
struct scenes_counts scenes_count(const struct obs *w,
    const struct losses *lost, uint64_t link_drops[], uint64_t link_flows[]);

/* Fail unless both windows hold the same rows, bit for bit. */
void scenes_assert_same(const struct obs *a, const struct losses *a_lost,
    const struct obs *b, const struct losses *b_lost);

/* Fail unless the window is one that a plane may give: rows fit the topology,
 * n_retx is the sum of the drops and is not 0 unless the window is complete;
 * with TCP, where each of the two is of its own, both are 0 only then. */
void scenes_assert_sound(const struct topo *t, const struct obs *w,
    const struct losses *lost);

#endif
