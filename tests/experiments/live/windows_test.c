/* tests/experiments/live/windows_test.c -- windows: each once, on time, and right.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/windows.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/live/batch_export.h"
#include "experiments/pingmesh/dsa/replay.h"
#include "sim/bytes.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/live_fleet.h"
#include "tests/rigs/live_tables.h"
#include "tests/test.h"

#define MIN  (60 * SIM_SEC)
#define HOUR (60 * MIN)

static char dir[128];

static int make_dir(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(dir, sizeof(dir), "%s/store", test_folder);
	return mkdir(dir, 0700);
}

static struct live_fleet new_world(unsigned period_s)
{
	return (struct live_fleet){.dir = dir, .period = period_s * SIM_SEC};
}

/* DB is one of a few databases of a test. */
static struct xp_windows_params params(const char *db)
{
	static char path[64][200];
	static unsigned n;
	char *at = path[n++ % 64];
	snprintf(at, sizeof(path[0]), "%s/%s", test_folder, db);
	return (struct xp_windows_params){.dir = dir,
	    .db = at,
	    .info = live_info(LIVE_SERVICES),
	    .timers = "linux",
	    .grace_ns = 10 * MIN,
	    .late_ns = HOUR,
	    .max_probes = 1000000,
	    .keep = RES_SQL_KEEP,
	    .max_http_failed = XP_WINDOWS_HTTP_FAILED,
	    .max_http_p99_us = XP_WINDOWS_HTTP_P99_US};
}

/* As one run of the program that is told that it is NOW. */
static struct xp_windows_done step(const struct xp_windows_params *p,
    sim_ns now)
{
	struct xp_windows *w;
	struct xp_windows_done done;
	assert_ok(xp_windows_open(&w, p, test_err()));
	assert_ok(xp_windows_step(w, now, &done, NULL, NULL, test_err()));
	xp_windows_close(w);
	return done;
}

static struct res_sql *read_db(const char *name)
{
	struct res_sql *db;
	assert_ok(res_sql_open(&db, test_path(name), RES_SQL_READ, test_err()));
	return db;
}

static double number(struct res_sql *db, const char *sql)
{
	struct res_sql_rows *q;
	assert_ok(res_sql_ask(&q, db, test_err(), sql));
	assert_int_equal(res_sql_next(q, test_err()), 1);
	const double x = res_sql_f64(q, 0);
	res_sql_done(q);
	return x;
}

static double number_of(const char *name, const char *sql)
{
	struct res_sql *db = read_db(name);
	const double x = number(db, sql);
	res_sql_close(db);
	return x;
}

/* --- against culprit jobs on a recording ------------------------------------*/

/* The same times, analysed as `culprit jobs` does an export of the folder. */
struct whole {
	struct xp_dsa_replay replay;
	struct xp_dsa_pool pool;
	sim_ns origin;
};

static void open_whole(struct whole *h)
{
	struct res_recording_info info = live_info(LIVE_SERVICES);
	struct xp_batch_exported n;
	char path[200];
	snprintf(path, sizeof(path), "%s/whole.h5", test_folder);
	assert_ok(xp_batch_export(dir, path, &info, &n, test_err()));
	*h = (struct whole){.origin = n.origin_ns};
	assert_ok(xp_dsa_replay_open(&h->replay, path, test_err()));
}

static void close_whole(struct whole *h)
{
	xp_dsa_pool_close(&h->pool);
	xp_dsa_replay_close(&h->replay);
}

static void run_whole(struct whole *h, sim_ns from, sim_ns to, uint32_t jobs)
{
	struct xp_dsa_replay *r = &h->replay;
	const struct xp_dsa_window w = {from - h->origin, to - h->origin,
	    to - from};
	r->jobs = jobs;
	assert_ok(res_recording_probes(r->recording, w.from, w.to, &r->probes,
	    test_err()));
	assert_ok(res_recording_counters(r->recording, w.from, w.to,
	    &r->counters, test_err()));
	assert_ok(res_recording_http(r->recording, w.from, w.to, &r->http,
	    test_err()));
	assert_ok(xp_dsa_replay_rows(r, &w, h->pool.scope ? &h->pool : NULL,
	    NULL, test_err()));
}

static const char *const scopes[] = {"server", "tor", "pod", "dc", "service"};

/* The level of a scope in the database; how many of the rows asked for are there. */
static int find_level(struct res_sql *db, const char *job, sim_ns from,
    uint32_t dc, unsigned kind, uint32_t id, double x[4])
{
	struct res_sql_rows *q;
	assert_ok(res_sql_ask(&q, db, test_err(),
	    "SELECT n_success, n_drop, p50_us, p99_us FROM sla s JOIN window w "
	    "ON w.id = s.window WHERE job = ? AND from_ns = ? AND dc = ? AND "
	    "scope = ? AND scope_id = ?",
	    RES_SQL_TEXT(job), RES_SQL_I64(from), RES_SQL_I64(dc),
	    RES_SQL_TEXT(scopes[kind]), RES_SQL_I64(id)));
	const int found = res_sql_next(q, test_err());
	for (int i = 0; found > 0 && i < 4; i++)
		x[i] = res_sql_f64(q, i);
	res_sql_done(q);
	return found;
}

static int is_equal(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Exact, or the end of a bucket, or of a mean that is the same everywhere. */
enum times_are { EXACT, OF_BUCKETS, OF_MEANS };

static void assert_time(enum times_are how, double is, double exact,
    double mean)
{
	if (isnan(exact) || how == EXACT)
		assert_true(is_equal(is, exact));
	else if (how == OF_BUCKETS)
		assert_true(is >= exact && is <= exact * 65 / 64 + 1e-9);
	else
		assert_near(is, mean, 1e-9);
}

/* Answers by scope; the database has none of servers, and of counters none of
 * services. */
static void compare_http(const struct xp_dsa_tables *t, struct res_sql *db,
    const char *job, sim_ns from, enum times_are how)
{
	size_t n = 0;
	for (size_t i = 0; i < t->http.n; i++) {
		const struct xp_dsa_http_row *r = &t->http.row[i];
		const uint64_t want[] = {r->n_asked, r->n_ok, r->n_other,
		    r->n_malformed, r->n_cut, r->n_late};
		const int is_there = r->kind != ALGO_SLA_SERVER &&
		    (r->kind != ALGO_SLA_SERVICE || how != OF_MEANS);
		struct res_sql_rows *q;
		assert_ok(res_sql_ask(&q, db, test_err(),
		    "SELECT n_asked, n_ok, n_other, n_malformed, n_cut, "
		    "h.n_late, "
		    "p50_us, p99_us FROM http h JOIN window w ON w.id = "
		    "h.window WHERE job = ? AND from_ns = ? AND dc = ? "
		    "AND scope = ? AND scope_id = ?",
		    RES_SQL_TEXT(job), RES_SQL_I64(from),
		    RES_SQL_I64(r->data_centre), RES_SQL_TEXT(scopes[r->kind]),
		    RES_SQL_I64(r->id)));
		assert_int_equal(res_sql_next(q, test_err()), is_there);
		for (int k = 0; is_there && k < 6; k++)
			assert_true((uint64_t)res_sql_i64(q, k) == want[k]);
		if (is_there) {
			n++;
			assert_time(how, res_sql_f64(q, 6), r->p50_us, 150);
			assert_time(how, res_sql_f64(q, 7), r->p99_us, 250);
		}
		res_sql_done(q);
	}
	assert_true(n > 3);
}

static void compare_10min(struct whole *h, struct res_sql *db, sim_ns from)
{
	run_whole(h, from, from + 10 * MIN,
	    XP_DSA_DROP_RATE | XP_DSA_SLA | XP_DSA_HEATMAP | XP_DSA_HTTP);
	const struct xp_dsa_tables *t = &h->replay.tables;
	double x[4];
	assert_true(t->sla.n > 0);
	compare_http(t, db, "10min", from, EXACT);
	for (size_t i = 0; i < t->sla.n; i++) {
		const struct xp_dsa_sla_row *r = &t->sla.row[i];
		if (find_level(db, "10min", from, r->data_centre, r->kind,
			r->id, x) == 0) {
			assert_true(r->n_success == 0);
			continue;
		}
		if (x[0] != (double)r->n_success || x[1] != (double)r->n_drop ||
		    !is_equal(x[2], r->p50_us) || !is_equal(x[3], r->p99_us))
			fail_msg("%s %u: %g %g %g %g", scopes[r->kind], r->id,
			    x[0], x[1], x[2], x[3]);
	}
	for (size_t i = 0; i < t->heatmap.n; i++) {
		const struct xp_dsa_heatmap_row *r = &t->heatmap.row[i];
		struct res_sql_rows *q;
		if (r->unit != ALGO_HEATMAP_POD)
			continue;
		assert_ok(res_sql_ask(&q, db, test_err(),
		    "SELECT p99_us FROM pod_pair p JOIN window w ON w.id = "
		    "p.window WHERE job = '10min' AND from_ns = ? AND dc = ? "
		    "AND src_pod = ? AND dst_pod = ?",
		    RES_SQL_I64(from), RES_SQL_I64(r->data_centre),
		    RES_SQL_I64(r->src), RES_SQL_I64(r->dst)));
		assert_int_equal(res_sql_next(q, test_err()), 1);
		assert_true(is_equal(res_sql_f64(q, 0), r->p99_us));
		res_sql_done(q);
	}
}

static void compare_5min(struct whole *h, struct res_sql *db, sim_ns from)
{
	double x[4];
	run_whole(h, from, from + 5 * MIN, XP_DSA_COUNTERS | XP_DSA_HTTP);
	const struct xp_dsa_tables *t = &h->replay.tables;
	assert_true(t->counters.n > 0);
	compare_http(t, db, "5min", from, OF_MEANS);
	for (size_t i = 0; i < t->counters.n; i++) {
		const struct xp_dsa_counters_row *r = &t->counters.row[i];
		if (find_level(db, "5min", from, r->data_centre, r->kind, r->id,
			x) == 0) {
			assert_true(r->n_connected == 0);
			continue;
		}
		assert_true(x[0] == (double)r->n_connected &&
		    x[1] == (double)r->n_drop && is_equal(x[2], r->p50_us) &&
		    is_equal(x[3], r->p99_us));
	}
}

/* Servers are in no pool: their counts are exact, and their times the ends of
 * buckets. */
static void compare_servers(const struct xp_dsa_tables *t, struct res_sql *db,
    const char *job, sim_ns from)
{
	double x[4];
	unsigned n = 0;
	for (size_t i = 0; i < t->sla.n; i++) {
		const struct xp_dsa_sla_row *r = &t->sla.row[i];
		if (r->kind != ALGO_SLA_SERVER)
			continue;
		n++;
		assert_int_equal(find_level(db, job, from, r->data_centre,
				     r->kind, r->id, x),
		    1);
		assert_true(
		    x[0] == (double)r->n_success && x[1] == (double)r->n_drop);
		assert_time(OF_BUCKETS, x[2], r->p50_us, 0);
		assert_time(OF_BUCKETS, x[3], r->p99_us, 0);
	}
	assert_int_equal(n, LIVE_HOSTS);
}

/* What `culprit jobs` pools of the whole of [FROM, TO), read in one window, is
 * what was merged of many. */
static void compare_merged(struct whole *h, struct res_sql *db, const char *job,
    sim_ns from, sim_ns to)
{
	uint64_t n_of[XP_DSA_POOL_KINDS];
	double x[4];
	xp_dsa_pool_close(&h->pool);
	xp_dsa_pool_count(n_of, h->replay.info->dc, 2, 2);
	assert_ok(xp_dsa_pool_open(&h->pool, n_of, test_err()));
	run_whole(h, from, to,
	    XP_DSA_SLA | XP_DSA_DROP_RATE | XP_DSA_BLACKHOLE |
		XP_DSA_SILENT_DROP | XP_DSA_HTTP);
	struct xp_dsa_tables *t = &h->replay.tables;
	assert_ok(xp_dsa_pool_put(&h->pool, t, test_err()));
	assert_true(t->pooled.n >= 2 * (4 + 2 + 1));
	compare_http(t, db, job, from, OF_BUCKETS);
	compare_servers(t, db, job, from);
	for (size_t i = 0; i < t->pooled.n; i++) {
		const struct xp_dsa_pooled_row *r = &t->pooled.row[i];
		assert_int_equal(find_level(db, job, from, r->data_centre,
				     r->kind, r->id, x),
		    1);
		assert_true(x[0] == (double)r->n_success &&
		    x[1] == (double)r->n_drop && x[2] == r->p50_us &&
		    x[3] == r->p99_us);
	}
	for (size_t i = 0; i < t->drop_rate.n; i++) {
		const struct xp_dsa_drop_rate_row *r = &t->drop_rate.row[i];
		struct res_sql_rows *q;
		assert_ok(res_sql_ask(&q, db, test_err(),
		    "SELECT n_success, n_drop, n_failed, drop_rate_hi FROM "
		    "drop_rate d JOIN window w ON w.id = d.window WHERE job = "
		    "? AND from_ns = ? AND dc = ? AND probes = ?",
		    RES_SQL_TEXT(job), RES_SQL_I64(from),
		    RES_SQL_I64(r->data_centre),
		    RES_SQL_TEXT(algo_drop_groups[r->group])));
		assert_int_equal(res_sql_next(q, test_err()), 1);
		assert_true(res_sql_i64(q, 0) == (int64_t)r->n_success &&
		    res_sql_i64(q, 1) == (int64_t)r->n_drop &&
		    res_sql_i64(q, 2) == (int64_t)r->n_failed &&
		    res_sql_f64(q, 3) == r->drop_rate_hi);
		res_sql_done(q);
	}
	for (size_t i = 0; i < t->summary.n; i++) {
		const struct xp_dsa_summary_row *r = &t->summary.row[i];
		struct res_sql_rows *q;
		assert_ok(res_sql_ask(&q, db, test_err(),
		    "SELECT n_probes, random_drops FROM summary s JOIN window "
		    "w ON w.id = s.window WHERE job = ? AND from_ns = ? AND dc "
		    "= ?",
		    RES_SQL_TEXT(job), RES_SQL_I64(from),
		    RES_SQL_I64(r->data_centre)));
		assert_int_equal(res_sql_next(q, test_err()), 1);
		assert_int_equal(res_sql_i64(q, 0), r->n_probes);
		assert_string_equal(res_sql_text(q, 1), xp_dsa_tiers[r->tier]);
		res_sql_done(q);
	}
}

/* Black holes of an hour are those that jobs find in its probes. */
static void compare_black_holes(struct whole *h, struct res_sql *db,
    sim_ns from)
{
	const struct xp_dsa_tables *t = &h->replay.tables;
	unsigned n = 0;
	for (size_t i = 0; i < t->blackhole_tors.n; i++) {
		const struct xp_dsa_blackhole_tors_row *r =
		    &t->blackhole_tors.row[i];
		struct res_sql_rows *q;
		if (!(r->score > 0) && r->action == 0)
			continue;
		n++;
		assert_ok(res_sql_ask(&q, db, test_err(),
		    "SELECT score, action FROM black_hole b JOIN window w ON "
		    "w.id = b.window WHERE from_ns = ? AND dc = ? AND tor = ?",
		    RES_SQL_I64(from), RES_SQL_I64(r->data_centre),
		    RES_SQL_I64(r->tor)));
		assert_int_equal(res_sql_next(q, test_err()), 1);
		assert_true(res_sql_f64(q, 0) == r->score);
		assert_string_equal(res_sql_text(q, 1),
		    xp_dsa_actions[r->action]);
		res_sql_done(q);
	}
	if (n == 0)
		fail_msg("no black hole was found to compare");
}

/* 26 hours, in which there is a whole day. */
static void windows_are_what_jobs_find_in_a_recording_of_the_same_time(
    void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("day.db");
	const sim_ns day = LIVE_BEGIN + 2 * HOUR;
	struct whole h;
	(void)state;
	for (int i = 0; i < 26; i++)
		live_fill(&w, LIVE_BEGIN + i * HOUR,
		    LIVE_BEGIN + (i + 1) * HOUR);
	live_fill(&w, LIVE_BEGIN + 26 * HOUR, LIVE_BEGIN + 26 * HOUR + 5 * MIN);
	const struct xp_windows_done done =
	    step(&p, LIVE_BEGIN + 26 * HOUR + HOUR);
	/* Windows behind the data are empty: an hour less the graces. */
	assert_int_equal(done.n_windows, 26 * (12 + 6 + 1) + 2 + 11 + 5);
	struct res_sql *db = read_db("day.db");
	open_whole(&h);
	for (int i = 0; i < 6; i++) {
		compare_10min(&h, db, LIVE_BEGIN + i * 10 * MIN);
		compare_5min(&h, db, LIVE_BEGIN + i * 5 * MIN);
	}
	compare_merged(&h, db, "1day", day, day + 24 * HOUR);
	compare_merged(&h, db, "1hour", day + HOUR, day + 2 * HOUR);
	compare_black_holes(&h, db, day + HOUR);
	close_whole(&h);
	assert_int_equal(number(db,
			     "SELECT sum(n_records) FROM window WHERE "
			     "job = '10min'"),
	    w.n_sent);
	assert_int_equal(number(db, "SELECT count(*) FROM agent"), LIVE_HOSTS);
	assert_int_equal(number(db,
			     "SELECT count(*) FROM agent_list WHERE list = "
			     "'fedcba9876543210' AND list_is = 'newest'"),
	    LIVE_HOSTS);
	assert_true(
	    number(db,
		"SELECT count(*) FROM alert_span WHERE kind = "
		"'http_failed' AND worst > bound AND job = '1day'") > 0);
	assert_int_equal(number(db, "SELECT sum(n_records) FROM agent"),
	    w.n_sent);
	/* What came of records names the file with the first of them. */
	assert_int_equal(number(db,
			     "SELECT count(*) FROM window WHERE job = '10min' "
			     "AND n_records > 0 AND first_file > 0"),
	    26 * 6 + 1);
	assert_int_equal(number(db,
			     "SELECT count(*) FROM window WHERE n_records = 0 "
			     "AND first_file IS NOT NULL"),
	    0);
	/* Each window but the empty ones has the level of both services. */
	assert_int_equal(number(db,
			     "SELECT count(*) FROM service_sla WHERE "
			     "job IN ('10min', '1hour', '1day')"),
	    2 * (26 * 7 + 2 + 1));
	assert_true(number(db,
			"SELECT count(*) FROM alert_span WHERE kind = "
			"'drop_rate'") > 0);
	res_sql_close(db);
}

/* Whoever sent the GETs: by server that is asked, counted from the recording. */
static void servers_that_are_asked_are_judged_by_what_became_of_it(void **state)
{
	struct live_fleet w = new_world(20);
	struct xp_windows_params p = params("asked.db");
	uint64_t n[LIVE_HOSTS] = {0}, n_ok[LIVE_HOSTS] = {0};
	unsigned n_alerts = 0, n_few = 0;
	struct whole h;
	(void)state;
	p.info.spec = "figure: f\nplane: pingmesh\nruns: 1\n"
		      "topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, "
		      "n_hosts: 3}\npingmesh: {sla: {min_probes: 8}}\n";
	p.max_http_failed = .8;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 10 * MIN);
	step(&p, LIVE_BEGIN + HOUR);
	open_whole(&h);
	run_whole(&h, LIVE_BEGIN, LIVE_BEGIN + 10 * MIN, XP_DSA_HTTP);
	for (size_t i = 0; i < h.replay.http.n; i++) {
		n[h.replay.http.dst_host[i]]++;
		n_ok[h.replay.http.dst_host[i]] +=
		    h.replay.http.answer[i] == AGENT_ANSWER_OK;
	}
	close_whole(&h);
	struct res_sql *db = read_db("asked.db");
	for (uint32_t i = 0; i < LIVE_HOSTS; i++) {
		const double failed = (double)(n[i] - n_ok[i]) / (double)n[i];
		const int is_bad = n[i] >= 8 && failed > .8;
		struct res_sql_rows *q;
		assert_ok(res_sql_ask(&q, db, test_err(),
		    "SELECT value, bound, says FROM alert WHERE kind = "
		    "'http_failed' AND scope = 'server' AND dc = ? AND "
		    "scope_id = ?",
		    RES_SQL_I64(i / LIVE_DC_HOSTS),
		    RES_SQL_I64(i % LIVE_DC_HOSTS)));
		assert_int_equal(res_sql_next(q, test_err()), is_bad);
		if (is_bad)
			assert_true(res_sql_f64(q, 0) == failed &&
			    res_sql_f64(q, 1) == .8 && res_sql_text(q, 2));
		res_sql_done(q);
		n_alerts += (unsigned)is_bad;
		n_few += n[i] < 8;
	}
	if (n_alerts == 0 || n_alerts + n_few >= LIVE_HOSTS)
		fail_msg("%u alerts, %u with few GETs: nothing is compared",
		    n_alerts, n_few);
	res_sql_close(db);
}

/* --- whatever happens ------------------------------------------------------ */

/* Everything comes at once, or bit by bit to a program that looks each 5 minutes,
 * or to one that is started each time: the same windows are made of the same
 * records. When each was made differs, and what was late. */
static void coming_bit_by_bit_makes_the_same_windows(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params bits = params("bits.db");
	const struct xp_windows_params once = params("once.db");
	struct xp_windows *one;
	struct xp_windows_done done;
	uint64_t a[LIVE_TABLES], b[LIVE_TABLES];
	(void)state;
	assert_ok(xp_windows_open(&one, &bits, test_err()));
	for (int i = 0; i < 60; i++) {
		const sim_ns at = LIVE_BEGIN + i * 5 * MIN;
		if (i < 36)
			live_fill(&w, at, at + 5 * MIN);
		assert_ok(xp_windows_step(one, at + 5 * MIN, &done, NULL, NULL,
		    test_err()));
		if (i % 7 == 3) {
			xp_windows_close(one);
			assert_ok(xp_windows_open(&one, &bits, test_err()));
		}
	}
	xp_windows_close(one);
	step(&once, LIVE_BEGIN + 5 * HOUR);
	/* All was on time, and nothing late. */
	assert_int_equal(number_of("bits.db",
			     "SELECT min(ok) FROM watchdog "
			     "WHERE name = 'on_time'"),
	    1);
	assert_int_equal(number_of("bits.db",
			     "SELECT sum(n_late + n_aside) "
			     "FROM window"),
	    0);
	live_dump(test_path("bits.db"), a);
	live_dump(test_path("once.db"), b);
	a[1] = b[1] = a[9] = b[9] = 0; /* made_ns, and on_time */
	live_assert_same(a, b, "run", 0);
}

static void late_records_are_made_part_once_and_then_set_aside(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("late.db");
	struct xp_windows_done done;
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + HOUR + 5 * MIN);
	step(&p, LIVE_BEGIN + HOUR);
	/* The first ten minutes were made; two records of them come after. */
	live_late(&w, 5, LIVE_BEGIN + 50 * SIM_SEC, LIVE_BEGIN + HOUR);
	live_late(&w, 6, LIVE_BEGIN + 51 * SIM_SEC, LIVE_BEGIN + HOUR);
	live_repeat(&w);
	done = step(&p, LIVE_BEGIN + HOUR + MIN);
	assert_int_equal(done.n_redone, 0);
	assert_int_equal(number_of("late.db",
			     "SELECT n_waiting FROM window "
			     "ORDER BY job, id LIMIT 1"),
	    3);
	done = step(&p, LIVE_BEGIN + HOUR + 10 * MIN);
	assert_int_equal(done.n_redone, 1);
	static const char first[] = "SELECT n_records * 1000000 + n_late * "
				    "10000 + n_waiting * 100 + n_aside FROM "
				    "window WHERE state = 'redone'";
	assert_int_equal(number_of("late.db", first),
	    (LIVE_HOSTS * 6 + 2) * 1000000 + 20000);
	/* Another is too late even for that. */
	live_late(&w, 7, LIVE_BEGIN + 52 * SIM_SEC, LIVE_BEGIN + 2 * HOUR);
	done = step(&p, LIVE_BEGIN + 3 * HOUR);
	assert_int_equal(done.n_redone, 0);
	assert_int_equal(number_of("late.db", first),
	    (LIVE_HOSTS * 6 + 2) * 1000000 + 20001);
	/* The hour has what the ten minutes have. */
	assert_int_equal(number_of("late.db",
			     "SELECT n_records FROM window "
			     "WHERE job = '1hour' ORDER BY id "
			     "LIMIT 1"),
	    LIVE_HOSTS * 36 + 2);
}

static void a_batch_that_is_there_twice_counts_once(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("twice.db");
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 10 * MIN);
	live_late(&w, 3, LIVE_BEGIN + MIN, LIVE_BEGIN + 10 * MIN);
	live_repeat(&w);
	live_repeat(&w);
	step(&p, LIVE_BEGIN + HOUR);
	assert_int_equal(number_of("twice.db",
			     "SELECT sum(n_records) FROM "
			     "window WHERE job = '10min'"),
	    w.n_sent);
	assert_int_equal(number_of("twice.db",
			     "SELECT sum(n_records) FROM "
			     "agent"),
	    w.n_sent);
}

static void remove_files(int n)
{
	struct dirent **found;
	char path[512];
	const int all = scandir(dir, &found, NULL, alphasort);
	for (int i = 0, k = 0; i < all; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, found[i]->d_name);
		if (found[i]->d_name[0] == 'b' && k++ < n)
			assert_int_equal(unlink(path), 0);
		free(found[i]);
	}
	free(found);
}

/* Files that a collector lets go take no window with them that was made, and are
 * not waited for. */
static void files_that_go_leave_what_was_made(void **state)
{
	struct live_fleet w = new_world(20);
	const struct xp_windows_params p = params("gone.db");
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + HOUR);
	step(&p, LIVE_BEGIN + HOUR);
	const double before = number_of("gone.db",
	    "SELECT sum(n_records) FROM "
	    "window WHERE job = "
	    "'10min'");
	remove_files(2);
	live_late(&w, 5, LIVE_BEGIN + MIN, LIVE_BEGIN + HOUR);
	step(&p, LIVE_BEGIN + 3 * HOUR);
	assert_true(number_of("gone.db",
			"SELECT sum(n_records) FROM window "
			"WHERE job = '10min'") >= before);
	assert_int_equal(number_of("gone.db",
			     "SELECT count(*) FROM window "
			     "WHERE n_waiting > 0"),
	    0);
	assert_int_equal(number_of("gone.db",
			     "SELECT n_aside FROM window "
			     "WHERE job = '10min' ORDER BY id "
			     "LIMIT 1"),
	    1);
}

/* A record that came late waits for its window to be made once more; if it is gone
 * by then, with its file, the window stays as it was. */
static void what_waited_and_is_gone_is_set_aside(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("waited.db");
	static const char sql[] =
	    "SELECT n_records * 10000 + n_waiting * 100 + n_aside FROM window "
	    "WHERE job = '10min' ORDER BY id LIMIT 1";
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 10 * MIN);
	step(&p, LIVE_BEGIN + 30 * MIN);
	const double made = (double)w.n_sent * 10000;
	assert_near(number_of("waited.db", sql), made, 0);
	live_late(&w, 5, LIVE_BEGIN + MIN, LIVE_BEGIN + 30 * MIN);
	step(&p, LIVE_BEGIN + 35 * MIN);
	assert_near(number_of("waited.db", sql), made + 100, 0);
	remove_files(99);
	const struct xp_windows_done done = step(&p, LIVE_BEGIN + 2 * HOUR);
	assert_near(number_of("waited.db", sql), made + 1, 0);
	assert_int_equal(done.n_redone, 1);
}

/* The path of the newest file. */
static const char *newest_file(void)
{
	static char path[512];
	struct dirent **found;
	const int all = scandir(dir, &found, NULL, alphasort);
	for (int i = 0; i < all; i++) {
		if (found[i]->d_name[0] == 'b')
			snprintf(path, sizeof(path), "%s/%s", dir,
			    found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return path;
}

/* Records of another time than their file's day are no rows, and what is no batch
 * at the end of a file is damage once there is a newer file. */
static void what_is_amiss_with_files_is_counted(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("amiss.db");
	static const char odd[] = "SELECT n_untimely FROM store",
			  bad[] = "SELECT n_bytes_damaged FROM store";
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 10 * MIN);
	live_late(&w, 3, LIVE_BEGIN - 5 * 24 * HOUR, LIVE_BEGIN + 10 * MIN);
	live_late(&w, 4, LIVE_BEGIN + 5 * 24 * HOUR, LIVE_BEGIN + 10 * MIN);
	step(&p, LIVE_BEGIN + 30 * MIN);
	assert_int_equal(number_of("amiss.db", odd), 2);
	FILE *f = fopen(newest_file(), "ab");
	assert_non_null(f);
	live_fill(&w, LIVE_BEGIN + 3 * HOUR, LIVE_BEGIN + 3 * HOUR + 5 * MIN);
	assert_int_equal(fwrite("no batch", 1, 8, f), 8);
	assert_int_equal(fclose(f), 0);
	step(&p, LIVE_BEGIN + 4 * HOUR);
	assert_int_equal(number_of("amiss.db", bad), 8);
	assert_int_equal(number_of("amiss.db", odd), 2);
	assert_int_equal(number_of("amiss.db",
			     "SELECT sum(n_records) FROM window WHERE job = "
			     "'10min'"),
	    w.n_sent - 2);
}

/* It is read from its begin then, and of what it had no place is known. */
static void a_file_that_became_shorter_is_read_anew(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("short.db");
	static const char at[] = "SELECT at_byte FROM store",
			  n[] = "SELECT count(*) FROM chunk";
	struct stat st;
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 10 * MIN);
	step(&p, LIVE_BEGIN + HOUR);
	assert_int_equal(stat(newest_file(), &st), 0);
	assert_int_equal(number_of("short.db", at), st.st_size);
	assert_true(number_of("short.db", n) > 0);
	assert_int_equal(truncate(newest_file(), 0), 0);
	step(&p, LIVE_BEGIN + HOUR);
	assert_int_equal(number_of("short.db", at), 0);
	assert_int_equal(number_of("short.db", n), 0);
	assert_int_equal(number_of("short.db",
			     "SELECT sum(n_records) FROM window WHERE job = "
			     "'10min'"),
	    w.n_sent);
}

/* A clock that is wrong by years makes no windows of years. */
static void nothing_is_made_of_a_time_that_nobody_has_records_of(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("years.db");
	struct xp_windows_done done;
	(void)state;
	done = step(&p, LIVE_BEGIN);
	assert_int_equal(done.n_windows, 0);
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + HOUR);
	done = step(&p, LIVE_BEGIN + 50 * 24 * HOUR);
	/* Short ones of a day behind the last record, and no more; hours and a
	 * day that have it. */
	assert_int_equal(done.n_windows - done.n_empty, 12 + 6 + 1 + 1);
	assert_in_range(done.n_windows, 24 * 18 + 2, 25 * 18 + 3);
	done = step(&p, LIVE_BEGIN + 51 * 24 * HOUR);
	assert_int_equal(done.n_windows, 0);
}

/* A clock that is two hours ahead for a while has short windows made before their
 * records came. They are made again, and hours wait. */
static void a_clock_that_is_ahead_for_a_while_spoils_nothing(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params ahead = params("ahead.db");
	const struct xp_windows_params right = params("right.db");
	static const char sum[] =
	    "SELECT sum(n_records * (id % 1000003)) FROM window";
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + HOUR);
	step(&ahead, LIVE_BEGIN + 4 * HOUR);
	for (int i = 0; i < 25; i++) {
		const sim_ns at = LIVE_BEGIN + HOUR + i * 5 * MIN;
		live_fill(&w, at, at + 5 * MIN);
		step(&ahead, at + 5 * MIN);
	}
	step(&ahead, LIVE_BEGIN + 6 * HOUR);
	step(&right, LIVE_BEGIN + 6 * HOUR);
	assert_true(number_of("right.db", sum) > 0);
	assert_true(number_of("ahead.db", sum) == number_of("right.db", sum));
}

/* A clock that is ten years ahead for an hour, while records are of the right time:
 * jobs that run through that go on where they were, and make all that others do but
 * for the day of it, which has what had come. */
static void a_clock_that_is_years_ahead_for_an_hour_stops_nothing(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params ahead = params("years_ahead.db");
	const struct xp_windows_params right = params("years_right.db");
	static const char sum[] =
	    "SELECT sum(n_records * (id % 1000003)) FROM window WHERE "
	    "job <> '1day'";
	struct xp_windows_done done;
	struct xp_windows *jobs;
	(void)state;
	assert_ok(xp_windows_open(&jobs, &ahead, test_err()));
	for (int i = 1; i <= 5; i++) {
		const sim_ns to = LIVE_BEGIN + i * HOUR;
		live_fill(&w, to - HOUR, to);
		assert_ok(
		    xp_windows_step(jobs, i == 2 ? to + 3650 * 24 * HOUR : to,
			&done, NULL, NULL, test_err()));
	}
	assert_ok(xp_windows_step(jobs, LIVE_BEGIN + 7 * HOUR, &done, NULL,
	    NULL, test_err()));
	assert_true(xp_windows_ahead(jobs, LIVE_BEGIN + 7 * HOUR) == 0);
	/* Short windows were made to a day behind the last record of then. */
	assert_true(xp_windows_ahead(jobs, LIVE_BEGIN - 48 * HOUR) ==
	    (48 + 2 + 24) * HOUR);
	xp_windows_close(jobs);
	step(&right, LIVE_BEGIN + 7 * HOUR);
	assert_int_equal(number_of("years_ahead.db",
			     "SELECT count(*) FROM window WHERE job = '1hour' "
			     "AND n_records > 0"),
	    5);
	assert_true(number_of("years_right.db", sum) > 0);
	assert_true(number_of("years_ahead.db", sum) ==
	    number_of("years_right.db", sum));
}

static void a_window_that_is_too_large_is_told_and_passed_by(void **state)
{
	struct live_fleet w = new_world(100);
	struct xp_windows_params p = params("large.db");
	struct xp_windows_done done;
	(void)state;
	p.max_probes = LIVE_HOSTS * 6;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 30 * MIN);
	live_late(&w, 5, LIVE_BEGIN + 15 * MIN, LIVE_BEGIN + 30 * MIN);
	live_fill(&w, LIVE_BEGIN + HOUR, LIVE_BEGIN + HOUR + 5 * MIN);
	done = step(&p, LIVE_BEGIN + 2 * HOUR);
	assert_int_equal(done.n_too_large, 1);
	assert_int_equal(number_of("large.db",
			     "SELECT count(*) FROM watchdog WHERE ok = 0 AND "
			     "says LIKE 'more records%'"),
	    2); /* the ten minutes, and black holes of the hour */
	assert_int_equal(number_of("large.db",
			     "SELECT n_records FROM window "
			     "WHERE job = '1hour'"),
	    2 * LIVE_HOSTS * 6);
}

/* Of the second ten minutes there is one record of one server, and no counters. */
static void windows_tell_how_many_servers_were_silent(void **state)
{
	struct live_fleet w = new_world(100);
	const struct xp_windows_params p = params("silent.db");
	static const char of[] =
	    "SELECT count(*) FROM watchdog WHERE name = 'servers' AND %s";
	char sql[256];
	(void)state;
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 10 * MIN);
	live_late(&w, 5, LIVE_BEGIN + 15 * MIN, LIVE_BEGIN + 20 * MIN);
	step(&p, LIVE_BEGIN + 2 * HOUR);
	snprintf(sql, sizeof(sql), of, "ok AND says = '0 of 24 silent'");
	assert_int_equal(number_of("silent.db", sql), 3);
	snprintf(sql, sizeof(sql), of, "NOT ok AND says = '23 of 24 silent'");
	assert_int_equal(number_of("silent.db", sql), 1);
	snprintf(sql, sizeof(sql), of, "1");
	assert_int_equal(number_of("silent.db", sql), 4);
}

static void another_network_is_refused_by_the_database(void **state)
{
	struct xp_windows_params p = params("other.db");
	struct xp_windows *w;
	struct sim_err e;
	(void)state;
	assert_ok(xp_windows_open(&w, &p, test_err()));
	xp_windows_close(w);
	p.info.n_dcs = 1;
	p.info.service = "web=0-5";
	assert_int_equal(xp_windows_open(&w, &p, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "network"));
	p = params("other.db");
	p.info.service = "web=0-6";
	assert_int_equal(xp_windows_open(&w, &p, &e), SIM_EMISMATCH);
	/* More of them are no others. */
	p.info.service = "web=0-5; db=14-17; mail=20";
	assert_ok(xp_windows_open(&w, &p, test_err()));
	xp_windows_close(w);
	p = params("other.db");
	assert_int_equal(xp_windows_open(&w, &p, &e), SIM_EMISMATCH);
	p.info.service = "web=0-5; db=14-17; mail=20";
	p.timers = "windows";
	assert_int_equal(xp_windows_open(&w, &p, &e), SIM_EMISMATCH);
}

/* --- kills ----------------------------------------------------------------- */

/* Each call on the database from the code of windows comes through here (test
 * programs are linked with --wrap), and at the DEADLINE-th the process is killed
 * before it; at the one after, behind it. */
static uint64_t n_calls, deadline;

static void may_die(void)
{
	if (++n_calls == deadline)
		kill(getpid(), SIGKILL);
}

int __real_res_sql_run_with(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t *n_changed,
    struct sim_err *e);
int __wrap_res_sql_run_with(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t *n_changed,
    struct sim_err *e);
int __wrap_res_sql_run_with(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t *n_changed,
    struct sim_err *e)
{
	may_die();
	return __real_res_sql_run_with(db, sql, value, n, n_changed, e);
}

#define WRAPPED(name)                                                          \
	int __real_##name(struct res_sql *db, struct sim_err *e);              \
	int __wrap_##name(struct res_sql *db, struct sim_err *e);              \
	int __wrap_##name(struct res_sql *db, struct sim_err *e)               \
	{                                                                      \
		may_die();                                                     \
		const int rc = __real_##name(db, e);                           \
		may_die();                                                     \
		return rc;                                                     \
	}
WRAPPED(res_sql_begin)
WRAPPED(res_sql_commit)
WRAPPED(res_sql_shrink)

/* A run that dies at its AT-th call; 0: it does not. Returns whether it did. */
static int killed_run(const struct xp_windows_params *p, sim_ns now,
    uint64_t at)
{
	int status;
	const pid_t child = fork();
	if (child == 0) {
		struct xp_windows *w;
		struct xp_windows_done done;
		n_calls = 0;
		deadline = at;
		_exit(xp_windows_open(&w, p, NULL) < 0 ||
		    xp_windows_step(w, now, &done, NULL, NULL, NULL) < 0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGKILL);
	else
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status);
}

/* Runs that are killed again and again, and then one that is not, leave what one
 * that is not leaves. Returns how often they were. */
static unsigned compare_killed(const char *name, uint32_t seed, sim_ns now,
    uint64_t most, const uint64_t want[LIVE_TABLES])
{
	const struct xp_windows_params p = params(name);
	uint64_t got[LIVE_TABLES];
	struct sim_rng rng;
	unsigned n = 0;
	test_rng(&rng, seed);
	while (n < 8 &&
	    killed_run(&p, now, 1 + sim_rng_below(&rng, (uint32_t)most)))
		n++;
	killed_run(&p, now, 0);
	live_dump(test_path(name), got);
	live_assert_same(want, got, "seed", seed);
	return n;
}

static uint64_t count_calls(const struct xp_windows_params *p, sim_ns now)
{
	n_calls = deadline = 0;
	step(p, now);
	return n_calls;
}

static void a_kill_at_any_moment_leaves_the_database_of_a_run_without(
    void **state)
{
	enum { SEEDS = 8 };
	struct live_fleet w = new_world(100);
	const struct xp_windows_params whole = params("whole.db");
	const sim_ns now[] = {LIVE_BEGIN + 31 * MIN, LIVE_BEGIN + 150 * MIN};
	uint64_t want[LIVE_TABLES];
	char name[SEEDS][16];
	unsigned n = 0;
	(void)state;
	/* The second half comes in between, and some of it late. */
	for (uint32_t half = 0; half < 2; half++) {
		live_fill(&w, LIVE_BEGIN + half * 30 * MIN,
		    LIVE_BEGIN + (half + 1) * 30 * MIN + half * 5 * MIN);
		if (half == 1)
			live_late(&w, 4, LIVE_BEGIN + MIN, LIVE_BEGIN + HOUR);
		const uint64_t most = count_calls(&whole, now[half]);
		live_dump(test_path("whole.db"), want);
		for (uint32_t i = 0; i < SEEDS; i++) {
			snprintf(name[i], sizeof(name[i]), "kill%u.db", i);
			n += compare_killed(name[i], half * SEEDS + i,
			    now[half], most, want);
		}
	}
	/* Each of 16 is killed until a draw is beyond what is left to do. */
	if (n < 16)
		fail_msg("only %u kills", n);
}

int main(void)
{
	struct res_sql *db;
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, make_dir, test_folder_remove)
	    T(servers_that_are_asked_are_judged_by_what_became_of_it),
	    T(windows_are_what_jobs_find_in_a_recording_of_the_same_time),
	    T(coming_bit_by_bit_makes_the_same_windows),
	    T(late_records_are_made_part_once_and_then_set_aside),
	    T(a_batch_that_is_there_twice_counts_once),
	    T(files_that_go_leave_what_was_made),
	    T(what_waited_and_is_gone_is_set_aside),
	    T(what_is_amiss_with_files_is_counted),
	    T(a_file_that_became_shorter_is_read_anew),
	    T(nothing_is_made_of_a_time_that_nobody_has_records_of),
	    T(a_clock_that_is_ahead_for_a_while_spoils_nothing),
	    T(a_clock_that_is_years_ahead_for_an_hour_stops_nothing),
	    T(a_window_that_is_too_large_is_told_and_passed_by),
	    T(windows_tell_how_many_servers_were_silent),
	    T(another_network_is_refused_by_the_database),
	    T(a_kill_at_any_moment_leaves_the_database_of_a_run_without),
	};
	if (res_sql_open(&db, "/nowhere/x", RES_SQL_READ, NULL) ==
	    SIM_EUNSUPPORTED) {
		printf("skipped: this program was built without SQLite\n");
		return 0;
	}
	return cmocka_run_group_tests_name("live/windows", tests, NULL, NULL);
}
