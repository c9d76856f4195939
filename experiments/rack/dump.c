/* experiments/rack/dump.c -- one cell of plane rack, as a file of samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/dump.h"

#include <stdlib.h>

#include "experiments/rack/world.h"
#include "experiments/sweep/trial.h"

struct rack_dump {
	struct xp_cell cell;
	const char *path;
	struct xp_rack_dumped *count;
};

/* --- what was true ---------------------------------------------------------*/

/* All that fails on this plane is links of hosts. */
static int rack_dump_faults(const struct scene *scene,
    struct res_true_faults *out, struct sim_err *e)
{
	const struct topo *t = scene->topo;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < scene->truth.n_faults; i++) {
		const struct truth_fault *f = &scene->truth.fault[i];
		topo_node from, to;
		topo_link_ends(t, f->link, &from, &to);
		const int is_out = from < t->n_hosts;
		const struct res_true_fault row = {.host = is_out ? from : to,
		    .out = (uint8_t)is_out,
		    .rate = f->rate,
		    .delay_us = f->delay_us,
		    .from_ns = f->from_ns,
		    .to_ns = f->to_ns};
		if (truth_is_fault(f))
			rc = res_true_faults_add(out, &row, e);
	}
	return rc;
}

static int rack_dump_losses(const struct rack_losses *lost,
    struct res_true_losses *out, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < lost->n; i++) {
		const struct rack_loss l = rack_losses_at(lost, i);
		const struct res_true_loss row = {.start_ns = l.start_ns,
		    .host = l.host,
		    .buffer = l.buffer,
		    .link_in = l.link_in,
		    .link_out = l.link_out,
		    .queue_max = l.queue_max};
		rc = res_true_losses_add(out, &row, e);
	}
	return rc;
}

static int rack_dump_truth(const struct rack_dump *d,
    struct res_samples_out *out, struct sim_err *e)
{
	struct xp_rack_world *w = xp_rack_world_of(d->cell.running);
	struct res_samples_truth t = {0};
	int rc = rack_dump_faults(d->cell.scene, &t.faults, e);
	if (rc == 0)
		rc = rack_dump_losses(&w->lost, &t.losses, e);
	d->count->n_faults = t.faults.n;
	/* They stay the world's. */
	t.bursts = w->bursts;
	if (rc == 0)
		rc = res_samples_add_truth(out, &t, e);
	t.bursts = (struct res_true_bursts){0};
	res_samples_truth_free(&t);
	return rc;
}

/* --- the file --------------------------------------------------------------*/

static int rack_dump_hosts(const struct topo *t, struct res_samples_out *out,
    struct sim_err *e)
{
	struct res_hosts hosts = {0};
	int rc = 0;
	for (uint32_t h = 0; rc == 0 && h < t->n_hosts; h++) {
		struct res_host row = {.host = h, .rack = topo_tor_of(t, h)};
		topo_node_name(t, h, row.name.text);
		rc = res_hosts_add(&hosts, &row, e);
	}
	if (rc == 0)
		rc = res_samples_add_hosts(out, &hosts, e);
	res_hosts_free(&hosts);
	return rc;
}

static int rack_dump_write(const struct rack_dump *d,
    const struct res_samples_info *info, const struct obs *seen,
    struct sim_err *e)
{
	struct res_samples_out *out = NULL;
	int rc = res_samples_create(&out, d->path, info, e);
	if (rc == 0)
		rc = rack_dump_hosts(d->cell.topo, out, e);
	if (rc == 0)
		rc = res_samples_add(out, seen->runs, seen->samples, e);
	if (rc == 0)
		rc = rack_dump_truth(d, out, e);
	if (rc < 0) {
		res_samples_discard(out);
		return rc;
	}
	return res_samples_finish(out, e);
}

/* The window is the plane's for the length of this call, so all is written
 * here. */
static int rack_dump_window(void *arg, const struct xp_window *w,
    struct sim_err *e)
{
	struct rack_dump *d = arg;
	const struct xp_cell *c = &d->cell;
	const struct xp_rack_world *world = xp_rack_world_of(c->running);
	char *spec = NULL;
	int rc = xp_spec_cell_text(c->spec, &spec, e);
	const struct res_samples_info info = {.spec = spec,
	    .seed = c->where.seed,
	    .point = (uint32_t)c->point,
	    .trial = c->where.run,
	    .n_hosts = c->topo->n_hosts};
	*d->count = (struct xp_rack_dumped){.n_racks = world->n_racks,
	    .n_hosts = c->topo->n_hosts,
	    .n_runs = world->runs.n,
	    .n_samples = world->samples.n,
	    .n_bursts = world->bursts.n,
	    .buffer = world->buffer,
	    .link = world->link_in + world->link_out};
	if (rc == 0)
		rc = rack_dump_write(d, &info, w->seen, e);
	free(spec);
	return rc;
}

static int rack_dump_begin(void *arg, const struct xp_cell *cell,
    struct sim_err *e)
{
	struct rack_dump *d = arg;
	d->cell = *cell;
	if (cell->plane != &xp_plane_rack)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "hosts of plane %s do not count in buckets; those of plane "
		    "rack do.",
		    cell->plane->name);
	xp_rack_world_of(cell->running)->keep = 1;
	return 0;
}

int xp_rack_dump(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_rack_dumped *out, struct sim_err *e)
{
	struct rack_dump d = {.path = path, .count = out};
	const struct xp_audience to = {&d, rack_dump_begin, rack_dump_window};
	*out = (struct xp_rack_dumped){0};
	return xp_trial_show_one(s, point, run, &to, e);
}
