/* tests/rack_bursts.c -- a rack's traffic of two kinds, played and sampled.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rack_bursts.h"

#include <gsl/gsl_randist.h>

#include "algos/millisampler/sketch.h"
#include "tests/test.h"

static void rack_burst_add(struct rack_flows *f, double ms, uint32_t server,
    uint32_t segments, uint32_t warm)
{
	assert_ok(rack_flows_add(f,
	    &(struct rack_flow){.start_ns = (uint64_t)(ms * 1e6),
		.server = server,
		.segments = segments,
		.conn = warm > 0 ? warm : 100000 + (uint32_t)f->n,
		.warm = warm},
	    test_err()));
}

/* N connections of one burst share its volume. */
static void rack_burst_of(struct rack_flows *f, double ms, uint32_t server,
    uint32_t n, int is_warm, struct sim_rng *r)
{
	const double median = is_warm ? 4e6 : 1.6e6;
	const double bytes = gsl_ran_lognormal(&r->gsl, log(median), 1);
	const uint32_t each = (uint32_t)ceil(bytes / 1500 / n);
	for (uint32_t i = 0; i < n; i++)
		rack_burst_add(f, ms, server, each,
		    is_warm ? 8 * server + i + 1 : 0);
}

static void rack_bursts_draw(struct rack_flows *f, const struct rack_bursts *b,
    struct sim_rng *r)
{
	const uint32_t n = b->p.n_servers;
	double job = 30;
	for (double ms = 0; ms < b->ms; ms += .5)
		for (uint32_t s = 0; s < n; s++) {
			const double at = ms + s * .5 / n;
			if (sim_rng_u01(r) < .025) /* background */
				rack_burst_add(f, at, s, 10, 0);
			if (!b->is_job && sim_rng_u01(r) < .005)
				rack_burst_of(f, at, s,
				    (uint32_t)fmin(300,
					gsl_ran_pareto(&r->gsl, 1.1, 3)),
				    0, r);
			if (b->is_job && ms >= job && sim_rng_below(r, 4) == 0)
				rack_burst_of(f, at, s, 2 + sim_rng_below(r, 7),
				    1, r);
			if (s == n - 1 && ms >= job)
				job += 30 + 10 * sim_rng_u01(r);
		}
}

/* What a server counted in a bucket, if anything. */
static void rack_bursts_row(struct sampled *s, uint32_t run, uint32_t bucket,
    const struct rack_count *c)
{
	const struct obs_sketch k = {c->sketch[0], c->sketch[1]};
	if (c->in + c->out == 0)
		return;
	assert_ok(obs_samples_add(&s->samples,
	    &(struct obs_sample){.run = run,
		.bucket = bucket,
		.in_bytes = (uint32_t)c->in,
		.in_ce = (uint32_t)c->in_ce,
		.in_retx = (uint32_t)c->in_retx,
		.out_bytes = (uint32_t)c->out,
		.out_retx = (uint32_t)c->out_retx,
		.conns = algo_sketch_conns(&k),
		.sketch_lo = k.lo,
		.sketch_hi = k.hi},
	    test_err()));
}

static struct rack *rack_bursts_open(const struct rack_bursts *b, uint32_t run)
{
	struct rack_flows f = {0};
	struct rack *k = NULL;
	struct sim_rng r;
	test_rng(&r, run);
	assert_ok(rack_open(&k, &b->p,
	    &(struct sim_seed){.seed = test_seed(), .run = run}, test_err()));
	rack_bursts_draw(&f, b, &r);
	assert_ok(rack_put(k, &f, test_err()));
	rack_flows_free(&f);
	for (uint32_t s = 0; s < b->p.n_servers && b->loss > 0; s++)
		if (rack_bursts_is_bad(s))
			assert_ok(rack_link_loss(k, s, 0, b->loss, test_err()));
	if (b->stall_ms > 0)
		assert_ok(rack_stall(k, 5, (sim_ns)(b->stall_at * 1e6),
		    (sim_ns)((b->stall_at + b->stall_ms) * 1e6), test_err()));
	return k;
}

/* Slots by which a server's run starts later. */
static uint32_t rack_bursts_later(const struct rack_bursts *b, uint32_t run,
    uint32_t server, uint32_t slots)
{
	struct sim_rng r;
	test_rng(&r, 50000 + run * 100 + server);
	return b->apart ? sim_rng_below(&r, slots) : b->phase;
}

void rack_bursts_sample(struct sampled *s, const struct rack_bursts *b,
    uint32_t run)
{
	const uint32_t fine = b->fine > 0 ? b->fine : 1;
	const uint32_t n = b->p.n_servers, n_buckets = fine * (uint32_t)b->ms;
	const uint32_t slots = (uint32_t)(1000 / fine / b->p.slot_us);
	const size_t cells = (size_t)n * n_buckets;
	struct rack_count *c = calloc(cells, sizeof(c[0]));
	struct rack *k = rack_bursts_open(b, run);
	uint32_t *later = calloc(n, sizeof(later[0]));
	assert_true(c && later);
	for (uint32_t h = 0; h < n; h++)
		later[h] = rack_bursts_later(b, run, h, slots);
	for (uint32_t i = 0; i <= (n_buckets + 1) * slots; i++) {
		assert_ok(rack_run(k, i * rack_slot_ns(k), test_err()));
		for (uint32_t h = 0; h < n; h++) {
			const uint32_t m = (i - later[h]) / slots;
			struct rack_count now;
			if (i < later[h] || (i - later[h]) % slots != 0 ||
			    m > n_buckets)
				continue;
			/* What came before a run starts is not of it. */
			rack_take(k, h, &now);
			if (m > 0)
				c[(size_t)h * n_buckets + m - 1] = now;
		}
	}
	for (uint32_t h = 0; h < n; h++) {
		sampled_run(s, h, n_buckets);
		s->runs.width_ns[s->runs.n - 1] /= fine;
		s->runs.start_ns[s->runs.n - 1] += later[h] * rack_slot_ns(k);
		for (uint32_t m = 0; m < n_buckets; m++)
			rack_bursts_row(s, (uint32_t)s->runs.n - 1, m,
			    &c[(size_t)h * n_buckets + m]);
	}
	rack_close(k);
	free(later);
	free(c);
}
