/* experiments/live/windows_counts.h -- counts of times as bytes, and scopes' names.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_WINDOWS_COUNTS_H
#define EXPERIMENTS_LIVE_WINDOWS_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/pingmesh/dsa/tables.h"
#include "sim/err.h"

/* What `sla` and `histogram` call the kinds of scopes, by enum algo_sla_kind;
 * NULL-terminated. */
extern const char *const xp_windows_scopes[];

/* The kind of that name; one that there is not is ALGO_SLA_N_KINDS. */
uint8_t xp_windows_kind(const char *scope);

/* N rows of `histogram` of one scope, by buckets, as bytes (schema.sql). Returns
 * how many. Shape out[15 n]. */
size_t xp_windows_pack(const struct xp_dsa_histogram_row row[], size_t n,
    unsigned char *out);

/* Append to T the rows that N bytes say, of the scope of OF. Errors SIM_EPARSE (no
 * such bytes; a bucket that there is not), SIM_ENOMEM. */
int xp_windows_unpack(const struct xp_dsa_pooled_row *of, const void *bytes,
    size_t n, struct xp_dsa_tables *t, struct sim_err *e);

#endif
