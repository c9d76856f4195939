/* experiments/pingmesh/held.c -- rows of probes, packed, until a window is over.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/held.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/vec.h"

enum {
	SENT_BITS = 48,
	RTT_BITS = 40,
	HOST_BITS = 24,
	PORT_BITS = 16,
	KIND_BITS = 8,
	WIDE = XP_HELD_KINDS, /* in place of a kind */
};
#define LOW(x, bits) ((x) & ((UINT64_C(1) << (bits)) - 1))

/* Of a row that does not fit SENT is its index in `wide`. Words are aligned to 4
 * bytes, or the last would be padded to 8. */
struct __attribute__((packed, aligned(4))) packed {
	uint64_t sent : SENT_BITS, src_port : PORT_BITS;
	uint64_t rtt : RTT_BITS, src_host : HOST_BITS;
	uint32_t dst_host : HOST_BITS, kind : KIND_BITS;
};
static_assert(sizeof(struct packed) == XP_HELD_ROW, "as the header says");

struct xp_held_block {
	struct xp_held_block *next;
	struct packed row[XP_HELD_BLOCK];
};

/* --- kinds ---------------------------------------------------------------- */

/* Levels, outcomes and payloads have few values, so all six members fit in one
 * word. */
static uint64_t held_kind(const struct obs_probe *r)
{
	return (uint64_t)(r->dst_host >> HOST_BITS) << 56 |
	    (uint64_t)r->payload_bytes << 32 | (uint64_t)r->dst_port << 16 |
	    (uint64_t)r->class << 8 | (uint64_t)(r->level & 15) << 4 |
	    (r->outcome & 15);
}

static void held_put_kind(uint64_t kind, struct obs_probe *r)
{
	r->dst_host |= (uint32_t)(kind >> 56) << HOST_BITS;
	r->payload_bytes = kind >> 32 & 0xffffff;
	r->dst_port = (uint16_t)(kind >> 16);
	r->class = (uint8_t)(kind >> 8);
	r->level = kind >> 4 & 15;
	r->outcome = kind & 15;
}

/* Search all kinds for one that was not met lately, and note a new one. A pool
 * that has as many as it may gives WIDE. */
static int held_find_kind(struct xp_held_pool *pool, uint64_t kind,
    uint32_t *out, struct sim_err *e)
{
	size_t i = 0;
	while (i < pool->n_kinds && pool->kind[i] != kind)
		i++;
	*out = WIDE;
	if (i == XP_HELD_KINDS)
		return 0;
	const int rc = SIM_RESERVE(&pool->kind, &pool->cap_kinds, i + 1, e);
	if (rc < 0)
		return rc;
	if (i == pool->n_kinds)
		pool->kind[pool->n_kinds++] = kind;
	*out = (uint32_t)i;
	return 0;
}

static int held_number_kind(struct xp_held_pool *pool, uint64_t kind,
    uint32_t *out, struct sim_err *e)
{
	static_assert(XP_HELD_LOOK_UPS == 1 << 6, "6 bits are an index");
	uint32_t *near =
	    &pool->look_up[kind * UINT64_C(0x9e3779b97f4a7c15) >> 58];
	if (*near > 0 && pool->kind[*near - 1] == kind) {
		*out = *near - 1;
		return 0;
	}
	const int rc = held_find_kind(pool, kind, out, e);
	if (rc == 0 && *out != WIDE)
		*near = *out + 1;
	return rc;
}

/* --- blocks --------------------------------------------------------------- */

/* Make sure that the last block has a free place. */
static int held_room(struct xp_held *h, struct xp_held_pool *pool,
    struct sim_err *e)
{
	if (h->n % XP_HELD_BLOCK > 0)
		return 0;
	struct xp_held_block *b = pool->spare;
	if (b) {
		pool->spare = b->next;
	} else {
		if (!(b = malloc(sizeof(*b))))
			return sim_fail(e, SIM_ENOMEM,
			    "no memory for more than %zu blocks of %d probes.",
			    pool->n_blocks, XP_HELD_BLOCK);
		pool->n_blocks++;
	}
	b->next = NULL;
	*(h->last ? &h->last->next : &h->first) = b;
	h->last = b;
	return 0;
}

/* *KIND is that of a row that fits, else WIDE. */
static int held_fits(struct xp_held_pool *pool, sim_ns since,
    const struct obs_probe *r, uint32_t *kind, struct sim_err *e)
{
	*kind = WIDE;
	return since >> SENT_BITS == 0 && r->rtt_ns >> RTT_BITS == 0 &&
		r->src_host >> HOST_BITS == 0 && r->payload_bytes >> 24 == 0 &&
		r->level < 16 && r->outcome < 16
	    ? held_number_kind(pool, held_kind(r), kind, e)
	    : 0;
}

int xp_held_add(struct xp_held *h, struct xp_held_pool *pool, sim_ns from,
    const struct obs_probe *r, struct sim_err *e)
{
	uint32_t kind;
	assert(r->sent_ns >= from);
	sim_ns sent = r->sent_ns - from;
	int rc = held_fits(pool, sent, r, &kind, e);
	if (rc == 0 && kind == WIDE) {
		sent = h->wide.n;
		rc = obs_probes_reserve(&h->wide, 1, e);
	}
	/* A block without rows must not stay, so the room comes last. */
	if (rc < 0 || (rc = held_room(h, pool, e)) < 0)
		return rc;
	if (kind == WIDE)
		(void)obs_probes_add(&h->wide, r,
		    e); /* into what is reserved */
	h->last->row[h->n++ % XP_HELD_BLOCK] =
	    (struct packed){.sent = LOW(sent, SENT_BITS),
		.src_port = r->src_port,
		.rtt = LOW(r->rtt_ns, RTT_BITS),
		.src_host = LOW(r->src_host, HOST_BITS),
		.dst_host = LOW(r->dst_host, HOST_BITS),
		.kind = LOW(kind, KIND_BITS)};
	return 0;
}

static struct obs_probe held_unpack(const struct xp_held *h,
    const struct xp_held_pool *pool, sim_ns from, const struct packed *p)
{
	if (p->kind == WIDE)
		return obs_probes_at(&h->wide, p->sent);
	struct obs_probe r = {.sent_ns = from + p->sent,
	    .rtt_ns = p->rtt,
	    .src_host = p->src_host,
	    .dst_host = p->dst_host,
	    .src_port = p->src_port};
	held_put_kind(pool->kind[p->kind], &r);
	return r;
}

/* Of N rows the first that is asked for: whose time is from FROM on and less than
 * WIDTH later, or that does not fit, so that its time is not told without looking.
 * Most rows are passed over here, again and again. */
static size_t held_skip(const struct packed *p, size_t n, sim_ns from,
    sim_ns width)
{
	size_t i = 0;
	while (i < n && p[i].rtt - from >= width && p[i].kind != WIDE)
		i++;
	return i;
}

/* Unpack of the N rows at P those that are asked for, until OUT, which has room, has
 * END. Returns how many rows were looked at. OUT is not written through its pointer,
 * as each store to a column of bytes might then change where the others are. */
static size_t held_take(const struct xp_held *h,
    const struct xp_held_pool *pool, sim_ns from, const struct packed *p,
    size_t n, const struct obs_probe_span *only, size_t end,
    struct obs_probes *out)
{
	const sim_ns least = only ? only->from : 0;
	const sim_ns width = only ? only->to - least : SIM_NEVER;
	struct obs_probes t = *out;
	size_t i = held_skip(p, n, least, width);
	while (i < n && t.n < end) {
		const struct obs_probe r = held_unpack(h, pool, from, &p[i++]);
		obs_probes_put(&t, &r);
		i += held_skip(p + i, n - i, least, width);
	}
	out->n = t.n;
	return i;
}

int xp_held_next(const struct xp_held *h, const struct xp_held_pool *pool,
    sim_ns from, struct xp_held_mark *at, size_t max,
    const struct obs_probe_span *only, struct obs_probes *out,
    struct sim_err *e)
{
	const size_t left = h->n - at->n, most = left < max ? left : max;
	const size_t end = out->n + most;
	const int rc = obs_probes_reserve(out, most, e);
	while (rc == 0 && out->n < end && at->n < h->n) {
		const size_t i = at->n % XP_HELD_BLOCK, rest = h->n - at->n;
		if (i == 0)
			at->block = at->n ? at->block->next : h->first;
		const size_t n =
		    rest < XP_HELD_BLOCK - i ? rest : XP_HELD_BLOCK - i;
		at->n += held_take(h, pool, from, &at->block->row[i], n, only,
		    end, out);
	}
	return rc;
}

void xp_held_clear(struct xp_held *h, struct xp_held_pool *pool)
{
	if (h->last) {
		h->last->next = pool->spare;
		pool->spare = h->first;
	}
	obs_probes_free(&h->wide);
	*h = (struct xp_held){0};
}

void xp_held_pool_free(struct xp_held_pool *pool)
{
	for (struct xp_held_block *b = pool->spare, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(pool->kind);
	*pool = (struct xp_held_pool){0};
}
