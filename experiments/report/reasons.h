/* experiments/report/reasons.h -- why claims differ, from text to HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of a text in which each section begins "## Heading (`id`, `id`)", the rest is
 * paragraphs, lines of code behind four blanks, and `code` in a line.
 */
#ifndef EXPERIMENTS_REPORT_REASONS_H
#define EXPERIMENTS_REPORT_REASONS_H

#include <stdio.h>

/* The number, from 1, of the section whose heading names that claim; 0: none. */
unsigned xp_reasons_find(const char *text, const char *id);

/* All sections, the N-th as <section id="why-N">. */
void xp_reasons_put(FILE *out, const char *text);

#endif
