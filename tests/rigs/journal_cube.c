/* tests/rigs/journal_cube.c -- the cube of a small sweep, for tests of its journal.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/journal_cube.h"

#include <stdlib.h>
#include <string.h>

int journal_cube(struct res_cube *c, const char *spec, size_t n_points,
    size_t n_runs, size_t n_algos, struct sim_err *e)
{
	*c = (struct res_cube){
	    .figure = strdup("vigil_fig03"),
	    .spec = strdup(spec),
	    .spec_bytes = strlen(spec),
	    .overrides = strdup(""),
	    .n_algos = n_algos,
	    .algo = calloc(n_algos, sizeof(*c->algo)),
	    .n_axes = 1,
	    .axis = calloc(1, sizeof(*c->axis)),
	    .n_points = n_points,
	    .n_runs = n_runs,
	    .shard_n = 1,
	};
	c->axis[0].n = n_points;
	return res_cube_alloc(c, e);
}
