/* experiments/pingmesh/bulk/history.c -- the last windows' rows, taken once more.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/history.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

int xp_mesh_history_open(struct xp_mesh_history *h, uint32_t n_kept,
    sim_ns window_ns, struct sim_err *e)
{
	*h = (struct xp_mesh_history){.n_kept = n_kept, .window_ns = window_ns};
	return SIM_ZALLOC(&h->first, n_kept, e);
}

void xp_mesh_history_close(struct xp_mesh_history *h)
{
	free(h->first);
	free(h->row);
	*h = (struct xp_mesh_history){.n = 0};
}

void xp_mesh_history_clear(struct xp_mesh_history *h)
{
	h->n_windows = 0;
	h->n = 0;
}

static void forget_first(struct xp_mesh_history *h)
{
	const size_t n = h->n_windows > 1 ? h->first[1] : h->n;
	if (h->n > n)
		memmove(h->row, h->row + n, (h->n - n) * sizeof(*h->row));
	h->n -= n;
	h->n_windows--;
	for (uint32_t i = 0; i < h->n_windows; i++)
		h->first[i] = h->first[i + 1] - n;
}

void xp_mesh_history_begin(struct xp_mesh_history *h)
{
	if (h->n_kept == 0)
		return;
	if (h->n_windows == h->n_kept)
		forget_first(h);
	h->first[h->n_windows++] = h->n;
}

int xp_mesh_history_take(struct xp_mesh_history *h,
    const struct connects_row *r, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&h->row, &h->cap, h->n + 1, e);
	if (rc == 0)
		h->row[h->n++] = *r;
	return rc;
}

int xp_mesh_history_tell(const struct xp_mesh_history *h, uint32_t window,
    struct xp_mesh_sums *s, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i + 1 < h->n_windows; i++) {
		const uint32_t number = window + 1 + i - h->n_windows;
		xp_mesh_sums_begin(s, number * h->window_ns);
		for (size_t k = h->first[i]; rc == 0 && k < h->first[i + 1];
		     k++)
			rc = xp_mesh_sums_take(s, &h->row[k], e);
		if (rc == 0)
			rc = xp_mesh_sums_end(s, e);
	}
	return rc;
}
