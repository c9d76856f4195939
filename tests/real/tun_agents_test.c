/* tests/real/tun_agents_test.c -- 007's agents on real TCP, simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Real sockets lose segments on a link of the simulator's, the agents hear of
 * it by the kernel's counters and trace it: all in one thread.
 */
#include "algos/vigil/path_agent.h"
#include "models/real/real.h"
#include "tests/real/tun_lab.h"
#include "topo/addr.h"

enum { N_HOSTS = 12, FLOWS = 40 };

struct rig {
	struct tun_lab lab;
	struct fabric_real *f;
	struct fabric *base;
	struct fabric_agents agents;
	unsigned n_reports;
	double votes[256];
};

static int serve(void *arg, struct sim_err *e)
{
	return tun_net_serve(arg, e);
}

/* These agents neither fetch nor upload. */
static int fetch(void *arg, topo_host host, uint64_t token, struct sim_err *e)
{
	(void)arg, (void)host, (void)token;
	return sim_fail(e, SIM_EINVAL, "There is no controller.");
}

static int upload(void *arg, topo_host host, uint64_t token, const void *data,
    size_t n, struct sim_err *e)
{
	(void)arg, (void)host, (void)token, (void)data, (void)n;
	return sim_fail(e, SIM_EINVAL, "There is no collector.");
}

static void open_fabric(struct rig *g)
{
	struct fabric_real_host host[N_HOSTS];
	struct fabric_real_params p;
	const struct fabric_real_services s = {.arg = g->lab.net,
	    .fetch = fetch,
	    .upload = upload,
	    .fd = tun_net_fd(g->lab.net),
	    .ready = serve};
	assert_ok(sim_field_defaults(fabric_real_fields, &p, test_err()));
	p.n_classes = 1;
	p.port[0] = 8765;
	for (topo_host h = 0; h < N_HOSTS; h++)
		host[h] = (struct fabric_real_host){topo_addr_of_host(h),
		    tun_net_ns(g->lab.net, h)};
	assert_ok(fabric_real_open(&g->f, host, N_HOSTS, &p, test_err()));
	assert_ok(fabric_real_serve(g->f, &s, test_err()));
	g->base = fabric_real_fabric(g->f);
	assert_true(g->base->caps.can_probe_ttl);
}

/* Every hop that a report names is the simulator's, in its place; a hop whose
 * probes were lost is named by none. Each votes by 1 / h. */
static int hear(void *arg, topo_host host, sim_ns at,
    const struct agent_report *r, struct sim_err *e)
{
	struct rig *g = arg;
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = tun_lab_path(&g->lab, &r->tuple, path);
	(void)at, (void)e;
	assert_int_equal(topo_addr_of_host(host), r->tuple.src_ip);
	assert_true(r->n_hops < n);
	g->n_reports++;
	for (unsigned i = 0; i < r->n_hops; i++) {
		const uint32_t ip = r->hop_ip[i];
		assert_true(ip == 0 ||
		    topo_addr_to_link(ip, g->lab.t.n_links) == path[i]);
		if (ip != 0)
			g->votes[path[i]] += 1.0 / n;
	}
	return 0;
}

static void lossy_flows_are_traced_and_vote_for_the_link(void **state)
{
	static const struct sim_seed where = {.seed = 2};
	static struct rig g;
	struct algo_path_agent_params p;
	struct sim_rng r;
	unsigned n_lossy = 0;
	tun_lab_needs(state);
	test_rng(&r, 0);
	tun_lab_open(&g.lab);
	const topo_link bad = topo_clos_link_t1(&g.lab.t.clos, 1, 0, TOPO_UP);
	tun_lab_fault(&g.lab, bad, 0.03);
	tun_lab_start(&g.lab);
	open_fabric(&g);
	assert_ok(sim_field_defaults(algo_path_agent_fields, &p, test_err()));
	p.c_t = 0;
	p.timeout_s = 0.2;
	assert_ok(fabric_agents_open(&g.agents, &algo_path_agent, &p, N_HOSTS,
	    test_err()));
	fabric_agents_renew(&g.agents, &where);
	for (unsigned i = 0; i < FLOWS; i++) {
		const struct lab_flow f = {sim_rng_below(&r, 6),
		    6 + sim_rng_below(&r, 6), (uint16_t)(10000 + i), 80};
		const struct tun_lab_pair pair = tun_lab_pair(&g.lab, &f);
		assert_ok(
		    fabric_real_watch(g.f, f.src, pair.client, test_err()));
		tun_lab_send(&g.lab, &pair, 100000);
		assert_ok(fabric_run(g.base, &g.agents,
		    g.base->ops->now(g.base) + 30 * SIM_MS, hear, &g,
		    test_err()));
		n_lossy += tun_lab_retx(pair.client) > 0;
		assert_ok(fabric_real_unwatch(g.f, pair.client, test_err()));
		tun_lab_close_pair(&pair);
	}
	assert_ok(fabric_run(g.base, &g.agents,
	    g.base->ops->now(g.base) + SIM_SEC, hear, &g, test_err()));
	topo_link top = 0;
	for (topo_link l = 1; l < g.lab.t.n_links; l++)
		if (g.votes[l] > g.votes[top])
			top = l;
	print_message("time: %u flows lost, %u reports, top link %u of %u\n",
	    n_lossy, g.n_reports, top, bad);
	assert_true(n_lossy > 3 && g.n_reports > 0);
	assert_int_equal(top, bad);
	fabric_agents_close(&g.agents);
	fabric_real_close(g.f);
	tun_lab_close(&g.lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lossy_flows_are_traced_and_vote_for_the_link),
	};
	return cmocka_run_group_tests_name("models/tun/net + fabric_real",
	    tests, lab_begin, NULL);
}
