/* experiments/lab.c -- an epoch on a real network: flows, losses, agents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/lab/net.h"
#include "models/netns/caps.h"
#include "sim/vec.h"

/* The clock is looked at this often beside what happens: faults begin and end,
 * and flows are over, as late as that. */
#define SLICE (10 * SIM_MS)

/* --- the section of a spec ------------------------------------------------ */

enum { N_FIELDS = 3 };

/* The network's own, and how long a flow may take. */
static void join_fields(struct sim_field all[N_FIELDS + 1])
{
	static const struct sim_field own[] = {
	    {"timeout", SIM_F_F64, offsetof(struct xp_lab_params, timeout_s),
		.def = "10", .min = 0.1, .max = 3600, .unit = "s",
		.doc = "a flow that takes longer has failed"},
	    {0},
	};
	static const char *const of_net[] = {"ecmp_seed", "mtu", NULL};
	const size_t n = sim_field_join(all, 0, N_FIELDS + 1, netns_fields,
	    offsetof(struct xp_lab_params, net), of_net);
	sim_field_join(all, n, N_FIELDS + 1, own, 0, NULL);
}

static int lab_read(struct sim_yaml *y, const struct topo *t, void *params,
    struct sim_err *e)
{
	struct sim_field all[N_FIELDS + 1];
	(void)t;
	join_fields(all);
	return sim_yaml_read(y, sim_yaml_get(y->root, "netns"), y->root, all,
	    NULL, params, e);
}

static void lab_help(FILE *out)
{
	struct sim_field all[N_FIELDS + 1];
	join_fields(all);
	fprintf(out, "\nnetns, on fabric netns:\n");
	sim_field_help(all, out);
}

const struct xp_section xp_lab_section = {"netns", sizeof(struct xp_lab_params),
    lab_read, lab_help, NULL};

/* --- rights --------------------------------------------------------------- */

static int try_smallest(struct sim_err *e)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 2,
	    .n_t1 = 1,
	    .n_hosts = 1};
	const struct netns_faults_params by = {.by = NETNS_FAULTS_EBPF};
	struct netns_params p;
	struct topo t;
	struct netns_net *net = NULL;
	struct netns_faults *f = NULL;
	int as_user, rc;
	if ((rc = sim_field_defaults(netns_fields, &p, e)) < 0 ||
	    (rc = topo_open_clos(&t, &shape, e)) < 0)
		return rc;
	if ((rc = netns_permit(&as_user, e)) == 0 &&
	    (rc = netns_open(&net, &t, &p, e)) == 0)
		rc = netns_faults_open(&f, net, &t, &by, e);
	netns_faults_close(f);
	netns_close(net);
	topo_close(&t);
	return rc;
}

/* What is left of a child that tried: its message, or nothing. */
static int try_in_child(struct sim_err *e)
{
	struct sim_err why = {0};
	int ends[2], status = 0;
	ssize_t n = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return sim_fail(e, SIM_EIO, "There is no pipe: %s.",
		    strerror(errno));
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		const int rc = try_smallest(&why);
		if (rc < 0)
			n = write(ends[1], why.msg, strlen(why.msg));
		_exit(rc < 0);
	}
	close(ends[1]);
	if (child > 0) {
		n = read(ends[0], why.msg, sizeof(why.msg) - 1);
		waitpid(child, &status, 0);
	}
	close(ends[0]);
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	why.msg[n > 0 ? n : 0] = '\0';
	return sim_fail(e, SIM_EUNSUPPORTED, "fabric netns: %s",
	    n > 0 ? why.msg : "its trial died.");
}

int xp_lab_check(struct sim_err *e)
{
	static const enum netns_cap_id needed[] = {NETNS_CAP_LIBMNL,
	    NETNS_CAP_NAMESPACES, NETNS_CAP_HASH_SEED, NETNS_CAP_BTF};
	struct netns_cap cap[NETNS_N_CAPS];
	netns_probe(cap);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!cap[needed[i]].ok)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "fabric netns takes %s (%s), but: %.700s.",
			    cap[needed[i]].name, cap[needed[i]].what,
			    cap[needed[i]].why);
	return try_in_child(e);
}

/* --- notes --------------------------------------------------------------- */

void xp_lab_notes(struct xp_lab_notes *n)
{
	const struct res_provenance notes[] = {{"fabric", "netns"},
	    {"repeatable", "paths of flows; not losses, nor times"},
	    {"pinned_to_cpu", n->cpu}, {"sysctls_of_hosts", n->hosts},
	    {"sysctls_of_switches", n->switches}, {NULL, NULL}};
	memcpy(n->note, notes, sizeof(notes));
	snprintf(n->cpu, sizeof(n->cpu), "%d", xp_lab_cpu());
	netns_node_knobs(NETNS_HOST, n->hosts, sizeof(n->hosts));
	netns_node_knobs(NETNS_SWITCH, n->switches, sizeof(n->switches));
}

/* --- life ----------------------------------------------------------------- */

struct xp_lab {
	const struct topo *topo;
	struct xp_lab_params params;
	sim_ns trace_ns; /* how long a trace may take */
	struct xp_lab_net at;
	struct fabric_agents agents;

	/* Of this epoch. */
	struct netns_faults *faults;
	struct fabric_real *fabric;
	struct netns_traffic *traffic;
	int epoll;    /* of traffic and delays */
	sim_ns heard; /* when the last retransmission was, by the fabric */
	size_t cap_reports, cap_drops, cap_end, cap_count;
	struct xp_lab_seen seen;
};

static void end_epoch(struct xp_lab *l)
{
	/* In this order: the fabric polls what the others have. */
	fabric_real_close(l->fabric);
	netns_traffic_close(l->traffic);
	netns_faults_close(l->faults);
	if (l->epoll >= 0)
		close(l->epoll);
	l->fabric = NULL;
	l->traffic = NULL;
	l->faults = NULL;
	l->epoll = -1;
}

void xp_lab_close(struct xp_lab *l)
{
	if (!l)
		return;
	end_epoch(l);
	fabric_agents_close(&l->agents);
	xp_lab_net_close(&l->at);
	free(l->seen.report);
	free(l->seen.drop);
	free(l->seen.count);
	free(l->seen.end);
	free(l);
}

int xp_lab_open(struct xp_lab **out, const struct topo *t,
    const struct xp_lab_params *p, const struct algo_path_agent_params *agent,
    struct sim_err *e)
{
	struct xp_lab *l;
	*out = NULL;
	int rc = SIM_ZALLOC(&l, 1, e);
	if (rc < 0)
		return rc;
	l->topo = t;
	l->params = *p;
	l->trace_ns = (sim_ns)(agent->timeout_s * 1e9) + 2 * SLICE;
	l->epoll = -1;
	if ((rc = xp_lab_net_open(&l->at, t, &p->net, e)) < 0 ||
	    (rc = SIM_RESERVE(&l->seen.count, &l->cap_count, t->n_links, e)) <
		0 ||
	    (rc = fabric_agents_open(&l->agents, &algo_path_agent, agent,
		 t->n_hosts, e)) < 0)
		xp_lab_close(l);
	else
		*out = l;
	return rc;
}

/* --- an epoch ------------------------------------------------------------- */

static int read_retx(void *arg, struct fabric_real_retx out[], size_t cap,
    size_t *n, struct sim_err *e)
{
	enum { AT_ONCE = 64 };
	struct xp_lab *l = arg;
	struct netns_retx retx[AT_ONCE];
	const struct fabric *f = fabric_real_fabric(l->fabric);
	int rc = netns_faults_retx_read(l->faults, retx,
	    cap < AT_ONCE ? cap : AT_ONCE, n, e);
	for (size_t i = 0; rc == 0 && i < *n; i++)
		out[i] = (struct fabric_real_retx){retx[i].tuple,
		    retx[i].established};
	if (rc == 0 && *n > 0) {
		l->seen.n_retx += *n;
		l->heard = f->ops->now(f);
	}
	return rc;
}

static int step(void *arg, struct sim_err *e)
{
	struct xp_lab *l = arg;
	int rc = netns_traffic_step(l->traffic, e);
	if (rc == 0 && netns_faults_delay_fd(l->faults) >= 0)
		rc = netns_faults_delay_step(l->faults, e);
	return rc;
}

/* 007's agents ask nobody for anything. */
static int no_fetch(void *arg, topo_host host, uint64_t token,
    struct sim_err *e)
{
	(void)arg, (void)host, (void)token;
	return sim_fail(e, SIM_EUNSUPPORTED, "there is no controller here.");
}

static int no_upload(void *arg, topo_host host, uint64_t token,
    const void *data, size_t n, struct sim_err *e)
{
	(void)arg, (void)host, (void)token, (void)data, (void)n;
	return sim_fail(e, SIM_EUNSUPPORTED, "there is no collector here.");
}

static int watch(const struct xp_lab *l, int fd, struct sim_err *e)
{
	struct epoll_event ev = {.events = EPOLLIN};
	if (fd < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	return sim_fail(e, SIM_EIO, "A descriptor cannot be polled: %s.",
	    strerror(errno));
}

static int open_faults(struct xp_lab *l, const struct sim_seed *where, size_t n,
    struct sim_err *e)
{
	/* A flow loses on few links; and so do its answers. */
	const struct netns_faults_params p = {
	    .max_drops = n < 8192 ? 65536 : (uint32_t)n * 8};
	return xp_lab_net_faults(&l->faults, &l->at, where, &p, e);
}

static int open_fabric(struct xp_lab *l, struct sim_err *e)
{
	struct fabric_real_params p;
	int rc = sim_field_defaults(fabric_real_fields, &p, e);
	p.max_flights = p.max_clients = 1; /* nobody connects by it */
	p.n_classes = 0;
	if (rc < 0 ||
	    (rc = fabric_real_open(&l->fabric, l->at.host, l->topo->n_hosts, &p,
		 e)) < 0)
		return rc;
	if (!fabric_real_fabric(l->fabric)->caps.can_probe_ttl)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "Agents may not send probes: that takes CAP_NET_RAW.");
	return 0;
}

/* All that an epoch has, each polled by the fabric. */
static int begin_epoch(struct xp_lab *l, const struct sim_seed *where,
    struct obs_flow flow[], size_t n, struct sim_err *e)
{
	const struct netns_traffic_params p = {
	    .timeout_s = l->params.timeout_s};
	int rc;
	l->heard = 0;
	l->seen.n_reports = l->seen.n_drops = 0;
	l->seen.n_retx = 0;
	if ((rc = SIM_RESERVE(&l->seen.end, &l->cap_end, n, e)) < 0 ||
	    (rc = open_faults(l, where, n, e)) < 0 ||
	    (rc = open_fabric(l, e)) < 0)
		return rc;
	fabric_agents_renew(&l->agents, where);
	const struct fabric_real_retx_source retx = {l,
	    netns_faults_retx_fd(l->faults), read_retx};
	if ((l->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return sim_fail(e, SIM_EIO, "epoll cannot be opened: %s.",
		    strerror(errno));
	const struct fabric_real_services services = {.arg = l,
	    .fetch = no_fetch,
	    .upload = no_upload,
	    .fd = l->epoll,
	    .ready = step};
	if ((rc = fabric_real_retx(l->fabric, &retx, e)) < 0 ||
	    (rc = fabric_real_serve(l->fabric, &services, e)) < 0 ||
	    (rc = netns_traffic_open(&l->traffic, l->at.net, l->topo, flow, n,
		 &p, e)) < 0 ||
	    (rc = watch(l, netns_faults_delay_fd(l->faults), e)) < 0)
		return rc;
	return watch(l, netns_traffic_fd(l->traffic), e);
}

static int take_report(void *arg, topo_host host, sim_ns at,
    const struct agent_report *report, struct sim_err *e)
{
	struct xp_lab *l = arg;
	(void)host;
	(void)at;
	int rc = SIM_RESERVE(&l->seen.report, &l->cap_reports,
	    l->seen.n_reports + 1, e);
	if (rc == 0)
		l->seen.report[l->seen.n_reports++] = *report;
	return rc;
}

static int is_over(const struct xp_lab *l, sim_ns now)
{
	return netns_traffic_left(l->traffic) == 0 &&
	    (l->heard == 0 || now >= l->heard + l->trace_ns);
}

static int live(struct xp_lab *l, const struct model_loss *loss,
    struct sim_err *e)
{
	struct fabric *f = fabric_real_fabric(l->fabric);
	const sim_ns began = f->ops->now(f);
	sim_ns now = began, change = 0;
	int rc = 0;
	do {
		if (now - began >= change) {
			rc =
			    netns_faults_apply(l->faults, loss, now - began, e);
			change = netns_faults_next(loss->truth, now - began);
		}
		if (rc == 0)
			rc = fabric_run(f, &l->agents, now + SLICE, take_report,
			    l, e);
		now = f->ops->now(f);
	} while (rc == 0 && !is_over(l, now));
	return rc;
}

/* --- what came of it ------------------------------------------------------ */

/* What the truth must not miss. */
static int check_whole(struct xp_lab *l, struct sim_err *e)
{
	const struct xp_lab_seen *s = &l->seen;
	uint64_t n_lost, n_untold = 0;
	int rc = netns_faults_retx_lost(l->faults, &n_lost, e);
	if (rc < 0)
		return rc;
	for (topo_link i = 0; i < l->topo->n_links; i++)
		n_untold += s->count[i].n_untold;
	if (n_lost + n_untold > 0)
		return sim_fail(e, SIM_EIO,
		    "%llu retransmissions and %llu drops were not recorded: "
		    "more than there is room for.",
		    (unsigned long long)n_lost, (unsigned long long)n_untold);
	return 0;
}

/* A flow that is given up throws away what waits there out of order, for which
 * the kernel has no reason of its own. */
static int is_of_failure(const struct netns_audit *a, unsigned n_failed)
{
	return n_failed > 0 && strcmp(a->reason, "NOT_SPECIFIED") == 0;
}

static int audit(struct xp_lab *l, unsigned n_failed, struct sim_err *e)
{
	struct netns_audit all[NETNS_AUDIT_MAX];
	struct xp_lab_seen *s = &l->seen;
	uint64_t most = 0;
	size_t n;
	int rc = netns_faults_audit(l->faults, all, &n, e);
	s->n_other = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (all[i].expected || is_of_failure(&all[i], n_failed))
			continue;
		s->n_other += all[i].n;
		if (all[i].n > most) {
			most = all[i].n;
			snprintf(s->other, sizeof(s->other), "%s",
			    all[i].reason);
		}
	}
	return rc;
}

static int look(struct xp_lab *l, size_t n, struct sim_err *e)
{
	struct xp_lab_seen *s = &l->seen;
	unsigned n_failed = 0;
	int rc;
	for (size_t i = 0; i < n; i++) {
		s->end[i] = *netns_traffic_end(l->traffic, i);
		n_failed += s->end[i].state == NETNS_FLOW_FAILED;
	}
	if ((rc = netns_faults_count(l->faults, s->count, e)) < 0 ||
	    (rc = netns_faults_drops(l->faults, &s->drop, &l->cap_drops,
		 &s->n_drops, e)) < 0 ||
	    (rc = audit(l, n_failed, e)) < 0)
		return rc;
	return check_whole(l, e);
}

int xp_lab_epoch(struct xp_lab *l, const struct model_loss *loss,
    const struct sim_seed *where, struct obs_flow flow[], size_t n,
    const struct xp_lab_seen **seen, struct sim_err *e)
{
	int rc;
	struct netns_icmp before = {0};
	if ((rc = netns_icmp_count(l->at.net, l->topo, &before, e)) == 0 &&
	    (rc = begin_epoch(l, where, flow, n, e)) == 0 &&
	    (rc = live(l, loss, e)) == 0)
		rc = look(l, n, e);
	if (rc == 0)
		rc = netns_icmp_count(l->at.net, l->topo, &l->seen.icmp, e);
	l->seen.icmp.n_sent -= before.n_sent;
	l->seen.icmp.n_suppressed -= before.n_suppressed;
	end_epoch(l);
	*seen = &l->seen;
	return rc;
}
