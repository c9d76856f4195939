/* sim/table.c -- what tables of all kinds share: growing, cutting, freeing.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The code here knows a table only by its kind: the offsets of its members. Its
 * arrays have pointers of many types, so they are read and written as bytes.
 */
#include "sim/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

static size_t *table_size(const void *table, size_t offset)
{
	return (size_t *)((char *)table + offset);
}

void sim_table_clear(const struct sim_table *kind, void *table)
{
	*table_size(table, kind->n) = 0;
}

size_t sim_table_n(const struct sim_table *kind, const void *table)
{
	return *table_size(table, kind->n);
}

void sim_table_added(const struct sim_table *kind, void *table, size_t n)
{
	assert(n <= *table_size(table, kind->cap) - sim_table_n(kind, table));
	*table_size(table, kind->n) += n;
}

void *sim_table_at(const struct sim_table *kind, const void *table, size_t i,
    size_t first)
{
	const struct sim_column *c = &kind->column[i];
	char *array;
	memcpy(&array, (const char *)table + c->array, sizeof(array));
	return array ? array + first * c->size : NULL;
}

/* The columns share one `cap`, so each grows on a copy of it. Should a later
 * column fail, those that have grown merely hold spare memory, and the table is
 * as it was. */
int sim_table_reserve(const struct sim_table *kind, void *table, size_t n,
    struct sim_err *e)
{
	size_t *shared = table_size(table, kind->cap), cap = *shared, need;
	int rc;
	if (__builtin_add_overflow(sim_table_n(kind, table), n, &need))
		need = SIZE_MAX; /* no array is that long: refused */
	for (size_t i = 0; i < kind->n_columns; i++) {
		const struct sim_column *c = &kind->column[i];
		cap = *shared;
		if ((rc = sim_reserve((char *)table + c->array, &cap, need,
			 c->size, e)) < 0)
			return rc;
	}
	*shared = cap;
	return 0;
}

void sim_table_free(const struct sim_table *kind, void *table)
{
	for (size_t i = 0; i < kind->n_columns; i++)
		free(sim_table_at(kind, table, i, 0));
	memset(table, 0, kind->size);
}

static void table_move(const struct sim_table *kind, void *table, size_t to,
    size_t from, size_t n)
{
	for (size_t i = 0; i < kind->n_columns; i++)
		memmove(sim_table_at(kind, table, i, to),
		    sim_table_at(kind, table, i, from),
		    n * kind->column[i].size);
}

/* Rows are added about in the order of time, so those that stay form long runs;
 * a run is moved with one memmove() a column. Rows only ever move towards the
 * front, so the times that are overwritten are ones already judged. */
void sim_table_keep(const struct sim_table *kind, void *table, size_t first,
    uint64_t from, uint64_t to)
{
	const size_t end = sim_table_n(kind, table);
	const uint64_t *time = sim_table_at(kind, table, 0, 0);
	size_t n = first;
	assert(kind->column[0].type == SIM_U64);
	for (size_t i = first, run; i < end; i += run + 1) {
		for (run = 0; i + run < end; run++)
			if (time[i + run] < from || time[i + run] > to)
				break;
		if (run > 0)
			table_move(kind, table, n, i, run);
		n += run;
	}
	*table_size(table, kind->n) = n;
}
