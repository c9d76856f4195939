/* algos/verdict.c -- accused links and blamed flows: growth, order, rank.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/verdict.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

const char *const algo_status_names[] = {"optimal", "feasible", "none", NULL};
const char *const algo_kind_names[] = {"link", "switch", "component", NULL};

const char *const algo_way_words[] = {
#define X(name, words) words,
    ALGO_WAYS(X)
#undef X
};

/* Memory stays for the next window; only what the last one said is
 * forgotten. */
void algo_verdicts_clear(struct algo_verdicts *v)
{
	v->kind = ALGO_KIND_LINK;
	if (v->n > 0)
		memset(v->way, 0, v->n);
	v->n = 0;
	v->n_flagged = 0;
	v->flags = 0;
	v->chances = 0;
	v->solution = (struct algo_solution){0};
	v->n_flows = 0;
}

void algo_verdicts_free(struct algo_verdicts *v)
{
	free(v->link);
	free(v->score);
	free(v->way);
	free(v->blame);
	*v = (struct algo_verdicts){0};
}

int algo_verdicts_reserve(struct algo_verdicts *v, size_t n, struct sim_err *e)
{
	/* The arrays share `cap`: grow each on a copy of it. */
	size_t cap[] = {v->cap, v->cap, v->cap};
	int rc;
	if ((rc = SIM_RESERVE(&v->link, &cap[0], n, e)) < 0 ||
	    (rc = SIM_RESERVE(&v->score, &cap[1], n, e)) < 0 ||
	    (rc = SIM_RESERVE(&v->way, &cap[2], n, e)) < 0)
		return rc;
	if (cap[2] > v->cap)
		memset(v->way + v->cap, 0, cap[2] - v->cap);
	v->cap = cap[2];
	return 0;
}

int algo_verdicts_add(struct algo_verdicts *v, topo_link link, double score,
    struct sim_err *e)
{
	int rc;
	if (v->n == v->cap && (rc = algo_verdicts_reserve(v, v->n + 1, e)) < 0)
		return rc;
	v->link[v->n] = link;
	v->score[v->n] = score;
	v->n++;
	return 0;
}

int algo_verdicts_say(struct algo_verdicts *v, uint32_t component,
    enum algo_way way, struct sim_err *e)
{
	size_t i = 0;
	while (i < v->n && v->link[i] != component)
		i++;
	const int rc = i < v->n ? 0 : algo_verdicts_add(v, component, 0, e);
	if (rc == 0)
		v->way[i] = (uint8_t)way;
	return rc;
}

/* No flow is blamed on anything until an algorithm says so. */
int algo_verdicts_reserve_flows(struct algo_verdicts *v, size_t n,
    struct sim_err *e)
{
	int rc;
	if ((rc = SIM_RESERVE(&v->blame, &v->cap_flows, n, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		v->blame[i] = TOPO_NONE;
	v->n_flows = n;
	return 0;
}

/* Whether entry I must stand behind entry J: by score, and by id among equals,
 * so that the order of a ranking never depends on the order in which it was
 * found. */
static int behind(const struct algo_verdicts *v, size_t i, size_t j)
{
	if (v->score[i] != v->score[j])
		return v->score[i] < v->score[j];
	return v->link[i] > v->link[j];
}

static void swap(struct algo_verdicts *v, size_t i, size_t j)
{
	topo_link link = v->link[i];
	double score = v->score[i];
	const uint8_t way = v->way[i];
	v->way[i] = v->way[j];
	v->way[j] = way;
	v->link[i] = v->link[j];
	v->score[i] = v->score[j];
	v->link[j] = link;
	v->score[j] = score;
}

/* Restore the heap below I within the N entries from BASE; its root is the
 * entry that must stand last. */
static void verdict_sift_down(struct algo_verdicts *v, size_t base, size_t i,
    size_t n)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && behind(v, base + child + 1, base + child))
			child++;
		if (!behind(v, base + child, base + i))
			return;
		swap(v, base + i, base + child);
	}
}

/* Heapsort, because it works in place over two parallel arrays and cannot fail.
 * Flagged entries stay in the order in which they were flagged: theirs says
 * more than scores do. */
void algo_verdicts_sort(struct algo_verdicts *v)
{
	assert(v->n_flagged <= v->n);
	const size_t base = v->n_flagged, n = v->n - base;
	for (size_t i = n / 2; i-- > 0;)
		verdict_sift_down(v, base, i, n);
	for (size_t end = n; end-- > 1;) {
		swap(v, base, base + end);
		verdict_sift_down(v, base, 0, end);
	}
}

double algo_verdicts_score(const struct algo_verdicts *v, topo_link link)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->link[i] == link)
			return v->score[i];
	return 0;
}

/* Rank 1 + the number of links with a greater score, so that equals share the
 * best of their ranks. A link that is not listed stands behind all that are. */
size_t algo_verdicts_rank(const struct algo_verdicts *v, topo_link link)
{
	const double score = algo_verdicts_score(v, link);
	size_t rank = 1;
	for (size_t i = 0; i < v->n; i++)
		rank += v->score[i] > score;
	return rank;
}

void algo_verdicts_print(const struct algo_verdicts *v, FILE *out)
{
	static const char *const many[] = {"links", "switches", "components"};
	fprintf(out, "%zu %s, %zu flagged%s\n", v->n, many[v->kind],
	    v->n_flagged, v->flags ? "" : " (ranks only)");
	for (size_t i = 0; i < v->n; i++) {
		const struct algo_part p = algo_verdicts_part(v, v->link[i]);
		fprintf(out, "%c %s %u score %.9g\n",
		    i < v->n_flagged ? '*' : ' ', algo_kind_names[p.is_switch],
		    p.id, v->score[i]);
	}
	if (v->solution.solves)
		fprintf(out, "value %.9g, bound %.9g, %s\n", v->solution.value,
		    v->solution.bound, algo_status_names[v->solution.status]);
	fprintf(out, "%zu flows\n", v->n_flows);
	for (size_t i = 0; i < v->n_flows; i++) {
		const struct algo_part p = algo_verdicts_blamed(v, i);
		if (p.id != TOPO_NONE)
			fprintf(out, "  flow %zu %s %u\n", i,
			    algo_kind_names[p.is_switch], p.id);
	}
}
