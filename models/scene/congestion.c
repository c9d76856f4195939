/* models/scene/congestion.c -- losses in full buffers: in bursts, rack by rack.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/congestion.h"

#include <gsl/gsl_randist.h>
#include <stddef.h>

#include "models/dist.h"
#include "models/scene/loss.h"

#define FIELD(m) offsetof(struct scene_congestion_params, m)

const struct sim_field scene_congestion_fields[] = {
    {"racks", SIM_F_F64, FIELD(racks), .min = 0, .max = 1, .unit = "1",
	.def = "0", .doc = "share of racks, by chance, that are hot; 0: none"},
    {"burst", SIM_F_F64, FIELD(burst_ms), .min = 0.01, .max = 1e6, .unit = "ms",
	.def = "1", .when = "racks!=0",
	.doc = "how long a port is full, at least"},
    {"busy", SIM_F_F64, FIELD(busy), .min = 0, .max = 1, .unit = "1",
	.def = "1", .when = "racks!=0",
	.doc = "share of time in which a hot rack's ports may be full (ours)"},
    {"ports", SIM_F_F64, FIELD(ports), .min = 0, .max = 1, .unit = "1",
	.def = "0.0037", .when = "racks!=0",
	.doc = "share of ports to hosts that are full then (ours)"},
    {"uplinks", SIM_F_F64, FIELD(uplinks), .min = 0, .max = 1, .unit = "1",
	.def = "0", .when = "racks!=0",
	.doc = "share of ports from the ToR to T1s that are full then"},
    {"loss", SIM_F_DIST, FIELD(loss), .min = 0, .max = 1, .unit = "1",
	.def = "{uniform: [0.1, 0.99]}", .when = "racks!=0",
	.doc = "rate at which a full port loses packets (ours)"},
    {"wait", SIM_F_DIST, FIELD(wait_us), .min = 0, .max = 1e6, .unit = "us",
	.def = "0", .when = "racks!=0",
	.doc = "how long what a full port lets through waits there"},
    {0},
};

void scene_congestion_init(struct scene_congestion *c,
    const struct scene_congestion_params *p, const struct topo *topo,
    const struct sim_seed *where)
{
	*c = (struct scene_congestion){0};
	if (p->racks == 0 || p->busy == 0 || (p->ports == 0 && p->uplinks == 0))
		return;
	c->topo = topo;
	c->params = *p;
	c->cell_ns = (sim_ns)(p->burst_ms * 1e6 + 0.5);
	c->run = where->run;
	c->point = where->point;
	sim_rng_key(c->rack_key, where, SIM_STREAM_HOT_RACK);
	sim_rng_key(c->busy_key, where, SIM_STREAM_BUSY_RACK);
	sim_rng_key(c->port_key, where, SIM_STREAM_FULL_PORT);
}

static void congestion_words(const struct scene_congestion *c,
    const uint32_t key[2], uint32_t entity, uint32_t cell, uint32_t word[4])
{
	const uint32_t ctr[4] = {cell, entity, c->run, c->point};
	sim_philox_block(key, ctr, word);
}

/* U uniform on [0, 1) by a word, below P. */
static int congestion_coin(uint32_t word, double p)
{
	return word * 0x1p-32 < p;
}

/* The switch whose port LINK begins at, if it may be full, and how likely it is
 * when the rack is busy. */
static double congestion_port(const struct scene_congestion *c, topo_link link,
    topo_node *tor)
{
	topo_node to;
	const enum topo_link_class class = topo_class_of(c->topo, link);
	const double p = class == TOPO_TOR_HOST ? c->params.ports
	    : class == TOPO_TOR_T1              ? c->params.uplinks
						: 0;
	if (p > 0)
		topo_link_ends(c->topo, link, tor, &to);
	return p;
}

/* Whether the rack of TOR is hot; *PHASE is where its first cell stands at
 * time 0. */
static int congestion_rack(const struct scene_congestion *c, topo_node tor,
    sim_ns *phase)
{
	uint32_t word[4];
	congestion_words(c, c->rack_key, tor, 0, word);
	const double u = ((double)word[1] + word[2] * 0x1p-32) * 0x1p-32;
	*phase = (sim_ns)(u * (double)c->cell_ns);
	return congestion_coin(word[0], c->params.racks);
}

/* Whether LINK's port is full at T; words of its own for port and cell are then
 * in WORD, of which the first has said so. */
static int congestion_is_full(const struct scene_congestion *c, topo_link link,
    sim_ns t, uint32_t word[4])
{
	topo_node tor;
	sim_ns phase;
	const double port = congestion_port(c, link, &tor);
	if (port == 0 || !congestion_rack(c, tor, &phase))
		return 0;
	const uint32_t cell = (uint32_t)((t + phase) / c->cell_ns);
	congestion_words(c, c->busy_key, tor, cell, word);
	if (!congestion_coin(word[0], c->params.busy))
		return 0;
	congestion_words(c, c->port_key, link, cell, word);
	return congestion_coin(word[0], port);
}

double scene_congestion_hazard(const struct scene_congestion *c, topo_link link,
    sim_ns t)
{
	uint32_t word[4];
	if (!scene_congestion_is_on(c) || !congestion_is_full(c, link, t, word))
		return 0;
	return scene_hazard(
	    dist_at(&c->params.loss, (word[1] + 0.5) * 0x1p-32));
}

sim_ns scene_congestion_wait(const struct scene_congestion *c, topo_link link,
    sim_ns t)
{
	uint32_t word[4];
	if (!scene_congestion_waits(c) || !congestion_is_full(c, link, t, word))
		return 0;
	return (sim_ns)(1e3 *
		dist_at(&c->params.wait_us, (word[2] + 0.5) * 0x1p-32) +
	    0.5);
}

double scene_congestion_us(const struct scene_congestion *c,
    const topo_link path[], unsigned h, sim_ns t)
{
	double us = 0;
	for (unsigned i = 0; i < h; i++)
		us += 1e-3 * (double)scene_congestion_wait(c, path[i], t);
	return us;
}

sim_ns scene_congestion_until(const struct scene_congestion *c, topo_link link,
    sim_ns t)
{
	topo_node tor, to;
	sim_ns phase;
	topo_link_ends(c->topo, link, &tor, &to);
	congestion_rack(c, tor, &phase);
	return t + c->cell_ns - (t + phase) % c->cell_ns;
}

double scene_congestion_bound(const struct scene_congestion *c, topo_link link)
{
	topo_node tor;
	sim_ns phase;
	return scene_congestion_is_on(c) &&
		congestion_port(c, link, &tor) > 0 &&
		congestion_rack(c, tor, &phase)
	    ? scene_hazard(c->params.loss.b)
	    : 0;
}

void scene_congestion_meet(const struct scene_congestion *c,
    const topo_link path[], unsigned h, sim_ns t, double all[],
    struct scene_congested *x)
{
	for (unsigned i = 0; i < h; i++) {
		x->hazard[i] = scene_congestion_hazard(c, path[i], t);
		x->drops[i] = 0;
		all[i] += x->hazard[i];
	}
}

static uint32_t congestion_drops(struct sim_rng *r, uint32_t drops,
    double buffer, double all)
{
	if (drops == 0 || buffer == 0)
		return 0;
	/* What loses everything ahead of the link leaves nothing to the link;
	 * and equal hazards are those of the buffer alone. */
	if (isinf(buffer) || buffer >= all)
		return drops;
	return gsl_ran_binomial(&r->gsl, expm1(-buffer) / expm1(-all), drops);
}

void scene_congestion_tell(struct sim_rng *r, const uint32_t drops[],
    const double all[], unsigned h, struct scene_congested *x)
{
	for (unsigned i = 0; i < h; i++)
		x->drops[i] =
		    congestion_drops(r, drops[i], x->hazard[i], all[i]);
}
