/* experiments/pingmesh/bulk/run.c -- a run of Pingmesh in bulk, window by window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/impl.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/along.h"
#include "experiments/pingmesh/bulk/connects.h"
#include "experiments/pingmesh/judge.h"
#include "sim/stat.h"
#include "sim/vec.h"

/* Probes that a table may have: 2 GB of them. */
enum { MOST_PROBES = 50000000 };

/* --- opening ----------------------------------------------------------------- */

static int mesh_open_connects(struct xp_bulk_mesh *m, struct sim_err *e)
{
	const struct xp_pingmesh *p = m->params;
	const struct topo_clos *clos = &m->topo->clos;
	struct connects_params c;
	struct algo_drop_ladder ladder;
	sim_ns wait[OBS_MAX_WAITS] = {0};
	int rc = algo_pinglist_open(&m->plan, &p->pinglist, clos, 1, e);
	if (rc < 0 || (rc = xp_bulk_mesh_connects(&c, &m->plan, p, e)) < 0 ||
	    (rc = connects_open(&m->connects, m->topo, &c, e)) < 0)
		return rc;
	xp_pingmesh_waits(p, wait);
	if ((rc = xp_dsa_ladder(m->dsa, wait, &ladder, e)) < 0 ||
	    (rc = xp_mesh_sums_open(&m->sums, clos, m->connects, &c, &ladder,
		 m->window_ns, 0, p->unit == ALGO_HEATMAP_TOR, e)) < 0 ||
	    (rc = xp_mean_loss_open(&m->loss, clos, &c, m->in_scope, e)) < 0)
		return rc;
	xp_pingmesh_waits(p, m->table.syn_wait_ns);
	xp_pingmesh_waits(p, m->part.syn_wait_ns);
	return 0;
}

static int mesh_open_scope(struct xp_bulk_mesh *m, struct sim_err *e)
{
	if (!*m->params->service)
		return 0;
	const int rc = SIM_ZALLOC(&m->in_scope, m->topo->n_hosts, e);
	for (topo_host h = 0; rc == 0 && h < m->topo->n_hosts; h++)
		m->in_scope[h] = (uint8_t)algo_sla_serves(&m->dsa->sla, h);
	return rc;
}

/* A table is held for the history and for the black-hole job. */
static uint32_t mesh_n_kept(const struct xp_bulk_mesh *m)
{
	return m->history > m->repair_every ? m->history : m->repair_every;
}

static int mesh_open_tables(struct xp_bulk_mesh *m, struct sim_err *e)
{
	const struct connects_mesh *k = &m->sums.connects.mesh;
	double n = 0;
	for (int l = 0; l < CONNECTS_N_LEVELS; l++)
		n += (double)k->n_peers[l] * (double)m->window_ns /
		    (double)k->every_ns[l];
	n *= (double)m->topo->n_hosts * mesh_n_kept(m);
	if (n > MOST_PROBES)
		return sim_fail(e, SIM_ELIMIT,
		    "algorithms and repairs read each probe: %.3g of them, "
		    "more than %d, in a table of %g s. Leave them out, or "
		    "make the window or the network smaller.",
		    n, MOST_PROBES,
		    (double)m->window_ns / 1e9 * mesh_n_kept(m));
	return xp_every_open(&m->every, &m->topo->clos, e);
}

static int mesh_open_pairs(struct xp_bulk_mesh *m, struct sim_err *e)
{
	return xp_mesh_pairs_open(&m->pairs, &m->topo->clos, m->connects,
	    &m->sums.connects, m->window_ns, m->table.syn_wait_ns[0],
	    mesh_n_kept(m), e);
}

/* Each window's row is of the history that ends with it, and the next one's of
 * another: rows of late connects are taken again. */
static int mesh_tells_again(const struct xp_bulk_mesh *m)
{
	return m->params->along == XP_ALONG_WINDOW && m->summed > 1 &&
	    m->summed < m->n_windows;
}

int xp_bulk_mesh_open(struct xp_bulk_mesh **out, const struct topo *t,
    const struct xp_pingmesh *p, unsigned tells, struct sim_err *e)
{
	struct xp_bulk_mesh *m;
	int rc = SIM_ZALLOC(&m, 1, e);
	if (rc < 0)
		return rc;
	m->topo = t;
	m->params = p;
	m->tables = (tells & OBS_PROBES) > 0;
	m->sums_pairs = !m->tables && (p->repair.on || tells & OBS_PAIRS);
	m->n_windows = xp_pingmesh_n_windows(p);
	m->history = xp_pingmesh_history(p);
	m->summed = p->along == XP_ALONG_QUANTILE ? m->n_windows : m->history;
	m->repair_every = xp_pingmesh_repair_every(p);
	m->window_ns = (sim_ns)llround(p->window_s * 1e9);
	m->lag_ns = xp_pingmesh_lag(p);
	m->dsa = &m->shop.dsa[0];
	if ((rc = xp_repair_open(&m->shop, t, p, e)) < 0 ||
	    (rc = mesh_open_scope(m, e)) < 0 ||
	    (rc = mesh_open_connects(m, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->loss_of, m->n_windows, e)) < 0 ||
	    (mesh_tells_again(m) &&
		(rc = xp_mesh_history_open(&m->rows, m->history, m->window_ns,
		     e)) < 0) ||
	    (m->tables && (rc = mesh_open_tables(m, e)) < 0) ||
	    (m->sums_pairs && (rc = mesh_open_pairs(m, e)) < 0)) {
		xp_bulk_mesh_close(m);
		return rc;
	}
	*out = m;
	return 0;
}

void xp_bulk_mesh_close(struct xp_bulk_mesh *m)
{
	if (!m)
		return;
	connects_close(m->connects);
	xp_mesh_sums_close(&m->sums);
	xp_every_close(&m->every);
	xp_mesh_pairs_close(&m->pairs);
	xp_mesh_history_close(&m->rows);
	free(m->loss_of);
	xp_mean_loss_close(&m->loss);
	xp_repair_close(&m->shop);
	obs_probes_free(&m->table);
	obs_probes_free(&m->part);
	free(m->in_scope);
	free(m);
}

size_t xp_bulk_mesh_n_units(const struct xp_bulk_mesh *m)
{
	const struct topo_clos *c = &m->topo->clos;
	return m->params->unit == ALGO_HEATMAP_POD ? c->n_pods : c->all_tors;
}

size_t xp_bulk_mesh_rows(const struct xp_bulk_mesh *m)
{
	switch ((enum xp_along)m->params->along) {
	case XP_ALONG_WINDOW:
		return m->n_windows;
	case XP_ALONG_QUANTILE:
		return m->params->n_tails;
	case XP_ALONG_GROUP:
		return ALGO_DROP_N_GROUPS;
	case XP_ALONG_PAIR:
		return xp_bulk_mesh_n_units(m) * xp_bulk_mesh_n_units(m);
	default:
		return 1;
	}
}

uint64_t xp_bulk_mesh_n_rows(const struct xp_bulk_mesh *m)
{
	return m->n_rows;
}

/* --- a window's probes -------------------------------------------------------- */

static int mesh_take(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct xp_bulk_mesh *m = arg;
	m->n_rows++;
	int rc = xp_mesh_sums_take(&m->sums, r, e);
	if (rc == 0 && m->tables)
		rc = xp_every_take(&m->every, r, e);
	if (rc == 0 && m->sums_pairs)
		rc = xp_mesh_pairs_take(&m->pairs, r, e);
	if (rc == 0 && m->rows.n_kept > 0)
		rc = xp_mesh_history_take(&m->rows, r, e);
	return rc;
}

static void mesh_segment(void *arg, sim_ns from, sim_ns to,
    const double hazard[], const uint8_t off[])
{
	struct xp_bulk_mesh *m = arg;
	xp_mean_loss_add(&m->loss, (double)(to - from) / 1e9, hazard, off);
}

static void add_loss(struct xp_mean_loss_sum *to,
    const struct xp_mean_loss_sum *s)
{
	for (int h = 0; h < CONNECTS_N_HOPS; h++) {
		to->n[h] += s->n[h];
		to->lost[h] += s->lost[h];
	}
}

/* Rows of TABLE that were sent from FROM on, into PART. */
static int mesh_cut(const struct obs_probes *table, sim_ns from,
    struct obs_probes *part, struct sim_err *e)
{
	int rc = 0;
	obs_probes_clear(part);
	for (size_t i = 0; rc == 0 && i < table->n; i++) {
		const struct obs_probe p = obs_probes_at(table, i);
		if (p.sent_ns >= from)
			rc = obs_probes_add(part, &p, e);
	}
	return rc;
}

/* Forget probes that no job will ask for, and add those of WINDOW. */
static int mesh_tell_each(struct xp_bulk_mesh *m, uint32_t window,
    struct sim_err *e)
{
	const uint32_t kept = mesh_n_kept(m);
	const sim_ns from = window * m->window_ns;
	int rc = 0;
	if (kept == 1) {
		obs_probes_clear(&m->table);
	} else if (window >= kept) {
		rc = mesh_cut(&m->table, (window + 1 - kept) * m->window_ns,
		    &m->part, e);
		const struct obs_probes t = m->table;
		m->table = m->part;
		m->part = t;
	}
	return rc < 0 ? rc
		      : xp_every_tell(&m->every, m->connects, &m->sums, from,
			    from + m->window_ns, &m->rng, &m->table, e);
}

static struct xp_mesh_sums_cell mesh_scope(const struct xp_bulk_mesh *m)
{
	struct xp_mesh_sums_cell sum = {.n_late = 0};
	for (topo_host h = 0; h < m->topo->n_hosts; h++)
		if (!m->in_scope || m->in_scope[h])
			xp_mesh_sums_add(&sum, &m->sums.server[h]);
	return sum;
}

/* Sums go on with WINDOW, and do not begin anew. */
static int mesh_goes_on(const struct xp_bulk_mesh *m, uint32_t window)
{
	return window < m->n_windows && !mesh_tells_again(m) &&
	    window + m->summed > m->n_windows;
}

/* What was drawn of WINDOW, for the whole run. */
static void mesh_total(struct xp_bulk_mesh *m, uint32_t window)
{
	add_loss(&m->loss_all, &m->loss.all);
	add_loss(&m->loss_scope, &m->loss.scope);
	m->loss_of[window] = m->loss.scope;
	if (mesh_goes_on(m, window + 1))
		return;
	const struct xp_mesh_sums_cell scope = mesh_scope(m);
	xp_mesh_sums_add(&m->all.scope, &scope);
	for (int h = 0; h < CONNECTS_N_HOPS; h++)
		xp_mesh_sums_add(&m->all.group[h], &m->sums.group[h]);
}

static int mesh_window(struct xp_bulk_mesh *m, uint32_t window,
    struct sim_err *e)
{
	const struct connects_taker taker = {m, mesh_take, mesh_segment};
	const sim_ns from = window * m->window_ns;
	int rc;
	if (!mesh_goes_on(m, window))
		xp_mesh_sums_clear(&m->sums);
	xp_mesh_sums_begin(&m->sums, from);
	xp_mesh_history_begin(&m->rows);
	m->loss.all = m->loss.scope = (struct xp_mean_loss_sum){{0}, {0}};
	if (m->sums_pairs &&
	    (rc = xp_mesh_pairs_begin(&m->pairs, &m->scene->truth,
		 m->sums.connects.give_up_ns, e)) < 0)
		return rc;
	sim_rng_init(&m->rng, &m->scene->where, SIM_STREAM_CONNECTS,
	    UINT32_C(1) << 31 | window);
	if ((rc = connects_window(m->connects, from, from + m->window_ns,
		 window, &taker, e)) < 0 ||
	    (rc = xp_mesh_sums_end(&m->sums, e)) < 0)
		return rc;
	mesh_total(m, window);
	if ((rc = xp_mesh_history_tell(&m->rows, window, &m->sums, e)) < 0)
		return rc;
	return m->tables ? mesh_tell_each(m, window, e) : 0;
}

/* --- jobs ----------------------------------------------------------------------- */

static enum xp_trouble mesh_trouble(const struct xp_bulk_mesh *m,
    uint32_t window)
{
	const uint32_t n = m->history < window + 1 ? m->history : window + 1;
	const sim_ns to = (window + 1) * m->window_ns;
	return xp_trouble_in(&m->scene->truth, to - n * m->window_ns,
	    to + (sim_ns)llround(m->params->agent.probe_timeout_s * 1e9));
}

int xp_bulk_mesh_judge(struct xp_bulk_mesh *m, uint32_t window,
    struct res_trial_metrics *r, struct sim_err *e)
{
	const struct xp_pingmesh *p = m->params;
	const int has_service = *p->service != '\0';
	enum algo_heatmap_pattern pattern;
	int rc = xp_found_sla(&m->sums, m->dsa,
	    has_service ? 1u << ALGO_SLA_SERVICE | XP_FOUND_NEIGHBOURS
			: 1u << ALGO_SLA_DC,
	    &m->rng, e);
	if (rc < 0 ||
	    (rc = xp_found_heatmap(&m->sums, m->dsa, p->unit, &m->rng, &pattern,
		 e)) < 0 ||
	    (rc = xp_found_silent_drop(&m->sums, m->dsa, e)) < 0)
		return rc;
	xp_judge_level(m->dsa, has_service, r);
	xp_judge_patterns(p, pattern, m->dsa->silent.tier,
	    mesh_trouble(m, window), r);
	return 0;
}

/* Nearly all probes of C, and the mean loss that they had. */
void xp_bulk_mesh_fill(const struct xp_mesh_sums_cell *c, double loss,
    struct res_trial_metrics *r)
{
	const uint64_t n = xp_mesh_sums_n_success(c);
	const struct xp_tally t = {.n_probes = n + c->n_failed,
	    .n_connected = n,
	    .n_unconnected = c->n_failed,
	    .n_drop = c->n_drop,
	    .n_unclear = c->n_unclear,
	    .q = n > 0 ? loss * (double)n : 0};
	xp_tally_fill(&t, r);
}

void xp_bulk_mesh_fill_live(const struct xp_bulk_mesh *m, uint32_t window,
    struct res_trial_metrics *r)
{
	const sim_ns end = (window + 1) * m->window_ns;
	uint32_t n = m->topo->n_hosts;
	for (topo_host h = 0;
	     truth_has_host_off(&m->scene->truth) && h < m->topo->n_hosts; h++)
		n -= truth_outage_at(&m->scene->truth, TRUTH_HOST_OFF, h,
			 end) != NULL;
	r->n_live_agents = n;
	r->n_fetch_failed = r->n_lost_records = 0;
	r->n_traces = r->n_trace_probes = 0;
}

int xp_bulk_mesh_tells(const struct xp_bulk_mesh *m)
{
	return m->tables || m->sums_pairs;
}

/* What there is to see of the N windows to WINDOW, or of those that there were,
 * into O. */
static int mesh_see(struct xp_bulk_mesh *m, uint32_t window, uint32_t n,
    struct obs *o, struct sim_err *e)
{
	int rc = 0;
	if (m->sums_pairs)
		return xp_mesh_pairs_tell(&m->pairs, n, &o->pairs, e);
	o->probes = obs_probes_whole(&m->table);
	if (mesh_n_kept(m) > n && window >= n) {
		rc = mesh_cut(&m->table, (window + 1 - n) * m->window_ns,
		    &m->part, e);
		o->probes = obs_probes_whole(&m->part);
	}
	return rc;
}

/* As in run.c: candidates are named in any case, reloads only made with on. */
static int mesh_repair(struct xp_bulk_mesh *m, uint32_t window,
    struct res_trial_metrics *r, struct sim_err *e)
{
	const uint32_t n = m->repair_every;
	const sim_ns to = (window + 1) * m->window_ns,
		     from = to - n * m->window_ns;
	struct truth *truth = &m->scene->truth;
	struct obs seen = {.n_flows = 0};
	struct xp_repaired did;
	if (!xp_bulk_mesh_tells(m) || (window + 1) % n != 0)
		return 0;
	if (r)
		r->n_black_tors = xp_n_black(truth, &m->dsa->dc, from, to);
	int rc = mesh_see(m, window, n, &seen, e);
	if (rc < 0 ||
	    (rc = xp_repair_run(&m->shop, 0, &seen, from, to, to + m->lag_ns,
		 truth, &did, e)) < 0)
		return rc;
	xp_repaired_add(&m->repaired, &did);
	if (r)
		xp_repaired_fill(&did, m->params->repair.on, r);
	return 0;
}

static int mesh_tell(struct xp_bulk_mesh *m, uint32_t window, size_t row,
    sim_ns now, struct sim_err *e)
{
	const struct xp_pingmesh_hooks *k = m->hooks;
	const struct losses none = {0};
	struct obs o = {.n_flows = 0};
	if (!k->diagnose || !xp_bulk_mesh_tells(m))
		return 0;
	const int rc = mesh_see(m, window, m->history, &o, e);
	return rc < 0 ? rc : k->diagnose(k->arg, &o, &none, row, now, e);
}

/* The mean loss of the history that ends with WINDOW. */
static double mesh_loss(const struct xp_bulk_mesh *m, uint32_t window)
{
	const uint32_t n = m->summed < window + 1 ? m->summed : window + 1;
	struct xp_mean_loss_sum sum = {{0}, {0}};
	for (uint32_t i = 0; i < n; i++)
		add_loss(&sum, &m->loss_of[window - i]);
	return xp_mean_loss_of(&m->loss, &sum, 0, 2);
}

static int mesh_jobs(struct xp_bulk_mesh *m, uint32_t window, struct sim_err *e)
{
	const int own = m->params->along == XP_ALONG_WINDOW;
	const sim_ns now = (window + 1) * m->window_ns + m->lag_ns;
	struct res_trial_metrics *r = own ? &m->row[window] : NULL;
	int rc = mesh_window(m, window, e);
	if (rc == 0 && own) {
		const struct xp_mesh_sums_cell scope = mesh_scope(m);
		xp_bulk_mesh_fill(&scope, mesh_loss(m, window), r);
		xp_bulk_mesh_fill_live(m, window, r);
		rc = xp_bulk_mesh_judge(m, window, r, e);
	}
	if (rc == 0 && m->params->detect)
		rc = mesh_tell(m, window, own ? window : 0, now, e);
	return rc < 0 ? rc : mesh_repair(m, window, r, e);
}

/* --- a run ---------------------------------------------------------------------- */

static int mesh_begin(struct xp_bulk_mesh *m, struct scene *scene,
    struct res_trial_metrics row[], struct sim_err *e)
{
	double *x = (double *)row;
	const size_t n = xp_bulk_mesh_rows(m);
	const double n_faults = (double)truth_n_faulty(&scene->truth);
	m->scene = scene;
	m->row = row;
	m->n_rows = 0;
	m->all = (struct mesh_totals){.scope = {.n_late = 0}};
	m->loss_all = m->loss_scope = (struct xp_mean_loss_sum){{0}, {0}};
	m->repaired = (struct xp_repaired){0};
	obs_probes_clear(&m->table);
	for (size_t i = 0; i < n * RES_N_TRIAL_METRICS; i++)
		x[i] = NAN;
	for (size_t i = 0; i < n; i++)
		row[i].n_faults = n_faults;
	xp_repair_begin(&m->shop);
	xp_mesh_sums_clear(&m->sums);
	xp_mean_loss_clear(&m->loss);
	xp_mesh_pairs_clear(&m->pairs);
	xp_mesh_history_clear(&m->rows);
	return xp_bulk_mesh_begin(m->connects, scene, e);
}

int xp_bulk_mesh_run(struct xp_bulk_mesh *m, struct scene *scene,
    struct res_trial_metrics row[], const struct xp_pingmesh_hooks *hooks,
    struct sim_err *e)
{
	const sim_ns end = m->n_windows * m->window_ns + m->lag_ns;
	int rc = mesh_begin(m, scene, row, e);
	m->hooks = hooks;
	for (uint32_t w = 0; rc == 0 && w < m->n_windows; w++)
		rc = mesh_jobs(m, w, e);
	if (rc == 0)
		rc = xp_bulk_mesh_fill_rows(m, e);
	if (rc == 0)
		rc = mesh_tell(m, m->n_windows - 1, SIZE_MAX, end, e);
	for (size_t i = 0;
	     rc == 0 && m->params->cost.on && i < xp_bulk_mesh_rows(m); i++)
		xp_bulk_mesh_cost(m, &row[i]);
	return rc;
}
