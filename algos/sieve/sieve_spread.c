/* algos/sieve/sieve_spread.c -- chances of what flows of no known path are alike in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_spread.h"

#include <stdlib.h>
#include <string.h>

#include "sim/bytes.h"
#include "sim/sort.h"
#include "sim/vec.h"

static const double SIEVE_SPREAD_LISTED = 1e-4;

/* Whether all that is known of a link is what is known of its class. */
static int sieve_spread_is_pure(const struct sieve_model *m, topo_link l)
{
	return m->sets.class_of[l] != SIEVE_NO_CLASS && m->kept[l] == 0 &&
	    m->off[l] == m->off[l + 1];
}

/* Gives each part a code, by which those are alike that have the same; 0: it is
 * like no other. Of a link that is its class, of a switch a sum over its links,
 * whatever their order. */
static void sieve_spread_codes(const struct sieve_search *s, uint64_t code[])
{
	const struct sieve_model *m = &s->model;
	const uint32_t n_links = m->topo->n_links;
	uint64_t *of_switch = code + n_links;
	memset(of_switch, 0, m->topo->n_switches * sizeof(*code));
	for (topo_link l = 0; l < n_links; l++)
		code[l] = sieve_spread_is_pure(m, l)
		    ? sim_fnv(SIM_FNV_START, &m->sets.class_of[l],
			  sizeof(uint32_t))
		    : 0;
	for (topo_link l = 0; l < n_links; l++)
		for (unsigned i = 0; i < 2; i++) {
			const topo_switch k = s->devices.end[2 * (size_t)l + i];
			if (k == TOPO_NONE || m->passed[l] == 0)
				continue;
			/* What no other link is like no other switch has. */
			const uint64_t x = code[l] ? code[l] : ~(uint64_t)l;
			/* One that leaves it, or comes to it. */
			of_switch[k] += sim_fnv(x, &i, sizeof(i));
		}
}

/* From part C on, those alike are in turn. */
static int sieve_spread_by_code(const void *a, const void *b)
{
	const struct sieve_alike *x = a, *y = b;
	if (x->code != y->code)
		return SIM_ORDER(x->code, y->code);
	return SIM_ORDER(x->part, y->part);
}

static int sieve_spread_room(struct sieve_search *s, struct sim_err *e)
{
	const size_t n =
	    (size_t)s->model.topo->n_links + s->model.topo->n_switches;
	int rc;
	if ((rc = SIM_RESERVE(&s->code, &s->cap_code, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->alike, &s->cap_alike, n, e)) < 0)
		return rc;
	return SIM_RESERVE(&s->mass, &s->cap_mass, n, e);
}

int sieve_spread(struct sieve_search *s, struct sim_err *e)
{
	const uint32_t n_links = s->model.topo->n_links,
		       n = n_links + s->model.topo->n_switches;
	int rc;
	if (!sieve_model_has_maybe(&s->model))
		return 0;
	if ((rc = sieve_spread_room(s, e)) < 0)
		return rc;
	sieve_spread_codes(s, s->code);
	for (uint32_t i = 0; i < n; i++) {
		s->alike[i] = (struct sieve_alike){s->code[i], i};
		s->mass[i] = 0;
	}
	for (size_t i = 0; i < s->n; i++)
		s->mass[s->list[i].link] = s->list[i].chance;
	qsort(s->alike, n, sizeof(*s->alike), sieve_spread_by_code);
	s->n = 0;
	for (uint32_t i = 0, end; i < n; i = end) {
		double sum = 0;
		/* Links are alike with links. */
		for (end = i;
		     end < n && s->alike[end].code == s->alike[i].code &&
		     (s->alike[end].code != 0 || end == i) &&
		     (s->alike[end].part < n_links) ==
			 (s->alike[i].part < n_links);
		     end++)
			sum += s->mass[s->alike[end].part];
		for (uint32_t k = i; k < end; k++)
			if (sum / (end - i) >= SIEVE_SPREAD_LISTED)
				s->list[s->n++] =
				    (struct sieve_candidate){.link = s->alike[k]
									 .part,
					.chance = sum / (end - i)};
	}
	return 0;
}
