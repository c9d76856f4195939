/* results/rows.h -- rows of named values as TSV, CSV or JSON; some of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row is told value by value, each with its name. The first row is told
 * twice: as the head, of which names alone are taken, and for itself. So all
 * formats and all choices of columns come from one walk.
 *
 *	TSV   names in the first line; a tab or an end of line within a text
 *	      is written as a blank
 *	CSV   RFC 4180: a field with a comma, a quote or an end of line stands
 *	      in quotes, a quote doubled; but lines end in a newline alone, as
 *	      other tools of Unix want it
 *	JSON  an array of objects; NaN and infinities are null
 *
 * Numbers have the fewest digits that read back equal; none is "NaN".
 */
#ifndef RESULTS_ROWS_H
#define RESULTS_ROWS_H

#include <stddef.h>
#include <stdio.h>

#include "sim/err.h"

enum res_format { RES_TSV, RES_CSV, RES_JSON };

/* Names come in parts, each of which may be NULL: "vote" ":" "recall" "_lo". */
struct res_name {
	const char *owner, *mark, *what, *suffix;
};

struct res_rows {
	FILE *out;
	enum res_format format;
	int in_head;
	size_t n, cap; /* columns that are told */
	char **name;   /* [n] */
	size_t *place; /* [n] among those written; SIZE_MAX: is not */
	size_t n_out;  /* columns that are written */
	size_t *order; /* [n_out] which */
	size_t at;     /* the column that is told next */
	FILE *cells;   /* the values of a row, one behind the other */
	char *text;    /* what was written to it */
	size_t text_size;
	size_t *from, *to; /* [n_out] of each */
	size_t n_rows;     /* written */
	int rc;            /* of the first thing that failed */
	struct sim_err *e;
};

/* R begins with the head, and is to be freed in any case. Errors SIM_ENOMEM. */
int res_rows_open(struct res_rows *r, FILE *out, enum res_format format,
    struct sim_err *e);
void res_rows_free(struct res_rows *r);

void res_rows_number(struct res_rows *r, struct res_name name, double x);
/* TEXT may be NULL: nothing, or null. */
void res_rows_text(struct res_rows *r, struct res_name name, const char *text);

/* Whether none of the next N columns is written; they are told by this. */
int res_rows_skip(struct res_rows *r, size_t n);

/* The head ends: of its columns those that PATTERN[n_patterns] choose are
 * written, as res_choose() has them; all if there is no pattern. Errors of that,
 * SIM_ENOMEM. */
int res_rows_head(struct res_rows *r, const char *const pattern[],
    size_t n_patterns);

/* A row ends. */
void res_rows_end(struct res_rows *r);

/* All rows are told. Errors SIM_EIO, and whatever failed before. */
int res_rows_close(struct res_rows *r);

/* Choose from NAME[n] what each of PATTERN[n_patterns] is the name of, or else
 * all that it matches as a glob of the shell (*, ?, [...]). CHOSEN[n] gets their
 * indices, each once, in the order of patterns, then of names. Errors SIM_EMISMATCH
 * for a pattern without any, with the name that is near; WHAT is what it is
 * called, as "column". */
int res_choose(const char *const name[], size_t n, const char *const pattern[],
    size_t n_patterns, const char *what, size_t chosen[], size_t *n_chosen,
    struct sim_err *e);

#endif
