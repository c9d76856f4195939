/* experiments/cmd/trace_sonic.c -- mirror rules as a configuration of SONiC.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/trace_sonic.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "results/json.h"

/* SONiC tries rules from the highest priority down. */
enum { SONIC_FIRST_PRIORITY = 9999, SONIC_LEAST_SAMPLE = 256 };

static const char sonic_table[] = "EVERFLOW", sonic_type[] = "EVERFLOW_TYPE",
		  sonic_session[] = "everflow",
		  sonic_sampled[] = "everflow_sample";

/* What rules of the table may match, all that is used below. */
static const char *const sonic_matches[] = {"ETHER_TYPE", "IP_PROTOCOL",
    "SRC_IP", "DST_IP", "L4_SRC_PORT", "L4_DST_PORT", "TCP_FLAGS", "DSCP",
    "BTH_OPCODE", "AETH_SYNDROME", NULL};

/* --- JSON ----------------------------------------------------------------- */

struct sonic_json {
	FILE *out;
	int depth, has_items;
};

static void sonic_item(struct sonic_json *j, const char *key)
{
	fprintf(j->out, "%s\n%*s", j->has_items ? "," : "", 4 * j->depth, "");
	res_json_text(j->out, key);
	fprintf(j->out, ": ");
	j->has_items = 1;
}

static void sonic_open(struct sonic_json *j, const char *key)
{
	if (key)
		sonic_item(j, key);
	fprintf(j->out, "{");
	j->depth++;
	j->has_items = 0;
}

static void sonic_close(struct sonic_json *j)
{
	j->depth--;
	if (j->has_items)
		fprintf(j->out, "\n%*s", 4 * j->depth, "");
	fprintf(j->out, "}");
	j->has_items = 1;
}

static void sonic_put(struct sonic_json *j, const char *key, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* All values of that database are texts, numbers too. */
static void sonic_put(struct sonic_json *j, const char *key, const char *fmt,
    ...)
{
	char text[128];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sonic_item(j, key);
	res_json_text(j->out, text);
}

static void sonic_list(struct sonic_json *j, const char *key,
    const char *const words[])
{
	sonic_item(j, key);
	fprintf(j->out, "[");
	for (size_t i = 0; words[i]; i++) {
		fprintf(j->out, "%s", i > 0 ? ", " : "");
		res_json_text(j->out, words[i]);
	}
	fprintf(j->out, "]");
}

/* A list of the words of TEXT, which commas part. */
static void sonic_words(struct sonic_json *j, const char *key, const char *text)
{
	sonic_item(j, key);
	fprintf(j->out, "[");
	for (size_t n = 0; text && *text; text += n + (text[n] == ',')) {
		char word[64];
		n = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		res_json_text(j->out, word);
		fprintf(j->out, "%s", text[n] ? ", " : "");
	}
	fprintf(j->out, "]");
}

/* --- sessions ------------------------------------------------------------- */

static void sonic_put_session(struct sonic_json *j, const struct cmd_sonic *s,
    const char *name, uint32_t one_in)
{
	sonic_open(j, name);
	sonic_put(j, "type", "ERSPAN");
	sonic_put(j, "src_ip", "%s", s->source);
	sonic_put(j, "dst_ip", "%s", s->collector);
	sonic_put(j, "gre_type", "0x88be");
	sonic_put(j, "dscp", "0");
	sonic_put(j, "ttl", "64");
	sonic_put(j, "queue", "0");
	sonic_put(j, "truncate_size", "%" PRIu32, s->mirror->truncate);
	if (one_in > 1)
		sonic_put(j, "sample_rate", "%" PRIu32, one_in);
	if (s->mirror->policer > 0)
		sonic_put(j, "policer", "%s", sonic_session);
	sonic_close(j);
}

static uint32_t sonic_one_in(const struct algo_mirror_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].one_in > 1)
			return t->row[i].one_in;
	return 0;
}

static void sonic_put_sessions(struct sonic_json *j, const struct cmd_sonic *s)
{
	const uint32_t one_in = sonic_one_in(s->table);
	sonic_open(j, "MIRROR_SESSION");
	sonic_put_session(j, s, sonic_session, 0);
	if (one_in >= SONIC_LEAST_SAMPLE)
		sonic_put_session(j, s, sonic_sampled, one_in);
	sonic_close(j);
	if (s->mirror->policer <= 0)
		return;
	sonic_open(j, "POLICER");
	sonic_open(j, sonic_session);
	sonic_put(j, "meter_type", "packets");
	sonic_put(j, "mode", "sr_tcm");
	sonic_put(j, "cir", "%.0f", s->mirror->policer);
	sonic_put(j, "cbs", "%" PRIu32, s->mirror->police_burst);
	sonic_put(j, "red_packet_action", "drop");
	sonic_close(j);
	sonic_close(j);
}

static void sonic_put_table(struct sonic_json *j, const struct cmd_sonic *s)
{
	static const char *const actions[] = {"PACKET_ACTION",
	    "MIRROR_INGRESS_ACTION", NULL};
	static const char *const points[] = {"PORT", "PORTCHANNEL", NULL};
	sonic_open(j, "ACL_TABLE_TYPE");
	sonic_open(j, sonic_type);
	sonic_list(j, "MATCHES", sonic_matches);
	sonic_list(j, "ACTIONS", actions);
	sonic_list(j, "BIND_POINTS", points);
	sonic_close(j);
	sonic_close(j);
	sonic_open(j, "ACL_TABLE");
	sonic_open(j, sonic_table);
	sonic_put(j, "policy_desc", "what is mirrored for Everflow");
	sonic_put(j, "type", "%s", sonic_type);
	sonic_put(j, "stage", "ingress");
	sonic_words(j, "ports", s->ports);
	sonic_close(j);
	sonic_close(j);
}

/* --- rules ---------------------------------------------------------------- */

/* Why SONiC can't have a row; NULL if it can. */
static const char *sonic_refusal(const struct obs_match_row *r)
{
	const struct obs_match_key *m = &r->mask;
	if (r->inner)
		return "no rule matches flags, DSCP, ID, TTL or RoCE of an "
		       "inner header";
	if (m->ip_id)
		return "no rule matches the IP ID";
	if (m->ttl)
		return "no rule matches the TTL";
	if (m->tos & OBS_TOS_ECN)
		return "no rule matches ECN";
	if (r->one_in > 1 && r->one_in < SONIC_LEAST_SAMPLE)
		return "sample_rate is 256 or more";
	return NULL;
}

/* How a row is narrower or wider there; NULL if it is the same. */
static const char *sonic_change(const struct obs_match_row *r)
{
	if (r->mask.is_mirror)
		return "no rule matches the protocol of GRE: all GRE to the "
		       "collector is spared";
	if (r->mask.tos && r->mask.tos != 0xfc)
		return "DSCP has no mask: only packets with no other bit of it "
		       "are taken";
	return NULL;
}

static void sonic_put_matches(struct sonic_json *j, const struct cmd_sonic *s,
    const struct obs_match_row *r)
{
	const struct obs_match_key *v = &r->value, *m = &r->mask;
	if (m->ethertype && !m->proto)
		sonic_put(j, "ETHER_TYPE", "0x%04x", v->ethertype);
	if (m->proto)
		sonic_put(j, "IP_PROTOCOL", "%u", v->proto);
	if (m->is_mirror)
		sonic_put(j, "DST_IP", "%s/32", s->collector);
	if (m->src_port)
		sonic_put(j, "L4_SRC_PORT", "%u", v->src_port);
	if (m->dst_port)
		sonic_put(j, "L4_DST_PORT", "%u", v->dst_port);
	if (m->tcp_flags)
		sonic_put(j, "TCP_FLAGS", "0x%02x/0x%02x", v->tcp_flags,
		    m->tcp_flags);
	if (m->tos)
		sonic_put(j, "DSCP", "%u", v->tos >> 2);
	if (m->bth_opcode)
		sonic_put(j, "BTH_OPCODE", "0x%02x/0x%02x", v->bth_opcode,
		    m->bth_opcode);
	if (m->aeth)
		sonic_put(j, "AETH_SYNDROME", "0x%02x/0x%02x", v->aeth,
		    m->aeth);
}

static void sonic_put_rule(struct sonic_json *j, const struct cmd_sonic *s,
    size_t i)
{
	const struct obs_match_row *r = &s->table->row[i];
	char name[48];
	snprintf(name, sizeof(name), "%s|RULE_%zu", sonic_table, i);
	sonic_open(j, name);
	sonic_put(j, "PRIORITY", "%zu", SONIC_FIRST_PRIORITY - i);
	sonic_put_matches(j, s, r);
	if (r->kind == OBS_MATCH_NEVER)
		sonic_put(j, "PACKET_ACTION", "FORWARD");
	else
		sonic_put(j, "MIRROR_INGRESS_ACTION", "%s",
		    r->one_in > 1 ? sonic_sampled : sonic_session);
	sonic_close(j);
}

static unsigned sonic_put_rules(struct sonic_json *j, const struct cmd_sonic *s,
    FILE *notes)
{
	unsigned n_left_out = 0;
	sonic_open(j, "ACL_RULE");
	for (size_t i = 0; i < s->table->n; i++) {
		const struct obs_match_row *r = &s->table->row[i];
		const char *why = sonic_refusal(r);
		const char *change = why ? NULL : sonic_change(r);
		if (why)
			fprintf(notes,
			    "culprit: row %zu (%s%s) is left out: %s.\n", i,
			    r->inner ? "inner " : "", algo_mirror_action(r),
			    why);
		else
			sonic_put_rule(j, s, i);
		if (change)
			fprintf(notes,
			    "culprit: row %zu (%s) is not the same: %s.\n", i,
			    algo_mirror_action(r), change);
		n_left_out += why != NULL;
	}
	sonic_close(j);
	return n_left_out;
}

unsigned cmd_sonic_write(const struct cmd_sonic *s, FILE *out, FILE *notes)
{
	struct sonic_json j = {.out = out};
	sonic_open(&j, NULL);
	sonic_put_sessions(&j, s);
	sonic_put_table(&j, s);
	const unsigned n_left_out = sonic_put_rules(&j, s, notes);
	sonic_close(&j);
	fprintf(out, "\n");
	return n_left_out;
}
