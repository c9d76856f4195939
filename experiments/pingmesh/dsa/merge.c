/* experiments/pingmesh/dsa/merge.c -- shards of jobs as one file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/merge.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"
#include "results/shards.h"

void xp_dsa_merge_free(struct xp_dsa_merge *m)
{
	free(m->path);
	xp_dsa_head_free(&m->head);
	xp_dsa_tables_free(&m->recordings);
	*m = (struct xp_dsa_merge){0};
}

/* --- do they belong together? ----------------------------------------------*/

static int merge_is_other(const char *a, const char *b, const char *what,
    struct sim_err *e)
{
	return sim_fail(e, SIM_EMISMATCH,
	    "%s does not belong to %s: %s is another.", b, a, what);
}

/* B must be of what A is of. */
static int merge_compare(const char *path_a, const struct xp_dsa_head *a,
    const char *path_b, const struct xp_dsa_head *b, struct sim_err *e)
{
	/* Counts first: by default jobs follow from the window. */
#define X(name, n)                                                             \
	if (memcmp(a->name, b->name, sizeof(a->name)) != 0)                    \
		return merge_is_other(path_a, path_b, #name, e);
	XP_DSA_HEAD_COUNTS(X)
#undef X
#define X(name, all)                                                           \
	if ((all) && strcmp(a->name, b->name) != 0)                            \
		return merge_is_other(path_a, path_b, #name, e);
	XP_DSA_HEAD_TEXTS(X)
#undef X
	if (a->shard.n != b->shard.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s is one of %u shards, and %s one of %u.", path_b,
		    b->shard.n, path_a, a->shard.n);
	return 0;
}

static int merge_recordings(const char *path_a, const struct xp_dsa_tables *a,
    const char *path_b, const struct xp_dsa_tables *b, struct sim_err *e)
{
	if (a->recordings.n != b->recordings.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s is of %zu recordings, and %s of %zu.", path_b,
		    b->recordings.n, path_a, a->recordings.n);
	for (size_t i = 0; i < a->recordings.n; i++) {
		const struct xp_dsa_recordings_row *x = &a->recordings.row[i],
						   *y = &b->recordings.row[i];
		if (x->checksum != y->checksum || x->n_bytes != y->n_bytes ||
		    strcmp(x->name.text, y->name.text) != 0)
			return sim_fail(e, SIM_EMISMATCH,
			    "%s does not belong to %s: recording %zu is "
			    "another, %s and %s.",
			    path_b, path_a, i, y->name.text, x->name.text);
	}
	return 0;
}

/* The whole is what shards say but for which one they are. Specs of recordings
 * may differ; the whole has that of the first recording, and shard 0 has it. */
static void merge_set_head(struct xp_dsa_merge *m, struct xp_dsa_head *h)
{
	const struct xp_dsa_head old = m->head;
	m->head = *h;
	m->head.shard = (struct xp_shard){0, 1};
	*h = old;
}

/* FIRST is the file whose head M has. */
static int merge_check_one(struct xp_dsa_merge *m, struct xp_dsa_in *in,
    uint32_t *n_shards, const char *first, char *path, struct sim_err *e)
{
	struct xp_dsa_head mine = *xp_dsa_in_head(in), whole = m->head;
	struct xp_dsa_tables t = {0};
	int rc;
	if (*n_shards == 0) {
		*n_shards = mine.shard.n;
		if ((rc = SIM_ZALLOC(&m->path, *n_shards, e)) < 0)
			return rc;
		m->n = *n_shards;
		m->path[mine.shard.i] = path;
		return xp_dsa_in_recordings(in, &m->recordings, e);
	}
	whole.shard.n = *n_shards;
	if ((rc = merge_compare(first, &whole, path, &mine, e)) < 0)
		return rc;
	if ((rc = xp_dsa_in_recordings(in, &t, e)) == 0)
		rc = merge_recordings(first, &m->recordings, path, &t, e);
	xp_dsa_tables_free(&t);
	if (rc == 0 && m->path[mine.shard.i])
		return sim_fail(e, SIM_EMISMATCH,
		    "%s and %s are both shard %u/%u.", m->path[mine.shard.i],
		    path, mine.shard.i + 1, *n_shards);
	m->path[mine.shard.i] = path;
	return rc;
}

static int merge_lack(const struct xp_dsa_merge *m, struct sim_err *e)
{
	struct res_shard_state *state;
	char *text = NULL;
	int rc = SIM_ZALLOC(&state, m->n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < m->n; i++)
		state[i].there = m->path[i] != NULL;
	rc = res_shards_say(state, (uint32_t)m->n, &text, e);
	if (rc == 0 && *text)
		rc = sim_fail(e, SIM_EIO,
		    "the whole would be partial (%s), so nothing was written.",
		    text);
	free(text);
	free(state);
	return rc;
}

int xp_dsa_merge_open(struct xp_dsa_merge *m, char *const path[], size_t n,
    struct sim_err *e)
{
	uint32_t n_shards = 0;
	int rc = 0;
	*m = (struct xp_dsa_merge){0};
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct xp_dsa_in *in;
		if ((rc = xp_dsa_in_open(&in, path[i], e)) < 0)
			break;
		rc = merge_check_one(m, in, &n_shards, path[0], path[i], e);
		struct xp_dsa_head *h = xp_dsa_in_head(in);
		if (rc == 0 && (i == 0 || h->shard.i == 0))
			merge_set_head(m, h);
		xp_dsa_in_close(in);
	}
	return rc < 0 ? rc : merge_lack(m, e);
}

/* --- the whole -------------------------------------------------------------*/

static int merge_shard(const struct xp_dsa_merge *m, size_t i,
    struct xp_dsa_out *out, struct xp_dsa_digest *digest,
    struct xp_dsa_pool *pool, struct sim_err *e)
{
	struct xp_dsa_tables t = {0};
	struct xp_dsa_head whole = m->head;
	struct xp_dsa_in *in;
	int rc = xp_dsa_in_open(&in, m->path[i], e), more = 0;
	if (rc < 0)
		return rc;
	whole.shard = (struct xp_shard){(uint32_t)i, (uint32_t)m->n};
	rc = merge_compare("what it was", &whole, m->path[i],
	    xp_dsa_in_head(in), e);
	if (rc == 0 && xp_dsa_in_head(in)->shard.i != i)
		rc = merge_is_other("what it was", m->path[i], "shard", e);
	while (rc == 0 && (more = xp_dsa_in_window(in, &t, e)) > 0)
		if ((rc = xp_dsa_digest_add(digest, &t, e)) == 0)
			rc = xp_dsa_out_add(out, &t, e);
	if (rc == 0)
		rc = more < 0 ? more : xp_dsa_in_pool(in, pool, e);
	xp_dsa_tables_free(&t);
	xp_dsa_in_close(in);
	return rc;
}

int xp_dsa_merge_run(const struct xp_dsa_merge *m, struct xp_dsa_out *out,
    struct xp_dsa_digest *digest, void (*tell)(void *arg), void *arg,
    struct sim_err *e)
{
	struct xp_dsa_pool pool = {0};
	struct xp_dsa_tables t = {0};
	int rc = xp_dsa_pool_open(&pool, m->head.scopes, e);
	if (rc == 0)
		rc = xp_dsa_out_add(out, &m->recordings, e);
	for (size_t i = 0; rc == 0 && i < m->n; i++) {
		rc = merge_shard(m, i, out, digest, &pool, e);
		if (rc == 0 && tell)
			tell(arg);
	}
	if (rc == 0 && (rc = xp_dsa_pool_put(&pool, &t, e)) == 0)
		rc = xp_dsa_out_add(out, &t, e);
	xp_dsa_tables_free(&t);
	xp_dsa_pool_close(&pool);
	return rc;
}
