/* experiments/everflow/tell.h -- traces in words, for people and programs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EVERFLOW_TELL_H
#define EXPERIMENTS_EVERFLOW_TELL_H

#include <stdio.h>

#include "algos/everflow/trace.h"
#include "sim/text.h"
#include "topo/topo.h"

/* Names for people: "tor3", "tor3->t1.5", "host17" or "198.18.0.1"; by number,
 * as "switch 3", where T is NULL: no network is known. "-" of TOPO_NONE. Return
 * BUF. */
enum { XP_TELL_NAME = 160 };
const char *xp_tell_switch(const struct topo *t, uint32_t s,
    char buf[XP_TELL_NAME]);
const char *xp_tell_link(const struct topo *t, uint32_t l,
    char buf[XP_TELL_NAME]);
const char *xp_tell_address(const struct topo *t, uint32_t ip,
    char buf[XP_TELL_NAME]);

/* "loop,mux": the words of marks that are set, a drop's grade alone. */
void xp_tell_marks(struct sim_text *out, uint32_t marks);

/* "SYN|ACK", "-" of none. */
void xp_tell_flags(struct sim_text *out, uint8_t flags);

/* A trace as a line, by tabs, under the head; as a JSON object, behind a comma if
 * there were MORE. */
extern const char xp_tell_head[];
void xp_tell_row(FILE *out, const struct topo *net, uint64_t id,
    const struct algo_trace *t, const struct algo_hop hop[]);
void xp_tell_json(FILE *out, const struct topo *net, int more, uint64_t id,
    const struct algo_trace *t, const struct algo_hop hop[]);

#endif
