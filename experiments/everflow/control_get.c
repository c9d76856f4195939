/* experiments/everflow/control_get.c -- GET /traces: looked up while they are sent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/ring.h"
#include "experiments/everflow/control_parts.h"
#include "experiments/everflow/tell.h"
#include "sim/vec.h"

enum { GET_ROWS, GET_JSON, GET_COUNT };
static const char *const get_formats[] = {"rows", "json", "count", NULL};

struct get_stream {
	struct xp_http_stream base; /* first */
	struct xp_control *c;
	struct algo_filter filter, condition;
	sim_ns from, to, now;
	uint64_t limit, id, end, n;
	unsigned format;
	int is_begun, is_over;
	/* What is not sent yet. */
	FILE *file;
	char *text;
	size_t file_size, size, at; /* by the stream of memory; by us */
	struct algo_hop hop[ALGO_RING_MAX_COPIES];
};

static void get_one(struct get_stream *s, uint64_t id)
{
	struct algo_trace t;
	xp_keep_at(&s->c->keep, id, &t, s->hop);
	if (t.t_ns < s->from || t.t_ns >= s->to ||
	    !algo_filter_test(&s->filter, &t, s->hop, s->now) ||
	    !algo_filter_test(&s->condition, &t, s->hop, s->now))
		return;
	const struct topo *net = s->c->p.routing.topo;
	if (s->format == GET_JSON)
		xp_tell_json(s->file, net, s->n > 0, id, &t, s->hop);
	else if (s->format == GET_ROWS)
		xp_tell_row(s->file, net, id, &t, s->hop);
	s->n++;
}

static void get_head(struct get_stream *s)
{
	if (s->format == GET_JSON)
		fputs("[", s->file);
	else if (s->format == GET_ROWS)
		fputs(xp_tell_head, s->file);
	s->is_begun = 1;
}

static void get_tail(struct get_stream *s)
{
	if (s->format == GET_JSON)
		fputs("]\n", s->file);
	else if (s->format == GET_COUNT)
		fprintf(s->file, "%" PRIu64 "\n", s->n);
	s->is_over = 1;
}

/* Look at some more traces. What has been forgotten since it was asked for cannot
 * be told any more, and that must not look like an end. */
static int get_more(struct get_stream *s, size_t size)
{
	if (s->id < s->c->keep.first)
		return -1;
	rewind(s->file);
	s->at = 0;
	if (!s->is_begun)
		get_head(s);
	for (unsigned i = 0; i < XP_CONTROL_SLICE && s->id < s->end &&
	     s->n < s->limit && (size_t)ftell(s->file) < size;
	     i++)
		get_one(s, s->id++);
	if (s->id >= s->end || s->n >= s->limit)
		get_tail(s);
	else if (ftell(s->file) == 0)
		putc('\r', s->file);
	const long n = ftell(s->file);
	if (fflush(s->file) != 0 || ferror(s->file) || n < 0)
		return -1;
	s->size = (size_t)n;
	return 0;
}

static ssize_t get_read(struct xp_http_stream *x, char *buf, size_t size)
{
	struct get_stream *s = (struct get_stream *)(void *)x;
	if (s->at == s->size && s->is_over)
		return 0;
	if (s->at == s->size && get_more(s, size) < 0)
		return -1;
	const size_t n = s->size - s->at < size ? s->size - s->at : size;
	memcpy(buf, s->text + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

static void get_rest(struct xp_http_stream *x)
{
	struct get_stream *s = (struct get_stream *)(void *)x;
	if (s->file)
		fclose(s->file);
	free(s->text);
	free(s);
}

static int get_open(struct get_stream *s, struct sim_err *e)
{
	s->file = open_memstream(&s->text, &s->file_size);
	return s->file ? 0 : sim_fail(e, SIM_ENOMEM, "there is no memory.");
}

static int get_read_query(struct get_stream *s, struct xp_control_call *x,
    struct sim_err *e)
{
	static const char *const words[] = {"filter", "where", "from", "to",
	    "limit", "format", NULL};
	const struct xp_query *q = x->q;
	const struct algo_action *last;
	struct algo_request r = {.kind = ALGO_GET_TRACE};
	int rc;
	s->to = SIM_NEVER;
	s->limit = UINT64_MAX;
	if ((rc = xp_query_check(q, words, e)) < 0 ||
	    (rc = xp_query_time(q, "from", &s->from, e)) < 0 ||
	    (rc = xp_query_time(q, "to", &s->to, e)) < 0 ||
	    (rc = xp_query_number(q, "limit", 1, UINT64_MAX - 1, &s->limit,
		 e)) < 0 ||
	    (rc = xp_query_word(q, "format", get_formats, &s->format, e)) < 0)
		return rc;
	r.filter = xp_query_value(q, "filter");
	r.condition = xp_query_value(q, "where");
	r.start_ns = s->from;
	r.end_ns = s->to;
	if ((rc = xp_control_ask(x->c, &r, &last, e)) < 0)
		return rc;
	s->filter = *last->filter;
	s->condition = *last->condition;
	return 0;
}

void xp_control_get(struct xp_control_call *x)
{
	struct get_stream *s;
	struct sim_err e = {0};
	struct xp_control *c = x->c;
	int rc = SIM_ZALLOC(&s, 1, &e);
	if (rc == 0 &&
	    ((rc = get_read_query(s, x, &e)) < 0 || (rc = get_open(s, &e)) < 0))
		get_rest(&s->base);
	if (rc < 0) {
		xp_control_refuse(x->a, rc == SIM_ENOMEM ? 503 : 400, &e);
		return;
	}
	s->base = (struct xp_http_stream){get_read, get_rest};
	s->c = c;
	s->now = c->now;
	s->id = c->keep.first;
	s->end = c->keep.n;
	if (s->id > 0 && s->from <= c->keep.gone_ns)
		snprintf(x->a->note, sizeof(x->a->note),
		    "%" PRIu64 " traces, the latest of %.9f s, are forgotten",
		    s->id, 1e-9 * (double)c->keep.gone_ns);
	x->a->status = 200;
	x->a->counter = XP_HTTP_pages;
	x->a->type = s->format == GET_JSON ? xp_control_json : xp_control_plain;
	x->a->stream = &s->base;
}
