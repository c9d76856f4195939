/* tests/fuzz/h5_fuzz.c -- forged HDF5 files, read through the child that does.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte says which good file is forged: results of a sweep, or a
 * recording. Then come changes of 12 bytes each:
 *
 *	what     see enum change
 *	place    1 byte: by a signature of HDF5, of which the file has many; or by
 *		 a part of the file
 *	offset   2 bytes: behind it
 *	value    8 bytes
 *
 * The file is sealed again, or no change would be seen by HDF5. What it then is,
 * is taken or told of by a message, in the time of the child and no longer; and
 * no process, open file or file in the folder is left of it.
 */
#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <sys/time.h>

#include "results/file.h"
#include "results/h5.h"
#include "results/h5_parts.h"
#include "results/recording.h"
#include "results/seal.h"
#include "results/table.h"
#include "sim/bytes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rigs/random_cube.h"
#include "tests/rigs/recordings.h"

enum { RESULTS, RECORDING, N_KINDS };
enum change {
	BYTE,
	BITS,
	WORD,
	SMALL, /* a little more or less than it was */
	ZEROS,
	ONES,
	COPY, /* bytes of another place */
	CUT,  /* what is behind */
	N_CHANGES
};
enum { CHANGE = 12, MOST_CHANGES = 16, MOST_PLACES = 240 };

static struct good {
	unsigned char *bytes;
	size_t n; /* without its seal */
	size_t n_places, place[MOST_PLACES];
} good[N_KINDS];

static char folder[] = "/tmp/culprit-fuzz-XXXXXX", path[64];

/* HDF5 may break in a child as it likes: that is no find of the fuzzer's, which
 * the parent's sanitizer would tell and keep. What comes to no end is ended after
 * half a second of the processor, not after ten of each question. */
void __sanitizer_set_death_callback(void (*tell)(void)) __attribute__((weak));
static void in_the_child(void)
{
	const struct itimerval end = {.it_value.tv_usec = 500000};
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(NULL);
	must(freopen("/dev/null", "w", stderr) != NULL);
	must(setitimer(ITIMER_PROF, &end, NULL) == 0);
}

/* What is freed is soon used again, as a large process is slow to fork, and HDF5
 * is told when there is no memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1:malloc_context_size=3:"
	       "allocator_may_return_null=1";
}

/* --- good files ------------------------------------------------------------*/

static void find_places(struct good *g)
{
	static const char signature[][5] = {"\x89HDF", "OHDR", "OCHK", "TREE",
	    "SNOD", "HEAP", "GCOL", "FRHP", "FHDB", "FHIB", "BTHD", "BTIN",
	    "BTLF", "FSHD", "FSSE", "SMTB", "SMLI"};
	enum { PARTS = 64 };
	for (size_t i = 0; i < PARTS; i++)
		g->place[g->n_places++] = g->n * i / PARTS;
	for (size_t at = 0; at + 4 <= g->n; at++)
		for (size_t i = 0; i < sizeof(signature) / 5; i++)
			if (memcmp(g->bytes + at, signature[i], 4) == 0 &&
			    g->n_places < MOST_PLACES)
				g->place[g->n_places++] = at;
}

static void make_results(void)
{
	struct res_cube c;
	plain_cube(&c, 2, 1);
	without_optional(&c);
	must(res_h5_write(&c, path, NULL) == 0);
	res_cube_free(&c);
}

static void make_recording(void)
{
	const struct res_recording_info info = recordings_info(1, SIM_SEC);
	struct obs_probes probes = {0};
	const struct sim_seed seed = {.seed = 7};
	struct sim_rng r;
	sim_rng_init(&r, &seed, SIM_STREAM_TEST, 0);
	recordings_probes(&probes, &info, 20, &r);
	must(recordings_write(path, &info, &probes, NULL, NULL, NULL) == 0);
	obs_probes_free(&probes);
}

static void leave_folder(void)
{
	unlink(path);
	rmdir(folder);
}

static void make_good(void)
{
	static void (*const make[N_KINDS])(
	    void) = {make_results, make_recording};
	/* In memory where there is such a folder, since files are synced. */
	if (access("/dev/shm", W_OK) == 0)
		memcpy(folder, "/dev/shm/culprit-XXXXXX",
		    sizeof("/dev/shm/culprit-XXXXXX"));
	must(mkdtemp(folder) != NULL);
	atexit(leave_folder);
	must(pthread_atfork(NULL, NULL, in_the_child) == 0);
	snprintf(path, sizeof(path), "%s/x.h5", folder);
	for (size_t i = 0; i < N_KINDS; i++) {
		void *bytes;
		make[i]();
		must(res_file_read(path, &bytes, &good[i].n, NULL) == 0);
		good[i].bytes = bytes;
		good[i].n -= 16;
		find_places(&good[i]);
	}
}

/* --- forged ----------------------------------------------------------------*/

static uint64_t word_at(const unsigned char *at, size_t n)
{
	uint64_t was = 0;
	memcpy(&was, at, n < 8 ? n : 8);
	return was;
}

/* One change to the *N bytes at B, of which there stay some. */
static void forge(unsigned char *b, size_t *n, const struct good *g,
    const uint8_t change[CHANGE])
{
	const size_t at =
	    (g->place[change[1] % g->n_places] + sim_load_16(change + 2)) % *n;
	const size_t left = *n - at;
	uint64_t value = sim_load_64(change + 4);
	size_t many = value % 512 < left ? value % 512 : left;
	switch (change[0] % N_CHANGES) {
	case BYTE:
		b[at] = change[4];
		break;
	case BITS:
		b[at] ^= change[4];
		break;
	case SMALL:
		value = word_at(b + at, left) + (int8_t)change[4];
		memcpy(b + at, &value, left < 8 ? left : 8);
		break;
	case WORD:
		memcpy(b + at, &value, left < 8 ? left : 8);
		break;
	case ZEROS:
	case ONES:
		memset(b + at, change[0] % N_CHANGES == ZEROS ? 0 : 0xff, many);
		break;
	case COPY: {
		const size_t from = (value >> 16) % *n;
		many = *n - from < many ? *n - from : many;
		memmove(b + at, b + from, many);
		break;
	}
	default:
		*n = at > 0 ? at : 1;
	}
}

static void put_results(const unsigned char *b, size_t n)
{
	unsigned char seal[RES_H5_TRAILER];
	FILE *f = fopen(path, "wb");
	memcpy(seal, RES_H5_MAGIC, 8);
	sim_store_64(seal + 8, sim_fnv(SIM_FNV_START, b, n));
	must(f && fwrite(b, 1, n, f) == n &&
	    fwrite(seal, 1, sizeof(seal), f) == sizeof(seal) && fclose(f) == 0);
}

static void put_sealed(const unsigned char *b, size_t n)
{
	char *temp;
	int fd;
	must(res_file_temp(&temp, &fd, path, NULL) == 0);
	must(write(fd, b, n) == (ssize_t)n);
	must(res_seal_finish(temp, fd, path, NULL) == 0);
	close(fd);
	free(temp);
}

/* --- read ------------------------------------------------------------------*/

static void said(int rc, const struct sim_err *e)
{
	must(rc == 0 || (e->msg[0] && strstr(e->msg, path)));
}

static void read_results(void)
{
	struct res_cube c;
	struct sim_err e = {0};
	const int rc = res_h5_read(&c, path, &e);
	said(rc, &e);
	if (rc < 0)
		return;
	FILE *out = fopen("/dev/null", "w");
	must(out && res_cube_check(&c, NULL) == 0);
	res_table_write(&c, out, NULL);
	fclose(out);
	res_cube_free(&c);
}

static void read_recording(void)
{
	struct res_recording *r;
	struct obs_probes t = {0};
	struct sim_err e = {0};
	int rc = res_recording_open(&r, path, &e);
	said(rc, &e);
	if (rc < 0)
		return;
	rc = res_recording_probes(r, 0, SIM_NEVER, &t, &e);
	said(rc, &e);
	obs_probes_free(&t);
	res_recording_close(r);
}

/* --- nothing is left -------------------------------------------------------*/

static size_t n_entries(const char *of)
{
	DIR *d = opendir(of);
	size_t n = 0;
	must(d != NULL);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* What this process has open, and its children, of which the fuzzer has its own
 * that tells names of functions. */
struct left {
	size_t n_open;
	char children[256];
};

static struct left what_is_left(void)
{
	struct left l = {.n_open = n_entries("/proc/self/fd")};
	char of[64];
	snprintf(of, sizeof(of), "/proc/self/task/%d/children", (int)getpid());
	FILE *f = fopen(of, "r"); /* of kernels that have it */
	if (f && !fgets(l.children, sizeof(l.children), f))
		l.children[0] = '\0';
	if (f)
		fclose(f);
	return l;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (!good[0].bytes)
		make_good();
	if (n == 0 || n > 1 + CHANGE * MOST_CHANGES)
		return 0;
	const struct good *g = &good[bytes[0] % N_KINDS];
	unsigned char *b = malloc(g->n);
	size_t size = g->n;
	must(b != NULL);
	memcpy(b, g->bytes, g->n);
	for (size_t i = 1; i + CHANGE <= n; i += CHANGE)
		forge(b, &size, g, bytes + i);
	const int is_results = bytes[0] % N_KINDS == RESULTS;
	(is_results ? put_results : put_sealed)(b, size);
	free(b);
	const struct left before = what_is_left();
	(is_results ? read_results : read_recording)();
	const struct left after = what_is_left();
	must(after.n_open == before.n_open);
	must(strcmp(after.children, before.children) == 0);
	must(n_entries(folder) == 3); /* with . and .. */
	return 0;
}
