/* tests/planes.c -- both bulk data planes behind one function.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/planes.h"

#include "tests/test.h"

void planes_open(struct planes *p)
{
	*p = (struct planes){0};
	assert_ok(bulk_open(&p->bulk, NULL, test_err()));
	assert_ok(bulk_skip_open(&p->skip, test_err()));
}

void planes_close(struct planes *p)
{
	bulk_close(p->bulk);
	bulk_skip_close(p->skip);
	obs_free(&p->window);
	losses_free(&p->lost);
}

void planes_run(struct planes *p, enum which which, struct scene *s)
{
	if (which == BULK)
		assert_ok(bulk_epoch(p->bulk, s, 0, &p->window, &p->lost,
		    test_err()));
	else
		assert_ok(bulk_skip_epoch(p->skip, s, &p->window, &p->lost,
		    test_err()));
}
