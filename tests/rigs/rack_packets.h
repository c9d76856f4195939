/* tests/rigs/rack_packets.h -- the rack packet by packet, as an oracle of its slots.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Written from the words of the header of models/rack/rack.h and of RFC 8257,
 * not from its code: each packet is an event at its sender, at the switch and
 * back. Acknowledgements clock the sender; a packet is lost when three that
 * were sent later have been acknowledged, or by timeout. A queue's limit is
 * asked of each packet that comes. One quadrant, inwards alone; the first
 * 1,000 warm connections.
 */
#ifndef TESTS_RACK_PACKETS_H
#define TESTS_RACK_PACKETS_H

#include "models/rack/rack.h"

enum { RACK_PACKETS_SERVERS = 8 };

/* Counts are in segments. */
struct rack_story {
	uint64_t arrived, marked, dropped, retx, n_rto;
	/* Queues of all servers, bytes, every 25 us; sorted by who asks. */
	double *queue;
	size_t n_queue, cap_queue;
};

/* Add to S what becomes of F until the time UNTIL. Errors SIM_ENOMEM. */
int rack_packets_play(const struct rack_params *p, const struct rack_flows *f,
    sim_ns until, struct rack_story *s, struct sim_err *e);

/* The same by the slots of models/rack/rack.h. */
int rack_packets_slots(const struct rack_params *p, const struct rack_flows *f,
    sim_ns until, struct rack_story *s, struct sim_err *e);

void rack_story_free(struct rack_story *s);

#endif
