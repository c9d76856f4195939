/* experiments/pingmesh/bulk/record.c -- one cell in bulk, as tables of its jobs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/record.h"

#include <stdlib.h>

#include "experiments/pingmesh/bulk/day.h"
#include "experiments/pingmesh/dsa/out.h"
#include "experiments/pingmesh/record.h"
#include "experiments/spec/plane.h"
#include "results/provenance.h"
#include "sim/vec.h"

int xp_bulk_record_fits(struct xp_spec *s, size_t point, struct sim_err *e)
{
	struct xp_config c = {0};
	const int rc = xp_spec_point(s, point, &c, e);
	const int fits = rc == 0 && xp_plane_of(&c) == &xp_plane_pingmesh_bulk;
	xp_config_free(&c);
	return rc < 0 ? rc : fits;
}

static int bulk_record_open(struct xp_dsa_out **out, const struct xp_spec *s,
    const struct xp_mesh_day *d, const char *path, struct sim_err *e)
{
	struct xp_dsa_head head = {0};
	char *spec = NULL;
	int rc = xp_spec_cell_text(s, &spec, e);
	const struct xp_dsa_source source = {.recording = s->figure,
	    .recorded_by = res_version(),
	    .spec = spec,
	    .window_ns = d->sums.window_ns,
	    .jobs = d->jobs.jobs,
	    .services = &d->services,
	    .to_ns = SIM_NEVER};
	if (rc == 0)
		rc = xp_dsa_head_make(&head, &source, e);
	if (rc == 0)
		rc = xp_dsa_out_open(out, path, &head, e);
	xp_dsa_head_free(&head);
	free(spec);
	return rc;
}

static void bulk_record_count(const struct xp_dsa_tables *t,
    struct xp_bulk_recorded *n)
{
	n->n_windows++;
	n->n_probes += t->summary.row[0].n_probes;
#define X(table, columns) n->n_rows += t->table.n;
	XP_DSA_TABLES(X)
#undef X
}

static int bulk_record_windows(struct xp_mesh_day *d, uint32_t n_windows,
    struct xp_dsa_out *to, struct xp_bulk_recorded *n, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t w = 0; rc == 0 && w < n_windows; w++) {
		rc = xp_mesh_day_window(d, w, e);
		if (rc == 0)
			rc = xp_dsa_out_add(to, &d->tables, e);
		if (rc == 0)
			bulk_record_count(&d->tables, n);
	}
	n->n_late = d->n_rows;
	return rc;
}

int xp_bulk_record_cell(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_bulk_recorded *out, struct sim_err *e)
{
	struct xp_record_scene c = {.config = {0}};
	struct xp_mesh_day *d = NULL;
	struct xp_dsa_out *to = NULL;
	int rc = xp_record_draw(&c, s, point, run, e);
	*out = (struct xp_bulk_recorded){0};
	const struct xp_pingmesh *p =
	    rc == 0 ? xp_pingmesh_of(&c.config) : NULL;
	if (rc == 0 && p->repair.on)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "repair.on: tables of probes in bulk are those of a "
		    "network that nobody repairs; use plane pingmesh, or leave "
		    "it out.");
	if (rc == 0)
		rc = SIM_ZALLOC(&d, 1, e);
	if (rc == 0)
		rc = xp_mesh_day_open(d, &c.topo, p, &c.scene, e);
	if (rc == 0)
		rc = bulk_record_open(&to, s, d, path, e);
	if (rc == 0)
		rc = bulk_record_windows(d, xp_pingmesh_n_windows(p), to, out,
		    e);
	if (rc == 0) {
		rc = xp_dsa_out_finish(to, e);
		to = NULL;
	}
	xp_dsa_out_discard(to);
	if (d)
		xp_mesh_day_close(d);
	free(d);
	xp_record_free(&c);
	return rc;
}
