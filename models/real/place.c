/* models/real/place.c -- where a client is, by its address.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/real/place.h"

#include <netinet/in.h>

/* The prefix of IPv4 in IPv6 (RFC 4291 2.5.5.2) as if it had 32 bits: no /64 that
 * is given to anybody begins like it. */
#define PLACE_IPV4 (UINT64_C(0xffff) << 32)

uint64_t real_place_of_ipv4(uint32_t address)
{
	return PLACE_IPV4 | address;
}

uint32_t real_place_ipv4(uint64_t place)
{
	return place >> 32 == 0xffff ? (uint32_t)place : 0;
}

uint64_t real_place_of(const struct sockaddr *a)
{
	uint64_t place = 0;
	if (a->sa_family == AF_INET)
		return real_place_of_ipv4(
		    ntohl(((const struct sockaddr_in *)(const void *)a)
			      ->sin_addr.s_addr));
	if (a->sa_family != AF_INET6)
		return 0;
	const struct in6_addr *in =
	    &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
	for (int i = 0; i < 8; i++)
		place = place << 8 | in->s6_addr[i];
	return place;
}
