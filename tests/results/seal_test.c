/* tests/results/seal_test.c -- sealed files: whole and unspoilt, or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "results/file.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

static char path[64];

/* How the kernel reads: 0: as asked; else what the next reads give, in turn,
 * and then as asked. */
enum { AS_ASKED, INTERRUPTED, HALF, ONE_BYTE, BROKEN, NOTHING };
static const unsigned char *read_plan;
static unsigned n_reads;

ssize_t pread(int fd, void *p, size_t n, off_t offset)
{
	const int how = read_plan ? *read_plan : AS_ASKED;
	n_reads++;
	if (how != AS_ASKED)
		read_plan++;
	if (how == INTERRUPTED || how == BROKEN) {
		errno = how == BROKEN ? EIO : EINTR;
		return -1;
	}
	if (how == NOTHING)
		return 0;
	if (how == HALF)
		n = (n + 1) / 2;
	if (how == ONE_BYTE)
		n = 1;
	return syscall(SYS_pread64, fd, p, n, offset);
}

static int make_folder(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/sealed", test_folder);
	return 0;
}

static int write_sealed(const void *bytes, size_t n, struct sim_err *e)
{
	char *temp;
	int fd, rc = res_file_temp(&temp, &fd, path, e);
	if (rc < 0)
		return rc;
	assert_true(write(fd, bytes, n) == (ssize_t)n);
	rc = res_seal_finish(temp, fd, path, e);
	assert_int_not_equal(access(temp, F_OK), 0);
	close(fd);
	free(temp);
	return rc;
}

static int read_sealed(uint64_t *n, struct sim_err *e)
{
	int fd;
	const int rc = res_seal_open(&fd, n, path, e);
	if (rc == 0)
		close(fd);
	else
		assert_int_equal(fd, -1);
	return rc;
}

/* The rule of the header, byte by byte. */
static uint64_t sum_of(const unsigned char *p, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < (n + 7) / 8 + 1; i++) {
		uint64_t word = 0;
		for (size_t k = 0; k < 8 && i * 8 + k < n; k++)
			word += (uint64_t)p[i * 8 + k] << 8 * k;
		if (i == (n + 7) / 8)
			word = n;
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return sum;
}

static void files_of_any_length_are_sealed_as_said(void **state)
{
	(void)state;
	enum { BLOCK = 1 << 18 };
	static unsigned char bytes[2 * BLOCK + 9];
	static const size_t around[] = {0, 8, 16, BLOCK, 2 * BLOCK};
	struct sim_rng r;
	test_rng(&r, 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)sim_rng_below(&r, 256);
	for (size_t i = 0; i < 5; i++)
		for (int d = -9; d <= 9; d++) {
			unsigned char *back;
			uint64_t n_bytes, sum = 0;
			size_t n_back;
			if (d < 0 && around[i] < 9)
				continue;
			const size_t n = around[i] + (size_t)d;
			assert_ok(write_sealed(bytes, n, test_err()));
			assert_ok(read_sealed(&n_bytes, test_err()));
			assert_int_equal(n_bytes, n + 16);
			assert_ok(res_file_read(path, (void **)&back, &n_back,
			    test_err()));
			assert_int_equal(n_back, n + 16);
			assert_memory_equal(back, bytes, n);
			assert_memory_equal(back + n, "culpritT", 8);
			for (int k = 0; k < 8; k++)
				sum |= (uint64_t)back[n + 8 + (size_t)k]
				    << 8 * k;
			assert_true(sum == sum_of(bytes, n));
			n_bytes = sum = 0;
			assert_ok(
			    res_seal_peek(&n_bytes, &sum, path, test_err()));
			assert_int_equal(n_bytes, n + 16);
			assert_true(sum == sum_of(bytes, n));
			free(back);
		}
}

/* Signals interrupt, and a read may give less than there is. */
static void a_read_in_pieces_is_as_good(void **state)
{
	const unsigned char plan[] = {INTERRUPTED, HALF, INTERRUPTED,
	    INTERRUPTED, ONE_BYTE, HALF, INTERRUPTED, AS_ASKED};
	unsigned char bytes[1000];
	uint64_t n;
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	/* In writing, where the sum is read back, and in reading. */
	read_plan = plan;
	assert_ok(write_sealed(bytes, sizeof(bytes), test_err()));
	assert_int_equal(*read_plan, AS_ASKED);
	read_plan = plan;
	assert_ok(read_sealed(&n, test_err()));
	assert_int_equal(*read_plan, AS_ASKED);
	assert_int_equal(n, sizeof(bytes) + 16); /* with the seal */
	read_plan = NULL;
	assert_ok(read_sealed(&n, test_err()));
}

/* Whichever read fails, the disk is named; none is repeated for ever. */
static void a_disk_that_cannot_be_read_is_told(void **state)
{
	unsigned char bytes[1000] = "some";
	(void)state;
	assert_ok(write_sealed(bytes, sizeof(bytes), test_err()));
	for (unsigned k = 0;; k++) {
		unsigned char plan[32] = {0};
		struct sim_err e;
		uint64_t n;
		assert_true(k < 31);
		memset(plan, HALF, k);
		plan[k] = BROKEN;
		read_plan = plan;
		const int rc = read_sealed(&n, &e);
		const int was_reached = read_plan == plan + k + 1;
		read_plan = NULL;
		if (!was_reached) {
			assert_int_equal(rc, 0);
			assert_true(k >= 2);
			break;
		}
		assert_int_equal(rc, SIM_EIO);
		assert_non_null(strstr(e.msg, strerror(EIO)));
		/* Nor is it taken for a file that has no seal. */
		int fd;
		read_plan = plan;
		assert_int_equal(res_seal_open_any(&fd, &n, path, &e), SIM_EIO);
		read_plan = NULL;
	}
}

static void a_file_that_gets_shorter_meanwhile_is_refused(void **state)
{
	unsigned char bytes[1000] = "some";
	(void)state;
	assert_ok(write_sealed(bytes, sizeof(bytes), test_err()));
	/* Nor is it read again for a signal that came before its end. */
	const unsigned char first[] = {NOTHING, HALF, INTERRUPTED};
	for (unsigned k = 0; k < 3; k++) {
		unsigned char plan[8] = {0};
		uint64_t n;
		plan[0] = first[k];
		plan[1] = k ? NOTHING : AS_ASKED;
		n_reads = 0;
		read_plan = plan;
		assert_true(read_sealed(&n, test_err()) < 0);
		assert_true(n_reads < 8);
		read_plan = NULL;
	}
}

static void every_flipped_bit_and_every_cut_is_seen(void **state)
{
	(void)state;
	unsigned char bytes[61], *sealed;
	uint64_t n_bytes;
	size_t n;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37);
	assert_ok(write_sealed(bytes, sizeof(bytes), test_err()));
	assert_ok(res_file_read(path, (void **)&sealed, &n, test_err()));
	for (size_t bit = 0; bit < 8 * n; bit++) {
		sealed[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_ok(res_file_write(path, sealed, n, test_err()));
		assert_int_equal(read_sealed(&n_bytes, NULL), SIM_EPARSE);
		sealed[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	for (size_t cut = 0; cut < n; cut++) {
		assert_ok(res_file_write(path, sealed, cut, test_err()));
		assert_int_equal(read_sealed(&n_bytes, NULL), SIM_EPARSE);
	}
	assert_ok(res_file_write(path, sealed, n, test_err()));
	assert_ok(read_sealed(&n_bytes, test_err()));
	free(sealed);
}

/* Pairs of flips, as a sum that is a product alone would miss. */
static void two_flipped_high_bits_do_not_cancel(void **state)
{
	(void)state;
	unsigned char bytes[256] = {0}, *sealed;
	uint64_t n_bytes;
	size_t n;
	assert_ok(write_sealed(bytes, sizeof(bytes), test_err()));
	assert_ok(res_file_read(path, (void **)&sealed, &n, test_err()));
	for (size_t i = 0; i < 32; i++)
		for (size_t j = 0; j < i; j++) {
			sealed[8 * i + 7] ^= 0x80;
			sealed[8 * j + 7] ^= 0x80;
			assert_ok(res_file_write(path, sealed, n, test_err()));
			assert_int_equal(read_sealed(&n_bytes, NULL),
			    SIM_EPARSE);
			sealed[8 * i + 7] ^= 0x80;
			sealed[8 * j + 7] ^= 0x80;
		}
	free(sealed);
}

static void what_was_claimed_beyond_the_end_is_given_back(void **state)
{
	(void)state;
	char *temp;
	struct stat st;
	int fd;
	assert_ok(res_file_temp(&temp, &fd, path, test_err()));
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 22) < 0)
		print_message("without fallocate()\n");
	assert_true(write(fd, temp, 9) == 9);
	assert_ok(res_seal_finish(temp, fd, path, test_err()));
	close(fd);
	free(temp);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 25);
	assert_true(st.st_blocks * 512 < 1 << 20);
}

static void assert_no_peek(int code, const char *why)
{
	char text[300];
	uint64_t n, sum;
	struct sim_err e;
	const int fd = dup(0);
	close(fd);
	assert_int_equal(res_seal_peek(&n, &sum, path, &e), code);
	snprintf(text, sizeof(text), "cannot read %s: %s.", path, why);
	assert_string_equal(e.msg, text);
	assert_int_equal(dup(0), fd);
	close(fd);
}

/* The seal alone is looked at, which what it seals may not fit. */
static void a_seal_is_told_without_what_it_seals(void **state)
{
	(void)state;
	static const unsigned char broken[] = {BROKEN, AS_ASKED};
	static const char *none =
	    "it does not end as tables of culprit do: it is another file, cut "
	    "short, or was edited";
	unsigned char *sealed;
	uint64_t n, sum;
	size_t n_sealed;
	assert_ok(write_sealed("abc", 3, test_err()));
	assert_ok(res_file_read(path, (void **)&sealed, &n_sealed, test_err()));
	sealed[0] = 'x';
	assert_ok(res_file_write(path, sealed, n_sealed, test_err()));
	assert_ok(res_seal_peek(&n, &sum, path, test_err()));
	assert_int_equal(n, 19);
	assert_true(sum == sum_of((const unsigned char *)"abc", 3));
	read_plan = broken;
	assert_no_peek(SIM_EIO, "Input/output error");
	read_plan = NULL;
	for (size_t i = 3; i < 11; i++) {
		sealed[i]++;
		assert_ok(res_file_write(path, sealed, n_sealed, test_err()));
		assert_no_peek(SIM_EPARSE, none);
		sealed[i]--;
	}
	for (size_t cut = 0; cut < n_sealed; cut++) {
		assert_ok(res_file_write(path, sealed, cut, test_err()));
		assert_no_peek(SIM_EPARSE, none);
	}
	free(sealed);
	assert_int_equal(unlink(path), 0);
	assert_no_peek(SIM_EIO, "No such file or directory");
	/* Who opens a pipe may else wait for its other end. */
	alarm(10);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_no_peek(SIM_EIO, "not a file");
	alarm(0);
	assert_int_equal(unlink(path), 0);
	assert_ok(write_sealed("abc", 3, test_err()));
}

static void places_that_cannot_be_written_are_named(void **state)
{
	(void)state;
	struct sim_err e;
	char *temp, nowhere[80];
	int fd;
	snprintf(nowhere, sizeof(nowhere), "%s/no/where", test_folder);
	assert_int_equal(res_file_temp(&temp, &fd, nowhere, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, nowhere));
	assert_non_null(strstr(e.msg, "No such file"));
	/* A folder is there under the name: the temporary goes. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(write_sealed("x", 1, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, path));
	assert_int_equal(rmdir(path), 0);
}

static int write_one(void *arg, struct sim_err *e)
{
	(void)arg;
	uint64_t n;
	const int rc = write_sealed("abc", 3, e);
	return rc < 0 ? rc : read_sealed(&n, e);
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	test_each_alloc_fails(write_one, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(files_of_any_length_are_sealed_as_said),
	    cmocka_unit_test(a_read_in_pieces_is_as_good),
	    cmocka_unit_test(a_disk_that_cannot_be_read_is_told),
	    cmocka_unit_test(a_file_that_gets_shorter_meanwhile_is_refused),
	    cmocka_unit_test(every_flipped_bit_and_every_cut_is_seen),
	    cmocka_unit_test(two_flipped_high_bits_do_not_cancel),
	    cmocka_unit_test(what_was_claimed_beyond_the_end_is_given_back),
	    cmocka_unit_test(a_seal_is_told_without_what_it_seals),
	    cmocka_unit_test(places_that_cannot_be_written_are_named),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("results/seal", tests, make_folder,
	    test_folder_remove);
}
