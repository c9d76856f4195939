/* models/obs_match.h -- which row of a switch's table takes a packet.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows are tried in order and the first hit decides, as in a TCAM. The table is
 * made by algos/everflow/mirror_rule.h.
 *
 * Paper  Everflow (SIGCOMM'15): match and mirror.
 */
#ifndef MODELS_OBS_MATCH_H
#define MODELS_OBS_MATCH_H

#include <stddef.h>

#include "models/obs_match_row.h"
#include "models/obs_mirror.h"

/* A key of P: of its innermost header, or of its outermost. */
struct obs_match_key obs_match_key(const struct obs_packet *p, int inner);

static inline int obs_match_hits(const struct obs_match_row *row,
    const struct obs_match_key *key)
{
	uint64_t k[OBS_MATCH_WORDS], v[OBS_MATCH_WORDS], m[OBS_MATCH_WORDS];
	memcpy(k, key, sizeof(k));
	memcpy(v, &row->value, sizeof(v));
	memcpy(m, &row->mask, sizeof(m));
	return (((k[0] ^ v[0]) & m[0]) | ((k[1] ^ v[1]) & m[1]) |
		   ((k[2] ^ v[2]) & m[2])) == 0;
}

/* The first of ROW[N] that takes P, or -1. CHANCE is any 32 bits, drawn anew
 * for each packet and switch, for rows that take a share; such a row that does
 * not take P is passed by. Cost O(n). */
int obs_match(const struct obs_match_row row[], size_t n,
    const struct obs_packet *p, uint32_t chance);

#endif
