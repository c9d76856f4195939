/* results/picture_across.c -- what goes across: its order, scale and ticks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "results/picture_parts.h"
#include "sim/text.h"
#include "sim/vec.h"

/* --- texts -----------------------------------------------------------------*/

const char *res_picture_keep(struct res_arranger *a, const char *text)
{
	struct res_picture *p = a->p;
	char *copy;
	if (SIM_RESERVE(&p->text, &p->cap[0], p->n_texts + 1, a->e) < 0 ||
	    sim_dup(&copy, text, a->e) < 0)
		return NULL;
	for (char *s = copy; *s; s++)
		if ((unsigned char)*s < ' ')
			*s = ' ';
	return p->text[p->n_texts++] = copy;
}

/* One value of a coordinate. Lists and laws go without their brackets:
 * "{uniform: [0, 1e-6]}" is "uniform 0, 1e-6". */
static void picture_put_value(struct sim_text *t, const struct res_coord *k,
    size_t i)
{
	char digits[32];
	if (k->number) {
		sim_put(t, "%s", sim_format_f64(digits, k->number[i]));
		return;
	}
	const char *text = k->text[i];
	if (!text[strspn(text, "{}[]\": ")]) {
		sim_put(t, "%s", text);
		return;
	}
	for (; *text; text++) {
		/* Within quotes, which are left out, it stands for what
		 * follows. */
		if (text[0] == '\\' && text[1])
			sim_put(t, "%c", *++text);
		else if (!strchr("{}[]\"", *text) &&
		    !(text[0] == ':' && text[1] == ' '))
			sim_put(t, "%c", *text);
	}
}

const char *res_picture_keep_value(struct res_arranger *a, size_t axis,
    size_t i)
{
	const struct res_axis *x = &a->choice.c->axis[axis];
	const size_t coord = a->choice.coord[axis];
	char buf[256];
	struct sim_text t = {buf, sizeof(buf), 0};
	for (size_t k = 0; k < x->n_coords; k++)
		if (coord == RES_NONE || coord == k) {
			sim_put(&t, "%s", t.n ? ", " : "");
			picture_put_value(&t, &x->coord[k], i);
		}
	return res_picture_keep(a, buf);
}

static const char *picture_keep_name(struct res_arranger *a, size_t axis)
{
	char name[256] = "";
	if (axis != RES_NONE)
		res_picture_axis_name(&a->choice, axis, name);
	return res_picture_keep(a, name);
}

/* What of a zip varies with the coordinate that stands for all of them. */
static const char *keep_others(struct res_arranger *a, size_t axis)
{
	char buf[256] = "";
	struct sim_text t = {buf, sizeof(buf), 0};
	if (axis != RES_NONE && a->choice.coord[axis] != RES_NONE)
		for (size_t i = 0; i < a->choice.c->axis[axis].n_coords; i++)
			if (i != a->choice.coord[axis])
				sim_put(&t, "%s%s", t.n ? ", " : "",
				    a->choice.c->axis[axis].coord[i].name);
	return res_picture_keep(a, buf);
}

/* --- scales ----------------------------------------------------------------*/

/* The least and the greatest of the steps between values that grow, as
 * differences or, with LOG, as factors. */
static void find_steps(const struct res_arranger *a, const double x[], size_t n,
    int log_scale, double *least, double *most)
{
	*least = INFINITY;
	*most = 0;
	for (size_t i = 1; i < n; i++) {
		const double from = x[a->order[i - 1]], to = x[a->order[i]];
		const double step = log_scale ? log(to / from) : to - from;
		*least = fmin(*least, step);
		*most = fmax(*most, step);
	}
}

/* Do values grow rather by factors? Two values do not tell, and by less than
 * 8 there is no need. */
static int is_geometric(const struct res_arranger *a, const double x[],
    size_t n)
{
	double least, most, log_least, log_most;
	if (n < 2 || !(x[a->order[0]] > 0))
		return 0;
	const double range = x[a->order[n - 1]] / x[a->order[0]];
	if (n == 2)
		return range >= 50;
	find_steps(a, x, n, 0, &least, &most);
	find_steps(a, x, n, 1, &log_least, &log_most);
	return range >= 8 && log_most / log_least < most / least;
}

/* Values across in increasing order; mostly they are so already. */
static int sort_across(struct res_arranger *a, size_t n, const double *number)
{
	int rc = SIM_ZALLOC(&a->order, n, a->e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		size_t j = i;
		for (; number && j > 0 && number[i] < number[a->order[j - 1]];
		     j--)
			a->order[j] = a->order[j - 1];
		a->order[j] = i;
	}
	return rc;
}

static int name_ticks(struct res_arranger *a, size_t axis, size_t *n,
    const char ***tick, size_t *cap)
{
	const size_t want = a->choice.c->axis[axis].n;
	int rc = SIM_RESERVE(tick, cap, want, a->e);
	for (size_t i = 0; rc == 0 && i < want; i++)
		if (!((*tick)[(*n)++] = res_picture_keep_value(a, axis, i)))
			rc = SIM_ENOMEM;
	return rc;
}

/* A sweep of one point has one place. */
static int arrange_nowhere(struct res_arranger *a)
{
	struct res_picture *p = a->p;
	int rc = SIM_RESERVE(&p->tick, &p->cap[1], 1, a->e);
	if (rc == 0)
		rc = sort_across(a, 1, NULL);
	if (rc == 0 && !(p->tick[p->n_ticks++] = res_picture_keep(a, "")))
		rc = SIM_ENOMEM;
	return rc;
}

static int check_log_x(struct res_arranger *a, const double *number)
{
	if (a->p->is_heatmap)
		return sim_fail(a->e, SIM_EINVAL,
		    "--logx and --logy: a heat map has cells of one size.");
	if (!number)
		return sim_fail(a->e, SIM_EINVAL,
		    "--logx: %s is an axis of texts.", a->p->x_name);
	if (!(number[a->order[0]] > 0))
		return sim_fail(a->e, SIM_EINVAL,
		    "--logx: %s has the value %g, which is on no logarithmic "
		    "scale.",
		    a->p->x_name, number[a->order[0]]);
	return 0;
}

int res_picture_arrange_across(struct res_arranger *a)
{
	struct res_picture *p = a->p;
	const struct res_choice *to = &a->choice;
	p->is_heatmap = to->up != RES_NONE;
	p->log_y = to->w->log_y;
	if (!(p->x_name = picture_keep_name(a, to->x)) ||
	    !(p->x_with = keep_others(a, to->x)) ||
	    !(p->y_name = picture_keep_name(a, to->up)) ||
	    !(p->by_name = picture_keep_name(a, to->by)))
		return SIM_ENOMEM;
	p->x_unit = "";
	if (to->x == RES_NONE) {
		int rc = arrange_nowhere(a);
		return rc == 0 && to->w->log_x ? check_log_x(a, NULL) : rc;
	}
	const struct res_axis *x = &to->c->axis[to->x];
	const double *number = res_picture_numbers(to, to->x);
	int rc = sort_across(a, x->n, number);
	if (rc == 0 && (to->w->log_x || (p->is_heatmap && p->log_y)))
		rc = check_log_x(a, number);
	if (rc == 0 && number && !p->is_heatmap) {
		const char *unit = x->coord[to->coord[to->x]].unit;
		p->low = number[a->order[0]];
		p->high = number[a->order[x->n - 1]];
		p->log_x = to->w->log_x || is_geometric(a, number, x->n);
		if (!(p->x_unit = res_picture_keep(a, unit ? unit : "")))
			rc = SIM_ENOMEM;
	} else if (rc == 0) {
		rc = name_ticks(a, to->x, &p->n_ticks, &p->tick, &p->cap[1]);
	}
	if (rc == 0 && p->is_heatmap)
		rc = name_ticks(a, to->up, &p->n_y_ticks, &p->y_tick,
		    &p->cap[2]);
	return rc;
}
