/* experiments/pingmesh/bulk/pairs.c -- a mesh's probes, summed up by pair.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/pairs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/divisor.h"
#include "sim/vec.h"

/* --- opening -------------------------------------------------------------- */

void xp_mesh_pairs_close(struct xp_mesh_pairs *p)
{
	xp_pair_rows_close(&p->rows);
	free(p->gone);
	free(p->failed);
	free(p->untold);
	free(p->of_host_answered);
	free(p->of_host_failed);
	free(p->number[0]);
	free(p->number[1]);
	*p = (struct xp_mesh_pairs){.next = 0};
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

/* All of a pair's connects, both ways, of N windows. */
static uint32_t due_of(const struct xp_mesh_pairs *p, unsigned level,
    uint32_t n)
{
	return p->mesh.n_peers[level] == 0
	    ? 0
	    : 2 * n * (uint32_t)(p->window_ns / p->mesh.every_ns[level]);
}

int xp_mesh_pairs_open(struct xp_mesh_pairs *p, const struct topo_clos *clos,
    const struct connects *c, const struct connects_params *params,
    sim_ns window_ns, sim_ns first_wait_ns, uint32_t n_kept, struct sim_err *e)
{
	const size_t n = clos->all_hosts;
	uint64_t n_places = 0;
	int rc;
	*p = (struct xp_mesh_pairs){.clos = *clos,
	    .mesh = params->mesh,
	    .ports = params->ports,
	    .c = c,
	    .window_ns = window_ns,
	    .first_wait_ns = first_wait_ns};
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++) {
		const uint64_t due = (uint64_t)n_kept * due_of(p, l, 1);
		n_places = due > n_places ? due : n_places;
	}
	if ((rc = xp_pair_rows_open(&p->rows, clos->all_hosts, n_kept, n_places,
		 e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->gone, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->failed, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->untold, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->of_host_answered, n, e)) < 0)
		return rc;
	return SIM_ZALLOC(&p->of_host_failed, n, e);
}

/* --- rows ------------------------------------------------------------------ */

void xp_mesh_pairs_clear(struct xp_mesh_pairs *p)
{
	xp_pair_rows_clear(&p->rows);
	p->next = 0;
}

/* A server that is off until the last connect of the window has failed has no
 * answer and gives none. */
static void mark_gone(struct xp_mesh_pairs *p, const struct truth *truth,
    sim_ns give_up_ns)
{
	const sim_ns from = p->next * p->window_ns;
	const sim_ns to = from + p->window_ns + give_up_ns;
	const int any = p->rows.n_kept == 1 && truth_has_host_off(truth);
	for (topo_host h = 0; h < p->clos.all_hosts; h++) {
		const struct truth_outage *x = any
		    ? truth_outage_at(truth, TRUTH_HOST_OFF, h, from)
		    : NULL;
		p->gone[h] = x && x->to_ns >= to;
	}
}

int xp_mesh_pairs_begin(struct xp_mesh_pairs *p, const struct truth *truth,
    sim_ns give_up_ns, struct sim_err *e)
{
	const int rc = xp_pair_rows_begin(&p->rows, e);
	mark_gone(p, truth, give_up_ns);
	memset(p->failed, 0, p->clos.all_hosts * sizeof(*p->failed));
	memset(p->untold, 0, p->clos.all_hosts * sizeof(*p->untold));
	p->next++;
	return rc;
}

int xp_mesh_pairs_restart(struct xp_mesh_pairs *p, uint32_t window,
    const struct truth *truth, sim_ns give_up_ns, struct sim_err *e)
{
	xp_mesh_pairs_clear(p);
	p->next = window;
	return xp_mesh_pairs_begin(p, truth, give_up_ns, e);
}

static enum connects_level level_of(const struct xp_mesh_pairs *p, topo_host a,
    topo_host b)
{
	return a / p->clos.n_hosts == b / p->clos.n_hosts ? CONNECTS_TOR
							  : CONNECTS_DC;
}

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

static enum xp_pair_kind kind_of(const struct xp_mesh_pairs *p,
    const struct connects_row *r)
{
	return r->outcome == CONNECTS_TIMED_OUT ? XP_PAIR_FAILED
	    : r->outcome == CONNECTS_UNTOLD     ? XP_PAIR_UNTOLD
	    : p->first_wait_ns > 0 && r->rtt_ns >= p->first_wait_ns
	    ? XP_PAIR_LATE
	    : XP_PAIR_SLOW;
}

/* Windows are of whole intervals, so numbers are those since the window began. */
int xp_mesh_pairs_take(struct xp_mesh_pairs *p, const struct connects_row *r,
    struct sim_err *e)
{
	const enum connects_level level = level_of(p, r->src, r->dst);
	if (r->outcome != CONNECTS_CONNECTED &&
	    (p->gone[r->src] || p->gone[r->dst])) {
		uint64_t *n =
		    r->outcome == CONNECTS_UNTOLD ? p->untold : p->failed;
		n[r->src] += r->n;
		n[r->dst] += r->n;
		return 0;
	}
	const sim_ns begin = (p->next - 1) * p->window_ns +
	    connects_phase(p->c, level, r->src, r->dst);
	const uint64_t k = (r->sent_ns - begin) / p->mesh.every_ns[level];
	const struct xp_pair_row row = {.low =
					    r->src < r->dst ? r->src : r->dst,
	    .high = r->src < r->dst ? r->dst : r->src,
	    .at = 2 * (uint32_t)k + is_second(p, r->src, r->dst),
	    .n = r->n,
	    .kind = (uint8_t)kind_of(p, r)};
	return xp_pair_rows_add(&p->rows, &row, e);
}

/* --- servers --------------------------------------------------------------- */

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

/* Less what the rows from FROM on say. */
static void pairs_count_rows(struct xp_mesh_pairs *p, size_t from)
{
	for (size_t i = from; i < p->rows.n; i++) {
		const struct xp_pair_row x =
		    xp_pair_rows_read(&p->rows, p->rows.key[i]);
		if (x.kind > XP_PAIR_UNTOLD)
			continue;
		p->of_host_answered[x.low] -= x.n;
		p->of_host_answered[x.high] -= x.n;
		if (x.kind == XP_PAIR_UNTOLD)
			continue;
		p->of_host_failed[x.low] += x.n;
		p->of_host_failed[x.high] += x.n;
	}
}

static int both_live(const struct xp_mesh_pairs *p, topo_host a, topo_host b)
{
	return p->of_host_answered[a] > 0 && p->of_host_answered[b] > 0;
}

/* Has any connect failed between servers that live? */
static int any_failed(const struct xp_mesh_pairs *p, size_t from)
{
	for (size_t i = from; i < p->rows.n; i++) {
		const struct xp_pair_row x =
		    xp_pair_rows_read(&p->rows, p->rows.key[i]);
		if (x.kind == XP_PAIR_FAILED && both_live(p, x.low, x.high))
			return 1;
	}
	return 0;
}

/* --- a pair ----------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* The places of all connects of the N rows at KEY that failed, and of those that
 * nobody was told of, ascending. */
static int list_numbers(struct xp_mesh_pairs *p, const uint64_t key[], size_t n,
    struct sim_err *e)
{
	p->n_numbers[XP_PAIR_FAILED] = p->n_numbers[XP_PAIR_UNTOLD] = 0;
	for (size_t i = 0; i < n; i++) {
		const struct xp_pair_row x =
		    xp_pair_rows_read(&p->rows, key[i]);
		if (x.kind > XP_PAIR_UNTOLD)
			continue;
		size_t *to = &p->n_numbers[x.kind];
		const int rc = SIM_RESERVE(&p->number[x.kind],
		    &p->cap_numbers[x.kind], *to + x.n, e);
		if (rc < 0)
			return rc;
		for (uint32_t k = 0; k < x.n; k++)
			p->number[x.kind][(*to)++] = x.at + 2 * k;
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
	const uint32_t *failed = p->number[XP_PAIR_FAILED],
		       *untold = p->number[XP_PAIR_UNTOLD];
	uint32_t n_spells = p->n_numbers[XP_PAIR_FAILED] > 0;
	size_t k = 0;
	for (size_t i = 1; i < p->n_numbers[XP_PAIR_FAILED]; i++) {
		uint32_t between = failed[i] - failed[i - 1] - 1;
		while (
		    k < p->n_numbers[XP_PAIR_UNTOLD] && untold[k] < failed[i]) {
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
 * many places of both. ALL places are due. */
static uint32_t most_dead(const struct xp_mesh_pairs *p, topo_host low,
    topo_host high, uint32_t all)
{
	const enum connects_level level = level_of(p, low, high);
	uint32_t most = 0;
	for (size_t i = 0; i < p->n_numbers[XP_PAIR_FAILED]; i++) {
		const uint32_t at = p->number[XP_PAIR_FAILED][i];
		const int of_high = (at & 1) != is_second(p, low, high);
		const struct connects_turn t = of_high
		    ? connects_turn_of(p->c, level, high, low)
		    : connects_turn_of(p->c, level, low, high);
		const uint32_t step =
		    2 * (p->ports.n / sim_divisor(p->ports.n, t.step));
		const uint32_t due = (all - at % step + step - 1) / step;
		const uint32_t n = n_alike(p->number[XP_PAIR_FAILED],
		    p->n_numbers[XP_PAIR_FAILED], at % step, step);
		if (n > most &&
		    n +
			    n_alike(p->number[XP_PAIR_UNTOLD],
				p->n_numbers[XP_PAIR_UNTOLD], at % step,
				step) ==
			due)
			most = n;
	}
	return most;
}

/* The N rows at KEY are of one pair, of which ALL places are due. */
static int pairs_sum_one(struct xp_mesh_pairs *p, const uint64_t key[],
    size_t n, uint32_t all, struct obs_pair *sum, struct sim_err *e)
{
	const struct xp_pair_row first = xp_pair_rows_read(&p->rows, key[0]);
	*sum = (struct obs_pair){.low = first.low,
	    .high = first.high,
	    .n_probes = all};
	for (size_t i = 0; i < n; i++) {
		const struct xp_pair_row x =
		    xp_pair_rows_read(&p->rows, key[i]);
		sum->n_probes -= x.kind == XP_PAIR_UNTOLD ? x.n : 0;
		sum->n_failed += x.kind == XP_PAIR_FAILED ? x.n : 0;
		sum->n_late += x.kind == XP_PAIR_LATE ? x.n : 0;
	}
	if (sum->n_failed == 0)
		return 0;
	const int rc = list_numbers(p, key, n, e);
	if (rc < 0)
		return rc;
	sum->n_spells = spells_of(p);
	sum->n_dead =
	    p->ports.again ? most_dead(p, first.low, first.high, all) : 1;
	return 0;
}

/* The pairs of the servers that W is at. */
static int pairs_list_block(struct xp_mesh_pairs *p,
    const struct xp_pair_walk *w, uint32_t least, struct obs_pair_list *out,
    struct sim_err *e)
{
	const unsigned pair_from = xp_pair_rows_pair_from(&p->rows);
	int rc = 0;
	for (size_t i = 0, k; rc == 0 && i < w->n; i = k) {
		const struct xp_pair_row x =
		    xp_pair_rows_read(&p->rows, w->key[i]);
		struct obs_pair sum;
		for (k = i + 1; k < w->n &&
		     w->key[k] >> pair_from == w->key[i] >> pair_from;)
			k++;
		if (!both_live(p, x.low, x.high))
			continue;
		rc = pairs_sum_one(p, &w->key[i], k - i,
		    due_of(p, level_of(p, x.low, x.high), w->n_windows), &sum,
		    e);
		if (rc == 0 && obs_pair_in_trouble(&sum, least))
			rc = obs_pair_list_add(out, &sum, e);
	}
	return rc;
}

static int pairs_list(void *arg, uint32_t least, struct obs_pair_list *out,
    struct sim_err *e)
{
	struct xp_mesh_pairs *p = arg;
	const uint32_t due[] = {due_of(p, CONNECTS_TOR, 1),
	    due_of(p, CONNECTS_DC, 1)};
	struct xp_pair_walk w;
	int rc = 0;
	obs_pair_list_clear(out);
	if (!p->any_failed)
		return 0;
	rc = xp_pair_walk_begin(&w, &p->rows, p->n_told, p->clos.all_hosts, e);
	while (rc == 0 &&
	    (rc = xp_pair_walk_on(&w, p->clos.n_hosts, due, e)) == 0 && w.n > 0)
		rc = pairs_list_block(p, &w, least, out, e);
	xp_pair_walk_close(&w);
	return rc;
}

int xp_mesh_pairs_tell(struct xp_mesh_pairs *p, uint32_t n,
    const struct obs_pairs **out, struct sim_err *e)
{
	struct obs_pairs *to = &p->pairs;
	const int rc = xp_pair_rows_end(&p->rows, e);
	p->n_told = n < p->rows.n_windows ? n : p->rows.n_windows;
	*to = (struct obs_pairs){.mesh = {.arg = &p->mesh, .peer = pairs_peer},
	    .of_host_answered = p->of_host_answered,
	    .of_host_failed = p->of_host_failed,
	    .tells_late = p->first_wait_ns > 0,
	    .arg = p,
	    .list = pairs_list};
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++) {
		to->mesh.n_peers[l] = p->mesh.n_peers[l];
		to->mesh.n_probes[l] = due_of(p, l, p->n_told);
	}
	*out = to;
	if (rc < 0)
		return rc;
	const size_t from = xp_pair_rows_from(&p->rows, p->n_told);
	begin_hosts(p, p->n_told);
	pairs_count_rows(p, from);
	p->any_failed = any_failed(p, from);
	return 0;
}
