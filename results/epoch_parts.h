/* results/epoch_parts.h -- what writing and reading epochs share: the tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_EPOCH_PARTS_H
#define RESULTS_EPOCH_PARTS_H

#include "models/obs.h"
#include "models/obs_tallies.h"
#include "results/h5_table.h"
#include "sim/table.h"

enum { RES_EPOCH_SHAPE = 5 };

/*  X(type, column, units, meaning) */
#define RES_EPOCH_NODE_COLUMNS(X)                                              \
	X(uint8_t, kind, "1", "a host, or a switch")                           \
	X(uint32_t, tier, "1", "0 ToR, 1 T1, 2 T2; 4294967295 = none")         \
	X(struct sim_name, name, "1", "what messages call it")

/* The ends are what is read of a link. */
#define RES_EPOCH_END_COLUMNS(X)                                               \
	X(uint32_t, from, "1", "node that it leads from")                      \
	X(uint32_t, to, "1", "node that it leads to")
#define RES_EPOCH_LINK_COLUMNS(X)                                              \
	RES_EPOCH_END_COLUMNS(X)                                               \
	X(uint8_t, class, "1", "between which tiers")                          \
	X(struct sim_name, name, "1", "what messages call it")

#define RES_EPOCH_MARK_COLUMNS(X)                                              \
	X(uint8_t, failed, "1", "1: n_retx is above 0")                        \
	X(uint8_t, in_window, "1", "1: algorithms were shown it")
#define RES_EPOCH_FLOW_COLUMNS(X)                                              \
	OBS_FLOW_COLUMNS(X)                                                    \
	RES_EPOCH_MARK_COLUMNS(X)

#define RES_EPOCH_OFFSET_COLUMNS(X)                                            \
	X(int64_t, first_hop, "1", "row of /hops; the flow ends at the next")
#define RES_EPOCH_HOP_COLUMNS(X)                                               \
	X(uint32_t, link, "1", "as seen; 4294967295 = not known")

#define RES_EPOCH_FLOW_TRUTH_COLUMNS(X)                                        \
	X(uint32_t, n_retx, "packets", "it had to send again in the end")      \
	X(uint64_t, n_drops, "packets", "it lost")                             \
	X(uint32_t, culprit, "1", "link that dropped most; 4294967295 = none") \
	X(uint32_t, culprit_released, "1", "by 007's released code")           \
	X(uint32_t, culprit_switch, "1", "failed switch that culprit is of")   \
	X(uint32_t, culprit_released_switch, "1",                              \
	    "failed switch that culprit_released is of")
#define RES_EPOCH_HOP_TRUTH_COLUMNS(X)                                         \
	X(uint32_t, link, "1", "that it took; 4294967295 = not known")         \
	X(uint32_t, drops, "packets", "lost there")                            \
	X(uint32_t, buffer, "packets", "of these, in the port's full buffer")

#define RES_EPOCH_FAULT_COLUMNS(X)                                             \
	X(uint32_t, link, "1", "that fails")                                   \
	X(uint8_t, kind, "1", "what its fault does")                           \
	X(double, rate, "1", "of packets that it drops")                       \
	X(double, delay_us, "us", "mean of what it adds to a packet's time")   \
	X(double, shape, "1", "of the law of delays")                          \
	X(uint8_t, law, "1", "of delays")                                      \
	X(uint64_t, from_ns, "ns", "begin, since the epoch began")             \
	X(uint64_t, to_ns, "ns", "end, which it does not include")
#define RES_EPOCH_HOLE_COLUMNS(X)                                              \
	X(uint32_t, switch_id, "1", "that drops packets by a rule")            \
	X(uint8_t, type, "1", "1: by addresses; 2: by the five-tuple")         \
	X(uint64_t, below, "1", "hashes of 32 bits below this are dropped")    \
	X(uint64_t, salt, "1", "of the hash")                                  \
	X(uint64_t, from_ns, "ns", "begin, since the epoch began")             \
	X(uint64_t, to_ns, "ns", "end, which it does not include")
#define RES_EPOCH_OUTAGE_COLUMNS(X)                                            \
	X(uint8_t, kind, "1", "what is off")                                   \
	X(uint8_t, mode, "1", "how a service fails")                           \
	X(uint32_t, id, "1", "of the host or pod")                             \
	X(uint64_t, from_ns, "ns", "begin, since the epoch began")             \
	X(uint64_t, to_ns, "ns", "end, which it does not include")             \
	X(double, delay_us, "us", "of a service that is slow")
#define RES_EPOCH_SWITCH_COLUMNS(X) X(uint32_t, switch_id, "1", "that failed")
#define RES_EPOCH_PART_COLUMNS(X)                                              \
	X(uint32_t, link, "1", "that fails with its switch")                   \
	X(uint32_t, switch_id, "1", "that failed")

#define RES_EPOCH_SET_COLUMNS(X)                                               \
	X(uint32_t, from_switch, "1", "that its paths lead from")              \
	X(uint32_t, to_switch, "1", "that they lead to")                       \
	X(uint32_t, n_paths, "1", "the next so many of /paths")
#define RES_EPOCH_PATH_COLUMNS(X)                                              \
	X(uint32_t, n_links, "1", "the next so many of /path_links")
#define RES_EPOCH_PATH_LINK_COLUMNS(X)                                         \
	X(uint32_t, link, "1", "in the order of the way")

#define RES_EPOCH_TABLE(name, COLUMNS)                                         \
	struct res_epoch_##name##s {                                           \
		SIM_TABLE_ARRAYS(COLUMNS)                                      \
	};                                                                     \
	struct res_epoch_##name {                                              \
		SIM_TABLE_FIELDS(COLUMNS)                                      \
	};                                                                     \
	SIM_TABLE(res_epoch_##name##s, res_epoch_##name, COLUMNS)

RES_EPOCH_TABLE(node, RES_EPOCH_NODE_COLUMNS)
RES_EPOCH_TABLE(end, RES_EPOCH_END_COLUMNS)
RES_EPOCH_TABLE(link, RES_EPOCH_LINK_COLUMNS)
RES_EPOCH_TABLE(mark, RES_EPOCH_MARK_COLUMNS)
RES_EPOCH_TABLE(flow, RES_EPOCH_FLOW_COLUMNS)
RES_EPOCH_TABLE(offset, RES_EPOCH_OFFSET_COLUMNS)
RES_EPOCH_TABLE(hop, RES_EPOCH_HOP_COLUMNS)
RES_EPOCH_TABLE(flow_truth, RES_EPOCH_FLOW_TRUTH_COLUMNS)
RES_EPOCH_TABLE(hop_truth, RES_EPOCH_HOP_TRUTH_COLUMNS)
RES_EPOCH_TABLE(fault, RES_EPOCH_FAULT_COLUMNS)
RES_EPOCH_TABLE(hole, RES_EPOCH_HOLE_COLUMNS)
RES_EPOCH_TABLE(outage, RES_EPOCH_OUTAGE_COLUMNS)
RES_EPOCH_TABLE(switch, RES_EPOCH_SWITCH_COLUMNS)
RES_EPOCH_TABLE(part, RES_EPOCH_PART_COLUMNS)
RES_EPOCH_TABLE(set, RES_EPOCH_SET_COLUMNS)
RES_EPOCH_TABLE(path, RES_EPOCH_PATH_COLUMNS)
RES_EPOCH_TABLE(path_link, RES_EPOCH_PATH_LINK_COLUMNS)
RES_EPOCH_TABLE(tally, OBS_TALLY_COLUMNS)

enum res_epoch_fault_kind {
	RES_EPOCH_DROP,
	RES_EPOCH_DELAY,
	RES_EPOCH_OF_HOLE,
};

/* The tables of a file, in its order.
 *  X(NAME, group, rows' table, rows of a chunk) */
#define RES_EPOCH_TABLES(X)                                                    \
	X(NODES, nodes, node, 8192)                                            \
	X(LINKS, links, link, 8192)                                            \
	X(FLOWS, flows, flow, RES_EPOCH_CHUNK)                                 \
	X(OFFSETS, offsets, offset, RES_EPOCH_CHUNK)                           \
	X(HOPS, hops, hop, RES_EPOCH_CHUNK)                                    \
	X(FLOW_TRUTH, flow_truth, flow_truth, RES_EPOCH_CHUNK)                 \
	X(HOP_TRUTH, hop_truth, hop_truth, RES_EPOCH_CHUNK)                    \
	X(FAULTS, faults, fault, 1024)                                         \
	X(HOLES, holes, hole, 1024)                                            \
	X(OUTAGES, outages, outage, 1024)                                      \
	X(FAILED_SWITCHES, failed_switches, switch, 1024)                      \
	X(FAILED_LINKS, failed_links, part, 1024)                              \
	X(SETS, sets, set, 8192)                                               \
	X(PATHS, paths, path, RES_EPOCH_CHUNK)                                 \
	X(PATH_LINKS, path_links, path_link, RES_EPOCH_CHUNK)                  \
	X(TALLIES, tallies, tally, RES_EPOCH_CHUNK)

enum res_epoch_which {
#define X(NAME, group, table, rows) RES_EPOCH_##NAME,
	RES_EPOCH_TABLES(X)
#undef X
	    RES_EPOCH_N_TABLES,
	RES_EPOCH_FIRST_TRUTH = RES_EPOCH_FLOW_TRUTH,
	RES_EPOCH_FIRST_TALLY = RES_EPOCH_SETS
};

struct res_epoch_table {
	const char *name;
	const struct sim_table *(*kind)(void);
	size_t chunk_rows;
};
extern const struct res_epoch_table res_epoch_tables[RES_EPOCH_N_TABLES];

/* Columns of the table WHICH as they are in a file, with words and what is
 * optional: those of KIND, which has all or some of them. Shape COL[kind's]. */
void res_epoch_columns(enum res_epoch_which which, const struct sim_table *kind,
    struct sim_column col[]);

/* --- reading ---------------------------------------------------------------*/

/* Further columns of flows, opened as a table of their own. */
enum { RES_EPOCH_MARKS = RES_EPOCH_N_TABLES, RES_EPOCH_N_OPEN };

struct res_epoch_reader {
	char *path, *spec, *plane, *culprit;
	struct res_h5_in *file;
	struct {
		struct sim_column col[RES_MAX_COLUMNS]; /* the file keeps it */
		struct res_h5_table_in *rows;
		uint64_t n;
	} table[RES_EPOCH_N_OPEN];
};

/* Read a whole table. */
int res_epoch_rows(struct res_epoch_reader *r, unsigned which,
    const struct sim_table *kind, void *table, struct sim_err *e);

/* The tallies and their paths, if the file has some, behind the window. */
struct res_epoch;
int res_epoch_get_tallies(struct res_epoch *x, struct sim_err *e);

/* Replace the rows of TABLE by N from FIRST on of an open one. Domain within
 * it. Errors of res_h5_in_append(). */
int res_epoch_block(struct res_epoch_reader *r, unsigned which, uint64_t first,
    uint64_t n, const struct sim_table *kind, void *table, struct sim_err *e);

#endif
