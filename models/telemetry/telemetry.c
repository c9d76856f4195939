/* models/telemetry/telemetry.c -- flows as sums: sizes, ends, paths, losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/telemetry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/telemetry/late.h"
#include "models/telemetry/sets.h"
#include "sim/vec.h"
#include "topo/addr.h"

#define FIELD(m) offsetof(struct telemetry_params, m)

enum { TELEMETRY_PORT = 443 };

static const char *const telemetry_names[] = {
#define X(bit, name, text) name,
    OBS_TELEMETRIES(X)
#undef X
	NULL};

const struct sim_field telemetry_fields[] = {
    {"kinds", SIM_F_SET, FIELD(kinds), .names = telemetry_names,
	.def = "[a1, a2, p]",
	.doc = "int: every flow, with its path; a1: probes; a2: flows that "
	       "lost something, with their paths; p: every flow, by its equal "
	       "paths"},
    {"flows", SIM_F_U32, FIELD(flows), .min = 0, .max = 1e6, .unit = "flows",
	.def = "100", .doc = "that each host begins"},
    {"mean", SIM_F_F64, FIELD(mean), .min = 1, .max = 1e12, .unit = "bytes",
	.def = "204800", .doc = "of sizes, before any is cut off"},
    {"shape", SIM_F_F64, FIELD(shape), .min = 1.001, .max = 100, .unit = "1",
	.def = "1.05", .doc = "of the Pareto law of sizes"},
    {"most", SIM_F_F64, FIELD(most), .min = 1, .max = 1e12, .unit = "bytes",
	.def = "104857600", .doc = "a larger size is drawn again"},
    {"segment", SIM_F_U32, FIELD(segment), .min = 1, .max = 65535,
	.unit = "bytes", .def = "1500", .doc = "of a packet"},
    {"busy", SIM_F_F64, FIELD(busy), .min = 0, .max = 1, .unit = "1",
	.def = "0", .doc = "share of racks that are busy, rounded down"},
    {"busy_share", SIM_F_F64, FIELD(busy_share), .min = 0, .max = 1,
	.unit = "1", .def = "0.5", .when = "busy!=0",
	.doc = "share of the ends of flows that are in busy racks"},
    {"probe_packets", SIM_F_U32, FIELD(probe_packets), .min = 1, .max = 1e6,
	.unit = "packets", .def = "40",
	.doc = "of a1, from each host to each top switch, and back"},
    {"answers", SIM_F_BOOL, FIELD(trace.answers), .def = "false",
	.doc = "what measures is lost, too: a probe of a1 is one row, there "
	       "and back, and a traceroute that lacks an answer of a switch "
	       "between the ToRs tells no path"},
    {"unknown", SIM_F_F64, FIELD(trace.unknown), .min = 0, .max = 1,
	.unit = "1", .def = "0",
	.doc = "share of paths of flows that are not told"},
    {0},
};

void telemetry_free(struct telemetry *t)
{
	obs_paths_free(&t->paths);
	obs_tallies_free(&t->rows);
	telemetry_links_free(&t->links);
	telemetry_traces_free(&t->traces);
	obs_paths_free(&t->legs);
	obs_paths_free(&t->legs_as_is);
	obs_paths_free(&t->ways);
	free(t->host);
	free(t->top);
	*t = (struct telemetry){0};
}

unsigned telemetry_holds(unsigned kinds)
{
	unsigned parts = OBS_TALLIES;
	if (kinds & (OBS_TELE_INT | OBS_TELE_A1))
		parts |= OBS_TALLIES_RATED;
	if (kinds & OBS_TELE_A1)
		parts |= OBS_TALLIES_PROBED;
	/* Of a2 flows that lost nothing have rows if another kind has them. */
	if (kinds & (OBS_TELE_INT | OBS_TELE_P) || !(kinds & OBS_TELE_A2))
		parts |= OBS_TALLIES_WHOLE;
	if (kinds & (OBS_TELE_INT | OBS_TELE_A2))
		parts |= OBS_TALLIES_TRACED | OBS_FLOWS | OBS_HOPS;
	return parts;
}

/* --- what an epoch is drawn from ------------------------------------------ */

/* Put the hosts of RACK of the N_TORS first, which are in order, behind the
 * first N_BUSY. */
static void telemetry_put_rack(struct telemetry *t, const struct topo *topo,
    topo_switch rack)
{
	for (uint32_t i = t->n_busy; i < topo->n_hosts; i++)
		if (topo_tor_of(topo, t->host[i]) == rack) {
			const topo_host h = t->host[i];
			t->host[i] = t->host[t->n_busy];
			t->host[t->n_busy++] = h;
		}
}

/* Busy racks are those of hosts drawn at random, so that a rack of many hosts is
 * busy more often; in networks whose racks are alike that is any rack alike. */
static int telemetry_busy(struct telemetry *t, const struct telemetry_params *p,
    const struct topo *topo, struct sim_rng *r, struct sim_err *e)
{
	uint32_t n_tors = 0;
	const int rc = SIM_RESERVE(&t->host, &t->cap_host, topo->n_hosts, e);
	if (rc < 0)
		return rc;
	for (topo_host h = 0; h < topo->n_hosts; h++) {
		t->host[h] = h;
		n_tors +=
		    h == 0 || topo_tor_of(topo, h) != topo_tor_of(topo, h - 1);
	}
	t->n_busy = 0;
	for (uint32_t k = (uint32_t)(p->busy * n_tors);
	     k > 0 && t->n_busy < topo->n_hosts; k--) {
		const uint32_t i =
		    t->n_busy + sim_rng_below(r, topo->n_hosts - t->n_busy);
		telemetry_put_rack(t, topo, topo_tor_of(topo, t->host[i]));
	}
	return 0;
}

static topo_host telemetry_end(const struct telemetry *t,
    const struct telemetry_params *p, uint32_t n_hosts, struct sim_rng *r)
{
	if (t->n_busy == 0 || t->n_busy == n_hosts)
		return t->host[sim_rng_below(r, n_hosts)];
	return sim_rng_u01(r) < p->busy_share
	    ? t->host[sim_rng_below(r, t->n_busy)]
	    : t->host[t->n_busy + sim_rng_below(r, n_hosts - t->n_busy)];
}

static struct telemetry_sets telemetry_told_sets(struct telemetry *t,
    const struct topo *topo)
{
	return (struct telemetry_sets){t->file ? t->file : topo, &t->paths,
	    &t->legs, &t->has_all, &t->too_many};
}

static struct telemetry_sets telemetry_true_sets(struct telemetry *t,
    const struct topo *topo)
{
	return t->file ? (struct telemetry_sets){topo, &t->ways, &t->legs_as_is,
			     &t->has_all_ways, &t->too_many_ways}
		       : telemetry_told_sets(t, topo);
}

/* --- one flow ------------------------------------------------------------- */

struct telemetry_draw {
	struct telemetry *t;
	const struct telemetry_params *p;
	const struct scene *scene;
	struct telemetry_sets is, told;
	sim_ns end; /* of the epoch */
	int thin;   /* not all paths are told */
	struct sim_rng *r, apart, late;
	struct obs *w;
	struct losses *lost;
};

static uint32_t telemetry_size(const struct telemetry_params *p,
    struct sim_rng *r)
{
	const double least = p->mean * (p->shape - 1) / p->shape;
	double bytes;
	if (least >= p->most)
		bytes = p->most;
	else
		do
			bytes = least * pow(1 - sim_rng_u01(r), -1 / p->shape);
		while (bytes > p->most);
	const double n = ceil(bytes / p->segment);
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* The links of a row's way, ROW->path being the one it took. */
static void telemetry_take(const struct obs_paths *p,
    const struct obs_tally *row, struct telemetry_way *w)
{
	const unsigned n = obs_path_length(p, row->path);
	w->h = 0;
	if (row->up != TOPO_NONE)
		w->link[w->h++] = row->up;
	memcpy(w->link + w->h, p->link + p->off[row->path],
	    n * sizeof(w->link[0]));
	w->h += n;
	if (row->down != TOPO_NONE)
		w->link[w->h++] = row->down;
}

/* When a flow begins, and its header. Ports are as of a connection's client and a
 * server of one service. */
static void telemetry_begin(struct telemetry_draw *d, topo_host src,
    topo_host dst, struct telemetry_way *w)
{
	w->at = 0;
	w->tuple = (struct topo_tuple){0};
	if (!d->t->links.some_move && !telemetry_traces_timed(&d->p->trace))
		return;
	w->at = telemetry_time(&d->apart, d->end);
	w->tuple = (struct topo_tuple){
	    .src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst),
	    .src_port = (uint16_t)(sim_rng_u32(&d->apart) | 1024),
	    .dst_port = TELEMETRY_PORT,
	    .proto = TOPO_PROTO_TCP,
	};
}

/* What is told of the path: KNOWN[w->h] of which links. */
static enum telemetry_told telemetry_tell(struct telemetry_draw *d,
    const struct obs_tally *row, const struct telemetry_way *w, uint8_t known[])
{
	const int self = (d->p->kinds & OBS_TELE_INT) != 0,
		  traced = d->p->kinds & OBS_TELE_A2 && row->n_lost > 0;
	memset(known, self || traced, w->h);
	if (!self && !traced)
		return TELEMETRY_NOT_TOLD;
	if (!d->thin)
		return TELEMETRY_WHOLE;
	return telemetry_trace(&d->t->traces, row->up / 2, w, self, known);
}

/* What the file makes of a way whose links are KNOWN: TOLD[w->h], and the row's set
 * and path. */
static int telemetry_by_file(struct telemetry_draw *d, struct obs_tally *row,
    const struct telemetry_way *w, topo_link told[], struct sim_err *e)
{
	const struct telemetry_sets *x = &d->told;
	int all = 1;
	const int rc = obs_paths_between(x->paths, x->topo,
	    topo_tor_of(x->topo, row->up / 2),
	    topo_tor_of(x->topo, row->down / 2), &row->set, e);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < w->h; i++) {
		topo_node from, to;
		topo_link_ends(d->is.topo, w->link[i], &from, &to);
		if (told[i] != TOPO_NONE)
			told[i] = topo_link_between(x->topo, from, to);
		all &= told[i] != TOPO_NONE;
	}
	row->path = all
	    ? telemetry_sets_find(x->paths, row->set, told + 1, w->h - 2)
	    : OBS_NO_PATH;
	return 0;
}

/* Where paths are not told hops are not known, and the losses then tell them. So
 * that arrays stay parallel the losses tell all, if any may be missing. */
static int telemetry_put_flow(struct telemetry_draw *d,
    const struct obs_tally *row, const struct telemetry_way *w,
    const topo_link told[], uint32_t us, struct sim_err *e)
{
	const int all = d->p->kinds & (OBS_TELE_INT | OBS_TELE_A2) &&
	    !d->thin && !d->t->file;
	const struct obs_flow f = {.start_ns = (uint64_t)w->at,
	    .src_host = row->up / 2,
	    .dst_host = row->down / 2,
	    .src_port = w->tuple.src_port,
	    .dst_port = w->tuple.dst_port,
	    .n_pkts = row->n_sent,
	    .srtt_us = us,
	    .n_retx = row->n_lost};
	int rc;
	if ((rc = obs_add_flow(d->w, &f, told, w->h, e)) < 0 ||
	    (rc = losses_add_hops(d->lost, w->drops, w->full.drops, w->h, e)) <
		0)
		return rc;
	return all ? 0 : losses_add_path(d->lost, w->link, w->h, e);
}

/* What the flow loses; or, where rows tell times, whether it is late. */
static void telemetry_run(struct telemetry_draw *d, struct obs_tally *row,
    struct telemetry_way *w, uint32_t *us)
{
	const struct telemetry_links *x = &d->t->links;
	if (!telemetry_times(d->scene)) {
		row->n_lost = telemetry_lose(x, d->r, row->n_sent, w);
		return;
	}
	row->n_lost = (uint32_t)telemetry_late(x, &d->late, row->n_sent, w, us);
	row->n_sent = 1;
}

static int telemetry_flow(struct telemetry_draw *d, struct sim_err *e)
{
	const struct topo *topo = d->scene->topo;
	struct telemetry *t = d->t;
	const topo_host src = telemetry_end(t, d->p, topo->n_hosts, d->r);
	topo_host dst;
	struct telemetry_way way;
	uint8_t known[TOPO_MAX_HOPS];
	topo_link link[TOPO_MAX_HOPS];
	enum telemetry_told told;
	uint32_t us = 0;
	int rc;
	do
		dst = telemetry_end(t, d->p, topo->n_hosts, d->r);
	while (dst == src);
	struct obs_tally row = {.up = topo_link_of(src, TOPO_UP),
	    .down = topo_link_of(dst, TOPO_DOWN),
	    .n_sent = telemetry_size(d->p, d->r),
	    .flow = UINT32_MAX};
	if ((rc = obs_paths_between(d->is.paths, topo, topo_tor_of(topo, src),
		 topo_tor_of(topo, dst), &row.set, e)) < 0)
		return rc;
	row.path = d->is.paths->first[row.set] +
	    sim_rng_below(d->r, obs_set_size(d->is.paths, row.set));
	telemetry_take(d->is.paths, &row, &way);
	telemetry_begin(d, src, dst, &way);
	telemetry_run(d, &row, &way, &us);
	d->w->n_flows++;
	d->w->n_packets += row.n_sent;
	told = telemetry_tell(d, &row, &way, known);
	for (unsigned i = 0; i < way.h && (row.n_lost > 0 || t->file); i++)
		link[i] = known[i] ? way.link[i] : TOPO_NONE;
	if (t->file && (rc = telemetry_by_file(d, &row, &way, link, e)) < 0)
		return rc;
	if (told != TELEMETRY_WHOLE)
		row.path = OBS_NO_PATH;
	if (row.n_lost > 0) {
		row.flow = (uint32_t)d->w->flows.n;
		if ((rc = telemetry_put_flow(d, &row, &way, link, us, e)) < 0)
			return rc;
	}
	return told != TELEMETRY_NOT_TOLD || d->p->kinds & OBS_TELE_P
	    ? obs_tallies_add(&t->rows, &row, e)
	    : 0;
}

/* --- probes --------------------------------------------------------------- */

/* Top switches are those of the highest tier; where tiers are not known, all
 * without hosts. */
static int telemetry_tops(struct telemetry *t, const struct topo *topo,
    struct sim_err *e)
{
	uint32_t top = 0;
	int rc = SIM_RESERVE(&t->top, &t->cap_top, topo->n_switches, e);
	if (rc < 0)
		return rc;
	/* No tier is TOPO_NONE, which is above all. */
	for (topo_switch s = 0; s < topo->n_switches; s++) {
		const uint32_t tier = topo_tier_of(topo, s);
		top = tier > top ? tier : top;
		t->top[s] = 1;
	}
	if (top == TOPO_NONE)
		for (topo_host h = 0; h < topo->n_hosts; h++)
			t->top[topo_tor_of(topo, h)] = 0;
	else
		for (topo_switch s = 0; s < topo->n_switches; s++)
			t->top[s] = topo_tier_of(topo, s) == top;
	return 0;
}

/* The set of probes between host H and top switch S: there, back or, with answers,
 * both ways. */
static int telemetry_probe_set(const struct telemetry_draw *d,
    const struct telemetry_sets *x, topo_host h, topo_switch s,
    enum topo_dir dir, uint32_t *set, struct sim_err *e)
{
	const topo_switch tor = topo_tor_of(x->topo, h);
	if (d->p->trace.answers)
		return telemetry_sets_trips(x, tor, s, set, e);
	return obs_paths_between(x->paths, x->topo, dir == TOPO_UP ? tor : s,
	    dir == TOPO_UP ? s : tor, set, e);
}

/* Hosts of a rack take the paths to one switch in turn. */
static uint32_t telemetry_probe_path(const struct obs_paths *p, uint32_t set,
    topo_host h, topo_switch s)
{
	return p->first[set] + (h + s) % obs_set_size(p, set);
}

/* There or back, each a row of its own; or both as one, as who sent it knows no
 * more. Nothing is lost if there is nothing to draw by. */
static int telemetry_probe(struct telemetry_draw *d, topo_host h, topo_switch s,
    enum topo_dir dir, struct sim_err *e)
{
	const int both = d->p->trace.answers != 0;
	struct obs_tally row = {.up = both || dir == TOPO_UP
		? topo_link_of(h, TOPO_UP)
		: TOPO_NONE,
	    .down = both || dir == TOPO_DOWN ? topo_link_of(h, TOPO_DOWN)
					     : TOPO_NONE,
	    .n_sent = d->p->probe_packets,
	    .flow = UINT32_MAX,
	    .is_probe = 1};
	struct telemetry_way way = {.tuple = {.src_ip = topo_addr_of_host(h),
					.dst_ip = topo_addr_of_host(h),
					.dst_port = TELEMETRY_PORT,
					.proto = TOPO_PROTO_TCP}};
	int rc = telemetry_probe_set(d, &d->is, h, s, dir, &row.set, e);
	if (rc < 0)
		return rc;
	row.path = telemetry_probe_path(d->is.paths, row.set, h, s);
	telemetry_take(d->is.paths, &row, &way);
	row.n_lost = !d->r ? 0
	    : telemetry_times(d->scene)
	    ? telemetry_late_apart(&d->t->links, &d->late, &d->apart, d->end,
		  row.n_sent, &way)
	    : telemetry_lose_apart(&d->t->links, d->r, &d->apart, d->end,
		  row.n_sent, &way);
	if (d->t->file) {
		rc = telemetry_probe_set(d, &d->told, h, s, dir, &row.set, e);
		if (rc < 0)
			return rc;
		row.path = telemetry_probe_path(d->told.paths, row.set, h, s);
	}
	return obs_tallies_add(&d->t->rows, &row, e);
}

static int telemetry_probes(struct telemetry_draw *d, struct sim_err *e)
{
	const struct topo *topo = d->scene->topo;
	int rc = telemetry_tops(d->t, topo, e);
	for (topo_switch s = 0; rc == 0 && s < topo->n_switches; s++)
		for (topo_host h = 0;
		     rc == 0 && d->t->top[s] && h < topo->n_hosts; h++)
			if ((rc = telemetry_probe(d, h, s, TOPO_UP, e)) == 0 &&
			    !d->p->trace.answers)
				rc = telemetry_probe(d, h, s, TOPO_DOWN, e);
	return rc;
}

/* Rows are begun anew; ways that come back are no ways there. */
static void telemetry_rows(struct telemetry_draw *d)
{
	struct telemetry *t = d->t;
	const struct telemetry_params *p = d->p;
	obs_tallies_clear(&t->rows);
	d->is = telemetry_true_sets(t, d->scene->topo);
	d->told = telemetry_told_sets(t, d->scene->topo);
	if (t->bounces != p->trace.answers) {
		telemetry_sets_forget(&d->is);
		telemetry_sets_forget(&d->told);
	}
	t->bounces = (uint8_t)p->trace.answers;
	t->rows.paths = &t->paths;
	t->rows.telemetry = p->kinds;
}

int telemetry_ways(struct telemetry *t, const struct telemetry_params *p,
    const struct topo *topo, struct sim_err *e)
{
	const struct scene scene = {.topo = topo};
	struct telemetry_draw d = {.t = t, .p = p, .scene = &scene};
	telemetry_rows(&d);
	t->rows.telemetry = OBS_TELE_A1;
	return telemetry_probes(&d, e);
}

void telemetry_send(const struct telemetry *t, struct sim_rng *r,
    struct obs_tally *row)
{
	struct telemetry_way way = {.at = 0};
	telemetry_take(&t->paths, row, &way);
	row->n_lost = telemetry_lose(&t->links, r, row->n_sent, &way);
}

/* --- an epoch ------------------------------------------------------------- */

int telemetry_draw(struct telemetry *t, const struct telemetry_params *p,
    const struct scene *scene, struct obs *w, struct losses *lost,
    struct sim_err *e)
{
	struct sim_rng flows, probes;
	struct telemetry_draw d = {.t = t,
	    .p = p,
	    .scene = scene,
	    .thin = telemetry_traces_thin(&p->trace),
	    .end = (sim_ns)(p->window_s * (double)SIM_SEC),
	    .r = &flows,
	    .w = w,
	    .lost = lost};
	const uint64_t n = (uint64_t)scene->topo->n_hosts * p->flows;
	int rc;
	obs_clear(w);
	losses_clear(lost);
	telemetry_rows(&d);
	if (n >= UINT32_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "%u flows of each of %u hosts are too many: all hosts "
		    "together have below 2^32 - 1.",
		    p->flows, scene->topo->n_hosts);
	sim_rng_init(&flows, &scene->where, SIM_STREAM_TELEMETRY, 0);
	sim_rng_init(&probes, &scene->where, SIM_STREAM_TELEMETRY, 1);
	sim_rng_init(&d.apart, &scene->where, SIM_STREAM_TELEMETRY, 2);
	sim_rng_init(&d.late, &scene->where, SIM_STREAM_TELEMETRY, 5);
	lost->has_buffer = (uint8_t)scene_congestion_is_on(&scene->congestion);
	if ((rc = telemetry_links_open(&t->links, scene, d.end, e)) < 0 ||
	    (rc = telemetry_traces_open(&t->traces, &p->trace, &t->links, d.end,
		 e)) < 0 ||
	    (rc = telemetry_sets_all(&d.is, e)) < 0 ||
	    (rc = telemetry_sets_all(&d.told, e)) < 0 ||
	    (rc = telemetry_busy(t, p, scene->topo, &flows, e)) < 0)
		return rc;
	for (uint64_t i = 0; rc == 0 && i < n; i++)
		rc = telemetry_flow(&d, e);
	d.r = &probes;
	sim_rng_init(&d.apart, &scene->where, SIM_STREAM_TELEMETRY, 3);
	sim_rng_init(&d.late, &scene->where, SIM_STREAM_TELEMETRY, 6);
	if (rc == 0 && p->kinds & OBS_TELE_A1)
		rc = telemetry_probes(&d, e);
	w->tallies = &t->rows;
	return rc;
}
