/* experiments/everflow/tell.c -- traces in words, for people and programs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/tell.h"

#include <inttypes.h>

#include "algos/everflow/filter.h"
#include "results/json.h"
#include "topo/addr.h"

/* --- names ---------------------------------------------------------------- */

const char *xp_tell_switch(const struct topo *t, uint32_t s,
    char buf[XP_TELL_NAME])
{
	if (s == TOPO_NONE)
		snprintf(buf, XP_TELL_NAME, "-");
	else if (t)
		topo_node_name(t, t->n_hosts + s, buf);
	else
		snprintf(buf, XP_TELL_NAME, "switch %u", s);
	return buf;
}

const char *xp_tell_link(const struct topo *t, uint32_t l,
    char buf[XP_TELL_NAME])
{
	if (l == TOPO_NONE)
		snprintf(buf, XP_TELL_NAME, "-");
	else if (t)
		topo_link_name(t, l, buf);
	else
		snprintf(buf, XP_TELL_NAME, "link %u", l);
	return buf;
}

/* A host has no other name where there is no network to know it by. */
const char *xp_tell_address(const struct topo *t, uint32_t ip,
    char buf[XP_TELL_NAME])
{
	const topo_host h = t ? topo_addr_to_host(ip, t->n_hosts) : TOPO_NONE;
	const topo_switch s =
	    t ? topo_addr_to_switch(ip, t->n_switches) : TOPO_NONE;
	if (h != TOPO_NONE)
		topo_node_name(t, h, buf);
	else if (s != TOPO_NONE)
		topo_node_name(t, t->n_hosts + s, buf);
	else
		topo_addr_format(ip, buf);
	return buf;
}

void xp_tell_marks(struct sim_text *out, uint32_t marks)
{
	const size_t before = out->n;
	for (const struct algo_filter_flag *f = algo_filter_flags; f->word; f++)
		/* "drop" stands for two marks that are told by themselves. */
		if (marks & f->marks && !(f->marks & (f->marks - 1)))
			sim_put(out, "%s%s", out->n > before ? "," : "",
			    f->word);
	if (out->n == before)
		sim_put(out, "-");
}

void xp_tell_flags(struct sim_text *out, uint8_t flags)
{
	static const char *const names[] = {"FIN", "SYN", "RST", "PSH", "ACK",
	    "URG", "ECE", "CWR"};
	const size_t before = out->n;
	for (unsigned i = 0; i < 8; i++)
		if (flags >> i & 1)
			sim_put(out, "%s%s", out->n > before ? "|" : "",
			    names[i]);
	if (out->n == before)
		sim_put(out, "-");
}

/* --- a trace ---------------------------------------------------------------- */

static const char *const tell_kinds[] = {
#define X(kind, name, text) name,
    OBS_COPY_KINDS(X)
#undef X
};

const char xp_tell_head[] =
    "id\tt_s\tsrc\tsrc_port\tdst\tdst_port\tproto\tip_id\tflags\tkind\tmarks\t"
    "lost_link\tpath\n";

void xp_tell_row(FILE *out, const struct topo *net, uint64_t id,
    const struct algo_trace *t, const struct algo_hop hop[])
{
	char src[XP_TELL_NAME], dst[XP_TELL_NAME], link[XP_TELL_NAME];
	char text[512];
	struct sim_text row = {text, sizeof(text), 0};
	sim_put(&row, "%" PRIu64 "\t%.9f\t%s\t%u\t%s\t%u\t%u\t%u\t", id,
	    1e-9 * (double)t->t_ns, xp_tell_address(net, t->src_ip, src),
	    t->src_port, xp_tell_address(net, t->dst_ip, dst), t->dst_port,
	    t->proto, t->ip_id);
	xp_tell_flags(&row, t->flags);
	sim_put(&row, "\t%s\t", tell_kinds[t->kind]);
	xp_tell_marks(&row, t->marks);
	fputs(text, out);
	fprintf(out, "\t%s\t", xp_tell_link(net, t->lost_link, link));
	for (unsigned i = 0; i < t->n_hops; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "",
		    xp_tell_switch(net, hop[i].node, link));
	putc('\n', out);
}

static void tell_json_marks(FILE *out, uint32_t marks)
{
	const char *comma = "";
	fprintf(out, ", \"marks\": [");
	for (unsigned i = 0; algo_filter_flags[i].word; i++) {
		const uint32_t m = algo_filter_flags[i].marks;
		if (!(marks & m) || m & (m - 1))
			continue;
		fprintf(out, "%s\"%s\"", comma, algo_filter_flags[i].word);
		comma = ", ";
	}
	fprintf(out, "]");
}

static void tell_json_hop(FILE *out, const struct topo *net,
    const struct algo_hop *h)
{
	char name[XP_TELL_NAME];
	fprintf(out, "{\"t_ns\": %" PRIu64, h->t_ns);
	res_json_text_of(out, "switch", xp_tell_switch(net, h->node, name));
	if (h->in_link != TOPO_NONE)
		res_json_text_of(out, "link",
		    xp_tell_link(net, h->in_link, name));
	if (h->switch_ns > 0)
		fprintf(out, ", \"switch_ns\": %" PRIu64, h->switch_ns);
	fprintf(out, ", \"layer\": %u, \"ttl\": %u, \"dscp\": %d, \"ecn\": %d}",
	    h->layer, h->ttl, h->tos >> 2, h->tos & OBS_TOS_ECN);
}

void xp_tell_json(FILE *out, const struct topo *net, int more, uint64_t id,
    const struct algo_trace *t, const struct algo_hop hop[])
{
	char name[XP_TELL_NAME];
	fprintf(out,
	    "%s{\"id\": %" PRIu64 ", \"t_ns\": %" PRIu64
	    ", \"end_ns\": %" PRIu64,
	    more ? ",\n" : "", id, t->t_ns, t->end_ns);
	res_json_text_of(out, "src", xp_tell_address(net, t->src_ip, name));
	res_json_text_of(out, "dst", xp_tell_address(net, t->dst_ip, name));
	fprintf(out,
	    ", \"src_port\": %u, \"dst_port\": %u, \"proto\": %u, "
	    "\"ip_id\": %u, \"flags\": %u, \"seq\": %u, \"ack\": %u, "
	    "\"bytes\": %u, \"kind\": \"%s\"",
	    t->src_port, t->dst_port, t->proto, t->ip_id, t->flags, t->seq,
	    t->ack, t->n_bytes, tell_kinds[t->kind]);
	tell_json_marks(out, t->marks);
	if (t->lost_link != TOPO_NONE)
		res_json_text_of(out, "lost_link",
		    xp_tell_link(net, t->lost_link, name));
	fprintf(out, ", \"mirrors_lost\": %u, \"hops\": [", t->n_lost);
	for (unsigned i = 0; i < t->n_hops; i++) {
		fprintf(out, "%s", i > 0 ? ", " : "");
		tell_json_hop(out, net, &hop[i]);
	}
	fprintf(out, "]}");
}
