/* results/epoch.h -- one epoch as a file: what was seen of it, and the truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For whoever wants to check an epoch with a program of his own, or to have our
 * algorithms on flows of his own: plain HDF5 as of results/h5_table.h, which
 * h5py, xarray and h5dump read, and h5py writes. Numbers have the types named
 * here, of little-endian; times are ns since the epoch began; 4294967295 as a
 * link or switch is none. A column in [brackets] may be left out of a file that
 * is read, and counts as zeros if nothing else is said.
 *
 *	/            attributes: epoch_version = 2; all others may be left out:
 *	             clos          uint64[5]: pods, ToRs a pod, T1s a pod, T2s,
 *	                           hosts a ToR, if the network is the Clos of
 *	                           topo/clos.h
 *	             n_flows       flows that ran (else: rows of /flows)
 *	             n_packets     that they offered; 0 = not counted
 *	             all_flows     1: /flows has all of them, and maybe ways back
 *	                           that sent a FIN again; 0: those that
 *	                           failed, and maybe others
 *	             all_seen      1: algorithms may be shown all rows
 *	             complete      1: they were
 *	             own_culprits  1: /flow_truth/culprit is by a rule of the
 *	                           plane's own, and not by the drops
 *	             has_buffer    1: buffers could be full, and
 *	                           /hop_truth/buffer says what they dropped
 *	             telemetry     what /tallies has, if it is there: the sum
 *	                           of 1 (int), 2 (a1), 4 (a2) and 8 (p)
 *	             seed, point, run, tie_point    name random streams
 *	             spec          YAML, as the cell ran; plane; culprit (version)
 *	/nodes       [node], hosts first: kind uint8 (0 host, 1 switch), [tier]
 *	             uint32 (0 ToR, 1 T1, 2 T2; of all switches or none: none),
 *	             [name] text
 *	/links       [link], directed: from, to uint32 (nodes); [class] uint8,
 *	             [name] text, which follow from these. Links 2c and 2c + 1 are
 *	             the two ways of cable c; that of host h is cable h. Even ones
 *	             lead up: from a host, from the lower tier, or in a tie from
 *	             the smaller node
 *	/flows       [flow], as seen: [start_ns] uint64, src_host, dst_host uint32,
 *	             [src_port, dst_port] uint16, n_pkts uint32, [srtt_us] uint32,
 *	             n_retx uint32, [count_off] int64 (models/obs.h), [failed]
 *	             uint8 (1: n_retx > 0), [in_window] uint8 (1: what algorithms
 *	             were shown; without the column all were)
 *	/offsets     [flows + 1]: first_hop int64: hops of flow i are
 *	             first_hop[i] to first_hop[i + 1] - 1, at most 16
 *	/hops        [hop]: link uint32, as seen; none = path discovery learned
 *	             nothing
 *
 * Flows as sums of packets, of planes and traces that have them
 * (models/obs_tallies.h), are in the following, all of them or none:
 *
 *	/sets        [set]: from_switch, to_switch, n_paths uint32: the equal
 *	             paths between two switches, of which there is one set
 *	/paths       [path]: n_links uint32; those of the first set, then those
 *	             of the second, and so on
 *	/path_links  [link]: link uint32, path by path
 *	/tallies     [row]: up, down uint32, links of the hosts, none if a switch
 *	             sent or received; set uint32; path uint32, row of /paths,
 *	             none = not known; n_sent, n_lost uint32; flow uint32, which
 *	             of the flows in the window, from 0, or none; is_probe uint8
 *
 * With `clos`, /nodes and /links may be left out. The truth is in the groups
 * that follow, all of them or none; without them nothing is scored. A trace that
 * does not say where packets were lost has 0 drops on each hop.
 *
 *	/flow_truth  [flow]: n_retx uint32, in the end; n_drops uint64; culprit
 *	             uint32, the link that dropped most, first of equals (007,
 *	             section 6); culprit_released, by the rule of 007's released
 *	             code (results/score.c); [culprit_switch,
 *	             culprit_released_switch], the failed switches that these
 *	             belong to, which follow
 *	/hop_truth   [hop]: link uint32, where the flow really went; drops uint32,
 *	             packets lost there; [buffer] uint32, of these those that the
 *	             full buffer of the link's port dropped, which is no fault
 *	             (models/scene/congestion.h)
 *	/faults      [fault]: link uint32, kind uint8 (0 drop, 1 delay, 2 of a
 *	             black hole), rate, delay_us, shape float64, law uint8, from_ns,
 *	             to_ns uint64 (models/truth.h)
 *	/holes       [hole]: switch_id uint32, type uint8, below, salt, from_ns, to_ns
 *	             uint64 (models/blackhole_rule.h)
 *	/outages     [outage]: kind, mode uint8, id uint32, from_ns, to_ns uint64,
 *	             delay_us float64
 *	/failed_switches  [switch]: switch_id uint32
 *	/failed_links     [link]: link, switch_id uint32: it fails as a part of that
 *
 * Version 1 had no has_buffer and no /hop_truth/buffer, and is read as it was.
 *
 * tests/cli/epoch_votes.py reads such a file with h5py, and recomputes 007's
 * votes; tests/cli/epoch_readers.py writes one in a dozen lines.
 */
#ifndef RESULTS_EPOCH_H
#define RESULTS_EPOCH_H

#include "models/losses.h"
#include "models/obs.h"
#include "models/obs_tallies.h"
#include "models/truth.h"
#include "results/score.h"
#include "sim/err.h"
#include "topo/topo.h"

enum {
	RES_EPOCH_OLDEST = 1, /* version that is read */
	RES_EPOCH_VERSION = 2,
	RES_EPOCH_CHUNK = 65536 /* flows, hops */
};

/* The attributes but for `clos`. Texts are borrowed by a writer until it has
 * ended, and belong to a reader. */
struct res_epoch_info {
	const char *spec, *plane;
	const char *culprit; /* a writer puts its own */
	uint64_t seed;
	uint32_t point, run, tie_point;
	uint64_t n_flows, n_packets;
	uint32_t telemetry; /* of enum obs_telemetry; 0: no tallies */
	uint8_t all_flows, all_seen, complete, own_culprits, has_buffer;
};

/* --- writing ---------------------------------------------------------------*/

struct res_epoch_out;

/* A flow: SEEN and SEEN_LINK[n_hops] as observed, the rest as it was. */
struct res_epoch_row {
	struct obs_flow seen;
	uint8_t in_window;
	unsigned n_hops;
	const topo_link *seen_link;

	uint32_t n_retx;
	const topo_link *link;  /* [n_hops] */
	const uint32_t *drops;  /* [n_hops] */
	const uint32_t *buffer; /* [n_hops] of these; NULL: none */
	struct res_culprits culprit;
};

/* Start a file that takes PATH's place when it is finished. TRUTH NULL: none is
 * written. Names and links go out block by block. Errors SIM_EIO, SIM_EDEP,
 * SIM_ENOMEM. */
int res_epoch_create(struct res_epoch_out **w, const char *path,
    const struct topo *t, const struct truth *truth, struct sim_err *e);

/* Append a flow. Memory of all: a chunk of each table. Errors SIM_EIO; then W
 * can only be discarded. */
int res_epoch_add(struct res_epoch_out *w, const struct res_epoch_row *row,
    struct sim_err *e);

/* Append all tallies and their paths, once. Errors SIM_EIO. */
int res_epoch_add_tallies(struct res_epoch_out *w, const struct obs_tallies *t,
    struct sim_err *e);

/* Write what is left and give the file its name. W is closed in any case.
 * Errors SIM_EIO, SIM_ENOMEM; PATH is then as it was. */
int res_epoch_finish(struct res_epoch_out *w, const struct res_epoch_info *info,
    struct sim_err *e);
void res_epoch_discard(struct res_epoch_out *w); /* NULL is fine */

/* --- reading ---------------------------------------------------------------*/

struct res_epoch_reader;

/* Zeroed is empty. */
struct res_epoch {
	struct res_epoch_info info;
	struct topo topo;
	struct truth truth;
	uint8_t has_truth;

	/* By res_epoch_window(). */
	struct obs window; /* with tallies, if the file has some */
	struct obs_paths paths;
	struct obs_tallies tallies;
	struct losses lost; /* without truth empty */
	uint64_t *row;      /* [window.flows.n] of /flows */
	topo_link *culprit; /* [window.flows.n], with truth */
	size_t cap_row, cap_culprit;

	struct res_epoch_reader *reader;
};

/* Read all but the flows of PATH. With ANY the file may have no seal, as one
 * that another program wrote.
 * Errors SIM_EIO (cannot be read), SIM_EPARSE (no epoch, or damaged: what is
 * wrong, by table and row), SIM_EMISMATCH (another version, or parts that
 * contradict each other), SIM_ENOMEM; X is empty then. Cost one pass over the
 * file for its seal, O(links). */
int res_epoch_open(struct res_epoch *x, const char *path, int any,
    struct sim_err *e);

/* Read all flows, check each, and keep those that algorithms were shown; with
 * ALL every one, which needs all_seen. Memory: what is kept and a block of
 * RES_EPOCH_CHUNK flows. Errors as above. */
int res_epoch_window(struct res_epoch *x, int all, struct sim_err *e);

void res_epoch_free(struct res_epoch *x);

#endif
