/* algos/sieve/sieve_sets.c -- links that flows of no known path may have crossed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_sets.h"

#include <stdlib.h>
#include <string.h>

#include "sim/bytes.h"
#include "sim/vec.h"

void sieve_sets_free(struct sieve_sets *s)
{
	algo_ways_free(&s->ways);
	free(s->used);
	free(s->had);
	free(s->kind);
	free(s->off);
	free(s->over);
	free(s->on);
	free(s->sure_off);
	free(s->sure);
	free(s->class_of);
	free(s->first_of);
	free(s->size);
	free(s->share);
	free(s->slot);
	free(s->entry);
	free(s->head);
	free(s->set_off);
	free(s->set_entry);
	free(s->seen);
	*s = (struct sieve_sets){0};
}

int sieve_sets_begin(struct sieve_sets *s, const struct topo *t,
    const struct obs_paths *p, struct sim_err *e)
{
	int rc;
	/* Numbers of sets mean nothing any more. */
	if (s->ways.of != p || s->n_cleared != p->n_cleared)
		s->n_had = 0;
	s->n_cleared = p->n_cleared;
	s->n_sets = p->n_sets;
	if ((rc = algo_ways_update(&s->ways, t, p, 0, 1, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->used, &s->cap_used, s->n_sets, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->had, &s->cap_had, s->n_sets, e)) < 0)
		return rc;
	memset(s->used, 0, s->n_sets);
	return 0;
}

/* --- links' sets ---------------------------------------------------------- */

/* Few kinds occur. */
static int sieve_sets_kind(struct sieve_sets *s, uint32_t set, uint32_t n_on,
    uint32_t *kind, struct sim_err *e)
{
	const struct obs_paths *p = s->ways.of;
	const uint32_t n_paths = obs_set_size(p, set);
	const unsigned n_hops = obs_path_length(p, p->first[set]);
	int rc;
	for (*kind = 0; *kind < s->n_kinds; ++*kind) {
		const struct sieve_kind *k = &s->kind[*kind];
		if (k->n_on == n_on && k->n_paths == n_paths &&
		    k->n_hops == n_hops)
			return 0;
	}
	if ((rc = SIM_RESERVE(&s->kind, &s->cap_kind, s->n_kinds + 1, e)) < 0)
		return rc;
	s->kind[s->n_kinds++] = (struct sieve_kind){n_on, n_paths, n_hops};
	return 0;
}

/* Of each link how many sets there are, of each set which links are sure. */
static int sieve_sets_count(struct sieve_sets *s, uint32_t n_links,
    struct sim_err *e)
{
	const struct algo_ways *w = &s->ways;
	uint32_t *first = s->off + 1, n = 0;
	int rc;
	memset(s->off, 0, (n_links + 2) * sizeof(*s->off));
	for (uint32_t set = 0; set < s->n_sets; set++) {
		const uint32_t size = obs_set_size(w->of, set);
		s->sure_off[set] = n;
		if (!s->used[set])
			continue;
		for (uint32_t k = w->set_off[set]; k < w->set_off[set + 1];
		     k++) {
			if (w->set_count[k] < size) {
				first[w->set_part[k] + 1]++;
				continue;
			}
			if ((rc = SIM_RESERVE(&s->sure, &s->cap_sure, n + 1,
				 e)) < 0)
				return rc;
			s->sure[n++] = w->set_part[k];
		}
	}
	s->sure_off[s->n_sets] = n;
	for (uint32_t l = 0; l < n_links; l++)
		first[l + 1] += first[l];
	if ((rc = SIM_RESERVE(&s->on, &s->cap_on, first[n_links], e)) < 0)
		return rc;
	return SIM_RESERVE(&s->over, &s->cap_over, first[n_links], e);
}

/* Which paths of a set its links are on, that were put last of each. */
static void sieve_sets_mark(struct sieve_sets *s, uint32_t set)
{
	const struct obs_paths *p = s->ways.of;
	const uint32_t *end = s->off + 1, first = p->first[set],
		       n = p->first[set + 1] - first;
	for (uint32_t i = 0; n <= 64 && i < n; i++)
		for (uint32_t k = p->off[first + i]; k < p->off[first + i + 1];
		     k++) {
			const topo_link l = p->link[k];
			const uint32_t at = end[l] - 1;
			if (end[l] > s->off[l] && s->over[at].set == set)
				s->on[at] |= UINT64_C(1) << i;
		}
}

static int sieve_sets_fill(struct sieve_sets *s, struct sim_err *e)
{
	const struct algo_ways *w = &s->ways;
	uint32_t *first = s->off + 1;
	int rc = 0;
	s->n_kinds = 0;
	for (uint32_t set = 0; set < s->n_sets; set++) {
		const uint32_t size = obs_set_size(w->of, set);
		uint32_t kind = 0, n_on = 0;
		for (uint32_t k = w->set_off[set];
		     s->used[set] && k < w->set_off[set + 1]; k++) {
			if (w->set_count[k] == size)
				continue;
			if (w->set_count[k] != n_on &&
			    (rc = sieve_sets_kind(s, set, w->set_count[k],
				 &kind, e)) < 0)
				return rc;
			n_on = w->set_count[k];
			const uint32_t at = first[w->set_part[k]]++;
			s->over[at] = (struct sieve_over){set, kind};
			s->on[at] = 0;
		}
		if (s->used[set])
			sieve_sets_mark(s, set);
	}
	return 0;
}

/* --- classes -------------------------------------------------------------- */

static int sieve_sets_alike(const struct sieve_sets *s, topo_link a,
    topo_link b)
{
	const uint32_t n = s->off[a + 1] - s->off[a];
	return n == s->off[b + 1] - s->off[b] &&
	    memcmp(s->over + s->off[a], s->over + s->off[b],
		n * sizeof(*s->over)) == 0;
}

/* Classes are found by a hash of their sets, in slots of which half are free. */
static void sieve_sets_classify(struct sieve_sets *s, uint32_t n_links,
    size_t n_slots)
{
	memset(s->slot, 0, n_slots * sizeof(*s->slot));
	s->n_classes = 0;
	for (topo_link l = 0; l < n_links; l++) {
		const size_t n = s->off[l + 1] - s->off[l];
		size_t at = sim_fnv(SIM_FNV_START, s->over + s->off[l],
				n * sizeof(*s->over)) &
		    (n_slots - 1);
		s->class_of[l] = SIEVE_NO_CLASS;
		if (n == 0)
			continue;
		while (s->slot[at] &&
		    !sieve_sets_alike(s, l, s->first_of[s->slot[at] - 1]))
			at = (at + 1) & (n_slots - 1);
		if (!s->slot[at]) {
			s->first_of[s->n_classes] = l;
			s->size[s->n_classes] = 0;
			s->slot[at] = ++s->n_classes;
		}
		s->class_of[l] = s->slot[at] - 1;
		s->size[s->class_of[l]]++;
	}
}

static int sieve_sets_entry(struct sieve_sets *s, uint32_t c, uint32_t kind,
    uint32_t *entry, struct sim_err *e)
{
	int rc;
	for (*entry = s->head[c]; *entry != UINT32_MAX;
	     *entry = s->entry[*entry].next)
		if (s->entry[*entry].kind == kind)
			return 0;
	if ((rc = SIM_RESERVE(&s->entry, &s->cap_entry, s->n_entries + 1, e)) <
		0 ||
	    (rc = SIM_RESERVE(&s->seen, &s->cap_seen, s->n_entries + 1, e)) < 0)
		return rc;
	*entry = (uint32_t)s->n_entries++;
	s->entry[*entry] = (struct sieve_entry){c, kind, s->head[c]};
	s->seen[*entry] = UINT32_MAX;
	s->head[c] = *entry;
	return 0;
}

/* The entries of all sets, each once a set. */
static int sieve_sets_enter(struct sieve_sets *s, struct sim_err *e)
{
	const struct algo_ways *w = &s->ways;
	uint32_t n = 0, entry;
	int rc;
	s->n_entries = 0;
	for (uint32_t c = 0; c < s->n_classes; c++)
		s->head[c] = UINT32_MAX;
	for (uint32_t set = 0; set < s->n_sets; set++) {
		const uint32_t size = obs_set_size(w->of, set);
		s->set_off[set] = n;
		for (uint32_t k = w->set_off[set];
		     s->used[set] && k < w->set_off[set + 1]; k++) {
			uint32_t kind;
			if (w->set_count[k] == size)
				continue;
			if ((rc = sieve_sets_kind(s, set, w->set_count[k],
				 &kind, e)) < 0 ||
			    (rc = sieve_sets_entry(s,
				 s->class_of[w->set_part[k]], kind, &entry,
				 e)) < 0 ||
			    (rc = SIM_RESERVE(&s->set_entry, &s->cap_set_entry,
				 n + 1, e)) < 0)
				return rc;
			if (s->seen[entry] != set)
				s->set_entry[n++] = entry;
			s->seen[entry] = set;
		}
	}
	s->set_off[s->n_sets] = n;
	return 0;
}

int sieve_sets_update(struct sieve_sets *s, uint32_t n_links, struct sim_err *e)
{
	size_t n_slots = 2;
	int rc;
	if (s->n_had == s->n_sets && memcmp(s->used, s->had, s->n_sets) == 0)
		return 0;
	s->n_had = 0;
	while (n_slots < 2 * (size_t)n_links)
		n_slots *= 2;
	if ((rc = SIM_RESERVE(&s->off, &s->cap_off, n_links + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->sure_off, &s->cap_sure_off, s->n_sets + 1,
		 e)) < 0 ||
	    (rc = SIM_RESERVE(&s->class_of, &s->cap_class_of, n_links, e)) <
		0 ||
	    (rc = SIM_RESERVE(&s->first_of, &s->cap_first_of, n_links, e)) <
		0 ||
	    (rc = SIM_RESERVE(&s->size, &s->cap_size, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->share, &s->cap_share, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->slot, &s->cap_slot, n_slots, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->head, &s->cap_head, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->set_off, &s->cap_set_off, s->n_sets + 1, e)) <
		0 ||
	    (rc = sieve_sets_count(s, n_links, e)) < 0 ||
	    (rc = sieve_sets_fill(s, e)) < 0)
		return rc;
	sieve_sets_classify(s, n_links, n_slots);
	if ((rc = sieve_sets_enter(s, e)) < 0)
		return rc;
	memcpy(s->had, s->used, s->n_sets);
	s->n_had = s->n_sets;
	return 0;
}

void sieve_sets_share(struct sieve_sets *s, const double n[])
{
	for (uint32_t c = 0; c < s->n_classes; c++) {
		const topo_link l = s->first_of[c];
		s->share[c] = 0;
		for (uint32_t k = s->off[l]; k < s->off[l + 1]; k++) {
			const struct sieve_kind *q = &s->kind[s->over[k].kind];
			s->share[c] += n[s->over[k].set] * q->n_on / q->n_paths;
		}
	}
}
