/* experiments/pingmesh/bulk/pair_rows.c -- connects in trouble, eight bytes each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/pair_rows.h"

#include <stdlib.h>
#include <string.h>

#include "sim/sort.h"
#include "sim/vec.h"

enum { BLOCK = 1 << 18 };

/* --- a row as a word -------------------------------------------------------- */

static unsigned bits_for(uint64_t n_values)
{
	unsigned bits = 1;
	while (bits < 63 && UINT64_C(1) << bits < n_values)
		bits++;
	return bits;
}

static uint64_t write_row(const struct xp_pair_rows *r,
    const struct xp_pair_row *x)
{
	return (uint64_t)x->low << (xp_pair_rows_pair_from(r) + r->host_bits) |
	    (uint64_t)x->high << xp_pair_rows_pair_from(r) |
	    (uint64_t)x->at << xp_pair_rows_at_from(r) |
	    (uint64_t)x->kind << r->n_bits | (x->n - 1);
}

/* --- windows ---------------------------------------------------------------- */

int xp_pair_rows_open(struct xp_pair_rows *r, uint32_t n_hosts, uint32_t n_kept,
    uint64_t n_places, struct sim_err *e)
{
	const unsigned host_bits = bits_for(n_hosts),
		       at_bits = bits_for(n_places);
	const unsigned used = 2 * host_bits + at_bits + XP_PAIR_KIND_BITS;
	*r = (struct xp_pair_rows){.host_bits = host_bits,
	    .at_bits = at_bits,
	    .n_kept = n_kept};
	if (used > 63 || at_bits > 32)
		return sim_fail(e, SIM_ELIMIT,
		    "%u servers and %llu probes of a pair in the windows that "
		    "are kept: a row of one takes more than 64 bits. Make the "
		    "windows fewer or shorter.",
		    n_hosts, (unsigned long long)n_places);
	r->n_bits = 64 - used < 30 ? 64 - used : 30;
	return SIM_ZALLOC(&r->first, n_kept, e);
}

void xp_pair_rows_close(struct xp_pair_rows *r)
{
	free(r->first);
	free(r->key);
	free(r->spare);
	*r = (struct xp_pair_rows){.n = 0};
}

void xp_pair_rows_clear(struct xp_pair_rows *r)
{
	r->n = 0;
	r->n_windows = 0;
	r->is_open = 0;
}

static void drop_oldest(struct xp_pair_rows *r)
{
	const size_t n = r->n_windows > 1 ? r->first[1] : r->n;
	if (r->n > n)
		memmove(r->key, r->key + n, (r->n - n) * sizeof(*r->key));
	r->n -= n;
	r->n_windows--;
	for (uint32_t i = 0; i < r->n_windows; i++)
		r->first[i] = r->first[i + 1] - n;
}

int xp_pair_rows_begin(struct xp_pair_rows *r, struct sim_err *e)
{
	const int rc = xp_pair_rows_end(r, e);
	if (rc < 0)
		return rc;
	if (r->n_windows == r->n_kept && r->n_kept > 0)
		drop_oldest(r);
	r->first[r->n_windows++] = r->n;
	r->is_open = 1;
	return 0;
}

/* A row of more than fit into the word is several. */
int xp_pair_rows_add(struct xp_pair_rows *r, const struct xp_pair_row *row,
    struct sim_err *e)
{
	const uint32_t most = UINT32_C(1) << r->n_bits;
	struct xp_pair_row x = *row;
	for (uint32_t left = row->n; left > 0; left -= x.n, x.at += 2 * x.n) {
		const int rc = SIM_RESERVE(&r->key, &r->cap, r->n + 1, e);
		if (rc < 0)
			return rc;
		x.n = left < most ? left : most;
		r->key[r->n++] = write_row(r, &x);
	}
	return 0;
}

int xp_pair_rows_end(struct xp_pair_rows *r, struct sim_err *e)
{
	const size_t from = xp_pair_rows_from(r, r->is_open);
	size_t n = from;
	uint64_t last = UINT64_MAX;
	if (!r->is_open)
		return 0;
	const int rc = SIM_RESERVE(&r->spare, &r->cap_spare, r->n - from, e);
	if (rc < 0)
		return rc;
	sim_sort_keys(r->key + from, r->spare, r->n - from,
	    xp_pair_rows_at_from(r));
	for (size_t i = from; i < r->n; i++) {
		const uint64_t key = r->key[i],
			       at = key >> xp_pair_rows_at_from(r);
		if (at != last && xp_pair_rows_kind(r, key) != XP_PAIR_SLOW)
			r->key[n++] = key;
		last = at;
	}
	r->n = n;
	r->is_open = 0;
	return 0;
}

/* --- in order of pairs ------------------------------------------------------ */

int xp_pair_walk_begin(struct xp_pair_walk *w, const struct xp_pair_rows *r,
    uint32_t n, const struct xp_pair_places *places, struct sim_err *e)
{
	*w = (struct xp_pair_walk){.r = r, .n_windows = n, .places = *places};
	const int rc = SIM_ZALLOC(&w->next, n, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		w->next[i] = r->first[r->n_windows - n + i];
	return rc;
}

void xp_pair_walk_close(struct xp_pair_walk *w)
{
	free(w->next);
	free(w->held);
	free(w->spare);
	*w = (struct xp_pair_walk){.n = 0};
}

/* Where the rows of window I of the walk end. */
static size_t rows_end(const struct xp_pair_walk *w, uint32_t i)
{
	const struct xp_pair_rows *r = w->r;
	const uint32_t next = r->n_windows - w->n_windows + i + 1;
	return next < r->n_windows ? r->first[next] : r->n;
}

/* The rows of server H in window I of the walk. */
static int take_rows(struct xp_pair_walk *w, topo_host h, uint32_t i,
    struct sim_err *e)
{
	const struct xp_pair_rows *r = w->r;
	const uint32_t hosts = w->places.hosts_of_tor;
	const size_t end = rows_end(w, i);
	size_t *at = &w->next[i];
	int rc = 0;
	for (; *at < end && xp_pair_rows_low(r, r->key[*at]) == h; ++*at) {
		const topo_host high = xp_pair_rows_high(r, r->key[*at]);
		const uint64_t before = xp_pair_places_before(&w->places, i,
		    h / hosts != high / hosts);
		if ((rc = SIM_RESERVE(&w->held, &w->cap, w->n + 1, e)) < 0)
			break;
		w->held[w->n++] =
		    r->key[*at] + (before << xp_pair_rows_at_from(r));
	}
	return rc;
}

int xp_pair_walk_on(struct xp_pair_walk *w, struct sim_err *e)
{
	int rc = 0;
	if (w->n_windows == 1) {
		w->key = w->r->key + w->next[0];
		w->n = rows_end(w, 0) - w->next[0];
		w->next[0] += w->n;
		return 0;
	}
	w->n = 0;
	for (; rc == 0 && w->n < BLOCK && w->host < w->places.n_hosts;
	     w->host++)
		for (uint32_t i = 0; rc == 0 && i < w->n_windows; i++)
			rc = take_rows(w, w->host, i, e);
	if (rc < 0 || w->n == 0 ||
	    (rc = SIM_RESERVE(&w->spare, &w->cap_spare, w->n, e)) < 0)
		return rc;
	sim_sort_keys(w->held, w->spare, w->n, xp_pair_rows_at_from(w->r));
	w->key = w->held;
	return 0;
}
