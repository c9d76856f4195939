/* experiments/sweep/expect.c -- how long a sweep will take, told once if it is long.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/expect.h"

#include <math.h>
#include <poll.h>
#include <strings.h>
#include <unistd.h>

/* Cells of each worker that have to be finished. */
enum { EXPECT_EACH = 4 };

static uint64_t expect_finished(const struct res_progress *c)
{
	return c->n_done + c->n_failed + c->n_crashed;
}

static uint64_t expect_ran(const struct xp_expect *x,
    const struct res_progress *c)
{
	return expect_finished(c) - x->n_before;
}

static uint64_t expect_left(const struct res_progress *c)
{
	const uint64_t finished = expect_finished(c);
	return c->n_cells > finished ? c->n_cells - finished : 0;
}

void xp_expect_start(struct xp_expect *x, const struct res_progress *cells,
    size_t n_places, unsigned n_workers, sim_ns now_ns)
{
	const uint64_t each = (uint64_t)EXPECT_EACH * n_workers;
	x->start_ns = now_ns;
	x->n_before = expect_finished(cells);
	x->n_certain = n_places > each ? n_places : each;
	x->state = x->out ? XP_EXPECT_WAITS : XP_EXPECT_OVER;
}

double xp_expect_left_s(const struct xp_expect *x,
    const struct res_progress *cells, sim_ns now_ns)
{
	const uint64_t ran = expect_ran(x, cells);
	const sim_ns took = now_ns - x->start_ns;
	if (ran == 0 || (ran < x->n_certain && took < XP_EXPECT_PATIENCE))
		return NAN;
	return (double)expect_left(cells) * (double)took / (double)SIM_SEC /
	    (double)ran;
}

static int expect_has_input(const struct xp_expect *x)
{
	struct pollfd p = {x->answers, POLLIN, 0};
	/* Whoever reads a terminal from its background is stopped. */
	if (isatty(x->answers) && tcgetpgrp(x->answers) != getpgrp())
		return 0;
	return poll(&p, 1, 0) > 0;
}

static void expect_tell(struct xp_expect *x, const struct res_progress *cells,
    double left_s, sim_ns now_ns)
{
	char left[32] = "", took[32] = "";
	xp_progress_add_time(left, sizeof(left), left_s);
	xp_progress_add_time(took, sizeof(took),
	    (double)(now_ns - x->start_ns) / (double)SIM_SEC);
	fprintf(x->out,
	    "culprit: about %s to go for the %llu %s left, as the first "
	    "%llu took %s. ^C stops it, and %s.\n",
	    left, (unsigned long long)expect_left(cells),
	    x->unit ? x->unit : "cells",
	    (unsigned long long)expect_ran(x, cells), took,
	    x->keeps_nothing ? "nothing is kept"
			     : "the same command goes on from there");
	x->state = XP_EXPECT_OVER;
	if (x->answers >= 0 && !expect_has_input(x)) {
		fprintf(x->out,
		    "culprit: go on? [Y/n] It does until you say n.\n");
		x->state = XP_EXPECT_ASKED;
	}
	fflush(x->out);
}

/* Whatever is not no is the default; the end of input is, too. */
static int expect_hear(struct xp_expect *x)
{
	char line[256] = "", word[4] = "";
	if (!expect_has_input(x))
		return 0;
	x->state = XP_EXPECT_OVER;
	if (read(x->answers, line, sizeof(line) - 1) <= 0)
		return 0;
	sscanf(line, " %3[a-zA-Z]", word);
	return strcasecmp(word, "n") == 0 || strcasecmp(word, "no") == 0;
}

int xp_expect_update(struct xp_expect *x, struct xp_progress *display,
    const struct res_progress *cells, sim_ns now_ns)
{
	if (x->state == XP_EXPECT_ASKED)
		return expect_hear(x);
	if (x->state == XP_EXPECT_OVER)
		return 0;
	const double left_s = xp_expect_left_s(x, cells, now_ns);
	if (left_s > x->long_s) {
		xp_progress_wipe(display);
		expect_tell(x, cells, left_s, now_ns);
	}
	return 0;
}
