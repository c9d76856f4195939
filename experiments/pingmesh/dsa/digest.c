/* experiments/pingmesh/dsa/digest.c -- what all windows come to, in a few lines.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/digest.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/dsa/parts.h"

void xp_dsa_digest_free(struct xp_dsa_digest *d)
{
	free(d->summary.row);
	free(d->reloads.row);
	*d = (struct xp_dsa_digest){0};
}

/* NaN is above nothing, so the first value that is measured replaces it. */
static void digest_raise(struct xp_dsa_highest *h, double value, double from_s)
{
	if (value > h->value || (isnan(h->value) && !isnan(value)))
		*h = (struct xp_dsa_highest){value, from_s};
}

/* Data centres come in order of their numbers in the first window. */
static struct xp_dsa_digest_dc *digest_dc(struct xp_dsa_digest *d, uint32_t dc)
{
	for (; d->n_dcs <= dc; d->n_dcs++) {
		d->dc[d->n_dcs].drop_rate.value = NAN;
		d->dc[d->n_dcs].p99_us.value = NAN;
	}
	return &d->dc[dc];
}

/* Who reads the tables by themselves may take a window in which half of the
 * servers were silent for a quiet one, so what was seen in part is noted. */
static int digest_row(struct xp_dsa_digest *d,
    const struct xp_dsa_summary_row *s, struct sim_err *e)
{
	const uint32_t pattern =
	    s->tor_pattern > s->pod_pattern ? s->tor_pattern : s->pod_pattern;
	if (s->data_centre >= RES_RECORDING_MAX_DCS ||
	    pattern >= XP_DSA_DIGEST_WORDS || s->tier >= XP_DSA_DIGEST_WORDS)
		return sim_fail(e, SIM_EPARSE,
		    "there is no data centre %u, pattern %u or tier %u.",
		    s->data_centre, pattern, s->tier);
	struct xp_dsa_digest_dc *dc = digest_dc(d, s->data_centre);
	dc->n_windows++;
	dc->n_probes += s->n_probes;
	dc->seen += s->seen_share;
	digest_raise(&dc->drop_rate, s->drop_rate, s->from_s);
	digest_raise(&dc->p99_us, s->p99_us, s->from_s);
	dc->n_alerting += s->n_alerts > 0;
	dc->n_patterns[pattern]++;
	dc->n_tiers[s->tier]++;
	d->n_rows++;
	if (s->seen_share >= 1 - 1e-9)
		return 0;
	if (d->n_partial++ == 0 || s->seen_share < d->least.seen_share)
		d->least = *s;
	return 0;
}

static int digest_alert(struct xp_dsa_digest *d, uint32_t dc, uint32_t kind,
    int alerts, struct sim_err *e)
{
	if (dc >= RES_RECORDING_MAX_DCS || kind >= ALGO_SLA_N_KINDS)
		return sim_fail(e, SIM_EPARSE,
		    "there is no data centre %u, or kind %u of scopes.", dc,
		    kind);
	d->dc[dc].n_alerts[kind] += (uint64_t)alerts;
	return 0;
}

/* Counters and probes of a window tell of the same servers, so their alerts are
 * not added: those of probes count if there are any, as in column n_alerts. */
static int digest_alerts(struct xp_dsa_digest *d, const struct xp_dsa_tables *t,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->sla.n; i++) {
		const struct xp_dsa_sla_row *s = &t->sla.row[i];
		rc = digest_alert(d, s->data_centre, s->kind,
		    s->alert_drop || s->alert_p99, e);
	}
	for (size_t i = 0; rc == 0 && t->sla.n == 0 && i < t->counters.n; i++) {
		const struct xp_dsa_counters_row *c = &t->counters.row[i];
		rc = digest_alert(d, c->data_centre, c->kind,
		    c->alert_drop || c->alert_p99, e);
	}
	return rc;
}

static int digest_reloads(struct xp_dsa_digest *d,
    const struct xp_dsa_tables *t, struct sim_err *e)
{
	for (size_t i = 0; i < t->blackhole_tors.n; i++) {
		const struct xp_dsa_blackhole_tors_row *b =
		    &t->blackhole_tors.row[i];
		if (b->action != ALGO_BLACKHOLE_RELOAD)
			continue;
		const int rc = XP_DSA_RESERVE(&d->reloads, 1, e);
		if (rc < 0)
			return rc;
		d->reloads.row[d->reloads.n++] =
		    (struct xp_dsa_reload){b->from_s, b->data_centre, b->tor};
	}
	return 0;
}

int xp_dsa_digest_add(struct xp_dsa_digest *d, const struct xp_dsa_tables *t,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->summary.n; i++) {
		rc = digest_row(d, &t->summary.row[i], e);
		if (rc == 0 && d->keep &&
		    (rc = XP_DSA_RESERVE(&d->summary, 1, e)) == 0)
			d->summary.row[d->summary.n++] = t->summary.row[i];
	}
	if (rc == 0)
		rc = digest_alerts(d, t, e);
	return rc < 0 ? rc : digest_reloads(d, t, e);
}
