/* experiments/pingmesh/jobs.c -- what is made of a table of one data centre.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/jobs.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

/* --- opening -------------------------------------------------------------- */

static int open_service(struct xp_jobs *j, const struct topo *t,
    struct sim_err *e)
{
	struct algo_sla_service service = {.name = "service"};
	topo_host *host = NULL;
	int rc = xp_pingmesh_service(j->params->service, t->n_hosts, &host,
	    &service.n, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&j->serves, j->dc.shape->all_hosts, e);
	for (size_t i = 0; rc == 0 && i < service.n; i++) {
		host[i] -= j->dc.first_host;
		if (host[i] >= j->dc.shape->all_hosts)
			rc = sim_fail(e, SIM_ERANGE,
			    "service: a host is not of data centre %u.",
			    j->params->dc);
		else
			j->serves[host[i]] = 1;
	}
	service.server = host;
	j->has_service = service.n > 0;
	if (rc == 0)
		rc = algo_sla_open(&j->sla, j->dc.shape, &j->params->sla,
		    &service, (uint32_t)j->has_service, e);
	free(host);
	return rc;
}

int xp_jobs_open(struct xp_jobs *j, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	sim_ns wait[OBS_MAX_WAITS];
	const unsigned n = xp_pingmesh_waits(p, wait);
	*j = (struct xp_jobs){.params = p, .dc = xp_dc_at(t, p->dc)};
	int rc = algo_drop_ladder_init(&j->ladder, wait, n,
	    (sim_ns)llround(p->tolerance_s * 1e9), e);
	if (rc == 0)
		rc = open_service(j, t, e);
	if (rc == 0)
		rc = algo_silent_drop_open(&j->silent, j->dc.shape, &p->silent,
		    e);
	return rc;
}

void xp_jobs_close(struct xp_jobs *j)
{
	algo_sla_close(&j->sla);
	algo_heatmap_free(&j->heatmap);
	algo_silent_drop_close(&j->silent);
	free(j->serves);
	*j = (struct xp_jobs){0};
}

/* --- counting ------------------------------------------------------------- */

static void add_tally(struct xp_tally *to, const struct xp_tally *from)
{
	to->n_probes += from->n_probes;
	to->n_connected += from->n_connected;
	to->n_unconnected += from->n_unconnected;
	to->n_drop += from->n_drop;
	to->n_unclear += from->n_unclear;
	to->q += from->q;
}

void xp_jobs_tally(const struct xp_jobs *j, const struct obs_probes *t,
    struct xp_true_loss *loss, struct xp_tallies *sum)
{
	for (size_t i = 0; i < t->n; i++) {
		const int connected = t->outcome[i] == OBS_CONNECTED;
		const int n_lost =
		    connected ? algo_drop_n_lost(&j->ladder, t->rtt_ns[i]) : 0;
		const struct xp_tally one = {
		    .n_probes = 1,
		    .n_connected = (uint64_t)connected,
		    .n_unconnected = (uint64_t)!connected,
		    .n_drop = n_lost > 0,
		    .n_unclear = n_lost < 0,
		    .q = connected ? xp_true_loss_of(loss, &j->dc, t, i) : 0,
		};
		const enum algo_drop_group g = t->level[i] == OBS_LEVEL_INTER_DC
		    ? ALGO_DROP_INTER_DC
		    : xp_group_within(j->dc.shape, t->src_host[i],
			  t->dst_host[i]);
		add_tally(&sum->group[g], &one);
		add_tally(&sum->group[ALGO_DROP_ALL], &one);
		if (g != ALGO_DROP_INTER_DC &&
		    (!j->has_service || j->serves[t->src_host[i]]))
			add_tally(&sum->scope, &one);
	}
}

void xp_tallies_add(struct xp_tallies *to, const struct xp_tallies *from)
{
	for (int g = 0; g < ALGO_DROP_N_GROUPS; g++)
		add_tally(&to->group[g], &from->group[g]);
	add_tally(&to->scope, &from->scope);
}

void xp_tally_fill(const struct xp_tally *t, struct res_trial_metrics *m)
{
	m->n_probes = (double)t->n_probes;
	m->n_connected = (double)t->n_connected;
	m->n_unconnected = (double)t->n_unconnected;
	m->n_drop = (double)t->n_drop;
	m->n_unclear = (double)t->n_unclear;
	m->true_drop_rate =
	    t->n_connected > 0 ? t->q / (double)t->n_connected : NAN;
}

/* --- analyses ------------------------------------------------------------- */

static int run_sla(struct xp_jobs *j, const struct obs_probes *t,
    struct res_trial_metrics *m, struct sim_err *e)
{
	int rc = algo_sla_measure(&j->sla, t, &j->ladder, e);
	if (rc < 0)
		return rc;
	const struct algo_sla_scope *s = algo_sla_at(&j->sla,
	    j->has_service ? ALGO_SLA_SERVICE : ALGO_SLA_DC, 0);
	m->p50_us = s->p50_us;
	m->p99_us = s->p99_us;
	m->alert_drop = (s->alerts & ALGO_SLA_ALERT_DROP) != 0;
	m->alert_p99 = (s->alerts & ALGO_SLA_ALERT_P99) != 0;
	if (j->has_service)
		m->verdict = j->sla.verdict[0];
	return 0;
}

/* EXPECT: 0, or 1 + what it should be in trouble. In calm it should be 0. */
static void judge(uint32_t got, uint32_t expect, enum xp_trouble trouble,
    double *right, double *n)
{
	const uint32_t want = trouble == XP_CALM ? 0 : expect - 1;
	if (expect == 0 || trouble == XP_CHANGE)
		return;
	*right = got == want;
	*n = 1;
}

int xp_jobs_run(struct xp_jobs *j, const struct obs_probes *t,
    enum xp_trouble trouble, struct res_trial_metrics *m, struct sim_err *e)
{
	const struct xp_pingmesh *p = j->params;
	enum algo_heatmap_pattern pattern;
	int rc = run_sla(j, t, m, e);
	if (rc < 0)
		return sim_wrap(e, rc, "service level");
	if ((rc = algo_heatmap_measure(&j->heatmap, t, j->dc.shape, p->unit,
		 e)) < 0 ||
	    (rc = algo_heatmap_classify(&j->heatmap, &p->heatmap, &pattern,
		 e)) < 0)
		return sim_wrap(e, rc, "heat map");
	if ((rc = algo_silent_drop_find(&j->silent, t, &j->ladder, e)) < 0)
		return sim_wrap(e, rc, "silent drops");
	m->pattern = pattern;
	m->tier = j->silent.tier;
	judge(pattern, p->expect, trouble, &m->pattern_right, &m->n_pattern);
	judge(j->silent.tier, p->expect_tier, trouble, &m->tier_right,
	    &m->n_tier);
	return 0;
}
