/* tests/rigs/packets.h -- random packets, with what switches look for in many.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_PACKETS_H
#define TESTS_PACKETS_H

#include "models/obs_packet.h"
#include "sim/rng.h"

/* A packet such as a wire carries: TCP, UDP, RoCE v2 or of another protocol,
 * with up to three outer headers, or a pause frame. What it does not have is 0.
 */
void packets_any(struct obs_packet *p, struct sim_rng *r);

#endif
