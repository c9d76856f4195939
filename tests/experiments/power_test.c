/* tests/experiments/power_test.c -- what a loss of power leaves of the files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each store is written in a seeded order of deeds, with kills of the process at
 * any of them, on a disk that notes them (tests/rigs/power.h). Of every moment the
 * states are made that a loss of power could leave. In each the store must open,
 * have all that was promised to be on disk, and nothing that was never put.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/live/batch_store.h"
#include "experiments/sweep/journal.h"
#include "results/file.h"
#include "results/sample_store.h"
#include "results/seal.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/journal_cube.h"
#include "tests/rigs/power.h"
#include "tests/test.h"
#include "topo/addr.h"

/* Of a moment and of the names at it, and seeded orders of deeds. */
enum { MAX_STATES = 24, N_SCHEDULES = 6 };

static char on[96], after[96];

static int folders_make(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(on, sizeof(on), "%s/on", test_folder);
	snprintf(after, sizeof(after), "%s/after", test_folder);
	return 0;
}

/* A store of one kind: lives that go on where the last one was killed. */
struct story {
	int (*life)(void *arg);
	power_look *look;
	struct sim_rng rng; /* what a life does */
	void *arg;
};

/* Lives until one ends by itself; then what each loss of power leaves. */
static uint64_t story_tell(struct story *s, uint32_t run)
{
	char anew[4 * sizeof(on) + 32];
	struct sim_rng kills;
	snprintf(anew, sizeof(anew), "rm -rf %s %s && mkdir %s %s", on, after,
	    on, after);
	assert_int_equal(system(anew), 0);
	power_begin(on);
	test_rng(&kills, run);
	do
		test_rng(&s->rng, 1000 + sim_rng_below(&kills, 1000));
	while (power_live(s->life, s, 5 + sim_rng_below(&kills, 60)));
	return power_replay(after, MAX_STATES, s->look, s->arg);
}

static void stories_tell(struct story *s, const char *name)
{
	const char *more = getenv("POWER_SCHEDULES");
	const uint32_t n_runs = more ? (uint32_t)atoi(more) : N_SCHEDULES;
	uint64_t n = 0;
	for (uint32_t run = 0; run < n_runs; run++)
		n += story_tell(s, run);
	print_message("%s: %u schedules, %lu states after a loss of power\n",
	    name, n_runs, (unsigned long)n);
}

/* --- the journal ----------------------------------------------------------- */

enum { N_POINTS = 12, N_RUNS = 3, N_CELLS = N_POINTS * N_RUNS };

static void cube_make(struct res_cube *c, const char *spec)
{
	assert_ok(journal_cube(c, spec, N_POINTS, N_RUNS, 1, test_err()));
}

static int sweep_cell(struct story *s, struct xp_journal *j, uint64_t i,
    struct sim_err *e)
{
	const struct res_cube *c = s->arg;
	double row[512];
	int rc;
	for (size_t k = 0; k < c->row_doubles; k++)
		row[k] = (double)(1 + i);
	if ((rc = xp_journal_put(j, i / N_RUNS, i % N_RUNS, RES_DONE, row, e)))
		return rc;
	if (sim_rng_below(&s->rng, 2) == 0)
		rc = xp_journal_flush(j, e);
	if (rc < 0 || sim_rng_below(&s->rng, 4) != 0)
		return rc;
	rc = xp_journal_sync(j, e);
	power_promise(i + 1);
	return rc;
}

/* Goes on with the cells that the journal lacks, in order. */
static int sweep_life(void *arg)
{
	struct story *s = arg;
	struct xp_journal *j = NULL;
	struct sim_err e = {0};
	char path[128];
	snprintf(path, sizeof(path), "%s/x.journal", on);
	int rc = xp_journal_open(&j, path, s->arg, &e);
	uint64_t i = rc < 0 ? 0 : xp_journal_replayed(j).n_records;
	if (rc == 0)
		power_promise(i);
	for (; rc == 0 && i < N_CELLS; i++)
		rc = sweep_cell(s, j, i, &e);
	const int closed = xp_journal_close(j, 0, rc < 0 ? NULL : &e);
	if (rc < 0 || closed < 0)
		fprintf(stderr, "%s\n", e.msg);
	else
		power_promise(N_CELLS);
	return rc < 0 ? rc : closed;
}

static void journal_look(const char *at, uint64_t n, void *arg)
{
	struct xp_journal *j = NULL;
	struct res_cube c;
	char path[128];
	(void)arg;
	snprintf(path, sizeof(path), "%s/x.journal", at);
	cube_make(&c, "runs: 3\n");
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	const uint64_t got = xp_journal_replayed(j).n_records;
	if (got < n)
		fail_msg("%lu records of %lu that were synced (seed %lu)",
		    (unsigned long)got, (unsigned long)n,
		    (unsigned long)test_seed());
	for (uint64_t i = 0; i < N_CELLS; i++) {
		assert_int_equal(c.status[i], i < got ? RES_DONE : RES_NOT_RUN);
		if (i < got &&
		    res_columns_get(&c.rows, i, 0) != (double)(1 + i))
			fail_msg("cell %lu is of another sweep (seed %lu)",
			    (unsigned long)i, (unsigned long)test_seed());
	}
	assert_ok(xp_journal_close(j, 0, test_err()));
	res_cube_free(&c);
}

/* The journal of another sweep of as many cells, whole, as the disk may still
 * hold it where ours got room. */
static void *journal_of_another(size_t *n)
{
	const char *path = test_path("other.journal");
	struct xp_journal *j;
	struct res_cube c;
	double row[512];
	void *bytes;
	cube_make(&c, "runs: 3 # another\n");
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	for (size_t i = 0; i < N_CELLS; i++) {
		for (size_t k = 0; k < c.row_doubles; k++)
			row[k] = -1;
		assert_ok(xp_journal_put(j, i / N_RUNS, i % N_RUNS, RES_DONE,
		    row, test_err()));
	}
	assert_ok(xp_journal_close(j, 0, test_err()));
	assert_ok(res_file_read(path, &bytes, n, test_err()));
	/* No file system hands out a first sector that was not written. */
	memset(bytes, 0, 512);
	res_cube_free(&c);
	return bytes;
}

static void a_journal_has_what_was_synced_and_nothing_else(void **state)
{
	struct res_cube c;
	size_t n;
	(void)state;
	cube_make(&c, "runs: 3\n");
	assert_true(c.row_doubles <= 512);
	void *other = journal_of_another(&n);
	struct story s = {.life = sweep_life, .look = journal_look, .arg = &c};
	stories_tell(&s, "journal");
	power_stale(other, n);
	stories_tell(&s, "journal on an old one");
	power_stale(NULL, 0);
	free(other);
	res_cube_free(&c);
}

/* --- batches --------------------------------------------------------------- */

enum { N_BATCHES = 12, SIZE = 40 + 2 * 48 + 8, DAY = 86400 };

/* Some four batches to a file. */
static const struct xp_batch_store_params batch_params = {.file_bytes =
							      4 * SIZE + 10,
    .total_bytes = 1 << 20,
    .max_runs = 1000,
    .sync = 1};

static int batch_put(struct xp_batch_store *s, uint64_t number, int64_t now_s,
    struct sim_err *e)
{
	static struct algo_pingmesh_batch b;
	struct algo_pingmesh_wire_id id;
	unsigned char bytes[SIZE];
	int rc, is_new;
	b.src_ip = topo_addr_of_host(3);
	b.born_ns = 5;
	b.number = number;
	b.n = 2;
	b.record[0].src_ip = b.record[1].src_ip = b.src_ip;
	algo_pingmesh_wire_encode(&b, NULL, bytes);
	if ((rc = algo_pingmesh_wire_check(&id, bytes, SIZE, e)) < 0)
		return rc;
	return xp_batch_store_put(s, &id, bytes, SIZE, now_s, &is_new, e);
}

/* An agent sends what it was not told to be taken, as one does after a kill of
 * the collector; "known" is as good an answer as "taken". */
static int batches_life(void *arg)
{
	struct story *s = arg;
	struct xp_batch_store *store;
	struct sim_err e = {0};
	char dir[128];
	snprintf(dir, sizeof(dir), "%s/data", on);
	int rc = xp_batch_store_open(&store, dir, &batch_params, &e);
	for (uint64_t i = power_promised(); rc == 0 && i < N_BATCHES; i++) {
		rc = batch_put(store, i + 1,
		    (int64_t)i / 9 * DAY + sim_rng_below(&s->rng, 100), &e);
		if (rc == 0)
			power_promise(i + 1);
	}
	if (rc == 0)
		rc = xp_batch_store_close(store, &e);
	if (rc < 0)
		fprintf(stderr, "%s\n", e.msg);
	return rc;
}

static void batches_look(const char *at, uint64_t n, void *arg)
{
	struct xp_batch_store *s;
	char dir[128];
	(void)arg;
	snprintf(dir, sizeof(dir), "%s/data", at);
	assert_ok(xp_batch_store_open(&s, dir, &batch_params, test_err()));
	const uint64_t before = xp_batch_store_held(s).n_batches;
	if (before > N_BATCHES)
		fail_msg("%lu batches of %d", (unsigned long)before, N_BATCHES);
	for (uint64_t i = 0; i < n; i++)
		assert_ok(batch_put(s, i + 1, 0, test_err()));
	if (xp_batch_store_held(s).n_batches != before)
		fail_msg("%lu batches of %lu that were taken are lost "
			 "(seed %lu)",
		    (unsigned long)(xp_batch_store_held(s).n_batches - before),
		    (unsigned long)n, (unsigned long)test_seed());
	assert_ok(batch_put(s, N_BATCHES + 1, 0, test_err()));
	assert_ok(xp_batch_store_close(s, test_err()));
}

static void a_batch_that_was_taken_is_never_lost(void **state)
{
	struct story s = {.life = batches_life, .look = batches_look};
	(void)state;
	stories_tell(&s, "batches");
}

/* --- samples --------------------------------------------------------------- */

enum { N_SAMPLED = 30 };

static const struct res_store_params sample_params = {.host = {"host7",
							  UINT32_MAX},
    .max_bytes = UINT64_C(1) << 30,
    .max_age = 72 * 3600 * SIM_SEC};

/* A run a day, so that each has a file of its own: the one before is full then,
 * which is a promise. */
static int samples_life(void *arg)
{
	struct res_store *s;
	struct sim_err e = {0};
	char dir[128];
	(void)arg;
	snprintf(dir, sizeof(dir), "%s/samples", on);
	int rc = res_store_open(&s, dir, &sample_params, &e);
	uint64_t i = rc < 0 ? 0 : res_store_held(s).n_runs;
	for (; rc == 0 && i < N_SAMPLED; i++) {
		static struct obs_samples t;
		const struct obs_run run = {.start_ns =
						UINT64_C(1770000000) * SIM_SEC +
			i * 1000 * SIM_SEC,
		    .width_ns = SIM_MS,
		    .line_bps = 1000,
		    .n_buckets = 3};
		const struct obs_sample one = {.bucket = 1, .in_bytes = 7};
		obs_samples_clear(&t);
		rc = obs_samples_add(&t, &one, &e);
		if (rc == 0)
			rc = res_store_put(s, &run, 2, &t, &e);
	}
	if (rc == 0 && (rc = res_store_close(s, &e)) == 0)
		power_promise(N_SAMPLED);
	if (rc < 0)
		fprintf(stderr, "%s\n", e.msg);
	return rc;
}

static void samples_look(const char *at, uint64_t n, void *arg)
{
	struct res_store *s;
	char dir[128];
	(void)arg;
	snprintf(dir, sizeof(dir), "%s/samples", at);
	assert_ok(res_store_open(&s, dir, &sample_params, test_err()));
	const uint64_t got = res_store_held(s).n_runs;
	if (got < n || got > N_SAMPLED)
		fail_msg("%lu runs, %lu to %d are right (seed %lu)",
		    (unsigned long)got, (unsigned long)n, N_SAMPLED,
		    (unsigned long)test_seed());
	assert_ok(res_store_close(s, test_err()));
}

static void samples_open_and_are_there_once_closed(void **state)
{
	struct story s = {.life = samples_life, .look = samples_look};
	(void)state;
	stories_tell(&s, "samples");
}

/* --- whole files ----------------------------------------------------------- */

enum { N_VERSIONS = 8, FILE_BYTES = 3000 };

static void version_bytes(unsigned char to[FILE_BYTES], uint64_t version)
{
	memset(to, (int)('a' + version), FILE_BYTES);
}

static int write_sealed(const char *path, const unsigned char *bytes,
    struct sim_err *e)
{
	char *temp;
	int fd, rc = res_file_temp(&temp, &fd, path, e);
	if (rc < 0)
		return rc;
	rc = pwrite(fd, bytes, FILE_BYTES, 0) == FILE_BYTES
	    ? res_seal_finish(temp, fd, path, e)
	    : sim_fail(e, SIM_EIO, "cannot write.");
	close(fd);
	free(temp);
	return rc;
}

/* The same versions as a file and as a sealed one. */
static int files_life(void *arg)
{
	unsigned char bytes[FILE_BYTES];
	struct sim_err e = {0};
	char plain[128], sealed[128];
	int rc = 0;
	(void)arg;
	snprintf(plain, sizeof(plain), "%s/plain", on);
	snprintf(sealed, sizeof(sealed), "%s/sealed", on);
	for (uint64_t i = power_promised(); rc == 0 && i < N_VERSIONS; i++) {
		version_bytes(bytes, i + 1);
		rc = res_file_write(plain, bytes, FILE_BYTES, &e);
		if (rc == 0)
			rc = write_sealed(sealed, bytes, &e);
		if (rc == 0)
			power_promise(i + 1);
	}
	if (rc < 0)
		fprintf(stderr, "%s\n", e.msg);
	return rc;
}

static uint64_t version_of(const char *path, size_t more)
{
	unsigned char want[FILE_BYTES];
	void *bytes;
	size_t n;
	if (access(path, F_OK) < 0)
		return 0;
	assert_ok(res_file_read(path, &bytes, &n, test_err()));
	assert_int_equal(n, FILE_BYTES + more);
	const uint64_t version = *(unsigned char *)bytes - (uint64_t)'a';
	version_bytes(want, version);
	assert_memory_equal(bytes, want, FILE_BYTES);
	free(bytes);
	return version;
}

static void files_look(const char *at, uint64_t n, void *arg)
{
	char path[128];
	uint64_t size;
	int fd;
	(void)arg;
	snprintf(path, sizeof(path), "%s/plain", at);
	assert_in_range(version_of(path, 0), n, N_VERSIONS);
	snprintf(path, sizeof(path), "%s/sealed", at);
	const uint64_t version = version_of(path, 16);
	assert_in_range(version, n, N_VERSIONS);
	if (version == 0)
		return;
	assert_ok(res_seal_open(&fd, &size, path, test_err()));
	close(fd);
}

static void a_file_is_the_old_one_or_the_new_one(void **state)
{
	struct story s = {.life = files_life, .look = files_look};
	(void)state;
	stories_tell(&s, "files");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_journal_has_what_was_synced_and_nothing_else),
	    cmocka_unit_test(a_batch_that_was_taken_is_never_lost),
	    cmocka_unit_test(samples_open_and_are_there_once_closed),
	    cmocka_unit_test(a_file_is_the_old_one_or_the_new_one),
	};
	return cmocka_run_group_tests_name("files without power", tests,
	    folders_make, test_folder_remove);
}
