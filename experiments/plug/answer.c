/* experiments/plug/answer.c -- what an algorithm from outside answers, checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/plug/about.h"
#include "sim/bytes.h"

struct answer_head {
	uint32_t type;
	struct plug_count count;
};

static struct answer_head answer_head(const unsigned char *b)
{
	return (struct answer_head){sim_load_32(b),
	    {sim_load_32(b + 4), sim_load_32(b + 8), sim_load_64(b + 16)}};
}

uint32_t plug_n_ids(const struct plug_limits *l)
{
	return l->says & PLUG_SAYS_SWITCHES ? l->n_ids : l->n_links;
}

/* --- what an answer may be -------------------------------------------------- */

int plug_count_check(const struct plug_count *c, const struct plug_limits *l,
    struct sim_err *e)
{
	const uint64_t n_blame = l->says & PLUG_SAYS_BLAMES ? l->n_flows : 0;
	if (c->n > plug_n_ids(l))
		return sim_fail(e, SIM_EDEP,
		    "an answer of %" PRIu32 " components, where there are "
		    "%" PRIu32 ".",
		    c->n, plug_n_ids(l));
	if (c->n_flagged > (l->says & PLUG_SAYS_FLAGS ? c->n : 0))
		return sim_fail(e, SIM_EDEP,
		    "an answer accuses %" PRIu32 " of %" PRIu32
		    " components%s.",
		    c->n_flagged, c->n,
		    l->says & PLUG_SAYS_FLAGS ? ""
					      : ", and does not say flags");
	if (c->n_blame != n_blame)
		return sim_fail(e, SIM_EDEP,
		    "an answer blames for %" PRIu64 " flows, where %" PRIu64
		    " are due.",
		    c->n_blame, n_blame);
	return 0;
}

int plug_answer_room(struct algo_verdicts *out, const struct plug_limits *l,
    struct sim_err *e)
{
	int rc = algo_verdicts_reserve(out, plug_n_ids(l), e);
	if (rc == 0 && l->says & PLUG_SAYS_BLAMES)
		rc = algo_verdicts_reserve_flows(out, l->n_flows, e);
	return rc;
}

static int answer_refuse_part(const struct algo_verdicts *v, uint32_t i,
    uint32_t n_ids, struct sim_err *e)
{
	if (v->link[i] >= n_ids)
		return sim_fail(e, SIM_EDEP,
		    "answer %" PRIu32 " is component %" PRIu32 " of %" PRIu32
		    ".",
		    i, v->link[i], n_ids);
	if (!isfinite(v->score[i]))
		return sim_fail(e, SIM_EDEP,
		    "answer %" PRIu32 " has a score of %g.", i, v->score[i]);
	return sim_fail(e, SIM_EDEP, "component %" PRIu32 " is answered twice.",
	    v->link[i]);
}

static int answer_check_parts(const struct algo_verdicts *v, uint32_t n,
    uint32_t n_ids, struct plug_seen *s, struct sim_err *e)
{
	/* After 2^32 windows stamps begin anew. */
	if (++s->stamp == 0) {
		memset(s->seen, 0, sizeof(s->seen[0]) * n_ids);
		s->stamp = 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t id = v->link[i];
		if (id >= n_ids || s->seen[id] == s->stamp ||
		    !isfinite(v->score[i]))
			return answer_refuse_part(v, i, n_ids, e);
		s->seen[id] = s->stamp;
	}
	return 0;
}

static int answer_check_blame(const struct algo_verdicts *v, uint64_t n,
    uint32_t n_ids, struct sim_err *e)
{
	for (size_t i = 0; i < n; i++)
		if (v->blame[i] >= n_ids && v->blame[i] != TOPO_NONE)
			return sim_fail(e, SIM_EDEP,
			    "flow %zu is blamed on component %" PRIu32
			    " of %" PRIu32 ".",
			    i, v->blame[i], n_ids);
	return 0;
}

int plug_answer_take(struct algo_verdicts *out, const struct plug_count *c,
    const struct plug_limits *l, struct plug_seen *s, struct sim_err *e)
{
	const uint32_t n_ids = plug_n_ids(l);
	int rc;
	if ((rc = plug_count_check(c, l, e)) < 0 ||
	    (rc = answer_check_parts(out, c->n, n_ids, s, e)) < 0 ||
	    (rc = answer_check_blame(out, c->n_blame, n_ids, e)) < 0)
		return rc;
	out->kind =
	    l->says & PLUG_SAYS_SWITCHES ? ALGO_KIND_BOTH : ALGO_KIND_LINK;
	out->n_links = l->n_links;
	out->flags = (l->says & PLUG_SAYS_FLAGS) != 0;
	out->n = c->n;
	out->n_flagged = c->n_flagged;
	return 0;
}

/* --- frames ------------------------------------------------------------------ */

int plug_frame_size(const unsigned char *b, size_t n,
    const struct plug_limits *l, size_t *size, struct sim_err *e)
{
	*size = 0;
	if (n < PLUG_HEAD_BYTES)
		return 0;
	const struct answer_head h = answer_head(b);
	if (h.type == PLUG_FAILED && h.count.n <= PLUG_MAX_TEXT) {
		*size = PLUG_HEAD_BYTES + h.count.n;
		return 0;
	}
	if (h.type != (uint32_t)l->expects)
		return sim_fail(e, SIM_EDEP,
		    "garbage: a frame of type %" PRIu32 " and size %" PRIu32
		    ", where one of type %d is due.",
		    h.type, h.count.n, (int)l->expects);
	*size = PLUG_HEAD_BYTES;
	if (h.type == PLUG_OPENED)
		return 0;
	const int rc = plug_count_check(&h.count, l, e);
	/* After the check, so that no sum wraps around. */
	if (rc == 0)
		*size += (size_t)h.count.n * 12 + (size_t)h.count.n_blame * 4;
	return rc;
}

int plug_answer_failed(const unsigned char *b, size_t n, struct sim_err *e)
{
	char text[400];
	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	for (size_t i = 0; i < n; i++)
		text[i] = (char)(b[i] < ' ' || b[i] == 127 ? ' ' : b[i]);
	text[n] = '\0';
	return sim_fail(e, SIM_EDEP, "it failed%s%s%s", n > 0 ? ": " : "", text,
	    n > 0 && text[n - 1] == '.' ? "" : ".");
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "parts of an answer are copied as they lie in it");

int plug_frame_take(const unsigned char *b, const struct plug_limits *l,
    struct plug_seen *s, struct algo_verdicts *out, struct sim_err *e)
{
	const struct answer_head h = answer_head(b);
	const size_t n = h.count.n, n_blame = h.count.n_blame;
	int rc;
	b += PLUG_HEAD_BYTES;
	algo_verdicts_clear(out);
	if (h.type == PLUG_FAILED)
		return plug_answer_failed(b, n, e);
	if (h.type == PLUG_OPENED)
		return 0;
	if ((rc = plug_answer_room(out, l, e)) < 0)
		return rc;
	if (n > 0) {
		memcpy(out->score, b, n * 8);
		memcpy(out->link, b + n * 8, n * 4);
	}
	if (n_blame > 0)
		memcpy(out->blame, b + n * 12, n_blame * 4);
	return plug_answer_take(out, &h.count, l, s, e);
}
