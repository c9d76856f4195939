/* tests/rigs/evq_heap.c -- 4-ary heap by (time, insertion): the order to compare to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/evq_heap.h"

#include <stdlib.h>

#include "sim/vec.h"

static int before(const struct evq_heap_item *a, const struct evq_heap_item *b)
{
	return a->ev.t != b->ev.t ? a->ev.t < b->ev.t : a->seq < b->seq;
}

static void swap(struct evq_heap *h, size_t i, size_t j)
{
	struct evq_heap_item tmp = h->item[i];
	h->item[i] = h->item[j];
	h->item[j] = tmp;
}

int evq_heap_put(struct evq_heap *h, const struct sim_event *ev,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&h->item, &h->cap, h->n + 1, e);
	if (rc < 0)
		return rc;
	size_t i = h->n++;
	h->item[i] = (struct evq_heap_item){*ev, h->n_put++};
	for (; i > 0 && before(&h->item[i], &h->item[(i - 1) / 4]);
	     i = (i - 1) / 4)
		swap(h, i, (i - 1) / 4);
	return 0;
}

int evq_heap_pop(struct evq_heap *h, sim_ns until, struct sim_event *ev)
{
	if (h->n == 0 || h->item[0].ev.t > until)
		return 0;
	*ev = h->item[0].ev;
	h->item[0] = h->item[--h->n];
	for (size_t i = 0;;) {
		size_t least = i;
		for (size_t c = 4 * i + 1; c <= 4 * i + 4 && c < h->n; c++)
			if (before(&h->item[c], &h->item[least]))
				least = c;
		if (least == i)
			return 1;
		swap(h, i, least);
		i = least;
	}
}

void evq_heap_free(struct evq_heap *h)
{
	free(h->item);
	*h = (struct evq_heap){0};
}
