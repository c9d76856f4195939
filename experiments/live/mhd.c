/* experiments/live/mhd.c -- serves experiments/live/serve.h on a socket.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/mhd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LATE_DEFINE
#include "experiments/live/mhd_parts.h"
#include "sim/vec.h"

/* --- lists ---------------------------------------------------------------- */
static ssize_t read_list(void *list, uint64_t at, char *buf, size_t size)
{
	const size_t n = xp_http_list_read(list, buf, size);
	(void)at;
	return n > 0 ? (ssize_t)n : MHD_CONTENT_READER_END_OF_STREAM;
}

static void rest_list(void *list)
{
	xp_http_list_rest(list);
}

/* A list that fits the buffer goes in one piece, with its length; a longer one
 * is made while it is sent. */
static struct MHD_Response *list_response(struct xp_http_server *s,
    const struct xp_http_answer *a, int *is_open)
{
	struct xp_http_list *list;
	struct MHD_Response *r;
	if (xp_http_list_take(&list, &s->lists, a->server, (int)a->of_6, NULL) <
	    0)
		return NULL;
	*is_open = !list->is_whole;
	if (list->is_whole)
		r = MHD_create_response_from_buffer_with_free_callback_cls(
		    list->n, list->buf, rest_list, list);
	else
		r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
		    XP_HTTP_HEAD_BYTES, read_list, list, rest_list);
	if (!r)
		xp_http_list_rest(list);
	else if (list->mark[0] != '\0')
		MHD_add_response_header(r, XP_LIST_HEADER, list->mark);
	return r;
}

/* What is made while it is sent; it is rested however that ends. */
static ssize_t read_stream(void *arg, uint64_t at, char *buf, size_t size)
{
	struct xp_http_stream *x = arg;
	(void)at;
	const ssize_t n = x->read(x, buf, size);
	return n > 0 ? n
	    : n == 0 ? MHD_CONTENT_READER_END_OF_STREAM
		     : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void rest_stream(void *arg)
{
	struct xp_http_stream *x = arg;
	x->rest(x);
}

static struct MHD_Response *stream_response(struct xp_http_stream *x)
{
	struct MHD_Response *r =
	    MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
		XP_HTTP_HEAD_BYTES, read_stream, x, rest_stream);
	if (!r)
		x->rest(x);
	return r;
}

/* Bytes that nobody is told of are copied. */
static struct MHD_Response *bytes_response(struct xp_http_answer *a)
{
	void *bytes = (void *)(uintptr_t)a->bytes;
	if (!a->rest)
		return MHD_create_response_from_buffer(a->n_bytes, bytes,
		    MHD_RESPMEM_MUST_COPY);
	struct MHD_Response *r =
	    MHD_create_response_from_buffer_with_free_callback_cls(a->n_bytes,
		bytes, a->rest, a->of);
	if (!r)
		a->rest(a->of);
	return r;
}

/* That there is no list is the operator's word, too. Where it cannot be signed an
 * agent takes it as no answer. */
static void mhd_sign_none(const struct xp_http_server *s,
    struct MHD_Response *r, struct topo_ip ip)
{
	char mark[XP_LIST_MARK];
	if (s->service.signer &&
	    xp_list_sign_none(s->service.signer, ip, (uint64_t)time(NULL), mark,
		NULL) == 0)
		MHD_add_response_header(r, XP_LIST_HEADER, mark);
}

/* --- requests ------------------------------------------------------------- */
/* From here on the deadline is that of sending, which begins with the
 * answer. */
static enum MHD_Result send_answer(struct xp_http_server *s,
    struct MHD_Connection *mhd, struct xp_http_conn *c,
    struct xp_http_answer *a)
{
	struct MHD_Response *r = NULL;
	int is_open = a->stream != NULL;
	if (a->is_pinglist && !(r = list_response(s, a, &is_open)))
		xp_http_no_memory(a);
	else if (a->stream && !(r = stream_response(a->stream)))
		return MHD_NO;
	if (!r)
		r = bytes_response(a);
	if (!r)
		return MHD_NO;
	xp_http_count(s, a->counter, 1);
	if (a->counter == XP_HTTP_pinglists ||
	    a->counter == XP_HTTP_not_modified ||
	    a->counter == XP_HTTP_batches_taken)
		s->last_s = (uint64_t)time(NULL);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	/* A proxy may keep a list but must ask each time: agents are stopped by
	 * what the controller says now. */
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	if (a->etag[0] != '\0')
		MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, a->etag);
	/* libmicrohttpd ends a body whose length is not known also where there
	 * is none, and the next answer would begin with that. */
	if (c->is_head && is_open)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	for (const char *const *h = a->headers; h && *h; h += 2)
		MHD_add_response_header(r, h[0], h[1]);
	if (!topo_ip_is_zero(&a->none_ip))
		mhd_sign_none(s, r, a->none_ip);
	if (a->note[0] != '\0')
		MHD_add_response_header(r, "Culprit-Note", a->note);
	if (a->allow)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, a->allow);
	xp_http_set_phase(s, c, XP_HTTP_SENDING);
	const enum MHD_Result result = MHD_queue_response(mhd, a->status, r);
	MHD_destroy_response(r);
	return result;
}

/* Whether the stop file is there. Anything but a clear "there is no such file",
 * such as a disk that fails, stops all agents: those that are stopped by
 * mistake do no harm, those that run by mistake may. */
static int is_stopped(const char *file)
{
	if (!file)
		return 0;
	return access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Counters are read one by one while others go up; a page of numbers need not
 * be of one moment. */
static void look_at_site(struct xp_http_server *s, const char *target,
    struct xp_http_site *site)
{
	pthread_mutex_lock(&s->lock);
	const char *stop_file = s->service.stop_file;
	pthread_mutex_unlock(&s->lock);
	*site = (struct xp_http_site){
	    .plan = s->service.plan,
	    .stopped = is_stopped(stop_file),
	    .uptime_s = (xp_http_now_ms() - s->start_ms) / 1000,
	    .start_s = s->start_s,
	    .last_s = s->last_s,
	};
	for (int i = 0; i < XP_HTTP_N_COUNTERS; i++)
		site->count[i] = s->count[i];
	pthread_mutex_lock(&s->lock);
	site->n_open = s->n_conns;
	site->held = s->held;
	pthread_mutex_unlock(&s->lock);
	/* It takes a look into /proc, which no other answer needs. */
	if (strcmp(target, "/metrics") == 0)
		xp_daemon_cost(&site->cost);
}

/* The store takes one batch at a time, and syncing may take long; so it has a
 * lock of its own, and connections go on meanwhile. */
static void mhd_keep(struct xp_http_server *s, struct xp_http_conn *c,
    struct xp_http_answer *a)
{
	struct sim_err e = {0};
	int is_new = 0;
	pthread_mutex_lock(&s->store_lock);
	const int rc = xp_batch_store_put(s->service.store, &a->batch, c->body,
	    c->n_body, time(NULL), &is_new, &e);
	pthread_mutex_lock(&s->lock);
	s->held = xp_batch_store_held(s->service.store);
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->store_lock);
	if (rc == 0 && is_new)
		xp_http_count(s, XP_HTTP_records, a->batch.n);
	if (rc == 0 && is_new)
		xp_http_note_batch(s, c, a->batch.src);
	xp_http_kept(a, rc, is_new, &e);
}

static int mhd_is_for(void *peer, struct topo_ip address)
{
	return xp_tls_is_for(peer, address);
}

/* Decide by the head alone. An answer that is given before the body has come
 * ends the connection, as the library would have to read the body to find the
 * next request. A request without a body need not pay that, so its answer waits
 * for the call at the end. */
static enum MHD_Result take_head(struct xp_http_server *s,
    struct MHD_Connection *mhd, struct xp_http_conn *c, const char *method,
    const char *version)
{
	struct xp_http_request q = {.method = method,
	    .target = c->target,
	    .is_http_1_0 = strcmp(version, MHD_HTTP_VERSION_1_0) == 0,
	    .is_for = s->tls ? mhd_is_for : NULL,
	    .peer = &c->peer};
	struct xp_http_site site;
	struct xp_http_answer a;
	const int at_end = c->has_head;
	c->is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	c->has_head = 1;
	xp_http_see_head(mhd, &q);
	/* A host in the target is the one that is meant (RFC 9112 3.2.2). */
	if (c->host)
		q.host = c->host;
	if (!at_end && q.length == 0 && q.n_codings == 0)
		return MHD_YES;
	look_at_site(s, c->target, &site);
	memset(&a, 0, offsetof(struct xp_http_answer, text));
	if (xp_http_is_ill(&q, &a)) {
		c->wants_body = 0;
	} else if (s->service.page && q.length == 0 && q.n_codings == 0 &&
	    s->service.page(s->service.of_page, &site, &q, &a)) {
		c->wants_body = 0;
	} else if (s->service.answer) {
		s->service.answer(s->service.arg, &site, &q, &a);
	} else {
		c->wants_body =
		    xp_http_head(&site, &q, &a) == XP_HTTP_SEND_BODY;
	}
	if (!c->wants_body)
		return send_answer(s, mhd, c, &a);
	xp_http_set_phase(s, c, XP_HTTP_BODY);
	return MHD_YES;
}

static enum MHD_Result take_end(struct xp_http_server *s,
    struct MHD_Connection *mhd, struct xp_http_conn *c, const char *method,
    const char *version)
{
	const struct xp_http_request q = {.body = c->body,
	    .n_body = c->n_body,
	    .is_for = s->tls ? mhd_is_for : NULL,
	    .peer = &c->peer};
	struct xp_http_answer a;
	if (!c->wants_body) {
		const enum MHD_Result result =
		    take_head(s, mhd, c, method, version);
		if (!c->wants_body)
			return result;
	}
	if (xp_http_body(&q, &a) == XP_HTTP_KEEP)
		mhd_keep(s, c, &a);
	return send_answer(s, mhd, c, &a);
}

static enum MHD_Result take_piece(struct xp_http_server *s,
    struct xp_http_conn *c, const char *bytes, size_t n)
{
	/* A body of chunks says no length, so the limit must be kept while it
	 * comes. */
	if (n > ALGO_PINGMESH_WIRE_MAX - c->n_body) {
		xp_http_count(s, XP_HTTP_cut_off, 1);
		c->is_cut = 1;
		return MHD_NO;
	}
	if (SIM_RESERVE(&c->body, &c->cap_body, c->n_body + n, NULL) < 0)
		return MHD_NO;
	memcpy(c->body + c->n_body, bytes, n);
	c->n_body += n;
	xp_http_note_body(s, c);
	return MHD_YES;
}

/* The library calls this with the head, with each piece of the body, and at the
 * end. */
enum MHD_Result xp_http_handle(void *arg, struct MHD_Connection *mhd,
    const char *url, const char *method, const char *version, const char *piece,
    size_t *n_piece, void **context)
{
	struct xp_http_server *s = arg;
	struct xp_http_conn *c = xp_http_conn_of(mhd);
	(void)url;
	(void)context;
	if (!c || !c->target)
		return MHD_NO;
	if (!c->has_head)
		return take_head(s, mhd, c, method, version);
	if (*n_piece > 0) {
		const size_t n = *n_piece;
		*n_piece = 0;
		return take_piece(s, c, piece, n);
	}
	return take_end(s, mhd, c, method, version);
}

/* Keep the target as it came, query and all, before the library decodes
 * anything: serve.h compares it byte for byte. Without memory there is none, and
 * handle() ends the connection. */
void *xp_http_begin_request(void *arg, const char *target,
    struct MHD_Connection *mhd)
{
	struct xp_http_server *s = arg;
	struct xp_http_conn *c = xp_http_conn_of(mhd);
	if (!c)
		return NULL;
	const char *host;
	size_t n;
	free(c->target);
	free(c->host);
	target = xp_http_target(target, &host, &n);
	c->host = n > 0 ? strndup(host, n) : NULL;
	c->target = n > 0 && !c->host
	    ? NULL
	    : strndup(target,
		  s->service.answer ? XP_HTTP_HEAD_BYTES : XP_HTTP_TARGET);
	xp_http_set_phase(s, c, XP_HTTP_RECEIVING);
	return NULL;
}

void xp_http_end_request(void *arg, struct MHD_Connection *mhd, void **context,
    enum MHD_RequestTerminationCode code)
{
	struct xp_http_conn *c = xp_http_conn_of(mhd);
	(void)context;
	(void)code;
	if (!c)
		return;
	free(c->body);
	free(c->target);
	free(c->host);
	c->body = NULL;
	c->target = c->host = NULL;
	c->n_body = c->cap_body = 0;
	c->has_head = c->wants_body = 0;
	xp_http_set_phase(arg, c, XP_HTTP_IDLE);
}
