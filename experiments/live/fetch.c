/* experiments/live/fetch.c -- a live agent's contacts: lists come, batches go.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libcurl says which sockets to watch and when to call it again; an epoll with
 * a timer in it does that, and is itself one descriptor of the fabric's epoll.
 */
#include "experiments/live/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "experiments/live/contact.h"
#include "experiments/live/curl.late.h"
#include "experiments/live/status.h"
#include "models/clock.h"
#include "sim/vec.h"

enum { MAX_SAID = 4096 }; /* bytes that a collector may say */

/* One request of each kind at a time: a list, a batch, a window of counters.
 * The agent asks for no more. */
struct transfer {
	CURL *easy;
	struct curl_slist *headers;
	const char *url;
	int is_busy;
	uint64_t token;
	sim_ns until; /* of the fabric's clock */
	char why[CURL_ERROR_SIZE];
};

struct xp_fetch {
	struct xp_fetch_params params;
	struct fabric_real *fabric;
	CURLM *multi;
	int epoll, timer;
	struct transfer get, post, push;
	struct xp_identity identity;
	size_t n_said;
	struct xp_contact contact;
};

int xp_fetch_is_built_in(void)
{
	return 1;
}

const struct xp_fetch_counters *xp_fetch_count(const struct xp_fetch *f)
{
	return &f->contact.count;
}

const char *xp_fetch_why(const struct xp_fetch *f)
{
	return f->contact.why;
}

/* --- time ----------------------------------------------------------------- */
static sim_ns fetch_now(const struct xp_fetch *f)
{
	const struct fabric *base = fabric_real_fabric(f->fabric);
	return base->ops->now(base);
}

static sim_ns fetch_ns_of(double seconds)
{
	return (sim_ns)(seconds * 1e9);
}

/* --- libcurl and epoll ---------------------------------------------------- */
/* libcurl says what to watch of one of its sockets. It may have closed the
 * socket before it says "remove", so that epoll does not know it any more; that
 * is no error. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
    void *known)
{
	struct xp_fetch *f = arg;
	struct epoll_event ev = {.data.fd = fd};
	(void)easy;
	if (what == CURL_POLL_REMOVE)
		return epoll_ctl(f->epoll, EPOLL_CTL_DEL, fd, NULL) < 0 &&
			errno != ENOENT && errno != EBADF
		    ? -1
		    : 0;
	if (what & CURL_POLL_IN)
		ev.events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		ev.events |= EPOLLOUT;
	if (epoll_ctl(f->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd,
		&ev) < 0)
		return -1;
	curl_multi_assign(f->multi, fd, f);
	return 0;
}

/* libcurl says when to call it again: in MS, or never if that is -1. A timerfd
 * of 0 would be disarmed, so "at once" is a nanosecond. */
static int fetch_on_timer(CURLM *multi, long ms, void *arg)
{
	struct xp_fetch *f = arg;
	struct itimerspec at = {0};
	(void)multi;
	if (ms >= 0) {
		at.it_value.tv_sec = ms / 1000;
		at.it_value.tv_nsec = ms == 0 ? 1 : ms % 1000 * 1000000;
	}
	return timerfd_settime(f->timer, 0, &at, NULL);
}

/* Bytes of a list come; taking less than N ends the transfer. */
static size_t on_list(char *bytes, size_t one, size_t n, void *arg)
{
	struct xp_fetch *f = arg;
	(void)one;
	return xp_contact_add(&f->contact, bytes, n);
}

/* What a collector says is thrown away, and one that does not stop saying it is
 * cut off. */
static size_t on_said(char *bytes, size_t one, size_t n, void *arg)
{
	struct xp_fetch *f = arg;
	(void)bytes;
	(void)one;
	f->n_said += n;
	return f->n_said <= MAX_SAID ? n : 0;
}

static size_t on_header(char *line, size_t one, size_t n, void *arg)
{
	struct xp_fetch *f = arg;
	(void)one;
	xp_fetch_head_line(&f->contact.coming.head, line, n);
	return n;
}

/* --- transfers ------------------------------------------------------------ */
/* Files that are of no use, as a certificate without its key, leave those that
 * were had in place. */
static int fetch_identify(struct xp_fetch *f, const struct transfer *t)
{
	struct sim_err e;
	const int rc = xp_identity_look(&f->identity, &e);
	f->contact.count.n_renewed += rc > 0;
	if (rc < 0) {
		f->contact.count.n_unfit++;
		snprintf(f->contact.why, sizeof(f->contact.why), "%.500s",
		    e.msg);
	}
	return xp_url_identify(t->easy, &f->identity);
}

/* Begin a transfer with URL, with one part in SHARE of the time that is left.
 * Returns 0 if libcurl does not, or if no time is left. */
static int fetch_begin(struct xp_fetch *f, struct transfer *t, const char *url,
    const char *header, unsigned share)
{
	const sim_ns at = fetch_now(f),
		     left = t->until > at ? t->until - at : 0;
	const long ms = (long)(left / share / SIM_MS);
	/* libcurl borrows the list of headers, so the old one goes only now
	 * that its transfer has ended. */
	curl_slist_free_all(t->headers);
	t->headers = header ? curl_slist_append(NULL, header) : NULL;
	t->url = url;
	t->why[0] = '\0';
	if (ms <= 0 || (header && !t->headers) || !fetch_identify(f, t))
		return 0;
	if (curl_easy_setopt(t->easy, CURLOPT_URL, url) != CURLE_OK ||
	    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers) !=
		CURLE_OK ||
	    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, ms) != CURLE_OK ||
	    curl_multi_add_handle(f->multi, t->easy) != CURLM_OK)
		return 0;
	t->is_busy = 1;
	return 1;
}

static void fetch_stop(struct xp_fetch *f, struct transfer *t)
{
	if (t->is_busy)
		curl_multi_remove_handle(f->multi, t->easy);
	t->is_busy = 0;
}

/* On TLS libcurl has more to say in its buffer than a code is worth: what is wrong
 * with whose certificate. */
static void fetch_blame(struct xp_fetch *f, const struct transfer *t,
    CURLcode code, long status)
{
	const char *ill =
	    t == &f->get ? xp_fetch_head_ill(&f->contact.coming.head) : NULL;
	const char *url = t->url, *why = "no time was left";
	char said[128];
	snprintf(said, sizeof(said), "it answers %ld (%s)", status,
	    xp_http_status_words(status));
	if (code != CURLE_OK)
		why = strncmp(url, "https:", 6) == 0 && t->why[0] != '\0'
		    ? t->why
		    : curl_easy_strerror(code);
	else if (status > 0)
		why = status == 200 && ill ? ill : said;
	snprintf(f->contact.why, sizeof(f->contact.why), "%.200s: %s", url,
	    why);
}

/* --- lists ---------------------------------------------------------------- */
/* A document is lent to the agent until fetch_taken(). */
static int give(struct xp_fetch *f, int ok, const struct xp_contact_bytes *b,
    struct sim_err *e)
{
	return fabric_real_fetched(f->fabric, 0, f->get.token, ok,
	    b ? b->p : NULL, b ? b->n : 0, e);
}

/* Ask the controllers that are left, one after the other. When none is left the
 * agent is told so. */
static int fetch_ask(struct xp_fetch *f, struct sim_err *e)
{
	struct xp_contact *c = &f->contact;
	const char *url, *tag = c->had.head.tag;
	char header[XP_FETCH_TAG + 32];
	unsigned share;
	snprintf(header, sizeof(header), "If-None-Match: %s", tag);
	while ((url = xp_contact_next(c, &share))) {
		if (fetch_begin(f, &f->get, url, tag[0] ? header : NULL, share))
			return 0;
		fetch_blame(f, &f->get, CURLE_OK, 0);
		xp_contact_unanswered(c);
	}
	return give(f, 0, NULL, e);
}

static int fetch_fetch(void *arg, topo_host host, uint64_t token,
    struct sim_err *e)
{
	struct xp_fetch *f = arg;
	int rc = 0;
	if (f->get.is_busy) { /* the agent gave it up */
		fetch_stop(f, &f->get);
		rc = give(f, 0, NULL, e);
	}
	/* The agent has the last document until its next turn; writing over it
	 * is no choice, and the agent tries again later. */
	if (rc == 0 && !xp_contact_ask(&f->contact))
		return fabric_real_fetched(f->fabric, host, token, 0, NULL, 0,
		    e);
	f->get.token = token;
	/* Less than the agent's own deadline, so that it hears of a failure
	 * before it gives up by itself. */
	f->get.until = fetch_now(f) + fetch_ns_of(0.9 * f->params.fetch_s);
	return rc < 0 ? rc : fetch_ask(f, e);
}

static void fetch_taken(void *arg, topo_host host, uint64_t token)
{
	struct xp_fetch *f = arg;
	(void)host;
	if (token == f->get.token)
		f->contact.is_lent = 0;
}

static int fetched(struct xp_fetch *f, CURLcode code, long status,
    struct sim_err *e)
{
	struct xp_contact *c = &f->contact;
	const enum xp_contact_end end = code == CURLE_OK ? XP_CONTACT_WHOLE
	    : code == CURLE_WRITE_ERROR                  ? XP_CONTACT_CUT_HERE
							 : XP_CONTACT_BROKEN;
	switch (xp_contact_came(c, end, status, clock_wall())) {
	case XP_CONTACT_LIST:
		return give(f, 1, &c->had, e);
	case XP_CONTACT_NO_LIST:
		return give(f, 1, NULL, e);
	case XP_CONTACT_NO_ANSWER:
		fetch_blame(f, &f->get, code, status);
		xp_contact_unanswered(c);
		break;
	case XP_CONTACT_REFUSED:
		break;
	}
	return fetch_ask(f, e);
}

/* --- batches -------------------------------------------------------------- */
static int uploaded(struct xp_fetch *f, int ok, struct sim_err *e)
{
	f->contact.count.n_taken += ok != 0;
	f->contact.count.n_untaken += ok == 0;
	return fabric_real_uploaded(f->fabric, 0, f->post.token, ok, e);
}

/* Post N bytes, which must stay until the transfer ends, since libcurl does not
 * copy them. Returns 0 if that cannot begin. */
static int post(struct xp_fetch *f, struct transfer *t, const void *bytes,
    size_t n)
{
	t->until = fetch_now(f) + fetch_ns_of(0.9 * f->params.upload_s);
	f->n_said = 0;
	curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE, (long)n);
	curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, bytes);
	if (fetch_begin(f, t, f->contact.whom.collector,
		"Content-Type: application/octet-stream", 1))
		return 1;
	fetch_blame(f, t, CURLE_OK, 0);
	return 0;
}

static int fetch_upload(void *arg, topo_host host, uint64_t token,
    const void *data, size_t n, struct sim_err *e)
{
	struct xp_fetch *f = arg;
	struct xp_contact *c = &f->contact;
	int rc = 0;
	/* The agent gave the last one up, at its own deadline. */
	if (f->post.is_busy) {
		fetch_stop(f, &f->post);
		rc = uploaded(f, 0, e);
	}
	f->post.token = token;
	if (rc < 0 || c->whom.collector[0] == '\0')
		return rc < 0
		    ? rc
		    : fabric_real_uploaded(f->fabric, host, token, 0, e);
	n = xp_contact_stamp(c, data, fetch_now(f), clock_wall());
	return post(f, &f->post, c->wire, n) ? 0 : uploaded(f, 0, e);
}

static void counted(struct xp_fetch *f, int ok)
{
	f->contact.count.n_windows += ok != 0;
	f->contact.count.n_windows_lost += ok == 0;
}

/* Counters of a window are sent once and never tried again: the next window is
 * soon there, and the newest says most. One still under way is given up for
 * it. */
static int fetch_counters(void *arg, topo_host host, const void *data, size_t n,
    struct sim_err *e)
{
	struct xp_fetch *f = arg;
	struct xp_contact *c = &f->contact;
	(void)host;
	(void)e;
	if (f->contact.whom.collector[0] == '\0')
		return 0;
	if (f->push.is_busy)
		counted(f, 0);
	fetch_stop(f, &f->push);
	n = xp_contact_stamp_window(c, data, fetch_now(f), clock_wall());
	if (!post(f, &f->push, c->window, n))
		counted(f, 0);
	return 0;
}

/* --- what libcurl has done ------------------------------------------------ */
static int fetch_end(struct xp_fetch *f, CURL *easy, CURLcode code,
    struct sim_err *e)
{
	struct transfer *t = easy == f->get.easy ? &f->get
	    : easy == f->post.easy               ? &f->post
						 : &f->push;
	long status = 0;
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	fetch_stop(f, t);
	if (t == &f->get)
		return fetched(f, code, status, e);
	const int ok = code == CURLE_OK && status == 200;
	if (!ok)
		fetch_blame(f, t, code, status);
	if (t == &f->post)
		return uploaded(f, ok, e);
	counted(f, ok);
	return 0;
}

/* Called when the epoll has something: tell libcurl which sockets can go on,
 * then look which transfers have ended. */
static int ready(void *arg, struct sim_err *e)
{
	enum { AT_ONCE = 16 };
	struct xp_fetch *f = arg;
	struct epoll_event ev[AT_ONCE];
	const int n = epoll_wait(f->epoll, ev, AT_ONCE, 0);
	int rc = 0, running, left;
	uint64_t times;
	for (int i = 0; i < n; i++) {
		curl_socket_t fd = ev[i].data.fd;
		int what = 0;
		if (ev[i].events & EPOLLIN)
			what |= CURL_CSELECT_IN;
		if (ev[i].events & EPOLLOUT)
			what |= CURL_CSELECT_OUT;
		if (ev[i].events & (EPOLLERR | EPOLLHUP))
			what |= CURL_CSELECT_ERR;
		if (fd == f->timer) {
			fd = CURL_SOCKET_TIMEOUT;
			what = 0;
			if (read(f->timer, &times, sizeof(times)) < 0)
				continue; /* it was set anew just now */
		}
		curl_multi_socket_action(f->multi, fd, what, &running);
	}
	/* Ending a transfer may begin the next one of the same handle, so
	 * messages are taken one by one. */
	const CURLMsg *m;
	while (rc == 0 && (m = curl_multi_info_read(f->multi, &left)))
		if (m->msg == CURLMSG_DONE)
			rc = fetch_end(f, m->easy_handle, m->data.result, e);
	return rc;
}

/* --- opening -------------------------------------------------------------- */
/* No proxy, not even one of the environment, and no redirect has a say in whom
 * an agent asks: the operator's URL alone does. NOSIGNAL, as libcurl's timeouts
 * of name look-ups would otherwise use SIGALRM. */
static int fetch_set_up(struct xp_fetch *f, struct transfer *t)
{
	t->easy = xp_url_easy();
	return t->easy &&
	    curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->why) ==
	    CURLE_OK &&
	    curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, f) == CURLE_OK;
}

static void set_up_post(struct transfer *t)
{
	curl_easy_setopt(t->easy, CURLOPT_POST, 1L);
	curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_said);
}

static int set_up_all(struct xp_fetch *f, struct sim_err *e)
{
	CURL *c;
	f->multi = curl_multi_init();
	if (!f->multi || !fetch_set_up(f, &f->get) ||
	    !fetch_set_up(f, &f->post) || !fetch_set_up(f, &f->push))
		return sim_fail(e, SIM_EDEP, "libcurl cannot start.");
	c = f->get.easy;
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_list);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, f);
	set_up_post(&f->post);
	set_up_post(&f->push);
	curl_multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
	curl_multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, fetch_on_timer);
	curl_multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
	return 0;
}

static int open_epoll(struct xp_fetch *f, struct sim_err *e)
{
	struct epoll_event ev = {.events = EPOLLIN};
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	ev.data.fd = f->timer;
	if (f->epoll < 0 || f->timer < 0 ||
	    epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->timer, &ev) < 0)
		return sim_fail(e, SIM_EIO, "epoll cannot be opened: %s.",
		    strerror(errno));
	return 0;
}

int xp_fetch_open(struct xp_fetch **out, const struct xp_fetch_params *p,
    struct sim_err *e)
{
	struct xp_fetch *f = NULL;
	*out = NULL;
	int rc = sim_late_load(&late_curl_library, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&f, 1, e)) < 0)
		return rc;
	f->params = *p;
	f->epoll = f->timer = -1;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	if ((rc = xp_contact_open(&f->contact, p, e)) < 0 ||
	    (rc = open_epoll(f, e)) < 0 || (rc = set_up_all(f, e)) < 0) {
		xp_fetch_close(f);
		return rc;
	}
	/* They have been copied; the caller's texts may go. */
	f->params.controllers = f->params.collector = NULL;
	*out = f;
	return 0;
}

int xp_fetch_change(struct xp_fetch *f, const char *controllers,
    const char *collector, struct sim_err *e)
{
	struct xp_fetch_params p = f->params;
	p.controllers = controllers;
	p.collector = collector;
	return xp_contact_change(&f->contact, &p, e);
}

int xp_fetch_serve(struct xp_fetch *f, struct fabric_real *fabric,
    struct sim_err *e)
{
	const struct fabric_real_services s = {.arg = f,
	    .fetch = fetch_fetch,
	    .upload = fetch_upload,
	    .counters = fetch_counters,
	    .taken = fetch_taken,
	    .fd = f->epoll,
	    .ready = ready};
	uint64_t chance;
	int rc = xp_identity_open(&f->identity, &f->params.identity, e);
	if (rc == 0 && f->contact.checker && f->params.newest)
		rc = xp_list_checker_remember(f->contact.checker,
		    f->params.newest, e);
	if (rc < 0)
		return rc;
	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return sim_fail(e, SIM_EIO, "getrandom: %s.", strerror(errno));
	f->fabric = fabric;
	xp_contact_begin(&f->contact, fetch_now(f), clock_wall(), chance);
	return fabric_real_serve(fabric, &s, e);
}

static void fetch_tear_down(struct xp_fetch *f, struct transfer *t)
{
	fetch_stop(f, t);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->headers);
}

void xp_fetch_close(struct xp_fetch *f)
{
	if (!f)
		return;
	fetch_tear_down(f, &f->get);
	fetch_tear_down(f, &f->post);
	fetch_tear_down(f, &f->push);
	curl_multi_cleanup(f->multi);
	curl_global_cleanup();
	if (f->epoll >= 0)
		close(f->epoll);
	if (f->timer >= 0)
		close(f->timer);
	xp_identity_close(&f->identity);
	xp_contact_close(&f->contact);
	free(f);
}
