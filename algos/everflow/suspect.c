/* algos/everflow/suspect.c -- suspected drops wait for what later packets tell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/suspect.h"

#include <stdlib.h>
#include <string.h>

#include "algos/everflow/reshuffle.h"
#include "sim/vec.h"

/* Slots are a queue by first copy; those of connections with one hash are a
 * list, which what was told leaves. Numbers count on; NOBODY ends a list. */
#define NOBODY UINT32_MAX

struct algo_suspect {
	struct algo_trace trace;
	struct algo_hop hop[ALGO_SUSPECT_MAX_HOPS];
	uint32_t older, newer; /* slots of the list */
	uint8_t waits;
};

int algo_suspects_open(struct algo_suspects *s, uint32_t n, sim_ns confirm,
    struct sim_err *e)
{
	uint32_t n_slots = 64;
	while (n_slots < n && n_slots < UINT32_C(1) << 24)
		n_slots *= 2;
	*s = (struct algo_suspects){.n_slots = n_slots, .confirm = confirm};
	int rc = SIM_ZALLOC(&s->slot, n_slots, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&s->head, n_slots, e);
	if (rc == 0)
		memset(s->head, 0xff, n_slots * sizeof(s->head[0]));
	return rc;
}

void algo_suspects_close(struct algo_suspects *s)
{
	free(s->slot);
	free(s->head);
	*s = (struct algo_suspects){0};
}

/* --- evidence --------------------------------------------------------------*/
static struct topo_tuple trace_tuple(const struct algo_trace *t)
{
	return (struct topo_tuple){t->src_ip, t->dst_ip, t->src_port,
	    t->dst_port, t->proto};
}

static int has_payload(const struct algo_trace *t)
{
	return t->n_bytes > ALGO_SUSPECT_BARE_BYTES;
}

static int is_roce(const struct algo_trace *t)
{
	return t->proto == OBS_PROTO_UDP && t->dst_port == OBS_PORT_ROCE;
}

int algo_suspect_waits(const struct algo_trace *t)
{
	if (t->marks & ALGO_TRACE_PROBE || t->n_hops > ALGO_SUSPECT_MAX_HOPS)
		return 0;
	if (is_roce(t))
		return t->bth_opcode != OBS_BTH_ACK;
	return t->proto == TOPO_PROTO_TCP && !(t->flags & OBS_TCP_RST) &&
	    (t->flags & (OBS_TCP_SYN | OBS_TCP_FIN) || has_payload(t));
}

/* Is T the packet W, sent again? A bare acknowledgement has the sequence number
 * of the data behind it, so only like is compared to like. */
static int is_again(const struct algo_trace *w, const struct algo_trace *t)
{
	if (t->seq != w->seq)
		return 0;
	if (is_roce(w))
		return t->bth_opcode == w->bth_opcode;
	if ((t->flags ^ w->flags) & (OBS_TCP_SYN | OBS_TCP_RST))
		return 0;
	if (t->marks & ALGO_TRACE_RETX || t->flags & OBS_TCP_SYN)
		return 1;
	return (has_payload(w) && has_payload(t)) ||
	    (w->flags & t->flags & OBS_TCP_FIN);
}

static int is_behind(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/* What a connection's beginning is followed by only if it arrived. */
static int goes_on(const struct algo_trace *w, const struct algo_trace *t)
{
	return w->proto == TOPO_PROTO_TCP && w->flags & OBS_TCP_SYN &&
	    t->flags & OBS_TCP_ACK &&
	    !(t->flags & (OBS_TCP_SYN | OBS_TCP_RST)) &&
	    is_behind(t->seq, w->seq);
}

static int answers(const struct algo_trace *w, const struct algo_trace *t)
{
	return w->proto == TOPO_PROTO_TCP && t->flags & OBS_TCP_ACK &&
	    is_behind(t->ack, w->seq);
}

/* The grade that T gives W, or 0. */
static uint32_t grade_by(const struct algo_trace *w, const struct algo_trace *t)
{
	const struct topo_tuple a = trace_tuple(w), b = trace_tuple(t);
	const struct topo_tuple back = {b.dst_ip, b.src_ip, b.dst_port,
	    b.src_port, b.proto};
	if (topo_tuple_same(&a, &b))
		return is_again(w, t) ? ALGO_TRACE_CONFIRMED
		    : goes_on(w, t)   ? ALGO_TRACE_REFUTED
				      : 0;
	return topo_tuple_same(&a, &back) && answers(w, t) ? ALGO_TRACE_REFUTED
							   : 0;
}

/* --- waiting ---------------------------------------------------------------*/
static uint32_t *suspects_head(const struct algo_suspects *s,
    const struct algo_trace *t)
{
	const struct topo_tuple tuple = trace_tuple(t);
	return &s->head[algo_reshuffle_hash(&tuple) & (s->n_slots - 1)];
}

static int suspects_end(struct algo_suspects *s, uint32_t at,
    const struct algo_trace_sink *sink, struct sim_err *e)
{
	struct algo_suspect *w = &s->slot[at];
	if (w->newer == NOBODY)
		*suspects_head(s, &w->trace) = w->older;
	else
		s->slot[w->newer].older = w->older;
	if (w->older != NOBODY)
		s->slot[w->older].newer = w->newer;
	w->waits = 0;
	s->n_waiting--;
	return sink->take(sink->arg, &w->trace, w->hop, e);
}

int algo_suspects_see(struct algo_suspects *s, const struct algo_trace *t,
    const struct algo_trace_sink *sink, struct sim_err *e)
{
	if (s->n_waiting == 0 || t->marks & ALGO_TRACE_PROBE)
		return 0;
	int rc = 0;
	uint32_t at = *suspects_head(s, t);
	while (at != NOBODY && rc == 0) {
		struct algo_trace *w = &s->slot[at].trace;
		const uint32_t here = at;
		at = s->slot[at].older;
		const uint32_t grade =
		    t->t_ns - w->t_ns <= s->confirm ? grade_by(w, t) : 0;
		if (grade == 0)
			continue;
		w->marks = (w->marks & ~(uint32_t)ALGO_TRACE_SUSPECT) | grade;
		if (grade == ALGO_TRACE_REFUTED) {
			w->lost_link = TOPO_NONE;
			w->n_lost += w->n_lost < UINT16_MAX;
		}
		rc = suspects_end(s, here, sink, e);
	}
	return rc;
}

static int suspects_end_first(struct algo_suspects *s,
    const struct algo_trace_sink *sink, struct sim_err *e)
{
	const uint32_t at = s->first++ & (s->n_slots - 1);
	return s->slot[at].waits ? suspects_end(s, at, sink, e) : 0;
}

int algo_suspects_add(struct algo_suspects *s, const struct algo_trace *t,
    const struct algo_hop hop[], const struct algo_trace_sink *sink,
    struct sim_err *e)
{
	int rc = 0;
	if (s->end - s->first == s->n_slots) {
		s->slot[s->first & (s->n_slots - 1)].trace.marks |=
		    ALGO_TRACE_EARLY;
		rc = suspects_end_first(s, sink, e);
	}
	const uint32_t at = s->end++ & (s->n_slots - 1);
	struct algo_suspect *w = &s->slot[at];
	uint32_t *head = suspects_head(s, t);
	w->trace = *t;
	memcpy(w->hop, hop, t->n_hops * sizeof(hop[0]));
	w->older = *head;
	w->newer = NOBODY;
	w->waits = 1;
	if (*head != NOBODY)
		s->slot[*head].newer = at;
	*head = at;
	s->n_waiting++;
	return rc;
}

int algo_suspects_expire(struct algo_suspects *s, sim_ns now,
    const struct algo_trace_sink *sink, struct sim_err *e)
{
	int rc = 0;
	while (rc == 0 && s->first != s->end) {
		const struct algo_suspect *w =
		    &s->slot[s->first & (s->n_slots - 1)];
		if (w->waits && now != SIM_NEVER &&
		    (now < w->trace.t_ns || now - w->trace.t_ns <= s->confirm))
			break;
		rc = suspects_end_first(s, sink, e);
	}
	return rc;
}
