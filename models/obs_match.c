/* models/obs_match.c -- which row of a switch's table takes a packet.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_match.h"

struct obs_match_key obs_match_key(const struct obs_packet *p, int inner)
{
	const struct obs_ip *ip = inner ? &p->ip : obs_packet_outermost(p);
	struct obs_match_key k = {
	    .src_ip = ip->src_ip,
	    .dst_ip = ip->dst_ip,
	    .ethertype = p->ethertype,
	    .ip_id = ip->id,
	    .proto = ip->proto,
	    .ttl = ip->ttl,
	    .tos = ip->tos,
	    .is_mirror = p->is_mirror,
	    .is_outer = ip != &p->ip,
	};
	if (!k.is_outer) {
		k.src_port = p->src_port;
		k.dst_port = p->dst_port;
		k.tcp_flags = p->tcp_flags;
		k.bth_opcode = p->bth_opcode;
		k.aeth = p->aeth;
	}
	return k;
}

/* Whether one of ONE_IN is taken: 2^32 / ONE_IN chances, rounded up, of 2^32. */
static int obs_match_takes(uint32_t one_in, uint32_t chance)
{
	return one_in <= 1 || ((uint64_t)chance * one_in) >> 32 == 0;
}

int obs_match(const struct obs_match_row row[], size_t n,
    const struct obs_packet *p, uint32_t chance)
{
	const struct obs_match_key outer = obs_match_key(p, 0);
	struct obs_match_key inner = {0};
	if (p->n_outer > 0)
		inner = obs_match_key(p, 1);
	for (size_t i = 0; i < n; i++) {
		if (row[i].inner && p->n_outer == 0)
			continue;
		if (obs_match_hits(&row[i], row[i].inner ? &inner : &outer) &&
		    obs_match_takes(row[i].one_in, chance))
			return (int)i;
	}
	return -1;
}
