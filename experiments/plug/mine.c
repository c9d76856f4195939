/* experiments/plug/mine.c -- a vote as a plug-in, to begin one's own with.
 * SPDX-License-Identifier: GPL-3.0-or-later OR MIT
 *
 *	cc -O2 -shared -fPIC -o mine.so mine.c
 *
 * Each flow that sent again gives one vote to the links of its path, in equal
 * shares, and is blamed on the one that got most.
 */
#include <culprit/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A vote in shares that are whole for up to 16 links, so that equal sums are
 * equal to the last bit. */
#define VOTE 720720

struct mine {
	uint32_t n_links, accuse;
	uint64_t *votes;   /* [n_links] */
	uint32_t *touched; /* [n_touched] links with votes; room for one more */
	uint32_t n_touched;
};

static const struct culprit_param mine_params[] = {
    {"accuse", "links", "how many are accused", CULPRIT_U32, 0, 0, 100, 2},
};

static int mine_open(void **work, const struct culprit_topo *topo, char *error,
    uint64_t error_bytes)
{
	struct mine *m = calloc(1, sizeof(*m));
	*work = m;
	if (m) {
		m->n_links = topo->n_links;
		m->accuse = topo->value[0].u32;
		m->votes = calloc(m->n_links, sizeof(*m->votes));
		m->touched = calloc(m->n_links + 1, sizeof(*m->touched));
		if (m->votes && m->touched)
			return 0;
	}
	snprintf(error, error_bytes, "no memory for %u links", topo->n_links);
	return 1;
}

static void mine_close(void *work)
{
	struct mine *m = work;
	if (m) {
		free(m->votes);
		free(m->touched);
	}
	free(m);
}

static void mine_vote(struct mine *m, const uint32_t *link, uint64_t n)
{
	uint64_t i, share = VOTE / n;
	for (i = 0; i < n; i++) {
		if (link[i] >= m->n_links) /* CULPRIT_NONE: not known */
			continue;
		/* Which links are new, and which is the worst, no processor
		 * predicts: so neither is asked by a branch. */
		m->touched[m->n_touched] = link[i];
		m->n_touched += m->votes[link[i]] == 0;
		m->votes[link[i]] += share;
	}
}

static uint32_t mine_worst(const struct mine *m, const uint32_t *link,
    uint64_t n)
{
	uint32_t worst = CULPRIT_NONE;
	uint64_t i, most = 0;
	for (i = 0; i < n; i++) {
		uint64_t votes;
		uint32_t is_worse;
		if (link[i] >= m->n_links)
			continue;
		votes = m->votes[link[i]];
		is_worse =
		    (votes > most) | ((votes == most) & (link[i] < worst));
		worst = is_worse ? link[i] : worst;
		most = votes > most ? votes : most;
	}
	return worst;
}

/* Those accused come first. Equals are in the order of their ids. */
static uint32_t mine_accuse(const struct mine *m, uint32_t *touched)
{
	uint32_t i, k;
	for (k = 0; k < m->accuse && k < m->n_touched; k++)
		for (i = k + 1; i < m->n_touched; i++) {
			const uint32_t a = touched[k], b = touched[i];
			if (m->votes[b] < m->votes[a] ||
			    (b > a && m->votes[b] == m->votes[a]))
				continue;
			touched[k] = b;
			touched[i] = a;
		}
	return k;
}

static int mine_diagnose(void *work, const struct culprit_window *w,
    struct culprit_answer *out, char *error, uint64_t error_bytes)
{
	struct mine *m = work;
	uint64_t f;
	uint32_t i;
	(void)error;
	(void)error_bytes;
	/* Nothing may be left of the window before. */
	for (i = 0; i < m->n_touched; i++)
		m->votes[m->touched[i]] = 0;
	m->n_touched = 0;
	for (f = 0; f < w->n_flows; f++)
		if (w->n_retx[f] > 0 && w->off[f + 1] > w->off[f])
			mine_vote(m, w->link + w->off[f],
			    w->off[f + 1] - w->off[f]);
	out->n = m->n_touched;
	out->n_flagged = mine_accuse(m, m->touched);
	for (i = 0; i < m->n_touched; i++) {
		out->id[i] = m->touched[i];
		out->score[i] = (double)m->votes[m->touched[i]] / VOTE;
	}
	for (f = 0; f < w->n_flows; f++)
		if (w->n_retx[f] > 0)
			out->blame[f] = mine_worst(m, w->link + w->off[f],
			    w->off[f + 1] - w->off[f]);
	return 0;
}

static const struct culprit_plugin mine_plugin = {
    sizeof(struct culprit_plugin),
    sizeof(struct culprit_param),
    "mine",
    "the links with the most votes",
    "none",
    CULPRIT_NEEDS_FLOWS | CULPRIT_NEEDS_HOPS,
    CULPRIT_SAYS_FLAGS | CULPRIT_SAYS_BLAMES,
    sizeof(mine_params) / sizeof(mine_params[0]),
    mine_params,
    mine_open,
    mine_diagnose,
    mine_close,
};

const struct culprit_plugin *culprit_plugin_1(void)
{
	return &mine_plugin;
}
