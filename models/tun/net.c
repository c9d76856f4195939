/* models/tun/net.c -- real hosts in a simulated network, in real time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Times in the queue are CLOCK_MONOTONIC; those of a scene count from `begun`.
 *
 * A packet of a host is read, its whole way is looked up at once, and it waits
 * in the queue for the time at which it is there; then it is written to the
 * other host's device, or its answer begins its own way. So what a packet costs
 * does not hang on the length of its path.
 */
#include "models/tun/net.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "models/clock.h"
#include "models/real/fds.h"
#include "models/real/namespace.h"
#include "models/tun/node.h"
#include "models/tun/queue.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum {
	EVENTS = 64,
	AT_ONCE = 32, /* packets read from a host before it is others' turn */
	ROUNDS = 8,   /* before sockets of the same thread have theirs */
	DEVICE_QUEUE = 8192, /* packets; a burst of one socket is some 1,000 */
	SPARE_FDS = 64,
};
#define TIMER UINT64_MAX /* what epoll says of the timer; else a host */

#define AT(member) offsetof(struct tun_net_params, member)
const struct sim_field tun_net_fields[] = {
    {"mtu", SIM_F_U32, AT(mtu), .def = "1500", .min = 576, .max = 65535,
	.unit = "bytes", .doc = "greatest packet of all hosts"},
    {"max_packets", SIM_F_U32, AT(max_packets), .def = "65536", .min = 1,
	.max = 1e6, .unit = "packets", .doc = "on the way at a time"},
    {"spin", SIM_F_F64, AT(spin_us), .def = "0", .min = 0, .max = 1e3,
	.unit = "us",
	.doc = "watch the clock this long before a packet is due"},
    {0},
};
#undef AT

struct tun_net {
	const struct topo *t;
	struct tun_switch network;
	struct tun_queue queue;
	struct tun_net_counters count;
	struct scene silence;   /* until tun_net_begin() */
	int home, epoll, timer; /* -1: not yet */
	uint32_t n_nodes;
	struct tun_node *node;
	sim_ns begun, armed, spin;
};

/* --- what hosts send ------------------------------------------------------ */

/* See a packet that was read into a slot on its way; the slot is given back if
 * there is none, because it was refused or is lost. */
static int forward(struct tun_net *net, topo_host h, uint32_t slot, size_t n,
    struct sim_err *e)
{
	struct tun_slot *s = &net->queue.slot[slot];
	/* When the packet is taken to leave its host: as early as it can be
	 * known. */
	const sim_ns now = clock_now();
	struct tun_way w = {.fate = TUN_LOST};
	uint8_t *bytes = tun_queue_bytes(&net->queue, slot);
	int rc = 0;
	enum tun_refusal why = tun_wire_parse(bytes, n, &s->packet);
	if (why == TUN_FINE)
		why = tun_switch_admit(&net->network, &s->packet, h, &s->to);
	if (why != TUN_FINE)
		net->count.refused[why]++;
	else
		rc = tun_switch_send(&net->network, &s->packet,
		    now - net->begun, &w, e);
	if (rc < 0 || w.fate == TUN_LOST) {
		tun_queue_give(&net->queue, slot);
		return rc;
	}
	s->bytes = s->packet.bytes;
	s->expires = w.fate == TUN_EXPIRES;
	/* Of n links all but the last end at a switch that passes the packet
	 * on, and each of these takes 1 off its TTL. Nobody looks at the bytes
	 * meanwhile, so they are aged at once. */
	tun_wire_age(bytes, w.n_links - 1);
	tun_queue_put(&net->queue, slot, net->begun + w.at);
	return 0;
}

/* The queue is full. What hosts send is still read, dropped here and counted;
 * left unread it would be dropped in the queues of their devices, of which no
 * more than a total is known (tun_node_overruns()). */
static int drop_one(struct tun_net *net, topo_host h)
{
	uint8_t byte;
	/* A read takes the whole packet, whatever room it is given. */
	if (read(net->node[h].dev, &byte, 1) <= 0)
		return 0;
	net->count.read++;
	net->count.crowded++;
	return 1;
}

/* A few packets of one host, then others: a host that sends without end must
 * not starve the rest. */
static int tun_net_read_host(struct tun_net *net, topo_host h,
    struct sim_err *e)
{
	for (int i = 0; i < AT_ONCE; i++) {
		uint32_t slot;
		int rc = tun_queue_take(&net->queue, &slot, e);
		if (rc < 0)
			return rc;
		if (slot == TOPO_NONE) {
			if (!drop_one(net, h))
				return 0;
			continue;
		}
		ssize_t n = read(net->node[h].dev,
		    tun_queue_bytes(&net->queue, slot), net->queue.slot_bytes);
		if (n < 0) {
			const int why = errno;
			tun_queue_give(&net->queue, slot);
			return why == EAGAIN || why == EINTR
			    ? 0
			    : sim_fail(e, SIM_EIO,
				  "The device of host %u cannot be read: %s.",
				  h, strerror(why));
		}
		net->count.read++;
		if ((rc = forward(net, h, slot, (size_t)n, e)) < 0)
			return rc;
	}
	return 0;
}

/* --- what they get -------------------------------------------------------- */

/* How late packets are written is kept, since that is what this machine adds to
 * the delays of the model. */
static void tun_net_deliver(struct tun_net *net, const struct tun_slot *s,
    const uint8_t bytes[], sim_ns late)
{
	if (write(net->node[s->to].dev, bytes, s->bytes) != s->bytes) {
		net->count.unwritten++;
		return;
	}
	net->count.written++;
	net->count.late += late;
	if (late > net->count.most_late)
		net->count.most_late = late;
}

/* A packet has died at a switch, and its slot is used for the answer. Faults
 * and the bucket of answers go by the time at which it got there, not by when
 * this program comes to see to it; a packet of the epoch before counts as one
 * of this epoch's beginning. */
static int tun_net_answer(struct tun_net *net, uint32_t slot, sim_ns at,
    struct sim_err *e)
{
	struct tun_slot *s = &net->queue.slot[slot];
	uint8_t *bytes = tun_queue_bytes(&net->queue, slot);
	uint8_t out[TUN_ANSWER_BYTES];
	struct tun_way w;
	uint32_t from;
	int rc = tun_switch_answer(&net->network, &s->packet,
	    at > net->begun ? at - net->begun : 0, &w, &from, e);
	if (rc == 0 && w.fate != TUN_SUPPRESSED)
		net->count.answers++;
	if (rc < 0 || w.fate != TUN_ARRIVES) {
		tun_queue_give(&net->queue, slot);
		return rc;
	}
	s->bytes = (uint16_t)tun_wire_exceeded(bytes, s->bytes, from, out);
	memcpy(bytes, out, s->bytes);
	tun_wire_age(bytes, w.n_links - 1);
	s->expires = 0;
	s->to = topo_addr_to_host(s->packet.tuple.src_ip, net->t->n_hosts);
	tun_queue_put(&net->queue, slot, net->begun + w.at);
	return 0;
}

static int serve_due(struct tun_net *net, struct sim_err *e)
{
	while (tun_queue_next(&net->queue) != SIM_NEVER) {
		const sim_ns at = tun_queue_next(&net->queue);
		const sim_ns now = clock_now();
		if (at > now + net->spin)
			break;
		/* Due within `spin`: watch the clock, since waking up by a
		 * timer may take longer than what is left. */
		if (at > now)
			continue;
		const uint32_t slot = tun_queue_pop(&net->queue);
		const struct tun_slot *s = &net->queue.slot[slot];
		if (s->expires) {
			int rc = tun_net_answer(net, slot, at, e);
			if (rc < 0)
				return rc;
			continue;
		}
		tun_net_deliver(net, s, tun_queue_bytes(&net->queue, slot),
		    now - at);
		tun_queue_give(&net->queue, slot);
	}
	return 0;
}

/* --- the loop ------------------------------------------------------------- */

/* Set the timer to when the next packet is due, less the time of spinning; if
 * that has not changed there is no system call. */
static int tun_net_arm(struct tun_net *net, struct sim_err *e)
{
	const sim_ns due = tun_queue_next(&net->queue);
	const sim_ns at = due == SIM_NEVER ? due : due - net->spin;
	struct itimerspec when = {{0}, {0}};
	if (at == net->armed)
		return 0;
	if (at != SIM_NEVER) {
		when.it_value.tv_sec = (time_t)(at / SIM_SEC);
		when.it_value.tv_nsec = (long)(at % SIM_SEC);
	}
	net->armed = at;
	return timerfd_settime(net->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "A timer cannot be set: %s.",
		  strerror(errno));
}

/* Read the timer, only to make epoll silent; what is due is told by the clock
 * in any case. */
static void hush(struct tun_net *net)
{
	uint64_t times;
	if (read(net->timer, &times, sizeof(times)) == sizeof(times))
		net->armed = SIM_NEVER;
}

int tun_net_fd(const struct tun_net *net)
{
	return net->epoll;
}

/* Reading and delivering take turns, as what is delivered makes hosts answer at
 * once. After some rounds the thread's other sockets have their turn, though
 * there may be more to do: epoll tells of it again. */
int tun_net_serve(struct tun_net *net, struct sim_err *e)
{
	struct epoll_event ev[EVENTS];
	int rc = 0, n = 1;
	for (int round = 0; n > 0 && round < ROUNDS; round++) {
		n = epoll_wait(net->epoll, ev, EVENTS, 0);
		for (int i = 0; rc == 0 && i < n; i++) {
			if (ev[i].data.u64 == TIMER)
				hush(net);
			else
				rc = tun_net_read_host(net,
				    (topo_host)ev[i].data.u64, e);
		}
		if (rc < 0 || (rc = serve_due(net, e)) < 0)
			return rc;
	}
	return tun_net_arm(net, e);
}

/* --- opening -------------------------------------------------------------- */

static int tun_net_raise_fd_limit(uint32_t n_hosts, struct sim_err *e)
{
	const rlim_t need = 2 * (rlim_t)n_hosts + SPARE_FDS;
	unsigned long long hard;
	if (real_fds_raise(need, &hard))
		return 0;
	return sim_fail(e, SIM_ELIMIT,
	    "%u hosts take %llu file descriptors; `ulimit -Hn` allows %llu.",
	    n_hosts, (unsigned long long)need, hard);
}

static int tun_net_watch(struct tun_net *net, int fd, uint64_t what,
    struct sim_err *e)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = what};
	return epoll_ctl(net->epoll, EPOLL_CTL_ADD, fd, &ev) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "Descriptor %d cannot be polled: %s.", fd,
		  strerror(errno));
}

static int open_loop(struct tun_net *net, struct sim_err *e)
{
	net->epoll = epoll_create1(EPOLL_CLOEXEC);
	net->timer =
	    timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (net->epoll < 0 || net->timer < 0)
		return sim_fail(e, SIM_EIO, "There is no epoll or timer: %s.",
		    strerror(errno));
	/* Timers of the kernel are otherwise allowed to be 50 us late, to save
	 * power. That is of no use to the timerfd here, which is exact; but
	 * poll() with a deadline, by whoever runs hosts in this thread, would
	 * be late. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	return tun_net_watch(net, net->timer, TIMER, e);
}

static int open_hosts(struct tun_net *net, uint32_t mtu, struct sim_err *e)
{
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < net->t->n_hosts; h++) {
		rc = tun_node_open(&net->node[h], h, mtu, DEVICE_QUEUE, e);
		if (rc < 0) {
			rc = sim_wrap(e, rc, "host %u", h);
			break;
		}
		net->n_nodes++;
		rc = tun_net_watch(net, net->node[h].dev, h, e);
	}
	/* After a failure, that message stands. */
	int back = tun_net_leave(net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

static int tun_net_open_all(struct tun_net *net, const struct topo *t,
    const struct tun_net_params *p, struct sim_err *e)
{
	int rc;
	*net = (struct tun_net){.t = t,
	    .home = -1,
	    .epoll = -1,
	    .timer = -1,
	    .armed = SIM_NEVER,
	    .spin = (sim_ns)(p->spin_us * 1e3),
	    /* Before the first epoch the network is whole: nothing is broken in
	     * an empty scene. */
	    .silence.loss.truth = &net->silence.truth};
	/* An answer quotes up to 576 bytes, which may be more than the greatest
	 * packet. */
	tun_queue_open(&net->queue,
	    p->mtu > TUN_ANSWER_BYTES ? p->mtu : TUN_ANSWER_BYTES,
	    p->max_packets);
	if ((rc = tun_switch_open(&net->network, t, &p->network, e)) < 0 ||
	    (rc = SIM_ZALLOC(&net->node, t->n_hosts, e)) < 0 ||
	    (rc = tun_net_raise_fd_limit(t->n_hosts, e)) < 0 ||
	    (rc = real_ns_here(&net->home, e)) < 0 ||
	    (rc = open_loop(net, e)) < 0 ||
	    (rc = open_hosts(net, p->mtu, e)) < 0)
		return rc;
	return tun_net_begin(net, &net->silence, 0, e);
}

int tun_net_open(struct tun_net **out, const struct topo *t,
    const struct tun_net_params *p, struct sim_err *e)
{
	struct tun_net *net = NULL;
	int rc;
	*out = NULL;
	if (t->n_hosts == 0)
		return sim_fail(e, SIM_EINVAL,
		    "A network without hosts cannot be built.");
	if ((rc = SIM_ZALLOC(&net, 1, e)) < 0)
		return rc;
	if ((rc = tun_net_open_all(net, t, p, e)) < 0)
		tun_net_close(net);
	else
		*out = net;
	return rc;
}

void tun_net_close(struct tun_net *net)
{
	if (!net)
		return;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		tun_node_close(&net->node[i]);
	if (net->timer >= 0)
		close(net->timer);
	if (net->epoll >= 0)
		close(net->epoll);
	if (net->home >= 0)
		close(net->home);
	tun_queue_close(&net->queue);
	tun_switch_close(&net->network);
	free(net->node);
	free(net);
}

/* The clock of the epoch starts after the switch is ready, so that a fault at
 * time 0 holds for the first packet. */
int tun_net_begin(struct tun_net *net, const struct scene *scene,
    sim_ns epoch_ns, struct sim_err *e)
{
	int rc = tun_switch_begin(&net->network, scene, epoch_ns, e);
	if (rc == 0)
		net->begun = clock_now();
	return rc;
}

/* --- the rest ------------------------------------------------------------- */

int tun_net_ns(const struct tun_net *net, topo_host h)
{
	assert(h < net->n_nodes);
	return net->node[h].ns;
}

int tun_net_enter(const struct tun_net *net, topo_host h, struct sim_err *e)
{
	return real_ns_enter(tun_net_ns(net, h), e);
}

int tun_net_leave(const struct tun_net *net, struct sim_err *e)
{
	return real_ns_enter(net->home, e);
}

const struct tun_switch *tun_net_switch(const struct tun_net *net)
{
	return &net->network;
}

const struct tun_net_counters *tun_net_count(const struct tun_net *net)
{
	return &net->count;
}

int tun_net_overruns(const struct tun_net *net, uint64_t *n, struct sim_err *e)
{
	int rc = 0;
	*n = 0;
	for (topo_host h = 0; rc == 0 && h < net->n_nodes; h++) {
		uint64_t of_host = 0;
		rc = tun_net_enter(net, h, e);
		if (rc == 0)
			rc = tun_node_overruns(&of_host, e);
		*n += of_host;
	}
	/* The thread must get home in any case. */
	int back = tun_net_leave(net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}
