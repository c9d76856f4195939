/* experiments/lab/selftest.c -- is a real network here one to be believed?
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/lab/selftest.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "algos/vigil/path_map.h"
#include "experiments/lab/lab.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* The width of intervals: a network as it should be is outside of an exact one
 * of these once in 10^6 times, so that a failure means something. */
#define CONFIDENCE (1 - 1e-6)

enum {
	N_PATHS = 200,
	N_FLOWS = 300,
	N_SYNS = 200,
	N_PKTS = 100,
	MSS_AT_LEAST = 1000, /* bytes of a full segment */
	SYN_PORT = 7000,
};

struct selftest {
	FILE *out;
	unsigned n_failed;
	struct topo topo;
	struct netns_params params;
	struct algo_path_agent_params agent;
	struct obs_flow flow[N_FLOWS];
	struct netns_link_count *before, *after; /* [n_links] */
};

static void selftest_say(struct selftest *t, const char *word, const char *what,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void selftest_say(struct selftest *t, const char *word, const char *what,
    const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	fprintf(t->out, "%-7s  %-8s  ", word, what);
	vfprintf(t->out, fmt, args);
	fprintf(t->out, "\n");
	fflush(t->out);
	va_end(args);
}

static void selftest_judge(struct selftest *t, int ok)
{
	t->n_failed += !ok;
}

static const char *selftest_word(int ok)
{
	return ok ? "ok" : "FAIL";
}

/* Flow i goes from host i mod n to each other host in turn, so that all pairs
 * occur and the ports tell the flow's number. */
static void list_flows(struct selftest *t, size_t n, sim_ns spread_ns)
{
	const uint32_t n_hosts = t->topo.n_hosts;
	for (size_t i = 0; i < n; i++) {
		const topo_host src = (topo_host)(i % n_hosts);
		const topo_host dst =
		    (topo_host)(src + 1 + i / n_hosts % (n_hosts - 1)) %
		    n_hosts;
		t->flow[i] = (struct obs_flow){.start_ns = spread_ns * i / n,
		    .src_host = src,
		    .dst_host = dst,
		    .src_port = (uint16_t)(10001 + 2 * i),
		    .dst_port = 80,
		    .n_pkts = N_PKTS};
	}
}

/* --- traced paths are those of the data ----------------------------------- */

/* Agents trace a flow when a segment of it is sent again. Here they are told so
 * of each flow, though nothing is lost, while its data is on its way. */
struct paths {
	struct selftest *t;
	struct netns_net *net;
	struct netns_faults *faults;
	struct fabric_real *fabric;
	struct fabric_agents agents;
	struct netns_traffic *traffic;
	int news; /* an eventfd: there is a flow to tell of */
	size_t now;
	uint64_t data[N_PATHS]; /* links that its data went over, a bit each */
	unsigned n_data[N_PATHS], n_reports, n_same;
};

static struct topo_tuple selftest_tuple_of(const struct obs_flow *f)
{
	return (struct topo_tuple){topo_addr_of_host(f->src_host),
	    topo_addr_of_host(f->dst_host), f->src_port, f->dst_port,
	    TOPO_PROTO_TCP};
}

/* The source of retransmissions: one made-up event for each time that the
 * eventfd was written to. */
static int selftest_tell(void *arg, struct fabric_real_retx out[], size_t cap,
    size_t *n, struct sim_err *e)
{
	struct paths *p = arg;
	uint64_t any;
	(void)cap;
	*n = 0;
	if (read(p->news, &any, sizeof(any)) != sizeof(any))
		return 0;
	(void)e;
	out[(*n)++] =
	    (struct fabric_real_retx){selftest_tuple_of(&p->t->flow[p->now]),
		1};
	return 0;
}

static int compare_path(void *arg, topo_host host, sim_ns at,
    const struct agent_report *r, struct sim_err *e)
{
	struct paths *p = arg;
	/* list_flows() gave the port by the number. */
	const size_t i = (r->tuple.src_port - 10001u) / 2;
	struct algo_path path;
	uint64_t traced = 0;
	(void)host, (void)at, (void)e;
	algo_path_map(&p->t->topo, r, ALGO_PARTIAL_KNOWN, &path);
	for (unsigned k = 0; k < path.n_hops; k++)
		if (path.link[k] != TOPO_NONE)
			traced |= UINT64_C(1) << path.link[k];
	p->n_reports++;
	/* The same set of links and the same number of them, since a path is
	 * counted twice if it crosses a link twice. */
	p->n_same += path.complete && path.n_hops == p->n_data[i] &&
	    traced == p->data[i];
	return 0;
}

/* Run one flow alone and trace it meanwhile. The links that its data went over
 * are those that carried at least as many bytes as it has; acknowledgements and
 * probes are far fewer. This is the truth by counters, which has nothing to do
 * with ECMP or with ICMP. */
static int run_path(struct paths *p, size_t i, struct sim_err *e)
{
	const struct netns_traffic_params usual = {0};
	struct selftest *t = p->t;
	struct fabric *f = fabric_real_fabric(p->fabric);
	const uint64_t one = 1;
	int rc;
	p->now = i;
	if ((rc = netns_faults_count(p->faults, t->before, e)) < 0 ||
	    (rc = netns_traffic_open(&p->traffic, p->net, &t->topo, &t->flow[i],
		 1, &usual, e)) < 0)
		return rc;
	if (write(p->news, &one, sizeof(one)) != sizeof(one))
		rc = sim_fail(e, SIM_EIO, "an eventfd is full.");
	while (rc == 0 && netns_traffic_left(p->traffic) > 0) {
		struct pollfd fd = {netns_traffic_fd(p->traffic), POLLIN, 0};
		/* The flow and the agents share this thread: a millisecond at
		 * most for the one, then the other. */
		poll(&fd, 1, 1);
		rc = netns_traffic_step(p->traffic, e);
		if (rc == 0)
			rc = fabric_run(f, &p->agents, f->ops->now(f) + SIM_US,
			    compare_path, p, e);
	}
	netns_traffic_close(p->traffic);
	p->traffic = NULL;
	if (rc < 0 || (rc = netns_faults_count(p->faults, t->after, e)) < 0)
		return rc;
	/* What carried a flow's worth of bytes meanwhile. */
	for (topo_link l = 0; l < t->topo.n_links; l++)
		if (t->after[l].bytes - t->before[l].bytes >=
		    (uint64_t)N_PKTS * MSS_AT_LEAST) {
			p->data[i] |= UINT64_C(1) << l;
			p->n_data[i]++;
		}
	return 0;
}

static int open_paths(struct paths *p, struct sim_err *e)
{
	static const struct sim_seed where = {.seed = 1};
	const struct netns_faults_params by = {.by = NETNS_FAULTS_EBPF};
	struct selftest *t = p->t;
	struct fabric_real_host host[64];
	struct fabric_real_params real;
	const struct fabric_real_retx_source retx = {p, p->news, selftest_tell};
	int rc;
	/* A bit each in a uint64_t. */
	assert(t->topo.n_hosts <= 64 && t->topo.n_links <= 64);
	if ((rc = sim_field_defaults(fabric_real_fields, &real, e)) < 0 ||
	    (rc = netns_open(&p->net, &t->topo, &t->params, e)) < 0)
		return rc;
	for (topo_host h = 0; h < t->topo.n_hosts; h++)
		host[h] = (struct fabric_real_host){topo_addr_of_host(h),
		    netns_fd(p->net, h)};
	real.n_classes = 0;
	real.max_flights = real.max_clients = 1;
	if ((rc = netns_faults_open(&p->faults, p->net, &t->topo, &by, e)) <
		0 ||
	    (rc = fabric_real_open(&p->fabric, host, t->topo.n_hosts, &real,
		 e)) < 0 ||
	    (rc = fabric_real_retx(p->fabric, &retx, e)) < 0 ||
	    (rc = fabric_agents_open(&p->agents, &algo_path_agent, &t->agent,
		 t->topo.n_hosts, e)) < 0)
		return rc;
	fabric_agents_renew(&p->agents, &where);
	return 0;
}

static int test_paths(struct selftest *t, struct sim_err *e)
{
	struct paths p = {.t = t, .news = eventfd(0, EFD_NONBLOCK)};
	int rc = p.news < 0 ? sim_fail(e, SIM_EIO, "there is no eventfd.")
			    : open_paths(&p, e);
	list_flows(t, N_PATHS, 0);
	for (size_t i = 0; rc == 0 && i < N_PATHS; i++)
		rc = run_path(&p, i, e);
	/* Traces of the last flows may still be under way. */
	if (rc == 0) {
		struct fabric *f = fabric_real_fabric(p.fabric);
		rc = fabric_run(f, &p.agents,
		    f->ops->now(f) + (sim_ns)(t->agent.timeout_s * 2e9),
		    compare_path, &p, e);
	}
	if (rc == 0) {
		const int ok = p.n_same == N_PATHS && p.n_reports == N_PATHS;
		selftest_say(t, selftest_word(ok), "paths",
		    "%u of %d flows were traced over the links of their data",
		    p.n_same, N_PATHS);
		selftest_judge(t, ok);
	}
	fabric_real_close(p.fabric);
	fabric_agents_close(&p.agents);
	netns_faults_close(p.faults);
	netns_close(p.net);
	if (p.news >= 0)
		close(p.news);
	return rc;
}

/* --- losses --------------------------------------------------------------- */

/* N_FLOWS flows while LINK, or none, loses at RATE. */
static int run_flows(struct selftest *t, struct xp_lab *lab, topo_link link,
    double rate, const struct xp_lab_seen **seen, struct sim_err *e)
{
	const struct truth_fault fault = {.link = link,
	    .rate = rate,
	    .to_ns = SIM_NEVER};
	struct scene scene = {.where.seed = 2, .loss.truth = &scene.truth};
	int rc =
	    link == TOPO_NONE ? 0 : truth_add_fault(&scene.truth, &fault, e);
	list_flows(t, N_FLOWS, SIM_SEC);
	if (rc == 0)
		rc = xp_lab_epoch(lab, &scene, t->flow, N_FLOWS, seen, e);
	truth_free(&scene.truth);
	return rc;
}

static unsigned count_done(const struct xp_lab_seen *s)
{
	unsigned n = 0;
	for (size_t i = 0; i < N_FLOWS; i++)
		n += s->end[i].state == NETNS_FLOW_DONE;
	return n;
}

/* Nothing is broken, so nothing may be dropped or sent again: whatever is, this
 * machine does by itself, and each result would have it in. */
static int test_health(struct selftest *t, struct xp_lab *lab,
    struct sim_err *e)
{
	const struct xp_lab_seen *s;
	uint64_t n_packets = 0;
	int rc = run_flows(t, lab, TOPO_NONE, 0, &s, e);
	if (rc < 0)
		return rc;
	for (topo_link l = 0; l < t->topo.n_links; l++)
		n_packets += s->count[l].packets;
	const int ok = count_done(s) == N_FLOWS && s->n_retx == 0 &&
	    s->n_drops == 0 && s->n_other == 0;
	selftest_say(t, selftest_word(ok), "health",
	    "%u of %d flows of %d packets done; %llu sent again; %llu packets "
	    "on links, %llu dropped%s%s",
	    count_done(s), N_FLOWS, N_PKTS, (unsigned long long)s->n_retx,
	    (unsigned long long)n_packets,
	    (unsigned long long)(s->n_other + s->n_drops),
	    s->n_other ? ": " : "", s->n_other ? s->other : "");
	selftest_judge(t, ok);
	return 0;
}

/* One link loses at a known rate. What is counted must fit that rate, be the
 * same by link and by flow, agents' probes apart, and be nowhere else. */
static int test_loss(struct selftest *t, struct xp_lab *lab, const char *name,
    double rate, struct sim_err *e)
{
	const struct xp_lab_seen *s;
	uint64_t elsewhere = 0, of_flows = 0;
	double lo, hi;
	topo_link bad;
	int rc;
	if ((rc = topo_link_parse(&t->topo, name, &bad, e)) < 0 ||
	    (rc = run_flows(t, lab, bad, rate, &s, e)) < 0)
		return rc;
	for (topo_link l = 0; l < t->topo.n_links; l++)
		elsewhere += l == bad ? 0 : s->count[l].n_random;
	for (size_t i = 0; i < s->n_drops; i++)
		of_flows += s->drop[i].link == bad ? s->drop[i].n_random : 0;
	const struct netns_link_count *c = &s->count[bad];
	if ((rc = sim_binomial_interval(c->n_random, c->packets, CONFIDENCE,
		 &lo, &hi, e)) < 0)
		return rc;
	const int ok = lo <= rate && rate <= hi && elsewhere == 0 &&
	    of_flows + c->n_probes == c->n_random && s->n_other == 0 &&
	    count_done(s) == N_FLOWS;
	selftest_say(t, selftest_word(ok), "loss",
	    "%s lost %llu of %llu packets at %g (exact interval %.4f to %.4f); "
	    "%llu known by flow, %llu probes; other links %llu",
	    name, (unsigned long long)c->n_random,
	    (unsigned long long)c->packets, rate, lo, hi,
	    (unsigned long long)of_flows, (unsigned long long)c->n_probes,
	    (unsigned long long)elsewhere);
	selftest_judge(t, ok);
	return 0;
}

/* --- SYNs ----------------------------------------------------------------- */

struct syns {
	struct netns_net *net;
	struct netns_faults *faults;
	struct fabric_real *fabric;
	unsigned n_at[FABRIC_MAX_WAITS + 1], n_off, n_later;
};

static int set_knob(const struct netns_net *net, topo_host h, const char *path,
    const char *value, struct sim_err *e)
{
	int rc = netns_enter(net, h, e);
	if (rc < 0)
		return rc;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	const int ok = fd >= 0 && write(fd, value, strlen(value)) > 0;
	if (fd >= 0)
		close(fd);
	rc = netns_leave(net, e);
	return rc < 0 || ok
	    ? rc
	    : sim_fail(e, SIM_EUNSUPPORTED, "%s cannot be set.", path);
}

/* Build a network where SYNs leave host 0 over a link that loses RATE of them.
 * Only that direction loses: were the SYN-ACK lost, the server's timer would
 * send it again at the same time as the client's, and two losses would look
 * like one. */
static int open_syns(struct selftest *t, struct syns *s, double rto_s,
    double rate, double give_up_s, struct sim_err *e)
{
	const struct netns_faults_params by = {.by = NETNS_FAULTS_EBPF,
	    .seed = 3,
	    /* 1 s is the kernel's own; then nothing need be set, and no cgroup
	     * either. */
	    .syn_timeout_s = rto_s == 1 ? 0 : rto_s};
	const struct truth_fault fault = {.link = topo_link_of(0, TOPO_UP),
	    .rate = rate,
	    .to_ns = SIM_NEVER};
	struct truth truth = {0};
	const struct scene_loss loss = {.truth = &truth};
	struct fabric_real_host host[64];
	struct fabric_real_params real;
	int rc;
	if ((rc = sim_field_defaults(fabric_real_fields, &real, e)) < 0 ||
	    (rc = netns_open(&s->net, &t->topo, &t->params, e)) < 0 ||
	    (rc = netns_faults_open(&s->faults, s->net, &t->topo, &by, e)) <
		0 ||
	    (rc = truth_add_fault(&truth, &fault, e)) < 0)
		goto out;
	/* Pingmesh reads one drop from 3 s and two from 9 s, which takes a
	 * timer that doubles from the first SYN on. Newer kernels send their
	 * first SYNs at equal distances. */
	if (rto_s != 1 &&
	    (rc = set_knob(s->net, 0,
		 "/proc/sys/net/ipv4/tcp_syn_linear_timeouts", "0", e)) < 0)
		goto out;
	for (topo_host h = 0; h < t->topo.n_hosts; h++)
		host[h] = (struct fabric_real_host){topo_addr_of_host(h),
		    netns_fd(s->net, h)};
	real.n_classes = 1;
	real.port[0] = SYN_PORT;
	real.syn_rto_s = rto_s;
	real.connect_s = give_up_s;
	if ((rc = fabric_real_open(&s->fabric, host, t->topo.n_hosts, &real,
		 e)) == 0)
		rc = netns_faults_apply(s->faults, &loss, 0, e);
out:
	truth_free(&truth);
	return rc;
}

static void close_syns(struct syns *s)
{
	fabric_real_close(s->fabric);
	netns_faults_close(s->faults);
	netns_close(s->net);
}

/* Count a connect by how many SYNs its time says were lost: after k of them it
 * takes the sum of the first k waits, and a round trip that is next to
 * nothing. */
static void put_on_rung(struct syns *s, const struct agent_event *ev)
{
	const sim_ns *wait = fabric_real_fabric(s->fabric)->caps.syn_rto_ns;
	sim_ns rung = 0;
	if (ev->outcome == AGENT_TIMEOUT) {
		s->n_later++;
		return;
	}
	for (unsigned k = 0; k <= FABRIC_MAX_WAITS; k++) {
		/* Timers of the kernel end on its ticks, of up to 10 ms, and
		 * long ones with a coarser grain, which is why they may be late
		 * by a share of themselves. */
		if (ev->rtt_ns + SIM_MS >= rung &&
		    ev->rtt_ns <= rung + rung / 20 + 200 * SIM_MS) {
			s->n_at[k]++;
			return;
		}
		rung += k < FABRIC_MAX_WAITS ? wait[k] : 0;
	}
	s->n_off++;
}

/* All connects at once, so that the test takes as long as its slowest connect;
 * each from a port of its own. */
static int connect_all(struct selftest *t, struct syns *s, double give_up_s,
    struct sim_err *e)
{
	enum { CAP = 32 };
	struct fabric *f = fabric_real_fabric(s->fabric);
	struct agent_event ev[CAP];
	topo_host host[CAP];
	sim_ns at[CAP];
	const sim_ns end = f->ops->now(f) + (sim_ns)((give_up_s + 1) * 1e9);
	size_t n_done = 0, n = 1;
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < N_SYNS; i++) {
		const topo_host dst = 1 + i % (t->topo.n_hosts - 1);
		const struct agent_action a = {.kind = AGENT_CONNECT,
		    .token = i,
		    .tuple = {topo_addr_of_host(0), topo_addr_of_host(dst),
			(uint16_t)(20000 + i), SYN_PORT, TOPO_PROTO_TCP}};
		rc = f->ops->submit(f, 0, &a, 1, e);
	}
	/* An empty answer means that the time is up. */
	while (rc == 0 && n_done < N_SYNS && n > 0) {
		rc = f->ops->poll(f, end, ev, host, at, CAP, &n, e);
		for (size_t i = 0; rc == 0 && i < n; i++)
			if (ev[i].kind == AGENT_CONNECT_DONE) {
				put_on_rung(s, &ev[i]);
				n_done++;
			}
	}
	return rc;
}

static int test_syns(struct selftest *t, const char *what, double rto_s,
    double give_up_s, struct sim_err *e)
{
	/* So high that of 200 connects some lose two SYNs. */
	const double rate = 0.2;
	struct syns s = {0};
	struct sim_err why;
	double lo, hi;
	int rc = open_syns(t, &s, rto_s, rate, give_up_s, &why);
	if (rc == SIM_EUNSUPPORTED) {
		selftest_say(t, "SKIPPED", what, "%s", why.msg);
		close_syns(&s);
		return 0;
	}
	if (rc < 0)
		rc = sim_fail(e, rc, "%s", why.msg);
	else
		rc = connect_all(t, &s, give_up_s, e);
	/* The share of connects that had to wait is one more measurement of the
	 * loss that was set. */
	const unsigned n_waited = N_SYNS - s.n_at[0];
	if (rc == 0)
		rc = sim_binomial_interval(n_waited, N_SYNS, CONFIDENCE, &lo,
		    &hi, e);
	if (rc == 0) {
		const sim_ns *wait =
		    fabric_real_fabric(s.fabric)->caps.syn_rto_ns;
		const int ok = s.n_off == 0 && lo <= rate && rate <= hi &&
		    s.n_at[1] > 0 && s.n_at[2] > 0;
		selftest_say(t, selftest_word(ok), what,
		    "of %d connects at %g loss %u at once, %u after %g s, %u "
		    "after %g s, %u later, %u at no such time",
		    N_SYNS, rate, s.n_at[0], s.n_at[1], (double)wait[0] * 1e-9,
		    s.n_at[2], (double)(wait[0] + wait[1]) * 1e-9,
		    N_SYNS - s.n_at[0] - s.n_at[1] - s.n_at[2] - s.n_off,
		    s.n_off);
		selftest_judge(t, ok);
	}
	close_syns(&s);
	return rc;
}

/* --- all of it ------------------------------------------------------------ */

static int run_all(struct selftest *t, struct sim_err *e)
{
	struct xp_wire *wire;
	struct xp_lab *lab;
	int rc;
	if ((rc = test_paths(t, e)) < 0 ||
	    (rc = xp_wire_open_netns(&wire, &t->topo, &t->params,
		 NETNS_FAULTS_EBPF, e)) < 0)
		return rc;
	wire->timeout_s = 10;
	if ((rc = xp_lab_open(&lab, wire, &t->agent, e)) < 0)
		return rc;
	if ((rc = test_health(t, lab, e)) == 0 &&
	    (rc = test_loss(t, lab, "t1.0->tor1", 0.01, e)) == 0)
		rc = test_loss(t, lab, "tor4->host8", 0.05, e);
	/* The lab is closed first, and with it the thread is let loose from its
	 * one CPU; the next two need no such care, as they have few packets. */
	xp_lab_close(lab);
	if (rc == 0)
		rc = test_syns(t, "SYNs", 1, 6, e);
	return rc < 0 ? rc : test_syns(t, "SYNs 3 s", 3, 12, e);
}

int xp_lab_selftest(FILE *out, unsigned *n_failed, struct sim_err *e)
{
	/* The smallest Clos with several ways at each tier. */
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 2};
	struct selftest *t;
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	t->out = out;
	if ((rc = topo_open_clos(&t->topo, &shape, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t->before, t->topo.n_links, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t->after, t->topo.n_links, e)) == 0 &&
	    (rc = sim_field_defaults(netns_fields, &t->params, e)) == 0 &&
	    (rc = sim_field_defaults(algo_path_agent_fields, &t->agent, e)) ==
		0) {
		/* No budget of traces: each flow is to be traced, at once. */
		t->agent.c_t = 0;
		t->agent.timeout_s = 0.2;
		rc = run_all(t, e);
	}
	*n_failed = t->n_failed;
	topo_close(&t->topo);
	free(t->before);
	free(t->after);
	free(t);
	return rc;
}
