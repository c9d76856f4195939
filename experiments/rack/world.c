/* experiments/rack/world.c -- the racks of a network, played once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/world.h"

#include <math.h>
#include <stdlib.h>

#include "algos/millisampler/sketch.h"
#include "models/dist.h"
#include "sim/vec.h"
#include "topo/mesh.h"

void xp_rack_world_free(struct xp_rack_world *w)
{
	obs_runs_free(&w->runs);
	obs_samples_free(&w->samples);
	rack_losses_free(&w->lost);
	res_true_bursts_free(&w->bursts);
	*w = (struct xp_rack_world){0};
}

static void rack_world_clear(struct xp_rack_world *w)
{
	obs_runs_clear(&w->runs);
	obs_samples_clear(&w->samples);
	rack_losses_clear(&w->lost);
	res_true_bursts_clear(&w->bursts);
	w->totals = (struct rack_totals){0};
	w->buffer = w->link_in = w->link_out = 0;
	w->n_racks = w->n_servers = 0;
	for (unsigned i = 0; i < 3; i++)
		w->dispersion[i] = 0;
}

int xp_rack_fits(const struct topo *t, uint32_t *n_servers)
{
	uint32_t n = 0, n_tors = 0;
	while (n < t->n_hosts && topo_tor_of(t, n) == topo_tor_of(t, 0))
		n++;
	*n_servers = n;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (topo_tor_of(t, h) != topo_tor_of(t, h / n * n))
			return 0;
	if (topo_is_clos(t))
		return 1;
	/* As many parts as ToRs: none has hosts in two of them. */
	for (topo_switch s = 0; s < t->n_switches; s++)
		n_tors += topo_mesh_is_tor(t->mesh, s) != 0;
	return (uint64_t)n_tors * n == t->n_hosts;
}

/* --- faults ----------------------------------------------------------------*/

struct rack_stalled {
	uint32_t host;
	double at, which, lasts; /* ns; of what a host receives; ns */
	uint8_t left_out;
};

static int rack_stalled_by_host(const void *a, const void *b)
{
	const struct rack_stalled *x = a, *y = b;
	return (x->host > y->host) - (x->host < y->host);
}

static int rack_stalled_by_time(const void *a, const void *b)
{
	const struct rack_stalled *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

/* Hosts that stall, all different, ascending. */
static void rack_stalls_draw(const struct xp_rack_stall *p,
    const struct scene *scene, struct rack_stalled s[])
{
	const uint32_t n_hosts = scene->topo->n_hosts;
	struct sim_rng rng;
	sim_rng_init(&rng, &scene->where, SIM_STREAM_RACK_STALL, 0);
	for (uint32_t i = 0; i < p->count; i++) {
		/* Floyd's way to a set without repeats. */
		const uint32_t last = n_hosts - p->count + i;
		uint32_t host = sim_rng_below(&rng, last + 1);
		for (uint32_t j = 0; j < i; j++)
			if (s[j].host == host)
				host = last;
		s[i].host = host;
		s[i].at = dist_at(&p->at_ms, sim_rng_u01(&rng)) * 1e6;
		s[i].which = sim_rng_u01(&rng);
		s[i].lasts = dist_at(&p->lasts_ms, sim_rng_u01(&rng)) * 1e6;
	}
	if (p->count > 0)
		qsort(s, p->count, sizeof(*s), rack_stalled_by_host);
}

/* With `busy` a stall begins as a line that is never slowed down would carry a
 * segment to the host, all alike; if there is none, when it would have
 * without. */
static double rack_stall_busy(const struct rack_flows *f,
    const struct rack_params *p, uint32_t server, const struct rack_stalled *s)
{
	const double segment_ns = p->segment * 8 / p->line_gbps;
	double all = 0, to, free = 0;
	for (size_t i = 0; i < f->n; i++)
		if (f->server[i] == server && !f->out[i])
			all += f->segments[i];
	to = all * s->which;
	for (size_t i = 0; i < f->n; i++) {
		if (f->server[i] != server || f->out[i])
			continue;
		free = fmax(free, (double)f->start_ns[i]);
		if (to < f->segments[i])
			return free + to * segment_ns;
		to -= f->segments[i];
		free += f->segments[i] * segment_ns;
	}
	return s->at;
}

/* In the truth packets to a host that stalls are late, by half of it on
 * average. */
static int rack_stall_tell(struct scene *scene, const struct rack_stalled *s,
    struct sim_err *e)
{
	const struct topo *t = scene->topo;
	const topo_node tor = t->n_hosts + topo_tor_of(t, s->host);
	const struct truth_fault f = {.link =
					  topo_link_between(t, tor, s->host),
	    .from_ns = (sim_ns)s->at,
	    .to_ns = (sim_ns)(s->at + s->lasts),
	    .delay_us = s->lasts / 2e3,
	    .law = TRUTH_CONSTANT};
	const int rc = truth_add_fault(&scene->truth, &f, e);
	truth_sort(&scene->truth);
	return rc;
}

/* Bytes that HOST's NIC held, rows from FROM on. */
static double rack_stall_held(const struct rack_losses *l, size_t from,
    uint32_t host)
{
	double held = 0;
	for (size_t i = from; i < l->n; i++)
		if (l->host[i] == host)
			held += (double)l->held[i];
	return held;
}

static double rack_rate_of(const struct truth *t, topo_link link)
{
	double pass = 1;
	for (size_t i = truth_first_fault(t, link, 0);
	     i < t->n_faults && t->fault[i].link == link; i++)
		pass *= 1 - t->fault[i].rate;
	return 1 - pass;
}

static int rack_break_links(struct rack *r, const struct scene *scene,
    uint32_t first_host, uint32_t n, struct sim_err *e)
{
	const struct topo *t = scene->topo;
	const topo_node tor = t->n_hosts + topo_tor_of(t, first_host);
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		const topo_node host = first_host + i;
		const double in = rack_rate_of(&scene->truth,
		    topo_link_between(t, tor, host));
		const double out = rack_rate_of(&scene->truth,
		    topo_link_between(t, host, tor));
		if (in > 0)
			rc = rack_link_loss(r, i, 0, in, e);
		if (rc == 0 && out > 0)
			rc = rack_link_loss(r, i, 1, out, e);
	}
	return rc;
}

/* --- one rack --------------------------------------------------------------*/

static int rack_count_bursts(struct xp_rack_world *w,
    const struct rack_flows *f, sim_ns until, struct sim_err *e)
{
	const size_t n = until / SIM_MS;
	uint64_t *count;
	const int rc = SIM_ZALLOC(&count, n + 1, e);
	if (rc < 0)
		return rc;
	rack_traffic_count(f, SIM_MS, count, n);
	for (size_t i = 0, k = 1; i < 3; i++, k *= 10)
		w->dispersion[i] += rack_dispersion(count, n, k);
	free(count);
	return 0;
}

/* What begins at one time for one host, in one direction, is a burst; transfers
 * are in order of time. */
static int rack_keep_bursts(struct xp_rack_world *w,
    const struct rack_params *p, const struct rack_flows *f, uint32_t first,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0, k; rc == 0 && i < f->n; i = k) {
		struct res_true_burst b = {.start_ns = f->start_ns[i],
		    .host = first + f->server[i],
		    .out = f->out[i]};
		for (k = i; k < f->n && f->start_ns[k] == f->start_ns[i] &&
		     f->server[k] == f->server[i] && f->out[k] == f->out[i];
		     k++) {
			b.bytes += (uint64_t)(f->segments[k] * p->segment);
			b.conns++;
			b.n_new += f->warm[k] == 0;
		}
		rc = res_true_bursts_add(&w->bursts, &b, e);
	}
	return rc;
}

static void rack_world_add(struct xp_rack_world *w, const struct rack *r)
{
	struct rack_totals t;
	rack_totals(r, &t);
	w->totals.offered += t.offered;
	w->totals.arrived += t.arrived;
	w->totals.buffer += t.buffer;
	w->totals.link += t.link;
	w->totals.queued += t.queued;
	w->totals.retx += t.retx;
	w->totals.n_rto += t.n_rto;
	w->totals.n_running += t.n_running;
	w->n_racks++;
}

struct rack_one {
	struct xp_rack_world *w;
	const struct xp_rack *p;
	struct scene *scene;
	struct rack_params params;
	struct rack_flows flows;
	struct rack_stalled *stalled; /* ascending by host */
	sim_ns until;
};

/* Those of the hosts from FIRST on, which are *N. */
static struct rack_stalled *rack_one_stalled(const struct rack_one *x,
    uint32_t first, size_t *n)
{
	struct rack_stalled *s = x->stalled;
	const struct rack_stalled *end = s + x->p->stall.count;
	*n = 0;
	while (s < end && s->host < first)
		s++;
	while (s + *n < end && s[*n].host < first + x->params.n_servers)
		++*n;
	return s;
}

static int rack_one_stalls(struct rack_one *x, struct rack *r, uint32_t first,
    struct sim_err *e)
{
	size_t n;
	struct rack_stalled *s = rack_one_stalled(x, first, &n);
	int rc = 0;
	for (size_t i = 0; i < n && x->p->stall.busy; i++)
		s[i].at = rack_stall_busy(&x->flows, &x->params,
		    s[i].host - first, &s[i]);
	if (n > 0)
		qsort(s, n, sizeof(*s), rack_stalled_by_time);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = rack_stall(r, s[i].host - first, (sim_ns)s[i].at,
		    (sim_ns)(s[i].at + s[i].lasts), e);
	return rc;
}

/* Rows of what was lost or held are of this rack from LOST on. */
static int rack_one_stalls_told(struct rack_one *x, uint32_t first, size_t lost,
    struct sim_err *e)
{
	size_t n;
	struct rack_stalled *s = rack_one_stalled(x, first, &n);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		s[i].left_out = rack_stall_held(&x->w->lost, lost, s[i].host) <
		    x->p->stall.least;
		if (!s[i].left_out)
			rc = rack_stall_tell(x->scene, &s[i], e);
	}
	return rc;
}

static int rack_one_play(struct rack_one *x, struct rack *r, uint32_t k,
    const struct sim_seed *where, struct sim_err *e)
{
	const uint32_t n = x->params.n_servers, first = k * n;
	sim_ns width[XP_RACK_N_WIDTHS];
	const unsigned n_widths = xp_rack_widths(x->p, width);
	const size_t lost = x->w->lost.n;
	int rc = rack_traffic(&x->flows, &x->params, &x->p->traffic, k,
	    x->until, where, e);
	if (rc == 0 && x->w->keep)
		rc = rack_keep_bursts(x->w, &x->params, &x->flows, first, e);
	if (rc == 0 &&
	    (rc = rack_count_bursts(x->w, &x->flows, x->until, e)) == 0)
		rc = rack_put(r, &x->flows, e);
	if (rc == 0)
		rc = rack_break_links(r, x->scene, first, n, e);
	if (rc == 0 && x->stalled)
		rc = rack_one_stalls(x, r, first, e);
	if (rc == 0)
		rc = rack_record(r, &x->p->sample, width, n_widths, first,
		    x->until, where, &x->w->runs, &x->w->samples, &x->w->lost,
		    e);
	if (rc == 0 && x->stalled)
		rc = rack_one_stalls_told(x, first, lost, e);
	if (rc == 0)
		rack_world_add(x->w, r);
	return rc;
}

/* Racks have streams of their own: names of connections are the same in
 * each. */
static int rack_one_run(struct rack_one *x, uint32_t k, struct sim_err *e)
{
	struct sim_seed where = x->scene->where;
	struct rack *r;
	where.epoch = where.epoch * (x->scene->topo->n_hosts + 1) + k;
	int rc = rack_open(&r, &x->params, &where, e);
	if (rc < 0)
		return rc;
	rc = rack_one_play(x, r, k, &where, e);
	rack_close(r);
	return rc < 0 ? sim_wrap(e, rc, "rack %u", k) : 0;
}

static int rack_is_left_out(const struct rack_stalled *s, size_t n,
    uint32_t host)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].left_out && s[i].host == host)
			return 1;
	return 0;
}

/* Runs of hosts that are left out go, and with them their rows. */
static int rack_world_leave_out(struct xp_rack_world *w,
    const struct rack_stalled *s, size_t n, struct sim_err *e)
{
	struct obs_runs runs = {0};
	struct obs_samples samples = {0};
	uint32_t *row;
	int rc = SIM_ZALLOC(&row, w->runs.n + 1, e);
	for (size_t i = 0; rc == 0 && i < w->runs.n; i++) {
		const struct obs_run run = obs_runs_at(&w->runs, i);
		row[i] = UINT32_MAX;
		if (rack_is_left_out(s, n, run.host))
			continue;
		row[i] = (uint32_t)runs.n;
		rc = obs_runs_add(&runs, &run, e);
	}
	for (size_t i = 0; rc == 0 && i < w->samples.n; i++) {
		struct obs_sample k = obs_samples_at(&w->samples, i);
		k.run = row[k.run];
		if (k.run != UINT32_MAX)
			rc = obs_samples_add(&samples, &k, e);
	}
	free(row);
	obs_runs_free(&w->runs);
	obs_samples_free(&w->samples);
	w->runs = runs;
	w->samples = samples;
	return rc;
}

static void rack_world_finish(struct xp_rack_world *w)
{
	for (size_t i = 0; i < w->samples.n; i++) {
		const struct obs_sketch s = {w->samples.sketch_lo[i],
		    w->samples.sketch_hi[i]};
		w->samples.conns[i] = algo_sketch_conns(&s);
	}
	for (size_t i = 0; i < w->lost.n; i++) {
		w->buffer += w->lost.buffer[i];
		w->link_in += w->lost.link_in[i];
		w->link_out += w->lost.link_out[i];
	}
	w->window.runs = &w->runs;
	w->window.samples = &w->samples;
}

int xp_rack_world_run(struct xp_rack_world *w, const struct xp_rack *p,
    struct scene *scene, struct sim_err *e)
{
	struct rack_one x = {.w = w,
	    .p = p,
	    .scene = scene,
	    .params = p->rack,
	    .until = sim_ns_of(p->length_s)};
	struct rack_stalled *stalled = NULL;
	const uint32_t n_hosts = scene->topo->n_hosts;
	rack_world_clear(w);
	if (!xp_rack_fits(scene->topo, &x.params.n_servers))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "ToRs of this network don't have as many hosts each, in a "
		    "row.");
	if (p->stall.count > n_hosts)
		return sim_fail(e, SIM_ELIMIT,
		    "%u NICs are to stall, of %u hosts.", p->stall.count,
		    n_hosts);
	w->n_servers = x.params.n_servers;
	int rc = SIM_ZALLOC(&stalled, p->stall.count, e);
	if (rc == 0 && stalled)
		rack_stalls_draw(&p->stall, scene, stalled);
	x.stalled = stalled;
	for (uint32_t k = 0; rc == 0 && k < n_hosts / w->n_servers; k++)
		rc = rack_one_run(&x, k, e);
	if (rc == 0 && p->stall.least > 0)
		rc = rack_world_leave_out(w, stalled, p->stall.count, e);
	if (rc == 0)
		rack_world_finish(w);
	free(stalled);
	rack_flows_free(&x.flows);
	return rc;
}

size_t xp_rack_runs(const struct xp_rack_world *w, sim_ns width, uint32_t k,
    uint32_t run[])
{
	size_t n = 0;
	for (size_t i = 0; i < w->runs.n; i++)
		if (w->runs.width_ns[i] == width &&
		    w->runs.host[i] / w->n_servers == k)
			run[n++] = (uint32_t)i;
	return n;
}
