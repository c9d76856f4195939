/* experiments/live/store_follow.c -- a collector's files, followed while they grow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/store_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/live/batch_store.h"
#include "experiments/live/store_follow_parts.h"
#include "experiments/pingmesh/dsa/rows.h"
#include "results/segments.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* A chunk ends with the batch that makes it so large; a transaction after so many
 * bytes. */
enum { CHUNK_BYTES = 1 << 20, COMMIT_BYTES = 64 << 20 };

/* --- files -----------------------------------------------------------------*/

int64_t xp_follow_number(const char *name)
{
	const char *at = strrchr(name, '-');
	return at ? strtoll(at + 1, NULL, 10) : -1;
}

int xp_follow_list(struct xp_follow *f, struct dirent ***found, int *n,
    struct sim_err *e)
{
	*n = xp_batch_files(f->dir_fd, found);
	return *n < 0 ? sim_fail(e, SIM_EIO, "cannot list %s: %s.", f->dir,
			    strerror(errno))
		      : 0;
}

void xp_follow_unlist(struct dirent **found, int n)
{
	for (int i = 0; i < n; i++)
		free(found[i]);
	if (n >= 0)
		free(found);
}

int xp_follow_file(struct xp_follow *f, const char *name, uint64_t from,
    FILE **in, uint64_t *size, struct sim_err *e)
{
	int fd;
	const int rc = res_segments_read(f->dir_fd, f->dir, name, &fd, size, e);
	*in = NULL;
	/* A collector lets files go, and may have done so since they were
	 * listed. */
	if (rc < 0)
		return faccessat(f->dir_fd, name, F_OK, 0) < 0 &&
			errno == ENOENT
		    ? 0
		    : rc;
	*in = fdopen(fd, "rb");
	if (*in && fseeko(*in, (off_t)from, SEEK_SET) == 0)
		return 0;
	const int why = errno;
	if (*in)
		fclose(*in);
	else
		close(fd);
	*in = NULL;
	return sim_fail(e, SIM_EIO, "cannot read %s/%s: %s.", f->dir, name,
	    strerror(why));
}

/* --- what is noted of batches ----------------------------------------------*/

struct xp_follow_agent {
	uint32_t is_known, is_changed;
	int64_t first_ns, last_ns, born_ns, n_starts, n_batches, n_records,
	    n_lost;

	/* As its newest counters say it; -1: they do not. */
	int64_t told_ns, issued_ns;
	uint64_t list;
};

/* The state of `store`, and the chunk that is not full. */
struct follow_at {
	int64_t file, byte, first_ns, last_ns; /* of records; -1: none */
	int64_t n_batches, n_records, n_failed, n_foreign, n_odd, n_untimely,
	    n_before, n_damaged;
	int64_t chunk_from, chunk_first_ns, chunk_last_ns;
	int64_t day;  /* of the file */
	int64_t done; /* bytes in this transaction */
};

/* A record of AT_NS, in window KIND: does it come late? */
static int follow_note_late(struct xp_follow *f, int kind, sim_ns at_ns,
    struct sim_err *e)
{
	/* A window of counters that ends with ours belongs to it. */
	const sim_ns t = kind == 0 ? at_ns - 1 : at_ns;
	const sim_ns from = t - t % f->length[kind];
	if (from >= f->made[kind])
		return 0;
	/* They come about in order, so the last ones are asked first. */
	for (size_t i = f->n_late[kind]; i-- > 0;)
		if (f->late[kind][i].from == from) {
			f->late[kind][i].n++;
			return 0;
		}
	const int rc = SIM_RESERVE(&f->late[kind], &f->cap_late[kind],
	    f->n_late[kind] + 1, e);
	if (rc == 0)
		f->late[kind][f->n_late[kind]++] =
		    (struct follow_late){from, 1};
	return rc;
}

static void follow_stretch(int64_t *first, int64_t *last, sim_ns at_ns)
{
	const int64_t t = (int64_t)at_ns;
	*first = *first < 0 || t < *first ? t : *first;
	*last = t > *last ? t : *last;
}

/* A record or window of AT_NS, of server HOST, that will be a row. */
static int follow_note(struct xp_follow *f, struct follow_at *at, int kind,
    uint32_t host, sim_ns at_ns, struct sim_err *e)
{
	struct xp_follow_agent *a = &f->agent[host];
	follow_stretch(&at->first_ns, &at->last_ns, at_ns);
	follow_stretch(&at->chunk_first_ns, &at->chunk_last_ns, at_ns);
	follow_stretch(&a->first_ns, &a->last_ns, at_ns);
	a->is_changed = 1;
	return follow_note_late(f, kind, at_ns, e);
}

static int follow_note_records(struct xp_follow *f, struct follow_at *at,
    size_t n, struct sim_err *e)
{
	struct obs_probe p;
	int rc = algo_pingmesh_wire_decode(f->batch, &f->net6, f->bytes, n, e);
	for (uint32_t i = 0; rc == 0 && i < f->batch->n; i++) {
		const struct algo_pingmesh_record *r = &f->batch->record[i];
		if (!xp_batch_is_timely(at->day, r->sent_ns)) {
			at->n_untimely++;
			continue;
		}
		const enum xp_dsa_fate fate =
		    xp_dsa_row(f->dc, f->n_dcs, f->batch->src_ip, r, &p);
		at->n_failed += fate == XP_DSA_FAILED;
		at->n_foreign += fate == XP_DSA_FOREIGN;
		at->n_odd += fate == XP_DSA_ODD;
		if (fate == XP_DSA_ROW)
			rc = follow_note(f, at, 1, p.src_host, r->sent_ns, e);
	}
	return rc;
}

/* Counters may come late, and an agent that was put back to an older program says
 * nothing again. */
static void follow_note_list(struct xp_follow_agent *a,
    const struct algo_pingmesh_window *w)
{
	if ((int64_t)w->end_ns < a->told_ns)
		return;
	a->told_ns = w->has_http ? (int64_t)w->end_ns : 0;
	a->issued_ns = (int64_t)(w->list_issued_ns & INT64_MAX);
	a->list = w->list_version;
	a->is_changed = 1;
}

static int follow_note_window(struct xp_follow *f, struct follow_at *at,
    size_t n, struct sim_err *e)
{
	struct algo_pingmesh_window w;
	struct obs_perf_row row;
	const int rc =
	    algo_pingmesh_wire_decode_window(&w, &f->net6, f->bytes, n, e);
	if (rc < 0)
		return rc;
	if (!xp_batch_is_timely(at->day, w.start_ns) ||
	    !xp_batch_is_timely(at->day, w.end_ns)) {
		at->n_untimely++;
		return 0;
	}
	const enum xp_dsa_fate fate = xp_dsa_counters_row(f->n_hosts, &w, &row);
	if (fate == XP_DSA_ROW)
		follow_note_list(&f->agent[row.host], &w);
	at->n_foreign += fate == XP_DSA_FOREIGN;
	at->n_odd += fate == XP_DSA_ODD;
	return fate == XP_DSA_ROW && w.end_ns > 0
	    ? follow_note(f, at, 0, row.host, w.end_ns, e)
	    : 0;
}

/* Batches of an agent count up, so one with a lower number than the last is a
 * repetition, or out of order: it is not counted, lest a kill count it twice. */
static void follow_note_agent(struct xp_follow *f,
    const struct algo_pingmesh_wire_id *id)
{
	const uint32_t host =
	    topo_addr_to_host(algo_pingmesh_wire_short(&f->net6, &id->src),
		f->n_hosts);
	if (host == TOPO_NONE || id->kind != ALGO_PINGMESH_OF_RECORDS ||
	    id->born_ns > INT64_MAX || id->number > INT64_MAX)
		return;
	struct xp_follow_agent *a = &f->agent[host];
	const int64_t born = (int64_t)id->born_ns;
	if (a->n_starts == 0 || born > a->born_ns) {
		a->born_ns = born;
		a->n_starts++;
		a->n_batches = a->n_lost = 0;
	}
	if (born < a->born_ns || (int64_t)id->number <= a->n_batches)
		return;
	a->n_batches = (int64_t)id->number;
	a->n_records += id->n;
	a->n_lost = (int64_t)(id->n_lost & INT64_MAX);
	a->is_changed = 1;
}

/* --- the database ----------------------------------------------------------*/

static int follow_load_agents(struct xp_follow *f, struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, f->db, e,
	    "SELECT ip, first_seen_ns, last_seen_ns, born_ns, n_starts, "
	    "n_batches, n_records, n_lost, coalesce(list, ''), "
	    "coalesce(list_issued_ns, 0), coalesce(list_told_ns, 0) FROM "
	    "agent");
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0) {
		const uint32_t host =
		    topo_addr_to_host((uint32_t)res_sql_i64(q, 0), f->n_hosts);
		if (host == TOPO_NONE)
			continue;
		f->agent[host] = (struct xp_follow_agent){.is_known = 1,
		    .first_ns = res_sql_i64(q, 1),
		    .last_ns = res_sql_i64(q, 2),
		    .born_ns = res_sql_i64(q, 3),
		    .n_starts = res_sql_i64(q, 4),
		    .n_batches = res_sql_i64(q, 5),
		    .n_records = res_sql_i64(q, 6),
		    .n_lost = res_sql_i64(q, 7),
		    .list = strtoull(res_sql_text(q, 8), NULL, 16),
		    .issued_ns = res_sql_i64(q, 9),
		    .told_ns = res_sql_i64(q, 10)};
	}
	res_sql_done(q);
	return rc;
}

static int follow_save_agent(struct xp_follow *f, uint32_t host,
    struct sim_err *e)
{
	struct xp_follow_agent *a = &f->agent[host];
	const uint32_t ip = topo_addr_of_host(host);
	const uint32_t d = topo_dcs_find(f->dc, f->n_dcs, host);
	char text[TOPO_IP_TEXT], list[24] = "";
	const int told = a->told_ns > 0;
	xp_dsa_name(&f->net6, host, text);
	if (a->list != 0)
		snprintf(list, sizeof(list), "%016" PRIx64, a->list);
	a->is_changed = 0;
	return res_sql_run(f->db, e,
	    "INSERT OR REPLACE INTO agent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
	    "?, ?, ?, nullif(?, -1), nullif(?, -1))",
	    RES_SQL_I64(ip), RES_SQL_TEXT(text), RES_SQL_I64(d),
	    RES_SQL_I64(host - f->dc[d].first_host), RES_SQL_I64(a->first_ns),
	    RES_SQL_I64(a->last_ns), RES_SQL_I64(a->born_ns),
	    RES_SQL_I64(a->n_starts), RES_SQL_I64(a->n_batches),
	    RES_SQL_I64(a->n_records), RES_SQL_I64(a->n_lost),
	    RES_SQL_TEXT(told ? list : NULL),
	    RES_SQL_I64(told ? a->issued_ns : -1),
	    RES_SQL_I64(told ? a->told_ns : -1));
}

static int follow_load(struct xp_follow *f, struct follow_at *at,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	*at = (struct follow_at){.first_ns = -1, .last_ns = -1};
	int rc = res_sql_ask(&q, f->db, e,
	    "SELECT file, at_byte, coalesce(first_ns, -1), coalesce(last_ns, "
	    "-1), n_batches, n_records, n_failed, n_foreign, n_odd, "
	    "n_untimely, "
	    "n_before, n_bytes_damaged FROM store");
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0) {
		int64_t *const to[] = {&at->file, &at->byte, &at->first_ns,
		    &at->last_ns, &at->n_batches, &at->n_records, &at->n_failed,
		    &at->n_foreign, &at->n_odd, &at->n_untimely, &at->n_before,
		    &at->n_damaged};
		for (int i = 0; i < (int)(sizeof(to) / sizeof(*to)); i++)
			*to[i] = res_sql_i64(q, i);
	}
	res_sql_done(q);
	return rc < 0 ? rc : 0;
}

/* Go on with the chunk that was not full, or begin one. */
static int follow_begin_chunk(struct xp_follow *f, struct follow_at *at,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	at->chunk_from = at->byte;
	at->chunk_first_ns = at->chunk_last_ns = -1;
	int rc = res_sql_ask(&q, f->db, e,
	    "SELECT from_byte, first_ns, last_ns FROM chunk WHERE file = ? AND "
	    "to_byte = ? AND to_byte - from_byte < ?",
	    RES_SQL_I64(at->file), RES_SQL_I64(at->byte),
	    RES_SQL_I64(CHUNK_BYTES));
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0) {
		at->chunk_from = res_sql_i64(q, 0);
		at->chunk_first_ns = res_sql_i64(q, 1);
		at->chunk_last_ns = res_sql_i64(q, 2);
	}
	res_sql_done(q);
	return rc < 0 ? rc : 0;
}

/* A chunk in which no record can be a row is not worth to be read again, and has
 * times that touch no window. */
static int follow_end_chunk(struct xp_follow *f, struct follow_at *at,
    struct sim_err *e)
{
	const int64_t from = at->chunk_from, first = at->chunk_first_ns,
		      last = at->chunk_last_ns;
	if (at->byte == from)
		return 0;
	at->chunk_from = at->byte;
	at->chunk_first_ns = at->chunk_last_ns = -1;
	return res_sql_run(f->db, e,
	    "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?, ?)",
	    RES_SQL_I64(at->file), RES_SQL_I64(from), RES_SQL_I64(at->byte),
	    RES_SQL_I64(first), RES_SQL_I64(last));
}

/* Late records wait for their window to be made once more, or are set aside. */
static int follow_save_late(struct xp_follow *f, struct follow_at *at,
    sim_ns now, struct sim_err *e)
{
	int rc = 0;
	for (int k = 0; rc == 0 && k < 2; k++) {
		for (size_t i = 0; rc == 0 && i < f->n_late[k]; i++) {
			const struct follow_late *l = &f->late[k][i];
			const int is_too_late =
			    l->from + f->length[k] + f->late_ns <= now;
			int64_t n = 0;
			rc = res_sql_run_with(f->db,
			    is_too_late ? "UPDATE window SET n_aside = n_aside "
					  "+ ? WHERE job = ? AND from_ns = ?"
					: "UPDATE window SET n_waiting = "
					  "n_waiting + ? WHERE job = ? AND "
					  "from_ns = ?",
			    RES_SQL_VALUES(RES_SQL_I64(l->n),
				RES_SQL_TEXT(f->job[k]), RES_SQL_I64(l->from)),
			    &n, e);
			at->n_before += n == 0 ? (int64_t)l->n : 0;
		}
		f->n_late[k] = 0;
	}
	return rc;
}

static int follow_save(struct xp_follow *f, struct follow_at *at, sim_ns now,
    struct sim_err *e)
{
	int rc = follow_end_chunk(f, at, e);
	if (rc == 0)
		rc = follow_save_late(f, at, now, e);
	for (uint32_t h = 0; rc == 0 && h < f->n_hosts; h++)
		if (f->agent[h].is_changed)
			rc = follow_save_agent(f, h, e);
	at->done = 0;
	return rc < 0
	    ? rc
	    : res_sql_run(f->db, e,
		  "INSERT OR REPLACE INTO store VALUES (1, ?, ?, nullif(?, "
		  "-1), nullif(?, -1), ?, ?, ?, ?, ?, ?, ?, ?)",
		  RES_SQL_I64(at->file), RES_SQL_I64(at->byte),
		  RES_SQL_I64(at->first_ns), RES_SQL_I64(at->last_ns),
		  RES_SQL_I64(at->n_batches), RES_SQL_I64(at->n_records),
		  RES_SQL_I64(at->n_failed), RES_SQL_I64(at->n_foreign),
		  RES_SQL_I64(at->n_odd), RES_SQL_I64(at->n_untimely),
		  RES_SQL_I64(at->n_before), RES_SQL_I64(at->n_damaged));
}

/* --- reading ---------------------------------------------------------------*/

static int follow_take(struct xp_follow *f, struct follow_at *at,
    const struct algo_pingmesh_wire_id *id, size_t n, struct sim_err *e)
{
	at->byte += (int64_t)n;
	at->done += (int64_t)n;
	at->n_batches++;
	at->n_records += id->n;
	follow_note_agent(f, id);
	const int rc = id->kind == ALGO_PINGMESH_OF_COUNTERS
	    ? follow_note_window(f, at, n, e)
	    : follow_note_records(f, at, n, e);
	return rc < 0 || at->byte - at->chunk_from < CHUNK_BYTES
	    ? rc
	    : follow_end_chunk(f, at, e);
}

/* Read a file from AT on up to its end. One that is not the newest gets no more:
 * what is no batch at its end is damage. */
static int follow_read_file(struct xp_follow *f, struct follow_at *at,
    const char *name, int is_newest, sim_ns now, struct sim_err *e)
{
	struct algo_pingmesh_wire_id id;
	uint64_t size;
	size_t n = 0;
	FILE *in;
	int rc = follow_begin_chunk(f, at, e);
	if (rc < 0 ||
	    (rc = xp_follow_file(f, name, (uint64_t)at->byte, &in, &size, e)) <
		0)
		return rc;
	at->day = res_segments_day(name);
	while (
	    (rc = xp_batch_next(in, f->bytes, &n, &id, e)) == XP_BATCH_MORE) {
		if ((rc = follow_take(f, at, &id, n, e)) < 0)
			break;
		if (at->done < COMMIT_BYTES)
			continue;
		if ((rc = follow_save(f, at, now, e)) < 0 ||
		    (rc = res_sql_commit(f->db, e)) < 0 ||
		    (rc = res_sql_begin(f->db, e)) < 0 ||
		    (rc = follow_begin_chunk(f, at, e)) < 0)
			break;
	}
	if (in)
		fclose(in);
	if (in && rc >= 0 && !is_newest && (int64_t)size > at->byte)
		at->n_damaged += (int64_t)size - at->byte;
	return rc < 0 ? rc : 0;
}

/* Forget the chunks of files that are not there any more. */
static int follow_forget(struct xp_follow *f, struct dirent **found, int n,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	int64_t gone[64];
	int n_gone = 0;
	int rc = res_sql_ask(&q, f->db, e,
	    "SELECT DISTINCT file FROM chunk ORDER BY file");
	while (rc >= 0 && n_gone < 64 && (rc = res_sql_next(q, e)) > 0) {
		const int64_t file = res_sql_i64(q, 0);
		int is_there = 0;
		for (int i = 0; i < n && !is_there; i++)
			is_there = xp_follow_number(found[i]->d_name) == file;
		if (!is_there)
			gone[n_gone++] = file;
	}
	res_sql_done(q);
	for (int i = 0; rc >= 0 && i < n_gone; i++)
		rc = res_sql_run(f->db, e, "DELETE FROM chunk WHERE file = ?",
		    RES_SQL_I64(gone[i]));
	return rc < 0 ? rc : 0;
}

/* Has the file that is read become shorter? Then its chunks say nothing. */
static int follow_look_back(struct xp_follow *f, struct follow_at *at,
    const char *name, struct sim_err *e)
{
	uint64_t size;
	FILE *in;
	const int rc = xp_follow_file(f, name, 0, &in, &size, e);
	if (in)
		fclose(in);
	if (rc < 0 || !in || (int64_t)size >= at->byte)
		return rc;
	at->byte = 0;
	return res_sql_run(f->db, e, "DELETE FROM chunk WHERE file = ?",
	    RES_SQL_I64(at->file));
}

static int follow_read_files(struct xp_follow *f, struct follow_at *at,
    struct dirent **found, int n, sim_ns now, struct sim_err *e)
{
	int rc = follow_forget(f, found, n, e);
	for (int i = 0; rc == 0 && i < n; i++) {
		const int64_t number = xp_follow_number(found[i]->d_name);
		if (number < at->file)
			continue;
		if (number > at->file) {
			at->file = number;
			at->byte = 0;
		} else if ((rc = follow_look_back(f, at, found[i]->d_name, e)) <
		    0)
			break;
		rc = follow_read_file(f, at, found[i]->d_name, i == n - 1, now,
		    e);
		if (rc == 0)
			rc = follow_end_chunk(f, at, e);
	}
	return rc;
}

int xp_follow_read(struct xp_follow *f, sim_ns now, uint64_t *n_new,
    struct sim_err *e)
{
	struct follow_at at;
	struct dirent **found;
	int n, rc = xp_follow_list(f, &found, &n, e);
	*n_new = 0;
	if (rc < 0)
		return rc;
	if ((rc = follow_load(f, &at, e)) == 0) {
		const int64_t before = at.n_batches;
		if ((rc = res_sql_begin(f->db, e)) == 0 &&
		    (rc = follow_read_files(f, &at, found, n, now, e)) == 0 &&
		    (rc = follow_save(f, &at, now, e)) == 0)
			rc = res_sql_commit(f->db, e);
		if (rc < 0)
			res_sql_rollback(f->db);
		*n_new = (uint64_t)(at.n_batches - before);
	}
	xp_follow_unlist(found, n);
	return rc;
}

/* --- opening ---------------------------------------------------------------*/

int xp_follow_open(struct xp_follow *f, struct sim_err *e)
{
	int rc;
	f->n_hosts = topo_dcs_n_hosts(f->dc, f->n_dcs);
	f->dir_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir_fd < 0)
		return sim_fail(e, SIM_EIO, "cannot read %s: %s.", f->dir,
		    strerror(errno));
	if ((rc = SIM_ZALLOC(&f->agent, f->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->bytes, ALGO_PINGMESH_WIRE_MAX, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->batch, 1, e)) < 0)
		return rc;
	for (uint32_t h = 0; h < f->n_hosts; h++)
		f->agent[h].first_ns = f->agent[h].last_ns = -1;
	return follow_load_agents(f, e);
}

void xp_follow_close(struct xp_follow *f)
{
	if (f->dir_fd > 0)
		close(f->dir_fd);
	free(f->agent);
	free(f->bytes);
	free(f->batch);
	for (int k = 0; k < 2; k++)
		free(f->late[k]);
	*f = (struct xp_follow){0};
}
