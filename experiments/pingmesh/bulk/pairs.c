/* experiments/pingmesh/bulk/pairs.c -- a mesh's probes, summed up by pair.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/pairs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/divisor.h"
#include "sim/vec.h"

/* SLOW: by itself, and by less than late ones. */
enum { FAILED, UNTOLD, LATE, SLOW };

/* --- opening -------------------------------------------------------------- */

void xp_mesh_pairs_close(struct xp_mesh_pairs *p)
{
	free(p->first);
	free(p->row);
	free(p->gone);
	free(p->failed);
	free(p->untold);
	free(p->of_host_answered);
	free(p->of_host_failed);
	free(p->begin);
	free(p->part);
	free(p->number[0]);
	free(p->number[1]);
	obs_pairs_free(&p->pairs);
	*p = (struct xp_mesh_pairs){.n = 0};
}

static_assert((int)OBS_MESH_TOR == (int)CONNECTS_TOR &&
	(int)OBS_MESH_DC == (int)CONNECTS_DC,
    "levels of a mesh are those of connects");

static topo_host pairs_peer(const void *arg, unsigned level, topo_host h,
    uint32_t k)
{
	const struct connects_mesh *m = arg;
	return m->peer(m->arg, (enum connects_level)level, h, k);
}

int xp_mesh_pairs_open(struct xp_mesh_pairs *p, const struct topo_clos *clos,
    const struct connects *c, const struct connects_params *params,
    sim_ns window_ns, sim_ns first_wait_ns, uint32_t n_kept, struct sim_err *e)
{
	const size_t n = clos->all_hosts;
	int rc;
	*p = (struct xp_mesh_pairs){.clos = *clos,
	    .mesh = params->mesh,
	    .ports = params->ports,
	    .c = c,
	    .window_ns = window_ns,
	    .first_wait_ns = first_wait_ns,
	    .n_kept = n_kept};
	if ((rc = SIM_ZALLOC(&p->first, n_kept, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->gone, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->failed, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->untold, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->of_host_answered, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->of_host_failed, n, e)) < 0)
		return rc;
	return SIM_ZALLOC(&p->begin, n + 1, e);
}

/* --- rows ------------------------------------------------------------------ */

void xp_mesh_pairs_clear(struct xp_mesh_pairs *p)
{
	p->next = p->n_windows = 0;
	p->n = 0;
}

static void drop_oldest(struct xp_mesh_pairs *p)
{
	const size_t n = p->n_windows > 1 ? p->first[1] : p->n;
	memmove(p->row, p->row + n, (p->n - n) * sizeof(*p->row));
	p->n -= n;
	p->n_windows--;
	for (uint32_t i = 0; i < p->n_windows; i++)
		p->first[i] = p->first[i + 1] - n;
}

/* A server that is off until the last connect of the window has failed has no
 * answer and gives none. */
static void mark_gone(struct xp_mesh_pairs *p, const struct truth *truth,
    sim_ns give_up_ns)
{
	const sim_ns from = p->next * p->window_ns;
	const sim_ns to = from + p->window_ns + give_up_ns;
	const int any = p->n_kept == 1 && truth_has_host_off(truth);
	for (topo_host h = 0; h < p->clos.all_hosts; h++) {
		const struct truth_outage *x = any
		    ? truth_outage_at(truth, TRUTH_HOST_OFF, h, from)
		    : NULL;
		p->gone[h] = x && x->to_ns >= to;
	}
}

void xp_mesh_pairs_begin(struct xp_mesh_pairs *p, const struct truth *truth,
    sim_ns give_up_ns)
{
	if (p->n_windows == p->n_kept && p->n_kept > 0)
		drop_oldest(p);
	mark_gone(p, truth, give_up_ns);
	memset(p->failed, 0, p->clos.all_hosts * sizeof(*p->failed));
	memset(p->untold, 0, p->clos.all_hosts * sizeof(*p->untold));
	p->first[p->n_windows++] = p->n;
	p->next++;
}

void xp_mesh_pairs_restart(struct xp_mesh_pairs *p, uint32_t window,
    const struct truth *truth, sim_ns give_up_ns)
{
	xp_mesh_pairs_clear(p);
	p->next = window;
	xp_mesh_pairs_begin(p, truth, give_up_ns);
}

static enum connects_level level_of(const struct xp_mesh_pairs *p, topo_host a,
    topo_host b)
{
	return a / p->clos.n_hosts == b / p->clos.n_hosts ? CONNECTS_TOR
							  : CONNECTS_DC;
}

static topo_host lower_of(const struct xp_mesh_pairs_row *r)
{
	return r->src < r->dst ? r->src : r->dst;
}

int xp_mesh_pairs_take(struct xp_mesh_pairs *p, const struct connects_row *r,
    struct sim_err *e)
{
	const enum connects_level level = level_of(p, r->src, r->dst);
	const int late = p->first_wait_ns > 0 && r->rtt_ns >= p->first_wait_ns;
	if (r->outcome != CONNECTS_CONNECTED &&
	    (p->gone[r->src] || p->gone[r->dst])) {
		uint64_t *n =
		    r->outcome == CONNECTS_UNTOLD ? p->untold : p->failed;
		n[r->src] += r->n;
		n[r->dst] += r->n;
		return 0;
	}
	const int rc = SIM_RESERVE(&p->row, &p->cap, p->n + 1, e);
	if (rc < 0)
		return rc;
	const sim_ns phase = connects_phase(p->c, level, r->src, r->dst);
	p->row[p->n++] = (struct xp_mesh_pairs_row){.src = r->src,
	    .dst = r->dst,
	    .k = (uint32_t)((r->sent_ns - phase) / p->mesh.every_ns[level]),
	    .n = r->n & 0x3fffffff,
	    .kind = r->outcome == CONNECTS_TIMED_OUT ? FAILED
		: r->outcome == CONNECTS_UNTOLD      ? UNTOLD
		: late                               ? LATE
						     : SLOW};
	return 0;
}

/* --- parts in order -------------------------------------------------------- */

/* 1 if of connects with one number the one from SRC is sent after the one from
 * DST. */
static uint32_t is_second(const struct xp_mesh_pairs *p, topo_host src,
    topo_host dst)
{
	const enum connects_level level = level_of(p, src, dst);
	const sim_ns own = connects_phase(p->c, level, src, dst);
	const sim_ns other = connects_phase(p->c, level, dst, src);
	return own > other || (own == other && src > dst);
}

static int parts_by_pair(const void *a, const void *b)
{
	const struct xp_mesh_pairs_part *x = a, *y = b;
	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static struct xp_mesh_pairs_part part_of(const struct xp_mesh_pairs *p,
    size_t i, size_t from)
{
	const struct xp_mesh_pairs_row *r = &p->row[i];
	return (struct xp_mesh_pairs_part){.high = r->src < r->dst ? r->dst
								   : r->src,
	    .at = 2 * r->k + is_second(p, r->src, r->dst),
	    .row = (uint32_t)(i - from),
	    .n = r->n,
	    .kind = r->kind};
}

/* A connect that was marked twice is what it was first, as in every.h. */
static void sort_parts(struct xp_mesh_pairs_part x[], size_t n)
{
	if (n == 0)
		return;
	qsort(x, n, sizeof(*x), parts_by_pair);
	for (size_t i = 1; i < n; i++)
		if (x[i].high == x[i - 1].high && x[i].at == x[i - 1].at)
			x[i].n = 0;
}

/* Those of rows FROM on, by pair: of lower server h from begin[h] on. While rows
 * are put there begin[h + 1] is where its next one goes. */
static int order_parts(struct xp_mesh_pairs *p, size_t from, struct sim_err *e)
{
	const uint32_t n = p->clos.all_hosts;
	const int rc = SIM_RESERVE(&p->part, &p->cap_parts, p->n - from, e);
	if (rc < 0)
		return rc;
	memset(p->begin, 0, ((size_t)n + 1) * sizeof(*p->begin));
	for (size_t i = from; i < p->n; i++)
		p->begin[2 + lower_of(&p->row[i])]++;
	for (uint32_t h = 0; h < n; h++)
		p->begin[h + 1] += p->begin[h];
	for (size_t i = from; i < p->n; i++)
		p->part[p->begin[1 + lower_of(&p->row[i])]++] =
		    part_of(p, i, from);
	for (uint32_t h = 0; h < n; h++)
		sort_parts(p->part + p->begin[h],
		    p->begin[h + 1] - p->begin[h]);
	return 0;
}

/* --- servers --------------------------------------------------------------- */

/* All of a pair's connects, both ways, of N windows. */
static uint32_t due_of(const struct xp_mesh_pairs *p, unsigned level,
    uint32_t n)
{
	return p->mesh.n_peers[level] == 0
	    ? 0
	    : 2 * n * (uint32_t)(p->window_ns / p->mesh.every_ns[level]);
}

/* As if all that is kept were answered. */
static void begin_hosts(struct xp_mesh_pairs *p, uint32_t n)
{
	uint64_t due = 0;
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++)
		due += (uint64_t)p->mesh.n_peers[l] * due_of(p, l, n);
	for (topo_host h = 0; h < p->clos.all_hosts; h++) {
		p->of_host_failed[h] = p->failed[h];
		p->of_host_answered[h] = due - p->failed[h] - p->untold[h];
	}
}

static void count_parts(struct xp_mesh_pairs *p)
{
	for (topo_host h = 0; h < p->clos.all_hosts; h++)
		for (size_t i = p->begin[h]; i < p->begin[h + 1]; i++) {
			const struct xp_mesh_pairs_part *x = &p->part[i];
			if (x->kind > UNTOLD)
				continue;
			p->of_host_answered[h] -= x->n;
			p->of_host_answered[x->high] -= x->n;
			if (x->kind == UNTOLD)
				continue;
			p->of_host_failed[h] += x->n;
			p->of_host_failed[x->high] += x->n;
		}
}

static int both_live(const struct xp_mesh_pairs *p, topo_host a, topo_host b)
{
	return p->of_host_answered[a] > 0 && p->of_host_answered[b] > 0;
}

/* Has any connect failed between servers that live? */
static int any_failed(const struct xp_mesh_pairs *p)
{
	for (topo_host h = 0; h < p->clos.all_hosts; h++)
		for (size_t i = p->begin[h]; i < p->begin[h + 1]; i++)
			if (p->part[i].kind == FAILED &&
			    both_live(p, h, p->part[i].high))
				return 1;
	return 0;
}

/* --- a pair ----------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* The places of all connects of the N parts at X that failed, and of those that
 * nobody was told of, ascending. */
static int list_numbers(struct xp_mesh_pairs *p,
    const struct xp_mesh_pairs_part x[], size_t n, struct sim_err *e)
{
	p->n_numbers[FAILED] = p->n_numbers[UNTOLD] = 0;
	for (size_t i = 0; i < n; i++) {
		if (x[i].kind > UNTOLD)
			continue;
		size_t *to = &p->n_numbers[x[i].kind];
		const int rc = SIM_RESERVE(&p->number[x[i].kind],
		    &p->cap_numbers[x[i].kind], *to + x[i].n, e);
		if (rc < 0)
			return rc;
		for (uint32_t k = 0; k < x[i].n; k++)
			p->number[x[i].kind][(*to)++] = x[i].at + 2 * k;
	}
	for (int k = 0; k < 2; k++)
		if (p->n_numbers[k] > 1)
			qsort(p->number[k], p->n_numbers[k],
			    sizeof(*p->number[k]), by_number);
	return 0;
}

/* Between two time-outs there was an answer unless nobody was told of any. */
static uint32_t spells_of(const struct xp_mesh_pairs *p)
{
	const uint32_t *failed = p->number[FAILED], *untold = p->number[UNTOLD];
	uint32_t n_spells = p->n_numbers[FAILED] > 0;
	size_t k = 0;
	for (size_t i = 1; i < p->n_numbers[FAILED]; i++) {
		uint32_t between = failed[i] - failed[i - 1] - 1;
		while (k < p->n_numbers[UNTOLD] && untold[k] < failed[i]) {
			between -= untold[k] > failed[i - 1];
			k++;
		}
		n_spells += between > 0;
	}
	return n_spells;
}

/* How many of N_NUMBERS have remainder AT by STEP. */
static uint32_t n_alike(const uint32_t number[], size_t n_numbers, uint32_t at,
    uint32_t step)
{
	uint32_t n = 0;
	for (size_t i = 0; i < n_numbers; i++)
		n += number[i] % step == at;
	return n;
}

/* Connects of one direction have the same port a period apart, which is twice as
 * many places of both. Only numbers from FROM to TO are due. */
static uint32_t most_dead(const struct xp_mesh_pairs *p, topo_host low,
    topo_host high, uint32_t from, uint32_t to)
{
	const enum connects_level level = level_of(p, low, high);
	uint32_t most = 0;
	for (size_t i = 0; i < p->n_numbers[FAILED]; i++) {
		const uint32_t at = p->number[FAILED][i];
		const int of_high = (at & 1) != is_second(p, low, high);
		const struct connects_turn t = of_high
		    ? connects_turn_of(p->c, level, high, low)
		    : connects_turn_of(p->c, level, low, high);
		const uint32_t step =
		    2 * (p->ports.n / sim_divisor(p->ports.n, t.step));
		const uint32_t first = from + (at - from) % step;
		const uint32_t due = (to - first + step - 1) / step;
		const uint32_t n = n_alike(p->number[FAILED],
		    p->n_numbers[FAILED], at % step, step);
		if (n > most &&
		    n +
			    n_alike(p->number[UNTOLD], p->n_numbers[UNTOLD],
				at % step, step) ==
			due)
			most = n;
	}
	return most;
}

/* The N parts at X are of one pair, of which all places from FROM to TO are
 * due. */
static int put_pair(struct xp_mesh_pairs *p, topo_host low,
    const struct xp_mesh_pairs_part x[], size_t n, uint32_t from, uint32_t to,
    struct sim_err *e)
{
	struct obs_pair row = {.low = low,
	    .high = x[0].high,
	    .n_probes = to - from};
	for (size_t i = 0; i < n; i++) {
		row.n_probes -= x[i].kind == UNTOLD ? x[i].n : 0;
		row.n_failed += x[i].kind == FAILED ? x[i].n : 0;
		row.n_late += x[i].kind == LATE ? x[i].n : 0;
	}
	if (row.n_failed > 0) {
		const int rc = list_numbers(p, x, n, e);
		if (rc < 0)
			return rc;
		row.n_spells = spells_of(p);
		row.n_dead =
		    p->ports.again ? most_dead(p, low, row.high, from, to) : 1;
	}
	return obs_pairs_add(&p->pairs, &row, e);
}

/* The pairs of lower server H. */
static int put_pairs(struct xp_mesh_pairs *p, topo_host h, uint32_t n,
    struct sim_err *e)
{
	const size_t end = p->begin[h + 1];
	int rc = 0;
	for (size_t i = p->begin[h], k; rc == 0 && i < end; i = k) {
		const topo_host high = p->part[i].high;
		const uint32_t due = due_of(p, level_of(p, h, high), 1);
		for (k = i + 1; k < end && p->part[k].high == high;)
			k++;
		if (both_live(p, h, high))
			rc = put_pair(p, h, &p->part[i], k - i,
			    due * (p->next - n), due * p->next, e);
	}
	return rc;
}

/* Connects were late at most. */
static int all_answered(const struct xp_mesh_pairs *p, size_t from)
{
	for (size_t i = from; i < p->n; i++)
		if (p->row[i].kind <= UNTOLD)
			return 0;
	return 1;
}

int xp_mesh_pairs_tell(struct xp_mesh_pairs *p, uint32_t n,
    const struct obs_pairs **out, struct sim_err *e)
{
	n = n < p->n_windows ? n : p->n_windows;
	const size_t from = n > 0 ? p->first[p->n_windows - n] : p->n;
	struct obs_pairs *to = &p->pairs;
	int rc;
	obs_pairs_clear(to);
	to->mesh = (struct obs_mesh){.arg = &p->mesh, .peer = pairs_peer};
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++) {
		to->mesh.n_peers[l] = p->mesh.n_peers[l];
		to->mesh.n_probes[l] = due_of(p, l, n);
	}
	to->of_host_answered = p->of_host_answered;
	to->of_host_failed = p->of_host_failed;
	to->tells_late = p->first_wait_ns > 0;
	*out = to;
	begin_hosts(p, n);
	if (all_answered(p, from))
		return 0;
	if ((rc = order_parts(p, from, e)) < 0)
		return rc;
	count_parts(p);
	if (!any_failed(p))
		return 0;
	for (topo_host h = 0; rc == 0 && h < p->clos.all_hosts; h++)
		rc = put_pairs(p, h, n, e);
	return rc;
}
