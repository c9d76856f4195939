/* experiments/live/page/view.c -- what a target asks of the database, as JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/page/view.h"

#include <math.h>
#include <string.h>

#include "experiments/live/page/pods.h"
#include "experiments/live/page/view_parts.h"
#include "results/json.h"
#include "sim/text.h"

const struct xp_live_ask xp_live_ask_now = {.view = &xp_live_view_now};

/* --- targets -------------------------------------------------------------- */
static const char *const live_jobs[] = {"5min", "10min", "1hour", "1day"};

/* Cut the next word off *TEXT; NULL at its end. */
static const char *live_word(char **text)
{
	char *word = strsep(text, "/");
	return word && *word ? word : NULL;
}

static const char *live_job(const char *word)
{
	for (size_t i = 0; word && i < sizeof(live_jobs) / sizeof(*live_jobs);
	     i++)
		if (strcmp(word, live_jobs[i]) == 0)
			return live_jobs[i];
	return NULL;
}

/* Numbers are those that a row may have: data centres, pods, seconds. */
static int live_number(const char *word, int64_t *x)
{
	uint64_t n;
	if (!word || sim_parse_u64(word, &n, NULL) < 0 || n > UINT32_MAX)
		return 0;
	*x = (int64_t)n;
	return 1;
}

int xp_live_ask_read(struct xp_live_ask *a, const char *target)
{
	static const char prefix[] = "/v1/";
	char copy[128], *rest = copy + sizeof(prefix) - 1;
	*a = (struct xp_live_ask){0};
	if (strncmp(target, prefix, sizeof(prefix) - 1) != 0 ||
	    strlen(target) >= sizeof(copy))
		return 0;
	strcpy(copy, target);
	const char *name = live_word(&rest);
	for (const struct xp_live_view *v = xp_live_views; name && v->name; v++)
		if (strcmp(name, v->name) == 0)
			a->view = v;
	if (!a->view ||
	    (a->view->has_job && !(a->job = live_job(live_word(&rest)))))
		return 0;
	while (a->n < a->view->n_numbers)
		if (!live_number(live_word(&rest), &a->number[a->n++]))
			return 0;
	return rest == NULL;
}

/* --- answers -------------------------------------------------------------- */
static void live_put_value(FILE *out, const struct res_sql_rows *q, int i)
{
	switch (res_sql_type(q, i)) {
	case RES_SQL_IS_TEXT:
		res_json_text(out, res_sql_text(q, i));
		break;
	case RES_SQL_IS_I64:
		fprintf(out, "%lld", (long long)res_sql_i64(q, i));
		break;
	case RES_SQL_IS_F64:
		/* Six digits are more than anybody sees; those that read back
		 * equal take ten times as long to find. JSON has no infinity. */
		if (isfinite(res_sql_f64(q, i)))
			fprintf(out, "%.6g", res_sql_f64(q, i));
		else
			fputs("null", out);
		break;
	default:
		fputs("null", out);
	}
}

static int live_put_rows(FILE *out, struct res_sql_rows *q,
    struct xp_live_pods *pods, struct sim_err *e)
{
	const int n = res_sql_n_columns(q);
	const char *before = "{\"columns\": [";
	for (int i = 0; i < n; i++, before = ", ") {
		fputs(before, out);
		res_json_text(out, res_sql_name(q, i));
	}
	fputs("], \"rows\": [", out);
	int rc;
	for (before = ""; (rc = res_sql_next(q, e)) > 0; before = ",\n") {
		fprintf(out, "%s[", before);
		for (int i = 0; i < n; i++) {
			fputs(i > 0 ? "," : "", out);
			live_put_value(out, q, i);
		}
		putc(']', out);
		if (pods)
			xp_live_pods_add(pods, res_sql_i64(q, 0),
			    res_sql_i64(q, 1), res_sql_f64(q, 7));
	}
	fputs("]}", out);
	return rc;
}

static int live_put_part(const struct xp_live_ask *a,
    const struct xp_live_part *part, struct res_sql *db, FILE *out,
    struct xp_live_pods *pods, struct sim_err *e)
{
	struct res_sql_value value[1 + LIVE_VIEW_WORDS];
	struct res_sql_rows *q;
	size_t n = 0;
	if (a->job)
		value[n++] = RES_SQL_TEXT(a->job);
	for (size_t i = 0; i < a->n; i++)
		value[n++] = RES_SQL_I64(a->number[i]);
	fprintf(out, ", \"%s\": ", part->key);
	/* A part that needs none of them takes none. */
	if (!strchr(part->sql, '?'))
		n = 0;
	int rc = res_sql_ask_with(&q, db, part->sql, value, n, e);
	if (rc == 0)
		rc = live_put_rows(out, q, pods, e);
	res_sql_done(q);
	return rc;
}

/* So that pods are named by the rule that made the pattern. */
static int live_take_bounds(struct xp_live_pods *pods, struct res_sql *db,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, db, e,
	    "SELECT key, CAST(value AS REAL) FROM meta WHERE key IN "
	    "('yellow_us', 'red_us')");
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0) {
		const int is_red = strcmp(res_sql_text(q, 0), "red_us") == 0;
		*(is_red ? &pods->red_us : &pods->yellow_us) =
		    res_sql_f64(q, 1);
	}
	res_sql_done(q);
	return rc;
}

int xp_live_view_put(const struct xp_live_ask *a, struct res_sql *db, FILE *out,
    struct sim_err *e)
{
	struct xp_live_pods pods = {0};
	int rc = res_sql_begin(db, e);
	if (rc == 0 && a->view->has_pods)
		rc = live_take_bounds(&pods, db, e);
	for (size_t i = 0;
	     rc == 0 && i < LIVE_VIEW_PARTS && a->view->part[i].key; i++)
		rc = live_put_part(a, &a->view->part[i], db, out,
		    a->view->has_pods && i > 0 ? &pods : NULL, e);
	if (rc == 0 && a->view->has_pods)
		rc = xp_live_pods_put(&pods, out, e);
	xp_live_pods_free(&pods);
	res_sql_rollback(db); /* nothing was written */
	return rc;
}
