/* results/h5_image.c -- an HDF5 file that is built in memory, as sealed bytes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/h5_parts.h"

#include <stdlib.h>
#include <string.h>

#include "sim/bytes.h"

#define CHUNK_BYTES ((hsize_t)1 << 20)

/* From 4 on zlib looks for a longer match behind each that it has found: a sweep
 * of a million cells takes twice the time to be packed, and half of it more to be
 * read, for files of 0 to 7 % less. */
enum { LEVEL = 3 };

hid_t res_h5_image_create(void)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	hid_t plist = H5Pcreate(H5P_FILE_CREATE);
	int good = H5Pset_fapl_core(access, 1 << 20, 0) >= 0 &&
	    H5Pset_obj_track_times(plist, 0) >= 0;
	/* Datasets are listed in our order. All links stand in the root's
	 * header, and indices of chunks are small, since there are some forty
	 * datasets of few chunks; the defaults are made for thousands. */
	good = good &&
	    H5Pset_link_creation_order(plist,
		H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
	    H5Pset_link_phase_change(plist, 512, 0) >= 0 &&
	    H5Pset_istore_k(plist, 4) >= 0;
	hid_t file =
	    good ? H5Fcreate(RES_H5_NO_FILE, H5F_ACC_TRUNC, plist, access) : -1;
	H5Pclose(plist);
	H5Pclose(access);
	return file;
}

int res_h5_image_take(hid_t file, struct sim_apart_reply *to, struct sim_err *e)
{
	ssize_t size = -1;
	if (H5Fflush(file, H5F_SCOPE_LOCAL) >= 0)
		size = H5Fget_file_image(file, NULL, 0);
	if (size < 0)
		return res_h5_failed(SIM_EDEP, "finish", "the file", e);
	unsigned char *bytes =
	    sim_apart_room(to, (size_t)size + RES_H5_TRAILER, e);
	if (!bytes)
		return SIM_ENOMEM;
	if (H5Fget_file_image(file, bytes, (size_t)size) != size)
		return res_h5_failed(SIM_EDEP, "copy", "the file", e);
	memcpy(bytes + size, RES_H5_MAGIC, 8);
	sim_store_64(bytes + size + 8,
	    sim_fnv(SIM_FNV_START, bytes, (size_t)size));
	return 0;
}

/* A chunk takes as many whole dimensions as fit, from the last one on, then a
 * part of the next one, and a single index of those before. */
herr_t res_h5_set_chunk(hid_t plist, unsigned rank, const hsize_t dim[])
{
	hsize_t chunk[RES_MAX_AXES + 2], left = CHUNK_BYTES / sizeof(double);
	for (unsigned i = rank; i-- > 0;) {
		chunk[i] = dim[i] < left ? dim[i] : left;
		left /= chunk[i];
		if (left == 0)
			left = 1;
	}
	return H5Pset_chunk(plist, (int)rank, chunk) < 0 ||
		H5Pset_shuffle(plist) < 0 || H5Pset_deflate(plist, LEVEL) < 0
	    ? -1
	    : 0;
}
