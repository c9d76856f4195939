/* models/obs_http.h -- what HTTP pings saw: one row a GET, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A ping is a row of models/obs_probes.h first, like any other: that is where its
 * connect counts, once. It has a row here as well if its connect stood, and a GET
 * was sent. Both rows have the same time, hosts and ports. Rows need no order.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 3.4: agents launch TCP and HTTP pings.
 */
#ifndef MODELS_OBS_HTTP_H
#define MODELS_OBS_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "models/agent.h"
#include "sim/table.h"
#include "topo/ids.h"

/*  X(type, column, units, meaning) */
#define OBS_HTTP_COLUMNS(X)                                                    \
	X(uint64_t, sent_ns, "ns", "first SYN, since the run began")           \
	X(uint64_t, answer_ns, "ns",                                           \
	    "GET to the head of an answer of status 200; 0 = none")            \
	X(uint32_t, src_host, "1", "host id of the sender")                    \
	X(uint32_t, dst_host, "1", "host id of the peer")                      \
	X(uint16_t, src_port, "1", "TCP source port")                          \
	X(uint16_t, dst_port, "1", "TCP destination port")                     \
	X(uint8_t, answer, "1", "enum agent_answer")                           \
	X(uint8_t, level, "1", "enum obs_level")                               \
	X(uint8_t, class, "1", "QoS class; 0 is the most urgent")

struct obs_http {
	SIM_TABLE_ARRAYS(OBS_HTTP_COLUMNS)
};
struct obs_http_row {
	SIM_TABLE_FIELDS(OBS_HTTP_COLUMNS)
};
SIM_TABLE(obs_http, obs_http_row, OBS_HTTP_COLUMNS)

/* Check a table that came from outside, sent by the N_HOSTS hosts from FIRST_HOST
 * on. Senders are among these, and so are peers unless they are in another data
 * centre; no host asks itself, levels are known, a GET was asked for, and it has a
 * time if and only if it was answered by status 200.
 * Errors SIM_EINVAL naming the row and the value. Cost O(n). */
int obs_http_check(const struct obs_http *t, topo_host first_host,
    uint32_t n_hosts, struct sim_err *e);

#endif
