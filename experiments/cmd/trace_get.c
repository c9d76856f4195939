/* experiments/cmd/trace_get.c -- culprit trace get: traces that fit, of a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>

#include "algos/everflow/filter.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "results/json.h"
#include "sim/text.h"

struct args {
	const char *file, *expr, *where;
	sim_ns from, to;
	uint64_t limit;
	int json, count;
};

static void trace_get_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->file)
		a->file = arg;
	else if (!a->expr)
		a->expr = arg;
	else
		argp_error(g->state,
		    "\"%s\" is one word too many; an expression stands in "
		    "quotes",
		    arg);
}

static void trace_get_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->to <= a->from)
		argp_error(state, "--to is not after --from");
	if (a->count && (a->json || a->limit < UINT64_MAX))
		argp_error(state,
		    "--count goes with neither --json nor "
		    "--limit");
}

static const struct cmd_option trace_get_options[] = {
    {"where", 'w', "COND",
	"a condition besides, which may also be on properties of traces",
	.take = cmd_take_text, .at = CMD_AT(where)},
    {"from", 0, "TIME", "first copies from then on, as 10s or 1.5ms",
	.take = cmd_take_time, .at = CMD_AT(from)},
    {"to", 0, "TIME", "and before then", .take = cmd_take_time,
	.at = CMD_AT(to)},
    {"limit", 'n', "N", "at most so many traces", .take = cmd_take_u64,
	.at = CMD_AT(limit), .min = 1, .max = UINT64_MAX - 1},
    {"count", 'c', NULL, "their number alone", .take = cmd_take_flag,
	.at = CMD_AT(count)},
    {"json", 0, NULL, "JSON, an array of traces with all their copies",
	.take = cmd_take_flag, .at = CMD_AT(json)},
    {0},
};

static void trace_get_more(FILE *out, const void *args)
{
	(void)args;
	cmd_trace_language(out);
}

static const struct cmd_line trace_get_line = {
    .options = trace_get_options,
    .word = {.take = trace_get_word},
    .without = "traces of which FILE?",
    .check = trace_get_check,
    .args_doc = "FILE.h5 [EXPR]",
    .doc = "Print the traces of FILE that EXPR fits, a line each, by tabs; "
	   "without it all of them.",
    .more = trace_get_more,
};

struct get {
	const struct args *args;
	struct cmd_traces traces;
	struct algo_filter filter, condition;
	uint64_t n;
};

/* --- a trace ---------------------------------------------------------------- */

static const char *const get_kinds[] = {
#define X(kind, name, text) name,
    OBS_COPY_KINDS(X)
#undef X
};

static void get_put_row(const struct get *g, uint64_t id,
    const struct algo_trace *t, const struct algo_hop hop[])
{
	char src[CMD_TRACE_NAME], dst[CMD_TRACE_NAME], link[CMD_TRACE_NAME];
	char text[512];
	struct sim_text out = {text, sizeof(text), 0};
	sim_put(&out, "%" PRIu64 "\t%.9f\t%s\t%u\t%s\t%u\t%u\t%u\t", id,
	    1e-9 * (double)t->t_ns,
	    cmd_trace_address(&g->traces, t->src_ip, src), t->src_port,
	    cmd_trace_address(&g->traces, t->dst_ip, dst), t->dst_port,
	    t->proto, t->ip_id);
	cmd_trace_flags(&out, t->flags);
	sim_put(&out, "\t%s\t", get_kinds[t->kind]);
	cmd_trace_marks(&out, t->marks);
	fputs(text, stdout);
	printf("\t%s\t", cmd_trace_link(&g->traces, t->lost_link, link));
	for (unsigned i = 0; i < t->n_hops; i++)
		printf("%s%s", i > 0 ? " " : "",
		    cmd_trace_switch(&g->traces, hop[i].node, link));
	putchar('\n');
}

static void get_json_text(const char *key, const char *text)
{
	printf(", \"%s\": ", key);
	res_json_text(stdout, text);
}

static void get_json_marks(uint32_t marks)
{
	const char *comma = "";
	printf(", \"marks\": [");
	for (unsigned i = 0; algo_filter_flags[i].word; i++) {
		const uint32_t m = algo_filter_flags[i].marks;
		if (!(marks & m) || m & (m - 1))
			continue;
		printf("%s\"%s\"", comma, algo_filter_flags[i].word);
		comma = ", ";
	}
	printf("]");
}

static void get_json_hop(const struct get *g, const struct algo_hop *h)
{
	char name[CMD_TRACE_NAME];
	printf("{\"t_ns\": %" PRIu64, h->t_ns);
	get_json_text("switch", cmd_trace_switch(&g->traces, h->node, name));
	if (h->in_link != TOPO_NONE)
		get_json_text("link",
		    cmd_trace_link(&g->traces, h->in_link, name));
	if (h->switch_ns > 0)
		printf(", \"switch_ns\": %" PRIu64, h->switch_ns);
	printf(", \"layer\": %u, \"ttl\": %u, \"dscp\": %d, \"ecn\": %d}",
	    h->layer, h->ttl, h->tos >> 2, h->tos & OBS_TOS_ECN);
}

static void get_put_json(const struct get *g, uint64_t id,
    const struct algo_trace *t, const struct algo_hop hop[])
{
	char name[CMD_TRACE_NAME];
	printf("%s{\"id\": %" PRIu64 ", \"t_ns\": %" PRIu64
	       ", \"end_ns\": %" PRIu64,
	    g->n > 1 ? ",\n" : "", id, t->t_ns, t->end_ns);
	get_json_text("src", cmd_trace_address(&g->traces, t->src_ip, name));
	get_json_text("dst", cmd_trace_address(&g->traces, t->dst_ip, name));
	printf(", \"src_port\": %u, \"dst_port\": %u, \"proto\": %u, "
	       "\"ip_id\": %u, \"flags\": %u, \"seq\": %u, \"ack\": %u, "
	       "\"bytes\": %u, \"kind\": \"%s\"",
	    t->src_port, t->dst_port, t->proto, t->ip_id, t->flags, t->seq,
	    t->ack, t->n_bytes, get_kinds[t->kind]);
	get_json_marks(t->marks);
	if (t->lost_link != TOPO_NONE)
		get_json_text("lost_link",
		    cmd_trace_link(&g->traces, t->lost_link, name));
	printf(", \"mirrors_lost\": %u, \"hops\": [", t->n_lost);
	for (unsigned i = 0; i < t->n_hops; i++) {
		printf("%s", i > 0 ? ", " : "");
		get_json_hop(g, &hop[i]);
	}
	printf("]}");
}

/* --- all -------------------------------------------------------------------- */

static int get_take(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct get *g = arg;
	const sim_ns now = g->traces.info->end_ns;
	(void)e;
	if (!algo_filter_test(&g->filter, t, hop, now) ||
	    !algo_filter_test(&g->condition, t, hop, now))
		return 0;
	if (g->n == g->args->limit) {
		fprintf(stderr,
		    "culprit: --limit %" PRIu64 " is reached; there are "
		    "more.\n",
		    g->n);
		return 1;
	}
	g->n++;
	if (g->args->json)
		get_put_json(g, id, t, hop);
	else if (!g->args->count)
		get_put_row(g, id, t, hop);
	return 0;
}

static int get_compile(struct get *g, struct sim_err *e)
{
	const struct args *a = g->args;
	const struct topo *t = g->traces.topo;
	int rc = algo_filter_compile(&g->filter, a->expr ? a->expr : "", t,
	    ALGO_IS_FILTER, e);
	if (rc < 0)
		return rc;
	rc = algo_filter_compile(&g->condition, a->where ? a->where : "", t,
	    ALGO_IS_CONDITION, e);
	return rc < 0 ? sim_wrap(e, rc, "--where") : 0;
}

static int get_print(struct get *g, struct sim_err *e)
{
	const struct args *a = g->args;
	if (a->json)
		printf("[");
	else if (!a->count)
		printf("id\tt_s\tsrc\tsrc_port\tdst\tdst_port\tproto\tip_id\t"
		       "flags\tkind\tmarks\tlost_link\tpath\n");
	const int rc =
	    res_traces_each(g->traces.file, a->from, a->to, get_take, g, e);
	if (rc == 0 && a->json)
		printf("]\n");
	if (rc == 0 && a->count)
		printf("%" PRIu64 "\n", g->n);
	return rc;
}

int cmd_trace_get(int argc, char **argv)
{
	struct args a = {.to = SIM_NEVER, .limit = UINT64_MAX};
	struct get g = {.args = &a};
	struct sim_err e = {0};
	int code = CMD_GOOD;
	cmd_parse(&trace_get_line, argc, argv, &a);
	int rc = cmd_traces_open(&g.traces, a.file, &e);
	if (rc < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	else if (get_compile(&g, &e) < 0)
		code = cmd_fail(CMD_USAGE, &e);
	else if (get_print(&g, &e) < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	cmd_traces_close(&g.traces);
	return code;
}
