/* tests/rigs/bulk.c -- the exact data plane with its window, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/bulk.h"

#include "tests/rigs/scenes.h"

void plane_open(struct plane *p)
{
	*p = (struct plane){0};
	assert_ok(bulk_open(&p->bulk, NULL, test_err()));
}

void plane_close(struct plane *p)
{
	bulk_close(p->bulk);
	obs_free(&p->window);
	losses_free(&p->lost);
}

void run_epoch(struct plane *p, struct scene *s, int all)
{
	assert_ok(
	    bulk_epoch(p->bulk, s, all, &p->window, &p->lost, test_err()));
	scenes_assert_sound(s->topo, &p->window, &p->lost);
	assert_true(
	    p->window.n_flows == s->traffic.n_flows || s->truth.n_outages > 0);
	assert_int_equal(p->window.complete, all);
}
