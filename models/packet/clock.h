/* models/packet/clock.h -- clocks of switches, each of its own time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A switch stamps copies of packets with a clock that nobody sets: it shows
 *
 *	an hour + its offset + (1 + its drift) * t
 *
 * at time t, in whole ticks. The hour keeps it above 0, which means none.
 * Offset and drift are those of the switch's name, so nothing is stored. Times of
 * two switches are not to be subtracted from each other; those of one are, as
 * far as its drift allows.
 *
 * Paper  Everflow (SIGCOMM'15) uses the analyzers' clocks alone. ERSPAN type III
 * has such a stamp.
 */
#ifndef MODELS_PACKET_CLOCK_H
#define MODELS_PACKET_CLOCK_H

#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"
#include "topo/ids.h"

/* As in a spec. */
struct packet_clock_params {
	double offset_us; /* uniform between this before and after; at most an
			     hour less a second */
	double drift_ppm; /* uniform between minus this and this */
	uint32_t tick_ns; /* at least 1 */
};
extern const struct sim_field packet_clock_fields[];

struct packet_clock {
	struct packet_clock_params params;
	uint32_t key[2], run, point;
};

void packet_clock_init(struct packet_clock *c,
    const struct packet_clock_params *params, const struct sim_seed *where);

/* What the clock of switch S shows at T. CLOCK is a struct packet_clock. Domain
 * T below 290 years. Cost one Philox block. */
sim_ns packet_clock_read(const void *clock, topo_switch s, sim_ns t);

#endif
