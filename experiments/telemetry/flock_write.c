/* experiments/telemetry/flock_write.c -- Flock's text traces, written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "experiments/telemetry/flock_text.h"
#include "sim/text.h"

struct ftext_out {
	const struct xp_flock *x;
	struct xp_flock_ids ids;
	struct xp_flock_file *file;
	size_t n;
	char line[XP_FLOCK_LINE];
};

/* Room for the longest line there is: a path of 17 numbers of 5 digits. */
__attribute__((format(printf, 2, 3))) static void ftext_say(struct ftext_out *o,
    const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	o->n += (size_t)vsnprintf(o->line + o->n, sizeof(o->line) - o->n, fmt,
	    args);
	va_end(args);
}

static int ftext_put_line(struct ftext_out *o, struct sim_err *e)
{
	ftext_say(o, "\n");
	const int rc = xp_flock_put(o->file, o->line, o->n, e);
	o->n = 0;
	return rc;
}

static int ftext_put_fault(struct ftext_out *o, topo_node u, topo_node v,
    double x, struct sim_err *e)
{
	char buf[32];
	ftext_say(o, "Failing_link %u %u %s", o->ids.id[u], o->ids.id[v],
	    sim_format_f64(buf, x));
	return ftext_put_line(o, e);
}

/* Of a truth that was drawn: the share of its links that fail. */
static double ftext_share(const struct xp_flock *x, topo_switch s)
{
	const topo_node n = x->topo.n_hosts + s;
	uint32_t n_links = 0, n_parts = 0;
	for (size_t i = 0; i < x->n_devices; i++)
		if (x->device[i].at == s)
			return x->device[i].share;
	for (topo_link l = 0; l < x->topo.n_links; l++) {
		topo_node from, to;
		topo_link_ends(&x->topo, l, &from, &to);
		n_links += from == n || to == n;
	}
	for (size_t i = 0; i < x->truth.n_parts; i++)
		n_parts += x->truth.part[i].of == s;
	return n_parts / (double)n_links;
}

/* A switch of black holes is in their file, unless it failed otherwise too. */
static int ftext_is_hole(const struct xp_flock *x, topo_switch s)
{
	for (size_t i = 0; i < x->n_devices; i++)
		if (x->device[i].at == s)
			return 0;
	for (size_t i = 0; i < x->n_holes; i++)
		if (x->hole[i].at == s)
			return 1;
	for (size_t i = 0; i < x->truth.n_holes; i++)
		if (x->truth.hole[i].at == s)
			return 1;
	return 0;
}

static int ftext_put_truth(struct ftext_out *o, struct sim_err *e)
{
	const struct xp_flock *x = o->x;
	const struct truth *t = &x->truth;
	topo_node from, to;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_faults; i++) {
		if (truth_switch_of(t, t->fault[i].link, TOPO_NONE) !=
		    TOPO_NONE)
			continue;
		topo_link_ends(&x->topo, t->fault[i].link, &from, &to);
		rc = ftext_put_fault(o, from, to, t->fault[i].rate, e);
	}
	for (size_t i = 0; rc == 0 && i < t->n_switches; i++) {
		const topo_switch s = t->failed_switch[i];
		from = x->topo.n_hosts + s;
		if (!ftext_is_hole(x, s))
			rc = ftext_put_fault(o, from, from, ftext_share(x, s),
			    e);
	}
	return rc;
}

static int ftext_put_path(struct ftext_out *o, const char *word, uint32_t set,
    uint32_t path, struct sim_err *e)
{
	const struct topo *topo = &o->x->topo;
	const struct obs_paths *p = o->x->rows.paths;
	ftext_say(o, "%s %u", word, o->ids.id[topo->n_hosts + p->from[set]]);
	for (uint32_t i = p->off[path]; i < p->off[path + 1]; i++) {
		topo_node from, to;
		topo_link_ends(topo, p->link[i], &from, &to);
		ftext_say(o, " %u", o->ids.id[to]);
	}
	return ftext_put_line(o, e);
}

static int ftext_put_paths(struct ftext_out *o, struct sim_err *e)
{
	const struct obs_paths *p = o->x->rows.paths;
	int rc = 0;
	for (uint32_t s = 0; rc == 0 && s < p->n_sets; s++)
		for (uint32_t i = p->first[s];
		     rc == 0 && p->from[s] != p->to[s] && i < p->first[s + 1];
		     i++)
			rc = ftext_put_path(o, "FP", s, i, e);
	return rc;
}

static int ftext_put_flow(struct ftext_out *o, size_t i, struct sim_err *e)
{
	const struct topo *topo = &o->x->topo;
	const struct obs_paths *p = o->x->rows.paths;
	const struct obs_tally r = obs_tallies_at(&o->x->rows, i);
	int rc;
	const topo_node first = topo->n_hosts + p->from[r.set],
			last = topo->n_hosts + p->to[r.set];
	ftext_say(o, "FID %u %u %u %u %" PRIu64 " 0.0",
	    o->ids.id[r.up == TOPO_NONE ? first : r.up / 2],
	    o->ids.id[r.down == TOPO_NONE ? last : r.down / 2],
	    o->ids.id[first], o->ids.id[last],
	    (uint64_t)r.n_sent * XP_FLOCK_BYTES);
	if ((rc = ftext_put_line(o, e)) < 0 ||
	    (rc = ftext_put_path(o, "FPT", r.set, r.path, e)) < 0)
		return rc;
	ftext_say(o, "SS 0.0 %u %u 0", r.n_sent, r.n_lost);
	return ftext_put_line(o, e);
}

/* Looked at before there is a file. */
static int ftext_fits(const struct obs_tallies *t, size_t i, struct sim_err *e)
{
	if (t->path[i] == OBS_NO_PATH)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "row %zu has no path, and a trace has those of all flows; "
		    "telemetry int, or int and a1, has them.",
		    i);
	if (t->up[i] != TOPO_NONE && t->down[i] != TOPO_NONE && t->is_probe[i])
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "row %zu is a probe between hosts; those of a trace have a "
		    "switch at one end.",
		    i);
	return 0;
}

int xp_flock_write(const struct xp_flock *x, const char *trace,
    struct sim_err *e)
{
	struct ftext_out o = {.x = x};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->rows.n; i++)
		rc = ftext_fits(&x->rows, i, e);
	if (rc == 0)
		rc = xp_flock_ids_init(&o.ids, &x->topo, e);
	if (rc == 0 && (rc = xp_flock_open(&o.file, trace, 1, e)) == 0 &&
	    (rc = ftext_put_truth(&o, e)) == 0)
		rc = ftext_put_paths(&o, e);
	for (size_t i = 0; rc == 0 && i < x->rows.n; i++)
		rc = ftext_put_flow(&o, i, e);
	rc = xp_flock_close(o.file, rc, e);
	xp_flock_ids_free(&o.ids);
	return rc;
}
