/* experiments/cmd/samples_bursts.c -- culprit samples bursts, rack.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "algos/millisampler/bursts.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/samples_from.h"
#include "sim/vec.h"

struct args {
	struct cmd_samples_from from;
	struct algo_burst_params p;
};

static const struct cmd_option samples_bursts_options[] = {
    CMD_SAMPLES_FROM,
    {"param", 'p', "KEY=VALUE", "a key of bursts (see below); may be repeated",
	.take = cmd_take_key, .at = CMD_AT(p), .with = algo_burst_fields},
    {0},
};

static void samples_bursts_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out, "Keys of --param:\n");
	cmd_field_help(out, algo_burst_fields);
}

/* A rack's runs on common buckets, and their bursts. */
struct seen {
	const struct args *args;
	struct cmd_rows rows;
	struct algo_series series;
	struct algo_bursts bursts;
	uint32_t *run;
	size_t cap;
};

static int seen_rack(struct seen *s, const struct xp_racks *r,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&s->run, &s->cap, r->runs.n, e);
	for (uint32_t i = 0; rc == 0 && i < r->runs.n; i++)
		s->run[i] = i;
	algo_bursts_clear(&s->bursts);
	if (rc == 0)
		rc = algo_series_align(&s->series, &r->runs, &r->samples,
		    s->run, r->runs.n, NULL, e);
	return rc < 0
	    ? rc
	    : algo_bursts_find(&s->series, &s->args->p, &s->bursts, e);
}

static void seen_free(struct seen *s)
{
	algo_series_free(&s->series);
	algo_bursts_free(&s->bursts);
	free(s->run);
}

/* --- bursts ----------------------------------------------------------------- */

static const struct cmd_line samples_bursts_line = {
    .options = samples_bursts_options,
    .word = {"FILE", .take = cmd_take_one, .at = CMD_AT(from.file)},
    .without = "bursts of which FILE?",
    .more = samples_bursts_more,
    .args_doc = "FILE|FOLDER",
    .doc =
	"List the bursts of each host, with how many hosts of the rack were "
	"in one, too, and whether anything was lost."
	"\vA burst is buckets in a row in each of which more than half of what "
	"the line carries came in. It is lossy if something sent again came "
	"in with it or right behind it. Connections are the mean of estimates, "
	"of which 621 says that there are too many to be told: see `culprit "
	"samples sketch`.",
};

static const char *const samples_bursts_head[] = {"rack", "host", "t_ms", "ms",
    "bytes", "peak_share", "ce_share", "retx_bytes", "conns", "contention_mean",
    "contention_max", "lossy", "incast", NULL};

static int samples_bursts_rack(void *arg, const struct xp_racks *r,
    struct sim_err *e)
{
	struct seen *s = arg;
	struct cmd_rows *t = &s->rows;
	char buf[16];
	const int rc = seen_rack(s, r, e);
	const double ms = (double)s->series.width_ns / 1e6;
	for (size_t i = 0; rc == 0 && i < s->bursts.n; i++) {
		const struct algo_burst b = algo_bursts_at(&s->bursts, i);
		const double line = (double)r->runs.line_bps[b.run] / 8e3 * ms;
		cmd_rows_row(t);
		cmd_rows_number(t, "rack", r->rack[b.host]);
		cmd_rows_text(t, "host", xp_racks_host(r, b.host, buf));
		cmd_rows_number(t, "t_ms", b.first * ms);
		cmd_rows_number(t, "ms", b.n_buckets * ms);
		cmd_rows_number(t, "bytes", b.in_bytes);
		cmd_rows_number(t, "peak_share", b.peak_bytes / line);
		cmd_rows_number(t, "ce_share", b.ce_bytes / b.in_bytes);
		cmd_rows_number(t, "retx_bytes", b.retx_bytes);
		cmd_rows_number(t, "conns", b.conns);
		cmd_rows_number(t, "contention_mean", b.contention);
		cmd_rows_number(t, "contention_max", b.contention_max);
		cmd_rows_number(t, "lossy", b.lossy);
		cmd_rows_number(t, "incast", b.incast);
	}
	return rc;
}

/* --- racks ------------------------------------------------------------------ */

static const struct cmd_line samples_rack_line = {
    .options = samples_bursts_options,
    .word = {"FILE", .take = cmd_take_one, .at = CMD_AT(from.file)},
    .without = "racks of which FILE?",
    .more = samples_bursts_more,
    .args_doc = "FILE|FOLDER",
    .doc =
	"How many hosts of each rack were in a burst at a time, and how many "
	"bursts lost something; a line for each time that a rack was sampled."
	"\vRuns are brought onto common buckets first. Contention is hosts in "
	"a burst, over buckets: mean, 10th, 50th and 90th percentile, "
	"maximum; met, the share of hosts' burst buckets that another's met; "
	"dispersion, variance by mean.\n ",
};

static const char *const samples_rack_head[] = {"rack", "start_ns", "hosts",
    "ms", "bursts", "lossy", "incasts", "contention_mean", "contention_p10",
    "contention_p50", "contention_p90", "contention_max", "met", "dispersion",
    NULL};

static void samples_rack_row(struct seen *s, const struct xp_racks *r,
    const struct algo_contention *c)
{
	struct cmd_rows *t = &s->rows;
	size_t n_lossy = 0, n_incast = 0;
	for (size_t i = 0; i < s->bursts.n; i++) {
		n_lossy += s->bursts.lossy[i];
		n_incast += s->bursts.incast[i];
	}
	cmd_rows_row(t);
	cmd_rows_number(t, "rack", r->rack[r->runs.host[0]]);
	char start[24];
	/* All of its digits, which no double holds. */
	snprintf(start, sizeof(start), "%" PRIu64, s->series.start_ns);
	cmd_rows_text(t, "start_ns", start);
	cmd_rows_number(t, "hosts", (double)r->runs.n);
	cmd_rows_number(t, "ms",
	    (double)c->n * (double)s->series.width_ns / 1e6);
	cmd_rows_number(t, "bursts", (double)s->bursts.n);
	cmd_rows_number(t, "lossy", (double)n_lossy);
	cmd_rows_number(t, "incasts", (double)n_incast);
	cmd_rows_number(t, "contention_mean", c->mean);
	cmd_rows_number(t, "contention_p10", c->p10);
	cmd_rows_number(t, "contention_p50", c->p50);
	cmd_rows_number(t, "contention_p90", c->p90);
	cmd_rows_number(t, "contention_max", c->max);
	cmd_rows_number(t, "met", c->met);
	cmd_rows_number(t, "dispersion", c->index);
}

static int samples_rack_rack(void *arg, const struct xp_racks *r,
    struct sim_err *e)
{
	struct seen *s = arg;
	struct algo_contention c;
	int rc = seen_rack(s, r, e);
	if (rc == 0)
		rc = algo_contention_of(&s->series, s->args->p.share, &c, e);
	if (rc == 0)
		samples_rack_row(s, r, &c);
	return rc;
}

static int samples_bursts_run(const struct cmd_line *line,
    const char *const head[],
    int (*work)(void *arg, const struct xp_racks *r, struct sim_err *e),
    int argc, char **argv)
{
	struct args a = {.from = CMD_SAMPLES_FROM_NONE};
	struct seen s = {.args = &a};
	struct sim_err e = {0};
	if (sim_field_defaults(algo_burst_fields, &a.p, &e) < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	cmd_parse(line, argc, argv, &a);
	const int code = cmd_samples_each(&a.from, head, &s.rows, work, &s);
	seen_free(&s);
	return code;
}

int cmd_samples_bursts(int argc, char **argv)
{
	return samples_bursts_run(&samples_bursts_line, samples_bursts_head,
	    samples_bursts_rack, argc, argv);
}

int cmd_samples_rack(int argc, char **argv)
{
	return samples_bursts_run(&samples_rack_line, samples_rack_head,
	    samples_rack_rack, argc, argv);
}
