/* tests/results/file_test.c -- whole files, and a kernel that fails at each step.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/rigs/folder.h"
#include "tests/test.h"

/* --- a kernel that fails when it is told to ------------------------------- */

enum call { WRITE, READ, SYNC, CLOSE, RENAME, LINK, REAL, N_CALLS };

/* WHY the next call of each fails, behind those that are spared, or NOTHING: it
 * takes or finds no more; how many bytes are written or read at once, if not 0;
 * and what was called: Write, sync of a File or a Directory, Close, Rename. */
enum { NOTHING = -1 };
static struct {
	int why[N_CALLS];
	unsigned spared[N_CALLS];
	size_t at_once;
	int grows; /* is FILE longer by a byte from the next read on? */
	char log[64];
	size_t n_log;
	struct stat synced; /* what was synced last */
} kernel;

static void note(char what)
{
	if (kernel.n_log < sizeof(kernel.log) - 1)
		kernel.log[kernel.n_log++] = what;
}

static void assert_called(const char *what)
{
	assert_string_equal(kernel.log, what);
}

static void forget(void)
{
	memset(&kernel, 0, sizeof(kernel));
}

static int fails(enum call c)
{
	if (kernel.why[c] == 0 || kernel.spared[c]-- > 0)
		return 0;
	errno = kernel.why[c];
	kernel.why[c] = 0;
	kernel.spared[c] = 0;
	return 1;
}

static size_t taken(size_t n)
{
	return kernel.at_once && n > kernel.at_once ? kernel.at_once : n;
}

/* What is opened is for no program that is started meanwhile. */
int open(const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	assert_true(flags & O_CLOEXEC);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (fd == 1 || fd == 2)
		return syscall(SYS_write, fd, p, n);
	note('W');
	if (fails(WRITE))
		return errno == NOTHING ? 0 : -1;
	return syscall(SYS_write, fd, p, taken(n));
}

ssize_t read(int fd, void *p, size_t n)
{
	if (kernel.grows) {
		FILE *f = fopen(test_path("file"), "a");
		assert_non_null(f);
		fputc('+', f);
		fclose(f);
		kernel.grows = 0;
	}
	if (fails(READ))
		return errno == NOTHING ? 0 : -1;
	return syscall(SYS_read, fd, p, taken(n));
}

int fsync(int fd)
{
	assert_int_equal(fstat(fd, &kernel.synced), 0);
	note(S_ISDIR(kernel.synced.st_mode) ? 'D' : 'F');
	return fails(SYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

/* What it leaves in errno when it succeeds means nothing. */
int close(int fd)
{
	note('C');
	const int failed = fails(CLOSE), why = errno;
	const int rc = (int)syscall(SYS_close, fd);
	errno = failed ? why : rc < 0 ? errno : EXDEV;
	return failed ? -1 : rc;
}

int rename(const char *from, const char *to)
{
	note('R');
	return fails(RENAME)
	    ? -1
	    : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int link(const char *from, const char *to)
{
	return fails(LINK)
	    ? -1
	    : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

char *realpath(const char *restrict path, char *restrict to)
{
	assert_null(to);
	return fails(REAL) ? NULL : canonicalize_file_name(path);
}

/* --- helpers -------------------------------------------------------------- */

/* Who waits for a pipe's other end waits no longer than this. */
enum { PATIENCE_S = 10 };

static int make_folder(void **state)
{
	forget();
	umask(022);
	alarm(PATIENCE_S);
	return test_folder_make(state);
}

/* The lowest number that a file could be opened as. */
static int free_fd(void)
{
	const int fd = dup(0);
	syscall(SYS_close, fd);
	return fd;
}

static void assert_holds(const char *name, const void *bytes, size_t n)
{
	char is[8192];
	FILE *f = fopen(test_path(name), "r");
	assert_non_null(f);
	assert_int_equal(fread(is, 1, sizeof(is), f), n);
	fclose(f);
	assert_memory_equal(is, bytes, n);
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(test_path(name), &st), 0);
	return st.st_mode;
}

static int is_there(const char *name)
{
	struct stat st;
	return lstat(test_path(name), &st) == 0;
}

/* The temporary file of NAME. */
static const char *temp_of(const char *name)
{
	static char temp[128];
	snprintf(temp, sizeof(temp), "%s.tmp.%ld", name, (long)getpid());
	return temp;
}

/* "cannot VERB PATH: REASON." */
static void assert_said(int rc, const char *verb, const char *name,
    const char *reason)
{
	char text[300];
	snprintf(text, sizeof(text), "cannot %s %s: %s.", verb, test_path(name),
	    reason);
	assert_int_equal(rc, SIM_EIO);
	assert_string_equal(test_err()->msg, text);
}

static int write_to(const char *name, const char *text)
{
	return res_file_write(test_path(name), text, strlen(text), test_err());
}

/* --- a file that is written whole ----------------------------------------- */

static void what_is_written_is_the_file_and_on_disk(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 5000, 7};
	const int fd = free_fd();
	char bytes[5000];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	for (size_t i = 0; i < 4; i++) {
		forget();
		assert_ok(res_file_write(test_path("file"), bytes, sizes[i],
		    test_err()));
		/* The name only once the bytes are there, and then the name. */
		assert_called(sizes[i] > 0 ? "WFCRDC" : "FCRDC");
		assert_holds("file", bytes, sizes[i]);
		assert_int_equal(mode_of("file"), S_IFREG | 0644);
		assert_false(is_there(temp_of("file")));
		assert_int_equal(free_fd(), fd);
	}
}

static void a_write_may_be_interrupted_or_take_less(void **state)
{
	(void)state;
	kernel.why[WRITE] = EINTR;
	kernel.spared[WRITE] = 2;
	kernel.at_once = 3;
	assert_ok(write_to("file", "12345678"));
	assert_called("WWWWFCRDC");
	assert_holds("file", "12345678", 8);
	forget();
	kernel.why[WRITE] = NOTHING;
	assert_ok(write_to("file", "12345678"));
	assert_called("WWFCRDC");
	assert_holds("file", "12345678", 8);
}

static void a_failed_write_leaves_what_was_there(void **state)
{
	(void)state;
	static const struct {
		enum call call;
		int why;
		const char *log, *reason;
	} bad[] = {{WRITE, ENOSPC, "WC", "No space left on device"},
	    {SYNC, EIO, "WFC", "Input/output error"},
	    {CLOSE, EDQUOT, "WFC", "Disk quota exceeded"},
	    {RENAME, EPERM, "WFCR", "Operation not permitted"}};
	const int fd = free_fd();
	for (int there = 0; there < 2; there++) {
		if (there)
			test_write("file", "old");
		for (size_t i = 0; i < 4; i++) {
			forget();
			kernel.why[bad[i].call] = bad[i].why;
			assert_said(write_to("file", "new"), "write", "file",
			    bad[i].reason);
			assert_called(bad[i].log);
			assert_false(is_there(temp_of("file")));
			assert_int_equal(is_there("file"), there);
			assert_int_equal(free_fd(), fd);
		}
	}
	assert_holds("file", "old", 3);
	/* The first of two reasons is told. */
	kernel.why[WRITE] = ENOSPC;
	kernel.why[CLOSE] = EIO;
	assert_said(write_to("file", "new"), "write", "file",
	    "No space left on device");
}

static void a_name_that_may_be_lost_is_told(void **state)
{
	(void)state;
	const int fd = free_fd();
	kernel.why[SYNC] = EIO;
	kernel.spared[SYNC] = 1;
	assert_said(write_to("file", "new"), "sync the folder of", "file",
	    "Input/output error");
	assert_holds("file", "new", 3);
	/* There is nothing to be done where folders cannot be synced. */
	kernel.why[SYNC] = EINVAL;
	kernel.spared[SYNC] = 1;
	assert_ok(write_to("file", "newer"));
	assert_holds("file", "newer", 5);
	assert_int_equal(free_fd(), fd);
}

static void what_a_killed_writer_left_is_written_over(void **state)
{
	(void)state;
	test_write(temp_of("file"), "longer than what follows");
	assert_ok(write_to("file", "short"));
	assert_holds("file", "short", 5);
	/* But not through a link. */
	test_write("other", "of somebody");
	assert_int_equal(symlink(test_path("other"),
			     test_path(temp_of("file"))),
	    0);
	assert_said(write_to("file", "new"), "write", "file",
	    "Too many levels of symbolic links");
	assert_holds("file", "short", 5);
	assert_holds("other", "of somebody", 11);
	assert_ok(
	    res_file_write_private(test_path("file"), "key", 3, test_err()));
	assert_int_equal(mode_of("file"), S_IFREG | 0600);
	assert_holds("file", "key", 3);
	assert_holds("other", "of somebody", 11);
}

static void a_secret_is_its_owners_alone(void **state)
{
	(void)state;
	umask(0);
	assert_ok(write_to("file", "public"));
	assert_int_equal(mode_of("file"), S_IFREG | 0666);
	test_write(temp_of("file"), "left by a public one");
	assert_ok(
	    res_file_write_private(test_path("file"), "key", 3, test_err()));
	assert_int_equal(mode_of("file"), S_IFREG | 0600);
	assert_holds("file", "key", 3);
}

static int write_one(void *arg, struct sim_err *e)
{
	return res_file_write(arg, "new", 3, e);
}

static void a_name_that_there_is_no_memory_for_is_told(void **state)
{
	(void)state;
	char path[128], text[200];
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_each_alloc_fails(write_one, path);
	test_fail_alloc(1);
	assert_int_equal(res_file_write(path, "x", 1, test_err()), SIM_ENOMEM);
	test_fail_alloc(0);
	snprintf(text, sizeof(text), "no memory to write %s.", path);
	assert_string_equal(test_err()->msg, text);
}

/* --- temporary files and folders ------------------------------------------ */

static void a_temporary_file_is_named_after_its_file(void **state)
{
	(void)state;
	char *temp, byte = 0;
	int fd;
	assert_ok(res_file_temp(&temp, &fd, test_path("file"), test_err()));
	assert_string_equal(temp, test_path(temp_of("file")));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	free(temp);
	temp = &byte;
	assert_said(res_file_temp(&temp, &fd, test_path("no/file"), test_err()),
	    "write", "no/file", "No such file or directory");
	assert_null(temp);
	assert_int_equal(fd, -1);
	fd = 0;
	test_fail_alloc(1);
	assert_int_equal(res_file_temp(&temp, &fd, "x", test_err()),
	    SIM_ENOMEM);
	test_fail_alloc(0);
	assert_int_equal(fd, -1);
}

/* FOLDER is synced for PATH. */
static void assert_syncs(const char *path, const char *folder)
{
	struct stat want;
	const int fd = free_fd();
	forget();
	assert_int_equal(stat(folder, &want), 0);
	assert_int_equal(res_file_sync_folder(path), 0);
	assert_called("DC");
	assert_true(kernel.synced.st_ino == want.st_ino &&
	    kernel.synced.st_dev == want.st_dev);
	assert_int_equal(free_fd(), fd);
}

static void the_folder_of_a_path_is_synced(void **state)
{
	(void)state;
	const int fd = free_fd();
	char path[PATH_MAX + 10];
	assert_syncs(test_path("file"), test_folder);
	assert_syncs("/file", "/");
	assert_syncs("file", ".");
	assert_int_equal(res_file_sync_folder(test_path("no/file")), -1);
	assert_int_equal(errno, ENOENT);
	test_write("file", "");
	assert_int_equal(res_file_sync_folder(test_path("file/file")), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(free_fd(), fd);
	kernel.why[SYNC] = EIO;
	assert_int_equal(res_file_sync_folder(test_path("file")), -1);
	assert_int_equal(errno, EIO);
	kernel.why[SYNC] = EINVAL;
	assert_int_equal(res_file_sync_folder(test_path("file")), 0);
	/* The longest that a kernel takes, and one byte more. */
	const size_t n = strlen(test_folder);
	memset(path, '/', sizeof(path));
	memcpy(path, test_folder, n);
	for (size_t i = n + 1; i < PATH_MAX - 2; i += 2)
		path[i] = '.';
	path[PATH_MAX - 2] = '.';
	memcpy(path + PATH_MAX - 1, "/x", 3);
	assert_int_equal(res_file_sync_folder(path), 0);
	memcpy(path + PATH_MAX - 1, "./x", 4);
	assert_int_equal(res_file_sync_folder(path), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(free_fd(), fd);
}

/* --- what is there -------------------------------------------------------- */

static void a_file_alone_would_be_replaced(void **state)
{
	(void)state;
	int there = 7;
	assert_ok(res_file_look(test_path("file"), &there, test_err()));
	assert_int_equal(there, 0);
	test_write("file", "");
	assert_ok(res_file_look(test_path("file"), &there, test_err()));
	assert_int_equal(there, 1);
	assert_int_equal(symlink(test_path("file"), test_path("link")), 0);
	there = 0;
	assert_ok(res_file_look(test_path("link"), &there, test_err()));
	assert_int_equal(there, 1);
	assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
	assert_said(res_file_look(test_path("pipe"), &there, test_err()),
	    "write", "pipe", "not a file");
	assert_said(res_file_look(test_path(""), &there, test_err()), "write",
	    "", "not a file");
}

static int keep(const char *name)
{
	return res_file_keep(test_path(name), test_err());
}

static void assert_not_kept(const char *reason)
{
	char text[400];
	assert_int_equal(keep("file"), SIM_EIO);
	snprintf(text, sizeof(text), "cannot keep %s as %s: %s.",
	    test_path("file"), test_path("file~"), reason);
	assert_string_equal(test_err()->msg, text);
}

static int keep_one(void *arg, struct sim_err *e)
{
	return res_file_keep(arg, e);
}

static void a_former_file_is_kept_beside(void **state)
{
	(void)state;
	char path[128];
	assert_not_kept("No such file or directory");
	test_write("file", "first");
	assert_ok(keep("file"));
	assert_holds("file", "first", 5);
	assert_holds("file~", "first", 5);
	assert_ok(write_to("file", "second"));
	assert_holds("file~", "first", 5);
	assert_ok(keep("file"));
	assert_holds("file", "second", 6);
	assert_holds("file~", "second", 6);
	/* Where there are no links it is there under one name. */
	kernel.why[LINK] = EPERM;
	assert_ok(keep("file"));
	assert_false(is_there("file"));
	assert_holds("file~", "second", 6);
	test_write("file", "third");
	kernel.why[LINK] = EPERM;
	kernel.why[RENAME] = EROFS;
	assert_not_kept("Read-only file system");
	assert_holds("file", "third", 5);
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_each_alloc_fails(keep_one, path);
	assert_int_equal(unlink(test_path("file~")), 0);
	assert_int_equal(mkdir(test_path("file~"), 0700), 0);
	assert_not_kept("Is a directory");
	assert_holds("file", "third", 5);
}

/* --- a file that is written bit by bit ------------------------------------ */

static struct res_file_draft begun(const char *path)
{
	struct res_file_draft d;
	memset(&d, 0xee, sizeof(d));
	assert_ok(res_file_begin(&d, path, test_err()));
	return d;
}

static void put(const struct res_file_draft *d, const char *text)
{
	assert_int_equal(write(d->fd, text, strlen(text)), strlen(text));
}

static void assert_ended(const struct res_file_draft *d)
{
	assert_null(d->path);
	assert_null(d->temp);
	assert_null(d->real);
	assert_int_equal(d->fd, -1);
}

static void a_draft_is_the_file_once_it_is_ended(void **state)
{
	(void)state;
	const char *path = test_path("file");
	const int fd = free_fd();
	for (int there = 0; there < 2; there++) {
		struct res_file_draft d = begun(path);
		assert_ptr_equal(d.path, path);
		assert_null(d.real);
		put(&d, there ? "a" : "one,");
		assert_int_equal(is_there("file"), there);
		assert_true(is_there(temp_of("file")));
		put(&d, there ? "b" : "two");
		forget();
		assert_ok(res_file_end(&d, 0, test_err()));
		assert_called("FCRDC");
		assert_ended(&d);
		assert_false(is_there(temp_of("file")));
		assert_holds("file", there ? "ab" : "one,two", there ? 2 : 7);
		assert_int_equal(free_fd(), fd);
	}
}

static void a_draft_that_failed_leaves_what_was_there(void **state)
{
	(void)state;
	static const struct {
		enum call call;
		int why;
		const char *log, *reason;
	} bad[] = {{SYNC, EIO, "FC", "Input/output error"},
	    {CLOSE, ENOSPC, "FC", "No space left on device"},
	    {RENAME, EPERM, "FCR", "Operation not permitted"}};
	char path[128];
	const int fd = free_fd();
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_write("file", "old");
	for (size_t i = 0; i < 3; i++) {
		struct res_file_draft d = begun(path);
		put(&d, "new");
		forget();
		kernel.why[bad[i].call] = bad[i].why;
		assert_said(res_file_end(&d, 0, test_err()), "write", "file",
		    bad[i].reason);
		assert_called(bad[i].log);
		assert_ended(&d);
		assert_false(is_there(temp_of("file")));
		assert_holds("file", "old", 3);
		assert_int_equal(free_fd(), fd);
	}
	/* Of its writer the first reason is told, whatever fails then. */
	for (int also = 0; also < 2; also++) {
		struct res_file_draft d = begun(path);
		put(&d, "new");
		forget();
		kernel.why[CLOSE] = also ? EIO : 0;
		sim_fail(test_err(), SIM_EPARSE, "it was nonsense.");
		assert_int_equal(res_file_end(&d, SIM_EPARSE, test_err()),
		    SIM_EPARSE);
		assert_string_equal(test_err()->msg, "it was nonsense.");
		assert_called("C");
		assert_ended(&d);
		assert_false(is_there(temp_of("file")));
		assert_holds("file", "old", 3);
	}
	/* It is there, but its name may be lost. */
	struct res_file_draft d = begun(path);
	put(&d, "new");
	kernel.why[SYNC] = EIO;
	kernel.spared[SYNC] = 1;
	assert_said(res_file_end(&d, 0, test_err()), "sync the folder of",
	    "file", "Input/output error");
	assert_holds("file", "new", 3);
	assert_int_equal(free_fd(), fd);
}

/* A link stays, and its file is replaced, with its temporary one beside it. */
static void a_draft_of_a_link_is_what_it_leads_to(void **state)
{
	(void)state;
	char path[128], real[128];
	snprintf(path, sizeof(path), "%s", test_path("link"));
	assert_int_equal(mkdir(test_path("deep"), 0700), 0);
	test_write("deep/file", "old and long");
	assert_int_equal(symlink("deep/file", path), 0);
	snprintf(real, sizeof(real), "%s", test_path("deep/file"));
	for (int rc = 0; rc >= SIM_EIO; rc += SIM_EIO) {
		struct res_file_draft d = begun(path);
		assert_string_equal(d.path, real);
		assert_ptr_equal(d.path, d.real);
		assert_true(is_there(temp_of("deep/file")));
		put(&d, rc ? "lost" : "new");
		assert_int_equal(res_file_end(&d, rc, test_err()), rc);
		assert_ended(&d);
		assert_true(S_ISLNK(mode_of("link")));
		assert_holds("deep/file", "new", 3);
		assert_false(is_there(temp_of("deep/file")));
	}
}

static int draft_one(void *arg, struct sim_err *e)
{
	struct res_file_draft d;
	const int rc = res_file_begin(&d, arg, e);
	return rc < 0 ? rc : res_file_end(&d, 0, e);
}

static void no_memory_for_a_draft_is_told(void **state)
{
	(void)state;
	char path[128], text[200];
	struct res_file_draft d;
	snprintf(path, sizeof(path), "%s", test_path("link"));
	test_write("file", "old");
	assert_int_equal(symlink("file", path), 0);
	test_each_alloc_fails(draft_one, path);
	kernel.why[REAL] = ENOMEM;
	memset(&d, 0xee, sizeof(d));
	assert_int_equal(res_file_begin(&d, path, test_err()), SIM_ENOMEM);
	assert_int_equal(d.fd, -1);
	assert_null(d.real);
	assert_null(d.temp);
	snprintf(text, sizeof(text), "no memory to write %s.", path);
	assert_string_equal(test_err()->msg, text);
	test_fail_alloc(1);
	assert_int_equal(res_file_begin(&d, path, test_err()), SIM_ENOMEM);
	test_fail_alloc(0);
	assert_null(d.real);
	assert_null(d.temp);
	assert_int_equal(d.fd, -1);
}

static void what_is_no_file_is_written_itself(void **state)
{
	(void)state;
	char path[128], byte[4] = "";
	const int fd = free_fd();
	struct res_file_draft d;
	snprintf(path, sizeof(path), "%s", test_path("pipe"));
	assert_int_equal(mkfifo(path, 0600), 0);
	const int in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	for (int by_link = 0; by_link < 2; by_link++) {
		if (by_link) {
			snprintf(path, sizeof(path), "%s", test_path("link"));
			assert_int_equal(symlink("pipe", path), 0);
		}
		d = begun(path);
		assert_ptr_equal(d.path, path);
		assert_null(d.temp);
		assert_null(d.real);
		assert_int_equal(fcntl(d.fd, F_GETFD), FD_CLOEXEC);
		put(&d, "abc");
		forget();
		assert_ok(res_file_end(&d, 0, test_err()));
		assert_called("C");
		assert_ended(&d);
		assert_int_equal(read(in, byte, 4), 3);
		assert_memory_equal(byte, "abc", 3);
		/* Who failed takes nothing away. */
		d = begun(path);
		assert_int_equal(res_file_end(&d, SIM_EIO, test_err()),
		    SIM_EIO);
		assert_true(is_there("pipe"));
		d = begun(path);
		kernel.why[CLOSE] = EIO;
		assert_said(res_file_end(&d, 0, test_err()), "write",
		    by_link ? "link" : "pipe", "Input/output error");
	}
	close(in);
	assert_int_equal(free_fd(), fd);
}

static void a_draft_that_cannot_be_begun_is_told(void **state)
{
	(void)state;
	struct res_file_draft d;
	const int fd = free_fd();
	static const char *bad[][2] = {{"no/file", "No such file or directory"},
	    {"folder", "Is a directory"},
	    {"nowhere", "No such file or directory"},
	    {"to_folder", "Is a directory"}};
	assert_int_equal(mkdir(test_path("folder"), 0700), 0);
	assert_int_equal(symlink("gone", test_path("nowhere")), 0);
	assert_int_equal(symlink("folder", test_path("to_folder")), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_said(res_file_begin(&d, test_path(bad[i][0]),
				test_err()),
		    "write", bad[i][0], bad[i][1]);
		assert_int_equal(d.fd, -1);
		assert_null(d.temp);
		assert_null(d.real);
		assert_int_equal(free_fd(), fd);
	}
	assert_false(is_there("gone"));
}

static void another_hand_on_a_draft_is_closed_by_itself(void **state)
{
	(void)state;
	struct res_file_draft d = begun(test_path("file"));
	const int fd = res_file_hand(&d, test_err());
	assert_true(fd >= 0 && fd != d.fd);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "one,", 4), 4);
	close(fd);
	put(&d, "two");
	assert_ok(res_file_end(&d, 0, test_err()));
	assert_holds("file", "one,two", 7);
	d = (struct res_file_draft){.path = test_path("file"), .fd = -1};
	assert_said(res_file_hand(&d, test_err()), "write", "file",
	    "Bad file descriptor");
}

/* --- a file that is read whole -------------------------------------------- */

static int read_one(const char *name, void **bytes, size_t *n)
{
	return res_file_read(test_path(name), bytes, n, test_err());
}

static void a_file_is_read_whole_with_a_zero_behind(void **state)
{
	(void)state;
	static const char *texts[] = {"", "x", "some more of it"};
	const int fd = free_fd();
	for (size_t i = 0; i < 3; i++) {
		void *bytes = NULL;
		size_t n = 99;
		test_write("file", texts[i]);
		kernel.at_once = 4;
		kernel.why[READ] = EINTR;
		kernel.spared[READ] = i == 2 ? 1 : 0;
		if (i == 0)
			kernel.why[READ] = 0;
		assert_ok(read_one("file", &bytes, &n));
		assert_int_equal(n, strlen(texts[i]));
		assert_memory_equal(bytes, texts[i], n + 1);
		assert_int_equal(kernel.why[READ], 0);
		free(bytes);
		assert_int_equal(free_fd(), fd);
	}
}

static void what_cannot_be_read_is_told(void **state)
{
	(void)state;
	static const char *bad[][2] = {{"gone", "No such file or directory"},
	    {"pipe", "not a file"}, {"", "not a file"}};
	const int fd = free_fd();
	void *bytes = NULL;
	size_t n;
	assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_said(read_one(bad[i][0], &bytes, &n), "read", bad[i][0],
		    bad[i][1]);
		assert_null(bytes);
		assert_int_equal(free_fd(), fd);
	}
	test_write("file", "four");
	kernel.why[READ] = EIO;
	assert_said(read_one("file", &bytes, &n), "read", "file",
	    "Input/output error");
	assert_null(bytes);
	assert_int_equal(free_fd(), fd);
}

/* It is shorter than it was when it was opened, or longer. */
static void a_file_that_is_being_written_is_busy(void **state)
{
	(void)state;
	const int fd = free_fd();
	void *bytes = NULL;
	size_t n;
	test_write("file", "four");
	for (int grows = 0; grows < 2; grows++) {
		kernel.grows = grows;
		kernel.at_once = 2;
		kernel.why[READ] = grows ? 0 : NOTHING;
		kernel.spared[READ] = 1;
		assert_said(read_one("file", &bytes, &n), "read", "file",
		    "Device or resource busy");
		assert_null(bytes);
		assert_int_equal(free_fd(), fd);
	}
}

/* As who was started without standard input gets for his first file. */
static void the_number_0_is_as_good_as_others(void **state)
{
	(void)state;
	const int in = dup(0);
	void *bytes;
	size_t n;
	close(0);
	forget();
	assert_ok(write_to("file", "whole"));
	assert_called("WFCRDC");
	assert_ok(read_one("file", &bytes, &n));
	assert_memory_equal(bytes, "whole", 6);
	free(bytes);
	struct res_file_draft d = begun(test_path("file"));
	assert_int_equal(d.fd, 0);
	put(&d, "new");
	assert_ok(res_file_end(&d, 0, test_err()));
	assert_holds("file", "new", 3);
	/* A pipe of our own, and no device: who errs would replace it. */
	assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
	const int reader =
	    open(test_path("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(reader, 0);
	const int moved = fcntl(reader, F_DUPFD_CLOEXEC, 3);
	close(0);
	d = begun(test_path("pipe"));
	assert_int_equal(d.fd, 0);
	assert_ok(res_file_end(&d, 0, test_err()));
	close(moved);
	d = (struct res_file_draft){.path = "x", .fd = in};
	assert_int_equal(res_file_hand(&d, test_err()), 0);
	assert_int_equal(fcntl(0, F_GETFD), FD_CLOEXEC);
	assert_int_equal(dup2(in, 0), 0);
	close(in);
}

static int read_all(void *arg, struct sim_err *e)
{
	void *bytes;
	size_t n;
	const int rc = res_file_read(arg, &bytes, &n, e);
	if (rc == 0)
		free(bytes);
	else
		assert_null(bytes);
	return rc;
}

static void no_memory_for_a_file_is_told_with_its_size(void **state)
{
	(void)state;
	char path[128], text[200];
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_write("file", "12345");
	test_each_alloc_fails(read_all, path);
	test_fail_alloc(1);
	assert_int_equal(read_all(path, test_err()), SIM_ENOMEM);
	test_fail_alloc(0);
	snprintf(text, sizeof(text), "no memory for %s (5 bytes).", path);
	assert_string_equal(test_err()->msg, text);
}

#define IN_A_FOLDER(test)                                                      \
	cmocka_unit_test_setup_teardown(test, make_folder, test_folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_A_FOLDER(what_is_written_is_the_file_and_on_disk),
	    IN_A_FOLDER(a_write_may_be_interrupted_or_take_less),
	    IN_A_FOLDER(a_failed_write_leaves_what_was_there),
	    IN_A_FOLDER(a_name_that_may_be_lost_is_told),
	    IN_A_FOLDER(what_a_killed_writer_left_is_written_over),
	    IN_A_FOLDER(a_secret_is_its_owners_alone),
	    IN_A_FOLDER(a_name_that_there_is_no_memory_for_is_told),
	    IN_A_FOLDER(a_temporary_file_is_named_after_its_file),
	    IN_A_FOLDER(the_folder_of_a_path_is_synced),
	    IN_A_FOLDER(a_file_alone_would_be_replaced),
	    IN_A_FOLDER(a_former_file_is_kept_beside),
	    IN_A_FOLDER(a_draft_is_the_file_once_it_is_ended),
	    IN_A_FOLDER(a_draft_that_failed_leaves_what_was_there),
	    IN_A_FOLDER(a_draft_of_a_link_is_what_it_leads_to),
	    IN_A_FOLDER(no_memory_for_a_draft_is_told),
	    IN_A_FOLDER(what_is_no_file_is_written_itself),
	    IN_A_FOLDER(a_draft_that_cannot_be_begun_is_told),
	    IN_A_FOLDER(another_hand_on_a_draft_is_closed_by_itself),
	    IN_A_FOLDER(a_file_is_read_whole_with_a_zero_behind),
	    IN_A_FOLDER(what_cannot_be_read_is_told),
	    IN_A_FOLDER(a_file_that_is_being_written_is_busy),
	    IN_A_FOLDER(the_number_0_is_as_good_as_others),
	    IN_A_FOLDER(no_memory_for_a_file_is_told_with_its_size),
	};
	return cmocka_run_group_tests_name("results/file", tests, NULL, NULL);
}
