/* experiments/live/page/page.c -- a collector's page, and the data that it asks for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/page/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "experiments/live/page/body.h"
#include "experiments/live/page/page.html.h" /* made by make.sh */
#include "experiments/live/page/share.h"
#include "experiments/live/page/view.h"
#include "models/clock.h"
#include "results/json.h"
#include "results/provenance.h"
#include "results/sql/sql.h"
#include "sim/embed.h"
#include "sim/text.h"
#include "sim/vec.h"

SIM_EMBED(live_page, LIVE_PAGE_FILE);

static const char live_html[] = "text/html; charset=utf-8";
static const char live_json[] = "application/json";

struct xp_live_page {
	char *file; /* NULL: there is none */
	struct xp_live_bodies bodies;

	pthread_mutex_t lock; /* of all below; nobody waits for it */
	struct res_sql *db;
	dev_t dev; /* of the file that is open */
	ino_t ino;
	uint64_t n_opened;
	struct xp_live_share share;
};

/* --- headers -------------------------------------------------------------- */
#define LIVE_SAFE                                                              \
	"X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer", \
	    "Cross-Origin-Resource-Policy", "same-origin"

static const char *const live_page_headers[] = {LIVE_SAFE,
    "Content-Security-Policy", LIVE_PAGE_POLICY, "Cross-Origin-Opener-Policy",
    "same-origin", NULL};
static const char *const live_data_headers[] = {LIVE_SAFE,
    "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'",
    NULL};
static const char *const live_busy_headers[] = {LIVE_SAFE,
    "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'",
    "Retry-After", "1", NULL};

/* --- short answers -------------------------------------------------------- */
static void live_say(struct xp_http_answer *a, unsigned status,
    enum xp_http_counter counter, const char *error)
{
	FILE *out = fmemopen(a->text, sizeof(a->text), "w");
	a->status = status;
	a->counter = counter;
	a->type = live_json;
	a->headers = status == 503 ? live_busy_headers : live_data_headers;
	a->bytes = a->text;
	if (!out) {
		a->n_bytes = 0;
		return;
	}
	fputs("{\"error\": ", out);
	res_json_text(out, error);
	fputs("}\n", out);
	a->n_bytes = (size_t)ftell(out);
	fclose(out);
}

static void live_busy(struct xp_http_answer *a)
{
	live_say(a, 503, XP_HTTP_refused,
	    "The collector has no time for this now; ask again.");
}

/* An answer that does not depend on when it is given. */
static void live_tag(const struct xp_http_request *q, struct xp_http_answer *a)
{
	if (!q->if_none_match || !xp_http_has_tag(q->if_none_match, a->etag))
		return;
	a->status = 304;
	a->n_bytes = 0;
}

static void live_say_page(const struct xp_http_request *q,
    struct xp_http_answer *a)
{
	a->status = 200;
	a->counter = XP_HTTP_pages;
	a->type = live_html;
	a->headers = live_page_headers;
	a->bytes = live_page_begin;
	a->n_bytes = live_page_size;
	snprintf(a->etag, sizeof(a->etag), "\"" LIVE_PAGE_BUILD "\"");
	live_tag(q, a);
}

/* --- the database --------------------------------------------------------- */
/* Open it, or anew if its file was replaced: who went on with the old one would
 * show for ever what was in it. */
static int live_open(struct xp_live_page *p, struct sim_err *e)
{
	struct stat s;
	if (!p->file)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "this collector was started without --db.");
	if (stat(p->file, &s) < 0) {
		res_sql_close(p->db);
		p->db = NULL;
		return sim_fail(e, SIM_EIO,
		    "there is no database yet: `culprit jobs --continuous` "
		    "makes it.");
	}
	if (p->db && s.st_dev == p->dev && s.st_ino == p->ino)
		return 0;
	res_sql_close(p->db);
	p->db = NULL;
	p->dev = s.st_dev;
	p->ino = s.st_ino;
	p->n_opened++;
	return res_sql_open(&p->db, p->file, RES_SQL_READ, e);
}

/* What changes with each commit of another, and with each file. */
static int live_version(struct xp_live_page *p, uint64_t *version,
    struct sim_err *e)
{
	int64_t x;
	const int rc =
	    res_sql_one(p->db, "PRAGMA data_version", NULL, 0, 0, &x, e);
	*version = p->n_opened << 32 ^ (uint64_t)x;
	return rc;
}

/* --- data ----------------------------------------------------------------- */
static int live_write(struct xp_live_page *p, const struct xp_live_ask *ask,
    char **bytes, size_t *n, struct sim_err *e)
{
	const sim_ns since = clock_now();
	FILE *out = open_memstream(bytes, n);
	if (!out)
		return sim_fail(e, SIM_ENOMEM, "no memory for an answer.");
	fprintf(out, "{\"version\": 1");
	int rc = xp_live_view_put(ask, p->db, out, e);
	fputs("}\n", out);
	const int is_short = ferror(out) != 0;
	if ((fclose(out) != 0 || is_short) && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for an answer.");
	if (rc == 0 && *n > LIVE_BODY_BYTES)
		rc = sim_fail(e, SIM_ELIMIT,
		    "the answer would have more than %d bytes.",
		    LIVE_BODY_BYTES);
	if (rc < 0)
		free(*bytes);
	xp_live_share_spend(&p->share, clock_now() - since);
	return rc;
}

/* By its content, so that it is true after a restart too. */
static void live_hash(const struct xp_live_body *b, char etag[48])
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < b->n; i++)
		h = (h ^ (unsigned char)b->bytes[i]) * UINT64_C(0x100000001b3);
	snprintf(etag, 48, "\"%016" PRIx64 "-%zu\"", h, b->n);
}

static int live_find(struct xp_live_page *p, const struct xp_live_ask *ask,
    const char *target, struct xp_live_body **body, struct sim_err *e)
{
	uint64_t version;
	size_t n = 0;
	char *bytes = NULL;
	int rc = live_open(p, e);
	if (rc < 0 || (rc = live_version(p, &version, e)) < 0)
		return rc;
	if ((*body = xp_live_body_find(&p->bodies, target, version)))
		return 0;
	if (!xp_live_share_may(&p->share, clock_now()))
		return SIM_ELIMIT;
	if ((rc = live_write(p, ask, &bytes, &n, e)) < 0)
		return rc;
	return xp_live_body_add(body, &p->bodies, target, version, bytes, n, e);
}

static void live_say_data(struct xp_live_page *p, const struct xp_live_ask *ask,
    const struct xp_http_request *q, struct xp_http_answer *a)
{
	struct xp_live_body *body = NULL;
	struct sim_err e = {.msg = "The collector has no time for this now."};
	/* Whoever waited here would keep a thread from taking batches. */
	if (pthread_mutex_trylock(&p->lock) != 0) {
		live_busy(a);
		return;
	}
	const int rc = live_find(p, ask, q->target, &body, &e);
	pthread_mutex_unlock(&p->lock);
	if (rc < 0) {
		live_say(a, 503, XP_HTTP_refused, e.msg);
		return;
	}
	a->status = 200;
	a->counter = XP_HTTP_pages;
	a->type = live_json;
	a->headers = live_data_headers;
	a->bytes = body->bytes;
	a->n_bytes = body->n;
	a->rest = xp_live_body_rest;
	a->of = body;
	live_hash(body, a->etag);
	live_tag(q, a);
}

/* --- now ------------------------------------------------------------------ */
static void live_put_clock(FILE *out, const struct xp_http_site *site)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	fprintf(out,
	    "{\"version\": 1, \"page\": \"" LIVE_PAGE_BUILD
	    "\", \"now_s\": %lld.%03ld, \"started_s\": %" PRIu64,
	    (long long)t.tv_sec, t.tv_nsec / 1000000, site->start_s);
	res_json_number_of(out, "last_batch_s",
	    site->last_s > 0 ? (double)site->last_s : NAN);
	fprintf(out,
	    ", \"batches\": %" PRIu64 ", \"store_bytes\": %" PRIu64
	    ", \"store_most\": %" PRIu64,
	    site->count[XP_HTTP_batches_taken], site->held.n_bytes,
	    site->held.n_bytes_most);
	res_json_text_of(out, "culprit", res_version());
}

/* What is wrong with the database is a part of the answer: the collector itself
 * is well. */
static void live_put_now(struct xp_live_page *p,
    const struct xp_http_site *site, FILE *out)
{
	struct sim_err e = {0};
	char *bytes = NULL;
	size_t n = 0;
	live_put_clock(out, site);
	int rc = live_open(p, &e);
	if (rc == 0)
		rc = live_write(p, &xp_live_ask_now, &bytes, &n, &e);
	if (rc < 0) {
		res_json_text_of(out, "problem", e.msg);
	} else {
		fputs(", \"database\": ", out);
		fwrite(bytes, 1, n, out);
		free(bytes);
	}
	fputs("}\n", out);
}

static void live_say_now(struct xp_live_page *p,
    const struct xp_http_site *site, struct xp_http_answer *a)
{
	char *bytes = NULL;
	size_t n = 0;
	if (pthread_mutex_trylock(&p->lock) != 0) {
		live_busy(a);
		return;
	}
	FILE *out = xp_live_share_may(&p->share, clock_now())
	    ? open_memstream(&bytes, &n)
	    : NULL;
	if (out)
		live_put_now(p, site, out);
	pthread_mutex_unlock(&p->lock);
	if (!out || fclose(out) != 0) {
		free(bytes);
		live_busy(a);
		return;
	}
	a->status = 200;
	a->counter = XP_HTTP_pages;
	a->type = live_json;
	a->headers = live_data_headers;
	a->bytes = bytes;
	a->n_bytes = n;
	a->rest = free;
	a->of = bytes;
}

/* --- targets -------------------------------------------------------------- */
static int live_is(const char *method, const char *a, const char *b)
{
	return strcmp(method, a) == 0 || strcmp(method, b) == 0;
}

int xp_live_page_answer(void *page, const struct xp_http_site *site,
    const struct xp_http_request *q, struct xp_http_answer *a)
{
	struct xp_live_ask ask;
	const int is_page = strcmp(q->target, "/") == 0;
	const int is_now = strcmp(q->target, "/v1/now") == 0;
	if (strnlen(q->target, XP_HTTP_TARGET) == XP_HTTP_TARGET ||
	    (!is_page && !is_now && !xp_live_ask_read(&ask, q->target)))
		return 0;
	if (!live_is(q->method, "GET", "HEAD")) {
		live_say(a, 405, XP_HTTP_bad_methods,
		    "This has GET, HEAD alone.");
		a->allow = "GET, HEAD";
	} else if (!q->is_for && xp_http_is_stranger(q)) {
		live_say(a, 403, XP_HTTP_refused,
		    "Pages of other sites may not ask: there is an Origin, or "
		    "the Host is no number and not localhost.");
	} else if (is_page) {
		live_say_page(q, a);
	} else if (is_now) {
		live_say_now(page, site, a);
	} else {
		live_say_data(page, &ask, q, a);
	}
	return 1;
}

/* --- opening -------------------------------------------------------------- */
int xp_live_page_open(struct xp_live_page **out, const char *file,
    struct sim_err *e)
{
	struct xp_live_page *p;
	int rc = SIM_ZALLOC(&p, 1, e);
	if (rc < 0)
		return rc;
	if (file && (rc = sim_dup(&p->file, file, e)) < 0) {
		free(p);
		return rc;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->bodies.lock, NULL);
	/* A quarter of the time; two seconds of it may have been saved. */
	p->share = (struct xp_live_share){.saved_ns = 2 * (int64_t)SIM_SEC,
	    .parts = 4,
	    .left_ns = 2 * (int64_t)SIM_SEC,
	    .at = clock_now()};
	*out = p;
	return 0;
}

void xp_live_page_close(struct xp_live_page *p)
{
	if (!p)
		return;
	res_sql_close(p->db);
	xp_live_bodies_free(&p->bodies);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->bodies.lock);
	free(p->file);
	free(p);
}
