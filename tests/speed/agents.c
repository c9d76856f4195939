/* tests/speed/agents.c -- an epoch of host agents against one of bulk flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/agents/epoch.h"
#include "models/bulk/bulk.h"
#include "tests/speed/bench.h"

static const struct topo_clos shape = {2, 20, 8, 10, 40, .n_cables = 0};

enum { N_RUNS = 20 };

struct subject {
	struct topo topo;
	struct fault_params group;
	struct scene_params params;
	struct bulk *bulk;
	struct xp_agents agents;
	struct xp_agent_plane *plane;
	struct scene scene[N_RUNS];
	struct obs lossy[N_RUNS];
	struct losses lost[N_RUNS];
	double n_lossy; /* flows, in all runs */
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

static void run_bulk(void *arg)
{
	struct subject *s = arg;
	struct sim_err e;
	for (uint32_t i = 0; i < N_RUNS; i++)
		must(bulk_epoch(s->bulk, &s->scene[i], 0, &s->lossy[i],
			 &s->lost[i], &e),
		    &e);
}

static void run_agents(void *arg)
{
	struct subject *s = arg;
	struct res_trial_metrics m;
	const struct xp_agent_window *seen;
	struct sim_err e;
	s->n_lossy = 0;
	for (uint32_t i = 0; i < N_RUNS; i++) {
		must(xp_agent_plane_epoch(s->plane, &s->scene[i], &s->lossy[i],
			 &s->lost[i], &seen, &m, &e),
		    &e);
		s->n_lossy += (double)s->lossy[i].flows.n;
		bench_sink += seen->window.hops.n;
	}
}

static void open_subject(struct subject *s)
{
	struct sim_yaml y = {0};
	struct sim_err e;
	*s = (struct subject){.n_lossy = 0};
	must(topo_open_clos(&s->topo, &shape, &e), &e);
	must(sim_field_defaults(fault_fields, &s->group, &e), &e);
	must(sim_field_defaults(scene_noise_fields, &s->params.noise, &e), &e);
	must(sim_field_defaults(scene_traffic_fields, &s->params.traffic, &e),
	    &e);
	s->group.count = 10;
	s->params.group = &s->group;
	s->params.n_groups = 1;
	must(sim_yaml_parse(&y, "bench", "{}", 2, &e), &e);
	must(xp_agents_section.read(&y, NULL, &s->topo, &s->agents, &e), &e);
	sim_yaml_free(&y);
	must(bulk_open(&s->bulk, NULL, &e), &e);
	must(xp_agent_plane_open(&s->plane, &s->topo, &s->agents, &e), &e);
	for (uint32_t i = 0; i < N_RUNS; i++) {
		const struct sim_seed where = {.seed = 1, .run = i};
		must(scene_draw(&s->scene[i], &s->topo, &s->params, &where, &e),
		    &e);
	}
}

static void close_subject(struct subject *s)
{
	for (uint32_t i = 0; i < N_RUNS; i++) {
		scene_free(&s->scene[i]);
		obs_free(&s->lossy[i]);
		losses_free(&s->lost[i]);
	}
	xp_agent_plane_close(s->plane);
	bulk_close(s->bulk);
	topo_close(&s->topo);
}

void bench_agents(void)
{
	static struct subject s;
	char name[80];
	open_subject(&s);
	run_bulk(&s);
	run_agents(&s);
	const struct bench_pair p =
	    bench_against(9, run_agents, &s, run_bulk, &s);
	snprintf(name, sizeof(name), "host agents, %.0f failed flows an epoch",
	    s.n_lossy / N_RUNS);
	bench_row(name, p.a_s / N_RUNS * 1e6, "us/epoch", '-', 0);
	bench_row("exact plane, 96,000 flows", p.b_s / N_RUNS * 1e6, "us/epoch",
	    '-', 0);
	bench_row("host agents against the exact plane", p.ratio, "x", '<', 4);
	bench_row("host agents, a failed flow", p.a_s / s.n_lossy * 1e9, "ns",
	    '-', 0);
	close_subject(&s);
}
