/* models/real/place.h -- addresses of sockets, and where a client is by its own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A place is what somebody has who has one address: of IPv4 that address, of IPv6 the
 * /64 that it is in. A number, to be compared.
 */
#ifndef MODELS_REAL_PLACE_H
#define MODELS_REAL_PLACE_H

#include <stdint.h>
#include <sys/socket.h>

#include "topo/ip.h"

/* The address of a socket's, IPv4 also where a socket of IPv6 has it mapped; 0 for
 * another family. */
int real_ip_of(const struct sockaddr *a, struct topo_ip *ip);

/* A socket's address of IP and PORT; returns its length. */
socklen_t real_ip_at(const struct topo_ip *ip, uint16_t port,
    struct sockaddr_storage *out);

/* 0 for another family. */
uint64_t real_place_of(const struct sockaddr *a);
uint64_t real_place_of_ip(const struct topo_ip *a);

/* The same, but in NEAR, of IPv6, each address is a place: where many hosts of one
 * fleet are in one /64, a limit for one of them is none for all. NEAR zeroed: there
 * is none. */
uint64_t real_place_near(const struct topo_ip_net *near,
    const struct topo_ip *a);
uint64_t real_place_of_ipv4(uint32_t address); /* host byte order */

#endif
