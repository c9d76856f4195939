/* experiments/live/windows_counts.c -- counts of times as bytes, and scopes' names.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/windows_counts.h"

#include "experiments/pingmesh/dsa/parts.h"
#include "experiments/pingmesh/dsa/pool.h"
#include "sim/text.h"

const char *const xp_windows_scopes[] = {"server", "tor", "pod", "dc",
    "service", NULL};

uint8_t xp_windows_kind(const char *scope)
{
	return (uint8_t)sim_word_find(xp_windows_scopes, scope);
}

static unsigned char *counts_put(unsigned char *at, uint64_t x)
{
	for (; x >= 128; x >>= 7)
		*at++ = (unsigned char)(x | 128);
	*at++ = (unsigned char)x;
	return at;
}

size_t xp_windows_pack(const struct xp_dsa_histogram_row row[], size_t n,
    unsigned char *out)
{
	unsigned char *at = out;
	uint32_t bucket = 0;
	for (size_t i = 0; i < n; i++) {
		at = counts_put(at, row[i].bucket - bucket);
		at = counts_put(at, row[i].n);
		bucket = row[i].bucket;
	}
	return (size_t)(at - out);
}

/* Returns what is behind the number, or NULL if there is none. */
static const unsigned char *counts_get(const unsigned char *at,
    const unsigned char *end, uint64_t *x)
{
	*x = 0;
	for (int shift = 0; at < end && shift < 63; shift += 7) {
		*x |= (uint64_t)(*at & 127) << shift;
		if (!(*at++ & 128))
			return at;
	}
	return NULL;
}

int xp_windows_unpack(const struct xp_dsa_pooled_row *of, const void *bytes,
    size_t n, struct xp_dsa_tables *t, struct sim_err *e)
{
	const unsigned char *at = bytes, *end = at + n;
	uint64_t bucket = 0, step, count;
	while (at < end) {
		if (!(at = counts_get(at, end, &step)) ||
		    !(at = counts_get(at, end, &count)) ||
		    step >= XP_DSA_POOL_BUCKETS ||
		    (bucket += step) >= XP_DSA_POOL_BUCKETS)
			return sim_fail(e, SIM_EPARSE,
			    "counts of connect times are damaged.");
		const int rc = XP_DSA_RESERVE(&t->histogram, 1, e);
		if (rc < 0)
			return rc;
		t->histogram.row[t->histogram.n++] =
		    (struct xp_dsa_histogram_row){.data_centre =
						      of->data_centre,
			.kind = of->kind,
			.id = of->id,
			.bucket = (uint32_t)bucket,
			.n = count};
	}
	return 0;
}
