/* topo/addr.h -- host and switch ids to IPv4 addresses and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Host h is 10.0.0.1 + h (so up to 2^24 - 2 hosts), switch s is
 * 172.16.0.0 + s (its loopback; up to 2^20 switches). The interface that
 * receives what directed link l carries is 100.64.0.0 + l (up to 2^22 links):
 * an ICMP message from there names the link. Virtual addresses, behind which a
 * load balancer picks the host, are 198.18.0.0/15.
 */
#ifndef TOPO_ADDR_H
#define TOPO_ADDR_H

#include "sim/err.h"
#include "topo/ids.h"

#define TOPO_ADDR_HOST_BASE    UINT32_C(0x0a000001)
#define TOPO_ADDR_SWITCH_BASE  UINT32_C(0xac100000)
#define TOPO_ADDR_MAX_HOSTS    ((UINT32_C(1) << 24) - 2)
#define TOPO_ADDR_MAX_SWITCHES (UINT32_C(1) << 20)
#define TOPO_ADDR_LINK_BASE    UINT32_C(0x64400000)
#define TOPO_ADDR_MAX_LINKS    (UINT32_C(1) << 22)
#define TOPO_ADDR_VIP_BASE     UINT32_C(0xc6120000)
#define TOPO_ADDR_MAX_VIPS     (UINT32_C(1) << 17)

static inline uint32_t topo_addr_of_host(topo_host h)
{
	return TOPO_ADDR_HOST_BASE + h;
}

static inline uint32_t topo_addr_of_switch(topo_switch s)
{
	return TOPO_ADDR_SWITCH_BASE + s;
}

/* Domain  l < TOPO_ADDR_MAX_LINKS, v < TOPO_ADDR_MAX_VIPS. */
static inline uint32_t topo_addr_of_link(topo_link l)
{
	return TOPO_ADDR_LINK_BASE + l;
}

static inline uint32_t topo_addr_of_vip(uint32_t v)
{
	return TOPO_ADDR_VIP_BASE + v;
}

static inline int topo_addr_is_vip(uint32_t ip)
{
	return ip - TOPO_ADDR_VIP_BASE < TOPO_ADDR_MAX_VIPS;
}

/* Whether IP is a host that others may be sent to: not in 0/8, 127/8 or from
 * 224.0.0.0 up. "This network", loopback, multicast and broadcast are no host's. */
static inline int topo_addr_is_target(uint32_t ip)
{
	const uint32_t net = ip >> 24;
	return net != 0 && net != 127 && net < 224;
}

/* The host, switch or link of an address, or TOPO_NONE. */
topo_host topo_addr_to_host(uint32_t ip, uint32_t n_hosts);
topo_switch topo_addr_to_switch(uint32_t ip, uint32_t n_switches);
topo_link topo_addr_to_link(uint32_t ip, uint32_t n_links);

/* "10.0.0.1"; parsing refuses anything but four decimal bytes.
 * Errors SIM_EINVAL. */
void topo_addr_format(uint32_t ip, char buf[16]);
int topo_addr_parse(const char *text, uint32_t *ip, struct sim_err *e);

/* "10.0.0.4/30": an address and the mask of a prefix, or of all 32 bits if none
 * is written. What IP has behind its prefix stays. Errors SIM_EINVAL, SIM_ERANGE
 * (more than 32 bits). */
int topo_prefix_parse(const char *text, uint32_t *ip, uint32_t *mask,
    struct sim_err *e);

#endif
