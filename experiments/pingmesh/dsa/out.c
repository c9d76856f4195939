/* experiments/pingmesh/dsa/out.c -- result tables as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/pingmesh/dsa/parts.h"
#include "results/h5_table.h"
#include "results/provenance.h"

enum { CHUNK = 8192, /* rows */ VERSION = 1 };

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
#define COLUMN(type, name, units, doc, words)                                  \
	SIM_COLUMN(type, name, offsetof(struct_row, name), units, doc, words),
#define X(table, columns)                                                      \
	static int make_##table(struct xp_dsa_out *o, struct sim_err *e)       \
	{                                                                      \
		typedef struct xp_dsa_##table##_row struct_row;                \
		static const struct sim_column column[] = {columns(COLUMN)};   \
		return res_h5_out_table(o->file, #table, column,               \
		    sizeof(column) / sizeof(column[0]), CHUNK, &o->table, e);  \
	}
XP_DSA_TABLES(X)
#undef X

/* An attribute with N names, a blank between each two. The first pass only
 * counts what room they take, with a blank after each. */
static int put_names(struct res_h5_out *f, const char *attr, uint32_t n,
    const char *const name[], struct sim_err *e)
{
	char *text;
	struct sim_text count = {NULL, 0, 0};
	for (uint32_t i = 0; i < n; i++)
		sim_put(&count, "%s ", name[i]);
	int rc = SIM_ZALLOC(&text, count.n + 1, e);
	if (rc < 0)
		return rc;
	struct sim_text to = {text, count.n + 1, 0};
	for (uint32_t i = 0; i < n; i++)
		sim_put(&to, "%s%s", i ? " " : "", name[i]);
	rc = res_h5_out_text(f, attr, text, e);
	free(text);
	return rc;
}

/* What the tables depend on stands with them: the recording, its spec with all
 * parameters, the length of windows and the jobs that were run. */
static int out_put_root(struct res_h5_out *f,
    const struct xp_dsa_source *source, struct sim_err *e)
{
	const uint64_t version = VERSION;
	const char *job[32], *service[XP_DSA_MAX_SERVICES];
	uint32_t n_jobs = 0;
	for (uint32_t i = 0; xp_dsa_jobs[i]; i++)
		if (source->jobs >> i & 1)
			job[n_jobs++] = xp_dsa_jobs[i];
	for (uint32_t i = 0; i < source->services->n; i++)
		service[i] = source->services->service[i].name;
	int rc;
	if ((rc = res_h5_out_counts(f, "jobs_version", 0, &version, e)) < 0 ||
	    (rc = res_h5_out_text(f, "culprit", res_version(), e)) < 0 ||
	    (rc = res_h5_out_text(f, "recording", source->recording, e)) < 0 ||
	    (rc = res_h5_out_text(f, "recorded_by", source->recorded_by, e)) <
		0 ||
	    (rc = res_h5_out_text(f, "spec", source->spec, e)) < 0 ||
	    (rc = res_h5_out_counts(f, "window_ns", 0, &source->window_ns, e)) <
		0 ||
	    (rc = put_names(f, "jobs", n_jobs, job, e)) < 0)
		return rc;
	return put_names(f, "services", source->services->n, service, e);
}

int xp_dsa_out_open(struct xp_dsa_out **out, const char *path,
    const struct xp_dsa_source *source, struct sim_err *e)
{
	struct xp_dsa_out *o;
	int rc = SIM_ZALLOC(&o, 1, e);
	if (rc < 0)
		return rc;
	if ((rc = res_h5_out_open(&o->file, path, e)) == 0)
		rc = out_put_root(o->file, source, e);
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
