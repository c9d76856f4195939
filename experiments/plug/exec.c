/* experiments/plug/exec.c -- an algorithm that is a program, on pipes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/plug/child.h"
#include "experiments/plug/frame.h"
#include "experiments/plug/hear.h"
#include "experiments/plug/way.h"
#include "sim/vec.h"

/* An algorithm that has not answered once since it was started so often is not
 * started again. */
enum { EXEC_MAX_DEATHS = 8 };

struct exec {
	struct plug_child child;
	uint64_t opened;   /* what the child was told last, by plug_ask.id */
	unsigned n_deaths; /* since it last answered */
	struct plug_bytes out;
	struct plug_told told;
};

static int exec_open(void **host, struct sim_err *e)
{
	struct exec *x;
	const int rc = SIM_ZALLOC(&x, 1, e);
	*host = x;
	return rc;
}

static void exec_close(void *host)
{
	struct exec *x = host;
	plug_child_free(&x->child);
	free(x->out.b);
	free(x);
}

/* Start it and have it describe itself: as it did before, after the first
 * time. */
static int exec_start(struct exec *x, const struct plug_source *s,
    struct plug_about *about, struct sim_err *e)
{
	const int rc = plug_child_start(&x->child, s->text, s->folder, e);
	return rc < 0 ? rc : plug_about_hear(&x->child, about, e);
}

static int exec_describe(void *host, const struct plug_source *s,
    struct plug_about *about, struct sim_err *e)
{
	struct exec *x = host;
	const int rc = exec_start(x, s, about, e);
	plug_child_end(&x->child);
	return rc;
}

static int exec_restart(struct exec *x, const struct plug_source *s,
    struct sim_err *e)
{
	struct plug_about now = {0};
	int rc;
	if (x->n_deaths >= EXEC_MAX_DEATHS)
		return sim_fail(e, SIM_EDEP,
		    "it failed %d times in a row and is not started again.",
		    EXEC_MAX_DEATHS);
	x->n_deaths++;
	x->opened = 0;
	if ((rc = plug_source_check(s, e)) == 0)
		rc = exec_start(x, s, &now, e);
	plug_about_free(&now);
	if (rc < 0)
		plug_child_end(&x->child);
	return rc;
}

static int exec_size_of_frame(void *arg, const unsigned char *b, size_t n,
    size_t *size, struct sim_err *e)
{
	return plug_frame_size(b, n, arg, size, e);
}

/* Write what lies in x->out and take what comes. */
static int exec_talk(struct exec *x, const struct plug_ask *q,
    struct plug_limits *l, struct algo_verdicts *out, struct sim_err *e)
{
	size_t size;
	int rc = plug_child_ask(&x->child, x->out.b, x->out.n,
	    q->params->timeout_s, exec_size_of_frame, l, &size, e);
	if (rc < 0)
		return rc;
	/* Whatever it says, it lives and keeps to the protocol. */
	x->n_deaths = 0;
	return plug_frame_take(x->child.got, l, q->seen, out, e);
}

/* See to it that there is a child and that it knows this network. */
static int exec_ready(struct exec *x, const struct plug_ask *q,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct plug_limits l = q->limits;
	int rc = 0;
	if (!plug_child_lives(&x->child))
		rc = exec_restart(x, q->source, e);
	if (rc < 0 || x->opened == q->id)
		return rc;
	l.expects = PLUG_OPENED;
	x->told = (struct plug_told){0};
	const unsigned deaths = x->n_deaths;
	if ((rc = plug_put_topo(&x->out, q->about, q->params, q->topo, e)) ==
		0 &&
	    (rc = exec_talk(x, q, &l, out, e)) == 0)
		x->opened = q->id;
	x->n_deaths = deaths;
	return rc;
}

static int exec_ask(void *host, const struct plug_ask *q,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct exec *x = host;
	struct plug_limits l = q->limits;
	int rc = exec_ready(x, q, out, e);
	if (rc == 0)
		rc = plug_put_window(&x->out, q->about, &x->told, q->window,
		    q->seed, e);
	return rc < 0 ? rc : exec_talk(x, q, &l, out, e);
}

static void exec_forget(void *host, void *state)
{
	(void)host;
	(void)state;
}

const struct plug_way plug_exec = {
    .key = "exec",
    .open = exec_open,
    .close = exec_close,
    .describe = exec_describe,
    .ask = exec_ask,
    .forget = exec_forget,
};
