/* topo/addr.c -- host and switch ids to IPv4 addresses and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/addr.h"

#include <stdio.h>
#include <string.h>

#include "sim/text.h"

topo_host topo_addr_to_host(uint32_t ip, uint32_t n_hosts)
{
	/* Below the base the difference wraps to a value no host has. */
	uint32_t h = ip - TOPO_ADDR_HOST_BASE;
	return h < n_hosts && h < TOPO_ADDR_MAX_HOSTS ? h : TOPO_NONE;
}

topo_switch topo_addr_to_switch(uint32_t ip, uint32_t n_switches)
{
	uint32_t s = ip - TOPO_ADDR_SWITCH_BASE;
	return s < n_switches && s < TOPO_ADDR_MAX_SWITCHES ? s : TOPO_NONE;
}

topo_link topo_addr_to_link(uint32_t ip, uint32_t n_links)
{
	uint32_t l = ip - TOPO_ADDR_LINK_BASE;
	return l < n_links && l < TOPO_ADDR_MAX_LINKS ? l : TOPO_NONE;
}

void topo_addr_format(uint32_t ip, char buf[16])
{
	snprintf(buf, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255,
	    ip >> 8 & 255, ip & 255);
}

/* Read one decimal byte without leading zeros at *TEXT and move *TEXT past it;
 * -1 if there is none. inet_pton() would do the same, but gives the address in
 * network byte order and needs a socket header, which this layer goes
 * without. */
static int byte(const char **text)
{
	const char *p = *text;
	int x = 0, n = 0;
	for (; *p >= '0' && *p <= '9' && n < 3; n++)
		x = 10 * x + (*p++ - '0');
	if (n == 0 || x > 255 || (n > 1 && **text == '0'))
		return -1;
	*text = p;
	return x;
}

int topo_addr_parse(const char *text, uint32_t *ip, struct sim_err *e)
{
	const char *p = text;
	uint32_t value = 0;
	for (int i = 0; i < 4; i++) {
		int x = byte(&p);
		/* A dot behind each of the first three, and nothing behind the
		 * last. */
		if (x < 0 || *p != (i < 3 ? '.' : '\0'))
			return sim_fail(e, SIM_EINVAL,
			    "\"%.40s\" is not an IPv4 address: four numbers in "
			    "[0, 255] with dots between them.",
			    text);
		p += i < 3;
		value = value << 8 | (uint32_t)x;
	}
	*ip = value;
	return 0;
}

int topo_prefix_parse(const char *text, uint32_t *ip, uint32_t *mask,
    struct sim_err *e)
{
	const size_t n = strcspn(text, "/");
	uint64_t bits = 32;
	char addr[64];
	snprintf(addr, sizeof(addr), "%.*s", (int)n, text);
	const int rc = topo_addr_parse(addr, ip, e);
	if (rc < 0)
		return rc;
	if (text[n] &&
	    (sim_parse_u64(text + n + 1, &bits, NULL) < 0 || bits > 32))
		return sim_fail(e, SIM_ERANGE,
		    "a prefix has 0 to 32 bits; /%.20s is not.", text + n + 1);
	*mask = bits > 0 ? UINT32_MAX << (32 - bits) : 0;
	return 0;
}
