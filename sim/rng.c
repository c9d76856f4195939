/* sim/rng.c -- random streams by name: Philox4x32-10 counters as a gsl_rng.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/rng.h"

#include <Random123/philox.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void sim_philox_block(const uint32_t key[2], const uint32_t ctr[4],
    uint32_t out[4])
{
	philox4x32_ctr_t c = {{ctr[0], ctr[1], ctr[2], ctr[3]}};
	philox4x32_key_t k = {{key[0], key[1]}};
	c = philox4x32(c, k);
	memcpy(out, c.v, sizeof(c.v));
}

/* SIM_PHILOX_BLOCKS blocks from CTR on, of a counter whose first word is counted
 * up alone. By SSE2, which every x86-64 has, they take less time than two do one
 * by one; elsewhere as many calls. */
#ifdef __SSE2__
/* Of four 32-bit lanes the high and the low half of what each is times M, which
 * stands in both 64-bit lanes. */
static void multiply_lanes(__m128i x, __m128i m, __m128i *high, __m128i *low)
{
	const __m128i mask = _mm_set1_epi64x(UINT32_MAX);
	const __m128i even = _mm_mul_epu32(x, m),
		      odd = _mm_mul_epu32(_mm_srli_epi64(x, 32), m);
	*low = _mm_or_si128(_mm_and_si128(even, mask), _mm_slli_epi64(odd, 32));
	*high =
	    _mm_or_si128(_mm_srli_epi64(even, 32), _mm_andnot_si128(mask, odd));
}

/* Lane i of word[k] is word k of block i; blocks follow each other in OUT. */
static void store_lanes(const __m128i word[4], uint32_t out[])
{
	const __m128i a = _mm_unpacklo_epi32(word[0], word[1]),
		      b = _mm_unpacklo_epi32(word[2], word[3]),
		      c = _mm_unpackhi_epi32(word[0], word[1]),
		      d = _mm_unpackhi_epi32(word[2], word[3]);
	__m128i *to = (__m128i *)(void *)out;
	_mm_storeu_si128(to, _mm_unpacklo_epi64(a, b));
	_mm_storeu_si128(to + 1, _mm_unpackhi_epi64(a, b));
	_mm_storeu_si128(to + 2, _mm_unpacklo_epi64(c, d));
	_mm_storeu_si128(to + 3, _mm_unpackhi_epi64(c, d));
}

static void make_blocks(const uint32_t key[2], const uint32_t ctr[4],
    uint32_t out[SIM_PHILOX_WORDS])
{
	const __m128i m0 = _mm_set1_epi64x(PHILOX_M4x32_0),
		      m1 = _mm_set1_epi64x(PHILOX_M4x32_1),
		      w0 = _mm_set1_epi32((int)PHILOX_W32_0),
		      w1 = _mm_set1_epi32((int)PHILOX_W32_1);
	__m128i k0 = _mm_set1_epi32((int)key[0]),
		k1 = _mm_set1_epi32((int)key[1]);
	__m128i x[] = {_mm_add_epi32(_mm_set1_epi32((int)ctr[0]),
			   _mm_set_epi32(3, 2, 1, 0)),
	    _mm_set1_epi32((int)ctr[1]), _mm_set1_epi32((int)ctr[2]),
	    _mm_set1_epi32((int)ctr[3])};
	for (int i = 0; i < philox4x32_rounds; i++) {
		__m128i h0, l0, h1, l1;
		multiply_lanes(x[0], m0, &h0, &l0);
		multiply_lanes(x[2], m1, &h1, &l1);
		x[0] = _mm_xor_si128(_mm_xor_si128(h1, x[1]), k0);
		x[2] = _mm_xor_si128(_mm_xor_si128(h0, x[3]), k1);
		x[1] = l1;
		x[3] = l0;
		k0 = _mm_add_epi32(k0, w0);
		k1 = _mm_add_epi32(k1, w1);
	}
	store_lanes(x, out);
}
#else
static void make_blocks(const uint32_t key[2], const uint32_t ctr[4],
    uint32_t out[SIM_PHILOX_WORDS])
{
	for (uint32_t i = 0; i < SIM_PHILOX_BLOCKS; i++) {
		const uint32_t at[] = {ctr[0] + i, ctr[1], ctr[2], ctr[3]};
		sim_philox_block(key, at, out + 4 * i);
	}
}
#endif

void sim_philox_refill(struct sim_philox *p)
{
	const unsigned n = p->ctr[0] == 0 ? 1 : SIM_PHILOX_BLOCKS;
	if (n == 1)
		sim_philox_block(p->key, p->ctr, p->out + SIM_PHILOX_WORDS - 4);
	else
		make_blocks(p->key, p->ctr, p->out);
	p->ctr[0] += n;
	p->n_left = 4 * n;
}

/* The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA'14): a bijection
 * in which each input bit flips each output bit with probability near 1/2.
 * Every published number depends on these constants. */
static uint64_t rng_mix64(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void sim_rng_key(uint32_t key[2], const struct sim_seed *where,
    enum sim_stream stream)
{
	/* The seed is mixed before the name is joined to it, so that small
	 * seeds and small stream numbers cannot stand for each other. For one
	 * seed the whole is a bijection of the name: no two streams share a
	 * key. */
	uint64_t name = (uint64_t)stream << 32 | where->epoch;
	uint64_t k = rng_mix64(rng_mix64(where->seed) ^ name);
	key[0] = (uint32_t)k;
	key[1] = (uint32_t)(k >> 32);
}

void sim_rng_init(struct sim_rng *r, const struct sim_seed *where,
    enum sim_stream stream, uint32_t entity)
{
	/* The first word counts blocks, 2^32 of four words each; the others are
	 * the rest of the stream's name. */
	sim_rng_key(r->state.key, where, stream);
	memcpy(r->state.ctr, (uint32_t[]){0, entity, where->run, where->point},
	    sizeof(r->state.ctr));
	r->state.n_left = 0;
	r->gsl.type = sim_rng_philox;
	r->gsl.state = &r->state;
}

static void gsl_set(void *state, unsigned long seed)
{
	struct sim_philox *p = state;
	/* GSL's own way to seed knows no names, so it gets a stream for tests.
	 * Simulations start theirs with sim_rng_init(). */
	const struct sim_seed where = {.seed = seed};
	memset(p->ctr, 0, sizeof(p->ctr));
	p->n_left = 0;
	sim_rng_key(p->key, &where, SIM_STREAM_TEST);
}

static unsigned long gsl_get(void *state)
{
	return sim_philox_next(state);
}

static double gsl_get_double(void *state)
{
	return sim_philox_u01(state);
}

static const gsl_rng_type philox_type = {
    .name = "philox4x32-10",
    .max = UINT32_MAX,
    .min = 0,
    .size = sizeof(struct sim_philox),
    .set = gsl_set,
    .get = gsl_get,
    .get_double = gsl_get_double,
};

const gsl_rng_type *const sim_rng_philox = &philox_type;
