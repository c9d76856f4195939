/* experiments/report/markup.h -- text and numbers in SVG and HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Specs, labels and results files may be anybody's: none of their bytes gets
 * into a document but through mark_text().
 */
#ifndef EXPERIMENTS_REPORT_MARKUP_H
#define EXPERIMENTS_REPORT_MARKUP_H

#include <stdio.h>

#include "sim/err.h"

/* TEXT as the content of an element or of an attribute in either quotes:
 * & < > " ' are written as references. What XML has no place for, as control
 * characters and bytes that are not UTF-8, becomes U+FFFD. */
void mark_text(FILE *out, const char *text);

/* TEXT of printf's, likewise; longer than 1023 bytes it is cut. */
void mark_format(FILE *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* An integer with commas: 96,000. */
void mark_count(FILE *out, double n);

/* A document in memory. */
struct mark_buffer {
	char *text; /* to be freed; ends in a NUL */
	size_t n;
	FILE *out; /* until it is closed */
};

/* Errors SIM_ENOMEM. A buffer that was opened is to be closed in any case; RC
 * is what came of writing, and what close returns if that is an error. */
int mark_open(struct mark_buffer *b, struct sim_err *e);
int mark_close(struct mark_buffer *b, int rc, struct sim_err *e);

/* Copy SVG into OUT as a part of an HTML page: without its XML head, and with
 * PREFIX before every id and all that refers to one, so that several stand in a
 * page; ids that nothing refers to are left out. What could run there (scripts, handlers, foreign objects, references
 * that leave the document) is refused.
 * Errors SIM_EPARSE naming what was met. Cost O(bytes * ids). */
int mark_inline_svg(FILE *out, const char *svg, const char *prefix,
    struct sim_err *e);

#endif
