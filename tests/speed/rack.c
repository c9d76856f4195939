/* tests/speed/rack.c -- a rack of 92 servers: against the clock, and packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "models/rack/record.h"
#include "models/rack/traffic.h"
#include "tests/rigs/rack_packets.h"
#include "tests/speed/bench.h"

enum { ROUNDS = 5, RUN_MS = 2000, SMALL_MS = 20 };

struct bench_of_rack {
	struct rack_params r;
	struct rack_traffic_params t;
	struct rack_record_params p;
	struct rack_flows f;
	uint64_t n_flow_slots;
	uint32_t ms, seed;
	uint8_t recorded;
};

static const struct sim_seed bench_rack_seed = {.seed = 20221025};

static void bench_rack_must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench rack: %s\n", e->msg);
		exit(1);
	}
}

static void bench_rack_init(struct bench_of_rack *b, double ml_racks,
    uint32_t n_servers, uint32_t ms)
{
	struct sim_err e;
	*b = (struct bench_of_rack){.ms = ms};
	bench_rack_must(sim_field_defaults(rack_fields, &b->r, &e), &e);
	bench_rack_must(sim_field_defaults(rack_traffic_fields, &b->t, &e), &e);
	bench_rack_must(sim_field_defaults(rack_record_fields, &b->p, &e), &e);
	b->t.ml_racks = ml_racks;
	b->r.n_servers = n_servers;
	b->r.n_quadrants = n_servers < 92 ? 1 : 4;
	if (n_servers < 92) {
		/* As full as it can be, inwards alone. */
		b->t.gap_ms = 5;
		b->t.out = 0;
	}
	bench_rack_must(rack_traffic(&b->f, &b->r, &b->t, 0, ms * SIM_MS,
			    &bench_rack_seed, &e),
	    &e);
}

static void bench_rack_once(void *arg)
{
	struct bench_of_rack *b = arg;
	const sim_ns width = SIM_MS;
	struct obs_runs runs = {0};
	struct obs_samples samples = {0};
	struct rack_totals t;
	struct rack *r;
	struct sim_err e;
	bench_rack_must(rack_open(&r, &b->r, &bench_rack_seed, &e), &e);
	bench_rack_must(rack_put(r, &b->f, &e), &e);
	bench_rack_must(b->recorded
		? rack_record(r, &b->p, &width, 1, 0, b->ms * SIM_MS,
		      &bench_rack_seed, &runs, &samples, NULL, &e)
		: rack_run(r, b->ms * SIM_MS, &e),
	    &e);
	rack_totals(r, &t);
	b->n_flow_slots = t.n_flow_slots;
	bench_sink += t.arrived + samples.n;
	rack_close(r);
	obs_runs_free(&runs);
	obs_samples_free(&samples);
}

static void bench_rack_packets(void *arg)
{
	struct bench_of_rack *b = arg;
	struct rack_story s = {0};
	struct sim_err e;
	bench_rack_must(rack_packets_play(&b->r, &b->f, b->ms * SIM_MS, &s, &e),
	    &e);
	bench_sink += s.arrived;
	rack_story_free(&s);
}

void bench_rack_play(uint32_t kind, uint64_t times)
{
	struct bench_of_rack b;
	bench_rack_init(&b, kind - 1, 92, RUN_MS / 4);
	for (uint64_t i = 0; i < times; i++)
		bench_rack_once(&b);
	rack_flows_free(&b.f);
}

static void bench_rack_kind(const char *name, unsigned ml)
{
	struct bench_of_rack b;
	char what[64];
	bench_rack_init(&b, ml, 92, RUN_MS);
	const double s = bench_best(ROUNDS, bench_rack_once, &b);
	snprintf(what, sizeof(what), "rack, %s: 92 servers", name);
	bench_row(what, RUN_MS * 1e-3 / s, "x clock", '>', 15);
	b.recorded = 1;
	const double with = bench_best(ROUNDS, bench_rack_once, &b);
	snprintf(what, sizeof(what), "rack, %s: sampled at 1 ms too", name);
	bench_row(what, RUN_MS * 1e-3 / with, "x clock", '>', 15);
	b.ms = RUN_MS / 4;
	bench_rack_once(&b);
	const double once = bench_instructions("rack-play", ml + 1, 1);
	const double more =
	    once < 0 ? -1 : bench_instructions("rack-play", ml + 1, 2);
	snprintf(what, sizeof(what), "rack, %s: instructions", name);
	if (more < 0)
		printf("%-48s %10s\n", what, "skipped");
	else
		bench_row(what, (more - once) / (double)b.n_flow_slots,
		    "Ir/f-slot", '<', 700);
	rack_flows_free(&b.f);
}

void bench_rack(void)
{
	struct bench_of_rack b;
	bench_rack_kind("services", 0);
	bench_rack_kind("jobs", 1);
	bench_rack_init(&b, 0, RACK_PACKETS_SERVERS, SMALL_MS);
	const struct bench_pair p =
	    bench_against(9, bench_rack_packets, &b, bench_rack_once, &b);
	bench_row("rack: packet by packet, against slots", p.ratio, "ratio",
	    '>', 10);
	rack_flows_free(&b.f);
}
