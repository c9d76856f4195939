/* tests/cli/lib/rows_plugin.c -- the link that lost most of what it was sent.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of rows of packets sent and lost: the same as rows_algo.py, to the last bit.
 */
#include <stdlib.h>
#include <string.h>

#include "algos/plugin.h"

struct rows {
	uint32_t n_links;
	double *sent, *lost;
};

static int start(void **work, const struct culprit_topo *t, char *error,
    uint64_t n)
{
	struct rows *x = malloc(sizeof(*x));
	(void)error;
	(void)n;
	*work = x;
	x->n_links = t->n_links;
	x->sent = malloc(t->n_links * sizeof(double));
	x->lost = malloc(t->n_links * sizeof(double));
	return 0;
}

static void stop(void *work)
{
	struct rows *x = work;
	free(x->sent);
	free(x->lost);
	free(x);
}

static void add(struct rows *x, uint32_t link, const struct culprit_window *w,
    uint64_t r)
{
	if (link == CULPRIT_NONE)
		return;
	x->sent[link] += w->n_sent[r];
	x->lost[link] += w->n_lost[r];
}

static int diagnose(void *work, const struct culprit_window *w,
    struct culprit_answer *out, char *error, uint64_t n)
{
	struct rows *x = work;
	(void)error;
	(void)n;
#ifdef CRASH
	x->sent = NULL;
#endif
	memset(x->sent, 0, x->n_links * sizeof(double));
	memset(x->lost, 0, x->n_links * sizeof(double));
	for (uint64_t r = 0; r < w->n_rows; r++) {
		const uint32_t p = w->path[r];
		add(x, w->up[r], w, r);
		add(x, w->down[r], w, r);
		for (uint32_t i = p == CULPRIT_NONE ? 0 : w->path_off[p];
		     p != CULPRIT_NONE && i < w->path_off[p + 1]; i++)
			add(x, w->path_link[i], w, r);
	}
	for (uint32_t l = 0; l < x->n_links; l++) {
		const double score =
		    x->lost[l] > 0 ? x->lost[l] / x->sent[l] : 0;
		uint32_t at = out->n;
		if (!(score > 0))
			continue;
		for (; at > 0 && out->score[at - 1] < score; at--) {
			out->score[at] = out->score[at - 1];
			out->id[at] = out->id[at - 1];
		}
		out->score[at] = score;
		out->id[at] = l;
		out->n++;
	}
	out->n_flagged = out->n > 0;
	return 0;
}

const struct culprit_plugin *culprit_plugin_1(void)
{
	static const struct culprit_plugin it = {sizeof(it),
	    sizeof(struct culprit_param), "rows_c", "", "",
	    CULPRIT_NEEDS_TALLIES, CULPRIT_SAYS_FLAGS, 0, NULL, start, diagnose,
	    stop};
	return &it;
}
