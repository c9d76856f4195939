/* algos/everflow/reshuffle.c -- which analyzer gets a copy.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/reshuffle.h"

#include <math.h>

/* Finaliser of splitmix64 (Vigna, public domain): a bijection. */
static uint64_t mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t algo_reshuffle_hash(const struct topo_tuple *t)
{
	const uint64_t a = (uint64_t)t->src_ip << 16 | t->src_port;
	const uint64_t b = (uint64_t)t->dst_ip << 16 | t->dst_port;
	const uint64_t lo = a < b ? a : b, hi = a < b ? b : a;
	return mix64(mix64(lo | (uint64_t)t->proto << 48) + hi);
}

/* -log(u) / w is the time until something that happens at rate w does, and the
 * first of all is I with probability w_i / sum. Never 0, so that the least is
 * told by w at any u. */
static double reshuffle_wait(uint64_t hash, const struct algo_reshuffle_to *to)
{
	const double u =
	    ((double)(mix64(hash ^ mix64(to->name)) >> 11) + 0.5) * 0x1p-53;
	return -log(u) / to->weight;
}

uint32_t algo_reshuffle(const struct algo_reshuffle_to to[], uint32_t n,
    const struct topo_tuple *t)
{
	const uint64_t hash = algo_reshuffle_hash(t);
	uint32_t best = n;
	double least = INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		if (!(to[i].weight > 0))
			continue;
		const double wait = reshuffle_wait(hash, &to[i]);
		if (wait < least) {
			least = wait;
			best = i;
		}
	}
	return best;
}

uint32_t algo_reshuffle_shift(struct algo_reshuffle_to to[], uint32_t n,
    const double load[], double low, double high)
{
	uint32_t n_lowered = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (load[i] > high) {
			to[i].weight *= fmax(high / load[i], 0.5);
			n_lowered += to[i].weight > 0;
		} else if (load[i] < low && to[i].weight < 1) {
			to[i].weight = fmin(to[i].weight * 1.1, 1);
		}
	}
	return n_lowered;
}
