/* experiments/cmd/samples_show.c -- culprit samples show: a run, drawn.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/samples_from.h"
#include "experiments/millisampler/strip.h"
#include "experiments/report/markup.h"

struct args {
	const char *file, *host, *output;
	sim_ns width_ns;
	struct xp_source_params source;
	uint64_t run;
};

static void samples_show_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->file)
		a->file = arg;
	else if (!a->host)
		a->host = arg;
	else
		argp_error(g->state, "\"%s\" is one word too many", arg);
}

static const struct cmd_option samples_show_options[] = {
    {"run", 'r', "N", "the N-th of the host's runs, from 0 on",
	.take = cmd_take_u64, .at = CMD_AT(run), .max = UINT32_MAX},
    {"output", 'o', "FILE.svg", "draw it there", .take = cmd_take_file,
	.at = CMD_AT(output)},
    {"width", 0, "TIME", "runs with such buckets (any; of a capture 1ms)",
	.take = cmd_take_time, .at = CMD_AT(width_ns)},
    {.with = cmd_samples_capture, .at = CMD_AT(source)},
    {0},
};

static const struct cmd_line samples_show_line = {
    .options = samples_show_options,
    .word = {"WORD", .take = samples_show_word},
    .without = "samples of which FILE?",
    .args_doc = "FILE|FOLDER [HOST]",
    .doc =
	"Draw a run of a host, six series one below the other: bytes in and "
	"out, those marked by queues, those sent again, connections. Without "
	"HOST, the first run of all."
	"\vA column shows the greatest of its buckets. Bytes are drawn against "
	"what the line carries in a bucket; what was sent again against its "
	"own maximum.\n ",
};

static unsigned samples_show_columns(void)
{
	struct winsize w = {0};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20)
		return w.ws_col - 4u;
	return 76;
}

/* Row of the run that is meant. */
static int samples_show_find(const struct args *a, const struct xp_racks *r,
    size_t *row, struct sim_err *e)
{
	const struct obs_runs *runs = res_samples_runs(r->file);
	const uint32_t host =
	    a->host ? xp_racks_find(r, a->host) : runs->host[0];
	uint64_t n = 0;
	if (host == res_samples_info(r->file)->n_hosts)
		return sim_fail(e, SIM_EINVAL, "%s has no host \"%s\".",
		    a->file, a->host);
	for (size_t i = 0; i < runs->n; i++)
		if (runs->host[i] == host &&
		    (a->width_ns == 0 || runs->width_ns[i] == a->width_ns) &&
		    n++ == a->run) {
			*row = i;
			return 0;
		}
	return sim_fail(e, SIM_EINVAL,
	    "the host has %" PRIu64 " runs, from 0 on; there is no %" PRIu64
	    ".",
	    n, a->run);
}

static int samples_show_draw(const struct args *a, const struct xp_strip *s,
    struct sim_err *e)
{
	struct mark_buffer b;
	int rc = mark_open(&b, e);
	if (rc < 0)
		return rc;
	xp_strip_draw(s, b.out);
	if ((rc = mark_close(&b, 0, e)) == 0)
		rc = cmd_write_file(a->output, b.text, b.n, e);
	free(b.text);
	if (rc == 0)
		printf("-> %s\n", a->output);
	return rc;
}

static int samples_show_run(const struct args *a, struct xp_racks *r,
    struct sim_err *e)
{
	const struct xp_racks_params p = {.width_ns = a->width_ns,
	    .source = &a->source};
	struct xp_strip s = {0};
	char title[96], buf[16];
	size_t row = 0;
	int rc = xp_racks_open(r, a->file, &p, e);
	if (rc == 0)
		cmd_samples_warn(a->file, r->file);
	if (rc < 0 || (rc = samples_show_find(a, r, &row, e)) < 0 ||
	    (rc = res_samples_load(r->file, row, 1, &r->one, e)) < 0)
		return rc;
	const struct obs_run run = obs_runs_at(res_samples_runs(r->file), row);
	rc = xp_strip_make(&s, &run, &r->one,
	    a->output ? 1000 : samples_show_columns(), e);
	snprintf(title, sizeof(title), "%s, run %zu of all",
	    xp_racks_host(r, run.host, buf), row);
	s.title = title;
	if (rc == 0 && a->output)
		rc = samples_show_draw(a, &s, e);
	else if (rc == 0)
		xp_strip_print(&s, stdout);
	xp_strip_free(&s);
	return rc;
}

int cmd_samples_show(int argc, char **argv)
{
	struct args a = {.source = {.told = cmd_samples_told}};
	struct xp_racks r = {0};
	struct sim_err e = {0};
	cmd_parse(&samples_show_line, argc, argv, &a);
	const int rc = samples_show_run(&a, &r, &e);
	xp_racks_close(&r);
	return cmd_samples_end(rc, &e);
}
