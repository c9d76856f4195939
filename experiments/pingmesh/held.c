/* experiments/pingmesh/held.c -- rows of probes, packed, until a window is over.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/held.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sim/vec.h"

enum {
	SENT_BITS = 48,
	RTT_BITS = 40,
	HOST_BITS = 24,
	PORT_BITS = 16,
	KIND_BITS = 8,
	WIDE = XP_HELD_KINDS, /* in place of a kind */
	HUGE_PAGE = 2 << 20,  /* bytes, of x86-64 and of most others */
};
#define LOW(x, bits) ((x) & ((UINT64_C(1) << (bits)) - 1))

/* Words of two members each, the first in the low bits. They are not bit-fields,
 * of which each would be written by reading what was just written beside it. Of
 * a row that does not fit, the time it was sent is its index in `wide`, and but
 * for that and the kind nothing counts. Words are aligned to 4 bytes, or the
 * last would be padded to 8. */
struct __attribute__((packed, aligned(4))) packed {
	uint64_t sent_port; /* SENT_BITS and PORT_BITS */
	uint64_t rtt_src;   /* RTT_BITS and HOST_BITS */
	uint32_t dst_kind;  /* HOST_BITS and KIND_BITS */
};
static_assert(sizeof(struct packed) == XP_HELD_ROW, "as the header says");

static inline uint64_t packed_sent(const struct packed *p)
{
	return LOW(p->sent_port, SENT_BITS);
}

static inline sim_ns packed_rtt(const struct packed *p)
{
	return LOW(p->rtt_src, RTT_BITS);
}

static inline uint32_t packed_kind(const struct packed *p)
{
	return p->dst_kind >> HOST_BITS;
}

struct xp_held_block {
	struct xp_held_block *next;
	struct packed row[XP_HELD_BLOCK];
};

/* What blocks are allocated in. */
struct xp_held_slab {
	struct xp_held_slab *next;
	size_t n, used;
	struct xp_held_block block[];
};
enum {
	A_HUGE_PAGE = HUGE_PAGE / sizeof(struct xp_held_block), /* blocks */
	A_SLAB = 8 * A_HUGE_PAGE
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

/* Ask for huge pages where S has whole ones. Without them it is memory like any
 * other. */
static void held_use_huge_pages(struct xp_held_slab *s, size_t bytes)
{
	const size_t past = (uintptr_t)s % HUGE_PAGE;
	const size_t skip = past == 0 ? 0 : HUGE_PAGE - past;
	(void)madvise((char *)s + skip, bytes - skip, MADV_HUGEPAGE);
}

/* One block, as long as they make no huge page in sum: most runs hold less. From
 * then on many at once, in huge pages: to get 20 bytes a probe from the kernel
 * in small pages takes longer than to write them. */
static int held_add_slab(struct xp_held_pool *pool, struct sim_err *e)
{
	const size_t n = pool->n_blocks < A_HUGE_PAGE ? 1 : A_SLAB;
	const size_t bytes =
	    sizeof(struct xp_held_slab) + n * sizeof(struct xp_held_block);
	struct xp_held_slab *s = malloc(bytes);
	if (!s)
		return sim_fail(e, SIM_ENOMEM,
		    "no memory for more than %zu blocks of %d probes.",
		    pool->n_blocks, XP_HELD_BLOCK);
	if (n > 1)
		held_use_huge_pages(s, bytes);
	s->next = pool->slab;
	s->n = n;
	s->used = 0;
	pool->slab = s;
	pool->n_blocks += n;
	return 0;
}

/* A block given back is taken first. */
static int held_take_block(struct xp_held_pool *pool,
    struct xp_held_block **out, struct sim_err *e)
{
	int rc;
	if (pool->spare) {
		*out = pool->spare;
		pool->spare = pool->spare->next;
		return 0;
	}
	if ((!pool->slab || pool->slab->used == pool->slab->n) &&
	    (rc = held_add_slab(pool, e)) < 0)
		return rc;
	*out = &pool->slab->block[pool->slab->used++];
	return 0;
}

/* Make sure that the last block has a free place. */
static int held_room(struct xp_held *h, struct xp_held_pool *pool,
    struct sim_err *e)
{
	struct xp_held_block *b;
	int rc;
	if (h->n % XP_HELD_BLOCK > 0)
		return 0;
	if ((rc = held_take_block(pool, &b, e)) < 0)
		return rc;
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
	    (struct packed){.sent_port =
				sent | (uint64_t)r->src_port << SENT_BITS,
		.rtt_src = r->rtt_ns | (uint64_t)r->src_host << RTT_BITS,
		.dst_kind = LOW(r->dst_host, HOST_BITS) | kind << HOST_BITS};
	return 0;
}

static struct obs_probe held_unpack(const struct xp_held *h,
    const struct xp_held_pool *pool, sim_ns from, const struct packed *p)
{
	if (packed_kind(p) == WIDE)
		return obs_probes_at(&h->wide, packed_sent(p));
	struct obs_probe r = {.sent_ns = from + packed_sent(p),
	    .rtt_ns = packed_rtt(p),
	    .src_host = (uint32_t)(p->rtt_src >> RTT_BITS),
	    .dst_host = LOW(p->dst_kind, HOST_BITS),
	    .src_port = (uint16_t)(p->sent_port >> SENT_BITS)};
	held_put_kind(pool->kind[packed_kind(p)], &r);
	return r;
}

/* Of N rows the first that is asked for: whose time is from FROM on and less than
 * WIDTH later, or that does not fit, so that its time is not told without looking.
 * Most rows are passed over here, again and again. */
static size_t held_skip(const struct packed *p, size_t n, sim_ns from,
    sim_ns width)
{
	size_t i = 0;
	while (i < n && packed_rtt(&p[i]) - from >= width &&
	    packed_kind(&p[i]) != WIDE)
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
	for (struct xp_held_slab *s = pool->slab, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	free(pool->kind);
	*pool = (struct xp_held_pool){0};
}
