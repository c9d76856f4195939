/* sim/deps.h -- the one place that turns libraries' abort handlers into errors.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GSL, igraph, GLPK and HDF5 print or abort by default. Their handlers are
 * process-wide, so this is the one piece of process-wide state we set.
 * sim/ may not include igraph.h, glpk.h or hdf5.h: the files that use them
 * silence their library.
 */
#ifndef SIM_DEPS_H
#define SIM_DEPS_H

/* Switch GSL's aborting error handler off. Safe to call often. */
void sim_deps_quiet(void);

#endif
