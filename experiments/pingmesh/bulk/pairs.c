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

/* The fewest connects that a pair has in N windows, both ways; where windows are
 * of whole intervals all pairs have as many, and else up to two more. */
static uint32_t due_of(const struct xp_mesh_pairs *p, unsigned level,
    uint32_t n)
{
	return p->mesh.n_peers[level] == 0
	    ? 0
	    : 2 * (uint32_t)(n * p->window_ns / p->mesh.every_ns[level]);
}

/* The most, where those of both directions are one more. */
static uint32_t most_of(const struct xp_mesh_pairs *p, unsigned level,
    uint32_t n)
{
	const int more = p->mesh.n_peers[level] > 0 &&
	    n * p->window_ns % p->mesh.every_ns[level] != 0;
	return due_of(p, level, n) + 2 * (uint32_t)more;
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
		const uint64_t due = most_of(p, l, n_kept) + 2;
		n_places = due > n_places ? due : n_places;
		p->uneven |= p->mesh.n_peers[l] > 0 &&
		    window_ns % p->mesh.every_ns[l] != 0;
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
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++)
		p->first_slot[l] = p->mesh.n_peers[l] > 0
		    ? p->next * p->window_ns / p->mesh.every_ns[l]
		    : 0;
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

/* 1 if of connects with one number the one from SRC, which is sent that long after
 * its interval begins, is sent after the one from DST. */
static uint32_t is_after(const struct xp_mesh_pairs *p,
    enum connects_level level, topo_host src, topo_host dst, sim_ns own)
{
	const sim_ns other = connects_phase(p->c, level, dst, src);
	return own > other || (own == other && src > dst);
}

static uint32_t is_second(const struct xp_mesh_pairs *p, topo_host src,
    topo_host dst)
{
	const enum connects_level level = level_of(p, src, dst);
	return is_after(p, level, src, dst,
	    connects_phase(p->c, level, src, dst));
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

int xp_mesh_pairs_take(struct xp_mesh_pairs *p, const struct connects_row *r,
    struct sim_err *e)
{
	const enum connects_level level = connects_level_of(r->hops);
	if (r->outcome != CONNECTS_CONNECTED &&
	    (p->gone[r->src] || p->gone[r->dst])) {
		uint64_t *n =
		    r->outcome == CONNECTS_UNTOLD ? p->untold : p->failed;
		n[r->src] += r->n;
		n[r->dst] += r->n;
		return 0;
	}
	const sim_ns every = p->mesh.every_ns[level];
	const uint64_t slot = r->sent_ns / every;
	const uint64_t k = slot - p->first_slot[level];
	const struct xp_pair_row row = {.low =
					    r->src < r->dst ? r->src : r->dst,
	    .high = r->src < r->dst ? r->dst : r->src,
	    .at = 2 * (uint32_t)k +
		is_after(p, level, r->src, r->dst, r->sent_ns - slot * every),
	    .n = r->n,
	    .kind = (uint8_t)kind_of(p, r)};
	return xp_pair_rows_add(&p->rows, &row, e);
}

/* --- servers --------------------------------------------------------------- */

/* How many connects there are from SRC to DST in the windows that are told. */
static uint32_t due_one_way(const struct xp_mesh_pairs *p, unsigned level,
    topo_host src, topo_host dst)
{
	return connects_due(p->c, level, src, dst,
	    (p->next - p->n_told) * p->window_ns, p->next * p->window_ns);
}

static uint32_t due_of_both(const struct xp_mesh_pairs *p, topo_host a,
    topo_host b)
{
	const enum connects_level level = level_of(p, a, b);
	return p->uneven
	    ? due_one_way(p, level, a, b) + due_one_way(p, level, b, a)
	    : due_of(p, level, p->n_told);
}

static uint64_t due_of_host(const struct xp_mesh_pairs *p, topo_host h)
{
	uint64_t due = 0;
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++) {
		const uint32_t n = p->mesh.n_peers[l];
		if (!p->uneven)
			due += (uint64_t)n * due_of(p, l, p->n_told);
		for (uint32_t k = 0; p->uneven && k < n; k++)
			due += due_of_both(p, h,
			    p->mesh.peer(p->mesh.arg, l, h, k));
	}
	return due;
}

/* As if all that is told were answered. */
static void begin_hosts(struct xp_mesh_pairs *p)
{
	for (topo_host h = 0; h < p->clos.all_hosts; h++) {
		p->of_host_failed[h] = p->failed[h];
		p->of_host_answered[h] =
		    due_of_host(p, h) - p->failed[h] - p->untold[h];
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

/* Put N numbers, AT and each second one after it, among the HAD of LIST, which
 * are ascending and stay so. A pair mostly has two such rows, a direction each,
 * of which the numbers take turns. Shape list[had + n]. Cost O(had + n), so many
 * rows of a pair cost the square of their numbers, which a window bounds. */
static void merge_numbers(uint32_t list[], size_t had, uint32_t at, uint32_t n)
{
	while (n > 0) {
		const uint32_t last = at + 2 * (n - 1);
		if (had > 0 && list[had - 1] > last) {
			list[had + n - 1] = list[had - 1];
			had--;
		} else {
			list[had + n - 1] = last;
			n--;
		}
	}
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
		merge_numbers(p->number[x.kind], *to, x.at, x.n);
		*to += x.n;
	}
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

/* How many connects from SRC to DST are told that have the port of the one at
 * place AT, which comes each PERIOD of them. */
static uint32_t due_of_port(const struct xp_mesh_pairs *p, topo_host src,
    topo_host dst, uint32_t at, uint32_t period)
{
	const enum connects_level level = level_of(p, src, dst);
	const sim_ns from = (p->next - p->n_told) * p->window_ns;
	const uint32_t first = connects_due(p->c, level, src, dst, 0, from) -
	    (uint32_t)(from / p->mesh.every_ns[level]);
	const uint32_t next =
	    first + (at / 2 + period - first % period) % period;
	const uint32_t end = first + due_one_way(p, level, src, dst);
	return next < end ? (end - next + period - 1) / period : 0;
}

/* Connects of one direction have the same port a period apart, which is twice as
 * many places of both. */
static uint32_t most_dead(const struct xp_mesh_pairs *p, topo_host low,
    topo_host high)
{
	const enum connects_level level = level_of(p, low, high);
	const size_t n_failed = p->n_numbers[XP_PAIR_FAILED],
		     n_untold = p->n_numbers[XP_PAIR_UNTOLD];
	uint32_t most = 0;
	for (size_t i = 0; i < n_failed; i++) {
		const uint32_t at = p->number[XP_PAIR_FAILED][i];
		const int of_high = (at & 1) != is_second(p, low, high);
		const topo_host src = of_high ? high : low,
				dst = of_high ? low : high;
		const struct connects_turn t =
		    connects_turn_of(p->c, level, src, dst);
		const uint32_t period =
		    p->ports.n / sim_divisor(p->ports.n, t.step);
		const uint32_t step = 2 * period;
		const uint32_t n = n_alike(p->number[XP_PAIR_FAILED], n_failed,
		    at % step, step);
		if (n > most &&
		    n +
			    n_alike(p->number[XP_PAIR_UNTOLD], n_untold,
				at % step, step) ==
			due_of_port(p, src, dst, at, period))
			most = n;
	}
	return most;
}

/* The N rows at KEY are of one pair. */
static int pairs_sum_one(struct xp_mesh_pairs *p, const uint64_t key[],
    size_t n, struct obs_pair *sum, struct sim_err *e)
{
	const struct xp_pair_row first = xp_pair_rows_read(&p->rows, key[0]);
	*sum = (struct obs_pair){.low = first.low,
	    .high = first.high,
	    .n_probes = due_of_both(p, first.low, first.high)};
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
	sum->n_dead = p->ports.again ? most_dead(p, first.low, first.high) : 1;
	return 0;
}

/* Mostly a pair has one row, and so few do no harm: neither connects that failed
 * nor late ones are LEAST, nor does the pair have less without untold ones. */
static int rows_are_harmless(const struct xp_mesh_pairs *p,
    const uint64_t key[], size_t n, enum connects_level level, uint32_t least)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += xp_pair_rows_read(&p->rows, key[i]).n;
	return sum < least && p->n_due[level] >= least + sum;
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
		if (rows_are_harmless(p, &w->key[i], k - i,
			level_of(p, x.low, x.high), least) ||
		    !both_live(p, x.low, x.high))
			continue;
		rc = pairs_sum_one(p, &w->key[i], k - i, &sum, e);
		if (rc == 0 && obs_pair_in_trouble(&sum, least))
			rc = obs_pair_list_add(out, &sum, e);
	}
	return rc;
}

/* Pairs without rows have one number of probes, or one of three, which is below
 * LEAST for some of them. */
static int some_lack(const struct xp_mesh_pairs *p, unsigned level,
    uint32_t least)
{
	return due_of(p, level, p->n_told) < least &&
	    least <= p->pairs.mesh.n_probes[level];
}

/* Is the pair among the first N of OUT, which are ascending? */
static int pairs_is_listed(const struct obs_pair_list *out, size_t n,
    topo_host low, topo_host high)
{
	size_t from = 0;
	while (from < n) {
		const size_t at = from + (n - from) / 2;
		if (out->low[at] == low && out->high[at] == high)
			return 1;
		if (out->low[at] < low ||
		    (out->low[at] == low && out->high[at] < high))
			from = at + 1;
		else
			n = at;
	}
	return 0;
}

/* Pairs that have too few probes and no row. Those with rows are listed. */
static int pairs_list_few(const struct xp_mesh_pairs *p, uint32_t least,
    struct obs_pair_list *out, struct sim_err *e)
{
	const struct connects_mesh *m = &p->mesh;
	const size_t n = out->n;
	int rc = 0;
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++)
		for (topo_host h = 0;
		     some_lack(p, l, least) && h < p->clos.all_hosts; h++)
			for (uint32_t k = 0; rc == 0 && k < m->n_peers[l];
			     k++) {
				const topo_host g = m->peer(m->arg, l, h, k);
				const struct obs_pair one = {.low = h,
				    .high = g,
				    .n_probes = due_of_both(p, h, g)};
				if (g > h && one.n_probes < least &&
				    both_live(p, h, g) &&
				    !pairs_is_listed(out, n, h, g))
					rc = obs_pair_list_add(out, &one, e);
			}
	return rc;
}

static int pairs_list(void *arg, uint32_t least, struct obs_pair_list *out,
    struct sim_err *e)
{
	struct xp_mesh_pairs *p = arg;
	const struct xp_pair_places places = {.n_hosts = p->clos.all_hosts,
	    .hosts_of_tor = p->clos.n_hosts,
	    .from_ns = (p->next - p->n_told) * p->window_ns,
	    .window_ns = p->window_ns,
	    .every_ns = {p->mesh.every_ns[CONNECTS_TOR],
		p->mesh.every_ns[CONNECTS_DC]}};
	struct xp_pair_walk w = {.n = 0};
	obs_pair_list_clear(out);
	if (!p->any_failed)
		return 0;
	int rc = xp_pair_walk_begin(&w, &p->rows, p->n_told, &places, e);
	while (rc == 0 && (rc = xp_pair_walk_on(&w, e)) == 0 && w.n > 0)
		rc = pairs_list_block(p, &w, least, out, e);
	xp_pair_walk_close(&w);
	return rc < 0 ? rc : pairs_list_few(p, least, out, e);
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
		to->mesh.n_probes[l] = most_of(p, l, p->n_told);
		p->n_due[l] = due_of(p, l, p->n_told);
	}
	*out = to;
	if (rc < 0)
		return rc;
	const size_t from = xp_pair_rows_from(&p->rows, p->n_told);
	begin_hosts(p);
	pairs_count_rows(p, from);
	p->any_failed = any_failed(p, from);
	return 0;
}
