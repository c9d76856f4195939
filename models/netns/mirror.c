/* models/netns/mirror.c -- switches of namespaces that mirror and decapsulate.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mirror.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <stdlib.h>
#include <string.h>

#include "models/bpf/mirror.h"
#include "models/netns/program.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum { LO = 1, USUAL_RING = 16 << 20, USUAL_TRUNCATE = 128 };

NETNS_PROGRAM_INCLUDE(netns_mirror, NETNS_MIRROR_OBJECT);

struct netns_mirror {
	const struct netns_net *net;
	const struct topo *t;
	struct netns_mirror_params p;
	struct bpf_object *object;
	struct netns_program_shared rows, ends, switches;
	uint32_t n_links, n_los; /* attached to */
	uint8_t at_collector;    /* likewise */
	struct ring_buffer *ring;

	/* Of a read under way. */
	struct obs_mirror *out;
	size_t n_out, cap_out;
	struct sim_err *err;
	int rc;
};

/* --- opening -------------------------------------------------------------- */

static int mirror_set_up(void *arg, struct bpf_object *o, struct sim_err *e)
{
	const struct netns_mirror *m = arg;
	const struct mirror_config want = {.base = NETNS_IFINDEX_BASE,
	    .n_links = m->t->n_links,
	    .collector = m->p.collector,
	    .truncate = m->p.truncate};
	int rc;
	if ((rc = netns_program_constants(o, &want, sizeof(want), e)) < 0 ||
	    (rc = netns_program_size(o, "ends", m->t->n_links, e)) < 0 ||
	    (rc = netns_program_size(o, "switches", m->t->n_switches, e)) < 0)
		return rc;
	return netns_program_size(o, "copies", m->p.ring_bytes, e);
}

/* The switch that receives what link L carries, or TOPO_NONE. */
static topo_switch mirror_switch_at(const struct netns_mirror *m, topo_link l)
{
	topo_node from, to;
	topo_link_ends(m->t, l, &from, &to);
	return to < m->t->n_hosts ? TOPO_NONE : to - m->t->n_hosts;
}

static int mirror_share(struct netns_mirror *m, struct sim_err *e)
{
	const struct topo *t = m->t;
	int rc;
	if ((rc = netns_program_share(m->object, "rows",
		 sizeof(struct mirror_rows), 1, &m->rows, e)) < 0 ||
	    (rc = netns_program_share(m->object, "ends",
		 sizeof(struct mirror_link), t->n_links, &m->ends, e)) < 0 ||
	    (rc = netns_program_share(m->object, "switches",
		 sizeof(struct mirror_switch), t->n_switches, &m->switches,
		 e)) < 0)
		return rc;
	struct mirror_link *end = m->ends.at;
	for (topo_link l = 0; l < t->n_links; l++) {
		const topo_switch s = mirror_switch_at(m, l);
		if (s != TOPO_NONE)
			end[l] =
			    (struct mirror_link){topo_addr_of_switch(s), s};
	}
	return netns_mirror_rules(m, m->p.row, m->p.n_rows, e);
}

/* Links and los are counted one by one, so that after a failure close detaches
 * from these and no others. */
static int mirror_attach_links(struct netns_mirror *m, struct sim_err *e)
{
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < m->t->n_links; l++) {
		const topo_switch s = mirror_switch_at(m, l);
		if (s != TOPO_NONE &&
		    (rc = netns_enter(m->net, m->t->n_hosts + s, e)) == 0)
			rc = netns_program_attach(m->object, "mirror_ingress",
			    netns_ifindex(l), BPF_TC_INGRESS,
			    NETNS_PROGRAM_MIRROR, e);
		m->n_links += rc == 0;
	}
	return rc;
}

/* What a switch encapsulated comes in by its lo with an address of its own as
 * the source, which the kernel takes for forged unless told otherwise. */
static int mirror_attach_los(struct netns_mirror *m, struct sim_err *e)
{
	int rc = 0;
	for (topo_switch s = 0;
	     rc == 0 && m->p.collector != 0 && s < m->t->n_switches; s++) {
		if ((rc = netns_enter(m->net, m->t->n_hosts + s, e)) == 0 &&
		    (rc = netns_node_write("ipv4/conf/lo/accept_local", 1,
			 e)) == 0)
			rc = netns_program_attach(m->object,
			    "mirror_encapsulate", LO, BPF_TC_EGRESS,
			    NETNS_PROGRAM_MIRROR, e);
		m->n_los += rc == 0;
	}
	return rc;
}

static int mirror_attach_collector(struct netns_mirror *m, struct sim_err *e)
{
	const topo_host h = topo_addr_to_host(m->p.collector, m->t->n_hosts);
	if (m->p.collector == 0 || h == TOPO_NONE)
		return 0;
	int rc = netns_enter(m->net, h, e);
	if (rc == 0)
		rc = netns_program_attach(m->object, "mirror_swallow",
		    netns_ifindex(topo_link_of(h, TOPO_DOWN)), BPF_TC_INGRESS,
		    NETNS_PROGRAM_MIRROR, e);
	if (rc == 0)
		m->at_collector = 1;
	return rc;
}

static int mirror_attach(struct netns_mirror *m, struct sim_err *e)
{
	int rc = mirror_attach_los(m, e);
	if (rc == 0)
		rc = mirror_attach_collector(m, e);
	if (rc == 0)
		rc = mirror_attach_links(m, e);
	const int back = netns_leave(m->net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

/* --- reading -------------------------------------------------------------- */

static struct obs_copy copy_from(const struct netns_mirror *m,
    const struct mirror_record *r)
{
	/* What does not stand in the record is told by the kind. */
	const int is_tcp = r->proto == TOPO_PROTO_TCP, is_pfc = r->proto == 0;
	topo_node from, to;
	topo_link_ends(m->t, r->link, &from, &to);
	return (struct obs_copy){
	    .t_ns = r->t_ns > m->p.zero_ns ? r->t_ns - m->p.zero_ns : 0,
	    .digest = r->digest,
	    .node = to - m->t->n_hosts,
	    .in_link = r->link,
	    .src_ip = r->src_ip,
	    .dst_ip = r->dst_ip,
	    .outer_src = r->outer_src,
	    .outer_dst = r->outer_dst,
	    .seq = is_tcp ? (uint32_t)(r->digest >> 32)
		: is_pfc  ? 0
			  : r->seq,
	    .ack = is_tcp ? (uint32_t)r->digest
		: is_pfc  ? r->seq
			  : 0,
	    .n_bytes = r->n_bytes,
	    .mirror_seq = r->mirror_seq,
	    .src_port = r->src_port,
	    .dst_port = r->dst_port,
	    .ip_id = r->ip_id,
	    .proto = r->proto,
	    .ttl = r->ttl,
	    .ttl_in = r->ttl_in,
	    .tos = r->tos,
	    .tos_in = r->tos_in,
	    .flags = r->flags,
	    .layer = r->layer,
	    .kind = r->kind,
	    .bth_opcode = r->bth_opcode,
	    .aeth = r->aeth,
	};
}

/* Takes one record of the ring. It returns an error when there is room for no
 * more, which ends the reading; libbpf counts the record that it was called for
 * as read, so none is lost or seen twice. */
static int mirror_take(void *arg, void *data, size_t size)
{
	struct netns_mirror *m = arg;
	struct mirror_record r;
	/* A record of another length would be of another program. */
	if (size < sizeof(r))
		return 0;
	memcpy(&r, data, sizeof(r));
	if (r.link >= m->t->n_links)
		return 0;
	const struct obs_copy c = copy_from(m, &r);
	if ((m->rc = obs_mirror_add(m->out, &c, m->err)) < 0)
		return -ENOMEM;
	return ++m->n_out < m->cap_out ? 0 : -ENOBUFS;
}

int netns_mirror_fd(const struct netns_mirror *m)
{
	return ring_buffer__epoll_fd(m->ring);
}

int netns_mirror_read(struct netns_mirror *m, struct obs_mirror *copies,
    size_t cap, size_t *n, struct sim_err *e)
{
	m->out = copies;
	m->n_out = 0;
	m->cap_out = cap;
	m->err = e;
	m->rc = 0;
	const int rc = ring_buffer__consume(m->ring);
	*n = m->n_out;
	if (m->rc < 0 || rc >= 0 || rc == -ENOBUFS)
		return m->rc;
	return sim_fail(e, SIM_EIO, "The ring of copies cannot be read: %s.",
	    strerror(-rc));
}

void netns_mirror_count(const struct netns_mirror *m,
    struct netns_mirror_count count[])
{
	const struct mirror_switch *s = m->switches.at;
	for (topo_switch i = 0; i < m->t->n_switches; i++)
		count[i] = (struct netns_mirror_count){s[i].n_copies,
		    s[i].n_full, s[i].n_failed, s[i].n_stripped};
}

/* --- rules ---------------------------------------------------------------- */

static int wants_rare(const struct obs_match_row *row)
{
	uint64_t value[OBS_MATCH_WORDS], mask[OBS_MATCH_WORDS];
	memcpy(value, &row->value, sizeof(value));
	memcpy(mask, &row->mask, sizeof(mask));
	return (value[1] & mask[1] & MIRROR_RARE_PORTS) != 0 ||
	    (value[2] & mask[2] & MIRROR_RARE_REST) != 0;
}

/* Packets flow meanwhile: none meets a row that is half written, since there are
 * no rows while they are. The volatile stores keep the compiler from changing
 * that order. */
int netns_mirror_rules(struct netns_mirror *m, const struct obs_match_row row[],
    size_t n, struct sim_err *e)
{
	volatile struct mirror_rows *rows = m->rows.at;
	uint32_t n_single = 0, n_often = 0;
	if (n == 0)
		return sim_fail(e, SIM_EINVAL, "A mirror needs a rule.");
	if (n > MIRROR_MAX_ROWS)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu rules are more than the %d that a switch has room "
		    "for.",
		    n, MIRROR_MAX_ROWS);
	rows->n = rows->n_single = rows->n_often = 0;
	for (size_t i = 0; i < n; i++) {
		rows->row[i] = row[i];
		if (row[i].inner)
			continue;
		n_single = (uint32_t)i + 1;
		if (!wants_rare(&row[i]))
			rows->often[n_often++] = row[i];
	}
	rows->n_single = n_single;
	rows->n_often = n_often;
	rows->n = (uint32_t)n;
	return 0;
}

/* --- the interface -------------------------------------------------------- */

void netns_mirror_close(struct netns_mirror *m)
{
	if (!m)
		return;
	for (topo_link l = 0; l < m->n_links; l++) {
		const topo_switch s = mirror_switch_at(m, l);
		if (s != TOPO_NONE &&
		    netns_enter(m->net, m->t->n_hosts + s, NULL) == 0)
			netns_program_detach(netns_ifindex(l), BPF_TC_INGRESS,
			    NETNS_PROGRAM_MIRROR);
	}
	for (topo_switch s = 0; s < m->n_los; s++)
		if (netns_enter(m->net, m->t->n_hosts + s, NULL) == 0)
			netns_program_detach(LO, BPF_TC_EGRESS,
			    NETNS_PROGRAM_MIRROR);
	const topo_host h = topo_addr_to_host(m->p.collector, m->t->n_hosts);
	if (m->at_collector && netns_enter(m->net, h, NULL) == 0)
		netns_program_detach(netns_ifindex(topo_link_of(h, TOPO_DOWN)),
		    BPF_TC_INGRESS, NETNS_PROGRAM_MIRROR);
	if (m->n_links + m->n_los + m->at_collector > 0)
		netns_leave(m->net, NULL);
	ring_buffer__free(m->ring);
	netns_program_unshare(&m->rows);
	netns_program_unshare(&m->ends);
	netns_program_unshare(&m->switches);
	bpf_object__close(m->object);
	free(m);
}

static int mirror_open_ring(struct netns_mirror *m, struct sim_err *e)
{
	m->ring = ring_buffer__new(netns_program_map(m->object, "copies"),
	    mirror_take, m, NULL);
	return m->ring
	    ? 0
	    : sim_fail(e, SIM_EIO, "The ring of copies cannot be opened: %s.",
		  strerror(errno));
}

int netns_mirror_open(struct netns_mirror **out, const struct netns_net *net,
    const struct topo *t, const struct netns_mirror_params *p,
    struct sim_err *e)
{
	struct netns_mirror *m = NULL;
	*out = NULL;
	int rc = SIM_ZALLOC(&m, 1, e);
	if (rc < 0)
		return rc;
	libbpf_print_fn_t before = netns_program_quiet();
	m->net = net;
	m->t = t;
	m->p = *p;
	if (p->ring_bytes == 0)
		m->p.ring_bytes = USUAL_RING;
	if (p->truncate == 0)
		m->p.truncate = USUAL_TRUNCATE;
	if ((rc = netns_program_permit(e)) == 0 &&
	    (rc = netns_program_load(&m->object, "mirror", netns_mirror_begin,
		 netns_mirror_size, mirror_set_up, m, e)) == 0 &&
	    (rc = mirror_share(m, e)) == 0 &&
	    (rc = mirror_open_ring(m, e)) == 0)
		rc = mirror_attach(m, e);
	if (rc < 0)
		netns_mirror_close(m);
	else
		*out = m;
	libbpf_set_print(before);
	return rc;
}

/* --- trying --------------------------------------------------------------- */

/* BPF_PROG_TEST_RUN takes the interface from the namespace of the caller. */
int netns_mirror_try(struct netns_mirror *m, topo_link l, const void *frame,
    uint32_t n, uint32_t repeat, double *ns, struct sim_err *e)
{
	struct __sk_buff skb = {.ifindex = netns_ifindex(l)};
	struct bpf_test_run_opts options = {.sz = sizeof(options),
	    .data_in = frame,
	    .data_size_in = n,
	    .ctx_in = &skb,
	    .ctx_size_in = sizeof(skb),
	    .repeat = (int)repeat};
	topo_node from, to;
	topo_link_ends(m->t, l, &from, &to);
	int rc = netns_enter(m->net, to, e);
	if (rc < 0)
		return rc;
	rc = bpf_prog_test_run_opts(netns_program_fd(m->object,
					"mirror_ingress"),
	    &options);
	/* netns_leave() may set another. */
	const int why = errno;
	if (netns_leave(m->net, e) < 0)
		return SIM_EIO;
	if (rc < 0)
		return sim_fail(e, SIM_EIO, "The program cannot be tried: %s.",
		    strerror(why));
	*ns = options.duration;
	return options.retval == TC_ACT_SHOT;
}
