/* experiments/report/layout.c -- where the parts of a network stand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/layout.h"
#include "sim/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* px; what is left of the rows is for their names */
enum {
	LEFT = 74,
	RIGHT = 14,
	TOP = 26,
	ROW_GAP = 128,
	HOSTS_GAP = 52,
	LONE_GAP = 54,
	LONE_STEP = 22,
	BOTTOM = 40,
	POD_GAP = 14,
	RING_HEIGHT = 620,
	RING_ROOM = 84
};
#define LANE 2.1 /* half the distance of a cable's two directions */

/* What is known of each switch while places are looked for. */
struct placing {
	struct xp_layout *l;
	const struct xp_picture *p;
	uint32_t *tier, *pod; /* [switches]; pod: its number */
	uint32_t *number;     /* [switches]: of the pod with that least id */
	double *weight;       /* [switches]: what happened there */
};

static uint32_t switch_at(const struct topo *t, topo_node n)
{
	return n < t->n_hosts ? TOPO_NONE : n - t->n_hosts;
}

/* --- pods ----------------------------------------------------------------- */

static uint32_t root_of(uint32_t pod[], uint32_t s)
{
	while (pod[s] != s) {
		pod[s] = pod[pod[s]];
		s = pod[s];
	}
	return s;
}

/* Whatever hangs together below the T2s is a pod, in a Clos, a region and a
 * fat-tree alike. */
static void find_pods(struct placing *x)
{
	const struct topo *t = x->l->topo;
	for (uint32_t s = 0; s < t->n_switches; s++)
		x->pod[s] = s;
	for (topo_link k = 2 * t->n_hosts; k < t->n_links; k += 2) {
		topo_node a, b;
		topo_link_ends(t, k, &a, &b);
		const uint32_t s = switch_at(t, a), r = switch_at(t, b);
		if (x->tier[s] > 1 || x->tier[r] > 1)
			continue;
		const uint32_t i = root_of(x->pod, s), j = root_of(x->pod, r);
		x->pod[i > j ? i : j] = i > j ? j : i;
	}
	uint32_t n = 0;
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (x->pod[s] == s && x->tier[s] <= 1)
			x->number[s] = n++;
	for (uint32_t s = 0; s < t->n_switches; s++)
		x->pod[s] = root_of(x->pod, s);
	for (uint32_t s = 0; s < t->n_switches; s++)
		x->pod[s] = x->number[x->pod[s]];
}

/* --- who is shown --------------------------------------------------------- */

static void layout_weigh(struct placing *x)
{
	const struct topo *t = x->l->topo;
	for (topo_link k = 0; k < t->n_links; k++) {
		topo_node end[2];
		if (x->p->flows[k] == 0)
			continue;
		topo_link_ends(t, k, &end[0], &end[1]);
		for (int i = 0; i < 2; i++)
			if (end[i] >= t->n_hosts)
				x->weight[end[i] - t->n_hosts] +=
				    x->p->flows[k];
	}
	for (size_t i = 0; i < x->p->n_parts; i++) {
		const struct xp_part part = x->p->part[i];
		topo_node end[2] = {t->n_hosts + part.id, t->n_hosts + part.id};
		if (!part.is_switch)
			topo_link_ends(t, part.id, &end[0], &end[1]);
		for (int k = 0; k < 2; k++)
			if (end[k] >= t->n_hosts)
				x->weight[end[k] - t->n_hosts] += 1e12;
	}
}

struct ranked {
	double weight;
	uint32_t id;
};

static int ranked_order(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->weight != y->weight)
		return SIM_ORDER(y->weight, x->weight);
	return x->id < y->id ? -1 : x->id > y->id;
}

static uint32_t row_of(const struct placing *x, uint32_t s)
{
	return x->l->is_ring ? 0 : x->tier[s];
}

static int choose_row(struct placing *x, uint32_t row, struct sim_err *e)
{
	struct xp_layout *l = x->l;
	struct ranked *r;
	size_t n = 0;
	int rc = SIM_ZALLOC(&r, l->topo->n_switches, e);
	if (rc < 0)
		return rc;
	for (uint32_t s = 0; s < l->topo->n_switches; s++)
		if (row_of(x, s) == row)
			r[n++] = (struct ranked){x->weight[s], s};
	if (n > XP_MAX_ROW)
		qsort(r, n, sizeof(*r), ranked_order);
	l->row[row].n = n;
	l->row[row].n_shown = n < XP_MAX_ROW ? n : XP_MAX_ROW;
	/* Who is shown only for having had room tells nothing. */
	while (n > XP_MAX_ROW && l->row[row].n_shown > 1 &&
	    r[l->row[row].n_shown - 1].weight == 0)
		l->row[row].n_shown--;
	l->left_switches += n - l->row[row].n_shown;
	for (size_t i = 0; i < l->row[row].n_shown; i++)
		l->spot[r[i].id].shown = 1;
	free(r);
	return 0;
}

/* --- rows ----------------------------------------------------------------- */

static double inner(const struct xp_layout *l)
{
	return l->width - LEFT - RIGHT;
}

/* Put the shown switches of a row, and of a pod unless that is TOPO_NONE,
 * evenly between X and X + WIDTH. */
static void layout_spread(struct placing *x, uint32_t row, uint32_t pod,
    size_t n, double left, double width)
{
	struct xp_layout *l = x->l;
	const double step = width / (double)(n ? n : 1);
	size_t i = 0;
	for (uint32_t s = 0; s < l->topo->n_switches && i < n; s++) {
		if (!l->spot[s].shown || x->tier[s] != row ||
		    (pod != TOPO_NONE && x->pod[s] != pod))
			continue;
		l->spot[s].x = left + ((double)i++ + 0.5) * step;
		l->spot[s].y = l->row[row].y;
	}
	if (n > 0 && (l->row[row].step == 0 || step < l->row[row].step))
		l->row[row].step = step;
}

/* How many switches of a pod are shown in each of the two lower rows. */
struct pod_size {
	uint32_t id;
	size_t n[2];
};

static size_t widest(const struct pod_size *s)
{
	return s->n[0] > s->n[1] ? s->n[0] : s->n[1];
}

/* Pods come in the order of their least ids. */
static size_t measure_pods(const struct placing *x, struct pod_size size[])
{
	const struct xp_layout *l = x->l;
	size_t n = 0;
	for (uint32_t s = 0; s < l->topo->n_switches; s++) {
		if (!l->spot[s].shown || x->tier[s] > 1)
			continue;
		size_t i = n;
		while (i > 0 && size[i - 1].id != x->pod[s])
			i--;
		if (i == 0) {
			i = ++n;
			size[i - 1] = (struct pod_size){.id = x->pod[s]};
		}
		size[i - 1].n[x->tier[s]]++;
	}
	return n;
}

static int spread_pods(struct placing *x, struct sim_err *e)
{
	struct xp_layout *l = x->l;
	struct pod_size size[2 * XP_MAX_ROW];
	double total = 0, left = LEFT;
	l->n_pods = measure_pods(x, size);
	int rc = SIM_ZALLOC(&l->pod, l->n_pods, e);
	if (rc < 0 || l->n_pods == 0)
		return rc;
	for (size_t i = 0; i < l->n_pods; i++)
		total += (double)widest(&size[i]);
	const double gap = l->n_pods > 24 ? 4 : POD_GAP;
	const double room = inner(l) - gap * (double)(l->n_pods - 1);
	for (size_t i = 0; i < l->n_pods; i++) {
		const double width = room * (double)widest(&size[i]) / total;
		l->pod[i] = (struct xp_pod){left, width, size[i].id};
		for (uint32_t row = 0; row < 2; row++)
			layout_spread(x, row, size[i].id, size[i].n[row], left,
			    width);
		left += width + gap;
	}
	return 0;
}

static void name_rows(struct xp_layout *l)
{
	static const char *const names[] = {"ToR", "T1", "T2", "border"};
	for (size_t i = 0; i < l->n_rows; i++)
		snprintf(l->row[i].name, sizeof(l->row[i].name), "%s",
		    names[i]);
}

static int place_rows(struct placing *x, struct sim_err *e)
{
	struct xp_layout *l = x->l;
	for (size_t i = 0; i < l->n_rows; i++)
		l->row[i].y = TOP + ROW_GAP * (double)(l->n_rows - 1 - i);
	l->hosts_y = l->row[0].y + HOSTS_GAP;
	name_rows(l);
	int rc = spread_pods(x, e);
	for (uint32_t row = 2; row < l->n_rows; row++)
		layout_spread(x, row, TOPO_NONE, l->row[row].n_shown, LEFT,
		    inner(l));
	for (uint32_t s = 0; s < l->topo->n_switches; s++) {
		l->spot[s].hosts_x = l->spot[s].x;
		l->spot[s].hosts_y = l->hosts_y;
	}
	l->height = l->hosts_y + BOTTOM;
	return rc;
}

static void place_ring(struct placing *x)
{
	struct xp_layout *l = x->l;
	const double rx = l->width / 2 - RING_ROOM,
		     ry = RING_HEIGHT / 2.0 - RING_ROOM;
	const double cx = l->width / 2, cy = RING_HEIGHT / 2.0;
	const size_t n = l->row[0].n_shown;
	size_t i = 0;
	for (uint32_t s = 0; s < l->topo->n_switches; s++) {
		struct xp_spot *at = &l->spot[s];
		if (!at->shown)
			continue;
		const double turn =
		    2 * 3.14159265358979 * (double)i++ / (double)n;
		at->x = cx + rx * sin(turn);
		at->y = cy - ry * cos(turn);
		at->hosts_x = cx + (rx + 34) * sin(turn);
		at->hosts_y = cy - (ry + 34) * cos(turn);
	}
	l->row[0].step = 3.1 * (rx + ry) / (double)(n ? n : 1);
	l->height = RING_HEIGHT;
}

/* --- hosts ---------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct xp_lone_host *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Each below its ToR, or as near to that as there is room. */
static void part_lone(struct xp_layout *l)
{
	double end = l->width - RIGHT;
	for (size_t i = 1; i < l->n_lone; i++)
		l->lone[i].x = fmax(l->lone[i].x, l->lone[i - 1].x + LONE_STEP);
	for (size_t i = l->n_lone; i-- > 0; end -= LONE_STEP)
		l->lone[i].x = fmin(l->lone[i].x, end);
}

static void place_lone(struct placing *x)
{
	struct xp_layout *l = x->l;
	for (size_t i = 0; i < x->p->n_parts; i++) {
		const struct xp_part part = x->p->part[i];
		const topo_host h = part.id / 2;
		size_t known = 0;
		if (part.is_switch || h >= l->topo->n_hosts)
			continue;
		while (known < l->n_lone && l->lone[known].id != h)
			known++;
		if (known < l->n_lone)
			continue;
		const struct xp_spot *at = &l->spot[topo_tor_of(l->topo, h)];
		l->lone[l->n_lone++] = (struct xp_lone_host){h, at->hosts_x,
		    at->hosts_y + (l->is_ring ? 30 : LONE_GAP)};
	}
	if (l->n_lone == 0 || l->is_ring)
		return;
	/* Hosts are numbered from left to right, as their ToRs are. */
	qsort(l->lone, l->n_lone, sizeof(l->lone[0]), by_place);
	part_lone(l);
	l->height += LONE_GAP;
}

static const struct xp_lone_host *find_lone(const struct xp_layout *l,
    topo_host h)
{
	for (size_t i = 0; i < l->n_lone; i++)
		if (l->lone[i].id == h)
			return &l->lone[i];
	return NULL;
}

/* --- all ------------------------------------------------------------------ */

static void count_left(struct placing *x)
{
	struct xp_layout *l = x->l;
	const struct topo *t = l->topo;
	size_t n_quiet = 0;
	for (topo_link k = 2 * t->n_hosts; k < t->n_links; k++) {
		struct xp_line line;
		const int shown = xp_layout_link(l, k, &line);
		const int quiet = x->p->flows[k] == 0;
		l->left_flows += !shown && !quiet;
		l->left_quiet += !shown && quiet;
		n_quiet += shown && quiet;
	}
	/* More lines than that are a grey slab. */
	l->has_quiet = n_quiet <= 2 * XP_MAX_CABLES && l->left_switches == 0;
	if (!l->has_quiet)
		l->left_quiet += n_quiet;
}

static int place(struct placing *x, struct sim_err *e)
{
	struct xp_layout *l = x->l;
	const struct topo *t = l->topo;
	int rc = 0;
	for (uint32_t s = 0; s < t->n_switches; s++) {
		x->tier[s] = topo_tier_of(t, s);
		l->is_ring |= x->tier[s] > 3;
	}
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (row_of(x, s) >= l->n_rows)
			l->n_rows = row_of(x, s) + 1;
	for (topo_host h = 0; h < t->n_hosts; h++)
		l->spot[topo_tor_of(t, h)].n_hosts++;
	layout_weigh(x);
	for (uint32_t row = 0; rc == 0 && row < l->n_rows; row++)
		rc = choose_row(x, row, e);
	if (rc < 0)
		return rc;
	if (l->is_ring)
		place_ring(x);
	else
		find_pods(x);
	if (!l->is_ring && (rc = place_rows(x, e)) < 0)
		return rc;
	place_lone(x);
	count_left(x);
	return 0;
}

int xp_layout_make(struct xp_layout *l, const struct xp_picture *p,
    double width, struct sim_err *e)
{
	const size_t n = p->cell.topo->n_switches;
	struct placing x = {.l = l, .p = p};
	*l = (struct xp_layout){.topo = p->cell.topo, .width = width};
	int rc;
	if ((rc = SIM_ZALLOC(&l->spot, n, e)) == 0 &&
	    (rc = SIM_ZALLOC(&x.tier, n, e)) == 0 &&
	    (rc = SIM_ZALLOC(&x.pod, n, e)) == 0 &&
	    (rc = SIM_ZALLOC(&x.number, n, e)) == 0 &&
	    (rc = SIM_ZALLOC(&x.weight, n, e)) == 0)
		rc = place(&x, e);
	free(x.tier);
	free(x.pod);
	free(x.number);
	free(x.weight);
	if (rc < 0)
		xp_layout_free(l);
	return rc;
}

void xp_layout_free(struct xp_layout *l)
{
	free(l->spot);
	free(l->pod);
	*l = (struct xp_layout){0};
}

/* --- lines ---------------------------------------------------------------- */

/* The right-hand lane of the way from (x1, y1) to (x2, y2). */
static struct xp_line on_lane(double x1, double y1, double x2, double y2)
{
	const double dx = x2 - x1, dy = y2 - y1, n = hypot(dx, dy);
	const double ox = n > 0 ? -dy / n * LANE : 0,
		     oy = n > 0 ? dx / n * LANE : 0;
	return (struct xp_line){x1 + ox, y1 + oy, x2 + ox, y2 + oy};
}

static int place_of(const struct xp_layout *l, topo_node n, double *x,
    double *y)
{
	if (n < l->topo->n_hosts) {
		const struct xp_lone_host *h = find_lone(l, n);
		if (!h)
			return 0;
		*x = h->x;
		*y = h->y;
		return 1;
	}
	const struct xp_spot *s = &l->spot[n - l->topo->n_hosts];
	*x = s->x;
	*y = s->y;
	return s->shown;
}

int xp_layout_link(const struct xp_layout *l, topo_link link,
    struct xp_line *out)
{
	topo_node from, to;
	double x1, y1, x2, y2;
	topo_link_ends(l->topo, link, &from, &to);
	if (!place_of(l, from, &x1, &y1) || !place_of(l, to, &x2, &y2))
		return 0;
	*out = on_lane(x1, y1, x2, y2);
	return 1;
}

struct xp_line xp_layout_hosts(const struct xp_layout *l, topo_switch tor,
    enum topo_dir dir)
{
	const struct xp_spot *s = &l->spot[tor];
	return dir == TOPO_UP ? on_lane(s->hosts_x, s->hosts_y, s->x, s->y)
			      : on_lane(s->x, s->y, s->hosts_x, s->hosts_y);
}
