/* models/netns/ebpf.c -- faults by eBPF: loading, attaching, changing.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything is made in an order in which each step can be refused with a
 * reason that somebody can act on: the right, the kernel's types, the verifier,
 * then the links one by one. Nothing is pinned in a file system, so that all of
 * it ends with this process.
 */
#include "models/netns/ebpf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sim/embed.h"
#include "sim/vec.h"

enum {
	USUAL_MAX_DROPS = 65536,
};

SIM_EMBED(netns_ebpf, NETNS_EBPF_OBJECT);

/* --- what can be told before ---------------------------------------------- */

/* How many arguments a tracepoint has, by the kernel's own types: a typedef of
 * its name points to a function that takes them, after one argument of the
 * kernel's. -1: there is no such tracepoint. This is asked before loading,
 * since the verifier's message about a missing argument would help nobody. */
static int n_arguments(const struct btf *kernel, const char *tracepoint)
{
	int id = btf__find_by_name_kind(kernel, tracepoint, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	const struct btf_type *t =
	    btf__type_by_id(kernel, btf__type_by_id(kernel, (__u32)id)->type);
	if (t && btf_is_ptr(t))
		t = btf__type_by_id(kernel, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

static int check_types(struct netns_faults_ebpf *f, struct sim_err *e)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int rc = 0;
	if (!kernel)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "This kernel does not tell its types, which eBPF takes: "
		    "/sys/kernel/btf/vmlinux cannot be read (%s); kernels "
		    "built with CONFIG_DEBUG_INFO_BTF have it.",
		    strerror(errno));
	if (n_arguments(kernel, "btf_trace_tcp_retransmit_skb") < 2 ||
	    n_arguments(kernel, "btf_trace_kfree_skb") < 4)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "This kernel is too old: its tracepoints "
		    "tcp_retransmit_skb and kfree_skb do not tell the socket "
		    "(Linux 6.11 and later do).");
	else
		netns_ebpf_read_reasons(f, kernel);
	btf__free(kernel);
	return rc;
}

/* --- loading -------------------------------------------------------------- */

/* The kernel counts timeouts in ticks of its own clock, whose rate (CONFIG_HZ)
 * is not told to programs; but the grain of the coarse clock is one tick. */
static uint32_t ticks(double seconds)
{
	struct timespec grain;
	clock_getres(CLOCK_MONOTONIC_COARSE, &grain);
	return (uint32_t)lround(seconds * 1e9 / (double)grain.tv_nsec);
}

static int ebpf_set_up(void *arg, struct bpf_object *o, struct sim_err *e)
{
	const struct netns_faults_ebpf *f = arg;
	const struct topo *t = f->base.t;
	const size_t n_nodes = (size_t)t->n_hosts + t->n_switches;
	const struct lab_config want = {.base = NETNS_IFINDEX_BASE,
	    .n_links = t->n_links,
	    .syn_timeout_ticks = ticks(f->base.p.syn_timeout_s)};
	int rc;
	if ((rc = netns_program_constants(o, &want, sizeof(want), e)) < 0 ||
	    (rc = netns_program_size(o, "links", t->n_links, e)) < 0 ||
	    (rc = netns_program_size(o, "counts", t->n_links, e)) < 0 ||
	    (rc = netns_program_size(o, "holes",
		 (size_t)t->n_switches * LAB_MAX_HOLES, e)) < 0 ||
	    (rc = netns_program_size(o, "drops", f->base.p.max_drops, e)) < 0 ||
	    (rc = netns_program_size(o, "spaces", n_nodes, e)) < 0)
		return rc;
	struct bpf_program *syn =
	    bpf_object__find_program_by_name(o, "lab_syn_timeout");
	/* Loaded only if it is asked for, as it takes a cgroup. */
	bpf_program__set_autoload(syn, f->base.p.syn_timeout_s > 0);
	return 0;
}

/* Each link draws from a stream of its own, by a key of 64 bits for the
 * generator in the kernel. */
static uint64_t ebpf_key_of(uint64_t seed, topo_link l)
{
	const struct sim_seed where = {.seed = seed};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_LOSS, l);
	const uint64_t hi = sim_rng_u32(&r);
	return hi << 32 | sim_rng_u32(&r);
}

static int share_tables(struct netns_faults_ebpf *f, struct sim_err *e)
{
	const struct topo *t = f->base.t;
	int rc;
	if ((rc = netns_program_share(f->object, "links",
		 sizeof(struct lab_link), t->n_links, &f->links, e)) < 0 ||
	    (rc = netns_program_share(f->object, "holes",
		 sizeof(struct lab_hole), (size_t)t->n_switches * LAB_MAX_HOLES,
		 &f->holes, e)) < 0)
		return rc;
	struct lab_link *link = f->links.at;
	for (topo_link l = 0; l < t->n_links; l++)
		link[l].key = ebpf_key_of(f->base.p.seed, l);
	return 0;
}

/* --- attaching ------------------------------------------------------------ */

/* Tell the program which namespaces are the lab's. A socket made in a node
 * knows the number by which the kernel names that namespace, its cookie. */
static int put_cookie(struct netns_faults_ebpf *f, uint32_t node,
    struct sim_err *e)
{
	uint64_t cookie;
	socklen_t size = sizeof(cookie);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int why = fd < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) < 0
	    ? errno
	    : 0;
	if (fd >= 0)
		close(fd);
	if (why == 0 &&
	    bpf_map_update_elem(netns_program_map(f->object, "spaces"), &cookie,
		&node, BPF_ANY) < 0)
		why = errno;
	return why == 0 ? 0
			: sim_fail(e, SIM_EIO,
			      "The namespace of node %u cannot be told from "
			      "others: %s.",
			      node, strerror(why));
}

static int attach_at(struct netns_faults_ebpf *f, uint32_t ifindex,
    struct sim_err *e)
{
	return netns_program_attach(f->object, "lab_ingress", ifindex,
	    BPF_TC_INGRESS, NETNS_PROGRAM_FAULTS, e);
}

static int attach_tap(struct netns_faults *base, uint32_t ifindex,
    struct sim_err *e)
{
	return attach_at((struct netns_faults_ebpf *)base, ifindex, e);
}

/* An interface can be named by its index only from within its namespace, so the
 * thread goes to the receiver of each link. */
static int attach_links(struct netns_faults_ebpf *f, struct sim_err *e)
{
	const struct netns_faults *base = &f->base;
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < base->t->n_links; l++) {
		rc = netns_enter(base->net, netns_faults_end(base, l), e);
		if (rc == 0)
			rc = attach_at(f, netns_ifindex(l), e);
		/* Counted one by one, so that after a failure close_ebpf()
		 * detaches these and no others. */
		f->n_attached += rc == 0;
	}
	return rc;
}

/* The tracepoints are of the whole machine: each is attached once, whatever the
 * network. */
static int attach_trace(struct netns_faults_ebpf *f, const char *name,
    struct bpf_link **link, struct sim_err *e)
{
	*link = bpf_program__attach(
	    bpf_object__find_program_by_name(f->object, name));
	return *link ? 0
		     : sim_fail(e, SIM_EIO,
			   "%s cannot be attached to its tracepoint: %s.", name,
			   strerror(errno));
}

static int attach_syn(struct netns_faults_ebpf *f, struct sim_err *e)
{
	int rc;
	if (f->base.p.syn_timeout_s == 0)
		return 0;
	if ((rc = netns_cgroup_enter(&f->cgroup, e)) < 0)
		return rc;
	f->syn = bpf_program__attach_cgroup(
	    bpf_object__find_program_by_name(f->object, "lab_syn_timeout"),
	    f->cgroup.fd);
	return f->syn ? 0
		      : sim_fail(e, SIM_EIO,
			    "The timeout of SYNs cannot be attached: %s.",
			    strerror(errno));
}

/* Namespaces are made known before anything is attached, and tracepoints come
 * last: of the first event on it is known whose it is. */
static int attach(struct netns_faults_ebpf *f, struct sim_err *e)
{
	const struct netns_faults *base = &f->base;
	const uint32_t n_nodes = base->t->n_hosts + base->t->n_switches;
	int rc = 0;
	for (topo_node n = 0; rc == 0 && n < n_nodes; n++) {
		rc = netns_enter(base->net, n, e);
		if (rc == 0)
			rc = put_cookie(f, n, e);
	}
	if (rc == 0)
		rc = attach_links(f, e);
	const int back = netns_leave(base->net, rc < 0 ? NULL : e);
	if (rc == 0)
		rc = back;
	if (rc < 0 ||
	    (rc = attach_trace(f, "lab_retransmit", &f->retransmit, e)) < 0 ||
	    (rc = attach_trace(f, "lab_freed", &f->freed, e)) < 0)
		return rc;
	return attach_syn(f, e);
}

/* --- changing ------------------------------------------------------------- */

/* A rate of 1 is beyond all draws of 63 bits. */
static uint64_t threshold(double rate)
{
	return rate >= 1 ? UINT64_C(1) << 63 : (uint64_t)(rate * 0x1p63);
}

/* Packets flow meanwhile. So first no link looks at holes any more, then the
 * holes change, then links get their new ranges, lest a packet meet half a
 * hole. The volatile stores keep the compiler from changing that order. */
static int ebpf_apply(struct netns_faults *base, struct sim_err *e)
{
	struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	volatile struct lab_link *link = f->links.at;
	volatile struct lab_hole *hole = f->holes.at;
	const struct netns_faults_plan *plan = &base->plan;
	(void)e;
	for (topo_link l = 0; l < base->t->n_links; l++)
		if (link[l].n_holes != 0)
			link[l].n_holes = 0;
	for (size_t i = 0; i < plan->n_holes; i++) {
		const struct blackhole_rule *rule = &plan->hole[i];
		hole[i].below = rule->below;
		hole[i].salt = rule->salt;
		hole[i].type = rule->type;
	}
	for (topo_link l = 0; l < base->t->n_links; l++) {
		link[l].below = threshold(plan->link[l].rate);
		link[l].slow = plan->link[l].slow;
		link[l].first_hole = plan->link[l].first_hole;
		link[l].n_holes = plan->link[l].n_holes;
	}
	return 0;
}

/* One link alone, from one moment to the next: its last held packet has
 * gone. */
static void ebpf_pass(struct netns_faults *base, topo_link l)
{
	const struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	((volatile struct lab_link *)f->links.at)[l].slow = 0;
}

/* --- opening and closing -------------------------------------------------- */

static void close_ebpf(struct netns_faults *base)
{
	struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	/* What can still run ends before the maps that it uses go. */
	bpf_link__destroy(f->syn);
	bpf_link__destroy(f->freed);
	bpf_link__destroy(f->retransmit);
	netns_cgroup_leave(&f->cgroup);
	for (topo_link l = 0; l < f->n_attached; l++)
		if (netns_enter(base->net, netns_faults_end(base, l), NULL) ==
		    0)
			netns_program_detach(netns_ifindex(l), BPF_TC_INGRESS,
			    NETNS_PROGRAM_FAULTS);
	if (f->n_attached > 0)
		netns_leave(base->net, NULL);
	netns_ebpf_read_close(f);
	netns_program_unshare(&f->links);
	netns_program_unshare(&f->holes);
	bpf_object__close(f->object);
}

static const struct netns_faults_ops ebpf_ops = {
    .apply = ebpf_apply,
    .count = netns_ebpf_count,
    .close = close_ebpf,
    .drops = netns_ebpf_drops,
    .drop_of = netns_ebpf_drop_of,
    .audit = netns_ebpf_audit,
    .retx_fd = netns_ebpf_retx_fd,
    .retx_read = netns_ebpf_retx_read,
    .retx_lost = netns_ebpf_retx_lost,
    .attach_tap = attach_tap,
    .pass = ebpf_pass,
};

int netns_faults_ebpf_open(struct netns_faults **out,
    const struct netns_net *net, const struct topo *t,
    const struct netns_faults_params *p, struct sim_err *e)
{
	struct netns_faults_ebpf *f = NULL;
	libbpf_print_fn_t before = netns_program_quiet();
	int rc = SIM_ZALLOC(&f, 1, e);
	if (rc == 0) {
		f->base = (struct netns_faults){.ops = &ebpf_ops,
		    .net = net,
		    .t = t,
		    .p = *p,
		    /* Delays are added by netns_faults_open(), if there is
		     * TUN. */
		    .caps = {.by = NETNS_FAULTS_EBPF,
			.exact_holes = 1,
			.repeatable_loss = 1,
			.drops = 1,
			.retx = 1,
			.audit = 1}};
		if (p->max_drops == 0)
			f->base.p.max_drops = USUAL_MAX_DROPS;
		netns_cgroup_init(&f->cgroup);
		if ((rc = netns_program_permit(e)) == 0 &&
		    (rc = check_types(f, e)) == 0 &&
		    (rc = netns_program_load(&f->object, "lab",
			 netns_ebpf_begin, netns_ebpf_size, ebpf_set_up, f,
			 e)) == 0 &&
		    (rc = share_tables(f, e)) == 0 &&
		    (rc = netns_ebpf_read_open(f, e)) == 0)
			rc = attach(f, e);
		if (rc < 0) {
			close_ebpf(&f->base);
			free(f);
		} else {
			*out = &f->base;
		}
	}
	libbpf_set_print(before);
	return rc;
}
