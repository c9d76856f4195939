/* experiments/pingmesh/run.c -- a run of Pingmesh, read along something.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/run.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/along.h"
#include "experiments/pingmesh/judge.h"
#include "experiments/pingmesh/repair.h"
#include "experiments/pingmesh/trace.h"
#include "sim/stat.h"
#include "sim/vec.h"

/* The state of the agents at the end of a window. */
struct moment {
	uint32_t n_live;
	uint64_t n_in_vain; /* fetches of a list that failed, so far */
};

struct xp_pingmesh_plane {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	const struct xp_net *net;
	uint32_t n_windows, history, repair_every, n_kept;
	sim_ns window_ns, lag_ns;
	struct xp_world *world;
	struct xp_repair_shop shop;
	struct xp_judge judge;
	struct xp_true_loss loss;
	struct xp_tracer *tracer; /* or NULL: nothing is traced */

	/* Of this run. */
	const struct xp_pingmesh_hooks *hooks;
	struct scene *scene;
	struct res_trial_metrics *row;
	struct moment *moment;   /* [n_kept], see moment_of() */
	uint64_t n_lost;         /* records, until the last jobs */
	uint64_t n_trace_probes; /* of all windows */
	struct xp_tallies all;
	struct xp_repaired repaired; /* in sum, of data centre `dc` */
};

/* --- opening -------------------------------------------------------------- */

/* When a window's jobs run, `lag` after its end, the oldest window that they
 * ask for is `reach` - 1 before it, and rows come of as many windows after it
 * as the lag has begun: its whole ones and one more. The last one is spare, as
 * the clock of a real network may be a little ahead. */
static uint32_t n_kept(const struct xp_pingmesh_plane *p)
{
	const uint32_t reach =
	    p->history > p->repair_every ? p->history : p->repair_every;
	return reach + (uint32_t)(p->lag_ns / p->window_ns) + 2;
}

int xp_pingmesh_plane_open(struct xp_pingmesh_plane **out, const struct topo *t,
    const struct xp_pingmesh *params, struct xp_net *net, struct sim_err *e)
{
	struct xp_pingmesh_plane *p;
	int rc = SIM_ZALLOC(&p, 1, e);
	if (rc < 0)
		return rc;
	p->topo = t;
	p->params = params;
	p->net = net;
	p->n_windows = xp_pingmesh_n_windows(params);
	p->history = xp_pingmesh_history(params);
	p->repair_every = xp_pingmesh_repair_every(params);
	p->window_ns = (sim_ns)llround(params->window_s * 1e9);
	p->lag_ns = xp_pingmesh_lag(params);
	p->n_kept = n_kept(p);
	if ((rc = xp_world_open(&p->world, t, params, net, p->n_kept, e)) < 0 ||
	    (rc = xp_repair_open(&p->shop, t, params, e)) < 0 ||
	    (rc = xp_judge_open(&p->judge, params, &p->shop.dsa[params->dc],
		 e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->moment, p->n_kept, e)) < 0 ||
	    (params->trace.on &&
		(rc = xp_tracer_open(&p->tracer, t, params, e)) < 0)) {
		xp_pingmesh_plane_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

void xp_pingmesh_plane_close(struct xp_pingmesh_plane *p)
{
	if (!p)
		return;
	xp_world_close(p->world);
	xp_repair_close(&p->shop);
	xp_true_loss_free(&p->loss);
	xp_tracer_close(p->tracer);
	free(p->moment);
	free(p);
}

static size_t n_units(const struct xp_pingmesh_plane *p)
{
	const struct topo_clos *s = &p->judge.dsa->dc.clos;
	return p->params->unit == ALGO_HEATMAP_POD ? s->n_pods : s->all_tors;
}

size_t xp_pingmesh_plane_rows(const struct xp_pingmesh_plane *p)
{
	switch ((enum xp_along)p->params->along) {
	case XP_ALONG_WINDOW:
		return p->n_windows;
	case XP_ALONG_QUANTILE:
		return p->params->n_tails;
	case XP_ALONG_GROUP:
		return ALGO_DROP_N_GROUPS;
	case XP_ALONG_PAIR:
		return n_units(p) * n_units(p);
	default:
		return 1;
	}
}

struct xp_world *xp_pingmesh_plane_world(struct xp_pingmesh_plane *p)
{
	return p->world;
}

/* What data centre DC sent in the N windows from FIRST on. Of one window all jobs
 * have the same table; more may be too many to be one. */
static int probes_of(struct xp_pingmesh_plane *p, uint32_t dc, uint32_t first,
    uint32_t n, struct obs_probe_source *out, struct sim_err *e)
{
	struct xp_collector *c = xp_world_collector(p->world);
	const struct obs_probes *t;
	if (n > 1) {
		*out = xp_collector_pieces(c, dc, first, n);
		return 0;
	}
	const int rc = xp_collector_table(c, dc, first, n, &t, e);
	if (rc == 0)
		*out = obs_probes_whole(t);
	return rc;
}

/* --- repairs -------------------------------------------------------------- */

/* The black-hole job of all data centres, on the last repair_every windows up
 * to WINDOW; nothing at windows between two jobs. M gets the numbers of data
 * centre `dc`, and is NULL when windows have no rows. */
static int repair(struct xp_pingmesh_plane *p, uint32_t window, sim_ns now,
    struct res_trial_metrics *m, struct sim_err *e)
{
	const uint32_t n = p->repair_every, first = window + 1 - n;
	const sim_ns from = first * p->window_ns;
	const sim_ns to = (window + 1) * p->window_ns;
	struct truth *truth = &p->scene->truth;
	int rc = 0;
	if ((window + 1) % n != 0)
		return 0;
	if (m)
		m->n_black_tors =
		    xp_n_black(truth, &p->judge.dsa->dc, from, to);
	for (uint32_t d = 0; rc == 0 && d < p->shop.n_dcs; d++) {
		struct obs seen = {.n_flows = 0};
		struct xp_repaired r;
		rc = probes_of(p, d, first, n, &seen.probes, e);
		if (rc == 0)
			rc = xp_repair_run(&p->shop, d, &seen, from, to, now,
			    truth, &r, e);
		if (rc < 0)
			return sim_wrap(e, rc, "black holes of data centre %u",
			    d);
		if (d != p->params->dc)
			continue;
		xp_repaired_add(&p->repaired, &r);
		if (m)
			xp_repaired_fill(&r, p->params->repair.on, m);
	}
	return rc;
}

/* --- jobs of a window ----------------------------------------------------- */

/* How many windows the history has that ends with WINDOW: fewer at the begin of
 * a run. */
static uint32_t reach(const struct xp_pingmesh_plane *p, uint32_t window)
{
	return window + 1 < p->history ? window + 1 : p->history;
}

/* What jobs and algorithms get: what data centre `dc` sent in the history that ends
 * with WINDOW. */
static int history_of(struct xp_pingmesh_plane *p, uint32_t window,
    struct obs_probe_source *out, struct sim_err *e)
{
	const uint32_t n = reach(p, window);
	return probes_of(p, p->params->dc, window + 1 - n, n, out, e);
}

/* What was broken while the probes of that history were under way. The last of
 * them may end probe_timeout after the window, so a fault that begins in that
 * time may already show in the table. */
static enum xp_trouble trouble_of(const struct xp_pingmesh_plane *p,
    uint32_t window)
{
	const sim_ns to = (window + 1) * p->window_ns;
	const sim_ns under_way =
	    (sim_ns)llround(p->params->agent.probe_timeout_s * 1e9);
	return xp_trouble_in(&p->scene->truth,
	    to - reach(p, window) * p->window_ns, to + under_way);
}

static int pingmesh_run_tally(struct xp_pingmesh_plane *p,
    const struct obs_probe_source *t, struct xp_tallies *sum, struct sim_err *e)
{
	const struct obs_probes *piece;
	size_t at = 0;
	int rc;
	*sum = (struct xp_tallies){0};
	while ((rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0)
		xp_judge_tally(&p->judge, piece, &p->loss, sum);
	return rc;
}

/* What the probes sent in WINDOW met, alone and for the whole run. */
static int pingmesh_run_count(struct xp_pingmesh_plane *p, uint32_t window,
    struct xp_tallies *sum, struct sim_err *e)
{
	struct obs_probe_source t;
	int rc = probes_of(p, p->params->dc, window, 1, &t, e);
	if (rc < 0 || (rc = pingmesh_run_tally(p, &t, sum, e)) < 0)
		return rc;
	xp_tallies_add(&p->all, sum);
	return 0;
}

/* Those of as many windows as the collector keeps, which are more than have ended
 * when the jobs of one run, and the one before. */
static struct moment *moment_of(const struct xp_pingmesh_plane *p,
    uint32_t window)
{
	return &p->moment[window % p->n_kept];
}

/* Counters of agents only grow, so what a window adds is the difference from
 * the one before. Lost records are known when an agent says so in an upload,
 * and are counted for the window whose jobs run next. */
static void fill_moment(struct xp_pingmesh_plane *p, uint32_t window,
    struct res_trial_metrics *m)
{
	const uint64_t n_lost =
	    xp_collector_counts(xp_world_collector(p->world)).n_lost;
	const uint64_t before =
	    window > 0 ? moment_of(p, window - 1)->n_in_vain : 0;
	m->n_live_agents = moment_of(p, window)->n_live;
	m->n_fetch_failed = (double)(moment_of(p, window)->n_in_vain - before);
	m->n_lost_records = (double)(n_lost - p->n_lost);
	p->n_lost = n_lost;
}

/* Fill the row of a window. SUM has the counts of its own probes; a row is of
 * the whole history, so with a longer one they are counted anew. */
static int pingmesh_run_fill_window(struct xp_pingmesh_plane *p,
    uint32_t window, struct xp_tallies *sum, struct res_trial_metrics *m,
    struct sim_err *e)
{
	struct obs_probe_source t;
	int rc = history_of(p, window, &t, e);
	if (rc == 0 && reach(p, window) > 1)
		rc = pingmesh_run_tally(p, &t, sum, e);
	if (rc < 0)
		return rc;
	xp_tally_fill(&sum->scope, m);
	fill_moment(p, window, m);
	return xp_judge_run(&p->judge, &t, trouble_of(p, window), m, e);
}

/* Trace the pairs that the silent-drop job finds in the probes of O. How many traces and
 * probes that took is noted in row ROW along windows. Along anything else it is
 * noted in all rows, at the end of the run (ROW = SIZE_MAX). */
static int pingmesh_run_trace(struct xp_pingmesh_plane *p, uint32_t window,
    size_t row, sim_ns now, struct obs *o, const struct losses **lost,
    struct sim_err *e)
{
	const struct obs_probe_source t = o->probes;
	const int own = p->params->along == XP_ALONG_WINDOW;
	const size_t n = xp_pingmesh_plane_rows(p);
	const struct obs *seen;
	int rc = xp_dsa_silent_drop(p->judge.dsa, &t, e);
	if (rc == 0)
		rc = xp_tracer_run(p->tracer, p->scene, &p->judge.dsa->silent,
		    window, now, &seen, lost, e);
	if (rc < 0)
		return rc;
	*o = *seen;
	o->probes = t;
	p->n_trace_probes += xp_tracer_n_probes(p->tracer);
	for (size_t i = 0; i < n; i++) {
		if (own ? i != row : row != SIZE_MAX)
			continue;
		p->row[i].n_traces = (double)seen->flows.n;
		p->row[i].n_trace_probes =
		    (double)xp_tracer_n_probes(p->tracer);
	}
	return 0;
}

static int pingmesh_run_tell(struct xp_pingmesh_plane *p, uint32_t window,
    size_t row, sim_ns now, struct sim_err *e)
{
	const struct xp_pingmesh_hooks *k = p->hooks;
	struct obs o = {.n_flows = 0};
	if (!k->diagnose)
		return 0;
	int rc = history_of(p, window, &o.probes, e);
	const struct losses none = {0}, *lost = &none;
	if (rc == 0 && p->tracer)
		rc = pingmesh_run_trace(p, window, row, now, &o, &lost, e);
	return rc < 0 ? rc : k->diagnose(k->arg, &o, lost, row, now, e);
}

/* Repairs come last: what they change in the truth holds from NOW on, and the
 * numbers of the window are of the time before. */
static int run_jobs(struct xp_pingmesh_plane *p, uint32_t window, sim_ns now,
    struct res_trial_metrics row[], struct sim_err *e)
{
	const struct xp_pingmesh_hooks *k = p->hooks;
	const int own = p->params->along == XP_ALONG_WINDOW && !k->rows_unread;
	struct res_trial_metrics *m = own ? &row[window] : NULL;
	struct xp_tallies sum;
	int rc = k->rows_unread ? 0 : pingmesh_run_count(p, window, &sum, e);
	if (rc == 0 && k->window)
		rc = k->window(k->arg, xp_world_collector(p->world), window, e);
	if (rc == 0 && own)
		rc = pingmesh_run_fill_window(p, window, &sum, m, e);
	if (rc == 0 && p->params->detect)
		rc = pingmesh_run_tell(p, window, own ? window : 0, now, e);
	if (rc == 0 && (!k->rows_unread || p->params->repair.on))
		rc = repair(p, window, now, m, e);
	return rc;
}

/* --- rows of the whole run ------------------------------------------------ */

static void fill_whole_moment(struct xp_pingmesh_plane *p,
    struct res_trial_metrics *m)
{
	const struct moment *last = moment_of(p, p->n_windows - 1);
	m->n_live_agents = last->n_live;
	m->n_fetch_failed = (double)last->n_in_vain;
	m->n_lost_records =
	    (double)xp_collector_counts(xp_world_collector(p->world)).n_lost;
}

/* Over a whole run each switch counts once, however often the job named it:
 * sums over jobs would count a hole anew every time until it is repaired. */
static void fill_whole_repair(struct xp_pingmesh_plane *p,
    struct res_trial_metrics *m)
{
	const struct truth *truth = &p->scene->truth;
	const sim_ns end = p->n_windows * p->window_ns;
	xp_repaired_fill(&p->repaired, p->params->repair.on, m);
	m->n_black_tors = xp_n_black(truth, &p->judge.dsa->dc, 0, end);
	m->n_candidates = xp_repair_n_named(&p->shop, p->params->dc);
	m->n_candidates_true =
	    xp_repair_n_named_true(&p->shop, p->params->dc, truth, end);
}

/* Service level, matrix and tier of a run without windows are those of the last
 * history, as an operator would see them at its end. */
static int fill_last(struct xp_pingmesh_plane *p, struct res_trial_metrics *m,
    struct sim_err *e)
{
	const uint32_t last = p->n_windows - 1;
	struct obs_probe_source t;
	int rc = history_of(p, last, &t, e);
	return rc < 0 ? rc
		      : xp_judge_run(&p->judge, &t, trouble_of(p, last), m, e);
}

/* Of connects, and of the traceroutes that were asked for, between pods. */
static void fill_cost(const struct xp_pingmesh_plane *p,
    struct res_trial_metrics *m)
{
	enum { BETWEEN_PODS = 5 };
	const struct xp_cost_params *cost = &p->params->cost;
	const struct xp_tally *all = &p->all.group[ALGO_DROP_ALL];
	struct xp_cost_counts c = {.seconds = p->params->duration_s,
	    .n_hosts = p->topo->n_hosts,
	    .n_switches = p->topo->n_switches,
	    .n_connects = (double)all->n_probes,
	    .n_reported = (double)all->n_probes,
	    .switch_bytes = (double)all->n_crossed * cost->connect_packets *
		cost->packet_bytes};
	for (uint64_t i = 0; i < p->n_trace_probes / cost->trace_probes; i++)
		xp_cost_traceroute(cost, &c, BETWEEN_PODS, BETWEEN_PODS);
	xp_cost_fill(cost, &c, m);
}

static int fill_whole(struct xp_pingmesh_plane *p, struct res_trial_metrics *m,
    struct sim_err *e)
{
	xp_tally_fill(&p->all.scope, m);
	fill_whole_moment(p, m);
	fill_whole_repair(p, m);
	return fill_last(p, m, e);
}

static void fill_quantiles(struct xp_pingmesh_plane *p,
    struct res_trial_metrics row[])
{
	size_t n;
	double *us = xp_collector_times(xp_world_collector(p->world), &n);
	n = sim_sort_finite(us, n);
	for (uint32_t i = 0; i < p->params->n_tails; i++) {
		/* Nearest rank: so many of n times may be longer. The factor
		 * is for products such as 0.1 * 30, which may come out just
		 * below the whole number that they stand for. */
		const double over =
		    floor(xp_pingmesh_tail(i) * (double)n * (1 + 1e-12));
		xp_tally_fill(&p->all.group[p->params->group], &row[i]);
		fill_whole_moment(p, &row[i]);
		if (n > 0)
			row[i].rtt_us = us[n - (size_t)over - 1];
	}
}

/* Row i * units + j is the cell from unit i to unit j, as the axes from and to
 * have them. The other numbers are of the run and the same in all rows. */
static int fill_pairs(struct xp_pingmesh_plane *p,
    struct res_trial_metrics row[], struct sim_err *e)
{
	const size_t n = n_units(p) * n_units(p);
	struct res_trial_metrics m = row[0];
	int rc = fill_whole(p, &m, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		row[i] = m;
		row[i].p99_us = p->judge.dsa->heatmap.p99_us[i];
	}
	return rc;
}

static int fill_rows(struct xp_pingmesh_plane *p,
    struct res_trial_metrics row[], struct sim_err *e)
{
	switch ((enum xp_along)p->params->along) {
	case XP_ALONG_NONE:
		return fill_whole(p, &row[0], e);
	case XP_ALONG_QUANTILE:
		fill_quantiles(p, row);
		return 0;
	case XP_ALONG_GROUP:
		for (int g = 0; g < ALGO_DROP_N_GROUPS; g++) {
			xp_tally_fill(&p->all.group[g], &row[g]);
			fill_whole_moment(p, &row[g]);
		}
		return 0;
	case XP_ALONG_PAIR:
		return fill_pairs(p, row, e);
	default:
		return 0;
	}
}

/* --- a run ---------------------------------------------------------------- */

static int pingmesh_run_begin(struct xp_pingmesh_plane *p, struct scene *scene,
    struct res_trial_metrics row[], struct sim_err *e)
{
	/* A row is a struct of doubles only, so it may be filled as an array.
	 */
	double *x = (double *)row;
	const size_t n = xp_pingmesh_plane_rows(p);
	const double n_faults = (double)truth_n_faulty(&scene->truth);
	int rc;
	p->scene = scene;
	p->row = row;
	p->n_lost = p->n_trace_probes = 0;
	p->all = (struct xp_tallies){0};
	p->repaired = (struct xp_repaired){0};
	for (size_t i = 0; i < n * RES_N_TRIAL_METRICS; i++)
		x[i] = NAN;
	for (size_t i = 0; i < n; i++)
		row[i].n_faults = n_faults;
	xp_repair_begin(&p->shop);
	if ((rc = xp_true_loss_begin(&p->loss, scene, p->net->own_paths, e)) <
	    0)
		return rc;
	return xp_world_begin(p->world, scene, e);
}

/* The next jobs are those of window NEXT, which reach back from it. What is
 * older no job will ask for. */
static void drop_old(struct xp_pingmesh_plane *p, uint32_t next)
{
	const uint32_t reach =
	    p->history > p->repair_every ? p->history : p->repair_every;
	if (next < p->n_windows && next + 1 > reach)
		xp_collector_drop(xp_world_collector(p->world),
		    next + 1 - reach);
}

/* Run until the end of the window and note the state of the agents, which at
 * the time of its jobs has already changed. */
static int end_window(struct xp_pingmesh_plane *p, uint32_t window,
    struct sim_err *e)
{
	int rc = xp_world_run(p->world, (window + 1) * p->window_ns, e);
	if (rc < 0)
		return rc;
	const struct xp_pulse x = xp_world_pulse(p->world);
	*moment_of(p, window) = (struct moment){x.n_live,
	    x.count.n_contact_failed + x.count.n_no_list + x.count.n_bad_list};
	return 0;
}

/* Ends of windows and runs of jobs, in order of time. The lag may be longer
 * than a window, so several windows may end before the jobs of one run. */
static int pingmesh_run_live(struct xp_pingmesh_plane *p,
    struct res_trial_metrics row[], struct sim_err *e)
{
	uint32_t n_ended = 0;
	int rc = 0;
	for (uint32_t w = 0; rc == 0 && w < p->n_windows; w++) {
		const sim_ns now = (w + 1) * p->window_ns + p->lag_ns;
		while (rc == 0 && n_ended < p->n_windows &&
		    (n_ended + 1) * p->window_ns <= now)
			rc = end_window(p, n_ended++, e);
		if (rc == 0)
			rc = xp_world_run(p->world, now, e);
		if (rc == 0)
			rc = run_jobs(p, w, now, row, e);
		if (rc == 0)
			drop_old(p, w + 1);
	}
	return rc;
}

/* Of all connects of the run, which are what flows are elsewhere, in each row. */
static void fill_buffers(const struct xp_pingmesh_plane *p,
    struct res_trial_metrics *m)
{
	const struct fabric_sim_losses n = p->net->ops->losses(p->net);
	m->n_buffer_drops = (double)n.n_buffer_drops;
	m->n_buffer_flows = (double)n.n_buffer_flows;
	m->n_noise_flows = (double)n.n_noise_flows;
}

int xp_pingmesh_plane_run(struct xp_pingmesh_plane *p, struct scene *scene,
    struct res_trial_metrics row[], const struct xp_pingmesh_hooks *hooks,
    struct sim_err *e)
{
	const sim_ns end = p->n_windows * p->window_ns + p->lag_ns;
	int rc = pingmesh_run_begin(p, scene, row, e);
	p->hooks = hooks;
	if (rc == 0)
		rc = pingmesh_run_live(p, row, e);
	if (rc < 0 || hooks->rows_unread)
		return rc;
	rc = fill_rows(p, row, e);
	if (rc == 0)
		rc = pingmesh_run_tell(p, p->n_windows - 1, SIZE_MAX, end, e);
	/* When all is traced. */
	for (size_t i = 0; rc == 0 && i < xp_pingmesh_plane_rows(p); i++) {
		if (p->params->cost.on)
			fill_cost(p, &row[i]);
		if (scene_congestion_is_on(&scene->congestion))
			fill_buffers(p, &row[i]);
	}
	return rc;
}
