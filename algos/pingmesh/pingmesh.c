/* algos/pingmesh/pingmesh.c -- the parameters of Pingmesh's agent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/pingmesh.h"

static const char *const port_orders[] = {"pair", "list", NULL};

/* Defaults are the paper's where it gives a figure: 10 s between probes of a
 * pair, 64 KB of payload, SYN timers of 3 s, counters each 5 minutes. The
 * others are ours. */
#define FIELD(member) offsetof(struct algo_pingmesh_params, member)
const struct sim_field algo_pingmesh_agent_fields[] = {
    {"max_entries", SIM_F_U32, FIELD(max_entries), .min = 1,
	.max = ALGO_PINGMESH_ENTRIES, .unit = "entries", .def = "5120",
	.doc = "a list with more is refused"},
    {"min_interval", SIM_F_U32, FIELD(min_interval_s),
	.min = ALGO_PINGLIST_MIN_INTERVAL_S,
	.max = ALGO_PINGLIST_MAX_INTERVAL_S, .unit = "s", .def = "10",
	.doc = "least time between probes of a pair"},
    {"max_payload", SIM_F_U32, FIELD(max_payload), .min = 0,
	.max = ALGO_PINGLIST_MAX_PAYLOAD, .unit = "bytes", .def = "65536",
	.doc = "longer payloads are cut"},
    {"fetch_interval", SIM_F_F64, FIELD(fetch_interval_s), .min = 10,
	.max = 86400, .unit = "s", .def = "300",
	.doc = "between contacts with the controller"},
    {"fetch_retry", SIM_F_F64, FIELD(fetch_retry_s), .min = 1, .max = 3600,
	.unit = "s", .def = "30", .doc = "the same while there is no list"},
    {"fetch_timeout", SIM_F_F64, FIELD(fetch_timeout_s), .min = 0.1, .max = 600,
	.unit = "s", .def = "10", .doc = "a contact that takes longer failed"},
    {"probe_timeout", SIM_F_F64, FIELD(probe_timeout_s), .min = 0.1, .max = 600,
	.unit = "s", .def = "25", .doc = "a probe that takes longer failed"},
    {"syn_rto", SIM_F_F64, FIELD(syn_rto_s), .min = 0.001, .max = 60,
	.unit = "s", .def = "3",
	.doc = "when TCP repeats its first SYN (Linux: 1)"},
    {"first_port", SIM_F_U32, FIELD(first_port), .min = 1, .max = 65535,
	.unit = "1", .def = "32768", .doc = "source ports of probes"},
    {"last_port", SIM_F_U32, FIELD(last_port), .min = 1, .max = 65535,
	.unit = "1", .def = "60999", .doc = "source ports of probes"},
    {"ports", SIM_F_ENUM, FIELD(ports), .names = port_orders, .def = "pair",
	.doc = "what takes all ports in turn: each pair, or the whole list"},
    {"batch", SIM_F_U32, FIELD(batch), .min = 1, .max = ALGO_PINGMESH_BATCH,
	.unit = "records", .def = "2048", .doc = "records of an upload"},
    {"upload_interval", SIM_F_F64, FIELD(upload_interval_s), .min = 0.1,
	.max = 3600, .unit = "s", .def = "60",
	.doc = "a batch that is not full waits so long"},
    {"upload_timeout", SIM_F_F64, FIELD(upload_timeout_s), .min = 0.1,
	.max = 600, .unit = "s", .def = "10",
	.doc = "an upload that takes longer failed"},
    {"upload_backoff", SIM_F_F64, FIELD(upload_backoff_s), .min = 0.1,
	.max = 600, .unit = "s", .def = "1",
	.doc = "rest after the first failure; doubled each time"},
    {"upload_tries", SIM_F_U32, FIELD(upload_tries), .min = 1, .max = 20,
	.unit = "1", .def = "5", .doc = "then a batch is discarded"},
    {"perf_window", SIM_F_F64, FIELD(perf_window_s), .min = 1, .max = 86400,
	.unit = "s", .def = "300", .doc = "of the performance counters"},
    {0},
};
