/* tests/results/sample_store_test.c -- a host's samples on disk, whatever happens.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sample_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/deflate.h"
#include "results/samples.h"
#include "sim/rng.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

#define BEGIN (UINT64_C(1770000000) * SIM_SEC)
#define HOUR  (3600 * SIM_SEC)

static const struct res_store_params store_params = {.host = {"host7",
							 UINT32_MAX},
    .max_bytes = UINT64_C(1) << 30,
    .max_age = 72 * HOUR};

/* Of a drawn run. */
static uint32_t most_buckets = 2000;

/* A run of which all is drawn; some are quiet, some full to the last bit. */
static void draw_run(uint32_t seed, sim_ns start, struct obs_run *run,
    struct obs_samples *t)
{
	struct sim_rng rng;
	test_rng(&rng, seed);
	const uint32_t odds = sim_rng_below(&rng, 4);
	*run = (struct obs_run){.start_ns = start,
	    .width_ns = 100 * SIM_US,
	    .line_bps = 1 + sim_rng_below(&rng, 100000),
	    .n_buckets = 1 + sim_rng_below(&rng, most_buckets),
	    .n_missed = sim_rng_below(&rng, 3)};
	obs_samples_clear(t);
	for (uint32_t b = 0; b < run->n_buckets; b++) {
		const uint32_t most =
		    sim_rng_below(&rng, 9) ? 1000000 : UINT32_MAX;
		struct obs_sample s = {.bucket = b,
		    .in_bytes = sim_rng_below(&rng, most),
		    .out_bytes = sim_rng_below(&rng, most),
		    .conns = sim_rng_below(&rng, 600),
		    .sketch_lo = sim_rng_below(&rng, UINT32_MAX),
		    .sketch_hi = (uint64_t)sim_rng_below(&rng, 9) << 60};
		if (odds == 0 || (odds == 1 && sim_rng_below(&rng, 5)))
			continue;
		s.in_ce = sim_rng_below(&rng, s.in_bytes + 1);
		s.in_retx = s.in_bytes;
		s.out_cross = s.out_bytes / 3;
		assert_ok(obs_samples_add(t, &s, test_err()));
	}
}

static void assert_same_rows(const struct obs_samples *a,
    const struct obs_samples *b, uint32_t run)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		struct obs_sample x = obs_samples_at(a, i);
		const struct obs_sample y = obs_samples_at(b, i);
		x.run = run;
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

/* By columns, as a struct has bytes between them that say nothing. */
static void assert_same_run(struct obs_run a, struct obs_run b)
{
#define X(type, name, unit, doc) assert_int_equal(a.name, b.name);
	OBS_RUN_COLUMNS(X)
#undef X
}

static struct res_store *open_at(const char *dir,
    const struct res_store_params *p)
{
	struct res_store *s;
	assert_ok(res_store_open(&s, dir, p, test_err()));
	return s;
}

static void put_at(struct res_store *s, uint32_t seed, sim_ns start)
{
	static struct obs_samples t;
	struct obs_run run;
	draw_run(seed, start, &run, &t);
	assert_ok(res_store_put(s, &run, 2, &t, test_err()));
}

/* The folder has runs FIRST to FIRST + N, as put_at() made them at BEGIN +
 * seed * STEP. */
static void assert_read(const char *dir, uint32_t first, uint32_t n,
    sim_ns step)
{
	struct obs_samples want = {0}, got = {0};
	struct res_samples *r;
	assert_ok(res_samples_open(&r, dir, test_err()));
	assert_int_equal(res_samples_runs(r)->n, n);
	for (uint32_t i = 0; i < n; i++) {
		struct obs_run run;
		const struct obs_run is = obs_runs_at(res_samples_runs(r), i);
		draw_run(first + i, BEGIN + (first + i) * step, &run, &want);
		assert_same_run(run, is);
		assert_ok(res_samples_load(r, i, 1, &got, test_err()));
		assert_same_rows(&want, &got, i);
	}
	res_samples_close(r);
	obs_samples_free(&want);
	obs_samples_free(&got);
}

/* The oldest of N files of a folder, as bytes. */
static size_t read_oldest(const char *dir, int n_files, char name[64],
    unsigned char **bytes)
{
	struct dirent **found;
	size_t n;
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(res_segments_list(fd, &res_store_kind, &found),
	    n_files);
	snprintf(name, 64, "%.63s", found[0]->d_name);
	assert_ok(res_store_read(fd, dir, name, bytes, &n, test_err()));
	for (int i = 0; i < n_files; i++)
		free(found[i]);
	free(found);
	close(fd);
	return n;
}

static size_t read_only(const char *dir, char name[64], unsigned char **bytes)
{
	return read_oldest(dir, 1, name, bytes);
}

static void write_only(const char *dir, const char *name,
    const unsigned char *bytes, size_t n)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* --- tests ---------------------------------------------------------------- */

static void what_is_put_is_read(void **state)
{
	(void)state;
	enum { N = 40 };
	struct res_store_params p = store_params;
	for (p.plain = 0; p.plain < 2; p.plain++) {
		const char *dir = test_path(p.plain ? "plain" : "packed");
		struct res_store *s = open_at(dir, &p);
		for (uint32_t i = 0; i < N / 2; i++)
			put_at(s, i, BEGIN + i * SIM_SEC);
		assert_read(dir, 0, N / 2, SIM_SEC); /* beside its writer */
		assert_ok(res_store_close(s, test_err()));
		s = open_at(dir, &p);
		assert_int_equal(res_store_held(s).n_runs, N / 2);
		for (uint32_t i = N / 2; i < N; i++)
			put_at(s, i, BEGIN + i * SIM_SEC);
		assert_ok(res_store_close(s, test_err()));
		assert_read(dir, 0, N, SIM_SEC);
	}
}

/* By zlib a run of a busy host takes a fraction; without it, its numbers. */
static void packed_runs_are_smaller(void **state)
{
	(void)state;
	unsigned char a[RES_RECORD_MAX], scratch[RES_RECORD_RAW_MAX];
	struct obs_samples t = {0};
	struct obs_run run = {.start_ns = BEGIN,
	    .width_ns = SIM_MS,
	    .line_bps = 1,
	    .n_buckets = 2000};
	size_t packed, plain;
	for (uint32_t b = 0; b < 2000; b++)
		assert_ok(obs_samples_add(&t,
		    &(struct obs_sample){.bucket = b,
			.in_bytes = b % 50 < 20 ? 1500000 + b % 7 * 1500 : 3000,
			.conns = 8,
			.sketch_lo = UINT64_C(0x8000100004000021)},
		    test_err()));
	assert_ok(res_record_put(a, &packed, &run, 1, &t, scratch, test_err()));
	assert_ok(res_record_put(a, &plain, &run, 1, &t, NULL, test_err()));
	if (res_deflate(scratch, 100, scratch + 100, 1) == 0)
		assert_int_equal(packed, plain);
	else
		assert_true(packed * 8 < plain);
	obs_samples_free(&t);
}

/* Cut anywhere, what is whole before is there, and it is gone on behind it. */
static void a_torn_end_is_dropped(void **state)
{
	(void)state;
	enum { N = 4 };
	unsigned char *bytes;
	size_t end[N + 1] = {RES_RECORD_FILE_BYTES};
	char name[64];
	const char *dir = test_path("torn");
	most_buckets = 12;
	struct res_store *s = open_at(dir, &store_params);
	for (uint32_t i = 0; i < N; i++) {
		put_at(s, i, BEGIN + i * SIM_SEC);
		end[i + 1] = (size_t)res_store_held(s).n_bytes;
	}
	assert_ok(res_store_close(s, test_err()));
	const size_t n = read_only(dir, name, &bytes);
	assert_int_equal(n, end[N]);
	for (size_t cut = 0; cut < n; cut++) {
		uint32_t whole = 0;
		while (whole < N && end[whole + 1] <= cut)
			whole++;
		write_only(dir, name, bytes, cut);
		assert_read(dir, 0, whole, SIM_SEC);
		s = open_at(dir, &store_params);
		assert_int_equal(res_store_held(s).n_runs, whole);
		assert_int_equal(res_store_held(s).n_damaged, 0);
		assert_int_equal(res_store_held(s).n_bytes_cut,
		    cut < RES_RECORD_FILE_BYTES ? cut : cut - end[whole]);
		put_at(s, whole, BEGIN + whole * SIM_SEC);
		assert_int_equal(res_store_held(s).n_files, 1);
		assert_ok(res_store_close(s, test_err()));
		assert_read(dir, 0, whole + 1, SIM_SEC);
	}
	most_buckets = 2000;
	free(bytes);
}

/* A byte that is changed costs its own run at most, and no other run is read. */
static void damage_costs_one_run_and_is_told(void **state)
{
	(void)state;
	enum { N = 5, TRIALS = 150 };
	struct obs_samples want = {0}, got = {0};
	struct sim_rng rng;
	unsigned char *bytes;
	char name[64];
	const char *dir = test_path("damaged");
	struct res_store *s = open_at(dir, &store_params);
	for (uint32_t i = 0; i < N; i++)
		put_at(s, i, BEGIN + i * SIM_SEC);
	assert_ok(res_store_close(s, test_err()));
	const size_t n = read_only(dir, name, &bytes);
	test_rng(&rng, 99);
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		const size_t at = RES_RECORD_FILE_BYTES +
		    sim_rng_below(&rng, (uint32_t)n - RES_RECORD_FILE_BYTES);
		const unsigned char was = bytes[at];
		struct res_samples *r;
		bytes[at] ^= (unsigned char)(1 + sim_rng_below(&rng, 255));
		write_only(dir, name, bytes, n);
		bytes[at] = was;
		assert_ok(res_samples_open(&r, dir, test_err()));
		assert_int_equal(res_samples_runs(r)->n, N - 1);
		assert_non_null(strstr(res_samples_said(r), name));
		for (uint32_t i = 0; i < N - 1; i++) {
			struct obs_run run;
			const struct obs_run is =
			    obs_runs_at(res_samples_runs(r), i);
			draw_run((uint32_t)((is.start_ns - BEGIN) / SIM_SEC),
			    is.start_ns, &run, &want);
			assert_same_run(run, is);
			assert_ok(res_samples_load(r, i, 1, &got, test_err()));
			assert_same_rows(&want, &got, i);
		}
		res_samples_close(r);
	}
	/* Such a file is kept as it is, and another one is begun. */
	s = open_at(dir, &store_params);
	assert_int_equal(res_store_held(s).n_damaged, 1);
	put_at(s, N, BEGIN + N * SIM_SEC);
	assert_int_equal(res_store_held(s).n_files, 2);
	assert_ok(res_store_close(s, test_err()));
	free(bytes);
	obs_samples_free(&want);
	obs_samples_free(&got);
}

static uint64_t folder_bytes(const char *dir, unsigned *n_files)
{
	uint64_t sum = 0;
	struct dirent **found;
	struct stat st;
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);
	const int n = res_segments_list(fd, &res_store_kind, &found);
	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		assert_int_equal(fstatat(fd, found[i]->d_name, &st, 0), 0);
		sum += (uint64_t)st.st_size;
		free(found[i]);
	}
	free(found);
	close(fd);
	*n_files = (unsigned)n;
	return sum;
}

/* After each run: never above the bound, what is there is the newest without a
 * gap, and not less than 14 parts of 16 once it is full. */
static void bytes_are_bounded(void **state)
{
	(void)state;
	enum { N = 300 };
	struct res_store_params p = store_params;
	const char *dir = test_path("bytes");
	unsigned n_files;
	p.max_bytes = RES_STORE_LEAST;
	struct res_store *s = open_at(dir, &p);
	for (uint32_t i = 0; i < N; i++) {
		put_at(s, i, BEGIN + i * SIM_SEC);
		const struct res_store_held h = res_store_held(s);
		const uint64_t bytes = folder_bytes(dir, &n_files);
		assert_int_equal(bytes, h.n_bytes);
		assert_int_equal(n_files, h.n_files);
		assert_true(bytes <= p.max_bytes);
		assert_true(
		    h.n_files_expired == 0 || bytes >= p.max_bytes / 16 * 13);
		if (i % 37 == 0 || i + 1 == N)
			assert_read(dir, (uint32_t)(i + 1 - h.n_runs),
			    (uint32_t)h.n_runs, SIM_SEC);
	}
	assert_true(res_store_held(s).n_files_expired > 0);
	assert_ok(res_store_close(s, test_err()));
}

/* A run every 10 minutes, kept for 16 h: a file is of 7 runs, as an hour is not
 * more than a 16th, and goes when its last run is older than 16 h, which is with
 * the run 97 later. So 97 to 103 runs are there, by plain counting. */
static void age_is_bounded(void **state)
{
	(void)state;
	enum { N = 500, FILE = 7, OLD = 96 };
	struct res_store_params p = store_params;
	const char *dir = test_path("age");
	p.max_age = 16 * HOUR;
	struct res_store *s = open_at(dir, &p);
	uint32_t first = 0, began[N], n_began = 0, at = 0;
	int64_t day = -1;
	for (uint32_t i = 0; i < N; i++) {
		const sim_ns now = BEGIN + i * HOUR / 6;
		if (n_began == 0 || i - began[n_began - 1] >= FILE ||
		    (int64_t)(now / SIM_SEC / 86400) != day) {
			day = (int64_t)(now / SIM_SEC / 86400);
			began[n_began++] = i;
		}
		if (at + 1 < n_began && began[at + 1] - 1 + OLD < i)
			first = began[++at];
		put_at(s, i, now);
		assert_int_equal(res_store_held(s).n_runs, i + 1 - first);
	}
	assert_true(first > N - 110 && first < N - 90);
	assert_ok(res_store_close(s, test_err()));
	assert_read(dir, first, N - first, HOUR / 6);
}

/* A clock that is 100 years ahead for one run costs a file, and no more. */
static void a_wrong_clock_costs_little(void **state)
{
	(void)state;
	struct res_store_params p = store_params;
	const char *dir = test_path("clock");
	p.max_age = 16 * HOUR;
	struct res_store *s = open_at(dir, &p);
	for (uint32_t i = 0; i < 90; i++)
		put_at(s, i, BEGIN + i * HOUR / 6);
	put_at(s, 1, BEGIN + 876000 * HOUR);
	assert_int_equal(res_store_held(s).n_files_expired, 1);
	for (uint32_t i = 90; i < 93; i++)
		put_at(s, i, BEGIN + i * HOUR / 6);
	put_at(s, 1, 0); /* or behind */
	assert_int_equal(res_store_held(s).n_files_expired, 1);
	assert_ok(res_store_close(s, test_err()));
}

/* A writer that takes away as much as it appends, and a reader that does not
 * wait for it: what is read is right and without a gap, or has gone since. */
static void a_reader_needs_no_turn(void **state)
{
	(void)state;
	enum { N = 400 };
	struct res_store_params p = store_params;
	struct obs_samples want = {0}, got = {0};
	struct res_samples *r;
	struct obs_run run;
	char dir[256];
	int status = 0, n_read = 0;
	snprintf(dir, sizeof(dir), "%s", test_path("both"));
	p.max_bytes = RES_STORE_LEAST;
	struct res_store *s = open_at(dir, &p);
	put_at(s, 0, BEGIN);
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		for (uint32_t i = 1; i < N; i++)
			put_at(s, i, BEGIN + i * SIM_SEC);
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		assert_ok(res_samples_open(&r, dir, test_err()));
		const struct obs_runs *runs = res_samples_runs(r);
		for (uint32_t i = 0; i < runs->n; i += 7) {
			const int rc =
			    res_samples_load(r, i, 1, &got, test_err());
			if (rc < 0) {
				assert_int_equal(rc, SIM_EIO);
				assert_non_null(strstr(test_err()->msg,
				    "has become too old"));
				continue;
			}
			const struct obs_run is = obs_runs_at(runs, i);
			const uint32_t seed =
			    (uint32_t)((is.start_ns - BEGIN) / SIM_SEC);
			draw_run(seed, is.start_ns, &run, &want);
			assert_same_rows(&want, &got, i);
			n_read++;
		}
		assert_true(runs->n == 0 ||
		    runs->start_ns[runs->n - 1] - runs->start_ns[0] ==
			(runs->n - 1) * SIM_SEC);
		res_samples_close(r);
	}
	assert_int_equal(status, 0);
	print_message("%d runs were read meanwhile\n", n_read);
	assert_ok(res_store_close(s, test_err()));
	obs_samples_free(&want);
	obs_samples_free(&got);
}

static void a_folder_has_one_writer(void **state)
{
	(void)state;
	const char *dir = test_path("two");
	struct res_store *other, *s = open_at(dir, &store_params);
	assert_int_equal(res_store_open(&other, dir, &store_params, test_err()),
	    SIM_EIO);
	assert_non_null(strstr(test_err()->msg, "another recorder holds"));
	assert_ok(res_store_close(s, test_err()));
	s = open_at(dir, &store_params);
	assert_ok(res_store_close(s, test_err()));
}

/* So a file is of one host in one rack, though its folder is of both. */
static void another_host_begins_a_file_of_its_own(void **state)
{
	static const struct res_record_host hosts[] = {{"host7", UINT32_MAX},
	    {"host7", UINT32_MAX}, {"host7", 4}, {"host8", 4}, {"host8", 4}};
	const char *dir = test_path("renamed");
	unsigned n[5];
	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct res_store_params p = store_params;
		p.host = hosts[i];
		struct res_store *s = open_at(dir, &p);
		put_at(s, i, BEGIN + i * SIM_SEC);
		assert_ok(res_store_close(s, test_err()));
		folder_bytes(dir, &n[i]);
	}
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(n[i] - n[i - 1], i == 2 || i == 3);
}

/* Two folders of one name, one host that said its rack, and a file and a folder
 * that are none. */
static void folders_of_hosts_are_a_rack(void **state)
{
	(void)state;
	struct res_store_params p = store_params;
	char dir[256], sub[300];
	struct res_samples *r;
	snprintf(dir, sizeof(dir), "%s", test_path("rack"));
	mkdir(dir, 0777);
	snprintf(sub, sizeof(sub), "%s/none", dir);
	mkdir(sub, 0777);
	test_write("rack/notes", "x");
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(sub, sizeof(sub), "%s/h%u", dir, i);
		p.host.rack = i == 2 ? 4 : UINT32_MAX;
		snprintf(p.host.name, sizeof(p.host.name), "%s",
		    i == 2 ? "other" : "same");
		struct res_store *s = open_at(sub, &p);
		put_at(s, 2 * i, BEGIN + (3 - i) * SIM_SEC);
		put_at(s, 2 * i + 1, BEGIN + (13 - i) * SIM_SEC);
		assert_ok(res_store_close(s, test_err()));
	}
	assert_ok(res_samples_open(&r, dir, test_err()));
	const struct res_hosts *h = res_samples_hosts(r);
	const struct obs_runs *runs = res_samples_runs(r);
	assert_int_equal(h->n, 3);
	assert_string_equal(h->name[0].text, "same");
	assert_string_equal(h->name[1].text, "same@h1");
	assert_string_equal(h->name[2].text, "other");
	assert_int_equal(h->rack[0], 5);
	assert_int_equal(h->rack[1], 5);
	assert_int_equal(h->rack[2], 4);
	assert_int_equal(runs->n, 6);
	for (size_t i = 0; i < runs->n; i++)
		assert_int_equal(runs->host[i], 2 - i % 3);
	assert_null(res_samples_said(r));
	res_samples_close(r);
}

/* Of a head that is damaged no run is read, and those of other files are. */
static void a_damaged_head_costs_its_file(void **state)
{
	static const size_t at[] = {0, 7, 12, 16, RES_RECORD_FILE_BYTES - 1};
	const char *dir = test_path("head");
	struct res_store_params p = store_params;
	unsigned char *bytes;
	char name[64];
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		p.host.rack = i;
		struct res_store *s = open_at(dir, &p);
		put_at(s, i, BEGIN + i * SIM_SEC);
		assert_ok(res_store_close(s, test_err()));
	}
	const size_t n = read_oldest(dir, 2, name, &bytes);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct res_samples *r;
		bytes[at[i]] ^= 1;
		write_only(dir, name, bytes, n);
		bytes[at[i]] ^= 1;
		assert_ok(res_samples_open(&r, dir, test_err()));
		assert_int_equal(res_samples_runs(r)->n, 1);
		assert_int_equal(res_samples_runs(r)->start_ns[0],
		    BEGIN + SIM_SEC);
		assert_non_null(strstr(res_samples_said(r), name));
		res_samples_close(r);
		struct res_store *s = open_at(dir, &p);
		assert_int_equal(res_store_held(s).n_damaged, 1);
		assert_ok(res_store_close(s, test_err()));
	}
	write_only(dir, name, bytes, n);
	assert_read(dir, 0, 2, SIM_SEC);
	free(bytes);
}

/* What is read is what was there when the folder was looked at, or an error. */
static void what_has_changed_since_is_an_error(void **state)
{
	const char *dir = test_path("since");
	struct obs_samples got = {0};
	struct res_samples *r;
	struct sim_err e;
	unsigned char *bytes;
	char name[64], path[256];
	(void)state;
	struct res_store *s = open_at(dir, &store_params);
	for (uint32_t i = 0; i < 2; i++)
		put_at(s, i, BEGIN + i * SIM_SEC);
	assert_ok(res_store_close(s, test_err()));
	const size_t n = read_only(dir, name, &bytes);
	assert_ok(res_samples_open(&r, dir, test_err()));
	bytes[n - 1] ^= 1;
	write_only(dir, name, bytes, n);
	assert_ok(res_samples_load(r, 0, 1, &got, test_err()));
	assert_int_equal(res_samples_load(r, 1, 1, &got, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, " has changed at byte "));
	write_only(dir, name, bytes, n - 1);
	assert_int_equal(res_samples_load(r, 1, 1, &got, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, ": it has changed."));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(res_samples_load(r, 0, 1, &got, &e), SIM_EIO);
	assert_non_null(strstr(e.msg,
	    " has become too old and was taken away while it was read; try "
	    "again."));
	assert_non_null(strstr(e.msg, path));
	res_samples_close(r);
	obs_samples_free(&got);
	free(bytes);
}

static void what_is_none_is_named(void **state)
{
	(void)state;
	struct res_store_params p = store_params;
	struct res_samples *r;
	struct res_store *s;
	mkdir(test_path("empty"), 0777);
	assert_int_equal(res_samples_open(&r, test_path("empty"), test_err()),
	    SIM_EPARSE);
	assert_non_null(strstr(test_err()->msg, "has no samples"));
	p.max_bytes = RES_STORE_LEAST - 1;
	assert_int_equal(res_store_open(&s, test_path("few"), &p, test_err()),
	    SIM_ERANGE);
	assert_int_equal(res_store_open(&s, "/proc/none/x", &store_params,
			     test_err()),
	    SIM_EIO);
	/* Of another version: nothing is read, and nothing written to it. */
	const char *dir = test_path("later");
	s = open_at(dir, &store_params);
	put_at(s, 0, BEGIN);
	assert_ok(res_store_close(s, test_err()));
	char name[64];
	unsigned char *bytes;
	const size_t n = read_only(dir, name, &bytes);
	bytes[8]++;
	write_only(dir, name, bytes, n);
	free(bytes);
	assert_int_equal(res_store_open(&s, dir, &store_params, test_err()),
	    SIM_EMISMATCH);
	assert_int_equal(res_samples_open(&r, dir, test_err()), SIM_EMISMATCH);
	assert_non_null(strstr(test_err()->msg, "it has version 2;"));
}

static void a_file_that_is_none_has_no_bytes(void **state)
{
	unsigned char none[1], *bytes = none;
	struct sim_err e;
	size_t n;
	(void)state;
	const int fd = open(test_path(""), O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	const int next = dup(fd); /* the number that is free then */
	close(next);
	assert_int_equal(res_store_read(fd, "here", "nothing", &bytes, &n, &e),
	    SIM_EIO);
	assert_null(bytes);
	bytes = none;
	assert_int_equal(mknodat(fd, "large", S_IFREG | 0600, 0), 0);
	assert_int_equal(truncate(test_path("large"), RES_STORE_FILE_MAX + 1),
	    0);
	assert_int_equal(res_store_read(fd, "here", "large", &bytes, &n, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg, "here/large is no file of at most 64 MiB.");
	assert_null(bytes);
	assert_int_equal(truncate(test_path("large"), RES_STORE_FILE_MAX), 0);
	assert_ok(res_store_read(fd, "here", "large", &bytes, &n, test_err()));
	assert_int_equal(n, RES_STORE_FILE_MAX);
	free(bytes);
	/* Nothing is left open. */
	assert_int_equal(dup(fd), next);
	close(next);
	close(fd);
}

/* Files that are full fail as a full disk does. The run is left out, what was
 * there stays, and once there is room it goes on. */
static void a_run_that_finds_no_room_is_left_out(void **state)
{
	(void)state;
	struct res_store_params p = store_params;
	const char *dir = test_path("full");
	struct obs_samples t = {0};
	struct obs_run run;
	char link[300];
	struct res_store *s = open_at(dir, &p);
	assert_ok(res_store_close(s, test_err()));
	/* The next file is already there, and leads where no room is. */
	snprintf(link, sizeof(link), "%s/samples-20260202-0001.cpms", dir);
	assert_int_equal(symlink("/dev/full", link), 0);
	s = NULL;
	assert_int_equal(res_store_open(&s, dir, &p, test_err()), SIM_EIO);
	assert_non_null(strstr(test_err()->msg, "not a file"));
	assert_int_equal(unlink(link), 0);
	s = open_at(dir, &p);
	assert_int_equal(symlink("/dev/full", link), 0);
	draw_run(0, BEGIN, &run, &t);
	assert_int_equal(res_store_put(s, &run, 1, &t, test_err()), SIM_EIO);
	assert_int_equal(res_store_held(s).n_runs, 0);
	assert_int_equal(unlink(link), 0);
	put_at(s, 0, BEGIN);
	run.line_bps = 0;
	assert_int_equal(res_store_put(s, &run, 1, &t, test_err()), SIM_EINVAL);
	assert_ok(res_store_close(s, test_err()));
	assert_read(dir, 0, 1, SIM_SEC);
	obs_samples_free(&t);
}

struct drawn {
	char dir[256];
	struct obs_run run;
	struct obs_samples t;
};

static int write_and_read(void *arg, struct sim_err *e)
{
	struct drawn *d = arg;
	struct obs_samples got = {0};
	struct res_samples *r = NULL;
	struct res_store *s = NULL;
	int rc = res_store_open(&s, d->dir, &store_params, e);
	if (rc == 0)
		rc = res_store_put(s, &d->run, 1, &d->t, e);
	const int closed = res_store_close(s, NULL);
	rc = rc < 0 ? rc : closed;
	if (rc == 0 && (rc = res_samples_open(&r, d->dir, e)) == 0) {
		rc = res_samples_load(r, 0, 1, &got, e);
		res_samples_close(r);
	}
	obs_samples_free(&got);
	return rc;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	static struct drawn d;
	snprintf(d.dir, sizeof(d.dir), "%s", test_path("memory"));
	/* A quarter of runs have no rows. */
	for (uint32_t run = 3; d.t.n == 0; run++)
		draw_run(run, BEGIN, &d.run, &d.t);
	test_each_alloc_fails(write_and_read, &d);
	obs_samples_free(&d.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_put_is_read),
	    cmocka_unit_test(packed_runs_are_smaller),
	    cmocka_unit_test(a_torn_end_is_dropped),
	    cmocka_unit_test(damage_costs_one_run_and_is_told),
	    cmocka_unit_test(bytes_are_bounded),
	    cmocka_unit_test(age_is_bounded),
	    cmocka_unit_test(a_wrong_clock_costs_little),
	    cmocka_unit_test(a_reader_needs_no_turn),
	    cmocka_unit_test(a_folder_has_one_writer),
	    cmocka_unit_test(another_host_begins_a_file_of_its_own),
	    cmocka_unit_test(folders_of_hosts_are_a_rack),
	    cmocka_unit_test(a_damaged_head_costs_its_file),
	    cmocka_unit_test(what_has_changed_since_is_an_error),
	    cmocka_unit_test(what_is_none_is_named),
	    cmocka_unit_test(a_file_that_is_none_has_no_bytes),
	    cmocka_unit_test(a_run_that_finds_no_room_is_left_out),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("results/sample_store", tests,
	    test_folder_make, test_folder_remove);
}
