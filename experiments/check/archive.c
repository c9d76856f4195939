/* experiments/check/archive.c -- an archive of results, unpacked with distrust.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/archive.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/check/program.h"
#include "results/file.h"
#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/vec.h"

/* A list of a million names has 100 MB; what unpacks itself without end stops
 * at the time. */
enum { MAX_FILES = 100000, MAX_LIST = 100 << 20, MAX_CPU_S = 900, SUM = 64 };

/* --- what tar lists --------------------------------------------------------*/

/* Of plain letters, and no part begins with a dot or a dash: so there is no
 * "..", nothing hidden and no option among them. A folder ends in a slash. */
static int is_plain_path(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n = strlen(name);
	if (n > 0 && name[n - 1] == '/')
		n--;
	if (n == 0 || n > 255 || name[n - 1] == '/')
		return 0;
	for (size_t i = 0; i < n; i++) {
		const int first = i == 0 || name[i - 1] == '/';
		if (strchr(letters, name[i]))
			continue;
		if (first || !strchr("/.+-", name[i]))
			return 0;
	}
	return 1;
}

/* What stands first in a line of tar's tells what it is. */
static const char *archive_kind_of(char letter)
{
	switch (letter) {
	case 'l':
		return "a symbolic link";
	case 'h':
		return "a hard link";
	case 'b':
	case 'c':
		return "a device";
	case 'p':
		return "a pipe";
	default:
		return "no plain file";
	}
}

/* The line "-rw-r--r-- 0/0 123 2026-11-22 14:00:00 NAME". */
struct entry {
	char mode[12];
	unsigned long long size;
	const char *name; /* within the line */
};

static int read_entry(struct entry *x, const char *line, struct sim_err *e)
{
	char shown[64];
	int at = 0;
	if (sscanf(line, "%11s %*s %llu %*s %*s %n", x->mode, &x->size, &at) ==
		2 &&
	    at > 0) {
		x->name = line + at;
		return 0;
	}
	/* A device has numbers and no size. */
	if (*line == 'b' || *line == 'c')
		return sim_fail(e, SIM_EINVAL,
		    "it holds %s; only plain files may be in it.",
		    archive_kind_of(*line));
	return sim_fail(e, SIM_EPARSE, "tar lists %s.", sim_quote(shown, line));
}

static int check_entry(const struct entry *x, struct sim_err *e)
{
	char shown[64];
	sim_quote(shown, x->name);
	if (*x->mode != '-' && *x->mode != 'd')
		return sim_fail(e, SIM_EINVAL,
		    "%s is %s; only plain files may be in it.", shown,
		    archive_kind_of(*x->mode));
	if (!is_plain_path(x->name))
		return sim_fail(e, SIM_EINVAL,
		    "the name %s leads out of its folder, is hidden, or has "
		    "other letters than a-z, A-Z, 0-9 and _ . + -.",
		    shown);
	if (!strchr(x->name, '/'))
		return sim_fail(e, SIM_EINVAL,
		    "%s is in no folder; all must be under one.", shown);
	if (x->mode[strspn(x->mode + 1, "rwx-") + 1] != '\0')
		return sim_fail(e, SIM_EINVAL,
		    "%s has rights that no file of results has: %s.", shown,
		    x->mode);
	return 0;
}

/* All are under one folder, that of the first. */
static int check_top(struct xp_archive *a, const char *name, struct sim_err *e)
{
	const size_t n = strcspn(name, "/") + 1;
	char shown[64];
	if (!a->top && !(a->top = strndup(name, n)))
		return sim_fail(e, SIM_ENOMEM, "no memory for a name.");
	if (strncmp(name, a->top, n) == 0 && strlen(a->top) == n)
		return 0;
	return sim_fail(e, SIM_EINVAL, "%s is not under %s, as others are.",
	    sim_quote(shown, name), a->top);
}

static int take_line(struct xp_archive *a, const char *line, size_t *cap,
    struct sim_err *e)
{
	struct entry x;
	int rc = read_entry(&x, line, e);
	if (rc == 0)
		rc = check_entry(&x, e);
	if (rc == 0)
		rc = check_top(a, x.name, e);
	if (rc < 0)
		return rc;
	a->n_bytes += x.size;
	if (a->n_bytes > XP_ARCHIVE_MAX || x.size > XP_ARCHIVE_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "it unpacks to more than %llu GiB.",
		    (unsigned long long)XP_ARCHIVE_MAX >> 30);
	if (*x.mode == 'd')
		return 0;
	if (a->n_files == MAX_FILES)
		return sim_fail(e, SIM_ELIMIT, "it has more than %d files.",
		    MAX_FILES);
	rc = SIM_RESERVE(&a->file, cap, a->n_files + 1, e);
	if (rc == 0)
		rc = sim_dup(&a->file[a->n_files], strchr(x.name, '/') + 1, e);
	a->n_files += rc == 0;
	return rc;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

int xp_archive_read_list(struct xp_archive *a, char *list, struct sim_err *e)
{
	size_t cap = 0;
	char shown[64];
	int rc = 0;
	while (rc == 0 && *list) {
		char *end = list + strcspn(list, "\n");
		char *next = end + (*end == '\n');
		*end = '\0';
		rc = take_line(a, list, &cap, e);
		list = next;
	}
	if (rc == 0 && a->n_files == 0)
		rc = sim_fail(e, SIM_EPARSE, "it holds no files.");
	if (rc < 0)
		return rc;
	qsort(a->file, a->n_files, sizeof(a->file[0]), by_name);
	for (size_t i = 1; i < a->n_files; i++)
		if (strcmp(a->file[i - 1], a->file[i]) == 0)
			return sim_fail(e, SIM_EINVAL, "%s is in it twice.",
			    sim_quote(shown, a->file[i]));
	return 0;
}

/* --- unpacking -------------------------------------------------------------*/

/* tar's own complaint, its first line, tells what is wrong with the file. */
static int run_tar(const char *const argv[], const char *file, uint64_t max,
    char **said, struct sim_err *e)
{
	const struct xp_program p = {.argv = argv,
	    .input = file,
	    .max_bytes = max,
	    .max_cpu_s = MAX_CPU_S};
	char *erred = NULL;
	int status = 0;
	int rc = xp_program_run(&p, said, &erred, &status, e);
	if (rc == 0 && status != 0) {
		rc = sim_fail(e, SIM_EPARSE,
		    "it is no gzipped tar, or not whole: %.*s.",
		    (int)strcspn(erred, "\n"),
		    *erred ? erred : "tar was stopped, as it takes no end");
		free(*said);
		*said = NULL;
	}
	free(erred);
	return rc;
}

static int make_folder(struct xp_archive *a, struct sim_err *e)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096];
	snprintf(path, sizeof(path), "%s/culprit-archive-XXXXXX",
	    tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(path))
		return sim_fail(e, SIM_EIO, "cannot make folder %s: %s.", path,
		    strerror(errno));
	return sim_dup(&a->folder, path, e);
}

int xp_archive_open(struct xp_archive *a, const char *file, struct sim_err *e)
{
	char *said = NULL, *top = NULL;
	*a = (struct xp_archive){0};
	const char *const list[] = {"tar", "--list", "--verbose", "--gzip",
	    "--file=-", "--numeric-owner", "--quoting-style=escape",
	    "--full-time", "--utc", NULL};
	int rc = run_tar(list, file, MAX_LIST, &said, e);
	if (rc == 0)
		rc = xp_archive_read_list(a, said, e);
	free(said);
	said = NULL;
	if (rc == 0 && (rc = make_folder(a, e)) == 0) {
		char into[4200];
		snprintf(into, sizeof(into), "--directory=%s", a->folder);
		const char *const unpack[] = {"tar", "--extract", "--gzip",
		    "--file=-", into, "--keep-old-files", "--no-same-owner",
		    "--no-same-permissions", NULL};
		rc = run_tar(unpack, file, XP_ARCHIVE_MAX, &said, e);
		free(said);
	}
	if (rc == 0) {
		const size_t n = strlen(a->folder) + strlen(a->top) + 2;
		if ((rc = SIM_ZALLOC(&top, n, e)) == 0) {
			snprintf(top, n, "%s/%s", a->folder, a->top);
			free(a->top);
			a->top = top;
		}
	}
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int flag,
    struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	/* What can't be removed is left; the rest goes. */
	(void)remove(path);
	return 0;
}

void xp_archive_close(struct xp_archive *a)
{
	if (a->folder)
		nftw(a->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (size_t i = 0; i < a->n_files; i++)
		free(a->file[i]);
	free(a->file);
	free(a->folder);
	free(a->top);
	*a = (struct xp_archive){0};
}

int xp_archive_has(const struct xp_archive *a, const char *name)
{
	return a->n_files > 0 &&
	    bsearch(&name, a->file, a->n_files, sizeof(a->file[0]), by_name);
}

/* --- checksums -------------------------------------------------------------*/

/* The names that the manifest has, in its own order; they point into TEXT. */
static int read_manifest(char *text, char ***name, size_t *n, struct sim_err *e)
{
	size_t cap = 0;
	char shown[64];
	int rc = 0;
	for (char *next; rc == 0 && *text; text = next) {
		char *end = text + strcspn(text, "\n");
		next = end + (*end == '\n');
		*end = '\0';
		if (strspn(text, "0123456789abcdef") != SUM ||
		    strncmp(text + SUM, "  ", 2) != 0)
			return sim_fail(e, SIM_EPARSE,
			    XP_ARCHIVE_MANIFEST
			    ": %s is no line of a checksum.",
			    sim_quote(shown, text));
		if ((rc = SIM_RESERVE(name, &cap, *n + 1, e)) == 0)
			(*name)[(*n)++] = text + SUM + 2;
	}
	if (*n > 0)
		qsort(*name, *n, sizeof(**name), by_name);
	return rc;
}

/* Both lists are sorted, so the first difference is where they part. */
static int same_names(const struct xp_archive *a, char *const name[], size_t n,
    struct sim_err *e)
{
	size_t i = 0, k = 0;
	while (i < n || k < a->n_files) {
		if (k < a->n_files &&
		    strcmp(a->file[k], XP_ARCHIVE_MANIFEST) == 0) {
			k++;
			continue;
		}
		const int order = i == n ? 1
		    : k == a->n_files    ? -1
					 : strcmp(name[i], a->file[k]);
		if (order < 0)
			return sim_fail(e, SIM_EMISMATCH,
			    "%s is missing: the manifest has it.", name[i]);
		if (order > 0)
			return sim_fail(e, SIM_EMISMATCH,
			    "%s is one too many: the manifest has it not.",
			    a->file[k]);
		i++;
		k++;
	}
	return 0;
}

static int run_sums(const struct xp_archive *a, struct sim_err *e)
{
	static const char *const argv[] = {"sha256sum", "--check", "--strict",
	    "--quiet", XP_ARCHIVE_MANIFEST, NULL};
	const struct xp_program p = {.argv = argv,
	    .folder = a->top,
	    .max_bytes = MAX_LIST,
	    .max_cpu_s = MAX_CPU_S};
	char *said = NULL, *erred = NULL;
	int status = 0;
	int rc = xp_program_run(&p, &said, &erred, &status, e);
	/* It says "results/x.h5: FAILED". */
	if (rc == 0 && status != 0)
		rc = sim_fail(e, SIM_EMISMATCH,
		    "%.*s: its bytes are not those of its checksum.",
		    (int)strcspn(said, ":\n"), said);
	free(said);
	free(erred);
	return rc;
}

int xp_archive_read_manifest(const struct xp_archive *a, char *text,
    struct sim_err *e)
{
	char **name = NULL;
	size_t n = 0;
	int rc = read_manifest(text, &name, &n, e);
	if (rc == 0)
		rc = same_names(a, name, n, e);
	free(name);
	return rc;
}

int xp_archive_check_sums(struct xp_archive *a, struct sim_err *e)
{
	char path[4400];
	void *text = NULL;
	size_t size = 0;
	if (!xp_archive_has(a, XP_ARCHIVE_MANIFEST))
		return sim_fail(e, SIM_EPARSE, "it has no %s.",
		    XP_ARCHIVE_MANIFEST);
	snprintf(path, sizeof(path), "%s%s", a->top, XP_ARCHIVE_MANIFEST);
	int rc = res_file_read(path, &text, &size, e);
	if (rc == 0)
		a->key = sim_fnv(SIM_FNV_START, text, size);
	if (rc == 0 && (rc = xp_archive_read_manifest(a, text, e)) == 0)
		rc = run_sums(a, e);
	free(text);
	return rc;
}
