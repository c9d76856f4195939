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
static inline uint64_t sim_fnv(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
