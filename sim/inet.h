/* sim/inet.h -- numbers in network byte order, and the Internet's checksum.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_INET_H
#define SIM_INET_H

#include <stddef.h>
#include <stdint.h>

/* Big-endian, at any address; what is above the bits is cut off. */
static inline void sim_inet_put16(uint8_t *to, uint32_t x)
{
	to[0] = (uint8_t)(x >> 8);
	to[1] = (uint8_t)x;
}

static inline void sim_inet_put32(uint8_t *to, uint32_t x)
{
	sim_inet_put16(to, x >> 16);
	sim_inet_put16(to + 2, x);
}

static inline uint16_t sim_inet_get16(const uint8_t *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t sim_inet_get32(const uint8_t *from)
{
	return (uint32_t)sim_inet_get16(from) << 16 | sim_inet_get16(from + 2);
}

/* The sum of N bytes, added to SUM; its complement is the checksum. 0xffff over
 * bytes that hold their own. Domain n <= 65535, sum <= 65535.
 * Paper  RFC 1071. */
static inline uint32_t sim_inet_sum(uint32_t sum, const uint8_t *p, size_t n)
{
	for (; n > 1; p += 2, n -= 2)
		sum += sim_inet_get16(p);
	if (n > 0)
		sum += (uint32_t)*p << 8;
	/* Ones' complement: carries come back in at the low end. */
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

#endif
