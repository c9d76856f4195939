/* experiments/live/store_follow_parts.h -- what following and reading again share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_STORE_FOLLOW_PARTS_H
#define EXPERIMENTS_LIVE_STORE_FOLLOW_PARTS_H

#include <dirent.h>
#include <stdio.h>

#include "experiments/live/store_follow.h"

/* The files, by number; *FOUND is to be unlisted. Errors SIM_EIO. */
int xp_follow_list(struct xp_follow *f, struct dirent ***found, int *n,
    struct sim_err *e);
void xp_follow_unlist(struct dirent **found, int n);

/* The number in a file's name. */
int64_t xp_follow_number(const char *name);

/* *IN = that file from byte FROM on, to be closed; NULL if it is gone. Errors
 * SIM_EIO. */
int xp_follow_file(struct xp_follow *f, const char *name, uint64_t from,
    FILE **in, uint64_t *size, struct sim_err *e);

#endif
