/* algos/everflow/pause_ports.c -- ports paused without end, and the root.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "algos/everflow/debug_rdma.h"
#include "sim/sort.h"
#include "sim/vec.h"

/* A frame, as one class of it. */
struct pause_row {
	topo_link link;
	uint8_t class;
	uint16_t quanta;
	sim_ns t;
};

/* A time in which the port at the far end of LINK was paused, with gaps at most
 * as long as the pause before. */
struct pause_run {
	topo_link link;
	topo_node from, to; /* who pauses whom */
	uint8_t class;
	sim_ns begin, end, held;
};

struct pause_runs {
	size_t n, cap;
	struct pause_run *run;
};

static int pause_by_port(const void *a, const void *b)
{
	const struct pause_row *x = a, *y = b;
	if (x->link != y->link)
		return SIM_ORDER(x->link, y->link);
	if (x->class != y->class)
		return SIM_ORDER(x->class, y->class);
	if (x->t != y->t)
		return SIM_ORDER(x->t, y->t);
	return x->quanta - y->quanta;
}

static int pause_is_storm(const struct algo_debug_rdma_params *p,
    const struct pause_run *r)
{
	const double length = (double)(r->end - r->begin);
	return length >= p->storm_ms * 1e6 &&
	    (double)r->held >= p->held * length;
}

/* The run that begins at row *I, which asks for a pause; *I then is at the row
 * behind it. A frame that says go on ends it: that is congestion, which knows
 * when it is over. A pause that nobody took back ends by itself. */
static struct pause_run pause_run_from(const struct algo_debug_rdma_params *p,
    const struct pause_row *row, size_t n, size_t *i)
{
	const struct pause_row *first = &row[*i];
	struct pause_run r = {.link = first->link,
	    .class = first->class,
	    .begin = first->t};
	for (;;) {
		const struct pause_row *now = &row[*i];
		const sim_ns asked = (sim_ns)obs_pause_ns(now->quanta, p->gbps);
		const struct pause_row *next = ++*i < n ? &row[*i] : NULL;
		if (next &&
		    (next->link != now->link || next->class != now->class))
			next = NULL;
		const sim_ns left = next ? next->t - now->t : SIM_NEVER;
		r.held += left < asked ? left : asked;
		r.end = now->t + (left < asked ? left : asked);
		if (left > 2 * asked || next->quanta == 0)
			return r;
	}
}

/* All runs that are long and full enough. */
static int pause_find_runs(const struct algo_debug_rdma_params *p,
    const struct topo *t, const struct pause_row *row, size_t n,
    struct pause_runs *s, struct sim_err *e)
{
	for (size_t i = 0; i < n;) {
		if (row[i].quanta == 0) {
			i++;
			continue;
		}
		struct pause_run r = pause_run_from(p, row, n, &i);
		if (!pause_is_storm(p, &r))
			continue;
		topo_link_ends(t, r.link, &r.from, &r.to);
		const int rc = SIM_RESERVE(&s->run, &s->cap, s->n + 1, e);
		if (rc < 0)
			return rc;
		s->run[s->n++] = r;
	}
	return 0;
}

/* --- the tree ------------------------------------------------------------- */

/* Whether A can be why B is: A pauses the node that pauses by B, not for its
 * own sake, and before it, as far as copies tell. */
static int pause_explains(const struct algo_debug_rdma_params *p,
    const struct pause_run *a, const struct pause_run *b)
{
	return a->class == b->class && a->to == b->from && a->from != b->to &&
	    a->begin <= b->begin + (sim_ns)(p->skew_us * 1e3) &&
	    a->end >= b->begin;
}

/* How many runs ROOT explains, at first or second hand, with itself. SEEN and
 * QUEUE are of all runs. */
static size_t pause_tree_size(const struct algo_debug_rdma_params *p,
    const struct pause_runs *s, size_t root, uint8_t seen[], size_t queue[])
{
	size_t n = 1;
	for (size_t i = 0; i < s->n; i++)
		seen[i] = 0;
	queue[0] = root;
	seen[root] = 1;
	for (size_t at = 0; at < n; at++)
		for (size_t i = 0; i < s->n; i++)
			if (!seen[i] &&
			    pause_explains(p, &s->run[queue[at]], &s->run[i])) {
				seen[i] = 1;
				queue[n++] = i;
			}
	return n;
}

/* The runs of one host are of one link, and next to each other: one finding, of
 * run I and those behind it, which are passed by. */
static int pause_tell(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, const struct pause_runs *s, size_t *i,
    uint8_t seen[], size_t queue[], struct algo_debug_out *out,
    struct sim_err *e)
{
	const struct pause_run *r = &s->run[*i];
	struct algo_finding f = {.cause = ALGO_CAUSE_PAUSE_STORM,
	    .link = r->link,
	    .node = r->from,
	    .from_ns = r->begin};
	sim_ns held = 0, of = 0;
	for (; *i < s->n && s->run[*i].link == f.link; ++*i) {
		const struct pause_run *x = &s->run[*i];
		const double size =
		    (double)pause_tree_size(p, s, *i, seen, queue);
		f.score = size > f.score ? size : f.score;
		f.from_ns = x->begin < f.from_ns ? x->begin : f.from_ns;
		f.to_ns = x->end > f.to_ns ? x->end : f.to_ns;
		held += x->held;
		of += x->end - x->begin;
	}
	f.rate = f.lo = f.hi = of > 0 ? (double)held / (double)of : 0;
	f.persistent = f.to_ns >= in->now;
	return algo_debug_find(out, &f, e);
}

/* Nothing pauses a host, so what hosts ask for has no cause but themselves. */
static int pause_find_roots(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, const struct pause_runs *s,
    struct algo_debug_out *out, struct sim_err *e)
{
	uint8_t *seen = NULL;
	size_t *queue = NULL;
	int rc;
	if (s->n == 0)
		return 0;
	if ((rc = SIM_ZALLOC(&seen, s->n, e)) == 0)
		rc = SIM_ZALLOC(&queue, s->n, e);
	for (size_t i = 0; rc == 0 && i < s->n;) {
		if (s->run[i].from < in->routing.topo->n_hosts)
			rc = pause_tell(p, in, s, &i, seen, queue, out, e);
		else
			i++;
	}
	free(seen);
	free(queue);
	return rc;
}

/* --- rows ----------------------------------------------------------------- */

/* Rows of trace I, one for each class and link it came by: into ROW unless that
 * is NULL. A frame goes over one link alone, but its trace may have the frames
 * of others, too, where nothing tells them apart. */
static size_t pause_rows_of(const struct algo_debug_in *in, size_t i,
    struct pause_row *row)
{
	const struct algo_traces *t = &in->traces->traces;
	const struct algo_hops *h = &in->traces->hops;
	size_t n = 0;
	if (t->kind[i] != OBS_COPY_PFC || t->proto[i] != 0 ||
	    t->hop_off[i] > h->n || t->n_hops[i] > h->n - t->hop_off[i])
		return 0;
	for (size_t k = t->hop_off[i]; k < t->hop_off[i] + t->n_hops[i]; k++)
		for (uint8_t c = 0; c < 8; c++) {
			if (!(t->flags[i] >> c & 1) ||
			    h->in_link[k] >= in->routing.topo->n_links)
				continue;
			if (row)
				row[n] = (struct pause_row){h->in_link[k], c,
				    (uint16_t)t->ack[i], h->t_ns[k]};
			n++;
		}
	return n;
}

int algo_debug_pause_ports(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	const size_t n_traces = in->traces->traces.n;
	struct pause_runs s = {0};
	struct pause_row *row = NULL;
	size_t n = 0;
	int rc;
	for (size_t i = 0; i < n_traces; i++)
		n += pause_rows_of(in, i, NULL);
	if (n == 0)
		return 0;
	if ((rc = SIM_ZALLOC(&row, n, e)) < 0)
		return rc;
	n = 0;
	for (size_t i = 0; i < n_traces; i++)
		n += pause_rows_of(in, i, row + n);
	qsort(row, n, sizeof(row[0]), pause_by_port);
	rc = pause_find_runs(p, in->routing.topo, row, n, &s, e);
	if (rc == 0)
		rc = pause_find_roots(p, in, &s, out, e);
	free(row);
	free(s.run);
	return rc;
}
