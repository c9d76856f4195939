/* models/connects/connects.c -- connects in bulk: windows and who is due when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "models/connects/impl.h"
#include "sim/vec.h"

/* --- opening -------------------------------------------------------------- */

int connects_open(struct connects **out, const struct topo *t,
    const struct connects_params *p, struct sim_err *e)
{
	struct connects *c;
	int rc = SIM_ZALLOC(&c, 1, e);
	if (rc < 0)
		return rc;
	assert(topo_is_clos(t) && !t->region);
	c->topo = t;
	c->clos = t->clos;
	c->params = *p;
	for (unsigned k = 0; k <= p->n_retries; k++) {
		c->ladder_ns = c->give_up_ns;
		c->give_up_ns += p->ladder->wait_ns[k];
	}
	if (p->give_up_ns > 0)
		c->give_up_ns = p->give_up_ns;
	for (int i = 0; i < CONNECTS_N_HOPS; i++)
		c->late_tail[i] =
		    fabric_sim_rtt_tail(&p->law[i], (double)p->late_ns / 1e3);
	if ((rc = SIM_ZALLOC(&c->noise, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->hazard, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->order, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->odd, t->n_links / 64 + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->slow, t->n_links / 64 + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->off, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->soon, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->listed, c->clos.all_tors, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->share[0], c->clos.all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->share[1], c->clos.all_tors, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->share[2], c->clos.n_pods, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->heavy, c->clos.all_hosts, e)) < 0) {
		connects_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

void connects_close(struct connects *c)
{
	if (!c)
		return;
	free(c->noise);
	free(c->hazard);
	free(c->order);
	free(c->odd);
	free(c->slow);
	free(c->off);
	free(c->soon);
	free(c->listed);
	free(c->source);
	for (int t = 0; t < CONNECTS_TIERS; t++)
		free(c->share[t]);
	free(c->seen.one);
	free(c->heavy);
	free(c->pair);
	free(c->tuple);
	free(c->change);
	free(c);
}

/* --- what fits ------------------------------------------------------------ */

static int fit_hole(const struct topo *t, const struct truth *x, size_t i,
    struct sim_err *e)
{
	const struct truth_hole *h = &x->hole[i];
	char name[64];
	topo_node_name(t, t->n_hosts + h->at, name);
	if (h->rule.type == BLACKHOLE_RULE_PAIR)
		return h->at < t->clos.all_tors
		    ? 0
		    : sim_fail(e, SIM_EUNSUPPORTED,
			  "%s has a black hole of type 1; in bulk only ToRs "
			  "may have one.",
			  name);
	/* Those of one switch follow each other. */
	for (size_t k = i; k-- > 0 && x->hole[k].at == h->at;)
		if (x->hole[k].rule.type == BLACKHOLE_RULE_TUPLE &&
		    x->hole[k].to_ns > h->from_ns &&
		    h->to_ns > x->hole[k].from_ns)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "%s has two black holes of type 2 at a time; in "
			    "bulk a switch may have one.",
			    name);
	return 0;
}

int connects_fits(const struct topo *t, const struct scene *s,
    struct sim_err *e)
{
	const struct truth *x = &s->truth;
	int rc = 0;
	if (s->loss.noise.per != SCENE_NOISE_PER_LINK)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "noise is per flow; connects in bulk have it per link.");
	if (scene_congestion_is_on(&s->congestion))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "connects in bulk meet no congestion.");
	if (x->n_routes > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "connects in bulk have no switch that chooses wrongly.");
	for (size_t i = 0; rc == 0 && i < x->n_holes; i++)
		rc = fit_hole(t, x, i, e);
	return rc;
}

int connects_fits_again(const struct topo *t, const struct scene *s,
    struct sim_err *e)
{
	const struct truth *x = &s->truth;
	char name[64];
	for (size_t i = 0; i < x->n_faults; i++)
		if (!truth_is_mark(&x->fault[i]))
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "link %u is faulty and pairs come to their ports "
			    "again, so to its paths; in bulk paths are new "
			    "each time.",
			    x->fault[i].link);
	for (size_t i = 0; i < x->n_holes; i++) {
		if (x->hole[i].at < t->clos.all_tors)
			continue;
		topo_node_name(t, t->n_hosts + x->hole[i].at, name);
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "%s has a black hole and pairs come to their ports again; "
		    "in bulk only ToRs may have one then.",
		    name);
	}
	return 0;
}

int connects_begin(struct connects *c, const struct scene *s, struct sim_err *e)
{
	uint32_t key[2];
	int rc = connects_fits(c->topo, s, e);
	if (rc < 0 ||
	    (c->params.ports.again &&
		(rc = connects_fits_again(c->topo, s, e)) < 0))
		return rc;
	c->scene = s;
	sim_rng_key(key, &s->where, SIM_STREAM_CONNECTS);
	c->phase_key = (uint64_t)key[1] << 32 | key[0];
	c->phase_key ^= (uint64_t)s->where.run << 32 | s->where.point;
	scene_noise_rates(&s->loss.noise, 0, c->topo->n_links, c->noise);
	for (topo_link l = 0; l < c->topo->n_links; l++)
		c->noise[l] = scene_hazard(c->noise[l]);
	c->all_noise = c->noise[0];
	for (topo_link l = 1; l < c->topo->n_links; l++)
		if (c->noise[l] != c->all_noise)
			c->all_noise = NAN;
	return 0;
}

/* --- when ----------------------------------------------------------------- */

/* MurmurHash3's finalizer twice, with the key in between. */
static uint64_t connects_mix(uint64_t x, uint64_t key)
{
	for (int i = 0; i < 2; i++) {
		x = (x ^ key) * UINT64_C(0xff51afd7ed558ccd);
		x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
		x ^= x >> 33;
	}
	return x;
}

sim_ns connects_phase(const struct connects *c, enum connects_level level,
    topo_host src, topo_host dst)
{
	const uint64_t x =
	    connects_mix((uint64_t)src << 32 | dst, c->phase_key);
	return (sim_ns)((double)(x >> 11) * 0x1p-53 *
	    (double)c->params.mesh.every_ns[level]);
}

/* With of_list the entry that comes first has a port that is drawn, and entries
 * follow each other as they stand in the list, near ones first. Agents send in
 * order of phases, which are drawn: the law is the same. */
struct connects_turn connects_turn_of(const struct connects *c,
    enum connects_level level, topo_host src, topo_host dst)
{
	const struct connects_mesh *m = &c->params.mesh;
	const struct connects_ports *p = &c->params.ports;
	uint32_t k = 0;
	if (!p->of_list)
		return (struct connects_turn){(src + dst) % p->n, 1};
	while (m->peer(m->arg, level, src, k) != dst)
		k++;
	k += level == CONNECTS_DC ? m->n_peers[CONNECTS_TOR] : 0;
	return (
	    struct connects_turn){(uint32_t)((connects_mix(src, c->phase_key) +
						 k) %
				      p->n),
	    (m->n_peers[CONNECTS_TOR] + m->n_peers[CONNECTS_DC]) % p->n};
}

/* How many are due before T. */
static uint64_t due_before(sim_ns t, sim_ns phase, sim_ns every)
{
	return t <= phase ? 0 : (t - phase - 1) / every + 1;
}

uint32_t connects_due(const struct connects *c, enum connects_level level,
    topo_host src, topo_host dst, sim_ns from, sim_ns to)
{
	const sim_ns every = c->params.mesh.every_ns[level];
	const sim_ns phase = connects_phase(c, level, src, dst);
	return (uint32_t)(due_before(to, phase, every) -
	    due_before(from, phase, every));
}

/* --- a window ------------------------------------------------------------- */

int connects_window(struct connects *c, sim_ns from, sim_ns to, uint32_t number,
    const struct connects_taker *taker, struct sim_err *e)
{
	int rc = connects_changes(c, from, to, e);
	c->taker = taker;
	sim_rng_init(&c->rng, &c->scene->where, SIM_STREAM_CONNECTS, number);
	for (size_t i = 0; rc == 0 && i <= c->n_changes; i++) {
		const sim_ns end = i < c->n_changes ? c->change[i] : to;
		if ((rc = connects_settle(c, from, end, e)) < 0)
			break;
		if (taker->segment)
			taker->segment(taker->arg, from, end, c->hazard,
			    c->off);
		if ((rc = connects_marked(c, e)) < 0)
			break;
		rc = connects_blocks(c, e);
		from = end;
	}
	return rc;
}
