/* experiments/cmd/samples_from.c -- what verbs that read samples share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/samples_from.h"

#include <inttypes.h>
#include <stdio.h>

#include "experiments/cmd/cmd.h"
#include "results/json.h"
#include "sim/text.h"

/* --- captures ---------------------------------------------------------------*/

static void samples_take_host(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e = {0};
	if (xp_tap_host(to, arg, &e) < 0)
		argp_error(g->state, "--host: %s", e.msg);
}

/* One of the words of its row, as an enum. */
static void samples_take_word(void *to, char *arg, const struct cmd_given *g)
{
	const size_t i = sim_word_find(g->option->values, arg);
	if (!g->option->values[i])
		argp_error(g->state, "--%s: \"%s\" is none of its words",
		    g->option->name, arg);
	*(unsigned *)to = (unsigned)i;
}

static void samples_take_line(void *to, char *arg, const struct cmd_given *g)
{
	*(uint64_t *)to =
	    cmd_number(arg, g->option->name, 1, 1000000000, g->state) * 1000000;
}

#define SAMPLES_AT(member) offsetof(struct xp_source_params, member)

const struct cmd_option cmd_samples_capture[] = {
    {.doc = "Where FILE is a capture (pcap or pcapng):"},
    {"host", 0, "[NAME=]ADDRESS,...",
	"a host: what it sends goes out, what it is sent comes in; IPv4, "
	"IPv6, or the MAC of its link; may be repeated",
	.take = samples_take_host, .at = SAMPLES_AT(tap)},
    {"start", 0, "HOW",
	"where runs begin: first_packet, or aligned, at the multiple of the "
	"width before it (first_packet)",
	.take = samples_take_word, .at = SAMPLES_AT(start),
	.values = algo_start_names},
    {"retx", 0, "HOW",
	"what is sent again: ttl or dscp, by that mark; seq, by numbers of "
	"TCP; auto, by ttl if some packets are so marked, else by seq (auto)",
	.take = samples_take_word, .at = SAMPLES_AT(tap.retx),
	.values = xp_tap_retx_names},
    {"cut", 0, NULL,
	"take what there is of a capture that ends within a packet",
	.take = cmd_take_flag, .at = SAMPLES_AT(tap.may_be_cut)},
    {"line", 0, "MBPS", "what a host's link carries (12500 Mbit/s)",
	.take = samples_take_line, .at = SAMPLES_AT(line_bps)},
    {0},
};

void cmd_samples_told(void *arg, const struct xp_tap_said *s)
{
	(void)arg;
	fprintf(stderr,
	    "%" PRIu64 " packets, %" PRIu64 " of the hosts; sent again by %s\n",
	    s->n_packets, s->n_of_hosts,
	    s->retx == XP_TAP_SEQ ? "sequence numbers" : "mark");
	if (s->n_within > 0)
		fprintf(stderr,
		    "%" PRIu64 " are of a host to itself: left out\n",
		    s->n_within);
	if (s->n_cut > 0)
		fprintf(stderr,
		    "%" PRIu64 " are cut within headers: connections and what "
		    "is sent again may be too few\n",
		    s->n_cut);
	if (s->n_forgotten > 0)
		fprintf(stderr,
		    "%" PRIu64 " directions of connections made room for "
		    "others: what is sent again may be too little\n",
		    s->n_forgotten);
	/* Processors are less than that apart. */
	if (s->back_ns >= SIM_MS)
		fprintf(stderr,
		    "times go back by up to %g ms: the capture's clock was "
		    "set meanwhile\n",
		    (double)s->back_ns / 1e6);
	if (s->was_cut)
		fprintf(stderr, "it ends within a packet\n");
}

/* --- tables -----------------------------------------------------------------*/

void cmd_rows_begin(struct cmd_rows *r, int json, const char *const head[])
{
	*r = (struct cmd_rows){.json = json};
	if (json) {
		printf("[");
		return;
	}
	for (size_t i = 0; head[i]; i++)
		printf("%s%s", i > 0 ? "\t" : "", head[i]);
	printf("\n");
}

/* What parts a row from that before it, and ends it, stands before the next. */
void cmd_rows_row(struct cmd_rows *r)
{
	if (r->json)
		printf(r->n_rows > 0 ? "},\n{" : "{");
	else if (r->n_rows > 0)
		printf("\n");
	r->n_rows++;
	r->n_cells = 0;
}

static void rows_cell(struct cmd_rows *r, const char *key)
{
	if (r->n_cells++ > 0)
		printf(r->json ? ", " : "\t");
	if (r->json)
		printf("\"%s\": ", key);
}

void cmd_rows_text(struct cmd_rows *r, const char *key, const char *text)
{
	rows_cell(r, key);
	if (r->json)
		res_json_text(stdout, text);
	else
		printf("%s", text);
}

void cmd_rows_number(struct cmd_rows *r, const char *key, double x)
{
	rows_cell(r, key);
	if (r->json)
		res_json_number(stdout, x);
	else
		printf("%.6g", x);
}

void cmd_rows_count(struct cmd_rows *r, const char *key, uint64_t n)
{
	rows_cell(r, key);
	printf("%" PRIu64, n);
}

void cmd_rows_end(struct cmd_rows *r)
{
	if (r->json)
		printf(r->n_rows > 0 ? "}]\n" : "]\n");
	else if (r->n_rows > 0)
		printf("\n");
}

void cmd_samples_warn(const char *path, const struct res_samples *r)
{
	const char *said = res_samples_said(r);
	if (said)
		fprintf(stderr, "culprit: %s: %s.\n", path, said);
}

static int samples_each(struct xp_racks *r,
    int (*work)(void *arg, const struct xp_racks *r, struct sim_err *e),
    void *arg, struct sim_err *e)
{
	size_t n = 0;
	int rc = xp_racks_next(r, &n, e);
	while (rc == 0 && n > 0)
		if ((rc = work(arg, r, e)) == 0)
			rc = xp_racks_next(r, &n, e);
	return rc;
}

int cmd_samples_end(int rc, const struct sim_err *e)
{
	if (rc == 0)
		return CMD_GOOD;
	return cmd_fail(rc == SIM_EINVAL || rc == SIM_ERANGE ? CMD_USAGE
							     : CMD_TROUBLE,
	    e);
}

int cmd_samples_each(const struct cmd_samples_from *from,
    const char *const head[], struct cmd_rows *rows,
    int (*work)(void *arg, const struct xp_racks *r, struct sim_err *e),
    void *arg)
{
	struct xp_racks_params p = from->racks;
	struct xp_racks r = {0};
	struct sim_err e = {0};
	p.source = &from->source;
	int rc = xp_racks_open(&r, from->file, &p, &e);
	if (rc == 0) {
		cmd_samples_warn(from->file, r.file);
		cmd_rows_begin(rows, from->json, head);
		rc = samples_each(&r, work, arg, &e);
		cmd_rows_end(rows);
	}
	xp_racks_close(&r);
	return cmd_samples_end(rc, &e);
}
