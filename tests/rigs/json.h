/* tests/rigs/json.h -- whether a text is JSON, by its grammar.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_JSON_H
#define TESTS_JSON_H

/* 1 if TEXT is one value as RFC 8259 has it, with blanks and ends of lines around
 * it; 0 if anything is missing, or too much. */
int json_is_whole(const char *text);

#endif
