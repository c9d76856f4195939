/* models/bulk/kernel.h -- the vectorised inner loops of the bulk data plane.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The same loops are compiled for several instruction sets; all give the same
 * integers, bit for bit. A block is a struct of arrays over consecutive flows.
 */
#ifndef MODELS_BULK_KERNEL_H
#define MODELS_BULK_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "models/scene/traffic.h"
#include "topo/clos.h"

#define BULK_BLOCK 256 /* flows; the arrays below stay in the L1 cache */

/* Names of a block's random words. Flow f draws word j of its block b as
 * Threefry4x32-12(key, {f, b, 0, 0})[j]; 12 rounds are the fewest that pass
 * BigCrush, with no multiplication in the way of SIMD (Salmon et al. 2011). */
struct bulk_key {
	uint32_t v[4];
};

struct bulk_block {
	uint32_t n;                /* flows in use */
	uint32_t src[BULK_BLOCK];  /* source host */
	uint32_t dst[BULK_BLOCK];  /* destination host */
	uint32_t dtor[BULK_BLOCK]; /* its ToR */
	uint32_t own[BULK_BLOCK]; /* place of the source's, in skewed traffic */
	uint32_t word[4]
		     [BULK_BLOCK]; /* where to, packets, ports, lost or not */
	/* Links of the path; the two of tier 2 are `none` inside a pod. */
	uint32_t up1[BULK_BLOCK], up2[BULK_BLOCK];
	uint32_t down2[BULK_BLOCK], down1[BULK_BLOCK];
	float need[BULK_BLOCK]; /* u / packets: with less hazard on its path,
				   rounding apart, a flow loses nothing */
};

/* What the path loop needs to know of the network. */
struct bulk_clos {
	struct topo_clos c;
	uint32_t ecmp_seed;
	uint32_t none; /* stands for "no link" */
	uint32_t pkt_lo, pkt_span;
};

struct bulk_kernel {
	const char *name;
	/* word[] of flows FIRST .. FIRST + b->n - 1, block B_INDEX. */
	void (*draw)(struct bulk_block *b, const struct bulk_key *key,
	    uint32_t first, uint32_t b_index);
	/* dst, dtor by word[0] for uniform traffic. */
	void (*aim)(struct bulk_block *b, const struct bulk_clos *net);
	/* The same by own and coin, too, where TOR[places] are not alike. */
	void (*aim_skewed)(struct bulk_block *b, const struct bulk_clos *net,
	    struct scene_aim aim, const topo_switch *tor, const uint32_t *coin);
	/* up1 .. need by src, dst, dtor and words 1 to 3. */
	void (*path)(struct bulk_block *b, const struct bulk_clos *net);
};

/* Kernels that this CPU can run, the best first; NULL-terminated. The last is
 * plain C and runs anywhere. */
const struct bulk_kernel *const *bulk_kernels(void);

/* Both ports of a flow from word 2, as src << 16 | dst: each at least 1024. */
static inline uint32_t bulk_ports(uint32_t word)
{
	return word | UINT32_C(0x04000400);
}

/* X / D for X and D below 2^24, without an integer division; INV = 1.0f / D.
 * The float quotient is off by one at most. */
static inline __attribute__((always_inline)) uint32_t bulk_quotient(uint32_t x,
    uint32_t d, float inv)
{
	uint32_t q = (uint32_t)(int32_t)((float)(int32_t)x * inv);
	int32_t r = (int32_t)(x - q * d);
	return q + (r >= (int32_t)d) - (r < 0);
}

/* One flow's words, as draw() gives them. */
void bulk_words(const struct bulk_key *key, uint32_t flow, uint32_t b_index,
    uint32_t word[4]);

#endif
