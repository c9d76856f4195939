/* topo/ip.h -- an address of IPv4 or IPv6: one type, one form in text.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * 16 bytes as IPv6 has them; one of IPv4 is ::ffff:a.b.c.d (RFC 4291 2.5.5.2), and
 * nothing else is: that form is refused in text, so that no host has two names. Two
 * addresses are one if their bytes are, so they may be compared, sorted and hashed
 * as bytes.
 *
 * Where time and memory count, in simulations and in an agent's tables, an address
 * has 32 bits: see topo/addr.h for IPv4, and topo/ip_book.h for IPv6.
 */
#ifndef TOPO_IP_H
#define TOPO_IP_H

#include <stdint.h>
#include <string.h>

#include "sim/err.h"
#include "topo/ids.h"

enum {
	TOPO_IP_TEXT = 40,      /* of the longest, with its 0 */
	TOPO_IP_PORT_TEXT = 48, /* with brackets and a port */
};

struct topo_ip {
	uint8_t byte[16];
};

/* Zeroed, it is :: itself and has nothing in it. */
struct topo_ip_net {
	struct topo_ip first; /* bits beyond its prefix are 0 */
	uint8_t bits;         /* of all 128: IPv4's /8 is 104 */
};

/* Host byte order. */
struct topo_ip topo_ip_of_4(uint32_t ip);
int topo_ip_is_4(const struct topo_ip *a);
uint32_t topo_ip_to_4(const struct topo_ip *a); /* its last 32 bits */

static inline int topo_ip_same(const struct topo_ip *a, const struct topo_ip *b)
{
	return memcmp(a->byte, b->byte, sizeof(a->byte)) == 0;
}

/* :: alone, which is no host's. */
static inline int topo_ip_is_zero(const struct topo_ip *a)
{
	const struct topo_ip zero = {{0}};
	return topo_ip_same(a, &zero);
}

/* Not to be aimed at, so no secret: tables with such keys have another limit.
 * IPv4 hashes by its 32 bits. */
uint64_t topo_ip_hash(const struct topo_ip *a);

/* "10.0.0.1", as topo_addr_parse() reads it, or what RFC 4291 2.2 has: groups of
 * one to four digits in either case, one ::, an IPv4 address in the last two
 * groups. Refused are a zone (%eth0), which only one host knows, and IPv4 as IPv6.
 * Errors SIM_EINVAL. */
int topo_ip_parse(const char *text, struct topo_ip *a, struct sim_err *e);

/* As RFC 5952 has it, but always in hexadecimal if it is IPv6. */
void topo_ip_format(const struct topo_ip *a, char buf[TOPO_IP_TEXT]);

/* "10.0.0.1:80" and "[fd00::1]:80". */
void topo_ip_format_port(const struct topo_ip *a, uint16_t port,
    char buf[TOPO_IP_PORT_TEXT]);

/* Whether A is a host that others may be sent to: in IPv4, by
 * topo_addr_is_target(); in IPv6, not unspecified, loopback, of a link or a site
 * (fe80::/9), multicast, or IPv4 in disguise (::/96, 64:ff9b::/96, 2001::/32,
 * 2002::/16), which would go round what IPv4 is asked. */
int topo_ip_is_target(const struct topo_ip *a);

/* --- networks ------------------------------------------------------------- */
/* "10.0.0.0/8" and "fd00::/64"; without a length all bits count. What the address
 * has behind its prefix is cut off. Errors SIM_EINVAL, SIM_ERANGE (more than 32 or
 * 128 bits). */
int topo_ip_net_parse(const char *text, struct topo_ip_net *net,
    struct sim_err *e);

/* A network of IPv6, ::/0 too, has no address of IPv4, and the reverse. */
int topo_ip_net_has(const struct topo_ip_net *net, const struct topo_ip *a);

/* Hosts of a network of IPv6 as topo/addr.h numbers those of 10.0.0.0/8: host h is
 * the first address + 1 + h. Domain  net->bits <= TOPO_IP_NET_BITS, h below
 * TOPO_ADDR_MAX_HOSTS. */
enum { TOPO_IP_NET_BITS = 104 };
struct topo_ip topo_ip_of_host(const struct topo_ip_net *net, topo_host h);

/* The host of an address, or TOPO_NONE. */
topo_host topo_ip_to_host(const struct topo_ip_net *net,
    const struct topo_ip *a, uint32_t n_hosts);

#endif
