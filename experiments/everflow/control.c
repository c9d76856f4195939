/* experiments/everflow/control.c -- a running analyzer's controller, by requests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/control.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/everflow/control_parts.h"
#include "sim/vec.h"

int xp_control_open(struct xp_control **out, const struct xp_control_params *p,
    struct sim_err *e)
{
	struct xp_control *c;
	*out = NULL;
	int rc = SIM_ZALLOC(&c, 1, e);
	if (rc < 0)
		return rc;
	c->p = *p;
	if ((rc = xp_keep_open(&c->keep, p->keep_bytes, e)) < 0 ||
	    (rc = algo_control_open(&c->control, p->routing.topo, &p->control,
		 &p->capacity, e)) < 0) {
		xp_control_close(c);
		return rc;
	}
	if (p->analyzer)
		algo_analyzer_count(p->analyzer, &c->custom);
	*out = c;
	return 0;
}

static void session_free(struct xp_control_session *s)
{
	free(s->filter);
	free(s->server);
	*s = (struct xp_control_session){0};
}

void xp_control_close(struct xp_control *c)
{
	if (!c)
		return;
	if (c->p.analyzer)
		algo_analyzer_count(c->p.analyzer, NULL);
	for (size_t i = 0; i < c->n_sessions; i++)
		session_free(&c->session[i]);
	algo_control_close(c->control);
	algo_control_out_free(&c->out);
	algo_custom_free(&c->custom);
	res_counter_names_free(&c->names);
	xp_keep_free(&c->keep);
	free(c);
}

void xp_control_trace(struct xp_control *c, const struct algo_trace *t,
    const struct algo_hop hop[])
{
	xp_keep_trace(&c->keep, t, hop);
}

/* --- what the controller says --------------------------------------------- */

static void control_unmark(struct xp_control *c, const struct algo_action *a)
{
	c->n_expired += a->why == ALGO_END_EXPIRED;
	c->n_excess += a->why == ALGO_END_EXCESS;
	for (size_t i = 0; i < c->n_sessions; i++)
		if (c->session[i].id == a->id) {
			session_free(&c->session[i]);
			c->session[i] = c->session[--c->n_sessions];
			return;
		}
}

/* All that was said so far is done, also where one thing fails. */
static int control_do(struct xp_control *c, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; i < c->out.n; i++) {
		const struct algo_action *a = &c->out.action[i];
		if (a->kind == ALGO_COUNT && rc == 0)
			rc = algo_custom_add(&c->custom, a->id, a->filter, e);
		else if (a->kind == ALGO_UNCOUNT)
			algo_custom_remove(&c->custom, a->id);
		else if (a->kind == ALGO_UNMARK)
			control_unmark(c, a);
	}
	return rc;
}

/* What R is answered with: the last action but those that count. */
static const struct algo_action *control_last(const struct xp_control *c)
{
	size_t i = c->out.n;
	while (i > 0 &&
	    (c->out.action[i - 1].kind == ALGO_COUNT ||
		c->out.action[i - 1].kind == ALGO_UNCOUNT))
		i--;
	return i > 0 ? &c->out.action[i - 1] : NULL;
}

int xp_control_ask(struct xp_control *c, const struct algo_request *r,
    const struct algo_action **last, struct sim_err *e)
{
	struct sim_err why;
	c->out.n = 0;
	const int rc = algo_control_ask(c->control, c->now, r, &c->out, e);
	const int done = control_do(c, rc < 0 ? &why : e);
	*last = r->kind == ALGO_ADD_COUNTER && c->out.n > 0
	    ? &c->out.action[c->out.n - 1]
	    : control_last(c);
	return rc < 0 ? rc : done;
}

int xp_control_step(struct xp_control *c, sim_ns now, sim_ns span,
    const struct algo_counters *rows, struct sim_err *e)
{
	int rc;
	/* The clock of a machine may be set back; ours never goes back. */
	if (now > c->now)
		c->now = now;
	c->out.n = 0;
	xp_keep_rows(&c->keep, rows);
	rc = rows->n > 0
	    ? algo_control_counters(c->control, c->now, span, rows, &c->out, e)
	    : algo_control_tick(c->control, c->now, &c->out, e);
	const int done = control_do(c, e);
	return rc < 0 ? rc : done;
}
