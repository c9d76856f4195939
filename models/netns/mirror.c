/* models/netns/mirror.c -- switches of namespaces that mirror and decapsulate.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mirror.h"

#include <bpf/bpf.h>
#include <linux/pkt_cls.h>
#include <stdlib.h>
#include <string.h>

#include "models/bpf/mirror.h"
#include "models/netns/mirror_ring.h"
#include "models/netns/program.h"
#include "sim/embed.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum { LO = 1, USUAL_RING = 16 << 20, USUAL_TRUNCATE = 128 };

SIM_EMBED(netns_mirror, NETNS_MIRROR_OBJECT);

struct netns_mirror {
	const struct netns_net *net;
	const struct topo *t;
	struct netns_mirror_params p;
	struct bpf_object *object;
	struct netns_program_shared rows, ends, switches;
	uint32_t n_links, n_los; /* attached to */
	uint8_t at_collector;    /* likewise */
	uint32_t n_records;      /* of copies, a processor */
	struct netns_mirror_ring ring;
};

/* --- opening -------------------------------------------------------------- */

static int mirror_set_up(void *arg, struct bpf_object *o, struct sim_err *e)
{
	struct netns_mirror *m = arg;
	int rc = netns_mirror_ring_size(o, m->p.ring_bytes, &m->n_records, e);
	if (rc < 0)
		return rc;
	const struct mirror_config want = {.base = NETNS_IFINDEX_BASE,
	    .n_links = m->t->n_links,
	    .collector = m->p.collector,
	    .truncate = m->p.truncate,
	    .n_records = m->n_records,
	    .by_tick = m->p.by_tick};
	if ((rc = netns_program_constants(o, &want, sizeof(want), e)) < 0 ||
	    (rc = netns_program_size(o, "ends", m->t->n_links, e)) < 0)
		return rc;
	return netns_program_size(o, "switches", m->t->n_switches, e);
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
		: is_pfc  ? r->seq & 0xffff
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
	    .flags = is_pfc ? (uint8_t)(r->seq >> 16) : r->flags,
	    .layer = r->layer,
	    .kind = r->kind,
	    .bth_opcode = r->bth_opcode,
	    .aeth = r->aeth,
	};
}

int netns_mirror_fd(const struct netns_mirror *m)
{
	return netns_mirror_ring_fd(&m->ring);
}

int netns_mirror_read(struct netns_mirror *m, struct obs_mirror *copies,
    size_t cap, size_t *n, struct sim_err *e)
{
	const struct mirror_record *r = NULL;
	uint32_t cpu = 0;
	int rc = 0;
	netns_mirror_ring_begin(&m->ring);
	for (*n = 0; *n < cap; ++*n) {
		if (!(r = netns_mirror_ring_next(&m->ring, &cpu)))
			break;
		const struct obs_copy c = copy_from(m, r);
		if ((rc = obs_mirror_add(copies, &c, e)) < 0)
			break;
		netns_mirror_ring_drop(&m->ring, cpu);
	}
	const int end = netns_mirror_ring_end(&m->ring, !r, rc < 0 ? NULL : e);
	return rc < 0 ? rc : end;
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

/* Where bytes of fields are in a plain packet, from the IP header on; in the
 * order of the wire. */
static const struct mirror_field {
	uint8_t field, n_bytes; /* of struct obs_match_key */
	uint8_t at;
} mirror_fields[] = {
#define AT(name, at)                                                           \
	{                                                                      \
		offsetof(struct obs_match_key, name),                          \
		    sizeof(((struct obs_match_key *)NULL)->name), at           \
	}
    AT(tos, 1),
    AT(ip_id, 4),
    AT(ttl, 8),
    AT(proto, 9),
    AT(src_ip, 12),
    AT(dst_ip, 16),
    AT(src_port, 20),
    AT(dst_port, 22),
    AT(tcp_flags, 33),
#undef AT
};

static uint64_t mirror_word_of(const struct obs_match_key *k, int word)
{
	const int at = MIRROR_WORD_AT(word);
	uint8_t wire[8] = {0};
	uint64_t out;
	for (size_t i = 0; i < sizeof(mirror_fields) / sizeof(mirror_fields[0]);
	     i++) {
		const struct mirror_field *f = &mirror_fields[i];
		const uint8_t *from = (const uint8_t *)k + f->field;
		for (int b = 0; f->at / 8 == at / 8 && b < f->n_bytes; b++)
			wire[f->at - at + b] =
			    from[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
				    ? f->n_bytes - 1 - b
				    : b];
	}
	memcpy(&out, wire, sizeof(out));
	return out;
}

/* The word that tells most, or -1: the row wants what plain packets without rare
 * bits have not. */
static int mirror_word_for(const struct obs_match_row *row)
{
	const struct obs_match_key *v = &row->value, *m = &row->mask;
	int word = 0, most = -1;
	if (row->inner || ((v->ethertype ^ OBS_ETH_IPV4) & m->ethertype) ||
	    (v->bth_opcode & m->bth_opcode) || (v->aeth & m->aeth) ||
	    (v->is_mirror & m->is_mirror) || (v->is_outer & m->is_outer) ||
	    (v->ttl & m->ttl & MIRROR_RARE_TTL) ||
	    (v->tos & m->tos & MIRROR_RARE_TOS) ||
	    (v->tcp_flags & m->tcp_flags & MIRROR_RARE_FLAGS))
		return -1;
	for (int w = 0; w < MIRROR_WORDS; w++) {
		const int n = __builtin_popcountll(mirror_word_of(m, w));
		if (n > most) {
			most = n;
			word = w;
		}
	}
	return word;
}

static void mirror_plain(volatile struct mirror_rows *rows,
    const struct obs_match_row row[], size_t n)
{
	for (int w = 0; w < MIRROR_WORDS; w++)
		rows->n_plain[w] = 0;
	for (size_t i = 0; i < n; i++) {
		const int w = mirror_word_for(&row[i]);
		if (w >= 0)
			rows->plain[w][rows->n_plain[w]++] =
			    (struct mirror_word){mirror_word_of(&row[i].value,
						     w),
				mirror_word_of(&row[i].mask, w)};
	}
}

/* Packets flow meanwhile: none meets a row that is half written, since there are
 * no rows while they are. The volatile stores keep the compiler from changing
 * that order. */
int netns_mirror_rules(struct netns_mirror *m, const struct obs_match_row row[],
    size_t n, struct sim_err *e)
{
	volatile struct mirror_rows *rows = m->rows.at;
	uint32_t n_single = 0;
	if (n == 0)
		return sim_fail(e, SIM_EINVAL, "A mirror needs a rule.");
	if (n > MIRROR_MAX_ROWS)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu rules are more than the %d that a switch has room "
		    "for.",
		    n, MIRROR_MAX_ROWS);
	rows->n = rows->n_single = 0;
	for (size_t i = 0; i < n; i++) {
		rows->row[i] = row[i];
		if (!row[i].inner)
			n_single = (uint32_t)i + 1;
	}
	mirror_plain(rows, row, n);
	rows->n_single = n_single;
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
	netns_mirror_ring_close(&m->ring);
	netns_program_unshare(&m->rows);
	netns_program_unshare(&m->ends);
	netns_program_unshare(&m->switches);
	bpf_object__close(m->object);
	free(m);
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
	    (rc = netns_mirror_ring_open(&m->ring, m->object, m->n_records,
		 e)) == 0)
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
static int mirror_run(struct netns_mirror *m, topo_link l,
    const struct netns_frame *frame, struct netns_program_result *r,
    struct sim_err *e)
{
	const struct __sk_buff skb = {.ifindex = netns_ifindex(l)};
	topo_node from, to;
	topo_link_ends(m->t, l, &from, &to);
	int rc = netns_enter(m->net, to, e);
	if (rc < 0)
		return rc;
	rc = netns_program_try(netns_program_fd(m->object, "mirror_ingress"),
	    &skb, frame, r, e);
	const int back = netns_leave(m->net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

int netns_mirror_try(struct netns_mirror *m, topo_link l,
    const struct netns_frame *frame, struct sim_err *e)
{
	struct netns_program_result r = {0};
	const int rc = mirror_run(m, l, frame, &r, e);
	return rc < 0 ? rc : r.verdict == TC_ACT_SHOT;
}

int netns_mirror_cost(struct netns_mirror *m, topo_link l,
    const struct netns_frame *frame, struct netns_cost *cost, struct sim_err *e)
{
	struct netns_program_result r = {0};
	const int rc = mirror_run(m, l, frame, &r, e);
	cost->ns = r.ns;
	return rc < 0 ? rc : netns_program_try_empty(frame, &cost->empty_ns, e);
}
