/* tests/real/faulty.c -- a small Clos of namespaces with faults and flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/real/faulty.h"

#include <poll.h>

#include "sim/stat.h"
#include "topo/addr.h"

const struct topo_clos faulty_shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 2};

void faulty_open(struct faulty *rig, const struct netns_faults_params *p)
{
	memset(rig, 0, sizeof(*rig));
	rig->loss.truth = &rig->truth;
	lab_open(&rig->lab, &faulty_shape, 7);
	assert_true(rig->lab.t.n_links <= FAULTY_MAX_LINKS);
	int rc = netns_faults_open(&rig->f, rig->lab.net, &rig->lab.t, p,
	    test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		lab_close(&rig->lab);
		skip();
	}
	assert_ok(rc);
}

void faulty_close(struct faulty *rig)
{
	netns_faults_close(rig->f);
	lab_close(&rig->lab);
	truth_free(&rig->truth);
}

void faulty_apply(struct faulty *rig, sim_ns now)
{
	truth_sort(&rig->truth);
	assert_ok(netns_faults_apply(rig->f, &rig->loss, now, test_err()));
}

void faulty_add_loss(struct faulty *rig, topo_link l, double rate)
{
	const struct truth_fault f = {.link = l,
	    .rate = rate,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&rig->truth, &f, test_err()));
}

void faulty_draw(const struct faulty *rig, struct obs_flow flow[], size_t n,
    uint32_t n_pkts, unsigned spread_ms, uint32_t run)
{
	const uint32_t n_hosts = rig->lab.t.n_hosts;
	struct sim_rng r;
	test_rng(&r, run);
	for (size_t i = 0; i < n; i++) {
		const topo_host src = sim_rng_below(&r, n_hosts);
		const topo_host dst =
		    (src + 1 + sim_rng_below(&r, n_hosts - 1)) % n_hosts;
		flow[i] = (struct obs_flow){.src_host = src,
		    .dst_host = dst,
		    .src_port = (uint16_t)(10000 + i),
		    .dst_port = 80,
		    .start_ns = (uint64_t)spread_ms * SIM_MS * i / n,
		    .n_pkts = n_pkts};
	}
}

static void read_retx(struct faulty *rig)
{
	size_t n;
	do {
		const size_t left = FAULTY_MAX_RETX - rig->n_retx;
		assert_true(left > 0);
		assert_ok(
		    netns_faults_retx_read(rig->f, rig->retx + rig->n_retx,
			left < 7 ? left : 7, &n, test_err()));
		rig->n_retx += n;
	} while (n > 0);
}

void faulty_step(struct faulty *rig, struct netns_traffic *tr, int ms)
{
	struct pollfd p[] = {{.fd = tr ? netns_traffic_fd(tr) : -1,
				 .events = POLLIN},
	    {.fd = netns_faults_delay_fd(rig->f), .events = POLLIN},
	    {.fd = netns_faults_retx_fd(rig->f), .events = POLLIN}};
	assert_true(poll(p, 3, ms) >= 0);
	if (p[0].revents)
		assert_ok(netns_traffic_step(tr, test_err()));
	if (p[1].revents)
		assert_ok(netns_faults_delay_step(rig->f, test_err()));
	if (p[2].revents)
		read_retx(rig);
}

void faulty_run(struct faulty *rig, struct obs_flow flow[], size_t n,
    double timeout_s, struct netns_flow_end end[])
{
	const struct netns_traffic_params p = {.timeout_s = timeout_s};
	struct netns_traffic *tr;
	assert_ok(netns_traffic_open(&tr, rig->lab.net, &rig->lab.t, flow, n,
	    &p, test_err()));
	while (netns_traffic_left(tr) > 0)
		faulty_step(rig, tr, 1000);
	for (size_t i = 0; i < n; i++)
		end[i] = *netns_traffic_end(tr, i);
	netns_traffic_close(tr);
	if (netns_faults_retx_fd(rig->f) >= 0)
		read_retx(rig);
	assert_ok(netns_faults_count(rig->f, rig->count, test_err()));
}

void faulty_check_rate(uint64_t k, uint64_t n, double rate)
{
	double lo, hi;
	assert_ok(sim_binomial_interval(k, n, 1 - 1e-9, &lo, &hi, test_err()));
	if (rate < lo || rate > hi)
		fail_msg("%llu of %llu are no %g: [%g, %g]",
		    (unsigned long long)k, (unsigned long long)n, rate, lo, hi);
}

struct topo_tuple faulty_tuple(const struct obs_flow *f)
{
	return (struct topo_tuple){topo_addr_of_host(f->src_host),
	    topo_addr_of_host(f->dst_host), f->src_port, f->dst_port,
	    TOPO_PROTO_TCP};
}

topo_link faulty_link(const struct faulty *rig, const char *name)
{
	topo_link l;
	assert_ok(topo_link_parse(&rig->lab.t, name, &l, test_err()));
	return l;
}
