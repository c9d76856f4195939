/* topo/addr.h -- host and switch ids to IPv4 addresses and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Host h is 10.0.0.1 + h (so up to 2^24 - 2 hosts), switch s is
 * 172.16.0.0 + s (up to 2^20 switches).
 */
#ifndef TOPO_ADDR_H
#define TOPO_ADDR_H

#include "sim/err.h"
#include "topo/ids.h"

#define TOPO_ADDR_HOST_BASE   UINT32_C(0x0a000001)
#define TOPO_ADDR_SWITCH_BASE UINT32_C(0xac100000)
#define TOPO_ADDR_MAX_HOSTS   ((UINT32_C(1) << 24) - 2)
#define TOPO_ADDR_MAX_SWITCHES (UINT32_C(1) << 20)

static inline uint32_t topo_addr_of_host(topo_host h)
{
	return TOPO_ADDR_HOST_BASE + h;
}

static inline uint32_t topo_addr_of_switch(topo_switch s)
{
	return TOPO_ADDR_SWITCH_BASE + s;
}

/* The host or switch of an address, or TOPO_NONE. */
topo_host topo_addr_to_host(uint32_t ip, uint32_t n_hosts);
topo_switch topo_addr_to_switch(uint32_t ip, uint32_t n_switches);

/* "10.0.0.1"; parsing refuses anything but four decimal bytes.
 * Errors SIM_EINVAL. */
void topo_addr_format(uint32_t ip, char buf[16]);
int topo_addr_parse(const char *text, uint32_t *ip, struct sim_err *e);

#endif
