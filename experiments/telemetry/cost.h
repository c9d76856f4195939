/* experiments/telemetry/cost.h -- what a telemetry costs, of counted rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An epoch's rows (models/obs_tallies.h) are counted, and each is worth what it
 * takes to have it, whatever an algorithm makes of it:
 *
 *	INT  each packet of a flow carries a header, and four bytes more of each
 *	     switch that it went through; the host reports each flow and its path;
 *	     an entry in each switch tells it to add itself
 *	A1   probes, and a row for each path; an entry in each top switch sends them
 *	     back
 *	A2   a traceroute of each flow that lost something, with an ICMP answer of
 *	     each switch on its way (007, section 4.2), and a row with its path
 *	P    a row for each flow
 *
 * What two kinds both need is counted once: it is by rows. Packets are counted
 * as if none were lost. Reports of a host share frames, and go to one collector;
 * what carries them there is no switch that is counted.
 *
 * Paper  007 (NSDI'18); Flock (CoNEXT'23), whose kinds these are. DEPARTS: neither
 *        counts what they cost. Sizes of INT are those of its specification 2.1
 *        (P4.org), unconfirmed; those of rows are ours.
 */
#ifndef EXPERIMENTS_TELEMETRY_COST_H
#define EXPERIMENTS_TELEMETRY_COST_H

#include "experiments/spec/cost.h"
#include "models/telemetry/telemetry.h"

/* As in a spec: `wire`, and beside it `cost`. */
struct xp_telemetry_cost {
	double window;              /* s, that an epoch stands for */
	uint32_t int_head, int_hop; /* bytes of a packet */
	uint32_t int_packets;       /* of a flow; 0: all */
	uint32_t row, hop;          /* bytes of a report */
	uint32_t frame, head;       /* bytes of a frame */
	struct xp_cost_params each;
};
extern const struct sim_field xp_telemetry_wire_fields[];

/* Fill RES_COST_METRICS and RES_REPORT_METRICS of the epoch that T holds, of
 * network TOPO. REPORT[n_hosts] is overwritten. Cost O(rows + hosts). */
void xp_telemetry_cost_fill(const struct xp_telemetry_cost *p,
    const struct topo *topo, const struct telemetry *t, double report[],
    struct res_trial_metrics *m);

#endif
