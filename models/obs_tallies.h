/* models/obs_tallies.h -- packets sent and lost, by flow and by paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is known of flows when each is one sum: a row is a flow, or probes of one
 * path. Its way is the sender's cable, one path of a set, the receiver's cable.
 * Telemetries differ in the rows and paths that they have:
 *
 *	INT  every flow, its path known
 *	A1   probes, their paths known
 *	A2   flows that lost something, their paths known (traceroute)
 *	P    every flow, its path not known
 *
 * Of A2 and P together flows that lost something have a path and others have
 * none. Paper  Flock (CoNEXT'23), whose names these are.
 */
#ifndef MODELS_OBS_TALLIES_H
#define MODELS_OBS_TALLIES_H

#include "models/obs_paths.h"
#include "sim/table.h"

/*  X(type, column, units, meaning) */
#define OBS_TALLY_COLUMNS(X)                                                   \
	X(uint32_t, up, "1", "sending host's link; 2^32-1: a switch sent")     \
	X(uint32_t, down, "1", "receiving host's link; 2^32-1: a switch did")  \
	X(uint32_t, set, "1", "equal paths between the switches of both")      \
	X(uint32_t, path, "1", "the one it took; 2^32-1: not known")           \
	X(uint32_t, n_sent, "packets", "offered to the network")               \
	X(uint32_t, n_lost, "packets", "of these, lost")                       \
	X(uint32_t, flow, "1", "row of the window's flows; 2^32-1: none")      \
	X(uint8_t, is_probe, "1", "1: sent to measure")

/* Bits of what rows there are. X(bit, name, meaning) */
#define OBS_TELEMETRIES(X)                                                     \
	X(INT, "int", "every flow, with its path")                             \
	X(A1, "a1", "probes, with their paths")                                \
	X(A2, "a2", "flows that lost something, with their paths")             \
	X(P, "p", "every flow, by its equal paths")

enum {
#define X(bit, name, text) OBS_TELE_AT_##bit,
	OBS_TELEMETRIES(X)
#undef X
	    OBS_N_TELEMETRIES
};
enum obs_telemetry {
#define X(bit, name, text) OBS_TELE_##bit = 1 << OBS_TELE_AT_##bit,
	OBS_TELEMETRIES(X)
#undef X
};

/* Zeroed is empty. PATHS and TELEMETRY are beside the table: paths are borrowed
 * and outlive it. */
struct obs_tallies {
	SIM_TABLE_ARRAYS(OBS_TALLY_COLUMNS)
	const struct obs_paths *paths;
	unsigned telemetry; /* of enum obs_telemetry */
};
struct obs_tally {
	SIM_TABLE_FIELDS(OBS_TALLY_COLUMNS)
};
SIM_TABLE(obs_tallies, obs_tally, OBS_TALLY_COLUMNS)

/* Check a table that came from outside, whose paths are checked: sets and paths
 * that there are, a path of its row's set, links below N_LINKS, n_lost <= n_sent,
 * n_sent above 0, flows below N_FLOWS. Errors SIM_EINVAL naming the row and the
 * value. Cost O(n). */
int obs_tallies_check(const struct obs_tallies *t, uint32_t n_links,
    size_t n_flows, struct sim_err *e);

#endif
