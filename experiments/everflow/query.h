/* experiments/everflow/query.h -- what a target of HTTP says: path and parameters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	/traces?filter=ip.proto%20%3D%3D%206&from=10s
 */
#ifndef EXPERIMENTS_EVERFLOW_QUERY_H
#define EXPERIMENTS_EVERFLOW_QUERY_H

#include <stddef.h>

#include "sim/err.h"
#include "sim/time.h"

enum { XP_QUERY_BYTES = 16384, XP_QUERY_MOST = 16 };

struct xp_query {
	char text[XP_QUERY_BYTES + 1]; /* all that is pointed to */
	const char *path;
	size_t n;
	const char *key[XP_QUERY_MOST], *value[XP_QUERY_MOST];
};

/* Read TARGET: percent signs are decoded, but in the path; "+" is a blank.
 * Errors SIM_EINVAL (no escape, a byte of 0, a parameter twice), SIM_ELIMIT. */
int xp_query_read(struct xp_query *q, const char *target, struct sim_err *e);

/* All keys are of WORDS, which end with NULL. Errors SIM_EINVAL, with one that is
 * near. */
int xp_query_check(const struct xp_query *q, const char *const words[],
    struct sim_err *e);

/* NULL: there is none. */
const char *xp_query_value(const struct xp_query *q, const char *key);

/* A time or a number, which stays as it is if there is none. Errors SIM_EINVAL,
 * SIM_ERANGE; they name KEY. */
int xp_query_time(const struct xp_query *q, const char *key, sim_ns *out,
    struct sim_err *e);
int xp_query_number(const struct xp_query *q, const char *key, uint64_t least,
    uint64_t most, uint64_t *out, struct sim_err *e);

/* The index among WORDS; 0 if there is none. */
int xp_query_word(const struct xp_query *q, const char *key,
    const char *const words[], unsigned *out, struct sim_err *e);

#endif
