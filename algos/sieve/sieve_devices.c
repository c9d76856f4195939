/* algos/sieve/sieve_devices.c -- switches as what makes several links fail.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_devices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_search.h"
#include "sim/vec.h"

/* Of the Beta law of the share of links that fail. */
static const double SIEVE_BETA = 3;
/* Evidence of all links together from which on a switch is looked at. */
static const double SIEVE_LOOK = 8;

void sieve_devices_free(struct sieve_devices *d)
{
	free(d->end);
	free(d->at);
}

int sieve_devices_begin(struct sieve_search *s, struct sim_err *e)
{
	struct sieve_devices *d = &s->devices;
	const struct topo *t = s->model.topo;
	int rc;
	if ((rc = SIM_RESERVE(&d->end, &d->cap_end, 2 * (size_t)t->n_links,
		 e)) < 0 ||
	    (rc = SIM_RESERVE(&d->at, &d->cap_at, t->n_switches, e)) < 0)
		return rc;
	for (topo_switch k = 0; k < t->n_switches; k++)
		d->at[k] = (struct sieve_device){0};
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_node node[2];
		topo_link_ends(t, l, &node[0], &node[1]);
		for (unsigned i = 0; i < 2; i++) {
			topo_switch *end = &d->end[2 * (size_t)l + i];
			*end = node[i] < t->n_hosts ? TOPO_NONE
						    : node[i] - t->n_hosts;
			if (*end != TOPO_NONE)
				d->at[*end].n_links += s->model.passed[l] > 0;
		}
	}
	d->n_accused = 0;
	return 0;
}

void sieve_devices_count(struct sieve_devices *d, topo_link l, int sign)
{
	for (unsigned i = 0; i < 2; i++) {
		const topo_switch k = d->end[2 * (size_t)l + i];
		if (k != TOPO_NONE)
			d->at[k].n_failed += (uint32_t)sign;
	}
}

topo_switch sieve_devices_of(const struct sieve_devices *d, topo_link l,
    topo_switch except)
{
	topo_switch best = TOPO_NONE;
	for (unsigned i = 0; d->n_accused > 0 && i < 2; i++) {
		const topo_switch k = d->end[2 * (size_t)l + i];
		if (k != TOPO_NONE && k != except && d->at[k].accused &&
		    (best == TOPO_NONE ||
			d->at[k].n_failed > d->at[best].n_failed))
			best = k;
	}
	return best;
}

double sieve_devices_odds(const struct sieve_devices *d, topo_switch at,
    int failed)
{
	const double j = d->at[at].n_failed - (failed ? 1. : 0.);
	return log((j + SIEVE_BETA) / fmax(1, d->at[at].n_links - j));
}

/* ln of the chance that just these J of M links fail, of a switch that did. */
static double sieve_devices_share(double j, double m)
{
	return log(SIEVE_BETA) + lgamma(j + SIEVE_BETA) +
	    lgamma(fmax(0, m - j) + 1) - lgamma(m + SIEVE_BETA + 1);
}

static int sieve_devices_touch(const struct sieve_devices *d, topo_switch at,
    topo_link l)
{
	return d->end[2 * (size_t)l] == at || d->end[2 * (size_t)l + 1] == at;
}

/* What accusing AT is worth, with those of its links failed that are: without it
 * each would be a failure of its own, or none. */
static double sieve_devices_gain(const struct sieve_search *s, topo_switch at)
{
	const struct sieve_device *d = &s->devices.at[at];
	double gain = sieve_devices_share(d->n_failed, d->n_links) +
	    sieve_search_odds(s,
		(double)s->n_alone + s->devices.n_accused - d->accused);
	for (size_t i = 0; i < s->n; i++) {
		const struct sieve_candidate *c = &s->list[i];
		if (s->failed[c->link] &&
		    sieve_devices_touch(&s->devices, at, c->link))
			gain += fmin(c->found.ln_factor,
			    -sieve_search_link_odds(s, c->link, at));
	}
	return gain;
}

/* Of the links of AT that did not fail the one with most evidence that is not
 * yet stale; NULL if none has any. */
static struct sieve_candidate *sieve_devices_next(struct sieve_search *s,
    topo_switch at, uint8_t tried[])
{
	struct sieve_candidate *best = NULL;
	for (size_t i = 0; i < s->n; i++) {
		struct sieve_candidate *c = &s->list[i];
		if (!tried[i] && !s->failed[c->link] &&
		    sieve_devices_touch(&s->devices, at, c->link) &&
		    c->found.ln_factor > 0 &&
		    (!best || c->found.ln_factor > best->found.ln_factor))
			best = c;
	}
	if (best)
		tried[best - s->list] = 1;
	return best;
}

/* Let the links of AT join that would, were it accused; marks in s->tried
 * which. */
static void sieve_devices_join(struct sieve_search *s, topo_switch at)
{
	struct sieve_candidate *c;
	for (size_t i = 0; i < s->n; i++)
		s->tried[i] = 0;
	while ((c = sieve_devices_next(s, at, s->tried))) {
		c->found = sieve_search_weigh(s, c->link);
		if (c->found.ln_factor +
			    sieve_devices_odds(&s->devices, at, 0) >
			0 &&
		    !sieve_bursts_say(s, c)) {
			sieve_search_join(s, c);
			s->tried[c - s->list] = 2;
		}
	}
}

static void sieve_devices_undo(struct sieve_search *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->tried[i] == 2) {
			sieve_search_leave(s, s->list[i].link);
			s->list[i].found =
			    sieve_search_weigh(s, s->list[i].link);
		}
}

static void sieve_devices_accuse(struct sieve_search *s, topo_switch at,
    int accused)
{
	s->devices.at[at].accused = accused;
	s->devices.n_accused += accused ? 1 : UINT32_MAX;
	s->n_alone = 0;
	for (topo_link l = 0; l < s->model.topo->n_links; l++)
		s->n_alone += s->failed[l] &&
		    sieve_devices_of(&s->devices, l, TOPO_NONE) == TOPO_NONE;
}

static int sieve_devices_looks(const struct sieve_search *s, topo_switch at)
{
	uint32_t n = 0;
	double sum = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct sieve_candidate *c = &s->list[i];
		if (!sieve_devices_touch(&s->devices, at, c->link))
			continue;
		sum += fmax(0, c->found.ln_factor);
		n += s->failed[c->link] &&
		    sieve_devices_of(&s->devices, c->link, at) == TOPO_NONE;
	}
	return n >= 2 || (n == 0 && sum >= SIEVE_LOOK);
}

int sieve_devices_grow(struct sieve_search *s)
{
	const size_t n_links = s->model.topo->n_links;
	topo_switch best = TOPO_NONE;
	double most = 0;
	for (topo_switch k = 0; k < s->model.topo->n_switches; k++) {
		if (s->devices.at[k].accused || !sieve_devices_looks(s, k))
			continue;
		/* All will be as it was, and what was found of it, too. */
		memcpy(s->least, s->last, n_links * sizeof(*s->last));
		sieve_devices_join(s, k);
		const double gain = sieve_devices_gain(s, k);
		sieve_devices_undo(s);
		memcpy(s->last, s->least, n_links * sizeof(*s->last));
		if (gain > most && s->devices.at[k].n_links > 0) {
			most = gain;
			best = k;
		}
	}
	if (best == TOPO_NONE)
		return 0;
	sieve_devices_join(s, best);
	sieve_devices_accuse(s, best, 1);
	return 1;
}

int sieve_devices_spare(struct sieve_search *s)
{
	int n = 0;
	for (topo_switch k = 0; k < s->model.topo->n_switches; k++)
		if (s->devices.at[k].accused &&
		    (s->devices.at[k].n_failed < 2 ||
			sieve_devices_gain(s, k) < 0)) {
			sieve_devices_accuse(s, k, 0);
			n++;
		}
	return n;
}

void sieve_devices_weigh(struct sieve_search *s)
{
	for (topo_switch k = 0; k < s->model.topo->n_switches; k++)
		if (s->devices.at[k].accused)
			s->devices.at[k].gain = sieve_devices_gain(s, k);
}

double sieve_devices_factor(const struct sieve_search *s, topo_switch at)
{
	const struct sieve_device *d = &s->devices.at[at];
	double ln = sieve_devices_share(d->n_failed, d->n_links);
	for (size_t i = 0; i < s->n; i++) {
		const topo_link l = s->list[i].link;
		if (s->failed[l] &&
		    sieve_devices_of(&s->devices, l, TOPO_NONE) == at)
			ln += s->list[i].found.ln_factor;
	}
	return ln;
}
