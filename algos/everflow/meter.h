/* algos/everflow/meter.h -- an analyzer's counters, until they are put out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *  link       packets and bytes of all traces that came by it; bytes with outer
 *             headers. Flows are SYNs that are not marked as sent again, so both
 *             directions of a connection count, each on its links.
 *  latency    of a link S1, S2: a guided probe by S1, S2, S1 has two copies of
 *             S1, whose times at this analyzer differ by a round trip. Never
 *             are times of two switches compared.
 *  mux        its ToR sees a packet before and behind it: the difference
 *  mirrors    switches number their copies, whichever analyzer these go to. So
 *             analyzer 0 alone tells how many were sent, by the greatest number
 *             that it saw, and MIRROR_LOST is what it adds less what reached
 *             each analyzer: rows of one may be below 0, their sum counts. A
 *             switch whose copies have no numbers (all 0) has none of these.
 *
 * Paper  Everflow (SIGCOMM'15).
 */
#ifndef ALGOS_EVERFLOW_METER_H
#define ALGOS_EVERFLOW_METER_H

#include "algos/everflow/counter.h"
#include "algos/everflow/trace.h"
#include "sim/time.h"

struct algo_meter_link {
	uint64_t packets, bytes, flows;
};

/* Numbers of a switch's copies. `top` is the greatest so far, `begin` what it
 * was at the last row, before the first copy one less. */
struct algo_meter_mirror {
	uint32_t top, begin;
	uint64_t n_seen;
	uint8_t started;
};

/* Kinds of which few cells are in use. */
struct algo_meter_cell {
	uint64_t n;
	uint32_t id;
	uint8_t kind, sub;
};
enum { ALGO_METER_CELLS = 4096 };

/* Zeroed is closed. */
struct algo_meter {
	struct algo_meter_link *link;     /* [n_links] */
	struct algo_meter_mirror *mirror; /* [n_switches] */
	struct algo_meter_cell *cell;     /* [ALGO_METER_CELLS] by hash */
	uint32_t n_links, n_switches, n_hosts, n_cells, index;
	const struct topo *topo;
};

/* Errors SIM_ENOMEM; close also then. */
int algo_meter_open(struct algo_meter *a, const struct topo *t, uint32_t index,
    struct sim_err *e);
void algo_meter_close(struct algo_meter *a);

/* A copy came with this number. */
static inline void algo_meter_mirrored(struct algo_meter *a, uint32_t node,
    uint32_t number)
{
	if (node >= a->n_switches)
		return;
	struct algo_meter_mirror *m = &a->mirror[node];
	const uint32_t ahead = number - m->top;
	m->n_seen++;
	if (!m->started) {
		m->started = 1;
		m->top = number;
		m->begin = number - 1;
	} else if (ahead < UINT32_C(1) << 31) {
		m->top = number;
	} else if (ahead < UINT32_MAX - (UINT32_C(1) << 16)) {
		/* So far back is not late: the switch began anew. What it had
		 * sent before is kept in the difference. */
		m->begin = number - 1 - (m->top - m->begin);
		m->top = number;
	}
}

/* A trace that was checked. Where cells are full, rows of them are appended to
 * COUNTERS at once, with time NOW. Errors SIM_ENOMEM of that. */
int algo_meter_trace(struct algo_meter *a, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now, struct algo_counters *counters,
    struct sim_err *e);

/* The same for a trace whose n_hops copies have no outer headers: of each the link
 * that it came by. */
void algo_meter_bare(struct algo_meter *a, const struct algo_trace *t,
    const topo_link in_link[]);

/* Append all that is not 0 with time NOW, and begin anew. Errors SIM_ENOMEM. */
int algo_meter_put(struct algo_meter *a, sim_ns now,
    struct algo_counters *counters, struct sim_err *e);

#endif
