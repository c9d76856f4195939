/* experiments/millisampler/public.c -- bursts of published runs, ours and theirs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/public.h"

#include <stdlib.h>

#include "sim/vec.h"

const char *const xp_public_texts[XP_N_PUBLIC_ENDS] = {
#define X(name, text) text,
    XP_PUBLIC_ENDS(X)
#undef X
};

void xp_public_free(struct xp_public *p)
{
	obs_samples_free(&p->samples);
	xp_public_bursts_free(&p->bursts);
}

/* Rows ascend, and a quiet bucket has none, so a burst goes on as long as the
 * next full bucket is not too far. */
int xp_public_find(const struct xp_public *p, double share, uint32_t gap,
    struct xp_public_bursts *out, struct sim_err *e)
{
	const double limit =
	    share * (double)p->run.line_bps / 8 * (double)p->run.width_ns / 1e9;
	struct xp_public_burst b = {0};
	int rc = 0;
	xp_public_bursts_clear(out);
	for (size_t i = 0; rc == 0 && i < p->samples.n; i++) {
		const uint32_t at = p->samples.bucket[i];
		if (!(p->samples.in_bytes[i] > limit))
			continue;
		if (b.n_buckets > 0 && at - b.first - b.n_buckets > gap) {
			rc = xp_public_bursts_add(out, &b, e);
			b.n_buckets = 0;
		}
		if (b.n_buckets == 0)
			b.first = at;
		b.n_buckets = at - b.first + 1;
	}
	if (rc == 0 && b.n_buckets > 0)
		rc = xp_public_bursts_add(out, &b, e);
	return rc;
}

/* Bursts that are in both; ours ascend, theirs are in any order. */
static uint64_t public_same(const struct xp_public_bursts *ours,
    const struct xp_public_bursts *theirs)
{
	uint64_t n = 0;
	for (size_t i = 0; i < theirs->n; i++) {
		size_t lo = 0, hi = ours->n;
		while (lo < hi) {
			const size_t mid = lo + (hi - lo) / 2;
			if (ours->first[mid] < theirs->first[i])
				lo = mid + 1;
			else
				hi = mid;
		}
		n += lo < ours->n && ours->first[lo] == theirs->first[i] &&
		    ours->n_buckets[lo] == theirs->n_buckets[i];
	}
	return n;
}

int xp_public_compare(struct xp_public_fit *f, const struct xp_public *p,
    struct sim_err *e)
{
	struct xp_public_bursts ours = {0};
	int rc = 0;
	if (!p->has_bursts)
		return 0;
	f->n_theirs += p->bursts.n;
	for (unsigned s = 0; rc == 0 && s < XP_FIT_SHARES; s++)
		for (unsigned g = 0; rc == 0 && g < XP_FIT_GAPS; g++) {
			rc = xp_public_find(p, (s + 1) / 10.0, g, &ours, e);
			f->at[s][g].n_ours += ours.n;
			f->at[s][g].n_same += public_same(&ours, &p->bursts);
		}
	xp_public_bursts_free(&ours);
	return rc;
}

double xp_public_differ(const struct xp_public_fit *f, unsigned share,
    unsigned gap)
{
	const uint64_t same = f->at[share][gap].n_same,
		       all = f->n_theirs + f->at[share][gap].n_ours - same;
	return all > 0 ? 1 - (double)same / (double)all : 0;
}
