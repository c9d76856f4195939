/* tests/rigs/sampled.c -- runs and buckets of hosts, made by hand or drawn.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/sampled.h"

#include <gsl/gsl_randist.h>

#include "tests/test.h"

void sampled_run(struct sampled *s, uint32_t host, uint32_t n)
{
	assert_ok(obs_runs_add(&s->runs,
	    &(struct obs_run){.start_ns = 1000000000,
		.width_ns = 1000000,
		.line_bps = 12500000000,
		.host = host,
		.n_buckets = n},
	    test_err()));
}

void sampled_row(struct sampled *s, struct obs_sample row)
{
	row.run = (uint32_t)s->runs.n - 1;
	assert_ok(obs_samples_add(&s->samples, &row, test_err()));
}

void sampled_free(struct sampled *s)
{
	obs_runs_free(&s->runs);
	obs_samples_free(&s->samples);
}

struct obs sampled_window(const struct sampled *s)
{
	return (struct obs){.runs = &s->runs, .samples = &s->samples};
}

/* What a bucket loses is sent again later, on top of what comes then. */
static void draw_losses(uint32_t packets, int full,
    const struct sampled_law *law, struct sim_rng *r, uint32_t k,
    uint32_t again[])
{
	again[k + 1] += gsl_ran_binomial(&r->gsl, law->loss, packets);
	if (!full || sim_rng_u01(r) >= law->full)
		return;
	for (uint32_t n = 1 + sim_rng_below(r, 40); n > 0; n--)
		again[k + (sim_rng_below(r, 3) == 0 ? law->rto_ms : 1)]++;
}

void sampled_draw(struct sampled *s, uint32_t host,
    const struct sampled_law *law, struct sim_rng *r)
{
	enum { N = 2000, LATER = 1000 };
	uint32_t again[N + LATER] = {0}, left = 0;
	assert_true(law->rto_ms < LATER);
	sampled_run(s, host, N);
	for (uint32_t k = 0; k < N; k++) {
		if (left == 0 && sim_rng_u01(r) < law->rate)
			left = 1 + sim_rng_below(r, 6);
		const uint32_t packets = left > 0 ? 600 + sim_rng_below(r, 400)
						  : sim_rng_below(r, 20);
		const uint32_t ce =
		    left > 0 ? (uint32_t)(law->marked * packets) : 0;
		draw_losses(packets, ce > 0, law, r, k, again);
		left -= left > 0;
		if (packets + again[k] > 0)
			sampled_row(s,
			    (struct obs_sample){.bucket = k,
				.in_bytes = 1500 * (packets + again[k]),
				.in_ce = 1500 * ce,
				.in_retx = 1500 * again[k],
				.conns = 1});
	}
}

int sampled_diagnose(void *given, struct sim_err *e)
{
	struct sampled_given *g = given;
	struct algo_verdicts v = {0};
	void *work;
	int rc = algo_open(g->ops, &work, &g->t, NULL, e);
	if (rc == 0)
		rc = g->ops->diagnose(work, &g->w, NULL, &v, e);
	algo_close(g->ops, work);
	algo_verdicts_free(&v);
	return rc;
}
