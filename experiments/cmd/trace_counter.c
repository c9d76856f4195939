/* experiments/cmd/trace_counter.c -- culprit trace counter: sums over a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "results/json.h"
#include "sim/text.h"

struct args {
	const char *file, *what;
	sim_ns from, to;
	int json;
};

static void trace_counter_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->file)
		a->file = arg;
	else if (!a->what)
		a->what = arg;
	else
		argp_error(g->state, "\"%s\" is one word too many", arg);
}

static void trace_counter_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->what)
		argp_error(state,
		    "which counter? link:tor3->t1.5, switch:t2.0, mux:host17 "
		    "or custom:3");
	if (a->to <= a->from)
		argp_error(state, "--to is not after --from");
}

static const struct cmd_option trace_counter_options[] = {
    {"from", 0, "TIME", "spans that ended after then, as 10s or 1.5ms",
	.take = cmd_take_time, .at = CMD_AT(from)},
    {"to", 0, "TIME", "and not after then", .take = cmd_take_time,
	.at = CMD_AT(to)},
    {"json", 0, NULL, "JSON, one object", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {0},
};

static const struct cmd_line trace_counter_line = {
    .options = trace_counter_options,
    .word = {.take = trace_counter_word},
    .without = "counters of which FILE?",
    .check = trace_counter_check,
    .args_doc = "FILE.h5 WHAT",
    .doc = "Sum up what analyzers counted of the packets whose traces they did "
	   "not keep, over all analyzers and spans of 10 s."
	   "\vWHAT is link:FROM->TO or link:ID (packets, bytes, flows, round "
	   "trips of guided probes), switch:NAME (mirrored packets that "
	   "arrived, and those that were lost), mux:HOST (its latency) or "
	   "custom:ID. A quantile is the upper end of its bin, of which each "
	   "is 19 % wide.",
};

/* --- which ------------------------------------------------------------------ */

/* Kinds of counters, by what they are about. */
struct counter_group {
	const char *word;
	uint32_t kinds; /* bits of enum algo_counter_kind */
	int (*parse)(const struct cmd_traces *x, const char *name, uint32_t *id,
	    struct sim_err *e);
};

static int counter_no_net(const char *what, const char *name, struct sim_err *e)
{
	return sim_fail(e, SIM_EINVAL,
	    "the file does not tell its network, so %s are numbers; %.80s is "
	    "none.",
	    what, name);
}

static int counter_number(const char *name, uint32_t *id)
{
	uint64_t n;
	if (sim_parse_u64(name, &n, NULL) < 0 || n >= TOPO_NONE)
		return 0;
	*id = (uint32_t)n;
	return 1;
}

static int counter_link(const struct cmd_traces *x, const char *name,
    uint32_t *id, struct sim_err *e)
{
	if (x->topo)
		return topo_link_parse(x->topo, name, id, e);
	return counter_number(name, id) ? 0 : counter_no_net("links", name, e);
}

static int counter_node(const struct cmd_traces *x, const char *name,
    uint32_t *id, int host, struct sim_err *e)
{
	topo_node n;
	if (!x->topo)
		return counter_number(name, id)
		    ? 0
		    : counter_no_net(host ? "hosts" : "switches", name, e);
	const int rc = topo_node_parse(x->topo, name, &n, e);
	if (rc < 0)
		return rc;
	if ((n < x->topo->n_hosts) != host)
		return sim_fail(e, SIM_EINVAL, "%.60s is no %s.", name,
		    host ? "host" : "switch");
	*id = host ? n : n - x->topo->n_hosts;
	return 0;
}

static int counter_switch(const struct cmd_traces *x, const char *name,
    uint32_t *id, struct sim_err *e)
{
	return counter_node(x, name, id, 0, e);
}

static int counter_mux(const struct cmd_traces *x, const char *name,
    uint32_t *id, struct sim_err *e)
{
	return counter_node(x, name, id, 1, e);
}

static int counter_custom(const struct cmd_traces *x, const char *name,
    uint32_t *id, struct sim_err *e)
{
	(void)x;
	return counter_number(name, id)
	    ? 0
	    : sim_fail(e, SIM_EINVAL, "%.60s is no number.", name);
}

static const struct counter_group counter_groups[] =
    {{"link",
	 1 << ALGO_COUNTER_LINK_PACKETS | 1 << ALGO_COUNTER_LINK_BYTES |
	     1 << ALGO_COUNTER_LINK_FLOWS | 1 << ALGO_COUNTER_LINK_LATENCY,
	 counter_link},
	{"switch",
	    1 << ALGO_COUNTER_MIRROR_SENT | 1 << ALGO_COUNTER_MIRROR_LOST,
	    counter_switch},
	{"mux", 1 << ALGO_COUNTER_MUX_LATENCY, counter_mux},
	{"custom", 1 << ALGO_COUNTER_CUSTOM, counter_custom}};
enum { N_GROUPS = sizeof(counter_groups) / sizeof(counter_groups[0]) };

static int counter_parse(const struct cmd_traces *x, const char *what,
    const struct counter_group **group, uint32_t *id, struct sim_err *e)
{
	const char *words[N_GROUPS], *colon = strchr(what, ':');
	char word[64], shown[64];
	snprintf(word, sizeof(word), "%.*s",
	    (int)(colon ? colon - what : (ptrdiff_t)strlen(what)), what);
	for (size_t i = 0; i < N_GROUPS; i++) {
		words[i] = counter_groups[i].word;
		if (colon && strcmp(word, words[i]) == 0) {
			*group = &counter_groups[i];
			return counter_groups[i].parse(x, colon + 1, id, e);
		}
	}
	const char *near =
	    colon ? sim_did_you_mean(word, words, N_GROUPS) : NULL;
	return sim_fail(e, SIM_EINVAL, "%s is no counter%s%s%s",
	    sim_quote(shown, what),
	    near ? "; did you mean \""
		 : "; there are link:FROM->TO, switch:NAME, mux:HOST and "
		   "custom:ID.",
	    near ? near : "", near ? ":\"?" : "");
}

/* --- sums ------------------------------------------------------------------- */

enum { MAX_SUBS = ALGO_LATENCY_BINS };

struct counter_sums {
	const struct counter_group *group;
	uint32_t id;
	size_t n_rows;
	double sum[ALGO_N_COUNTER_KINDS][MAX_SUBS];
};

static const struct {
	const char *name, *unit;
} counter_kinds[] = {
#define X(kind, name, unit, text) {name, unit},
    ALGO_COUNTER_KINDS(X)
#undef X
};

static void counter_add(struct counter_sums *s, const struct algo_counters *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (s->group->kinds >> c->kind[i] & 1 && c->id[i] == s->id &&
		    c->sub[i] < MAX_SUBS) {
			s->sum[c->kind[i]][c->sub[i]] += c->value[i];
			s->n_rows++;
		}
}

static int counter_is_binned(unsigned kind)
{
	return kind == ALGO_COUNTER_LINK_LATENCY ||
	    kind == ALGO_COUNTER_MUX_LATENCY;
}

static double counter_total(const double sum[])
{
	double total = 0;
	for (unsigned i = 0; i < ALGO_LATENCY_BINS; i++)
		total += sum[i];
	return total;
}

/* The bin in which a share P of all lies below its end. */
static unsigned counter_quantile(const double sum[], double total, double p)
{
	double below = 0;
	unsigned i = 0;
	for (; i + 1 < ALGO_LATENCY_BINS; i++)
		if ((below += sum[i]) >= p * total)
			break;
	return i;
}

/* --- for people ------------------------------------------------------------- */

static double counter_bin_us(unsigned bin)
{
	return 1e-3 * (double)algo_latency_bin_ns(bin);
}

static void counter_put_bins(const char *name, const char *unit,
    const double sum[])
{
	const double total = counter_total(sum);
	printf("  %-14s %.0f %s", name, total, unit);
	if (total <= 0) {
		putchar('\n');
		return;
	}
	printf(", p50 %.4g us, p99 %.4g us\n",
	    counter_bin_us(counter_quantile(sum, total, 0.5)),
	    counter_bin_us(counter_quantile(sum, total, 0.99)));
	printf("  %14s %12s %12s\n", "us from", "to", "number");
	for (unsigned i = 0; i < ALGO_LATENCY_BINS; i++) {
		char end[32] = "any";
		if (i + 1 < ALGO_LATENCY_BINS)
			snprintf(end, sizeof(end), "%.5g", counter_bin_us(i));
		if (sum[i] > 0)
			printf("  %14.5g %12s %12.0f\n",
			    i > 0 ? counter_bin_us(i - 1) : 0, end, sum[i]);
	}
}

static void counter_put(const struct counter_sums *s, const char *what)
{
	printf("%s\n", what);
	for (unsigned k = 0; k < ALGO_N_COUNTER_KINDS; k++) {
		const char *name = counter_kinds[k].name;
		if (!(s->group->kinds >> k & 1))
			continue;
		if (counter_is_binned(k))
			counter_put_bins(name, counter_kinds[k].unit,
			    s->sum[k]);
		else
			printf("  %-14s %.0f %s\n", name, s->sum[k][0],
			    counter_kinds[k].unit);
		if (k == ALGO_COUNTER_CUSTOM)
			printf("  %-14s %.0f bytes\n", name, s->sum[k][1]);
	}
	const double *m[] = {s->sum[ALGO_COUNTER_MIRROR_SENT],
	    s->sum[ALGO_COUNTER_MIRROR_LOST]};
	if (*m[0] + *m[1] > 0)
		printf("  %-14s %.3g\n", "lost share", *m[1] / (*m[0] + *m[1]));
}

/* --- for programs ----------------------------------------------------------- */

static void counter_json_bins(const double sum[])
{
	const double total = counter_total(sum);
	const char *comma = "";
	printf("{\"n\": ");
	res_json_number(stdout, total);
	if (total > 0)
		printf(", \"p50_us\": %.9g, \"p99_us\": %.9g",
		    counter_bin_us(counter_quantile(sum, total, 0.5)),
		    counter_bin_us(counter_quantile(sum, total, 0.99)));
	printf(", \"bins\": [");
	for (unsigned i = 0; i < ALGO_LATENCY_BINS; i++)
		if (sum[i] > 0) {
			printf("%s{\"to_us\": %.9g, \"n\": ", comma,
			    counter_bin_us(i));
			res_json_number(stdout, sum[i]);
			printf("}");
			comma = ", ";
		}
	printf("]}");
}

static void counter_put_json(const struct counter_sums *s, const char *what)
{
	printf("{\"counter\": ");
	res_json_text(stdout, what);
	printf(", \"rows\": %zu", s->n_rows);
	for (unsigned k = 0; k < ALGO_N_COUNTER_KINDS; k++) {
		if (!(s->group->kinds >> k & 1))
			continue;
		printf(", \"%s\": ", counter_kinds[k].name);
		if (counter_is_binned(k))
			counter_json_bins(s->sum[k]);
		else
			res_json_number(stdout, s->sum[k][0]);
		if (k == ALGO_COUNTER_CUSTOM) {
			printf(", \"custom_bytes\": ");
			res_json_number(stdout, s->sum[k][1]);
		}
	}
	printf("}\n");
}

int cmd_trace_counter(int argc, char **argv)
{
	struct args a = {.to = SIM_NEVER};
	struct cmd_traces x;
	struct counter_sums s = {0};
	struct algo_counters c = {0};
	struct sim_err e = {0};
	int code = CMD_TROUBLE;
	cmd_parse(&trace_counter_line, argc, argv, &a);
	int rc = cmd_traces_open(&x, a.file, &e);
	if (rc == 0 &&
	    (rc = counter_parse(&x, a.what, &s.group, &s.id, &e)) < 0)
		code = CMD_USAGE;
	if (rc == 0)
		rc = res_traces_counters(x.file, a.from, a.to, &c, &e);
	if (rc == 0) {
		counter_add(&s, &c);
		if (a.json)
			counter_put_json(&s, a.what);
		else
			counter_put(&s, a.what);
	}
	algo_counters_free(&c);
	cmd_traces_close(&x);
	return rc < 0 ? cmd_fail(code, &e) : CMD_GOOD;
}
