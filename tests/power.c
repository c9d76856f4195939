/* tests/power.c -- a disk that loses power, and what it may hold then.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is a number, whatever its names: the order in which it was first seen.
 * Folders are known by their path, as none is ever renamed.
 */
#include "tests/power.h"

#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/bytes.h"
#include "tests/test.h"

enum {
	SECTOR = 512,
	MAX_OPS = 4096,
	MAX_FILES = 256,
	MAX_FDS = 1024,
	ROOM = 1 << 24,
	KILLED = 97, /* an exit code of nobody else */
};

enum deed {
	DEED_WRITE, /* FILE's N bytes at AT */
	DEED_CUT,   /* FILE has AT bytes */
	DEED_SYNC,  /* of FILE */
	/* Names, in order: */
	DEED_FOLDER,     /* NAME */
	DEED_LINK,       /* NAME is FILE, whatever it was before */
	DEED_MOVE,       /* what OLD is, NAME is, and OLD is gone */
	DEED_REMOVE,     /* NAME */
	DEED_SYNC_NAMES, /* in folder NAME */
	DEED_PROMISE,    /* AT */
};

struct op {
	enum deed deed;
	int file;
	uint64_t at, n;
	const unsigned char *bytes;
	const char *name, *old; /* below the folder, "" itself */
};

/* What processes share: the log, and whose bytes and names are in ROOM. */
struct log {
	char folder[128];
	struct op op[MAX_OPS];
	size_t n;
	/* Which file an inode is now. */
	struct {
		ino_t ino;
		int file;
	} inode[MAX_FILES];
	int n_files;
	uint64_t promised;
	unsigned char room[ROOM];
	size_t n_room;
};

static struct {
	struct log *log;
	int on;
	uint64_t kill_at;         /* deeds from now; 0: none */
	int file_of[MAX_FDS];     /* 1 + file; 0: none of ours */
	char *folder_of[MAX_FDS]; /* of a folder's descriptor */
	const unsigned char *stale;
	size_t n_stale;
} seen;

/* N bytes that all processes see. */
static void *power_room(const void *bytes, size_t n)
{
	struct log *log = seen.log;
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
	const size_t n = strlen(seen.log->folder);
	if (*path == '/') {
		if (strncmp(path, seen.log->folder, n) != 0 ||
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
	struct log *log = seen.log;
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
	struct log *log = seen.log;
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
int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __real_ftruncate(int fd, off_t n);
int __real_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_unlinkat(int dir_fd, const char *path, int flags);
int __real_mkdir(const char *path, mode_t mode);

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
	if (!seen.log)
		seen.log = mmap(NULL, sizeof(*seen.log), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(seen.log != MAP_FAILED);
	memset(seen.log, 0, offsetof(struct log, room));
	seen.log->n_room = 0;
	snprintf(seen.log->folder, sizeof(seen.log->folder), "%s", folder);
}

int power_live(int life(void *arg), void *arg, uint64_t kill_at)
{
	int status;
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
	seen.log->promised = n;
	power_note((struct op){DEED_PROMISE, .file = -1, .at = n});
}

uint64_t power_promised(void)
{
	return seen.log->promised;
}

void power_stale(const unsigned char *bytes, size_t n)
{
	seen.stale = bytes;
	seen.n_stale = n;
}

/* --- states --------------------------------------------------------------- */

/* What one loss of power keeps, of the first N_OPS deeds. */
struct loss {
	size_t n_ops;
	size_t n_names; /* the deeds of names before this one are kept */
	unsigned char kept[MAX_OPS]; /* of writes and cuts */
	int is_stale;                /* what is lost holds old bytes */
};

enum kept { LOST, KEPT, TORN, LENGTH_ALONE, N_KEPT };

static int is_of_names(const struct op *o)
{
	return o->deed >= DEED_FOLDER && o->deed <= DEED_REMOVE;
}

static int is_of_bytes(const struct op *o)
{
	return o->deed == DEED_WRITE || o->deed == DEED_CUT;
}

/* Is the folder of NAME the one called FOLDER? */
static int is_in(const char *name, const char *folder)
{
	const char *slash = strrchr(name, '/');
	const size_t n = slash ? (size_t)(slash - name) : 0;
	return strlen(folder) == n && strncmp(name, folder, n) == 0;
}

/* The deeds of names before the one returned are on disk by an fsync. */
static size_t names_are_kept(size_t n_ops)
{
	size_t kept = 0;
	for (size_t s = 0; s < n_ops; s++)
		for (size_t i = kept;
		     seen.log->op[s].deed == DEED_SYNC_NAMES && i < s; i++)
			if (is_of_names(&seen.log->op[i]) &&
			    is_in(seen.log->op[i].name, seen.log->op[s].name))
				kept = i + 1;
	return kept;
}

/* The deeds that an fsync before N_OPS has not yet put on disk -> AT; how many. */
static size_t deeds_at_risk(size_t n_ops, size_t at[])
{
	size_t n = 0;
	for (size_t i = 0; i < n_ops; i++) {
		size_t s = i + 1;
		if (!is_of_bytes(&seen.log->op[i]))
			continue;
		while (s < n_ops &&
		    !(seen.log->op[s].deed == DEED_SYNC &&
			seen.log->op[s].file == seen.log->op[i].file))
			s++;
		if (s >= n_ops)
			at[n++] = i;
	}
	return n;
}

struct content {
	unsigned char *bytes;
	uint64_t n;
};

static void content_grow(struct content *c, uint64_t n, int is_stale)
{
	if (n <= c->n)
		return;
	c->bytes = realloc(c->bytes, n);
	for (uint64_t i = c->n; i < n; i++)
		c->bytes[i] = is_stale && i < seen.n_stale ? seen.stale[i] : 0;
	c->n = n;
}

/* Of a torn write every other sector is lost, from the first or the second on,
 * by where it stands in the log. */
static void content_apply(struct content *c, const struct op *o, size_t index,
    enum kept kept, int is_stale)
{
	if (kept == LOST)
		return;
	if (o->deed == DEED_CUT && o->at <= c->n) {
		c->n = o->at;
		return;
	}
	content_grow(c, o->at + (o->deed == DEED_CUT ? 0 : o->n), is_stale);
	for (uint64_t i = 0; kept != LENGTH_ALONE && i < o->n; i++)
		if (kept == KEPT || ((o->at + i) / SECTOR + index) % 2)
			c->bytes[o->at + i] = o->bytes[i];
}

/* What is left: of each name its file, FOLDER, or none. */
enum { NONE = -1, FOLDER = -2 };
struct left {
	struct content content[MAX_FILES];
	const char *name[MAX_FILES];
	int file[MAX_FILES];
	size_t n_names;
};

static int *left_find(struct left *left, const char *name)
{
	for (size_t i = 0; i < left->n_names; i++)
		if (strcmp(left->name[i], name) == 0)
			return &left->file[i];
	assert(left->n_names < MAX_FILES);
	left->name[left->n_names] = name;
	left->file[left->n_names] = NONE;
	return &left->file[left->n_names++];
}

static void left_rename(struct left *left, const struct op *o)
{
	int file = o->deed == DEED_FOLDER ? FOLDER
	    : o->deed == DEED_LINK        ? o->file
					  : NONE;
	if (o->old) {
		int *old = left_find(left, o->old);
		file = *old;
		*old = NONE;
	}
	*left_find(left, o->name) = file;
}

static void left_free(struct left *left)
{
	for (int i = 0; i < seen.log->n_files; i++)
		free(left->content[i].bytes);
}

/* To be freed. */
static void left_after(struct left *left, const struct loss *l)
{
	memset(left, 0, sizeof(*left));
	for (size_t i = 0; i < l->n_ops; i++) {
		const struct op *o = &seen.log->op[i];
		if (is_of_bytes(o))
			content_apply(&left->content[o->file], o, i, l->kept[i],
			    l->is_stale);
		else if (is_of_names(o) && i < l->n_names)
			left_rename(left, o);
	}
}

static uint64_t left_hash(const struct left *left)
{
	uint64_t h = SIM_FNV_START;
	for (size_t i = 0; i < left->n_names; i++) {
		const int file = left->file[i];
		h = sim_fnv(h, left->name[i], strlen(left->name[i]) + 1);
		h = sim_fnv(h, &file, sizeof(file));
		if (file >= 0)
			h = sim_fnv(h, left->content[file].bytes,
			    left->content[file].n);
	}
	return h;
}

/* A folder comes before what is in it, as its name is older. */
static void left_make(const struct left *left, const char *at)
{
	for (size_t i = 0; i < left->n_names; i++) {
		char path[PATH_MAX];
		const int file = left->file[i];
		snprintf(path, sizeof(path), "%s/%s", at, left->name[i]);
		if (file == FOLDER)
			assert_int_equal(__real_mkdir(path, 0777), 0);
		if (file < 0)
			continue;
		const struct content *c = &left->content[file];
		const int fd =
		    __real_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
		assert_true(fd >= 0);
		if (c->n > 0)
			assert_int_equal(__real_write(fd, c->bytes, c->n),
			    c->n);
		__real_close(fd);
	}
}

/* What the number TRY keeps of the deeds at risk: all of them first, none, each
 * alone lost, each alone torn, each alone by its length; then by chance. */
static void loss_choose(struct loss *l, const size_t risk[], size_t n,
    unsigned try, struct sim_rng *r)
{
	memset(l->kept, KEPT, sizeof(l->kept));
	l->is_stale = seen.stale && try % 2;
	const unsigned k = seen.stale ? try / 2 : try;
	if (k == 0 || n == 0)
		return;
	for (size_t i = 0; k == 1 && i < n; i++)
		l->kept[risk[i]] = LOST;
	if (k == 1)
		return;
	if (k < 2 + 3 * n) {
		const enum kept how[3] = {LOST, TORN, LENGTH_ALONE};
		l->kept[risk[(k - 2) / 3]] = (unsigned char)how[(k - 2) % 3];
		return;
	}
	for (size_t i = 0; i < n; i++)
		l->kept[risk[i]] = (unsigned char)sim_rng_below(r, N_KEPT);
}

/* Without deeds at risk there is one state, but for the names. */
static unsigned loss_tries(size_t n, unsigned max)
{
	const unsigned sides = seen.stale ? 2 : 1;
	if (n == 0)
		return 1;
	const size_t all =
	    sides * (2 + 3 * n + (n > 1 ? (size_t)1 << (n < 6 ? n : 6) : 0));
	return all < max ? (unsigned)all : max;
}

static int remove_one(const char *path, const struct stat *st, int type,
    struct FTW *where)
{
	(void)st;
	(void)type;
	return where->level == 0 ? 0 : remove(path);
}

/* States that were looked at, by their hash; one that looks like another is not
 * looked at, which two in 2^64 / TRIED do for no reason. */
enum { TRIED = 1 << 18 };
static uint64_t tried[TRIED];

static int is_new(uint64_t hash)
{
	size_t at = hash % TRIED;
	hash |= hash == 0;
	while (tried[at] != 0 && tried[at] != hash)
		at = (at + 1) % TRIED;
	if (tried[at] == hash)
		return 0;
	tried[at] = hash;
	return 1;
}

static uint64_t promised_at(size_t n_ops)
{
	for (size_t i = n_ops; i-- > 0;)
		if (seen.log->op[i].deed == DEED_PROMISE)
			return seen.log->op[i].at;
	return 0;
}

/* Returns 1 if the state was not looked at before. */
static unsigned look_at(const struct loss *l, const char *at, power_look *look,
    void *arg)
{
	static struct left left;
	const uint64_t n = promised_at(l->n_ops);
	left_after(&left, l);
	const int new = is_new(sim_fnv(left_hash(&left), &n, sizeof(n)));
	if (new) {
		left_make(&left, at);
		look(at, n, arg);
		assert_int_equal(nftw(at, remove_one, 8, FTW_DEPTH | FTW_PHYS),
		    0);
	}
	left_free(&left);
	return (unsigned)new;
}

/* The end of the next deed of names from deed I on, or N_OPS. */
static size_t names_next(size_t i, size_t n_ops)
{
	while (i < n_ops && !is_of_names(&seen.log->op[i]))
		i++;
	return i < n_ops ? i + 1 : n_ops;
}

/* All states of one moment, but for the names. */
static unsigned replay_bytes(struct loss *l, const char *at, unsigned max,
    power_look *look, void *arg)
{
	static size_t risk[MAX_OPS];
	const size_t n = deeds_at_risk(l->n_ops, risk);
	const unsigned tries = loss_tries(n, max);
	unsigned n_new = 0;
	struct sim_rng r;
	test_rng(&r, (uint32_t)l->n_ops);
	for (unsigned i = 0; i < tries; i++) {
		loss_choose(l, risk, n, i, &r);
		n_new += look_at(l, at, look, arg);
	}
	return n_new;
}

uint64_t power_replay(const char *at, unsigned max, power_look *look, void *arg)
{
	static struct loss l;
	uint64_t n = 0;
	memset(tried, 0, sizeof(tried));
	assert(!seen.on);
	for (l.n_ops = 0; l.n_ops <= seen.log->n; l.n_ops++) {
		l.n_names = names_are_kept(l.n_ops);
		n += replay_bytes(&l, at, max, look, arg);
		while (names_next(l.n_names, l.n_ops) > l.n_names) {
			l.n_names = names_next(l.n_names, l.n_ops);
			n += replay_bytes(&l, at, max, look, arg);
		}
	}
	return n;
}
