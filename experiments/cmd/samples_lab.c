/* experiments/cmd/samples_lab.c -- culprit samples lab: a rack of the kernel.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algos/millisampler/loss_cause.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/samples_from.h"
#include "experiments/rack/kernel.h"
#include "results/samples.h"

struct args {
	const char *output;
	struct xp_kernel_rack_params p;
	struct algo_loss_cause_params cause;
	sim_ns lasts;
	int force, json;
};

/* RATE@HOST: "0.001@3". */
static void take_loss(void *to, char *arg, const struct cmd_given *g)
{
	struct xp_kernel_rack_params *p = to;
	char *end;
	p->loss = strtod(arg, &end);
	if (end == arg || *end != '@' || !(p->loss >= 0 && p->loss <= 1))
		argp_error(g->state,
		    "--loss %s: it is a probability and a host, as 0.001@3",
		    arg);
	p->lossy =
	    (uint32_t)cmd_number(end + 1, "--loss", 0, UINT32_MAX, g->state);
}

static const struct cmd_option samples_lab_options[] = {
    {"hosts", 0, "N", "of the rack (16)", .take = cmd_take_u32,
	.at = CMD_AT(p.hosts), .min = 2, .max = 64},
    {"incast", 0, "N", "senders to one host in a round (15)",
	.take = cmd_take_u32, .at = CMD_AT(p.incast), .min = 1, .max = 63},
    {"rounds", 0, "N", "of incast, in all (16); 0: none", .take = cmd_take_u32,
	.at = CMD_AT(p.rounds), .max = 1000000},
    {"loss", 0, "RATE@HOST", "the link to this host loses packets, as 0.001@3",
	.take = take_loss, .at = CMD_AT(p)},
    {"for", 0, "TIME", "hosts begin to send for so long (30s)",
	.take = cmd_take_time, .at = CMD_AT(lasts)},
    {"seed", 0, "N", "of traffic and of the link's losses (1)",
	.take = cmd_take_u64, .at = CMD_AT(p.seed), .max = UINT64_MAX},
    {"param", 'p', "KEY=VALUE", "a key of traffic (see below); may be repeated",
	.take = cmd_take_key, .at = CMD_AT(p), .with = xp_kernel_rack_fields},
    {"queue", 'q', "KEY=VALUE", "of the switch's buffer, likewise",
	.take = cmd_take_key, .at = CMD_AT(p.queue),
	.with = netns_phantom_fields},
    {"cause", 'c', "KEY=VALUE", "of loss_cause, likewise", .take = cmd_take_key,
	.at = CMD_AT(cause), .with = algo_loss_cause_fields},
    {"output", 'o', "FILE", "samples (default: none are kept)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it has no samples, or is damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {"json", 0, NULL, "JSON, an array of objects", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {0},
};

static void samples_lab_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out, "Keys of --param:\n");
	cmd_field_help(out, xp_kernel_rack_fields);
	fprintf(out, "Keys of --queue:\n");
	cmd_field_help(out, netns_phantom_fields);
	fprintf(out,
	    "Keys of --cause, of which here are segment=1514, least=757, "
	    "ce_share=0.2,\nrto=40, rto_to=160, cold=1e-3, healthy=2e-4, and "
	    "width that of "
	    "--param:\n");
	cmd_field_help(out, algo_loss_cause_fields);
}

static const struct cmd_line samples_lab_line = {
    .options = samples_lab_options,
    .more = samples_lab_more,
    .args_doc = "",
    .doc =
	"Build a rack of network namespaces of this machine, let its hosts "
	"send to one at once by the kernel's TCP, have them count in short "
	"buckets, and say of each whether a full buffer lost its packets or a "
	"bad link, beside what really did."
	"\vAt each port of the switch eBPF reckons a queue of a shared buffer: "
	"it drops what would not have fitted, and marks what would have waited "
	"long. What it dropped (buffer) and the link lost (link) is counted "
	"apart; a link is accused where cause says so. It takes root and Linux "
	"6.11, as `culprit lab run`; nothing is left, however it ends. What is "
	"sent when is the same in each run, times of the kernel are not.\n ",
};

/* --- output ----------------------------------------------------------------- */

static int samples_lab_write(const struct args *a,
    const struct xp_kernel_rack_seen *s, struct sim_err *e)
{
	const struct res_samples_info info = {.spec = "",
	    .seed = a->p.seed,
	    .n_hosts = a->p.hosts};
	struct res_samples_out *w = NULL;
	struct res_hosts hosts = {0};
	int rc = res_samples_create(&w, a->output, &info, e);
	for (uint32_t h = 0; rc == 0 && h < a->p.hosts; h++) {
		struct res_host one = {.host = h};
		snprintf(one.name.text, sizeof(one.name.text), "host%u", h);
		rc = res_hosts_add(&hosts, &one, e);
	}
	if (rc == 0 && (rc = res_samples_add_hosts(w, &hosts, e)) == 0 &&
	    (rc = res_samples_add(w, &s->runs, &s->samples, e)) == 0) {
		rc = res_samples_finish(w, e);
		w = NULL;
	}
	res_samples_discard(w);
	res_hosts_free(&hosts);
	return rc;
}

static const char *const samples_lab_head[] = {"host", "cause", "ahead", "rate",
    "retx_packets", "packets", "hot", "link", "buffer", "marked", "longest",
    "verdict", NULL};

/* A link is at fault if it was to lose packets, and did. */
static const char *samples_lab_verdict(int accused, uint64_t n_lost)
{
	if (accused)
		return n_lost > 0 ? "right" : "wrong";
	return n_lost > 0 ? "missed" : "right";
}

static void samples_lab_row(struct cmd_rows *t, const struct algo_loss_cause *c,
    const struct xp_kernel_rack_port *port)
{
	const uint64_t n_lost = port->link.n_random;
	char name[16];
	snprintf(name, sizeof(name), "host%u", c->host);
	cmd_rows_row(t);
	cmd_rows_text(t, "host", name);
	cmd_rows_text(t, "cause", algo_loss_cause_names[c->cause]);
	cmd_rows_number(t, "ahead", c->ahead);
	cmd_rows_number(t, "rate", c->rate);
	cmd_rows_number(t, "retx_packets", c->n_retx);
	cmd_rows_number(t, "packets", c->n_pkts);
	cmd_rows_number(t, "hot", c->n_hot);
	cmd_rows_number(t, "link", (double)n_lost);
	cmd_rows_number(t, "buffer", (double)port->queue.n_dropped);
	cmd_rows_number(t, "marked", (double)port->queue.n_marked);
	cmd_rows_number(t, "longest", (double)port->queue.longest);
	cmd_rows_text(t, "verdict",
	    samples_lab_verdict(c->cause == ALGO_LOSS_LINK, n_lost));
}

/* What the kernel dropped otherwise is a loss that no column has. */
static void samples_lab_sum(const struct args *a,
    const struct xp_kernel_rack_seen *s)
{
	uint64_t n = 0;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		n += s->port[h].queue.n_dropped;
	fprintf(stderr,
	    "%" PRIu64 " connections, %" PRIu64 " failed, %" PRIu64
	    " packets sent again, %" PRIu64 " dropped by full buffers (%" PRIu64
	    " by the kernel's count)%s%s\n",
	    s->n_flows, s->n_failed, s->n_retx, n, s->n_at_ports,
	    a->output ? " -> " : "", a->output ? a->output : "");
	if (s->n_other > 0)
		fprintf(stderr,
		    "the kernel dropped %" PRIu64
		    " packets for reasons of its own (%s)\n",
		    s->n_other, s->other);
	if (s->n_late > 0)
		fprintf(stderr,
		    "this machine was too slow: hosts sent behind the last "
		    "bucket, which nobody counted; a slower line (-q line=) or "
		    "wider buckets (-p width=) are for it\n");
	if (s->n_raced > 0)
		fprintf(stderr,
		    "%" PRIu64 " packets passed the queues uncounted, as "
		    "another processor did not let them in\n",
		    s->n_raced);
}

static int samples_lab_work(const struct args *a, struct xp_kernel_rack_seen *s,
    struct algo_loss_causes *found, struct sim_err *e)
{
	struct cmd_rows rows = {0};
	int rc = 0;
	if (a->output)
		rc = cmd_make_room(a->output, "samples", a->force, e);
	if (rc < 0 || (rc = xp_kernel_rack_run(&a->p, s, e)) < 0 ||
	    (a->output && (rc = samples_lab_write(a, s, e)) < 0) ||
	    (rc = algo_loss_causes_find(&s->runs, &s->samples, a->p.hosts,
		 &a->cause, found, e)) < 0)
		return rc;
	cmd_rows_begin(&rows, a->json, samples_lab_head);
	for (size_t i = 0; i < found->n; i++) {
		const struct algo_loss_cause c = algo_loss_causes_at(found, i);
		samples_lab_row(&rows, &c, &s->port[c.host]);
	}
	cmd_rows_end(&rows);
	samples_lab_sum(a, s);
	return 0;
}

/* Of the kernel's TCP: frames have an Ethernet header; its timers, of which
 * --param rto is the least, wait for the round trip of a full queue, too, and
 * double; reno halves at a mark, so that queues are above the threshold for a part
 * of a burst alone; and acknowledgements that a link loses have others send again. */
static void samples_lab_usual(struct algo_loss_cause_params *p)
{
	p->segment = 1514;
	p->least = 757;
	p->ce_share = .2;
	p->rto_ms = 40;
	p->rto_to_ms = 160;
	p->healthy = 2e-4;
	p->cold = 1e-3;
}

int cmd_samples_lab(int argc, char **argv)
{
	struct args a =
	    {.p = {.hosts = 16, .incast = 15, .rounds = 16, .seed = 1},
		.lasts = 30 * SIM_SEC};
	struct xp_kernel_rack_seen seen = {.n_hosts = 0};
	struct algo_loss_causes found = {0};
	struct sim_err e = {0};
	if (sim_field_defaults(xp_kernel_rack_fields, &a.p, &e) < 0 ||
	    sim_field_defaults(netns_phantom_fields, &a.p.queue, &e) < 0 ||
	    sim_field_defaults(algo_loss_cause_fields, &a.cause, &e) < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	samples_lab_usual(&a.cause);
	cmd_parse(&samples_lab_line, argc, argv, &a);
	a.cause.width_ms = a.p.width_ms;
	a.p.for_s = 1e-9 * (double)a.lasts;
	const int rc = samples_lab_work(&a, &seen, &found, &e);
	algo_loss_causes_free(&found);
	xp_kernel_rack_free(&seen);
	return rc == 0 ? CMD_GOOD : cmd_fail(cmd_exit_of(rc), &e);
}
