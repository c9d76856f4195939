/* results/stamp.h -- where a figure's data come from, within its file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A figure is passed around without what it was made of. So its file says which
 * program made the numbers (version, commit, build), of which spec, and when:
 *
 *	SVG	<metadata>, a line each; its <title> is the figure's
 *	PNG	text chunks behind the header
 *	PDF	an entry each of the document's information; of a PDF whose
 *		table is itself compressed, comments behind its end
 *	TSV	a column each, the same in every row, behind the others: no
 *		reader has to know of them, and tables that are put together
 *		still tell their rows apart
 *
 * It depends on data and run record alone, so equal ones give equal bytes.
 */
#ifndef RESULTS_STAMP_H
#define RESULTS_STAMP_H

#include <stddef.h>

#include "results/cube.h"
#include "sim/err.h"

enum { RES_STAMP_ITEMS = 4, RES_STAMP_BYTES = 512 };

struct res_stamp {
	char title[256];
	size_t n;
	struct {
		const char *name; /* "culprit", "spec", "overrides", "date" */
		char value[RES_STAMP_BYTES];
	} item[RES_STAMP_ITEMS];
};

/* That of C, read from RESULTS: culprit, the version with commit and build; spec,
 * the figure and the FNV-1a of the spec's bytes; overrides, if there are any; date,
 * when its run ended (UTC), of the record beside RESULTS. It is left out when that
 * is not there, is no record, or is of another build than the numbers are. Errors
 * SIM_EIO (it is there and cannot be read), SIM_ENOMEM. */
int res_stamp_fill(struct res_stamp *s, const struct res_cube *c,
    const char *results, struct sim_err *e);

/* *OUT = the N bytes of an SVG, PNG or PDF, told by how they begin, with the
 * stamp, to be freed. Errors SIM_EPARSE: none of these; SIM_ENOMEM. */
int res_stamp_image(char **out, size_t *n_out, const char *bytes, size_t n,
    const struct res_stamp *s, struct sim_err *e);

/* The same of a table, whose first line has the names of its columns. */
int res_stamp_table(char **out, size_t *n_out, const char *text,
    const struct res_stamp *s, struct sim_err *e);

#endif
