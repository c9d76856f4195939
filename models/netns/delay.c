/* models/netns/delay.c -- packets of slow links wait in this process.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kernels for virtual machines often come without netem, so the program at a
 * slow link sends what it receives out by a tap beside it, and takes back what
 * comes from there:
 *
 *	link -> program -> tap -> read, wait, write -> tap -> program -> stack
 *
 * Each slow link has its tap, with the interface number n_links above its own,
 * and its queue, in the order of coming.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "models/clock.h"
#include "models/netns/faults_impl.h"
#include "models/scene/latency.h"
#include "sim/vec.h"

enum {
	MAX_FRAME = 65536,
	MAX_HELD = 65536, /* packets, of all links */
	TAP_QUEUE = 10000,
};

struct held {
	struct held *next;
	uint64_t due;
	size_t n;
	char frame[];
};

struct tap {
	int fd;
	topo_link link;
	struct sim_rng rng;
	struct held *head, **tail;
	uint64_t last_due;
	uint8_t draining; /* the link is slow only for what waits */
};

struct netns_delay {
	struct netns_faults *f;
	int epoll, timer;
	struct tap **tap; /* [n] */
	size_t n, cap;
	uint8_t *has_tap; /* [n_links] */
	const struct truth *truth;
	uint64_t zero;  /* CLOCK_MONOTONIC at the truth's time 0 */
	uint64_t armed; /* when the timer goes off; UINT64_MAX: never */
	uint32_t n_waiting;
	struct netns_delay_count count;
	char frame[MAX_FRAME];
};

/* --- taps ----------------------------------------------------------------- */

static int delay_refused(topo_link l, const char *what, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO,
	    "The tap that delays link %u cannot be %s: %s.", l, what,
	    strerror(errno));
}

/* Give the tap the link's MTU, a long queue, and raise it. */
/* A packet of the link must fit the tap, hence the same MTU. The queue is long,
 * since everything that the link carries in one turn of this program waits in
 * it. */
static int raise_tap(const char *name, topo_link l, struct sim_err *e)
{
	struct ifreq r = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return delay_refused(l, "raised", e);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "l%u", l);
	int ok = ioctl(fd, SIOCGIFMTU, &r) == 0;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	ok = ok && ioctl(fd, SIOCSIFMTU, &r) == 0;
	r.ifr_qlen = TAP_QUEUE;
	ok = ok && ioctl(fd, SIOCSIFTXQLEN, &r) == 0;
	r.ifr_flags = IFF_UP | IFF_NOARP;
	ok = ok && ioctl(fd, SIOCSIFFLAGS, &r) == 0;
	const int rc = ok ? 0 : delay_refused(l, "raised", e);
	close(fd);
	return rc;
}

/* The tap must be in the namespace of the link's receiver, where the program
 * can redirect to it; the thread is there. */
static int make_tap(struct netns_delay *d, struct tap *tap, struct sim_err *e)
{
	const unsigned index = netns_ifindex(d->f->t->n_links + tap->link);
	struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int rc;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "d%u", tap->link);
	tap->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tap->fd < 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "Faults of latency take /dev/net/tun: %s.",
		    strerror(errno));
	/* The index is chosen, so that the program in the kernel finds a link's
	 * tap by adding n_links, without a table. */
	if (ioctl(tap->fd, TUNSETIFINDEX, &index) < 0 ||
	    ioctl(tap->fd, TUNSETIFF, &r) < 0)
		return delay_refused(tap->link, "made", e);
	if ((rc = raise_tap(r.ifr_name, tap->link, e)) < 0)
		return rc;
	return d->f->ops->attach_tap(d->f, index, e);
}

static void free_tap(struct tap *tap)
{
	while (tap->head) {
		struct held *h = tap->head;
		tap->head = h->next;
		free(h);
	}
	if (tap->fd >= 0)
		close(tap->fd);
	free(tap);
}

static int add_tap(struct netns_delay *d, topo_link l, struct sim_err *e)
{
	const struct sim_seed where = {.seed = d->f->p.seed};
	struct tap *tap = NULL;
	int rc;
	if ((rc = SIM_RESERVE(&d->tap, &d->cap, d->n + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&tap, 1, e)) < 0)
		return rc;
	tap->fd = -1;
	tap->link = l;
	tap->tail = &tap->head;
	/* Each link has a stream of its own: a delay elsewhere changes nothing
	 * here. */
	sim_rng_init(&tap->rng, &where, SIM_STREAM_DELAY, l);
	if ((rc = netns_enter(d->f->net, netns_faults_end(d->f, l), e)) == 0)
		rc = make_tap(d, tap, e);
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = tap};
	if (rc == 0 && epoll_ctl(d->epoll, EPOLL_CTL_ADD, tap->fd, &ev) < 0)
		rc = delay_refused(l, "watched", e);
	if (rc < 0) {
		free_tap(tap);
		return rc;
	}
	d->tap[d->n++] = tap;
	d->has_tap[l] = 1;
	return 0;
}

int netns_delay_taps(struct netns_delay *d, struct sim_err *e)
{
	const size_t n_before = d->n;
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < d->f->t->n_links; l++)
		if (d->f->plan.link[l].slow && !d->has_tap[l])
			rc = add_tap(d, l, e);
	if (rc == 0 && d->n == n_before)
		return 0;
	/* Making taps has moved the thread; it goes home also after a
	 * failure. */
	const int back = netns_leave(d->f->net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

/* --- packets -------------------------------------------------------------- */

static void delay_hold(struct netns_delay *d, struct tap *tap, size_t n)
{
	const uint64_t now = clock_now();
	const double us =
	    scene_latency_draw(d->truth, tap->link, now - d->zero, &tap->rng);
	struct held *h =
	    d->n_waiting < MAX_HELD ? malloc(sizeof(*h) + n) : NULL;
	d->count.n_held++;
	if (!h) {
		d->count.n_lost++;
		return;
	}
	h->next = NULL;
	h->n = n;
	h->due = now + (uint64_t)(us * 1e3);
	/* No packet overtakes another of the same link: TCP would take the gap
	 * for a loss. So one that draws a short delay waits for those before
	 * it. */
	if (h->due < tap->last_due)
		h->due = tap->last_due;
	tap->last_due = h->due;
	memcpy(h->frame, d->frame, n);
	*tap->tail = h;
	tap->tail = &h->next;
	d->n_waiting++;
}

/* Write back what is due. One that the kernel does not take is lost. */
static void delay_release(struct netns_delay *d, struct tap *tap)
{
	for (;;) {
		struct held *h = tap->head;
		if (!h)
			break;
		/* The clock is read anew for each packet, as writing one takes
		 * a while in which the next may come due. */
		const uint64_t now = clock_now();
		if (h->due > now)
			break;
		if (now - h->due > d->count.late_ns)
			d->count.late_ns = now - h->due;
		if (write(tap->fd, h->frame, h->n) != (ssize_t)h->n)
			d->count.n_lost++;
		tap->head = h->next;
		if (!tap->head)
			tap->tail = &tap->head;
		free(h);
		d->n_waiting--;
	}
}

/* Read until there is none: what stays in the tap has not begun its delay. */
static int read_tap(struct netns_delay *d, struct tap *tap, struct sim_err *e)
{
	for (;;) {
		ssize_t n = read(tap->fd, d->frame, sizeof(d->frame));
		if (n > 0)
			delay_hold(d, tap, (size_t)n);
		else if (n < 0 && errno != EINTR)
			return errno == EAGAIN
			    ? 0
			    : delay_refused(tap->link, "read", e);
	}
}

/* What is released makes hosts send more, which may be in the tap by now. Only
 * when neither the queue nor the tap has anything may the link pass by the tap
 * again, or new packets would overtake old ones. */
static int dry(struct netns_delay *d, struct tap *tap, struct sim_err *e)
{
	int rc = tap->head ? 0 : read_tap(d, tap, e);
	if (rc == 0 && !tap->head) {
		d->f->ops->pass(d->f, tap->link);
		tap->draining = 0;
	}
	return rc;
}

static int delay_arm(struct netns_delay *d, struct sim_err *e)
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < d->n; i++)
		if (d->tap[i]->head && d->tap[i]->head->due < first)
			first = d->tap[i]->head->due;
	if (first == d->armed)
		return 0;
	/* A time of 0 disarms the timer, which is what is meant where no packet
	 * waits. */
	struct itimerspec at = {0};
	if (first != UINT64_MAX)
		at.it_value = (struct timespec){(time_t)(first / SIM_SEC),
		    (long)(first % SIM_SEC)};
	if (timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &at, NULL) < 0)
		return sim_fail(e, SIM_EIO, "A timer cannot be set: %s.",
		    strerror(errno));
	d->armed = first;
	return 0;
}

/* First all taps are read, so that each packet's delay begins as early as can
 * be known, then what is due is written. */
int netns_delay_step(struct netns_delay *d, struct sim_err *e)
{
	struct epoll_event ev[32];
	uint64_t n_expired;
	int n = epoll_wait(d->epoll, ev, 32, 0), rc = 0;
	for (int i = 0; rc == 0 && i < n; i++) {
		if (ev[i].data.ptr)
			rc = read_tap(d, ev[i].data.ptr, e);
		else if (read(d->timer, &n_expired, sizeof(n_expired)) > 0)
			d->armed = UINT64_MAX;
	}
	for (size_t i = 0; i < d->n; i++) {
		delay_release(d, d->tap[i]);
		if (rc == 0 && d->tap[i]->draining)
			rc = dry(d, d->tap[i], e);
	}
	return rc < 0 ? rc : delay_arm(d, e);
}

/* --- opening and closing -------------------------------------------------- */

/* When a delay ends, the packets that came while it held go before those that
 * come after it; TCP would take an order that is changed for a loss. So the
 * link stays slow until they have gone, whatever the plan says. */
static int drain(struct netns_delay *d, struct tap *tap, struct sim_err *e)
{
	uint8_t *slow = &d->f->plan.link[tap->link].slow;
	int rc = read_tap(d, tap, e);
	tap->draining = !*slow && tap->head;
	*slow |= tap->draining;
	return rc;
}

int netns_delay_apply(struct netns_delay *d, const struct truth *truth,
    sim_ns now, struct sim_err *e)
{
	int rc = 0;
	d->truth = truth;
	/* NOW is of the truth; packets are timed by CLOCK_MONOTONIC. */
	d->zero = clock_now() - now;
	for (size_t i = 0; rc == 0 && i < d->n; i++)
		rc = drain(d, d->tap[i], e);
	return rc < 0 ? rc : delay_arm(d, e);
}

static int delay_open_fds(struct netns_delay *d, struct sim_err *e)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->epoll < 0 || d->timer < 0 ||
	    epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->timer, &ev) < 0)
		return sim_fail(e, SIM_EIO,
		    "A timer for delays cannot be had: %s.", strerror(errno));
	return 0;
}

int netns_delay_open(struct netns_delay **out, struct netns_faults *f,
    struct sim_err *e)
{
	struct netns_delay *d = NULL;
	int rc;
	/* That there are no delays is no error until a fault wants one; the
	 * reason is kept for that message. */
	if (access("/dev/net/tun", R_OK | W_OK) < 0) {
		snprintf(f->caps.why, sizeof(f->caps.why), "/dev/net/tun: %s",
		    strerror(errno));
		return 0;
	}
	if ((rc = SIM_ZALLOC(&d, 1, e)) < 0)
		return rc;
	d->f = f;
	d->epoll = d->timer = -1;
	d->armed = UINT64_MAX;
	if ((rc = SIM_ZALLOC(&d->has_tap, f->t->n_links, e)) < 0 ||
	    (rc = delay_open_fds(d, e)) < 0)
		netns_delay_close(d);
	else
		*out = d;
	return rc;
}

void netns_delay_close(struct netns_delay *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		free_tap(d->tap[i]);
	if (d->epoll >= 0)
		close(d->epoll);
	if (d->timer >= 0)
		close(d->timer);
	free(d->tap);
	free(d->has_tap);
	free(d);
}

int netns_delay_fd(const struct netns_delay *d)
{
	return d->epoll;
}

void netns_delay_count(const struct netns_delay *d, struct netns_delay_count *c)
{
	*c = d->count;
}
