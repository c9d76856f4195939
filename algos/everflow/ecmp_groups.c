/* algos/everflow/ecmp_groups.c -- equal next hops, and how flows choose them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/ecmp_groups.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "sim/sort.h"
#include "sim/vec.h"
#include "topo/next.h"

/* --- groups --------------------------------------------------------------- */
static int ecmp_add_group(struct algo_ecmp_groups *x, const struct topo *t,
    topo_switch at, const struct topo_next_set *next, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&x->group, &x->cap, x->n + 1, e);
	if (rc < 0)
		return rc;
	struct algo_ecmp_group *g = &x->group[x->n];
	*g = (struct algo_ecmp_group){.at = at};
	for (uint32_t i = 0; i < next->n && i < ALGO_ECMP_MAX; i++) {
		const topo_link l = topo_next_of(t, next, i);
		if (x->of_link[l] > 0)
			continue;
		x->of_link[l] = (uint32_t)x->n + 1;
		g->link[g->n++] = l;
	}
	x->n += g->n > 1;
	return 0;
}

/* One host of each ToR stands for all of its hosts. */
static int ecmp_find_groups(struct algo_ecmp_groups *x, const struct topo *t,
    struct sim_err *e)
{
	int rc = SIM_ZALLOC(&x->of_link, t->n_links, e);
	topo_switch tor = TOPO_NONE;
	for (topo_host h = 0; h < t->n_hosts && rc == 0; h++) {
		if (topo_tor_of(t, h) == tor)
			continue;
		tor = topo_tor_of(t, h);
		for (topo_switch s = 0; s < t->n_switches && rc == 0; s++) {
			const struct topo_next_set next =
			    topo_next_set(t, s, h);
			if (next.n > 1 &&
			    x->of_link[topo_next_of(t, &next, 0)] == 0)
				rc = ecmp_add_group(x, t, s, &next, e);
		}
	}
	return rc;
}

static uint32_t group_place(const struct algo_ecmp_group *g, topo_link l)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->link[i] == l)
			return i;
	return g->n;
}

/* --- flows ---------------------------------------------------------------- */
static void ecmp_add_counters(struct algo_ecmp_groups *x,
    const struct algo_counters *c, uint32_t n_links)
{
	for (size_t i = 0; c && i < c->n; i++) {
		if (c->kind[i] != ALGO_COUNTER_LINK_FLOWS ||
		    c->id[i] >= n_links || x->of_link[c->id[i]] == 0 ||
		    x->of_link[c->id[i]] > x->n || !isfinite(c->value[i]))
			continue;
		struct algo_ecmp_group *g = &x->group[x->of_link[c->id[i]] - 1];
		const uint32_t at = group_place(g, c->id[i]);
		if (at < g->n)
			g->flows[at] += c->value[i];
	}
}

static int ecmp_add_choice(struct algo_ecmp_groups *x, topo_link l,
    const struct topo_tuple *tuple, struct sim_err *e)
{
	const uint32_t group = x->of_link[l] - 1;
	const uint32_t at = group_place(&x->group[group], l);
	int rc;
	if (at >= x->group[group].n)
		return 0;
	rc = SIM_RESERVE(&x->choice, &x->cap_choices, x->n_choices + 1, e);
	if (rc < 0)
		return rc;
	x->choice[x->n_choices++] = (struct algo_ecmp_choice){group, at,
	    topo_tuple_digest(tuple), *tuple};
	return 0;
}

/* A hop's link tells what the switch before it chose. */
static int ecmp_add_trace(struct algo_ecmp_groups *x,
    const struct algo_debug_in *in, size_t i, struct sim_err *e)
{
	const struct algo_traces *t = &in->traces->traces;
	const struct algo_hops *h = &in->traces->hops;
	const struct topo_tuple tuple = {t->src_ip[i], t->dst_ip[i],
	    t->src_port[i], t->dst_port[i], t->proto[i]};
	int rc = 0;
	if (t->proto[i] != TOPO_PROTO_TCP || !(t->flags[i] & OBS_TCP_SYN) ||
	    t->marks[i] & ALGO_TRACE_PROBE)
		return 0;
	for (size_t k = t->hop_off[i];
	     k < t->hop_off[i] + t->n_hops[i] && k < h->n && rc == 0; k++) {
		const topo_link l = h->in_link[k];
		if (h->layer[k] == 0 && l < in->routing.topo->n_links &&
		    x->of_link[l] > 0 && x->of_link[l] <= x->n)
			rc = ecmp_add_choice(x, l, &tuple, e);
	}
	return rc;
}

static int choice_order(const void *a, const void *b)
{
	const struct algo_ecmp_choice *x = a, *y = b;
	if (x->group != y->group)
		return SIM_ORDER(x->group, y->group);
	if (x->digest != y->digest)
		return SIM_ORDER(x->digest, y->digest);
	return SIM_ORDER(x->pos, y->pos);
}

/* A five-tuple that came again chose again the same: it is one flow. */
static void ecmp_sort_choices(struct algo_ecmp_groups *x)
{
	size_t n = 0;
	if (x->n_choices > 0)
		qsort(x->choice, x->n_choices, sizeof(x->choice[0]),
		    choice_order);
	for (size_t i = 0; i < x->n_choices; i++) {
		if (n > 0 && x->choice[n - 1].group == x->choice[i].group &&
		    x->choice[n - 1].digest == x->choice[i].digest)
			continue;
		x->choice[n++] = x->choice[i];
	}
	x->n_choices = n;
	for (size_t i = n; i-- > 0;) {
		struct algo_ecmp_group *g = &x->group[x->choice[i].group];
		g->first = i;
		g->n_choices++;
	}
}

int algo_ecmp_groups_make(struct algo_ecmp_groups *x,
    const struct algo_debug_in *in, struct sim_err *e)
{
	*x = (struct algo_ecmp_groups){.n = 0};
	int rc = ecmp_find_groups(x, in->routing.topo, e);
	if (rc < 0)
		return rc;
	ecmp_add_counters(x, in->counters, in->routing.topo->n_links);
	for (size_t i = 0; in->traces && i < in->traces->traces.n && rc == 0;
	     i++)
		rc = ecmp_add_trace(x, in, i, e);
	if (rc == 0)
		ecmp_sort_choices(x);
	return rc;
}

void algo_ecmp_groups_free(struct algo_ecmp_groups *x)
{
	free(x->group);
	free(x->of_link);
	free(x->choice);
	*x = (struct algo_ecmp_groups){.n = 0};
}

/* --- the test ------------------------------------------------------------- */
struct algo_skew algo_skew_of(const double count[], uint32_t n)
{
	struct algo_skew s = {.chance = 1, .skew = 1};
	double g = 0;
	for (uint32_t i = 0; i < n; i++) {
		s.total += count[i];
		s.n_unused += !(count[i] > 0);
		s.max = count[i] > count[s.max] ? i : s.max;
		if (count[i] < 0)
			return (struct algo_skew){.chance = 1, .skew = 1};
	}
	/* More flows than that are none that anybody counted. */
	if (n < 2 || !(s.total >= 10.0 * n && s.total < 1e12))
		return s;
	for (uint32_t i = 0; i < n; i++)
		if (count[i] > 0)
			g += 2 * count[i] * log(count[i] * n / s.total);
	s.skew = count[s.max] * n / s.total;
	s.chance =
	    gsl_cdf_chisq_Q(fmax(0, g / (1 + (n + 1) / (6 * s.total))), n - 1);
	return s;
}
