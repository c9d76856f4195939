/* results/epoch.c -- one epoch as a file: written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading is in epoch_read.c.
 */
#include "results/epoch.h"

#include <stdlib.h>
#include <string.h>

#include "results/epoch_parts.h"
#include "results/provenance.h"
#include "sim/vec.h"

#define X(NAME, group, table, rows) {#group, res_epoch_##table##s_kind, rows},
const struct res_epoch_table res_epoch_tables[] = {RES_EPOCH_TABLES(X)};
#undef X

/* --- columns ---------------------------------------------------------------*/

static const char *const node_kinds[] = {"host", "switch", NULL};
static const char *const fault_kinds[] = {"drop", "delay", "of_hole", NULL};
static const char *const laws[] = {"constant", "exponential", "lognormal",
    "load", NULL};
static const char *const outage_kinds[] = {"host_off", "pod_off", "controller",
    "collector", NULL};
static const char *const outage_modes[] = {"down", "slow", "empty", "garbage",
    NULL};
static const char *const no_yes[] = {"no", "yes", NULL};

/* What a list of columns cannot say. By names, as each object file has its own
 * copy of a table's kind. */
static const struct more {
	const char *table, *column;
	const char *const *words;
	uint8_t optional;
} more[] = {
    {"nodes", "kind", node_kinds, 0},
    {"nodes", "tier", NULL, 1},
    {"nodes", "name", NULL, 1},
    {"links", "class", topo_class_names, 1},
    {"flows", "start_ns", NULL, 1},
    {"flows", "src_port", NULL, 1},
    {"flows", "dst_port", NULL, 1},
    {"flows", "srtt_us", NULL, 1},
    {"flows", "count_off", NULL, 1},
    {"flows", "failed", no_yes, 1},
    {"flows", "in_window", no_yes, 1},
    {"flow_truth", "culprit_switch", NULL, 1},
    {"flow_truth", "culprit_released_switch", NULL, 1},
    {"hop_truth", "buffer", NULL, 1},
    {"faults", "kind", fault_kinds, 0},
    {"faults", "law", laws, 0},
    {"outages", "kind", outage_kinds, 0},
    {"outages", "mode", outage_modes, 0},
};

void res_epoch_columns(enum res_epoch_which which, const struct sim_table *kind,
    struct sim_column col[])
{
	const char *table = res_epoch_tables[which].name;
	for (size_t i = 0; i < kind->n_columns; i++) {
		col[i] = kind->column[i];
		for (size_t k = 0; k < sizeof(more) / sizeof(more[0]); k++)
			if (strcmp(more[k].table, table) == 0 &&
			    strcmp(more[k].column, col[i].name) == 0) {
				col[i].words = more[k].words;
				col[i].optional = more[k].optional;
			}
	}
}

/* --- writing ---------------------------------------------------------------*/

struct res_epoch_out {
	struct res_h5_out *file;
	struct res_h5_table_out *table[RES_EPOCH_N_TABLES]; /* NULL: left out */
	struct sim_column col[RES_EPOCH_N_TABLES][RES_MAX_COLUMNS];
	struct topo_clos clos; /* n_pods 0: the network is none */
	uint64_t n_flows, n_hops;
	uint32_t telemetry;
};

static int epoch_put_row(struct res_epoch_out *w, enum res_epoch_which to,
    const void *row, size_t bytes, struct sim_err *e)
{
	return res_h5_out_rows(w->table[to], row, bytes, 1, e);
}
#define PUT(w, to, row, e) epoch_put_row((w), (to), (row), sizeof(*(row)), (e))

static int epoch_put_nodes(struct res_epoch_out *w, const struct topo *t,
    struct sim_err *e)
{
	int rc = 0;
	for (topo_node n = 0; rc == 0 && n < t->n_hosts + t->n_switches; n++) {
		const int is_host = n < t->n_hosts;
		struct res_epoch_node row = {.kind = !is_host,
		    .tier =
			is_host ? TOPO_NONE : topo_tier_of(t, n - t->n_hosts)};
		topo_node_name(t, n, row.name.text);
		rc = PUT(w, RES_EPOCH_NODES, &row, e);
	}
	return rc;
}

static int epoch_put_links(struct res_epoch_out *w, const struct topo *t,
    struct sim_err *e)
{
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < t->n_links; l++) {
		struct res_epoch_link row = {
		    .class = (uint8_t)topo_class_of(t, l)};
		topo_link_ends(t, l, &row.from, &row.to);
		topo_link_name(t, l, row.name.text);
		rc = PUT(w, RES_EPOCH_LINKS, &row, e);
	}
	return rc;
}

/* Planes of which epochs are written have none of these faults. */
static int refuse_rare(struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "A file of an epoch has no tables for what switches and servers "
	    "route wrongly, and for queues that come and go.");
}

static int put_faults(struct res_epoch_out *w, const struct truth *t,
    struct sim_err *e)
{
	int rc = t->n_routes > 0 ? refuse_rare(e) : 0;
	for (size_t i = 0; rc == 0 && i < t->n_faults; i++) {
		const struct truth_fault *f = &t->fault[i];
		if (f->of_route || f->law == TRUTH_BURST)
			return refuse_rare(e);
		const struct res_epoch_fault row = {
		    .link = f->link,
		    .kind = f->of_hole     ? RES_EPOCH_OF_HOLE
			: truth_is_slow(f) ? RES_EPOCH_DELAY
					   : RES_EPOCH_DROP,
		    .rate = f->rate,
		    .delay_us = f->delay_us,
		    .shape = f->shape,
		    .law = (uint8_t)f->law,
		    .from_ns = f->from_ns,
		    .to_ns = f->to_ns,
		};
		rc = PUT(w, RES_EPOCH_FAULTS, &row, e);
	}
	return rc;
}

static int put_holes(struct res_epoch_out *w, const struct truth *t,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_holes; i++) {
		const struct truth_hole *h = &t->hole[i];
		const struct res_epoch_hole row = {h->at, (uint8_t)h->rule.type,
		    h->rule.below, h->rule.salt, h->from_ns, h->to_ns};
		rc = PUT(w, RES_EPOCH_HOLES, &row, e);
	}
	return rc;
}

static int put_outages(struct res_epoch_out *w, const struct truth *t,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_outages; i++) {
		const struct truth_outage *o = &t->outage[i];
		if (o->kind > TRUTH_COLLECTOR)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "A file of an epoch has no words for muxes that "
			    "loop, pause storms and BGP sessions that flap.");
		const struct res_epoch_outage row = {(uint8_t)o->kind,
		    (uint8_t)o->mode, o->id, o->from_ns, o->to_ns, o->delay_us};
		rc = PUT(w, RES_EPOCH_OUTAGES, &row, e);
	}
	return rc;
}

/* Failed switches keep their order, by which ties of scores are broken. */
static int epoch_put_switches(struct res_epoch_out *w, const struct truth *t,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_switches; i++) {
		const struct res_epoch_switch row = {t->failed_switch[i]};
		rc = PUT(w, RES_EPOCH_FAILED_SWITCHES, &row, e);
	}
	for (size_t i = 0; rc == 0 && i < t->n_parts; i++) {
		const struct res_epoch_part row = {t->part[i].link,
		    t->part[i].of};
		rc = PUT(w, RES_EPOCH_FAILED_LINKS, &row, e);
	}
	return rc;
}

static int epoch_put_truth(struct res_epoch_out *w, const struct truth *t,
    struct sim_err *e)
{
	int rc;
	if ((rc = put_faults(w, t, e)) < 0 || (rc = put_holes(w, t, e)) < 0 ||
	    (rc = put_outages(w, t, e)) < 0)
		return rc;
	return epoch_put_switches(w, t, e);
}

static int epoch_make(struct res_epoch_out *w, unsigned from, unsigned to,
    struct sim_err *e)
{
	int rc = 0;
	for (unsigned i = from; rc == 0 && i < to; i++) {
		const struct res_epoch_table *t = &res_epoch_tables[i];
		const struct sim_table *kind = t->kind();
		res_epoch_columns(i, kind, w->col[i]);
		rc = res_h5_out_table(w->file, t->name, w->col[i],
		    kind->n_columns, t->chunk_rows, &w->table[i], e);
	}
	return rc;
}

static int epoch_make_tables(struct res_epoch_out *w, int with_truth,
    struct sim_err *e)
{
	return epoch_make(w, 0,
	    with_truth ? RES_EPOCH_FIRST_TALLY : RES_EPOCH_FIRST_TRUTH, e);
}

int res_epoch_create(struct res_epoch_out **out, const char *path,
    const struct topo *t, const struct truth *truth, struct sim_err *e)
{
	const struct res_epoch_offset first = {0};
	struct res_epoch_out *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	if (topo_is_clos(t))
		w->clos = t->clos;
	if ((rc = res_h5_out_open(&w->file, path, e)) < 0 ||
	    (rc = epoch_make_tables(w, truth != NULL, e)) < 0 ||
	    (rc = epoch_put_nodes(w, t, e)) < 0 ||
	    (rc = epoch_put_links(w, t, e)) < 0 ||
	    (rc = PUT(w, RES_EPOCH_OFFSETS, &first, e)) < 0 ||
	    (truth && (rc = epoch_put_truth(w, truth, e)) < 0)) {
		res_epoch_discard(w);
		return rc;
	}
	*out = w;
	return 0;
}

static int put_hops(struct res_epoch_out *w, const struct res_epoch_row *r,
    uint64_t *n_drops, struct sim_err *e)
{
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < r->n_hops; i++) {
		const struct res_epoch_hop seen = {r->seen_link[i]};
		if ((rc = PUT(w, RES_EPOCH_HOPS, &seen, e)) < 0 ||
		    !w->table[RES_EPOCH_HOP_TRUTH])
			continue;
		const struct res_epoch_hop_truth was = {r->link[i], r->drops[i],
		    r->buffer ? r->buffer[i] : 0};
		rc = PUT(w, RES_EPOCH_HOP_TRUTH, &was, e);
		*n_drops += r->drops[i];
	}
	w->n_hops += r->n_hops;
	return rc;
}

int res_epoch_add(struct res_epoch_out *w, const struct res_epoch_row *r,
    struct sim_err *e)
{
	const struct obs_flow *f = &r->seen;
	const struct res_epoch_flow flow = {
#define X(type, name, unit, doc) .name = f->name,
	    OBS_FLOW_COLUMNS(X)
#undef X
		.failed = f->n_retx > 0,
	    .in_window = r->in_window,
	};
	uint64_t n_drops = 0;
	int rc;
	if ((rc = PUT(w, RES_EPOCH_FLOWS, &flow, e)) < 0 ||
	    (rc = put_hops(w, r, &n_drops, e)) < 0)
		return rc;
	const struct res_epoch_offset end = {(int64_t)w->n_hops};
	w->n_flows++;
	if ((rc = PUT(w, RES_EPOCH_OFFSETS, &end, e)) < 0 ||
	    !w->table[RES_EPOCH_FLOW_TRUTH])
		return rc;
	const struct res_epoch_flow_truth truth = {r->n_retx, n_drops,
	    r->culprit.most, r->culprit.released, r->culprit.most_switch,
	    r->culprit.released_switch};
	return PUT(w, RES_EPOCH_FLOW_TRUTH, &truth, e);
}

static int put_sets(struct res_epoch_out *w, const struct obs_paths *p,
    struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < p->n_sets; i++) {
		const struct res_epoch_set row = {p->from[i], p->to[i],
		    obs_set_size(p, i)};
		rc = PUT(w, RES_EPOCH_SETS, &row, e);
	}
	for (uint32_t i = 0; rc == 0 && i < p->n; i++) {
		const struct res_epoch_path row = {obs_path_length(p, i)};
		rc = PUT(w, RES_EPOCH_PATHS, &row, e);
	}
	for (uint32_t i = 0; rc == 0 && p->n > 0 && i < p->off[p->n]; i++) {
		const struct res_epoch_path_link row = {p->link[i]};
		rc = PUT(w, RES_EPOCH_PATH_LINKS, &row, e);
	}
	return rc;
}

int res_epoch_add_tallies(struct res_epoch_out *w, const struct obs_tallies *t,
    struct sim_err *e)
{
	int rc = epoch_make(w, RES_EPOCH_FIRST_TALLY, RES_EPOCH_N_TABLES, e);
	w->telemetry = t->telemetry;
	if (rc == 0)
		rc = put_sets(w, t->paths, e);
	return rc < 0 ? rc
		      : res_h5_out_append(w->table[RES_EPOCH_TALLIES],
			    obs_tallies_kind(), t, e);
}

/* --- what it says of itself ------------------------------------------------*/

static int epoch_put_info(struct res_epoch_out *w,
    const struct res_epoch_info *info, struct sim_err *e)
{
	const struct topo_clos *c = &w->clos;
	const uint64_t shape[RES_EPOCH_SHAPE] = {c->n_pods, c->n_tors, c->n_t1,
	    c->n_t2, c->n_hosts};
	const struct {
		const char *name;
		uint64_t value;
	} count[] = {
	    {"epoch_version", RES_EPOCH_VERSION},
	    {"n_flows", info->n_flows},
	    {"n_packets", info->n_packets},
	    {"all_flows", info->all_flows},
	    {"all_seen", info->all_seen},
	    {"complete", info->complete},
	    {"own_culprits", info->own_culprits},
	    {"has_buffer", info->has_buffer},
	    {"seed", info->seed},
	    {"point", info->point},
	    {"run", info->run},
	    {"tie_point", info->tie_point},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(count) / sizeof(count[0]); i++)
		rc = res_h5_out_counts(w->file, count[i].name, 0,
		    &count[i].value, e);
	const uint64_t telemetry = w->telemetry;
	if (rc == 0 && telemetry)
		rc = res_h5_out_counts(w->file, "telemetry", 0, &telemetry, e);
	if (rc == 0 && c->n_pods > 0)
		rc = res_h5_out_counts(w->file, "clos", RES_EPOCH_SHAPE, shape,
		    e);
	if (rc < 0 ||
	    (rc = res_h5_out_text(w->file, "spec", info->spec ? info->spec : "",
		 e)) < 0 ||
	    (rc = res_h5_out_text(w->file, "plane",
		 info->plane ? info->plane : "", e)) < 0)
		return rc;
	return res_h5_out_text(w->file, "culprit",
	    info->culprit ? info->culprit : res_version(), e);
}

int res_epoch_finish(struct res_epoch_out *w, const struct res_epoch_info *info,
    struct sim_err *e)
{
	int rc = epoch_put_info(w, info, e);
	if (rc == 0) {
		/* It is closed by the call, also when that fails. */
		struct res_h5_out *file = w->file;
		w->file = NULL;
		rc = res_h5_out_finish(file, e);
	}
	res_epoch_discard(w);
	return rc;
}

void res_epoch_discard(struct res_epoch_out *w)
{
	if (!w)
		return;
	res_h5_out_discard(w->file);
	free(w);
}
