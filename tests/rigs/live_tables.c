/* tests/rigs/live_tables.c -- what a database of windows holds, to be compared.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/live_tables.h"

#include <inttypes.h>

#include "results/sql/sql.h"
#include "sim/bytes.h"
#include "tests/test.h"

static uint64_t hash_rows(uint64_t hash, struct res_sql_rows *q)
{
	while (res_sql_next(q, NULL) > 0)
		for (int i = 0; i < res_sql_n_columns(q); i++) {
			const enum res_sql_type type = res_sql_type(q, i);
			const int64_t x = res_sql_i64(q, i);
			size_t n;
			hash = sim_fnv(hash, &type, sizeof(type));
			hash = sim_fnv(hash, &x, sizeof(x));
			if (type == RES_SQL_IS_F64) {
				const double f = res_sql_f64(q, i);
				hash = sim_fnv(hash, &f, sizeof(f));
			} else if (type != RES_SQL_IS_NULL) {
				const void *b = res_sql_blob(q, i, &n);
				hash = sim_fnv(hash, b, n);
			}
		}
	return hash;
}

static const char *const tables[LIVE_TABLES] = {"SELECT * FROM meta ORDER BY 1",
    "SELECT * FROM window ORDER BY 1", "SELECT * FROM summary ORDER BY 1, 2",
    "SELECT * FROM drop_rate ORDER BY 1, 2, 3",
    "SELECT * FROM sla ORDER BY 1, 2, 3, 4",
    "SELECT * FROM pod_pair ORDER BY 1, 2, 3, 4",
    "SELECT * FROM alert ORDER BY 1, 2, 3, 4, 5",
    "SELECT * FROM black_hole ORDER BY 1, 2, 3",
    "SELECT * FROM random_drop ORDER BY 1, 2, 3, 4",
    "SELECT * FROM watchdog ORDER BY 1, 2", "SELECT * FROM agent ORDER BY 1",
    "SELECT * FROM histogram ORDER BY 1, 2, 3, 4, 5", "SELECT * FROM store",
    "SELECT * FROM chunk ORDER BY 1, 2",
    "SELECT * FROM http ORDER BY 1, 2, 3, 4",
    "SELECT * FROM time_counts ORDER BY 1, 2, 3, 4, 5"};

void live_dump(const char *path, uint64_t hash[LIVE_TABLES])
{
	struct res_sql *db;
	assert_ok(res_sql_open(&db, path, RES_SQL_READ, test_err()));
	for (int i = 0; i < LIVE_TABLES; i++) {
		struct res_sql_rows *q;
		assert_ok(res_sql_ask(&q, db, test_err(), tables[i]));
		hash[i] = hash_rows(SIM_FNV_START, q);
		res_sql_done(q);
	}
	res_sql_close(db);
}

void live_assert_same(const uint64_t a[LIVE_TABLES],
    const uint64_t b[LIVE_TABLES], const char *of, uint64_t run)
{
	for (int i = 0; i < LIVE_TABLES; i++)
		if (a[i] != b[i])
			fail_msg("%s %" PRIu64 ": \"%s\" differs", of, run,
			    tables[i]);
}
