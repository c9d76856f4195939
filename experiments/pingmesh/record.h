/* experiments/pingmesh/record.h -- one cell of plane pingmesh, as a recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_RECORD_H
#define EXPERIMENTS_PINGMESH_RECORD_H

#include "experiments/pingmesh/collector.h"
#include "experiments/spec/spec.h"
#include "models/scene/scene.h"

/* A cell's network and what happens in it. Zeroed is empty. */
struct xp_record_scene {
	struct xp_config config;
	struct topo topo;
	struct scene scene;
};

/* Cell (POINT, RUN) of S, as a run of it has it. C must be freed also when this
 * fails. Errors those of the spec, SIM_ENOMEM. */
int xp_record_draw(struct xp_record_scene *c, struct xp_spec *s, size_t point,
    uint32_t run, struct sim_err *e);
void xp_record_free(struct xp_record_scene *c);

/* How much was written. */
struct xp_recorded {
	uint64_t n_probes, n_vip_probes, n_counters; /* rows */
	struct xp_collect_counts count;
};

/* Live through cell (POINT, RUN) of S and write what the collector got to the
 * recording PATH (results/recording.h): window by window, and in each by data
 * centre, the rows that were there when the window's jobs ran. Repairs happen
 * as they do in a run. Times at which the collector was down are marked as not
 * covered, even if rows of them came later. A file at PATH is replaced when all
 * is written. Errors SIM_EUNSUPPORTED (another plane), those of the plane and
 * of the recorder; PATH is then as it was. */
int xp_record_cell(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_recorded *out, struct sim_err *e);

#endif
