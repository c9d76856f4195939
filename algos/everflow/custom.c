/* algos/everflow/custom.c -- counters that were asked for, by filters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/custom.h"

#include <stdlib.h>

#include "sim/vec.h"

static struct algo_custom *custom_find(const struct algo_custom_counters *c,
    uint32_t id)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->one[i].id == id)
			return &c->one[i];
	return NULL;
}

int algo_custom_add(struct algo_custom_counters *c, uint32_t id,
    const struct algo_filter *f, struct sim_err *e)
{
	size_t cap = c->cap;
	if (custom_find(c, id))
		return sim_fail(e, SIM_EINVAL, "there is a counter %u.", id);
	/* How old a trace is depends on when an analyzer ends it. */
	if (f->is_condition)
		return sim_fail(e, SIM_EINVAL,
		    "a counter takes a filter, without properties of traces.");
	if (c->n == ALGO_CUSTOM_MAX)
		return sim_fail(e, SIM_ELIMIT, "more than %d counters.",
		    ALGO_CUSTOM_MAX);
	const int rc = SIM_RESERVE(&c->one, &cap, c->n + 1u, e);
	if (rc < 0)
		return rc;
	c->cap = (uint32_t)cap;
	c->one[c->n++] = (struct algo_custom){.id = id, .filter = *f};
	return 0;
}

int algo_custom_remove(struct algo_custom_counters *c, uint32_t id)
{
	struct algo_custom *x = custom_find(c, id);
	if (!x)
		return 0;
	/* Their order is no matter: rows have ids. */
	*x = c->one[--c->n];
	return 1;
}

void algo_custom_take(struct algo_custom_counters *c,
    const struct algo_trace *t, const struct algo_hop hop[])
{
	for (uint32_t i = 0; i < c->n; i++)
		if (algo_filter_test(&c->one[i].filter, t, hop, 0)) {
			c->one[i].packets++;
			c->one[i].bytes += t->n_bytes;
		}
}

int algo_custom_put(struct algo_custom_counters *c, uint32_t analyzer,
    sim_ns now, struct algo_counters *out, struct sim_err *e)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct algo_custom *x = &c->one[i];
		const uint64_t value[] = {x->packets, x->bytes};
		for (uint32_t sub = 0; sub < 2 && x->packets > 0; sub++) {
			const struct algo_counter row = {.t_ns = now,
			    .analyzer = analyzer,
			    .id = x->id,
			    .sub = sub,
			    .kind = ALGO_COUNTER_CUSTOM,
			    .value = (double)value[sub]};
			const int rc = algo_counters_add(out, &row, e);
			if (rc < 0)
				return rc;
		}
		x->packets = x->bytes = 0;
	}
	return 0;
}

void algo_custom_free(struct algo_custom_counters *c)
{
	free(c->one);
	*c = (struct algo_custom_counters){0};
}
