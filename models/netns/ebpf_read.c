/* models/netns/ebpf_read.c -- faults by eBPF: what the kernel has counted.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counters are per CPU in the kernel, so that a packet costs no atomic
 * operation, and are added up here. They are read while packets flow: a sum may
 * be a packet older in one link than in another.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/netns/ebpf.h"
#include "sim/sort.h"
#include "sim/vec.h"

enum { AT_ONCE = 256 }; /* links a call */

static int ebpf_read_map_fd(const struct netns_faults_ebpf *f, const char *name)
{
	return bpf_object__find_map_fd_by_name(f->object, name);
}

static int unread(const char *what, int why, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO,
	    "The kernel's table of %s cannot be read: "
	    "%s.",
	    what, strerror(why));
}

/* --- counters ------------------------------------------------------------- */

static void ebpf_read_add_up(const struct lab_count per_cpu[], int n_cpus,
    struct netns_link_count *c)
{
	*c = (struct netns_link_count){0};
	for (int i = 0; i < n_cpus; i++) {
		c->packets += per_cpu[i].packets;
		c->bytes += per_cpu[i].bytes;
		c->n_random += per_cpu[i].n_random;
		c->n_hole += per_cpu[i].n_hole;
		c->n_probes += per_cpu[i].n_probes;
		c->n_untold += per_cpu[i].n_untold;
	}
}

/* Counters are read many at a call, since one by one a call costs more than
 * what it reads. */
static int ebpf_read_count_chunks(const struct netns_faults_ebpf *f, int n_cpus,
    struct lab_count value[], struct netns_link_count count[],
    struct sim_err *e)
{
	const uint32_t n_links = f->base.t->n_links;
	uint32_t key[AT_ONCE], token = 0, next = 0;
	for (uint32_t first = 0; first < n_links;) {
		__u32 n = AT_ONCE;
		int rc = bpf_map_lookup_batch(ebpf_read_map_fd(f, "counts"),
		    first > 0 ? &token : NULL, &next, key, value, &n, NULL);
		/* The kernel tells the end of the table as "no such entry",
		 * along with the entries before it. */
		if ((rc < 0 && errno != ENOENT) || n == 0)
			return unread("counters", errno, e);
		for (uint32_t i = 0; i < n; i++)
			ebpf_read_add_up(&value[i * (uint32_t)n_cpus], n_cpus,
			    &count[key[i]]);
		first += n;
		/* Where the next call goes on; the first one is told so by
		 * NULL. */
		token = next;
	}
	return 0;
}

int netns_ebpf_count(struct netns_faults *base, struct netns_link_count count[],
    struct sim_err *e)
{
	const struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	const int n_cpus = libbpf_num_possible_cpus();
	struct lab_count *value = NULL;
	if (n_cpus < 0)
		return unread("CPUs", -n_cpus, e);
	int rc = SIM_ZALLOC(&value, AT_ONCE * (size_t)n_cpus, e);
	if (rc == 0)
		rc = ebpf_read_count_chunks(f, n_cpus, value, count, e);
	free(value);
	return rc;
}

/* --- drops of flows ------------------------------------------------------- */

/* Addresses and ports are in host byte order on both sides. */
static struct netns_drop drop_from(const struct lab_key *f,
    const struct lab_drops *d)
{
	return (struct netns_drop){
	    .tuple = {f->src_ip, f->dst_ip, f->src_port, f->dst_port,
		(uint8_t)f->proto},
	    .link = f->link,
	    .n_random = d->n_random,
	    .n_hole = d->n_hole,
	};
}

static int ebpf_read_order(uint64_t a, uint64_t b)
{
	return SIM_ORDER(a, b);
}

/* The kernel's hash table has no order of its own; sorted, the list of two
 * equal runs is the same. */
static int ebpf_read_by_tuple(const void *a, const void *b)
{
	const struct netns_drop *x = a, *y = b;
	const struct topo_tuple *s = &x->tuple, *t = &y->tuple;
	int o = ebpf_read_order((uint64_t)s->src_ip << 32 | s->dst_ip,
	    (uint64_t)t->src_ip << 32 | t->dst_ip);
	if (o == 0)
		o = ebpf_read_order((uint64_t)s->proto << 32 |
			(uint64_t)s->src_port << 16 | s->dst_port,
		    (uint64_t)t->proto << 32 | (uint64_t)t->src_port << 16 |
			t->dst_port);
	return o != 0 ? o : ebpf_read_order(x->link, y->link);
}

/* All entries are read in one call. In parts a bucket of the kernel's table
 * that holds more than there is room left for would fail. The end is told as
 * "no such entry". */
static int list_drops(const struct netns_faults_ebpf *f, struct lab_key key[],
    struct lab_drops value[], struct netns_drop **list, size_t *cap, size_t *n,
    struct sim_err *e)
{
	__u32 token, n_read = f->base.p.max_drops;
	int rc = bpf_map_lookup_batch(ebpf_read_map_fd(f, "drops"), NULL,
	    &token, key, value, &n_read, NULL);
	if (rc < 0 && errno != ENOENT)
		return unread("drops", errno, e);
	if ((rc = SIM_RESERVE(list, cap, n_read, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n_read; i++)
		(*list)[i] = drop_from(&key[i], &value[i]);
	*n = n_read;
	if (n_read > 1)
		qsort(*list, n_read, sizeof(**list), ebpf_read_by_tuple);
	return 0;
}

int netns_ebpf_drops(struct netns_faults *base, struct netns_drop **list,
    size_t *cap, size_t *n, struct sim_err *e)
{
	const struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	struct lab_key *key = NULL;
	struct lab_drops *value = NULL;
	int rc;
	if ((rc = SIM_ZALLOC(&key, base->p.max_drops, e)) == 0 &&
	    (rc = SIM_ZALLOC(&value, base->p.max_drops, e)) == 0)
		rc = list_drops(f, key, value, list, cap, n, e);
	free(key);
	free(value);
	return rc;
}

int netns_ebpf_drop_of(struct netns_faults *base, struct netns_drop *d,
    struct sim_err *e)
{
	const struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	const struct lab_key key = {d->tuple.src_ip, d->tuple.dst_ip,
	    d->tuple.src_port, d->tuple.dst_port, d->tuple.proto, d->link};
	struct lab_drops value = {0};
	if (bpf_map_lookup_elem(ebpf_read_map_fd(f, "drops"), &key, &value) <
		0 &&
	    errno != ENOENT)
		return unread("drops", errno, e);
	d->n_random = value.n_random;
	d->n_hole = value.n_hole;
	return 0;
}

/* --- audit ---------------------------------------------------------------- */

/* Reasons for which the kernel drops packets though no link has lost any, by
 * the names of enum skb_drop_reason. Whatever is not in here is a loss that no
 * truth tells of. */
static const struct {
	const char *reason, *why;
} expected[] = {
    {"TC_INGRESS", "what faults drop"},
    {"TCP_CSUM", "probes that came to their host"},
    {"IP_INHDR", "probes whose TTL ended"},
    {"NO_SOCKET", "segments to a connection that is closed"},
    {"TCP_FLAGS", "segments to a connection that is closed, at its listener"},
    {"TCP_CLOSE", "segments to a connection that is closed"},
    {"SOCKET_CLOSE", "what a closed socket had not read"},
    {"TCP_RESET", "resets, by which connections end"},
    {"TCP_OLD_DATA", "segments that came twice"},
    {"TCP_OLD_SEQUENCE", "segments that came twice"},
    {"TCP_OFOMERGE", "segments that came twice"},
    {"TCP_INVALID_SEQUENCE", "segments that came twice"},
    {"TCP_INVALID_SYN", "SYN-ACKs that came twice"},
    {"TCP_RFC7323_PAWS", "segments that came twice"},
    {"TCP_RFC7323_PAWS_ACK", "acknowledgements overtaken by others"},
    {"TCP_OLD_ACK", "acknowledgements overtaken by others"},
    {"TCP_TOO_OLD_ACK", "acknowledgements overtaken by others"},
    {"AT_SOCKET", "what TCP has no use for, as a SYN that came twice"},
    {"QUEUE_PURGE", "what a closed socket had not read"},
};

/* Numbers of reasons change from kernel to kernel, names do not; so the names
 * are taken from the running kernel's types. */
void netns_ebpf_read_reasons(struct netns_faults_ebpf *f,
    const struct btf *kernel)
{
	static const char prefix[] = "SKB_DROP_REASON_";
	int id =
	    btf__find_by_name_kind(kernel, "skb_drop_reason", BTF_KIND_ENUM);
	const struct btf_type *t =
	    id > 0 ? btf__type_by_id(kernel, (__u32)id) : NULL;
	const struct btf_enum *x = t ? btf_enum(t) : NULL;
	for (unsigned i = 0; i < LAB_N_REASONS; i++)
		snprintf(f->reason[i], sizeof(f->reason[i]), "reason %u", i);
	for (unsigned i = 0; t && i < btf_vlen(t); i++, x++) {
		const char *name = btf__name_by_offset(kernel, x->name_off);
		/* Numbers that the table has no place for are counted together,
		 * as LAB_ABOVE. */
		if (x->val < 0 || x->val >= LAB_AT_SOCKET || !name)
			continue;
		if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
			name += sizeof(prefix) - 1;
		snprintf(f->reason[x->val], sizeof(f->reason[0]), "%s", name);
	}
	/* Two that are no reasons of the kernel but this program's. */
	strcpy(f->reason[LAB_AT_SOCKET], "AT_SOCKET");
	strcpy(f->reason[LAB_ABOVE], "UNKNOWN");
}

static const char *why_expected(const char *reason)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (strcmp(reason, expected[i].reason) == 0)
			return expected[i].why;
	return NULL;
}

int netns_ebpf_missed(const struct netns_faults_ebpf *f, const char *name,
    uint64_t *n, struct sim_err *e)
{
	const struct bpf_program *p =
	    bpf_object__find_program_by_name(f->object, name);
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	if (bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size) < 0)
		return unread(name, errno, e);
	*n = info.recursion_misses;
	return 0;
}

int netns_ebpf_audit(struct netns_faults *base, struct netns_audit out[],
    size_t *n, struct sim_err *e)
{
	const struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	uint64_t n_missed;
	const int rc = netns_ebpf_missed(f, "lab_freed", &n_missed, e);
	if (rc < 0)
		return rc;
	if (n_missed > 0)
		out[(*n)++] = (struct netns_audit){"MISSED",
		    "drops while the kernel told of others", n_missed, 0};
	for (uint32_t i = 0; i < LAB_N_REASONS; i++) {
		struct lab_reason r;
		if (bpf_map_lookup_elem(ebpf_read_map_fd(f, "reasons"), &i,
			&r) < 0)
			return unread("reasons", errno, e);
		if (r.n == 0)
			continue;
		out[(*n)++] = (struct netns_audit){f->reason[i],
		    why_expected(f->reason[i]), r.n, r.at};
	}
	return 0;
}

/* --- retransmissions ------------------------------------------------------ */

/* Takes one event of the ring. It returns an error when there is room for no
 * more, which ends the reading; libbpf counts the event that it was called for
 * as read, so none is lost or seen twice. */
static int ebpf_read_take(void *arg, void *data, size_t size)
{
	struct netns_faults_ebpf *f = arg;
	struct lab_retx r;
	/* An event of another length would be of another program. */
	if (size < sizeof(r))
		return 0;
	memcpy(&r, data, sizeof(r));
	f->out[f->n_out++] = (struct netns_retx){
	    .host = r.node,
	    .tuple = {r.src_ip, r.dst_ip, r.src_port, r.dst_port,
		TOPO_PROTO_TCP},
	    .established = (uint8_t)r.established,
	    .at_ns = r.at_ns,
	};
	return f->n_out < f->cap_out ? 0 : -ENOBUFS;
}

int netns_ebpf_read_open(struct netns_faults_ebpf *f, struct sim_err *e)
{
	f->events = ring_buffer__new(ebpf_read_map_fd(f, "retx"),
	    ebpf_read_take, f, NULL);
	return f->events ? 0 : unread("retransmissions", errno, e);
}

void netns_ebpf_read_close(struct netns_faults_ebpf *f)
{
	ring_buffer__free(f->events);
}

int netns_ebpf_retx_fd(const struct netns_faults *base)
{
	return ring_buffer__epoll_fd(
	    ((const struct netns_faults_ebpf *)base)->events);
}

int netns_ebpf_retx_read(struct netns_faults *base, struct netns_retx out[],
    size_t cap, size_t *n, struct sim_err *e)
{
	struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	f->out = out;
	f->cap_out = cap;
	f->n_out = 0;
	/* It reads without waiting, and calls ebpf_read_take() for each
	 * event. */
	int rc = ring_buffer__consume(f->events);
	*n = f->n_out;
	return rc < 0 && rc != -ENOBUFS ? unread("retransmissions", -rc, e) : 0;
}

int netns_ebpf_retx_lost(struct netns_faults *base, uint64_t *n,
    struct sim_err *e)
{
	const struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	const uint32_t zero = 0;
	struct lab_totals t;
	if (bpf_map_lookup_elem(ebpf_read_map_fd(f, "totals"), &zero, &t) < 0)
		return unread("totals", errno, e);
	*n = t.n_lost_events;
	return 0;
}

/* --- trying --------------------------------------------------------------- */

/* BPF_PROG_TEST_RUN takes the interface from the namespace of the caller. */
int netns_ebpf_try(struct netns_faults *base, topo_link l, const void *frame,
    uint32_t n, struct sim_err *e)
{
	const struct netns_faults_ebpf *f = (struct netns_faults_ebpf *)base;
	const struct bpf_program *ingress =
	    bpf_object__find_program_by_name(f->object, "lab_ingress");
	struct __sk_buff skb = {.ifindex = netns_ifindex(l)};
	struct bpf_test_run_opts options = {.sz = sizeof(options),
	    .data_in = frame,
	    .data_size_in = n,
	    .ctx_in = &skb,
	    .ctx_size_in = sizeof(skb)};
	int rc = netns_enter(base->net, netns_faults_end(base, l), e);
	if (rc < 0)
		return rc;
	rc = bpf_prog_test_run_opts(bpf_program__fd(ingress), &options);
	/* netns_leave() may set another. */
	int why = errno;
	if (netns_leave(base->net, e) < 0)
		return SIM_EIO;
	if (rc < 0)
		return sim_fail(e, SIM_EIO, "The program cannot be tried: %s.",
		    strerror(why));
	return options.retval == TC_ACT_SHOT;
}
