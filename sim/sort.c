/* sim/sort.c -- many keys in order: by radix, the lowest digit first.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/sort.h"

#include <string.h>

enum { BITS = 8, VALUES = 1 << BITS };

static unsigned digit_of(uint64_t key, unsigned at)
{
	return (unsigned)(key >> at) & (VALUES - 1);
}

/* By the digit AT alone, from X to TO. */
static void deal(const uint64_t x[], uint64_t to[], size_t n, unsigned at)
{
	size_t next[VALUES] = {0}, sum = 0;
	for (size_t i = 0; i < n; i++)
		next[digit_of(x[i], at)]++;
	for (unsigned d = 0; d < VALUES; d++) {
		const size_t k = next[d];
		next[d] = sum;
		sum += k;
	}
	for (size_t i = 0; i < n; i++)
		to[next[digit_of(x[i], at)]++] = x[i];
}

void sim_sort_keys(uint64_t x[], uint64_t spare[], size_t n, unsigned from)
{
	uint64_t differ = 0, *now = x, *other = spare;
	for (size_t i = 1; i < n; i++)
		differ |= x[i] ^ x[0];
	for (unsigned at = from; at < 64; at += BITS) {
		if (digit_of(differ, at) == 0)
			continue;
		deal(now, other, n, at);
		uint64_t *const last = now;
		now = other;
		other = last;
	}
	if (now != x)
		memcpy(x, now, n * sizeof(*x));
}
