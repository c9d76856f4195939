/* experiments/spec/cost.h -- what a tool costs hosts and switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operations are counted, and each is worth so many bytes and so much time. What
 * is done by the hardware that forwards packets costs a switch bytes, but its CPU
 * nothing: mirroring (Everflow, section 2: the switch CPU has no part in it), what
 * decapsulates, and packets that are carried. All is by host or switch, the mean
 * of them, and second.
 *
 * Paper  Everflow (SIGCOMM'15), 007 (NSDI'18), Pingmesh (SIGCOMM'15). DEPARTS:
 *        none has such a table; times without a source below are ours.
 */
#ifndef EXPERIMENTS_SPEC_COST_H
#define EXPERIMENTS_SPEC_COST_H

#include "results/schema.h"
#include "sim/field.h"

/* As in a spec. */
struct xp_cost_params {
	uint32_t on;
	uint32_t trace_probes, probe_bytes, answer_bytes;
	uint32_t connect_packets, packet_bytes, report_bytes;
	double answers_s; /* a switch's limit */
	double send_us, connect_us, retx_us, copy_us, answer_us;
};
extern const struct sim_field xp_cost_fields[];

/* What was counted, of all hosts and switches together. */
struct xp_cost_counts {
	double seconds;
	uint32_t n_hosts, n_switches;
	double n_sent;       /* probes that hosts crafted and sent */
	double sent_bytes;   /* theirs */
	double n_connects;   /* of Pingmesh: connects, which two hosts share */
	double n_reported;   /* rows */
	double n_retx;       /* flows that sent again, as agents see them */
	double n_copies;     /* that servers put together */
	double switch_bytes; /* copies, probes that are carried, answers */
	double n_answers;    /* that switches' CPUs sent */
};

/* Into host_bytes_s, switch_bytes_s, host_cpu and switch_cpu; or, of 007, which
 * looks at the same connections as another tool, into retx_host_bytes_s and so
 * on. Domain seconds > 0, n_hosts and n_switches > 0. */
void xp_cost_fill(const struct xp_cost_params *p,
    const struct xp_cost_counts *c, struct res_trial_metrics *m);
void xp_cost_fill_retx(const struct xp_cost_params *p,
    const struct xp_cost_counts *c, struct res_trial_metrics *m);

/* Of a traceroute along N switches, with probes to one more of them each: adds
 * what is sent, carried and answered, ANSWERS of the switches on the way doing so.
 */
void xp_cost_traceroute(const struct xp_cost_params *p,
    struct xp_cost_counts *c, uint32_t n_switches, uint32_t n_answers);

#endif
