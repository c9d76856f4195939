/* algos/everflow/debug_ecmp.c -- switches that spread flows unevenly, and why.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/debug_ecmp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/ecmp_cause.h"
#include "algos/everflow/ecmp_groups.h"
#include "sim/sort.h"
#include "sim/stat.h"
#include "sim/vec.h"

#define F(n) .name = #n, .offset = offsetof(struct algo_debug_ecmp_params, n)
const struct sim_field algo_debug_ecmp_fields[] = {
    {F(alpha), .type = SIM_F_F64, .def = "0.01", .min = 1e-9, .max = 0.5,
	.unit = "1", .doc = "chance of accusing anything healthy"},
    {F(min_skew), .type = SIM_F_F64, .def = "1.15", .min = 1, .max = 100,
	.unit = "1", .doc = "greatest over mean share; less is no skew"},
    {0},
};
#undef F

/* Of a cause that no other switch has, as algo_ecmp_prior.other. */
#define OTHER_CAUSE 0.1

/* A logarithm: 150 to 1. */
#define BEYOND_DOUBT 5

/* --- subsets -------------------------------------------------------------- */
/* What subsets are cut by. */
#define PREFIX(bits) (UINT32_MAX << (32 - (bits)))
static const struct topo_tuple cuts[] = {
    {.dst_ip = PREFIX(22)},
    {.dst_ip = PREFIX(24)},
    {.dst_ip = PREFIX(26)},
    {.dst_ip = PREFIX(27)},
    {.dst_ip = PREFIX(28)},
    {.dst_ip = PREFIX(29)},
    {.dst_ip = PREFIX(30)},
    {.src_ip = PREFIX(24)},
    {.src_ip = PREFIX(28)},
    {.src_port = 1},
    {.dst_port = 1},
};
#undef PREFIX
enum { N_CUTS = sizeof(cuts) / sizeof(cuts[0]) };

/* A cut looks at one of the four alone. */
static uint32_t cut_of(const struct topo_tuple *t, const struct topo_tuple *m)
{
	return (t->src_ip & m->src_ip) | (t->dst_ip & m->dst_ip) |
	    (uint32_t)(t->src_port & m->src_port) |
	    (uint32_t)(t->dst_port & m->dst_port);
}

/* What was found about a group: all of it, or the subset that explains it. */
struct uneven {
	struct algo_skew skew; /* of the whole group */
	struct algo_skew part; /* of the subset */
	double count[ALGO_ECMP_MAX];
	struct topo_tuple value, mask;
	double chance; /* over all tests of its kind */
	uint8_t flagged, by_subset;
	enum algo_cause cause;
};

struct ecmp {
	const struct algo_debug_ecmp_params *p;
	const struct topo *t;
	struct algo_ecmp_groups x;
	struct uneven *group;         /* [x.n] */
	uint64_t *flow, *spare;       /* [x.n_choices] a key, and which */
	uint64_t n_groups, n_subsets; /* that can be tested */
};

static void counts_of(const struct ecmp *m, size_t g, double count[])
{
	const struct algo_ecmp_group *x = &m->x.group[g];
	memcpy(count, x->flows, x->n * sizeof(count[0]));
	if (x->n_choices < 10 * x->n)
		return;
	memset(count, 0, x->n * sizeof(count[0]));
	for (size_t i = 0; i < x->n_choices; i++)
		count[m->x.choice[x->first + i].pos]++;
}

/* Flows of a group in the order of a cut: what it looks at is above bit 32, and
 * which of the group it is below. */
static void cut_group(const struct ecmp *m, const struct algo_ecmp_group *x,
    const struct topo_tuple *mask)
{
	assert(x->n_choices <= UINT32_MAX);
	for (size_t i = 0; i < x->n_choices; i++)
		m->flow[i] =
		    (uint64_t)cut_of(&m->x.choice[x->first + i].tuple, mask)
			<< 32 |
		    i;
	sim_sort_keys(m->flow, m->spare, x->n_choices, 32);
}

static const struct algo_ecmp_choice *cut_flow(const struct ecmp *m,
    const struct algo_ecmp_group *x, size_t i)
{
	return &m->x.choice[x->first + (uint32_t)m->flow[i]];
}

static size_t cut_end(const struct ecmp *m, size_t from, size_t n)
{
	size_t to = from;
	while (to < n && m->flow[to] >> 32 == m->flow[from] >> 32)
		to++;
	return to;
}

/* A subset that is uneven beside a rest that is not, or is nothing. A rest of
 * few flows is no reason to call a whole group a subset. */
static void try_subset(struct ecmp *m, size_t g, size_t from, size_t to,
    const struct topo_tuple *mask)
{
	const struct algo_ecmp_group *x = &m->x.group[g];
	struct uneven *u = &m->group[g];
	double in[ALGO_ECMP_MAX] = {0}, out[ALGO_ECMP_MAX];
	for (size_t i = from; i < to; i++)
		in[cut_flow(m, x, i)->pos]++;
	const struct algo_skew s = algo_skew_of(in, x->n);
	const double chance = s.chance * 2 * (double)m->n_subsets;
	if (chance >= m->p->alpha || s.skew < m->p->min_skew ||
	    (u->by_subset && u->part.total <= s.total))
		return;
	for (uint32_t i = 0; i < x->n; i++)
		out[i] = u->count[i] - in[i];
	const struct algo_skew rest = algo_skew_of(out, x->n);
	if (rest.total < 20.0 * x->n || rest.total < u->skew.total / 5 ||
	    rest.chance < 0.01)
		return;
	const struct topo_tuple *t = &cut_flow(m, x, from)->tuple;
	u->by_subset = u->flagged = 1;
	u->part = s;
	u->chance = u->chance < chance ? u->chance : chance;
	u->mask = *mask;
	u->value = (struct topo_tuple){t->src_ip & mask->src_ip,
	    t->dst_ip & mask->dst_ip, t->src_port & mask->src_port,
	    t->dst_port & mask->dst_port, 0};
}

static void each_subset(struct ecmp *m, size_t g, int count_only)
{
	const struct algo_ecmp_group *x = &m->x.group[g];
	const size_t n = x->n_choices;
	if (n < 20 * x->n)
		return;
	for (size_t c = 0; c < N_CUTS; c++) {
		cut_group(m, x, &cuts[c]);
		for (size_t i = 0, k; i < n; i = k) {
			k = cut_end(m, i, n);
			if (k - i < 10 * x->n)
				continue;
			if (count_only)
				m->n_subsets++;
			else
				try_subset(m, g, i, k, &cuts[c]);
		}
	}
}

static void find_uneven(struct ecmp *m)
{
	for (size_t g = 0; g < m->x.n; g++) {
		struct uneven *u = &m->group[g];
		counts_of(m, g, u->count);
		u->skew = algo_skew_of(u->count, m->x.group[g].n);
		m->n_groups += u->skew.total >= 10.0 * m->x.group[g].n;
		each_subset(m, g, 1);
	}
	for (size_t g = 0; g < m->x.n; g++) {
		struct uneven *u = &m->group[g];
		u->chance = u->skew.chance * 2 * (double)m->n_groups;
		u->flagged =
		    u->chance < m->p->alpha && u->skew.skew >= m->p->min_skew;
		each_subset(m, g, 0);
	}
}

/* --- causes --------------------------------------------------------------- */
static topo_node head_of(const struct topo *t, topo_link l)
{
	topo_node from, to;
	topo_link_ends(t, l, &from, &to);
	return to;
}

/* The group of switch S that leads to the same switches as group G. */
static size_t sister(const struct ecmp *m, topo_node s, size_t g)
{
	const struct algo_ecmp_group *x = &m->x.group[g];
	for (size_t i = 0; i < m->x.n; i++) {
		const struct algo_ecmp_group *y = &m->x.group[i];
		if (m->t->n_hosts + y->at == s && y->n == x->n &&
		    head_of(m->t, y->link[0]) == head_of(m->t, x->link[0]))
			return i;
	}
	return m->x.n;
}

/* Whether those that UP chooses among, G of one of them, are uneven each and
 * even together. What each can still choose from is one part in so many as UP
 * has: so it is far more uneven than by most bad hashes. */
static int polarised_by(const struct ecmp *m, const struct algo_ecmp_group *up,
    size_t g)
{
	double sum[ALGO_ECMP_MAX] = {0};
	uint32_t n = 0, n_uneven = 0;
	const double least = fmax(1.3, 0.7 * fmin(m->x.group[g].n, up->n));
	for (uint32_t i = 0; i < up->n; i++) {
		const size_t s = sister(m, head_of(m->t, up->link[i]), g);
		if (s == m->x.n ||
		    m->group[s].skew.total < 10.0 * m->x.group[g].n)
			continue;
		n++;
		n_uneven += m->group[s].flagged && !m->group[s].by_subset &&
		    m->group[s].skew.skew >= least;
		for (uint32_t k = 0; k < m->x.group[g].n; k++)
			sum[k] += m->group[s].count[k];
	}
	return n >= 2 && n_uneven == n &&
	    algo_skew_of(sum, m->x.group[g].n).skew < 1.25;
}

/* One before it that is uneven tells nothing, unless it is so for the same
 * reason: with one seed everywhere T2s choose as T1s did, and those as ToRs. */
static int is_polarised(const struct ecmp *m, size_t g, int depth)
{
	const topo_node at = m->t->n_hosts + m->x.group[g].at;
	for (size_t i = 0; i < m->x.n && depth < TOPO_MAX_HOPS / 2; i++) {
		const struct algo_ecmp_group *up = &m->x.group[i];
		int leads = 0;
		for (uint32_t k = 0; k < up->n; k++)
			leads |= head_of(m->t, up->link[k]) == at;
		if (leads && polarised_by(m, up, g) &&
		    (!m->group[i].flagged || is_polarised(m, i, depth + 1)))
			return 1;
	}
	return 0;
}

/* Counts of the flows that a finding is about. */
static void part_counts(const struct ecmp *m, size_t g, double count[])
{
	const struct algo_ecmp_group *x = &m->x.group[g];
	const struct uneven *u = &m->group[g];
	memcpy(count, u->count, x->n * sizeof(count[0]));
	if (!u->by_subset)
		return;
	memset(count, 0, x->n * sizeof(count[0]));
	for (size_t i = 0; i < x->n_choices; i++) {
		const struct algo_ecmp_choice *c = &m->x.choice[x->first + i];
		if (cut_of(&c->tuple, &u->mask) == cut_of(&u->value, &u->mask))
			count[c->pos]++;
	}
}

/* How likely the flows of a group are under each cause: of all of them, and of
 * the subset that was found, beside a rest that is even. There are as many such
 * subsets as were tested. */
struct group_causes {
	struct algo_ecmp_likely all, part;
};
enum {
	LIKE_WEIGHTS = ALGO_ECMP_MAX_BITS + 1, /* below: bits */
	LIKE_NARROWED,
	LIKE_POLARISED,
	N_LIKE
};

static enum algo_cause cause_like(uint8_t like)
{
	return like < LIKE_WEIGHTS  ? ALGO_CAUSE_HASH_BITS
	    : like == LIKE_WEIGHTS  ? ALGO_CAUSE_WEIGHTS
	    : like == LIKE_NARROWED ? ALGO_CAUSE_NARROWED
				    : ALGO_CAUSE_POLARISED;
}

/* Each of the four is as likely, and each number of bits. */
static struct algo_ecmp_prior ecmp_prior(void)
{
	struct algo_ecmp_prior p = {.n_causes = N_LIKE, .other = OTHER_CAUSE};
	for (uint32_t c = 0; c < N_LIKE; c++)
		p.of[c] = c < LIKE_WEIGHTS ? 0.25 / LIKE_WEIGHTS : 0.25;
	return p;
}

static struct algo_ecmp_likely likely_of(const double count[], uint32_t n)
{
	struct algo_ecmp_likely l;
	for (uint32_t k = 0; k <= ALGO_ECMP_MAX_BITS; k++)
		l.of[k] = algo_ecmp_bits(count, n, k);
	l.of[LIKE_WEIGHTS] = algo_ecmp_weights(count, n);
	l.of[LIKE_NARROWED] = algo_ecmp_narrowed(count, n);
	l.of[LIKE_POLARISED] = -INFINITY;
	return l;
}

static double likeliest(const struct algo_ecmp_likely *l, uint32_t n)
{
	double most = -INFINITY;
	for (uint32_t c = 0; c < n; c++)
		most = fmax(most, l->of[c]);
	return most;
}

static struct algo_ecmp_likely likely_by_subset(const struct ecmp *m, size_t g)
{
	const uint32_t n = m->x.group[g].n;
	double in[ALGO_ECMP_MAX], out[ALGO_ECMP_MAX];
	part_counts(m, g, in);
	for (uint32_t i = 0; i < n; i++)
		out[i] = m->group[g].count[i] - in[i];
	struct algo_ecmp_likely l = likely_of(in, n);
	for (uint32_t c = 0; c < N_LIKE; c++)
		l.of[c] +=
		    algo_ecmp_even(out, n) - log(2 * (double)m->n_subsets);
	return l;
}

/* That what one before it chose decides shows beyond doubt; where it does not,
 * as of switches with few flows, it looks like any bad hash. */
static struct group_causes causes_of_group(const struct ecmp *m, size_t g)
{
	struct group_causes x = {
	    .all = likely_of(m->group[g].count, m->x.group[g].n)};
	if (m->group[g].by_subset)
		x.part = likely_by_subset(m, g);
	for (uint32_t c = 0; c < N_LIKE && !m->group[g].by_subset; c++)
		x.part.of[c] = -INFINITY;
	x.all.of[LIKE_POLARISED] =
	    !m->group[g].by_subset && is_polarised(m, g, 0)
	    ? likeliest(&x.all, LIKE_POLARISED) + BEYOND_DOUBT
	    : likeliest(&x.all, LIKE_WEIGHTS) - BEYOND_DOUBT;
	return x;
}

static int ecmp_find_causes(struct ecmp *m, struct sim_err *e)
{
	struct group_causes *of = NULL;
	struct algo_ecmp_likely *l = NULL;
	const struct algo_ecmp_prior prior = ecmp_prior();
	uint8_t *cause = NULL;
	size_t n = 0;
	int rc;
	if ((rc = SIM_ZALLOC(&of, m->x.n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&l, m->x.n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&cause, m->x.n, e)) < 0)
		goto out;
	for (size_t g = 0; g < m->x.n; g++) {
		if (!m->group[g].flagged)
			continue;
		of[n] = causes_of_group(m, g);
		for (uint32_t c = 0; c < N_LIKE; c++)
			l[n].of[c] = fmax(of[n].all.of[c], of[n].part.of[c]);
		n++;
	}
	algo_ecmp_causes(l, n, &prior, cause);
	n = 0;
	for (size_t g = 0; g < m->x.n; g++) {
		struct uneven *u = &m->group[g];
		if (!u->flagged)
			continue;
		const uint8_t c = cause[n];
		u->cause = cause_like(c);
		u->by_subset &= of[n].part.of[c] > of[n].all.of[c];
		n++;
	}
out:
	free(of);
	free(l);
	free(cause);
	return rc;
}

/* --- findings ------------------------------------------------------------- */
static topo_link accused_link(const struct algo_ecmp_group *x,
    const double count[], enum algo_cause cause, const struct algo_skew *s)
{
	for (uint32_t i = 0; i < x->n && cause == ALGO_CAUSE_NARROWED; i++)
		if (!(count[i] > 0))
			return x->link[i];
	return x->link[s->max];
}

static int find_group(const struct ecmp *m, size_t g, sim_ns from, sim_ns to,
    struct algo_debug_out *out, struct sim_err *e)
{
	const struct algo_ecmp_group *x = &m->x.group[g];
	const struct uneven *u = &m->group[g];
	const struct topo_tuple none = {0};
	double count[ALGO_ECMP_MAX];
	part_counts(m, g, count);
	const struct algo_skew s = algo_skew_of(count, x->n);
	struct algo_finding f = {.node = m->t->n_hosts + x->at,
	    .score = -log10(fmax(u->chance, 1e-300)),
	    .rate = s.skew,
	    .from_ns = from,
	    .to_ns = to,
	    .value = u->by_subset ? u->value : none,
	    .mask = u->by_subset ? u->mask : none};
	f.cause = u->cause;
	f.link = accused_link(x, count, f.cause, &s);
	const int rc = sim_share_interval(fmin(count[s.max], floor(s.total)),
	    (uint64_t)s.total, 0.95, &f.lo, &f.hi, e);
	f.lo *= x->n;
	f.hi *= x->n;
	return rc < 0 ? rc : algo_debug_find(out, &f, e);
}

/* When its evidence began and ended: that of the counters, which all flows are
 * in. */
static void span_of(const struct algo_debug_in *in, sim_ns *from, sim_ns *to)
{
	const struct algo_counters *c = in->counters;
	*from = c && c->n > 0 ? c->t_ns[0] : 0;
	*to = 0;
	for (size_t i = 0; c && i < c->n; i++) {
		*from = c->t_ns[i] < *from ? c->t_ns[i] : *from;
		*to = c->t_ns[i] > *to ? c->t_ns[i] : *to;
	}
}

static int debug_ecmp_step(void *state, const void *params,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	struct ecmp m = {.p = params, .t = in->routing.topo};
	sim_ns from, to;
	int rc;
	(void)state;
	span_of(in, &from, &to);
	if ((rc = algo_ecmp_groups_make(&m.x, in, e)) == 0 &&
	    (rc = SIM_ZALLOC(&m.group, m.x.n, e)) == 0 &&
	    (rc = SIM_ZALLOC(&m.flow, m.x.n_choices, e)) == 0 &&
	    (rc = SIM_ZALLOC(&m.spare, m.x.n_choices, e)) == 0)
		find_uneven(&m);
	if (rc == 0)
		rc = ecmp_find_causes(&m, e);
	for (size_t g = 0; g < m.x.n && rc == 0; g++)
		if (m.group[g].flagged)
			rc = find_group(&m, g, from, to, out, e);
	free(m.group);
	free(m.flow);
	free(m.spare);
	algo_ecmp_groups_free(&m.x);
	return rc;
}

const struct algo_debugger algo_debug_ecmp = {
    .name = "ecmp",
    .params = algo_debug_ecmp_fields,
    .params_size = sizeof(struct algo_debug_ecmp_params),
    .step = debug_ecmp_step,
};
