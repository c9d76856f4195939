/* algos/everflow/hole_pattern.c -- what the packets that a hole takes share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/hole_pattern.h"

static int covers(const struct topo_tuple *v, const struct topo_tuple *m,
    const struct topo_tuple *t)
{
	return ((v->src_ip ^ t->src_ip) & m->src_ip) == 0 &&
	    ((v->dst_ip ^ t->dst_ip) & m->dst_ip) == 0 &&
	    ((v->src_port ^ t->src_port) & m->src_port) == 0 &&
	    ((v->dst_port ^ t->dst_port) & m->dst_port) == 0;
}

static int covers_kept(const struct algo_hole_tuple t[], size_t n,
    const struct topo_tuple *v, const struct topo_tuple *m)
{
	for (size_t i = 0; i < n; i++)
		if (!t[i].is_lost && covers(v, m, &t[i].tuple))
			return 1;
	return 0;
}

/* What all lost tuples have in common. */
static int have_in_common(const struct algo_hole_tuple t[], size_t n,
    int addresses, struct topo_tuple *v, struct topo_tuple *m)
{
	size_t n_lost = 0;
	*m = (struct topo_tuple){UINT32_MAX, UINT32_MAX,
	    addresses ? 0 : UINT16_MAX, addresses ? 0 : UINT16_MAX, 0};
	for (size_t i = 0; i < n; i++) {
		const struct topo_tuple *x = &t[i].tuple;
		if (!t[i].is_lost)
			continue;
		if (n_lost++ == 0)
			*v = *x;
		m->src_ip &= ~(v->src_ip ^ x->src_ip);
		m->dst_ip &= ~(v->dst_ip ^ x->dst_ip);
		m->src_port &= (uint16_t) ~(v->src_port ^ x->src_port);
		m->dst_port &= (uint16_t) ~(v->dst_port ^ x->dst_port);
	}
	return n_lost > 0 && n_lost < n;
}

/* Take bits BITS of field F, of four, out of a mask. */
static struct topo_tuple without(struct topo_tuple m, unsigned f, uint32_t bits)
{
	switch (f) {
	case 0:
		m.src_port &= (uint16_t)~bits;
		break;
	case 1:
		m.dst_port &= (uint16_t)~bits;
		break;
	case 2:
		m.src_ip &= ~bits;
		break;
	default:
		m.dst_ip &= ~bits;
	}
	return m;
}

int algo_hole_pattern(const struct algo_hole_tuple t[], size_t n, int addresses,
    struct topo_tuple *value, struct topo_tuple *mask)
{
	struct topo_tuple v = {0}, m;
	*value = *mask = (struct topo_tuple){0};
	if (!have_in_common(t, n, addresses, &v, &m) ||
	    covers_kept(t, n, &v, &m))
		return 0;
	for (unsigned f = 0; f < 4; f++) {
		const struct topo_tuple less = without(m, f, UINT32_MAX);
		if (!covers_kept(t, n, &v, &less))
			m = less;
	}
	for (unsigned k = 0; k < 4 * 32; k++) {
		const struct topo_tuple less =
		    without(m, k / 32, UINT32_C(1) << k % 32);
		if (!covers_kept(t, n, &v, &less))
			m = less;
	}
	*mask = m;
	*value = (struct topo_tuple){v.src_ip & m.src_ip, v.dst_ip & m.dst_ip,
	    v.src_port & m.src_port, v.dst_port & m.dst_port, 0};
	return 1;
}

/* The most tuples of one lost pair of addresses, if all of each are lost; else
 * 0, with MIXED. */
static size_t lost_ports(const struct algo_hole_tuple t[], size_t n, int *mixed)
{
	size_t most = 0;
	*mixed = 0;
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;
		if (!t[i].is_lost)
			continue;
		for (size_t k = 0; k < n; k++) {
			if (t[k].tuple.src_ip != t[i].tuple.src_ip ||
			    t[k].tuple.dst_ip != t[i].tuple.dst_ip)
				continue;
			if (!t[k].is_lost) {
				*mixed = 1;
				return 0;
			}
			same++;
		}
		most = same > most ? same : most;
	}
	return most;
}

enum { PORTS_ENOUGH = 4 };

int algo_hole_is_by_address(const struct algo_hole_tuple t[], size_t n)
{
	int mixed;
	return lost_ports(t, n, &mixed) >= PORTS_ENOUGH;
}

int algo_hole_is_told(const struct algo_hole_tuple t[], size_t n)
{
	int mixed;
	return lost_ports(t, n, &mixed) >= PORTS_ENOUGH || mixed;
}
