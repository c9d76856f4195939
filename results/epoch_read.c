/* results/epoch_read.c -- an epoch's file read, trusting nothing in it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/epoch.h"
#include "results/epoch_parts.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "topo/mesh.h"

static int open_table(struct res_epoch_reader *r, unsigned which,
    const struct sim_table *kind, struct sim_err *e)
{
	const unsigned of = which == RES_EPOCH_MARKS ? RES_EPOCH_FLOWS : which;
	struct sim_column *col = r->table[which].col;
	res_epoch_columns(of, kind, col);
	return res_h5_in_table(r->file, res_epoch_tables[of].name, col,
	    kind->n_columns, &r->table[which].rows, &r->table[which].n, e);
}

int res_epoch_block(struct res_epoch_reader *r, unsigned which, uint64_t first,
    uint64_t n, const struct sim_table *kind, void *table, struct sim_err *e)
{
	sim_table_clear(kind, table);
	return res_h5_in_append(r->table[which].rows, first, n, kind, table, e);
}

int res_epoch_rows(struct res_epoch_reader *r, unsigned which,
    const struct sim_table *kind, void *table, struct sim_err *e)
{
	const int rc = open_table(r, which, kind, e);
	return rc < 0
	    ? rc
	    : res_epoch_block(r, which, 0, r->table[which].n, kind, table, e);
}

/* --- attributes ------------------------------------------------------------*/

static int get_count(struct res_epoch_reader *r, const char *name,
    uint64_t most, uint64_t *out, struct sim_err *e)
{
	int rc = res_h5_in_has_attr(r->file, name, e);
	*out = 0;
	if (rc > 0)
		rc = res_h5_in_counts(r->file, name, 1, out, e);
	if (rc == 0 && *out > most)
		rc = sim_fail(e, SIM_EPARSE,
		    "attribute %s is %" PRIu64 ", above %" PRIu64 ".", name,
		    *out, most);
	return rc;
}

static int epoch_get_u32(struct res_epoch_reader *r, const char *name,
    uint32_t *out, struct sim_err *e)
{
	uint64_t n;
	const int rc = get_count(r, name, UINT32_MAX, &n, e);
	*out = (uint32_t)n;
	return rc;
}

static int get_flag(struct res_epoch_reader *r, const char *name, uint8_t *out,
    struct sim_err *e)
{
	uint64_t n;
	const int rc = get_count(r, name, 1, &n, e);
	*out = (uint8_t)n;
	return rc;
}

static int get_words(struct res_epoch_reader *r, const char *name, char **own,
    const char **out, struct sim_err *e)
{
	int rc = res_h5_in_has_attr(r->file, name, e);
	if (rc >= 0)
		rc = rc ? res_h5_in_text(r->file, name, own, e)
			: sim_dup(own, "", e);
	*out = *own;
	return rc;
}

static int epoch_get_info(struct res_epoch *x, struct sim_err *e)
{
	struct res_epoch_info *info = &x->info;
	struct res_epoch_reader *r = x->reader;
	uint64_t version;
	int rc = res_h5_in_counts(r->file, "epoch_version", 1, &version, e);
	if (rc < 0)
		return sim_wrap(e, rc, "it is no epoch");
	/* The version is looked at first: with another one all else may
	 * differ. */
	if (version < RES_EPOCH_OLDEST || version > RES_EPOCH_VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "it has epoch version %" PRIu64
		    "; this culprit reads %d to %d.",
		    version, RES_EPOCH_OLDEST, RES_EPOCH_VERSION);
	if ((rc = get_words(r, "spec", &r->spec, &info->spec, e)) < 0 ||
	    (rc = get_words(r, "plane", &r->plane, &info->plane, e)) < 0 ||
	    (rc = get_words(r, "culprit", &r->culprit, &info->culprit, e)) <
		0 ||
	    (rc = get_count(r, "seed", UINT64_MAX, &info->seed, e)) < 0 ||
	    (rc = epoch_get_u32(r, "point", &info->point, e)) < 0 ||
	    (rc = epoch_get_u32(r, "run", &info->run, e)) < 0 ||
	    (rc = epoch_get_u32(r, "tie_point", &info->tie_point, e)) < 0 ||
	    (rc = get_count(r, "n_flows", UINT64_MAX, &info->n_flows, e)) < 0 ||
	    (rc = get_count(r, "n_packets", UINT64_MAX, &info->n_packets, e)) <
		0 ||
	    (rc = get_flag(r, "all_flows", &info->all_flows, e)) < 0 ||
	    (rc = get_flag(r, "all_seen", &info->all_seen, e)) < 0 ||
	    (rc = get_flag(r, "complete", &info->complete, e)) < 0 ||
	    (rc = epoch_get_u32(r, "telemetry", &info->telemetry, e)) < 0 ||
	    (rc = get_flag(r, "has_buffer", &info->has_buffer, e)) < 0)
		return rc;
	return get_flag(r, "own_culprits", &info->own_culprits, e);
}

/* --- the network -----------------------------------------------------------*/

static int check_ends(const struct res_epoch *x, uint64_t first,
    const struct res_epoch_ends *t, struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		topo_node from, to;
		topo_link_ends(&x->topo, (topo_link)(first + i), &from, &to);
		if (t->from[i] != from || t->to[i] != to)
			return sim_fail(e, SIM_EMISMATCH,
			    "links: link %" PRIu64
			    " leads from node %u to %u, but by the numbering "
			    "of cables and of what is up it should from %u to "
			    "%u.",
			    first + i, t->from[i], t->to[i], from, to);
	}
	return 0;
}

/* Whoever numbers links in another way would have all paths wrong, so each is
 * looked at, block by block. */
static int check_links(struct res_epoch *x, struct sim_err *e)
{
	const uint64_t n = x->reader->table[RES_EPOCH_LINKS].n;
	struct res_epoch_ends block = {0};
	int rc = 0;
	if (n != x->topo.n_links)
		return sim_fail(e, SIM_EMISMATCH,
		    "links: %" PRIu64 " rows, but the network has %u links.", n,
		    x->topo.n_links);
	for (uint64_t at = 0, k; rc == 0 && at < n; at += k) {
		k = n - at < RES_EPOCH_CHUNK ? n - at : RES_EPOCH_CHUNK;
		if ((rc = res_epoch_block(x->reader, RES_EPOCH_LINKS, at, k,
			 res_epoch_ends_kind(), &block, e)) == 0)
			rc = check_ends(x, at, &block, e);
	}
	res_epoch_ends_free(&block);
	return rc;
}

static int open_clos(struct res_epoch *x, struct sim_err *e)
{
	struct res_epoch_reader *r = x->reader;
	uint64_t s[RES_EPOCH_SHAPE];
	int rc = res_h5_in_counts(r->file, "clos", RES_EPOCH_SHAPE, s, e);
	if (rc < 0)
		return rc;
	/* Before they are cut to 32 bits. */
	for (int i = 0; i < RES_EPOCH_SHAPE; i++)
		if (s[i] > UINT32_MAX)
			return sim_fail(e, SIM_EPARSE,
			    "clos holds %" PRIu64 ", which is too large.",
			    s[i]);
	const struct topo_clos shape = {.n_pods = (uint32_t)s[0],
	    .n_tors = (uint32_t)s[1],
	    .n_t1 = (uint32_t)s[2],
	    .n_t2 = (uint32_t)s[3],
	    .n_hosts = (uint32_t)s[4]};
	if ((rc = topo_open_clos(&x->topo, &shape, e)) < 0 ||
	    (rc = res_h5_in_has(r->file, "links", e)) <= 0)
		return rc;
	rc = open_table(r, RES_EPOCH_LINKS, res_epoch_ends_kind(), e);
	return rc < 0 ? rc : check_links(x, e);
}

/* Hosts stand first, and a name that is empty is none. Tiers are taken if a
 * switch has one: then all need one. */
static int take_nodes(const struct res_epoch_nodes *t, int has_tiers,
    struct topo_mesh_input *in, uint32_t tier[], const char *name[],
    struct sim_err *e)
{
	uint32_t n_tiers = 0;
	if (t->n >= TOPO_NONE)
		return sim_fail(e, SIM_ELIMIT, "nodes: %zu rows are too many.",
		    t->n);
	while (in->n_hosts < t->n && t->kind[in->n_hosts] == 0)
		in->n_hosts++;
	in->n_switches = (uint32_t)t->n - in->n_hosts;
	for (size_t i = 0; i < t->n; i++) {
		if (t->kind[i] != (i >= in->n_hosts))
			return sim_fail(e, SIM_EPARSE,
			    "nodes: row %zu has kind %u; first come the hosts, "
			    "of kind 0, then the switches, of kind 1.",
			    i, t->kind[i]);
		name[i] = t->name[i].text[0] ? t->name[i].text : NULL;
		if (i < in->n_hosts)
			continue;
		tier[i - in->n_hosts] = t->tier[i];
		n_tiers += has_tiers && t->tier[i] != TOPO_NONE;
	}
	in->tier = n_tiers > 0 ? tier : NULL;
	if (n_tiers > 0 && n_tiers < in->n_switches)
		return sim_fail(e, SIM_EPARSE,
		    "nodes: %u of %u switches have a tier; all have one, or "
		    "none.",
		    n_tiers, in->n_switches);
	return 0;
}

/* The network is made of its cables, each by the link that leads up, and then
 * held against all links. */
static int open_graph(struct res_epoch *x, struct sim_err *e)
{
	struct res_epoch_reader *r = x->reader;
	struct topo_mesh_input in = {0};
	struct res_epoch_nodes t = {0};
	struct res_epoch_ends ends = {0};
	struct topo_cable *cable = NULL;
	struct topo_mesh *mesh = NULL;
	uint32_t *tier = NULL;
	const char **name = NULL;
	int rc;
	if ((rc = res_epoch_rows(r, RES_EPOCH_NODES, res_epoch_nodes_kind(), &t,
		 e)) < 0 ||
	    (rc = res_epoch_rows(r, RES_EPOCH_LINKS, res_epoch_ends_kind(),
		 &ends, e)) < 0 ||
	    (rc = SIM_ZALLOC(&tier, t.n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&name, t.n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&cable, ends.n / 2, e)) < 0 ||
	    (rc = take_nodes(&t,
		 res_h5_in_has_column(r->table[RES_EPOCH_NODES].rows, 1), &in,
		 tier, name, e)) < 0)
		goto out;
	in.n_cables = ends.n / 2;
	in.cable = cable;
	in.name = name;
	for (size_t i = 0; i < in.n_cables; i++)
		cable[i] =
		    (struct topo_cable){ends.from[2 * i], ends.to[2 * i]};
	if ((rc = topo_mesh_open(&mesh, &in, e)) == 0 &&
	    (rc = topo_open_mesh(&x->topo, mesh, e)) == 0)
		rc = check_links(x, e);
out:
	free(cable);
	free(name);
	free(tier);
	res_epoch_ends_free(&ends);
	res_epoch_nodes_free(&t);
	return rc;
}

/* --- the truth -------------------------------------------------------------*/

static int epoch_check_link(const struct res_epoch *x, const char *table,
    uint64_t row, topo_link l, struct sim_err *e)
{
	return l < x->topo.n_links
	    ? 0
	    : sim_fail(e, SIM_EPARSE,
		  "%s: row %" PRIu64 " is of link %u, but there are only %u.",
		  table, row, l, x->topo.n_links);
}

static int epoch_check_switch(const struct res_epoch *x, const char *table,
    uint64_t row, topo_switch s, struct sim_err *e)
{
	return s < x->topo.n_switches
	    ? 0
	    : sim_fail(e, SIM_EPARSE,
		  "%s: row %" PRIu64 " is of switch %u, but there are only "
		  "%u.",
		  table, row, s, x->topo.n_switches);
}

static int take_fault(struct res_epoch *x, size_t i,
    const struct res_epoch_fault *f, struct sim_err *e)
{
	const struct truth_fault fault = {.link = f->link,
	    .rate = f->rate,
	    .from_ns = f->from_ns,
	    .to_ns = f->to_ns,
	    .delay_us = f->delay_us,
	    .shape = f->shape,
	    .law = (enum truth_law)f->law,
	    .of_hole = f->kind == RES_EPOCH_OF_HOLE};
	const int rc = epoch_check_link(x, "faults", i, f->link, e);
	if (rc < 0)
		return rc;
	/* NaN is in no range. */
	if (!(f->rate >= 0 && f->rate <= 1))
		return sim_fail(e, SIM_EPARSE,
		    "faults: row %zu has a rate of %g, not in [0, 1].", i,
		    f->rate);
	if (!(f->delay_us >= 0 && isfinite(f->delay_us)) || !isfinite(f->shape))
		return sim_fail(e, SIM_EPARSE,
		    "faults: row %zu has a delay of %g us of shape %g.", i,
		    f->delay_us, f->shape);
	if (f->law > TRUTH_LOAD || f->kind > RES_EPOCH_OF_HOLE ||
	    (f->kind == RES_EPOCH_DELAY) !=
		(!fault.of_hole && truth_is_slow(&fault)))
		return sim_fail(e, SIM_EPARSE,
		    "faults: row %zu is of kind %u and law %u, with a delay of "
		    "%g us: these do not go together.",
		    i, f->kind, f->law, f->delay_us);
	return truth_add_fault(&x->truth, &fault, e);
}

static int take_hole(struct res_epoch *x, size_t i,
    const struct res_epoch_hole *h, struct sim_err *e)
{
	const struct truth_hole hole = {.at = h->switch_id,
	    .rule = {.type = (enum blackhole_rule_type)h->type,
		.below = h->below,
		.salt = h->salt},
	    .from_ns = h->from_ns,
	    .to_ns = h->to_ns};
	const int rc = epoch_check_switch(x, "holes", i, h->switch_id, e);
	if (rc < 0)
		return rc;
	if (h->type < BLACKHOLE_RULE_PAIR || h->type > BLACKHOLE_RULE_TUPLE ||
	    h->below > UINT64_C(1) << 32)
		return sim_fail(e, SIM_EPARSE,
		    "holes: row %zu has type %u and takes hashes below %" PRIu64
		    ": types are 1 and 2, hashes have 32 bits.",
		    i, h->type, h->below);
	return truth_add_hole(&x->truth, &hole, e);
}

static int take_outage(struct res_epoch *x, size_t i,
    const struct res_epoch_outage *o, struct sim_err *e)
{
	const struct truth_outage outage = {.kind =
						(enum truth_outage_kind)o->kind,
	    .mode = (enum truth_outage_mode)o->mode,
	    .id = o->id,
	    .from_ns = o->from_ns,
	    .to_ns = o->to_ns,
	    .delay_us = o->delay_us};
	if (o->kind > TRUTH_COLLECTOR || o->mode > TRUTH_GARBAGE ||
	    o->id >= x->topo.n_hosts ||
	    !(o->delay_us >= 0 && isfinite(o->delay_us)))
		return sim_fail(e, SIM_EPARSE,
		    "outages: row %zu is of kind %u, mode %u, id %u, with a "
		    "delay of %g us.",
		    i, o->kind, o->mode, o->id, o->delay_us);
	return truth_add_outage(&x->truth, &outage, e);
}

/* A link that fails with a switch names it, so that each failed switch is known
 * by its links; the list of switches gives their order. */
static int take_part(struct res_epoch *x, size_t i,
    const struct res_epoch_part *p, struct sim_err *e)
{
	int rc = epoch_check_link(x, "failed_links", i, p->link, e);
	if (rc == 0)
		rc = epoch_check_switch(x, "failed_links", i, p->switch_id, e);
	if (rc == 0 && !truth_is_failed_switch(&x->truth, p->switch_id))
		rc = sim_fail(e, SIM_EMISMATCH,
		    "failed_links: row %zu is of switch %u, which is not among "
		    "failed_switches.",
		    i, p->switch_id);
	return rc < 0 ? rc
		      : truth_add_part(&x->truth, p->link, p->switch_id, e);
}

static int take_switch(struct res_epoch *x, size_t i,
    const struct res_epoch_switch *s, struct sim_err *e)
{
	struct truth *t = &x->truth;
	int rc = epoch_check_switch(x, "failed_switches", i, s->switch_id, e);
	if (rc == 0 && truth_is_failed_switch(t, s->switch_id))
		rc = sim_fail(e, SIM_EPARSE,
		    "failed_switches: switch %u stands there twice.",
		    s->switch_id);
	if (rc == 0)
		rc = SIM_RESERVE(&t->failed_switch, &t->cap_switches,
		    t->n_switches + 1, e);
	if (rc == 0)
		t->failed_switch[t->n_switches++] = s->switch_id;
	return rc;
}

/* All rows of a table of the truth, one by one. */
#define TAKE_ALL(WHICH, rows)                                                  \
	static int take_##rows##s(struct res_epoch *x, struct sim_err *e)      \
	{                                                                      \
		struct res_epoch_##rows##s t = {0};                            \
		int rc = res_epoch_rows(x->reader, RES_EPOCH_##WHICH,          \
		    res_epoch_##rows##s_kind(), &t, e);                        \
		for (size_t i = 0; rc == 0 && i < t.n; i++) {                  \
			const struct res_epoch_##rows row =                    \
			    res_epoch_##rows##s_at(&t, i);                     \
			rc = take_##rows(x, i, &row, e);                       \
		}                                                              \
		res_epoch_##rows##s_free(&t);                                  \
		return rc;                                                     \
	}
TAKE_ALL(FAULTS, fault)
TAKE_ALL(HOLES, hole)
TAKE_ALL(OUTAGES, outage)
TAKE_ALL(FAILED_SWITCHES, switch)
TAKE_ALL(FAILED_LINKS, part)
#undef TAKE_ALL

static int epoch_get_truth(struct res_epoch *x, struct sim_err *e)
{
	int rc = 0;
	for (unsigned i = RES_EPOCH_FIRST_TRUTH;
	     rc >= 0 && i < RES_EPOCH_FIRST_TALLY; i++) {
		rc =
		    res_h5_in_has(x->reader->file, res_epoch_tables[i].name, e);
		x->has_truth |= rc > 0;
	}
	if (rc < 0 || !x->has_truth)
		return rc < 0 ? rc : 0;
	if ((rc = take_faults(x, e)) < 0 || (rc = take_holes(x, e)) < 0 ||
	    (rc = take_outages(x, e)) < 0 || (rc = take_switchs(x, e)) < 0 ||
	    (rc = take_parts(x, e)) < 0)
		return rc;
	/* Whoever made the file need not know of our order. */
	truth_sort(&x->truth);
	return 0;
}

/* --- opening ---------------------------------------------------------------*/

/* What is wrong with a network is wrong with the file. */
static int epoch_get_network(struct res_epoch *x, struct sim_err *e)
{
	int rc = res_h5_in_has_attr(x->reader->file, "clos", e);
	if (rc >= 0)
		rc = rc ? open_clos(x, e) : open_graph(x, e);
	return rc == SIM_EINVAL || rc == SIM_ELIMIT ? SIM_EPARSE : rc;
}

static int epoch_get_tables(struct res_epoch *x, struct sim_err *e)
{
	struct res_epoch_reader *r = x->reader;
	int rc = epoch_get_info(x, e);
	if (rc < 0 || (rc = epoch_get_network(x, e)) < 0 ||
	    (rc = open_table(r, RES_EPOCH_FLOWS, obs_flows_kind(), e)) < 0 ||
	    (rc = open_table(r, RES_EPOCH_MARKS, res_epoch_marks_kind(), e)) <
		0 ||
	    (rc = open_table(r, RES_EPOCH_OFFSETS, res_epoch_offsets_kind(),
		 e)) < 0 ||
	    (rc = open_table(r, RES_EPOCH_HOPS, res_epoch_hops_kind(), e)) <
		0 ||
	    (rc = epoch_get_truth(x, e)) < 0 || !x->has_truth ||
	    (rc = open_table(r, RES_EPOCH_FLOW_TRUTH,
		 res_epoch_flow_truths_kind(), e)) < 0)
		return rc;
	return open_table(r, RES_EPOCH_HOP_TRUTH, res_epoch_hop_truths_kind(),
	    e);
}

int res_epoch_open(struct res_epoch *x, const char *path, int any,
    struct sim_err *e)
{
	*x = (struct res_epoch){0};
	int rc = SIM_ZALLOC(&x->reader, 1, e);
	if (rc < 0)
		return rc;
	struct res_epoch_reader *r = x->reader;
	if ((rc = sim_dup(&r->path, path, e)) == 0 &&
	    (rc = any ? res_h5_in_open_any(&r->file, path, e)
		      : res_h5_in_open(&r->file, path, e)) == 0 &&
	    (rc = epoch_get_tables(x, e)) < 0)
		sim_wrap(e, rc, "cannot read %s", path);
	if (rc < 0)
		res_epoch_free(x);
	return rc;
}

void res_epoch_free(struct res_epoch *x)
{
	struct res_epoch_reader *r = x->reader;
	if (r) {
		res_h5_in_close(r->file);
		free(r->path);
		free(r->spec);
		free(r->plane);
		free(r->culprit);
	}
	free(r);
	topo_close(&x->topo);
	truth_free(&x->truth);
	obs_free(&x->window);
	obs_paths_free(&x->paths);
	obs_tallies_free(&x->tallies);
	losses_free(&x->lost);
	free(x->row);
	free(x->culprit);
	*x = (struct res_epoch){0};
}
