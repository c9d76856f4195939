/* experiments/cmd/trace_show.c -- culprit trace show: one trace, for people.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "algos/everflow/filter.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/everflow/tell.h"
#include "sim/text.h"

struct args {
	const char *file;
	uint64_t id;
	int has_id;
};

static void trace_show_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->file) {
		a->file = arg;
		return;
	}
	if (a->has_id)
		argp_error(g->state, "\"%s\" is one word too many", arg);
	a->id = cmd_number(arg, "ID", 0, UINT64_MAX, g->state);
	a->has_id = 1;
}

static void trace_show_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->has_id)
		argp_error(state,
		    "which trace? `culprit trace get FILE` tells their ids");
}

static const struct cmd_line trace_show_line = {
    .word = {.take = trace_show_word},
    .without = "a trace of which FILE?",
    .check = trace_show_check,
    .args_doc = "FILE.h5 ID",
    .doc =
	"Show a trace of FILE: the packet, what was made of it, and a line for "
	"each copy, in the order of its way."
	"\v`+us` is when a copy arrived at the analyzer, after the first one. "
	"Times of two switches are not compared, since their copies take ways "
	"of their own; `gap us` is the time since the copy before of the same "
	"switch, where there is one: a round trip, a mux, a loop. `layer` "
	"counts the IP headers around the innermost one.",
};

static void show_packet(const struct cmd_traces *x, uint64_t id,
    const struct algo_trace *t)
{
	static const char *const kinds[] = {
#define X(kind, name, text) text,
	    OBS_COPY_KINDS(X)
#undef X
	};
	char src[XP_TELL_NAME], dst[XP_TELL_NAME], flags[64];
	struct sim_text out = {flags, sizeof(flags), 0};
	xp_tell_flags(&out, t->flags);
	printf("trace %" PRIu64 " at %.9f s, by analyzer %u\n", id,
	    1e-9 * (double)t->t_ns, t->analyzer);
	if (t->proto == 0)
		printf("  not IP, %u bytes\n", t->n_bytes);
	else
		printf("  %s:%u -> %s:%u, protocol %u, ID %u, flags %s, seq "
		       "%u, %u bytes\n",
		    xp_tell_address(x->topo, t->src_ip, src), t->src_port,
		    xp_tell_address(x->topo, t->dst_ip, dst), t->dst_port,
		    t->proto, t->ip_id, flags, t->seq, t->n_bytes);
	printf("  mirrored for %s\n", kinds[t->kind]);
}

static void show_marks(const struct cmd_traces *x, const struct algo_trace *t)
{
	char link[XP_TELL_NAME];
#define X(mark, word, text)                                                    \
	if (t->marks & ALGO_TRACE_##mark)                                      \
		printf("  %s: %s\n", word, text);
	ALGO_TRACE_MARKS(X)
#undef X
	if (t->lost_link != TOPO_NONE)
		printf("  should have gone on over %s\n",
		    xp_tell_link(x->topo, t->lost_link, link));
	if (t->n_lost > 0)
		printf("  %u mirror%s missing for certain\n", t->n_lost,
		    t->n_lost == 1 ? "" : "s");
	if (t->n_same > 0)
		printf("  %u duplicate%s dropped\n", t->n_same,
		    t->n_same == 1 ? "" : "s");
}

/* The copy before hop I of the same switch, or I. */
static unsigned show_before(const struct algo_hop hop[], unsigned i)
{
	for (unsigned k = i; k > 0; k--)
		if (hop[k - 1].node == hop[i].node)
			return k - 1;
	return i;
}

static void show_hop(const struct cmd_traces *x, const struct algo_trace *t,
    const struct algo_hop hop[], unsigned i)
{
	static const char *const ecn[] = {"-", "ECT(1)", "ECT(0)", "CE"};
	const struct algo_hop *h = &hop[i];
	const unsigned before = show_before(hop, i);
	char name[XP_TELL_NAME], link[XP_TELL_NAME];
	printf("%3u %12.3f  %-12s %-22s %5u %4u %4d  %s", i,
	    1e-3 * ((double)h->t_ns - (double)t->t_ns),
	    xp_tell_switch(x->topo, h->node, name),
	    xp_tell_link(x->topo, h->in_link, link), h->layer, h->ttl,
	    h->tos >> 2, ecn[h->tos & OBS_TOS_ECN]);
	if (before != i)
		printf("%*.3f", 18 - (int)strlen(ecn[h->tos & OBS_TOS_ECN]),
		    1e-3 * ((double)h->t_ns - (double)hop[before].t_ns));
	putchar('\n');
}

static int show_take(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	const struct cmd_traces *x = arg;
	(void)e;
	show_packet(x, id, t);
	show_marks(x, t);
	printf("%3s %12s  %-12s %-22s %5s %4s %4s  ECN         gap us\n", "#",
	    "+us", "switch", "in-link", "layer", "TTL", "DSCP");
	for (unsigned i = 0; i < t->n_hops; i++)
		show_hop(x, t, hop, i);
	return 0;
}

int cmd_trace_show(int argc, char **argv)
{
	struct args a = {0};
	struct cmd_traces x;
	struct sim_err e = {0};
	cmd_parse(&trace_show_line, argc, argv, &a);
	int rc = cmd_traces_open(&x, a.file, &e);
	if (rc == 0)
		rc = res_traces_one(x.file, a.id, show_take, &x, &e);
	cmd_traces_close(&x);
	if (rc < 0)
		return cmd_fail(rc == SIM_ERANGE ? CMD_USAGE : CMD_TROUBLE, &e);
	return CMD_GOOD;
}
