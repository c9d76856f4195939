/* results/file.h -- whole files: read one, replace one without a half state.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_FILE_H
#define RESULTS_FILE_H

#include <stddef.h>

#include "sim/err.h"

/* Write BYTES to PATH.tmp.<pid>, sync, and rename: PATH is the old file or the
 * new one, and a failure leaves no temporary. Errors SIM_EIO, SIM_ENOMEM. */
int res_file_write(const char *path, const void *bytes, size_t n,
    struct sim_err *e);

/* The same for a secret: PATH is its owner's alone, mode 0600. */
int res_file_write_private(const char *path, const void *bytes, size_t n,
    struct sim_err *e);

/* Is there anything at PATH that would be replaced? *THERE is 1 for a file. What
 * is no regular file would be lost, as a device: SIM_EIO. */
int res_file_look(const char *path, int *there, struct sim_err *e);

/* PATH~ is what PATH is, in place of a former one; PATH stays if the file system
 * has links, and else is gone. Errors SIM_EIO, SIM_ENOMEM. */
int res_file_keep(const char *path, struct sim_err *e);

/* Make the empty file *TEMP = "PATH.tmp.<pid>", to be freed, and open it for
 * writing and reading as *FD, to be closed. Errors SIM_EIO naming PATH,
 * SIM_ENOMEM. */
int res_file_temp(char **temp, int *fd, const char *path, struct sim_err *e);

/* A file that is written bit by bit, to FD: a temporary one beside PATH, which is
 * PATH once it is ended; of a link, what it leads to. What stands at PATH and is no
 * regular file, as a pipe, is written itself. PATH is borrowed. */
struct res_file_draft {
	const char *path;
	char *temp; /* NULL: PATH itself */
	char *real; /* PATH, if a link led to it */
	int fd;
};

/* Errors SIM_EIO naming PATH, SIM_ENOMEM. */
int res_file_begin(struct res_file_draft *d, const char *path,
    struct sim_err *e);

/* Another descriptor of the file, for a library that closes what it is given; of
 * such the draft is ended behind it. Errors SIM_EIO. */
int res_file_hand(const struct res_file_draft *d, struct sim_err *e);

/* Sync, close and rename, if RC, what came of writing, is 0; else PATH stays what
 * it was, and RC is returned. No temporary file is left. Errors SIM_EIO. */
int res_file_end(struct res_file_draft *d, int rc, struct sim_err *e);

/* SIM_EIO, "cannot VERB PATH: " and what errno says. */
int res_file_failed(const char *verb, const char *path, struct sim_err *e);

/* A rename to PATH is on disk when its folder is: sync that. Returns 0, or -1
 * with errno. */
int res_file_sync_folder(const char *path);

/* *BYTES = the whole regular file, of N bytes, and a 0 behind it; to be freed.
 * Errors SIM_EIO, SIM_ENOMEM. */
int res_file_read(const char *path, void **bytes, size_t *n, struct sim_err *e);

#endif
