/* tests/rigs/live_tables.h -- what a database of windows holds, to be compared.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_LIVE_TABLES_H
#define TESTS_LIVE_TABLES_H

#include <stdint.h>

enum { LIVE_TABLES = 16 };

/* A number a table of the database at PATH. */
void live_dump(const char *path, uint64_t hash[LIVE_TABLES]);

/* A difference names its table, OF and RUN. */
void live_assert_same(const uint64_t a[LIVE_TABLES],
    const uint64_t b[LIVE_TABLES], const char *of, uint64_t run);

#endif
