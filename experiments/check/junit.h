/* experiments/check/junit.h -- JUnit's XML, as CI systems read it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	xp_junit_begin(out);
 *	xp_junit_suite(out, "tests/accuracy/one.yaml", 1, 0, 0);
 *	xp_junit_case(out, "one", &c);
 *	xp_junit_suite_end(out);
 *	xp_junit_end(out);
 *
 * Without times: equal outcomes give equal bytes. Texts may hold anything:
 * bytes that are not UTF-8 and characters that XML has not become U+FFFD.
 */
#ifndef EXPERIMENTS_CHECK_JUNIT_H
#define EXPERIMENTS_CHECK_JUNIT_H

#include <stddef.h>
#include <stdio.h>

enum xp_junit_outcome { XP_JUNIT_PASSED, XP_JUNIT_FAILED, XP_JUNIT_ERROR };

struct xp_junit_case {
	const char *name;
	enum xp_junit_outcome outcome;
	const char *text; /* of a failure or an error: what happened */
};

void xp_junit_begin(FILE *out);
void xp_junit_suite(FILE *out, const char *name, size_t n_tests,
    size_t n_failures, size_t n_errors);
void xp_junit_case(FILE *out, const char *suite, const struct xp_junit_case *c);
void xp_junit_suite_end(FILE *out);
void xp_junit_end(FILE *out);

/* TEXT as it may stand between quotes in XML. */
void xp_junit_escape(FILE *out, const char *text);

#endif
