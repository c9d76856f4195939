/* sim/sort.h -- things in order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_SORT_H
#define SIM_SORT_H

#include <stddef.h>
#include <stdint.h>

/* What qsort() asks of two numbers: below, at or above 0 as A is below, at or above
 * B. Both are looked at twice. */
#define SIM_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* The N keys at X, ascending by their bits from bit FROM on; those that are equal
 * there stay in the order in which they were. Shape x[n], spare[n], overwritten.
 * Domain from < 64. Cost O(n) for each eight bits in which any two differ. */
void sim_sort_keys(uint64_t x[], uint64_t spare[], size_t n, unsigned from);

#endif
