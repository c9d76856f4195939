/* experiments/telemetry/flock_text.h -- lines of words, packed or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_TELEMETRY_FLOCK_TEXT_H
#define EXPERIMENTS_TELEMETRY_FLOCK_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/telemetry/flock.h"

/* --- bytes: flock_bytes.c, or flock_bytes_none.c without zlib ---------------*/

struct xp_flock_file;
int xp_flock_open(struct xp_flock_file **f, const char *path, int writes,
    struct sim_err *e);
/* Up to N bytes; *GOT = 0 at the end. Errors SIM_EIO. */
int xp_flock_take(struct xp_flock_file *f, void *to, size_t n, size_t *got,
    struct sim_err *e);
int xp_flock_put(struct xp_flock_file *f, const void *from, size_t n,
    struct sim_err *e);
/* RC is what came of F, and returned if it is an error: what was written is then
 * gone, and a file of before stays. NULL is fine. Errors SIM_EIO. */
int xp_flock_close(struct xp_flock_file *f, int rc, struct sim_err *e);

/* --- lines -----------------------------------------------------------------*/

enum { XP_FLOCK_WORDS = TOPO_MAX_HOPS + 4, XP_FLOCK_LINE = 1024 };

struct xp_flock_lines {
	struct xp_flock_file *file;
	const char *path;
	uint64_t number; /* of the line, from 1 */
	unsigned n;
	char *word[XP_FLOCK_WORDS];
	char line[XP_FLOCK_LINE];
	size_t at, end;
	char block[1 << 16];
};

/* The next line that is not blank, by words; L->n = 0 behind the last. Errors
 * SIM_EIO, SIM_EPARSE (too long, or without its end: the file is cut). */
int xp_flock_next(struct xp_flock_lines *l, struct sim_err *e);

/* Word I, called NAME, as a number. Errors SIM_EPARSE naming the range. */
int xp_flock_u32(const struct xp_flock_lines *l, unsigned i, const char *name,
    uint32_t least, uint32_t most, uint32_t *out, struct sim_err *e);
int xp_flock_f64(const struct xp_flock_lines *l, unsigned i, const char *name,
    double least, double most, double *out, struct sim_err *e);

/* The line must have N words. */
int xp_flock_wants(const struct xp_flock_lines *l, unsigned n, const char *form,
    struct sim_err *e);

#endif
