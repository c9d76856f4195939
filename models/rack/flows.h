/* models/rack/flows.h -- what is to be sent to and from a rack's servers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row is one transfer over one connection; a burst is some of them that begin
 * together. What makes them (models/rack/traffic.h) and what plays them
 * (models/rack/rack.h, or any other simulator) share nothing else.
 */
#ifndef MODELS_RACK_FLOWS_H
#define MODELS_RACK_FLOWS_H

#include "sim/table.h"

/* A connection that is warm goes on with the window that its last transfer
 * left; warm connections are numbered from 1 in each rack.
 *	X(type, column, units, meaning) */
#define RACK_FLOW_COLUMNS(X)                                                   \
	X(uint64_t, start_ns, "ns", "when it begins")                          \
	X(uint32_t, server, "1", "server of the rack, from 0")                 \
	X(uint32_t, segments, "segments", "to be delivered; not 0")            \
	X(uint32_t, conn, "1", "names its connection in sketches and draws")   \
	X(uint32_t, warm, "1", "number of a warm connection; 0: a new one")    \
	X(uint8_t, out, "1", "1: the server sends; 0: it receives")            \
	X(uint8_t, cross, "1", "1: to or from another region, far away")

struct rack_flows {
	SIM_TABLE_ARRAYS(RACK_FLOW_COLUMNS)
};
struct rack_flow {
	SIM_TABLE_FIELDS(RACK_FLOW_COLUMNS)
};
SIM_TABLE(rack_flows, rack_flow, RACK_FLOW_COLUMNS)

#endif
