/* experiments/pingmesh/bulk/record.h -- one cell in bulk, as tables of its jobs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_RECORD_H
#define EXPERIMENTS_PINGMESH_BULK_RECORD_H

#include "experiments/spec/spec.h"

/* How much was written. */
struct xp_bulk_recorded {
	uint64_t n_windows, n_probes, n_late; /* late: or failed */
	uint64_t n_rows;                      /* of all tables */
};

/* 1 if cell POINT of S is of plane pingmesh_bulk, else 0. Errors those of
 * xp_spec_point(). */
int xp_bulk_record_fits(struct xp_spec *s, size_t point, struct sim_err *e);

/* Draw cell (POINT, RUN) of S window by window, and write what its jobs find to
 * PATH, as `culprit jobs` does of a recording (dsa/dsa.h): of all jobs. A file
 * at PATH is replaced when all is written. Errors SIM_EUNSUPPORTED (a spec that
 * repairs: here nothing is done of what jobs say), those of day.h and of xp_dsa_out_open(); PATH is then as it
 * was. */
int xp_bulk_record_cell(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_bulk_recorded *out, struct sim_err *e);

#endif
