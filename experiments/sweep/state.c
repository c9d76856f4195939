/* experiments/sweep/state.c -- how far a sweep is: its results and its journal.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/state.h"

#include <stdlib.h>
#include <unistd.h>

#include "experiments/sweep/journal.h"
#include "experiments/sweep/run.h"
#include "results/h5.h"
#include "results/until.h"

int xp_state_read_by(struct res_h5_reader *reader, struct res_cube *c,
    const char *path, struct sim_err *e)
{
	char *journal;
	int rc = xp_run_path(&journal, path, ".journal", e);
	if (rc < 0)
		return rc;
	/* A sweep that ends meanwhile removes its journal once PATH has all:
	 * then PATH is read again. */
	for (int try = 0; try < 2; try++) {
		res_cube_free(c);
		if ((rc = res_h5_reader_read(reader, c, path, NULL, e)) < 0)
			break;
		const struct res_progress p = res_cube_progress(c);
		if (p.n_done == p.n_cells && access(journal, F_OK) != 0)
			break;
		rc = xp_journal_read(journal, c, e);
		if (rc == 0)
			rc = res_until_decide(c, NULL, e);
		if (rc == 0 || access(journal, F_OK) == 0)
			break;
		rc = 0;
	}
	free(journal);
	return rc;
}

int xp_state_read(struct res_cube *c, const char *path, struct sim_err *e)
{
	struct res_h5_reader *reader;
	int rc = res_h5_reader_open(&reader, e);
	if (rc < 0)
		return rc;
	rc = xp_state_read_by(reader, c, path, e);
	res_h5_reader_close(reader);
	return rc;
}
