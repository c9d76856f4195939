/* models/packet/pause.c -- pause frames (PFC), of storms and others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/pause.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "sim/vec.h"
#include "topo/next.h"

const struct sim_field packet_pause_fields[] = {
    {"gbps", SIM_F_F64, offsetof(struct packet_pause_params, gbps), .min = 0.1,
	.max = 1600, .unit = "Gb/s", .def = "40", .doc = "rate of all links"},
    {"priority", SIM_F_U32, offsetof(struct packet_pause_params, priority),
	.min = 0, .max = 7, .unit = "1", .def = "3",
	.doc = "priority of the lossless class"},
    {"refresh", SIM_F_F64, offsetof(struct packet_pause_params, refresh),
	.min = 0.05, .max = 1, .unit = "1", .def = "0.5",
	.doc = "share of a pause after which the next frame is sent"},
    {"fill", SIM_F_F64, offsetof(struct packet_pause_params, fill_us), .min = 0,
	.max = 1e7, .unit = "us", .def = "200",
	.doc = "until the buffer behind a paused port is full, on average"},
    {"depth", SIM_F_U32, offsetof(struct packet_pause_params, depth), .min = 1,
	.max = TOPO_MAX_HOPS, .unit = "links", .def = "2",
	.doc = "how far a storm spreads; 1 = to the ToR alone"},
    {"busy_per_s", SIM_F_F64, offsetof(struct packet_pause_params, busy_per_s),
	.min = 0, .max = 1e5, .unit = "1/s", .def = "2",
	.doc = "episodes of ordinary pauses on a link"},
    {"busy", SIM_F_F64, offsetof(struct packet_pause_params, busy_us), .min = 1,
	.max = 1e7, .unit = "us", .def = "1000",
	.doc = "length of an episode, on average"},
    {"off", SIM_F_F64, offsetof(struct packet_pause_params, off_us), .min = 0.1,
	.max = 1e6, .unit = "us", .def = "30",
	.doc = "how long an ordinary pause lasts, on average"},
    {"on", SIM_F_F64, offsetof(struct packet_pause_params, on_us), .min = 0.1,
	.max = 1e6, .unit = "us", .def = "60",
	.doc = "time between two of an episode, on average"},
    {0},
};

/* Who tells of frames. */
struct pause {
	const struct topo *topo;
	const struct packet_pause_params *p;
	struct sim_rng *r;
	const struct packet_eye *eye;
	struct packet_pause_end *end;
	sim_ns until;
	struct packet_pause_span *held; /* or NULL */
};

static double pause_draw_ns(struct pause *s, double mean_us)
{
	return -log(sim_rng_u01_open(s->r)) * mean_us * 1e3;
}

static int pause_frame(struct pause *s, topo_link l, sim_ns t, uint32_t quanta,
    struct sim_err *e)
{
	topo_node from, to;
	const struct obs_packet p = {
	    .ethertype = OBS_ETH_CONTROL,
	    .pfc_classes = (uint8_t)(1u << s->p->priority),
	    .pfc_quanta = (uint16_t)quanta,
	    .digest = (uint64_t)l << 40 ^ t,
	    .n_bytes = 60,
	};
	if (t >= s->until)
		return 0;
	topo_link_ends(s->topo, l, &from, &to);
	s->end->n_frames++;
	return s->eye->see(s->eye->arg, to - s->topo->n_hosts, l, t, &p, e);
}

/* Keep the other end of L from sending while FROM <= t < TO, and then, if SAYS,
 * tell it to go on. */
static int pause_hold(struct pause *s, topo_link l, sim_ns from, sim_ns to,
    int says, struct sim_err *e)
{
	const double asked = obs_pause_ns(PACKET_PAUSE_QUANTA, s->p->gbps);
	const sim_ns stop = to < s->until ? to : s->until;
	int rc = 0;
	for (sim_ns t = from; rc == 0 && t < stop;) {
		rc = pause_frame(s, l, t, PACKET_PAUSE_QUANTA, e);
		/* Up to 5 % early: timers of ports do not run in step. */
		const double early = 1 - 0.05 * sim_rng_u01(s->r);
		t += 1 + (sim_ns)(asked * s->p->refresh * early);
	}
	if (rc == 0 && says && from < to && to < s->until)
		rc = pause_frame(s, l, to, 0, e);
	return rc;
}

/* --- a storm -------------------------------------------------------------- */

/* A storm holds L. */
static int pause_seize(struct pause *s, topo_link l, sim_ns from, sim_ns to,
    int says, struct sim_err *e)
{
	s->end->n_links++;
	if (s->held) {
		struct packet_pause_span *x = &s->held[l];
		x->from_ns = from < x->from_ns ? from : x->from_ns;
		x->to_ns = to > x->to_ns ? to : x->to_ns;
	}
	return pause_hold(s, l, from, to, says, e);
}

/* Each switch that cannot send to the host: how many links away from it, and
 * since when. */
struct stuck {
	sim_ns since;
	uint32_t away; /* 0: it can */
};

/* The switch at the far end of L, by which C may send to the host, is stuck and
 * so stops C as soon as its buffer is full. */
static int pause_spread(struct pause *s, topo_link l, const struct stuck *b,
    struct stuck *c, sim_ns to, struct sim_err *e)
{
	const double fill = pause_draw_ns(s, s->p->fill_us);
	const sim_ns since = b->since + (sim_ns)fill;
	if (since >= to || since >= s->until)
		return 0;
	if (c->away == 0 || since < c->since)
		*c = (struct stuck){since, b->away + 1};
	return pause_seize(s, topo_link_reverse(l), since, to, 1, e);
}

/* All that are stuck since those AWAY links from the host are. */
static int pause_ring(struct pause *s, topo_host host, uint32_t away, sim_ns to,
    struct stuck stuck[], struct sim_err *e)
{
	const struct topo *t = s->topo;
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < t->n_links; l++) {
		topo_node c, b;
		topo_link_ends(t, l, &c, &b);
		if (c < t->n_hosts || b < t->n_hosts)
			continue;
		if (stuck[b - t->n_hosts].away == away &&
		    topo_is_next(t, l, host))
			rc = pause_spread(s, l, &stuck[b - t->n_hosts],
			    &stuck[c - t->n_hosts], to, e);
	}
	return rc;
}

int packet_pause_storm(const struct topo *t,
    const struct packet_pause_params *p, topo_host host, sim_ns from, sim_ns to,
    sim_ns until, struct sim_rng *r, const struct packet_eye *eye,
    struct packet_pause_span held[], struct packet_pause_end *end,
    struct sim_err *e)
{
	struct pause s = {t, p, r, eye, end, until, held};
	struct stuck *stuck;
	int rc;
	if (host >= t->n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "a pause storm of host %u, which is not in [0, %u].", host,
		    t->n_hosts - 1);
	if (from >= to || from >= until)
		return 0;
	if ((rc = SIM_ZALLOC(&stuck, t->n_switches, e)) < 0)
		return rc;
	stuck[topo_tor_of(t, host)] = (struct stuck){from, 1};
	rc = pause_seize(&s, topo_link_of(host, TOPO_UP), from, to, 0, e);
	for (uint32_t away = 1; rc == 0 && away < p->depth; away++)
		rc = pause_ring(&s, host, away, to, stuck, e);
	free(stuck);
	return rc;
}

/* --- ordinary pauses ------------------------------------------------------ */

static int pause_episode(struct pause *s, topo_link l, sim_ns from, sim_ns to,
    struct sim_err *e)
{
	int rc = 0;
	for (sim_ns t = from; rc == 0 && t < to;) {
		const sim_ns off =
		    t + 1 + (sim_ns)pause_draw_ns(s, s->p->off_us);
		rc = pause_hold(s, l, t, off, 1, e);
		t = off + 1 + (sim_ns)pause_draw_ns(s, s->p->on_us);
	}
	return rc;
}

int packet_pause_busy(const struct topo *t, const struct packet_pause_params *p,
    topo_link link, sim_ns from, sim_ns until, struct sim_rng *r,
    const struct packet_eye *eye, struct packet_pause_end *end,
    struct sim_err *e)
{
	struct pause s = {t, p, r, eye, end, until, NULL};
	const uint64_t before = end->n_frames;
	topo_node a, b;
	int rc = 0;
	topo_link_ends(t, link, &a, &b);
	if (b < t->n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "link %u leads to a host, which mirrors no pause frames.",
		    link);
	if (p->busy_per_s == 0)
		return 0;
	for (sim_ns at = from; rc == 0 && at < until;) {
		at += (sim_ns)pause_draw_ns(&s, 1e6 / p->busy_per_s);
		if (at >= until)
			break;
		const sim_ns ends = at + (sim_ns)pause_draw_ns(&s, p->busy_us);
		rc = pause_episode(&s, link, at, ends, e);
		at = ends > at ? ends : at + 1;
	}
	end->n_links += end->n_frames > before;
	return rc;
}
