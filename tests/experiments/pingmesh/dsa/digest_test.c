/* tests/experiments/pingmesh/dsa/digest_test.c -- what all windows come to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Windows are drawn, added one by one, and each number of the digest is looked for
 * in all rows at once.
 */
#include "experiments/pingmesh/dsa/digest.h"

#include "tests/test.h"

enum { WINDOWS = 12, DCS = 3, SCOPES = 5, TORS = 4 };

/* One window's rows. */
struct window {
	struct xp_dsa_summary_row summary[DCS];
	struct xp_dsa_sla_row sla[DCS * SCOPES];
	struct xp_dsa_counters_row counters[DCS * SCOPES];
	struct xp_dsa_blackhole_tors_row tor[DCS * TORS];
	struct xp_dsa_tables tables;
};

static double measured(struct sim_rng *r)
{
	return sim_rng_below(r, 4) ? sim_rng_u01(r) : NAN;
}

static void draw_dc(struct window *x, struct sim_rng *r, uint32_t dc,
    double from_s)
{
	x->summary[dc] = (struct xp_dsa_summary_row){.from_s = from_s,
	    .data_centre = dc,
	    .n_probes = sim_rng_below(r, 1000),
	    .seen_share = sim_rng_below(r, 2) ? 1 : sim_rng_u01(r),
	    .drop_rate = measured(r),
	    .p99_us = measured(r),
	    .n_alerts = sim_rng_below(r, 3),
	    .tor_pattern = (uint8_t)sim_rng_below(r, XP_DSA_DIGEST_WORDS),
	    .pod_pattern = (uint8_t)sim_rng_below(r, XP_DSA_DIGEST_WORDS),
	    .tier = (uint8_t)sim_rng_below(r, XP_DSA_DIGEST_WORDS)};
	for (uint32_t i = dc * SCOPES; i < (dc + 1) * SCOPES; i++) {
		x->sla[i] = (struct xp_dsa_sla_row){.data_centre = dc,
		    .kind = (uint8_t)sim_rng_below(r, ALGO_SLA_N_KINDS),
		    .alert_drop = (uint8_t)sim_rng_below(r, 2),
		    .alert_p99 = (uint8_t)sim_rng_below(r, 2)};
		x->counters[i] = (struct xp_dsa_counters_row){.data_centre = dc,
		    .kind = (uint8_t)sim_rng_below(r, ALGO_SLA_N_KINDS),
		    .alert_drop = (uint8_t)sim_rng_below(r, 2),
		    .alert_p99 = (uint8_t)sim_rng_below(r, 2)};
	}
	for (uint32_t i = 0; i < TORS; i++)
		x->tor[dc * TORS + i] =
		    (struct xp_dsa_blackhole_tors_row){.from_s = from_s,
			.data_centre = dc,
			.tor = i,
			.action = (uint8_t)sim_rng_below(r,
			    ALGO_BLACKHOLE_ESCALATE + 1)};
}

/* Every third window has no probes, and its alerts are of counters. In every
 * fourth run no window of data centre 0 has a drop rate. */
static void draw(struct window x[WINDOWS], uint32_t n_dcs, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	memset(x, 0, WINDOWS * sizeof(x[0]));
	for (uint32_t i = 0; i < WINDOWS; i++) {
		struct xp_dsa_tables *t = &x[i].tables;
		for (uint32_t dc = 0; dc < n_dcs; dc++)
			draw_dc(&x[i], &r, dc, 600. * i);
		if (run % 4 == 0)
			x[i].summary[0].drop_rate = NAN;
		t->summary.row = x[i].summary;
		t->summary.n = n_dcs;
		t->sla.row = x[i].sla;
		t->sla.n = i % 3 ? (size_t)n_dcs * SCOPES : 0;
		t->counters.row = x[i].counters;
		t->counters.n = (size_t)n_dcs * SCOPES;
		t->blackhole_tors.row = x[i].tor;
		t->blackhole_tors.n = (size_t)n_dcs * TORS;
	}
}

static void assert_highest(const struct window x[WINDOWS], uint32_t dc,
    int is_p99, const struct xp_dsa_highest *h)
{
	double most = NAN, from_s = 0;
	for (uint32_t i = WINDOWS; i-- > 0;) {
		const struct xp_dsa_summary_row *s = &x[i].summary[dc];
		const double v = is_p99 ? s->p99_us : s->drop_rate;
		if (isnan(v) || v < most)
			continue;
		most = v;
		from_s = s->from_s;
	}
	if (isnan(most)) {
		assert_true(isnan(h->value));
		return;
	}
	assert_true(h->value == most && h->from_s == from_s);
}

static void assert_dc(const struct window x[WINDOWS], uint32_t dc,
    const struct xp_dsa_digest_dc *d)
{
	struct xp_dsa_digest_dc want = {.n_windows = WINDOWS};
	for (uint32_t i = 0; i < WINDOWS; i++) {
		const struct xp_dsa_summary_row *s = &x[i].summary[dc];
		want.n_probes += s->n_probes;
		want.seen += s->seen_share;
		want.n_alerting += s->n_alerts >= 1;
		want.n_tiers[s->tier]++;
		want.n_patterns[s->tor_pattern > s->pod_pattern
			? s->tor_pattern
			: s->pod_pattern]++;
		for (uint32_t k = dc * SCOPES; k < (dc + 1) * SCOPES; k++)
			if (i % 3)
				want.n_alerts[x[i].sla[k].kind] +=
				    x[i].sla[k].alert_drop +
					x[i].sla[k].alert_p99 >
				    0;
			else
				want.n_alerts[x[i].counters[k].kind] +=
				    x[i].counters[k].alert_drop +
					x[i].counters[k].alert_p99 >
				    0;
	}
	assert_int_equal(d->n_windows, want.n_windows);
	assert_int_equal(d->n_probes, want.n_probes);
	assert_int_equal(d->n_alerting, want.n_alerting);
	assert_true(d->seen == want.seen);
	assert_memory_equal(d->n_tiers, want.n_tiers, sizeof(want.n_tiers));
	assert_memory_equal(d->n_patterns, want.n_patterns,
	    sizeof(want.n_patterns));
	assert_memory_equal(d->n_alerts, want.n_alerts, sizeof(want.n_alerts));
	assert_highest(x, dc, 0, &d->drop_rate);
	assert_highest(x, dc, 1, &d->p99_us);
}

static void assert_rows(const struct window x[WINDOWS], uint32_t n_dcs,
    const struct xp_dsa_digest *d)
{
	uint64_t n_partial = 0;
	size_t n_reloads = 0;
	double least = INFINITY;
	for (uint32_t i = 0; i < WINDOWS; i++) {
		for (uint32_t dc = 0; dc < n_dcs; dc++) {
			const struct xp_dsa_summary_row *s = &x[i].summary[dc];
			n_partial += s->seen_share < 1;
			least = fmin(least, s->seen_share);
			if (d->keep)
				assert_memory_equal(s,
				    &d->summary.row[i * n_dcs + dc],
				    sizeof(*s));
		}
		for (uint32_t k = 0; k < n_dcs * TORS; k++) {
			const struct xp_dsa_blackhole_tors_row *t =
			    &x[i].tor[k];
			if (t->action != ALGO_BLACKHOLE_RELOAD)
				continue;
			assert_in_range(n_reloads, 0, d->reloads.n - 1);
			const struct xp_dsa_reload *r =
			    &d->reloads.row[n_reloads++];
			assert_true(r->from_s == 600. * i);
			assert_int_equal(r->data_centre, t->data_centre);
			assert_int_equal(r->tor, t->tor);
		}
	}
	assert_int_equal(d->n_rows, WINDOWS * n_dcs);
	assert_int_equal(d->summary.n, d->keep ? WINDOWS * n_dcs : 0);
	assert_int_equal(d->n_partial, n_partial);
	assert_int_equal(d->reloads.n, n_reloads);
	if (n_partial > 0)
		assert_true(d->least.seen_share == least);
}

static void a_digest_has_what_the_windows_have(void **state)
{
	static struct window x[WINDOWS];
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		const uint32_t n_dcs = 1 + run % DCS;
		struct xp_dsa_digest d = {.keep = run / DCS % 2};
		draw(x, n_dcs, run);
		for (uint32_t i = 0; i < WINDOWS; i++)
			assert_ok(
			    xp_dsa_digest_add(&d, &x[i].tables, test_err()));
		assert_int_equal(d.n_dcs, n_dcs);
		for (uint32_t dc = 0; dc < n_dcs; dc++)
			assert_dc(x, dc, &d.dc[dc]);
		assert_rows(x, n_dcs, &d);
		xp_dsa_digest_free(&d);
	}
}

static void assert_refused(struct window *x, const char *want)
{
	struct xp_dsa_digest d = {0};
	struct sim_err e;
	assert_int_equal(xp_dsa_digest_add(&d, &x->tables, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, want));
	xp_dsa_digest_free(&d);
}

/* The largest numbers that a window may have, and what is above them. */
static void numbers_that_no_window_has_are_refused(void **state)
{
	static struct window x[WINDOWS];
	struct xp_dsa_digest d = {0};
	struct window *w = &x[1];
	(void)state;
	draw(x, 1, 0);
	struct xp_dsa_summary_row *s = w->summary;
	s->data_centre = w->sla[0].data_centre = RES_RECORDING_MAX_DCS - 1;
	s->tor_pattern = s->pod_pattern = s->tier = XP_DSA_DIGEST_WORDS - 1;
	w->sla[0].kind = ALGO_SLA_N_KINDS - 1;
	assert_ok(xp_dsa_digest_add(&d, &w->tables, test_err()));
	xp_dsa_digest_free(&d);
	s->data_centre++;
	assert_refused(w, "there is no data centre");
	s->data_centre--;
	s->pod_pattern++;
	assert_refused(w, "there is no data centre");
	s->pod_pattern--;
	s->tier++;
	assert_refused(w, "there is no data centre");
	s->tier--;
	w->sla[0].kind++;
	assert_refused(w, "of scopes");
	w->sla[0].kind--;
	w->sla[0].data_centre++;
	assert_refused(w, "of scopes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_digest_has_what_the_windows_have),
	    cmocka_unit_test(numbers_that_no_window_has_are_refused),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/dsa/digest",
	    tests, NULL, NULL);
}
