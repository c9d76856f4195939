/* tests/fuzz/spec_input.h -- a spec and what is said beside it, as one input.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * First lines `--set KEY=VALUE` and `--smoke` are arguments; what is behind them
 * is the file. A target that is linked with this reads no other file, whatever a
 * spec names: each GraphML is one small network. No program is started and no
 * plug-in loaded, networks are small, and few of them are opened (Makefile); a sweep
 * has two values a key.
 */
#ifndef TESTS_FUZZ_SPEC_INPUT_H
#define TESTS_FUZZ_SPEC_INPUT_H

#include <stddef.h>
#include <stdint.h>

enum { SPEC_SETS = 8, SPEC_BYTES = 1 << 14 };

/* What the file is called. */
#define SPEC_NAME "fuzz.yaml"

struct spec_input {
	char text[SPEC_BYTES + 1]; /* of all; SET and FILE point into it */
	const char *set[SPEC_SETS], *file;
	size_t n_set;
	int smoke;
};

/* Returns 0 if the bytes are too many, or have a 0 in them. X is the file that is
 * read until the next call. */
int spec_input_take(struct spec_input *x, const uint8_t *bytes, size_t n);

#endif
