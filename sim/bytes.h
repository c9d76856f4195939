/* sim/bytes.h -- numbers as bytes in a file or on the wire, and their checksum.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_BYTES_H
#define SIM_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Little-endian, at any address. */
#define SIM_BYTES(bits)                                                        \
	static inline void sim_store_##bits(unsigned char *to,                 \
	    uint##bits##_t x)                                                  \
	{                                                                      \
		x = htole##bits(x);                                            \
		memcpy(to, &x, sizeof(x));                                     \
	}                                                                      \
	static inline uint##bits##_t sim_load_##bits(                          \
	    const unsigned char *from)                                         \
	{                                                                      \
		uint##bits##_t x;                                              \
		memcpy(&x, from, sizeof(x));                                   \
		return le##bits##toh(x);                                       \
	}
SIM_BYTES(16)
SIM_BYTES(32)
SIM_BYTES(64)
#undef SIM_BYTES

/* 64-bit FNV-1a of N bytes, going on from HASH; SIM_FNV_START begins. Two
 * texts of one length that differ in one byte never have the same hash. */
#define SIM_FNV_START UINT64_C(0xcbf29ce484222325)
#define SIM_FNV_PRIME UINT64_C(0x100000001b3)
static inline uint64_t sim_fnv_bytes(uint64_t hash, const unsigned char b[],
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ b[i]) * SIM_FNV_PRIME;
	return hash;
}

/* A byte of zero only multiplies, so six of them are one factor: most doubles of
 * a record are NaN or a small count, of which the first six bytes are zero. */
static inline uint64_t sim_fnv(uint64_t hash, const void *bytes, size_t n)
{
	const uint64_t square = SIM_FNV_PRIME * SIM_FNV_PRIME;
	const uint64_t sixth = square * square * square;
	const unsigned char *b = bytes;
	for (; n >= 8; n -= 8, b += 8)
		hash = sim_load_64(b) << 16 == 0
		    ? sim_fnv_bytes(hash * sixth, b + 6, 2)
		    : sim_fnv_bytes(hash, b, 8);
	return sim_fnv_bytes(hash, b, n);
}

#endif
