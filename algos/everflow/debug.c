/* algos/everflow/debug.c -- what debuggers share: evidence in, findings out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/debug.h"

#include <stdlib.h>

#include "algos/everflow/debug_drop.h"
#include "algos/everflow/debug_ecmp.h"
#include "algos/everflow/debug_latency.h"
#include "algos/everflow/debug_loop.h"
#include "algos/everflow/debug_rdma.h"
#include "sim/vec.h"

#define X(cause, word) word,
const char *const algo_cause_words[] = {ALGO_CAUSES(X) NULL};
#undef X

/* In the order in which they are listed for users. */
const struct algo_debugger *const algo_debuggers[] = {
    &algo_debug_latency,
    &algo_debug_drop,
    &algo_debug_loop,
    &algo_debug_ecmp,
    &algo_debug_rdma,
    NULL,
};

void algo_debug_clear(struct algo_debug_out *o)
{
	o->n_findings = 0;
	o->n_orders = 0;
}

void algo_debug_free(struct algo_debug_out *o)
{
	free(o->finding);
	free(o->order);
	*o = (struct algo_debug_out){0};
}

int algo_debug_find(struct algo_debug_out *o, const struct algo_finding *f,
    struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&o->finding, &o->cap_findings, o->n_findings + 1, e);
	if (rc < 0)
		return rc;
	o->finding[o->n_findings++] = *f;
	return 0;
}

int algo_debug_order(struct algo_debug_out *o, const struct algo_probe_order *p,
    struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&o->order, &o->cap_orders, o->n_orders + 1, e);
	if (rc < 0)
		return rc;
	o->order[o->n_orders++] = *p;
	return 0;
}
