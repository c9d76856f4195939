/* tests/results/h5_test.c -- results files: there and back, and damaged ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/h5.h"

#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hdf5.h>
#include <hdf5_hl.h>

#include "results/file.h"
#include "sim/text.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/h5_edit.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

static void what_is_written_is_read_back(void **state)
{
	(void)state;
	const char *path = test_path("a.h5");
	for (uint32_t run = 0; run < 24; run++) {
		struct res_cube c, back;
		random_cube(&c, run);
		assert_ok(res_h5_write(&c, path, test_err()));
		assert_ok(res_h5_read(&back, path, test_err()));
		assert_same_cube(&c, &back);
		res_cube_free(&c);
		res_cube_free(&back);
	}
}

/* Fresh memory is filled with another byte each time, so that a byte nobody
 * wrote would show. */
static void equal_cubes_give_equal_bytes(void **state)
{
	(void)state;
	const char *a = test_path("a.h5"), *b = test_path("b.h5");
	for (uint32_t run = 0; run < 8; run++) {
		struct res_cube c, same;
		random_cube(&c, run);
		mallopt(M_PERTURB, 0x5a);
		assert_ok(res_h5_write(&c, a, test_err()));
		mallopt(M_PERTURB, 0xc3);
		random_cube(&same, run);
		for (size_t i = 0; i < same.n_rows; i++)
			for (size_t m = 0; m < same.row_doubles; m++)
				if (isnan(res_columns_get(&same.rows, i, m)))
					res_columns_put(&same.rows, i, m, -NAN);
		assert_ok(res_h5_write(&same, b, test_err()));
		mallopt(M_PERTURB, 0);
		test_assert_same_bytes(a, b);
		res_cube_free(&c);
		res_cube_free(&same);
	}
}

/* Without what may lack: HDF5 takes the square of a group's members to rid it of
 * one. */
static void write_good_file(const char *path)
{
	struct res_cube c;
	plain_cube(&c, 2, 2);
	without_optional(&c);
	c.claim = calloc(1, sizeof(c.claim[0]));
	c.n_claims = 1;
	assert_ok(sim_dup(&c.claim[0].metric, "m", test_err()));
	assert_ok(sim_dup(&c.claim[0].text, "t", test_err()));
	assert_ok(res_h5_write(&c, path, test_err()));
	res_cube_free(&c);
}

/* A good file, made once and copied since, open for the test to spoil. */
static hid_t good_file(const char *path)
{
	static void *bytes;
	static size_t n;
	if (!bytes) {
		write_good_file(path);
		assert_ok(res_file_read(path, &bytes, &n, test_err()));
	}
	assert_ok(res_file_write(path, bytes, n, test_err()));
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(file >= 0);
	return file;
}

static herr_t has_no_time(hid_t at, const char *name, const H5O_info_t *info,
    void *n)
{
	(void)at;
	if (info->atime || info->mtime || info->ctime || info->btime)
		fail_msg("%s has a time", name);
	++*(unsigned *)n;
	return 0;
}

/* HDF5 counts in seconds, so two quick writes would not show it. */
static void no_object_has_a_time(void **state)
{
	(void)state;
	unsigned n = 0;
	const char *path = test_path("times.h5");
	struct res_cube c;
	plain_cube(&c, 2, 2);
	assert_ok(res_h5_write(&c, path, test_err()));
	res_cube_free(&c);
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	assert_true(file >= 0);
	assert_true(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, has_no_time,
			&n, H5O_INFO_TIME) >= 0);
	H5Fclose(file);
	assert_true(n > RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS);
}

/* The first coordinate is the scale; CF's attribute names the others. */
static void further_coordinates_are_named_beside_the_data(void **state)
{
	(void)state;
	const char *path = test_path("zip.h5");
	char *text = NULL;
	struct res_cube c;
	plain_cube(&c, 2, 2);
	struct res_coord *old = c.axis[0].coord, zip[3] = {*old, *old, *old};
	zip[1].name = (char *)"b";
	zip[2].name = (char *)"c";
	c.axis[0].coord = zip;
	c.axis[0].n_coords = 3;
	assert_ok(res_h5_write(&c, path, test_err()));
	c.axis[0].coord = old;
	c.axis[0].n_coords = 1;
	res_cube_free(&c);
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	hid_t attr = H5Aopen_by_name(file, "hits_all", "coordinates",
	    H5P_DEFAULT, H5P_DEFAULT);
	hid_t type = H5Aget_type(attr);
	assert_true(H5Aread(attr, type, &text) >= 0);
	assert_string_equal(text, "b c");
	/* What has one dimension alone is no cell of a grid. */
	static const char *const scales[] = {"algorithm", "run", "b", "c"};
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		assert_true(H5Lexists(file, scales[i], H5P_DEFAULT) > 0);
		assert_int_equal(H5Aexists_by_name(file, scales[i],
				     "coordinates", H5P_DEFAULT),
		    0);
	}
	H5free_memory(text);
	H5Tclose(type);
	H5Aclose(attr);
	H5Fclose(file);
}

/* What a dataset says of itself and of its dimensions. */
struct dims_seen {
	const struct res_cube *c;
	int has_more; /* coordinates that are no scales */
	unsigned n, n_scales;
};

static herr_t scale_name(hid_t set, unsigned dim, hid_t scale, void *name)
{
	(void)set, (void)dim;
	assert_true(H5Iget_name(scale, name, 256) > 0);
	return 0;
}

/* The names of the scales of a whole cube's dimensions, the last of which are those
 * of RANK. */
static unsigned dims_names(const struct res_cube *c, char name[][256])
{
	unsigned n = 0;
	snprintf(name[n++], 256, "/algorithm");
	for (size_t a = 0; a < c->n_axes; a++)
		snprintf(name[n++], 256, "/%s", c->axis[a].coord[0].name);
	snprintf(name[n++], 256, "/run");
	return n;
}

static void assert_scales(hid_t set, const struct dims_seen *x, const char *of,
    int is_metric)
{
	char want[8][256], got[256];
	const unsigned n = dims_names(x->c, want);
	hid_t space = H5Dget_space(set);
	const unsigned rank = (unsigned)H5Sget_simple_extent_ndims(space);
	H5Sclose(space);
	for (unsigned i = 0; i < rank; i++) {
		if (H5DSget_num_scales(set, i) != 1)
			fail_msg("%s, dimension %u", of, i);
		assert_true(
		    H5DSiterate_scales(set, i, NULL, scale_name, got) == 0);
		if (is_metric)
			assert_string_equal(got, want[n - rank + i]);
	}
	assert_int_equal(H5Aexists(set, "coordinates") > 0,
	    rank > 1 && x->has_more);
}

static herr_t dims_see(hid_t at, const char *name, const H5O_info_t *info,
    void *arg)
{
	struct dims_seen *x = arg;
	char text[256] = "";
	if (info->type != H5O_TYPE_DATASET)
		return 0;
	hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
	assert_true(set >= 0);
	assert_true(H5Aexists(set, "units") > 0);
	assert_true(H5Aexists(set, "long_name") > 0);
	assert_true(H5Aexists(set, "paper") > 0);
	x->n++;
	if (H5DSis_scale(set) > 0) {
		x->n_scales++;
		assert_true(H5DSget_scale_name(set, text, sizeof(text)) > 0);
		assert_string_equal(text,
		    strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
		assert_false(H5Aexists(set, "coordinates") > 0);
	} else {
		assert_scales(set, x, name, 0);
		if (strcmp(name, "status") == 0 ||
		    strncmp(name, "hits_", 5) == 0)
			assert_scales(set, x, name, x->c->shard_n <= 1);
	}
	H5Dclose(set);
	return 0;
}

static void each_dataset_says_what_it_and_its_dimensions_are(void **state)
{
	(void)state;
	const char *path = test_path("dims.h5");
	unsigned n_more = 0;
	for (uint32_t run = 0; run < 9; run++) {
		struct res_cube c;
		if (run % 3 == 0)
			random_shard(&c, run, 0, 2);
		else
			random_cube(&c, run);
		struct dims_seen x = {.c = &c};
		unsigned n_scales = 1u + (c.n_algos > 0) + (c.n_claims > 0) +
		    (c.shard_n > 1 && c.n_rows > 0);
		for (size_t a = 0; a < c.n_axes; a++) {
			n_scales++;
			x.has_more |= c.axis[a].n_coords > 1;
		}
		n_more += (unsigned)x.has_more;
		assert_ok(res_h5_write(&c, path, test_err()));
		hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
		assert_true(file >= 0);
		assert_true(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE,
				dims_see, &x, H5O_INFO_BASIC) >= 0);
		assert_int_equal(x.n_scales, n_scales);
		assert_true(x.n > n_scales);
		H5Fclose(file);
		res_cube_free(&c);
	}
	assert_in_range(n_more, 1, 8);
}

static void a_file_keeps_the_version_that_made_it(void **state)
{
	(void)state;
	const char *a = test_path("a.h5"), *b = test_path("b.h5");
	struct res_cube c, back;
	plain_cube(&c, 3, 2);
	free(c.version);
	assert_ok(sim_dup(&c.version, "0.0.9 (abcdef)", test_err()));
	assert_ok(res_h5_write(&c, a, test_err()));
	assert_ok(res_h5_read(&back, a, test_err()));
	assert_string_equal(back.version, "0.0.9 (abcdef)");
	assert_ok(res_h5_write(&back, b, test_err()));
	test_assert_same_bytes(a, b);
	res_cube_free(&c);
	res_cube_free(&back);
}

/* More than a chunk holds, along the first and along a later dimension, of the
 * metrics that every file has. */
static void cubes_of_many_chunks_survive(void **state)
{
	(void)state;
	static const size_t shape[][2] = {{1, 150000}, {700, 200}};
	const char *path = test_path("a.h5");
	for (size_t i = 0; i < 2; i++) {
		struct res_cube c, back;
		plain_cube(&c, shape[i][0], shape[i][1]);
		without_optional(&c);
		assert_ok(res_h5_write(&c, path, test_err()));
		assert_ok(res_h5_read(&back, path, test_err()));
		assert_same_cube(&c, &back);
		res_cube_free(&c);
		res_cube_free(&back);
	}
}

/* --- damage ---------------------------------------------------------------*/

static void assert_refused(const char *path, int code, const char *word)
{
	struct res_cube c;
	struct sim_err e = {0};
	int rc = res_h5_read(&c, path, &e);
	if (rc != code || !strstr(e.msg, word) || !strstr(e.msg, path))
		fail_msg("%s (%s), wanted %s with \"%s\"", sim_err_text(rc),
		    e.msg, sim_err_text(code), word);
	assert_null(c.rows.bits);
	assert_null(c.figure);
}

/* FNV-1a never misses one changed byte; several it misses with probability
 * 2^-64. */
static void every_mutation_is_refused(void **state)
{
	(void)state;
	const char *path = test_path("bad.h5");
	struct res_cube c;
	unsigned char *bytes;
	size_t n;
	plain_cube(&c, 2, 2);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_ok(res_file_read(path, (void **)&bytes, &n, test_err()));
	unsigned char *bad = malloc(n);
	for (uint32_t run = 0; run < 500; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		size_t length = n;
		memcpy(bad, bytes, n);
		if (run % 5 == 0)
			length = sim_rng_below(&r, (uint32_t)n);
		else
			for (uint32_t i = 0; i <= run % 3; i++)
				bad[sim_rng_below(&r, (uint32_t)n)] ^= 1
				    << sim_rng_below(&r, 8);
		if (length == n && memcmp(bad, bytes, n) == 0)
			continue;
		FILE *f = fopen(path, "wb");
		assert_true(fwrite(bad, 1, length, f) == length);
		assert_int_equal(fclose(f), 0);
		assert_refused(path, SIM_EPARSE, "it");
	}
	free(bad);
	free(bytes);
	res_cube_free(&c);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	const char *path = test_path("other");
	assert_refused(test_path("missing"), SIM_EIO, "No such file");
	assert_refused(test_folder, SIM_EIO, "not a file");
	assert_ok(res_file_write(path, "", 0, test_err()));
	assert_refused(path, SIM_EPARSE, "does not end as");
	assert_ok(res_file_write(path, "figure: vigil_fig03\nseed: 1\n", 28,
	    test_err()));
	assert_refused(path, SIM_EPARSE, "does not end as");
}

/* Give PATH, which HDF5 has edited, a right checksum. */
static void seal(const char *path)
{
	unsigned char *bytes;
	size_t n;
	assert_ok(res_file_read(path, (void **)&bytes, &n, test_err()));
	unsigned char *all = realloc(bytes, n + 16);
	uint64_t sum = sim_fnv(SIM_FNV_START, all, n);
	memcpy(all + n, "culpritR", 8);
	for (int i = 0; i < 8; i++)
		all[n + 8 + (size_t)i] = (unsigned char)(sum >> 8 * i);
	assert_ok(res_file_write(path, all, n + 16, test_err()));
	free(all);
}

static void an_edited_file_is_refused(void **state)
{
	(void)state;
	const char *path = test_path("edited.h5");
	hid_t file = good_file(path);
	assert_true(H5Adelete(file, "title") >= 0);
	H5Fclose(file);
	assert_refused(path, SIM_EPARSE, "edited");
}

/* Whatever one of them is: small or large, a good one or none. */
static void a_reader_reads_one_file_after_the_other(void **state)
{
	(void)state;
	enum { RUNS = 40, KINDS = 4 };
	const char *path[KINDS] = {test_path("small.h5"), test_path("large.h5"),
	    test_path("bad.h5"), test_path("missing.h5")};
	struct res_cube c[2], back;
	struct res_h5_reader *reader;
	plain_cube(&c[0], 2, 3);
	plain_cube(&c[1], 40, 700);
	for (size_t i = 0; i < 2; i++)
		assert_ok(res_h5_write(&c[i], path[i], test_err()));
	hid_t file = good_file(path[2]);
	assert_true(H5Adelete(file, "title") >= 0);
	H5Fclose(file);
	seal(path[2]);
	assert_ok(res_h5_reader_open(&reader, test_err()));
	for (uint32_t run = 0; run < RUNS; run++) {
		struct sim_rng r;
		struct sim_err e = {0};
		test_rng(&r, run);
		const uint32_t kind = sim_rng_below(&r, KINDS);
		const int rc =
		    res_h5_reader_read(reader, &back, path[kind], NULL, &e);
		if (kind < 2) {
			assert_int_equal(rc, 0);
			assert_same_cube(&c[kind], &back);
			res_cube_free(&back);
		} else {
			assert_int_equal(rc, kind == 2 ? SIM_EPARSE : SIM_EIO);
			assert_non_null(strstr(e.msg, path[kind]));
		}
	}
	res_h5_reader_close(reader);
	for (size_t i = 0; i < 2; i++)
		res_cube_free(&c[i]);
}

/* Kill the one child that this process has. */
static void kill_child(void)
{
	int pid = 0;
	FILE *f = fopen("/proc/thread-self/children", "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

/* What the process of earlier files died of is nothing that a good one did. */
static void a_file_is_read_though_the_child_of_others_is_gone(void **state)
{
	(void)state;
	const char *path = test_path("good.h5");
	struct res_cube c, back;
	struct res_h5_reader *reader;
	plain_cube(&c, 2, 3);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_ok(res_h5_reader_open(&reader, test_err()));
	for (int i = 0; i < 3; i++) {
		assert_ok(
		    res_h5_reader_read(reader, &back, path, NULL, test_err()));
		assert_same_cube(&c, &back);
		res_cube_free(&back);
		kill_child();
	}
	res_h5_reader_close(reader);
	res_cube_free(&c);
}

static void put_number(hid_t file, const char *name, unsigned value)
{
	hid_t space = H5Screate(H5S_SCALAR);
	hid_t set = H5Dcreate2(file, name, H5T_STD_U32LE, space, H5P_DEFAULT,
	    H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Dwrite(set, H5T_NATIVE_UINT, H5S_ALL, H5S_ALL,
			H5P_DEFAULT, &value) >= 0);
	H5Dclose(set);
	H5Sclose(space);
}

static void put_numbers(hid_t file, const char *name, hid_t type, unsigned rank,
    const hsize_t dim[])
{
	hid_t space = H5Screate_simple((int)rank, dim, NULL);
	hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT,
	    H5P_DEFAULT, H5P_DEFAULT);
	assert_true(set >= 0);
	H5Dclose(set);
	H5Sclose(space);
}

/* Take a dataset away; in its place put nothing, a scalar, one of another
 * length, or one of the same shape and another type. */
enum harm { GONE, SCALAR, LENGTH, TYPE };

static void harm(hid_t file, const char *name, enum harm how)
{
	hsize_t dim[H5S_MAX_RANK] = {7};
	hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
	hid_t space = H5Dget_space(set);
	unsigned rank = how == TYPE
	    ? (unsigned)H5Sget_simple_extent_dims(space, dim, NULL)
	    : 1;
	H5Sclose(space);
	H5Dclose(set);
	assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
	if (how == SCALAR)
		put_number(file, name, 1);
	else if (how == LENGTH)
		put_numbers(file, name, H5T_IEEE_F32LE, rank, dim);
	else if (how == TYPE)
		put_numbers(file, name, H5T_STD_REF_OBJ, rank, dim);
}

static void each_missing_or_odd_dataset_is_refused(void **state)
{
	(void)state;
	/* The last two datasets are not read, but their lengths are. */
	static const char *const names[] = {"algorithm", "faults.count",
	    "status", "n_faults", "hits_all", "worst_rank", "claims/metric",
	    "claims/text", "claims/value", "claims/confirmed", "run",
	    "claims/claim"};
	const char *path = test_path("odd.h5");
	for (size_t i = 0; i < 12; i++)
		for (enum harm how = GONE; how <= TYPE; how++) {
			if (i >= 10 && how == TYPE)
				continue;
			hid_t file = good_file(path);
			harm(file, names[i], how);
			H5Fclose(file);
			seal(path);
			assert_refused(path, SIM_EPARSE, "");
		}
}

static void each_missing_or_odd_attribute_is_named(void **state)
{
	(void)state;
	static const char *const names[] = {"schema_version", "figure", "title",
	    "paper", "spec", "overrides", "culprit", "build", "libraries",
	    "axes", "seed", "shard"};
	const char *path = test_path("odd.h5");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (unsigned how = 0; how < 2; how++) {
			hid_t file = good_file(path);
			assert_true(H5Adelete(file, names[i]) >= 0);
			if (how == 1) {
				hid_t space = H5Screate(H5S_NULL);
				H5Aclose(
				    H5Acreate2(file, names[i], H5T_IEEE_F64LE,
					space, H5P_DEFAULT, H5P_DEFAULT));
				H5Sclose(space);
			}
			H5Fclose(file);
			seal(path);
			assert_refused(path, SIM_EPARSE, names[i]);
		}
}

static void set_counts(hid_t file, const char *name, const uint32_t value[])
{
	hid_t attr = H5Aopen(file, name, H5P_DEFAULT);
	assert_true(H5Awrite(attr, H5T_NATIVE_UINT32, value) >= 0);
	H5Aclose(attr);
}

static void values_that_cannot_be_are_refused(void **state)
{
	(void)state;
	const char *path = test_path("odd.h5");
	hid_t file = good_file(path);
	set_counts(file, "schema_version", (uint32_t[]){99});
	H5Fclose(file);
	seal(path);
	assert_refused(path, SIM_EMISMATCH, "schema version 99");

	file = good_file(path);
	set_counts(file, "shard", (uint32_t[]){3, 3});
	H5Fclose(file);
	seal(path);
	assert_refused(path, SIM_EPARSE, "shard 3 of 3");

	file = good_file(path);
	hid_t set = H5Dopen2(file, "status", H5P_DEFAULT);
	const uint8_t status[4] = {1, 1, 9, 1};
	assert_true(H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL,
			H5P_DEFAULT, status) >= 0);
	H5Dclose(set);
	H5Fclose(file);
	seal(path);
	assert_refused(path, SIM_EPARSE, "cell 2 has status 9");

	file = good_file(path);
	H5Ldelete(file, "run", H5P_DEFAULT);
	put_numbers(file, "run", H5T_STD_I32LE, 1, (hsize_t[]){4000000000u});
	H5Fclose(file);
	seal(path);
	assert_refused(path, SIM_EPARSE, "larger than the file");
}

/* Which cells a shard has follows from its number. */
static void cells_of_another_shard_are_refused(void **state)
{
	const char *path = test_path("part.h5");
	struct res_cube c;
	char says[64];
	(void)state;
	uint32_t run = 4;
	random_shard(&c, run, 1, 3);
	/* Of so small cubes a shard may have one cell, or none. */
	while (res_cube_own_cells(&c) < 2) {
		res_cube_free(&c);
		random_shard(&c, ++run, 1, 3);
	}
	const size_t last = res_cube_own_cells(&c) - 1;
	const size_t is = res_cube_own_cell(&c, last);
	assert_ok(res_h5_write(&c, path, test_err()));
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	h5_edit_cell(file, "cell", last, is + 1);
	H5Fclose(file);
	seal(path);
	snprintf(says, sizeof(says), "cell %zu is not of shard 2/3.", is + 1);
	assert_refused(path, SIM_EPARSE, says);
	res_cube_free(&c);
}

static int has_attribute(const char *path, const char *name)
{
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	const int has = H5Aexists(file, name) > 0;
	H5Fclose(file);
	return has;
}

static int has_dataset(const char *path, const char *name)
{
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	const int has = H5Lexists(file, name, H5P_DEFAULT) > 0;
	H5Fclose(file);
	return has;
}

static void only_a_cell_of_several_points_is_told(void **state)
{
	(void)state;
	const char *path = test_path("along.h5");
	struct res_cube c, back;
	plain_cube(&c, 3, 2);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_false(has_attribute(path, "n_along"));
	c.n_along = 3;
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_true(has_attribute(path, "n_along"));
	assert_ok(res_h5_read(&back, path, test_err()));
	assert_int_equal(back.n_along, 3);
	assert_int_equal(res_cube_cells(&back), 2);
	assert_int_equal(back.cell_doubles, 3 * back.row_doubles);
	res_cube_free(&c);
	res_cube_free(&back);
}

static void points_of_a_cell_that_cannot_be_are_refused(void **state)
{
	(void)state;
	static const struct {
		uint32_t n;
		const char *says;
	} cases[] = {{0, "0 points a cell, of 3 in all"},
	    {2, "2 points a cell are not spanned"},
	    {4, "4 points a cell, of 3 in all"}};
	const char *path = test_path("along.h5");
	struct res_cube c;
	plain_cube(&c, 3, 2);
	c.n_along = 3;
	for (size_t i = 0; i < 3; i++) {
		assert_ok(res_h5_write(&c, path, test_err()));
		hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
		set_counts(file, "n_along", &cases[i].n);
		H5Fclose(file);
		seal(path);
		assert_refused(path, SIM_EPARSE, cases[i].says);
	}
	c.status[2 * 2 + 1] = RES_FAILED;
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_refused(path, SIM_EPARSE,
	    "point 2 run 1 and another of its trial differ in status");
	res_cube_free(&c);
}

/* A new optional metric thus leaves files of planes that do not measure it as
 * they were. */
static void optional_metrics_without_a_number_have_no_dataset(void **state)
{
	(void)state;
	const char *path = test_path("optional.h5");
	struct res_cube c, back;
	plain_cube(&c, 2, 2);
	without_optional(&c);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_false(has_dataset(path, "n_probes"));
	assert_false(has_dataset(path, "drop_rate"));
	assert_false(has_dataset(path, "detect_s"));
	assert_true(has_dataset(path, "n_traced"));
	for (size_t i = 0; i < 4; i++)
		for (unsigned m = 0; m < RES_TRIAL_n_probes; m++)
			if (m != RES_TRIAL_n_drops)
				res_columns_put(&c.rows, i, m, NAN);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_true(has_dataset(path, "n_flows"));
	res_columns_put(&c.rows, 0, RES_TRIAL_n_probes, 4);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_false(has_dataset(path, "n_flows"));
	assert_false(has_dataset(path, "n_traced"));
	assert_true(has_dataset(path, "n_faults"));
	assert_true(has_dataset(path, "n_drops"));
	res_columns_put(&c.rows, 0, RES_TRIAL_n_probes, NAN);
	res_columns_put(&c.rows, 3, RES_TRIAL_n_drop, 1);
	res_columns_put(&c.rows, 3, RES_TRIAL_n_connected, 4);
	res_columns_put(&c.rows, 0, res_row_doubles(1) + RES_ALGO_detect_s, 7);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_true(has_dataset(path, "n_drop"));
	assert_true(has_dataset(path, "drop_rate"));
	assert_true(has_dataset(path, "detect_s"));
	assert_false(has_dataset(path, "n_probes"));
	assert_false(has_dataset(path, "unconnected_rate"));
	double share[4];
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	hid_t set = H5Dopen2(file, "drop_rate", H5P_DEFAULT);
	assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
			H5P_DEFAULT, share) >= 0);
	H5Dclose(set);
	H5Fclose(file);
	assert_true(isnan(share[0]) && share[3] == 0.25);
	assert_ok(res_h5_read(&back, path, test_err()));
	assert_same_cube(&c, &back);
	res_cube_free(&c);
	res_cube_free(&back);
}

/* --- writing --------------------------------------------------------------*/

static void names_a_file_cannot_hold_are_refused(void **state)
{
	(void)state;
	static const char *const names[] = {"", "a/b", ".", "run", "status",
	    "claims", "algorithm", "hits_all", "recall", "n_flows", "two words",
	    "tab\t"};
	const char *path = test_path("never.h5");
	struct sim_err e;
	struct res_cube c;
	plain_cube(&c, 2, 2);
	char **name = &c.axis[0].coord[0].name, *old = *name;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*name = (char *)names[i];
		assert_int_equal(res_h5_write(&c, path, &e), SIM_EINVAL);
		assert_non_null(strstr(e.msg, path));
	}
	*name = old;
	c.spec[2] = '\0';
	assert_int_equal(res_h5_write(&c, path, &e), SIM_EINVAL);
	c.spec[2] = 'g';
	c.n_axes = 30;
	assert_int_equal(res_h5_write(&c, path, &e), SIM_ELIMIT);
	c.n_axes = 1;
	assert_int_not_equal(access(path, F_OK), 0);
	res_cube_free(&c);
}

static void two_coordinates_of_one_name_are_refused(void **state)
{
	(void)state;
	struct sim_err e;
	struct res_cube c;
	plain_cube(&c, 2, 2);
	struct res_coord *old = c.axis[0].coord, twice[2] = {*old, *old};
	c.axis[0].coord = twice;
	c.axis[0].n_coords = 2;
	assert_int_equal(res_h5_write(&c, test_path("x.h5"), &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "two coordinates"));
	c.axis[0].coord = old;
	c.axis[0].n_coords = 1;
	res_cube_free(&c);
}

/* In a mount namespace of its own: 0 good, 77 no right to mount, else what
 * went wrong. The file that was there must stay and no other may appear. */
static int fill_a_disk(const struct res_cube *small,
    const struct res_cube *large)
{
	struct sim_err e = {0};
	struct res_cube back;
	const char *path = test_path("disk/x.h5");
	char command[128];
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(test_path("disk"), 0700) < 0 ||
	    mount("none", test_path("disk"), "tmpfs", 0, "size=512k") < 0)
		return 77;
	if (res_h5_write(small, path, &e) < 0)
		return 1;
	if (res_h5_write(large, path, &e) != SIM_EIO)
		return 2;
	if (!strstr(e.msg, "No space left on device") || !strstr(e.msg, path))
		return 3;
	if (res_h5_read(&back, path, &e) < 0 ||
	    back.n_points != small->n_points)
		return 4;
	snprintf(command, sizeof(command), "test \"$(ls %s)\" = x.h5",
	    test_path("disk"));
	return system(command) == 0 ? 0 : 5;
}

static void a_full_disk_leaves_the_old_file_and_no_other(void **state)
{
	(void)state;
	struct res_cube small, large;
	int status;
	plain_cube(&small, 2, 2);
	plain_cube(&large, 400, 100);
	pid_t child = fork();
	if (child == 0)
		_exit(fill_a_disk(&small, &large));
	assert_int_equal(waitpid(child, &status, 0), child);
	res_cube_free(&small);
	res_cube_free(&large);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: may not mount a small disk\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int write_one(void *cube, struct sim_err *e)
{
	return res_h5_write(cube, test_path("alloc.h5"), e);
}

static int read_one(void *arg, struct sim_err *e)
{
	(void)arg;
	struct res_cube c;
	int rc = res_h5_read(&c, test_path("alloc.h5"), e);
	res_cube_free(&c);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2; run++) {
		struct res_cube c;
		random_cube(&c, run);
		test_each_alloc_fails(write_one, &c);
		test_each_alloc_fails(read_one, NULL);
		res_cube_free(&c);
	}
}

/* --- other readers --------------------------------------------------------*/

static void other_programs_read_it(void **state)
{
	(void)state;
	const char *path = test_path("plain.h5");
	char command[256];
	struct res_cube c;
	plain_cube(&c, 4, 3);
	assert_ok(res_h5_write(&c, path, test_err()));
	res_cube_free(&c);
	if (system("command -v h5dump >/dev/null") == 0) {
		snprintf(command, sizeof(command), "h5dump %s >/dev/null",
		    path);
		assert_int_equal(system(command), 0);
	} else {
		print_message("without h5dump: hdf5-tools is missing\n");
	}
	snprintf(command, sizeof(command),
	    "/usr/bin/python3 tests/cli/h5_readers.py %s", path);
	int status = system(command);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: python3-h5py, python3-xarray or "
			      "python3-h5netcdf is missing\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read_back),
	    cmocka_unit_test(equal_cubes_give_equal_bytes),
	    cmocka_unit_test(no_object_has_a_time),
	    cmocka_unit_test(further_coordinates_are_named_beside_the_data),
	    cmocka_unit_test(each_dataset_says_what_it_and_its_dimensions_are),
	    cmocka_unit_test(a_file_keeps_the_version_that_made_it),
	    cmocka_unit_test(cubes_of_many_chunks_survive),
	    cmocka_unit_test(every_mutation_is_refused),
	    cmocka_unit_test(other_files_are_refused),
	    cmocka_unit_test(an_edited_file_is_refused),
	    cmocka_unit_test(a_reader_reads_one_file_after_the_other),
	    cmocka_unit_test(a_file_is_read_though_the_child_of_others_is_gone),
	    cmocka_unit_test(each_missing_or_odd_dataset_is_refused),
	    cmocka_unit_test(each_missing_or_odd_attribute_is_named),
	    cmocka_unit_test(values_that_cannot_be_are_refused),
	    cmocka_unit_test(cells_of_another_shard_are_refused),
	    cmocka_unit_test(only_a_cell_of_several_points_is_told),
	    cmocka_unit_test(points_of_a_cell_that_cannot_be_are_refused),
	    cmocka_unit_test(optional_metrics_without_a_number_have_no_dataset),
	    cmocka_unit_test(names_a_file_cannot_hold_are_refused),
	    cmocka_unit_test(two_coordinates_of_one_name_are_refused),
	    cmocka_unit_test(a_full_disk_leaves_the_old_file_and_no_other),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	    cmocka_unit_test(other_programs_read_it),
	};
	return cmocka_run_group_tests_name("results/h5", tests,
	    test_folder_make, test_folder_remove);
}
