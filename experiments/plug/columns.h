/* experiments/plug/columns.h -- columns of a window, by number and by name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Those of flows come first, as obs_flows_kind() has them, then offsets and links
 * of their paths, then those of sums (models/obs_tallies.h), then the equal paths
 * that these name (models/obs_paths.h).
 */
#ifndef EXPERIMENTS_PLUG_COLUMNS_H
#define EXPERIMENTS_PLUG_COLUMNS_H

#include <stddef.h>

#include "models/obs.h"

enum plug_group {
	PLUG_OF_FLOWS,
	PLUG_OF_HOPS,
	PLUG_OF_ROWS,
	PLUG_OF_PATHS,
	PLUG_N_GROUPS,
};

struct plug_column {
	const char *name; /* NULL beyond the last */
	enum plug_group group;
	unsigned at; /* its place in that */
};

struct plug_column plug_column(unsigned number);

/* Its entries in W, *BYTES of them, aligned. Never NULL if there are any: an empty
 * window has the one offset 0. */
const void *plug_column_of(unsigned number, const struct obs *w, size_t *bytes);

#endif
