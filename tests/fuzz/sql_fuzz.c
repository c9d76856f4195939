/* tests/fuzz/sql_fuzz.c -- a database of windows that somebody has forged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The input are changes of a good one (fuzz_change()). It is opened to be read, as
 * by `culprit alerts`, doctor and the page, and all that those ask for is asked.
 */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/file.h"
#include "results/sql/sql.h"
#include "tests/fuzz/fuzz.h"

/* Rows of an answer that are looked at. */
enum { FUZZ_ROWS = 10000 };

static char folder[64], file[96];
static unsigned char *good;
static size_t n_good;

static int remove_one(const char *path, const struct stat *st, int type,
    struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void forget_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *const rows[] = {
    "INSERT INTO meta VALUES ('next_10min', '5'), ('services', 'web=0-3')",
    "INSERT INTO window VALUES (5, '10min', 0, 600, 900, 901, 'made', 9, 0, 0, "
    "0, 1), (9, '10min', 600, 1200, 1500, 1501, 'made', 9, 0, 0, 0, 1)",
    "INSERT INTO alert VALUES (5, 0, 'p99_us', 'pod', 1, NULL, 9000.0, 5000.0, "
    "NULL), (9, 0, 'p99_us', 'pod', 1, NULL, 9000.0, 5000.0, NULL)",
    "INSERT INTO sla VALUES (9, 0, 'service', 0, 'web', 7, 1, 0.1, 250.0, 9e3, "
    "NULL, 'network')",
    "INSERT INTO pod_pair VALUES (9, 0, 0, 1, 7, 1, 0, 7, 1, 0.1, 2.0, 3.0)",
    "INSERT INTO watchdog VALUES (9, 'data', 1, 'well')",
    "INSERT INTO histogram VALUES (9, 0, 'pod', 1, 0, 7, 1, x'0102837f')",
    "INSERT INTO agent VALUES (167772161, '10.0.0.1', 0, 0, 1, 2, 3, 1, 1, 9, "
    "0, 'fedcba9876543210', 5, 7)",
    "INSERT INTO http VALUES (9, 0, 'pod', 1, 9, 7, 1, 1, 0, 0, 250.0, 9e3)",
    "INSERT INTO time_counts VALUES (9, 0, 'http', 'pod', 1, 7, 0, "
    "x'0102837f')",
};

static void make_good(void)
{
	struct sim_err e = {0};
	struct res_sql *db;
	void *bytes;
	snprintf(folder, sizeof(folder), "/tmp/culprit-sql-XXXXXX");
	must(mkdtemp(folder) != NULL);
	atexit(forget_folder);
	snprintf(file, sizeof(file), "%s/x.db", folder);
	must(res_sql_open(&db, file, RES_SQL_WRITE, &e) == 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must(res_sql_run(db, &e, rows[i]) == 0);
	res_sql_close(db);
	must(res_file_read(file, &bytes, &n_good, &e) == 0);
	good = bytes;
}

static void forge(const uint8_t *bytes, size_t n)
{
	char log[128];
	unsigned char *forged = malloc(n_good);
	must(forged != NULL);
	memcpy(forged, good, n_good);
	fuzz_change(forged, n_good, bytes, n);
	const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, forged, n_good) == (ssize_t)n_good);
	close(fd);
	free(forged);
	snprintf(log, sizeof(log), "%s-wal", file);
	unlink(log);
	snprintf(log, sizeof(log), "%s-shm", file);
	unlink(log);
}

/* What alerts, doctor and the page ask. */
static const char *const questions[] = {"SELECT * FROM alert_open",
    "SELECT * FROM alert_span", "SELECT * FROM heat_map",
    "SELECT * FROM service_sla", "SELECT * FROM watchdog_now",
    "SELECT * FROM black_hole ORDER BY score", "SELECT * FROM random_drop",
    "SELECT * FROM agent_list ORDER BY ip", "SELECT * FROM summary",
    "SELECT * FROM http", "SELECT * FROM time_counts",
    "SELECT * FROM histogram", "SELECT count(*), sum(n_late) FROM window"};

static void ask_all(struct res_sql *db)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		struct sim_err e = {0};
		struct res_sql_rows *q;
		size_t n_rows = 0, n, sum = 0;
		int rc = res_sql_ask(&q, db, &e, questions[i]);
		while (rc >= 0 && n_rows++ < FUZZ_ROWS &&
		    (rc = res_sql_next(q, &e)) > 0)
			for (int k = 0; k < res_sql_n_columns(q); k++) {
				const char *text = res_sql_text(q, k);
				sum += text ? strlen(text) : 0;
				res_sql_blob(q, k, &n);
				sum += n;
			}
		must(rc >= 0 || e.msg[0] != '\0');
		must(sum < SIZE_MAX);
		res_sql_done(q);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sim_err e = {0};
	struct res_sql *db;
	if (!good)
		make_good();
	forge(bytes, n);
	const int rc = res_sql_open(&db, file, RES_SQL_READ, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc == 0)
		ask_all(db);
	res_sql_close(db);
	return 0;
}
