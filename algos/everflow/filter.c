/* algos/everflow/filter.c -- which traces: the machine that tells.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The compiler is in filter_parse.c.
 */
#include "algos/everflow/filter.h"

#include <stdio.h>
#include <string.h>

#include "topo/addr.h"

const struct algo_filter_field_info algo_filter_fields[] = {
#define X(field, word, type, scope, most, text)                                \
	{word, text, ALGO_FILTER_##type, ALGO_OF_##scope, most},
    ALGO_FILTER_FIELDS(X)
#undef X
	{0}};

const struct algo_filter_flag algo_filter_flags[] = {{"drop", ALGO_TRACE_DROPS},
#define X(mark, word, text) {word, ALGO_TRACE_##mark},
    ALGO_TRACE_MARKS(X)
#undef X
	{0}};

/* --- fields --------------------------------------------------------------- */

enum { ETH_HEADER = 14 };

/* Each puts a field's value into *X, and returns 0 if the packet has none. */
static inline int filter_packet(unsigned field, const struct algo_trace *t,
    uint64_t *x)
{
	const int is_tcp = t->proto == TOPO_PROTO_TCP;
	const int is_udp = t->proto == OBS_PROTO_UDP;
	const int is_roce = is_udp && t->dst_port == OBS_PORT_ROCE;
	switch (field) {
	case ALGO_FIELD_ETH_TYPE:
		*x = t->proto == 0 ? OBS_ETH_CONTROL : OBS_ETH_IPV4;
		return 1;
	case ALGO_FIELD_IP_SRC:
		*x = t->src_ip;
		return t->proto != 0;
	case ALGO_FIELD_IP_DST:
		*x = t->dst_ip;
		return t->proto != 0;
	case ALGO_FIELD_IP_PROTO:
		*x = t->proto;
		return t->proto != 0;
	case ALGO_FIELD_IP_ID:
		*x = t->ip_id;
		return t->proto != 0;
	case ALGO_FIELD_IP_LEN:
		*x = t->n_bytes > ETH_HEADER ? t->n_bytes - ETH_HEADER : 0;
		return t->proto != 0;
	case ALGO_FIELD_TCP_SRC:
		*x = t->src_port;
		return is_tcp;
	case ALGO_FIELD_TCP_DST:
		*x = t->dst_port;
		return is_tcp;
	case ALGO_FIELD_TCP_FLAGS:
		*x = t->flags;
		return is_tcp;
	case ALGO_FIELD_TCP_SEQ:
		*x = t->seq;
		return is_tcp;
	case ALGO_FIELD_UDP_SRC:
		*x = t->src_port;
		return is_udp;
	case ALGO_FIELD_UDP_DST:
		*x = t->dst_port;
		return is_udp;
	case ALGO_FIELD_BTH_OPCODE:
		*x = t->bth_opcode;
		return is_roce;
	default: /* BTH_NAK */
		*x = (uint64_t)obs_roce_is_nak(t->bth_opcode, t->aeth);
		return is_roce;
	}
}

static inline int filter_copy(unsigned field, const struct algo_hop *h,
    uint64_t *x)
{
	switch (field) {
	case ALGO_FIELD_IP_TTL:
		*x = h->ttl;
		return 1;
	case ALGO_FIELD_IP_DSCP:
		*x = h->tos >> 2;
		return 1;
	case ALGO_FIELD_IP_ECN:
		*x = h->tos & OBS_TOS_ECN;
		return 1;
	case ALGO_FIELD_OUTER_SRC:
		*x = h->outer_src;
		return h->layer > 0;
	case ALGO_FIELD_LINK:
		*x = h->in_link;
		return h->in_link != TOPO_NONE;
	case ALGO_FIELD_LAYER:
		*x = h->layer;
		return 1;
	default: /* SWITCH, VIA */
		*x = h->node;
		return 1;
	}
}

/* Times of two switches say nothing of the packet's own delay, since their
 * mirrors take ways of their own to the analyzer; those of one
 * switch do. */
static int filter_latency(const struct algo_trace *t,
    const struct algo_hop hop[], uint64_t *x)
{
	int is_known = 0;
	*x = 0;
	for (unsigned i = 0; i < t->n_hops; i++)
		for (unsigned k = i + 1; k < t->n_hops; k++) {
			const uint64_t a = hop[i].t_ns, b = hop[k].t_ns;
			const uint64_t gap = a < b ? b - a : a - b;
			if (hop[i].node != hop[k].node)
				continue;
			is_known = 1;
			*x = gap > *x ? gap : *x;
		}
	return is_known;
}

static int filter_whole(unsigned field, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now, uint64_t *x)
{
	switch (field) {
	case ALGO_FIELD_LEN:
		*x = t->n_hops;
		return 1;
	case ALGO_FIELD_FIRST:
		if (t->n_hops == 0)
			return 0;
		*x = hop[0].node;
		return 1;
	case ALGO_FIELD_LAST:
		*x = t->last_node;
		return t->last_node != TOPO_NONE;
	case ALGO_FIELD_LATENCY:
		return filter_latency(t, hop, x);
	case ALGO_FIELD_MIRRORS_LOST:
		*x = t->n_lost;
		return 1;
	default: /* AGE */
		*x = now > t->t_ns ? now - t->t_ns : 0;
		return 1;
	}
}

/* --- steps ---------------------------------------------------------------- */

static inline int filter_holds(const struct algo_filter *f,
    const struct algo_filter_step *s, uint64_t x)
{
	x &= s->mask;
	switch (s->op) {
	case ALGO_FILTER_EQ:
		return x == s->value;
	case ALGO_FILTER_NE:
		return x != s->value;
	case ALGO_FILTER_LT:
		return x < s->value;
	case ALGO_FILTER_LE:
		return x <= s->value;
	case ALGO_FILTER_GT:
		return x > s->value;
	case ALGO_FILTER_GE:
		return x >= s->value;
	case ALGO_FILTER_ANY:
		return x != 0;
	case ALGO_FILTER_TIER:
		return x < f->topo->n_switches &&
		    topo_tier_of(f->topo, (topo_switch)x) == s->value;
	default: /* NOT_TIER */
		return x < f->topo->n_switches &&
		    topo_tier_of(f->topo, (topo_switch)x) != s->value;
	}
}

static int filter_copies(const struct algo_filter *f,
    const struct algo_filter_step *s, const struct algo_hop hop[], unsigned n)
{
	uint64_t x = 0;
	/* With "all:" the first that does not fit decides, else the first that
	 * does. */
	for (unsigned i = 0; i < n; i++)
		if ((filter_copy(s->field, &hop[i], &x) &&
			filter_holds(f, s, x)) != s->all)
			return !s->all;
	return s->all;
}

/* The hosts at both ends are what the addresses say. Whoever begins his pattern
 * with a switch leaves them out, so at each end both are tried at once. */
static int filter_path(const struct algo_filter *f,
    const struct algo_filter_step *s, const struct algo_trace *t,
    const struct algo_hop hop[])
{
	const struct algo_paths *p = &f->paths;
	const uint32_t n_hosts = f->topo ? f->topo->n_hosts : 0;
	const topo_host src = topo_addr_to_host(t->src_ip, n_hosts);
	const topo_host dst = topo_addr_to_host(t->dst_ip, n_hosts);
	uint64_t states = UINT64_C(1) << s->value;
	if (src != TOPO_NONE)
		states |= algo_path_to_host(p, states, src);
	for (unsigned i = 0; i < t->n_hops && states; i++)
		if (!f->topo || hop[i].node < f->topo->n_switches)
			states = algo_path_to_switch(p, f->topo, states,
			    hop[i].node);
		else
			return 0;
	if (states & s->mask)
		return 1;
	return dst != TOPO_NONE &&
	    (algo_path_to_host(p, states, dst) & s->mask) != 0;
}

/* One property of traces is some copy's. */
int algo_filter_is_of_copies(const struct algo_filter_step *s)
{
	return s->op < ALGO_FILTER_MARKS &&
	    (algo_filter_fields[s->field].scope == ALGO_OF_COPY ||
		s->field == ALGO_FIELD_VIA);
}

static inline int filter_step(const struct algo_filter *f,
    const struct algo_filter_step *s, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now)
{
	uint64_t x = 0;
	if (s->op == ALGO_FILTER_MARKS)
		return (t->marks & s->mask) != 0;
	if (s->op == ALGO_FILTER_PATH)
		return filter_path(f, s, t, hop);
	if (algo_filter_is_of_copies(s))
		return filter_copies(f, s, hop, t->n_hops);
	const int is_known = algo_filter_fields[s->field].scope == ALGO_OF_TRACE
	    ? filter_whole(s->field, t, hop, now, &x)
	    : filter_packet(s->field, t, &x);
	return is_known && filter_holds(f, s, x);
}

int algo_filter_test(const struct algo_filter *f, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now)
{
	unsigned at = f->n > 0 ? 0 : ALGO_FILTER_YES;
	/* Steps lead to later ones alone, so this ends. */
	while (at < ALGO_FILTER_STEPS) {
		const struct algo_filter_step *s = &f->step[at];
		at = filter_step(f, s, t, hop, now) ? s->yes : s->no;
	}
	return at == ALGO_FILTER_YES;
}

int algo_filter_test_copy(const struct algo_filter *f, const struct obs_copy *c)
{
	const struct algo_trace t = {
	    .src_ip = c->src_ip,
	    .dst_ip = c->dst_ip,
	    .seq = c->seq,
	    .src_port = c->src_port,
	    .dst_port = c->dst_port,
	    .ip_id = c->ip_id,
	    .proto = c->proto,
	    .flags = c->flags,
	    .bth_opcode = c->bth_opcode,
	    .aeth = c->aeth,
	};
	return algo_filter_test(f, &t, NULL, 0);
}

/* --- listing -------------------------------------------------------------- */

static void filter_put_target(struct sim_text *out, unsigned to)
{
	if (to == ALGO_FILTER_YES)
		sim_put(out, "yes");
	else if (to == ALGO_FILTER_NO)
		sim_put(out, "no");
	else
		sim_put(out, "%u", to);
}

void algo_filter_put(const struct algo_filter *f, const char *text,
    struct sim_text *out)
{
	static const char *const ops[] = {"eq", "ne", "lt", "le", "gt", "ge",
	    "any", "tier", "not tier", "marks", "path"};
	for (unsigned i = 0; i < f->n; i++) {
		const struct algo_filter_step *s = &f->step[i];
		sim_put(out, "%2u  %-8s %016llx %016llx  %-7s yes ", i,
		    ops[s->op], (unsigned long long)s->mask,
		    (unsigned long long)s->value,
		    !algo_filter_is_of_copies(s) ? "once"
			: s->all                 ? "all of"
						 : "any of");
		filter_put_target(out, s->yes);
		sim_put(out, ", no ");
		filter_put_target(out, s->no);
		sim_put(out, "  ; %.*s\n", (int)s->n, text + s->from);
	}
}
