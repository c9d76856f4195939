/* algos/algo.c -- a diagnoser's memory: parameters in front, zeros behind.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/algo.h"

#include <stdlib.h>

#include "sim/vec.h"

int algo_check(const struct algo_ops *a, const void *params, struct sim_err *e)
{
	return a->check ? a->check(params, e) : 0;
}

int algo_open(const struct algo_ops *a, void **work, const struct topo *t,
    const void *params, struct sim_err *e)
{
	*work = NULL;
	int rc = sim_zalloc(work, 1, a->work_size, e);
	if (rc < 0)
		return rc;
	if ((rc = sim_field_take(a->params, params, a->params_size, *work, e)) <
		0 ||
	    (rc = algo_check(a, *work, e)) < 0 ||
	    (rc = a->init(*work, t, e)) < 0) {
		algo_close(a, *work);
		*work = NULL;
	}
	return rc;
}

void algo_close(const struct algo_ops *a, void *work)
{
	if (work)
		a->free(work);
	free(work);
}
