/* tests/results/recording_test.c -- recordings: there and back, cut by time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/recording.h"

#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hdf5.h>

#include "results/file.h"
#include "results/provenance.h"
#include "results/seal.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/h5_edit.h"
#include "tests/rigs/recordings.h"
#include "tests/test.h"

static void assert_only_file(const char *name)
{
	char command[256];
	snprintf(command, sizeof(command),
	    "test \"$(ls %s | grep '^%s')\" = %s", test_folder, name, name);
	assert_int_equal(system(command), 0);
}

/* --- tables ----------------------------------------------------------------*/

struct tables {
	struct res_recording_info info;
	struct obs_probes probes, vip;
	struct obs_perf perf;
};

static void random_tables(struct tables *x, uint32_t n_dcs, size_t n,
    sim_ns duration_ns, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	*x = (struct tables){.info = recordings_info(n_dcs, duration_ns)};
	recordings_probes(&x->probes, &x->info, n, &r);
	recordings_vip_probes(&x->vip, &x->info, n / 7, &r);
	recordings_counters(&x->perf, &x->info, n / 9, &r);
}

static void free_tables(struct tables *x)
{
	obs_probes_free(&x->probes);
	obs_probes_free(&x->vip);
	obs_perf_free(&x->perf);
}

static int write_tables(const struct tables *x, const char *path,
    struct sim_err *e)
{
	return recordings_write(path, &x->info, &x->probes, &x->vip, &x->perf,
	    e);
}

/* The rows of ALL within [FROM, TO) are those of GOT, in order. */
static void assert_probes(const struct obs_probes *all, sim_ns from, sim_ns to,
    const struct obs_probes *got, uint32_t run)
{
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++) {
		if (all->sent_ns[i] < from || all->sent_ns[i] >= to)
			continue;
		const struct obs_probe a = obs_probes_at(all, i);
		if (n == got->n)
			fail_msg("seed %llu, run %u: row %zu is missing",
			    (unsigned long long)test_seed(), run, i);
		const struct obs_probe b = obs_probes_at(got, n++);
#define X(type, name, units, doc)                                              \
	if (a.name != b.name)                                                  \
		fail_msg("seed %llu, run %u: row %zu: another " #name,         \
		    (unsigned long long)test_seed(), run, i);
		OBS_PROBE_COLUMNS(X)
#undef X
	}
	assert_int_equal(n, got->n);
}

static void assert_counters(const struct obs_perf *all, sim_ns from, sim_ns to,
    const struct obs_perf *got)
{
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++) {
		if (all->end_ns[i] <= from || all->end_ns[i] > to)
			continue;
		assert_true(n < got->n);
		const struct obs_perf_row a = obs_perf_at(all, i),
					  b = obs_perf_at(got, n++);
#define X(type, name, units, doc) assert_true(a.name == b.name);
		OBS_PERF_COLUMNS(X)
#undef X
	}
	assert_int_equal(n, got->n);
}

static void assert_window(struct res_recording *r, const struct tables *x,
    sim_ns from, sim_ns to, uint32_t run)
{
	struct obs_probes probes = {0}, vip = {0};
	struct obs_perf perf = {0};
	assert_ok(res_recording_probes(r, from, to, &probes, test_err()));
	assert_ok(res_recording_vip_probes(r, from, to, &vip, test_err()));
	assert_ok(res_recording_counters(r, from, to, &perf, test_err()));
	assert_probes(&x->probes, from, to, &probes, run);
	assert_probes(&x->vip, from, to, &vip, run);
	assert_counters(&x->perf, from, to, &perf);
	assert_memory_equal(probes.syn_wait_ns, x->info.syn_wait_ns,
	    sizeof(probes.syn_wait_ns));
	obs_probes_free(&probes);
	obs_probes_free(&vip);
	obs_perf_free(&perf);
}

static void assert_info(const struct res_recording *r,
    const struct res_recording_info *want)
{
	const struct res_recording_info *got = res_recording_info(r);
	assert_string_equal(got->spec, want->spec);
	assert_string_equal(got->service, want->service);
	assert_string_equal(got->culprit, res_version());
	assert_int_equal(got->seed, want->seed);
	assert_int_equal(got->point, want->point);
	assert_int_equal(got->run, want->run);
	assert_int_equal(got->duration_ns, want->duration_ns);
	assert_int_equal(got->n_dcs, want->n_dcs);
	for (uint32_t i = 0; i < want->n_dcs; i++)
		assert_memory_equal(&got->dc[i], &want->dc[i],
		    sizeof(got->dc[i]));
}

/* --- there and back --------------------------------------------------------*/

static void what_is_written_is_read_back_by_time(void **state)
{
	(void)state;
	const char *path = test_path("a.h5");
	for (uint32_t run = 0; run < 40; run++) {
		struct tables x;
		struct res_recording *r;
		struct sim_rng rng;
		random_tables(&x, 1 + run % 2, run * 30 + 1, 700 * SIM_SEC,
		    run);
		assert_ok(write_tables(&x, path, test_err()));
		assert_ok(res_recording_open(&r, path, test_err()));
		assert_info(r, &x.info);
		assert_int_equal(res_recording_n_probes(r), x.probes.n);
		assert_window(r, &x, 0, SIM_NEVER, run);
		test_rng(&rng, run + 1000);
		for (int i = 0; i < 10; i++) {
			const sim_ns from = sim_rng_below(&rng, 800) * SIM_SEC;
			const sim_ns to =
			    from + sim_rng_below(&rng, 300) * SIM_SEC;
			assert_window(r, &x, from, to, run);
		}
		res_recording_close(r);
		free_tables(&x);
	}
}

/* Several chunks, whose times overlap. */
static void windows_of_many_chunks_are_whole(void **state)
{
	(void)state;
	const char *path = test_path("many.h5");
	const sim_ns hour = 3600 * SIM_SEC;
	struct tables x;
	struct res_recording *r;
	random_tables(&x, 2, 3 * RES_RECORDING_CHUNK + 17, hour, 1);
	assert_ok(write_tables(&x, path, test_err()));
	assert_ok(res_recording_open(&r, path, test_err()));
	assert_window(r, &x, 0, hour, 0);
	for (uint32_t i = 0; i < 12; i++)
		assert_window(r, &x, i * 300 * SIM_SEC, (i + 1) * 300 * SIM_SEC,
		    i);
	/* Borders belong to the window that they begin. */
	for (uint32_t i = 1; i <= 4; i++) {
		const size_t row = i * RES_RECORDING_CHUNK - (i == 4) * 70000;
		const sim_ns at = x.probes.sent_ns[row - 1];
		assert_window(r, &x, at, at + 1, i);
		assert_window(r, &x, 0, at, i);
	}
	assert_window(r, &x, hour, 2 * hour, 0);
	assert_window(r, &x, hour, 0, 0);
	res_recording_close(r);
	free_tables(&x);
}

static void an_empty_recording_has_no_rows(void **state)
{
	(void)state;
	const char *path = test_path("none.h5");
	struct tables x = {.info = recordings_info(2, SIM_SEC)};
	struct res_recording *r;
	x.info.spec = x.info.service = NULL;
	assert_ok(write_tables(&x, path, test_err()));
	assert_ok(res_recording_open(&r, path, test_err()));
	assert_string_equal(res_recording_info(r)->spec, "");
	assert_window(r, &x, 0, SIM_NEVER, 0);
	assert_int_equal(res_recording_n_probes(r), 0);
	res_recording_close(r);
}

/* Fresh memory is filled with another byte each time, so that a byte nobody
 * wrote would show. */
static void equal_rows_give_equal_bytes_however_batched(void **state)
{
	(void)state;
	const char *a = test_path("a.h5"), *b = test_path("b.h5");
	struct tables x;
	struct res_recorder *w;
	random_tables(&x, 2, RES_RECORDING_CHUNK + 999, 600 * SIM_SEC, 3);
	mallopt(M_PERTURB, 0x5a);
	assert_ok(write_tables(&x, a, test_err()));
	mallopt(M_PERTURB, 0xc3);
	assert_ok(res_recorder_open(&w, b, &x.info, test_err()));
	for (size_t i = 0, k; i < x.probes.n; i += k) {
		k = x.probes.n - i < 7001 ? x.probes.n - i : 7001;
		struct obs_probes part = x.probes;
#define X(type, name, units, doc) part.name += i;
		OBS_PROBE_COLUMNS(X)
#undef X
		part.n = k;
		assert_ok(res_recorder_probes(w, &part, test_err()));
	}
	assert_ok(res_recorder_counters(w, &x.perf, test_err()));
	assert_ok(res_recorder_vip_probes(w, &x.vip, test_err()));
	assert_ok(res_recorder_covers(w, 0, 300 * SIM_SEC, test_err()));
	assert_ok(
	    res_recorder_covers(w, 300 * SIM_SEC, 600 * SIM_SEC, test_err()));
	assert_ok(res_recorder_finish(w, test_err()));
	mallopt(M_PERTURB, 0);
	test_assert_same_bytes(a, b);
	free_tables(&x);
}

/* --- coverage --------------------------------------------------------------*/

static void coverage_is_counted_by_hand(void **state)
{
	(void)state;
	const char *path = test_path("cover.h5");
	const struct res_recording_info info = recordings_info(1, 100);
	struct res_recorder *w;
	struct res_recording *r;
	struct sim_err e;
	assert_ok(res_recorder_open(&w, path, &info, test_err()));
	assert_ok(res_recorder_covers(w, 10, 20, test_err()));
	assert_ok(res_recorder_covers(w, 20, 30, test_err()));
	assert_ok(res_recorder_covers(w, 50, 60, test_err()));
	assert_int_equal(res_recorder_covers(w, 70, 70, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "empty"));
	assert_int_equal(res_recorder_covers(w, 59, 70, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "ends later"));
	assert_ok(res_recorder_finish(w, test_err()));
	assert_ok(res_recording_open(&r, path, test_err()));
	assert_int_equal(res_recording_covered(r, 0, 100), 30);
	assert_int_equal(res_recording_covered(r, 0, SIM_NEVER), 30);
	assert_int_equal(res_recording_covered(r, 15, 55), 20);
	assert_int_equal(res_recording_covered(r, 30, 50), 0);
	assert_int_equal(res_recording_covered(r, 29, 51), 2);
	assert_int_equal(res_recording_covered(r, 60, 10), 0);
	res_recording_close(r);
}

/* --- what may not be written -----------------------------------------------*/

static void rows_that_no_reader_would_take_are_refused(void **state)
{
	(void)state;
	const char *path = test_path("never.h5");
	const struct res_recording_info info = recordings_info(2, SIM_SEC);
	/* 24 hosts and 12. */
	const struct obs_probe good = {.rtt_ns = 1,
	    .dst_host = 1,
	    .level = OBS_LEVEL_TOR};
	struct obs_probe bad[5] = {good, good, good, good, good};
	static const char *const words[] = {"host 36", "another data centre",
	    "host 36", "level 9", "no VIP"};
	bad[0].src_host = 36;
	bad[1].dst_host = 24;
	bad[2].dst_host = 36;
	bad[2].level = OBS_LEVEL_INTER_DC;
	bad[3].level = 9;
	for (size_t i = 0; i < 5; i++) {
		struct obs_probes t = {0};
		struct res_recorder *w;
		struct sim_err e = {0};
		assert_ok(obs_probes_add(&t, &good, test_err()));
		assert_ok(obs_probes_add(&t, &bad[i], test_err()));
		assert_ok(res_recorder_open(&w, path, &info, test_err()));
		assert_int_equal(i == 4 ? res_recorder_vip_probes(w, &t, &e)
					: res_recorder_probes(w, &t, &e),
		    SIM_EINVAL);
		if (!strstr(e.msg, words[i]) || !strstr(e.msg, path))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, words[i]);
		assert_int_equal(res_recorder_finish(w, &e), SIM_EIO);
		assert_int_not_equal(access(path, F_OK), 0);
		obs_probes_free(&t);
	}
	struct obs_perf perf = {0};
	const struct obs_perf_row row = {.host = 36};
	struct res_recorder *w;
	assert_ok(obs_perf_add(&perf, &row, test_err()));
	assert_ok(res_recorder_open(&w, path, &info, test_err()));
	assert_int_equal(res_recorder_counters(w, &perf, NULL), SIM_EINVAL);
	res_recorder_discard(w);
	obs_perf_free(&perf);
}

static void shapes_that_are_none_are_refused(void **state)
{
	(void)state;
	const char *path = test_path("never.h5");
	struct res_recorder *w;
	struct res_recording_info info = recordings_info(2, SIM_SEC);
	info.dc[1].clos.n_hosts = 0;
	assert_true(res_recorder_open(&w, path, &info, NULL) < 0);
	info.n_dcs = 0;
	assert_int_equal(res_recorder_open(&w, path, &info, NULL), SIM_EINVAL);
	info.n_dcs = 17;
	assert_int_equal(res_recorder_open(&w, path, &info, NULL), SIM_EINVAL);
	info = recordings_info(1, SIM_SEC);
	info.n_dcs = 3;
	info.dc[0].clos = info.dc[1].clos = info.dc[2].clos =
	    (struct topo_clos){100, 10, 1, 1, 6000, .n_cables = 0};
	assert_int_equal(res_recorder_open(&w, path, &info, NULL), SIM_EINVAL);
	assert_int_equal(res_recorder_open(&w, test_path("no/where.h5"),
			     (info = recordings_info(1, SIM_SEC), &info),
			     test_err()),
	    SIM_EIO);
	assert_non_null(strstr(test_err()->msg, "No such file"));
}

/* --- interruptions ---------------------------------------------------------*/

static void a_discarded_recording_leaves_the_old_one(void **state)
{
	(void)state;
	const char *path = test_path("old.h5");
	struct tables x;
	struct res_recording *r;
	struct res_recorder *w;
	random_tables(&x, 1, 100, SIM_SEC, 0);
	assert_ok(write_tables(&x, path, test_err()));
	assert_ok(res_recorder_open(&w, path, &x.info, test_err()));
	assert_ok(res_recorder_probes(w, &x.probes, test_err()));
	res_recorder_discard(w);
	res_recorder_discard(NULL);
	assert_only_file("old.h5");
	assert_ok(res_recording_open(&r, path, test_err()));
	assert_window(r, &x, 0, SIM_NEVER, 0);
	res_recording_close(r);
	free_tables(&x);
}

static void a_killed_recorder_leaves_nothing_under_the_name(void **state)
{
	(void)state;
	const char *path = test_path("killed.h5");
	struct tables x;
	int status;
	random_tables(&x, 1, 2 * RES_RECORDING_CHUNK, SIM_SEC, 0);
	const pid_t child = fork();
	if (child == 0) {
		struct res_recorder *w;
		if (res_recorder_open(&w, path, &x.info, NULL) == 0 &&
		    res_recorder_probes(w, &x.probes, NULL) == 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_not_equal(access(path, F_OK), 0);
	free_tables(&x);
}

/* In a mount namespace of its own: 0 good, 77 no right to mount, else what
 * went wrong. The recording that was there must stay, no other may appear, and
 * HDF5 must still be able to write. */
static int fill_a_disk(const struct tables *small, const struct tables *large)
{
	struct sim_err e = {0};
	struct res_recording *r;
	const char *path = test_path("disk/x.h5");
	char command[128];
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(test_path("disk"), 0700) < 0 ||
	    mount("none", test_path("disk"), "tmpfs", 0, "size=4m") < 0)
		return 77;
	if (write_tables(small, path, &e) < 0)
		return 1;
	for (int i = 0; i < 3; i++) {
		if (write_tables(large, path, &e) != SIM_EIO)
			return 2;
		if (!strstr(e.msg, "No space left") || !strstr(e.msg, path)) {
			print_message("%s\n", e.msg);
			return 3;
		}
	}
	if (res_recording_open(&r, path, &e) < 0 ||
	    res_recording_n_probes(r) != small->probes.n)
		return 4;
	res_recording_close(r);
	if (write_tables(small, path, &e) < 0)
		return 5;
	snprintf(command, sizeof(command), "test \"$(ls %s)\" = x.h5",
	    test_path("disk"));
	return system(command) == 0 ? 0 : 6;
}

static void a_full_disk_leaves_the_old_recording_and_no_other(void **state)
{
	(void)state;
	struct tables small, large;
	int status;
	random_tables(&small, 1, 100, SIM_SEC, 0);
	random_tables(&large, 1, 5 * RES_RECORDING_CHUNK, 600 * SIM_SEC, 0);
	const pid_t child = fork();
	if (child == 0)
		exit(fill_a_disk(&small, &large)); /* with HDF5's own exit */
	assert_int_equal(waitpid(child, &status, 0), child);
	free_tables(&small);
	free_tables(&large);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: may not mount a small disk\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- damage ----------------------------------------------------------------*/

static void assert_refused(const char *path, int code, const char *word)
{
	struct res_recording *r;
	struct sim_err e = {0};
	const int rc = res_recording_open(&r, path, &e);
	if (rc != code || !strstr(e.msg, word) || !strstr(e.msg, path))
		fail_msg("%s (%s), wanted %s with \"%s\"", sim_err_text(rc),
		    e.msg, sim_err_text(code), word);
}

/* One changed word is never missed; several are with probability 2^-64. */
static void every_mutation_is_refused(void **state)
{
	(void)state;
	const char *path = test_path("bad.h5");
	struct tables x;
	unsigned char *bytes;
	size_t n;
	random_tables(&x, 2, 300, 600 * SIM_SEC, 0);
	assert_ok(write_tables(&x, path, test_err()));
	assert_ok(res_file_read(path, (void **)&bytes, &n, test_err()));
	unsigned char *bad = malloc(n);
	for (uint32_t run = 0; run < 400; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		size_t length = n;
		memcpy(bad, bytes, n);
		if (run % 3 == 0)
			length = run % 2 ? n * run / 400 : n - 1 - run % 40;
		else
			for (uint32_t i = 0; i <= run % 3; i++)
				bad[sim_rng_below(&r, (uint32_t)n)] ^= 1
				    << sim_rng_below(&r, 8);
		if (length == n && memcmp(bad, bytes, n) == 0)
			continue;
		h5_edit_put(path, bad, length);
		assert_refused(path, SIM_EPARSE, "it");
	}
	free(bad);
	free(bytes);
	free_tables(&x);
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
	/* Sealed, yet no HDF5. */
	char *temp;
	int fd;
	assert_ok(res_file_temp(&temp, &fd, path, test_err()));
	assert_ok(res_seal_finish(temp, fd, path, test_err()));
	close(fd);
	free(temp);
	assert_refused(path, SIM_EPARSE, "HDF5 cannot open");
}

/* Write a good file, and open it for the test to spoil. It is recorded once:
 * syncing takes longer than all the rest. */
static hid_t good_file(const char *path)
{
	static unsigned char bytes[1 << 18];
	static size_t n;
	if (n == 0) {
		struct tables x;
		void *read;
		random_tables(&x, 2, 300, 600 * SIM_SEC, 0);
		assert_ok(write_tables(&x, path, test_err()));
		free_tables(&x);
		assert_ok(res_file_read(path, &read, &n, test_err()));
		assert_true(n < sizeof(bytes));
		memcpy(bytes, read, n);
		free(read);
	}
	h5_edit_put(path, bytes, n);
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(file >= 0);
	return file;
}

static void an_edited_file_is_refused(void **state)
{
	(void)state;
	const char *path = test_path("edited.h5");
	hid_t file = good_file(path);
	assert_true(H5Adelete(file, "spec") >= 0);
	H5Fclose(file);
	assert_refused(path, SIM_EPARSE, "edited");
}

static void each_missing_or_odd_attribute_is_named(void **state)
{
	(void)state;
	static const char *const names[] = {"recording_version", "spec",
	    "service", "culprit", "seed", "point", "run", "duration_ns",
	    "syn_wait_ns", "n_dcs", "shapes"};
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
			h5_edit_seal(file, path);
			assert_refused(path, SIM_EPARSE, names[i]);
		}
}

/* Without it; of another length; of another type; with no end. */
static void each_missing_or_odd_column_is_refused(void **state)
{
	(void)state;
	static const char *const names[] = {"probes/sent_ns", "probes/class",
	    "vip_probes/rtt_ns", "counters/host", "probes_index/last_ns",
	    "coverage/to_ns"};
	const char *path = test_path("odd.h5");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (unsigned how = 0; how < 3; how++) {
			hid_t file = good_file(path);
			hid_t set = H5Dopen2(file, names[i], H5P_DEFAULT);
			hid_t type = H5Dget_type(set);
			H5Dclose(set);
			assert_true(
			    H5Ldelete(file, names[i], H5P_DEFAULT) >= 0);
			if (how == 1)
				h5_edit_column(file, names[i], type, 299);
			if (how == 2)
				h5_edit_column(file, names[i], H5T_IEEE_F32LE,
				    1);
			H5Tclose(type);
			h5_edit_seal(file, path);
			assert_refused(path, SIM_EPARSE, "column ");
		}
	hid_t file = good_file(path);
	assert_true(H5Ldelete(file, "counters", H5P_DEFAULT) >= 0);
	h5_edit_seal(file, path);
	assert_refused(path, SIM_EPARSE, "table counters is missing");
}

static void values_that_cannot_be_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned i;
		uint64_t value;
		int code;
		const char *word;
	} attr[] = {
	    {"recording_version", 0, 99, SIM_EMISMATCH, "version 99"},
	    {"n_dcs", 0, 0, SIM_EPARSE, "0 data centres"},
	    {"n_dcs", 0, 17, SIM_EPARSE, "17 data centres"},
	    {"n_dcs", 0, 1, SIM_EPARSE, "shapes"},
	    {"n_dcs", 0, UINT64_MAX, SIM_EPARSE, "too large"},
	    {"shapes", 0, 0, SIM_EPARSE, "data centre 0"},
	    {"shapes", 7, UINT64_C(1) << 40, SIM_EPARSE, "too large"},
	    {"point", 0, UINT64_C(1) << 32, SIM_EPARSE, "point 4294967296"},
	};
	const char *path = test_path("odd.h5");
	for (size_t i = 0; i < sizeof(attr) / sizeof(attr[0]); i++) {
		hid_t file = good_file(path);
		h5_edit_count(file, attr[i].name, attr[i].i, attr[i].value);
		h5_edit_seal(file, path);
		assert_refused(path, attr[i].code, attr[i].word);
	}
	hid_t file = good_file(path);
	h5_edit_cell(file, "coverage/from_ns", 0, UINT64_MAX);
	h5_edit_seal(file, path);
	assert_refused(path, SIM_EPARSE, "coverage");
}

static void rows_that_cannot_be_are_refused_when_read(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint64_t value;
		const char *word;
	} cell[] = {
	    {"probes/src_host", 36, "host 36"},
	    {"probes/level", 0, "level 0"},
	    {"vip_probes/dst_host", 3, "no VIP"},
	    {"counters/host", 36, "host 36"},
	};
	const char *path = test_path("odd.h5");
	for (size_t i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
		struct obs_probes t = {0};
		struct obs_perf perf = {0};
		struct res_recording *r;
		struct sim_err e = {0};
		hid_t file = good_file(path);
		h5_edit_cell(file, cell[i].name, 11, cell[i].value);
		h5_edit_seal(file, path);
		assert_ok(res_recording_open(&r, path, test_err()));
		int rc = res_recording_probes(r, 0, SIM_NEVER, &t, &e);
		if (rc == 0)
			rc = res_recording_vip_probes(r, 0, SIM_NEVER, &t, &e);
		if (rc == 0)
			rc = res_recording_counters(r, 0, SIM_NEVER, &perf, &e);
		assert_int_equal(rc, SIM_EPARSE);
		if (!strstr(e.msg, cell[i].word) || !strstr(e.msg, path))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, cell[i].word);
		res_recording_close(r);
		obs_probes_free(&t);
		obs_perf_free(&perf);
	}
}

/* Bytes of a chunk that no longer unpack. */
static void a_rotten_chunk_is_refused_when_read(void **state)
{
	(void)state;
	const char *path = test_path("rot.h5");
	for (int i = 0; i < 16; i++) {
		struct obs_probes t = {0};
		struct res_recording *r;
		hsize_t offset[1], bytes;
		haddr_t at;
		unsigned filters;
		hid_t file = good_file(path);
		hid_t set = H5Dopen2(file, "probes/src_port", H5P_DEFAULT);
		hid_t space = H5Dget_space(set);
		assert_true(H5Dget_chunk_info(set, space, 0, offset, &filters,
				&at, &bytes) >= 0);
		H5Sclose(space);
		H5Dclose(set);
		assert_true(H5Fclose(file) >= 0);
		FILE *f = fopen(path, "r+b");
		assert_int_equal(fseek(f, (long)(at + bytes * (hsize_t)i / 16),
				     SEEK_SET),
		    0);
		assert_true(fwrite("\xa5\x5a\xff\x00\x77", 1, 5, f) == 5);
		assert_int_equal(fclose(f), 0);
		h5_edit_seal(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), path);
		assert_ok(res_recording_open(&r, path, test_err()));
		assert_int_equal(res_recording_probes(r, 0, SIM_NEVER, &t,
				     test_err()),
		    SIM_EPARSE);
		assert_non_null(strstr(test_err()->msg, "src_port"));
		res_recording_close(r);
		obs_probes_free(&t);
	}
}

/* --- resources -------------------------------------------------------------*/

static int write_one(void *tables, struct sim_err *e)
{
	return write_tables(tables, test_path("alloc.h5"), e);
}

static int read_one(void *arg, struct sim_err *e)
{
	(void)arg;
	struct res_recording *r;
	struct obs_probes t = {0};
	struct obs_perf perf = {0};
	int rc = res_recording_open(&r, test_path("alloc.h5"), e);
	if (rc < 0)
		return rc;
	if ((rc = res_recording_probes(r, 0, SIM_NEVER, &t, e)) == 0 &&
	    (rc = res_recording_vip_probes(r, 0, SIM_NEVER, &t, e)) == 0)
		rc = res_recording_counters(r, 0, SIM_NEVER, &perf, e);
	res_recording_close(r);
	obs_probes_free(&t);
	obs_perf_free(&perf);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct tables x;
	random_tables(&x, 2, 50, SIM_SEC, 0);
	test_each_alloc_fails(write_one, &x);
	test_each_alloc_fails(read_one, NULL);
	assert_only_file("alloc.h5");
	free_tables(&x);
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
	hid_t file = good_file(test_path("times.h5"));
	assert_true(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, has_no_time,
			&n, H5O_INFO_TIME) >= 0);
	H5Fclose(file);
	assert_true(n > 40);
}

static void other_programs_read_it(void **state)
{
	(void)state;
	const char *path = test_path("plain.h5");
	char command[256];
	H5Fclose(good_file(path));
	if (system("command -v h5dump >/dev/null") == 0) {
		snprintf(command, sizeof(command), "h5dump %s >/dev/null",
		    path);
		assert_int_equal(system(command), 0);
	} else {
		print_message("without h5dump: hdf5-tools is missing\n");
	}
	snprintf(command, sizeof(command),
	    "/usr/bin/python3 tests/cli/recording_readers.py %s", path);
	const int status = system(command);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: a module of python3 is missing\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read_back_by_time),
	    cmocka_unit_test(windows_of_many_chunks_are_whole),
	    cmocka_unit_test(an_empty_recording_has_no_rows),
	    cmocka_unit_test(equal_rows_give_equal_bytes_however_batched),
	    cmocka_unit_test(coverage_is_counted_by_hand),
	    cmocka_unit_test(rows_that_no_reader_would_take_are_refused),
	    cmocka_unit_test(shapes_that_are_none_are_refused),
	    cmocka_unit_test(a_discarded_recording_leaves_the_old_one),
	    cmocka_unit_test(a_killed_recorder_leaves_nothing_under_the_name),
	    cmocka_unit_test(a_full_disk_leaves_the_old_recording_and_no_other),
	    cmocka_unit_test(every_mutation_is_refused),
	    cmocka_unit_test(other_files_are_refused),
	    cmocka_unit_test(an_edited_file_is_refused),
	    cmocka_unit_test(each_missing_or_odd_attribute_is_named),
	    cmocka_unit_test(each_missing_or_odd_column_is_refused),
	    cmocka_unit_test(values_that_cannot_be_are_refused),
	    cmocka_unit_test(rows_that_cannot_be_are_refused_when_read),
	    cmocka_unit_test(a_rotten_chunk_is_refused_when_read),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	    cmocka_unit_test(no_object_has_a_time),
	    cmocka_unit_test(other_programs_read_it),
	};
	return cmocka_run_group_tests_name("results/recording", tests,
	    test_folder_make, test_folder_remove);
}
