/* experiments/pingmesh/dsa/set.c -- recordings that are analysed together.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"
#include "results/seal.h"

void xp_dsa_set_free(struct xp_dsa_set *s)
{
	free(s->member);
	*s = (struct xp_dsa_set){0};
}

static int set_by_name(const void *a, const void *b)
{
	const struct xp_dsa_set_member *x = a, *y = b;
	const int order = strcmp(x->name, y->name);
	return order
	    ? order
	    : (x->checksum > y->checksum) - (x->checksum < y->checksum);
}

static int set_by_sum(const void *a, const void *b)
{
	const struct xp_dsa_set_member *x = a, *y = b;
	return (x->checksum > y->checksum) - (x->checksum < y->checksum);
}

/* A recording that is given twice would count twice in what is pooled. */
static int set_check(struct xp_dsa_set *s, struct sim_err *e)
{
	qsort(s->member, s->n, sizeof(*s->member), set_by_sum);
	for (size_t i = 1; i < s->n; i++) {
		const struct xp_dsa_set_member *a = &s->member[i - 1],
					       *b = &s->member[i];
		if (a->checksum == b->checksum && a->n_bytes == b->n_bytes)
			return sim_fail(e, SIM_EINVAL,
			    "%s and %s are the same recording.", a->path,
			    b->path);
	}
	qsort(s->member, s->n, sizeof(*s->member), set_by_name);
	return 0;
}

int xp_dsa_set_open(struct xp_dsa_set *s, char *const path[], size_t n,
    struct sim_err *e)
{
	*s = (struct xp_dsa_set){0};
	int rc = SIM_ZALLOC(&s->member, n, e);
	for (; rc == 0 && s->n < n; s->n++) {
		struct xp_dsa_set_member *m = &s->member[s->n];
		const char *slash = strrchr(path[s->n], '/');
		m->path = path[s->n];
		m->name = slash ? slash + 1 : m->path;
		rc = res_seal_peek(&m->n_bytes, &m->checksum, m->path, e);
	}
	if (rc == 0)
		rc = set_check(s, e);
	if (rc < 0)
		xp_dsa_set_free(s);
	return rc;
}

int xp_dsa_set_put(const struct xp_dsa_set *s, struct xp_dsa_tables *t,
    struct sim_err *e)
{
	const int rc = XP_DSA_RESERVE(&t->recordings, s->n, e);
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		const struct xp_dsa_set_member *m = &s->member[i];
		struct xp_dsa_recordings_row *r =
		    &t->recordings.row[t->recordings.n++];
		*r = (struct xp_dsa_recordings_row){.n_bytes = m->n_bytes,
		    .checksum = m->checksum};
		snprintf(r->name.text, sizeof(r->name.text), "%s", m->name);
	}
	return rc;
}

struct xp_dsa_share xp_dsa_share_of(size_t n_recordings,
    const struct xp_shard *shard)
{
	const uint64_t r = n_recordings, n = shard->n, i = shard->i;
	if (r >= n)
		return (struct xp_dsa_share){r * i / n, r * (i + 1) / n, 0, 1};
	/* Recording f is that of shards ceil(f n / r) to ceil((f + 1) n / r). */
	const uint64_t f = i * r / n, low = (f * n + r - 1) / r;
	const uint64_t high = ((f + 1) * n + r - 1) / r;
	return (struct xp_dsa_share){f, f + 1, (uint32_t)(i - low),
	    (uint32_t)(high - low)};
}
