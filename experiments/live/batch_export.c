/* experiments/live/batch_export.c -- a collector's files as one recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/batch_export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/live/batch_set.h"
#include "experiments/live/batch_store.h"
#include "sim/vec.h"
#include "topo/addr.h"

#define ORIGIN_STEP (600 * SIM_SEC)

struct export
{
	const struct res_recording_info *info;
	struct xp_batch_exported *n;
	struct res_recorder *out; /* NULL in the first pass */
	struct xp_batch_set seen;
	sim_ns first_ns, last_ns; /* of the probes that are taken */
	struct obs_probes rows, vip_rows;
	struct algo_pingmesh_batch batch;
	unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
};

static uint32_t dc_of(const struct res_recording_info *info, uint32_t host)
{
	uint32_t dc = 0;
	while (host >= res_recording_first_host(info, dc + 1))
		dc++;
	return dc;
}

/* Returns 0 if R can be no row, and counts why. */
static int convert(struct export *x, const struct algo_pingmesh_record *r,
    struct obs_probe *p)
{
	static const uint8_t outcomes[AGENT_N_OUTCOMES] = {
	    [AGENT_CONNECTED] = OBS_CONNECTED,
	    [AGENT_REFUSED] = OBS_REFUSED,
	    [AGENT_TIMEOUT] = OBS_TIMED_OUT,
	};
	static const uint8_t levels[ALGO_PINGLIST_N_LEVELS] = {
	    [ALGO_PINGLIST_TOR] = OBS_LEVEL_TOR,
	    [ALGO_PINGLIST_DC] = OBS_LEVEL_DC,
	    [ALGO_PINGLIST_INTER_DC] = OBS_LEVEL_INTER_DC,
	    [ALGO_PINGLIST_VIP] = OBS_LEVEL_INTER_DC,
	};
	const uint32_t n_hosts =
	    res_recording_first_host(x->info, x->info->n_dcs);
	const int is_vip = r->level == ALGO_PINGLIST_VIP;
	if (r->outcome == AGENT_FAILED) {
		x->n->n_failed++;
		return 0;
	}
	*p = (struct obs_probe){
	    .sent_ns = r->sent_ns,
	    .rtt_ns = r->rtt_ns,
	    .src_host = topo_addr_to_host(r->src_ip, n_hosts),
	    .dst_host =
		is_vip ? r->dst_ip : topo_addr_to_host(r->dst_ip, n_hosts),
	    .src_port = r->src_port,
	    .dst_port = r->dst_port,
	    .outcome = outcomes[r->outcome],
	    .level = levels[r->level],
	    .class = r->class,
	    .payload_bytes = r->payload,
	};
	if (p->src_host == TOPO_NONE || p->src_host == p->dst_host ||
	    (is_vip ? !topo_addr_is_vip(r->dst_ip)
		    : p->dst_host == TOPO_NONE ||
			(p->level != OBS_LEVEL_INTER_DC &&
			    dc_of(x->info, p->src_host) !=
				dc_of(x->info, p->dst_host)))) {
		x->n->n_foreign++;
		return 0;
	}
	if ((p->outcome == OBS_CONNECTED && p->rtt_ns == 0) ||
	    (p->outcome == OBS_TIMED_OUT && p->rtt_ns > 0)) {
		x->n->n_odd++;
		return 0;
	}
	return 1;
}

static int flush(struct export *x, struct sim_err *e)
{
	int rc;
	if ((rc = res_recorder_probes(x->out, &x->rows, e)) < 0 ||
	    (rc = res_recorder_vip_probes(x->out, &x->vip_rows, e)) < 0)
		return rc;
	x->n->n_rows += x->rows.n;
	x->n->n_vip_rows += x->vip_rows.n;
	obs_probes_clear(&x->rows);
	obs_probes_clear(&x->vip_rows);
	return 0;
}

/* What a collector adds between the two passes may be older or newer than all
 * that the first one saw: the second one leaves that out. */
static int take_batch(struct export *x, struct sim_err *e)
{
	struct obs_probe p;
	int rc;
	x->n->n_batches++;
	for (uint32_t i = 0; i < x->batch.n; i++) {
		const struct algo_pingmesh_record *r = &x->batch.record[i];
		if (!convert(x, r, &p))
			continue;
		if (!x->out && p.sent_ns < x->first_ns)
			x->first_ns = p.sent_ns;
		if (!x->out && p.sent_ns > x->last_ns)
			x->last_ns = p.sent_ns;
		if (!x->out || p.sent_ns < x->first_ns ||
		    p.sent_ns > x->last_ns)
			continue;
		p.sent_ns -= x->n->origin_ns;
		if ((rc = obs_probes_add(r->level == ALGO_PINGLIST_VIP
			     ? &x->vip_rows
			     : &x->rows,
			 &p, e)) < 0)
			return rc;
	}
	return x->out ? flush(x, e) : 0;
}

static int take_file(struct export *x, int dir_fd, const char *name,
    struct sim_err *e)
{
	struct algo_pingmesh_wire_id id;
	struct stat st;
	uint64_t whole = 0;
	size_t n;
	int rc;
	const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "rb");
	if (!in || fstat(fd, &st) < 0) {
		rc = sim_fail(e, SIM_EIO, "cannot read %s: %s.", name,
		    strerror(errno));
		if (in)
			fclose(in);
		else if (fd >= 0)
			close(fd);
		return rc;
	}
	while (
	    (rc = xp_batch_next(in, x->bytes, &n, &id, e)) == XP_BATCH_MORE) {
		whole += n;
		if (xp_batch_set_has(&x->seen, &id))
			continue;
		if ((rc = xp_batch_set_reserve(&x->seen, &id, e)) < 0)
			break;
		xp_batch_set_add(&x->seen, &id);
		if ((rc = algo_pingmesh_wire_decode(&x->batch, x->bytes, n,
			 e)) < 0 ||
		    (rc = take_batch(x, e)) < 0)
			break;
	}
	if (rc == XP_BATCH_DAMAGED)
		x->n->n_bytes_damaged += (uint64_t)st.st_size - whole;
	fclose(in);
	return rc < 0 ? rc : 0;
}

static int pass(struct export *x, const char *dir, struct sim_err *e)
{
	const sim_ns origin_ns = x->n->origin_ns;
	struct dirent **found = NULL;
	int rc = 0, n = -1;
	*x->n = (struct xp_batch_exported){.origin_ns = origin_ns};
	xp_batch_set_free(&x->seen);
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
	return rc;
}

static int write_out(struct export *x, const char *dir, const char *path,
    struct res_recording_info *info, struct sim_err *e)
{
	int rc = pass(x, dir, e);
	if (rc < 0)
		return rc;
	if (x->first_ns > x->last_ns)
		return sim_fail(e, SIM_EINVAL,
		    "%s holds no probe between these servers.", dir);
	const sim_ns origin = x->first_ns - x->first_ns % ORIGIN_STEP;
	const sim_ns from = x->first_ns - origin;
	const sim_ns to = x->last_ns - origin + 1;
	x->n->origin_ns = origin;
	info->duration_ns = to;
	if ((rc = res_recorder_open(&x->out, path, info, e)) < 0)
		return rc;
	if ((rc = pass(x, dir, e)) < 0 ||
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
	x->n = n;
	x->first_ns = UINT64_MAX;
	memcpy(x->rows.syn_wait_ns, info->syn_wait_ns,
	    sizeof(info->syn_wait_ns));
	memcpy(x->vip_rows.syn_wait_ns, info->syn_wait_ns,
	    sizeof(info->syn_wait_ns));
	rc = write_out(x, dir, path, info, e);
	obs_probes_free(&x->rows);
	obs_probes_free(&x->vip_rows);
	xp_batch_set_free(&x->seen);
	free(x);
	return rc;
}
