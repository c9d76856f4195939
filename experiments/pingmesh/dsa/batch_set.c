/* experiments/pingmesh/dsa/batch_set.c -- which batches of agents were taken.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/batch_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

enum { FIRST_SLOTS = 64 };

void xp_batch_set_free(struct xp_batch_set *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		free(s->slot[i].run);
	free(s->slot);
	*s = (struct xp_batch_set){.max_runs = s->max_runs};
}

/* SplitMix64's mixing of the parts of the key: agents that were started
 * together differ in few bits of their address and time of birth, and the low
 * bits of the result choose the slot. */
static size_t hash(uint64_t born_ns, const struct topo_ip *src, uint32_t kind)
{
	uint64_t x =
	    (born_ns + kind) ^ topo_ip_hash(src) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (size_t)(x ^ x >> 31);
}

/* The slot of this agent and kind, or the empty one where it belongs, by linear
 * probing. N_SLOTS is a power of two, and at most half of the slots are taken,
 * so an empty one is always found. Agents are never removed one by one, so
 * there are no gaps in the rows that are searched. */
static struct xp_batch_agent *batch_set_find(struct xp_batch_agent *slot,
    size_t n_slots, uint64_t born_ns, const struct topo_ip *src,
    enum algo_pingmesh_wire_kind kind)
{
	size_t i = hash(born_ns, src, kind) & (n_slots - 1);
	while (slot[i].cap > 0 &&
	    (slot[i].born_ns != born_ns || !topo_ip_same(&slot[i].src, src) ||
		slot[i].kind != kind))
		i = (i + 1) & (n_slots - 1);
	return &slot[i];
}

/* The first run of A that ends at NUMBER or later; a->n when there is none. */
static size_t run_at(const struct xp_batch_agent *a, uint64_t number)
{
	size_t low = 0, high = a->n;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		if (a->run[mid].last < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int xp_batch_set_has(const struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id)
{
	if (s->n_slots == 0)
		return 0;
	const struct xp_batch_agent *a = batch_set_find(s->slot, s->n_slots,
	    id->born_ns, &id->src, id->kind);
	const size_t i = run_at(a, id->number);
	return i < a->n && a->run[i].first <= id->number;
}

/* Slots are moved as they are: their runs stay where they are in memory. */
static int batch_set_grow(struct xp_batch_set *s, struct sim_err *e)
{
	const size_t n = s->n_slots ? 2 * s->n_slots : FIRST_SLOTS;
	struct xp_batch_agent *slot;
	int rc = SIM_ZALLOC(&slot, n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slot[i].cap > 0)
			*batch_set_find(slot, n, s->slot[i].born_ns,
			    &s->slot[i].src, s->slot[i].kind) = s->slot[i];
	free(s->slot);
	s->slot = slot;
	s->n_slots = n;
	return 0;
}

int xp_batch_set_reserve(struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id, struct sim_err *e)
{
	int rc;
	if (s->n_runs >= s->max_runs)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu runs of batches are known, and no more are allowed.",
		    s->n_runs);
	if (2 * (s->n_agents + 1) > s->n_slots &&
	    (rc = batch_set_grow(s, e)) < 0)
		return rc;
	struct xp_batch_agent *a = batch_set_find(s->slot, s->n_slots,
	    id->born_ns, &id->src, id->kind);
	/* A slot is taken as soon as it has room for a run. Its key is set only
	 * then, so that a failure leaves an empty slot empty. */
	const int is_new = a->cap == 0;
	if ((rc = SIM_RESERVE(&a->run, &a->cap, a->n + 1, e)) < 0)
		return rc;
	a->born_ns = id->born_ns;
	a->src = id->src;
	a->kind = id->kind;
	s->n_agents += (size_t)is_new;
	return 0;
}

void xp_batch_set_add(struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id)
{
	const uint64_t x = id->number;
	struct xp_batch_agent *a = batch_set_find(s->slot, s->n_slots,
	    id->born_ns, &id->src, id->kind);
	const size_t i = run_at(a, x);
	struct xp_batch_run *run = a->run + i; /* the first run above X */
	const int after = i > 0 && run[-1].last + 1 == x;
	const int before = i < a->n && x + 1 == run[0].first;
	/* Each batch says how many records its agent has lost in all so far.
	 * Batches may come out of order, so the most that was said counts. */
	if (id->n_lost > a->n_lost) {
		s->n_lost += id->n_lost - a->n_lost;
		a->n_lost = id->n_lost;
	}
	assert(a->cap > a->n && (i == a->n || x < run[0].first));
	/* X closes the gap between two runs, which become one; or it makes one
	 * of its neighbours longer; or it is a run of its own. */
	if (after && before) {
		run[-1].last = run[0].last;
		memmove(run, run + 1, (a->n - i - 1) * sizeof(*run));
		a->n--;
		s->n_runs--;
	} else if (after) {
		run[-1].last = x;
	} else if (before) {
		run[0].first = x;
	} else {
		memmove(run + 1, run, (a->n - i) * sizeof(*run));
		*run = (struct xp_batch_run){x, x};
		a->n++;
		s->n_runs++;
	}
}

int xp_batch_set_take(struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id, struct sim_err *e)
{
	if (xp_batch_set_has(s, id))
		return 0;
	const int rc = xp_batch_set_reserve(s, id, e);
	if (rc < 0)
		return rc;
	xp_batch_set_add(s, id);
	return 1;
}
