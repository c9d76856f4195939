/* experiments/live/mhd.c -- serves experiments/live/serve.h on a socket.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libmicrohttpd's own timeout restarts with every byte, so a client that drips
 * one now and then would hold a connection for ever. Each connection therefore
 * has a deadline here; at it the socket is shut down, which its thread notices
 * as the client's leaving.
 */
#include "experiments/live/mhd.h"

#include <errno.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "experiments/live/listen.h"
#include "experiments/live/lists.h"
#include "experiments/live/serve.h"
#include "models/clock.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { TICK_MS = 200, LAST_MS = 5000, SPARE_FILES = 64 };

/* What a connection is doing: waiting for a request's first line, receiving the
 * rest of it, or fetching the answer. */
enum phase { IDLE, RECEIVING, SENDING };

struct conn {
	struct conn *next, **link;
	int fd, is_shut, is_cut;
	struct sockaddr_storage address;

	/* Under the server's lock. */
	enum phase phase;
	uint64_t since_ms; /* that the clock of the deadline runs */
	int n_answered;

	/* The request; its connection's thread alone. */
	char target[XP_HTTP_TARGET + 1];
	int has_head, wants_body;
	unsigned char *body;
	size_t n_body, cap_body;
};

struct xp_http_server {
	struct xp_http_params params;
	struct xp_http_service service;
	struct MHD_Daemon *daemon;
	int fd; /* that listens, while it is ours; or -1 */
	uint64_t start_ms;
	struct sockaddr_storage address;
	atomic_uint_least64_t count[XP_HTTP_N_COUNTERS];

	pthread_mutex_t lock; /* of the connections */
	struct conn *conns;
	uint64_t n_conns;
	struct xp_http_lists lists;

	pthread_mutex_t store_lock;
	atomic_uint_least64_t n_bytes; /* that the store holds */
};

int xp_http_is_built_in(void)
{
	return 1;
}

static uint64_t now_ms(void)
{
	return clock_now() / SIM_MS;
}

static void mhd_count(struct xp_http_server *s, enum xp_http_counter c,
    uint64_t n)
{
	atomic_fetch_add_explicit(&s->count[c], n, memory_order_relaxed);
}

/* --- connections ---------------------------------------------------------- */
/* IPv6 addresses are compared by their first 64 bits: whoever has one has the
 * whole /64 of them. */
static int same_place(const struct sockaddr *a,
    const struct sockaddr_storage *b)
{
	if (a->sa_family != b->ss_family)
		return 0;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)
			   ->sin_addr.s_addr ==
		    ((const struct sockaddr_in *)(const void *)b)
			->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)(const void *)a)
			   ->sin6_addr,
		   &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
		   8) == 0;
}

/* Connections are counted by going through the list: it is no longer than
 * max_connections. */
static enum MHD_Result may_connect(void *arg, const struct sockaddr *address,
    socklen_t n)
{
	struct xp_http_server *s = arg;
	uint32_t n_same = 0;
	(void)n;
	if (s->params.per_address == 0)
		return MHD_YES;
	pthread_mutex_lock(&s->lock);
	for (const struct conn *c = s->conns; c; c = c->next)
		n_same += (uint32_t)same_place(address, &c->address);
	pthread_mutex_unlock(&s->lock);
	if (n_same < s->params.per_address)
		return MHD_YES;
	mhd_count(s, XP_HTTP_crowded, 1);
	return MHD_NO;
}

static void set_phase(struct xp_http_server *s, struct conn *c,
    enum phase phase)
{
	pthread_mutex_lock(&s->lock);
	/* The clock runs on from idle to receiving: a deadline that began anew
	 * with the first line would give a slow client twice the time. */
	if (phase != RECEIVING)
		c->since_ms = now_ms();
	c->n_answered += phase == SENDING;
	c->phase = phase;
	pthread_mutex_unlock(&s->lock);
}

static void mhd_begin(struct xp_http_server *s, struct MHD_Connection *mhd,
    struct conn **out)
{
	const int fd =
	    MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)
		->connect_fd;
	const struct sockaddr *address =
	    MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
		->client_addr;
	struct conn *c;
	mhd_count(s, XP_HTTP_connections, 1);
	*out = NULL;
	/* A connection that is not in the list would have no deadline. */
	if (SIM_ZALLOC(&c, 1, NULL) < 0) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	c->fd = fd;
	memcpy(&c->address, address,
	    address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					  : sizeof(struct sockaddr_in6));
	c->since_ms = now_ms();
	pthread_mutex_lock(&s->lock);
	c->next = s->conns;
	c->link = &s->conns;
	if (c->next)
		c->next->link = &c->next;
	s->conns = c;
	s->n_conns++;
	pthread_mutex_unlock(&s->lock);
	*out = c;
}

/* Whether bytes came and none went back, by the kernel's count. The library,
 * when it can make nothing of a request, often just closes, and no callback
 * says so. A FIN counts as one byte received. */
static int is_unanswered(int fd)
{
	struct tcp_info i = {0};
	socklen_t n = sizeof(i);
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &n) == 0 &&
	    i.tcpi_bytes_received > 1 && i.tcpi_bytes_sent == 0;
}

/* Called before the library closes the socket. So while a connection is in the
 * list its descriptor is its own, and mhd_reap() can never shut down somebody
 * else's who got the same number. */
static void mhd_end(struct xp_http_server *s, struct conn *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&s->lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	s->n_conns--;
	pthread_mutex_unlock(&s->lock);
	if (!c->is_shut && !c->is_cut && is_unanswered(c->fd))
		mhd_count(s, XP_HTTP_malformed, 1);
	free(c->body);
	free(c);
}

static void notify(void *arg, struct MHD_Connection *mhd, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	struct conn *c = *context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		mhd_begin(arg, mhd, &c);
		*context = c;
	} else {
		mhd_end(arg, c);
		*context = NULL;
	}
}

static void mhd_reap(struct xp_http_server *s)
{
	const uint64_t now = now_ms();
	uint64_t n_late = 0;
	pthread_mutex_lock(&s->lock);
	for (struct conn *c = s->conns; c; c = c->next) {
		const uint64_t limit_s = c->phase == SENDING
		    ? s->params.send_s
		    : s->params.receive_s;
		if (c->is_shut || now - c->since_ms < 1000 * limit_s)
			continue;
		/* Not close(): the descriptor is the library's, and its thread
		 * finds the end by itself. */
		shutdown(c->fd, SHUT_RDWR);
		c->is_shut = 1;
		/* A client that was served and keeps its connection open
		 * without asking again has done no wrong, so it is not counted
		 * as late. */
		n_late += c->phase != IDLE || c->n_answered == 0;
	}
	pthread_mutex_unlock(&s->lock);
	mhd_count(s, XP_HTTP_late, n_late);
}

/* NULL if there was no memory for it when it began. */
static struct conn *mhd_conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *i =
	    MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return i ? i->socket_context : NULL;
}

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
    uint32_t server)
{
	struct xp_http_list *list;
	struct MHD_Response *r;
	if (xp_http_list_take(&list, &s->lists, server, NULL) < 0)
		return NULL;
	if (list->is_whole)
		r = MHD_create_response_from_buffer_with_free_callback_cls(
		    list->n, list->buf, rest_list, list);
	else
		r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
		    XP_HTTP_HEAD_BYTES, read_list, list, rest_list);
	if (!r)
		xp_http_list_rest(list);
	return r;
}

/* --- requests ------------------------------------------------------------- */
/* From here on the deadline is that of sending, which begins with the
 * answer. */
static enum MHD_Result send_answer(struct xp_http_server *s,
    struct MHD_Connection *mhd, struct conn *c, struct xp_http_answer *a)
{
	struct MHD_Response *r = NULL;
	if (a->is_pinglist && !(r = list_response(s, a->server)))
		xp_http_no_memory(a);
	if (!r)
		r = MHD_create_response_from_buffer(a->n_bytes,
		    (void *)(uintptr_t)a->bytes, MHD_RESPMEM_MUST_COPY);
	if (!r)
		return MHD_NO;
	mhd_count(s, a->counter, 1);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	/* A proxy may keep a list but must ask each time: agents are stopped by
	 * what the controller says now. */
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	if (a->etag[0] != '\0')
		MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, a->etag);
	if (a->allow)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, a->allow);
	set_phase(s, c, SENDING);
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
static void look_at_site(struct xp_http_server *s, struct xp_http_site *site)
{
	*site = (struct xp_http_site){
	    .plan = s->service.plan,
	    .stopped = is_stopped(s->service.stop_file),
	    .uptime_s = (now_ms() - s->start_ms) / 1000,
	    .n_bytes = s->n_bytes,
	};
	for (int i = 0; i < XP_HTTP_N_COUNTERS; i++)
		site->count[i] = s->count[i];
	pthread_mutex_lock(&s->lock);
	site->n_open = s->n_conns;
	pthread_mutex_unlock(&s->lock);
}

/* The store takes one batch at a time, and syncing may take long; so it has a
 * lock of its own, and connections go on meanwhile. */
static void mhd_keep(struct xp_http_server *s, const struct conn *c,
    struct xp_http_answer *a)
{
	struct sim_err e = {0};
	int is_new = 0;
	pthread_mutex_lock(&s->store_lock);
	const int rc = xp_batch_store_put(s->service.store, &a->batch, c->body,
	    c->n_body, time(NULL), &is_new, &e);
	s->n_bytes = xp_batch_store_held(s->service.store).n_bytes;
	pthread_mutex_unlock(&s->store_lock);
	if (rc == 0 && is_new)
		mhd_count(s, XP_HTTP_records, a->batch.n);
	xp_http_kept(a, rc, is_new, &e);
}

static enum MHD_Result see_header(void *arg, enum MHD_ValueKind kind,
    const char *name, const char *value)
{
	struct xp_http_request *q = arg;
	(void)kind;
	if (!value)
		value = "";
	if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0)
		q->is_chunked = 1;
	if (strcasecmp(name, MHD_HTTP_HEADER_IF_NONE_MATCH) == 0)
		q->if_none_match = value;
	if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) != 0)
		return MHD_YES;
	/* Counted, not just read: two lengths of one body are how requests are
	 * smuggled past a proxy. */
	q->n_lengths++;
	if (sim_parse_u64(value, &q->length, NULL) < 0)
		q->length = UINT64_MAX;
	return MHD_YES;
}

/* Decide by the head alone. An answer that is given before the body has come
 * ends the connection, as the library would have to read the body to find the
 * next request. A request without a body need not pay that, so its answer waits
 * for the call at the end. */
static enum MHD_Result take_head(struct xp_http_server *s,
    struct MHD_Connection *mhd, struct conn *c, const char *method)
{
	struct xp_http_request q = {.method = method, .target = c->target};
	struct xp_http_site site;
	struct xp_http_answer a;
	const int at_end = c->has_head;
	c->has_head = 1;
	MHD_get_connection_values(mhd, MHD_HEADER_KIND, see_header, &q);
	if (!at_end && q.length == 0 && !q.is_chunked)
		return MHD_YES;
	look_at_site(s, &site);
	c->wants_body = xp_http_head(&site, &q, &a) == XP_HTTP_SEND_BODY;
	return c->wants_body ? MHD_YES : send_answer(s, mhd, c, &a);
}

static enum MHD_Result take_end(struct xp_http_server *s,
    struct MHD_Connection *mhd, struct conn *c, const char *method)
{
	const struct xp_http_request q = {.body = c->body, .n_body = c->n_body};
	struct xp_http_answer a;
	if (!c->wants_body) {
		const enum MHD_Result result = take_head(s, mhd, c, method);
		if (!c->wants_body)
			return result;
	}
	if (xp_http_body(&q, &a) == XP_HTTP_KEEP)
		mhd_keep(s, c, &a);
	return send_answer(s, mhd, c, &a);
}

static enum MHD_Result take_piece(struct xp_http_server *s, struct conn *c,
    const char *bytes, size_t n)
{
	/* A body of chunks says no length, so the limit must be kept while it
	 * comes. */
	if (n > ALGO_PINGMESH_WIRE_MAX - c->n_body) {
		mhd_count(s, XP_HTTP_cut_off, 1);
		c->is_cut = 1;
		return MHD_NO;
	}
	if (SIM_RESERVE(&c->body, &c->cap_body, c->n_body + n, NULL) < 0)
		return MHD_NO;
	memcpy(c->body + c->n_body, bytes, n);
	c->n_body += n;
	return MHD_YES;
}

/* The library calls this with the head, with each piece of the body, and at the
 * end. */
static enum MHD_Result handle(void *arg, struct MHD_Connection *mhd,
    const char *url, const char *method, const char *version, const char *piece,
    size_t *n_piece, void **context)
{
	struct xp_http_server *s = arg;
	struct conn *c = mhd_conn_of(mhd);
	(void)url;
	(void)version;
	(void)context;
	if (!c)
		return MHD_NO;
	if (!c->has_head)
		return take_head(s, mhd, c, method);
	if (*n_piece > 0) {
		const size_t n = *n_piece;
		*n_piece = 0;
		return take_piece(s, c, piece, n);
	}
	return take_end(s, mhd, c, method);
}

/* Keep the target as it came, query and all, before the library decodes
 * anything: serve.h compares it byte for byte. */
static void *begin_request(void *arg, const char *target,
    struct MHD_Connection *mhd)
{
	struct conn *c = mhd_conn_of(mhd);
	if (!c)
		return NULL;
	memcpy(c->target, target, strnlen(target, XP_HTTP_TARGET));
	c->target[strnlen(target, XP_HTTP_TARGET)] = '\0';
	set_phase(arg, c, RECEIVING);
	return NULL;
}

static void end_request(void *arg, struct MHD_Connection *mhd, void **context,
    enum MHD_RequestTerminationCode code)
{
	struct conn *c = mhd_conn_of(mhd);
	(void)context;
	(void)code;
	if (!c)
		return;
	free(c->body);
	c->body = NULL;
	c->n_body = c->cap_body = 0;
	c->has_head = c->wants_body = 0;
	set_phase(arg, c, IDLE);
}

/* Leave percent signs alone: decoded, there would be several ways to write one
 * target. */
static size_t keep_escapes(void *arg, struct MHD_Connection *mhd, char *text)
{
	(void)arg;
	(void)mhd;
	return strlen(text);
}

/* What the library refuses by itself it says only by this message, meant for a
 * log; so the text is looked at. */
static void mhd_note(void *arg, const char *fmt, va_list args)
{
	(void)args;
	if (strstr(fmt, "Error processing request"))
		mhd_count(arg, XP_HTTP_malformed, 1);
}

/* --- opening -------------------------------------------------------------- */
/* Blocked before the library starts its threads, which inherit that: signals
 * then come to xp_http_run() alone. */
static void mhd_block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, set, NULL);
}

static int mhd_start(struct xp_http_server *s, struct sim_err *e)
{
	const struct xp_http_params *p = &s->params;
	const struct MHD_OptionItem pool[] = {
	    /* The library wants no pool of one thread, but none. */
	    {p->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END,
		(intptr_t)p->threads, NULL},
	    {MHD_OPTION_END, 0, NULL},
	};
	s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD |
		MHD_USE_ERROR_LOG | MHD_USE_ITC,
	    0, may_connect, s, handle, s, MHD_OPTION_EXTERNAL_LOGGER, mhd_note,
	    s, MHD_OPTION_LISTEN_SOCKET, s->fd, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned)p->max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	    (size_t)XP_HTTP_HEAD_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
	    MHD_OPTION_NOTIFY_CONNECTION, notify, s,
	    MHD_OPTION_NOTIFY_COMPLETED, end_request, s,
	    MHD_OPTION_URI_LOG_CALLBACK, begin_request, s,
	    MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, s, MHD_OPTION_ARRAY,
	    pool, MHD_OPTION_END);
	if (!s->daemon)
		return sim_fail(e, SIM_EDEP, "libmicrohttpd cannot start: %s.",
		    strerror(errno));
	/* The socket is the library's from here on. */
	s->fd = -1;
	return 0;
}

int xp_http_open(struct xp_http_server **out, const struct xp_http_params *p,
    const struct xp_http_service *service, struct sim_err *e)
{
	struct xp_http_server *s;
	sigset_t blocked;
	int rc = SIM_ZALLOC(&s, 1, e);
	if (rc < 0)
		return rc;
	s->params = *p;
	s->service = *service;
	s->fd = -1;
	s->start_ms = now_ms();
	if (service->store)
		s->n_bytes = xp_batch_store_held(service->store).n_bytes;
	xp_http_lists_init(&s->lists, service->plan);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->store_lock, NULL);
	mhd_block_signals(&blocked);
	if ((rc = xp_http_listen_files(p->max_connections + SPARE_FILES, e)) <
		0 ||
	    (rc = xp_http_listen(&s->fd, &s->address, p->listen, e)) < 0 ||
	    (rc = mhd_start(s, e)) < 0) {
		xp_http_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

const char *xp_http_url(const struct xp_http_server *s, char buf[80])
{
	return xp_http_listen_url(&s->address, buf);
}

/* --- running -------------------------------------------------------------- */
static int wait_for_signal(const sigset_t *set, int ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	const int got = sigtimedwait(set, NULL, &t);
	return got == SIGTERM || got == SIGINT;
}

static int is_busy(struct xp_http_server *s)
{
	int busy = 0;
	pthread_mutex_lock(&s->lock);
	for (const struct conn *c = s->conns; c; c = c->next)
		busy |= c->phase != IDLE;
	pthread_mutex_unlock(&s->lock);
	return busy;
}

void xp_http_run(struct xp_http_server *s)
{
	sigset_t set;
	mhd_block_signals(&set);
	while (!wait_for_signal(&set, TICK_MS))
		mhd_reap(s);
	/* Stop accepting first, so that the last requests end and no new ones
	 * come. */
	s->fd = MHD_quiesce_daemon(s->daemon);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	for (int ms = 0; ms < LAST_MS && is_busy(s); ms += TICK_MS / 4)
		if (wait_for_signal(&set, TICK_MS / 4))
			break;
}

void xp_http_close(struct xp_http_server *s)
{
	if (!s)
		return;
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	if (s->fd >= 0)
		close(s->fd);
	xp_http_lists_free(&s->lists);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->store_lock);
	free(s);
}
