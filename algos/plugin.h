/* algos/plugin.h -- an algorithm of your own, loaded from a .so.
 * SPDX-License-Identifier: GPL-3.0-or-later OR MIT
 *
 * Installed as culprit/plugin.h, for C99 and C++. A plug-in is a shared library
 * with one function, culprit_plugin_1(), and is linked with nothing of culprit:
 *
 *	cc -O2 -shared -fPIC -o mine.so mine.c
 *	culprit algos ./mine.so
 *	algorithms: [vote, { plugin: ./mine.so, accuse: 2 }]
 *
 * Rules of this interface, version 1. A struct begins with its size as whoever
 * filled it knew it, and is only ever appended to: read a member that is younger
 * than version 1.0 only where CULPRIT_HAS() it. Unknown bits of `needs` and
 * `says` are refused, by number. Nobody frees what the other one made. Pointers
 * in are good until the call returns, but for those of culprit_topo, which last
 * until close(). Ids of links, hosts, switches and rows count from 0, and nodes
 * are hosts first, then switches.
 *
 * The same window must have the same answer, whatever came before: cells of a
 * sweep go to any worker. Ties are to be broken by `seed`, if by chance. Scores
 * that should be equal must be so to the last bit: sums of 1/h in another order
 * differ, so add up whole numbers, or round.
 */
#ifndef CULPRIT_PLUGIN_H
#define CULPRIT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CULPRIT_ABI 1

/* No link, path or row: an unknown hop, or a flow that is blamed on nothing. */
#define CULPRIT_NONE UINT32_MAX

/* Whether the struct that S points to has MEMBER. */
#define CULPRIT_HAS(s, member)                                                 \
	((size_t)((const char *)(&(s)->member + 1) - (const char *)(s)) <=     \
	    (s)->size)

/* `needs`: what windows must hold. Experiments that have none of it refuse. */
#define CULPRIT_NEEDS_FLOWS   UINT64_C(0x1)  /* flows that sent again */
#define CULPRIT_NEEDS_HOPS    UINT64_C(0x2)  /* their paths */
#define CULPRIT_NEEDS_ALL     UINT64_C(0x4)  /* flows that lost nothing too */
#define CULPRIT_NEEDS_TALLIES UINT64_C(0x8)  /* packets sent and lost, by row */
#define CULPRIT_NEEDS_RATED   UINT64_C(0x10) /* rows of known paths, those */
					     /* without a loss too */
#define CULPRIT_NEEDS_TRACED UINT64_C(0x20)  /* known paths of what lost */
#define CULPRIT_NEEDS_WHOLE  UINT64_C(0x40)  /* rows of all that lost nothing */
#define CULPRIT_NEEDS_PROBED UINT64_C(0x80)  /* probes along known paths */

/* `says`: what answers hold beside a ranking. */
#define CULPRIT_SAYS_FLAGS    UINT64_C(0x1) /* some components are accused */
#define CULPRIT_SAYS_BLAMES   UINT64_C(0x2) /* a component for each flow */
#define CULPRIT_SAYS_SWITCHES UINT64_C(0x4) /* ids from n_links on: switches */

/* Types of parameters. */
#define CULPRIT_U32  UINT32_C(0)
#define CULPRIT_F64  UINT32_C(1)
#define CULPRIT_BOOL UINT32_C(2)

union culprit_value {
	uint32_t u32; /* also of CULPRIT_BOOL: 0 or 1 */
	double f64;
	uint64_t bits;
};

/* A key of a spec. Names are of a-z, 0-9 and _; a bool has no range. */
struct culprit_param {
	const char *name, *unit, *doc;
	uint32_t type, reserved;
	double min, max, def;
};

/* A network; alive from open() to close(). */
struct culprit_topo {
	uint32_t size, reserved;
	uint32_t n_hosts, n_switches, n_links;
	uint32_t n_values;
	const uint32_t *link_from, *link_to; /* [n_links] nodes */
	const uint8_t *link_class;           /* [n_links] */
	const uint32_t *host_tor;            /* [n_hosts] switches */
	const char *const *node_name;        /* [n_hosts + n_switches] */
	const union culprit_value *value;    /* [n_values] of parameters, in
						 the plug-in's order */
};

/* One window: columns, of which those it does not have are NULL or empty. */
struct culprit_window {
	uint32_t size;
	uint32_t complete; /* 1: flows that lost nothing are there too */
	uint64_t seed;     /* for ties */
	uint64_t n_flows, n_hops;
	uint64_t flows_ran,
	    packets; /* in the network; 0 packets: not counted */

	/* Flows, [n_flows]. */
	const uint64_t *start_ns;
	const uint32_t *src_host, *dst_host;
	const uint16_t *src_port, *dst_port;
	const uint32_t *n_pkts, *srtt_us, *n_retx;
	const int64_t *count_off;
	/* Flow i's path is link[off[i]] to link[off[i + 1] - 1]. */
	const uint64_t *off;  /* [n_flows + 1], never NULL */
	const uint32_t *link; /* [n_hops] */

	/* Rows: packets sent and lost. Row r took the sender's link up[r], a
	 * path of set[r], which is path[r] if that is known, and down[r]. */
	uint64_t n_rows;
	uint32_t telemetry; /* 1 INT, 2 A1, 4 A2, 8 P */
	uint32_t reserved;
	const uint32_t *up, *down, *set, *path, *n_sent, *n_lost;
	const uint32_t *flow; /* row of the flows, or CULPRIT_NONE */
	const uint8_t *is_probe;
	/* Equal paths between switches: set s has paths set_first[s] to
	 * set_first[s + 1] - 1, and path p the links path_link[path_off[p]]
	 * to path_link[path_off[p + 1] - 1]. Those of all windows of a network
	 * that were so far, so that a window need not name all. */
	uint64_t n_sets, n_paths, n_path_links;
	const uint32_t *set_first;         /* [n_sets + 1] */
	const uint32_t *set_from, *set_to; /* [n_sets] switches */
	const uint32_t *path_off;          /* [n_paths + 1] */
	const uint32_t *path_link;         /* [n_path_links] */
};

/* To be filled. Arrays are the host's, large enough for all there can be. */
struct culprit_answer {
	uint32_t size;
	uint32_t n;         /* components, each at most once */
	uint32_t n_flagged; /* the first so many are accused (SAYS_FLAGS) */
	uint32_t reserved;
	uint32_t *id;    /* [n] */
	double *score;   /* [n] finite; higher is more suspect */
	uint32_t *blame; /* [n_flows] with SAYS_BLAMES, CULPRIT_NONE before */
};

struct culprit_plugin {
	uint32_t size, param_stride; /* of this, and of an element of `param` */
	const char *name, *doc, *paper;
	uint64_t needs, says;
	uint64_t n_params;
	const struct culprit_param *param;

	/* 0, or anything else for a failure, told by a line in `error`. *WORK is
	 * the plug-in's, and comes back in the other two; close() also gets what
	 * open() left when it failed. One work is never used twice at once. */
	int (*open)(void **work, const struct culprit_topo *topo, char *error,
	    uint64_t error_bytes);
	int (*diagnose)(void *work, const struct culprit_window *w,
	    struct culprit_answer *out, char *error, uint64_t error_bytes);
	void (*close)(void *work);
};

/* What a plug-in defines. Returned is never freed. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct culprit_plugin *
culprit_plugin_1(void);

#ifdef __cplusplus
}
#endif
#endif
