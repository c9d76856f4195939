/* results/h5_column.c -- columns of tables in an HDF5 file: types, and rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/h5_parts.h"

#include <stdio.h>

#include "sim/table.h"

/* Texts are moved in batches of so many pointers. */
enum { BATCH = 256 };

hid_t res_h5_file_type(enum sim_type t)
{
	const hid_t type[SIM_NAME] = {H5T_STD_U8LE, H5T_STD_U16LE,
	    H5T_STD_U32LE, H5T_STD_U64LE, H5T_STD_I64LE, H5T_IEEE_F64LE};
	return type[t];
}

hid_t res_h5_memory_type(enum sim_type t)
{
	const hid_t type[SIM_NAME] = {H5T_NATIVE_UINT8, H5T_NATIVE_UINT16,
	    H5T_NATIVE_UINT32, H5T_NATIVE_UINT64, H5T_NATIVE_INT64,
	    H5T_NATIVE_DOUBLE};
	return type[t];
}

static herr_t move_block(hid_t set, hid_t type, hsize_t first, hsize_t n,
    const void *from, void *to)
{
	hid_t space = H5Dget_space(set);
	hid_t memory = H5Screate_simple(1, &n, NULL);
	H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL);
	const herr_t rc = to
	    ? H5Dread(set, type, memory, space, H5P_DEFAULT, to)
	    : H5Dwrite(set, type, memory, space, H5P_DEFAULT, from);
	H5Sclose(memory);
	H5Sclose(space);
	return rc;
}

/* Copy and free what HDF5 has allocated for a batch. Texts that were never
 * written are NULL. */
static void take_texts(char *text[], hsize_t n, struct sim_name to[])
{
	for (hsize_t i = 0; i < n; i++) {
		snprintf(to[i].text, sizeof(to[i].text), "%s",
		    text[i] ? text[i] : "");
		H5free_memory(text[i]);
	}
}

/* In memory a name has room of its own, in a file it is as long as it is; in
 * between HDF5 wants pointers. */
static herr_t move_names(hid_t set, hsize_t first, hsize_t n,
    const struct sim_name *from, struct sim_name *to)
{
	const hid_t utf8 = res_h5_utf8();
	herr_t rc = 0;
	for (hsize_t k, done = 0; rc >= 0 && done < n; done += k) {
		char *text[BATCH] = {NULL};
		k = n - done < BATCH ? n - done : BATCH;
		for (hsize_t i = 0; from && i < k; i++)
			text[i] = (char *)(uintptr_t)from[done + i].text;
		rc = move_block(set, utf8, first + done, k, text,
		    to ? text : NULL);
		if (to)
			take_texts(text, k, to + done);
	}
	H5Tclose(utf8);
	return rc;
}

herr_t res_h5_move_rows(hid_t set, const struct sim_column *c, hsize_t first,
    hsize_t n, const void *from, void *to)
{
	return c->type == SIM_NAME
	    ? move_names(set, first, n, from, to)
	    : move_block(set, res_h5_memory_type(c->type), first, n, from, to);
}
