/* tests/rigs/frail.c -- files on a kernel that fails when it is told to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/frail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "results/file.h"

struct frail frail;

/* --- the kernel ----------------------------------------------------------- */

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __real_read(int fd, void *p, size_t n);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
char *__real_realpath(const char *restrict path, char *restrict to);

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __wrap_read(int fd, void *p, size_t n);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
char *__wrap_realpath(const char *restrict path, char *restrict to);

static void note(char what)
{
	if (frail.n_log < sizeof(frail.log) - 1)
		frail.log[frail.n_log++] = what;
}

void frail_assert_called(const char *what)
{
	assert_string_equal(frail.log, what);
}

void frail_forget(void)
{
	memset(&frail, 0, sizeof(frail));
}

static int fails(enum frail_call c)
{
	if (frail.why[c] == 0 || frail.spared[c]-- > 0)
		return 0;
	errno = frail.why[c];
	frail.why[c] = 0;
	frail.spared[c] = 0;
	return 1;
}

static size_t taken(size_t n)
{
	return frail.at_once && n > frail.at_once ? frail.at_once : n;
}

/* What is opened is for no program that is started meanwhile. */
int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	assert_true(flags & O_CLOEXEC);
	return __real_open(path, flags, mode);
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	if (fd == 1 || fd == 2)
		return __real_write(fd, p, n);
	note('W');
	if (fails(FRAIL_WRITE))
		return errno == FRAIL_NOTHING ? 0 : -1;
	return __real_write(fd, p, taken(n));
}

ssize_t __wrap_read(int fd, void *p, size_t n)
{
	if (frail.grows) {
		FILE *f = fopen(test_path("file"), "a");
		assert_non_null(f);
		fputc('+', f);
		fclose(f);
		frail.grows = 0;
	}
	if (fails(FRAIL_READ))
		return errno == FRAIL_NOTHING ? 0 : -1;
	return __real_read(fd, p, taken(n));
}

int __wrap_fsync(int fd)
{
	assert_int_equal(fstat(fd, &frail.synced), 0);
	note(S_ISDIR(frail.synced.st_mode) ? 'D' : 'F');
	return fails(FRAIL_SYNC) ? -1 : __real_fsync(fd);
}

/* What it leaves in errno when it succeeds means nothing. */
int __wrap_close(int fd)
{
	note('C');
	const int failed = fails(FRAIL_CLOSE), why = errno;
	const int rc = __real_close(fd);
	errno = failed ? why : rc < 0 ? errno : EXDEV;
	return failed ? -1 : rc;
}

int __wrap_rename(const char *from, const char *to)
{
	note('R');
	return fails(FRAIL_RENAME) ? -1 : __real_rename(from, to);
}

int __wrap_link(const char *from, const char *to)
{
	return fails(FRAIL_LINK) ? -1 : __real_link(from, to);
}

char *__wrap_realpath(const char *restrict path, char *restrict to)
{
	assert_null(to);
	return fails(FRAIL_REAL) ? NULL : __real_realpath(path, to);
}

/* --- files ---------------------------------------------------------------- */

int frail_folder_make(void **state)
{
	enum { PATIENCE_S = 10 };
	frail_forget();
	umask(022);
	alarm(PATIENCE_S);
	return test_folder_make(state);
}

int frail_free_fd(void)
{
	const int fd = dup(0);
	__real_close(fd);
	return fd;
}

void frail_assert_holds(const char *name, const void *bytes, size_t n)
{
	char is[8192];
	FILE *f = fopen(test_path(name), "r");
	assert_non_null(f);
	assert_int_equal(fread(is, 1, sizeof(is), f), n);
	fclose(f);
	assert_memory_equal(is, bytes, n);
}

mode_t frail_mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(test_path(name), &st), 0);
	return st.st_mode;
}

int frail_is_there(const char *name)
{
	struct stat st;
	return lstat(test_path(name), &st) == 0;
}

const char *frail_temp_of(const char *name)
{
	static char temp[128];
	snprintf(temp, sizeof(temp), "%s.tmp.%ld", name, (long)getpid());
	return temp;
}

void frail_assert_said(int rc, const char *verb, const char *name,
    const char *reason)
{
	char text[300];
	snprintf(text, sizeof(text), "cannot %s %s: %s.", verb, test_path(name),
	    reason);
	assert_int_equal(rc, SIM_EIO);
	assert_string_equal(test_err()->msg, text);
}

int frail_write_to(const char *name, const char *text)
{
	return res_file_write(test_path(name), text, strlen(text), test_err());
}
