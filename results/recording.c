/* results/recording.c -- what the collector got, as one file: written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading is in recording_read.c.
 */
#include "results/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/h5_table.h"
#include "results/provenance.h"
#include "results/recording_parts.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* Checks of tables each take their own type; the list below needs one type for
 * all, so each gets a function that takes any pointer. */
#define X(group, table, time)                                                  \
	static int check_##group(const void *t, uint32_t n_hosts,              \
	    struct sim_err *e)                                                 \
	{                                                                      \
		return table##_check(t, 0, n_hosts, e);                        \
	}
RES_RECORDED_TABLES(X)
#undef X

#define X(group, table, time)                                                  \
	{{#group, time == RES_EVENT ? #group "_index" : NULL,                  \
	     time == RES_EVENT ? RES_RECORDING_CHUNK : 8192,                   \
	     time == RES_WINDOW_END, table##_kind},                            \
	    check_##group},
const struct res_recorded_table res_recorded[] = {RES_RECORDED_TABLES(X)};
#undef X

/* Used by both sides: a recorder's shapes come from its caller, a reader's from
 * a file. Their derived members are filled in here. */
int res_recording_shapes(struct res_recording_info *info, struct sim_err *e)
{
	uint64_t n_hosts = 0;
	int rc;
	if (info->n_dcs == 0 || info->n_dcs > RES_RECORDING_MAX_DCS)
		return sim_fail(e, SIM_EINVAL,
		    "%u data centres; there may be 1 to %d.", info->n_dcs,
		    RES_RECORDING_MAX_DCS);
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		struct topo_clos *c = &info->dc[i].clos;
		if ((rc = topo_clos_init(c, e)) < 0)
			return sim_wrap(e, rc, "data centre %u", i);
		n_hosts += c->all_hosts;
		info->dc[i] = topo_dc_after(i > 0 ? &info->dc[i - 1] : NULL, c);
	}
	return n_hosts <= TOPO_ADDR_MAX_HOSTS
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "%" PRIu64 " hosts; there may be %u in all.", n_hosts,
		  TOPO_ADDR_MAX_HOSTS);
}

/* Hosts that do not exist pass for neighbours here; other checks refuse
 * them. */
static int is_within_dc(const struct res_recording_info *info, topo_host a,
    topo_host b)
{
	return topo_dcs_find(info->dc, info->n_dcs, a) ==
	    topo_dcs_find(info->dc, info->n_dcs, b);
}

/* Check to whom probes went. Those to VIPs have level INTER_DC and an address
 * in place of a host. The others go to a host: any one at level INTER_DC, and
 * one of the sender's own data centre at all other levels. */
static int check_peers(const struct res_recording_info *info,
    const struct obs_probes *t, int vip, uint32_t n_hosts, struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		if (vip &&
		    (t->level[i] != OBS_LEVEL_INTER_DC ||
			!topo_addr_is_vip(t->dst_host[i])))
			return sim_fail(e, SIM_EINVAL,
			    "probe %zu, of level %u, is to %u: no VIP.", i,
			    t->level[i], t->dst_host[i]);
		if (!vip && info->n_dcs > 1 &&
		    t->level[i] != OBS_LEVEL_INTER_DC &&
		    !is_within_dc(info, t->src_host[i], t->dst_host[i]))
			return sim_fail(e, SIM_EINVAL,
			    "probe %zu, of level %u, is from host %u to %u: "
			    "of another data centre.",
			    i, t->level[i], t->src_host[i], t->dst_host[i]);
		if (!vip && t->dst_host[i] >= n_hosts)
			return sim_fail(e, SIM_EINVAL,
			    "probe %zu is to host %u, but there are only %u "
			    "hosts.",
			    i, t->dst_host[i], n_hosts);
	}
	return 0;
}

int res_recording_check(const struct res_recording_info *info,
    enum res_recorded which, const void *table, struct sim_err *e)
{
	const uint32_t n_hosts = topo_dcs_n_hosts(info->dc, info->n_dcs);
	const int rc = res_recorded[which].check(table, n_hosts, e);
	if (rc < 0 || !res_recorded_is_probes(which))
		return rc;
	return check_peers(info, table, which == RES_RECORDED_vip_probes,
	    n_hosts, e);
}

/* --- the recorder ----------------------------------------------------------*/

struct res_recorder {
	char *path;
	struct res_h5_out *file;
	struct res_recording_info info; /* its texts are gone: borrowed */
	struct res_series_out table[RES_N_RECORDED];
	struct res_h5_table_out *coverage;
	struct res_coverage covered;
	int failed;
};

/* Counts and texts become attributes of the file, which tools show without
 * reading a table. */
static int put_info(struct res_h5_out *f, const struct res_recording_info *info,
    struct sim_err *e)
{
	uint64_t shape[RES_RECORDING_MAX_DCS * RES_SHAPE];
	/* The five numbers that a Clos is made from; all else follows. */
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		const struct topo_clos *c = &info->dc[i].clos;
		const uint64_t five[RES_SHAPE] = {c->n_pods, c->n_tors, c->n_t1,
		    c->n_t2, c->n_hosts};
		memcpy(&shape[i * RES_SHAPE], five, sizeof(five));
	}
	const struct {
		const char *name;
		uint64_t value;
	} count[] = {
	    {"recording_version", RES_RECORDING_VERSION},
	    {"seed", info->seed},
	    {"point", info->point},
	    {"run", info->run},
	    {"duration_ns", info->duration_ns},
	    {"n_dcs", info->n_dcs},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(count) / sizeof(*count); i++)
		rc = res_h5_out_counts(f, count[i].name, 0, &count[i].value, e);
	if (rc < 0 ||
	    (rc = res_h5_out_counts(f, "syn_wait_ns", OBS_MAX_WAITS,
		 info->syn_wait_ns, e)) < 0 ||
	    (rc = res_h5_out_counts(f, "shapes", info->n_dcs * RES_SHAPE, shape,
		 e)) < 0 ||
	    (rc = res_h5_out_text(f, "spec", info->spec ? info->spec : "", e)) <
		0 ||
	    (rc = res_h5_out_text(f, "service",
		 info->service ? info->service : "", e)) < 0)
		return rc;
	return res_h5_out_text(f, "culprit",
	    info->culprit ? info->culprit : res_version(), e);
}

/* All groups are made at once and in the order of the list, also of tables that
 * stay empty: a reader finds each of them, and equal rows give equal bytes. */
static int make_tables(struct res_recorder *w, struct sim_err *e)
{
	const struct sim_table *c = res_coverage_kind();
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < RES_N_RECORDED; i++)
		rc = res_series_create(&w->table[i], &res_recorded[i].series,
		    NULL, w->file, e);
	return rc < 0 ? rc
		      : res_h5_out_table(w->file, "coverage", c->column,
			    c->n_columns, RES_SPAN_CHUNK, &w->coverage, e);
}

int res_recorder_open(struct res_recorder **out, const char *path,
    const struct res_recording_info *info, struct sim_err *e)
{
	struct res_recorder *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->info = *info;
	if ((rc = sim_dup(&w->path, path, e)) == 0 &&
	    (rc = res_recording_shapes(&w->info, e)) == 0 &&
	    (rc = res_h5_out_open(&w->file, path, e)) == 0 &&
	    (rc = put_info(w->file, &w->info, e)) == 0)
		rc = make_tables(w, e);
	/* They are the caller's, and only borrowed until now. */
	w->info.spec = w->info.service = w->info.culprit = NULL;
	if (rc < 0) {
		res_recorder_discard(w);
		return sim_wrap(e, rc, "recording %s", path);
	}
	*out = w;
	return 0;
}

/* A recorder that has failed once can only be finished, which fails, or
 * discarded: a part of a recording must not pass for the whole. */
static int recording_failed(struct res_recorder *w, int rc, struct sim_err *e)
{
	w->failed |= rc < 0;
	return rc < 0 ? sim_wrap(e, rc, "recording %s", w->path) : 0;
}

int res_recorder_add(struct res_recorder *w, enum res_recorded which,
    const void *table, struct sim_err *e)
{
	/* A row that a reader would refuse must not get into the file: the
	 * whole recording would be lost with it. */
	int rc = res_recording_check(&w->info, which, table, e);
	if (rc == 0)
		rc = res_series_append(&w->table[which], table, e);
	return recording_failed(w, rc, e);
}

int res_recorder_covers(struct res_recorder *w, sim_ns from, sim_ns to,
    struct sim_err *e)
{
	struct res_coverage *c = &w->covered;
	/* Where the last span ends so far; none yet: NULL. */
	sim_ns *end = c->n > 0 ? &c->to_ns[c->n - 1] : NULL;
	if (from >= to || (end && from < *end))
		return sim_fail(e, SIM_EINVAL,
		    "[%" PRIu64 ", %" PRIu64 ") ns cannot be covered %s.", from,
		    to,
		    from >= to ? "since it is empty" : "after what ends later");
	/* A span that begins where the last one ends only makes that one
	 * longer. */
	if (!end || from > *end)
		return recording_failed(w,
		    res_coverage_add(c, &(struct res_span){from, to}, e), e);
	*end = to;
	return 0;
}

/* Write what is known only at the end: the times of the last chunks, and the
 * end of the last span. */
static int put_rest(struct res_recorder *w, struct sim_err *e)
{
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < RES_N_RECORDED; i++)
		rc = res_series_finish(&w->table[i], e);
	return rc < 0 ? rc
		      : res_h5_out_append(w->coverage, res_coverage_kind(),
			    &w->covered, e);
}

int res_recorder_finish(struct res_recorder *w, struct sim_err *e)
{
	int rc = 0;
	if (w->failed)
		rc = sim_fail(e, SIM_EIO,
		    "recording %s: an earlier part could "
		    "not be written.",
		    w->path);
	else if ((rc = put_rest(w, e)) < 0)
		sim_wrap(e, rc, "recording %s", w->path);
	else {
		/* It is closed by the call, also when that fails. */
		struct res_h5_out *file = w->file;
		w->file = NULL;
		rc = res_h5_out_finish(file, e);
	}
	res_recorder_discard(w);
	return rc;
}

/* Also what is left to do after finishing, when the file is closed already. */
void res_recorder_discard(struct res_recorder *w)
{
	if (!w)
		return;
	res_h5_out_discard(w->file);
	for (unsigned i = 0; i < RES_N_RECORDED; i++)
		res_series_out_free(&w->table[i]);
	res_coverage_free(&w->covered);
	free(w->path);
	free(w);
}
