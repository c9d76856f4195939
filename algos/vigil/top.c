/* algos/vigil/top.c -- the top link of a tally, again and again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/top.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* The key as it is now; that of a heap entry may be older and so too high. */
static inline uint64_t top_key_of(const struct algo_top *q, topo_link l)
{
	const struct algo_tally_link *at = &q->tally->link[l];
	return q->by == ALGO_TOP_VOTES ? at->votes : at->n_flows;
}

/* A strict order, as ids differ: the same link comes out whatever the order of
 * touched[] was. */
static inline int above(const struct algo_top *q, struct algo_top_entry a,
    struct algo_top_entry b)
{
	if (a.key != b.key)
		return a.key > b.key;
	if (q->by == ALGO_TOP_FLOWS_THEN_VOTES) {
		uint64_t va = q->tally->link[a.link].votes;
		uint64_t vb = q->tally->link[b.link].votes;
		if (va != vb)
			return va > vb;
	}
	return a.link < b.link;
}

static void sift_up(struct algo_top *q, size_t i)
{
	const struct algo_top_entry x = q->hot[i];
	for (; i > 0 && above(q, x, q->hot[(i - 1) / 2]); i = (i - 1) / 2)
		q->hot[i] = q->hot[(i - 1) / 2];
	q->hot[i] = x;
}

static void top_sift_down(struct algo_top *q)
{
	const struct algo_top_entry x = q->hot[0];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < q->n_hot; i = child) {
		if (child + 1 < q->n_hot &&
		    above(q, q->hot[child + 1], q->hot[child]))
			child++;
		if (!above(q, q->hot[child], x))
			break;
		q->hot[i] = q->hot[child];
	}
	q->hot[i] = x;
}

/* Lower the pivot to a quarter of the greatest cold key and heat what is not
 * below it. Links that have come down to 0 meanwhile are left out for good. The
 * pivot at least halves each time, so a link is looked at once for every factor
 * of four by which the top falls. */
static void warm_up(struct algo_top *q)
{
	uint64_t greatest = 0;
	size_t n = 0;
	for (size_t i = 0; i < q->n_cold; i++) {
		const topo_link l = q->cold[i];
		const uint64_t key = top_key_of(q, l);
		q->cold[n] = l;
		n += key > 0;
		greatest = key > greatest ? key : greatest;
	}
	q->n_cold = n;
	q->pivot = greatest / 4 + 1;
	n = 0;
	for (size_t i = 0; i < q->n_cold; i++) {
		const topo_link l = q->cold[i];
		const uint64_t key = top_key_of(q, l);
		if (key >= q->pivot) {
			q->hot[q->n_hot] = (struct algo_top_entry){key, l};
			sift_up(q, q->n_hot++);
		} else {
			q->cold[n++] = l;
		}
	}
	q->n_cold = n;
}

int algo_top_start(struct algo_top *q, const struct algo_tally *t,
    enum algo_top_by by, struct sim_err *e)
{
	const size_t n = t->n_touched;
	int rc;
	if ((rc = SIM_RESERVE(&q->hot, &q->cap_hot, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&q->cold, &q->cap_cold, n, e)) < 0)
		return rc;
	if (n > 0)
		memcpy(q->cold, t->touched, n * sizeof(*q->cold));
	q->tally = t;
	q->by = by;
	/* All links start cold with a pivot above any key: the first peek heats
	 * the few that are near the top. */
	q->pivot = UINT64_MAX;
	q->n_hot = 0;
	q->n_cold = n;
	return 0;
}

void algo_top_free(struct algo_top *q)
{
	free(q->hot);
	free(q->cold);
	*q = (struct algo_top){0};
}

/* Correct the root's key until the root is up to date. Keys only fall, so an
 * entry's key is never too low, and a root whose key is right is not below any
 * other's true key. */
static void top_settle(struct algo_top *q)
{
	while (q->n_hot > 0) {
		const uint64_t key = top_key_of(q, q->hot[0].link);
		assert(key <= q->hot[0].key);
		if (key == q->hot[0].key)
			return;
		if (key == 0)
			q->hot[0] = q->hot[--q->n_hot];
		else
			q->hot[0].key = key;
		top_sift_down(q);
	}
}

topo_link algo_top_peek(struct algo_top *q)
{
	top_settle(q);
	/* A hot root below the pivot may be beaten by a cold link, which is
	 * known only to be below the pivot. */
	while (q->n_cold > 0 && (q->n_hot == 0 || q->hot[0].key < q->pivot)) {
		warm_up(q);
		top_settle(q);
	}
	return q->n_hot > 0 ? q->hot[0].link : TOPO_NONE;
}

void algo_top_take(struct algo_top *q)
{
	assert(q->n_hot > 0);
	/* The last entry takes the root's place and sinks to its own; its key
	 * may be out of date, which the next peek mends. */
	q->hot[0] = q->hot[--q->n_hot];
	top_sift_down(q);
}
