/* experiments/plug/answer.h -- frames that an algorithm in a child answers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All little-endian; a head of 24 bytes, then what its type says:
 *
 *	u32 2, n, n_flagged, 0; u64 n_blame     an answer, then
 *	    f64 score[n]; u32 id[n], blame[n_blame]
 *	u32 3, n, 0, 0; u64 0                   it failed: n bytes of text
 *	u32 5, 0, 0, 0; u64 0                   the network was taken in
 *
 * Those accused stand first. Bytes come from outside: none is believed before it
 * was compared with what there can be.
 */
#ifndef EXPERIMENTS_PLUG_ANSWER_H
#define EXPERIMENTS_PLUG_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "algos/verdict.h"
#include "sim/err.h"

enum plug_frame {
	PLUG_WINDOW = 1,
	PLUG_ANSWER = 2,
	PLUG_FAILED = 3,
	PLUG_OPEN = 4,
	PLUG_OPENED = 5,
	PLUG_HEAD_BYTES = 24,
	PLUG_MAX_TEXT = 4096,
};

/* What an answer may hold. */
struct plug_limits {
	enum plug_frame expects; /* PLUG_ANSWER or PLUG_OPENED */
	uint32_t n_links, n_ids; /* links; links and switches */
	size_t n_flows;
	unsigned says; /* of enum plug_says */
};

/* *SIZE = the bytes of the frame that begins with these N; 0: more are needed to
 * tell. Errors SIM_EDEP: no such frame is due. */
int plug_frame_size(const unsigned char *b, size_t n,
    const struct plug_limits *l, size_t *size, struct sim_err *e);

/* Put a whole frame into OUT, which is cleared. SEEN[l->n_ids] and *STAMP are
 * zeros at first and kept from call to call. Errors SIM_EDEP, with what is
 * wrong or what the algorithm said; SIM_ENOMEM. Cost O(frame). */
int plug_frame_take(const unsigned char *b, const struct plug_limits *l,
    uint32_t seen[], uint32_t *stamp, struct algo_verdicts *out,
    struct sim_err *e);

#endif
