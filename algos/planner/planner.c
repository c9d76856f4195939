/* algos/planner/planner.c -- rounds of probes by what they are expected to tell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/planner/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/planner/gain.h"
#include "algos/sieve/sieve_chances.h"
#include "sim/sort.h"
#include "sim/vec.h"

#define FIELD(m) offsetof(struct algo_planner_params, m)

const struct sim_field algo_planner_fields[] = {
    {"error", SIM_F_F64, FIELD(error), .min = 1e-6, .max = 1e6, .unit = "links",
	.def = "0.05",
	.doc = "it stops when it expects fewer links to be taken wrongly"},
    {"round", SIM_F_U32, FIELD(round), .min = 1, .max = 1e6, .unit = "probes",
	.def = "96", .doc = "sent before it thinks again, at most"},
    {"first", SIM_F_U32, FIELD(first), .min = 1, .max = 1e6, .unit = "probes",
	.def = "12", .doc = "of the first rounds, if that is less"},
    {"grow", SIM_F_F64, FIELD(grow), .min = 0, .max = 1, .unit = "1",
	.def = "0.02",
	.doc = "later rounds are of that share of all probes before"},
    {"in_turn", SIM_F_F64, FIELD(in_turn), .min = 0, .max = 1, .unit = "1",
	.def = "0.5",
	.doc = "share of a round that takes all ways in turn; 1: none planned"},
    {"least", SIM_F_F64, FIELD(least), .min = 1e-6, .max = 0.5, .unit = "1",
	.def = "5e-4", .doc = "rate of loss that a link fails with, or more"},
    {"healthy", SIM_F_F64, FIELD(healthy), .min = 0, .max = 0.5, .unit = "1",
	.def = "5e-5",
	.doc = "rate of loss that healthy links are taken to have in the "
	       "mean, or more"},
    {"suspects", SIM_F_F64, FIELD(suspects), .min = 0, .max = 1, .unit = "1",
	.def = "0.05", .doc = "a link is one above that chance to have failed"},
    {"shared", SIM_F_F64, FIELD(shared), .min = 0, .max = 1, .unit = "1",
	.def = "0",
	.doc = "what a way tells of a link counts so much beside a suspect"},
    {0},
};

/* What a round is expected to tell of a link, by how many of its probes cross
 * it: now, and with one more. */
struct planner_link {
	double packets, hops; /* of a probe over it, in the mean */
	double mean[2];       /* losses of one, if healthy and if failed */
	unsigned n;
	double now, next;
};

struct algo_planner {
	const struct algo_planner_params *params;
	const struct topo *topo;
	const struct obs_tallies *ways;
	struct obs_tallies told;
	struct sieve_search sieve;
	struct sieve_belief *belief; /* [links] */
	double *chance, *hazard;     /* [links] */
	uint8_t *within;             /* [links] */
	topo_link *alike;            /* [links] the first of those like it */
	double *together;            /* [links] at the first of them */
	double error;

	uint32_t *first; /* [links + 1] ways over link l are */
	uint32_t *over;  /* over[first[l]] and so on */

	struct planner_link *link;
	double *score;      /* [ways] */
	uint32_t *turn, at; /* [ways] in the order of their turn; the next */
	uint64_t n_asked;   /* probes */
};

void algo_planner_close(struct algo_planner *p)
{
	if (!p)
		return;
	obs_tallies_free(&p->told);
	sieve_search_free(&p->sieve);
	free(p->belief);
	free(p->chance);
	free(p->hazard);
	free(p->within);
	free(p->alike);
	free(p->together);
	free(p->first);
	free(p->over);
	free(p->link);
	free(p->score);
	free(p->turn);
	free(p);
}

/* --- ways ----------------------------------------------------------------- */

/* The links of a way; returns their number. */
static unsigned planner_way(const struct algo_planner *p, uint32_t way,
    topo_link link[TOPO_MAX_HOPS])
{
	const struct obs_tallies *t = p->ways;
	const uint32_t path = t->path[way];
	unsigned n = 0;
	if (t->up[way] != TOPO_NONE)
		link[n++] = t->up[way];
	for (unsigned i = 0; i < obs_path_length(t->paths, path); i++)
		link[n++] = t->paths->link[t->paths->off[path] + i];
	if (t->down[way] != TOPO_NONE)
		link[n++] = t->down[way];
	return n;
}

/* Whatever could be wrong with a way is told before its links are read. */
static int planner_check(const struct algo_planner *p, struct sim_err *e)
{
	const struct obs_tallies *t = p->ways;
	if (t->n == 0 || t->n > UINT32_MAX)
		return sim_fail(e, SIM_EINVAL,
		    "probes can't be planned with %zu ways.", t->n);
	for (size_t i = 0; i < t->n; i++) {
		if (t->path[i] == OBS_NO_PATH)
			return sim_fail(e, SIM_EINVAL,
			    "way %zu of %zu has no path.", i, t->n);
		if (obs_path_length(t->paths, t->path[i]) +
			(t->up[i] != TOPO_NONE) + (t->down[i] != TOPO_NONE) >
		    TOPO_MAX_HOPS)
			return sim_fail(e, SIM_EINVAL,
			    "way %zu of %zu has more than %d links.", i, t->n,
			    TOPO_MAX_HOPS);
	}
	return 0;
}

/* Which ways cross each link, and what these are like in the mean. */
static int planner_sort(struct algo_planner *p, struct sim_err *e)
{
	topo_link link[TOPO_MAX_HOPS];
	const uint32_t n_links = p->topo->n_links;
	uint32_t *first = p->first;
	for (uint32_t w = 0; w < p->ways->n; w++)
		for (unsigned h = planner_way(p, w, link); h-- > 0;)
			first[link[h] + 2]++;
	for (uint32_t l = 0; l < n_links; l++)
		first[l + 2] += first[l + 1];
	const int rc = SIM_ZALLOC(&p->over, first[n_links + 1], e);
	if (rc < 0)
		return rc;
	for (uint32_t w = 0; w < p->ways->n; w++) {
		const unsigned n = planner_way(p, w, link);
		for (unsigned h = 0; h < n; h++) {
			struct planner_link *l = &p->link[link[h]];
			p->over[first[link[h] + 1]++] = w;
			l->packets += p->ways->n_sent[w];
			l->hops += n;
		}
	}
	for (uint32_t l = 0; l < n_links; l++) {
		const double n = first[l + 1] - first[l];
		p->within[l] = n > 0;
		p->link[l].packets /= fmax(n, 1);
		p->link[l].hops /= fmax(n, 1);
	}
	return 0;
}

/* By the ways over them; of equals the first link comes first. */
static int planner_by_ways(const void *a, const void *b, void *arg)
{
	const struct algo_planner *p = arg;
	const topo_link x = *(const topo_link *)a, y = *(const topo_link *)b;
	const uint32_t n = p->first[x + 1] - p->first[x],
		       k = p->first[y + 1] - p->first[y];
	int d = SIM_ORDER(n, k);
	if (d == 0 && n > 0)
		d = memcmp(p->over + p->first[x], p->over + p->first[y],
		    n * sizeof(p->over[0]));
	return d != 0 ? d : SIM_ORDER(x, y);
}

static int planner_is_alike(const struct algo_planner *p, topo_link x,
    topo_link y)
{
	const uint32_t n = p->first[x + 1] - p->first[x];
	return n > 0 && n == p->first[y + 1] - p->first[y] &&
	    memcmp(p->over + p->first[x], p->over + p->first[y],
		n * sizeof(p->over[0])) == 0;
}

/* Links that all ways cross together or not at all. */
static int planner_match(struct algo_planner *p, struct sim_err *e)
{
	const uint32_t n_links = p->topo->n_links;
	topo_link *order;
	const int rc = SIM_ZALLOC(&order, n_links, e);
	if (rc < 0)
		return rc;
	for (topo_link l = 0; l < n_links; l++)
		order[l] = l;
	qsort_r(order, n_links, sizeof(order[0]), planner_by_ways, p);
	for (uint32_t i = 0; i < n_links; i++)
		p->alike[order[i]] =
		    i > 0 && planner_is_alike(p, order[i - 1], order[i])
		    ? p->alike[order[i - 1]]
		    : order[i];
	free(order);
	return 0;
}

static int planner_room(struct algo_planner *p, struct sim_err *e)
{
	const size_t n_links = p->topo->n_links, n_ways = p->ways->n;
	int rc;
	if ((rc = SIM_ZALLOC(&p->belief, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->chance, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->hazard, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->within, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->alike, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->together, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->first, n_links + 2, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->link, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->score, n_ways, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->turn, n_ways, e)) < 0)
		return rc;
	rc = planner_sort(p, e);
	return rc < 0 ? rc : planner_match(p, e);
}

int algo_planner_open(struct algo_planner **out, const struct topo *t,
    const struct algo_planner_params *params, const struct obs_tallies *ways,
    struct sim_err *e)
{
	struct algo_planner *p = NULL;
	int rc = SIM_ZALLOC(&p, 1, e);
	*out = p;
	if (rc < 0)
		return rc;
	p->params = params;
	p->topo = t;
	p->ways = ways;
	p->sieve.model.topo = t;
	p->sieve.model.even = 1;
	p->sieve.model.floor = -log1p(-params->healthy);
	/* The mean of all links has the failures in it. In a small network, where
	 * each stands a few times above it, no single one leaves it, however
	 * much is told. */
	p->sieve.start = p->sieve.model.floor;
	/* One failure is expected before anything is known: none with a half,
	 * and each more is half as likely. */
	p->sieve.thin = 2;
	p->sieve.any = 0.5;
	p->sieve.prior.least = -log1p(-params->least);
	if ((rc = planner_check(p, e)) < 0 || (rc = planner_room(p, e)) < 0 ||
	    (rc = algo_planner_begin(p, e)) < 0) {
		algo_planner_close(p);
		*out = NULL;
	}
	return rc;
}

int algo_planner_begin(struct algo_planner *p, struct sim_err *e)
{
	int rc = 0;
	obs_tallies_clear(&p->told);
	p->told.paths = p->ways->paths;
	p->told.telemetry = p->ways->telemetry;
	for (size_t i = 0; rc == 0 && i < p->ways->n; i++) {
		struct obs_tally row = obs_tallies_at(p->ways, i);
		row.n_sent = row.n_lost = 0;
		rc = obs_tallies_add(&p->told, &row, e);
		p->turn[i] = (uint32_t)i;
	}
	p->at = 0;
	p->n_asked = 0;
	return rc < 0 ? rc : algo_planner_think(p, e);
}

/* --- results -------------------------------------------------------------- */

int algo_planner_tell(struct algo_planner *p, uint32_t way, uint32_t sent,
    uint32_t lost, struct sim_err *e)
{
	if (way >= p->told.n)
		return sim_fail(e, SIM_EINVAL, "there is no way %u of %zu.",
		    way, p->told.n);
	if (p->told.n_sent[way] + (uint64_t)sent > UINT32_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "way %u has taken %u packets, and %u more are too many.",
		    way, p->told.n_sent[way], sent);
	p->told.n_sent[way] += sent;
	p->told.n_lost[way] += lost;
	return 0;
}

int algo_planner_think(struct algo_planner *p, struct sim_err *e)
{
	struct sieve_search *s = &p->sieve;
	const struct obs window = {.tallies = &p->told};
	int rc;
	if ((rc = sieve_model_read(&s->model, &window, e)) < 0 ||
	    (rc = sieve_search_run(s, e)) < 0 || (rc = sieve_chances(s, e)) < 0)
		return rc;
	sieve_chances_all(s, p->belief);
	memset(p->together, 0, p->topo->n_links * sizeof(p->together[0]));
	for (topo_link l = 0; l < p->topo->n_links; l++) {
		const struct sieve_belief *b = &p->belief[l];
		p->chance[l] = b->chance;
		p->hazard[l] = b->failed;
		if (p->within[l])
			p->together[p->alike[l]] += b->chance;
	}
	p->error = 0;
	for (topo_link l = 0; l < p->topo->n_links; l++) {
		double *q = &p->together[l];
		*q = fmin(*q, 1);
		p->error += fmin(*q, 1 - *q);
	}
	return 0;
}

void algo_planner_view(const struct algo_planner *p,
    struct algo_planner_view *v)
{
	*v = (struct algo_planner_view){p->chance, p->hazard,
	    p->sieve.prior.mean, p->within, p->alike, p->together, p->error,
	    p->error < p->params->error, &p->told};
}

/* --- a round -------------------------------------------------------------- */

static void planner_next(const struct algo_planner *p, topo_link link)
{
	struct planner_link *l = &p->link[link];
	l->now = l->next;
	l->n++;
	l->next =
	    algo_gain(p->chance[link], l->n * l->mean[0], l->n * l->mean[1]);
}

/* The rest of a way is taken as healthy; where it is not, see planner_score(). */
static void planner_level(struct algo_planner *p)
{
	for (topo_link k = 0; k < p->topo->n_links; k++) {
		struct planner_link *l = &p->link[k];
		const struct sieve_belief *b = &p->belief[k];
		l->mean[0] = l->packets * l->hops * b->healthy;
		l->mean[1] =
		    l->packets * ((l->hops - 1) * b->healthy + b->failed);
		l->n = 0;
		l->next = 0;
		if (p->within[k])
			planner_next(p, k);
	}
}

static double planner_score(const struct algo_planner *p, uint32_t way)
{
	topo_link link[TOPO_MAX_HOPS];
	const unsigned n = planner_way(p, way, link);
	unsigned n_suspects = 0;
	double sum = 0;
	for (unsigned h = 0; h < n; h++)
		n_suspects += p->chance[link[h]] > p->params->suspects;
	for (unsigned h = 0; h < n; h++) {
		const struct planner_link *l = &p->link[link[h]];
		const unsigned self = p->chance[link[h]] > p->params->suspects;
		sum += (l->next - l->now) *
		    (n_suspects > self ? p->params->shared : 1);
	}
	return sum;
}

/* A probe of the round takes that way. */
static void planner_take(struct algo_planner *p, uint32_t way, int scored)
{
	topo_link link[TOPO_MAX_HOPS];
	const unsigned n = planner_way(p, way, link);
	for (unsigned h = 0; h < n; h++)
		planner_next(p, link[h]);
	for (unsigned h = 0; scored && h < n; h++)
		for (uint32_t k = p->first[link[h]]; k < p->first[link[h] + 1];
		     k++)
			p->score[p->over[k]] = planner_score(p, p->over[k]);
}

/* Ways are shuffled as their turn comes, which after the last begins anew. */
static uint32_t planner_turn(struct algo_planner *p, struct sim_rng *r)
{
	const uint32_t n = (uint32_t)p->ways->n,
		       k = p->at + sim_rng_below(r, n - p->at),
		       way = p->turn[k];
	p->turn[k] = p->turn[p->at];
	p->turn[p->at] = way;
	p->at = (p->at + 1) % n;
	return way;
}

/* The way with the greatest score; of equals the first behind FROM, so that no
 * part of a network is preferred while nothing is known. */
static uint32_t planner_best(const struct algo_planner *p, uint32_t from)
{
	const uint32_t n = (uint32_t)p->ways->n;
	uint32_t best = from;
	for (uint32_t i = from + 1; i < n; i++)
		if (p->score[i] > p->score[best])
			best = i;
	for (uint32_t i = 0; i < from; i++)
		if (p->score[i] > p->score[best])
			best = i;
	return best;
}

/* What a loss tells is acted on in the round after it, so that a round should be
 * short beside what was sent to see that loss. Where nothing is planned there is
 * nothing to act on. */
static uint32_t planner_round(const struct algo_planner *p)
{
	const struct algo_planner_params *x = p->params;
	const double n = fmax(x->first, floor(x->grow * (double)p->n_asked));
	return x->in_turn < 1 && n < x->round ? (uint32_t)n : x->round;
}

uint32_t algo_planner_ask(struct algo_planner *p, struct sim_rng *r,
    uint32_t way[])
{
	const uint32_t n = planner_round(p),
		       n_turn = (uint32_t)ceil(p->params->in_turn * n);
	p->n_asked += n;
	for (uint32_t i = 0; i < n_turn; i++)
		way[i] = planner_turn(p, r);
	if (n_turn == n)
		return n;
	planner_level(p);
	for (uint32_t i = 0; i < n_turn; i++)
		planner_take(p, way[i], 0);
	for (uint32_t w = 0; w < p->ways->n; w++)
		p->score[w] = planner_score(p, w);
	for (uint32_t i = n_turn; i < n; i++) {
		way[i] =
		    planner_best(p, sim_rng_below(r, (uint32_t)p->ways->n));
		planner_take(p, way[i], 1);
	}
	return n;
}
