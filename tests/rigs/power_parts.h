/* tests/rigs/power_parts.h -- the log of deeds, which states are made of.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_POWER_PARTS_H
#define TESTS_POWER_PARTS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum {
	MAX_OPS = 4096,
	MAX_FILES = 256,
	ROOM = 1 << 24,
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

/* Of this process; NULL before power_begin(). */
extern struct log *power_log;

/* The calls that are not noted. */
int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_write(int fd, const void *bytes, size_t n);
int __real_mkdir(const char *path, mode_t mode);

#endif
