/* experiments/live/mhd_run.c -- a server on libmicrohttpd: opened, run, ended.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "experiments/live/listen.h"
#include "experiments/live/mhd_parts.h"
#include "experiments/live/seccomp.h"
#include "sim/vec.h"

enum { TICK_MS = 200, LAST_MS = 5000, LOOK_MS = 1000, SPARE_FILES = 64 };

int xp_http_is_built_in(void)
{
	return 1;
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
		xp_http_count(arg, XP_HTTP_malformed, 1);
}

/* --- opening -------------------------------------------------------------- */
/* Blocked before the library starts its threads, which inherit that: signals
 * then come to xp_http_run() alone. */
static void mhd_block_signals(sigset_t *set, int hears_hangup)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGPIPE);
	if (hears_hangup)
		sigaddset(set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* The library wants files to begin with; xp_tls_begin() gives each connection the
 * newest. */
static struct MHD_OptionItem *mhd_add_tls(struct MHD_OptionItem *o,
    const struct xp_identity *x)
{
	*o++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
	    x->cert.bytes};
	*o++ =
	    (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, x->key.bytes};
	*o++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
	    (void *)(uintptr_t)XP_TLS_PRIORITIES};
	return o;
}

/* What goes in the clear anybody on the way can read and forge. */
static int mhd_check_plain(const struct xp_http_server *s, struct sim_err *e)
{
	if (s->params.identity.ca || s->params.identity.insecure ||
	    xp_http_listen_is_local(&s->address))
		return 0;
	return sim_fail(e, SIM_EINVAL,
	    "%s can be reached from other hosts, in the clear: give it --ca, "
	    "--cert and --key (`culprit ca` makes them), or --insecure.",
	    s->params.listen);
}

/* Where this can't be told all agents are stopped, and it is better heard of at
 * the start: a user that was just taken on may not look into a folder. */
static int mhd_check_stop_file(const struct xp_http_server *s,
    struct sim_err *e)
{
	const char *file = s->service.stop_file;
	if (!file || access(file, F_OK) == 0 || errno == ENOENT ||
	    errno == ENOTDIR)
		return 0;
	return sim_fail(e, SIM_EIO,
	    "whether there is a stop file %s cannot be told: %s.", file,
	    strerror(errno));
}

/* What the library may have open: more than max_connections, since one that is
 * closed for another is gone a moment later, and since each thread has its share. */
static unsigned mhd_most(const struct xp_http_params *p)
{
	return p->max_connections + p->max_connections / 2 + 2 * p->threads;
}

static int mhd_start(struct xp_http_server *s, struct sim_err *e)
{
	const struct xp_http_params *p = &s->params;
	struct MHD_OptionItem more[5] = {{MHD_OPTION_END, 0, NULL}}, *o = more;
	/* The library wants no pool of one thread, but none. */
	if (p->threads > 1)
		*o++ = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE,
		    (intptr_t)p->threads, NULL};
	if (s->tls)
		o = mhd_add_tls(o, xp_tls_identity(s->tls));
	*o = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	s->daemon = MHD_start_daemon((p->threads > 0
					     ? MHD_USE_EPOLL_INTERNAL_THREAD
					     : MHD_USE_EPOLL) |
		(s->tls ? MHD_USE_TLS : 0) | MHD_USE_ERROR_LOG | MHD_USE_ITC,
	    0, xp_http_may_connect, s, xp_http_handle, s,
	    MHD_OPTION_EXTERNAL_LOGGER, mhd_note, s, MHD_OPTION_LISTEN_SOCKET,
	    s->fd, MHD_OPTION_CONNECTION_LIMIT, mhd_most(p),
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)XP_HTTP_HEAD_BYTES,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION,
	    xp_http_notify, s, MHD_OPTION_NOTIFY_COMPLETED, xp_http_end_request,
	    s, MHD_OPTION_URI_LOG_CALLBACK, xp_http_begin_request, s,
	    MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, s, MHD_OPTION_ARRAY,
	    more, MHD_OPTION_END);
	if (!s->daemon)
		return sim_fail(e, SIM_EDEP, "libmicrohttpd cannot start: %s.",
		    strerror(errno));
	/* The socket is the library's from here on. */
	s->fd = -1;
	return 0;
}

int xp_http_bind(struct xp_http_server **out, const struct xp_http_params *p,
    struct sim_err *e)
{
	struct xp_http_server *s;
	*out = NULL;
	int rc = sim_late_load(&late_microhttpd_library, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&s, 1, e)) < 0)
		return rc;
	s->params = *p;
	s->fd = -1;
	s->start_ms = xp_http_now_ms();
	s->start_s = (uint64_t)time(NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->store_lock, NULL);
	if ((rc = xp_identity_check(&p->identity, e)) < 0 ||
	    (rc = xp_http_listen_files(mhd_most(p) + SPARE_FILES, e)) < 0 ||
	    (rc = xp_http_listen(&s->fd, &s->address, p->listen, e)) < 0 ||
	    (rc = mhd_check_plain(s, e)) < 0) {
		xp_http_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

int xp_http_start(struct xp_http_server *s,
    const struct xp_http_service *service, struct sim_err *e)
{
	sigset_t blocked;
	int rc;
	s->service = *service;
	if (service->store)
		s->held = xp_batch_store_held(service->store);
	xp_http_lists_init(&s->lists, service->plan, service->signer);
	mhd_block_signals(&blocked, service->again != NULL);
	if ((rc = mhd_check_stop_file(s, e)) < 0 ||
	    (rc = xp_tls_open(&s->tls, &s->params.identity, e)) < 0)
		return rc;
	return mhd_start(s, e);
}

int xp_http_open(struct xp_http_server **out, const struct xp_http_params *p,
    const struct xp_http_service *service, struct sim_err *e)
{
	int rc = xp_http_bind(out, p, e);
	if (rc == 0 && (rc = xp_http_start(*out, service, e)) < 0) {
		xp_http_close(*out);
		*out = NULL;
	}
	return rc;
}

const char *xp_http_url(const struct xp_http_server *s, char buf[80])
{
	return xp_http_listen_url(&s->address,
	    s->params.identity.ca ? "https" : "http", buf);
}

/* --- running -------------------------------------------------------------- */
/* Returns 1 if it is to end. */
static int wait_for_signal(struct xp_http_server *s, const sigset_t *set,
    int ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	const int got = sigtimedwait(set, NULL, &t);
	if (got == SIGHUP)
		s->service.again(s->service.again_arg, s);
	return got == SIGTERM || got == SIGINT;
}

/* Stop accepting first, so that the last requests end and no new ones come. */
static void mhd_accept_nobody(struct xp_http_server *s)
{
	s->fd = MHD_quiesce_daemon(s->daemon);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void mhd_tell(const struct xp_http_server *s, enum xp_daemon_level level,
    const char *line)
{
	if (s->service.tell)
		s->service.tell(s->service.arg, level, line);
}

/* Each second, new files are taken, and who was refused is told. */
static void mhd_watch_tls(struct xp_http_server *s)
{
	const uint64_t now = xp_http_now_ms();
	char line[XP_TLS_LINE];
	struct sim_err e;
	if (!s->tls || now - s->looked_ms < LOOK_MS)
		return;
	s->looked_ms = now;
	const int rc = xp_tls_look(s->tls, &e);
	if (rc > 0)
		mhd_tell(s, XP_DAEMON_INFO, "new certificates are in use");
	else if (rc < 0)
		mhd_tell(s, XP_DAEMON_WARNING, e.msg);
	while (xp_tls_news(s->tls, line))
		mhd_tell(s, XP_DAEMON_WARNING, line);
}

static void mhd_watch_calls(struct xp_http_server *s)
{
	const char *name;
	char line[96];
	const uint64_t n = xp_seccomp_refused(&name);
	if (n > s->n_calls) {
		snprintf(line, sizeof(line),
		    "%llu system calls were refused, the last one %s",
		    (unsigned long long)(n - s->n_calls), name);
		mhd_tell(s, XP_DAEMON_WARNING, line);
	}
	s->n_calls = n;
}

void xp_http_change(struct xp_http_server *s, const struct xp_http_change *c)
{
	pthread_mutex_lock(&s->lock);
	s->params.per_address = c->per_address;
	s->params.head_s = c->head_s;
	s->params.receive_s = c->receive_s;
	s->params.send_s = c->send_s;
	s->service.stop_file = c->stop_file;
	pthread_mutex_unlock(&s->lock);
	if (!c->store)
		return;
	pthread_mutex_lock(&s->store_lock);
	xp_batch_store_change(s->service.store, c->store);
	pthread_mutex_lock(&s->lock);
	s->held = xp_batch_store_held(s->service.store);
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->store_lock);
}

void xp_http_run(struct xp_http_server *s)
{
	sigset_t set;
	mhd_block_signals(&set, s->service.again != NULL);
	while (!wait_for_signal(s, &set, TICK_MS)) {
		xp_http_reap(s);
		mhd_watch_tls(s);
		mhd_watch_calls(s);
	}
	mhd_accept_nobody(s);
	for (int ms = 0; ms < LAST_MS && xp_http_is_busy(s); ms += TICK_MS / 4)
		if (wait_for_signal(s, &set, TICK_MS / 4))
			break;
	s->looked_ms = 0;
	mhd_watch_tls(s);
}

int xp_http_fd(const struct xp_http_server *s)
{
	const union MHD_DaemonInfo *i =
	    MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	return i ? i->epoll_fd : -1;
}

int xp_http_wait_ms(struct xp_http_server *s, int most)
{
	MHD_UNSIGNED_LONG_LONG ms;
	return MHD_get_timeout(s->daemon, &ms) == MHD_YES && ms < (unsigned)most
	    ? (int)ms
	    : most;
}

void xp_http_step(struct xp_http_server *s)
{
	xp_http_reap(s);
	MHD_run(s->daemon);
}

void xp_http_end(struct xp_http_server *s)
{
	const uint64_t end = xp_http_now_ms() + LAST_MS;
	mhd_accept_nobody(s);
	while (xp_http_is_busy(s) && xp_http_now_ms() < end) {
		struct pollfd p = {xp_http_fd(s), POLLIN, 0};
		poll(&p, 1, xp_http_wait_ms(s, TICK_MS / 4));
		xp_http_step(s);
	}
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
	xp_tls_close(s->tls);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->store_lock);
	free(s);
}
