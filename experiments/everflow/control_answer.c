/* experiments/everflow/control_answer.c -- what a controller answers to whom.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/everflow/control_parts.h"
#include "experiments/everflow/judge.h"
#include "experiments/everflow/sums.h"
#include "results/json.h"
#include "sim/text.h"
#include "sim/vec.h"

const char xp_control_json[] = "application/json";
const char xp_control_plain[] = "text/plain; charset=utf-8";

/* --- answers that are there at once --------------------------------------- */

struct said {
	struct xp_http_stream base; /* first */
	char *text;
	size_t size, at;
};

static ssize_t said_read(struct xp_http_stream *x, char *buf, size_t size)
{
	struct said *s = (struct said *)(void *)x;
	const size_t n = s->size - s->at < size ? s->size - s->at : size;
	memcpy(buf, s->text + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

static void said_rest(struct xp_http_stream *x)
{
	struct said *s = (struct said *)(void *)x;
	free(s->text);
	free(s);
}

void xp_control_say(struct xp_control_call *x, unsigned status,
    const char *type,
    int (*write)(struct xp_control_call *x, const void *arg, FILE *out,
	struct sim_err *e),
    const void *arg)
{
	struct sim_err e = {0};
	struct said *s = NULL;
	int rc = SIM_ZALLOC(&s, 1, &e);
	FILE *out = rc == 0 ? open_memstream(&s->text, &s->size) : NULL;
	if (rc == 0 && !out)
		rc = sim_fail(&e, SIM_ENOMEM, "there is no memory.");
	if (rc == 0)
		rc = write(x, arg, out, &e);
	if (out && fclose(out) != 0 && rc == 0)
		rc = sim_fail(&e, SIM_ENOMEM, "there is no memory.");
	if (rc < 0) {
		if (s)
			said_rest(&s->base);
		xp_control_refuse(x->a, rc == SIM_ENOMEM ? 503 : 500, &e);
		return;
	}
	s->base = (struct xp_http_stream){said_read, said_rest};
	x->a->status = status;
	x->a->counter = XP_HTTP_pages;
	x->a->type = type;
	x->a->stream = &s->base;
}

void xp_control_text(struct xp_http_answer *a, unsigned status, const char *fmt,
    ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(a->text, sizeof(a->text), fmt, args);
	va_end(args);
	a->status = status;
	a->counter = XP_HTTP_pages;
	a->type = xp_control_json;
	a->bytes = a->text;
	a->n_bytes = strlen(a->text);
}

/* --- refusals ------------------------------------------------------------- */

/* "did you mean "confirmed"?" says a message; programs want the word. */
static void refuse_near(FILE *out, const char *msg)
{
	static const char mean[] = "did you mean \"";
	const char *near = strstr(msg, mean);
	char word[64];
	if (!near)
		return;
	near += sizeof(mean) - 1;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(near, "\""), near);
	fprintf(out, ", \"did_you_mean\": ");
	res_json_text(out, word);
}

static void refuse_put(FILE *out, const struct sim_err *e)
{
	const char *column = strstr(e->msg, "column ");
	fprintf(out, "{\"error\": ");
	res_json_text(out, e->msg);
	if (column)
		fprintf(out, ", \"column\": %lu",
		    strtoul(column + sizeof("column ") - 1, NULL, 10));
	refuse_near(out, e->msg);
}

static void refuse_end(struct xp_http_answer *a, unsigned status)
{
	a->status = status;
	a->counter = status == 404 ? XP_HTTP_not_found
	    : status == 405        ? XP_HTTP_bad_methods
				   : XP_HTTP_refused;
	a->type = xp_control_json;
	a->bytes = a->text;
	a->n_bytes = strlen(a->text);
}

void xp_control_refuse(struct xp_http_answer *a, unsigned status,
    const struct sim_err *e)
{
	FILE *out = fmemopen(a->text, sizeof(a->text), "w");
	snprintf(a->text, sizeof(a->text), "{\"error\": \"\"}\n");
	if (out) {
		refuse_put(out, e);
		fprintf(out, "}\n");
		fclose(out);
	}
	refuse_end(a, status);
}

void xp_control_unfit(struct xp_http_answer *a, const struct algo_refusal *why)
{
	static const char *const words[] = {
#define X(capacity, word, unit) word,
	    ALGO_CAPACITIES(X)
#undef X
	};
	FILE *out = fmemopen(a->text, sizeof(a->text), "w");
	char msg[256];
	struct sim_text text = {msg, sizeof(msg), 0};
	algo_refusal_put(why, &text);
	snprintf(a->text, sizeof(a->text), "{\"error\": \"\"}\n");
	if (out) {
		fprintf(out, "{\"error\": ");
		res_json_text(out, msg);
		fprintf(out, ", \"bottleneck\": \"%s\", \"need\": ",
		    words[why->bottleneck]);
		res_json_number(out, why->need);
		fprintf(out, ", \"used\": ");
		res_json_number(out, why->used);
		fprintf(out, ", \"capacity\": ");
		res_json_number(out, why->capacity);
		if (why->sample_bits <= ALGO_SAMPLE_MOST)
			fprintf(out, ", \"sample\": %u",
			    1u << why->sample_bits);
		fprintf(out, "}\n");
		fclose(out);
	}
	refuse_end(a, 409);
}

void xp_control_mistake(struct xp_control_call *x, int rc, unsigned status,
    const struct sim_err *e)
{
	xp_control_refuse(x->a,
	    rc == SIM_ENOMEM                      ? 503
		: rc == SIM_EIO || rc == SIM_EDEP ? 500
						  : status,
	    e);
}

/* --- counters ------------------------------------------------------------- */

enum { COUNTER_TEXT, COUNTER_JSON };
static const char *const counter_formats[] = {"text", "json", NULL};

static int counters_list(struct xp_control_call *x, const void *arg, FILE *out,
    struct sim_err *e)
{
	const struct res_counter_names *names = &x->c->names;
	const char *comma = "";
	(void)arg, (void)e;
	fprintf(out, "[");
	for (size_t i = 0; i < names->n; i++)
		for (uint32_t k = 0; k < x->c->custom.n; k++)
			if (x->c->custom.one[k].id == names->id[i]) {
				fprintf(out, "%s{\"id\": %u, \"name\": ", comma,
				    names->id[i]);
				res_json_text(out, names->name[i].text);
				fprintf(out, "}");
				comma = ", ";
			}
	fprintf(out, "]\n");
	return 0;
}

struct counter_asked {
	struct xp_sums sums;
	const char *what;
	unsigned format;
};

static int counter_tell(struct xp_control_call *x, const void *arg, FILE *out,
    struct sim_err *e)
{
	const struct counter_asked *a = arg;
	(void)x, (void)e;
	(a->format == COUNTER_JSON ? xp_sums_put_json : xp_sums_put)(&a->sums,
	    a->what, out);
	return 0;
}

static void counters_get(struct xp_control_call *x)
{
	static const char *const words[] = {"what", "from", "to", "format",
	    NULL};
	struct xp_control *c = x->c;
	struct counter_asked a = {.what = xp_query_value(x->q, "what")};
	sim_ns from = 0, to = SIM_NEVER;
	struct sim_err e = {0};
	int rc;
	if ((rc = xp_query_check(x->q, words, &e)) < 0 ||
	    (rc = xp_query_time(x->q, "from", &from, &e)) < 0 ||
	    (rc = xp_query_time(x->q, "to", &to, &e)) < 0 ||
	    (rc = xp_query_word(x->q, "format", counter_formats, &a.format,
		 &e)) < 0) {
		xp_control_mistake(x, rc, 400, &e);
		return;
	}
	if (!a.what) {
		xp_control_say(x, 200, xp_control_json, counters_list, NULL);
		return;
	}
	if ((rc = xp_sums_parse(&a.sums, c->p.routing.topo, &c->names, a.what,
		 &e)) < 0) {
		xp_control_mistake(x, rc, 404, &e);
		return;
	}
	for (unsigned h = 0; h < 2; h++)
		xp_sums_add(&a.sums, &c->keep.counters[h], from, to);
	if (c->keep.n_rows_gone > 0 && from < c->keep.rows_gone_ns)
		snprintf(x->a->note, sizeof(x->a->note),
		    "counters up to %.9f s are forgotten",
		    1e-9 * (double)c->keep.rows_gone_ns);
	xp_control_say(x, 200,
	    a.format == COUNTER_JSON ? xp_control_json : xp_control_plain,
	    counter_tell, &a);
}

/* The name is there before the counter, and both or none. */
static int counter_add(struct xp_control *c, const struct algo_request *r,
    uint32_t *id, struct sim_err *e)
{
	const struct algo_request undo = {.kind = ALGO_REMOVE_COUNTER,
	    .name = r->name};
	struct res_counter_name row = {0};
	const struct algo_action *a;
	struct sim_err ignored;
	int rc;
	if (c->names.n == XP_CONTROL_NAMES)
		return sim_fail(e, SIM_ELIMIT,
		    "a file has room for the names of %d counters.",
		    XP_CONTROL_NAMES);
	if ((rc = res_counter_names_reserve(&c->names, 1, e)) < 0 ||
	    (rc = xp_control_ask(c, r, &a, e)) < 0)
		return rc;
	row.id = *id = a->id;
	memcpy(row.name.text, r->name, strlen(r->name));
	if (c->p.named && (rc = c->p.named(c->p.arg, *id, r->name, e)) < 0)
		xp_control_ask(c, &undo, &a, &ignored);
	else
		rc = res_counter_names_add(&c->names, &row, e);
	return rc;
}

static void counters_post(struct xp_control_call *x)
{
	static const char *const words[] = {"name", "filter", NULL};
	const struct algo_request r = {.kind = ALGO_ADD_COUNTER,
	    .name = xp_query_value(x->q, "name"),
	    .filter = xp_query_value(x->q, "filter")};
	struct sim_err e = {0};
	uint32_t id = 0;
	int rc = xp_query_check(x->q, words, &e);
	if (rc == 0 && !r.name)
		rc = sim_fail(&e, SIM_EINVAL, "parameter name is missing.");
	if (rc == 0)
		rc = counter_add(x->c, &r, &id, &e);
	if (rc < 0)
		xp_control_mistake(x, rc, rc == SIM_ELIMIT ? 409 : 400, &e);
	else
		xp_control_text(x->a, 201, "{\"id\": %u}\n", id);
}

static void counters_delete(struct xp_control_call *x)
{
	static const char *const words[] = {"name", NULL};
	const struct algo_request r = {.kind = ALGO_REMOVE_COUNTER,
	    .name = xp_query_value(x->q, "name")};
	const struct algo_action *a;
	struct sim_err e = {0};
	int rc = xp_query_check(x->q, words, &e);
	if (rc == 0 && !r.name)
		rc = sim_fail(&e, SIM_EINVAL, "parameter name is missing.");
	if (rc < 0)
		xp_control_mistake(x, rc, 400, &e);
	else if ((rc = xp_control_ask(x->c, &r, &a, &e)) < 0)
		xp_control_mistake(x, rc, 404, &e);
	else
		xp_control_text(x->a, 200, "{}\n");
}

/* --- findings ------------------------------------------------------------- */

struct findings_asked {
	struct algo_debug_in in;
	unsigned which, format;
};

static int findings_tell(struct xp_control_call *x, const void *arg, FILE *out,
    struct sim_err *e)
{
	const struct findings_asked *a = arg;
	return xp_judge(x->c->p.everflow, a->which, &a->in,
	    a->format == COUNTER_JSON, out, e);
}

/* The debugger looks at all at once, and nothing is analyzed meanwhile: what comes
 * waits in the ring. */
static void findings_get(struct xp_control_call *x)
{
	static const char *const words[] = {"debugger", "from", "to", "format",
	    NULL};
	const struct obs_guided none = {0};
	struct algo_trace_store store = {0};
	struct algo_counters rows = {0};
	struct findings_asked a = {.in = {.routing = x->c->p.routing,
				       .traces = &store,
				       .counters = &rows,
				       .sent = &none,
				       .now = SIM_NEVER}};
	sim_ns from = 0, to = SIM_NEVER;
	struct sim_err e = {0};
	int rc;
	if ((rc = xp_query_check(x->q, words, &e)) == 0 &&
	    (rc = xp_query_time(x->q, "from", &from, &e)) == 0 &&
	    (rc = xp_query_time(x->q, "to", &to, &e)) == 0 &&
	    (rc = xp_query_word(x->q, "debugger", xp_everflow_debuggers,
		 &a.which, &e)) == 0 &&
	    (rc = xp_query_word(x->q, "format", counter_formats, &a.format,
		 &e)) == 0 &&
	    !xp_query_value(x->q, "debugger"))
		rc = sim_fail(&e, SIM_EINVAL, "parameter debugger is missing.");
	if (rc == 0)
		rc = xp_keep_load(&x->c->keep, from, to, &store, &rows, &e);
	if (rc < 0)
		xp_control_mistake(x, rc, 400, &e);
	else
		xp_control_say(x, 200,
		    a.format == COUNTER_JSON ? xp_control_json
					     : xp_control_plain,
		    findings_tell, &a);
	algo_trace_store_free(&store);
	algo_counters_free(&rows);
}

/* --- pages ---------------------------------------------------------------- */

static int page_index(struct xp_control_call *x, const void *arg, FILE *out,
    struct sim_err *e)
{
	(void)x, (void)arg, (void)e;
	fputs("The controller of Everflow (culprit trace serve).\n\n"
	      "GET    /traces    filter where from to limit "
	      "format=rows|json|count\n"
	      "GET    /counters  what from to format=text|json; without: "
	      "those that were added\n"
	      "POST   /counters  name filter\n"
	      "DELETE /counters  name\n"
	      "GET    /sessions  server\n"
	      "POST   /sessions  servers filter sample life\n"
	      "DELETE /sessions  id\n"
	      "GET    /findings  debugger from to format=text|json\n"
	      "GET    /health    numbers, as JSON\n",
	    out);
	return 0;
}

static int page_health(struct xp_control_call *x, const void *arg, FILE *out,
    struct sim_err *e)
{
	static const struct {
		const char *name;
		enum xp_http_counter counter;
	} http[] = {
#define X(name) {#name, XP_HTTP_##name},
	    X(pages) X(refused) X(not_found) X(bad_methods) X(malformed) X(late)
		X(connections) X(crowded)
#undef X
	};
	const struct xp_control *c = x->c;
	const struct xp_keep *k = &c->keep;
	(void)arg, (void)e;
	fprintf(out,
	    "{\"service\": \"everflow\", \"uptime_s\": %" PRIu64
	    ", \"now_ns\": %" PRIu64 ", \"traces\": %" PRIu64
	    ", \"first_trace\": %" PRIu64
	    ", \"traces_forgotten_to_ns\": %" PRIu64
	    ", \"counter_rows\": %zu, \"rows_forgotten_to_ns\": %" PRIu64
	    ", \"counters\": %u, \"sessions\": %zu, \"expired\": %" PRIu64
	    ", \"excess\": %" PRIu64 ", \"open\": %" PRIu64,
	    x->site->uptime_s, c->now, k->n, k->first, k->gone_ns,
	    k->counters[0].n + k->counters[1].n, k->rows_gone_ns, c->custom.n,
	    c->n_sessions, c->n_expired, c->n_excess, x->site->n_open);
	for (size_t i = 0; i < sizeof(http) / sizeof(http[0]); i++)
		fprintf(out, ", \"%s\": %" PRIu64, http[i].name,
		    x->site->count[http[i].counter]);
	fprintf(out, "}\n");
	return 0;
}

static void index_get(struct xp_control_call *x)
{
	xp_control_say(x, 200, xp_control_plain, page_index, NULL);
}

static void health_get(struct xp_control_call *x)
{
	xp_control_say(x, 200, xp_control_json, page_health, NULL);
}

/* --- routes --------------------------------------------------------------- */

static const struct control_route {
	const char *path;
	void (*get)(struct xp_control_call *x);
	void (*post)(struct xp_control_call *x);
	void (*delete)(struct xp_control_call *x);
} control_routes[] = {
    {"/traces", xp_control_get, NULL, NULL},
    {"/counters", counters_get, counters_post, counters_delete},
    {"/sessions", xp_control_sessions_get, xp_control_sessions_post,
	xp_control_sessions_delete},
    {"/findings", findings_get, NULL, NULL},
    {"/health", health_get, NULL, NULL},
    {"/", index_get, NULL, NULL},
};
enum { N_ROUTES = sizeof(control_routes) / sizeof(control_routes[0]) };

static const struct control_route *control_route(const char *path,
    struct sim_err *e)
{
	const char *words[N_ROUTES];
	char shown[64];
	for (size_t i = 0; i < N_ROUTES; i++) {
		words[i] = control_routes[i].path;
		if (strcmp(path, words[i]) == 0)
			return &control_routes[i];
	}
	const char *near = sim_did_you_mean(path, words, N_ROUTES);
	sim_fail(e, SIM_EINVAL, "there is no %s%s%s%s", sim_quote(shown, path),
	    near ? "; did you mean \"" : "; GET / says what there is.",
	    near ? near : "", near ? "\"?" : "");
	return NULL;
}

static void control_route_to(struct xp_control_call *x,
    const struct control_route *to, const char *method)
{
	struct sim_err e;
	void (*const call)(struct xp_control_call * x) =
	    strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ? to->get
	    : strcmp(method, "POST") == 0                             ? to->post
	    : strcmp(method, "DELETE") == 0 ? to->delete
					    : NULL;
	if (call) {
		call(x);
		return;
	}
	x->a->allow = to->post ? "GET, HEAD, POST, DELETE" : "GET, HEAD";
	sim_fail(&e, SIM_EINVAL, "%s has %s alone.", to->path, x->a->allow);
	xp_control_refuse(x->a, 405, &e);
}

void xp_control_answer(void *arg, const struct xp_http_site *site,
    const struct xp_http_request *q, struct xp_http_answer *a)
{
	struct xp_query query;
	struct xp_control_call x = {arg, site, &query, a};
	const struct control_route *to;
	struct sim_err e = {0};
	if (xp_http_is_stranger(q)) {
		sim_fail(&e, SIM_EINVAL,
		    "pages of other sites may not ask: there is an Origin, or "
		    "the Host is no number and not localhost.");
		xp_control_refuse(a, 403, &e);
	} else if (q->n_lengths > 1 || q->length > 0 || q->n_codings > 0) {
		sim_fail(&e, SIM_EINVAL, "a request has no body here.");
		xp_control_refuse(a, 413, &e);
	} else if (xp_query_read(&query, q->target, &e) < 0) {
		xp_control_refuse(a, 400, &e);
	} else if (!(to = control_route(query.path, &e))) {
		xp_control_refuse(a, 404, &e);
	} else {
		control_route_to(&x, to, q->method);
	}
}
