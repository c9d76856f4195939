/* sim/inet.h -- numbers in network byte order, and the Internet's checksum.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_INET_H
#define SIM_INET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline uint64_t sim_inet_get64(const uint8_t *from)
{
	return (uint64_t)sim_inet_get32(from) << 32 | sim_inet_get32(from + 4);
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

/* Whether an IP header of N bytes holds its own right sum. 2^32 and 2^16 are both
 * 1 modulo 65535, so wide sums fold to the same; and 0xffff is the same in either
 * order of bytes, so none has to be swapped (RFC 1071). Domain n in 20, 24, ...,
 * 60. */
static inline int sim_inet_sum_is_right(const uint8_t *p, size_t n)
{
	uint64_t a, b, sum;
	uint32_t x;
	memcpy(&a, p, 8);
	memcpy(&b, p + 8, 8);
	memcpy(&x, p + 16, 4);
	sum = (a >> 32) + (uint32_t)a + (b >> 32) + (uint32_t)b + x;
	for (size_t i = 20; i < n; i += 4) {
		memcpy(&x, p + i, 4);
		sum += x;
	}
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

#endif
