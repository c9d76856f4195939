/* tests/speed/fabric.c -- Pingmesh's agents on the simulated fabric.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Agents on all hosts fetch their lists and probe; all they do goes through
 * fabric_run(). Links lose as 007 has it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "algos/pingmesh/agent.h"
#include "algos/pingmesh/pinglist_xml.h"
#include "models/sim/sim.h"
#include "tests/speed/bench.h"

struct bench {
	struct topo topo;
	struct scene scene;
	struct fabric_sim_params params;
	struct fabric_sim *sim;
	struct fabric_agents agents;
	struct algo_pingmesh_params agent;
	struct algo_pinglist plan;
	struct algo_pinglist_xml xml;
	char *text;
	size_t size;
	uint64_t n_records;
	sim_ns until;
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

static int fetch(void *arg, topo_host host, sim_ns at, const void **data,
    size_t *n, struct sim_err *e)
{
	struct bench *b = arg;
	size_t got;
	(void)at;
	int rc = algo_pinglist_xml_start(&b->xml, host, e);
	*data = b->text;
	*n = 0;
	while (rc == 0 &&
	    (got = algo_pinglist_xml_next(&b->xml, b->text + *n,
		 b->size - *n)) > 0)
		*n += got;
	return rc;
}

static int upload(void *arg, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e)
{
	struct bench *b = arg;
	const struct algo_pingmesh_batch *batch = data;
	(void)host;
	(void)at;
	(void)n;
	(void)e;
	b->n_records += batch->n;
	return 0;
}

/* On every 50th link and 20th switch, and hosts that are off now and then. */
static void add_faults(struct bench *b)
{
	struct truth *t = &b->scene.truth;
	struct sim_err e;
	for (topo_link l = 0; l < b->topo.n_links; l += 50) {
		const struct truth_fault f = {.link = l,
		    .rate = l % 100 ? 1e-3 : 0,
		    .delay_us = l % 100 ? 0 : 20,
		    .to_ns = SIM_NEVER};
		must(truth_add_fault(t, &f, &e), &e);
	}
	for (topo_switch s = 0; s < b->topo.n_switches; s += 20) {
		struct truth_hole h = {.at = s, .to_ns = SIM_NEVER};
		must(blackhole_rule_init(&h.rule, BLACKHOLE_RULE_PAIR, 0.01, s,
			 &e),
		    &e);
		must(truth_add_hole(t, &h, &e), &e);
	}
	for (topo_host h = 0; h < b->topo.n_hosts; h += 10) {
		const struct truth_outage o = {.kind = TRUTH_HOST_OFF,
		    .id = h,
		    .from_ns = h * SIM_SEC,
		    .to_ns = (h + 60) * SIM_SEC};
		must(truth_add_outage(t, &o, &e), &e);
	}
	truth_sort(t);
}

static void open_bench(struct bench *b, const struct topo_clos *shape,
    uint32_t payloads)
{
	struct scene_params scene = {0};
	struct algo_pinglist_params list;
	const struct sim_seed where = {.seed = 1};
	struct sim_err e;
	const struct {
		const struct sim_field *fields;
		void *obj;
	} all[] = {{scene_traffic_fields, &scene.traffic},
	    {scene_noise_fields, &scene.noise}, {algo_pinglist_fields, &list},
	    {algo_pingmesh_agent_fields, &b->agent},
	    {fabric_sim_connect_fields, &b->params.connect},
	    {fabric_sim_icmp_fields, &b->params.icmp}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		must(sim_field_defaults(all[i].fields, all[i].obj, &e), &e);
	list.min_interval_s = list.tor_interval_s = list.dc_interval_s =
	    ALGO_PINGLIST_MIN_INTERVAL_S;
	list.payload_probes = payloads;
	must(topo_open_clos(&b->topo, shape, &e), &e);
	must(scene_draw(&b->scene, &b->topo, &scene, &where, &e), &e);
	must(algo_pinglist_open(&b->plan, &list, shape, 1, &e), &e);
	algo_pinglist_xml_open(&b->xml, &b->plan);
	must(fabric_sim_open(&b->sim, &b->topo, &b->params, &e), &e);
	must(fabric_agents_open(&b->agents, &algo_pingmesh_agent, &b->agent,
		 b->topo.n_hosts, &e),
	    &e);
	fabric_sim_serve(b->sim,
	    &(struct fault_services){.arg = b,
		.fetch = fetch,
		.upload = upload});
	b->size = 1 << 20;
	if (!(b->text = malloc(b->size)))
		exit(1);
}

static void close_bench(struct bench *b)
{
	fabric_sim_close(b->sim);
	fabric_agents_close(&b->agents);
	scene_free(&b->scene);
	topo_close(&b->topo);
	free(b->text);
	free(b);
}

static void run(void *arg)
{
	struct bench *b = arg;
	struct sim_err e;
	const struct sim_seed where = {.seed = 1};
	b->n_records = 0;
	fabric_agents_renew(&b->agents, &where);
	must(fabric_sim_begin(b->sim, &b->scene, NULL, &e), &e);
	must(fabric_run(fabric_sim_fabric(b->sim), &b->agents, b->until, NULL,
		 NULL, &e),
	    &e);
}

static uint64_t n_probes(const struct bench *b)
{
	struct algo_pingmesh_status s;
	uint64_t n = 0;
	for (topo_host h = 0; h < b->topo.n_hosts; h++) {
		algo_pingmesh_agent_status(b->agents.state +
			h * b->agents.stride,
		    &s);
		n += s.count.n_probes;
	}
	return n;
}

void bench_fabric(void)
{
	static const struct {
		struct topo_clos shape;
		unsigned seconds;
		uint32_t payloads, faults;
		const char *what;
		double goal;
	} cases[] = {
	    {{2, 4, 2, 2, 4, .n_cables = 0}, 7200, 0, 0,
		"fabric: 32 hosts, probes simulated", 1e6},
	    {{4, 8, 4, 4, 8, .n_cables = 0}, 600, 0, 0,
		"fabric: 256 hosts, probes simulated", 1e6},
	    {{4, 8, 4, 4, 8, .n_cables = 0}, 600, 1, 0,
		"fabric: 256 hosts, half with payload", 5e5},
	    {{4, 8, 4, 4, 8, .n_cables = 0}, 600, 0, 1,
		"fabric: 256 hosts, among faults", 5e5},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench *b = calloc(1, sizeof(*b));
		if (!b)
			exit(1);
		open_bench(b, &cases[i].shape, cases[i].payloads);
		if (cases[i].faults)
			add_faults(b);
		b->until = cases[i].seconds * SIM_SEC;
		const double s = bench_best(3, run, b);
		bench_row(cases[i].what, (double)n_probes(b) / s, "1/s", '>',
		    cases[i].goal);
		close_bench(b);
	}
}
