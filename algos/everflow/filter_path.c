/* algos/everflow/filter_path.c -- ways of packets as patterns: bit-set automata.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/filter_path.h"

#include <stdio.h>
#include <string.h>

#include "sim/text.h"

/* --- nodes and tiers ------------------------------------------------------ */

/* By number, as topo_tier_of() counts. */
static const char *const path_tiers[] = {"tor", "t1", "t2", "border", NULL};
enum { PATH_N_TIERS = sizeof(path_tiers) / sizeof(path_tiers[0]) - 1 };

/* NAME with the number that WORD ends in, if that is a node: what is mistyped is
 * mostly the kind. */
static void path_renumber(const struct topo *t, char name[64], const char *word)
{
	static const char digits[] = "0123456789";
	char other[64];
	topo_node n;
	size_t kind = strlen(name), from = strlen(word);
	while (kind > 0 && strchr(digits, name[kind - 1]))
		kind--;
	while (from > 0 && strchr(digits, word[from - 1]))
		from--;
	snprintf(other, sizeof(other), "%.*s%.20s", (int)kind, name,
	    word + from);
	if (word[from] && topo_node_parse(t, other, &n, NULL) == 0)
		memcpy(name, other, sizeof(other));
}

int algo_path_unknown(const struct topo *t, const char *word, struct sim_err *e)
{
	enum { N_SOME = 5 };
	char shown[64], name[N_SOME][64];
	const char *near[PATH_N_TIERS + N_SOME];
	size_t n = 0;
	sim_quote(shown, word);
	if (!t)
		return sim_fail(e, SIM_EINVAL,
		    "%s may be a node, but of which topology?", shown);
	/* A few nodes stand for all of their kinds. */
	const topo_node end = t->n_hosts + t->n_switches;
	const topo_node some[N_SOME] = {0, t->n_hosts - 1, t->n_hosts,
	    t->n_hosts + t->n_switches / 2, end - 1};
	for (size_t i = 0; i < N_SOME; i++) {
		if (some[i] >= end)
			continue;
		topo_node_name(t, some[i], name[i]);
		path_renumber(t, name[i], word);
		near[n++] = name[i];
	}
	for (size_t i = 0; i < PATH_N_TIERS; i++)
		near[n++] = path_tiers[i];
	const char *best = sim_did_you_mean(word, near, n);
	return sim_fail(e, SIM_EINVAL,
	    "%s is no node of the network and no tier%s%s%s", shown,
	    best ? "; did you mean \"" : ".", best ? best : "",
	    best ? "\"?" : "");
}

int algo_path_tier(const struct topo *t, const char *word, uint32_t *tier,
    struct sim_err *e)
{
	const size_t i = sim_word_find(path_tiers, word);
	if (!t || !path_tiers[i])
		return algo_path_unknown(t, word, e);
	/* That of any switch tells it of all. */
	if (t->n_switches == 0 || topo_tier_of(t, 0) == TOPO_NONE)
		return sim_fail(e, SIM_EINVAL,
		    "%s is a tier, but this network has none.", word);
	*tier = (uint32_t)i;
	return 0;
}

/* --- patterns ------------------------------------------------------------- */

struct path_parser {
	struct algo_paths *p;
	const char *text;
	size_t at, n;
	unsigned depth;
	const struct topo *topo;
	struct sim_err *e;
};

/* A piece of a pattern: the states that it may begin and end with, and whether
 * it may be nothing at all. */
struct path_piece {
	uint64_t first, last;
	int may_miss;
};

static void path_skip(struct path_parser *x)
{
	while (x->at < x->n && strchr(" \t", x->text[x->at]))
		x->at++;
}

static int path_is_at(const struct path_parser *x, char c)
{
	return x->at < x->n && x->text[x->at] == c;
}

static int path_state(struct path_parser *x, uint8_t atom, uint32_t id,
    struct path_piece *out)
{
	struct algo_paths *p = x->p;
	if (p->n == ALGO_PATH_STATES)
		return sim_fail(x->e, SIM_ELIMIT,
		    "paths of more than %d atoms, one more for each path.",
		    ALGO_PATH_STATES);
	p->atom[p->n] = atom;
	p->id[p->n] = id;
	p->follow[p->n] = 0;
	*out = (struct path_piece){UINT64_C(1) << p->n, UINT64_C(1) << p->n, 0};
	p->n++;
	return 0;
}

/* A follows B: what A may end with is followed by what B may begin with. */
static struct path_piece path_join(struct algo_paths *p,
    const struct path_piece *a, const struct path_piece *b)
{
	for (uint64_t left = a->last; left; left &= left - 1)
		p->follow[__builtin_ctzll(left)] |= b->first;
	return (struct path_piece){
	    .first = a->first | (a->may_miss ? b->first : 0),
	    .last = b->last | (b->may_miss ? a->last : 0),
	    .may_miss = a->may_miss && b->may_miss,
	};
}

static int path_word(struct path_parser *x, struct path_piece *out)
{
	char word[64];
	topo_node node;
	const char *from = x->text + x->at;
	size_t n = 0;
	while (x->at + n < x->n && !strchr(" \t()|\"", from[n]))
		n++;
	if (n >= sizeof(word))
		return sim_fail(x->e, SIM_EINVAL,
		    "a name of %zu bytes; nodes have at most %zu.", n,
		    sizeof(word) - 1);
	snprintf(word, sizeof(word), "%.*s", (int)n, from);
	if (strcmp(word, ".") == 0 || strcmp(word, "*") == 0) {
		const int rc = path_state(x, ALGO_PATH_HOP, 0, out);
		/* Any number of hops: none, or again what it is. */
		if (rc == 0 && *word == '*') {
			out->may_miss = 1;
			path_join(x->p, out, out);
		}
		x->at += n;
		return rc;
	}
	int rc;
	uint32_t tier = TOPO_NONE;
	/* A network may have a node that is called as a tier is. */
	if (x->topo && topo_node_parse(x->topo, word, &node, NULL) == 0) {
		const int is_host = node < x->topo->n_hosts;
		rc = path_state(x, is_host ? ALGO_PATH_HOST : ALGO_PATH_SWITCH,
		    is_host ? node : node - x->topo->n_hosts, out);
	} else if ((rc = algo_path_tier(x->topo, word, &tier, x->e)) == 0) {
		rc = path_state(x, ALGO_PATH_TIER, tier, out);
	}
	if (rc == 0)
		x->at += n;
	return rc;
}

static int path_choice(struct path_parser *x, struct path_piece *out);

static int path_atom(struct path_parser *x, struct path_piece *out)
{
	if (!path_is_at(x, '('))
		return path_word(x, out);
	const size_t open = x->at++;
	if (++x->depth > ALGO_PATH_DEPTH)
		return sim_fail(x->e, SIM_ELIMIT,
		    "more than %d parentheses within each other.",
		    ALGO_PATH_DEPTH);
	const int rc = path_choice(x, out);
	if (rc < 0)
		return rc;
	if (!path_is_at(x, ')')) {
		x->at = open;
		return sim_fail(x->e, SIM_EINVAL, "this \"(\" has no \")\".");
	}
	x->at++;
	x->depth--;
	return 0;
}

/* Atoms one after the other, at least one. */
static int path_sequence(struct path_parser *x, struct path_piece *out)
{
	struct path_piece next;
	int rc;
	path_skip(x);
	if (x->at == x->n || path_is_at(x, '|') || path_is_at(x, ')'))
		return sim_fail(x->e, SIM_EINVAL, "a node was expected here.");
	if ((rc = path_atom(x, out)) < 0)
		return rc;
	for (;;) {
		path_skip(x);
		if (x->at == x->n || path_is_at(x, '|') || path_is_at(x, ')'))
			return 0;
		if ((rc = path_atom(x, &next)) < 0)
			return rc;
		*out = path_join(x->p, out, &next);
	}
}

static int path_choice(struct path_parser *x, struct path_piece *out)
{
	struct path_piece other;
	int rc = path_sequence(x, out);
	while (rc == 0 && path_is_at(x, '|')) {
		x->at++;
		if ((rc = path_sequence(x, &other)) < 0)
			break;
		out->first |= other.first;
		out->last |= other.last;
		out->may_miss |= other.may_miss;
	}
	return rc;
}

int algo_path_compile(struct algo_paths *p, const char *text, size_t n,
    const struct topo *t, uint8_t *start, uint64_t *accept, size_t *at,
    struct sim_err *e)
{
	struct path_parser x = {p, text, 0, n, 0, t, e};
	struct path_piece begin, all = {0};
	*start = p->n;
	int rc = path_state(&x, ALGO_PATH_START, 0, &begin);
	if (rc == 0)
		rc = path_choice(&x, &all);
	if (rc == 0 && x.at < n)
		rc = sim_fail(e, SIM_EINVAL, "this \")\" has no \"(\".");
	*at = x.at;
	if (rc < 0)
		return rc;
	*accept = path_join(p, &begin, &all).last;
	return 0;
}

/* --- following a way ------------------------------------------------------ */

static uint64_t path_behind(const struct algo_paths *p, uint64_t states)
{
	uint64_t behind = 0;
	for (; states; states &= states - 1)
		behind |= p->follow[__builtin_ctzll(states)];
	return behind;
}

uint64_t algo_path_to_host(const struct algo_paths *p, uint64_t states,
    topo_host h)
{
	uint64_t to = 0;
	for (uint64_t left = path_behind(p, states); left; left &= left - 1) {
		const int i = __builtin_ctzll(left);
		if (p->atom[i] == ALGO_PATH_HOST && p->id[i] == h)
			to |= left & -left;
	}
	return to;
}

uint64_t algo_path_to_switch(const struct algo_paths *p, const struct topo *t,
    uint64_t states, topo_switch s)
{
	uint64_t to = 0;
	for (uint64_t left = path_behind(p, states); left; left &= left - 1) {
		const int i = __builtin_ctzll(left);
		if (p->atom[i] == ALGO_PATH_HOP ||
		    (p->atom[i] == ALGO_PATH_SWITCH && p->id[i] == s) ||
		    (p->atom[i] == ALGO_PATH_TIER &&
			topo_tier_of(t, s) == p->id[i]))
			to |= left & -left;
	}
	return to;
}
