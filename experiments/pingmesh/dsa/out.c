/* experiments/pingmesh/dsa/out.c -- result tables as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/out.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"
#include "results/h5_table.h"
#include "results/provenance.h"

enum { CHUNK = 8192 }; /* rows */

/* --- words -----------------------------------------------------------------*/

const char *const xp_dsa_kinds[] = {"server", "tor", "pod", "data_centre",
    "service", NULL};
const char *const xp_dsa_verdicts[] = {"no_service", "unknown", "not_network",
    "network", "servers", NULL};
const char *const xp_dsa_units[] = {"tor", "pod", NULL};
const char *const xp_dsa_actions[] = {"none", "reload", "defer", "escalate",
    NULL};
const char *const xp_dsa_patterns[] = {"not_run", ALGO_HEATMAP_PATTERNS, NULL};
const char *const xp_dsa_tiers[] = {"not_run", ALGO_SILENT_DROP_TIERS, NULL};

/* --- the file --------------------------------------------------------------*/

struct xp_dsa_out {
	struct res_h5_out *file;
#define X(table, columns) struct res_h5_table_out *table;
	XP_DSA_TABLES(X)
#undef X
};

/* A table of the file, with the columns that its list has. */
#define X(table, columns)                                                      \
	static int make_##table(struct xp_dsa_out *o, struct sim_err *e)       \
	{                                                                      \
		typedef struct xp_dsa_##table##_row struct_row;                \
		static const struct sim_column column[] = {                    \
		    columns(XP_DSA_COLUMN)};                                   \
		return res_h5_out_table(o->file, #table, column,               \
		    sizeof(column) / sizeof(column[0]), CHUNK, &o->table, e);  \
	}
XP_DSA_TABLES(X)
#undef X

/* --- what it says of itself ------------------------------------------------*/

/* N names, a blank between each two. The first pass only counts what room they
 * take, with a blank after each. */
static int join_names(char **out, uint32_t n, const char *const name[],
    struct sim_err *e)
{
	struct sim_text count = {NULL, 0, 0};
	for (uint32_t i = 0; i < n; i++)
		sim_put(&count, "%s ", name[i]);
	const int rc = SIM_ZALLOC(out, count.n + 1, e);
	if (rc < 0)
		return rc;
	struct sim_text to = {*out, count.n + 1, 0};
	for (uint32_t i = 0; i < n; i++)
		sim_put(&to, "%s%s", i ? " " : "", name[i]);
	return 0;
}

void xp_dsa_head_free(struct xp_dsa_head *h)
{
#define X(name, all) free(h->name);
	XP_DSA_HEAD_TEXTS(X)
#undef X
	*h = (struct xp_dsa_head){0};
}

static int head_names(struct xp_dsa_head *h, const struct xp_dsa_source *s,
    struct sim_err *e)
{
	const char *job[32], *service[XP_DSA_MAX_SERVICES];
	uint32_t n_jobs = 0;
	for (uint32_t i = 0; xp_dsa_jobs[i]; i++)
		if (s->jobs >> i & 1)
			job[n_jobs++] = xp_dsa_jobs[i];
	for (uint32_t i = 0; i < s->services->n; i++)
		service[i] = s->services->service[i].name;
	const int rc = join_names(&h->jobs, n_jobs, job, e);
	return rc < 0 ? rc
		      : join_names(&h->services, s->services->n, service, e);
}

int xp_dsa_head_make(struct xp_dsa_head *h, const struct xp_dsa_source *s,
    struct sim_err *e)
{
	char libraries[RES_LIBRARIES_BYTES];
	res_libraries(libraries);
	*h = (struct xp_dsa_head){.window_ns = {s->window_ns},
	    .from_ns = {s->from_ns},
	    .to_ns = {s->to_ns},
	    .shard = s->shard.n ? s->shard : (struct xp_shard){0, 1}};
	memcpy(h->scopes, s->scopes, sizeof(h->scopes));
	int rc;
	if ((rc = sim_dup(&h->culprit, res_version(), e)) < 0 ||
	    (rc = sim_dup(&h->build, res_build(), e)) < 0 ||
	    (rc = sim_dup(&h->libraries, libraries, e)) < 0 ||
	    (rc = sim_dup(&h->recording, s->recording, e)) < 0 ||
	    (rc = sim_dup(&h->recorded_by, s->recorded_by, e)) < 0 ||
	    (rc = sim_dup(&h->spec, s->spec, e)) < 0 ||
	    (rc = sim_dup(&h->network, s->network ? s->network : "", e)) < 0 ||
	    (rc = head_names(h, s, e)) < 0)
		xp_dsa_head_free(h);
	return rc;
}

static int out_put_root(struct res_h5_out *f, const struct xp_dsa_head *h,
    struct sim_err *e)
{
	const uint64_t version = XP_DSA_VERSION;
	const uint64_t shard[2] = {h->shard.i + 1, h->shard.n};
	int rc = res_h5_out_counts(f, "jobs_version", 0, &version, e);
#define X(name, all)                                                           \
	if (rc == 0)                                                           \
		rc = res_h5_out_text(f, #name, h->name, e);
	XP_DSA_HEAD_TEXTS(X)
#undef X
#define X(name, n)                                                             \
	if (rc == 0)                                                           \
		rc = res_h5_out_counts(f, #name, (n) > 1 ? (n) : 0, h->name, e);
	XP_DSA_HEAD_COUNTS(X)
#undef X
	/* The whole says nothing of shards, so that it is the same bytes whether
	 * it was made by one process or by many. */
	if (rc == 0 && h->shard.n > 1)
		rc = res_h5_out_counts(f, "shard", 2, shard, e);
	return rc;
}

int xp_dsa_out_open(struct xp_dsa_out **out, const char *path,
    const struct xp_dsa_head *head, struct sim_err *e)
{
	struct xp_dsa_out *o;
	int rc = SIM_ZALLOC(&o, 1, e);
	if (rc < 0)
		return rc;
	if ((rc = res_h5_out_open(&o->file, path, e)) == 0)
		rc = out_put_root(o->file, head, e);
#define X(table, columns)                                                      \
	if (rc == 0)                                                           \
		rc = make_##table(o, e);
	XP_DSA_TABLES(X)
#undef X
	if (rc < 0) {
		xp_dsa_out_discard(o);
		return rc;
	}
	*out = o;
	return 0;
}

int xp_dsa_out_add(struct xp_dsa_out *o, const struct xp_dsa_tables *t,
    struct sim_err *e)
{
	int rc = 0;
#define X(table, columns)                                                      \
	if (rc == 0)                                                           \
		rc = res_h5_out_rows(o->table, t->table.row,                   \
		    sizeof(t->table.row[0]), t->table.n, e);
	XP_DSA_TABLES(X)
#undef X
	return rc;
}

int xp_dsa_out_finish(struct xp_dsa_out *o, struct sim_err *e)
{
	const int rc = res_h5_out_finish(o->file, e);
	free(o);
	return rc;
}

void xp_dsa_out_discard(struct xp_dsa_out *o)
{
	if (!o)
		return;
	res_h5_out_discard(o->file);
	free(o);
}
