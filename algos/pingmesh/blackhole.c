/* algos/pingmesh/blackhole.c -- ToRs that always drop some pairs or tuples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/blackhole.h"

#include <math.h>
#include <stdlib.h>

#include "algos/pingmesh/hole_tors.h"
#include "sim/sort.h"
#include "sim/vec.h"

/* A probe as it is sorted: by pair, then by five-tuple. */
struct algo_blackhole_probe {
	uint64_t pair;  /* lower host << 32 | higher host */
	uint64_t tuple; /* whether the higher one sent, and the ports */
	sim_ns sent_ns;
	uint8_t answered, late;
};

static const char *const rules[] = {"likelihood", "paper", NULL};

const struct sim_field algo_blackhole_fields[] =
    {{.name = "rule",
	 .type = SIM_F_ENUM,
	 .offset = offsetof(struct algo_blackhole_params, rule),
	 .unit = "1",
	 .names = rules,
	 .def = "likelihood",
	 .doc = "how ToRs are judged: all at once, each by what the others do "
		"not explain; or one by one, as in the paper"},
	{.name = "false_alarm",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_blackhole_params, false_alarm),
	    .min = 1e-12,
	    .max = 0.5,
	    .unit = "1",
	    .def = "1e-3",
	    .doc = "rule likelihood: chance that a job accuses any ToR of a "
		   "network without a hole, at most"},
	{.name = "min_failures",
	    .type = SIM_F_U32,
	    .offset = offsetof(struct algo_blackhole_params, min_failures),
	    .min = 1,
	    .max = 1e6,
	    .unit = "probes",
	    .def = "3",
	    .doc = "time-outs without an answer that make a black hole"},
	{.name = "min_pairs",
	    .type = SIM_F_U32,
	    .offset = offsetof(struct algo_blackhole_params, min_pairs),
	    .min = 1,
	    .max = 1e6,
	    .unit = "pairs",
	    .def = "2",
	    .doc = "rule paper: black-holed pairs that make a server's "
		   "symptom"},
	{.name = "min_spells",
	    .type = SIM_F_U32,
	    .offset = offsetof(struct algo_blackhole_params, min_spells),
	    .min = 0,
	    .max = 1e6,
	    .unit = "spells",
	    .def = "3",
	    .doc = "spells of time-outs beyond a pair's late connects that "
		   "make a black hole of type 2; 0: only five-tuples do"},
	{.name = "threshold",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_blackhole_params, threshold),
	    .min = 1e-6,
	    .max = 1,
	    .unit = "1",
	    .def = "0.5",
	    .doc = "rule paper: share of a ToR's servers with the symptom "
		   "from which it is a candidate"},
	{.name = "max_reloads",
	    .type = SIM_F_U32,
	    .offset = offsetof(struct algo_blackhole_params, max_reloads),
	    .min = 0,
	    .max = 1e6,
	    .unit = "ToRs",
	    .def = "20",
	    .doc = "reloads a day"},
	{0}};

void algo_blackhole_close(struct algo_blackhole *b)
{
	free(b->server);
	free(b->tor);
	free(b->suspect);
	free(b->probe);
	obs_pair_list_free(&b->listed);
	free(b->pair);
	free(b->alive);
	free(b->found);
	*b = (struct algo_blackhole){0};
}

/* A parameter of the rule that is not used would be ignored in silence. Values
 * that are the defaults may have been set by nobody. */
int algo_blackhole_check(const struct algo_blackhole_params *p,
    struct sim_err *e)
{
	struct algo_blackhole_params d;
	int rc = sim_field_defaults(algo_blackhole_fields, &d, e);
	if (rc < 0)
		return rc;
	if (p->rule != ALGO_BLACKHOLE_PAPER &&
	    (p->min_pairs != d.min_pairs || p->threshold != d.threshold))
		return sim_fail(e, SIM_EINVAL,
		    "min_pairs %u and threshold %g are for rule paper, and "
		    "rule is likelihood.",
		    p->min_pairs, p->threshold);
	if (p->rule == ALGO_BLACKHOLE_PAPER && p->false_alarm != d.false_alarm)
		return sim_fail(e, SIM_EINVAL,
		    "false_alarm %g is for rule likelihood, and rule is paper.",
		    p->false_alarm);
	return 0;
}

int algo_blackhole_open(struct algo_blackhole *b, const struct topo_dc *dc,
    const struct algo_blackhole_params *params, struct sim_err *e)
{
	const struct algo_blackhole_params p = *params; /* maybe of B */
	int rc;
	*b = (struct algo_blackhole){.params = p, .dc = *dc};
	if ((rc = algo_blackhole_check(&p, e)) < 0 ||
	    (rc = SIM_ZALLOC(&b->server, dc->clos.all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&b->tor, dc->clos.all_tors, e)) < 0 ||
	    (rc = SIM_ZALLOC(&b->alive, dc->clos.all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&b->found, dc->clos.all_tors, e)) < 0)
		algo_blackhole_close(b);
	return rc;
}

/* --- pairs -----------------------------------------------------------------*/
/* Probes of a pair become neighbours, and within it those of one five-tuple. */
static int by_pair_then_tuple(const void *a, const void *b)
{
	const struct algo_blackhole_probe *p = a, *q = b;
	if (p->pair != q->pair)
		return SIM_ORDER(p->pair, q->pair);
	return SIM_ORDER(p->tuple, q->tuple);
}

/* For spells the order of sending counts; five-tuples make it a strict one
 * where times are equal. */
static int by_time(const void *a, const void *b)
{
	const struct algo_blackhole_probe *p = a, *q = b;
	if (p->sent_ns != q->sent_ns)
		return SIM_ORDER(p->sent_ns, q->sent_ns);
	return SIM_ORDER(p->tuple, q->tuple);
}

static struct algo_blackhole_server *
blackhole_server_of(struct algo_blackhole *b, topo_host h)
{
	return &b->server[topo_dc_index(&b->dc, h)];
}

/* Who is alive, and who was in how many time-outs. Section 5.1 tells a black
 * hole from a dead server by the other's answers to third parties. A refusal is
 * an answer: only a live host sends it. */
static void count_by_server(struct algo_blackhole *b,
    const struct obs_probes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->level[i] == OBS_LEVEL_INTER_DC)
			continue;
		struct algo_blackhole_server *s =
		    blackhole_server_of(b, t->src_host[i]);
		struct algo_blackhole_server *d =
		    blackhole_server_of(b, t->dst_host[i]);
		const int failed = t->outcome[i] == OBS_TIMED_OUT;
		s->n_failed += failed;
		d->n_failed += failed;
		s->alive |= !failed;
		d->alive |= !failed;
	}
}

/* A black-holed pair has at least this many time-outs, and so has each of its
 * two servers, whatever type it is. */
static uint32_t least_failures(const struct algo_blackhole *b)
{
	const uint32_t n = b->params.min_failures;
	return b->min_spells > 0 && b->min_spells < n ? b->min_spells : n;
}

static int by_pair(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return SIM_ORDER(x, y);
}

static uint64_t pair_of(const struct obs_probes *t, size_t i)
{
	const uint64_t s = t->src_host[i], d = t->dst_host[i];
	return s < d ? s << 32 | d : d << 32 | s;
}

/* A probe whose two ends were not both in enough time-outs is of no black-holed
 * pair, and in a healthy network hardly any was. */
static int ends_failed(struct algo_blackhole *b, const struct obs_probes *t,
    size_t i)
{
	const uint32_t least = least_failures(b);
	return t->level[i] != OBS_LEVEL_INTER_DC &&
	    blackhole_server_of(b, t->src_host[i])->n_failed >= least &&
	    blackhole_server_of(b, t->dst_host[i])->n_failed >= least;
}

static int add_suspects(struct algo_blackhole *b, const struct obs_probes *t,
    struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->outcome[i] != OBS_TIMED_OUT || !ends_failed(b, t, i))
			continue;
		const int rc = SIM_RESERVE(&b->suspect, &b->cap_suspects,
		    b->n_suspects + 1, e);
		if (rc < 0)
			return rc;
		b->suspect[b->n_suspects++] = pair_of(t, i);
	}
	return 0;
}

/* The pairs with enough time-outs, ascending, into b->suspect. */
static int list_suspects(struct algo_blackhole *b,
    const struct obs_probe_source *t, struct sim_err *e)
{
	const uint32_t least = least_failures(b);
	const struct obs_probes *piece;
	size_t at = 0, n_pairs = 0;
	int rc = 0;
	b->n_suspects = 0;
	while (rc >= 0 && (rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0)
		rc = add_suspects(b, piece, e);
	if (rc < 0)
		return rc;
	if (b->n_suspects > 0)
		qsort(b->suspect, b->n_suspects, sizeof(*b->suspect), by_pair);
	for (size_t i = 0, from = 0; i < b->n_suspects; i++) {
		if (b->suspect[i] != b->suspect[from])
			from = i;
		if (i - from + 1 == least)
			b->suspect[n_pairs++] = b->suspect[i];
	}
	b->n_suspects = n_pairs;
	return 0;
}

static int add_probes(struct algo_blackhole *b, const struct obs_probes *t,
    struct sim_err *e)
{
	const sim_ns late_ns = t->syn_wait_ns[0];
	for (size_t i = 0; i < t->n; i++) {
		const uint64_t pair = pair_of(t, i);
		if (!ends_failed(b, t, i) ||
		    !bsearch(&pair, b->suspect, b->n_suspects,
			sizeof(*b->suspect), by_pair))
			continue;
		const int rc = SIM_RESERVE(&b->probe, &b->cap, b->n + 1, e);
		if (rc < 0)
			return rc;
		b->probe[b->n++] = (struct algo_blackhole_probe){.pair = pair,
		    .tuple = (uint64_t)(t->src_host[i] > t->dst_host[i]) << 32 |
			(uint32_t)t->src_port[i] << 16 | t->dst_port[i],
		    .sent_ns = t->sent_ns[i],
		    .answered = t->outcome[i] != OBS_TIMED_OUT,
		    .late = late_ns > 0 && t->rtt_ns[i] >= late_ns};
	}
	return 0;
}

/* Keep the probes of pairs with enough time-outs, in order of pairs: there is
 * little to sort although all probes are looked at. */
static int sort_suspects(struct algo_blackhole *b,
    const struct obs_probe_source *t, struct sim_err *e)
{
	const struct obs_probes *piece;
	size_t at = 0;
	int rc = list_suspects(b, t, e);
	if (rc < 0 || b->n_suspects == 0)
		return rc;
	while (rc >= 0 && (rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0)
		rc = add_probes(b, piece, e);
	if (rc == 0 && b->n > 0)
		qsort(b->probe, b->n, sizeof(*b->probe), by_pair_then_tuple);
	return rc;
}

/* How many spells of time-outs the N probes at P have. */
static uint32_t count_spells(struct algo_blackhole_probe *p, size_t n)
{
	uint32_t n_spells = 0;
	qsort(p, n, sizeof(*p), by_time);
	for (size_t i = 0; i < n; i++)
		n_spells += !p[i].answered && (i == 0 || p[i - 1].answered);
	return n_spells;
}

/* Sum up the pair whose probes begin at *FROM, and set that to where they end.
 * Five-tuples are counted first: sorting for spells destroys their order. */
static struct obs_pair sum_pair(struct algo_blackhole *b, size_t *from)
{
	struct algo_blackhole_probe *p = &b->probe[*from];
	const size_t most = b->n - *from;
	struct obs_pair sum = {.low = (topo_host)(p->pair >> 32),
	    .high = (topo_host)p->pair};
	size_t n = 0;
	while (n < most && p[n].pair == p[0].pair) {
		const size_t first = n;
		uint32_t answers = 0;
		for (; n < most && p[n].pair == p[0].pair &&
		     p[n].tuple == p[first].tuple;
		     n++) {
			answers += p[n].answered;
			sum.n_late += p[n].late;
		}
		const uint32_t all = (uint32_t)(n - first);
		sum.n_failed += all - answers;
		if (answers == 0 && all > sum.n_dead)
			sum.n_dead = all;
	}
	sum.n_probes = (uint32_t)n;
	*from += n;
	if (b->min_spells > 0 && sum.n_failed >= b->min_spells)
		sum.n_spells = count_spells(p, n);
	return sum;
}

/* The pair P is black-holed, by a hole of TYPE. */
static int add_pair(struct algo_blackhole *b, const struct obs_pair *p,
    uint32_t type, struct sim_err *e)
{
	const uint32_t low = topo_dc_index(&b->dc, p->low);
	const uint32_t high = topo_dc_index(&b->dc, p->high);
	int rc = SIM_RESERVE(&b->pair, &b->cap_pairs, b->n_pairs + 1, e);
	if (rc < 0)
		return rc;
	b->server[low].n_type1 += type == 1;
	b->server[low].n_type2 += type == 2;
	b->server[high].n_type1 += type == 1;
	b->server[high].n_type2 += type == 2;
	b->pair[b->n_pairs++] = (struct algo_hole_pair){low, high, type};
	return 0;
}

/* Do spells outnumber late connects? DEPARTS: ours, for agents that take a new
 * source port for each probe, so that a corrupt five-tuple of type 2 is hardly
 * ever met twice. Connects that lose SYNs to mere loss come back late far more
 * often than they fail. */
static int has_spells(const struct algo_blackhole *b, const struct obs_pair *p)
{
	return b->min_spells > 0 &&
	    p->n_spells >= (uint64_t)b->min_spells + p->n_late;
}

/* Judge a pair with enough time-outs. Type 2 of section 5.1 needs an answer, as
 * certain ports only are dropped; type 1 needs that there is none, as the
 * addresses are. So a pair is of one type at most. */
static int judge_pair(struct algo_blackhole *b, const struct obs_pair *p,
    struct sim_err *e)
{
	const uint32_t least = b->params.min_failures;
	const int answered = p->n_probes > p->n_failed;
	if (answered && (p->n_dead >= least || has_spells(b, p)))
		return add_pair(b, p, 2, e);
	if (!answered && p->n_probes >= least &&
	    blackhole_server_of(b, p->low)->alive &&
	    blackhole_server_of(b, p->high)->alive)
		return add_pair(b, p, 1, e);
	return 0;
}

static int count_servers_of(struct algo_blackhole *b,
    const struct obs_probe_source *t, struct sim_err *e)
{
	const struct obs_probes *piece;
	size_t at = 0;
	int rc = 0;
	for (uint32_t h = 0; h < b->dc.clos.all_hosts; h++)
		b->server[h] = (struct algo_blackhole_server){0};
	while (rc >= 0 && (rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0)
		if ((rc = obs_probes_check(piece, b->dc.first_host,
			 b->dc.clos.all_hosts, e)) == 0)
			count_by_server(b, piece);
	return rc;
}

/* Was any server in enough time-outs? Mostly none was, and then no pair need be
 * looked for. */
static int blackhole_is_possible(const struct algo_blackhole *b)
{
	const uint32_t least = least_failures(b);
	for (uint32_t h = 0; h < b->dc.clos.all_hosts; h++)
		if (b->server[h].n_failed >= least)
			return 1;
	return 0;
}

/* The pairs of probes. */
static int judge_probes(struct algo_blackhole *b,
    const struct obs_probe_source *t, struct sim_err *e)
{
	b->n = b->n_pairs = 0;
	b->min_spells = t->syn_wait_ns[0] > 0 ? b->params.min_spells : 0;
	int rc = count_servers_of(b, t, e);
	if (rc == 0 && blackhole_is_possible(b))
		rc = sort_suspects(b, t, e);
	for (size_t i = 0; rc == 0 && i < b->n;) {
		const struct obs_pair p = sum_pair(b, &i);
		rc = judge_pair(b, &p, e);
	}
	return rc;
}

/* Those of a mesh, which others have summed up. */
static int judge_sums(struct algo_blackhole *b, const struct obs_pairs *t,
    struct sim_err *e)
{
	b->n_pairs = 0;
	b->min_spells = t->tells_late ? b->params.min_spells : 0;
	for (uint32_t h = 0; h < b->dc.clos.all_hosts; h++)
		b->server[h] =
		    (struct algo_blackhole_server){.n_failed =
						       t->of_host_failed[h],
			.alive = t->of_host_answered[h] > 0};
	int rc = t->list(t->arg, least_failures(b), &b->listed, e);
	for (size_t i = 0; rc == 0 && i < b->listed.n; i++) {
		const struct obs_pair p = obs_pair_list_at(&b->listed, i);
		if (p.n_failed >= least_failures(b))
			rc = judge_pair(b, &p, e);
	}
	return rc;
}

/* --- ToRs ------------------------------------------------------------------*/
/* Section 5.1, first step: a ToR's score is the share of its servers with the
 * symptom. DEPARTS: dead servers are not counted, as they can show none, and a
 * server needs min_pairs black-holed pairs, since one end of a pair may be
 * innocent. */
static void score_tors(struct algo_blackhole *b)
{
	for (uint32_t i = 0; i < b->dc.clos.all_tors; i++) {
		struct algo_blackhole_tor *t = &b->tor[i];
		const struct algo_blackhole_server *s =
		    &b->server[(size_t)i * b->dc.clos.n_hosts];
		*t = (struct algo_blackhole_tor){0};
		for (uint32_t h = 0; h < b->dc.clos.n_hosts; h++) {
			const uint64_t n_pairs =
			    (uint64_t)s[h].n_type1 + s[h].n_type2;
			t->n_alive += s[h].alive;
			t->n_symptom += n_pairs >= b->params.min_pairs;
		}
		t->score = t->n_alive ? (double)t->n_symptom / t->n_alive : NAN;
	}
}

/* Section 5.1, second and third step: from the threshold on a ToR is a
 * candidate; when all ToRs of a podset are, the leaf or spine layer is at fault
 * and not they. A score of NaN, of a ToR without a live server, is no
 * candidate. Candidates are deferred until choose_reloads() has seen the day's
 * budget. */
static void blackhole_by_score(struct algo_blackhole *b)
{
	const uint32_t n_tors = b->dc.clos.n_tors;
	for (uint32_t pod = 0; pod < b->dc.clos.n_pods; pod++) {
		struct algo_blackhole_tor *t = &b->tor[(size_t)pod * n_tors];
		uint32_t n = 0;
		for (uint32_t i = 0; i < n_tors; i++)
			n += t[i].score >= b->params.threshold;
		const int all = n == n_tors && n_tors > 1;
		for (uint32_t i = 0; i < n_tors; i++)
			if (t[i].score >= b->params.threshold)
				t[i].action = all ? ALGO_BLACKHOLE_ESCALATE
						  : ALGO_BLACKHOLE_DEFER;
	}
}

/* DEPARTS: ToRs are judged all at once, as hole_tors.h says, and the score is
 * the share of its pairs that a ToR black-holes. Without a black-holed pair
 * nobody is guilty, and the pairs need not be counted. */
static int blackhole_by_likelihood(struct algo_blackhole *b,
    const struct obs_probe_source *t, const struct obs_pairs *sums,
    struct sim_err *e)
{
	static const enum algo_blackhole_action action[] =
	    {[ALGO_HOLE_INNOCENT] = ALGO_BLACKHOLE_NONE,
		[ALGO_HOLE_ABOVE] = ALGO_BLACKHOLE_ESCALATE,
		[ALGO_HOLE_GUILTY] = ALGO_BLACKHOLE_DEFER};
	struct algo_hole_pairs all;
	int rc;
	for (uint32_t h = 0; h < b->dc.clos.all_hosts; h++)
		b->alive[h] = b->server[h].alive;
	for (uint32_t i = 0; i < b->dc.clos.all_tors; i++)
		b->tor[i].score = b->tor[i].n_alive ? 0 : NAN;
	if (b->n_pairs == 0)
		return 0;
	if (sums)
		algo_hole_pairs_of_mesh(&all, &b->dc, sums, &b->listed,
		    b->alive, least_failures(b));
	else if ((rc = algo_hole_pairs_open(&all, &b->dc, t, b->alive,
		      least_failures(b), e)) < 0)
		return rc;
	rc = algo_hole_tors(&b->dc.clos, b->pair, b->n_pairs, &all,
	    b->params.false_alarm, b->found, e);
	algo_hole_pairs_close(&all);
	for (uint32_t i = 0; rc == 0 && i < b->dc.clos.all_tors; i++) {
		b->tor[i].action = action[b->found[i].finding];
		if (b->tor[i].n_alive)
			b->tor[i].score = b->found[i].share;
	}
	return rc;
}

/* Section 5.1 caps reloads at 20 a day. That the worst go first is ours; of
 * equal scores the lowest id does, as only a greater one displaces it. */
static void choose_reloads(struct algo_blackhole *b, uint32_t n_reloaded)
{
	for (uint32_t n = n_reloaded; n < b->params.max_reloads; n++) {
		struct algo_blackhole_tor *best = NULL;
		for (uint32_t i = 0; i < b->dc.clos.all_tors; i++)
			if (b->tor[i].action == ALGO_BLACKHOLE_DEFER &&
			    (!best || b->tor[i].score > best->score))
				best = &b->tor[i];
		if (!best)
			return;
		best->action = ALGO_BLACKHOLE_RELOAD;
	}
}

/* From the pairs found among the probes T or the sums of a mesh to ToRs. */
static int blackhole_judge(struct algo_blackhole *b,
    const struct obs_probe_source *t, const struct obs_pairs *sums,
    uint32_t n_reloaded, struct sim_err *e)
{
	int rc;
	score_tors(b);
	if (b->params.rule == ALGO_BLACKHOLE_PAPER)
		blackhole_by_score(b);
	else if ((rc = blackhole_by_likelihood(b, t, sums, e)) < 0)
		return rc;
	choose_reloads(b, n_reloaded);
	return 0;
}

int algo_blackhole_diagnose(struct algo_blackhole *b,
    const struct obs_probe_source *t, uint32_t n_reloaded, struct sim_err *e)
{
	const int rc = judge_probes(b, t, e);
	return rc < 0 ? rc : blackhole_judge(b, t, NULL, n_reloaded, e);
}

int algo_blackhole_diagnose_pairs(struct algo_blackhole *b,
    const struct obs_pairs *sums, uint32_t n_reloaded, struct sim_err *e)
{
	const int rc = judge_sums(b, sums, e);
	return rc < 0 ? rc : blackhole_judge(b, NULL, sums, n_reloaded, e);
}
