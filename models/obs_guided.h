/* models/obs_guided.h -- guided probes that were sent, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A guided probe is a packet with the debug bit and a checksum that its receiver
 * refuses, within IP headers that lead it by the switches VIA, in order; behind
 * the last of them it goes on to the tuple's destination, or ends there if that
 * is 0. TCP's sequence number is its order's id and the acknowledgement its
 * number within the order, so its copies are known among all others.
 *
 * Paper  Everflow (SIGCOMM'15) (guided probes).
 */
#ifndef MODELS_OBS_GUIDED_H
#define MODELS_OBS_GUIDED_H

#include <stddef.h>
#include <stdint.h>

#include "sim/table.h"
#include "topo/ids.h"

enum { OBS_MAX_VIA = 3 };

/*  X(type, column, units, meaning) */
#define OBS_GUIDED_COLUMNS(X)                                                  \
	X(uint64_t, sent_ns, "ns", "when it left, since the run began")        \
	X(uint32_t, order, "1", "id of the order that it belongs to")          \
	X(uint32_t, number, "1", "its number in the order, from 0")            \
	X(uint32_t, src_host, "1", "host id of the prober")                    \
	X(uint32_t, src_ip, "1", "innermost source")                           \
	X(uint32_t, dst_ip, "1", "innermost destination")                      \
	X(uint16_t, src_port, "1", "TCP source port")                          \
	X(uint16_t, dst_port, "1", "TCP destination port")                     \
	X(uint16_t, ip_id, "1", "of the innermost header")                     \
	X(uint32_t, via0, "1", "switch it is sent to; 2^32-1 = none")          \
	X(uint32_t, via1, "1", "switch after that; 2^32-1 = none")             \
	X(uint32_t, via2, "1", "switch after that; 2^32-1 = none")

struct obs_guided {
	SIM_TABLE_ARRAYS(OBS_GUIDED_COLUMNS)
};
struct obs_guided_probe {
	SIM_TABLE_FIELDS(OBS_GUIDED_COLUMNS)
};
SIM_TABLE(obs_guided, obs_guided_probe, OBS_GUIDED_COLUMNS)

#endif
