/* results/recording_read.c -- a recording read by time, trusting nothing in it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/recording_parts.h"
#include "sim/vec.h"

struct res_recording {
	char *path;
	struct res_h5_in *file;
	struct res_recording_info info;
	char *spec, *service, *culprit;
	uint64_t version;
	struct res_series_in table[RES_N_RECORDED];
	struct res_coverage covered;
};

/* --- opening ---------------------------------------------------------------*/

/* Counts are stored with 64 bits. */
static int get_u32(struct res_h5_in *f, const char *name, uint32_t *out,
    struct sim_err *e)
{
	uint64_t x;
	const int rc = res_h5_in_counts(f, name, 1, &x, e);
	if (rc < 0)
		return rc;
	if (x > UINT32_MAX)
		return sim_fail(e, SIM_EPARSE, "%s %" PRIu64 " is too large.",
		    name, x);
	*out = (uint32_t)x;
	return 0;
}

static int get_shapes(struct res_recording *r, struct sim_err *e)
{
	struct res_recording_info *info = &r->info;
	uint64_t shape[RES_RECORDING_MAX_DCS * RES_SHAPE];
	int rc = get_u32(r->file, "n_dcs", &info->n_dcs, e);
	if (rc < 0)
		return rc;
	if (info->n_dcs == 0 || info->n_dcs > RES_RECORDING_MAX_DCS)
		return sim_fail(e, SIM_EPARSE, "it has %u data centres.",
		    info->n_dcs);
	if ((rc = res_h5_in_counts(r->file, "shapes",
		 (size_t)info->n_dcs * RES_SHAPE, shape, e)) < 0)
		return rc;
	/* Before they are cut to 32 bits. */
	for (size_t i = 0; i < (size_t)info->n_dcs * RES_SHAPE; i++)
		if (shape[i] > UINT32_MAX)
			return sim_fail(e, SIM_EPARSE,
			    "shapes hold %" PRIu64 ", which is too large.",
			    shape[i]);
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		const uint64_t *s = &shape[i * RES_SHAPE];
		info->dc[i].clos = (struct topo_clos){
		    .n_pods = (uint32_t)s[0],
		    .n_tors = (uint32_t)s[1],
		    .n_t1 = (uint32_t)s[2],
		    .n_t2 = (uint32_t)s[3],
		    .n_hosts = (uint32_t)s[4],
		};
	}
	return res_recording_shapes(info, e) < 0 ? SIM_EPARSE : 0;
}

static int get_info(struct res_recording *r, struct sim_err *e)
{
	struct res_recording_info *info = &r->info;
	int rc =
	    res_h5_in_counts(r->file, "recording_version", 1, &r->version, e);
	if (rc < 0)
		return sim_wrap(e, rc, "it is no recording");
	/* The version is looked at first: with another one all else may
	 * differ. */
	if (r->version < 1 || r->version > RES_RECORDING_VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "it has recording version %" PRIu64
		    "; this culprit reads 1 to %d.",
		    r->version, RES_RECORDING_VERSION);
	if ((rc = res_h5_in_text(r->file, "spec", &r->spec, e)) < 0 ||
	    (rc = res_h5_in_text(r->file, "service", &r->service, e)) < 0 ||
	    (rc = res_h5_in_text(r->file, "culprit", &r->culprit, e)) < 0 ||
	    (rc = res_h5_in_counts(r->file, "seed", 1, &info->seed, e)) < 0 ||
	    (rc = get_u32(r->file, "point", &info->point, e)) < 0 ||
	    (rc = get_u32(r->file, "run", &info->run, e)) < 0 ||
	    (rc = res_h5_in_counts(r->file, "duration_ns", 1,
		 &info->duration_ns, e)) < 0 ||
	    (rc = res_h5_in_counts(r->file, "syn_wait_ns", OBS_MAX_WAITS,
		 info->syn_wait_ns, e)) < 0)
		return rc;
	/* The texts are R's; info lends them out. */
	info->spec = r->spec;
	info->service = r->service;
	info->culprit = r->culprit;
	return get_shapes(r, e);
}

/* Spans in order and apart, so that adding up overlaps counts nothing twice. */
static int check_coverage(const struct res_coverage *c, struct sim_err *e)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->from_ns[i] >= c->to_ns[i] ||
		    (i > 0 && c->from_ns[i] < c->to_ns[i - 1]))
			return sim_fail(e, SIM_EPARSE,
			    "span %zu of its coverage, [%" PRIu64 ", %" PRIu64
			    ") ns, is empty or out of order.",
			    i, c->from_ns[i], c->to_ns[i]);
	return 0;
}

static int recording_read_get_all(struct res_recording *r, struct sim_err *e)
{
	int rc = get_info(r, e);
	for (unsigned i = 0; rc == 0 && i < RES_N_RECORDED; i++)
		/* There were no HTTP pings before version 2. */
		if (i != RES_RECORDED_http || r->version >= 2)
			rc = res_series_open(&r->table[i],
			    &res_recorded[i].series, r->file, e);
	if (rc < 0 ||
	    (rc = res_series_all_rows(r->file, "coverage", res_coverage_kind(),
		 &r->covered, e)) < 0)
		return rc;
	return check_coverage(&r->covered, e);
}

/* The seal is checked first (results/seal.h), then everything that the reader
 * relies on later, so reading by time can only meet bad rows. */
int res_recording_open(struct res_recording **out, const char *path,
    struct sim_err *e)
{
	struct res_recording *r;
	int rc = SIM_ZALLOC(&r, 1, e);
	if (rc < 0)
		return rc;
	if (!(r->path = strdup(path)))
		rc = sim_fail(e, SIM_ENOMEM, "no memory to read %s.", path);
	else if ((rc = res_h5_in_open(&r->file, path, e)) == 0 &&
	    (rc = recording_read_get_all(r, e)) < 0)
		sim_wrap(e, rc, "cannot read %s", path);
	if (rc < 0) {
		res_recording_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void res_recording_close(struct res_recording *r)
{
	if (!r)
		return;
	res_h5_in_close(r->file);
	free(r->spec);
	free(r->service);
	free(r->culprit);
	for (unsigned i = 0; i < RES_N_RECORDED; i++)
		res_series_in_free(&r->table[i]);
	res_coverage_free(&r->covered);
	free(r->path);
	free(r);
}

/* --- by time ---------------------------------------------------------------*/

const struct res_recording_info *res_recording_info(
    const struct res_recording *r)
{
	return &r->info;
}

uint64_t res_recording_n_probes(const struct res_recording *r)
{
	return r->table[RES_RECORDED_probes].n;
}

/* The length of what the window and the spans have in common. Spans do not
 * overlap: see check_coverage(). */
sim_ns res_recording_covered(const struct res_recording *r, sim_ns from,
    sim_ns to)
{
	sim_ns sum = 0;
	for (size_t i = 0; i < r->covered.n; i++) {
		const struct res_span s = res_coverage_at(&r->covered, i);
		const sim_ns a = s.from_ns > from ? s.from_ns : from;
		const sim_ns b = s.to_ns < to ? s.to_ns : to;
		sum += a < b ? b - a : 0;
	}
	return sum;
}

int res_recording_get(struct res_recording *r, enum res_recorded which,
    sim_ns from, sim_ns to, void *table, struct sim_err *e)
{
	sim_table_clear(res_recorded[which].series.kind(), table);
	if (res_recorded_is_probes(which))
		memcpy(((struct obs_probes *)table)->syn_wait_ns,
		    r->info.syn_wait_ns, sizeof(r->info.syn_wait_ns));
	if (!r->table[which].is)
		return 0;
	int rc = res_series_get(&r->table[which], from, to, table, e);
	/* Rows were checked when they were recorded, but the file may have been
	 * made by another program. */
	if (rc == 0 && res_recording_check(&r->info, which, table, e) < 0)
		rc = SIM_EPARSE;
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", r->path) : 0;
}
