/* results/segments.h -- a folder of files that records are only appended to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	DIR/batches-20260203-0001.cpmb
 *	DIR/batches-20260203-0002.cpmb	the same day, after file_bytes
 *	DIR/batches-20260204-0003.cpmb	the next day (UTC)
 *
 * What a record is, its owner knows, and so what is whole; the order of files
 * is that of their numbers, which go up and never come again. The folder is
 * locked, as one process alone may write; who only reads needs no lock. An old
 * file may be taken away at any time, by the owner or by hand.
 *
 * What a kill leaves is less than one record at the end of the newest file: the
 * owner has it cut off (_go_on()). With `sync` a record is on the disk when
 * _append() says so, and its file's name is; without, when the file is full or
 * closed. What a process left that was killed in between is synced by the next.
 */
#ifndef RESULTS_SEGMENTS_H
#define RESULTS_SEGMENTS_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

enum { RES_SEGMENT_NAME = 64 };

struct res_segments_kind {
	const char *prefix, *suffix; /* "batches", "cpmb" */
	const char *owner;           /* "another OWNER holds ..." */
};

/* Members are for reading; what is before END of the file NAME is whole. */
struct res_segments {
	const struct res_segments_kind *kind;
	uint64_t file_bytes; /* of a file, before the next one is begun */
	int sync;
	char *dir;
	int dir_fd;
	int fd; /* -1: no file is written */
	uint64_t end;
	int64_t day; /* since 1970 */
	unsigned last_number;
	char name[RES_SEGMENT_NAME];
};

/* Make DIR if it is missing, and lock it until close. KIND is kept. After an
 * error S may be closed. Errors SIM_EIO (another process holds it), SIM_ENOMEM. */
int res_segments_open(struct res_segments *s, const char *dir,
    const struct res_segments_kind *kind, uint64_t file_bytes, int sync,
    struct sim_err *e);

/* Sync the file that is written, and let go of all. Errors SIM_EIO. */
int res_segments_close(struct res_segments *s, struct sim_err *e);

/* Whether NAME is just what such a file would be called: others in the folder
 * are not ours to touch. DAY is as in the name. */
int res_segments_is_one(const struct res_segments_kind *kind, const char *name,
    unsigned *day, unsigned *number);

/* The day in such a name, since 1970. */
int64_t res_segments_day(const char *name);

/* The files of a folder, by number; *FOUND and its entries are to be freed.
 * Returns how many, or -1 with errno. */
int res_segments_list(int dir_fd, const struct res_segments_kind *kind,
    struct dirent ***found);

/* *FD = file NAME for reading, to be closed, and *N_BYTES its size. DIR is its
 * folder's name for messages. It is no pipe or device, which could hold up who
 * opens it. Errors SIM_EIO. */
int res_segments_read(int dir_fd, const char *dir, const char *name, int *fd,
    uint64_t *n_bytes, struct sim_err *e);

/* Take file NAME away; one that is gone is fine. Errors SIM_EIO. */
int res_segments_remove(const struct res_segments *s, const char *name,
    struct sim_err *e);

/* There is a file NAME, so the next has a higher number. */
void res_segments_seen(struct res_segments *s, const char *name);

/* Go on writing the newest file behind its first WHOLE bytes; what is behind
 * them is cut off. It is no link, which could lead out of the folder. Errors
 * SIM_EIO. */
int res_segments_go_on(struct res_segments *s, const char *name, uint64_t whole,
    struct sim_err *e);

/* Have a file for N more bytes at NOW_S since 1970. Returns 1 if it is a new
 * one, 0, or an error: SIM_EIO. */
int res_segments_room(struct res_segments *s, size_t n, int64_t now_s,
    struct sim_err *e);

/* Append to that file, as a whole or not at all. Errors SIM_EIO; then another
 * file may be begun by the next _room(). */
int res_segments_append(struct res_segments *s, const void *bytes, size_t n,
    struct sim_err *e);

/* The file that is written gets no more. Errors SIM_EIO. */
int res_segments_end_file(struct res_segments *s, struct sim_err *e);

/* SIM_EIO, "cannot WHAT DIR/NAME: " and what errno says. */
int res_segments_failed(const struct res_segments *s, const char *what,
    const char *name, struct sim_err *e);

#endif
