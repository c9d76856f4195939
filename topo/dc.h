/* topo/dc.h -- one data centre's part of a network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts and switches have one id everywhere, that of the whole network, be it
 * one Clos or a region of several (topo/region.h). By this view whoever looks
 * at one data centre alone finds its part: a Clos whose hosts, switches and
 * pods follow each other from a first one on.
 *
 *	id     of the whole network: in tables, in messages, between functions
 *	index  counts within the data centre from 0: for arrays over its hosts,
 *	       ToRs or pods, and nowhere else
 */
#ifndef TOPO_DC_H
#define TOPO_DC_H

#include "topo/topo.h"

struct topo_dc {
	uint32_t id;           /* of the data centre */
	struct topo_clos clos; /* its shape, with indices for ids */
	topo_host first_host;
	topo_switch first_switch; /* ToRs first, as in topo/clos.h */
};

/* How many data centres T has, and the I-th one. A topology that is no region
 * is one. Domain  i < topo_n_dcs(t); T a Clos or a region. */
uint32_t topo_n_dcs(const struct topo *t);
struct topo_dc topo_dc_at(const struct topo *t, uint32_t i);

/* --- without a network: shapes alone, as a recording has them ------------- */

/* The data centre of SHAPE that comes after another; NULL: that is the first.
 * Domain  ids fit 32 bits. */
struct topo_dc topo_dc_after(const struct topo_dc *before,
    const struct topo_clos *shape);

/* The data centre that is all of a network. */
static inline struct topo_dc topo_dc_alone(const struct topo_clos *shape)
{
	return topo_dc_after(NULL, shape);
}

/* Of N data centres, one after the other: the number of all their hosts; and
 * the data centre of a host, or N if there is no such host. Cost O(n). */
uint32_t topo_dcs_n_hosts(const struct topo_dc dc[], uint32_t n);
uint32_t topo_dcs_find(const struct topo_dc dc[], uint32_t n, topo_host h);

/* --- ids and indices ------------------------------------------------------ */

static inline int topo_dc_has(const struct topo_dc *dc, topo_host h)
{
	return h >= dc->first_host && h - dc->first_host < dc->clos.all_hosts;
}

/* Of a host of the data centre: its own index, that of its ToR, and that of its
 * pod. Domain topo_dc_has(dc, h). */
static inline uint32_t topo_dc_index(const struct topo_dc *dc, topo_host h)
{
	return h - dc->first_host;
}

static inline uint32_t topo_dc_tor_index(const struct topo_dc *dc, topo_host h)
{
	return topo_dc_index(dc, h) / dc->clos.n_hosts;
}

static inline uint32_t topo_dc_pod_index(const struct topo_dc *dc, topo_host h)
{
	return topo_dc_tor_index(dc, h) / dc->clos.n_tors;
}

#endif
