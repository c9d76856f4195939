/* tests/rigs/broken_algos.h -- votes with a mistake in them, for gates to catch.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A test program that defines algo_registry and algo_find() itself can name
 * these in specs: the linker then leaves algos/registry.c in the library.
 */
#ifndef TESTS_BROKEN_ALGOS_H
#define TESTS_BROKEN_ALGOS_H

#include "algos/algo.h"

/* Votes on the other direction of each cable. */
extern const struct algo_ops broken_reversed;
/* Votes on each hop before the one that is meant. */
extern const struct algo_ops broken_shifted;
/* Blames the hop with the fewest votes. */
extern const struct algo_ops broken_least;
/* Votes of 1 instead of 1/h on each hop; ranks and blames accordingly. */
extern const struct algo_ops broken_flat;

/* Fails on every window. */
extern const struct algo_ops broken_fails;

#endif
