/* experiments/rack/kernel.c -- a rack of this machine's kernel, and its samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/kernel.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "algos/millisampler/buckets.h"
#include "experiments/lab/wire.h"
#include "experiments/rack/kernel_flows.h"
#include "models/netns/caps.h"
#include "models/netns/sampler.h"
#include "models/netns/traffic.h"
#include "sim/vec.h"

enum {
	KERNEL_RACK_WIDTH = 1,      /* of the sampler's three */
	KERNEL_RACK_TIMEOUT_S = 15, /* of a connection */
	KERNEL_RACK_WAITING = 1
	    << 26 /* bytes, beyond all that a phantom lets in */
};

struct kernel_rack {
	const struct xp_kernel_rack_params *p;
	struct xp_kernel_rack_seen *seen;
	struct topo t;
	struct netns_net *net;
	struct netns_phantom *phantom;
	struct netns_faults *faults;
	struct netns_sampler **sampler; /* [hosts] */
	struct netns_link_count *count; /* [links] */
	struct truth truth;
	struct scene_loss loss;
	struct xp_kernel_flows flows;
	cpu_set_t cpus;               /* before */
	int is_pinned, is_late, nice; /* before */
	uint64_t now;                 /* TAI, at the end of a sitting */
};

void xp_kernel_rack_free(struct xp_kernel_rack_seen *s)
{
	obs_runs_free(&s->runs);
	obs_samples_free(&s->samples);
	free(s->port);
	*s = (struct xp_kernel_rack_seen){0};
}

/* --- building --------------------------------------------------------------- */

/* All on one processor, or packets of a connection overtake each other and TCP
 * sends again what nobody lost; and before others, as a rack that had to wait
 * sends all at once what it is late with, which fills buffers of its own. */
static void kernel_rack_pin(struct kernel_rack *k)
{
	cpu_set_t one;
	k->is_pinned = sched_getaffinity(0, sizeof(k->cpus), &k->cpus) == 0;
	CPU_ZERO(&one);
	CPU_SET(xp_wire_cpu(), &one);
	if (k->is_pinned)
		sched_setaffinity(0, sizeof(one), &one);
	k->nice = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, PRIO_MIN);
}

static int kernel_rack_network(struct kernel_rack *k, struct sim_err *e)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 1,
	    .n_hosts = k->p->hosts};
	struct netns_params p;
	int rc, as_user;
	if ((rc = netns_permit(&as_user, e)) < 0 ||
	    (rc = sim_field_defaults(netns_fields, &p, e)) < 0 ||
	    (rc = topo_open_clos(&k->t, &shape, e)) < 0 ||
	    (rc = netns_open(&k->net, &k->t, &p, e)) < 0)
		return rc;
	for (topo_host h = 0; rc == 0 && k->p->delay && h < k->p->hosts; h++)
		rc = netns_pace(k->net, topo_link_of(h, TOPO_DOWN),
		    (uint32_t)k->p->queue.line_mbps, KERNEL_RACK_WAITING, e);
	return rc;
}

static int kernel_rack_switch(struct kernel_rack *k, struct sim_err *e)
{
	const struct netns_phantom_ports ports = {.n_ports = k->p->hosts,
	    .first = netns_ifindex(topo_link_of(0, TOPO_UP)),
	    .step = k->p->hosts > 1
		? topo_link_of(1, TOPO_UP) - topo_link_of(0, TOPO_UP)
		: 1};
	int rc = netns_phantom_open(&k->phantom, &k->p->queue, &ports, e);
	if (rc < 0 || (rc = netns_enter(k->net, k->t.n_hosts, e)) < 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < ports.n_ports; i++)
		rc = netns_phantom_attach(k->phantom, i, e);
	const int back = netns_leave(k->net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

/* A host asks for ECN and answers to it, waits for an acknowledgement no less
 * than it is told to, and counts. */
static int kernel_rack_host(struct kernel_rack *k, topo_host h,
    struct sim_err *e)
{
	const struct netns_sampler_params p = {.clock = NETNS_SAMPLER_ALIGNED,
	    .mark_always = 1,
	    .width_ns = {
		[KERNEL_RACK_WIDTH] = (uint64_t)llround(1e6 * k->p->width_ms)}};
	int rc = netns_enter(k->net, h, e);
	if (rc == 0 && (rc = netns_node_write("ipv4/tcp_ecn", 1, e)) == 0 &&
	    k->p->rto_ms > 0)
		rc = netns_node_write("ipv4/tcp_rto_min_us",
		    (uint32_t)(1000 * k->p->rto_ms), e);
	if (rc == 0 && (rc = netns_sampler_open(&k->sampler[h], &p, e)) == 0)
		rc = netns_sampler_attach(k->sampler[h],
		    netns_ifindex(topo_link_of(h, TOPO_DOWN)), e);
	const int back = netns_leave(k->net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

static int kernel_rack_break(struct kernel_rack *k, struct sim_err *e)
{
	const struct netns_faults_params p = {.by = NETNS_FAULTS_EBPF,
	    .seed = k->p->seed};
	const struct truth_fault f = {.rate = k->p->loss,
	    .link = topo_link_of(k->p->lossy, TOPO_DOWN),
	    .to_ns = SIM_NEVER};
	int rc = netns_faults_open(&k->faults, k->net, &k->t, &p, e);
	if (rc == 0 && f.rate > 0)
		rc = truth_add_fault(&k->truth, &f, e);
	k->loss.truth = &k->truth;
	truth_sort(&k->truth);
	return rc < 0 ? rc : netns_faults_apply(k->faults, &k->loss, 0, e);
}

static int kernel_rack_build(struct kernel_rack *k, struct sim_err *e)
{
	const uint32_t n = k->p->hosts;
	int rc;
	k->seen->n_hosts = n;
	if ((rc = SIM_ZALLOC(&k->sampler, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->seen->port, n, e)) < 0 ||
	    (rc = kernel_rack_network(k, e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->count, k->t.n_links, e)) < 0 ||
	    (rc = kernel_rack_switch(k, e)) < 0 ||
	    (rc = kernel_rack_break(k, e)) < 0)
		return rc;
	for (topo_host h = 0; rc == 0 && h < n; h++)
		rc = kernel_rack_host(k, h, e);
	return rc;
}

/* Programs of interfaces end with their namespaces. */
static void kernel_rack_take_down(struct kernel_rack *k)
{
	netns_faults_close(k->faults);
	for (topo_host h = 0; k->sampler && h < k->p->hosts; h++)
		netns_sampler_close(k->sampler[h]);
	netns_phantom_close(k->phantom);
	netns_close(k->net);
	topo_close(&k->t);
	truth_free(&k->truth);
	xp_kernel_flows_free(&k->flows);
	free(k->sampler);
	free(k->count);
	setpriority(PRIO_PROCESS, 0, k->nice);
	if (k->is_pinned)
		sched_setaffinity(0, sizeof(k->cpus), &k->cpus);
}

/* --- sittings --------------------------------------------------------------- */

static uint64_t kernel_rack_tai(void)
{
	struct timespec t;
	clock_gettime(CLOCK_TAI, &t);
	return (uint64_t)t.tv_sec * SIM_SEC + (uint64_t)t.tv_nsec;
}

/* Retransmissions are read only so that their buffer does not fill; hosts'
 * samplers count them. */
static int kernel_rack_wait(struct kernel_rack *k, struct netns_traffic *tr,
    struct sim_err *e)
{
	struct pollfd p[] = {{.fd = netns_traffic_fd(tr), .events = POLLIN},
	    {.fd = netns_faults_retx_fd(k->faults), .events = POLLIN}};
	struct netns_retx told[64];
	size_t n = 0;
	int rc = 0;
	if (poll(p, 2, 1000) < 0 && errno != EINTR)
		return sim_fail(e, SIM_EIO, "The rack cannot be polled: %s.",
		    strerror(errno));
	if (p[0].revents)
		rc = netns_traffic_step(tr, e);
	do
		if (rc == 0 && p[1].revents)
			rc = netns_faults_retx_read(k->faults, told, 64, &n, e);
	while (rc == 0 && n == 64);
	return rc;
}

static int kernel_rack_send(struct kernel_rack *k, struct sim_err *e)
{
	const struct netns_traffic_params p = {
	    .timeout_s = KERNEL_RACK_TIMEOUT_S};
	struct xp_kernel_flows *f = &k->flows;
	struct netns_traffic *tr;
	int rc = netns_traffic_open(&tr, k->net, &k->t, f->flow, f->n, &p, e);
	if (rc < 0)
		return rc;
	while (rc == 0 && netns_traffic_left(tr) > 0)
		rc = kernel_rack_wait(k, tr, e);
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		k->seen->n_retx += f->flow[i].n_retx;
		k->seen->n_failed +=
		    netns_traffic_end(tr, i)->state != NETNS_FLOW_DONE;
	}
	k->seen->n_flows += f->n;
	netns_traffic_close(tr);
	return rc;
}

/* A host to which nothing came and from which nothing went has a run from when
 * it was armed. */
static int kernel_rack_take(struct kernel_rack *k, topo_host h, uint64_t armed,
    struct sim_err *e)
{
	static struct obs_bucket bucket[OBS_BUCKETS];
	struct netns_sampler_run got;
	int rc = netns_sampler_take(k->sampler[h], KERNEL_RACK_WIDTH, bucket,
	    &got, e);
	if (rc < 0)
		return rc;
	if (got.start_ns == 0)
		got.start_ns = armed - armed % got.width_ns;
	const uint64_t n = (k->now - got.start_ns) / got.width_ns + 1;
	k->is_late |= n > OBS_BUCKETS;
	const struct obs_run run = {.start_ns = got.start_ns,
	    .width_ns = got.width_ns,
	    .line_bps = (uint64_t)(1e6 * k->p->queue.line_mbps),
	    .host = h,
	    .n_buckets = n < OBS_BUCKETS ? (uint32_t)n : OBS_BUCKETS,
	    .n_missed = (uint32_t)got.n_missed};
	rc = algo_buckets_add_rows(bucket, run.n_buckets,
	    (uint32_t)k->seen->runs.n, &k->seen->samples, e);
	return rc < 0 ? rc : obs_runs_add(&k->seen->runs, &run, e);
}

static int kernel_rack_sit(struct kernel_rack *k, uint32_t sitting,
    uint32_t n_sittings, struct sim_err *e)
{
	const uint64_t armed = kernel_rack_tai();
	int rc = xp_kernel_flows_draw(&k->flows, k->p, sitting, n_sittings, e);
	for (topo_host h = 0; rc == 0 && h < k->p->hosts; h++)
		netns_sampler_arm(k->sampler[h], 1u << KERNEL_RACK_WIDTH);
	if (rc == 0)
		rc = kernel_rack_send(k, e);
	/* Before any is taken, which takes some 10 ms each. */
	k->now = kernel_rack_tai();
	k->is_late = 0;
	for (topo_host h = 0; rc == 0 && h < k->p->hosts; h++)
		rc = kernel_rack_take(k, h, armed, e);
	k->seen->n_late += k->is_late;
	return rc;
}

/* --- what came of it -------------------------------------------------------- */

static int kernel_rack_audit(struct kernel_rack *k, struct sim_err *e)
{
	struct xp_kernel_rack_seen *s = k->seen;
	struct netns_audit all[NETNS_AUDIT_MAX];
	uint64_t most = 0;
	size_t n = 0;
	const int rc = netns_faults_audit(k->faults, all, &n, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (strcmp(all[i].reason, "TC_EGRESS") == 0)
			s->n_at_ports += all[i].n;
		else if (!all[i].expected)
			s->n_other += all[i].n;
		if (!all[i].expected && all[i].n > most &&
		    strcmp(all[i].reason, "TC_EGRESS") != 0) {
			most = all[i].n;
			snprintf(s->other, sizeof(s->other), "%s",
			    all[i].reason);
		}
	}
	return rc;
}

static int kernel_rack_look(struct kernel_rack *k, struct sim_err *e)
{
	int rc = netns_faults_count(k->faults, k->count, e);
	if (rc == 0)
		rc = kernel_rack_audit(k, e);
	for (topo_host h = 0; rc == 0 && h < k->p->hosts; h++)
		k->seen->port[h] = (struct xp_kernel_rack_port){
		    .queue = netns_phantom_count(k->phantom, h),
		    .link = k->count[topo_link_of(h, TOPO_DOWN)]};
	k->seen->n_raced = netns_phantom_raced(k->phantom);
	return rc;
}

int xp_kernel_rack_run(const struct xp_kernel_rack_params *p,
    struct xp_kernel_rack_seen *s, struct sim_err *e)
{
	struct kernel_rack k = {.p = p, .seen = s};
	const uint32_t n = xp_kernel_flows_sittings(p);
	if (p->incast >= p->hosts || (p->loss > 0 && p->lossy >= p->hosts))
		return sim_fail(e, SIM_EINVAL,
		    "Of %u hosts %u cannot send to another one, or host %u is "
		    "none of them.",
		    p->hosts, p->incast, p->lossy);
	kernel_rack_pin(&k);
	int rc = kernel_rack_build(&k, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = kernel_rack_sit(&k, i, n, e);
	if (rc == 0)
		rc = kernel_rack_look(&k, e);
	kernel_rack_take_down(&k);
	return rc;
}
