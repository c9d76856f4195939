/* models/obs_traces.c -- what traces saw: one row a five-tuple, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_traces.h"

#include <stdlib.h>

#include "sim/vec.h"

int obs_traces_add(struct obs_traces *t, const struct agent_report *report,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&t->report, &t->cap, t->n + 1, e);
	if (rc == 0)
		t->report[t->n++] = *report;
	return rc;
}

void obs_traces_clear(struct obs_traces *t)
{
	t->n = 0;
}

void obs_traces_free(struct obs_traces *t)
{
	free(t->report);
	*t = (struct obs_traces){0};
}
