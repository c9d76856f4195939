/* models/netns/cost.h -- what programs of the kernel cost, tried without packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernel runs a program on a frame again and again and says how long it took
 * (BPF_PROG_TEST_RUN), of which a good part is the running itself. So an empty
 * program is run beside it, on the same frame, and what counts is the
 * difference of the least of several.
 */
#ifndef MODELS_NETNS_COST_H
#define MODELS_NETNS_COST_H

#include <stdint.h>

struct netns_frame {
	const void *bytes; /* from the Ethernet header on */
	uint32_t n, repeat;
};

/* Of one run; of the kernel, in whole ns. */
struct netns_cost {
	double ns;
	double empty_ns; /* of a program that leaves all undecided */
};

#endif
