/* experiments/pingmesh/bulk/mean_loss.c -- the loss that a mesh's probes have.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/mean_loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* What of a server's pass counts: as a sender of the scope or of all, and as a
 * peer; with its links' loss, and alone. */
enum { SENDS, RECEIVES, SENDERS, RECEIVERS, N_MASSES };

/* Of a ToR: up to each T1 and down from each, then up to each T2, through any
 * T1, and down from each. */
static size_t way_size(const struct topo_clos *c)
{
	return 2 * ((size_t)c->n_t1 + c->n_t2);
}

int xp_mean_loss_open(struct xp_mean_loss *m, const struct topo_clos *clos,
    const struct connects_params *p, const uint8_t in_scope[],
    struct sim_err *e)
{
	const size_t n = clos->all_tors;
	int rc;
	*m = (struct xp_mean_loss){.clos = *clos, .in_scope = in_scope};
	for (int h = 0; h < CONNECTS_N_HOPS; h++) {
		const enum connects_level level =
		    connects_level_of((enum connects_hops)h);
		m->rate[h] = p->mesh.n_peers[level] > 0
		    ? 1e9 / (double)p->mesh.every_ns[level]
		    : 0;
	}
	if ((rc = SIM_ZALLOC(&m->pass, clos->all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->t1_pass, 2 * (size_t)clos->all_t1 * clos->n_t2,
		 e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->way, n * way_size(clos), e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->class, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->of_class, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->id, clos->n_tors, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->hazard, 2 * (size_t)clos->n_cables, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->off, clos->all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->of_pod, n * N_MASSES * clos->n_hosts, e)) < 0)
		return rc;
	return SIM_ZALLOC(&m->mass, n * N_MASSES * clos->n_hosts, e);
}

void xp_mean_loss_close(struct xp_mean_loss *m)
{
	free(m->pass);
	free(m->t1_pass);
	free(m->way);
	free(m->class);
	free(m->of_class);
	free(m->id);
	free(m->hazard);
	free(m->off);
	free(m->of_pod);
	free(m->mass);
	*m = (struct xp_mean_loss){.in_scope = NULL};
}

void xp_mean_loss_clear(struct xp_mean_loss *m)
{
	m->all = m->scope = (struct xp_mean_loss_sum){{0}, {0}};
	m->has_last = 0;
}

/* --- ways of a ToR ----------------------------------------------------------- */

static void set_way(struct xp_mean_loss *m, uint32_t tor, const double hazard[])
{
	const struct topo_clos *c = &m->clos;
	double *w = m->way + tor * way_size(c);
	double *t2 = w + 2 * (size_t)c->n_t1;
	for (uint32_t a = 0; a < c->n_t1; a++)
		for (int d = 0; d < 2; d++)
			w[2 * a + (uint32_t)d] =
			    exp(-hazard[topo_clos_link_tor(c, tor, a,
				(enum topo_dir)d)]);
	for (uint32_t k = 0; k < 2 * c->n_t2; k++)
		t2[k] = 0;
	for (uint32_t a = 0; c->n_pods > 1 && a < c->n_t1; a++)
		for (uint32_t k = 0; k < 2 * c->n_t2; k++)
			t2[k] += w[2 * a + k % 2] / c->n_t1 *
			    m->t1_pass[(tor / c->n_tors * c->n_t1 + a) * 2 *
				    c->n_t2 +
				k];
}

/* Find or make the class of each ToR. Most are like the first. */
static uint32_t set_classes(struct xp_mean_loss *m)
{
	const size_t size = way_size(&m->clos);
	uint32_t n = 0;
	for (uint32_t t = 0; t < m->clos.all_tors; t++) {
		uint32_t k = 0;
		while (k < n &&
		    memcmp(m->way + t * size, m->way + m->of_class[k] * size,
			size * sizeof(double)) != 0)
			k++;
		if (k == n)
			m->of_class[n++] = t;
		m->class[t] = k;
	}
	return n;
}

/* There and back within a pod, by any T1 each; and between pods, by any T2. */
static double pass_within(const struct xp_mean_loss *m, uint32_t x, uint32_t y)
{
	const size_t size = way_size(&m->clos);
	const double *v = m->way + x * size, *w = m->way + y * size;
	double there = 0, back = 0;
	for (uint32_t a = 0; a < m->clos.n_t1; a++) {
		there += v[2 * a] * w[2 * a + 1];
		back += w[2 * a] * v[2 * a + 1];
	}
	return there * back / ((double)m->clos.n_t1 * m->clos.n_t1);
}

static double pass_between(const struct xp_mean_loss *m, uint32_t x, uint32_t y)
{
	const size_t size = way_size(&m->clos), at = 2 * (size_t)m->clos.n_t1;
	const double *v = m->way + x * size + at, *w = m->way + y * size + at;
	double there = 0, back = 0;
	for (uint32_t k = 0; k < m->clos.n_t2; k++) {
		there += v[2 * k] * w[2 * k + 1];
		back += w[2 * k] * v[2 * k + 1];
	}
	return there * back / ((double)m->clos.n_t2 * m->clos.n_t2);
}

/* --- sums -------------------------------------------------------------------- */

static int mean_sends(const struct xp_mean_loss *m, int scoped,
    const uint8_t off[], uint32_t h)
{
	return !off[h] && (!scoped || !m->in_scope || m->in_scope[h]);
}

static void add_mass(const struct xp_mean_loss *m, int scoped,
    const uint8_t off[], uint32_t tor, double to[])
{
	const uint32_t n = m->clos.n_hosts;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t h = tor * n + i;
		const int sends = mean_sends(m, scoped, off, h);
		to[SENDS * n + i] += sends * m->pass[h];
		to[RECEIVES * n + i] += !off[h] * m->pass[h];
		to[SENDERS * n + i] += sends;
		to[RECEIVERS * n + i] += !off[h];
	}
}

/* Pairs of servers of one place under two sets of ToRs. */
static void add_pairs_of(const struct xp_mean_loss *m, const double from[],
    const double to[], double survive, double weight,
    struct xp_mean_loss_sum *sum, enum connects_hops hops)
{
	const uint32_t n = m->clos.n_hosts;
	double pairs = 0, pass = 0;
	for (uint32_t i = 0; i < n; i++) {
		pairs += from[SENDERS * n + i] * to[RECEIVERS * n + i];
		pass += from[SENDS * n + i] * to[RECEIVES * n + i];
	}
	sum->n[hops] += weight * pairs;
	sum->lost[hops] += weight * (pairs - pass * survive);
}

static void add_under(const struct xp_mean_loss *m, int scoped,
    const uint8_t off[], uint32_t tor, double weight,
    struct xp_mean_loss_sum *sum)
{
	const uint32_t n = m->clos.n_hosts;
	double k[N_MASSES] = {0}, same = 0, same_pass = 0;
	for (uint32_t h = tor * n; h < (tor + 1) * n; h++) {
		const int sends = mean_sends(m, scoped, off, h);
		k[SENDS] += sends * m->pass[h];
		k[RECEIVES] += !off[h] * m->pass[h];
		k[SENDERS] += sends;
		k[RECEIVERS] += !off[h];
		same += sends;
		same_pass += sends * m->pass[h] * m->pass[h];
	}
	const double pairs = k[SENDERS] * k[RECEIVERS] - same;
	sum->n[CONNECTS_INTRA_TOR] += weight * pairs;
	sum->lost[CONNECTS_INTRA_TOR] +=
	    weight * (pairs - (k[SENDS] * k[RECEIVES] - same_pass));
}

/* The pairs of N classes, of which ID[] are known by those ToRs. */
static void add_classes(const struct xp_mean_loss *m, const double mass[],
    const uint32_t id[], uint32_t n, double weight, int within,
    struct xp_mean_loss_sum *sum)
{
	const size_t size = (size_t)N_MASSES * m->clos.n_hosts;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			add_pairs_of(m, mass + a * size, mass + b * size,
			    within ? pass_within(m, id[a], id[b])
				   : pass_between(m, id[a], id[b]),
			    weight, sum,
			    within ? CONNECTS_INTRA_POD : CONNECTS_INTER_POD);
}

/* The pairs of a pod's ToRs, which are taken off those between pods, as sums
 * over all classes have them; and those of a ToR with itself off its own. */
static void add_pod(const struct xp_mean_loss *m, int scoped,
    const uint8_t off[], uint32_t pod, double weight,
    struct xp_mean_loss_sum *sum)
{
	const struct topo_clos *c = &m->clos;
	const size_t size = (size_t)N_MASSES * c->n_hosts;
	const uint32_t first = pod * c->n_tors;
	uint32_t n = 0;
	for (uint32_t x = first; x < first + c->n_tors; x++) {
		double *own = m->mass;
		uint32_t k = 0;
		while (k < n && m->class[m->id[k]] != m->class[x])
			k++;
		if (k == n) {
			memset(m->of_pod + n * size, 0, size * sizeof(double));
			m->id[n++] = x;
		}
		add_mass(m, scoped, off, x, m->of_pod + k * size);
		memset(own, 0, size * sizeof(double));
		add_mass(m, scoped, off, x, own);
		add_pairs_of(m, own, own, pass_within(m, x, x), -weight, sum,
		    CONNECTS_INTRA_POD);
	}
	add_classes(m, m->of_pod, m->id, n, weight, 1, sum);
	if (c->n_pods > 1)
		add_classes(m, m->of_pod, m->id, n, -weight, 0, sum);
}

static void add_sum(struct xp_mean_loss *m, int scoped, const uint8_t off[],
    uint32_t n_classes, struct xp_mean_loss_sum *sum)
{
	const struct topo_clos *c = &m->clos;
	const size_t size = (size_t)N_MASSES * c->n_hosts;
	*sum = (struct xp_mean_loss_sum){{0}, {0}};
	for (uint32_t t = 0; t < c->all_tors; t++)
		add_under(m, scoped, off, t, 1, sum);
	for (uint32_t p = 0; c->all_tors > 1 && p < c->n_pods; p++)
		add_pod(m, scoped, off, p, 1, sum);
	if (c->n_pods == 1)
		return;
	memset(m->mass, 0, n_classes * size * sizeof(double));
	for (uint32_t t = 0; t < c->all_tors; t++)
		add_mass(m, scoped, off, t, m->mass + m->class[t] * size);
	add_classes(m, m->mass, m->of_class, n_classes, 1, 0, sum);
}

static void mean_loss_sum_up(struct xp_mean_loss *m, const double hazard[],
    const uint8_t off[])
{
	const struct topo_clos *c = &m->clos;
	for (uint32_t h = 0; h < c->all_hosts; h++)
		m->pass[h] = exp(-hazard[topo_clos_link_host(h, TOPO_UP)] -
		    hazard[topo_clos_link_host(h, TOPO_DOWN)]);
	for (uint32_t i = 0; i < 2 * c->all_t1 * c->n_t2; i++)
		m->t1_pass[i] = exp(-hazard[2 * c->cable_t1 + i]);
	for (uint32_t t = 0; t < c->all_tors; t++)
		set_way(m, t, hazard);
	const uint32_t n = set_classes(m);
	add_sum(m, 0, off, n, &m->last);
	m->last_scope = m->last;
	if (m->in_scope)
		add_sum(m, 1, off, n, &m->last_scope);
}

static void mean_loss_add_times(struct xp_mean_loss_sum *to,
    const struct xp_mean_loss_sum *from, double seconds)
{
	for (int h = 0; h < CONNECTS_N_HOPS; h++) {
		to->n[h] += seconds * from->n[h];
		to->lost[h] += seconds * from->lost[h];
	}
}

void xp_mean_loss_add(struct xp_mean_loss *m, double seconds,
    const double hazard[], const uint8_t off[])
{
	const size_t n_links = 2 * (size_t)m->clos.n_cables;
	if (!m->has_last ||
	    memcmp(m->hazard, hazard, n_links * sizeof(*hazard)) != 0 ||
	    memcmp(m->off, off, m->clos.all_hosts) != 0) {
		mean_loss_sum_up(m, hazard, off);
		memcpy(m->hazard, hazard, n_links * sizeof(*hazard));
		memcpy(m->off, off, m->clos.all_hosts);
		m->has_last = 1;
	}
	mean_loss_add_times(&m->all, &m->last, seconds);
	mean_loss_add_times(&m->scope, &m->last_scope, seconds);
}

double xp_mean_loss_of(const struct xp_mean_loss *m,
    const struct xp_mean_loss_sum *s, int first, int last)
{
	double n = 0, lost = 0;
	for (int h = first; h <= last; h++) {
		n += m->rate[h] * s->n[h];
		lost += m->rate[h] * s->lost[h];
	}
	return n > 0 ? lost / n : NAN;
}
