/* results/h5.h -- results files: HDF5 in and out; the only hdf5.h.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	/                attributes: schema_version, figure, title, paper, spec,
 *	                 overrides, seed, shard, complete, culprit, git_commit, ...
 *	/algorithm       [algorithm] labels, a dimension scale
 *	/run             [run] 0, 1, ..., a dimension scale
 *	/<coordinate>    [axis] a dimension scale, or on its axis a further
 *	                 coordinate of a zip
 *	/metrics/<name>  [algorithm, axes..., run] doubles, NaN = not measured
 *	/trial/<name>    [axes..., run] doubles
 *	/status          [axes..., run] integers with flag_values, flag_meanings
 *	/claims/...      what the paper states: value, text, metric, confirmed
 *
 * Every dataset has `units` and `long_name`. No enum, compound, bool or
 * variable-length data; no times of creation: equal content gives equal bytes.
 * Opens in h5py, xarray (engines netcdf4 and h5netcdf) and h5dump.
 */
#ifndef RESULTS_H5_H
#define RESULTS_H5_H

#include "results/cube.h"
#include "sim/err.h"

/* Write C to a temporary file beside PATH, sync, and rename: PATH is the old
 * file or the new one, never a half. Errors SIM_EIO naming PATH and the cause
 * (HDF5's own message and errno's, e.g. "No space left on device"). */
int res_h5_write(const struct res_cube *c, const char *path,
    struct sim_err *e);

/* Read a file that res_h5_write() made. Errors SIM_EIO (cannot be opened),
 * SIM_EPARSE (not one of ours: says what is missing), SIM_EMISMATCH (another
 * schema version). Nothing a file holds makes this crash. */
int res_h5_read(struct res_cube *c, const char *path, struct sim_err *e);

#endif
