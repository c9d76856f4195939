/* sim/sort.c -- many keys in order: by radix, the lowest digit first.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/sort.h"

#include <string.h>

/* Many keys pass fewer times over digits of more values. */
enum { FEW_BITS = 8, MANY_BITS = 11, MANY = 1 << 14 };

static unsigned digit_of(uint64_t key, unsigned at, unsigned bits)
{
	return (unsigned)(key >> at) & ((1u << bits) - 1);
}

/* By the digit AT alone, from X to TO. */
static void deal(const uint64_t x[], uint64_t to[], size_t n, unsigned at,
    unsigned bits)
{
	size_t next[1 << MANY_BITS], sum = 0;
	memset(next, 0, sizeof(next[0]) << bits);
	for (size_t i = 0; i < n; i++)
		next[digit_of(x[i], at, bits)]++;
	for (unsigned d = 0; d < 1u << bits; d++) {
		const size_t k = next[d];
		next[d] = sum;
		sum += k;
	}
	for (size_t i = 0; i < n; i++)
		to[next[digit_of(x[i], at, bits)]++] = x[i];
}

void sim_sort_keys(uint64_t x[], uint64_t spare[], size_t n, unsigned from)
{
	const unsigned bits = n < MANY ? FEW_BITS : MANY_BITS;
	uint64_t differ = 0, *now = x, *other = spare;
	for (size_t i = 1; i < n; i++)
		differ |= x[i] ^ x[0];
	for (unsigned at = from; at < 64; at += bits) {
		if (digit_of(differ, at, bits) == 0)
			continue;
		deal(now, other, n, at, bits);
		uint64_t *const last = now;
		now = other;
		other = last;
	}
	if (now != x)
		memcpy(x, now, n * sizeof(*x));
}
