/* models/real/place.c -- addresses of sockets, and where a client is by its own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/real/place.h"

#include <netinet/in.h>
#include <string.h>

/* The prefix of IPv4 in IPv6 (RFC 4291 2.5.5.2) as if it had 32 bits: no /64 that
 * is given to anybody begins like it. */
#define PLACE_IPV4 (UINT64_C(0xffff) << 32)

uint64_t real_place_of_ipv4(uint32_t address)
{
	return PLACE_IPV4 | address;
}

uint64_t real_place_of_ip(const struct topo_ip *a)
{
	uint64_t place = 0;
	if (topo_ip_is_4(a))
		return real_place_of_ipv4(topo_ip_to_4(a));
	for (int i = 0; i < 8; i++)
		place = place << 8 | a->byte[i];
	return place;
}

uint64_t real_place_near(const struct topo_ip_net *near,
    const struct topo_ip *a)
{
	return near->bits > 0 && topo_ip_net_has(near, a) ? topo_ip_hash(a)
							  : real_place_of_ip(a);
}

int real_ip_of(const struct sockaddr *a, struct topo_ip *ip)
{
	if (a->sa_family == AF_INET)
		*ip = topo_ip_of_4(
		    ntohl(((const struct sockaddr_in *)(const void *)a)
			      ->sin_addr.s_addr));
	else if (a->sa_family == AF_INET6)
		memcpy(ip->byte,
		    &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
		    sizeof(ip->byte));
	return a->sa_family == AF_INET || a->sa_family == AF_INET6;
}

uint64_t real_place_of(const struct sockaddr *a)
{
	struct topo_ip ip;
	return real_ip_of(a, &ip) ? real_place_of_ip(&ip) : 0;
}

socklen_t real_ip_at(const struct topo_ip *ip, uint16_t port,
    struct sockaddr_storage *out)
{
	*out = (struct sockaddr_storage){.ss_family = AF_INET6};
	if (topo_ip_is_4(ip)) {
		struct sockaddr_in *in = (void *)out;
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		in->sin_addr.s_addr = htonl(topo_ip_to_4(ip));
		return sizeof(*in);
	}
	struct sockaddr_in6 *in = (void *)out;
	in->sin6_port = htons(port);
	memcpy(&in->sin6_addr, ip->byte, sizeof(ip->byte));
	return sizeof(*in);
}
