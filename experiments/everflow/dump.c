/* experiments/everflow/dump.c -- one cell of plane everflow, as a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/dump.h"

#include <stdlib.h>

#include "experiments/spec/plane.h"
#include "experiments/sweep/trial.h"
#include "sim/vec.h"

struct trace_dump {
	struct xp_cell cell;
	const char *path;
	struct xp_everflow_dumped *count;
};

static int trace_dump_traces(struct res_traces_out *w,
    const struct algo_trace_store *s, struct sim_err *e)
{
	struct algo_hop *hop = NULL;
	size_t cap = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->traces.n; i++) {
		const struct algo_trace t = algo_traces_at(&s->traces, i);
		rc = SIM_RESERVE(&hop, &cap, t.n_hops + 1ul, e);
		for (unsigned k = 0; rc == 0 && k < t.n_hops; k++)
			hop[k] = algo_hops_at(&s->hops, t.hop_off + k);
		if (rc == 0)
			rc = res_traces_add(w, &t, hop, e);
	}
	free(hop);
	return rc;
}

static int trace_dump_all(struct res_traces_out *w,
    const struct xp_everflow_seen *seen, struct sim_err *e)
{
	int rc = trace_dump_traces(w, seen->store, e);
	if (rc == 0)
		rc = res_traces_add_counters(w, seen->counters, e);
	if (rc == 0)
		rc = res_traces_add_guided(w, seen->window->guided, e);
	for (size_t i = 0; rc == 0 && i < seen->n_said; i++)
		rc = res_traces_add_findings(w,
		    xp_everflow_debuggers[seen->said[i].debugger],
		    &seen->said[i].finding, 1, e);
	return rc;
}

int xp_everflow_write(const char *path, const struct res_traces_info *info,
    const struct xp_everflow_seen *seen, struct sim_err *e)
{
	struct res_traces_out *out;
	int rc = res_traces_create(&out, path, info, e);
	if (rc < 0)
		return rc;
	if ((rc = trace_dump_all(out, seen, e)) == 0)
		return res_traces_finish(out, seen->end_ns, e);
	res_traces_discard(out);
	return rc;
}

/* What the world holds is there while the window is told. */
static int trace_dump_window(void *arg, const struct xp_window *w,
    struct sim_err *e)
{
	struct trace_dump *d = arg;
	const struct xp_cell *c = &d->cell;
	const struct xp_everflow_seen *seen = xp_everflow_seen(c->running);
	char *spec = NULL;
	int rc = xp_spec_cell_text(c->spec, &spec, e);
	const struct res_traces_info info = {
	    .spec = spec,
	    .seed = c->where.seed,
	    .point = (uint32_t)c->point,
	    .run = c->where.run,
	    .n_hosts = c->topo->n_hosts,
	    .n_switches = c->topo->n_switches,
	    .n_links = c->topo->n_links,
	    .ecmp_seed = c->scene->ecmp_seed,
	    .knows_hash = w->seen->knows_hash,
	};
	*d->count = (struct xp_everflow_dumped){
	    .n_copies = seen->analyzed.n_copies,
	    .n_traces = seen->analyzed.n_traces,
	    .n_stored = seen->store->traces.n,
	    .n_guided = seen->n_guided,
	    .n_findings = seen->n_said,
	};
	if (rc == 0)
		rc = xp_everflow_write(d->path, &info, seen, e);
	free(spec);
	return rc;
}

static int trace_dump_begin(void *arg, const struct xp_cell *cell,
    struct sim_err *e)
{
	struct trace_dump *d = arg;
	d->cell = *cell;
	if (cell->plane != &xp_plane_everflow)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane %s mirrors no packets; plane everflow does.",
		    cell->plane->name);
	return 0;
}

int xp_everflow_dump(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_everflow_dumped *out, struct sim_err *e)
{
	struct trace_dump d = {.path = path, .count = out};
	const struct xp_audience to = {&d, trace_dump_begin, trace_dump_window};
	*out = (struct xp_everflow_dumped){0};
	return xp_trial_show_one(s, point, run, &to, e);
}
