/* algos/planner/survey.c -- planned probes, by scouts on all hosts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/planner/survey.h"

#include <stdlib.h>
#include <string.h>

#include "algos/vigil/path_map.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* Source ports of a host's tuples: its k-th is one of those from
 * SURVEY_PORT + k * SURVEY_PORTS on, so that no two are the same. They lie below
 * those that kernels choose by themselves. */
enum { SURVEY_TRACES = 1, SURVEY_PORT = 16384, SURVEY_PORTS = 256 };

#define FIELD(m) offsetof(struct algo_survey_params, m)
const struct sim_field algo_survey_fields[] = {
    {"ways", SIM_F_U32, FIELD(ways), .min = 1, .max = ALGO_SURVEY_WAYS,
	.unit = "ways", .def = "8", .doc = "that each host begins"},
    {"round_s", SIM_F_F64, FIELD(round_s), .min = 0.1, .max = 3600, .unit = "s",
	.def = "10", .doc = "that agents' answers are waited for"},
    {"port", SIM_F_U32, FIELD(port), .min = 1, .max = 65535, .unit = "1",
	.def = "8080", .doc = "that hosts listen at"},
    {0},
};

/* A five-tuple from src, and how its packets go there and back. */
struct survey_tuple {
	topo_host src, dst;
	uint16_t port;
	struct algo_path there, back;
};

struct algo_survey {
	const struct algo_survey_params *params;
	const struct topo *topo;
	struct sim_rng *r;
	uint32_t n_tuples;
	struct survey_tuple *tuple; /* [n_tuples] those of a host together */

	/* Ways, which are those tuples of which both directions are known. */
	struct obs_paths paths;
	struct obs_tallies ways;
	uint32_t *of_way; /* [n_tuples] the tuple of a way */
	struct algo_planner *planner;

	uint32_t round;
	uint8_t stopped;
	sim_ns until;      /* the round is waited for */
	uint32_t *asked;   /* [plan.round] ways */
	uint32_t *n_asked; /* [n_tuples] probes of this round by a way */
	uint32_t *last;    /* [n_hosts] round that was told of last */
	uint8_t *awaited;  /* [n_hosts] 1: has jobs that nothing came of yet */
	uint64_t n_connects;
	uint32_t n_silent, n_bad;
	unsigned char message[ALGO_SCOUT_MESSAGE];
};

void algo_survey_close(struct algo_survey *s)
{
	if (!s)
		return;
	algo_planner_close(s->planner);
	obs_tallies_free(&s->ways);
	obs_paths_free(&s->paths);
	free(s->tuple);
	free(s->of_way);
	free(s->asked);
	free(s->n_asked);
	free(s->last);
	free(s->awaited);
	free(s);
}

int algo_survey_open(struct algo_survey **out, const struct topo *t,
    const struct algo_survey_params *p, struct sim_err *e)
{
	struct algo_survey *s = NULL;
	int rc = SIM_ZALLOC(&s, 1, e);
	*out = s;
	if (rc < 0)
		return rc;
	s->params = p;
	s->topo = t;
	s->n_tuples = t->n_hosts * p->ways;
	rc = t->n_hosts < 2
	    ? sim_fail(e, SIM_EINVAL,
		  "probes go from host to host, and there is %u.", t->n_hosts)
	    : 0;
	if (rc < 0 || (rc = SIM_ZALLOC(&s->tuple, s->n_tuples, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->of_way, s->n_tuples, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->n_asked, s->n_tuples, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->asked, p->plan.round, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->last, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->awaited, t->n_hosts, e)) < 0) {
		algo_survey_close(s);
		*out = NULL;
	}
	return rc;
}

/* --- rounds --------------------------------------------------------------- */

static void survey_next_round(struct algo_survey *s, sim_ns now, double lasts_s)
{
	s->round++;
	s->until = now + sim_ns_of(lasts_s);
}

/* Each host begins `ways` tuples, and is the other end of as many, so that none
 * has more traces than it has room for. */
void algo_survey_begin(struct algo_survey *s, sim_ns now, struct sim_rng *r)
{
	const uint32_t n_hosts = s->topo->n_hosts;
	algo_planner_close(s->planner);
	s->planner = NULL;
	s->r = r;
	s->round = s->stopped = 0;
	s->n_connects = s->n_silent = s->n_bad = 0;
	memset(s->last, 0, n_hosts * sizeof(s->last[0]));
	memset(s->awaited, 1, n_hosts);
	for (uint32_t k = 0; k < s->params->ways; k++) {
		const uint32_t to = 1 + sim_rng_below(r, n_hosts - 1);
		for (topo_host h = 0; h < n_hosts; h++)
			s->tuple[h * s->params->ways + k] =
			    (struct survey_tuple){h, (h + to) % n_hosts,
				(uint16_t)(SURVEY_PORT + k * SURVEY_PORTS +
				    sim_rng_below(r, SURVEY_PORTS)),
				{0}, {0}};
	}
	survey_next_round(s, now, 10 * s->params->round_s);
}

/* What the planner asks for. */
static void survey_ask(struct algo_survey *s, sim_ns now)
{
	const uint32_t n = algo_planner_ask(s->planner, s->r, s->asked);
	memset(s->n_asked, 0, s->n_tuples * sizeof(s->n_asked[0]));
	for (uint32_t i = 0; i < n; i++) {
		s->n_asked[s->asked[i]]++;
		s->awaited[s->tuple[s->of_way[s->asked[i]]].src] = 1;
	}
	survey_next_round(s, now, s->params->round_s);
}

/* --- ways ----------------------------------------------------------------- */

/* A way between the same switches as the one before is of the same set. */
static int survey_add_way(struct algo_survey *s, uint32_t i, struct sim_err *e)
{
	const struct survey_tuple *x = &s->tuple[i];
	const struct obs_tallies *w = &s->ways;
	const topo_switch from = topo_tor_of(s->topo, x->src),
			  to = topo_tor_of(s->topo, x->dst);
	topo_link link[2 * TOPO_MAX_HOPS];
	unsigned n = 0;
	int rc = 0;
	/* The first and last links are the hosts', there and back. */
	for (unsigned k = 1; k + 1 < x->there.n_hops; k++)
		link[n++] = x->there.link[k];
	for (unsigned k = 1; k + 1 < x->back.n_hops; k++)
		link[n++] = x->back.link[k];
	if (n + 2 > TOPO_MAX_HOPS)
		return 0;
	if (obs_paths_find(&s->paths, from, to) == OBS_NO_PATH)
		rc = obs_paths_open(&s->paths, from, to, e);
	if (rc < 0 || (rc = obs_paths_add(&s->paths, link, n, e)) < 0)
		return rc;
	const struct obs_tally row = {.up = topo_link_of(x->src, TOPO_UP),
	    .down = topo_link_of(x->dst, TOPO_UP),
	    .set = (uint32_t)s->paths.n_sets - 1,
	    .path = (uint32_t)s->paths.n - 1,
	    .n_sent = s->params->packets,
	    .flow = UINT32_MAX,
	    .is_probe = 1};
	s->of_way[w->n] = i;
	return obs_tallies_add(&s->ways, &row, e);
}

/* Those from switch FROM to switch TO. */
static int survey_add_between(struct algo_survey *s, topo_switch from,
    topo_switch to, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < s->n_tuples; i++) {
		const struct survey_tuple *x = &s->tuple[i];
		if (x->there.complete && x->back.complete &&
		    topo_tor_of(s->topo, x->src) == from &&
		    topo_tor_of(s->topo, x->dst) == to)
			rc = survey_add_way(s, i, e);
	}
	return rc;
}

/* Sets of paths are made one after the other, so ways of a set come together. */
static int survey_make_ways(struct algo_survey *s, struct sim_err *e)
{
	int rc = 0;
	obs_paths_clear(&s->paths);
	obs_tallies_clear(&s->ways);
	s->ways.paths = &s->paths;
	s->ways.telemetry = OBS_TELE_A1;
	for (uint32_t i = 0; rc == 0 && i < s->n_tuples; i++) {
		const struct survey_tuple *x = &s->tuple[i];
		const topo_switch from = topo_tor_of(s->topo, x->src),
				  to = topo_tor_of(s->topo, x->dst);
		if (obs_paths_find(&s->paths, from, to) == OBS_NO_PATH)
			rc = survey_add_between(s, from, to, e);
	}
	return rc < 0 ? rc
		      : algo_planner_open(&s->planner, s->topo,
			    &s->params->plan, &s->ways, e);
}

/* --- documents ------------------------------------------------------------ */

static struct algo_scout_job survey_trace(const struct algo_survey *s,
    uint32_t i, int back)
{
	const struct survey_tuple *x = &s->tuple[i];
	const uint16_t port = (uint16_t)s->params->port;
	return (struct algo_scout_job){2 * i + (back != 0),
	    topo_addr_of_host(back ? x->src : x->dst), back ? port : x->port,
	    back ? x->port : port, 0};
}

/* A host's jobs; returns their number. */
static size_t survey_jobs(const struct algo_survey *s, topo_host host,
    struct algo_scout_job job[])
{
	size_t n = 0;
	if (s->round == SURVEY_TRACES) {
		for (uint32_t i = 0; i < s->n_tuples; i++) {
			if (s->tuple[i].src == host)
				job[n++] = survey_trace(s, i, 0);
			if (s->tuple[i].dst == host)
				job[n++] = survey_trace(s, i, 1);
		}
		return n;
	}
	for (uint32_t w = 0; w < s->ways.n; w++) {
		const struct survey_tuple *x = &s->tuple[s->of_way[w]];
		const uint64_t count =
		    (uint64_t)s->n_asked[w] * s->params->packets;
		if (x->src == host && count > 0)
			job[n++] = (struct algo_scout_job){w,
			    topo_addr_of_host(x->dst), x->port,
			    (uint16_t)s->params->port,
			    count < ALGO_SCOUT_MOST ? (uint32_t)count
						    : ALGO_SCOUT_MOST};
	}
	return n;
}

/* --- answers -------------------------------------------------------------- */

static int survey_awaits(const struct algo_survey *s)
{
	return memchr(s->awaited, 1, s->topo->n_hosts) != NULL;
}

/* Go on if the round is over, or has taken too long. */
static int survey_go_on(struct algo_survey *s, sim_ns now, struct sim_err *e)
{
	int rc;
	if (s->stopped || (survey_awaits(s) && now < s->until))
		return 0;
	for (topo_host h = 0; h < s->topo->n_hosts; h++) {
		s->n_silent += s->awaited[h];
		s->awaited[h] = 0;
	}
	rc = s->round == SURVEY_TRACES ? survey_make_ways(s, e)
				       : algo_planner_think(s->planner, e);
	if (rc == 0)
		survey_ask(s, now);
	return rc;
}

/* What an answer says of the way of a tuple, there or back. */
static int survey_take_trace(struct algo_survey *s, topo_host host,
    const struct algo_scout_answer *a)
{
	const uint32_t i = a->id / 2;
	if (i >= s->n_tuples ||
	    (a->id % 2 ? s->tuple[i].dst : s->tuple[i].src) != host)
		return 0;
	struct survey_tuple *x = &s->tuple[i];
	const uint16_t port = (uint16_t)s->params->port;
	struct agent_report r = {.n_hops = a->n_hops,
	    .tuple = {topo_addr_of_host(x->src), topo_addr_of_host(x->dst),
		x->port, port, TOPO_PROTO_TCP}};
	if (a->id % 2)
		r.tuple = (struct topo_tuple){topo_addr_of_host(x->dst),
		    topo_addr_of_host(x->src), port, x->port, TOPO_PROTO_TCP};
	memcpy(r.hop_ip, a->hop_ip, sizeof(r.hop_ip));
	algo_path_map(s->topo, &r, ALGO_PARTIAL_DROP,
	    a->id % 2 ? &x->back : &x->there);
	return 1;
}

static int survey_take_connects(struct algo_survey *s, topo_host host,
    const struct algo_scout_answer *a, struct sim_err *e)
{
	if (a->id >= s->ways.n || s->tuple[s->of_way[a->id]].src != host) {
		s->n_bad++;
		return 0;
	}
	s->n_connects += a->n_sent;
	return algo_planner_tell(s->planner, a->id, a->n_sent, a->n_lost, e);
}

int algo_survey_upload(struct algo_survey *s, topo_host host, sim_ns now,
    const void *data, size_t n, struct sim_err *e)
{
	struct algo_scout_answer answer[ALGO_SCOUT_JOBS];
	struct algo_scout_head h;
	int rc = 0;
	if (algo_scout_read_answers(data, n, &h, answer, NULL) < 0 ||
	    h.round > s->round) {
		s->n_bad++;
		return 0;
	}
	/* Nothing is made of traces once ways are there; nor of what was told
	 * before, whose agent did not hear that it was taken. */
	if (h.round <= s->last[host] ||
	    (h.round == SURVEY_TRACES && s->round > SURVEY_TRACES))
		return 0;
	s->last[host] = h.round;
	for (size_t i = 0; rc == 0 && i < h.n; i++) {
		if (h.round == SURVEY_TRACES)
			s->n_bad += !survey_take_trace(s, host, &answer[i]);
		else
			rc = survey_take_connects(s, host, &answer[i], e);
	}
	if (h.round == s->round)
		s->awaited[host] = 0;
	return rc < 0 ? rc : survey_go_on(s, now, e);
}

int algo_survey_fetch(struct algo_survey *s, topo_host host, sim_ns now,
    const void **data, size_t *n, struct sim_err *e)
{
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_head h;
	const int rc = survey_go_on(s, now, e);
	if (rc < 0)
		return rc;
	h = (struct algo_scout_head){s->round, s->stopped ? ALGO_SCOUT_DONE : 0,
	    0};
	if (!s->stopped)
		h.n = survey_jobs(s, host, job);
	*n = algo_scout_write_jobs(&h, job, s->message);
	*data = s->message;
	return 0;
}

void algo_survey_stop(struct algo_survey *s)
{
	s->stopped = 1;
}

void algo_survey_view(const struct algo_survey *s, struct algo_survey_view *v)
{
	*v = (struct algo_survey_view){.round = s->round,
	    .n_connects = s->n_connects,
	    .n_silent = s->n_silent,
	    .n_bad = s->n_bad,
	    .n_tuples = s->n_tuples,
	    .n_ways = s->planner ? (uint32_t)s->ways.n : 0};
	if (s->planner)
		algo_planner_view(s->planner, &v->plan);
}
