/* experiments/telemetry/flock_read.c -- Flock's text traces, read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/telemetry/flock_text.h"
#include "experiments/telemetry/flock_truth.h"
#include "sim/sort.h"
#include "sim/text.h"
#include "sim/vec.h"

/* An equal path whose ends came before, with others between. */
struct ftext_late {
	uint32_t set, n;
	size_t at; /* its place among all of these */
	topo_link link[TOPO_MAX_HOPS];
};

/* The flow that is being read. */
struct ftext_flow {
	uint64_t line; /* of its FID; 0: none */
	topo_node src, dst;
	topo_switch first, last;
	int has_path, n_snapshots, counts; /* a snapshot before the end did */
	uint32_t set, path;
	double t_ms;
	uint32_t n_sent, n_lost; /* of the last snapshot, and of the last that
				    counts */
	uint32_t use_sent, use_lost;
};

enum ftext_stage { FTEXT_TRUTH, FTEXT_PATHS, FTEXT_FLOWS };

struct ftext_trace {
	struct xp_flock_lines l;
	struct xp_flock *x;
	const struct xp_flock_asks *asks;
	struct xp_flock_ids ids;
	struct ftext_truth truth;
	enum ftext_stage stage;
	size_t n_late, cap_late;
	struct ftext_late *late;
	struct ftext_flow flow;
};

static int ftext_wrong(const struct xp_flock_lines *l, struct sim_err *e,
    const char *what)
{
	return sim_fail(e, SIM_EPARSE, "%s:%" PRIu64 ": %s", l->path, l->number,
	    what);
}

/* --- paths -----------------------------------------------------------------*/

struct ftext_way {
	topo_switch from, to;
	unsigned n;
	topo_link link[TOPO_MAX_HOPS];
};

/* Switches from word 1 on, each but the first a neighbour of that before. */
static int ftext_way(const struct ftext_trace *t, struct ftext_way *w,
    struct sim_err *e)
{
	const struct xp_flock_lines *l = &t->l;
	const struct topo *topo = &t->x->topo;
	topo_node node[XP_FLOCK_WORDS];
	int rc = 0;
	if (l->n < 2 || l->n - 2 > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": %s has %u switches; paths have from 1 to %d.",
		    l->path, l->number, l->word[0], l->n - 1,
		    TOPO_MAX_HOPS + 1);
	for (unsigned i = 1; rc == 0 && i < l->n; i++) {
		rc = xp_flock_node(l, &t->ids, topo, i, "a hop",
		    XP_FLOCK_SWITCH, &node[i - 1], e);
		for (unsigned k = 0; rc == 0 && k + 1 < i; k++)
			if (node[k] == node[i - 1])
				rc = ftext_wrong(l, e,
				    "the path crosses a switch twice.");
		if (rc == 0 && i > 1)
			rc = xp_flock_link(l, topo, i - 1, node[i - 2],
			    node[i - 1], &w->link[i - 2], e);
	}
	if (rc < 0)
		return rc;
	w->n = l->n - 2;
	w->from = node[0] - topo->n_hosts;
	w->to = node[w->n] - topo->n_hosts;
	return 0;
}

static uint32_t ftext_find(const struct obs_paths *p, uint32_t set,
    const struct ftext_way *w)
{
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++)
		if (obs_path_length(p, i) == w->n &&
		    (w->n == 0 ||
			memcmp(p->link + p->off[i], w->link,
			    w->n * sizeof(w->link[0])) == 0))
			return i;
	return OBS_NO_PATH;
}

static int ftext_late_add(struct ftext_trace *t, uint32_t set,
    const struct ftext_way *w, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&t->late, &t->cap_late, t->n_late + 1, e);
	if (rc < 0)
		return rc;
	struct ftext_late *late = &t->late[t->n_late++];
	*late = (struct ftext_late){.set = set, .n = w->n, .at = t->n_late};
	memcpy(late->link, w->link, sizeof(late->link));
	return 0;
}

static int ftext_equal_path(struct ftext_trace *t, struct sim_err *e)
{
	struct obs_paths *p = &t->x->paths;
	struct ftext_way w;
	int rc = ftext_way(t, &w, e);
	if (rc < 0)
		return rc;
	if (w.from == w.to)
		return ftext_wrong(&t->l, e,
		    "FP has one switch; from a switch to itself there is no "
		    "path to choose.");
	uint32_t set = obs_paths_find(p, w.from, w.to);
	if (set == OBS_NO_PATH) {
		if ((rc = obs_paths_open(p, w.from, w.to, e)) < 0)
			return rc;
		set = (uint32_t)p->n_sets - 1;
	}
	if (ftext_find(p, set, &w) != OBS_NO_PATH)
		return ftext_wrong(&t->l, e, "the path stands there twice.");
	return set + 1 == p->n_sets ? obs_paths_add(p, w.link, w.n, e)
				    : ftext_late_add(t, set, &w, e);
}

/* By set; those of one in the order in which they came. */
static int ftext_by_set(const void *a, const void *b)
{
	const struct ftext_late *x = a, *y = b;
	if (x->set != y->set)
		return SIM_ORDER(x->set, y->set);
	return x->at < y->at ? -1 : x->at > y->at;
}

static int ftext_same_late(const struct ftext_late *a,
    const struct ftext_late *b)
{
	return a->set == b->set && a->n == b->n &&
	    memcmp(a->link, b->link, a->n * sizeof(a->link[0])) == 0;
}

/* Sets are filled one after the other, so that with late paths all are filled
 * anew. */
static int ftext_regroup(struct ftext_trace *t, struct sim_err *e)
{
	struct obs_paths all = {0}, *p = &t->x->paths;
	size_t k = 0;
	int rc = 0;
	if (t->n_late == 0)
		return 0;
	qsort(t->late, t->n_late, sizeof(t->late[0]), ftext_by_set);
	for (uint32_t s = 0; rc == 0 && s < p->n_sets; s++) {
		rc = obs_paths_open(&all, p->from[s], p->to[s], e);
		for (uint32_t i = p->first[s]; rc == 0 && i < p->first[s + 1];
		     i++)
			rc = obs_paths_add(&all, p->link + p->off[i],
			    obs_path_length(p, i), e);
		const size_t first = k;
		for (; rc == 0 && k < t->n_late && t->late[k].set == s; k++) {
			for (size_t j = first; rc == 0 && j < k; j++)
				if (ftext_same_late(&t->late[j], &t->late[k]))
					rc = sim_fail(e, SIM_EPARSE,
					    "%s: a path FP from %u to %u "
					    "stands there twice.",
					    t->l.path,
					    t->ids.id[t->x->topo.n_hosts +
						p->from[s]],
					    t->ids.id[t->x->topo.n_hosts +
						p->to[s]]);
			if (rc == 0)
				rc = obs_paths_add(&all, t->late[k].link,
				    t->late[k].n, e);
		}
	}
	if (rc < 0) {
		obs_paths_free(&all);
		return rc;
	}
	obs_paths_free(p);
	*p = all;
	t->n_late = 0;
	return 0;
}

/* --- flows -----------------------------------------------------------------*/

static topo_switch ftext_switch_of(const struct topo *topo, topo_node n)
{
	return n < topo->n_hosts ? topo_tor_of(topo, n) : n - topo->n_hosts;
}

static int ftext_begin(struct ftext_trace *t, struct sim_err *e)
{
	const struct xp_flock_lines *l = &t->l;
	const struct topo *topo = &t->x->topo;
	struct ftext_flow *f = &t->flow;
	topo_node first, last;
	uint32_t bytes;
	double start;
	int rc;
	*f = (struct ftext_flow){0};
	if ((rc = xp_flock_wants(l, 7, "FID SRC DST HOP1 HOPN BYTES START_MS",
		 e)) < 0 ||
	    (rc = xp_flock_node(l, &t->ids, topo, 1, "SRC", XP_FLOCK_ANY,
		 &f->src, e)) < 0 ||
	    (rc = xp_flock_node(l, &t->ids, topo, 2, "DST", XP_FLOCK_ANY,
		 &f->dst, e)) < 0 ||
	    (rc = xp_flock_node(l, &t->ids, topo, 3, "HOP1", XP_FLOCK_SWITCH,
		 &first, e)) < 0 ||
	    (rc = xp_flock_node(l, &t->ids, topo, 4, "HOPN", XP_FLOCK_SWITCH,
		 &last, e)) < 0 ||
	    (rc = xp_flock_f64(l, 6, "START_MS", 0, 1e15, &start, e)) < 0)
		return rc;
	/* Sizes are counts of any length, of which nothing follows here. */
	if (xp_flock_u32(l, 5, "BYTES", 0, UINT32_MAX, &bytes, NULL) < 0 &&
	    (rc = xp_flock_f64(l, 5, "BYTES", 0, 1e18, &start, e)) < 0)
		return rc;
	f->first = first - topo->n_hosts;
	f->last = last - topo->n_hosts;
	if (ftext_switch_of(topo, f->src) != f->first ||
	    ftext_switch_of(topo, f->dst) != f->last)
		return ftext_wrong(l, e,
		    "HOP1 and HOPN must be the switches of SRC and DST.");
	f->line = l->number;
	return 0;
}

static int ftext_took(struct ftext_trace *t, struct sim_err *e)
{
	struct ftext_flow *f = &t->flow;
	struct ftext_way w;
	int rc;
	if (f->has_path)
		return ftext_wrong(&t->l, e, "the flow has an FPT already.");
	if ((rc = ftext_way(t, &w, e)) < 0)
		return rc;
	if (w.from != f->first || w.to != f->last)
		return ftext_wrong(&t->l, e,
		    "FPT must lead from HOP1 to HOPN of its FID.");
	if (w.n + 2 > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": with the links of hosts the path has %u links; there "
		    "may be %d.",
		    t->l.path, t->l.number, w.n + 2, TOPO_MAX_HOPS);
	if ((rc = obs_paths_between(&t->x->paths, &t->x->topo, w.from, w.to,
		 &f->set, e)) < 0)
		return sim_wrap(e, rc, "%s:%" PRIu64, t->l.path, t->l.number);
	f->path = ftext_find(&t->x->paths, f->set, &w);
	if (f->path == OBS_NO_PATH)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": the path is none of the %u equal ones from %s to %s.",
		    t->l.path, t->l.number, obs_set_size(&t->x->paths, f->set),
		    t->l.word[1], t->l.word[t->l.n - 1]);
	f->has_path = 1;
	return 0;
}

static int ftext_snapshot(struct ftext_trace *t, struct sim_err *e)
{
	const struct xp_flock_lines *l = &t->l;
	struct ftext_flow *f = &t->flow;
	double t_ms, random;
	uint32_t n_sent, n_lost;
	int rc;
	if (!f->has_path)
		return ftext_wrong(l, e, "SS stands before its flow's FPT.");
	if ((rc = xp_flock_wants(l, 5, "SS T_MS SENT LOST RANDOM", e)) < 0 ||
	    (rc = xp_flock_f64(l, 1, "T_MS", 0, 1e15, &t_ms, e)) < 0 ||
	    (rc = xp_flock_u32(l, 2, "SENT", 0, UINT32_MAX, &n_sent, e)) < 0 ||
	    (rc = xp_flock_u32(l, 3, "LOST", 0, n_sent, &n_lost, e)) < 0 ||
	    (rc = xp_flock_f64(l, 4, "RANDOM", -1e300, 1e300, &random, e)) < 0)
		return rc;
	if (f->n_snapshots++ > 0 &&
	    (t_ms < f->t_ms || n_sent < f->n_sent || n_lost < f->n_lost))
		return ftext_wrong(l, e,
		    "T_MS, SENT or LOST is less than in the flow's snapshot "
		    "before; they are sums since it began.");
	f->t_ms = t_ms;
	f->n_sent = n_sent;
	f->n_lost = n_lost;
	if (!(t_ms < t->asks->until_ms))
		return 0;
	f->counts = 1;
	f->use_sent = isnan(t->asks->late_us) ? n_sent : 1;
	f->use_lost =
	    isnan(t->asks->late_us) ? n_lost : random > t->asks->late_us;
	return 0;
}

/* --- a flow that is whole --------------------------------------------------*/

static int ftext_put_window(struct ftext_trace *t, struct obs_tally *row,
    int traced, struct sim_err *e)
{
	const struct obs_paths *p = &t->x->paths;
	const unsigned n = obs_path_length(p, t->flow.path);
	topo_link way[TOPO_MAX_HOPS];
	const struct obs_flow f = {.src_host = t->flow.src,
	    .dst_host = t->flow.dst,
	    .n_pkts = row->n_sent,
	    .n_retx = row->n_lost};
	way[0] = row->up;
	if (n > 0)
		memcpy(way + 1, p->link + p->off[t->flow.path],
		    n * sizeof(way[0]));
	way[n + 1] = row->down;
	for (unsigned i = 0; !traced && i < n + 2; i++)
		way[i] = TOPO_NONE;
	row->flow = (uint32_t)t->x->window.flows.n;
	return obs_add_flow(&t->x->window, &f, way, n + 2, e);
}

static int ftext_put_row(struct ftext_trace *t, int is_probe, struct sim_err *e)
{
	const struct ftext_flow *f = &t->flow;
	const struct topo *topo = &t->x->topo;
	const unsigned kinds = t->asks->telemetry;
	struct obs_tally row = {.up = TOPO_NONE,
	    .down = TOPO_NONE,
	    .set = f->set,
	    .path = f->path,
	    .n_sent = f->use_sent,
	    .n_lost = f->use_lost,
	    .flow = UINT32_MAX,
	    .is_probe = (uint8_t)is_probe};
	int rc;
	if (f->src < topo->n_hosts)
		row.up = topo_link_of(f->src, TOPO_UP);
	if (f->dst < topo->n_hosts)
		row.down = topo_link_of(f->dst, TOPO_DOWN);
	if (is_probe)
		return kinds & OBS_TELE_A1
		    ? obs_tallies_add(&t->x->rows, &row, e)
		    : 0;
	t->x->window.n_flows++;
	t->x->window.n_packets += row.n_sent;
	const int traced =
	    kinds & OBS_TELE_INT || (kinds & OBS_TELE_A2 && row.n_lost > 0);
	if (row.n_lost > 0 && (rc = ftext_put_window(t, &row, traced, e)) < 0)
		return rc;
	if (!traced)
		row.path = OBS_NO_PATH;
	return traced || kinds & OBS_TELE_P
	    ? obs_tallies_add(&t->x->rows, &row, e)
	    : 0;
}

static int ftext_end_flow(struct ftext_trace *t, struct sim_err *e)
{
	const struct ftext_flow *f = &t->flow;
	const uint32_t n_hosts = t->x->topo.n_hosts;
	const int is_probe = f->src >= n_hosts || f->dst >= n_hosts;
	if (f->line == 0)
		return 0;
	if (!f->has_path || f->n_snapshots == 0)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64 ": the flow has no %s line: the file is cut.",
		    t->l.path, f->line, f->has_path ? "SS" : "FPT");
	t->x->n_probes += (uint64_t)is_probe;
	if (!f->counts) {
		t->x->n_early++;
		return 0;
	}
	if (f->use_sent == 0) {
		t->x->n_idle++;
		return 0;
	}
	return ftext_put_row(t, is_probe, e);
}

/* --- lines -----------------------------------------------------------------*/

static const char *const ftext_words[] = {"Failing_link", "Failing_device_link",
    "FP", "FID", "FPT", "FPRT", "SS", NULL};
enum { FT_FAIL, FT_FAIL_DEVICE, FT_FP, FT_FID, FT_FPT, FT_FPRT, FT_SS };

static int ftext_stage(struct ftext_trace *t, enum ftext_stage to,
    struct sim_err *e)
{
	if (to < t->stage)
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": %s is too late: all Failing_link come first, then all "
		    "FP, then flows.",
		    t->l.path, t->l.number, t->l.word[0]);
	t->stage = to;
	return 0;
}

static int ftext_line(struct ftext_trace *t, struct sim_err *e)
{
	const size_t word = sim_word_find(ftext_words, t->l.word[0]);
	char buf[64];
	int rc;
	if (word >= FT_FPT && word <= FT_SS && t->flow.line == 0)
		return ftext_wrong(&t->l, e,
		    "FPT, FPRT and SS belong behind the FID of their flow.");
	switch (word) {
	case FT_FAIL:
	case FT_FAIL_DEVICE:
		rc = ftext_stage(t, FTEXT_TRUTH, e);
		return rc < 0 ? rc
			      : ftext_truth_line(&t->truth, &t->l, &t->ids,
				    word == FT_FAIL_DEVICE, e);
	case FT_FP:
		rc = ftext_stage(t, FTEXT_PATHS, e);
		return rc < 0 ? rc : ftext_equal_path(t, e);
	case FT_FID:
		if (t->stage != FTEXT_FLOWS && (rc = ftext_regroup(t, e)) < 0)
			return rc;
		if ((rc = ftext_stage(t, FTEXT_FLOWS, e)) < 0 ||
		    (rc = ftext_end_flow(t, e)) < 0)
			return rc;
		return ftext_begin(t, e);
	case FT_FPT:
		return ftext_took(t, e);
	case FT_FPRT:
		return 0;
	case FT_SS:
		return ftext_snapshot(t, e);
	default:
		return sim_fail(e, SIM_EPARSE,
		    "%s:%" PRIu64
		    ": %s begins no line of a trace; Failing_link, "
		    "Failing_device_link, FP, FID, FPT, FPRT and SS do.",
		    t->l.path, t->l.number, sim_quote(buf, t->l.word[0]));
	}
}

static int ftext_read(struct ftext_trace *t, struct sim_err *e)
{
	int rc;
	while ((rc = xp_flock_next(&t->l, e)) == 0 && t->l.n > 0)
		if ((rc = ftext_line(t, e)) < 0)
			return rc;
	t->x->n_lines = t->l.number - 1;
	if (rc < 0 || (rc = ftext_regroup(t, e)) < 0)
		return rc;
	return ftext_end_flow(t, e);
}

/* Read PATH's lines by TAKE. */
static int ftext_file(struct ftext_trace *t, const char *path,
    int (*take)(struct ftext_trace *t, struct sim_err *e), struct sim_err *e)
{
	t->l.path = path;
	t->l.number = 0;
	t->l.at = t->l.end = 0;
	int rc = xp_flock_open(&t->l.file, path, 0, e);
	if (rc == 0)
		rc = take(t, e);
	rc = xp_flock_close(t->l.file, rc, e);
	/* All other errors name it. */
	return rc == SIM_ENOMEM
	    ? sim_wrap(e, rc, "%s:%" PRIu64, path, t->l.number)
	    : rc;
}

static int ftext_holes(struct ftext_trace *t, struct sim_err *e)
{
	int rc;
	while ((rc = xp_flock_next(&t->l, e)) == 0 && t->l.n > 0)
		if ((rc = ftext_hole_line(&t->truth, &t->l, &t->ids, e)) < 0)
			return rc;
	return rc;
}

int xp_flock_read(struct xp_flock *x, const char *edges, const char *trace,
    const struct xp_flock_asks *asks, struct sim_err *e)
{
	struct ftext_trace *t;
	int rc = SIM_ZALLOC(&t, 1, e);
	*x = (struct xp_flock){0};
	if (rc < 0)
		return rc;
	t->x = x;
	t->asks = asks;
	t->truth.x = x;
	if ((rc = xp_flock_topo_read(&x->topo, edges, e)) == 0 &&
	    (rc = xp_flock_ids_init(&t->ids, &x->topo, e)) == 0 &&
	    (rc = ftext_file(t, trace, ftext_read, e)) == 0 && asks->fails)
		rc = ftext_file(t, asks->fails, ftext_holes, e);
	if (rc == 0)
		rc = ftext_truth_end(&t->truth, trace, e);
	x->rows.paths = &x->paths;
	x->rows.telemetry = asks->telemetry;
	x->window.tallies = &x->rows;
	ftext_truth_free(&t->truth);
	xp_flock_ids_free(&t->ids);
	free(t->late);
	free(t);
	if (rc < 0)
		xp_flock_free(x);
	return rc;
}

void xp_flock_free(struct xp_flock *x)
{
	topo_close(&x->topo);
	obs_paths_free(&x->paths);
	obs_tallies_free(&x->rows);
	obs_free(&x->window);
	truth_free(&x->truth);
	free(x->device);
	free(x->hole);
	*x = (struct xp_flock){0};
}
