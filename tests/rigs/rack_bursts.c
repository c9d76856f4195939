/* tests/rigs/rack_bursts.c -- a rack's traffic of two kinds, played and sampled.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/rack_bursts.h"

#include "algos/millisampler/sketch.h"
#include "models/rack/traffic.h"
#include "tests/test.h"

static void rack_bursts_draw(struct rack_flows *f, const struct rack_bursts *b,
    const struct sim_seed *where)
{
	struct rack_traffic_params p;
	assert_ok(sim_field_defaults(rack_traffic_fields, &p, test_err()));
	p.ml_racks = b->is_job;
	assert_ok(rack_traffic(f, &b->p, &p, 0, sim_ns_of(b->ms * 1e-3), where,
	    test_err()));
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
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	struct rack_flows f = {0};
	struct rack *k = NULL;
	assert_ok(rack_open(&k, &b->p, &where, test_err()));
	rack_bursts_draw(&f, b, &where);
	assert_ok(rack_put(k, &f, test_err()));
	rack_flows_free(&f);
	for (uint32_t s = 0; s < b->p.n_servers && b->loss > 0; s++)
		if (rack_bursts_is_bad(s))
			assert_ok(rack_link_loss(k, s, b->loss_out, b->loss,
			    test_err()));
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

uint64_t rack_bursts_held(const struct rack_bursts *b, uint32_t run)
{
	struct rack *k = rack_bursts_open(b, run);
	struct rack_count c;
	assert_ok(rack_run(k, (sim_ns)(b->ms * 1e6), test_err()));
	rack_take(k, 5, &c);
	rack_close(k);
	return c.held;
}
