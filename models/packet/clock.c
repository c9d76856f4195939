/* models/packet/clock.c -- clocks of switches, each of its own time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/clock.h"

#define AT(member) .offset = offsetof(struct packet_clock_params, member)
const struct sim_field packet_clock_fields[] = {
    {.name = "offset",
	.type = SIM_F_F64,
	AT(offset_us),
	.min = 0,
	.max = 3599e6,
	.unit = "us",
	.def = "1000",
	.doc = "a switch's clock is up to this ahead or behind"},
    {.name = "drift",
	.type = SIM_F_F64,
	AT(drift_ppm),
	.min = 0,
	.max = 1000,
	.unit = "ppm",
	.def = "10",
	.doc = "and runs up to this fast or slow"},
    {.name = "tick",
	.type = SIM_F_U32,
	AT(tick_ns),
	.min = 1,
	.max = 1e9,
	.unit = "ns",
	.def = "100",
	.doc = "and shows whole ticks"},
    {0},
};
#undef AT

#define HOUR (3600 * SIM_SEC)

void packet_clock_init(struct packet_clock *c,
    const struct packet_clock_params *params, const struct sim_seed *where)
{
	*c = (struct packet_clock){
	    .params = *params,
	    .run = where->run,
	    .point = where->point,
	};
	sim_rng_key(c->key, where, SIM_STREAM_CLOCK);
}

/* In [-1, 1). */
static double around_zero(uint32_t x)
{
	return x * 0x1p-31 - 1;
}

/* What differs from T is small, so it is added in whole nanoseconds: a double
 * would lose the last digits of T. */
sim_ns packet_clock_read(const void *clock, topo_switch s, sim_ns t)
{
	const struct packet_clock *c = clock;
	const uint32_t ctr[4] = {0, s, c->run, c->point};
	uint32_t out[4];
	sim_philox_block(c->key, ctr, out);
	const double off_ns = 1e3 * c->params.offset_us * around_zero(out[0]);
	const double drift = 1e-6 * c->params.drift_ppm * around_zero(out[1]);
	const int64_t more = (int64_t)(off_ns + drift * (double)t);
	const sim_ns shown = HOUR + t + (uint64_t)more;
	return shown - shown % c->params.tick_ns;
}
