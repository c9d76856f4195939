/* sim/rng.c -- random streams by name: Philox4x32-10 counters as a gsl_rng.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/rng.h"

#include <Random123/philox.h>
#include <string.h>

void sim_philox_block(const uint32_t key[2], const uint32_t ctr[4],
    uint32_t out[4])
{
	philox4x32_ctr_t c = {{ctr[0], ctr[1], ctr[2], ctr[3]}};
	philox4x32_key_t k = {{key[0], key[1]}};
	c = philox4x32(c, k);
	memcpy(out, c.v, sizeof(c.v));
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
	r->state =
	    (struct sim_philox){.ctr = {0, entity, where->run, where->point}};
	sim_rng_key(r->state.key, where, stream);
	r->gsl.type = sim_rng_philox;
	r->gsl.state = &r->state;
}

static void gsl_set(void *state, unsigned long seed)
{
	struct sim_philox *p = state;
	/* GSL's own way to seed knows no names, so it gets a stream for tests.
	 * Simulations start theirs with sim_rng_init(). */
	const struct sim_seed where = {.seed = seed};
	*p = (struct sim_philox){.n_left = 0};
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
