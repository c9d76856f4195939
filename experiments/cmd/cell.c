/* experiments/cmd/cell.c -- verbs that write one cell of a spec as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/cell.h"

#include <stdlib.h>

static int cell_put(struct xp_spec *s, const struct cmd_cell *a,
    const char *what,
    int (*write)(struct xp_spec *s, const struct cmd_cell *a, const char *out,
	struct sim_err *e),
    struct sim_err *e)
{
	char *out = NULL;
	int rc = cmd_choose_output(&out, a->output, s, what, a->force, e);
	if (rc == 0)
		rc = write(s, a, out, e);
	free(out);
	return rc;
}

int cmd_cell_write(const struct cmd_cell *a, const char *what,
    int (*write)(struct xp_spec *s, const struct cmd_cell *a, const char *out,
	struct sim_err *e))
{
	struct sim_err e = {0};
	struct xp_spec s = {0};
	int rc =
	    cmd_load_spec(&s, a->spec, a->smoke, a->set.set, a->set.n_set, &e);
	if (rc == 0)
		rc = cmd_check_cell(&s, a->point, a->run, &e);
	int code = CMD_GOOD;
	if (rc < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else if ((rc = cell_put(&s, a, what, write, &e)) < 0)
		code = cmd_fail(cmd_exit_of(rc), &e);
	xp_spec_free(&s);
	return code;
}
