/* results/json.h -- texts and numbers as JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_JSON_H
#define RESULTS_JSON_H

#include <stdio.h>

/* TEXT in quotes, escaped; and without the quotes. Bytes that are not UTF-8
 * become U+FFFD. */
void res_json_text(FILE *out, const char *text);
void res_json_escape(FILE *out, const char *text);

/* The fewest digits that read back equal; null for NaN and infinities. */
void res_json_number(FILE *out, double x);

/* What follows another member of an object: a comma, KEY, which needs no escape,
 * and its value. */
void res_json_text_of(FILE *out, const char *key, const char *text);
void res_json_number_of(FILE *out, const char *key, double x);

#endif
