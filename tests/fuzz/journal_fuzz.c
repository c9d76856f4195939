/* tests/fuzz/journal_fuzz.c -- any bytes as the journal of a sweep.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Once as they are, and once as records behind the header of the sweep, each
 * with a right check, or none would get behind it. What is taken must be in the
 * cube, and the file that is left must be taken whole.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/sweep/journal.h"
#include "sim/bytes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rigs/journal_cube.h"

enum { N_POINTS = 3, N_RUNS = 2, HEADER = 40, FIXED = 24 };

static void cube_make(struct res_cube *c)
{
	must(journal_cube(c, "runs: 2\n", N_POINTS, N_RUNS, 1, NULL) == 0);
}

/* In memory, and still with a name. */
static const char *file_of(int fd, const uint8_t *bytes, size_t n)
{
	static char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(ftruncate(fd, 0) == 0);
	must(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	return path;
}

/* Returns how many records were taken, or -1. */
static long open_once(const char *path, struct xp_journal_replay *replay)
{
	struct res_cube c;
	struct xp_journal *j;
	struct sim_err e = {0};
	uint64_t n_done = 0, n_at_last = 0;
	cube_make(&c);
	const int rc = xp_journal_open(&j, path, &c, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc == 0) {
		*replay = xp_journal_replayed(j);
		must(xp_journal_close(j, 0, NULL) == 0);
		must(xp_journal_count(path, &n_done, NULL) == 0);
		for (size_t i = 0; i < N_POINTS * N_RUNS; i++)
			n_at_last += c.status[i] == RES_DONE;
		/* A cell that stands twice counts twice there. */
		must(n_at_last <= n_done && n_done <= replay->n_records);
	}
	res_cube_free(&c);
	return rc < 0 ? -1 : (long)replay->n_records;
}

static void check(int fd, const uint8_t *bytes, size_t n)
{
	struct xp_journal_replay first, again;
	const char *path = file_of(fd, bytes, n);
	const long got = open_once(path, &first);
	if (got < 0)
		return;
	must(first.n_bytes_cut <= n);
	must(open_once(path, &again) == got && again.n_bytes_cut == 0);
}

/* The header of the cube's sweep, as it is written into an empty file. */
static size_t take_header(int fd, uint8_t header[HEADER])
{
	struct xp_journal_replay replay;
	struct res_cube c;
	must(open_once(file_of(fd, NULL, 0), &replay) == 0);
	must(pread(fd, header, HEADER, 0) == HEADER);
	cube_make(&c);
	const size_t record = FIXED + 8 * c.cell_doubles;
	res_cube_free(&c);
	return record;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static uint8_t header[HEADER];
	static size_t record;
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("journal", MFD_CLOEXEC);
		must(fd >= 0);
		record = take_header(fd, header);
	}
	check(fd, bytes, n);
	/* Of each record the input has the head; its row is zeros. */
	const size_t n_records = n / 16 < 64 ? n / 16 : 64;
	const size_t size = HEADER + n_records * record + n % 16;
	uint8_t *copy = calloc(size, 1);
	must(copy != NULL);
	memcpy(copy, header, HEADER);
	for (size_t i = 0; i < n_records; i++) {
		uint8_t *r = copy + HEADER + i * record;
		memcpy(r, bytes + 16 * i, 16);
		sim_store_64(r + record - 8,
		    sim_fnv(sim_load_64(header + HEADER - 8), r, record - 8));
	}
	check(fd, copy, size);
	free(copy);
	return 0;
}
