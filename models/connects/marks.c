/* models/connects/marks.c -- which connects links mark.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/connects/way.h"

/* Who may be marked: the connects to or from N hosts from FIRST on, one in
 * `slots` times for each peer, by level. */
struct crowd {
	uint32_t first, n;
	enum connects_level level;
	int is_receiver;
	sim_ns every;
	uint64_t slot, n_slots; /* from the first on that may be due */
	uint32_t n_peers;
};

/* --- who is marked -------------------------------------------------------- */

/* So many are passed over before the next that has a mark. */
static uint64_t connects_jump(struct connects *c, double log_unmarked)
{
	const double n = log(sim_rng_u01_open(&c->rng)) / log_unmarked;
	return n < 0x1p62 ? (uint64_t)n : UINT64_C(1) << 62;
}

static struct crowd crowd_of(const struct connects *c, uint32_t first,
    uint32_t n, enum connects_level level, int is_receiver)
{
	const sim_ns every = c->params.mesh.every_ns[level];
	const uint64_t slot = c->now.from / every;
	return (struct crowd){first, n, level, is_receiver, every, slot,
	    (c->now.to + every - 1) / every - slot,
	    c->params.mesh.n_peers[level]};
}

static uint64_t crowd_size(const struct crowd *w)
{
	return w->n_slots * w->n_peers * w->n;
}

/* Connect number I of the crowd. Returns 0 if it is none that can be marked: it
 * is not due, not made, or lost in any case. */
static int crowd_at(const struct connects *c, const struct crowd *w, uint64_t i,
    struct connect *x)
{
	const struct connects_mesh *m = &c->params.mesh;
	x->slot = w->slot + i % w->n_slots;
	i /= w->n_slots;
	const topo_host a = w->first + (uint32_t)(i / w->n_peers);
	const topo_host b =
	    m->peer(m->arg, w->level, a, (uint32_t)(i % w->n_peers));
	x->src = w->is_receiver ? b : a;
	x->dst = w->is_receiver ? a : b;
	x->level = (uint8_t)w->level;
	x->hops = (uint8_t)connects_hops_of(&c->clos, a, b);
	x->n_links = 0;
	x->sent =
	    connects_phase(c, w->level, x->src, x->dst) + x->slot * w->every;
	if (x->sent < c->now.from || x->sent >= c->now.to)
		return 0;
	if (c->now.any_off && (c->off[a] || c->off[b]))
		return 0;
	return !c->now.any_listed ||
	    (!c->listed[a / c->clos.n_hosts] &&
		!c->listed[b / c->clos.n_hosts]) ||
	    !connects_is_dead(c, w->level, x->src, x->dst, x->sent,
		c->now.from);
}

static int connect_is_heavy(const struct connects *c, const struct connect *x)
{
	return c->now.any_heavy && (c->heavy[x->src] || c->heavy[x->dst]);
}

/* Go on to the next of the crowd that is looked at, can be marked and is light;
 * each is looked at with chance 1 - exp(LOG_UNMARKED). *I is its number,
 * CROWD_START before the first. Returns 0 if there is none. */
#define CROWD_START UINT64_MAX
static int crowd_next(struct connects *c, const struct crowd *w,
    double log_unmarked, uint64_t *i, struct connect *x)
{
	const uint64_t n = crowd_size(w);
	do
		*i += 1 + connects_jump(c, log_unmarked);
	while (*i < n && (!crowd_at(c, w, *i, x) || connect_is_heavy(c, x)));
	return *i < n;
}

/* --- connects that are made one by one ------------------------------------ */

/* X has lost nothing and crosses a link that delays. */
static int tell_slow(struct connects *c, struct connect *x, struct sim_err *e)
{
	const sim_ns delay = connects_delay(c, x, x->sent);
	return connects_tell(c, x,
	    delay + fabric_sim_rtt_draw(&c->params.law[x->hops], &c->rng), 0,
	    e);
}

static int make_one(struct connects *c, struct connect *x, struct sim_err *e)
{
	if (connects_is_lost(c, x, x->sent))
		return connects_resend(c, x, e);
	if (connects_is_slow(c, x, TOPO_NONE))
		return tell_slow(c, x, e);
	return sim_rng_u01(&c->rng) < c->late_tail[x->hops]
	    ? connects_tell(c, x, connects_late_rtt(c, x->hops), 0, e)
	    : 0;
}

/* All connects of a heavy server; those from one to another as the sender's. */
static int of_heavy(struct connects *c, topo_host h, enum connects_level level,
    int is_receiver, struct sim_err *e)
{
	const struct crowd w = crowd_of(c, h, 1, level, is_receiver);
	const uint64_t n = crowd_size(&w);
	struct connect x;
	int rc = 0;
	for (uint64_t i = 0; rc == 0 && i < n; i++)
		if (crowd_at(c, &w, i, &x) &&
		    (!is_receiver || !c->heavy[x.src]))
			rc = make_one(c, &x, e);
	return rc;
}

static int all_heavy(struct connects *c, struct sim_err *e)
{
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < c->clos.all_hosts; h++)
		for (unsigned k = 0; c->heavy[h] && k < CONNECTS_N_LEVELS; k++)
			for (int r = 0; rc == 0 && r < 2; r++)
				rc = of_heavy(c, h, k, r, e);
	return rc;
}

/* --- sources -------------------------------------------------------------- */

/* Whether X, between servers in and out of a unit of the source's tier, leaves
 * the unit. */
static int connect_leaves(const struct connects_source *s,
    const struct connect *x)
{
	return x->hops >= s->tier;
}

static int marked_by_loss(struct connects *c, const struct connects_source *s,
    struct connect *x, struct sim_err *e)
{
	const double keep = connects_spared_before(c, x, c->order[s->link]) *
	    connects_spared_by_holes(c, x, TOPO_NONE);
	return sim_rng_u01(&c->rng) < keep ? connects_resend(c, x, e) : 0;
}

/* Of the holes that X meets this is the first that drops it. */
static int marked_by_hole(struct connects *c, const struct connects_source *s,
    struct connect *x, struct sim_err *e)
{
	size_t k;
	if (sim_rng_u01(&c->rng) >= connects_spared_by_holes(c, x, s->link))
		return 0;
	for (unsigned i = 0; i < x->n_links; i++)
		if (x->link[i] == s->link &&
		    connects_hole_2(c, s->link, c->now.from, &k)) {
			x->hole[i] = (uint32_t)k + 1;
			x->dead[i] = 1;
		}
	return connects_resend(c, x, e);
}

/* Of the links of X that delay this is the first. */
static int marked_by_delay(struct connects *c, const struct connects_source *s,
    struct connect *x, struct sim_err *e)
{
	if (connects_is_slow(c, x, s->link))
		return 0;
	const double keep = connects_spared_before(c, x, UINT32_MAX) *
	    connects_spared_by_holes(c, x, TOPO_NONE);
	return sim_rng_u01(&c->rng) < keep ? tell_slow(c, x, e) : 0;
}

static int marked_by(struct connects *c, const struct connects_source *s,
    const struct crowd *w, struct connect *x, struct sim_err *e)
{
	int is_new;
	int rc = connects_seen_add(c, x->src, x->dst, x->slot, &is_new, e);
	if (rc < 0 || !is_new)
		return rc;
	connects_draw_ways(c, x, s->link, w->is_receiver);
	switch ((enum connects_kind)s->kind) {
	case CONNECTS_LOSES:
		return marked_by_loss(c, s, x, e);
	case CONNECTS_DROPS:
		return marked_by_hole(c, s, x, e);
	default:
		return marked_by_delay(c, s, x, e);
	}
}

/* A light connect is looked at with at most p / (1 - top): that many are, and
 * thinned out to what is right for each. */
static int of_source(struct connects *c, const struct connects_source *s,
    enum connects_level level, int is_receiver, struct sim_err *e)
{
	const struct crowd w =
	    crowd_of(c, s->first_host, s->n_hosts, level, is_receiver);
	const double most = s->p / (1 - c->now.top);
	const double log_unmarked = log1p(-most);
	uint64_t i = CROWD_START;
	struct connect x;
	int rc = 0;
	while (rc == 0 && crowd_next(c, &w, log_unmarked, &i, &x)) {
		if (!connect_leaves(s, &x))
			continue;
		const double left =
		    1 - connects_share_of(c, x.src, x.dst, x.hops);
		if (sim_rng_u01(&c->rng) * most * left < s->p)
			rc = marked_by(c, s, &w, &x, e);
	}
	return rc;
}

static int all_sources(struct connects *c, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->n_sources; i++) {
		const struct connects_source *s = &c->source[i];
		/* All that it concerns are heavy. */
		if (s->p > CONNECTS_LIGHT)
			continue;
		for (unsigned k = s->tier > 0; rc == 0 && k < 2; k++)
			for (int r = 0; rc == 0 && r < 2; r++)
				rc = of_source(c, s, k, r, e);
		connects_share_add(c, s);
	}
	return rc;
}

/* --- links that are no source, and stalls --------------------------------- */

/* What becomes of X by U, of which that much stands for each: what such links
 * mark first, and what nothing marks and is late by itself. */
static int marked_at_all(struct connects *c, struct connect *x, double u,
    double left, struct sim_err *e)
{
	double lost, late;
	if (c->now.is_flat) {
		lost = c->now.flat[x->hops].lost;
		late = c->now.flat[x->hops].spared;
	} else {
		connects_draw_ways(c, x, TOPO_NONE, 0);
		const double spared = connects_spared_by_holes(c, x, TOPO_NONE);
		lost = connects_lost_before(c, x, 1) * spared;
		late = connects_is_slow(c, x, TOPO_NONE)
		    ? 0
		    : connects_spared_before(c, x, UINT32_MAX) * spared;
	}
	late *= c->late_tail[x->hops];
	if (u >= lost + late)
		return 0;
	if (left < 1 && connects_seen_has(c, x->src, x->dst, x->slot))
		return 0;
	return u < lost
	    ? connects_resend(c, x, e)
	    : connects_tell(c, x, connects_late_rtt(c, x->hops), 0, e);
}

static int of_level(struct connects *c, enum connects_level level,
    struct sim_err *e)
{
	const struct crowd w = crowd_of(c, 0, c->clos.all_hosts, level, 0);
	const double most = c->now.all[level] / (1 - c->now.top);
	const double log_unmarked = log1p(-most);
	uint64_t i = CROWD_START;
	struct connect x;
	int rc = 0;
	while (rc == 0 && crowd_next(c, &w, log_unmarked, &i, &x)) {
		const double left = c->n_sources == 0
		    ? 1
		    : 1 - connects_share_of(c, x.src, x.dst, x.hops);
		rc = marked_at_all(c, &x, sim_rng_u01(&c->rng) * most * left,
		    left, e);
	}
	return rc;
}

int connects_marked(struct connects *c, struct sim_err *e)
{
	connects_seen_clear(&c->seen);
	int rc = c->now.any_heavy ? all_heavy(c, e) : 0;
	if (rc == 0)
		rc = all_sources(c, e);
	for (unsigned k = 0; rc == 0 && k < CONNECTS_N_LEVELS; k++)
		if (c->params.mesh.n_peers[k] > 0 && !c->now.all_heavy)
			rc = of_level(c, k, e);
	return rc;
}
