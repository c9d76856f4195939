/* models/bulk/kernel.c -- the vectorised inner loops of the bulk data plane.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plain loops that GCC vectorises at -O3 (set for this file in the Makefile),
 * compiled once a target. The choice is made at run time, so one binary serves
 * old and new machines; this is the one place where an #if on the architecture
 * stands, because only x86 needs it.
 */
#include "models/bulk/kernel.h"

#include <Random123/threefry.h>

#include "topo/addr.h"
#include "topo/route.h"

#define INLINE static inline __attribute__((always_inline))

/* A uniform choice among n: the high half of the product. The low half, a * n
 * in 32 bits, is what the choice has not used. */
INLINE uint32_t high(uint32_t a, uint32_t n)
{
	return (uint32_t)((uint64_t)a * n >> 32);
}

INLINE uint32_t rotl(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

/* A mix of Threefry4x32 on two pairs of its four words: an add, a rotation and
 * an xor each. */
#define ROUND(a, b, ra, c, d, rc)                                              \
	do {                                                                   \
		x##a += x##b;                                                  \
		x##b = rotl(x##b, ra) ^ x##a;                                  \
		x##c += x##d;                                                  \
		x##d = rotl(x##d, rc) ^ x##c;                                  \
	} while (0)

/* Threefry's rotations repeat after eight rounds, which stand here in two
 * fours; the words are permuted between rounds by naming other pairs. The
 * rounds of Random123 work on one counter; these work on four scalars, a form
 * that GCC vectorises over flows. bulk_words() has those, and a test compares
 * the two. */
#define FOUR_A                                                                 \
	ROUND(0, 1, 10, 2, 3, 26);                                             \
	ROUND(0, 3, 11, 2, 1, 21);                                             \
	ROUND(0, 1, 13, 2, 3, 27);                                             \
	ROUND(0, 3, 23, 2, 1, 5)
#define FOUR_B                                                                 \
	ROUND(0, 1, 6, 2, 3, 20);                                              \
	ROUND(0, 3, 17, 2, 1, 11);                                             \
	ROUND(0, 1, 25, 2, 3, 10);                                             \
	ROUND(0, 3, 18, 2, 1, 20)
/* Every four rounds the key is added, one word further round each time, and to
 * the last word the number of the injection. */
#define INJECT(s)                                                              \
	do {                                                                   \
		x0 += k[(s) % 5];                                              \
		x1 += k[((s) + 1) % 5];                                        \
		x2 += k[((s) + 2) % 5];                                        \
		x3 += k[((s) + 3) % 5] + (s);                                  \
	} while (0)

INLINE void draw(struct bulk_block *b, const struct bulk_key *key,
    uint32_t first, uint32_t b_index)
{
	/* Threefry's fifth word of the key: the xor of all and a constant. */
	const uint32_t parity =
	    0x1bd11bdau ^ key->v[0] ^ key->v[1] ^ key->v[2] ^ key->v[3];
	const uint32_t k[5] = {key->v[0], key->v[1], key->v[2], key->v[3],
	    parity};
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		uint32_t x0 = first + i, x1 = b_index, x2 = 0, x3 = 0;
		INJECT(0);
		FOUR_A;
		INJECT(1);
		FOUR_B;
		INJECT(2);
		FOUR_A;
		INJECT(3);
		b->word[0][i] = x0;
		b->word[1][i] = x1;
		b->word[2][i] = x2;
		b->word[3][i] = x3;
	}
}

INLINE void aim(struct bulk_block *b, const struct bulk_clos *net)
{
	const uint32_t n_hosts = net->c.n_hosts;
	const uint32_t n_others = net->c.all_tors - 1;
	const float inv = 1.0f / (float)n_hosts;
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		/* Uniform over the other ToRs: own is left out by counting past
		 * it. */
		uint32_t own = bulk_quotient(b->src[i], n_hosts, inv);
		uint32_t word = b->word[0][i];
		uint32_t tor = high(word, n_others);
		tor += tor >= own;
		b->dtor[i] = tor;
		b->dst[i] = tor * n_hosts + high(word * n_others, n_hosts);
	}
}

INLINE void aim_skewed(struct bulk_block *b, const struct bulk_clos *net,
    struct scene_aim aim, const topo_switch *restrict tor,
    const uint32_t *restrict coin)
{
	const uint32_t n_hosts = net->c.n_hosts;
	uint32_t place[BULK_BLOCK];
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		uint32_t rest;
		place[i] = scene_aim_place(aim, b->own[i], b->word[0][i],
		    coin[i], &rest);
		b->dst[i] = high(rest, n_hosts);
	}
	/* Plain loads are faster than gathers. */
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		b->dtor[i] = tor[place[i]];
		b->dst[i] += b->dtor[i] * n_hosts;
	}
}

INLINE void path(struct bulk_block *b, const struct bulk_clos *net)
{
	const struct topo_clos *c = &net->c;
	const uint32_t n_t1 = c->n_t1, n_t2 = c->n_t2;
	const uint32_t n_tors = c->n_tors, n_hosts = c->n_hosts;
	const uint32_t first_t1 = c->all_tors, first_t2 = first_t1 + c->all_t1;
	const uint32_t cable_tor = c->cable_tor, cable_t1 = c->cable_t1;
	const uint32_t ecmp_seed = net->ecmp_seed, none = net->none;
	const uint32_t pkt_lo = net->pkt_lo, pkt_span = net->pkt_span;
	const float inv_hosts = 1.0f / (float)n_hosts;
	const float inv_tors = 1.0f / (float)n_tors;
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		uint32_t tor = bulk_quotient(b->src[i], n_hosts, inv_hosts);
		uint32_t pod = bulk_quotient(tor, n_tors, inv_tors);
		uint32_t dpod = bulk_quotient(b->dtor[i], n_tors, inv_tors);
		uint32_t d = topo_digest_rest(topo_digest_src(topo_addr_of_host(
								  b->src[i]),
						  TOPO_PROTO_TCP),
		    topo_addr_of_host(b->dst[i]), bulk_ports(b->word[2][i]));

		/* Each switch on the way picks its port by its own hash of the
		 * digest, as topo_path() does. All three choices are computed
		 * for all flows, also those inside a pod: a branch would cost
		 * more than the hashes. */
		uint32_t j = topo_switch_pick(ecmp_seed, tor, d, n_t1);
		uint32_t t1 = pod * n_t1 + j;
		uint32_t k =
		    topo_switch_pick(ecmp_seed, first_t1 + t1, d, n_t2);
		uint32_t m = topo_switch_pick(ecmp_seed, first_t2 + k, d, n_t1);
		uint32_t t1_down = dpod * n_t1 + m;
		uint32_t up2 = 2 * (cable_t1 + t1 * n_t2 + k);
		uint32_t down2 = 2 * (cable_t1 + t1_down * n_t2 + k) + 1;

		/* Inside a pod the T1 above the source leads down again. The
		 * links of tier 2 then become `none`, of hazard 0. */
		uint32_t same = pod == dpod;
		b->up1[i] = 2 * (cable_tor + tor * n_t1 + j);
		b->up2[i] = same ? none : up2;
		b->down2[i] = same ? none : down2;
		b->down1[i] =
		    2 * (cable_tor + b->dtor[i] * n_t1 + (same ? j : m)) + 1;
		/* The flow is lossy if u < 1 - exp(-n * sum), which is at most
		 * n * sum: so below a hazard of u / n on its path it is not. */
		uint32_t n_pkts = pkt_lo + high(b->word[1][i], pkt_span);
		b->need[i] =
		    (float)b->word[3][i] * 0x1p-32f / (float)(int32_t)n_pkts;
	}
}

void bulk_words(const struct bulk_key *key, uint32_t flow, uint32_t b_index,
    uint32_t word[4])
{
	threefry4x32_ctr_t c = {{flow, b_index, 0, 0}};
	threefry4x32_key_t k = {{key->v[0], key->v[1], key->v[2], key->v[3]}};
	c = threefry4x32_R(12, c, k);
	for (unsigned i = 0; i < 4; i++)
		word[i] = c.v[i];
}

#define KERNEL(suffix, target)                                                 \
	target static void draw_##suffix(struct bulk_block *b,                 \
	    const struct bulk_key *key, uint32_t first, uint32_t b_index)      \
	{                                                                      \
		draw(b, key, first, b_index);                                  \
	}                                                                      \
	target static void aim_##suffix(struct bulk_block *b,                  \
	    const struct bulk_clos *net)                                       \
	{                                                                      \
		aim(b, net);                                                   \
	}                                                                      \
	target static void aim_skewed_##suffix(struct bulk_block *b,           \
	    const struct bulk_clos *net, struct scene_aim aim,                 \
	    const topo_switch *tor, const uint32_t *coin)                      \
	{                                                                      \
		aim_skewed(b, net, aim, tor, coin);                            \
	}                                                                      \
	target static void path_##suffix(struct bulk_block *b,                 \
	    const struct bulk_clos *net)                                       \
	{                                                                      \
		path(b, net);                                                  \
	}                                                                      \
	static const struct bulk_kernel kernel_##suffix = {#suffix,            \
	    draw_##suffix, aim_##suffix, aim_skewed_##suffix, path_##suffix};

/* The same loops, always inlined, compiled once for each target. */
KERNEL(portable, )

#ifdef __x86_64__
KERNEL(avx2, __attribute__((target("avx2"))))
KERNEL(avx512,
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,"
			  "prefer-vector-width=512"))))

const struct bulk_kernel *const *bulk_kernels(void)
{
	static const struct bulk_kernel *const best[] = {&kernel_avx512,
	    &kernel_avx2, &kernel_portable, NULL};
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return best;
	/* Each machine's kernels are the end of the same list. */
	return best + (__builtin_cpu_supports("avx2") ? 1 : 2);
}
#else
const struct bulk_kernel *const *bulk_kernels(void)
{
	static const struct bulk_kernel *const best[] = {&kernel_portable,
	    NULL};
	return best;
}
#endif
