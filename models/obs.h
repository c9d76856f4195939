/* models/obs.h -- what can be observed: record tables, one column an array.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each table is made from one list of columns by sim/table.h, which also gives
 * names, units and meanings to files. Columns are borrowed by readers for the
 * length of a call.
 *
 * A new table costs its own header, beside this one and like obs_perf.h: the
 * list, the two structs, SIM_TABLE() and a check of what comes from outside;
 * and a line in RES_RECORDED_TABLES of results/recording.h, if recordings are
 * to have it.
 */
#ifndef MODELS_OBS_H
#define MODELS_OBS_H

#include <stddef.h>
#include <stdint.h>

#include "models/obs_probes.h"
#include "sim/table.h"
#include "sim/time.h"
#include "topo/ids.h"

/*  X(type, column, units, meaning) */
#define OBS_FLOW_COLUMNS(X)                                                    \
	X(uint64_t, start_ns, "ns", "first packet, since the epoch began")     \
	X(uint32_t, src_host, "1", "host id of the sender")                    \
	X(uint32_t, dst_host, "1", "host id of the receiver")                  \
	X(uint16_t, src_port, "1", "TCP source port")                          \
	X(uint16_t, dst_port, "1", "TCP destination port")                     \
	X(uint32_t, n_pkts, "packets", "packets the sender offered")           \
	X(uint32_t, srtt_us, "us", "smoothed round-trip time; 0 = not known")  \
	X(uint32_t, n_retx, "packets", "packets it had to send again")         \
	X(int64_t, count_off, "packets",                                       \
	    "what its counter shows beyond n_retx; 0 if they can't differ")

struct obs_flows {
	SIM_TABLE_ARRAYS(OBS_FLOW_COLUMNS)
};
struct obs_flow {
	SIM_TABLE_FIELDS(OBS_FLOW_COLUMNS)
};
SIM_TABLE(obs_flows, obs_flow, OBS_FLOW_COLUMNS)

/* Hops of flow i: link[off[i]] .. link[off[i + 1] - 1], in the order of the
 * path; TOPO_NONE where path discovery learned nothing. */
struct obs_hops {
	size_t n, cap; /* hops in all */
	size_t cap_off;
	uint64_t *off;   /* [flows.n + 1] */
	topo_link *link; /* [n] */
};

struct obs_pairs;   /* models/obs_pairs.h */
struct obs_traces;  /* models/obs_traces.h */
struct obs_mirror;  /* models/obs_mirror.h */
struct obs_guided;  /* models/obs_guided.h */
struct obs_runs;    /* models/obs_samples.h */
struct obs_samples; /* likewise */
struct obs_tallies; /* models/obs_tallies.h */

/* What a window may hold: algorithms say what of it they need, planes of an
 * experiment what they provide. X(bit, what a sentence calls it) */
#define OBS_PARTS(X)                                                           \
	X(FLOWS, "flows that sent again")                                      \
	X(HOPS, "paths of flows")                                              \
	X(ALL_FLOWS, "flows that lost nothing too")                            \
	X(PROBES, "Pingmesh's probes")                                         \
	X(TRACES, "traces with counts a hop")                                  \
	X(MIRROR, "copies that switches mirrored")                             \
	X(SAMPLES, "counts of hosts in short buckets")                         \
	X(TALLIES, "packets sent and lost by flow and paths")                  \
	X(TALLIES_RATED, "known paths, those without a loss too")              \
	X(TALLIES_TRACED, "known paths of flows that lost something")          \
	X(TALLIES_PROBED, "probes along known paths (a1)")                     \
	X(TALLIES_WHOLE, "rows of all that lost nothing, too")                 \
	X(PAIRS, "Pingmesh's probes, summed up by pair")

enum {
#define X(part, text) OBS_AT_##part,
	OBS_PARTS(X)
#undef X
	    OBS_N_PARTS
};
enum obs_part {
#define X(part, text) OBS_##part = 1 << OBS_AT_##part,
	OBS_PARTS(X)
#undef X
};

/* What the first part of a set is called. Domain PARTS has one. */
const char *obs_part_text(unsigned parts);

/* One window, usually an epoch of 30 s. Zeroed is empty. */
struct obs {
	struct obs_flows flows;
	struct obs_hops hops;
	uint64_t n_flows;   /* flows that ran in the window */
	uint64_t n_packets; /* packets they offered; 0 = not counted */
	struct obs_probe_source probes;    /* what it reads is borrowed */
	const struct obs_pairs *pairs;     /* borrowed; NULL: none */
	const struct obs_traces *traces;   /* likewise */
	const struct obs_mirror *mirror;   /* likewise */
	const struct obs_guided *guided;   /* with mirror: guided probes sent */
	const struct obs_runs *runs;       /* with samples: whose they are */
	const struct obs_samples *samples; /* likewise borrowed */
	const struct obs_tallies *tallies; /* likewise borrowed */
	/* With samples: when each flow sent something again first, by the clock
	 * of its sender, which notes it as it happens; NULL: not known. Of
	 * flows with n_retx = 0 it tells nothing. Likewise borrowed. */
	const uint64_t *retx_ns;
	uint32_t
	    ecmp_seed; /* with mirror: how switches hash, if that is known */
	uint8_t knows_hash;
	uint8_t complete; /* 1: the tables hold every flow, not only those
			       with a retransmission */
};

/* Empty the window, keep its memory. */
void obs_clear(struct obs *o);
void obs_free(struct obs *o);

/* Append a flow with N_HOPS hops. Errors SIM_ENOMEM (window unchanged). */
int obs_add_flow(struct obs *o, const struct obs_flow *flow,
    const topo_link hop[], unsigned n_hops, struct sim_err *e);

static inline unsigned obs_n_hops(const struct obs *o, size_t flow)
{
	return (unsigned)(o->hops.off[flow + 1] - o->hops.off[flow]);
}

static inline const topo_link *obs_path(const struct obs *o, size_t flow)
{
	return o->hops.link + o->hops.off[flow];
}

/* Retransmissions by the sender's counter. Whether a flow failed is told by
 * n_retx; only models/bulk/vigil_matlab.h has counters of another opinion. */
static inline uint64_t obs_n_counted(const struct obs *o, size_t flow)
{
	return (uint64_t)(o->flows.n_retx[flow] + o->flows.count_off[flow]);
}

/* Check a window that came from outside: offsets ascend, paths are no longer
 * than TOPO_MAX_HOPS, every known link is below N_LINKS, n_retx <= n_pkts, no
 * counter is below 0.
 * Errors SIM_EINVAL naming the flow and the value. Cost O(hops). */
int obs_check(const struct obs *o, uint32_t n_links, struct sim_err *e);

/* The same of one flow's path alone. */
int obs_check_path(const struct obs *o, size_t flow, uint32_t n_links,
    struct sim_err *e);

#endif
