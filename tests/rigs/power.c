/* tests/rigs/power.c -- a disk that loses power, and what it may hold then.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is a number, whatever its names: the order in which it was first seen.
 * Folders are known by their path, as none is ever renamed.
 */
#include "tests/rigs/power.h"

#include <assert.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/rigs/power_parts.h"
#include "tests/test.h"

enum { MAX_FDS = 1024, KILLED = 97 /* an exit code of nobody else */ };

struct log *power_log;

static struct {
	int on;
	uint64_t kill_at;         /* deeds from now; 0: none */
	int file_of[MAX_FDS];     /* 1 + file; 0: none of ours */
	char *folder_of[MAX_FDS]; /* of a folder's descriptor */
} seen;

/* N bytes that all processes see. */
static void *power_room(const void *bytes, size_t n)
{
	struct log *log = power_log;
	assert(log->n_room + n <= ROOM);
	unsigned char *to = memcpy(log->room + log->n_room, bytes, n);
	log->n_room += n;
	return to;
}

/* --- noting --------------------------------------------------------------- */

/* What is below the folder, or NULL. A path beside a descriptor is below what
 * that stands for. */
static char *power_below(int dir_fd, const char *path)
{
	char *below = NULL;
	if (!seen.on)
		return NULL;
	const size_t n = strlen(power_log->folder);
	if (*path == '/') {
		if (strncmp(path, power_log->folder, n) != 0 ||
		    (path[n] != '/' && path[n] != '\0'))
			return NULL;
		return strdup(path + n + (path[n] == '/'));
	}
	if (dir_fd < 0 || dir_fd >= MAX_FDS || !seen.folder_of[dir_fd])
		return NULL;
	const char *in = seen.folder_of[dir_fd];
	assert(asprintf(&below, "%s%s%s", in, *in ? "/" : "", path) >= 0);
	return below;
}

/* Add O, whose bytes and names are copied, and be killed if it is time. */
static void power_note(struct op o)
{
	struct log *log = power_log;
	assert(log->n < MAX_OPS);
	if (o.bytes)
		o.bytes = power_room(o.bytes, o.n);
	if (o.name)
		o.name = power_room(o.name, strlen(o.name) + 1);
	if (o.old)
		o.old = power_room(o.old, strlen(o.old) + 1);
	log->op[log->n++] = o;
	if (seen.kill_at > 0 && --seen.kill_at == 0)
		_exit(KILLED);
}

/* The file that FD is, which has a number of its own if IS_NEW: the inode of one
 * that is gone may be used again. */
static int power_file(int fd, int is_new)
{
	struct log *log = power_log;
	struct stat st;
	int i = 0;
	fstat(fd, &st);
	while (i < log->n_files && log->inode[i].ino != st.st_ino)
		i++;
	if (i < log->n_files && !is_new)
		return log->inode[i].file;
	if (i < log->n_files)
		log->inode[i].ino = 0;
	assert(log->n_files < MAX_FILES);
	i = log->n_files++;
	log->inode[i].ino = st.st_ino;
	log->inode[i].file = i;
	return i;
}

static void power_opened(int fd, char *below, int flags, int was_there)
{
	struct stat st;
	fstat(fd, &st);
	assert(fd < MAX_FDS);
	if (S_ISDIR(st.st_mode)) {
		seen.folder_of[fd] = below;
		return;
	}
	const int file = power_file(fd, !was_there);
	seen.file_of[fd] = 1 + file;
	if (!was_there)
		power_note((struct op){DEED_LINK, .file = file, .name = below});
	else if (flags & O_TRUNC)
		power_note((struct op){DEED_CUT, .file = file});
	free(below);
}

static void power_wrote(int fd, const void *bytes, size_t n, uint64_t at)
{
	if (!seen.on || fd >= MAX_FDS || !seen.file_of[fd])
		return;
	power_note((struct op){DEED_WRITE, .file = seen.file_of[fd] - 1,
	    .at = at, .n = n, .bytes = bytes});
}

static void power_synced(int fd)
{
	if (!seen.on || fd >= MAX_FDS)
		return;
	if (seen.file_of[fd])
		power_note(
		    (struct op){DEED_SYNC, .file = seen.file_of[fd] - 1});
	else if (seen.folder_of[fd])
		power_note(
		    (struct op){DEED_SYNC_NAMES, .name = seen.folder_of[fd]});
}

/* --- the calls ------------------------------------------------------------ */

int __real_openat(int dir_fd, const char *path, int flags, ...);
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __real_ftruncate(int fd, off_t n);
int __real_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_unlinkat(int dir_fd, const char *path, int flags);

int __wrap_openat(int dir_fd, const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __wrap_ftruncate(int fd, off_t n);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_unlink(const char *path);
int __wrap_unlinkat(int dir_fd, const char *path, int flags);
int __wrap_mkdir(const char *path, mode_t mode);

static int power_openat(int dir_fd, const char *path, int flags, mode_t mode)
{
	char *below = power_below(dir_fd, path);
	const int was_there = below && faccessat(dir_fd, path, F_OK, 0) == 0;
	const int fd = __real_openat(dir_fd, path, flags, mode);
	if (below && fd >= 0)
		power_opened(fd, below, flags, was_there);
	else
		free(below);
	return fd;
}

int __wrap_openat(int dir_fd, const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	return power_openat(dir_fd, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	return power_openat(AT_FDCWD, path, flags, mode);
}

int __wrap_close(int fd)
{
	if (seen.on && fd >= 0 && fd < MAX_FDS) {
		seen.file_of[fd] = 0;
		free(seen.folder_of[fd]);
		seen.folder_of[fd] = NULL;
	}
	return __real_close(fd);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
	const off_t at = seen.on ? lseek(fd, 0, SEEK_CUR) : 0;
	const ssize_t put = __real_write(fd, bytes, n);
	if (put > 0)
		power_wrote(fd, bytes, (size_t)put, (uint64_t)at);
	return put;
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	const ssize_t put = __real_pwrite(fd, bytes, n, at);
	if (put > 0)
		power_wrote(fd, bytes, (size_t)put, (uint64_t)at);
	return put;
}

int __wrap_ftruncate(int fd, off_t n)
{
	const int rc = __real_ftruncate(fd, n);
	if (rc == 0 && seen.on && fd < MAX_FDS && seen.file_of[fd])
		power_note((struct op){DEED_CUT, .file = seen.file_of[fd] - 1,
		    .at = (uint64_t)n});
	return rc;
}

/* Noting it is enough: no power is lost here. */
int __wrap_fsync(int fd)
{
	power_synced(fd);
	return 0;
}

int __wrap_fdatasync(int fd)
{
	power_synced(fd);
	return 0;
}

/* A deed that moves NAME from OLD, if it was done and is below the folder. */
static void power_named(enum deed deed, int rc, char *old, char *name, int file)
{
	if (rc == 0 && name)
		power_note(
		    (struct op){deed, .file = file, .name = name, .old = old});
	free(old);
	free(name);
}

int __wrap_rename(const char *from, const char *to)
{
	char *old = power_below(AT_FDCWD, from);
	char *name = power_below(AT_FDCWD, to);
	const int rc = __real_rename(from, to);
	power_named(DEED_MOVE, rc, old, name, -1);
	return rc;
}

int __wrap_link(const char *from, const char *to)
{
	char *name = power_below(AT_FDCWD, to);
	const int rc = __real_link(from, to);
	int file = -1;
	if (rc == 0 && name) {
		const int fd = __real_open(to, O_RDONLY);
		file = power_file(fd, 0);
		__real_close(fd);
	}
	power_named(DEED_LINK, rc, NULL, name, file);
	return rc;
}

int __wrap_unlinkat(int dir_fd, const char *path, int flags)
{
	char *name = power_below(dir_fd, path);
	const int rc = __real_unlinkat(dir_fd, path, flags);
	power_named(DEED_REMOVE, rc, NULL, name, -1);
	return rc;
}

int __wrap_unlink(const char *path)
{
	char *name = power_below(AT_FDCWD, path);
	const int rc = __real_unlink(path);
	power_named(DEED_REMOVE, rc, NULL, name, -1);
	return rc;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	char *name = power_below(AT_FDCWD, path);
	const int rc = __real_mkdir(path, mode);
	power_named(DEED_FOLDER, rc, NULL, name, -1);
	return rc;
}

void power_begin(const char *folder)
{
	if (!power_log)
		power_log = mmap(NULL, sizeof(*power_log),
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(power_log != MAP_FAILED);
	memset(power_log, 0, offsetof(struct log, room));
	power_log->n_room = 0;
	snprintf(power_log->folder, sizeof(power_log->folder), "%s", folder);
}

int power_live(int life(void *arg), void *arg, uint64_t kill_at)
{
	int status = -1;
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		seen.on = 1;
		seen.kill_at = kill_at;
		_exit(life(arg) == 0 ? 0 : 1);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) ||
	    (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != KILLED))
		fail_msg("A life ended with status %d.", status);
	return WEXITSTATUS(status) == KILLED;
}

void power_promise(uint64_t n)
{
	power_log->promised = n;
	power_note((struct op){DEED_PROMISE, .file = -1, .at = n});
}

uint64_t power_promised(void)
{
	return power_log->promised;
}
