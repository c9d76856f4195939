/* experiments/cmd/samples_cause.c -- culprit samples cause: who lost what.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>

#include "algos/millisampler/loss_out.h"
#include "algos/millisampler/nic_stall.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/samples_from.h"

struct args {
	struct cmd_samples_from from;
	struct algo_loss_cause_params p;
	struct algo_nic_stall_params stall;
	int all;
};

static const struct cmd_option samples_cause_options[] = {
    CMD_SAMPLES_FROM,
    {"all", 'a', NULL, "also hosts that lost nothing, either way",
	.take = cmd_take_flag, .at = CMD_AT(all)},
    {"param", 'p', "KEY=VALUE", "a key (see below); may be repeated",
	.take = cmd_take_key, .at = CMD_AT(p), .with = algo_loss_cause_fields},
    {0},
};

static void samples_cause_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out, "Keys of --param:\n");
	cmd_field_help(out, algo_loss_cause_fields);
}

static const struct cmd_line samples_cause_line = {
    .options = samples_cause_options,
    .word = {"FILE", .take = cmd_take_one, .at = CMD_AT(from.file)},
    .without = "causes of losses in which FILE?",
    .more = samples_cause_more,
    .args_doc = "FILE|FOLDER",
    .doc =
	"Of each host to which, or by which, something was sent again, and "
	"each time that its rack was sampled: was it lost in a full buffer, or "
	"by a bad link? And how often more came at once than the line carries, "
	"as from a NIC that had stalled."
	"\vcause is of what came in: none, buffer, link. out is of what the "
	"host sent: none, link, or other, which is whatever lies behind its "
	"link. far, in either: by a bad link, but that of the other end, a "
	"host of the rack that sampled, too, and saw more of the same. ahead "
	"and out_ahead are by how much a bad link is likelier, as natural "
	"logarithms; it is accused where that is above the margin. Without ECN "
	"marks nothing is hot, and each loss looks like a link's.\n ",
};

static const char *const samples_cause_head[] = {"rack", "host", "cause",
    "ahead", "rate", "retx_packets", "packets", "buckets", "hot", "stalls",
    "out", "out_ahead", "out_retx_packets", "out_packets", NULL};

struct causes {
	const struct args *args;
	struct cmd_rows rows;
	struct algo_loss_causes found;
	struct algo_loss_ends ends;
	struct algo_nic_stalls stalls;
};

/* What HOST's link did one way; zeroed if nothing was sent again. */
static struct algo_loss_end samples_cause_end(const struct causes *s,
    uint32_t host, int out)
{
	for (size_t i = 0; i < s->ends.n; i++)
		if (s->ends.host[i] == host && s->ends.out[i] == out)
			return algo_loss_ends_at(&s->ends, i);
	return (struct algo_loss_end){0};
}

static const char *samples_cause_word(const struct algo_loss_end *end)
{
	return end->n_retx == 0 ? "none"
	    : !end->accused     ? (end->out ? "other" : "buffer")
	    : end->other        ? "far"
				: "link";
}

static void samples_cause_row(struct causes *s, const struct xp_racks *r,
    const struct algo_loss_cause *c, size_t n_stalls)
{
	const struct algo_loss_end in = samples_cause_end(s, c->host, 0),
				   out = samples_cause_end(s, c->host, 1);
	struct cmd_rows *t = &s->rows;
	char buf[16];
	cmd_rows_row(t);
	cmd_rows_number(t, "rack", r->rack[c->host]);
	cmd_rows_text(t, "host", xp_racks_host(r, c->host, buf));
	cmd_rows_text(t, "cause", samples_cause_word(&in));
	cmd_rows_number(t, "ahead", c->ahead);
	cmd_rows_number(t, "rate", c->rate);
	cmd_rows_number(t, "retx_packets", c->n_retx);
	cmd_rows_number(t, "packets", c->n_pkts);
	cmd_rows_number(t, "buckets", c->n_buckets);
	cmd_rows_number(t, "hot", c->n_hot);
	cmd_rows_number(t, "stalls", (double)n_stalls);
	cmd_rows_text(t, "out", samples_cause_word(&out));
	cmd_rows_number(t, "out_ahead", out.ahead);
	cmd_rows_number(t, "out_retx_packets", out.n_retx);
	cmd_rows_number(t, "out_packets", out.n_pkts);
}

static int samples_cause_rack(void *arg, const struct xp_racks *r,
    struct sim_err *e)
{
	struct causes *s = arg;
	struct algo_loss_cause_params p = s->args->p;
	p.width_ms = (double)r->p.width_ns / 1e6;
	algo_loss_causes_clear(&s->found);
	algo_nic_stalls_clear(&s->stalls);
	const uint32_t n_hosts = res_samples_info(r->file)->n_hosts;
	int rc = algo_loss_causes_find(&r->runs, &r->samples, n_hosts, &p,
	    &s->found, e);
	if (rc == 0)
		rc = algo_loss_ends_find(&r->runs, &r->samples, n_hosts, &p,
		    &s->found, &s->ends, e);
	if (rc == 0)
		rc = algo_nic_stalls_find(&r->runs, &r->samples,
		    &s->args->stall, &s->stalls, e);
	for (size_t i = 0; rc == 0 && i < s->found.n; i++) {
		const struct algo_loss_cause c =
		    algo_loss_causes_at(&s->found, i);
		size_t n_stalls = 0;
		for (size_t k = 0; k < s->stalls.n; k++)
			n_stalls += s->stalls.host[k] == c.host;
		if (s->args->all || c.n_retx > 0 || n_stalls > 0 ||
		    samples_cause_end(s, c.host, 1).n_retx > 0)
			samples_cause_row(s, r, &c, n_stalls);
	}
	return rc;
}

int cmd_samples_cause(int argc, char **argv)
{
	struct args a = {.from = CMD_SAMPLES_FROM_NONE};
	struct causes s = {.args = &a};
	struct sim_err e = {0};
	if (sim_field_defaults(algo_loss_cause_fields, &a.p, &e) < 0 ||
	    sim_field_defaults(algo_nic_stall_fields, &a.stall, &e) < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	cmd_parse(&samples_cause_line, argc, argv, &a);
	const int code = cmd_samples_each(&a.from, samples_cause_head, &s.rows,
	    samples_cause_rack, &s);
	algo_loss_causes_free(&s.found);
	algo_loss_ends_free(&s.ends);
	algo_nic_stalls_free(&s.stalls);
	return code;
}
