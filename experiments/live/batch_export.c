/* experiments/live/batch_export.c -- a collector's files as one recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files are read twice: first for the time that they span, which is the
 * recording's beginning and length and must be known before its first row is
 * written; then to write the rows.
 */
#include "experiments/live/batch_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/live/batch_store.h"
#include "experiments/pingmesh/dsa/batch_set.h"
#include "experiments/pingmesh/dsa/rows.h"
#include "results/segments.h"
#include "sim/vec.h"

#define ORIGIN_STEP (600 * SIM_SEC)

struct export
{
	const struct res_recording_info *info;
	const char *dir;
	int64_t day; /* that the batches of a file came, since 1970 */
	struct xp_batch_exported *n;
	struct res_recorder *out; /* NULL in the first pass */
	struct xp_batch_set seen;
	sim_ns first_ns, last_ns; /* of the probes that are taken */
	struct obs_probes rows, vip_rows;
	struct obs_perf counters;
	struct obs_http http;
	struct algo_pingmesh_batch batch;
	unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
};

/* Rows go out batch by batch, so that memory does not grow with the files. */
static int batch_export_flush(struct export *x, struct sim_err *e)
{
	int rc;
	if ((rc = res_recorder_probes(x->out, &x->rows, e)) < 0 ||
	    (rc = res_recorder_vip_probes(x->out, &x->vip_rows, e)) < 0 ||
	    (rc = res_recorder_counters(x->out, &x->counters, e)) < 0 ||
	    (rc = res_recorder_http(x->out, &x->http, e)) < 0)
		return rc;
	x->n->n_rows += x->rows.n;
	x->n->n_vip_rows += x->vip_rows.n;
	x->n->n_counters += x->counters.n;
	obs_probes_clear(&x->rows);
	obs_probes_clear(&x->vip_rows);
	obs_perf_clear(&x->counters);
	obs_http_clear(&x->http);
	return 0;
}

/* Make record R the row *P and tell which table it belongs to. NULL: it can be
 * no row, and why is counted; a record is never dropped silently. */
static struct obs_probes *sort_record(struct export *x,
    const struct algo_pingmesh_record *r, struct obs_probe *p)
{
	switch (
	    xp_dsa_row(x->info->dc, x->info->n_dcs, x->batch.src_ip, r, p)) {
	case XP_DSA_ROW:
		return &x->rows;
	case XP_DSA_VIP_ROW:
		return &x->vip_rows;
	case XP_DSA_FAILED:
		x->n->n_failed++;
		return NULL;
	case XP_DSA_FOREIGN:
		x->n->n_foreign++;
		return NULL;
	default:
		x->n->n_odd++;
		return NULL;
	}
}

/* Take the rows of one batch. A collector may be running, and what it adds
 * between the two passes may be older or newer than all that the first pass
 * saw; the second one leaves that out, as the length of the recording has been
 * written. */
static int take_batch(struct export *x, struct sim_err *e)
{
	struct obs_http_row get;
	struct obs_probe p;
	int rc;
	x->n->n_batches++;
	for (uint32_t i = 0; i < x->batch.n; i++) {
		if (!xp_batch_is_timely(x->day, x->batch.record[i].sent_ns)) {
			x->n->n_untimely++;
			continue;
		}
		struct obs_probes *t = sort_record(x, &x->batch.record[i], &p);
		if (!t)
			continue;
		if (!x->out && p.sent_ns < x->first_ns)
			x->first_ns = p.sent_ns;
		if (!x->out && p.sent_ns > x->last_ns)
			x->last_ns = p.sent_ns;
		if (!x->out || p.sent_ns < x->first_ns ||
		    p.sent_ns > x->last_ns)
			continue;
		p.sent_ns -= x->n->origin_ns;
		if ((rc = obs_probes_add(t, &p, e)) < 0 ||
		    (t == &x->rows &&
			xp_dsa_http_row(&x->batch.record[i], &p, &get) &&
			(rc = obs_http_add(&x->http, &get, e)) < 0))
			return rc;
	}
	return x->out ? batch_export_flush(x, e) : 0;
}

/* A window of counters. It does not widen the time of the recording, since all
 * it says of that time is less exact than what probes say; windows that have no
 * part in it are left out. */
static int batch_export_take_window(struct export *x, size_t n,
    struct sim_err *e)
{
	struct algo_pingmesh_window w;
	struct obs_perf_row row;
	int rc = algo_pingmesh_wire_decode_window(&w, &x->info->net6, x->bytes,
	    n, e);
	if (rc < 0)
		return rc;
	if (!xp_batch_is_timely(x->day, w.start_ns) ||
	    !xp_batch_is_timely(x->day, w.end_ns)) {
		x->n->n_untimely++;
		return 0;
	}
	const enum xp_dsa_fate fate =
	    xp_dsa_counters_row(topo_dcs_n_hosts(x->info->dc, x->info->n_dcs),
		&w, &row);
	x->n->n_foreign += fate == XP_DSA_FOREIGN;
	x->n->n_odd += fate == XP_DSA_ODD;
	/* In the first pass nothing is written, and nothing of windows is
	 * needed. */
	if (!x->out || fate != XP_DSA_ROW || w.end_ns <= x->first_ns ||
	    w.start_ns > x->last_ns)
		return 0;
	row.end_ns -= x->n->origin_ns;
	rc = obs_perf_add(&x->counters, &row, e);
	return rc < 0 ? rc : batch_export_flush(x, e);
}

/* Take the N bytes of a batch that was not seen before. */
static int take_bytes(struct export *x, enum algo_pingmesh_wire_kind kind,
    size_t n, struct sim_err *e)
{
	if (kind == ALGO_PINGMESH_OF_COUNTERS)
		return batch_export_take_window(x, n, e);
	int rc = algo_pingmesh_wire_decode(&x->batch, &x->info->net6, x->bytes,
	    n, e);
	return rc < 0 ? rc : take_batch(x, e);
}

static int take_file(struct export *x, int dir_fd, const char *name,
    struct sim_err *e)
{
	struct algo_pingmesh_wire_id id;
	uint64_t whole = 0, size;
	size_t n;
	int fd, rc = res_segments_read(dir_fd, x->dir, name, &fd, &size, e);
	if (rc < 0)
		return rc;
	FILE *in = fdopen(fd, "rb");
	if (!in) {
		close(fd);
		return sim_fail(e, SIM_ENOMEM, "no memory to read %s/%s.",
		    x->dir, name);
	}
	x->day = res_segments_day(name);
	while (
	    (rc = xp_batch_next(in, x->bytes, &n, &id, e)) == XP_BATCH_MORE) {
		whole += n;
		/* 0: this batch is in the files twice, since an agent whose
		 * acknowledgement was lost sends it again. */
		if ((rc = xp_batch_set_take(&x->seen, &id, e)) < 0)
			break;
		if (rc == 0)
			continue;
		if ((rc = take_bytes(x, id.kind, n, e)) < 0)
			break;
	}
	/* Behind damage nothing can be read, as the next batch begins where
	 * this one's length says. */
	if (rc == XP_BATCH_DAMAGED)
		x->n->n_bytes_damaged += size - whole;
	fclose(in);
	return rc < 0 ? rc : 0;
}

static int batch_export_pass(struct export *x, const char *dir,
    struct sim_err *e)
{
	const sim_ns origin_ns = x->n->origin_ns;
	struct dirent **found = NULL;
	int rc = 0, n = -1;
	/* Both passes count all of it, so the counts begin again. */
	*x->n = (struct xp_batch_exported){.origin_ns = origin_ns};
	xp_batch_set_free(&x->seen);
	/* The limit is for a daemon that runs for months; here the files bound
	 * the set. */
	x->seen.max_runs = SIZE_MAX;
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (n = xp_batch_files(fd, &found)) < 0)
		rc = sim_fail(e, SIM_EIO, "cannot read %s: %s.", dir,
		    strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = take_file(x, fd, found[i]->d_name, e);
		free(found[i]);
	}
	free(found);
	if (fd >= 0)
		close(fd);
	x->n->n_lost = x->seen.n_lost;
	return rc;
}

static int write_out(struct export *x, const char *dir, const char *path,
    struct res_recording_info *info, struct sim_err *e)
{
	int rc = batch_export_pass(x, dir, e);
	if (rc < 0)
		return rc;
	if (x->first_ns > x->last_ns)
		return sim_fail(e, SIM_EINVAL,
		    "%s holds no probe between these servers; %" PRIu64
		    " records are not of the days before they came.",
		    dir, x->n->n_untimely);
	/* A whole ten minutes, so that windows of ten minutes begin where those
	 * of the clock do. */
	const sim_ns origin = x->first_ns - x->first_ns % ORIGIN_STEP;
	const sim_ns from = x->first_ns - origin;
	const sim_ns to = x->last_ns - origin + 1;
	x->n->origin_ns = origin;
	info->duration_ns = to;
	if ((rc = res_recorder_open(&x->out, path, info, e)) < 0)
		return rc;
	if ((rc = batch_export_pass(x, dir, e)) < 0 ||
	    (rc = res_recorder_covers(x->out, from, to, e)) < 0) {
		res_recorder_discard(x->out);
		return rc;
	}
	return res_recorder_finish(x->out, e);
}

int xp_batch_export(const char *dir, const char *path,
    struct res_recording_info *info, struct xp_batch_exported *n,
    struct sim_err *e)
{
	struct export *x;
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	*n = (struct xp_batch_exported){0};
	x->info = info;
	x->dir = dir;
	x->n = n;
	/* No probe yet: later than the last one, which is 0. */
	x->first_ns = UINT64_MAX;
	memcpy(x->rows.syn_wait_ns, info->syn_wait_ns,
	    sizeof(info->syn_wait_ns));
	memcpy(x->vip_rows.syn_wait_ns, info->syn_wait_ns,
	    sizeof(info->syn_wait_ns));
	rc = write_out(x, dir, path, info, e);
	obs_probes_free(&x->rows);
	obs_probes_free(&x->vip_rows);
	obs_perf_free(&x->counters);
	obs_http_free(&x->http);
	xp_batch_set_free(&x->seen);
	free(x);
	return rc;
}
