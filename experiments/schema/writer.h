/* experiments/schema/writer.h -- JSON, piece by piece, on lines of its own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * KEY is the name of a member, or NULL within a list.
 */
#ifndef EXPERIMENTS_SCHEMA_WRITER_H
#define EXPERIMENTS_SCHEMA_WRITER_H

#include <stdio.h>

struct xp_writer {
	FILE *out;
	unsigned depth;
	int begun; /* something stands at this depth */
};

void xp_write_map(struct xp_writer *w, const char *key);
void xp_write_list(struct xp_writer *w, const char *key);
void xp_write_end_map(struct xp_writer *w);
void xp_write_end_list(struct xp_writer *w);

void xp_write_text(struct xp_writer *w, const char *key, const char *text);
void xp_write_number(struct xp_writer *w, const char *key, double x);
void xp_write_bool(struct xp_writer *w, const char *key, int is_true);

/* A list of the names, which end with NULL. */
void xp_write_names(struct xp_writer *w, const char *key,
    const char *const names[]);

#endif
