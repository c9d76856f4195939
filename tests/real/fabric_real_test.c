/* tests/real/fabric_real_test.c -- the simulator's agents on a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agents learn is held against what the kernel counted.
 */
#include "models/real/real.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "algos/pingmesh/agent.h"
#include "algos/pingmesh/pinglist_xml.h"
#include "algos/vigil/path_agent.h"
#include "tests/real/lab.h"
#include "topo/addr.h"

static const struct topo_clos small = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 2};
enum { N_HOSTS = 12, PORT = 8765 };

struct rig {
	struct lab lab;
	struct fabric_real *f;
	struct fabric *base;
	struct fabric_real_params p;
	struct fabric_agents agents;
};

static void open_fabric(struct rig *g)
{
	struct fabric_real_host host[N_HOSTS];
	assert_int_equal(g->lab.t.n_hosts, N_HOSTS);
	for (topo_host h = 0; h < N_HOSTS; h++)
		host[h] = (struct fabric_real_host){topo_addr_of_host(h),
		    netns_fd(g->lab.net, h)};
	assert_ok(fabric_real_open(&g->f, host, N_HOSTS, &g->p, test_err()));
	g->base = fabric_real_fabric(g->f);
}

static void defaults(struct rig *g)
{
	memset(g, 0, sizeof(*g));
	assert_ok(sim_field_defaults(fabric_real_fields, &g->p, test_err()));
	g->p.n_classes = 1;
	g->p.port[0] = PORT;
}

static void close_rig(struct rig *g)
{
	fabric_agents_close(&g->agents);
	fabric_real_close(g->f);
	lab_close(&g->lab);
}

static sim_ns now(const struct rig *g)
{
	return g->base->ops->now(g->base);
}

/* --- Pingmesh ----------------------------------------------------------- */

enum { MAX_RECORDS = 4096, LIST_BYTES = 65536 };

/* Controller and collector in one. */
struct service {
	struct rig *g;
	struct algo_pinglist plan;
	struct algo_pinglist_xml xml;
	char list[N_HOSTS][LIST_BYTES];
	size_t n_list[N_HOSTS];
	struct algo_pingmesh_record record[MAX_RECORDS];
	size_t n;
};

static int fetch(void *arg, topo_host host, uint64_t token, struct sim_err *e)
{
	struct service *s = arg;
	return fabric_real_fetched(s->g->f, host, token, 1, s->list[host],
	    s->n_list[host], e);
}

static int upload(void *arg, topo_host host, uint64_t token, const void *data,
    size_t n, struct sim_err *e)
{
	struct service *s = arg;
	const struct algo_pingmesh_batch *b = data;
	assert_int_equal(n,
	    offsetof(struct algo_pingmesh_batch, record) +
		b->n * sizeof(b->record[0]));
	assert_int_equal(b->src_ip, topo_addr_of_host(host));
	assert_true(s->n + b->n <= MAX_RECORDS);
	memcpy(&s->record[s->n], b->record, b->n * sizeof(b->record[0]));
	s->n += b->n;
	return fabric_real_uploaded(s->g->f, host, token, 1, e);
}

static void plan(struct service *s)
{
	struct algo_pinglist_params p;
	assert_ok(sim_field_defaults(algo_pinglist_fields, &p, test_err()));
	p.dc_interval_s = 10;
	p.payload_probes = 1;
	assert_ok(algo_pinglist_open(&s->plan, &p, &small, 1, test_err()));
	algo_pinglist_xml_open(&s->xml, &s->plan);
	for (topo_host h = 0; h < N_HOSTS; h++) {
		size_t n;
		assert_ok(algo_pinglist_xml_start(&s->xml, h, test_err()));
		while ((n = algo_pinglist_xml_next(&s->xml,
			    s->list[h] + s->n_list[h],
			    LIST_BYTES - s->n_list[h])) > 0)
			s->n_list[h] += n;
	}
}

/* How often an entry was probed: no more often than the plan says, nor its pair
 * than anyone may. With 10 s between the two entries of a pair, one of them may
 * not have had its turn when the test ends. */
static size_t check_entry(const struct service *s, topo_host src,
    const struct algo_pinglist_entry *x)
{
	sim_ns last = 0, of_pair = 0;
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct algo_pingmesh_record *r = &s->record[i];
		if (r->src_ip != topo_addr_of_host(src) ||
		    r->dst_ip != x->address)
			continue;
		assert_true(of_pair == 0 ||
		    r->sent_ns - of_pair >=
			ALGO_PINGLIST_MIN_INTERVAL_S * SIM_SEC);
		of_pair = r->sent_ns;
		if (r->payload != x->payload)
			continue;
		n++;
		assert_int_equal(r->dst_port, x->port);
		assert_int_equal(r->outcome, AGENT_CONNECTED);
		assert_in_range(r->rtt_ns, SIM_US, 500 * SIM_MS);
		assert_int_equal(r->echo_ns > 0, x->payload > 0);
		assert_true(
		    last == 0 || r->sent_ns - last >= x->interval_s * SIM_SEC);
		last = r->sent_ns;
	}
	assert_in_range(n, 0, 2);
	return n;
}

static int by_number(const void *a, const void *b)
{
	const sim_ns x = *(const sim_ns *)a, y = *(const sim_ns *)b;
	return (x > y) - (x < y);
}

static void print_rtt(const struct service *s)
{
	static sim_ns rtt[MAX_RECORDS];
	for (size_t i = 0; i < s->n; i++)
		rtt[i] = s->record[i].rtt_ns;
	qsort(rtt, s->n, sizeof(rtt[0]), by_number);
	print_message("time: pingmesh: %zu probes, handshake p50 %.0f us, "
		      "p99 %.0f us\n",
	    s->n, (double)rtt[s->n / 2] / 1e3,
	    (double)rtt[s->n * 99 / 100] / 1e3);
	assert_true(rtt[s->n / 2] < 2 * SIM_MS);
}

static int no_report(void *arg, topo_host host, sim_ns at,
    const struct agent_report *r, struct sim_err *e)
{
	(void)arg, (void)host, (void)at, (void)r, (void)e;
	fail();
	return 0;
}

/* Agents hold back for 10 s when they begin, and begin the 20 s of each entry
 * anywhere. */
#define LONG_ENOUGH (31 * SIM_SEC)

static void pingmesh_probes_every_pair_of_the_plan(void **state)
{
	static struct service s;
	static const struct sim_seed where = {.seed = 1};
	struct algo_pingmesh_params p = {0};
	struct rig g;
	lab_needs(state);
	defaults(&g);
	lab_open(&g.lab, &small, 1);
	open_fabric(&g);
	s.g = &g;
	plan(&s);
	const struct fabric_real_services services = {.arg = &s,
	    .fetch = fetch,
	    .upload = upload,
	    .fd = -1};
	assert_ok(fabric_real_serve(g.f, &services, test_err()));
	assert_ok(
	    sim_field_defaults(algo_pingmesh_agent_fields, &p, test_err()));
	p.fetch_retry_s = 0.2;
	p.upload_interval_s = 0.5;
	assert_ok(fabric_agents_open(&g.agents, &algo_pingmesh_agent, &p,
	    N_HOSTS, test_err()));
	fabric_agents_renew(&g.agents, &where);
	assert_ok(fabric_run(g.base, &g.agents, LONG_ENOUGH, no_report, NULL,
	    test_err()));
	size_t n = 0;
	for (topo_host h = 0; h < N_HOSTS; h++) {
		struct algo_pinglist_server server;
		struct algo_pingmesh_status status;
		assert_ok(
		    algo_pinglist_server(&server, &s.plan, h, test_err()));
		for (uint32_t k = 0; k < server.n_peers; k++) {
			size_t of_pair = 0;
			for (uint32_t kind = 0; kind < 2; kind++) {
				const struct algo_pinglist_entry x =
				    algo_pinglist_entry(&s.plan,
					algo_pinglist_at(&server, k), kind);
				of_pair += check_entry(&s, h, &x);
			}
			assert_in_range(of_pair, 1, 3);
			n += of_pair;
		}
		algo_pingmesh_agent_status(g.agents.state + h * g.agents.stride,
		    &status);
		assert_int_equal(status.count.n_unconnected, 0);
		assert_int_equal(status.count.n_stray, 0);
		assert_int_equal(status.count.n_jumps, 0);
	}
	assert_int_equal(n, s.n); /* nothing that the plan does not have */
	const struct fabric_real_counters *c = fabric_real_count(g.f);
	assert_int_equal(c->n_connected, c->n_connects);
	assert_int_equal(c->n_no_echo + c->n_garbage + c->n_late, 0);
	assert_int_equal(c->n_requests, c->n_answered);
	print_rtt(&s);
	close_rig(&g);
}

/* --- 007's path discovery ----------------------------------------------- */

struct live {
	int server, client, peer;
	struct topo_tuple tuple;
};

static void in_node(const struct rig *g, topo_host h)
{
	assert_ok(netns_enter(g->lab.net, h, test_err()));
}

static void back(const struct rig *g)
{
	assert_ok(netns_leave(g->lab.net, test_err()));
}

static struct sockaddr_in address(topo_host h, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(topo_addr_of_host(h))};
}

/* A connection that stays. */
static struct live open_live(const struct rig *g, topo_host src, topo_host dst,
    uint16_t port)
{
	const struct sockaddr_in from = address(src, port),
				 to = address(dst, 80);
	struct live l = {.tuple = {topo_addr_of_host(src),
			     topo_addr_of_host(dst), port, 80, TOPO_PROTO_TCP}};
	l.server = lab_listen(&g->lab, dst, 80);
	in_node(g, src);
	l.client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	back(g);
	assert_int_equal(bind(l.client, (const struct sockaddr *)&from,
			     sizeof(from)),
	    0);
	assert_int_equal(connect(l.client, (const struct sockaddr *)&to,
			     sizeof(to)),
	    0);
	l.peer = accept(l.server, NULL, NULL);
	assert_true(l.peer >= 0);
	return l;
}

static void close_live(struct live *l)
{
	const struct linger reset = {.l_onoff = 1};
	setsockopt(l->client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(l->client);
	close(l->peer);
	close(l->server);
}

/* Send, and have it read at the far end. */
static void pass(const struct live *l, size_t n)
{
	static char buf[65536];
	size_t sent = 0, got = 0;
	while (got < n) {
		const size_t rest =
		    n - sent < sizeof(buf) ? n - sent : sizeof(buf);
		ssize_t k = rest ? send(l->client, buf, rest, MSG_DONTWAIT) : 0;
		sent += k > 0 ? (size_t)k : 0;
		k = recv(l->peer, buf, sizeof(buf), MSG_DONTWAIT);
		got += k > 0 ? (size_t)k : 0;
	}
}

static void deafen(int fd, int deaf)
{
	struct sock_filter none = {BPF_RET | BPF_K, 0, 0, 0};
	const struct sock_fprog program = {1, &none};
	assert_int_equal(setsockopt(fd, SOL_SOCKET,
			     deaf ? SO_ATTACH_FILTER : SO_DETACH_FILTER,
			     &program, sizeof(program)),
	    0);
}

struct heard {
	unsigned n;
	topo_host host;
	struct agent_report report;
};

static int keep(void *arg, topo_host host, sim_ns at,
    const struct agent_report *r, struct sim_err *e)
{
	struct heard *h = arg;
	(void)at, (void)e;
	h->n++;
	h->host = host;
	h->report = *r;
	return 0;
}

/* The links over which PACKETS or more went since BEFORE, but for the traced
 * ones. */
static unsigned links_with(const struct rig *g, const uint64_t before[],
    uint64_t packets, uint8_t on[])
{
	static uint64_t after[256];
	unsigned n = 0;
	assert_true(g->lab.t.n_links <= 256);
	assert_ok(netns_count(g->lab.net, after, test_err()));
	for (topo_link l = 0; l < g->lab.t.n_links; l++) {
		on[l] = after[l] - before[l] >= packets;
		n += on[l];
	}
	return n;
}

/* A segment of a live flow is lost: the kernel sends it again, the agent hears
 * of it, and names the links that the flow's data went over. */
static void trace_live(struct rig *g, topo_host src, topo_host dst,
    uint16_t port)
{
	static uint64_t before[256];
	uint8_t on[256];
	struct heard heard = {0};
	struct live l = open_live(g, src, dst, port);
	assert_ok(netns_count(g->lab.net, before, test_err()));
	pass(&l, 300000);
	const unsigned n_links = links_with(g, before, 200, on);
	const topo_link last = topo_link_of(dst, TOPO_DOWN);
	assert_true(on[last]);
	assert_ok(fabric_real_watch(g->f, src, l.client, test_err()));
	deafen(l.peer, 1);
	assert_int_equal(send(l.client, "x", 1, 0), 1);
	for (unsigned i = 0; i < 100 && heard.n == 0; i++)
		assert_ok(fabric_run(g->base, &g->agents, now(g) + 50 * SIM_MS,
		    keep, &heard, test_err()));
	assert_ok(fabric_real_unwatch(g->f, l.client, test_err()));
	assert_int_equal(heard.n, 1);
	assert_int_equal(heard.host, src);
	assert_memory_equal(&heard.report.tuple, &l.tuple, 13);
	assert_in_range(heard.report.n_retx, 1, 10);
	assert_int_equal(heard.report.n_hops, n_links - 1);
	for (unsigned i = 0; i < heard.report.n_hops; i++) {
		const topo_link hop =
		    topo_addr_to_link(heard.report.hop_ip[i], g->lab.t.n_links);
		assert_true(hop != TOPO_NONE && hop != last && on[hop]);
		on[hop] = 0;
	}
	/* The connection is as well as before. */
	deafen(l.peer, 0);
	pass(&l, 1000);
	close_live(&l);
}

static void open_path_rig(struct rig *g, struct algo_path_agent_params *p,
    uint32_t icmp_per_s, uint32_t icmp_burst)
{
	static const struct sim_seed where = {.seed = 2};
	struct netns_params net;
	struct topo t;
	defaults(g);
	assert_ok(sim_field_defaults(netns_fields, &net, test_err()));
	net.icmp_per_s = icmp_per_s;
	net.icmp_burst = icmp_burst;
	net.ecmp_seed = 3;
	assert_ok(topo_open_clos(&t, &small, test_err()));
	lab_open_topo(&g->lab, &t, &net);
	open_fabric(g);
	assert_true(g->base->caps.can_probe_ttl);
	assert_ok(sim_field_defaults(algo_path_agent_fields, p, test_err()));
	p->c_t = 0;
	p->timeout_s = 0.2;
	assert_ok(fabric_agents_open(&g->agents, &algo_path_agent, p, N_HOSTS,
	    test_err()));
	fabric_agents_renew(&g->agents, &where);
}

static void a_lost_segment_is_traced_to_the_links_it_took(void **state)
{
	struct algo_path_agent_params p = {0};
	struct rig g;
	lab_needs(state);
	open_path_rig(&g, &p, 0, 0);
	/* Across pods, within a pod, under a ToR. */
	for (uint16_t i = 0; i < 8; i++)
		trace_live(&g, 0, 11, (uint16_t)(30000 + 7 * i));
	for (uint16_t i = 0; i < 3; i++)
		trace_live(&g, 7, 8, (uint16_t)(30000 + i));
	trace_live(&g, 4, 5, 30000);
	const struct fabric_real_counters *c = fabric_real_count(g.f);
	assert_int_equal(c->n_answers, 8 * 5 + 3 * 3 + 1);
	assert_int_equal(c->n_unsent, 0);
	close_rig(&g);
}

/* A switch that gives 50 answers a second, and 20 at once. */
static void a_limit_of_icmp_bounds_the_answers(void **state)
{
	enum { MANY = 400, PER_S = 50, BURST = 20 };
	struct agent_action a = {.kind = AGENT_PROBE,
	    .ttl = 1,
	    .tuple = {topo_addr_of_host(0), topo_addr_of_host(11), 30000, 80,
		TOPO_PROTO_TCP}};
	struct algo_path_agent_params p = {0};
	struct heard heard = {0};
	struct rig g;
	lab_needs(state);
	open_path_rig(&g, &p, PER_S, BURST);
	/* Answers that nobody waits for: the agent passes over them. */
	const sim_ns begun = now(&g);
	for (uint16_t i = 0; i < MANY; i++) {
		a.ip_id = i;
		assert_ok(g.base->ops->submit(g.base, 0, &a, 1, test_err()));
		assert_ok(fabric_run(g.base, &g.agents, now(&g) + SIM_MS / 2,
		    keep, &heard, test_err()));
	}
	const double s = (double)(now(&g) - begun) * 1e-9;
	const struct fabric_real_counters *c = fabric_real_count(g.f);
	assert_int_equal(c->n_probes, MANY);
	assert_int_equal(c->n_strange, 0);
	/* Linux takes 0, 1 or 2 tokens an answer, at random: at least half as
	 * many answers as tokens, and 6 standard deviations more than tokens
	 * about once in 10^9. */
	const double tokens = BURST + PER_S * s;
	assert_in_range(c->n_answers, BURST / 2,
	    (unsigned)(tokens + 6 * sqrt(tokens * 2 / 3)));
	assert_int_equal(heard.n, 0);
	close_rig(&g);
}

/* --- what the kernel is set to ------------------------------------------ */

static void set_knob(const struct rig *g, topo_host h, const char *path,
    const char *value)
{
	in_node(g, h);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, value, strlen(value)), strlen(value));
	close(fd);
	back(g);
}

/* One retry: SYNs at 0 and 1 s, and the end at 3 s. */
static void timers_are_those_of_the_hosts_namespace(void **state)
{
	static const sim_ns want[8] = {SIM_SEC};
	struct agent_action a = {.kind = AGENT_CONNECT,
	    .tuple = {topo_addr_of_host(0), topo_addr_of_host(11), 30000, 80,
		TOPO_PROTO_TCP}};
	struct agent_event ev;
	struct rig g;
	topo_host host;
	sim_ns at;
	size_t n;
	lab_needs(state);
	defaults(&g);
	lab_open(&g.lab, &small, 1);
	set_knob(&g, 0, "/proc/sys/net/ipv4/tcp_syn_linear_timeouts", "0");
	g.p.syn_retries = 1;
	open_fabric(&g);
	assert_memory_equal(g.base->caps.syn_rto_ns, want, sizeof(want));
	int fd = lab_listen(&g.lab, 11, 80);
	deafen(fd, 1);
	const sim_ns begun = now(&g);
	assert_ok(g.base->ops->submit(g.base, 0, &a, 1, test_err()));
	assert_ok(g.base->ops->poll(g.base, begun + 10 * SIM_SEC, &ev, &host,
	    &at, 1, &n, test_err()));
	assert_int_equal(n, 1);
	assert_int_equal(ev.kind, AGENT_CONNECT_DONE);
	assert_int_equal(ev.outcome, AGENT_TIMEOUT);
	assert_in_range(at - begun, 2900 * SIM_MS, 4500 * SIM_MS);
	close(fd);
	close_rig(&g);
}

/* --- speed -------------------------------------------------------------- */

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The same few pairs, or all of them, each probe with the next port. */
static void begin_probe(struct rig *g, unsigned i, uint32_t n_bytes)
{
	const topo_host src = i % N_HOSTS;
	const topo_host dst = (src + 1 + i / N_HOSTS % (N_HOSTS - 1)) % N_HOSTS;
	const struct agent_action a = {.kind = AGENT_CONNECT,
	    .token = i,
	    .n_bytes = n_bytes,
	    .tuple = {topo_addr_of_host(src), topo_addr_of_host(dst),
		(uint16_t)(20000 + i % 40000), PORT, TOPO_PROTO_TCP}};
	assert_ok(g->base->ops->submit(g->base, src, &a, 1, test_err()));
}

/* N probes, no more than FLIGHTS at a time. Answers are those of an agent. */
static void measure(struct rig *g, const char *what, unsigned n,
    unsigned flights, uint32_t n_bytes)
{
	enum { CAP = 32 };
	struct agent_event ev[CAP];
	topo_host host[CAP];
	sim_ns at[CAP], rtt = 0, echo = 0;
	unsigned begun = 0, done = 0;
	const double wall = lab_seconds(), cpu = cpu_s();
	while (done < n) {
		size_t got;
		while (begun < n && begun - done < flights)
			begin_probe(g, begun++, n_bytes);
		assert_ok(g->base->ops->poll(g->base, now(g) + 10 * SIM_SEC, ev,
		    host, at, CAP, &got, test_err()));
		assert_true(got > 0);
		for (size_t i = 0; i < got; i++) {
			if (ev[i].kind == AGENT_PING_REQUEST) {
				const struct agent_action a = {.kind =
								   AGENT_ANSWER,
				    .token = ev[i].token,
				    .n_bytes = (uint32_t)ev[i].n};
				assert_ok(g->base->ops->submit(g->base, host[i],
				    &a, 1, test_err()));
				continue;
			}
			assert_int_equal(ev[i].kind, AGENT_CONNECT_DONE);
			assert_int_equal(ev[i].outcome, AGENT_CONNECTED);
			assert_int_equal(ev[i].echo_ns > 0, n_bytes > 0);
			rtt += ev[i].rtt_ns;
			echo += ev[i].echo_ns;
			done++;
		}
	}
	print_message("time: %s: %.0f probes/s, %.1f us of CPU each, "
		      "handshake %.1f us, echo %.1f us\n",
	    what, n / (lab_seconds() - wall), (cpu_s() - cpu) / n * 1e6,
	    (double)rtt / n / 1e3, (double)echo / n / 1e3);
}

static void thousands_of_probes_all_connect(void **state)
{
	struct rig g;
	lab_needs(state);
	defaults(&g);
	lab_open(&g.lab, &small, 1);
	open_fabric(&g);
	measure(&g, "one by one", 10000, 1, 0);
	measure(&g, "one by one, 1000 bytes", 5000, 1, 1000);
	measure(&g, "32 at a time", 20000, 32, 0);
	measure(&g, "256 at a time", 20000, 256, 0);
	measure(&g, "256 at a time, 1000 bytes", 10000, 256, 1000);
	const struct fabric_real_counters *c = fabric_real_count(g.f);
	assert_int_equal(c->n_connected, 65000);
	assert_int_equal(c->n_garbage + c->n_late + c->n_turned_away, 0);
	close_rig(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(thousands_of_probes_all_connect),
	    cmocka_unit_test(a_lost_segment_is_traced_to_the_links_it_took),
	    cmocka_unit_test(a_limit_of_icmp_bounds_the_answers),
	    cmocka_unit_test(timers_are_those_of_the_hosts_namespace),
	    cmocka_unit_test(pingmesh_probes_every_pair_of_the_plan),
	};
	return cmocka_run_group_tests_name("models/real in a lab", tests,
	    lab_begin, NULL);
}
