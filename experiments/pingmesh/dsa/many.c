/* experiments/pingmesh/dsa/many.c -- the jobs of many recordings, or a shard.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/many.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"

void xp_dsa_many_close(struct xp_dsa_many *m)
{
	xp_dsa_replay_close(&m->replay);
	xp_dsa_pool_close(&m->pool);
	xp_dsa_head_free(&m->head);
	xp_dsa_set_free(&m->set);
	*m = (struct xp_dsa_many){0};
}

/* --- do they belong together? ----------------------------------------------*/

/* What scopes are, and how lost SYNs are recognised, in words: what is pooled
 * must agree in it. */
static void many_put_network(struct sim_text *to, const struct xp_dsa_replay *r)
{
	const struct res_recording_info *info = r->info;
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		const struct topo_clos *c = &info->dc[i].clos;
		sim_put(to,
		    "%s%u pods of %u ToRs, %u T1s, %u hosts each, %u "
		    "T2s",
		    i ? " + " : "", c->n_pods, c->n_tors, c->n_t1, c->n_hosts,
		    c->n_t2);
	}
	sim_put(to, "; SYNs again after");
	for (int i = 0; i < OBS_MAX_WAITS && info->syn_wait_ns[i] > 0; i++)
		sim_put(to, " %g", (double)info->syn_wait_ns[i] / 1e9);
	sim_put(to, " s, within %g s; services: %s", r->params.tolerance_s,
	    *info->service ? info->service : "none");
}

static int many_network(char **out, const struct xp_dsa_replay *r,
    struct sim_err *e)
{
	struct sim_text count = {NULL, 0, 0};
	many_put_network(&count, r);
	const int rc = SIM_ZALLOC(out, count.n + 1, e);
	if (rc < 0)
		return rc;
	struct sim_text to = {*out, count.n + 1, 0};
	many_put_network(&to, r);
	return 0;
}

static int many_check(const struct xp_dsa_many *m, struct sim_err *e)
{
	char *network;
	const char *path = m->set.member[m->at].path;
	int rc = many_network(&network, &m->replay, e);
	if (rc < 0)
		return rc;
	if (strcmp(network, m->head.network) != 0)
		rc = sim_fail(e, SIM_EMISMATCH,
		    "%s is of another network than %s: \"%s\" and \"%s\".",
		    path, m->set.member[m->share.first].path, network,
		    m->head.network);
	free(network);
	return rc;
}

/* --- one recording ---------------------------------------------------------*/

static int many_open_one(struct xp_dsa_many *m, struct sim_err *e)
{
	const struct xp_dsa_plan *p = &m->plan;
	const char *path = m->set.member[m->at].path;
	int rc = xp_dsa_replay_open(&m->replay, path, e);
	if (rc < 0) /* names the file; a recording that is none is no usage */
		return rc == SIM_EPARSE ? SIM_EIO : rc;
	rc = xp_dsa_replay_plan(&m->replay, p->from, p->to, p->window, p->jobs,
	    e);
	if (rc < 0)
		return sim_wrap(e, rc, "%s", path);
	xp_dsa_replay_cut(&m->replay, m->share.k, m->share.of);
	return 0;
}

static int many_make_head(struct xp_dsa_many *m, struct sim_err *e)
{
	const struct xp_dsa_replay *r = &m->replay;
	char name[64];
	snprintf(name, sizeof(name), "%zu recordings", m->set.n);
	/* Only a recording's own name is noted: the same tables should be the
	 * same bytes in any folder. */
	struct xp_dsa_source s = {
	    .recording = m->set.n == 1 ? m->set.member[0].name : name,
	    .recorded_by = r->info->culprit,
	    .spec = r->info->spec,
	    .window_ns = r->window,
	    .jobs = r->jobs,
	    .services = &r->services,
	    .from_ns = m->plan.from,
	    .to_ns = m->plan.to,
	    .shard = m->plan.shard,
	};
	char *network;
	int rc = many_network(&network, r, e);
	if (rc < 0)
		return rc;
	s.network = network;
	xp_dsa_pool_count(s.scopes, r->info->dc, r->info->n_dcs, r->services.n);
	if ((rc = xp_dsa_pool_open(&m->pool, s.scopes, e)) == 0)
		rc = xp_dsa_head_make(&m->head, &s, e);
	free(network);
	return rc;
}

int xp_dsa_many_open(struct xp_dsa_many *m, char *const path[], size_t n,
    const struct xp_dsa_plan *plan, struct sim_err *e)
{
	*m = (struct xp_dsa_many){.plan = *plan};
	int rc = xp_dsa_set_open(&m->set, path, n, e);
	if (rc < 0)
		return rc == SIM_EPARSE ? SIM_EIO : rc;
	m->share = xp_dsa_share_of(m->set.n, &plan->shard);
	m->at = m->share.first;
	if ((rc = many_open_one(m, e)) < 0)
		return rc;
	const size_t n_mine = m->share.last - m->share.first;
	m->n_steps = n_mine > 1 ? n_mine : m->replay.last - m->replay.first;
	return many_make_head(m, e);
}

/* --- all -------------------------------------------------------------------*/

static int many_put_set(const struct xp_dsa_many *m, struct xp_dsa_out *out,
    struct sim_err *e)
{
	struct xp_dsa_tables t = {0};
	int rc = xp_dsa_set_put(&m->set, &t, e);
	if (rc == 0)
		rc = xp_dsa_out_add(out, &t, e);
	xp_dsa_tables_free(&t);
	return rc;
}

static int many_put_pool(const struct xp_dsa_many *m, struct xp_dsa_out *out,
    struct sim_err *e)
{
	struct xp_dsa_tables t = {0};
	int rc = xp_dsa_pool_put(&m->pool, &t, e);
	if (rc == 0)
		rc = xp_dsa_out_add(out, &t, e);
	xp_dsa_tables_free(&t);
	return rc;
}

int xp_dsa_many_run(struct xp_dsa_many *m, struct xp_dsa_out *out,
    struct xp_dsa_digest *digest, void (*tell)(void *arg), void *arg,
    struct sim_err *e)
{
	const int alone = m->share.last - m->share.first == 1;
	struct xp_dsa_into into = {.out = out,
	    .digest = digest,
	    .pool = &m->pool,
	    .tell = alone ? tell : NULL,
	    .arg = arg};
	int rc = many_put_set(m, out, e);
	for (; rc == 0 && m->at < m->share.last; m->at++) {
		into.recording = (uint32_t)m->at;
		/* The first one is open from the start. */
		if (m->at > m->share.first && (rc = many_open_one(m, e)) < 0)
			break;
		if ((rc = many_check(m, e)) == 0)
			rc = xp_dsa_replay_run(&m->replay, &into, e);
		xp_dsa_replay_close(&m->replay);
		if (rc == 0 && !alone && tell)
			tell(arg);
	}
	return rc < 0 ? rc : many_put_pool(m, out, e);
}
