/* experiments/plug/answer.c -- frames that an algorithm in a child answers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/plug/about.h"
#include "sim/bytes.h"

struct answer_head {
	uint32_t type, n, n_flagged;
	uint64_t n_blame;
};

static struct answer_head answer_head(const unsigned char *b)
{
	return (struct answer_head){sim_load_32(b), sim_load_32(b + 4),
	    sim_load_32(b + 8), sim_load_64(b + 16)};
}

static uint32_t answer_n_ids(const struct plug_limits *l)
{
	return l->says & PLUG_SAYS_SWITCHES ? l->n_ids : l->n_links;
}

static int answer_check_head(const struct answer_head *h,
    const struct plug_limits *l, struct sim_err *e)
{
	const uint64_t n_blame = l->says & PLUG_SAYS_BLAMES ? l->n_flows : 0;
	if (h->n > answer_n_ids(l))
		return sim_fail(e, SIM_EDEP,
		    "an answer of %" PRIu32 " components, where there are "
		    "%" PRIu32 ".",
		    h->n, answer_n_ids(l));
	if (h->n_flagged > (l->says & PLUG_SAYS_FLAGS ? h->n : 0))
		return sim_fail(e, SIM_EDEP,
		    "an answer accuses %" PRIu32 " of %" PRIu32
		    " components%s.",
		    h->n_flagged, h->n,
		    l->says & PLUG_SAYS_FLAGS ? ""
					      : ", and does not say flags");
	if (h->n_blame != n_blame)
		return sim_fail(e, SIM_EDEP,
		    "an answer blames for %" PRIu64 " flows, where %" PRIu64
		    " are due.",
		    h->n_blame, n_blame);
	return 0;
}

int plug_frame_size(const unsigned char *b, size_t n,
    const struct plug_limits *l, size_t *size, struct sim_err *e)
{
	*size = 0;
	if (n < PLUG_HEAD_BYTES)
		return 0;
	const struct answer_head h = answer_head(b);
	if (h.type == PLUG_FAILED && h.n <= PLUG_MAX_TEXT) {
		*size = PLUG_HEAD_BYTES + h.n;
		return 0;
	}
	if (h.type != (uint32_t)l->expects)
		return sim_fail(e, SIM_EDEP,
		    "garbage: a frame of type %" PRIu32 " and size %" PRIu32
		    ", where one of type %d is due.",
		    h.type, h.n, (int)l->expects);
	*size = PLUG_HEAD_BYTES;
	if (h.type == PLUG_OPENED)
		return 0;
	const int rc = answer_check_head(&h, l, e);
	/* After the check, so that no sum wraps around. */
	if (rc == 0)
		*size += (size_t)h.n * 12 + (size_t)h.n_blame * 4;
	return rc;
}

/* What it said, as one line that a terminal can't mistake for an order. */
static int answer_failed(const unsigned char *b, size_t n, struct sim_err *e)
{
	char text[400];
	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	for (size_t i = 0; i < n; i++)
		text[i] = (char)(b[i] < ' ' || b[i] == 127 ? ' ' : b[i]);
	text[n] = '\0';
	return sim_fail(e, SIM_EDEP, "it failed: %s%s", text,
	    n > 0 && text[n - 1] == '.' ? "" : ".");
}

static int answer_take_parts(const unsigned char *b,
    const struct answer_head *h, uint32_t n_ids, uint32_t seen[],
    uint32_t stamp, struct algo_verdicts *out, struct sim_err *e)
{
	const unsigned char *ids = b + (size_t)h->n * 8;
	for (uint32_t i = 0; i < h->n; i++) {
		const uint32_t id = sim_load_32(ids + (size_t)i * 4);
		const uint64_t bits = sim_load_64(b + (size_t)i * 8);
		double score;
		memcpy(&score, &bits, sizeof(score));
		if (id >= n_ids)
			return sim_fail(e, SIM_EDEP,
			    "answer %" PRIu32 " is component %" PRIu32
			    " of %" PRIu32 ".",
			    i, id, n_ids);
		if (seen[id] == stamp)
			return sim_fail(e, SIM_EDEP,
			    "component %" PRIu32 " is answered twice.", id);
		if (!isfinite(score))
			return sim_fail(e, SIM_EDEP,
			    "answer %" PRIu32 " has a score of %g.", i, score);
		seen[id] = stamp;
		int rc = algo_verdicts_add(out, id, score, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int answer_take_blame(const unsigned char *b, size_t n, uint32_t n_ids,
    struct algo_verdicts *out, struct sim_err *e)
{
	int rc = algo_verdicts_reserve_flows(out, n, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const uint32_t id = sim_load_32(b + i * 4);
		if (id >= n_ids && id != TOPO_NONE)
			rc = sim_fail(e, SIM_EDEP,
			    "flow %zu is blamed on component %" PRIu32
			    " of %" PRIu32 ".",
			    i, id, n_ids);
		out->blame[i] = id;
	}
	return rc;
}

int plug_frame_take(const unsigned char *b, const struct plug_limits *l,
    uint32_t seen[], uint32_t *stamp, struct algo_verdicts *out,
    struct sim_err *e)
{
	const struct answer_head h = answer_head(b);
	const uint32_t n_ids = answer_n_ids(l);
	b += PLUG_HEAD_BYTES;
	algo_verdicts_clear(out);
	if (h.type == PLUG_FAILED)
		return answer_failed(b, h.n, e);
	if (h.type == PLUG_OPENED)
		return 0;
	/* After 2^32 windows stamps begin anew. */
	if (++*stamp == 0) {
		memset(seen, 0, sizeof(seen[0]) * l->n_ids);
		*stamp = 1;
	}
	out->kind =
	    l->says & PLUG_SAYS_SWITCHES ? ALGO_KIND_BOTH : ALGO_KIND_LINK;
	out->n_links = l->n_links;
	out->flags = (l->says & PLUG_SAYS_FLAGS) != 0;
	int rc = answer_take_parts(b, &h, n_ids, seen, *stamp, out, e);
	if (rc == 0 && h.n_blame > 0)
		rc = answer_take_blame(b + (size_t)h.n * 12, h.n_blame, n_ids,
		    out, e);
	out->n_flagged = h.n_flagged;
	return rc;
}
