/* experiments/epoch/dump.c -- one cell of a plane of flows, as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two tell of an epoch: its window, which algorithms are shown, and the plane,
 * which knows each flow as it was. A row of the file is one of the plane's. If
 * the window has it, it is written as seen there.
 */
#include "experiments/epoch/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "experiments/sweep/trial.h"
#include "results/epoch.h"

struct dump {
	struct xp_cell cell;
	const char *path;
	int want_all;
	struct res_epoch_out *out;
	struct xp_dumped *count;
	int told; /* a window was */

	/* The window, and how many of its flows the plane has told so far: it
	 * is a part of the plane's flows, in the same order. */
	const struct obs *seen;
	const struct losses *lost;
	size_t next;
};

static int is_same_flow(const struct obs_flows *a, size_t i,
    const struct obs_flows *b, size_t k)
{
	return a->start_ns[i] == b->start_ns[k] &&
	    a->src_host[i] == b->src_host[k] &&
	    a->dst_host[i] == b->dst_host[k] &&
	    a->src_port[i] == b->src_port[k] &&
	    a->dst_port[i] == b->dst_port[k];
}

/* What both know must be the same, or the file would hold two stories. */
static int check_same_flow(const struct dump *d, const struct obs *w,
    const struct losses *lost, size_t i, struct sim_err *e)
{
	const unsigned n = obs_n_hops(w, i);
	const uint64_t at = w->hops.off[i], seen = d->seen->hops.off[d->next];
	int same = obs_n_hops(d->seen, d->next) == n &&
	    lost->has_buffer == d->lost->has_buffer;
	for (unsigned k = 0; same && k < n; k++)
		same = lost->drops[at + k] == d->lost->drops[seen + k] &&
		    (!lost->has_buffer ||
			lost->buffer[at + k] == d->lost->buffer[seen + k]);
	return same ? 0
		    : sim_fail(e, SIM_EMISMATCH,
			  "flow %zu of the window lost other packets there "
			  "than by its plane.",
			  d->next);
}

static int dump_flow(struct dump *d, const struct obs *w,
    const struct losses *lost, size_t i, struct sim_err *e)
{
	static const topo_link unknown[TOPO_MAX_HOPS] = {
#define N TOPO_NONE
	    N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N
#undef N
	};
	const uint64_t at = w->hops.off[i];
	const int in_window = d->next < d->seen->flows.n &&
	    is_same_flow(&w->flows, i, &d->seen->flows, d->next);
	/* Where agents look, a flow that they did not report was not seen. */
	const int by_agents =
	    !(d->cell.plane->provides & OBS_ALL_FLOWS) && !in_window;
	struct res_epoch_row row = {
	    .seen = obs_flows_at(&w->flows, i),
	    .in_window = (uint8_t)in_window,
	    .n_hops = obs_n_hops(w, i),
	    .seen_link = by_agents ? unknown : obs_path(w, i),
	    .n_retx = w->flows.n_retx[i],
	    .link = (lost->n_path ? lost->path : w->hops.link) + at,
	    .drops = lost->drops + at,
	    .buffer = lost->has_buffer ? lost->buffer + at : NULL,
	};
	res_score_culprits(w, &d->cell.scene->truth, lost, i, &row.culprit);
	d->count->n++;
	d->count->n_failed += row.n_retx > 0;
	if (in_window) {
		const int rc = check_same_flow(d, w, lost, i, e);
		if (rc < 0)
			return rc;
		row.seen = obs_flows_at(&d->seen->flows, d->next);
		row.seen_link = obs_path(d->seen, d->next);
		d->next++;
		d->count->n_seen++;
	}
	return res_epoch_add(d->out, &row, e);
}

static int dump_flows(void *arg, const struct obs *w, const struct losses *lost,
    struct sim_err *e)
{
	struct dump *d = arg;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < w->flows.n; i++)
		rc = dump_flow(d, w, lost, i, e);
	return rc;
}

static int dump_end(struct dump *d, const struct losses *lost,
    struct sim_err *e)
{
	const struct xp_cell *c = &d->cell;
	const int all = d->count->all;
	struct res_epoch_info info = {
	    .plane = c->plane->name,
	    .seed = c->where.seed,
	    .point = (uint32_t)c->point,
	    .run = c->where.run,
	    .tie_point = c->where.point,
	    .n_flows = d->seen->n_flows,
	    .n_packets = d->seen->n_packets,
	    .all_flows = (uint8_t)all,
	    .all_seen =
		(uint8_t)(all && c->plane->provides & OBS_ALL_FLOWS ? 1 : 0),
	    .complete = d->seen->complete,
	    .own_culprits = lost->n_culprits > 0,
	    .has_buffer = lost->has_buffer,
	};
	char *spec = NULL;
	int rc = xp_spec_cell_text(c->spec, &spec, e);
	info.spec = spec;
	if (rc == 0 && d->seen->tallies)
		rc = res_epoch_add_tallies(d->out, d->seen->tallies, e);
	if (rc == 0) {
		/* It is closed by the call, also when that fails. */
		struct res_epoch_out *out = d->out;
		d->out = NULL;
		rc = res_epoch_finish(out, &info, e);
	}
	free(spec);
	return rc;
}

/* The window is the plane's for the length of this call, so all is written
 * here. */
static int dump_window(void *arg, const struct xp_window *w, struct sim_err *e)
{
	struct dump *d = arg;
	const struct xp_cell *c = &d->cell;
	const struct xp_flow_listener to = {d, dump_flows};
	if (d->told)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane %s tells more than one window.", c->plane->name);
	d->told = 1;
	d->seen = w->seen;
	d->lost = w->lost;
	d->count->n_ran = w->seen->n_flows;
	int rc = c->plane->flows(c->running, c->scene, &to, &d->count->all, e);
	if (rc == 0 && d->want_all && !d->count->all)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "plane %s has drawn only the flows that lost something, "
		    "as its model skips the others here; plane exact draws "
		    "all.",
		    c->plane->name);
	if (rc == 0 && d->next < d->seen->flows.n)
		rc = sim_fail(e, SIM_EMISMATCH,
		    "flow %zu of the window is none that its plane tells of.",
		    d->next);
	return rc < 0 ? rc : dump_end(d, w->lost, e);
}

static int dump_begin(void *arg, const struct xp_cell *cell, struct sim_err *e)
{
	struct dump *d = arg;
	d->cell = *cell;
	if (!cell->plane->flows)
		return sim_fail(e, SIM_EUNSUPPORTED, "plane %s has %s.",
		    cell->plane->name,
		    cell->plane->provides & OBS_SAMPLES
			? "hosts that count in buckets and no flows: `culprit "
			  "samples run` writes what they count"
			: "probes and no flows: `culprit record` writes those "
			  "to a file, and `culprit jobs` reads it");
	return res_epoch_create(&d->out, d->path, cell->topo,
	    &cell->scene->truth, e);
}

int xp_dump_cell(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, int all, struct xp_dumped *out, struct sim_err *e)
{
	struct dump d = {.path = path, .want_all = all, .count = out};
	const struct xp_audience to = {&d, dump_begin, dump_window};
	struct xp_trial *t;
	*out = (struct xp_dumped){0};
	int rc = xp_trial_open(&t, s, e);
	if (rc < 0)
		return rc;
	if ((rc = xp_trial_show(t, point, run, &to, e)) == 0 && !d.told)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "plane %s has told no window.", d.cell.plane->name);
	res_epoch_discard(d.out);
	xp_trial_close(t);
	return rc;
}
