/* results/h5_attr.c -- attributes of HDF5 files, written and read; shapes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/h5_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"

/* HDF5 keeps a stack of errors. Walked upward it begins with the innermost
 * call, which knows the cause. */
static herr_t first_reason(unsigned n, const H5E_error2_t *entry, void *out)
{
	if (n == 0 && entry->desc)
		snprintf(out, 200, "%s", entry->desc);
	return 0;
}

int res_h5_failed(int code, const char *verb, const char *name,
    struct sim_err *e)
{
	char why[200] = "no reason given";
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, why);
	return sim_fail(e, code, "HDF5 cannot %s %s: %s.", verb, name, why);
}

unsigned res_h5_dims(const struct res_cube *c, hsize_t dim[RES_MAX_AXES + 2])
{
	const int all = c->shard_n <= 1;
	unsigned n = 0;
	dim[n++] = c->n_algos;
	if (!all)
		dim[n++] = res_cube_own_cells(c);
	for (size_t a = all ? 0 : res_cube_outer_axes(c); a < c->n_axes; a++)
		dim[n++] = c->axis[a].n;
	if (all)
		dim[n++] = c->n_runs;
	return n;
}

/* --- written --------------------------------------------------------------*/

int res_h5_put_attr(hid_t to, const char *name, hid_t type, hsize_t n,
    hid_t mem_type, const void *value, struct sim_err *e)
{
	hid_t space = n ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
	hid_t attr =
	    H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	int rc = 0;
	if (attr < 0 || H5Awrite(attr, mem_type, value) < 0)
		rc = res_h5_failed(SIM_EDEP, "write attribute", name, e);
	H5Aclose(attr);
	H5Sclose(space);
	return rc;
}

hid_t res_h5_utf8(void)
{
	hid_t type = H5Tcopy(H5T_C_S1);
	return H5Tset_size(type, H5T_VARIABLE) < 0 ||
		H5Tset_cset(type, H5T_CSET_UTF8) < 0
	    ? -1
	    : type;
}

int res_h5_put_text(hid_t to, hid_t utf8, const char *name, const char *text,
    struct sim_err *e)
{
	const char *value = text ? text : "";
	return res_h5_put_attr(to, name, utf8, 0, utf8, &value, e);
}

/* Make *AXES, the attribute `axes`: one line an axis, its coordinates separated
 * by tabs; and *COORDINATES: all that are not scales, separated by blanks, as
 * CF names auxiliary coordinates, or NULL if there are none. Each name and its
 * separator are counted, so both texts fit. */
int res_h5_name_axes(const struct res_cube *c, char **axes, char **coordinates,
    struct sim_err *e)
{
	size_t n = 1;
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++)
			n += strlen(c->axis[a].coord[i].name) + 1;
	int rc;
	if ((rc = SIM_ZALLOC(axes, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(coordinates, n, e)) < 0)
		return rc;
	char *to = *axes, *extra = *coordinates;
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const char *name = c->axis[a].coord[i].name;
			const char *mark = i ? "\t" : a ? "\n" : "";
			to += sprintf(to, "%s%s", mark, name);
			if (i)
				extra += sprintf(extra, "%s%s",
				    extra > *coordinates ? " " : "", name);
		}
	if (extra == *coordinates) {
		free(*coordinates);
		*coordinates = NULL;
	}
	return 0;
}

/* --- read -----------------------------------------------------------------*/

/* Open an attribute that has N values of class CLASS; else -1 and an error.
 * H5Aread() writes as many values as the file has, so their number is checked
 * before. */
static hid_t open_attr(hid_t at, const char *name, H5T_class_t class,
    hssize_t n, struct sim_err *e)
{
	hid_t attr = H5Aopen(at, name, H5P_DEFAULT);
	if (attr < 0) {
		sim_fail(e, SIM_EPARSE, "attribute %s is missing.", name);
		return -1;
	}
	hid_t type = H5Aget_type(attr), space = H5Aget_space(attr);
	int good = H5Tget_class(type) == class &&
	    H5Sget_simple_extent_npoints(space) == n &&
	    (class != H5T_STRING || H5Tis_variable_str(type) > 0);
	H5Sclose(space);
	H5Tclose(type);
	if (good)
		return attr;
	H5Aclose(attr);
	sim_fail(e, SIM_EPARSE, "attribute %s is of another type or size.",
	    name);
	return -1;
}

int res_h5_get_text(hid_t at, const char *name, char **out, struct sim_err *e)
{
	hid_t attr = open_attr(at, name, H5T_STRING, 1, e);
	if (attr < 0)
		return SIM_EPARSE;
	char *text = NULL;
	hid_t type = H5Aget_type(attr);
	int rc = H5Aread(attr, type, &text) < 0
	    ? res_h5_failed(SIM_EPARSE, "read attribute", name, e)
	    : sim_dup(out, text ? text : "", e);
	H5free_memory(text);
	H5Tclose(type);
	H5Aclose(attr);
	return rc;
}

int res_h5_get_counts(hid_t at, const char *name, hssize_t n, uint64_t out[],
    struct sim_err *e)
{
	hid_t attr = open_attr(at, name, H5T_INTEGER, n, e);
	if (attr < 0)
		return SIM_EPARSE;
	int rc = 0;
	if (H5Aread(attr, H5T_NATIVE_UINT64, out) < 0)
		rc = res_h5_failed(SIM_EPARSE, "read attribute", name, e);
	H5Aclose(attr);
	return rc;
}
