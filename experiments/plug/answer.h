/* experiments/plug/answer.h -- what an algorithm from outside answers, checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Those accused stand first. Answers come from outside: nothing is believed
 * before it was compared with what there can be. A child's are frames, all
 * little-endian, a head of 24 bytes, then what its type says:
 *
 *	u32 2, n, n_flagged, 0; u64 n_blame     an answer, then
 *	    f64 score[n]; u32 id[n], blame[n_blame]
 *	u32 3, n, 0, 0; u64 0                   it failed: n bytes of text
 *	u32 5, 0, 0, 0; u64 0                   the network was taken in
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
	PLUG_PATHS = 6,
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

/* Which components an answer has named: the stamp is that answer's. Zeroed but
 * for SEEN, which are L.n_ids zeros. */
struct plug_seen {
	uint32_t *seen, stamp;
};

/* How much an answer says that it holds. */
struct plug_count {
	uint32_t n, n_flagged;
	uint64_t n_blame;
};

/* How many components may be named. */
uint32_t plug_n_ids(const struct plug_limits *l);

/* Can there be so much? Errors SIM_EDEP. */
int plug_count_check(const struct plug_count *c, const struct plug_limits *l,
    struct sim_err *e);

/* Make room in OUT for all that an answer may hold, and blame nothing. Errors
 * SIM_ENOMEM. */
int plug_answer_room(struct algo_verdicts *out, const struct plug_limits *l,
    struct sim_err *e);

/* Ids, scores and blame lie in OUT, in the room made for them: take C of them if
 * they are good. Errors SIM_EDEP, with what is wrong. Cost O(C). */
int plug_answer_take(struct algo_verdicts *out, const struct plug_count *c,
    const struct plug_limits *l, struct plug_seen *s, struct sim_err *e);

/* "it failed: TEXT.", of N bytes, as one line that no terminal takes for an
 * order. Returns SIM_EDEP. */
int plug_answer_failed(const unsigned char *text, size_t n, struct sim_err *e);

/* *SIZE = the bytes of the frame that begins with these N; 0: more are needed to
 * tell. Errors SIM_EDEP: no such frame is due. */
int plug_frame_size(const unsigned char *b, size_t n,
    const struct plug_limits *l, size_t *size, struct sim_err *e);

/* Put a whole frame into OUT, which is cleared. Errors SIM_EDEP, with what is
 * wrong or what the algorithm said; SIM_ENOMEM. Cost O(frame). */
int plug_frame_take(const unsigned char *b, const struct plug_limits *l,
    struct plug_seen *s, struct algo_verdicts *out, struct sim_err *e);

#endif
