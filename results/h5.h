/* results/h5.h -- results files: a sweep's cube as HDF5, in and out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything with the sweep's dimensions stands in the root group, so that
 * xarray.open_dataset("x.h5") gives the whole cube with its coordinates:
 *
 *	/                attributes: schema_version, figure, title, paper, spec,
 *	                 overrides, seed, shard, complete, cells, cells_done,
 *	                 cells_failed, cells_crashed, culprit, build, libraries,
 *	                 axes, and n_along if it is above 1
 *	/algorithm       [algorithm] labels, a dimension scale; a sweep without
 *	                 algorithms has neither this nor any dataset over it
 *	/run             [run] 0, 1, ..., a dimension scale
 *	/<coordinate>    [axis] a dimension scale, or on its axis a further
 *	                 coordinate of a zip, named in `coordinates` attributes
 *	/status          [axes..., run] integers with flag_values, flag_meanings
 *	/<trial metric>  [axes..., run] doubles, NaN = not measured
 *	/<algo metric>   [algorithm, axes..., run] doubles
 *	/<ratio>         [algorithm, axes..., run] doubles, of two of these
 *	/<trial ratio>   [axes..., run] doubles, of two trial metrics
 *	/claims/...      what the paper states: metric, text, value, confirmed
 *
 * A shard has no cells but its own, and so no grid: `cell` is a dimension scale
 * of their numbers (place * runs + run, a place being the points of a cell), and
 * stands in place of the axes before those along, and of `run`:
 *
 *	/status          [cell, axes along...]
 *	/<trial metric>  [cell, axes along...]
 *	/<algo metric>   [algorithm, cell, axes along...]
 *
 * Coordinates of all axes, and `run`, are there all the same, for the shape of
 * the whole. A shard without a cell has none of these.
 *
 * Attribute `until_ci`, if it is there: the criterion by which points ended
 * (results/until.h). /runs_used [axes but those along] then has the runs that
 * count of each.
 *
 * Attribute `partial`, if it is there: what shards lacked when they were merged
 * all the same.
 *
 * Attribute `axes`: one line an axis, its coordinates separated by tabs.
 * Attribute `n_along`: points of one cell (results/cube.h). Attribute `shard`:
 * i, n. Optional metrics (results/schema.h) without a number have no dataset.
 * Every dataset has `units`, `long_name` and `paper`.
 * Labels are UTF-8 texts of variable length (netCDF 4.9 crashes on fixed ones).
 * No enum, compound, bool or other variable-length data; no times of creation:
 * equal cubes give equal bytes. Opens in h5py, xarray (engines netcdf4 and
 * h5netcdf) and h5dump.
 *
 * After HDF5's last byte come 16 of ours: "culpritR" and the FNV-1a of all
 * before, little-endian. HDF5 ignores them; a program that writes to the file
 * drops them. HDF5 1.10 trusts the metadata it reads, so a file is handed to
 * it only when the sum is right: torn, cut and rotten files are refused. HDF5
 * runs in a process of its own (results/h5_far.h), so a forged file, or a lack
 * of memory, is an error like others. But it is no prison: a file made to take
 * over HDF5 gets what the user may do.
 */
#ifndef RESULTS_H5_H
#define RESULTS_H5_H

#include "results/cube.h"
#include "sim/err.h"

/* Write C to a temporary file beside PATH, sync, and rename: PATH is the old
 * file or the new one, never a half. Memory: three times the file.
 * Errors SIM_EIO naming PATH and the cause ("No space left on device"),
 * SIM_EINVAL for names and texts that a file can't hold, SIM_ELIMIT above 29
 * axes, SIM_ENOMEM, SIM_EDEP if HDF5 fails in memory. */
int res_h5_write(const struct res_cube *c, const char *path, struct sim_err *e);

/* The same of a cube whose rows are elsewhere: a head (results/cube.h), with
 * status. HAS tells whether there is a number in a column; COLUMN fills
 * TO[n_rows] with one of all rows, in their order, in which no number is NAN.
 * Memory: a column of each algorithm, and three times the file. FROM is
 * asked in another process (sim/apart.h), so what it changes is lost. */
struct res_h5_source {
	const void *arg;
	int (*has)(const void *arg, size_t column);
	int (*column)(const void *arg, size_t column, double to[],
	    struct sim_err *e);
};
int res_h5_write_from(const struct res_cube *c,
    const struct res_h5_source *from, const char *path, struct sim_err *e);

/* Read a file that res_h5_write() made; C is overwritten, and empty after an
 * error. Errors SIM_EIO (cannot be read), SIM_EPARSE (not one of ours, or
 * changed since: says what is wrong), SIM_EMISMATCH (another schema version),
 * SIM_EDEP (HDF5 crashed, or came to no end: a forged file), SIM_ENOMEM. */
int res_h5_read(struct res_cube *c, const char *path, struct sim_err *e);

/* The same; numbers that are many go into a file without a name beside SCRATCH
 * (results/columns.h). Errors also SIM_EIO, naming that. */
int res_h5_read_beside(struct res_cube *c, const char *path,
    const char *scratch, struct sim_err *e);

/* Who reads many files keeps HDF5's process from one to the next, as to begin it
 * takes longer than to read a small file. It ends with a file that can't be read,
 * and another begins with a file larger than all before. SCRATCH may be NULL.
 * Errors of opening SIM_ENOMEM, of reading those above. */
struct res_h5_reader;
int res_h5_reader_open(struct res_h5_reader **r, struct sim_err *e);
void res_h5_reader_close(struct res_h5_reader *r); /* NULL is fine */
int res_h5_reader_read(struct res_h5_reader *r, struct res_cube *c,
    const char *path, const char *scratch, struct sim_err *e);

#endif
