/* topo/dc.c -- one data centre's part of a network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/dc.h"

#include "topo/region.h"

uint32_t topo_n_dcs(const struct topo *t)
{
	return t->region ? t->region->n_dcs : 1;
}

struct topo_dc topo_dc_at(const struct topo *t, uint32_t i)
{
	const struct topo_region *r = t->region;
	return r ? (struct topo_dc){i, r->shape[i], r->first_host[i],
		       r->first_switch[i]}
		 : topo_dc_alone(&t->clos);
}

/* Hosts and switches of data centres follow each other without gaps. Borders of
 * a region are in none, and have the ids behind all of these. */
struct topo_dc topo_dc_after(const struct topo_dc *before,
    const struct topo_clos *shape)
{
	if (!before)
		return (struct topo_dc){.clos = *shape};
	return (struct topo_dc){before->id + 1, *shape,
	    before->first_host + before->clos.all_hosts,
	    before->first_switch + topo_clos_n_switches(&before->clos)};
}

uint32_t topo_dcs_n_hosts(const struct topo_dc dc[], uint32_t n)
{
	return n > 0 ? dc[n - 1].first_host + dc[n - 1].clos.all_hosts : 0;
}

uint32_t topo_dcs_find(const struct topo_dc dc[], uint32_t n, topo_host h)
{
	uint32_t i = 0;
	while (i < n && !topo_dc_has(&dc[i], h))
		i++;
	return i;
}
