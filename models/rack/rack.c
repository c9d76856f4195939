/* models/rack/rack.c -- the rack: slots, transfers that begin, timeouts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/rack/rack.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/obs_sketch.h"
#include "models/rack/impl.h"
#include "models/rack/params.h"
#include "sim/vec.h"

/* --- opening ---------------------------------------------------------------*/

static void rack_set_times(struct rack *r)
{
	const struct rack_params *p = &r->p;
	const double line_bytes_s = p->line_gbps * 1e9 / 8;
	r->slot_ns = (sim_ns)llround(p->slot_us * 1e3);
	r->line_slot = line_bytes_s * (double)r->slot_ns * 1e-9;
	r->per_line = 1 / r->line_slot;
	r->rtt_slots = (uint32_t)(p->rtt_us / p->slot_us);
	r->rtt_part = (float)(p->rtt_us / p->slot_us - r->rtt_slots);
	r->cross_slots = (uint32_t)lround(p->cross_rtt_us / p->slot_us);
	r->line_segments = (float)(r->line_slot / p->segment);
	r->rto_slots = (uint32_t)ceil(p->rto_ms * 1e3 / p->slot_us);
	r->part = p->n_servers / p->n_quadrants;
}

/* A queue's oldest chunk is as old as the queue is long, in slots, and chunks
 * of a port whose line is faster than what comes are gone at once. */
static uint32_t rack_ring_of(const struct rack *r, int out)
{
	const double most = out ? 3 * r->line_slot : r->p.shared;
	const double slots = most / r->line_slot, few = most / r->p.segment;
	uint32_t ring = 64;
	while (ring < fmin(slots, few) + 8)
		ring *= 2;
	return ring;
}

static int rack_open_ports(struct rack *r, struct sim_err *e)
{
	const uint32_t n = r->p.n_servers;
	int rc = SIM_ZALLOC(&r->port, 2 * (size_t)n, e);
	for (uint32_t i = 0; rc == 0 && i < 2 * n; i++) {
		struct rack_port *p = &r->port[i];
		p->out = i >= n;
		p->server = i % n;
		p->group = p->out ? r->p.n_quadrants : i / r->part;
		p->ring = rack_ring_of(r, p->out);
		rc = SIM_ZALLOC(&p->chunk, p->ring, e);
	}
	if (rc == 0)
		rc = SIM_ZALLOC(&r->group, (size_t)r->p.n_quadrants + 1, e);
	for (uint32_t g = 0; rc == 0 && g <= r->p.n_quadrants; g++)
		rc = SIM_ZALLOC(&r->group[g].port,
		    g < r->p.n_quadrants ? r->part : n, e);
	return rc;
}

int rack_open(struct rack **out, const struct rack_params *p,
    const struct sim_seed *where, struct sim_err *e)
{
	struct rack *r = NULL;
	*out = NULL;
	int rc = rack_params_check(p, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&r, 1, e)) < 0)
		return rc;
	r->p = *p;
	r->where = *where;
	sim_rng_key(r->key, where, SIM_STREAM_RACK);
	rack_set_times(r);
	if ((rc = rack_open_ports(r, e)) < 0 ||
	    (rc = sim_evq_open(&r->wakes, e)) < 0) {
		rack_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void rack_close(struct rack *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; r->port && i < 2 * r->p.n_servers; i++) {
		free(r->port[i].conn);
		free(r->port[i].order);
		free(r->port[i].piece);
		free(r->port[i].batch);
		free(r->port[i].far);
		free(r->port[i].chunk);
	}
	for (uint32_t g = 0; r->group && g <= r->p.n_quadrants; g++)
		free(r->group[g].port);
	free(r->port);
	free(r->group);
	free(r->waiter);
	free(r->warm);
	free(r->stall);
	rack_flows_free(&r->flows);
	sim_evq_close(r->wakes);
	free(r);
}

/* --- what is to happen -----------------------------------------------------*/

static int rack_flow_check(const struct rack *r, const struct rack_flow *f,
    size_t i, sim_ns last, struct sim_err *e)
{
	if (f->server >= r->p.n_servers || f->segments == 0 || f->out > 1 ||
	    f->cross > 1)
		return sim_fail(e, SIM_EINVAL,
		    "transfer %zu has %u segments, direction %u, region %u, "
		    "for server %u of %u.",
		    i, f->segments, f->out, f->cross, f->server,
		    r->p.n_servers);
	if (f->start_ns < last)
		return sim_fail(e, SIM_EINVAL,
		    "transfer %zu begins at %" PRIu64 " ns, before %" PRIu64
		    " ns, where we are.",
		    i, f->start_ns, last);
	if (f->start_ns / r->slot_ns >= RACK_MAX_SLOTS)
		return sim_fail(e, SIM_EINVAL,
		    "transfer %zu begins at %" PRIu64
		    " ns, behind the last slot.",
		    i, f->start_ns);
	return 0;
}

int rack_put(struct rack *r, const struct rack_flows *f, struct sim_err *e)
{
	struct rack_flows *t = &r->flows;
	sim_ns last = rack_now(r);
	size_t n_warm = r->n_warm;
	int rc;
	if (t->n > 0 && t->start_ns[t->n - 1] > last)
		last = t->start_ns[t->n - 1];
	for (size_t i = 0; i < f->n; i++) {
		const struct rack_flow row = rack_flows_at(f, i);
		if ((rc = rack_flow_check(r, &row, i, last, e)) < 0)
			return rc;
		last = row.start_ns;
		n_warm = row.warm > n_warm ? row.warm : n_warm;
	}
	if ((rc = SIM_RESERVE(&r->warm, &r->cap_warm, n_warm, e)) < 0 ||
	    (rc = rack_flows_reserve(t, f->n, e)) < 0)
		return rc;
	for (; r->n_warm < n_warm; r->n_warm++)
		r->warm[r->n_warm] = (struct rack_warm){0};
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		const struct rack_flow row = rack_flows_at(f, i);
		rc = rack_flows_add(t, &row, e);
	}
	return rc;
}

static int rack_server_check(const struct rack *r, uint32_t server,
    struct sim_err *e)
{
	return server < r->p.n_servers
	    ? 0
	    : sim_fail(e, SIM_EINVAL, "server %u is not one of %u.", server,
		  r->p.n_servers);
}

int rack_link_loss(struct rack *r, uint32_t server, int out, double rate,
    struct sim_err *e)
{
	const int rc = rack_server_check(r, server, e);
	if (rc < 0)
		return rc;
	if (!(rate >= 0 && rate <= 1))
		return sim_fail(e, SIM_EINVAL,
		    "link loss %g of server %u is not in [0, 1].", rate,
		    server);
	struct rack_port *p = &r->port[server + (out ? r->p.n_servers : 0)];
	p->link_rate = rate;
	p->link_drawn = 0;
	return 0;
}

int rack_stall(struct rack *r, uint32_t server, sim_ns from, sim_ns to,
    struct sim_err *e)
{
	int rc = rack_server_check(r, server, e);
	if (rc < 0)
		return rc;
	const uint64_t a = from / r->slot_ns, b = to / r->slot_ns;
	const uint32_t last =
	    r->n_stalls > 0 ? r->stall[r->n_stalls - 1].from : r->now;
	if (a < last || b < a || b >= RACK_MAX_SLOTS)
		return sim_fail(e, SIM_EINVAL,
		    "a stall of server %u from %" PRIu64 " to %" PRIu64
		    " ns is not behind slot %u.",
		    server, from, to, last);
	rc = SIM_RESERVE(&r->stall, &r->cap_stalls, r->n_stalls + 1, e);
	if (rc == 0)
		r->stall[r->n_stalls++] =
		    (struct rack_stall_row){server, (uint32_t)a, (uint32_t)b};
	return rc;
}

/* --- beginnings ------------------------------------------------------------*/

uint32_t rack_bit(uint32_t server, uint32_t conn)
{
	return obs_sketch_bit4(server, conn, 0);
}

/* The name is joined so that it does not matter which connection came first. */
double rack_draw(const struct rack *r, struct rack_port *p)
{
	const uint32_t ctr[4] = {p->n_draws++, p->draw_name, r->where.run,
	    r->where.point};
	uint32_t out[4];
	sim_philox_block(r->key, ctr, out);
	return out[0] * 0x1p-32;
}

void rack_wake_port(struct rack *r, struct rack_port *p)
{
	struct rack_group *g = &r->group[p->group];
	if (p->active)
		return;
	p->active = 1;
	g->port[g->n++] = (uint32_t)(p - r->port);
}

static int rack_port_add(struct rack *r, struct rack_port *p,
    const struct rack_conn *c, struct sim_err *e)
{
	int rc = SIM_RESERVE(&p->conn, &p->cap, p->n + 1, e);
	if (rc == 0)
		rc = SIM_RESERVE(&p->order, &p->cap_order, p->n + 1, e);
	if (rc < 0)
		return rc;
	if (p->n == p->n_made) {
		p->order[p->n] = (uint32_t)p->n;
		p->n_made++;
	}
	p->conn[p->order[p->n++]] = *c;
	rack_wake_port(r, p);
	return 0;
}

static int rack_begin(struct rack *r, const struct rack_flow *f,
    struct sim_err *e)
{
	struct rack_port *p =
	    &r->port[f->server + (f->out ? r->p.n_servers : 0)];
	const uint32_t mixed = f->conn * UINT32_C(0x9e3779b1);
	struct rack_conn c = {.window = (float)r->p.window,
	    .threshold = HUGE_VALF,
	    .alpha = 1,
	    .left = f->segments,
	    .warm = f->warm,
	    .cross = f->cross,
	    .bit = (uint8_t)rack_bit(f->server, f->conn)};
	/* Connections of a host that begin together shall not send their
	 * segments in the same slots for ever. */
	if (f->out)
		c.credit = (float)(mixed >> 8) * 0x1p-24f;
	if (f->warm > 0 && r->warm[f->warm - 1].window > 0) {
		const struct rack_warm *w = &r->warm[f->warm - 1];
		c.window = w->window;
		c.threshold = w->threshold;
		c.alpha = w->alpha;
	}
	p->draw_name += mixed ^ mixed >> 15;
	return rack_port_add(r, p, &c, e);
}

void rack_keep(struct rack *r, const struct rack_conn *c)
{
	if (c->warm > 0)
		r->warm[c->warm - 1] =
		    (struct rack_warm){c->window, c->threshold, c->alpha};
}

int rack_wait(struct rack *r, const struct rack_port *p, struct rack_conn *c,
    struct sim_err *e)
{
	uint32_t i = r->free_waiter;
	if (i == 0) {
		const int rc = SIM_RESERVE(&r->waiter, &r->cap_waiters,
		    r->n_waiters + 1, e);
		if (rc < 0)
			return rc;
		i = (uint32_t)++r->n_waiters;
		r->waiter[i - 1].next_free = 0;
	}
	const struct sim_event ev = {.t = (sim_ns)r->now +
		rack_window_wait(r, c),
	    .aux = i - 1};
	const int rc = sim_evq_put(r->wakes, &ev, e);
	if (rc < 0)
		return rc;
	r->free_waiter = r->waiter[i - 1].next_free;
	r->waiter[i - 1] = (struct rack_waiter){*c, (uint32_t)(p - r->port), 0};
	r->n_waiting++;
	r->n_rto++;
	return 0;
}

static int rack_wake_all(struct rack *r, struct sim_err *e)
{
	struct sim_event ev;
	while (sim_evq_pop(r->wakes, r->now, &ev)) {
		struct rack_waiter *w = &r->waiter[ev.aux];
		rack_window_again(r, &w->conn);
		const int rc = rack_port_add(r, &r->port[w->port], &w->conn, e);
		if (rc < 0)
			return rc;
		w->next_free = r->free_waiter;
		r->free_waiter = (uint32_t)ev.aux + 1;
		r->n_waiting--;
	}
	return 0;
}

/* A stall holds both ports: what comes back is late as well. */
static void rack_begin_stall(struct rack *r, const struct rack_stall_row *s)
{
	for (unsigned out = 0; out < 2; out++) {
		struct rack_port *p =
		    &r->port[s->server + out * r->p.n_servers];
		if (p->stalled_until < s->to)
			p->stalled_until = s->to;
		rack_wake_port(r, p);
	}
}

static int rack_begin_all(struct rack *r, struct sim_err *e)
{
	const sim_ns end = ((sim_ns)r->now + 1) * r->slot_ns;
	int rc = 0;
	while (r->next_stall < r->n_stalls &&
	    r->stall[r->next_stall].from <= r->now)
		rack_begin_stall(r, &r->stall[r->next_stall++]);
	while (rc == 0 && r->next_flow < r->flows.n &&
	    r->flows.start_ns[r->next_flow] < end) {
		const struct rack_flow f =
		    rack_flows_at(&r->flows, r->next_flow++);
		rc = rack_begin(r, &f, e);
	}
	return rc < 0 || r->n_waiting == 0 ? rc : rack_wake_all(r, e);
}

/* --- slots -----------------------------------------------------------------*/

static int rack_port_is_idle(const struct rack *r, const struct rack_port *p)
{
	return p->n == 0 && p->queue == 0 && p->stalled_until <= r->now &&
	    p->held.in == 0;
}

/* What a quadrant holds is never more than its buffer, but for the parts of
 * segments by which drops are rounded. */
static int rack_group_check(const struct rack *r, uint32_t group,
    struct sim_err *e)
{
	const struct rack_group *g = &r->group[group];
	uint64_t sum = 0;
	for (uint32_t i = 0; i < g->n; i++)
		sum += r->port[g->port[i]].queue;
	const double most = r->p.shared + (double)g->n * r->p.segment;
	if ((double)sum <= most || group == r->p.n_quadrants)
		return 0;
	return sim_fail(e, SIM_EMISMATCH,
	    "slot %u, quadrant %u: its queues hold %" PRIu64
	    " bytes, but it has only %g.",
	    r->now, group, sum, r->p.shared);
}

static int rack_group_step(struct rack *r, uint32_t group, struct sim_err *e)
{
	struct rack_group *g = &r->group[group];
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < g->n; i++)
		rc = rack_port_send(r, &r->port[g->port[i]], e);
	if (rc == 0 && group < r->p.n_quadrants)
		rack_buffer_share(r, g);
	for (uint32_t i = 0; rc == 0 && i < g->n; i++)
		rc = rack_port_settle(r, &r->port[g->port[i]], e);
	if (rc < 0 || (rc = rack_group_check(r, group, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < g->n;) {
		struct rack_port *p = &r->port[g->port[i]];
		if (!rack_port_is_idle(r, p)) {
			i++;
			continue;
		}
		p->active = 0;
		g->port[i] = g->port[--g->n];
	}
	return 0;
}

int rack_run(struct rack *r, sim_ns until, struct sim_err *e)
{
	while (rack_now(r) + r->slot_ns <= until) {
		/* Of a part of a byte the line carries in the slot in which it
		 * becomes whole. */
		const double n = r->now;
		r->drain = (uint32_t)(floor((n + 1) * r->line_slot) -
		    floor(n * r->line_slot));
		int rc = rack_begin_all(r, e);
		for (uint32_t g = 0; rc == 0 && g <= r->p.n_quadrants; g++)
			if (r->group[g].n > 0)
				rc = rack_group_step(r, g, e);
		if (rc < 0)
			return rc;
		r->now++;
	}
	return 0;
}

/* --- what came of it -------------------------------------------------------*/

const struct rack_params *rack_params_of(const struct rack *r)
{
	return &r->p;
}

sim_ns rack_now(const struct rack *r)
{
	return (sim_ns)r->now * r->slot_ns;
}

sim_ns rack_slot_ns(const struct rack *r)
{
	return r->slot_ns;
}

const struct rack_count rack_count_none;

void rack_count_add(struct rack_count *to, const struct rack_count *from)
{
	to->in += from->in;
	to->in_retx += from->in_retx;
	to->in_ce += from->in_ce;
	to->out += from->out;
	to->out_retx += from->out_retx;
	to->buffer += from->buffer;
	to->link_in += from->link_in;
	to->link_out += from->link_out;
	to->in_cross += from->in_cross;
	to->out_cross += from->out_cross;
	to->held += from->held;
	if (to->queue_max < from->queue_max)
		to->queue_max = from->queue_max;
	to->sketch[0] |= from->sketch[0];
	to->sketch[1] |= from->sketch[1];
}

void rack_take(struct rack *r, uint32_t server, struct rack_count *c)
{
	struct rack_port *in = &r->port[server];
	struct rack_port *out = &r->port[server + r->p.n_servers];
	const uint64_t queue_max = in->count.queue_max;
	*c = in->count;
	rack_count_add(c, &out->count);
	c->queue_max = queue_max;
	in->count = rack_count_none;
	out->count = rack_count_none;
}

int rack_has_counted(const struct rack *r, uint32_t server)
{
	return r->port[server].count.in > 0 ||
	    r->port[server + r->p.n_servers].count.out > 0;
}

uint64_t rack_queue(const struct rack *r, uint32_t server)
{
	return r->port[server].queue;
}

double rack_limit(const struct rack *r, uint32_t server)
{
	return r->group[r->port[server].group].limit;
}

void rack_totals(const struct rack *r, struct rack_totals *t)
{
	*t = (struct rack_totals){.n_rto = r->n_rto,
	    .n_flow_slots = r->n_flow_slots,
	    .n_running = r->n_waiting,
	    .n_waiting = r->n_waiting};
	for (uint32_t i = 0; i < 2 * r->p.n_servers; i++) {
		const struct rack_port *p = &r->port[i];
		t->offered += p->offered;
		t->arrived += p->gone;
		t->buffer += p->buffer;
		t->link += p->link;
		t->queued += p->queue;
		t->retx += p->retx;
		t->n_running += p->n;
	}
}
