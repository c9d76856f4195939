/* experiments/pingmesh/judge.c -- what jobs make of a table, beside the truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/judge.h"

#include <math.h>

int xp_judge_open(struct xp_judge *j, const struct xp_pingmesh *p,
    struct xp_dsa *dsa, struct sim_err *e)
{
	sim_ns wait[OBS_MAX_WAITS] = {0};
	*j = (struct xp_judge){.params = p,
	    .dsa = dsa,
	    .has_service = *p->service != '\0'};
	xp_pingmesh_waits(p, wait);
	return xp_dsa_ladder(dsa, wait, &j->ladder, e);
}

/* --- counting ------------------------------------------------------------- */

static void add_tally(struct xp_tally *to, const struct xp_tally *from)
{
	to->n_probes += from->n_probes;
	to->n_connected += from->n_connected;
	to->n_unconnected += from->n_unconnected;
	to->n_drop += from->n_drop;
	to->n_crossed += from->n_crossed;
	to->n_unclear += from->n_unclear;
	to->q += from->q;
}

/* Within a data centre; of probes to another one, as if it were within. */
static uint64_t switches_between(const struct topo_dc *dc, topo_host a,
    topo_host b)
{
	if (!topo_dc_has(dc, a) || !topo_dc_has(dc, b) ||
	    topo_dc_pod_index(dc, a) != topo_dc_pod_index(dc, b))
		return 5;
	return topo_dc_tor_index(dc, a) == topo_dc_tor_index(dc, b) ? 1 : 3;
}

/* A probe that lost SYNs counts as one drop, however many they were: Pingmesh's
 * rule (section 4.2), since losses of one connection are not independent. A
 * negative number of lost SYNs means a time that is on no rung of the ladder.
 */
void xp_judge_tally(const struct xp_judge *j, const struct obs_probes *t,
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
		    .n_crossed = j->params->cost.on
			? switches_between(&j->dsa->dc, t->src_host[i],
			      t->dst_host[i])
			: 0,
		    .n_unclear = n_lost < 0,
		    .q = connected ? xp_true_loss_of(loss, t, i) : 0,
		};
		const enum algo_drop_group g = algo_drop_group_of(&j->dsa->dc,
		    t->src_host[i], t->dst_host[i], t->level[i]);
		add_tally(&sum->group[g], &one);
		add_tally(&sum->group[ALGO_DROP_ALL], &one);
		if (g != ALGO_DROP_INTER_DC &&
		    (!j->has_service ||
			algo_sla_serves(&j->dsa->sla, t->src_host[i])))
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

/* The service's level, or that of the data centre as a whole. A verdict whether
 * the network is to blame needs neighbours that do not serve, so only services
 * have one. */
void xp_judge_level(const struct xp_dsa *d, int has_service,
    struct res_trial_metrics *m)
{
	const struct algo_sla_scope *s = algo_sla_at(&d->sla,
	    has_service ? ALGO_SLA_SERVICE : ALGO_SLA_DC, 0);
	m->p50_us = s->p50_us;
	m->p99_us = s->p99_us;
	m->alert_drop = (s->alerts & ALGO_SLA_ALERT_DROP) != 0;
	m->alert_p99 = (s->alerts & ALGO_SLA_ALERT_P99) != 0;
	if (has_service)
		m->verdict = d->sla.verdict[0];
}

/* EXPECT is 0 when the spec does not say what to expect, else 1 + the value
 * that GOT should have in trouble. In calm it should be 0, which is the normal
 * pattern as well as the tier none. A window in which a fault began or ended
 * shows a mixture that is neither right nor wrong, so it is not counted. */
static void judge_judge(uint32_t got, uint32_t expect, enum xp_trouble trouble,
    double *right, double *n)
{
	const uint32_t want = trouble == XP_CALM ? 0 : expect - 1;
	if (expect == 0 || trouble == XP_CHANGE)
		return;
	*right = got == want;
	*n = 1;
}

void xp_judge_patterns(const struct xp_pingmesh *p,
    enum algo_heatmap_pattern pattern, enum algo_silent_drop_tier tier,
    enum xp_trouble trouble, struct res_trial_metrics *m)
{
	m->pattern = pattern;
	m->tier = tier;
	judge_judge(pattern, p->expect, trouble, &m->pattern_right,
	    &m->n_pattern);
	judge_judge(tier, p->expect_tier, trouble, &m->tier_right, &m->n_tier);
}

int xp_judge_run(struct xp_judge *j, const struct obs_probe_source *t,
    enum xp_trouble trouble, struct res_trial_metrics *m, struct sim_err *e)
{
	const struct xp_pingmesh *p = j->params;
	enum algo_heatmap_pattern pattern;
	int rc = xp_dsa_measure(j->dsa, t, p->unit, e);
	if (rc < 0)
		return sim_wrap(e, rc, "service level, heat map, silent drops");
	xp_judge_level(j->dsa, j->has_service, m);
	if ((rc = algo_heatmap_classify(&j->dsa->heatmap,
		 &j->dsa->params.heatmap, &pattern, e)) < 0)
		return sim_wrap(e, rc, "heat map");
	xp_judge_patterns(p, pattern, j->dsa->silent.tier, trouble, m);
	return 0;
}
