/* algos/sieve/sieve_ways.c -- flows of no known path where something failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_model.h"
#include "algos/sieve/sieve_sums.h"
#include "sim/vec.h"

void sieve_ways_free(struct sieve_ways *w)
{
	free(w->off);
	free(w->row);
	free(w->n_odd);
	free(w->group);
	free(w->survive);
	free(w->n_groups);
	free(w->group_of);
	free(w->excess);
	free(w->paths);
	free(w->memo);
	*w = (struct sieve_ways){0};
}

static int sieve_ways_room_memo(struct sieve_ways *w, struct sim_err *e)
{
	const size_t had = w->cap_memo;
	const int rc = SIM_RESERVE(&w->memo, &w->cap_memo, SIEVE_MEMOS, e);
	for (size_t i = had; rc == 0 && i < SIEVE_MEMOS; i++)
		w->memo[i].key = 0;
	w->n_changes++;
	return rc;
}

static int sieve_ways_room(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_ways *w = &m->ways;
	const struct sieve_sets *s = &m->sets;
	int rc;
	if ((rc = SIM_RESERVE(&w->off, &w->cap_off, s->n_sets + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->row, &w->cap_row, m->n_lossy, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->n_odd, &w->cap_odd, s->n_sets, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->group, &w->cap_group, SIEVE_GROUPS, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->survive, &w->cap_survive,
		 m->n_lossy * SIEVE_GRID, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->n_groups, &w->cap_n_groups, s->n_sets, e)) <
		0 ||
	    (rc = SIM_RESERVE(&w->group_of, &w->cap_group_of, s->ways.of->n,
		 e)) < 0 ||
	    (rc = SIM_RESERVE(&w->excess, &w->cap_excess,
		 s->n_sets * SIEVE_GROUPS, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->paths, &w->cap_paths,
		 s->n_sets * SIEVE_GROUPS, e)) < 0 ||
	    (rc = sieve_ways_room_memo(w, e)) < 0)
		return rc;
	memset(w->off, 0, (s->n_sets + 2) * sizeof(*w->off));
	memset(w->n_odd, 0, s->n_sets * sizeof(*w->n_odd));
	memset(w->n_groups, 0, s->n_sets);
	return 0;
}

/* Of all packets of a row that arrived, at each point of the grid: a product of
 * powers of two of one that does. */
static void sieve_ways_survive(struct sieve_model *m)
{
	double power[32][SIEVE_GRID];
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		m->ways.all[g] = 1;
	for (unsigned b = 0; b < 32; b++)
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			power[b][g] =
			    exp(-(double)(UINT32_C(1) << b) * m->x[g]);
	for (size_t i = 0; i < m->n_lossy; i++) {
		double *to = m->ways.survive + i * SIEVE_GRID;
		if (m->lossy[i].set == OBS_NO_PATH)
			continue;
		const uint32_t kept =
		    m->rows->n_sent[m->lossy[i].row] - m->lossy[i].n_lost;
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			to[g] = 1;
		for (unsigned b = 0; b < 32; b++)
			for (unsigned g = 0; kept >> b & 1 && g < SIEVE_GRID;
			     g++)
				to[g] *= power[b][g];
	}
}

int sieve_ways_read(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_ways *w = &m->ways;
	const int rc = sieve_ways_room(m, e);
	uint32_t *first = w->off + 1;
	if (rc < 0)
		return rc;
	sieve_ways_survive(m);
	for (size_t i = 0; i < m->n_lossy; i++)
		if (m->lossy[i].set != OBS_NO_PATH)
			first[m->lossy[i].set + 1]++;
	for (size_t s = 0; s < m->sets.n_sets; s++)
		first[s + 1] += first[s];
	for (uint32_t i = 0; i < m->n_lossy; i++)
		if (m->lossy[i].set != OBS_NO_PATH)
			w->row[first[m->lossy[i].set]++] = i;
	return 0;
}

/* --- what is odd ---------------------------------------------------------- */

void sieve_ways_turn(struct sieve_model *m, topo_link link, int sign)
{
	const struct sieve_sets *s = &m->sets;
	for (uint32_t k = s->off[link]; k < s->off[link + 1]; k++)
		m->ways.n_odd[s->over[k].set] += (uint32_t)sign;
	for (uint32_t k = m->off[link]; k < m->off[link + 1]; k++)
		m->lossy[m->over[k]].n_odd += (uint32_t)sign;
}

void sieve_ways_change(struct sieve_model *m, topo_link link)
{
	const struct sieve_sets *s = &m->sets;
	m->ways.n_changes++;
	for (uint32_t k = s->off[link]; k < s->off[link + 1]; k++)
		m->ways.n_groups[s->over[k].set] = 0;
}

void sieve_ways_count(struct sieve_model *m)
{
	m->ways.n_changes++;
	memset(m->ways.n_groups, 0, m->sets.n_sets);
	memset(m->ways.n_odd, 0, m->sets.n_sets * sizeof(*m->ways.n_odd));
	for (size_t i = 0; i < m->n_lossy; i++)
		m->lossy[i].n_odd = 0;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		if (m->hazard[l] != m->level)
			sieve_ways_turn(m, l, 1);
}

/* --- paths of a set, by what failed on them ------------------------------- */

/* A link that is on all paths of a set counts with rows. */
static int sieve_ways_is_sure(const struct sieve_sets *s, uint32_t set,
    topo_link l)
{
	for (uint32_t k = s->sure_off[set]; k < s->sure_off[set + 1]; k++)
		if (s->sure[k] == l)
			return 1;
	return 0;
}

/* What a path exceeds that of healthy links by, with the first one's length. */
static double sieve_ways_excess(const struct sieve_model *m, uint32_t set,
    uint32_t path)
{
	const struct obs_paths *p = m->sets.ways.of;
	double sum = ((double)obs_path_length(p, path) -
			 obs_path_length(p, p->first[set])) *
	    m->level;
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++) {
		const double x = m->hazard[p->link[k]];
		if (x != m->level &&
		    !sieve_ways_is_sure(&m->sets, set, p->link[k]))
			sum += x - m->level;
	}
	return sum;
}

/* Path I of a set is of group K. */
static void sieve_ways_join(const struct sieve_model *m, uint32_t set,
    uint32_t i, unsigned k)
{
	m->ways.group_of[i] = (uint8_t)k;
	m->ways.paths[(size_t)set * SIEVE_GROUPS + k] |= UINT64_C(1)
	    << ((i - m->sets.ways.of->first[set]) & 63);
}

/* Groups of paths that exceed by the same; returns 0 if that makes too many. */
static int sieve_ways_sort_same(const struct sieve_model *m, uint32_t set)
{
	const struct obs_paths *p = m->sets.ways.of;
	double *excess = m->ways.excess + (size_t)set * SIEVE_GROUPS;
	unsigned n = 0;
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++) {
		const double x = sieve_ways_excess(m, set, i);
		unsigned k = 0;
		while (k < n && excess[k] != x)
			k++;
		if (k == SIEVE_GROUPS)
			return 0;
		if (k == n)
			excess[n++] = x;
		sieve_ways_join(m, set, i, k);
	}
	m->ways.n_groups[set] = (uint8_t)n;
	return 1;
}

/* Groups of paths that exceed by about as much. */
static void sieve_ways_sort_near(const struct sieve_model *m, uint32_t set)
{
	static const double STEP = 0.54;
	const struct obs_paths *p = m->sets.ways.of;
	double *excess = m->ways.excess + (size_t)set * SIEVE_GROUPS;
	unsigned n_in[SIEVE_GROUPS] = {0};
	memset(excess, 0, SIEVE_GROUPS * sizeof(*excess));
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++) {
		const double x = sieve_ways_excess(m, set, i);
		const double at = log1p(sieve_max(x, 0) / m->level) / STEP;
		const unsigned k =
		    at < SIEVE_GROUPS - 1 ? (unsigned)at : SIEVE_GROUPS - 1;
		excess[k] += x;
		n_in[k]++;
		sieve_ways_join(m, set, i, k);
	}
	for (unsigned k = 0; k < SIEVE_GROUPS; k++)
		if (n_in[k] > 0)
			excess[k] /= n_in[k];
	m->ways.n_groups[set] = SIEVE_GROUPS;
}

/* Put the paths of a set into groups, which hold until a link of it changes. */
static void sieve_ways_sort(const struct sieve_model *m, uint32_t set)
{
	uint64_t *paths = m->ways.paths + (size_t)set * SIEVE_GROUPS;
	memset(paths, 0, SIEVE_GROUPS * sizeof(*paths));
	if (sieve_ways_sort_same(m, set))
		return;
	memset(paths, 0, SIEVE_GROUPS * sizeof(*paths));
	sieve_ways_sort_near(m, set);
}

static int sieve_ways_has(const struct obs_paths *p, uint32_t path,
    topo_link link)
{
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++)
		if (p->link[k] == link)
			return 1;
	return 0;
}

/* Returns how many groups there are, with and without LINK, in w->group[]. */
static size_t sieve_ways_groups(const struct sieve_model *m, uint32_t set,
    topo_link link)
{
	const struct sieve_ways *w = &m->ways;
	const struct obs_paths *p = m->sets.ways.of;
	const uint32_t first = p->first[set];
	if (w->n_groups[set] == 0)
		sieve_ways_sort(m, set);
	const unsigned n = w->n_groups[set];
	for (unsigned k = 0; k < n; k++)
		w->group[k] =
		    (struct sieve_group){w->excess[(size_t)set * SIEVE_GROUPS +
					     k],
			0, 0};
	for (uint32_t i = first; i < p->first[set + 1]; i++) {
		struct sieve_group *x = &w->group[w->group_of[i]];
		if (link != TOPO_NONE && sieve_ways_has(p, i, link))
			x->with++;
		else
			x->without++;
	}
	return n;
}

/* How many bits X has: without a machine's own count the builtin is a call. */
static inline uint32_t sieve_ways_bits(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) +
	    (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* The same, ON being the paths of the link: of few paths by bits. */
static size_t sieve_ways_split(const struct sieve_model *m, uint32_t set,
    topo_link link, uint64_t on)
{
	const struct sieve_ways *w = &m->ways;
	if (w->n_groups[set] == 0)
		sieve_ways_sort(m, set);
	const unsigned n = w->n_groups[set];
	if (obs_set_size(m->sets.ways.of, set) > 64)
		return sieve_ways_groups(m, set, link);
	for (unsigned k = 0; k < n; k++) {
		const uint64_t x = w->paths[(size_t)set * SIEVE_GROUPS + k];
		w->group[k] =
		    (struct sieve_group){w->excess[(size_t)set * SIEVE_GROUPS +
					     k],
			(uint32_t)sieve_ways_bits(x & on),
			(uint32_t)sieve_ways_bits(x & ~on)};
	}
	return n;
}

/* Those of a set without an odd link but, it may be, the one asked for, as if
 * that was none. */
static size_t sieve_ways_alike(const struct sieve_model *m,
    const struct sieve_kind *k)
{
	m->ways.group[0] =
	    (struct sieve_group){0, k->n_on, k->n_paths - k->n_on};
	return 1;
}

/* --- one row -------------------------------------------------------------- */

/* A row's likelihood as it is gone through, over that of a way of healthy links:
 * without the link, and with it, by groups that do have it, as
 * a (1 + p ic)^lost. */
struct sieve_row {
	uint32_t lost, kept;
	double sum, own; /* hazard of a way, and of the link within it */
	double without, with, most; /* the greatest ic */
	size_t n;
	struct sieve_term at[SIEVE_GROUPS];
};

static double sieve_ways_rest(const struct sieve_row *x, double excess)
{
	return sieve_max(x->sum + excess - x->own, SIEVE_NO_REST);
}

/* ln of a row's likelihood on one path. */
static double sieve_ways_ln(double sum, double lost, double kept)
{
	return lost * log(-sieve_expm1(-sum)) - kept * sum;
}

/* The same over that of a way of healthy links, not as a logarithm. */
static double sieve_ways_times(const struct sieve_row *x, double sum,
    double c_healthy)
{
	const double c = -sieve_expm1(-sum) / c_healthy;
	double y = exp(-(double)x->kept * (sum - x->sum));
	for (uint32_t n = 0; n < x->lost; n++)
		y *= c;
	return y;
}

/* For much lost: each point by logarithms. */
static void sieve_ways_slow(const struct sieve_model *m,
    const struct sieve_row *x, size_t n_groups, int sure,
    double ell[SIEVE_GRID])
{
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		double most = -INFINITY, all = 0;
		for (unsigned pass = 0; pass < 2; pass++)
			for (size_t k = 0; k < n_groups; k++) {
				const struct sieve_group *y = &m->ways.group[k];
				const double a = y->without
				    ? sieve_ways_ln(x->sum + y->excess, x->lost,
					  x->kept)
				    : -INFINITY;
				const double b = y->with
				    ? sieve_ways_ln(sieve_ways_rest(x,
							y->excess) +
					      m->x[g],
					  x->lost, x->kept)
				    : -INFINITY;
				if (pass == 0)
					most = sieve_max(most, sieve_max(a, b));
				else
					all += y->without * exp(a - most) +
					    y->with * exp(b - most);
			}
		/* What is surely on the way counts in kept, as packets of
		 * known paths do. */
		ell[g] += most + log(sieve_max(all, 1)) +
		    (sure ? x->kept * m->x[g] : 0);
	}
}

/* The parts of a row; returns 0 if they can't be multiplied up. */
static int sieve_ways_parts(const struct sieve_model *m, struct sieve_row *x,
    size_t n_groups)
{
	enum { MUCH = 16 };
	const double c_healthy = -sieve_expm1(-x->sum);
	if (x->lost > MUCH)
		return 0;
	for (size_t k = 0; k < n_groups; k++) {
		const struct sieve_group *y = &m->ways.group[k];
		if (y->without)
			x->without += y->without *
			    sieve_ways_times(x, x->sum + y->excess, c_healthy);
		if (!y->with)
			continue;
		const double rest = sieve_ways_rest(x, y->excess);
		x->at[x->n].a = y->with * sieve_ways_times(x, rest, c_healthy);
		x->at[x->n].ic = sieve_ic(rest);
		x->with += x->at[x->n].a;
		x->most = sieve_max(x->most, x->at[x->n++].ic);
	}
	return 1;
}

/* Multiply by what a row says. OWN is the link's hazard within its sum. */
static void sieve_ways_row(const struct sieve_model *m, uint32_t lossy,
    size_t n_groups, double own, int sure, struct sieve_product *to,
    double ell[SIEVE_GRID])
{
	static const double FULL = 900, NOTHING = 1e-200;
	const struct sieve_lossy *row = &m->lossy[lossy];
	struct sieve_row x = {.lost = row->n_lost,
	    .kept = m->rows->n_sent[row->row] - row->n_lost,
	    .sum = m->sum[lossy],
	    .own = own};
	const int fast = sieve_ways_parts(m, &x, n_groups);
	/* What the factors are at least and at most. */
	const double least = sure ? x.with : x.without,
		     up = x.lost * sieve_product_bits(1 + x.most) +
	    sieve_product_bits(sieve_max(1, x.with + x.without)),
		     down = sieve_product_bits(sieve_min(1, least));
	if (!fast || least < NOTHING || up + down > FULL / 2) {
		sieve_ways_slow(m, &x, n_groups, sure, ell);
		return;
	}
	if ((to->bits += up + down) > FULL) {
		sieve_product_flush(to, ell);
		to->bits = up + down;
	}
	sieve_lanes_terms(m->p,
	    sure ? m->ways.all : m->ways.survive + (size_t)lossy * SIEVE_GRID,
	    x.at, x.n, x.lost, x.without, to->of);
}

/* --- a link's curve ------------------------------------------------------- */

static void sieve_ways_maybe(const struct sieve_model *m, topo_link link,
    uint32_t at, struct sieve_product *to, struct sieve_sums *sums,
    double ell[SIEVE_GRID])
{
	const struct sieve_ways *w = &m->ways;
	const struct sieve_over *o = &m->sets.over[at];
	const double own = m->hazard[link] - m->level;
	const int touched = w->n_odd[o->set] > (own != 0);
	size_t n_groups = 0;
	if (touched) {
		n_groups = sieve_ways_split(m, o->set, link, m->sets.on[at]);
		sieve_sums_gather(m, o->set, o->kind, n_groups, own, sums, to,
		    ell);
	}
	for (uint32_t k = w->off[o->set]; k < w->off[o->set + 1]; k++) {
		double ln[SIEVE_GRID];
		const uint32_t i = w->row[k];
		if (m->lossy[i].n_lost == 0 ||
		    (!touched && m->lossy[i].n_odd == 0))
			continue;
		if (n_groups == 0)
			n_groups = sieve_ways_alike(m, &m->sets.kind[o->kind]);
		const double *plain = sieve_cells_plain(m, i, o->kind, ln);
		sieve_lanes_add(plain, -1, ell);
		sieve_ways_row(m, i, n_groups,
		    touched ? m->hazard[link] : m->level, 0, to, ell);
	}
}

/* Rows that surely crossed the link, of sets with an odd one. */
static void sieve_ways_sure(const struct sieve_model *m, topo_link link,
    struct sieve_product *to, double ell[SIEVE_GRID])
{
	for (uint32_t k = m->off[link]; k < m->off[link + 1]; k++) {
		const uint32_t i = m->over[k];
		if (m->lossy[i].n_lost == 0 || !sieve_ways_is_touched(m, i))
			continue;
		const size_t n_groups =
		    sieve_ways_groups(m, m->lossy[i].set, TOPO_NONE);
		for (size_t n = 0; n < n_groups; n++) {
			m->ways.group[n].with = m->ways.group[n].without;
			m->ways.group[n].without = 0;
		}
		sieve_ways_row(m, i, n_groups, m->hazard[link], 1, to, ell);
	}
}

/* All sets that a link may be on, at the present hazards. */
static void sieve_ways_all(const struct sieve_model *m, topo_link link,
    double ell[])
{
	const struct sieve_sets *s = &m->sets;
	struct sieve_product x;
	struct sieve_sums sums;
	sums.n = sums.next = 0;
	sieve_product_begin(&x);
	for (uint32_t k = s->off[link]; k < s->off[link + 1]; k++)
		sieve_ways_maybe(m, link, k, &x, &sums, ell);
	sieve_sums_end(m, &sums, m->hazard[link] - m->level, &x, ell);
	sieve_product_flush(&x, ell);
}

/* Of a link at the level what its sets hold depends on its class and on how many
 * paths of each group it is on. Never 0. */
static uint64_t sieve_ways_key(const struct sieve_model *m, topo_link link)
{
	static const uint64_t ODD = UINT64_C(0x9e3779b97f4a7c15);
	const struct sieve_sets *s = &m->sets;
	uint64_t key = (m->ways.n_changes << 32) + s->class_of[link] + 1;
	/* Spread, before small numbers are put over it. */
	key *= ODD;
	key ^= key >> 29;
	for (uint32_t k = s->off[link]; k < s->off[link + 1]; k++) {
		const uint32_t set = s->over[k].set;
		uint64_t with = k - s->off[link];
		if (m->ways.n_odd[set] == 0)
			continue;
		const size_t n = sieve_ways_split(m, set, link, s->on[k]);
		for (size_t i = 0; i < n; i++)
			with = with * 1021 + m->ways.group[i].with;
		key = (key ^ with) * ODD;
		key ^= key >> 29;
	}
	key *= ODD;
	return key ? key : 1;
}

void sieve_ways_curve(const struct sieve_model *m, topo_link link, double ell[])
{
	static const double nothing[SIEVE_GRID];
	const uint32_t class_of = m->sets.class_of[link];
	struct sieve_product x;
	if (class_of != SIEVE_NO_CLASS && m->hazard[link] == m->level &&
	    m->sets.size[class_of] > 1) {
		const uint64_t key = sieve_ways_key(m, link);
		struct sieve_memo *memo =
		    &m->ways.memo[(key >> 40) % SIEVE_MEMOS];
		if (memo->key != key) {
			memo->key = key;
			memcpy(memo->curve, nothing, sizeof(nothing));
			sieve_ways_all(m, link, memo->curve);
		}
		sieve_lanes_add(memo->curve, 1, ell);
	} else {
		sieve_ways_all(m, link, ell);
	}
	sieve_product_begin(&x);
	sieve_ways_sure(m, link, &x, ell);
	sieve_product_flush(&x, ell);
}

double sieve_ways_plain(const struct sieve_model *m, uint32_t lossy,
    double lost, double kept)
{
	const size_t n = sieve_ways_groups(m, m->lossy[lossy].set, TOPO_NONE);
	double most = -INFINITY, all = 0, n_paths = 0;
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < n; k++) {
			const struct sieve_group *x = &m->ways.group[k];
			const double ln =
			    sieve_ways_ln(m->sum[lossy] + x->excess, lost,
				kept);
			if (pass == 0) {
				most = fmax(most, ln);
				n_paths += x->without;
			} else {
				all += x->without * exp(ln - most);
			}
		}
	return most + log(all / n_paths);
}

/* A path that exceeds the healthy ones is taken to have one failed link. */
double sieve_ways_healthy(const struct sieve_model *m, uint32_t lossy)
{
	const struct sieve_lossy *row = &m->lossy[lossy];
	const double kept = m->rows->n_sent[row->row] - row->n_lost;
	double sure = 0, most = -INFINITY, all = 0, healthy = 0;
	for (uint32_t k = row[0].first; k < row[1].first; k++)
		if (m->hazard[m->hop[k]] == m->level)
			sure += m->level;
	const size_t n = sieve_ways_groups(m, row->set, TOPO_NONE);
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < n; k++) {
			const struct sieve_group *x = &m->ways.group[k];
			const double sum = m->sum[lossy] + x->excess;
			const double ln = sieve_ways_ln(sum, row->n_lost, kept);
			if (pass == 0) {
				most = sieve_max(most, ln);
				continue;
			}
			const double maybe =
			    (row->n_maybe - (x->excess != 0)) * m->level;
			all += x->without * exp(ln - most);
			healthy += x->without * exp(ln - most) *
			    sieve_min(1, (sure + maybe) / sum);
		}
	return healthy / all;
}
