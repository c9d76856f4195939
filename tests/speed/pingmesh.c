/* tests/speed/pingmesh.c -- Pingmesh's agent: time and memory of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "algos/pingmesh/agent.h"
#include "algos/pingmesh/pinglist_xml.h"
#include "tests/speed/bench.h"

/* 2500 ToRs of 40 servers: 2538 peers each, every 10 s. */
static const struct topo_clos shape = {125, 20, 8, 10, 40, .n_cables = 0};

enum { SECONDS = 600, TEXT = 1 << 20 };

struct subject {
	struct algo_pingmesh_params params;
	void *state;
	char *text;
	size_t n_text;
	uint64_t n_probes;
	struct sim_rng rng;
	struct agent_out out;
	struct algo_pingmesh_status status;
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

static void step(struct subject *s, sim_ns now, struct agent_event ev)
{
	struct sim_err e;
	s->out.n = 0;
	must(algo_pingmesh_agent.step(s->state, now, &ev, &s->rng, &s->out, &e),
	    &e);
}

/* Every probe connects at once, every upload is taken; returns when to wake. */
static sim_ns answer(struct subject *s, sim_ns now, sim_ns wake)
{
	struct agent_action todo[AGENT_MAX_OUT];
	const size_t n = s->out.n;
	for (size_t i = 0; i < n; i++)
		todo[i] = s->out.action[i];
	for (size_t i = 0; i < n; i++) {
		struct agent_event ev = {.token = todo[i].token, .ok = 1};
		switch (todo[i].kind) {
		case AGENT_SET_TIMER:
			wake = todo[i].at_ns;
			continue;
		case AGENT_COUNTERS:
			continue;
		case AGENT_CONNECT:
			s->n_probes++;
			ev.kind = AGENT_CONNECT_DONE;
			ev.outcome = AGENT_CONNECTED;
			ev.rtt_ns = 268 * SIM_US;
			break;
		case AGENT_FETCH:
			ev.kind = AGENT_FETCH_DONE;
			ev.data = s->text;
			ev.n = s->n_text;
			break;
		default:
			ev.kind = AGENT_UPLOAD_DONE;
		}
		step(s, now, ev);
		wake = answer(s, now, wake);
	}
	return wake;
}

static void probe(void *arg)
{
	struct subject *s = arg;
	struct sim_err e;
	const struct sim_seed where = {.seed = 1};
	sim_ns now = SIM_SEC;
	s->n_probes = 0;
	sim_rng_init(&s->rng, &where, SIM_STREAM_AGENT, 0);
	must(algo_pingmesh_agent.init(s->state, 0, &s->params, &e), &e);
	step(s, now, (struct agent_event){.kind = AGENT_START});
	while (now < SECONDS * SIM_SEC) {
		now = answer(s, now, now + SIM_SEC);
		step(s, now, (struct agent_event){.kind = AGENT_TIMER});
	}
	algo_pingmesh_agent_status(s->state, &s->status);
}

static void make_list(struct subject *s)
{
	struct algo_pinglist_params params;
	struct algo_pinglist plan;
	struct algo_pinglist_xml *xml = malloc(sizeof(*xml));
	struct sim_err e;
	size_t n;
	must(sim_field_defaults(algo_pinglist_fields, &params, &e), &e);
	params.min_interval_s = params.tor_interval_s = params.dc_interval_s =
	    ALGO_PINGLIST_MIN_INTERVAL_S;
	must(algo_pinglist_open(&plan, &params, &shape, 1, &e), &e);
	if (!xml)
		exit(1);
	algo_pinglist_xml_open(xml, &plan);
	must(algo_pinglist_xml_start(xml, 0, &e), &e);
	while ((n = algo_pinglist_xml_next(xml, s->text + s->n_text,
		    TEXT - s->n_text)) > 0)
		s->n_text += n;
	free(xml);
}

void bench_pingmesh(void)
{
	struct subject s = {.state = malloc(algo_pingmesh_agent.state_size),
	    .text = malloc(TEXT)};
	struct sim_err e;
	if (!s.state || !s.text)
		exit(1);
	make_list(&s);
	must(sim_field_defaults(algo_pingmesh_agent_fields, &s.params, &e), &e);
	const double seconds = bench_best(5, probe, &s);
	const double n_peers = s.status.n_entries;
	const double bytes = (double)algo_pingmesh_agent.state_size;
	bench_row("pingmesh agent: peers", n_peers, "1", '-', 0);
	bench_row("pingmesh agent: a probe, sent to uploaded",
	    seconds * 1e9 / (double)s.n_probes, "ns", '<', 1000);
	bench_row("pingmesh agent: share of a core", seconds / SECONDS * 1e6,
	    "ppm", '<', 2600);
	bench_row("pingmesh agent: all memory", bytes / (1 << 20), "MiB", '<',
	    4.5);
	bench_row("pingmesh agent: memory a peer", bytes / n_peers, "bytes",
	    '<', 1800);
	free(s.state);
	free(s.text);
}
