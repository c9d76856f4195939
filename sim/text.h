/* sim/text.h -- words and numbers: strict reading, quoting, did you mean.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_TEXT_H
#define SIM_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"
#include "sim/time.h"

/* The candidate nearest to WORD by edit distance (transpositions count one,
 * upper and lower case are the same), the first of equals; or NULL when none is
 * near enough to be worth suggesting: more than a third of the longer word
 * would change, or either has more than 64 bytes. */
const char *sim_did_you_mean(const char *word, const char *const *candidates,
    size_t n);

/* The first candidate that is a part of WORD between underscores, or that WORD
 * is; or of which it has the first four letters, or is the first three. NULL if
 * there is none: "rate" of "drop_rate", "conns" of "connections". */
const char *sim_like(const char *word, const char *const *candidates, size_t n);

/* Letters to change, insert, delete or swap with their neighbour to make B of A;
 * SIZE_MAX above 64 bytes. */
size_t sim_distance(const char *a, const char *b);

/* The index of WORD among WORDS, which end with NULL; that of the NULL if it is
 * none of them. */
size_t sim_word_find(const char *const words[], const char *word);

/* *COPY = TEXT once more, to be freed. Errors SIM_ENOMEM. */
int sim_dup(char **copy, const char *text, struct sim_err *e);

/* Strict numbers: the whole text, decimal, a digit on both sides of the point,
 * no sign tricks. "1%", "010", "0x10", "1_000", "", " 1", ".5", "+1" and "nan"
 * are refused, and for u64 also "1e3"; the message says what to write instead
 * when that is plain. Expects LC_NUMERIC to be "C", the default of a program.
 * Errors SIM_EINVAL; SIM_ERANGE for a number the type does not hold: negative
 * or above 2^64 - 1, beyond the largest double, or so small that it reads as
 * zero without being zero. */
int sim_parse_u64(const char *text, uint64_t *out, struct sim_err *e);
int sim_parse_f64(const char *text, double *out, struct sim_err *e);

/* A time with its unit, "150us" or "1.5h", as people write it: ns, us, ms, s, m,
 * h or d. Rounded to whole ns. Errors SIM_EINVAL, SIM_ERANGE (2^63 ns or
 * more). */
int sim_parse_ns(const char *text, sim_ns *out, struct sim_err *e);

/* The fewest digits that read back equal: 0.1, 1e-06; whole numbers below 1e15
 * in full: 4160. Returns BUF. */
const char *sim_format_f64(char buf[32], double x);

/* TEXT in quotes for a message: one line, at most 40 bytes of it. Returns
 * BUF. */
const char *sim_quote(char buf[64], const char *text);

/* Decode the character of UTF-8 at *TEXT, which is not its end, and move *TEXT
 * past it. A byte that begins no character gives U+FFFD and is passed by itself,
 * so the bytes behind it are looked at anew. */
uint32_t sim_next_char(const unsigned char **text);

/* Write TEXT in lines of at most 78 columns, broken at blanks; the first begins
 * at column AT of one that was begun, the others at column INDENT. A newline
 * stays one. */
void sim_fill(FILE *out, unsigned at, unsigned indent, const char *text);

/* Text that is written up to SIZE bytes with the terminator and only counted
 * from there on: N is the length it would have, as of snprintf. */
struct sim_text {
	char *buf;
	size_t size, n;
};
void sim_put(struct sim_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Add TEXT as a scalar of flow YAML that reads back as TEXT: plain where that
 * is safe and QUOTED is 0, else in double quotes. TEXT is UTF-8; a byte that is
 * not becomes U+FFFD. */
void sim_put_scalar(struct sim_text *t, const char *text, int quoted);

#endif
