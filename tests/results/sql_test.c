/* tests/results/sql_test.c -- a database: versions, writers, full disks, damage.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sql/sql_parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/rigs/folder.h"
#include "tests/test.h"

#define DAY_NS INT64_C(86400000000000)
#define NOW_NS (20000 * DAY_NS)

static struct res_sql *open_db(const char *name)
{
	struct res_sql *db;
	assert_ok(
	    res_sql_open(&db, test_path(name), RES_SQL_WRITE, test_err()));
	return db;
}

static int64_t ask(struct res_sql *db, const char *sql)
{
	int64_t x;
	assert_ok(res_sql_one(db, sql, NULL, 0, -1, &x, test_err()));
	return x;
}

static void run(struct res_sql *db, const char *sql)
{
	assert_ok(res_sql_run(db, test_err(), sql));
}

static int refused(const char *name, enum res_sql_mode mode, const char *why)
{
	struct res_sql *db;
	struct sim_err e = {0};
	const int rc = res_sql_open(&db, test_path(name), mode, &e);
	assert_true(rc < 0);
	assert_null(db);
	if (!strstr(e.msg, why))
		fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
	return rc;
}

/* A window of ten minutes, K of them after DAYS, with SERVERS and a blob. */
static void put_window(struct res_sql *db, int64_t days, int64_t k, int servers)
{
	static const char zeros[4096];
	const int64_t from = days * DAY_NS + k * 600 * INT64_C(1000000000);
	const int64_t id = from / 1000000000 * 4 + 1;
	assert_ok(res_sql_begin(db, test_err()));
	assert_ok(res_sql_run(db, test_err(),
	    "INSERT INTO window(id, job, from_ns, to_ns, due_ns, made_ns, "
	    "state, n_records) VALUES (?, '10min', ?, ?, ?, ?, 'made', 7)",
	    RES_SQL_I64(id), RES_SQL_I64(from), RES_SQL_I64(from + 1),
	    RES_SQL_I64(from + 2), RES_SQL_I64(from + 3)));
	for (int i = 0; i < servers; i++)
		assert_ok(res_sql_run(db, test_err(),
		    "INSERT INTO sla(window, dc, scope, scope_id, n_success, "
		    "n_drop, p99_us) VALUES (?, 0, 'server', ?, 9, 1, ?)",
		    RES_SQL_I64(id), RES_SQL_I64(i), RES_SQL_F64(NAN)));
	assert_ok(res_sql_run(db, test_err(),
	    "INSERT INTO histogram VALUES (?, 0, 'dc', 0, 0, 9, 1, ?)",
	    RES_SQL_I64(id), RES_SQL_BLOB(zeros, sizeof(zeros))));
	assert_ok(res_sql_commit(db, test_err()));
}

static void a_new_database_has_this_version_and_all_values_read_back(
    void **state)
{
	(void)state;
	struct res_sql *db = open_db("new.db");
	assert_int_equal(ask(db, "PRAGMA user_version"), RES_SQL_VERSION);
	assert_int_equal(ask(db, "PRAGMA auto_vacuum"), 2);
	put_window(db, 20000, 0, 2);
	struct res_sql_rows *q;
	assert_ok(res_sql_ask(&q, db, test_err(),
	    "SELECT p99_us, n_success, scope FROM sla WHERE scope_id = ?",
	    RES_SQL_I64(1)));
	assert_int_equal(res_sql_next(q, test_err()), 1);
	assert_int_equal(res_sql_type(q, 0), RES_SQL_IS_NULL);
	assert_true(isnan(res_sql_f64(q, 0)));
	assert_int_equal(res_sql_i64(q, 1), 9);
	assert_string_equal(res_sql_text(q, 2), "server");
	assert_string_equal(res_sql_name(q, 2), "scope");
	assert_int_equal(res_sql_n_columns(q), 3);
	assert_int_equal(res_sql_next(q, test_err()), 0);
	res_sql_done(q);
	res_sql_close(db);
}

static void a_reader_reads_beside_the_writer_and_writes_nothing(void **state)
{
	(void)state;
	struct res_sql *db = open_db("both.db"), *reader;
	put_window(db, 20000, 0, 1);
	assert_ok(res_sql_open(&reader, test_path("both.db"), RES_SQL_READ,
	    test_err()));
	assert_ok(res_sql_begin(reader, test_err()));
	assert_int_equal(ask(reader, "SELECT count(*) FROM window"), 1);
	put_window(db, 20000, 1, 1);
	/* A page that is being made sees one state, however long it takes. */
	assert_int_equal(ask(reader, "SELECT count(*) FROM window"), 1);
	res_sql_rollback(reader);
	assert_int_equal(ask(reader, "SELECT count(*)  FROM window"), 2);
	assert_true(res_sql_run(reader, NULL, "DELETE FROM window") < 0);
	res_sql_close(reader);
	res_sql_close(db);
}

static void a_second_writer_is_refused_and_told_of_the_first(void **state)
{
	(void)state;
	struct res_sql *db = open_db("two.db");
	assert_int_equal(refused("two.db", RES_SQL_WRITE, "another process"),
	    SIM_EIO);
	res_sql_close(db);
	res_sql_close(open_db("two.db"));
}

static void a_newer_version_is_refused_by_writer_and_reader(void **state)
{
	(void)state;
	struct res_sql *db = open_db("newer.db");
	run(db, "PRAGMA user_version = 99");
	res_sql_close(db);
	assert_int_equal(refused("newer.db", RES_SQL_WRITE, "version 99"),
	    SIM_EMISMATCH);
	assert_int_equal(refused("newer.db", RES_SQL_READ, "version 99"),
	    SIM_EMISMATCH);
}

static void an_older_version_is_migrated_whole_or_not_at_all(void **state)
{
	(void)state;
	static const char *const good[] = {"CREATE TABLE two (x) STRICT;",
	    NULL};
	static const char *const fine[] = {"CREATE TABLE two (x INTEGER);\n",
	    "INSERT INTO two SELECT count(*) FROM window;\n", NULL};
	static const char *const *bad_step[] = {NULL, NULL, NULL, fine, good};
	static const char *const *step[] = {NULL, NULL, NULL, fine};
	struct res_sql *db = open_db("old.db");
	put_window(db, 20000, 0, 1);
	/* The second of two steps fails, so the first is undone. */
	assert_true(res_sql_migrate(db, bad_step, 5, NULL) < 0);
	assert_int_equal(ask(db, "PRAGMA user_version"), 3);
	assert_int_equal(
	    ask(db, "SELECT count(*) FROM sqlite_master WHERE name = 'two'"),
	    0);
	assert_ok(res_sql_migrate(db, step, 4, test_err()));
	assert_int_equal(ask(db, "PRAGMA user_version"), 4);
	assert_int_equal(ask(db, "SELECT x FROM two"), 1);
	res_sql_close(db);
}

/* With the tables of version V, made by its steps, and a window of three servers. */
static struct res_sql *open_old(const char *name, int v)
{
	struct res_sql *db = open_db(name);
	struct res_sql_rows *q;
	char text[4096];
	assert_ok(res_sql_ask(&q, db, test_err(),
	    "SELECT group_concat('DROP ' || type || ' ' || name, ';') FROM "
	    "(SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL "
	    "AND type <> 'index' ORDER BY type DESC)"));
	assert_int_equal(res_sql_next(q, test_err()), 1);
	snprintf(text, sizeof(text), "%s; PRAGMA user_version = 0",
	    res_sql_text(q, 0));
	res_sql_done(q);
	assert_ok(res_sql_set(db, text, "empty it", test_err()));
	assert_int_equal(ask(db, "SELECT count(*) FROM sqlite_master"), 0);
	assert_ok(res_sql_migrate(db, res_sql_steps, v, test_err()));
	assert_int_equal(ask(db, "PRAGMA user_version"), v);
	put_window(db, 20000, 0, 3);
	return db;
}

/* In how its tables were made FROM is TO. */
static void reword(struct res_sql *db, const char *from, const char *to)
{
	int64_t n;
	run(db, "PRAGMA writable_schema = ON");
	assert_ok(res_sql_run_with(db,
	    "UPDATE sqlite_master SET sql = replace(sql, ?1, ?2) "
	    "WHERE sql <> replace(sql, ?1, ?2)",
	    RES_SQL_VALUES(RES_SQL_TEXT(from), RES_SQL_TEXT(to)), &n,
	    test_err()));
	run(db, "PRAGMA writable_schema = RESET");
	assert_true(n > 0);
}

/* As it was before there were HTTP pings; its rows stay. */
static void a_database_of_version_1_gets_the_table_of_gets(void **state)
{
	(void)state;
	struct res_sql *db = open_old("one.db", 1);
	res_sql_close(db);
	assert_int_equal(refused("one.db", RES_SQL_READ, "version 1"),
	    SIM_EMISMATCH);
	db = open_db("one.db");
	assert_int_equal(ask(db, "PRAGMA user_version"), 3);
	assert_int_equal(ask(db, "SELECT count(*) FROM sla"), 3);
	assert_int_equal(ask(db, "SELECT count(*) FROM http"), 0);
	res_sql_close(db);
}

/* Alerts are copied into a table that takes more kinds, and are open as before; of
 * agents nobody knows which list they have. */
static void a_database_of_version_2_keeps_its_alerts_and_agents(void **state)
{
	(void)state;
	struct res_sql *db = open_old("two.db", 2);
	run(db,
	    "INSERT INTO alert SELECT id, 0, 'p99_us', 'dc', 0, NULL, 7000, "
	    "5000, NULL FROM window LIMIT 1");
	run(db,
	    "INSERT INTO agent VALUES (167772161, '10.0.0.1', 0, 0, 1, 2, 1, "
	    "1, 1, 1, 0)");
	res_sql_close(db);
	assert_int_equal(refused("two.db", RES_SQL_READ, "version 2"),
	    SIM_EMISMATCH);
	db = open_db("two.db");
	assert_int_equal(ask(db, "PRAGMA user_version"), 3);
	assert_int_equal(ask(db, "SELECT count(*) FROM alert_span"), 1);
	assert_int_equal(ask(db, "SELECT worst FROM alert_span"), 7000);
	assert_int_equal(ask(db,
			     "SELECT count(*) FROM agent_list WHERE list IS "
			     "NULL AND list_is IS NULL AND n_batches = 1"),
	    1);
	run(db,
	    "INSERT INTO alert SELECT id, 0, 'http_failed', 'dc', 0, NULL, 1, "
	    "0.01, NULL FROM window LIMIT 1");
	run(db, "DELETE FROM window");
	assert_int_equal(ask(db, "SELECT count(*) FROM alert"), 0);
	res_sql_close(db);
}

/* ADDRESS in 10.0.0.0/24 told of LIST, issued at ISSUED, at AT (s). */
static void put_agent_list(struct res_sql *db, int address, const char *list,
    int issued, int at)
{
	char text[32];
	snprintf(text, sizeof(text), "10.0.0.%d", address);
	assert_ok(res_sql_run(db, test_err(),
	    "INSERT INTO agent VALUES (?, ?, 0, 0, 0, 0, 0, 1, 1, 1, 0, ?, ? * "
	    "1000000000, ? * 1000000000)",
	    RES_SQL_I64(0x0a000000 + address), RES_SQL_TEXT(text),
	    RES_SQL_TEXT(list), RES_SQL_I64(issued), RES_SQL_I64(at)));
}

static int lists_that_are(struct res_sql *db, const char *what)
{
	int64_t n;
	assert_ok(res_sql_one(db,
	    "SELECT count(*) FROM agent_list WHERE list_is IS ?",
	    RES_SQL_VALUES(RES_SQL_TEXT(what)), -1, &n, test_err()));
	return (int)n;
}

static void agents_with_an_older_list_are_told_from_others(void **state)
{
	(void)state;
	struct res_sql *db = open_db("lists.db");
	/* Most have b; nobody signs. */
	put_agent_list(db, 1, "a", 0, 5000);
	put_agent_list(db, 2, "b", 0, 5000);
	put_agent_list(db, 3, "b", 0, 5000);
	put_agent_list(db, 4, "", 0, 5000);
	put_agent_list(db, 5, NULL, 0, 0);
	assert_true(lists_that_are(db, "newest") == 2 &&
	    lists_that_are(db, "other") == 1 &&
	    lists_that_are(db, "none") == 1 && lists_that_are(db, NULL) == 1);
	/* A list that was issued last is the newest, also if one agent has it;
	 * by whichever controller one has it, it is the same. */
	run(db, "UPDATE agent SET list_issued_ns = 9000000000");
	put_agent_list(db, 6, "c", 11, 5000);
	put_agent_list(db, 7, "c", 10, 5000);
	assert_true(lists_that_are(db, "newest") == 2 &&
	    lists_that_are(db, "older") == 3 &&
	    lists_that_are(db, "other") == 0);
	/* Who was last heard more than 20 minutes ago has no say. */
	put_agent_list(db, 8, "d", 99, 3000);
	assert_int_equal(lists_that_are(db, "newest"), 2);
	assert_int_equal(lists_that_are(db, "other"), 1);
	res_sql_close(db);
}

static void another_programs_database_and_other_files_are_left_alone(
    void **state)
{
	(void)state;
	struct stat before, after;
	test_write("text.db",
	    "This is no database, but a text of some length "
	    "that is longer than a header of one would be: "
	    "a hundred bytes.\n");
	assert_int_equal(stat(test_path("text.db"), &before), 0);
	assert_int_equal(refused("text.db", RES_SQL_WRITE, "not a database"),
	    SIM_EPARSE);
	assert_int_equal(stat(test_path("text.db"), &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	struct res_sql *db = open_db("foreign.db");
	run(db, "PRAGMA application_id = 7");
	res_sql_close(db);
	assert_int_equal(refused("foreign.db", RES_SQL_WRITE,
			     "another program"),
	    SIM_EPARSE);
	refused("missing.db", RES_SQL_READ, "unable to open");
	test_write("empty.db", "");
	assert_int_equal(refused("empty.db", RES_SQL_READ,
			     "no database of windows"),
	    SIM_EMISMATCH);
	/* The folder of all these files. */
	assert_int_equal(refused("", RES_SQL_READ, "not a file"), SIM_EIO);
	assert_int_equal(refused("", RES_SQL_WRITE, "not a file"), SIM_EIO);
}

/* Bytes of each page in turn are overwritten: the database is refused, or what is
 * read of it is an error or a number, and nothing crashes. */
static void damage_is_an_error_and_never_a_crash(void **state)
{
	(void)state;
	struct res_sql *db = open_db("damaged.db");
	for (int k = 0; k < 8; k++)
		put_window(db, 20000, k, 30);
	res_sql_close(db);
	const int fd = open(test_path("damaged.db"), O_RDWR);
	const off_t size = lseek(fd, 0, SEEK_END);
	struct sim_rng rng;
	unsigned n_refused = 0, n = 0;
	test_rng(&rng, 0);
	for (off_t page = 0; page < size; page += 4096, n++) {
		unsigned char kept[64], junk[64];
		struct sim_err e = {0};
		const off_t at = page + 4 + sim_rng_below(&rng, 30);
		assert_int_equal(pread(fd, kept, 64, at), 64);
		for (int i = 0; i < 64; i++)
			junk[i] = (unsigned char)sim_rng_below(&rng, 256);
		assert_int_equal(pwrite(fd, junk, 64, at), 64);
		if (res_sql_open(&db, test_path("damaged.db"), RES_SQL_WRITE,
			&e) < 0) {
			n_refused++;
			assert_true(*e.msg);
		} else {
			int64_t x;
			res_sql_one(db, "SELECT sum(n_success) FROM sla", NULL,
			    0, 0, &x, &e);
		}
		res_sql_close(db);
		assert_int_equal(pwrite(fd, kept, 64, at), 64);
	}
	close(fd);
	/* What hits the rows of a blob is not seen by SQLite, which has no
	 * checksums; most of what hits the structure is. */
	if (n < 8 || n_refused == 0)
		fail_msg("%u of %u refused", n_refused, n);
}

/* A writer that is killed leaves its last rows in NAME's log alone. */
static void write_and_be_killed(const char *name)
{
	int status;
	const pid_t pid = fork();
	if (pid == 0) {
		put_window(open_db(name), 20000, 1, 5);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int64_t servers_in(const char *name, enum res_sql_mode mode)
{
	struct res_sql *db;
	assert_ok(res_sql_open(&db, test_path(name), mode, test_err()));
	const int64_t n = ask(db, "SELECT count(*) FROM sla");
	res_sql_close(db);
	return n;
}

static void a_log_of_another_file_is_refused(void **state)
{
	(void)state;
	struct res_sql *db = open_db("other.db");
	put_window(db, 20000, 0, 7);
	res_sql_close(db);
	write_and_be_killed("killed.db");
	assert_int_equal(servers_in("killed.db", RES_SQL_READ), 5);
	/* The kill was seen by nobody who could write. */
	assert_int_equal(rename(test_path("other.db"), test_path("killed.db")),
	    0);
	assert_int_equal(refused("killed.db", RES_SQL_READ, "in the place of"),
	    SIM_EMISMATCH);
	assert_int_equal(refused("killed.db", RES_SQL_WRITE, "killed.db-wal"),
	    SIM_EMISMATCH);
	assert_int_equal(unlink(test_path("killed.db-wal")), 0);
	assert_int_equal(servers_in("killed.db", RES_SQL_READ), 7);
	assert_int_equal(servers_in("killed.db", RES_SQL_WRITE), 7);
	/* From then on it is known as it is. */
	write_and_be_killed("killed.db");
	assert_int_equal(servers_in("killed.db", RES_SQL_WRITE), 12);
}

/* A file that is made after another was removed often has its inode. */
static void also_of_a_file_with_the_inode_of_the_old_one(void **state)
{
	char bytes[1 << 16];
	size_t n;
	(void)state;
	struct res_sql *db = open_db("later.db");
	put_window(db, 20000, 0, 7);
	res_sql_close(db);
	write_and_be_killed("again.db");
	assert_int_equal(unlink(test_path("again.db")), 0);
	FILE *from = fopen(test_path("later.db"), "rb");
	assert_non_null(from);
	FILE *to = fopen(test_path("again.db"), "wb");
	assert_non_null(to);
	while ((n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		assert_int_equal(fwrite(bytes, 1, n, to), n);
	fclose(from);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(refused("again.db", RES_SQL_READ, "in the place of"),
	    SIM_EMISMATCH);
}

/* Views and triggers are programs, which would run as whoever reads. */
static void forged_tables_are_refused_and_own_ones_are_left_alone(void **state)
{
	(void)state;
	struct res_sql *db = open_db("forged.db");
	put_window(db, 20000, 0, 3);
	run(db, "CREATE VIEW mine AS SELECT count(*) FROM sla");
	run(db, "CREATE INDEX also_mine ON sla(name)");
	res_sql_close(db);
	assert_int_equal(servers_in("forged.db", RES_SQL_WRITE), 3);
	db = open_db("forged.db");
	run(db,
	    "CREATE TRIGGER t AFTER INSERT ON sla BEGIN DELETE FROM sla; END");
	res_sql_close(db);
	assert_int_equal(refused("forged.db", RES_SQL_WRITE, "has triggers"),
	    SIM_EPARSE);
	assert_int_equal(refused("forged.db", RES_SQL_READ, "has triggers"),
	    SIM_EPARSE);
	db = open_db("view.db");
	run(db, "DROP VIEW alert_open");
	run(db,
	    "CREATE VIEW alert_open AS WITH RECURSIVE c(x) AS (SELECT 1 UNION "
	    "ALL SELECT x + 1 FROM c) SELECT x FROM c");
	res_sql_close(db);
	assert_int_equal(refused("view.db", RES_SQL_READ,
			     "alert_open is not as `culprit jobs"),
	    SIM_EPARSE);
	db = open_db("gone.db");
	run(db, "DROP TABLE chunk");
	res_sql_close(db);
	assert_int_equal(refused("gone.db", RES_SQL_READ, "chunk is not as"),
	    SIM_EPARSE);
}

/* 0.9.0 had other comments in its tables, and its databases are read. */
static void comments_are_no_forgery_and_all_else_is(void **state)
{
	(void)state;
	struct res_sql *db = open_old("worded.db", 1);
	reword(db, "; of IPv6, as if it had 10.0.0.0/8\n",
	    ", the agent's\n\t-- (\n\n");
	res_sql_close(db);
	assert_int_equal(servers_in("worded.db", RES_SQL_WRITE), 3);
	assert_int_equal(servers_in("worded.db", RES_SQL_READ), 3);
	/* What is refused is not brought to another version. */
	static const struct {
		const char *from, *to;
	} forged[] = {{"'tor', 'pod'", "'tor -- ', 'pod'"},
	    {"'tor', 'pod'", "'tor','pod'"}, {"AS worst", "AS best"},
	    {"AS worst", "AS \"worst -- \""},
	    {"n_lost INTEGER NOT NULL", "n_lost INTEGER"}};
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		char name[32];
		snprintf(name, sizeof(name), "forged%zu.db", i);
		db = open_old(name, 1);
		reword(db, forged[i].from, forged[i].to);
		res_sql_close(db);
		assert_int_equal(refused(name, RES_SQL_WRITE, "is not as"),
		    SIM_EPARSE);
		assert_int_equal(refused(name, RES_SQL_READ, "version 1"),
		    SIM_EMISMATCH);
	}
}

static void what_never_ends_is_ended(void **state)
{
	(void)state;
	struct res_sql *db = open_db("endless.db");
	struct sim_err e = {0};
	int64_t x;
	assert_int_equal(res_sql_one(db,
			     "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
			     "SELECT x + 1 FROM "
			     "c) SELECT count(*) FROM c",
			     NULL, 0, 0, &x, &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "more steps than rows of its size"));
	put_window(db, 20000, 0, 3);
	assert_int_equal(ask(db, "SELECT count(*) FROM sla"), 3);
	res_sql_close(db);
}

static void a_full_disk_is_an_error_and_loses_nothing(void **state)
{
	(void)state;
	struct res_sql *db = open_db("full.db");
	put_window(db, 20000, 0, 5);
	char limit[64];
	snprintf(limit, sizeof(limit), "PRAGMA max_page_count = %" PRId64,
	    ask(db, "PRAGMA page_count"));
	run(db, limit);
	struct sim_err e = {0};
	int rc = res_sql_begin(db, &e);
	for (int i = 0; i < 10000 && rc == 0; i++)
		rc = res_sql_run(db, &e, "INSERT INTO meta VALUES (?, 'x')",
		    RES_SQL_I64(i));
	assert_int_equal(rc, SIM_EIO);
	assert_non_null(strstr(e.msg, "full"));
	res_sql_rollback(db);
	assert_int_equal(ask(db, "SELECT count(*) FROM meta"), 0);
	assert_int_equal(ask(db, "SELECT count(*) FROM sla"), 5);
	run(db, "PRAGMA max_page_count = 100000");
	put_window(db, 20000, 1, 5);
	assert_int_equal(ask(db, "SELECT count(*)  FROM sla"), 10);
	res_sql_close(db);
}

static void retention_lets_go_by_age_and_gives_the_space_back(void **state)
{
	(void)state;
	struct res_sql *db = open_db("keep.db");
	struct stat before, after;
	/* Days 19900 (too old), 19990 (without servers) and 19999. */
	for (int k = 0; k < 144; k++)
		put_window(db, 19900, k, 20);
	put_window(db, 19990, 0, 20);
	put_window(db, 19999, 0, 20);
	run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
	assert_int_equal(stat(test_path("keep.db"), &before), 0);
	assert_ok(res_sql_retain(db, &RES_SQL_KEEP, NOW_NS, test_err()));
	assert_ok(res_sql_shrink(db, test_err()));
	assert_int_equal(ask(db, "SELECT count(*) FROM window"), 2);
	assert_int_equal(ask(db, "SELECT count(*) FROM sla"), 20);
	assert_int_equal(ask(db, "SELECT count(*) FROM histogram"), 1);
	assert_int_equal(ask(db, "PRAGMA freelist_count"), 0);
	assert_int_equal(stat(test_path("keep.db"), &after), 0);
	if (after.st_size * 4 > before.st_size)
		fail_msg("%lld of %lld bytes are left",
		    (long long)after.st_size, (long long)before.st_size);
	/* 0: for ever. */
	assert_ok(res_sql_retain(db, &(struct res_sql_keep){0}, NOW_NS * 2,
	    test_err()));
	assert_int_equal(ask(db, "SELECT count(*)  FROM window"), 2);
	res_sql_close(db);
}

/* A row that a table refuses names the rule, and the transaction can go on. */
static void a_window_exists_once(void **state)
{
	(void)state;
	struct res_sql *db = open_db("once.db");
	struct sim_err e = {0};
	put_window(db, 20000, 0, 1);
	assert_int_equal(
	    res_sql_run(db, &e,
		"INSERT INTO window(job, from_ns, to_ns, due_ns, made_ns, "
		"state, n_records) SELECT job, from_ns, to_ns, due_ns, "
		"made_ns, state, n_records FROM window"),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "UNIQUE"));
	assert_int_equal(ask(db, "SELECT count(*) FROM window"), 1);
	res_sql_close(db);
}

/* The alert of windows that follow each other is one span; a gap begins another,
 * and it is open if it is in the newest window with data. */
static void alerts_of_neighbours_are_one_span(void **state)
{
	(void)state;
	struct res_sql *db = open_db("span.db");
	run(db,
	    "WITH RECURSIVE k(i) AS (VALUES (0) UNION ALL SELECT i + 1 "
	    "FROM k WHERE i < 9) INSERT INTO window(id, job, from_ns, "
	    "to_ns, due_ns, made_ns, state, n_records) SELECT i * 2400 + "
	    "1, '10min', i * 600, i * 600 + 600, 0, 0, 'made', 1 FROM k");
	run(db,
	    "INSERT INTO alert SELECT id, 0, 'p99_us', 'pod', 3, NULL, "
	    "from_ns + 6000, 5000, NULL FROM window "
	    "WHERE from_ns / 600 IN (1, 2, 3, 6, 8, 9)");
	assert_int_equal(ask(db, "SELECT count(*) FROM alert_span"), 3);
	assert_int_equal(ask(db,
			     "SELECT until_ns FROM alert_span WHERE "
			     "since_ns = 600 AND n_windows = 3"),
	    2400);
	assert_int_equal(ask(db,
			     "SELECT worst FROM alert_span WHERE "
			     "since_ns = 600"),
	    7800);
	assert_int_equal(ask(db, "SELECT count(*) FROM alert_open"), 1);
	assert_int_equal(ask(db, "SELECT since_ns FROM alert_open"), 4800);
	/* An empty window says nothing of an alert; one without it ends it. */
	run(db,
	    "INSERT INTO window VALUES (24001, '10min', 6000, 6600, 0, 0, "
	    "'empty', 0, 0, 0, 0, NULL)");
	assert_int_equal(ask(db, "SELECT count(*)  FROM alert_open"), 1);
	run(db, "UPDATE window SET state = 'made' WHERE id = 24001");
	assert_int_equal(ask(db, "SELECT count(*)   FROM alert_open"), 0);
	res_sql_close(db);
}

int main(void)
{
	struct res_sql *db;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		a_new_database_has_this_version_and_all_values_read_back),
	    cmocka_unit_test(
		a_reader_reads_beside_the_writer_and_writes_nothing),
	    cmocka_unit_test(a_second_writer_is_refused_and_told_of_the_first),
	    cmocka_unit_test(a_newer_version_is_refused_by_writer_and_reader),
	    cmocka_unit_test(an_older_version_is_migrated_whole_or_not_at_all),
	    cmocka_unit_test(a_database_of_version_1_gets_the_table_of_gets),
	    cmocka_unit_test(
		a_database_of_version_2_keeps_its_alerts_and_agents),
	    cmocka_unit_test(agents_with_an_older_list_are_told_from_others),
	    cmocka_unit_test(
		another_programs_database_and_other_files_are_left_alone),
	    cmocka_unit_test(damage_is_an_error_and_never_a_crash),
	    cmocka_unit_test(a_log_of_another_file_is_refused),
	    cmocka_unit_test(also_of_a_file_with_the_inode_of_the_old_one),
	    cmocka_unit_test(
		forged_tables_are_refused_and_own_ones_are_left_alone),
	    cmocka_unit_test(comments_are_no_forgery_and_all_else_is),
	    cmocka_unit_test(what_never_ends_is_ended),
	    cmocka_unit_test(a_full_disk_is_an_error_and_loses_nothing),
	    cmocka_unit_test(retention_lets_go_by_age_and_gives_the_space_back),
	    cmocka_unit_test(a_window_exists_once),
	    cmocka_unit_test(alerts_of_neighbours_are_one_span),
	};
	if (res_sql_open(&db, "/nowhere/x", RES_SQL_READ, NULL) ==
	    SIM_EUNSUPPORTED) {
		printf("skipped: this program was built without SQLite\n");
		return 0;
	}
	return cmocka_run_group_tests_name("results/sql", tests,
	    test_folder_make, test_folder_remove);
}
