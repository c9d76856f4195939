/* experiments/report/picture.c -- what there is to be seen of one cell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/picture.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/sweep/answer.h"
#include "sim/sort.h"
#include "sim/text.h"
#include "sim/vec.h"

const char *const xp_word_names[] = {"", "hit", "false", "missed", NULL};

/* --- flows ---------------------------------------------------------------- */

static int picture_begin(void *arg, const struct xp_cell *cell,
    struct sim_err *e)
{
	struct xp_picture *p = arg;
	int rc;
	p->cell = *cell;
	p->n_links = cell->topo->n_links;
	if ((rc = SIM_ZALLOC(&p->flows, p->n_links, e)) == 0)
		rc = SIM_ZALLOC(&p->drops, p->n_links, e);
	return rc;
}

/* A path has each link once, so its flow counts once on each. */
static void count_flow(struct xp_picture *p, const struct obs *w,
    const struct losses *lost, size_t i)
{
	const uint64_t off = w->hops.off[i];
	const topo_link *path =
	    (lost && lost->n_path ? lost->path : w->hops.link) + off;
	const unsigned n = obs_n_hops(w, i);
	p->n_failed++;
	for (unsigned k = 0; k < n; k++) {
		const uint32_t drops =
		    lost && off + k < lost->n_drops ? lost->drops[off + k] : 0;
		p->n_lost += drops;
		if (path[k] == TOPO_NONE || path[k] >= p->n_links)
			continue;
		p->flows[path[k]]++;
		p->drops[path[k]] += drops;
	}
}

static int picture_hear(void *arg, const struct xp_window *w, struct sim_err *e)
{
	struct xp_picture *p = arg;
	const struct obs *o = w->seen;
	(void)e;
	memset(p->flows, 0, p->n_links * sizeof(*p->flows));
	memset(p->drops, 0, p->n_links * sizeof(*p->drops));
	p->n_windows++;
	p->n_failed = p->n_lost = 0;
	p->n_ran = o->n_flows;
	for (size_t i = 0; i < o->flows.n; i++)
		if (o->flows.n_retx[i] > 0)
			count_flow(p, o, w->lost, i);
	return 0;
}

void xp_point_text(const struct res_cube *c, size_t point, char buf[],
    size_t size)
{
	struct sim_text t = {buf, size, 0};
	size_t at[RES_MAX_AXES];
	char digits[32];
	buf[0] = '\0';
	res_cube_at(c, point, at);
	for (size_t a = 0; a < res_cube_outer_axes(c); a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const struct res_coord *k = &c->axis[a].coord[i];
			sim_put(&t, "%s%s %s", t.n ? ", " : "", k->name,
			    k->number ? sim_format_f64(digits, k->number[at[a]])
				      : k->text[at[a]]);
		}
}

/* --- parts ---------------------------------------------------------------- */

static const struct truth *truth_of(const struct xp_picture *p)
{
	return &p->cell.scene->truth;
}

int xp_part_is_broken(const struct xp_picture *p, struct xp_part part)
{
	const struct truth *t = truth_of(p);
	return part.is_switch ? truth_is_failed_switch(t, part.id) ||
		truth_first_hole(t, part.id) < t->n_holes
			      : truth_is_faulty(t, part.id);
}

void xp_part_name(const struct xp_picture *p, struct xp_part part,
    char name[64])
{
	if (part.is_switch)
		topo_node_name(p->cell.topo, p->cell.topo->n_hosts + part.id,
		    name);
	else
		topo_link_name(p->cell.topo, part.id, name);
}

static void put_span(struct sim_text *t, sim_ns from, sim_ns to)
{
	if (from > 0)
		sim_put(t, ", from %g s", (double)from / (double)SIM_SEC);
	if (to != SIM_NEVER)
		sim_put(t, ", to %g s", (double)to / (double)SIM_SEC);
}

static void put_link_fault(struct sim_text *t, const struct truth_fault *f)
{
	if (t->n > 0)
		sim_put(t, "; ");
	if (truth_is_slow(f))
		sim_put(t, "delay %.4g us", f->delay_us);
	else if (f->of_route)
		sim_put(t, "chosen wrongly");
	else
		sim_put(t, "%s %.4g",
		    f->of_hole ? "into a black hole, share" : "drop rate",
		    f->rate);
	put_span(t, f->from_ns, f->to_ns);
}

static void put_switch_fault(struct sim_text *t, const struct truth *truth,
    topo_switch s)
{
	for (size_t i = truth_first_hole(truth, s);
	     i < truth->n_holes && truth->hole[i].at == s; i++) {
		const struct truth_hole *h = &truth->hole[i];
		sim_put(t, "%sblack hole %d, %.4g of entries",
		    t->n > 0 ? "; " : "", (int)h->rule.type,
		    (double)h->rule.below * 0x1p-32);
		put_span(t, h->from_ns, h->to_ns);
	}
	if (t->n == 0 && truth_is_failed_switch(truth, s))
		sim_put(t, "failed, with links of it");
}

void xp_part_fault(const struct xp_picture *p, struct xp_part part, char buf[],
    size_t size)
{
	const struct truth *truth = truth_of(p);
	struct sim_text t = {buf, size, 0};
	buf[0] = '\0';
	if (part.is_switch) {
		put_switch_fault(&t, truth, part.id);
		return;
	}
	for (size_t i = truth_first_fault(truth, part.id, 0);
	     i < truth->n_faults && truth->fault[i].link == part.id; i++)
		if (truth_is_fault(&truth->fault[i]))
			put_link_fault(&t, &truth->fault[i]);
}

struct xp_saying xp_picture_said(const struct xp_picture *p, size_t algo,
    struct xp_part part)
{
	const struct algo_verdicts *v = &p->cell.verdicts[algo];
	const uint32_t id =
	    algo_verdicts_id(v, (struct algo_part){part.is_switch, part.id});
	struct xp_saying s = {0};
	if (id == TOPO_NONE)
		return s;
	for (size_t i = 0; i < v->n; i++)
		if (v->link[i] == id) {
			s.score = v->score[i];
			s.rank = algo_verdicts_rank(v, id);
			s.word =
			    i < v->n_flagged ? XP_WORD_FALSE : XP_WORD_NONE;
		}
	if (!v->flags || !xp_answer_is_faulty(truth_of(p), v, id))
		return s;
	s.word = s.word == XP_WORD_FALSE ? XP_WORD_HIT : XP_WORD_MISSED;
	return s;
}

/* --- which of them matter ------------------------------------------------- */

/* For what a part may be shown, the first of these. */
enum why { BROKEN, ACCUSED, FIRST };

struct candidate {
	struct xp_part part;
	enum why why;
	double weight;
};

struct candidates {
	struct candidate *one;
	size_t n, cap;
	uint8_t *has; /* [links + switches] */
};

/* Why it is first met, so kinds are gathered in their order. */
static int candidate_add(struct candidates *c, const struct xp_picture *p,
    struct xp_part part, enum why why, double weight, struct sim_err *e)
{
	const size_t at = part.is_switch ? p->n_links + part.id : part.id;
	if (c->has[at]) {
		for (size_t i = 0; why == ACCUSED && i < c->n; i++)
			if (c->one[i].part.id == part.id &&
			    c->one[i].part.is_switch == part.is_switch &&
			    c->one[i].why == ACCUSED)
				c->one[i].weight += weight;
		return 0;
	}
	const int rc = SIM_RESERVE(&c->one, &c->cap, c->n + 1, e);
	if (rc < 0)
		return rc;
	c->has[at] = 1;
	c->one[c->n++] = (struct candidate){part, why, weight};
	return 0;
}

static int says_switches(const struct xp_picture *p)
{
	for (size_t a = 0; a < p->cell.config->n_algos; a++)
		if (p->cell.verdicts[a].kind != ALGO_KIND_LINK)
			return 1;
	return 0;
}

/* Links into a black hole are told by the hole. */
static int gather_broken(struct candidates *c, const struct xp_picture *p,
    struct sim_err *e)
{
	const struct truth *t = truth_of(p);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_holes; i++)
		rc = candidate_add(c, p, (struct xp_part){1, t->hole[i].at},
		    BROKEN, 3, e);
	for (size_t i = 0; rc == 0 && says_switches(p) && i < t->n_switches;
	     i++)
		rc = candidate_add(c, p,
		    (struct xp_part){1, t->failed_switch[i]}, BROKEN, 2, e);
	for (size_t i = 0; rc == 0 && i < t->n_faults; i++)
		if (truth_is_fault(&t->fault[i]) && !t->fault[i].of_hole)
			rc = candidate_add(c, p,
			    (struct xp_part){0, t->fault[i].link}, BROKEN,
			    t->fault[i].rate, e);
	return rc;
}

static int gather_said(struct candidates *c, const struct xp_picture *p,
    enum why why, struct sim_err *e)
{
	int rc = 0;
	for (size_t a = 0; rc == 0 && a < p->cell.config->n_algos; a++) {
		const struct algo_verdicts *v = &p->cell.verdicts[a];
		/* Verdicts are sorted: behind those accused stands the first
		 * of the others. */
		const size_t n =
		    why == ACCUSED ? v->n_flagged : (size_t)(v->n > 0);
		for (size_t i = 0; rc == 0 && i < n; i++) {
			const struct algo_part part =
			    algo_verdicts_part(v, v->link[i]);
			rc = candidate_add(c, p,
			    (struct xp_part){(uint8_t)part.is_switch, part.id},
			    why, 1, e);
		}
	}
	return rc;
}

static int by_weight(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->why != y->why)
		return SIM_ORDER(x->why, y->why);
	if (x->weight != y->weight)
		return SIM_ORDER(y->weight, x->weight);
	if (x->part.is_switch != y->part.is_switch)
		return x->part.is_switch ? -1 : 1;
	return x->part.id < y->part.id ? -1 : x->part.id > y->part.id;
}

/* A third of the places is kept for what is accused wrongly, if anything is. */
static void choose_parts(struct xp_picture *p, struct candidates *c)
{
	size_t n_of[3] = {0}, most[3];
	if (c->n > 0)
		qsort(c->one, c->n, sizeof(c->one[0]), by_weight);
	for (size_t i = 0; i < c->n; i++)
		n_of[c->one[i].why]++;
	const size_t kept =
	    n_of[ACCUSED] < XP_MAX_PARTS / 3 ? n_of[ACCUSED] : XP_MAX_PARTS / 3;
	most[BROKEN] = XP_MAX_PARTS - kept;
	most[ACCUSED] = most[FIRST] = XP_MAX_PARTS;
	for (size_t i = 0; i < c->n; i++) {
		const enum why why = c->one[i].why;
		if (p->n_parts < most[why])
			p->part[p->n_parts++] = c->one[i].part;
		else if (why == BROKEN)
			p->more_broken++;
		else if (why == ACCUSED)
			p->more_accused++;
	}
}

static int find_parts(struct xp_picture *p, struct sim_err *e)
{
	struct candidates c = {0};
	int rc = SIM_ZALLOC(&c.has, p->n_links + p->cell.topo->n_switches, e);
	if (rc == 0 && (rc = gather_broken(&c, p, e)) == 0 &&
	    (rc = gather_said(&c, p, ACCUSED, e)) == 0 &&
	    (rc = gather_said(&c, p, FIRST, e)) == 0)
		choose_parts(p, &c);
	free(c.one);
	free(c.has);
	return rc;
}

/* --- all ------------------------------------------------------------------ */

static int picture_print_text(struct xp_picture *p, const struct xp_trial *t,
    struct sim_err *e)
{
	size_t n;
	FILE *out = open_memstream(&p->text, &n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for a text.");
	/* It sorts the verdicts, by which those of first rank are found. */
	xp_trial_print(t, out);
	return fclose(out) == 0 && p->text
	    ? 0
	    : sim_fail(e, SIM_ENOMEM, "no memory for a text.");
}

int xp_picture_take(struct xp_picture *p, struct xp_trial *t, size_t point,
    uint32_t run, double row[], struct sim_err *e)
{
	const struct xp_audience to = {p, picture_begin, picture_hear};
	xp_picture_free(p);
	p->run = run;
	int rc = xp_trial_watch(t, point, run, &to, row, e);
	if (rc == 0 && (rc = picture_print_text(p, t, e)) == 0)
		rc = find_parts(p, e);
	if (rc < 0)
		xp_picture_free(p);
	return rc;
}

void xp_picture_free(struct xp_picture *p)
{
	free(p->text);
	free(p->flows);
	free(p->drops);
	*p = (struct xp_picture){0};
}
