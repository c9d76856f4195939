/* tests/rigs/rack_packets.c -- the rack packet by packet, as an oracle of its slots.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/rack_packets.h"

#include <math.h>
#include <stdlib.h>

#include "sim/evq.h"
#include "sim/vec.h"

/* A packet that was sent and not acknowledged. */
struct packets_sent {
	uint64_t serial;
	unsigned later; /* acknowledged of those sent later */
	int lost;
};

struct packets_flow {
	struct packets *w;
	uint32_t server, left, again;
	double window, threshold, alpha;
	struct packets_sent *out; /* in the order of sending */
	size_t n_out, cap_out;
	uint64_t serial;             /* of the next */
	uint64_t round_end, cut_end; /* serials */
	uint64_t n_acked, n_marked;  /* in this round */
	sim_ns line_free, last_ack;
	uint64_t timer; /* of the one that counts */
	unsigned backoff;
	uint32_t warm;
};

/* What a warm connection goes on with; a window of 0: nothing yet. */
struct packets_warm {
	double window, threshold, alpha;
};

struct packets_queue {
	struct {
		uint32_t flow;
		uint64_t serial;
		int ce;
	} * packet; /* a ring */
	size_t ring, head, n;
};

struct packets {
	const struct rack_params *p;
	struct packets_flow *flow;
	struct packets_warm *warm; /* by number */
	struct packets_queue queue[RACK_PACKETS_SERVERS];
	struct sim_evq *q;
	struct rack_story *s;
	sim_ns send_ns, back_ns; /* ways to the switch, and back */
	uint64_t in_buffer;      /* bytes */
};

enum { MAX_WARM = 1000 };

static sim_ns packet_ns(const struct packets *w)
{
	return (sim_ns)(w->p->segment * 8 / w->p->line_gbps);
}

static int later(struct packets *w, sim_ns t, sim_event_fn *fn, void *arg,
    uint64_t aux, struct sim_err *e)
{
	const struct sim_event ev = {t, fn, arg, aux};
	return sim_evq_put(w->q, &ev, e);
}

static size_t in_flight(const struct packets_flow *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_out; i++)
		n += !f->out[i].lost;
	return n;
}

static sim_event_fn arrives, departs, acknowledged, timed_out;

static int set_timer(struct packets_flow *f, struct sim_err *e)
{
	const double ns = f->w->p->rto_ms * 1e6 * (double)(1u << f->backoff);
	f->timer++;
	return later(f->w, sim_evq_now(f->w->q) + (sim_ns)ns, timed_out, f,
	    f->timer, e);
}

/* As many as the window allows, one after the other on the sender's line. */
static int send_on(struct packets_flow *f, struct sim_err *e)
{
	struct packets *w = f->w;
	const sim_ns now = sim_evq_now(w->q);
	int rc = 0;
	while (rc == 0 && f->left + f->again > 0 &&
	    (double)in_flight(f) + 1 <= f->window) {
		if ((rc = SIM_RESERVE(&f->out, &f->cap_out, f->n_out + 1, e)) <
		    0)
			return rc;
		if (f->again > 0) {
			f->again--;
			w->s->retx++;
		} else {
			f->left--;
		}
		f->out[f->n_out++] = (struct packets_sent){.serial = f->serial};
		f->line_free =
		    (f->line_free > now ? f->line_free : now) + packet_ns(w);
		rc = later(w, f->line_free + w->send_ns, arrives, f,
		    f->serial++, e);
	}
	return rc;
}

static int begins(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	struct packets_flow *f = ev->arg;
	const struct packets_warm *w = &f->w->warm[f->warm];
	(void)q;
	if (f->warm > 0 && w->window > 0) {
		f->window = w->window;
		f->threshold = w->threshold;
		f->alpha = w->alpha;
	}
	const int rc = set_timer(f, e);
	return rc < 0 ? rc : send_on(f, e);
}

static int may_enter(const struct packets *w, uint64_t queue)
{
	const double b = w->p->shared, all = (double)w->in_buffer;
	const double after = (double)queue + w->p->segment;
	switch ((enum rack_policy)w->p->policy) {
	case RACK_STATIC:
		return after <= b / RACK_PACKETS_SERVERS;
	case RACK_COMPLETE:
		return all + w->p->segment <= b;
	case RACK_DYNAMIC:
		break;
	}
	return after <= w->p->alpha * (b - all);
}

static int arrives(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	struct packets_flow *f = ev->arg;
	struct packets *w = f->w;
	struct packets_queue *to = &w->queue[f->server];
	const uint64_t bytes = to->n * w->p->segment;
	if (!may_enter(w, bytes)) {
		w->s->dropped++;
		return 0;
	}
	const size_t at = (to->head + to->n++) % to->ring;
	to->packet[at].flow = (uint32_t)(f - w->flow);
	to->packet[at].serial = ev->aux;
	to->packet[at].ce = w->p->ecn > 0 && (double)bytes > w->p->ecn;
	w->in_buffer += w->p->segment;
	return to->n > 1
	    ? 0
	    : later(w, sim_evq_now(q) + packet_ns(w), departs, w, f->server, e);
}

static int departs(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	struct packets *w = ev->arg;
	struct packets_queue *from = &w->queue[ev->aux];
	const uint64_t serial = from->packet[from->head].serial;
	const int ce = from->packet[from->head].ce;
	struct packets_flow *f = &w->flow[from->packet[from->head].flow];
	from->head = (from->head + 1) % from->ring;
	from->n--;
	w->in_buffer -= w->p->segment;
	w->s->arrived++;
	w->s->marked += (uint64_t)ce;
	int rc = later(w, sim_evq_now(q) + w->back_ns, acknowledged, f,
	    serial << 1 | (uint64_t)ce, e);
	if (rc == 0 && from->n > 0)
		rc = later(w, sim_evq_now(q) + packet_ns(w), departs, w,
		    ev->aux, e);
	return rc;
}

static void cut(struct packets_flow *f, double factor)
{
	f->window = fmax(f->window * factor, f->w->p->window_min);
	f->threshold = f->window;
	f->cut_end = f->serial;
}

/* Take SERIAL out of what is out; tell those before it. Returns 1 if one of
 * them is now known to be lost. */
static int take_out(struct packets_flow *f, uint64_t serial)
{
	int lost = 0;
	size_t n = 0;
	for (size_t i = 0; i < f->n_out; i++) {
		struct packets_sent s = f->out[i];
		if (s.serial == serial)
			continue;
		if (s.serial < serial && ++s.later == 3) {
			f->again++;
			lost |= s.serial >= f->cut_end;
			continue;
		}
		f->out[n++] = s;
	}
	f->n_out = n;
	return lost;
}

static void grow(struct packets_flow *f, size_t flying)
{
	if (f->window >= 2 * (double)(flying + 1))
		return;
	f->window += f->window < f->threshold ? 1 : 1 / f->window;
	f->window = fmin(f->window, f->w->p->window_max);
}

static int acknowledged(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	struct packets_flow *f = ev->arg;
	const uint64_t serial = ev->aux >> 1;
	const int ce = ev->aux & 1;
	(void)q;
	const size_t flying = in_flight(f);
	f->backoff = 0;
	f->n_acked++;
	f->n_marked += (uint64_t)ce;
	const int lost = take_out(f, serial);
	if (serial >= f->round_end) {
		f->alpha += f->w->p->gain *
		    ((double)f->n_marked / (double)f->n_acked - f->alpha);
		f->n_acked = f->n_marked = 0;
		f->round_end = f->serial;
	}
	if (lost)
		cut(f, 0.5);
	else if (ce && serial >= f->cut_end)
		cut(f, 1 - f->alpha / 2);
	else if (!ce && serial >= f->cut_end)
		grow(f, flying);
	if (f->left + f->again + f->n_out == 0)
		f->w->warm[f->warm] =
		    (struct packets_warm){f->window, f->threshold, f->alpha};
	int rc = send_on(f, e);
	if (rc == 0)
		rc = set_timer(f, e);
	return rc;
}

static int timed_out(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	struct packets_flow *f = ev->arg;
	(void)q;
	if (ev->aux != f->timer || f->n_out == 0)
		return 0;
	f->w->s->n_rto++;
	f->again += (uint32_t)f->n_out;
	f->n_out = 0;
	f->threshold = fmax(f->window / 2, f->w->p->window_min);
	f->window = 1;
	f->cut_end = f->serial;
	f->backoff += f->backoff < 6;
	const int rc = set_timer(f, e);
	return rc < 0 ? rc : send_on(f, e);
}

static int look(struct packets *w, struct sim_err *e)
{
	struct rack_story *s = w->s;
	int rc = SIM_RESERVE(&s->queue, &s->cap_queue,
	    s->n_queue + w->p->n_servers, e);
	for (uint32_t i = 0; rc == 0 && i < w->p->n_servers; i++)
		s->queue[s->n_queue++] =
		    (double)(w->queue[i].n * w->p->segment);
	return rc;
}

static int packets_open(struct packets *w, const struct rack_flows *f,
    struct sim_err *e)
{
	int rc = sim_evq_open(&w->q, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&w->flow, f->n, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&w->warm, MAX_WARM + 1, e);
	for (uint32_t i = 0; rc == 0 && i < w->p->n_servers; i++) {
		struct packets_queue *q = &w->queue[i];
		q->ring = (size_t)(w->p->shared / w->p->segment) + 2;
		rc = SIM_ZALLOC(&q->packet, q->ring, e);
	}
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		w->flow[i] = (struct packets_flow){.w = w,
		    .server = f->server[i],
		    .left = f->segments[i],
		    .window = w->p->window,
		    .threshold = HUGE_VAL,
		    .alpha = 1,
		    .round_end = 1,
		    .warm = f->warm[i] <= MAX_WARM ? f->warm[i] : 0};
		rc = later(w, f->start_ns[i], begins, &w->flow[i], 0, e);
	}
	return rc;
}

int rack_packets_play(const struct rack_params *p, const struct rack_flows *f,
    sim_ns until, struct rack_story *s, struct sim_err *e)
{
	const sim_ns rtt = (sim_ns)(p->rtt_us * 1e3);
	struct packets w = {.p = p, .s = s, .send_ns = rtt * 2 / 5};
	/* Both lines' times are part of the round trip. */
	w.back_ns = rtt - w.send_ns - 2 * packet_ns(&w);
	int rc = packets_open(&w, f, e);
	for (sim_ns t = 25 * SIM_US; rc == 0 && t <= until; t += 25 * SIM_US)
		if ((rc = sim_evq_run(w.q, t, e)) == 0)
			rc = look(&w, e);
	for (size_t i = 0; w.flow && i < f->n; i++)
		free(w.flow[i].out);
	for (uint32_t i = 0; i < RACK_PACKETS_SERVERS; i++)
		free(w.queue[i].packet);
	free(w.flow);
	free(w.warm);
	sim_evq_close(w.q);
	return rc;
}

static int slots_run(struct rack *r, const struct rack_params *p, sim_ns until,
    struct rack_story *s, struct sim_err *e)
{
	struct rack_totals t;
	int rc = 0;
	for (sim_ns at = 25 * SIM_US; rc == 0 && at <= until;
	     at += 25 * SIM_US) {
		if ((rc = rack_run(r, at, e)) < 0 ||
		    (rc = SIM_RESERVE(&s->queue, &s->cap_queue,
			 s->n_queue + p->n_servers, e)) < 0)
			return rc;
		for (uint32_t i = 0; i < p->n_servers; i++) {
			struct rack_count c;
			s->queue[s->n_queue++] = (double)rack_queue(r, i);
			rack_take(r, i, &c);
			s->marked += c.in_ce;
		}
	}
	rack_totals(r, &t);
	s->arrived += t.arrived / p->segment;
	s->dropped += t.buffer / p->segment;
	s->retx += t.retx / p->segment;
	s->n_rto += t.n_rto;
	return rc;
}

int rack_packets_slots(const struct rack_params *p, const struct rack_flows *f,
    sim_ns until, struct rack_story *s, struct sim_err *e)
{
	const struct sim_seed where = {.seed = 1};
	struct rack *r = NULL;
	const uint64_t had = s->marked;
	s->marked = 0;
	int rc = rack_open(&r, p, &where, e);
	if (rc == 0 && (rc = rack_put(r, f, e)) == 0)
		rc = slots_run(r, p, until, s, e);
	s->marked = had + s->marked / p->segment;
	rack_close(r);
	return rc;
}

void rack_story_free(struct rack_story *s)
{
	free(s->queue);
	*s = (struct rack_story){0};
}
