/* algos/everflow/mirror_rule.h -- what switches are told to mirror: the table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * About 20 rows, the same on every switch; the first that hits decides:
 *
 *	black list     copies that are on their way: never mirrored
 *	control        TCP with SYN, FIN or RST: every connection
 *	debug          the debug bit: chosen traffic, and guided probes
 *	sample         1 in N packets
 *	pfc            MAC control frames
 *	bgp            TCP port 179, source or destination
 *	nak            RDMA NACKs
 *	retx           the mark of what is sent again (ours)
 *
 * and then control, debug, sample, nak and retx once more for the innermost
 * header of packets that have several, so that what a load balancer wrapped is
 * seen like the original.
 *
 * Sampled is by IP ID, whose low bits must be a pattern: all switches then take
 * the same packets, so traces are whole. The pattern is not 0, since SYN-ACKs of
 * Linux carry ID 0. The alternative is chance, drawn by each switch for itself,
 * as of the `sample_rate` of SONiC's mirror sessions.
 *
 * Paper  Everflow (SIGCOMM'15): match and mirror.
 * DEPARTS: `sample` and `retx` pass by the outer header of a packet that has an
 * inner one. Whoever wraps packets sets its IP ID and TTL, so by these one
 * would sample packets half-way, which look lost.
 */
#ifndef ALGOS_EVERFLOW_MIRROR_RULE_H
#define ALGOS_EVERFLOW_MIRROR_RULE_H

#include <stdio.h>

#include "models/obs_match.h"
#include "sim/field.h"

enum algo_mirror_sample { ALGO_SAMPLE_ID, ALGO_SAMPLE_RANDOM };

/* As in a spec. */
struct algo_mirror_params {
	uint32_t rules;    /* bits 1 << enum obs_copy_kind */
	uint32_t sample;   /* enum algo_mirror_sample */
	uint32_t sample_n; /* 1 in so many; by ID a power of two */
	uint32_t pattern;  /* by ID: its low bits are those of a sampled ID */
	uint32_t inner;    /* 1: rows for inner headers, too */
};
extern const struct sim_field algo_mirror_fields[];

enum { ALGO_MIRROR_MAX_ROWS = 24 };

struct algo_mirror_table {
	size_t n;
	struct obs_match_row row[ALGO_MIRROR_MAX_ROWS];
};

/* The table for P. Errors SIM_EINVAL: sampled by ID with an N that is no power
 * of two up to 65,536, or with a pattern whose low bits are 0. */
int algo_mirror_table(struct algo_mirror_table *t,
    const struct algo_mirror_params *p, struct sim_err *e);

/* What it does: "never", or the word of its kind. */
const char *algo_mirror_action(const struct obs_match_row *row);

/* A line a row as a TCAM has it: number, header, fields as value/mask, action. */
void algo_mirror_print(const struct algo_mirror_table *t, FILE *out);

#endif
