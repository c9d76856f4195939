/* algos/everflow/mirror_rule.c -- what switches are told to mirror: the table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/mirror_rule.h"

#include <assert.h>
#include <inttypes.h>

static const char *const mirror_kinds[] = {
#define X(kind, name, text) name,
    OBS_COPY_KINDS(X)
#undef X
	NULL};

static const char *const mirror_samples[] = {"id", "random", NULL};

#define AT(member) .offset = offsetof(struct algo_mirror_params, member)
const struct sim_field algo_mirror_fields[] = {
    {.name = "rules",
	.type = SIM_F_SET,
	AT(rules),
	.names = mirror_kinds,
	.unit = "1",
	.def = "[control, debug, sample, pfc, bgp, nak]",
	.doc = "what is mirrored"},
    {.name = "sample",
	.type = SIM_F_ENUM,
	AT(sample),
	.names = mirror_samples,
	.unit = "1",
	.def = "id",
	.doc = "by bits of the IP ID, the same packets at all switches; or by "
	       "chance, at each switch for itself"},
    {.name = "sample_n",
	.type = SIM_F_U32,
	AT(sample_n),
	.min = 1,
	.max = 8388608,
	.unit = "packets",
	.def = "1024",
	.doc = "1 packet in so many is sampled; by ID a power of two up to "
	       "65536"},
    {.name = "sample_pattern",
	.type = SIM_F_U32,
	AT(pattern),
	.min = 1,
	.max = 65535,
	.unit = "1",
	.def = "1",
	.doc = "low bits of the IP IDs that are sampled",
	.when = "sample=id"},
    {.name = "inner",
	.type = SIM_F_BOOL,
	AT(inner),
	.unit = "1",
	.def = "true",
	.doc = "inner headers are matched, too"},
    {0},
};
#undef AT

/* --- the rows ------------------------------------------------------------- */

static struct obs_match_row mirror_row(uint8_t kind)
{
	struct obs_match_row r = {.kind = kind};
	r.value.ethertype = OBS_ETH_IPV4;
	r.mask.ethertype = 0xffff;
	return r;
}

static struct obs_match_row mirror_proto_row(uint8_t kind, uint8_t proto)
{
	struct obs_match_row r = mirror_row(kind);
	r.value.proto = proto;
	r.mask.proto = 0xff;
	return r;
}

static void mirror_put(struct algo_mirror_table *t,
    const struct obs_match_row *row, int inner)
{
	assert(t->n < ALGO_MIRROR_MAX_ROWS);
	t->row[t->n] = *row;
	t->row[t->n++].inner = (uint8_t)inner;
}

/* Copies are taken for what they are by the outermost header alone. */
static void mirror_put_black_list(struct algo_mirror_table *t)
{
	struct obs_match_row r =
	    mirror_proto_row(OBS_MATCH_NEVER, OBS_PROTO_GRE);
	r.value.is_mirror = r.mask.is_mirror = 1;
	mirror_put(t, &r, 0);
}

/* A ternary row asks for all of its bits, so "any of three flags" are three. */
static void mirror_put_control(struct algo_mirror_table *t, int inner)
{
	static const uint8_t flags[] = {OBS_TCP_SYN, OBS_TCP_FIN, OBS_TCP_RST};
	struct obs_match_row r =
	    mirror_proto_row(OBS_COPY_CONTROL, TOPO_PROTO_TCP);
	for (size_t i = 0; i < sizeof(flags); i++) {
		r.value.tcp_flags = r.mask.tcp_flags = flags[i];
		mirror_put(t, &r, inner);
	}
}

static void mirror_put_debug(struct algo_mirror_table *t, int inner)
{
	struct obs_match_row r = mirror_row(OBS_COPY_DEBUG);
	r.value.tos = r.mask.tos = OBS_TOS_DEBUG;
	mirror_put(t, &r, inner);
}

static void mirror_put_sample(struct algo_mirror_table *t,
    const struct algo_mirror_params *p, int inner)
{
	struct obs_match_row r = mirror_row(OBS_COPY_SAMPLE);
	if (p->sample == ALGO_SAMPLE_RANDOM) {
		/* One draw a packet, however many headers it has. */
		r.one_in = p->sample_n;
		if (!inner)
			mirror_put(t, &r, 0);
		return;
	}
	r.mask.ip_id = (uint16_t)(p->sample_n - 1);
	r.value.ip_id = (uint16_t)(p->pattern & (p->sample_n - 1));
	r.mask.is_outer = 1;
	mirror_put(t, &r, inner);
}

static void mirror_put_pfc(struct algo_mirror_table *t)
{
	struct obs_match_row r = {.kind = OBS_COPY_PFC};
	r.value.ethertype = OBS_ETH_CONTROL;
	r.mask.ethertype = 0xffff;
	mirror_put(t, &r, 0);
}

static void mirror_put_bgp(struct algo_mirror_table *t)
{
	struct obs_match_row r = mirror_proto_row(OBS_COPY_BGP, TOPO_PROTO_TCP);
	r.value.src_port = OBS_PORT_BGP;
	r.mask.src_port = 0xffff;
	mirror_put(t, &r, 0);
	r = mirror_proto_row(OBS_COPY_BGP, TOPO_PROTO_TCP);
	r.value.dst_port = OBS_PORT_BGP;
	r.mask.dst_port = 0xffff;
	mirror_put(t, &r, 0);
}

static void mirror_put_nak(struct algo_mirror_table *t, int inner)
{
	struct obs_match_row r = mirror_proto_row(OBS_COPY_NAK, OBS_PROTO_UDP);
	r.value.dst_port = OBS_PORT_ROCE;
	r.mask.dst_port = 0xffff;
	r.value.bth_opcode = OBS_BTH_ACK;
	r.mask.bth_opcode = 0xff;
	r.value.aeth = OBS_AETH_NAK;
	r.mask.aeth = OBS_AETH_MASK;
	mirror_put(t, &r, inner);
}

static void mirror_put_retx(struct algo_mirror_table *t, int inner)
{
	struct obs_match_row r = mirror_row(OBS_COPY_RETX);
	r.value.ttl = r.mask.ttl = OBS_TTL_RETX;
	r.mask.is_outer = 1;
	mirror_put(t, &r, inner);
}

static int mirror_is_on(const struct algo_mirror_params *p,
    enum obs_copy_kind kind)
{
	return (p->rules >> kind & 1) != 0;
}

static void mirror_put_rules(struct algo_mirror_table *t,
    const struct algo_mirror_params *p, int inner)
{
	if (mirror_is_on(p, OBS_COPY_CONTROL))
		mirror_put_control(t, inner);
	if (mirror_is_on(p, OBS_COPY_DEBUG))
		mirror_put_debug(t, inner);
	if (mirror_is_on(p, OBS_COPY_SAMPLE))
		mirror_put_sample(t, p, inner);
	if (mirror_is_on(p, OBS_COPY_PFC) && !inner)
		mirror_put_pfc(t);
	if (mirror_is_on(p, OBS_COPY_BGP) && !inner)
		mirror_put_bgp(t);
	if (mirror_is_on(p, OBS_COPY_NAK))
		mirror_put_nak(t, inner);
	if (mirror_is_on(p, OBS_COPY_RETX))
		mirror_put_retx(t, inner);
}

static int mirror_check_sample(const struct algo_mirror_params *p,
    struct sim_err *e)
{
	const uint32_t n = p->sample_n;
	if (!mirror_is_on(p, OBS_COPY_SAMPLE) || p->sample != ALGO_SAMPLE_ID ||
	    n == 1)
		return 0;
	if (n == 0 || n > 65536 || (n & (n - 1)) != 0)
		return sim_fail(e, SIM_EINVAL,
		    "sample_n %" PRIu32 " with sample id must be a power of "
		    "two in [1, 65536].",
		    n);
	if ((p->pattern & (n - 1)) == 0)
		return sim_fail(e, SIM_EINVAL,
		    "pattern %" PRIu32 " is 0 in the bits that 1 in %" PRIu32
		    " looks at: SYN-ACKs, all with ID 0, would be sampled.",
		    p->pattern, n);
	return 0;
}

int algo_mirror_table(struct algo_mirror_table *t,
    const struct algo_mirror_params *p, struct sim_err *e)
{
	const int rc = mirror_check_sample(p, e);
	if (rc < 0)
		return rc;
	*t = (struct algo_mirror_table){0};
	mirror_put_black_list(t);
	for (uint32_t inner = 0; inner <= p->inner; inner++)
		mirror_put_rules(t, p, (int)inner);
	return 0;
}

/* --- as text -------------------------------------------------------------- */

const char *algo_mirror_action(const struct obs_match_row *row)
{
	return row->kind < OBS_N_COPY_KINDS ? mirror_kinds[row->kind] : "never";
}

void algo_mirror_print(const struct algo_mirror_table *t, FILE *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_match_row *r = &t->row[i];
		fprintf(out, "%2zu  %s ", i, r->inner ? "inner" : "outer");
#define X(type, field, name)                                                   \
	if (r->mask.field != 0)                                                \
		fprintf(out, " %s=0x%0*" PRIx64 "/0x%0*" PRIx64, name,         \
		    (int)(2 * sizeof(type)), (uint64_t)r->value.field,         \
		    (int)(2 * sizeof(type)), (uint64_t)r->mask.field);
		OBS_MATCH_FIELDS(X)
#undef X
		fprintf(out, " -> %s", algo_mirror_action(r));
		if (r->one_in > 1)
			fprintf(out, " 1 in %" PRIu32, r->one_in);
		fprintf(out, "\n");
	}
}
