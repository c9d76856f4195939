/* tests/experiments/live/store_follow_test.c -- what is noted of batches, to the digit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files are written by hand, one batch behind the other, and what the database
 * then says of agents, files and their pieces is compared as text, with times from
 * T0 on.
 */
#include "experiments/live/store_follow.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rigs/folder.h"
#include "tests/rigs/live_fleet.h"
#include "tests/test.h"
#include "topo/addr.h"

#define T0 LIVE_BEGIN
#define S  SIM_SEC

static struct res_recording_info info;
static struct algo_pingmesh_batch batch;
static struct res_sql *db;
static char dir[128];
static int64_t at_byte; /* of the file that is written */

static int follow_setup(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	info = live_info(NULL);
	at_byte = 0;
	snprintf(dir, sizeof(dir), "%s/store", test_folder);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_ok(
	    res_sql_open(&db, test_path("a.db"), RES_SQL_WRITE, test_err()));
	return 0;
}

static int follow_teardown(void **state)
{
	res_sql_close(db);
	return test_folder_remove(state);
}

/* --- files -----------------------------------------------------------------*/

static const char *file_of(int number)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/batches-20260203-%04d.cpmb", dir,
	    number);
	return path;
}

static void append(int number, const void *bytes, size_t n)
{
	FILE *f = fopen(file_of(number), "ab");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	at_byte = at_byte + (int64_t)n;
}

/* A probe from SRC to its neighbour, sent at T0 + AT. */
static struct algo_pingmesh_record record_of(uint32_t src, int64_t at)
{
	return (
	    struct algo_pingmesh_record){.sent_ns = (sim_ns)((int64_t)T0 + at),
	    .rtt_ns = 200 * SIM_US,
	    .src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(src + 1),
	    .level = ALGO_PINGLIST_DC,
	    .outcome = AGENT_CONNECTED};
}

/* Batch NUMBER of an agent on SRC that began BORN after T0. */
static void put_batch(int file, uint32_t src, int64_t born, uint64_t number)
{
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	batch.src_ip = topo_addr_of_host(src);
	batch.born_ns = T0 + (sim_ns)born;
	batch.number = number;
	append(file, bytes, algo_pingmesh_wire_encode(&batch, NULL, bytes));
}

/* N records of SRC, sent in turn from AT on, one a second. */
static void put_records(int file, uint32_t src, uint64_t number, uint32_t n,
    int64_t at)
{
	batch.n = n;
	for (uint32_t i = 0; i < n; i++)
		batch.record[i] = record_of(src, at + i * (int64_t)S);
	put_batch(file, src, -(int64_t)S, number);
}

static void put_counters(int file, const struct algo_pingmesh_window *w)
{
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	append(file, bytes, algo_pingmesh_wire_encode_window(w, NULL, bytes));
}

/* Of the 5 minutes before T0 + TO. */
static struct algo_pingmesh_window counters_of(uint32_t src, int64_t to)
{
	return (struct algo_pingmesh_window){.born_ns = T0 - S,
	    .number = 1,
	    .start_ns = (sim_ns)((int64_t)T0 + to) - 300 * S,
	    .end_ns = (sim_ns)((int64_t)T0 + to),
	    .n_probes = 3,
	    .src_ip = topo_addr_of_host(src)};
}

/* --- what is said ----------------------------------------------------------*/

static struct xp_follow follow_of(void)
{
	return (struct xp_follow){.db = db,
	    .dir = dir,
	    .dc = info.dc,
	    .n_dcs = info.n_dcs,
	    .length = {300 * S, 600 * S},
	    .late_ns = 3600 * S,
	    .job = {"5min", "10min"}};
}

/* As a program that is started at T0 + NOW does; returns how many batches came. */
static uint64_t read_with(struct xp_follow f, int64_t now)
{
	uint64_t n = 99;
	assert_ok(xp_follow_open(&f, test_err()));
	assert_ok(
	    xp_follow_read(&f, (sim_ns)((int64_t)T0 + now), &n, test_err()));
	xp_follow_close(&f);
	xp_follow_close(&f); /* it is empty */
	assert_null(f.agent);
	return n;
}

static uint64_t read_now(void)
{
	return read_with(follow_of(), 3600 * (int64_t)S);
}

/* The rows of SQL, their columns apart by a space, "-" for NULL. */
static void assert_rows(const char *sql, const char *want)
{
	struct res_sql_rows *q;
	char got[4096] = "";
	size_t at = 0;
	assert_ok(res_sql_ask(&q, db, test_err(), sql));
	while (res_sql_next(q, test_err()) > 0)
		for (int i = 0, n = res_sql_n_columns(q); i < n; i++) {
			const char *text = res_sql_text(q, i);
			at += (size_t)snprintf(got + at, sizeof(got) - at,
			    "%s%c", text ? text : "-", i < n - 1 ? ' ' : '\n');
			assert_true(at < sizeof(got));
		}
	res_sql_done(q);
	assert_string_equal(got, want);
}

#define FROM_T0 " - 1770156000000000000"
#define AGENTS                                                                 \
	"SELECT address, dc, server, first_seen_ns" FROM_T0                    \
	", last_seen_ns" FROM_T0 ", born_ns" FROM_T0                           \
	", n_starts, n_batches, n_records, n_lost FROM agent ORDER BY ip"
#define LISTS                                                                  \
	"SELECT server, list, list_issued_ns, list_told_ns" FROM_T0            \
	" FROM agent ORDER BY ip"
#define STORE                                                                  \
	"SELECT file, first_ns" FROM_T0 ", last_ns" FROM_T0                    \
	", n_batches, n_records, n_failed, n_foreign, n_odd, n_untimely, "     \
	"n_before, n_bytes_damaged FROM store"

/* Chunks, and at which byte of its file the store is. */
static void assert_chunks(const char *form, ...)
{
	char want[512];
	va_list args;
	va_start(args, form);
	vsnprintf(want, sizeof(want), form, args);
	va_end(args);
	assert_rows("SELECT file, from_byte, to_byte, CASE WHEN first_ns < 0 "
		    "THEN first_ns ELSE first_ns" FROM_T0
		    " END, CASE WHEN last_ns < 0 THEN last_ns ELSE "
		    "last_ns" FROM_T0 " END FROM chunk UNION ALL SELECT file, "
		    "at_byte, '', '', '' FROM store",
	    want);
}

/* --- agents ----------------------------------------------------------------*/

static void of_each_server_is_known_when_it_was_heard_and_of_what(void **state)
{
	(void)state;
	batch.n_lost = 7;
	put_records(1, 2, 1, 3, 5 * (int64_t)S);
	batch.n_lost = 0;
	batch.n = 2;
	batch.record[0] = record_of(13, 9 * (int64_t)S);
	batch.record[1] = record_of(13, -4 * (int64_t)S);
	put_batch(1, 13, -3, 4);
	assert_int_equal(read_now(), 2);
	assert_rows(AGENTS,
	    "10.0.0.3 0 2 5000000000 7000000000 -1000000000 1 1 3 7\n"
	    "10.0.0.14 1 1 -4000000000 9000000000 -3 1 4 2 0\n");
	assert_rows(STORE, "1 -4000000000 9000000000 2 5 0 0 0 0 0 0\n");
	assert_rows(LISTS, "2 - - -\n1 - - -\n");
	assert_chunks("1 0 %" PRId64 " -4000000000 9000000000\n"
		      "1 %" PRId64 "   \n",
	    at_byte, at_byte);
	/* Nothing came, and all stays as it is. */
	assert_int_equal(read_now(), 0);
	assert_rows(STORE, "1 -4000000000 9000000000 2 5 0 0 0 0 0 0\n");
}

/* A program that is started in between knows what the one before did. */
static void batches_count_up_and_what_is_repeated_counts_for_nothing(
    void **state)
{
	static const struct {
		int64_t born;
		uint64_t number, n_lost;
		const char *says; /* born, starts, batches, records, lost */
	} q[] = {
	    {-5, 2, 3, "-5 1 2 1 3\n"},
	    {-5, 2, 3, "-5 1 2 1 3\n"}, /* once more */
	    {-5, 1, 1, "-5 1 2 1 3\n"}, /* out of order */
	    {-5, 3, 4, "-5 1 3 2 4\n"},
	    {-5, 9, 4, "-5 1 9 3 4\n"},
	    {-4, 1, 0, "-4 2 1 4 0\n"},  /* it was started anew */
	    {-5, 10, 5, "-4 2 1 4 0\n"}, /* of the one before */
	    {-4, 2, UINT64_C(1) << 63 | 6, "-4 2 2 5 6\n"},
	    /* Numbers that a database can hold, and that it can't. */
	    {-4, INT64_MAX, 6, "-4 2 9223372036854775807 6 6\n"},
	    {-3, UINT64_C(1) << 63, 6, "-4 2 9223372036854775807 6 6\n"},
	    {INT64_MAX - (int64_t)T0, 1, 0, "7453216036854775807 3 1 7 0\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		batch.n = 1;
		batch.n_lost = q[i].n_lost;
		batch.record[0] = record_of(3, (int64_t)i);
		put_batch(1, 3, q[i].born, q[i].number);
		assert_int_equal(read_now(), 1);
		assert_rows("SELECT born_ns" FROM_T0
			    ", n_starts, n_batches, n_records, n_lost FROM "
			    "agent",
		    q[i].says);
	}
	put_batch(1, 3, INT64_MAX - (int64_t)T0 + 1, 5);
	read_now();
	assert_rows("SELECT n_starts FROM agent", "3\n");
	/* All are of one chunk, and counted there. */
	assert_rows(STORE, "1 0 10 12 12 0 0 0 0 0 0\n");
	batch.n_lost = 0;
}

/* Of four records one each is no row; a server that is none of ours is nobody. */
static void what_is_no_row_is_counted_by_its_reason(void **state)
{
	(void)state;
	batch.n = 6;
	for (int i = 0; i < 6; i++)
		batch.record[i] = record_of(4, i * 10);
	batch.record[0].outcome = AGENT_FAILED;
	batch.record[1].dst_ip = topo_addr_of_host(LIVE_HOSTS);
	batch.record[2].rtt_ns = 0;
	batch.record[4].sent_ns -= 3 * 86400 * S;
	batch.record[5].level = ALGO_PINGLIST_VIP;
	batch.record[5].dst_ip = topo_addr_of_host(5);
	put_batch(1, 4, -1, 1);
	put_records(1, LIVE_HOSTS, 1, 2, 0);
	assert_int_equal(read_now(), 2);
	assert_rows(AGENTS, "10.0.0.5 0 4 30 30 -1 1 1 6 0\n");
	assert_rows(STORE, "1 30 30 2 8 1 4 1 1 0 0\n");
}

static void what_an_agent_says_last_of_its_list_is_what_counts(void **state)
{
	struct algo_pingmesh_window w = counters_of(6, 300 * (int64_t)S);
	(void)state;
	w.has_http = 1;
	w.list_version = 0xab;
	w.list_issued_ns = UINT64_C(1) << 63 | 17;
	put_counters(1, &w);
	assert_int_equal(read_now(), 1);
	assert_rows(LISTS, "6 00000000000000ab 17 300000000000\n");
	assert_rows(AGENTS,
	    "10.0.0.7 0 6 300000000000 300000000000 "
	    "-1770156000000000000 0 0 0 0\n");
	assert_rows(STORE, "1 300000000000 300000000000 1 0 0 0 0 0 0 0\n");
	/* What comes late says nothing of now; of the same moment it does. */
	w = counters_of(6, 299 * (int64_t)S);
	w.has_http = 1;
	w.list_version = 0xcd;
	put_counters(1, &w);
	read_now();
	assert_rows(LISTS, "6 00000000000000ab 17 300000000000\n");
	w.start_ns = w.start_ns + S;
	w.end_ns = w.end_ns + S;
	w.list_version = 0;
	put_counters(1, &w);
	read_now();
	assert_rows(LISTS, "6  0 300000000000\n");
	/* An older program says nothing. */
	w = counters_of(6, 600 * (int64_t)S);
	put_counters(1, &w);
	read_now();
	assert_rows(LISTS, "6 - - -\n");
}

static void counters_that_are_no_row_are_counted_by_their_reason(void **state)
{
	struct algo_pingmesh_window w = counters_of(LIVE_HOSTS, 300);
	(void)state;
	put_counters(1, &w);
	w = counters_of(1, 300);
	w.n_drop_1 = 2; /* of none that connected */
	put_counters(1, &w);
	w = counters_of(1, 300);
	w.start_ns -= 3 * 86400 * S;
	put_counters(1, &w);
	w = counters_of(1, 300);
	w.end_ns += 3 * 86400 * S;
	put_counters(1, &w);
	assert_int_equal(read_now(), 4);
	assert_rows(STORE, "1 - - 4 0 0 1 1 2 0 0\n");
	assert_rows(AGENTS, "");
	/* They are not worth to be read again. */
	assert_chunks("1 0 %" PRId64 " -1 -1\n1 %" PRId64 "   \n", at_byte,
	    at_byte);
}

/* --- pieces ----------------------------------------------------------------*/

/* 11 batches of 2,048 records are more than a chunk of 1 MiB, 10 are less. */
static void a_chunk_goes_on_until_it_is_full(void **state)
{
	enum { N = ALGO_PINGMESH_BATCH };
	const int64_t size = (int64_t)algo_pingmesh_wire_size(N);
	const int64_t full = (1 << 20) / size + 1;
	(void)state;
	for (int64_t i = 0; i < full - 1; i++)
		put_records(1, 1, (uint64_t)i + 1, N, i * 3);
	read_now();
	assert_chunks("1 0 %" PRId64 " 0 %" PRId64 "\n1 %" PRId64 "   \n",
	    (full - 1) * size, (N - 1) * (int64_t)S + (full - 2) * 3,
	    (full - 1) * size);
	/* It goes on, and then the next begins, which has times of its own. */
	put_records(1, 1, 90, N, -7);
	put_records(1, 1, 91, 1, 11);
	read_now();
	put_records(1, 1, 92, 1, 13);
	read_now();
	assert_chunks("1 0 %" PRId64 " -7 %" PRId64 "\n1 %" PRId64 " %" PRId64
		      " 11 13\n1 %" PRId64 "   \n",
	    full * size, (N - 1) * (int64_t)S + (full - 2) * 3, full * size,
	    at_byte, at_byte);
}

/* A chunk that is just full is left as it is. */
static void a_chunk_of_just_its_size_is_full(void **state)
{
	const int64_t full = 1 << 20;
	struct algo_pingmesh_window w = counters_of(1, 300);
	static unsigned char bytes[ALGO_PINGMESH_WIRE_WINDOW_MAX];
	struct topo_ip_book book = {0};
	const struct topo_ip ip = {{0xfd, [15] = 1}};
	(void)state;
	/* Of IPv4 sizes are multiples of 24; counters of IPv6 make up for that,
	 * which are nobody's here. */
	assert_ok(topo_ip_book_open(&book, 1, test_err()));
	w.src_ip = topo_ip_book_note(&book, &ip);
	w.has_http = 1;
	append(1, bytes, algo_pingmesh_wire_encode_window(&w, &book, bytes));
	topo_ip_book_close(&book);
	w.src_ip = topo_addr_of_host(1);
	w.has_http = 0;
	if ((full - at_byte) % 48 != 0)
		put_counters(1, &w);
	while (full - at_byte > (int64_t)algo_pingmesh_wire_size(2000) + 96)
		put_records(1, 1, 1, 2000, 0);
	assert_int_equal((full - at_byte) % 48, 0);
	put_records(1, 1, 1, (uint32_t)((full - at_byte) / 48) - 1, 0);
	assert_int_equal(at_byte, full);
	read_now();
	put_records(1, 1, 1, 1, 17);
	read_now();
	assert_chunks("1 0 1048576 0 1999000000000\n1 1048576 %" PRId64
		      " 17 17\n1 %" PRId64 "   \n",
	    at_byte, at_byte);
}

/* The next file begins at its own byte 0, and what is no batch at the end of one
 * that is not the newest is damage, once. */
static void files_are_read_in_turn_and_forgotten_when_they_go(void **state)
{
	(void)state;
	put_records(1, 1, 1, 1, 1);
	const int64_t one = at_byte;
	append(1, "torn", 4);
	read_now();
	assert_rows(STORE, "1 1 1 1 1 0 0 0 0 0 0\n");
	at_byte = 0;
	put_records(1002, 1, 2, 1, 2);
	put_records(1003, 1, 3, 1, 3);
	assert_int_equal(read_now(), 2);
	assert_rows(STORE, "1003 1 3 3 3 0 0 0 0 0 4\n");
	assert_chunks("1 0 %" PRId64 " 1 1\n1002 0 %" PRId64
		      " 2 2\n1003 0 %" PRId64 " 3 3\n1003 %" PRId64 "   \n",
	    one, one, one, one);
	/* Files before the one that is read are read no more. */
	put_records(1, 1, 4, 1, 4);
	assert_int_equal(unlink(file_of(1002)), 0);
	assert_int_equal(read_now(), 0);
	assert_chunks("1 0 %" PRId64 " 1 1\n1003 0 %" PRId64
		      " 3 3\n1003 %" PRId64 "   \n",
	    one, one, one);
	assert_rows(STORE, "1003 1 3 3 3 0 0 0 0 0 4\n");
}

/* --- what is late ----------------------------------------------------------*/

static void put_window(const char *job, int64_t from, int64_t length)
{
	static int64_t id;
	assert_ok(res_sql_run(db, test_err(),
	    "INSERT INTO window (id, job, from_ns, to_ns, due_ns, made_ns, "
	    "state, n_records) VALUES (?, ?, ?, ?, 0, 0, 'made', 0)",
	    RES_SQL_I64(++id), RES_SQL_TEXT(job),
	    RES_SQL_I64((int64_t)T0 + from),
	    RES_SQL_I64((int64_t)T0 + from + length)));
}

/* Windows up to T0 + 1200 s are made; counters that end with one belong to it. */
static void put_late(void)
{
	struct algo_pingmesh_window w = counters_of(1, 300 * (int64_t)S);
	put_window("5min", 0, 300 * (int64_t)S);
	put_window("5min", 300 * (int64_t)S, 300 * (int64_t)S);
	put_window("10min", 0, 600 * (int64_t)S);
	put_window("10min", 600 * (int64_t)S, 600 * (int64_t)S);
	put_counters(1, &w);
	w.start_ns = w.start_ns + 1;
	w.end_ns = w.end_ns + 1;
	w.number = 2;
	put_counters(1, &w);
	put_counters(1, &w);
	batch.n = 6;
	batch.record[0] = record_of(1, 600 * (int64_t)S - 1);
	batch.record[1] = record_of(1, 600 * (int64_t)S);
	batch.record[2] = record_of(1, 1200 * (int64_t)S - 1);
	batch.record[3] = record_of(1, 1200 * (int64_t)S);
	batch.record[4] = record_of(1, -1);
	batch.record[5] = record_of(1, 601 * (int64_t)S);
	put_batch(1, 1, -1, 1);
}

#define LATE                                                                   \
	"SELECT job, (from_ns" FROM_T0                                         \
	") / 1000000000, n_waiting, n_aside FROM window ORDER BY id"

static void what_is_late_waits_for_its_window_or_is_set_aside(void **state)
{
	struct xp_follow f = follow_of();
	(void)state;
	f.made[0] = T0 + 600 * S;
	f.made[1] = T0 + 1200 * S;
	put_late();
	/* Of the windows that end at 600 s it is just too late for. */
	assert_int_equal(read_with(f, 4200 * (int64_t)S), 4);
	assert_rows(LATE,
	    "5min 0 0 1\n5min 300 0 2\n"
	    "10min 0 0 1\n10min 600 3 0\n");
	/* That of before the first window has none to wait for. */
	assert_rows("SELECT n_before FROM store", "1\n");
	assert_int_equal(read_with(f, 4200 * (int64_t)S), 0);
	assert_rows(LATE,
	    "5min 0 0 1\n5min 300 0 2\n"
	    "10min 0 0 1\n10min 600 3 0\n");
}

static void a_moment_before_it_is_not_too_late(void **state)
{
	struct xp_follow f = follow_of();
	(void)state;
	f.made[0] = f.made[1] = T0 + 600 * S;
	put_late();
	assert_int_equal(read_with(f, 4200 * (int64_t)S - 1), 4);
	/* Windows that are not made yet wait for nothing. */
	assert_rows(LATE,
	    "5min 0 0 1\n5min 300 2 0\n"
	    "10min 0 1 0\n10min 600 0 0\n");
}

/* --- rows of a window -------------------------------------------------------*/

static void a_window_has_what_was_sent_or_ended_in_it(void **state)
{
	struct obs_probes probes = {0};
	struct obs_perf counters = {0};
	struct xp_follow_rows rows = {.probes = &probes,
	    .counters = &counters,
	    .most = 5};
	struct xp_follow f = follow_of();
	struct sim_err e;
	uint64_t n;
	(void)state;
	put_late();
	assert_ok(xp_follow_open(&f, test_err()));
	assert_ok(xp_follow_read(&f, T0 + 4200 * S, &n, test_err()));
	assert_ok(xp_follow_window(&f, T0 + 600 * S, T0 + 1200 * S, &rows,
	    test_err()));
	assert_int_equal(probes.n, 3);
	assert_true(probes.sent_ns[0] == T0 + 600 * S);
	assert_true(probes.sent_ns[1] == T0 + 1200 * S - 1);
	assert_int_equal(counters.n, 0);
	assert_int_equal(rows.first_file, 1);
	/* Counters that are there twice count once; both ends as they are. */
	assert_ok(xp_follow_window(&f, T0 + 300 * S, T0 + 300 * S + 1, &rows,
	    test_err()));
	assert_int_equal(counters.n, 1);
	assert_true(counters.end_ns[0] == T0 + 300 * S + 1);
	/* So many are allowed, and no more. */
	rows.most = 3;
	assert_ok(xp_follow_window(&f, T0 + 600 * S, T0 + 1200 * S, &rows,
	    test_err()));
	rows.most = 2;
	assert_int_equal(xp_follow_window(&f, T0 + 600 * S, T0 + 1200 * S,
			     &rows, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "a window of more than 2 records (--max-probes).");
	/* Of a time of which there is nothing no file is named. */
	assert_ok(xp_follow_window(&f, T0 + 1201 * S, T0 + 1300 * S, &rows,
	    test_err()));
	assert_int_equal(rows.first_file, -1);
	obs_probes_free(&probes);
	obs_perf_free(&counters);
	xp_follow_close(&f);
}

/* --- errors ----------------------------------------------------------------*/

static int follow_all(void *arg, struct sim_err *e)
{
	struct xp_follow f = follow_of();
	struct obs_probes probes = {0};
	struct xp_follow_rows rows = {.probes = &probes, .most = 100};
	uint64_t n;
	(void)arg;
	f.made[0] = T0 + 600 * S;
	f.made[1] = T0 + 1200 * S;
	int rc = xp_follow_open(&f, e);
	if (rc == 0)
		rc = xp_follow_read(&f, T0 + 4200 * S, &n, e);
	if (rc == 0)
		rc = xp_follow_window(&f, T0, T0 + 1200 * S, &rows, e);
	obs_probes_free(&probes);
	xp_follow_close(&f);
	return rc;
}

static void no_memory_is_told_and_nothing_is_lost(void **state)
{
	(void)state;
	put_late();
	test_each_alloc_fails(follow_all, NULL);
	assert_rows("SELECT n_batches FROM store", "4\n");
	assert_rows(LATE,
	    "5min 0 0 1\n5min 300 0 2\n"
	    "10min 0 0 1\n10min 600 3 0\n");
}

static void files_that_cannot_be_read_are_told(void **state)
{
	struct xp_follow f = follow_of();
	struct sim_err e;
	uint64_t n;
	(void)state;
	f.dir = "/nowhere/at/all";
	assert_int_equal(xp_follow_open(&f, &e), SIM_EIO);
	assert_string_equal(e.msg,
	    "cannot read /nowhere/at/all: No such file or directory.");
	xp_follow_close(&f);
	f = follow_of();
	assert_int_equal(mkfifo(file_of(1), 0600), 0);
	assert_ok(xp_follow_open(&f, test_err()));
	assert_int_equal(xp_follow_read(&f, T0, &n, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "batches-20260203-0001.cpmb"));
	xp_follow_close(&f);
	/* The transaction is given up: the database can be written. */
	assert_ok(res_sql_begin(db, test_err()));
	res_sql_rollback(db);
}

/* The two lowest descriptors that are free: of the folder, and of a file in it. */
static void lowest_free(int fd[2])
{
	for (int i = 0; i < 2; i++)
		assert_true((fd[i] = dup(0)) >= 0);
	for (int i = 0; i < 2; i++)
		close(fd[i]);
}

/* As of a database that somebody else wrote into. */
static void a_place_that_no_file_has_is_told_and_the_file_is_closed(
    void **state)
{
	struct xp_follow f = follow_of();
	struct sim_err e;
	int was[2], is[2];
	uint64_t n;
	(void)state;
	put_records(1, 1, 1, 1, 1);
	read_now();
	lowest_free(was);
	assert_ok(res_sql_run(db, test_err(), "UPDATE store SET at_byte = -5"));
	assert_ok(xp_follow_open(&f, test_err()));
	assert_int_equal(xp_follow_read(&f, T0, &n, &e), SIM_EIO);
	assert_non_null(
	    strstr(e.msg, "store/batches-20260203-0001.cpmb: Invalid arg"));
	xp_follow_close(&f);
	lowest_free(is);
	assert_memory_equal(is, was, sizeof(is));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, follow_setup, follow_teardown)
	    T(of_each_server_is_known_when_it_was_heard_and_of_what),
	    T(batches_count_up_and_what_is_repeated_counts_for_nothing),
	    T(what_is_no_row_is_counted_by_its_reason),
	    T(what_an_agent_says_last_of_its_list_is_what_counts),
	    T(counters_that_are_no_row_are_counted_by_their_reason),
	    T(a_chunk_goes_on_until_it_is_full),
	    T(a_chunk_of_just_its_size_is_full),
	    T(files_are_read_in_turn_and_forgotten_when_they_go),
	    T(what_is_late_waits_for_its_window_or_is_set_aside),
	    T(a_moment_before_it_is_not_too_late),
	    T(a_window_has_what_was_sent_or_ended_in_it),
	    T(no_memory_is_told_and_nothing_is_lost),
	    T(files_that_cannot_be_read_are_told),
	    T(a_place_that_no_file_has_is_told_and_the_file_is_closed),
	};
	if (res_sql_open(&db, "/nowhere/x", RES_SQL_READ, NULL) ==
	    SIM_EUNSUPPORTED) {
		printf("skipped: this program was built without SQLite\n");
		return 0;
	}
	return cmocka_run_group_tests_name("live/store_follow", tests, NULL,
	    NULL);
}
